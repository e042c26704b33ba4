/*
 * tileheap.h: plans which images and buffers of a frame live in on-chip tile memory (VK_QCOM_tile_memory_heap) and when, gives the others
 * placements in shared, aliased memory, and returns the parameters of every Vulkan call.
 *
 * describe -> measure -> plan -> lower -> create, record and submit with your own code
 * create a device -> select a frame by its description -> record its passes -> submit, and tileheap calls Vulkan around your commands
 *
 * Written by cbindgen from crates/c; do not edit.
 *
 * Conventions
 * - Zero a structure that begins with structSize, then set structSize to its size; a field that is zero has its default. Later versions add
 *   fields at the end, and a program that was compiled with an older header works with a newer library. Structures without structSize do not
 *   change within a SONAME.
 * - Functions that create an object are named thCreate, and it is destroyed with thDestroy; those that return something are named thGet.
 * - Arrays are a count and a pointer. Strings are UTF-8 with a length; with the length TH_STRLEN they end in a zero byte.
 * - Functions return a ThStatus, which is negative for errors. The last parameter of most is an error object, which receives the message, or
 *   null; an invalid error object is ignored. After an error, a handle that would have been created is null, and other outputs are unchanged.
 * - Handles are numbers. Null, destroyed and foreign ones are errors, not crashes. Objects are immutable, except error objects, planners,
 *   lowerers and recordings, which one thread at a time may use, and devices and dynamic frames, whose functions say what they allow.
 * - The library has no settings, starts no threads and prints nothing. Blocks of ordinary device memory come from the program's callbacks; only
 *   tile memory and lazily allocated memory, which must be objects of their own, come from vkAllocateMemory. The handle table is the only
 *   state that objects share.
 * - Callbacks must neither throw nor longjmp. Those of the runtime must not call functions of devices and dynamic frames, which return
 *   TH_STATUS_ERROR_IN_USE, and must not wait for a mutex that another thread holds while it calls the library.
 */

#ifndef TILEHEAP_H
#define TILEHEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vulkan/vulkan_core.h>

#include "tileheap_vulkan.h"

/** The version of this header; thGetVersion has that of the library. */
#define TH_VERSION_MAJOR 0
#define TH_VERSION_MINOR 1
#define TH_VERSION_PATCH 0

/** No index. */
#define TH_NONE UINT32_MAX
/** The length to pass for a string that ends in a zero byte. */
#define TH_STRLEN SIZE_MAX

#ifndef TH_API
#if defined(_WIN32) && !defined(TH_STATIC)
#define TH_API __declspec(dllimport)
#else
#define TH_API
#endif
#endif

/* In C, an enumeration is an integer of the given size; its constants have the type int. */
#ifdef __cplusplus
#define TH_ENUM(name, type) enum name : type
#else
#define TH_ENUM(name, type) typedef type name; enum name
#endif

/**
 * The result of a function: 0 or more for success, negative for an error.
 *
 * The message of an error is in the `ThError` that the function was called with. Functions without such a parameter, such as most `thDestroy...`
 * functions, do not change any message: only the status says why they failed.
 */
TH_ENUM(ThStatus, int32_t) {
    /** The function succeeded. */
    TH_STATUS_SUCCESS = 0,
    /** The array was too short: it has the first elements, and the count says how many were written. */
    TH_STATUS_INCOMPLETE = 1,
    /** Time ran out before the frame was complete on the device. */
    TH_STATUS_TIMEOUT = 2,
    /** A pointer that must point to something is null. */
    TH_STATUS_ERROR_NULL_POINTER = -1,
    /** `structSize` of a structure is not its size in any version of the header that the library knows. */
    TH_STATUS_ERROR_STRUCT_SIZE = -2,
    /** A handle is null, was destroyed, or is not one of the expected type. */
    TH_STATUS_ERROR_INVALID_HANDLE = -3,
    /**
     * The object is in use: by another thread, although it allows one thread at a time; by objects that have to be destroyed first; or by the call
     * that invoked the callback that is running.
     */
    TH_STATUS_ERROR_IN_USE = -4,
    /** A number, an index, a name or a string is not one that the function accepts. */
    TH_STATUS_ERROR_INVALID_ARGUMENT = -5,
    /** The description of a frame breaks a rule. */
    TH_STATUS_ERROR_INVALID_FRAME = -6,
    /** A device profile contradicts itself, or a resource is larger than the largest allocation that it permits. */
    TH_STATUS_ERROR_INVALID_PROFILE = -7,
    /** A string is not a document of the expected format. */
    TH_STATUS_ERROR_INVALID_DOCUMENT = -8,
    /** The frame cannot be planned for this device, for example because a pinned resource does not fit. */
    TH_STATUS_ERROR_CANNOT_PLAN = -9,
    /** The frame cannot run in this arrangement. */
    TH_STATUS_ERROR_CANNOT_ARRANGE = -10,
    /** The plan cannot be lowered for these queues, or `thCreateAliasing` does not support it. */
    TH_STATUS_ERROR_CANNOT_LOWER = -11,
    /** A checker refused a plan or tables. */
    TH_STATUS_ERROR_CHECK_FAILED = -12,
    /** The Vulkan driver returned an error, or lacks a function. */
    TH_STATUS_ERROR_VULKAN = -13,
    /** A defect in the library. The objects that were passed to the call can only be destroyed. */
    TH_STATUS_ERROR_INTERNAL = -14,
    /** Functions were called in the wrong order; the message names the function to call first. */
    TH_STATUS_ERROR_WRONG_STATE = -15,
    /** The memory of the device or the host, or the memory limit, is used up. */
    TH_STATUS_ERROR_OUT_OF_MEMORY = -16,
    /** The device is lost (`VK_ERROR_DEVICE_LOST`). Submitted work may still be executing until `vkDeviceWaitIdle` returns, with any result. */
    TH_STATUS_ERROR_DEVICE_LOST = -17,
};

/** The type of a resource. */
TH_ENUM(ThResourceType, uint32_t) {
    /** An image. */
    TH_RESOURCE_TYPE_IMAGE,
    /** A buffer. */
    TH_RESOURCE_TYPE_BUFFER,
};

/** The time for which the contents of a resource are needed. */
TH_ENUM(ThPersistence, uint32_t) {
    /** Written and read within the frame. */
    TH_PERSISTENCE_TRANSIENT,
    /** Written in this frame and read in the next one, with `TH_ACCESS_FLAG_PREVIOUS`. */
    TH_PERSISTENCE_HISTORY,
    /** Owned by the caller; `entry` and `exit` are its states before and after the frame. */
    TH_PERSISTENCE_EXTERNAL,
    /** A swapchain image: contents undefined before the frame, presentable after it. `entry` and `exit` are ignored. */
    TH_PERSISTENCE_SWAPCHAIN,
    /** A buffer that the frame fills and the host reads after it. `entry` and `exit` are ignored. */
    TH_PERSISTENCE_READ_BACK,
};

/** The kind of commands that a pass records. */
TH_ENUM(ThPassType, uint32_t) {
    /** Draws, in one render pass instance. */
    TH_PASS_TYPE_RENDER,
    /** Dispatches and other action commands outside of render passes. */
    TH_PASS_TYPE_COMPUTE,
    /** Copies, blits, fills and clears. */
    TH_PASS_TYPE_TRANSFER,
};

/** The kind of memory a resource is placed in. */
TH_ENUM(ThMemoryKind, uint32_t) {
    /** Lazily allocated memory of an attachment that is used only inside one render pass. */
    TH_MEMORY_KIND_LAZY,
    /** A range of the tile heap. */
    TH_MEMORY_KIND_TILE,
    /** A range of a planned block of ordinary memory. */
    TH_MEMORY_KIND_ARENA,
    /** A dedicated allocation, or the caller's memory. */
    TH_MEMORY_KIND_DEDICATED,
};

/** A resource's need for a dedicated allocation (`VkMemoryDedicatedRequirements`). */
TH_ENUM(ThDedicated, uint32_t) {
    /** The resource can share an allocation. */
    TH_DEDICATED_NO,
    /** `prefersDedicatedAllocation`. */
    TH_DEDICATED_PREFERRED,
    /** `requiresDedicatedAllocation`. */
    TH_DEDICATED_REQUIRED,
};

/** The parity of a frame, which selects the current copy of each history resource. */
TH_ENUM(ThParity, uint32_t) {
    /** The copy of frames 0, 2, 4 and so on. */
    TH_PARITY_EVEN,
    /** The copy of frames 1, 3, 5 and so on. */
    TH_PARITY_ODD,
};

/**
 * Reason for a resource's sharing mode.
 *
 * Drivers may store shared images without compression, so a resource is exclusive if transfers can order its uses.
 */
TH_ENUM(ThSharingReason, uint32_t) {
    /** Exclusive: one queue family uses the resource. */
    TH_SHARING_REASON_ONE_FAMILY,
    /** Exclusive: several queue families use the resource one after another, with ownership transfers between them. */
    TH_SHARING_REASON_TRANSFERS,
    /** Shared: several queue families read the resource at the same time. */
    TH_SHARING_REASON_CONCURRENT_READS,
    /** Shared: several queue families use a history, and the next frame determines which of them uses it next. */
    TH_SHARING_REASON_HISTORY,
};

/** The version of a history resource that an access refers to. */
TH_ENUM(ThHistoryVersion, uint32_t) {
    /** Contents written by this frame. */
    TH_HISTORY_VERSION_CURRENT,
    /** Contents written by the previous frame; read-only. */
    TH_HISTORY_VERSION_PREVIOUS,
};

/** The use of a resource by a pass. Stages, accesses, usages and layouts derive from it. */
TH_ENUM(ThAccessKind, uint32_t) {
    /** A color attachment; the n-th of a pass is attachment n. */
    TH_ACCESS_KIND_COLOR_ATTACHMENT,
    /** The depth and stencil attachment. */
    TH_ACCESS_KIND_DEPTH_STENCIL_ATTACHMENT,
    /** Receives the resolved samples of `resolveSource`. */
    TH_ACCESS_KIND_RESOLVE_ATTACHMENT,
    /** Read at the fragment's own pixel. */
    TH_ACCESS_KIND_INPUT_ATTACHMENT,
    /** An attachment of the pass that shaders access within their tile (`VK_QCOM_tile_shading`). */
    TH_ACCESS_KIND_TILE_ATTACHMENT,
    /** A sampled image. */
    TH_ACCESS_KIND_SAMPLED_IMAGE,
    /** A fragment density map. */
    TH_ACCESS_KIND_FRAGMENT_DENSITY_MAP,
    /** A storage image. */
    TH_ACCESS_KIND_STORAGE_IMAGE,
    /** A uniform buffer. */
    TH_ACCESS_KIND_UNIFORM_BUFFER,
    /** A storage buffer. */
    TH_ACCESS_KIND_STORAGE_BUFFER,
    /** A uniform texel buffer. */
    TH_ACCESS_KIND_UNIFORM_TEXEL_BUFFER,
    /** A storage texel buffer. */
    TH_ACCESS_KIND_STORAGE_TEXEL_BUFFER,
    /** Memory reached through a buffer device address. */
    TH_ACCESS_KIND_DEVICE_ADDRESS,
    /** Vertex attributes. */
    TH_ACCESS_KIND_VERTEX_BUFFER,
    /** Indices. */
    TH_ACCESS_KIND_INDEX_BUFFER,
    /** Parameters of indirect draws and dispatches. */
    TH_ACCESS_KIND_INDIRECT_BUFFER,
    /** The source of a copy, blit or resolve command. */
    TH_ACCESS_KIND_TRANSFER_SOURCE,
    /** The destination of a copy, blit, fill, clear or resolve command. */
    TH_ACCESS_KIND_TRANSFER_DESTINATION,
};

/** The active member of a `VkClearValue`. */
TH_ENUM(ThClearKind, uint32_t) {
    /** `VkClearColorValue::float32`. */
    TH_CLEAR_KIND_FLOAT,
    /** `VkClearColorValue::int32`. */
    TH_CLEAR_KIND_INT,
    /** `VkClearColorValue::uint32`. */
    TH_CLEAR_KIND_UINT,
    /** `VkClearDepthStencilValue`: a float, then an integer. */
    TH_CLEAR_KIND_DEPTH_STENCIL,
};

/** The shaders that a store runs. `thGetStoreShaders` returns their code. */
TH_ENUM(ThStoreShader, uint32_t) {
    /** A triangle over the render area, to a color attachment of a float or normalized format. */
    TH_STORE_SHADER_FLOAT,
    /** A triangle over the render area, to a color attachment of a signed integer format. */
    TH_STORE_SHADER_INT,
    /** A triangle over the render area, to a color attachment of an unsigned integer format. */
    TH_STORE_SHADER_UINT,
    /** A triangle over the render area, to a depth attachment (written as `gl_FragDepth`). */
    TH_STORE_SHADER_DEPTH,
    /** A dispatch that copies a buffer in words of four bytes. */
    TH_STORE_SHADER_BUFFER,
};

/** The contents of a row of `ThLowered::passes`. */
TH_ENUM(ThPassContents, uint32_t) {
    /** The caller's commands for a pass of the frame. */
    TH_PASS_CONTENTS_DESCRIBED,
    /** A copy out of tile memory or at the border of a strip, by a draw or a dispatch: a row of `ThLowered::stores`. */
    TH_PASS_CONTENTS_STORE,
    /** A clear of contents that the frame reads and no earlier frame has written: a row of `ThLowered::clears`. */
    TH_PASS_CONTENTS_CLEAR,
};

/** Reason for a barrier. */
TH_ENUM(ThBarrierCause, uint32_t) {
    /** One of two uses writes, or the layout changes. */
    TH_BARRIER_CAUSE_HAZARD,
    /** First use of bytes that another resource held, in this frame or in earlier work. */
    TH_BARRIER_CAUSE_ALIASING,
    /** The previous use was through an image of the same resource in another tile memory object. */
    TH_BARRIER_CAUSE_LADDER,
    /** First use since an earlier frame. */
    TH_BARRIER_CAUSE_EARLIER_FRAME,
    /** The entry state of an external resource. */
    TH_BARRIER_CAUSE_ENTRY,
    /** The exit state of an external resource. */
    TH_BARRIER_CAUSE_EXIT,
    /** Released to another queue family. */
    TH_BARRIER_CAUSE_RELEASE,
    /** Acquired from another queue family. */
    TH_BARRIER_CAUSE_ACQUIRE,
};

/** The kind of a semaphore. */
TH_ENUM(ThSemaphoreKind, uint32_t) {
    /** A semaphore that the frame declares. */
    TH_SEMAPHORE_KIND_DECLARED,
    /** The timeline semaphore of a device queue. */
    TH_SEMAPHORE_KIND_QUEUE,
};

/** The kind of an address space. */
TH_ENUM(ThAddressSpaceKind, uint32_t) {
    /** The tile heap, as one device queue sees it: every tile memory object begins at its address 0. */
    TH_ADDRESS_SPACE_KIND_TILE,
    /** A row of `ThLowered::memory`. */
    TH_ADDRESS_SPACE_KIND_MEMORY,
};

/** Strategies that choose which resources are placed in tile memory. */
TH_ENUM(ThStrategy, uint32_t) {
    /** A search that proves optimality or reports a bound. */
    TH_STRATEGY_OPTIMAL,
    /** A greedy choice by savings per byte and step, the best of several orders. */
    TH_STRATEGY_GREEDY,
    /** A greedy choice in a single order. */
    TH_STRATEGY_FAST,
    /** The vendor sample's policy: resources in declaration order, with the whole heap always bound. */
    TH_STRATEGY_FIRST_COME,
    /** Nothing in tile memory. */
    TH_STRATEGY_OFF,
};

/**
 * Tile memory objects of different sizes for resources with overlapping lifetimes: a smaller object is bound in passes in which fewer bytes are
 * alive. A resource that is alive while several are bound has an image in each, at the same offset.
 */
TH_ENUM(ThLadder, uint32_t) {
    /** A ladder if the model estimates a lower binning cost. */
    TH_LADDER_AUTO,
    /** No ladder. `thCreateAliasing` requires this. */
    TH_LADDER_OFF,
    /** A ladder wherever it reserves fewer bytes. */
    TH_LADDER_ALWAYS,
};

/** Policy of a planner for making and reusing plans. */
TH_ENUM(ThPlanMode, uint32_t) {
    /** Plans the frame with the given options, or returns the existing plan of a known frame. */
    TH_PLAN_MODE_PLAN,
    /** Returns a plan at once: a known plan is repaired, or the frame is planned by `TH_STRATEGY_FAST`. */
    TH_PLAN_MODE_NOW,
    /** Improves the known plan by a search with twice as many steps as before. */
    TH_PLAN_MODE_IMPROVE,
};

/** The constraint on placing a resource in tile memory. */
TH_ENUM(ThTileConstraint, uint32_t) {
    /** The planner chooses the memory. */
    TH_TILE_CONSTRAINT_NONE,
    /** The resource must be in tile memory; planning fails if it cannot be. */
    TH_TILE_CONSTRAINT_PINNED,
    /** The resource must not be in tile memory. */
    TH_TILE_CONSTRAINT_EXCLUDED,
};

/** The queue family, outside of the device, that owns an external resource. */
TH_ENUM(ThExternalFamily, uint32_t) {
    /** None: the family of the queue that uses the resource in the frame owns it. */
    TH_EXTERNAL_FAMILY_NONE,
    /** `VK_QUEUE_FAMILY_EXTERNAL`. */
    TH_EXTERNAL_FAMILY_EXTERNAL,
    /** `VK_QUEUE_FAMILY_FOREIGN_EXT`. */
    TH_EXTERNAL_FAMILY_FOREIGN,
};

/** Permission to skip a pass in a frame, and the state of its outputs if it is skipped. */
TH_ENUM(ThSkippedOutputs, uint32_t) {
    /** The pass must not be skipped. */
    TH_SKIPPED_OUTPUTS_NONE,
    /** If the pass is skipped, its outputs keep their contents, or are cleared. */
    TH_SKIPPED_OUTPUTS_KEPT,
    /** If the pass is skipped, the contents that it would overwrite are undefined. */
    TH_SKIPPED_OUTPUTS_LOST,
};

/** The kind of object that a name belongs to. */
TH_ENUM(ThNameKind, uint32_t) {
    /** A resource. */
    TH_NAME_KIND_RESOURCE,
    /** A pass. */
    TH_NAME_KIND_PASS,
    /** A command buffer. */
    TH_NAME_KIND_COMMAND_BUFFER,
    /** A semaphore. */
    TH_NAME_KIND_SEMAPHORE,
    /** A queue. */
    TH_NAME_KIND_QUEUE,
};

/** The format of a report. */
TH_ENUM(ThReportFormat, uint32_t) {
    /** Text for people, of at most 110 columns. */
    TH_REPORT_FORMAT_TEXT,
    /** JSON, as the command `tileheap` writes and reads it. */
    TH_REPORT_FORMAT_JSON,
};

