//! The report about a captured frame, for the developer who decides what to change in the program.
//!
//! ```text
//! verdict       one sentence, and the traffic of a frame now and with the proposed changes; if it is not a whole frame, a second one
//! changes       at most five, each with its savings, its cost and the change in Vulkan
//! in addition   changes of usages, formats and extents
//! limits        traffic that stays in memory, an upper bound for asynchronous compute, accesses that were not followed
//! ```
//! The page, the text and the JSON are written from one [`CaptureReport`].

mod changes;
pub(crate) mod folder;
mod names;
mod overlap;
mod text;
mod traffic;

use std::collections::BTreeMap;

use serde::Serialize;
use tileheap::frame::{Frame, PassId, ResourceId};
use tileheap::plan::{OffChipReason, PlacementReason, Plan};
use tileheap_capture::document::{
    Capture, FrameBoundary, InferredLifetime, LifetimeEvidence, UnresolvedAccesses,
};

use self::changes::{Change, DescriptionChanges, HelpedDevices};
use self::names::described;
use self::traffic::Traffic;
pub(crate) use self::traffic::is_kept_by_driver;
use crate::error::Result;
use crate::frames::arrange::{ArrangedPlan, Limits};
use crate::layers::ProgramEnd;
use crate::values::{amount, counted, percent};

/// The report about one captured frame.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CaptureReport {
    format: &'static str,
    version: u64,
    pub(crate) title: String,
    /// The verdict in one sentence.
    verdict: String,
    /// Sentences that precede all numbers: the program ended before the frame did, another frame was requested, or a signal ended the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
    /// The exit status or signal of the program; `null` if the frame was captured earlier.
    program: Option<ProgramEnd>,
    /// Memory traffic per frame before the proposed changes; `proposed_bytes` is the traffic after them.
    now_bytes: u64,
    proposed_bytes: u64,
    changes: Vec<Change>,
    description_changes: DescriptionChanges,
    /// Traffic that stays in memory, by reason.
    stays: Vec<RemainingTraffic>,
    /// The part of `stays` that has to stay in memory: traffic of images that are presented, and of contents that come from outside the frame or are needed
    /// after it.
    required_bytes: u64,
    async_compute_bytes: u64,
    async_compute: String,
    /// Labels and values: the frame, its device, its passes, the share of accessed bytes that was followed, and the evidence for lifetimes.
    facts: Vec<(&'static str, String)>,
    /// Sentences about everything that the device cannot run, or that was not followed, checked or measured.
    limits: Vec<String>,
}

/// Traffic that no proposed change removes.
#[derive(Clone, Debug, Serialize)]
struct RemainingTraffic {
    why: String,
    bytes: u64,
    /// True if the program or its environment needs the contents in memory.
    is_required: bool,
    resources: Vec<String>,
}

/// The maximum number of resources in a frame for which changes of the description are searched for.
const SMALL_FRAME: usize = 200;
/// The maximum number of listed reasons, and of resources per reason.
const MAX_REASONS: usize = 8;
const MAX_RESOURCES: usize = 4;
/// The maximum number of listed GPU times.
const MAX_TIMES: usize = 5;

