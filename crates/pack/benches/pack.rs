//! One table: every packing strategy on our own problems and on those of others in `../shared`, as height over lower bound, with
//! milliseconds; before it, the time of `auto` on 16 random items of every kind; after it, selections in too small a capacity
//! against the best known.
//!
//! `cargo bench -p tileheap-pack --bench pack [part of a file's name]`.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use tileheap_baselines::pack::STRATEGIES;
use tileheap_pack::units::{Alignment, Bytes, Span};
use tileheap_pack::{Item, Packer, Packing, PackingStrategy, Problem, ProblemDesc, Steps, Strategy};
use tileheap_testkit::generators;

/// Above this many items the rules that look at all pairs, or worse, are left out.
const LARGE: usize = 5000;
const RUNS: usize = 5;

fn main() {
    sixteen_items();
    let root = tileheap_testkit::workspace();
    let (own, shared) = (root.join("tests/data"), root.join("../shared"));
    let filter = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'))
        .unwrap_or_default();
    print!("{:<34}{:>7}", "instance", "items");
    for strategy in strategies() {
        print!("{:>21}", strategy.name());
    }
    println!();
    let mut logs = vec![(0.0, 0); strategies().count()];
    for folder in [
        own.join("pack"),
        own.join("tensor/models"),
        shared.join("planning"),
    ] {
        if !folder.is_dir() {
            println!("skipped: {} is not there", folder.display());
            continue;
        }
        for file in tables(&folder) {
            if file.to_string_lossy().contains(&filter) {
                row(&file, &mut logs);
            }
        }
    }
    print!("{:<41}", "geometric mean of the ratios");
    for (log, count) in logs {
        print!("{:>21.4}", f64::exp(log / f64::from(count.max(1))));
    }
    println!("\n");
    residency(&own.join("residency"), &filter);
}

fn tables(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).expect("the folder is readable");
    let files = files.map(|file| file.expect("an entry").path());
    let mut files: Vec<PathBuf> = files
        .filter(|file| file.extension().is_some_and(|end| end == "csv"))
        .collect();
    files.sort();
    files
}

fn numbers(line: &str, count: usize) -> Vec<u64> {
    let fields = line.split(',').skip(1).take(count);
    fields
        .map(|field| field.trim().parse().expect("a number"))
        .collect()
}

fn item(fields: &[u64]) -> Item {
    Item::new(
        Span::new(fields[0] as u32, fields[1] as u32),
        Bytes(fields[2]),
        Alignment::ONE,
    )
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The built-in strategies, and then those of other planners.
fn strategies() -> impl Iterator<Item = &'static dyn PackingStrategy> {
    let built_in = Strategy::ALL
        .iter()
        .map(|strategy| strategy as &dyn PackingStrategy);
    built_in.chain(STRATEGIES)
}

fn row(file: &Path, logs: &mut [(f64, u32)]) {
    let text = std::fs::read_to_string(file).expect("the file is readable");
    let items = text.lines().skip(1).map(|line| item(&numbers(line, 3)));
    let problem = Problem::new(items.collect()).expect("the data is sound");
    let mut packer = Packer::default();
    let bound = packer.lower_bound(&problem);
    let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
    print!("{name:<34}{:>7}", problem.items().len());
    let mut packing = Packing::default();
    for (strategy, (log, count)) in strategies().zip(logs) {
        let slow =
            STRATEGIES.iter().any(|other| other.name() == strategy.name()) || strategy.name() == "exact";
        if problem.items().len() > LARGE && slow {
            print!("{:>21}", "-");
            continue;
        }
        let mut times = Vec::new();
        while times.len() < RUNS {
            let start = Instant::now();
            strategy.pack_into(&problem, &mut packer, &mut packing);
            times.push(start.elapsed().as_secs_f64() * 1e3);
            // What takes long is not repeated.
            if times[0] > 200.0 {
                break;
            }
        }
        let ratio = packing.height.0 as f64 / bound.0 as f64;
        (*log, *count) = (*log + ratio.ln(), *count + 1);
        print!("{:>21}", format!("{ratio:.4} {:.3}", median(times)));
    }
    println!();
}

/// What `auto` takes for 16 items, with the memory of the problems before: medians and 99th percentiles over 2,000 problems of
/// each kind, each the fastest of so many runs.
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
            (kind.odd, "bounds and groups"),
            (kind.pairs, "pairs"),
        ];
        let with: Vec<&str> = with.into_iter().filter(|of| of.0).map(|of| of.1).collect();
        let name = if with.is_empty() {
            "plain".to_owned()
        } else {
            with.join(", ")
        };
        println!(
            "{name:<46}{:>12.2}{:>12.2}{:>12.2}",
            part(50),
            part(99),
            times[times.len() - 1]
        );
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
        let desc = ProblemDesc::new(rows.iter().map(|row| item(row)).collect());
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
        let of_optimum = selection.weight as f64 / optimum;
        (sum, count) = (sum + of_optimum, count + 1);
        println!(
            "{:<24}{:>8}{of_optimum:>12.4}{:>12.4}{:>10.3}  {:?}",
            fields[0],
            fields[1],
            selection.weight as f64 / selection.bound.max(1) as f64,
            median(times),
            selection.verdict
        );
    }
    println!("mean of optimum {:.5}", sum / f64::from(count.max(1)));
}
