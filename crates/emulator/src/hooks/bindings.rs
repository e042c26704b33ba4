//! Entry points that bind pipelines and descriptors to command buffers. Binding shader objects or descriptor buffers, which are not tracked, unbinds
//! the tracked objects that they replace, so that no finding refers to the replaced objects.

use std::ffi::c_void;

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::descriptors::{each_written, points_of};
use tileheap_layer::{array, given};

use super::recorder::{Recorder, recorded_commands};
use crate::model::shaders::UNKNOWN_SHADER;
use crate::tables::device_commands::DeviceTable;
use crate::tables::unseen_writes::UnseenWrites;

recorded_commands! {
    /// Records the bound pipeline.
    vkCmdBindPipeline(commands, point, pipeline) => commands DeviceTable unless (recorder.try_with_recording(|recording| {
        recording.sets.bind_pipeline(point, pipeline);
        true
    })) |recorder| {
        recorder.lock().sets.bind_pipeline(point, pipeline);
    };

    /// Records the bound vertex buffers, if any tracked buffer can be fetched from.
    vkCmdBindVertexBuffers(commands, first, count, buffers, offsets) => commands DeviceTable unless (!recorder.device.resources.has_fetched()) |recorder| {
        bind_vertices(recorder, first, array!(buffers, count), (array!(offsets, count), &[], &[]));
    };

    /// Same as `vkCmdBindVertexBuffers`, with sizes and strides.
    vkCmdBindVertexBuffers2(commands, first, count, buffers, offsets, sizes, strides) => commands DeviceTable unless (!recorder.device.resources.has_fetched()) |recorder| {
        let ranges = (array!(offsets, count), array!(sizes, count), array!(strides, count));
        bind_vertices(recorder, first, array!(buffers, count), ranges);
    };

    /// Unbinds the tracked vertex buffers: the application binds addresses instead, which are not tracked.
    vkCmdBindVertexBuffers3KHR(commands, first, count, infos) => commands DeviceTable |recorder| {
        for binding in (first..).take(count as usize) {
            recorder.lock().buffers.bind_vertices(binding, vk::Buffer::null(), (0, 0), None);
        }
    };

    /// Records the bound index buffer, if any tracked buffer can be fetched from.
    vkCmdBindIndexBuffer(commands, buffer, offset, kind) => commands DeviceTable unless (!recorder.device.resources.has_fetched()) |recorder| {
        recorder.lock().buffers.bind_indices(buffer, (offset, vk::WHOLE_SIZE), kind);
    };

    /// Same as `vkCmdBindIndexBuffer`, with a size.
    vkCmdBindIndexBuffer2KHR(commands, buffer, offset, size, kind) => commands DeviceTable unless (!recorder.device.resources.has_fetched()) |recorder| {
        recorder.lock().buffers.bind_indices(buffer, (offset, size), kind);
    };

    /// Unbinds the tracked index buffer: the application binds an address instead, which is not tracked.
    vkCmdBindIndexBuffer3KHR(commands, info) => commands DeviceTable |recorder| {
        recorder.lock().buffers.bind_indices(vk::Buffer::null(), (0, 0), vk::IndexType::NONE_KHR);
    };

    /// Records that transform feedback may write to buffers in ways that the layer does not see: it writes vertices, and counter values when it ends.
    vkCmdBeginTransformFeedbackEXT(commands, first, count, buffers, offsets) => commands DeviceTable |recorder| {
        recorder.begin_unseen_writes(UnseenWrites::TRANSFORM_FEEDBACK, "vkCmdBeginTransformFeedbackEXT");
    };

    /// Same as `vkCmdBeginTransformFeedbackEXT`.
    vkCmdEndTransformFeedbackEXT(commands, first, count, buffers, offsets) => commands DeviceTable |recorder| {
        recorder.begin_unseen_writes(UnseenWrites::TRANSFORM_FEEDBACK, "vkCmdEndTransformFeedbackEXT");
    };

    /// Same as `vkCmdBeginTransformFeedbackEXT`.
    vkCmdBeginTransformFeedback2EXT(commands, first, count, infos) => commands DeviceTable |recorder| {
        recorder.begin_unseen_writes(UnseenWrites::TRANSFORM_FEEDBACK, "vkCmdBeginTransformFeedback2EXT");
    };

    /// Same as `vkCmdBeginTransformFeedbackEXT`.
    vkCmdEndTransformFeedback2EXT(commands, first, count, infos) => commands DeviceTable |recorder| {
        recorder.begin_unseen_writes(UnseenWrites::TRANSFORM_FEEDBACK, "vkCmdEndTransformFeedback2EXT");
    };

    /// Unbinds tracked pipelines: shader objects replace them.
    vkCmdBindShadersEXT(commands, count, stages, shaders) => commands DeviceTable |recorder| {
        recorder.begin_unseen_writes(UNKNOWN_SHADER, "vkCmdBindShadersEXT");
        for stages in array!(stages, count) {
            for point in points_of(*stages) {
                recorder.lock().sets.bind_pipeline(point, vk::Pipeline::null());
            }
        }
    };

    /// Records the bound descriptor sets, and their dynamic offsets if any tracked buffer can be bound with one.
    vkCmdBindDescriptorSets(
        commands, point, layout, first, count, sets, offset_count, offsets
    ) => commands DeviceTable unless ((offset_count == 0 || !recorder.device.resources.has_dynamic()) && recorder.try_with_recording(|recording| {
        recording.sets.bind_sets(point, first, each_of(sets, count));
        true
    })) |recorder| {
        recorder.lock().sets.bind_sets(point, first, each_of(sets, count));
        if offset_count > 0 && recorder.device.resources.has_dynamic() {
            bind_offsets(recorder, point, first, array!(sets, count), array!(offsets, offset_count));
        }
    };

    /// Same as `vkCmdBindDescriptorSets`, with shader stages instead of a bind point.
    vkCmdBindDescriptorSets2KHR(commands, info) => commands DeviceTable |recorder| {
        let info = given!(info);
        let sets = array!(info.p_descriptor_sets, info.descriptor_set_count);
        for point in points_of(info.stage_flags) {
            recorder.lock().sets.bind_sets(point, info.first_set, sets.iter().copied());
            if info.dynamic_offset_count > 0 && recorder.device.resources.has_dynamic() {
                let offsets = array!(info.p_dynamic_offsets, info.dynamic_offset_count);
                bind_offsets(recorder, point, info.first_set, sets, offsets);
            }
        }
    };

    /// Records push constants, if shader guards compare against them.
    vkCmdPushConstants(commands, layout, stages, offset, size, values) => commands DeviceTable unless (!recorder.device.descriptors.compares_push_constants()) |recorder| {
        let bytes = array!(values.cast::<u8>(), size);
        recorder.lock().push_constants.push(stages, offset, bytes);
    };

    /// Same as `vkCmdPushConstants`.
    vkCmdPushConstants2KHR(commands, info) => commands DeviceTable unless (!recorder.device.descriptors.compares_push_constants()) |recorder| {
        let info = given!(info);
        let bytes = array!(info.p_values.cast::<u8>(), info.size);
        recorder.lock().push_constants.push(info.stage_flags, info.offset, bytes);
    };

    /// Records updates of push descriptors.
    vkCmdPushDescriptorSetKHR(commands, point, layout, index, count, writes) => commands DeviceTable |recorder| {
        let writes = array!(writes, count);
        push(recorder, point, (layout, index), writes);
    };

    /// Same as `vkCmdPushDescriptorSetKHR`, with shader stages instead of a bind point.
    vkCmdPushDescriptorSet2KHR(commands, info) => commands DeviceTable |recorder| {
        let info = given!(info);
        let writes = array!(info.p_descriptor_writes, info.descriptor_write_count);
        for point in points_of(info.stage_flags) {
            push(recorder, point, (info.layout, info.set), writes);
        }
    };

    /// Same as `vkCmdPushDescriptorSetKHR`, with an update template.
    vkCmdPushDescriptorSetWithTemplateKHR(commands, template, layout, index, data) => commands DeviceTable |recorder| {
        push_by_template(recorder, template, (layout, index), data);
    };

    /// Same as `vkCmdPushDescriptorSetWithTemplateKHR`, with its arguments in a structure.
    vkCmdPushDescriptorSetWithTemplate2KHR(commands, info) => commands DeviceTable |recorder| {
        let info = given!(info);
        push_by_template(recorder, info.descriptor_update_template, (info.layout, info.set), info.p_data);
    };

    /// Unbinds tracked descriptor sets: descriptor buffers replace them.
    vkCmdSetDescriptorBufferOffsetsEXT(commands, point, layout, first, count, buffers, offsets) => commands DeviceTable |recorder| unbind(recorder, point, (first, count), "vkCmdSetDescriptorBufferOffsetsEXT");

    /// Same as `vkCmdSetDescriptorBufferOffsetsEXT`, with shader stages instead of a bind point.
    vkCmdSetDescriptorBufferOffsets2EXT(commands, info) => commands DeviceTable |recorder| {
        let info = given!(info);
        for point in points_of(info.stage_flags) {
            unbind(recorder, point, (info.first_set, info.set_count), "vkCmdSetDescriptorBufferOffsets2EXT");
        }
    };
}

