//! The executed frame, paired with the described frame.

use std::sync::Arc;

use ash::vk;

use super::charges::Charges;
use super::origins::{Origins, PassRun, ResourceValue};
use super::strip::Strip;
use crate::frame::{Frame, PassId, ResourceId};

/// A frame that runs in place of a described one, and the map between them.
///
/// ```
/// # use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
/// use tileheap::execute::ExecutedFrame;
///
/// # let described = synthetic(7, SyntheticDesc::default());
/// let itself = ExecutedFrame::as_described(&described);
/// let split = itself.splittable().find_map(|(resource, after)| itself.split(resource, after));
/// let executed = split.expect("a lifetime that can be split")?;
/// executed.check()?;
/// for pass in described.pass_ids() {
///     let executed_pass = executed.origins().executed_pass(pass);
///     assert_eq!(executed.frame().pass(executed_pass).name, described.pass(pass).name);
/// }
/// # Ok::<(), tileheap::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ExecutedFrame {
    frame: Frame,
    described: Frame,
    origins: Origins,
    /// `None`: no charges.
    charges: Option<Arc<Charges>>,
}

/// The part of a declared resource that a resource of an executed frame represents: all of it if all fields are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourcePart {
    /// One mip level of an image whose levels are [separate images](crate::frame::ImageDesc::separate_levels).
    pub level: Option<u32>,
    /// The described pass after which a store ends this stretch of the lifetime; if the store follows a copy at the border of a strip, the pass next to that
    /// copy.
    pub until: Option<PassId>,
    /// For the image of a strip, the part of the whole image that it covers; for a strip's buffer of [lists](crate::frame::TileLists), the part of the tile grid.
    pub area: Option<vk::Rect2D>,
    /// The value that it holds, if the values of the declared resource are stored separately.
    pub value: Option<ResourceValue>,
}

impl PartialEq for ExecutedFrame {
    /// Compares the described frames only if one of the executed frames does not run as described.
    fn eq(&self, other: &ExecutedFrame) -> bool {
        let is_one = |executed: &ExecutedFrame| executed.frame.shares_tables(&executed.described);
        self.origins == other.origins
            && self.charges == other.charges
            && self.frame == other.frame
            && (is_one(self) && is_one(other) || self.described == other.described)
    }
}

impl From<&Frame> for ExecutedFrame {
    /// Like [`ExecutedFrame::as_described`].
    fn from(frame: &Frame) -> ExecutedFrame {
        ExecutedFrame::as_described(frame)
    }
}

impl From<&ExecutedFrame> for ExecutedFrame {
    /// A clone that shares both frames and the map.
    fn from(executed: &ExecutedFrame) -> ExecutedFrame {
        executed.clone()
    }
}

impl ExecutedFrame {
    /// The executed frame of a frame that runs as described.
    pub fn as_described(frame: &Frame) -> ExecutedFrame {
        ExecutedFrame::new(frame.clone(), frame.clone(), Origins::IDENTITY)
    }

    /// Pairs a rewritten frame with the described one, without charges. The map is not checked: [`ExecutedFrame::check`] validates it.
    pub fn new(frame: Frame, described: Frame, origins: Origins) -> ExecutedFrame {
        ExecutedFrame {
            frame,
            described,
            origins,
            charges: None,
        }
    }

    /// The same frame with these charges in place of its own.
    pub fn with_charges(self, charges: Charges) -> ExecutedFrame {
        let charges = (charges != Charges::NONE).then(|| Arc::new(charges));
        ExecutedFrame { charges, ..self }
    }

    /// Costs of running the frame this way, in addition to the traffic of its accesses.
    pub fn charges(&self) -> &Charges {
        static NONE: Charges = Charges::NONE;
        self.charges.as_deref().unwrap_or(&NONE)
    }

    /// Returns true if the frame runs as described.
    pub fn is_as_described(&self) -> bool {
        self.origins.is_identity() && self.frame == self.described
    }

