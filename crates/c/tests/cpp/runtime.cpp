/*
 * Runs the plaza's frame, without draws, through the runtime in tileheap.hpp: threads, late imports, areas, submissions by the program, exceptions in
 * callbacks, and calls that are wrong. Prints what each test has done; the first check that fails ends the program.
 */
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <thread>

#include "../../../../examples/cpp/plaza/commands.hpp"
#include "../../../../examples/cpp/plaza/frame.hpp"
#include "../../../../examples/cpp/plaza/picture.hpp"
#include "../../../../examples/cpp/plaza/runtime_gpu.hpp"

using namespace plaza;
using tileheap::Commands;
using tileheap::DynamicFrame;
using tileheap::WaitStatus;

namespace {

#define CHECK(...) require((__VA_ARGS__) ? true : false, #__VA_ARGS__, __LINE__)

void require(bool condition, const char *text, int line) {
    if (condition) return;
    std::fprintf(stderr, "runtime.cpp:%d: %s is false\n", line, text);
    std::exit(1);
}

/** A call failed with a status, and a message that contains a text. */
template <class T>
void expect(const tileheap::Result<T> &result, ThStatus status, std::string_view text, int line) {
    if (!result && result.error().status == status && result.error().message.find(text) != std::string::npos) return;
    if (result)
        std::fprintf(stderr, "runtime.cpp:%d: the call succeeded\n", line);
    else
        std::fprintf(stderr, "runtime.cpp:%d: %d: %s\n", line, int(result.error().status), result.error().message.c_str());
    std::exit(1);
}
#define EXPECT(result, status, text) expect(result, status, text, __LINE__)

constexpr VkExtent2D EXTENT = {64, 64};

/** A dynamic frame with the plaza's description, its imports and its command buffers. */
struct Plaza {
    explicit Plaza(const Gpu &gpu, const tileheap::Device &device)
        : dynamic(DynamicFrame::create(device).value()), canvas(gpu, EXTENT), commands(gpu, COMMAND_BUFFER_COUNT), ids(describe(builder, EXTENT)) {
        picture = tileheap::imported_image(ids.picture, canvas.picture, canvas.view);
        texels = tileheap::imported_buffer(ids.texels, canvas.texels, canvas.bytes());
    }

    tileheap::Imports imports() const { return {{&picture, 1}, {&texels, 1}, {}, {}}; }
    Commands open(uint32_t index) const { return dynamic.begin_commands(index, commands.handles[index]).value(); }
    /** Records the passes of a command buffer, without draws. */
    void record(uint32_t index) const {
        Commands recording = open(index);
        for (uint32_t pass = COMMAND_BUFFERS[index]; pass < COMMAND_BUFFERS[index + 1]; pass++) {
            const ThPassCommands begun = recording.begin_pass(pass).value();
            CHECK(begun.commandBuffer == commands.handles[index]);
            if (pass == READ_BACK) copy_to_texels(begun.commandBuffer, canvas);
            recording.end_pass().value();
        }
        recording.end().value();
    }
    /** Selects and begins a frame whose command buffers can be recorded. */
    uint64_t begin() {
        commands.reset();
        dynamic.select(builder).value();
        return dynamic.begin(imports()).value();
    }
    void run() {
        const uint64_t number = begin();
        for (uint32_t index = 0; index < COMMAND_BUFFER_COUNT; index++) record(index);
        dynamic.submit().value();
        CHECK(*dynamic.wait(number) == WaitStatus::complete);
    }

