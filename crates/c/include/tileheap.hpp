/*
 * tileheap.hpp: tileheap.h for C++17: owners, spans, strings, results, and a builder for frames.
 *
 * Everything here is inline. A function calls the C function that its comment names, which tileheap.h documents. C and C++ can be mixed freely.
 *
 * Errors: functions return a Result, which has either a value or an Error with a status and a message.
 *
 *     auto plan = tileheap::Plan::create({frame, requirements, profile}).value();   // throws tileheap::Exception
 *
 *     auto plan = tileheap::Plan::create({frame, requirements, profile});           // without exceptions
 *     if (!plan) return log(plan.error().message);
 *     use(*plan);
 *
 * Lifetimes: arrays, spans and strings in results point into the object that returned them, and are valid as long as it is. Functions with such
 * results do not compile on temporary objects: `plan.frame().value().origins()` would return pointers to a destroyed frame. Name the object first:
 *
 *     const tileheap::Frame planned = plan.frame().value();
 *     const ThFrameOrigins origins = planned.origins().value();
 *
 * Handles of Vulkan-Hpp convert to those of vulkan.h, which the functions take.
 */

#ifndef TILEHEAP_HPP
#define TILEHEAP_HPP

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 201703L
#error "tileheap.hpp needs C++17: compile with -std=c++17 or /std:c++17"
#endif

#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tileheap.h"

namespace tileheap {

// Basic types

/** Consecutive elements that another object owns. */
template <class T>
class Span {
public:
    constexpr Span() = default;
    constexpr Span(T *first, size_t count) : first_(first), count_(count) {}
    /** All elements of a container, which outlives the span. */
    template <class Container, class Element = std::remove_pointer_t<decltype(std::declval<Container &>().data())>,
              class = std::enable_if_t<std::is_convertible_v<Element (*)[], T (*)[]>>>
    constexpr Span(Container &&container) : first_(container.data()), count_(container.size()) {}
    template <size_t Count>
    constexpr Span(T (&array)[Count]) : first_(array), count_(Count) {}

    constexpr T *data() const { return first_; }
    constexpr size_t size() const { return count_; }
    constexpr bool empty() const { return count_ == 0; }
    constexpr T *begin() const { return first_; }
    constexpr T *end() const { return first_ + count_; }
    constexpr T &operator[](size_t index) const { return first_[index]; }
    /** The elements of a run. */
    constexpr Span operator[](ThRun run) const { return {first_ + run.first, run.end - run.first}; }

private:
    T *first_ = nullptr;
    size_t count_ = 0;
};

/** A zero-initialized structure with `structSize` set. */
template <class Structure>
Structure sized() {
    Structure structure = {};
    structure.structSize = sizeof(Structure);
    return structure;
}

inline ThStringView to_c(std::string_view text) { return {text.data(), text.size()}; }

inline std::string_view to_cpp(ThStringView text) {
    if (!text.data) return {};
    return text.length == TH_STRLEN ? std::string_view(text.data) : std::string_view(text.data, text.length);
}

/** The status and message of a failed call. */
struct Error {
    ThStatus status = TH_STATUS_SUCCESS;
    /** One line that names the object, the demand and the limit. */
    std::string message;
    /** The rule of Vulkan that a description breaks ("VUID-..."); empty for other errors. */
    std::string rule;
    /** The result of the Vulkan call that failed; VK_SUCCESS for other errors. */
    VkResult result = VK_SUCCESS;
};

/** An Error as an exception. */
class Exception : public std::runtime_error {
public:
    explicit Exception(const Error &error) : std::runtime_error(error.message), status(error.status), rule(error.rule), result(error.result) {}
    ThStatus status;
    std::string rule;
    VkResult result;
};

template <class Handle, ThStatus (*Destroy)(Handle)>
class Owner;

namespace detail {

template <class Handle, ThStatus (*Destroy)(Handle)>
std::true_type derives_from_owner(const Owner<Handle, Destroy> *);
std::false_type derives_from_owner(const void *);

template <class T>
constexpr bool is_owner = decltype(derives_from_owner(static_cast<T *>(nullptr)))::value;

} // namespace detail

/** A value or an Error. */
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : content_(std::move(value)) {}
    Result(Error error) : content_(std::move(error)) {}

    explicit operator bool() const { return content_.index() == 0; }
    T &operator*() & { return *std::get_if<0>(&content_); }
    const T &operator*() const & { return *std::get_if<0>(&content_); }
    T operator*() && { return std::move(*std::get_if<0>(&content_)); }
    T *operator->() & { return std::get_if<0>(&content_); }
    const T *operator->() const & { return std::get_if<0>(&content_); }
    /** Members of a temporary value. For objects that own a handle, use `value()`: a function called through `->` could return pointers into them. */
    template <class Value = T, class = std::enable_if_t<!detail::is_owner<Value>>>
    Value *operator->() && {
        return std::get_if<0>(&content_);
    }
    const T *operator->() const && = delete;
    const Error &error() const & { return *std::get_if<1>(&content_); }
    Error error() && { return std::move(*std::get_if<1>(&content_)); }
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
    /** The value; throws an Exception if there is none. */
    T value() && {
        check();
        return std::move(*std::get_if<0>(&content_));
    }
    T &value() & {
        check();
        return **this;
    }
    const T &value() const & {
        check();
        return **this;
    }
#endif

private:
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
    void check() const {
        if (!*this) throw Exception(error());
    }
#endif

    std::variant<T, Error> content_;
};

/** The result of a function that returns nothing. Not `Success`, which is a macro of X.h. */
struct Done {};

/** Owns a handle and destroys it. */
template <class Handle, ThStatus (*Destroy)(Handle)>
class Owner {
public:
    Owner() = default;
    explicit Owner(Handle handle) : handle_(handle) {}
    Owner(Owner &&other) noexcept : handle_(other.release()) {}
    Owner &operator=(Owner &&other) noexcept {
        if (this != &other) reset(other.release());
        return *this;
    }
    Owner(const Owner &) = delete;
    Owner &operator=(const Owner &) = delete;
    ~Owner() { reset(); }

    Handle get() const { return handle_; }
    operator Handle() const { return handle_; }
    /** Handles are compared through get(), plans through Plan::equals. */
    friend bool operator==(const Owner &, const Owner &) = delete;
    friend bool operator!=(const Owner &, const Owner &) = delete;
    /** Releases ownership without destroying the handle. */
    Handle release() { return std::exchange(handle_, nullptr); }
    /** Destroys the handle and owns another. */
    void reset(Handle handle = nullptr) {
        if (Handle old = std::exchange(handle_, handle)) Destroy(old);
    }

private:
    Handle handle_ = nullptr;
};

namespace detail {

using ErrorObject = Owner<ThError, thDestroyError>;

inline ErrorObject new_error() {
    ThError error = nullptr;
    thCreateError(&error); // Null if out of memory; errors then have no message.
    return ErrorObject(error);
}

inline Error error_of(ThStatus status, ThError error) {
    ThStringView message = {}, rule = {};
    VkResult result = VK_SUCCESS;
    if (error) {
        thGetErrorMessage(error, &message);
        thGetErrorRule(error, &rule);
        thGetErrorResult(error, &result);
    }
    return {status, std::string(to_cpp(message)), std::string(to_cpp(rule)), result};
}

/** Calls a function, and once more with an error object if it fails, for its message: a failed call has no effect. */
template <class Output, class Function>
Result<Output> call(Output output, Function function) {
    if (function(output, ThError(nullptr)) >= 0) return output;
    const ErrorObject error = new_error();
    const ThStatus status = function(output, error.get());
    if (status < 0) return error_of(status, error.get());
    return output;
}

/** Calls a function that creates an object. */
template <class Object, class Handle, class Function>
Result<Object> create(Function function) {
    auto handle = call(Handle(nullptr), [&](Handle &output, ThError error) { return function(&output, error); });
    if (!handle) return handle.error();
    return Object(*handle);
}

/** Calls a function that has no output. */
template <class Function>
Result<Done> run(Function function) {
    return call(Done(), [&](Done &, ThError error) { return function(error); });
}

/** Calls a function that writes a text. */
template <class Function>
Result<std::string> text(Function function) {
    auto written = create<Owner<ThText, thDestroyText>, ThText>(function);
    if (!written) return written.error();
    ThStringView characters = {};
    auto read = run([&](ThError error) { return thGetText(written->get(), &characters, error); });
    if (!read) return read.error();
    return std::string(to_cpp(characters));
}

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
/** Keeps the first exception that callbacks throw during a call of this thread: exceptions must not pass through C. Calls may be nested. */
class CallbackScope {
public:
    CallbackScope() noexcept : outer_(std::exchange(current(), this)) {}
    CallbackScope(const CallbackScope &) = delete;
    CallbackScope &operator=(const CallbackScope &) = delete;
    ~CallbackScope() { current() = outer_; }

