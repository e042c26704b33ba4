//! `examples/network` as a program.

use tileheap_testkit as support;

use std::process::Command;

use support::{emulate, example};

use super::output::printed;

fn run(mut command: Command, arguments: &str) -> String {
    command.args(arguments.split(' '));
    printed(command)
}

fn count(printed: &str, text: &str) -> usize {
    printed.lines().filter(|line| line.contains(text)).count()
}

#[test]
fn every_network_computes_what_the_cpu_does_the_same_with_and_without_aliasing() {
    for arguments in [
        "--size 64",
        "--size 32 --half --rounds 4",
        "--size 32 --model mobilenet-v1,resnet50,vgg,squeezenet,unet",
    ] {
        let printed = run(example("network"), arguments);
        // Five networks, in buffers, textures and image arrays.
        assert_eq!(
            count(&printed, "identical with and without aliasing"),
            15,
            "{printed}"
        );
        let ratio = |line: &str| {
            let (before, _) = line.split_once(" x the bound")?;
            before.split_whitespace().last()?.parse::<f64>().ok()
        };
        let lines = printed.lines();
        for line in lines.filter(|line| line.trim_start().starts_with("aliased")) {
            assert!(ratio(line).is_some_and(|ratio| ratio <= 1.02), "{line}");
        }
    }
}

const TILE: &str = "--tile --size 64 --model mobilenet,transformer,mlp,lstm";

#[test]
fn beside_a_renderer_networks_compute_what_they_do_alone() {
    let printed = run(example("network"), TILE);
    assert_eq!(count(&printed, ": largest error"), 8, "{printed}");
    assert_eq!(
        count(&printed, "the renderer's picture: identical, 57600 texels"),
        4
    );
}

#[test]
fn in_emulated_heaps_too() {
    if super::is_repeated() {
        return;
    }
    for profile in ["adreno-830", "hostile", "two-tile-types"] {
        let mut command = example("network");
        if !emulate(&mut command, profile) {
            return;
        }
        let printed = run(command, TILE);
        assert_eq!(count(&printed, ": largest error"), 8, "{profile}: {printed}");
        let used = printed
            .lines()
            .filter(|line| line.contains("resources in ") && !line.contains(" 0 resources"));
        assert_eq!(used.count(), 8, "{profile}: {printed}");
    }
}
