//! `plan`, `profile`, `completions` and help on good input.

use crate::run::{FRAME, command, file, json, scratch, tileheap, tileheap_with};
use crate::support::data;

const PRESETS: [&str; 4] = ["adreno-830", "adreno-840", "x2-85", "no-tile-memory"];

fn shared_frames() -> Vec<String> {
    let mut files: Vec<String> = std::fs::read_dir(data("frames"))
        .expect("a folder of frames")
        .map(|entry| {
            entry
                .expect("an entry")
                .path()
                .to_str()
                .expect("a path in UTF-8")
                .to_owned()
        })
        .filter(|path| path.ends_with(".json"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

#[test]
fn every_shared_frame_is_planned_on_every_preset() {
    for file in &shared_frames() {
        for preset in PRESETS {
            let report = tileheap(&["plan", file, "--profile", preset]).good();
            assert!(
                report.contains("Totals") && report.contains(preset),
                "{file} {preset}: {report}"
            );
            let plan = json(&tileheap(&["plan", file, "--profile", preset, "--json"]).good());
            assert_eq!(plan["format"], "tileheap-plan");
            let tile = plan["totals"]["tile_bytes"].as_u64().expect("a number");
            let kept = plan["totals"]["on_chip_bytes"].as_u64().expect("a number");
            assert_eq!(
                preset == "no-tile-memory",
                tile == 0 && kept == 0,
                "{file} {preset}"
            );
        }
    }
}

#[test]
fn arenas_take_at_most_2_percent_more_than_their_contents() {
    for file in &shared_frames() {
        for preset in PRESETS {
            let totals = &json(&tileheap(&["plan", file, "--profile", preset, "--json"]).good())["totals"];
            let (bytes, peak) = (totals["arena_bytes"].as_u64(), totals["arena_peak_live"].as_u64());
            let (bytes, peak) = (bytes.expect("a number"), peak.expect("a number"));
            assert!(bytes * 100 <= peak * 102, "{file} {preset}: {bytes} of {peak}");
        }
    }
}

#[test]
fn raw_sizes_are_the_files_own() {
    for file in &shared_frames() {
        let source = json(&std::fs::read_to_string(file).expect("a frame"));
        let plan = json(&tileheap(&["plan", file, "--sizes", "raw", "--heap", "18MiB", "--json"]).good());
        let mut eligible = 0;
        for resource in source["resources"].as_array().expect("resources") {
            let planned = plan["resources"].as_array().expect("resources").iter();
            let planned = planned
                .clone()
                .find(|planned| planned["name"] == resource["name"])
                .expect("the same resources");
            let tile = &planned["requirements"]["tile"];
            assert_eq!(
                tile.is_object(),
                resource["tile_eligible"] == true,
                "{file}: {resource}"
            );
            if tile.is_object() && resource["history"] != true && resource["imported"] != true {
                let accesses = planned["accesses"].as_array().expect("accesses").iter();
                let count: u64 = accesses
                    .map(|access| access["count"].as_u64().expect("a number"))
                    .sum();
                let size = tile["size"].as_u64().expect("a number");
                assert!(size % if resource["kind"] == "buffer" { 256 } else { 4096 } == 0);
                eligible += count * size;
            }
        }
        assert_eq!(
            plan["totals"]["eligible_bytes"].as_u64(),
            Some(eligible),
            "{file}"
        );
    }
}

#[test]
fn claims_that_contradict_the_rules_are_listed() {
    let frame = data("frames/qualcomm_tile_memory_sample.json");
    let frame = frame.to_str().expect("a path in UTF-8");
    let source = std::fs::read_to_string(frame).expect("a frame");
    let honest = tileheap(&["plan", frame]).good();
    let inverted = source
        .replace("\"tile_eligible\": true", "\"tile_eligible\": null")
        .replace("\"tile_eligible\": false", "\"tile_eligible\": true")
        .replace("\"tile_eligible\": null", "\"tile_eligible\": false");
    assert_ne!(source, inverted);
    let lying = tileheap_with(inverted.as_bytes(), &["plan", "-"]).good();
    let claims = |report: &str| report.matches("is declared").count();
    assert!(claims(&lying) > claims(&honest), "{honest}\n{lying}");
    assert!(
        lying.contains("is declared not eligible, but the rules allow it"),
        "{lying}"
    );
}

#[test]
fn standard_input_files_and_both_forms_give_one_plan() {
    let path = file("one plan.json", FRAME);
    let out = scratch("one plan out.json");
    let from_file = tileheap(&["plan", &path, "--json"]).good();
    assert_eq!(
        tileheap_with(FRAME.as_bytes(), &["plan", "-", "--json"]).good(),
        from_file
    );
    let out_text = out.to_str().expect("a path in UTF-8");
    assert_eq!(tileheap(&["plan", &path, "--json", "-o", out_text]).good(), "");
    assert_eq!(std::fs::read_to_string(&out).expect("the plan"), from_file);
}

#[test]
fn options_change_what_they_say() {
    let plan = |arguments: &[&str]| {
        let all: Vec<&str> = ["plan", "-", "--json"].iter().chain(arguments).copied().collect();
        json(&tileheap_with(FRAME.as_bytes(), &all).good())
    };
    let usual = plan(&[]);
    assert_eq!(usual["resources"][0]["placements"][0]["memory"], "tile");
    assert_eq!(usual["profile"]["name"], "adreno-830");
    assert_eq!(
        plan(&["--strategy", "off"])["resources"][0]["placements"][0]["memory"],
        "arena"
    );
    assert_eq!(
        plan(&["--strategy", "first-come"])["options"]["strategy"],
        "first-come"
    );
    let large = plan(&["--size", "1920x1080"]);
    assert_eq!(large["base_extent"], serde_json::json!([1920, 1080]));
    assert_eq!(large["resources"][0]["requirements"]["tile"]["size"], 8_355_840);
    let heap = plan(&["--heap", "4MiB"]);
    assert_eq!(heap["profile"]["memoryHeaps"][2]["size"], 4 << 20);
    assert_eq!(heap["resources"][0]["reason"]["kind"], "tile");
    assert_eq!(
        plan(&["--heap", "1MB"])["resources"][0]["reason"]["kind"],
        "too_large"
    );
}

#[test]
fn a_profile_is_a_template_for_others() {
    let text = tileheap(&["profile", "adreno-830"]).good();
    assert!(
        text.contains("8,355,840 B") && text.contains("tileBufferTransfers was not recorded"),
        "{text}"
    );
    let custom = tileheap(&["profile", "adreno-830", "--json"])
        .good()
        .replace("8355840", "4177920");
    let path = file("half a heap.json", &custom);
    assert_eq!(tileheap(&["profile", &path, "--json"]).good(), custom);
    let plan = json(&tileheap_with(FRAME.as_bytes(), &["plan", "-", "--json", "--profile", &path]).good());
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
        let help = tileheap(arguments).good();
        assert!(
            help.contains("Example") && help.contains("tileheap plan frame.json"),
            "{help}"
        );
        assert!(!help.contains('\u{1b}'), "colours only on a terminal");
    }
    assert!(tileheap(&["--version"]).good().starts_with("tileheap "));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(
            tileheap(&["completions", shell]).good().contains("tileheap"),
            "{shell}"
        );
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
