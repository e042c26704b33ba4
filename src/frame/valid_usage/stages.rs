//! Rules about masks of stages and accesses.

use std::sync::LazyLock;

use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use super::rule::{InvalidUsage, RuleRow, Subject};
use crate::ffi;
use crate::names::{self, Vocabulary};
use tileheap_device::scopes;

/// An access flag that only some stages perform, and the rule about it.
struct Performed {
    access: A,
    rule: &'static str,
}

const fn row(access: A, rule: &'static str) -> Performed {
    Performed { access, rule }
}

/// The accesses whose stages are checked, each with its rule; [`scopes::PERFORMERS`] has the stages.
static PERFORMED: [Performed; 32] = [
    row(
        A::INDIRECT_COMMAND_READ,
        "VUID-VkMemoryBarrier2-dstAccessMask-03900",
    ),
    row(A::INDEX_READ, "VUID-VkMemoryBarrier2-dstAccessMask-03901"),
    row(
        A::VERTEX_ATTRIBUTE_READ,
        "VUID-VkMemoryBarrier2-dstAccessMask-03902",
    ),
    row(
        A::INPUT_ATTACHMENT_READ,
        "VUID-VkMemoryBarrier2-dstAccessMask-03903",
    ),
    row(A::UNIFORM_READ, "VUID-VkMemoryBarrier2-dstAccessMask-03904"),
    row(
        A::SHADER_SAMPLED_READ,
        "VUID-VkMemoryBarrier2-dstAccessMask-03905",
    ),
    row(
        A::SHADER_STORAGE_READ,
        "VUID-VkMemoryBarrier2-dstAccessMask-03906",
    ),
    row(
        A::SHADER_STORAGE_WRITE,
        "VUID-VkMemoryBarrier2-dstAccessMask-03907",
    ),
    row(A::SHADER_READ, "VUID-VkMemoryBarrier2-dstAccessMask-07454"),
    row(A::SHADER_WRITE, "VUID-VkMemoryBarrier2-dstAccessMask-03909"),
    row(
        A::COLOR_ATTACHMENT_READ,
        "VUID-VkMemoryBarrier2-dstAccessMask-03910",
    ),
    row(
        A::COLOR_ATTACHMENT_WRITE,
        "VUID-VkMemoryBarrier2-dstAccessMask-03911",
    ),
    row(
        A::DEPTH_STENCIL_ATTACHMENT_READ,
        "VUID-VkMemoryBarrier2-dstAccessMask-03912",
    ),
    row(
        A::DEPTH_STENCIL_ATTACHMENT_WRITE,
        "VUID-VkMemoryBarrier2-dstAccessMask-03913",
    ),
    row(A::TRANSFER_READ, "VUID-VkMemoryBarrier2-dstAccessMask-03914"),
    row(A::TRANSFER_WRITE, "VUID-VkMemoryBarrier2-dstAccessMask-03915"),
    row(A::HOST_READ, "VUID-VkMemoryBarrier2-dstAccessMask-03916"),
    row(A::HOST_WRITE, "VUID-VkMemoryBarrier2-dstAccessMask-03917"),
    row(
        A::CONDITIONAL_RENDERING_READ_EXT,
        "VUID-VkMemoryBarrier2-dstAccessMask-03918",
    ),
    row(
        A::FRAGMENT_DENSITY_MAP_READ_EXT,
        "VUID-VkMemoryBarrier2-dstAccessMask-03919",
    ),
    row(
        A::TRANSFORM_FEEDBACK_WRITE_EXT,
        "VUID-VkMemoryBarrier2-dstAccessMask-03920",
    ),
    row(
        A::TRANSFORM_FEEDBACK_COUNTER_READ_EXT,
        "VUID-VkMemoryBarrier2-dstAccessMask-04747",
    ),
    row(
        A::TRANSFORM_FEEDBACK_COUNTER_WRITE_EXT,
        "VUID-VkMemoryBarrier2-dstAccessMask-03922",
    ),
    row(
        A::COMMAND_PREPROCESS_READ_NV,
        "VUID-VkMemoryBarrier2-dstAccessMask-03924",
    ),
    row(
        A::COMMAND_PREPROCESS_WRITE_NV,
        "VUID-VkMemoryBarrier2-dstAccessMask-03925",
    ),
    row(
        A::COLOR_ATTACHMENT_READ_NONCOHERENT_EXT,
        "VUID-VkMemoryBarrier2-dstAccessMask-03926",
    ),
    row(
        A::ACCELERATION_STRUCTURE_READ_KHR,
        "VUID-VkMemoryBarrier2-dstAccessMask-03927",
    ),
    row(
        A::ACCELERATION_STRUCTURE_WRITE_KHR,
        "VUID-VkMemoryBarrier2-dstAccessMask-03928",
    ),
    row(
        A::SHADER_BINDING_TABLE_READ_KHR,
        "VUID-VkMemoryBarrier2-dstAccessMask-07272",
    ),
    row(
        A::DESCRIPTOR_BUFFER_READ_EXT,
        "VUID-VkMemoryBarrier2-dstAccessMask-08118",
    ),
    row(
        ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM,
        "VUID-VkMemoryBarrier2-dstAccessMask-10670",
    ),
    row(
        ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM,
        "VUID-VkMemoryBarrier2-dstAccessMask-10671",
    ),
];

