//! Other arrangements of the frame: the described passes that each executed pass contains, and the part that each computes.

use ash::vk;
use tileheap::arrange::Arrangement;
use tileheap::execute::Strip;
use tileheap::frame::tables::{Access, HistoryVersion, PassKind, ResourceKind};
use tileheap::frame::{Extent, PassId, ResourceId};

use crate::frame::{Deferred, INSET, TILE, inset};
use crate::pipelines::{Program, inputs_of};
use crate::support::arrangement::{Run, runs};

/// `Strip` in shaders/strip.glsl: origin and extent of the described target, then of the described inputs.
pub(crate) type PushConstants = [[i32; 4]; 8];

impl Deferred {
    /// Applies an arrangement to the frame, if there is one.
    pub(crate) fn arranged(mut self, arrangement: Option<&Arrangement>) -> tileheap::Result<Deferred> {
        if let Some(arrangement) = arrangement {
            self.arranged = arrangement.apply(&self.frame)?;
        }
        Ok(self)
    }

    /// The runs of described passes, in order of execution: a merged pass contains several.
    pub(crate) fn runs(&self) -> impl Iterator<Item = Run> {
        runs(&self.arranged, |described| Strip {
            origin: self.origin(described),
            ..Strip::whole(self.whole(described).into())
        })
    }

    /// The size of the output of a described pass.
    pub(crate) fn whole(&self, described: PassId) -> vk::Extent2D {
        match self.frame.pass(described) {
            pass if pass.kind == PassKind::Render => {
                let accesses = self.frame.accesses_of(described).iter();
                let mut written = accesses.filter(|access| access.kind.is_attachment());
                // Images scaled from the base extent have the resolution's size; shadows and the picture are not scaled.
                let scaled = written.find_map(|access| self.scaled(access));
                scaled.unwrap_or(pass.area.extent)
            }
            pass if pass.name.ends_with(INSET) => inset(self.resolution),
            _ => self.resolution,
        }
    }

    /// The rendered part of an image that is scaled from the base extent; `None` for other images.
    fn scaled(&self, access: &Access) -> Option<vk::Extent2D> {
        let resource = self.frame.resource(access.resource);
        let ResourceKind::Image { desc, .. } = resource.kind else {
            return None;
        };
        let at = match access.version {
            HistoryVersion::Current => self.resolution,
            HistoryVersion::Previous => self.before[usize::from(resource.name.ends_with(INSET))],
        };
        let vk::Extent3D { width, height, .. } = desc.extent.resolve(at);
        matches!(desc.extent, Extent::Scaled(_)).then_some(vk::Extent2D { width, height })
    }

    /// The offset of texel (0, 0) of a described pass's attachments in its output.
    fn origin(&self, described: PassId) -> vk::Offset2D {
        let vk::Offset2D { x, y } = self.frame.pass(described).area.offset;
        vk::Offset2D { x: -x, y: -y }
    }

    pub(crate) fn push_constants(&self, run: &Run) -> PushConstants {
        let whole = self.whole(run.described);
        let part = |origin: vk::Offset2D, extent: [u32; 2]| {
            let [width, height] = extent.map(|side| side as i32);
            [origin.x, origin.y, width, height]
        };
        let mut words = PushConstants::default();
        words[0] = part(run.strip.origin, [whole.width, whole.height]);
        if let Program::Tiles(_) = Program::of(self, run.described) {
            let (first, _) = run.strip.groups([TILE; 2]);
            let [x, y] = first.map(|group| (group * TILE) as i32);
            words[0][..2].copy_from_slice(&[x, y]);
        }
        for (words, access) in words[1..].iter_mut().zip(inputs_of(self, run.described)) {
            if let ResourceKind::Image { extent, .. } = self.frame.resource(access.resource).kind {
                let origin = self.arranged.first_texel(self.here(run, access.resource));
                let (width, height) = (extent.width, extent.height);
                let extent = self.scaled(access).unwrap_or(vk::Extent2D { width, height });
                *words = part(origin, [extent.width, extent.height]);
            }
        }
        words
    }

    /// The resource that replaces a described resource in a run.
    pub(crate) fn here(&self, run: &Run, described: ResourceId) -> ResourceId {
        self.arranged.resource_in(run.pass, described)
    }
}
