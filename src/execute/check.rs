//! The checker of maps: judges a rewritten frame by the described one, and knows nothing of the rewrites.
//!
//! Not judged: the order of passes, and whether a stretch of a lifetime is used before its store. The checkers of plans and of lowered tables
//! judge those.

use super::error::{OriginError, OriginRule};
use super::executed::Executed;
use super::origins::{OriginTables, PassOrigin, PassRun};
use crate::frame::tables::{Access, Contents, Pass, Resource, ResourceKind};
use crate::frame::{PassId, Persistence, ResourceId};

struct Checker<'a> {
    executed: &'a Executed,
    origins: OriginTables,
    faults: Vec<OriginError>,
}

impl Executed {
    /// Checks that the frame that runs does what the described one does, as far as the map says.
    ///
    /// O(passes * accesses of a pass): for tests, debug builds and maps that come from elsewhere.
    ///
    /// # Errors
    /// The first fault of [`Executed::violations`].
    pub fn check(&self) -> Result<(), OriginError> {
        self.violations().into_iter().next().map_or(Ok(()), Err)
    }

    /// Everything in which the frame that runs, its map and the described frame disagree.
    pub fn violations(&self) -> Vec<OriginError> {
        let mut checker = Checker {
            executed: self,
            origins: self.origins().to_tables(self.frame()),
            faults: Vec::new(),
        };
        checker.check_indices();
        if checker.faults.is_empty() {
            checker.check_queues();
            checker.check_passes();
            checker.check_resources();
            checker.check_accesses();
            checker.check_coverage();
        }
        checker.faults
    }
}

