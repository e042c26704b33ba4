/* The plaza's frame: its resources and passes. */
#pragma once

#include <tileheap.hpp>

namespace plaza {

/** Passes, by their index in the frame. */
enum Pass : uint32_t { SHADOW, GBUFFER, LIGHTING, HALOS, TEMPORAL, BRIGHT, BLOOM, WIDE_BLOOM, TONE_MAP, READ_BACK, PASS_COUNT };

/** Resources of the caller, by their index in the frame. */
struct Imports {
    /** An image of VK_FORMAT_R8G8B8A8_UNORM. */
    uint32_t picture;
    /** A buffer of four bytes for each of its texels. */
    uint32_t texels;
};

/** The passes of each command buffer: [COMMAND_BUFFERS[n], COMMAND_BUFFERS[n + 1]). */
inline constexpr uint32_t COMMAND_BUFFERS[] = {SHADOW, TEMPORAL, PASS_COUNT};
inline constexpr uint32_t COMMAND_BUFFER_COUNT = 2;

/**
 * Describes the frame of a picture of this size in a builder, which is reset first. The indices are the same for every size.
 *
 *     batch "scene"  shadow -> gbuffer -> lighting -> halos (may be left out)
 *     batch "post"   temporal (reads the previous frame) -> bright -> bloom -> wide_bloom -> tone_map -> read_back
 */
Imports describe(tileheap::FrameBuilder &frame, VkExtent2D extent);

} // namespace plaza
