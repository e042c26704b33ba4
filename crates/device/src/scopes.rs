//! Stages and accesses: the stages that perform each access, and the meaning of the masks of a dependency.
//!
//! Source: Vulkan specification, "Pipeline Stages" and "Access Types": composite flags, the logical order of the stages
//! of a pipeline, and the accesses that each stage supports; their tables are `syncstage`, `syncaccess` and `syncpipeline` of `vk.xml`.

use ash::vk::{self, AccessFlags2 as A, PipelineStageFlags2 as S};

use crate::ffi;

/// Stands for operations that no pipeline stage performs: layout transitions and queue family ownership transfers. Only `ALL_COMMANDS` includes them;
/// no flag of Vulkan has this bit.
pub const NO_STAGE: S = S::from_raw(1 << 63);

/// The stages of each pipeline type, in logical order.
const PIPELINES: [&[S]; 4] = [
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
    &[S::DRAW_INDIRECT, S::COMPUTE_SHADER],
    &[S::DRAW_INDIRECT, S::RAY_TRACING_SHADER_KHR],
];

/// The stage that reads fragment density maps: before the early fragment tests, and unordered with other graphics stages.
const FRAGMENT_DENSITY: S = S::FRAGMENT_DENSITY_PROCESS_EXT;

/// The graphics stages that have no position in the logical order of stages.
const UNORDERED: S = S::from_raw(
    S::CONDITIONAL_RENDERING_EXT.as_raw()
        | S::SUBPASS_SHADER_HUAWEI.as_raw()
        | S::INVOCATION_MASK_HUAWEI.as_raw()
        | S::CLUSTER_CULLING_SHADER_HUAWEI.as_raw(),
);

/// Flags that stand for sets of stages, and `TOP_OF_PIPE` and `BOTTOM_OF_PIPE`, which perform no work.
const COMPOSITE: S = S::from_raw(
    S::TOP_OF_PIPE.as_raw()
        | S::BOTTOM_OF_PIPE.as_raw()
        | S::ALL_GRAPHICS.as_raw()
        | S::ALL_COMMANDS.as_raw()
        | S::ALL_TRANSFER.as_raw()
        | S::VERTEX_INPUT.as_raw()
        | S::PRE_RASTERIZATION_SHADERS.as_raw(),
);

/// The stages of copy, blit, clear and resolve commands.
const TRANSFER: S =
    S::from_raw(S::COPY.as_raw() | S::RESOLVE.as_raw() | S::BLIT.as_raw() | S::CLEAR.as_raw());

/// The stages that `ALL_TRANSFER` stands for.
const ALL_TRANSFER: S = S::from_raw(TRANSFER.as_raw() | S::ACCELERATION_STRUCTURE_COPY_KHR.as_raw());

/// The stages that run vertex, tessellation, geometry, task, mesh and cluster culling shaders.
const PRE_RASTERIZATION: S = S::from_raw(
    S::VERTEX_SHADER.as_raw()
        | S::TESSELLATION_CONTROL_SHADER.as_raw()
        | S::TESSELLATION_EVALUATION_SHADER.as_raw()
        | S::GEOMETRY_SHADER.as_raw()
        | S::TASK_SHADER_EXT.as_raw()
        | S::MESH_SHADER_EXT.as_raw()
        | S::CLUSTER_CULLING_SHADER_HUAWEI.as_raw(),
);

/// The stages that run shaders.
const SHADERS: S = S::from_raw(
    PRE_RASTERIZATION.as_raw()
        | S::FRAGMENT_SHADER.as_raw()
        | S::COMPUTE_SHADER.as_raw()
        | S::RAY_TRACING_SHADER_KHR.as_raw()
        | S::SUBPASS_SHADER_HUAWEI.as_raw(),
);

/// The stage that builds acceleration structures.
const BUILD: S = S::ACCELERATION_STRUCTURE_BUILD_KHR;

/// The stages that build acceleration structures and micromaps.
const BUILDS: S = S::from_raw(BUILD.as_raw() | S::MICROMAP_BUILD_EXT.as_raw());

