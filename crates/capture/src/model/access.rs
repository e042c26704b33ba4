//! Uses of images and buffers by commands.

use std::sync::Arc;

use ash::vk;
use tileheap::format;
use tileheap::frame::tables::PassKind;
use tileheap::frame::{AccessKind, LoadOp, ReadReach, SubresourceRange};

use super::objects::{BufferRange, Image, Resource, View};
use crate::document::Layout;
use crate::document::recording::{self, ResourcePart};

/// The share of the accessed part that a write replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Coverage {
    Part,
    /// A part that a shader determines, and that is not known.
    Unknown,
    Whole,
}

/// A part of a resource: bytes of a buffer, or subresources and an area of an image.
pub(crate) type AccessedPart = ([u64; 2], SubresourceRange, Option<[[u32; 2]; 2]>);

/// One use of a resource.
#[derive(Clone, Debug)]
pub(crate) struct FollowedAccess {
    pub(crate) resource: Resource,
    pub(crate) kind: AccessKind,
    /// The subresources, fully specified; empty for buffers.
    pub(crate) range: SubresourceRange,
    /// Bytes `[first, end)`; empty for images.
    pub(crate) bytes: [u64; 2],
    /// The number of accessed bytes, if this use combines several accesses.
    pub(crate) accessed_byte_count: Option<u64>,
    /// Columns and rows of the range; `None` for all.
    pub(crate) area: Option<[[u32; 2]; 2]>,
    /// True if the command may also read texels around the area.
    pub(crate) reads_around: bool,
    /// The format of the view, if it differs from the image's.
    pub(crate) format: Option<vk::Format>,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    pub(crate) coverage: Coverage,
    /// True if every byte or texel of the part is accessed.
    pub(crate) is_whole: bool,
    /// True if it is possible that the command does not perform the access.
    pub(crate) is_conditional: bool,
    /// The load operation of an attachment; for other accesses it follows from the coverage.
    pub(crate) load: LoadOp,
    /// The store operation of an attachment.
    pub(crate) store: Option<vk::AttachmentStoreOp>,
    /// The stages; `None` for the default stages of the kind.
    pub(crate) stages: Option<vk::PipelineStageFlags2>,
    pub(crate) layout: Option<vk::ImageLayout>,
    /// The source of a resolve attachment.
    pub(crate) resolves: Option<Resource>,
    /// The reason why a frame can only describe the use as another access; `None` if it is described as it is.
    pub(crate) described_as: Option<&'static str>,
    /// The access types; `None` for the default access types of the kind.
    pub(crate) accesses: Option<vk::AccessFlags2>,
    /// The distance from the pixel at which a shader reads; `None` for the default of the kind.
    pub(crate) reach: Option<ReadReach>,
}

impl FollowedAccess {
    fn new(resource: Resource, kind: AccessKind, range: SubresourceRange) -> FollowedAccess {
        FollowedAccess {
            resource,
            kind,
            range,
            bytes: [0; 2],
            accessed_byte_count: None,
            area: None,
            reads_around: false,
            format: None,
            reads: false,
            writes: false,
            coverage: Coverage::Whole,
            is_whole: false,
            is_conditional: false,
            load: LoadOp::Load,
            store: None,
            stages: None,
            layout: None,
            resolves: None,
            described_as: None,
            accesses: None,
            reach: None,
        }
    }

    /// Creates an access to bytes of a buffer.
    pub(crate) fn of_buffer(range: &BufferRange, kind: AccessKind) -> FollowedAccess {
        let resource = Resource::Buffer(range.buffer.clone());
        let mut access = FollowedAccess::new(resource, kind, SubresourceRange::ALL);
        access.bytes = [range.first, range.end];
        access
    }

    /// Creates an access to part of an image.
    pub(crate) fn of_image(
        image: &Arc<Image>,
        kind: AccessKind,
        range: SubresourceRange,
        layout: vk::ImageLayout,
    ) -> FollowedAccess {
        let mut access = FollowedAccess::new(Resource::Image(image.clone()), kind, range);
        access.layout = Some(layout);
        access
    }

    /// Creates an access through a view.
    pub(crate) fn of_view(view: &View, kind: AccessKind, layout: vk::ImageLayout) -> FollowedAccess {
        let mut access = FollowedAccess::of_image(&view.image, kind, view.range, layout);
        access.format = (view.format != view.image.desc.format).then_some(view.format);
        access
    }

