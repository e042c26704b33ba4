//! The frame that runs, beside the frame as it was described.

use super::origins::{OriginTables, Origins, PassOrigin, PassRun, ResourceOrigin};
use crate::frame::{Frame, PassId, ResourceId};

/// A frame that runs in place of one that was described, and the map between them.
///
/// ```
/// # use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
/// use tileheap::execute::Executed;
///
/// # let described = synthetic(7, SyntheticDesc::default());
/// let itself = Executed::as_described(&described);
/// let split = itself.splittable().find_map(|(resource, after)| itself.split(resource, after));
/// let executed = split.expect("a lifetime that can be split")?;
/// executed.check()?;
/// for pass in described.pass_ids() {
///     let executed_pass = executed.origins().executed_pass(pass);
///     assert_eq!(executed.frame().pass(executed_pass).name, described.pass(pass).name);
/// }
/// # Ok::<(), tileheap::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Executed {
    frame: Frame,
    described: Frame,
    origins: Origins,
}

/// The part of a declared resource that a resource of an executed frame is: all of it where no field says more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// One mip level of an image whose levels are [images of their own](crate::frame::ImageDesc::separate_levels).
    pub level: Option<u32>,
    /// The stretch of its lifetime that a store after this described pass ends.
    pub until: Option<PassId>,
}

impl Executed {
    /// A frame that runs as it is described.
    pub fn as_described(frame: &Frame) -> Executed {
        Executed::new(frame.clone(), frame.clone(), Origins::IDENTITY)
    }

    /// A frame that another program rewrote: [`Executed::check`] judges it.
    pub fn new(frame: Frame, described: Frame, origins: Origins) -> Executed {
        Executed {
            frame,
            described,
            origins,
        }
    }

    /// The frame that runs.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The frame as it was described.
    pub fn described(&self) -> &Frame {
        &self.described
    }

    /// The map from the frame that runs to the described one.
    pub fn origins(&self) -> &Origins {
        &self.origins
    }

    /// The frame that runs, the described frame, and the map.
    pub fn into_parts(self) -> (Frame, Frame, Origins) {
        (self.frame, self.described, self.origins)
    }

    /// The described passes that a pass runs, in order; none for a store.
    pub fn described_passes(&self, pass: PassId) -> impl Iterator<Item = PassRun> + use<'_> {
        self.origins.runs(pass)
    }

    /// Every pass that runs a described one, in order.
    pub fn executed_passes(&self, described: PassId) -> impl Iterator<Item = PassId> + use<'_> {
        self.origins.executed_passes(described)
    }

    /// The resource that was declared, of which this one is a [part](Executed::part).
    pub fn described_resource(&self, resource: ResourceId) -> ResourceId {
        let origin = self.origins.resource(resource).resource;
        let level_of = self.described.resource(origin).level_of;
        level_of.map_or(origin, |level_of| level_of.image)
    }

    /// The part of the [declared resource](Executed::described_resource) that a resource is.
    pub fn part(&self, resource: ResourceId) -> Part {
        let origin = self.origins.resource(resource);
        let level_of = self.described.resource(origin.resource).level_of;
        Part {
            level: level_of.map(|level_of| level_of.level),
            until: origin.until,
        }
    }

    /// The index of the described access that an access is; `None` for those of stores.
    pub fn described_access(&self, access: usize) -> Option<usize> {
        self.origins.access(access)
    }

    /// This rewrite followed by another one.
    ///
    /// # Panics
    /// If the other one does not rewrite the frame that runs here.
    pub fn then(&self, rewrite: &Executed) -> Executed {
        assert!(
            rewrite.described == self.frame,
            "a rewrite of frame `{}` cannot follow one that gives `{}`",
            rewrite.described.name(),
            self.frame.name()
        );
        Executed {
            frame: rewrite.frame.clone(),
            described: self.described.clone(),
            origins: self.origins.then(&rewrite.origins),
        }
    }

    /// The resources and passes of the frame that runs after which a lifetime may be [split](Executed::split).
    pub fn splittable(&self) -> impl Iterator<Item = (ResourceId, PassId)> + use<'_> {
        let frame = &self.frame;
        let resources = frame.resource_ids().filter(|&id| frame.splits(id).is_ok());
        resources.flat_map(|id| frame.accesses_to(id).map(move |access| (id, access.pass)))
    }

    /// As [`Frame::split`] does to the frame that runs.
    ///
    /// # Errors
    /// As [`Frame::split`].
    pub fn split(&self, resource: ResourceId, after: PassId) -> Option<crate::Result<Executed>> {
        let split = self.frame.split(resource, after)?;
        Some(split.map(|frame| {
            let mut origins = Origins::IDENTITY.to_tables(&self.frame);
            let at = self.frame.pass(after).accesses.end as usize;
            origins.accesses.splice(at..at, [None, None]);
            let store = PassOrigin::Store { resource, after };
            origins.passes.insert(after.index() + 1, store);
            origins.resources.push(ResourceOrigin {
                resource,
                until: Some(after),
            });
            self.rewritten(frame, origins)
        }))
    }

    /// As [`Frame::merged`] does to the frame that runs.
    ///
    /// # Errors
    /// As [`Frame::merged`].
    pub fn merged(&self, first: PassId) -> Option<crate::Result<Executed>> {
        let merged = self.frame.merged(first)?;
        Some(merged.map(|frame| {
            let mut origins = Origins::IDENTITY.to_tables(&self.frame);
            let second = PassRun {
                pass: PassId(first.0 + 1),
                subpass: self.frame.pass(first).subpasses,
            };
            origins.passes.remove(second.pass.index());
            origins.passes[first.index()] = PassOrigin::Runs(vec![PassRun::whole(first), second]);
            self.rewritten(frame, origins)
        }))
    }

    fn rewritten(&self, frame: Frame, origins: OriginTables) -> Executed {
        self.then(&Executed::new(frame, self.frame.clone(), origins.into()))
    }
}
