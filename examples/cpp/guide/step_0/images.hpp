/* The frame's images. Each has an allocation of its own. */
#pragma once

#include <guide.hpp>

struct Image {
    VkImage handle = VK_NULL_HANDLE;
    VkImageView view = VK_NULL_HANDLE;
    VmaAllocation memory = VK_NULL_HANDLE;
};

class Images {
public:
    Images(const guide::Gpu &gpu, VkExtent2D size) : Images(gpu) { // The destructor runs if something below throws.
        for (uint32_t index = 0; index < guide::TRANSIENT_COUNT; index++) create(index, size);
    }
    ~Images() {
        for (const Image &image : images_) {
            vkDestroyImageView(gpu_.device, image.view, nullptr);
            vmaDestroyImage(gpu_.allocator, image.handle, image.memory);
        }
    }
    Images(const Images &) = delete;
    Images &operator=(const Images &) = delete;

    const Image &operator[](uint32_t index) const { return images_[index]; }

    guide::Memory memory() const {
        guide::Memory sum = {0, 0};
        for (const Image &image : images_) {
            VmaAllocationInfo info;
            vmaGetAllocationInfo(gpu_.allocator, image.memory, &info);
            sum.ordinary += info.size;
        }
        return sum;
    }

private:
    explicit Images(const guide::Gpu &gpu) : gpu_(gpu) {}

    void create(uint32_t index, VkExtent2D size) {
        const VkExtent2D extent = guide::extent_of(index, size);
        auto info = guide::make<VkImageCreateInfo>(VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO);
        info.imageType = VK_IMAGE_TYPE_2D;
        info.format = guide::format_of(index);
        info.extent = {extent.width, extent.height, 1};
        info.mipLevels = info.arrayLayers = 1;
        info.samples = VK_SAMPLE_COUNT_1_BIT;
        info.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
        info.usage |= guide::is_depth(index) ? VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT : VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
        Image &image = images_[index];
        VmaAllocationCreateInfo memory = {};
        memory.usage = VMA_MEMORY_USAGE_AUTO_PREFER_DEVICE;
        guide::check(vmaCreateImage(gpu_.allocator, &info, &memory, &image.handle, &image.memory, nullptr), "vmaCreateImage");
        create_view(index);
    }

    void create_view(uint32_t index) {
        auto info = guide::make<VkImageViewCreateInfo>(VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO);
        info.image = images_[index].handle;
        info.viewType = VK_IMAGE_VIEW_TYPE_2D;
        info.format = guide::format_of(index);
        const VkImageAspectFlags aspect = guide::is_depth(index) ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
        info.subresourceRange = {aspect, 0, 1, 0, 1};
        guide::check(vkCreateImageView(gpu_.device, &info, nullptr, &images_[index].view), "vkCreateImageView");
    }

    const guide::Gpu &gpu_;
    std::array<Image, guide::TRANSIENT_COUNT> images_;
};
