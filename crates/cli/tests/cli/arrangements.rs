//! Arrangements of published frames with their reaches at every cost of repeating a pass.

use crate::run::{json, list, number, shared, tileheap};

/// A lower cost of repeating a pass keeps no less on chip: an arrangement for one cost is at least as good at a lower one.
#[test]
fn a_lower_cost_of_repeating_keeps_no_less() {
    let reach = shared("reach.json");
    for name in ["granite_deferred_taa_bloom", "qualcomm_tile_memory_sample"] {
        let frame = shared(&format!("frames/{name}.json"));
        for size in ["1920x1080", "3840x2160"] {
            let run = ["advise", &frame, "--assume-reach", &reach, "--size", size];
            let swept = json(&tileheap(&[&run[..], &["--sweep", "repeat=0..6MB", "--json"]].concat()).good());
            let points = list(&swept["points"]);
            let kept: Vec<u64> = points
                .iter()
                .map(|point| number(&point["on_chip_bytes"]))
                .collect();
            assert_eq!((&swept["over"], kept.len()), (&"repeat".into(), 23));
            assert_eq!(points[22]["size"], 6_000_000);
            assert!(
                kept[22] > 0 && kept.iter().rev().is_sorted(),
                "{name} {size}: {kept:?}"
            );
        }
    }
}