/// The stages that run shaders, which may trace rays, and those that build or copy acceleration structures.
const ACCELERATION: S =
    S::from_raw(SHADERS.as_raw() | BUILD.as_raw() | S::ACCELERATION_STRUCTURE_COPY_KHR.as_raw());

const FRAGMENT_TESTS: S = S::from_raw(S::EARLY_FRAGMENT_TESTS.as_raw() | S::LATE_FRAGMENT_TESTS.as_raw());

/// The stages that access tile attachments. Source: VUID-VkMemoryBarrier2-srcAccessMask-10670, -10671.
const TILE_SHADERS: S = S::from_raw(S::FRAGMENT_SHADER.as_raw() | S::COMPUTE_SHADER.as_raw());

const fn with(stages: S, more: S) -> S {
    S::from_raw(stages.as_raw() | more.as_raw())
}

/// The stages that perform each access, flag by flag, composite flags last. Flags that are not listed are not checked.
pub const PERFORMERS: [(A, S); 33] = [
    (A::INDIRECT_COMMAND_READ, with(S::DRAW_INDIRECT, BUILD)),
    (A::INDEX_READ, S::INDEX_INPUT),
    (A::VERTEX_ATTRIBUTE_READ, S::VERTEX_ATTRIBUTE_INPUT),
    (A::UNIFORM_READ, SHADERS),
    (A::SHADER_SAMPLED_READ, SHADERS),
    (A::SHADER_STORAGE_READ, SHADERS),
    (A::SHADER_STORAGE_WRITE, SHADERS),
    (ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM, TILE_SHADERS),
    (ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM, TILE_SHADERS),
    (
        A::INPUT_ATTACHMENT_READ,
        with(S::FRAGMENT_SHADER, S::SUBPASS_SHADER_HUAWEI),
    ),
    (A::COLOR_ATTACHMENT_READ, S::COLOR_ATTACHMENT_OUTPUT),
    (A::COLOR_ATTACHMENT_WRITE, S::COLOR_ATTACHMENT_OUTPUT),
    (
        A::COLOR_ATTACHMENT_READ_NONCOHERENT_EXT,
        S::COLOR_ATTACHMENT_OUTPUT,
    ),
    (A::DEPTH_STENCIL_ATTACHMENT_READ, FRAGMENT_TESTS),
    (A::DEPTH_STENCIL_ATTACHMENT_WRITE, FRAGMENT_TESTS),
    (A::TRANSFER_READ, with(ALL_TRANSFER, BUILDS)),
    (A::TRANSFER_WRITE, with(ALL_TRANSFER, BUILDS)),
    (A::HOST_READ, S::HOST),
    (A::HOST_WRITE, S::HOST),
    (
        A::FRAGMENT_SHADING_RATE_ATTACHMENT_READ_KHR,
        S::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR,
    ),
    (A::FRAGMENT_DENSITY_MAP_READ_EXT, FRAGMENT_DENSITY),
    (A::CONDITIONAL_RENDERING_READ_EXT, S::CONDITIONAL_RENDERING_EXT),
    (A::TRANSFORM_FEEDBACK_WRITE_EXT, S::TRANSFORM_FEEDBACK_EXT),
    (
        A::TRANSFORM_FEEDBACK_COUNTER_READ_EXT,
        with(S::DRAW_INDIRECT, S::TRANSFORM_FEEDBACK_EXT),
    ),
    (A::TRANSFORM_FEEDBACK_COUNTER_WRITE_EXT, S::TRANSFORM_FEEDBACK_EXT),
    (A::ACCELERATION_STRUCTURE_READ_KHR, ACCELERATION),
    (
        A::ACCELERATION_STRUCTURE_WRITE_KHR,
        with(BUILD, S::ACCELERATION_STRUCTURE_COPY_KHR),
    ),
    (A::SHADER_BINDING_TABLE_READ_KHR, S::RAY_TRACING_SHADER_KHR),
    (A::DESCRIPTOR_BUFFER_READ_EXT, SHADERS),
    (A::COMMAND_PREPROCESS_READ_NV, S::COMMAND_PREPROCESS_NV),
    (A::COMMAND_PREPROCESS_WRITE_NV, S::COMMAND_PREPROCESS_NV),
    (A::SHADER_READ, with(SHADERS, BUILDS)),
    (A::SHADER_WRITE, SHADERS),
];

