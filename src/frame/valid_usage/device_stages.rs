//! Rules of a device about stages, and about external resources and semaphores.

use ash::vk::{AccessFlags2 as A, ImageAspectFlags as Aspects, ImageLayout as L, PipelineStageFlags2 as S};

use super::accesses::Use;
use super::device::lacks;
use super::externals::{External, Semaphore};
use super::rule::{Problem, Rule, Rules};
use super::stages::listed;
use crate::ffi;
use crate::frame::Persistence;
use crate::frame::external::ExternalFamily;
use crate::names;
use crate::profile::{DeviceProfile, Features, OptionalFeatures as Feature};

/// Returns the problem if a stage needs a feature that the device lacks.
fn stage_lacks(stages: S, device: &DeviceProfile, needed: S, feature: Feature) -> Problem {
    let found = stages & needed;
    let problem = || lacks(device, feature, &listed(found));
    (!found.is_empty()).then(problem).flatten()
}

/// Access flags that extensions define, each with the extension's feature.
const ACCESSES: [(A, Feature); 16] = [
    (
        A::from_raw(
            A::TRANSFORM_FEEDBACK_WRITE_EXT.as_raw()
                | A::TRANSFORM_FEEDBACK_COUNTER_READ_EXT.as_raw()
                | A::TRANSFORM_FEEDBACK_COUNTER_WRITE_EXT.as_raw(),
        ),
        Feature::TRANSFORM_FEEDBACK,
    ),
    (A::CONDITIONAL_RENDERING_READ_EXT, Feature::CONDITIONAL_RENDERING),
    (
        A::from_raw(A::COMMAND_PREPROCESS_READ_NV.as_raw() | A::COMMAND_PREPROCESS_WRITE_NV.as_raw()),
        Feature::DEVICE_GENERATED_COMMANDS,
    ),
    (
        A::FRAGMENT_SHADING_RATE_ATTACHMENT_READ_KHR,
        Feature::ATTACHMENT_FRAGMENT_SHADING_RATE,
    ),
    (
        A::from_raw(
            A::ACCELERATION_STRUCTURE_READ_KHR.as_raw() | A::ACCELERATION_STRUCTURE_WRITE_KHR.as_raw(),
        ),
        Feature::ACCELERATION_STRUCTURE,
    ),
    (A::FRAGMENT_DENSITY_MAP_READ_EXT, Feature::FRAGMENT_DENSITY_MAP),
    (
        A::COLOR_ATTACHMENT_READ_NONCOHERENT_EXT,
        Feature::BLEND_OPERATION_ADVANCED,
    ),
    (A::DESCRIPTOR_BUFFER_READ_EXT, Feature::DESCRIPTOR_BUFFER),
    (A::INVOCATION_MASK_READ_HUAWEI, Feature::INVOCATION_MASK),
    (
        A::SHADER_BINDING_TABLE_READ_KHR,
        Feature::RAY_TRACING_MAINTENANCE_1,
    ),
    (
        A::from_raw(A::MICROMAP_READ_EXT.as_raw() | A::MICROMAP_WRITE_EXT.as_raw()),
        Feature::OPACITY_MICROMAP,
    ),
    (
        A::from_raw(A::OPTICAL_FLOW_READ_NV.as_raw() | A::OPTICAL_FLOW_WRITE_NV.as_raw()),
        Feature::OPTICAL_FLOW,
    ),
    (
        A::from_raw(A::VIDEO_DECODE_READ_KHR.as_raw() | A::VIDEO_DECODE_WRITE_KHR.as_raw()),
        Feature::VIDEO_DECODE_QUEUE,
    ),
    (
        A::from_raw(A::VIDEO_ENCODE_READ_KHR.as_raw() | A::VIDEO_ENCODE_WRITE_KHR.as_raw()),
        Feature::VIDEO_ENCODE_QUEUE,
    ),
    (
        ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM,
        Feature::TILE_SHADING,
    ),
    (
        ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM,
        Feature::TILE_SHADING,
    ),
];

/// Layouts that extensions define, each with the optional feature that it needs, if device profiles state that feature.
const LAYOUTS: [(&[L], Feature); 6] = [
    (
        &[L::FRAGMENT_DENSITY_MAP_OPTIMAL_EXT],
        Feature::FRAGMENT_DENSITY_MAP,
    ),
    (
        &[L::FRAGMENT_SHADING_RATE_ATTACHMENT_OPTIMAL_KHR],
        Feature::ATTACHMENT_FRAGMENT_SHADING_RATE,
    ),
    (
        &[
            L::VIDEO_DECODE_SRC_KHR,
            L::VIDEO_DECODE_DST_KHR,
            L::VIDEO_DECODE_DPB_KHR,
        ],
        Feature::VIDEO_DECODE_QUEUE,
    ),
    (&[L::PRESENT_SRC_KHR], Feature::SWAPCHAIN),
    (
        &[L::ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT],
        Feature::ATTACHMENT_FEEDBACK_LOOP_LAYOUT,
    ),
    (
        &[
            L::VIDEO_ENCODE_SRC_KHR,
            L::VIDEO_ENCODE_DST_KHR,
            L::VIDEO_ENCODE_DPB_KHR,
        ],
        Feature::VIDEO_ENCODE_QUEUE,
    ),
];

