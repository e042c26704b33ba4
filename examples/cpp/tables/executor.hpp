/*
 * Executes the tables of tileheap (thLower) with plain Vulkan 1.3 and the Vulkan Memory Allocator: creates what they list, records, submits.
 * Copy this file into an engine and adapt it. Every value comes from a row. Structures are initialized in member order.
 *
 * Not supported, and refused when an Executor is created: render pass objects (devices without dynamic rendering, or with subpasses and
 * without VK_KHR_dynamic_rendering_local_read), secondary command buffers, tile shading, hooks. VkTileMemorySizeInfoQCOM is not chained: only
 * VK_QCOM_tile_properties reads it. Passes that copy an image or buffer, stores (TH_PLAN_FLAG_SPLIT, arrangements with images at the border of
 * strips), need stores.hpp. Frames of two Executors must not overlap if both use tile memory on the same queue.
 */
#pragma once

#include <array>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <tileheap.hpp>
#include <vk_mem_alloc.h>

namespace tables {

using tileheap::Span, tileheap::Tables, tileheap::to_vk;

/** The pass, or the subpass of a render pass, that is being recorded. `instance` is null outside of render passes. */
struct Recording {
    VkCommandBuffer commands;
    uint32_t pass;
    uint32_t subpass;
    const ThInstanceRow *instance;
};
using Draw = std::function<void(const Recording &)>;
/** Values of the timeline semaphores of all queues. */
using Progress = std::vector<uint64_t>;

/** Records the passes that copy images and buffers: class Stores, in stores.hpp. They are told of views and buffers before these are destroyed. */
struct StoreRecorder {
    virtual ~StoreRecorder() = default;
    virtual void record(const class Executor &, const Tables &, const ThStoreRow &, const Recording &) = 0;
    virtual void forget(VkImageView view) = 0;
    virtual void forget_all() = 0;
};

class Executor {
public:
    /**
     * Creates the memory, images and buffers of a plan, the same for all its frames. `queues` has one for each of `Tables::device_queues`.
     * `stores` outlives the Executor. Device addresses need VMA_ALLOCATOR_CREATE_BUFFER_DEVICE_ADDRESS_BIT.
     */
    Executor(VkDevice device, VmaAllocator allocator, std::vector<VkQueue> queues, const Tables &tables, StoreRecorder *stores = nullptr)
        : Executor(device, allocator, std::move(queues)) { // Complete: the destructor runs if something below throws.
        stores_ = stores;
        check_supported(tables);
        image_rows_.assign(tables.images.begin(), tables.images.end());
        buffer_rows_.assign(tables.buffers.begin(), tables.buffers.end());
        for (const ThImageRow &row : image_rows_) create_image(tables, row);
        for (const ThBufferRow &row : buffer_rows_) create_buffer(tables, row);
        for (const ThMemoryRow &row : tables.memory) allocate(row);
        for (size_t row = 0; row < images_.size(); row++) bind(vkBindImageMemory, vmaBindImageMemory2, images_[row], image_rows_[row].binding);
        for (size_t row = 0; row < buffers_.size(); row++) bind(vkBindBufferMemory, vmaBindBufferMemory2, buffers_[row], buffer_rows_[row].binding);
        const VkSemaphoreTypeCreateInfo type = {VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, nullptr, VK_SEMAPHORE_TYPE_TIMELINE, 0};
        const VkSemaphoreCreateInfo info = {VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type, 0};
        for (size_t queue = 0; queue < queues_.size(); queue++)
            check(vkCreateSemaphore(device_, &info, nullptr, &timelines_.emplace_back()), "vkCreateSemaphore");
    }

    /** Waits for all submitted frames. */
    ~Executor() {
        if (timelines_.size() == queues_.size()) wait_for(submitted_);
        if (stores_) stores_->forget_all();
        for (const auto &[key, view] : known_views_) vkDestroyImageView(device_, view, nullptr);
        for (size_t row = 0; row < images_.size(); row++) if (image_rows_[row].binding.memory != TH_NONE) vkDestroyImage(device_, images_[row], nullptr);
        for (size_t row = 0; row < buffers_.size(); row++) if (buffer_rows_[row].binding.memory != TH_NONE) vkDestroyBuffer(device_, buffers_[row], nullptr);
        for (const Memory &memory : memory_) memory.block ? vmaFreeMemory(allocator_, memory.block) : vkFreeMemory(device_, memory.handle, nullptr);
        for (VkSemaphore timeline : timelines_) vkDestroySemaphore(device_, timeline, nullptr);
    }
    Executor(Executor &&) = delete; // Nor is it copied or assigned.

