//! Bad input: one line that says what to do, and an exit status that is not 0.

use serde_json::Value;

use crate::run::{FRAME, Run, file, json, place, scratch, tileheap, tileheap_with};

/// Plans the frame in a text.
fn plan_of(frame: &str, options: &[&str]) -> Run {
    tileheap_with(frame.as_bytes(), &[&["plan", "-"], options].concat())
}

#[test]
fn malformed_json_is_located() {
    for text in [
        "",
        "{",
        "[]",
        "null",
        "\u{feff}{}",
        "{\"name\": 1}",
        "{\"format\": \"other\"}",
        &"[".repeat(100_000),
    ] {
        plan_of(text, &[]).names(1, &["standard input"]);
    }
    plan_of("{ \"name\": \"x\",\n  oops }", &[]).names(1, &["line 2"]);
    let misspelt = FRAME.replace("VK_FORMAT_R8G8B8A8_UNORM", "VK_FORMAT_R8G8B8A8_UNROM");
    plan_of(&misspelt, &[]).names(1, &["did you mean"]);
    tileheap_with(b"\xff\xfe\0", &["plan", "-"]).names(1, &["UTF-8"]);
}

#[test]
fn impossible_frames_are_named() {
    for (from, to, parts) in [
        (
            r#""writes": true, "load_op": { "clear": { "float": [0, 0, 0, 1] } }"#,
            r#""reads": true"#,
            &["gbuffer", "albedo"][..],
        ),
        (r#""resource": "albedo""#, r#""resource": "albino""#, &["albino"]),
        (
            r#""kind": "sampled_image", "reads": true"#,
            r#""kind": "storage_image", "writes": true },
               { "resource": "albedo", "kind": "color_attachment", "writes": true, "load_op": "dont_care""#,
            &["two writers"],
        ),
        ("[1280, 720]", "[1280, 0]", &["extent"]),
        (
            r#""batches": [{ "command_buffers""#,
            r#""batches": [{ "waits": [{ "semaphore": "later", "stages": ["VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT"] }], "command_buffers""#,
            &["later"],
        ),
    ] {
        assert!(FRAME.contains(from), "{from}");
        plan_of(&FRAME.replacen(from, to, 1), &[]).names(1, parts);
    }
}

#[test]
fn sizes_that_no_device_has_are_refused() {
    for size in ["0", "0MiB", "0.0000001B"] {
        plan_of(FRAME, &["--heap", size]).names(1, &["0 B", "no-tile-memory"]);
    }
    let none = ["--heap", "1MiB", "--profile", "no-tile-memory"];
    plan_of(FRAME, &none).names(1, &["no tile heap"]);
    plan_of(FRAME, &["--size", "20000x20000"]).names(1, &["albedo", "16384"]);
    let huge = FRAME.replace("[1280, 720]", "[4294967295, 4294967295]");
    plan_of(&huge, &["--sizes", "raw"]).bad(1);
}

#[test]
fn the_command_line_is_checked() {
    let cases: [(&[&str], &str); 9] = [
        (&["plan"], "<FRAME>"),
        (&["paln"], "plan"),
        (&["plan", "-", "--heap", "many"], "18MiB"),
        (&["plan", "-", "--heap", "-1"], "--heap"),
        (&["plan", "-", "--size", "1920"], "1920x1080"),
        (&["plan", "-", "--size", "0x0"], "at least 1"),
        (&["plan", "-", "--strategy", "best"], "first-come"),
        (&["plan", "-", "--sizes", "big"], "raw"),
        (&["plan", "-", "--colour"], "--colour"),
    ];
    for (arguments, wanted) in cases {
        tileheap(arguments).names(2, &[wanted, "--help"]);
    }
    let bare = tileheap(&[]);
    assert_eq!((bare.status, bare.out.as_str()), (2, ""));
    assert!(bare.err.contains("Usage: tileheap"), "{}", bare.err);
}

#[test]
fn files_that_cannot_be_read_or_written_are_named() {
    let frame = file("a frame is no profile.json", FRAME);
    let nowhere = scratch("no such folder").join("plan.json");
    let nowhere = nowhere.to_str().expect("a path in UTF-8");
    let cases: [(&[&str], &[&str]); 8] = [
        (&["plan", "no/such/frame.json"], &["`no/such/frame.json`"]),
        (&["plan", env!("CARGO_TARGET_TMPDIR")], &[]),
        (&["profile", "adreno-9000"], &["adreno-830", "x2-85"]),
        (&["profile", "no-such.json"], &["`no-such.json`"]),
        (&["profile", &frame], &["tileheap-profile"]),
        (&["plan", &frame, "-o", nowhere], &["cannot write"]),
        (&["check", "-", "-"], &["standard input"]),
        (&["check", &frame, "no-such-plan.json"], &[]),
    ];
    for (arguments, parts) in cases {
        tileheap(arguments).names(1, parts);
    }
}

/// Every kind of document that a released version wrote: the error names the version.
#[test]
fn documents_of_older_versions_are_rejected() {
    let frame = file("a frame.json", FRAME);
    let records = file("older.csv", "id,lower,upper,size\na,0,2,4\nb,1,3,4\n");
    let (trace, graph) = (place("older.trace"), place("older-graph.json"));
    tileheap(&["trace", "strafe", "--frames", "4", "-o", &trace]).good();
    let tvm = r#"{"nodes": [{"op": "null", "name": "x", "inputs": []}, {"op": "tvm_op", "name": "relu", "inputs": [[0, 0, 0]]}],
      "arg_nodes": [0], "heads": [[1, 0, 0]], "node_row_ptr": [0, 1, 2], "attrs": { "shape": ["list_shape", [[4], [4]]],
      "dltype": ["list_str", ["float32", "float32"]], "storage_id": ["list_int", [0, 1]]}}"#;
    tileheap_with(tvm.as_bytes(), &["tensors", "-", "--graph", &graph]).good();
    let graph = std::fs::read_to_string(graph).expect("the graph");
    let weights = r#"{ "format": "tileheap-weights", "version": 1, "accesses": [] }"#;
    let emulated = r#"{"format":"tileheap-emulator-trace","version":2,"profile":"hostile","heap":4}"#;
    let written = |arguments: &str| {
        let arguments: Vec<&str> = arguments.split('|').collect();
        tileheap(&arguments).good()
    };
    let cases: [(&str, String, &[&str], i32); 9] = [
        ("frame", FRAME.to_owned(), &["plan"], 1),
        ("plan", written(&format!("plan|{frame}|--json")), &["report"], 1),
        ("profile", written("profile|x2-85|--json"), &["profile"], 1),
        ("weights", weights.to_owned(), &["plan", &frame, "--weights"], 1),
        ("graph", graph, &["tensors"], 2),
        (
            "tensors",
            written(&format!("tensors|{records}|--json")),
            &["report"],
            1,
        ),
        (
            "replay",
            written(&format!("replay|{trace}|--budget|2MiB|--json")),
            &["report"],
            1,
        ),
        (
            "sweep",
            written(&format!("advise|{frame}|--sweep|heap=2MiB..8MiB|--json")),
            &["report"],
            1,
        ),
        ("trace", emulated.to_owned(), &["report"], 1),
    ];
    for (name, text, arguments, status) in cases {
        let mut document: Value = json(&text);
        let version = document["version"].as_u64().expect("a version") - 1;
        document["version"] = version.into();
        let path = file(&format!("older {name}.json"), &document.to_string());
        let run = tileheap(&[arguments, &[&path]].concat());
        run.names(status, &["version", &version.to_string()]);
    }
}
