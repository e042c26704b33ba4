//! Stage and access masks, from the tables of "Pipeline Stages" and "Access Types".

use ash::vk;
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use super::Rules;

/// Substitute for the stage of operations without one: layout transitions and releases.
pub(crate) const STAGELESS: S = S::from_raw(1 << 63);

/// Substitute for the stage of acquires.
pub(crate) const ACQUIRE: S = S::from_raw(1 << 62);

/// Every stage, and the operations without one.
pub(crate) const EVERY: S = S::from_raw(u64::MAX);

/// The logical orders of "Pipeline Stages" (`synchronization-pipeline-stages-order`), one pipeline after the other. Conditional rendering is not in
/// any of them, and the fragment density map is only read before the early fragment tests.
const PIPELINES: &[&[S]] = &[
    &[
        S::DRAW_INDIRECT,
        S::INDEX_INPUT,
        S::VERTEX_ATTRIBUTE_INPUT,
        S::VERTEX_SHADER,
        S::TESSELLATION_CONTROL_SHADER,
        S::TESSELLATION_EVALUATION_SHADER,
        S::GEOMETRY_SHADER,
        S::TRANSFORM_FEEDBACK_EXT,
        S::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR,
        S::EARLY_FRAGMENT_TESTS,
        S::FRAGMENT_SHADER,
        S::LATE_FRAGMENT_TESTS,
        S::COLOR_ATTACHMENT_OUTPUT,
    ],
    &[
        S::DRAW_INDIRECT,
        S::TASK_SHADER_EXT,
        S::MESH_SHADER_EXT,
        S::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR,
        S::EARLY_FRAGMENT_TESTS,
        S::FRAGMENT_SHADER,
        S::LATE_FRAGMENT_TESTS,
        S::COLOR_ATTACHMENT_OUTPUT,
    ],
    &[
        S::FRAGMENT_DENSITY_PROCESS_EXT,
        S::EARLY_FRAGMENT_TESTS,
        S::FRAGMENT_SHADER,
        S::LATE_FRAGMENT_TESTS,
        S::COLOR_ATTACHMENT_OUTPUT,
    ],
    &[S::DRAW_INDIRECT, S::COMPUTE_SHADER],
    &[S::DRAW_INDIRECT, S::RAY_TRACING_SHADER_KHR],
];

/// The stages that a composite stands for.
const COMPOSITES: &[(S, &[S])] = &[
    (
        S::ALL_TRANSFER,
        &[
            S::COPY,
            S::BLIT,
            S::RESOLVE,
            S::CLEAR,
            S::ACCELERATION_STRUCTURE_COPY_KHR,
        ],
    ),
    (
        S::ALL_GRAPHICS,
        &[
            S::DRAW_INDIRECT,
            S::TASK_SHADER_EXT,
            S::MESH_SHADER_EXT,
            S::INDEX_INPUT,
            S::VERTEX_ATTRIBUTE_INPUT,
            S::VERTEX_SHADER,
            S::TESSELLATION_CONTROL_SHADER,
            S::TESSELLATION_EVALUATION_SHADER,
            S::GEOMETRY_SHADER,
            S::FRAGMENT_SHADER,
            S::EARLY_FRAGMENT_TESTS,
            S::LATE_FRAGMENT_TESTS,
            S::COLOR_ATTACHMENT_OUTPUT,
            S::CONDITIONAL_RENDERING_EXT,
            S::TRANSFORM_FEEDBACK_EXT,
            S::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR,
            S::FRAGMENT_DENSITY_PROCESS_EXT,
            S::SUBPASS_SHADER_HUAWEI,
            S::INVOCATION_MASK_HUAWEI,
            S::CLUSTER_CULLING_SHADER_HUAWEI,
        ],
    ),
    (S::VERTEX_INPUT, &[S::INDEX_INPUT, S::VERTEX_ATTRIBUTE_INPUT]),
    (
        S::PRE_RASTERIZATION_SHADERS,
        &[
            S::VERTEX_SHADER,
            S::TESSELLATION_CONTROL_SHADER,
            S::TESSELLATION_EVALUATION_SHADER,
            S::GEOMETRY_SHADER,
            S::TASK_SHADER_EXT,
            S::MESH_SHADER_EXT,
            S::CLUSTER_CULLING_SHADER_HUAWEI,
        ],
    ),
];

/// The single stages that a mask names. `HOST` is not in any composite, `TOP_OF_PIPE` and `BOTTOM_OF_PIPE` name none.
fn named(mask: S, rules: &Rules) -> S {
    let mut stages = S::from_raw(mask.as_raw() & !(S::TOP_OF_PIPE | S::BOTTOM_OF_PIPE).as_raw());
    for (composite, parts) in COMPOSITES {
        if mask.contains(*composite) {
            stages = parts.iter().fold(stages, |all, part| all | *part);
        }
    }
    if mask.contains(S::ALL_COMMANDS) {
        let host = if rules.host_is_in_no_composite {
            S::HOST
        } else {
            S::NONE
        };
        stages |= S::from_raw(!(host | STAGELESS | ACQUIRE).as_raw());
    }
    stages
}

