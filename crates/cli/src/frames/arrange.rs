//! Arrangements of a frame: searched for or read from a file, applied, and described as text.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{ArgGroup, Args, ValueHint};
use serde_json::{Value, json};
use tileheap::Checked;
use tileheap::arrange::{
    self, ArrangeError, Arrangement, ArrangementCosts, CannotGroup, DescriptionChange, GroupMode,
    SearchOptions, SearchResult, UngroupedPass,
};
use tileheap::execute::ExecutedFrame;
use tileheap::frame::import::ImportedFrame;
use tileheap::frame::{Frame, PassId, ResourceId};
use tileheap::plan::{Plan, Traffic};
use tileheap::units::Bytes;

use super::limits::{caps_document, crowded_document, limits_in_words, shortfalls_document};
use super::plan::{FrameOptions, of_parts};
use crate::error::{Error, Result};
use crate::input::{read_text, shown};
use crate::interrupt::{interruptible, is_interrupted};
use crate::output::Output;
use crate::progress::Progress;
use crate::values::{Budget, named, parse_factor, parse_repeat_cost, parse_time, share};

/// The changes that a search for arrangements may make, their costs, and the limits of the search.
#[derive(Clone, Debug, Args)]
pub(crate) struct Limits {
    /// Changes that the search for arrangements may make, separated by commas [default: order,merge,fuse,strips]
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = named(KINDS, |kind| kind.0, Some(|kind| kind.1)))]
    allow: Option<Vec<(&'static str, &'static str)>>,
    /// Maximum number of texels that passes compute, relative to the frame as described; strips with halos compute some texels repeatedly, so they
    /// need more than 1 [default: 1.5]
    #[arg(long, value_name = "FACTOR", value_parser = parse_factor)]
    shaded: Option<f64>,
    /// Cost of each additional execution of a pass, in bytes of traffic; replaces the measured and declared costs, but passes that declare 0
    /// stay free; at most 1 TiB
    #[arg(long, value_name = "SIZE", value_parser = parse_repeat_cost)]
    pub(crate) repeat_cost: Option<Bytes>,
    /// Limit each search for arrangements to a time: 500ms, 2s. The result then depends on the machine
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time: Option<Duration>,
    /// Limit each phase of a search for arrangements to a number of evaluated arrangements; `none` for no limit [default: 20000]
    #[arg(long, value_name = "STEPS")]
    search_steps: Option<Budget>,
}

/// Options to arrange a frame before it is planned.
#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("arranged").args(["best", "arrangement"]))]
pub(crate) struct ArrangeOptions {
    /// Search for a better arrangement of the frame (passes reordered, merged or run in strips, batches fused), and plan that
    #[arg(long)]
    best: bool,
    /// Plan the frame in a saved arrangement, which is adapted if the frame has changed
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    arrangement: Option<PathBuf>,
    /// Write the arrangement to a file, as JSON
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "arranged")]
    save_arrangement: Option<PathBuf>,
    /// Also start the search from a saved arrangement, such as one found at another size or with other limits; may be repeated
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "best")]
    start_from: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// The kinds of changes, each with a description.
const KINDS: [(&str, &str); 7] = [
    ("order", "Reorder passes"),
    ("merge", "Merge render passes"),
    ("fuse", "Fuse consecutive batches of a queue into one batch"),
    ("strips", "Run passes strip by strip"),
    (
        "format",
        "Use narrower formats; color and depth channels of more than 10 bits keep at least 10, alpha may be narrowed to 2 bits or dropped",
    ),
    (
        "extent",
        "Shrink images, and those attached with them, to three quarters or half of their width and height",
    ),
    ("usage", "Remove a use that keeps a resource off chip"),
];