impl CaptureReport {
    pub(crate) fn new(
        plan: &Plan,
        best: &ArrangedPlan<'_>,
        capture: &Capture,
        limits: &Limits,
        cannot_run: &[String],
    ) -> Result<CaptureReport> {
        let frame = plan.described();
        let traffic = traffic::traffic(plan, best, capture);
        let now_bytes: u64 = traffic.values().map(|moved| moved.now).sum();
        let changes = changes::proposed(plan, best, capture, &traffic);
        let saved = changes.iter().map(|change| change.saves_bytes).sum::<u64>();
        let proposed_bytes = now_bytes.saturating_sub(saved);
        let description_changes = match frame.resources().len() <= SMALL_FRAME {
            true => changes::of_description(plan, best, limits, &traffic)?,
            false => DescriptionChanges::none(format!(
                "not searched: the frame has more than {SMALL_FRAME} resources"
            )),
        };
        let of_pass = |pass: PassId| -> u64 {
            let all = traffic.iter().filter(|((of, _), _)| *of == pass);
            all.map(|(_, moved)| moved.now).sum()
        };
        let hidden = overlap::hidden_by_async_compute(frame, of_pass);
        let mut stays = remaining_traffic(plan, capture, &traffic);
        let required = stays.iter().filter(|one| one.is_required);
        let required_bytes = required.map(|one| one.bytes).sum();
        stays.truncate(MAX_REASONS);
        let is_eligible = plan.totals.eligible_bytes.0 > 0;
        let moves = moved(capture, now_bytes);
        let verdict = verdict((&moves, now_bytes), &changes, (is_eligible, &stays));
        Ok(CaptureReport {
            format: "tileheap-capture-report",
            version: 1,
            title: format!("{} on {}", program(capture, frame), plan.profile.name),
            verdict,
            notice: notice(capture).map(str::to_owned),
            program: None,
            now_bytes,
            proposed_bytes,
            changes,
            description_changes,
            stays,
            required_bytes,
            async_compute_bytes: hidden,
            async_compute: match hidden {
                0 => "nothing: no compute pass could run at the same time as a render pass".to_owned(),
                _ => format!(
                    "at most {} ({}) per frame: the traffic of compute passes that could run at the same time as independent render passes",
                    amount(hidden),
                    percent(hidden, now_bytes)
                ),
            },
            facts: facts(frame, capture),
            limits: limitations(frame, capture, cannot_run),
        })
    }

    /// Adds how the program ended, and a notice about a requested frame that was not captured.
    pub(crate) fn set_end(&mut self, end: ProgramEnd, not_captured: Option<&str>) {
        self.program = Some(end);
        let signal = end.signal.map(|_| format!("{}.", capitalized(&end.words())));
        let notices = [
            self.notice.take(),
            not_captured.map(|why| format!("{}.", capitalized(why))),
            signal,
        ];
        let notices: Vec<String> = notices.into_iter().flatten().collect();
        self.notice = Some(notices.join(" ")).filter(|notices| !notices.is_empty());
    }
}

fn capitalized(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(rest).collect()
}

fn program<'a>(capture: &'a Capture, frame: &'a Frame) -> &'a str {
    match capture.program.as_str() {
        "" => frame.name(),
        program => program,
    }
}

/// Returns true if the program ended before its first frame did: it probably presents nothing.
fn is_whole_run(capture: &Capture) -> bool {
    capture.border == FrameBoundary::End && capture.frame == 0
}

/// The beginning of the verdict: the traffic of the frame.
fn moved(capture: &Capture, now: u64) -> String {
    let now = amount(now);
    match is_whole_run(capture) {
        true => format!("All work that the program submitted moves {now} to and from memory"),
        false => format!("A frame moves {now} to and from memory"),
    }
}

/// A note that precedes all numbers if the captured frame may not be a complete one.
fn notice(capture: &Capture) -> Option<&'static str> {
    match capture.border {
        _ if is_whole_run(capture) => Some(
            "No frame ended before the program did: everything that it submitted counts as one frame. If it does not present, \
             `--border submits:N` ends a frame after N submits, and `--border label:NAME` at a debug label.",
        ),
        FrameBoundary::End => Some("The program ended in this frame: it may be incomplete."),
        _ => None,
    }
}