/// "Pipeline Stages": completion of a stage implies completion of the logically earlier ones.
fn with_logically_earlier(stages: S) -> S {
    let mut all = stages;
    for pipeline in PIPELINES {
        if let Some(last) = pipeline.iter().rposition(|stage| stages.contains(*stage)) {
            all = pipeline[..last].iter().fold(all, |all, stage| all | *stage);
        }
    }
    all
}

/// Adds the logically later stages, for their initiation.
fn with_logically_later(stages: S) -> S {
    let mut all = stages;
    for pipeline in PIPELINES {
        if let Some(first) = pipeline.iter().position(|stage| stages.contains(*stage)) {
            all = pipeline[first..].iter().fold(all, |all, stage| all | *stage);
        }
    }
    all
}

/// The stages of a first synchronization scope (`synchronization-pipeline-stages-masks`).
pub(crate) fn first_synchronization_scope(mask: S, rules: &Rules) -> S {
    let mask = if mask.contains(S::BOTTOM_OF_PIPE) && rules.top_and_bottom {
        mask | S::ALL_COMMANDS
    } else {
        mask
    };
    let mut stages = named(mask, rules);
    if rules.logically_earlier_stages {
        stages = with_logically_earlier(stages);
    }
    if mask.contains(S::ALL_COMMANDS) && rules.all_commands_includes_earlier_transitions {
        stages |= STAGELESS | ACQUIRE;
    }
    stages
}

/// The stages of a second synchronization scope.
pub(crate) fn second_synchronization_scope(mask: S, rules: &Rules) -> S {
    let mask = if mask.contains(S::TOP_OF_PIPE) && rules.top_and_bottom {
        mask | S::ALL_COMMANDS
    } else {
        mask
    };
    let mut stages = named(mask, rules);
    if rules.logically_later_stages {
        stages = with_logically_later(stages);
    }
    if mask.contains(S::ALL_COMMANDS) && rules.all_commands_includes_later_transitions {
        stages |= STAGELESS;
    }
    if mask.contains(S::ALL_COMMANDS) && rules.all_commands_includes_later_acquires {
        stages |= ACQUIRE;
    }
    stages
}

/// The stages of a first access scope: those that are named.
pub(crate) fn first_access_scope(mask: S, rules: &Rules) -> S {
    if rules.first_access_scope_is_named {
        named(mask, rules)
    } else {
        first_synchronization_scope(mask, rules)
    }
}

/// The stages of a second access scope.
pub(crate) fn second_access_scope(mask: S, rules: &Rules) -> S {
    if rules.second_access_scope_is_named {
        named(mask, rules)
    } else {
        second_synchronization_scope(mask, rules)
    }
}

/// `VK_ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM` and its write counterpart, which ash lacks.
pub(crate) const TILE_READ: A = A::from_raw(1 << 51);
pub(crate) const TILE_WRITE: A = A::from_raw(1 << 52);

const WRITES: &[A] = &[
    A::SHADER_WRITE,
    A::SHADER_STORAGE_WRITE,
    A::COLOR_ATTACHMENT_WRITE,
    A::DEPTH_STENCIL_ATTACHMENT_WRITE,
    A::TRANSFER_WRITE,
    A::HOST_WRITE,
    A::MEMORY_WRITE,
    A::TRANSFORM_FEEDBACK_WRITE_EXT,
    A::TRANSFORM_FEEDBACK_COUNTER_WRITE_EXT,
    A::COMMAND_PREPROCESS_WRITE_NV,
    A::ACCELERATION_STRUCTURE_WRITE_KHR,
    A::VIDEO_DECODE_WRITE_KHR,
    A::VIDEO_ENCODE_WRITE_KHR,
    A::MICROMAP_WRITE_EXT,
    A::OPTICAL_FLOW_WRITE_NV,
    TILE_WRITE,
];

fn all_writes() -> A {
    WRITES.iter().fold(A::NONE, |all, access| all | *access)
}

/// Returns true if an access type writes.
pub(crate) fn writes(access: A) -> bool {
    access.intersects(all_writes())
}

/// The access types that a mask names. `SHADER_READ` does not contain `UNIFORM_READ`.
pub(crate) fn access_types(mask: A, rules: &Rules) -> A {
    if !rules.access_types {
        return A::from_raw(u64::MAX);
    }
    let mut all = mask;
    if mask.contains(A::SHADER_READ) {
        all |= A::SHADER_SAMPLED_READ | A::SHADER_STORAGE_READ | A::SHADER_BINDING_TABLE_READ_KHR | TILE_READ;
    }
    if mask.contains(A::SHADER_WRITE) {
        all |= A::SHADER_STORAGE_WRITE | TILE_WRITE;
    }
    if mask.contains(A::MEMORY_READ) {
        all |= A::from_raw(!all_writes().as_raw());
    }
    if mask.contains(A::MEMORY_WRITE) {
        all |= all_writes();
    }
    all
}
