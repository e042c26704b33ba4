//! Scripts explain themselves, and refuse options that they do not have.

use std::path::Path;
use std::process::Command;

/// Files that other scripts source.
const SOURCED: [&str; 5] = ["cross.sh", "measure.sh", "options.sh", "runs.sh", "setup.sh"];

/// Each script, from any folder, prints the comment at its head for `--help`, names an option that it does not have, and does nothing else.
/// Options of another command (`OPTION...`) are that command's to refuse.
#[test]
fn every_script_explains_its_options() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let elsewhere = Path::new(env!("CARGO_TARGET_TMPDIR")).join("elsewhere");
    std::fs::create_dir_all(&elsewhere).expect("a folder");
    let entries = std::fs::read_dir(root.join("scripts")).expect("a folder");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "sh"));
    paths.retain(|path| !SOURCED.iter().any(|name| path.ends_with(name)));
    paths.push(root.join(".ci/run"));
    for path in &paths {
        let name = path.display();
        let text = std::fs::read_to_string(path).expect("a script");
        // A script that does not look at its arguments would do its work instead.
        let looks = ["setup.sh\"", "check_arguments", "--help)"]
            .iter()
            .any(|part| text.contains(part));
        assert!(looks, "{name} does not look at its arguments");
        let usage = text.lines().nth(1).and_then(|line| line.strip_prefix("# "));
        let usage = usage.expect("a comment below the interpreter's line");
        let run = |argument: &str| {
            let mut command = Command::new("bash");
            let output = command
                .arg(path)
                .arg(argument)
                .current_dir(&elsewhere)
                .output()
                .expect("bash runs");
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            (output.status.code(), text(&output.stdout), text(&output.stderr))
        };
        let (status, printed, complaints) = run("--help");
        assert_eq!((status, complaints.as_str()), (Some(0), ""), "{name}");
        assert_eq!(printed.lines().next(), Some(usage), "{name}: {printed}");
        if !usage.contains("OPTION...") {
            let refused = (
                Some(2),
                String::new(),
                "error: unknown option `--no-such-option`; see --help\n".to_owned(),
            );
            assert_eq!(run("--no-such-option"), refused, "{name}");
        }
    }
    assert!(paths.len() > 30, "few scripts were found: {paths:?}");
    let left = std::fs::read_dir(&elsewhere).expect("a folder").count();
    assert_eq!(left, 0, "scripts wrote files");
}

/// Logs of parts that run elsewhere, or on another day, stay in the page.
#[test]
fn a_part_that_runs_again_replaces_only_its_own_log() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("logs of parts");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let page = folder.join("check.md");
    let head = "# Checks\n\nWritten by `bash scripts/run.sh`; its `--help` says what each part does.\n\n";
    let of = |part: &str, what: &str| format!("## {part}\n\nan earlier day:\n\n- {what}\n\n");
    let earlier = [head, &of("first", "one: yes"), &of("second", "two: yes")].concat();
    std::fs::write(&page, &earlier).expect("a page");
    let script = folder.join("run.sh");
    let text = "set -euo pipefail; root=$1; cross=$2/cross; source \"$1/scripts/cross.sh\"; all_parts=(first second third)\n\
                second() { note '- two: again'; }\n\
                rustc() { echo rustc 1.0; }\n\
                run_parts \"$2/check.md\" Checks second\n";
    std::fs::write(&script, text).expect("a script");
    let ran = Command::new("bash")
        .arg(&script)
        .args([root, &folder])
        .output()
        .expect("bash runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let now = std::fs::read_to_string(&page).expect("a page");
    let (before, after) = now.split_once("## second\n\n").expect("the part that ran");
    assert_eq!(before, [head, &of("first", "one: yes")].concat());
    assert!(
        after.ends_with("\n\n- two: again\n\n## third\n\nNot run yet.\n\n"),
        "{after}"
    );
}
