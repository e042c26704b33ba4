//! Changes that would keep more of a frame on chip: the search, and its result as JSON.

use serde_json::{Value, json};
use tileheap::arrange::{Arranged, Found};
use tileheap::frame::ResourceId;
use tileheap::frame::tables::ResourceKind;
use tileheap::names;
use tileheap::plan::Plan;
use tileheap::plan::advise::{ChangeKind, advise};

use super::arrange::{ArrangedPlan, Limits, caps_document, document as arrangement_document, gain};
use crate::error::{Error, Result};
use crate::values::percent;

/// All changes that help a plan, and other ways to run the frame.
pub(crate) struct Advice {
    /// The largest share on chip first.
    pub(crate) combinations: Vec<Combination>,
    /// With all that is allowed.
    pub(crate) all: Found,
    pub(crate) resources: Vec<tileheap::plan::advise::Advice>,
}

/// Another way to run a frame.
pub(crate) struct Combination {
    /// What the search was allowed.
    pub(crate) kinds: Vec<&'static str>,
    pub(crate) found: Found,
    pub(crate) arranged: Arranged,
}

/// At most so many combinations are told.
const COMBINATIONS: usize = 5;

/// Searches with each kind of change alone, with all but strips, and with all; drops what gains nothing or another has already.
fn combinations(plan: &Plan, limits: &Limits) -> Result<(Vec<Combination>, Found)> {
    let all = limits.kinds();
    let mut sets: Vec<Vec<&'static str>> = all.iter().map(|&kind| vec![kind]).collect();
    let whole = all.iter().copied().filter(|kind| *kind != "strips");
    sets.extend([whole.collect(), all.clone()]);
    sets.dedup();
    let best = limits.search(plan, &all);
    let mut combinations: Vec<Combination> = Vec::new();
    for kinds in sets {
        let found = limits.search(plan, &kinds);
        let mut others = combinations.iter().map(|other| &other.found.arrangement);
        if gain(&found) > 0 && !others.any(|other| *other == found.arrangement) {
            let arranged = found.arrangement.apply(plan.described())?;
            combinations.push(Combination {
                kinds,
                found,
                arranged,
            });
        }
    }
    combinations.sort_by_key(|one| std::cmp::Reverse(gain(&one.found)));
    combinations.truncate(COMBINATIONS);
    Ok((combinations, best))
}

impl Advice {
    /// Searches for other ways to run the described frame, and plans the planned one again with each change.
    pub(crate) fn of(described: &Plan, plan: &Plan, limits: &Limits) -> Result<Advice> {
        let (combinations, all) = combinations(described, limits)?;
        Ok(Advice {
            combinations,
            all,
            resources: advise(plan)?,
        })
    }
}

/// A plan as JSON, with its advice in the field `advice`, and how it is arranged in the field `arrangement`.
pub(crate) fn with_advice(
    described: &Plan,
    arranged: Option<&ArrangedPlan<'_>>,
    limits: Option<&Limits>,
) -> Result<Value> {
    let plan = arranged.map_or(described, |arranged| &arranged.plan);
    let mut value: Value = serde_json::from_str(&plan.to_json())
        .map_err(|error| Error::new(format!("the plan's own JSON: {error}")))?;
    if let Some(limits) = limits {
        value["advice"] = document(described, plan, &Advice::of(described, plan, limits)?);
    }
    if let Some(arranged) = arranged {
        value["arrangement"] = arranged.document();
    }
    Ok(value)
}

/// The advice as JSON.
pub(crate) fn document(described: &Plan, plan: &Plan, advice: &Advice) -> Value {
    let combinations = advice.combinations.iter().map(|one| {
        let mut value = arrangement_document(described, &one.found, &one.arranged);
        value["allow"] = one.kinds.as_slice().into();
        value
    });
    let resources = advice.resources.iter().map(|of_resource| {
        json!({
            "resource": plan.frame.resource(of_resource.resource).name,
            "constraint": plan.reason_text(of_resource.resource),
            "rule": rule(plan, of_resource),
            "changes": of_resource.changes.iter().map(|change| json!({
                "change": in_words(plan, of_resource.resource, change.kind),
                "saves_bytes": change.saves.0,
            })).collect::<Vec<_>>(),
        })
    });
    json!({
        "format": "tileheap-advice",
        "version": 1,
        "combinations": combinations.collect::<Vec<Value>>(),
        "cap": advice.all.cap(),
        "caps": caps_document(described, &advice.all),
        "resources": resources.collect::<Vec<Value>>(),
    })
}

/// The rule that excludes a resource, with its VUID if it has one.
pub(crate) fn rule(plan: &Plan, advice: &tileheap::plan::advise::Advice) -> &'static str {
    advice
        .constraint
        .rule(plan.frame.resource(advice.resource).is_image())
}

fn texels(width: u32, height: u32) -> u64 {
    u64::from(width) * u64::from(height)
}

/// A change in words.
pub(crate) fn in_words(plan: &Plan, resource: ResourceId, change: ChangeKind) -> String {
    match change {
        ChangeKind::Format(format) => format!("format {}", names::name_of(format)),
        ChangeKind::Extent(new) => match &plan.described().resource(resource).kind {
            ResourceKind::Image { extent, .. } => format!(
                "extent {} x {}, {} of the texels of {} x {}",
                new.width,
                new.height,
                percent(texels(new.width, new.height), texels(extent.width, extent.height)),
                extent.width,
                extent.height
            ),
            ResourceKind::Buffer { .. } => unreachable!("buffers have no extent"),
        },
        ChangeKind::WithoutUse(pass) => format!("not used in `{}`", plan.described().pass(pass).name),
        ChangeKind::Stored(pass) => format!(
            "split after `{}`: stored there, and read from ordinary memory afterwards",
            plan.described().pass(pass).name
        ),
        ChangeKind::Fused(batch) => {
            let first = batch.index();
            format!("batches {first} and {} fused", first + 1)
        }
        _ => "other change".to_owned(),
    }
}
