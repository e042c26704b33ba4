//! The objects of a cache and their destruction.

use std::fmt;
use std::time::Duration;

use ash::vk;

use super::commands::BarrierLists;
use super::image::{Images, Texture};
use super::shape::{Shape, unsupported};
use super::staging::Staging;
use super::transfer::Transfer;
use crate::Result;
use crate::limiter::UploadLimiter;
use crate::{Level, MipChainId, TextureId, TextureTable};
use tileheap::runtime::Device;
use tileheap::runtime::objects::{OwnedObjects, allocate_memory};
use tileheap::units::Bytes;

/// The state of a texture, or of one of its levels if each has a separate image; by index in `cached`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CachedTexture {
    pub(super) chain: MipChainId,
    /// The image in use; `None` until its first levels are uploaded.
    pub(super) live: Option<Texture>,
    /// The other image, or the view of more levels, that replaces `live` from the recorded frame on.
    pub(super) next: Option<Texture>,
    /// True if the entry is in `changing`.
    pub(super) is_listed: bool,
}

/// The state of a texture as a whole, whether or not its levels are separate images.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TextureUse {
    /// The last frame that may use the texture.
    pub(super) used: u64,
    /// The texture that is drawn while this one is not resident.
    pub(super) fallback: Option<TextureId>,
    /// For separate levels: the finest level up to which all levels are resident, with a set of all their views; and its replacement.
    pub(super) level_set: Option<Texture>,
    pub(super) next: Option<Texture>,
}

/// Streamed textures in device memory; see the [module](super).
pub struct TextureCache {
    pub(super) device: Device,
    pub(super) shapes: Vec<Shape>,
    pub(super) textures: TextureTable,
    pub(super) limiter: UploadLimiter,
    /// The state of each texture: `parts` entries, either one or one for each level.
    pub(super) cached: Vec<CachedTexture>,
    pub(super) parts: usize,
    pub(super) uses: Vec<TextureUse>,
    pub(super) images: Images,
    pub(super) staging: Staging,
    /// Buffers of `staging` and `moves`.
    pub(super) owned: OwnedObjects,
    pub(super) transfer: Option<Transfer>,
    pub(super) moves: Moves,
    pub(super) memory: vk::DeviceMemory,
    pub(super) memory_type: u32,
    /// Former allocations, which the next recorded frame copies from.
    pub(super) former: Vec<vk::DeviceMemory>,
    pub(super) budget: Bytes,
    pub(super) limits: (Bytes, Bytes),
    pub(super) budget_extension: bool,
    pub(super) reader_stages: vk::PipelineStageFlags,
    pub(super) frame: u64,
    pub(super) complete: u64,
    /// Entries of `cached` whose image differs from the policy's placement.
    pub(super) changing: Vec<usize>,
    /// Entries with a `next`.
    pub(super) replaced: Vec<usize>,
    /// Textures with separate levels that need another set.
    pub(super) outdated_level_sets: Vec<TextureId>,
    pub(super) changed: Vec<TextureId>,
    /// The number of entries of `changed` in the previous frame.
    pub(super) reported: usize,
    /// The uploads and barriers that are recorded with the frame, and those on the transfer queue.
    pub(super) lists: BarrierLists,
    pub(super) sent: BarrierLists,
    /// The last frame that may use a former image, and that image's byte range `[first, end)`.
    pub(super) in_use: Vec<(u64, u64, u64)>,
    /// The maximum number of bytes, and the maximum time for writing texels, that a frame spends on uploads.
    pub(super) uploads: Bytes,
    pub(super) upload_time: Option<Duration>,
    pub(super) destroyed: bool,
}

impl TextureCache {
    /// The texture and part of an entry of `cached`.
    pub(super) fn texture_of(&self, entry: usize) -> (TextureId, Level) {
        (
            TextureId((entry / self.parts) as u32),
            Level((entry % self.parts) as u8),
        )
    }