impl Limits {
    /// The allowed kinds of changes, in the order of [`KINDS`].
    pub(crate) fn kinds(&self) -> Vec<&'static str> {
        let given = self.allow.as_deref().unwrap_or(&KINDS[..4]);
        let kinds = KINDS.into_iter().filter(|kind| given.contains(kind));
        kinds.map(|kind| kind.0).collect()
    }

    /// Returns true if any limit is set that only a search uses.
    fn has_search_limits(&self) -> bool {
        self.allow.is_some() || self.shaded.is_some() || self.time.is_some() || self.search_steps.is_some()
    }

    /// Fails if options that limit a search are given, but `search` is false.
    pub(crate) fn require(&self, search: bool) -> Result<()> {
        let given = self.has_search_limits() || self.repeat_cost.is_some();
        match given && !search {
            true => Err(Error::usage(
                "--allow, --shaded, --repeat-cost, --time and --search-steps limit a search: give --best",
            )),
            false => Ok(()),
        }
    }

    /// The same limits, with another cost of repeating a pass.
    pub(crate) fn at_repeat_cost(&self, cost: Bytes) -> Limits {
        Limits {
            repeat_cost: Some(cost),
            ..self.clone()
        }
    }

    /// The costs that were measured on the device, or else the assumed ones; `--repeat-cost` replaces the cost of repeating a pass.
    pub(crate) fn costs(&self, plan: &Plan) -> ArrangementCosts {
        let costs = ArrangementCosts::of(&plan.profile);
        ArrangementCosts {
            repeat: self.repeat_cost.or(costs.repeat),
            ..costs
        }
    }

    /// Searches with these kinds of changes, starting also from the arrangements in `others`; Ctrl-C ends the search with the best arrangement so far.
    pub(crate) fn search(&self, plan: &Plan, kinds: &[&str], others: &[Arrangement]) -> SearchResult {
        let defaults = SearchOptions::default();
        let allowed = SearchOptions {
            order: kinds.contains(&"order"),
            merge: kinds.contains(&"merge"),
            fuse: kinds.contains(&"fuse"),
            strips: kinds.contains(&"strips"),
            format: kinds.contains(&"format"),
            extent: kinds.contains(&"extent"),
            usage: kinds.contains(&"usage"),
            shaded: self.shaded.unwrap_or(defaults.shaded),
            costs: self.costs(plan),
            steps: self.search_steps.map_or(defaults.steps, |steps| steps.0),
        };
        let progress = Progress::new("searching for arrangements", 0);
        let end = self.time.map(|time| Instant::now() + time);
        let mut watch = |traffic: &Traffic| {
            let share = share(traffic.share());
            progress.set_message(format!("searching for arrangements, {share} on chip so far"));
            match is_interrupted() || end.is_some_and(|end| Instant::now() >= end) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        interruptible(|| arrange::search_from(plan, &allowed, others, &mut watch))
    }
}

/// The plan of a frame as described, from which searches for arrangements start.
#[derive(Clone, Copy)]
pub(crate) struct DescribedPlan<'a> {
    pub(crate) options: &'a FrameOptions,
    pub(crate) imported: &'a ImportedFrame,
    pub(crate) plan: &'a Checked<Plan>,
}

/// A frame in another arrangement, and its plan.
pub(crate) struct ArrangedPlan<'a> {
    described: DescribedPlan<'a>,
    /// The arrangement, with the traffic of its plan.
    pub(crate) found: SearchResult,
    pub(crate) arranged: ExecutedFrame,
    pub(crate) plan: Checked<Plan>,
    /// Parts of a saved arrangement that the frame no longer allows.
    not_kept: Vec<String>,
}

impl<'a> ArrangedPlan<'a> {
    /// The described frame and its plan, from before the rearrangement.
    pub(crate) fn described(&self) -> DescribedPlan<'a> {
        self.described
    }

    /// The frame that was rearranged: the described one, in which each value of a resource is separate.
    pub(crate) fn described_frame(&self) -> &Frame {
        self.described.plan.input.frame()
    }

    /// The resource of the described frame that a resource of the arranged one is a part of.
    pub(crate) fn described_resource(&self, id: ResourceId) -> ResourceId {
        let origin = self.arranged.origins().resource(id).resource;
        match self.found.arrangement.changes.is_empty() {
            true => origin,
            false => self.described.plan.input.origins().resource(origin).resource,
        }
    }
}

