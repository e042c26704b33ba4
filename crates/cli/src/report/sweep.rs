//! A sweep as curves: what `tileheap advise --sweep --json` writes in.

use super::chart::Chart;
use super::numbers::{Curve, Form, Series, Unit};
use super::words::amount;
use crate::documents::{Over, Point, Swept};

/// Of a plan at `here`, which is marked: the size of its heap, or its texels.
pub(crate) fn curves(swept: &Swept, here: Option<u64>) -> Vec<Curve> {
    let points = &swept.points;
    let at = points.iter().map(|point| match swept.over {
        Over::Heap => amount(point.size),
        Over::Size => point.at.clone(),
    });
    let at: Vec<String> = at.collect();
    // The point that is nearest.
    let nearest =
        here.and_then(|here| (0..points.len()).min_by_key(|&index| points[index].size.abs_diff(here)));
    let mark = nearest.map(|index| (index, format!("this plan, {}", at[index])));
    let what = match swept.over {
        Over::Heap => "size of the tile heap",
        Over::Size => "extent",
    };
    let curve = |title: String, unit: Unit, top: u64, values: Vec<u64>| Curve {
        title,
        across: what.to_owned(),
        at: at.clone(),
        unit,
        form: Form::Line,
        top,
        series: vec![Series {
            name: String::new(),
            values,
            note: String::new(),
        }],
        mark: mark.clone(),
        wide: false,
    };
    let share = |point: &Point| {
        let (kept, eligible) = (point.on_chip_bytes, point.eligible_bytes);
        (u128::from(kept) * 1000 / u128::from(eligible.max(1))) as u64
    };
    let kept = curve(
        format!("Eligible traffic kept on chip over the {what}"),
        Unit::Share,
        1000,
        points.iter().map(share).collect(),
    );
    let traffic = curve(
        format!("Traffic to memory a frame over the {what}"),
        Unit::Bytes,
        0,
        points.iter().map(|point| point.dram_bytes).collect(),
    );
    vec![kept, traffic]
}

/// A sweep by itself.
pub(crate) fn chart(swept: &Swept, name: &str) -> Chart {
    Chart {
        title: format!("{name}: a sweep"),
        curves: curves(swept, None),
        ..Chart::default()
    }
}
