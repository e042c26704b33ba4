//! Measures `auto` on 16 random items of every kind, and selections under tight capacities against the best known ones. Heights of every strategy are
//! in `benches/compare`, times in `benches/pack_speed.rs`.
//!
//! `cargo bench -p tileheap-pack --bench pack [part of a file's name]`.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use tileheap_pack::units::{Alignment, Bytes, Span};
use tileheap_pack::{Item, Packer, Packing, PackingStrategy, Problem, ProblemDesc, Steps, Strategy};
use tileheap_testkit::generators;

const RUNS: usize = 5;

fn main() {
    sixteen_items();
    let mut arguments = std::env::args().skip(1);
    let filter = arguments.find(|argument| !argument.starts_with('-'));
    residency(&tileheap_testkit::data("residency"), &filter.unwrap_or_default());
}

fn numbers(line: &str, count: usize) -> Vec<u64> {
    let number = |field: &str| field.trim().parse().expect("a number");
    line.split(',').skip(1).take(count).map(number).collect()
}

/// Measures `auto` on 16 items with a reused packer: medians and 99th percentiles over 2,000 problems of each kind, each the fastest of several runs.
fn sixteen_items() {
    println!(
        "{:<46}{:>12}{:>12}{:>12}",
        "16 items, us", "median", "p99", "most"
    );
    for kind in generators::every_kind() {
        let problems = generators::sixteen_items(kind, 2000);
        let (mut packer, mut packing) = (Packer::default(), Packing::default());
        let mut time = |problem: &Problem| {
            let mut run = || {
                let start = Instant::now();
                Strategy::Auto.pack_into(problem, &mut packer, &mut packing);
                start.elapsed().as_secs_f64() * 1e6
            };
            (0..RUNS).map(|_| run()).fold(f64::INFINITY, f64::min)
        };
        let mut times: Vec<f64> = problems.iter().map(&mut time).collect();
        times.sort_by(f64::total_cmp);
        let part = |hundredths: usize| times[times.len() * hundredths / 100];
        let with = [
            (kind.alignments, "alignments"),
            (kind.constraints, "bounds and groups"),
            (kind.pairs, "pairs"),
        ];
        let mut with: Vec<&str> = with.into_iter().filter(|of| of.0).map(|of| of.1).collect();
        if with.is_empty() {
            with.push("plain");
        }
        let name = with.join(", ");
        let most = times[times.len() - 1];
        println!("{name:<46}{:>12.2}{:>12.2}{most:>12.2}", part(50), part(99));
    }
    println!();
}

fn residency(folder: &Path, filter: &str) {
    let reference = std::fs::read_to_string(folder.join("reference.csv")).expect("the reference is readable");
    println!(
        "{:<24}{:>8}{:>12}{:>12}{:>10}  verdict",
        "residents of", "MiB", "of optimum", "of bound", "ms"
    );
    let (mut sum, mut count) = (0.0, 0);
    for line in reference.lines().skip(1).filter(|line| line.contains(filter)) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |index: usize| fields[index].parse::<f64>().expect("a number");
        let (capacity, optimum) = ((number(1) * 1_048_576.0) as u64, number(4) * 1_048_576.0);
        let table =
            std::fs::read_to_string(folder.join(format!("{}.fp16.sap.csv", fields[0]))).expect("a table");
        let rows: Vec<Vec<u64>> = table.lines().skip(1).map(|line| numbers(line, 4)).collect();
        let weights: Vec<u64> = rows.iter().map(|row| row[3]).collect();
        let span = |row: &[u64]| Span::new(row[0] as u32, row[1] as u32);
        let items = rows
            .iter()
            .map(|row| Item::new(span(row), Bytes(row[2]), Alignment::ONE));
        let desc = ProblemDesc::new(items.collect());
        let problem = desc.capacity(Bytes(capacity)).build().expect("the data is sound");
        let mut packer = Packer::default();
        let mut select = || {
            packer.select(&problem, &weights, Steps::default(), &mut |_| {
                ControlFlow::Continue(())
            })
        };
        let mut selection = select();
        let mut times = Vec::new();
        for _ in 0..RUNS {
            let start = Instant::now();
            selection = select();
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        let of_optimum = selection.weight as f64 / optimum;
        (sum, count) = (sum + of_optimum, count + 1);
        println!(
            "{:<24}{:>8}{of_optimum:>12.4}{:>12.4}{:>10.3}  {:?}",
            fields[0],
            fields[1],
            selection.weight as f64 / selection.bound.max(1) as f64,
            times[RUNS / 2],
            selection.verdict
        );
    }
    println!("mean of optimum {:.5}", sum / f64::from(count.max(1)));
}
