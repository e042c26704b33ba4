//! Bad input: one line that says what to do, and an exit status that is not 0.

use crate::run::{FRAME, file, scratch, tileheap, tileheap_with};

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
        "\"writes\": true, \"before\": { \"clear\": { \"float\": [0, 0, 0, 1] } }",
        "\"reads\": true",
    );
    assert!(
        read_first.contains("gbuffer") && read_first.contains("albedo"),
        "{read_first}"
    );
    let unknown = change("\"resource\": \"albedo\"", "\"resource\": \"albino\"");
    assert!(unknown.contains("albino"), "{unknown}");
    let two_writers = change("\"kind\": \"sampled_image\", \"reads\": true", "\"kind\": \"storage_image\", \"writes\": true },
        { \"resource\": \"albedo\", \"kind\": \"color_attachment\", \"writes\": true, \"before\": \"overwrite\"");
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