/// The accesses that write.
pub const WRITES: A = A::from_raw(
    A::SHADER_WRITE.as_raw()
        | A::SHADER_STORAGE_WRITE.as_raw()
        | A::COLOR_ATTACHMENT_WRITE.as_raw()
        | A::DEPTH_STENCIL_ATTACHMENT_WRITE.as_raw()
        | A::TRANSFER_WRITE.as_raw()
        | A::HOST_WRITE.as_raw()
        | A::MEMORY_WRITE.as_raw()
        | A::TRANSFORM_FEEDBACK_WRITE_EXT.as_raw()
        | A::TRANSFORM_FEEDBACK_COUNTER_WRITE_EXT.as_raw()
        | A::ACCELERATION_STRUCTURE_WRITE_KHR.as_raw()
        | A::COMMAND_PREPROCESS_WRITE_NV.as_raw()
        | ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM.as_raw(),
);

/// One scope of a dependency, with the stages that its mask implies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpandedScope {
    /// The stages of the execution scope, including the logically earlier (or later) ones.
    pub execution_stages: S,
    /// The stages of the access scope: only those that the mask names.
    pub access_stages: S,
    /// The accesses of the access scope.
    pub access: A,
}

impl ExpandedScope {
    /// Expands the first scope of a dependency.
    pub fn source(stages: S, access: A) -> ExpandedScope {
        ExpandedScope::new(stages, access, earlier(expand(stages)), S::BOTTOM_OF_PIPE)
    }

    /// Expands the second scope of a dependency.
    pub fn destination(stages: S, access: A) -> ExpandedScope {
        ExpandedScope::new(stages, access, later(expand(stages)), S::TOP_OF_PIPE)
    }

    /// Creates a scope. `end` is the stage, `BOTTOM_OF_PIPE` or `TOP_OF_PIPE`, that stands for all commands in this
    /// scope.
    fn new(stages: S, access: A, mut execution_stages: S, end: S) -> ExpandedScope {
        if stages.contains(end) {
            execution_stages |= EVERYTHING;
        }
        let (access_stages, access) = (expand(stages), expand_access(access));
        ExpandedScope {
            execution_stages,
            access_stages,
            access,
        }
    }
}

/// The single stages that a mask stands for, without `TOP_OF_PIPE` and `BOTTOM_OF_PIPE`.
pub fn expand(stages: S) -> S {
    let composites = [
        (S::ALL_COMMANDS, EVERYTHING),
        (S::ALL_GRAPHICS, GRAPHICS),
        (S::ALL_TRANSFER, ALL_TRANSFER),
        (S::VERTEX_INPUT, S::INDEX_INPUT | S::VERTEX_ATTRIBUTE_INPUT),
        (S::PRE_RASTERIZATION_SHADERS, PRE_RASTERIZATION),
    ];
    let named = composites.into_iter().filter(|(name, _)| stages.contains(*name));
    named.fold(stages & !COMPOSITE, |all, (_, flags)| all | flags)
}

/// Iterates over the stages of `stages`; for `ALL_COMMANDS`, over the stages that frames can use.
pub fn each(stages: S) -> impl Iterator<Item = S> {
    let listed = if stages.contains(S::ALL_COMMANDS) {
        GRAPHICS | S::COMPUTE_SHADER | TRANSFER | (stages & !COMPOSITE)
    } else {
        expand(stages)
    };
    bits(listed.as_raw()).map(S::from_raw)
}

/// Iterates over the flags of `access`, after expansion.
pub fn each_access(access: A) -> impl Iterator<Item = A> {
    bits(expand_access(access).as_raw()).map(A::from_raw)
}

