/*
 * split: executes a frame with split lifetimes (TH_PLAN_FLAG_SPLIT) with the executor of examples/cpp/tables: images and a buffer are used often in one
 * batch, where they are in tile memory, and once more after it, from the copies of stores. Prints the stored resources and the number of wrong words.
 */
#include <cstdio>
#include <cstring>
#include <set>

#include "../../../../examples/cpp/plaza/commands.hpp"
#include "../../../../examples/cpp/tables/stores.hpp"
#include "fullscreen.hpp"
#include "split_shaders.h" // Written by CMake.

using namespace plaza;
using tileheap::LoadOp;
using tileheap::Tables;

namespace {

constexpr VkExtent2D EXTENT = {32, 16}; // As in shaders/split_*.
constexpr uint32_t TEXELS = EXTENT.width * EXTENT.height;
constexpr uint32_t FRAMES = 3;
/** Resources, which have the number of their binding. */
enum Resource : uint32_t { COLOR, NUMBERS, SIGNS, DEPTH, PAST, LIST, RESULT, RESOURCES };
constexpr const char *NAMES[RESOURCES] = {"color", "numbers", "signs", "depth", "past", "list", "result"};
enum Pass : uint32_t { DRAW, FILL, ADD, GATHER, PASSES };
constexpr VkFormat COLOR_FORMATS[] = {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R32_UINT, VK_FORMAT_R32_SINT, VK_FORMAT_R32_UINT};

/**
 * batch 0   draw: color numbers signs depth past   fill, add: read them all, write the list   │ batch 1   gather: reads everything again
 *
 * `past` is a history, of which `draw` reads the previous version.
 */
tileheap::Frame describe() {
    tileheap::FrameBuilder frame("split", EXTENT);
    constexpr VkFormat formats[] = {COLOR_FORMATS[0], COLOR_FORMATS[1], COLOR_FORMATS[2], VK_FORMAT_D32_SFLOAT, COLOR_FORMATS[3]};
    for (uint32_t image = COLOR; image <= PAST; image++) frame.image(NAMES[image], formats[image], EXTENT);
    frame[PAST].persistence = TH_PERSISTENCE_HISTORY;
    frame.buffer(NAMES[LIST], TEXELS * 4);
    frame.buffer(NAMES[RESULT], TEXELS * RESULT * 4); // A word for each texel of each resource before it.
    frame[RESULT].persistence = TH_PERSISTENCE_READ_BACK;
    const uint32_t queue = frame.queue("main", VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT);
    frame.submit(queue);
    frame.command_buffer("scene");
    tileheap::PassBuilder &draw = frame.render_pass("draw").sampled_previous(PAST).fragment();
    for (const uint32_t image : {COLOR, NUMBERS, SIGNS, PAST}) draw.color(image, LoadOp::dont_care());
    draw.depth(DEPTH, LoadOp::clear_depth(0));
    const auto dispatch = [&](const char *name, uint32_t list_access) -> tileheap::PassBuilder & {
        tileheap::PassBuilder &pass = frame.compute_pass(name).access(TH_ACCESS_KIND_STORAGE_BUFFER, LIST, list_access);
        for (uint32_t image = COLOR; image <= PAST; image++) pass.sampled(image);
        return pass;
    };
    dispatch("fill", TH_ACCESS_FLAG_WRITE);
    dispatch("add", TH_ACCESS_FLAG_READ | TH_ACCESS_FLAG_WRITE);
    frame.submit(queue); // Some devices keep contents until the end of a submit.
    frame.command_buffer("late");
    dispatch("gather", TH_ACCESS_FLAG_READ).access(TH_ACCESS_KIND_STORAGE_BUFFER, RESULT, TH_ACCESS_FLAG_WRITE);
    return frame.build().value();
}

/** The words that `gather` reads in a frame. */
std::vector<uint32_t> expected(uint32_t frame) {
    std::vector<uint32_t> words;
    for (uint32_t n = 0; n < TEXELS; n++) {
        const float depth = float(n) / 1024;
        uint32_t depth_bits = 0;
        std::memcpy(&depth_bits, &depth, sizeof depth);
        for (const uint32_t word : {(n % 256) | (n / 256) << 8 | (n * 7 % 256) << 16 | 255u << 24, n * 2654435761u, 0u - n * 65537, depth_bits,
                                    n * (frame + 1), n * 3 + 5})
            words.push_back(word);
    }
    return words;
}

/** The pipelines of the passes, with one layout, and descriptor sets, one for each pass of each frame. */
class Pipelines {
public:
    explicit Pipelines(const Gpu &gpu) : device_(gpu.device) {
        VkDescriptorSetLayoutBinding bindings[RESOURCES] = {};
        for (uint32_t binding = 0; binding < RESOURCES; binding++)
            bindings[binding] = {binding, type_of(binding), 1, VK_SHADER_STAGE_FRAGMENT_BIT | VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
        auto set_info = make<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
        set_info.bindingCount = RESOURCES;
        set_info.pBindings = bindings;
        check(vkCreateDescriptorSetLayout(device_, &set_info, nullptr, &set_layout_), "vkCreateDescriptorSetLayout");
        auto info = make<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
        info.setLayoutCount = 1;
        info.pSetLayouts = &set_layout_;
        check(vkCreatePipelineLayout(device_, &info, nullptr, &layout), "vkCreatePipelineLayout");
        const VkDescriptorPoolSize sizes[] = {{type_of(COLOR), FRAMES * PASSES * LIST}, {type_of(LIST), FRAMES * PASSES * (RESOURCES - LIST)}};
        auto pool_info = make<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
        pool_info.maxSets = FRAMES * PASSES;
        pool_info.poolSizeCount = 2;
        pool_info.pPoolSizes = sizes;
        check(vkCreateDescriptorPool(device_, &pool_info, nullptr, &pool_), "vkCreateDescriptorPool");
        handles[DRAW] = create_fullscreen(device_, layout, split_draw_frag, {COLOR_FORMATS, VK_FORMAT_D32_SFLOAT});
        create_dispatch(FILL, split_fill_comp);
        create_dispatch(ADD, split_add_comp);
        create_dispatch(GATHER, split_gather_comp);
    }
    ~Pipelines() {
        for (VkPipeline pipeline : handles) vkDestroyPipeline(device_, pipeline, nullptr);
        vkDestroyDescriptorPool(device_, pool_, nullptr);
        vkDestroyPipelineLayout(device_, layout, nullptr);
        vkDestroyDescriptorSetLayout(device_, set_layout_, nullptr);
    }
    Pipelines(Pipelines &&) = delete;

    VkPipelineLayout layout = VK_NULL_HANDLE;
    VkPipeline handles[PASSES] = {};

    static VkDescriptorType type_of(uint32_t binding) {
        return binding < LIST ? VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    }

    VkDescriptorSet allocate() const {
        auto info = make<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
        info.descriptorPool = pool_;
        info.descriptorSetCount = 1;
        info.pSetLayouts = &set_layout_;
        VkDescriptorSet set = VK_NULL_HANDLE;
        check(vkAllocateDescriptorSets(device_, &info, &set), "vkAllocateDescriptorSets");
        return set;
    }

private:
    void create_dispatch(uint32_t pass, Words words) {
        auto info = make<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
        info.stage = create_stage(device_, VK_SHADER_STAGE_COMPUTE_BIT, words);
        info.layout = layout;
        const VkResult result = vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &handles[pass]);
        vkDestroyShaderModule(device_, info.stage.module, nullptr);
        check(result, "vkCreateComputePipelines");
    }