/** Device features that change how a frame is planned or recorded. */
TH_ENUM(ThFeatureFlag, uint32_t) {
    /** `synchronization2`. */
    TH_FEATURE_FLAG_SYNCHRONIZATION2 = (1 << 0),
    /** `dynamicRendering`. */
    TH_FEATURE_FLAG_DYNAMIC_RENDERING = (1 << 1),
    /** `timelineSemaphore`. */
    TH_FEATURE_FLAG_TIMELINE_SEMAPHORE = (1 << 2),
    /** `maintenance4`. */
    TH_FEATURE_FLAG_MAINTENANCE4 = (1 << 3),
    /** `VK_ATTACHMENT_STORE_OP_NONE`. */
    TH_FEATURE_FLAG_STORE_OP_NONE = (1 << 4),
    /** `dynamicRenderingLocalRead`. */
    TH_FEATURE_FLAG_LOCAL_READ = (1 << 5),
    /** `separateDepthStencilLayouts`. */
    TH_FEATURE_FLAG_SEPARATE_DEPTH_STENCIL_LAYOUTS = (1 << 6),
    /** `multiview`. */
    TH_FEATURE_FLAG_MULTIVIEW = (1 << 7),
    /** `maintenance9`. */
    TH_FEATURE_FLAG_MAINTENANCE9 = (1 << 8),
    /** `VkSubpassDescriptionDepthStencilResolve`. */
    TH_FEATURE_FLAG_DEPTH_STENCIL_RESOLVE = (1 << 9),
    /** `tileMemoryHeap`. */
    TH_FEATURE_FLAG_TILE_MEMORY = (1 << 16),
};

/** Properties of a resource. */
TH_ENUM(ThResourceFlag, uint32_t) {
    /**
     * Each level may be a separate image: if no access covers several levels, level 0 keeps the index and the name, and the others are appended to the
     * resources of the frame (`ThResourceInfo::levelOf`), with names such as "bloom level 1".
     */
    TH_RESOURCE_FLAG_SEPARATE_LEVELS = (1 << 0),
    /** The image is 1D. Without this flag and the next, an image is 2D. */
    TH_RESOURCE_FLAG_IMAGE1D = (1 << 1),
    /** The image is 3D. */
    TH_RESOURCE_FLAG_IMAGE3D = (1 << 2),
};

/** Properties of a pass. */
TH_ENUM(ThPassFlag, uint32_t) {
    /** The contents of the pass are recorded in secondary command buffers. */
    TH_PASS_FLAG_SECONDARY = (1 << 0),
    /** The pass uses tile shading (`VK_QCOM_tile_shading`). */
    TH_PASS_FLAG_TILE_SHADING = (1 << 1),
    /** The pass renders to `renderArea`; without this flag, to the whole area that all attachments cover. Required for a render pass without attachments. */
    TH_PASS_FLAG_RENDER_AREA = (1 << 2),
    /** The pass can run strip by strip; one more execution costs `repeatBytes`. */
    TH_PASS_FLAG_STRIPS = (1 << 3),
};

/** Properties of an access. */
TH_ENUM(ThAccessFlag, uint32_t) {
    /** The access reads. */
    TH_ACCESS_FLAG_READ = (1 << 0),
    /** The access writes. */
    TH_ACCESS_FLAG_WRITE = (1 << 1),
    /** The access reads the contents that the previous frame left in a history resource. */
    TH_ACCESS_FLAG_PREVIOUS = (1 << 2),
    /** `viewType` is used; without this flag, the type of the view follows from the image and the range. */
    TH_ACCESS_FLAG_VIEW_TYPE = (1 << 3),
    /** `reachTexels` is used. */
    TH_ACCESS_FLAG_REACH = (1 << 4),
    /** `measuredSavings` is used. */
    TH_ACCESS_FLAG_MEASURED = (1 << 5),
};

/** Planning options that are on or off. */
TH_ENUM(ThPlanFlag, uint32_t) {
    /** Resources do not share bytes. */
    TH_PLAN_FLAG_NO_ALIASING = (1 << 0),
    /** No lazily allocated memory. */
    TH_PLAN_FLAG_NO_LAZY_MEMORY = (1 << 1),
    /** Lifetimes may be split by copies out of tile memory: rows of `ThLowered::stores` in tables, recorded by the runtime in dynamic frames. */
    TH_PLAN_FLAG_SPLIT = (1 << 2),
    /** The bins that reserving tile memory adds cost nothing. Without this flag, each costs `binCost`, or the model's cost if that is 0. */
    TH_PLAN_FLAG_NO_BIN_COST = (1 << 3),
};

/** The changes that a search for arrangements may make. */
TH_ENUM(ThSearchFlag, uint32_t) {
    /** Passes may run in another order. */
    TH_SEARCH_FLAG_ORDER = (1 << 0),
    /** Render passes may run as one. */
    TH_SEARCH_FLAG_MERGE = (1 << 1),
    /** Batches may be submitted as one. */
    TH_SEARCH_FLAG_FUSE = (1 << 2),
    /** Passes may run strip by strip. */
    TH_SEARCH_FLAG_STRIPS = (1 << 3),
    /** Images may have narrower formats. */
    TH_SEARCH_FLAG_FORMAT = (1 << 4),
    /** Images may be smaller. */
    TH_SEARCH_FLAG_EXTENT = (1 << 5),
    /** Uses that keep a resource off chip may be left out. */
    TH_SEARCH_FLAG_USAGE = (1 << 6),
};

/** The previous users of each placement's bytes. */
typedef struct ThAliasingT ThAliasingT;

/** A frame rearranged to keep more traffic on chip: passes in another order, merged or run in strips, and fused batches. */
typedef struct ThArrangementT ThArrangementT;

/** The recording of one command buffer. */
typedef struct ThCommandsT ThCommandsT;

/** Extensions and features that tileheap adds to a `VkDeviceCreateInfo`. */
typedef struct ThDeviceAdditionsT ThDeviceAdditionsT;

/** A device that the program created, on which frames run. */
typedef struct ThDeviceT ThDeviceT;

/**
 * A frame whose description may change from frame to frame.
 *
 * ```text
 *        thSelectFrame        thBeginFrame           thSubmitFrame
 * idle ---------------> selected ---------> recording -----------> idle
 *   ^                                           | thDiscardFrame
 *   +-------------------------------------------+
 * ```
 * Every frame is selected, even if its description has not changed. Frames of a dynamic frame execute one after another on the device and share all
 * images and buffers. Only command buffers, pools, imported objects and data written by the host need a copy per frame in flight.
 */
typedef struct ThDynamicFrameT ThDynamicFrameT;

/** Receives the messages of functions that fail. */
typedef struct ThErrorT ThErrorT;

/** A validated description of a frame. */
typedef struct ThFrameT ThFrameT;

/** Lowers plans into tables, which it owns. */
typedef struct ThLowererT ThLowererT;

/** The placement of every resource of a frame. */
typedef struct ThPlanT ThPlanT;

/** Remembers plans, so that a frame that was planned before is not planned again. */
typedef struct ThPlannerT ThPlannerT;

/** The properties of a device: memory heaps and types, tile memory, limits and features. */
typedef struct ThProfileT ThProfileT;

/** The memory requirements of a frame's resources on a device. */
typedef struct ThRequirementsT ThRequirementsT;

/** Text that the library wrote: a report or a document. */
typedef struct ThTextT ThTextT;

/** An error object; see `thCreateError`. */
typedef struct ThErrorT *ThError;

/**
 * A UTF-8 string, terminated by a zero byte if its length is `TH_STRLEN`. Strings that the library returns have an explicit length, and are
 * not terminated.
 */
typedef struct ThStringView {
    /** The first byte; null for no string. */
    const char *data;
    /** The number of bytes, or `TH_STRLEN`. */
    size_t length;
} ThStringView;

/** A report or a document as text. */
typedef struct ThTextT *ThText;

/** A device profile; see `thCreateProfile`. */
typedef struct ThProfileT *ThProfile;

/** A physical device whose profile is queried. */
typedef struct ThPhysicalDeviceDesc {
    /** `sizeof(ThPhysicalDeviceDesc)`. */
    uint32_t structSize;
    /** `apiVersion` of the `VkApplicationInfo` that the instance was created with; at least `VK_API_VERSION_1_1`. */
    uint32_t apiVersion;
    /** `vkGetInstanceProcAddr` of the Vulkan loader. */
    PFN_vkGetInstanceProcAddr getInstanceProcAddr;
    /** The instance. */
    VkInstance instance;
    /** The physical device. */
    VkPhysicalDevice physicalDevice;
    /**
     * The features that the device is created with, as bits of `ThFeatureFlag`; `UINT32_MAX` for all that the physical device has. Plans use only
     * these features.
     */
    uint32_t enabled;
    /** Zero. */
    uint32_t reserved;
} ThPhysicalDeviceDesc;

/** The tile heap and the features of a device profile. */
typedef struct ThProfileInfo {
    /** `sizeof(ThProfileInfo)`. */
    uint32_t structSize;
    /** Bits of `ThFeatureFlag`. */
    uint32_t features;
    /** The name of the profile or the device. */
    struct ThStringView name;
    /** The source of the profile's values. */
    struct ThStringView source;
    /** The size of the tile heap in bytes; 0 without a tile heap. */
    uint64_t tileSize;
    /** The on-chip memory that the tile heap and the driver's binning share, in bytes; 0 if unknown. */
    uint64_t gmem;
    /** The index of the tile heap, or `TH_NONE`. */
    uint32_t tileHeap;
    /** The index of the memory type of the tile heap, or `TH_NONE`. */
    uint32_t tileMemoryType;
    /** `queueSubmitBoundary`: contents of tile memory last until the end of a submit, not only of a batch. */
    VkBool32 queueSubmitBoundary;
    /** `tileBufferTransfers`: buffers in tile memory can be copied from and to. */
    VkBool32 tileBufferTransfers;
} ThProfileInfo;

/** The state of an external resource before or after the frame. */
typedef struct ThExternalState {
    /** The layout; `VK_IMAGE_LAYOUT_UNDEFINED` for buffers, and before the frame for contents that do not matter. */
    VkImageLayout layout;
    /** The queue family, outside of the device, that owns the resource. */
    ThExternalFamily family;
    /** The pipeline stages that access the resource before or after the frame. */
    VkPipelineStageFlags2 stages;
    /** The access types of those stages. */
    VkAccessFlags2 access;
} ThExternalState;

/** An image or a buffer. Its usage derives from the accesses. */
typedef struct ThResourceDesc {
    /** `sizeof(ThResourceDesc)`. */
    uint32_t structSize;
    /** Image or buffer. */
    ThResourceType resourceType;
    /** The name of the resource, unique in the frame. */
    struct ThStringView name;
    /** The time for which the contents of the resource are needed. */
    ThPersistence persistence;
    /** The constraint on placing the resource in tile memory. */
    ThTileConstraint tileConstraint;
    /** The state of an external resource before the frame. */
    struct ThExternalState entry;
    /** The state of an external resource after the frame. */
    struct ThExternalState exit;
    /** Bits of `ThResourceFlag`. */
    uint32_t flags;
    /** The format of an image. */
    VkFormat format;
    /** The size of an image in texels; depth 0 means 1. All zeros if `scale` is set. */
    VkExtent3D extent;
    /** The size of an image as fractions of the frame's base extent, rounded up. Zeros if `extent` is set. */
    float scale[2];
    /** Mip levels; 0 means 1. */
    uint32_t mipLevels;
    /** Array layers; 0 means 1. */
    uint32_t arrayLayers;
    /** Samples per texel; 0 means `VK_SAMPLE_COUNT_1_BIT`. */
    VkSampleCountFlags samples;
    /** Creation flags of an image in addition to those that follow from the plan. */
    VkImageCreateFlags imageFlags;
    /** Usage of an image in addition to that of its accesses. */
    VkImageUsageFlags imageUsage;
    /** Usage of a buffer in addition to that of its accesses. */
    VkBufferUsageFlags bufferUsage;
    /**
     * A number that the caller chooses for structures that it chains to the creation of the image or buffer; 0 for none. Dynamic frames
     * need 0.
     */
    uint32_t hook;
    /** Zero. */
    uint32_t reserved;
    /** The size of a buffer in bytes. */
    uint64_t size;
} ThResourceDesc;

/** One use of one resource by one pass. */
typedef struct ThAccessDesc {
    /** `sizeof(ThAccessDesc)`. */
    uint32_t structSize;
    /** The use of the resource. */
    ThAccessKind kind;
    /** The index of the resource. */
    uint32_t resource;
    /** The index of the subpass of a render pass that makes the access. Accesses of a pass are listed by subpass. */
    uint32_t subpass;
    /**
     * Bits of `ThAccessFlag`. Without `TH_ACCESS_FLAG_READ` and `TH_ACCESS_FLAG_WRITE`, attachments are written, and read if they are loaded;
     * transfer destinations are written; everything else that can only be read is read. Storage resources, device addresses and tile
     * attachments need one or both.
     */
    uint32_t flags;
    /**
     * The load operation of a written attachment. Other resources keep their contents if they are read and written, and lose them if they are only
     * written.
     */
    VkAttachmentLoadOp loadOp;
    /** The value for `VK_ATTACHMENT_LOAD_OP_CLEAR`, in the numeric type of the format. */
    VkClearValue clear;
    /** The pipeline stages of the access; 0 for those that follow from the kind and the pass. */
    VkPipelineStageFlags2 stages;
    /**
     * The part of an image. Zeros mean all aspects, and all levels and layers from the first on; for an attachment, level 0 only. Slices of 3D
     * images count as layers.
     */
    VkImageSubresourceRange range;
    /** The type of the view, with `TH_ACCESS_FLAG_VIEW_TYPE`. */
    VkImageViewType viewType;
    /** The format of the view; `VK_FORMAT_UNDEFINED` for that of the image. */
    VkFormat viewFormat;
    /** The index of the resource whose samples a resolve attachment receives. */
    uint32_t resolveSource;
    /** The maximum distance of a read from the fragment's own pixel, in texels, with `TH_ACCESS_FLAG_REACH`; `UINT32_MAX` for anywhere. */
    uint32_t reachTexels;
    /** The measured savings of keeping the resource on chip for this access, in bytes of memory traffic per frame, with `TH_ACCESS_FLAG_MEASURED`. */
    uint64_t measuredSavings;
} ThAccessDesc;

/** A pass: draws of one render pass instance, or dispatches or copies between barriers. */
typedef struct ThPassDesc {
    /** `sizeof(ThPassDesc)`. */
    uint32_t structSize;
    /** The kind of commands. 0 is a render pass. */
    ThPassType passType;
    /** The name of the pass, unique in the frame. */
    struct ThStringView name;
    /** Bits of `ThPassFlag`. */
    uint32_t flags;
    /** Permission to skip the pass in a frame. */
    ThSkippedOutputs skippedOutputs;
    /**
     * The area that the pass renders to, with `TH_PASS_FLAG_RENDER_AREA`. Without the flag, the area is from the origin to the smallest width and the
     * smallest height of all attachments, input attachments included; the report of a plan names passes that thus leave out a part of an attachment.
     */
    VkRect2D renderArea;
    /** The view mask of multiview; 0 without multiview. */
    uint32_t viewMask;
    /** The samples of the pass's pipelines if they differ from those of the attachments, or 0. */
    VkSampleCountFlags samples;
    /** The cost of one more execution, in bytes of memory traffic, with `TH_PASS_FLAG_STRIPS`. */
    uint64_t repeatBytes;
    /** A number that the caller chooses for structures that it chains to the render pass; 0 for none. Dynamic frames need 0. */
    uint32_t hook;
    /** The number of elements of `accesses`. */
    uint32_t accessCount;
    /** The accesses of the pass. */
    const struct ThAccessDesc *accesses;
} ThPassDesc;

/** A semaphore that a batch waits for or signals. */
typedef struct ThSemaphoreUse {
    /** `sizeof(ThSemaphoreUse)`. */
    uint32_t structSize;
    /** The index of the semaphore. */
    uint32_t semaphore;
    /** The stages that wait, or whose completion is signaled. */
    VkPipelineStageFlags2 stages;
} ThSemaphoreUse;

/** A primary command buffer. */
typedef struct ThCommandBufferDesc {
    /** `sizeof(ThCommandBufferDesc)`. */
    uint32_t structSize;
    /** The number of elements of `passes`. */
    uint32_t passCount;
    /** The name of the command buffer, unique in the frame. */
    struct ThStringView name;
    /** The passes of the command buffer, in order. */
    const struct ThPassDesc *passes;
} ThCommandBufferDesc;

/** Command buffers that are submitted together (`VkSubmitInfo2`). */
typedef struct ThBatchDesc {
    /** `sizeof(ThBatchDesc)`. */
    uint32_t structSize;
    /** The number of elements of `waits`. */
    uint32_t waitCount;
    /** The semaphores that the batch waits for. */
    const struct ThSemaphoreUse *waits;
    /** The number of elements of `signals`. */
    uint32_t signalCount;
    /** The number of elements of `commandBuffers`. */
    uint32_t commandBufferCount;
    /** The semaphores that the batch signals. */
    const struct ThSemaphoreUse *signals;
    /** The command buffers of the batch, in order. */
    const struct ThCommandBufferDesc *commandBuffers;
} ThBatchDesc;

/** One call of `vkQueueSubmit2`. */
typedef struct ThSubmitDesc {
    /** `sizeof(ThSubmitDesc)`. */
    uint32_t structSize;
    /** The index of the queue. */
    uint32_t queue;
    /** The number of elements of `batches`. */
    uint32_t batchCount;
    /** The batches of the submit, in order. */
    const struct ThBatchDesc *batches;
} ThSubmitDesc;

/** A queue that the frame submits to. */
typedef struct ThQueueDesc {
    /** `sizeof(ThQueueDesc)`. */
    uint32_t structSize;
    /** The capabilities that the frame needs. */
    VkQueueFlags capabilities;
    /** The name of the queue, unique in the frame. */
    struct ThStringView name;
} ThQueueDesc;

/** A semaphore between batches. */
typedef struct ThSemaphoreDesc {
    /** `sizeof(ThSemaphoreDesc)`. */
    uint32_t structSize;
    /** `VK_TRUE` if work outside of the frame also signals or waits for the semaphore, such as swapchain acquisition and presentation. */
    VkBool32 external;
    /** The name of the semaphore, unique in the frame. */
    struct ThStringView name;
} ThSemaphoreDesc;

/**
 * A frame: resources, and passes in the order in which they are submitted.
 *
 * Either `submits` or `passes` is used. With `passes`, the frame is one command buffer on one queue; without `queues`, that is a graphics queue.
 */
