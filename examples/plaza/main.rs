//! A plaza at night, rendered through a dynamic frame: shadow map, G-buffer, lighting and halos in one batch; temporal antialiasing,
//! bloom and tone mapping in the next.
//!
//! It is a small renderer of a frame of usual shape: `frame.rs` describes the frame and lists its shaders and draws, `renderer.rs`
//! records it. Shaders compute the whole scene from the frame's number (`shaders/plaza.glsl`): there are no meshes, textures or uniform
//! buffers. A C++ program renders the same frames through tileheap's C tables, and a test compares their texels.
//!
//! ```text
//! cargo run --example plaza                           the last of 8 frames, target/demo/plaza.png
//! cargo run --example plaza -- --resize 641x359       the second half of the frames at another size
//! cargo run --example plaza -- --toggle               every second pair of frames skips the pass `halos`
//! cargo run --example plaza -- --texels plaza.rgba    all frames as raw RGBA8, to compare with those of another program
//! ```
//! Needs Vulkan 1.1 of any driver; lavapipe (`mesa-vulkan-drivers`) will do if there is no GPU. Without Vulkan it reports an error in
//! one line. It uses tile memory if the device has some; the emulator (`crates/emulator/README.md`) adds it to any driver.

// Almost every call of ash is unsafe: one comment covers a run of them.
#![allow(clippy::multiple_unsafe_ops_per_block)]

mod frame;
mod renderer;
use tileheap_examples as support;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use ash::vk;
use clap::Parser;
use tileheap::runtime::{Capabilities, Device};

use crate::renderer::Renderer;
use crate::support::error::{Error, Result, create_file, file};
use crate::support::picture::Rendered;
use crate::support::program::{context_desc, report, start, with_context};
use crate::support::progress;
use crate::support::sizes::parse_extent;

/// Renders a plaza at night through a dynamic frame.
#[derive(Debug, Parser)]
#[command(name = "plaza")]
struct Args {
    /// Output file for the picture of the last frame
    #[arg(long, value_name = "FILE", default_value = "target/demo/plaza.png")]
    output: PathBuf,
    /// Writes the texels of all frames, in order, as raw RGBA8
    #[arg(long, value_name = "FILE")]
    texels: Option<PathBuf>,
    /// Number of frames to render
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    frames: u32,
    /// Width and height in pixels
    #[arg(long, value_name = "WxH", default_value = "960x540", value_parser = parse_extent::<1>)]
    size: vk::Extent2D,
    /// Renders the second half of the frames at this size
    #[arg(long, value_name = "WxH", value_parser = parse_extent::<1>)]
    resize: Option<vk::Extent2D>,
    /// Skips the pass `halos` in every second pair of frames
    #[arg(long)]
    toggle: bool,
    /// Does not use tile memory, even if the device has some
    #[arg(long)]
    no_tile_memory: bool,
    /// The Vulkan device: its number, or part of its name (or TILEHEAP_DEVICE)
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
    /// Runs under VK_LAYER_KHRONOS_validation, and fails if it reports anything
    #[arg(long)]
    validate: bool,
}

impl Args {
    /// The size of the picture of a frame.
    fn extent(&self, frame: u32) -> vk::Extent2D {
        let resized = self.resize.filter(|_| frame >= self.frames / 2);
        resized.unwrap_or(self.size)
    }

    fn has_halos(&self, frame: u32) -> bool {
        !self.toggle || (frame / 2) % 2 == 0
    }
}

fn main() -> ExitCode {
    start(run)
}

fn run(args: &Args) -> Result<()> {
    let mut desc = context_desc("tileheap: plaza", args.device.as_deref(), args.validate);
    if args.no_tile_memory {
        desc.without |= Capabilities::TILE_MEMORY;
    }
    let messages = with_context(&desc, |context| render(args, context.runtime()))?;
    report(&messages)
}

/// Renders all frames and writes their pictures.
fn render(args: &Args, tile: &Device) -> Result<()> {
    let mut renderer = Renderer::new(tile, args.extent(0))?;
    println!("{}", renderer.plan());
    let mut texels = match &args.texels {
        Some(path) => Some((path, create_file(path)?)),
        None => None,
    };
    let mut last = None;
    let mut add = |picture: Rendered| {
        if let Some((path, texels)) = &mut texels {
            let written = texels.write_all(&picture.texels);
            written.map_err(|error| file(path, error))?;
        }
        last = Some(picture);
        Ok::<_, Error>(())
    };
    let progress = progress::bar("rendering", args.frames.into());
    for frame in 0..args.frames {
        if let Some(picture) = renderer.draw(args.extent(frame), args.has_halos(frame))? {
            add(picture)?;
        }
        progress.inc(1);
    }
    renderer.finish()?.into_iter().try_for_each(&mut add)?;
    progress.finish_and_clear();
    last.expect("at least one frame").write(&args.output)?;

    let [first, last] = [0, args.frames - 1].map(|frame| args.extent(frame));
    let mut sizes = format!("{} x {}", first.width, first.height);
    if last != first {
        sizes += &format!(", then {} x {}", last.width, last.height);
    }
    println!("{} frames at {sizes} on {}", args.frames, tile.profile().name);
    println!("{}", args.output.display());
    Ok(())
}
