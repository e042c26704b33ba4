//! Descriptor sets, one for each combination of a pipeline layout and operands, created on first use.

use std::collections::BTreeMap;

use ash::vk;
use ash::vk::Handle;

use super::objects::StorageObject;
use super::pipelines::Pipeline;
use crate::error::Result;
use tileheap::runtime::Device;
use tileheap::runtime::objects::VkResultExt;

/// An operand as bound in a descriptor set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OperandBinding {
    pub(super) resource: StorageObject,
    /// The layout of an image.
    pub(super) layout: vk::ImageLayout,
    /// The format of a texel buffer.
    pub(super) format: vk::Format,
}

impl OperandBinding {
    /// A binding of a resource, in this layout if it is an image.
    pub(super) fn new(
        resource: StorageObject,
        layout: vk::ImageLayout,
        format: vk::Format,
    ) -> OperandBinding {
        let layout = match resource {
            StorageObject::Image { .. } => layout,
            StorageObject::Buffer { .. } => vk::ImageLayout::UNDEFINED,
        };
        OperandBinding {
            resource,
            layout,
            format,
        }
    }
}

/// Descriptor sets by pipeline layout and operands. They are never updated, so command buffers in flight may use them.
#[derive(Default)]
pub(super) struct Descriptors {
    /// Each pool with the number of sets left in it.
    pools: Vec<(vk::DescriptorPool, u32)>,
    /// Each set with the index of its pool.
    sets: BTreeMap<(u64, Vec<OperandBinding>), (vk::DescriptorSet, usize)>,
    texel_views: BTreeMap<(StorageObject, vk::Format), vk::BufferView>,
}

const SETS_PER_POOL: u32 = 256;

impl Descriptors {
    /// The descriptor set for a pipeline with these operands, created on first use.
    pub(super) fn get(
        &mut self,
        device: &Device,
        pipeline: &Pipeline,
        operands: &[OperandBinding],
    ) -> Result<vk::DescriptorSet> {
        let key = (pipeline.set_layout.as_raw(), operands.to_vec());
        if let Some((set, _)) = self.sets.get(&key) {
            return Ok(*set);
        }
        let (set, pool) = self.allocate(device, pipeline.set_layout)?;
        for ((binding, bound), access) in (0..).zip(operands).zip(&pipeline.kernel.operands) {
            let kind = access
                .descriptor_type()
                .expect("`Kernel::new` rejects unsupported descriptor types");
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(binding)
                .descriptor_type(kind);
            let (images, buffers, views);
            let write = match bound.resource {
                StorageObject::Image { view, .. } => {
                    let info = vk::DescriptorImageInfo::default().image_view(view);
                    images = [info.image_layout(bound.layout)];
                    write.image_info(&images)
                }
                StorageObject::Buffer { handle, offset, size }
                    if kind == vk::DescriptorType::STORAGE_BUFFER =>
                {
                    let info = vk::DescriptorBufferInfo::default().buffer(handle);
                    buffers = [info.offset(offset).range(size)];
                    write.buffer_info(&buffers)
                }
                StorageObject::Buffer { .. } => {
                    views = [self.texel_view(device, bound)?];
                    write.texel_buffer_view(&views)
                }
            };
            // SAFETY: the set was just allocated with the layout of these operands, which are alive.
            unsafe { device.raw().update_descriptor_sets(&[write], &[]) };
        }
        self.sets.insert(key, (set, pool));
        Ok(set)
    }

    fn allocate(
        &mut self,
        device: &Device,
        layout: vk::DescriptorSetLayout,
    ) -> Result<(vk::DescriptorSet, usize)> {
        let what = || "a kernel's operands";
        let pool = match self.pools.iter().position(|(_, left)| *left > 0) {
            Some(pool) => pool,
            None => {
                self.pools.push((new_pool(device)?, SETS_PER_POOL));
                self.pools.len() - 1
            }
        };
        let layouts = [layout];
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(self.pools[pool].0)
            .set_layouts(&layouts);
        // SAFETY: pool and layout are alive.
        let sets = unsafe { device.raw().allocate_descriptor_sets(&info) };
        let set = sets.with_call("vkAllocateDescriptorSets", what)?[0];
        self.pools[pool].1 -= 1;
        Ok((set, pool))
    }

