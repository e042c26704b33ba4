/*
 * tileheap_vulkan.h: what tileheap uses of Vulkan and older headers lack.
 *
 * VK_KHR_dynamic_rendering_local_read is in headers from 1.3.276 on, VK_QCOM_tile_shading from 1.4.312 on, VK_QCOM_tile_memory_heap from 1.4.313
 * on, with its final names from 1.4.315 on. With newer headers, nothing here is defined. The macros by which Vulkan's headers say which
 * extensions they have stay as they are, since other headers ask for them.
 *
 * Programs that define these names themselves define TILEHEAP_NO_VULKAN_DEFINITIONS before they include tileheap.h.
 */

#ifndef TILEHEAP_VULKAN_H
#define TILEHEAP_VULKAN_H

#include <vulkan/vulkan_core.h>

#ifndef TILEHEAP_NO_VULKAN_DEFINITIONS

#ifdef __cplusplus
extern "C" {
#endif

#ifdef VK_QCOM_tile_memory_heap
#if VK_HEADER_VERSION < 315
#define VK_BUFFER_USAGE_TILE_MEMORY_BIT_QCOM VK_BUFFER_USAGE_TILE_MEMORY_QCOM
#define VK_IMAGE_USAGE_TILE_MEMORY_BIT_QCOM VK_IMAGE_USAGE_TILE_MEMORY_QCOM
#endif
#else
#define VK_QCOM_TILE_MEMORY_HEAP_EXTENSION_NAME "VK_QCOM_tile_memory_heap"

#define VK_MEMORY_HEAP_TILE_MEMORY_BIT_QCOM ((VkMemoryHeapFlagBits)0x00000008)
#define VK_BUFFER_USAGE_TILE_MEMORY_BIT_QCOM ((VkBufferUsageFlagBits)0x08000000)
#define VK_IMAGE_USAGE_TILE_MEMORY_BIT_QCOM ((VkImageUsageFlagBits)0x08000000)

#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TILE_MEMORY_HEAP_FEATURES_QCOM ((VkStructureType)1000547000)
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TILE_MEMORY_HEAP_PROPERTIES_QCOM ((VkStructureType)1000547001)
#define VK_STRUCTURE_TYPE_TILE_MEMORY_REQUIREMENTS_QCOM ((VkStructureType)1000547002)
#define VK_STRUCTURE_TYPE_TILE_MEMORY_BIND_INFO_QCOM ((VkStructureType)1000547003)
#define VK_STRUCTURE_TYPE_TILE_MEMORY_SIZE_INFO_QCOM ((VkStructureType)1000547004)

/** Extends VkPhysicalDeviceFeatures2 and VkDeviceCreateInfo. */
typedef struct VkPhysicalDeviceTileMemoryHeapFeaturesQCOM {
    VkStructureType sType;
    void *pNext;
    VkBool32 tileMemoryHeap;
} VkPhysicalDeviceTileMemoryHeapFeaturesQCOM;

/** Extends VkPhysicalDeviceProperties2. */
typedef struct VkPhysicalDeviceTileMemoryHeapPropertiesQCOM {
    VkStructureType sType;
    void *pNext;
    VkBool32 queueSubmitBoundary;
    VkBool32 tileBufferTransfers;
} VkPhysicalDeviceTileMemoryHeapPropertiesQCOM;

/** Extends VkMemoryRequirements2. */
typedef struct VkTileMemoryRequirementsQCOM {
    VkStructureType sType;
    void *pNext;
    VkDeviceSize size;
    VkDeviceSize alignment;
} VkTileMemoryRequirementsQCOM;

/** Of vkCmdBindTileMemoryQCOM; extends VkCommandBufferInheritanceInfo. */
typedef struct VkTileMemoryBindInfoQCOM {
    VkStructureType sType;
    const void *pNext;
    VkDeviceMemory memory;
} VkTileMemoryBindInfoQCOM;

/** Extends VkRenderPassCreateInfo, VkRenderPassCreateInfo2 and VkRenderingInfo. */
typedef struct VkTileMemorySizeInfoQCOM {
    VkStructureType sType;
    const void *pNext;
    VkDeviceSize size;
} VkTileMemorySizeInfoQCOM;

typedef void(VKAPI_PTR *PFN_vkCmdBindTileMemoryQCOM)(VkCommandBuffer commandBuffer,
                                                     const VkTileMemoryBindInfoQCOM *pTileMemoryBindInfo);
#endif

#ifndef VK_QCOM_tile_shading
#define VK_QCOM_TILE_SHADING_EXTENSION_NAME "VK_QCOM_tile_shading"

#define VK_STRUCTURE_TYPE_RENDER_PASS_TILE_SHADING_CREATE_INFO_QCOM ((VkStructureType)1000309002)

typedef enum VkTileShadingRenderPassFlagBitsQCOM {
    VK_TILE_SHADING_RENDER_PASS_ENABLE_BIT_QCOM = 0x00000001,
    VK_TILE_SHADING_RENDER_PASS_PER_TILE_EXECUTION_BIT_QCOM = 0x00000002,
    VK_TILE_SHADING_RENDER_PASS_FLAG_BITS_MAX_ENUM_QCOM = 0x7FFFFFFF
} VkTileShadingRenderPassFlagBitsQCOM;
typedef VkFlags VkTileShadingRenderPassFlagsQCOM;

/** Extends VkRenderPassCreateInfo, VkRenderPassCreateInfo2, VkRenderingInfo and VkCommandBufferInheritanceInfo. */
typedef struct VkRenderPassTileShadingCreateInfoQCOM {
    VkStructureType sType;
    const void *pNext;
    VkTileShadingRenderPassFlagsQCOM flags;
    VkExtent2D tileApronSize;
} VkRenderPassTileShadingCreateInfoQCOM;
#endif

#ifndef VK_KHR_dynamic_rendering_local_read
#define VK_KHR_DYNAMIC_RENDERING_LOCAL_READ_EXTENSION_NAME "VK_KHR_dynamic_rendering_local_read"

#define VK_IMAGE_LAYOUT_RENDERING_LOCAL_READ_KHR ((VkImageLayout)1000232000)

#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_LOCAL_READ_FEATURES_KHR ((VkStructureType)1000232000)
#define VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_LOCATION_INFO_KHR ((VkStructureType)1000232001)
#define VK_STRUCTURE_TYPE_RENDERING_INPUT_ATTACHMENT_INDEX_INFO_KHR ((VkStructureType)1000232002)

/** Extends VkPhysicalDeviceFeatures2 and VkDeviceCreateInfo. */
typedef struct VkPhysicalDeviceDynamicRenderingLocalReadFeaturesKHR {
    VkStructureType sType;
    void *pNext;
    VkBool32 dynamicRenderingLocalRead;
} VkPhysicalDeviceDynamicRenderingLocalReadFeaturesKHR;

/** Of vkCmdSetRenderingAttachmentLocationsKHR; extends VkGraphicsPipelineCreateInfo and VkCommandBufferInheritanceInfo. */
typedef struct VkRenderingAttachmentLocationInfoKHR {
    VkStructureType sType;
    const void *pNext;
    uint32_t colorAttachmentCount;
    const uint32_t *pColorAttachmentLocations;
} VkRenderingAttachmentLocationInfoKHR;

/** Of vkCmdSetRenderingInputAttachmentIndicesKHR; extends VkGraphicsPipelineCreateInfo and VkCommandBufferInheritanceInfo. */
typedef struct VkRenderingInputAttachmentIndexInfoKHR {
    VkStructureType sType;
    const void *pNext;
    uint32_t colorAttachmentCount;
    const uint32_t *pColorAttachmentInputIndices;
    const uint32_t *pDepthInputAttachmentIndex;
    const uint32_t *pStencilInputAttachmentIndex;
} VkRenderingInputAttachmentIndexInfoKHR;

typedef void(VKAPI_PTR *PFN_vkCmdSetRenderingAttachmentLocationsKHR)(
    VkCommandBuffer commandBuffer, const VkRenderingAttachmentLocationInfoKHR *pLocationInfo);
typedef void(VKAPI_PTR *PFN_vkCmdSetRenderingInputAttachmentIndicesKHR)(
    VkCommandBuffer commandBuffer, const VkRenderingInputAttachmentIndexInfoKHR *pInputAttachmentIndexInfo);
#endif

#ifdef __cplusplus
}
#endif

#endif /* TILEHEAP_NO_VULKAN_DEFINITIONS */

#endif /* TILEHEAP_VULKAN_H */
