//! Stages that need a feature.

use super::*;

/// A stage of accesses, external resources and semaphores.
macro_rules! stage {
    ($cases:ident, $number:literal, $stage:ident, $access:ident, $feature:ident) => {
        $cases.extend([
            feature!(
                concat!("VUID-VkMemoryBarrier2-dstStageMask-", $number),
                |scene| $access(scene, S::$stage),
                $feature
            ),
            feature!(
                concat!("VUID-VkMemoryBarrier2-srcStageMask-", $number),
                |scene| handed_over_at(scene, S::$stage),
                $feature
            ),
            feature!(
                concat!("VUID-VkSemaphoreSubmitInfo-stageMask-", $number),
                |scene| signaled_at(scene, S::$stage),
                $feature
            ),
        ]);
    };
}

pub(super) fn stages() -> Vec<Case> {
    let mut cases = Vec::new();
    stage!(cases, "03929", GEOMETRY_SHADER, read_at, GEOMETRY_SHADER);
    stage!(
        cases,
        "03930",
        TESSELLATION_CONTROL_SHADER,
        read_at,
        TESSELLATION_SHADER
    );
    stage!(
        cases,
        "03930",
        TESSELLATION_EVALUATION_SHADER,
        read_at,
        TESSELLATION_SHADER
    );
    stage!(
        cases,
        "03931",
        CONDITIONAL_RENDERING_EXT,
        read_at,
        CONDITIONAL_RENDERING
    );
    stage!(
        cases,
        "03932",
        FRAGMENT_DENSITY_PROCESS_EXT,
        read_at,
        FRAGMENT_DENSITY_MAP
    );
    stage!(
        cases,
        "03933",
        TRANSFORM_FEEDBACK_EXT,
        read_at,
        TRANSFORM_FEEDBACK
    );
    stage!(cases, "03934", MESH_SHADER_EXT, read_at, MESH_SHADER);
    stage!(cases, "03935", TASK_SHADER_EXT, read_at, TASK_SHADER);
    stage!(
        cases,
        "07316",
        FRAGMENT_SHADING_RATE_ATTACHMENT_KHR,
        read_at,
        ATTACHMENT_FRAGMENT_SHADING_RATE
    );
    stage!(
        cases,
        "07946",
        RAY_TRACING_SHADER_KHR,
        written_at,
        RAY_TRACING_PIPELINE
    );
    stage!(
        cases,
        "10751",
        ACCELERATION_STRUCTURE_BUILD_KHR,
        written_at,
        ACCELERATION_STRUCTURE
    );
    stage!(
        cases,
        "10752",
        ACCELERATION_STRUCTURE_COPY_KHR,
        written_at,
        RAY_TRACING_MAINTENANCE_1
    );
    cases
}