typedef struct ThFrameDesc {
    /** `sizeof(ThFrameDesc)`. */
    uint32_t structSize;
    /** The number of elements of `resources`. */
    uint32_t resourceCount;
    /** The name of the frame. */
    struct ThStringView name;
    /** The extent that the scales of images are fractions of, in texels. */
    VkExtent2D baseExtent;
    /** Images and buffers. Accesses refer to them by index. */
    const struct ThResourceDesc *resources;
    /** The number of elements of `passes`. */
    uint32_t passCount;
    /** The number of elements of `submits`. */
    uint32_t submitCount;
    /** The passes of a frame with a single command buffer. */
    const struct ThPassDesc *passes;
    /** The submits of a frame with several command buffers, batches or queues. */
    const struct ThSubmitDesc *submits;
    /** The number of elements of `queues`. */
    uint32_t queueCount;
    /** The number of elements of `semaphores`. */
    uint32_t semaphoreCount;
    /** The queues that submits refer to by index. */
    const struct ThQueueDesc *queues;
    /** The semaphores that batches refer to by index. */
    const struct ThSemaphoreDesc *semaphores;
} ThFrameDesc;

/** A frame; see `thCreateFrame`. */
typedef struct ThFrameT *ThFrame;

/** The name and base extent of a frame, and the sizes of its tables. */
typedef struct ThFrameInfo {
    /** `sizeof(ThFrameInfo)`. */
    uint32_t structSize;
    /** The number of resources. */
    uint32_t resourceCount;
    /** The name of the frame. */
    struct ThStringView name;
    /** The extent that the scales of images are fractions of, in texels. */
    VkExtent2D baseExtent;
    /** The number of passes. */
    uint32_t passCount;
    /** The number of accesses. */
    uint32_t accessCount;
    /** The number of command buffers. */
    uint32_t commandBufferCount;
    /** The number of batches. */
    uint32_t batchCount;
    /** The number of submits. */
    uint32_t submitCount;
    /** The number of queues. */
    uint32_t queueCount;
    /** The number of semaphores. */
    uint32_t semaphoreCount;
    /** Zero. */
    uint32_t reserved;
} ThFrameInfo;

/** A resource of a validated frame, with the usage that its accesses need. */
typedef struct ThResourceInfo {
    /** `sizeof(ThResourceInfo)`. */
    uint32_t structSize;
    /** Image or buffer. */
    ThResourceType resourceType;
    /** The name of the resource. */
    struct ThStringView name;
    /**
     * The time for which the contents of the resource are needed; `TH_PERSISTENCE_EXTERNAL` also for swapchain images and for buffers that are read
     * back.
     */
    ThPersistence persistence;
    /** The first pass that uses the resource. */
    uint32_t firstPass;
    /** One past the last pass that uses the resource; `firstPass` if none does. */
    uint32_t endPass;
    /** The format of an image. */
    VkFormat format;
    /** The type of an image. */
    VkImageType imageType;
    /** The size of an image in texels. */
    VkExtent3D extent;
    /** Mip levels of an image. */
    uint32_t mipLevels;
    /** Array layers of an image. */
    uint32_t arrayLayers;
    /** Samples per texel of an image. */
    VkSampleCountFlags samples;
    /** The usage of an image. */
    VkImageUsageFlags imageUsage;
    /** The usage of a buffer. */
    VkBufferUsageFlags bufferUsage;
    /** Zero. */
    uint32_t reserved;
    /** The size of a buffer in bytes. */
    uint64_t size;
    /**
     * The index of the image of which this image is a separate level (`TH_RESOURCE_FLAG_SEPARATE_LEVELS`); `TH_NONE` for all other resources, including
     * level 0, which keeps the index of the image.
     */
    uint32_t levelOf;
    /** The level of that image, at least 1; 0 for all other resources. */
    uint32_t level;
} ThResourceInfo;

/** A pass of a validated frame. */
typedef struct ThPassInfo {
    /** `sizeof(ThPassInfo)`. */
    uint32_t structSize;
    /** The kind of commands. */
    ThPassType passType;
    /** The name of the pass. */
    struct ThStringView name;
    /** The index of the pass's command buffer. */
    uint32_t commandBuffer;
    /** The index of the pass's queue. */
    uint32_t queue;
    /** The first access of the pass, a row of `ThLowered::accesses`. */
    uint32_t firstAccess;
    /** One past the last access of the pass. */
    uint32_t endAccess;
    /** The area that a render pass renders to. */
    VkRect2D area;
    /** The number of layers that a render pass renders to. */
    uint32_t layers;
    /** The view mask of multiview; 0 without multiview. */
    uint32_t viewMask;
    /** The number of subpasses of a render pass; 1 for other passes. */
    uint32_t subpassCount;
    /** Zero. */
    uint32_t reserved;
} ThPassInfo;

/** A plan; see `thCreatePlan`. */
typedef struct ThPlanT *ThPlan;

/** A run of consecutive elements in a flat table, `[first, end)`; empty if both are equal. */
typedef struct ThRun {
    /** Index of the first element. */
    uint32_t first;
    /** Index after the last element. */
    uint32_t end;
} ThRun;

/** The described passes that a pass of a frame runs. */
typedef struct ThPassOrigin {
    /** A run of `ThFrameOrigins::described`: several if passes were merged, none for a store, which only copies a resource. */
    struct ThRun described;
} ThPassOrigin;

/** A described pass that runs as part of a pass of another frame. */
typedef struct ThDescribedPass {
    /** The index of the pass in the described frame. */
    uint32_t pass;
    /** The index of the subpass, in the other frame's pass, in which the described pass begins. */
    uint32_t subpass;
} ThDescribedPass;

/** The described resource that a resource of a frame corresponds to, or is a part of. */
typedef struct ThResourceOrigin {
    /** The index of the resource in the described frame. */
    uint32_t described;
    /** The number of this value, counted from 1, if the described resource was divided into values; 0 if it was not. */
    uint32_t value;
    /** The number of values that the described resource was divided into; 0 if it was not divided. */
    uint32_t valueCount;
    /**
     * The described pass after which the contents of the resource are stored; `TH_NONE` unless the resource is the part of a split
     * lifetime that is in tile memory.
     */
    uint32_t untilPass;
    /** The area of the described image that the resource holds; empty for all of the image. */
    VkRect2D area;
} ThResourceOrigin;

/** The described passes and resources of a frame, as arrays that are valid until the frame is destroyed. */
typedef struct ThFrameOrigins {
    /** `sizeof(ThFrameOrigins)`. */
    uint32_t structSize;
    /** The number of elements of `passes`. */
    uint32_t passCount;
    /** Per pass of the frame, the described passes that it runs. */
    const struct ThPassOrigin *passes;
    /** The number of elements of `described`. */
    uint32_t describedCount;
    /** The number of elements of `resources`. */
    uint32_t resourceCount;
    /** Described passes; each row of `passes` has a run of them. */
    const struct ThDescribedPass *described;
    /** Per resource of the frame, its origin in the described frame. */
    const struct ThResourceOrigin *resources;
} ThFrameOrigins;

/**
 * A query for the driver: the memory requirements of a resource in one kind of memory.
 *
 * `thAnswerRequirementQuery` of `tileheap_requirements.h` makes it: for images, `vkGetPhysicalDeviceImageFormatProperties2` says whether the device supports `image`. Then call
 * `vkGetDeviceImageMemoryRequirements` or `vkGetDeviceBufferMemoryRequirements`; without `maintenance4`, create the object and call
 * `vkGetImageMemoryRequirements2` or `vkGetBufferMemoryRequirements2`. Chain a `VkMemoryDedicatedRequirements`, and for `TH_MEMORY_KIND_TILE` a
 * `VkTileMemoryRequirementsQCOM`, to the `VkMemoryRequirements2`.
 */
typedef struct ThRequirementQuery {
    /** `sizeof(ThRequirementQuery)`. */
    uint32_t structSize;
    /** The index of the resource. */
    uint32_t resource;
    /** The kind of memory: `TH_MEMORY_KIND_ARENA` for ordinary memory, `TH_MEMORY_KIND_TILE` or `TH_MEMORY_KIND_LAZY`. */
    ThMemoryKind memory;
    /** Image or buffer. */
    ThResourceType resourceType;
    /** The image as it would be created. */
    VkImageCreateInfo image;
    /** The buffer as it would be created. */
    VkBufferCreateInfo buffer;
    /** `ThResourceDesc::hook`: the number for structures that the caller chains to the creation of the image or buffer; 0 for none. */
    uint32_t hook;
    /** Zero. */
    uint32_t reserved;
} ThRequirementQuery;

/** The driver's answer to a query. */
typedef struct ThRequirementAnswer {
    /** `sizeof(ThRequirementAnswer)`. */
    uint32_t structSize;
    /** `ThRequirementQuery::resource`. */
    uint32_t resource;
    /** `ThRequirementQuery::memory`. */
    ThMemoryKind memory;
    /** `VK_TRUE` if the device supports the image or buffer; the fields below are ignored if not. */
    VkBool32 supported;
    /** The need for a dedicated allocation, from `VkMemoryDedicatedRequirements`. */
    ThDedicated dedicated;
    /** Zero. */
    uint32_t reserved;
    /** `VkMemoryRequirements2::memoryRequirements`. */
    VkMemoryRequirements requirements;
    /** `VkTileMemoryRequirementsQCOM::size`; 0 if the driver refuses tile memory, and for other kinds of memory. */
    uint64_t tileSize;
    /** `VkTileMemoryRequirementsQCOM::alignment`. */
    uint64_t tileAlignment;
} ThRequirementAnswer;

/** Memory requirements; see `thCreateRequirements`. */
typedef struct ThRequirementsT *ThRequirements;

/** The requirements of a resource. */
typedef struct ThResourceRequirements {
    /** `sizeof(ThResourceRequirements)`. */
    uint32_t structSize;
    /** The memory types that can hold the resource, one bit each. */
    uint32_t memoryTypeBits;
    /** The size of the resource in ordinary memory, in bytes. */
    uint64_t size;
    /** The alignment of the resource in ordinary memory, in bytes. */
    uint64_t alignment;
    /** The size of the resource in tile memory, in bytes; 0 if it cannot be placed there. */
    uint64_t tileSize;
    /** The alignment of the resource in tile memory, any positive number of bytes; 0 if it cannot be placed there. */
    uint64_t tileAlignment;
    /** The lazily allocated memory types that can hold the resource, one bit each. */
    uint32_t lazyTypeBits;
    /** The need for a dedicated allocation. */
    ThDedicated dedicated;
} ThResourceRequirements;

/** A planner; see `thCreatePlanner`. */
typedef struct ThPlannerT *ThPlanner;

/** Planning options. All zeros are the defaults. */
typedef struct ThPlanOptionsDesc {
    /** `sizeof(ThPlanOptionsDesc)`. */
    uint32_t structSize;
    /** The strategy that chooses the resources in tile memory. */
    ThStrategy strategy;
    /** Use of several tile memory objects for overlapping lifetimes. */
    ThLadder ladder;
    /** Bits of `ThPlanFlag`. */
    uint32_t flags;
    /** The maximum number of steps of the search; 0 for the default of 2,000, which take about a millisecond for a frame of 256 passes. */
    uint64_t budget;
    /**
     * The cost of each bin that reserving tile memory adds to a render pass, in bytes of traffic; 0 for the model's cost. It must be 0 with
     * `TH_PLAN_FLAG_NO_BIN_COST`.
     */
    uint64_t binCost;
    /** The maximum number of bytes of the tile heap that may be bound; 0 for all of it. */
    uint64_t tileLimit;
} ThPlanOptionsDesc;

/** Inputs to planning. */
typedef struct ThPlanDesc {
    /** `sizeof(ThPlanDesc)`. */
    uint32_t structSize;
    /** Reuse of the planner's earlier plans. Ignored without a planner. */
    ThPlanMode mode;
    /** The frame. */
    ThFrame frame;
    /** The memory requirements of the frame's resources. */
    ThRequirements requirements;
    /** The profile of the device. */
    ThProfile profile;
    /** A planner, which remembers the plan, or null. */
    ThPlanner planner;
    /** Options, or null for the defaults. */
    const struct ThPlanOptionsDesc *options;
} ThPlanDesc;

/** The placements of a resource. */
typedef struct ThPlannedResource {
    /**
     * The placements of the resource, a run of `ThPlanArrays::placements`: none if it is unused, two for a history resource whose previous version
     * is read, one for each memory object if a tile resident has several. The first placement of such a history has its current version in even
     * frames and its previous one in odd frames; the second has the other version.
     */
    struct ThRun placements;
} ThPlannedResource;

/** A resource at an offset of a memory object, for some passes. */
typedef struct ThPlannedPlacement {
    /** The index of the resource. */
    uint32_t resource;
    /** The kind of memory; `TH_MEMORY_KIND_DEDICATED` also for external resources, whose memory is the caller's. */
    ThMemoryKind memory;
    /** The memory object, a row of `ThPlanArrays::objects`; `TH_NONE` for external resources. */
    uint32_t object;
    /** The first pass in which the bytes are occupied. */
    uint32_t firstPass;
    /** One past the last pass in which the bytes are occupied. */
    uint32_t endPass;
    /** Zero. */
    uint32_t reserved;
    /** The offset in the memory object, in bytes. */
    uint64_t offset;
    /** The size in the memory object, in bytes. */
    uint64_t size;
} ThPlannedPlacement;

/** A memory object. */
typedef struct ThPlannedObject {
    /** The kind of memory. */
    ThMemoryKind memory;
    /** The index of the memory type. */
    uint32_t memoryType;
    /** Size in bytes. Every tile memory object starts at offset 0 of the tile heap, so tile memory objects overlap. */
    uint64_t size;
} ThPlannedObject;

/** A pass of the planned frame, with the tile memory that is bound in it. */
typedef struct ThPlannedPass {
    /** The tile memory object that is bound, a row of `ThPlanArrays::objects`; `TH_NONE` for none. */
    uint32_t tileMemory;
    /** The pass of the frame that was given to `thCreatePlan`; for a store, which copies out of tile memory, the pass before the store. */
    uint32_t describedPass;
    /** The bytes of tile residents alive in the pass. */
    uint64_t liveTile;
} ThPlannedPass;

/** A plan as arrays, valid until the plan is destroyed. */
typedef struct ThPlanArrays {
    /** `sizeof(ThPlanArrays)`. */
    uint32_t structSize;
    /** The number of elements of `resources`. */
    uint32_t resourceCount;
    /** Per resource of the planned frame, its placements. */
    const struct ThPlannedResource *resources;
    /** The number of elements of `placements`. */
    uint32_t placementCount;
    /** The number of elements of `objects`. */
    uint32_t objectCount;
    /** Placements in memory. */
    const struct ThPlannedPlacement *placements;
    /** Memory objects. */
    const struct ThPlannedObject *objects;
    /** The number of elements of `passes`. */
    uint32_t passCount;
    /** Zero. */
    uint32_t reserved;
    /** Per pass of the planned frame, the tile memory that is bound. */
    const struct ThPlannedPass *passes;
} ThPlanArrays;

/** Sums over a planned frame, in bytes. */
typedef struct ThPlanTotals {
    /** `sizeof(ThPlanTotals)`. */
    uint32_t structSize;
    /** `VK_TRUE` if it is proved that no choice of tile residents saves more than this one. */
    VkBool32 proved;
    /** The traffic of all resources with nothing in tile memory: the bytes that each access touches. */
    uint64_t trafficBytes;
    /** The part of `trafficBytes` that the executed frame does not move, or moves for resources that the rules allow in tile memory, whether they fit or not; with `TH_STRATEGY_OFF`, only the traffic that merged passes save. */
    uint64_t eligibleBytes;
    /** The part of `trafficBytes` that stays on chip. */
    uint64_t onChipBytes;
    /** The traffic on the memory bus in a frame. */
    uint64_t dramBytes;
    /** Total size of all shared blocks in ordinary memory. */
    uint64_t arenaBytes;
    /** The total size of ordinary memory that the same resources would need if they did not share it. */
    uint64_t arenaBytesWithoutAliasing;
    /** The size of the largest tile memory object. */
    uint64_t tileBytes;
    /** The maximum number of bytes alive at once in tile memory. */
    uint64_t tilePeakLive;
    /** The charges of an arranged frame for repeated passes, merged passes and halos; they do not count as traffic kept on chip. */
    uint64_t chargedBytes;
} ThPlanTotals;

/** Memory traffic of a frame, in bytes. */
typedef struct ThTraffic {
    /** The traffic of all resources of the described frame with nothing in tile memory. */
    uint64_t described;
    /** The traffic that remains off chip, without the costs below. */
    uint64_t moved;
    /** The cost of repeated passes. */
    uint64_t repeats;
    /** The traffic of the halos of strips. */
    uint64_t halos;
    /** The cost of merged passes. */
    uint64_t merges;
    /** The number of computed texels, as a multiple of the number in the described frame. */
    double shaded;
    /** The share of `described` that stays on chip, after deducting the costs; 1 for all of it. */
    double share;
} ThTraffic;

/**
 * Called with the traffic of the best arrangement so far, on the searching thread. Returning `VK_FALSE` ends the search, which then returns that
 * arrangement. The callback must neither throw nor `longjmp`.
 */
typedef VkBool32 (*PFN_thSearchCallback)(const struct ThTraffic *traffic,
                                         void *data);

/** Limits on a search. All zeros are the defaults. */
typedef struct ThSearchDesc {
    /** `sizeof(ThSearchDesc)`. */
    uint32_t structSize;
    /** Bits of `ThSearchFlag`; 0 for order, merge, fuse and strips. */
    uint32_t allow;
    /** The maximum number of computed texels, as a multiple of the number in the described frame; 0 for 1.5. */
    double shaded;
    /** The cost of one more execution of a pass, in bytes of traffic, which replaces the costs of the passes and of the profile; 0 to use their costs. */
    uint64_t repeatBytes;
    /** The maximum number of frames to evaluate; 0 for 20,000. */
    uint64_t steps;
    /** Called with the best traffic so far before each arrangement is evaluated; or null. */
    PFN_thSearchCallback progress;
    /** The second argument of `progress`. */
    void *userData;
} ThSearchDesc;

/** An arrangement; see `thCreateArrangement`. */
typedef struct ThArrangementT *ThArrangement;

/** The traffic of a frame as described and as arranged, and the result of the search. */
typedef struct ThArrangementInfo {
    /** `sizeof(ThArrangementInfo)`. */
    uint32_t structSize;
    /** Zero. */
    uint32_t reserved;
    /** The traffic of the frame as described. */
    struct ThTraffic described;
    /** The traffic of the arranged frame. */
    struct ThTraffic arranged;
    /** An upper bound on `share` for strips: passes that read anywhere in an image cannot run in strips with the passes that write it. */
    double cap;
    /** The number of frames that the search evaluated. */
    uint64_t steps;
} ThArrangementInfo;

