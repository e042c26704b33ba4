//! `VK_QCOM_tile_shading`: runs dispatches once per tile, by interrupting the render pass.
//!
//! ```text
//! the application's   begin pass ─ draws ─ dispatch per tile ─ draws ─ end
//! passed down         begin ─ draws ─ end │ barrier ─ dispatch (tile 0) ─ dispatch (tile 1) … ─ barrier │ begin, LOAD ─ draws ─ end
//! ```
//! Draws need no change: without tile shading in the fragment stage no shader of a draw can read its tile, and each fragment belongs to one tile, so
//! drawing once per tile gives the same result.

use std::ptr::null;

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::{array, call_down, chained, entry_points, given};

use super::device::{DEVICES, Device, device_entry_points};
use super::recorder::{Recorder, before_action, precede, recording_into};
use super::tile_properties::{tile_of_pass, tile_of_rendering};
use super::tile_records::TilePipeline;
use crate::model::finding::Finding;
use crate::model::objects::Object;
use crate::model::operations::Operation;
use crate::model::tile_passes::{Rendering, ResumeState, TilePass};
use crate::model::tile_shaders::GROUP;
use crate::tables::action_commands::ReachableDescriptors;
use crate::tables::messages::MessageId;
use crate::tables::own_commands::OwnTable;

/// Tracks the beginning of dynamic rendering; `stripped` does not contain the layer's structures.
pub(crate) fn begin_rendering(
    recorder: &Recorder,
    info: &vk::RenderingInfo<'_>,
    stripped: &vk::RenderingInfo<'_>,
) {
    let mut recording = recorder.lock();
    let reserved = recording.at.bound.map_or(0, |bound| bound.size);
    recording.tile_pass = Some(Box::new(TilePass {
        per_tile: false,
        area: info.render_area,
        tile: tile_of_rendering(&recorder.device, reserved, info),
        resume_state: Rendering::new(stripped).map(ResumeState::Rendering),
    }));
}

/// Tracks the beginning of an instance of a render pass object, if it has tile shading.
pub(crate) fn begin_pass(
    recorder: &Recorder,
    info: &vk::RenderPassBeginInfo<'_>,
    contents: vk::SubpassContents,
) {
    let resources = &recorder.device.resources;
    let pass = resources.render_passes.get(info.render_pass.as_raw());
    let Some(pass) = pass.filter(|pass| pass.is_tile_shading) else {
        return;
    };
    let mut recording = recorder.lock();
    let reserved = recording.at.bound.map_or(0, |bound| bound.size);
    let extent = resources
        .framebuffers
        .get(info.framebuffer.as_raw())
        .map_or(info.render_area.extent, |framebuffer| framebuffer.extent);
    let views = chained!(info.p_next => vk::RenderPassAttachmentBeginInfo<'_>);
    let resume_state = match pass.resuming_pass {
        None => Err("the render pass has several subpasses, or memory ran out when it was created"),
        Some(_) if contents != vk::SubpassContents::INLINE => {
            Err("the contents of the render pass are secondary command buffers")
        }
        Some(pass) => Ok(ResumeState::Pass {
            pass,
            framebuffer: info.framebuffer,
            views: views.map_or(Vec::new(), |views| {
                array!(views.p_attachments, views.attachment_count).to_vec()
            }),
        }),
    };
    recording.tile_pass = Some(Box::new(TilePass {
        per_tile: false,
        area: info.render_area,
        tile: tile_of_pass(&recorder.device, reserved, &pass, extent),
        resume_state,
    }));
}

/// Ends the render pass in the driver, calls `record`, and resumes the pass. Returns `false` if the pass cannot be interrupted.
fn interrupt(recorder: &Recorder, pass: &TilePass, record: impl FnOnce(&Device)) -> bool {
    let Ok(resume_state) = &pass.resume_state else {
        return false;
    };
    let (device, commands) = (&*recorder.device, recorder.handle);
    let next = &device.driver.commands;
    match resume_state {
        ResumeState::Rendering(_) => call_down!(next, vkCmdEndRendering(commands)),
        ResumeState::Pass { .. } => call_down!(next, vkCmdEndRenderPass(commands)),
    }
    let everything = || {
        let (stages, none) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::DependencyFlags::empty());
        let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        let barrier = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(all);
        call_down!(
            next,
            vkCmdPipelineBarrier(commands, stages, stages, none, 1, &barrier, 0, null(), 0, null())
        );
    };
    everything();
    record(device);
    everything();
    match resume_state {
        ResumeState::Rendering(rendering) => rendering.with_info(pass.area, |info| {
            call_down!(next, vkCmdBeginRendering(commands, info));
        }),
        ResumeState::Pass {
            pass: handle,
            framebuffer,
            views,
        } => {
            let mut attachments = vk::RenderPassAttachmentBeginInfo::default().attachments(views);
            let mut info = vk::RenderPassBeginInfo::default()
                .render_pass(*handle)
                .framebuffer(*framebuffer)
                .render_area(pass.area);
            if !views.is_empty() {
                info = info.push_next(&mut attachments);
            }
            call_down!(
                next,
                vkCmdBeginRenderPass(commands, &info, vk::SubpassContents::INLINE)
            );
        }
    }
    true
}

