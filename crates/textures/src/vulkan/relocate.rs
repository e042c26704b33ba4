//! Resizes the cache: resident textures are copied to another allocation.

use ash::vk;

use super::budget;
use super::commands::{BarrierLists, barrier, leaving};
use super::image::Texture;
use super::state::TextureCache;
use crate::Level;
use crate::Result;
use tileheap::units::Bytes;

impl TextureCache {
    /// Changes the size of the cache, between two frames. Textures that extend past a smaller one are evicted; the next recorded
    /// frame copies the others, and the old allocation is freed when it is complete.
    ///
    /// # Errors
    /// If the budget does not hold the largest texture, or the device is out of memory: the cache is unchanged then.
    pub fn set_budget(&mut self, budget: Bytes) -> Result<()> {
        if budget == self.budget {
            return Ok(());
        }
        let memory = self.allocate(budget)?;
        if let Err(fault) = self.levelled.set_budget(budget) {
            // SAFETY: nothing was bound to it.
            unsafe { self.device.raw().free_memory(memory, None) };
            return Err(fault);
        }
        tracing::info!(from = %self.budget, to = %budget, "texture cache resized");
        self.former.push(std::mem::replace(&mut self.memory, memory));
        self.budget = budget;
        self.follow();
        Ok(())
    }

    /// Adapts the size of the cache to the memory budget of the process: smaller if usage exceeds it, up to the full size if there
    /// is room. Call it between two frames, about every second. Returns the new size if it changed.
    ///
    /// Does nothing if the device lacks `VK_EXT_memory_budget`.
    ///
    /// # Errors
    /// If the device is out of memory: the cache is unchanged then.
    pub fn adapt_to_memory_budget(&mut self) -> Result<Option<Bytes>> {
        let Some(heap) = self.heap_usage() else {
            return Ok(None);
        };
        let (least, most) = self.limits;
        let adjusted = budget::adjusted(self.budget, least, most, heap);
        if adjusted == self.budget {
            return Ok(None);
        }
        self.set_budget(adjusted)?;
        Ok(Some(adjusted))
    }

    /// Creates images for those that are bound to former allocations; allocates, but only when the size changes.
    ///
    /// # Errors
    /// If the device is out of memory; no images remain in that case.
    pub(super) fn prepare_relocation(&mut self) -> Result<Vec<(usize, Texture)>> {
        let mut moves: Vec<(usize, Texture)> = Vec::new();
        if self.former.is_empty() {
            return Ok(moves);
        }
        for (index, entry) in self.cached.iter().enumerate() {
            let (Some((offset, level)), Some(_)) = (entry.place, entry.live) else {
                continue;
            };
            let shape = &self.shapes[usize::from(entry.chain.0)];
            match self.images.make(&self.device, shape, level, self.memory, offset) {
                Ok(live) => moves.push((index, live)),
                Err(error) => {
                    self.take_back_relocation(moves);
                    return Err(error);
                }
            }
        }
        Ok(moves)
    }

    /// Destroys the images of a relocation that was not recorded.
    pub(super) fn take_back_relocation(&mut self, moves: Vec<(usize, Texture)>) {
        for (_, live) in moves {
            // SAFETY: no commands use it.
            unsafe { self.images.destroy(self.device.raw(), live) };
        }
    }

    /// Copies images that are bound to former allocations.
    ///
    /// # Safety
    /// As [`record`](TextureCache::record).
    pub(super) unsafe fn relocate(&mut self, commands: vk::CommandBuffer, moves: Vec<(usize, Texture)>) {
        if self.former.is_empty() {
            return;
        }
        self.record_moves(commands, &moves);
        for (index, live) in moves {
            let former = self.cached[index].live.replace(live);
            self.images.retire(self.frame, former.expect("it was there"));
            self.changed.push(crate::TextureId(index as u32));
        }
        self.forget_moves();
        for memory in self.former.drain(..) {
            self.images.retire_memory(self.frame, memory);
        }
    }

    fn record_moves(&self, commands: vk::CommandBuffer, moves: &[(usize, Texture)]) {
        let mut lists = BarrierLists::default();
        for &(index, live) in moves {
            lists.before.push(leaving(self.live_of(index).image));
            lists.add(live.image);
        }
        let device = self.device.raw();
        let (copying, reading) = (vk::PipelineStageFlags::TRANSFER, self.reader_stages);
        let (source, target) = (
            vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
            vk::ImageLayout::TRANSFER_DST_OPTIMAL,
        );
        barrier(device, commands, (reading | copying, copying), &lists.before);
        for &(index, live) in moves {
            let shape = &self.shapes[usize::from(self.cached[index].chain.0)].shape;
            // Levels dropped meanwhile.
            let former = self.live_of(index);
            let dropped = former.level.0 - live.level.0;
            let copies: Vec<_> = (0..=live.level.0)
                .map(|mip| {
                    let layers = |mip: u8| vk::ImageSubresourceLayers {
                        aspect_mask: vk::ImageAspectFlags::COLOR,
                        mip_level: mip.into(),
                        base_array_layer: 0,
                        layer_count: 1,
                    };
                    vk::ImageCopy {
                        src_subresource: layers(dropped + mip),
                        dst_subresource: layers(mip),
                        extent: shape.extent_at(Level(live.level.0 - mip)).into(),
                        ..Default::default()
                    }
                })
                .collect();
            // SAFETY: recording (the caller's duty); both images are alive, of one shape, and in these layouts.
            unsafe { device.cmd_copy_image(commands, former.image, source, live.image, target, &copies) };
        }
        barrier(device, commands, (copying, reading), &lists.after);
    }

    fn live_of(&self, index: usize) -> Texture {
        self.cached[index].live.expect("it was there")
    }
}
