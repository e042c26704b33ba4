//! The program's objects for external resources and semaphores of a frame.

use ash::vk;
use tileheap::frame::{Frame, SubresourceRange};
use tileheap::runtime::BoundBuffer;
use tileheap::runtime::import as own;
use tileheap::units::Run;

use crate::describe::nth;
use crate::status::Fault;
use crate::strings::counted;
use crate::structs::{Array, plain_elements, read_optional, reserved, sized};
use crate::vulkan::VulkanSemaphore;

sized! { Input: Imports to semaphores; }

/// An external image.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ImportedImage {
    /// The index of the resource.
    pub resource: u32,
    /// Zero.
    pub reserved: u32,
    /// The image, of the described format, extent and usage.
    pub image: vk::Image,
    /// A view of the whole image, usable as an attachment if the frame uses the image as one. If all passes use the same part of the image, the view
    /// may show only that part.
    pub view: vk::ImageView,
}

/// A view of a part of an external image, for images that passes use in several parts.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ImportedView {
    /// The index of the resource.
    pub resource: u32,
    /// The levels and layers, exactly as an access describes them; aspects are ignored.
    pub range: vk::ImageSubresourceRange,
    /// The view.
    pub view: vk::ImageView,
}

/// An external buffer.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ImportedBuffer {
    /// The index of the resource.
    pub resource: u32,
    /// Zero.
    pub reserved: u32,
    /// The buffer.
    pub buffer: vk::Buffer,
    /// The offset of the resource's first byte in the buffer.
    pub offset: vk::DeviceSize,
    /// The size of the resource in bytes.
    pub size: vk::DeviceSize,
    /// The device address of the first byte, for frames that use one; else 0.
    pub address: vk::DeviceAddress,
}

/// An external semaphore.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ImportedSemaphore {
    /// The index of the frame's semaphore.
    pub semaphore: u32,
    /// Zero.
    pub reserved: u32,
    /// The semaphore.
    pub handle: VulkanSemaphore,
    /// For a timeline semaphore, the value to wait for or signal; 0 for a binary one.
    pub value: u64,
}

/// The program's objects for the external resources and semaphores of one frame.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Imports {
    /// `sizeof(ThImports)`.
    pub struct_size: u32,
    /// The number of elements of `images`.
    pub image_count: u32,
    /// Images, one for every external image that a pass uses.
    pub images: *const ImportedImage,
    /// The number of elements of `views`.
    pub view_count: u32,
    /// The number of elements of `buffers`.
    pub buffer_count: u32,
    /// Views of parts of external images.
    pub views: *const ImportedView,
    /// Buffers, one for every external buffer that a pass uses.
    pub buffers: *const ImportedBuffer,
    /// The number of elements of `semaphores`.
    pub semaphore_count: u32,
    /// Zero.
    pub reserved: u32,
    /// Semaphores, one for every external semaphore that a batch waits for or signals.
    pub semaphores: *const ImportedSemaphore,
}

/// Imports converted to Rust types, in reused memory.
#[derive(Default)]
pub(crate) struct ImportLists {
    images: Vec<own::ImportedImage>,
    views: Vec<own::ImportedView>,
    buffers: Vec<own::ImportedBuffer>,
    semaphores: Vec<own::ImportedSemaphore>,
}

impl ImportLists {
    /// Reads the imports of a call; none for a null pointer.
    ///
    /// # Safety
    /// The pointer is null or points to a structure whose arrays have as many elements as it says.
    pub(crate) unsafe fn read(&mut self, imports: *const Imports, frame: &Frame) -> Result<(), Fault> {
        self.images.clear();
        self.views.clear();
        self.buffers.clear();
        self.semaphores.clear();
        // SAFETY: the caller's duty.
        let Some(imports) = unsafe { read_optional(imports) }? else {
            return Ok(());
        };
        // SAFETY: the caller's duty.
        unsafe { self.add(&imports, frame) }.map_err(|fault| fault.within("ThImports"))
    }

