//! A sweep as curves: what `tileheap advise --sweep --json` writes in.

use serde_json::Value;

use super::chart::{Chart, amount};
use super::frame::{bytes, list, text};
use super::numbers::{Curve, Form, Series, Unit};

/// Of a plan at `here`, which is marked: the size of its heap, or its texels.
pub(crate) fn curves(sweep: &Value, here: Option<u64>) -> Vec<Curve> {
    let points = list(&sweep["points"]);
    let over_heap = sweep["over"] == "heap";
    let size = |point: &Value| bytes(&point["size"]);
    let at = points.iter().map(|point| {
        if over_heap && point["size"].is_u64() {
            amount(size(point))
        } else {
            text(&point["at"]).to_owned()
        }
    });
    let at: Vec<String> = at.collect();
    // The point that is nearest.
    let nearest =
        here.and_then(|here| (0..points.len()).min_by_key(|&index| size(&points[index]).abs_diff(here)));
    let mark = nearest.map(|index| (index, format!("this plan, {}", at[index])));
    let what = if over_heap {
        "size of the tile heap"
    } else {
        "extent"
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
    let share = |point: &Value| {
        let (kept, eligible) = (bytes(&point["on_chip_bytes"]), bytes(&point["eligible_bytes"]));
        (u128::from(kept) * 1000 / u128::from(eligible.max(1))) as u64
    };
    let mut curves = vec![curve(
        format!("Eligible traffic kept on chip over the {what}"),
        Unit::Share,
        1000,
        points.iter().map(share).collect(),
    )];
    if points.iter().all(|point| point["dram_bytes"].is_u64()) {
        curves.push(curve(
            format!("Traffic to memory a frame over the {what}"),
            Unit::Bytes,
            0,
            points.iter().map(|point| bytes(&point["dram_bytes"])).collect(),
        ));
    }
    curves
}

/// A sweep by itself.
pub(crate) fn chart(sweep: &Value, name: &str) -> Chart {
    Chart {
        title: format!("{name}: a sweep"),
        curves: curves(sweep, None),
        ..Chart::default()
    }
}
