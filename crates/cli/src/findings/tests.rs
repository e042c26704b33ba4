//! Reports and their texts.

use super::samples::{every_problem, game, gaps, particles, pedantic, report};
use super::*;
use crate::documents::{self, FrameCheck};

/// Compares a text with a file in `golden`, which is rewritten first if `TILEHEAP_GOLDEN` is `write`.
fn assert_golden(name: &str, text: &str) {
    let path = format!("{}/src/findings/golden/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("TILEHEAP_GOLDEN").is_some_and(|value| value == "write") {
        std::fs::write(&path, text).expect("a file that can be written");
    }
    let golden = std::fs::read_to_string(&path).expect("a golden text");
    assert_eq!(text, golden, "{path}: TILEHEAP_GOLDEN=write writes it again");
    assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
}

#[test]
fn a_frame_with_findings_of_each_certainty() {
    assert_golden("game", &text("game frame 2", &game(), true));
}

#[test]
fn every_problem_action_overlap_and_fix_has_a_sentence() {
    assert_golden(
        "problems",
        &text("every problem", &report(every_problem(), Vec::new()), false),
    );
}

#[test]
fn names_of_any_length_and_content_fit_the_lines() {
    let mut long = particles();
    let first = long.first.as_mut().expect("a first command");
    first.resource = "a resource of a long name ".repeat(8);
    first.label = "x".repeat(400);
    first.command_buffer = "two\nlines and a tab\t".to_owned();
    long.second.resource = "y".repeat(160);
    long.second.secondary = "é".repeat(150);
    let unchecked = UncheckedAccesses {
        what: "commands run shaders that could not be analyzed".to_owned(),
        count: 1,
        first: "z".repeat(170),
        resources: (0..8)
            .map(|index| format!("a buffer with a long name {index}"))
            .collect(),
        resource_count: 9,
        always: false,
    };
    assert_golden(
        "long",
        &text(&"frame ".repeat(40), &report(vec![long], vec![unchecked]), false),
    );
}

#[test]
fn a_report_without_findings_says_what_that_means() {
    let limits: Vec<_> = gaps().into_iter().filter(|one| one.always).collect();
    let summary = |report: &CheckReport| text("f", report, false).lines().nth(1).map(str::to_owned);
    let all = "  every access inside the frame is ordered, and all contents that it reads are defined";
    assert_eq!(summary(&report(vec![], vec![])).as_deref(), Some(all));
    assert_eq!(summary(&report(vec![], limits)).as_deref(), Some(all));
    let most = "  nothing found in the 5,310 accesses that could be checked; the others are listed below";
    assert_eq!(summary(&report(vec![], gaps())).as_deref(), Some(most));
    let one = CheckReport {
        checked: 1,
        ..report(vec![], gaps())
    };
    let most = "  nothing found in the 1 access that could be checked; the others are listed below";
    assert_eq!(summary(&one).as_deref(), Some(most));
    let none = CheckReport {
        checked: 0,
        ..report(vec![], gaps())
    };
    assert_eq!(summary(&none), Some(format!("  {NOTHING_CHECKED}")));
}

#[test]
fn pedantic_findings_are_counted_unless_they_are_listed() {
    let report = report(vec![pedantic()], vec![]);
    let text_of = |listed| text("f", &report, listed);
    let hidden = "  no certain or possible finding\n  1 pedantic finding, listed with --pedantic\n";
    assert!(text_of(false).ends_with(hidden), "{}", text_of(false));
    assert!(
        text_of(true).contains("\n  1 pedantic finding\n\nPedantic: "),
        "{}",
        text_of(true)
    );
}

#[test]
fn hidden_findings_and_gaps_are_both_mentioned() {
    let text = text("f", &report(vec![pedantic()], gaps()), false);
    let summary = "  no certain or possible finding in the 5,310 accesses that could be checked; the others are listed below\n  1 pedantic finding";
    assert!(text.contains(summary), "{text}");
}

#[test]
fn numbers_agree_with_their_words() {
    for (many, one) in [
        ("commands access memory", "command accesses memory"),
        ("resources are in mapped memory", "resource is in mapped memory"),
        ("batches wait for a signal", "batch waits for a signal"),
        ("accesses of sparse images", "access of sparse images"),
        ("resources", "resource"),
        ("memory by addresses", "memory by addresses"),
    ] {
        assert_eq!(singular(many), one);
    }
}

#[test]
fn reports_are_read_back_from_json() {
    let mut all = game();
    all.findings.extend(every_problem());
    for report in [all, CheckReport::default()] {
        let document = FrameCheck {
            frame: "game frame 2".to_owned(),
            report,
        };
        let json = documents::write(&document);
        assert!(json.contains("\"format\": \"tileheap-frame-check\""), "{json}");
        assert_eq!(documents::read::<FrameCheck>(&json), Ok(document));
    }
}

#[test]
fn the_guide_shows_a_report_as_it_is_printed() {
    let guide = include_str!("../../../../docs/guide/capture.md");
    let report = text("game frame 2", &game(), false);
    assert!(guide.contains(&format!("```text\n{report}```\n")), "{report}");
}
