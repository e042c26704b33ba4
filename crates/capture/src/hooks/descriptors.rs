//! Entry points of shaders, pipelines, descriptor sets and update templates.

use std::ffi::{CStr, c_void};
use std::sync::Arc;

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::descriptors::{UpdateTemplate, each_written};
use tileheap_layer::pipelines::shader_stages;
use tileheap_layer::{array, call_down, chained, given};

use super::device::{Device, device_entry_points};
use super::objects::{creates, destroys};
use crate::model::objects::Set;
use crate::model::pipelines::{Pipeline, Stage};

creates! {
    vkCreateShaderModule |device, info, created| {
        device.modules.insert(created, array!(info.p_code, (info.code_size / 4) as u32).into());
    };
    vkCreateDescriptorSetLayout |device, info, created| {
        device.layouts.insert(vk::DescriptorSetLayout::from_raw(created), info);
    };
    vkCreatePipelineLayout |device, info, created| {
        device.layouts.insert_pipeline(vk::PipelineLayout::from_raw(created), info);
    };
    vkCreateDescriptorUpdateTemplate |device, info, created| {
        device.templates.insert(created, Arc::new(UpdateTemplate::new(info)));
    };
}

destroys! {
    vkDestroyShaderModule: modules;
    vkDestroyPipeline: pipelines;
    vkDestroyShaderEXT: shaders;
    vkDestroyDescriptorUpdateTemplate: templates;
}

