//! What the stage and access masks of a dependency mean.
//!
//! Source: Vulkan specification, "Pipeline Stages" and "Access Types": composite flags, the logical order of the stages
//! of a pipeline, and which stages make which accesses.

use ash::vk::{self, AccessFlags2 as A, PipelineStageFlags2 as S};

use crate::ffi;

/// The stages of a graphics pipeline in groups, each logically earlier than the next; the stages of one group stand for
/// the same place in different pipelines (vertex input or task and mesh shaders).
const GRAPHICS_ORDER: [S; 13] = [
    S::DRAW_INDIRECT,
    S::from_raw(S::INDEX_INPUT.as_raw() | S::TASK_SHADER_EXT.as_raw()),
    S::VERTEX_ATTRIBUTE_INPUT,
    S::VERTEX_SHADER,
    S::TESSELLATION_CONTROL_SHADER,
    S::TESSELLATION_EVALUATION_SHADER,
    S::GEOMETRY_SHADER,
    S::MESH_SHADER_EXT,
    S::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR,
    S::EARLY_FRAGMENT_TESTS,
    S::FRAGMENT_SHADER,
    S::LATE_FRAGMENT_TESTS,
    S::COLOR_ATTACHMENT_OUTPUT,
];

/// Names for sets of stages, and the two ends of the pipe, at which nothing happens.
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

/// The stages that run vertex, tessellation, geometry, task and mesh shaders.
const PRE_RASTERIZATION: S = S::from_raw(
    S::VERTEX_SHADER.as_raw()
        | S::TESSELLATION_CONTROL_SHADER.as_raw()
        | S::TESSELLATION_EVALUATION_SHADER.as_raw()
        | S::GEOMETRY_SHADER.as_raw()
        | S::TASK_SHADER_EXT.as_raw()
        | S::MESH_SHADER_EXT.as_raw(),
);

/// The stages that run shaders.
const SHADERS: S = S::from_raw(
    PRE_RASTERIZATION.as_raw()
        | S::FRAGMENT_SHADER.as_raw()
        | S::COMPUTE_SHADER.as_raw()
        | S::RAY_TRACING_SHADER_KHR.as_raw(),
);

/// Which stages make which accesses, flag by flag. Flags that are not here are judged by nobody.
const MAKERS: [(A, S); 20] = [
    (A::FRAGMENT_DENSITY_MAP_READ_EXT, S::FRAGMENT_DENSITY_PROCESS_EXT),
    (ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM, TILE_SHADERS),
    (ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM, TILE_SHADERS),
    (A::INDIRECT_COMMAND_READ, S::DRAW_INDIRECT),
    (A::INDEX_READ, S::INDEX_INPUT),
    (A::VERTEX_ATTRIBUTE_READ, S::VERTEX_ATTRIBUTE_INPUT),
    (A::UNIFORM_READ, SHADERS),
    (A::INPUT_ATTACHMENT_READ, S::FRAGMENT_SHADER),
    (A::SHADER_READ, SHADERS),
    (A::SHADER_WRITE, SHADERS),
    (A::SHADER_SAMPLED_READ, SHADERS),
    (A::SHADER_STORAGE_READ, SHADERS),
    (A::SHADER_STORAGE_WRITE, SHADERS),
    (A::COLOR_ATTACHMENT_READ, S::COLOR_ATTACHMENT_OUTPUT),
    (A::COLOR_ATTACHMENT_WRITE, S::COLOR_ATTACHMENT_OUTPUT),
    (A::DEPTH_STENCIL_ATTACHMENT_READ, FRAGMENT_TESTS),
    (A::DEPTH_STENCIL_ATTACHMENT_WRITE, FRAGMENT_TESTS),
    (A::TRANSFER_READ, TRANSFER),
    (A::TRANSFER_WRITE, TRANSFER),
    (
        A::from_raw(A::HOST_READ.as_raw() | A::HOST_WRITE.as_raw()),
        S::HOST,
    ),
];

/// VUID-VkMemoryBarrier2-srcAccessMask-10670, -10671.
const TILE_SHADERS: S = S::from_raw(S::FRAGMENT_SHADER.as_raw() | S::COMPUTE_SHADER.as_raw());

const FRAGMENT_TESTS: S = S::from_raw(S::EARLY_FRAGMENT_TESTS.as_raw() | S::LATE_FRAGMENT_TESTS.as_raw());

/// The accesses that write.
pub(crate) const WRITES: A = A::from_raw(
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

/// One scope of a dependency, expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    /// The stages of the execution scope, the logically earlier (or later) ones included.
    pub(crate) execution: S,
    /// The stages of the access scope: those the mask names, no others.
    pub(crate) named: S,
    /// The accesses of the access scope.
    pub(crate) access: A,
}

