//! The changes that a report proposes, each with its savings and cost.

use std::collections::BTreeMap;

use serde::Serialize;
use tileheap::arrange::{DescriptionChange, GroupMode};
use tileheap::frame::{Frame, PassId, ResourceId};
use tileheap::plan::Plan;
use tileheap_capture::document::{AttachmentOperation, Capture};

use super::names::{at, described};
use super::traffic::Traffic;
use crate::error::Result;
use crate::frames::arrange::{ArrangedPlan, Limits, changes as in_words, gain};
use crate::values::amount;

/// The devices that a change helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum HelpedDevices {
    #[serde(rename = "every tiler")]
    EveryTiler,
    #[serde(rename = "only with a tile heap")]
    OnlyTileHeap,
}

impl HelpedDevices {
    pub(crate) fn words(self) -> &'static str {
        match self {
            HelpedDevices::EveryTiler => "every tiler",
            HelpedDevices::OnlyTileHeap => "only with a tile heap",
        }
    }
}

/// A change to a program.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Change {
    pub(crate) title: String,
    /// Traffic per frame that the change removes, in bytes, with its costs deducted.
    pub(crate) saves_bytes: u64,
    /// Memory that the change frees, in bytes.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) frees_bytes: u64,
    pub(crate) cost: String,
    /// The change in terms of Vulkan.
    pub(crate) how: String,
    pub(crate) helps: HelpedDevices,
    /// The affected resources, one line each.
    pub(crate) details: Vec<String>,
}

fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

/// The maximum number of proposed changes.
const MAX_CHANGES: usize = 5;
/// The maximum number of resources listed per change.
const MAX_DETAILS: usize = 8;

/// Returns at most five changes, in descending order of the traffic that they save.
pub(super) fn proposed(
    plan: &Plan,
    best: &ArrangedPlan<'_>,
    capture: &Capture,
    traffic: &Traffic,
) -> Vec<Change> {
    let frame = plan.described();
    let mut all: Vec<Change> = [AttachmentOperation::Store, AttachmentOperation::Load]
        .into_iter()
        .filter_map(|operation| wasted(frame, capture, operation))
        .collect();
    all.extend(lazily_allocated(frame, capture));
    all.extend(in_tile_memory(plan, best, traffic));
    all.extend(arranged(frame, best, traffic));
    all.retain(|change| change.saves_bytes > 0 || change.frees_bytes > 0);
    all.sort_by_key(|change| std::cmp::Reverse((change.saves_bytes, change.frees_bytes)));
    all.truncate(MAX_CHANGES);
    all
}

/// Keeps the details with the most bytes, and appends the number of the others.
fn details(mut all: Vec<(u64, String)>) -> Vec<String> {
    all.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    let more = all.len().saturating_sub(MAX_DETAILS);
    let mut details: Vec<String> = all.into_iter().take(MAX_DETAILS).map(|(_, text)| text).collect();
    if more > 0 {
        details.push(format!("and {more} more"));
    }
    details
}

/// Proposes to omit loads or stores of attachments whose results nothing needs.
fn wasted(frame: &Frame, capture: &Capture, operation: AttachmentOperation) -> Option<Change> {
    let all: Vec<_> = capture
        .wasted
        .iter()
        .filter(|one| one.operation == operation)
        .collect();
    let saves_bytes = all.iter().map(|one| one.bytes).sum();
    let (verb, but, replaced) = match operation {
        AttachmentOperation::Load => ("loaded", "but not used", "LOAD_OP_DONT_CARE"),
        AttachmentOperation::Store => ("stored", "but never read", "STORE_OP_DONT_CARE"),
    };
    let lines = all.iter().filter_map(|one| {
        let (pass, id) = at(frame, one.pass, one.resource)?;
        let assumed = match (one.assumed, capture.compared) {
            (false, _) => "",
            (true, true) => " (assumed: the next frame does not confirm it)",
            (true, false) => " (assumed: no next frame was captured)",
        };
        let line = format!(
            "{}: {verb} by `{}` {but}; {replaced} saves {} per frame; {}{assumed}",
            described(frame, id),
            frame.pass(pass).name,
            amount(one.bytes),
            one.reason
        );
        Some((one.bytes, line))
    });
    let details = details(lines.collect());
    let title = match operation {
        AttachmentOperation::Load => "Do not load attachments whose contents are not needed",
        AttachmentOperation::Store => "Do not store attachments that are never read",
    };
    (!all.is_empty()).then(|| Change {
        title: title.to_owned(),
        saves_bytes,
        frees_bytes: 0,
        cost: "none".to_owned(),
        how: format!("{replaced} in VkAttachmentDescription or VkRenderingAttachmentInfo"),
        helps: HelpedDevices::EveryTiler,
        details,
    })
}

