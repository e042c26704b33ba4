// Tile memory from C++, and what the emulator shows of a mistake with it.
//
// A tile buffer is filled in one command buffer and copied to the host in the next one of the same batch. With --forget the second
// command buffer does not bind tile memory, so that the contents are lost before they are copied.
//
//     c++ -std=c++17 crates/emulator/examples/tile_memory.cpp -lvulkan -o target/tile_memory
//     export VK_LAYER_PATH=$PWD/target/emulator VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_emulator
//     VK_TILEHEAP_EMULATOR_PROFILE=generous target/tile_memory            # 0x12345678
//     VK_TILEHEAP_EMULATOR_PROFILE=generous target/tile_memory --forget   # 0xffff00ff: poison
//
// These are the paths of a checkout. In an archive, compile this file where it is, and let VK_LAYER_PATH name the folder with
// VkLayer_tileheap_emulator.json: `emulator`, or the archive's own folder.
//
// Needs Vulkan's headers of any age (Debian: libvulkan-dev) and a device whose tile buffers can be copied, as the profile
// `generous` has it. Without tile memory it prints a message and exits with 3.

#include <vulkan/vulkan.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// Headers before 1.4.315 do not have the extension, or have other names.
// Source: https://registry.khronos.org/vulkan/specs/latest/man/html/VK_QCOM_tile_memory_heap.html
namespace tile {
constexpr char extension[] = "VK_QCOM_tile_memory_heap";
constexpr VkMemoryHeapFlags heap_bit = 0x8;
constexpr VkBufferUsageFlags buffer_usage_bit = 0x08000000;

enum : int32_t {
    type_features = 1000547000,
    type_properties = 1000547001,
    type_requirements = 1000547002,
    type_bind_info = 1000547003,
};

struct Features {
    VkStructureType type = VkStructureType(type_features);
    void *next = nullptr;
    VkBool32 tile_memory_heap = VK_FALSE;
};

struct Properties {
    VkStructureType type = VkStructureType(type_properties);
    void *next = nullptr;
    VkBool32 queue_submit_boundary = VK_FALSE;
    VkBool32 tile_buffer_transfers = VK_FALSE;
};

struct Requirements {
    VkStructureType type = VkStructureType(type_requirements);
    void *next = nullptr;
    VkDeviceSize size = 0;
    VkDeviceSize alignment = 0;
};

struct BindInfo {
    VkStructureType type = VkStructureType(type_bind_info);
    const void *next = nullptr;
    VkDeviceMemory memory = VK_NULL_HANDLE;
};

using BindFunction = void(VKAPI_PTR *)(VkCommandBuffer, const BindInfo *);
} // namespace tile

[[noreturn]] static void stop(int code, const char *what) {
    std::fprintf(stderr, "%s\n", what);
    std::exit(code);
}

static void check(VkResult result, const char *call) {
    if (result != VK_SUCCESS) {
        std::fprintf(stderr, "%s failed: %d\n", call, result);
        std::exit(1);
    }
}

struct Buffer {
    VkBuffer handle = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
};