/// The single accesses of a mask that a stage performs.
pub fn performed_by(stage: S, access: A) -> A {
    let performed =
        each_access(access).filter(|&flag| performers(flag).is_some_and(|stages| stages.intersects(stage)));
    performed.fold(A::NONE, |all, flag| all | flag)
}

/// The first flag of `access` that none of `stages` performs; `None` if there is none.
///
/// Source: VUID-VkMemoryBarrier2-srcAccessMask-03900 to -03917 and similar.
pub fn unperformed(stages: S, access: A) -> Option<A> {
    let named = expand(stages);
    bits(access.as_raw())
        .map(A::from_raw)
        .find(|&flag| performers(flag).is_some_and(|performers| !performers.intersects(named)))
}

/// Video and optical flow stages, each with the capability that a queue needs to support it.
const NON_GRAPHICS_STAGES: [(S, vk::QueueFlags); 3] = [
    (S::VIDEO_DECODE_KHR, vk::QueueFlags::VIDEO_DECODE_KHR),
    (S::VIDEO_ENCODE_KHR, vk::QueueFlags::VIDEO_ENCODE_KHR),
    (S::OPTICAL_FLOW_NV, vk::QueueFlags::OPTICAL_FLOW_NV),
];

/// The first of `stages` that queues with these capabilities do not support; `None` if there is none. Stages that this module does not know count as
/// supported.
///
/// Source: VUID-vkCmdPipelineBarrier2-srcStageMask-09675 and -dstStageMask-09676.
pub fn unsupported(stages: S, capabilities: vk::QueueFlags) -> Option<S> {
    let mut supported =
        S::ALL_COMMANDS | S::TOP_OF_PIPE | S::BOTTOM_OF_PIPE | S::HOST | S::ALL_TRANSFER | ALL_TRANSFER;
    if capabilities.contains(vk::QueueFlags::GRAPHICS) {
        supported |= GRAPHICS | S::ALL_GRAPHICS | S::VERTEX_INPUT | S::PRE_RASTERIZATION_SHADERS;
    }
    if capabilities.intersects(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE) {
        // Frames assume that graphics queues support compute.
        supported |= S::COMPUTE_SHADER | S::DRAW_INDIRECT | S::RAY_TRACING_SHADER_KHR;
        supported |= S::CONDITIONAL_RENDERING_EXT;
    }
    let mut known =
        supported | GRAPHICS | S::ALL_GRAPHICS | S::VERTEX_INPUT | S::PRE_RASTERIZATION_SHADERS | SHADERS;
    for (stage, capability) in NON_GRAPHICS_STAGES {
        known |= stage;
        if capabilities.contains(capability) {
            supported |= stage;
        }
    }
    bits((stages & known & !supported).as_raw())
        .map(S::from_raw)
        .next()
}

/// Everything that `ALL_COMMANDS` stands for: every stage except `HOST`, and operations without a stage.
const EVERYTHING: S = S::from_raw(!with(COMPOSITE, S::HOST).as_raw());

/// The stages that `ALL_GRAPHICS` stands for.
const GRAPHICS: S = with(
    with(FRAGMENT_DENSITY, UNORDERED),
    with(union(PIPELINES[0]), union(PIPELINES[1])),
);

const fn union(stages: &[S]) -> S {
    match stages {
        [first, rest @ ..] => with(*first, union(rest)),
        [] => S::NONE,
    }
}

/// `stages` plus all stages that are logically earlier in some pipeline.
fn earlier(stages: S) -> S {
    let before = PIPELINES.iter().flat_map(|pipeline| {
        let last = pipeline.iter().rposition(|&stage| stages.intersects(stage));
        &pipeline[..last.unwrap_or(0)]
    });
    let all = before.fold(stages, |all, &stage| all | stage);
    let tests = FRAGMENT_TESTS | S::FRAGMENT_SHADER | S::COLOR_ATTACHMENT_OUTPUT;
    if stages.intersects(tests) {
        all | FRAGMENT_DENSITY
    } else {
        all
    }
}

