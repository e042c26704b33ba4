//! Reports written by hand.

use ash::vk::{AccessFlags2 as A, ImageAspectFlags, ImageLayout as L, PipelineStageFlags2 as S};
use tileheap::frame::SubresourceRange;
use tileheap::units::Run;
use tileheap_capture::check::finding::{
    Action, Certainty, CheckReport, Finding, Fix, Overlap, Problem, ResourceUse, UncheckedAccesses,
};
use tileheap_capture::document::recording::{DependencyScopes, ResourcePart};

const HDR: &str = "R16G16B16A16_SFLOAT, 1920x1080, 7 levels";

const BLIT_WRITE: Action = Action::Write {
    stage: S::BLIT,
    access: A::TRANSFER_WRITE,
};
const COPY_WRITE: Action = Action::Write {
    stage: S::COPY,
    access: A::TRANSFER_WRITE,
};
const COPY_READ: Action = Action::Read {
    stage: S::COPY,
    access: A::TRANSFER_READ,
};
const SAMPLED: Action = Action::Read {
    stage: S::COMPUTE_SHADER,
    access: A::SHADER_SAMPLED_READ,
};
const STORED: Action = Action::Write {
    stage: S::COMPUTE_SHADER,
    access: A::SHADER_STORAGE_WRITE,
};
const COLOR: Action = Action::Write {
    stage: S::COLOR_ATTACHMENT_OUTPUT,
    access: A::COLOR_ATTACHMENT_WRITE,
};

/// A command of the command buffer `post`.
fn of_post(number: u32, call: &str, resource: &str, description: &str, action: Action) -> ResourceUse {
    ResourceUse {
        call: call.to_owned(),
        command_buffer: "post".to_owned(),
        number,
        submission: 1,
        resource: resource.to_owned(),
        description: description.to_owned(),
        action,
        ..ResourceUse::default()
    }
}

/// The presentation engine's use of an image.
fn of_engine(call: &str, submission: u64, action: Action) -> ResourceUse {
    ResourceUse {
        command_buffer: String::new(),
        submission,
        ..of_post(0, call, "swapchain image 1", "B8G8R8A8_SRGB, 1920x1080", action)
    }
}

/// Texels of a level and layer.
fn texels(level: u32, area: Option<[[u32; 2]; 2]>) -> Overlap {
    let range = SubresourceRange {
        aspects: ImageAspectFlags::COLOR,
        levels: Run::new(level, level + 1),
        layers: Run::new(0, 1),
    };
    Overlap::Resource(ResourcePart::Texels { range, area })
}

fn scopes(src: (S, A), dst: (S, A)) -> Fix {
    Fix::Barrier(DependencyScopes {
        src_stages: src.0,
        src_access: src.1,
        dst_stages: dst.0,
        dst_access: dst.1,
    })
}

fn finding(
    verdict: Certainty,
    problem: Problem,
    first: Option<ResourceUse>,
    second: ResourceUse,
    overlap: Overlap,
) -> Finding {
    Finding {
        verdict,
        problem,
        first,
        second,
        overlap,
        unknown: None,
        fix: None,
        section: "Execution and Memory Dependencies".to_owned(),
        vuid: None,
        count: 1,
    }
}

/// A blit whose writes are not visible to a dispatch.
fn blit_and_dispatch() -> Finding {
    let mut first = of_post(12, "vkCmdBlitImage2", "hdr", HDR, BLIT_WRITE);
    first.label = "bloom / down".to_owned();
    let mut second = of_post(14, "vkCmdDispatch", "hdr", HDR, SAMPLED);
    second.label = "tonemap".to_owned();
    let overlap = texels(2, Some([[0, 480], [0, 270]]));
    Finding {
        fix: Some(scopes(
            (S::BLIT, A::TRANSFER_WRITE),
            (S::COMPUTE_SHADER, A::SHADER_SAMPLED_READ),
        )),
        count: 4,
        ..finding(
            Certainty::Certain,
            Problem::NotAvailable,
            Some(first),
            second,
            overlap,
        )
    }
}

/// A buffer that two dispatches may access in the same places.
pub(super) fn particles() -> Finding {
    let of_particles =
        |number, action| of_post(number, "vkCmdDispatch", "particles", "buffer, 4 MiB", action);
    let overlap = Overlap::Resource(ResourcePart::Bytes(0, 4 << 20));
    let read = Action::Read {
        stage: S::COMPUTE_SHADER,
        access: A::SHADER_STORAGE_READ,
    };
    Finding {
        unknown: Some("which elements of `particles` the two commands access".to_owned()),
        fix: Some(scopes(
            (S::COMPUTE_SHADER, A::SHADER_STORAGE_WRITE),
            (S::COMPUTE_SHADER, A::SHADER_STORAGE_READ),
        )),
        ..finding(
            Certainty::Possible,
            Problem::Unordered,
            Some(of_particles(3, STORED)),
            of_particles(4, read),
            overlap,
        )
    }
}

