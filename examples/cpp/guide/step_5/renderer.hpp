/* A deferred renderer on tileheap's runtime. */
#pragma once

#include <frame.hpp>
#include <guide.hpp>

using namespace guide;

class Renderer {
public:
    using Device = plaza::RuntimeGpu;
    static constexpr bool USES_TILE_MEMORY = true;
    static constexpr bool WAITS_TO_RESIZE = true;

    explicit Renderer(const Device &device) : device_(device.device), pipelines_(device.gpu) {
        for (auto &commands : commands_) commands = std::make_unique<plaza::CommandBuffers>(device.gpu, 1);
    }

    /** Describes the frame of this size. All frames have completed. */
    void resize(VkExtent2D size) {
        size_ = size;
        describe(builder_, size);
        dynamic_ = tileheap::DynamicFrame::create(device_).value();
        inputs_.reset();
    }

    /** Records and submits a frame. */
    void draw(const Shot &shot) {
        const plaza::CommandBuffers &commands = *commands_[shot.slot];
        commands.reset();
        dynamic_.select(builder_).value();
        if (!inputs_) create_inputs();
        const ThImportedImage picture = tileheap::imported_image(PICTURE, shot.canvas.picture, shot.canvas.view);
        const ThImportedBuffer texels = tileheap::imported_buffer(TEXELS, shot.canvas.texels, shot.canvas.bytes());
        numbers_[shot.slot] = dynamic_.begin({{&picture, 1}, {&texels, 1}, {}, {}}).value();
        tileheap::Commands recording = dynamic_.begin_commands(0, commands.handles[0]).value();
        for (uint32_t pass = 0; pass < PASS_COUNT; pass++) {
            if (pass == HALOS && !shot.halos) {
                recording.skip(pass).value();
                continue;
            }
            const ThPassCommands begun = recording.begin_pass(pass).value();
            if (pass == READ_BACK)
                plaza::copy_to_texels(begun.commandBuffer, shot.canvas);
            else
                inputs_->draw(begun.commandBuffer, pass, begun.area, size_, shot.frame);
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
    /** Prints the plan, and points each binding to the image that the pass samples: they are the same in all frames of a size. */
    void create_inputs() {
        const tileheap::Plan plan = dynamic_.plan().value();
        std::printf("%s\n", plan.report().value().c_str());
        const ThPlanTotals totals = plan.totals().value();
        memory_ = {totals.arenaBytes, totals.tileBytes};
        inputs_ = std::make_unique<Inputs>(pipelines_);
        for (uint32_t pass = 0; pass < PASS_COUNT; pass++) {
            uint32_t binding = 0;
            for (uint32_t image : sampled_by(pass)) {
                const ThBoundAccess access = dynamic_.access_of(pass, image).value();
                inputs_->set(pass, binding++, access.view, access.layout);
            }
        }
    }

    const tileheap::Device &device_;
    Pipelines pipelines_;
    VkExtent2D size_ = {0, 0};
    tileheap::FrameBuilder builder_;
    tileheap::DynamicFrame dynamic_;
    std::unique_ptr<Inputs> inputs_;
    std::unique_ptr<plaza::CommandBuffers> commands_[FRAMES_IN_FLIGHT];
    /** The numbers of the frames in flight. */
    uint64_t numbers_[FRAMES_IN_FLIGHT] = {};
    Memory memory_ = {};
};
