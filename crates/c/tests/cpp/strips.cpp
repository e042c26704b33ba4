/*
 * strips: executes a frame in several arrangements with the executor of examples/cpp/tables, among them some with images at the border of strips, which the
 * tables copy by stores, and compares the texels with those of the frame as described. Also plans that split lifetimes. Prints a line for each.
 */
#include <algorithm>
#include <cstddef>
#include <cstdio>

#include "../../../../examples/cpp/plaza/commands.hpp"
#include "../../../../examples/cpp/plaza/picture.hpp"
#include "../../../../examples/cpp/tables/stores.hpp"
#include "fullscreen.hpp"
#include "strips_shaders.h" // Written by CMake.

using namespace plaza;
using tileheap::LoadOp;
using tileheap::Span;
using tileheap::Tables;

namespace {

constexpr VkExtent2D EXTENT = {64, 48};
enum Pass : uint32_t { PAINT, OVER, BLUR, COMPOSE, DRAWN_PASSES, READ_BACK = DRAWN_PASSES };

/** As in shaders/strips.glsl. */
struct Part {
    VkOffset2D written;
    VkOffset2D inputs[2];
    VkExtent2D size;
};

struct Described {
    tileheap::Frame frame;
    uint32_t picture, texels;
};

Described describe() {
    tileheap::FrameBuilder frame("strips", EXTENT);
    const uint32_t painted = frame.image("painted", VK_FORMAT_R8G8B8A8_UNORM);
    const uint32_t depth = frame.image("depth", VK_FORMAT_D32_SFLOAT);
    const uint32_t blurred = frame.image("blurred", VK_FORMAT_R32_SFLOAT);
    const uint32_t picture = frame.image("picture", VK_FORMAT_R8G8B8A8_UNORM, EXTENT);
    frame[picture].persistence = TH_PERSISTENCE_EXTERNAL;
    frame[picture].entry.stages = frame[picture].exit.stages = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
    frame[picture].exit.layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    const uint32_t texels = frame.buffer("texels", uint64_t(EXTENT.width) * EXTENT.height * 4);
    frame[texels].persistence = TH_PERSISTENCE_READ_BACK;
    frame.render_pass("paint").color(painted, LoadOp::clear_color(0, 0, 0, 0)).depth(depth, LoadOp::clear_depth(1)).in_strips();
    frame.render_pass("over").color(painted, LoadOp::load()).depth(depth, LoadOp::load()).in_strips();
    frame.render_pass("blur").sampled(painted).reaching(3).color(blurred, LoadOp::dont_care()).fragment().in_strips();
    frame.render_pass("compose").sampled(painted).reaching(0).sampled(blurred).reaching(0).color(picture, LoadOp::dont_care()).fragment().in_strips();
    frame.transfer_pass("read_back").transfer_source(picture).transfer_destination(texels);
    return {frame.build().value(), picture, texels};
}

/** The pipelines of the passes. */
class Pipelines {
public:
    explicit Pipelines(const Gpu &gpu) : device_(gpu.device) {
        const VkDescriptorSetLayoutBinding bindings[] = {{0, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1, VK_SHADER_STAGE_FRAGMENT_BIT, nullptr},
                                                         {1, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1, VK_SHADER_STAGE_FRAGMENT_BIT, nullptr}};
        auto set_info = make<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
        set_info.bindingCount = 2;
        set_info.pBindings = bindings;
        check(vkCreateDescriptorSetLayout(device_, &set_info, nullptr, &set_layout), "vkCreateDescriptorSetLayout");
        const VkPushConstantRange range = {VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof(Part)};
        auto info = make<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
        info.setLayoutCount = 1;
        info.pSetLayouts = &set_layout;
        info.pushConstantRangeCount = 1;
        info.pPushConstantRanges = &range;
        check(vkCreatePipelineLayout(device_, &info, nullptr, &layout), "vkCreatePipelineLayout");
        const Words shaders[] = {strips_paint_frag, strips_over_frag, strips_blur_frag, strips_compose_frag};
        const VkFormat formats[] = {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R32_SFLOAT, VK_FORMAT_R8G8B8A8_UNORM};
        for (uint32_t pass = PAINT; pass < DRAWN_PASSES; pass++) {
            const VkFormat depth = pass <= OVER ? VK_FORMAT_D32_SFLOAT : VK_FORMAT_UNDEFINED;
            handles[pass] = create_fullscreen(device_, layout, shaders[pass], {Span<const VkFormat>(&formats[pass], 1), depth, VK_COMPARE_OP_LESS});
        }
    }
    ~Pipelines() {
        for (VkPipeline pipeline : handles) vkDestroyPipeline(device_, pipeline, nullptr);
        vkDestroyPipelineLayout(device_, layout, nullptr);
        vkDestroyDescriptorSetLayout(device_, set_layout, nullptr);
    }
    Pipelines(Pipelines &&) = delete;

    VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
    VkPipelineLayout layout = VK_NULL_HANDLE;
    VkPipeline handles[DRAWN_PASSES] = {};

private:
    VkDevice device_;
};

/** A frame in an arrangement, planned and lowered. */
class Arranged {
public:
    Arranged(const Gpu &gpu, const Described &described, const char *json, const ThPlanOptionsDesc &options) : gpu_(gpu), described_(described) {
        const auto plan = tileheap::Plan::create({described.frame, gpu.requirements(described.frame), gpu.profile}).value();
        arrangement_ = tileheap::Arrangement::from_json(plan, json).value();
        const tileheap::Frame frame = arrangement_.frame().value();
        plan_ = tileheap::Plan::create({frame, gpu.requirements(frame), gpu.profile, &options}).value();
        plan_.check().value();
        origins_ = plan_.frame().value();
        lowerer_ = tileheap::Lowerer::create().value();
        tables_ = lower(nullptr);
    }
    ~Arranged() { vkDeviceWaitIdle(gpu_.device); }

    const Tables &tables() const { return tables_; }

    /** Draws two frames, which are equal, and returns the texels. */
    std::vector<uint8_t> draw(const Pipelines &pipelines) {
        tables::Stores stores(gpu_.device, tables_);
        tables::Executor executor(gpu_.device, gpu_.allocator, {gpu_.queue}, tables_, &stores);
        std::vector<uint8_t> texels;
        for (int number = 0; number < 2; number++) {
            const Canvas canvas(gpu_, EXTENT);
            const CommandBuffers commands(gpu_, uint32_t(tables_.command_buffers.size()));
            if (number > 0) tables_ = lower(lowerer_);
            executor.import_image(described_.picture, canvas.picture);
            executor.import_buffer(described_.texels, canvas.texels);
            Sets sets(gpu_.device, pipelines.set_layout, tables_);
            const auto draw = [&](const tables::Recording &recording) { record(executor, pipelines, sets, canvas, recording); };
            executor.wait(executor.execute(tables_, commands.handles, draw));
            executor.destroy_views(canvas.picture);
            if (number > 0 && texels != canvas.read()) throw std::runtime_error("two frames differ");
            texels = canvas.read();
        }
        return texels;
    }

private:
    /** Descriptor sets of a frame. */
    struct Sets {
        Sets(VkDevice of, VkDescriptorSetLayout with, const Tables &tables) : device(of), layout(with) {
            const uint32_t count = uint32_t(tables.passes.size());
            const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 4 * count};
            auto info = make<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
            info.maxSets = 2 * count;
            info.poolSizeCount = 1;
            info.pPoolSizes = &size;
            check(vkCreateDescriptorPool(device, &info, nullptr, &pool), "vkCreateDescriptorPool");
        }
        ~Sets() { vkDestroyDescriptorPool(device, pool, nullptr); }
        Sets(Sets &&) = delete;

        VkDevice device;
        VkDescriptorSetLayout layout;
        VkDescriptorPool pool = VK_NULL_HANDLE;
    };

    Tables lower(ThLowerer previous) {
        const ThFamilyQueue queue = {gpu_.family, 0};
        const Tables tables = lowerer_.lower(plan_, {&queue, 1}, previous).value();
        lowerer_.check().value();
        return tables;
    }

    /** Records the described passes that a pass of the planned frame runs. */
    void record(const tables::Executor &executor, const Pipelines &pipelines, const Sets &sets, const Canvas &canvas, const tables::Recording &to) {
        // A pass of the planned frame and of the arranged frame have the same described passes.
        const ThFrameOrigins origins = origins_.origins().value();
        const ThRun described = origins.passes[to.pass].described;
        const uint32_t pass = origins.described[described.first].pass;
        if (pass == READ_BACK) return copy_to_texels(to.commands, canvas);
        Part part = {written_origin(to.pass), {}, EXTENT};
        VkDescriptorSet set = VK_NULL_HANDLE;
        uint32_t binding = 0;
        for (const ThAccessRow &access : tables_.accesses) {
            if (access.pass != to.pass || access.kind != TH_ACCESS_KIND_SAMPLED_IMAGE) continue;
            if (!set) {
                auto info = make<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
                info.descriptorPool = sets.pool;
                info.descriptorSetCount = 1;
                info.pSetLayouts = &sets.layout;
                check(vkAllocateDescriptorSets(gpu_.device, &info, &set), "vkAllocateDescriptorSets");
            }
            part.inputs[binding] = origins.resources[access.resource].area.offset;
            const VkDescriptorImageInfo image = {VK_NULL_HANDLE, executor.view(access.view), access.layout};
            auto write = make<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
            write.dstSet = set;
            write.dstBinding = binding++;
            write.descriptorCount = 1;
            write.descriptorType = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;
            write.pImageInfo = &image;
            vkUpdateDescriptorSets(gpu_.device, 1, &write, 0, nullptr);
        }
        vkCmdBindPipeline(to.commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipelines.handles[pass]);
        if (set) vkCmdBindDescriptorSets(to.commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipelines.layout, 0, 1, &set, 0, nullptr);
        vkCmdPushConstants(to.commands, pipelines.layout, VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof part, &part);
        draw_fullscreen(to.commands, to.instance->area);
    }