/// `stages` plus all stages that are logically later in some pipeline.
fn later(stages: S) -> S {
    // The density map is read before early fragment tests, which the primitive pipeline has.
    let known = if stages.contains(FRAGMENT_DENSITY) {
        stages | S::EARLY_FRAGMENT_TESTS
    } else {
        stages
    };
    let after = PIPELINES.iter().flat_map(|pipeline| {
        let first = pipeline.iter().position(|&stage| known.intersects(stage));
        &pipeline[first.unwrap_or(pipeline.len())..]
    });
    after.fold(stages, |all, &stage| all | stage)
}

/// The accesses that `SHADER_READ` stands for.
const SHADER_READS: A = A::from_raw(
    A::SHADER_SAMPLED_READ.as_raw()
        | A::SHADER_STORAGE_READ.as_raw()
        | A::SHADER_BINDING_TABLE_READ_KHR.as_raw()
        | ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM.as_raw(),
);

/// The accesses that `SHADER_WRITE` stands for.
const SHADER_WRITES: A = A::from_raw(
    A::SHADER_STORAGE_WRITE.as_raw() | ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM.as_raw(),
);

/// The single accesses that a mask stands for.
pub fn expand_access(access: A) -> A {
    let composite = A::SHADER_READ | A::SHADER_WRITE | A::MEMORY_READ | A::MEMORY_WRITE;
    let composites = [
        (A::SHADER_READ, SHADER_READS),
        (A::SHADER_WRITE, SHADER_WRITES),
        (A::MEMORY_READ, !(WRITES | composite)),
        (A::MEMORY_WRITE, WRITES & !composite),
    ];
    let named = composites.into_iter().filter(|(name, _)| access.contains(*name));
    named.fold(access & !composite, |all, (_, flags)| all | flags)
}

fn performers(flag: A) -> Option<S> {
    PERFORMERS
        .iter()
        .find(|(flags, _)| flags.contains(flag))
        .map(|&(_, stages)| stages)
}

