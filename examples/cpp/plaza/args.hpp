/* The command line of the plaza's programs, and their pictures. */
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

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
    /** True if halos are left out of every second pair of frames. */
    bool toggle = false;
    bool tile_memory = true;

    VkExtent2D size_of(uint32_t frame) const { return resize && frame >= frames / 2 ? *resize : size; }
    bool has_halos(uint32_t frame) const { return !toggle || frame / 2 % 2 == 0; }
};

/**
 * The main function of a program: parses the command line, and calls `render`, or prints a help text that begins with `about`. `output` is the
 * default of Args::output. Prints exceptions, and returns the exit status: 2 for a wrong command line, 1 for other errors.
 */
int run(int count, char **arguments, const char *about, const char *output, void (*render)(const Args &));

/** Writes the pictures of a program: the texels of all, and the last one as a PNG. */
class Pictures {
public:
    explicit Pictures(const Args &args);
    /** Adds the picture of the next frame, four bytes for each texel. */
    void add(VkExtent2D extent, std::vector<uint8_t> texels);
    /** Writes the PNG. */
    void finish();

private:
    const Args &args_;
    std::ofstream file_;
    VkExtent2D extent_ = {};
    std::vector<uint8_t> last_;
};

} // namespace plaza
