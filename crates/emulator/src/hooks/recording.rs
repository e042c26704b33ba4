//! Entry points of command buffers and their recording, action commands apart.

use std::ffi::c_void;

use ash::vk::{self, Handle};
use tileheap_device::ffi::TileMemoryBindInfoQCOM;

use crate::barriers;
use crate::chain::elements;
use crate::device::{Device, device_of};
use crate::guard::{down, entry_points};
use crate::messages::{Finding, MessageId};
use crate::passes;
use crate::recording::{self, Recorder, recorded_commands, recording_into};
use crate::strip;

/// `vkCmdEndRendering2KHR`, which ash 0.38 lacks.
pub(crate) type EndRendering2 = unsafe extern "system" fn(vk::CommandBuffer, *const c_void);

entry_points! {
    /// Forgets the pool's command buffers.
    fn vkDestroyCommandPool(
        handle: vk::Device,
        pool: vk::CommandPool,
        allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        let Some(device) = device_of(handle) else { return };
        if device.tile.is_some() && pool != vk::CommandPool::null() {
            recording::forget_pool(handle, pool);
        }
        down!(device.next, vkDestroyCommandPool(handle, pool, allocator));
    }

    /// Recording begins anew with `vkBeginCommandBuffer`; nothing is to be done here.
    fn vkResetCommandPool(
        handle: vk::Device,
        pool: vk::CommandPool,
        flags: vk::CommandPoolResetFlags,
    ) -> vk::Result {
        let Some(device) = device_of(handle) else { return vk::Result::ERROR_UNKNOWN };
        down!(device.next, vkResetCommandPool(handle, pool, flags))
    }

    /// Remembers what was allocated.
    fn vkAllocateCommandBuffers(
        handle: vk::Device,
        info: *const vk::CommandBufferAllocateInfo<'_>,
        out: *mut vk::CommandBuffer,
    ) -> vk::Result {
        let Some(device) = device_of(handle) else { return vk::Result::ERROR_UNKNOWN };
        let result = down!(device.next, vkAllocateCommandBuffers(handle, info, out));
        if result == vk::Result::SUCCESS && device.tile.is_some() {
            // SAFETY: Valid usage: a valid structure.
            let info = unsafe { &*info };
            // SAFETY: The driver has written so many.
            let all = unsafe { elements(out.cast_const(), info.command_buffer_count) };
            recording::remember(&device, info, all);
        }
        result
    }

    /// Forgets what is freed.
    fn vkFreeCommandBuffers(
        handle: vk::Device,
        pool: vk::CommandPool,
        count: u32,
        all: *const vk::CommandBuffer,
    ) {
        let Some(device) = device_of(handle) else { return };
        // SAFETY: Valid usage.
        for commands in unsafe { elements(all, count) } {
            recording::forget(*commands);
        }
        down!(device.next, vkFreeCommandBuffers(handle, pool, count, all));
    }

    /// Begins unbound, or with what a secondary inherits.
    fn vkBeginCommandBuffer(
        commands: vk::CommandBuffer,
        info: *const vk::CommandBufferBeginInfo<'_>,
    ) -> vk::Result {
        // SAFETY: Valid usage: host access to the command buffer is synchronized.
        let Some(recorder) = (unsafe { recording_into(commands) }) else {
            let Some(device) = device_of(commands) else { return vk::Result::ERROR_UNKNOWN };
            return down!(device.next, vkBeginCommandBuffer(commands, info));
        };
        // SAFETY: Valid usage: a valid structure.
        let mut copy = unsafe { *info };
        if recorder.is_primary {
            // SAFETY: A primary inherits nothing.
            unsafe { recorder.begin(copy.flags, None) };
            return down!(recorder.device.next, vkBeginCommandBuffer(commands, info));
        }
        // SAFETY: Valid usage: a secondary has a valid inheritance.
        let inheritance = unsafe { copy.p_inheritance_info.as_ref() };
        // SAFETY: As above.
        unsafe { recorder.begin(copy.flags, inheritance) };
        // SAFETY: As above, and it outlives the call.
        let stripped = inheritance.map(|info| unsafe { strip::inheritance(info) });
        copy.p_inheritance_info = stripped.as_ref().map_or(std::ptr::null(), |stripped| &raw const stripped.info);
        down!(recorder.device.next, vkBeginCommandBuffer(commands, &copy))
    }

    /// Recording begins anew with `vkBeginCommandBuffer`; nothing is to be done here.
    fn vkResetCommandBuffer(commands: vk::CommandBuffer, flags: vk::CommandBufferResetFlags) -> vk::Result {
        let Some(device) = device_of(commands) else { return vk::Result::ERROR_UNKNOWN };
        down!(device.next, vkResetCommandBuffer(commands, flags))
    }

    /// Binds for the commands that follow. The bind itself discards nothing.
    fn vkCmdBindTileMemoryQCOM(commands: vk::CommandBuffer, info: *const TileMemoryBindInfoQCOM<'_>) {
        // SAFETY: Valid usage: host access to the command buffer is synchronized.
        let Some(recorder) = (unsafe { recording_into(commands) }) else { return };
        // SAFETY: Valid usage: null or a valid structure.
        let memory = unsafe { info.as_ref() }.map_or(vk::DeviceMemory::null(), |info| info.memory);
        let findings = {
            let mut recording = recorder.lock();
            let inside = recording.pass.is_some().then(|| Finding {
                id: MessageId::BoundInside,
                object: (vk::ObjectType::COMMAND_BUFFER, commands.as_raw()),
                text: "tile memory is bound inside a render pass (VUID-vkCmdBindTileMemoryQCOM-renderpass)".to_owned(),
            });
            inside.into_iter().chain(recorder.bind(&mut recording, memory)).collect()
        };
        recorder.device.reporter.report_all(findings);
    }

    /// Transitions from UNDEFINED discard.
    fn vkCmdPipelineBarrier2(commands: vk::CommandBuffer, info: *const vk::DependencyInfo<'_>) {
        let record = |device: &Device, infos: *const vk::DependencyInfo<'_>| down!(device.next, vkCmdPipelineBarrier2(commands, infos));
        // SAFETY: Valid usage: one valid structure.
        unsafe { dependencies(commands, info, 1, true, record) };
    }

    /// The same.
    fn vkCmdWaitEvents2(
        commands: vk::CommandBuffer,
        count: u32,
        events: *const vk::Event,
        infos: *const vk::DependencyInfo<'_>,
    ) {
        let record = |device: &Device, infos: *const vk::DependencyInfo<'_>| down!(device.next, vkCmdWaitEvents2(commands, count, events, infos));
        // SAFETY: Valid usage: as many valid structures as events.
        unsafe { dependencies(commands, infos, count, true, record) };
    }

    /// Discards happen where the event is waited for; the accesses must be the same at both ends.
    fn vkCmdSetEvent2(commands: vk::CommandBuffer, event: vk::Event, info: *const vk::DependencyInfo<'_>) {
        let record = |device: &Device, infos: *const vk::DependencyInfo<'_>| down!(device.next, vkCmdSetEvent2(commands, event, infos));
        // SAFETY: Valid usage: one valid structure.
        unsafe { dependencies(commands, info, 1, false, record) };
    }

    /// What was discarded inside becomes undefined.
    fn vkCmdEndRenderPass(commands: vk::CommandBuffer) {
        ended(commands, |device| down!(device.next, vkCmdEndRenderPass(commands)));
    }

    /// The same.
    fn vkCmdEndRenderPass2(commands: vk::CommandBuffer, info: *const vk::SubpassEndInfo<'_>) {
        ended(commands, |device| down!(device.next, vkCmdEndRenderPass2(commands, info)));
    }

    /// An action command; load operations may discard.
    fn vkCmdBeginRendering(commands: vk::CommandBuffer, info: *const vk::RenderingInfo<'_>) {
        // SAFETY: Valid usage: a valid structure.
        let asked = unsafe { &*info };
        // SAFETY: As above.
        let begin = |recorder: &Recorder| unsafe { passes::begin_rendering(recorder, asked) };
        on_device(commands, begin, |device| {
            // SAFETY: As above, and it outlives the call.
            let stripped = unsafe { strip::rendering(asked) };
            down!(device.next, vkCmdBeginRendering(commands, &stripped.info));
        });
    }

    /// What was discarded inside becomes undefined.
    fn vkCmdEndRendering(commands: vk::CommandBuffer) {
        ended(commands, |device| down!(device.next, vkCmdEndRendering(commands)));
    }

    /// The same.
    fn vkCmdEndRendering2KHR(commands: vk::CommandBuffer, info: *const c_void) {
        ended(commands, |device| down!(device.next, vkCmdEndRendering2KHR(commands, info)));
    }

    /// What the secondaries discard is discarded here.
    fn vkCmdExecuteCommands(commands: vk::CommandBuffer, count: u32, all: *const vk::CommandBuffer) {
        // SAFETY: Valid usage: host access to the command buffer is synchronized.
        let Some(recorder) = (unsafe { recording_into(commands) }) else {
            let Some(device) = device_of(commands) else { return };
            return down!(device.next, vkCmdExecuteCommands(commands, count, all));
        };
        // SAFETY: Valid usage.
        let secondaries = unsafe { elements(all, count) };
        passes::execute(recorder, secondaries, |part| {
            if !part.is_empty() {
                let next = &recorder.device.next;
                down!(next, vkCmdExecuteCommands(commands, part.len() as u32, part.as_ptr()));
            }
        });
    }
}

