//! Entry points that bind pipelines, descriptors, vertex and index buffers, and set push constants and debug labels.

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::descriptors::{self, each_written};
use tileheap_layer::{array, given, text};

use super::device::Device;
use super::recorder::commands;
use crate::document::UnresolvedKind;
use crate::model::bound_sets::BoundSet;
use crate::model::objects::Set;
use crate::model::pipelines::Pipeline;
use crate::model::recording::{Op, Recording, point_index};

commands! {
    vkCmdBindPipeline(point, pipeline) |device, it| {
        if let Some(at) = point_index(point) {
            it.bind(at, |bound| bound.pipeline = device.pipelines.get(pipeline.as_raw()));
        }
    };
    vkCmdBindShadersEXT(count, stages, shaders) |device, it| {
        let shaders = array!(shaders, count);
        for (index, stage) in array!(stages, count).iter().enumerate() {
            let shader = shaders.get(index).and_then(|one| device.shaders.get(one.as_raw()));
            for at in points_of(*stage) {
                it.bind(at, |bound| {
                    let with = Pipeline::with(bound.pipeline.as_deref(), *stage, shader.clone());
                    bound.pipeline = Some(Arc::new(with));
                });
            }
        }
    };
    vkCmdBindDescriptorSets(point, layout, first, count, sets, offset_count, offsets) |device, it| {
        if let Some(at) = point_index(point) {
            bind_sets(device, it, at, first, (array!(sets, count), array!(offsets, offset_count)));
        }
    };
    vkCmdBindDescriptorSets2KHR(info) |device, it| {
        let given = given!(info);
        let sets = array!(given.p_descriptor_sets, given.descriptor_set_count);
        let offsets = array!(given.p_dynamic_offsets, given.dynamic_offset_count);
        for at in points_of(given.stage_flags) {
            bind_sets(device, it, at, given.first_set, (sets, offsets));
        }
    };
    vkCmdPushConstants(layout, stages, offset, size, values) |device, it| {
        it.push_constants(stages, offset, array!(values.cast::<u8>(), size));
    };
    vkCmdPushConstants2KHR(info) |device, it| {
        let given = given!(info);
        it.push_constants(given.stage_flags, given.offset, array!(given.p_values.cast::<u8>(), given.size));
    };
    vkCmdPushDescriptorSetKHR(point, layout, index, count, writes) |device, it| {
        if let Some(at) = point_index(point) {
            push(device, it, at, (layout, index), array!(writes, count));
        }
    };
    vkCmdPushDescriptorSet2KHR(info) |device, it| {
        let given = given!(info);
        for at in points_of(given.stage_flags) {
            push(device, it, at, (given.layout, given.set), array!(given.p_descriptor_writes, given.descriptor_write_count));
        }
    };
    vkCmdPushDescriptorSetWithTemplateKHR(template, layout, index, data) |device, it| {
        push_by_template(device, it, template, (layout, index), data);
    };
    vkCmdPushDescriptorSetWithTemplate2KHR(info) |device, it| {
        let given = given!(info);
        push_by_template(device, it, given.descriptor_update_template, (given.layout, given.set), given.p_data);
    };
    vkCmdSetDescriptorBufferOffsetsEXT(point, layout, first, count, buffers, offsets) |device, it| {
        if let Some(at) = point_index(point) {
            it.bind(at, |bound| {
                bound.sets.clear();
                bound.uses_descriptor_buffers = true;
            });
        }
    };
    vkCmdSetDescriptorBufferOffsets2EXT(info) |device, it| {
        for at in points_of(given!(info).stage_flags) {
            it.bind(at, |bound| {
                bound.sets.clear();
                bound.uses_descriptor_buffers = true;
            });
        }
    };
    vkCmdBindVertexBuffers(first, count, buffers, offsets) |device, it| {
        for ((binding, buffer), offset) in (first..).zip(array!(buffers, count)).zip(array!(offsets, count)) {
            it.bind_vertices(binding, device.objects.buffer_range(*buffer, *offset, vk::WHOLE_SIZE), None);
        }
    };
    vkCmdBindVertexBuffers2(first, count, buffers, offsets, sizes, strides) |device, it| {
        let (sizes, strides) = (array!(sizes, count), array!(strides, count));
        for (index, (buffer, offset)) in array!(buffers, count).iter().zip(array!(offsets, count)).enumerate() {
            let size = sizes.get(index).copied().unwrap_or(vk::WHOLE_SIZE);
            let stride = strides.get(index).map(|stride| *stride as u32);
            it.bind_vertices(first + index as u32, device.objects.buffer_range(*buffer, *offset, size), stride);
        }
    };
    vkCmdSetVertexInputEXT(binding_count, bindings, attribute_count, attributes) |device, it| {
        let bindings = array!(bindings, binding_count).iter().map(|one| {
            (one.binding, one.stride, one.input_rate == vk::VertexInputRate::INSTANCE)
        });
        it.set_vertex_input(bindings.collect());
    };
    vkCmdBindIndexBuffer(buffer, offset, kind) |device, it| {
        it.bind_indices(device.objects.buffer_range(buffer, offset, vk::WHOLE_SIZE), index_bytes(kind));
    };
    vkCmdBindIndexBuffer2KHR(buffer, offset, size, kind) |device, it| {
        it.bind_indices(device.objects.buffer_range(buffer, offset, size), index_bytes(kind));
    };
    vkCmdBindVertexBuffers3KHR(first, count, infos) |device, it| {
        for index in 0..count {
            it.bind_vertices(first + index, None, None);
        }
        it.push(Op::Unresolved(UnresolvedKind::DeviceAddress));
    };
    vkCmdBindIndexBuffer3KHR(info) |device, it| {
        it.bind_indices(None, 0);
        it.push(Op::Unresolved(UnresolvedKind::DeviceAddress));
    };
    vkCmdBeginDebugUtilsLabelEXT(info) |device, it| {
        it.push(Op::BeginLabel(text!(given!(info).p_label_name)));
    };
    vkCmdEndDebugUtilsLabelEXT() |device, it| it.push(Op::EndLabel);
    vkCmdInsertDebugUtilsLabelEXT(info) |device, it| {
        it.push(Op::BeginLabel(text!(given!(info).p_label_name)));
        it.push(Op::EndLabel);
    };
    vkCmdDebugMarkerBeginEXT(info) |device, it| {
        it.push(Op::BeginLabel(text!(given!(info).p_marker_name)));
    };
    vkCmdDebugMarkerEndEXT() |device, it| it.push(Op::EndLabel);
    vkCmdDebugMarkerInsertEXT(info) |device, it| {
        it.push(Op::BeginLabel(text!(given!(info).p_marker_name)));
        it.push(Op::EndLabel);
    };
}

