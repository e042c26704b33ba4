/* A device with one queue, its allocator, and its profile. */
#pragma once

#include <stdexcept>
#include <string>

#include <tileheap.hpp>
#include <vk_mem_alloc.h>

namespace plaza {

/** Throws if a Vulkan function failed. */
inline void check(VkResult result, const char *function) {
    if (result < 0) throw std::runtime_error(std::string(function) + " failed: VkResult " + std::to_string(result));
}

/** A zero-initialized Vulkan structure with `sType` and `pNext`. */
template <class Structure>
Structure make(VkStructureType type, void *next = nullptr) {
    Structure structure = {};
    structure.sType = type;
    structure.pNext = next;
    return structure;
}

class Gpu {
public:
    /**
     * Opens the first device with Vulkan 1.3. Enables VK_QCOM_tile_memory_heap if supported and `tile_memory` is true, and
     * VK_KHR_dynamic_rendering_local_read if supported.
     */
    explicit Gpu(bool tile_memory);
    ~Gpu();
    Gpu(const Gpu &) = delete;
    Gpu &operator=(const Gpu &) = delete;

    /** The memory requirements of a frame's resources, from the driver. */
    tileheap::Requirements requirements(const tileheap::Frame &frame) const;

    VkInstance instance = VK_NULL_HANDLE;
    VkPhysicalDevice physical_device = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE;
    VkQueue queue = VK_NULL_HANDLE;
    uint32_t family = 0;
    VmaAllocator allocator = VK_NULL_HANDLE;
    tileheap::Profile profile;
    std::string name;

private:
    Gpu() = default;
    void choose_device();
    void create_device(bool tile_memory);

    /** The enabled features: bits of ThFeatureFlag. Those of Vulkan 1.3 are always included. */
    uint32_t enabled_ = TH_FEATURE_FLAG_SYNCHRONIZATION2 | TH_FEATURE_FLAG_DYNAMIC_RENDERING | TH_FEATURE_FLAG_TIMELINE_SEMAPHORE |
                        TH_FEATURE_FLAG_MAINTENANCE4 | TH_FEATURE_FLAG_STORE_OP_NONE;
};

} // namespace plaza
