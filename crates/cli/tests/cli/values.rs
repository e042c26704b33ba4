//! Frames that use one image for several purposes: each of its values is placed separately.

use serde_json::Value;

use crate::run::{file, json, list, place, tileheap};

/// An image of a pool that ambient occlusion, bloom and blur use one after the other.
const POOLED: &str = include_str!("../data/pooled.json");

/// The same frame with an image for each purpose, in the order in which values are listed.
fn apart() -> String {
    let mut frame: Value = serde_json::from_str(POOLED).expect("a frame");
    let mut images: Vec<Value> = list(&frame["resources"]).to_vec();
    let pool = images[0].clone();
    images[0]["name"] = "pool 1".into();
    for number in 2..4 {
        let mut image = pool.clone();
        image["name"] = format!("pool {number}").into();
        images.push(image);
    }
    frame["resources"] = images.into();
    let passes = &mut frame["submits"][0]["batches"][0]["command_buffers"][0]["passes"];
    let mut uses = 0;
    for pass in passes.as_array_mut().expect("passes") {
        for access in pass["accesses"].as_array_mut().expect("accesses") {
            if access["resource"] == "pool" {
                access["resource"] = format!("pool {}", 1 + uses / 2).into();
                uses += 1;
            }
        }
    }
    assert_eq!(uses, 6);
    frame.to_string()
}

#[test]
fn a_pooled_image_plans_as_well_as_separate_ones() {
    let [pooled, apart] = [file("pooled.json", POOLED), file("apart.json", &apart())];
    for heap in ["1MiB", "6MiB", "8355840", "18MiB"] {
        let totals = |frame: &str| {
            let plan = json(&tileheap(&["plan", frame, "--heap", heap, "--json"]).good());
            plan["totals"].clone()
        };
        assert_eq!(totals(&pooled), totals(&apart), "{heap}");
    }
    let shown = tileheap(&["plan", &pooled, "--heap", "6MiB"]);
    shown.shows(&[
        "pool (value 1 of 3)",
        "pool (value 2 of 3)",
        "pool (value 3 of 3)",
    ]);
    // An exclusion applies to the whole image.
    let whole = tileheap(&["plan", &pooled, "--heap", "6MiB", "--exclude", "pool"]).good();
    assert!(!whole.contains("value 1 of 3"), "{whole}");
}

#[test]
fn plans_of_values_are_checked_with_the_frame() {
    let frame = file("checked_pool.json", POOLED);
    for options in [
        &[][..],
        &["--split"],
        &["--best"],
        &["--exclude", "pool"],
        &["--strategy", "off"],
    ] {
        let plan = place("pooled_plan.json");
        let run = ["plan", &frame, "--heap", "6MiB", "--json", "-o", &plan];
        tileheap(&[&run[..], options].concat()).good();
        tileheap(&["check", &frame, &plan]).shows(&["valid: "]);
    }
}

#[test]
fn every_command_takes_frames_with_values() {
    let frame = file("reported_pool.json", POOLED);
    tileheap(&["advise", &frame, "--heap", "6MiB"]).good();
    tileheap(&["plan", &frame, "--heap", "6MiB", "--json", "--advice"]).good();
    tileheap(&["plan", &frame, "--heap", "6MiB", "--best"]).good();
    tileheap(&["plan", &frame, "--lowered"]).shows(&["pool (value 2 of 3)"]);
    tileheap(&["advise", &frame, "--sweep", "heap=1MiB..8MiB"]).good();
    tileheap(&["gate", &frame, "--heap", "6MiB", "--min-on-chip", "20%"]).good();
    let page = place("pooled.html");
    tileheap(&["report", &frame, "--heap", "6MiB", "-o", &page]).good();
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.contains("pool (value 2 of 3)"));
}
