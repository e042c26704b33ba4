/* Shared by all steps: the frame's passes and images, pipelines, command buffers, the loop over frames. No step changes it. */
#pragma once

#include <array>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <vector>

#include "../plaza/args.hpp"
#include "../plaza/commands.hpp"
#include "../plaza/gpu.hpp"
#include "../plaza/passes.hpp"
#include "../plaza/picture.hpp"
#include "../plaza/runtime_gpu.hpp"

namespace guide {

using plaza::check, plaza::make, plaza::Canvas, plaza::Gpu;

/** Passes, in order. */
enum Pass : uint32_t { SHADOW, GBUFFER, LIGHTING, HALOS, BRIGHT, BLOOM, WIDE_BLOOM, TONE_MAP, READ_BACK, PASS_COUNT };

/** Images and buffers: those of the frame, then the picture and the buffer that it is copied to. */
enum Resource : uint32_t { SHADOW_MAP, ALBEDO, NORMALS, DEPTH, LIT, HIGHLIGHTS, BLURRED, WIDELY_BLURRED, PICTURE, TEXELS };
/** The number of images that only the frame uses. */
constexpr uint32_t TRANSIENT_COUNT = PICTURE;

inline const char *name_of(uint32_t image) {
    constexpr const char *NAMES[] = {"shadow map", "albedo", "normals", "depth", "lit", "highlights", "blurred", "widely blurred", "picture"};
    return NAMES[image];
}

inline VkFormat format_of(uint32_t image) {
    switch (image) {
    case SHADOW_MAP: return VK_FORMAT_D16_UNORM;
    case DEPTH: return VK_FORMAT_D32_SFLOAT;
    case NORMALS: return VK_FORMAT_A2B10G10R10_UNORM_PACK32;
    case ALBEDO:
    case PICTURE: return VK_FORMAT_R8G8B8A8_UNORM;
    default: return VK_FORMAT_R16G16B16A16_SFLOAT;
    }
}

inline bool is_depth(uint32_t image) { return image == SHADOW_MAP || image == DEPTH; }

/** The extent of an image in a frame for a picture of this size. */
inline VkExtent2D extent_of(uint32_t image, VkExtent2D size) {
    if (image == SHADOW_MAP) return {1024, 1024};
    const uint32_t divisor = image == WIDELY_BLURRED ? 4 : image == HIGHLIGHTS || image == BLURRED ? 2 : 1;
    return {(size.width + divisor - 1) / divisor, (size.height + divisor - 1) / divisor};
}

/** The images that a pass samples, in the order of their bindings. */
inline std::vector<uint32_t> sampled_by(uint32_t pass) {
    switch (pass) {
    case LIGHTING: return {ALBEDO, NORMALS, DEPTH, SHADOW_MAP};
    case BRIGHT: return {LIT};
    case BLOOM: return {HIGHLIGHTS};
    case WIDE_BLOOM: return {BLURRED};
    case TONE_MAP: return {LIT, BLURRED, WIDELY_BLURRED};
    default: return {};
    }
}

/** The pass of plaza/ that has the shaders of a pass. */
inline uint32_t shaders_of(uint32_t pass) { return pass < BRIGHT ? pass : pass + (uint32_t(plaza::BRIGHT) - uint32_t(BRIGHT)); }

/** Pipelines of all passes. */
class Pipelines {
public:
    explicit Pipelines(const Gpu &gpu) : passes(gpu.device, target) {}

    plaza::Passes passes;

private:
    static plaza::Target target(uint32_t pass) {
        constexpr VkFormat HDR = VK_FORMAT_R16G16B16A16_SFLOAT;
        switch (pass) {
        case plaza::SHADOW: return {{}, format_of(SHADOW_MAP)};
        case plaza::GBUFFER: return {{format_of(ALBEDO), format_of(NORMALS)}, format_of(DEPTH)};
        case plaza::HALOS: return {{HDR}, format_of(DEPTH)};
        case plaza::TONE_MAP: return {{format_of(PICTURE)}, VK_FORMAT_UNDEFINED};
        default: return {{HDR}, VK_FORMAT_UNDEFINED};
        }
    }
};

/** The images that passes sample: one descriptor set for each pass. */
class Inputs {
public:
    explicit Inputs(const Pipelines &pipelines) : passes_(pipelines.passes), sets_(passes_) {}

