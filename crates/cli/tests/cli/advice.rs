//! `advise`, `gate` and `diff`; and residency against the published tables.

use serde_json::Value;

use crate::run::{number, planned, shared, tileheap};

fn total(plan: &Value, name: &str) -> u64 {
    number(&plan["totals"][name])
}

/// Share of the traffic that is eligible for tile memory, in thousandths.
fn kept(plan: &Value) -> u64 {
    total(plan, "on_chip_bytes") * 1000 / total(plan, "eligible_bytes").max(1)
}

/// Frame, extent, and percent kept at 4, 8, 12 and 18 MiB, from an independent exact solver on the same numbers.
const PUBLISHED: [(&str, &str, [u64; 4]); 5] = [
    ("qualcomm_tile_memory_sample", "1280x720", [41, 67, 84, 100]),
    ("qualcomm_tile_memory_sample", "1920x1080", [1, 41, 42, 67]),
    ("granite_deferred_taa_bloom", "1280x720", [41, 66, 81, 100]),
    ("granite_deferred_taa_bloom", "1920x1080", [9, 40, 45, 66]),
    ("khronos_local_read_deferred", "1280x720", [14, 43, 57, 86]),
];

/// Calls `with` for each frame of the table at each heap size, with a description, the frame, its options and the percentage.
fn for_published(with: impl Fn(&str, &str, &[&str], u64)) {
    for (name, size, shares) in PUBLISHED {
        let frame = shared(&format!("frames/{name}.json"));
        for (heap, share) in ["4MiB", "8MiB", "12MiB", "18MiB"].into_iter().zip(shares) {
            let options = ["--sizes", "raw", "--size", size, "--heap", heap];
            with(&format!("{name} {size} {heap}"), &frame, &options, share);
        }
    }
}

#[test]
fn published_optima_are_reached_and_proved() {
    for_published(|what, frame, options, share| {
        let plan = |strategy: &str| planned(frame, &[options, &["--strategy", strategy]].concat());
        let best = plan("optimal");
        assert_eq!((kept(&best) + 5) / 10, share, "{what}");
        assert_eq!(best["optimality"]["proved"], true, "{what}");
        assert!(kept(&plan("first-come")) <= kept(&best), "{what}");
    });
}

/// A ladder reserves at most the larger of its proven minimum and 1.15 times the live bytes.
#[test]
fn ladders_bind_little_more_than_the_live_set() {
    for_published(|what, frame, options, _| {
        let options = [options, &["--steps", "100000"]].concat();
        let plan = planned(frame, &options);
        let (bound, live) = (total(&plan, "reserved_bytes"), total(&plan, "live_bytes"));
        let proved = plan["optimality"]["least_reserved"] == true;
        assert!(proved || bound * 100 <= live * 115, "{what}: {bound} of {live}");
        assert!(bound <= total(&plan, "reserved_bytes_by_runs"));
        tileheap(&[&["plan", frame], &options[..]].concat()).shows(&["without ladders"]);
        let off = planned(frame, &[&options[..], &["--ladder", "off"]].concat());
        assert_eq!(
            total(&off, "reserved_bytes"),
            total(&off, "reserved_bytes_by_runs")
        );
        assert_eq!(total(&off, "on_chip_bytes"), total(&plan, "on_chip_bytes"));
    });
}
