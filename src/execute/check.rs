//! The checker of maps: compares a rewritten frame with the described one, independently of the rewrites.
//!
//! Not checked: the order of passes, and uses of a stretch of a lifetime before its store. The checkers of plans and of lowered tables check those.

use ash::vk;

use super::areas::{bounding_rect, computed_area, contains_area, is_covered};
use super::charges::ChargeCause;
use super::check_values;
use super::error::{OriginError, OriginRule};
use super::executed::ExecutedFrame;
use super::origins::{OriginTables, PassOrigin, PassRun};
use super::strip::Strip;
use crate::frame::tables::{Access, CommandSource, Pass, PassKind, Resource, ResourceKind};
use crate::frame::{LoadOp, PassId, Persistence, ResourceId, TileConstraint};
use crate::units::Bytes;

pub(super) struct Checker<'a> {
    pub(super) executed: &'a ExecutedFrame,
    pub(super) origins: OriginTables,
    faults: Vec<OriginError>,
}

impl ExecutedFrame {
    /// Checks that the executed frame does the same as the described one, according to the map.
    ///
    /// Every planned frame that differs from its description is checked by this, also in release builds. O(passes * accesses of a pass),
    /// and with strips O(parts * resources).
    ///
    /// # Errors
    /// The first fault of [`ExecutedFrame::violations`].
    pub fn check(&self) -> Result<(), OriginError> {
        self.violations().into_iter().next().map_or(Ok(()), Err)
    }

    /// Returns every discrepancy between the executed frame, its map and the described frame.
    pub fn violations(&self) -> Vec<OriginError> {
        let mut checker = Checker {
            executed: self,
            origins: self.origins().to_tables(self.frame()),
            faults: Vec::new(),
        };
        checker.check_indices();
        if checker.faults.is_empty() {
            checker.check_queues();
            if checker.faults.is_empty() {
                checker.check_batches();
            }
            checker.check_passes();
            checker.check_resources();
            checker.check_accesses();
            checker.check_coverage();
            checker.check_borders();
            checker.check_charges();
        }
        // The contents that accesses see can only be followed along valid origins.
        if checker.faults.is_empty() {
            checker.faults = check_values::faults(self, &checker.origins);
        }
        checker.faults
    }
}

