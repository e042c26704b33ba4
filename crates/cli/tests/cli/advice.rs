//! `advise`, `gate` and `diff`; and residency against the published tables.

use serde_json::Value;

use crate::report::reported;
use crate::run::{FRAME, file, json, list, number, planned, shared, tileheap};

fn total(plan: &Value, name: &str) -> u64 {
    number(&plan["totals"][name])
}

/// Share of the eligible traffic, in thousandths.
fn kept(plan: &Value) -> u64 {
    total(plan, "on_chip_bytes") * 1000 / total(plan, "eligible_bytes").max(1)
}

/// Frame, extent, and percent kept at 4, 8, 12 and 18 MiB: by an independent exact solver on the same numbers.
const PUBLISHED: [(&str, &str, [u64; 4]); 5] = [
    ("qualcomm_tile_memory_sample", "1280x720", [41, 67, 84, 100]),
    ("qualcomm_tile_memory_sample", "1920x1080", [1, 41, 42, 67]),
    ("granite_deferred_taa_bloom", "1280x720", [41, 66, 81, 100]),
    ("granite_deferred_taa_bloom", "1920x1080", [9, 40, 45, 66]),
    ("khronos_local_read_deferred", "1280x720", [14, 43, 57, 86]),
];

/// Calls `with` with each frame of the table at each heap: what it is, the frame, its options, the percentage.
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

/// A ladder reserves no more than the larger of its proven minimum and 1.15 times what lives.
#[test]
fn ladders_bind_little_more_than_the_live_set() {
    for_published(|what, frame, options, _| {
        let options = [options, &["--budget", "100000"]].concat();
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

#[test]
fn advice_names_what_keeps_a_resource_out() {
    let frame = file("advice.json", FRAME);
    let document = json(&tileheap(&["advise", &frame, "--heap", "12288", "--json"]).good());
    assert_eq!(document["format"], "tileheap-advice");
    assert!(!list(&document["resources"]).is_empty() && document["combinations"].is_array());
    for resource in list(&document["resources"]) {
        assert!(
            resource["constraint"].is_string() && resource["rule"].is_string(),
            "{resource}"
        );
    }
}

/// A plan that is saved with it says what would help wherever it is looked at later, and is the same plan.
#[test]
fn advice_is_saved_with_a_plan() {
    let frame = shared("frames/khronos_local_read_deferred.json");
    let heap = ["--heap", "6MiB"];
    let saved = planned(&frame, &[&heap[..], &["--advice"]].concat());
    let (plain, mut with) = (planned(&frame, &heap), saved.clone());
    let advice = with.as_object_mut().and_then(|plan| plan.remove("advice"));
    assert_eq!(with, plain);
    let advised = json(&tileheap(&["advise", &frame, "--heap", "6MiB", "--json"]).good());
    assert_eq!(advice, Some(advised.clone()));

    let plain = file("plain-plan.json", &plain.to_string());
    let saved = file("advised-plan.json", &saved.to_string());
    tileheap(&["check", &frame, &saved]).good();
    let read = |name: &str, inputs: &[&str]| std::fs::read_to_string(reported(name, inputs)).expect("a page");
    let page = read("advised-plan.html", &[&saved]);
    let changes = list(&advised["combinations"]).iter();
    let changes = changes.flat_map(|one| list(&one["changes"]));
    let words: Vec<&str> = changes.filter_map(Value::as_str).collect();
    assert!(!words.is_empty(), "{advised}");
    for change in words {
        assert!(page.contains(change), "{change}");
    }
    // As the page of the frame itself has it, and one without says that nothing was tried.
    let whole = read("advised-frame.html", &[&frame, "--heap", "6MiB"]);
    let told = |page: &str| page.matches("Advice: combinations").count();
    assert_eq!(told(&page), told(&whole));
    let without = read("plain-plan.html", &[&plain]);
    assert!(told(&without) < told(&page) && without.contains("plan --json --advice"));
    assert!(!page.contains("plan --json --advice"));
}

#[test]
fn sweeps_go_from_one_end_to_the_other() {
    let frame = file("sweep.json", FRAME);
    let heaps = json(&tileheap(&["advise", &frame, "--sweep", "heap=1MiB..16MiB", "--json"]).good());
    let points = list(&heaps["points"]);
    assert_eq!(points[0]["at"], "1048576 B");
    assert_eq!(points.last().expect("points")["at"], "16777216 B");
    let on_chip = || points.iter().map(|point| number(&point["on_chip_bytes"]));
    assert!(on_chip().is_sorted(), "a larger heap keeps no less: {points:?}");
    let sizes = tileheap(&["advise", &frame, "--sweep", "size=64x36..1920x1080"]);
    sizes.shows(&["64 x 36", "1920 x 1080"]);
}