/// Iterates over an array of descriptor sets that a command binds.
#[inline(always)]
fn each_of(sets: *const vk::DescriptorSet, count: u32) -> impl Iterator<Item = vk::DescriptorSet> {
    // SAFETY: Valid usage: an array of `count` sets.
    (0..count as usize).map(move |index| unsafe { *sets.wrapping_add(index) })
}

/// Records bound vertex buffers with their offsets, sizes and strides.
#[cold]
fn bind_vertices(
    recorder: &Recorder,
    first: u32,
    buffers: &[vk::Buffer],
    (offsets, sizes, strides): (&[u64], &[u64], &[u64]),
) {
    let mut recording = recorder.lock();
    for ((index, binding), buffer) in (first..).enumerate().zip(buffers) {
        let offset = offsets.get(index).copied().unwrap_or(0);
        let size = sizes.get(index).copied().unwrap_or(vk::WHOLE_SIZE);
        let stride = strides.get(index).map(|stride| *stride as u32);
        recording
            .buffers
            .bind_vertices(binding, *buffer, (offset, size), stride);
    }
}

#[cold]
fn bind_offsets(
    recorder: &Recorder,
    point: vk::PipelineBindPoint,
    first: u32,
    sets: &[vk::DescriptorSet],
    offsets: &[u32],
) {
    let descriptors = &recorder.device.descriptors;
    recorder
        .lock()
        .sets
        .bind_offsets(point, first, sets, offsets, descriptors);
}