    DynamicFrame dynamic;
    Canvas canvas;
    CommandBuffers commands;
    tileheap::FrameBuilder builder;
    Imports ids;
    ThImportedImage picture = {};
    ThImportedBuffer texels = {};
};

void test_devices(RuntimeGpu &runtime) {
    const tileheap::Profile profile = runtime.device.profile().value();
    CHECK(profile.info()->features & TH_FEATURE_FLAG_TIMELINE_SEMAPHORE);
    CHECK(!runtime.device.report()->empty() && !runtime.device.is_lost());
    bool is_idle = false;
    runtime.device
        .use_queues([&] {
            CHECK(!runtime.device.trim()); // From inside.
            is_idle = vkDeviceWaitIdle(runtime.gpu.device) == VK_SUCCESS;
        })
        .value();
    CHECK(is_idle);
    bool is_thrown = false;
    try {
        (void)runtime.device.use_queues([] { throw std::logic_error("the program's own"); });
    } catch (const std::logic_error &) {
        is_thrown = true;
    }
    CHECK(is_thrown && runtime.device.use_queues([] {}));
    auto wrong = runtime.desc();
    CHECK(!tileheap::Device::create(wrong)); // Without an allocator.
    wrong.queueCount = 0;
    CHECK(!tileheap::Device::create(wrong, runtime.blocks));
    wrong = runtime.desc();
    wrong.additions = nullptr;
    EXPECT(tileheap::Device::create(wrong, runtime.blocks), TH_STATUS_ERROR_INVALID_HANDLE, "");
    wrong = runtime.desc();
    wrong.structSize = 4;
    EXPECT(tileheap::Device::create(wrong, runtime.blocks), TH_STATUS_ERROR_STRUCT_SIZE, "");
    wrong = runtime.desc();
    wrong.device = VK_NULL_HANDLE;
    EXPECT(tileheap::Device::create(wrong, runtime.blocks), TH_STATUS_ERROR_NULL_POINTER, "device");

    tileheap::Device device = tileheap::Device::create(runtime.desc(), runtime.blocks).value();
    DynamicFrame frame = DynamicFrame::create(device).value();
    EXPECT(device.destroy(), TH_STATUS_ERROR_IN_USE, "");
    CHECK(device.get() && frame.destroy() && !frame.get() && device.destroy() && !device.get());
    std::puts("devices");
}

void test_frames(const RuntimeGpu &runtime) {
    Plaza plaza(runtime.gpu, runtime.device);
    DynamicFrame &dynamic = plaza.dynamic;
    CHECK(dynamic.completed().value() == 0);
    uint64_t bound = 0;
    for (uint64_t count = 1; count <= 4; count++) {
        plaza.run();
        CHECK(dynamic.completed().value() == count);
        const ThSelectedFrame selected = dynamic.select(plaza.builder).value();
        CHECK(selected.passCount == PASS_COUNT && selected.commandBufferCount == COMMAND_BUFFER_COUNT && selected.queueCount == 1);
        CHECK(selected.parity == (count % 2 ? TH_PARITY_ODD : TH_PARITY_EVEN) && (count == 1 || selected.bound == bound));
        bound = selected.bound;
    }
    CHECK(dynamic.plan().value().check() && dynamic.queue(0)->queue == runtime.gpu.queue);
    const ThPassTarget target = dynamic.target(GBUFFER).value();
    CHECK(target.colorFormatCount == 3 && target.colorFormats[0] == VK_FORMAT_R8G8B8A8_UNORM && target.depthFormat == VK_FORMAT_D32_SFLOAT);
    const ThBoundAccess sampled = dynamic.access(TEMPORAL, 0).value();
    CHECK(sampled.kind == TH_ACCESS_KIND_SAMPLED_IMAGE && sampled.view && sampled.image);
    CHECK(dynamic.access_of(TEMPORAL, sampled.resource)->view == sampled.view);
    const ThBoundAccess history = dynamic.access(TEMPORAL, 2).value(), now = dynamic.access(TEMPORAL, 3).value();
    CHECK(history.version == TH_HISTORY_VERSION_PREVIOUS && now.version == TH_HISTORY_VERSION_CURRENT && history.image != now.image);
    CHECK(dynamic.access_of(TEMPORAL, now.resource, TH_HISTORY_VERSION_PREVIOUS)->image == history.image);
    CHECK(dynamic.access_of(TEMPORAL, now.resource)->image == now.image);
    EXPECT(dynamic.access_of(TEMPORAL, 0), TH_STATUS_ERROR_INVALID_ARGUMENT, "no access of resource 0");
    EXPECT(dynamic.access_of(99, 0), TH_STATUS_ERROR_INVALID_ARGUMENT, "99");

    describe(plaza.builder, {32, 32}); // Another description, and the first again.
    CHECK(dynamic.select(plaza.builder)->bound != bound);
    describe(plaza.builder, EXTENT);
    plaza.run();
    // The same frame as an object: it has the same passes.
    const tileheap::Frame created = plaza.builder.build().value();
    const ThSelectedFrame selected = dynamic.select_created(created).value();
    CHECK(selected.passCount == PASS_COUNT && selected.bound != bound && dynamic.select_created(created)->bound == selected.bound);
    EXPECT(dynamic.select_created(nullptr), TH_STATUS_ERROR_INVALID_HANDLE, "ThFrame");
    CHECK(dynamic.abandon() || dynamic.destroy());
    std::puts("frames");
}

void test_threads_and_late_imports(const RuntimeGpu &runtime) {
    Plaza plaza(runtime.gpu, runtime.device);
    DynamicFrame &dynamic = plaza.dynamic;
    CommandBuffers other(runtime.gpu, COMMAND_BUFFER_COUNT); // A pool for each thread.
    for (int time = 0; time < 4; time++) {
        plaza.commands.reset();
        other.reset();
        dynamic.select(plaza.builder).value();
        const uint64_t number = dynamic.begin().value();
        EXPECT(dynamic.begin_commands(1, other.handles[1]), TH_STATUS_ERROR_WRONG_STATE, "picture");
        dynamic.import_resources(plaza.imports()).value();
        std::swap(plaza.commands.handles[1], other.handles[1]);
        std::thread scene([&] { plaza.record(0); });
        std::thread post([&] { plaza.record(1); });
        std::thread waiter([&] { CHECK(!dynamic.wait(number, 0)); }); // It is not submitted.
        for (std::thread *thread : {&scene, &post, &waiter}) thread->join();
        std::swap(plaza.commands.handles[1], other.handles[1]);
        dynamic.submit().value();
        std::thread([&] { CHECK(*dynamic.wait(number) == WaitStatus::complete); }).join();
        EXPECT(dynamic.wait(number + 7), TH_STATUS_ERROR_WRONG_STATE, "");
    }
    dynamic.forget_imported_view(plaza.canvas.view).value();
    std::puts("threads and late imports");
}

void test_areas_and_skipped_passes(const RuntimeGpu &runtime) {
    Plaza plaza(runtime.gpu, runtime.device);
    DynamicFrame &dynamic = plaza.dynamic;
    const uint64_t number = plaza.begin();
    const VkRect2D part = {{16, 8}, {32, 24}}, outside = {{0, 0}, {65, 64}};
    dynamic.set_render_area(LIGHTING, &part).value();
    EXPECT(dynamic.set_render_area(LIGHTING, &outside), TH_STATUS_ERROR_INVALID_ARGUMENT, "lighting");
    EXPECT(dynamic.set_render_area(READ_BACK, &part), TH_STATUS_ERROR_INVALID_ARGUMENT, "read_back");
    Commands scene = plaza.open(0);
    EXPECT(scene.skip(SHADOW), TH_STATUS_ERROR_INVALID_ARGUMENT, "shadow"); // It is not optional.
    for (const uint32_t pass : {SHADOW, GBUFFER}) CHECK(scene.begin_pass(pass) && scene.end_pass());
    const ThPassCommands lighting = scene.begin_pass(LIGHTING).value();
    CHECK(lighting.area.offset.x == 16 && lighting.area.extent.height == 24 && lighting.viewport.x == 16 && lighting.viewport.width == 32);
    CHECK(scene.end_pass() && scene.skip(HALOS) && scene.end());
    plaza.record(1);
    CHECK(dynamic.submit() && *dynamic.wait(number) == WaitStatus::complete);
    std::puts("areas and skipped passes");
}

void test_wrong_calls(const RuntimeGpu &runtime) {
    Plaza plaza(runtime.gpu, runtime.device);
    DynamicFrame &dynamic = plaza.dynamic;
    const VkCommandBuffer handle = plaza.commands.handles[0];
    const ThStatus state = TH_STATUS_ERROR_WRONG_STATE, argument = TH_STATUS_ERROR_INVALID_ARGUMENT, in_use = TH_STATUS_ERROR_IN_USE;
    // Before a frame is selected.
    EXPECT(dynamic.begin(), state, "thSelectFrame");
    EXPECT(dynamic.plan(), state, "thSelectFrame");
    EXPECT(dynamic.queue(0), state, "thSelectFrame");
    EXPECT(dynamic.target(0), state, "thSelectFrame");
    EXPECT(dynamic.access(0, 0), state, "thSelectFrame");
    EXPECT(dynamic.submit(), state, "thBeginFrame");
    EXPECT(dynamic.select(tileheap::sized<ThFrameDesc>()), TH_STATUS_ERROR_NULL_POINTER, "name");
    tileheap::FrameBuilder wrong_frame("wrong", EXTENT);
    wrong_frame.render_pass("draw").color(wrong_frame.image("nothing", VK_FORMAT_UNDEFINED), tileheap::LoadOp::dont_care());
    EXPECT(dynamic.select(wrong_frame), TH_STATUS_ERROR_INVALID_FRAME, "nothing");
    // Before it is begun.
    dynamic.select(plaza.builder).value();
    EXPECT(dynamic.begin_commands(0, handle), state, "thBeginFrame");
    EXPECT(dynamic.import_resources(plaza.imports()), state, "thBeginFrame");
    EXPECT(dynamic.set_render_area(0, nullptr), state, "thBeginFrame");
    EXPECT(dynamic.submit(), state, "thBeginFrame");
    EXPECT(dynamic.begin_secondary(handle, 0), state, "thBeginFrame");
    EXPECT(dynamic.discard_frame(), state, "thBeginFrame");
    EXPECT(dynamic.target(99), argument, "99");
    EXPECT(dynamic.target(0, 5), argument, "5");
    EXPECT(dynamic.target(READ_BACK), argument, "read_back");
    EXPECT(dynamic.access(99, 0), argument, "99");
    EXPECT(dynamic.access(0, 99), argument, "99");
    EXPECT(dynamic.queue(9), argument, "9");
    ThImportedImage wrong = plaza.picture;
    wrong.resource = 77;
    EXPECT(dynamic.begin({{&wrong, 1}, {}, {}, {}}), argument, "77");
    wrong.resource = 0;
    EXPECT(dynamic.begin({{&wrong, 1}, {}, {}, {}}), argument, "shadow"); // It is not external.
    // While it is recorded.
    plaza.begin();
    EXPECT(dynamic.begin_commands(5, handle), argument, "5");
    EXPECT(dynamic.begin_commands(0, VK_NULL_HANDLE), TH_STATUS_ERROR_NULL_POINTER, "");
    EXPECT(dynamic.set_render_area(99, nullptr), argument, "99");
    {
        Commands commands = plaza.open(0);
        EXPECT(dynamic.begin_commands(0, handle), state, "scene");
        EXPECT(dynamic.submit(), in_use, "");
        EXPECT(dynamic.import_resources(plaza.imports()), in_use, "");
        EXPECT(dynamic.select(plaza.builder), in_use, "");
        EXPECT(dynamic.destroy(), in_use, "");
        EXPECT(commands.begin_pass(GBUFFER), state, "shadow");
        EXPECT(commands.begin_pass(99), argument, "99");
        EXPECT(commands.end_pass(), state, "begun");
        EXPECT(commands.next_subpass(), state, "");
        EXPECT(commands.execute({}), state, "");
        CHECK(commands.begin_pass(SHADOW));
        EXPECT(commands.begin_pass(GBUFFER), state, "shadow");
        EXPECT(commands.skip(HALOS), state, "");
        CHECK(commands.end_pass());
        EXPECT(commands.end(), state, "gbuffer"); // Not all passes were recorded.
        CHECK(!commands.get());
        EXPECT(commands.end_pass(), TH_STATUS_ERROR_INVALID_HANDLE, "");
    }
    dynamic.discard_frame().value();
    // Discarded work has no effect: a command buffer that is not finished, and a frame that is not submitted.
    plaza.begin();
    try {
        Commands commands = plaza.open(0);
        CHECK(commands.begin_pass(SHADOW));
        throw std::runtime_error("the program's own");
    } catch (const std::runtime_error &) {
    }
    dynamic.discard_frame().value();
    plaza.run();
    CHECK(dynamic.completed().value() == 1);
    // Handles that are gone.
    Commands commands;
    plaza.begin();
    commands = plaza.open(0);
    const Commands alias(commands.get(), nullptr);
    commands.discard().value();
    EXPECT(const_cast<Commands &>(alias).end_pass(), TH_STATUS_ERROR_INVALID_HANDLE, "");
    dynamic.discard_frame().value();
    dynamic.destroy().value();
    EXPECT(dynamic.begin(), TH_STATUS_ERROR_INVALID_HANDLE, "");
    std::puts("wrong calls");
}

void test_own_submissions(const RuntimeGpu &runtime) {
    Plaza plaza(runtime.gpu, runtime.device);
    DynamicFrame &dynamic = plaza.dynamic;
    uint64_t number = plaza.begin();
    for (uint32_t index = 0; index < COMMAND_BUFFER_COUNT; index++) plaza.record(index);
    uint32_t calls = 0;
    dynamic.submit_with([&](const ThSubmitCall &call) {
               calls++;
               CHECK(call.queue == runtime.gpu.queue && call.submits && !call.olderSubmits && call.submitCount > 0);
               CHECK(!dynamic.submit()); // From inside.
               return vkQueueSubmit2(call.queue, call.submitCount, call.submits, call.fence);
           })
        .value();
    CHECK(calls == 1 && *dynamic.wait(number) == WaitStatus::complete);

    struct Unusual {
        int number;
    };
    number = plaza.begin();
    for (uint32_t index = 0; index < COMMAND_BUFFER_COUNT; index++) plaza.record(index);
    int thrown = 0;
    try {
        (void)dynamic.submit_with([](const ThSubmitCall &) -> VkResult { throw Unusual{7}; });
    } catch (const Unusual &unusual) {
        thrown = unusual.number;
    }
    CHECK(thrown == 7);
    CHECK(dynamic.completed().value() == 1);
    CHECK(dynamic.destroy());
    std::puts("own submissions");
}

/** Losses that a callback and the program report, on devices of tileheap's of their own: the VkDevice itself is not lost. */
void test_lost_devices(const RuntimeGpu &runtime) {
    VmaBlocks blocks(runtime.gpu.allocator);
    for (const bool submitting : {true, false}) {
        tileheap::Device device = tileheap::Device::create(runtime.desc(), blocks).value();
        Plaza plaza(runtime.gpu, device);
        DynamicFrame &dynamic = plaza.dynamic;
        plaza.run();
        EXPECT(dynamic.abandon(), TH_STATUS_ERROR_WRONG_STATE, "thDestroyDynamicFrame"); // Nothing is lost.
        plaza.begin();
        for (uint32_t index = 0; index < COMMAND_BUFFER_COUNT; index++) plaza.record(index);
        if (submitting) {
            const auto lost = dynamic.submit_with([](const ThSubmitCall &) { return VK_ERROR_DEVICE_LOST; });
            EXPECT(lost, TH_STATUS_ERROR_DEVICE_LOST, "");
            CHECK(lost.error().result == VK_ERROR_DEVICE_LOST);
        } else {
            device.report_lost().value();
        }
        CHECK(device.is_lost());
        EXPECT(device.trim(), TH_STATUS_ERROR_DEVICE_LOST, "");
        check(vkDeviceWaitIdle(runtime.gpu.device), "vkDeviceWaitIdle");
        CHECK(dynamic.abandon() && !dynamic.get() && device.destroy());
    }
    std::puts("lost devices");
}

/** A render pass and a copy whose contents are in secondary command buffers; the picture has the clear value. */
void test_secondaries(const RuntimeGpu &runtime) {
    enum : uint32_t { DRAW, COPY };
    const Gpu &gpu = runtime.gpu;
    tileheap::FrameBuilder builder("secondaries", EXTENT);
    const uint32_t color = builder.image("color", VK_FORMAT_R8G8B8A8_UNORM), texels = builder.buffer("texels", EXTENT.width * EXTENT.height * 4);
    builder[texels].persistence = TH_PERSISTENCE_READ_BACK;
    builder.render_pass("draw").color(color, tileheap::LoadOp::clear_color(1, 0, 0, 1)).desc.flags = TH_PASS_FLAG_SECONDARY;
    builder.transfer_pass("copy").transfer_source(color).transfer_destination(texels);

    DynamicFrame dynamic = DynamicFrame::create(runtime.device).value();
    const Canvas canvas(gpu, EXTENT);
    const ThImportedBuffer import = tileheap::imported_buffer(texels, canvas.texels, canvas.bytes());
    const CommandBuffers primary(gpu, 1);
    const CommandBuffers secondaries(gpu, 2, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    const VkCommandBuffer draw = secondaries.handles[DRAW], copy = secondaries.handles[COPY];
    for (int time = 0; time < 2; time++) {
        primary.reset();
        secondaries.reset();
        dynamic.select(builder).value();
        const uint64_t number = dynamic.begin({{}, {&import, 1}, {}, {}}).value();
        EXPECT(dynamic.begin_secondary(draw, COPY), TH_STATUS_ERROR_INVALID_ARGUMENT, "copy");
        EXPECT(dynamic.begin_secondary(draw, DRAW, 1), TH_STATUS_ERROR_INVALID_ARGUMENT, "1");
        EXPECT(dynamic.bind_secondary_tile_memory(copy, 9), TH_STATUS_ERROR_INVALID_ARGUMENT, "9");
        EXPECT(dynamic.bind_secondary_tile_memory(copy, DRAW), TH_STATUS_ERROR_INVALID_ARGUMENT, "draw"); // A render pass.
        dynamic.begin_secondary(draw, DRAW).value();
        check(vkEndCommandBuffer(draw), "vkEndCommandBuffer");
        const auto inheritance = make<VkCommandBufferInheritanceInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO);
        auto begin = make<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
        begin.pInheritanceInfo = &inheritance;
        check(vkBeginCommandBuffer(copy, &begin), "vkBeginCommandBuffer");
        dynamic.bind_secondary_tile_memory(copy, COPY).value();
        const ThBoundAccess source = dynamic.access(COPY, 0).value(), target = dynamic.access(COPY, 1).value();
        CHECK(source.image && !source.buffer && target.buffer == canvas.texels && target.size == canvas.bytes());
        VkBufferImageCopy region = {};
        region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        region.imageExtent = {EXTENT.width, EXTENT.height, 1};
        vkCmdCopyImageToBuffer(copy, source.image, source.layout, target.buffer, 1, &region);
        check(vkEndCommandBuffer(copy), "vkEndCommandBuffer");

        Commands commands = dynamic.begin_commands(0, primary.handles[0]).value();
        CHECK(commands.begin_pass(DRAW) && commands.execute({&draw, 1}) && commands.end_pass());
        CHECK(commands.begin_pass(COPY) && commands.execute({&copy, 1}) && commands.end_pass() && commands.end());
        CHECK(dynamic.submit() && *dynamic.wait(number) == WaitStatus::complete);
        const std::vector<uint8_t> red = {255, 0, 0, 255}, read = canvas.read();
        for (size_t byte = 0; byte < read.size(); byte++) CHECK(read[byte] == red[byte % 4]);
    }
    std::puts("secondaries");
}

/** Blocks of VMA, until it is told to fail. */
struct FailingBlocks {
    VkResult allocate(const ThBlockRequest &request, ThBlock &block) {
        asked++;
        if (throws == 1) throw std::bad_alloc();
        if (throws == 2) throw std::logic_error("a defect of the program");
        if (throws == 3) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
        const VkResult result = blocks.allocate(request, block);
        held += result == VK_SUCCESS;
        return result;
    }
    void free(const ThBlock &block) {
        held--;
        blocks.free(block);
        if (throws == 4) throw std::logic_error("freeing has a defect");
    }

