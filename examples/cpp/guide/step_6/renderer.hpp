/* A deferred renderer on tileheap's runtime, which describes every frame as it is. */
#pragma once

#include <map>

#include <frame.hpp>
#include <guide.hpp>

using namespace guide;

class Renderer {
public:
    using Device = plaza::RuntimeGpu;
    static constexpr bool USES_TILE_MEMORY = true;
    static constexpr bool WAITS_TO_RESIZE = false;

    explicit Renderer(const Device &device) : pipelines_(device.gpu), dynamic_(tileheap::DynamicFrame::create(device.device).value()) {
        for (auto &commands : commands_) commands = std::make_unique<plaza::CommandBuffers>(device.gpu, 1);
    }

    /** Frames have this size from now on. */
    void resize(VkExtent2D size) { size_ = size; }

    /** Records and submits a frame. */
    void draw(const Shot &shot) {
        const plaza::CommandBuffers &commands = *commands_[shot.slot];
        commands.reset();
        describe(builder_, size_, shot.halos);
        const ThSelectedFrame selected = dynamic_.select(builder_).value();
        const Inputs &inputs = inputs_of(selected, shot);
        const ThImportedImage picture = tileheap::imported_image(PICTURE, shot.canvas.picture, shot.canvas.view);
        const ThImportedBuffer texels = tileheap::imported_buffer(TEXELS, shot.canvas.texels, shot.canvas.bytes());
        numbers_[shot.slot] = dynamic_.begin({{&picture, 1}, {&texels, 1}, {}, {}}).value();
        tileheap::Commands recording = dynamic_.begin_commands(0, commands.handles[0]).value();
        for (uint32_t index = 0; index < selected.passCount; index++) {
            const uint32_t pass = pass_at(index, shot.halos);
            const ThPassCommands begun = recording.begin_pass(index).value();
            if (pass == READ_BACK)
                plaza::copy_to_texels(begun.commandBuffer, shot.canvas);
            else
                inputs.draw(begun.commandBuffer, pass, begun.area, size_, shot.frame);
            recording.end_pass().value();
        }
        recording.end().value();
        dynamic_.submit().value();
    }

    /** Waits for a frame in flight. */
    void wait(uint32_t slot) const { dynamic_.wait(numbers_[slot]).value(); }

    /** A picture will be destroyed. */
    void forget(const Canvas &canvas) { dynamic_.forget_imported_view(canvas.view).value(); }

    Memory memory() const { return memory_; }

private:
    /** The pass with this index in a frame with or without halos. */
    static uint32_t pass_at(uint32_t index, bool halos) { return halos || index < HALOS ? index : index + 1; }

    /** The descriptor sets for the images that a frame is bound to; prints the plan the first time. */
    const Inputs &inputs_of(const ThSelectedFrame &selected, const Shot &shot) {
        constexpr uint32_t UNUSED_FRAMES = 64; // After which sets are freed: those frames are complete.
        for (auto known = inputs_.begin(); known != inputs_.end();)
            known = known->second.last + UNUSED_FRAMES < shot.frame ? inputs_.erase(known) : std::next(known);
        const auto [known, is_new] = inputs_.try_emplace(selected.bound, pipelines_);
        known->second.last = shot.frame;
        if (is_new) create_inputs(known->second.sets, shot.halos);
        return known->second.sets;
    }

    /** Prints the plan, and points each binding to the image that the pass samples. */
    void create_inputs(const Inputs &inputs, bool halos) {
        const tileheap::Plan plan = dynamic_.plan().value();
        std::printf("%s\n", plan.report().value().c_str());
        const ThPlanTotals totals = plan.totals().value();
        memory_ = {totals.arenaBytes, totals.tileBytes};
        for (uint32_t index = 0; pass_at(index, halos) < PASS_COUNT; index++) {
            const uint32_t pass = pass_at(index, halos);
            uint32_t binding = 0;
            for (uint32_t image : sampled_by(pass)) {
                const ThBoundAccess access = dynamic_.access_of(index, image).value();
                inputs.set(pass, binding++, access.view, access.layout);
            }
        }
    }

    /** Descriptor sets, and the last frame that used them. */
    struct BoundInputs {
        explicit BoundInputs(const Pipelines &pipelines) : sets(pipelines) {}

        Inputs sets;
        uint32_t last = 0;
    };

    Pipelines pipelines_;
    VkExtent2D size_ = {0, 0};
    tileheap::FrameBuilder builder_;
    tileheap::DynamicFrame dynamic_;
    /** By ThSelectedFrame::bound. */
    std::map<uint64_t, BoundInputs> inputs_;
    std::unique_ptr<plaza::CommandBuffers> commands_[FRAMES_IN_FLIGHT];
    /** The numbers of the frames in flight. */
    uint64_t numbers_[FRAMES_IN_FLIGHT] = {};
    Memory memory_ = {};
};
