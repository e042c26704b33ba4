/* plan.c [PROFILE]: plans a deferred frame at 1280x720 without a driver, and prints where its images are placed, when, and why.
 * Build: cc plan.c $(pkg-config --cflags --libs tileheap) -Wl,-rpath,FOLDER/lib -o plan. It needs Vulkan's headers, and nothing else of Vulkan. */
#include <stdio.h>
#include <stdlib.h>
#include <tileheap.h>

static ThError error;
static void check(ThStatus status) { /* Ends the program with the message of a function that failed. */
    ThStringView message = {"the library has no memory", TH_STRLEN};
    if (status >= 0) return;
    thGetErrorMessage(error, &message);
    fprintf(stderr, "error: %.*s\n", (int)message.length, message.data);
    exit(1);
}

static void check_destroyed(ThStatus status) { /* Destroy functions have no error object for a message. */
    if (status >= 0) return;
    fprintf(stderr, "error: cannot destroy an object: %s\n", status == TH_STATUS_ERROR_INVALID_HANDLE ? "its handle is invalid"
                                                            : status == TH_STATUS_ERROR_IN_USE       ? "it is in use"
                                                                                                     : "internal error");
    exit(1);
}

#define NAME(text) {(text), TH_STRLEN}
#define IMAGE(text, texels) {.structSize = sizeof(ThResourceDesc), .name = NAME(text), .format = (texels), .scale = {1, 1}}
#define USE(image, how, load) {.structSize = sizeof(ThAccessDesc), .resource = (image), .kind = TH_ACCESS_KIND_##how, .loadOp = VK_ATTACHMENT_LOAD_OP_##load}
#define PASS(text, uses) {.structSize = sizeof(ThPassDesc), .name = NAME(text), .accesses = (uses), .accessCount = sizeof(uses) / sizeof *(uses)}

int main(int count, char **arguments) {
    enum { ALBEDO, NORMAL, DEPTH, LIT, SCREEN, IMAGES };
    ThResourceDesc images[IMAGES] = {IMAGE("albedo", VK_FORMAT_R8G8B8A8_UNORM), IMAGE("normal", VK_FORMAT_R8G8B8A8_UNORM), IMAGE("depth", VK_FORMAT_D32_SFLOAT),
                                     IMAGE("lit", VK_FORMAT_B10G11R11_UFLOAT_PACK32), IMAGE("screen", VK_FORMAT_R8G8B8A8_UNORM)};
    images[SCREEN].persistence = TH_PERSISTENCE_SWAPCHAIN;
    const ThAccessDesc gbuffer[] = {USE(ALBEDO, COLOR_ATTACHMENT, CLEAR), USE(NORMAL, COLOR_ATTACHMENT, CLEAR), USE(DEPTH, DEPTH_STENCIL_ATTACHMENT, CLEAR)};
    const ThAccessDesc lighting[] = {USE(ALBEDO, SAMPLED_IMAGE, LOAD), USE(NORMAL, SAMPLED_IMAGE, LOAD), USE(DEPTH, SAMPLED_IMAGE, LOAD),
                                     USE(LIT, COLOR_ATTACHMENT, DONT_CARE)};
    const ThAccessDesc tonemap[] = {USE(LIT, SAMPLED_IMAGE, LOAD), USE(SCREEN, COLOR_ATTACHMENT, DONT_CARE)};
    const ThPassDesc passes[] = {PASS("gbuffer", gbuffer), PASS("lighting", lighting), PASS("tonemap", tonemap)};
    const ThFrameDesc desc = {.structSize = sizeof desc, .name = NAME("deferred"), .baseExtent = {1280, 720}, .resources = images,
                              .resourceCount = IMAGES, .passes = passes, .passCount = sizeof passes / sizeof *passes};
    const ThStringView profile_name = NAME(count > 1 ? arguments[1] : "adreno-830");
    ThPlanDesc inputs = {.structSize = sizeof inputs};
    ThPlanArrays rows = {.structSize = sizeof rows};
    ThPlan plan;
    check(thCreateError(&error));
    check(thCreateProfile(profile_name, &inputs.profile, error));
    check(thCreateFrame(&desc, &inputs.frame, error));
    check(thCreateEstimatedRequirements(inputs.frame, inputs.profile, &inputs.requirements, error)); /* With a device: thGetRequirementQueries. */
    check(thCreatePlan(&inputs, &plan, error));
    check(thGetPlan(plan, &rows, error));
    /* An image that is alive while several tile memory objects are bound has a row, and a VkImage, for each: at the same offset. */
    static const char *const kinds[] = {"lazy", "tile", "arena", "dedicated"};
    for (const ThPlannedPlacement *row = rows.placements; row != rows.placements + rows.placementCount; row++) {
        ThStringView name, reason;
        check(thGetFrameName(inputs.frame, TH_NAME_KIND_RESOURCE, row->resource, &name, error));
        check(thGetPlacementReason(plan, row->resource, &reason, error));
        printf("%-6.*s passes [%u, %u) ", (int)name.length, name.data, row->firstPass, row->endPass);
        if (row->object != TH_NONE)
            printf("object %u (%s) bytes [%8llu, %8llu) ", row->object, kinds[row->memory], (unsigned long long)row->offset,
                   (unsigned long long)(row->offset + row->size));
        printf("%.*s\n", (int)reason.length, reason.data);
    }
    check_destroyed(thDestroyPlan(plan));
    check_destroyed(thDestroyRequirements(inputs.requirements));
    check_destroyed(thDestroyFrame(inputs.frame));
    check_destroyed(thDestroyProfile(inputs.profile));
    check_destroyed(thDestroyError(error));
    return 0;
}
