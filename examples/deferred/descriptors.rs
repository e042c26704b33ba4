//! Descriptor sets: one per slot for what all passes see, one per pass and parity for what a pass reads and writes.

use ash::vk;
use tileheap::frame::PassId;
use tileheap::runtime::{BoundFrame, Parity};

use crate::frame::Deferred;
use crate::pipelines::{Pipelines, descriptor_type, inputs_of};
use crate::support::fault::{Called, Result};

/// Set 1 of every pass, written once: history resources have two copies that take turns, so there are two of each.
pub(crate) struct Inputs {
    pool: vk::DescriptorPool,
    /// By parity, then in the order of the frame's passes; null for passes without a pipeline.
    sets: [Vec<vk::DescriptorSet>; 2],
}

impl Inputs {
    pub(crate) fn write(
        device: &ash::Device,
        deferred: &Deferred,
        bound: &BoundFrame,
        pipelines: &Pipelines,
    ) -> Result<Inputs> {
        let count = 2 * deferred.frame.passes().len() as u32;
        let pool = create_pool(
            device,
            count,
            &[
                (vk::DescriptorType::SAMPLED_IMAGE, count * 8),
                (vk::DescriptorType::STORAGE_BUFFER, count),
            ],
        )?;
        let mut sets = [Vec::new(), Vec::new()];
        for parity in Parity::BOTH {
            for pass in deferred.frame.pass_ids() {
                let layout = pipelines.of(pass).inputs;
                let mut set = vk::DescriptorSet::null();
                if layout != vk::DescriptorSetLayout::null() {
                    set = allocate_set(device, pool, layout)?;
                    write_inputs(device, set, deferred, bound, pass, parity);
                }
                sets[parity.index()].push(set);
            }
        }
        Ok(Inputs { pool, sets })
    }

    pub(crate) fn of(&self, pass: PassId, parity: Parity) -> vk::DescriptorSet {
        self.sets[parity.index()][pass.index()]
    }

    /// # Safety
    /// No command buffer that uses the sets is pending.
    pub(crate) unsafe fn destroy(&self, device: &ash::Device) {
        // SAFETY: the caller's duty; the pool frees its sets.
        unsafe { device.destroy_descriptor_pool(self.pool, None) };
    }
}

/// Points set 1 of a pass to what the plan lets it use.
fn write_inputs(
    device: &ash::Device,
    set: vk::DescriptorSet,
    deferred: &Deferred,
    bound: &BoundFrame,
    pass: PassId,
    parity: Parity,
) {
    for (index, access) in inputs_of(deferred, pass).enumerate() {
        let kind = descriptor_type(access.kind);
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(index as u32)
            .descriptor_type(kind);
        let (resource, version) = (access.resource, access.version);
        if kind == vk::DescriptorType::STORAGE_BUFFER {
            let buffer = bound.buffer_in(pass, resource, version, parity);
            write_buffer(device, write, buffer.handle, buffer.offset, buffer.size);
            continue;
        }
        let image = [vk::DescriptorImageInfo {
            sampler: vk::Sampler::null(),
            image_view: bound.image_in(pass, resource, version, parity).view,
            image_layout: bound.layout_in(pass, resource, version),
        }];
        // SAFETY: the set is not in use yet, and the view lives as long as the bound plan.
        unsafe { device.update_descriptor_sets(&[write.image_info(&image)], &[]) };
    }
}

/// Points `write` to a stretch of a buffer.
pub(crate) fn write_buffer(
    device: &ash::Device,
    write: vk::WriteDescriptorSet<'_>,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    range: vk::DeviceSize,
) {
    let info = [vk::DescriptorBufferInfo {
        buffer,
        offset,
        range,
    }];
    // SAFETY: the set is not in use yet, and the stretch lies inside the buffer.
    unsafe { device.update_descriptor_sets(&[write.buffer_info(&info)], &[]) };
}

/// A pool for `sets` sets with so many descriptors of each type.
pub(crate) fn create_pool(
    device: &ash::Device,
    sets: u32,
    descriptors: &[(vk::DescriptorType, u32)],
) -> Result<vk::DescriptorPool> {
    let sizes: Vec<_> = descriptors
        .iter()
        .map(|&(ty, descriptor_count)| vk::DescriptorPoolSize { ty, descriptor_count })
        .collect();
    let info = vk::DescriptorPoolCreateInfo::default()
        .max_sets(sets)
        .pool_sizes(&sizes);
    // SAFETY: the info is complete.
    unsafe { device.create_descriptor_pool(&info, None) }.called("vkCreateDescriptorPool")
}

/// A set of this layout.
pub(crate) fn allocate_set(
    device: &ash::Device,
    pool: vk::DescriptorPool,
    layout: vk::DescriptorSetLayout,
) -> Result<vk::DescriptorSet> {
    let layouts = [layout];
    let info = vk::DescriptorSetAllocateInfo::default()
        .descriptor_pool(pool)
        .set_layouts(&layouts);
    // SAFETY: pool and layout were created on this device.
    let sets = unsafe { device.allocate_descriptor_sets(&info) }.called("vkAllocateDescriptorSets")?;
    Ok(sets[0])
}
