//! The tournament of cache policies: every one on every scenario at every budget over ten seeds, as tables in Markdown.
//!
//! `cargo bench -p tileheap-textures --bench tournament [-- --write FILE] [--scenario NAME] [--budget HUNDREDTHS] [--seeds N]
//! [--frames N] [--policies NAME,NAME]`. `docs/cache_tournament.md` is what it writes. There is no clock in it: the same on every
//! machine.

use std::collections::BTreeMap;
use std::fmt::Write;
use tileheap_baselines::textures::ALL;
use tileheap_testkit::contest::{BELADY, BUDGETS, Cell, Field, LOWER_BOUND};
use tileheap_textures::scenario::Scenario;
use tileheap_textures::{Coherent, PolicyDesc};

/// Ours: which moves textures; which keeps levels besides; for who cannot move any.
const OURS: PolicyDesc<'static> = Coherent::DESC;
const LEVELS: PolicyDesc<'static> = Coherent::KEEPING_LEVELS;
const STILL: PolicyDesc<'static> = Coherent::WITHOUT_RELOCATION;

type Cells = BTreeMap<&'static str, Cell>;

struct Options {
    write: Option<String>,
    scenarios: Vec<Scenario>,
    budgets: Vec<u64>,
    policies: Vec<PolicyDesc<'static>>,
    seeds: u64,
    frames: u32,
}

fn main() {
    let options = options();
    let field = Field {
        policies: &options.policies,
        belady: true,
        seeds: options.seeds,
        frames: options.frames,
    };
    let mut rows = Vec::new();
    for &scenario in &options.scenarios {
        for &budget in &options.budgets {
            let cells = field.contest(scenario, budget);
            // Something to look at meanwhile.
            eprintln!("{} {budget}", scenario.name());
            rows.push((scenario, budget, cells));
        }
    }
    let text = document(&options, &rows);
    match &options.write {
        Some(path) => std::fs::write(path, text).unwrap_or_else(|error| panic!("{path}: {error}")),
        None => print!("{text}"),
    }
}

fn options() -> Options {
    let mut options = Options {
        write: None,
        scenarios: Scenario::ALL.to_vec(),
        budgets: BUDGETS.to_vec(),
        policies: ALL.to_vec(),
        seeds: 10,
        frames: 240,
    };
    let mut arguments = std::env::args().skip(1);
    let mut measures = false;
    while let Some(argument) = arguments.next() {
        let missing = || panic!("{argument} takes a value");
        let mut value = || arguments.next().unwrap_or_else(missing);
        match argument.as_str() {
            // Cargo says so when it measures and not when it tests.
            "--bench" => measures = true,
            "--write" => options.write = Some(value()),
            "--scenario" => {
                options.scenarios = vec![value().parse().unwrap_or_else(|fault| panic!("{fault}"))]
            }
            "--budget" => options.budgets = vec![value().parse().expect("hundredths of the working set")],
            "--seeds" => options.seeds = value().parse().expect("a number of seeds"),
            "--frames" => options.frames = value().parse().expect("a number of frames"),
            "--policies" => {
                let kind =
                    |name: &str| PolicyDesc::find(&ALL, name).unwrap_or_else(|error| panic!("{error}"));
                options.policies = value().split(',').map(kind).collect();
            }
            other => panic!("no option {other}: see the head of benches/tournament.rs"),
        }
    }
    if !measures {
        // A look at whether it runs.
        (options.seeds, options.frames) = (1, 4);
    }
    options
}

/// Traffic over the bound.
fn ratio(cell: &Cell, cells: &Cells) -> f64 {
    cell.mean as f64 / cells[LOWER_BOUND].mean.max(1) as f64
}

/// The best of the policies that are not ours, by a figure: of those that do not do what `ours` does not do either.
fn best(
    cells: &Cells,
    ours: PolicyDesc<'static>,
    figure: impl Fn(&Cell) -> u64,
) -> Option<(&'static str, u64)> {
    let peers = ALL.into_iter().filter(|kind| {
        ![OURS, LEVELS, STILL].iter().any(|ours| ours.name == kind.name)
            && (kind.uploads_whole || !ours.uploads_whole)
            && (!kind.relocates || ours.relocates)
    });
    let found = peers.filter_map(|kind| Some((kind.name, figure(cells.get(kind.name)?))));
    found.min_by_key(|&(_, figure)| figure)
}

fn against(own: u64, best: Option<(&str, u64)>) -> String {
    let Some((name, other)) = best else {
        return "—".to_owned();
    };
    let factor = own as f64 / other.max(1) as f64;
    let mark = if own * 100 > other * 105 { "**" } else { "" };
    format!("{mark}{factor:.2} × {name}{mark}")
}

