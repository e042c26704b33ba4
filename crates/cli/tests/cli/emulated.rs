//! `run`: the program's environment, the summary of its messages, and the exit status.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::run::{Run, command, contains, file, place, scratch, tileheap};
use crate::support::{skip, workspace};

/// A folder with a manifest and an empty library: these programs are shell scripts and load nothing.
fn layer() -> String {
    let folder = scratch("layer");
    std::fs::create_dir_all(&folder).expect("a folder");
    for (file, text) in [
        ("VkLayer_tileheap_emulator.json", MANIFEST),
        ("libVkLayer_tileheap_emulator.so", ""),
    ] {
        // Renamed into place: other tests read these files at the same time.
        let own = folder.join(format!("{file}.{:?}", std::thread::current().id()));
        std::fs::write(&own, text).expect("a file");
        std::fs::rename(own, folder.join(file)).expect("a file in place");
    }
    place("layer")
}

const MANIFEST: &str = include_str!("../../../emulator/VkLayer_tileheap_emulator.json");

/// Runs a shell script under the command.
fn script(options: &[&str], text: &str) -> Run {
    let layer = layer();
    let arguments = [
        &["run", "--layer", "emulator", "--layers", &layer],
        options,
        &["--", "sh", "-c", text],
    ];
    tileheap(&arguments.concat())
}

/// Log entries of an instance, and of a device with tile memory.
const CHECKED: &str = r#"echo '{"event":"instance"}' >>$VK_TILEHEAP_EMULATOR_MESSAGE_LOG; echo '{"event":"device","usesTileMemory":true}' >>$VK_TILEHEAP_EMULATOR_MESSAGE_LOG; echo '{"event":"end"}' >>$VK_TILEHEAP_EMULATOR_MESSAGE_LOG"#;
const ERROR: &str = r#"echo '{"event":"message","severity":"error","id":"TILEHEAP-x","text":"wrong"}' >>$VK_TILEHEAP_EMULATOR_MESSAGE_LOG"#;
const WARNING: &str = r#"echo '{"event":"message","severity":"warning","id":"TILEHEAP-y","text":"bad"}' >>$VK_TILEHEAP_EMULATOR_MESSAGE_LOG"#;
const POSSIBLE: &str = r#"echo '{"event":"message","severity":"info","id":"TILEHEAP-possible-order","text":"maybe"}' >>$VK_TILEHEAP_EMULATOR_MESSAGE_LOG"#;

#[test]
fn findings_make_the_status_3_and_a_program_that_fails_makes_it_1() {
    let none = "0 errors and 0 warnings\n";
    for (text, [status, strict], counts) in [
        ("exit 0".to_owned(), [0, 0], none),
        ("exit 7".to_owned(), [1, 1], none),
        (format!("{WARNING}; exit 0"), [0, 3], "0 errors and 1 warning\n"),
        (format!("{WARNING}; exit 7"), [1, 3], "0 errors and 1 warning\n"),
        (
            format!("{POSSIBLE}; exit 0"),
            [0, 3],
            "0 errors and 0 warnings, and 1 possible or pedantic finding\n",
        ),
        (
            format!("{ERROR}; {ERROR}; exit 7"),
            [3, 3],
            "2 errors and 0 warnings\n",
        ),
        (format!("{ERROR}; exit 0"), [3, 3], "1 error and 0 warnings\n"),
    ] {
        for (options, status) in [(&[][..], status), (&["--fail-on", "warning"][..], strict)] {
            let run = script(options, &format!("{CHECKED}; echo output; {text}"));
            let expected = (status, "output\n");
            assert_eq!((run.status, run.out.as_str()), expected, "{text}: {}", run.err);
            assert!(run.err.contains(counts), "{}", run.err);
            assert_eq!(
                run.err.contains("error TILEHEAP-x, 2 times:\n  wrong"),
                text.matches("TILEHEAP-x").count() == 2
            );
        }
    }
}

