//! `check`: plans of this command are valid, damaged ones are rejected.

use serde_json::Value;

use crate::run::{FRAME, Run, file, json, tileheap, tileheap_with};
use crate::support::data;

#[test]
fn every_plan_of_a_shared_frame_is_right() {
    for entry in std::fs::read_dir(data("frames")).expect("a folder of frames") {
        let path = entry.expect("an entry").path();
        let frame = path.to_str().expect("a path in UTF-8");
        if !frame.ends_with(".json") {
            continue;
        }
        for arguments in [
            &[][..],
            &["--strategy", "first-come"],
            &["--strategy", "fast", "--profile", "x2-85"],
        ] {
            let all: Vec<&str> = ["plan", frame, "--json"]
                .iter()
                .chain(arguments)
                .copied()
                .collect();
            let plan = tileheap(&all).good();
            let verdict = tileheap_with(plan.as_bytes(), &["check", frame, "-"]).good();
            assert!(verdict.starts_with("valid: "), "{verdict}");
        }
    }
}

/// A caller may name stages and no accesses: what it does there is unknown, and even a read waits for it, and it for the read.
#[test]
fn reads_wait_for_unknown_accesses() {
    const ONLY_READ: &str = r#"{
      "format": "tileheap-frame", "version": 2, "name": "reads alone", "base_extent": [64, 64],
      "queues": [{ "name": "graphics", "capabilities": ["VK_QUEUE_GRAPHICS_BIT"] }],
      "resources": [{ "name": "picture", "image": { "format": "VK_FORMAT_R8G8B8A8_UNORM", "scale": [1.0, 1.0] },
        "persistence": { "external": {
          "entry": { "layout": "VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL", "stages": ["VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT"] },
          "exit": { "layout": "VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL", "stages": ["VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT"] }
        } } }],
      "submits": [{ "queue": "graphics", "batches": [{ "command_buffers": [{ "name": "all", "passes": [
        { "name": "measure", "kind": "compute", "accesses": [
          { "resource": "picture", "kind": "sampled_image", "reads": true }
        ] }
      ] }] }] }]
    }"#;
    let frame = file("reads alone.json", ONLY_READ);
    let plan = tileheap(&["plan", &frame, "--json"]).good();
    let tables = json(&tileheap(&["plan", &frame, "--lowered", "--json"]).good());
    let causes: Vec<&Value> = tables["tables"]["image_barriers"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| &row["cause"])
        .collect();
    assert_eq!(causes, ["entry", "exit"]);
    tileheap_with(plan.as_bytes(), &["check", &frame, "-"]).good();
}

#[test]
fn a_plan_at_another_size_is_checked_at_that_size() {
    let frame = file("at another size.json", FRAME);
    let plan = tileheap(&["plan", &frame, "--json", "--size", "640x360"]).good();
    tileheap_with(plan.as_bytes(), &["check", &frame, "-", "--size", "640x360"]).good();
    let message = tileheap_with(plan.as_bytes(), &["check", &frame, "-"]).bad(1);
    assert!(
        message.contains("640 x 360") && message.contains("1280 x 720"),
        "{message}"
    );
}

/// The verdict on the plan of the frame of two passes, changed by `damage`.
fn damaged(name: &str, damage: impl FnOnce(&mut Value)) -> Run {
    let frame = file(&format!("{name} frame.json"), FRAME);
    let mut plan = json(&tileheap(&["plan", &frame, "--json"]).good());
    damage(&mut plan);
    tileheap_with(plan.to_string().as_bytes(), &["check", &frame, "-"])
}

/// Where a pass is recorded is for readers: it may be left out, and may not be wrong.
#[test]
fn where_passes_are_recorded_agrees_with_the_frame() {
    let without = damaged("without", |plan| {
        for pass in plan["passes"].as_array_mut().expect("passes") {
            pass.as_object_mut().expect("a pass").remove("within");
        }
    });
    assert!(without.good().starts_with("valid: "));
    let wrong = damaged("within", |plan| plan["passes"][1]["within"]["batch"] = 1.into()).bad(1);
    assert!(wrong.contains("passes[1].within.batch"), "{wrong}");
}

#[test]
fn damaged_plans_are_refused() {
    let offset = damaged("offset", |plan| {
        plan["resources"][0]["placements"][0]["offset"] = 1.into()
    })
    .bad(1);
    assert!(offset.contains("albedo"), "{offset}");
    let bound = damaged("bound", |plan| {
        plan["passes"][1]["bound_object"] = Value::Null;
        plan["passes"][1]["bound_bytes"] = 0.into();
    });
    assert!(bound.bad(1).contains("lighting"));
    let count = damaged("count", |plan| {
        plan["resources"][0]["accesses"][0]["count"] = 9.into()
    })
    .bad(1);
    assert!(count.contains("resources[0].accesses[0].count"), "{count}");
    let total = damaged("total", |plan| plan["totals"]["on_chip_bytes"] = 1.into());
    total.bad(1);
}

#[test]
fn a_plan_of_another_frame_is_refused() {
    let frame = file("mine.json", FRAME);
    let other = file("theirs.json", &FRAME.replace("albedo", "colour"));
    let plan = tileheap(&["plan", &other, "--json"]).good();
    let message = tileheap_with(plan.as_bytes(), &["check", &frame, "-"]).bad(1);
    assert!(
        message.contains("`colour`") && message.contains("`albedo`"),
        "{message}"
    );
    let message = tileheap_with(FRAME.as_bytes(), &["check", &frame, "-"]).bad(1);
    assert!(message.contains("tileheap-plan"), "{message}");
}

/// Readers without the frame tell a plan from what only looks like one.
#[test]
fn broken_plans_are_named_without_their_frame() {
    let whole = tileheap_with(FRAME.as_bytes(), &["plan", "-", "--json"]).good();
    let whole_file = file("whole plan.json", &whole);
    type Spoil = fn(&mut Value);
    let breaks: [(&str, Spoil); 6] = [
        ("resources", |plan| plan["resources"] = "x".into()),
        ("albedo", |plan| {
            let again = plan["resources"][0].clone();
            plan["resources"].as_array_mut().expect("resources").push(again);
        }),
        ("object 77", |plan| {
            plan["resources"][0]["placements"][0]["object"] = 77.into()
        }),
        ("`nowhere`", |plan| {
            plan["resources"][0]["placements"][0]["last_pass"] = "nowhere".into();
        }),
        ("`nothing`", |plan| {
            plan["resources"][0]["accesses"][0]["pass"] = "nothing".into()
        }),
        ("steps [0, 9)", |plan| {
            plan["resources"][0]["placements"][0]["end"] = 9.into()
        }),
    ];
    for (wanted, spoil) in breaks {
        let mut plan: Value = json(&whole);
        spoil(&mut plan);
        let broken = file("broken plan.json", &plan.to_string());
        for arguments in [&["diff", &whole_file, &broken][..], &["report", &broken]] {
            let message = tileheap(arguments).bad(1);
            assert!(
                message.contains(wanted) && message.contains("broken plan.json"),
                "{arguments:?}: {message}"
            );
        }
    }
}
