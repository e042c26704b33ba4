//! The part of the checker for values: every access sees, in its value or in the image of its strip, the same contents as the described access in the
//! whole resource.
//!
//! Contents are tracked per part, as the writes since the part was last replaced. A pass that runs in strips may repeat its writes.

use super::error::{OriginError, OriginRule};
use super::executed::ExecutedFrame;
use super::origins::{OriginTables, PassOrigin, PassRun, ResourceOrigin, ResourceValue};
use crate::frame::tables::{Access, HistoryVersion};
use crate::frame::{AccessKind, Frame, PassId, Persistence, ResourceId};
use crate::units::CompactSort;

/// The contents of one part of a resource: indices of the described writes to it, starting with the last one that replaced all of it.
type PartContents = Vec<u32>;

/// Stands, in place of the index of a write, for the contents that an external or history resource has before the frame.
const BEFORE_FRAME: u32 = u32::MAX;

/// Returns the faults in the values of a frame whose passes and accesses have valid origins.
pub(super) fn faults(executed: &ExecutedFrame, origins: &OriginTables) -> Vec<OriginError> {
    let mut divided: Vec<ResourceId> = Vec::new();
    for origin in &origins.resources {
        if origin.value.is_some() && !divided.contains(&origin.resource) {
            divided.push(origin.resource);
        }
    }
    let mut copied: Vec<ResourceId> = Vec::new();
    for origin in &origins.passes {
        if let PassOrigin::Border { resource, .. } = *origin {
            if !copied.contains(&resource) && !divided.contains(&resource) {
                copied.push(resource);
            }
        }
    }
    let checker = |resource| Checker {
        executed,
        origins,
        resource,
    };
    let fault = |(resource, why): (ResourceId, String)| OriginError {
        rule: OriginRule::Value,
        message: format!(
            "the values of `{}` do not match the described resource: {why}",
            executed.described().resource(resource).name
        ),
    };
    let of_values = divided.into_iter().filter_map(|resource| {
        let checker = checker(resource);
        let why = checker.numbering_fault().or_else(|| checker.contents_fault());
        Some((resource, why?))
    });
    let at_borders = copied
        .into_iter()
        .filter_map(|resource| Some((resource, checker(resource).contents_fault()?)));
    of_values.chain(at_borders).map(fault).collect()
}

struct Checker<'a> {
    executed: &'a ExecutedFrame,
    origins: &'a OriginTables,
    resource: ResourceId,
}

/// A described access, and the contents that it sees in each part that it needs.
type ObservedContents = (u32, Vec<PartContents>);

impl Checker<'_> {
    /// Resources of the executed frame that represent the described resource or a part of it.
    fn holders(&self) -> impl Iterator<Item = (ResourceId, ResourceOrigin)> + '_ {
        let ids = self
            .executed
            .frame()
            .resource_ids()
            .zip(self.origins.resources.iter().copied());
        ids.filter(|(_, origin)| origin.resource == self.resource)
    }

    fn is_persistent(&self) -> bool {
        self.executed.described().resource(self.resource).persistence != Persistence::Transient
    }

    /// Returns why the values are not numbered in the order of the described passes; `None` if they are.
    fn numbering_fault(&self) -> Option<String> {
        let mut values: Vec<(ResourceValue, ResourceId)> = Vec::new();
        for (id, origin) in self.holders() {
            match origin.value {
                Some(value) if origin.until.is_none() && origin.area.is_none() => values.push((value, id)),
                None if !self.is_persistent() => return Some("one of them has no number".to_owned()),
                _ => {}
            }
        }
        values.compact_sort_by_key(|(value, _)| value.number);
        let count = values.first()?.0.count;
        let numbers: Vec<u32> = values.iter().map(|(value, _)| value.number).collect();
        // An external or history resource itself holds its last value, and possibly the first.
        let numbered = match self.is_persistent() {
            true => {
                (1..count).eq(numbers.iter().copied()) || count > 2 && (2..count).eq(numbers.iter().copied())
            }
            false => count > 1 && (1..=count).eq(numbers.iter().copied()),
        };
        if !numbered || values.iter().any(|(value, _)| value.count != count) {
            return Some(format!(
                "value numbers {numbers:?} do not match a count of {count}"
            ));
        }
        let mut before: Option<PassId> = None;
        for (value, id) in values {
            let passes = self.described_passes(value);
            if passes.is_empty() || before.is_some_and(|before| passes.iter().any(|&pass| pass <= before)) {
                let name = &self.executed.frame().resource(id).name;
                return Some(format!(
                    "`{name}`, value {} of {count}, must be used, and only after the values before it",
                    value.number
                ));
            }
            before = passes.into_iter().max();
        }
        None
    }

    /// The described passes that use a value, or a stretch of it; a pass can occur more than once.
    fn described_passes(&self, value: ResourceValue) -> Vec<PassId> {
        let (frame, described) = (self.executed.frame(), self.executed.described());
        let holders = self.holders().filter(|(_, origin)| origin.value == Some(value));
        let uses = holders.flat_map(|(id, _)| frame.uses_of(id));
        let origins = uses.filter_map(|&index| self.origins.accesses[index as usize]);
        origins
            .map(|origin| described.accesses()[origin as usize].pass)
            .collect()
    }

    /// Describes the first access that sees contents other than those that the described access sees, or another fault in the contents; `None` if
    /// there is none.
    fn contents_fault(&self) -> Option<String> {
        let (frame, described) = (self.executed.frame(), self.executed.described());
        let mut whole = Contents::new(described, self.resource, self.is_persistent());
        let mut wanted: Vec<ObservedContents> = Vec::new();
        for pass in described.pass_ids() {
            let accesses = described.pass(pass).accesses.indices();
            let accesses: Vec<u32> = accesses.map(|index| index as u32).collect();
            wanted.extend(whole.pass(pass, &accesses, false));
        }
        let mut contents: Vec<Option<Contents<'_>>> = vec![None; frame.resources().len()];
        for (id, origin) in self.holders() {
            let outside = self.is_persistent() && origin.is_whole();
            contents[id.index()] = Some(Contents::new(described, self.resource, outside));
        }
        for pass in frame.pass_ids() {
            let runs = match &self.origins.passes[pass.index()] {
                PassOrigin::Store { resource, .. } | PassOrigin::Border { resource, .. } => {
                    if let ([read, write], true) = (frame.accesses_of(pass), *resource == self.resource) {
                        contents[write.resource.index()] = contents[read.resource.index()].clone();
                    }
                    continue;
                }
                PassOrigin::Runs(runs) => runs,
            };
            for run in runs {
                for (id, _) in self.holders() {
                    let accesses = self.accesses_in(pass, *run, id);
                    let Some(holder) = &mut contents[id.index()] else {
                        continue;
                    };
                    let repeats = run.strip.is_some_and(|strip| strip.number > 0);
                    for sight in holder.pass(run.pass, &accesses, repeats) {
                        let described_access = &described.accesses()[sight.0 as usize];
                        if !wanted.contains(&sight) {
                            let (reader, name) = (described_access.pass, &frame.resource(id).name);
                            let reader = &described.pass(reader).name;
                            return Some(format!(
                                "pass `{reader}` reads different contents of `{name}` than in the described frame"
                            ));
                        }
                    }
                }
            }
        }
        let previous = |id: ResourceId, origin: ResourceOrigin| {
            let mut uses = frame.accesses_to(id);
            origin.value.is_some() && uses.any(|access| access.version == HistoryVersion::Previous)
        };
        if self.holders().any(|(id, origin)| previous(id, origin)) {
            return Some("a pass uses the previous version of one of them".to_owned());
        }
        let outside = self.holders().find(|(_, origin)| origin.is_whole());
        let kept = outside.and_then(|(id, _)| contents[id.index()].as_ref());
        (self.is_persistent() && kept.map(|kept| &kept.parts) != Some(&whole.parts))
            .then(|| "its contents after the frame differ from those in the described frame".to_owned())
    }

    /// The described accesses to one resource of the executed frame by one run of a described pass.
    fn accesses_in(&self, pass: PassId, run: PassRun, id: ResourceId) -> Vec<u32> {
        let (frame, described) = (self.executed.frame(), self.executed.described());
        let accesses = frame.pass(pass).accesses.indices();
        let here = accesses.filter(|&index| frame.accesses()[index].resource == id);
        let origins = here.filter_map(|index| self.origins.accesses[index]);
        origins
            .filter(|&origin| described.accesses()[origin as usize].pass == run.pass)
            .collect()
    }
}

