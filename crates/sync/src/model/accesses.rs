//! Compares accesses with the records of earlier ones.

use ash::vk;

use crate::contents::ownership::is_of_device;
use crate::finding::{Action, Findings, Hazard, MemoryUse};
use crate::operation::{Bytes, padded};
use crate::program::{AccessKind, MemoryAccess, QueueId, ResourceId, ResourcePart, Tag, Tiling};
use crate::reach::missing::MissingScope;
use crate::reach::{Origin, Reach};
use crate::record::{Kind, LaterAccess, Record, TouchedRegion};
use crate::region::Region;
use crate::usage::Usage;

use super::{Model, RunningBatch};

impl Model {
    pub(super) fn run_action(
        &mut self,
        tag: Tag,
        accesses: &[MemoryAccess],
        running: RunningBatch,
        findings: &mut Findings,
    ) {
        let mut later = Vec::with_capacity(accesses.len());
        for access in accesses {
            let action = Action::Access(access.stage, access.access);
            let used = running.used(tag, access.resource, access.part, action);
            let Some(this) = self.later_access(access, running) else {
                findings.unchecked.push(used);
                continue;
            };
            self.compare(&this, &used, findings, |record, reach, region| {
                reach.missing(&record.origin, &this.origin, region)
            });
            if !this.origin.usage.writes() {
                findings.lost.extend(self.contents.read(&this, used));
            }
            later.push((this, used, access.discards));
        }
        for (this, used, discards) in later {
            if this.origin.usage.writes() && !this.origin.usage.is_unknown() {
                self.write_contents(&this, used, discards);
            }
            self.record(&this, used, &Reach::default());
        }
    }

    pub(super) fn host_access(
        &mut self,
        batch: u64,
        tag: Tag,
        access: &MemoryAccess,
        findings: &mut Findings,
    ) {
        self.commands += 1;
        let running = RunningBatch {
            queue: QueueId::default(),
            family: vk::QUEUE_FAMILY_EXTERNAL,
            batch,
            submitted: self.steps,
            place: None,
        };
        let action = Action::Access(access.stage, access.access);
        let used = running.used(tag, access.resource, access.part, action);
        let Some(mut this) = self.later_access(access, running) else {
            findings.unchecked.push(used);
            return;
        };
        this.origin.queue = None;
        self.compare(&this, &used, findings, |record, reach, region| {
            reach.missing(&record.origin, &this.origin, region)
        });
        if this.origin.usage.writes() {
            self.write_contents(&this, used, access.discards);
        } else {
            findings.lost.extend(self.contents.read(&this, used));
        }
        self.record(&this, used, &Reach::of_host(self.steps));
    }

    /// Converts an access of a running batch; `None` if its resource is unknown, or its stage does not perform it.
    fn later_access(&self, access: &MemoryAccess, running: RunningBatch) -> Option<LaterAccess> {
        let usage = Usage::of(access.stage, access.access)?;
        let touched = self.touched(access, usage)?;
        let kind = Kind::Access(access.kind);
        self.later(access.resource, touched, kind, usage, running)
    }

    /// Returns the region that an access touches; loads, stores and resolves that write may touch all of their subresources.
    fn touched(&self, access: &MemoryAccess, usage: Usage) -> Option<TouchedRegion> {
        let certain = self.region(access.resource, &access.part)?;
        let is_wide = matches!(
            access.kind,
            AccessKind::Load | AccessKind::Store | AccessKind::Resolve
        );
        let is_image = matches!(access.part, ResourcePart::Texels(_));
        Some(TouchedRegion {
            certain,
            by_letter: (is_wide && is_image && usage.writes()).then(|| certain.subresources()),
        })
    }

    /// Converts an access, transition or transfer of a running batch; `None` if its resource is unknown.
    pub(super) fn later(
        &self,
        resource: ResourceId,
        touched: TouchedRegion,
        kind: Kind,
        usage: Usage,
        running: RunningBatch,
    ) -> Option<LaterAccess> {
        let placed = self.placed(resource)?;
        let whole = match placed.resource.tiling {
            Tiling::Linear | Tiling::Unknown => None,
            Tiling::Optimal(_) => Some(Region::whole(&placed.resource)),
        };
        Some(LaterAccess {
            origin: Origin {
                queue: Some(running.queue),
                place: running.place,
                usage,
                class: placed.class,
                bytes: placed.bytes(),
                page: self.page(placed.resource.memory),
                submitted: running.submitted,
            },
            kind,
            family: Some(running.family).filter(|family| is_of_device(*family)),
            touched,
            command: self.commands,
            whole,
            has_pages: placed.resource.tiling != Tiling::Unknown,
        })
    }

    /// Compares a later access with all records in its memory whose resources share bytes with its own; `judge` returns the dependency that is
    /// missing before it.
    pub(super) fn compare(
        &mut self,
        later: &LaterAccess,
        used: &MemoryUse,
        findings: &mut Findings,
        judge: impl Fn(&Record, &Reach, Region) -> Option<MissingScope>,
    ) {
        if self.ignores_order {
            return;
        }
        let memory = later.origin.bytes.memory;
        let page = self.page(memory);
        let numbers = self.overlapping(later);
        let Some(records) = self.records.get_mut(&memory) else {
            return;
        };
        self.work.compared += numbers.len() as u64;
        for number in numbers {
            let Some(record) = records.get_mut(number) else {
                continue;
            };
            if record.command == later.command || !record.needs_order(later, page) {
                continue;
            }
            record.advance(&self.log, self.forgotten, &mut self.work);
            let conflict = record.conflict(later, page, |reach, region| judge(record, reach, region));
            if let Some(conflict) = conflict {
                findings.hazards.push(Hazard {
                    before: record.used,
                    after: *used,
                    missing: conflict.missing,
                    verdict: conflict.verdict,
                    bytes: conflict.bytes,
                });
            }
        }
    }

    /// Updates the contents after a write.
    pub(super) fn write_contents(&mut self, this: &LaterAccess, used: MemoryUse, discards: bool) {
        let page = self.page(this.origin.bytes.memory);
        self.contents.write(this, used, discards, page);
    }

    /// Records an access so that later ones are compared with it, and removes what it supersedes from earlier records.
    pub(super) fn record(&mut self, this: &LaterAccess, used: MemoryUse, reach: &Reach) {
        if self.ignores_order {
            return;
        }
        let position = self.forgotten + self.log.len() as u64;
        let numbers = self.overlapping(this);
        let records = self.records.entry(this.origin.bytes.memory).or_default();
        self.work.compared += numbers.len() as u64;
        for number in numbers {
            let Some(record) = records.get_mut(number) else {
                continue;
            };
            record.supersede(this, used.resource);
            if record.is_empty() {
                records.remove(number);
            }
        }
        records.push(Record::new(this, used, reach, position));
    }

    /// Returns the numbers of the records that a later access may conflict with or supersede: their resources share bytes or pages with its own.
    fn overlapping(&self, later: &LaterAccess) -> Vec<u64> {
        let Bytes { memory, first, end } = later.origin.bytes;
        let range = match self.has_moved_aliases.contains(&memory) {
            true => (0, u64::MAX),
            false => padded((first, end), self.page(memory)),
        };
        self.records
            .get(&memory)
            .map_or(Vec::new(), |records| records.overlapping(range))
    }
}