    /** Keeps the exception that is being handled; there is none to keep it for in a destructor. */
    static void keep(bool always) noexcept {
        CallbackScope *scope = current();
        if (!scope || scope->exception_) return;
        scope->exception_ = std::current_exception();
        scope->always_ = always;
    }
    /** Throws the exception again after the call. If the call has succeeded, the library has recovered from an allocation that threw. */
    void rethrow(ThStatus status) {
        if (exception_ && (status < 0 || always_)) std::rethrow_exception(std::exchange(exception_, nullptr));
    }

private:
    static CallbackScope *&current() noexcept {
        static thread_local CallbackScope *scope = nullptr;
        return scope;
    }

    CallbackScope *outer_;
    std::exception_ptr exception_;
    bool always_ = false;
};

/** Calls a function of the program from a C callback that returns a VkResult: an exception becomes a result. */
template <class Function>
VkResult catch_exceptions(Function function) noexcept {
    try {
        return static_cast<VkResult>(function());
    } catch (const std::bad_alloc &) {
        CallbackScope::keep(false);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    } catch (...) {
        CallbackScope::keep(false);
        return VK_ERROR_UNKNOWN;
    }
}

/** The same for a callback whose failure the library does not see: its exception always propagates. */
template <class Output, class Function>
Output catch_all(Output failed, Function function) noexcept {
    try {
        return static_cast<Output>(function());
    } catch (...) {
        CallbackScope::keep(true);
        return failed;
    }
}
#else
struct CallbackScope {
    void rethrow(ThStatus) {}
};

template <class Function>
VkResult catch_exceptions(Function function) {
    return static_cast<VkResult>(function());
}

template <class Output, class Function>
Output catch_all(Output, Function function) {
    return static_cast<Output>(function());
}
#endif

/** Calls a function that has side effects if it fails, or that invokes callbacks: only once, with an existing error object. */
template <class Output, class Function>
Result<Output> call_once(ThError error, Output output, Function function) {
    CallbackScope callbacks;
    const ThStatus status = function(output, error);
    callbacks.rethrow(status);
    if (status < 0) return error_of(status, error);
    return output;
}

template <class Function>
Result<Done> run_once(ThError error, Function function) {
    return call_once(error, Done(), [&](Done &, ThError object) { return function(object); });
}

} // namespace detail

// Devices, frames, requirements

/** A device profile: memory heaps and types, limits, features. */
class Profile : public Owner<ThProfile, thDestroyProfile> {
public:
    using Owner::Owner;
    /** thCreateProfile */
    static Result<Profile> create(std::string_view name) {
        return detail::create<Profile, ThProfile>([&](auto out, auto error) { return thCreateProfile(to_c(name), out, error); });
    }
    /** thCreateProfileFromJson */
    static Result<Profile> from_json(std::string_view json) {
        return detail::create<Profile, ThProfile>([&](auto out, auto error) { return thCreateProfileFromJson(to_c(json), out, error); });
    }
    /** thCreateProfileFromPhysicalDevice */
    static Result<Profile> from_device(const ThPhysicalDeviceDesc &desc) {
        return detail::create<Profile, ThProfile>([&](auto out, auto error) { return thCreateProfileFromPhysicalDevice(&desc, out, error); });
    }
    /** thCreateProfileWithTileSize */
    Result<Profile> with_tile_size(uint64_t bytes) const {
        return detail::create<Profile, ThProfile>(
            [&](auto out, auto error) { return thCreateProfileWithTileSize(get(), bytes, out, error); });
    }
    /** thGetProfileInfo */
    Result<ThProfileInfo> info() const & {
        return detail::call(sized<ThProfileInfo>(), [&](auto &out, auto error) { return thGetProfileInfo(get(), &out, error); });
    }
    Result<ThProfileInfo> info() const && = delete;
    /** thCreateProfileText */
    Result<std::string> json() const {
        return detail::text([&](auto out, auto error) { return thCreateProfileText(get(), out, error); });
    }
};

/** A validated description of a frame. */
class Frame : public Owner<ThFrame, thDestroyFrame> {
public:
    using Owner::Owner;
    /** thCreateFrame; FrameBuilder::build is more convenient. */
    static Result<Frame> create(const ThFrameDesc &desc) {
        return detail::create<Frame, ThFrame>([&](auto out, auto error) { return thCreateFrame(&desc, out, error); });
    }
    /** thCreateFrameFromJson */
    static Result<Frame> from_json(std::string_view json, const VkExtent2D *base_extent = nullptr) {
        return detail::create<Frame, ThFrame>(
            [&](auto out, auto error) { return thCreateFrameFromJson(to_c(json), base_extent, out, error); });
    }
    /** thGetFrameInfo */
    Result<ThFrameInfo> info() const & {
        return detail::call(sized<ThFrameInfo>(), [&](auto &out, auto error) { return thGetFrameInfo(get(), &out, error); });
    }
    Result<ThFrameInfo> info() const && = delete;
    /** thGetFrameResource */
    Result<ThResourceInfo> resource(uint32_t index) const & {
        return detail::call(sized<ThResourceInfo>(),
                            [&](auto &out, auto error) { return thGetFrameResource(get(), index, &out, error); });
    }
    Result<ThResourceInfo> resource(uint32_t index) const && = delete;
    /** thGetFramePass */
    Result<ThPassInfo> pass(uint32_t index) const & {
        return detail::call(sized<ThPassInfo>(), [&](auto &out, auto error) { return thGetFramePass(get(), index, &out, error); });
    }
    Result<ThPassInfo> pass(uint32_t index) const && = delete;
    /** thGetFrameName */
    Result<std::string_view> name(ThNameKind kind, uint32_t index) const & {
        auto name = detail::call(ThStringView{}, [&](auto &out, auto error) { return thGetFrameName(get(), kind, index, &out, error); });
        if (!name) return name.error();
        return to_cpp(*name);
    }
    Result<std::string_view> name(ThNameKind kind, uint32_t index) const && = delete;
    /**
     * The resource that holds a level of an image: one of its own if the levels are separate images (TH_RESOURCE_FLAG_SEPARATE_LEVELS), else the
     * image. Searches linearly with thGetFrameResource.
     */
    Result<uint32_t> level(uint32_t image, uint32_t level) const {
        const auto frame = info();
        if (!frame) return frame.error();
        for (uint32_t index = 0; index < frame->resourceCount; index++) {
            const auto found = resource(index);
            if (!found) return found.error();
            if (found->levelOf == image && found->level == level) return index;
        }
        return image;
    }
    /** thFindFrameName */
    Result<uint32_t> find(ThNameKind kind, std::string_view name) const {
        return detail::call(uint32_t(0), [&](auto &out, auto error) { return thFindFrameName(get(), kind, to_c(name), &out, error); });
    }
    /** thCreateFrameOfValues: the frame in which each value of a resource is a resource of its own. */
    Result<Frame> of_values() const {
        return detail::create<Frame, ThFrame>([&](auto out, auto error) { return thCreateFrameOfValues(get(), out, error); });
    }
    /** thGetFrameOrigins */
    Result<ThFrameOrigins> origins() const & {
        return detail::call(sized<ThFrameOrigins>(), [&](auto &out, auto error) { return thGetFrameOrigins(get(), &out, error); });
    }
    Result<ThFrameOrigins> origins() const && = delete;
    /** thCreateFrameText */
    Result<std::string> json() const {
        return detail::text([&](auto out, auto error) { return thCreateFrameText(get(), out, error); });
    }
};

