#include "runtime_gpu.hpp"

namespace plaza {
namespace {

/** Creates a device with the extensions and features that tileheap needs. */
VkDevice create_device(const Gpu &gpu, const VkDeviceCreateInfo &info, bool tile_memory, tileheap::DeviceAdditions &additions) {
    auto desc = tileheap::sized<ThDeviceAdditionsDesc>();
    desc.apiVersion = VK_API_VERSION_1_3;
    desc.getInstanceProcAddr = vkGetInstanceProcAddr;
    desc.instance = gpu.instance;
    desc.physicalDevice = gpu.physical_device;
    desc.createInfo = &info;
    desc.withoutTileMemory = !tile_memory;
    additions = tileheap::DeviceAdditions::create(desc).value();
    VkDevice device = VK_NULL_HANDLE;
    check(vkCreateDevice(gpu.physical_device, additions.create_info().value(), nullptr, &device), "vkCreateDevice");
    return device;
}

} // namespace

RuntimeGpu::RuntimeGpu(bool tile_memory)
    : gpu([&](const Gpu &found, const VkDeviceCreateInfo &info) { return create_device(found, info, tile_memory, additions_); }),
      queue{gpu.queue, gpu.family, gpu.capabilities},
      blocks(gpu.allocator),
      device(tileheap::Device::create(desc(), blocks).value()) {}

ThDeviceDesc RuntimeGpu::desc() const {
    auto desc = tileheap::sized<ThDeviceDesc>();
    desc.apiVersion = VK_API_VERSION_1_3;
    desc.getInstanceProcAddr = vkGetInstanceProcAddr;
    desc.instance = gpu.instance;
    desc.physicalDevice = gpu.physical_device;
    desc.device = gpu.device;
    desc.additions = additions_;
    desc.queueCount = 1;
    desc.queues = &queue;
    return desc;
}

} // namespace plaza
