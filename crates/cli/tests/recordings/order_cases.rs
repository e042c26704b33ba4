//! The judge, on recordings whose order is known.

use ash::vk::{
    AccessFlags2 as A, AttachmentLoadOp, AttachmentStoreOp, ImageLayout as L, PipelineStageFlags2 as S,
};

use crate::order::{Act, is_ordered};
use crate::recording::*;

const CLEARED: (S, A) = (S::CLEAR, A::TRANSFER_WRITE);
const DRAWN: (S, A) = (S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_WRITE);
const COPIED: (S, A) = (S::COPY, A::TRANSFER_READ);

/// Clears an image, draws to it in the first of two subpasses and maybe in the second, and copies from it: steps 0 to 4. The layout changes before and
/// after the pass.
fn recorded(is_used_twice: bool, dependency: Dependency) -> Recording {
    let (layer, layout) = (0, L::GENERAL);
    let layer = Layer {
        image: 0,
        layer,
        layout,
    };
    let drawn = Subpass {
        colors: vec![(0, L::COLOR_ATTACHMENT_OPTIMAL)],
        ..Subpass::default()
    };
    let second = if is_used_twice {
        drawn.clone()
    } else {
        Subpass::default()
    };
    let pass = Pass {
        is_dynamic: false,
        attachments: vec![Attachment {
            layer,
            kind: ImageKind::Color,
            load: AttachmentLoadOp::LOAD,
            store: AttachmentStoreOp::STORE,
            final_layout: layout,
        }],
        subpasses: vec![drawn, second],
        dependencies: vec![dependency],
        secondaries: false,
    };
    let (first, count) = (0, 1);
    let to = Cells {
        buffer: 1,
        first,
        count,
    };
    let steps = [
        Command::ClearImage(layer),
        Command::BeginPass(pass),
        Command::NextSubpass { secondaries: false },
        Command::EndPass,
        Command::CopyFromImage {
            from: layer,
            to,
            rows: Rows { first, count: SIDE },
        },
    ];
    let steps = (0..).zip(steps).map(|(id, command)| Step { id, command });
    let resource = |place| Resource { place, first, count };
    Recording {
        places: vec![Place::Texels(ImageKind::Color), Place::Cells(1)],
        resources: vec![resource(0), resource(1)],
        command_buffers: vec![CommandBuffer {
            steps: steps.collect(),
            secondary: None,
        }],
        submits: vec![Submit {
            command_buffer: 0,
            waits_at: None,
            is_waited_for: false,
        }],
        events: 0,
    }
}

fn dependency(from: Option<u32>, to: Option<u32>, source: (S, A), destination: (S, A)) -> Dependency {
    let masks = Masks { source, destination };
    Dependency {
        from,
        to,
        masks,
        by_region: false,
    }
}

fn access((stages, access): (S, A)) -> Act {
    Act::Access(stages, access)
}

/// "Render Pass Creation": "where dstSubpass uses the attachment that will be transitioned", "where srcSubpass uses the attachment".
#[test]
fn outer_transitions_use_the_dependencies_of_every_subpass_with_the_attachment() {
    let cleared = |is_used_twice, to| {
        let recording = recorded(is_used_twice, dependency(None, Some(to), CLEARED, DRAWN));
        is_ordered(&recording, Some(0), (0, access(CLEARED)), (1, Act::Transition))
    };
    assert_eq!([cleared(true, 0), cleared(true, 1)], [true; 2]);
    assert!(!cleared(false, 1), "subpass 1 does not use it");
    let copied = |is_used_twice, from| {
        let recording = recorded(is_used_twice, dependency(Some(from), None, DRAWN, COPIED));
        is_ordered(&recording, Some(0), (3, Act::Transition), (4, access(COPIED)))
    };
    assert_eq!([copied(true, 0), copied(true, 1)], [true; 2]);
    assert!(!copied(false, 1), "subpass 1 does not use it");
}

/// "Render Pass Creation": "away from the layout used in a subpass [...] with that subpass as the srcSubpass".
#[test]
fn final_transitions_come_after_the_dependencies_of_the_subpasses_that_they_leave() {
    let drawn = |is_used_twice, from, to| {
        let recording = recorded(is_used_twice, dependency(Some(from), to, DRAWN, DRAWN));
        is_ordered(&recording, Some(0), (1, access(DRAWN)), (3, Act::Transition))
    };
    // Towards another subpass, or to outside.
    assert_eq!([drawn(true, 0, Some(1)), drawn(true, 0, None)], [true; 2]);
    assert!(!drawn(true, 1, None), "the draw is in subpass 0");
    assert!(drawn(false, 1, None), "the implicit dependency of subpass 0");
}