/** The memory requirements of a frame's resources on a device. */
class Requirements : public Owner<ThRequirements, thDestroyRequirements> {
public:
    using Owner::Owner;
    /** thGetRequirementQueries: the questions to ask the driver. */
    static Result<std::vector<ThRequirementQuery>> queries(ThFrame frame, ThProfile profile) {
        auto count = detail::call(
            uint32_t(0), [&](auto &out, auto error) { return thGetRequirementQueries(frame, profile, &out, nullptr, error); });
        if (!count) return count.error();
        std::vector<ThRequirementQuery> queries(*count, sized<ThRequirementQuery>());
        auto written = detail::run(
            [&](auto error) { return thGetRequirementQueries(frame, profile, &*count, queries.data(), error); });
        if (*count > 0 && !written) return written.error();
        return queries;
    }
    /** thCreateRequirements: from the driver's answers. */
    static Result<Requirements> create(ThFrame frame, ThProfile profile, Span<const ThRequirementAnswer> answers) {
        return detail::create<Requirements, ThRequirements>([&](auto out, auto error) {
            return thCreateRequirements(frame, profile, uint32_t(answers.size()), answers.data(), out, error);
        });
    }
    /** thCreateEstimatedRequirements: without a driver. */
    static Result<Requirements> estimate(ThFrame frame, ThProfile profile) {
        return detail::create<Requirements, ThRequirements>(
            [&](auto out, auto error) { return thCreateEstimatedRequirements(frame, profile, out, error); });
    }
    /** thGetResourceRequirements */
    Result<ThResourceRequirements> of(uint32_t resource) const {
        return detail::call(sized<ThResourceRequirements>(),
                            [&](auto &out, auto error) { return thGetResourceRequirements(get(), resource, &out, error); });
    }
};

// Plans

class Plan;

/** Caches plans. */
class Planner : public Owner<ThPlanner, thDestroyPlanner> {
public:
    using Owner::Owner;
    /** thCreatePlanner */
    static Result<Planner> create() {
        return detail::create<Planner, ThPlanner>([](auto out, auto error) { return thCreatePlanner(out, error); });
    }
    /** thAdoptPlan */
    Result<bool> adopt(ThPlan plan) {
        auto adopted = detail::call(VkBool32(VK_FALSE), [&](auto &out, auto error) { return thAdoptPlan(get(), plan, &out, error); });
        if (!adopted) return adopted.error();
        return *adopted == VK_TRUE;
    }
};

/** Inputs to planning. */
struct PlanInputs {
    ThFrame frame = nullptr;
    ThRequirements requirements = nullptr;
    ThProfile profile = nullptr;
    /** Null for the defaults. */
    const ThPlanOptionsDesc *options = nullptr;
    /** Null for none. */
    ThPlanner planner = nullptr;
    ThPlanMode mode = TH_PLAN_MODE_PLAN;
};

/** The placement of every resource of a frame. */
class Plan : public Owner<ThPlan, thDestroyPlan> {
public:
    using Owner::Owner;
    /** thCreatePlan */
    static Result<Plan> create(const PlanInputs &inputs) {
        auto desc = sized<ThPlanDesc>();
        desc.mode = inputs.mode;
        desc.frame = inputs.frame;
        desc.requirements = inputs.requirements;
        desc.profile = inputs.profile;
        desc.planner = inputs.planner;
        desc.options = inputs.options;
        return detail::create<Plan, ThPlan>([&](auto out, auto error) { return thCreatePlan(&desc, out, error); });
    }
    /** thGetPlan; Span(arrays.placements, arrays.placementCount) and so on. */
    Result<ThPlanArrays> arrays() const & {
        return detail::call(sized<ThPlanArrays>(), [&](auto &out, auto error) { return thGetPlan(get(), &out, error); });
    }
    Result<ThPlanArrays> arrays() const && = delete;
    /** thGetPlanTotals */
    Result<ThPlanTotals> totals() const {
        return detail::call(sized<ThPlanTotals>(), [&](auto &out, auto error) { return thGetPlanTotals(get(), &out, error); });
    }
    /** thCreatePlannedFrame */
    Result<Frame> frame() const {
        return detail::create<Frame, ThFrame>([&](auto out, auto error) { return thCreatePlannedFrame(get(), out, error); });
    }
    /** thCreateInputFrame */
    Result<Frame> input() const {
        return detail::create<Frame, ThFrame>([&](auto out, auto error) { return thCreateInputFrame(get(), out, error); });
    }
    /** thGetPlacementReason */
    Result<std::string_view> reason(uint32_t resource) const & {
        auto reason = detail::call(ThStringView{},
                                   [&](auto &out, auto error) { return thGetPlacementReason(get(), resource, &out, error); });
        if (!reason) return reason.error();
        return to_cpp(*reason);
    }
    Result<std::string_view> reason(uint32_t resource) const && = delete;
    /** thComparePlans */
    Result<bool> equals(ThPlan other) const {
        auto equal = detail::call(VkBool32(VK_FALSE), [&](auto &out, auto error) { return thComparePlans(get(), other, &out, error); });
        if (!equal) return equal.error();
        return *equal == VK_TRUE;
    }
    /** thCheckPlan */
    Result<Done> check() const {
        return detail::run([&](auto error) { return thCheckPlan(get(), error); });
    }
    /** thCreatePlanText */
    Result<std::string> report(ThReportFormat format = TH_REPORT_FORMAT_TEXT) const {
        return detail::text([&](auto out, auto error) { return thCreatePlanText(get(), format, out, error); });
    }
};

/** A planned frame with passes reordered, merged or split into strips. */
class Arrangement : public Owner<ThArrangement, thDestroyArrangement> {
public:
    using Owner::Owner;
    /** thCreateArrangement */
    static Result<Arrangement> search(ThPlan plan, const ThSearchDesc *desc = nullptr) {
        return detail::create<Arrangement, ThArrangement>(
            [&](auto out, auto error) { return thCreateArrangement(plan, desc, out, error); });
    }
    /**
     * The same, calling `progress(const ThTraffic &)` before each arrangement that is evaluated; false ends the search. Its exceptions end the
     * search, too, and propagate out of this function.
     */
    template <class Progress>
    static Result<Arrangement> search(ThPlan plan, ThSearchDesc desc, Progress progress) {
        desc.progress = [](const ThTraffic *traffic, void *data) -> VkBool32 {
            return detail::catch_all(VkBool32(VK_FALSE), [&] { return (*static_cast<Progress *>(data))(*traffic) ? VK_TRUE : VK_FALSE; });
        };
        desc.userData = &progress;
        const detail::ErrorObject error = detail::new_error();
        detail::CallbackScope callbacks;
        ThArrangement handle = nullptr;
        const ThStatus status = thCreateArrangement(plan, &desc, &handle, error.get());
        Arrangement found(handle); // Destroyed if the exception is thrown again.
        callbacks.rethrow(status);
        if (status < 0) return detail::error_of(status, error.get());
        return Result<Arrangement>(std::move(found));
    }
    /** thCreateArrangementFromJson */
    static Result<Arrangement> from_json(ThPlan plan, std::string_view json) {
        return detail::create<Arrangement, ThArrangement>(
            [&](auto out, auto error) { return thCreateArrangementFromJson(plan, to_c(json), out, error); });
    }
    /** thGetArrangementInfo */
    Result<ThArrangementInfo> info() const {
        return detail::call(sized<ThArrangementInfo>(), [&](auto &out, auto error) { return thGetArrangementInfo(get(), &out, error); });
    }
    /** thCreateArrangedFrame */
    Result<Frame> frame() const {
        return detail::create<Frame, ThFrame>([&](auto out, auto error) { return thCreateArrangedFrame(get(), out, error); });
    }
    /** thGetArrangement */
    Result<ThArrangementArrays> arrays() const & {
        return detail::call(sized<ThArrangementArrays>(), [&](auto &out, auto error) { return thGetArrangement(get(), &out, error); });
    }
    Result<ThArrangementArrays> arrays() const && = delete;
    /** thCreateArrangementText */
    Result<std::string> report(ThReportFormat format = TH_REPORT_FORMAT_TEXT) const {
        return detail::text([&](auto out, auto error) { return thCreateArrangementText(get(), format, out, error); });
    }
};

