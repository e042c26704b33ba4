//! `check`: plans of this command are valid, damaged ones are rejected.

use serde_json::Value;

use crate::run::{FRAME, Run, file, json, list, planned, shared_frames, tileheap, tileheap_with};

/// The verdict on a plan in its JSON form.
fn check(frame: &str, plan: &Value, options: &[&str]) -> Run {
    let arguments = [&["check", frame, "-"], options].concat();
    tileheap_with(plan.to_string().as_bytes(), &arguments)
}

#[test]
fn every_plan_of_a_shared_frame_is_right() {
    for frame in shared_frames() {
        for options in [
            &[][..],
            &["--strategy", "first-come"],
            &["--strategy", "fast", "--profile", "x2-85"],
        ] {
            let verdict = check(&frame, &planned(&frame, options), &[]).good();
            assert!(verdict.starts_with("valid: "), "{verdict}");
        }
    }
}

/// A caller may name stages and no accesses: what it does there is unknown, and even a read waits for it, and it for the read.
#[test]
fn reads_wait_for_unknown_accesses() {
    let frame = file("reads alone.json", include_str!("../data/reads_alone.json"));
    let tables = planned(&frame, &["--lowered"]);
    let rows = list(&tables["tables"]["image_barriers"]).iter();
    assert_eq!(
        rows.map(|row| &row["cause"]).collect::<Vec<_>>(),
        ["entry", "exit"]
    );
    check(&frame, &planned(&frame, &[]), &[]).good();
}

#[test]
fn a_plan_at_another_size_is_checked_at_that_size() {
    let frame = file("at another size.json", FRAME);
    let plan = planned(&frame, &["--size", "640x360"]);
    check(&frame, &plan, &["--size", "640x360"]).good();
    check(&frame, &plan, &[]).names(1, &["640 x 360", "1280 x 720"]);
}

type Spoil = fn(&mut Value);

/// The plan of the shared frame, changed.
fn spoilt(spoil: Spoil) -> Value {
    let mut plan = json(&tileheap_with(FRAME.as_bytes(), &["plan", "-", "--json"]).good());
    spoil(&mut plan);
    plan
}

/// Where a pass is recorded is for readers: it may be left out, and may not be wrong.
#[test]
fn damaged_plans_are_refused() {
    let frame = file("damaged frame.json", FRAME);
    let without = spoilt(|plan| {
        for pass in plan["passes"].as_array_mut().expect("passes") {
            pass.as_object_mut().expect("a pass").remove("within");
        }
    });
    assert!(check(&frame, &without, &[]).good().starts_with("valid: "));
    let damages: [(&str, Spoil); 5] = [
        ("passes[1].within.batch", |plan| {
            plan["passes"][1]["within"]["batch"] = 1.into()
        }),
        ("albedo", |plan| {
            plan["resources"][0]["placements"][0]["offset"] = 1.into()
        }),
        ("lighting", |plan| {
            plan["passes"][1]["bound_object"] = Value::Null;
            plan["passes"][1]["bound_bytes"] = 0.into();
        }),
        ("resources[0].accesses[0].count", |plan| {
            plan["resources"][0]["accesses"][0]["count"] = 9.into()
        }),
        ("", |plan| plan["totals"]["on_chip_bytes"] = 1.into()),
    ];
    for (wanted, damage) in damages {
        check(&frame, &spoilt(damage), &[]).names(1, &[wanted]);
    }
}

#[test]
fn a_plan_of_another_frame_is_refused() {
    let frame = file("mine.json", FRAME);
    let other = file("theirs.json", &FRAME.replace("albedo", "colour"));
    check(&frame, &planned(&other, &[]), &[]).names(1, &["`colour`", "`albedo`"]);
    check(&frame, &json(FRAME), &[]).names(1, &["tileheap-plan"]);
}

/// Readers without the frame tell a plan from what only looks like one.
#[test]
fn broken_plans_are_named_without_their_frame() {
    let whole = file("whole plan.json", &spoilt(|_| ()).to_string());
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
        let broken = file("broken plan.json", &spoilt(spoil).to_string());
        for arguments in [&["diff", &whole, &broken][..], &["report", &broken]] {
            tileheap(arguments).names(1, &[wanted, "broken plan.json"]);
        }
    }
}