/// The set bits of a mask, lowest first, each as its own mask.
fn bits(raw: u64) -> impl Iterator<Item = u64> {
    // Clears the lowest bit each time.
    let left = std::iter::successors(Some(raw), |left| Some(left & left.wrapping_sub(1)));
    let left = left.take_while(|left| *left != 0);
    left.map(|left| left & left.wrapping_neg())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn execution_scopes_reach_along_the_pipeline_and_access_scopes_do_not() {
        let source = ExpandedScope::source(S::FRAGMENT_SHADER, A::SHADER_STORAGE_WRITE);
        assert!(
            source
                .execution_stages
                .contains(S::VERTEX_SHADER | S::EARLY_FRAGMENT_TESTS)
        );
        assert!(
            !source
                .execution_stages
                .intersects(S::LATE_FRAGMENT_TESTS | S::COMPUTE_SHADER | S::COPY)
        );
        assert_eq!(source.access_stages, S::FRAGMENT_SHADER);
        let destination = ExpandedScope::destination(S::FRAGMENT_SHADER, A::SHADER_READ);
        assert!(destination.execution_stages.contains(S::COLOR_ATTACHMENT_OUTPUT));
        assert!(!destination.execution_stages.contains(S::VERTEX_SHADER));
        assert_eq!(destination.access, SHADER_READS);
    }

    #[test]
    fn top_and_bottom_of_pipe_are_all_commands_or_none() {
        assert_eq!(
            ExpandedScope::source(S::TOP_OF_PIPE, A::NONE).execution_stages,
            S::NONE
        );
        assert_eq!(
            ExpandedScope::destination(S::BOTTOM_OF_PIPE, A::NONE).execution_stages,
            S::NONE
        );
        let all = ExpandedScope::destination(S::TOP_OF_PIPE, A::NONE);
        assert!(
            all.execution_stages
                .contains(S::COPY | S::COMPUTE_SHADER | S::COLOR_ATTACHMENT_OUTPUT)
        );
        assert_eq!(all.access_stages, S::NONE);
    }

    #[test]
    fn composite_flags_expand() {
        assert!(expand(S::ALL_TRANSFER).contains(S::COPY | S::CLEAR));
        assert!(expand(S::ALL_COMMANDS).contains(S::COMPUTE_SHADER | S::COPY | S::VERTEX_SHADER));
        let memory = expand_access(A::MEMORY_READ);
        assert!(memory.contains(A::UNIFORM_READ | A::SHADER_SAMPLED_READ));
        assert!(!memory.intersects(WRITES));
    }

    #[test]
    fn accesses_belong_to_the_stages_that_perform_them() {
        assert_eq!(
            unperformed(S::FRAGMENT_SHADER, A::COLOR_ATTACHMENT_WRITE),
            Some(A::COLOR_ATTACHMENT_WRITE)
        );
        assert_eq!(
            unperformed(S::ALL_COMMANDS, A::COLOR_ATTACHMENT_WRITE | A::SHADER_READ),
            None
        );
        assert_eq!(unperformed(S::NONE, A::MEMORY_WRITE), None);
        assert_eq!(
            performed_by(S::COMPUTE_SHADER, A::MEMORY_WRITE),
            A::SHADER_STORAGE_WRITE | ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM
        );
        assert_eq!(
            performed_by(S::COMPUTE_SHADER, A::COLOR_ATTACHMENT_WRITE),
            A::NONE
        );
    }

    #[test]
    fn a_compute_queue_has_no_fragment_stage() {
        assert_eq!(
            unsupported(S::FRAGMENT_SHADER | S::COMPUTE_SHADER, vk::QueueFlags::COMPUTE),
            Some(S::FRAGMENT_SHADER)
        );
        assert_eq!(
            unsupported(S::ALL_COMMANDS | S::COPY, vk::QueueFlags::TRANSFER),
            None
        );
        assert_eq!(
            unsupported(S::COMPUTE_SHADER, vk::QueueFlags::TRANSFER),
            Some(S::COMPUTE_SHADER)
        );
    }

    #[test]
    fn video_decode_stages_need_a_video_decode_queue() {
        let decode = S::VIDEO_DECODE_KHR;
        assert_eq!(unsupported(decode, vk::QueueFlags::GRAPHICS), Some(decode));
        assert_eq!(unsupported(decode, vk::QueueFlags::VIDEO_DECODE_KHR), None);
    }

    #[test]
    fn dispatches_are_conditional_too() {
        let conditional = S::CONDITIONAL_RENDERING_EXT;
        assert_eq!(unsupported(conditional, vk::QueueFlags::COMPUTE), None);
        assert_eq!(unsupported(conditional, vk::QueueFlags::GRAPHICS), None);
        assert_eq!(
            unsupported(conditional, vk::QueueFlags::TRANSFER),
            Some(conditional)
        );
    }

    #[test]
    fn stages_of_vendors_perform_what_the_registry_says() {
        let (subpass, culling) = (S::SUBPASS_SHADER_HUAWEI, S::CLUSTER_CULLING_SHADER_HUAWEI);
        assert_eq!(unperformed(S::MICROMAP_BUILD_EXT, A::SHADER_READ), None);
        assert_eq!(
            unperformed(S::MICROMAP_BUILD_EXT, A::SHADER_WRITE),
            Some(A::SHADER_WRITE)
        );
        assert_eq!(
            unperformed(subpass, A::INPUT_ATTACHMENT_READ | A::UNIFORM_READ),
            None
        );
        assert_eq!(
            unperformed(culling, A::INPUT_ATTACHMENT_READ),
            Some(A::INPUT_ATTACHMENT_READ)
        );
        assert_eq!(unperformed(culling, A::SHADER_STORAGE_WRITE), None);
        assert!(expand(S::PRE_RASTERIZATION_SHADERS).contains(culling));
        assert!(expand(S::ALL_GRAPHICS).contains(subpass | culling | S::INVOCATION_MASK_HUAWEI));
        assert_eq!(
            unsupported(S::INVOCATION_MASK_HUAWEI, vk::QueueFlags::COMPUTE),
            Some(S::INVOCATION_MASK_HUAWEI)
        );
    }
}
