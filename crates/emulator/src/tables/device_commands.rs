//! The device commands that the layer hooks or calls, except action commands.

use std::ffi::c_void;

use ash::vk;

/// The type of queries that ash 0.38 lacks, which share a signature: a structure in, `VkMemoryRequirements2` out.
pub(crate) type RequirementsQuery =
    unsafe extern "system" fn(vk::Device, *const c_void, *mut vk::MemoryRequirements2<'_>);

/// The type of `vkCmdEndRendering2KHR`, which ash 0.38 lacks.
pub(crate) type EndRendering2 = unsafe extern "system" fn(vk::CommandBuffer, *const c_void);

/// The type of `vkCmdBindVertexBuffers3KHR`, and of transform feedback by addresses, which ash 0.38 lacks.
pub(crate) type BindByAddress = unsafe extern "system" fn(vk::CommandBuffer, u32, u32, *const c_void);

/// The type of `vkCmdBindIndexBuffer3KHR`, which ash 0.38 lacks.
pub(crate) type BindIndicesByAddress = unsafe extern "system" fn(vk::CommandBuffer, *const c_void);

/// Passes every command to the macro `$for_each`, as `mode command: pointer type, or aliases;`. The mode states the devices on
/// which the layer hooks the command: `always` on all, `checked` on those whose order and contents are checked, `own` on these and
/// on devices that enable an extension of the layer, `down` on none: the layer only calls the command.
macro_rules! device_commands {
    ($for_each:ident) => {
        $for_each! {
        always vkGetDeviceProcAddr: vk::PFN_vkGetDeviceProcAddr;
        always vkDestroyDevice: vk::PFN_vkDestroyDevice;

        // Memory types in all queries and requests.
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

        checked vkMapMemory: vk::PFN_vkMapMemory;
        checked vkMapMemory2KHR: vk::PFN_vkMapMemory2KHR, or vkMapMemory2;
        own vkCreateBuffer: vk::PFN_vkCreateBuffer;
        checked vkDestroyBuffer: vk::PFN_vkDestroyBuffer;
        checked vkBindBufferMemory: vk::PFN_vkBindBufferMemory;
        checked vkBindBufferMemory2: vk::PFN_vkBindBufferMemory2, or vkBindBufferMemory2KHR;
        checked vkBindImageMemory: vk::PFN_vkBindImageMemory;
        checked vkBindImageMemory2: vk::PFN_vkBindImageMemory2, or vkBindImageMemory2KHR;
        checked vkCreateImageView: vk::PFN_vkCreateImageView;
        checked vkDestroyImageView: vk::PFN_vkDestroyImageView;
        checked vkCreateBufferView: vk::PFN_vkCreateBufferView;
        checked vkDestroyBufferView: vk::PFN_vkDestroyBufferView;
        own vkCreateFramebuffer: vk::PFN_vkCreateFramebuffer;
        own vkDestroyFramebuffer: vk::PFN_vkDestroyFramebuffer;
        checked vkCreatePipelineLayout: vk::PFN_vkCreatePipelineLayout;
        own vkCreateRenderPass: vk::PFN_vkCreateRenderPass;
        own vkCreateRenderPass2: vk::PFN_vkCreateRenderPass2, or vkCreateRenderPass2KHR;
        own vkDestroyRenderPass: vk::PFN_vkDestroyRenderPass;
        checked vkGetDeviceImageSparseMemoryRequirements: vk::PFN_vkGetDeviceImageSparseMemoryRequirements,
            or vkGetDeviceImageSparseMemoryRequirementsKHR;
        checked vkGetDeviceImageSubresourceLayoutKHR: vk::PFN_vkGetDeviceImageSubresourceLayoutKHR,
            or vkGetDeviceImageSubresourceLayout;

        // Descriptors of draws and dispatches.
        checked vkCreateShaderModule: vk::PFN_vkCreateShaderModule;
        checked vkDestroyShaderModule: vk::PFN_vkDestroyShaderModule;
        checked vkCreateGraphicsPipelines: vk::PFN_vkCreateGraphicsPipelines;
        checked vkCreateComputePipelines: vk::PFN_vkCreateComputePipelines;
        checked vkCreateRayTracingPipelinesKHR: vk::PFN_vkCreateRayTracingPipelinesKHR;
        checked vkDestroyPipeline: vk::PFN_vkDestroyPipeline;
        checked vkCmdBindPipeline: vk::PFN_vkCmdBindPipeline;
        checked vkCreateDescriptorSetLayout: vk::PFN_vkCreateDescriptorSetLayout;
        checked vkDestroyDescriptorSetLayout: vk::PFN_vkDestroyDescriptorSetLayout;
        checked vkDestroyPipelineLayout: vk::PFN_vkDestroyPipelineLayout;
        checked vkAllocateDescriptorSets: vk::PFN_vkAllocateDescriptorSets;
        checked vkFreeDescriptorSets: vk::PFN_vkFreeDescriptorSets;
        checked vkResetDescriptorPool: vk::PFN_vkResetDescriptorPool;
        checked vkDestroyDescriptorPool: vk::PFN_vkDestroyDescriptorPool;
        checked vkUpdateDescriptorSets: vk::PFN_vkUpdateDescriptorSets;
        checked vkCreateDescriptorUpdateTemplate: vk::PFN_vkCreateDescriptorUpdateTemplate,
            or vkCreateDescriptorUpdateTemplateKHR;
        checked vkDestroyDescriptorUpdateTemplate: vk::PFN_vkDestroyDescriptorUpdateTemplate,
            or vkDestroyDescriptorUpdateTemplateKHR;
        checked vkUpdateDescriptorSetWithTemplate: vk::PFN_vkUpdateDescriptorSetWithTemplate,
            or vkUpdateDescriptorSetWithTemplateKHR;
        checked vkCmdBindVertexBuffers: vk::PFN_vkCmdBindVertexBuffers;
        checked vkCmdBindVertexBuffers2: vk::PFN_vkCmdBindVertexBuffers2, or vkCmdBindVertexBuffers2EXT;
        checked vkCmdBindVertexBuffers3KHR: BindByAddress;
        checked vkCmdBindIndexBuffer: vk::PFN_vkCmdBindIndexBuffer;
        checked vkCmdBindIndexBuffer2KHR: vk::PFN_vkCmdBindIndexBuffer2KHR, or vkCmdBindIndexBuffer2;
        checked vkCmdBindIndexBuffer3KHR: BindIndicesByAddress;
        checked vkCmdBeginTransformFeedbackEXT: vk::PFN_vkCmdBeginTransformFeedbackEXT;
        checked vkCmdEndTransformFeedbackEXT: vk::PFN_vkCmdEndTransformFeedbackEXT;
        checked vkCmdBeginTransformFeedback2EXT: BindByAddress;
        checked vkCmdEndTransformFeedback2EXT: BindByAddress;
        checked vkCmdBindShadersEXT: vk::PFN_vkCmdBindShadersEXT;
        checked vkCmdBindDescriptorSets: vk::PFN_vkCmdBindDescriptorSets;
        checked vkCmdBindDescriptorSets2KHR: vk::PFN_vkCmdBindDescriptorSets2KHR, or vkCmdBindDescriptorSets2;
        checked vkCmdPushConstants: vk::PFN_vkCmdPushConstants;
        checked vkCmdPushConstants2KHR: vk::PFN_vkCmdPushConstants2KHR, or vkCmdPushConstants2;
        checked vkCmdPushDescriptorSetKHR: vk::PFN_vkCmdPushDescriptorSetKHR, or vkCmdPushDescriptorSet;
        checked vkCmdPushDescriptorSet2KHR: vk::PFN_vkCmdPushDescriptorSet2KHR, or vkCmdPushDescriptorSet2;
        checked vkCmdPushDescriptorSetWithTemplateKHR: vk::PFN_vkCmdPushDescriptorSetWithTemplateKHR,
            or vkCmdPushDescriptorSetWithTemplate;
        checked vkCmdPushDescriptorSetWithTemplate2KHR: vk::PFN_vkCmdPushDescriptorSetWithTemplate2KHR,
            or vkCmdPushDescriptorSetWithTemplate2;
        checked vkCmdSetDescriptorBufferOffsetsEXT: vk::PFN_vkCmdSetDescriptorBufferOffsetsEXT;
        checked vkCmdSetDescriptorBufferOffsets2EXT: vk::PFN_vkCmdSetDescriptorBufferOffsets2EXT;

        checked vkDestroyCommandPool: vk::PFN_vkDestroyCommandPool;
        checked vkAllocateCommandBuffers: vk::PFN_vkAllocateCommandBuffers;
        checked vkFreeCommandBuffers: vk::PFN_vkFreeCommandBuffers;
        checked vkBeginCommandBuffer: vk::PFN_vkBeginCommandBuffer;
        checked vkCmdPipelineBarrier: vk::PFN_vkCmdPipelineBarrier;
        own vkCmdPipelineBarrier2: vk::PFN_vkCmdPipelineBarrier2, or vkCmdPipelineBarrier2KHR;
        checked vkCmdWaitEvents: vk::PFN_vkCmdWaitEvents;
        own vkCmdWaitEvents2: vk::PFN_vkCmdWaitEvents2, or vkCmdWaitEvents2KHR;
        own vkCmdSetEvent2: vk::PFN_vkCmdSetEvent2, or vkCmdSetEvent2KHR;
        checked vkCmdSetEvent: vk::PFN_vkCmdSetEvent;
        checked vkCmdResetEvent: vk::PFN_vkCmdResetEvent;
        checked vkCmdResetEvent2: vk::PFN_vkCmdResetEvent2, or vkCmdResetEvent2KHR;
        checked vkCmdNextSubpass: vk::PFN_vkCmdNextSubpass;
        checked vkCmdNextSubpass2: vk::PFN_vkCmdNextSubpass2, or vkCmdNextSubpass2KHR;
        checked vkCmdBeginRenderPass: vk::PFN_vkCmdBeginRenderPass;
        checked vkCmdBeginRenderPass2: vk::PFN_vkCmdBeginRenderPass2, or vkCmdBeginRenderPass2KHR;
        checked vkCmdEndRenderPass: vk::PFN_vkCmdEndRenderPass;
        checked vkCmdEndRenderPass2: vk::PFN_vkCmdEndRenderPass2, or vkCmdEndRenderPass2KHR;
        own vkCmdBeginRendering: vk::PFN_vkCmdBeginRendering, or vkCmdBeginRenderingKHR;
        checked vkCmdEndRendering: vk::PFN_vkCmdEndRendering, or vkCmdEndRenderingKHR;
        checked vkCmdEndRendering2KHR: EndRendering2, or vkCmdEndRendering2EXT;
        checked vkCmdExecuteCommands: vk::PFN_vkCmdExecuteCommands;

        checked vkGetDeviceQueue: vk::PFN_vkGetDeviceQueue;
        checked vkGetDeviceQueue2: vk::PFN_vkGetDeviceQueue2;
        checked vkQueueSubmit: vk::PFN_vkQueueSubmit;
        checked vkQueueSubmit2: vk::PFN_vkQueueSubmit2, or vkQueueSubmit2KHR;

        // Commands that order submissions.
        checked vkCreateSemaphore: vk::PFN_vkCreateSemaphore;
        checked vkDestroySemaphore: vk::PFN_vkDestroySemaphore;
        checked vkSignalSemaphore: vk::PFN_vkSignalSemaphore, or vkSignalSemaphoreKHR;
        checked vkWaitSemaphores: vk::PFN_vkWaitSemaphores, or vkWaitSemaphoresKHR;
        checked vkGetSemaphoreCounterValue: vk::PFN_vkGetSemaphoreCounterValue, or vkGetSemaphoreCounterValueKHR;
        checked vkWaitForFences: vk::PFN_vkWaitForFences;
        checked vkGetFenceStatus: vk::PFN_vkGetFenceStatus;
        checked vkResetFences: vk::PFN_vkResetFences;
        checked vkDestroyFence: vk::PFN_vkDestroyFence;
        checked vkDestroyEvent: vk::PFN_vkDestroyEvent;
        checked vkQueueBindSparse: vk::PFN_vkQueueBindSparse;
        checked vkQueueWaitIdle: vk::PFN_vkQueueWaitIdle;
        checked vkCreateSwapchainKHR: vk::PFN_vkCreateSwapchainKHR;
        checked vkCreateSharedSwapchainsKHR: vk::PFN_vkCreateSharedSwapchainsKHR;
        checked vkDestroySwapchainKHR: vk::PFN_vkDestroySwapchainKHR;
        checked vkGetSwapchainImagesKHR: vk::PFN_vkGetSwapchainImagesKHR;
        checked vkQueuePresentKHR: vk::PFN_vkQueuePresentKHR;
        checked vkAcquireNextImageKHR: vk::PFN_vkAcquireNextImageKHR;
        checked vkAcquireNextImage2KHR: vk::PFN_vkAcquireNextImage2KHR;
        checked vkGetEventStatus: vk::PFN_vkGetEventStatus;
        checked vkGetFenceFdKHR: vk::PFN_vkGetFenceFdKHR;
        checked vkGetSemaphoreFdKHR: vk::PFN_vkGetSemaphoreFdKHR;
        checked vkGetFenceWin32HandleKHR: vk::PFN_vkGetFenceWin32HandleKHR;
        checked vkGetSemaphoreWin32HandleKHR: vk::PFN_vkGetSemaphoreWin32HandleKHR;
        checked vkImportFenceFdKHR: vk::PFN_vkImportFenceFdKHR;
        checked vkImportSemaphoreFdKHR: vk::PFN_vkImportSemaphoreFdKHR;
        checked vkImportFenceWin32HandleKHR: vk::PFN_vkImportFenceWin32HandleKHR;
        checked vkImportSemaphoreWin32HandleKHR: vk::PFN_vkImportSemaphoreWin32HandleKHR;
        checked vkWaitForPresentKHR: vk::PFN_vkWaitForPresentKHR;
        checked vkDeviceWaitIdle: vk::PFN_vkDeviceWaitIdle;

        // Names in messages.
        checked vkSetDebugUtilsObjectNameEXT: vk::PFN_vkSetDebugUtilsObjectNameEXT;
        checked vkDebugMarkerSetObjectNameEXT: vk::PFN_vkDebugMarkerSetObjectNameEXT;

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
