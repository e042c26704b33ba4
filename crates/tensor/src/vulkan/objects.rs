//! The images and buffers of a planned graph: one memory object per memory of the plan, images bound at the plan's offsets,
//! buffers as ranges of a single buffer; constants in separate memory.

use std::collections::BTreeMap;

use ash::vk;

use super::hazards::Space;
use super::host::HostBuffer;
use super::measure::{BUFFER_USAGE, IMAGE_USAGE, format, image_info, supported_image};
use crate::error::{Error, Result};
use crate::graph::{ElementType, Graph, TensorId};
use crate::layout::{ImageExtent, Layout, Storage};
use crate::plan::{Backing, Placement, Region, TensorPlan};
use tileheap::runtime::objects::{
    MemoryDesc, MemoryRequirements, OneShotCommands, OwnedObjects, VkResultExt, full_subresource_range,
    image_barrier,
};
use tileheap::runtime::{Device, RuntimeError};
use tileheap::units::{Alignment, Bytes};

/// The image or buffer range bound as a kernel's operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum StorageObject {
    /// An image with its view.
    Image { handle: vk::Image, view: vk::ImageView },
    /// A range of a buffer.
    Buffer {
        handle: vk::Buffer,
        offset: u64,
        size: u64,
    },
}

/// The key of an image: its location, format and extent. Tensors that use the same bytes in turn without a copy share an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct ImageKey {
    memory: u32,
    offset: u64,
    half: bool,
    array: bool,
    extent: (u64, u64, u64),
}

/// A constant on the device.
pub(super) struct Constant {
    pub(super) resource: StorageObject,
    pub(super) layout: Layout,
}

/// The objects of a network's memory.
pub(super) struct Objects {
    pub(super) owned: OwnedObjects,
    /// For each memory of the plan, the buffer over all of it, if it holds a tensor in a buffer.
    buffers: Vec<Option<vk::Buffer>>,
    images: BTreeMap<ImageKey, StorageObject>,
    pub(super) constants: BTreeMap<TensorId, Constant>,
    /// Vectors of zeros, for absent biases.
    pub(super) zeros: Option<StorageObject>,
}

/// Data that is uploaded once.
pub(super) struct Upload {
    /// The constant; `None` for zeros.
    pub(super) tensor: Option<TensorId>,
    pub(super) name: String,
    pub(super) layout: Layout,
    /// The texels in their layout.
    pub(super) bytes: Vec<u8>,
}

fn image_key(region: Region, layout: &Layout) -> ImageKey {
    let extent = layout.extent;
    ImageKey {
        memory: region.memory.0,
        offset: region.offset.0,
        half: layout.element == ElementType::Float16,
        array: layout.rule.storage == Storage::ImageArray,
        extent: (extent.width, extent.height, extent.layers),
    }
}

impl Objects {
    pub(super) fn new(device: &Device) -> Objects {
        Objects {
            owned: device.owned_objects(),
            buffers: Vec::new(),
            images: BTreeMap::new(),
            constants: BTreeMap::new(),
            zeros: None,
        }
    }

    /// The object that holds a tensor of `layout` at `region`.
    pub(super) fn at(&self, region: Region, layout: &Layout) -> Option<StorageObject> {
        if layout.rule.storage.is_image() {
            return self.images.get(&image_key(region, layout)).copied();
        }
        let handle = (*self.buffers.get(region.memory.0 as usize)?)?;
        Some(StorageObject::Buffer {
            handle,
            offset: region.offset.0,
            size: layout.bytes().0.max(16),
        })
    }

    /// The address space and the byte range of a region of a plan.
    pub(super) fn bytes_at(region: Region) -> (Space, std::ops::Range<u64>) {
        let start = region.offset.0;
        (Space::Memory(region.memory.0), start..start + region.size.0)
    }