/// Returns the problem if an access of an extension needs a feature that the device lacks.
fn access_lacks(access: A, device: &DeviceProfile) -> Problem {
    ACCESSES.iter().find_map(|&(accesses, feature)| {
        let found = access & accesses;
        let problem = || lacks(device, feature, &names::bit_names(found).join(" and "));
        (!found.is_empty()).then(problem).flatten()
    })
}

/// Returns the problem if an external resource enters (or leaves) in a layout of an extension and the device lacks its feature.
fn layout_lacks(external: &External<'_>, device: &DeviceProfile, leaves: bool) -> Problem {
    let layout = external.state.layout;
    let (_, feature) = LAYOUTS.iter().find(|(layouts, _)| layouts.contains(&layout))?;
    let problem = || lacks(device, *feature, &format!("layout {layout:?}"));
    (external.leaves == leaves).then(problem).flatten()
}

/// Returns the problem if the frame acquires an external resource from the family `FOREIGN` (or releases it), which needs an extension that the device
/// lacks.
fn foreign(external: &External<'_>, device: &DeviceProfile, leaves: bool) -> Problem {
    let Persistence::External(desc) = &external.resource.persistence else {
        return None;
    };
    let family = match leaves {
        true => desc.exit.family,
        false => desc.acquired_from(external.resource.is_image()),
    };
    let user = "ownership by the queue family VK_QUEUE_FAMILY_FOREIGN_EXT";
    let problem = || lacks(device, Feature::QUEUE_FAMILY_FOREIGN, user);
    (family == Some(ExternalFamily::Foreign) && external.leaves == leaves)
        .then(problem)
        .flatten()
}

/// Layouts that need a feature, the feature, and its name.
type LayoutsOf = (&'static [L], Features, &'static str);

const OF_SYNCHRONIZATION_2: LayoutsOf = (
    &[L::ATTACHMENT_OPTIMAL, L::READ_ONLY_OPTIMAL],
    Features::SYNCHRONIZATION_2,
    "synchronization2",
);

const OF_LOCAL_READ: LayoutsOf = (
    &[L::RENDERING_LOCAL_READ_KHR],
    Features::LOCAL_READ,
    "dynamicRenderingLocalRead",
);

/// Returns the problem if an external resource enters (or leaves) in a layout of a feature that the device lacks.
fn newer_layout(
    external: &External<'_>,
    device: &DeviceProfile,
    leaves: bool,
    (layouts, feature, name): LayoutsOf,
) -> Problem {
    let layout = external.state.layout;
    let newer = layouts.contains(&layout) && !device.features.contains(feature);
    (newer && external.leaves == leaves).then(|| {
        format!(
            "layout {layout:?} needs the feature {name}, which `{}` has not enabled",
            device.name
        )
    })
}

/// Returns the `problem` that an external image's layout has with all aspects of the image, if the device has no separate depth and stencil layouts:
/// barriers then name both aspects, even if the frame uses only one.
///
/// Source: VUID-VkImageMemoryBarrier2-image-03320.
fn whole_barriers<'a>(
    external: &External<'a>,
    device: &DeviceProfile,
    problem: fn(&External<'a>, Aspects) -> Problem,
) -> Problem {
    let apart = device.features.contains(Features::SEPARATE_DEPTH_STENCIL_LAYOUTS);
    if apart || external.used_aspects.is_empty() {
        return None;
    }
    let problem = problem(external, external.resource.aspects())?;
    let device = &device.name;
    Some(format!(
        "{problem}, because `{device}` has not enabled the feature separateDepthStencilLayouts"
    ))
}

