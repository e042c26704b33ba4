//! Writes of descriptors, in one form for updates, templates and push descriptors.

use std::ffi::c_void;

use ash::vk;

use crate::array;
use crate::set_layouts::{SetLayout, consecutive};

/// The source of a descriptor write.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// An image, or an image and a sampler.
    Image(&'a vk::DescriptorImageInfo),
    /// A range of a buffer.
    Buffer(&'a vk::DescriptorBufferInfo),
    /// A texel buffer view.
    Texels(vk::BufferView),
}

/// A written descriptor: binding, element, type, and source; `None` for a null descriptor.
pub type WrittenDescriptor<'a> = (u32, u32, vk::DescriptorType, Option<Source<'a>>);

enum Kind {
    Image,
    Buffer,
    Texels,
}

/// The kind of source for descriptors of a type; `None` for types that do not refer to memory.
fn kind_of(kind: vk::DescriptorType) -> Option<Kind> {
    use vk::DescriptorType as T;
    match kind {
        T::COMBINED_IMAGE_SAMPLER | T::SAMPLED_IMAGE | T::STORAGE_IMAGE | T::INPUT_ATTACHMENT => {
            Some(Kind::Image)
        }
        T::UNIFORM_BUFFER | T::STORAGE_BUFFER | T::UNIFORM_BUFFER_DYNAMIC | T::STORAGE_BUFFER_DYNAMIC => {
            Some(Kind::Buffer)
        }
        T::UNIFORM_TEXEL_BUFFER | T::STORAGE_TEXEL_BUFFER => Some(Kind::Texels),
        _ => None,
    }
}

/// Calls `put` for each descriptor that an update writes to a set with this layout and that can refer to memory.
pub fn each_written(
    write: &vk::WriteDescriptorSet<'_>,
    layout: Option<&SetLayout>,
    mut put: impl FnMut(WrittenDescriptor<'_>),
) {
    let (first, stride): (*const c_void, usize) = match kind_of(write.descriptor_type) {
        Some(Kind::Image) => (write.p_image_info.cast(), size_of::<vk::DescriptorImageInfo>()),
        Some(Kind::Buffer) => (write.p_buffer_info.cast(), size_of::<vk::DescriptorBufferInfo>()),
        Some(Kind::Texels) => (write.p_texel_buffer_view.cast(), size_of::<vk::BufferView>()),
        None => return,
    };
    let entry = vk::DescriptorUpdateTemplateEntry {
        dst_binding: write.dst_binding,
        dst_array_element: write.dst_array_element,
        descriptor_count: write.descriptor_count,
        descriptor_type: write.descriptor_type,
        offset: 0,
        stride,
    };
    each_of_entry(&entry, layout, first, &mut put);
}

fn each_of_entry(
    entry: &vk::DescriptorUpdateTemplateEntry,
    layout: Option<&SetLayout>,
    data: *const c_void,
    put: &mut impl FnMut(WrittenDescriptor<'_>),
) {
    let Some(kind) = kind_of(entry.descriptor_type) else {
        return;
    };
    let (binding, element) = (entry.dst_binding, entry.dst_array_element);
    let places = consecutive(layout, binding, element, entry.descriptor_count);
    for (index, (binding, element)) in places.enumerate() {
        let at = data.wrapping_byte_add(entry.offset + index * entry.stride);
        let source = match kind {
            // SAFETY: Valid usage: null, or the source for descriptors of that type; likewise in each arm.
            Kind::Image => unsafe { at.cast::<vk::DescriptorImageInfo>().as_ref() }.map(Source::Image),
            // SAFETY: As above.
            Kind::Buffer => unsafe { at.cast::<vk::DescriptorBufferInfo>().as_ref() }.map(Source::Buffer),
            // SAFETY: As above.
            Kind::Texels => unsafe { at.cast::<vk::BufferView>().as_ref() }
                .copied()
                .map(Source::Texels),
        };
        put((binding, element, entry.descriptor_type, source));
    }
}

/// A descriptor update template.
#[derive(Debug)]
pub struct UpdateTemplate {
    entries: Vec<vk::DescriptorUpdateTemplateEntry>,
    /// The bind point of push descriptors; unused for sets.
    pub bind_point: vk::PipelineBindPoint,
}

impl UpdateTemplate {
    /// Copies the entries of a create info.
    pub fn new(info: &vk::DescriptorUpdateTemplateCreateInfo<'_>) -> UpdateTemplate {
        let entries = array!(
            info.p_descriptor_update_entries,
            info.descriptor_update_entry_count
        );
        UpdateTemplate {
            entries: entries.to_vec(),
            bind_point: info.pipeline_bind_point,
        }
    }

    /// Like [`each_written`], for data in the template's format.
    pub fn each_written(
        &self,
        layout: Option<&SetLayout>,
        data: *const c_void,
        mut put: impl FnMut(WrittenDescriptor<'_>),
    ) {
        for entry in &self.entries {
            each_of_entry(entry, layout, data, &mut put);
        }
    }
}

/// The ray tracing stages.
pub const RAYS: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::RAYGEN_KHR.as_raw()
        | vk::ShaderStageFlags::ANY_HIT_KHR.as_raw()
        | vk::ShaderStageFlags::CLOSEST_HIT_KHR.as_raw()
        | vk::ShaderStageFlags::MISS_KHR.as_raw()
        | vk::ShaderStageFlags::INTERSECTION_KHR.as_raw()
        | vk::ShaderStageFlags::CALLABLE_KHR.as_raw(),
);

/// The bind points that shader stages belong to.
pub fn points_of(stages: vk::ShaderStageFlags) -> impl Iterator<Item = vk::PipelineBindPoint> {
    use vk::ShaderStageFlags as S;
    let graphics = S::ALL_GRAPHICS | S::TASK_EXT | S::MESH_EXT;
    let points = [
        (graphics, vk::PipelineBindPoint::GRAPHICS),
        (S::COMPUTE, vk::PipelineBindPoint::COMPUTE),
        (RAYS, vk::PipelineBindPoint::RAY_TRACING_KHR),
    ];
    let reached = move |(own, point)| stages.intersects(own).then_some(point);
    points.into_iter().filter_map(reached)
}