    /** Sets the image or buffer of an external resource; takes effect with the next frame. */
    void import_image(uint32_t resource, VkImage image) { import(image_rows_, images_, resource, image); }
    void import_buffer(uint32_t resource, VkBuffer buffer) { import(buffer_rows_, buffers_, resource, buffer); }

    /** Destroys the views of an imported image; call it before the image is destroyed, and after the frames that use it have completed. */
    void destroy_views(VkImage image) {
        for (auto view = known_views_.begin(); view != known_views_.end();) {
            const bool is_of_image = std::get<VkImage>(view->first) == image;
            if (is_of_image && stores_) stores_->forget(view->second);
            if (is_of_image) vkDestroyImageView(device_, view->second, nullptr);
            view = is_of_image ? known_views_.erase(view) : std::next(view);
        }
    }

    /** Creates the views of a frame, for descriptors: `execute` also does. Everything external has been imported. */
    void prepare(const Tables &tables) {
        if (tables.images.size() != images_.size() || tables.buffers.size() != buffers_.size()) fail("the tables are those of another plan");
        for (size_t row = 0; row < images_.size(); row++)
            if (!images_[row]) fail("resource " + std::to_string(image_rows_[row].resource) + " was not imported");
        for (size_t row = 0; row < buffers_.size(); row++)
            if (!buffers_[row]) fail("resource " + std::to_string(buffer_rows_[row].resource) + " was not imported");
        views_.clear();
        for (const ThViewRow &row : tables.views) views_.push_back(find_view(row));
    }

    /** The object of a row; views are those of the tables that were prepared last. */
    VkImageView view(uint32_t row) const { return views_[row]; }
    VkImage image(uint32_t row) const { return images_[row]; }
    VkBuffer buffer(uint32_t row) const { return buffers_[row]; }

    /**
     * Records and submits a frame. `commands` has one primary command buffer in the initial state for each of `Tables::command_buffers`, from a
     * pool of the family of its `queue`; `draw` records the commands of a pass; `declared` has the semaphore and value of each semaphore that the
     * frame declares. Returns the timeline values that the queues reach when the frame completes.
     */
    Progress execute(const Tables &tables, Span<const VkCommandBuffer> commands, const Draw &draw, Span<const VkSemaphoreSubmitInfo> declared = {}) {
        prepare(tables);
        if (commands.size() < tables.command_buffers.size()) fail("fewer command buffers were given than the frame has");
        for (size_t row = 0; row < tables.command_buffers.size(); row++) record(tables, tables.command_buffers[row], commands[row], draw);
        const Progress begin = submitted_;
        for (const ThSubmitRow &row : tables.submits) submit(tables, row, begin, commands, declared);
        return submitted_;
    }

    /** Waits until the queues reach these values. */
    void wait(const Progress &progress) const { check(wait_for(progress), "vkWaitSemaphores"); }

private:
    /** Tile and lazily allocated memory is allocated by Vulkan, the rest by VMA. */
    struct Memory { VkDeviceMemory handle = VK_NULL_HANDLE; VmaAllocation block = VK_NULL_HANDLE; };
    /** An image, the view's type, format and usage, and its range: aspects, base level, levels, base layer, layers. */
    using ViewKey = std::tuple<VkImage, VkImageViewType, VkFormat, VkImageUsageFlags, std::array<uint32_t, 5>>;

    Executor(VkDevice device, VmaAllocator allocator, std::vector<VkQueue> queues)
        : device_(device), allocator_(allocator), queues_(std::move(queues)), submitted_(queues_.size()) {
        load(bind_tile_memory_, "vkCmdBindTileMemory", "QCOM");
        load(set_locations_, "vkCmdSetRenderingAttachmentLocations", "KHR");
        load(set_input_indices_, "vkCmdSetRenderingInputAttachmentIndices", "KHR");
    }

    /** Null if neither the extension nor a version of Vulkan that includes it is enabled. */
    template <class Function> void load(Function &function, const char *name, const char *suffix) const {
        function = reinterpret_cast<Function>(vkGetDeviceProcAddr(device_, (std::string(name) + suffix).c_str()));
        if (!function) function = reinterpret_cast<Function>(vkGetDeviceProcAddr(device_, name));
    }