/// Proposes lazy allocation of attachments that need no memory once useless loads and stores are removed.
fn lazily_allocated(frame: &Frame, capture: &Capture) -> Option<Change> {
    let all = frame.resource_ids().filter_map(|id| {
        let facts = capture
            .resources
            .get(id.index())
            .filter(|facts| facts.memoryless)?;
        let unused = match facts.unused_usage.as_str() {
            "" => String::new(),
            usage => format!("; leave out usage {usage}, which neither this frame nor the next one uses"),
        };
        let line = format!("{}: {}{unused}", described(frame, id), amount(facts.bytes));
        Some((facts.bytes, line))
    });
    let all: Vec<_> = all.collect();
    let frees_bytes = all.iter().map(|(bytes, _)| bytes).sum();
    (!all.is_empty()).then(|| Change {
        title: "Allocate attachments lazily if they never leave their render pass".to_owned(),
        saves_bytes: 0,
        frees_bytes,
        cost: "none; devices without lazily allocated memory use ordinary memory".to_owned(),
        how: "TRANSIENT_ATTACHMENT usage, memory of a type with LAZILY_ALLOCATED, LOAD_OP_CLEAR or DONT_CARE, and \
              STORE_OP_DONT_CARE"
            .to_owned(),
        helps: HelpedDevices::EveryTiler,
        details: details(all),
    })
}

/// Proposes tile memory for the frame as described.
fn in_tile_memory(plan: &Plan, best: &ArrangedPlan<'_>, traffic: &Traffic) -> Option<Change> {
    let frame = plan.described();
    let lines = |saved: &BTreeMap<ResourceId, u64>| {
        let all = saved.iter().filter(|(_, bytes)| **bytes > 0);
        let all = all.map(|(id, bytes)| (*bytes, format!("{}: {}", described(frame, *id), amount(*bytes))));
        details(all.collect())
    };
    let mut saved: BTreeMap<ResourceId, u64> = BTreeMap::new();
    for ((_, id), moved) in traffic {
        *saved.entry(*id).or_default() += moved.tile_as_is;
    }
    let saves_bytes: u64 = saved.values().sum();
    let reserved = amount(plan.totals.tile_bytes.0.max(best.plan.totals.tile_bytes.0));
    (saves_bytes > 0).then(|| Change {
        title: "Place attachments and buffers in tile memory, without other changes to the frame".to_owned(),
        saves_bytes,
        frees_bytes: 0,
        cost: format!("{reserved} of tile memory that the driver cannot use for binning; a second code path"),
        how: "VK_QCOM_tile_memory_heap: TILE_MEMORY usage, memory of the tile heap, vkCmdBindTileMemoryQCOM around the passes"
            .to_owned(),
        helps: HelpedDevices::OnlyTileHeap,
        details: lines(&saved),
    })
}

/// Proposes the changes of the arrangement: one per group of merged passes or strips, and one for the order.
fn arranged(frame: &Frame, best: &ArrangedPlan<'_>, traffic: &Traffic) -> Vec<Change> {
    let costs = best.found.traffic;
    let groups: Vec<_> = best.found.arrangement.groups().collect();
    let changed = in_words(best.described_frame(), &best.found.arrangement, &best.arranged);
    // Bytes in tile memory and in the driver's tiles, per group; the last element is for the order.
    let mut saved = vec![(0u64, 0u64); groups.len() + 1];
    let mut details_of: Vec<BTreeMap<ResourceId, u64>> = vec![BTreeMap::new(); groups.len() + 1];
    for ((pass, id), moved) in traffic {
        let group_of = |is_wanted: fn(&GroupMode) -> bool| {
            let mut all = groups.iter();
            let group = all.position(|group| is_wanted(&group.mode) && group.passes.contains(pass));
            group.unwrap_or(groups.len())
        };
        // On devices without a tile heap, merged passes save only the contents that the driver's own tiles keep.
        let by_driver = group_of(|mode| matches!(mode, GroupMode::Merged));
        let by_tile = group_of(|mode| matches!(mode, GroupMode::Strips(_)));
        saved[by_driver].1 += moved.merged;
        saved[by_tile].0 += moved.tile_arranged;
        *details_of[by_driver].entry(*id).or_default() += moved.merged;
        *details_of[by_tile].entry(*id).or_default() += moved.tile_arranged;
    }
    let total = |is_wanted: &dyn Fn(&GroupMode) -> bool| -> u64 {
        let all = groups
            .iter()
            .zip(&saved)
            .filter(|(group, _)| is_wanted(&group.mode));
        all.map(|(_, saved)| saved.0 + saved.1).sum()
    };
    let strips = total(&|mode| matches!(mode, GroupMode::Strips(_)));
    let merged = total(&|mode| matches!(mode, GroupMode::Merged));
    let mut all = Vec::new();
    for (number, (tile, driver)) in saved.iter().copied().enumerate() {
        let bytes = tile + driver;
        let of =
            |charge: u64, all: u64| (u128::from(charge) * u128::from(bytes) / u128::from(all.max(1))) as u64;
        let names = |passes: &[PassId]| {
            let names: Vec<String> = passes
                .iter()
                .map(|pass| format!("`{}`", frame.pass(*pass).name))
                .collect();
            names.join(", ")
        };
        let (title, charge, cost, how, mut helps) = match groups.get(number) {
            Some(group) if matches!(group.mode, GroupMode::Merged) => {
                let charge = of(costs.merges.0, merged);
                (
                    format!("Merge {} into one render pass", names(&group.passes)),
                    charge,
                    "additional state per pipeline: its subpass, or VkRenderingAttachmentLocationInfo"
                        .to_owned(),
                    "VK_KHR_dynamic_rendering_local_read (Vulkan 1.4), or subpasses with input attachments"
                        .to_owned(),
                    HelpedDevices::EveryTiler,
                )
            }
            Some(group) => {
                let charge = of(costs.repeats.0 + costs.halos.0, strips);
                (
                    format!("Run {} strip by strip", names(&group.passes)),
                    charge,
                    format!(
                        "{} for repeated passes and halos, already deducted from the savings",
                        amount(charge)
                    ),
                    in_group(&changed, frame, &group.passes),
                    HelpedDevices::OnlyTileHeap,
                )
            }
            None => {
                let words = changed.iter().filter(|change| {
                    change.starts_with("run `") && change.contains(" after `")
                        || change.starts_with("submit ")
                        || change.ends_with(" first")
                });
                let words: Vec<&str> = words.map(String::as_str).collect();
                (
                    "Place more in tile memory, with passes run in the proposed order".to_owned(),
                    if merged == 0 { costs.merges.0 } else { 0 },
                    "tile memory that the driver cannot use for binning; a second code path".to_owned(),
                    match words.is_empty() {
                        true => "VK_QCOM_tile_memory_heap, once render passes are merged".to_owned(),
                        false => format!("{}; then VK_QCOM_tile_memory_heap", words.join("; ")),
                    },
                    HelpedDevices::OnlyTileHeap,
                )
            }
        };
        if driver == 0 {
            helps = HelpedDevices::OnlyTileHeap;
        }
        let lines = details_of[number].iter().filter(|(_, bytes)| **bytes > 0);
        let lines =
            lines.map(|(id, bytes)| (*bytes, format!("{}: {}", described(frame, *id), amount(*bytes))));
        all.push(Change {
            title,
            saves_bytes: bytes.saturating_sub(charge),
            frees_bytes: 0,
            cost,
            how,
            helps,
            details: details(lines.collect()),
        });
    }
    all
}

