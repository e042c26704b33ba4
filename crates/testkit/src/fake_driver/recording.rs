//! Command buffers: begin, end, and every command.

use ash::vk;
use ash::vk::Handle;
use tileheap::ffi::{self, tile_memory_heap};
use tileheap::runtime::Capabilities;
use tileheap_layer::dependencies::{Dependency, DependencyMemory, from_v1, from_v2};
use tileheap_layer::{array, chained, given, text};

use super::entry::{DEBUG_UTILS, Since, V1_0, V1_3, entry_points};
use super::journal::{Barrier, BarrierTarget, Call, Command, Object};
use super::records::{Detail, Recording, Stage, pass_tiles};
use super::state::Entered;

entry_points! {
    look_up:
    V1_0 => vk::PFN_vkBeginCommandBuffer(command_buffer, info) |call may fail| {
        let info = given!(info);
        let pool = call
            .objects
            .get(&command_buffer.as_raw())
            .map_or(0, |record| record.parent);
        let resets = match call.objects.get(&pool).map(|record| &record.detail) {
            Some(Detail::CommandPool { resets }) => *resets,
            _ => false,
        };
        let Some(recording) = call.recording(command_buffer) else {
            return vk::Result::SUCCESS;
        };
        let (stage, secondary) = (recording.stage, recording.secondary);
        let mut fresh = Recording {
            stage: Stage::Recording,
            secondary,
            one_time: info.flags.contains(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT),
            ..Recording::default()
        };
        if secondary && !info.p_inheritance_info.is_null() {
            let inheritance = given!(info.p_inheritance_info);
            fresh.inherits =
                chained!(inheritance.p_next => ffi::TileMemoryBindInfoQCOM<'_>).map(|info| info.memory);
            fresh.active = fresh.inherits;
            let inside = info
                .flags
                .contains(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE);
            fresh.rendering = inside.then_some(false);
            fresh.shading = pass_tiles!(inheritance.p_next).shading;
        }
        let inherits = fresh.inherits;
        fresh.names.extend(inherits.map(Handle::as_raw));
        *recording = fresh;
        match stage {
            Stage::Initial => {}
            Stage::Executable | Stage::Invalid if resets => {}
            // VUID-vkBeginCommandBuffer-commandBuffer-00049 and -00050.
            _ => call.violation(format_args!("{command_buffer:?} is in the state {stage:?}")),
        }
        if let Some(memory) = inherits {
            expect_tile(&mut call, memory);
        }
        vk::Result::SUCCESS
    }

    V1_0 => vk::PFN_vkEndCommandBuffer(command_buffer) |call| {
        let failed = call.fails();
        let Some(recording) = call.recording(command_buffer) else {
            return vk::Result::SUCCESS;
        };
        let (stage, open) = (
            recording.stage,
            recording.rendering.is_some() && !recording.secondary,
        );
        recording.stage = if failed.is_some() {
            Stage::Invalid
        } else {
            Stage::Executable
        };
        if let Some(error) = failed {
            return error;
        }
        if stage != Stage::Recording {
            // VUID-vkEndCommandBuffer-commandBuffer-00059.
            call.violation(format_args!("{command_buffer:?} is in the state {stage:?}"));
        }
        if open {
            // VUID-vkEndCommandBuffer-commandBuffer-00060.
            call.violation("inside a render pass instance");
        }
        vk::Result::SUCCESS
    }

    DEBUG_UTILS => vk::PFN_vkCmdEndDebugUtilsLabelEXT(command_buffer) |call| {
        record(&mut call, command_buffer, Place::Anywhere, &[], Command::Label(None));
    }

    DEBUG_UTILS => vk::PFN_vkCmdBeginDebugUtilsLabelEXT(command_buffer, info) |call| {
        let label = Command::Label(Some(text!(given!(info).p_label_name)));
        record(&mut call, command_buffer, Place::Anywhere, &[], label);
    }

    Since::Extension(tile_memory_heap::NAME) => tile_memory_heap::PFN_vkCmdBindTileMemoryQCOM(command_buffer, info) |call| {
        let memory = if info.is_null() {
            None
        } else {
            Some(given!(info).memory)
        };
        if let Some(memory) = memory {
            expect_tile(&mut call, memory);
        }
        let objects: Vec<Object> = memory.into_iter().map(Object::of).collect();
        // VUID-vkCmdBindTileMemoryQCOM-renderpass.
        record(
            &mut call,
            command_buffer,
            Place::OutsideRendering,
            &objects,
            Command::BindTileMemory(memory),
        );
        if let Some(recording) = call.recording(command_buffer) {
            recording.active = memory;
        }
    }

    V1_3 => vk::PFN_vkCmdPipelineBarrier2(command_buffer, info) |call| {
        if !call.enables(Capabilities::SYNCHRONIZATION_2) {
            // VUID-vkCmdPipelineBarrier2-synchronization2-03848.
            call.violation("the feature synchronization2 is off");
        }
        let all = from_v2(given!(info)).filter_map(barrier).collect();
        barriers(&mut call, command_buffer, true, all);
    }

    V1_0 => vk::PFN_vkCmdPipelineBarrier(
        command_buffer, src_stages, dst_stages, _, memory_count, memory, buffer_count, buffers, image_count, images
    ) |call| {
        if src_stages.is_empty() || dst_stages.is_empty() {
            // VUID-vkCmdPipelineBarrier-srcStageMask-03937 and -dstStageMask-03937: only synchronization2 allows none.
            call.violation("no stages");
        }
        let (buffers, images) = (array!(buffers, buffer_count), array!(images, image_count));
        let all = from_v1((src_stages, dst_stages), array!(memory, memory_count), buffers, images);
        let all = all.filter_map(barrier).collect();
        barriers(&mut call, command_buffer, false, all);
    }
}

/// The places at which a command is allowed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Anywhere,
    InRendering,
    OutsideRendering,
    /// Outside a render pass instance, or in per-tile execution.
    Dispatching,
}

