//! Creates the objects that the tables list: images and buffers, their memory, views.

use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};
use tileheap::frame::ResourceId;
use tileheap::lower::Lowered;
use tileheap::lower::tables::objects::{BufferRow, ImageRow, MemoryRow, Sharing, ViewRow};
use tileheap::plan::MemoryKind;

use crate::gpu::Gpu;
use crate::support::error::{Called, Result};

/// The Vulkan objects for the rows of the tables.
pub(crate) struct Objects {
    memory: Vec<Memory>,
    /// The image for each row of the image table.
    pub(crate) images: Vec<vk::Image>,
    /// The buffer for each row of the buffer table.
    pub(crate) buffers: Vec<vk::Buffer>,
    /// The views created so far, each with its row, for all tables.
    views: Vec<(ViewRow, vk::ImageView)>,
    /// For each row of the image table, then of the buffer table: the resource that the caller imports, if any.
    imported: [Vec<Option<ResourceId>>; 2],
}

/// The memory of a row of the tables.
pub(crate) enum Memory {
    /// A separate memory object, as tile memory requires.
    Own(vk::DeviceMemory),
    /// A block of gpu-allocator.
    Block(Allocation),
}

impl Memory {
    pub(crate) fn location(&self) -> (vk::DeviceMemory, vk::DeviceSize) {
        match self {
            Memory::Own(memory) => (*memory, 0),
            // SAFETY: the allocation is alive, and its memory is not freed through this handle.
            Memory::Block(block) => (unsafe { block.memory() }, block.offset()),
        }
    }
}

/// An imported object for a resource.
#[derive(Clone, Copy)]
pub(crate) enum Imported {
    Image(vk::Image),
    Buffer(vk::Buffer),
}

impl Objects {
    /// Creates and binds everything except imported resources.
    pub(crate) fn create(gpu: &Gpu, tables: &Lowered) -> Result<Objects> {
        let images = tables.images.iter().map(|row| create_image(gpu, tables, row));
        let buffers = tables.buffers.iter().map(|row| create_buffer(gpu, tables, row));
        let resource = |imported: bool, id: ResourceId| imported.then_some(id);
        let mut objects = Objects {
            memory: Vec::new(),
            images: images.collect::<Result<_>>()?,
            buffers: buffers.collect::<Result<_>>()?,
            views: Vec::new(),
            imported: [
                tables
                    .images
                    .iter()
                    .map(|row| resource(row.binding.is_imported(), row.resource))
                    .collect(),
                tables
                    .buffers
                    .iter()
                    .map(|row| resource(row.binding.is_imported(), row.resource))
                    .collect(),
            ],
        };
        for (index, row) in tables.memory.iter().enumerate() {
            let memory = objects.allocate(gpu, row, &format!("{:?} {index}", row.kind))?;
            objects.memory.push(memory);
        }
        for (row, &image) in tables.images.iter().zip(&objects.images) {
            if let Some(memory) = row.binding.memory.get() {
                let (memory, offset) = objects.memory[memory as usize].location();
                // SAFETY: the row says that the memory fits the image, which is not bound yet.
                unsafe {
                    gpu.device
                        .bind_image_memory(image, memory, offset + row.binding.offset.0)
                }
                .called("vkBindImageMemory")?;
            }
        }
        for (row, &buffer) in tables.buffers.iter().zip(&objects.buffers) {
            if let Some(memory) = row.binding.memory.get() {
                let (memory, offset) = objects.memory[memory as usize].location();
                // SAFETY: as above.
                unsafe {
                    gpu.device
                        .bind_buffer_memory(buffer, memory, offset + row.binding.offset.0)
                }
                .called("vkBindBufferMemory")?;
            }
        }
        Ok(objects)
    }

    fn allocate(&self, gpu: &Gpu, row: &MemoryRow, name: &str) -> Result<Memory> {
        let image = row.dedicated_image.get().map(|image| self.images[image as usize]);
        let buffer = row
            .dedicated_buffer
            .get()
            .map(|buffer| self.buffers[buffer as usize]);
        if let MemoryKind::Tile | MemoryKind::Lazy = row.kind {
            let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(row.flags);
            let mut dedicated = vk::MemoryDedicatedAllocateInfo::default()
                .image(image.unwrap_or_default())
                .buffer(buffer.unwrap_or_default());
            let mut info = vk::MemoryAllocateInfo::default()
                .allocation_size(row.size.0)
                .memory_type_index(row.memory_type);
            if !row.flags.is_empty() {
                info = info.push_next(&mut flags);
            }
            if image.is_some() || buffer.is_some() {
                info = info.push_next(&mut dedicated);
            }
            // SAFETY: type and size are those of the row.
            let memory = unsafe { gpu.device.allocate_memory(&info, None) };
            return Ok(Memory::Own(memory.called("vkAllocateMemory")?));
        }
        let size = match image.is_some() || buffer.is_some() {
            true => row.size,
            false => row.size.align_up(row.alignment),
        };
        let desc = AllocationCreateDesc {
            name,
            requirements: vk::MemoryRequirements {
                size: size.0,
                alignment: row.alignment.get(),
                memory_type_bits: 1 << row.memory_type,
            },
            location: MemoryLocation::Unknown,
            linear: false,
            allocation_scheme: match (image, buffer) {
                (Some(image), _) => AllocationScheme::DedicatedImage(image),
                (_, Some(buffer)) => AllocationScheme::DedicatedBuffer(buffer),
                _ => AllocationScheme::GpuAllocatorManaged,
            },
        };
        let mut allocator = gpu.allocator.lock().expect("no thread panicked with it");
        let allocator = allocator.as_mut().expect("it is destroyed last");
        Ok(Memory::Block(allocator.allocate(&desc)?))
    }

