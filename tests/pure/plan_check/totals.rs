//! Sums.

use super::*;

#[test]
fn every_sum_is_recomputed() {
    type Field = fn(&mut Totals) -> &mut Bytes;
    let totals: [(&str, Field); 8] = [
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
    for (name, field) in totals {
        let found = faults(deferred(), |plan| *field(&mut plan.totals) += Bytes(1));
        assert_eq!(found.len(), 1, "{found:#?}");
        let says = format!("the plan's `{name}` says");
        assert!(
            found[0].rule == Rule::Total && found[0].message.starts_with(&says),
            "{found:#?}"
        );
    }
    assert_broken(deferred(), Rule::Live, &["`tonemap`"], |plan| {
        plan.planned("tonemap").live_tile = Bytes(1)
    });
}
