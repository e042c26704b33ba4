//! A tensor plan as a chart: memories over steps, the tensors live at the peak, and the bytes of every strategy, from the JSON of
//! `tileheap tensors`.

use tileheap_tensor::plan::Region;

use super::chart::{Area, Chart, Facts, Item, Kind, Panel, Step};
use super::numbers::{Cell, Curve, Form, Series, Table, Unit};
use super::verdict::{Bar, Verdict};
use super::words::amount;
use crate::documents::{Memory, StrategyResult, Tensor, TensorLocation, Tensors};
use crate::values::counted;

pub(crate) fn chart(plan: &Tensors) -> Chart {
    let (tensors, live) = (&plan.tensors, &plan.live_bytes);
    let steps = live.iter().enumerate().map(|(step, &live)| Step {
        name: plan
            .steps
            .get(step)
            .map_or_else(|| step.to_string(), String::clone),
        facts: vec![("step", step.to_string()), ("live", amount(live))],
        lines: Vec::new(),
    });
    let steps: Vec<Step> = steps.collect();
    let mut panels: Vec<Panel> = plan.memories.iter().map(panel).collect();
    for (index, tensor) in tensors.iter().enumerate() {
        for region in &tensor.regions {
            let Some(panel) = panels.get_mut(region.memory.0 as usize) else {
                continue;
            };
            for span in lifetimes(tensor) {
                panel.boxes.push(Area {
                    item: index,
                    steps: span,
                    offset: region.offset.0,
                    size: region.size.0,
                });
            }
        }
    }
    let mut tables = vec![live_at_peak(plan, &steps)];
    if plan.pools {
        let pools: Vec<Vec<Pool>> = panels.iter().map(pools).collect();
        for (panel, pools) in panels.iter_mut().zip(&pools) {
            let rules = pools
                .iter()
                .enumerate()
                .map(|(index, pool)| (pool.offset, format!("pool {index}")));
            panel.rules.extend(rules);
        }
        tables.push(table_of_pools(&panels, &pools, tensors));
    }
    tables.push(strategies(plan));
    tables.retain(|table| !table.rows.is_empty());
    let peak = plan.peak;
    let mut chart = Chart {
        title: format!("{} by {}", plan.name, plan.strategy),
        verdict: verdict(plan),
        facts: facts(plan),
        marks: peak.map(|step| (step, "peak".to_owned())).into_iter().collect(),
        panels,
        what: "tensors",
        items: tensors.iter().map(|tensor| item(plan, tensor, &steps)).collect(),
        curves: vec![Curve {
            title: "Live bytes per step".to_owned(),
            axis_name: "step".to_owned(),
            at: steps
                .iter()
                .enumerate()
                .map(|(index, step)| at(index, step))
                .collect(),
            form: Form::Line,
            series: Series::single(live.clone()),
            wide: true,
            mark: peak.map(|step| (step, "peak".to_owned())),
            ..Curve::default()
        }],
        steps,
        tables,
        notes: plan.notes.clone(),
        ..Chart::default()
    };
    if !plan.on_chip.is_empty() {
        chart.curves.push(kept_on_chip(plan));
    }
    chart.name_sharers();
    chart
}

fn kept_on_chip(plan: &Tensors) -> Curve {
    let given = plan.memories.first().and_then(|memory| memory.capacity);
    let place = plan.on_chip.iter().position(|row| Some(row.capacity) == given);
    Curve {
        title: "Traffic that stays on chip by capacity".to_owned(),
        axis_name: "capacity".to_owned(),
        at: plan.on_chip.iter().map(|row| amount(row.capacity)).collect(),
        unit: Unit::Share,
        form: Form::Line,
        top: 1000,
        series: Series::single(plan.on_chip.iter().map(|row| row.share(row.kept)).collect()),
        mark: place.map(|place| (place, "this plan".to_owned())),
        wide: false,
    }
}

fn at(index: usize, step: &Step) -> String {
    if step.name == index.to_string() {
        format!("step {index}")
    } else {
        format!("step {index}, {}", step.name)
    }
}

fn panel(memory: &Memory) -> Panel {
    let of = memory
        .capacity
        .map_or(String::new(), |capacity| format!(" of {}", amount(capacity)));
    Panel {
        name: format!("Memory {}{of}", memory.name),
        size: memory.size.max(memory.lower_bound),
        rules: vec![(
            memory.lower_bound,
            format!("lower bound {}", amount(memory.lower_bound)),
        )],
        ..Panel::default()
    }
}

fn lifetimes(tensor: &Tensor) -> impl Iterator<Item = (usize, usize)> {
    tensor.lifetimes.iter().copied().filter(|span| span.0 < span.1)
}

