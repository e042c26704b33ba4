#![doc = include_str!("../../docs/vulkan.md")]

mod budget;
mod cache;
mod commands;
mod follow;
mod image;
mod moves;
mod shape;
mod staging;
mod state;
mod transfer;
mod upload;

pub use budget::HeapUsage;
pub use cache::TextureCacheDesc;
pub use image::Texture;
pub use shape::{Layers, TextureShape};
pub use state::TextureCache;
pub use upload::{RecordedUploads, TexelSource};
