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

/// Cases for a stage that only external resources and semaphores use, on a queue that supports it.
macro_rules! stage_of_queue {
    ($cases:ident, $stage:ident, $queue:ident, $feature:ident) => {
        $cases.extend([
            feature!(
                "VUID-VkMemoryBarrier2-srcStageMask-parameter",
                |scene| copied_on(scene, vk::QueueFlags::$queue, S::$stage, S::NONE),
                $feature
            ),
            feature!(
                "VUID-VkSemaphoreSubmitInfo-stageMask-parameter",
                |scene| copied_on(scene, vk::QueueFlags::$queue, S::NONE, S::$stage),
                $feature
            ),
        ]);
    };
}

/// A buffer that a queue copies and passes to a stage outside the frame, and a semaphore that it signals after a stage.
fn copied_on(scene: &mut Scene, queue: vk::QueueFlags, exit: S, signaled: S) {
    let state = |stages| ResourceState::new(vk::ImageLayout::UNDEFINED, stages, vk::AccessFlags2::NONE);
    let external = ExternalDesc {
        entry: state(S::NONE),
        exit: state(exit),
    };
    let (desc, persistence) = (BufferDesc::new(Bytes(256)), Persistence::External(external));
    let buffer = scene.frame.resource("buffer", desc, persistence);
    let out = scene.out;
    scene.render().color(out, CLEAR);
    let queue = scene.frame.queue("other", queue | vk::QueueFlags::TRANSFER);
    let submit = scene.frame.submit(queue);
    let batch = scene.frame.batch(submit);
    let commands = scene.frame.command_buffer(batch, "other");
    let semaphore = scene.frame.external_semaphore("semaphore");
    scene.frame.signal(batch, semaphore, signaled);
    let copy = scene.frame.transfer_pass(commands, "copy");
    copy.transfer_source(buffer);
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
    stage!(cases, "04957", SUBPASS_SHADER_HUAWEI, read_at, SUBPASS_SHADING);
    stage!(cases, "04995", INVOCATION_MASK_HUAWEI, read_at, INVOCATION_MASK);
    stage!(
        cases,
        "parameter",
        CLUSTER_CULLING_SHADER_HUAWEI,
        read_at,
        CLUSTER_CULLING_SHADER
    );
    stage!(
        cases,
        "parameter",
        MICROMAP_BUILD_EXT,
        written_at,
        OPACITY_MICROMAP
    );
    stage!(
        cases,
        "parameter",
        COMMAND_PREPROCESS_NV,
        written_at,
        DEVICE_GENERATED_COMMANDS
    );
    stage_of_queue!(cases, OPTICAL_FLOW_NV, OPTICAL_FLOW_NV, OPTICAL_FLOW);
    stage_of_queue!(cases, VIDEO_DECODE_KHR, VIDEO_DECODE_KHR, VIDEO_DECODE_QUEUE);
    stage_of_queue!(cases, VIDEO_ENCODE_KHR, VIDEO_ENCODE_KHR, VIDEO_ENCODE_QUEUE);
    cases
}