    /// Creates the objects of the plan; `self` owns them even if an error occurs.
    pub(super) fn create(&mut self, device: &Device, graph: &Graph, plan: &TensorPlan) -> Result<()> {
        let mut needs: Vec<CombinedRequirements> = plan
            .memories
            .iter()
            .map(|_| CombinedRequirements::default())
            .collect();
        self.buffers = vec![None; plan.memories.len()];
        let mut bare: BTreeMap<ImageKey, (vk::Image, vk::Format, &str)> = BTreeMap::new();
        for (tensor, placed) in graph.tensors().iter().zip(&plan.tensors) {
            let place = placed
                .placement
                .iter()
                .filter(|_| placed.backing == Backing::Planned);
            for region in place.flat_map(Placement::regions) {
                let needs = &mut needs[region.memory.0 as usize];
                if !placed.layout.rule.storage.is_image() {
                    needs.has_buffers = true;
                    continue;
                }
                let key = image_key(region, &placed.layout);
                if bare.contains_key(&key) {
                    continue;
                }
                let format = format(&tensor.name, placed.layout.element)?;
                let info = image_info(format, placed.layout.extent, IMAGE_USAGE);
                // SAFETY: it was measured, and is within the device's limits.
                let (image, answer) = unsafe { self.owned.create_image(&tensor.name, &info) }?;
                fits(&tensor.name, region, &answer)?;
                needs.add(&answer);
                bare.insert(key, (image, format, &tensor.name));
            }
        }
        for (index, (memory, needs)) in plan.memories.iter().zip(&mut needs).enumerate() {
            if needs.has_buffers && memory.size > Bytes::ZERO {
                let info = vk::BufferCreateInfo::default()
                    .size(memory.size.0.next_multiple_of(16))
                    .usage(BUFFER_USAGE);
                // SAFETY: the size is not 0.
                let (buffer, answer) = unsafe { self.owned.create_buffer(&memory.name, &info) }?;
                needs.add(&answer);
                self.buffers[index] = Some(buffer);
            }
        }
        for (index, (memory, needs)) in plan.memories.iter().zip(&needs).enumerate() {
            if memory.size == Bytes::ZERO {
                continue;
            }
            let size = memory
                .size
                .max(needs.min_size)
                .align_up(Alignment::new(16).expect("not 0"));
            let (memory_object, start) = self.allocate(device, &memory.name, needs, size)?;
            if let Some(buffer) = self.buffers[index] {
                // SAFETY: created above and not bound yet; the block is as large, and of a type it takes.
                unsafe { bind_buffer(device, &memory.name, buffer, (memory_object, start)) }?;
            }
            for (key, &(image, format, name)) in bare.iter().filter(|(key, _)| key.memory as usize == index) {
                let place = (memory_object, start + key.offset);
                // SAFETY: created above and not bound yet; size, alignment and type were compared.
                let bound =
                    unsafe { bind_image(device, &mut self.owned, name, image, place, (key.array, format)) };
                self.images.insert(*key, bound?);
            }
        }
        Ok(())
    }

    fn allocate(
        &mut self,
        device: &Device,
        name: &str,
        needs: &CombinedRequirements,
        size: Bytes,
    ) -> Result<(vk::DeviceMemory, vk::DeviceSize)> {
        let (profile, wanted) = (device.profile(), vk::MemoryPropertyFlags::DEVICE_LOCAL);
        let possible = needs.type_bits & profile.ordinary_type_bits();
        let local = possible & profile.type_bits(|kind| kind.flags.contains(wanted));
        if possible == 0 {
            let memory = name.to_owned();
            return Err(Error::MemoryType { memory });
        }
        let memory_type = if local == 0 { possible } else { local }.trailing_zeros();
        let desc = MemoryDesc::new(name, memory_type, size, needs.alignment);
        Ok(self.owned.allocate(&desc)?.location())
    }

    /// Creates constants and uploads them.
    pub(super) fn upload(&mut self, device: &Device, constants: Vec<Upload>) -> Result<()> {
        if constants.is_empty() {
            return Ok(());
        }
        let mut needs = CombinedRequirements::default();
        let granularity = device.profile().limits.buffer_image_granularity;
        let mut end = Bytes::ZERO;
        let mut staged = 0;
        let mut made = Vec::with_capacity(constants.len());
        for upload in &constants {
            let size = upload.bytes.len() as u64;
            let (bare, answer) = self.create_constant(device, upload)?;
            needs.add(&answer);
            let offset = end
                .align_up(answer.alignment)
                .align_up(granularity)
                .align_up(answer.alignment);
            end = offset + answer.size;
            made.push((bare, offset.0, staged));
            staged += size.next_multiple_of(16);
        }
        let (memory, start) = self.allocate(device, "constants", &needs, end)?;
        let mut staging = HostBuffer::new(device, staged)?;
        let done = self.upload_into(device, constants, &made, (memory, start), &mut staging);
        // SAFETY: the upload was waited for, or not submitted.
        unsafe { staging.destroy() };
        done
    }

    fn create_constant(
        &mut self,
        device: &Device,
        upload: &Upload,
    ) -> Result<(StorageObject, MemoryRequirements)> {
        let Upload { name, layout, .. } = upload;
        if layout.rule.storage.is_image() {
            let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
            let format = format(name, layout.element)?;
            return create_image(device, &mut self.owned, name, format, layout.extent, usage);
        }
        let usage = BUFFER_USAGE | vk::BufferUsageFlags::TRANSFER_DST;
        create_buffer(&mut self.owned, name, upload.bytes.len() as u64, usage)
    }

