//! Bad input: one line that says what to do, and an exit status that is not 0.

use serde_json::Value;

use crate::run::{FRAME, file, json, scratch, tileheap, tileheap_with};

fn plan_of(frame: &str) -> String {
    tileheap_with(frame.as_bytes(), &["plan", "-"]).bad(1)
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
        let message = plan_of(text);
        assert!(message.contains("standard input"), "{message}");
    }
    assert!(plan_of("{ \"name\": \"x\",\n  oops }").contains("line 2"));
    assert!(
        plan_of(&FRAME.replace("VK_FORMAT_R8G8B8A8_UNORM", "VK_FORMAT_R8G8B8A8_UNROM"))
            .contains("did you mean")
    );
    assert!(
        tileheap_with(b"\xff\xfe\0", &["plan", "-"])
            .bad(1)
            .contains("UTF-8")
    );
}

#[test]
fn impossible_frames_are_named() {
    let change = |from: &str, to: &str| {
        assert!(FRAME.contains(from), "{from}");
        plan_of(&FRAME.replacen(from, to, 1))
    };
    let read_first = change(
        "\"writes\": true, \"load_op\": { \"clear\": { \"float\": [0, 0, 0, 1] } }",
        "\"reads\": true",
    );
    assert!(
        read_first.contains("gbuffer") && read_first.contains("albedo"),
        "{read_first}"
    );
    let unknown = change("\"resource\": \"albedo\"", "\"resource\": \"albino\"");
    assert!(unknown.contains("albino"), "{unknown}");
    let two_writers = change("\"kind\": \"sampled_image\", \"reads\": true", "\"kind\": \"storage_image\", \"writes\": true },
        { \"resource\": \"albedo\", \"kind\": \"color_attachment\", \"writes\": true, \"load_op\": \"dont_care\"");
    assert!(two_writers.contains("two writers"), "{two_writers}");
    let zero = change("[1280, 720]", "[1280, 0]");
    assert!(zero.contains("extent"), "{zero}");
    let cyclic = change(
        "\"batches\": [{ \"command_buffers\"",
        "\"batches\": [{ \"waits\": [{ \"semaphore\": \"later\", \"stages\": [\"VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT\"] }], \"command_buffers\"",
    );
    assert!(cyclic.contains("later"), "{cyclic}");
}

#[test]
fn heaps_without_bytes_are_refused() {
    for size in ["0", "0MiB", "0.0000001B"] {
        let message = tileheap_with(FRAME.as_bytes(), &["plan", "-", "--heap", size]).bad(1);
        assert!(
            message.contains("0 B") && message.contains("no-tile-memory"),
            "{message}"
        );
    }
    let none = tileheap_with(
        FRAME.as_bytes(),
        &["plan", "-", "--heap", "1MiB", "--profile", "no-tile-memory"],
    )
    .bad(1);
    assert!(none.contains("no tile heap"), "{none}");
}

#[test]
fn sizes_that_no_device_has_are_refused() {
    let message = tileheap_with(FRAME.as_bytes(), &["plan", "-", "--size", "20000x20000"]).bad(1);
    assert!(
        message.contains("albedo") && message.contains("16384"),
        "{message}"
    );
    let huge = FRAME.replace("[1280, 720]", "[4294967295, 4294967295]");
    tileheap_with(huge.as_bytes(), &["plan", "-", "--sizes", "raw"]).bad(1);
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
        let message = tileheap(arguments).bad(2);
        assert!(
            message.contains(wanted) && message.contains("--help"),
            "{message}"
        );
    }
    let bare = tileheap(&[]);
    assert_eq!((bare.status, bare.out.as_str()), (2, ""));
    assert!(bare.err.contains("Usage: tileheap"), "{}", bare.err);
}

