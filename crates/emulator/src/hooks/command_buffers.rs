//! Entry points of command buffers and their recording, except action commands.

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk;
use ash::vk::Handle;
use tileheap_device::ffi::TileMemoryBindInfoQCOM;
use tileheap_layer::arrays::elements;
use tileheap_layer::call_down;

use super::device::{Device, device_entry_points, device_of};
use super::order_commands::{Counted, OrderedAs, Scopes, order_barriers, order_dependencies};
use super::plain_barriers::PlainDependencies;
use super::recorder::{self, Recorder, recorded_commands, recording_into};
use super::strip;
use super::tile_shading;
use crate::model::passes::{self, Attached, Performs, Secondary};
use crate::model::recording::bound_inside;
use crate::model::resources::RenderPass;
use crate::model::tile_passes::{is_tile_shading, with_kept_stores};
use crate::model::transitions;

device_entry_points! {
    /// Forgets the pool's command buffers.
    fn vkDestroyCommandPool(
        handle: vk::Device,
        pool: vk::CommandPool,
        allocator: *const vk::AllocationCallbacks<'_>,
    ) |device| {
        if device.tile.is_some() && pool != vk::CommandPool::null() {
            recorder::forget_pool(handle, pool);
        }
        call_down!(device.driver.commands, vkDestroyCommandPool(handle, pool, allocator));
    }

    /// Nothing to do: `vkBeginCommandBuffer` begins a new recording.
    fn vkResetCommandPool(
        handle: vk::Device,
        pool: vk::CommandPool,
        flags: vk::CommandPoolResetFlags,
    ) -> vk::Result |device| {
        call_down!(device.driver.commands, vkResetCommandPool(handle, pool, flags))
    }

    /// Registers the command buffers.
    fn vkAllocateCommandBuffers(
        handle: vk::Device,
        info: *const vk::CommandBufferAllocateInfo<'_>,
        out: *mut vk::CommandBuffer,
    ) -> vk::Result |device| {
        let result = call_down!(device.driver.commands, vkAllocateCommandBuffers(handle, info, out));
        if result == vk::Result::SUCCESS && device.tile.is_some() {
            // SAFETY: Valid usage: a valid structure.
            let info = unsafe { &*info };
            // SAFETY: The driver has written so many.
            let all = unsafe { elements(out.cast_const(), info.command_buffer_count) };
            recorder::remember(&device, info, all);
        }
        result
    }

    /// Removes the command buffers.
    fn vkFreeCommandBuffers(
        handle: vk::Device,
        pool: vk::CommandPool,
        count: u32,
        all: *const vk::CommandBuffer,
    ) |device| {
        // SAFETY: Valid usage.
        for commands in unsafe { elements(all, count) } {
            recorder::forget(*commands);
        }
        call_down!(device.driver.commands, vkFreeCommandBuffers(handle, pool, count, all));
    }

    /// Begins with no tile memory bound, or with that inherited by a secondary command buffer.
    fn vkBeginCommandBuffer(
        commands: vk::CommandBuffer,
        info: *const vk::CommandBufferBeginInfo<'_>,
    ) -> vk::Result {
        // SAFETY: Valid usage: host access to the command buffer is synchronized.
        let Some(recorder) = (unsafe { recording_into(commands) }) else {
            let Some(device) = device_of(commands) else { return vk::Result::ERROR_UNKNOWN };
            return call_down!(device.driver.commands, vkBeginCommandBuffer(commands, info));
        };
        // SAFETY: Valid usage: a valid structure.
        let mut copy = unsafe { *info };
        if recorder.is_primary {
            // SAFETY: A primary inherits nothing.
            unsafe { recorder.begin(copy.flags, None) };
            return call_down!(recorder.device.driver.commands, vkBeginCommandBuffer(commands, info));
        }
        // SAFETY: Valid usage: a secondary has a valid inheritance.
        let inheritance = unsafe { copy.p_inheritance_info.as_ref() };
        // SAFETY: As above.
        unsafe { recorder.begin(copy.flags, inheritance) };
        // SAFETY: As above, and it outlives the call.
        let stripped = inheritance.map(|info| unsafe { strip::inheritance(info) });
        copy.p_inheritance_info = stripped.as_ref().map_or(std::ptr::null(), |stripped| &raw const stripped.info);
        call_down!(recorder.device.driver.commands, vkBeginCommandBuffer(commands, &copy))
    }

    /// Nothing to do: `vkBeginCommandBuffer` begins a new recording.
    fn vkResetCommandBuffer(commands: vk::CommandBuffer, flags: vk::CommandBufferResetFlags) -> vk::Result |device| {
        call_down!(device.driver.commands, vkResetCommandBuffer(commands, flags))
    }

    /// Binds for the commands that follow. The bind itself discards nothing.
    fn vkCmdBindTileMemoryQCOM(commands: vk::CommandBuffer, info: *const TileMemoryBindInfoQCOM<'_>) {
        // SAFETY: Valid usage: host access to the command buffer is synchronized.
        let Some(recorder) = (unsafe { recording_into(commands) }) else { return };
        // SAFETY: Valid usage: null or a valid structure.
        let memory = unsafe { info.as_ref() }.map_or(vk::DeviceMemory::null(), |info| info.memory);
        let findings: Vec<_> = {
            let mut recording = recorder.lock();
            recording.at.is_between("vkCmdBindTileMemoryQCOM");
            let inside = recording.pass.is_some().then(|| bound_inside(recording.at));
            inside.into_iter().chain(recorder.bind(&mut recording, memory)).collect()
        };
        recorder.device.reporter.report_all(findings);
    }

    /// Transitions from UNDEFINED discard.
    fn vkCmdPipelineBarrier2(commands: vk::CommandBuffer, info: *const vk::DependencyInfo<'_>) {
        let record = |device: &Device, infos: *const vk::DependencyInfo<'_>| call_down!(device.driver.commands, vkCmdPipelineBarrier2(commands, infos));
        // SAFETY: Valid usage: one valid structure.
        unsafe { dependencies(commands, info, 1, OrderedAs::Barrier, record) };
    }

    /// As `vkCmdPipelineBarrier2`.
    fn vkCmdWaitEvents2(
        commands: vk::CommandBuffer,
        count: u32,
        events: *const vk::Event,
        infos: *const vk::DependencyInfo<'_>,
    ) {
        let record = |device: &Device, infos: *const vk::DependencyInfo<'_>| call_down!(device.driver.commands, vkCmdWaitEvents2(commands, count, events, infos));
        // SAFETY: Valid usage: as many valid structures as events.
        let events = unsafe { elements(events, count) };
        // SAFETY: As above.
        unsafe { dependencies(commands, infos, count, OrderedAs::Wait(events), record) };
    }

    /// Discards happen at the wait; both dependency infos must have the same accesses.
    fn vkCmdSetEvent2(commands: vk::CommandBuffer, event: vk::Event, info: *const vk::DependencyInfo<'_>) {
        let record = |device: &Device, infos: *const vk::DependencyInfo<'_>| call_down!(device.driver.commands, vkCmdSetEvent2(commands, event, infos));
        // SAFETY: Valid usage: one valid structure.
        unsafe { dependencies(commands, info, 1, OrderedAs::Set(event), record) };
    }

    /// Poisons bytes that the render pass discarded.
    fn vkCmdEndRenderPass(commands: vk::CommandBuffer) {
        ended(commands, "vkCmdEndRenderPass", |device| call_down!(device.driver.commands, vkCmdEndRenderPass(commands)));
    }

    /// As `vkCmdEndRenderPass`.
    fn vkCmdEndRenderPass2(commands: vk::CommandBuffer, info: *const vk::SubpassEndInfo<'_>) {
        ended(commands, "vkCmdEndRenderPass2", |device| call_down!(device.driver.commands, vkCmdEndRenderPass2(commands, info)));
    }

    /// An action command; load operations may discard.
    fn vkCmdBeginRendering(commands: vk::CommandBuffer, info: *const vk::RenderingInfo<'_>) {
        // SAFETY: Valid usage: a valid structure.
        let info = unsafe { &*info };
        let begin = |recorder: &Recorder| {
            // SAFETY: As above.
            let attached = unsafe { passes::of_rendering(&recorder.device.resources, info) };
            begin_pass(recorder, &attached, Performs::of(info.flags), None, "vkCmdBeginRendering");
        };
        // SAFETY: As above, and it outlives the call.
        let stripped = unsafe { strip::rendering(info) };
        on_device(commands, begin, |device| {
            let next = &device.driver.commands;
            // SAFETY: As above.
            if device.tile_shading.is_none() || !unsafe { is_tile_shading(info.p_next) } {
                return call_down!(next, vkCmdBeginRendering(commands, &stripped.info));
            }
            let record = |info: &vk::RenderingInfo<'_>| call_down!(next, vkCmdBeginRendering(commands, info));
            // SAFETY: As above.
            unsafe { with_kept_stores(&stripped.info, record) };
            // SAFETY: Valid usage: host access to the command buffer is synchronized.
            if let Some(recorder) = unsafe { recording_into(commands) } {
                // SAFETY: As above.
                unsafe { tile_shading::begin_rendering(recorder, info, &stripped.info) };
            }
        });
    }

    /// Poisons bytes that the render pass discarded.
    fn vkCmdEndRendering(commands: vk::CommandBuffer) {
        ended(commands, "vkCmdEndRendering", |device| call_down!(device.driver.commands, vkCmdEndRendering(commands)));
    }

    /// As `vkCmdEndRendering`.
    fn vkCmdEndRendering2KHR(commands: vk::CommandBuffer, info: *const c_void) {
        ended(commands, "vkCmdEndRendering2KHR", |device| call_down!(device.driver.commands, vkCmdEndRendering2KHR(commands, info)));
    }

    /// Poisons bytes that the secondary command buffers discard.
    fn vkCmdExecuteCommands(commands: vk::CommandBuffer, count: u32, all: *const vk::CommandBuffer) {
        // SAFETY: Valid usage: host access to the command buffer is synchronized.
        let Some(recorder) = (unsafe { recording_into(commands) }) else {
            let Some(device) = device_of(commands) else { return };
            return call_down!(device.driver.commands, vkCmdExecuteCommands(commands, count, all));
        };
        // SAFETY: Valid usage.
        execute(recorder, unsafe { elements(all, count) });
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
    ) => commands |recorder| {
        let counted = ((memory_count, memory), (buffer_count, buffers), (image_count, images));
        // SAFETY: Valid usage.
        unsafe { before_barriers(recorder, "vkCmdPipelineBarrier", &[], (from, to, flags), counted) };
    };

    /// As `vkCmdPipelineBarrier`.
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
    ) => commands |recorder| {
        let counted = ((memory_count, memory), (buffer_count, buffers), (image_count, images));
        let scopes = (from, to, vk::DependencyFlags::empty());
        // SAFETY: Valid usage.
        let events = unsafe { elements(events, event_count) };
        // SAFETY: As above.
        unsafe { before_barriers(recorder, "vkCmdWaitEvents", events, scopes, counted) };
    };

    /// An action command; load operations and initial layouts may discard.
    fn vkCmdBeginRenderPass(
        commands,
        info: *const vk::RenderPassBeginInfo<'_>,
        contents: vk::SubpassContents,
    // SAFETY: Valid usage: a valid structure.
    ) => commands |recorder| unsafe { begin_render_pass(recorder, info, contents, "vkCmdBeginRenderPass") };

    /// As `vkCmdBeginRenderPass`.
    fn vkCmdBeginRenderPass2(
        commands,
        info: *const vk::RenderPassBeginInfo<'_>,
        contents: *const vk::SubpassBeginInfo<'_>,
    ) => commands |recorder| {
        // SAFETY: Valid usage: a valid structure.
        let contents = unsafe { (*contents).contents };
        // SAFETY: As above.
        unsafe { begin_render_pass(recorder, info, contents, "vkCmdBeginRenderPass2") }
    };
}

