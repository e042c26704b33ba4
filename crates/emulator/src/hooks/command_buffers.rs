//! Entry points for command buffer management, barriers, render passes, secondary command buffers and tile memory binds.

use std::sync::atomic::Ordering;

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::{array, call_down, entry_points, given};

use super::device::{DEVICES, Device, device_entry_points};
use super::order_commands::{
    Barriers, DependencyCommand, Stages, order_barriers, order_dependencies, repeat_barrier,
};
use super::plain_barriers::PlainDependencies;
use super::recorder::{self, Recorder, recorded_commands, recording_into};
use super::strip;
use super::tile_shading;
use crate::model::passes::{self, BoundAttachment, PerformedOperations, Secondary};
use crate::model::recording::bound_inside;
use crate::model::resources::RenderPass;
use crate::model::tile_passes::{is_tile_shading, with_kept_stores};
use crate::model::transitions;
use crate::tables::device_commands::DeviceTable;
use crate::tables::own_commands::OwnTable;
use crate::tables::unseen_writes::UnseenWrites;

device_entry_points! {
    /// Unregisters the command buffers of the pool, and destroys the pool.
    vkDestroyCommandPool(handle, pool, allocator) |device| {
        if device.check.is_some() && pool != vk::CommandPool::null() {
            recorder::forget_pool(handle, pool);
        }
        call_down!(device.driver.commands, vkDestroyCommandPool(handle, pool, allocator));
    }

    /// Registers the command buffers.
    vkAllocateCommandBuffers(handle, info, out) |device| {
        let result = call_down!(device.driver.commands, vkAllocateCommandBuffers(handle, info, out));
        if result == vk::Result::SUCCESS && device.check.is_some() {
            let info = given!(info);
            let all = array!(out.cast_const(), info.command_buffer_count);
            recorder::remember(&device, info, all);
        }
        result
    }

    /// Unregisters and frees the command buffers.
    vkFreeCommandBuffers(handle, pool, count, all) |device| {
        for commands in array!(all, count) {
            recorder::forget(*commands);
        }
        call_down!(device.driver.commands, vkFreeCommandBuffers(handle, pool, count, all));
    }

    /// Begins recording with no tile memory bound, or with the memory that a secondary command buffer inherits.
    vkBeginCommandBuffer(commands, info) {
        let Some(recorder) = recording_into(commands) else {
            let Some(device) = DEVICES.of(commands) else { return vk::Result::ERROR_UNKNOWN };
            return call_down!(device.driver.commands, vkBeginCommandBuffer(commands, info));
        };
        let mut copy = *given!(info);
        if recorder.is_primary {
            recorder.begin(copy.flags, None);
            return call_down!(recorder.device.driver.commands, vkBeginCommandBuffer(commands, info));
        }
        let inheritance = array!(copy.p_inheritance_info, 1).first();
        recorder.begin(copy.flags, inheritance);
        let stripped = inheritance.map(strip::inheritance);
        copy.p_inheritance_info = stripped.as_ref().map_or(std::ptr::null(), |stripped| &raw const stripped.info);
        call_down!(recorder.device.driver.commands, vkBeginCommandBuffer(commands, &copy))
    }

    /// Tracks the barriers, and poisons contents that transitions from `UNDEFINED` discard.
    vkCmdPipelineBarrier2(commands, info) {
        let record = |device: &Device, infos: *const vk::DependencyInfo<'_>| call_down!(device.driver.commands, vkCmdPipelineBarrier2(commands, infos));
        dependencies(commands, info, 1, DependencyCommand::Barrier, record);
    }

    /// Same as `vkCmdPipelineBarrier2`.
    vkCmdWaitEvents2(commands, count, events, infos) {
        let record = |device: &Device, infos: *const vk::DependencyInfo<'_>| call_down!(device.driver.commands, vkCmdWaitEvents2(commands, count, events, infos));
        let events = array!(events, count);
        dependencies(commands, infos, count, DependencyCommand::Wait(events), record);
    }

    /// Records that the event is set. Contents are only discarded at the wait, whose dependency info must be equal.
    vkCmdSetEvent2(commands, event, info) {
        let record = |device: &Device, infos: *const vk::DependencyInfo<'_>| call_down!(device.driver.commands, vkCmdSetEvent2(commands, event, infos));
        dependencies(commands, info, 1, DependencyCommand::Set(event), record);
    }

    /// Begins dynamic rendering: an action command, whose load operations may discard contents.
    vkCmdBeginRendering(commands, info) {
        let info = given!(info);
        let begin = |recorder: &Recorder| {
            let attached = passes::of_rendering(&recorder.device.resources, info);
            let reads_locally = recorder.device.descriptors.has_inputs.load(Ordering::Relaxed);
            let performs = PerformedOperations::of(info.flags, reads_locally, is_tile_shading(info.p_next));
            begin_pass(recorder, &attached, performs, None, info.render_area, "vkCmdBeginRendering");
        };
        let stripped = strip::rendering(info);
        on_device(commands, begin, |device| {
            let next = &device.driver.commands;
            if device.tile_shading.is_none() || !is_tile_shading(info.p_next) {
                return call_down!(next, vkCmdBeginRendering(commands, &stripped.info));
            }
            let record = |info: &vk::RenderingInfo<'_>| call_down!(next, vkCmdBeginRendering(commands, info));
            with_kept_stores(&stripped.info, record);
            if let Some(recorder) = recording_into(commands) {
                tile_shading::begin_rendering(recorder, info, &stripped.info);
            }
        });
    }

    /// Executes the secondary command buffers, and poisons the bytes that they discard.
    vkCmdExecuteCommands(commands, count, all) {
        let Some(recorder) = recording_into(commands) else {
            let Some(device) = DEVICES.of(commands) else { return };
            return call_down!(device.driver.commands, vkCmdExecuteCommands(commands, count, all));
        };
        execute(recorder, array!(all, count));
    }
}