// Tables

/** ThLowered with spans; the fields have its names. */
struct Tables {
    Tables() = default;
    explicit Tables(const ThLowered &of)
        : parity(of.parity),
          device_queues(of.deviceQueues, of.deviceQueueCount),
          queues(of.queues, of.queueCount),
          memory(of.memory, of.memoryCount),
          images(of.images, of.imageCount),
          buffers(of.buffers, of.bufferCount),
          views(of.views, of.viewCount),
          families(of.families, of.familyCount),
          formats(of.formats, of.formatCount),
          accesses(of.accesses, of.accessCount),
          attachments(of.attachments, of.attachmentCount),
          references(of.references, of.referenceCount),
          indices(of.indices, of.indexCount),
          subpass_dependencies(of.subpassDependencies, of.subpassDependencyCount),
          subpasses(of.subpasses, of.subpassCount),
          instances(of.instances, of.instanceCount),
          clears(of.clears, of.clearCount),
          stores(of.stores, of.storeCount),
          passes(of.passes, of.passCount),
          image_barriers(of.imageBarriers, of.imageBarrierCount),
          buffer_barriers(of.bufferBarriers, of.bufferBarrierCount),
          memory_barriers(of.memoryBarriers, of.memoryBarrierCount),
          command_buffers(of.commandBuffers, of.commandBufferCount),
          waits(of.waits, of.waitCount),
          signals(of.signals, of.signalCount),
          batches(of.batches, of.batchCount),
          submits(of.submits, of.submitCount),
          byte_uses(of.byteUses, of.byteUseCount),
          contents(of.contents, of.contentCount) {}

    ThParity parity = TH_PARITY_EVEN;
    Span<const ThFamilyQueue> device_queues;
    Span<const uint32_t> queues;
    Span<const ThMemoryRow> memory;
    Span<const ThImageRow> images;
    Span<const ThBufferRow> buffers;
    Span<const ThViewRow> views;
    Span<const uint32_t> families;
    Span<const VkFormat> formats;
    Span<const ThAccessRow> accesses;
    Span<const ThAttachmentRow> attachments;
    Span<const ThReferenceRow> references;
    Span<const uint32_t> indices;
    Span<const ThSubpassDependencyRow> subpass_dependencies;
    Span<const ThSubpassRow> subpasses;
    Span<const ThInstanceRow> instances;
    Span<const ThClearRow> clears;
    Span<const ThStoreRow> stores;
    Span<const ThPassRow> passes;
    Span<const ThImageBarrierRow> image_barriers;
    Span<const ThBufferBarrierRow> buffer_barriers;
    Span<const ThMemoryBarrierRow> memory_barriers;
    Span<const ThCommandBufferRow> command_buffers;
    Span<const ThSemaphoreRow> waits;
    Span<const ThSemaphoreRow> signals;
    Span<const ThBatchRow> batches;
    Span<const ThSubmitRow> submits;
    Span<const ThByteUse> byte_uses;
    Span<const ThContentState> contents;
};

/** The range of a row. VK_REMAINING_ARRAY_LAYERS is preserved: such ranges begin at layer 0. */
inline VkImageSubresourceRange to_vk(const ThSubresourceRange &range) {
    return {range.aspects, range.levels.first, range.levels.end - range.levels.first, range.layers.first,
            range.layers.end - range.layers.first};
}

inline VkClearValue to_vk(const ThClearBits &bits) {
    VkClearValue value;
    static_assert(sizeof value == sizeof bits.words, "a clear value is four words");
    std::memcpy(&value, bits.words, sizeof value);
    return value;
}

inline VkMemoryBarrier2 to_vk(const ThScopes &scopes) {
    return {VK_STRUCTURE_TYPE_MEMORY_BARRIER_2, nullptr, scopes.srcStages, scopes.srcAccess, scopes.dstStages, scopes.dstAccess};
}

/** The barrier of a row; `image` is the one of its row of images. */
inline VkImageMemoryBarrier2 to_vk(const ThImageBarrierRow &row, VkImage image) {
    return {VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2, nullptr, row.scopes.srcStages, row.scopes.srcAccess, row.scopes.dstStages,
            row.scopes.dstAccess, row.oldLayout, row.newLayout, row.families.src, row.families.dst, image, to_vk(row.range)};
}

/** The barrier of a row; `buffer` is the one of its row of buffers. */
inline VkBufferMemoryBarrier2 to_vk(const ThBufferBarrierRow &row, VkBuffer buffer) {
    return {VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2, nullptr, row.scopes.srcStages, row.scopes.srcAccess, row.scopes.dstStages,
            row.scopes.dstAccess, row.families.src, row.families.dst, buffer, row.offset, row.size};
}

/** thGetStoreShaders */
inline Result<ThStoreShaders> store_shaders(ThStoreShader shader) {
    return detail::call(sized<ThStoreShaders>(), [&](auto &out, auto error) { return thGetStoreShaders(shader, &out, error); });
}

/** Lowers plans into tables, which it owns. */
class Lowerer : public Owner<ThLowerer, thDestroyLowerer> {
public:
    using Owner::Owner;
    /** thCreateLowerer */
    static Result<Lowerer> create() {
        return detail::create<Lowerer, ThLowerer>([](auto out, auto error) { return thCreateLowerer(out, error); });
    }
    /** thLower. The spans are valid until the next lowering; nothing is allocated after a few frames. */
    Result<Tables> lower(ThPlan plan, Span<const ThFamilyQueue> queues = {}, ThLowerer previous = nullptr) & {
        auto desc = sized<ThLowerDesc>();
        desc.queueCount = uint32_t(queues.size());
        desc.queues = queues.data();
        desc.plan = plan;
        desc.previous = previous;
        auto lowered = detail::call(sized<ThLowered>(), [&](auto &out, auto error) { return thLower(get(), &desc, &out, error); });
        if (!lowered) return lowered.error();
        return Tables(*lowered);
    }
    /** thGetLowered */
    Result<Tables> tables() const & {
        auto lowered = detail::call(sized<ThLowered>(), [&](auto &out, auto error) { return thGetLowered(get(), &out, error); });
        if (!lowered) return lowered.error();
        return Tables(*lowered);
    }
    Result<Tables> tables() const && = delete;
    /** thCheckLowered */
    Result<Done> check() const {
        return detail::run([&](auto error) { return thCheckLowered(get(), error); });
    }
    /** thCreateLoweredText */
    Result<std::string> report(ThReportFormat format = TH_REPORT_FORMAT_TEXT) const {
        return detail::text([&](auto out, auto error) { return thCreateLoweredText(get(), format, out, error); });
    }
};

/** The previous users of each placement's bytes. */
class Aliasing : public Owner<ThAliasing, thDestroyAliasing> {
public:
    using Owner::Owner;
    /** thCreateAliasing */
    static Result<Aliasing> create(ThPlan plan, Span<const ThFamilyQueue> queues = {}) {
        auto desc = sized<ThAliasingDesc>();
        desc.queueCount = uint32_t(queues.size());
        desc.queues = queues.data();
        desc.plan = plan;
        return detail::create<Aliasing, ThAliasing>([&](auto out, auto error) { return thCreateAliasing(&desc, out, error); });
    }
    /** thGetAliasing */
    Result<ThAliasingArrays> arrays() const & {
        return detail::call(sized<ThAliasingArrays>(), [&](auto &out, auto error) { return thGetAliasing(get(), &out, error); });
    }
    Result<ThAliasingArrays> arrays() const && = delete;
    /** thCreateAliasingText */
    Result<std::string> report(ThReportFormat format = TH_REPORT_FORMAT_TEXT) const {
        return detail::text([&](auto out, auto error) { return thCreateAliasingText(get(), format, out, error); });
    }
};

// Descriptions of frames