/// Mean and 99th percentile against the best of the others.
fn contested(kind: PolicyDesc<'static>, ours: &Cell, cells: &Cells) -> (String, String) {
    (
        against(ours.mean, best(cells, kind, |cell| cell.mean)),
        against(ours.p99, best(cells, kind, |cell| cell.p99)),
    )
}

fn over_belady(ours: &Cell, cells: &Cells) -> f64 {
    ours.mean as f64 / cells[BELADY].mean.max(1) as f64
}

fn document(options: &Options, rows: &[(Scenario, u64, Cells)]) -> String {
    let mut text = format!(
        "<!-- Written by `cargo bench -p tileheap-textures --bench tournament -- --write docs/cache_tournament.md`. -->\n\
         # The tournament of cache policies\n\n\
         Every policy on every scenario, at budgets given as parts of the largest frame's working set: medians of {} seeds, {} \
         frames each (switch: {}). Every step is checked by `replay`. Traffic is what crosses the bus: uploads and bypasses.\n\n\
         - *bound*: `replay::lower_bound`: no policy that uploads whole chains needs less, whatever its placement.\n\
         - *belady*: evicts the texture whose next use is furthest, in a heap that compacts; it knows the future.\n\
         - *coherent* is ours. *Mean* and *p99*: its bytes a frame against the best of the other online policies, bold where it is \
         worse by more than a twentieth.\n\
         - *levels* is `coherent-levels`, which uploads only the levels that are missing when a texture comes finer. So does \
         `first-attempt`, which is therefore among its rivals and not among those of `coherent`: the bound stands on whole chains.\n\
         - *still* is `coherent-still`, which does not relocate and is compared with those that do not either.\n\n",
        options.seeds,
        options.frames,
        options.frames / 4
    );
    text += "| scenario | budget | bound, B a frame | coherent / bound | spread over seeds | / belady | mean | p99 | levels / bound | mean | p99 | still / bound | mean | p99 |\n";
    text += "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
    for (scenario, budget, cells) in rows {
        let (Some(ours), Some(levels), Some(still)) = (
            cells.get(OURS.name),
            cells.get(LEVELS.name),
            cells.get(STILL.name),
        ) else {
            continue;
        };
        let floors = &cells[LOWER_BOUND].means;
        let each = ours.means.iter().zip(floors);
        let each = each.map(|(&mean, &floor)| mean as f64 / floor.max(1) as f64);
        let (low, high) = each.fold((f64::MAX, 0.0_f64), |(low, high), each| {
            (low.min(each), high.max(each))
        });
        let (mean, p99) = contested(OURS, ours, cells);
        let (levels_mean, levels_p99) = contested(LEVELS, levels, cells);
        let (still_mean, still_p99) = contested(STILL, still, cells);
        writeln!(
            text,
            "| {} | {:.2} | {} | {:.3} | {low:.2} – {high:.2} | {:.3} | {mean} | {p99} | {:.3} | {levels_mean} | {levels_p99} | {:.3} | {still_mean} | {still_p99} |",
            scenario.name(),
            *budget as f64 / 100.0,
            cells[LOWER_BOUND].mean,
            ratio(ours, cells),
            over_belady(ours, cells),
            ratio(levels, cells),
            ratio(still, cells),
        )
        .expect("a string");
    }
    let names: Vec<&str> = std::iter::once(BELADY)
        .chain(options.policies.iter().map(|kind| kind.name))
        .collect();
    type Figure = fn(&Cell, &Cells) -> String;
    let figures: [(&str, Figure); 6] = [
        ("Mean traffic over the bound", |cell, cells| {
            format!("{:.2}", ratio(cell, cells))
        }),
        ("99th percentile of traffic, KiB a frame", |cell, _| {
            (cell.p99 / 1024).to_string()
        }),
        ("Largest frame, KiB", |cell, _| (cell.max / 1024).to_string()),
        ("Bypasses", |cell, _| cell.bypasses.to_string()),
        ("Textures evicted in the frame that used them", |cell, _| {
            cell.wrongful.to_string()
        }),
        ("Moved within the cache, KiB a frame", |cell, _| {
            (cell.moved / 1024).to_string()
        }),
    ];
    for (title, figure) in figures {
        write!(
            text,
            "\n## {title}\n\n| scenario | budget | {} |\n|---|---{}|\n",
            names.join(" | "),
            "|---".repeat(names.len())
        )
        .expect("a string");
        for (scenario, budget, cells) in rows {
            let figures: Vec<String> = names.iter().map(|name| figure(&cells[name], cells)).collect();
            let budget = *budget as f64 / 100.0;
            writeln!(
                text,
                "| {} | {budget:.2} | {} |",
                scenario.name(),
                figures.join(" | ")
            )
            .expect("a string");
        }
    }
    text
}
