//! Dispatches kernels: the barrier before a dispatch, its descriptor set, and the dispatch itself.

use ash::vk;

use super::descriptors::{Descriptors, OperandBinding};
use super::hazards::{ObjectAccess, ObjectId, RequiredBarrier, Tracker};
use super::kernel::{KernelSet, OperandAccess};
use super::objects::StorageObject;
use super::pipelines::{PipelineKey, Pipelines, checked_groups, dispatch};
use crate::error::{Error, Result};
use tileheap::frame::AccessKind;
use tileheap::runtime::Device;
use tileheap::runtime::objects::{full_subresource_range, image_barrier};

/// The dispatch of a kernel.
pub(super) struct Dispatch<'a> {
    pub(super) key: PipelineKey,
    /// Each operand with its object in the tracker.
    pub(super) operands: &'a [(StorageObject, ObjectId)],
    /// The format of texel buffers among the operands.
    pub(super) format: vk::Format,
    pub(super) arguments: Vec<u8>,
    /// The number of vectors to compute, per axis.
    pub(super) work: [u32; 4],
}

/// Pipelines and descriptor sets of a device, created on first use.
pub(super) struct Dispatcher {
    pub(super) device: Device,
    pub(super) pipelines: Pipelines,
    pub(super) descriptors: Descriptors,
}

impl Dispatcher {
    pub(super) fn new(device: &Device, kernels: KernelSet) -> Dispatcher {
        Dispatcher {
            device: device.clone(),
            pipelines: Pipelines::new(kernels),
            descriptors: Descriptors::default(),
        }
    }

    /// Records a dispatch with the barrier it needs, and returns that barrier; `overwritten` creates the error for an operand that is read after
    /// being overwritten.
    ///
    /// # Safety
    /// `commands` is recording outside of a render pass; the operands are alive until the commands complete.
    pub(super) unsafe fn record(
        &mut self,
        commands: vk::CommandBuffer,
        tracker: &mut Tracker,
        call: &Dispatch<'_>,
        overwritten: impl FnOnce(usize) -> Error,
    ) -> Result<RequiredBarrier> {
        let Dispatch { key, operands, .. } = call;
        let pipeline = self.pipelines.get(&self.device, key)?;
        pipeline.check_operands(&key.kernel, operands.len())?;
        let accesses = &pipeline.kernel.operands;
        let track = |(&(_, object), access): (&(StorageObject, ObjectId), &OperandAccess)| {
            // An image that is both read and written has one layout for both.
            let mut others = operands.iter().zip(accesses);
            let shared =
                others.any(|(other, access)| other.1 == object && access.kind == AccessKind::StorageImage);
            ObjectAccess {
                object,
                reads: access.reads,
                writes: access.writes,
                layout: match shared {
                    true => vk::ImageLayout::GENERAL,
                    false => access.kind.layout(false, access.writes),
                },
            }
        };
        let tracked: Vec<ObjectAccess> = operands.iter().zip(accesses).map(track).collect();
        let required = tracker.access(&tracked).map_err(overwritten)?;
        if required.needs_barrier {
            let transition = |&(object, old, new): &(ObjectId, vk::ImageLayout, vk::ImageLayout)| {
                let operand = operands.iter().find(|operand| operand.1 == object);
                let Some((StorageObject::Image { handle, .. }, _)) = operand else {
                    unreachable!("only images among the operands change layout");
                };
                let reads = vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE;
                let whole = full_subresource_range(vk::ImageAspectFlags::COLOR);
                image_barrier(*handle, whole, (old, new), (vk::AccessFlags::SHADER_WRITE, reads))
            };
            let images: Vec<_> = required.transitions.iter().map(transition).collect();
            let stage = vk::PipelineStageFlags::COMPUTE_SHADER;
            // SAFETY: the caller's duty; the images are operands.
            unsafe { self.barrier(commands, (stage, stage), vk::AccessFlags::empty(), &images) };
        }
        let bound = operands.iter().zip(&tracked);
        let bound =
            bound.map(|(&(resource, _), access)| OperandBinding::new(resource, access.layout, call.format));
        let bound: Vec<OperandBinding> = bound.collect();
        let set = self.descriptors.get(&self.device, &pipeline, &bound)?;
        let groups = checked_groups(&self.device, &key.kernel, call.work, key.local_size)?;
        // SAFETY: the caller's duty; pipeline and set were made for each other.
        unsafe { dispatch(&self.device, commands, &pipeline, set, &call.arguments, groups) };
        Ok(required)
    }

    /// Records a barrier from earlier kernels (and copies, if `from` includes them) to later kernels and the accesses `more`.
    ///
    /// # Safety
    /// `commands` is recording outside of a render pass; the images are alive.
    pub(super) unsafe fn barrier(
        &self,
        commands: vk::CommandBuffer,
        (from, to): (vk::PipelineStageFlags, vk::PipelineStageFlags),
        more: vk::AccessFlags,
        images: &[vk::ImageMemoryBarrier<'_>],
    ) {
        use vk::AccessFlags as A;
        let copies = from.contains(vk::PipelineStageFlags::TRANSFER);
        let writes = if copies { A::TRANSFER_WRITE } else { A::empty() };
        let memory = [vk::MemoryBarrier::default()
            .src_access_mask(A::SHADER_WRITE | writes)
            .dst_access_mask(A::SHADER_READ | A::SHADER_WRITE | more)];
        let (device, none) = (self.device.raw(), vk::DependencyFlags::empty());
        // SAFETY: the caller's duty.
        unsafe { device.cmd_pipeline_barrier(commands, from, to, none, &memory, &[], images) };
    }

    /// Forgets a buffer, before it is destroyed.
    ///
    /// # Safety
    /// Nothing that uses it is in flight, or will be submitted.
    pub(super) unsafe fn forget(&mut self, buffer: vk::Buffer) {
        // SAFETY: the caller's duty.
        unsafe { self.descriptors.forget(&self.device, buffer) };
    }

    /// Forgets all operands of dispatched kernels.
    ///
    /// # Safety
    /// Nothing is in flight, or will be submitted.
    pub(super) unsafe fn forget_all(&mut self) {
        // SAFETY: the caller's duty.
        unsafe { self.descriptors.destroy(&self.device) };
    }

    /// Destroys the descriptor sets and pipelines.
    ///
    /// # Safety
    /// Nothing is in use on the device.
    pub(super) unsafe fn destroy(&mut self) {
        // SAFETY: the caller's duty.
        unsafe { self.descriptors.destroy(&self.device) };
        // SAFETY: the caller's duty.
        unsafe { self.pipelines.destroy(&self.device) };
    }
}
