/* A deferred renderer that manages its own memory, barriers and submissions. It prints the plan of its frame. */
#pragma once

#include <frame.hpp>
#include <guide.hpp>
#include <images.hpp>

using namespace guide;

class Renderer {
public:
    using Device = Gpu;
    static constexpr bool USES_TILE_MEMORY = false;
    static constexpr bool WAITS_TO_RESIZE = true;

    explicit Renderer(const Gpu &gpu) : gpu_(gpu), pipelines_(gpu) {
        for (auto &commands : commands_) commands = std::make_unique<Commands>(gpu);
    }

    /** Creates the images of this size. All frames have completed. */
    void resize(VkExtent2D size) {
        size_ = size;
        const tileheap::Frame frame = describe(size);
        const auto plan = tileheap::Plan::create({frame, gpu_.requirements(frame), gpu_.profile}).value();
        std::printf("%s\n", plan.report().value().c_str());
        images_ = std::make_unique<Images>(gpu_, size);
        inputs_ = std::make_unique<Inputs>(pipelines_);
        for (uint32_t pass = 0; pass < PASS_COUNT; pass++) {
            uint32_t binding = 0;
            for (uint32_t image : sampled_by(pass)) inputs_->set(pass, binding++, (*images_)[image].view, VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL);
        }
    }

    /** Records and submits a frame. */
    void draw(const Shot &shot) {
        const Commands &commands = *commands_[shot.slot];
        commands.reset();
        auto begin = make<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
        begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
        check(vkBeginCommandBuffer(commands.buffer, &begin), "vkBeginCommandBuffer");
        record(commands.buffer, shot);
        check(vkEndCommandBuffer(commands.buffer), "vkEndCommandBuffer");

        auto buffer = make<VkCommandBufferSubmitInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO);
        buffer.commandBuffer = commands.buffer;
        auto submit = make<VkSubmitInfo2>(VK_STRUCTURE_TYPE_SUBMIT_INFO_2);
        submit.commandBufferInfoCount = 1;
        submit.pCommandBufferInfos = &buffer;
        check(vkResetFences(gpu_.device, 1, &commands.fence), "vkResetFences");
        check(vkQueueSubmit2(gpu_.queue, 1, &submit, commands.fence), "vkQueueSubmit2");
    }

    /** Waits for a frame in flight. */
    void wait(uint32_t slot) const { check(vkWaitForFences(gpu_.device, 1, &commands_[slot]->fence, VK_TRUE, UINT64_MAX), "vkWaitForFences"); }

    /** A picture will be destroyed, of which the renderer keeps nothing. */
    void forget(const Canvas &) const {}

    Memory memory() const { return images_->memory(); }