    fn upload_into(
        &mut self,
        device: &Device,
        constants: Vec<Upload>,
        made: &[(StorageObject, u64, u64)],
        (memory, start): (vk::DeviceMemory, vk::DeviceSize),
        staging: &mut HostBuffer,
    ) -> Result<()> {
        let mut all = vec![0; staging.buffer().size as usize];
        for (upload, (_, _, at)) in constants.iter().zip(made) {
            all[*at as usize..][..upload.bytes.len()].copy_from_slice(&upload.bytes);
        }
        staging.write(&all);
        let queue = compute_queue(device)?;
        let once = OneShotCommands::begin(device, queue, "uploading constants")?;
        for (upload, &(resource, offset, at)) in constants.into_iter().zip(made) {
            let (name, layout) = (&upload.name, upload.layout);
            let (commands, from) = (once.command_buffer(), staging.buffer().handle);
            let form = (layout.rule.storage, layout.element);
            // SAFETY: just created; the block was made for all constants.
            let resource = unsafe {
                bind(
                    device,
                    &mut self.owned,
                    name,
                    resource,
                    (memory, start + offset),
                    form,
                )
            }?;
            match resource {
                StorageObject::Image { handle, .. } => {
                    upload_image(device, commands, from, at, handle, &layout)
                }
                StorageObject::Buffer { handle, .. } if !upload.bytes.is_empty() => {
                    let copies = [vk::BufferCopy {
                        src_offset: at,
                        dst_offset: 0,
                        size: upload.bytes.len() as u64,
                    }];
                    // SAFETY: recording; both buffers are as large, with the usages of a copy.
                    unsafe { device.raw().cmd_copy_buffer(commands, from, handle, &copies) };
                }
                StorageObject::Buffer { .. } => {}
            }
            match upload.tensor {
                Some(tensor) => drop(self.constants.insert(tensor, Constant { resource, layout })),
                None => self.zeros = Some(resource),
            }
        }
        let visible = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::SHADER_READ)];
        let (from, to) = (
            vk::PipelineStageFlags::TRANSFER,
            vk::PipelineStageFlags::COMPUTE_SHADER,
        );
        let (commands, none) = (once.command_buffer(), vk::DependencyFlags::empty());
        // SAFETY: recording.
        unsafe {
            device
                .raw()
                .cmd_pipeline_barrier(commands, from, to, none, &visible, &[], &[])
        };
        // SAFETY: recorded above; staging buffer and constants live until it returns.
        Ok(unsafe { once.submit_and_wait() }?)
    }
}

/// Creates an image without memory or a view, which [`bind`] adds. Returns an error if the device does not support the image.
pub(super) fn create_image(
    device: &Device,
    owned: &mut OwnedObjects,
    name: &str,
    format: vk::Format,
    extent: ImageExtent,
    usage: vk::ImageUsageFlags,
) -> Result<(StorageObject, MemoryRequirements)> {
    let info = supported_image(device, name, format, extent, usage)?;
    // SAFETY: within the device's limits.
    let (handle, answer) = unsafe { owned.create_image(name, &info) }?;
    let view = vk::ImageView::null();
    Ok((StorageObject::Image { handle, view }, answer))
}

/// Creates a buffer of `size` bytes, but at least 16, without memory, which [`bind`] adds.
pub(super) fn create_buffer(
    owned: &mut OwnedObjects,
    name: &str,
    size: u64,
    usage: vk::BufferUsageFlags,
) -> Result<(StorageObject, MemoryRequirements)> {
    let size = size.max(16);
    let info = vk::BufferCreateInfo::default().size(size).usage(usage);
    // SAFETY: the size is not 0.
    let (handle, answer) = unsafe { owned.create_buffer(name, &info) }?;
    let offset = 0;
    Ok((StorageObject::Buffer { handle, offset, size }, answer))
}

/// Binds an object to memory; for an image, also creates its view.
///
/// # Safety
/// It is not bound yet; the memory there satisfies its size, alignment and memory type requirements.
pub(super) unsafe fn bind(
    device: &Device,
    owned: &mut OwnedObjects,
    name: &str,
    object: StorageObject,
    place: (vk::DeviceMemory, vk::DeviceSize),
    (storage, element): (Storage, ElementType),
) -> Result<StorageObject> {
    match object {
        StorageObject::Buffer { handle, .. } => {
            // SAFETY: the caller's duty.
            unsafe { bind_buffer(device, name, handle, place) }?;
            Ok(object)
        }
        StorageObject::Image { handle, .. } => {
            let view = (storage == Storage::ImageArray, format(name, element)?);
            // SAFETY: the caller's duty.
            unsafe { bind_image(device, owned, name, handle, place, view) }
        }
    }
}

/// Binds a buffer to memory.
///
/// # Safety
/// That of [`bind`].
unsafe fn bind_buffer(
    device: &Device,
    name: &str,
    buffer: vk::Buffer,
    (memory, offset): (vk::DeviceMemory, vk::DeviceSize),
) -> Result<()> {
    // SAFETY: the caller's duty.
    let bound = unsafe { device.raw().bind_buffer_memory(buffer, memory, offset) };
    Ok(bound.with_call("vkBindBufferMemory", || name)?)
}