/** The load operation and clear value of an attachment. */
struct LoadOp {
    VkAttachmentLoadOp op = VK_ATTACHMENT_LOAD_OP_LOAD;
    VkClearValue clear = {};

    static LoadOp load() { return {}; }
    static LoadOp dont_care() { return {VK_ATTACHMENT_LOAD_OP_DONT_CARE, {}}; }
    static LoadOp clear_color(float red, float green, float blue, float alpha) {
        LoadOp load = {VK_ATTACHMENT_LOAD_OP_CLEAR, {}};
        load.clear.color = {{red, green, blue, alpha}};
        return load;
    }
    static LoadOp clear_depth(float depth, uint32_t stencil = 0) {
        LoadOp load = {VK_ATTACHMENT_LOAD_OP_CLEAR, {}};
        load.clear.depthStencil = {depth, stencil};
        return load;
    }
};

/** A pass of a FrameBuilder: each function adds an access. `desc` and `accesses` can be changed directly. */
class PassBuilder {
public:
    ThPassDesc desc = sized<ThPassDesc>();
    std::vector<ThAccessDesc> accesses;

    PassBuilder &color(uint32_t image, const LoadOp &load) { return attachment(TH_ACCESS_KIND_COLOR_ATTACHMENT, image, load); }
    PassBuilder &depth(uint32_t image, const LoadOp &load) { return attachment(TH_ACCESS_KIND_DEPTH_STENCIL_ATTACHMENT, image, load); }
    /** Tests depth without writing it. */
    PassBuilder &depth_read_only(uint32_t image) { return access(TH_ACCESS_KIND_DEPTH_STENCIL_ATTACHMENT, image, TH_ACCESS_FLAG_READ); }
    /** Resolves `source` into `target`. */
    PassBuilder &resolve(uint32_t source, uint32_t target) {
        attachment(TH_ACCESS_KIND_RESOLVE_ATTACHMENT, target, LoadOp::dont_care());
        accesses.back().resolveSource = source;
        return *this;
    }
    PassBuilder &input(uint32_t image) { return access(TH_ACCESS_KIND_INPUT_ATTACHMENT, image); }
    PassBuilder &sampled(uint32_t image) { return access(TH_ACCESS_KIND_SAMPLED_IMAGE, image); }
    /** Samples the previous frame's version of a history image. */
    PassBuilder &sampled_previous(uint32_t image) { return access(TH_ACCESS_KIND_SAMPLED_IMAGE, image, TH_ACCESS_FLAG_PREVIOUS); }
    PassBuilder &transfer_source(uint32_t resource) { return access(TH_ACCESS_KIND_TRANSFER_SOURCE, resource); }
    PassBuilder &transfer_destination(uint32_t resource) { return access(TH_ACCESS_KIND_TRANSFER_DESTINATION, resource); }
    /** Any access; bits of ThAccessFlag. */
    PassBuilder &access(ThAccessKind kind, uint32_t resource, uint32_t flags = 0) {
        auto access = sized<ThAccessDesc>();
        access.kind = kind;
        access.resource = resource;
        access.flags = flags;
        access.subpass = subpass_;
        accesses.push_back(access);
        return *this;
    }
    /** Sets the pipeline stages of the access declared last. */
    PassBuilder &at(VkPipelineStageFlags2 stages) {
        accesses.back().stages = stages;
        return *this;
    }
    /** Restricts the access declared last to a part of its image; see ThAccessDesc::range. */
    PassBuilder &part(const VkImageSubresourceRange &range) {
        accesses.back().range = range;
        return *this;
    }
    /** Restricts the access declared last to one level. */
    PassBuilder &level(uint32_t level) { return levels(level, 1); }
    /** Restricts the access declared last to `count` levels. */
    PassBuilder &levels(uint32_t first, uint32_t count) {
        accesses.back().range.baseMipLevel = first;
        accesses.back().range.levelCount = count;
        return *this;
    }
    /** Restricts the access declared last to one layer; of a 3D image, to one slice. */
    PassBuilder &layer(uint32_t layer) { return layers(layer, 1); }
    /** Restricts the access declared last to `count` layers; of a 3D image, to `count` slices. */
    PassBuilder &layers(uint32_t first, uint32_t count) {
        accesses.back().range.baseArrayLayer = first;
        accesses.back().range.layerCount = count;
        return *this;
    }
    /** Restricts the access declared last to depth or to stencil. */
    PassBuilder &aspect(VkImageAspectFlags aspect) {
        accesses.back().range.aspectMask = aspect;
        return *this;
    }
    /**
     * Restricts shader accesses declared so far without stages to the fragment shader, so that vertex shaders of later draws do not wait for
     * them.
     */
    PassBuilder &fragment() {
        for (ThAccessDesc &access : accesses) {
            const bool is_shader = access.kind >= TH_ACCESS_KIND_SAMPLED_IMAGE && access.kind <= TH_ACCESS_KIND_DEVICE_ADDRESS &&
                                   access.kind != TH_ACCESS_KIND_FRAGMENT_DENSITY_MAP;
            if (is_shader && access.stages == 0) access.stages = VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT;
        }
        return *this;
    }
    /** Limits the reads of the access declared last to texels at most this far from the pass's own pixel; 0 for its own pixel only. */
    PassBuilder &reaching(uint32_t texels) {
        accesses.back().flags |= TH_ACCESS_FLAG_REACH;
        accesses.back().reachTexels = texels;
        return *this;
    }
    /** Allows the pass to run strip by strip; `repeat_bytes` is the cost of one more execution, in bytes of memory traffic. */
    PassBuilder &in_strips(uint64_t repeat_bytes = 0) {
        desc.flags |= TH_PASS_FLAG_STRIPS;
        desc.repeatBytes = repeat_bytes;
        return *this;
    }
    /** Begins the next subpass. */
    PassBuilder &next_subpass() {
        subpass_++;
        return *this;
    }
    /** Makes the pass optional. */
    PassBuilder &optional(ThSkippedOutputs outputs) {
        desc.skippedOutputs = outputs;
        return *this;
    }

private:
    friend class FrameBuilder;
    void reset() {
        desc = sized<ThPassDesc>();
        accesses.clear();
        subpass_ = 0;
    }
    PassBuilder &attachment(ThAccessKind kind, uint32_t image, const LoadOp &load) {
        access(kind, image);
        accesses.back().loadOp = load.op;
        accesses.back().clear = load.clear;
        return *this;
    }

    uint32_t subpass_ = 0;
};

/**
 * Describes a frame in the order in which it is submitted. Resources, queues and semaphores are numbered from 0 in the order of declaration,
 * and so are passes. Names are copied.
 *
 * Calls to submit, batch and command_buffer are optional: by default, the frame is one command buffer on a graphics queue.
 *
 * A builder that is reset and filled again, for example for every frame, does not allocate once its memory is large enough.
 */
class FrameBuilder {
public:
    FrameBuilder() = default;
    FrameBuilder(std::string_view name, VkExtent2D base_extent) { reset(name, base_extent); }
    FrameBuilder(const FrameBuilder &) = delete;
    FrameBuilder &operator=(const FrameBuilder &) = delete;

    /** Begins the description of another frame. */
    void reset(std::string_view name, VkExtent2D base_extent) {
        name_count_ = pass_count_ = 0;
        resources_.clear();
        queues_.clear();
        semaphores_.clear();
        submits_.clear();
        batches_.clear();
        waits_.clear();
        signals_.clear();
        command_buffers_.clear();
        name_ = keep(name);
        base_extent_ = base_extent;
    }

    /** An image whose size is a fraction of the base extent's. */
    uint32_t image(std::string_view name, VkFormat format, float scale = 1.0f) {
        auto desc = sized<ThResourceDesc>();
        desc.format = format;
        desc.scale[0] = desc.scale[1] = scale;
        return resource(name, desc);
    }
    /** An image of a fixed size. */
    uint32_t image(std::string_view name, VkFormat format, VkExtent2D extent) {
        auto desc = sized<ThResourceDesc>();
        desc.format = format;
        desc.extent = {extent.width, extent.height, 1};
        return resource(name, desc);
    }
    uint32_t buffer(std::string_view name, uint64_t size) {
        auto desc = sized<ThResourceDesc>();
        desc.resourceType = TH_RESOURCE_TYPE_BUFFER;
        desc.size = size;
        return resource(name, desc);
    }
    /** Any resource; its name is replaced by `name`. */
    uint32_t resource(std::string_view name, ThResourceDesc desc) {
        desc.name = keep(name);
        resources_.push_back(desc);
        return uint32_t(resources_.size() - 1);
    }
    /** The description of a resource, to change it; the reference is valid until the next resource is declared. */
    ThResourceDesc &operator[](uint32_t resource) { return resources_[resource]; }

