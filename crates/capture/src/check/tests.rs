use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
use vk::{AccessFlags2 as A, ImageLayout as L, PipelineStageFlags2 as S};

use super::*;
use crate::document::{BatchSync, Layout};

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