/// The verdict in one sentence: the traffic, the part that the changes remove, and the devices that benefit.
fn verdict(
    (moves, now): (&str, u64),
    changes: &[Change],
    (is_eligible, stays): (bool, &[RemainingTraffic]),
) -> String {
    let of = |helps| -> u64 {
        let all = changes.iter().filter(|change| change.helps == helps);
        all.map(|change| change.saves_bytes).sum()
    };
    let (everywhere, tile) = (of(HelpedDevices::EveryTiler), of(HelpedDevices::OnlyTileHeap));
    match (everywhere, tile) {
        (0, 0) => {
            let why: Vec<String> = stays
                .iter()
                .take(3)
                .map(|one| format!("{} {}", amount(one.bytes), one.why))
                .collect();
            let what = match is_eligible {
                true => "no change was found that removes any of it",
                false => "nothing is eligible for tile memory",
            };
            match why.split_last() {
                None => format!("{moves}: it has no loads or stores."),
                Some((last, [])) => format!("{moves}; {what}, because {last}."),
                Some((last, others)) => {
                    format!("{moves}; {what}, because {}; and {last}.", others.join("; "))
                }
            }
        }
        (some, 0) => format!(
            "{moves}; the proposed changes remove {} ({}) on every tiler, and tile memory removes nothing more.",
            amount(some),
            percent(some, now)
        ),
        (0, some) => format!(
            "{moves}; the proposed changes remove {} ({}), only on devices with a tile heap.",
            amount(some),
            percent(some, now)
        ),
        (some, more) => format!(
            "{moves}; the proposed changes remove {} ({}): {} on every tiler, and {} more with a tile heap.",
            amount(some + more),
            percent(some + more, now),
            amount(some),
            amount(more)
        ),
    }
}

/// Returns the traffic that stays in memory despite the changes, by reason, in descending order of bytes.
fn remaining_traffic(plan: &Plan, capture: &Capture, traffic: &Traffic) -> Vec<RemainingTraffic> {
    let frame = plan.described();
    let mut of_resource: BTreeMap<ResourceId, u64> = BTreeMap::new();
    for ((_, id), moved) in traffic {
        let kept = moved.tile_as_is + moved.tile_arranged + moved.merged;
        *of_resource.entry(*id).or_default() += moved.now - moved.wasted - kept.min(moved.now - moved.wasted);
    }
    let mut reasons: BTreeMap<(&str, bool), Vec<(u64, ResourceId)>> = BTreeMap::new();
    for (id, bytes) in of_resource.into_iter().filter(|(_, bytes)| *bytes > 0) {
        reasons
            .entry(why_in_memory(plan, capture, id))
            .or_default()
            .push((bytes, id));
    }
    let mut all: Vec<RemainingTraffic> = reasons
        .into_iter()
        .map(|((why, is_required), mut resources)| {
            resources.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
            let more = resources.len().saturating_sub(MAX_RESOURCES);
            let listed = resources.iter().take(MAX_RESOURCES);
            let mut names: Vec<String> = listed
                .map(|(bytes, id)| format!("{}: {}", described(frame, *id), amount(*bytes)))
                .collect();
            if more > 0 {
                names.push(format!("and {more} more"));
            }
            RemainingTraffic {
                why: why.to_owned(),
                is_required,
                bytes: resources.iter().map(|(bytes, _)| bytes).sum(),
                resources: names,
            }
        })
        .collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.bytes));
    all
}

/// Returns the reason that a resource is not on chip, which continues a sentence such as "12 MiB …", and true if its contents are required in memory.
fn why_in_memory(plan: &Plan, capture: &Capture, id: ResourceId) -> (&'static str, bool) {
    let facts = capture.resources.get(id.index()).cloned().unwrap_or_default();
    let frame = plan.described();
    let is_written = frame.accesses_to(id).any(|access| access.writes);
    match plan.resources[id.index()].reason {
        _ if facts.swapchain => ("belong to images that are presented", true),
        PlacementReason::External if !is_written => ("are only read: textures, vertices and constants", true),
        PlacementReason::External if facts.decided == LifetimeEvidence::Assumed => {
            ("are assumed to be needed after the frame", true)
        }
        PlacementReason::External => ("are needed after the frame, or come from before it", true),
        _ if facts.inferred == InferredLifetime::History => ("are read again by the next frame", true),
        reason if traffic::is_kept_by_driver(reason) => (
            "belong to attachments of one render pass, which its tiles already hold: only their loads and stores cause traffic",
            false,
        ),
        PlacementReason::Arena(why) | PlacementReason::Dedicated(why) => {
            (why_not_in_tile_memory(why), matches!(why, OffChipReason::History))
        }
        PlacementReason::Tile { .. } => (
            "leave tile memory for part of the frame to make room for resources that save more, or are loaded into or stored from it",
            false,
        ),
        _ => ("move in or out of tile memory", false),
    }
}