/** A pass of the arranged frame. */
typedef struct ThArrangedPass {
    /**
     * The described passes that the pass runs, a run of `ThArrangementArrays::described`: several if passes were merged, none if it copies an image
     * into a strip or out of one, which is a store in the tables.
     */
    struct ThRun described;
    /** The index of the strip that the pass computes; also 0 if it computes all of its image. */
    uint32_t strip;
    /** The number of strips; 1 if the pass computes all of its image. */
    uint32_t stripCount;
    /** The area that the pass computes, halo included, in texels of the described image; empty for all of its image. */
    VkRect2D area;
    /** The texel of the described image that is texel (0, 0) of the images that the pass writes. */
    VkOffset2D origin;
    /** The distance that the area reaches beyond the strip's own part, in texels. */
    uint32_t halo;
} ThArrangedPass;

/** A resource of the arranged frame. */
typedef struct ThArrangedResource {
    /** The index of the resource in the described frame. */
    uint32_t described;
    /** The position of this resource's first texel in the described resource, in texels. */
    VkOffset2D origin;
} ThArrangedResource;

/** Maps the arranged frame back to the described one, as arrays that are valid until the arrangement is destroyed. */
typedef struct ThArrangementArrays {
    /** `sizeof(ThArrangementArrays)`. */
    uint32_t structSize;
    /** The number of elements of `passes`. */
    uint32_t passCount;
    /** Per pass of the arranged frame, the described passes that it runs. */
    const struct ThArrangedPass *passes;
    /** The number of elements of `described`. */
    uint32_t describedCount;
    /** The number of elements of `resources`. */
    uint32_t resourceCount;
    /** Described passes; each row of `passes` has a run of them. */
    const struct ThDescribedPass *described;
    /** Per resource of the arranged frame, its origin in the described frame. */
    const struct ThArrangedResource *resources;
} ThArrangementArrays;

/** A lowerer; see `thCreateLowerer`. */
typedef struct ThLowererT *ThLowerer;

/** A device queue, identified by its queue family and index. */
typedef struct ThFamilyQueue {
    /** `queueFamilyIndex`. */
    uint32_t family;
    /** `queueIndex`. */
    uint32_t index;
} ThFamilyQueue;

/** Inputs to lowering. */
typedef struct ThLowerDesc {
    /** `sizeof(ThLowerDesc)`. */
    uint32_t structSize;
    /** The number of elements of `queues`: one for each queue that the frame declares, or 0 if one queue of family 0 runs them all. */
    uint32_t queueCount;
    /** The device queue of each declared queue. */
    const struct ThFamilyQueue *queues;
    /** The plan. */
    ThPlan plan;
    /**
     * The lowerer with the tables of the previous frame, which may be the one that is passed to `thLower`; null for the first frame of a plan. The
     * previous frame must have the same plan and queues.
     */
    ThLowerer previous;
} ThLowerDesc;

/** A position in a table, or none (`TH_NONE`). */
typedef uint32_t ThOptionalIndex;

/** A memory object: `VkMemoryAllocateInfo` and its chained structures. */
typedef struct ThMemoryRow {
    /** Kind of memory: tile, lazily allocated, shared or dedicated. */
    ThMemoryKind kind;
    /** `memoryTypeIndex`. */
    uint32_t memoryType;
    /** `allocationSize`. */
    VkDeviceSize size;
    /**
     * Alignment of offset and size, including the device's `bufferImageGranularity`, if part of a larger allocation replaces the memory object. Dedicated
     * allocations have exactly `size`.
     */
    VkDeviceSize alignment;
    /** `VkMemoryAllocateFlagsInfo::flags`; nothing is chained if empty. */
    VkMemoryAllocateFlags flags;
    /** `VkMemoryDedicatedAllocateInfo::image`, a row of `ThLowered::images`. */
    ThOptionalIndex dedicatedImage;
    /** `VkMemoryDedicatedAllocateInfo::buffer`, a row of `ThLowered::buffers`. */
    ThOptionalIndex dedicatedBuffer;
} ThMemoryRow;

/** Sharing of a resource between queue families. */
typedef struct ThSharing {
    /**
     * `pQueueFamilyIndices`: a run of `ThLowered::families`. Empty for `VK_SHARING_MODE_EXCLUSIVE`, two or more for
     * `VK_SHARING_MODE_CONCURRENT`.
     */
    struct ThRun families;
    /** The reason for the sharing mode. */
    ThSharingReason reason;
} ThSharing;

/** The memory that a resource is bound to: `[offset, offset + size)` of a memory object, or memory of the caller. */
typedef struct ThMemoryBinding {
    /**
     * Row of `ThLowered::memory`; none (`TH_NONE`) if the caller creates the image or buffer and supplies it for every frame: the
     * row of the image or buffer then describes the required properties.
     */
    ThOptionalIndex memory;
    /** `memoryOffset`. */
    VkDeviceSize offset;
    /** The size that the driver requires. */
    VkDeviceSize size;
} ThMemoryBinding;

/** An image: `vkCreateImage` and `vkBindImageMemory2`. */
typedef struct ThImageRow {
    /** The resource that the image holds. */
    uint32_t resource;
    /** `VkImageCreateFlags`. */
    VkImageCreateFlags flags;
    /** 1D, 2D or 3D. */
    VkImageType imageType;
    /** Format of the image. */
    VkFormat format;
    /** Size of level 0 in texels. */
    VkExtent3D extent;
    /** Number of mip levels. */
    uint32_t mipLevels;
    /** Number of array layers. */
    uint32_t arrayLayers;
    /** Samples per texel. */
    VkSampleCountFlags samples;
    /** Image tiling. */
    VkImageTiling tiling;
    /** Usage, `VK_IMAGE_USAGE_TILE_MEMORY_BIT_QCOM` included. */
    VkImageUsageFlags usage;
    /** The description's `hook`: a number that the caller chooses for structures that it chains, or 0. */
    uint32_t hook;
    /** `VkImageFormatListCreateInfo`: a run of `ThLowered::formats`, empty for none. */
    struct ThRun viewFormats;
    /** Sharing mode: exclusive, or concurrent with the families that share the image. */
    struct ThSharing sharing;
    /** The memory that the image is bound to. */
    struct ThMemoryBinding binding;
} ThImageRow;

/** A buffer: `vkCreateBuffer` and `vkBindBufferMemory2`. */
typedef struct ThBufferRow {
    /** The resource that the buffer holds. */
    uint32_t resource;
    /** The description's `hook`: a number that the caller chooses for structures that it chains, or 0. */
    uint32_t hook;
    /** Size in bytes. */
    VkDeviceSize size;
    /** Usage, `VK_BUFFER_USAGE_TILE_MEMORY_BIT_QCOM` included. */
    VkBufferUsageFlags usage;
    /** Sharing mode: exclusive, or concurrent with the families that share the buffer. */
    struct ThSharing sharing;
    /** The memory that the buffer is bound to. */
    struct ThMemoryBinding binding;
} ThBufferRow;

/** A range of an image: `VkImageSubresourceRange`. In descriptions, empty fields mean everything; in tables, no field is empty. */
typedef struct ThSubresourceRange {
    /** Aspects. */
    VkImageAspectFlags aspects;
    /** Levels `[first, end)`. */
    struct ThRun levels;
    /** Layers `[first, end)`; of 3D images, slices. */
    struct ThRun layers;
} ThSubresourceRange;

/** An image view: `vkCreateImageView`. */
typedef struct ThViewRow {
    /** Row of `ThLowered::images`. */
    uint32_t image;
    /** View type. */
    VkImageViewType viewType;
    /** View format. */
    VkFormat format;
    /** `VkImageViewUsageCreateInfo::usage`, for views whose format may not support all of the image's usage; nothing is chained if it is 0. */
    VkImageUsageFlags usage;
    /** `subresourceRange`. */
    struct ThSubresourceRange range;
} ThViewRow;

/** An image or a buffer: a table and a row of it. */
typedef struct ThObjectRef {
    /** The table. */
    ThResourceType kind;
    /** The row of that table. */
    uint32_t row;
} ThObjectRef;

/** The image or buffer that an access of the frame uses, its view and its layouts. */
typedef struct ThAccessRow {
    /** The pass of the frame that makes the access. */
    uint32_t pass;
    /** Index of the subpass that makes the access; 0 if the pass has only one, or is not a render pass. */
    uint32_t subpass;
    /** The accessed resource of the frame. */
    uint32_t resource;
    /** The current or the previous version of a history. */
    ThHistoryVersion version;
    /** Kind of use. */
    ThAccessKind kind;
    /** The image or buffer that holds the accessed version. */
    struct ThObjectRef object;
    /** The accessed levels, layers and aspects of an image; for 3D images, the layers are depth slices. */
    struct ThSubresourceRange range;
    /** The view for descriptors, a row of `ThLowered::views`; none for buffers, copies and attachments. */
    ThOptionalIndex view;
    /** The layout during the pass, of aspects other than stencil; `VK_IMAGE_LAYOUT_UNDEFINED` for buffers. */
    VkImageLayout layout;
    /** The layout of the stencil aspect during the pass. */
    VkImageLayout stencilLayout;
} ThAccessRow;

/** Load and store operation of an attachment, or of its stencil aspect. */
typedef struct ThOperations {
    /** Load operation, at the beginning of the render pass. */
    VkAttachmentLoadOp load;
    /** Store operation, at the end of the render pass. */
    VkAttachmentStoreOp store;
} ThOperations;

/** The 16 bytes of a `VkClearValue`. */
typedef struct ThClearBits {
    /** The active member of the union. */
    ThClearKind kind;
    /** The bits of the union. */
    uint32_t words[4];
} ThClearBits;

/** An attachment of a render pass instance: `VkRenderingAttachmentInfo`, or `VkAttachmentDescription`. */
typedef struct ThAttachmentRow {
    /** Row of `ThLowered::views`. */
    uint32_t view;
    /** Format of the view. */
    VkFormat format;
    /** Samples per texel. */
    VkSampleCountFlags samples;
    /** The layout of color or depth before, during and after a dynamic render pass. */
    VkImageLayout layout;
    /** Stencil layout; equal to `layout` without separate layouts. */
    VkImageLayout stencilLayout;
    /** `initialLayout` and `finalLayout` of a render pass object: the equivalent of both layouts, or `VK_IMAGE_LAYOUT_UNDEFINED`. */
    VkImageLayout combinedLayout;
    /** Load and store operations of color or depth. */
    struct ThOperations operations;
    /** Load and store operations of stencil. */
    struct ThOperations stencil;
    /** `clearValue`; ignored unless an operation clears. */
    struct ThClearBits clear;
    /** The resolve attachment of a dynamic render pass, a row of `ThLowered::attachments`. */
    ThOptionalIndex resolve;
    /** `resolveMode`; for depth and stencil, the mode of both aspects; `VK_RESOLVE_MODE_NONE` without a resolve attachment. */
    VkResolveModeFlags resolveMode;
} ThAttachmentRow;

/** `VkAttachmentReference`. */
typedef struct ThReferenceRow {
    /** Position in the attachments of the instance; `VK_ATTACHMENT_UNUSED` for none. */
    uint32_t attachment;
    /** The attachment's `combinedLayout`. */
    VkImageLayout layout;
} ThReferenceRow;

/** Stages and accesses on both sides of a barrier. */
typedef struct ThScopes {
    /** `srcStageMask`. */
    VkPipelineStageFlags2 srcStages;
    /** `srcAccessMask`. */
    VkAccessFlags2 srcAccess;
    /** `dstStageMask`. */
    VkPipelineStageFlags2 dstStages;
    /** `dstAccessMask`. */
    VkAccessFlags2 dstAccess;
} ThScopes;

/** `VkSubpassDependency`, or a `VkMemoryBarrier2` between two subpasses of dynamic rendering. */
typedef struct ThSubpassDependencyRow {
    /** `srcSubpass`. */
    uint32_t srcSubpass;
    /** `dstSubpass`. Equal to `srcSubpass` if a subpass reads what it writes: for barriers that the caller records in it. */
    uint32_t dstSubpass;
    /** `dependencyFlags`. */
    VkDependencyFlags flags;
    /** Stages and accesses. */
    struct ThScopes scopes;
} ThSubpassDependencyRow;

/**
 * A subpass: `VkSubpassDescription` (`VkSubpassDescription2` if a render pass object resolves depth), the commands that begin it in dynamic
 * rendering, and creation parameters of its pipelines.
 */
typedef struct ThSubpassRow {
    /** Dependencies on earlier subpasses: a run of `ThLowered::subpassDependencies`. */
    struct ThRun dependencies;
    /**
     * The part of `dependencies` that is recorded with one `vkCmdPipelineBarrier2` before the subpass in dynamic rendering, all with the same
     * flags; nothing is recorded if it is empty.
     */
    struct ThRun barriers;
    /** `pColorAttachments`: a run of `ThLowered::references`. */
    struct ThRun colors;
    /** `pResolveAttachments`, as many as `colors` or none: a run of `ThLowered::references`. */
    struct ThRun resolves;
    /** `pInputAttachments`: a run of `ThLowered::references`. */
    struct ThRun inputs;
    /** `pDepthStencilAttachment`: a row of `ThLowered::references`. */
    ThOptionalIndex depth;
    /**
     * The resolve attachment of depth and stencil: a row of `ThLowered::references`. In a render pass object it
     * is `pDepthStencilResolveAttachment` of `VkSubpassDescriptionDepthStencilResolve`; both modes are the
     * `resolveMode` of the attachment that `depth` refers to.
     */
    ThOptionalIndex depthResolve;
    /** `pPreserveAttachments`: a run of `ThLowered::indices`. */
    struct ThRun preserved;
    /**
     * `pColorAttachmentLocations` of `VkRenderingAttachmentLocationInfo`: a run of `ThLowered::indices`, one location for each
     * color attachment of the instance. Empty without local read.
     */
    struct ThRun locations;
    /**
     * `pColorAttachmentInputIndices` of `VkRenderingInputAttachmentIndexInfo`: a run of `ThLowered::indices`, one index for
     * each color attachment of the instance. Empty without local read. The indices of depth and stencil are `VK_ATTACHMENT_UNUSED`.
     */
    struct ThRun inputIndices;
    /**
     * Formats of the color attachments that pipelines name, with local read those of the whole instance: a run of
     * `ThLowered::formats`.
     */
    struct ThRun colorFormats;
    /** Format of the depth attachment that pipelines name, or `VK_FORMAT_UNDEFINED`. */
    VkFormat depthFormat;
    /** Format of the stencil attachment that pipelines name, or `VK_FORMAT_UNDEFINED`. */
    VkFormat stencilFormat;
    /** The aspects of depth and stencil that the subpass uses. */
    VkImageAspectFlags depthAspects;
    /** Sample count of the subpass's pipelines: that of its attachments, or that which the pass declares. */
    VkSampleCountFlags samples;
} ThSubpassRow;

/** A render pass instance, from `vkCmdBeginRendering` or `vkCmdBeginRenderPass` to its end. */
typedef struct ThInstanceRow {
    /** The pass of the frame. */
    uint32_t pass;
    /** True if begun by `vkCmdBeginRendering`, not through a render pass object. */
    bool dynamic;
    /**
     * True if shaders read attachments in place in dynamic rendering (`VK_KHR_dynamic_rendering_local_read`): each subpass begins with its
     * locations and input attachment indices.
     */
    bool localRead;
    /** True if the contents are in secondary command buffers. */
    bool secondary;
    /** True if `VkRenderPassTileShadingCreateInfoQCOM` is chained, with the flag that enables tile shading. */
    bool tileShading;
    /** `renderArea`. */
    VkRect2D area;
    /** Width and height of the framebuffer of a render pass object. */
    VkExtent2D framebuffer;
    /** `layerCount`, and the layers of a framebuffer: 1 with a view mask. */
    uint32_t layers;
    /** `viewMask`; 0 without multiview. */
    uint32_t viewMask;
    /** The instance's attachments, each view once: a run of `ThLowered::attachments`. */
    struct ThRun attachments;
    /** `pColorAttachments` of dynamic rendering, the first of `attachments`; empty with a render pass object. */
    struct ThRun colors;
    /** `pDepthAttachment` of dynamic rendering: a row of `ThLowered::attachments`. */
    ThOptionalIndex depth;
    /** `pStencilAttachment` of dynamic rendering: a row of `ThLowered::attachments`. */
    ThOptionalIndex stencil;
    /** The instance's subpasses, in order: a run of `ThLowered::subpasses`. */
    struct ThRun subpasses;
    /** The description's `hook`: a number that the caller chooses for structures that it chains, or 0. */
    uint32_t hook;
    /**
     * Size of the tile memory that is bound, also for secondary command buffers; 0 for none. With `VK_QCOM_tile_properties`,
     * `VkTileMemorySizeInfoQCOM` is chained with this size.
     */
    VkDeviceSize tileMemory;
} ThInstanceRow;

/** `vkCmdClearColorImage`, `vkCmdClearDepthStencilImage`, or `vkCmdFillBuffer` of a whole buffer. */
typedef struct ThClearRow {
    /** The image or buffer. */
    struct ThObjectRef object;
    /** The part of an image, in the form that barriers use: all slices of a 3D image are given as layers `[0, VK_REMAINING_ARRAY_LAYERS)`. */
    struct ThSubresourceRange range;
    /** `imageLayout`; `VK_IMAGE_LAYOUT_UNDEFINED` for buffers. */
    VkImageLayout layout;
    /** Zero in the format's numeric type. */
    struct ThClearBits value;
} ThClearRow;

/**
 * A copy out of tile memory, or at the border of a strip.
 *
 * The source is binding 0 of set 0: an image that `texelFetch` reads (`VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE`), or a storage buffer. The
 * target is the render pass's attachment, or the storage buffer at binding 1. A draw reads at `gl_FragCoord` plus (`x`, `y`), which are
 * specialization constants 0 and 1 of the library's own shaders, of 4 bytes each. It has no vertex input and no culling, a triangle list, and
 * viewport and scissor of the render area; for depth, the test is on with `VK_COMPARE_OP_ALWAYS`, and depth is written.
 *
 * In a frame whose strips render less than declared, a copy at their border also renders less: out of a strip's image, only the area that the strip's passes
 * have rendered; into a strip's image, nothing if none of its passes uses it. The barriers of the copy are still recorded.
 */
typedef struct ThStoreRow {
    /** The shaders of the copy's pipeline. */
    ThStoreShader shader;
    /** The access that reads: a row of `ThLowered::accesses`. */
    uint32_t source;
    /** The access that writes: a row of `ThLowered::accesses`. */
    uint32_t target;
    /** Number of workgroups of the dispatch; 0 for a draw, which has three vertices. */
    uint32_t groups;
    /** Source column minus destination column, for a draw. */
    int32_t x;
    /** Source row minus destination row, for a draw. */
    int32_t y;
} ThStoreRow;