    /// Returns the number of bytes of the accessed part, without padding; for an image, only of the columns and rows in `area`, or of all if it is `None`.
    pub(crate) fn part_bytes(&self, area: Option<[[u32; 2]; 2]>) -> u64 {
        let Resource::Image(image) = &self.resource else {
            return self.bytes[1].saturating_sub(self.bytes[0]);
        };
        let Some(block) = format::texel_block(image.desc.format) else {
            return 0;
        };
        let area = area.unwrap_or([[0, u32::MAX]; 2]);
        let SubresourceRange { levels, layers, .. } = self.range;
        let layers = match layers.end.saturating_sub(layers.first) {
            0 => image.desc.array_layers,
            some => some,
        };
        let of_level = |level: u32| {
            let sides = image.level(level);
            let side = |axis: usize, texels: u32| {
                let [first, end] = area[axis];
                u64::from(end.min(sides[axis]).saturating_sub(first).div_ceil(texels))
            };
            side(0, block.width) * side(1, block.height)
        };
        let levels = levels.first..levels.end.min(image.desc.mip_levels).max(levels.first + 1);
        let blocks: u64 = levels.map(of_level).sum();
        let samples = u64::from(image.desc.samples.as_raw());
        blocks * u64::from(layers) * samples * u64::from(block.bytes)
    }

    /// Returns the number of bytes that a read or a write moves, for accesses other than those to attachments.
    pub(crate) fn touched_bytes(&self) -> u64 {
        self.accessed_byte_count
            .unwrap_or_else(|| self.part_bytes(self.area))
    }

    /// Returns the accessed part.
    pub(crate) fn part(&self) -> AccessedPart {
        (self.bytes, self.range, self.area)
    }

    /// Extends this use's range of bytes and number of accessed bytes by those of an access to another part of the same resource.
    pub(crate) fn add_bytes(&mut self, other: &FollowedAccess) {
        let sum = self.touched_bytes().saturating_add(other.touched_bytes());
        self.bytes = [
            self.bytes[0].min(other.bytes[0]),
            self.bytes[1].max(other.bytes[1]),
        ];
        let most = match &self.resource {
            Resource::Buffer(_) => self.bytes[1] - self.bytes[0],
            Resource::Image(_) => self.resource.size(),
        };
        self.accessed_byte_count = Some(sum.min(most));
    }

    pub(crate) fn reading(mut self) -> FollowedAccess {
        self.reads = true;
        self
    }

    pub(crate) fn writing(mut self, coverage: Coverage) -> FollowedAccess {
        (self.writes, self.coverage) = (true, coverage);
        self
    }

    /// Returns the same use, marked as accessing every byte or texel of the part.
    pub(crate) fn whole(mut self) -> FollowedAccess {
        self.is_whole = true;
        self
    }

    /// Returns the width and height of an image in texels, at the first level that is accessed; `None` for a buffer.
    pub(crate) fn extent(&self) -> Option<(u32, u32)> {
        let Resource::Image(image) = &self.resource else {
            return None;
        };
        let [width, height] = image.level(self.range.levels.first);
        Some((width, height))
    }

    /// Converts the access for a recording: one access for each stage and access type.
    pub(crate) fn recorded(&self, resource: u32) -> Vec<recording::RecordedAccess> {
        let part = match &self.resource {
            Resource::Buffer(_) => ResourcePart::Bytes(self.bytes[0], self.bytes[1]),
            Resource::Image(_) => ResourcePart::Texels {
                range: self.range,
                area: self.area.filter(|_| !self.reads_around),
            },
        };
        let stages = self.stages.unwrap_or(self.kind.default_stages(PassKind::Compute));
        let kind = self.kind.access_flags(self.reads, self.writes);
        let accesses = self.accesses.unwrap_or(kind);
        let of_stage = |stage| {
            bits(accesses.as_raw()).map(move |access| recording::RecordedAccess {
                resource,
                part,
                stage: vk::PipelineStageFlags2::from_raw(stage),
                access: vk::AccessFlags2::from_raw(access),
                whole: self.is_whole,
                conditional: self.is_conditional,
                layout: self.layout.map(Layout),
            })
        };
        bits(stages.as_raw()).flat_map(of_stage).collect()
    }
}

/// Iterates over the single bits of a mask.
fn bits(mask: u64) -> impl Iterator<Item = u64> {
    (0..u64::BITS)
        .map(|bit| 1 << bit)
        .filter(move |bit| mask & bit != 0)
}