/// Records a barrier that includes stages that are invalid inside a render pass, by interrupting the tile shading pass. Returns `false` outside of such a
/// pass, and if it cannot be interrupted.
pub(crate) fn barrier_outside(recorder: &Recorder, record: impl FnOnce(&Device)) -> bool {
    let taken = recorder.lock().tile_pass.take();
    let Some(pass) = taken else { return false };
    let is_recorded = interrupt(recorder, &pass, record);
    recorder.lock().tile_pass = Some(pass);
    is_recorded
}

/// Runs `dispatch` for every tile, or reports why that is impossible; returns `false` outside per-tile execution.
fn each_tile(
    commands: vk::CommandBuffer,
    command: &'static str,
    dispatch: impl Fn(&Device, &TilePass),
) -> bool {
    let Some(recorder) = recording_into(commands) else {
        return false;
    };
    let Some(shading) = &recorder.device.tile_shading else {
        return false;
    };
    let (pass, pipeline) = {
        let mut recording = recorder.lock();
        if !recording.tile_pass.as_ref().is_some_and(|pass| pass.per_tile) {
            return false;
        }
        let pipeline = recording.sets.pipeline(vk::PipelineBindPoint::COMPUTE);
        (recording.tile_pass.take(), shading.pipelines.get(pipeline))
    };
    let Some(pass) = pass else { return false };
    before_action(
        recorder,
        ReachableDescriptors::Dispatch,
        &Operation::None,
        (command, true),
    );
    let mut has_room = true;
    let is_run = interrupt(recorder, &pass, |device| {
        for first in pass.tiles() {
            if let Some(TilePipeline { layout, .. }) = pipeline {
                let Some(offset) = shading.records.offset(first, pass.tile) else {
                    has_room = false;
                    return;
                };
                let (index, set, point) = (
                    shading.records.index,
                    shading.records.set,
                    vk::PipelineBindPoint::COMPUTE,
                );
                let next = &device.driver.commands;
                call_down!(
                    next,
                    vkCmdBindDescriptorSets(commands, point, layout, index, 1, &set, 1, &offset)
                );
            }
            dispatch(device, &pass);
        }
    });
    let reason = match &pass.resume_state {
        Err(reason) => Some(*reason),
        Ok(_) if is_run && !has_room => {
            Some("this device has used more distinct tiles than the emulator can store")
        }
        Ok(_) => None,
    };
    recorder.lock().tile_pass = Some(pass);
    if let Some(reason) = reason {
        report(commands, command, reason);
    }
    true
}

fn report(commands: vk::CommandBuffer, command: &'static str, reason: &str) {
    let Some(device) = DEVICES.of(commands) else {
        return;
    };
    let at = recording_into(commands).map(|recorder| {
        let mut recording = recorder.lock();
        recording.at.is_between(command);
        recording.at
    });
    let commands = Object::of(commands);
    let text = format!("{command} in {commands} is not emulated completely: {reason}");
    let finding = Finding::new(MessageId::TileShading, commands, text);
    device.reporter.report_all([Finding { at, ..finding }]);
}

