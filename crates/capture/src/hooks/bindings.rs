//! Entry points that bind pipelines, descriptors, vertices and indices, and debug labels.

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::descriptors::{self, each_written};
use tileheap_layer::{array, given, text};

use super::device::Device;
use super::recorder::commands;
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
            bind_sets(device, it, at, first, array!(sets, count));
        }
    };
    vkCmdBindDescriptorSets2KHR(info) |device, it| {
        let given = given!(info);
        for at in points_of(given.stage_flags) {
            bind_sets(device, it, at, given.first_set, array!(given.p_descriptor_sets, given.descriptor_set_count));
        }
    };
    vkCmdPushDescriptorSetKHR(point, layout, index, count, writes) |device, it| {
        if let Some(at) = point_index(point) {
            push(device, it, at, index, array!(writes, count));
        }
    };
    vkCmdPushDescriptorSet2KHR(info) |device, it| {
        let given = given!(info);
        for at in points_of(given.stage_flags) {
            push(device, it, at, given.set, array!(given.p_descriptor_writes, given.descriptor_write_count));
        }
    };
    vkCmdPushDescriptorSetWithTemplateKHR(template, layout, index, data) |device, it| {
        push_by_template(device, it, template, index, data);
    };
    vkCmdPushDescriptorSetWithTemplate2KHR(info) |device, it| {
        let given = given!(info);
        push_by_template(device, it, given.descriptor_update_template, given.set, given.p_data);
    };
    vkCmdSetDescriptorBufferOffsetsEXT(point, layout, first, count, buffers, offsets) |device, it| {
        if let Some(at) = point_index(point) {
            it.bind(at, |bound| {
                bound.sets.clear();
                bound.buffers = true;
            });
        }
    };
    vkCmdBindVertexBuffers(first, count, buffers, offsets) |device, it| {
        for (binding, buffer) in (first..).zip(array!(buffers, count)) {
            it.bind_vertices(binding, device.objects.buffer(*buffer), None);
        }
    };
    vkCmdBindVertexBuffers2(first, count, buffers, offsets, sizes, strides) |device, it| {
        let strides = array!(strides, count);
        for (index, buffer) in array!(buffers, count).iter().enumerate() {
            let stride = strides.get(index).map(|stride| *stride as u32);
            it.bind_vertices(first + index as u32, device.objects.buffer(*buffer), stride);
        }
    };
    vkCmdBindIndexBuffer(buffer, offset, kind) |device, it| {
        it.bind_indices(device.objects.buffer(buffer), index_bytes(kind));
    };
    vkCmdBindIndexBuffer2KHR(buffer, offset, size, kind) |device, it| {
        it.bind_indices(device.objects.buffer(buffer), index_bytes(kind));
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

/// The bind points of stages.
fn points_of(stages: vk::ShaderStageFlags) -> impl Iterator<Item = usize> {
    descriptors::points_of(stages).filter_map(point_index)
}

fn bind_sets(device: &Device, it: &mut Recording, at: usize, first: u32, sets: &[vk::DescriptorSet]) {
    it.bind(at, |bound| {
        bound.buffers = false;
        for (index, set) in (first..).zip(sets) {
            match device.sets.get(set.as_raw()) {
                Some(set) => _ = bound.sets.insert(index, set),
                None => _ = bound.sets.remove(&index),
            }
        }
    });
}

/// Changes a copy of the pushed set: draws before keep the old one.
fn change(it: &mut Recording, at: usize, index: u32, change: impl FnOnce(&Set)) {
    it.bind(at, |bound| {
        let set = bound
            .sets
            .get(&index)
            .map_or_else(Set::default, |set| set.copied());
        change(&set);
        bound.sets.insert(index, Arc::new(set));
    });
}

fn push(device: &Device, it: &mut Recording, at: usize, index: u32, writes: &[vk::WriteDescriptorSet<'_>]) {
    change(it, at, index, |set| {
        for write in writes {
            each_written(write, None, |one| set.write(&device.objects, one));
        }
    });
}

fn push_by_template(
    device: &Device,
    it: &mut Recording,
    template: vk::DescriptorUpdateTemplate,
    index: u32,
    data: *const c_void,
) {
    let template = device.templates.get(template.as_raw());
    let Some((template, at)) = template.and_then(|one| point_index(one.point).map(|at| (one, at))) else {
        return;
    };
    change(it, at, index, |set| {
        template.each_written(None, data, |one| set.write(&device.objects, one));
    });
}
