//! `plan`, `profile`, `completions` and help on good input.

use crate::run::{
    FRAME, command, file, find, json, list, number, planned, shared, shared_frames, tileheap, tileheap_with,
};

const PRESETS: [&str; 4] = ["adreno-830", "adreno-840", "x2-85", "no-tile-memory"];

/// Arenas take at most 2 percent more than their contents.
#[test]
fn every_shared_frame_is_planned_on_every_preset() {
    for file in &shared_frames() {
        for preset in PRESETS {
            tileheap(&["plan", file, "--profile", preset]).shows(&["Totals", preset]);
            let plan = planned(file, &["--profile", preset]);
            assert_eq!(plan["format"], "tileheap-plan");
            let total = |name: &str| number(&plan["totals"][name]);
            let is_empty = total("tile_bytes") == 0 && total("on_chip_bytes") == 0;
            assert_eq!(preset == "no-tile-memory", is_empty, "{file} {preset}");
            let (bytes, peak) = (total("arena_bytes"), total("arena_peak_live"));
            assert!(bytes * 100 <= peak * 102, "{file} {preset}: {bytes} of {peak}");
        }
    }
}

#[test]
fn raw_sizes_are_the_files_own() {
    for file in &shared_frames() {
        let source = json(&std::fs::read_to_string(file).expect("a frame"));
        let plan = planned(file, &["--sizes", "raw", "--heap", "18MiB"]);
        let mut eligible = 0;
        for resource in list(&source["resources"]) {
            let planned = find(&plan["resources"], "/name", &resource["name"]);
            let tile = &planned["requirements"]["tile"];
            assert_eq!(
                tile.is_object(),
                resource["tile_eligible"] == true,
                "{file}: {resource}"
            );
            if tile.is_object() && resource["history"] != true && resource["imported"] != true {
                let accesses = list(&planned["accesses"]).iter();
                let count: u64 = accesses.map(|access| number(&access["count"])).sum();
                let size = number(&tile["size"]);
                assert!(size % if resource["kind"] == "buffer" { 256 } else { 4096 } == 0);
                eligible += count * size;
            }
        }
        assert_eq!(number(&plan["totals"]["eligible_bytes"]), eligible, "{file}");
    }
}

#[test]
fn claims_that_contradict_the_rules_are_listed() {
    let frame = shared("frames/qualcomm_tile_memory_sample.json");
    let source = std::fs::read_to_string(&frame).expect("a frame");
    let honest = tileheap(&["plan", &frame]).good();
    let inverted = source
        .replace("\"tile_eligible\": true", "\"tile_eligible\": null")
        .replace("\"tile_eligible\": false", "\"tile_eligible\": true")
        .replace("\"tile_eligible\": null", "\"tile_eligible\": false");
    assert_ne!(source, inverted);
    let lying = tileheap_with(inverted.as_bytes(), &["plan", "-"])
        .shows(&["is declared not eligible, but the rules allow it"]);
    let claims = |report: &str| report.matches("is declared").count();
    assert!(claims(&lying) > claims(&honest), "{honest}\n{lying}");
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    // More output than fits in a pipe.
    let frame = file("broken pipe.json", FRAME);
    let mut child = command()
        .args(["plan", &frame, "--json"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the command ends");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