impl ArrangeOptions {
    /// Options that request a search within limits.
    pub(crate) fn best(limits: Limits) -> ArrangeOptions {
        ArrangeOptions {
            best: true,
            arrangement: None,
            save_arrangement: None,
            start_from: Vec::new(),
            limits,
        }
    }

    /// Arranges the frame as the options request, plans it, and saves the arrangement if requested; `None` if the options request no arrangement.
    pub(crate) fn arrange<'a>(
        &self,
        options: &'a FrameOptions,
        imported: &'a ImportedFrame,
        plan: &'a Checked<Plan>,
    ) -> Result<Option<ArrangedPlan<'a>>> {
        let described = DescribedPlan {
            options,
            imported,
            plan,
        };
        let frame = plan.input.frame();
        let planned = match &self.arrangement {
            None if !self.best => return Ok(None),
            None => {
                let others = self.start_from.iter().map(|path| {
                    let text = read_text(path, "arrangement")?;
                    let read = read_repaired(&text, frame);
                    let (arrangement, _) = read.map_err(|error| Error::of(shown(path), error))?;
                    Ok(arrangement)
                });
                let others: Vec<Arrangement> = others.collect::<Result<_>>()?;
                described.searched(&self.limits, &self.limits.kinds(), &others)?
            }
            Some(path) => {
                let text = read_text(path, "arrangement")?;
                let read = read_repaired(&text, frame);
                let (arrangement, not_kept) = read.map_err(|error| Error::of(shown(path), error))?;
                let found = SearchResult::of(plan, arrangement, self.limits.costs(plan));
                described.planned(found.map_err(tileheap::Error::from)?, not_kept)?
            }
        };
        if let Some(path) = &self.save_arrangement {
            let text = planned.found.arrangement.to_json(frame);
            Output::to(Some(path.clone())).write(&text)?;
        }
        Ok(Some(planned))
    }

    /// Fails if options that limit a search are given, but no search is requested. `--repeat-cost` is also allowed with a saved arrangement.
    pub(crate) fn require_search(&self) -> Result<()> {
        let saved = self.arrangement.is_some() && !self.limits.has_search_limits();
        self.limits.require(self.best || saved)
    }
}

impl<'a> DescribedPlan<'a> {
    /// Plans the best arrangement that a search with these kinds of changes finds; falls back to the frame as described if that plan moves more bytes.
    pub(crate) fn searched(
        self,
        limits: &Limits,
        kinds: &[&str],
        others: &[Arrangement],
    ) -> Result<ArrangedPlan<'a>> {
        let planned = self.planned(limits.search(self.plan, kinds, others), Vec::new())?;
        if planned.found.traffic.off_chip() <= planned.found.described.off_chip() {
            return Ok(planned);
        }
        let start = Arrangement::described(self.plan.input.frame());
        let found = SearchResult::of(self.plan, start, limits.costs(self.plan));
        self.planned(found.map_err(tileheap::Error::from)?, Vec::new())
    }

    /// Plans the frame in the arrangement that was found.
    pub(super) fn planned(self, mut found: SearchResult, not_kept: Vec<String>) -> Result<ArrangedPlan<'a>> {
        let (described, imported) = (self.plan, self.imported);
        let arranged = found.apply(described)?;
        // The claims and texel sizes in the file are those of the frame as described, or of its parts if the arrangement changes their description.
        let keeps = found.arrangement.changes.is_empty();
        let (claims, mut raw_texel_bytes) = match keeps {
            true => (imported.claims.clone(), imported.raw_texel_bytes.clone()),
            false => (
                of_parts(&described.input, &imported.claims),
                of_parts(&described.input, &imported.raw_texel_bytes),
            ),
        };
        for change in &found.arrangement.changes {
            // A new format has its own texel size.
            if let DescriptionChange::Format { image, .. } = change {
                raw_texel_bytes[image.index()] = 0;
            }
        }
        let imported = ImportedFrame {
            frame: arranged.described().clone(),
            claims,
            raw_texel_bytes,
            notes: Vec::new(),
        };
        let _progress = Progress::new("planning", 0);
        let plan = self
            .options
            .plan_executed(&arranged, &imported, &described.profile)?;
        found.planned(&plan);
        Ok(ArrangedPlan {
            described: self,
            found,
            arranged,
            plan,
            not_kept,
        })
    }
}

