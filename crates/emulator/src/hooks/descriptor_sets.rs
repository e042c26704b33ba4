//! Entry points of shaders, pipelines and descriptor sets, which determine the resources that draws and dispatches can
//! access.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ash::vk;
use ash::vk::Handle;

use tileheap_layer::descriptors::{UpdateTemplate, each_written};
use tileheap_layer::pipelines::shader_stages;
use tileheap_layer::{array, call_down, given};

use super::creates::creates;
use super::device::device_entry_points;
use crate::model::descriptors::Set;

macro_rules! create_pipelines {
    ($($command:ident($($operation:ident,)? |$create:ident| $stages:expr $(, $vertices:ident)?);)+) => {
        device_entry_points! {$(
            /// Registers the descriptors that each pipeline accesses, unless a deferred operation creates the
            /// pipelines: those stay unknown.
            $command(handle, $($operation,)? cache, count, infos, allocator, out) |device| {
                let next = &device.driver.commands;
                let result = call_down!(next, $command(handle, $($operation,)? cache, count, infos, allocator, out));
                $(if $operation != vk::DeferredOperationKHR::null() {
                    return result;
                })?
                let infos = array!(infos, count);
                let pipelines = array!(out.cast_const(), count);
                for ($create, pipeline) in infos.iter().zip(pipelines) {
                    let stages = $stages;
                    device.descriptors.remember_pipeline(*pipeline, stages, $create.flags, $create.p_next);
                    $(device.descriptors.$vertices(*pipeline, $create);)?
                    if let Some(shading) = &device.tile_shading {
                        shading.remember_pipeline(*pipeline, stages, $create.layout);
                    }
                }
                result
            }
        )+}
    };
}

create_pipelines! {
    vkCreateGraphicsPipelines(|info| shader_stages(info), remember_vertex_input);
    vkCreateComputePipelines(|info| std::slice::from_ref(&info.stage));
    vkCreateRayTracingPipelinesKHR(operation, |info| array!(info.p_stages, info.stage_count));
}

creates! {
    /// Registers the bindings.
    vkCreateDescriptorSetLayout;
    |device, info, layout| {
        device.descriptors.layouts.insert(layout, info);
        let mut bindings = array!(info.p_bindings, info.binding_count).iter();
        if bindings.any(|one| one.descriptor_type == vk::DescriptorType::INPUT_ATTACHMENT) {
            device.descriptors.has_inputs.store(true, Ordering::Relaxed);
        }
    }

    /// Registers the layout of the update data.
    vkCreateDescriptorUpdateTemplate;
    |device, info, template| {
        device.descriptors.templates.insert(template.as_raw(), Arc::new(UpdateTemplate::new(info)));
    }
}

device_entry_points! {
    /// Registers the code, which is read when pipelines are created. Code for tile shading is rewritten for the
    /// driver.
    vkCreateShaderModule(handle, info, allocator, out) |device| {
        let mut copy = *given!(info);
        let words = array!(copy.p_code, (copy.code_size / 4) as u32);
        let rewritten = device.tile_shading.as_ref().and_then(|shading| shading.rewritten(words));
        if let Some(shader) = &rewritten {
            copy = copy.code(&shader.words);
        }
        let result = call_down!(device.driver.commands, vkCreateShaderModule(handle, &copy, allocator, out));
        if result == vk::Result::SUCCESS {
            let module = *given!(out);
            device.descriptors.modules.insert(module.as_raw(), device.descriptors.codes.get(words));
            if let Some(shading) = &device.tile_shading {
                shading.remember_module(module, rewritten.as_ref());
            }
        }
        result
    }

    /// Unregisters the layout; descriptor sets and pipeline layouts that use it keep its bindings.
    vkDestroyDescriptorSetLayout(handle, layout, allocator) |device| {
        device.descriptors.layouts.remove(layout);
        call_down!(device.driver.commands, vkDestroyDescriptorSetLayout(handle, layout, allocator));
    }

    /// Unregisters the layout.
    vkDestroyPipelineLayout(handle, layout, allocator) |device| {
        device.descriptors.layouts.remove_pipeline(layout);
        call_down!(device.driver.commands, vkDestroyPipelineLayout(handle, layout, allocator));
    }

    /// Registers the new sets, which are empty.
    vkAllocateDescriptorSets(handle, info, out) |device| {
        let result = call_down!(device.driver.commands, vkAllocateDescriptorSets(handle, info, out));
        if result == vk::Result::SUCCESS {
            let info = given!(info);
            let layouts = array!(info.p_set_layouts, info.descriptor_set_count);
            for (set, layout) in array!(out.cast_const(), info.descriptor_set_count).iter().zip(layouts) {
                let known = Set::new(info.descriptor_pool, device.descriptors.layouts.get(*layout));
                device.descriptors.sets.insert(set.as_raw(), Arc::new(known));
            }
        }
        result
    }

    /// Unregisters and frees the sets.
    vkFreeDescriptorSets(handle, pool, count, sets) |device| {
        for set in array!(sets, count) {
            device.descriptors.sets.remove(set.as_raw());
        }
        call_down!(device.driver.commands, vkFreeDescriptorSets(handle, pool, count, sets))
    }

    /// Unregisters the sets of the pool, and resets the pool.
    vkResetDescriptorPool(handle, pool, flags) |device| {
        device.descriptors.sets.remove_all(|set| set.pool == pool);
        call_down!(device.driver.commands, vkResetDescriptorPool(handle, pool, flags))
    }

    /// Unregisters the sets of the pool, and destroys the pool.
    vkDestroyDescriptorPool(handle, pool, allocator) |device| {
        device.descriptors.sets.remove_all(|set| set.pool == pool);
        call_down!(device.driver.commands, vkDestroyDescriptorPool(handle, pool, allocator));
    }

    /// Records the tracked resources that descriptors refer to.
    vkUpdateDescriptorSets(handle, write_count, writes, copy_count, copies) |device| {
        let sets = &device.descriptors.sets;
        for write in array!(writes, write_count) {
            if let Some(set) = sets.get(write.dst_set.as_raw()) {
                each_written(write, set.layout.as_deref(), |one| set.write(&device.resources, one));
            }
        }
        for copy in array!(copies, copy_count) {
            if let (Some(from), Some(to)) = (sets.get(copy.src_set.as_raw()), sets.get(copy.dst_set.as_raw())) {
                to.copy(&from, copy);
            }
        }
        call_down!(device.driver.commands, vkUpdateDescriptorSets(handle, write_count, writes, copy_count, copies));
    }

    /// Records the tracked resources that descriptors refer to.
    vkUpdateDescriptorSetWithTemplate(handle, set, template, data) |device| {
        let known = device.descriptors.templates.get(template.as_raw());
        if let (Some(template), Some(set)) = (known, device.descriptors.sets.get(set.as_raw())) {
            template.each_written(set.layout.as_deref(), data, |one| set.write(&device.resources, one));
        }
        call_down!(device.driver.commands, vkUpdateDescriptorSetWithTemplate(handle, set, template, data));
    }
}
