//! Changes that would keep more of a frame on chip: the search, and its result as JSON.

use serde_json::{Value, json};
use tileheap::frame::ResourceId;
use tileheap::frame::tables::ResourceKind;
use tileheap::names;
use tileheap::plan::Plan;
use tileheap::plan::advise::{ChangeKind, Fusion, Merge, advise, fusions, merges};

use crate::error::{Error, Result};
use crate::values::percent;

/// All changes that help a plan.
pub(crate) struct Advice {
    pub(crate) resources: Vec<tileheap::plan::advise::Advice>,
    pub(crate) fusions: Vec<Fusion>,
    pub(crate) merges: Vec<Merge>,
}

impl Advice {
    /// Plans the frame again with each change.
    pub(crate) fn of(plan: &Plan) -> Result<Advice> {
        Ok(Advice {
            resources: advise(plan)?,
            fusions: fusions(plan)?,
            merges: merges(plan)?,
        })
    }
}

/// A plan as JSON with its advice in the field `advice`.
pub(crate) fn with_advice(plan: &Plan) -> Result<Value> {
    let mut value: Value = serde_json::from_str(&plan.to_json())
        .map_err(|error| Error::new(format!("the plan's own JSON: {error}")))?;
    value["advice"] = document(plan, &Advice::of(plan)?);
    Ok(value)
}

/// The advice as JSON.
pub(crate) fn document(plan: &Plan, advice: &Advice) -> Value {
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
    let batches = advice.fusions.iter().map(|fusion| {
        json!({ "first": fusion.first.index(), "last": fusion.last.index(), "saves_bytes": fusion.saves.0 })
    });
    let passes = advice.merges.iter().map(|merge| {
        json!({
            "first": plan.described().pass(merge.first).name,
            "second": plan.described().passes()[merge.first.index() + 1].name,
            "inside": merge.inside.iter().map(|&id| plan.frame.resource(id).name.as_str()).collect::<Vec<_>>(),
            "frees_bytes": merge.frees.0,
            "saves_bytes": merge.saves.0,
        })
    });
    json!({
        "format": "tileheap-advice",
        "version": 1,
        "resources": resources.collect::<Vec<Value>>(),
        "fusions": batches.collect::<Vec<Value>>(),
        "merges": passes.collect::<Vec<Value>>(),
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