    unsafe fn add(&mut self, imports: &Imports, frame: &Frame) -> Result<(), Fault> {
        let resource =
            |index| nth(frame.resource_ids(), index, "resource").map_err(|fault| fault.within("resource"));
        reserved(imports.reserved)?;
        // SAFETY: the caller's duty.
        let images = unsafe { plain_elements(imports.images, imports.image_count, IMAGES) }?;
        for (index, image) in images.enumerate() {
            let checked = check(image.reserved, image.image == vk::Image::null(), "image");
            let resource = checked.and_then(|()| resource(image.resource));
            self.images.push(own::ImportedImage {
                resource: resource.map_err(|fault| fault.at("images", index))?,
                image: image.image,
                view: image.view,
            });
        }
        // SAFETY: the caller's duty.
        let views = unsafe { plain_elements(imports.views, imports.view_count, VIEWS) }?;
        for (index, view) in views.enumerate() {
            let checked = check(0, view.view == vk::ImageView::null(), "view");
            let part = checked
                .and_then(|()| resource(view.resource))
                .and_then(|resource| {
                    let range = range(&view.range, frame.resource(resource).whole());
                    Ok((resource, range.map_err(|fault| fault.within("range"))?))
                });
            let (resource, range) = part.map_err(|fault| fault.at("views", index))?;
            self.views.push(own::ImportedView {
                resource,
                range,
                view: view.view,
            });
        }
        // SAFETY: the caller's duty.
        let buffers = unsafe { plain_elements(imports.buffers, imports.buffer_count, BUFFERS) }?;
        for (index, buffer) in buffers.enumerate() {
            let checked = check(buffer.reserved, buffer.buffer == vk::Buffer::null(), "buffer");
            let resource = checked.and_then(|()| resource(buffer.resource));
            self.buffers.push(own::ImportedBuffer {
                resource: resource.map_err(|fault| fault.at("buffers", index))?,
                buffer: BoundBuffer {
                    handle: buffer.buffer,
                    offset: buffer.offset,
                    size: buffer.size,
                    address: buffer.address,
                },
            });
        }
        let (first, count) = (imports.semaphores, imports.semaphore_count);
        // SAFETY: the caller's duty.
        let semaphores = unsafe { plain_elements(first, count, SEMAPHORES) }?;
        for (index, import) in semaphores.enumerate() {
            let checked = check(import.reserved, import.handle == vk::Semaphore::null(), "handle");
            let semaphore = checked.and_then(|()| {
                let found = nth(frame.semaphore_ids(), import.semaphore, "semaphore");
                found.map_err(|fault| fault.within("semaphore"))
            });
            self.semaphores.push(own::ImportedSemaphore {
                semaphore: semaphore.map_err(|fault| fault.at("semaphores", index))?,
                handle: import.handle,
                value: import.value,
            });
        }
        Ok(())
    }

    pub(crate) fn get(&self) -> tileheap::runtime::Imports<'_> {
        tileheap::runtime::Imports {
            images: &self.images,
            views: &self.views,
            buffers: &self.buffers,
            semaphores: &self.semaphores,
        }
    }
}

const IMAGES: Array = Array("images", "imageCount");
const VIEWS: Array = Array("views", "viewCount");
const BUFFERS: Array = Array("buffers", "bufferCount");
const SEMAPHORES: Array = Array("semaphores", "semaphoreCount");

/// Checks the reserved field of an import, and that its handle is not null.
fn check(unused: u32, is_null: bool, handle: &str) -> Result<(), Fault> {
    match is_null {
        true => Err(Fault::null(handle)),
        false => reserved(unused),
    }
}

/// The levels and layers of a range; an open end extends to the last one.
fn range(range: &vk::ImageSubresourceRange, whole: SubresourceRange) -> Result<SubresourceRange, Fault> {
    let run = |what: &str, first: u32, count: u32, all: Run| {
        let end = match count {
            0 | vk::REMAINING_MIP_LEVELS => all.end,
            _ => first.saturating_add(count),
        };
        match first < end && end <= all.end {
            true => Ok(Run::new(first, end)),
            false => Err(Fault::argument(format!(
                "{what} {first} with a count of {count} is out of range: the resource has {}",
                counted(all.end as usize, what)
            ))),
        }
    };
    Ok(SubresourceRange {
        aspects: range.aspect_mask,
        levels: run("level", range.base_mip_level, range.level_count, whole.levels)?,
        layers: run("layer", range.base_array_layer, range.layer_count, whole.layers)?,
    })
}