private:
    static constexpr VkPipelineStageFlags2 COLOR_STAGES = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT;
    static constexpr VkPipelineStageFlags2 DEPTH_STAGES =
        VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT;
    static constexpr VkAccessFlags2 COLOR_ACCESS = VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT;
    static constexpr VkAccessFlags2 DEPTH_ACCESS =
        VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT | VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;

    void record(VkCommandBuffer commands, const Shot &shot) const {
        begin_writing(commands, {SHADOW_MAP});
        render(commands, SHADOW, {}, SHADOW_MAP, shot);
        end_writing(commands, {SHADOW_MAP});

        begin_writing(commands, {ALBEDO, NORMALS, DEPTH});
        render(commands, GBUFFER, {ALBEDO, NORMALS}, DEPTH, shot);
        end_writing(commands, {ALBEDO, NORMALS, DEPTH});

        begin_writing(commands, {LIT});
        render(commands, LIGHTING, {LIT}, TH_NONE, shot);
        if (shot.halos) {
            keep_writing(commands, LIT);
            render(commands, HALOS, {LIT}, DEPTH, shot);
        }
        end_writing(commands, {LIT});

        begin_writing(commands, {HIGHLIGHTS});
        render(commands, BRIGHT, {HIGHLIGHTS}, TH_NONE, shot);
        end_writing(commands, {HIGHLIGHTS});

        begin_writing(commands, {BLURRED});
        render(commands, BLOOM, {BLURRED}, TH_NONE, shot);
        end_writing(commands, {BLURRED});

        begin_writing(commands, {WIDELY_BLURRED});
        render(commands, WIDE_BLOOM, {WIDELY_BLURRED}, TH_NONE, shot);
        end_writing(commands, {WIDELY_BLURRED});

        constexpr VkPipelineStageFlags2 COPY = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
        record_barriers(commands, {image_barrier(shot.canvas.picture, false, {COPY, 0, COLOR_STAGES, COLOR_ACCESS}, VK_IMAGE_LAYOUT_UNDEFINED,
                                                 VK_IMAGE_LAYOUT_ATTACHMENT_OPTIMAL)});
        render(commands, TONE_MAP, {PICTURE}, TH_NONE, shot);

        record_barriers(commands, {image_barrier(shot.canvas.picture, false, {COLOR_STAGES, COLOR_ACCESS, COPY, VK_ACCESS_2_TRANSFER_READ_BIT},
                                                 VK_IMAGE_LAYOUT_ATTACHMENT_OPTIMAL, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL)});
        plaza::copy_to_texels(commands, shot.canvas);
        record_barriers(commands, {}, {memory_barrier({COPY, VK_ACCESS_2_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_2_HOST_BIT,
                                                       VK_ACCESS_2_HOST_READ_BIT})});
    }

    /** Source and destination of a barrier. */
    struct Scopes {
        VkPipelineStageFlags2 src_stages;
        VkAccessFlags2 src_access;
        VkPipelineStageFlags2 dst_stages;
        VkAccessFlags2 dst_access;
    };

    /** Makes images attachments and discards their contents, after the reads of the previous frame. */
    void begin_writing(VkCommandBuffer commands, std::initializer_list<uint32_t> images) const {
        std::vector<VkImageMemoryBarrier2> barriers;
        for (uint32_t index : images) {
            const bool depth = is_depth(index);
            const Scopes scopes = {VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT | DEPTH_STAGES, 0, depth ? DEPTH_STAGES : COLOR_STAGES,
                                   depth ? DEPTH_ACCESS : COLOR_ACCESS};
            barriers.push_back(image_barrier((*images_)[index].handle, depth, scopes, VK_IMAGE_LAYOUT_UNDEFINED,
                                             VK_IMAGE_LAYOUT_ATTACHMENT_OPTIMAL));
        }
        record_barriers(commands, barriers);
    }

    /** Blends in another pass. */
    void keep_writing(VkCommandBuffer commands, uint32_t index) const {
        record_barriers(commands, {image_barrier((*images_)[index].handle, false, {COLOR_STAGES, COLOR_ACCESS, COLOR_STAGES, COLOR_ACCESS},
                                                 VK_IMAGE_LAYOUT_ATTACHMENT_OPTIMAL, VK_IMAGE_LAYOUT_ATTACHMENT_OPTIMAL)});
    }

    /** Makes images that were attachments readable. */
    void end_writing(VkCommandBuffer commands, std::initializer_list<uint32_t> images) const {
        std::vector<VkImageMemoryBarrier2> barriers;
        for (uint32_t index : images) {
            const bool depth = is_depth(index);
            const Scopes scopes = {depth ? DEPTH_STAGES : COLOR_STAGES, depth ? DEPTH_ACCESS : COLOR_ACCESS,
                                   VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT | (depth ? DEPTH_STAGES : 0),
                                   VK_ACCESS_2_SHADER_SAMPLED_READ_BIT | (depth ? VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT : 0)};
            barriers.push_back(image_barrier((*images_)[index].handle, depth, scopes, VK_IMAGE_LAYOUT_ATTACHMENT_OPTIMAL,
                                             VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL));
        }
        record_barriers(commands, barriers);
    }

    static VkImageMemoryBarrier2 image_barrier(VkImage image, bool depth, const Scopes &scopes, VkImageLayout from, VkImageLayout to) {
        const VkImageAspectFlags aspect = depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
        return {VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2, nullptr, scopes.src_stages, scopes.src_access, scopes.dst_stages, scopes.dst_access,
                from, to, VK_QUEUE_FAMILY_IGNORED, VK_QUEUE_FAMILY_IGNORED, image, {aspect, 0, 1, 0, 1}};
    }

    static VkMemoryBarrier2 memory_barrier(const Scopes &scopes) {
        return {VK_STRUCTURE_TYPE_MEMORY_BARRIER_2, nullptr, scopes.src_stages, scopes.src_access, scopes.dst_stages, scopes.dst_access};
    }

    static void record_barriers(VkCommandBuffer commands, const std::vector<VkImageMemoryBarrier2> &images,
                                const std::vector<VkMemoryBarrier2> &memory = {}) {
        auto info = make<VkDependencyInfo>(VK_STRUCTURE_TYPE_DEPENDENCY_INFO);
        info.memoryBarrierCount = uint32_t(memory.size());
        info.pMemoryBarriers = memory.data();
        info.imageMemoryBarrierCount = uint32_t(images.size());
        info.pImageMemoryBarriers = images.data();
        vkCmdPipelineBarrier2(commands, &info);
    }

    /** Records a render pass. */
    void render(VkCommandBuffer commands, uint32_t pass, std::initializer_list<uint32_t> colors, uint32_t depth, const Shot &shot) const {
        auto attachment = make<VkRenderingAttachmentInfo>(VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO); // Cleared to zero: depth is reversed.
        attachment.imageLayout = VK_IMAGE_LAYOUT_ATTACHMENT_OPTIMAL;
        attachment.loadOp = pass == HALOS                         ? VK_ATTACHMENT_LOAD_OP_LOAD
                            : pass == SHADOW || pass == GBUFFER ? VK_ATTACHMENT_LOAD_OP_CLEAR
                                                                : VK_ATTACHMENT_LOAD_OP_DONT_CARE;
        attachment.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
        std::vector<VkRenderingAttachmentInfo> color_attachments;
        for (uint32_t image : colors) {
            attachment.imageView = image == PICTURE ? shot.canvas.view : (*images_)[image].view;
            color_attachments.push_back(attachment);
        }
        if (depth != TH_NONE) attachment.imageView = (*images_)[depth].view;
        if (pass == HALOS) { // Depth is tested, not written.
            attachment.imageLayout = VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL;
            attachment.storeOp = VK_ATTACHMENT_STORE_OP_NONE;
        }
        auto info = make<VkRenderingInfo>(VK_STRUCTURE_TYPE_RENDERING_INFO);
        info.renderArea.extent = extent_of(colors.size() > 0 ? *colors.begin() : depth, size_);
        info.layerCount = 1;
        info.colorAttachmentCount = uint32_t(color_attachments.size());
        info.pColorAttachments = color_attachments.data();
        info.pDepthAttachment = depth != TH_NONE ? &attachment : nullptr;
        vkCmdBeginRendering(commands, &info);
        inputs_->draw(commands, pass, info.renderArea, size_, shot.frame);
        vkCmdEndRendering(commands);
    }

    const Gpu &gpu_;
    Pipelines pipelines_;
    VkExtent2D size_ = {0, 0};
    std::unique_ptr<Images> images_;
    std::unique_ptr<Inputs> inputs_;
    std::unique_ptr<Commands> commands_[FRAMES_IN_FLIGHT];
};
