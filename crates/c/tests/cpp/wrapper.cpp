/* Calls everything in tileheap.hpp, and prints a frame that uses all of FrameBuilder as JSON, for the test to compare with Rust's. */
#include <cstdio>
#include <cstdlib>

#include <vulkan/vulkan.hpp>

#include <tileheap.hpp>

using namespace tileheap;

/** Number of allocations with `new`. */
static size_t allocations = 0;

void *operator new(size_t size) {
    allocations++;
    if (void *memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

#define CHECK(...) check((__VA_ARGS__) ? true : false, #__VA_ARGS__, __LINE__)

static void check(bool condition, const char *text, int line) {
    if (condition) return;
    std::fprintf(stderr, "%s:%d: %s is false\n", __FILE__, line, text);
    std::exit(1);
}

static uint32_t object_count() {
    uint32_t count = 0;
    CHECK(thGetObjectCount(&count, nullptr) == TH_STATUS_SUCCESS);
    return count;
}

static void describe(FrameBuilder &frame) {
    const uint32_t graphics = frame.queue("graphics", VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT);
    const uint32_t compute = frame.queue("compute", VK_QUEUE_COMPUTE_BIT);
    const uint32_t drawn = frame.semaphore("drawn"), counted = frame.semaphore("counted"), acquired = frame.semaphore("acquired", true);

    const uint32_t samples = frame.image("samples", VkFormat(vk::Format::eR8G8B8A8Unorm));
    frame[samples].samples = VK_SAMPLE_COUNT_4_BIT;
    const uint32_t color = frame.image("color", VK_FORMAT_R8G8B8A8_UNORM);
    const uint32_t depth = frame.image("depth", VK_FORMAT_D24_UNORM_S8_UINT, VkExtent2D{640, 360});
    const uint32_t lit = frame.image("lit", VK_FORMAT_R16G16B16A16_SFLOAT);
    frame[lit].persistence = TH_PERSISTENCE_HISTORY;
    const uint32_t half = frame.image("half", VK_FORMAT_R16G16B16A16_SFLOAT, 0.5f);
    const uint32_t counts = frame.buffer("counts", 4096);
    const uint32_t screen = frame.image("screen", VK_FORMAT_B8G8R8A8_UNORM);
    frame[screen].persistence = TH_PERSISTENCE_SWAPCHAIN;
    const uint32_t read = frame.buffer("read", 4096);
    frame[read].persistence = TH_PERSISTENCE_READ_BACK;

    frame.submit(graphics);
    frame.batch();
    frame.signal(drawn, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
    frame.command_buffer("draw");
    frame.render_pass("samples").color(samples, LoadOp::clear_color(0.25f, 0.5f, 0.75f, 1)).resolve(samples, color);
    frame.render_pass("subpasses")
        .color(color, LoadOp::load())
        .depth(depth, LoadOp::clear_depth(1, 3))
        .next_subpass()
        .input(color)
        .depth_read_only(depth)
        .sampled_previous(lit)
        .color(lit, LoadOp::dont_care())
        .fragment();
    frame.command_buffer("half");
    frame.compute_pass("shrink").sampled(lit).access(TH_ACCESS_KIND_STORAGE_IMAGE, half, TH_ACCESS_FLAG_WRITE);
    frame.submit(compute);
    frame.batch();
    frame.wait(drawn, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
    frame.signal(counted, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT);
    frame.command_buffer("count");
    frame.compute_pass("count").sampled(half).access(TH_ACCESS_KIND_STORAGE_BUFFER, counts, TH_ACCESS_FLAG_WRITE);
    frame.submit(graphics);
    frame.batch();
    frame.wait(counted, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
    frame.wait(acquired, VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT);
    frame.command_buffer("finish");
    frame.render_pass("show").sampled(half).at(VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT).sampled(lit).color(screen, LoadOp::dont_care()).fragment();
    frame.render_pass("overlay").color(screen, LoadOp::load()).optional(TH_SKIPPED_OUTPUTS_KEPT);
    frame.transfer_pass("read").transfer_source(counts).transfer_destination(read);
}

static Frame simple_frame() {
    FrameBuilder builder("simple", {1280, 720}); // One command buffer on a graphics queue.
    const uint32_t albedo = builder.image("albedo", VK_FORMAT_R8G8B8A8_UNORM), lit = builder.image("lit", VK_FORMAT_R8G8B8A8_UNORM);
    const uint32_t screen = builder.image("screen", VK_FORMAT_R8G8B8A8_UNORM);
    builder[screen].persistence = TH_PERSISTENCE_SWAPCHAIN;
    builder.render_pass("gbuffer").color(albedo, LoadOp::clear_color(0, 0, 0, 0));
    builder.render_pass("lighting").sampled(albedo).color(lit, LoadOp::dont_care());
    builder.render_pass("tonemap").sampled(lit).color(screen, LoadOp::dont_care());
    Frame frame = builder.build().value();
    CHECK(builder.build().value().json().value() == frame.json().value()); // A builder can build again.
    return frame;
}

/** Descriptions in a builder that had others before are those of a new builder; from the second time on, nothing is allocated. */
static void test_reset(FrameBuilder &builder) {
    FrameBuilder fresh("everything", {1280, 720});
    describe(fresh);
    const std::string expected = fresh.build().value().json().value();
    builder.reset("small", {64, 64});
    builder.render_pass("one").color(builder.image("target", VK_FORMAT_R8G8B8A8_UNORM), LoadOp::dont_care());
    const Frame small = builder.build().value();
    CHECK(small.info()->passCount == 1);
    for (int time = 0; time < 3; time++) {
        const size_t before = allocations;
        builder.reset("everything", {1280, 720});
        describe(builder);
        const ThFrameDesc desc = builder.desc();
        CHECK(allocations == before || time == 0);
        CHECK(Frame::create(desc).value().json().value() == expected);
    }
}

static void test_results_and_owners() {
    auto wrong = Profile::create("no such profile");
    CHECK(!wrong && wrong.error().status == TH_STATUS_ERROR_INVALID_ARGUMENT);
    CHECK(wrong.error().message.find("no such profile") != std::string::npos);
    bool thrown = false;
    try {
        (void)Profile::create("no such profile").value();
    } catch (const Exception &exception) {
        thrown = exception.status == TH_STATUS_ERROR_INVALID_ARGUMENT && wrong.error().message == exception.what();
    }
    CHECK(thrown && wrong.error().result == VK_SUCCESS);
    const Frame none;
    CHECK(!none.info() && none.info().error().status == TH_STATUS_ERROR_INVALID_HANDLE);

    const uint32_t before = object_count();
    Profile profile = Profile::create("adreno-830").value();
    CHECK(object_count() == before + 1);
    const ThProfile handle = profile.get();
    Profile moved = std::move(profile);
    CHECK(!profile.get() && moved.get() == handle);
    Profile &self = moved;
    moved = std::move(self);
    CHECK(moved.get() == handle);
    moved = Profile::create("hostile").value();
    CHECK(object_count() == before + 1);
    const ThProfile released = moved.release();
    CHECK(!moved.get() && object_count() == before + 1);
    moved.reset(released);
    moved.reset();
    CHECK(object_count() == before);

    int numbers[] = {1, 2, 3, 4};
    Span<int> span(numbers);
    CHECK(span.size() == 4 && span[ThRun{1, 3}].size() == 2 && span[ThRun{1, 3}][1] == 3 && span[ThRun{2, 2}].empty());
    CHECK(to_cpp({"text", TH_STRLEN}) == "text" && to_cpp({"text", 2}) == "te" && to_cpp({nullptr, 0}).empty());
}

static void test_planning() {
    const Profile profile = Profile::create("adreno-830").value();
    const Profile read = Profile::from_json(profile.json().value()).value(), smaller = profile.with_tile_size(1 << 20).value();
    CHECK(read.info()->tileSize == profile.info()->tileSize && smaller.info()->tileSize == 1 << 20);
    CHECK(!Profile::from_device(sized<ThPhysicalDeviceDesc>())); // Null functions.

    const Frame frame = simple_frame();
    CHECK(frame.info()->passCount == 3 && frame.info()->resourceCount == 3);
    CHECK(to_cpp(frame.pass(1)->name) == "lighting" && to_cpp(frame.resource(2)->name) == "screen");
    CHECK(*frame.find(TH_NAME_KIND_PASS, "tonemap") == 2 && *frame.name(TH_NAME_KIND_RESOURCE, 0) == "albedo");
    CHECK(!frame.find(TH_NAME_KIND_PASS, "none"));
    CHECK(Frame::from_json(frame.json().value()).value().json().value() == frame.json().value());

    const Requirements requirements = Requirements::estimate(frame, profile).value();
    CHECK(requirements.of(0)->size >= 1280 * 720 * 4);
    std::vector<ThRequirementAnswer> answers;
    for (const ThRequirementQuery &query : Requirements::queries(frame, profile).value()) {
        auto answer = sized<ThRequirementAnswer>();
        answer.resource = query.resource;
        answer.memory = query.memory;
        answer.supported = query.memory != TH_MEMORY_KIND_LAZY;
        answer.requirements = {1280 * 720 * 4, 4096, query.memory == TH_MEMORY_KIND_TILE ? 1u << profile.info()->tileMemoryType : 1u};
        if (query.memory == TH_MEMORY_KIND_TILE) answer.tileSize = 1280 * 720 * 4, answer.tileAlignment = 4096;
        answers.push_back(answer);
    }
    CHECK(answers.size() >= 4);
    CHECK(Requirements::create(frame, profile, answers).value().of(1)->size == 1280 * 720 * 4);

    Planner planner = Planner::create().value();
    const Plan plan = Plan::create({frame, requirements, profile, nullptr, planner}).value();
    CHECK(plan.equals(Plan::create({frame, requirements, profile, nullptr, planner, TH_PLAN_MODE_NOW}).value()).value());
    auto options = sized<ThPlanOptionsDesc>();
    options.strategy = TH_STRATEGY_OFF;
    const Plan off = Plan::create({frame, requirements, profile, &options}).value();
    CHECK(!plan.equals(off).value());
    CHECK(planner.adopt(plan) && plan.check());
    const ThPlanArrays arrays = plan.arrays().value();
    CHECK(Span(arrays.resources, arrays.resourceCount).size() == 3 && Span(arrays.placements, arrays.placementCount).size() >= 3);
    CHECK(plan.totals()->onChipBytes > 0 && off.totals()->onChipBytes == 0);
    CHECK(plan.report()->find("albedo") != std::string::npos && (*plan.report(TH_REPORT_FORMAT_JSON))[0] == '{');
    CHECK(!plan.reason(0)->empty());
    const Frame input = plan.input().value(), planned = plan.frame().value();
    CHECK(planned.info()->passCount == 3);
    CHECK(input.json().value() == frame.json().value() && input.of_values().value().json().value() == frame.json().value());
    const ThFrameOrigins origins = input.origins().value();
    CHECK(origins.passCount == 3 && origins.resources[2].described == 2 && origins.resources[2].valueCount == 0);

    uint32_t calls = 0;
    const Arrangement arrangement = Arrangement::search(plan, sized<ThSearchDesc>(), [&calls](const ThTraffic &) { return ++calls > 0; }).value();
    CHECK(calls > 0 || arrangement.info()->described.share >= arrangement.info()->arranged.share);
    const Arrangement again = Arrangement::search(plan).value();
    CHECK(again.arrays()->passCount == arrangement.arrays()->passCount);
    const Frame arranged = arrangement.frame().value();
    CHECK(arranged.info()->resourceCount >= 3);
    const std::string json = arrangement.report(TH_REPORT_FORMAT_JSON).value();
    CHECK(Arrangement::from_json(plan, json).value().report().value() == arrangement.report().value());
}

static void test_tables() {
    const Profile profile = Profile::create("adreno-830").value();
    const Frame frame = simple_frame();
    const Requirements requirements = Requirements::estimate(frame, profile).value();
    const Plan plan = Plan::create({frame, requirements, profile}).value();
    Lowerer lowerer = Lowerer::create().value();
    CHECK(!lowerer.tables());
    const ThFamilyQueue queue = {3, 0};
    Tables tables = lowerer.lower(plan, {&queue, 1}).value();
    CHECK(tables.parity == TH_PARITY_EVEN && tables.device_queues.size() == 1 && tables.device_queues[0].family == 3);
    tables = lowerer.lower(plan, {&queue, 1}, lowerer).value();
    CHECK(tables.parity == TH_PARITY_ODD && tables.passes.size() == 3 && tables.images.size() == 3);
    CHECK(lowerer.tables()->passes.data() == tables.passes.data() && lowerer.check());
    CHECK(lowerer.report()->find("lighting") != std::string::npos);
    auto refused = lowerer.lower(nullptr);
    CHECK(!refused && refused.error().status == TH_STATUS_ERROR_INVALID_HANDLE && !refused.error().message.empty());
    for (const ThPassRow &pass : tables.passes) {
        for (const ThImageBarrierRow &row : tables.image_barriers[pass.before.images]) {
            const VkImageMemoryBarrier2 barrier = to_vk(row, VK_NULL_HANDLE);
            CHECK(barrier.newLayout == row.newLayout && barrier.dstStageMask == row.scopes.dstStages);
            CHECK(barrier.subresourceRange.levelCount == 1 && barrier.subresourceRange.layerCount == 1);
        }
    }
    CHECK(to_vk(ThSubresourceRange{VK_IMAGE_ASPECT_COLOR_BIT, {2, 5}, {0, VK_REMAINING_ARRAY_LAYERS}}).layerCount == VK_REMAINING_ARRAY_LAYERS);
    CHECK(to_vk(ThClearBits{TH_CLEAR_KIND_UINT, {7, 8, 9, 10}}).color.uint32[3] == 10);
    const ThBufferBarrierRow buffer = {0, 16, 32, {1, 2, 4, 8}, {VK_QUEUE_FAMILY_IGNORED, 1}, TH_BARRIER_CAUSE_HAZARD};
    CHECK(to_vk(buffer, VK_NULL_HANDLE).offset == 16 && to_vk(buffer, VK_NULL_HANDLE).dstQueueFamilyIndex == 1);
    CHECK(to_vk(buffer.scopes).srcAccessMask == 2);

    auto options = sized<ThPlanOptionsDesc>();
    options.ladder = TH_LADDER_OFF;
    const Plan single = Plan::create({frame, requirements, profile, &options}).value();
    const Aliasing aliasing = Aliasing::create(single, {&queue, 1}).value();
    CHECK(aliasing.arrays()->tileMemoryCount == 3 && !aliasing.report()->empty());
}

/** A history has two placements; the first is the current version in even frames. */
static void test_aliasing_of_a_history() {
    FrameBuilder builder("history", {640, 360});
    const uint32_t lit = builder.image("lit", VK_FORMAT_R8G8B8A8_UNORM), history = builder.image("history", VK_FORMAT_R8G8B8A8_UNORM);
    builder[history].persistence = TH_PERSISTENCE_HISTORY;
    builder.render_pass("lighting").color(lit, LoadOp::dont_care());
    builder.render_pass("temporal").sampled(lit).sampled_previous(history).color(history, LoadOp::dont_care()).fragment();
    const Profile profile = Profile::create("adreno-830").value();
    const Frame frame = builder.build().value();
    const Requirements requirements = Requirements::estimate(frame, profile).value();
    auto options = sized<ThPlanOptionsDesc>();
    options.ladder = TH_LADDER_OFF;
    const Plan plan = Plan::create({frame, requirements, profile, &options}).value();
    const ThPlanArrays planned = plan.arrays().value();
    const ThRun pair = planned.resources[history].placements;
    CHECK(pair.end - pair.first == 2);

    const Aliasing aliasing = Aliasing::create(plan).value();
    const ThAliasingArrays users = aliasing.arrays().value();
    uint32_t rows = 0;
    for (const ThAliasingRow &row : Span(users.placements, users.placementCount)) {
        if (row.resource != history) continue;
        CHECK(row.placement == pair.first + rows++ && row.firstPass == 1 && !row.discards);
    }
    CHECK(rows == 2);

    Lowerer lowerer = Lowerer::create().value();
    Tables tables = lowerer.lower(plan).value();
    for (const uint32_t parity : {0u, 1u}) {
        for (const ThAccessRow &access : tables.accesses) {
            if (access.resource != history) continue;
            const uint32_t other = access.version == TH_HISTORY_VERSION_PREVIOUS ? 1 : 0;
            const ThPlannedPlacement &placement = planned.placements[pair.first + (parity + other) % 2];
            const ThMemoryBinding &binding = tables.images[access.object.row].binding;
            CHECK(binding.memory == placement.object && binding.offset == placement.offset);
        }
        if (parity == 0) tables = lowerer.lower(plan, {}, lowerer).value();
    }

    // The default options permit ladders.
    const auto refused = Aliasing::create(Plan::create({frame, requirements, profile}).value());
    CHECK(!refused && refused.error().status == TH_STATUS_ERROR_CANNOT_LOWER);
    CHECK(refused.error().message.find("TH_LADDER_OFF") != std::string::npos);
}

/** Checks that `call` compiles on a named object, and not on a temporary one: results that point into an object must not outlive it. */
#define COMPILES_ONLY_ON_NAMED(Type, call)                                                                                            \
    do {                                                                                                                              \
        const auto function = [](auto &&object) -> decltype(std::forward<decltype(object)>(object).call) { std::abort(); };           \
        using Function = decltype(function);                                                                                          \
        static_assert(std::is_invocable_v<Function, Type &>, #Type "::" #call " does not compile on a named object");                 \
        static_assert(!std::is_invocable_v<Function, Type>, #Type "::" #call " compiles on a temporary object");                      \
        static_assert(!std::is_invocable_v<Function, const Type>, #Type "::" #call " compiles on a temporary constant object");       \
    } while (false)

static void test_temporaries() {
    COMPILES_ONLY_ON_NAMED(Profile, info());
    COMPILES_ONLY_ON_NAMED(Frame, info());
    COMPILES_ONLY_ON_NAMED(Frame, resource(0));
    COMPILES_ONLY_ON_NAMED(Frame, pass(0));
    COMPILES_ONLY_ON_NAMED(Frame, name(TH_NAME_KIND_PASS, 0));
    COMPILES_ONLY_ON_NAMED(Frame, origins());
    COMPILES_ONLY_ON_NAMED(Plan, arrays());
    COMPILES_ONLY_ON_NAMED(Plan, reason(0));
    COMPILES_ONLY_ON_NAMED(Arrangement, arrays());
    COMPILES_ONLY_ON_NAMED(Lowerer, lower(nullptr));
    COMPILES_ONLY_ON_NAMED(Lowerer, tables());
    COMPILES_ONLY_ON_NAMED(Aliasing, arrays());
    COMPILES_ONLY_ON_NAMED(FrameBuilder, desc());
    COMPILES_ONLY_ON_NAMED(DeviceAdditions, create_info());
    COMPILES_ONLY_ON_NAMED(DynamicFrame, target(0));
    // Through `->` of a temporary Result, the object would not be a temporary one.
    COMPILES_ONLY_ON_NAMED(Result<Frame>, operator->());
    COMPILES_ONLY_ON_NAMED(Result<Plan>, operator->());
    // Results that do not point into the object compile.
    CHECK(!Frame().json() && !Plan().totals() && Profile::create("no such profile").error().message.find("no such") != std::string::npos);
    const std::string &message = Profile::create("no such profile").error().message; // Of a copy, which lives as long as the reference.
    CHECK(message.find("no such profile") != std::string::npos);
}

/** The levels of a pyramid are images of their own. */
static void test_separate_levels() {
    FrameBuilder builder("pyramid", {640, 360});
    const uint32_t bloom = builder.image("bloom", VK_FORMAT_R8G8B8A8_UNORM), other = builder.image("other", VK_FORMAT_R8G8B8A8_UNORM);
    builder[bloom].flags = TH_RESOURCE_FLAG_SEPARATE_LEVELS;
    builder[bloom].mipLevels = 3;
    builder.render_pass("draw").color(bloom, LoadOp::dont_care());
    for (uint32_t level = 1; level < 3; level++)
        builder.render_pass("down " + std::to_string(level)).sampled(bloom).level(level - 1).color(bloom, LoadOp::dont_care()).level(level);
    builder.render_pass("compose").sampled(bloom).level(2).color(other, LoadOp::dont_care());
    const Frame frame = builder.build().value();
    CHECK(frame.level(bloom, 0).value() == bloom && frame.level(bloom, 1).value() == 2 && frame.level(bloom, 2).value() == 3);
    CHECK(frame.level(bloom, 3).value() == bloom && frame.level(other, 0).value() == other && !Frame().level(0, 0));
    const ThResourceInfo level = frame.resource(3).value();
    CHECK(level.levelOf == bloom && level.level == 2 && level.extent.width == 160 && to_cpp(level.name) == "bloom level 2");
    CHECK(frame.resource(bloom)->levelOf == TH_NONE && frame.resource(bloom)->level == 0);
    // An access of several levels keeps them in one image.
    builder.compute_pass("read").sampled(bloom).levels(1, 2).access(TH_ACCESS_KIND_STORAGE_IMAGE, other, TH_ACCESS_FLAG_WRITE);
    const Frame whole = builder.build().value();
    CHECK(whole.info()->resourceCount == 2 && whole.level(bloom, 2).value() == bloom);
}

static void test_parts() {
    PassBuilder pass;
    pass.sampled(3).part({VK_IMAGE_ASPECT_COLOR_BIT, 1, 2, 3, 4}).sampled(4).level(2).layer(5).aspect(VK_IMAGE_ASPECT_DEPTH_BIT);
    pass.sampled(5).levels(1, 3).layers(2, VK_REMAINING_ARRAY_LAYERS).sampled(6);
    const auto is = [&](size_t index, VkImageSubresourceRange range) { return !std::memcmp(&pass.accesses[index].range, &range, sizeof range); };
    CHECK(is(0, {VK_IMAGE_ASPECT_COLOR_BIT, 1, 2, 3, 4}) && is(1, {VK_IMAGE_ASPECT_DEPTH_BIT, 2, 1, 5, 1}));
    CHECK(is(2, {0, 1, 3, 2, VK_REMAINING_ARRAY_LAYERS}) && is(3, {}));
}

/** The program's own exception, which is not a std::exception. */
struct Unusual {
    int number;
};

/** The number in the exception that a function throws; 0 if it throws none. */
template <class Function>
static int thrown_by(Function function) {
    try {
        function();
        return 0;
    } catch (const Unusual &unusual) {
        return unusual.number;
    }
}

/** Exceptions of callbacks do not pass through C: they end the call, and propagate out of it. */
static void test_exceptions_of_callbacks() {
    const Profile profile = Profile::create("adreno-830").value();
    const Frame frame = simple_frame();
    const Requirements requirements = Requirements::estimate(frame, profile).value();
    const Plan plan = Plan::create({frame, requirements, profile}).value();
    const uint32_t before = object_count();
    int calls = 0;
    const auto search = [&](auto progress) { (void)Arrangement::search(plan, sized<ThSearchDesc>(), progress); };
    CHECK(thrown_by([&] {
              search([&](const ThTraffic &) -> bool {
                  calls++;
                  throw Unusual{7};
              });
          }) == 7);
    CHECK(calls == 1 && object_count() == before);
    // Another call inside of the callback does not lose the exception, and has its own.
    CHECK(thrown_by([&] {
              search([&](const ThTraffic &) -> bool {
                  CHECK(thrown_by([&] { search([](const ThTraffic &) -> bool { throw Unusual{1}; }); }) == 1);
                  search([](const ThTraffic &) { return false; });
                  throw Unusual{2};
              });
          }) == 2);
    CHECK(object_count() == before);
    // Without a call of the wrapper around it, as in a destructor, an exception is dropped.
    CHECK(!detail::catch_all(false, []() -> bool { throw Unusual{3}; }));
    CHECK(thrown_by([&] { search([](const ThTraffic &) { return true; }); }) == 0);
    // An allocation that throws, of a call that succeeds all the same; and freeing that throws.
    const auto of_call = [](ThStatus status, bool frees) {
        (void)detail::run_once(nullptr, [&](ThError) {
            if (frees) CHECK(!detail::catch_all(false, []() -> bool { throw Unusual{4}; }));
            CHECK(detail::catch_exceptions([]() -> VkResult { throw Unusual{5}; }) == VK_ERROR_UNKNOWN);
            return status;
        });
    };
    CHECK(thrown_by([&] { of_call(TH_STATUS_SUCCESS, false); }) == 0);
    CHECK(thrown_by([&] { of_call(TH_STATUS_ERROR_VULKAN, false); }) == 5);
    CHECK(thrown_by([&] { of_call(TH_STATUS_SUCCESS, true); }) == 4);
    CHECK(detail::catch_exceptions([]() -> VkResult { throw std::bad_alloc(); }) == VK_ERROR_OUT_OF_HOST_MEMORY);
}

/** Without a device: null handles and incomplete structures are errors. */
static void test_runtime_without_device() {
    struct Blocks {
        VkResult allocate(const ThBlockRequest &, ThBlock &) { return VK_ERROR_OUT_OF_DEVICE_MEMORY; }
        void free(const ThBlock &) {}
    };
    const auto is_invalid = [](const auto &result) { return !result && result.error().status == TH_STATUS_ERROR_INVALID_HANDLE; };
    CHECK(!DeviceAdditions::create(sized<ThDeviceAdditionsDesc>()));
    CHECK(DeviceAdditions::create({}).error().status == TH_STATUS_ERROR_STRUCT_SIZE);
    const DeviceAdditions additions;
    CHECK(is_invalid(additions.create_info()));
    Blocks blocks;
    CHECK(!Device::create(sized<ThDeviceDesc>()) && !Device::create(sized<ThDeviceDesc>(), blocks));
    CHECK(Device::create({}, blocks).error().status == TH_STATUS_ERROR_STRUCT_SIZE);

    Device device;
    CHECK(is_invalid(device.profile()) && is_invalid(device.report()) && !device.is_lost() && is_invalid(device.report_lost()));
    CHECK(is_invalid(device.trim()) && is_invalid(device.use_queues([] {})) && is_invalid(DynamicFrame::create(device)) && device.destroy());

    DynamicFrame frame;
    FrameBuilder builder("nothing", {64, 64});
    CHECK(is_invalid(frame.select(builder)) && is_invalid(frame.plan()) && is_invalid(frame.queue(0)) && is_invalid(frame.target(0)));
    CHECK(frame.select(builder).error().message.find("null") != std::string::npos);
    CHECK(is_invalid(frame.access(0, 0)) && is_invalid(frame.access_of(0, 0)) && is_invalid(frame.begin()) && is_invalid(frame.import_resources({})) && is_invalid(frame.set_render_area(0, nullptr)));
    CHECK(!frame.forget_imported_view(VK_NULL_HANDLE) && frame.begin_commands(0, VK_NULL_HANDLE).error().status == TH_STATUS_ERROR_NULL_POINTER);
    CHECK(!frame.begin_secondary(VK_NULL_HANDLE, 0) && !frame.bind_secondary_tile_memory(VK_NULL_HANDLE, 0));
    CHECK(is_invalid(frame.submit()) && is_invalid(frame.discard_frame()));
    CHECK(is_invalid(frame.submit_with([](const ThSubmitCall &) { return vk::Result::eSuccess; })));
    CHECK(is_invalid(frame.wait(0)) && is_invalid(frame.completed()) && frame.abandon() && frame.destroy());

    Commands commands;
    CHECK(is_invalid(commands.begin_pass(0)) && is_invalid(commands.next_subpass()) && is_invalid(commands.execute({})));
    CHECK(is_invalid(commands.end_pass()) && is_invalid(commands.skip(0)) && is_invalid(commands.end()));
    CHECK(commands.discard());
}

int main() {
    test_results_and_owners();
    test_planning();
    test_tables();
    test_aliasing_of_a_history();
    test_temporaries();
    test_separate_levels();
    test_parts();
    test_runtime_without_device();
    test_exceptions_of_callbacks();
    FrameBuilder builder("everything", {1280, 720});
    describe(builder);
    {
        const Frame frame = builder.build().value();
        std::printf("%s", frame.json().value().c_str());
    }
    builder[0].format = VK_FORMAT_UNDEFINED;
    CHECK(builder.build().error().status == TH_STATUS_ERROR_INVALID_FRAME);
    test_reset(builder);
    CHECK(object_count() == 0);
    return 0;
}
