//! Reduces a recording as long as a condition holds.

use crate::recording::*;

/// The smallest recording found for which `holds`; steps are removed one at a time.
pub(crate) fn shrink(mut recording: Recording, mut holds: impl FnMut(&Recording) -> bool) -> Recording {
    let mut changed = true;
    while std::mem::take(&mut changed) {
        let ids: Vec<u32> = recording.steps().map(|(_, step)| step.id).collect();
        for id in ids.into_iter().rev() {
            let Some(smaller) = without(&recording, id) else {
                continue;
            };
            if holds(&smaller) {
                (recording, changed) = (smaller, true);
            }
        }
        for index in (0..recording.submits.len()).rev() {
            let mut smaller = recording.clone();
            smaller.submits.remove(index);
            if !smaller.submits.is_empty() && holds(&smaller) {
                (recording, changed) = (smaller, true);
            }
        }
    }
    recording
}

/// The recording without a step and the steps that depend on it; `None` if it cannot be removed. Images may then be in layouts other than those in
/// commands.
fn without(recording: &Recording, id: u32) -> Option<Recording> {
    let (buffer, at) = recording.find(id)?;
    let mut smaller = recording.clone();
    let steps = &mut smaller.command_buffers[buffer].steps;
    match &steps[at].command {
        Command::BeginPass(_) => {
            let end = steps[at..]
                .iter()
                .position(|step| matches!(step.command, Command::EndPass))?;
            steps.drain(at..=at + end);
            for one in &mut smaller.command_buffers {
                if matches!(one.secondary, Some(Inheritance::Inside { begin, .. }) if begin == id) {
                    *one = CommandBuffer {
                        steps: Vec::new(),
                        secondary: Some(Inheritance::Outside),
                    };
                }
            }
        }
        Command::EndPass | Command::NextSubpass { .. } => return None,
        Command::SetEvent { event, .. } | Command::WaitEvent { event, .. } => {
            let event = *event;
            for one in &mut smaller.command_buffers {
                one.steps.retain(|step| match &step.command {
                    Command::SetEvent { event: other, .. } | Command::WaitEvent { event: other, .. } => {
                        *other != event
                    }
                    _ => true,
                });
            }
        }
        _ => drop(steps.remove(at)),
    }
    Some(smaller)
}

/// Describes a recording in a few lines.
pub(crate) fn written(recording: &Recording) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    for (index, resource) in recording.resources.iter().enumerate() {
        writeln!(
            text,
            "resource {index}: {:?} of place {} ({:?})",
            (resource.first, resource.count),
            resource.place,
            recording.places[resource.place]
        )
        .expect("a string takes everything");
    }
    for (index, one) in recording.command_buffers.iter().enumerate() {
        if one.steps.is_empty() {
            continue;
        }
        writeln!(text, "cb{index} {:?}", one.secondary).expect("a string takes everything");
        for step in &one.steps {
            writeln!(text, "  s{} {:?}", step.id, step.command).expect("a string takes everything");
        }
    }
    for submit in &recording.submits {
        writeln!(text, "{submit:?}").expect("a string takes everything");
    }
    text
}