fn pipeline(
    device: &Device,
    stages: &[vk::PipelineShaderStageCreateInfo<'_>],
    p_next: *const c_void,
) -> Pipeline {
    let mut pipeline = Pipeline::default();
    for stage in stages {
        let inline = chained!(stage.p_next => vk::ShaderModuleCreateInfo<'_>);
        let inline = inline.map(|info| array!(info.p_code, (info.code_size / 4) as u32).into());
        let Some(words) = device.modules.get(stage.module.as_raw()).or(inline) else {
            pipeline.incomplete = true;
            continue;
        };
        // SAFETY: Valid usage: a C string.
        let name = unsafe { CStr::from_ptr(stage.p_name) };
        pipeline.stages.push(Stage {
            words,
            name: name.to_string_lossy().into_owned(),
            stage: stage.stage,
        });
    }
    if let Some(libraries) = chained!(p_next => vk::PipelineLibraryCreateInfoKHR<'_>) {
        let all = array!(libraries.p_libraries, libraries.library_count).iter();
        pipeline.libraries = all
            .filter_map(|library| device.pipelines.get(library.as_raw()))
            .collect();
    }
    pipeline
}

/// Creates the pipeline that represents a shader object; it is incomplete if the code is a binary.
fn shader(info: &vk::ShaderCreateInfoEXT<'_>) -> Pipeline {
    let is_text = info.code_type == vk::ShaderCodeTypeEXT::SPIRV;
    let bytes = if is_text { info.code_size } else { 0 };
    // SAFETY: Valid usage: a C string, if the code is SPIR-V.
    let name = is_text.then(|| unsafe { CStr::from_ptr(info.p_name) });
    let stage = Stage {
        words: array!(info.p_code.cast::<u32>(), (bytes / 4) as u32).into(),
        name: name.unwrap_or_default().to_string_lossy().into_owned(),
        stage: info.stage,
    };
    let mut shader = Pipeline::default();
    (shader.stages, shader.incomplete) = (vec![stage], !is_text);
    shader
}

/// Returns each vertex binding with its stride, and true if it is per instance; empty if the pipeline does not have this state, since the pointers
/// are not valid then.
fn vertex_bindings(info: &vk::GraphicsPipelineCreateInfo<'_>) -> Vec<(u32, u32, bool)> {
    let library = chained!(info.p_next => vk::GraphicsPipelineLibraryCreateInfoEXT<'_>);
    let has_input = match library {
        Some(library) => library
            .flags
            .contains(vk::GraphicsPipelineLibraryFlagsEXT::VERTEX_INPUT_INTERFACE),
        None => array!(info.p_stages, info.stage_count)
            .iter()
            .any(|one| one.stage == vk::ShaderStageFlags::VERTEX),
    };
    if !has_input || has_dynamic_input(info) || info.p_vertex_input_state.is_null() {
        return Vec::new();
    }
    let input = given!(info.p_vertex_input_state);
    let bindings = array!(
        input.p_vertex_binding_descriptions,
        input.vertex_binding_description_count
    );
    let one = |one: &vk::VertexInputBindingDescription| {
        (
            one.binding,
            one.stride,
            one.input_rate == vk::VertexInputRate::INSTANCE,
        )
    };
    bindings.iter().map(one).collect()
}

/// Returns true if the vertex bindings are dynamic state.
fn has_dynamic_input(info: &vk::GraphicsPipelineCreateInfo<'_>) -> bool {
    // SAFETY: Valid usage: null or a valid structure.
    let dynamic = unsafe { info.p_dynamic_state.as_ref() };
    let dynamic = dynamic.map_or(&[][..], |one| {
        array!(one.p_dynamic_states, one.dynamic_state_count)
    });
    dynamic.contains(&vk::DynamicState::VERTEX_INPUT_EXT)
}

macro_rules! create_pipelines {
    ($($command:ident(|$create:ident| ($stages:expr, $vertex:expr));)+) => {
        device_entry_points! {$(
            $command(handle, cache, count, infos, allocator, out) |device| {
                let result = call_down!(device.next, $command(handle, cache, count, infos, allocator, out));
                if device.is_capturing() {
                    for ($create, created) in array!(infos, count).iter().zip(array!(out.cast_const(), count)) {
                        let mut known = pipeline(&device, $stages, $create.p_next);
                        (known.vertex, known.has_dynamic_input) = $vertex;
                        device.pipelines.insert(created.as_raw(), Arc::new(known));
                    }
                }
                result
            }
        )+}
    };
}

create_pipelines! {
    vkCreateGraphicsPipelines(|info| (shader_stages(info), (vertex_bindings(info), has_dynamic_input(info))));
    vkCreateComputePipelines(|info| (std::slice::from_ref(&info.stage), (Vec::new(), false)));
}

device_entry_points! {
    vkDestroyDescriptorSetLayout(handle, layout, allocator) |device| {
        device.layouts.remove(layout);
        call_down!(device.next, vkDestroyDescriptorSetLayout(handle, layout, allocator));
    }
    vkDestroyPipelineLayout(handle, layout, allocator) |device| {
        device.layouts.remove_pipeline(layout);
        call_down!(device.next, vkDestroyPipelineLayout(handle, layout, allocator));
    }
    vkCreateShadersEXT(handle, count, infos, allocator, out) |device| {
        let result = call_down!(device.next, vkCreateShadersEXT(handle, count, infos, allocator, out));
        if device.is_capturing() {
            for (info, created) in array!(infos, count).iter().zip(array!(out.cast_const(), count)) {
                device.shaders.insert(created.as_raw(), Arc::new(shader(info)));
            }
        }
        result
    }
    vkAllocateDescriptorSets(handle, info, out) |device| {
        let result = call_down!(device.next, vkAllocateDescriptorSets(handle, info, out));
        if result == vk::Result::SUCCESS && device.is_capturing() {
            let given = given!(info);
            let layouts = array!(given.p_set_layouts, given.descriptor_set_count);
            for (set, layout) in array!(out.cast_const(), given.descriptor_set_count).iter().zip(layouts) {
                let known = Set::new(given.descriptor_pool, device.layouts.get(*layout));
                device.sets.insert(set.as_raw(), Arc::new(known));
            }
        }
        result
    }
    vkFreeDescriptorSets(handle, pool, count, sets) |device| {
        for set in array!(sets, count) {
            device.sets.remove(set.as_raw());
        }
        call_down!(device.next, vkFreeDescriptorSets(handle, pool, count, sets))
    }
    vkResetDescriptorPool(handle, pool, flags) |device| {
        device.sets.remove_all(|set| set.pool == pool);
        call_down!(device.next, vkResetDescriptorPool(handle, pool, flags))
    }
    vkDestroyDescriptorPool(handle, pool, allocator) |device| {
        device.sets.remove_all(|set| set.pool == pool);
        call_down!(device.next, vkDestroyDescriptorPool(handle, pool, allocator));
    }
    vkUpdateDescriptorSets(handle, write_count, writes, copy_count, copies) |device| {
        if device.is_capturing() {
            for write in array!(writes, write_count) {
                if let Some(set) = device.sets.get(write.dst_set.as_raw()) {
                    each_written(write, set.layout.as_deref(), |one| set.write(&device.objects, one));
                }
            }
            for copy in array!(copies, copy_count) {
                let sets = (device.sets.get(copy.src_set.as_raw()), device.sets.get(copy.dst_set.as_raw()));
                if let (Some(from), Some(to)) = sets {
                    to.copy(&from, copy);
                }
            }
        }
        call_down!(device.next, vkUpdateDescriptorSets(handle, write_count, writes, copy_count, copies));
    }
    vkUpdateDescriptorSetWithTemplate(handle, set, template, data) |device| {
        let known = (device.templates.get(template.as_raw()), device.sets.get(set.as_raw()));
        if let (Some(template), Some(set)) = known {
            template.each_written(set.layout.as_deref(), data, |one| set.write(&device.objects, one));
        }
        call_down!(device.next, vkUpdateDescriptorSetWithTemplate(handle, set, template, data));
    }
}
