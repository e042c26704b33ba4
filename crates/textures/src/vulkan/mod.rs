//! Streamed textures: a [cache](crate) of real images in one allocation, under budgets of memory and of uploads.
//!
//! ```text
//! begin ──► request, request, … ──► record ─────────────────────► texture, texture, …  ──► end
//! frees     a policy decides        images at block offsets,      what to draw with,
//! what is   who is there, and       texels by way of a staging    or nothing yet
//! complete  who has to wait         ring, barriers
//! ```
//! The caller numbers its frames 1, 2, 3, … and says which are complete; nothing is destroyed, and no staging memory written
//! again, before the last frame that uses it is. Bytes pass from one image to the next by barriers alone: on one queue a new
//! image starts from `UNDEFINED` behind the reads of earlier frames; with a [`TransferQueue`] uploads wait for the frame before
//! by its semaphore, and images change their owner.
//!
//! Frames upload [`TextureCacheDesc::uploads`] bytes: what does not fit waits, and coarser levels stand in
//! ([`UploadLimiter`](crate::UploadLimiter)). Requests are served in their order, so the nearest come first. A texture at level n
//! is an image of n + 1 levels: shaders that compute levels from its size need know nothing of it.
//!
//! ```no_run
//! # use ash::vk;
//! # use tileheap_textures::{ChainId, Level};
//! # use tileheap::runtime::{Device};
//! # use tileheap_textures::vulkan::{TextureCache, TextureCacheDesc, TextureShape};
//! # use tileheap_textures::units::Bytes;
//! # fn main() -> crate::Result<()> {
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
//! cache.begin(frame, complete)?;
//! cache.request(grass, Level(8))?; // as near as that; the most urgent first
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
//! Renderers with one large array of descriptors write theirs by [`TextureCache::changed`], into the part of it that no frame
//! under way reads.
//!
//! # Memory
//! The cache is one allocation of [`TextureCacheDesc::budget`]. [`TextureCache::adapt_to_memory_budget`] asks the system
//! (`VK_EXT_memory_budget`) and shrinks the cache while the system is short of memory. Another size is another allocation: what
//! stays is copied on the device, at its old offset, and for some frames both are there.
//!
//! # MoveBuffer
//! Policies that move textures within the cache, or drop their finest levels, work by copies on the device: each texture that moves
//! gets an image at its new place, and its texels go by way of a buffer of [`TextureCacheDesc::moves`]. Its descriptor set changes.
//!
//! # Not done
//! Sparse residency; policies that upload single levels ([`PolicyDesc::uploads_whole`](crate::PolicyDesc::uploads_whole) says
//! which do not), since a texture is one image here; policies that move textures beside a transfer queue; several threads.

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
pub use cache::{Texture, TextureCacheDesc};
pub use shape::TextureShape;
pub use state::TextureCache;
pub use transfer::TransferQueue;
pub use upload::{RecordedUploads, TexelSource};
