//! Checks a captured frame's own synchronization, the contents that it reads and the layouts of its images.
//!
//! ```text
//! Recording ─► validate ─► resources, commands (passes) ─► steps ─────────► hazards ─► groups ─► Report
//!               indices     as types of tileheap_sync       batches run in   verdicts   equal      ▲
//!               nesting          │                          the model        words      ones       │
//!                                └─► layouts: the layout of every subresource, in host order ──────┤
//!                                └─► unchecked: everything that could not be checked ──────────────┘
//! ```
//! [`tileheap_sync`] implements the rules of order and contents; the modules here convert the recording and describe findings. A finding is certain
//! only if it holds for everything that the recording leaves open. One that depends on something unknown is possible, or an entry of
//! [`CheckReport::unchecked`].
//!
//! Work before the frame is assumed to be complete, and its contents to be defined. Host accesses to mapped memory are not recorded.

use tileheap_sync::Model;

use crate::document::recording::Recording;

mod cells;
mod commands;
pub mod finding;
mod groups;
mod hazards;
mod layouts;
mod lost;
mod passes;
mod resources;
mod sites;
mod steps;
#[cfg(test)]
mod tests;
mod unchecked;
mod validate;
mod words;

pub use finding::CheckReport;
pub use validate::MalformedRecording;

use self::commands::Commands;
use self::groups::Groups;
use self::resources::Resources;
use self::sites::Sites;

/// Checks the recording of a frame. O(accesses x accesses to the same memory).
///
/// # Errors
/// If the recording is malformed: an index is out of range, or a render pass instance is incomplete.
pub fn check(recording: &Recording) -> Result<CheckReport, MalformedRecording> {
    validate::validate(recording)?;
    let mut model = Model::new(recording.granularity);
    let resources = Resources::new(recording, &mut model);
    let commands = Commands::new(recording, &resources);
    let outcome = steps::run(recording, &resources, &commands, &mut model);
    let sites = Sites {
        recording,
        resources: &resources,
        commands: &commands,
        outcome: &outcome,
    };
    let mut groups = Groups::default();
    let (hazards, explained) = hazards::drafts(&sites);
    hazards.into_iter().for_each(|draft| groups.add(&sites, draft));
    let lost = lost::drafts(&sites, &explained);
    lost.into_iter().for_each(|draft| groups.add(&sites, draft));
    let layouts = layouts::drafts(&sites);
    layouts.into_iter().for_each(|draft| groups.add(&sites, draft));
    let submitted = || recording.submitted();
    let lengths = submitted().map(|buffer| recording.command_buffers[buffer].commands.len() as u64);
    Ok(CheckReport {
        command_buffers: submitted().count() as u64,
        commands: lengths.sum(),
        checked: outcome.checked,
        findings: groups.finish(&sites),
        unchecked: unchecked::list(&sites),
    })
}

impl Recording {
    /// Iterates over the command buffers of all batches, in submission order.
    fn submitted(&self) -> impl Iterator<Item = usize> {
        let batches = self.steps.iter().filter_map(|step| match step {
            crate::document::recording::RecordedStep::Submit(batch) => Some(batch),
            _ => None,
        });
        batches.flat_map(|batch| batch.command_buffers.iter().map(|buffer| *buffer as usize))
    }
}