    VkDevice device_;
    VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
    VkDescriptorPool pool_ = VK_NULL_HANDLE;
};

/** The buffer that `gather` writes, which the host reads. */
class ResultBuffer {
public:
    explicit ResultBuffer(const Gpu &gpu) : allocator_(gpu.allocator) {
        auto info = make<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
        info.size = TEXELS * RESULT * 4;
        info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
        VmaAllocationCreateInfo memory = {};
        memory.usage = VMA_MEMORY_USAGE_AUTO_PREFER_HOST;
        memory.flags = VMA_ALLOCATION_CREATE_HOST_ACCESS_RANDOM_BIT | VMA_ALLOCATION_CREATE_MAPPED_BIT;
        VmaAllocationInfo allocated = {};
        check(vmaCreateBuffer(allocator_, &info, &memory, &handle, &memory_, &allocated), "vmaCreateBuffer");
        mapped_ = allocated.pMappedData;
    }
    ~ResultBuffer() { vmaDestroyBuffer(allocator_, handle, memory_); }
    ResultBuffer(ResultBuffer &&) = delete;

    std::vector<uint32_t> read() const {
        check(vmaInvalidateAllocation(allocator_, memory_, 0, VK_WHOLE_SIZE), "vmaInvalidateAllocation");
        std::vector<uint32_t> words(TEXELS * RESULT);
        std::memcpy(words.data(), mapped_, words.size() * sizeof(uint32_t));
        return words;
    }