    [[noreturn]] static void fail(const std::string &why) { throw std::runtime_error("executor: " + why); }
    static void check(VkResult result, const char *function) {
        if (result < 0) fail(std::string(function) + " failed: VkResult " + std::to_string(result));
    }

    void check_supported(const Tables &tables) const {
        for (const ThInstanceRow &row : tables.instances) {
            if (!row.dynamic) fail("the frame needs render pass objects");
            if (row.secondary || row.tileShading || row.hook != 0) fail("a pass has secondary command buffers, tile shading or a hook");
            if (row.localRead && !set_locations_) fail("the plan is for a device with dynamicRenderingLocalRead, which is not enabled");
        }
        for (const ThImageRow &row : tables.images) if (row.hook != 0 && row.binding.memory != TH_NONE) fail("an image has a hook");
        for (const ThMemoryRow &row : tables.memory)
            if (row.kind == TH_MEMORY_KIND_TILE && !bind_tile_memory_) fail("the plan is for a device with tile memory, which is not enabled");
        if (queues_.size() != tables.device_queues.size()) fail("the number of VkQueues differs from that of Tables::device_queues");
        if (!tables.stores.empty() && !stores_) fail("the plan copies images or buffers (ThLowered::stores): pass a Stores, of stores.hpp");
    }

    VkResult wait_for(const Progress &progress) const {
        const VkSemaphoreWaitInfo info = {
            VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO, nullptr, 0, uint32_t(progress.size()), timelines_.data(), progress.data()};
        return vkWaitSemaphores(device_, &info, UINT64_MAX);
    }

    template <class Row, class Object>
    static void import(const std::vector<Row> &rows, std::vector<Object> &objects, uint32_t resource, Object object) {
        bool found = false;
        for (size_t row = 0; row < rows.size(); row++)
            if (rows[row].resource == resource && rows[row].binding.memory == TH_NONE) objects[row] = object, found = true;
        if (!found) fail("the frame uses no external image or buffer with the index " + std::to_string(resource));
    }

    void create_image(const Tables &tables, const ThImageRow &row) {
        VkImage &image = images_.emplace_back();
        if (row.binding.memory == TH_NONE) return;
        const auto formats = tables.formats[row.viewFormats];
        const auto families = tables.families[row.sharing.families];
        const VkImageFormatListCreateInfo list = {VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO, nullptr, uint32_t(formats.size()), formats.data()};
        const VkImageCreateInfo info = {VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO, formats.empty() ? nullptr : &list, row.flags, row.imageType,
                                        row.format, row.extent, row.mipLevels, row.arrayLayers, VkSampleCountFlagBits(row.samples),
                                        row.tiling, row.usage, families.empty() ? VK_SHARING_MODE_EXCLUSIVE : VK_SHARING_MODE_CONCURRENT,
                                        uint32_t(families.size()), families.data(), VK_IMAGE_LAYOUT_UNDEFINED};
        check(vkCreateImage(device_, &info, nullptr, &image), "vkCreateImage");
    }

    void create_buffer(const Tables &tables, const ThBufferRow &row) {
        VkBuffer &buffer = buffers_.emplace_back();
        if (row.binding.memory == TH_NONE) return;
        const auto families = tables.families[row.sharing.families];
        const VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, nullptr, 0, row.size, row.usage,
                                         families.empty() ? VK_SHARING_MODE_EXCLUSIVE : VK_SHARING_MODE_CONCURRENT,
                                         uint32_t(families.size()), families.data()};
        check(vkCreateBuffer(device_, &info, nullptr, &buffer), "vkCreateBuffer");
    }