/** The barriers of one `vkCmdPipelineBarrier2`; nothing is recorded if all are empty. */
typedef struct ThDependencyRow {
    /** A run of `ThLowered::imageBarriers`. */
    struct ThRun images;
    /** A run of `ThLowered::bufferBarriers`. */
    struct ThRun buffers;
    /** A run of `ThLowered::memoryBarriers`. */
    struct ThRun memory;
} ThDependencyRow;

/** One pass as recorded: `vkCmdBindTileMemoryQCOM` if the bound memory changes, barriers, the pass, barriers. */
typedef struct ThPassRow {
    /** The pass of the frame; for a clear, the pass that it precedes. */
    uint32_t pass;
    /** Kind of the recorded contents. */
    ThPassContents contents;
    /** For a store, its row of `ThLowered::stores`; for a clear, its row of `ThLowered::clears`; else none. */
    ThOptionalIndex row;
    /**
     * The tile memory to bind, a row of `ThLowered::memory`. None to have nothing bound, as at the beginning of a command
     * buffer: `vkCmdBindTileMemoryQCOM` with a null pointer if the command buffer has bound tile memory before.
     */
    ThOptionalIndex tileMemory;
    /** The render pass, a row of `ThLowered::instances`. */
    ThOptionalIndex instance;
    /** Barriers before the pass. */
    struct ThDependencyRow before;
    /** Barriers after the pass. */
    struct ThDependencyRow after;
} ThPassRow;

/** Queue families of an ownership transfer; both are `VK_QUEUE_FAMILY_IGNORED` without one. */
typedef struct ThFamilies {
    /** `srcQueueFamilyIndex`. */
    uint32_t src;
    /** `dstQueueFamilyIndex`. */
    uint32_t dst;
} ThFamilies;

/** `VkImageMemoryBarrier2`. */
typedef struct ThImageBarrierRow {
    /** Row of `ThLowered::images`. */
    uint32_t image;
    /** The subresources that the barrier covers. All slices of a 3D image are given as layers `[0, VK_REMAINING_ARRAY_LAYERS)`. */
    struct ThSubresourceRange range;
    /** Stages and accesses. */
    struct ThScopes scopes;
    /** Layout before; `VK_IMAGE_LAYOUT_UNDEFINED` discards the contents. */
    VkImageLayout oldLayout;
    /** Layout after. */
    VkImageLayout newLayout;
    /** Queue families of an ownership transfer. */
    struct ThFamilies families;
    /** Reason for the barrier. */
    ThBarrierCause cause;
} ThImageBarrierRow;

/** `VkBufferMemoryBarrier2`. */
typedef struct ThBufferBarrierRow {
    /** Row of `ThLowered::buffers`. */
    uint32_t buffer;
    /** First byte. */
    VkDeviceSize offset;
    /** Number of bytes. */
    VkDeviceSize size;
    /** Stages and accesses. */
    struct ThScopes scopes;
    /** Queue families of an ownership transfer. */
    struct ThFamilies families;
    /** Reason for the barrier. */
    ThBarrierCause cause;
} ThBufferBarrierRow;

/** `VkMemoryBarrier2`. */
typedef struct ThMemoryBarrierRow {
    /** Stages and accesses. */
    struct ThScopes scopes;
    /** Reason for the barrier. */
    ThBarrierCause cause;
} ThMemoryBarrierRow;

/** A command buffer of the frame. */
typedef struct ThCommandBufferRow {
    /** The frame's command buffer. */
    uint32_t commands;
    /** The device queue that the command buffer is submitted to. */
    uint32_t queue;
    /** A run of `ThLowered::passes`. */
    struct ThRun passes;
} ThCommandBufferRow;

/** A semaphore that a batch waits for or signals, and its value. */
typedef struct ThSemaphoreValue {
    /** Declared, or a queue's timeline. */
    ThSemaphoreKind kind;
    /** The index of the frame's semaphore, or of the device queue. */
    uint32_t index;
    /**
     * For a queue's timeline, relative to the start of the frame: 1 is the frame's first batch there, 0 the last one before it. Add the number of
     * batches that were submitted to the queue before the frame; leave out a wait for a sum of 0 or less. For a declared timeline semaphore, 0: the
     * caller supplies its value.
     */
    int64_t value;
} ThSemaphoreValue;

/** `VkSemaphoreSubmitInfo`. */
typedef struct ThSemaphoreRow {
    /** The semaphore and its value. */
    struct ThSemaphoreValue semaphore;
    /** `stageMask`. */
    VkPipelineStageFlags2 stages;
} ThSemaphoreRow;

/** `VkSubmitInfo2`. */
typedef struct ThBatchRow {
    /** The frame's batch. */
    uint32_t batch;
    /**
     * True for the frame's first batch on its device queue. If other work that uses the frame's memory was submitted after the tables were lowered,
     * add waits at `VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT` here, for the latest value of each queue that ran it: for tile memory only this queue, for
     * ordinary memory any queue.
     */
    bool isFirst;
    /** A run of `ThLowered::waits`. */
    struct ThRun waits;
    /** A run of `ThLowered::commandBuffers`. */
    struct ThRun commandBuffers;
    /** A run of `ThLowered::signals`. */
    struct ThRun signals;
} ThBatchRow;

/** `vkQueueSubmit2`. */
typedef struct ThSubmitRow {
    /** The frame's submit. */
    uint32_t submit;
    /** The queue. */
    uint32_t queue;
    /** A run of `ThLowered::batches`. */
    struct ThRun batches;
} ThSubmitRow;

/** An address space, in which equal offsets mean the same byte. */
typedef struct ThAddressSpace {
    /** The tile heap, or a memory object. */
    ThAddressSpaceKind kind;
    /** The device queue, or the row of memory. */
    uint32_t index;
} ThAddressSpace;

/** The last use of bytes or of a resource by one queue. */
typedef struct ThLastUse {
    /** The queue. */
    uint32_t queue;
    /** The value of the queue's timeline semaphore once the use has completed, relative to the start of the frame: 0 or less. */
    int64_t value;
    /** Stages of the use. */
    VkPipelineStageFlags2 stages;
    /** Writes of the use that have not been made available. */
    VkAccessFlags2 writes;
} ThLastUse;

/** The last use of some bytes by one queue. */
typedef struct ThByteUse {
    /** The address space of the bytes. */
    struct ThAddressSpace space;
    /** First byte. */
    VkDeviceSize first;
    /** One past the last byte. */
    VkDeviceSize end;
    /** The use. */
    struct ThLastUse last;
} ThByteUse;

/** Contents that outlive a frame. */
typedef struct ThContentState {
    /** The image or buffer. */
    struct ThObjectRef object;
    /** The part of an image. */
    struct ThSubresourceRange range;
    /** True if the contents were ever written. */
    bool defined;
    /** The layout in which the image was left; `VK_IMAGE_LAYOUT_UNDEFINED` for buffers. */
    VkImageLayout layout;
    /** The queue family that owns the contents; none if families share them, or none has used them. */
    ThOptionalIndex family;
} ThContentState;

/**
 * A frame as it is executed: every parameter of every Vulkan call, in arrays. An index is the position of a row in the array that its field
 * names, and a `ThRun` is a half-open range of positions.
 *
 * The arrays are valid until the next lowering with the same lowerer, or until it is destroyed. For one plan on the same queues, `memory`,
 * `images` and `buffers` are the same in every frame.
 *
 * Everything else is constant: images are created in `VK_IMAGE_LAYOUT_UNDEFINED`, views with the identity mapping of components,
 * `vkCmdPipelineBarrier2` between passes has no dependency flags, and ranges of images in rows are never empty.
 */
typedef struct ThLowered {
    /** `sizeof(ThLowered)`. */
    uint32_t structSize;
    /** The parity of this frame, which selects the current copy of each history resource. */
    ThParity parity;
    /** The number of elements of `deviceQueues`. */
    uint32_t deviceQueueCount;
    /** The device queues, each once, in the order of their first declared queue. Rows refer to device queues by their index in this array. */
    const struct ThFamilyQueue *deviceQueues;
    /** The number of elements of `queues`. */
    uint32_t queueCount;
    /** Per declared queue of the frame, the index of its device queue. */
    const uint32_t *queues;
    /** The number of elements of `memory`. */
    uint32_t memoryCount;
    /** Memory objects (`VkMemoryAllocateInfo`). */
    const struct ThMemoryRow *memory;
    /** The number of elements of `images`. */
    uint32_t imageCount;
    /** Images (`VkImageCreateInfo`, `VkBindImageMemoryInfo`), created or imported. */
    const struct ThImageRow *images;
    /** The number of elements of `buffers`. */
    uint32_t bufferCount;
    /** Buffers (`VkBufferCreateInfo`, `VkBindBufferMemoryInfo`), created or imported. */
    const struct ThBufferRow *buffers;
    /** The number of elements of `views`. */
    uint32_t viewCount;
    /** Image views (`VkImageViewCreateInfo`). */
    const struct ThViewRow *views;
    /** The number of elements of `families`. */
    uint32_t familyCount;
    /** Queue families for concurrent sharing; each row of `images` or `buffers` that needs them has a run of them. */
    const uint32_t *families;
    /** The number of elements of `formats`. */
    uint32_t formatCount;
    /** View formats of images, and color formats of subpasses. */
    const VkFormat *formats;
    /** The number of elements of `accesses`. */
    uint32_t accessCount;
    /** Per access of the frame, the object it uses, its view and layouts. */
    const struct ThAccessRow *accesses;
    /** The number of elements of `attachments`. */
    uint32_t attachmentCount;
    /** Attachments of render pass instances. */
    const struct ThAttachmentRow *attachments;
    /** The number of elements of `references`. */
    uint32_t referenceCount;
    /** References of subpasses to attachments. */
    const struct ThReferenceRow *references;
    /** The number of elements of `indices`. */
    uint32_t indexCount;
    /** Preserved attachments, locations and input attachment indices; `VK_ATTACHMENT_UNUSED` for none. */
    const uint32_t *indices;
    /** The number of elements of `subpassDependencies`. */
    uint32_t subpassDependencyCount;
    /** Dependencies between subpasses. */
    const struct ThSubpassDependencyRow *subpassDependencies;
    /** The number of elements of `subpasses`. */
    uint32_t subpassCount;
    /** Subpasses of render pass instances. */
    const struct ThSubpassRow *subpasses;
    /** The number of elements of `instances`. */
    uint32_t instanceCount;
    /** Render pass instances. */
    const struct ThInstanceRow *instances;
    /** The number of elements of `clears`. */
    uint32_t clearCount;
    /** Clears of contents that no frame has written. */
    const struct ThClearRow *clears;
    /** The number of elements of `stores`. */
    uint32_t storeCount;
    /** Copies out of tile memory. */
    const struct ThStoreRow *stores;
    /** The number of elements of `passes`. */
    uint32_t passCount;
    /** The passes of the frame, and the clears and stores between them, in the order in which they are recorded. */
    const struct ThPassRow *passes;
    /** The number of elements of `imageBarriers`. */
    uint32_t imageBarrierCount;
    /** `VkImageMemoryBarrier2`. */
    const struct ThImageBarrierRow *imageBarriers;
    /** The number of elements of `bufferBarriers`. */
    uint32_t bufferBarrierCount;
    /** `VkBufferMemoryBarrier2`. */
    const struct ThBufferBarrierRow *bufferBarriers;
    /** The number of elements of `memoryBarriers`. */
    uint32_t memoryBarrierCount;
    /** `VkMemoryBarrier2`. */
    const struct ThMemoryBarrierRow *memoryBarriers;
    /** The number of elements of `commandBuffers`. */
    uint32_t commandBufferCount;
    /** Command buffers. */
    const struct ThCommandBufferRow *commandBuffers;
    /** The number of elements of `waits`. */
    uint32_t waitCount;
    /** Waits of batches (`VkSemaphoreSubmitInfo`). */
    const struct ThSemaphoreRow *waits;
    /** The number of elements of `signals`. */
    uint32_t signalCount;
    /** Signals of batches (`VkSemaphoreSubmitInfo`). */
    const struct ThSemaphoreRow *signals;
    /** The number of elements of `batches`. */
    uint32_t batchCount;
    /** Batches (`VkSubmitInfo2`). */
    const struct ThBatchRow *batches;
    /** The number of elements of `submits`. */
    uint32_t submitCount;
    /** Submits (`vkQueueSubmit2`). */
    const struct ThSubmitRow *submits;
    /** The number of elements of `byteUses`. */
    uint32_t byteUseCount;
    /** The last uses of bytes once the frame has ended, sorted by address space and first byte. */
    const struct ThByteUse *byteUses;
    /** The number of elements of `contents`. */
    uint32_t contentCount;
    /** Images and buffers whose contents outlive the frame. */
    const struct ThContentState *contents;
} ThLowered;

/**
 * The SPIR-V 1.3 shaders of a store, for the pipeline that `ThStoreRow` describes. The entry point of each shader is "main". The words are constants of the
 * library.
 */
typedef struct ThStoreShaders {
    /** `sizeof(ThStoreShaders)`. */
    uint32_t structSize;
    /** The stage of `words`: `VK_SHADER_STAGE_FRAGMENT_BIT`, or `VK_SHADER_STAGE_COMPUTE_BIT` for `TH_STORE_SHADER_BUFFER`. */
    VkShaderStageFlags stage;
    /** The number of elements of `vertexWords`; 0 for `TH_STORE_SHADER_BUFFER`. */
    uint32_t vertexWordCount;
    /** The number of elements of `words`. */
    uint32_t wordCount;
    /** The vertex shader; null for `TH_STORE_SHADER_BUFFER`. */
    const uint32_t *vertexWords;
    /** The fragment or compute shader. */
    const uint32_t *words;
} ThStoreShaders;

/** Inputs to `thCreateAliasing`. */
typedef struct ThAliasingDesc {
    /** `sizeof(ThAliasingDesc)`. */
    uint32_t structSize;
    /** The number of elements of `queues`: one for each queue that the frame declares, or 0 if one queue of family 0 runs them all. */
    uint32_t queueCount;
    /** The device queue of each declared queue. */
    const struct ThFamilyQueue *queues;
    /** The plan. It must have been made with `TH_LADDER_OFF`, which is not the default, and without `TH_PLAN_FLAG_SPLIT`. */
    ThPlan plan;
} ThAliasingDesc;

/** Previous users of bytes; see `thCreateAliasing`. */
typedef struct ThAliasingT *ThAliasing;

/** A placement, with the first pass that uses its resource. Each placement is an image or a buffer of its own. */
typedef struct ThAliasingRow {
    /** The resource that is placed. */
    uint32_t resource;
    /** The placement, a row of `ThPlanArrays::placements`. */
    uint32_t placement;
    /**
     * The kind of memory: images and buffers in tile memory are created with `VK_IMAGE_USAGE_TILE_MEMORY_BIT_QCOM` or
     * `VK_BUFFER_USAGE_TILE_MEMORY_BIT_QCOM`, images in lazily allocated memory with `VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT`.
     */
    ThMemoryKind memory;
    /** The memory object, a row of `ThPlanArrays::objects`. */
    uint32_t object;
    /**
     * A first pass that uses the resource: no earlier use is ordered before it. A placement has a row for each first pass; there are several only if queues
     * begin to use the resource independently of each other.
     */
    uint32_t firstPass;
    /** `memoryOffset` in the object. */
    VkDeviceSize offset;
    /** Number of bytes that the resource occupies. */
    VkDeviceSize size;
    /** Previous users to wait for, including the resource itself in the previous frame: a run of `ThAliasingArrays::previous`. */
    struct ThRun previous;
    /**
     * True unless the resource is a history. (A history's contents are undefined until they are first written: clear each of its placements once, or do not
     * read the previous version in the first frame.)
     */
    bool discards;
} ThAliasingRow;

/** A previous user of a placement's bytes, with its uses on one device queue. */
typedef struct ThPreviousUser {
    /** The resource. */
    uint32_t resource;
    /** The resource's last pass on the queue. */
    uint32_t lastPass;
    /** The device queue. */
    uint32_t queue;
    /** True if the resource used the bytes in the previous frame; such users do not count in the first frame. */
    bool earlierFrame;
    /** The stages of its uses on the queue. */
    VkPipelineStageFlags2 stages;
    /** The access flags of its writes on the queue. */
    VkAccessFlags2 writes;
} ThPreviousUser;

/** The previous users of each placement's bytes as arrays, valid until the object is destroyed. */
typedef struct ThAliasingArrays {
    /** `sizeof(ThAliasingArrays)`. */
    uint32_t structSize;
    /** The number of elements of `placements`. */
    uint32_t placementCount;
    /**
     * The plan's placements in memory, in the order of their first passes. Create an image or a buffer for each placement.
     *
     * A history whose previous version is read has two placements, with the same first pass. The current version is in the first of
     * `ThPlannedResource::placements` in even frames, and in the second in odd frames; the previous version is in the other one. The first frame is
     * frame 0.
     */
    const struct ThAliasingRow *placements;
    /** The number of elements of `previous`. */
    uint32_t previousCount;
    /** The number of elements of `deviceQueues`. */
    uint32_t deviceQueueCount;
    /** Previous users; each row of `placements` has a run of them. */
    const struct ThPreviousUser *previous;
    /** The distinct device queues, which rows refer to by index. */
    const struct ThFamilyQueue *deviceQueues;
    /** The number of elements of `tileMemory`: one for each pass. */
    uint32_t tileMemoryCount;
    /** Zero. */
    uint32_t reserved;
    /** Per pass of the planned frame, the tile memory object to bind, a row of `ThPlanArrays::objects`. */
    const ThOptionalIndex *tileMemory;
} ThAliasingArrays;

/** Describes the device that the program is going to create. */
typedef struct ThDeviceAdditionsDesc {
    /** `sizeof(ThDeviceAdditionsDesc)`. */
    uint32_t structSize;
    /** `apiVersion` of the `VkApplicationInfo` that the instance was created with; at least `VK_API_VERSION_1_1`. */
    uint32_t apiVersion;
    /** `vkGetInstanceProcAddr` of the Vulkan loader. */
    PFN_vkGetInstanceProcAddr getInstanceProcAddr;
    /** The instance. */
    VkInstance instance;
    /** The physical device. */
    VkPhysicalDevice physicalDevice;
    /**
     * The program's own creation info. Its names, chain and queue infos must stay valid until `vkCreateDevice` has returned.
     * Feature structures in its chain are not changed: a feature that they disable stays disabled.
     */
    const VkDeviceCreateInfo *createInfo;
    /** `VK_TRUE` not to add `VK_QCOM_tile_memory_heap`. */
    VkBool32 withoutTileMemory;
    /** `VK_TRUE` to name objects and label passes. `VK_EXT_debug_utils` must be enabled on the instance. */
    VkBool32 debugNames;
} ThDeviceAdditionsDesc;

