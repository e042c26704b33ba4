//! `--best`, `--arrangement` and `--assume-reach`: frames run another way, on the published frames with their reaches.

use serde_json::Value;

use crate::report::reported;
use crate::run::{
    FRAME, Run, contains, file, json, list, number, place, planned, shared, tileheap, tileheap_with,
};

/// A published frame at 1080p, with what is assumed of its reads.
fn granite() -> [String; 5] {
    let frame = shared("frames/granite_deferred_taa_bloom.json");
    let reach = shared("reach.json");
    [
        frame,
        "--size".into(),
        "1920x1080".into(),
        "--assume-reach".into(),
        reach,
    ]
}

fn run(command: &str, options: &[&str]) -> Run {
    let frame = granite();
    let frame: Vec<&str> = frame.iter().map(String::as_str).collect();
    tileheap(&[&[command], &frame[..], options].concat())
}

fn share(of: &Value, field: &str) -> f64 {
    of[field].as_f64().unwrap_or_else(|| panic!("{field} in {of}"))
}

#[test]
fn the_best_arrangement_is_planned_saved_and_found_valid() {
    let (saved, best) = (place("granite-best.json"), place("granite-best-plan.json"));
    let found = run(
        "plan",
        &["--best", "--json", "--save-arrangement", &saved, "-o", &best],
    );
    assert_eq!(found.good(), "");
    let plan = json(&std::fs::read_to_string(&best).expect("a plan"));
    let arranged = &plan["arrangement"];
    assert!(share(arranged, "share") >= 0.8 && share(arranged, "described_share") < 0.5);
    assert!(share(arranged, "share") <= share(arranged, "cap") && share(arranged, "shaded") <= 1.5);
    assert!(list(&plan["passes"]).len() > list(&arranged["changes"]).len());
    // A plan has its arrangement with it; with another one it is no plan of the frame.
    run("check", &[]).names(2, &["<PLAN>"]);
    let check = |options: &[&str]| run("check", &[&[best.as_str()], options].concat());
    check(&[]).shows(&["valid: "]);
    check(&["--arrangement", &saved]).shows(&["valid: "]);
    // What is saved is found again without a search, and says the same.
    let again = run("plan", &["--arrangement", &saved, "--json"]).good();
    let mut again = json(&again);
    assert_eq!(again["arrangement"]["arrangement"], arranged["arrangement"]);
    assert_eq!(again["arrangement"]["share"], arranged["share"]);
    assert_eq!(again["passes"], plan["passes"]);
    again["arrangement"]["arrangement"]["batches"][0]["groups"][0]["passes"][0] = "nothing".into();
    let spoilt = file("spoilt-best-plan.json", &again.to_string());
    run("check", &[&spoilt]).names(1, &["spoilt-best-plan.json", "`nothing`"]);
    let text = run("plan", &["--arrangement", &saved]).good();
    let text = contains(
        text,
        &[
            "Arrangement: ",
            "as described, cap ",
            "strips",
            "assumed",
            "changes",
            "Totals",
        ],
    );
    assert!(text.starts_with("Arrangement: ") && text.lines().all(|line| line.chars().count() <= 110));
}

/// What is gone from the frame is told, and the rest is planned.
#[test]
fn a_saved_arrangement_is_repaired() {
    let saved = place("granite-merged.json");
    let options = ["--best", "--allow", "merge", "--save-arrangement", &saved];
    run("plan", &options).shows(&["Arrangement: "]);
    let mut document = json(&std::fs::read_to_string(&saved).expect("an arrangement"));
    let groups = document["batches"][0]["groups"].as_array_mut().expect("groups");
    groups.push(serde_json::json!({ "passes": ["gone", "ui"], "strips": [1, 8] }));
    let stale = file("granite-stale.json", &document.to_string());
    let parts = [
        "repaired, for",
        "`gone`",
        "not kept: `gone` and `ui` in 1 x 8 strips",
    ];
    run("plan", &["--arrangement", &stale]).shows(&parts);
    let plan = json(&run("plan", &["--arrangement", &stale, "--json"]).good());
    assert_eq!(list(&plan["arrangement"]["not_kept"]).len(), 2);
}

#[test]
fn advice_begins_with_combinations_and_what_caps_the_frame() {
    let text = run("advise", &[]).good();
    let parts = [
        "Combinations of changes",
        "strips (halo in texels: ",
        "What caps the frame at 88.",
        "anywhere",
    ];
    let text = contains(text, &parts);
    let places = ["Combinations", "What caps", "Not in tile memory"].map(|part| text.find(part));
    assert!(places.is_sorted() && places[0].is_some(), "{text}");
    assert!(!text.contains("no pass can run in strips"), "{text}");
    let advice = json(&run("advise", &["--json"]).good());
    let combinations = list(&advice["combinations"]);
    let shares: Vec<f64> = combinations.iter().map(|one| share(one, "share")).collect();
    assert!(shares[0] >= 0.8 && shares.iter().rev().is_sorted(), "{shares:?}");
    for one in combinations {
        assert!(
            number(&one["saves_bytes"]) > 0 && !list(&one["changes"]).is_empty(),
            "{one}"
        );
    }
    let caps: f64 = list(&advice["caps"]).iter().map(|cap| share(cap, "share")).sum();
    assert!((share(&advice, "cap") + caps - 1.0).abs() < 1e-9);
    // Only what is allowed is done, and more shading where that is allowed.
    let some = json(&run("advise", &["--json", "--allow", "order,fuse"]).good());
    for one in list(&some["combinations"]) {
        let allowed = |kind: &Value| kind == "order" || kind == "fuse";
        assert!(list(&one["allow"]).iter().all(allowed), "{one}");
    }
    let strict = json(&run("plan", &["--best", "--shaded", "1.05", "--json"]).good());
    assert!(share(&strict["arrangement"], "shaded") <= 1.05);
}