/// Reads a saved arrangement as far as it fits a frame; also returns the parts that do not fit.
///
/// # Errors
/// If the text is not an arrangement, or belongs to another frame.
fn read_repaired(text: &str, frame: &Frame) -> Result<(Arrangement, Vec<String>), ArrangeError> {
    let (repaired, lost) = Arrangement::from_json_lossy(text, frame)?;
    let why = Arrangement::from_json(text, frame)
        .err()
        .map(|why| format!("repaired: {why}"));
    let notes = lost.iter().map(|error| format!("not kept: {error}"));
    Ok((repaired, why.into_iter().chain(notes).collect()))
}

/// Bytes that an arrangement saves, before charges.
fn saves(found: &SearchResult) -> Bytes {
    Bytes(found.described.moved.0.saturating_sub(found.traffic.moved.0))
}

/// Bytes that an arrangement saves, minus its charges.
pub(crate) fn gain(found: &SearchResult) -> i64 {
    found.described.off_chip().0 as i64 - found.traffic.off_chip().0 as i64
}

/// A list of names in words: `a`, `b` and `c`.
fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// The changes that an arrangement requires in the program, one per entry.
pub(crate) fn changes(frame: &Frame, arrangement: &Arrangement, arranged: &ExecutedFrame) -> Vec<String> {
    let name = |pass: PassId| frame.pass(pass).name.as_str();
    let described = arrangement.changes.iter();
    let mut changes: Vec<String> = described.map(|change| change.in_words(frame)).collect();
    for batch in &arrangement.batches {
        let (first, last) = (batch.batches.first, batch.batches.end - 1);
        if first < last {
            let between = if last == first + 1 { "and" } else { "to" };
            changes.push(format!("submit batches {first} {between} {last} as one"));
        }
    }
    let order: Vec<PassId> = arrangement.passes().collect();
    for at in moved(&order) {
        let pass = order[at];
        changes.push(match at.checked_sub(1) {
            Some(before) => format!("run `{}` after `{}`", name(pass), name(order[before])),
            None => format!("run `{}` first", name(pass)),
        });
    }
    for group in arrangement.groups() {
        let passes: Vec<&str> = group.passes.iter().map(|&pass| name(pass)).collect();
        match group.mode {
            GroupMode::Once => {}
            GroupMode::Merged => changes.push(format!(
                "merge {} into one render pass, by local read or as subpasses",
                list(&passes)
            )),
            GroupMode::Strips(grid) => {
                let halo = |pass| {
                    let runs = arranged.executed_passes(pass).next();
                    runs.and_then(|id| arranged.strip(id))
                        .map_or(0, |strip| strip.halo)
                };
                let halos = group.passes.iter().map(|&pass| (name(pass), halo(pass)));
                let halos: Vec<String> = halos
                    .filter(|(_, halo)| *halo > 0)
                    .map(|(name, halo)| format!("`{name}` {halo}"))
                    .collect();
                let halos = match halos.is_empty() {
                    true => "no halo".to_owned(),
                    false => format!("halo in texels: {}", halos.join(", ")),
                };
                let (columns, rows) = (grid.columns, grid.rows);
                let borders = group
                    .borders
                    .iter()
                    .map(|&image| frame.resource(image).name.as_str());
                let borders = match &borders.collect::<Vec<_>>()[..] {
                    [] => String::new(),
                    images => format!(", and copy {} at the border of each strip", list(images)),
                };
                changes.push(format!(
                    "run {} in a grid of {columns} x {rows} strips ({halos}){borders}",
                    list(&passes)
                ));
            }
        }
    }
    changes
}