    /// Sets an imported image or buffer.
    pub(crate) fn import(&mut self, resource: ResourceId, object: Imported) {
        let [images, buffers] = &self.imported;
        for (row, _) in (0..).zip(images).filter(|(_, of)| **of == Some(resource)) {
            if let Imported::Image(image) = object {
                self.images[row] = image;
            }
        }
        for (row, _) in (0..).zip(buffers).filter(|(_, of)| **of == Some(resource)) {
            if let Imported::Buffer(buffer) = object {
                self.buffers[row] = buffer;
            }
        }
    }

    /// Creates views that do not exist yet, including those of imported images.
    pub(crate) fn create_views(&mut self, device: &ash::Device, tables: &Lowered) -> Result<()> {
        for row in &tables.views {
            if self.views.iter().any(|(known, _)| known == row) {
                continue;
            }
            let mut usage = vk::ImageViewUsageCreateInfo::default().usage(row.usage);
            let mut info = vk::ImageViewCreateInfo::default()
                .image(self.images[row.image as usize])
                .view_type(row.view_type)
                .format(row.format)
                .subresource_range(range(&row.range));
            if !row.usage.is_empty() {
                info = info.push_next(&mut usage);
            }
            // SAFETY: the image is alive, has memory, and supports this view.
            let view = unsafe { device.create_image_view(&info, None) }.called("vkCreateImageView")?;
            self.views.push((*row, view));
        }
        Ok(())
    }

    /// The view of a row.
    pub(crate) fn view(&self, row: &ViewRow) -> vk::ImageView {
        let known = self.views.iter().find(|(known, _)| known == row);
        known.expect("created with the tables").1
    }

    /// The memory of a row.
    pub(crate) fn memory(&self, row: u32) -> vk::DeviceMemory {
        self.memory[row as usize].location().0
    }

    /// # Safety
    /// The device no longer uses any of it.
    pub(crate) unsafe fn destroy(self, gpu: &Gpu) {
        let device = &gpu.device;
        let [images, buffers] = &self.imported;
        // SAFETY: the caller's duty; views are destroyed before images, images and buffers before memory; imported objects are not destroyed.
        unsafe {
            for (_, view) in &self.views {
                device.destroy_image_view(*view, None);
            }
            for (image, _) in self.images.iter().zip(images).filter(|(_, of)| of.is_none()) {
                device.destroy_image(*image, None);
            }
            for (buffer, _) in self.buffers.iter().zip(buffers).filter(|(_, of)| of.is_none()) {
                device.destroy_buffer(*buffer, None);
            }
        }
        let mut allocator = gpu.allocator.lock().expect("no thread panicked with it");
        let allocator = allocator.as_mut().expect("it is destroyed last");
        for memory in self.memory {
            match memory {
                // SAFETY: nothing is bound to it any more.
                Memory::Own(memory) => unsafe { device.free_memory(memory, None) },
                Memory::Block(block) => _ = allocator.free(block),
            }
        }
    }
}

/// Converts a range of an image; Vulkan's has counts instead of ends.
pub(crate) fn range(range: &tileheap::frame::SubresourceRange) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask: range.aspects,
        base_mip_level: range.levels.first,
        level_count: range.levels.end - range.levels.first,
        base_array_layer: range.layers.first,
        layer_count: range.layers.end - range.layers.first,
    }
}

fn sharing<'a>(tables: &'a Lowered, sharing: &Sharing) -> (vk::SharingMode, &'a [u32]) {
    match sharing.families.of(&tables.families) {
        [] => (vk::SharingMode::EXCLUSIVE, &[]),
        families => (vk::SharingMode::CONCURRENT, families),
    }
}

fn create_image(gpu: &Gpu, tables: &Lowered, row: &ImageRow) -> Result<vk::Image> {
    if row.binding.is_imported() {
        return Ok(vk::Image::null());
    }
    let (mode, families) = sharing(tables, &row.sharing);
    let formats = row.view_formats.of(&tables.formats);
    let mut list = vk::ImageFormatListCreateInfo::default().view_formats(formats);
    let mut info = vk::ImageCreateInfo::default()
        .flags(row.flags)
        .image_type(row.image_type)
        .format(row.format)
        .extent(row.extent)
        .mip_levels(row.mip_levels)
        .array_layers(row.array_layers)
        .samples(row.samples)
        .tiling(row.tiling)
        .usage(row.usage)
        .sharing_mode(mode)
        .queue_family_indices(families);
    if !formats.is_empty() {
        info = info.push_next(&mut list);
    }
    // SAFETY: the tables were checked.
    unsafe { gpu.device.create_image(&info, None) }.called("vkCreateImage")
}

fn create_buffer(gpu: &Gpu, tables: &Lowered, row: &BufferRow) -> Result<vk::Buffer> {
    if row.binding.is_imported() {
        return Ok(vk::Buffer::null());
    }
    let (mode, families) = sharing(tables, &row.sharing);
    let info = vk::BufferCreateInfo::default()
        .size(row.size.0)
        .usage(row.usage)
        .sharing_mode(mode)
        .queue_family_indices(families);
    // SAFETY: the tables were checked.
    unsafe { gpu.device.create_buffer(&info, None) }.called("vkCreateBuffer")
}