    /// The executed frame.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The frame as it was described.
    pub fn described(&self) -> &Frame {
        &self.described
    }

    /// The map from the executed frame to the described one.
    pub fn origins(&self) -> &Origins {
        &self.origins
    }

    /// The executed frame, the described frame, and the map.
    pub fn into_parts(self) -> (Frame, Frame, Origins) {
        (self.frame, self.described, self.origins)
    }

    /// The described passes that a pass runs, in order; empty for a store or a copy at the border of a strip.
    pub fn described_passes(&self, pass: PassId) -> impl Iterator<Item = PassRun> + use<'_> {
        self.origins.runs(pass)
    }

    /// Every pass that runs a given described one, in order.
    pub fn executed_passes(&self, described: PassId) -> impl Iterator<Item = PassId> + use<'_> {
        self.origins.executed_passes(described)
    }

    /// The declared resource of which this one is a [part](ExecutedFrame::part).
    pub fn described_resource(&self, resource: ResourceId) -> ResourceId {
        let origin = self.origins.resource(resource).resource;
        let level_of = self.described.resource(origin).level_of;
        level_of.map_or(origin, |level_of| level_of.image)
    }

    /// The part of the [declared resource](ExecutedFrame::described_resource) that a resource represents.
    pub fn part(&self, resource: ResourceId) -> ResourcePart {
        let origin = self.origins.resource(resource);
        let level_of = self.described.resource(origin.resource).level_of;
        ResourcePart {
            level: level_of.map(|level_of| level_of.level),
            until: origin.until,
            area: origin.area,
            value: origin.value,
        }
    }

    /// The part of its image that a pass computes; `None` for all of it.
    pub fn strip(&self, pass: PassId) -> Option<Strip> {
        self.origins.runs(pass).next()?.strip
    }

    /// Offset of a resource's first texel in the described image; for a buffer of lists, of its first list in the grid of tiles.
    pub fn first_texel(&self, resource: ResourceId) -> vk::Offset2D {
        let area = self.origins.resource(resource).area;
        area.map_or_else(vk::Offset2D::default, |area| area.offset)
    }

    /// The resource that a pass uses for a described one: the first part that the pass uses, otherwise the whole resource, or the first of its
    /// separately stored values.
    ///
    /// # Panics
    /// If no resource is all of the described one, a fault that [`ExecutedFrame::check`] finds.
    pub fn resource_in(&self, pass: PassId, described: ResourceId) -> ResourceId {
        let mut used = self.frame.accesses_of(pass).iter().map(|access| access.resource);
        used.find(|&used| self.origins.resource(used).resource == described)
            .unwrap_or_else(|| self.origins.whole(described))
    }

    /// The first subpass in which a pass runs a described one; `None` if it does not run it.
    pub fn subpass_in(&self, pass: PassId, described: PassId) -> Option<u32> {
        let mut runs = self.origins.runs(pass);
        Some(runs.find(|run| run.pass == described)?.subpass)
    }

    /// The index of the described access to which an access corresponds; `None` for accesses of stores and of copies at the border of a strip.
    pub fn described_access(&self, access: usize) -> Option<usize> {
        self.origins.access(access)
    }

    /// Composes this rewrite with a later one. Charges of a pass move to the first pass that runs it.
    ///
    /// # Panics
    /// If the other one does not rewrite this executed frame.
    pub fn then(&self, rewrite: &ExecutedFrame) -> ExecutedFrame {
        assert!(
            rewrite.described == self.frame,
            "a rewrite of frame `{}` cannot follow one that results in frame `{}`",
            rewrite.described.name(),
            self.frame.name()
        );
        let charges = match (&self.charges, &rewrite.charges) {
            (None, None) => None,
            _ => Some(Arc::new(self.charges().then(rewrite.charges(), &rewrite.origins))),
        };
        ExecutedFrame {
            frame: rewrite.frame.clone(),
            described: self.described.clone(),
            origins: self.origins.then(&rewrite.origins),
            charges,
        }
    }
}
