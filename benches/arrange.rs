//! Benchmarks the search for arrangements on the published frames: its time, and the share of the traffic that the arrangements keep on chip.
//!
//! `cargo bench -p tileheap --bench arrange [FRAME REACHES]...`: also on other frames, with the reaches to assume for each.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ash::vk;
use tileheap::arrange::{SearchOptions, search};
use tileheap::frame::ReachAssumptions;
use tileheap::frame::import::read;
use tileheap::measure::estimate;
use tileheap::plan::{PlanOptions, plan};
use tileheap::profile::DeviceProfile;

const SIZES: [[u32; 2]; 4] = [[1280, 720], [1920, 1080], [2560, 1440], [3840, 2160]];
const RUNS: usize = 5;

fn main() {
    let data = tileheap_testkit::data;
    let mut frames: Vec<[PathBuf; 2]> = [
        "granite_deferred_taa_bloom.json",
        "qualcomm_tile_memory_sample.json",
        "khronos_local_read_deferred.json",
    ]
    .map(|file| [data("frames").join(file), data("reach.json")])
    .to_vec();
    let others: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with('-'))
        .collect();
    frames.extend(
        others
            .chunks_exact(2)
            .map(|pair| [&pair[0], &pair[1]].map(PathBuf::from)),
    );
    for [frame, reaches] in &frames {
        for size in SIZES {
            measure(frame, reaches, size);
        }
    }
}

/// Prints the fastest time of several searches, the number of steps, and the on-chip shares of the frame as described and as arranged.
fn measure(frame: &Path, reaches: &Path, [width, height]: [u32; 2]) {
    let text = |path: &Path| std::fs::read_to_string(path).expect("a readable file");
    let name = frame.file_name().unwrap_or_default().to_string_lossy();
    let frame = read(&text(frame), Some(vk::Extent2D { width, height })).expect("a frame");
    let reaches = ReachAssumptions::from_json(&text(reaches), &name).expect("reaches");
    let frame = frame
        .frame
        .with_reaches(&reaches)
        .expect("a frame with these reaches");
    let profile = Arc::new(DeviceProfile::preset("adreno-830").expect("a preset"));
    let needs = Arc::new(estimate(&frame, &profile).expect("estimates"));
    let plan = plan(&frame, &needs, &profile, &PlanOptions::default()).expect("a plan");
    let run = || {
        let start = Instant::now();
        let found = search(&plan, &SearchOptions::default(), &mut |_| {
            ControlFlow::Continue(())
        });
        (start.elapsed(), found)
    };
    let runs: Vec<_> = (0..RUNS).map(|_| run()).collect();
    let fastest = runs.iter().map(|(time, _)| *time).min().unwrap_or(Duration::ZERO);
    let found = &runs[0].1;
    println!(
        "{name:<44}{width:>5} x {height:<5}{:>3} passes{:>9.1} ms{:>8} steps{:>7.1} %{:>7.1} %",
        frame.passes().len(),
        fastest.as_secs_f64() * 1e3,
        found.steps,
        found.described.share() * 100.0,
        found.traffic.share() * 100.0,
    );
}
