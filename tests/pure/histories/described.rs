//! Descriptions of one image, with the parts that their passes write and read.

use ash::vk;
use ash::vk::ImageAspectFlags as Aspect;
use tileheap::Checked;
use tileheap::frame::tables::HistoryVersion;
use tileheap::frame::{
    AccessKind, ClearValue, CommandBufferId, Frame, FrameBuilder, ImageDesc, LoadOp, Persistence, ResourceId,
    SubresourceRange,
};
use tileheap::plan::Plan;
use tileheap::profile::{DeviceProfile, Features};
use tileheap::units::{Run, SplitMix64};

use crate::planned::plan_with;
use tileheap_testkit::frames::{extent, one_queue};

const EXTENT: vk::Extent2D = extent(16, 16);

/// A frame that is described pass by pass.
pub(super) struct Described {
    frame: FrameBuilder,
    commands: CommandBufferId,
    history: ResourceId,
    whole: SubresourceRange,
    passes: u32,
}

impl Described {
    /// All descriptions of an image have the same usage: otherwise they would be different images.
    pub(super) fn new(mut desc: ImageDesc) -> Described {
        use vk::ImageUsageFlags as U;
        let mut frame = FrameBuilder::new("histories", EXTENT);
        desc.usage = U::SAMPLED | U::TRANSFER_SRC | U::TRANSFER_DST;
        desc.usage |= match desc.format {
            vk::Format::D32_SFLOAT_S8_UINT => U::DEPTH_STENCIL_ATTACHMENT,
            _ => U::STORAGE | U::COLOR_ATTACHMENT,
        };
        let history = frame.resource("history", desc, Persistence::History);
        let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
        Described {
            frame,
            commands,
            history,
            whole: whole(&desc),
            passes: 0,
        }
    }

    fn name(&mut self) -> String {
        self.passes += 1;
        format!("pass {}", self.passes)
    }

    pub(super) fn write(&mut self, kind: AccessKind, range: SubresourceRange) {
        let (name, history) = (self.name(), self.history);
        match kind {
            AccessKind::ColorAttachment => {
                let pass = self.frame.render_pass(self.commands, name);
                pass.color(history, LoadOp::Clear(ClearValue::ZERO)).part(range);
            }
            AccessKind::DepthStencilAttachment => {
                let pass = self.frame.render_pass(self.commands, name);
                let clear = ClearValue::DepthStencil(0.0, 0);
                pass.depth(history, LoadOp::Clear(clear)).part(range);
            }
            AccessKind::TransferDestination => {
                let pass = self.frame.transfer_pass(self.commands, name);
                pass.transfer_destination(history).part(range);
            }
            _ => {
                let pass = self.frame.compute_pass(self.commands, name);
                pass.write(history, kind).part(range);
            }
        }
    }

    pub(super) fn read(&mut self, kind: AccessKind, range: SubresourceRange, version: HistoryVersion) {
        let (name, history) = (self.name(), self.history);
        let pass = match kind {
            AccessKind::TransferSource => self.frame.transfer_pass(self.commands, name),
            _ => self.frame.compute_pass(self.commands, name),
        };
        let pass = pass.read(history, kind).part(range);
        if version == HistoryVersion::Previous {
            pass.previous();
        }
    }

    pub(super) fn build(self) -> Frame {
        self.frame.build().unwrap()
    }
}

pub(super) fn whole(desc: &ImageDesc) -> SubresourceRange {
    let aspects = match desc.format {
        vk::Format::D32_SFLOAT_S8_UINT => Aspect::DEPTH | Aspect::STENCIL,
        _ => Aspect::COLOR,
    };
    let layers = match desc.image_type {
        vk::ImageType::TYPE_3D => SLICES,
        _ => desc.array_layers,
    };
    SubresourceRange {
        aspects,
        levels: Run::new(0, desc.mip_levels),
        layers: Run::new(0, layers),
    }
}

pub(super) const SLICES: u32 = 8;

pub(super) fn color(mip_levels: u32, array_layers: u32) -> ImageDesc {
    ImageDesc {
        mip_levels,
        array_layers,
        ..ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT)
    }
}

pub(super) fn volume(mip_levels: u32) -> ImageDesc {
    let vk::Extent2D { width, height } = EXTENT;
    let depth = SLICES;
    ImageDesc {
        image_type: vk::ImageType::TYPE_3D,
        mip_levels,
        ..ImageDesc::new(vk::Format::R8_UNORM, vk::Extent3D { width, height, depth })
    }
}