/** Additions to a device; see `thCreateDeviceAdditions`. */
typedef struct ThDeviceAdditionsT *ThDeviceAdditions;

/** A queue handle with its family. */
typedef struct ThDeviceQueue {
    /** The queue. */
    VkQueue queue;
    /** The index of the queue's family. */
    uint32_t family;
    /** The capabilities of the queue family, or the subset of them that frames may use. */
    VkQueueFlags capabilities;
} ThDeviceQueue;

/** A request for a block of ordinary memory. */
typedef struct ThBlockRequest {
    /** The size of this structure in the library's version of the header. */
    uint32_t structSize;
    /** `VK_TRUE` if the memory must be allocated with `VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT`. */
    VkBool32 deviceAddress;
    /** The name of the block, for reports; valid during the call. */
    struct ThStringView name;
    /** Size, alignment, and `memoryTypeBits` with exactly one bit set. */
    VkMemoryRequirements requirements;
    /** The image that the block is for, if the driver wants a dedicated allocation; else null. */
    VkImage dedicatedImage;
    /** The buffer that the block is for, if the driver wants a dedicated allocation; else null. */
    VkBuffer dedicatedBuffer;
} ThBlockRequest;

/** A block of memory that the program has allocated. */
typedef struct ThBlock {
    /** The memory object. */
    VkDeviceMemory memory;
    /** The offset of the block in the memory object, a multiple of the alignment. */
    VkDeviceSize offset;
    /** Reserved for later versions: null, or the first byte of the block if its memory stays mapped while the block is allocated. */
    void *mapped;
    /** The program's own handle of the block. */
    void *token;
} ThBlock;

/**
 * Allocates a block that nothing else may use until it is freed, and fills `block`, which is zeroed beforehand. If memory runs out, it must
 * return `VK_ERROR_OUT_OF_DEVICE_MEMORY` or `VK_ERROR_OUT_OF_HOST_MEMORY`; the library then frees what it does not need and may ask again.
 *
 * The library calls it on the thread that called a function with the device or with one of its frames; if several threads do so at once, it may run
 * on all of them at the same time. It must not wait for a mutex that another thread holds while it calls the library.
 */
typedef VkResult (*PFN_thAllocateBlock)(void *data,
                                        const struct ThBlockRequest *request,
                                        struct ThBlock *block);

/**
 * Frees a block that nothing is bound to any longer. The library calls it on the thread that called a function with the device or with one of its
 * frames; if several threads do so at once, it may run on all of them at the same time. It must not wait for a mutex that another thread holds while
 * it calls the library.
 */
typedef void (*PFN_thFreeBlock)(void *data,
                                const struct ThBlock *block);

/** Describes a device that the program has created. */
typedef struct ThDeviceDesc {
    /** `sizeof(ThDeviceDesc)`. */
    uint32_t structSize;
    /** `apiVersion` of the `VkApplicationInfo` that the instance was created with; at least `VK_API_VERSION_1_1`. */
    uint32_t apiVersion;
    /** `vkGetInstanceProcAddr` of the Vulkan loader. */
    PFN_vkGetInstanceProcAddr getInstanceProcAddr;
    /** The instance. */
    VkInstance instance;
    /** The physical device. */
    VkPhysicalDevice physicalDevice;
    /** The device, created with `thGetDeviceCreateInfo`. */
    VkDevice device;
    /** The additions that the device was created with; they can be destroyed afterwards. */
    ThDeviceAdditions additions;
    /** The number of elements of `queues`. */
    uint32_t queueCount;
    /** `VK_TRUE` not to use tile memory, even if it is enabled on the device. */
    VkBool32 withoutTileMemory;
    /**
     * The queues that frames may be submitted to, each once. Each queue of a frame gets the first unassigned one that has its capabilities, else the
     * first one that has them.
     */
    const struct ThDeviceQueue *queues;
    /** Allocates blocks of ordinary memory. */
    PFN_thAllocateBlock allocateBlock;
    /** Frees blocks of ordinary memory. */
    PFN_thFreeBlock freeBlock;
    /** The first argument of both callbacks. */
    void *userData;
    /**
     * The maximum number of bytes that all frames of the device may hold; 0 for no maximum. The limit of the system (`VK_EXT_memory_budget`) applies
     * in either case.
     */
    uint64_t memoryLimit;
} ThDeviceDesc;

/** A device; see `thCreateDevice`. */
typedef struct ThDeviceT *ThDevice;

/** A callback that uses the queues of a device while they are locked (`thUseQueues`). */
typedef void (*PFN_thUseQueues)(void *data);

/** Parameters of a dynamic frame. */
typedef struct ThDynamicFrameDesc {
    /** `sizeof(ThDynamicFrameDesc)`. */
    uint32_t structSize;
    /** `TH_PLAN_MODE_PLAN`, or `TH_PLAN_MODE_NOW` to plan new descriptions at once, without waiting for the search. */
    ThPlanMode mode;
    /** The device. */
    ThDevice device;
    /** Planning options, or null for the defaults. */
    const struct ThPlanOptionsDesc *options;
} ThDynamicFrameDesc;

/** A dynamic frame; see `thCreateDynamicFrame`. */
typedef struct ThDynamicFrameT *ThDynamicFrame;

/** The frame that was selected. */
typedef struct ThSelectedFrame {
    /** `sizeof(ThSelectedFrame)`. */
    uint32_t structSize;
    /** The parity of this frame, which selects the current copy of each history resource. */
    ThParity parity;
    /**
     * Identifies the images and buffers bound for the description: a key for descriptor sets. Numbers are not reused on the device. A description
     * gets a new number if its memory was replaced, and may get one if it was not selected for 1024 frames. Objects of an old number are destroyed
     * once the device has completed the frames that use them.
     */
    uint64_t bound;
    /** The number of passes of the description. */
    uint32_t passCount;
    /** The number of command buffers. */
    uint32_t commandBufferCount;
    /** The number of queues. */
    uint32_t queueCount;
    /** The number of resources. */
    uint32_t resourceCount;
} ThSelectedFrame;

/**
 * Creation parameters for the pipelines of a subpass. Pipelines survive a resize: another description with the same formats has compatible
 * targets.
 */
typedef struct ThPassTarget {
    /** `sizeof(ThPassTarget)`. */
    uint32_t structSize;
    /** `VK_TRUE` for dynamic rendering: pipelines must chain `VkPipelineRenderingCreateInfo`, with a null render pass. */
    VkBool32 dynamic;
    /** The render pass, which is valid as long as the device object; null for dynamic rendering. */
    VkRenderPass renderPass;
    /** The index of the subpass in the render pass. */
    uint32_t subpass;
    /** Samples of every attachment; 1 without attachments. */
    VkSampleCountFlags samples;
    /** The view mask of multiview; 0 without multiview. */
    uint32_t viewMask;
    /** The number of layers rendered to; 1 with multiview. */
    uint32_t layers;
    /** The extent of the described render area. */
    VkExtent2D extent;
    /** The depth and stencil aspects that the subpass uses: pipelines must not test or write others. */
    VkImageAspectFlags depthAspects;
    /** The format of the depth aspect, or `VK_FORMAT_UNDEFINED`. */
    VkFormat depthFormat;
    /** The format of the stencil aspect, or `VK_FORMAT_UNDEFINED`. */
    VkFormat stencilFormat;
    /** The number of elements of each of `colorFormats`, `colorLocations` and `colorInputs`. */
    uint32_t colorFormatCount;
    /** Formats of the color attachments. */
    const VkFormat *colorFormats;
    /**
     * Per color attachment, the fragment output location that writes it (`VkRenderingAttachmentLocationInfo`); null unless the subpass uses local
     * read.
     */
    const uint32_t *colorLocations;
    /**
     * Per color attachment, its input attachment index (`VkRenderingInputAttachmentIndexInfo`); set the depth and stencil indices to
     * `VK_ATTACHMENT_UNUSED`. Null unless the subpass uses local read.
     */
    const uint32_t *colorInputs;
} ThPassTarget;

/** The object that an access of a pass uses, with the parameters for a descriptor, a copy or a clear. */
typedef struct ThBoundAccess {
    /** `sizeof(ThBoundAccess)`. */
    uint32_t structSize;
    /** The kind of access. */
    ThAccessKind kind;
    /** The index of the described resource: of a separate level, that of the image (`ThResourceInfo::levelOf`). */
    uint32_t resource;
    /** The current or the previous version of a history resource. */
    ThHistoryVersion version;
    /** The index of the subpass that makes the access. */
    uint32_t subpass;
    /** The layout of an image during the pass. For depth and stencil in separate layouts, the depth layout. */
    VkImageLayout layout;
    /**
     * The layout of the stencil aspect during the pass, equal to `layout` unless depth and stencil have separate layouts;
     * `VK_IMAGE_LAYOUT_UNDEFINED` if the part has no stencil.
     */
    VkImageLayout stencilLayout;
    /** The part of an image that is accessed. Slices of 3D images count as layers. */
    VkImageSubresourceRange range;
    /** The image; null for buffers, and for an external image that is not imported. */
    VkImage image;
    /**
     * A view of `range` for descriptors; null for attachments, copies and buffers. If the part has depth and stencil, the view is of depth; for a
     * view of stencil, describe an access of `VK_IMAGE_ASPECT_STENCIL_BIT`.
     */
    VkImageView view;
    /** The buffer; null for images, and for an external buffer that is not imported. */
    VkBuffer buffer;
    /** The offset of the resource's first byte in the buffer. */
    VkDeviceSize offset;
    /** The size of the resource in the buffer, in bytes. */
    VkDeviceSize size;
    /** The device address of the resource's first byte; 0 unless the frame accesses the resource by its address. */
    VkDeviceAddress address;
} ThBoundAccess;

/** An external image. */
typedef struct ThImportedImage {
    /** The index of the resource. */
    uint32_t resource;
    /** Zero. */
    uint32_t reserved;
    /** The image, of the described format, extent and usage. */
    VkImage image;
    /**
     * A view of the whole image, usable as an attachment if the frame uses the image as one. If all passes use the same part of the image, the view
     * may show only that part.
     */
    VkImageView view;
} ThImportedImage;

/** A view of a part of an external image, for images that passes use in several parts. */
typedef struct ThImportedView {
    /** The index of the resource. */
    uint32_t resource;
    /** The levels and layers, exactly as an access describes them; aspects are ignored. */
    VkImageSubresourceRange range;
    /** The view. */
    VkImageView view;
} ThImportedView;

/** An external buffer. */
typedef struct ThImportedBuffer {
    /** The index of the resource. */
    uint32_t resource;
    /** Zero. */
    uint32_t reserved;
    /** The buffer. */
    VkBuffer buffer;
    /** The offset of the resource's first byte in the buffer. */
    VkDeviceSize offset;
    /** The size of the resource in bytes. */
    VkDeviceSize size;
    /** The device address of the first byte, for frames that use one; else 0. */
    VkDeviceAddress address;
} ThImportedBuffer;

/** An external semaphore. */
typedef struct ThImportedSemaphore {
    /** The index of the frame's semaphore. */
    uint32_t semaphore;
    /** Zero. */
    uint32_t reserved;
    /** The semaphore. */
    VkSemaphore handle;
    /** For a timeline semaphore, the value to wait for or signal; 0 for a binary one. */
    uint64_t value;
} ThImportedSemaphore;

/** The program's objects for the external resources and semaphores of one frame. */
typedef struct ThImports {
    /** `sizeof(ThImports)`. */
    uint32_t structSize;
    /** The number of elements of `images`. */
    uint32_t imageCount;
    /** Images, one for every external image that a pass uses. */
    const struct ThImportedImage *images;
    /** The number of elements of `views`. */
    uint32_t viewCount;
    /** The number of elements of `buffers`. */
    uint32_t bufferCount;
    /** Views of parts of external images. */
    const struct ThImportedView *views;
    /** Buffers, one for every external buffer that a pass uses. */
    const struct ThImportedBuffer *buffers;
    /** The number of elements of `semaphores`. */
    uint32_t semaphoreCount;
    /** Zero. */
    uint32_t reserved;
    /** Semaphores, one for every external semaphore that a batch waits for or signals. */
    const struct ThImportedSemaphore *semaphores;
} ThImports;

/** One call of `vkQueueSubmit2`, or of `vkQueueSubmit` on devices without synchronization2. Everything in it is valid during the callback. */
typedef struct ThSubmitCall {
    /** The size of this structure in the library's version of the header. */
    uint32_t structSize;
    /** The number of elements of `submits` or `olderSubmits`. */
    uint32_t submitCount;
    /** The queue to submit to. */
    VkQueue queue;
    /** The submits for `vkQueueSubmit2`; null without synchronization2. */
    const VkSubmitInfo2 *submits;
    /** The submits for `vkQueueSubmit`; null with synchronization2. */
    const VkSubmitInfo *olderSubmits;
    /** The fence that the call signals, or null. */
    VkFence fence;
    /** The family of the queue. */
    uint32_t family;
    /** Zero. */
    uint32_t reserved;
} ThSubmitCall;

/**
 * Calls `vkQueueSubmit2` (or `vkQueueSubmit`) once with these submits, in order, and with `fence`, and returns its result. The program may pass a
 * copy with more waits and signals. The callback runs on the thread that called `thSubmitFrameWith`, with the queues of the device locked; the
 * submission must be made before it returns. It must not wait for a mutex that another thread holds while it calls the library.
 */
typedef VkResult (*PFN_thSubmit)(void *data,
                                 const struct ThSubmitCall *call);

/** A recording; see `thBeginCommands`. */
typedef struct ThCommandsT *ThCommands;

/** A pass that has begun. */
typedef struct ThPassCommands {
    /** `sizeof(ThPassCommands)`. */
    uint32_t structSize;
    /** Zero. */
    uint32_t reserved;
    /** The command buffer, inside the render pass if the pass is a render pass. */
    VkCommandBuffer commandBuffer;
    /** The render area of a render pass in this frame. */
    VkRect2D area;
    /** The viewport that covers `area`, with depths from 0 to 1. */
    VkViewport viewport;
} ThPassCommands;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Creates an error object. Functions that fail write their message to the error object that they are called with.
 *
 * Thread safety: an error object may be used by one thread at a time.
 */
TH_API
ThStatus thCreateError(ThError *error);

/**
 * Returns the message of the last function that failed with this error object: one line that names the object, the demand and the limit.
 * Empty if none failed. The string is valid until the next function fails with the object, or the object is destroyed.
 *
 * Thread safety: an error object may be used by one thread at a time.
 */
TH_API
ThStatus thGetErrorMessage(ThError error,
                           struct ThStringView *message);

/**
 * Returns the rule of Vulkan that the description breaks, if the last function failed because of that: the identifier of a valid usage statement
 * (`VUID-...`), a section of the specification, or `not supported by tileheap`. Empty for other failures. The string is valid until the next
 * function fails with the object, or the object is destroyed.
 *
 * Thread safety: an error object may be used by one thread at a time.
 */
TH_API
ThStatus thGetErrorRule(ThError error,
                        struct ThStringView *rule);

/**
 * Returns the result of the Vulkan call that made the last function fail with this error object; `VK_SUCCESS` if none did.
 *
 * Thread safety: an error object may be used by one thread at a time.
 */
TH_API
ThStatus thGetErrorResult(ThError error,
                          VkResult *result);

/**
 * Destroys an error object. A null handle is ignored.
 *
 * Thread safety: no other thread may use the object during the call.
 */
TH_API
ThStatus thDestroyError(ThError error);

/**
 * Returns the characters of a text, which stay valid until it is destroyed.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thGetText(ThText text,
                   struct ThStringView *characters,
                   ThError error);

/**
 * Destroys a text. A null handle is ignored.
 *
 * Thread safety: no other thread may use the text during the call.
 */
TH_API
ThStatus thDestroyText(ThText text);

/**
 * Returns the version of the library: `major << 16 | minor << 8 | patch`.
 *
 * Thread safety: may be called at any time.
 */
TH_API
uint32_t thGetVersion(void);

/**
 * Returns the number of objects of all types that were created and not destroyed, to find leaked objects: leak checkers do not
 * see them.
 *
 * Thread safety: may be called at any time.
 */
TH_API
ThStatus thGetObjectCount(uint32_t *count,
                          ThError error);

/**
 * Writes the names of the profiles that `thCreateProfile` knows: up to `*count` into `names`, or only their number if `names` is null. The
 * names are valid as long as the library is loaded.
 *
 * Returns `TH_STATUS_INCOMPLETE` if there are more than fit.
 *
 * Thread safety: may be called at any time.
 */
TH_API
ThStatus thGetProfileNames(uint32_t *count,
                           struct ThStringView *names,
                           ThError error);

/**
 * Creates the profile of a known device: `adreno-830`, `no-tile-memory`, or another of `thGetProfileNames`.
 *
 * Fails with `TH_STATUS_ERROR_INVALID_ARGUMENT` if no profile has the name; the message lists them.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateProfile(struct ThStringView name,
                         ThProfile *profile,
                         ThError error);

/**
 * Creates a profile from JSON, as `tileheap profile --json` and `thCreateProfileText` write it.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateProfileFromJson(struct ThStringView json,
                                 ThProfile *profile,
                                 ThError error);

/**
 * Creates the profile of a physical device by querying it.
 *
 * Before the device is created, a profile with all features says what can be enabled.
 *
 * Fails with `TH_STATUS_ERROR_VULKAN` if the driver fails, lacks a function, or offers less than Vulkan 1.1.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateProfileFromPhysicalDevice(const struct ThPhysicalDeviceDesc *desc,
                                           ThProfile *profile,
                                           ThError error);

/**
 * Creates a copy of a profile with a tile heap of another size, to find out what a different size would change.
 *
 * Fails with `TH_STATUS_ERROR_INVALID_PROFILE` if the profile has no tile heap, or the size is 0.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateProfileWithTileSize(ThProfile profile,
                                     uint64_t tileSize,
                                     ThProfile *resized,
                                     ThError error);

/**
 * Returns a profile's tile heap and features. The strings are valid until the profile is destroyed.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thGetProfileInfo(ThProfile profile,
                          struct ThProfileInfo *info,
                          ThError error);

/**
 * Writes a profile as JSON. Destroy the text with `thDestroyText`.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateProfileText(ThProfile profile,
                             ThText *json,
                             ThError error);

/**
 * Destroys a profile. Objects that were created from it keep what they need. A null handle is ignored.
 *
 * Thread safety: no other thread may use the handle during the call.
 */
TH_API
ThStatus thDestroyProfile(ThProfile profile);

