//! A frame planned at many heap sizes or extents, or arranged at many costs of repeating a pass.

use tileheap::arrange::{Arrangement, SearchResult};
use tileheap::execute::ChargeCause;
use tileheap::plan::Traffic;
use tileheap::units::Bytes;

use super::arrange::{DescribedPlan, Limits};
use super::plan::FrameArguments;
use crate::documents::{SweepOver, SweepPoint, SweepResult};
use crate::error::Result;
use crate::interrupt::is_interrupted;
use crate::progress::Progress;
use crate::values::Sweep;

/// Number of points of a sweep.
const POINTS: u32 = 23;

/// Plans the frame in `text` at [`POINTS`] heap sizes or extents in a range, or arranges it at [`POINTS`] costs of repeating a pass.
pub(crate) fn sweep(
    arguments: &FrameArguments,
    text: &str,
    range: Sweep,
    limits: &Limits,
) -> Result<SweepResult> {
    let over = match range {
        Sweep::Repeat(from, to) => return repeats(arguments, text, (from.0, to.0), limits),
        Sweep::Heap(..) => SweepOver::Heap,
        Sweep::Size(..) => SweepOver::Size,
    };
    let device = arguments.options.read_profile()?;
    let progress = Progress::new("planning at every size", u64::from(POINTS));
    let mut points = Vec::new();
    for step in 0..POINTS {
        if is_interrupted() && !points.is_empty() {
            break;
        }
        let (profile, extent) = match range {
            Sweep::Heap(from, to) | Sweep::Repeat(from, to) => {
                let size = Bytes(between(from.0, to.0, step));
                (device.clone().with_tile_heap_size(size)?, arguments.options.size)
            }
            Sweep::Size(from, to) => {
                let side = |from: u32, to: u32| between(from.into(), to.into(), step) as u32;
                (device.clone(), Some((side(from.0, to.0), side(from.1, to.1))))
            }
        };
        let (at, size) = match (range, extent) {
            (Sweep::Size(..), Some((width, height))) => (
                format!("{width} x {height}"),
                u64::from(width) * u64::from(height),
            ),
            _ => {
                let heap = profile.tile.map_or(0, |tile| tile.size.0);
                (Bytes(heap).to_string(), heap)
            }
        };
        // A narrow range has fewer points.
        if points.last().is_some_and(|last: &SweepPoint| last.at == at) {
            continue;
        }
        let imported = arguments.frame_from(text, extent)?;
        let plan = arguments.options.plan(&imported, &profile)?;
        points.push(SweepPoint {
            at,
            size,
            on_chip_bytes: plan.totals.on_chip_bytes.0,
            traffic_bytes: plan.totals.traffic_bytes.0,
            dram_bytes: plan.dram_traffic().0,
            proved: plan.optimality.map(|found| found.is_proved()),
        });
        progress.set_position(u64::from(step) + 1);
    }
    Ok(SweepResult { over, points })
}

fn between(from: u64, to: u64, step: u32) -> u64 {
    from + ((u128::from(to - from) * u128::from(step)) / u128::from(POINTS - 1)) as u64
}

/// Arranges the frame at [`POINTS`] costs of repeating a pass.
fn repeats(
    arguments: &FrameArguments,
    text: &str,
    (from, to): (u64, u64),
    limits: &Limits,
) -> Result<SweepResult> {
    let imported = arguments.frame_from(text, arguments.options.size)?;
    let plan = arguments
        .options
        .plan(&imported, &arguments.options.read_profile()?)?;
    let limits: Vec<Limits> = (0..POINTS)
        .map(|step| limits.at_repeat_cost(Bytes(between(from, to, step))))
        .collect();
    let described = DescribedPlan {
        options: &arguments.options,
        imported: &imported,
        plan: &plan,
    };
    // An arrangement found at one cost may also be the best at another. It is planned once, because repeat costs do not change the plan.
    let mut known: Vec<SearchResult> = Vec::new();
    for limits in &limits {
        if is_interrupted() && !known.is_empty() {
            break;
        }
        let others: Vec<Arrangement> = known.iter().map(|other| other.arrangement.clone()).collect();
        let found = limits.search(&plan, &limits.kinds(), &others);
        if known.iter().all(|other| other.arrangement != found.arrangement) {
            known.push(described.planned(found, Vec::new())?.found);
        }
    }
    let mut points = Vec::new();
    for limits in limits {
        let costs = limits.costs(&plan);
        let there = known.iter().map(|found| {
            let charged = SearchResult {
                costs,
                ..found.clone()
            }
            .apply(&plan)?;
            Ok(Traffic {
                repeats: charged.charges().of(ChargeCause::Repeat),
                ..found.traffic
            })
        });
        let there: Vec<Traffic> = there.collect::<Result<_>>()?;
        let Some(best) = there.iter().min_by_key(|traffic| traffic.off_chip()) else {
            continue;
        };
        let cost = costs.repeat.unwrap_or_default();
        points.push(SweepPoint {
            at: cost.to_string(),
            size: cost.0,
            on_chip_bytes: best.on_chip().0,
            traffic_bytes: best.described.0,
            dram_bytes: best.off_chip().0,
            proved: None,
        });
    }
    Ok(SweepResult {
        over: SweepOver::Repeat,
        points,
    })
}