recorded_commands! {
    /// Transitions from UNDEFINED discard.
    fn vkCmdPipelineBarrier(
        commands,
        from: vk::PipelineStageFlags,
        to: vk::PipelineStageFlags,
        flags: vk::DependencyFlags,
        memory_count: u32,
        memory: *const vk::MemoryBarrier<'_>,
        buffer_count: u32,
        buffers: *const vk::BufferMemoryBarrier<'_>,
        image_count: u32,
        images: *const vk::ImageMemoryBarrier<'_>,
    // SAFETY: Valid usage.
    ) => next |recorder| unsafe { barriers::before(recorder, images, image_count) };

    /// The same.
    fn vkCmdWaitEvents(
        commands,
        event_count: u32,
        events: *const vk::Event,
        from: vk::PipelineStageFlags,
        to: vk::PipelineStageFlags,
        memory_count: u32,
        memory: *const vk::MemoryBarrier<'_>,
        buffer_count: u32,
        buffers: *const vk::BufferMemoryBarrier<'_>,
        image_count: u32,
        images: *const vk::ImageMemoryBarrier<'_>,
    // SAFETY: Valid usage.
    ) => next |recorder| unsafe { barriers::before(recorder, images, image_count) };

    /// An action command; load operations and initial layouts may discard.
    fn vkCmdBeginRenderPass(
        commands,
        info: *const vk::RenderPassBeginInfo<'_>,
        contents: vk::SubpassContents,
    // SAFETY: Valid usage: a valid structure.
    ) => next |recorder| unsafe { passes::begin_render_pass(recorder, info, "vkCmdBeginRenderPass") };

    /// The same.
    fn vkCmdBeginRenderPass2(
        commands,
        info: *const vk::RenderPassBeginInfo<'_>,
        contents: *const vk::SubpassBeginInfo<'_>,
    // SAFETY: Valid usage: a valid structure.
    ) => next |recorder| unsafe { passes::begin_render_pass(recorder, info, "vkCmdBeginRenderPass2") };
}