#[test]
fn a_run_without_a_device_fails_since_nothing_was_checked() {
    let run = script(&[], "exit 0");
    assert_eq!(run.status, 3, "{}", run.err);
    contains(run.err, &["nothing was checked", "no Vulkan instance"]);
    let other = CHECKED.replace(":true", ":false");
    let run = script(&[], &other);
    assert_eq!(run.status, 3, "{}", run.err);
    contains(run.err, &["nothing was checked", "tileMemoryHeap"]);
}

#[test]
fn the_outcome_is_written_as_json() {
    let path = scratch("outcome.json");
    let file = path.to_str().expect("UTF-8");
    let read = || -> serde_json::Value {
        let text = std::fs::read_to_string(file).expect("the file is written");
        serde_json::from_str(&text).expect("JSON")
    };
    let run = script(
        &["--json", file],
        &format!("{CHECKED}; {WARNING}; {WARNING}; exit 7"),
    );
    assert_eq!(run.status, 1, "{}", run.err);
    let outcome = read();
    assert_eq!(outcome["format"], "tileheap-run");
    assert_eq!(outcome["exit"], 1);
    assert_eq!(
        outcome["program"],
        serde_json::json!({"status": 7, "signal": null})
    );
    assert_eq!((&outcome["errors"], &outcome["warnings"]), (&0.into(), &2.into()));
    assert_eq!(outcome["unchecked"], serde_json::Value::Null);
    let message = serde_json::json!({"severity": "warning", "id": "TILEHEAP-y", "count": 2, "repeated": 0, "first": "bad"});
    assert_eq!(outcome["messages"], serde_json::json!([message]));
    script(&["--json", file], "kill -9 $$");
    assert_eq!(
        read()["program"],
        serde_json::json!({"status": null, "signal": 9})
    );
    assert_eq!(
        read()["unchecked"],
        "nothing was checked: the program created no Vulkan instance with the layer"
    );
}

/// The first run starts the second one with the same log, which ends first and reports nothing.
#[test]
fn runs_with_the_same_log_do_not_affect_each_other() {
    let log = place("shared.jsonl");
    let command = env!("CARGO_BIN_EXE_tileheap");
    let second = format!(
        "'{command}' run --layers '{}' --log '{log}' -- sh -c '{}'",
        layer(),
        CHECKED.replace('\'', "'\\''")
    );
    let run = script(&["--log", &log], &format!("{CHECKED}; {ERROR}; {second}"));
    assert_eq!(run.status, 3, "{}", run.err);
    contains(run.err, &["1 error and 0 warnings", "0 errors and 0 warnings"]);
    let kept = std::fs::read_to_string(&log).expect("the log is kept");
    assert!(kept.contains("TILEHEAP-x"), "{kept}");
}

#[test]
fn a_program_that_does_not_start_leaves_no_earlier_outcome() {
    let file = place("not_started.json");
    let trace = place("not_started.trace");
    for path in [&file, &trace] {
        std::fs::write(path, r#"{"exit": 0}"#).expect("a file");
    }
    let layer = layer();
    let options = [
        "run",
        "--layers",
        &layer,
        "--json",
        &file,
        "--trace",
        &trace,
        "--",
        "/no/such/program",
    ];
    tileheap(&options).names(1, &["/no/such/program"]);
    let text = std::fs::read_to_string(&file).expect("the file is written");
    let outcome: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(outcome["exit"], 1);
    assert!(
        outcome["not_started"]
            .as_str()
            .is_some_and(|why| why.contains("/no/such/program")),
        "{outcome}"
    );
    assert!(!Path::new(&trace).exists());
}

#[test]
fn paths_that_the_layer_cannot_read_are_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let path = scratch("").join(OsStr::from_bytes(b"not \xff UTF-8"));
    let layer = layer();
    for option in ["--trace", "capture"] {
        let mut refused = command();
        match option {
            "capture" => refused.args(["capture", "--layers", &layer, "--output"]),
            option => refused.args(["run", "--layers", &layer, option]),
        };
        if option == "capture" {
            let manifest = r#"{"layer": {"library_path": "./libVkLayer_tileheap_emulator.so"}}"#;
            std::fs::write(Path::new(&layer).join("VkLayer_tileheap_capture.json"), manifest)
                .expect("a file");
        }
        let output = refused.arg(&path).args(["--", "true"]).output();
        Run::new(&output.expect("it starts")).names(1, &["is not UTF-8"]);
        assert!(!path.exists());
    }
    let mut logged = command();
    logged.args(["run", "--layers", &layer, "--log"]).arg(&path);
    let output = logged.args(["--", "sh", "-c", CHECKED]).output();
    assert_eq!(Run::new(&output.expect("it starts")).status, 0);
    assert!(path.exists());
}