/// Records a command that names `objects`; checks that they are alive, that the command buffer is recording, and that the command is allowed at
/// `place`.
pub(super) fn record(
    call: &mut Entered,
    command_buffer: vk::CommandBuffer,
    place: Place,
    objects: &[Object],
    command: Command,
) {
    for object in objects {
        call.expect_raw(object.handle, object.kind);
    }
    let Some(recording) = call.recording(command_buffer) else {
        return;
    };
    recording.names.extend(objects.iter().map(|object| object.handle));
    recording.commands.push(command.clone());
    let (stage, rendering, per_tile) = (recording.stage, recording.rendering, recording.per_tile);
    if stage != Stage::Recording {
        // VUID-vkCmd*-commandBuffer-recording.
        call.violation(format_args!("{command_buffer:?} is in the state {stage:?}"));
    }
    match (place, rendering) {
        // VUID-vkCmd*-renderpass.
        (Place::InRendering, None) => call.violation("outside a render pass instance"),
        (Place::OutsideRendering, Some(_)) => call.violation("inside a render pass instance"),
        (Place::Dispatching, Some(_)) if !per_tile => call.violation("inside a render pass instance"),
        _ => {}
    }
    call.journal.push(Call::Record {
        command_buffer,
        command,
    });
}

/// Declares commands of which only the kind and the named objects are recorded.
macro_rules! commands {
    ($($($pointer:ident)::+($($argument:tt),*) [$($object:ident),*] $place:ident $command:expr;)*) => {
        entry_points! { look_up_plain: $(
            V1_0 => $($pointer)::+(command_buffer $(, $argument)*) |call| {
                let command: fn(&'static str) -> Command = $command;
                let (objects, function) = ([$(Object::of($object)),*], call.function);
                record(&mut call, command_buffer, Place::$place, &objects, command(function));
            }
        )* }
    };
}

commands! {
    vk::PFN_vkCmdDraw(_, _, _, _) [] InRendering |_| Command::Draw;
    vk::PFN_vkCmdDispatch(_, _, _) [] Dispatching |_| Command::Dispatch;
    vk::PFN_vkCmdCopyBuffer(s, d, _, _) [s, d] OutsideRendering Command::Transfer;
    vk::PFN_vkCmdCopyImage(s, _, d, _, _, _) [s, d] OutsideRendering Command::Transfer;
    vk::PFN_vkCmdCopyBufferToImage(s, d, _, _, _) [s, d] OutsideRendering Command::Transfer;
    vk::PFN_vkCmdCopyImageToBuffer(s, _, d, _, _) [s, d] OutsideRendering Command::Transfer;
    vk::PFN_vkCmdFillBuffer(d, _, _, _) [d] OutsideRendering Command::Transfer;
    vk::PFN_vkCmdClearColorImage(d, _, _, _, _) [d] OutsideRendering Command::Transfer;
    vk::PFN_vkCmdClearDepthStencilImage(d, _, _, _, _) [d] OutsideRendering Command::Transfer;
}

/// Reports violations unless the memory is live tile memory and the feature `tileMemoryHeap` is enabled.
fn expect_tile(call: &mut Entered, memory: vk::DeviceMemory) {
    call.expect(memory);
    if !call.memory(memory).is_some_and(|memory| memory.tile) {
        // VUID-VkTileMemoryBindInfoQCOM-memory-10726.
        call.violation(format_args!("{memory:?} is not of a tile heap"));
    }
    if !call.enables(Capabilities::TILE_MEMORY) {
        call.violation("the feature tileMemoryHeap is off");
    }
}

/// The barrier of a dependency; `None` if it only orders execution.
fn barrier(one: Dependency) -> Option<Barrier> {
    let undefined = vk::ImageLayout::UNDEFINED;
    let (target, old_layout, new_layout) = match one.memory {
        DependencyMemory::None => return None,
        DependencyMemory::All => (BarrierTarget::Memory, undefined, undefined),
        DependencyMemory::Buffer(buffer, ..) => (BarrierTarget::Buffer(buffer), undefined, undefined),
        DependencyMemory::Image(image, _, old, new) => (BarrierTarget::Image(image), old, new),
    };
    Some(Barrier {
        target,
        src_stages: one.src_stages,
        src_access: one.src_access,
        dst_stages: one.dst_stages,
        dst_access: one.dst_access,
        old_layout,
        new_layout,
        families: one.families,
    })
}

fn barriers(
    call: &mut Entered,
    command_buffer: vk::CommandBuffer,
    synchronization_2: bool,
    barriers: Vec<Barrier>,
) {
    let objects: Vec<Object> = (barriers.iter())
        .filter_map(|barrier| match barrier.target {
            BarrierTarget::Memory => None,
            BarrierTarget::Buffer(buffer) => Some(Object::of(buffer)),
            BarrierTarget::Image(image) => Some(Object::of(image)),
        })
        .collect();
    let command = Command::Barriers {
        synchronization_2,
        barriers,
    };
    record(call, command_buffer, Place::Anywhere, &objects, command);
}