impl Checker<'_> {
    pub(super) fn report(&mut self, rule: OriginRule, message: String) {
        self.faults.push(OriginError { rule, message });
    }

    fn check_indices(&mut self) {
        let (frame, described) = (self.executed.frame(), self.executed.described());
        let (passes, resources) = (described.passes().len(), described.resources().len());
        let lengths = [
            ("passes", self.origins.passes.len(), frame.passes().len()),
            ("resources", self.origins.resources.len(), frame.resources().len()),
            ("accesses", self.origins.accesses.len(), frame.accesses().len()),
        ];
        for (what, ours, theirs) in lengths {
            if ours != theirs {
                let message = format!(
                    "the number of {what} is {ours} in the origin map, but {theirs} in the executed frame"
                );
                self.report(OriginRule::Index, message);
            }
        }
        let mut unknown = Vec::new();
        let mut known = |what: &str, index: usize, count: usize| {
            if index >= count {
                unknown.push(format!(
                    "the origin map names {what} {index}, which is out of range: the described frame has {count}"
                ));
            }
        };
        for origin in &self.origins.passes {
            match origin {
                PassOrigin::Runs(runs) => runs
                    .iter()
                    .for_each(|run| known("pass", run.pass.index(), passes)),
                PassOrigin::Store {
                    resource,
                    after: beside,
                }
                | PassOrigin::Border { resource, beside } => {
                    known("resource", resource.index(), resources);
                    known("pass", beside.index(), passes);
                }
            }
        }
        for origin in &self.origins.resources {
            known("resource", origin.resource.index(), resources);
            origin
                .until
                .iter()
                .for_each(|pass| known("pass", pass.index(), passes));
        }
        for access in self.origins.accesses.iter().flatten() {
            known("access", *access as usize, described.accesses().len());
        }
        for message in unknown {
            self.report(OriginRule::Index, message);
        }
    }

    fn check_queues(&mut self) {
        let (frame, described) = (self.executed.frame(), self.executed.described());
        let same = frame.queues() == described.queues() && frame.semaphores() == described.semaphores();
        if !same {
            let message =
                "the queues or semaphores of the executed frame differ from those of the described frame";
            self.report(OriginRule::Queues, message.to_owned());
        }
    }

    fn check_passes(&mut self) {
        for pass in self.executed.frame().pass_ids() {
            let name = &self.executed.frame().pass(pass).name;
            let fault = match &self.origins.passes[pass.index()] {
                PassOrigin::Runs(runs) => {
                    let why = self.pass_difference(pass, runs);
                    why.map(|why| {
                        (
                            OriginRule::Pass,
                            format!("pass `{name}` does not match its origin: {why}"),
                        )
                    })
                }
                PassOrigin::Store { resource, after } => {
                    let why = self.store_fault(pass, *resource, *after);
                    why.map(|why| {
                        (
                            OriginRule::Store,
                            format!("pass `{name}` is not the store that its origin names: {why}"),
                        )
                    })
                }
                PassOrigin::Border { resource, beside } => {
                    let why = self.border_fault(pass, *resource, *beside);
                    why.map(|why| {
                        (
                            OriginRule::Border,
                            format!(
                                "pass `{name}` does not copy what its origin names at the border of a strip: {why}"
                            ),
                        )
                    })
                }
            };
            if let Some((rule, message)) = fault {
                self.report(rule, message);
            }
        }
    }

    /// Returns how a pass differs from the described passes that it runs according to its origin.
    fn pass_difference(&self, pass: PassId, runs: &[PassRun]) -> Option<String> {
        let (frame, described) = (self.executed.frame(), self.executed.described());
        let ours = frame.pass(pass);
        if runs.is_empty() {
            return Some("it runs no described pass".to_owned());
        }
        let alike = |pass: &Pass| {
            (
                (pass.kind, pass.contents, pass.tile_shading),
                (pass.layers, pass.view_mask),
                (pass.hook, pass.samples, pass.optional),
            )
        };
        let strip = runs[0].strip;
        let mut subpass = 0;
        for run in runs {
            let theirs = described.pass(run.pass);
            if run.subpass != subpass {
                return Some(format!(
                    "the subpasses of `{}` begin at {}, but must begin at {subpass}",
                    theirs.name, run.subpass
                ));
            }
            subpass += theirs.subpasses;
            if alike(ours) != alike(theirs) || frame.queue_of(pass) != described.queue_of(run.pass) {
                return Some(format!(
                    "its kind, queue or another property differs from that of `{}`",
                    theirs.name
                ));
            }
            if run.strip != strip {
                return Some(format!(
                    "`{}` is in a different strip than `{}`: all described passes of a pass must be in the same strip",
                    theirs.name,
                    described.pass(runs[0].pass).name
                ));
            }
        }
        let areas = runs.iter().map(|run| described.pass(run.pass).area);
        let area = match strip.filter(|_| ours.kind == PassKind::Render) {
            Some(strip) => strip.scissor(),
            None => bounding_rect(areas),
        };
        if ours.area != area {
            return Some("its area is not that of its strip or described passes".to_owned());
        }
        if strip.is_some_and(|strip| strip.number >= strip.count) {
            return Some("its strip's number is not below the number of strips".to_owned());
        }
        if ours.subpasses != subpass {
            return Some(format!(
                "its number of subpasses is {}, but that of its described passes is {subpass}",
                ours.subpasses
            ));
        }
        let first = described.pass(runs[0].pass);
        (strip.is_none() && ours.name != first.name).then(|| {
            format!(
                "it must have the name of the first described pass, `{}`",
                first.name
            )
        })
    }

    /// Returns why a pass is not the store of a resource after a described pass.
    fn store_fault(&self, pass: PassId, resource: ResourceId, after: PassId) -> Option<&'static str> {
        let frame = self.executed.frame();
        if frame.pass(pass).contents != CommandSource::Store {
            return Some("the caller records it");
        }
        let [read, write] = frame.accesses_of(pass) else {
            return Some("it does not have exactly two accesses");
        };
        let [from, to] = [read, write].map(|access| self.origins.resources[access.resource.index()]);
        if read.writes || !write.writes {
            return Some("its accesses are not a read followed by a write");
        }
        let other_part = (from.value, from.area) != (to.value, to.area);
        if [from.resource, to.resource] != [resource; 2] || read.resource == write.resource || other_part {
            return Some("it does not copy between stretches of the same part of that resource");
        }
        if from.until != Some(after) {
            return Some("the stretch that it reads does not end after the pass that its origin names");
        }
        let mut before = self.origins.passes[..pass.index()].iter().rev();
        let follows = before.find_map(|origin| match origin {
            PassOrigin::Runs(runs) => Some(runs.iter().any(|run| run.pass == after)),
            // A copy into the image of a strip runs before the pass that its origin names.
            PassOrigin::Border { beside, .. } => (*beside == after).then_some(true),
            PassOrigin::Store { .. } => None,
        });
        (follows != Some(true)).then_some("it does not follow the pass that its origin names")
    }

    fn check_resources(&mut self) {
        let (frame, described) = (self.executed.frame(), self.executed.described());
        let made = |resource: &Resource, extent: Option<vk::Extent2D>| match resource.kind {
            ResourceKind::Image {
                desc, extent: whole, ..
            } => {
                let shape = (
                    desc.format,
                    desc.image_type,
                    desc.samples,
                    extent.map_or(whole, Into::into),
                );
                (
                    Some((shape, desc.mip_levels, desc.array_layers, desc.flags, desc.hook)),
                    None,
                )
            }
            ResourceKind::Buffer { desc, .. } => {
                let lists = extent.map(|extent| desc.lists.map(|lists| lists.size_of(extent)));
                // Buffers without lists cannot be divided.
                let size = lists.map_or(desc.size, Option::unwrap_or_default);
                (None, Some((size, desc.hook)))
            }
        };
        for id in frame.resource_ids() {
            let origin = self.origins.resources[id.index()];
            let (ours, theirs) = (frame.resource(id), described.resource(origin.resource));
            let (stretch, is_value) = (origin.until.is_some(), origin.value.is_some());
            let unconstrained = [ours, theirs].map(|one| one.tile_constraint) == [TileConstraint::None; 2];
            let whole = (&ours.name, ours.persistence, ours.tile_constraint, ours.level_of)
                == (
                    &theirs.name,
                    theirs.persistence,
                    theirs.tile_constraint,
                    theirs.level_of,
                );
            let mut stores = self
                .origins
                .passes
                .iter()
                .zip(frame.pass_ids())
                .filter(|(origin, pass)| {
                    let mut accesses = frame.accesses_of(*pass).iter();
                    let reads = accesses.next().is_some_and(|access| access.resource == id);
                    matches!(origin, PassOrigin::Store { .. }) && reads
                });
            let area = origin.area.map(|area| area.extent);
            let why = if made(ours, None) != made(theirs, area) {
                "its creation parameters differ"
            } else if origin
                .area
                .is_some_and(|area| !contains_area(theirs, described.base_extent(), area))
            {
                "it exceeds the described image"
            } else if area.is_some() && ours.persistence != Persistence::Transient {
                "the image of a strip must be transient"
            } else if area.is_some() && !stretch && ours.tile_constraint != theirs.tile_constraint {
                "its constraint differs"
            } else if !stretch && !is_value && area.is_none() && !whole {
                "its name, persistence, constraint or level differs"
            } else if is_value && ours.persistence != Persistence::Transient {
                "a value must be transient"
            } else if is_value && !unconstrained {
                "a resource with a constraint must not be divided into values"
            } else if stretch && ours.persistence != Persistence::Transient {
                "a stretch of a lifetime must be transient"
            } else if stretch && (stores.next().is_none() || stores.next().is_some()) {
                "exactly one store must end the stretch"
            } else {
                continue;
            };
            let message = format!("resource `{}` is not part of `{}`: {why}", ours.name, theirs.name);
            self.report(OriginRule::Resource, message);
        }
    }

    fn check_accesses(&mut self) {
        let frame = self.executed.frame();
        for (index, access) in frame.accesses().iter().enumerate() {
            let Some(why) = self.access_fault(index, access) else {
                continue;
            };
            let (pass, resource) = (frame.pass(access.pass), frame.resource(access.resource));
            let message = format!(
                "access {index} (pass `{}`, resource `{}`) does not match its origin: {why}",
                pass.name, resource.name
            );
            self.report(OriginRule::Access, message);
        }
    }

    /// Returns why an access is not the described one that its origin names.
    fn access_fault(&self, index: usize, access: &Access) -> Option<&'static str> {
        let described = self.executed.described();
        let origin = self.origins.accesses[index];
        let runs = match (&self.origins.passes[access.pass.index()], origin) {
            (PassOrigin::Runs(runs), Some(_)) => runs,
            (PassOrigin::Runs(_), None) => {
                return Some("it has no origin, but its pass runs described passes");
            }
            (_, Some(_)) => return Some("it has an origin, but the runtime records its pass"),
            (_, None) => return None,
        };
        let theirs = &described.accesses()[origin? as usize];
        let Some(run) = runs.iter().find(|run| run.pass == theirs.pass) else {
            return Some("its origin is an access of a described pass that its own pass does not run");
        };
        if access.subpass != theirs.subpass + run.subpass {
            return Some("it is in another subpass");
        }
        let of = |resource: ResourceId| self.origins.resources[resource.index()];
        let whole = |resource: ResourceId| of(resource).resource;
        if of(access.resource).area.is_some() && run.strip.is_none() {
            return Some("it belongs to a strip, but its pass runs whole");
        }
        let as_described = match run.strip {
            Some(strip) => self.of_whole_image(access, theirs, strip),
            None => *access,
        };
        let ours = Access {
            pass: theirs.pass,
            subpass: theirs.subpass,
            resource: whole(access.resource),
            resolves: access.resolves.map(whole),
            // Follows from the earlier subpasses.
            continues_attachment: theirs.continues_attachment,
            ..as_described
        };
        if ours.resource != theirs.resource || ours.resolves != theirs.resolves {
            return Some("it accesses or resolves another resource");
        }
        (ours != *theirs).then_some("its kind, range, stages or another property differs")
    }

    /// Converts an access of a strip to that of the whole pass: replaces the measured bytes, share and load operation where they differ only because
    /// of the strip.
    fn of_whole_image(&self, access: &Access, theirs: &Access, strip: Strip) -> Access {
        let part = |bytes: Bytes| Bytes(bytes.0 / u64::from(strip.count));
        let apart = self.origins.resources[access.resource.index()].area.is_some();
        // Each strip but the first changes only its own part of a resource that is used after the run.
        let partly = strip.number > 0 && !apart && access.writes && !access.kind.is_attachment();
        let share = access.share.is_some_and(|share| share.part <= share.of);
        Access {
            measured: match access.measured == theirs.measured.map(part) {
                true => theirs.measured,
                false => access.measured,
            },
            share: if share { theirs.share } else { access.share },
            load_op: match partly && access.load_op == LoadOp::Load {
                true => theirs.load_op,
                false => access.load_op,
            },
            ..*access
        }
    }

    /// Returns why a described pass is not executed exactly once; `None` if it runs once, whole or in all of its strips.
    fn coverage_fault(&self, pass: PassId, runs: &[PassRun]) -> Option<String> {
        let [first, ..] = runs else {
            return Some("runs 0 times instead of once".to_owned());
        };
        let Some(Strip { count, .. }) = first.strip else {
            let times = runs.len();
            return (times != 1).then(|| format!("runs {times} times instead of once"));
        };
        let in_order = (0..count).zip(runs).all(|(number, run)| {
            run.strip
                .is_some_and(|strip| (strip.number, strip.count) == (number, count))
        });
        if !in_order || runs.len() != count as usize {
            return Some(format!(
                "does not run once in each of its strips, in order (number of strips: {count})"
            ));
        }
        let areas: Vec<vk::Rect2D> = runs.iter().filter_map(|run| Some(run.strip?.area)).collect();
        let computed = computed_area(self.executed.described(), pass);
        let missed = computed.is_some_and(|computed| !is_covered(computed, &areas));
        missed.then(|| "has strips that do not cover its whole area".to_owned())
    }

    fn check_charges(&mut self) {
        let charges = &self.executed.charges().passes;
        let mut faults = Vec::new();
        for (at, charge) in charges.iter().enumerate() {
            let cause = charge.cause.name();
            let Some(pass) = self.executed.frame().passes().get(charge.pass.index()) else {
                faults.push(format!(
                    "a {cause} is charged to pass {}, which does not exist",
                    charge.pass.0
                ));
                continue;
            };
            let runs = match &self.origins.passes[charge.pass.index()] {
                PassOrigin::Runs(runs) => &runs[..],
                PassOrigin::Store { .. } | PassOrigin::Border { .. } => &[],
            };
            let repeats = runs
                .iter()
                .any(|run| run.strip.is_some_and(|strip| strip.number > 0));
            let why = match charge.cause {
                ChargeCause::Repeat if !repeats => "is not a strip after the first",
                ChargeCause::Merge if runs.len() < 2 => "runs at most one described pass",
                cause
                    if charges[..at]
                        .iter()
                        .any(|other| (other.pass, other.cause) == (charge.pass, cause)) =>
                {
                    "has already been charged for that"
                }
                _ => continue,
            };
            faults.push(format!(
                "pass `{}` is charged {} for a {cause}, but {why}",
                pass.name, charge.bytes
            ));
        }
        for message in faults {
            self.report(OriginRule::Charge, message);
        }
    }

    fn check_coverage(&mut self) {
        let described = self.executed.described();
        let mut missing = Vec::new();
        let mut count = vec![0; described.accesses().len()];
        for &access in self.origins.accesses.iter().flatten() {
            count[access as usize] += 1;
        }
        for pass in described.pass_ids() {
            let name = &described.pass(pass).name;
            let origins = self.origins.passes.iter();
            let runs = origins.flat_map(|origin| match origin {
                PassOrigin::Runs(runs) => &runs[..],
                PassOrigin::Store { .. } | PassOrigin::Border { .. } => &[],
            });
            let runs: Vec<PassRun> = runs.filter(|run| run.pass == pass).copied().collect();
            if let Some(why) = self.coverage_fault(pass, &runs) {
                missing.push(format!("described pass `{name}` {why}"));
                continue;
            }
            let wanted = runs.len();
            for index in described.pass(pass).accesses.indices() {
                if count[index] != wanted {
                    let resource = &described.resource(described.accesses()[index].resource).name;
                    let wanted = match wanted {
                        1 => "once".to_owned(),
                        strips => format!("in each of {strips} strips"),
                    };
                    let times = match count[index] {
                        1 => "1 time".to_owned(),
                        times => format!("{times} times"),
                    };
                    missing.push(format!(
                        "the access of described pass `{name}` to `{resource}` happens {times} instead of {wanted}"
                    ));
                }
            }
        }
        for id in described.resource_ids() {
            let mut origins = self.origins.resources.iter();
            if !origins.any(|origin| origin.resource == id && origin.until.is_none() && origin.area.is_none())
            {
                let name = &described.resource(id).name;
                missing.push(format!("the executed frame lacks described resource `{name}`"));
            }
        }
        for message in missing {
            self.report(OriginRule::Coverage, message);
        }
    }
}
