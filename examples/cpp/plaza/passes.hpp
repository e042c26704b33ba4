/* The contents of the plaza's passes: pipelines, descriptor sets, draws. They do not depend on how frames are executed. */
#pragma once

#include <functional>
#include <vector>

#include "frame.hpp"
#include "gpu.hpp"

namespace plaza {

/** The formats of a render pass's attachments, for which its pipeline is created. */
struct Target {
    std::vector<VkFormat> colors;
    VkFormat depth;
};

/** Push constants; `Constants` in shaders/plaza.glsl. */
struct Constants {
    VkExtent2D extent;
    uint32_t frame;
};

/** Pipelines of all passes, which share one layout. */
class Passes {
public:
    Passes(VkDevice device, const std::function<Target(uint32_t pass)> &target);
    ~Passes();
    Passes(const Passes &) = delete;
    Passes &operator=(const Passes &) = delete;

    /** Records the draws of a render pass over its area. */
    void draw(VkCommandBuffer commands, uint32_t pass, const VkRect2D &area, VkDescriptorSet inputs, const Constants &constants) const;

private:
    friend class Inputs;
    explicit Passes(VkDevice device) : device_(device) {}
    void create_layout();
    void create_pipeline(uint32_t pass, const Target &target);

    VkDevice device_;
    VkSampler sampler_ = VK_NULL_HANDLE;
    VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkPipeline pipelines_[PASS_COUNT] = {};
};

/** Descriptor sets of one size of the frame, by parity and pass. */
class Inputs {
public:
    explicit Inputs(const Passes &passes);
    ~Inputs();
    Inputs(const Inputs &) = delete;
    Inputs &operator=(const Inputs &) = delete;

    /** Points a binding of a set that is not in use to an image. */
    void set(ThParity parity, uint32_t pass, uint32_t binding, VkImageView view, VkImageLayout layout) const;
    VkDescriptorSet of(ThParity parity, uint32_t pass) const { return sets_[parity][pass]; }

private:
    VkDevice device_;
    VkDescriptorPool pool_ = VK_NULL_HANDLE;
    VkDescriptorSet sets_[2][PASS_COUNT] = {};
};

} // namespace plaza