    VkBuffer handle = VK_NULL_HANDLE;

private:
    VmaAllocator allocator_;
    VmaAllocation memory_ = VK_NULL_HANDLE;
    const void *mapped_ = nullptr;
};

/** Executes some frames with a plan, prints, and returns the number of wrong words of the last. */
size_t execute(const Gpu &gpu, const tileheap::Frame &described, uint32_t flags) {
    auto options = tileheap::sized<ThPlanOptionsDesc>();
    options.flags = flags;
    const auto plan = tileheap::Plan::create({described, gpu.requirements(described), gpu.profile, &options}).value();
    plan.check().value();
    const tileheap::Frame planned = plan.frame().value();
    const ThFrameOrigins origins = planned.origins().value();
    const std::vector<ThFamilyQueue> queues(1, ThFamilyQueue{gpu.family, 0});
    tileheap::Lowerer lowerer = tileheap::Lowerer::create().value();
    Tables tables = lowerer.lower(plan, queues).value();

    const Pipelines pipelines(gpu);
    const ResultBuffer result(gpu);
    tables::Stores stores(gpu.device, tables);
    tables::Executor executor(gpu.device, gpu.allocator, {gpu.queue}, tables, &stores);
    executor.import_buffer(RESULT, result.handle);
    const auto record = [&](const tables::Recording &to) {
        const uint32_t pass = origins.described[origins.passes[to.pass].described.first].pass;
        const VkDescriptorSet set = pipelines.allocate();
        for (const ThAccessRow &access : tables.accesses) {
            const bool is_image = access.kind == TH_ACCESS_KIND_SAMPLED_IMAGE, is_buffer = access.kind == TH_ACCESS_KIND_STORAGE_BUFFER;
            if (access.pass != to.pass || !(is_image || is_buffer)) continue;
            auto write = make<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
            write.dstSet = set;
            write.dstBinding = origins.resources[access.resource].described;
            write.descriptorCount = 1;
            write.descriptorType = Pipelines::type_of(write.dstBinding);
            VkDescriptorImageInfo image = {};
            VkDescriptorBufferInfo buffer = {};
            if (is_image) image = {VK_NULL_HANDLE, executor.view(access.view), access.layout};
            if (is_buffer) buffer = {executor.buffer(access.object.row), 0, VK_WHOLE_SIZE};
            write.pImageInfo = &image;
            write.pBufferInfo = &buffer;
            vkUpdateDescriptorSets(gpu.device, 1, &write, 0, nullptr);
        }
        const auto point = pass == DRAW ? VK_PIPELINE_BIND_POINT_GRAPHICS : VK_PIPELINE_BIND_POINT_COMPUTE;
        vkCmdBindPipeline(to.commands, point, pipelines.handles[pass]);
        vkCmdBindDescriptorSets(to.commands, point, pipelines.layout, 0, 1, &set, 0, nullptr);
        if (pass == DRAW) return draw_fullscreen(to.commands, to.instance->area);
        vkCmdDispatch(to.commands, TEXELS / 64, 1, 1);
    };
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        if (frame > 0) tables = lowerer.lower(plan, queues, lowerer).value();
        lowerer.check().value();
        const CommandBuffers commands(gpu, uint32_t(tables.command_buffers.size()));
        executor.wait(executor.execute(tables, commands.handles, record));
    }
    std::printf("%s: stores of", flags != 0 ? "split" : "whole");
    std::set<std::string> stored;
    for (const ThStoreRow &store : tables.stores) stored.insert(NAMES[origins.resources[tables.accesses[store.target].resource].described]);
    for (const std::string &name : stored) std::printf(" %s", name.c_str());
    const std::vector<uint32_t> words = result.read(), correct = expected(FRAMES - 1);
    size_t wrong = 0;
    for (size_t word = 0; word < words.size(); word++) wrong += words[word] != correct[word];
    std::printf("; %zu of %zu words are wrong\n", wrong, words.size());
    return wrong;
}

} // namespace

int main() {
    try {
        const Gpu gpu(true);
        const tileheap::Frame frame = describe();
        size_t wrong = 0;
        for (const uint32_t flags : {uint32_t(0), uint32_t(TH_PLAN_FLAG_SPLIT)}) wrong += execute(gpu, frame, flags);
        return wrong > 0 ? 1 : 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 1;
    }
}
