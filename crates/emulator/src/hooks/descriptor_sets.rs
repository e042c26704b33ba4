//! Entry points of shaders, pipelines and descriptor sets: which resources draws and dispatches can access.

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk;
use ash::vk::Handle;

use tileheap_layer::arrays::elements;
use tileheap_layer::call_down;

use super::creates::creates;
use super::device::device_entry_points;
use crate::model::descriptors::{Set, Template};
use crate::model::shaders;

macro_rules! create_pipelines {
    ($($command:ident($info:ty $(, $operation:ident)?, |$create:ident| $stages:expr);)+) => {
        device_entry_points! {$(
            /// Registers the descriptors that each pipeline accesses; those of a deferred operation are unknown.
            fn $command(
                handle: vk::Device,
                $($operation: vk::DeferredOperationKHR,)?
                cache: vk::PipelineCache,
                count: u32,
                infos: *const $info,
                allocator: *const vk::AllocationCallbacks<'_>,
                out: *mut vk::Pipeline,
            ) -> vk::Result |device| {
                let next = &device.driver.commands;
                let result = call_down!(next, $command(handle, $($operation,)? cache, count, infos, allocator, out));
                $(if $operation != vk::DeferredOperationKHR::null() {
                    return result;
                })?
                // SAFETY: Valid usage: so many create infos.
                let infos = unsafe { elements(infos, count) };
                // SAFETY: The driver has written so many.
                let pipelines = unsafe { elements(out.cast_const(), count) };
                for ($create, pipeline) in infos.iter().zip(pipelines) {
                    // SAFETY: Valid usage: as many stages as the create info says.
                    let stages = unsafe { $stages };
                    // SAFETY: As above.
                    unsafe { device.descriptors.remember_pipeline(*pipeline, stages, $create.p_next) };
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
    vkCreateGraphicsPipelines(vk::GraphicsPipelineCreateInfo<'_>, |info| elements(info.p_stages, info.stage_count));
    vkCreateComputePipelines(vk::ComputePipelineCreateInfo<'_>, |info| elements(&raw const info.stage, 1));
    vkCreateRayTracingPipelinesKHR(vk::RayTracingPipelineCreateInfoKHR<'_>, operation, |info| {
        elements(info.p_stages, info.stage_count)
    });
}

creates! {
    /// Registers the layout of the update data.
    vkCreateDescriptorUpdateTemplate(vk::DescriptorUpdateTemplateCreateInfo<'_>) -> vk::DescriptorUpdateTemplate;
    |device, info, template| {
        // SAFETY: Valid usage.
        let entries =
            unsafe { elements(info.p_descriptor_update_entries, info.descriptor_update_entry_count) };
        let remembered = Template { entries: entries.to_vec(), point: info.pipeline_bind_point };
        device.descriptors.templates.insert(template.as_raw(), Arc::new(remembered));
    }
}

device_entry_points! {
    /// Registers the descriptors that the module accesses; one of tile shading is rewritten for the driver.
    fn vkCreateShaderModule(
        handle: vk::Device,
        info: *const vk::ShaderModuleCreateInfo<'_>,
        allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::ShaderModule,
    ) -> vk::Result |device| {
        // SAFETY: Valid usage: a valid structure.
        let mut copy = unsafe { *info };
        // SAFETY: As above; the size is a multiple of 4.
        let words = unsafe { elements(copy.p_code, (copy.code_size / 4) as u32) };
        let rewritten = device.tile_shading.as_ref().and_then(|shading| shading.rewritten(words));
        if let Some(shader) = &rewritten {
            copy = copy.code(&shader.words);
        }
        let result = call_down!(device.driver.commands, vkCreateShaderModule(handle, &copy, allocator, out));
        if result == vk::Result::SUCCESS {
            // SAFETY: The driver has written it.
            let module = unsafe { *out };
            device.descriptors.modules.insert(module.as_raw(), Arc::new(shaders::accesses(words)));
            if let Some(shading) = &device.tile_shading {
                shading.remember_module(module, rewritten.as_ref());
            }
        }
        result
    }

    /// New sets are empty.
    fn vkAllocateDescriptorSets(
        handle: vk::Device,
        info: *const vk::DescriptorSetAllocateInfo<'_>,
        out: *mut vk::DescriptorSet,
    ) -> vk::Result |device| {
        let result = call_down!(device.driver.commands, vkAllocateDescriptorSets(handle, info, out));
        if result == vk::Result::SUCCESS {
            // SAFETY: Valid usage: a valid structure.
            let info = unsafe { &*info };
            // SAFETY: The driver has written so many.
            for set in unsafe { elements(out.cast_const(), info.descriptor_set_count) } {
                device.descriptors.sets.insert(set.as_raw(), Arc::new(Set::new(info.descriptor_pool)));
            }
        }
        result
    }

    /// Removes the sets.
    fn vkFreeDescriptorSets(
        handle: vk::Device,
        pool: vk::DescriptorPool,
        count: u32,
        sets: *const vk::DescriptorSet,
    ) -> vk::Result |device| {
        // SAFETY: Valid usage.
        for set in unsafe { elements(sets, count) } {
            device.descriptors.sets.remove(set.as_raw());
        }
        call_down!(device.driver.commands, vkFreeDescriptorSets(handle, pool, count, sets))
    }

    /// Removes the pool's sets.
    fn vkResetDescriptorPool(
        handle: vk::Device,
        pool: vk::DescriptorPool,
        flags: vk::DescriptorPoolResetFlags,
    ) -> vk::Result |device| {
        device.descriptors.sets.remove_all(|set| set.pool == pool);
        call_down!(device.driver.commands, vkResetDescriptorPool(handle, pool, flags))
    }

    /// Removes the pool's sets.
    fn vkDestroyDescriptorPool(
        handle: vk::Device,
        pool: vk::DescriptorPool,
        allocator: *const vk::AllocationCallbacks<'_>,
    ) |device| {
        device.descriptors.sets.remove_all(|set| set.pool == pool);
        call_down!(device.driver.commands, vkDestroyDescriptorPool(handle, pool, allocator));
    }

    /// Records which descriptors are tile resources.
    fn vkUpdateDescriptorSets(
        handle: vk::Device,
        write_count: u32,
        writes: *const vk::WriteDescriptorSet<'_>,
        copy_count: u32,
        copies: *const vk::CopyDescriptorSet<'_>,
    ) |device| {
        let sets = &device.descriptors.sets;
        // SAFETY: Valid usage.
        for write in unsafe { elements(writes, write_count) } {
            if let Some(set) = sets.get(write.dst_set.as_raw()) {
                // SAFETY: Valid usage.
                unsafe { set.write(&device.resources, write) };
            }
        }
        // SAFETY: Valid usage.
        for copy in unsafe { elements(copies, copy_count) } {
            if let (Some(from), Some(to)) = (sets.get(copy.src_set.as_raw()), sets.get(copy.dst_set.as_raw())) {
                to.copy(&from, copy);
            }
        }
        call_down!(device.driver.commands, vkUpdateDescriptorSets(handle, write_count, writes, copy_count, copies));
    }

    /// Records which descriptors are tile resources.
    fn vkUpdateDescriptorSetWithTemplate(
        handle: vk::Device,
        set: vk::DescriptorSet,
        template: vk::DescriptorUpdateTemplate,
        data: *const c_void,
    ) |device| {
        let known = device.descriptors.templates.get(template.as_raw());
        if let (Some(template), Some(set)) = (known, device.descriptors.sets.get(set.as_raw())) {
            // SAFETY: Valid usage: data for that template.
            unsafe { set.write_by_template(&device.resources, &template, data) };
        }
        call_down!(device.driver.commands, vkUpdateDescriptorSetWithTemplate(handle, set, template, data));
    }
}
