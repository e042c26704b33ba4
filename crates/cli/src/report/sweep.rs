//! A sweep as curves, from the JSON of `tileheap advise --sweep`.

use super::chart::Chart;
use super::numbers::{Curve, Form, Series, Unit};
use super::verdict::Verdict;
use super::words::amount;
use crate::documents::{SweepOver, SweepPoint, SweepResult};

/// The property that a sweep varies.
fn varied(swept: &SweepResult) -> &'static str {
    match swept.over {
        SweepOver::Heap => "tile heap size",
        SweepOver::Size => "extent",
        SweepOver::Repeat => "cost of one more execution of a pass",
    }
}

/// The value of the varied property at a point, with its unit.
fn position(swept: &SweepResult, point: &SweepPoint) -> String {
    match swept.over {
        SweepOver::Heap | SweepOver::Repeat => amount(point.size),
        SweepOver::Size => point.at.clone(),
    }
}

/// Returns the curves of a sweep. `here` is the plan's own heap size or number of texels; the nearest point is marked.
pub(crate) fn curves(swept: &SweepResult, here: Option<u64>) -> Vec<Curve> {
    let points = &swept.points;
    let at: Vec<String> = points.iter().map(|point| position(swept, point)).collect();
    // The nearest point.
    let nearest =
        here.and_then(|here| (0..points.len()).min_by_key(|&index| points[index].size.abs_diff(here)));
    let mark = nearest.map(|index| (index, format!("this plan, {}", at[index])));
    let what = varied(swept);
    let curve = |title: String, unit: Unit, top: u64, values: Vec<u64>| Curve {
        title,
        axis_name: what.to_owned(),
        at: at.clone(),
        unit,
        form: Form::Line,
        top,
        series: Series::single(values),
        mark: mark.clone(),
        wide: false,
    };
    let kept = curve(
        format!("Share of traffic kept on chip by {what}"),
        Unit::Share,
        1000,
        points.iter().map(share).collect(),
    );
    let traffic = curve(
        format!("Traffic to memory per frame by {what}"),
        Unit::Bytes,
        0,
        points.iter().map(|point| point.dram_bytes).collect(),
    );
    vec![kept, traffic]
}

/// The share of the traffic that stays on chip, in thousandths.
fn share(point: &SweepPoint) -> u64 {
    let (kept, all) = (point.on_chip_bytes, point.traffic_bytes);
    (u128::from(kept) * 1000 / u128::from(all.max(1))) as u64
}

/// Returns the verdict: the shares on chip at the first and the last point.
fn verdict(swept: &SweepResult) -> Verdict {
    let sentence = match &swept.points[..] {
        [first, .., last] => format!(
            "{} of the traffic stays on chip at {}, {} at {}.",
            Unit::Share.shown(share(first)),
            position(swept, first),
            Unit::Share.shown(share(last)),
            position(swept, last)
        ),
        _ => String::new(),
    };
    Verdict::new(sentence, "", Vec::new())
}

/// The chart of a sweep without a plan.
pub(crate) fn chart(swept: &SweepResult, name: &str) -> Chart {
    Chart {
        title: format!("{name}: share on chip by {}", varied(swept)),
        verdict: verdict(swept),
        curves: curves(swept, None),
        ..Chart::default()
    }
}
