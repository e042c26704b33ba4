//! Streamed textures: a [cache](crate) of images in one allocation, under a memory budget and an upload budget.
//!
//! ```text
//! begin ──► request, request, … ──► record ─────────────────────► texture, texture, …  ──► end
//! frees     a policy places         images at block offsets,      image, view and
//! what is   and evicts, uploads     texels through a staging      descriptor set, if
//! complete  wait for the budget     ring, barriers                resident
//! ```
//! The caller numbers its frames 1, 2, 3, … and passes the newest complete one; nothing is destroyed, and no staging memory is
//! reused, before the last frame that uses it is complete. Images alias memory by barriers alone: on one queue a new image starts
//! from `UNDEFINED` after the reads of earlier frames; with a [`TransferQueue`] uploads wait for the previous frame by its
//! semaphore, followed by a queue family ownership transfer.
//!
//! Frames upload [`TextureCacheDesc::uploads`] bytes; textures that exceed it wait, and coarser levels stand in
//! ([`UploadLimiter`](crate::limiter::UploadLimiter)). Requests are served in order, so pass the nearest first. A texture at level n is an
//! image with n + 1 mip levels, so shaders that compute levels from its size need no changes.
//!
//! ```no_run
//! # use ash::vk;
//! # use tileheap_textures::{ChainId, Level};
//! # use tileheap::runtime::{Device};
//! # use tileheap_textures::vulkan::{TextureCache, TextureCacheDesc, TextureShape};
//! # use tileheap_textures::units::Bytes;
//! # fn main() -> tileheap_textures::Result<()> {
//! # let (device, commands, layout): (Device, vk::CommandBuffer, vk::PipelineLayout) = unreachable!();
//! # fn paint(texels: &mut [u8]) {}
//! let extent = vk::Extent2D { width: 256, height: 256 };
//! let shapes = [TextureShape { format: vk::Format::R8G8B8A8_SRGB, extent }];
//! let desc = TextureCacheDesc {
//!     uploads: Bytes::kib(512),
//!     ..TextureCacheDesc::new(&shapes, Bytes::mib(64))
//! };
//! let mut cache = TextureCache::new(&device, &desc)?;
//! // Pipelines: `cache.set_layout()` is a set with one sampled image at binding 0.
//! let grass = cache.next_id();
//! cache.create(grass, ChainId(0))?;
//!
//! // Every frame; here the first, so that none is complete:
//! let (frame, complete) = (1, 0);
//! // SAFETY: nothing was submitted that is said to be complete.
//! unsafe { cache.begin(frame, complete) }?;
//! cache.request(grass, Level(8))?; // the finest level needed; the most urgent texture first
//! // SAFETY: recording, outside render passes, before the draws.
//! unsafe { cache.record(commands, &mut |_texture, _level, texels: &mut [u8]| paint(texels)) }?;
//! if let Some(texture) = cache.texture(grass) {
//!     let (raw, graphics) = (device.raw(), vk::PipelineBindPoint::GRAPHICS);
//!     // SAFETY: recording; the set is of the layout's first set.
//!     unsafe { raw.cmd_bind_descriptor_sets(commands, graphics, layout, 0, &[texture.set], &[]) };
//!     // … and draw.
//! }
//! cache.end();
//! # Ok(()) }
//! ```
//! Renderers with one large descriptor array update it from [`TextureCache::changed`], in a part that no pending frame reads.
//!
//! # Memory
//! The cache is one allocation of [`TextureCacheDesc::budget`]. [`TextureCache::adapt_to_memory_budget`] queries
//! `VK_EXT_memory_budget` and shrinks the cache while the system is short of memory. Resizing makes another allocation: resident
//! textures are copied on the device to the same offsets, and for some frames both allocations exist.
//!
//! # Policies
//! Any [`PolicyDesc`](crate::PolicyDesc) that uploads textures whole, built in or of your own. Those that relocate textures, or drop
//! their finest levels, need copies on the device: a moved texture gets an image at its new offset, its texels are copied through
//! a buffer of [`TextureCacheDesc::move_buffer`] bytes, and its descriptor set changes.
//!
//! # Not done
//! Sparse residency; policies that upload single levels, since a texture is one image; policies that relocate textures together
//! with a transfer queue; use from several threads.

mod budget;
mod cache;
mod commands;
mod follow;
mod image;
mod move_buffer;
mod moves;
mod relocate;
mod shape;
mod staging;
mod state;
mod transfer;
mod upload;

pub use budget::HeapUsage;
pub use cache::TextureCacheDesc;
pub use image::Texture;
pub use shape::TextureShape;
pub use state::TextureCache;
pub use transfer::TransferQueue;
pub use upload::{RecordedUploads, TexelSource};
