/* Pictures: the image that a frame renders to, the buffer that it is read back to, and PNG files. */
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu.hpp"

namespace plaza {

/** A frame's output image and its readback buffer. */
class Canvas {
public:
    Canvas(const Gpu &gpu, VkExtent2D extent);
    ~Canvas();
    Canvas(const Canvas &) = delete;
    Canvas &operator=(const Canvas &) = delete;

    /** The texels of the last frame that was rendered to it and has completed, four bytes each. */
    std::vector<uint8_t> read() const;
    /** The size of the buffer. */
    VkDeviceSize bytes() const { return VkDeviceSize(extent.width) * extent.height * 4; }

    VkExtent2D extent;
    VkImage picture = VK_NULL_HANDLE;
    VkImageView view = VK_NULL_HANDLE;
    VkBuffer texels = VK_NULL_HANDLE;

private:
    explicit Canvas(const Gpu &gpu) : device_(gpu.device), allocator_(gpu.allocator) {}

    VkDevice device_;
    VmaAllocator allocator_;
    VmaAllocation picture_memory_ = VK_NULL_HANDLE;
    VmaAllocation texel_memory_ = VK_NULL_HANDLE;
    const void *mapped_ = nullptr;
};

/** Records the copy of a picture in VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL to its buffer. */
void copy_to_texels(VkCommandBuffer commands, const Canvas &canvas);

/** Writes texels of four bytes as a PNG without compression. */
void write_png(const std::string &path, VkExtent2D extent, const std::vector<uint8_t> &texels);

} // namespace plaza
