//! The plot: uploads of every frame, and the walls of the arenas, as SVG.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use tileheap::units::Bytes;

use crate::streamer::FrameRecord;
use crate::support::error::{Result, create_file, file};

const WIDTH: f64 = 1000.0;
const TALL: f64 = 240.0;
const MARGIN: f64 = 60.0;
const ARENAS: [&str; 9] = [
    "#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f", "#edc948", "#b07aa1", "#ff9da7", "#9c755f",
];

/// Writes the plot.
pub(crate) fn write(
    path: &Path,
    title: &str,
    records: &[FrameRecord],
    budget: Bytes,
    uploads: Bytes,
) -> Result<()> {
    let text = svg(title, records, budget, uploads);
    create_file(path)?
        .write_all(text.as_bytes())
        .map_err(|error| file(path, error))
}

fn svg(title: &str, records: &[FrameRecord], budget: Bytes, uploads: Bytes) -> String {
    let walled = records.iter().any(|record| !record.walls.is_empty());
    let charts = if walled { 3.0 } else { 2.0 };
    let height = MARGIN + charts * (TALL + MARGIN);
    let mut svg = String::new();
    let write = |svg: &mut String, text: std::fmt::Arguments<'_>| {
        svg.write_fmt(text).expect("writing to a string");
    };
    let full = WIDTH + 2.0 * MARGIN;
    write(
        &mut svg,
        format_args!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{full}" height="{height}" font-family="sans-serif" font-size="13"><rect width="100%" height="100%" fill="white"/><text x="{MARGIN}" y="26" font-size="16">{title}</text>
"##
        ),
    );
    let x = |frame: usize| MARGIN + WIDTH * frame as f64 / records.len().max(1) as f64;
    let mut bars = |top: f64,
                    label: &str,
                    colour: &str,
                    most: f64,
                    line: Option<f64>,
                    of: &dyn Fn(&FrameRecord) -> f64| {
        let base = top + TALL;
        let mut path = String::new();
        for (frame, record) in records.iter().enumerate() {
            let up = TALL * (of(record) / most.max(1.0)).min(1.0);
            write(
                &mut path,
                format_args!("M{:.1} {base}V{:.1}", x(frame) + 0.5, base - up),
            );
        }
        let wide = (WIDTH / records.len().max(1) as f64).max(1.0);
        write(
            &mut svg,
            format_args!(
                r##"<text x="{MARGIN}" y="{}">{label}</text><path d="{path}" stroke="{colour}" stroke-width="{wide:.1}"/><path d="M{MARGIN} {top}V{base}H{}" stroke="black" fill="none"/>
"##,
                top - 8.0,
                MARGIN + WIDTH
            ),
        );
        if let Some(line) = line {
            let y = base - TALL * (line / most.max(1.0)).min(1.0);
            write(
                &mut svg,
                format_args!(
                    r##"<path d="M{MARGIN} {y:.1}h{WIDTH}" stroke="#c00" stroke-dasharray="5 4"/>
"##
                ),
            );
        }
    };
    let most = records
        .iter()
        .map(|record| record.uploaded)
        .max()
        .unwrap_or(0)
        .max(uploads.0) as f64;
    let label = format!("bytes uploaded a frame, {most:.0} at most; dashed: the budget of {uploads}");
    bars(
        MARGIN,
        &label,
        "#4e79a7",
        most,
        Some(uploads.0 as f64),
        &|record| record.uploaded as f64,
    );
    let top = 2.0 * MARGIN + TALL;
    let most = records
        .iter()
        .map(|record| record.requests)
        .max()
        .unwrap_or(0)
        .into();
    let label =
        format!("textures drawn from a coarser one; dashed: mean of textures in view, at most {most}");
    let mean = records
        .iter()
        .map(|record| f64::from(record.requests))
        .sum::<f64>()
        / records.len().max(1) as f64;
    bars(top, &label, "#e15759", most, Some(mean), &|record| {
        record.coarser.into()
    });
    if walled {
        let top = 3.0 * MARGIN + 2.0 * TALL;
        let label = format!("arenas in {budget}, smallest blocks at the bottom");
        write(
            &mut svg,
            format_args!("<text x=\"{MARGIN}\" y=\"{}\">{label}</text>\n", top - 8.0),
        );
        let arenas = records.iter().map(|record| record.walls.len()).max().unwrap_or(0);
        let base = top + TALL;
        for arena in (0..arenas).rev() {
            let mut path = format!("M{MARGIN} {base}");
            for (frame, record) in records.iter().enumerate() {
                let end = record.walls.get(arena).copied().unwrap_or(0) as f64;
                let y = base - TALL * end / budget.0.max(1) as f64;
                write(
                    &mut path,
                    format_args!("L{:.1} {y:.1}H{:.1}", x(frame), x(frame + 1)),
                );
            }
            let colour = ARENAS[arena % ARENAS.len()];
            write(
                &mut svg,
                format_args!("<path d=\"{path}V{base}Z\" fill=\"{colour}\"/>\n"),
            );
        }
    }
    svg += "</svg>\n";
    svg
}
