/* A device with one queue, its allocator, and its profile. */
#pragma once

#include <functional>
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
    /** Creates the device of a Gpu whose members up to `name` are set; the parameters have one queue, and no extensions or features. */
    using CreateDevice = std::function<VkDevice(const Gpu &, const VkDeviceCreateInfo &)>;
    /** Opens the first device with Vulkan 1.3. It has no profile. */
    explicit Gpu(const CreateDevice &create, VmaAllocatorCreateFlags allocator_flags = 0);
    /**
     * Opens the first device with Vulkan 1.3 for a program that plans and executes frames itself. Enables VK_QCOM_tile_memory_heap if supported and
     * `tile_memory` is true, and VK_KHR_dynamic_rendering_local_read if supported.
     */
    explicit Gpu(bool tile_memory);
    ~Gpu();
    Gpu(const Gpu &) = delete;
    Gpu &operator=(const Gpu &) = delete;

    /** The memory requirements of a frame's resources, from the driver. */
    tileheap::Requirements requirements(const tileheap::Frame &frame) const;

    VkInstance instance = VK_NULL_HANDLE;
    VkPhysicalDevice physical_device = VK_NULL_HANDLE;
    /** The queue's family, and what it is capable of. */
    uint32_t family = 0;
    VkQueueFlags capabilities = 0;
    std::string name;
    VkDevice device = VK_NULL_HANDLE;
    VkQueue queue = VK_NULL_HANDLE;
    VmaAllocator allocator = VK_NULL_HANDLE;
    tileheap::Profile profile;

private:
    Gpu() = default;
    void choose_device();
    VkDevice create_device(VkDeviceCreateInfo info, bool tile_memory);

    /** The enabled features: bits of ThFeatureFlag. Those of Vulkan 1.3 are always included. */
    uint32_t enabled_ = TH_FEATURE_FLAG_SYNCHRONIZATION2 | TH_FEATURE_FLAG_DYNAMIC_RENDERING | TH_FEATURE_FLAG_TIMELINE_SEMAPHORE |
                        TH_FEATURE_FLAG_MAINTENANCE4 | TH_FEATURE_FLAG_STORE_OP_NONE;
};

} // namespace plaza
