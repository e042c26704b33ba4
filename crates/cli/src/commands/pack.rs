//! `tileheap pack`.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::builder::TypedValueParser;
use clap::{Args, ValueHint};
use serde_json::{Value, json};
use tileheap::units::Bytes;
use tileheap_baselines::pack::STRATEGIES;
use tileheap_pack::{
    Certificate, Conflict, Packer, PackingStrategy, Problem, ProblemDesc, ProgressCallback, Steps, Strategy,
    Verdict, certify, check,
};

use crate::certificates;
use crate::error::{Error, NEGATIVE_ANSWER, Result, UNDECIDED};
use crate::input::{read_text_in, shown};
use crate::interrupt::{interruptible, is_interrupted};
use crate::output::Output;
use crate::pools;
use crate::progress::Progress;
use crate::table::Table;
use crate::values::{counted, named, parse_bytes, parse_time};

/// Pack items with lifetimes and sizes into a block
#[derive(Debug, Args)]
#[command(long_about = include_str!("about/pack.txt"))]
#[command(after_help = include_str!("help/pack.txt"))]
pub(crate) struct Arguments {
    /// The table, or a JSON file with pools; - for standard input
    #[arg(value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// The size of the block: 8355840, 18MiB, 8.5MB
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, allow_negative_numbers = true)]
    capacity: Option<Bytes>,
    /// The strategy that finds offsets; only for tables
    #[arg(long, default_value = "auto", value_parser = strategies(), conflicts_with = "select")]
    strategy: &'static dyn PackingStrategy,
    /// Limit the search to a number of steps; a million take about a second for a hundred items, and about twelve for 400 [default: 400000; with --time, no limit]
    #[arg(long, value_name = "STEPS")]
    steps: Option<u64>,
    /// Limit the search to a time: 500ms, 2s, 1min. More time can give a better answer, and the answer depends on the machine
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time: Option<Duration>,
    /// Place the items with the greatest total weight, and omit the others; needs --capacity and a column `weight`
    #[arg(long)]
    select: bool,
    /// Write a proof of the lower bound, or that the items do not fit, to a file that `tileheap check` verifies
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "select")]
    certificate: Option<PathBuf>,
    /// Print JSON instead of a report
    #[arg(long)]
    json: bool,
    /// Write the table with offsets to a file; for pools, the packing as JSON
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
}

/// The result of packing, or of a selection with `--select`.
struct PackOutcome {
    offsets: Option<Vec<Option<Bytes>>>,
    height: Option<Bytes>,
    /// The height, or the total weight with `--select`.
    value: Option<u64>,
    bound: u64,
    verdict: Verdict,
    steps: Steps,
    conflict: Option<Conflict>,
    found_by: Option<String>,
    certificate: Option<Certificate>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let text = read_text_in(&arguments.file, "table", "a CSV file")?;
    if pools::is_json(&text) {
        return run_pools(arguments, &text);
    }
    let (table, problem) = read(&arguments.file, &text, arguments.capacity)?;
    if arguments.select && (arguments.capacity.is_none() || !table.has_weights) {
        return Err(Error::usage("--select needs --capacity and a column `weight`"));
    }
    let start = Instant::now();
    let outcome = run_search(arguments, |budget, watch| {
        solve(arguments, &table, &problem, budget, watch)
    });
    let took = start.elapsed();
    if let (Some(file), Some(offsets)) = (&arguments.output, &outcome.offsets) {
        Output::to(Some(file.clone())).write(&table.with_offsets(offsets))?;
    }
    if let (Some(file), Some(certificate)) = (&arguments.certificate, &outcome.certificate) {
        Output::to(Some(file.clone())).write(&certificates::write(&table, certificate))?;
    }
    let report = if arguments.json {
        format!("{:#}\n", in_json(arguments, &table, &outcome, took))
    } else {
        in_words(arguments, &table, &outcome, took)
    };
    Output::stdout().write(&report)?;
    exit(outcome.offsets.is_some(), outcome.verdict)
}

/// Reads a table, and builds the packing problem that it describes.
///
/// # Errors
/// The first invalid line.
pub(crate) fn read(file: &Path, text: &str, capacity: Option<Bytes>) -> Result<(Table, Problem)> {
    let bad = |line: usize, what: &dyn std::fmt::Display| Error::of(format!("{}:{line}", shown(file)), what);
    let table = Table::read(text).map_err(|error| bad(error.line, &error.what))?;
    let mut desc = ProblemDesc::new(table.items.clone());
    desc.capacity = capacity;
    let problem = desc.build().map_err(|error| {
        let line = error.item().map_or(1, |item| table.line_of(item as usize));
        bad(line, &error.with_names(|item| table.ids[item as usize].clone()))
    })?;
    Ok((table, problem))
}

