/*
 * Records the passes of tables that copy an image or a buffer (ThLowered::stores), for the executor in executor.hpp. There are such passes
 *
 * - out of tile memory, if lifetimes may be split (TH_PLAN_FLAG_SPLIT),
 * - into strips and out of them, if an arrangement has images at the border of strips.
 *
 * A plan without them needs no Stores. The shaders are the library's (thGetStoreShaders).
 */
#pragma once

#include "executor.hpp"

namespace tables {

/** Pipelines and descriptor sets of a plan's stores. It outlives the Executor that it is given to. */
class Stores final : public StoreRecorder {
public:
    /** Creates the pipelines. All tables of a plan have the same stores. */
    Stores(VkDevice device, const Tables &tables) : Stores(device) { // Complete: the destructor runs if something below throws.
        create_layouts(draw_, VK_SHADER_STAGE_FRAGMENT_BIT);
        create_layouts(dispatch_, VK_SHADER_STAGE_COMPUTE_BIT);
        pipelines_.resize(tables.stores.size());
        for (const ThPassRow &pass : tables.passes) {
            if (pass.contents != TH_PASS_CONTENTS_STORE) continue;
            const ThStoreRow &store = tables.stores[pass.row];
            if (pass.instance == TH_NONE) {
                create_dispatch(store, pipelines_[pass.row]);
            } else {
                const ThSubpassRow &target = tables.subpasses[tables.instances[pass.instance].subpasses.first];
                create_draw(store, target, tables.formats[target.colorFormats], pipelines_[pass.row]);
            }
        }
    }
    ~Stores() override {
        for (VkPipeline pipeline : pipelines_) vkDestroyPipeline(device_, pipeline, nullptr);
        for (const Kind *kind : {&draw_, &dispatch_}) {
            for (VkDescriptorPool pool : kind->pools) vkDestroyDescriptorPool(device_, pool, nullptr);
            vkDestroyPipelineLayout(device_, kind->layout, nullptr);
            vkDestroyDescriptorSetLayout(device_, kind->set_layout, nullptr);
        }
    }
    Stores(Stores &&) = delete; // Nor is it copied or assigned.

    void record(const Executor &executor, const Tables &tables, const ThStoreRow &row, const Recording &to) override {
        const ThAccessRow &source = tables.accesses[row.source], &target = tables.accesses[row.target];
        VkPipeline pipeline = pipelines_[size_t(&row - tables.stores.data())];
        if (row.groups > 0) {
            bind(to.commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline, dispatch_,
                 {VK_NULL_HANDLE, VK_IMAGE_LAYOUT_UNDEFINED, executor.buffer(source.object.row), executor.buffer(target.object.row)});
            return vkCmdDispatch(to.commands, row.groups, 1, 1);
        }
        bind(to.commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline, draw_,
             {executor.view(source.view), source.layout, VK_NULL_HANDLE, VK_NULL_HANDLE});
        const VkRect2D &area = to.instance->area;
        const VkViewport viewport = {float(area.offset.x), float(area.offset.y), float(area.extent.width), float(area.extent.height), 0, 1};
        vkCmdSetViewport(to.commands, 0, 1, &viewport);
        vkCmdSetScissor(to.commands, 0, 1, &area);
        vkCmdDraw(to.commands, 3, 1, 0, 0);
    }

    void forget(VkImageView view) override {
        for (auto known = draw_.sets.begin(); known != draw_.sets.end();) {
            const bool is_of_view = std::get<0>(known->first) == view;
            if (is_of_view && known->second) draw_.unused.push_back(known->second);
            known = is_of_view ? draw_.sets.erase(known) : std::next(known);
        }
    }

