//! A forward renderer with two shadow maps, before tileheap and after, step by step.
//!
//! Step 0 is plain `ash` with its own memory, barriers and submissions; each further step changes a little, and the picture
//! stays identical. A step's folder has the files that it changes. The guide (`docs/guide/integrate.md`) explains the
//! differences.
//!
//! ```text
//! cargo run --example forward                       the last step's picture, target/demo/forward.png
//! cargo run --example forward -- --step 0           the picture before the conversion
//! cargo run --example forward -- --compare          fails unless all steps' pictures are identical
//! cargo run --example forward -- --best --compare   the best arrangement found for step 4's frame, or that of --step 3
//! cargo run --example forward -- --dump-frame FILE  the frame as JSON, for `tileheap plan` and `report`; needs no Vulkan
//! ```
//! Needs Vulkan 1.3 of any driver, such as lavapipe. Without it, it reports an error in one line. It uses tile memory if the device
//! has some; the emulator (`crates/emulator/README.md`) adds it to any driver.

// Almost every call of ash is unsafe: one comment covers a run of them.
#![allow(clippy::multiple_unsafe_ops_per_block)]
// A step has the files that it changes; each other file is compiled again from an earlier step, as a module of this one.
#![allow(clippy::duplicate_mod)]

mod drawing;
mod machine;
#[path = "../deferred/mesh.rs"]
mod mesh;
mod resources;
mod scene;
use tileheap_examples as support;

/// Before: plain `ash`.
mod step_0 {
    mod encoder;
    mod gpu;
    pub(crate) mod renderer;
}

/// Tile memory is enabled, if the device has some.
mod step_1 {
    #[path = "../step_0/encoder.rs"]
    mod encoder;
    mod gpu;
    #[path = "../step_0/renderer.rs"]
    pub(crate) mod renderer;
}

/// The frame is described and planned.
mod step_2 {
    #[allow(dead_code)] // Its ids are used from the next step on.
    pub(crate) mod frame;
    #[path = "../step_1/gpu.rs"]
    #[allow(dead_code)] // The renderer of the previous step has its own.
    mod gpu;
    pub(crate) mod planned;
    mod seen;
}

/// The plan's images are bound, and its passes recorded.
mod step_3 {
    #[path = "../step_2/frame.rs"]
    pub(crate) mod frame;
    #[path = "../step_1/gpu.rs"]
    #[allow(dead_code)] // The runtime submits to its queue.
    mod gpu;
    mod passes;
    #[path = "../step_2/planned.rs"]
    pub(crate) mod planned;
    pub(crate) mod renderer;
    #[path = "../step_2/seen.rs"]
    mod seen;
}

/// After: one batch, so that the shadow maps stay on chip too.
mod step_4 {
    #[path = "../step_2/frame.rs"]
    pub(crate) mod frame;
    #[path = "../step_1/gpu.rs"]
    #[allow(dead_code)] // As in step 3.
    mod gpu;
    #[path = "../step_3/passes.rs"]
    mod passes;
    #[path = "../step_2/planned.rs"]
    pub(crate) mod planned;
    #[path = "../step_3/renderer.rs"]
    pub(crate) mod renderer;
    mod seen;
}

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ash::vk;
use clap::Parser;
use tileheap::arrange::Arrangement;
use tileheap::plan::{Plan, PlanOptions};

use crate::support::arrangement::{BestArgs, apart, best, compare};
use crate::support::error::{Result, anyhow, file, write_file};
use crate::support::picture::Rendered;
use crate::support::program::start;
use crate::support::sizes::parse_extent;

/// Renders a temple, step by step from plain Vulkan to planned memory.
#[derive(Debug, Parser)]
#[command(name = "forward")]
struct Args {
    /// The step: 0 is before, 4 after the conversion
    #[arg(long, default_value_t = LAST, value_parser = clap::value_parser!(u8).range(0..=i64::from(LAST)))]
    step: u8,
    /// Size of the picture in pixels
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "640x360", value_parser = parse_extent::<1>)]
    size: vk::Extent2D,
    /// Number of frames to render; the last one is kept
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    frames: u32,
    /// Output file for the picture
    #[arg(long, value_name = "FILE", default_value = "target/demo/forward.png")]
    output: PathBuf,
    /// Renders every step up to this one, and fails unless all pictures are identical; with --best, compares with the same
    /// arrangement without aliasing, and with the frame as described
    #[arg(long)]
    compare: bool,
    #[command(flatten)]
    arrange: BestArgs,
    /// Writes the frame of the step as JSON, and renders nothing
    #[arg(long, value_name = "FILE")]
    dump_frame: Option<PathBuf>,
}

/// The last step.
const LAST: u8 = 4;

fn main() -> ExitCode {
    start(run)
}

fn run(args: &Args) -> Result<()> {
    if let Some(path) = &args.dump_frame {
        return dump_frame(args, path);
    }
    if args.arrange.best {
        return match args.step {
            3 => render_best(
                args,
                &*step_3::planned::planned(args.size)?,
                step_3::renderer::render,
            ),
            4 => render_best(
                args,
                &*step_4::planned::planned(args.size)?,
                step_4::renderer::render,
            ),
            _ => Err(anyhow!(
                "--best needs step 3 or 4: earlier steps do not record frames as planned"
            )),
        };
    }
    if !args.compare {
        render(args, args.step)?.write(&args.output)?;
        println!("{}", args.output.display());
        return Ok(());
    }
    let before = render(args, 0)?;
    for step in 1..=args.step {
        let after = render(args, step)?;
        let of = before.same_texels(&after)?;
        println!("step {step}: identical, {of} texels");
    }
    before.write(&args.output)
}

fn render(args: &Args, step: u8) -> Result<Rendered> {
    match step {
        0 => step_0::renderer::render(args.size, args.frames),
        1 => step_1::renderer::render(args.size, args.frames),
        2 => {
            println!("{}", step_2::planned::planned(args.size)?);
            step_1::renderer::render(args.size, args.frames)
        }
        3 => step_3::renderer::render(args.size, args.frames, PlanOptions::default(), None),
        _ => step_4::renderer::render(args.size, args.frames, PlanOptions::default(), None),
    }
}

/// Renders a step's frame in the best arrangement.
fn render_best(
    args: &Args,
    plan: &Plan,
    render: fn(vk::Extent2D, u32, PlanOptions, Option<&Arrangement>) -> Result<Rendered>,
) -> Result<()> {
    let best = best(plan, &args.arrange.allow);
    let render = |options, arrangement| render(args.size, args.frames, options, arrangement);
    let usual = PlanOptions::default();
    let rendered = render(usual, Some(&best))?;
    rendered.write(&args.output)?;
    println!("{}", args.output.display());
    if args.compare {
        let texels = rendered.same_texels(&render(apart(usual), Some(&best))?)?;
        println!("identical: {texels} texels with and without aliasing");
        compare(&best, &rendered, &render(apart(usual), None)?)?;
    }
    Ok(())
}

/// Writes the frame as JSON.
fn dump_frame(args: &Args, path: &Path) -> Result<()> {
    let frame = match args.step {
        0 | 1 => {
            return Err(file(
                path,
                "steps 0 and 1 do not describe a frame: choose step 2 or later",
            ));
        }
        2 | 3 => step_2::frame::describe(args.size)?.frame,
        _ => step_4::frame::describe(args.size)?.frame,
    };
    write_file(path, &frame.to_json())
}