int main(int count, char **arguments) {
    const bool forget = count > 1 && std::strcmp(arguments[1], "--forget") == 0;
    constexpr VkDeviceSize size = 4096;

    VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.apiVersion = VK_API_VERSION_1_1;
    VkInstanceCreateInfo instance_info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    instance_info.pApplicationInfo = &application;
    VkInstance instance;
    check(vkCreateInstance(&instance_info, nullptr, &instance), "vkCreateInstance");
    uint32_t one = 1;
    VkPhysicalDevice physical;
    VkResult found = vkEnumeratePhysicalDevices(instance, &one, &physical);
    if (found < 0 || one == 0) stop(1, "no Vulkan device");

    // 1. Ask: the extension is listed, its feature is there, and a heap has the bit. The name alone says nothing.
    uint32_t listed = 0;
    vkEnumerateDeviceExtensionProperties(physical, nullptr, &listed, nullptr);
    std::vector<VkExtensionProperties> extensions(listed);
    vkEnumerateDeviceExtensionProperties(physical, nullptr, &listed, extensions.data());
    bool is_listed = false;
    for (const auto &extension : extensions) is_listed |= std::strcmp(extension.extensionName, tile::extension) == 0;
    if (!is_listed) stop(3, "no tile memory: the driver does not list VK_QCOM_tile_memory_heap");
    tile::Features features;
    VkPhysicalDeviceFeatures2 all_features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    all_features.pNext = &features;
    vkGetPhysicalDeviceFeatures2(physical, &all_features);
    tile::Properties properties;
    VkPhysicalDeviceProperties2 all_properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    all_properties.pNext = &properties;
    vkGetPhysicalDeviceProperties2(physical, &all_properties);
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    uint32_t tile_types = 0;
    VkDeviceSize heap_size = 0;
    for (uint32_t index = 0; index < memory.memoryTypeCount; ++index) {
        const VkMemoryHeap &heap = memory.memoryHeaps[memory.memoryTypes[index].heapIndex];
        if (heap.flags & tile::heap_bit) {
            tile_types |= 1u << index;
            heap_size = heap.size;
        }
    }
    if (!features.tile_memory_heap || tile_types == 0) stop(3, "no tile memory: its feature or its heap is missing");
    std::printf("%s: a tile heap of %llu bytes\n", all_properties.properties.deviceName,
                static_cast<unsigned long long>(heap_size));
    if (!properties.tile_buffer_transfers)
        stop(3, "tile buffers cannot be copied here: set VK_TILEHEAP_EMULATOR_PROFILE=generous");

    // 2. Enable it.
    float priority = 1.0f;
    VkDeviceQueueCreateInfo queue_info{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queue_info.queueCount = 1; // Of family 0, which draws or computes on every driver that matters here.
    queue_info.pQueuePriorities = &priority;
    const char *names[] = {tile::extension};
    VkDeviceCreateInfo device_info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    device_info.pNext = &features;
    device_info.queueCreateInfoCount = 1;
    device_info.pQueueCreateInfos = &queue_info;
    device_info.enabledExtensionCount = 1;
    device_info.ppEnabledExtensionNames = names;
    VkDevice device;
    check(vkCreateDevice(physical, &device_info, nullptr, &device), "vkCreateDevice");
    VkQueue queue;
    vkGetDeviceQueue(device, 0, 0, &queue);
    auto bind_tile_memory =
        reinterpret_cast<tile::BindFunction>(vkGetDeviceProcAddr(device, "vkCmdBindTileMemoryQCOM"));
    if (!bind_tile_memory) stop(3, "no tile memory: vkCmdBindTileMemoryQCOM is missing");

    // 3. A buffer in tile memory, with the size and alignment that it needs there; and one that the host reads.
    auto make = [&](VkBufferUsageFlags usage, uint32_t among, VkMemoryPropertyFlags wanted) {
        Buffer buffer;
        VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
        info.size = size;
        info.usage = usage;
        check(vkCreateBuffer(device, &info, nullptr, &buffer.handle), "vkCreateBuffer");
        tile::Requirements in_tile;
        VkMemoryRequirements2 needs{VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
        const bool is_tile = (usage & tile::buffer_usage_bit) != 0;
        if (is_tile) needs.pNext = &in_tile;
        VkBufferMemoryRequirementsInfo2 which{VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2};
        which.buffer = buffer.handle;
        vkGetBufferMemoryRequirements2(device, &which, &needs);
        if (is_tile && in_tile.size == 0) stop(3, "the driver refuses this buffer in tile memory");
        VkMemoryAllocateInfo allocation{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
        allocation.allocationSize = is_tile ? in_tile.size : needs.memoryRequirements.size;
        uint32_t kind = 0;
        const uint32_t allowed = needs.memoryRequirements.memoryTypeBits & among;
        while (kind < memory.memoryTypeCount &&
               !((allowed >> kind & 1) && (memory.memoryTypes[kind].propertyFlags & wanted) == wanted))
            ++kind;
        if (kind == memory.memoryTypeCount) stop(1, "no memory type fits");
        allocation.memoryTypeIndex = kind;
        check(vkAllocateMemory(device, &allocation, nullptr, &buffer.memory), "vkAllocateMemory");
        check(vkBindBufferMemory(device, buffer.handle, buffer.memory, 0), "vkBindBufferMemory");
        return buffer;
    };
    Buffer on_chip = make(VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                              VK_BUFFER_USAGE_TRANSFER_DST_BIT | tile::buffer_usage_bit,
                          tile_types, 0);
    Buffer host = make(VK_BUFFER_USAGE_TRANSFER_DST_BIT, ~tile_types,
                       VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);

    // 4. Two command buffers of one batch. A binding ends with its command buffer: each has to bind.
    VkCommandPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandPool pool;
    check(vkCreateCommandPool(device, &pool_info, nullptr, &pool), "vkCreateCommandPool");
    VkCommandBufferAllocateInfo commands_info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    commands_info.commandPool = pool;
    commands_info.commandBufferCount = 2;
    VkCommandBuffer commands[2];
    check(vkAllocateCommandBuffers(device, &commands_info, commands), "vkAllocateCommandBuffers");
    VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    tile::BindInfo bind;
    bind.memory = on_chip.memory;
    VkMemoryBarrier written{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    written.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;

    check(vkBeginCommandBuffer(commands[0], &begin), "vkBeginCommandBuffer");
    bind_tile_memory(commands[0], &bind);
    vkCmdFillBuffer(commands[0], on_chip.handle, 0, size, 0x12345678);
    written.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
    vkCmdPipelineBarrier(commands[0], VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &written, 0,
                         nullptr, 0, nullptr);
    check(vkEndCommandBuffer(commands[0]), "vkEndCommandBuffer");

    check(vkBeginCommandBuffer(commands[1], &begin), "vkBeginCommandBuffer");
    if (!forget) bind_tile_memory(commands[1], &bind);
    VkBufferCopy region{0, 0, size};
    vkCmdCopyBuffer(commands[1], on_chip.handle, host.handle, 1, &region);
    written.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(commands[1], VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &written, 0,
                         nullptr, 0, nullptr);
    check(vkEndCommandBuffer(commands[1]), "vkEndCommandBuffer");

    VkSubmitInfo batch{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    batch.commandBufferCount = 2;
    batch.pCommandBuffers = commands;
    check(vkQueueSubmit(queue, 1, &batch, VK_NULL_HANDLE), "vkQueueSubmit");
    check(vkQueueWaitIdle(queue), "vkQueueWaitIdle");

    void *mapped = nullptr;
    check(vkMapMemory(device, host.memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    uint32_t first = 0, last = 0;
    std::memcpy(&first, mapped, 4);
    std::memcpy(&last, static_cast<const char *>(mapped) + size - 4, 4);
    std::printf("read back: 0x%08x … 0x%08x\n", first, last);

    vkDestroyCommandPool(device, pool, nullptr);
    for (const Buffer &buffer : {on_chip, host}) {
        vkDestroyBuffer(device, buffer.handle, nullptr);
        vkFreeMemory(device, buffer.memory, nullptr);
    }
    vkDestroyDevice(device, nullptr);
    vkDestroyInstance(instance, nullptr);
    return 0;
}
