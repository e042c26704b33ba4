#include "picture.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

namespace plaza {

Canvas::Canvas(const Gpu &gpu, VkExtent2D size) : Canvas(gpu) { // The destructor runs if something below throws.
    extent = size;
    auto image = make<VkImageCreateInfo>(VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO);
    image.imageType = VK_IMAGE_TYPE_2D;
    image.format = VK_FORMAT_R8G8B8A8_UNORM;
    image.extent = {extent.width, extent.height, 1};
    image.mipLevels = image.arrayLayers = 1;
    image.samples = VK_SAMPLE_COUNT_1_BIT;
    image.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    VmaAllocationCreateInfo memory = {};
    memory.usage = VMA_MEMORY_USAGE_AUTO_PREFER_DEVICE;
    check(vmaCreateImage(allocator_, &image, &memory, &picture, &picture_memory_, nullptr), "vmaCreateImage");
    auto view_info = make<VkImageViewCreateInfo>(VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO);
    view_info.image = picture;
    view_info.viewType = VK_IMAGE_VIEW_TYPE_2D;
    view_info.format = image.format;
    view_info.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    check(vkCreateImageView(device_, &view_info, nullptr, &view), "vkCreateImageView");
    auto buffer = make<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    buffer.size = bytes();
    buffer.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    memory.usage = VMA_MEMORY_USAGE_AUTO_PREFER_HOST;
    memory.flags = VMA_ALLOCATION_CREATE_HOST_ACCESS_RANDOM_BIT | VMA_ALLOCATION_CREATE_MAPPED_BIT;
    VmaAllocationInfo info = {};
    check(vmaCreateBuffer(allocator_, &buffer, &memory, &texels, &texel_memory_, &info), "vmaCreateBuffer");
    mapped_ = info.pMappedData;
}

Canvas::~Canvas() {
    vkDestroyImageView(device_, view, nullptr);
    vmaDestroyImage(allocator_, picture, picture_memory_);
    vmaDestroyBuffer(allocator_, texels, texel_memory_);
}

std::vector<uint8_t> Canvas::read() const {
    check(vmaInvalidateAllocation(allocator_, texel_memory_, 0, VK_WHOLE_SIZE), "vmaInvalidateAllocation");
    std::vector<uint8_t> read(bytes());
    std::memcpy(read.data(), mapped_, read.size());
    return read;
}

void copy_to_texels(VkCommandBuffer commands, const Canvas &canvas) {
    VkBufferImageCopy region = {};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.imageExtent = {canvas.extent.width, canvas.extent.height, 1};
    vkCmdCopyImageToBuffer(commands, canvas.picture, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, canvas.texels, 1, &region);
}

namespace {

using Bytes = std::vector<uint8_t>;

void add_word(Bytes &to, uint32_t word) {
    for (int shift = 24; shift >= 0; shift -= 8) to.push_back(uint8_t(word >> shift));
}

/** A chunk of a PNG: length, type, content, CRC. */
void add_chunk(Bytes &to, const char *type, const Bytes &content) {
    add_word(to, uint32_t(content.size()));
    const size_t first = to.size();
    to.insert(to.end(), type, type + 4);
    to.insert(to.end(), content.begin(), content.end());
    uint32_t crc = UINT32_MAX;
    for (size_t byte = first; byte < to.size(); byte++) {
        crc ^= to[byte];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0u);
    }
    add_word(to, ~crc);
}

/** A zlib stream of stored blocks (RFC 1950 and 1951). */
Bytes store(const Bytes &content) {
    Bytes stream = {0x78, 0x01};
    uint32_t sum = 1, sum_of_sums = 0; // Adler-32.
    for (size_t first = 0; first < content.size();) {
        const size_t count = std::min<size_t>(content.size() - first, 65535);
        const bool last = first + count == content.size();
        for (const size_t byte : {size_t(last), count & 255, count >> 8, ~count & 255, (~count >> 8) & 255}) stream.push_back(uint8_t(byte));
        stream.insert(stream.end(), &content[first], &content[first] + count);
        for (size_t byte = first; byte < first + count; byte++) {
            sum = (sum + content[byte]) % 65521;
            sum_of_sums = (sum_of_sums + sum) % 65521;
        }
        first += count;
    }
    add_word(stream, sum_of_sums << 16 | sum);
    return stream;
}

} // namespace

void write_png(const std::string &path, VkExtent2D extent, const std::vector<uint8_t> &texels) {
    Bytes png = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    Bytes header;
    add_word(header, extent.width);
    add_word(header, extent.height);
    for (const uint8_t byte : Bytes{8, 6, 0, 0, 0}) header.push_back(byte); // Eight bits a channel, RGBA.
    add_chunk(png, "IHDR", header);
    Bytes rows;
    const size_t width = size_t(extent.width) * 4;
    for (size_t row = 0; row < extent.height; row++) {
        rows.push_back(0); // No filter.
        rows.insert(rows.end(), &texels[row * width], &texels[row * width] + width);
    }
    add_chunk(png, "IDAT", store(rows));
    add_chunk(png, "IEND", {});
    const std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(path.c_str(), "wb"), std::fclose);
    if (!file || std::fwrite(png.data(), 1, png.size(), file.get()) != png.size() || std::fflush(file.get()) != 0)
        throw std::runtime_error("cannot write " + path);
}

} // namespace plaza