/// The positions outside the longest increasing subsequence of an order (the first one on a tie). Takes O(n²) time.
fn moved<T: Ord>(order: &[T]) -> Vec<usize> {
    let mut longest: Vec<(usize, Option<usize>)> = Vec::new();
    for (here, pass) in order.iter().enumerate() {
        let before = (0..here).filter(|&before| &order[before] < pass);
        let best = before.max_by_key(|&before| (longest[before].0, std::cmp::Reverse(before)));
        longest.push((best.map_or(1, |best| longest[best].0 + 1), best));
    }
    let mut is_moved = vec![true; order.len()];
    let mut kept = (0..order.len()).max_by_key(|&end| (longest[end].0, std::cmp::Reverse(end)));
    while let Some(here) = kept {
        is_moved[here] = false;
        kept = longest[here].1;
    }
    (0..order.len()).filter(|&at| is_moved[at]).collect()
}

/// Savings and costs in words: `saves 1 B per frame, costs 2 B for halos, computes 1.20 times as many texels as described`.
pub(crate) fn figures(found: &SearchResult) -> String {
    let mut words = format!("saves {} per frame", saves(found));
    for (bytes, what) in [
        (found.traffic.repeats, "repeated passes"),
        (found.traffic.halos, "halos"),
        (found.traffic.merges, "merged passes"),
    ] {
        if bytes > Bytes::ZERO {
            words += &format!(", costs {bytes} for {what}");
        }
    }
    words
        + &format!(
            ", computes {:.2} times as many texels as described",
            found.traffic.shaded
        )
}