    void forget_all() override {
        for (Kind *kind : {&draw_, &dispatch_}) {
            for (const auto &[key, set] : kind->sets)
                if (set) kind->unused.push_back(set);
            kind->sets.clear();
        }
    }

private:
    /** The objects of a set: a view and its layout, or two buffers. */
    using SetKey = std::tuple<VkImageView, VkImageLayout, VkBuffer, VkBuffer>;
    /** The layouts and descriptor sets of all draws, or of all dispatches. */
    struct Kind {
        VkDescriptorType type;
        /** Descriptors in a set. */
        uint32_t count;
        VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
        VkPipelineLayout layout = VK_NULL_HANDLE;
        std::map<SetKey, VkDescriptorSet> sets = {};
        /** Sets of views that were destroyed. */
        std::vector<VkDescriptorSet> unused = {};
        std::vector<VkDescriptorPool> pools = {};
        uint32_t allocated = 0;
    };

    explicit Stores(VkDevice device) : device_(device) {}

    static void check(VkResult result, const char *function) {
        if (result < 0) throw std::runtime_error(std::string("stores: ") + function + " failed: VkResult " + std::to_string(result));
    }

    void create_layouts(Kind &kind, VkShaderStageFlags stage) const {
        const VkDescriptorSetLayoutBinding bindings[] = {{0, kind.type, 1, stage, nullptr}, {1, kind.type, 1, stage, nullptr}};
        const VkDescriptorSetLayoutCreateInfo set_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, nullptr, 0, kind.count, bindings};
        check(vkCreateDescriptorSetLayout(device_, &set_info, nullptr, &kind.set_layout), "vkCreateDescriptorSetLayout");
        const VkPipelineLayoutCreateInfo info = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, nullptr, 0, 1, &kind.set_layout, 0, nullptr};
        check(vkCreatePipelineLayout(device_, &info, nullptr, &kind.layout), "vkCreatePipelineLayout");
    }

    void bind(VkCommandBuffer commands, VkPipelineBindPoint point, VkPipeline pipeline, Kind &kind, const SetKey &key) {
        const VkDescriptorSet set = set_of(kind, key);
        vkCmdBindPipeline(commands, point, pipeline);
        vkCmdBindDescriptorSets(commands, point, kind.layout, 0, 1, &set, 0, nullptr);
    }

    /** A shader module, which a pipeline needs only while it is created. */
    class Module {
    public:
        Module(VkDevice device, const uint32_t *words, uint32_t count) : device_(device) {
            const VkShaderModuleCreateInfo info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, nullptr, 0, count * sizeof *words, words};
            check(vkCreateShaderModule(device_, &info, nullptr, &handle_), "vkCreateShaderModule");
        }
        ~Module() { vkDestroyShaderModule(device_, handle_, nullptr); }
        Module(Module &&) = delete;
        VkPipelineShaderStageCreateInfo stage(VkShaderStageFlags stage, const VkSpecializationInfo *constants = nullptr) const {
            return {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, nullptr, 0, VkShaderStageFlagBits(stage), handle_, "main", constants};
        }

    private:
        VkDevice device_;
        VkShaderModule handle_ = VK_NULL_HANDLE;
    };

    void create_dispatch(const ThStoreRow &store, VkPipeline &pipeline) const {
        const ThStoreShaders shaders = tileheap::store_shaders(store.shader).value();
        const Module module(device_, shaders.words, shaders.wordCount);
        const VkComputePipelineCreateInfo info = {
            VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, nullptr, 0, module.stage(shaders.stage), dispatch_.layout, VK_NULL_HANDLE, -1};
        check(vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline), "vkCreateComputePipelines");
    }

    void create_draw(const ThStoreRow &store, const ThSubpassRow &target, Span<const VkFormat> colors, VkPipeline &pipeline) const {
        const ThStoreShaders shaders = tileheap::store_shaders(store.shader).value();
        const Module vertex(device_, shaders.vertexWords, shaders.vertexWordCount), fragment(device_, shaders.words, shaders.wordCount);
        const int32_t values[] = {store.x, store.y};
        const VkSpecializationMapEntry entries[] = {{0, 0, sizeof(int32_t)}, {1, sizeof(int32_t), sizeof(int32_t)}};
        const VkSpecializationInfo constants = {2, entries, sizeof values, values};
        const VkPipelineShaderStageCreateInfo stages[] = {vertex.stage(VK_SHADER_STAGE_VERTEX_BIT), fragment.stage(shaders.stage, &constants)};

        VkPipelineVertexInputStateCreateInfo input = {};
        input.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO;
        VkPipelineInputAssemblyStateCreateInfo assembly = {};
        assembly.sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO;
        assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
        VkPipelineViewportStateCreateInfo viewport = {};
        viewport.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO;
        viewport.viewportCount = viewport.scissorCount = 1;
        VkPipelineRasterizationStateCreateInfo rasterization = {};
        rasterization.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO;
        rasterization.lineWidth = 1.0f;
        VkPipelineMultisampleStateCreateInfo samples = {};
        samples.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO;
        samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
        VkPipelineDepthStencilStateCreateInfo depth = {};
        depth.sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO;
        depth.depthTestEnable = depth.depthWriteEnable = store.shader == TH_STORE_SHADER_DEPTH;
        depth.depthCompareOp = VK_COMPARE_OP_ALWAYS;
        VkPipelineColorBlendAttachmentState written = {};
        written.colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT | VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT;
        VkPipelineColorBlendStateCreateInfo blend = {};
        blend.sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO;
        blend.attachmentCount = uint32_t(colors.size()); // 1, or 0 for depth.
        blend.pAttachments = &written;
        const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
        const VkPipelineDynamicStateCreateInfo dynamic = {VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO, nullptr, 0, 2, states};
        const VkPipelineRenderingCreateInfo rendering = {VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO, nullptr, 0, uint32_t(colors.size()),
                                                         colors.data(), target.depthFormat, target.stencilFormat};
        VkGraphicsPipelineCreateInfo info = {};
        info.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO;
        info.pNext = &rendering;
        info.stageCount = 2;
        info.pStages = stages;
        info.pVertexInputState = &input;
        info.pInputAssemblyState = &assembly;
        info.pViewportState = &viewport;
        info.pRasterizationState = &rasterization;
        info.pMultisampleState = &samples;
        info.pDepthStencilState = &depth;
        info.pColorBlendState = &blend;
        info.pDynamicState = &dynamic;
        info.layout = draw_.layout;
        check(vkCreateGraphicsPipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline), "vkCreateGraphicsPipelines");
    }

    /** The descriptor set of a store's objects, which is written once. */
    VkDescriptorSet set_of(Kind &kind, const SetKey &key) {
        VkDescriptorSet &set = kind.sets[key];
        if (set) return set;
        const auto [view, layout, source, target] = key;
        set = allocate(kind);
        const VkDescriptorImageInfo image = {VK_NULL_HANDLE, view, layout};
        const VkDescriptorBufferInfo buffers[] = {{source, 0, VK_WHOLE_SIZE}, {target, 0, VK_WHOLE_SIZE}};
        const VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, set, 0, 0, kind.count, kind.type, &image, buffers, nullptr};
        vkUpdateDescriptorSets(device_, 1, &write, 0, nullptr); // Two buffers: bindings 0 and 1.
        return set;
    }

    VkDescriptorSet allocate(Kind &kind) {
        VkDescriptorSet set = VK_NULL_HANDLE;
        if (!kind.unused.empty()) {
            set = kind.unused.back();
            kind.unused.pop_back();
            return set;
        }
        constexpr uint32_t SETS_IN_POOL = 16;
        if (kind.allocated++ % SETS_IN_POOL == 0) {
            const VkDescriptorPoolSize size = {kind.type, SETS_IN_POOL * kind.count};
            const VkDescriptorPoolCreateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, nullptr, 0, SETS_IN_POOL, 1, &size};
            check(vkCreateDescriptorPool(device_, &info, nullptr, &kind.pools.emplace_back()), "vkCreateDescriptorPool");
        }
        const VkDescriptorSetAllocateInfo info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr, kind.pools.back(), 1, &kind.set_layout};
        check(vkAllocateDescriptorSets(device_, &info, &set), "vkAllocateDescriptorSets");
        return set;
    }

    VkDevice device_;
    Kind draw_ = {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1};
    Kind dispatch_ = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2};
    /** Per row of `Tables::stores`. */
    std::vector<VkPipeline> pipelines_;
};

} // namespace tables