#[test]
fn a_required_device_is_looked_for_before_the_program_runs() {
    let layer = layer();
    let mut below = command();
    below.args(["run", "--require-device", "--layers", &layer, "--", "echo", "ran"]);
    if std::env::var_os("TILEHEAP_RUNNER").is_some() {
        return skip("the test bed sets its own environment");
    }
    let none = scratch("no driver");
    let output = below
        .env("VK_DRIVER_FILES", &none)
        .env("VK_ICD_FILENAMES", &none)
        .output();
    let run = Run::new(&output.expect("it starts"));
    assert_eq!((run.status, run.out.as_str()), (3, ""), "{}", run.err);
    contains(run.err, &["no Vulkan device"]);
}

#[test]
fn a_program_that_is_killed_has_its_messages_and_its_signal() {
    let log = scratch("killed.jsonl");
    let path = log.to_str().expect("UTF-8");
    std::fs::write(&log, "what was there before\n").expect("a file");
    let run = script(&["--log", path], &format!("{WARNING}; kill -9 $$"));
    assert_eq!(run.status, 1, "{}", run.err);
    contains(
        run.err,
        &["1 warning", "signal 9 (SIGKILL) ended the program", path],
    );
    let kept = std::fs::read_to_string(&log).expect("the log is kept");
    assert!(kept.starts_with('{') && kept.lines().count() == 1, "{kept}");
}

#[test]
fn the_program_finds_the_layer_and_the_settings() {
    let text = "echo $VK_INSTANCE_LAYERS; echo $VK_ADD_LAYER_PATH$VK_LAYER_PATH; echo $VK_TILEHEAP_EMULATOR_PROFILE; \
                echo $VK_TILEHEAP_EMULATOR_TRACE";
    let run = script(&["--profile", "hostile", "--trace", "here.trace"], text);
    let lines: Vec<_> = run.out.lines().collect();
    assert!(lines[0].ends_with("VK_LAYER_TILEHEAP_emulator"), "{lines:?}");
    assert!(lines[1].ends_with(&layer()), "{lines:?}");
    assert_eq!(lines[2], "hostile");
    assert!(Path::new(lines[3]).is_absolute() && lines[3].ends_with("here.trace"));
    let layers = ["a", "a:VK_LAYER_TILEHEAP_emulator"];
    for given in layers {
        let mut below = command();
        let echo = ["--", "sh", "-c", "echo $VK_INSTANCE_LAYERS"];
        below.args(["run", "--layers", &layer()]).args(echo);
        if std::env::var_os("TILEHEAP_RUNNER").is_none() {
            let output = below.env("VK_INSTANCE_LAYERS", given).output();
            let run = Run::new(&output.expect("it starts"));
            assert_eq!(run.out.trim_end(), layers[1], "validation stays above");
        }
    }
    let (layer, other) = (layer(), scratch("other layer"));
    std::fs::create_dir_all(&other).expect("a folder");
    std::fs::write(other.join("VkLayer_tileheap_emulator.json"), MANIFEST).expect("a manifest");
    let other = other.display();
    for (given, expected) in [
        ("/validation".to_owned(), format!("/validation:{layer}")),
        (
            format!("/validation:{other}"),
            format!("/validation:{layer}:{other}"),
        ),
        (format!("{layer}:/validation"), format!("{layer}:/validation")),
    ] {
        let mut below = Command::new(env!("CARGO_BIN_EXE_tileheap"));
        below.args([
            "run",
            "--layers",
            &layer,
            "--",
            "sh",
            "-c",
            "echo $VK_ADD_LAYER_PATH",
        ]);
        let output = below.env("VK_ADD_LAYER_PATH", &given).output();
        let run = Run::new(&output.expect("it starts"));
        assert_eq!(run.out.trim_end(), expected, "the loader uses the first manifest");
    }
}

