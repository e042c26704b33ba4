//! Command buffers: begin, end, and every command.

use ash::vk;
use ash::vk::Handle;
use tileheap::ffi;

use super::journal::{Barrier, Call, Command, Object, Touched};
use super::pointers::{attempt, borrow, chained, slice, text};
use super::records::{Detail, Recording, Stage};
use super::state::{Entered, enter};

pub(super) unsafe extern "system" fn vkBeginCommandBuffer(
    command_buffer: vk::CommandBuffer,
    info: *const vk::CommandBufferBeginInfo<'_>,
) -> vk::Result {
    let mut call = enter(command_buffer, "vkBeginCommandBuffer");
    attempt!(call);
    let info = borrow!(info);
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
        let inheritance = borrow!(info.p_inheritance_info);
        fresh.inherits =
            chained!(inheritance.p_next => ffi::TileMemoryBindInfoQCOM<'_>).map(|info| info.memory);
        fresh.active = fresh.inherits;
        let inside = info
            .flags
            .contains(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE);
        fresh.rendering = inside.then_some(false);
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
    call.journal.push(Call::Begin {
        command_buffer,
        inherits,
    });
    vk::Result::SUCCESS
}

pub(super) unsafe extern "system" fn vkEndCommandBuffer(command_buffer: vk::CommandBuffer) -> vk::Result {
    let mut call = enter(command_buffer, "vkEndCommandBuffer");
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
    call.journal.push(Call::End { command_buffer });
    vk::Result::SUCCESS
}

/// Where a command may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Anywhere,
    InRendering,
    OutsideRendering,
}

/// Records a command that names `objects`, judging the state of the command buffer.
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
    let (stage, rendering) = (recording.stage, recording.rendering);
    if stage != Stage::Recording {
        // VUID-vkCmd*-commandBuffer-recording.
        call.violation(format_args!("{command_buffer:?} is in the state {stage:?}"));
    }
    match (place, rendering) {
        // VUID-vkCmd*-renderpass.
        (Place::InRendering, None) => call.violation("outside a render pass instance"),
        (Place::OutsideRendering, Some(_)) => call.violation("inside a render pass instance"),
        _ => {}
    }
    call.journal.push(Call::Record {
        command_buffer,
        command,
    });
}