impl ArrangedPlan<'_> {
    /// Savings and costs of the arrangement, as JSON.
    pub(crate) fn figures_document(&self) -> Value {
        let (frame, found) = (self.described_frame(), &self.found);
        let traffic = found.traffic;
        // Its own text is JSON.
        let arrangement: Value = serde_json::from_str(&found.arrangement.to_json(frame)).unwrap_or_default();
        json!({
            "share": traffic.share(),
            "traffic_bytes": traffic.described.0,
            "off_chip_bytes": traffic.moved.0,
            "saves_bytes": saves(found).0,
            "repeats_bytes": traffic.repeats.0,
            "halos_bytes": traffic.halos.0,
            "merges_bytes": traffic.merges.0,
            "shaded": traffic.shaded,
            "shortfalls": shortfalls_document(self.described.plan, found),
            "changes": changes(frame, &found.arrangement, &self.arranged),
            "arrangement": arrangement,
        })
    }

    /// The arrangement as JSON, with the description that it starts from.
    pub(crate) fn document(&self) -> Value {
        let frame = self.described_frame();
        let described = Arrangement::described(frame).to_json(frame);
        let mut value = self.figures_document();
        value["described_share"] = self.found.described.share().into();
        value["cap"] = self.found.cap().into();
        value["caps"] = caps_document(self.described.plan, &self.found);
        value["crowded"] = crowded_document(self.described.plan, &self.found);
        value["fixed_bytes"] = self.found.fixed.0.into();
        let named = |why: Option<CannotGroup>| why.map(|why| why.to_string());
        let alone = self.ungrouped().into_iter();
        let alone = alone.map(|one| {
            json!({ "pass": frame.pass(one.pass).name, "strips": named(one.strips), "merge": named(one.merge) })
        });
        value["alone"] = alone.collect();
        value["not_kept"] = self.not_kept.as_slice().into();
        value["described"] = serde_json::from_str(&described).unwrap_or_default();
        value
    }

    /// The passes that are in no group, with the reasons.
    fn ungrouped(&self) -> Vec<UngroupedPass> {
        let arrangement = &self.found.arrangement;
        let frame = arrangement.description(self.described_frame());
        frame.map_or_else(|_| Vec::new(), |frame| arrangement.ungrouped(&frame))
    }

    /// The first section of a report: the arrangement, its savings and its costs.
    pub(crate) fn text(&self) -> String {
        let frame = self.described_frame();
        let (arrangement, described, traffic) =
            (&self.found.arrangement, self.found.described, self.found.traffic);
        let mut report = format!(
            "Arrangement: {} {}, {} as described, cap {}\n",
            share(traffic.share()),
            traffic_kept(arrangement),
            share(described.share()),
            share(self.found.cap())
        );
        for note in &self.not_kept {
            report += &format!("  {note}\n");
        }
        report += &format!(
            "  {} of {} off chip, {} as described: {}\n",
            traffic.moved,
            traffic.described,
            described.moved,
            figures(&self.found)
        );
        if traffic.charges() > Bytes::ZERO && self.described.plan.profile.costs.is_none() {
            report += "  the costs of repeats, halos and merged passes are assumed: no device was measured\n";
        }
        let changes = changes(frame, arrangement, &self.arranged);
        if changes.is_empty() {
            report += "  as described: no allowed change keeps more on chip\n";
        } else {
            for line in arrangement.in_words(frame).lines() {
                report += &format!("  {line}\n");
            }
            report += "  changes\n";
        }
        for change in changes {
            report += &format!("    {change}\n");
        }
        let ungrouped = self.ungrouped();
        let name = |one: &UngroupedPass| frame.pass(one.pass).name.as_str();
        let strips = ungrouped.iter().map(|one| (name(one), one.strips.as_ref()));
        report += &by_reason("passes that do not run in strips", strips);
        let merges = ungrouped.iter().map(|one| (name(one), one.merge.as_ref()));
        report += &by_reason("passes that are not merged", merges);
        for line in limits_in_words(self.described.plan, &self.found).lines() {
            report += &format!("  {line}\n");
        }
        report + "\n"
    }
}

/// Lists passes under a title; those with the same reason share a line.
fn by_reason<'a>(title: &str, passes: impl Iterator<Item = (&'a str, Option<&'a CannotGroup>)>) -> String {
    let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
    for (pass, why) in passes {
        let why = match why {
            None => "possible, but saves no more than it costs".to_owned(),
            Some(CannotGroup::NotDeclared(_)) => {
                "support for strips is not declared (`PassBuilder::in_strips`, in JSON `repeat_bytes`)"
                    .to_owned()
            }
            Some(why) => why.to_string(),
        };
        match lines.iter_mut().find(|line| line.0 == why) {
            Some(line) => line.1.push(pass),
            None => lines.push((why, vec![pass])),
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    let lines = lines
        .iter()
        .map(|(why, passes)| format!("    {}: {why}\n", passes.join(", ")));
    format!("  {title}\n{}", lines.collect::<String>())
}

/// The name of the traffic that an arrangement keeps from memory: smaller images remove traffic, instead of keeping it on chip.
pub(crate) fn traffic_kept(arrangement: &Arrangement) -> &'static str {
    let shrinks = |change: &DescriptionChange| !matches!(change, DescriptionChange::Use { .. });
    match arrangement.changes.iter().any(shrinks) {
        true => "of traffic on chip or saved by smaller images",
        false => "of traffic on chip",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_passes_are_those_that_leave_the_described_order() {
        assert_eq!(moved(&[0, 1, 2]), [0; 0]);
        assert_eq!(moved(&[0, 3, 1, 2, 4]), [1]);
        assert_eq!(moved(&[1, 2, 3, 0]), [3]);
    }
}
