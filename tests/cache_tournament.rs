//! Ours against every other policy on every scenario, checked at every step: one seed of what `benches/tournament.rs` measures.

#[path = "support/contest.rs"]
mod contest;

use contest::{BUDGETS, FLOOR, Field};
use tileheap::cache::PolicyKind;
use tileheap::cache::scenario::Scenario;

/// On every scenario and budget, ours is no worse than 1.05 of the best of the others in mean bytes, and nobody who uploads
/// whole chains goes below the bound.
#[test]
fn ours_is_the_best_of_the_online_policies() {
    let field = Field {
        kinds: &PolicyKind::ALL,
        belady: true,
        seeds: 1,
        frames: 60,
    };
    for scenario in Scenario::ALL {
        for budget in BUDGETS {
            let cells = field.contest(scenario, budget);
            let text = format!("{} at {budget} %: {cells:#?}", scenario.name());
            let ours = cells[PolicyKind::Coherent.name()].mean;
            let others = PolicyKind::ALL
                .into_iter()
                .filter(|&kind| kind != PolicyKind::Coherent);
            let best = others.map(|kind| cells[kind.name()].mean).min().expect("others");
            assert!(ours * 100 <= best * 105, "{text}");
            for (name, cell) in &cells {
                assert!(
                    *name == PolicyKind::FirstAttempt.name() || cell.mean >= cells[FLOOR].mean,
                    "{name}, {text}"
                );
            }
        }
    }
}
