//! Damage to tables, spans, versions, reasons and sums.

use tileheap::frame::Persistence;
use tileheap::plan::check::Rule;
use tileheap::plan::{ObjectId, PlacementReason, Plan, Totals};
use tileheap::units::{Bytes, Span};

use super::{name, placements_where, refused, uses};

#[test]
fn a_table_is_cut() {
    refused(
        |_| vec![()],
        |plan, ()| {
            plan.passes.pop();
        },
        |fault, ()| fault.rule == Rule::Length,
    );
}

#[test]
fn an_index_leads_nowhere() {
    refused(
        |plan| placements_where(plan, |_| true),
        |plan, &index| plan.placements[index].object = Some(ObjectId::new(plan.objects.len() as u32)),
        |fault, _| fault.rule == Rule::Index && fault.message.contains("of `objects`"),
    );
}

#[test]
fn a_span_is_cut_short() {
    let last = |plan: &Plan, index: usize| uses(plan, index).last().map(|access| access.pass.step().0);
    refused(
        |plan| placements_where(plan, |index| plan.placements[index].span.len() > 1),
        |plan, &index| plan.placements[index].span.end.0 = last(plan, index).unwrap(),
        |fault, _| fault.rule == Rule::SpanMissesUse,
    );
}

#[test]
fn a_span_leaves_the_frame() {
    refused(
        |plan| placements_where(plan, |_| true),
        |plan, &index| plan.placements[index].span.end.0 = plan.passes.len() as u32 + 1,
        |fault, _| fault.rule == Rule::SpanOutside,
    );
}

#[test]
fn a_reason_names_another_home() {
    refused(
        |plan| {
            let ids = plan.frame.resource_ids();
            ids.filter(|&id| {
                let transient = !matches!(plan.frame.resource(id).persistence, Persistence::External(_));
                transient && !plan.frame.uses_of(id).is_empty()
            })
            .collect()
        },
        |plan, id| plan.resources[id.index()].reason = PlacementReason::External,
        |fault, _| fault.rule == Rule::PlacementReason && fault.message.ends_with("external"),
    );
}

#[test]
fn an_unused_resource_gets_memory() {
    refused(
        |plan| placements_where(plan, |_| true),
        |plan, &index| {
            // Its copy at the end of the table belongs to nobody.
            let copy = plan.placements[index];
            plan.placements.push(copy);
        },
        |fault, _| fault.rule == Rule::Covered,
    );
}

#[test]
fn a_total_is_wrong() {
    type Field = (&'static str, fn(&mut Totals) -> &mut Bytes);
    let fields: [Field; 8] = [
        ("eligible_bytes", |totals| &mut totals.eligible_bytes),
        ("on_chip_bytes", |totals| &mut totals.on_chip_bytes),
        ("stored_bytes", |totals| &mut totals.stored_bytes),
        ("arena_bytes", |totals| &mut totals.arena_bytes),
        ("arena_bytes_without_aliasing", |totals| {
            &mut totals.arena_bytes_without_aliasing
        }),
        ("arena_peak_live", |totals| &mut totals.arena_peak_live),
        ("tile_peak_live", |totals| &mut totals.tile_peak_live),
        ("tile_bytes", |totals| &mut totals.tile_bytes),
    ];
    for (name, field) in fields {
        refused(
            |_| vec![()],
            |plan, ()| *field(&mut plan.totals) += Bytes(4096),
            |fault, ()| fault.rule == Rule::Total && fault.message.contains(&format!("`{name}`")),
        );
    }
}

#[test]
fn the_live_bytes_of_a_pass_are_wrong() {
    refused(
        |plan| plan.frame.pass_ids().collect(),
        |plan, pass| plan.passes[pass.index()].live_tile += Bytes(1),
        |fault, _| fault.rule == Rule::Live,
    );
}

#[test]
fn a_span_is_lengthened_without_counting_its_bytes() {
    refused(
        |plan| {
            let grows = |index: usize| {
                let span = plan.placements[index].span;
                name(plan, plan.placements[index].resource);
                span.first.0 > 0 && plan.placements[index].memory == tileheap::plan::MemoryKind::Tile
            };
            placements_where(plan, grows)
        },
        |plan, &index| {
            let span = plan.placements[index].span;
            plan.placements[index].span = Span::new(0, span.end.0);
        },
        |fault, _| matches!(fault.rule, Rule::Live | Rule::Total | Rule::Overlap),
    );
}