/// Returns the verdict: the bytes with and without sharing, and the lower bound.
fn verdict(plan: &Tensors) -> Verdict {
    let placed = plan.tensors.iter().filter(|tensor| !tensor.regions.is_empty());
    let apart: u64 = placed.map(|tensor| tensor.size).fold(0, u64::saturating_add);
    let (size, bound) = (plan.size, plan.lower_bound);
    let sentence = if apart == 0 {
        "This network has no tensors to place.".to_owned()
    } else if size == bound {
        let same = match plan.memories.len() {
            0 | 1 => "",
            _ => " with these tensors in each memory",
        };
        format!("{} → {}: no plan{same} needs less.", amount(apart), amount(size))
    } else {
        format!(
            "{} → {}: {} times the lower bound.",
            amount(apart),
            amount(size),
            ratio(size, bound)
        )
    };
    let bars = vec![
        Bar::other("every tensor in its own memory", apart, amount(apart)),
        Bar::result("this plan", size, amount(size)),
        Bar::other("lower bound", bound, amount(bound)),
    ];
    Verdict::new(sentence, "Memory of the tensors", bars)
}

fn facts(plan: &Tensors) -> Facts {
    let (tensors, live) = (&plan.tensors, &plan.live_bytes);
    let most = live.iter().copied().max().unwrap_or(0);
    vec![
        ("live at the peak", amount(most)),
        (
            "tensors",
            format!("{} over {}", tensors.len(), counted(live.len() as u64, "step")),
        ),
        ("strategy", format!("{}, storage {}", plan.strategy, plan.policy)),
    ]
}

fn thousandths(size: u64, bound: u64) -> u64 {
    (u128::from(size) * 1000).div_ceil(u128::from(bound.max(1))) as u64
}

/// A ratio as text: `1.234`, rounded up: only equal sizes print as 1.000.
fn ratio(size: u64, bound: u64) -> String {
    let thousandths = thousandths(size, bound);
    format!("{}.{:03}", thousandths / 1000, thousandths % 1000)
}

fn item(plan: &Tensors, tensor: &Tensor, steps: &[Step]) -> Item {
    let storage = tensor.storage.as_deref().unwrap_or("");
    let regions = &tensor.regions;
    let kind = match (regions.as_slice(), storage) {
        ([], _) => Kind::Own,
        (_, storage) if storage.starts_with("image") => Kind::Texture,
        _ => Kind::Buffer,
    };
    let mut facts = Vec::new();
    let mut fact = |name, value: String| facts.push((name, value));
    let step = |index: usize| steps.get(index).map_or(String::new(), |step| at(index, step));
    for (first, end) in lifetimes(tensor).take(4) {
        let lifetime = if first + 1 == end {
            step(first)
        } else {
            format!("{} … {}", step(first), step(end - 1))
        };
        fact("lifetime", lifetime);
    }
    if lifetimes(tensor).count() > 4 {
        fact(
            "lifetime",
            format!(
                "and {} more, one for each unrolled iteration",
                lifetimes(tensor).count() - 4
            ),
        );
    }
    let moves = matches!(
        tensor.place,
        Some(TensorLocation::PerRound { .. } | TensorLocation::AtExit(_))
    );
    if let Some(place) = tensor.place.as_ref().filter(|_| moves) {
        let memory = |index: usize| {
            plan.memories
                .get(index)
                .map_or(String::new(), |memory| memory.name.clone())
        };
        fact("loop location", place.in_words(&memory));
    }
    for region in regions {
        let (memory, size) = (memory_of(plan, region), amount(region.size.0));
        fact(
            "placement",
            format!("{memory}, {size} at offset {}", region.offset.0),
        );
    }
    if regions.is_empty() {
        fact(
            "placement",
            match tensor.home.as_str() {
                "external" => "external memory".to_owned(),
                "constant" => "constant, outside the planned memories".to_owned(),
                other => other.to_owned(),
            },
        );
    }
    if !storage.is_empty() {
        fact("storage", storage.to_owned());
    }
    if let Some([width, height, layers]) = tensor.extent {
        let layers = if layers > 1 {
            format!(", {layers} layers")
        } else {
            String::new()
        };
        fact("image", format!("{width}x{height} texels{layers}"));
    }
    if let Some(scope) = &tensor.scope {
        fact("scope", scope.clone());
    }
    Item {
        name: tensor.name.clone(),
        kind,
        size: tensor.size,
        facts,
        changed: false,
    }
}

fn memory_of<'a>(plan: &'a Tensors, region: &Region) -> &'a str {
    let memory = plan.memories.get(region.memory.0 as usize);
    memory.map_or("", |memory| memory.name.as_str())
}