    uint32_t queue(std::string_view name, VkQueueFlags capabilities) {
        auto desc = sized<ThQueueDesc>();
        desc.name = keep(name);
        desc.capabilities = capabilities;
        queues_.push_back(desc);
        return uint32_t(queues_.size() - 1);
    }
    /** A semaphore between batches; external if work outside of the frame also waits for it or signals it. */
    uint32_t semaphore(std::string_view name, bool external = false) {
        auto desc = sized<ThSemaphoreDesc>();
        desc.name = keep(name);
        desc.external = external;
        semaphores_.push_back(desc);
        return uint32_t(semaphores_.size() - 1);
    }

    /** Begins a submit to a queue. */
    void submit(uint32_t queue) { submits_.emplace_back(sized<ThSubmitDesc>()).queue = queue; }
    /** Begins a batch. */
    void batch() {
        if (submits_.empty()) submit(queues_.empty() ? queue("graphics", VK_QUEUE_GRAPHICS_BIT) : 0);
        submits_.back().batchCount++;
        batches_.push_back(sized<ThBatchDesc>());
    }
    /** The batch waits for a semaphore. */
    void wait(uint32_t semaphore, VkPipelineStageFlags2 stages) {
        current_batch().waitCount++;
        waits_.push_back(use(semaphore, stages));
    }
    /** The batch signals a semaphore. */
    void signal(uint32_t semaphore, VkPipelineStageFlags2 stages) {
        current_batch().signalCount++;
        signals_.push_back(use(semaphore, stages));
    }
    /** Begins a command buffer. */
    void command_buffer(std::string_view name) {
        current_batch().commandBufferCount++;
        command_buffers_.emplace_back(sized<ThCommandBufferDesc>()).name = keep(name);
    }

    /** Begins a render pass. */
    PassBuilder &render_pass(std::string_view name) { return pass(TH_PASS_TYPE_RENDER, name); }
    PassBuilder &compute_pass(std::string_view name) { return pass(TH_PASS_TYPE_COMPUTE, name); }
    PassBuilder &transfer_pass(std::string_view name) { return pass(TH_PASS_TYPE_TRANSFER, name); }
    /** Begins a pass; the reference is valid until the builder is reset. */
    PassBuilder &pass(ThPassType type, std::string_view name) {
        if (current_batch().commandBufferCount == 0) command_buffer(default_name());
        command_buffers_.back().passCount++;
        PassBuilder &pass = pass_count_ < passes_.size() ? passes_[pass_count_] : passes_.emplace_back();
        pass_count_++;
        pass.reset();
        pass.desc.passType = type;
        pass.desc.name = keep(name);
        return pass;
    }

    /** The description, valid until the builder is changed or destroyed. */
    ThFrameDesc desc() & {
        pass_descs_.clear();
        for (size_t index = 0; index < pass_count_; index++) {
            PassBuilder &pass = passes_[index];
            point(pass.desc.accesses, pass.desc.accessCount, pass.accesses);
            pass_descs_.push_back(pass.desc);
        }
        // The contents of each are the next elements of the array one level below.
        const ThPassDesc *passes = pass_descs_.data();
        for (ThCommandBufferDesc &commands : command_buffers_) passes += take(commands.passes, commands.passCount, passes);
        const ThCommandBufferDesc *commands = command_buffers_.data();
        const ThSemaphoreUse *waits = waits_.data(), *signals = signals_.data();
        for (ThBatchDesc &batch : batches_) {
            commands += take(batch.commandBuffers, batch.commandBufferCount, commands);
            waits += take(batch.waits, batch.waitCount, waits);
            signals += take(batch.signals, batch.signalCount, signals);
        }
        const ThBatchDesc *batches = batches_.data();
        for (ThSubmitDesc &submit : submits_) batches += take(submit.batches, submit.batchCount, batches);
        auto desc = sized<ThFrameDesc>();
        desc.name = name_;
        desc.baseExtent = base_extent_;
        point(desc.resources, desc.resourceCount, resources_);
        point(desc.submits, desc.submitCount, submits_);
        point(desc.queues, desc.queueCount, queues_);
        point(desc.semaphores, desc.semaphoreCount, semaphores_);
        return desc;
    }
    /** Validates the description: thCreateFrame. */
    Result<Frame> build() { return Frame::create(desc()); }

private:
    template <class Element>
    static void point(const Element *&first, uint32_t &count, const std::vector<Element> &elements) {
        first = elements.data();
        count = uint32_t(elements.size());
    }
    /** Points `first` to the next elements, and returns their number. */
    template <class Element>
    static uint32_t take(const Element *&first, uint32_t count, const Element *next) {
        first = next;
        return count;
    }
    static ThSemaphoreUse use(uint32_t semaphore, VkPipelineStageFlags2 stages) {
        auto use = sized<ThSemaphoreUse>();
        use.semaphore = semaphore;
        use.stages = stages;
        return use;
    }
    /** Copies a name, into the memory of a string from before the reset if there is one. */
    ThStringView keep(std::string_view name) {
        std::string &kept = name_count_ < names_.size() ? names_[name_count_] : names_.emplace_back();
        name_count_++;
        return to_c(kept.assign(name.data(), name.size()));
    }
    /** Names are unique in a frame. */
    std::string default_name() const {
        return command_buffers_.empty() ? "frame" : "frame " + std::to_string(command_buffers_.size());
    }
    ThBatchDesc &current_batch() {
        if (submits_.empty() || submits_.back().batchCount == 0) batch();
        return batches_.back();
    }

    /** Names and passes stay where they are, and those after the counts are kept for later. */
    std::deque<std::string> names_;
    size_t name_count_ = 0;
    std::deque<PassBuilder> passes_;
    size_t pass_count_ = 0;
    ThStringView name_ = {};
    VkExtent2D base_extent_ = {};
    std::vector<ThResourceDesc> resources_;
    std::vector<ThQueueDesc> queues_;
    std::vector<ThSemaphoreDesc> semaphores_;
    /** In order of submission; each has the number of elements that it takes from the next array. */
    std::vector<ThSubmitDesc> submits_;
    std::vector<ThBatchDesc> batches_;
    std::vector<ThSemaphoreUse> waits_;
    std::vector<ThSemaphoreUse> signals_;
    std::vector<ThCommandBufferDesc> command_buffers_;
    std::vector<ThPassDesc> pass_descs_;
};

// Runtime

namespace detail {

inline ThStatus destroy_device(ThDevice device) { return thDestroyDevice(device, nullptr); }
inline ThStatus destroy_dynamic_frame(ThDynamicFrame frame) { return thDestroyDynamicFrame(frame, nullptr); }
inline ThStatus discard_commands(ThCommands commands) { return thDiscardCommands(commands, nullptr); }

} // namespace detail

/** Extensions and features that a device is created with in addition to the program's own. */
class DeviceAdditions : public Owner<ThDeviceAdditions, thDestroyDeviceAdditions> {
public:
    using Owner::Owner;
    /** thCreateDeviceAdditions */
    static Result<DeviceAdditions> create(const ThDeviceAdditionsDesc &desc) {
        return detail::create<DeviceAdditions, ThDeviceAdditions>(
            [&](auto out, auto error) { return thCreateDeviceAdditions(&desc, out, error); });
    }
    /** thGetDeviceCreateInfo: for vkCreateDevice. */
    Result<const VkDeviceCreateInfo *> create_info() const & {
        return detail::call(static_cast<const VkDeviceCreateInfo *>(nullptr),
                            [&](auto &out, auto error) { return thGetDeviceCreateInfo(get(), &out, error); });
    }
    Result<const VkDeviceCreateInfo *> create_info() const && = delete;
};