    /// Frees the sets and texel views that refer to a buffer, before the buffer is destroyed: a new buffer may get the same handle.
    ///
    /// # Safety
    /// Nothing that uses the sets is in flight, or will be submitted.
    pub(super) unsafe fn forget(&mut self, device: &Device, buffer: vk::Buffer) {
        let refers = |resource: &StorageObject| matches!(resource, StorageObject::Buffer { handle, .. } if *handle == buffer);
        let pools = &mut self.pools;
        self.sets.retain(|(_, operands), (set, pool)| {
            let is_gone = operands.iter().any(|operand| refers(&operand.resource));
            if is_gone {
                let (handle, left) = &mut pools[*pool];
                *left += 1;
                // SAFETY: the caller's duty; the pool lets sets be freed.
                let _ = unsafe { device.raw().free_descriptor_sets(*handle, &[*set]) };
            }
            !is_gone
        });
        self.texel_views.retain(|(resource, _), view| {
            let is_gone = refers(resource);
            if is_gone {
                // SAFETY: the caller's duty.
                unsafe { device.raw().destroy_buffer_view(*view, None) };
            }
            !is_gone
        });
    }

    fn texel_view(&mut self, device: &Device, bound: &OperandBinding) -> Result<vk::BufferView> {
        let key = (bound.resource, bound.format);
        if let Some(view) = self.texel_views.get(&key) {
            return Ok(*view);
        }
        let StorageObject::Buffer { handle, offset, size } = bound.resource else {
            unreachable!("only buffers are bound as texel buffers");
        };
        let info = vk::BufferViewCreateInfo::default()
            .buffer(handle)
            .format(bound.format)
            .offset(offset)
            .range(size);
        // SAFETY: the buffer is alive, with the usages of texel buffers; offset and size are multiples of a texel.
        let view = unsafe { device.raw().create_buffer_view(&info, None) }
            .with_call("vkCreateBufferView", || "a tensor")?;
        self.texel_views.insert(key, view);
        Ok(view)
    }

    /// Destroys the views and pools.
    ///
    /// # Safety
    /// Nothing is in use on the device.
    pub(super) unsafe fn destroy(&mut self, device: &Device) {
        for view in std::mem::take(&mut self.texel_views).into_values() {
            // SAFETY: the caller's duty.
            unsafe { device.raw().destroy_buffer_view(view, None) };
        }
        self.sets.clear();
        for (pool, _) in self.pools.drain(..) {
            // SAFETY: the caller's duty.
            unsafe { device.raw().destroy_descriptor_pool(pool, None) };
        }
    }
}

fn new_pool(device: &Device) -> Result<vk::DescriptorPool> {
    use vk::DescriptorType as T;
    let types = [
        T::SAMPLED_IMAGE,
        T::STORAGE_IMAGE,
        T::STORAGE_BUFFER,
        T::UNIFORM_BUFFER,
        T::UNIFORM_TEXEL_BUFFER,
        T::STORAGE_TEXEL_BUFFER,
    ];
    // In every set, each operand may be of any type.
    let sizes = types.map(|ty| vk::DescriptorPoolSize {
        ty,
        descriptor_count: 4 * SETS_PER_POOL,
    });
    let info = vk::DescriptorPoolCreateInfo::default()
        .flags(vk::DescriptorPoolCreateFlags::FREE_DESCRIPTOR_SET)
        .max_sets(SETS_PER_POOL)
        .pool_sizes(&sizes);
    // SAFETY: sizes are not 0.
    let pool = unsafe { device.raw().create_descriptor_pool(&info, None) };
    Ok(pool.with_call("vkCreateDescriptorPool", || "kernels' operands")?)
}
