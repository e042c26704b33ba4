/*
 * A deferred renderer on tileheap's runtime: shadows, G-buffer, lighting, optional halos, temporal antialiasing, bloom, tone mapping.
 *
 * frame.cpp describes the frame; this file selects it in a dynamic frame, which plans it and creates what it needs, and records its passes;
 * passes.cpp records what they draw; runtime_gpu.cpp creates the device; vma_blocks.hpp provides memory. Tile memory is used on devices with
 * VK_QCOM_tile_memory_heap, or under the emulator layer.
 */
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "../plaza/args.hpp"
#include "../plaza/commands.hpp"
#include "../plaza/frame.hpp"
#include "../plaza/passes.hpp"
#include "../plaza/picture.hpp"
#include "../plaza/runtime_gpu.hpp"

namespace {

using namespace plaza;

/** The maximum number of frames in flight. */
constexpr uint32_t FRAMES_IN_FLIGHT = 2;

/** Resources of one frame in flight. */
struct FrameInFlight {
    explicit FrameInFlight(const Gpu &gpu) : commands(gpu, COMMAND_BUFFER_COUNT) {}

    CommandBuffers commands;
    std::unique_ptr<Canvas> canvas;
    /** The number of its last frame, until its picture is read. */
    std::optional<uint64_t> pending;
};

/** Descriptor sets of the images that a description is bound to. */
struct BoundInputs {
    explicit BoundInputs(const Passes &passes) : sets(passes) {}

    Inputs sets;
    bool is_written[2] = {};
    /** The last frame that used them. */
    uint32_t last = 0;
};

bool is_same(VkExtent2D one, VkExtent2D other) { return one.width == other.width && one.height == other.height; }

/** Renders frames of any size. */
class Renderer {
public:
    Renderer(const RuntimeGpu &runtime, Pictures &pictures)
        : gpu_(runtime.gpu), pictures_(pictures), dynamic_(tileheap::DynamicFrame::create(runtime.device).value()) {
        for (auto &frame : frames_) frame = std::make_unique<FrameInFlight>(gpu_);
    }
    /** Waits for frames that are still in flight after an error. */
    ~Renderer() { vkDeviceWaitIdle(gpu_.device); }

    void draw(VkExtent2D extent, bool halos) {
        FrameInFlight &frame = *frames_[drawn_ % FRAMES_IN_FLIGHT];
        keep_picture(frame);
        begin(frame, extent);
        const ThSelectedFrame selected = select(extent);
        if (!passes_) passes_ = std::make_unique<Passes>(gpu_.device, [&](uint32_t pass) { return target(pass); });
        const Inputs &inputs = inputs_of(selected);

        const Canvas &canvas = *frame.canvas;
        const ThImportedImage picture = tileheap::imported_image(imports_.picture, canvas.picture, canvas.view);
        const ThImportedBuffer texels = tileheap::imported_buffer(imports_.texels, canvas.texels, canvas.bytes());
        const uint64_t number = dynamic_.begin({{&picture, 1}, {&texels, 1}, {}, {}}).value();
        const Constants constants = {extent, drawn_};
        for (uint32_t index = 0; index < COMMAND_BUFFER_COUNT; index++) {
            tileheap::Commands commands = dynamic_.begin_commands(index, frame.commands.handles[index]).value();
            for (uint32_t pass = COMMAND_BUFFERS[index]; pass < COMMAND_BUFFERS[index + 1]; pass++) {
                if (pass == HALOS && !halos) {
                    commands.skip(pass).value();
                    continue;
                }
                const ThPassCommands begun = commands.begin_pass(pass).value();
                if (pass == READ_BACK)
                    copy_to_texels(begun.commandBuffer, canvas);
                else
                    passes_->draw(begun.commandBuffer, pass, begun.area, inputs.of(selected.parity, pass), constants);
                commands.end_pass().value();
            }
            commands.end().value();
        }
        dynamic_.submit().value();
        frame.pending = number;
        drawn_++;
    }