pub(super) fn pedantic() -> Finding {
    let first = of_post(
        21,
        "vkCmdBeginRendering",
        "atlas",
        "R8G8B8A8_UNORM, 1024x1024",
        COLOR,
    );
    let second = of_post(
        25,
        "vkCmdBeginRendering",
        "atlas",
        "R8G8B8A8_UNORM, 1024x1024",
        COLOR,
    );
    Finding {
        fix: Some(scopes(
            (S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_WRITE),
            (S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_WRITE),
        )),
        section: "Render Pass Store Operations".to_owned(),
        ..finding(
            Certainty::Pedantic,
            Problem::Unordered,
            Some(first),
            second,
            texels(0, None),
        )
    }
}

pub(super) fn gaps() -> Vec<UncheckedAccesses> {
    let limit = |what: &str, count| UncheckedAccesses {
        what: what.to_owned(),
        count,
        always: true,
        ..UncheckedAccesses::default()
    };
    vec![
        UncheckedAccesses {
            resources: vec!["camera".to_owned(), "readback".to_owned()],
            resource_count: 3,
            ..limit(
                "resources are in mapped memory: the host's reads and writes are not recorded",
                3,
            )
        },
        limit("work before the frame is assumed to be complete", 0),
        UncheckedAccesses {
            what: "commands access memory by buffer device addresses".to_owned(),
            count: 12,
            first: "`vkCmdDispatch`, command 3 of `cull`: shader `cull`".to_owned(),
            ..UncheckedAccesses::default()
        },
        UncheckedAccesses {
            what: "batches wait for a signal that was not recorded: the order of later work is unknown"
                .to_owned(),
            count: 1,
            first: "submission 3".to_owned(),
            ..UncheckedAccesses::default()
        },
    ]
}

pub(super) fn report(findings: Vec<Finding>, unchecked: Vec<UncheckedAccesses>) -> CheckReport {
    CheckReport {
        command_buffers: 41,
        commands: 1204,
        checked: 5310,
        findings,
        unchecked,
    }
}

pub(super) fn game() -> CheckReport {
    report(vec![blit_and_dispatch(), pedantic(), particles()], gaps())
}

/// Every problem, in every form.
pub(super) fn every_problem() -> Vec<Finding> {
    let mut all = missing_dependencies();
    all.extend(
        [
            missing_at_transitions(),
            missing_in_aliases(),
            missing_at_transfers(),
            missing_at_presentation(),
            lost_contents(),
            layouts(),
        ]
        .concat(),
    );
    all
}

const DRAWN: Action = Action::Read {
    stage: S::FRAGMENT_SHADER,
    access: A::SHADER_SAMPLED_READ,
};
const INPUT: Action = Action::Read {
    stage: S::FRAGMENT_SHADER,
    access: A::INPUT_ATTACHMENT_READ,
};
const CLEARED: Action = Action::Write {
    stage: S::CLEAR,
    access: A::TRANSFER_WRITE,
};
/// The scope of an operation that has no stage.
const ALL: (S, A) = (S::ALL_COMMANDS, A::NONE);
const BARRIER: &str = "vkCmdPipelineBarrier2";

fn x(number: u32, call: &str, action: Action) -> ResourceUse {
    of_post(number, call, "x", "R8G8B8A8_UNORM, 64x64", action)
}

fn y(number: u32, call: &str, action: Action) -> ResourceUse {
    of_post(number, call, "y", "R32_SFLOAT, 64x64", action)
}

/// A certain finding about all texels of an image.
fn certain(problem: Problem, first: ResourceUse, second: ResourceUse) -> Finding {
    finding(Certainty::Certain, problem, Some(first), second, texels(0, None))
}

/// A certain finding about two resources that share memory.
fn of_aliases(problem: Problem, first: ResourceUse, second: ResourceUse) -> Finding {
    let overlap = Overlap::Memory {
        memory: 3,
        first: 65536,
        end: 131_072,
    };
    Finding {
        overlap,
        section: "Memory Aliasing".to_owned(),
        ..certain(problem, first, second)
    }
}

fn fixed(finding: Finding, src: (S, A), dst: (S, A)) -> Finding {
    Finding {
        fix: Some(scopes(src, dst)),
        ..finding
    }
}

