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
