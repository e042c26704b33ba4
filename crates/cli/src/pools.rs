//! `tileheap pack` for a JSON file with several pools.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tileheap::units::Bytes;
use tileheap_pack::pools::{Pool, PoolItem, PoolsAnswer, PoolsDesc, PoolsProblem, check, solve};
use tileheap_pack::{ProgressCallback, Steps, Verdict};

use crate::error::{Error, Result};
use crate::input::shown;
use crate::values::counted;

/// A packing problem with several pools, in its JSON form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(rename = "format")]
    _format: String,
    #[serde(rename = "version")]
    _version: u64,
    pools: Vec<Pool>,
    items: Vec<PoolItem>,
    #[serde(default)]
    share: Vec<Vec<String>>,
    #[serde(default)]
    conflicts: Vec<(String, String)>,
    #[serde(default)]
    exclusive: Vec<(String, String)>,
    #[serde(default)]
    penalties: Vec<(String, String, u64)>,
}

/// Returns true if the text of a file is a JSON object, and not a table.
pub(crate) fn is_json(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// Reads a packing problem with several pools from JSON.
///
/// # Errors
/// The reason that the problem is invalid.
pub(crate) fn read(file: &Path, text: &str) -> Result<PoolsProblem> {
    let document: Document =
        tileheap_json::read(text, "tileheap-pools", 1).map_err(|error| Error::of(shown(file), error))?;
    let desc = PoolsDesc {
        pools: document.pools,
        items: document.items,
        share: document.share,
        conflicts: document.conflicts,
        exclusive: document.exclusive,
        penalties: document.penalties,
    };
    desc.build().map_err(|error| Error::of(shown(file), error))
}

/// Packs the items, and checks the packing.
pub(crate) fn pack(problem: &PoolsProblem, budget: Steps, watch: ProgressCallback<'_>) -> PoolsAnswer {
    let answer = solve(problem, budget, watch);
    if let Some(packing) = &answer.packing {
        check(problem, packing).expect("every answer passes the checker");
    }
    answer
}

/// Describes, for the report, a search that ended without a proof: which limit ended it and, unless `found`, that it found no packing.
pub(crate) fn unproved(verdict: Verdict, found: bool) -> &'static str {
    match (verdict, found) {
        (Verdict::Interrupted, true) => "none before the time limit or Ctrl-C",
        (Verdict::Interrupted, false) => "none before the time limit or Ctrl-C, and no packing was found",
        (_, true) => "none within the budget",
        (_, false) => "none within the budget, and no packing was found",
    }
}

/// The report about a packing, or about the lack of one, as text.
pub(crate) fn in_words(problem: &PoolsProblem, answer: &PoolsAnswer, took: Duration) -> String {
    let desc = problem.desc();
    let mut text = String::new();
    let mut row = |name: &str, value: String| text += &format!("{name:<10} {value}\n");
    row("items", desc.items.len().to_string());
    if let Some(packing) = &answer.packing {
        for (pool, height) in desc.pools.iter().zip(&packing.heights) {
            let of = pool
                .capacity
                .map_or(String::new(), |capacity| format!(" of {capacity}"));
            row("pool", format!("{}: {height}{of}", pool.name));
        }
        row("cost", packing.cost.to_string());
        row("bound", answer.bound.to_string());
    }
    let proof = match (answer.verdict, answer.packing.is_some()) {
        (Verdict::Proved, true) => "proved: no packing is better",
        (Verdict::Proved, false) => "proved: infeasible",
        (verdict, found) => unproved(verdict, found),
    };
    row("proof", proof.to_owned());
    row("steps", answer.steps.0.to_string());
    row("time", format!("{:.3} ms", took.as_secs_f64() * 1e3));
    if !answer.conflict.is_empty() {
        row("conflict", counted(answer.conflict.len() as u64, "item"));
        for &item in &answer.conflict {
            let of = &desc.items[item as usize];
            writeln!(text, "  {} {}", of.id, of.size).expect("writing to a string cannot fail");
        }
    }
    text
}

/// The packing as JSON.
pub(crate) fn in_json(problem: &PoolsProblem, answer: &PoolsAnswer, took: Duration) -> Value {
    let desc = problem.desc();
    let items = answer.packing.as_ref().map(|packing| {
        let items = desc.items.iter().zip(&packing.places).map(|(item, place)| {
            let pool = &desc.pools[place.pool as usize].name;
            json!({ "id": item.id, "pool": pool, "offset": place.offset })
        });
        items.collect::<Vec<_>>()
    });
    let pools = answer.packing.as_ref().map(|packing| {
        let pools = desc.pools.iter().zip(&packing.heights);
        let pools = pools.map(|(pool, height): (_, &Bytes)| json!({ "name": pool.name, "height": height }));
        pools.collect::<Vec<_>>()
    });
    let conflict = answer.conflict.iter().map(|&item| &desc.items[item as usize].id);
    json!({
        "format": "tileheap-pools-packing",
        "version": 1,
        "pools": pools,
        "cost": answer.packing.as_ref().map(|packing| packing.cost),
        "bound": answer.bound,
        "verdict": answer.verdict,
        "steps": answer.steps,
        "milliseconds": took.as_secs_f64() * 1e3,
        "conflict": conflict.collect::<Vec<_>>(),
        "items": items,
    })
}