#[test]
fn files_that_cannot_be_read_or_written_are_named() {
    let missing = tileheap(&["plan", "no/such/frame.json"]).bad(1);
    assert!(missing.contains("`no/such/frame.json`"), "{missing}");
    tileheap(&["plan", env!("CARGO_TARGET_TMPDIR")]).bad(1);
    let profile = tileheap(&["profile", "adreno-9000"]).bad(1);
    assert!(
        profile.contains("adreno-830") && profile.contains("x2-85"),
        "{profile}"
    );
    let profile = tileheap(&["profile", "no-such.json"]).bad(1);
    assert!(profile.contains("`no-such.json`"), "{profile}");
    let wrong = file("a frame is no profile.json", FRAME);
    assert!(tileheap(&["profile", &wrong]).bad(1).contains("tileheap-profile"));
    let nowhere = scratch("no such folder").join("plan.json");
    let nowhere = nowhere.to_str().expect("a path in UTF-8");
    let unwritten = tileheap_with(FRAME.as_bytes(), &["plan", "-", "-o", nowhere]).bad(1);
    assert!(unwritten.contains("cannot write"), "{unwritten}");
    let frame = file("both from standard input.json", FRAME);
    assert!(tileheap(&["check", "-", "-"]).bad(1).contains("standard input"));
    tileheap(&["check", &frame, "no-such-plan.json"]).bad(1);
}

/// Every kind of document that a released version wrote: the error names the version.
#[test]
fn documents_of_older_versions_are_rejected() {
    let older = |name: &str, text: &str| {
        let mut document: Value = json(text);
        let version = document["version"].as_u64().expect("a version") - 1;
        document["version"] = version.into();
        (file(name, &document.to_string()), version.to_string())
    };
    let frame = file("a frame.json", FRAME);
    let records = file("older.csv", "id,lower,upper,size\na,0,2,4\nb,1,3,4\n");
    let (trace, graph) = (scratch("older.trace"), scratch("older-graph.json"));
    let [trace, graph] = [&trace, &graph].map(|path| path.to_str().expect("UTF-8"));
    tileheap(&["trace", "strafe", "--frames", "4", "-o", trace]).good();
    let tvm = r#"{"nodes": [{"op": "null", "name": "x", "inputs": []}, {"op": "tvm_op", "name": "relu", "inputs": [[0, 0, 0]]}],
      "arg_nodes": [0], "heads": [[1, 0, 0]], "node_row_ptr": [0, 1, 2], "attrs": { "shape": ["list_shape", [[4], [4]]],
      "dltype": ["list_str", ["float32", "float32"]], "storage_id": ["list_int", [0, 1]]}}"#;
    tileheap_with(tvm.as_bytes(), &["tensors", "-", "--graph", graph]).good();
    let graph = std::fs::read_to_string(graph).expect("the graph");
    let weights = r#"{ "format": "tileheap-weights", "version": 1, "accesses": [] }"#;
    let emulated = r#"{"format":"tileheap-emulator-trace","version":2,"profile":"hostile","heap":4}"#;
    let written = |arguments: &[&str]| tileheap(arguments).good();
    let cases: [(&str, String, &[&str], i32); 9] = [
        ("frame", FRAME.to_owned(), &["plan"], 1),
        ("plan", written(&["plan", &frame, "--json"]), &["report"], 1),
        (
            "profile",
            written(&["profile", "x2-85", "--json"]),
            &["profile"],
            1,
        ),
        ("weights", weights.to_owned(), &["plan", &frame, "--weights"], 1),
        ("graph", graph, &["tensors"], 2),
        (
            "tensors",
            written(&["tensors", &records, "--json"]),
            &["report"],
            1,
        ),
        (
            "replay",
            written(&["replay", trace, "--budget", "2MiB", "--json"]),
            &["report"],
            1,
        ),
        (
            "sweep",
            written(&["advise", &frame, "--sweep", "heap=2MiB..8MiB", "--json"]),
            &["report"],
            1,
        ),
        ("trace", emulated.to_owned(), &["report"], 1),
    ];
    for (name, text, arguments, status) in cases {
        let (path, version) = older(&format!("older {name}.json"), &text);
        let message = tileheap(&[arguments, &[&path]].concat()).bad(status);
        assert!(
            message.contains("version") && message.contains(&version),
            "{name}: {message}"
        );
    }
}