/// Without declared reach nothing can be divided, and the advice says what to declare.
#[test]
fn frames_without_declared_reach_are_told_so() {
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
    let name = json(FRAME)["name"].as_str().expect("a name").to_owned();
    let frame = file("by name.json", FRAME);
    let several = format!(r#"{{ "frames": {{ "by name.json": {one}, "{name}": {one} }} }}"#);
    for text in [one, &several] {
        let reach = file("found-reach.json", text);
        let options = ["--assume-reach", &reach, "--heap", "1MiB", "--best", "--json"];
        let from_file = planned(&frame, &options[..5]);
        let from_input = tileheap_with(FRAME.as_bytes(), &[&["plan", "-"], &options[..]].concat());
        assert_eq!(json(&from_input.good()), from_file);
        assert!(
            share(&from_file["arrangement"], "share") > share(&from_file["arrangement"], "described_share")
        );
    }
}

#[test]
fn costs_of_repeating_are_swept() {
    let swept = json(&run("advise", &["--sweep", "repeat=0..6MB", "--json"]).good());
    assert_eq!(swept["over"], "repeat");
    let points = list(&swept["points"]);
    assert_eq!(
        (&points[0]["size"], &points[22]["size"]),
        (&0.into(), &6_000_000.into())
    );
    let kept = points.iter().map(|point| number(&point["on_chip_bytes"]));
    let kept: Vec<u64> = kept.collect();
    assert!(kept[0] > kept[22] && kept[22] > 0, "{kept:?}");
    let text = run("advise", &["--sweep", "repeat=0..6MB"]).good();
    contains(text, &["6,000,000 B", "#"]);
}

#[test]
fn the_page_begins_with_before_and_after() {
    let [frame, size, extent, assume, reach] = granite();
    let inputs = [
        frame.as_str(),
        &size,
        &extent,
        &assume,
        &reach,
        "--best",
        "--detail",
        "plan",
    ];
    let page = std::fs::read_to_string(reported("arranged.html", &inputs)).expect("a page");
    contains(
        page,
        &["As described", "of eligible traffic on chip, cap 88.", " strips"],
    );
    let picture = place("arranged.svg");
    let saved = place("arranged-plan.json");
    assert_eq!(run("plan", &["--best", "--json", "-o", &saved]).good(), "");
    assert_eq!(tileheap(&["report", &saved, "--svg", &picture]).good(), "");
    let picture = std::fs::read_to_string(picture).expect("a picture");
    contains(picture, &["As described", "Arranged", " strips</text>"]);
}

#[test]
fn bad_arrangements_and_reaches_are_named() {
    let frame = file("to arrange.json", FRAME);
    let written = |name: &str, text: &str| file(name, text);
    let unknown = written(
        "unknown-reach.json",
        r#"{ "reach": { "nobody": { "albedo": 1 } } }"#,
    );
    let others = written("others-reach.json", r#"{ "frames": { "other.json": {} } }"#);
    let odd = written(
        "odd-reach.json",
        r#"{ "reach": { "lighting": { "albedo": "far" } } }"#,
    );
    let other = r#"{ "format": "tileheap-arrangement", "version": 1, "frame": "theirs", "batches": [{ "groups": [{ "passes": ["x"] }] }] }"#;
    let newer = written(
        "newer-arrangement.json",
        &other.replace("\"version\": 1", "\"version\": 2"),
    );
    let other = written("other-arrangement.json", other);
    let nowhere = "/nowhere/best.json";
    let cases: [(&[&str], i32, &[&str]); 10] = [
        (
            &["--assume-reach", &unknown],
            1,
            &["unknown-reach.json", "`nobody`"],
        ),
        (
            &["--assume-reach", &others],
            1,
            &["others-reach.json", "to arrange.json"],
        ),
        (&["--assume-reach", &odd], 1, &["odd-reach.json"]),
        (
            &["--arrangement", &other],
            1,
            &["other-arrangement.json", "`theirs`"],
        ),
        (
            &["--arrangement", &newer],
            1,
            &["newer-arrangement.json", "version 2"],
        ),
        (&["--arrangement", &other, "--best"], 2, &["--best"]),
        (&["--best", "--allow", "nonsense"], 2, &["nonsense", "strips"]),
        (&["--best", "--shaded", "0.5"], 2, &["at least 1"]),
        (&["--allow", "merge"], 2, &["--best"]),
        (&["--best", "--save-arrangement", nowhere], 1, &[nowhere]),
    ];
    for (options, status, parts) in cases {
        tileheap(&[&["plan", &frame], options].concat()).names(status, parts);
    }
    tileheap(&["plan", &frame, "--save-arrangement", nowhere]).names(2, &["--best"]);
}