/// What the layer does where the command buffer has a recorder, and then what is to be called of its device.
fn on_device(commands: vk::CommandBuffer, before: impl FnOnce(&Recorder), call: impl FnOnce(&Device)) {
    // SAFETY: Valid usage: host access to the command buffer is synchronized.
    match unsafe { recording_into(commands) } {
        Some(recorder) => {
            before(recorder);
            call(&recorder.device);
        }
        None => {
            if let Some(device) = device_of(commands) {
                call(&device);
            }
        }
    }
}

fn ended(commands: vk::CommandBuffer, end_below: impl Fn(&Device)) {
    on_device(commands, |_| (), end_below);
    // SAFETY: Valid usage: host access to the command buffer is synchronized.
    if let Some(recorder) = unsafe { recording_into(commands) } {
        passes::end(recorder);
    }
}

/// # Safety
/// `infos` are `count` valid structures.
unsafe fn dependencies(
    commands: vk::CommandBuffer,
    infos: *const vk::DependencyInfo<'_>,
    count: u32,
    discards: bool,
    record: impl Fn(&Device, *const vk::DependencyInfo<'_>),
) {
    // SAFETY: The caller's promise.
    let given = unsafe { elements(infos, count) };
    let discard = |recorder: &Recorder| {
        if discards {
            // SAFETY: As above.
            unsafe { barriers::before2(recorder, given) };
        }
    };
    on_device(commands, discard, |device| {
        if !device.enabled.tile_shading {
            return record(device, infos);
        }
        // SAFETY: As above, and they outlive the call.
        let plain = unsafe { barriers::Plain::new(given) };
        record(device, plain.dependencies.as_ptr());
    });
}