    /** Points a binding of a pass to an image. Nothing uses the set. */
    void set(uint32_t pass, uint32_t binding, VkImageView view, VkImageLayout layout) const {
        sets_.set(TH_PARITY_EVEN, shaders_of(pass), binding, view, layout);
    }
    /** Records the draws of a render pass. */
    void draw(VkCommandBuffer commands, uint32_t pass, const VkRect2D &area, VkExtent2D size, uint32_t frame) const {
        passes_.draw(commands, shaders_of(pass), area, sets_.of(TH_PARITY_EVEN, shaders_of(pass)), {size, frame});
    }

private:
    const plaza::Passes &passes_;
    plaza::Inputs sets_;
};

/** The maximum number of frames in flight. */
constexpr uint32_t FRAMES_IN_FLIGHT = 2;

/** A command buffer, and a fence for its submission. */
class Commands : public plaza::CommandBuffers {
public:
    explicit Commands(const Gpu &gpu) : CommandBuffers(gpu, 1), buffer(handles[0]), device_(gpu.device) {
        const auto info = make<VkFenceCreateInfo>(VK_STRUCTURE_TYPE_FENCE_CREATE_INFO);
        check(vkCreateFence(device_, &info, nullptr, &fence), "vkCreateFence");
    }
    ~Commands() { vkDestroyFence(device_, fence, nullptr); }

    const VkCommandBuffer buffer;
    VkFence fence = VK_NULL_HANDLE;

private:
    VkDevice device_;
};

/** A frame to draw. */
struct Shot {
    /** The number of the frame. */
    uint32_t frame;
    bool halos;
    /** Which of the frames in flight it is; the frame that had this number has completed. */
    uint32_t slot;
    const Canvas &canvas;
};

/** Bytes of the images that only the frame uses. */
struct Memory {
    uint64_t ordinary, tile;
};

/** Waits until a device is idle. */
struct WaitIdle {
    VkDevice device;
    ~WaitIdle() { vkDeviceWaitIdle(device); }
};

inline bool is_same(VkExtent2D one, VkExtent2D other) { return one.width == other.width && one.height == other.height; }
inline const Gpu &gpu_of(const Gpu &gpu) { return gpu; }
inline const Gpu &gpu_of(const plaza::RuntimeGpu &runtime) { return runtime.gpu; }

template <class Renderer>
void render(const plaza::Args &args) {
    plaza::Pictures pictures(args);
    typename Renderer::Device device(Renderer::USES_TILE_MEMORY && args.tile_memory);
    const Gpu &gpu = gpu_of(device);
    std::unique_ptr<Canvas> canvases[FRAMES_IN_FLIGHT];
    Renderer renderer(device);
    const WaitIdle wait_idle{gpu.device}; // For frames in flight, which an error may leave.
    VkExtent2D size = {0, 0};
    uint32_t drawn = 0, read = 0;
    const auto keep_picture = [&] {
        const uint32_t slot = read++ % FRAMES_IN_FLIGHT;
        renderer.wait(slot);
        pictures.add(canvases[slot]->extent, canvases[slot]->read());
    };
    for (; drawn < args.frames; drawn++) {
        if (drawn - read == FRAMES_IN_FLIGHT) keep_picture();
        const VkExtent2D wanted = args.size_of(drawn);
        if (!is_same(size, wanted)) {
            while (Renderer::WAITS_TO_RESIZE && read < drawn) keep_picture();
            size = wanted;
            renderer.resize(size);
        }
        const uint32_t slot = drawn % FRAMES_IN_FLIGHT;
        std::unique_ptr<Canvas> &canvas = canvases[slot];
        if (!canvas || !is_same(canvas->extent, size)) {
            if (canvas) renderer.forget(*canvas);
            canvas = std::make_unique<Canvas>(gpu, size);
        }
        renderer.draw({drawn, args.has_halos(drawn), slot, *canvas});
    }
    while (read < drawn) keep_picture();
    pictures.finish();
    const Memory memory = renderer.memory();
    std::printf("%u frames on %s: %llu B of ordinary memory, %llu B of tile memory\n%s\n", args.frames, gpu.name.c_str(),
                static_cast<unsigned long long>(memory.ordinary), static_cast<unsigned long long>(memory.tile), args.output.c_str());
}

} // namespace guide
