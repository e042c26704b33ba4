//! Entries of the report for everything that was not checked.

use std::collections::{BTreeMap, HashSet};

use super::finding::UncheckedAccesses;
use super::hazards::is_between_fragments;
use super::lost::note;
use super::sites::Sites;
use super::words;
use crate::document::UnresolvedKind;
use crate::document::recording::{Command, CommandEffect};

/// Maximum number of resources that an entry lists by name.
const MAX_NAMES: usize = 8;

/// Returns the entries of a report for everything that was not checked.
pub(super) fn list(sites: &Sites<'_>) -> Vec<UncheckedAccesses> {
    let mut entries = Entries::default();
    let submitted: Vec<usize> = sites.recording.submitted().collect();
    for buffer in submitted {
        for (index, command) in sites.recording.command_buffers[buffer]
            .commands
            .iter()
            .enumerate()
        {
            let place = || words::command(sites.recording, buffer, index);
            for unresolved in &command.unresolved {
                let what = of_kind(unresolved.kind);
                let first = || match unresolved.what.is_empty() {
                    true => place(),
                    false => format!("{}: {}", place(), unresolved.what),
                };
                entries.add(what.to_owned(), first, &unresolved.resources);
            }
            for resource in accessed(command) {
                let facts = &sites.recording.resources[resource as usize];
                let Some(reason) = &facts.unchecked else { continue };
                let what = format!("accesses are to resources that cannot be checked: {reason}");
                entries.add(what, || format!("`{}`, by {}", facts.name, place()), &[resource]);
            }
        }
    }
    for used in &sites.outcome.findings.unchecked {
        let index = sites.resources.index(used.resource) as u32;
        let first = || match sites.site(used.batch, used.tag) {
            Some(site) => words::command(sites.recording, site.buffer, site.index),
            None => sites.call(used.batch, used.tag).to_owned(),
        };
        let what =
            "accesses are of a type that the stage does not perform, or that the checker does not know";
        entries.add(what.to_owned(), first, &[index]);
    }
    draws(sites, &mut entries);
    host(sites, &mut entries);
    entries.finish(sites)
}

/// Adds entries for draws that depend on something the recording cannot show.
fn draws(sites: &Sites<'_>, entries: &mut Entries) {
    let findings = &sites.outcome.findings;
    let lost = findings.lost.iter();
    let unwritten = lost.filter_map(|lost| Some((&lost.reader, note(sites, lost)?)));
    let hazards = findings.hazards.iter();
    let fragments = hazards.filter(|hazard| is_between_fragments(sites, hazard));
    let fragments = fragments.map(|hazard| (&hazard.after, words::FRAGMENTS));
    let mut known = HashSet::new();
    for (used, what) in unwritten.chain(fragments) {
        let index = sites.resources.index(used.resource) as u32;
        let Some(site) = sites.site(used.batch, used.tag) else {
            continue;
        };
        let first = || {
            let command = words::command(sites.recording, site.buffer, site.index);
            format!("`{}`, by {command}", sites.name(used.resource))
        };
        if known.insert((used.batch, used.tag, index, what)) {
            entries.add(what.to_owned(), first, &[index]);
        }
    }
}

/// Adds entries for synchronization by the host and outside of the recording, for mapped memory, and for work before the frame.
fn host(sites: &Sites<'_>, entries: &mut Entries) {
    for event in &sites.outcome.host_events {
        let what = "events are set or reset by the host: the order of waits is unknown";
        entries.add(what.to_owned(), || format!("event {event}"), &[]);
    }
    for call in &sites.outcome.outside_calls {
        let what = "calls may order work in a way that is not recorded";
        entries.add(what.to_owned(), || format!("`{call}`"), &[]);
    }
    for &step in &sites.outcome.waits_outside {
        let what = "batches wait for a signal that was not recorded: the order of later work is unknown";
        let submission = sites.outcome.submissions[step as usize];
        entries.add(what.to_owned(), || format!("submission {submission}"), &[]);
    }
    for (index, resource) in (0..).zip(&sites.recording.resources) {
        let memory = resource
            .placement
            .map(|placement| &sites.recording.memories[placement.object as usize]);
        if memory.is_some_and(|memory| memory.mapped) {
            let what = "resources are in mapped memory: the host's reads and writes are not recorded";
            entries
                .add(what.to_owned(), || format!("`{}`", resource.name), &[index])
                .always = true;
        }
    }
    let what = "work before the frame is assumed to be complete";
    let entry = entries.add(what.to_owned(), String::new, &[]);
    (entry.count, entry.always) = (0, true);
}

fn of_kind(kind: UnresolvedKind) -> &'static str {
    match kind {
        UnresolvedKind::DeviceAddress => "commands access memory by buffer device addresses",
        UnresolvedKind::DescriptorBuffer => "commands use descriptor buffers",
        UnresolvedKind::BindlessArray => "commands use arrays of descriptors that shaders index",
        UnresolvedKind::Shader => "commands run shaders that could not be analyzed",
        UnresolvedKind::RayTracing => "commands use ray tracing or acceleration structures",
        UnresolvedKind::Video => "commands belong to video sessions",
        UnresolvedKind::Command => "commands are not supported",
        UnresolvedKind::UnknownObject => "commands use objects whose creation was not recorded",
    }
}

/// Returns the resources that a command accesses, once for each access.
fn accessed(command: &Command) -> Vec<u32> {
    match &command.action {
        CommandEffect::Access(accesses) => accesses.iter().map(|access| access.resource).collect(),
        CommandEffect::Begin(instance) => instance.attachments.iter().map(|one| one.resource).collect(),
        _ => Vec::new(),
    }
}

/// The resources of an entry.
#[derive(Default)]
struct EntryResources {
    is_any: bool,
    resources: Vec<u32>,
}

/// Entries in order of first occurrence.
#[derive(Default)]
struct Entries {
    all: Vec<(UncheckedAccesses, EntryResources)>,
    by_what: BTreeMap<String, usize>,
}

impl Entries {
    /// Counts one occurrence of `what`, and adds `resources` to its entry; an empty list means any resource.
    fn add(&mut self, what: String, first: impl Fn() -> String, resources: &[u32]) -> &mut UncheckedAccesses {
        let next = self.all.len();
        let index = *self.by_what.entry(what.clone()).or_insert(next);
        if index == next {
            let entry = UncheckedAccesses {
                what,
                first: first(),
                ..UncheckedAccesses::default()
            };
            self.all.push((entry, EntryResources::default()));
        }
        let (entry, of) = &mut self.all[index];
        entry.count += 1;
        of.is_any |= resources.is_empty();
        of.resources.extend(resources);
        entry
    }

    fn finish(self, sites: &Sites<'_>) -> Vec<UncheckedAccesses> {
        let entries = self.all.into_iter().map(|(mut entry, mut of)| {
            of.resources.sort_unstable();
            of.resources.dedup();
            if !of.is_any {
                let names = of.resources.iter().take(MAX_NAMES);
                let names = names.map(|index| sites.recording.resources[*index as usize].name.clone());
                entry.resources = names.collect();
                entry.resource_count = of.resources.len() as u64;
            }
            entry
        });
        entries.collect()
    }
}
