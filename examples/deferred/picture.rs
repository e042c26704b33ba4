//! Without a window: frames are rendered to an image and read back; the last one becomes a file.

use std::io::BufWriter;
use std::path::Path;
use std::time::{Duration, Instant};

use ash::vk;
use tileheap::plan::{Plan, PlanOptions};
use tileheap::runtime::{Buffer, Device, ImportedBuffer, ImportedImage, Imports};

use crate::fault::{Result, create_file, file};
use crate::frame::Output;
use crate::memory::{HostBuffer, Picture};
use crate::renderer::Renderer;
use crate::scene::Scene;

/// A picture, four bytes a texel.
pub(crate) struct Rendered {
    pub(crate) extent: vk::Extent2D,
    pub(crate) texels: Vec<u8>,
    /// Of all frames together.
    pub(crate) took: Duration,
}

/// Renders so many frames, and gives the last one. `planned` sees the plan before anything is rendered.
pub(crate) fn render(
    tile: &Device,
    scene: Scene,
    extent: vk::Extent2D,
    frames: u32,
    options: PlanOptions,
    planned: impl FnOnce(&Plan),
) -> Result<Rendered> {
    let mut renderer = Renderer::new(tile, scene, extent, Output::Buffer, options)?;
    planned(renderer.plan());
    let picture = Picture::new(tile, Output::Buffer.format(), extent)?;
    let size = u64::from(extent.width) * u64::from(extent.height) * 4;
    let mut texels = HostBuffer::new(tile, size, vk::BufferUsageFlags::TRANSFER_DST)?;

    let read_back = renderer
        .deferred()
        .read_back
        .expect("the frame was described with one");
    let images = [ImportedImage {
        resource: renderer.deferred().picture,
        image: picture.image,
        view: picture.view,
    }];
    let buffer = Buffer {
        handle: texels.handle,
        size,
        ..Buffer::default()
    };
    let buffers = [ImportedBuffer {
        resource: read_back.texels,
        buffer,
    }];
    let imports = Imports {
        images: &images,
        buffers: &buffers,
        ..Imports::default()
    };

    let start = Instant::now();
    for _ in 0..frames {
        // SAFETY: image and buffer are the frame's alone, and are destroyed after the last one.
        unsafe { renderer.draw(&imports) }?;
    }
    renderer.wait_idle()?;
    let took = start.elapsed();

    let rendered = Rendered {
        extent,
        texels: texels.bytes().to_vec(),
        took,
    };
    renderer.destroy()?;
    // SAFETY: every frame was waited for.
    unsafe {
        picture.destroy(tile.raw());
        texels.destroy(tile.raw());
    }
    Ok(rendered)
}

impl Rendered {
    /// How many texels differ.
    pub(crate) fn differences(&self, other: &Rendered) -> usize {
        let pairs = self.texels.chunks_exact(4).zip(other.texels.chunks_exact(4));
        pairs.filter(|(one, other)| one != other).count()
    }

    /// Writes a PNG file.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let target = BufWriter::new(create_file(path)?);
        let mut encoder = png::Encoder::new(target, self.extent.width, self.extent.height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        let mut writer = encoder.write_header().map_err(|error| file(path, error))?;
        writer
            .write_image_data(&self.texels)
            .map_err(|error| file(path, error))?;
        writer.finish().map_err(|error| file(path, error))
    }
}