/// Handles a barrier before it is recorded.
///
/// # Safety
/// The pointers are to as many valid structures.
#[inline]
unsafe fn before_barriers(
    recorder: &Recorder,
    command: &'static str,
    events: &[vk::Event],
    scopes: Scopes,
    counted: Counted<'_>,
) {
    let (_, _, (count, first)) = counted;
    if recorder.follows_order {
        // SAFETY: The caller's promise.
        unsafe { order_barriers(recorder, command, events, scopes, counted) };
    }
    // Most have none.
    if count > 0 {
        // SAFETY: The caller's promise.
        before_image_barriers(recorder, command, unsafe { elements(first, count) });
    }
}

#[inline(never)]
fn before_image_barriers(
    recorder: &Recorder,
    command: &'static str,
    barriers: &[vk::ImageMemoryBarrier<'_>],
) {
    for barrier in barriers {
        let layouts = (barrier.old_layout, barrier.new_layout);
        before_transition(
            recorder,
            command,
            layouts,
            barrier.image,
            barrier.subresource_range,
        );
    }
}

fn before_transition(
    recorder: &Recorder,
    command: &'static str,
    (from, to): (vk::ImageLayout, vk::ImageLayout),
    image: vk::Image,
    range: vk::ImageSubresourceRange,
) {
    if transitions::discards(from, to) {
        let mut recording = recorder.lock();
        recording.at.is_between(command);
        let resources = &recorder.device.resources;
        let discard = transitions::from_undefined(&mut recording, resources, image, range);
        discard.into_iter().for_each(|discard| recorder.poison(discard));
    }
}

/// # Safety
/// `info` is valid.
unsafe fn begin_render_pass(
    recorder: &Recorder,
    info: *const vk::RenderPassBeginInfo<'_>,
    contents: vk::SubpassContents,
    command: &'static str,
) {
    // SAFETY: The caller's promise.
    let info = unsafe { &*info };
    if recorder.device.tile_shading.is_some() {
        // SAFETY: As above.
        unsafe { tile_shading::begin_pass(recorder, info, contents) };
    }
    // SAFETY: The caller's promise.
    let attached = unsafe { passes::of_render_pass(&recorder.device.resources, info) };
    let all = Performs {
        loads: true,
        stores: true,
    };
    let pass = recorder
        .device
        .resources
        .render_passes
        .get(info.render_pass.as_raw());
    begin_pass(recorder, &attached, all, pass, command);
}

fn begin_pass(
    recorder: &Recorder,
    attached: &[Attached],
    performs: Performs,
    pass: Option<Arc<RenderPass>>,
    command: &'static str,
) {
    let findings = {
        let mut recording = recorder.lock();
        let begun = passes::begin(&mut recording, attached, performs, pass, command);
        if begun.guard {
            recorder.guard();
        }
        begun
            .discards
            .into_iter()
            .for_each(|discard| recorder.poison(discard));
        begun.findings
    };
    recorder.device.reporter.report_all(findings);
}

/// Executes secondary command buffers, in parts where one of them discards.
fn execute(recorder: &Recorder, secondaries: &[vk::CommandBuffer]) {
    let run = |part: &[vk::CommandBuffer]| {
        if !part.is_empty() {
            let next = &recorder.device.driver.commands;
            call_down!(
                next,
                vkCmdExecuteCommands(recorder.handle, part.len() as u32, part.as_ptr())
            );
        }
    };
    let mut findings = Vec::new();
    {
        let mut recording = recorder.lock();
        recording.at.act("vkCmdExecuteCommands");
        let mut begun = 0;
        for (index, handle) in secondaries.iter().enumerate() {
            let Some(secondary) = recorder::recorder(*handle) else {
                continue;
            };
            let secondary = {
                let mut recorded = secondary.lock();
                Secondary {
                    handle: *handle,
                    contents: recorded.contents.clone(),
                    uses_tile: recorded.uses_tile,
                    order: recorded.order.freeze(),
                }
            };
            if let Some(discard) = passes::execute(&mut recording, &secondary, &mut findings) {
                run(&secondaries[begun..index]);
                begun = index;
                recorder.poison(discard);
            }
        }
        run(&secondaries[begun..]);
        passes::executed(&mut recording);
    }
    recorder.device.reporter.report_all(findings);
}

/// Does `before` where the command buffer has a recorder, then calls its device.
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

fn ended(commands: vk::CommandBuffer, command: &'static str, end_below: impl Fn(&Device)) {
    on_device(commands, |_| (), end_below);
    // SAFETY: Valid usage: host access to the command buffer is synchronized.
    if let Some(recorder) = unsafe { recording_into(commands) } {
        let (discards, findings) = {
            let mut recording = recorder.lock();
            recording.tile_pass = None;
            passes::end(&mut recording, command)
        };
        discards.into_iter().for_each(|discard| recorder.poison(discard));
        recorder.device.reporter.report_all(findings);
    }
}

/// # Safety
/// `infos` are `count` valid structures.
unsafe fn dependencies(
    commands: vk::CommandBuffer,
    infos: *const vk::DependencyInfo<'_>,
    count: u32,
    ordered_as: OrderedAs<'_>,
    record: impl Fn(&Device, *const vk::DependencyInfo<'_>),
) {
    // SAFETY: The caller's promise.
    let given = unsafe { elements(infos, count) };
    let discard = |recorder: &Recorder| {
        // SAFETY: As above.
        unsafe { order_dependencies(recorder, ordered_as, given) };
        if let Some(command) = ordered_as.discards() {
            for info in given {
                // SAFETY: As above.
                let barriers =
                    unsafe { elements(info.p_image_memory_barriers, info.image_memory_barrier_count) };
                for barrier in barriers {
                    let layouts = (barrier.old_layout, barrier.new_layout);
                    before_transition(
                        recorder,
                        command,
                        layouts,
                        barrier.image,
                        barrier.subresource_range,
                    );
                }
            }
        }
    };
    on_device(commands, discard, |device| {
        if !device.enabled.tile_shading {
            return record(device, infos);
        }
        // SAFETY: As above, and they outlive the call.
        let plain = unsafe { PlainDependencies::new(given) };
        let record = |device: &Device| record(device, plain.dependencies.as_ptr());
        // SAFETY: Valid usage: host access to the command buffer is synchronized.
        let recorder = unsafe { recording_into(commands) }.filter(|_| plain.names_compute);
        if !recorder.is_some_and(|recorder| tile_shading::barrier_outside(recorder, record)) {
            record(device);
        }
    });
}