/// Declares commands of which nothing is kept but their kind and the objects that they name.
macro_rules! commands {
    ($($name:ident($($argument:ident: $type:ty),*) [$($object:ident),*] $place:ident $command:expr;)*) => {$(
        pub(super) unsafe extern "system" fn $name(
            command_buffer: vk::CommandBuffer
            $(, $argument: $type)*
        ) {
            let mut call = enter(command_buffer, stringify!($name));
            let command: fn(&'static str) -> Command = $command;
            let objects = [$(Object::of($object)),*];
            record(&mut call, command_buffer, Place::$place, &objects, command(stringify!($name)));
        }
    )*};
}

commands! {
    vkCmdDraw(_v: u32, _i: u32, _fv: u32, _fi: u32) [] InRendering |_| Command::Draw;
    vkCmdDispatch(_x: u32, _y: u32, _z: u32) [] OutsideRendering |_| Command::Dispatch;

    vkCmdCopyBuffer(s: vk::Buffer, d: vk::Buffer, _n: u32, _r: *const vk::BufferCopy)
        [s, d] OutsideRendering Command::Transfer;
    vkCmdCopyImage(
        s: vk::Image, _sl: vk::ImageLayout, d: vk::Image, _dl: vk::ImageLayout, _n: u32, _r: *const vk::ImageCopy
    ) [s, d] OutsideRendering Command::Transfer;
    vkCmdCopyBufferToImage(
        s: vk::Buffer, d: vk::Image, _dl: vk::ImageLayout, _n: u32, _r: *const vk::BufferImageCopy
    ) [s, d] OutsideRendering Command::Transfer;
    vkCmdCopyImageToBuffer(
        s: vk::Image, _sl: vk::ImageLayout, d: vk::Buffer, _n: u32, _r: *const vk::BufferImageCopy
    ) [s, d] OutsideRendering Command::Transfer;
    vkCmdFillBuffer(d: vk::Buffer, _o: u64, _s: u64, _v: u32) [d] OutsideRendering Command::Transfer;
    vkCmdClearColorImage(
        d: vk::Image, _l: vk::ImageLayout, _v: *const vk::ClearColorValue, _n: u32,
        _r: *const vk::ImageSubresourceRange
    ) [d] OutsideRendering Command::Transfer;
    vkCmdClearDepthStencilImage(
        d: vk::Image, _l: vk::ImageLayout, _v: *const vk::ClearDepthStencilValue, _n: u32,
        _r: *const vk::ImageSubresourceRange
    ) [d] OutsideRendering Command::Transfer;

    vkCmdEndDebugUtilsLabelEXT() [] Anywhere |_| Command::Label(None);
}

pub(super) unsafe extern "system" fn vkCmdBeginDebugUtilsLabelEXT(
    command_buffer: vk::CommandBuffer,
    info: *const vk::DebugUtilsLabelEXT<'_>,
) {
    let mut call = enter(command_buffer, "vkCmdBeginDebugUtilsLabelEXT");
    let label = Command::Label(Some(text(borrow!(info).p_label_name)));
    record(&mut call, command_buffer, Place::Anywhere, &[], label);
}

/// Notes a violation unless the memory is live tile memory.
fn expect_tile(call: &mut Entered, memory: vk::DeviceMemory) {
    call.expect(memory);
    if !call.memory(memory).is_some_and(|memory| memory.tile) {
        // VUID-VkTileMemoryBindInfoQCOM-memory-10726.
        call.violation(format_args!("{memory:?} is not of a tile heap"));
    }
    if !call.enabled().tile {
        call.violation("the feature tileMemoryHeap is off");
    }
}

pub(super) unsafe extern "system" fn vkCmdBindTileMemoryQCOM(
    command_buffer: vk::CommandBuffer,
    info: *const ffi::TileMemoryBindInfoQCOM<'_>,
) {
    let mut call = enter(command_buffer, "vkCmdBindTileMemoryQCOM");
    let memory = if info.is_null() {
        None
    } else {
        Some(borrow!(info).memory)
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

fn barriers(
    call: &mut Entered,
    command_buffer: vk::CommandBuffer,
    synchronization_2: bool,
    barriers: Vec<Barrier>,
) {
    let objects: Vec<Object> = (barriers.iter())
        .filter_map(|barrier| match barrier.touched {
            Touched::Memory => None,
            Touched::Buffer(buffer) => Some(Object::of(buffer)),
            Touched::Image(image) => Some(Object::of(image)),
        })
        .collect();
    let command = Command::Barriers {
        synchronization_2,
        barriers,
    };
    record(call, command_buffer, Place::Anywhere, &objects, command);
}

pub(super) unsafe extern "system" fn vkCmdPipelineBarrier2(
    command_buffer: vk::CommandBuffer,
    info: *const vk::DependencyInfo<'_>,
) {
    let mut call = enter(command_buffer, "vkCmdPipelineBarrier2");
    if !call.enabled().synchronization_2 {
        // VUID-vkCmdPipelineBarrier2-synchronization2-03848.
        call.violation("the feature synchronization2 is off");
    }
    let info = borrow!(info);
    /// The fields that all three kinds have.
    macro_rules! widen {
        ($one:ident, $touched:expr, $old:expr, $new:expr, $families:expr) => {
            Barrier {
                touched: $touched,
                src_stages: $one.src_stage_mask,
                src_access: $one.src_access_mask,
                dst_stages: $one.dst_stage_mask,
                dst_access: $one.dst_access_mask,
                old_layout: $old,
                new_layout: $new,
                families: $families,
            }
        };
    }
    let none = (vk::QUEUE_FAMILY_IGNORED, vk::QUEUE_FAMILY_IGNORED);
    let undefined = vk::ImageLayout::UNDEFINED;
    let mut all = Vec::new();
    for one in slice!(info.p_memory_barriers, info.memory_barrier_count) {
        all.push(widen!(one, Touched::Memory, undefined, undefined, none));
    }
    for one in slice!(info.p_buffer_memory_barriers, info.buffer_memory_barrier_count) {
        let families = (one.src_queue_family_index, one.dst_queue_family_index);
        all.push(widen!(
            one,
            Touched::Buffer(one.buffer),
            undefined,
            undefined,
            families
        ));
    }
    for one in slice!(info.p_image_memory_barriers, info.image_memory_barrier_count) {
        let families = (one.src_queue_family_index, one.dst_queue_family_index);
        all.push(widen!(
            one,
            Touched::Image(one.image),
            one.old_layout,
            one.new_layout,
            families
        ));
    }
    barriers(&mut call, command_buffer, true, all);
}

pub(super) unsafe extern "system" fn vkCmdPipelineBarrier(
    command_buffer: vk::CommandBuffer,
    src_stages: vk::PipelineStageFlags,
    dst_stages: vk::PipelineStageFlags,
    _flags: vk::DependencyFlags,
    memory_count: u32,
    memory: *const vk::MemoryBarrier<'_>,
    buffer_count: u32,
    buffers: *const vk::BufferMemoryBarrier<'_>,
    image_count: u32,
    images: *const vk::ImageMemoryBarrier<'_>,
) {
    let mut call = enter(command_buffer, "vkCmdPipelineBarrier");
    if src_stages.is_empty() || dst_stages.is_empty() {
        // VUID-vkCmdPipelineBarrier-srcStageMask-03937 and -dstStageMask-03937: only synchronization2 allows none.
        call.violation("no stages");
    }
    let widen = |touched, src: vk::AccessFlags, dst: vk::AccessFlags| Barrier {
        touched,
        src_stages: vk::PipelineStageFlags2::from_raw(src_stages.as_raw().into()),
        src_access: vk::AccessFlags2::from_raw(src.as_raw().into()),
        dst_stages: vk::PipelineStageFlags2::from_raw(dst_stages.as_raw().into()),
        dst_access: vk::AccessFlags2::from_raw(dst.as_raw().into()),
        old_layout: vk::ImageLayout::UNDEFINED,
        new_layout: vk::ImageLayout::UNDEFINED,
        families: (vk::QUEUE_FAMILY_IGNORED, vk::QUEUE_FAMILY_IGNORED),
    };
    let mut all = Vec::new();
    for one in slice!(memory, memory_count) {
        all.push(widen(Touched::Memory, one.src_access_mask, one.dst_access_mask));
    }
    for one in slice!(buffers, buffer_count) {
        let barrier = widen(
            Touched::Buffer(one.buffer),
            one.src_access_mask,
            one.dst_access_mask,
        );
        let families = (one.src_queue_family_index, one.dst_queue_family_index);
        all.push(Barrier { families, ..barrier });
    }
    for one in slice!(images, image_count) {
        let barrier = widen(
            Touched::Image(one.image),
            one.src_access_mask,
            one.dst_access_mask,
        );
        let families = (one.src_queue_family_index, one.dst_queue_family_index);
        let (old_layout, new_layout) = (one.old_layout, one.new_layout);
        all.push(Barrier {
            families,
            old_layout,
            new_layout,
            ..barrier
        });
    }
    barriers(&mut call, command_buffer, false, all);
}
