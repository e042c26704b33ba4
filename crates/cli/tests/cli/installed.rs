//! `scripts/install.sh`: the installation works in any folder, without the checkout, and its removal leaves nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::run::{Run, contains, scratch};
use crate::support::{skip, workspace};

/// An empty folder for one test.
fn empty(name: &str) -> PathBuf {
    let folder = scratch(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.canonicalize().expect("it exists")
}

/// Runs `scripts/install.sh --built`, which installs the last build of cargo; `None` if it is incomplete.
fn install(home: &Path, arguments: &[&str]) -> Option<Run> {
    let target = Path::new(env!("CARGO_BIN_EXE_tileheap"))
        .parent()
        .expect("a folder of the profile");
    let layers = ["emulator", "capture", "aliasing"];
    let libraries = layers.map(|layer| target.join(format!("deps/libtileheap_{layer}.so")));
    if let Some(missing) = libraries.iter().find(|library| !library.is_file()) {
        skip(&format!(
            "{} is not built: scripts/test.sh does it",
            missing.display()
        ));
        return None;
    }
    let mut script = Command::new("bash");
    script.arg(workspace().join("scripts/install.sh")).args(arguments);
    script.env("CARGO_TARGET_DIR", target.parent().expect("the target folder"));
    // The default prefix and the loader's search folders must not be those of the user.
    script
        .env("HOME", home)
        .env_remove("XDG_DATA_HOME")
        .env_remove("XDG_DATA_DIRS");
    let output = script.stdin(Stdio::null()).output().expect("bash runs");
    Some(Run::new(&output))
}

/// All files and folders below a folder.
fn contents(folder: &Path) -> BTreeSet<PathBuf> {
    let mut all = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            all.extend(contents(&path));
        }
        all.insert(path);
    }
    all
}

/// Runs the installed command without environment variables that name layers; only `home` can provide some. Also returns the layer libraries
/// that were loaded, as reported by the dynamic linker.
fn run(command: &Path, home: &Path, folder: &Path, arguments: &[&str]) -> (Run, BTreeSet<PathBuf>) {
    let account = home.join("linker");
    std::fs::create_dir_all(&account).expect("a folder");
    let mut command = Command::new(command);
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.env_clear().env("HOME", home);
    for kept in ["PATH", "VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
        command.envs(std::env::var_os(kept).map(|value| (kept, value)));
    }
    command
        .env("LD_DEBUG", "files")
        .env("LD_DEBUG_OUTPUT", account.join("of"));
    let run = Run::new(&command.output().expect("the command starts"));
    let mut loaded = BTreeSet::new();
    for file in contents(&account) {
        let text = std::fs::read_to_string(file).expect("text of the linker");
        let lines = text.lines().filter_map(|line| line.split_once("calling init: "));
        let libraries = lines.filter(|(_, library)| library.contains("libVkLayer_tileheap_"));
        loaded.extend(libraries.map(|(_, library)| Path::new(library).canonicalize().expect("a file")));
    }
    std::fs::remove_dir_all(account).expect("it was created");
    (run, loaded)
}

/// The folder that the command adds to the loader's search path.
fn used_folder(command: &Path, home: &Path) -> PathBuf {
    let (echoed, _) = run(
        command,
        home,
        home,
        &["run", "--", "sh", "-c", "echo $VK_ADD_LAYER_PATH"],
    );
    PathBuf::from(echoed.out.trim_end())
}

fn example(name: &str) -> Option<String> {
    let built = std::env::var_os("TILEHEAP_BUILT_EXAMPLES").map(|folder| Path::new(&folder).join(name));
    let Some(program) = built.filter(|program| program.is_file()) else {
        skip("TILEHEAP_BUILT_EXAMPLES is not set: scripts/test.sh does it");
        return None;
    };
    Some(program.to_str().expect("UTF-8").to_owned())
}