fn missing_dependencies() -> Vec<Finding> {
    let mut drawn = x(9, "vkCmdDrawIndexed", DRAWN);
    drawn.secondary = "opaque".to_owned();
    let aspects = ImageAspectFlags::DEPTH | ImageAspectFlags::STENCIL;
    let range = SubresourceRange {
        aspects,
        levels: Run::new(0, 0),
        layers: Run::new(0, 6),
    };
    let overlap = Overlap::Resource(ResourcePart::Texels { range, area: None });
    let unseen = Finding {
        overlap,
        ..certain(Problem::NotVisible, x(2, "vkCmdCopyImage2", COPY_WRITE), drawn)
    };
    let cleared = certain(
        Problem::Unordered,
        x(2, "vkCmdCopyImage2", COPY_READ),
        x(3, "vkCmdClearColorImage", CLEARED),
    );
    let input = certain(
        Problem::Unordered,
        x(6, "vkCmdDraw", COLOR),
        x(8, "vkCmdDraw", INPUT),
    );
    let many = (
        S::VERTEX_SHADER | S::FRAGMENT_SHADER,
        A::SHADER_SAMPLED_READ | A::UNIFORM_READ,
    );
    vec![
        fixed(unseen, (S::COPY, A::TRANSFER_WRITE), many),
        fixed(cleared, (S::COPY, A::NONE), (S::CLEAR, A::NONE)),
        fixed(
            input,
            (S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_WRITE),
            (S::FRAGMENT_SHADER, A::INPUT_ATTACHMENT_READ),
        ),
    ]
}

fn missing_at_transitions() -> Vec<Finding> {
    let early = certain(
        Problem::Unordered,
        x(2, "vkCmdDispatch", STORED),
        x(3, BARRIER, Action::Transition),
    );
    let read_early = certain(
        Problem::Unordered,
        x(2, "vkCmdDispatch", SAMPLED),
        x(3, BARRIER, Action::Transition),
    );
    let late = certain(
        Problem::NotVisible,
        x(2, BARRIER, Action::Transition),
        x(3, "vkCmdDispatch", SAMPLED),
    );
    let stored = certain(
        Problem::Unordered,
        x(2, BARRIER, Action::Transition),
        x(3, "vkCmdDispatch", STORED),
    );
    let twice = certain(
        Problem::Unordered,
        x(2, "vkCmdEndRenderPass2", Action::Transition),
        x(3, BARRIER, Action::Transition),
    );
    let (compute, compute_writes) = (S::COMPUTE_SHADER, (S::COMPUTE_SHADER, A::SHADER_STORAGE_WRITE));
    vec![
        fixed(early, compute_writes, ALL),
        fixed(read_early, (compute, A::NONE), ALL),
        fixed(late, ALL, (compute, A::SHADER_SAMPLED_READ)),
        fixed(stored, ALL, compute_writes),
        fixed(twice, ALL, ALL),
    ]
}

fn missing_in_aliases() -> Vec<Finding> {
    let clear = (S::CLEAR, A::TRANSFER_WRITE);
    let fills = of_aliases(
        Problem::Unordered,
        x(2, "vkCmdFillBuffer", CLEARED),
        y(3, "vkCmdFillBuffer", CLEARED),
    );
    let changed = of_aliases(
        Problem::NotAvailable,
        x(2, "vkCmdDispatch", STORED),
        y(3, BARRIER, Action::Transition),
    );
    let both = of_aliases(
        Problem::Unordered,
        x(2, BARRIER, Action::Transition),
        y(3, "vkCmdBeginRenderPass2", Action::Transition),
    );
    let stored = of_aliases(
        Problem::Unordered,
        x(2, BARRIER, Action::Transition),
        y(3, "vkCmdDispatch", STORED),
    );
    vec![
        fixed(fills, clear, clear),
        fixed(changed, (S::COMPUTE_SHADER, A::SHADER_STORAGE_WRITE), ALL),
        fixed(both, ALL, ALL),
        fixed(stored, ALL, (S::COMPUTE_SHADER, A::SHADER_STORAGE_WRITE)),
        of_aliases(
            Problem::Unordered,
            x(2, "vkCmdDispatch", SAMPLED),
            y(3, BARRIER, Action::Release),
        ),
        of_aliases(
            Problem::Unordered,
            x(2, BARRIER, Action::Release),
            y(3, BARRIER, Action::Acquire),
        ),
        of_aliases(
            Problem::Unordered,
            x(2, BARRIER, Action::Acquire),
            y(3, "vkCmdDispatch", STORED),
        ),
    ]
}

