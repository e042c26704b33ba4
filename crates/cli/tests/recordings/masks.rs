//! Stages and accesses of barriers of the first version, and accesses that their stages perform.

use ash::vk::{self, AccessFlags2 as A, PipelineStageFlags2 as S};
use tileheap_device::scopes::PERFORMERS;

use crate::recording::{Masks, Member};

/// Stages without a bit in the first version's flags, with their replacements.
const STAGES: [(S, S); 6] = [
    (S::COPY, S::ALL_TRANSFER),
    (S::CLEAR, S::ALL_TRANSFER),
    (S::BLIT, S::ALL_TRANSFER),
    (S::RESOLVE, S::ALL_TRANSFER),
    (S::INDEX_INPUT, S::VERTEX_INPUT),
    (S::VERTEX_ATTRIBUTE_INPUT, S::VERTEX_INPUT),
];

/// Accesses without a bit in the first version's flags, with their replacements.
const ACCESSES: [(A, A); 3] = [
    (A::SHADER_SAMPLED_READ, A::SHADER_READ),
    (A::SHADER_STORAGE_READ, A::SHADER_READ),
    (A::SHADER_STORAGE_WRITE, A::SHADER_WRITE),
];

/// Stages in the flags of barriers of the first version.
pub(crate) fn widened(stages: S) -> S {
    STAGES
        .iter()
        .fold(stages, |wide, (stage, known)| match wide.contains(*stage) {
            true => wide & !*stage | *known,
            false => wide,
        })
}

/// Accesses in the flags of barriers of the first version.
pub(crate) fn widened_access(access: A) -> A {
    ACCESSES
        .iter()
        .fold(access, |wide, (one, known)| match wide.contains(*one) {
            true => wide & !*one | *known,
            false => wide,
        })
}

/// Stages in the flags of Vulkan 1.0; `none` if there are none.
pub(crate) fn first_stages(stages: S, none: vk::PipelineStageFlags) -> vk::PipelineStageFlags {
    // The first 32 bits have the same meaning in both.
    let first = vk::PipelineStageFlags::from_raw(widened(stages).as_raw() as u32);
    if first.is_empty() { none } else { first }
}

/// Accesses in the flags of Vulkan 1.0.
pub(crate) fn first_access(access: A) -> vk::AccessFlags {
    vk::AccessFlags::from_raw(widened_access(access).as_raw() as u32)
}

/// The union of the stages of a barrier's members.
pub(crate) fn stages(members: &[Member]) -> (S, S) {
    members
        .iter()
        .fold((S::NONE, S::NONE), |(source, destination), member| {
            (
                source | member.masks.source.0,
                destination | member.masks.destination.0,
            )
        })
}

/// The accesses of a mask that some of the stages perform.
pub(crate) fn performed(stages: S, access: A) -> A {
    if stages.contains(S::ALL_COMMANDS) {
        return access;
    }
    let anything = access & (A::MEMORY_READ | A::MEMORY_WRITE);
    let known = PERFORMERS.iter().filter(|(one, _)| access.contains(*one));
    let performed = known.filter(|(one, performers)| {
        let mut wide = stages;
        if stages.contains(S::ALL_TRANSFER) {
            wide |= S::COPY | S::CLEAR | S::BLIT | S::RESOLVE;
        }
        // Clears read nothing: VUID-VkMemoryBarrier2-srcAccessMask-03914.
        let reading = if *one == A::TRANSFER_READ {
            wide & !S::CLEAR
        } else {
            wide
        };
        reading.intersects(*performers)
    });
    performed.fold(anything, |all, (one, _)| all | *one)
}

/// Masks without the accesses that their stages cannot perform.
pub(crate) fn valid(masks: Masks) -> Masks {
    let side = |(stages, access): (S, A)| (stages, performed(stages, access));
    Masks {
        source: side(masks.source),
        destination: side(masks.destination),
    }
}
