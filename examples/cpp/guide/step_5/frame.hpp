/* The passes of a frame, in the order of submission. */
#pragma once

#include <guide.hpp>

/** Describes the frame of a picture of this size in a builder. Resources and passes have the numbers of guide.hpp. */
inline void describe(tileheap::FrameBuilder &frame, VkExtent2D size) {
    using namespace guide;
    using tileheap::LoadOp;
    frame.reset("plaza", size);
    for (uint32_t image = 0; image < TRANSIENT_COUNT; image++) frame.image(name_of(image), format_of(image), extent_of(image, size));
    // The picture is undefined on entry, after the copy of an earlier frame, and ends as a copy source.
    const uint32_t picture = frame.image(name_of(PICTURE), format_of(PICTURE), size);
    frame[picture].persistence = TH_PERSISTENCE_EXTERNAL;
    frame[picture].entry.stages = frame[picture].exit.stages = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
    frame[picture].exit.layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    const uint32_t texels = frame.buffer("texels", uint64_t(size.width) * size.height * 4);
    frame[texels].persistence = TH_PERSISTENCE_READ_BACK;

    const LoadOp zero = LoadOp::clear_color(0, 0, 0, 0), far = LoadOp::clear_depth(0), undefined = LoadOp::dont_care();
    frame.render_pass("shadow").depth(SHADOW_MAP, far);
    frame.render_pass("gbuffer").color(ALBEDO, zero).color(NORMALS, zero).depth(DEPTH, far);
    frame.render_pass("lighting").sampled(ALBEDO).sampled(NORMALS).sampled(DEPTH).sampled(SHADOW_MAP).color(LIT, undefined).fragment();
    frame.render_pass("halos").color(LIT, LoadOp::load()).depth_read_only(DEPTH).optional(TH_SKIPPED_OUTPUTS_KEPT);
    frame.render_pass("bright").sampled(LIT).color(HIGHLIGHTS, undefined).fragment();
    frame.render_pass("bloom").sampled(HIGHLIGHTS).color(BLURRED, undefined).fragment();
    frame.render_pass("wide_bloom").sampled(BLURRED).color(WIDELY_BLURRED, undefined).fragment();
    frame.render_pass("tone_map").sampled(LIT).sampled(BLURRED).sampled(WIDELY_BLURRED).color(picture, undefined).fragment();
    frame.transfer_pass("read_back").transfer_source(picture).transfer_destination(texels);
}