/// Returns the change that runs all passes of a group in strips, in words; empty if there is none.
fn in_group(changed: &[String], frame: &Frame, passes: &[PassId]) -> String {
    let names_all = |change: &&String| {
        let mut passes = passes.iter();
        passes.all(|pass| change.contains(&format!("`{}`", frame.pass(*pass).name)))
    };
    let found = changed
        .iter()
        .filter(names_all)
        .find(|change| change.contains("strips"));
    found.cloned().unwrap_or_default()
}

/// Changes to usages, formats and extents, which affect the image quality or other passes.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct DescriptionChanges {
    pub(crate) changes: Vec<String>,
    /// Additional bytes that all changes together keep on chip.
    pub(crate) saves_bytes: u64,
    /// Reason for an empty list: no change keeps more on chip, or none was searched for.
    pub(crate) none: String,
}

impl DescriptionChanges {
    /// Creates an empty list of changes, with the reason why it is empty.
    pub(super) fn none(why: String) -> DescriptionChanges {
        DescriptionChanges {
            changes: Vec::new(),
            saves_bytes: 0,
            none: why,
        }
    }
}

/// Searches with all kinds of changes, and compares the result with the best arrangement that leaves the description unchanged.
pub(super) fn of_description(
    plan: &Plan,
    best: &ArrangedPlan<'_>,
    limits: &Limits,
    traffic: &Traffic,
) -> Result<DescriptionChanges> {
    let (frame, input) = (plan.described(), plan.input.frame());
    let mut kinds = limits.kinds();
    for kind in ["format", "extent", "usage"] {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let found = best.described().searched(limits, &kinds, &[])?.found;
    let more = gain(&found) - gain(&best.found);
    if more <= 0 {
        return Ok(DescriptionChanges::none(
            "no such change keeps more on chip".to_owned(),
        ));
    }
    let changes = found.arrangement.changes.iter().map(|change| {
        let id = match change {
            DescriptionChange::Format { image, .. } | DescriptionChange::Extent { image, .. } => *image,
            DescriptionChange::Use { resource, .. } => *resource,
        };
        let words = change.in_words(input);
        let own = format!("`{}`: ", input.resource(id).name);
        let origin = plan.input.origins().resource(id);
        let whole = origin.resource;
        let moves: u64 = traffic
            .iter()
            .filter(|((_, of), _)| *of == whole)
            .map(|(_, moved)| moved.now)
            .sum();
        let words = words.strip_prefix(&own).unwrap_or(&words);
        let apart = origin.value.map_or(String::new(), |value| {
            format!(" as a separate image ({value} of its contents)")
        });
        format!(
            "{} ({} of memory traffic): {words}{apart}",
            described(frame, whole),
            amount(moves)
        )
    });
    Ok(DescriptionChanges {
        changes: changes.collect(),
        saves_bytes: more as u64,
        none: String::new(),
    })
}
