//! Queues and submits of a loose description.

use std::collections::{BTreeMap, BTreeSet};

use ash::vk;

use super::ImportError;
use super::document::Document;
use super::passes::{Interpreted, parse_kind};
use crate::frame::tables::{HistoryVersion, PassKind};
use crate::frame::{FrameBuilder, FrameError};

/// The queue of passes that do not name one.
const DEFAULT_QUEUE: &str = "graphics";

/// Declares queues, submits and passes.
pub(super) fn declare(
    frame: &mut FrameBuilder,
    document: &Document,
    passes: Interpreted,
) -> Result<(), FrameError> {
    let needs = queue_needs(document);
    let mut queues = BTreeMap::new();
    let mut names = PassNames::default();
    let mut begun = BTreeSet::new();
    let mut last = None;
    let mut number = 0;
    for (pass, interpreted) in document.passes.iter().zip(passes.passes) {
        let Some((kind, accesses)) = interpreted else {
            continue;
        };
        number = pass.submit.unwrap_or(number);
        let queue_name = pass.queue.as_deref().unwrap_or(DEFAULT_QUEUE);
        let queue = *queues
            .entry(queue_name)
            .or_insert_with(|| frame.queue(queue_name, capabilities(queue_name, needs[queue_name])));
        let commands = match last {
            Some((last_number, last_queue, commands, _)) if (last_number, last_queue) == (number, queue) => {
                commands
            }
            _ => {
                let other_number = last.is_none_or(|(last_number, ..)| last_number != number);
                if other_number && !begun.insert(number) {
                    let problem =
                        format!("goes back to submit {number}: list passes in the order of submission");
                    return Err(ImportError::of_pass(&pass.name, problem).into());
                }
                let submit = frame.submit(queue);
                let batch = frame.batch(submit);
                if let Some((_, last_queue, _, last_batch)) = last {
                    if last_queue != queue {
                        let semaphore = frame.semaphore(format!("before submit {}", submit.index()));
                        frame.signal(last_batch, semaphore, vk::PipelineStageFlags2::ALL_COMMANDS);
                        frame.wait(batch, semaphore, vk::PipelineStageFlags2::ALL_COMMANDS);
                    }
                }
                let commands = frame.command_buffer(batch, format!("submit {}", submit.index()));
                last = Some((number, queue, commands, batch));
                commands
            }
        };
        let mut builder = frame.pass(commands, names.unused(&pass.name), kind);
        for access in accesses {
            builder = builder.access(
                access.resource,
                access.kind,
                access.reads,
                access.writes,
                access.load_op,
            );
            if access.version == HistoryVersion::Previous {
                builder = builder.previous();
            }
            if let Some(source) = access.resolves {
                builder = builder.resolving(source);
            }
        }
    }
    Ok(())
}

/// Pass names used so far; per name in the file, the number of the last pass with it.
#[derive(Default)]
struct PassNames {
    taken: BTreeSet<String>,
    numbers: BTreeMap<String, u32>,
}

impl PassNames {
    /// The name, with a suffix ` (2)`, ` (3)` and so on if it is taken.
    fn unused(&mut self, name: &str) -> String {
        let number = self.numbers.entry(name.to_owned()).or_insert(0);
        loop {
            *number += 1;
            let candidate = match *number {
                1 => name.to_owned(),
                number => format!("{name} ({number})"),
            };
            if self.taken.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}

/// Capabilities that the passes need on each queue.
fn queue_needs(document: &Document) -> BTreeMap<&str, vk::QueueFlags> {
    let mut needs = BTreeMap::new();
    for pass in &document.passes {
        let queue = pass.queue.as_deref().unwrap_or(DEFAULT_QUEUE);
        *needs.entry(queue).or_insert(vk::QueueFlags::TRANSFER) |= match parse_kind(pass) {
            Ok(Some(PassKind::Render)) => vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE,
            Ok(Some(PassKind::Compute)) => vk::QueueFlags::COMPUTE,
            _ => vk::QueueFlags::empty(),
        };
    }
    needs
}

/// Capabilities implied by a queue's name, or those that are needed if the name says nothing.
fn capabilities(name: &str, needed: vk::QueueFlags) -> vk::QueueFlags {
    use vk::QueueFlags as Q;
    let name = name.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if says(&["graphics", "main", "universal", "direct"]) {
        Q::GRAPHICS | Q::COMPUTE | Q::TRANSFER
    } else if says(&["compute"]) {
        Q::COMPUTE | Q::TRANSFER
    } else if says(&["transfer", "copy", "dma"]) {
        Q::TRANSFER
    } else {
        needed
    }
}