entry_points! {
    of OwnTable:
    /// Binds tile memory for the following commands. The bind itself discards nothing.
    vkCmdBindTileMemoryQCOM(commands, info) {
        let Some(recorder) = recording_into(commands) else { return };
        let memory = array!(info, 1).first().map_or(vk::DeviceMemory::null(), |info| info.memory);
        let findings: Vec<_> = {
            let mut recording = recorder.lock();
            recording.at.is_between("vkCmdBindTileMemoryQCOM");
            let inside = recording.pass.is_some().then(|| bound_inside(recording.at));
            inside.into_iter().chain(recorder.bind(&mut recording, memory)).collect()
        };
        recorder.device.reporter.report_all(findings);
    }
}

macro_rules! pass_ends {
    ($($command:ident($($info:ident)?);)+) => {
        device_entry_points! {$(
            /// Ends the render pass, and poisons the bytes that it discarded.
            $command(commands $(, $info)?) {
                ended(commands, stringify!($command), |device| call_down!(device.driver.commands, $command(commands $(, $info)?)));
            }
        )+}
    };
}

pass_ends! {
    vkCmdEndRenderPass();
    vkCmdEndRenderPass2(info);
    vkCmdEndRendering();
    vkCmdEndRendering2KHR(info);
}

recorded_commands! {
    /// Tracks the barriers, and poisons contents that transitions from `UNDEFINED` discard.
    vkCmdPipelineBarrier(
        commands, from, to, flags, memory_count, memory, buffer_count, buffers, image_count, images
    ) => commands DeviceTable unless (match (memory_count, buffer_count, image_count) {
        (_, _, 0) if !recorder.follows_order => true,
        (1, 0, 0) => repeat_barrier(recorder, "vkCmdPipelineBarrier", (from, to), given!(memory)),
        _ => false,
    }) |recorder| {
        // Most are for tracked memory, which only matters if order is followed.
        if recorder.follows_order || image_count > 0 {
            let (memory, buffers) = (array!(memory, memory_count), array!(buffers, buffer_count));
            let barriers = (memory, buffers, array!(images, image_count));
            before_barriers(recorder, "vkCmdPipelineBarrier", &[], (from, to, flags), barriers);
        }
    };

    /// Same as `vkCmdPipelineBarrier`.
    vkCmdWaitEvents(
        commands, event_count, events, from, to, memory_count, memory, buffer_count, buffers, image_count, images
    ) => commands DeviceTable |recorder| {
        let (memory, buffers) = (array!(memory, memory_count), array!(buffers, buffer_count));
        let barriers = (memory, buffers, array!(images, image_count));
        let scopes = (from, to, vk::DependencyFlags::empty());
        before_barriers(recorder, "vkCmdWaitEvents", array!(events, event_count), scopes, barriers);
    };

    /// Begins a render pass: an action command, whose load operations and initial layouts may discard
    /// contents.
    vkCmdBeginRenderPass(commands, info, contents) => commands DeviceTable |recorder| begin_render_pass(recorder, info, contents, "vkCmdBeginRenderPass");

    /// Same as `vkCmdBeginRenderPass`.
    vkCmdBeginRenderPass2(commands, info, contents) => commands DeviceTable |recorder| {
        let contents = given!(contents).contents;
        begin_render_pass(recorder, info, contents, "vkCmdBeginRenderPass2")
    };
}

/// Maps image barriers to tuples of their old and new layouts, image and subresource range.
macro_rules! transitions {
    ($barriers:expr) => {
        $barriers
            .iter()
            .map(|it| ((it.old_layout, it.new_layout), it.image, it.subresource_range))
    };
}

