//! Drafts findings about reads of lost contents, unless an untracked access may have written the contents.

use std::collections::{HashMap, HashSet};

use ash::vk::{AccessFlags2, PipelineStageFlags2};
use tileheap_sync::program::Tag;
use tileheap_sync::{Action as ModelAction, Certainty as ModelVerdict, LossReason, LostContents, MemoryUse};

use super::finding::{Action, Certainty, Fix, Overlap, Problem};
use super::groups::Draft;
use super::hazards::{Pair, doubt_of, overlap, part};
use super::passes::{Doubt, is_of_attachment};
use super::sites::Sites;
use super::words;
use crate::document::recording::{DependencyScopes, RecordedStep};

/// Drafts a finding for each read of lost contents, unless a certain hazard between the same commands explains it, the host or an untracked access may
/// have written the contents, or [`note`] returns a note.
pub(super) fn drafts(sites: &Sites<'_>, explained: &HashSet<Pair>) -> Vec<Draft> {
    let untracked = Untracked::new(sites);
    let mut drafts = Vec::new();
    for lost in &sites.outcome.findings.lost {
        let by = by(&lost.loss);
        let pair = by.map(|by| [by, &lost.reader].map(|used| (used.batch, used.tag)));
        let is_explained = pair.is_some_and(|pair| explained.contains(&pair));
        let is_unseen = untracked.may_write(sites, lost)
            || sites.resources.shares_memory_with_unchecked(lost.reader.resource);
        let is_written_by_host = sites.resources.get(lost.reader.resource).host_writes;
        let is_reported = !is_explained && !is_unseen && is_read(sites, &lost.reader);
        if !is_reported || is_written_by_host || note(sites, lost).is_some() {
            continue;
        }
        drafts.push(draft(sites, lost));
    }
    drafts
}