fn run_pools(arguments: &Arguments, text: &str) -> Result<()> {
    if arguments.capacity.is_some() || arguments.select || arguments.certificate.is_some() {
        return Err(Error::usage(
            "--capacity, --select and --certificate apply only to tables: in JSON, give pools a capacity",
        ));
    }
    let problem = pools::read(&arguments.file, text)?;
    let start = Instant::now();
    let answer = run_search(arguments, |budget, watch| pools::pack(&problem, budget, watch));
    let took = start.elapsed();
    let json = format!("{:#}\n", pools::in_json(&problem, &answer, took));
    if let (Some(file), Some(_)) = (&arguments.output, &answer.packing) {
        Output::to(Some(file.clone())).write(&json)?;
    }
    let words = pools::in_words(&problem, &answer, took);
    Output::stdout().write(if arguments.json { &json } else { &words })?;
    exit(answer.packing.is_some(), answer.verdict)
}

/// Succeeds if there is a packing; otherwise fails with the exit status of the verdict.
fn exit(is_packed: bool, verdict: Verdict) -> Result<()> {
    match (is_packed, verdict) {
        (true, _) => Ok(()),
        (false, Verdict::Proved) => Err(Error::Exit(NEGATIVE_ANSWER)),
        (false, _) => Err(Error::Exit(UNDECIDED)),
    }
}

/// Runs a search within the budgets, and shows its progress; Ctrl-C ends it with the best answer so far.
fn run_search<T>(arguments: &Arguments, search: impl FnOnce(Steps, ProgressCallback<'_>) -> T) -> T {
    let shown = Progress::new("packing", 0);
    let mut last = Instant::now();
    let end = arguments.time.map(|time| last + time);
    let mut watch = |progress: tileheap_pack::Progress| {
        if last.elapsed() > Duration::from_millis(100) {
            last = Instant::now();
            let best = progress.best.map_or("-".to_owned(), |best| best.to_string());
            shown.set_message(format!(
                "{} steps, best {best}, bound {}",
                progress.steps.0, progress.bound
            ));
        }
        let is_over = end.is_some_and(|end| Instant::now() >= end);
        match is_over || is_interrupted() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let budget = match (arguments.steps, arguments.time) {
        (Some(steps), _) => Steps(steps),
        (None, Some(_)) => Steps::UNLIMITED,
        (None, None) => Steps::default(),
    };
    interruptible(|| search(budget, &mut watch))
}

fn solve(
    arguments: &Arguments,
    table: &Table,
    problem: &Problem,
    budget: Steps,
    watch: ProgressCallback<'_>,
) -> PackOutcome {
    let mut packer = Packer::default();
    if arguments.select {
        let selection = packer.select(problem, &table.weights, budget, watch);
        return PackOutcome {
            offsets: Some(selection.offsets),
            height: Some(selection.height),
            value: Some(selection.weight),
            bound: selection.bound,
            verdict: selection.verdict,
            steps: selection.steps,
            conflict: None,
            found_by: None,
            certificate: None,
        };
    }
    let answer = match arguments.capacity {
        Some(_) => packer.fit(problem, arguments.strategy, budget, watch),
        None => packer.minimize(problem, arguments.strategy, budget, watch),
    };
    let wanted = arguments.certificate.as_ref();
    let certificate = wanted.and_then(|_| certify(problem, &answer, budget, watch));
    let packing = answer.packing;
    if let Some(packing) = packing.as_ref().filter(|packing| packing.offsets.len() <= 5000) {
        check(problem, packing).expect("every answer passes the checker");
    }
    let height = packing.as_ref().map(|packing| packing.height);
    PackOutcome {
        height,
        value: height.map(|height| height.0),
        offsets: packing.map(|packing| packing.offsets.into_iter().map(Some).collect()),
        bound: answer.bound.0,
        verdict: answer.verdict,
        steps: answer.steps,
        conflict: answer.conflict,
        found_by: answer.found_by.map(|name| name.into_owned()),
        certificate,
    }
}

fn in_words(arguments: &Arguments, table: &Table, outcome: &PackOutcome, took: Duration) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: String| text += &format!("{name:<10} {value}\n");
    row("items", table.items.len().to_string());
    if table.has_gaps {
        row("gaps", "not used: items keep their bytes during gaps".to_owned());
    }
    if let Some(capacity) = arguments.capacity {
        row("capacity", capacity.to_string());
    }
    let fraction = |value: u64, of: u64| match of {
        0 => String::new(),
        _ => format!(" ({:.2} %)", value as f64 * 100.0 / of as f64),
    };
    match (outcome.value, outcome.height) {
        (Some(weight), Some(height)) if arguments.select => {
            let kept = outcome.offsets.iter().flatten().flatten().count();
            row("kept", kept.to_string());
            row("weight", weight.to_string());
            row("bound", outcome.bound.to_string());
            let gap = outcome.bound - weight;
            row("gap", format!("{gap}{}", fraction(gap, outcome.bound)));
            row("height", height.to_string());
        }
        (Some(value), Some(height)) => {
            row("height", height.to_string());
            row("bound", Bytes(outcome.bound).to_string());
            let gap = value.saturating_sub(outcome.bound);
            row("gap", format!("{}{}", Bytes(gap), fraction(gap, outcome.bound)));
        }
        _ => row("bound", Bytes(outcome.bound).to_string()),
    }
    row("proof", proof(arguments, outcome).to_owned());
    if let Some(name) = &outcome.found_by {
        row("found by", name.clone());
    }
    if arguments.certificate.is_some() {
        let words = outcome.certificate.as_ref().map(certificates::in_words);
        row(
            "certified",
            words.unwrap_or_else(|| match outcome.bound {
                0 => "nothing, as the bound is 0 B".to_owned(),
                _ => "nothing: no certificate was found".to_owned(),
            }),
        );
    }
    row("steps", outcome.steps.0.to_string());
    row("time", format!("{:.3} ms", took.as_secs_f64() * 1e3));
    if let Some(conflict) = &outcome.conflict {
        let minimal = match (conflict.minimal, conflict.items.len()) {
            (true, 1) => "this item does not fit by itself",
            (true, _) => "minimal: if any one of them is left out, the others fit",
            (false, _) => "not minimal",
        };
        let items = counted(conflict.items.len() as u64, "item");
        row("conflict", format!("{items}; {minimal}"));
        for &item in &conflict.items {
            let of = &table.items[item as usize];
            text += &format!("  {} {} {}\n", table.ids[item as usize], of.span, of.size);
        }
    }
    text
}

fn proof(arguments: &Arguments, outcome: &PackOutcome) -> &'static str {
    match (outcome.verdict, outcome.offsets.is_some()) {
        (Verdict::Proved, false) => "proved: infeasible",
        (Verdict::Proved, true) if arguments.select => "proved: no selection has a greater weight",
        (Verdict::Proved, true) if arguments.capacity.is_some() => "proved: it fits",
        (Verdict::Proved, true) => "proved: no packing is lower",
        (verdict, found) => pools::unproved(verdict, found),
    }
}