/// Begins or ends per-tile execution; reports a finding outside of render passes with tile shading.
fn set_per_tile(commands: vk::CommandBuffer, command: &'static str, per_tile: bool) {
    let recorder = recording_into(commands);
    let is_set = recorder.is_some_and(|recorder| {
        let mut recording = recorder.lock();
        let pass = recording.tile_pass.as_mut();
        pass.is_some_and(|pass| {
            pass.per_tile = per_tile;
            true
        })
    });
    if !is_set {
        report(
            commands,
            command,
            "no render pass with tile shading that the emulator can split into tiles is being recorded, or no per-tile \
             feature is enabled (tileShadingPerTileDraw, tileShadingPerTileDispatch, tileShadingDispatchTile)",
        );
    }
}

entry_points! {
    of OwnTable:
    /// Begins per-tile execution: later dispatches run once per tile.
    vkCmdBeginPerTileExecutionQCOM(commands, _info) {
        set_per_tile(commands, "vkCmdBeginPerTileExecutionQCOM", true);
    }

    /// Ends per-tile execution: later dispatches run once.
    vkCmdEndPerTileExecutionQCOM(commands, _info) {
        set_per_tile(commands, "vkCmdEndPerTileExecutionQCOM", false);
    }

    /// Dispatches, for every tile, the workgroups that cover it at the shader's rate.
    vkCmdDispatchTileQCOM(commands, _info) {
        const NAME: &str = "vkCmdDispatchTileQCOM";
        let rate = recording_into(commands).and_then(|recorder| {
            let pipeline = recorder.lock().sets.pipeline(vk::PipelineBindPoint::COMPUTE);
            recorder.device.tile_shading.as_ref()?.pipelines.get(pipeline)?.rate
        });
        let Some(rate) = rate else {
            return report(commands, NAME, "no compute shader with a tile shading rate is bound");
        };
        let is_run = each_tile(commands, NAME, |device, pass| {
            let groups = |side: u32, axis: usize| side.div_ceil(rate[axis].max(1) * GROUP[axis]);
            let (x, y) = (groups(pass.tile.width, 0), groups(pass.tile.height, 1));
            call_down!(device.driver.actions, vkCmdDispatch(commands, x, y, 1));
        });
        if !is_run {
            report(commands, NAME, "per-tile execution has not begun");
        }
    }
}

/// Declares entry points of dispatches that run once per tile in per-tile execution, and unchanged outside of it.
macro_rules! per_tile {
    ($($name:ident: $command:ident($($arg:ident),+);)+) => {
        entry_points! { of OwnTable: $(
            $name(commands, $($arg),+) {
                let run = |device: &Device, _: &TilePass| call_down!(device.driver.actions, $command(commands, $($arg),+));
                if !each_tile(commands, stringify!($command), run) {
                    let before = |recorder: &Recorder| {
                        before_action(recorder, ReachableDescriptors::Dispatch, &Operation::None, (stringify!($command), true));
                    };
                    let next = |device: &Device| device.driver.actions.$command;
                    if let Some(next) = precede(stringify!($command), commands, before, next) {
                        // SAFETY: The next layer's command of this name, with the application's arguments.
                        unsafe { next(commands, $($arg),+) };
                    }
                }
            }
        )+}
    };
}

per_tile! {
    dispatch_per_tile: vkCmdDispatch(x, y, z);
    dispatch_indirect_per_tile: vkCmdDispatchIndirect(buffer, offset);
    dispatch_base_per_tile: vkCmdDispatchBase(base_x, base_y, base_z, x, y, z);
    // For instances that only have this name.
    dispatch_base_khr_per_tile: vkCmdDispatchBaseKHR(base_x, base_y, base_z, x, y, z);
}

device_entry_points! {
    /// Registers the set layouts of a pipeline layout. On devices with per-tile dispatches, adds the set of the tile records.
    vkCreatePipelineLayout(handle, info, allocator, out) |device| {
        let mut copy = *given!(info);
        let layouts = array!(copy.p_set_layouts, copy.set_layout_count);
        let extended = device.tile_shading.as_ref().and_then(|shading| shading.records.extended(layouts));
        if let Some(layouts) = &extended {
            copy.set_layout_count = layouts.len() as u32;
            copy.p_set_layouts = layouts.as_ptr();
        }
        let result = call_down!(device.driver.commands, vkCreatePipelineLayout(handle, &copy, allocator, out));
        if result == vk::Result::SUCCESS {
            device.descriptors.layouts.insert_pipeline(*given!(out), given!(info));
        }
        result
    }
}
