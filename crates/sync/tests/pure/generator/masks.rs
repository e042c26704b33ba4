//! Stages and accesses, and masks of them.

use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
use tileheap_sync::program::DependencyScopes;
use tileheap_units::SplitMix64;

/// The stages of commands in generated programs.
pub(super) const STAGES: [S; 12] = [
    S::DRAW_INDIRECT,
    S::INDEX_INPUT,
    S::VERTEX_SHADER,
    S::EARLY_FRAGMENT_TESTS,
    S::FRAGMENT_SHADER,
    S::LATE_FRAGMENT_TESTS,
    S::COLOR_ATTACHMENT_OUTPUT,
    S::COMPUTE_SHADER,
    S::COPY,
    S::BLIT,
    S::RESOLVE,
    S::CLEAR,
];
const COMPOSITES: [S; 9] = [
    S::ALL_TRANSFER,
    S::ALL_GRAPHICS,
    S::ALL_COMMANDS,
    S::VERTEX_INPUT,
    S::PRE_RASTERIZATION_SHADERS,
    S::NONE,
    S::TOP_OF_PIPE,
    S::BOTTOM_OF_PIPE,
    S::HOST,
];
/// The stages that barriers inside of render pass instances name.
pub(super) const FRAMEBUFFER: [S; 4] = [
    S::EARLY_FRAGMENT_TESTS,
    S::FRAGMENT_SHADER,
    S::LATE_FRAGMENT_TESTS,
    S::COLOR_ATTACHMENT_OUTPUT,
];
const ACCESSES: [A; 15] = [
    A::INDIRECT_COMMAND_READ,
    A::INDEX_READ,
    A::UNIFORM_READ,
    A::SHADER_SAMPLED_READ,
    A::SHADER_STORAGE_READ,
    A::SHADER_STORAGE_WRITE,
    A::INPUT_ATTACHMENT_READ,
    A::COLOR_ATTACHMENT_READ,
    A::COLOR_ATTACHMENT_WRITE,
    A::DEPTH_STENCIL_ATTACHMENT_READ,
    A::DEPTH_STENCIL_ATTACHMENT_WRITE,
    A::TRANSFER_READ,
    A::TRANSFER_WRITE,
    A::HOST_READ,
    A::HOST_WRITE,
];
const MEMORY: A = A::from_raw(A::MEMORY_READ.as_raw() | A::MEMORY_WRITE.as_raw());

/// Returns true if a single access writes.
pub(super) fn writes(access: A) -> bool {
    access.intersects(
        A::SHADER_STORAGE_WRITE
            | A::COLOR_ATTACHMENT_WRITE
            | A::DEPTH_STENCIL_ATTACHMENT_WRITE
            | A::TRANSFER_WRITE
            | A::HOST_WRITE,
    )
}

/// Some stages.
pub(super) fn stages(random: &mut SplitMix64) -> S {
    match random.below(4) {
        0 => random.pick(&STAGES),
        1 => random.pick(&STAGES) | random.pick(&STAGES),
        _ => random.pick(&COMPOSITES),
    }
}

/// Some stages of a signal or a wait, at least one.
pub(super) fn semaphore_stages(random: &mut SplitMix64) -> S {
    let stages = random.pick(&[
        random.clone().pick(&STAGES),
        S::ALL_COMMANDS,
        S::ALL_GRAPHICS,
        S::ALL_TRANSFER,
    ]);
    if random.one_in(4) {
        stages | random.pick(&STAGES)
    } else {
        stages
    }
}

/// Some accesses.
pub(super) fn accesses(random: &mut SplitMix64) -> A {
    match random.below(8) {
        0 => A::NONE,
        1 => A::SHADER_READ,
        2 => A::SHADER_WRITE,
        3 => random.pick(&[A::MEMORY_READ, A::MEMORY_WRITE, MEMORY]),
        4 => random.pick(&ACCESSES) | random.pick(&ACCESSES),
        _ => random.pick(&ACCESSES),
    }
}

/// Random scopes.
pub(super) fn scopes(random: &mut SplitMix64) -> DependencyScopes {
    let (src, dst) = (stages(random), stages(random));
    DependencyScopes {
        src,
        src_access: accesses(random),
        dst,
        dst_access: accesses(random),
    }
}

/// A full barrier's scopes.
pub(super) fn full() -> DependencyScopes {
    let all = S::ALL_COMMANDS;
    DependencyScopes {
        src: all,
        src_access: A::MEMORY_WRITE,
        dst: all,
        dst_access: MEMORY,
    }
}

/// The same stages, or a mask that includes them.
pub(super) fn widen(random: &mut SplitMix64, stages: S) -> S {
    let fits = |all: &[S]| {
        !stages.is_empty()
            && all
                .iter()
                .fold(S::NONE, |mask, stage| mask | *stage)
                .contains(stages)
    };
    if !random.one_in(3) || stages.is_empty() || stages.contains(S::HOST) {
        stages
    } else if fits(&STAGES[8..]) && random.one_in(2) {
        S::ALL_TRANSFER
    } else if stages == S::VERTEX_SHADER && random.one_in(2) {
        S::PRE_RASTERIZATION_SHADERS
    } else if stages == S::INDEX_INPUT && random.one_in(2) {
        S::VERTEX_INPUT
    } else if fits(&STAGES[..7]) && random.one_in(2) {
        S::ALL_GRAPHICS
    } else {
        S::ALL_COMMANDS
    }
}

/// The same accesses, or a mask that includes them.
pub(super) fn widen_access(random: &mut SplitMix64, accesses: A) -> A {
    if accesses.is_empty() || accesses.intersects(A::HOST_READ | A::HOST_WRITE) || !random.one_in(3) {
        return accesses;
    }
    if accesses == A::SHADER_STORAGE_WRITE && random.one_in(2) {
        return A::SHADER_WRITE;
    }
    if (A::UNIFORM_READ | A::SHADER_SAMPLED_READ | A::SHADER_STORAGE_READ).contains(accesses)
        && random.one_in(2)
    {
        return A::SHADER_READ;
    }
    let mut wide = A::NONE;
    for access in ACCESSES.into_iter().filter(|access| accesses.contains(*access)) {
        wide |= if writes(access) {
            A::MEMORY_WRITE
        } else {
            A::MEMORY_READ
        };
    }
    wide
}

/// A mask whose first synchronization scope includes `stages`, though it may only name a later stage. For execution dependencies.
pub(super) fn later(random: &mut SplitMix64, stages: S) -> S {
    if !random.one_in(3) {
        return widen(random, stages);
    }
    match STAGES[..7].iter().rposition(|stage| stages.contains(*stage)) {
        Some(last) if stages == STAGES[last] && last < 6 => {
            random.pick(&[S::COLOR_ATTACHMENT_OUTPUT, S::BOTTOM_OF_PIPE])
        }
        _ => widen(random, stages),
    }
}
