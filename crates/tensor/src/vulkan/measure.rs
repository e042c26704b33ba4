//! Measure: what tensors need of memory, by the driver's word.

use ash::vk;

use crate::error::{Error, Result};
use crate::graph::{ElementType, Graph};
use crate::layout::{ImageExtent, ImageLimits, Layout, Storage};
use crate::plan::TensorRequirements;
use tileheap::runtime::{Device, RuntimeError};
use tileheap::units::{Alignment, Bytes};

/// The usages of a tensor's buffer.
pub(super) const BUFFER_USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER.as_raw()
        | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER.as_raw(),
);
/// The usages of an image that nodes write and read.
pub(super) const IMAGE_USAGE: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::SAMPLED.as_raw() | vk::ImageUsageFlags::STORAGE.as_raw(),
);

/// The format of texels of four elements.
pub(super) fn format(name: &str, element: ElementType) -> Result<vk::Format> {
    match element {
        ElementType::Float32 => Ok(vk::Format::R32G32B32A32_SFLOAT),
        ElementType::Float16 => Ok(vk::Format::R16G16B16A16_SFLOAT),
        other => Err(Error::Layout {
            tensor: name.to_owned(),
            problem: format!("kernels compute float32 and float16, and its elements are {other}"),
        }),
    }
}

/// How an image of tensors is created.
pub(super) fn image_info(
    format: vk::Format,
    extent: ImageExtent,
    usage: vk::ImageUsageFlags,
) -> vk::ImageCreateInfo<'static> {
    let side = |texels: u64| u32::try_from(texels).unwrap_or(u32::MAX).max(1);
    vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(vk::Extent3D {
            width: side(extent.width),
            height: side(extent.height),
            depth: 1,
        })
        .mip_levels(1)
        .array_layers(side(extent.layers))
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(vk::ImageTiling::OPTIMAL)
        .usage(usage)
        .sharing_mode(vk::SharingMode::EXCLUSIVE)
        .initial_layout(vk::ImageLayout::UNDEFINED)
}

/// The largest images and buffers of tensors, as the driver says.
pub fn tensor_limits(device: &Device) -> ImageLimits {
    let limits = limits(device);
    ImageLimits {
        side_2d: limits.max_image_dimension2_d.into(),
        layers: limits.max_image_array_layers.into(),
        side_3d: limits.max_image_dimension3_d.into(),
        buffer: Bytes(limits.max_storage_buffer_range.into()),
        texel_buffer: limits.max_texel_buffer_elements.into(),
    }
}

/// Asks the driver what each of the graph's tensors needs of memory in these layouts (one per tensor), as an image or a
/// part of a buffer: the planner's input.
///
/// # Errors
/// When an image's format or size is not supported, naming the tensor, or the driver fails.
///
/// # Panics
/// If there is not one layout per tensor.
pub fn measure_tensors(
    device: &Device,
    graph: &Graph,
    layouts: &[Layout],
) -> Result<Vec<TensorRequirements>> {
    let _span = tracing::info_span!("measure", graph = graph.name()).entered();
    assert_eq!(graph.tensors().len(), layouts.len(), "one layout per tensor");
    let tensors = graph.tensors().iter().zip(layouts);
    tensors
        .map(|(tensor, layout)| measure_tensor(device, &tensor.name, layout))
        .collect()
}

pub(super) fn limits(device: &Device) -> vk::PhysicalDeviceLimits {
    // SAFETY: the physical device is one of the instance.
    let properties = unsafe {
        device
            .instance()
            .get_physical_device_properties(device.physical_device())
    };
    properties.limits
}

fn measure_tensor(device: &Device, name: &str, layout: &Layout) -> Result<TensorRequirements> {
    if !layout.rule.storage.is_image() {
        return measure_buffer(device, name, layout);
    }
    if layout.rule.storage == Storage::Image3d {
        let problem = "kernels have no 3D images".to_owned();
        let tensor = name.to_owned();
        return Err(Error::Layout { tensor, problem });
    }
    let format = format(name, layout.element)?;
    let mut all = TensorRequirements {
        size: Bytes::ZERO,
        alignment: Alignment::ONE,
        memory_type_bits: u32::MAX,
        image: true,
    };
    for extent in layout.images() {
        let info = image_info(format, extent, IMAGE_USAGE);
        if !device.supports_image(name, &info)? {
            let ImageExtent {
                width,
                height,
                layers,
            } = extent;
            let why = format!(
                "{format:?}, {width} x {height} texels, {layers} layers exceeds what the device supports"
            );
            let resource = name.to_owned();
            return Err(RuntimeError::Unsupported { resource, why }.into());
        }
        // SAFETY: valid, and supported.
        let answer = unsafe { device.image_requirements(name, &info) }?;
        all.size = all.size.align_up(answer.alignment) + answer.size;
        all.alignment = all.alignment.lcm(answer.alignment).unwrap_or(answer.alignment);
        all.memory_type_bits &= answer.memory_type_bits;
    }
    Ok(ordinary(device, all))
}

fn measure_buffer(device: &Device, name: &str, layout: &Layout) -> Result<TensorRequirements> {
    let size = layout.bytes().0.max(1);
    let info = vk::BufferCreateInfo::default().size(size).usage(BUFFER_USAGE);
    // SAFETY: the size is not 0.
    let answer = unsafe { device.buffer_requirements(name, &info) }?;
    let limits = limits(device);
    // It is a part of its memory's one buffer, which descriptors begin at.
    let offset = limits
        .min_storage_buffer_offset_alignment
        .max(limits.min_texel_buffer_offset_alignment);
    let alignment = Alignment::new(offset)
        .unwrap_or(Alignment::ONE)
        .max(answer.alignment);
    Ok(ordinary(
        device,
        TensorRequirements {
            size: answer.size,
            alignment,
            memory_type_bits: answer.memory_type_bits,
            image: false,
        },
    ))
}

/// Without the memory types that only special resources may use.
fn ordinary(device: &Device, mut all: TensorRequirements) -> TensorRequirements {
    all.memory_type_bits &= device.profile().ordinary_type_bits();
    all
}
