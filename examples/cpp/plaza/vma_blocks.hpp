/*
 * Ordinary device memory for tileheap's runtime from the Vulkan Memory Allocator, for tileheap::Device::create. Copy this file into an engine.
 *
 * Tile memory and lazily allocated memory do not come from here: tileheap allocates them with vkAllocateMemory, in objects of exactly the
 * planned size.
 * A request with `deviceAddress` needs an allocator with VMA_ALLOCATOR_CREATE_BUFFER_DEVICE_ADDRESS_BIT.
 */
#pragma once

#include <string>

#include <tileheap.hpp>
#include <vk_mem_alloc.h>

class VmaBlocks {
public:
    /** The allocator must outlive the tileheap::Device. */
    explicit VmaBlocks(VmaAllocator allocator) : allocator_(allocator) {}

    VkResult allocate(const ThBlockRequest &request, ThBlock &block) const {
        const VkImage image = request.dedicatedImage;
        const VkBuffer buffer = request.dedicatedBuffer;
        VmaAllocationCreateInfo info = {};
        info.memoryTypeBits = request.requirements.memoryTypeBits;
        info.flags = VMA_ALLOCATION_CREATE_MAPPED_BIT; // Ignored if the memory type is not host-visible.
        info.flags |= image || buffer ? VMA_ALLOCATION_CREATE_DEDICATED_MEMORY_BIT : VMA_ALLOCATION_CREATE_CAN_ALIAS_BIT;
        const std::string name(tileheap::to_cpp(request.name));
        VmaAllocation allocation = VK_NULL_HANDLE;
        VmaAllocationInfo allocated = {};
        const VkResult result = image    ? vmaAllocateMemoryForImage(allocator_, image, &info, &allocation, &allocated)
                                : buffer ? vmaAllocateMemoryForBuffer(allocator_, buffer, &info, &allocation, &allocated)
                                         : vmaAllocateMemory(allocator_, &request.requirements, &info, &allocation, &allocated);
        if (result < 0) return result;
        vmaSetAllocationName(allocator_, allocation, name.c_str());
        block.memory = allocated.deviceMemory;
        block.offset = allocated.offset;
        block.mapped = allocated.pMappedData;
        block.token = allocation;
        return VK_SUCCESS;
    }

    void free(const ThBlock &block) const { vmaFreeMemory(allocator_, static_cast<VmaAllocation>(block.token)); }

private:
    VmaAllocator allocator_;
};
