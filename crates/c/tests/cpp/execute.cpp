/*
 * execute [--mistakes] FRAME.json...: plans each frame for the device and executes its tables four times with the executor of examples/cpp/tables, without
 * draws: memory, barriers, render passes, clears and semaphores, of frames of any kind. Images and buffers of the caller's are created, and
 * brought to the layouts in which the frame expects them. Prints a line for each frame; with --mistakes, what the executor says of mistakes.
 */
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>

#include "../../../../examples/cpp/plaza/gpu.hpp"
#include "../../../../examples/cpp/tables/executor.hpp"

using plaza::check;
using plaza::Gpu;
using plaza::make;
using tileheap::Tables;

namespace {

/** An image or a buffer of the caller's. */
struct Import {
    VkImage image = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    VmaAllocation memory = VK_NULL_HANDLE;
    /** The range of all of an image, and its layout before the frame. */
    VkImageSubresourceRange range = {};
    VkImageLayout layout = VK_IMAGE_LAYOUT_UNDEFINED;
};

VkImageAspectFlags aspects_of(VkFormat format) {
    switch (format) {
    case VK_FORMAT_D16_UNORM:
    case VK_FORMAT_D32_SFLOAT: return VK_IMAGE_ASPECT_DEPTH_BIT;
    case VK_FORMAT_D24_UNORM_S8_UINT:
    case VK_FORMAT_D32_SFLOAT_S8_UINT: return VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
    default: return VK_IMAGE_ASPECT_COLOR_BIT;
    }
}

/** The layout of an imported image before the frame: that of its first barrier, or else of its first use. */
VkImageLayout entry_layout(const Tables &tables, uint32_t row) {
    for (const ThImageBarrierRow &barrier : tables.image_barriers)
        if (barrier.image == row) return barrier.oldLayout;
    for (const ThAccessRow &access : tables.accesses)
        if (access.object.kind == TH_RESOURCE_TYPE_IMAGE && access.object.row == row) return access.layout;
    return VK_IMAGE_LAYOUT_UNDEFINED;
}

/** Records and submits one command buffer, and waits for it. */
template <class Record>
void run(const Gpu &gpu, Record record) {
    auto pool_info = make<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    pool_info.queueFamilyIndex = gpu.family;
    VkCommandPool pool = VK_NULL_HANDLE;
    check(vkCreateCommandPool(gpu.device, &pool_info, nullptr, &pool), "vkCreateCommandPool");
    auto info = make<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    info.commandPool = pool;
    info.commandBufferCount = 1;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    check(vkAllocateCommandBuffers(gpu.device, &info, &commands), "vkAllocateCommandBuffers");
    const auto begin = make<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    record(commands);
    check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    auto command_info = make<VkCommandBufferSubmitInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO);
    command_info.commandBuffer = commands;
    auto submit = make<VkSubmitInfo2>(VK_STRUCTURE_TYPE_SUBMIT_INFO_2);
    submit.commandBufferInfoCount = 1;
    submit.pCommandBufferInfos = &command_info;
    check(vkQueueSubmit2(gpu.queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit2");
    check(vkQueueWaitIdle(gpu.queue), "vkQueueWaitIdle");
    vkDestroyCommandPool(gpu.device, pool, nullptr);
}

std::vector<Import> create_imports(const Gpu &gpu, const Tables &tables, tables::Executor &executor) {
    std::vector<Import> imports;
    VmaAllocationCreateInfo memory = {};
    memory.usage = VMA_MEMORY_USAGE_AUTO;
    for (uint32_t index = 0; index < tables.images.size(); index++) {
        const ThImageRow &row = tables.images[index];
        if (row.binding.memory != TH_NONE) continue;
        auto info = make<VkImageCreateInfo>(VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO);
        info.flags = row.flags;
        info.imageType = row.imageType;
        info.format = row.format;
        info.extent = row.extent;
        info.mipLevels = row.mipLevels;
        info.arrayLayers = row.arrayLayers;
        info.samples = VkSampleCountFlagBits(row.samples);
        info.tiling = row.tiling;
        info.usage = row.usage;
        Import &import = imports.emplace_back();
        check(vmaCreateImage(gpu.allocator, &info, &memory, &import.image, &import.memory, nullptr), "vmaCreateImage");
        import.range = {aspects_of(row.format), 0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS};
        import.layout = entry_layout(tables, index);
        executor.import_image(row.resource, import.image);
    }
    for (const ThBufferRow &row : tables.buffers) {
        if (row.binding.memory != TH_NONE) continue;
        auto info = make<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
        info.size = row.size;
        info.usage = row.usage;
        Import &import = imports.emplace_back();
        check(vmaCreateBuffer(gpu.allocator, &info, &memory, &import.buffer, &import.memory, nullptr), "vmaCreateBuffer");
        executor.import_buffer(row.resource, import.buffer);
    }
    return imports;
}

/** Brings imported images to the layouts in which the frame expects them. */
void transition(const Gpu &gpu, const std::vector<Import> &imports) {
    run(gpu, [&](VkCommandBuffer commands) {
        for (const Import &import : imports) {
            if (import.layout == VK_IMAGE_LAYOUT_UNDEFINED) continue;
            VkImageMemoryBarrier2 barrier = make<VkImageMemoryBarrier2>(VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2);
            barrier.srcStageMask = barrier.dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
            barrier.dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
            barrier.newLayout = import.layout;
            barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
            barrier.image = import.image;
            barrier.subresourceRange = import.range;
            auto info = make<VkDependencyInfo>(VK_STRUCTURE_TYPE_DEPENDENCY_INFO);
            info.imageMemoryBarrierCount = 1;
            info.pImageMemoryBarriers = &barrier;
            vkCmdPipelineBarrier2(commands, &info);
        }
    });
}

void execute(const Gpu &gpu, const char *path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read it");
    const std::string json((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const tileheap::Frame frame = tileheap::Frame::from_json(json).value();
    const tileheap::Plan plan = tileheap::Plan::create({frame, gpu.requirements(frame), gpu.profile}).value();
    plan.check().value();
    const ThFrameInfo info = frame.info().value();
    const std::vector<ThFamilyQueue> queues(info.queueCount, ThFamilyQueue{gpu.family, 0});
    tileheap::Lowerer lowerer = tileheap::Lowerer::create().value();
    Tables tables = lowerer.lower(plan, queues).value();
    lowerer.check().value();

    tables::Executor executor(gpu.device, gpu.allocator, {gpu.queue}, tables);
    const std::vector<Import> imports = create_imports(gpu, tables, executor);
    auto pool_info = make<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    pool_info.queueFamilyIndex = gpu.family;
    VkCommandPool pool = VK_NULL_HANDLE;
    check(vkCreateCommandPool(gpu.device, &pool_info, nullptr, &pool), "vkCreateCommandPool");
    std::vector<VkCommandBuffer> commands(tables.command_buffers.size());
    auto commands_info = make<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    commands_info.commandPool = pool;
    commands_info.commandBufferCount = uint32_t(commands.size());
    check(vkAllocateCommandBuffers(gpu.device, &commands_info, commands.data()), "vkAllocateCommandBuffers");
    auto type = make<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    const auto semaphore_info = make<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type);
    std::vector<VkSemaphoreSubmitInfo> declared(info.semaphoreCount,
                                                make<VkSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO));
    for (auto &semaphore : declared)
        check(vkCreateSemaphore(gpu.device, &semaphore_info, nullptr, &semaphore.semaphore), "vkCreateSemaphore");

    uint32_t draws = 0;
    for (uint64_t number = 1; number <= 4; number++) {
        if (number > 1) tables = lowerer.lower(plan, queues, lowerer).value();
        lowerer.check().value();
        transition(gpu, imports);
        std::set<uint32_t> awaited, signaled;
        for (const ThSemaphoreRow &row : tables.waits)
            if (row.semaphore.kind == TH_SEMAPHORE_KIND_DECLARED) awaited.insert(row.semaphore.index);
        for (const ThSemaphoreRow &row : tables.signals)
            if (row.semaphore.kind == TH_SEMAPHORE_KIND_DECLARED) signaled.insert(row.semaphore.index);
        for (uint32_t index = 0; index < declared.size(); index++) {
            declared[index].value = number;
            if (!awaited.count(index) || signaled.count(index)) continue;
            auto signal = make<VkSemaphoreSignalInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO); // What is outside of the frame would.
            signal.semaphore = declared[index].semaphore;
            signal.value = number;
            check(vkSignalSemaphore(gpu.device, &signal), "vkSignalSemaphore");
        }
        check(vkResetCommandPool(gpu.device, pool, 0), "vkResetCommandPool");
        executor.prepare(tables);
        executor.wait(executor.execute(tables, commands, [&draws](const tables::Recording &) { draws++; }, declared));
    }
    std::printf("%s: %u passes, %zu barriers, %u draws\n", path, info.passCount,
                tables.image_barriers.size() + tables.buffer_barriers.size() + tables.memory_barriers.size(), draws);

    check(vkDeviceWaitIdle(gpu.device), "vkDeviceWaitIdle");
    for (const Import &import : imports) {
        executor.destroy_views(import.image);
        vmaDestroyImage(gpu.allocator, import.image, import.buffer ? VK_NULL_HANDLE : import.memory);
        vmaDestroyBuffer(gpu.allocator, import.buffer, import.buffer ? import.memory : VK_NULL_HANDLE);
    }
    for (const auto &semaphore : declared) vkDestroySemaphore(gpu.device, semaphore.semaphore, nullptr);
    vkDestroyCommandPool(gpu.device, pool, nullptr);
}

/** Makes mistakes with the executor, and prints its messages. */
void make_mistakes(const Gpu &gpu, const char *path) {
    std::ifstream file(path);
    const std::string json((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const tileheap::Frame frame = tileheap::Frame::from_json(json).value();
    const tileheap::Plan plan = tileheap::Plan::create({frame, gpu.requirements(frame), gpu.profile}).value();
    const std::vector<ThFamilyQueue> queues(frame.info()->queueCount, ThFamilyQueue{gpu.family, 0});
    tileheap::Lowerer lowerer = tileheap::Lowerer::create().value();
    const Tables tables = lowerer.lower(plan, queues).value();
    const auto attempt = [](const char *what, const auto &mistake) {
        try {
            mistake();
            std::printf("%s: accepted\n", what);
        } catch (const std::runtime_error &error) {
            std::printf("%s: %s\n", what, error.what());
        }
    };
    const auto nothing = [](const tables::Recording &) {};
    const std::vector<VkCommandBuffer> none;
    attempt("too many queues", [&] { tables::Executor(gpu.device, gpu.allocator, {gpu.queue, gpu.queue}, tables); });
    tables::Executor executor(gpu.device, gpu.allocator, {gpu.queue}, tables);
    attempt("an invalid index", [&] { executor.import_image(9999, VK_NULL_HANDLE); });
    attempt("nothing imported", [&] { executor.execute(tables, none, nothing); });
    const std::vector<Import> imports = create_imports(gpu, tables, executor);
    attempt("no command buffers", [&] { executor.execute(tables, none, nothing); });
    Tables others = tables;
    others.images = {};
    attempt("other tables", [&] { executor.execute(others, none, nothing); });
    for (const Import &import : imports) {
        executor.destroy_views(import.image);
        vmaDestroyImage(gpu.allocator, import.image, import.buffer ? VK_NULL_HANDLE : import.memory);
        vmaDestroyBuffer(gpu.allocator, import.buffer, import.buffer ? import.memory : VK_NULL_HANDLE);
    }
}

} // namespace

int main(int count, char **arguments) {
    int failures = 0;
    try {
        const Gpu gpu(true);
        const bool mistakes = count > 1 && std::string(arguments[1]) == "--mistakes";
        for (int index = mistakes ? 2 : 1; index < count; index++) {
            try {
                mistakes ? make_mistakes(gpu, arguments[index]) : execute(gpu, arguments[index]);
            } catch (const std::exception &error) {
                std::fprintf(stderr, "%s: %s\n", arguments[index], error.what());
                failures++;
            }
        }
    } catch (const std::exception &error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 1;
    }
    return failures > 0 ? 1 : 0;
}