fn index_bytes(kind: vk::IndexType) -> u64 {
    match kind {
        vk::IndexType::UINT16 => 2,
        vk::IndexType::UINT32 => 4,
        _ => 1,
    }
}

/// Iterates over the indices of the bind points that these stages use.
fn points_of(stages: vk::ShaderStageFlags) -> impl Iterator<Item = usize> {
    descriptors::points_of(stages).filter_map(point_index)
}

fn bind_sets(
    device: &Device,
    it: &mut Recording,
    at: usize,
    first: u32,
    (sets, offsets): (&[vk::DescriptorSet], &[u32]),
) {
    it.bind(at, |bound| {
        bound.uses_descriptor_buffers = false;
        let mut offsets = offsets.iter().copied();
        for (index, set) in (first..).zip(sets) {
            let Some(set) = device.sets.get(set.as_raw()) else {
                bound.sets.remove(index);
                continue;
            };
            let count = set.layout.as_ref().map_or(0, |layout| layout.dynamic().count());
            let offsets = offsets.by_ref().take(count).collect();
            bound.sets.insert(index, BoundSet { set, offsets });
        }
    });
}

/// Binds a changed copy of the pushed descriptor set; earlier draws keep the old one.
fn change(
    device: &Device,
    it: &mut Recording,
    at: usize,
    (layout, index): (vk::PipelineLayout, u32),
    change: impl FnOnce(&Set),
) {
    it.bind(at, |bound| {
        let mut set = bound
            .sets
            .get(index)
            .map_or_else(Set::default, |bound| bound.set.copied());
        set.layout = device.layouts.of_pipeline(layout, index).or(set.layout);
        change(&set);
        let (set, offsets) = (Arc::new(set), Vec::new());
        bound.sets.insert(index, BoundSet { set, offsets });
    });
}

fn push(
    device: &Device,
    it: &mut Recording,
    at: usize,
    place: (vk::PipelineLayout, u32),
    writes: &[vk::WriteDescriptorSet<'_>],
) {
    change(device, it, at, place, |set| {
        for write in writes {
            each_written(write, set.layout.as_deref(), |one| {
                set.write(&device.objects, one)
            });
        }
    });
}

fn push_by_template(
    device: &Device,
    it: &mut Recording,
    template: vk::DescriptorUpdateTemplate,
    place: (vk::PipelineLayout, u32),
    data: *const c_void,
) {
    let template = device.templates.get(template.as_raw());
    let Some((template, at)) = template.and_then(|one| point_index(one.bind_point).map(|at| (one, at)))
    else {
        return;
    };
    change(device, it, at, place, |set| {
        let layout = set.layout.as_deref();
        template.each_written(layout, data, |one| set.write(&device.objects, one));
    });
}
