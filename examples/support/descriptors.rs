//! Descriptor sets and pipeline layouts from shader reflection.

use ash::vk;

use super::error::{Called, Result};
use super::shaders::{Shader, pool_sizes, push_constant_range, set_layout_bindings};

/// The layout of a descriptor set that shaders share.
#[derive(Debug, Default)]
pub struct SetLayout {
    pub handle: vk::DescriptorSetLayout,
    /// The bindings, in order.
    pub bindings: Vec<vk::DescriptorSetLayoutBinding<'static>>,
}

impl SetLayout {
    /// The layout of set `set`, with an immutable sampler for each sampler binding.
    ///
    /// # Panics
    /// If there are fewer samplers than sampler bindings.
    pub fn new(
        device: &ash::Device,
        shaders: &[&'static Shader],
        set: u32,
        samplers: &[vk::Sampler],
    ) -> Result<SetLayout> {
        let bindings = set_layout_bindings(shaders, set);
        let mut samplers = samplers.chunks(1);
        let with_samplers: Vec<_> = bindings
            .iter()
            .map(|&binding| match binding.descriptor_type {
                vk::DescriptorType::SAMPLER => {
                    binding.immutable_samplers(samplers.next().expect("a sampler per binding"))
                }
                _ => binding,
            })
            .collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&with_samplers);
        // SAFETY: the samplers were created on this device.
        let handle = unsafe { device.create_descriptor_set_layout(&info, None) }
            .called("vkCreateDescriptorSetLayout")?;
        Ok(SetLayout { handle, bindings })
    }

    /// The pool sizes for `sets` sets.
    pub fn pool_sizes(&self, sets: usize) -> Vec<vk::DescriptorPoolSize> {
        pool_sizes(&self.bindings, sets as u32)
    }

    pub fn allocate(&self, device: &ash::Device, pool: vk::DescriptorPool) -> Result<vk::DescriptorSet> {
        let layouts = [self.handle];
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(pool)
            .set_layouts(&layouts);
        // SAFETY: pool and layout were created on this device.
        let sets = unsafe { device.allocate_descriptor_sets(&info) }.called("vkAllocateDescriptorSets")?;
        Ok(sets[0])
    }

    /// Points a binding of a set that is not in use to a range of a buffer, or to all of it ([`vk::WHOLE_SIZE`]).
    pub fn write_buffer(
        &self,
        device: &ash::Device,
        set: vk::DescriptorSet,
        binding: u32,
        buffer: vk::Buffer,
        (offset, range): (vk::DeviceSize, vk::DeviceSize),
    ) {
        let info = [vk::DescriptorBufferInfo {
            buffer,
            offset,
            range,
        }];
        let write = self.write(set, binding).buffer_info(&info);
        // SAFETY: the set is not in use, and the range is inside the buffer.
        unsafe { device.update_descriptor_sets(&[write], &[]) };
    }

    /// Points a binding of a set that is not in use to an image in this layout.
    pub fn write_image(
        &self,
        device: &ash::Device,
        set: vk::DescriptorSet,
        binding: u32,
        view: vk::ImageView,
        layout: vk::ImageLayout,
    ) {
        let info = [vk::DescriptorImageInfo::default()
            .image_view(view)
            .image_layout(layout)];
        let write = self.write(set, binding).image_info(&info);
        // SAFETY: the set is not in use, and the view is alive.
        unsafe { device.update_descriptor_sets(&[write], &[]) };
    }

    fn write(&self, set: vk::DescriptorSet, binding: u32) -> vk::WriteDescriptorSet<'static> {
        let declared = self.bindings.iter().find(|declared| declared.binding == binding);
        vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(binding)
            .descriptor_type(declared.expect("a binding of the shaders").descriptor_type)
    }
}

/// Creates a pool for `sets` sets with these descriptors.
pub fn create_pool(
    device: &ash::Device,
    sets: usize,
    sizes: &[vk::DescriptorPoolSize],
) -> Result<vk::DescriptorPool> {
    let info = vk::DescriptorPoolCreateInfo::default()
        .max_sets(sets as u32)
        .pool_sizes(sizes);
    // SAFETY: the info is complete.
    unsafe { device.create_descriptor_pool(&info, None) }.called("vkCreateDescriptorPool")
}

/// Creates the layout of pipelines with these sets and the shaders' push constants.
pub fn create_pipeline_layout(
    device: &ash::Device,
    sets: &[vk::DescriptorSetLayout],
    shaders: &[&Shader],
) -> Result<vk::PipelineLayout> {
    let range = push_constant_range(shaders);
    let info = vk::PipelineLayoutCreateInfo::default()
        .set_layouts(sets)
        .push_constant_ranges(range.as_slice());
    // SAFETY: the set layouts are alive.
    unsafe { device.create_pipeline_layout(&info, None) }.called("vkCreatePipelineLayout")
}