impl Checker<'_> {
    fn report(&mut self, rule: OriginRule, message: String) {
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
                let message = format!("the map has {ours} {what}, and the frame that runs has {theirs}");
                self.report(OriginRule::Index, message);
            }
        }
        let mut unknown = Vec::new();
        let mut known = |what: &str, index: usize, count: usize| {
            if index >= count {
                unknown.push(format!(
                    "the map names {what} {index}, and the described frame has {count}"
                ));
            }
        };
        for origin in &self.origins.passes {
            match origin {
                PassOrigin::Runs(runs) => runs
                    .iter()
                    .for_each(|run| known("pass", run.pass.index(), passes)),
                PassOrigin::Store { resource, after } => {
                    known("resource", resource.index(), resources);
                    known("pass", after.index(), passes);
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
            let message = "the frame that runs has other queues or semaphores than the described one";
            self.report(OriginRule::Queues, message.to_owned());
        }
    }

    fn check_passes(&mut self) {
        for pass in self.executed.frame().pass_ids() {
            let name = &self.executed.frame().pass(pass).name;
            let fault = match &self.origins.passes[pass.index()] {
                PassOrigin::Runs(runs) => {
                    let why = self.differs(pass, runs);
                    why.map(|why| {
                        (
                            OriginRule::Pass,
                            format!("pass `{name}` does not run what it says: {why}"),
                        )
                    })
                }
                PassOrigin::Store { resource, after } => {
                    let why = self.is_not_store(pass, *resource, *after);
                    why.map(|why| {
                        (
                            OriginRule::Store,
                            format!("pass `{name}` is not the store it says: {why}"),
                        )
                    })
                }
            };
            if let Some((rule, message)) = fault {
                self.report(rule, message);
            }
        }
    }

    /// How a pass differs from the described passes that it is said to run.
    fn differs(&self, pass: PassId, runs: &[PassRun]) -> Option<String> {
        let (frame, described) = (self.executed.frame(), self.executed.described());
        let ours = frame.pass(pass);
        if runs.is_empty() {
            return Some("it runs no described pass".to_owned());
        }
        let alike = |pass: &Pass| {
            (
                (pass.kind, pass.contents, pass.tile_shading),
                (pass.area, pass.layers, pass.view_mask),
                (pass.hook, pass.samples),
            )
        };
        let mut subpass = 0;
        for run in runs {
            let theirs = described.pass(run.pass);
            if run.subpass != subpass {
                return Some(format!(
                    "`{}` begins with subpass {}, not {subpass}",
                    theirs.name, run.subpass
                ));
            }
            subpass += theirs.subpasses;
            if alike(ours) != alike(theirs) || frame.queue_of(pass) != described.queue_of(run.pass) {
                return Some(format!("`{}` is another kind of pass", theirs.name));
            }
        }
        if ours.subpasses != subpass {
            return Some(format!(
                "it has {} subpasses, and they have {subpass}",
                ours.subpasses
            ));
        }
        let first = described.pass(runs[0].pass);
        (ours.name != first.name).then(|| format!("the first of them is `{}`", first.name))
    }

    /// Why a pass is not the store of a resource after a described pass.
    fn is_not_store(&self, pass: PassId, resource: ResourceId, after: PassId) -> Option<&'static str> {
        let frame = self.executed.frame();
        if frame.pass(pass).contents != Contents::Store {
            return Some("the caller records it");
        }
        let [read, write] = frame.accesses_of(pass) else {
            return Some("it has more or fewer accesses than two");
        };
        let [from, to] = [read, write].map(|access| self.origins.resources[access.resource.index()]);
        if read.writes || !write.writes {
            return Some("it does not read and then write");
        }
        if [from.resource, to.resource] != [resource; 2] || read.resource == write.resource {
            return Some("it stores something else");
        }
        if from.until != Some(after) {
            return Some("what it reads does not end there");
        }
        let before = self.origins.passes[..pass.index()].iter().rev();
        let runs = before.filter_map(|origin| match origin {
            PassOrigin::Runs(runs) => Some(runs),
            PassOrigin::Store { .. } => None,
        });
        let follows = |runs: &Vec<PassRun>| runs.iter().any(|run| run.pass == after);
        let here = runs.into_iter().next().is_some_and(follows);
        (!here).then_some("it follows another pass")
    }

    fn check_resources(&mut self) {
        let (frame, described) = (self.executed.frame(), self.executed.described());
        let made = |resource: &Resource| match resource.kind {
            ResourceKind::Image { desc, extent, .. } => {
                let shape = (desc.format, desc.image_type, desc.samples, extent);
                (
                    Some((shape, desc.mip_levels, desc.array_layers, desc.flags, desc.hook)),
                    None,
                )
            }
            ResourceKind::Buffer { desc, .. } => (None, Some((desc.size, desc.hook))),
        };
        for id in frame.resource_ids() {
            let origin = self.origins.resources[id.index()];
            let (ours, theirs) = (frame.resource(id), described.resource(origin.resource));
            let stretch = origin.until.is_some();
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
            let why = if made(ours) != made(theirs) {
                "it is made otherwise"
            } else if !stretch && !whole {
                "its name, persistence or constraint is another one"
            } else if stretch && ours.persistence != Persistence::Transient {
                "the stretch of a lifetime must be transient"
            } else if stretch && (stores.next().is_none() || stores.next().is_some()) {
                "not exactly one store ends the stretch"
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
            let Some(why) = self.is_not_described(index, access) else {
                continue;
            };
            let (pass, resource) = (frame.pass(access.pass), frame.resource(access.resource));
            let message = format!(
                "access {index}, pass `{}` to `{}`, is not the described one: {why}",
                pass.name, resource.name
            );
            self.report(OriginRule::Access, message);
        }
    }

    /// Why an access is not the described one that its origin names.
    fn is_not_described(&self, index: usize, access: &Access) -> Option<&'static str> {
        let described = self.executed.described();
        let origin = self.origins.accesses[index];
        let runs = match (&self.origins.passes[access.pass.index()], origin) {
            (PassOrigin::Runs(_), None) => return Some("it has no origin, and its pass is not a store"),
            (PassOrigin::Store { .. }, Some(_)) => return Some("it has an origin, and its pass is a store"),
            (PassOrigin::Store { .. }, None) => return None,
            (PassOrigin::Runs(runs), Some(_)) => runs,
        };
        let theirs = &described.accesses()[origin? as usize];
        let Some(run) = runs.iter().find(|run| run.pass == theirs.pass) else {
            return Some("it belongs to a pass that does not run here");
        };
        if access.subpass != theirs.subpass + run.subpass {
            return Some("it is in another subpass");
        }
        let whole = |resource: ResourceId| self.origins.resources[resource.index()].resource;
        let ours = Access {
            pass: theirs.pass,
            subpass: theirs.subpass,
            resource: whole(access.resource),
            resolves: access.resolves.map(whole),
            // Follows from the subpasses before.
            goes_on: theirs.goes_on,
            ..*access
        };
        if ours.resource != theirs.resource || ours.resolves != theirs.resolves {
            return Some("it is of another resource");
        }
        (ours != *theirs).then_some("it is another kind of access")
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
                PassOrigin::Store { .. } => &[],
            });
            let times = runs.filter(|run| run.pass == pass).count();
            if times != 1 {
                missing.push(format!(
                    "described pass `{name}` runs {times} times instead of once"
                ));
                continue;
            }
            for index in described.pass(pass).accesses.indices() {
                if count[index] != 1 {
                    let resource = &described.resource(described.accesses()[index].resource).name;
                    let times = count[index];
                    missing.push(format!(
                        "the access of described pass `{name}` to `{resource}` happens {times} times instead of once"
                    ));
                }
            }
        }
        for id in described.resource_ids() {
            let mut origins = self.origins.resources.iter();
            if !origins.any(|origin| origin.resource == id && origin.until.is_none()) {
                let name = &described.resource(id).name;
                missing.push(format!(
                    "nothing in the frame that runs is described resource `{name}`"
                ));
            }
        }
        for message in missing {
            self.report(OriginRule::Coverage, message);
        }
    }
}
