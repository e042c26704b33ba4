//! Descriptor sets: one per slot for data of all passes, one per pass and parity for the pass's own inputs and outputs.

use ash::vk;
use tileheap::frame::tables::Access;
use tileheap::lower::Parity;

use crate::frame::Deferred;
use crate::pipelines::{Pipelines, inputs_of};
use crate::support::arrangement::Run;
use crate::support::descriptors::{SetLayout, create_pool};
use crate::support::error::Result;

/// The object that a descriptor refers to.
#[derive(Clone, Copy)]
pub(crate) enum Input {
    /// A view of an image, and the layout of the image when the descriptor is used.
    Image(vk::ImageView, vk::ImageLayout),
    /// A range of a buffer: offset and size in bytes.
    Buffer(vk::Buffer, (vk::DeviceSize, vk::DeviceSize)),
}

/// Set 1 of every run of a described pass, written once: history resources alternate between two copies, so there are two of each.
pub(crate) struct Inputs {
    pool: vk::DescriptorPool,
    /// Descriptor sets by parity, then in the order of the runs; null for passes without a pipeline.
    sets: [Vec<vk::DescriptorSet>; 2],
}

impl Inputs {
    /// Writes all sets; `input` returns the object of an access in a run, for frames of a parity.
    pub(crate) fn write(
        device: &ash::Device,
        deferred: &Deferred,
        pipelines: &Pipelines,
        input: impl Fn(&Run, &Access, Parity) -> Input,
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
                    let accesses = inputs_of(deferred, run.described);
                    write_inputs(
                        device,
                        (layout, set),
                        accesses.map(|access| input(&run, access, parity)),
                    );
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

/// Writes set 1 of a pass: the resources that it reads and writes.
fn write_inputs(
    device: &ash::Device,
    (layout, set): (&SetLayout, vk::DescriptorSet),
    inputs: impl Iterator<Item = Input>,
) {
    for (input, declared) in inputs.zip(&layout.bindings) {
        match input {
            Input::Buffer(buffer, part) => layout.write_buffer(device, set, declared.binding, buffer, part),
            Input::Image(view, image_layout) => {
                layout.write_image(device, set, declared.binding, view, image_layout);
            }
        }
    }
}
