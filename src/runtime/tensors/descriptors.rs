//! Descriptor sets, one for each kernel's operands, made when they are first needed.

use std::collections::BTreeMap;

use ash::vk;
use ash::vk::Handle;

use super::objects::Thing;
use super::pipelines::Pipeline;
use crate::Result;
use crate::runtime::device::Inner;
use crate::runtime::fault::Called;

/// An operand of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bound {
    pub(super) thing: Thing,
    /// Of an image, its layout.
    pub(super) layout: vk::ImageLayout,
    /// Of a texel buffer, its format.
    pub(super) format: vk::Format,
}

/// Sets by layout and operands. They are never changed, so that command buffers in flight may use them.
#[derive(Default)]
pub(super) struct Descriptors {
    pools: Vec<vk::DescriptorPool>,
    left: u32,
    sets: BTreeMap<(u64, Vec<Bound>), vk::DescriptorSet>,
    texel_views: BTreeMap<(Thing, vk::Format), vk::BufferView>,
}

const SETS_PER_POOL: u32 = 256;

impl Descriptors {
    /// The set of a pipeline with these operands.
    pub(super) fn get(
        &mut self,
        inner: &Inner,
        pipeline: &Pipeline,
        operands: &[Bound],
    ) -> Result<vk::DescriptorSet> {
        let key = (pipeline.set_layout.as_raw(), operands.to_vec());
        if let Some(set) = self.sets.get(&key) {
            return Ok(*set);
        }
        let set = self.allocate(inner, pipeline.set_layout)?;
        for ((binding, bound), access) in (0..).zip(operands).zip(&pipeline.kernel.operands) {
            let kind = access.descriptor_type().expect("kernels have known operands");
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(binding)
                .descriptor_type(kind);
            let (images, buffers, views);
            let write = match bound.thing {
                Thing::Image { view, .. } => {
                    images = [vk::DescriptorImageInfo::default()
                        .image_view(view)
                        .image_layout(bound.layout)];
                    write.image_info(&images)
                }
                Thing::Buffer { handle, offset, size } if kind == vk::DescriptorType::STORAGE_BUFFER => {
                    buffers = [vk::DescriptorBufferInfo {
                        buffer: handle,
                        offset,
                        range: size,
                    }];
                    write.buffer_info(&buffers)
                }
                Thing::Buffer { .. } => {
                    views = [self.texel_view(inner, bound)?];
                    write.texel_buffer_view(&views)
                }
            };
            // SAFETY: the set was just allocated with the layout of these operands, which are alive.
            unsafe { inner.device.update_descriptor_sets(&[write], &[]) };
        }
        self.sets.insert(key, set);
        Ok(set)
    }

    fn allocate(&mut self, inner: &Inner, layout: vk::DescriptorSetLayout) -> Result<vk::DescriptorSet> {
        let what = || "a kernel's operands";
        if self.left == 0 {
            use vk::DescriptorType as T;
            let types = [
                T::SAMPLED_IMAGE,
                T::STORAGE_IMAGE,
                T::STORAGE_BUFFER,
                T::UNIFORM_BUFFER,
                T::UNIFORM_TEXEL_BUFFER,
                T::STORAGE_TEXEL_BUFFER,
            ];
            // As many as operands can be of one type, in every set.
            let sizes = types.map(|ty| vk::DescriptorPoolSize {
                ty,
                descriptor_count: 4 * SETS_PER_POOL,
            });
            let info = vk::DescriptorPoolCreateInfo::default()
                .max_sets(SETS_PER_POOL)
                .pool_sizes(&sizes);
            // SAFETY: sizes are not 0.
            let pool = unsafe { inner.device.create_descriptor_pool(&info, None) }
                .called("vkCreateDescriptorPool", what)?;
            self.pools.push(pool);
            self.left = SETS_PER_POOL;
        }
        let layouts = [layout];
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(*self.pools.last().expect("made above"))
            .set_layouts(&layouts);
        // SAFETY: pool and layout are alive.
        let sets = unsafe { inner.device.allocate_descriptor_sets(&info) };
        self.left -= 1;
        Ok(sets.called("vkAllocateDescriptorSets", what)?[0])
    }

    fn texel_view(&mut self, inner: &Inner, bound: &Bound) -> Result<vk::BufferView> {
        let key = (bound.thing, bound.format);
        if let Some(view) = self.texel_views.get(&key) {
            return Ok(*view);
        }
        let Thing::Buffer { handle, offset, size } = bound.thing else {
            unreachable!("images have image views");
        };
        let info = vk::BufferViewCreateInfo::default()
            .buffer(handle)
            .format(bound.format)
            .offset(offset)
            .range(size);
        // SAFETY: the buffer is alive, with the usages of texel buffers; offset and size are multiples of a texel.
        let view = unsafe { inner.device.create_buffer_view(&info, None) }
            .called("vkCreateBufferView", || "a tensor")?;
        self.texel_views.insert(key, view);
        Ok(view)
    }

    /// # Safety
    /// None of it is in use on the device.
    pub(super) unsafe fn destroy(&mut self, inner: &Inner) {
        for view in std::mem::take(&mut self.texel_views).into_values() {
            // SAFETY: the caller's duty.
            unsafe { inner.device.destroy_buffer_view(view, None) };
        }
        for pool in self.pools.drain(..) {
            // SAFETY: the caller's duty.
            unsafe { inner.device.destroy_descriptor_pool(pool, None) };
        }
    }
}
