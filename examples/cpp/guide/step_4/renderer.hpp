/* A deferred renderer that executes tileheap's tables. */
#pragma once

#include <frame.hpp>
#include <guide.hpp>

#include "../../tables/executor.hpp"

using namespace guide;

class Renderer {
public:
    using Device = Gpu;
    static constexpr bool USES_TILE_MEMORY = true;
    static constexpr bool WAITS_TO_RESIZE = true;

    explicit Renderer(const Gpu &gpu) : gpu_(gpu), pipelines_(gpu) {
        for (auto &commands : commands_) commands = std::make_unique<plaza::CommandBuffers>(gpu, 1);
    }

    /** Creates the images of this size. All frames have completed. */
    void resize(VkExtent2D size) {
        size_ = size;
        const tileheap::Frame frame = describe(size);
        plan_ = tileheap::Plan::create({frame, gpu_.requirements(frame), gpu_.profile}).value();
        std::printf("%s\n", plan_.report().value().c_str());
        lowerer_ = tileheap::Lowerer::create().value();
        tables_ = lower(nullptr);
        executor_.reset();
        executor_ = std::make_unique<tables::Executor>(gpu_.device, gpu_.allocator, std::vector<VkQueue>{gpu_.queue}, tables_);
        inputs_.reset();
    }

    /** Records and submits a frame. */
    void draw(const Shot &shot) {
        const plaza::CommandBuffers &commands = *commands_[shot.slot];
        commands.reset();
        executor_->import_image(PICTURE, shot.canvas.picture);
        executor_->import_buffer(TEXELS, shot.canvas.texels);
        if (inputs_)
            tables_ = lower(lowerer_);
        else
            create_inputs(); // The first frame of this size, which resize() has lowered.
        progress_[shot.slot] = executor_->execute(tables_, commands.handles, [&](const tables::Recording &recording) {
            if (recording.pass == READ_BACK) return plaza::copy_to_texels(recording.commands, shot.canvas);
            if (recording.pass == HALOS && !shot.halos) return; // Its barriers and attachments stay.
            inputs_->draw(recording.commands, recording.pass, recording.instance->area, size_, shot.frame);
        });
    }

    /** Waits for a frame in flight. */
    void wait(uint32_t slot) const { executor_->wait(progress_[slot]); }

    /** A picture will be destroyed. */
    void forget(const Canvas &canvas) { executor_->destroy_views(canvas.picture); }

    Memory memory() const {
        const ThPlanTotals totals = plan_.totals().value();
        return {totals.arenaBytes, totals.tileBytes};
    }

private:
    tileheap::Tables lower(ThLowerer previous) {
        const ThFamilyQueue queue = {gpu_.family, 0};
        return lowerer_.lower(plan_, {&queue, 1}, previous).value();
    }

    /** Points each binding to the image that the pass samples: they are the same in all frames of a size. */
    void create_inputs() {
        inputs_ = std::make_unique<Inputs>(pipelines_);
        executor_->prepare(tables_);
        uint32_t pass = 0, binding = 0;
        for (const ThAccessRow &access : tables_.accesses) {
            if (access.pass != pass) binding = 0;
            pass = access.pass;
            if (access.kind == TH_ACCESS_KIND_SAMPLED_IMAGE) inputs_->set(pass, binding++, executor_->view(access.view), access.layout);
        }
    }

    const Gpu &gpu_;
    Pipelines pipelines_;
    VkExtent2D size_ = {0, 0};
    tileheap::Plan plan_;
    tileheap::Lowerer lowerer_;
    /** Tables of the last lowered frame, owned by `lowerer_`. */
    tileheap::Tables tables_;
    std::unique_ptr<tables::Executor> executor_;
    std::unique_ptr<Inputs> inputs_;
    std::unique_ptr<plaza::CommandBuffers> commands_[FRAMES_IN_FLIGHT];
    /** When the frames in flight are complete. */
    tables::Progress progress_[FRAMES_IN_FLIGHT];
};
