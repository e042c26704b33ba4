/* The frame's images, at planned offsets of shared blocks. */
#pragma once

#include <algorithm>

#include <guide.hpp>

struct Image {
    VkImage handle = VK_NULL_HANDLE;
    VkImageView view = VK_NULL_HANDLE;
    /** The dependency of the first use in a frame: the stages and writes of the previous users of the image's bytes. */
    VkPipelineStageFlags2 previous_stages = 0;
    VkAccessFlags2 previous_writes = 0;
};

/** A block of memory. */
struct Block {
    VmaAllocation memory = VK_NULL_HANDLE;
    VkDeviceSize size = 0;
};

class Images {
public:
    Images(const guide::Gpu &gpu, VkExtent2D size, const tileheap::Plan &plan, const tileheap::Aliasing &aliasing) : Images(gpu) {
        const ThPlanArrays planned = plan.arrays().value();
        const tileheap::Span placements(planned.placements, planned.placementCount);
        images_.resize(placements.size());
        for (uint32_t row = 0; row < placements.size(); row++)
            if (placements[row].object != TH_NONE) create(images_[row], placements[row], size);
        for (uint32_t object = 0; object < planned.objectCount; object++) allocate(planned, object);
        for (uint32_t row = 0; row < placements.size(); row++)
            if (placements[row].object != TH_NONE) bind(images_[row], placements[row]);
        for (const ThPlannedResource &resource : tileheap::Span(planned.resources, planned.resourceCount))
            placements_of_.push_back(resource.placements);
        const ThAliasingArrays users = aliasing.arrays().value();
        for (const ThAliasingRow &row : tileheap::Span(users.placements, users.placementCount)) {
            for (const ThPreviousUser &user : tileheap::Span(users.previous, users.previousCount)[row.previous]) {
                images_[row.placement].previous_stages |= user.stages;
                images_[row.placement].previous_writes |= user.writes;
            }
        }
    }
    ~Images() {
        for (const Image &image : images_) {
            vkDestroyImageView(gpu_.device, image.view, nullptr);
            vkDestroyImage(gpu_.device, image.handle, nullptr);
        }
        for (const Block &block : blocks_) vmaFreeMemory(gpu_.allocator, block.memory);
    }
    Images(const Images &) = delete;
    Images &operator=(const Images &) = delete;

    const Image &operator[](uint32_t index) const { return at(index, 0); }
    /** The image with the current version of a resource in a frame. With the next frame: that with the previous version of a history. */
    const Image &at(uint32_t index, uint32_t frame) const {
        const ThRun placements = placements_of_[index]; // Two for a history: the first is current in even frames.
        return images_[placements.first + frame % (placements.end - placements.first)];
    }

    guide::Memory memory() const {
        guide::Memory sum = {0, 0};
        for (const Block &block : blocks_) sum.ordinary += block.size;
        return sum;
    }

private:
    explicit Images(const guide::Gpu &gpu) : gpu_(gpu) {}

    void create(Image &image, const ThPlannedPlacement &placement, VkExtent2D size) {
        const uint32_t index = placement.resource;
        const VkExtent2D extent = guide::extent_of(index, size);
        auto info = guide::make<VkImageCreateInfo>(VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO);
        info.imageType = VK_IMAGE_TYPE_2D;
        info.format = guide::format_of(index);
        info.extent = {extent.width, extent.height, 1};
        info.mipLevels = info.arrayLayers = 1;
        info.samples = VK_SAMPLE_COUNT_1_BIT;
        info.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
        info.usage |= guide::is_depth(index) ? VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT : VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
        guide::check(vkCreateImage(gpu_.device, &info, nullptr, &image.handle), "vkCreateImage");
    }

    /** Allocates a memory object of the plan, for all images that are placed in it. */
    void allocate(const ThPlanArrays &planned, uint32_t object) {
        const auto [kind, type, size] = planned.objects[object];
        VkMemoryRequirements needs = {size, 1, 1u << type};
        VkImage image = VK_NULL_HANDLE;
        uint32_t image_count = 0;
        for (uint32_t row = 0; row < planned.placementCount; row++) {
            const ThPlannedPlacement &placement = planned.placements[row];
            if (placement.object != object) continue;
            image = images_[row].handle;
            image_count++;
            VkMemoryRequirements of_image;
            vkGetImageMemoryRequirements(gpu_.device, image, &of_image);
            needs.alignment = std::max(needs.alignment, of_image.alignment);
            const bool fits = of_image.size <= placement.size && placement.offset % of_image.alignment == 0;
            if (!fits || !(of_image.memoryTypeBits & needs.memoryTypeBits))
                throw std::runtime_error(std::string(guide::name_of(placement.resource)) + ": the image is not the one that was planned");
        }
        Block &block = blocks_.emplace_back();
        block.size = needs.size;
        VmaAllocationCreateInfo info = {};
        info.flags = VMA_ALLOCATION_CREATE_CAN_ALIAS_BIT;
        info.memoryTypeBits = needs.memoryTypeBits;
        guide::check(image_count == 1 ? vmaAllocateMemoryForImage(gpu_.allocator, image, &info, &block.memory, nullptr) // May be dedicated.
                                      : vmaAllocateMemory(gpu_.allocator, &needs, &info, &block.memory, nullptr),
                     "vmaAllocateMemory");
    }

    void bind(Image &image, const ThPlannedPlacement &placement) {
        const Block &block = blocks_[placement.object];
        guide::check(vmaBindImageMemory2(gpu_.allocator, block.memory, placement.offset, image.handle, nullptr), "vmaBindImageMemory2");
        create_view(image, placement.resource);
    }

    void create_view(Image &image, uint32_t index) {
        auto info = guide::make<VkImageViewCreateInfo>(VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO);
        info.image = image.handle;
        info.viewType = VK_IMAGE_VIEW_TYPE_2D;
        info.format = guide::format_of(index);
        const VkImageAspectFlags aspect = guide::is_depth(index) ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
        info.subresourceRange = {aspect, 0, 1, 0, 1};
        guide::check(vkCreateImageView(gpu_.device, &info, nullptr, &image.view), "vkCreateImageView");
    }

    const guide::Gpu &gpu_;
    std::vector<Image> images_;          // One for each placement of the plan.
    std::vector<ThRun> placements_of_; // Per resource.
    std::vector<Block> blocks_;
};
