//! Entry points of draws and dispatches, and of commands that are counted but not followed.

use ash::vk;
use ash::vk::Handle;
use tileheap::frame::AccessKind;
use tileheap_layer::given;

use super::device::Device;
use super::recorder::commands;
use crate::document::UnresolvedKind as K;
use crate::model::access::FollowedAccess;
use crate::model::drawn::{DrawnElements, Elements};
use crate::model::recording::{Op, Recording};

commands! {
    vkCmdDraw(vertices, instances, first_vertex, first_instance) |device, recording| {
        let drawn = DrawnElements::Vertices(Elements::new(first_vertex, vertices), Elements::new(first_instance, instances));
        recording.draw(drawn, Vec::new());
    };
    vkCmdDrawIndexed(indices, instances, first, offset, first_instance) |device, recording| {
        let drawn = DrawnElements::Indices(Elements::new(first, indices), Elements::new(first_instance, instances));
        recording.draw(drawn, Vec::new());
    };
    // Their vertices are not counted.
    vkCmdDrawMultiEXT(count, draws, instances, first_instance, stride) |device, recording| {
        recording.draw(DrawnElements::Unknown { indexed: false, draws: count.into() }, Vec::new());
    };
    vkCmdDrawMultiIndexedEXT(count, draws, instances, first_instance, stride, offset) |device, recording| {
        recording.draw(DrawnElements::Unknown { indexed: true, draws: count.into() }, Vec::new());
    };
    vkCmdDrawMeshTasksEXT(x, y, z) |device, recording| recording.draw(DrawnElements::Groups([x, y, z]), Vec::new());
    vkCmdDispatch(x, y, z) |device, recording| recording.dispatch(Some([x, y, z]), None);
    // The workgroup ids do not start at 0.
    vkCmdDispatchBase(base_x, base_y, base_z, x, y, z) |device, recording| recording.dispatch(None, None);
    vkCmdDispatchIndirect(buffer, offset) |device, recording| {
        recording.dispatch(None, parameters(device, buffer, offset, IndirectParameters::single(DISPATCH)));
    };
    vkCmdBeginQuery(pool, query, flags) |device, recording| begin_query(device, recording, pool);
    vkCmdBeginQueryIndexedEXT(pool, query, flags, index) |device, recording| begin_query(device, recording, pool);
    // Queries are not reset in a video coding scope, where barriers are allowed.
    vkCmdBeginVideoCodingKHR(info) |device, recording| recording.stop_timing();
    vkCmdBeginConditionalRenderingEXT(info) |device, recording| {
        let info = given!(info);
        let read = predicate(device, info.buffer, info.offset);
        let is_known = read.is_some();
        recording.set_conditional(true);
        recording.push(Op::Condition(read.map(Box::new)));
        if !is_known {
            recording.push(Op::Unresolved(K::UnknownObject));
        }
    };
    vkCmdBeginConditionalRendering2EXT(info) |device, recording| {
        recording.set_conditional(true);
        recording.push(Op::Unresolved(K::DeviceAddress));
    };
    vkCmdEndConditionalRenderingEXT() |device, recording| {
        recording.set_conditional(false);
        recording.push(Op::Condition(None));
    };
    // Draws read these images, which are not followed.
    vkCmdBindShadingRateImageNV(view, layout) |device, recording| {
        if view != vk::ImageView::null() {
            recording.push(Op::Unresolved(K::Command));
        }
    };
    vkCmdBindInvocationMaskHUAWEI(view, layout) |device, recording| {
        if view != vk::ImageView::null() {
            recording.push(Op::Unresolved(K::Command));
        }
    };
    vkCmdDrawMeshTasksNV(count, first) |device, recording| recording.draw(DrawnElements::Groups([count, 1, 1]), Vec::new());
    vkCmdDrawClusterHUAWEI(x, y, z) |device, recording| recording.draw(DrawnElements::Groups([x, y, z]), Vec::new());
    vkCmdDrawClusterIndirectHUAWEI(buffer, offset) |device, recording| {
        let read = parameters(device, buffer, offset, IndirectParameters::single(DISPATCH));
        recording.draw(DrawnElements::Unknown { indexed: false, draws: 1 }, read.into_iter().collect());
    };
    vkCmdDispatchIndirect2KHR(info) |device, recording| {
        recording.dispatch(None, None);
        recording.push(Op::Unresolved(K::DeviceAddress));
    };
}