impl Scope {
    /// The first scope of a dependency.
    pub(crate) fn source(stages: S, access: A) -> Scope {
        Scope::new(stages, access, earlier(expand(stages)), S::BOTTOM_OF_PIPE)
    }

    /// The second scope of a dependency.
    pub(crate) fn destination(stages: S, access: A) -> Scope {
        Scope::new(stages, access, later(expand(stages)), S::TOP_OF_PIPE)
    }

    /// What `end` of the pipe is named for is everything.
    fn new(stages: S, access: A, mut execution: S, end: S) -> Scope {
        if stages.contains(end) {
            execution |= everything();
        }
        let (named, access) = (expand(stages), expand_access(access));
        Scope {
            execution,
            named,
            access,
        }
    }

    /// Everything on the device: what a semaphore or the end of a frame orders.
    pub(crate) fn all() -> Scope {
        Scope::destination(S::ALL_COMMANDS, A::MEMORY_READ | A::MEMORY_WRITE)
    }
}

/// The stages behind composite flags; the ends of the pipe are no stages.
pub(crate) fn expand(stages: S) -> S {
    let composites = [
        (S::ALL_COMMANDS, everything()),
        (S::ALL_GRAPHICS, graphics()),
        (S::ALL_TRANSFER, TRANSFER),
        (S::VERTEX_INPUT, S::INDEX_INPUT | S::VERTEX_ATTRIBUTE_INPUT),
        (S::PRE_RASTERIZATION_SHADERS, PRE_RASTERIZATION),
    ];
    let named = composites.into_iter().filter(|(name, _)| stages.contains(*name));
    named.fold(stages & !COMPOSITE, |all, (_, behind)| all | behind)
}

/// Each stage of `stages` by itself; of `ALL_COMMANDS` those that frames can use.
pub(crate) fn each(stages: S) -> impl Iterator<Item = S> {
    let listed = if stages.contains(S::ALL_COMMANDS) {
        graphics() | S::COMPUTE_SHADER | TRANSFER | (stages & !COMPOSITE)
    } else {
        expand(stages)
    };
    bits(listed.as_raw()).map(S::from_raw)
}

/// Each flag of `access` by itself, after expansion.
pub(crate) fn each_access(access: A) -> impl Iterator<Item = A> {
    bits(expand_access(access).as_raw()).map(A::from_raw)
}

/// The flags of `access`, expanded, that `stage` makes.
pub(crate) fn made_at(stage: S, access: A) -> A {
    let made =
        each_access(access).filter(|&flag| makers(flag).is_some_and(|stages| stages.intersects(stage)));
    made.fold(A::NONE, |all, flag| all | flag)
}

/// The first flag of `access` that none of `stages` can make.
///
/// Source: VUID-VkMemoryBarrier2-srcAccessMask-03900 to -03917 and their like.
pub(crate) fn unmade(stages: S, access: A) -> Option<A> {
    let named = expand(stages);
    bits(access.as_raw())
        .map(A::from_raw)
        .find(|&flag| makers(flag).is_some_and(|makers| !makers.intersects(named)))
}

/// The first stage that a queue of these capabilities does not have.
///
/// Source: VUID-vkCmdPipelineBarrier2-srcStageMask-09675 and -dstStageMask-09676.
pub(crate) fn unsupported(stages: S, capabilities: vk::QueueFlags) -> Option<S> {
    let mut supported =
        S::ALL_COMMANDS | S::TOP_OF_PIPE | S::BOTTOM_OF_PIPE | S::HOST | S::ALL_TRANSFER | TRANSFER;
    if capabilities.contains(vk::QueueFlags::GRAPHICS) {
        supported |= graphics() | S::ALL_GRAPHICS | S::VERTEX_INPUT | S::PRE_RASTERIZATION_SHADERS;
    }
    if capabilities.intersects(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE) {
        // Graphics families compute too, as frames take for granted.
        supported |= S::COMPUTE_SHADER | S::DRAW_INDIRECT | S::RAY_TRACING_SHADER_KHR;
    }
    let known =
        supported | graphics() | S::ALL_GRAPHICS | S::VERTEX_INPUT | S::PRE_RASTERIZATION_SHADERS | SHADERS;
    bits((stages & known & !supported).as_raw())
        .map(S::from_raw)
        .next()
}

/// Every stage but the host's: what `ALL_COMMANDS` stands for, unknown stages included.
fn everything() -> S {
    !(COMPOSITE | S::HOST)
}

fn graphics() -> S {
    GRAPHICS_ORDER
        .into_iter()
        .fold(S::NONE, |all, stages| all | stages)
}

