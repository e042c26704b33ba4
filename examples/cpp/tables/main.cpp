/*
 * A deferred renderer on planned memory: shadows, G-buffer, lighting, halos that can be left out, temporal antialiasing, bloom, tone mapping.
 *
 * frame.cpp describes the frame; this file plans it and lowers the plan for every frame; executor.hpp executes the tables; passes.cpp records
 * what passes draw. Tile memory is used on devices with VK_QCOM_tile_memory_heap, or under the emulator layer.
 */
#include <cstdio>
#include <memory>

#include "../plaza/args.hpp"
#include "../plaza/commands.hpp"
#include "../plaza/frame.hpp"
#include "../plaza/gpu.hpp"
#include "../plaza/passes.hpp"
#include "../plaza/picture.hpp"
#include "executor.hpp"

namespace {

using namespace plaza;

/** The maximum number of frames in flight. */
constexpr uint32_t FRAMES_IN_FLIGHT = 2;

/** Resources of one frame in flight. */
struct FrameInFlight {
    FrameInFlight(const Gpu &gpu, VkExtent2D extent, uint32_t command_buffers) : commands(gpu, command_buffers), canvas(gpu, extent) {}

    CommandBuffers commands;
    Canvas canvas;
    /** When its last frame is complete; empty before the first. */
    tables::Progress complete;
};

/** The frame at one size: planned, created, and executed as often as needed. */
class Renderer {
public:
    /** Creates `passes` if there are none; they do not depend on the size. */
    Renderer(const Gpu &gpu, VkExtent2D extent, tileheap::Planner &planner, std::unique_ptr<Passes> &passes)
        : gpu_(gpu), extent_(extent) {
        tileheap::FrameBuilder builder;
        imports_ = describe(builder, extent);
        const tileheap::Frame described = builder.build().value();
        const tileheap::Requirements requirements = gpu.requirements(described);
        plan_ = tileheap::Plan::create({described, requirements, gpu.profile, nullptr, planner}).value();
        lowerer_ = tileheap::Lowerer::create().value();
        tables_ = lower(nullptr);
        executor_ = std::make_unique<tables::Executor>(gpu.device, gpu.allocator, std::vector<VkQueue>{gpu.queue}, tables_);
        if (!passes) passes = std::make_unique<Passes>(gpu.device, [&](uint32_t pass) { return target(pass); });
        passes_ = passes.get();
        inputs_ = std::make_unique<Inputs>(*passes_);
        for (auto &frame : frames_) frame = std::make_unique<FrameInFlight>(gpu, extent, uint32_t(tables_.command_buffers.size()));
    }
    /** Waits for frames in flight, which an error may leave. */
    ~Renderer() { vkDeviceWaitIdle(gpu_.device); }

    const tileheap::Plan &plan() const { return plan_; }

    /** Draws a frame. */
    void draw(uint32_t number, bool halos) {
        if (drawn_ > 0) tables_ = lower(lowerer_);
        FrameInFlight &frame = *frames_[drawn_ % FRAMES_IN_FLIGHT];
        frame.commands.reset();
        executor_->import_image(imports_.picture, frame.canvas.picture);
        executor_->import_buffer(imports_.texels, frame.canvas.texels);
        if (drawn_ < 2) write_inputs(); // Frames of one parity use the same images.
        const Constants constants = {extent_, number};
        frame.complete = executor_->execute(tables_, frame.commands.handles, [&](const tables::Recording &recording) {
            const uint32_t pass = recording.pass;
            if (pass == READ_BACK) return copy_to_texels(recording.commands, frame.canvas);
            if (pass == HALOS && !halos) return; // Its barriers and attachments stay.
            passes_->draw(recording.commands, pass, recording.instance->area, inputs_->of(tables_.parity, pass), constants);
        });
        drawn_++;
    }

    /** The picture of the oldest frame that was not read, once it is complete. */
    std::vector<uint8_t> next_picture() {
        const FrameInFlight &frame = *frames_[read_++ % FRAMES_IN_FLIGHT];
        executor_->wait(frame.complete);
        return frame.canvas.read();
    }
    bool has_pictures() const { return read_ < drawn_; }
    bool is_full() const { return drawn_ - read_ == FRAMES_IN_FLIGHT; }

private:
    tileheap::Tables lower(ThLowerer previous) {
        const ThFamilyQueue queue = {gpu_.family, 0};
        return lowerer_.lower(plan_, {&queue, 1}, previous).value();
    }

    /** The formats of a pass's attachments, as planned. */
    Target target(uint32_t pass) const {
        for (const ThInstanceRow &row : tables_.instances) {
            if (row.pass != pass) continue;
            const ThSubpassRow &subpass = tables_.subpasses[row.subpasses.first];
            const auto formats = tables_.formats[subpass.colorFormats];
            return {{formats.begin(), formats.end()}, subpass.depthFormat};
        }
        throw std::logic_error("every pass but the last is a render pass");
    }

    /** Points descriptor sets to the images of this frame: binding n is the n-th one that the pass samples. */
    void write_inputs() const {
        executor_->prepare(tables_);
        uint32_t pass = 0, binding = 0;
        for (const ThAccessRow &access : tables_.accesses) {
            if (access.pass != pass) binding = 0;
            pass = access.pass;
            if (access.kind == TH_ACCESS_KIND_SAMPLED_IMAGE)
                inputs_->set(tables_.parity, pass, binding++, executor_->view(access.view), access.layout);
        }
    }

    const Gpu &gpu_;
    VkExtent2D extent_;
    Imports imports_ = {};
    tileheap::Plan plan_;
    tileheap::Lowerer lowerer_;
    /** Tables of the last lowered frame, owned by `lowerer_`. */
    tileheap::Tables tables_;
    /** Outlive the executor, which has views of their images. */
    std::unique_ptr<FrameInFlight> frames_[FRAMES_IN_FLIGHT];
    std::unique_ptr<tables::Executor> executor_;
    const Passes *passes_ = nullptr;
    std::unique_ptr<Inputs> inputs_;
    /** Frames that were drawn, and pictures that were read. */
    uint32_t drawn_ = 0, read_ = 0;
};

void render(const Args &args) {
    const Gpu gpu(args.tile_memory);
    tileheap::Planner planner = tileheap::Planner::create().value();
    Pictures pictures(args);
    std::unique_ptr<Passes> passes;
    std::unique_ptr<Renderer> renderer;
    VkExtent2D size = {0, 0};
    const auto keep_picture = [&] { pictures.add(size, renderer->next_picture()); };
    for (uint32_t frame = 0; frame < args.frames; frame++) {
        const VkExtent2D wanted = args.size_of(frame);
        if (wanted.width != size.width || wanted.height != size.height) {
            while (renderer && renderer->has_pictures()) keep_picture();
            renderer.reset();
            size = wanted;
            renderer = std::make_unique<Renderer>(gpu, size, planner, passes);
            std::printf("%s\n", renderer->plan().report().value().c_str());
        }
        if (renderer->is_full()) keep_picture();
        renderer->draw(frame, args.has_halos(frame));
    }
    while (renderer->has_pictures()) keep_picture();
    pictures.finish();
    std::printf("%u frames on %s, executed from tables\n%s\n", args.frames, gpu.name.c_str(), args.output.c_str());
}

} // namespace

int main(int count, char **arguments) {
    return run(count, arguments, "Renders a plaza by night by executing tileheap's tables.", "tables.png", render);
}