#[test]
fn a_missing_layer_or_program_is_named() {
    std::fs::create_dir_all(scratch("no layer")).expect("a folder");
    let (empty, layer) = (place("no layer"), layer());
    let missing = tileheap(&["run", "--layers", &empty, "--", "true"]);
    missing.names(
        1,
        &[
            &empty,
            "bash scripts/install.sh",
            "a symbolic link to the command works",
            "--layers",
            "VkLayer_tileheap_emulator.json is in none of these folders",
        ],
    );
    let manifest = Path::new(&empty).join("VkLayer_tileheap_emulator.json");
    for (text, problem) in [
        (
            MANIFEST,
            "libVkLayer_tileheap_emulator.so`, which does not exist: install it",
        ),
        (
            r#"{"layer": {}}"#,
            "the manifest names no library (layer.library_path)",
        ),
        ("no JSON", "expected"),
    ] {
        std::fs::write(&manifest, text).expect("a manifest");
        let broken = tileheap(&["run", "--layers", &empty, "--", "true"]);
        broken.names(1, &[&empty, "VkLayer_tileheap_emulator.json", problem]);
    }
    std::fs::remove_file(manifest).expect("the manifest was written");
    let program = tileheap(&["run", "--layers", &layer, "--", "/no/such/program"]);
    program.names(1, &["/no/such/program"]);
    tileheap(&["run"]).bad(2);
    tileheap(&["run", "--profile", "no-tile-memory", "--", "true"]).names(2, &["adreno-830"]);
    tileheap(&["run", "--profile", "-", "--", "true"]).names(2, &["give a file"]);
    tileheap(&["run", "--profile", "missing", "--", "true"])
        .names(1, &["no device profile is named `missing`"]);
    let profile = tileheap(&["profile", "x2-85", "--json"]).good();
    let file = file("emulated profile.json", &profile);
    let run = script(
        &["--profile", &file],
        &format!("{CHECKED}; echo $VK_TILEHEAP_EMULATOR_PROFILE"),
    );
    assert_eq!(run.out.trim_end(), file, "{}", run.err);
}

/// Sends signals, each to the command only or to its process group, and each after the script has answered the one before. Returns the script's
/// output and the exit status.
fn signaled(signals: &[(&str, bool)]) -> (String, i32) {
    // Without a signal it ends by itself, after minutes.
    let text = "trap 'echo interrupted' INT; trap 'echo ended; exit 5' TERM; echo ready; left=6000; \
                while [ $left -gt 0 ]; do left=$((left - 1)); sleep 0.05; done";
    let mut child = Command::new(env!("CARGO_BIN_EXE_tileheap"))
        .args(["run", "--layers", &layer(), "--", "sh", "-c", text])
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut printed = String::new();
    for (signal, to_group) in signals {
        out.read_line(&mut printed).expect("a line");
        let target = if *to_group {
            format!("-{}", child.id())
        } else {
            child.id().to_string()
        };
        let sent = Command::new("kill")
            .args([&format!("-{signal}"), "--", &target])
            .status();
        assert!(sent.expect("kill runs").success());
    }
    out.read_to_string(&mut printed).expect("UTF-8");
    let output = child.wait_with_output().expect("it ends");
    let run = Run::new(&output);
    contains(
        run.err,
        &["the emulator reported", "the program failed with status 5"],
    );
    (printed, run.status)
}

/// A terminal sends Ctrl-C to the whole group; if the command passed it on as well, the script would answer it a second time, before the later
/// signal. A job control that signals only the command ends the program too.
#[test]
fn signals_reach_the_program_once_and_the_summary_follows() {
    let once = signaled(&[("INT", true), ("TERM", false)]);
    assert_eq!(once, ("ready\ninterrupted\nended\n".to_owned(), 1));
    assert_eq!(signaled(&[("TERM", false)]), ("ready\nended\n".to_owned(), 1));
}

