//! Moves textures to other images.

use ash::vk;

use super::commands::{barrier, copy, leaving};
use super::staging::create_buffer;
use super::state::{Move, Moves, TextureCache};
use crate::{Level, Result};
use tileheap::runtime::Device;
use tileheap::runtime::objects::OwnedObjects;
use tileheap::units::Bytes;

impl Moves {
    /// Creates the buffer through which textures are copied.
    pub(super) fn make(&mut self, device: &Device, owned: &mut OwnedObjects, size: Bytes) -> Result<()> {
        let name = format!("a buffer of {size} for moving textures");
        let info = vk::BufferCreateInfo::default()
            .size(size.0)
            .usage(vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST);
        let types = device.profile().ordinary_type_bits();
        // SAFETY: the size is not 0.
        self.buffer = unsafe { create_buffer(device, owned, &name, &info, types) }?.0;
        self.size = size.0;
        Ok(())
    }

    pub(super) fn clear(&mut self) {
        self.listed.clear();
        self.leaving.clear();
        self.out.clear();
        self.back.clear();
        self.end = 0;
    }

    pub(super) fn count(&self) -> usize {
        self.listed.len()
    }
}

impl TextureCache {
    /// Creates the destination images of moves, and lists the copies and barriers. Retires an image instead if the buffer has no room for its levels.
    ///
    /// # Errors
    /// If the device is out of memory.
    pub(super) fn prepare_moves(&mut self) -> Result<()> {
        if self.former.is_empty() {
            (0..self.changing.len()).try_for_each(|index| self.prepare_move(self.changing[index]))
        } else {
            (0..self.cached.len()).try_for_each(|entry| self.prepare_move(entry))
        }
    }

    fn prepare_move(&mut self, at: usize) -> Result<()> {
        let entry = self.cached[at];
        let (Some(place), Some(former)) = (self.place(at), entry.live) else {
            return Ok(());
        };
        let stays = (former.start, former.finest) == (place.0.0, place.1);
        let resized = !self.former.is_empty();
        if stays && !resized {
            return Ok(());
        }
        let (shape, moves) = (&self.shapes[usize::from(entry.chain.0)], &mut self.moves);
        let (level, first, mut end) = (former.level.min(place.1), moves.out.len(), moves.end);
        let coarsest = shape.first(level);
        for n in (coarsest.0..=level.0).map(Level) {
            let start = end.next_multiple_of(shape.alignment());
            end = start + shape.texels_at(n) as u64;
            let mip = |finest: Level| u32::from(finest.0 - n.0);
            moves.out.push(copy(&shape.shape, n, mip(former.finest), start));
            moves.back.push(copy(&shape.shape, n, mip(place.1), start));
        }
        if end > moves.size && !resized {
            moves.out.truncate(first);
            moves.back.truncate(first);
            self.cached[at].live = None;
            self.retire(at, former);
            return Ok(());
        }
        moves.end = end;
        let mut next = self.make_image(entry.chain, place)?;
        next.level = level;
        self.cached[at].next = Some(next);
        self.replaced.push(at);
        // Uploads of this frame to these bytes are recorded after the copies from them.
        self.in_use.push((self.frame, former.start, former.end));
        self.lists.add(next.image, next.mips(coarsest, level));
        let moves = &mut self.moves;
        let arrived = former.mips(coarsest, former.level);
        moves.leaving.push(leaving(former.image, arrived));
        moves.listed.push(Move {
            from: former.image,
            to: next.image,
            first,
            count: moves.out.len() - first,
        });
        Ok(())
    }

    /// Copies moving textures into the buffer, before any write to the cache's memory. After a resize, records only the barriers:
    /// [`record_arrivals`](TextureCache::record_arrivals) then copies from image to image.
    pub(super) fn record_departures(&self, commands: vk::CommandBuffer) {
        let (device, moves) = (self.device.raw(), &self.moves);
        if moves.listed.is_empty() {
            return;
        }
        let (copying, reading) = (vk::PipelineStageFlags::TRANSFER, self.reader_stages);
        barrier(device, commands, (reading | copying, copying), &moves.leaving);
        if !self.former.is_empty() {
            return;
        }
        for one in &moves.listed {
            let regions = &moves.out[one.first..][..one.count];
            let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
            // SAFETY: recording (the caller's duty); the barrier transitioned the old image to the layout, and it has these levels.
            unsafe { device.cmd_copy_image_to_buffer(commands, one.from, layout, moves.buffer, regions) };
        }
        let copied = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::TRANSFER_READ)];
        let none = vk::DependencyFlags::empty();
        // SAFETY: recording.
        unsafe { device.cmd_pipeline_barrier(commands, copying, copying, none, &copied, &[], &[]) };
    }

    /// Copies moving textures to their new images, after the barriers of those images: from the buffer or, after a resize, from the old images.
    pub(super) fn record_arrivals(&self, commands: vk::CommandBuffer) {
        let (device, moves) = (self.device.raw(), &self.moves);
        let (source, target) = (
            vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
            vk::ImageLayout::TRANSFER_DST_OPTIMAL,
        );
        for one in &moves.listed {
            let (out, back) = (
                &moves.out[one.first..][..one.count],
                &moves.back[one.first..][..one.count],
            );
            if self.former.is_empty() {
                // SAFETY: recording (the caller's duty); a barrier transitioned the image to the layout, and it has these levels.
                unsafe { device.cmd_copy_buffer_to_image(commands, moves.buffer, one.to, target, back) };
                continue;
            }
            let region = |(out, back): (&vk::BufferImageCopy, &vk::BufferImageCopy)| vk::ImageCopy {
                src_subresource: out.image_subresource,
                dst_subresource: back.image_subresource,
                extent: back.image_extent,
                ..Default::default()
            };
            let regions: Vec<_> = out.iter().zip(back).map(region).collect();
            // SAFETY: as above; both images are of one shape.
            unsafe { device.cmd_copy_image(commands, one.from, source, one.to, target, &regions) };
        }
    }
}