fn push(
    recorder: &Recorder,
    point: vk::PipelineBindPoint,
    (layout, index): (vk::PipelineLayout, u32),
    writes: &[vk::WriteDescriptorSet<'_>],
) {
    let device = &recorder.device;
    let layout = device.descriptors.layouts.of_pipeline(layout, index);
    recorder.lock().sets.push(point, index, |set| {
        for write in writes {
            each_written(write, layout.as_deref(), |one| set.write(&device.resources, one));
        }
    });
}

fn push_by_template(
    recorder: &Recorder,
    template: vk::DescriptorUpdateTemplate,
    (layout, index): (vk::PipelineLayout, u32),
    data: *const c_void,
) {
    let device = &recorder.device;
    if let Some(template) = device.descriptors.templates.get(template.as_raw()) {
        let layout = device.descriptors.layouts.of_pipeline(layout, index);
        recorder.lock().sets.push(template.bind_point, index, |set| {
            template.each_written(layout.as_deref(), data, |one| set.write(&device.resources, one));
        });
    }
}

fn unbind(
    recorder: &Recorder,
    point: vk::PipelineBindPoint,
    (first, count): (u32, u32),
    command: &'static str,
) {
    recorder.begin_unseen_writes(UnseenWrites::DESCRIPTORS, command);
    let nothing = std::iter::repeat_n(vk::DescriptorSet::null(), count as usize);
    recorder.lock().sets.bind_sets(point, first, nothing);
}