/// A device with separate layouts for depth and stencil, or with a common one.
fn profile(apart: bool) -> DeviceProfile {
    let mut profile = DeviceProfile::preset("generous").unwrap();
    profile
        .features
        .set(Features::SEPARATE_DEPTH_STENCIL_LAYOUTS, apart);
    profile
}

pub(super) fn planned(frame: &Frame, apart: bool) -> Checked<Plan> {
    plan_with(frame, &profile(apart), &Default::default())
}

/// A range inside another one.
pub(super) fn part_of(range: SubresourceRange, random: &mut SplitMix64) -> SubresourceRange {
    let mut part = |all: Run| {
        let first = all.first + random.below(all.len() as u64) as u32;
        Run::new(first, first + 1 + random.below(u64::from(all.end - first)) as u32)
    };
    let (levels, layers) = (part(range.levels), part(range.layers));
    SubresourceRange {
        levels,
        layers,
        ..range
    }
}

/// The slices of a level.
fn slices(level: u32) -> Run {
    Run::new(0, (SLICES >> level).max(1))
}

/// Random writes of parts of an image. Depth and stencil are written together unless they are `apart`.
fn random_writes(
    whole: SubresourceRange,
    (is_3d, apart): (bool, bool),
    random: &mut SplitMix64,
) -> Vec<(AccessKind, SubresourceRange)> {
    let depth = whole.aspects != Aspect::COLOR;
    let (attached, stored) = match depth {
        true => (
            AccessKind::DepthStencilAttachment,
            AccessKind::TransferDestination,
        ),
        false => (AccessKind::ColorAttachment, AccessKind::StorageImage),
    };
    let count = 1 + random.below(3);
    let write = |_| {
        let mut range = part_of(whole, random);
        if depth && apart {
            range.aspects = random.pick(&[whole.aspects, Aspect::DEPTH, Aspect::STENCIL]);
        }
        let mut kind = random.pick(&[attached, stored, AccessKind::TransferDestination]);
        if is_3d {
            // All slices or none.
            (kind, range.layers) = (AccessKind::StorageImage, slices(range.levels.first));
        } else if kind == attached {
            range.levels.end = range.levels.first + 1;
        }
        (kind, range)
    };
    (0..count).map(write).collect()
}

/// A random read of a part of a range.
fn random_read(
    written: SubresourceRange,
    is_3d: bool,
    random: &mut SplitMix64,
) -> (AccessKind, SubresourceRange) {
    let mut range = match random.one_in(3) {
        true => written,
        false => part_of(written, random),
    };
    let kind = random.pick(&[AccessKind::SampledImage, AccessKind::TransferSource]);
    if kind == AccessKind::SampledImage && range.aspects.contains(Aspect::DEPTH | Aspect::STENCIL) {
        range.aspects = random.pick(&[Aspect::DEPTH, Aspect::STENCIL]);
    }
    if is_3d {
        // The slices of several levels are used together.
        range.layers = slices(range.levels.first);
        if range.levels.len() == 1 {
            range.layers = part_of(range, random).layers;
        }
    }
    (kind, range)
}

/// One description of an image: writes of random parts, and before and after them reads of the written parts, from the previous version unless `cut`.
/// Depth and stencil are written together unless they are `apart`.
pub(super) fn random_frame(desc: ImageDesc, apart: bool, cut: bool, random: &mut SplitMix64) -> Frame {
    let mut described = Described::new(desc);
    let is_3d = desc.image_type == vk::ImageType::TYPE_3D;
    let writes = random_writes(described.whole, (is_3d, apart), random);
    let read = |described: &mut Described, random: &mut SplitMix64, version| {
        let written = random.pick(&writes).1;
        let (kind, range) = random_read(written, is_3d, random);
        described.read(kind, range, version);
    };
    let reads = if cut { 0 } else { 1 + random.below(3) };
    (0..reads).for_each(|_| read(&mut described, random, HistoryVersion::Previous));
    for &(kind, range) in &writes {
        described.write(kind, range);
    }
    (0..random.below(3)).for_each(|_| read(&mut described, random, HistoryVersion::Current));
    if !cut && random.one_in(2) {
        read(&mut described, random, HistoryVersion::Previous);
    }
    described.build()
}
