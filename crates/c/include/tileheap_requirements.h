/*
 * tileheap_requirements.h: asks a device about the memory requirements of a frame's resources, for thCreateRequirements. In C11 and C++, without
 * other libraries. The device needs Vulkan 1.3 or VK_KHR_maintenance4.
 *
 *     uint32_t count = 0;
 *     thGetRequirementQueries(frame, profile, &count, NULL, error);
 *     ThRequirementQuery *queries = calloc(count, sizeof *queries);
 *     ThRequirementAnswer *answers = calloc(count, sizeof *answers);
 *     if (count > 0) queries[0].structSize = sizeof *queries;
 *     thGetRequirementQueries(frame, profile, &count, queries, error);
 *     for (uint32_t i = 0; i < count; i++) {
 *         answers[i].structSize = sizeof *answers;
 *         thAnswerRequirementQuery(&functions, physicalDevice, device, &queries[i], &answers[i]);
 *     }
 *     thCreateRequirements(frame, profile, count, answers, &requirements, error);
 *
 * Dynamic frames do all of this themselves.
 */

#ifndef TILEHEAP_REQUIREMENTS_H
#define TILEHEAP_REQUIREMENTS_H

#include "tileheap.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The functions of Vulkan that `thAnswerRequirementQuery` calls. */
typedef struct ThRequirementFunctions {
    /** `vkGetPhysicalDeviceImageFormatProperties2`, or its name with KHR. */
    PFN_vkGetPhysicalDeviceImageFormatProperties2 getPhysicalDeviceImageFormatProperties2;
    /** `vkGetDeviceImageMemoryRequirements`, or its name with KHR. */
    PFN_vkGetDeviceImageMemoryRequirements getDeviceImageMemoryRequirements;
    /** `vkGetDeviceBufferMemoryRequirements`, or its name with KHR. */
    PFN_vkGetDeviceBufferMemoryRequirements getDeviceBufferMemoryRequirements;
} ThRequirementFunctions;

/**
 * Asks a device a query of `thGetRequirementQueries`, and writes the answer; `structSize` of the answer is set by the caller. An image that the
 * device does not support is an answer (`ThRequirementAnswer::supported`), not an error.
 *
 * Returns the error of `vkGetPhysicalDeviceImageFormatProperties2` if it fails for another reason.
 *
 * Thread safety: may be called by several threads at once.
 */
static inline VkResult thAnswerRequirementQuery(const ThRequirementFunctions *functions, VkPhysicalDevice physicalDevice, VkDevice device,
                                                const ThRequirementQuery *query, ThRequirementAnswer *answer) {
    VkTileMemoryRequirementsQCOM tile;
    tile.sType = VK_STRUCTURE_TYPE_TILE_MEMORY_REQUIREMENTS_QCOM;
    tile.pNext = NULL;
    tile.size = tile.alignment = 0;
    VkMemoryDedicatedRequirements dedicated;
    dedicated.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS;
    dedicated.pNext = query->memory == TH_MEMORY_KIND_TILE ? &tile : NULL;
    dedicated.prefersDedicatedAllocation = dedicated.requiresDedicatedAllocation = VK_FALSE;
    VkMemoryRequirements2 found;
    found.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2;
    found.pNext = &dedicated;
    found.memoryRequirements.size = found.memoryRequirements.alignment = 0;
    found.memoryRequirements.memoryTypeBits = 0;

    answer->resource = query->resource;
    answer->memory = query->memory;
    answer->supported = VK_TRUE;
    if (query->resourceType == TH_RESOURCE_TYPE_IMAGE) {
        const VkImageCreateInfo *image = &query->image;
        VkPhysicalDeviceImageFormatInfo2 format;
        format.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2;
        format.pNext = NULL;
        format.format = image->format;
        format.type = image->imageType;
        format.tiling = image->tiling;
        format.usage = image->usage;
        format.flags = image->flags;
        VkImageFormatProperties2 properties;
        properties.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2;
        properties.pNext = NULL;
        const VkResult result = functions->getPhysicalDeviceImageFormatProperties2(physicalDevice, &format, &properties);
        if (result != VK_SUCCESS && result != VK_ERROR_FORMAT_NOT_SUPPORTED) return result;
        answer->supported = VK_FALSE;
        if (result == VK_SUCCESS) {
            const VkImageFormatProperties *limits = &properties.imageFormatProperties;
            const VkSampleCountFlags samples = image->samples;
            answer->supported = image->extent.width <= limits->maxExtent.width && image->extent.height <= limits->maxExtent.height &&
                                image->extent.depth <= limits->maxExtent.depth && image->mipLevels <= limits->maxMipLevels &&
                                image->arrayLayers <= limits->maxArrayLayers && (limits->sampleCounts & samples) != 0;
        }
        if (answer->supported) {
            VkDeviceImageMemoryRequirements of;
            of.sType = VK_STRUCTURE_TYPE_DEVICE_IMAGE_MEMORY_REQUIREMENTS;
            of.pNext = NULL;
            of.pCreateInfo = image;
            of.planeAspect = VK_IMAGE_ASPECT_NONE;
            functions->getDeviceImageMemoryRequirements(device, &of, &found);
        }
    } else {
        VkDeviceBufferMemoryRequirements of;
        of.sType = VK_STRUCTURE_TYPE_DEVICE_BUFFER_MEMORY_REQUIREMENTS;
        of.pNext = NULL;
        of.pCreateInfo = &query->buffer;
        functions->getDeviceBufferMemoryRequirements(device, &of, &found);
    }
    answer->dedicated = TH_DEDICATED_NO;
    if (dedicated.prefersDedicatedAllocation) answer->dedicated = TH_DEDICATED_PREFERRED;
    if (dedicated.requiresDedicatedAllocation) answer->dedicated = TH_DEDICATED_REQUIRED;
    answer->requirements = found.memoryRequirements;
    answer->tileSize = tile.size;
    answer->tileAlignment = tile.alignment;
    return VK_SUCCESS;
}

#ifdef __cplusplus
}
#endif

#endif /* TILEHEAP_REQUIREMENTS_H */
