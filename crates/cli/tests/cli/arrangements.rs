//! `--best`, `--arrangement` and `--assume-reach`: frames run another way, on a published frame with its reaches.

use serde_json::Value;

use crate::report::reported;
use crate::run::{
    FRAME, Run, contains, file, json, list, number, place, planned, shared, tileheap, tileheap_with,
};

/// The command on a published frame at 1080p, with what is assumed of its reads.
fn run(command: &str, options: &[&str]) -> Run {
    let (frame, reach) = (
        shared("frames/granite_deferred_taa_bloom.json"),
        shared("reach.json"),
    );
    let frame = [command, &frame, "--assume-reach", &reach, "--size", "1920x1080"];
    tileheap(&[&frame[..], options].concat())
}

fn share(of: &Value, field: &str) -> f64 {
    of[field].as_f64().unwrap_or_else(|| panic!("{field} in {of}"))
}

#[test]
fn the_best_arrangement_is_planned_saved_drawn_and_found_valid() {
    let (saved, best) = (place("granite-best.json"), place("granite-best-plan.json"));
    let options = ["--best", "--json", "--save-arrangement", &saved, "-o", &best];
    assert_eq!(run("plan", &options).good(), "");
    let plan = json(&std::fs::read_to_string(&best).expect("a plan"));
    let arranged = &plan["arrangement"];
    assert!(share(arranged, "share") >= 0.8 && share(arranged, "described_share") < 0.5);
    assert!(share(arranged, "share") <= share(arranged, "cap") && share(arranged, "shaded") <= 1.5);
    // The plan has its arrangement with it.
    run("check", &[&best]).shows(&["valid: "]);
    run("check", &[&best, "--arrangement", &saved]).shows(&["valid: "]);
    let parts = [
        "As described",
        "Arranged",
        " of eligible traffic on chip, cap 88.",
        " strips",
    ];
    let page = reported("arranged.html", &[&best]);
    contains(std::fs::read_to_string(page).expect("a page"), &parts);
    let picture = place("arranged.svg");
    tileheap(&["report", &best, "--svg", &picture]).good();
    contains(std::fs::read_to_string(picture).expect("a picture"), &parts);
    // What is saved gives the same plan without a search.
    let mut again = json(&run("plan", &["--arrangement", &saved, "--json"]).good());
    assert_eq!(again, plan);
    again["arrangement"]["arrangement"]["batches"][0]["groups"][0]["passes"][0] = "nothing".into();
    let spoilt = file("spoilt-best-plan.json", &again.to_string());
    run("check", &[&spoilt]).names(1, &["spoilt-best-plan.json", "`nothing`"]);
    let text = run("plan", &["--arrangement", &saved]).good();
    assert!(text.starts_with("Arrangement: "), "{text}");
    contains(
        text,
        &["as described, cap ", "strips", "assumed", "changes", "Totals"],
    );
}

/// What is gone from the frame is told, and the rest is planned.
#[test]
fn a_saved_arrangement_is_repaired() {
    let saved = place("granite-merged.json");
    let options = ["--best", "--allow", "merge", "--save-arrangement", &saved];
    run("plan", &options).shows(&["Arrangement: "]);
    let mut document = json(&std::fs::read_to_string(&saved).expect("an arrangement"));
    let groups = document["batches"][0]["groups"].as_array_mut();
    groups
        .expect("groups")
        .push(serde_json::json!({ "passes": ["gone", "ui"], "strips": [1, 8] }));
    let stale = file("granite-stale.json", &document.to_string());
    let parts = ["repaired, for", "`gone`", r#"not kept: {"passes":["gone","ui"]"#];
    run("plan", &["--arrangement", &stale]).shows(&parts);
}

#[test]
fn advice_begins_with_combinations_and_what_caps_the_frame() {
    let text = run("advise", &[]).good();
    let places = [
        "Combinations",
        "strips (halo in texels: ",
        "What caps the frame at 88.",
        "Not in tile memory",
    ];
    let places = places.map(|part| text.find(part));
    assert!(places.is_sorted() && places[0].is_some(), "{text}");
    let advice = json(&run("advise", &["--json"]).good());
    let shares: Vec<f64> = list(&advice["combinations"])
        .iter()
        .map(|one| share(one, "share"))
        .collect();
    assert!(shares[0] >= 0.8 && shares.iter().rev().is_sorted(), "{shares:?}");
    let caps: f64 = list(&advice["caps"]).iter().map(|cap| share(cap, "share")).sum();
    assert!((share(&advice, "cap") + caps - 1.0).abs() < 1e-9);
    // Only what is allowed is done.
    let merged = [
        "advise",
        &shared("frames/khronos_local_read_deferred.json"),
        "--allow",
        "order,merge",
        "--json",
    ];
    let merged = json(&tileheap(&merged).good());
    assert_eq!(merged["combinations"][0]["allow"], serde_json::json!(["merge"]));
    let strict = json(&run("plan", &["--best", "--shaded", "1.01", "--json"]).good());
    assert!(share(&strict["arrangement"], "shaded") <= 1.01);
    // Without declared reach nothing can be divided, and the advice says what to declare.
    let frame = file("undeclared.json", FRAME);
    let parts = [
        "--assume-reach",
        "PassBuilder::reaching",
        "PassBuilder::in_strips",
    ];
    tileheap(&["advise", &frame, "--heap", "1MiB"]).shows(&parts);
}

/// A frame from standard input has its name in place of a file's.
#[test]
fn reach_is_found_by_file_or_by_name() {
    let one = r#"{ "reach": { "lighting": { "albedo": 1 } }, "repeat_bytes": { "gbuffer": 65536 } }"#;
    let frame = file("by name.json", FRAME);
    let several = format!(r#"{{ "frames": {{ "by name.json": {one}, "two passes": {one} }} }}"#);
    for text in [one, &several] {
        let reach = file("found-reach.json", text);
        let options = ["--assume-reach", &reach, "--heap", "1MiB", "--best"];
        let from_file = planned(&frame, &options);
        let from_input = tileheap_with(
            FRAME.as_bytes(),
            &[&["plan", "-", "--json"], &options[..]].concat(),
        );
        assert_eq!(json(&from_input.good()), from_file);
        let arranged = &from_file["arrangement"];
        assert!(share(arranged, "share") > share(arranged, "described_share"));
    }
}

#[test]
fn costs_of_repeating_are_swept() {
    let swept = json(&run("advise", &["--sweep", "repeat=0..6MB", "--json"]).good());
    let points = list(&swept["points"]);
    assert_eq!(
        (&swept["over"], &points[22]["size"]),
        (&"repeat".into(), &6_000_000.into())
    );
    let kept = [0, 22].map(|point| number(&points[point]["on_chip_bytes"]));
    assert!(kept[0] > kept[1] && kept[1] > 0, "{kept:?}");
}