/// An example of the emulator, which omits a bind with `--forget`.
#[test]
fn a_real_program_runs_on_the_emulator() {
    if std::env::var_os("TILEHEAP_RUNNER").is_some() {
        return skip("the test bed sets its own environment");
    }
    let folder = workspace().join("target/emulator");
    let folder = std::env::var("TILEHEAP_EMULATOR").unwrap_or(folder.to_str().expect("UTF-8").to_owned());
    if !Path::new(&folder)
        .join("libVkLayer_tileheap_emulator.so")
        .is_file()
    {
        return skip("the emulator is not staged: bash scripts/stage-emulator.sh");
    }
    let source = workspace().join("crates/emulator/examples/tile_memory.cpp");
    let program = scratch("tile_memory");
    let compiler = std::env::var("CXX").unwrap_or("c++".to_owned());
    let mut compile = Command::new(compiler);
    compile
        .arg("-std=c++17")
        .arg(source)
        .arg("-lvulkan")
        .arg("-o")
        .arg(&program);
    if !compile.output().is_ok_and(|output| output.status.success()) {
        return skip("a C++ compiler or vulkan/vulkan.h is missing: apt-get install g++ libvulkan-dev");
    }
    let program = program.to_str().expect("UTF-8");
    let options = ["run", "--profile", "generous", "--layers", &folder, "--", program];
    let right = tileheap(&options);
    let nothing = "tileheap: the emulator reported 0 errors and 0 warnings\n";
    assert_eq!((right.status, right.err.as_str()), (0, nothing));
    let wrong = tileheap(&[&options[..], &["--forget"]].concat());
    assert_eq!(wrong.status, 3, "{}", wrong.err);
    let parts = [
        "the emulator reported 2 errors and 0 warnings",
        "error TILEHEAP-transfer-unbound, 1 time:\n  vkCmdCopyBuffer accesses buffer 0x",
        "error TILEHEAP-reads-discarded, 1 time:",
        "remedy: bind the memory object of the buffer before the transfer",
    ];
    contains(wrong.err, &parts);
}

/// Each bug of `examples/tile_bugs` makes the command fail, and the same program without it does not.
#[test]
fn every_bug_of_the_gallery_fails_and_its_fixed_program_passes() {
    if std::env::var_os("TILEHEAP_RUNNER").is_some() {
        return skip("the test bed sets its own environment");
    }
    let folder = workspace().join("target/emulator");
    let folder = std::env::var("TILEHEAP_EMULATOR").unwrap_or(folder.to_str().expect("UTF-8").to_owned());
    let built =
        std::env::var_os("TILEHEAP_BUILT_EXAMPLES").map(|examples| Path::new(&examples).join("tile_bugs"));
    let (Some(program), true) = (
        built,
        Path::new(&folder)
            .join("libVkLayer_tileheap_emulator.so")
            .is_file(),
    ) else {
        return skip(
            "the emulator is not staged, or TILEHEAP_BUILT_EXAMPLES is not set: scripts/test.sh does both",
        );
    };
    let program = program.to_str().expect("UTF-8");
    let listed = Command::new(program)
        .output()
        .expect("the gallery lists its bugs");
    let listed = String::from_utf8(listed.stdout).expect("UTF-8");
    let bugs: Vec<&str> = listed
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(bugs.len() >= 13, "{listed}");
    let picture = scratch("gallery.png");
    let picture = picture.to_str().expect("UTF-8");
    for bug in bugs {
        let options = [
            "run", "--layers", &folder, "--", program, "--output", picture, "--bug", bug,
        ];
        let wrong = tileheap(&options);
        assert_eq!(wrong.status, 3, "{bug}: {}", wrong.err);
        assert!(wrong.err.contains("\nerror TILEHEAP-"), "{bug}: {}", wrong.err);
        let right = tileheap(&[&options[..], &["--fixed"]].concat());
        assert_eq!(right.status, 0, "{bug}: {}", right.err);
    }
}
