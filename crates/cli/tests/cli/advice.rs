//! `advise`, `gate` and `diff`; and residency against the published tables.

use serde_json::Value;

use crate::report::{RENDERER, reported};
use crate::run::{FRAME, file, find, json, list, number, planned, shared, tileheap};

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
fn advice_names_what_keeps_a_resource_out_and_what_would_help() {
    let frame = file("advice.json", FRAME);
    // One block short of both images.
    tileheap(&["advise", &frame, "--heap", "12288"]).shows(&["Not in tile memory"]);
    let document = json(&tileheap(&["advise", &frame, "--heap", "12288", "--json"]).good());
    assert_eq!(document["format"], "tileheap-advice");
    assert!(!list(&document["resources"]).is_empty() && document["combinations"].is_array());
    for resource in list(&document["resources"]) {
        assert!(
            resource["constraint"].is_string() && resource["changes"].is_array(),
            "{resource}"
        );
    }
}

/// A plan that is saved with it says what would help wherever it is looked at later, and is the same plan.
#[test]
fn advice_is_saved_with_a_plan() {
    let frame = file("saved.json", RENDERER);
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
    let changes = list(&advised["resources"]).iter();
    let changes = changes.flat_map(|tried| list(&tried["changes"]));
    let words: Vec<&str> = changes.filter_map(|change| change["change"].as_str()).collect();
    assert!(words.len() >= 2, "{advised}");
    for change in words {
        assert!(page.contains(change), "{change}");
    }
    // As the page of the frame itself has it, and one without says that nothing was tried.
    let whole = read("advised-frame.html", &[&frame, "--heap", "6MiB"]);
    let told = |page: &str| page.matches("\"advice\",").count();
    assert_eq!(told(&page), told(&whole));
    let without = read("plain-plan.html", &[&plain]);
    assert!(told(&without) < told(&page) && without.contains("plan --json --advice"));
    assert!(!page.contains("plan --json --advice"));
    tileheap(&["plan", &frame, "--advice"]).names(2, &["--json"]);
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
    tileheap(&["advise", &frame, "--sweep", "heap=2MiB"]).names(2, &["heap="]);
}

/// A share of nothing is kept by no plan, and bytes are missed where the share alone stays.
#[test]
fn the_gate_closes_below_a_threshold_and_where_nothing_is_eligible() {
    let frame = file("gate.json", FRAME);
    let gate = |options: &str| {
        let options: Vec<&str> = options.split(' ').collect();
        tileheap(&[&["gate", &frame], &options[..]].concat())
    };
    gate("--heap 64MiB --min-on-chip 100%").shows(&["100.0 %"]);
    gate("--heap 64MiB --min-bytes 1MiB").good();
    gate("--profile no-tile-memory --min-on-chip 0%").good();
    for (options, status, part) in [
        ("--heap 12288 --min-on-chip 100%", 1, "minimum 100.0 %"),
        ("--min-on-chip 101%", 2, "0% to 100%"),
        ("--heap 64MiB", 2, "--min-bytes"),
        (
            "--profile no-tile-memory --min-on-chip 60%",
            1,
            "the device has no tile memory",
        ),
        ("--heap 64MiB --min-bytes 1GiB", 1, "minimum 1,073,741,824 B"),
        ("--heap 64MiB --min-on-chip 100% --min-bytes 1GiB", 1, "minimum"),
    ] {
        gate(options).names(status, &[part]);
    }
}

#[test]
fn plans_are_compared() {
    let frame = file("diff.json", FRAME);
    let plan = |name: &str, heap: &str| file(name, &planned(&frame, &["--heap", heap]).to_string());
    let (small, large) = (plan("small.json", "12288"), plan("large.json", "64MiB"));
    tileheap(&["diff", &small, &large]).shows(&["arena", "tile", "Totals"]);
    tileheap(&["diff", &large, &large]).shows(&["The plans are equal"]);
    tileheap(&["diff", &frame, &large]).names(1, &["tileheap-plan"]);
}

const HEAP: [&str; 2] = ["--heap", "64MiB"];

/// A frame in a file, its plan, and the name of a resource in tile memory.
fn resident(name: &str) -> (String, Value, String) {
    let frame = file(name, FRAME);
    let plan = planned(&frame, &HEAP);
    let name = &find(&plan["resources"], "/reason/kind", &"tile".into())["name"];
    let name = name.as_str().expect("a name").to_owned();
    (frame, plan, name)
}

#[test]
fn measured_worths_come_from_a_file() {
    let (frame, plan, name) = resident("weighed.json");
    let of = |plan: &Value| find(&plan["resources"], "/name", &name.as_str().into()).clone();
    let pass = &of(&plan)["accesses"][0]["pass"];
    let weights = format!(
        r#"{{ "format": "tileheap-weights", "version": 2, "accesses": [{{ "pass": {pass}, "resource": "{name}", "savings": 77 }}] }}"#
    );
    let weights = file("weights.json", &weights);
    let weighed = planned(&frame, &[&HEAP[..], &["--weights", &weights]].concat());
    let [before, after] = [&plan, &weighed].map(|plan| number(&of(plan)["reason"]["savings"]));
    assert!(after < before && after >= 77, "{before} {after}");
    let wrong = r#"{ "format": "tileheap-weights", "version": 2, "accesses": 3 }"#;
    let wrong = file("wrong-weights.json", wrong);
    tileheap(&["plan", &frame, "--weights", &wrong]).names(1, &["accesses"]);
}

#[test]
fn what_cannot_be_pinned_is_an_error_that_names_the_rule() {
    let (frame, _, name) = resident("pinned.json");
    let pin = |name: &str, options: &[&str]| tileheap(&[&["plan", &frame, "--pin", name], options].concat());
    pin(&name, &HEAP).good();
    let none = pin(&name, &["--profile", "no-tile-memory"]);
    none.names(1, &["VUID-vkAllocateMemory-tileMemoryHeap-10976"]);
    pin(&name, &["--heap", "12288"]).names(1, &["01713"]);
    pin("missing", &[]).names(2, &["missing"]);
}

#[test]
fn what_is_kept_off_leaves_its_room_to_others() {
    let (frame, plan, name) = resident("kept-off.json");
    let options = [&HEAP[..], &["--exclude", &name]].concat();
    let without = planned(&frame, &options);
    let excluded = find(&without["resources"], "/name", &name.as_str().into());
    assert_eq!(excluded["reason"]["kind"], "excluded");
    assert_eq!(total(&without, "eligible_bytes"), total(&plan, "eligible_bytes"));
    let arguments = [&["plan", &frame], &options[..]].concat();
    tileheap(&arguments).shows(&["excluded from tile memory"]);
    tileheap(&[&arguments[..], &["--pin", &name]].concat()).names(2, &["both"]);
    tileheap(&["plan", &frame, "--exclude", "missing"]).names(2, &["--exclude missing"]);
}