    void allocate(const ThMemoryRow &row) {
        Memory &memory = memory_.emplace_back();
        const VkImage image = row.dedicatedImage != TH_NONE ? images_[row.dedicatedImage] : VkImage(VK_NULL_HANDLE);
        const VkBuffer buffer = row.dedicatedBuffer != TH_NONE ? buffers_[row.dedicatedBuffer] : VkBuffer(VK_NULL_HANDLE);
        if (row.kind == TH_MEMORY_KIND_TILE || row.kind == TH_MEMORY_KIND_LAZY) {
            const VkMemoryDedicatedAllocateInfo dedicated = {VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, nullptr, image, buffer};
            const void *next = image || buffer ? &dedicated : nullptr;
            const VkMemoryAllocateFlagsInfo flags = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO, next, row.flags, 0};
            const VkMemoryAllocateInfo info = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, row.flags ? &flags : next, row.size, row.memoryType};
            return check(vkAllocateMemory(device_, &info, nullptr, &memory.handle), "vkAllocateMemory");
        }
        // If the allocator was created for device addresses, it sets `row.flags` itself.
        VmaAllocationCreateInfo info = {};
        info.flags = image || buffer ? VMA_ALLOCATION_CREATE_DEDICATED_MEMORY_BIT : VMA_ALLOCATION_CREATE_CAN_ALIAS_BIT;
        info.memoryTypeBits = 1u << row.memoryType;
        const VkDeviceSize size = (row.size + row.alignment - 1) / row.alignment * row.alignment;
        const VkMemoryRequirements shared = {size, row.alignment, info.memoryTypeBits};
        check(image    ? vmaAllocateMemoryForImage(allocator_, image, &info, &memory.block, nullptr)
              : buffer ? vmaAllocateMemoryForBuffer(allocator_, buffer, &info, &memory.block, nullptr)
                       : vmaAllocateMemory(allocator_, &shared, &info, &memory.block, nullptr),
              "vmaAllocateMemory");
    }

    template <class VkBind, class VmaBind, class Object>
    void bind(VkBind vk_bind, VmaBind vma_bind, Object object, const ThMemoryBinding &to) const {
        if (to.memory == TH_NONE) return;
        const auto [handle, block] = memory_[to.memory];
        check(block ? vma_bind(allocator_, block, to.offset, object, nullptr) : vk_bind(device_, object, handle, to.offset), "vkBind*Memory");
    }

    VkImageView find_view(const ThViewRow &row) {
        const VkImage image = images_[row.image];
        const VkImageSubresourceRange range = to_vk(row.range);
        VkImageView &view = known_views_[{image, row.viewType, row.format, row.usage,
                                          {range.aspectMask, range.baseMipLevel, range.levelCount, range.baseArrayLayer, range.layerCount}}];
        if (view) return view;
        const VkImageViewUsageCreateInfo usage = {VK_STRUCTURE_TYPE_IMAGE_VIEW_USAGE_CREATE_INFO, nullptr, row.usage};
        const VkImageViewCreateInfo info = {VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO, row.usage ? &usage : nullptr, 0, image, row.viewType,
                                            row.format, {}, range};
        check(vkCreateImageView(device_, &info, nullptr, &view), "vkCreateImageView");
        return view;
    }

    void record(const Tables &tables, const ThCommandBufferRow &row, VkCommandBuffer commands, const Draw &draw) {
        const VkCommandBufferBeginInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, nullptr};
        check(vkBeginCommandBuffer(commands, &info), "vkBeginCommandBuffer");
        ThOptionalIndex bound = TH_NONE;
        for (const ThPassRow &pass : tables.passes[row.passes]) {
            if (pass.tileMemory != bound) {
                bound = pass.tileMemory;
                auto memory = VkTileMemoryBindInfoQCOM{VK_STRUCTURE_TYPE_TILE_MEMORY_BIND_INFO_QCOM, nullptr, VK_NULL_HANDLE};
                if (bound != TH_NONE) memory.memory = memory_[bound].handle;
                bind_tile_memory_(commands, bound != TH_NONE ? &memory : nullptr);
            }
            record_barriers(tables, pass.before, commands);
            if (pass.contents == TH_PASS_CONTENTS_CLEAR) record_clear(tables.clears[pass.row], commands);
            if (pass.contents == TH_PASS_CONTENTS_DESCRIBED) record_pass(tables, pass, commands, draw);
            if (pass.contents == TH_PASS_CONTENTS_STORE)
                record_pass(tables, pass, commands, [&](const Recording &to) { stores_->record(*this, tables, tables.stores[pass.row], to); });
            record_barriers(tables, pass.after, commands);
        }
        check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    }

    void record_barriers(const Tables &tables, const ThDependencyRow &row, VkCommandBuffer commands) {
        for (const auto &of : tables.image_barriers[row.images]) image_barriers_.push_back(to_vk(of, images_[of.image]));
        for (const auto &of : tables.buffer_barriers[row.buffers]) buffer_barriers_.push_back(to_vk(of, buffers_[of.buffer]));
        for (const auto &of : tables.memory_barriers[row.memory]) memory_barriers_.push_back(to_vk(of.scopes));
        record_dependency(0, commands);
    }

    void record_dependency(VkDependencyFlags flags, VkCommandBuffer commands) {
        if (image_barriers_.empty() && buffer_barriers_.empty() && memory_barriers_.empty()) return;
        const VkDependencyInfo info = {VK_STRUCTURE_TYPE_DEPENDENCY_INFO, nullptr, flags, uint32_t(memory_barriers_.size()), memory_barriers_.data(),
                                       uint32_t(buffer_barriers_.size()), buffer_barriers_.data(), uint32_t(image_barriers_.size()), image_barriers_.data()};
        vkCmdPipelineBarrier2(commands, &info);
        image_barriers_.clear(), buffer_barriers_.clear(), memory_barriers_.clear();
    }

    void record_pass(const Tables &tables, const ThPassRow &row, VkCommandBuffer commands, const Draw &draw) {
        if (row.instance == TH_NONE) return draw({commands, row.pass, 0, nullptr});
        const ThInstanceRow &instance = tables.instances[row.instance];
        begin_rendering(tables, instance, commands);
        const auto subpasses = tables.subpasses[instance.subpasses];
        for (uint32_t subpass = 0; subpass < subpasses.size(); subpass++) {
            if (instance.localRead) begin_subpass(tables, subpasses[subpass], commands);
            draw({commands, row.pass, subpass, &instance});
        }
        vkCmdEndRendering(commands);
    }

    void begin_rendering(const Tables &tables, const ThInstanceRow &row, VkCommandBuffer commands) {
        colors_.clear();
        for (const ThAttachmentRow &color : tables.attachments[row.colors]) colors_.push_back(attachment(tables, color, false));
        VkRenderingAttachmentInfo depth, stencil;
        if (row.depth != TH_NONE) depth = attachment(tables, tables.attachments[row.depth], false);
        if (row.stencil != TH_NONE) stencil = attachment(tables, tables.attachments[row.stencil], true);
        const VkRenderingInfo info = {VK_STRUCTURE_TYPE_RENDERING_INFO, nullptr, 0, row.area, row.layers, row.viewMask,
                                      uint32_t(colors_.size()), colors_.data(), row.depth != TH_NONE ? &depth : nullptr,
                                      row.stencil != TH_NONE ? &stencil : nullptr};
        vkCmdBeginRendering(commands, &info);
    }

    VkRenderingAttachmentInfo attachment(const Tables &tables, const ThAttachmentRow &row, bool stencil) const {
        const ThAttachmentRow &resolve = row.resolve != TH_NONE ? tables.attachments[row.resolve] : row;
        const ThOperations &operations = stencil ? row.stencil : row.operations;
        return {VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO, nullptr, views_[row.view], stencil ? row.stencilLayout : row.layout,
                VkResolveModeFlagBits(row.resolveMode), row.resolve != TH_NONE ? views_[resolve.view] : VK_NULL_HANDLE,
                stencil ? resolve.stencilLayout : resolve.layout, operations.load, operations.store, to_vk(row.clear)};
    }

    /** Dynamic rendering with local read. */
    void begin_subpass(const Tables &tables, const ThSubpassRow &row, VkCommandBuffer commands) {
        const auto barriers = tables.subpass_dependencies[row.barriers]; // None before the first subpass.
        for (const ThSubpassDependencyRow &barrier : barriers) memory_barriers_.push_back(to_vk(barrier.scopes));
        record_dependency(barriers.empty() ? 0 : barriers[0].flags, commands);
        const auto locations = tables.indices[row.locations], inputs = tables.indices[row.inputIndices];
        const uint32_t unused = VK_ATTACHMENT_UNUSED;
        const VkRenderingAttachmentLocationInfoKHR location_info = {VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_LOCATION_INFO_KHR, nullptr,
                                                                    uint32_t(locations.size()), locations.data()};
        const VkRenderingInputAttachmentIndexInfoKHR input_info = {VK_STRUCTURE_TYPE_RENDERING_INPUT_ATTACHMENT_INDEX_INFO_KHR, nullptr,
                                                                   uint32_t(inputs.size()), inputs.data(), &unused, &unused};
        set_locations_(commands, &location_info);
        set_input_indices_(commands, &input_info);
    }

    void record_clear(const ThClearRow &row, VkCommandBuffer commands) const {
        const VkImageSubresourceRange range = to_vk(row.range);
        const VkClearValue value = to_vk(row.value);
        if (row.object.kind == TH_RESOURCE_TYPE_BUFFER)
            vkCmdFillBuffer(commands, buffers_[row.object.row], 0, VK_WHOLE_SIZE, 0);
        else if (range.aspectMask & VK_IMAGE_ASPECT_COLOR_BIT)
            vkCmdClearColorImage(commands, images_[row.object.row], row.layout, &value.color, 1, &range);
        else
            vkCmdClearDepthStencilImage(commands, images_[row.object.row], row.layout, &value.depthStencil, 1, &range);
    }

    void submit(const Tables &tables, const ThSubmitRow &row, const Progress &begin, Span<const VkCommandBuffer> commands,
                Span<const VkSemaphoreSubmitInfo> declared) {
        const auto add_semaphores = [&](Span<const ThSemaphoreRow> rows) -> Span<const VkSemaphoreSubmitInfo> {
            const size_t first = semaphores_.size();
            for (const auto &[of, stages] : rows) {
                const bool is_declared = of.kind == TH_SEMAPHORE_KIND_DECLARED;
                if (is_declared && of.index >= declared.size()) fail("semaphore " + std::to_string(of.index) + " of the frame was not passed in `declared`");
                const uint64_t value = is_declared ? declared[of.index].value : begin[of.index] + uint64_t(of.value);
                if (!is_declared && int64_t(value) <= 0) continue; // Nothing to wait for before the first batch.
                semaphores_.push_back({VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO, nullptr,
                                       is_declared ? declared[of.index].semaphore : timelines_[of.index], value, stages, 0});
            }
            return {semaphores_.data() + first, semaphores_.size() - first};
        };
        semaphores_.clear(), command_infos_.clear(), submits_.clear();
        semaphores_.reserve(tables.waits.size() + tables.signals.size()); // Pointers into the arrays stay valid.
        command_infos_.reserve(tables.command_buffers.size());
        for (const ThBatchRow &batch : tables.batches[row.batches]) {
            const auto waits = add_semaphores(tables.waits[batch.waits]);
            const VkCommandBufferSubmitInfo *first = command_infos_.data() + command_infos_.size();
            const auto recorded = commands[batch.commandBuffers];
            for (VkCommandBuffer buffer : recorded) command_infos_.push_back({VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, nullptr, buffer, 0});
            const auto signals = add_semaphores(tables.signals[batch.signals]);
            submits_.push_back({VK_STRUCTURE_TYPE_SUBMIT_INFO_2, nullptr, 0, uint32_t(waits.size()), waits.data(),
                                uint32_t(recorded.size()), first, uint32_t(signals.size()), signals.data()});
        }
        // One call: tile memory may keep its contents from batch to batch.
        check(vkQueueSubmit2(queues_[row.queue], uint32_t(submits_.size()), submits_.data(), VK_NULL_HANDLE), "vkQueueSubmit2");
        submitted_[row.queue] += submits_.size();
    }

    VkDevice device_;
    VmaAllocator allocator_;
    std::vector<VkQueue> queues_;
    StoreRecorder *stores_ = nullptr;
    PFN_vkCmdBindTileMemoryQCOM bind_tile_memory_;
    PFN_vkCmdSetRenderingAttachmentLocationsKHR set_locations_;
    PFN_vkCmdSetRenderingInputAttachmentIndicesKHR set_input_indices_;
    /** Per device queue, a timeline semaphore that counts batches, and its value so far. */
    std::vector<VkSemaphore> timelines_;
    Progress submitted_;

    /** Per row of the tables. */
    std::vector<Memory> memory_;
    std::vector<VkImage> images_;
    std::vector<VkBuffer> buffers_;
    std::vector<VkImageView> views_;
    std::vector<ThImageRow> image_rows_;
    std::vector<ThBufferRow> buffer_rows_;
    std::map<ViewKey, VkImageView> known_views_;

    /** Reused scratch arrays. */
    std::vector<VkImageMemoryBarrier2> image_barriers_;
    std::vector<VkBufferMemoryBarrier2> buffer_barriers_;
    std::vector<VkMemoryBarrier2> memory_barriers_;
    std::vector<VkRenderingAttachmentInfo> colors_;
    std::vector<VkSemaphoreSubmitInfo> semaphores_;
    std::vector<VkCommandBufferSubmitInfo> command_infos_;
    std::vector<VkSubmitInfo2> submits_;
};

} // namespace tables
