//! `tileheap advise`: what would bring more of a frame on chip; and sweeps over sizes.

use serde_json::{Value, json};
use tileheap::frame::{ResourceId, ResourceKind, names};
use tileheap::plan::{Advice, Change, ChangeKind, Fusion, Merge, Plan, advise, fusions, merges};

use crate::arguments::AdviseArguments;
use crate::failure::Failure;
use crate::gate::percent;
use crate::output::Output;
use crate::plan::{frame_of, plan_of, read_profile};
use crate::progress::Progress;

pub(crate) fn run(arguments: &AdviseArguments) -> Result<(), Failure> {
    let what = &arguments.what;
    if let Some(sweep) = arguments.sweep {
        return crate::sweep::run(what, sweep, arguments.json);
    }
    let imported = frame_of(what, what.how.size)?;
    let progress = Progress::new("planning", 0);
    let plan = plan_of(what, &imported, &read_profile(what)?)?;
    progress.say("trying what would help");
    let tried = Tried::of(&plan)?;
    drop(progress);
    if arguments.json {
        return Output::stdout().write(&format!("{:#}\n", document(&plan, &tried)));
    }
    let Tried {
        advice,
        fusions,
        merges,
    } = tried;
    let mut report = headline(&plan);
    report += "\nNot in tile memory\n";
    if advice.is_empty() {
        report += "  nothing that advice could help\n";
    }
    for advice in &advice {
        let name = &plan.frame.resource(advice.resource).name;
        report += &format!("  {name}: {}\n", plan.reason_in_words(advice.resource));
        report += &format!("      rule: {}\n", rule(&plan, advice));
        for change in &advice.changes {
            let Change { kind, saves } = change;
            report += &format!(
                "      {}: saves {saves} a frame\n",
                in_words(&plan, advice.resource, *kind)
            );
        }
        if advice.changes.is_empty() {
            report += "      no single change was found that brings it on chip\n";
        }
    }
    if !fusions.is_empty() {
        report += "\nBatches that could be one\n";
        for fusion in &fusions {
            let (first, last, saves) = (fusion.first.index(), fusion.last.index(), fusion.saves);
            let between = if last == first + 1 { "and" } else { "to" };
            report += &format!("  batches {first} {between} {last}: saves {saves} a frame\n");
        }
    }
    if !merges.is_empty() {
        report += "\nRender passes that could be one, reading the same pixel inside it\n";
        for merge in &merges {
            let pass = |index: usize| plan.described().passes()[index].name.as_str();
            let inside = merge
                .inside
                .iter()
                .map(|&id| plan.frame.resource(id).name.as_str());
            report += &format!(
                "  {} and {}: {} need no memory; frees {} of tile memory, saves {} a frame\n",
                pass(merge.first.index()),
                pass(merge.first.index() + 1),
                inside.collect::<Vec<_>>().join(", "),
                merge.frees,
                merge.saves
            );
        }
    }
    Output::stdout().write_report(&report)
}

/// Everything that was tried on a plan.
struct Tried {
    advice: Vec<Advice>,
    fusions: Vec<Fusion>,
    merges: Vec<Merge>,
}

impl Tried {
    fn of(plan: &Plan) -> Result<Tried, Failure> {
        Ok(Tried {
            advice: advise(plan)?,
            fusions: fusions(plan)?,
            merges: merges(plan)?,
        })
    }
}

/// A plan as JSON with what would bring the rest on chip as its field `advice`.
pub(crate) fn with_advice(plan: &Plan) -> Result<Value, Failure> {
    let mut value: Value = serde_json::from_str(&plan.to_json())
        .map_err(|error| Failure::new(format!("the plan's own JSON: {error}")))?;
    value["advice"] = document(plan, &Tried::of(plan)?);
    Ok(value)
}

/// What was tried, as JSON.
fn document(plan: &Plan, tried: &Tried) -> Value {
    let resources = tried.advice.iter().map(|advice| {
        json!({
            "resource": plan.frame.resource(advice.resource).name,
            "constraint": plan.reason_in_words(advice.resource),
            "rule": rule(plan, advice),
            "changes": advice.changes.iter().map(|change| json!({
                "change": in_words(plan, advice.resource, change.kind),
                "saves_bytes": change.saves.0,
            })).collect::<Vec<_>>(),
        })
    });
    let batches = tried.fusions.iter().map(|fusion| {
        json!({ "first": fusion.first.index(), "last": fusion.last.index(), "saves_bytes": fusion.saves.0 })
    });
    let passes = tried.merges.iter().map(|merge| {
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

/// The rule that keeps a resource out, with its VUID where it has one.
fn rule(plan: &Plan, advice: &Advice) -> &'static str {
    advice
        .constraint
        .rule(plan.frame.resource(advice.resource).is_image())
}

fn headline(plan: &Plan) -> String {
    let (kept, eligible) = (plan.totals.on_chip_bytes, plan.totals.eligible_bytes);
    format!(
        "Frame `{}` on {}: {kept} of {eligible} of eligible traffic stay on chip, {}\n",
        plan.frame.name(),
        plan.profile.name,
        percent(kept.0, eligible.0)
    )
}

fn texels(width: u32, height: u32) -> u64 {
    u64::from(width) * u64::from(height)
}

fn in_words(plan: &Plan, resource: ResourceId, change: ChangeKind) -> String {
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
        ChangeKind::WithoutUse(pass) => format!("without its use in `{}`", plan.described().pass(pass).name),
        ChangeKind::Stored(pass) => format!(
            "stored by a pass of its own after `{}`, and read from ordinary memory from then on",
            plan.described().pass(pass).name
        ),
        ChangeKind::Fused(batch) => {
            let first = batch.index();
            format!("batches {first} and {} submitted as one", first + 1)
        }
        _ => "another change".to_owned(),
    }
}