/// Captures a frame and runs programs under the two other layers, and asserts that each layer was the one in the prefix.
fn use_all_layers(command: &Path, home: &Path, prefix: &Path, layers: &[&str]) {
    let (Some(drawing), Some(tiles), Some(aliases)) =
        (example("forward"), example("tile_bugs"), example("alias_bugs"))
    else {
        return;
    };
    let folder = home.join("elsewhere");
    std::fs::create_dir_all(&folder).expect("a folder");
    let library =
        |layer: &str| BTreeSet::from([prefix.join(format!("lib/tileheap/libVkLayer_tileheap_{layer}.so"))]);

    let capture = [
        &[
            "capture",
            "--no-open",
            "--output",
            "captured",
            "--border",
            "submits:1",
        ],
        layers,
        &["--", &drawing, "--output", "picture.png", "--frames", "3"],
    ];
    let (captured, loaded) = run(command, home, &folder, &capture.concat());
    assert_eq!(captured.status, 0, "{}", captured.err);
    contains(captured.out, &["captured/report.html", "Proposed changes"]);
    let written = std::fs::read_dir(folder.join("captured"))
        .expect("the folder")
        .flatten();
    let frames = written.filter(|file| file.file_name().to_string_lossy().starts_with("frame-"));
    let frames: Vec<_> = frames.map(|file| file.path()).collect();
    let [frame] = &frames[..] else {
        panic!("one frame, the heaviest: {frames:?}");
    };
    let document = std::fs::read_to_string(frame).expect("a document");
    assert!(document.contains("\"capture\""), "{document:.200}");
    let report = std::fs::read_to_string(folder.join("captured/report.json")).expect("the report as JSON");
    assert!(report.contains("tileheap-capture-report"), "{report:.200}");
    assert!(folder.join("captured/report.html").is_file() && folder.join("picture.png").is_file());
    assert_eq!(loaded, library("capture"));

    let program = ["--", &tiles, "--output", "tiles.png", "--bug", "smaller-object"];
    let wrong = [&["run"], layers, &program].concat();
    let (emulated, loaded) = run(command, home, &folder, &wrong);
    assert_eq!(emulated.status, 3, "{}", emulated.err);
    assert!(emulated.err.contains("error TILEHEAP-"), "{}", emulated.err);
    assert_eq!(loaded, library("emulator"));
    let (emulated, _) = run(command, home, &folder, &[&wrong[..], &["--fixed"]].concat());
    assert_eq!(emulated.status, 0, "{}", emulated.err);

    let program = ["--", &aliases, "--output", "aliases.png", "--bug", "stale-offset"];
    let wrong = [&["run", "--layer", "aliasing"], layers, &program].concat();
    let (checked, loaded) = run(command, home, &folder, &wrong);
    assert_eq!(checked.status, 3, "{}", checked.err);
    contains(checked.err, &["error TILEHEAP-reads-discarded"]);
    assert_eq!(loaded, library("aliasing"));
    std::fs::remove_dir_all(folder).expect("it was created");
}

