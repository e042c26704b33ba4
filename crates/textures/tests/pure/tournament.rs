//! Our policy against every other on every scenario, checked at every step: a single seed of the measurements of `benches/tournament.rs`.

use tileheap_baselines::textures::ALL;
use tileheap_testkit::contest::{BUDGETS, Field, LOWER_BOUND};
use tileheap_textures::scenario::Scenario;
use tileheap_textures::{Coherent, UploadMode};

/// On every scenario and budget, our policy is at most 1.02 of the best of the others in mean bytes, and no policy that
/// uploads whole chains is below the bound.
#[test]
fn ours_is_the_best_of_the_online_policies() {
    for scenario in Scenario::ALL {
        let field = Field {
            policies: &ALL,
            belady: true,
            // Not a seed that parameters were tuned with.
            seeds: 7331..7332,
            frames: match scenario {
                // In these, views return and orders change only after many frames.
                Scenario::TurnAround | Scenario::Mixed => 240,
                _ => 60,
            },
        };
        for budget in BUDGETS {
            let cells = field.contest(scenario, budget);
            let text = format!("{} at {budget} %: {cells:#?}", scenario.name());
            let ours = cells[Coherent::DESC.name].mean;
            let best = |whole: bool| {
                let others = ALL.into_iter().filter(|kind| {
                    !kind.name.starts_with("coherent") && (!whole || kind.uploads == UploadMode::Whole)
                });
                others.map(|kind| cells[kind.name].mean).min().expect("others")
            };
            assert!(ours * 100 <= best(true) * 102, "{text}");
            // Policies that upload single levels are beaten by ours that does so too.
            let levels = cells[Coherent::KEEPING_LEVELS.name].mean;
            assert!(levels * 100 <= best(false) * 105, "{text}");
            assert!(levels * 100 <= ours * 105, "{text}");
            for kind in ALL.into_iter().filter(|kind| kind.uploads == UploadMode::Whole) {
                assert!(
                    cells[kind.name].mean >= cells[LOWER_BOUND].mean,
                    "{}, {text}",
                    kind.name
                );
            }
        }
    }
}
