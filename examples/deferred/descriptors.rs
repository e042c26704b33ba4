//! Descriptor sets: one per slot for what all passes see, one per pass and parity for what a pass reads and writes.

use ash::vk;
use tileheap::runtime::{BoundFrame, Parity};

use crate::frame::Deferred;
use crate::pipelines::{Pipelines, inputs_of};
use crate::support::arrangement::Run;
use crate::support::descriptors::{SetLayout, create_pool};
use crate::support::error::Result;

/// Set 1 of every described pass wherever it runs, written once: history resources alternate between two copies, so there are two of each.
pub(crate) struct Inputs {
    pool: vk::DescriptorPool,
    /// By parity, then in the order of the runs; null for passes without a pipeline.
    sets: [Vec<vk::DescriptorSet>; 2],
}

impl Inputs {
    pub(crate) fn write(
        device: &ash::Device,
        deferred: &Deferred,
        bound: &BoundFrame,
        pipelines: &Pipelines,
    ) -> Result<Inputs> {
        let layout_of = |run: &Run| &pipelines.of(deferred, run.described).inputs;
        let sizes: Vec<_> = deferred
            .runs()
            .flat_map(|run| layout_of(&run).pool_sizes(2))
            .collect();
        let pool = create_pool(device, 2 * deferred.runs().count(), &sizes)?;
        let mut sets = [Vec::new(), Vec::new()];
        for parity in Parity::BOTH {
            for run in deferred.runs() {
                let layout = layout_of(&run);
                let mut set = vk::DescriptorSet::null();
                if layout.handle != vk::DescriptorSetLayout::null() {
                    set = layout.allocate(device, pool)?;
                    write_inputs(device, (layout, set), deferred, bound, &run, parity);
                }
                sets[parity.index()].push(set);
            }
        }
        Ok(Inputs { pool, sets })
    }

    pub(crate) fn of(&self, run: &Run, parity: Parity) -> vk::DescriptorSet {
        self.sets[parity.index()][run.number]
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
    (layout, set): (&SetLayout, vk::DescriptorSet),
    deferred: &Deferred,
    bound: &BoundFrame,
    run: &Run,
    parity: Parity,
) {
    for (access, declared) in inputs_of(deferred, run.described).zip(&layout.bindings) {
        let (pass, resource, version) = (run.pass, deferred.here(run, access.resource), access.version);
        if declared.descriptor_type == vk::DescriptorType::STORAGE_BUFFER {
            let buffer = bound.buffer_in(pass, resource, version, parity);
            let part = (buffer.offset, buffer.size);
            layout.write_buffer(device, set, declared.binding, buffer.handle, part);
        } else {
            let view = bound.image_in(pass, resource, version, parity).view;
            let image_layout = bound.layout_in(pass, resource, version);
            layout.write_image(device, set, declared.binding, view, image_layout);
        }
    }
}
