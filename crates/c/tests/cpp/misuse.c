/* Mistakes of a program in C: each is a status and a message that names the function and the field, and none ends the process. */
#include <stdio.h>
#include <string.h>

#include <tileheap.h>

static ThError error;
static int failures = 0;

/** Checks the status of a call that has failed, and that its message is `expected`. */
static void expect(ThStatus status, ThStatus wanted, const char *expected) {
    ThStringView message = {0};
    thGetErrorMessage(error, &message);
    if (status == wanted && strlen(expected) == message.length && memcmp(message.data, expected, message.length) == 0) return;
    fprintf(stderr, "status %d in place of %d: %.*s\nin place of:         %s\n", (int)status, (int)wanted, (int)message.length, message.data,
            expected);
    failures++;
}

static ThStringView name(const char *text) { return (ThStringView){text, TH_STRLEN}; }

/** A frame of one pass that renders to one image, changed before it is created. */
typedef struct Small {
    ThResourceDesc resource;
    ThAccessDesc access;
    ThPassDesc pass;
    ThFrameDesc frame;
} Small;

static Small small(void) {
    return (Small){
        {.structSize = sizeof(ThResourceDesc), .name = name("color"), .format = VK_FORMAT_R8G8B8A8_UNORM, .extent = {64, 64, 1}},
        {.structSize = sizeof(ThAccessDesc), .kind = TH_ACCESS_KIND_COLOR_ATTACHMENT, .loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE},
        {.structSize = sizeof(ThPassDesc), .name = name("draw"), .accessCount = 1},
        {.structSize = sizeof(ThFrameDesc), .name = name("small"), .resourceCount = 1, .passCount = 1},
    };
}

static ThStatus create(Small *small, ThFrame *frame) {
    small->pass.accesses = &small->access;
    small->frame.passes = &small->pass;
    small->frame.resources = &small->resource;
    return thCreateFrame(&small->frame, frame, error);
}

/** Counts its calls, and ends the search at the second one. */
static VkBool32 watch(const ThTraffic *traffic, void *data) {
    return traffic->described > 0 && ++*(int *)data < 2;
}

int main(void) {
    ThFrame frame = NULL;
    ThProfile profile = NULL;
    ThRequirements requirements = NULL;
    ThPlan plan = NULL;
    ThLowerer lowerer = NULL;
    ThArrangement arrangement = NULL;
    if (thCreateError(&error) < 0) return 1;

    Small wrong = small();
    wrong.frame.structSize = 4;
    expect(create(&wrong, &frame), TH_STATUS_ERROR_STRUCT_SIZE, "thCreateFrame: structSize of ThFrameDesc is 4, but sizeof(ThFrameDesc) is 88");
    wrong = small();
    wrong.resource.reserved = 1;
    expect(create(&wrong, &frame), TH_STATUS_ERROR_INVALID_ARGUMENT,
           "thCreateFrame: resource `color`: ThFrameDesc.resources[0].reserved is 1: it must be 0");
    wrong = small();
    wrong.pass.flags = TH_PASS_FLAG_STRIPS << 1;
    expect(create(&wrong, &frame), TH_STATUS_ERROR_INVALID_ARGUMENT,
           "thCreateFrame: pass `draw`: ThFrameDesc.passes[0].flags is 0x10: ThPassFlag has no bits 0x10");
    wrong = small();
    wrong.access.kind = 99;
    expect(create(&wrong, &frame), TH_STATUS_ERROR_INVALID_ARGUMENT,
           "thCreateFrame: pass `draw`: ThFrameDesc.passes[0].accesses[0].kind is 99: ThAccessKind has the values 0 to 17");
    wrong = small();
    wrong.frame.queueCount = 2;
    expect(create(&wrong, &frame), TH_STATUS_ERROR_NULL_POINTER, "thCreateFrame: ThFrameDesc.queues is null, but queueCount is 2");
    wrong = small();
    wrong.resource.format = (VkFormat)12345;
    expect(create(&wrong, &frame), TH_STATUS_ERROR_INVALID_FRAME, "image `color`: format 12345 is unknown (not supported by tileheap)");
    wrong = small();
    wrong.resource.persistence = TH_PERSISTENCE_SWAPCHAIN;
    wrong.access.loadOp = VK_ATTACHMENT_LOAD_OP_LOAD;
    expect(create(&wrong, &frame), TH_STATUS_ERROR_INVALID_FRAME,
           "pass `draw` reads `color` before anything in the frame has written it: its load operation is LOAD, the default in C and JSON: use "
           "CLEAR or DONT_CARE. Otherwise write or clear it first: a swapchain image has no contents before the frame; if its contents matter, "
           "declare it as external, with the layout of its entry state");

    Small good = small();
    if (create(&good, &frame) < 0 || thCreateProfile(name("adreno-830"), &profile, error) < 0) return 1;
    if (thCreateEstimatedRequirements(frame, profile, &requirements, error) < 0) return 1;
    ThPlanOptionsDesc options = {.structSize = sizeof(ThPlanOptionsDesc), .flags = TH_PLAN_FLAG_NO_BIN_COST, .binCost = 5};
    ThPlanDesc desc = {
        .structSize = sizeof(ThPlanDesc), .frame = frame, .requirements = requirements, .profile = profile, .options = &options};
    expect(thCreatePlan(&desc, &plan, error), TH_STATUS_ERROR_INVALID_ARGUMENT,
           "thCreatePlan: ThPlanOptionsDesc.binCost is 5, but flags has TH_PLAN_FLAG_NO_BIN_COST: set only one of them");
    options.binCost = 0;
    if (thCreatePlan(&desc, &plan, error) < 0 || thCreateLowerer(&lowerer, error) < 0) return 1;

    ThLowered lowered = {.structSize = sizeof(ThLowered)};
    const ThFamilyQueue ignored = {VK_QUEUE_FAMILY_IGNORED, 0};
    const ThLowerDesc none = {.structSize = sizeof(ThLowerDesc), .plan = plan, .queueCount = 1, .queues = &ignored};
    expect(thLower(lowerer, &none, &lowered, error), TH_STATUS_ERROR_INVALID_ARGUMENT,
           "thLower: ThLowerDesc.queues[0].family is 4294967295, which is not the index of a queue family");
    expect(thGetLowered(lowerer, &lowered, error), TH_STATUS_ERROR_INVALID_ARGUMENT,
           "thGetLowered: the lowerer has no tables: nothing was lowered, or the last call failed");

    int calls = 0;
    const ThSearchDesc search = {.structSize = sizeof(ThSearchDesc), .progress = watch, .userData = &calls};
    if (thCreateArrangement(plan, &search, &arrangement, error) < 0 || calls > 2) return 1;

    thDestroyArrangement(arrangement);
    thDestroyLowerer(lowerer);
    thDestroyPlan(plan);
    thDestroyRequirements(requirements);
    thDestroyProfile(profile);
    thDestroyFrame(frame);
    desc.frame = (ThFrame)profile;
    expect(thCreatePlan(&desc, &plan, error), TH_STATUS_ERROR_INVALID_HANDLE, "thCreatePlan: ThPlanDesc.frame is a ThProfile: expected a ThFrame");
    expect(thCheckPlan(plan, error), TH_STATUS_ERROR_INVALID_HANDLE, "thCheckPlan: plan is null: expected a ThPlan");
    thDestroyError(error);
    return failures != 0;
}
