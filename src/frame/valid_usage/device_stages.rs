//! Rules of a device about stages, and about what others hand over or wait for.

use ash::vk::{ImageAspectFlags as Aspects, ImageLayout as L, PipelineStageFlags2 as S};

use super::accesses::Use;
use super::device::lacks;
use super::externals::{External, Semaphore};
use super::rule::{Problem, Rule, Rules};
use super::stages::listed;
use crate::profile::{DeviceProfile, Features, OptionalFeatures as Feature};

/// That a stage needs a feature that the device lacks.
fn stage_lacks(stages: S, device: &DeviceProfile, needed: S, feature: Feature) -> Problem {
    let found = stages & needed;
    let problem = || lacks(device, feature, &listed(found));
    (!found.is_empty()).then(problem).flatten()
}

/// That an external resource enters (or leaves) in a layout that came with synchronization2.
fn newer_layout(external: &External<'_>, device: &DeviceProfile, leaves: bool) -> Problem {
    let layout = external.state.layout;
    let newer = [L::ATTACHMENT_OPTIMAL, L::READ_ONLY_OPTIMAL].contains(&layout);
    let there = device.features.contains(Features::SYNCHRONIZATION_2);
    (newer && external.leaves == leaves && !there).then(|| {
        format!(
            "layout {layout:?} needs the feature synchronization2, which `{}` has not enabled",
            device.name
        )
    })
}

/// That `problem` has the layout of an image of which the frame uses one aspect: without separate layouts, barriers name both.
///
/// Source: VUID-VkImageMemoryBarrier2-image-03320.
fn whole_barriers<'a>(
    external: &External<'a>,
    device: &DeviceProfile,
    problem: fn(&External<'a>, Aspects) -> Problem,
) -> Problem {
    let apart = device.features.contains(Features::SEPARATE_DEPTH_STENCIL_LAYOUTS);
    if apart || external.used.is_empty() {
        return None;
    }
    let problem = problem(external, external.resource.aspects())?;
    let device = &device.name;
    Some(format!(
        "{problem} on `{device}`, which has not enabled the feature separateDepthStencilLayouts"
    ))
}

/// That the host waits for a semaphore, which only `vkQueueSubmit2` allows.
fn waits_in_host(semaphore: &Semaphore<'_>, device: &DeviceProfile) -> Problem {
    let host = semaphore.waits && semaphore.op.stages.contains(S::HOST);
    (host && !device.features.contains(Features::SYNCHRONIZATION_2)).then(|| {
        format!(
            "a wait at VK_PIPELINE_STAGE_2_HOST_BIT needs the feature synchronization2, which `{}` has not enabled",
            device.name
        )
    })
}

/// The stages that need a feature, each with its rule: for accesses, external resources and semaphores.
macro_rules! stages {
    ($($number:literal: $stage:ident, $feature:ident;)*) => {
        pub(super) static USES: &Rules<fn(&Use<'_>, &DeviceProfile) -> Problem> = &[$(Rule {
            rule: concat!("VUID-VkMemoryBarrier2-dstStageMask-", $number),
            broken: |used, device| stage_lacks(used.access.stages, device, S::$stage, Feature::$feature),
        }),*];

        pub(super) static EXTERNALS: &Rules<fn(&External<'_>, &DeviceProfile) -> Problem> = &[$(Rule {
            rule: concat!("VUID-VkMemoryBarrier2-srcStageMask-", $number),
            broken: |external, device| stage_lacks(external.state.stages, device, S::$stage, Feature::$feature),
        },)*
        Rule {
            rule: "VUID-VkImageMemoryBarrier2-synchronization2-07793",
            broken: |external, device| newer_layout(external, device, false),
        },
        Rule {
            rule: "VUID-VkImageMemoryBarrier2-synchronization2-07794",
            broken: |external, device| newer_layout(external, device, true),
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
        },)* Rule {
            rule: "VUID-VkSubmitInfo-pWaitDstStageMask-00078",
            broken: waits_in_host,
        }];
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
}
