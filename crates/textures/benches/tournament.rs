//! The tournament of cache policies: each one on every scenario at every budget over ten seeds, as tables in Markdown.
//!
//! `cargo bench -p tileheap-textures --bench tournament [-- --write FILE] [--seeds N] [--first-seed N]`. It writes `docs/cache_tournament.md`.
//! It uses no clock: the result is the same on every machine.

use std::collections::BTreeMap;
use tileheap_baselines::textures::ALL;
use tileheap_testkit::contest::{BELADY, BUDGETS, ContestDesc, LOWER_BOUND, PolicyResult};
use tileheap_textures::scenario::Scenario;
use tileheap_textures::{Coherent, PolicyDesc, UploadMode};

/// Our policies: the one that moves textures, the one that also keeps levels, and the one that cannot move textures.
const OURS: PolicyDesc<'static> = Coherent::DESC;
const LEVELS: PolicyDesc<'static> = Coherent::KEEPING_LEVELS;
const STILL: PolicyDesc<'static> = Coherent::WITHOUT_RELOCATION;

type Cells = BTreeMap<&'static str, PolicyResult>;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| Some(&arguments[1 + arguments.iter().position(|argument| argument == name)?]);
    let number = |name: &str, default| value(name).map_or(default, |text| text.parse::<u64>().expect(name));
    // Cargo passes `--bench` when it measures; otherwise this only checks that it runs.
    let (seeds, frames) = match arguments.iter().any(|argument| argument == "--bench") {
        true => (10, 240),
        false => (1, 4),
    };
    let first = number("--first-seed", 0);
    let contest = ContestDesc {
        policies: &ALL,
        belady: true,
        seeds: first..first + number("--seeds", seeds),
        frames,
    };
    let mut rows = Vec::new();
    for (scenario, budget) in Scenario::ALL
        .into_iter()
        .flat_map(|one| BUDGETS.map(|budget| (one, budget)))
    {
        rows.push((scenario, budget, contest.contest(scenario, budget)));
        // Progress.
        eprintln!("{} {budget}", scenario.name());
    }
    let text = document(&contest, &rows);
    match value("--write") {
        Some(path) => std::fs::write(path, text).unwrap_or_else(|error| panic!("{path}: {error}")),
        None => print!("{text}"),
    }
}

/// Mean traffic divided by the lower bound.
fn ratio(cell: &PolicyResult, cells: &Cells) -> f64 {
    cell.mean as f64 / cells[LOWER_BOUND].mean.max(1) as f64
}

/// Of the policies that are not ours, the best by a statistic, among those that need no capability that `ours` lacks.
fn best(
    cells: &Cells,
    ours: PolicyDesc<'static>,
    figure: impl Fn(&PolicyResult) -> u64,
) -> Option<(&'static str, u64)> {
    let peers = ALL.into_iter().filter(|kind| {
        ![OURS, LEVELS, STILL].iter().any(|ours| ours.name == kind.name)
            && (kind.uploads == UploadMode::Whole || ours.uploads != UploadMode::Whole)
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
    let mark = if own * 100 > other * 102 { "**" } else { "" };
    format!("{mark}{factor:.2} × {name}{mark}")
}

fn document(contest: &ContestDesc<'_>, rows: &[(Scenario, u64, Cells)]) -> String {
    let mut text = format!(
        "<!-- Written by `cargo bench -p tileheap-textures --bench tournament -- --write docs/cache_tournament.md`. -->\n\
         # The tournament of cache policies\n\n\
         Every policy on every scenario, at budgets that are fractions of the largest frame's working set: medians of seeds {:?}, {} \
         frames each (switch: {}). Every step is checked by `replay`. Traffic is what crosses the bus: uploads and bypasses.\n\n\
         - *bound*: `replay::lower_bound`: no policy that uploads whole chains needs less, whatever its placement.\n\
         - *belady*: evicts the texture whose next use is furthest, in a heap that compacts; it knows the future.\n\
         - *coherent* is ours. *Mean* and *p99*: its bytes a frame against the best of the other online policies, bold where it is \
         worse by more than 2 %.\n\
         - *levels* is `coherent-levels`, which uploads only the missing levels when a texture is requested at a finer level. So does \
         `first-attempt`, which is therefore compared with it and not with `coherent`: the bound only holds for uploads of whole chains.\n\
         - *still* is `coherent-still`, which does not relocate, and is only compared with other policies that do not.\n\n",
        contest.seeds,
        contest.frames,
        contest.frames / 4
    );
    text += "| scenario | budget | bound, B a frame | coherent / bound | spread over seeds | / belady | mean | p99 | levels / bound | mean | p99 | still / bound | mean | p99 |\n";
    text += "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
    for (scenario, budget, cells) in rows {
        let (ours, bound) = (&cells[OURS.name], &cells[LOWER_BOUND]);
        let each = ours
            .means
            .iter()
            .zip(&bound.means)
            .map(|(&mean, &floor)| mean as f64 / floor.max(1) as f64);
        let (low, high) = each.fold((f64::MAX, 0.0_f64), |(low, high), each| {
            (low.min(each), high.max(each))
        });
        let budget = *budget as f64 / 100.0;
        text += &format!("| {} | {budget:.2} | {}", scenario.name(), bound.mean);
        for kind in [OURS, LEVELS, STILL] {
            let cell = &cells[kind.name];
            text += &format!(" | {:.3}", ratio(cell, cells));
            if kind.name == OURS.name {
                let belady = ours.mean as f64 / cells[BELADY].mean.max(1) as f64;
                text += &format!(" | {low:.2} – {high:.2} | {belady:.3}");
            }
            let mean = against(cell.mean, best(cells, kind, |cell| cell.mean));
            let p99 = against(cell.p99, best(cells, kind, |cell| cell.p99));
            text += &format!(" | {mean} | {p99}");
        }
        text += " |\n";
    }
    let names: Vec<&str> = [BELADY].into_iter().chain(ALL.map(|kind| kind.name)).collect();
    let line = "|---".repeat(names.len());
    text += &format!(
        "\n## Mean traffic over the bound\n\n| scenario | budget | {} |\n|---|---{line}|\n",
        names.join(" | ")
    );
    for (scenario, budget, cells) in rows {
        text += &format!("| {} | {:.2}", scenario.name(), *budget as f64 / 100.0);
        for name in &names {
            text += &format!(" | {:.2}", ratio(&cells[name], cells));
        }
        text += " |\n";
    }
    text
}