/// `stages` with all that are logically earlier.
fn earlier(stages: S) -> S {
    let last = GRAPHICS_ORDER.iter().rposition(|group| group.intersects(stages));
    let before = last.map_or(&[][..], |last| &GRAPHICS_ORDER[..last]);
    let mut all = before.iter().fold(stages, |all, &group| all | group);
    if stages.intersects(S::COMPUTE_SHADER | S::RAY_TRACING_SHADER_KHR) {
        all |= S::DRAW_INDIRECT;
    }
    all
}

/// `stages` with all that are logically later.
fn later(stages: S) -> S {
    let first = GRAPHICS_ORDER.iter().position(|group| group.intersects(stages));
    let after = first.map_or(&[][..], |first| &GRAPHICS_ORDER[first + 1..]);
    let mut all = after.iter().fold(stages, |all, &group| all | group);
    if stages.contains(S::DRAW_INDIRECT) {
        all |= S::COMPUTE_SHADER | S::RAY_TRACING_SHADER_KHR;
    }
    all
}

fn expand_access(access: A) -> A {
    let composite = A::SHADER_READ | A::SHADER_WRITE | A::MEMORY_READ | A::MEMORY_WRITE;
    let composites = [
        (A::SHADER_READ, A::SHADER_SAMPLED_READ | A::SHADER_STORAGE_READ),
        (A::SHADER_WRITE, A::SHADER_STORAGE_WRITE),
        (A::MEMORY_READ, !(WRITES | composite)),
        (A::MEMORY_WRITE, WRITES & !composite),
    ];
    let named = composites.into_iter().filter(|(name, _)| access.contains(*name));
    named.fold(access & !composite, |all, (_, behind)| all | behind)
}

fn makers(flag: A) -> Option<S> {
    MAKERS
        .iter()
        .find(|(flags, _)| flags.contains(flag))
        .map(|&(_, stages)| stages)
}

fn bits(raw: u64) -> impl Iterator<Item = u64> {
    (0..64).map(|shift| 1 << shift).filter(move |bit| raw & bit != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn execution_scopes_reach_along_the_pipeline_and_access_scopes_do_not() {
        let source = Scope::source(S::FRAGMENT_SHADER, A::SHADER_STORAGE_WRITE);
        assert!(
            source
                .execution
                .contains(S::VERTEX_SHADER | S::EARLY_FRAGMENT_TESTS)
        );
        assert!(
            !source
                .execution
                .intersects(S::LATE_FRAGMENT_TESTS | S::COMPUTE_SHADER | S::COPY)
        );
        assert_eq!(source.named, S::FRAGMENT_SHADER);
        let destination = Scope::destination(S::FRAGMENT_SHADER, A::SHADER_READ);
        assert!(destination.execution.contains(S::COLOR_ATTACHMENT_OUTPUT));
        assert!(!destination.execution.contains(S::VERTEX_SHADER));
        assert_eq!(
            destination.access,
            A::SHADER_SAMPLED_READ | A::SHADER_STORAGE_READ
        );
    }

    #[test]
    fn the_ends_of_the_pipe_are_all_or_nothing() {
        assert_eq!(Scope::source(S::TOP_OF_PIPE, A::NONE).execution, S::NONE);
        assert_eq!(Scope::destination(S::BOTTOM_OF_PIPE, A::NONE).execution, S::NONE);
        let all = Scope::destination(S::TOP_OF_PIPE, A::NONE);
        assert!(
            all.execution
                .contains(S::COPY | S::COMPUTE_SHADER | S::COLOR_ATTACHMENT_OUTPUT)
        );
        assert_eq!(all.named, S::NONE);
    }

    #[test]
    fn composite_flags_stand_for_others() {
        assert!(expand(S::ALL_TRANSFER).contains(S::COPY | S::CLEAR));
        assert!(expand(S::ALL_COMMANDS).contains(S::COMPUTE_SHADER | S::COPY | S::VERTEX_SHADER));
        let memory = expand_access(A::MEMORY_READ);
        assert!(memory.contains(A::UNIFORM_READ | A::SHADER_SAMPLED_READ));
        assert!(!memory.intersects(WRITES));
    }

    #[test]
    fn stages_make_their_own_accesses() {
        assert_eq!(
            unmade(S::FRAGMENT_SHADER, A::COLOR_ATTACHMENT_WRITE),
            Some(A::COLOR_ATTACHMENT_WRITE)
        );
        assert_eq!(
            unmade(S::ALL_COMMANDS, A::COLOR_ATTACHMENT_WRITE | A::SHADER_READ),
            None
        );
        assert_eq!(unmade(S::NONE, A::MEMORY_WRITE), None);
        assert_eq!(
            made_at(S::COMPUTE_SHADER, A::MEMORY_WRITE),
            A::SHADER_STORAGE_WRITE | ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM
        );
        assert_eq!(made_at(S::COMPUTE_SHADER, A::COLOR_ATTACHMENT_WRITE), A::NONE);
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
}
