//! Moves: a relocated texture gets an image at its new offset, and its texels are copied through a buffer.
//!
//! ```text
//! memory   ├─ a ─┼─ free ─┼── b ──┼─ c ─┤          b moves to the left, over bytes of its own
//! buffer                   ▼ b           all copies to the buffer precede all copies from it, and all uploads
//! memory   ├─ a ─┼── b ──┼─ new ──┼─ c ─┤
//! ```
//! Images cannot be rebound, and old and new ranges may overlap: with a buffer between, the order of moves does not matter. Moves
//! that exceed the buffer become uploads.

use ash::vk;

use super::commands::{barrier, copy, leaving};
use super::move_buffer::Arrival;
use super::state::TextureCache;
use crate::{Level, Result};

impl TextureCache {
    /// Creates the images of moves. Those that the buffer does not hold become uploads.
    ///
    /// # Errors
    /// If the device is out of memory: no texture has moved then, and the lists are unchanged.
    pub(super) fn prepare_moves(&mut self) -> Result<()> {
        let moves = &mut self.moves;
        moves.leaving.clear();
        moves.out.clear();
        moves.back.clear();
        let mut end = 0_u64;
        for index in 0..moves.listed.len() {
            let texture = moves.listed[index];
            let entry = &mut self.cached[texture.0 as usize];
            // It was evicted meanwhile.
            let (Some((offset, level)), Some(former)) = (entry.place, entry.live) else {
                continue;
            };
            let shape = &self.shapes[usize::from(entry.chain.0)];
            let (start, first) = (end, moves.out.len());
            let dropped = u32::from(former.level.0 - level.0);
            for (mip, level) in (0..=level.0).rev().map(Level).enumerate() {
                let at = end.next_multiple_of(shape.alignment());
                end = at + shape.texels_at(level) as u64;
                let extent = shape.shape.extent_at(level);
                moves.out.push(copy(&extent, dropped + mip as u32, at));
                moves.back.push(copy(&extent, mip as u32, at));
            }
            if end > moves.size {
                moves.out.truncate(first);
                moves.back.truncate(first);
                end = start;
                entry.live = None;
                self.images.retire(self.frame, former);
                self.changed.push(texture);
                if !std::mem::replace(&mut entry.listed, true) {
                    self.pending_uploads.push(texture);
                }
                continue;
            }
            let live = match self.images.make(&self.device, shape, level, self.memory, offset) {
                Ok(live) => live,
                Err(error) => {
                    self.take_back_moves();
                    return Err(error);
                }
            };
            moves.arrivals.push(Arrival { texture, live, first });
            moves.leaving.push(leaving(former.image));
            self.lists.add(live.image);
        }
        Ok(())
    }

    /// Destroys the images of moves that were not recorded.
    pub(super) fn take_back_moves(&mut self) {
        for arrival in self.moves.arrivals.drain(..) {
            // SAFETY: it was made for commands that were not submitted.
            unsafe { self.images.destroy(self.device.raw(), arrival.live) };
        }
    }

    /// Copies moving textures into the buffer, before any write to the memory of the cache.
    pub(super) fn record_departures(&self, commands: vk::CommandBuffer) {
        let (device, moves) = (self.device.raw(), &self.moves);
        if moves.arrivals.is_empty() {
            return;
        }
        let (copying, reading) = (vk::PipelineStageFlags::TRANSFER, self.reader_stages);
        barrier(device, commands, (reading | copying, copying), &moves.leaving);
        for (arrival, leaving) in moves.arrivals.iter().zip(&moves.leaving) {
            let regions = &moves.out[arrival.first..][..usize::from(arrival.live.level.0) + 1];
            let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
            // SAFETY: recording (the caller's duty); the barrier brought the old image to the layout, and it has these levels.
            unsafe {
                device.cmd_copy_image_to_buffer(commands, leaving.image, layout, moves.buffer, regions)
            };
        }
        let copied = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::TRANSFER_READ)];
        let none = vk::DependencyFlags::empty();
        // SAFETY: recording.
        unsafe { device.cmd_pipeline_barrier(commands, copying, copying, none, &copied, &[], &[]) };
    }

    /// Copies moving textures out of the buffer, after the barriers of the new images.
    pub(super) fn record_arrivals(&self, commands: vk::CommandBuffer) {
        for arrival in &self.moves.arrivals {
            let regions = &self.moves.back[arrival.first..][..usize::from(arrival.live.level.0) + 1];
            let (device, layout) = (self.device.raw(), vk::ImageLayout::TRANSFER_DST_OPTIMAL);
            // SAFETY: recording (the caller's duty); a barrier brought the image to the layout, and it has these levels.
            unsafe {
                device.cmd_copy_buffer_to_image(
                    commands,
                    self.moves.buffer,
                    arrival.live.image,
                    layout,
                    regions,
                )
            };
        }
    }

    /// Replaces old images by new ones; returns how many.
    pub(super) fn finish_moves(&mut self) -> u32 {
        let count = self.moves.arrivals.len() as u32;
        for arrival in self.moves.arrivals.drain(..) {
            let entry = &mut self.cached[arrival.texture.0 as usize];
            let former = entry.live.replace(arrival.live);
            self.images
                .retire(self.frame, former.expect("it was there to move"));
            self.changed.push(arrival.texture);
        }
        self.forget_moves();
        count
    }

    /// Clears the list of moves.
    pub(super) fn forget_moves(&mut self) {
        for texture in self.moves.listed.drain(..) {
            self.cached[texture.0 as usize].moving = false;
        }
    }
}
