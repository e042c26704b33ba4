//! The device commands that the layer hooks or calls, except action commands.

use std::ffi::c_void;

use ash::vk;

/// Queries that ash 0.38 lacks, all of one shape: a structure in, `VkMemoryRequirements2` out.
pub(crate) type RequirementsQuery =
    unsafe extern "system" fn(vk::Device, *const c_void, *mut vk::MemoryRequirements2<'_>);

/// `vkCmdEndRendering2KHR`, which ash 0.38 lacks.
pub(crate) type EndRendering2 = unsafe extern "system" fn(vk::CommandBuffer, *const c_void);

/// Passes every command to the macro `$for_each`, as `mode command: pointer type, or aliases;`. The mode says on which devices the
/// layer hooks the command: `always`, `tile` (with tile memory), `own` (with any extension of the layer), or `down`: the layer
/// only calls it.
macro_rules! device_commands {
    ($for_each:ident) => {
        $for_each! {
        always vkGetDeviceProcAddr: vk::PFN_vkGetDeviceProcAddr;
        always vkDestroyDevice: vk::PFN_vkDestroyDevice;

        // Memory types in every answer and request.
        always vkAllocateMemory: vk::PFN_vkAllocateMemory;
        always vkFreeMemory: vk::PFN_vkFreeMemory;
        always vkGetImageMemoryRequirements: vk::PFN_vkGetImageMemoryRequirements;
        always vkGetBufferMemoryRequirements: vk::PFN_vkGetBufferMemoryRequirements;
        always vkGetImageMemoryRequirements2: vk::PFN_vkGetImageMemoryRequirements2, or vkGetImageMemoryRequirements2KHR;
        always vkGetBufferMemoryRequirements2: vk::PFN_vkGetBufferMemoryRequirements2,
            or vkGetBufferMemoryRequirements2KHR;
        always vkGetDeviceImageMemoryRequirements: vk::PFN_vkGetDeviceImageMemoryRequirements,
            or vkGetDeviceImageMemoryRequirementsKHR;
        always vkGetDeviceBufferMemoryRequirements: vk::PFN_vkGetDeviceBufferMemoryRequirements,
            or vkGetDeviceBufferMemoryRequirementsKHR;
        always vkGetMemoryFdPropertiesKHR: vk::PFN_vkGetMemoryFdPropertiesKHR;
        always vkGetMemoryHostPointerPropertiesEXT: vk::PFN_vkGetMemoryHostPointerPropertiesEXT;
        always vkGetMemoryWin32HandlePropertiesKHR: vk::PFN_vkGetMemoryWin32HandlePropertiesKHR;
        always vkGetMemoryZirconHandlePropertiesFUCHSIA: vk::PFN_vkGetMemoryZirconHandlePropertiesFUCHSIA;
        always vkGetAndroidHardwareBufferPropertiesANDROID: vk::PFN_vkGetAndroidHardwareBufferPropertiesANDROID;
        always vkGetBufferCollectionPropertiesFUCHSIA: vk::PFN_vkGetBufferCollectionPropertiesFUCHSIA;
        always vkGetAccelerationStructureMemoryRequirementsNV: vk::PFN_vkGetAccelerationStructureMemoryRequirementsNV;
        always vkGetGeneratedCommandsMemoryRequirementsNV: vk::PFN_vkGetGeneratedCommandsMemoryRequirementsNV;
        always vkGetGeneratedCommandsMemoryRequirementsEXT: RequirementsQuery;
        always vkGetTensorMemoryRequirementsARM: RequirementsQuery;
        always vkGetDeviceTensorMemoryRequirementsARM: RequirementsQuery;
        always vkGetDataGraphPipelineSessionMemoryRequirementsARM: RequirementsQuery;
        always vkGetVideoSessionMemoryRequirementsKHR: vk::PFN_vkGetVideoSessionMemoryRequirementsKHR;
        always vkGetDeviceGroupPeerMemoryFeatures: vk::PFN_vkGetDeviceGroupPeerMemoryFeatures,
            or vkGetDeviceGroupPeerMemoryFeaturesKHR;
        always vkGetDeviceMemoryCommitment: vk::PFN_vkGetDeviceMemoryCommitment;
        // Usage bits, which go with the queries above.
        always vkCreateImage: vk::PFN_vkCreateImage;
        always vkDestroyImage: vk::PFN_vkDestroyImage;

        tile vkMapMemory: vk::PFN_vkMapMemory;
        tile vkMapMemory2KHR: vk::PFN_vkMapMemory2KHR, or vkMapMemory2;
        own vkCreateBuffer: vk::PFN_vkCreateBuffer;
        tile vkDestroyBuffer: vk::PFN_vkDestroyBuffer;
        tile vkBindBufferMemory: vk::PFN_vkBindBufferMemory;
        tile vkBindBufferMemory2: vk::PFN_vkBindBufferMemory2, or vkBindBufferMemory2KHR;
        tile vkBindImageMemory: vk::PFN_vkBindImageMemory;
        tile vkBindImageMemory2: vk::PFN_vkBindImageMemory2, or vkBindImageMemory2KHR;
        tile vkCreateImageView: vk::PFN_vkCreateImageView;
        tile vkDestroyImageView: vk::PFN_vkDestroyImageView;
        tile vkCreateBufferView: vk::PFN_vkCreateBufferView;
        tile vkDestroyBufferView: vk::PFN_vkDestroyBufferView;
        own vkCreateFramebuffer: vk::PFN_vkCreateFramebuffer;
        own vkDestroyFramebuffer: vk::PFN_vkDestroyFramebuffer;
        tile vkCreatePipelineLayout: vk::PFN_vkCreatePipelineLayout;
        own vkCreateRenderPass: vk::PFN_vkCreateRenderPass;
        own vkCreateRenderPass2: vk::PFN_vkCreateRenderPass2, or vkCreateRenderPass2KHR;
        own vkDestroyRenderPass: vk::PFN_vkDestroyRenderPass;
        tile vkGetDeviceImageSparseMemoryRequirements: vk::PFN_vkGetDeviceImageSparseMemoryRequirements,
            or vkGetDeviceImageSparseMemoryRequirementsKHR;
        tile vkGetDeviceImageSubresourceLayoutKHR: vk::PFN_vkGetDeviceImageSubresourceLayoutKHR,
            or vkGetDeviceImageSubresourceLayout;

        // Descriptors of draws and dispatches.
        tile vkCreateShaderModule: vk::PFN_vkCreateShaderModule;
        tile vkDestroyShaderModule: vk::PFN_vkDestroyShaderModule;
        tile vkCreateGraphicsPipelines: vk::PFN_vkCreateGraphicsPipelines;
        tile vkCreateComputePipelines: vk::PFN_vkCreateComputePipelines;
        tile vkCreateRayTracingPipelinesKHR: vk::PFN_vkCreateRayTracingPipelinesKHR;
        tile vkDestroyPipeline: vk::PFN_vkDestroyPipeline;
        tile vkCmdBindPipeline: vk::PFN_vkCmdBindPipeline;
        tile vkCreateDescriptorSetLayout: vk::PFN_vkCreateDescriptorSetLayout;
        tile vkDestroyDescriptorSetLayout: vk::PFN_vkDestroyDescriptorSetLayout;
        tile vkDestroyPipelineLayout: vk::PFN_vkDestroyPipelineLayout;
        tile vkAllocateDescriptorSets: vk::PFN_vkAllocateDescriptorSets;
        tile vkFreeDescriptorSets: vk::PFN_vkFreeDescriptorSets;
        tile vkResetDescriptorPool: vk::PFN_vkResetDescriptorPool;
        tile vkDestroyDescriptorPool: vk::PFN_vkDestroyDescriptorPool;
        tile vkUpdateDescriptorSets: vk::PFN_vkUpdateDescriptorSets;
        tile vkCreateDescriptorUpdateTemplate: vk::PFN_vkCreateDescriptorUpdateTemplate,
            or vkCreateDescriptorUpdateTemplateKHR;
        tile vkDestroyDescriptorUpdateTemplate: vk::PFN_vkDestroyDescriptorUpdateTemplate,
            or vkDestroyDescriptorUpdateTemplateKHR;
        tile vkUpdateDescriptorSetWithTemplate: vk::PFN_vkUpdateDescriptorSetWithTemplate,
            or vkUpdateDescriptorSetWithTemplateKHR;
        tile vkCmdBindShadersEXT: vk::PFN_vkCmdBindShadersEXT;
        tile vkCmdBindDescriptorSets: vk::PFN_vkCmdBindDescriptorSets;
        tile vkCmdBindDescriptorSets2KHR: vk::PFN_vkCmdBindDescriptorSets2KHR, or vkCmdBindDescriptorSets2;
        tile vkCmdPushDescriptorSetKHR: vk::PFN_vkCmdPushDescriptorSetKHR, or vkCmdPushDescriptorSet;
        tile vkCmdPushDescriptorSet2KHR: vk::PFN_vkCmdPushDescriptorSet2KHR, or vkCmdPushDescriptorSet2;
        tile vkCmdPushDescriptorSetWithTemplateKHR: vk::PFN_vkCmdPushDescriptorSetWithTemplateKHR,
            or vkCmdPushDescriptorSetWithTemplate;
        tile vkCmdPushDescriptorSetWithTemplate2KHR: vk::PFN_vkCmdPushDescriptorSetWithTemplate2KHR,
            or vkCmdPushDescriptorSetWithTemplate2;
        tile vkCmdSetDescriptorBufferOffsetsEXT: vk::PFN_vkCmdSetDescriptorBufferOffsetsEXT;
        tile vkCmdSetDescriptorBufferOffsets2EXT: vk::PFN_vkCmdSetDescriptorBufferOffsets2EXT;

        tile vkDestroyCommandPool: vk::PFN_vkDestroyCommandPool;
        tile vkAllocateCommandBuffers: vk::PFN_vkAllocateCommandBuffers;
        tile vkFreeCommandBuffers: vk::PFN_vkFreeCommandBuffers;
        tile vkBeginCommandBuffer: vk::PFN_vkBeginCommandBuffer;
        tile vkCmdPipelineBarrier: vk::PFN_vkCmdPipelineBarrier;
        own vkCmdPipelineBarrier2: vk::PFN_vkCmdPipelineBarrier2, or vkCmdPipelineBarrier2KHR;
        tile vkCmdWaitEvents: vk::PFN_vkCmdWaitEvents;
        own vkCmdWaitEvents2: vk::PFN_vkCmdWaitEvents2, or vkCmdWaitEvents2KHR;
        own vkCmdSetEvent2: vk::PFN_vkCmdSetEvent2, or vkCmdSetEvent2KHR;
        tile vkCmdSetEvent: vk::PFN_vkCmdSetEvent;
        tile vkCmdResetEvent: vk::PFN_vkCmdResetEvent;
        tile vkCmdResetEvent2: vk::PFN_vkCmdResetEvent2, or vkCmdResetEvent2KHR;
        tile vkCmdNextSubpass: vk::PFN_vkCmdNextSubpass;
        tile vkCmdNextSubpass2: vk::PFN_vkCmdNextSubpass2, or vkCmdNextSubpass2KHR;
        tile vkCmdBeginRenderPass: vk::PFN_vkCmdBeginRenderPass;
        tile vkCmdBeginRenderPass2: vk::PFN_vkCmdBeginRenderPass2, or vkCmdBeginRenderPass2KHR;
        tile vkCmdEndRenderPass: vk::PFN_vkCmdEndRenderPass;
        tile vkCmdEndRenderPass2: vk::PFN_vkCmdEndRenderPass2, or vkCmdEndRenderPass2KHR;
        own vkCmdBeginRendering: vk::PFN_vkCmdBeginRendering, or vkCmdBeginRenderingKHR;
        tile vkCmdEndRendering: vk::PFN_vkCmdEndRendering, or vkCmdEndRenderingKHR;
        tile vkCmdEndRendering2KHR: EndRendering2, or vkCmdEndRendering2EXT;
        tile vkCmdExecuteCommands: vk::PFN_vkCmdExecuteCommands;

        tile vkGetDeviceQueue: vk::PFN_vkGetDeviceQueue;
        tile vkGetDeviceQueue2: vk::PFN_vkGetDeviceQueue2;
        tile vkQueueSubmit: vk::PFN_vkQueueSubmit;
        tile vkQueueSubmit2: vk::PFN_vkQueueSubmit2, or vkQueueSubmit2KHR;

        // What orders submissions.
        tile vkCreateSemaphore: vk::PFN_vkCreateSemaphore;
        tile vkDestroySemaphore: vk::PFN_vkDestroySemaphore;
        tile vkSignalSemaphore: vk::PFN_vkSignalSemaphore, or vkSignalSemaphoreKHR;
        tile vkWaitSemaphores: vk::PFN_vkWaitSemaphores, or vkWaitSemaphoresKHR;
        tile vkGetSemaphoreCounterValue: vk::PFN_vkGetSemaphoreCounterValue, or vkGetSemaphoreCounterValueKHR;
        tile vkWaitForFences: vk::PFN_vkWaitForFences;
        tile vkGetFenceStatus: vk::PFN_vkGetFenceStatus;
        tile vkResetFences: vk::PFN_vkResetFences;
        tile vkDestroyFence: vk::PFN_vkDestroyFence;
        tile vkDestroyEvent: vk::PFN_vkDestroyEvent;
        tile vkQueueBindSparse: vk::PFN_vkQueueBindSparse;
        tile vkQueueWaitIdle: vk::PFN_vkQueueWaitIdle;
        tile vkDeviceWaitIdle: vk::PFN_vkDeviceWaitIdle;

        // Names in messages.
        tile vkSetDebugUtilsObjectNameEXT: vk::PFN_vkSetDebugUtilsObjectNameEXT;
        tile vkDebugMarkerSetObjectNameEXT: vk::PFN_vkDebugMarkerSetObjectNameEXT;

        // The layer's own heap and submissions.
        down vkEndCommandBuffer: vk::PFN_vkEndCommandBuffer;
        down vkCreateCommandPool: vk::PFN_vkCreateCommandPool;
        down vkCreateDescriptorPool: vk::PFN_vkCreateDescriptorPool;
        }
    };
}
pub(crate) use device_commands;

macro_rules! table {
    ($($mode:ident $command:ident: $pointer:ty $(, or $($alias:ident)+)?;)+) => {
        tileheap_layer::command_table! {
            /// The next layer's device commands, except action commands.
            DeviceTable { $($command: $pointer $(, or $($alias)+)?;)+ }
        }
    };
}
device_commands!(table);