type Transition = (
    (vk::ImageLayout, vk::ImageLayout),
    vk::Image,
    vk::ImageSubresourceRange,
);

/// Tracks barriers before they are recorded, and poisons contents that their transitions discard.
#[inline]
fn before_barriers(
    recorder: &Recorder,
    command: &'static str,
    events: &[vk::Event],
    scopes: Stages,
    barriers: Barriers<'_>,
) {
    if recorder.follows_order || !barriers.2.is_empty() {
        order_barriers(recorder, command, events, scopes, barriers);
    }
    if !barriers.2.is_empty() {
        before_transitions(recorder, transitions!(barriers.2));
    }
}

#[inline(never)]
fn before_transitions(recorder: &Recorder, transitions: impl Iterator<Item = Transition>) {
    for (_, image, range) in transitions.filter(|((from, to), ..)| transitions::discards(*from, *to)) {
        let resources = &recorder.device.resources;
        let discard = transitions::from_undefined(&recorder.lock(), resources, image, range);
        discard.into_iter().for_each(|discard| recorder.poison(discard));
    }
}

fn begin_render_pass(
    recorder: &Recorder,
    info: *const vk::RenderPassBeginInfo<'_>,
    contents: vk::SubpassContents,
    command: &'static str,
) {
    let info = given!(info);
    if recorder.device.tile_shading.is_some() {
        tile_shading::begin_pass(recorder, info, contents);
    }
    let attached = passes::of_render_pass(&recorder.device.resources, info);
    let pass = recorder
        .device
        .resources
        .render_passes
        .get(info.render_pass.as_raw());
    let all = PerformedOperations {
        loads: true,
        stores: true,
        reads_locally: false,
        is_tile_shading: pass.as_ref().is_some_and(|pass| pass.is_tile_shading),
    };
    begin_pass(
        recorder,
        &attached,
        all,
        pass.as_deref(),
        info.render_area,
        command,
    );
}

fn begin_pass(
    recorder: &Recorder,
    attached: &[BoundAttachment],
    performs: PerformedOperations,
    pass: Option<&RenderPass>,
    area: vk::Rect2D,
    command: &'static str,
) {
    let findings = {
        let mut recording = recorder.lock();
        let begun = passes::begin(&mut recording, attached, performs, pass, area, command);
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

/// Executes secondary command buffers; the command is split where one of them discards contents.
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
                    contents: recorded.contents,
                    uses_tile: recorded.uses_tile,
                    order: recorded.order.freeze(),
                }
            };
            if let Some(discard) = passes::execute(&mut recording, &secondary) {
                run(&secondaries[begun..index]);
                begun = index;
                recorder.poison(discard);
            }
        }
        run(&secondaries[begun..]);
        passes::executed(&mut recording);
    }
    let writes_attachments = recorder.lock().writes_attachments;
    if writes_attachments {
        recorder.begin_unseen_writes(UnseenWrites::DESCRIPTORS, "vkCmdExecuteCommands");
    }
}

/// Calls `before` if the command buffer has a recorder, then calls `call` with the device.
fn on_device(commands: vk::CommandBuffer, before: impl FnOnce(&Recorder), call: impl FnOnce(&Device)) {
    match recording_into(commands) {
        Some(recorder) => {
            before(recorder);
            call(&recorder.device);
        }
        None => {
            if let Some(device) = DEVICES.of(commands) {
                call(&device);
            }
        }
    }
}

fn ended(commands: vk::CommandBuffer, command: &'static str, end_below: impl Fn(&Device)) {
    on_device(commands, |_| (), end_below);
    if let Some(recorder) = recording_into(commands) {
        let (discards, findings) = {
            let mut recording = recorder.lock();
            recording.tile_pass = None;
            passes::end(&mut recording, command)
        };
        discards.into_iter().for_each(|discard| recorder.poison(discard));
        recorder.device.reporter.report_all(findings);
    }
}

fn dependencies(
    commands: vk::CommandBuffer,
    infos: *const vk::DependencyInfo<'_>,
    count: u32,
    command: DependencyCommand<'_>,
    record: impl Fn(&Device, *const vk::DependencyInfo<'_>),
) {
    let given = array!(infos, count);
    let discard = |recorder: &Recorder| {
        if recorder.follows_order || given.iter().any(|info| info.image_memory_barrier_count > 0) {
            order_dependencies(recorder, command, given);
        }
        if command.discards().is_some() {
            for info in given {
                let barriers = array!(info.p_image_memory_barriers, info.image_memory_barrier_count);
                before_transitions(recorder, transitions!(barriers));
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
        let recorder = recording_into(commands).filter(|_| plain.names_compute);
        if !recorder.is_some_and(|recorder| tile_shading::barrier_outside(recorder, record)) {
            record(device);
        }
    });
}
