//! Measuring: memory requirements of tensors, as reported by the driver.

use ash::vk;

use crate::error::{Error, Result};
use crate::graph::{ElementType, Graph};
use crate::layout::{ImageExtent, ImageLimits, Layout, Storage};
use crate::plan::TensorRequirements;
use tileheap::runtime::Device;
use tileheap::units::{Alignment, Bytes};

/// The usages of a tensor's buffer.
pub(super) const BUFFER_USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER.as_raw()
        | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER.as_raw(),
);
/// The usages of an image that nodes read and write.
pub(super) const IMAGE_USAGE: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::SAMPLED.as_raw() | vk::ImageUsageFlags::STORAGE.as_raw(),
);

/// The format of texels with four elements; returns an error unless the elements are 32-bit or 16-bit floats.
pub(super) fn format(name: &str, element: ElementType) -> Result<vk::Format> {
    match element {
        ElementType::Float32 | ElementType::Float16 => {
            Ok(element.texel_format().expect("float types have a texel format"))
        }
        other => {
            let problem =
                format!("kernels support only float32 and float16 elements, but its elements are {other}");
            Err(Error::tensor(name, problem))
        }
    }
}

/// The create info of a tensor's image.
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

/// The create info of a tensor's image, if the device supports it.
pub(super) fn supported_image(
    device: &Device,
    name: &str,
    format: vk::Format,
    extent: ImageExtent,
    usage: vk::ImageUsageFlags,
) -> Result<vk::ImageCreateInfo<'static>> {
    let info = image_info(format, extent, usage);
    if device.supports_image(name, &info)? {
        return Ok(info);
    }
    let limit = limits(device).max_image_dimension2_d;
    let problem = format!(
        "an image of {extent} texels in {format:?} is not supported, or exceeds the limit of {limit} texels per side"
    );
    Err(Error::tensor(name, problem))
}

/// The driver's size limits for tensors in images and buffers.
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

/// Queries the memory requirements of each of the graph's tensors in these layouts (one per tensor), as an image or a
/// part of a buffer: the planner's input.
///
/// # Errors
/// An image's format or size is not supported, with the tensor's name, or the driver fails.
///
/// # Panics
/// If the number of layouts is not that of the tensors.
pub fn measure_tensors(
    device: &Device,
    graph: &Graph,
    layouts: &[Layout],
) -> Result<Vec<TensorRequirements>> {
    let _span = tracing::info_span!("measure", graph = graph.name()).entered();
    assert_eq!(
        graph.tensors().len(),
        layouts.len(),
        "every tensor needs one layout"
    );
    let tensors = graph.tensors().iter().zip(layouts);
    let measured = tensors.map(|(tensor, layout)| measure_tensor(device, &tensor.name, layout));
    measured.collect()
}

pub(super) fn limits(device: &Device) -> vk::PhysicalDeviceLimits {
    let (instance, physical) = (device.instance(), device.physical_device());
    // SAFETY: the physical device is one of the instance.
    unsafe { instance.get_physical_device_properties(physical) }.limits
}

fn measure_tensor(device: &Device, name: &str, layout: &Layout) -> Result<TensorRequirements> {
    if !layout.rule.storage.is_image() {
        return measure_buffer(device, name, layout);
    }
    if layout.rule.storage == Storage::Image3d {
        return Err(Error::tensor(name, "kernels do not support 3D images"));
    }
    let format = format(name, layout.element)?;
    let mut all = TensorRequirements {
        size: Bytes::ZERO,
        alignment: Alignment::ONE,
        memory_type_bits: device.profile().ordinary_type_bits(),
        image: true,
    };
    for extent in layout.images() {
        let info = supported_image(device, name, format, extent, IMAGE_USAGE)?;
        // SAFETY: valid, and supported.
        let answer = unsafe { device.image_requirements(name, &info) }?;
        all.size = all.size.align_up(answer.alignment) + answer.size;
        all.alignment = all.alignment.lcm(answer.alignment).unwrap_or(answer.alignment);
        all.memory_type_bits &= answer.memory_type_bits;
    }
    Ok(all)
}

fn measure_buffer(device: &Device, name: &str, layout: &Layout) -> Result<TensorRequirements> {
    let size = layout.bytes().0.max(1);
    let info = vk::BufferCreateInfo::default().size(size).usage(BUFFER_USAGE);
    // SAFETY: the size is not 0.
    let answer = unsafe { device.buffer_requirements(name, &info) }?;
    let limits = limits(device);
    // It is a part of its memory's single buffer, at an offset used in descriptors.
    let offset = limits.min_storage_buffer_offset_alignment;
    let offset = Alignment::new(offset.max(limits.min_texel_buffer_offset_alignment));
    Ok(TensorRequirements {
        size: answer.size,
        alignment: offset.unwrap_or(Alignment::ONE).max(answer.alignment),
        memory_type_bits: answer.memory_type_bits & device.profile().ordinary_type_bits(),
        image: false,
    })
}