/// Returns a note instead of a finding for a new resource that nothing has written. Programs use one render pass for all frames and cover the loaded
/// contents with draws, or bind such resources although the shader does not use them: the recording does not show whether they are read.
pub(super) fn note(sites: &Sites<'_>, lost: &LostContents) -> Option<&'static str> {
    let is_new = lost.last.is_none() && sites.resources.get(lost.reader.resource).created;
    // A render pass that discards what it loads contradicts itself.
    let is_by_barrier = |by: &MemoryUse| {
        let is_outside = sites
            .site(by.batch, by.tag)
            .is_some_and(|site| site.place.is_none());
        by.action == ModelAction::Transition && is_outside
    };
    let is_unwritten = match &lost.loss {
        LossReason::NeverWritten => true,
        LossReason::Discarded(by) => is_by_barrier(by),
        _ => false,
    };
    let is_load = matches!(lost.reader.action, ModelAction::Access(_, access) if is_of_attachment(access));
    if !is_new || !is_unwritten {
        return None;
    }
    match sites.commands.doubt_of(&lost.reader) {
        Some(Doubt::Shader) => Some(words::UNWRITTEN),
        _ if is_load => Some(words::FIRST_LOADS),
        _ => None,
    }
}

/// Returns the use that discarded or overwrote the contents, or wrote them on another queue family; `None` if nothing wrote them.
fn by(loss: &LossReason) -> Option<&MemoryUse> {
    match loss {
        // Recordings contain no discards of memory.
        LossReason::NeverWritten | LossReason::MemoryDiscarded { .. } => None,
        LossReason::Discarded(by)
        | LossReason::Overwritten(by)
        | LossReason::WrittenThrough(by)
        | LossReason::NotTransferred { by, .. } => Some(by),
    }
}

/// Returns true unless the reader is the acquisition of an image, or a test that may be disabled: these do not need the contents.
fn is_read(sites: &Sites<'_>, reader: &MemoryUse) -> bool {
    match sites.step(reader.batch) {
        RecordedStep::Acquire { .. } => false,
        RecordedStep::Submit(_) => sites.commands.doubt_of(reader) != Some(Doubt::Tests),
        _ => true,
    }
}

fn draft(sites: &Sites<'_>, lost: &LostContents) -> Draft {
    let by = by(&lost.loss);
    let first = match lost.loss {
        LossReason::NotTransferred { .. } => lost.last.as_ref().or(by),
        _ => by,
    };
    let (verdict, unknown) = judge(sites, lost);
    let place = match by {
        Some(by) => overlap(sites, by, &lost.reader),
        None => Overlap::Resource(part(lost.reader.part)),
    };
    Draft {
        verdict,
        problem: match lost.loss {
            LossReason::NeverWritten => Problem::NeverWritten,
            LossReason::Discarded(_) | LossReason::MemoryDiscarded { .. } => Problem::Discarded,
            LossReason::Overwritten(_) => Problem::Overwritten,
            LossReason::WrittenThrough(_) => Problem::WrittenThrough,
            LossReason::NotTransferred { from, to, .. } => Problem::NotTransferred { from, to },
        },
        first: first.map(|used| sites.use_position(used)),
        second: sites.use_position(&lost.reader),
        overlap: place,
        unknown,
        fix: transfer(lost),
        section: section(sites, &lost.loss),
        vuid: None,
    }
}

/// Returns the verdict and, for a possible finding, a description of what is unknown.
fn judge(sites: &Sites<'_>, lost: &LostContents) -> (Certainty, Option<String>) {
    let is_untransferred = matches!(lost.loss, LossReason::NotTransferred { .. });
    let last = lost.last.iter().filter(|_| is_untransferred);
    let uses = last.chain(by(&lost.loss)).chain([&lost.reader]);
    let reader = sites.name(lost.reader.resource);
    for used in uses {
        if let Some(words) = doubt_of(sites, used) {
            return (Certainty::Possible, Some(words));
        }
        if sites.resources.is_inexact(used.resource) {
            return (
                Certainty::Possible,
                Some(words::texels(sites.name(used.resource))),
            );
        }
        // Batches may have run in a different order.
        if sites.outcome.is_unknown(used.batch) {
            return (Certainty::Possible, Some(words::OUTSIDE.to_owned()));
        }
    }
    // Loading undefined contents is allowed, and draws may overwrite all of them.
    let is_attachment =
        matches!(lost.reader.action, ModelAction::Access(_, access) if is_of_attachment(access));
    if is_attachment && !matches!(lost.loss, LossReason::WrittenThrough(_)) {
        return (Certainty::Possible, Some(words::attachment(reader)));
    }
    let is_copied =
        matches!(lost.reader.action, ModelAction::Access(_, access) if access == AccessFlags2::TRANSFER_READ);
    if is_copied && lost.loss == LossReason::NeverWritten {
        return (Certainty::Possible, Some(words::copied(reader)));
    }
    match (lost.verdict, lost.loss) {
        (_, LossReason::WrittenThrough(_)) => (Certainty::Possible, Some(words::INTENT.to_owned())),
        (ModelVerdict::Certain, _) => (Certainty::Certain, None),
        (ModelVerdict::Pedantic, _) => (Certainty::Pedantic, None),
        (ModelVerdict::Possible, _) => (Certainty::Possible, Some(words::contents(reader))),
    }
}

/// Returns the transfer of ownership that would keep the contents; `None` if they were lost for another reason.
fn transfer(lost: &LostContents) -> Option<Fix> {
    let LossReason::NotTransferred { from, to, .. } = lost.loss else {
        return None;
    };
    let scope = |used: Option<&MemoryUse>| match used.map(|used| used.action) {
        Some(ModelAction::Access(stage, access)) => (stage, access),
        _ => (PipelineStageFlags2::ALL_COMMANDS, AccessFlags2::MEMORY_WRITE),
    };
    let (src_stages, src_access) = scope(lost.last.as_ref());
    let (dst_stages, dst_access) = scope(Some(&lost.reader));
    let scopes = DependencyScopes {
        src_stages,
        src_access,
        dst_stages,
        dst_access,
    };
    Some(Fix::Transfer { from, to, scopes })
}

fn section(sites: &Sites<'_>, loss: &LossReason) -> &'static str {
    let LossReason::Discarded(by) = loss else {
        return match loss {
            LossReason::NeverWritten => "Resource Memory Association",
            LossReason::NotTransferred { .. } => "Resource Sharing Mode",
            _ => "Memory Aliasing",
        };
    };
    match by.action {
        ModelAction::Access(_, access) if is_of_attachment(access) => {
            let command = sites
                .command(by.batch, by.tag)
                .map(|command| command.call.as_str());
            match command.is_some_and(|call| call.contains("End") || call.contains("Next")) {
                true => "Render Pass Store Operations",
                false => "Render Pass Load Operations",
            }
        }
        _ => match sites.use_position(by).action {
            Action::Transition => "Image Layout Transitions",
            _ => "Queue Family Ownership Transfer",
        },
    }
}

/// Commands with untracked accesses, which may be writes.
struct Untracked {
    /// By command buffer: the tags of commands whose untracked accesses may be to any resource.
    any_resource: Vec<Vec<Tag>>,
    /// By command buffer and resource: the tags of commands whose untracked accesses may be to that resource.
    by_resource: Vec<HashMap<u32, Vec<Tag>>>,
}

impl Untracked {
    fn new(sites: &Sites<'_>) -> Untracked {
        let count = sites.recording.command_buffers.len();
        let mut all = Untracked {
            any_resource: vec![Vec::new(); count],
            by_resource: vec![HashMap::new(); count],
        };
        for (tag, site) in (0..).map(Tag).zip(&sites.commands.sites) {
            let command = &sites.recording.command_buffers[site.buffer].commands[site.index];
            for unresolved in &command.unresolved {
                if unresolved.resources.is_empty() {
                    all.any_resource[site.buffer].push(tag);
                }
                for &resource in &unresolved.resources {
                    all.by_resource[site.buffer]
                        .entry(resource)
                        .or_default()
                        .push(tag);
                }
            }
        }
        for used in &sites.outcome.findings.unchecked {
            if let Some(site) = sites.site(used.batch, used.tag) {
                let resource = sites.resources.index(used.resource) as u32;
                all.by_resource[site.buffer]
                    .entry(resource)
                    .or_default()
                    .push(used.tag);
            }
        }
        all
    }

    /// Returns true if an untracked access may write between the loss and the read.
    fn may_write(&self, sites: &Sites<'_>, lost: &LostContents) -> bool {
        let reader = &lost.reader;
        let resource = sites.resources.index(reader.resource) as u32;
        let end = |used: &MemoryUse| {
            let queue = sites.batch(used.batch).map(|batch| batch.queue);
            let buffer = sites.site(used.batch, used.tag).map(|site| site.buffer);
            (used.batch, queue, buffer, used.tag)
        };
        let (last, before) = (end(reader), by(&lost.loss).map(end));
        let steps = (0..).zip(&sites.recording.steps);
        let mut batches = steps.filter_map(|(step, one)| match one {
            RecordedStep::Submit(batch) => Some((step, batch)),
            _ => None,
        });
        batches.any(|(step, batch)| {
            // Batches of one queue begin in submission order; others may run at any time.
            let is_later = step > last.0 && (last.1 == Some(batch.queue) || last.1.is_none());
            let is_earlier = before.is_some_and(|before| step < before.0 && before.1 == Some(batch.queue));
            if is_later || is_earlier {
                return false;
            }
            batch.command_buffers.iter().any(|&buffer| {
                let buffer = buffer as usize;
                let is_between = |tag: &Tag| {
                    let is_before_read = (step, Some(buffer)) != (last.0, last.2) || *tag < last.3;
                    let is_after_loss = before
                        .is_none_or(|before| (step, Some(buffer)) != (before.0, before.2) || *tag > before.3);
                    is_before_read && is_after_loss
                };
                let of_resource = self.by_resource[buffer].get(&resource);
                let mut tags = self.any_resource[buffer]
                    .iter()
                    .chain(of_resource.into_iter().flatten());
                tags.any(is_between)
            })
        })
    }
}