/// Records the beginning of a query. Nothing may follow a performance query in its command buffer (VUID-vkCmdEndQuery-queryPool-03227), so a command buffer
/// with such queries is not timed.
fn begin_query(device: &Device, recording: &mut Recording, pool: vk::QueryPool) {
    recording.add(Op::BeginQuery);
    if device.performance_pools.get(pool.as_raw()).is_some() {
        recording.stop_timing();
    }
}

/// Returns the read of the predicate of conditional rendering: one 32-bit word.
fn predicate(device: &Device, buffer: vk::Buffer, offset: u64) -> Option<FollowedAccess> {
    let range = device.objects.buffer_range(buffer, offset, COUNT)?;
    let read = FollowedAccess::of_buffer(&range, AccessKind::IndirectBuffer).reading();
    Some(FollowedAccess {
        stages: Some(vk::PipelineStageFlags2::CONDITIONAL_RENDERING_EXT),
        accesses: Some(vk::AccessFlags2::CONDITIONAL_RENDERING_READ_EXT),
        described_as: Some(
            "conditional rendering reads it, which the frame describes as a read of indirect command parameters",
        ),
        ..read.whole()
    })
}

/// Declares draw commands whose parameters are not followed, because they are read by address or from a transform feedback counter.
macro_rules! partly_followed_draws {
    ($($command:ident($($arg:ident),*), $indexed:expr, $kind:ident;)+) => {
        commands! {$(
            $command($($arg),*) |device, recording| {
                recording.draw(DrawnElements::Unknown { indexed: $indexed, draws: 1 }, Vec::new());
                recording.push(Op::Unresolved(K::$kind));
            };
        )+}
    };
}

partly_followed_draws! {
    vkCmdDrawIndirect2KHR(info), false, DeviceAddress;
    vkCmdDrawIndirectCount2KHR(info), false, DeviceAddress;
    vkCmdDrawIndexedIndirect2KHR(info), true, DeviceAddress;
    vkCmdDrawIndexedIndirectCount2KHR(info), true, DeviceAddress;
    vkCmdDrawMeshTasksIndirect2EXT(info), false, DeviceAddress;
    vkCmdDrawMeshTasksIndirectCount2EXT(info), false, DeviceAddress;
    vkCmdDrawIndirectByteCount2EXT(instances, first_instance, info, counter_offset, stride), false, DeviceAddress;
    vkCmdDrawIndirectByteCountEXT(instances, first_instance, buffer, offset, counter_offset, stride), false, Command;
}

/// Size of `VkDispatchIndirectCommand` in bytes.
const DISPATCH: u64 = size_of::<vk::DispatchIndirectCommand>() as u64;
/// Size of a draw count in bytes.
const COUNT: u64 = size_of::<u32>() as u64;

/// Indirect command parameters in a buffer: `count` structures at a stride.
#[derive(Clone, Copy)]
struct IndirectParameters {
    bytes: u64,
    stride: u64,
    count: u32,
    /// True if the command reads all structures; false if a count in a buffer may limit it to fewer.
    are_all: bool,
}

impl IndirectParameters {
    fn single(bytes: u64) -> IndirectParameters {
        IndirectParameters {
            bytes,
            stride: bytes,
            count: 1,
            are_all: true,
        }
    }
}

/// Returns the access to the parameters that a command reads.
fn parameters(
    device: &Device,
    buffer: vk::Buffer,
    offset: u64,
    rows: IndirectParameters,
) -> Option<FollowedAccess> {
    let last = u64::from(rows.count.checked_sub(1)?);
    let size = rows.stride.saturating_mul(last).saturating_add(rows.bytes);
    let range = device.objects.buffer_range(buffer, offset, size)?;
    let access = FollowedAccess::of_buffer(&range, AccessKind::IndirectBuffer).reading();
    Some(FollowedAccess {
        is_whole: rows.are_all && (rows.count == 1 || rows.stride == rows.bytes),
        // A count of 0 reads none of them.
        is_conditional: !rows.are_all,
        ..access
    })
}

