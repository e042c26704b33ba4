//! Input that scripts cannot contain: bytes that are not text, and large documents.

use crate::run::{FRAME, contains, scratch, tileheap_in, tileheap_with};

#[test]
fn input_that_is_no_text_is_refused() {
    let deep = "[".repeat(100_000);
    for (bytes, part) in [
        (&b"\xff\xfe\0"[..], "UTF-16"),
        (b"{\xff}", "not UTF-8"),
        ("\u{feff}{}".as_bytes(), "standard input"),
        (deep.as_bytes(), "standard input"),
    ] {
        tileheap_with(bytes, &["plan", "-"]).names(1, &[part]);
    }
    for command in ["pack", "tensors"] {
        let no_text = tileheap_with(b"id,lower,upper,size\na,0,1,\xff\n", &[command, "-"]);
        no_text.names(1, &[":2: ", "not UTF-8"]);
    }
}

#[test]
fn a_capture_without_a_frame_leaves_no_folder() {
    let folder = scratch("nothing-captured");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, text) in [
        (
            "VkLayer_tileheap_capture.json",
            "{\"layer\": {\"library_path\": \"./nothing.so\"}}",
        ),
        ("nothing.so", "a library that nothing loads"),
    ] {
        std::fs::write(folder.join(name), text).expect("a file");
    }
    for (out, program) in [("new/frames", "true"), ("new/frames", "no-such-program")] {
        let command = ["capture", "--layers", ".", "--output", out, "--", program];
        tileheap_in(&folder, b"", &command).names(1, &[program]);
        assert!(!folder.join("new").exists(), "{program}");
    }
    std::fs::write(folder.join("frame.json"), FRAME).expect("a file");
    let again = ["capture", "--from", "frame.json", "--output", "new/frames"];
    tileheap_in(&folder, b"", &again).names(1, &["not a captured frame"]);
    assert!(!folder.join("new").exists());
    std::fs::create_dir(folder.join("old")).expect("a folder");
    let command = ["capture", "--layers", ".", "--output", "old", "--", "true"];
    tileheap_in(&folder, b"", &command).names(1, &["no frame of `true`"]);
    let left = std::fs::read_dir(folder.join("old")).expect("an old folder stays");
    assert_eq!(left.count(), 0);
}

/// 1 for a file that cannot be read, 2 for an invalid command line; 3 for a negative answer.
#[test]
fn all_commands_have_the_same_exit_status_for_the_same_fault() {
    for command in [
        &["plan", "missing"][..],
        &["advise", "missing"],
        &["report", "missing"],
        &["check", "missing", "missing"],
        &["diff", "missing", "missing"],
        &["gate", "missing", "--min-on-chip", "60%"],
        &["check-frame", "missing"],
        &["capture", "--layers", ".", "--from", "missing"],
        &["profile", "missing.json"],
        &["pack", "missing"],
        &["tensors", "missing"],
        &["judge", "missing"],
        &["replay", "missing", "--memory", "1MiB"],
    ] {
        tileheap_with(b"", command).names(1, &["missing"]);
        let unknown = [command, &["--unknown"]].concat();
        tileheap_with(b"", &unknown).names(2, &["--unknown"]);
    }
}

/// As editors on Windows save files.
#[test]
fn byte_order_marks_and_carriage_returns_are_accepted() {
    let saved = |text: &str| format!("\u{feff}{text}").replace('\n', "\r\n");
    let frame = saved(FRAME);
    tileheap_with(frame.as_bytes(), &["plan", "-"]).shows(&["albedo"]);
    tileheap_with(frame.as_bytes(), &["report", "-"]).good();
    let table = saved("id,lower,upper,size\na,0,3,4\n");
    tileheap_with(table.as_bytes(), &["pack", "-"]).shows(&["height"]);
    tileheap_with(table.as_bytes(), &["tensors", "-"]).shows(&["4 B"]);
}

#[test]
fn names_do_not_control_the_terminal() {
    let table = b"id,lower,upper,size,offset\n\x1b[31mred,0,3,4,0\nb,0,3,4,0\n";
    let run = tileheap_with(table, &["judge", "-"]);
    assert_eq!(run.status, 3);
    contains(run.out, &["`\u{fffd}[31mred` (line 2) and `b`"]);
}

#[test]
fn a_small_budget_gives_a_packing_without_a_capacity() {
    let row = |id: u64| {
        let lower = id * 7 % 991;
        format!("{id},{lower},{},{}", lower + 1 + id % 50, 1 + id * id % 7919)
    };
    let rows: Vec<String> = (0..3000).map(row).collect();
    let table = format!("id,lower,upper,size\n{}\n", rows.join("\n"));
    tileheap_with(table.as_bytes(), &["pack", "-", "--steps", "1"]).shows(&["height"]);
}

/// An answer, not an error, although the exit status is not 0.
#[test]
fn what_does_not_fit_is_proved() {
    let table = b"id,lower,upper,size,weight\na,0,3,4,1\nb,3,9,4,1\nc,0,9,4,3\n";
    let run = tileheap_with(table, &["pack", "-", "--capacity", "7"]);
    assert_eq!(run.status, 3);
    contains(run.out, &["proved: infeasible", "conflict   2 items"]);
    let alone = tileheap_with(table, &["pack", "-", "--capacity", "3"]);
    contains(
        alone.out,
        &["conflict   1 item; this item does not fit by itself"],
    );
    let tight = include_str!("../data/commands/packs.txt");
    let tight = tight
        .split_once("<< pools.json\n")
        .and_then(|(_, rest)| rest.split_once(">>"));
    let tight = tight
        .expect("a document")
        .0
        .replace("\"capacity\": 8", "\"capacity\": 7");
    assert_eq!(tileheap_with(tight.as_bytes(), &["pack", "-"]).status, 3);
}