/**
 * Creates a frame from a description, which is validated and copied.
 *
 * Fails with `TH_STATUS_ERROR_INVALID_FRAME` if the description breaks a rule; the message names the pass and the resource.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateFrame(const struct ThFrameDesc *desc,
                       ThFrame *frame,
                       ThError error);

/**
 * Creates a frame from JSON: a document of the format `tileheap-frame`, as `thCreateFrameText` and `tileheap capture` write it. `baseExtent`
 * replaces the document's base extent unless it is null. The command `tileheap` also reads plain descriptions without `format`; this function does
 * not.
 *
 * Fails with `TH_STATUS_ERROR_INVALID_DOCUMENT` if the text is not such a document; the message names the line and the field.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateFrameFromJson(struct ThStringView json,
                               const VkExtent2D *baseExtent,
                               ThFrame *frame,
                               ThError error);

/**
 * Writes a frame as JSON; destroy the text with `thDestroyText`. `thCreateFrameFromJson` and the command `tileheap` read it.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateFrameText(ThFrame frame,
                           ThText *json,
                           ThError error);

/**
 * Returns the name and base extent of a frame, and the sizes of its tables. The name is valid until the frame is destroyed.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thGetFrameInfo(ThFrame frame,
                        struct ThFrameInfo *info,
                        ThError error);

/**
 * Returns a resource of a frame. Its name is valid until the frame is destroyed.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thGetFrameResource(ThFrame frame,
                            uint32_t resource,
                            struct ThResourceInfo *info,
                            ThError error);

/**
 * Returns a pass of a frame. Its name is valid until the frame is destroyed.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thGetFramePass(ThFrame frame,
                        uint32_t pass,
                        struct ThPassInfo *info,
                        ThError error);

/**
 * Returns the name of an object of a frame, for debug names and labels. It is valid until the frame is destroyed.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thGetFrameName(ThFrame frame,
                        ThNameKind kind,
                        uint32_t index,
                        struct ThStringView *name,
                        ThError error);

/**
 * Finds the index of the object with a given name.
 *
 * Fails with `TH_STATUS_ERROR_INVALID_ARGUMENT` if no object of this kind has the name.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thFindFrameName(ThFrame frame,
                         ThNameKind kind,
                         struct ThStringView name,
                         uint32_t *index,
                         ThError error);

/**
 * Destroys a frame. Objects that were created from it keep what they need. A null handle is ignored.
 *
 * Thread safety: no other thread may use the handle during the call.
 */
TH_API
ThStatus thDestroyFrame(ThFrame frame);

/**
 * Creates the frame in which each value of a resource is a separate resource, which is placed separately; destroy it with `thDestroyFrame`. A value
 * is a version of the contents, from the pass that begins to write it to the last one that needs it: an image that a pool hands out three times in a
 * frame has three values. The frame is measured and planned like any other, and the traffic in the totals of its plans is that of the described
 * frame.
 *
 * External and history resources keep their last value, and their contents from before the frame; pinned and excluded ones are unchanged. If no
 * resource has several values, the frame is returned unchanged.
 *
 * Fails with `TH_STATUS_ERROR_INVALID_FRAME` if the frame would have too many resources.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateFrameOfValues(ThFrame frame,
                               ThFrame *separated,
                               ThError error);

/**
 * Creates the frame that was given to `thCreatePlan`, without the passes that copy out of tile memory; destroy it with `thDestroyFrame`.
 * `ThPlannedPass::describedPass` is a pass of this frame. For a plan that a dynamic frame selected, it is the frame of the description.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateInputFrame(ThPlan plan,
                            ThFrame *frame,
                            ThError error);

/**
 * Returns the arrays that map a frame back to the described one: a frame of values, an arranged frame, or the frame of a plan, whose passes and
 * resources the tables refer to. In a frame that was not made from another, each pass and resource maps to itself. The arrays are valid until the
 * frame is destroyed.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thGetFrameOrigins(ThFrame frame,
                           struct ThFrameOrigins *origins,
                           ThError error);

/**
 * Writes the queries whose answers `thCreateRequirements` needs: up to `*count` into `queries`, or only their number if `queries` is null.
 * `structSize` of the first element of `queries` is set by the caller.
 *
 * Returns `TH_STATUS_INCOMPLETE` if there are more than fit. Fails with `TH_STATUS_ERROR_CANNOT_PLAN` if the frame breaks a limit of the device or
 * needs a feature that it lacks: a driver must not be queried for objects that it cannot create.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thGetRequirementQueries(ThFrame frame,
                                 ThProfile profile,
                                 uint32_t *count,
                                 struct ThRequirementQuery *queries,
                                 ThError error);

/**
 * Creates requirements from a driver's answers, in the order of `thGetRequirementQueries`.
 *
 * Fails with `TH_STATUS_ERROR_INVALID_FRAME` if the device does not support a resource in ordinary memory.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateRequirements(ThFrame frame,
                              ThProfile profile,
                              uint32_t answerCount,
                              const struct ThRequirementAnswer *answers,
                              ThRequirements *requirements,
                              ThError error);

/**
 * Creates requirements by estimating them from the profile, if no driver can be queried.
 *
 * Fails with `TH_STATUS_ERROR_INVALID_PROFILE` if a resource is larger than the profile's `maxMemoryAllocationSize`, or 1 TiB. The profile's other limits,
 * such as `maxImageDimension2D`, are checked by `thCreatePlan`. Profiles do not list the formats that a device supports: a format that no device supports
 * with a usage, such as a storage image of `VK_FORMAT_R8G8B8A8_SRGB`, is only refused by a driver.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateEstimatedRequirements(ThFrame frame,
                                       ThProfile profile,
                                       ThRequirements *requirements,
                                       ThError error);

/**
 * Returns the requirements of a resource. The driver is not queried for external and unused ones, whose memory is not planned: their size is 0.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thGetResourceRequirements(ThRequirements requirements,
                                   uint32_t resource,
                                   struct ThResourceRequirements *info,
                                   ThError error);

/**
 * Destroys requirements. Plans that were made from them keep what they need. A null handle is ignored.
 *
 * Thread safety: no other thread may use the handle during the call.
 */
TH_API
ThStatus thDestroyRequirements(ThRequirements requirements);

/**
 * Creates a planner.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreatePlanner(ThPlanner *planner,
                         ThError error);

/**
 * Destroys a planner. Its plans stay valid. A null handle is ignored.
 *
 * Thread safety: no other thread may use the handle during the call.
 */
TH_API
ThStatus thDestroyPlanner(ThPlanner planner);

/**
 * Plans a frame: the placement of every resource, and the tile memory that is bound in each pass.
 *
 * Fails with `TH_STATUS_ERROR_CANNOT_PLAN` if the frame cannot be planned for the device; the message names the resource and the rule. A
 * resource that does not fit into tile memory is not an error: it is placed in ordinary memory, and `thGetPlacementReason` says why.
 *
 * Thread safety: may be called by several threads at once, with different planners.
 */
TH_API
ThStatus thCreatePlan(const struct ThPlanDesc *desc,
                      ThPlan *plan,
                      ThError error);

/**
 * Returns the arrays of a plan, which are valid until it is destroyed.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thGetPlan(ThPlan plan,
                   struct ThPlanArrays *arrays,
                   ThError error);

/**
 * Returns the totals of a plan, in bytes.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thGetPlanTotals(ThPlan plan,
                         struct ThPlanTotals *totals,
                         ThError error);

/**
 * Creates the frame that a plan is for; destroy it with `thDestroyFrame`. It includes the passes that copy out of tile memory, if lifetimes are
 * split. Indices in the arrays of plans and tables are those of this frame.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreatePlannedFrame(ThPlan plan,
                              ThFrame *frame,
                              ThError error);

/**
 * Returns why a resource is placed where it is, in words, with a remedy if it is not on chip. The string is valid until the plan is destroyed.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thGetPlacementReason(ThPlan plan,
                              uint32_t resource,
                              struct ThStringView *reason,
                              ThError error);

/**
 * Returns whether two plans are equal: a planner returns an equal plan for a frame that has not changed, and everything that was created for
 * the first one can stay.
 *
 * Plans that the same planner returned for equal inputs are compared by identity, others by their contents.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thComparePlans(ThPlan plan,
                        ThPlan other,
                        VkBool32 *equal,
                        ThError error);

/**
 * Adds a plan that was made elsewhere, for example on another thread, to a planner, which then returns it for the same inputs. `adopted` is false if
 * the planner already has one that is proved to be no worse.
 *
 * Thread safety: a planner may be used by one call at a time.
 */
TH_API
ThStatus thAdoptPlan(ThPlanner planner,
                     ThPlan plan,
                     VkBool32 *adopted,
                     ThError error);

/**
 * Checks a plan against the rules of the specification, independently of how it was created.
 *
 * Fails with `TH_STATUS_ERROR_CHECK_FAILED` if it breaks a rule; the message names the rule and the resources.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCheckPlan(ThPlan plan,
                     ThError error);

/**
 * Writes a plan: as text, with the placement of every resource, the reasons, and the tile heap drawn, or as JSON. Destroy the text with
 * `thDestroyText`.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreatePlanText(ThPlan plan,
                          ThReportFormat format,
                          ThText *text,
                          ThError error);

/**
 * Destroys a plan. Tables and arrangements that were made from it keep what they need. A null handle is ignored.
 *
 * Thread safety: no other thread may use the handle during the call.
 */
TH_API
ThStatus thDestroyPlan(ThPlan plan);

/**
 * Searches for an arrangement of a planned frame that keeps more of its traffic on chip: passes in another order, merged passes, fused batches and
 * strips. `plan` is a plan of the described frame. The arranged frame (`thCreateArrangedFrame`) is planned like any other.
 *
 * The search takes milliseconds to seconds; `ThSearchDesc::progress` can end it. `desc` may be null for the defaults.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateArrangement(ThPlan plan,
                             const struct ThSearchDesc *desc,
                             ThArrangement *arrangement,
                             ThError error);

/**
 * Reads an arrangement from JSON, as `thCreateArrangementText` and `tileheap plan --save-arrangement` write it.
 *
 * Fails with `TH_STATUS_ERROR_INVALID_DOCUMENT` if the text is not an arrangement, and with `TH_STATUS_ERROR_CANNOT_ARRANGE` if the frame cannot
 * run this way.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateArrangementFromJson(ThPlan plan,
                                     struct ThStringView json,
                                     ThArrangement *arrangement,
                                     ThError error);

/**
 * Returns the traffic of the described and of the arranged frame.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thGetArrangementInfo(ThArrangement arrangement,
                              struct ThArrangementInfo *info,
                              ThError error);

/**
 * Creates the arranged frame, to be measured and planned; destroy it with `thDestroyFrame`. Its first resources are the described ones.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateArrangedFrame(ThArrangement arrangement,
                               ThFrame *frame,
                               ThError error);

/**
 * Returns the arrays that map the arranged frame back to the described one. They are valid until the arrangement is destroyed.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thGetArrangement(ThArrangement arrangement,
                          struct ThArrangementArrays *arrays,
                          ThError error);

/**
 * Writes an arrangement as text, which lists the batches and their groups of passes, or as JSON. Destroy the text with `thDestroyText`.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateArrangementText(ThArrangement arrangement,
                                 ThReportFormat format,
                                 ThText *text,
                                 ThError error);

/**
 * Destroys an arrangement. Its frame stays valid. A null handle is ignored.
 *
 * Thread safety: no other thread may use the handle during the call.
 */
TH_API
ThStatus thDestroyArrangement(ThArrangement arrangement);

/**
 * Creates a lowerer. It owns the tables of the plan that it lowered last.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateLowerer(ThLowerer *lowerer,
                         ThError error);

/**
 * Lowers a plan into tables: for the first frame, or for the one after the tables of `previous`. After a few frames the tables repeat: they are the
 * same for all odd frames, and for all even frames.
 *
 * Fails with `TH_STATUS_ERROR_CANNOT_LOWER` if the frame cannot run on these queues. The lowerer then has no tables; after other errors it still has
 * those of the previous frame.
 *
 * Thread safety: a lowerer, also as `previous`, may be used by one call at a time.
 */
TH_API
ThStatus thLower(ThLowerer lowerer,
                 const struct ThLowerDesc *desc,
                 struct ThLowered *lowered,
                 ThError error);

/**
 * Returns the tables that a lowerer lowered last.
 *
 * Thread safety: a lowerer may be used by one call at a time.
 */
TH_API
ThStatus thGetLowered(ThLowerer lowerer,
                      struct ThLowered *lowered,
                      ThError error);

/**
 * Checks the tables that a lowerer lowered last against the rules of the specification, independently of how they were created.
 *
 * Fails with `TH_STATUS_ERROR_CHECK_FAILED` if they break a rule; the message names the rule.
 *
 * Thread safety: a lowerer may be used by one call at a time.
 */
TH_API
ThStatus thCheckLowered(ThLowerer lowerer,
                        ThError error);

/**
 * Writes the tables that a lowerer lowered last: as text, in the order in which they are executed, or as JSON. Destroy the text with
 * `thDestroyText`.
 *
 * Thread safety: a lowerer may be used by one call at a time.
 */
TH_API
ThStatus thCreateLoweredText(ThLowerer lowerer,
                             ThReportFormat format,
                             ThText *text,
                             ThError error);

/**
 * Destroys a lowerer and its tables. A null handle is ignored.
 *
 * Thread safety: no other thread may use the handle during the call.
 */
TH_API
ThStatus thDestroyLowerer(ThLowerer lowerer);

/**
 * Returns the shaders of a kind of store.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thGetStoreShaders(ThStoreShader shader,
                           struct ThStoreShaders *shaders,
                           ThError error);

/**
 * Lists the previous users of each placement's bytes, and the tile memory to bind in each pass, without layouts or barriers.
 *
 * Fails with `TH_STATUS_ERROR_CANNOT_LOWER` if the options of the plan permit more than aliasing, if parts of an image are first used on several queues at
 * the same time, or if the number of queues differs from the number that the frame declares.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateAliasing(const struct ThAliasingDesc *desc,
                          ThAliasing *aliasing,
                          ThError error);

/**
 * Returns the previous users as arrays, which are valid until the object is destroyed.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thGetAliasing(ThAliasing aliasing,
                       struct ThAliasingArrays *arrays,
                       ThError error);

/**
 * Writes the previous users of each placement's bytes, as text or JSON. Destroy the text with `thDestroyText`.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateAliasingText(ThAliasing aliasing,
                              ThReportFormat format,
                              ThText *text,
                              ThError error);

/**
 * Destroys an aliasing object. A null handle is ignored.
 *
 * Thread safety: no other thread may use the handle during the call.
 */
TH_API
ThStatus thDestroyAliasing(ThAliasing aliasing);

/**
 * Finds the extensions and features that tileheap uses and the physical device supports.
 *
 * Create the device with `thGetDeviceCreateInfo`, then call `thCreateDevice`.
 *
 * Fails with `TH_STATUS_ERROR_VULKAN` if the driver fails, lacks a function, or offers less than Vulkan 1.1.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateDeviceAdditions(const struct ThDeviceAdditionsDesc *desc,
                                 ThDeviceAdditions *additions,
                                 ThError error);

/**
 * Returns the program's creation info with the additions, for `vkCreateDevice`. It is valid until the additions are destroyed, provided that the
 * program's own creation info, its names and its chain are still valid.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thGetDeviceCreateInfo(ThDeviceAdditions additions,
                               const VkDeviceCreateInfo **createInfo,
                               ThError error);

/**
 * Destroys the additions. Devices that were created with them stay valid. A null handle is ignored.
 *
 * Thread safety: no other thread may use the handle during the call.
 */
TH_API
ThStatus thDestroyDeviceAdditions(ThDeviceAdditions additions);

/**
 * Wraps a device that the program has created: tileheap plans, binds, records and submits frames on it. The program keeps
 * ownership of the device, its queues and the instance.
 *
 * Fails with `TH_STATUS_ERROR_VULKAN` if the driver lacks a function, and with `TH_STATUS_ERROR_INVALID_ARGUMENT` if the physical device does
 * not have the family of a queue, or the family does not have the capabilities of the queue.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateDevice(const struct ThDeviceDesc *desc,
                        ThDevice *device,
                        ThError error);

/**
 * Destroys everything that tileheap has created on a device, but not the `VkDevice`. A null handle is ignored.
 *
 * The device must be idle: call `vkDeviceWaitIdle` first, which may return `VK_ERROR_DEVICE_LOST`.
 *
 * Fails with `TH_STATUS_ERROR_IN_USE` if the device has dynamic frames, or another thread is inside of a function of the device, `thWaitForFrame`
 * included.
 *
 * Thread safety: no other thread may use the handle during the call.
 */
TH_API
ThStatus thDestroyDevice(ThDevice device,
                         ThError error);

/**
 * Creates a profile of a device with the capabilities that tileheap uses on it. Destroy it with `thDestroyProfile`.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateDeviceProfile(ThDevice device,
                               ThProfile *profile,
                               ThError error);

/**
 * Writes the capabilities in use on a device, its tile memory or the reason that it has none, its queues, and the memory that its frames
 * hold. Destroy the text with `thDestroyText`.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateDeviceText(ThDevice device,
                            ThText *text,
                            ThError error);

/**
 * Returns whether the device is lost: a call that tileheap made on it has returned `VK_ERROR_DEVICE_LOST`, or the program has reported it. A
 * lost device stays lost.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thGetDeviceLost(ThDevice device,
                         VkBool32 *lost,
                         ThError error);

/**
 * Reports that one of the program's own calls has returned `VK_ERROR_DEVICE_LOST`.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thReportDeviceLost(ThDevice device,
                            ThError error);

/**
 * Calls `useQueues` while the queues of the device are locked: for the program's own submissions, presents and calls of `vkDeviceWaitIdle`, if
 * other threads may submit frames meanwhile. The callback must not call functions of devices and dynamic frames.
 *
 * Thread safety: may be called by several threads at once; each waits until the queues are free.
 */
TH_API
ThStatus thUseQueues(ThDevice device,
                     PFN_thUseQueues useQueues,
                     void *userData,
                     ThError error);

/**
 * Destroys the objects of destroyed dynamic frames and of replaced descriptions if the device has completed the frames that use them, and frees all
 * memory that no frame uses. `waiting` receives the number of such descriptions that the device still uses; it may be null.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thTrimDevice(ThDevice device,
                      uint32_t *waiting,
                      ThError error);

/**
 * Creates a dynamic frame, whose description may change from frame to frame.
 * Each description is planned and bound once; all of them share blocks of memory, and
 * images and buffers that are identical.
 *
 * Thread safety: may be called by several threads at once.
 */
TH_API
ThStatus thCreateDynamicFrame(const struct ThDynamicFrameDesc *desc,
                              ThDynamicFrame *frame,
                              ThError error);