/// The contents of a resource of the executed or described frame, updated pass by pass.
#[derive(Clone)]
struct Contents<'a> {
    described: &'a Frame,
    resource: ResourceId,
    parts: Vec<PartContents>,
}

impl<'a> Contents<'a> {
    fn new(described: &'a Frame, resource: ResourceId, comes_in: bool) -> Contents<'a> {
        let before = match comes_in {
            true => vec![BEFORE_FRAME],
            false => Vec::new(),
        };
        Contents {
            described,
            resource,
            parts: vec![before; described.parts_of(resource).len()],
        }
    }

    /// Runs some accesses of a described pass, and returns the contents that each of them sees from before the pass. If `repeats` is true, the pass
    /// runs in a strip after the first: earlier writes by it and by later passes were to other strips, and are not seen.
    fn pass(&mut self, pass: PassId, accesses: &[u32], repeats: bool) -> Vec<ObservedContents> {
        let (described, resource) = (self.described, self.resource);
        let access_of = |index: u32| &described.accesses()[index as usize];
        let used = accesses.iter().copied().filter(|&index| {
            let access = access_of(index);
            (access.resource, access.version) == (resource, HistoryVersion::Current)
        });
        let used: Vec<u32> = used.collect();
        let mut sights: Vec<ObservedContents> = used
            .iter()
            .filter(|&&index| access_of(index).needs_contents())
            .map(|&index| (index, Vec::new()))
            .collect();
        let is_optional = described.pass(pass).optional.is_some();
        for (contents, &part) in self.parts.iter_mut().zip(described.parts_of(resource)) {
            let replaces = |access: &Access| {
                let all = access.share.is_none_or(|share| share.part >= share.of);
                all && described.replaces(access, part)
            };
            let replaced = used.iter().any(|&index| replaces(access_of(index)));
            for (index, seen) in &mut sights {
                let access = access_of(*index);
                let in_place = matches!(
                    access.kind,
                    AccessKind::InputAttachment | AccessKind::TileAttachment
                );
                let own = replaced && (in_place || access.continues_attachment);
                if access.range.intersects(part) && !own {
                    let earlier =
                        |write: &u32| !repeats || *write == BEFORE_FRAME || access_of(*write).pass < pass;
                    seen.push(contents.iter().copied().filter(earlier).collect());
                }
            }
            let writes = used.iter().filter(|&&index| {
                let access = access_of(index);
                access.writes && access.range.intersects(part)
            });
            for &index in writes {
                if replaces(access_of(index)) && !is_optional {
                    contents.clear();
                }
                if !contents.contains(&index) {
                    contents.push(index);
                }
            }
        }
        sights
    }
}