/// The row of [`PERFORMED`] at an index, with its rule.
fn row_at(index: usize) -> (RuleRow, &'static str) {
    let table = "stages::PERFORMED";
    (RuleRow { table, index }, PERFORMED[index].rule)
}

/// The rows of [`PERFORMED`], each with its rule.
pub(super) fn rows() -> Vec<(RuleRow, &'static str)> {
    (0..PERFORMED.len()).map(row_at).collect()
}

/// Pairs of stages and accesses that [`check_performed`] has accepted: most accesses of a frame have one of a few pairs.
#[derive(Default)]
pub(super) struct AcceptedPairs(Vec<(S, A)>);

impl AcceptedPairs {
    /// Maximum number of pairs: a longer search would take longer than the check.
    const MAX_CACHED_PAIRS: usize = 32;

    /// Like [`check_performed`], but skips pairs that were accepted before.
    pub(super) fn check(&mut self, subject: &impl Subject, stages: S, access: A) -> Result<(), InvalidUsage> {
        if self.0.contains(&(stages, access)) {
            return Ok(());
        }
        check_performed(subject, stages, access)?;
        if self.0.len() < AcceptedPairs::MAX_CACHED_PAIRS {
            self.0.push((stages, access));
        }
        Ok(())
    }
}

/// Returns an error for the first flag of `access` that none of `stages` performs.
fn check_performed(subject: &impl Subject, stages: S, access: A) -> Result<(), InvalidUsage> {
    let missing = PERFORMED
        .iter()
        .position(|row| access.contains(row.access) && scopes::unperformed(stages, row.access).is_some());
    let Some(index) = missing else { return Ok(()) };
    let access = names::bit_names(PERFORMED[index].access).join(" and ");
    let problem = match stages.is_empty() {
        true => format!("no stage is named, but {access} needs one that performs it"),
        false => format!("no stage of {} performs {access}", listed(stages)),
    };
    Err(InvalidUsage::new(row_at(index), subject, problem))
}

/// Returns the problem if some bits of `stages` are unknown: newer than the registry that the names were generated from, or undefined.
pub(super) fn unknown_stages(stages: S) -> Option<String> {
    static KNOWN: LazyLock<u64> = LazyLock::new(known::<S>);
    unknown(stages, &KNOWN).map(|named| format!("stage {named} is unknown"))
}

/// Like [`unknown_stages`], for accesses.
pub(super) fn unknown_access(access: A) -> Option<String> {
    static KNOWN: LazyLock<u64> = LazyLock::new(known::<A>);
    unknown(access, &KNOWN).map(|named| format!("access {named} is unknown"))
}

/// The bits of all names of a vocabulary.
fn known<T: Vocabulary>() -> u64 {
    names::all::<T>().fold(0, |all, (_, bit)| all | bit.to_raw())
}

/// The bits of a mask that are not among the known ones, in words.
fn unknown<T: Vocabulary>(mask: T, known: &LazyLock<u64>) -> Option<String> {
    let unknown = mask.to_raw() & !**known;
    (unknown != 0).then(|| names::bit_names(T::from_raw_value(unknown)).join(" and "))
}

/// The names of stages as text.
pub(super) fn listed(stages: S) -> String {
    names::bit_names(stages).join(" and ")
}