    VmaBlocks blocks;
    int throws = 0;
    int asked = 0;
    int held = 0;
};

void test_failing_blocks(const RuntimeGpu &runtime) {
    FailingBlocks blocks{VmaBlocks(runtime.gpu.allocator)};
    tileheap::Device device = tileheap::Device::create(runtime.desc(), blocks).value();
    {
        Plaza plaza(runtime.gpu, device);
        blocks.throws = 1;
        bool caught = false;
        try {
            (void)plaza.dynamic.select(plaza.builder);
        } catch (const std::bad_alloc &) {
            caught = true;
        }
        CHECK(caught && blocks.asked > 0);
        blocks.throws = 2;
        caught = false;
        try {
            (void)plaza.dynamic.select(plaza.builder);
        } catch (const std::logic_error &error) {
            caught = error.what() == std::string("a defect of the program");
        }
        CHECK(caught);
        blocks.throws = 3;
        const auto failed = plaza.dynamic.select(plaza.builder);
        EXPECT(failed, TH_STATUS_ERROR_OUT_OF_MEMORY, "");
        CHECK(failed.error().result == VK_ERROR_OUT_OF_DEVICE_MEMORY);
        EXPECT(plaza.dynamic.access(0, 0), TH_STATUS_ERROR_WRONG_STATE, "thSelectFrame"); // Nothing is selected.
        blocks.throws = 0;
        plaza.run();
        CHECK(blocks.held > 0);
        blocks.throws = 4;
    }
    // Freeing throws: the exception leaves the call, which has freed all blocks.
    bool caught = false;
    vkDeviceWaitIdle(runtime.gpu.device);
    try {
        (void)device.destroy();
    } catch (const std::logic_error &error) {
        caught = error.what() == std::string("freeing has a defect");
    }
    CHECK(caught && blocks.held == 0 && !device.get());
    std::puts("failing blocks");
}

} // namespace

int main() {
    uint32_t before = 0, after = 0;
    thGetObjectCount(&before, nullptr);
    try {
        RuntimeGpu runtime(true);
        test_devices(runtime);
        test_frames(runtime);
        test_threads_and_late_imports(runtime);
        test_areas_and_skipped_passes(runtime);
        test_wrong_calls(runtime);
        test_own_submissions(runtime);
        test_lost_devices(runtime);
        test_secondaries(runtime);
        test_failing_blocks(runtime);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 1;
    }
    thGetObjectCount(&after, nullptr);
    CHECK(after == before);
    return 0;
}