/// Defines the rules about stages that need a feature, for accesses, external resources and semaphores; `others` are stages that accesses never use.
macro_rules! stages {
    ($($number:literal: $stage:ident, $feature:ident;)* others: $($other:ident, $other_feature:ident;)*) => {
        /// The stages that the rows of [`USES`] check: accesses at other stages break none of them.
        pub(super) const STAGES_OF_USES: S = S::from_raw($(S::$stage.as_raw())|*);

        pub(super) static USES: &Rules<fn(&Use<'_>, &DeviceProfile) -> Problem> = &[$(Rule {
            rule: concat!("VUID-VkMemoryBarrier2-dstStageMask-", $number),
            broken: |used, device| stage_lacks(used.access.stages, device, S::$stage, Feature::$feature),
        }),*];

        pub(super) static EXTERNALS: &Rules<fn(&External<'_>, &DeviceProfile) -> Problem> = &[$(Rule {
            rule: concat!("VUID-VkMemoryBarrier2-srcStageMask-", $number),
            broken: |external, device| stage_lacks(external.state.stages, device, S::$stage, Feature::$feature),
        },)*
        $(Rule {
            rule: "VUID-VkMemoryBarrier2-srcStageMask-parameter",
            broken: |external, device| stage_lacks(external.state.stages, device, S::$other, Feature::$other_feature),
        },)*
        Rule {
            rule: "VUID-VkMemoryBarrier2-srcAccessMask-parameter",
            broken: |external, device| access_lacks(external.state.access, device),
        },
        Rule {
            rule: "VUID-VkImageMemoryBarrier2-oldLayout-parameter",
            broken: |external, device| layout_lacks(external, device, false),
        },
        Rule {
            rule: "VUID-VkImageMemoryBarrier2-newLayout-parameter",
            broken: |external, device| layout_lacks(external, device, true),
        },
        Rule {
            rule: "VUID-VkImageMemoryBarrier2-srcQueueFamilyIndex-09099",
            broken: |external, device| foreign(external, device, false),
        },
        Rule {
            rule: "VUID-VkImageMemoryBarrier2-dstQueueFamilyIndex-09100",
            broken: |external, device| foreign(external, device, true),
        },
        Rule {
            rule: "VUID-VkImageMemoryBarrier2-synchronization2-07793",
            broken: |external, device| newer_layout(external, device, false, OF_SYNCHRONIZATION_2),
        },
        Rule {
            rule: "VUID-VkImageMemoryBarrier2-synchronization2-07794",
            broken: |external, device| newer_layout(external, device, true, OF_SYNCHRONIZATION_2),
        },
        Rule {
            rule: "VUID-VkImageMemoryBarrier2-dynamicRenderingLocalRead-09551",
            broken: |external, device| newer_layout(external, device, false, OF_LOCAL_READ),
        },
        Rule {
            rule: "VUID-VkImageMemoryBarrier2-dynamicRenderingLocalRead-09552",
            broken: |external, device| newer_layout(external, device, true, OF_LOCAL_READ),
        },
        Rule {
            rule: "VUID-VkImageMemoryBarrier2-aspectMask-08702",
            broken: |external, device| whole_barriers(external, device, External::layout_of_stencil),
        },
        Rule {
            rule: "VUID-VkImageMemoryBarrier2-aspectMask-08703",
            broken: |external, device| whole_barriers(external, device, External::layout_of_depth),
        }];

        pub(super) static SEMAPHORES: &Rules<fn(&Semaphore<'_>, &DeviceProfile) -> Problem> = &[$(Rule {
            rule: concat!("VUID-VkSemaphoreSubmitInfo-stageMask-", $number),
            broken: |semaphore, device| stage_lacks(semaphore.op.stages, device, S::$stage, Feature::$feature),
        },)*
        $(Rule {
            rule: "VUID-VkSemaphoreSubmitInfo-stageMask-parameter",
            broken: |semaphore, device| stage_lacks(semaphore.op.stages, device, S::$other, Feature::$other_feature),
        }),*];
    };
}

stages! {
    "03929": GEOMETRY_SHADER, GEOMETRY_SHADER;
    "03930": TESSELLATION_CONTROL_SHADER, TESSELLATION_SHADER;
    "03930": TESSELLATION_EVALUATION_SHADER, TESSELLATION_SHADER;
    "03931": CONDITIONAL_RENDERING_EXT, CONDITIONAL_RENDERING;
    "03932": FRAGMENT_DENSITY_PROCESS_EXT, FRAGMENT_DENSITY_MAP;
    "03933": TRANSFORM_FEEDBACK_EXT, TRANSFORM_FEEDBACK;
    "03934": MESH_SHADER_EXT, MESH_SHADER;
    "03935": TASK_SHADER_EXT, TASK_SHADER;
    "07316": FRAGMENT_SHADING_RATE_ATTACHMENT_KHR, ATTACHMENT_FRAGMENT_SHADING_RATE;
    "07946": RAY_TRACING_SHADER_KHR, RAY_TRACING_PIPELINE;
    "10751": ACCELERATION_STRUCTURE_BUILD_KHR, ACCELERATION_STRUCTURE;
    "10752": ACCELERATION_STRUCTURE_COPY_KHR, RAY_TRACING_MAINTENANCE_1;
    "04957": SUBPASS_SHADER_HUAWEI, SUBPASS_SHADING;
    "04995": INVOCATION_MASK_HUAWEI, INVOCATION_MASK;
    // Rules without a number: the bit belongs to an extension.
    "parameter": CLUSTER_CULLING_SHADER_HUAWEI, CLUSTER_CULLING_SHADER;
    "parameter": MICROMAP_BUILD_EXT, OPACITY_MICROMAP;
    "parameter": COMMAND_PREPROCESS_NV, DEVICE_GENERATED_COMMANDS;
    others:
    OPTICAL_FLOW_NV, OPTICAL_FLOW;
    VIDEO_DECODE_KHR, VIDEO_DECODE_QUEUE;
    VIDEO_ENCODE_KHR, VIDEO_ENCODE_QUEUE;
}
