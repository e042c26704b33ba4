//! `plan`, `profile`, `completions` and help on good input.

use crate::run::{
    FRAME, command, file, find, json, list, number, place, planned, shared, shared_frames, tileheap,
    tileheap_with,
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
    let lying = tileheap_with(inverted.as_bytes(), &["plan", "-"]);
    let lying = lying.shows(&["is declared not eligible, but the rules allow it"]);
    let claims = |report: &str| report.matches("is declared").count();
    assert!(claims(&lying) > claims(&honest), "{honest}\n{lying}");
}

#[test]
fn standard_input_files_and_both_forms_give_one_plan() {
    let (path, out) = (file("one plan.json", FRAME), place("one plan out.json"));
    let from_file = tileheap(&["plan", &path, "--json"]).good();
    let from_input = tileheap_with(FRAME.as_bytes(), &["plan", "-", "--json"]);
    assert_eq!(from_input.good(), from_file);
    assert_eq!(tileheap(&["plan", &path, "--json", "-o", &out]).good(), "");
    assert_eq!(std::fs::read_to_string(&out).expect("the plan"), from_file);
}

#[test]
fn options_change_what_they_say() {
    let frame = file("options.json", FRAME);
    for (options, pointer, value) in [
        ("--bin-cost 0", "/resources/0/placements/0/memory", "\"tile\""),
        ("--bin-cost 0", "/profile/name", "\"adreno-830\""),
        ("--strategy off", "/resources/0/placements/0/memory", "\"arena\""),
        ("--strategy first-come", "/options/strategy", "\"first-come\""),
        ("--size 1920x1080", "/base_extent", "[1920, 1080]"),
        (
            "--size 1920x1080",
            "/resources/0/requirements/tile/size",
            "8355840",
        ),
        ("--heap 4MiB", "/profile/memoryHeaps/2/size", "4194304"),
        ("--heap 4MiB", "/resources/0/reason/kind", "\"tile\""),
        ("--heap 1MB", "/resources/0/reason/kind", "\"too_large\""),
    ] {
        let plan = planned(&frame, &options.split(' ').collect::<Vec<_>>());
        assert_eq!(plan.pointer(pointer), Some(&json(value)), "{options}");
    }
}

#[test]
fn a_profile_is_a_template_for_others() {
    let text = tileheap(&["profile", "adreno-830"]);
    text.shows(&["8,355,840 B", "tileBufferTransfers was not recorded"]);
    let custom = tileheap(&["profile", "adreno-830", "--json"]).good();
    let custom = custom.replace("8355840", "4177920");
    let path = file("half a heap.json", &custom);
    assert_eq!(tileheap(&["profile", &path, "--json"]).good(), custom);
    let plan = planned(&file("halved.json", FRAME), &["--profile", &path]);
    assert_eq!(plan["profile"]["memoryHeaps"][2]["size"], 4_177_920);
    for preset in PRESETS {
        tileheap(&["profile", preset]).good();
    }
}

#[test]
fn help_teaches_and_scripts_complete() {
    for arguments in [
        &["--help"][..],
        &["plan", "--help"],
        &["check", "--help"],
        &["profile", "--help"],
    ] {
        let help = tileheap(arguments).shows(&["Example", "tileheap plan frame.json"]);
        assert!(!help.contains('\u{1b}'), "colours only on a terminal");
    }
    assert!(tileheap(&["--version"]).good().starts_with("tileheap "));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        tileheap(&["completions", shell]).shows(&["tileheap"]);
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    // A heap of reports: more than a pipe holds.
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
