//! `advise`, `gate` and `diff`; and residency against the published tables.

use crate::report::{renderer, reported};
use crate::run::{FRAME, file, json, tileheap};
use crate::support::data;

/// Share of the eligible traffic, in thousandths.
fn kept(plan: &serde_json::Value) -> u64 {
    let number = |name: &str| plan["totals"][name].as_u64().expect("a number");
    number("on_chip_bytes") * 1000 / number("eligible_bytes").max(1)
}

/// Frame, extent, and percent kept at 4, 8, 12 and 18 MiB: by an independent exact solver on the same numbers.
const PUBLISHED: [(&str, &str, [u64; 4]); 5] = [
    ("qualcomm_tile_memory_sample", "1280x720", [41, 67, 84, 100]),
    ("qualcomm_tile_memory_sample", "1920x1080", [1, 41, 42, 67]),
    ("granite_deferred_taa_bloom", "1280x720", [41, 66, 81, 100]),
    ("granite_deferred_taa_bloom", "1920x1080", [9, 40, 45, 66]),
    ("khronos_local_read_deferred", "1280x720", [14, 43, 57, 86]),
];

#[test]
fn published_optima_are_reached_and_proved() {
    for (name, size, shares) in PUBLISHED {
        let frame = data(&format!("frames/{name}.json"));
        let frame = frame.to_str().expect("a path in UTF-8");
        for (heap, share) in ["4MiB", "8MiB", "12MiB", "18MiB"].into_iter().zip(shares) {
            let plan = |strategy: &str| {
                let arguments = [
                    "plan", frame, "--sizes", "raw", "--size", size, "--heap", heap, "--json",
                ];
                json(&tileheap(&[&arguments[..], &["--strategy", strategy]].concat()).good())
            };
            let best = plan("optimal");
            assert_eq!((kept(&best) + 5) / 10, share, "{name} {size} {heap}");
            assert_eq!(best["optimality"]["proved"], true, "{name} {size} {heap}");
            assert!(kept(&plan("first-come")) <= kept(&best), "{name} {size} {heap}");
        }
    }
}

#[test]
fn advice_names_what_keeps_a_resource_out_and_what_would_help() {
    let frame = file("advice.json", FRAME);
    // One block short of both images.
    let report = tileheap(&["advise", &frame, "--heap", "12288"]).good();
    assert!(report.contains("Not in tile memory"), "{report}");
    let document = json(&tileheap(&["advise", &frame, "--heap", "12288", "--json"]).good());
    assert_eq!(document["format"], "tileheap-advice");
    let resources = document["resources"].as_array().expect("a list");
    assert!(!resources.is_empty());
    assert!(document["merges"].is_array());
    for resource in resources {
        assert!(
            resource["constraint"].is_string() && resource["changes"].is_array(),
            "{resource}"
        );
    }
}

/// A plan that is saved with it says what would help wherever it is looked at later, and is the same plan.
#[test]
fn advice_is_saved_with_a_plan() {
    let frame = file("saved.json", &renderer());
    let of_plan = |arguments: &[&str]| {
        tileheap(&[&["plan", &frame, "--heap", "6MiB", "--json"], arguments].concat()).good()
    };
    let (plain, saved) = (of_plan(&[]), of_plan(&["--advice"]));
    let mut with = json(&saved);
    let advice = with.as_object_mut().and_then(|plan| plan.remove("advice"));
    assert_eq!(with, json(&plain));
    let advised = json(&tileheap(&["advise", &frame, "--heap", "6MiB", "--json"]).good());
    assert_eq!(advice, Some(advised.clone()));

    let (plain, saved) = (file("plain-plan.json", &plain), file("advised-plan.json", &saved));
    tileheap(&["check", &frame, &saved]).good();
    let read = |name: &str, inputs: &[&str]| std::fs::read_to_string(reported(name, inputs)).expect("a page");
    let page = read("advised-plan.html", &[&saved]);
    let changes = advised["resources"].as_array().expect("a list").iter();
    let changes = changes.flat_map(|tried| tried["changes"].as_array().expect("a list"));
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
    let alone = tileheap(&["plan", &frame, "--advice"]).bad(2);
    assert!(alone.contains("--json"), "{alone}");
}

