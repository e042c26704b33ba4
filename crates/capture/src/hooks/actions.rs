//! Entry points of draws and dispatches, and of commands that are counted and not followed.

use super::recorder::commands;
use crate::document::UnresolvedKind as K;
use crate::model::recording::Op;

commands! {
    vkCmdDraw(vertices, instances, first_vertex, first_instance) |device, recording| {
        recording.draw("vkCmdDraw", vertices.into(), instances.into(), false);
    };
    vkCmdDrawIndexed(indices, instances, first, offset, first_instance) |device, recording| {
        recording.draw("vkCmdDrawIndexed", indices.into(), instances.into(), true);
    };
    // Their vertices are not counted.
    vkCmdDrawMultiEXT(count, draws, instances, first_instance, stride) |device, recording| recording.draw_indirect("vkCmdDrawMultiEXT", &[], count.into(), false);
    vkCmdDrawMultiIndexedEXT(count, draws, instances, first_instance, stride, offset) |device, recording| {
        recording.draw_indirect("vkCmdDrawMultiIndexedEXT", &[], count.into(), true);
    };
    vkCmdDrawMeshTasksEXT(x, y, z) |device, recording| {
        recording.draw("vkCmdDrawMeshTasksEXT", 0, 0, false);
    };
    vkCmdDispatch(x, y, z) |device, recording| recording.dispatch("vkCmdDispatch", &[]);
    vkCmdDispatchBase(base_x, base_y, base_z, x, y, z) |device, recording| {
        recording.dispatch("vkCmdDispatchBase", &[]);
    };
    vkCmdDispatchIndirect(buffer, offset) |device, recording| {
        recording.dispatch("vkCmdDispatchIndirect", &[device.objects.buffer(buffer)]);
    };
    vkCmdBeginQuery(pool, query, flags) |device, recording| {
        recording.count(|facts| facts.has_side_effects = true);
    };
}

/// Draws whose parameters are in a buffer, and their number in another.
macro_rules! indirect {
    ($($command:ident, $indexed:expr;)+; $($counted:ident, $counted_indexed:expr;)+) => {
        commands! {
            $(
                $command(buffer, offset, count, stride) |device, recording| {
                    let buffers = [device.objects.buffer(buffer)];
                    recording.draw_indirect(stringify!($command), &buffers, count.into(), $indexed);
                };
            )+
            $(
                $counted(buffer, offset, count_buffer, count_offset, most, stride) |device, recording| {
                    let buffers = [device.objects.buffer(buffer), device.objects.buffer(count_buffer)];
                    recording.draw_indirect(stringify!($counted), &buffers, most.into(), $counted_indexed);
                };
            )+
        }
    };
}

indirect! {
    vkCmdDrawIndirect, false;
    vkCmdDrawIndexedIndirect, true;
    vkCmdDrawMeshTasksIndirectEXT, false;
    ;
    vkCmdDrawIndirectCount, false;
    vkCmdDrawIndexedIndirectCount, true;
    vkCmdDrawMeshTasksIndirectCountEXT, false;
}

macro_rules! unfollowed {
    ($($command:ident($($arg:ident),*), $kind:ident;)+) => {
        commands! {$(
            $command($($arg),*) |device, recording| {
                recording.push(Op::Unresolved(K::$kind, stringify!($command)));
            };
        )+}
    };
}

unfollowed! {
    vkCmdTraceRaysKHR(raygen, miss, hit, callable, width, height, depth), RayTracing;
    vkCmdTraceRaysIndirectKHR(raygen, miss, hit, callable, address), RayTracing;
    vkCmdBuildAccelerationStructuresKHR(count, infos, ranges), RayTracing;
    vkCmdDecodeVideoKHR(info), Video;
    vkCmdEncodeVideoKHR(info), Video;
    vkCmdExecuteGeneratedCommandsNV(preprocessed, info), Command;
    vkCmdDrawIndirectByteCountEXT(instances, first_instance, buffer, offset, counter_offset, stride), Command;
    vkCmdBeginTransformFeedbackEXT(first, count, buffers, offsets), Command;
}