#[test]
fn an_installation_works_without_the_checkout_and_its_removal_leaves_nothing() {
    if std::env::var_os("TILEHEAP_RUNNER").is_some() {
        return skip("the test bed sets its own environment");
    }
    let home = empty("home of an installation");
    let prefix = home.join(".local");
    let Some(installed) = install(&home, &["--built"]) else {
        return;
    };
    assert_eq!(installed.status, 0, "{}", installed.err);
    contains(
        installed.out,
        &[
            "Installed tileheap",
            &format!("'{}' --uninstall", prefix.display()),
            "export PATH=",
        ],
    );
    use_all_layers(&prefix.join("bin/tileheap"), &home, &prefix, &[]);

    // A copy of the command finds the layers in the user's folder of the loader.
    let copy = home.join("copy");
    std::fs::copy(prefix.join("bin/tileheap"), &copy).expect("a copy");
    assert_eq!(
        used_folder(&copy, &home),
        prefix.join("share/vulkan/explicit_layer.d")
    );

    // Installs over it, as if an earlier version had one more file.
    let old = prefix.join("lib/tileheap/libtileheap_old.so");
    std::fs::write(&old, "").expect("a file");
    let list = prefix.join("lib/tileheap/installed.txt");
    let text = std::fs::read_to_string(&list).expect("the list") + "file lib/tileheap/libtileheap_old.so\n";
    std::fs::write(&list, text).expect("the list");
    let again = install(&home, &["--built"]).expect("it is built");
    assert_eq!((again.status, old.exists()), (0, false), "{}", again.err);

    let removed = install(&home, &["--uninstall"]).expect("it is built");
    assert_eq!(removed.status, 0, "{}", removed.err);
    assert_eq!(contents(&home), BTreeSet::from([copy.clone()]));
    let (missing, _) = run(&copy, &home, &home, &["capture", "--", "true"]);
    let searched = [
        "share/vulkan/explicit_layer.d",
        "bash scripts/install.sh",
        "--layers",
    ];
    contains(missing.bad(1), &searched);
    let nothing = install(&home, &["--uninstall"]).expect("it is built");
    let prefix = prefix.to_str().expect("UTF-8");
    assert_eq!(nothing.status, 1, "{}", nothing.out);
    contains(nothing.err, &["installed nothing in", prefix]);
}

#[test]
fn a_prefix_that_the_loader_does_not_search_serves_a_copied_command() {
    if std::env::var_os("TILEHEAP_RUNNER").is_some() {
        return skip("the test bed sets its own environment");
    }
    let home = empty("home of a prefix");
    let kept = home.join("tools/share");
    std::fs::create_dir_all(&kept).expect("a folder that was there before");
    let prefix = home.join("tools");
    let text = prefix.to_str().expect("UTF-8");
    let foreign = prefix.join("bin/tileheap");
    std::fs::create_dir_all(prefix.join("bin")).expect("a folder");
    std::fs::write(&foreign, "not installed by the script").expect("a file");
    let Some(refused) = install(&home, &[text, "--built"]) else {
        return;
    };
    assert_eq!(refused.status, 1, "{}", refused.out);
    contains(
        refused.err,
        &["bin/tileheap exists", "install.sh did not install it"],
    );
    assert_eq!(
        contents(&prefix),
        BTreeSet::from([kept, prefix.join("bin"), foreign])
    );
    std::fs::remove_dir_all(prefix.join("bin")).expect("a folder");
    let installed = install(&home, &[text, "--built"]).expect("it is built");
    assert_eq!(installed.status, 0, "{}", installed.err);
    let hint = format!("export VK_ADD_LAYER_PATH='{text}'/share/vulkan/explicit_layer.d");
    contains(installed.out, &["does not search", &hint]);
    // The command finds the layers relative to its own location, also through a link.
    let (command, link) = (prefix.join("bin/tileheap"), home.join("link"));
    std::os::unix::fs::symlink(&command, &link).expect("a link");
    for command in [&command, &link] {
        assert_eq!(
            used_folder(command, &home),
            prefix.join("share/vulkan/explicit_layer.d")
        );
    }
    let copy = home.join("copy");
    std::fs::rename(prefix.join("bin/tileheap"), &copy).expect("a copy");
    use_all_layers(&copy, &home, &prefix, &["--layers", text]);

    // Files of others stay, and so do those that existed before.
    let other = prefix.join("share/vulkan/explicit_layer.d/other.json");
    std::fs::write(&other, "{}").expect("a file");
    let removed = install(&home, &["--uninstall", text]).expect("it is built");
    assert_eq!(removed.status, 0, "{}", removed.err);
    let above: BTreeSet<_> = other
        .ancestors()
        .take_while(|path| **path != *home)
        .map(Path::to_owned)
        .collect();
    assert_eq!(contents(&prefix), &above - &BTreeSet::from([prefix.clone()]));
    std::fs::remove_file(&other).expect("a file");
}
