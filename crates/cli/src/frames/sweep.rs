//! A frame planned at many heap sizes or extents.

use tileheap::plan::advise::dram_traffic;
use tileheap::units::Bytes;

use super::plan::FrameArguments;
use crate::documents::{SweepOver, SweepPoint, SweepResult};
use crate::error::Result;
use crate::progress::Progress;
use crate::values::Sweep;

/// Points of a sweep.
const POINTS: u32 = 23;

/// Plans the frame in `text` at every size of a range.
pub(crate) fn sweep(arguments: &FrameArguments, text: &str, range: Sweep) -> Result<SweepResult> {
    let over = match range {
        Sweep::Heap(..) => SweepOver::Heap,
        Sweep::Size(..) => SweepOver::Size,
    };
    let between =
        |from: u64, to: u64, step: u32| from + (to - from) * u64::from(step) / u64::from(POINTS - 1);
    let device = arguments.options.read_profile()?;
    let progress = Progress::new("planning at every size", u64::from(POINTS));
    let mut points = Vec::new();
    for step in 0..POINTS {
        let (profile, extent) = match range {
            Sweep::Heap(from, to) => {
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
                (format!("{heap} B"), heap)
            }
        };
        let imported = arguments.frame_from(text, extent)?;
        let plan = arguments.options.plan(&imported, &profile)?;
        points.push(SweepPoint {
            at,
            size,
            on_chip_bytes: plan.totals.on_chip_bytes.0,
            eligible_bytes: plan.totals.eligible_bytes.0,
            dram_bytes: dram_traffic(&plan).0,
            proved: plan.optimality.map(|found| found.is_proved()),
        });
        progress.set_position(u64::from(step) + 1);
    }
    Ok(SweepResult { over, points })
}
