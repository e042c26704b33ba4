//! A forward renderer with two shadow maps, before tileheap and after, step by step.
//!
//! Step 0 is plain `ash` with memory, barriers and submissions of its own; each further step changes a little, and the picture
//! stays the same to the last bit. A step's folder holds the files that it changes. The guide (`docs/guide/integrate.md`)
//! walks through the differences.
//!
//! ```text
//! cargo run --example forward                       the last step's picture, target/demo/forward.png
//! cargo run --example forward -- --step 0           the picture as it was before
//! cargo run --example forward -- --compare          all steps: are the pictures identical?
//! cargo run --example forward -- --dump-frame FILE  the frame as JSON, for `tileheap plan` and `report`; needs no Vulkan
//! ```
//! Needs Vulkan 1.3 of any driver, lavapipe for instance. Without it, it says so in one line. Tile memory is used where it is there;
//! the emulator (`emulator/README.md`) gives it to any driver.

// Every call of ash is unsafe, and here one follows the other: a comment says what a stretch of them relies on.
#![allow(clippy::multiple_unsafe_ops_per_block)]
// A step holds what it changes; what it does not change is that of an earlier step, in this one's company.
#![allow(clippy::duplicate_mod)]

mod drawing;
mod machine;
#[path = "../deferred/mesh.rs"]
mod mesh;
mod scene;
use tileheap_examples as support;

/// Before: plain `ash`.
mod step_0 {
    mod gpu;
    pub(crate) mod renderer;
}

/// The device has tile memory enabled, where it is there.
mod step_1 {
    mod gpu;
    #[path = "../step_0/renderer.rs"]
    pub(crate) mod renderer;
}

/// The frame is described and planned, and the plan printed.
mod step_2 {
    #[allow(dead_code)] // Its names are of use from the next step on.
    pub(crate) mod frame;
    #[path = "../step_1/gpu.rs"]
    mod gpu;
    pub(crate) mod renderer;
}

/// The plan's images are bound, and its passes recorded.
mod step_3 {
    #[path = "../step_2/frame.rs"]
    pub(crate) mod frame;
    mod gpu;
    pub(crate) mod renderer;
}

/// After: one batch, so that the shadow maps stay on chip too.
mod step_4 {
    pub(crate) mod frame;
    #[path = "../step_3/gpu.rs"]
    mod gpu;
    #[path = "../step_3/renderer.rs"]
    pub(crate) mod renderer;
}

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ash::vk;
use clap::Parser;

use crate::support::error::{Error, Result, create_file, file};
use crate::support::picture::Rendered;

/// Renders a temple, step by step from plain Vulkan to planned memory.
#[derive(Debug, Parser)]
#[command(name = "forward")]
struct Args {
    /// Which step: 0 is before, 4 after
    #[arg(long, default_value_t = LAST, value_parser = clap::value_parser!(u8).range(0..=i64::from(LAST)))]
    step: u8,
    /// Size of the picture in pixels
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "640x360", value_parser = parse_size)]
    size: vk::Extent2D,
    /// How many frames to render; the last one is kept
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    frames: u32,
    /// Where the picture goes
    #[arg(long, value_name = "FILE", default_value = "target/demo/forward.png")]
    output: PathBuf,
    /// Renders every step, and fails unless all pictures are identical
    #[arg(long, conflicts_with = "step")]
    compare: bool,
    /// Writes the frame of the step as JSON, and renders nothing
    #[arg(long, value_name = "FILE")]
    dump_frame: Option<PathBuf>,
}

/// The last step.
const LAST: u8 = 4;

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("error: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<()> {
    if let Some(path) = &args.dump_frame {
        return dump_frame(args, path);
    }
    if !args.compare {
        render(args, args.step)?.write(&args.output)?;
        println!("{}", args.output.display());
        return Ok(());
    }
    let before = render(args, 0)?;
    for step in 1..=LAST {
        let after = render(args, step)?;
        let of = after.texels.len() / 4;
        match before.differences(&after) {
            0 => println!("step {step}: identical, {of} texels"),
            texels => return Err(Error::Differ { texels, of }),
        }
    }
    before.write(&args.output)
}

fn render(args: &Args, step: u8) -> Result<Rendered> {
    match step {
        0 => step_0::renderer::render(args.size, args.frames),
        1 => step_1::renderer::render(args.size, args.frames),
        2 => step_2::renderer::render(args.size, args.frames),
        3 => step_3::renderer::render(args.size, args.frames),
        _ => step_4::renderer::render(args.size, args.frames),
    }
}

/// Writes the frame as JSON.
fn dump_frame(args: &Args, path: &Path) -> Result<()> {
    let frame = match args.step {
        0 | 1 => return Err(file(path, "frames are described from step 2 on")),
        2 | 3 => step_2::frame::describe(args.size)?.frame,
        _ => step_4::frame::describe(args.size)?.frame,
    };
    create_file(path)?
        .write_all(frame.to_json().as_bytes())
        .map_err(|error| file(path, error))
}

fn parse_size(text: &str) -> std::result::Result<vk::Extent2D, String> {
    let sides = text.split_once('x').and_then(|(width, height)| {
        let sides = (width.parse().ok()?, height.parse().ok()?);
        (1..=8192).contains(&sides.0).then_some(())?;
        (1..=8192).contains(&sides.1).then_some(sides)
    });
    match sides {
        Some((width, height)) => Ok(vk::Extent2D { width, height }),
        None => Err("write it like 640x360, of sides from 1 to 8192".to_owned()),
    }
}