    /** The described texel that is texel (0, 0) of the images that a pass writes. */
    VkOffset2D written_origin(uint32_t pass) const {
        const ThFrameOrigins origins = origins_.origins().value();
        for (const ThAccessRow &access : tables_.accesses)
            if (access.pass == pass && access.kind == TH_ACCESS_KIND_COLOR_ATTACHMENT) return origins.resources[access.resource].area.offset;
        return {0, 0};
    }

    const Gpu &gpu_;
    const Described &described_;
    tileheap::Arrangement arrangement_;
    tileheap::Plan plan_;
    /** The planned frame, for its origins. */
    tileheap::Frame origins_;
    tileheap::Lowerer lowerer_;
    Tables tables_;
};

/** Groups of passes, in JSON, and the least number of stores. */
struct Case {
    const char *name;
    const char *groups;
    size_t stores;
};

constexpr Case CASES[] = {
    {"as described", R"({"passes":["paint"]},{"passes":["over"]},{"passes":["blur"]},{"passes":["compose"]},{"passes":["read_back"]})", 0},
    {"strips", R"({"passes":["paint","over","blur","compose"],"strips":[3,2]},{"passes":["read_back"]})", 0},
    {"into strips", R"({"passes":["paint"]},{"passes":["over"]},{"passes":["blur","compose"],"strips":[2,3],"borders":["painted"]},{"passes":["read_back"]})", 6},
    {"out of strips", R"({"passes":["paint","over"],"strips":[1,3],"borders":["painted"]},{"passes":["blur"]},{"passes":["compose"]},{"passes":["read_back"]})", 3},
    {"into and out of strips",
     R"({"passes":["paint"]},{"passes":["over"],"strips":[3,2],"borders":["painted","depth"]},{"passes":["blur"]},{"passes":["compose"]},{"passes":["read_back"]})", 18},
};

int run(const Gpu &gpu) {
    const Described described = describe();
    const Pipelines pipelines(gpu);
    std::vector<uint8_t> expected;
    int failures = 0;
    for (const Case &one : CASES) {
        const std::string json = std::string(R"({"format":"tileheap-arrangement","version":1,"batches":[{"groups":[)") + one.groups + "]}]}";
        for (const uint32_t flags : {uint32_t(0), uint32_t(TH_PLAN_FLAG_SPLIT)}) {
            auto options = tileheap::sized<ThPlanOptionsDesc>();
            options.flags = flags;
            Arranged arranged(gpu, described, json.c_str(), options);
            const size_t stores = arranged.tables().stores.size();
            const std::vector<uint8_t> texels = arranged.draw(pipelines);
            if (expected.empty()) expected = texels;
            size_t different = 0;
            for (size_t byte = 0; byte < texels.size(); byte++) different += texels[byte] != expected[byte];
            const auto &memory = arranged.tables().memory;
            const auto is_tile = [](const ThMemoryRow &row) { return row.kind == TH_MEMORY_KIND_TILE; };
            std::printf("%s%s: %td tile memory objects, %zu stores, %zu bytes differ\n", one.name, flags != 0 ? ", split" : "",
                        std::count_if(memory.begin(), memory.end(), is_tile), stores, different);
            failures += different > 0 || stores < one.stores;
            if (stores == 0) continue;
            try {
                tables::Executor(gpu.device, gpu.allocator, {gpu.queue}, arranged.tables());
                std::fprintf(stderr, "an Executor without Stores was created\n");
                failures++;
            } catch (const std::runtime_error &error) {
                std::printf("without Stores: %s\n", error.what());
            }
        }
    }
    std::vector<uint8_t> colors = expected;
    const bool varied = std::unique(colors.begin(), colors.end()) - colors.begin() > std::ptrdiff_t(colors.size() / 2);
    if (!varied) std::fprintf(stderr, "the picture has too few colors\n");
    return failures + !varied;
}

} // namespace

int main() {
    try {
        return run(Gpu(true)) > 0 ? 1 : 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 1;
    }
}
