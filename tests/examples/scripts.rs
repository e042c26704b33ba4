//! Scripts explain themselves.

use std::path::Path;
use std::process::Command;

/// Files that other scripts source.
const SOURCED: [&str; 5] = ["cross.sh", "measure.sh", "options.sh", "runs.sh", "setup.sh"];

/// Each script prints the comment at its head for `--help`, from any folder, and does nothing else.
#[test]
fn every_script_prints_its_help() {
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
        // A script without help would do its work instead.
        let asks = ["setup.sh\"", "show_help", "--help)"]
            .iter()
            .any(|part| text.contains(part));
        assert!(asks, "{name} does not look at its arguments");
        let first = text
            .lines()
            .nth(1)
            .expect("a comment below the interpreter's line");
        let output = Command::new("bash")
            .arg(path)
            .arg("--help")
            .current_dir(&elsewhere)
            .output()
            .expect("bash runs");
        let printed = String::from_utf8_lossy(&output.stdout);
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && complaints.is_empty(),
            "{name}: {complaints}"
        );
        assert_eq!(
            printed.lines().next(),
            first.strip_prefix("# "),
            "{name}: {printed}"
        );
    }
    assert!(paths.len() > 30, "few scripts were found: {paths:?}");
    let left = std::fs::read_dir(&elsewhere).expect("a folder").count();
    assert_eq!(left, 0, "files were written for `--help`");
}