#[test]
fn sweeps_go_from_one_end_to_the_other() {
    let frame = file("sweep.json", FRAME);
    let heaps = json(&tileheap(&["advise", &frame, "--sweep", "heap=1MiB..16MiB", "--json"]).good());
    let points = heaps["points"].as_array().expect("a list");
    assert_eq!(points[0]["at"], "1048576 B");
    assert_eq!(points.last().expect("points")["at"], "16777216 B");
    let on_chip: Vec<u64> = points
        .iter()
        .map(|point| point["on_chip_bytes"].as_u64().expect("a number"))
        .collect();
    assert!(on_chip.is_sorted(), "a larger heap keeps no less: {on_chip:?}");
    let sizes = tileheap(&["advise", &frame, "--sweep", "size=64x36..1920x1080"]).good();
    assert!(
        sizes.contains("64 x 36") && sizes.contains("1920 x 1080"),
        "{sizes}"
    );
    assert!(
        tileheap(&["advise", &frame, "--sweep", "heap=2MiB"])
            .bad(2)
            .contains("heap=")
    );
}

#[test]
fn the_gate_closes_below_the_share() {
    let frame = file("gate.json", FRAME);
    let enough = tileheap(&["gate", &frame, "--heap", "64MiB", "--min-on-chip", "100%"]).good();
    assert!(enough.contains("100.0 %"), "{enough}");
    let short = tileheap(&["gate", &frame, "--heap", "12288", "--min-on-chip", "100%"]).bad(1);
    assert!(short.contains("minimum 100.0 %"), "{short}");
    assert!(
        tileheap(&["gate", &frame, "--min-on-chip", "101%"])
            .bad(2)
            .contains("0% to 100%")
    );
    assert!(tileheap(&["gate", &frame]).bad(2).contains("--min-bytes"));
}

/// A share of nothing is kept by no plan, and bytes are missed where the share alone stays.
#[test]
fn the_gate_closes_where_nothing_is_eligible() {
    let frame = file("gate_none.json", FRAME);
    let none = ["gate", &frame, "--profile", "no-tile-memory"];
    let said = tileheap(&[&none[..], &["--min-on-chip", "60%"]].concat()).bad(1);
    assert!(said.contains("the device has no tile memory"), "{said}");
    tileheap(&[&none[..], &["--min-on-chip", "0%"]].concat()).good();
    let bytes = |least: &str| tileheap(&["gate", &frame, "--heap", "64MiB", "--min-bytes", least]);
    bytes("1MiB").good();
    let said = bytes("1GiB").bad(1);
    assert!(said.contains("minimum 1,073,741,824 B"), "{said}");
    tileheap(&[
        "gate",
        &frame,
        "--heap",
        "64MiB",
        "--min-on-chip",
        "100%",
        "--min-bytes",
        "1GiB",
    ])
    .bad(1);
}

#[test]
fn plans_are_compared() {
    let frame = file("diff.json", FRAME);
    let plan = |heap: &str| tileheap(&["plan", &frame, "--heap", heap, "--json"]).good();
    let (small, large) = (
        file("small.json", &plan("12288")),
        file("large.json", &plan("64MiB")),
    );
    let report = tileheap(&["diff", &small, &large]).good();
    assert!(
        report.contains("arena") && report.contains("tile") && report.contains("Totals"),
        "{report}"
    );
    assert!(
        tileheap(&["diff", &large, &large])
            .good()
            .contains("The plans are equal")
    );
    let fault = tileheap(&["diff", &frame, &large]).bad(1);
    assert!(fault.contains("tileheap-plan"), "{fault}");
}

/// A ladder reserves no more than the larger of its proven minimum and 1.15 times what lives.
#[test]
fn ladders_bind_little_more_than_the_live_set() {
    for (name, size, _) in PUBLISHED {
        let frame = data(&format!("frames/{name}.json"));
        let frame = frame.to_str().expect("a path in UTF-8");
        for heap in ["4MiB", "8MiB", "12MiB", "18MiB"] {
            let arguments = ["plan", frame, "--sizes", "raw", "--size", size, "--heap", heap];
            let arguments = [&arguments[..], &["--budget", "100000"]].concat();
            let plan = json(&tileheap(&[&arguments[..], &["--json"]].concat()).good());
            let total = |name: &str| plan["totals"][name].as_u64().expect("a number");
            let (bound, live) = (total("reserved_bytes"), total("live_bytes"));
            let proved = plan["optimality"]["least_reserved"] == true;
            assert!(
                proved || bound * 100 <= live * 115,
                "{name} {size} {heap}: {bound} of {live}"
            );
            assert!(bound <= total("reserved_bytes_by_runs"));
            let report = tileheap(&arguments).good();
            assert!(report.contains("without ladders"), "{report}");
            let off = json(&tileheap(&[&arguments[..], &["--json", "--ladder", "off"]].concat()).good());
            assert_eq!(
                off["totals"]["reserved_bytes"],
                off["totals"]["reserved_bytes_by_runs"]
            );
            assert_eq!(off["totals"]["on_chip_bytes"], plan["totals"]["on_chip_bytes"]);
        }
    }
}