fn missing_at_transfers() -> Vec<Finding> {
    let released = certain(
        Problem::Unordered,
        x(2, BARRIER, Action::Release),
        ResourceUse {
            submission: 2,
            ..x(3, "vkCmdDispatch", SAMPLED)
        },
    );
    let all = vec![
        Finding {
            fix: Some(Fix::Semaphore {
                stages: S::COMPUTE_SHADER,
            }),
            ..released
        },
        certain(
            Problem::Unordered,
            x(2, "vkCmdDispatch", STORED),
            x(3, BARRIER, Action::Release),
        ),
        certain(
            Problem::Unordered,
            x(2, "vkCmdDispatch", SAMPLED),
            x(3, BARRIER, Action::Acquire),
        ),
        certain(
            Problem::NotVisible,
            x(2, BARRIER, Action::Acquire),
            x(3, "vkCmdDispatch", SAMPLED),
        ),
    ];
    let section = "Queue Family Ownership Transfer";
    all.into_iter()
        .map(|one| Finding {
            section: section.to_owned(),
            ..one
        })
        .collect()
}

fn missing_at_presentation() -> Vec<Finding> {
    let of_post = |call, action| of_post(3, call, "swapchain image 1", "B8G8R8A8_SRGB, 1920x1080", action);
    let acquired = of_engine("vkAcquireNextImageKHR", 0, Action::Present);
    let presented = of_engine("vkQueuePresentKHR", 2, Action::Present);
    let waits = certain(
        Problem::Unordered,
        acquired,
        of_post("vkCmdPipelineBarrier", Action::Transition),
    );
    let blit = certain(
        Problem::Unordered,
        of_post("vkCmdBlitImage", BLIT_WRITE),
        presented,
    );
    let semaphore = || {
        Some(Fix::Semaphore {
            stages: S::ALL_COMMANDS,
        })
    };
    vec![
        Finding {
            fix: semaphore(),
            ..waits
        },
        Finding {
            fix: semaphore(),
            ..blit
        },
    ]
}

fn lost_contents() -> Vec<Finding> {
    let reader = || x(3, "vkCmdDispatch", SAMPLED);
    let through = of_aliases(
        Problem::WrittenThrough,
        y(2, "vkCmdDispatch", STORED),
        x(3, "vkCmdCopyBuffer", COPY_READ),
    );
    let presented = of_engine("vkQueuePresentKHR", 2, Action::Present);
    let whole = texels(0, None);
    let mut unwritten = finding(
        Certainty::Certain,
        Problem::NeverWritten,
        None,
        reader(),
        whole.clone(),
    );
    unwritten.second.description.clear();
    let (from, to) = (0, 1);
    let untransferred = Finding {
        fix: Some(Fix::Transfer {
            from,
            to,
            scopes: DependencyScopes {
                src_stages: S::COMPUTE_SHADER,
                src_access: A::SHADER_STORAGE_WRITE,
                dst_stages: S::COMPUTE_SHADER,
                dst_access: A::SHADER_SAMPLED_READ,
            },
        }),
        section: "Resource Sharing Mode".to_owned(),
        ..certain(
            Problem::NotTransferred { from, to },
            x(2, "vkCmdDispatch", STORED),
            reader(),
        )
    };
    vec![
        unwritten,
        certain(Problem::Discarded, x(2, BARRIER, Action::Transition), reader()),
        certain(Problem::Discarded, x(2, "vkCmdEndRenderPass", COLOR), reader()),
        of_aliases(Problem::Overwritten, y(2, "vkCmdDispatch", STORED), reader()),
        untransferred,
        Finding {
            verdict: Certainty::Possible,
            ..through
        },
        finding(Certainty::Possible, Problem::NeverWritten, None, presented, whole),
    ]
}

fn layouts() -> Vec<Finding> {
    let general = Problem::Layout {
        is: L::GENERAL,
        expected: L::SHADER_READ_ONLY_OPTIMAL,
    };
    let color = Problem::Layout {
        is: L::COLOR_ATTACHMENT_OPTIMAL,
        expected: L::PRESENT_SRC_KHR,
    };
    let alone = |verdict, problem, second| finding(verdict, problem, None, second, texels(0, None));
    let mut read = certain(
        general,
        x(2, BARRIER, Action::Transition),
        x(3, "vkCmdDispatch", SAMPLED),
    );
    read.vuid = Some("VUID-vkCmdDraw-None-09600".to_owned());
    let all = vec![
        read,
        alone(Certainty::Possible, general, x(3, BARRIER, Action::Transition)),
        alone(
            Certainty::Certain,
            general,
            x(3, "vkCmdBeginRenderPass", Action::Transition),
        ),
        alone(
            Certainty::Certain,
            color,
            of_engine("vkQueuePresentKHR", 2, Action::Present),
        ),
    ];
    let section = "Image Layouts";
    all.into_iter()
        .map(|one| Finding {
            section: section.to_owned(),
            ..one
        })
        .collect()
}
