//! Pictures without a window: a target image, its readback buffer, PNG files.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

use ash::vk;
use tileheap::frame::ResourceId;
use tileheap::runtime::import::{ImportedBuffer, ImportedImage};
use tileheap::runtime::{BoundBuffer, Imports};

use super::error::{Result, create_file, differ, file};
use super::memory::{Allocator, HostBuffer, Image, PICTURE_USAGE};
use super::output::{Output, ReadBack};

/// The target of frames without a window.
pub struct Canvas {
    pub extent: vk::Extent2D,
    pub picture: Image,
    pub texels: HostBuffer,
}

/// A picture with four bytes per texel.
pub struct Rendered {
    pub extent: vk::Extent2D,
    pub texels: Vec<u8>,
}

/// Records a copy of a whole image in `TRANSFER_SRC_OPTIMAL` to a buffer.
///
/// # Safety
/// `commands` is recording outside of a render pass, and the buffer holds the image.
pub unsafe fn copy_to_buffer(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    (image, extent): (vk::Image, vk::Extent2D),
    texels: vk::Buffer,
) {
    let layers = vk::ImageSubresourceLayers::default()
        .aspect_mask(vk::ImageAspectFlags::COLOR)
        .layer_count(1);
    let region = vk::BufferImageCopy::default()
        .image_subresource(layers)
        .image_extent(extent.into());
    let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
    // SAFETY: the caller's duty.
    unsafe { device.cmd_copy_image_to_buffer(commands, image, layout, texels, &[region]) };
}

impl Canvas {
    pub fn new<'a>(memory: impl Into<Allocator<'a>>, extent: vk::Extent2D) -> Result<Canvas> {
        let memory = memory.into();
        Ok(Canvas {
            extent,
            picture: Image::new(memory, Output::Buffer.format(), extent, PICTURE_USAGE)?,
            texels: HostBuffer::for_texels(memory, extent)?,
        })
    }

    /// Records a copy of the picture, in `TRANSFER_SRC_OPTIMAL`, to its readback buffer.
    ///
    /// # Safety
    /// `commands` is recording outside of a render pass.
    pub unsafe fn read_back(&self, device: &ash::Device, commands: vk::CommandBuffer) {
        let from = (self.picture.handle, self.extent);
        // SAFETY: the caller's duty; the buffer holds the picture.
        unsafe { copy_to_buffer(device, commands, from, self.texels.handle) };
    }

    /// The imports of a frame that reads the picture back: the picture and the readback buffer.
    pub fn imported(&self, picture: ResourceId, read_back: ReadBack) -> (ImportedImage, ImportedBuffer) {
        let image = ImportedImage {
            resource: picture,
            image: self.picture.handle,
            view: self.picture.view,
        };
        let buffer = BoundBuffer {
            handle: self.texels.handle,
            size: self.texels.size,
            ..BoundBuffer::default()
        };
        let resource = read_back.texels;
        (image, ImportedBuffer { resource, buffer })
    }

    /// Calls `with` with the [imports](Canvas::imported) of a frame that reads the picture back.
    pub fn imports<R>(
        &self,
        picture: ResourceId,
        read_back: ReadBack,
        with: impl FnOnce(&Imports<'_>) -> R,
    ) -> R {
        let (image, buffer) = self.imported(picture, read_back);
        with(&Imports {
            images: &[image],
            buffers: &[buffer],
            ..Imports::default()
        })
    }

    /// The picture of the last frame, which must be complete.
    pub fn rendered(&mut self) -> Rendered {
        Rendered {
            extent: self.extent,
            texels: self.texels.bytes().to_vec(),
        }
    }

    /// Destroys the picture and its readback buffer.
    ///
    /// # Safety
    /// The device no longer uses them.
    pub unsafe fn destroy(&self, device: &ash::Device) {
        // SAFETY: the caller's duty.
        unsafe {
            self.picture.destroy(device);
            self.texels.destroy(device);
        }
    }
}

impl Rendered {
    /// Checks that two pictures are identical; returns the number of texels of each.
    ///
    /// # Errors
    /// If some differ.
    pub fn same_texels(&self, other: &Rendered) -> Result<usize> {
        let of = self.texels.len() / 4;
        match self.different_texels(other) {
            0 => Ok(of),
            texels => Err(differ(texels, of)),
        }
    }

    /// The number of texels that differ.
    pub fn different_texels(&self, other: &Rendered) -> usize {
        let pairs = self.texels.chunks_exact(4).zip(other.texels.chunks_exact(4));
        pairs.filter(|(one, other)| one != other).count()
    }

    /// Reads a picture that [`write`](Rendered::write) wrote.
    pub fn read(path: &Path) -> Result<Rendered> {
        let source = File::open(path).map_err(|error| file(path, error))?;
        let read = || {
            let mut reader = png::Decoder::new(BufReader::new(source)).read_info()?;
            let mut texels = vec![0; reader.output_buffer_size().unwrap_or_default()];
            let info = reader.next_frame(&mut texels)?;
            Ok::<_, png::DecodingError>((info, texels))
        };
        let (info, texels) = read().map_err(|error| file(path, error))?;
        if (info.color_type, info.bit_depth) != (png::ColorType::Rgba, png::BitDepth::Eight) {
            return Err(file(path, "not an RGBA picture with 8 bits per channel"));
        }
        let (width, height) = (info.width, info.height);
        let extent = vk::Extent2D { width, height };
        Ok(Rendered { extent, texels })
    }

    pub fn write(&self, path: &Path) -> Result<()> {
        let target = BufWriter::new(create_file(path)?);
        let mut encoder = png::Encoder::new(target, self.extent.width, self.extent.height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        let written = encoder.write_header().and_then(|mut writer| {
            writer.write_image_data(&self.texels)?;
            writer.finish()
        });
        written.map_err(|error| file(path, error))
    }
}
