//! Combinations of changes that would keep more of a frame on chip, and the limits on the rest: the search, and its result as JSON.

use serde_json::{Value, json};
use tileheap::arrange::SearchResult;
use tileheap::frame::ResourceId;
use tileheap::plan::{OffChipReason, PlacementReason, Plan};

use super::arrange::{ArrangedPlan, DescribedPlan, Limits, gain};
use super::limits::{caps_document, crowded_document};
use crate::error::{Error, Result};
use crate::interrupt::is_interrupted;

/// The best combinations of changes to a frame, and the resources that its plan keeps out of tile memory.
pub(crate) struct Advice<'a> {
    /// Combinations of changes, in descending order of the bytes that they save, minus their charges.
    pub(crate) combinations: Vec<Combination<'a>>,
    /// The result of the search with all allowed changes that leave the description unchanged.
    pub(crate) as_described: SearchResult,
    /// Resources that a change could move into tile memory, with the rule or limit that keeps them out.
    pub(crate) kept_out: Vec<(ResourceId, &'static str)>,
}

/// A combination of changes that the search may make, and the best plan that it found with them.
pub(crate) struct Combination<'a> {
    /// The kinds of changes that the search was allowed to make.
    pub(crate) kinds: Vec<&'static str>,
    pub(crate) planned: ArrangedPlan<'a>,
}

/// Maximum number of combinations in a report.
const COMBINATIONS: usize = 5;

/// Searches with each kind of change by itself, with all kinds except strips, with those that leave the description unchanged, and with all. Returns the
/// best [`COMBINATIONS`] of them, and the result of the search that leaves the description unchanged. Omits combinations without a gain, and those that
/// lead to the same arrangement as an earlier one. Once interrupted, returns those found so far.
fn combinations<'a>(
    described: DescribedPlan<'a>,
    limits: &Limits,
) -> Result<(Vec<Combination<'a>>, SearchResult)> {
    let all = limits.kinds();
    let mut sets: Vec<Vec<&'static str>> = all.iter().map(|&kind| vec![kind]).collect();
    let whole = all.iter().copied().filter(|kind| *kind != "strips");
    let description = ["format", "extent", "usage"];
    let as_described = all.iter().copied().filter(|kind| !description.contains(kind));
    let as_described: Vec<_> = as_described.collect();
    sets.extend([whole.collect(), as_described.clone(), all.clone()]);
    sets.retain(|kinds| !kinds.is_empty());
    sets.dedup();
    let first = described.searched(limits, &as_described, &[])?;
    let best = first.found.clone();
    let others = [best.arrangement.clone()];
    let mut combinations: Vec<Combination<'a>> = Vec::new();
    let mut add = |kinds: Vec<&'static str>, planned: ArrangedPlan<'a>| {
        let is_known = combinations
            .iter()
            .map(|other| &other.planned.found.arrangement)
            .any(|other| *other == planned.found.arrangement);
        if gain(&planned.found) > 0 && !is_known {
            combinations.push(Combination { kinds, planned });
        }
    };
    for kinds in sets {
        if is_interrupted() {
            break;
        }
        let planned = described.searched(limits, &kinds, &others)?;
        add(kinds, planned);
    }
    if is_interrupted() {
        add(as_described, first);
    }
    combinations.sort_by_key(|one| std::cmp::Reverse(gain(&one.planned.found)));
    combinations.truncate(COMBINATIONS);
    Ok((combinations, best))
}

impl<'a> Advice<'a> {
    /// Searches for arrangements of the described frame, and lists the resources that the plan keeps out of tile memory although a change could move them
    /// there.
    pub(crate) fn of(described: DescribedPlan<'a>, plan: &Plan, limits: &Limits) -> Result<Advice<'a>> {
        let (combinations, as_described) = combinations(described, limits)?;
        let kept_out = plan.frame.resource_ids().filter_map(|id| {
            let (PlacementReason::Arena(why) | PlacementReason::Dedicated(why)) =
                plan.resources[id.index()].reason
            else {
                return None;
            };
            let is_final = matches!(
                why,
                OffChipReason::NoTileHeap
                    | OffChipReason::OnePass { .. }
                    | OffChipReason::Excluded { .. }
                    | OffChipReason::Stored { .. }
            );
            (!is_final).then(|| (id, why.rule(plan.frame.resource(id).is_image())))
        });
        Ok(Advice {
            combinations,
            as_described,
            kept_out: kept_out.collect(),
        })
    }
}

/// A plan as JSON, with advice in the field `advice` if there are `limits`, and the arrangement, if any, in the field `arrangement`.
pub(crate) fn with_advice(
    described: DescribedPlan<'_>,
    arranged: Option<&ArrangedPlan<'_>>,
    limits: Option<&Limits>,
) -> Result<Value> {
    let plan = arranged.map_or(described.plan, |arranged| &arranged.plan);
    let mut value: Value = serde_json::from_str(&plan.to_json())
        .map_err(|error| Error::new(format!("cannot read back the plan's JSON: {error}")))?;
    if let Some(limits) = limits {
        value["advice"] = document(described.plan, plan, &Advice::of(described, plan, limits)?);
    }
    if let Some(arranged) = arranged {
        value["arrangement"] = arranged.document();
    }
    Ok(value)
}

/// The advice as JSON.
pub(crate) fn document(described: &Plan, plan: &Plan, advice: &Advice<'_>) -> Value {
    let combinations = advice.combinations.iter().map(|one| {
        let mut value = one.planned.figures_document();
        value["allow"] = one.kinds.as_slice().into();
        value
    });
    let resources = advice.kept_out.iter().map(|&(id, rule)| {
        json!({
            "resource": plan.frame.resource(id).name,
            "constraint": plan.reason_text(id),
            "rule": rule,
        })
    });
    json!({
        "format": "tileheap-advice",
        "version": 2,
        "combinations": combinations.collect::<Vec<Value>>(),
        "cap": advice.as_described.cap(),
        "caps": caps_document(described, &advice.as_described),
        "crowded": crowded_document(described, &advice.as_described),
        "resources": resources.collect::<Vec<Value>>(),
    })
}