    /// The policy's placement of an entry of `cached`.
    pub(super) fn place(&self, entry: usize) -> Option<(Bytes, Level)> {
        let (texture, part) = self.texture_of(entry);
        self.limiter.part(texture, part)
    }

    /// Bytes of the image of a texture at a level, or of that single level.
    pub(super) fn size(&self, chain: MipChainId, level: Level) -> Option<Bytes> {
        let geometry = self.textures.geometry();
        let first = self.shapes[usize::from(chain.0)].first(level).0;
        let below = first
            .checked_sub(1)
            .map_or(Some(Bytes::ZERO), |below| geometry.size(chain, Level(below)))?;
        Some(geometry.size(chain, level)? - below)
    }

    /// Creates the image of an entry at the policy's placement.
    pub(super) fn make_image(&self, chain: MipChainId, (offset, level): (Bytes, Level)) -> Result<Texture> {
        let end = offset + self.size(chain, level).expect("every placed level exists");
        let shape = &self.shapes[usize::from(chain.0)];
        Images::make(self.device.raw(), shape, level, self.memory, (offset.0, end.0))
    }

    /// Allocates memory for the whole cache.
    pub(super) fn allocate(&self, budget: Bytes) -> Result<vk::DeviceMemory> {
        let profile = self.device.profile();
        let heap = &profile.heaps[profile.memory_types[self.memory_type as usize].heap as usize];
        if budget > heap.size {
            let why = format!("its memory heap has only {}", heap.size);
            return Err(unsupported(format!("a texture cache of {budget}"), why));
        }
        // SAFETY: a type of the device, and not above its heap.
        Ok(unsafe { allocate_memory(self.device.raw(), budget, self.memory_type, "a texture cache") }?)
    }

    /// # Safety
    /// None of its objects is in use.
    pub(super) unsafe fn destroy_all(&mut self) {
        let device = self.device.raw();
        for entry in &mut self.cached {
            if let Some(live) = entry.live.take() {
                // SAFETY: the caller's duty.
                unsafe { self.images.destroy(device, live) };
            }
        }
        // SAFETY: the caller's duty.
        unsafe { self.images.destroy_all(device) };
        // SAFETY: as above.
        unsafe { self.owned.destroy() };
        if let Some(transfer) = &mut self.transfer {
            // SAFETY: as above.
            unsafe { transfer.destroy(device) };
        }
        for memory in self.former.drain(..).chain([self.memory]) {
            // SAFETY: no image is bound to it any more; null is ignored.
            unsafe { device.free_memory(memory, None) };
        }
        self.destroyed = true;
    }
}

impl fmt::Debug for TextureCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextureCache")
            .field("budget", &self.budget)
            .field("frame", &self.frame)
            .finish_non_exhaustive()
    }
}

impl Drop for TextureCache {
    fn drop(&mut self) {
        if !self.destroyed {
            tracing::warn!("TextureCache dropped without TextureCache::destroy: its images and memory leak");
        }
    }
}

/// A move of a texture: from one image to another, through [`Moves::buffer`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) from: vk::Image,
    pub(super) to: vk::Image,
    /// Index of the move's first region in `out` and `back`, and the number of its regions.
    pub(super) first: usize,
    pub(super) count: usize,
}

/// The buffer through which textures are copied (none for policies that do not relocate), and the moves of a frame.
#[derive(Default)]
pub(super) struct Moves {
    pub(super) buffer: vk::Buffer,
    pub(super) size: u64,
    pub(super) listed: Vec<Move>,
    pub(super) leaving: Vec<vk::ImageMemoryBarrier<'static>>,
    /// Copy regions from old images to the buffer, those from the buffer to new images, and the end of the used bytes of the buffer.
    pub(super) out: Vec<vk::BufferImageCopy>,
    pub(super) back: Vec<vk::BufferImageCopy>,
    pub(super) end: u64,
}
