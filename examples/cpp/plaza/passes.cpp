#include "passes.hpp"

#include "shaders.h" // Written by CMakeLists.txt: the words of each shader.

namespace plaza {
namespace {

using Words = tileheap::Span<const uint32_t>;

/** The shaders and fixed-function state of a pass. */
struct Program {
    Words vertex;
    Words fragment;
    VkCullModeFlags cull;
    bool writes_depth;
    bool blends;
};

Program program_of(uint32_t pass, size_t colors) {
    const auto screen = [](Words fragment) { return Program{fullscreen_vert, fragment, VK_CULL_MODE_NONE, false, false}; };
    switch (pass) {
    case SHADOW: return {plaza_shadow_vert, {}, VK_CULL_MODE_NONE, true, false};
    case GBUFFER: // Without motion if there is no attachment for it.
        return {plaza_gbuffer_vert, colors > 2 ? Words(plaza_gbuffer_frag) : Words(plaza_still_frag), VK_CULL_MODE_BACK_BIT, true, false};
    case LIGHTING: return screen(plaza_lighting_frag);
    case HALOS: return {plaza_halos_vert, plaza_halos_frag, VK_CULL_MODE_NONE, false, true};
    case TEMPORAL: return screen(plaza_temporal_frag);
    case BRIGHT: return screen(plaza_bright_frag);
    case BLOOM:
    case WIDE_BLOOM: return screen(plaza_bloom_frag);
    default: return screen(plaza_tone_frag);
    }
}

/** A shader module, which a pipeline needs only while it is created; null for no words. */
class Module {
public:
    Module(VkDevice device, Words words) : device_(device) {
        if (words.empty()) return;
        auto info = make<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
        info.codeSize = words.size() * sizeof(uint32_t);
        info.pCode = words.data();
        check(vkCreateShaderModule(device_, &info, nullptr, &handle), "vkCreateShaderModule");
    }
    ~Module() { vkDestroyShaderModule(device_, handle, nullptr); }
    Module(const Module &) = delete;
    Module &operator=(const Module &) = delete;

    VkShaderModule handle = VK_NULL_HANDLE;

private:
    VkDevice device_;
};

constexpr uint32_t SAMPLED_IMAGES = 4; // Bindings 0 to 3; the sampler follows.

// As in shaders/plaza_objects.glsl and plaza.glsl.
constexpr uint32_t BOXES = 36, BOX_VERTICES = 36, BALLS = 48, BALL_VERTICES = 2304, LIGHTS = 21;

} // namespace

Passes::Passes(VkDevice device, const std::function<Target(uint32_t pass)> &target) : Passes(device) {
    create_layout();
    for (uint32_t pass = SHADOW; pass <= TONE_MAP; pass++) create_pipeline(pass, target(pass));
}

Passes::~Passes() {
    for (VkPipeline pipeline : pipelines_) vkDestroyPipeline(device_, pipeline, nullptr);
    vkDestroyPipelineLayout(device_, layout_, nullptr);
    vkDestroyDescriptorSetLayout(device_, set_layout_, nullptr);
    vkDestroySampler(device_, sampler_, nullptr);
}

void Passes::create_layout() {
    auto sampler_info = make<VkSamplerCreateInfo>(VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO);
    sampler_info.magFilter = sampler_info.minFilter = VK_FILTER_LINEAR;
    sampler_info.addressModeU = sampler_info.addressModeV = sampler_info.addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    check(vkCreateSampler(device_, &sampler_info, nullptr, &sampler_), "vkCreateSampler");

    VkDescriptorSetLayoutBinding bindings[SAMPLED_IMAGES + 1];
    for (uint32_t binding = 0; binding < SAMPLED_IMAGES; binding++)
        bindings[binding] = {binding, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1, VK_SHADER_STAGE_FRAGMENT_BIT, nullptr};
    bindings[SAMPLED_IMAGES] = {SAMPLED_IMAGES, VK_DESCRIPTOR_TYPE_SAMPLER, 1, VK_SHADER_STAGE_FRAGMENT_BIT, &sampler_};
    auto set_info = make<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
    set_info.bindingCount = SAMPLED_IMAGES + 1;
    set_info.pBindings = bindings;
    check(vkCreateDescriptorSetLayout(device_, &set_info, nullptr, &set_layout_), "vkCreateDescriptorSetLayout");

    const VkPushConstantRange range = {VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof(Constants)};
    auto info = make<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    info.setLayoutCount = 1;
    info.pSetLayouts = &set_layout_;
    info.pushConstantRangeCount = 1;
    info.pPushConstantRanges = &range;
    check(vkCreatePipelineLayout(device_, &info, nullptr, &layout_), "vkCreatePipelineLayout");
}

void Passes::create_pipeline(uint32_t pass, const Target &target) {
    const Program program = program_of(pass, target.colors.size());
    const Module vertex_module(device_, program.vertex), fragment_module(device_, program.fragment);
    auto vertex = make<VkPipelineShaderStageCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO);
    vertex.stage = VK_SHADER_STAGE_VERTEX_BIT;
    vertex.module = vertex_module.handle;
    vertex.pName = "main";
    auto fragment = vertex;
    fragment.stage = VK_SHADER_STAGE_FRAGMENT_BIT;
    fragment.module = fragment_module.handle;
    const VkPipelineShaderStageCreateInfo stages[] = {vertex, fragment};