fn in_json(arguments: &Arguments, table: &Table, outcome: &PackOutcome, took: Duration) -> Value {
    let items = outcome.offsets.as_ref().map(|offsets| {
        let items = table.ids.iter().zip(offsets);
        let items = items.map(|(id, offset)| json!({ "id": id, "offset": offset }));
        items.collect::<Vec<_>>()
    });
    let conflict = outcome.conflict.as_ref().map(|conflict| {
        let ids = conflict.items.iter().map(|&item| &table.ids[item as usize]);
        json!({ "ids": ids.collect::<Vec<_>>(), "minimal": conflict.minimal })
    });
    json!({
        "format": "tileheap-packing",
        "version": 2,
        "mode": if arguments.select { "select" } else if arguments.capacity.is_some() { "fit" } else { "minimize" },
        "capacity": arguments.capacity,
        "height": outcome.height,
        "weight": arguments.select.then_some(outcome.value),
        "bound": outcome.bound,
        "verdict": outcome.verdict,
        "found_by": outcome.found_by,
        "certified_above": outcome.certificate.as_ref().map(|certificate| certificate.above),
        "steps": outcome.steps,
        "milliseconds": took.as_secs_f64() * 1e3,
        "conflict": conflict,
        "items": items,
    })
}

/// Parses the name of a packing strategy: a built-in one, or that of another planner.
fn strategies() -> impl TypedValueParser<Value = &'static dyn PackingStrategy> {
    const BUILT_IN: &[Strategy] = &Strategy::ALL;
    let built_in = BUILT_IN
        .iter()
        .map(|strategy| strategy as &'static dyn PackingStrategy);
    let all = built_in.chain(STRATEGIES);
    named(
        all,
        PackingStrategy::name,
        Some(|strategy| strategy.description().trim_end_matches('.')),
    )
}
