//! `examples/terrain` as a program: what it renders, that streaming changes no pixel, the trace that it writes, how it fails.

use tileheap_testkit as support;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::Output;

use support::{example, own_file};
use tileheap::units::Bytes;
use tileheap_textures::replay::Replay;
use tileheap_textures::trace::{Entry, TraceReader};

use super::output::{read_picture, text};

fn terrain(arguments: &[&str]) -> Output {
    example("terrain").args(arguments).output().expect("cargo runs")
}

fn colours(path: &Path) -> BTreeSet<[u8; 3]> {
    let (width, height, texels) = read_picture(path);
    assert_eq!((width, height), (256, 144));
    texels.iter().map(|&[r, g, b, _]| [r, g, b]).collect()
}

/// Once uploads have caught up, the picture is that of a cache with room for everything.
#[test]
fn streamed_pictures_are_those_with_everything_there() {
    // Room for what is in view, and less than the flight uploads: of each, something is thrown out.
    for (policy, texels, budget, uploads) in [
        ("arenas", "mixed", "5M", "1M"),
        ("coherent-still", "palette", "1600K", "512K"),
        ("coherent", "rgba", "3M", "512K"),
    ] {
        let folder = own_file(&format!("terrain-{policy}"));
        let trace = folder.join("flight.trace");
        let output = terrain(&[
            "--size",
            "256x144",
            "--frames",
            "24",
            // Where little land is in view.
            "--start",
            "1200",
            "--uploads",
            uploads,
            "--budget",
            budget,
            "--policy",
            policy,
            "--texels",
            texels,
            "--compare",
            "--output",
            folder.to_str().expect("a UTF-8 path"),
            "--trace",
            trace.to_str().expect("a UTF-8 path"),
        ]);
        let printed = text(&output.stdout);
        assert!(output.status.success(), "{policy}: {}", text(&output.stderr));
        assert!(printed.contains("identical"), "{printed}");
        let colours = colours(&folder.join("frame-0024.png"));
        assert!(colours.len() > 1000, "only {} colours", colours.len());
        let plot = std::fs::read_to_string(folder.join("uploads.svg")).expect("a plot");
        assert!(plot.starts_with("<svg") && plot.ends_with("</svg>\n"));
        assert_eq!(plot.contains("smallest blocks at the bottom"), policy == "arenas");
        if texels == "mixed" {
            // The others ask for the same squares.
            replay_all(&trace);
        }
    }
}

/// Every policy plays the captured trace, of textures of both shapes, by the rules.
fn replay_all(trace: &Path) {
    let file = BufReader::new(File::open(trace).expect("the trace was written"));
    let mut reader = TraceReader::new(file).expect("a header");
    let mut entries = Vec::new();
    while let Some(entry) = reader.next_entry().expect("a sound trace") {
        entries.push(entry);
    }
    let frames = entries.iter().filter(|entry| **entry == Entry::EndFrame).count();
    assert_eq!(frames, 24);
    let geometry = reader.geometry().clone();
    for desc in tileheap_baselines::textures::ALL {
        let budget = Bytes::mib(4);
        let policy = desc.create(&geometry, budget, 1).expect("4 MiB");
        let mut replay = Replay::new(policy, &geometry, budget);
        for &entry in &entries {
            if let Err(fault) = replay.play(entry) {
                panic!("{}: {fault}", desc.name);
            }
        }
        assert!(replay.finish().total.uses > 2000);
    }
}

/// What a failing run prints: one line.
fn fault(arguments: &[&str]) -> String {
    let output = terrain(arguments);
    assert!(!output.status.success(), "{arguments:?} succeeded");
    let complaints = text(&output.stderr);
    assert_eq!(complaints.lines().count(), 1, "{complaints}");
    assert!(complaints.starts_with("error: "), "{complaints}");
    complaints.to_owned()
}

#[test]
fn what_cannot_be_done_is_said_in_one_line() {
    assert!(fault(&["--budget", "100K"]).contains("102,400 B"));
    assert!(fault(&["--budget", "24X"]).contains("24M"));
    assert!(fault(&["--policy", "first-attempt"]).contains("one image"));
    assert!(fault(&["--policy", "best"]).contains("coherent-still"));
    assert!(fault(&["--size", "8x8"]).contains("to 16384"));
    assert!(fault(&["--frames", "0"]).contains("--frames"));
    assert!(fault(&["--device", "no such device"]).contains("no such device"));
    let small = ["--frames", "1", "--size", "64x36", "--output", "/dev/null/folder"];
    assert!(fault(&small).contains("/dev/null"));
}