/** The program's device, with the queues and the allocator that dynamic frames use. Destroy its dynamic frames first. */
class Device : public Owner<ThDevice, detail::destroy_device> {
public:
    using Owner::Owner;
    /** thCreateDevice */
    static Result<Device> create(const ThDeviceDesc &desc) {
        const detail::ErrorObject error = detail::new_error();
        auto handle = detail::call_once(error.get(), ThDevice(nullptr),
                                        [&](ThDevice &out, ThError object) { return thCreateDevice(&desc, &out, object); });
        if (!handle) return handle.error();
        return Device(*handle);
    }
    /**
     * The same with a block allocator, which must outlive the device and is called on any thread that calls the library. It must have
     * `VkResult allocate(const ThBlockRequest &, ThBlock &)` and `void free(const ThBlock &)`. Their exceptions propagate out of the call that
     * needed or freed the block; those of `free` are dropped in destructors.
     */
    template <class Allocator>
    static Result<Device> create(ThDeviceDesc desc, Allocator &allocator) {
        desc.userData = &allocator;
        desc.allocateBlock = [](void *data, const ThBlockRequest *request, ThBlock *block) -> VkResult {
            return detail::catch_exceptions([&] { return static_cast<Allocator *>(data)->allocate(*request, *block); });
        };
        desc.freeBlock = [](void *data, const ThBlock *block) {
            (void)detail::catch_all(true, [&] {
                static_cast<Allocator *>(data)->free(*block);
                return true;
            });
        };
        return create(desc);
    }
    /** thCreateDeviceProfile */
    Result<Profile> profile() const {
        return detail::create<Profile, ThProfile>([&](auto out, auto error) { return thCreateDeviceProfile(get(), out, error); });
    }
    /** thCreateDeviceText */
    Result<std::string> report() const {
        return detail::text([&](auto out, auto error) { return thCreateDeviceText(get(), out, error); });
    }
    /** thGetDeviceLost; false without a device. */
    bool is_lost() const {
        VkBool32 lost = VK_FALSE;
        return thGetDeviceLost(get(), &lost, nullptr) >= 0 && lost == VK_TRUE;
    }
    /** thReportDeviceLost */
    Result<Done> report_lost() const {
        return detail::run([&](auto error) { return thReportDeviceLost(get(), error); });
    }
    /** thUseQueues: `use()` is called while the queues are locked, and its exceptions propagate out of this function. */
    template <class Use>
    Result<Done> use_queues(Use use) const {
        const PFN_thUseQueues callback = [](void *data) {
            (void)detail::catch_all(true, [&] {
                (*static_cast<Use *>(data))();
                return true;
            });
        };
        detail::CallbackScope callbacks;
        auto used = detail::run([&](auto error) { return thUseQueues(get(), callback, &use, error); });
        callbacks.rethrow(used ? TH_STATUS_SUCCESS : used.error().status);
        return used;
    }
    /** thTrimDevice. Returns the number of retired frames that are still executing. */
    Result<uint32_t> trim() const {
        const detail::ErrorObject error = detail::new_error();
        return detail::call_once(error.get(), uint32_t(0), [&](auto &out, auto object) { return thTrimDevice(get(), &out, object); });
    }
    /** thDestroyDevice: like the destructor, which ignores errors. After an error, the handle is still owned. */
    Result<Done> destroy() {
        const detail::ErrorObject error = detail::new_error();
        return detail::run_once(error.get(), [&](auto object) {
            const ThStatus status = thDestroyDevice(get(), object);
            if (status >= 0) release();
            return status;
        });
    }
};

/** Handles of external resources and semaphores for one frame. */
struct Imports {
    Span<const ThImportedImage> images;
    Span<const ThImportedBuffer> buffers;
    Span<const ThImportedSemaphore> semaphores;
    /** Views of parts of images. */
    Span<const ThImportedView> views;
};

/** An external image, with a view of what the frame uses. */
inline ThImportedImage imported_image(uint32_t resource, VkImage image, VkImageView view) { return {resource, 0, image, view}; }

/** An external buffer, or a range of one; `address` is that of the first byte, for frames that use it. */
inline ThImportedBuffer imported_buffer(uint32_t resource, VkBuffer buffer, VkDeviceSize size, VkDeviceSize offset = 0,
                                        VkDeviceAddress address = 0) {
    return {resource, 0, buffer, offset, size, address};
}

/** An external semaphore; `value` is for timeline semaphores. */
inline ThImportedSemaphore imported_semaphore(uint32_t semaphore, VkSemaphore handle, uint64_t value = 0) {
    return {semaphore, 0, handle, value};
}

inline ThImports to_c(const Imports &imports) {
    auto to = sized<ThImports>();
    to.imageCount = uint32_t(imports.images.size());
    to.images = imports.images.data();
    to.bufferCount = uint32_t(imports.buffers.size());
    to.buffers = imports.buffers.data();
    to.semaphoreCount = uint32_t(imports.semaphores.size());
    to.semaphores = imports.semaphores.data();
    to.viewCount = uint32_t(imports.views.size());
    to.views = imports.views.data();
    return to;
}

/** The result of waiting for a frame. */
enum class WaitStatus { complete, timeout };

/**
 * Records one command buffer of a frame, on any thread. The dynamic frame outlives it. One that is destroyed before `end`, for example by an
 * exception, is discarded.
 */
class Commands : public Owner<ThCommands, detail::discard_commands> {
public:
    using Owner::Owner;
    /** `error` receives messages; no other thread may use it at the same time. */
    Commands(ThCommands handle, ThError error) : Owner(handle), error_(error) {}

    /** thBeginPass */
    Result<ThPassCommands> begin_pass(uint32_t pass) {
        return detail::call_once(error_, sized<ThPassCommands>(),
                                 [&](auto &out, auto error) { return thBeginPass(get(), pass, &out, error); });
    }
    /** thNextSubpass */
    Result<Done> next_subpass() {
        return detail::run_once(error_, [&](auto error) { return thNextSubpass(get(), error); });
    }
    /** thExecuteSecondaries */
    Result<Done> execute(Span<const VkCommandBuffer> secondaries) {
        return detail::run_once(error_, [&](auto error) {
            return thExecuteSecondaries(get(), uint32_t(secondaries.size()), secondaries.data(), error);
        });
    }
    /** thEndPass */
    Result<Done> end_pass() {
        return detail::run_once(error_, [&](auto error) { return thEndPass(get(), error); });
    }
    /** thSkipPass */
    Result<Done> skip(uint32_t pass) {
        return detail::run_once(error_, [&](auto error) { return thSkipPass(get(), pass, error); });
    }
    /** thEndCommands. Destroys the handle, unless it fails with TH_STATUS_ERROR_IN_USE. */
    Result<Done> end() {
        return end([&](auto error) { return thEndCommands(get(), error); });
    }
    /** thDiscardCommands: like the destructor, which ignores errors. */
    Result<Done> discard() {
        return end([&](auto error) { return thDiscardCommands(get(), error); });
    }

private:
    template <class Function>
    Result<Done> end(Function function) {
        auto ended = detail::run_once(error_, function);
        if (ended || ended.error().status != TH_STATUS_ERROR_IN_USE) release();
        return ended;
    }

    ThError error_ = nullptr;
};

/**
 * A frame whose description may change from frame to frame.
 *
 *     frame.select(builder).value();
 *     frame.begin({images, buffers}).value();
 *     tileheap::Commands commands = frame.begin_commands(0, command_buffer).value();
 *     draw(commands.begin_pass(GBUFFER).value());
 *     commands.end_pass().value();
 *     commands.end().value();
 *     frame.submit().value();
 *
 * Only one thread at a time may call its functions, except for `begin_commands`, `access`, `begin_secondary` and `bind_secondary_tile_memory` between `begin` and
 * `submit`, and for `wait` and `completed`. With a known description, no function allocates unless it fails.
 */