fn live_at_peak(plan: &Tensors, steps: &[Step]) -> Table {
    let Some(peak) = plan.peak else {
        return Table::default();
    };
    let is_live = |tensor: &&Tensor| {
        !tensor.regions.is_empty() && lifetimes(tensor).any(|(first, end)| first <= peak && peak < end)
    };
    let mut live: Vec<&Tensor> = plan.tensors.iter().filter(is_live).collect();
    live.sort_by_key(|tensor| std::cmp::Reverse(tensor.size));
    let rows = live.iter().map(|tensor| {
        let region = &tensor.regions[0];
        vec![
            Cell::word(tensor.name.as_str()),
            Cell::bytes(tensor.size),
            Cell::word(memory_of(plan, region)),
            Cell::Number(region.offset.0, region.offset.0.to_string()),
            Cell::word(tensor.storage.as_deref().unwrap_or("")),
        ]
    });
    let name = steps.get(peak).map_or(String::new(), |step| at(peak, step));
    Table::new(
        format!("Live at the peak, {name}"),
        &["tensor", "size", "memory", "offset", "storage"],
        rows,
    )
}

/// A pool of a strategy.
struct Pool {
    offset: u64,
    end: u64,
    tensors: Vec<usize>,
}

/// The pools in a panel. Tensors that share bytes are in one pool, since pools are disjoint.
fn pools(panel: &Panel) -> Vec<Pool> {
    let mut areas: Vec<&Area> = panel.boxes.iter().filter(|area| area.size > 0).collect();
    areas.sort_by_key(|area| (area.offset, area.item));
    let mut pools: Vec<Pool> = Vec::new();
    for area in areas {
        let end = area.offset.saturating_add(area.size);
        match pools.last_mut() {
            Some(pool) if area.offset < pool.end => {
                pool.end = pool.end.max(end);
                if !pool.tensors.contains(&area.item) {
                    pool.tensors.push(area.item);
                }
            }
            _ => pools.push(Pool {
                offset: area.offset,
                end,
                tensors: vec![area.item],
            }),
        }
    }
    pools
}

fn table_of_pools(panels: &[Panel], pools: &[Vec<Pool>], all: &[Tensor]) -> Table {
    let mut rows = Vec::new();
    for (panel, pools) in panels.iter().zip(pools) {
        for (index, pool) in pools.iter().enumerate() {
            let names = pool.tensors.iter().map(|&tensor| all[tensor].name.as_str());
            let names: Vec<&str> = names.collect();
            rows.push(vec![
                Cell::Number(index as u64, format!("pool {index}")),
                Cell::word(panel.name.as_str()),
                Cell::Number(pool.offset, pool.offset.to_string()),
                Cell::bytes(pool.end - pool.offset),
                Cell::count(pool.tensors.len() as u64),
                Cell::word(names.join(", ")),
            ]);
        }
    }
    Table::new(
        "Pools",
        &["pool", "memory", "offset", "size", "tensors", "used by"],
        rows,
    )
}

/// The note of a strategy that places no tensors in limited memories unless they have to be there.
pub(crate) const IGNORES_LIMITED_MEMORIES: &str = "does not use limited memories";

/// The table of strategies, in ascending order of bytes; those that failed come last.
fn strategies(plan: &Tensors) -> Table {
    let mut compared: Vec<&StrategyResult> = plan.strategies.iter().collect();
    compared.sort_by_key(|compared| match compared {
        StrategyResult::Planned { size, .. } => *size,
        StrategyResult::Failed { .. } => u64::MAX,
    });
    let rows = compared.iter().map(|compared| {
        let [size, bound, ratio, note] = match compared {
            StrategyResult::Planned {
                size,
                lower_bound,
                ignores_limited_memories,
                ..
            } => {
                let ratio = Cell::Number(thousandths(*size, *lower_bound), ratio(*size, *lower_bound));
                let note = if *ignores_limited_memories {
                    IGNORES_LIMITED_MEMORIES
                } else {
                    ""
                };
                [
                    Cell::bytes(*size),
                    Cell::bytes(*lower_bound),
                    ratio,
                    Cell::word(note),
                ]
            }
            StrategyResult::Failed { error, .. } => {
                let empty = || Cell::word("");
                [empty(), empty(), empty(), Cell::word(error.as_str())]
            }
        };
        vec![Cell::word(compared.strategy()), size, bound, ratio, note]
    });
    Table {
        title: "Bytes by strategy".to_owned(),
        columns: &["strategy", "bytes", "lower bound", "ratio", "note"],
        rows: rows.collect(),
        chosen: compared
            .iter()
            .position(|compared| compared.strategy() == plan.strategy)
            .map(|row| (row, "drawn")),
    }
}