/// Declares draws whose parameters are in a buffer, and those whose count is in a second buffer.
macro_rules! indirect {
    ($($command:ident, $parameters:ident, $indexed:expr;)+; $($counted:ident, $counted_parameters:ident, $counted_indexed:expr;)+) => {
        commands! {
            $(
                $command(buffer, offset, count, stride) |device, recording| {
                    let bytes = size_of::<vk::$parameters>() as u64;
                    let rows = IndirectParameters { bytes, stride: stride.into(), count, are_all: true };
                    let read = parameters(device, buffer, offset, rows);
                    recording.draw(DrawnElements::Unknown { indexed: $indexed, draws: count.into() }, read.into_iter().collect());
                };
            )+
            $(
                $counted(buffer, offset, count_buffer, count_offset, most, stride) |device, recording| {
                    let bytes = size_of::<vk::$counted_parameters>() as u64;
                    let rows = IndirectParameters { bytes, stride: stride.into(), count: most, are_all: false };
                    let read = parameters(device, buffer, offset, rows);
                    let count = parameters(device, count_buffer, count_offset, IndirectParameters::single(COUNT));
                    let read = read.into_iter().chain(count).collect();
                    recording.draw(DrawnElements::Unknown { indexed: $counted_indexed, draws: most.into() }, read);
                };
            )+
        }
    };
}

indirect! {
    vkCmdDrawIndirect, DrawIndirectCommand, false;
    vkCmdDrawIndexedIndirect, DrawIndexedIndirectCommand, true;
    vkCmdDrawMeshTasksIndirectEXT, DrawMeshTasksIndirectCommandEXT, false;
    vkCmdDrawMeshTasksIndirectNV, DrawMeshTasksIndirectCommandNV, false;
    ;
    vkCmdDrawIndirectCount, DrawIndirectCommand, false;
    vkCmdDrawIndexedIndirectCount, DrawIndexedIndirectCommand, true;
    vkCmdDrawMeshTasksIndirectCountEXT, DrawMeshTasksIndirectCommandEXT, false;
    vkCmdDrawMeshTasksIndirectCountNV, DrawMeshTasksIndirectCommandNV, false;
}

macro_rules! unfollowed {
    ($($command:ident($($arg:ident),*), $kind:ident;)+) => {
        commands! {$(
            $command($($arg),*) |device, recording| {
                recording.push(Op::Unresolved(K::$kind));
            };
        )+}
    };
}