    const auto input = make<VkPipelineVertexInputStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO);
    auto assembly = make<VkPipelineInputAssemblyStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO);
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    auto viewport = make<VkPipelineViewportStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO);
    viewport.viewportCount = viewport.scissorCount = 1;
    auto rasterization = make<VkPipelineRasterizationStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO);
    rasterization.cullMode = program.cull;
    rasterization.frontFace = VK_FRONT_FACE_COUNTER_CLOCKWISE;
    rasterization.lineWidth = 1.0f;
    auto samples = make<VkPipelineMultisampleStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO);
    samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    auto depth = make<VkPipelineDepthStencilStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO);
    depth.depthTestEnable = target.depth != VK_FORMAT_UNDEFINED;
    depth.depthWriteEnable = program.writes_depth;
    depth.depthCompareOp = VK_COMPARE_OP_GREATER_OR_EQUAL; // Depth is reversed.
    VkPipelineColorBlendAttachmentState blend = {};
    blend.blendEnable = program.blends;
    blend.srcColorBlendFactor = blend.dstColorBlendFactor = blend.srcAlphaBlendFactor = blend.dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE;
    blend.colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT | VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT;
    const std::vector<VkPipelineColorBlendAttachmentState> blends(target.colors.size(), blend);
    auto color_blend = make<VkPipelineColorBlendStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO);
    color_blend.attachmentCount = uint32_t(blends.size());
    color_blend.pAttachments = blends.data();
    const VkDynamicState dynamic_states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    auto dynamic = make<VkPipelineDynamicStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO);
    dynamic.dynamicStateCount = 2;
    dynamic.pDynamicStates = dynamic_states;
    auto rendering = make<VkPipelineRenderingCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO);
    rendering.colorAttachmentCount = uint32_t(target.colors.size());
    rendering.pColorAttachmentFormats = target.colors.data();
    rendering.depthAttachmentFormat = target.depth;

    auto info = make<VkGraphicsPipelineCreateInfo>(VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, &rendering);
    info.stageCount = program.fragment.empty() ? 1 : 2;
    info.pStages = stages;
    info.pVertexInputState = &input;
    info.pInputAssemblyState = &assembly;
    info.pViewportState = &viewport;
    info.pRasterizationState = &rasterization;
    info.pMultisampleState = &samples;
    info.pDepthStencilState = &depth;
    info.pColorBlendState = &color_blend;
    info.pDynamicState = &dynamic;
    info.layout = layout_;
    check(vkCreateGraphicsPipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &pipelines_[pass]), "vkCreateGraphicsPipelines");
}

void Passes::draw(VkCommandBuffer commands, uint32_t pass, const VkRect2D &area, VkDescriptorSet inputs,
                  const Constants &constants) const {
    const VkViewport viewport = {float(area.offset.x), float(area.offset.y), float(area.extent.width), float(area.extent.height), 0, 1};
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipelines_[pass]);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, layout_, 0, 1, &inputs, 0, nullptr);
    vkCmdPushConstants(commands, layout_, VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof constants, &constants);
    vkCmdSetViewport(commands, 0, 1, &viewport);
    vkCmdSetScissor(commands, 0, 1, &area);
    switch (pass) {
    case SHADOW:
    case GBUFFER:
        vkCmdDraw(commands, BOX_VERTICES, BOXES, 0, 0);
        vkCmdDraw(commands, BALL_VERTICES, BALLS, 0, BOXES);
        break;
    case HALOS: vkCmdDraw(commands, 6, LIGHTS, 0, 0); break;
    default: vkCmdDraw(commands, 3, 1, 0, 0);
    }
}

Inputs::Inputs(const Passes &passes) : device_(passes.device_) {
    constexpr uint32_t SETS = 2 * PASS_COUNT;
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, SETS * SAMPLED_IMAGES}, {VK_DESCRIPTOR_TYPE_SAMPLER, SETS}};
    auto pool_info = make<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
    pool_info.maxSets = SETS;
    pool_info.poolSizeCount = 2;
    pool_info.pPoolSizes = sizes;
    check(vkCreateDescriptorPool(device_, &pool_info, nullptr, &pool_), "vkCreateDescriptorPool");
    const std::vector<VkDescriptorSetLayout> layouts(SETS, passes.set_layout_);
    auto info = make<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
    info.descriptorPool = pool_;
    info.descriptorSetCount = SETS;
    info.pSetLayouts = layouts.data();
    const VkResult result = vkAllocateDescriptorSets(device_, &info, &sets_[0][0]);
    if (result < 0) vkDestroyDescriptorPool(device_, pool_, nullptr);
    check(result, "vkAllocateDescriptorSets");
}

Inputs::~Inputs() { vkDestroyDescriptorPool(device_, pool_, nullptr); }

void Inputs::set(ThParity parity, uint32_t pass, uint32_t binding, VkImageView view, VkImageLayout layout) const {
    const VkDescriptorImageInfo image = {VK_NULL_HANDLE, view, layout};
    auto write = make<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
    write.dstSet = sets_[parity][pass];
    write.dstBinding = binding;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;
    write.pImageInfo = &image;
    vkUpdateDescriptorSets(device_, 1, &write, 0, nullptr);
}

} // namespace plaza
