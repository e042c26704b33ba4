//! `tileheap advise --sweep`: the plan at many heap sizes or extents.

use tileheap::plan::dram_traffic;
use tileheap::units::Bytes;

use crate::arguments::What;
use crate::documents::{self, Over, Point, Swept};
use crate::failure::Failure;
use crate::gate::percent;
use crate::input::Sweep;
use crate::output::Output;
use crate::plan::{frame_from, frame_weighed, plan_of, read_profile};
use crate::progress::Progress;

/// Points of a sweep.
const POINTS: u32 = 23;

pub(crate) fn run(what: &What, sweep: Sweep, as_json: bool) -> Result<(), Failure> {
    let text = crate::input::read_text(&what.frame, "frame")?;
    let swept = swept(what, &text, sweep)?;
    if as_json {
        return Output::stdout().write(&documents::write(&swept));
    }
    Output::stdout().write_report(&curve(&swept.points))
}

/// The sweep of the frame in a text.
pub(crate) fn swept(what: &What, text: &str, sweep: Sweep) -> Result<Swept, Failure> {
    Ok(Swept {
        over: match sweep {
            Sweep::Heap(..) => Over::Heap,
            Sweep::Size(..) => Over::Size,
        },
        points: points(what, text, sweep)?,
    })
}

fn points(what: &What, text: &str, sweep: Sweep) -> Result<Vec<Point>, Failure> {
    let between =
        |from: u64, to: u64, step: u32| from + (to - from) * u64::from(step) / u64::from(POINTS - 1);
    let device = read_profile(what)?;
    let progress = Progress::new("planning at every size", u64::from(POINTS));
    let mut points = Vec::new();
    for step in 0..POINTS {
        let (profile, extent) = match sweep {
            Sweep::Heap(from, to) => {
                let size = Bytes(between(from.0, to.0, step));
                (device.clone().with_tile_heap_size(size)?, what.how.size)
            }
            Sweep::Size(from, to) => {
                let side = |from: u32, to: u32| between(from.into(), to.into(), step) as u32;
                (device.clone(), Some((side(from.0, to.0), side(from.1, to.1))))
            }
        };
        let (at, size) = match (sweep, extent) {
            (Sweep::Size(..), Some((width, height))) => (
                format!("{width} x {height}"),
                u64::from(width) * u64::from(height),
            ),
            _ => {
                let heap = profile.tile.map_or(0, |tile| tile.size.0);
                (format!("{heap} B"), heap)
            }
        };
        let imported = frame_weighed(what, frame_from(&what.frame, text, extent)?)?;
        let plan = plan_of(what, &imported, &profile)?;
        points.push(Point {
            at,
            size,
            on_chip_bytes: plan.totals.on_chip_bytes.0,
            eligible_bytes: plan.totals.eligible_bytes.0,
            dram_bytes: dram_traffic(&plan).0,
            proved: plan.optimality.map(|found| found.is_proved()),
        });
        progress.at(u64::from(step) + 1);
    }
    Ok(points)
}

/// A table with a bar per point.
fn curve(points: &[Point]) -> String {
    const WIDTH: u64 = 50;
    let widest = points.iter().map(|point| point.at.len()).max().unwrap_or(0);
    let mut report = "Share of the eligible traffic kept on chip\n".to_owned();
    for point in points {
        let length = (u128::from(point.on_chip_bytes) * u128::from(WIDTH)
            / u128::from(point.eligible_bytes.max(1))) as usize;
        let note = if point.proved == Some(false) {
            "  not proved"
        } else {
            ""
        };
        report += &format!(
            "  {:>widest$}  {:>7}  {}{note}\n",
            point.at,
            percent(point.on_chip_bytes, point.eligible_bytes),
            "#".repeat(length),
        );
    }
    report
}