unfollowed! {
    vkCmdTraceRaysKHR(raygen, miss, hit, callable, width, height, depth), RayTracing;
    vkCmdTraceRaysIndirectKHR(raygen, miss, hit, callable, address), RayTracing;
    vkCmdTraceRaysIndirect2KHR(address), RayTracing;
    vkCmdBuildAccelerationStructuresKHR(count, infos, ranges), RayTracing;
    vkCmdBuildAccelerationStructuresIndirectKHR(count, infos, addresses, strides, counts), RayTracing;
    vkCmdCopyAccelerationStructureKHR(info), RayTracing;
    vkCmdCopyAccelerationStructureToMemoryKHR(info), RayTracing;
    vkCmdCopyMemoryToAccelerationStructureKHR(info), RayTracing;
    vkCmdWriteAccelerationStructuresPropertiesKHR(count, structures, query, pool, first), RayTracing;
    vkCmdBuildMicromapsEXT(count, infos), RayTracing;
    vkCmdDecodeVideoKHR(info), Video;
    vkCmdEncodeVideoKHR(info), Video;
    vkCmdExecuteGeneratedCommandsNV(preprocessed, info), Command;
    vkCmdPreprocessGeneratedCommandsNV(info), Command;
    vkCmdBeginTransformFeedbackEXT(first, count, buffers, offsets), Command;
    vkCmdEndTransformFeedbackEXT(first, count, buffers, offsets), Command;
    vkCmdWriteBufferMarkerAMD(stage, buffer, offset, marker), Command;
    vkCmdWriteBufferMarker2AMD(stages, buffer, offset, marker), Command;
    vkCmdCopyMemoryIndirectNV(address, count, stride), Command;
    vkCmdCopyMemoryToImageIndirectNV(address, count, stride, image, layout, subresources), Command;
    vkCmdDecompressMemoryNV(count, regions), Command;
    vkCmdDecompressMemoryIndirectCountNV(address, count, stride), Command;
    vkCmdSubpassShadingHUAWEI(), Command;
    vkCmdUpdatePipelineIndirectBufferNV(point, pipeline), Command;
    vkCmdOpticalFlowExecuteNV(session, info), Command;
    vkCmdCuLaunchKernelNVX(info), Command;
    vkCmdCudaLaunchKernelNV(info), Command;
    vkCmdTraceRaysNV(a, b, c, d, e, f, g, h, i, j, k, width, height, depth), RayTracing;
    vkCmdBuildAccelerationStructureNV(info, data, offset, update, target, source, scratch, at), RayTracing;
    vkCmdCopyAccelerationStructureNV(target, source, mode), RayTracing;
    vkCmdExecuteGeneratedCommandsEXT(preprocessed, info), Command;
    vkCmdPreprocessGeneratedCommandsEXT(info, state), Command;
    vkCmdDispatchTileQCOM(info), Command;
    vkCmdDispatchDataGraphARM(session, info), Command;
    vkCmdCopyMemoryIndirectKHR(info), Command;
    vkCmdCopyMemoryToImageIndirectKHR(info), Command;
    vkCmdDecompressMemoryEXT(info), Command;
    vkCmdDecompressMemoryIndirectCountEXT(method, address, count, most, stride), DeviceAddress;
    vkCmdBeginTransformFeedback2EXT(first, count, infos), Command;
    vkCmdEndTransformFeedback2EXT(first, count, infos), Command;
    vkCmdBeginCustomResolveEXT(info), Command;
    vkCmdBuildClusterAccelerationStructureIndirectNV(info), RayTracing;
    vkCmdBuildPartitionedAccelerationStructuresNV(info), RayTracing;
    vkCmdWriteAccelerationStructuresPropertiesNV(count, structures, query, pool, first), RayTracing;
    vkCmdWriteMicromapsPropertiesEXT(count, micromaps, query, pool, first), RayTracing;
    vkCmdCopyMicromapEXT(info), RayTracing;
    vkCmdCopyMicromapToMemoryEXT(info), RayTracing;
    vkCmdCopyMemoryToMicromapEXT(info), RayTracing;
    vkCmdConvertCooperativeVectorMatrixNV(count, infos), DeviceAddress;
    vkCmdCopyMemoryKHR(info), DeviceAddress;
    vkCmdCopyImageToMemoryKHR(info), DeviceAddress;
    vkCmdCopyMemoryToImageKHR(info), DeviceAddress;
    vkCmdUpdateMemoryKHR(range, flags, size, data), DeviceAddress;
    vkCmdFillMemoryKHR(range, flags, data), DeviceAddress;
    vkCmdCopyQueryPoolResultsToMemoryKHR(pool, first, count, range, range_flags, flags), DeviceAddress;
    vkCmdWriteMarkerToMemoryAMD(info), DeviceAddress;
    vkCmdCopyTensorARM(info), Command;
    vkCmdCopyGpaSessionResultsAMD(session), Command;
    vkCmdDispatchGraphAMDX(scratch, scratch_size, counts), Command;
    vkCmdDispatchGraphIndirectAMDX(scratch, scratch_size, counts), Command;
    vkCmdDispatchGraphIndirectCountAMDX(scratch, scratch_size, counts), Command;
    vkCmdInitializeGraphScratchMemoryAMDX(graph, scratch, scratch_size), Command;
}

#[cfg(test)]
mod tests {
    use super::super::device::DEVICES;
    use super::super::device::tests::register;
    use super::*;
    use crate::model::recording::Synchronization;
    use crate::model::timing::Mark;
    use crate::settings::{FrameBoundaryRule, FrameRule, Settings};
    use crate::tables::DeviceTable;

    #[test]
    fn command_buffers_with_performance_queries_have_no_timestamps() {
        // SAFETY: It finds no commands.
        let next = unsafe { DeviceTable::load(|_| None) };
        let settings = Settings {
            folder: std::env::temp_dir(),
            frames: FrameRule::Range(0..1),
            boundary: FrameBoundaryRule::Present,
            timestamps: true,
        };
        let (device, _) = register(next, settings);
        let [performance, other] = [31, 32].map(vk::QueryPool::from_raw);
        device.performance_pools.insert(performance.as_raw(), ());
        for (pool, expected) in [(performance, None), (other, Some(Mark::Before(1)))] {
            let mut recording = Recording::default();
            recording.time();
            recording.next("vkCmdBeginQuery");
            begin_query(&device, &mut recording, pool);
            recording.next("vkCmdPipelineBarrier");
            recording.push(Op::Synchronization(Synchronization::Barrier(Vec::new())));
            recording.next("");
            recording.end();
            assert_eq!(recording.mark(), expected);
        }
        DEVICES.remove(device.handle);
    }
}