/// Returns the reason why resources are not in tile memory, in terms of Vulkan, as the end of a sentence.
fn why_not_in_tile_memory(why: OffChipReason) -> &'static str {
    match why {
        OffChipReason::NoTileHeap => "could be in tile memory, which this device does not have",
        OffChipReason::History => "are read again by the next frame",
        OffChipReason::CrossesWindows { .. } => {
            "are used in several batches or submits, which the contents of tile memory do not survive"
        }
        OffChipReason::CrossesQueues { .. } => {
            "are used on several queues, each of which has its own tile memory"
        }
        OffChipReason::Transfer { .. } => {
            "are copied, which tile memory does not allow: draw or dispatch instead"
        }
        OffChipReason::TransferQueue { .. } => "are used on queues that cannot bind tile memory",
        OffChipReason::ResolveTarget { .. } => "are resolve targets, which tile memory does not allow",
        OffChipReason::BufferUse { .. } => "belong to buffers with uses that tile memory does not allow",
        OffChipReason::DeclaredUsage => {
            "belong to images or buffers created with a usage that tile memory does not allow, such as TRANSFER_SRC"
        }
        OffChipReason::Refused => "belong to resources that the driver refuses in tile memory",
        OffChipReason::TooLarge { .. } => "are larger than the tile heap",
        OffChipReason::CostExceedsSavings { .. } => "cost more in the driver's binning than they save",
        OffChipReason::Excluded { .. } => "belong to resources that are excluded from tile memory",
        OffChipReason::NoRoom { .. } => "do not fit in the tile heap with the resources that save more",
        OffChipReason::OnePass { .. } | OffChipReason::Stored { .. } => "move in or out of tile memory",
    }
}

fn facts(frame: &Frame, capture: &Capture) -> Vec<(&'static str, String)> {
    let followed = match capture.followed() {
        Some(share) => format!("{:.1} % of the accessed bytes", (share * 1000.0).floor() / 10.0),
        None => format!(
            "{}; the size of other accesses is unknown",
            amount(capture.followed_bytes)
        ),
    };
    let decided = |decision| {
        let all = capture.resources.iter().filter(|facts| facts.decided == decision);
        all.count()
    };
    let lifetimes = match capture.compared {
        true => format!(
            "{} known from the frame, {} from the next one, {} assumed",
            decided(LifetimeEvidence::Frame),
            decided(LifetimeEvidence::NextFrame),
            decided(LifetimeEvidence::Assumed)
        ),
        false => format!(
            "{} known from the frame, {} assumed: no next frame was captured",
            decided(LifetimeEvidence::Frame),
            decided(LifetimeEvidence::Assumed) + decided(LifetimeEvidence::NextFrame)
        ),
    };
    let mut facts = vec![
        ("frame", which_frame(capture)),
        ("captured on", capture.device.clone()),
        ("passes", frame.passes().len().to_string()),
        ("followed", followed),
        ("lifetimes", lifetimes),
    ];
    facts.extend(times(frame, capture).map(|times| ("GPU time", times)));
    facts
}

/// Describes the measured GPU time of the frame and the passes that take the longest; `None` if no time was measured.
fn times(frame: &Frame, capture: &Capture) -> Option<String> {
    let passes = frame.passes().iter().zip(&capture.passes);
    let mut times: Vec<(u64, &str)> = passes
        .filter_map(|(pass, facts)| Some((facts.nanoseconds?, pass.name.as_str())))
        .collect();
    let all = times
        .iter()
        .fold(0u64, |all, (time, _)| all.saturating_add(*time));
    times.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
    let milliseconds = |time: u64| format!("{:.2} ms", time as f64 / 1e6);
    let longest = times.iter().take(MAX_TIMES);
    let longest: Vec<String> = longest
        .map(|(time, name)| format!("`{name}` {}", milliseconds(*time)))
        .collect();
    let count = times.len();
    (count > 0).then(|| {
        format!(
            "{} in {}; the longest: {}",
            milliseconds(all),
            counted(count as u64, "measured pass"),
            longest.join(", ")
        )
    })
}

