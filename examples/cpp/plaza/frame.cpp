#include "frame.hpp"

using tileheap::LoadOp;

namespace plaza {

Imports describe(tileheap::FrameBuilder &frame, VkExtent2D extent) {
    constexpr VkFormat HDR = VK_FORMAT_R16G16B16A16_SFLOAT;
    frame.reset("plaza", extent);
    const uint32_t shadow = frame.image("shadow", VK_FORMAT_D16_UNORM, VkExtent2D{1024, 1024});
    const uint32_t albedo = frame.image("albedo", VK_FORMAT_R8G8B8A8_UNORM);
    const uint32_t normal = frame.image("normal", VK_FORMAT_A2B10G10R10_UNORM_PACK32);
    const uint32_t motion = frame.image("motion", VK_FORMAT_R16G16_SFLOAT);
    const uint32_t depth = frame.image("depth", VK_FORMAT_D32_SFLOAT);
    const uint32_t lit = frame.image("lit", HDR);
    const uint32_t resolved = frame.image("resolved", HDR);
    frame[resolved].persistence = TH_PERSISTENCE_HISTORY;
    const uint32_t bright = frame.image("bright", HDR, 0.5f);
    const uint32_t bloom = frame.image("bloom", HDR, 0.5f);
    const uint32_t wide_bloom = frame.image("wide_bloom", HDR, 0.25f);
    // The picture is undefined on entry, after the copy of an earlier frame, and ends as a copy source.
    const uint32_t picture = frame.image("picture", VK_FORMAT_R8G8B8A8_UNORM, extent);
    frame[picture].persistence = TH_PERSISTENCE_EXTERNAL;
    frame[picture].entry.stages = frame[picture].exit.stages = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
    frame[picture].exit.layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    const uint32_t texels = frame.buffer("texels", uint64_t(extent.width) * extent.height * 4);
    frame[texels].persistence = TH_PERSISTENCE_READ_BACK;

    const LoadOp zero = LoadOp::clear_color(0, 0, 0, 0);
    const LoadOp far = LoadOp::clear_depth(0); // Depth is reversed.
    frame.batch();
    frame.command_buffer("scene");
    frame.render_pass("shadow").depth(shadow, far);
    frame.render_pass("gbuffer").color(albedo, zero).color(normal, zero).color(motion, zero).depth(depth, far);
    frame.render_pass("lighting").sampled(albedo).sampled(normal).sampled(depth).sampled(shadow).color(lit, LoadOp::dont_care()).fragment();
    frame.render_pass("halos").color(lit, LoadOp::load()).depth_read_only(depth).optional(TH_SKIPPED_OUTPUTS_KEPT);
    frame.batch();
    frame.command_buffer("post");
    frame.render_pass("temporal").sampled(lit).sampled(motion).sampled_previous(resolved).color(resolved, LoadOp::dont_care()).fragment();
    frame.render_pass("bright").sampled(resolved).color(bright, LoadOp::dont_care()).fragment();
    frame.render_pass("bloom").sampled(bright).color(bloom, LoadOp::dont_care()).fragment();
    frame.render_pass("wide_bloom").sampled(bloom).color(wide_bloom, LoadOp::dont_care()).fragment();
    frame.render_pass("tone_map").sampled(resolved).sampled(bloom).sampled(wide_bloom).color(picture, LoadOp::dont_care()).fragment();
    frame.transfer_pass("read_back").transfer_source(picture).transfer_destination(texels);
    return {picture, texels};
}

} // namespace plaza