#[test]
fn measured_worths_come_from_a_file() {
    let frame = file("weighed.json", FRAME);
    let plan = |weights: &str| {
        let weights = file("weights.json", weights);
        json(&tileheap(&["plan", &frame, "--heap", "64MiB", "--json", "--weights", &weights]).good())
    };
    let names = json(&tileheap(&["plan", &frame, "--heap", "64MiB", "--json"]).good());
    let resource = names["resources"]
        .as_array()
        .and_then(|all| all.iter().find(|one| one["reason"]["kind"] == "tile"))
        .expect("a resident");
    let (name, pass) = (&resource["name"], &resource["accesses"][0]["pass"]);
    let weights = format!(
        r#"{{ "format": "tileheap-weights", "version": 2, "accesses": [{{ "pass": {pass}, "resource": {name}, "savings": 77 }}] }}"#
    );
    let weighed = plan(&weights);
    let planned = weighed["resources"]
        .as_array()
        .and_then(|all| all.iter().find(|one| one["name"] == *name))
        .expect("the same resource");
    let before = resource["reason"]["savings"].as_u64().expect("a number");
    let after = planned["reason"]["savings"].as_u64().expect("a number");
    assert!(after < before && after >= 77, "{before} {after}");
    let wrong = file(
        "wrong-weights.json",
        r#"{ "format": "tileheap-weights", "version": 2, "accesses": 3 }"#,
    );
    assert!(
        tileheap(&["plan", &frame, "--weights", &wrong])
            .bad(1)
            .contains("accesses")
    );
}

#[test]
fn what_cannot_be_pinned_is_an_error_that_names_the_rule() {
    let frame = file("pinned.json", FRAME);
    let plan = json(&tileheap(&["plan", &frame, "--heap", "64MiB", "--json"]).good());
    let resources = plan["resources"].as_array().expect("a list");
    let resident = resources
        .iter()
        .find(|one| one["reason"]["kind"] == "tile")
        .expect("a resident");
    let name = resident["name"].as_str().expect("a name");
    tileheap(&["plan", &frame, "--heap", "64MiB", "--pin", name]).good();
    let fault = tileheap(&["plan", &frame, "--profile", "no-tile-memory", "--pin", name]).bad(1);
    assert!(
        fault.contains("VUID-vkAllocateMemory-tileMemoryHeap-10976"),
        "{fault}"
    );
    let fault = tileheap(&["plan", &frame, "--heap", "12288", "--pin", name]).bad(1);
    assert!(fault.contains("01713"), "{fault}");
    assert!(
        tileheap(&["plan", &frame, "--pin", "missing"])
            .bad(2)
            .contains("missing")
    );
}

#[test]
fn what_is_kept_off_leaves_its_room_to_others() {
    let frame = file("kept-off.json", FRAME);
    let kind = |plan: &serde_json::Value, name: &str| {
        let resources = plan["resources"].as_array().expect("a list");
        let resource = resources
            .iter()
            .find(|one| one["name"] == name)
            .expect("the same resource");
        resource["reason"]["kind"].as_str().expect("a kind").to_owned()
    };
    let plan = json(&tileheap(&["plan", &frame, "--heap", "64MiB", "--json"]).good());
    let resources = plan["resources"].as_array().expect("a list");
    let resident = resources
        .iter()
        .find(|one| one["reason"]["kind"] == "tile")
        .expect("a resident");
    let name = resident["name"].as_str().expect("a name");
    let arguments = ["plan", &frame, "--heap", "64MiB", "--exclude", name];
    let without = json(&tileheap(&[&arguments[..], &["--json"]].concat()).good());
    assert_eq!(kind(&without, name), "excluded");
    assert_eq!(
        without["totals"]["eligible_bytes"],
        plan["totals"]["eligible_bytes"]
    );
    assert!(tileheap(&arguments).good().contains("excluded from tile memory"));
    let both = tileheap(&[&arguments[..], &["--pin", name]].concat()).bad(2);
    assert!(both.contains("both"), "{both}");
    assert!(
        tileheap(&["plan", &frame, "--exclude", "missing"])
            .bad(2)
            .contains("--exclude missing")
    );
}