/// Describes the captured frame and the reason that it was chosen.
fn which_frame(capture: &Capture) -> String {
    let number = capture.frame;
    if is_whole_run(capture) {
        return "all that the program submitted before it ended".to_owned();
    }
    let Some(choice) = &capture.choice else {
        return format!("{number}, as requested");
    };
    let count = choice.moved_bytes.len();
    if count == 0 {
        return format!("{number}: the program ended before a later frame could be captured");
    }
    let chosen = usize::try_from(number)
        .ok()
        .and_then(|at| choice.moved_bytes.get(at));
    let chosen = chosen.or(choice.moved_bytes.iter().max()).copied().unwrap_or(0);
    let light = choice
        .moved_bytes
        .iter()
        .filter(|bytes| **bytes < chosen / 2)
        .count();
    let skipped = match light {
        0 => String::new(),
        1 => "; 1 frame moves less than half as much".to_owned(),
        light => format!("; {light} frames move less than half as much"),
    };
    let repeated = choice.repeated_frames;
    match choice.is_repeated {
        true => format!(
            "{number}, the heaviest of {} ({count} captured){skipped}",
            counted(repeated, "repeating frame")
        ),
        false if count == 1 => {
            format!("{number}, the only captured frame")
        }
        false => {
            format!(
                "{number}, the heaviest of {count} frames, none of which is repeated by the next frame{skipped}"
            )
        }
    }
}

/// Returns sentences about everything that the device cannot run, or that was not followed, checked or measured.
fn limitations(frame: &Frame, capture: &Capture, cannot_run: &[String]) -> Vec<String> {
    let mut all: Vec<String> = cannot_run
        .iter()
        .map(|broken| format!("The device cannot run this frame as it is: {broken}."))
        .collect();
    all.extend(capture.unresolved.iter().map(|one| unfollowed(frame, one)));
    let assumed = capture.resources.iter().zip(frame.resource_ids());
    let assumed = assumed.filter(|(facts, _)| facts.decided == LifetimeEvidence::Assumed);
    let assumed: Vec<String> = assumed.map(|(_, id)| described(frame, id)).collect();
    if !assumed.is_empty() {
        let more = assumed.len().saturating_sub(MAX_RESOURCES);
        let listed = assumed
            .iter()
            .take(MAX_RESOURCES)
            .cloned()
            .collect::<Vec<_>>()
            .join("; ");
        let more = if more > 0 {
            format!("; and {more} more")
        } else {
            String::new()
        };
        let why = match capture.compared {
            true => "the next frame does not show whether they do",
            false => "no next frame was captured",
        };
        all.push(format!(
            "Later frames may read {listed}{more}: {why}, so the captured frame was assumed to repeat."
        ));
    }
    let times = match capture.passes.iter().any(|pass| pass.nanoseconds.is_some()) {
        true => "times are those of the device that the frame was captured on",
        false => {
            "time was not measured: `--timestamps` measures it, except in command buffers with SIMULTANEOUS_USE"
        }
    };
    all.push(format!(
        "Traffic is counted from the accesses of passes, as if there were no caches, compression or discarded fragments; {times}."
    ));
    all.push("Synchronization was not checked: `tileheap check-frame` checks the captured frame.".to_owned());
    all
}

/// Describes accesses that could not be followed, in one sentence.
fn unfollowed(frame: &Frame, one: &UnresolvedAccesses) -> String {
    let bytes = one.bytes.map_or("unknown size".to_owned(), |bytes| {
        format!("at most {}", amount(bytes))
    });
    let name = |pass: &u32| {
        let pass = frame.passes().get(*pass as usize);
        pass.map(|pass| format!("`{}`", pass.name))
    };
    let names: Vec<String> = one.passes.iter().filter_map(name).take(3).collect();
    let place = match names.is_empty() {
        true => String::new(),
        false => format!(", in {}", names.join(", ")),
    };
    let (kind, times, first) = (one.kind.words(), counted(one.count, "time"), &one.first);
    format!("Not followed: {kind}, {times}, of {bytes}{place}: {first}.")
}

#[cfg(test)]
mod tests;