/// Binds an image to memory and creates its view.
///
/// # Safety
/// That of [`bind`]; the image has this format.
unsafe fn bind_image(
    device: &Device,
    owned: &mut OwnedObjects,
    name: &str,
    image: vk::Image,
    (memory, offset): (vk::DeviceMemory, vk::DeviceSize),
    (array, format): (bool, vk::Format),
) -> Result<StorageObject> {
    // SAFETY: the caller's duty.
    let bound = unsafe { device.raw().bind_image_memory(image, memory, offset) };
    bound.with_call("vkBindImageMemory", || name)?;
    let info = vk::ImageViewCreateInfo::default()
        .image(image)
        .view_type(match array {
            true => vk::ImageViewType::TYPE_2D_ARRAY,
            false => vk::ImageViewType::TYPE_2D,
        })
        .format(format)
        .subresource_range(full_subresource_range(vk::ImageAspectFlags::COLOR));
    // SAFETY: the image is alive and bound, and has this format.
    let view = unsafe { owned.create_image_view(name, &info) }?;
    Ok(StorageObject::Image { handle: image, view })
}

/// The first queue with compute.
fn compute_queue(device: &Device) -> Result<usize, RuntimeError> {
    let needs = vk::QueueFlags::COMPUTE;
    let mut queues = device.queues().iter();
    let queue = "networks".to_owned();
    queues
        .position(|queue| queue.capabilities.contains(needs))
        .ok_or(RuntimeError::NoQueue { queue, needs })
}

fn upload_image(
    device: &Device,
    commands: vk::CommandBuffer,
    from: vk::Buffer,
    at: u64,
    image: vk::Image,
    layout: &Layout,
) {
    use vk::{AccessFlags as A, ImageLayout as L, PipelineStageFlags as S};
    let (device, none) = (device.raw(), vk::DependencyFlags::empty());
    let barrier = |layouts, (from, to): (S, S), access: (A, A)| {
        let whole = full_subresource_range(vk::ImageAspectFlags::COLOR);
        let barriers = [image_barrier(image, whole, layouts, access)];
        // SAFETY: recording outside render passes; the image is alive.
        unsafe { device.cmd_pipeline_barrier(commands, from, to, none, &[], &[], &barriers) };
    };
    let copies = [vk::BufferImageCopy::default()
        .buffer_offset(at)
        .image_subresource(vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            mip_level: 0,
            base_array_layer: 0,
            layer_count: layout.extent.layers as u32,
        })
        .image_extent(vk::Extent3D {
            width: layout.extent.width as u32,
            height: layout.extent.height as u32,
            depth: 1,
        })];
    let into = L::TRANSFER_DST_OPTIMAL;
    let (stages, access) = ((S::TOP_OF_PIPE, S::TRANSFER), (A::empty(), A::TRANSFER_WRITE));
    barrier((L::UNDEFINED, into), stages, access);
    // SAFETY: recording; the buffer holds the texels row by row, and both have the usages of a copy.
    unsafe { device.cmd_copy_buffer_to_image(commands, from, image, into, &copies) };
    let (stages, access) = (
        (S::TRANSFER, S::COMPUTE_SHADER),
        (A::TRANSFER_WRITE, A::SHADER_READ),
    );
    barrier((into, L::SHADER_READ_ONLY_OPTIMAL), stages, access);
}

/// The combined requirements of the objects in a memory.
struct CombinedRequirements {
    type_bits: u32,
    alignment: Alignment,
    min_size: Bytes,
    has_buffers: bool,
}

impl Default for CombinedRequirements {
    fn default() -> CombinedRequirements {
        CombinedRequirements {
            type_bits: u32::MAX,
            alignment: Alignment::ONE,
            min_size: Bytes::ZERO,
            has_buffers: false,
        }
    }
}

impl CombinedRequirements {
    fn add(&mut self, answer: &MemoryRequirements) {
        self.type_bits &= answer.memory_type_bits;
        self.alignment = self.alignment.lcm(answer.alignment).unwrap_or(answer.alignment);
        self.min_size = self.min_size.max(answer.size);
    }
}

/// Checks that a region of the plan meets the requirements of the image created for it.
fn fits(name: &str, region: Region, answer: &MemoryRequirements) -> Result<()> {
    if answer.size <= region.size && region.offset.is_aligned(answer.alignment) {
        return Ok(());
    }
    let (offset, planned) = (region.offset, region.size);
    let problem = format!(
        "it cannot be placed at offset {offset}: its image needs {} at alignment {}, but the plan reserves {planned}: plan with the requirements that `measure_tensors` returns",
        answer.size, answer.alignment
    );
    Err(Error::tensor(name, problem))
}
