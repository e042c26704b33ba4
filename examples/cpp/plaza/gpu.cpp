#include "gpu.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <tileheap_requirements.h>

namespace plaza {

Gpu::Gpu(const CreateDevice &create, VmaAllocatorCreateFlags allocator_flags) : Gpu() { // The destructor runs if something below throws.
    auto application = make<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
    application.apiVersion = VK_API_VERSION_1_3;
    auto instance_info = make<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
    instance_info.pApplicationInfo = &application;
    check(vkCreateInstance(&instance_info, nullptr, &instance), "vkCreateInstance");
    choose_device();

    const float priority = 1.0f;
    auto queue_info = make<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
    queue_info.queueFamilyIndex = family;
    queue_info.queueCount = 1;
    queue_info.pQueuePriorities = &priority;
    auto info = make<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue_info;
    device = create(*this, info);
    vkGetDeviceQueue(device, family, 0, &queue);

    VmaAllocatorCreateInfo allocator_info = {};
    allocator_info.flags = allocator_flags;
    allocator_info.vulkanApiVersion = VK_API_VERSION_1_3;
    allocator_info.instance = instance;
    allocator_info.physicalDevice = physical_device;
    allocator_info.device = device;
    check(vmaCreateAllocator(&allocator_info, &allocator), "vmaCreateAllocator");
}

Gpu::Gpu(bool tile_memory)
    : Gpu([this, tile_memory](const Gpu &, VkDeviceCreateInfo info) { return create_device(info, tile_memory); },
          VMA_ALLOCATOR_CREATE_BUFFER_DEVICE_ADDRESS_BIT) { // For frames that have device addresses.
    auto desc = tileheap::sized<ThPhysicalDeviceDesc>();
    desc.apiVersion = VK_API_VERSION_1_3;
    desc.getInstanceProcAddr = vkGetInstanceProcAddr;
    desc.instance = instance;
    desc.physicalDevice = physical_device;
    desc.enabled = enabled_; // Plans use nothing else.
    profile = tileheap::Profile::from_device(desc).value();
}

Gpu::~Gpu() {
    vmaDestroyAllocator(allocator);
    vkDestroyDevice(device, nullptr);
    vkDestroyInstance(instance, nullptr);
}

void Gpu::choose_device() {
    uint32_t count = 0;
    check(vkEnumeratePhysicalDevices(instance, &count, nullptr), "vkEnumeratePhysicalDevices");
    std::vector<VkPhysicalDevice> devices(count);
    check(vkEnumeratePhysicalDevices(instance, &count, devices.data()), "vkEnumeratePhysicalDevices");
    for (VkPhysicalDevice candidate : devices) {
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(candidate, &properties);
        if (properties.apiVersion < VK_API_VERSION_1_3) continue;
        vkGetPhysicalDeviceQueueFamilyProperties(candidate, &count, nullptr);
        std::vector<VkQueueFamilyProperties> families(count);
        vkGetPhysicalDeviceQueueFamilyProperties(candidate, &count, families.data());
        for (family = 0; family < count; family++) {
            if (families[family].queueFlags & VK_QUEUE_GRAPHICS_BIT) {
                physical_device = candidate;
                capabilities = families[family].queueFlags;
                name = properties.deviceName;
                return;
            }
        }
    }
    throw std::runtime_error("no device with Vulkan 1.3 and a graphics queue");
}

VkDevice Gpu::create_device(VkDeviceCreateInfo info, bool tile_memory) {
    uint32_t count = 0;
    check(vkEnumerateDeviceExtensionProperties(physical_device, nullptr, &count, nullptr), "vkEnumerateDeviceExtensionProperties");
    std::vector<VkExtensionProperties> extensions(count);
    check(vkEnumerateDeviceExtensionProperties(physical_device, nullptr, &count, extensions.data()),
          "vkEnumerateDeviceExtensionProperties");
    const auto has = [&](const char *name) {
        return std::any_of(extensions.begin(), extensions.end(),
                           [name](const VkExtensionProperties &extension) { return std::strcmp(extension.extensionName, name) == 0; });
    };

    auto of_tile = make<VkPhysicalDeviceTileMemoryHeapFeaturesQCOM>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TILE_MEMORY_HEAP_FEATURES_QCOM);
    of_tile.tileMemoryHeap = VK_TRUE;
    auto of_local_read =
        make<VkPhysicalDeviceDynamicRenderingLocalReadFeaturesKHR>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_LOCAL_READ_FEATURES_KHR);
    of_local_read.dynamicRenderingLocalRead = VK_TRUE;
    auto of_1_3 = make<VkPhysicalDeviceVulkan13Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES);
    of_1_3.synchronization2 = of_1_3.dynamicRendering = of_1_3.maintenance4 = VK_TRUE;
    auto of_1_2 = make<VkPhysicalDeviceVulkan12Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, &of_1_3);
    of_1_2.timelineSemaphore = of_1_2.bufferDeviceAddress = VK_TRUE;
    info.pNext = &of_1_2;
    std::vector<const char *> names;
    if (tile_memory && has(VK_QCOM_TILE_MEMORY_HEAP_EXTENSION_NAME)) {
        names.push_back(VK_QCOM_TILE_MEMORY_HEAP_EXTENSION_NAME);
        of_tile.pNext = std::exchange(of_1_3.pNext, &of_tile);
        enabled_ |= TH_FEATURE_FLAG_TILE_MEMORY;
    }
    if (has(VK_KHR_DYNAMIC_RENDERING_LOCAL_READ_EXTENSION_NAME)) {
        names.push_back(VK_KHR_DYNAMIC_RENDERING_LOCAL_READ_EXTENSION_NAME);
        of_local_read.pNext = std::exchange(of_1_3.pNext, &of_local_read);
        enabled_ |= TH_FEATURE_FLAG_LOCAL_READ;
    }
    info.enabledExtensionCount = uint32_t(names.size());
    info.ppEnabledExtensionNames = names.data();
    VkDevice created = VK_NULL_HANDLE;
    check(vkCreateDevice(physical_device, &info, nullptr, &created), "vkCreateDevice");
    return created;
}

tileheap::Requirements Gpu::requirements(const tileheap::Frame &frame) const {
    const ThRequirementFunctions functions = {vkGetPhysicalDeviceImageFormatProperties2, vkGetDeviceImageMemoryRequirements,
                                              vkGetDeviceBufferMemoryRequirements};
    std::vector<ThRequirementAnswer> answers;
    for (const ThRequirementQuery &query : tileheap::Requirements::queries(frame, profile).value()) {
        answers.push_back(tileheap::sized<ThRequirementAnswer>());
        check(thAnswerRequirementQuery(&functions, physical_device, device, &query, &answers.back()),
              "vkGetPhysicalDeviceImageFormatProperties2");
    }
    return tileheap::Requirements::create(frame, profile, answers).value();
}

} // namespace plaza
