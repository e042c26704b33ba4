//! `examples/terrain` as a program: its pictures, which streaming does not change, its trace, and its errors.

use tileheap_testkit as support;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::Output;

use support::{example, own_file};
use tileheap::units::Bytes;
use tileheap_baselines::textures::ALL;
use tileheap_textures::replay::Replay;
use tileheap_textures::trace::{TraceEntry, TraceReader};

use super::output::{complaint, printed, read_picture};

fn terrain(arguments: &[&str]) -> Output {
    example("terrain").args(arguments).output().expect("cargo runs")
}

fn colors(path: &Path) -> BTreeSet<[u8; 3]> {
    let (width, height, texels) = read_picture(path);
    assert_eq!((width, height), (256, 144));
    texels.iter().map(|&[r, g, b, _]| [r, g, b]).collect()
}

/// With every policy: once uploads have caught up, the picture equals that of a cache with room for everything, and no frame exceeded
/// its upload budget.
#[test]
fn streamed_pictures_are_those_with_everything_there() {
    // Room for the textures in view, but less than the flight uploads: each policy must evict.
    let formats = [
        ("mixed", "5MiB", "1MiB"),
        ("palette", "1600KiB", "512KiB"),
        ("rgba", "3MiB", "512KiB"),
    ];
    // Two policies per emulated profile, and two validated in ordinary memory.
    let turns = "adreno-830 hostile adreno-840 validation-icd x2-85 generous";
    let turns: Vec<&str> = turns.split(' ').collect();
    let profile = std::env::var("VK_TILEHEAP_EMULATOR_PROFILE").unwrap_or_default();
    let turn = turns.iter().position(|one| *one == profile).unwrap_or(0);
    for (index, policy) in ALL.into_iter().enumerate() {
        if super::is_repeated() && index % turns.len() != turn {
            continue;
        }
        // Policies that divide memory by size need more of it, and more time.
        let (policy, (texels, budget, uploads)) = match policy.name {
            "arenas" => ("arenas:stride=120", formats[0]),
            "first-attempt" => (policy.name, ("mixed", "24MiB", "1MiB")),
            "slab" | "slab-rebalancing" => (policy.name, ("palette", "64MiB", "512KiB")),
            name => (name, formats[1 + index % 2]),
        };
        let folder = own_file(&format!("terrain-{}", policy.replace(':', "-")));
        let trace = folder.join("flight.trace");
        let paths = [&folder, &trace].map(|path| path.to_str().expect("a UTF-8 path"));
        // A part of the flight with little land in view.
        let flight = "--size 256x144 --frames 24 --start 1200 --compare".split(' ');
        let cache = ["--uploads", uploads, "--memory", budget, "--policy", policy];
        let to = ["--texels", texels, "--output", paths[0], "--trace", paths[1]];
        let mut command = example("terrain");
        command.args(flight).args(cache).args(to);
        let printed = printed(command);
        assert!(printed.contains("identical"), "{printed}");
        let most = printed.split_once("of texels at most ").expect("a count").1;
        let most: String = most
            .chars()
            .take_while(|&letter| letter != ' ')
            .filter(char::is_ascii_digit)
            .collect();
        let limit = if uploads == "1MiB" { 1 << 20 } else { 512 << 10 };
        assert!(
            (1..=limit).contains(&most.parse::<u64>().expect("bytes")),
            "{printed}"
        );
        let colors = colors(&folder.join("frame-0024.png"));
        assert!(colors.len() > 1000, "only {} colors", colors.len());
        if texels == "mixed" {
            // The others request the same squares.
            replay_all(&trace);
        }
    }
}

/// Replays the captured trace, with textures of both shapes, with every policy; all must follow the rules.
fn replay_all(trace: &Path) {
    let file = BufReader::new(File::open(trace).expect("the trace was written"));
    let mut reader = TraceReader::new(file).expect("a header");
    let mut entries = Vec::new();
    while let Some(entry) = reader.next_entry().expect("a sound trace") {
        entries.push(entry);
    }
    let frames = entries
        .iter()
        .filter(|entry| **entry == TraceEntry::EndFrame)
        .count();
    assert_eq!(frames, 24);
    let geometry = reader.geometry().clone();
    for desc in ALL {
        let budget = Bytes::mib(4);
        let mut replay = Replay::new(&desc, &geometry, budget, 1).expect("4 MiB");
        for &entry in &entries {
            if let Err(fault) = replay.play(entry) {
                panic!("{}: {fault}", desc.name);
            }
        }
        assert!(replay.finish().total.uses > 2000);
    }
}

/// The output of a failing run: one line.
fn fault(arguments: &[&str]) -> String {
    complaint(&terrain(arguments))
}

#[test]
fn what_cannot_be_done_is_said_in_one_line() {
    assert!(fault(&["--memory", "100KiB"]).contains("102,400 B"));
    assert!(fault(&["--memory", "24X"]).contains("24MiB"));
    assert!(fault(&["--policy", "best"]).contains("coherent-still"));
    assert!(fault(&["--size", "8x8"]).contains("and 16384"));
    assert!(fault(&["--frames", "0"]).contains("--frames"));
    assert!(fault(&["--device", "no such device"]).contains("no such device"));
    let small = ["--frames", "1", "--size", "64x36", "--output", "/dev/null/folder"];
    assert!(fault(&small).contains("/dev/null"));
}
