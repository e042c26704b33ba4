//! The commands of passes that transfer: fills, clears, and copies of a few texels or bytes to a buffer of the test.

use std::cell::Cell;

use ash::vk;
use tileheap::format;
use tileheap::frame::tables::{Access, HistoryVersion, PassKind, ResourceKind};
use tileheap::frame::{AccessKind, ClearValue, Frame, PassId};
use tileheap::runtime::{BoundAccess, PassCommands};

/// Bytes of one copy: a multiple of the texel sizes of all formats.
const SLOT: u64 = 192;
/// Bytes of the buffer that copies write.
pub(super) const SCRATCH_BYTES: u64 = SLOT * 256;

/// Records transfers of a frame.
pub(super) struct Transfers<'a> {
    pub(super) frame: &'a Frame,
    pub(super) scratch: vk::Buffer,
    /// Number of copies so far.
    pub(super) copies: Cell<u64>,
}

impl Transfers<'_> {
    /// Records a command for each transfer that a pass declares, if one command can cover all of it.
    pub(super) fn record(&self, pass: PassId, commands: &PassCommands<'_>) {
        if self.frame.pass(pass).kind == PassKind::Render {
            return;
        }
        let accesses = self.frame.accesses_of(pass);
        for (n, access) in accesses.iter().enumerate() {
            let of_resource = accesses.iter().filter(|other| other.resource == access.resource);
            if of_resource.count() > 1 || access.version == HistoryVersion::Previous {
                continue;
            }
            match access.kind {
                AccessKind::TransferDestination => self.overwrite(access, commands, &commands.access(n)),
                AccessKind::TransferSource => self.copy(access, commands, &commands.access(n)),
                _ => {}
            }
        }
    }

    fn overwrite(&self, access: &Access, commands: &PassCommands<'_>, bound: &BoundAccess) {
        let (device, handle) = (commands.device(), commands.command_buffer());
        let resource = self.frame.resource(access.resource);
        let stages = access.stages;
        let fits = |wanted| {
            stages.intersects(
                vk::PipelineStageFlags2::ALL_TRANSFER | vk::PipelineStageFlags2::ALL_COMMANDS | wanted,
            )
        };
        if !fits(vk::PipelineStageFlags2::CLEAR) {
            return;
        }
        let ResourceKind::Image { desc, extent, .. } = resource.kind else {
            let buffer = bound.buffer();
            if buffer.size >= 4 {
                // SAFETY: recording outside render passes; the pass declares the write.
                unsafe { device.cmd_fill_buffer(handle, buffer.handle, buffer.offset, buffer.size & !3, 7) };
            }
            return;
        };
        let Some(info) = format::info(desc.format) else {
            return;
        };
        // Clears cover all slices of a level.
        let slices = (extent.depth >> access.range.levels.first.min(31)).max(1) as usize;
        let range = access.range;
        let all_slices = !resource.is_3d() || range.levels.len() == 1 && range.layers.len() == slices;
        if info.is_compressed() || info.block.bytes > 16 || !all_slices {
            return;
        }
        let (image, layout) = (bound.image(), bound.layout);
        let ranges = [vk::ImageSubresourceRange {
            aspect_mask: access.range.aspects,
            base_mip_level: access.range.levels.first,
            level_count: access.range.levels.len() as u32,
            base_array_layer: if resource.is_3d() {
                0
            } else {
                access.range.layers.first
            },
            layer_count: if resource.is_3d() {
                1
            } else {
                access.range.layers.len() as u32
            },
        }];
        let value = ClearValue::zero_of(desc.format).to_vk();
        if info.aspects.contains(vk::ImageAspectFlags::COLOR) {
            // SAFETY: zero is the same in every member.
            let value = unsafe { value.color };
            // SAFETY: recording outside render passes; the pass declares the write.
            unsafe { device.cmd_clear_color_image(handle, image, layout, &value, &ranges) };
        } else {
            // SAFETY: the union was made for depth and stencil.
            let value = unsafe { value.depth_stencil };
            // SAFETY: as above.
            unsafe { device.cmd_clear_depth_stencil_image(handle, image, layout, &value, &ranges) };
        }
    }

    fn copy(&self, access: &Access, commands: &PassCommands<'_>, bound: &BoundAccess) {
        let (device, handle) = (commands.device(), commands.command_buffer());
        let resource = self.frame.resource(access.resource);
        let copies = vk::PipelineStageFlags2::ALL_TRANSFER
            | vk::PipelineStageFlags2::ALL_COMMANDS
            | vk::PipelineStageFlags2::COPY;
        let slot = self.copies.get();
        if !access.stages.intersects(copies) || slot * SLOT >= SCRATCH_BYTES {
            return;
        }
        let dst_offset = slot * SLOT;
        let ResourceKind::Image { desc, extent, .. } = resource.kind else {
            let buffer = bound.buffer();
            let (src_offset, size) = (buffer.offset, buffer.size.min(SLOT));
            let region = vk::BufferCopy {
                src_offset,
                dst_offset,
                size,
            };
            self.copies.set(slot + 1);
            // SAFETY: recording outside render passes; the pass declares the read.
            unsafe { device.cmd_copy_buffer(handle, buffer.handle, self.scratch, &[region]) };
            return;
        };
        let Some(info) = format::info(desc.format) else {
            return;
        };
        let aspects = access.range.aspects;
        if desc.samples != vk::SampleCountFlags::TYPE_1 || aspects.as_raw().count_ones() != 1 {
            return;
        }
        let side = |texels: u32| (texels >> access.range.levels.first.min(31)).max(1);
        let first = access.range.layers.first;
        let solid = resource.is_3d();
        let region = vk::BufferImageCopy {
            buffer_offset: dst_offset,
            image_subresource: vk::ImageSubresourceLayers {
                aspect_mask: aspects,
                mip_level: access.range.levels.first,
                base_array_layer: if solid { 0 } else { first },
                layer_count: 1,
            },
            image_offset: vk::Offset3D {
                z: if solid { first as i32 } else { 0 },
                ..Default::default()
            },
            image_extent: vk::Extent3D {
                width: side(extent.width).min(info.block.width),
                height: side(extent.height).min(info.block.height),
                depth: 1,
            },
            ..Default::default()
        };
        let (image, layout) = (bound.image(), bound.layout);
        self.copies.set(slot + 1);
        // SAFETY: recording outside render passes; the pass declares the read.
        unsafe { device.cmd_copy_image_to_buffer(handle, image, layout, self.scratch, &[region]) };
    }
}
