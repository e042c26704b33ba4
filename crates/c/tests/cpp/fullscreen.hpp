/* Pipelines that draw one triangle over an area, which is dynamic. */
#pragma once

#include "../../../../examples/cpp/plaza/gpu.hpp"
#include "fullscreen_vert.h" // Written by CMake.

namespace plaza {

using Words = tileheap::Span<const uint32_t>;

/** A stage with a shader module, which is the caller's. */
inline VkPipelineShaderStageCreateInfo create_stage(VkDevice device, VkShaderStageFlagBits stage, Words words) {
    auto module_info = make<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    module_info.codeSize = words.size() * sizeof(uint32_t);
    module_info.pCode = words.data();
    auto info = make<VkPipelineShaderStageCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO);
    info.stage = stage;
    info.pName = "main";
    check(vkCreateShaderModule(device, &module_info, nullptr, &info.module), "vkCreateShaderModule");
    return info;
}

/** Attachments of a fullscreen pipeline. Depth is tested and written if it has a format. */
struct Attachments {
    tileheap::Span<const VkFormat> colors;
    VkFormat depth = VK_FORMAT_UNDEFINED;
    VkCompareOp depth_compare = VK_COMPARE_OP_ALWAYS;
};

inline VkPipeline create_fullscreen(VkDevice device, VkPipelineLayout layout, Words fragment, const Attachments &attachments) {
    const VkPipelineShaderStageCreateInfo stages[] = {create_stage(device, VK_SHADER_STAGE_VERTEX_BIT, fullscreen_vert),
                                                      create_stage(device, VK_SHADER_STAGE_FRAGMENT_BIT, fragment)};
    const auto input = make<VkPipelineVertexInputStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO);
    auto assembly = make<VkPipelineInputAssemblyStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO);
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    auto viewport = make<VkPipelineViewportStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO);
    viewport.viewportCount = viewport.scissorCount = 1;
    auto rasterization = make<VkPipelineRasterizationStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO);
    rasterization.lineWidth = 1.0f;
    auto samples = make<VkPipelineMultisampleStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO);
    samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    auto depth = make<VkPipelineDepthStencilStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO);
    depth.depthTestEnable = depth.depthWriteEnable = attachments.depth != VK_FORMAT_UNDEFINED;
    depth.depthCompareOp = attachments.depth_compare;
    VkPipelineColorBlendAttachmentState written = {};
    written.colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT | VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT;
    const std::vector<VkPipelineColorBlendAttachmentState> blended(attachments.colors.size(), written);
    auto blend = make<VkPipelineColorBlendStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO);
    blend.attachmentCount = uint32_t(blended.size());
    blend.pAttachments = blended.data();
    const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    auto dynamic = make<VkPipelineDynamicStateCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO);
    dynamic.dynamicStateCount = 2;
    dynamic.pDynamicStates = states;
    auto rendering = make<VkPipelineRenderingCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO);
    rendering.colorAttachmentCount = uint32_t(attachments.colors.size());
    rendering.pColorAttachmentFormats = attachments.colors.data();
    rendering.depthAttachmentFormat = attachments.depth;
    auto info = make<VkGraphicsPipelineCreateInfo>(VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, &rendering);
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
    info.layout = layout;
    VkPipeline pipeline = VK_NULL_HANDLE;
    const VkResult result = vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline);
    for (const auto &made : stages) vkDestroyShaderModule(device, made.module, nullptr);
    check(result, "vkCreateGraphicsPipelines");
    return pipeline;
}

/** Draws with the bound pipeline. */
inline void draw_fullscreen(VkCommandBuffer commands, const VkRect2D &area) {
    const VkViewport viewport = {float(area.offset.x), float(area.offset.y), float(area.extent.width), float(area.extent.height), 0, 1};
    vkCmdSetViewport(commands, 0, 1, &viewport);
    vkCmdSetScissor(commands, 0, 1, &area);
    vkCmdDraw(commands, 3, 1, 0, 0);
}

} // namespace plaza
