use tileheap::frame::external::ExternalDesc;
use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
use tileheap::frame::tables::PassKind;
use tileheap::frame::{AccessKind, BufferDesc, FrameBuilder, ImageDesc, LoadOp};
use vk::{AccessFlags2 as A, ImageLayout as L, PipelineStageFlags2 as S};

use super::*;
use crate::document::{BatchSync, Layout, Store};

/// Everything in `GENERAL`, and a barrier for all memory before each pass but `left_out`.
fn recorded(frame: &Frame, left_out: Option<usize>) -> Capture {
    let mut seen = vec![false; frame.resources().len()];
    let mut commands = Vec::new();
    for row in frame.command_buffers() {
        let mut recorded = Vec::new();
        for index in row.passes.indices() {
            let accesses = frame.passes()[index].accesses.of(frame.accesses());
            let all = Dependency {
                src_stages: S::ALL_COMMANDS,
                src_access: A::MEMORY_WRITE,
                dst_stages: S::ALL_COMMANDS,
                dst_access: A::MEMORY_READ | A::MEMORY_WRITE,
                memory: Memory::All,
                previous: false,
                families: None,
            };
            let mut layouts = Vec::new();
            for access in accesses {
                let resource = access.resource.index();
                let image = frame.resource(access.resource).is_image();
                layouts.push(image.then_some(Layout(L::GENERAL)));
                if image && !std::mem::replace(&mut seen[resource], true) {
                    let memory = Memory::Image {
                        resource: resource as u32,
                        part: SubresourceRange::ALL,
                        old: L::UNDEFINED,
                        new: L::GENERAL,
                    };
                    recorded.push(Command::Barrier(vec![Dependency {
                        memory,
                        ..all.clone()
                    }]));
                }
            }
            if left_out != Some(index) {
                recorded.push(Command::Barrier(vec![all]));
            }
            recorded.push(Command::Pass {
                pass: index as u32,
                layouts,
                stores: Vec::new(),
                regions: Vec::new(),
            });
        }
        commands.push(recorded);
    }
    Capture {
        batches: vec![BatchSync::default(); frame.batches().len()],
        command_buffers: commands,
        ..Capture::default()
    }
}

#[test]
fn a_barrier_between_conflicting_passes_is_missed_where_it_is_left_out() {
    let mut missed = 0;
    for seed in 0..10 {
        let frame = synthetic(
            seed,
            SyntheticDesc {
                passes: 14,
                ..SyntheticDesc::default()
            },
        );
        let found = |left_out| check(&frame, &recorded(&frame, left_out)).expect("of its frame");
        assert_eq!(found(None), [], "seed {seed}");
        for index in 1..frame.passes().len() {
            let [before, here] =
                [index - 1, index].map(|pass| frame.passes()[pass].accesses.of(frame.accesses()));
            let conflicts = before
                .iter()
                .flat_map(|one| here.iter().map(move |other| (one, other)));
            // Where images are first used here, their transitions wait for reads, but make no other image's writes visible.
            let conflict = conflicts.into_iter().find(|(one, other)| {
                one.writes && one.resource == other.resource && one.range.intersects(other.range)
            });
            let Some((_, access)) = conflict else { continue };
            let name = &frame.resource(access.resource).name;
            let named = format!("`{}` {{}} `{name}`", frame.passes()[index].name);
            let verbs = ["reads", "writes"].map(|verb| named.replace("{}", verb));
            let is_named = |finding: &Finding| verbs.iter().any(|verb| finding.message.contains(verb));
            let findings = found(Some(index));
            assert!(
                findings.iter().any(is_named),
                "seed {seed}, pass {index}: {findings:?}"
            );
            missed += 1;
        }
    }
    assert!(missed > 30, "{missed}");
}

/// Whatever the first scopes of its barriers.
#[test]
fn what_the_host_knew_to_be_complete_needs_no_barrier() {
    let mut judged = 0;
    for seed in 0..10 {
        let frame = synthetic(seed, SyntheticDesc::default());
        let index = frame.batches()[1].command_buffers.first;
        let first = frame.command_buffers()[index as usize].passes.first as usize;
        let mut capture = recorded(&frame, Some(first));
        for command in &mut capture.command_buffers[index as usize] {
            match command {
                Command::Barrier(all) => all.iter_mut().for_each(|one| {
                    (one.src_stages, one.src_access) = (S::TOP_OF_PIPE, A::NONE);
                }),
                _ => break,
            }
        }
        judged += usize::from(!check(&frame, &capture).expect("of its frame").is_empty());
        capture.batches[1].completed = vec![0];
        assert_eq!(check(&frame, &capture).expect("of its frame"), [], "seed {seed}");
    }
    assert!(judged > 3, "{judged}");
}

#[test]
fn layouts_and_recordings_of_other_frames_are_told() {
    let frame = synthetic(1, SyntheticDesc::default());
    let mut wrong = recorded(&frame, None);
    let used = wrong
        .command_buffers
        .iter_mut()
        .flatten()
        .find_map(|command| match command {
            Command::Pass { layouts, .. } => layouts.iter_mut().find(|layout| layout.is_some()),
            _ => None,
        });
    *used.expect("an image") = Some(Layout(L::TRANSFER_SRC_OPTIMAL));
    let found = check(&frame, &wrong).expect("of its frame");
    assert!(
        found
            .iter()
            .any(|finding| finding.rule == Rule::Layout && finding.certain),
        "{found:?}"
    );
    wrong.batches.pop();
    let error = check(&frame, &wrong).expect_err("a batch is missing").to_string();
    assert!(error.contains("it has 1 batches, and the frame 2"), "{error}");
}