    /** Waits for the frames in flight, and keeps their pictures. */
    void finish() {
        for (uint32_t frame = 0; frame < FRAMES_IN_FLIGHT; frame++) keep_picture(*frames_[(drawn_ + frame) % FRAMES_IN_FLIGHT]);
    }

private:
    void keep_picture(FrameInFlight &frame) {
        if (!frame.pending) return;
        dynamic_.wait(*frame.pending).value();
        frame.pending.reset();
        pictures_.add(frame.canvas->extent, frame.canvas->read());
    }

    /** Makes a frame in flight ready for a picture of this size. */
    void begin(FrameInFlight &frame, VkExtent2D extent) {
        frame.commands.reset();
        if (frame.canvas && is_same(frame.canvas->extent, extent)) return;
        if (frame.canvas) dynamic_.forget_imported_view(frame.canvas->view).value();
        frame.canvas = std::make_unique<Canvas>(gpu_, extent);
    }

    /** Selects the frame of this size, and prints its plan if the size has changed. */
    ThSelectedFrame select(VkExtent2D extent) {
        const bool is_described = is_same(std::exchange(extent_, extent), extent);
        if (!is_described) imports_ = describe(builder_, extent);
        const ThSelectedFrame selected = dynamic_.select(builder_).value();
        if (!is_described) std::printf("%s\n", dynamic_.plan().value().report().value().c_str());
        return selected;
    }

    /** The formats of a pass's attachments, as planned. */
    Target target(uint32_t pass) const {
        const ThPassTarget target = dynamic_.target(pass).value();
        return {{target.colorFormats, target.colorFormats + target.colorFormatCount}, target.depthFormat};
    }

    /** Descriptor sets of the selected frame: binding n is the n-th image that the pass samples, which are its first accesses. */
    const Inputs &inputs_of(const ThSelectedFrame &selected) {
        constexpr uint32_t UNUSED_FRAMES = 64; // Sets are freed after this many frames; those that used them are complete.
        for (auto known = inputs_.begin(); known != inputs_.end();)
            known = known->second.last + UNUSED_FRAMES < drawn_ ? inputs_.erase(known) : std::next(known);
        BoundInputs &inputs = inputs_.try_emplace(selected.bound, *passes_).first->second;
        inputs.last = drawn_;
        if (std::exchange(inputs.is_written[selected.parity], true)) return inputs.sets;
        for (uint32_t pass = SHADOW; pass <= TONE_MAP; pass++) {
            for (uint32_t binding = 0;; binding++) {
                const ThBoundAccess access = dynamic_.access(pass, binding).value();
                if (access.kind != TH_ACCESS_KIND_SAMPLED_IMAGE) break; // Every pass renders to something.
                inputs.sets.set(selected.parity, pass, binding, access.view, access.layout);
            }
        }
        return inputs.sets;
    }

    const Gpu &gpu_;
    Pictures &pictures_;
    tileheap::DynamicFrame dynamic_;
    tileheap::FrameBuilder builder_;
    VkExtent2D extent_ = {};
    Imports imports_ = {};
    std::unique_ptr<FrameInFlight> frames_[FRAMES_IN_FLIGHT];
    std::unique_ptr<Passes> passes_;
    /** By ThSelectedFrame::bound. */
    std::map<uint64_t, BoundInputs> inputs_;
    uint32_t drawn_ = 0;
};

void render(const Args &args) {
    RuntimeGpu runtime(args.tile_memory);
    Pictures pictures(args);
    {
        Renderer renderer(runtime, pictures);
        for (uint32_t frame = 0; frame < args.frames; frame++) renderer.draw(args.size_of(frame), args.has_halos(frame));
        renderer.finish();
    }
    runtime.device.destroy().value(); // Nothing is left on it.
    pictures.finish();
    std::printf("%u frames on %s, through the runtime\n%s\n", args.frames, runtime.gpu.name.c_str(), args.output.c_str());
}

} // namespace

int main(int count, char **arguments) {
    return run(count, arguments, "Renders a plaza by night on tileheap's runtime.", "runtime.png", render);
}
