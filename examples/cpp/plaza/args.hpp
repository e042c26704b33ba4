/* The command line of the plaza's programs. */
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <vulkan/vulkan_core.h>

namespace plaza {

struct Args {
    std::string output;
    /** A file for the texels of every frame, one after the other; empty for none. */
    std::string texels;
    uint32_t frames = 8;
    VkExtent2D size = {960, 540};
    /** The size of the second half of the frames. */
    std::optional<VkExtent2D> resize;
    /** Whether halos are left out of every second pair of frames. */
    bool toggle = false;
    bool tile_memory = true;

    VkExtent2D size_of(uint32_t frame) const { return resize && frame >= frames / 2 ? *resize : size; }
    bool has_halos(uint32_t frame) const { return !toggle || frame / 2 % 2 == 0; }
};

/** Parses the command line; throws std::invalid_argument. Returns nullopt after printing the help. */
std::optional<Args> parse_args(int count, char **arguments, const char *about, const char *output);

} // namespace plaza