class DynamicFrame : public Owner<ThDynamicFrame, detail::destroy_dynamic_frame> {
public:
    using Owner::Owner;
    /** thCreateDynamicFrame. Without options, the defaults. */
    static Result<DynamicFrame> create(ThDevice device, const ThPlanOptionsDesc *options = nullptr, ThPlanMode mode = TH_PLAN_MODE_PLAN) {
        auto desc = sized<ThDynamicFrameDesc>();
        desc.mode = mode;
        desc.device = device;
        desc.options = options;
        return detail::create<DynamicFrame, ThDynamicFrame>(
            [&](auto out, auto error) { return thCreateDynamicFrame(&desc, out, error); });
    }
    /** thDestroyDynamicFrame: like the destructor, which ignores errors. After an error, the handle is still owned. */
    Result<Done> destroy() {
        return detail::run_once(error(), [&](auto error) {
            const ThStatus status = thDestroyDynamicFrame(get(), error);
            if (status >= 0) release();
            return status;
        });
    }
    /** thAbandonDynamicFrame: destroys it without waiting, if the device is lost. After an error, the handle is still owned. */
    Result<Done> abandon() {
        return detail::run_once(error(), [&](auto error) {
            const ThStatus status = thAbandonDynamicFrame(get(), error);
            if (status >= 0) release();
            return status;
        });
    }

    /** thSelectFrame */
    Result<ThSelectedFrame> select(const ThFrameDesc &desc) {
        return select_by([&](auto &out, auto error) { return thSelectFrame(get(), &desc, &out, error); });
    }
    Result<ThSelectedFrame> select(FrameBuilder &builder) { return select(builder.desc()); }
    /** thSelectCreatedFrame */
    Result<ThSelectedFrame> select_created(ThFrame created) {
        return select_by([&](auto &out, auto error) { return thSelectCreatedFrame(get(), created, &out, error); });
    }
    /** thCreateSelectedPlan */
    Result<Plan> plan() const {
        return detail::create<Plan, ThPlan>([&](auto out, auto error) { return thCreateSelectedPlan(get(), out, error); });
    }
    /** thGetSelectedQueue */
    Result<ThDeviceQueue> queue(uint32_t queue) const {
        return detail::call(ThDeviceQueue{}, [&](auto &out, auto error) { return thGetSelectedQueue(get(), queue, &out, error); });
    }
    /** thGetPassTarget */
    Result<ThPassTarget> target(uint32_t pass, uint32_t subpass = 0) const & {
        return detail::call(sized<ThPassTarget>(),
                            [&](auto &out, auto error) { return thGetPassTarget(get(), pass, subpass, &out, error); });
    }
    Result<ThPassTarget> target(uint32_t pass, uint32_t subpass = 0) const && = delete;
    /** thGetBoundAccess */
    Result<ThBoundAccess> access(uint32_t pass, uint32_t access) const {
        return detail::call(sized<ThBoundAccess>(),
                            [&](auto &out, auto error) { return thGetBoundAccess(get(), pass, access, &out, error); });
    }
    /** thGetBoundAccess for the first access of a pass to a resource, found by linear search. */
    Result<ThBoundAccess> access_of(uint32_t pass, uint32_t resource, ThHistoryVersion version = TH_HISTORY_VERSION_CURRENT) const {
        for (uint32_t index = 0;; index++) {
            auto bound = access(pass, index);
            if (bound && (bound->resource != resource || bound->version != version)) continue;
            if (bound || index == 0 || bound.error().status != TH_STATUS_ERROR_INVALID_ARGUMENT) return bound;
            return Error{TH_STATUS_ERROR_INVALID_ARGUMENT,
                         "pass " + std::to_string(pass) + " has no access of resource " + std::to_string(resource) +
                             (version == TH_HISTORY_VERSION_CURRENT ? "" : " in its previous version"),
                         {},
                         VK_SUCCESS};
        }
    }

    /** thBeginFrame. The result is the number of the frame. */
    Result<uint64_t> begin(const Imports &imports = {}) {
        const ThImports to = to_c(imports);
        return detail::call_once(error(), uint64_t(0), [&](auto &out, auto error) { return thBeginFrame(get(), &to, &out, error); });
    }
    /** thImportResources */
    Result<Done> import_resources(const Imports &imports) {
        const ThImports to = to_c(imports);
        return detail::run_once(error(), [&](auto error) { return thImportResources(get(), &to, error); });
    }
    /** thForgetImportedView */
    Result<Done> forget_imported_view(VkImageView view) {
        return detail::run_once(error(), [&](auto error) { return thForgetImportedView(get(), view, error); });
    }
    /** thSetRenderArea; null for a pass that renders nothing. */
    Result<Done> set_render_area(uint32_t pass, const VkRect2D *area) {
        return detail::run_once(error(), [&](auto error) { return thSetRenderArea(get(), pass, area, error); });
    }
    /** thBeginCommands. Different command buffers can be recorded on different threads. */
    Result<Commands> begin_commands(uint32_t index, VkCommandBuffer command_buffer) const {
        const size_t own = size_t(index) + 1;
        const ThError messages = own < errors_.size() ? errors_[own].get() : nullptr;
        const auto function = [&](ThCommands &out, ThError error) {
            return thBeginCommands(get(), index, command_buffer, &out, error);
        };
        auto handle = messages ? detail::call_once(messages, ThCommands(nullptr), function) : detail::call(ThCommands(nullptr), function);
        if (!handle) return handle.error();
        return Commands(*handle, messages);
    }
    /** thBeginSecondary */
    Result<Done> begin_secondary(VkCommandBuffer command_buffer, uint32_t pass, uint32_t subpass = 0) const {
        return detail::run([&](auto error) { return thBeginSecondary(get(), command_buffer, pass, subpass, error); });
    }
    /** thBindSecondaryTileMemory */
    Result<Done> bind_secondary_tile_memory(VkCommandBuffer command_buffer, uint32_t pass) const {
        return detail::run([&](auto error) { return thBindSecondaryTileMemory(get(), command_buffer, pass, error); });
    }
    /** thSubmitFrame */
    Result<Done> submit() {
        return detail::run_once(error(), [&](auto error) { return thSubmitFrame(get(), error); });
    }
    /** thSubmitFrameWith: `submit(const ThSubmitCall &)` returns a VkResult, and its exceptions propagate out of this function. */
    template <class Submit>
    Result<Done> submit_with(Submit submit) {
        const PFN_thSubmit callback = [](void *data, const ThSubmitCall *call) -> VkResult {
            return detail::catch_exceptions([&] { return (*static_cast<Submit *>(data))(*call); });
        };
        return detail::run_once(error(), [&](auto error) { return thSubmitFrameWith(get(), callback, &submit, error); });
    }
    /** thDiscardFrame */
    Result<Done> discard_frame() {
        return detail::run_once(error(), [&](auto error) { return thDiscardFrame(get(), error); });
    }

    /** thWaitForFrame */
    Result<WaitStatus> wait(uint64_t number, uint64_t timeout = UINT64_MAX) const {
        ThStatus status = TH_STATUS_SUCCESS;
        auto waited = detail::run([&](auto error) { return status = thWaitForFrame(get(), number, timeout, error); });
        if (!waited) return waited.error();
        return status == TH_STATUS_TIMEOUT ? WaitStatus::timeout : WaitStatus::complete;
    }
    /** thGetCompletedFrameCount: the number of complete frames. */
    Result<uint64_t> completed() const {
        return detail::call(uint64_t(0), [&](auto &out, auto error) { return thGetCompletedFrameCount(get(), &out, error); });
    }

private:
    template <class Function>
    Result<ThSelectedFrame> select_by(Function function) {
        auto selected = detail::call_once(error(), sized<ThSelectedFrame>(), function);
        if (selected)
            while (errors_.size() <= selected->commandBufferCount) errors_.push_back(detail::new_error());
        return selected;
    }
    ThError error() {
        if (errors_.empty()) errors_.push_back(detail::new_error());
        return errors_[0].get();
    }

    /** One error object for the functions that only one thread may call at a time, and one for each command buffer. */
    std::vector<detail::ErrorObject> errors_;
};

} // namespace tileheap

#endif // TILEHEAP_HPP
