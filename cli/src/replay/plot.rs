//! Plots: bytes of every frame, and arena walls over frames, as SVG.

use std::fmt::Write;
use std::path::Path;

use tileheap::units::Bytes;

use super::run::Report;
use crate::failure::Failure;

const WIDTH: usize = 1000;
const TRAFFIC: usize = 260;
const WALLS: usize = 300;
const MARGIN: usize = 60;
const ARENAS: [&str; 9] = [
    "#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f", "#edc948", "#b07aa1", "#ff9da7", "#9c755f",
];

/// One file for each policy: `<trace>-<policy>.svg`.
pub(super) fn write_all(
    folder: &Path,
    trace: &Path,
    budget: Bytes,
    reports: &[Report],
) -> Result<(), Failure> {
    let failed = |path: &Path, error: std::io::Error| {
        Failure::new(format!(
            "cannot write `{}`: {error}: give --plot another folder",
            path.display()
        ))
    };
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let stem = trace.file_stem().unwrap_or(trace.as_os_str()).to_string_lossy();
    for report in reports {
        let path = folder.join(format!("{stem}-{}.svg", report.kind.name()));
        std::fs::write(&path, svg(&stem, budget, report)).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}

fn svg(trace: &str, budget: Bytes, report: &Report) -> String {
    let height = MARGIN * 2
        + TRAFFIC
        + if report.walls.is_empty() {
            0
        } else {
            WALLS + MARGIN
        };
    let mut svg = String::new();
    let max = report.summary.traffic.max;
    let levels = report.summary.traffic;
    write!(
        svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="13">
<rect width="100%" height="100%" fill="white"/>
<text x="{MARGIN}" y="24" font-size="16">{trace}, {name}, budget {budget}</text>
<text x="{MARGIN}" y="46">bytes a frame: mean {mean}, p99 {p99}, max {max}; {frames} frames</text>
"##,
        width = WIDTH + 2 * MARGIN,
        trace = escaped(trace),
        name = report.kind.name(),
        mean = levels.mean,
        p99 = levels.p99,
        frames = report.traffic.len(),
    )
    .expect("a string");
    let base = MARGIN + TRAFFIC;
    // Columns of several frames show the largest of them.
    for (x, frames) in columns(report.traffic.len()) {
        let bytes = report.traffic[frames].iter().copied().max().unwrap_or(0);
        let tall = (u128::from(bytes) * TRAFFIC as u128 / u128::from(max.0.max(1))) as usize;
        if tall > 0 {
            let (x, y) = (MARGIN + x, base - tall);
            writeln!(svg, r##"<path d="M{x}.5 {base}V{y}" stroke="#4e79a7"/>"##).expect("a string");
        }
    }
    writeln!(
        svg,
        r##"<path d="M{MARGIN} {MARGIN}V{base}H{}" stroke="black" fill="none"/>"##,
        MARGIN + WIDTH
    )
    .expect("a string");
    if !report.walls.is_empty() {
        walls(&mut svg, budget, report);
    }
    svg += "</svg>\n";
    svg
}

/// Each arena as a band from its lower to its upper wall.
fn walls(svg: &mut String, budget: Bytes, report: &Report) {
    let top = 2 * MARGIN + TRAFFIC;
    writeln!(
        svg,
        r#"<text x="{MARGIN}" y="{}">arenas, the smallest blocks below</text>"#,
        top - 8
    )
    .expect("a string");
    let arenas = report.walls.last().map_or(0, Vec::len);
    let y =
        |bytes: u64| top + WALLS - (u128::from(bytes) * WALLS as u128 / u128::from(budget.0.max(1))) as usize;
    for arena in (0..arenas).rev() {
        let mut path = format!("M{MARGIN} {}", top + WALLS);
        for (x, frames) in columns(report.walls.len()) {
            let ends = &report.walls[frames.start];
            let end = ends.get(arena).copied().unwrap_or(0);
            write!(path, "L{} {}", MARGIN + x, y(end)).expect("a string");
        }
        let last = MARGIN + WIDTH - 1;
        let colour = ARENAS[arena % ARENAS.len()];
        writeln!(
            svg,
            r#"<path d="{path}L{last} {}Z" fill="{colour}"/>"#,
            top + WALLS
        )
        .expect("a string");
    }
}

/// Columns of the plot, and the frames that each stands for: few frames are wide.
fn columns(frames: usize) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> {
    let columns = if frames == 0 { 0 } else { WIDTH };
    (0..columns).map(move |column| {
        let (first, end) = (column * frames / WIDTH, (column + 1) * frames / WIDTH);
        (column, first..end.max(first + 1))
    })
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
