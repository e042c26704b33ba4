/* The command buffers of a frame in flight. */
#pragma once

#include <vector>

#include "gpu.hpp"

namespace plaza {

/** Command buffers that are reset together. */
class CommandBuffers {
public:
    CommandBuffers(const Gpu &gpu, uint32_t count, VkCommandBufferLevel level = VK_COMMAND_BUFFER_LEVEL_PRIMARY)
        : handles(count), device_(gpu.device) {
        auto pool_info = make<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
        pool_info.queueFamilyIndex = gpu.family;
        check(vkCreateCommandPool(device_, &pool_info, nullptr, &pool_), "vkCreateCommandPool");
        auto info = make<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
        info.commandPool = pool_;
        info.level = level;
        info.commandBufferCount = count;
        const VkResult result = vkAllocateCommandBuffers(device_, &info, handles.data());
        if (result < 0) vkDestroyCommandPool(device_, pool_, nullptr);
        check(result, "vkAllocateCommandBuffers");
    }
    ~CommandBuffers() { vkDestroyCommandPool(device_, pool_, nullptr); }
    CommandBuffers(const CommandBuffers &) = delete;
    CommandBuffers &operator=(const CommandBuffers &) = delete;

    void reset() const { check(vkResetCommandPool(device_, pool_, 0), "vkResetCommandPool"); }

    std::vector<VkCommandBuffer> handles;

private:
    VkDevice device_;
    VkCommandPool pool_ = VK_NULL_HANDLE;
};

} // namespace plaza