/// What two passes lack that write 32 columns of a depth image, the second one from column `at` on, with these barriers between them.
fn lacking(at: u64, store: vk::AttachmentStoreOp, between: &[Dependency]) -> Vec<Rule> {
    let mut builder = FrameBuilder::new("two", vk::Extent2D::default());
    let (width, height) = (64, 64);
    let desc = ImageDesc::new(vk::Format::D16_UNORM, vk::Extent2D { width, height });
    let outside = Persistence::External(ExternalDesc::in_layout(L::GENERAL));
    let image = builder.resource("image", ResourceKind::from(desc), outside);
    let queue = builder.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = builder.submit(queue);
    let batch = builder.batch(submit);
    let commands = builder.command_buffer(batch, "commands");
    for name in ["first", "second"] {
        let pass = builder.pass(commands, name, PassKind::Render);
        let kind = AccessKind::DepthStencilAttachment;
        pass.access(image, kind, false, true, LoadOp::DontCare);
    }
    let frame = builder.build().expect("a frame");
    let mut capture = recorded(&frame, Some(1));
    let commands = &mut capture.command_buffers[0];
    let mut columns = [0, at].into_iter();
    for command in commands.iter_mut() {
        if let Command::Pass { stores, regions, .. } = command {
            let first = columns.next().expect("two passes");
            *stores = vec![Some(Store(store))];
            *regions = vec![vec![[[first, first + 32], [0, 64], [0, 1]]]];
        }
    }
    let barriers = between.iter().map(|one| Command::Barrier(vec![one.clone()]));
    let last = commands.len() - 1;
    commands.splice(last..last, barriers);
    let findings = check(&frame, &capture).expect("of its frame");
    let mut rules: Vec<Rule> = findings.into_iter().map(|one| one.rule).collect();
    rules.dedup();
    rules
}

#[test]
fn what_vulkan_orders_by_itself_needs_no_barrier() {
    const STORE: vk::AttachmentStoreOp = vk::AttachmentStoreOp::STORE;
    let barrier = |memory, src_stages, dst_stages| Dependency {
        src_stages,
        src_access: A::MEMORY_WRITE,
        dst_stages,
        dst_access: A::MEMORY_READ | A::MEMORY_WRITE,
        memory,
        ..Dependency::default()
    };
    // Areas side by side are in no order, as are copies to them.
    assert_eq!(lacking(32, STORE, &[]), []);
    assert_eq!(lacking(31, STORE, &[]), [Rule::Execution]);
    // A store operation writes again what was cleared and tested at the stage before.
    let late = barrier(Memory::All, S::LATE_FRAGMENT_TESTS, S::ALL_COMMANDS);
    assert_eq!(lacking(0, STORE, std::slice::from_ref(&late)), []);
    assert_eq!(lacking(0, vk::AttachmentStoreOp::NONE, &[late]), [Rule::Memory]);
    // Transitions are in their order; the second one as a render pass begins without a dependency of its own.
    let part = SubresourceRange::ALL;
    let transition = |old, new| Memory::Image {
        resource: 0,
        part,
        old,
        new,
    };
    let changes = transition(L::GENERAL, L::TRANSFER_DST_OPTIMAL);
    let changes = barrier(changes, S::ALL_GRAPHICS, S::ALL_TRANSFER);
    let implied = barrier(transition(L::UNDEFINED, L::GENERAL), S::NONE, S::ALL_COMMANDS);
    assert_eq!(lacking(0, STORE, &[changes, implied.clone()]), []);
    assert_eq!(lacking(0, STORE, &[implied]), [Rule::Execution]);
}

/// The rules broken by three dispatches that write, read and write one buffer, with these barriers between them.
fn lacking_of_three(barriers: [Dependency; 2]) -> Vec<Rule> {
    let mut builder = FrameBuilder::new("three", vk::Extent2D::default());
    let outside = Persistence::External(ExternalDesc::in_layout(L::UNDEFINED));
    let desc = BufferDesc::new(Bytes(256));
    let buffer = builder.resource("buffer", ResourceKind::from(desc), outside);
    let queue = builder.queue("compute", vk::QueueFlags::COMPUTE);
    let submit = builder.submit(queue);
    let batch = builder.batch(submit);
    let commands = builder.command_buffer(batch, "commands");
    for (name, writes) in [("first", true), ("second", false), ("third", true)] {
        let pass = builder.pass(commands, name, PassKind::Compute);
        pass.access(
            buffer,
            AccessKind::StorageBuffer,
            !writes,
            writes,
            LoadOp::DontCare,
        );
    }
    let frame = builder.build().expect("a frame");
    let mut capture = recorded(&frame, None);
    let commands = &mut capture.command_buffers[0];
    commands.retain(|command| matches!(command, Command::Pass { .. }));
    for (at, barrier) in [1, 3].into_iter().zip(barriers) {
        commands.insert(at, Command::Barrier(vec![barrier]));
    }
    let findings = check(&frame, &capture).expect("of its frame");
    findings.into_iter().map(|one| one.rule).collect()
}

#[test]
fn a_write_that_was_made_available_stays_so() {
    let barrier = |src_access, dst_access| Dependency {
        src_stages: S::COMPUTE_SHADER,
        src_access,
        dst_stages: S::COMPUTE_SHADER,
        dst_access,
        memory: Memory::All,
        ..Dependency::default()
    };
    let (write, read) = (A::SHADER_STORAGE_WRITE, A::SHADER_STORAGE_READ);
    let execution = barrier(A::NONE, A::NONE);
    assert_eq!(lacking_of_three([barrier(write, read), execution.clone()]), []);
    let lost = lacking_of_three([execution.clone(), execution]);
    assert_eq!(lost, [Rule::Memory; 2], "the read and the second write");
}
