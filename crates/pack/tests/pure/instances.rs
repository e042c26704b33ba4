//! Runs every packing strategy on published instances, checks the packings, and compares heights with published ones.

use std::path::{Path, PathBuf};

use tileheap_baselines::pack::{Nnc, STRATEGIES};
use tileheap_pack::units::{Alignment, Bytes, Span};
use tileheap_pack::{Item, Packer, PackingStrategy, Problem, ProblemDesc, Steps, Strategy, check, fit};

use crate::go_on;

/// Ratios of height to lower bound in thousandths, as published for other implementations of the same rules.
const PUBLISHED: [(&str, &dyn PackingStrategy, u64); 14] = [
    ("A.1048576.csv", &Strategy::GreedyBySize, 1310),
    ("C.1048576.csv", &Strategy::GreedyBySize, 1363),
    ("E.1048576.csv", &Strategy::GreedyBySize, 1401),
    ("G.1048576.csv", &Strategy::GreedyBySize, 1332),
    ("I.1048576.csv", &Strategy::GreedyBySize, 1410),
    ("K.1048576.csv", &Strategy::GreedyBySize, 1327),
    ("A.1048576.csv", &Nnc, 1272),
    ("C.1048576.csv", &Nnc, 1400),
    ("E.1048576.csv", &Nnc, 1451),
    ("G.1048576.csv", &Nnc, 1467),
    ("I.1048576.csv", &Nnc, 1666),
    ("K.1048576.csv", &Nnc, 1444),
    ("iopddl_S_1.csv", &Strategy::GreedyBySize, 1016),
    ("somas_resnet50.csv", &Strategy::BestFitByBirth, 1003),
];

/// Reads `id,lower,upper,size` lines after a header.
pub(crate) fn read(path: &Path) -> Problem {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let items = text.lines().skip(1).map(|line| {
        let mut fields = line.split(',').skip(1);
        let mut next = || fields.next().unwrap().trim().parse::<u64>().unwrap();
        let (first, end, size) = (next() as u32, next() as u32, next());
        Item::new(Span::new(first, end), Bytes(size), Alignment::ONE)
    });
    Problem::new(items.collect()).unwrap()
}

/// The strategies of other planners, then the built-in ones.
fn strategies() -> impl Iterator<Item = &'static dyn PackingStrategy> {
    let built_in = Strategy::ALL
        .iter()
        .map(|strategy| strategy as &dyn PackingStrategy);
    STRATEGIES.into_iter().chain(built_in)
}

/// Checks every strategy on one instance, the slow ones only up to `slow_items` items; returns the ratios of height to lower bound in thousandths, in
/// the order of the strategies.
fn ratios(path: &Path, slow_items: usize) -> Vec<u64> {
    let problem = read(path);
    let mut packer = Packer::default();
    let bound = packer.lower_bound(&problem);
    let mut ratios = Vec::new();
    let large = problem.items().len() > slow_items;
    for strategy in strategies() {
        // These take minutes or hours on large instances.
        let slow =
            STRATEGIES.iter().any(|other| other.name() == strategy.name()) || strategy.name() == "exact";
        if large && slow {
            ratios.push(u64::MAX);
            continue;
        }
        let packing = packer.pack(&problem, strategy);
        check(&problem, &packing)
            .unwrap_or_else(|error| panic!("{}: {}: {error}", path.display(), strategy.name()));
        assert!(packing.height >= bound, "{}: {}", path.display(), strategy.name());
        // Rounded to the nearest thousandth, like the published tables.
        let ratio = (u128::from(packing.height.0) * 2000 / u128::from(bound.0)).div_ceil(2);
        ratios.push(ratio as u64);
    }
    println!(
        "{:<24} {} items, bound {bound}: {ratios:?}",
        path.file_name().unwrap().to_string_lossy(),
        problem.items().len()
    );
    ratios
}

fn tables(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "csv"));
    files.sort();
    assert!(!files.is_empty());
    files
}

/// Checks every strategy on one instance, and compares `auto` with all others; returns the ratios.
fn judged(file: &Path, slow_items: usize, most: u64) -> Vec<u64> {
    let ratios = ratios(file, slow_items);
    let auto = *ratios.last().unwrap();
    assert!(
        ratios.iter().all(|&other| auto <= other),
        "auto is the best of all: {ratios:?}"
    );
    assert!(auto <= most, "{}: {auto}", file.display());
    ratios
}

#[test]
fn every_instance_of_ours_is_packed_at_its_bound() {
    for folder in ["pack", "tensor/models"] {
        for file in tables(&tileheap_testkit::data(folder)) {
            judged(&file, 600, 1000);
        }
    }
}

#[test]
fn every_instance_of_others_is_packed_soundly() {
    let Some(folder) = tileheap_testkit::shared("planning") else {
        return;
    };
    for file in tables(&folder) {
        let hard = file.to_string_lossy().ends_with(".1048576.csv");
        let ratios = judged(&file, 5000, if hard { 1000 } else { 1006 });
        for (name, strategy, published) in PUBLISHED {
            if file.ends_with(name) {
                let (by, mut all) = (strategy.name(), strategies());
                let found = ratios[all.position(|other| other.name() == by).unwrap()];
                // Some of the published ratios were truncated, not rounded.
                let apart = found.abs_diff(published);
                assert!(apart <= 1, "{name}: {by} {found}, published {published}");
            }
        }
    }
}

/// Packs an instance within its capacity, for different units of size, directions of time and orders of items.
fn is_placed(file: &Path, capacity: u64) {
    let problem = read(file);
    for (scale, reversed) in [(1, false), (7919, true)] {
        let mut items = problem.items().to_vec();
        for item in &mut items {
            item.size.0 *= scale;
            if reversed {
                item.span = Span::new(2_000_000 - item.span.end.0, 2_000_000 - item.span.first.0);
            }
        }
        if reversed {
            let half = items.len() / 2;
            items.rotate_left(half);
        }
        let desc = ProblemDesc::new(items).capacity(Bytes(capacity * scale));
        let problem = desc.build().unwrap();
        let answer = fit(&problem, Strategy::Exact, Steps(1_000_000), &mut go_on);
        let name = file.display();
        let packing = answer.packing.unwrap_or_else(|| panic!("{name}, times {scale}"));
        assert_eq!(check(&problem, &packing), Ok(()), "{name}");
        assert!(packing.fits(&problem), "{name}");
    }
}

#[test]
fn our_hard_set_is_placed() {
    for file in tables(&tileheap_testkit::data("pack")) {
        is_placed(&file, 1000);
    }
}

#[test]
fn the_hard_set_of_minimalloc_is_placed() {
    let Some(folder) = tileheap_testkit::shared("planning") else {
        return;
    };
    for name in ["A", "C", "E", "G", "I", "K"] {
        is_placed(&folder.join(format!("{name}.1048576.csv")), 1 << 20);
    }
}