/**
 * Selects the description of the next frame: finds the objects that are bound for it, or plans and binds it. Selecting a known description costs one
 * comparison and allocates nothing. Until the frame is begun, another one can be selected instead. Structures and arrays are read during the call
 * only.
 *
 * History resources are identified by name: one that is declared as in an earlier description keeps its contents, even if other descriptions were
 * selected in between.
 *
 * Pointers of `thGetPassTarget` are valid until the next call. If debug names are enabled, no other thread may use
 * objects of the frame during the call, to record commands or update descriptors.
 *
 * Fails with `TH_STATUS_ERROR_INVALID_FRAME` and `TH_STATUS_ERROR_CANNOT_PLAN` like `thCreateFrame` and `thCreatePlan`, with
 * `TH_STATUS_ERROR_OUT_OF_MEMORY` if memory runs out, and with `TH_STATUS_ERROR_WRONG_STATE` if a frame is being recorded. Objects that are already
 * bound stay bound, but no frame is selected after an error.
 *
 * Thread safety: no other thread may use the frame during the call, except to wait for it; otherwise fails with `TH_STATUS_ERROR_IN_USE`.
 */
TH_API
ThStatus thSelectFrame(ThDynamicFrame frame,
                       const struct ThFrameDesc *desc,
                       struct ThSelectedFrame *selected,
                       ThError error);

/**
 * Like `thSelectFrame`, but for a frame that was created before: an arrangement (`thCreateArrangedFrame`), values (`thCreateFrameOfValues`), or a frame from
 * JSON. Selecting the same object again compares nothing and allocates nothing. The dynamic frame keeps what it needs of `created`,
 * which can be destroyed.
 *
 * Passes, resources and command buffers have the indices of `created`; `thGetFrameOrigins` has the described passes that each pass runs. Passes without
 * described ones, which copy images into strips and out of them, are recorded by the library: neither begin nor skip them.
 *
 * Fails like `thSelectFrame`.
 *
 * Thread safety: as `thSelectFrame`. Functions that must not be called during that one must not be called during this one.
 */
TH_API
ThStatus thSelectCreatedFrame(ThDynamicFrame frame,
                              ThFrame created,
                              struct ThSelectedFrame *selected,
                              ThError error);

/**
 * Forgets what is cached for the view of an imported image, before the program destroys the view: another view may get the same handle. Only passes
 * that are rendered with render pass objects cache anything: the call may be omitted if `ThPassTarget::dynamic` is true for all passes that use the
 * image. No frame that uses the view may be in flight.
 *
 * Fails with `TH_STATUS_ERROR_WRONG_STATE` if a frame is being recorded.
 *
 * Thread safety: no other thread may use the frame during the call; otherwise fails with `TH_STATUS_ERROR_IN_USE`.
 */
TH_API
ThStatus thForgetImportedView(ThDynamicFrame frame,
                              VkImageView view,
                              ThError error);

/**
 * Destroys a dynamic frame, in any state. Its objects are destroyed once the device is done with them: by `thTrimDevice`, while other frames
 * are selected, or by `thDestroyDevice`. A null handle is ignored.
 *
 * Fails with `TH_STATUS_ERROR_IN_USE` while one of its command buffers is being recorded, or another call uses it.
 *
 * Thread safety: no other thread may use the handle during the call.
 */
TH_API
ThStatus thDestroyDynamicFrame(ThDynamicFrame frame,
                               ThError error);

/**
 * Destroys a dynamic frame and its objects at once, without waiting, after the device was lost. `vkDeviceWaitIdle` must have returned since the
 * loss, with any result, and nothing may be submitted after it. A null handle is ignored.
 *
 * Fails with `TH_STATUS_ERROR_WRONG_STATE` if the device is not lost, and with `TH_STATUS_ERROR_IN_USE` while one of its command buffers is being
 * recorded, or another call uses it.
 *
 * Thread safety: no other thread may use the handle during the call.
 */
TH_API
ThStatus thAbandonDynamicFrame(ThDynamicFrame frame,
                               ThError error);

/**
 * Creates the plan of the selected frame, for reports. Destroy it with `thDestroyPlan`.
 *
 * Fails with `TH_STATUS_ERROR_WRONG_STATE` if no frame was selected.
 *
 * Thread safety: may be called by several threads at once, except during `thSelectFrame`, `thBeginFrame`,
 * `thImportResources`, `thSetRenderArea`, `thSubmitFrame`, `thSubmitFrameWith`, `thDiscardFrame` and `thForgetImportedView` for the same frame.
 */
TH_API
ThStatus thCreateSelectedPlan(ThDynamicFrame frame,
                              ThPlan *plan,
                              ThError error);

/**
 * Returns the device queue that runs a queue of the selected frame. Create command pools for its family.
 *
 * Fails with `TH_STATUS_ERROR_WRONG_STATE` if no frame was selected.
 *
 * Thread safety: may be called by several threads at once, except during `thSelectFrame`, `thBeginFrame`,
 * `thImportResources`, `thSetRenderArea`, `thSubmitFrame`, `thSubmitFrameWith`, `thDiscardFrame` and `thForgetImportedView` for the same frame.
 */
TH_API
ThStatus thGetSelectedQueue(ThDynamicFrame frame,
                            uint32_t queue,
                            struct ThDeviceQueue *deviceQueue,
                            ThError error);

/**
 * Returns the creation parameters for the pipelines of a subpass of a render pass: subpass 0 if the pass has only one. Arrays are valid until
 * the next `thSelectFrame`, or until the frame is destroyed.
 *
 * Fails with `TH_STATUS_ERROR_WRONG_STATE` if no frame was selected, and with `TH_STATUS_ERROR_INVALID_ARGUMENT` if the pass or
 * subpass does not exist, or the pass is not a render pass.
 *
 * Thread safety: may be called by several threads at once, except during `thSelectFrame`, `thBeginFrame`,
 * `thImportResources`, `thSetRenderArea`, `thSubmitFrame`, `thSubmitFrameWith`, `thDiscardFrame` and `thForgetImportedView` for the same frame.
 */
TH_API
ThStatus thGetPassTarget(ThDynamicFrame frame,
                         uint32_t pass,
                         uint32_t subpass,
                         struct ThPassTarget *target,
                         ThError error);

/**
 * Returns the object that an access of a pass uses in the selected frame; `access` is its index among the accesses that the pass describes. Imported
 * objects are null until the frame has begun and they are imported. The bound objects do not change as long as
 * `ThSelectedFrame::bound` and `ThSelectedFrame::parity` are the same.
 *
 * Fails with `TH_STATUS_ERROR_WRONG_STATE` if no frame is selected or being recorded.
 *
 * Thread safety: may be called by several threads at once, except during `thSelectFrame`, `thBeginFrame`,
 * `thImportResources`, `thSetRenderArea`, `thSubmitFrame`, `thSubmitFrameWith`, `thDiscardFrame` and `thForgetImportedView` for the same frame.
 */
TH_API
ThStatus thGetBoundAccess(ThDynamicFrame frame,
                          uint32_t pass,
                          uint32_t access,
                          struct ThBoundAccess *bound,
                          ThError error);

/**
 * Begins the selected frame. Earlier frames may still run on the device; the program limits how many with `thWaitForFrame`. `imports` may be
 * null. `number` receives the frame's number for `thWaitForFrame`; it may be null. Frames are numbered from 0; the number of a discarded frame is
 * reused.
 *
 * Imported handles must be alive until the frame is complete, and in the described entry states when the command buffers that use them run. Structures
 * and arrays are read during the call only.
 *
 * After an error, select the frame again. Fails with `TH_STATUS_ERROR_WRONG_STATE` if no frame is selected, and with
 * `TH_STATUS_ERROR_INVALID_ARGUMENT` if an import does not match the frame.
 *
 * Thread safety: no other thread may use the frame during the call, except to wait for it; otherwise fails with `TH_STATUS_ERROR_IN_USE`.
 */
TH_API
ThStatus thBeginFrame(ThDynamicFrame frame,
                      const struct ThImports *imports,
                      uint64_t *number,
                      ThError error);

/**
 * Imports external resources and semaphores after the frame has begun, for example a swapchain image that is acquired as late as possible.
 * Import resources before recording a command buffer that uses them, and semaphores before submitting the frame.
 *
 * Fails with `TH_STATUS_ERROR_WRONG_STATE` if no frame is being recorded or a command buffer that uses the resource is already recorded, and with
 * `TH_STATUS_ERROR_INVALID_ARGUMENT` if an import does not match the frame; nothing is imported then.
 *
 * Thread safety: no other thread may use the frame during the call, except to wait for it, and no command buffer may be in recording; otherwise
 * fails with `TH_STATUS_ERROR_IN_USE`.
 */
TH_API
ThStatus thImportResources(ThDynamicFrame frame,
                           const struct ThImports *imports,
                           ThError error);

/**
 * Restricts a render pass to part of its described area in this frame, for dynamic resolution. If `area` is null, the pass renders nothing and must be
 * skipped with `thSkipPass`. Later passes must not read outside of the area.
 *
 * Fails with `TH_STATUS_ERROR_WRONG_STATE` if no frame is being recorded, and with `TH_STATUS_ERROR_INVALID_ARGUMENT` if the pass is not a render
 * pass, the area is empty or not inside of the described one, or the pass's command buffer is already recorded.
 *
 * Thread safety: no other thread may use the frame during the call, except to wait for it, and no command buffer may be in recording; otherwise
 * fails with `TH_STATUS_ERROR_IN_USE`.
 */
TH_API
ThStatus thSetRenderArea(ThDynamicFrame frame,
                         uint32_t pass,
                         const VkRect2D *area,
                         ThError error);

/**
 * Begins a secondary command buffer for a subpass of a render pass, with the inheritance that it needs, `VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT` and
 * `VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT`. Record draws, end it with
 * `vkEndCommandBuffer`, and pass it to `thExecuteSecondaries`.
 *
 * Fails with `TH_STATUS_ERROR_WRONG_STATE` if no frame is being recorded, and with `TH_STATUS_ERROR_INVALID_ARGUMENT` if there is no such pass or
 * subpass, or the pass is not a render pass.
 *
 * Thread safety: may be called by several threads at once, with different command buffers and pools.
 */
TH_API
ThStatus thBeginSecondary(ThDynamicFrame frame,
                          VkCommandBuffer commandBuffer,
                          uint32_t pass,
                          uint32_t subpass,
                          ThError error);

/**
 * Binds the tile memory of a compute or transfer pass in a secondary command buffer that the program has begun, before its first action
 * command. Records nothing if the pass runs without bound tile memory.
 *
 * Fails with `TH_STATUS_ERROR_WRONG_STATE` if no frame is being recorded, and with `TH_STATUS_ERROR_INVALID_ARGUMENT` if there is no such pass or it
 * is a render pass: `thBeginSecondary` begins its secondary command buffers.
 *
 * Thread safety: may be called by several threads at once, with different command buffers and pools.
 */
TH_API
ThStatus thBindSecondaryTileMemory(ThDynamicFrame frame,
                                   VkCommandBuffer commandBuffer,
                                   uint32_t pass,
                                   ThError error);

/**
 * Submits the frame: each described submit as one call, with the semaphores and fences that track frames.
 *
 * Fails with `TH_STATUS_ERROR_WRONG_STATE` if a command buffer was not recorded or a semaphore is not imported; end the recordings, or call
 * `thDiscardFrame`. After a Vulkan error, part of the frame may run and no other can begin: destroy the dynamic frame and create another, or abandon
 * it if the device is lost.
 *
 * Thread safety: no other thread may use the frame during the call, except to wait for it; otherwise fails with `TH_STATUS_ERROR_IN_USE`. The
 * queues of the device are locked during the call: other submissions, presents and `vkDeviceWaitIdle` of the program must go through
 * `thUseQueues`. No other function accesses a queue.
 */
TH_API
ThStatus thSubmitFrame(ThDynamicFrame frame,
                       ThError error);

/**
 * Like `thSubmitFrame`, but the program makes the calls: `submit` is called for each of them, in order, before the function returns.
 *
 * Fails with `TH_STATUS_ERROR_VULKAN`, or with the status that corresponds to the result, if `submit` returns an error.
 *
 * Thread safety: as `thSubmitFrame`. The callback must not call functions of devices and dynamic frames.
 */
TH_API
ThStatus thSubmitFrameWith(ThDynamicFrame frame,
                           PFN_thSubmit submit,
                           void *userData,
                           ThError error);

/**
 * Discards the frame that is being recorded, for example after `VK_ERROR_OUT_OF_DATE_KHR`: it has no effect, and the next frame has the same number.
 * The program must reset the command buffers that were recorded; imported semaphores are neither waited for nor signaled.
 *
 * Fails with `TH_STATUS_ERROR_WRONG_STATE` if no frame is being recorded.
 *
 * Thread safety: no other thread may use the frame during the call, except to wait for it, and no command buffer may be in recording; otherwise
 * fails with `TH_STATUS_ERROR_IN_USE`.
 */
TH_API
ThStatus thDiscardFrame(ThDynamicFrame frame,
                        ThError error);

/**
 * Waits until a frame is complete on the device, for at most `timeout` nanoseconds. Call it before the frame's command buffers are used again.
 *
 * Returns `TH_STATUS_TIMEOUT` if time ran out. Fails with `TH_STATUS_ERROR_WRONG_STATE` if the frame was not submitted, and with
 * `TH_STATUS_ERROR_DEVICE_LOST` if the device is lost.
 *
 * Thread safety: may be called by several threads at once, also while others select, record and submit.
 */
TH_API
ThStatus thWaitForFrame(ThDynamicFrame frame,
                        uint64_t number,
                        uint64_t timeout,
                        ThError error);

/**
 * Returns the number of completed frames: frame n is complete if n is less than `count`.
 *
 * Fails with `TH_STATUS_ERROR_DEVICE_LOST` if the device is lost, unless all submitted frames were known to be complete before.
 *
 * Thread safety: may be called by several threads at once, also while others select, record and submit.
 */
TH_API
ThStatus thGetCompletedFrameCount(ThDynamicFrame frame,
                                  uint64_t *count,
                                  ThError error);

/**
 * Begins recording a command buffer of the frame: calls `vkBeginCommandBuffer` with `VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT`.
 * `commandBufferIndex` is its index in the description. `commandBuffer` must be a primary command buffer, allocated from a pool of its queue's
 * family (`thGetSelectedQueue`), in the initial state or implicitly resettable. Nothing else may use it until the frame is complete, and no other
 * thread may use its pool until the recording is ended or discarded.
 *
 * Fails with `TH_STATUS_ERROR_WRONG_STATE` if the frame is not being recorded, the command buffer is already recorded in this frame, or one of its
 * passes uses something that is not imported.
 *
 * Thread safety: may be called by several threads at once, with different command buffers.
 */
TH_API
ThStatus thBeginCommands(ThDynamicFrame frame,
                         uint32_t commandBufferIndex,
                         VkCommandBuffer commandBuffer,
                         ThCommands *commands,
                         ThError error);

/**
 * Begins a pass: binds its tile memory, records its barriers and begins its render pass. Record its commands into the command buffer, or
 * secondary command buffers with `thExecuteSecondaries`; then call `thEndPass`. `pass` is its index in the description; `passCommands` may be
 * null. Passes must be begun or skipped in the order of the description.
 *
 * No dynamic state is set. Pipelines, descriptor sets, push constants and dynamic state that were bound before `thBeginPass` are undefined after it,
 * since tileheap may bind its own pipelines between passes. Do not record barriers for resources of the frame.
 *
 * Fails with `TH_STATUS_ERROR_WRONG_STATE` if another pass comes next or has begun, and with `TH_STATUS_ERROR_INVALID_ARGUMENT` if the pass renders
 * nothing in this frame.
 *
 * Thread safety: one thread at a time for a recording; different recordings of a frame on different threads.
 */
TH_API
ThStatus thBeginPass(ThCommands commands,
                     uint32_t pass,
                     struct ThPassCommands *passCommands,
                     ThError error);

/**
 * Begins the next subpass of the render pass that has begun. Subpasses that are not begun are empty.
 *
 * Fails with `TH_STATUS_ERROR_WRONG_STATE` if no pass has begun, or the pass has no further subpass.
 *
 * Thread safety: one thread at a time for a recording; different recordings of a frame on different threads.
 */
TH_API
ThStatus thNextSubpass(ThCommands commands,
                       ThError error);

/**
 * Executes the secondary command buffers of a compute or transfer pass, whose tile memory is bound again after them, or the contents of the
 * current subpass of a render pass with `TH_PASS_FLAG_SECONDARY`. Execute all contents of a subpass in one call.
 *
 * Secondary command buffers of a render pass must have been begun for this subpass in this frame with `thBeginSecondary`. All must be in the
 * executable state, and not pending.
 *
 * Fails with `TH_STATUS_ERROR_WRONG_STATE` if no pass has begun, and with `TH_STATUS_ERROR_INVALID_ARGUMENT` if the pass is a render pass with
 * inline contents.
 *
 * Thread safety: one thread at a time for a recording; different recordings of a frame on different threads.
 */
TH_API
ThStatus thExecuteSecondaries(ThCommands commands,
                              uint32_t count,
                              const VkCommandBuffer *secondaries,
                              ThError error);

/**
 * Ends the pass that has begun: ends its render pass and records the barriers after it.
 *
 * Fails with `TH_STATUS_ERROR_WRONG_STATE` if no pass has begun.
 *
 * Thread safety: one thread at a time for a recording; different recordings of a frame on different threads.
 */
TH_API
ThStatus thEndPass(ThCommands commands,
                   ThError error);

/**
 * Skips a pass in this frame: one with `skippedOutputs`, or one that renders nothing (`thSetRenderArea`). Its barriers are recorded, and its
 * attachments are loaded, cleared and stored as usual.
 *
 * Fails with `TH_STATUS_ERROR_WRONG_STATE` if another pass comes next or has begun, and with `TH_STATUS_ERROR_INVALID_ARGUMENT` if the pass must not
 * be skipped.
 *
 * Thread safety: one thread at a time for a recording; different recordings of a frame on different threads.
 */
TH_API
ThStatus thSkipPass(ThCommands commands,
                    uint32_t pass,
                    ThError error);

/**
 * Ends the command buffer (`vkEndCommandBuffer`) and destroys the handle, even if it fails.
 *
 * Fails with `TH_STATUS_ERROR_WRONG_STATE` if a pass was not recorded or not ended: the frame cannot be submitted then; call
 * `thDiscardFrame`. After `TH_STATUS_ERROR_IN_USE`, the handle is still valid.
 *
 * Thread safety: one thread at a time for a recording; different recordings of a frame on different threads.
 */
TH_API
ThStatus thEndCommands(ThCommands commands,
                       ThError error);

/**
 * Discards a recording and destroys the handle, for example after an error in the program. The program must reset the command buffer. The frame
 * can no longer be submitted; call `thDiscardFrame`. A null handle is ignored.
 *
 * Thread safety: one thread at a time for a recording; different recordings of a frame on different threads.
 */
TH_API
ThStatus thDiscardCommands(ThCommands commands,
                           ThError error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TILEHEAP_H */

#undef TH_ENUM
