//! A flight over an island: thousands of textures, each painted when it first comes into view, through a small cache.
//!
//! It shows [`TextureCache`](tileheap_textures::vulkan::TextureCache) in a renderer: `streamer.rs` requests and paints, `renderer.rs`
//! records and draws. Textures are 8-bit indices into one palette, with every level down to the single texel dithered separately, as in
//! J. Blow's "A Texture Cache" (1998), or RGBA. The overlay is that paper's: memory with blocks, walls and temperatures, and the download
//! monitor.
//!
//! ```text
//! cargo run --release --example terrain                        pictures, target/terrain/
//! cargo run --release --example terrain -- --window            a window: space pauses the flight, O hides the overlay,
//!                                                              - and + change the cache's memory, escape exits
//! cargo run --release --example terrain -- --policy coherent-still --memory 12MiB
//! cargo run --release --example terrain -- --compare           fails unless the last picture is complete
//! cargo run --release --example terrain -- --trace flight.trace && tileheap replay flight.trace --all --memory 24MiB
//! ```
//! Needs Vulkan 1.1 of any driver; lavapipe (`mesa-vulkan-drivers`) will do if there is no GPU.

// Almost every call of ash is unsafe: one comment covers a run of them.
#![allow(clippy::multiple_unsafe_ops_per_block)]

mod args;
mod camera;
mod frame;
mod gpu;
mod ground;
mod noise;
mod overlay;
mod paint;
mod quadtree;
mod renderer;
mod streamer;
use tileheap_examples as support;

use std::cell::RefCell;
use std::process::ExitCode;
use std::time::Instant;

use tileheap::runtime::context::ValidationMessage;
use tileheap::runtime::{ContextDesc, Device};
use tileheap::units::Bytes;
use tileheap_baselines::textures::HeapCache;
use tileheap_textures::PolicyDesc;

use crate::args::Args;
use crate::renderer::{Renderer, World};
use crate::streamer::FrameRecord;
use crate::support::error::{Result, bail};
use crate::support::output::Output;
use crate::support::painter::{Painter, Screen, WindowDesc};
use crate::support::picture::{Canvas, Rendered};
use crate::support::program::{context_desc, report, start, with_context};
use crate::support::progress;
use crate::support::window;

fn main() -> ExitCode {
    start(run)
}

fn run(args: &Args) -> Result<()> {
    let desc = context_desc("tileheap: terrain", args.device.as_deref(), args.validate);
    let messages = if args.window {
        show(args, desc)?
    } else {
        with_context(&desc, |context| fly(args, context.runtime()))?
    };
    report(&messages)
}

/// Flies in a window.
fn show(args: &Args, desc: ContextDesc<'_>) -> Result<Vec<ValidationMessage>> {
    let window = WindowDesc {
        title: "tileheap: terrain",
        size: args.size,
        frames: args.frames,
        resize_after: None,
    };
    let world = RefCell::new(Some(World::new()));
    window::run(window, desc, |context, screen, output| {
        let world = world.borrow_mut().take().unwrap_or_else(World::new);
        let bytes = (args.memory, args.uploads);
        let mut renderer = Renderer::new(context.runtime(), args, world, screen, output, bytes)?;
        if let Some(path) = &args.trace {
            renderer.streamer.write_trace(path)?;
        }
        Ok(renderer)
    })
}

/// A renderer and its target.
struct Flight {
    renderer: Renderer,
    canvas: Canvas,
}

impl Flight {
    fn new(tile: &Device, args: &Args, world: World, bytes: (Bytes, Bytes)) -> Result<Flight> {
        Ok(Flight {
            renderer: Renderer::new(tile, args, world, Screen::plain(args.size), Output::Buffer, bytes)?,
            canvas: Canvas::new(tile, args.size)?,
        })
    }

    fn draw(&mut self) -> Result<()> {
        let landscape = self.renderer.landscape();
        let read_back = landscape.read_back.expect("the frame was described with one");
        let (picture, renderer) = (landscape.picture, &mut self.renderer);
        self.canvas
            // SAFETY: only the flight uses the image and the buffer, which are destroyed after the last frame.
            .imports(picture, read_back, |imports| unsafe { renderer.draw(imports) })
    }

    fn last(&self) -> &FrameRecord {
        self.renderer.streamer.records.last().expect("a frame was drawn")
    }

    /// Draws until no uploads are pending; returns the number of frames, or `None` if it exceeds [`PATIENCE`].
    fn settle(&mut self) -> Result<Option<u32>> {
        for frames in 1..=PATIENCE {
            self.draw()?;
            if self.last().is_settled() {
                return Ok(Some(frames));
            }
        }
        Ok(None)
    }

    fn picture(&mut self) -> Result<Rendered> {
        self.renderer.wait_idle()?;
        Ok(self.canvas.rendered())
    }

    fn destroy(self, tile: &Device) -> Result<World> {
        let world = self.renderer.destroy_for_world()?;
        // SAFETY: every frame is complete.
        unsafe { self.canvas.destroy(tile.raw()) };
        Ok(world)
    }
}

/// Flies, and writes pictures to files.
fn fly(args: &Args, tile: &Device) -> Result<()> {
    let frames = args.frames.unwrap_or(300);
    let mut flight = Flight::new(tile, args, World::new(), (args.memory, args.uploads))?;
    if let Some(path) = &args.trace {
        flight.renderer.streamer.write_trace(path)?;
    }
    let (start, mut most) = (Instant::now(), Bytes::ZERO);
    let progress = progress::bar("flying", frames.into());
    for frame in 1..=frames {
        flight.draw()?;
        progress.inc(1);
        most = most.max(flight.renderer.working_set());
        if frame % args.every == 0 || frame == frames {
            let path = args.output.join(format!("frame-{frame:04}.png"));
            flight.picture()?.write(&path)?;
            progress.suspend(|| println!("{}", path.display()));
        }
    }
    progress.finish_and_clear();
    let took = start.elapsed().as_secs_f64() * 1e3 / f64::from(frames);
    let streamer = &mut flight.renderer.streamer;
    streamer.finish_trace()?;
    summary(args, tile, &streamer.records, streamer.count(), most, took);
    if args.compare {
        return compare(args, tile, flight);
    }
    flight.destroy(tile).map(drop)
}

fn summary(args: &Args, tile: &Device, records: &[FrameRecord], textures: usize, most: Bytes, took: f64) {
    let mut bytes: Vec<u64> = records.iter().map(|record| record.uploaded).collect();
    bytes.sort_unstable();
    let (count, sum) = (bytes.len().max(1), bytes.iter().sum::<u64>());
    let plain = records.iter().map(|record| u64::from(record.plain)).sum::<u64>();
    let requests = records
        .iter()
        .map(|record| u64::from(record.requests))
        .sum::<u64>();
    let coarser = records
        .iter()
        .map(|record| u64::from(record.coarser))
        .sum::<u64>();
    let written = records.iter().map(|record| record.texels).max();
    println!(
        "{} frames at {} x {} on {}, {took:.0} ms each; {textures} textures, at most {most} in view, through a cache of {}",
        records.len(),
        args.size.width,
        args.size.height,
        tile.profile().name,
        args.memory
    );
    println!(
        "{}: uploads of {} per frame, p99 {}, at most {}, of texels at most {}; coarser levels for {:.2} % of {requests} requests, no texture for {plain}",
        args.policy,
        Bytes(sum / count as u64),
        Bytes(bytes.get(count * 99 / 100).copied().unwrap_or(0)),
        Bytes(bytes.last().copied().unwrap_or(0)),
        Bytes(written.unwrap_or(0)),
        100.0 * coarser as f64 / requests.max(1) as f64
    );
}

/// The policy of the reference cache, which has room for everything.
const REFERENCE: PolicyDesc<'static> = HeapCache::LRU;

/// The maximum number of frames until no uploads are pending.
const PATIENCE: u32 = 600;

/// Stops until no uploads are pending, and compares with a cache that has room for everything.
fn compare(args: &Args, tile: &Device, mut flight: Flight) -> Result<()> {
    (flight.renderer.moving, flight.renderer.overlay) = (false, false);
    let Some(frames) = flight.settle()? else {
        let last = flight.last();
        let (waiting, needs) = (last.coarser.max(last.plain), flight.renderer.working_set());
        bail!(
            "textures that still wait after {PATIENCE} frames: {waiting}; this view needs {needs}, but the budget is {}",
            args.memory
        );
    };
    let streamed = flight.picture()?;
    let (at, needs) = (flight.renderer.at, flight.renderer.working_set());
    let world = flight.destroy(tile)?;
    let room = Bytes(needs.0 * 4 + (64 << 20));
    // A policy is not compared with itself: with room for everything, this one has all textures at once, while arenas take many frames.
    let of_reference = Args {
        policy: REFERENCE,
        ..args.clone()
    };
    let mut whole = Flight::new(tile, &of_reference, world, (room, room))?;
    (whole.renderer.at, whole.renderer.moving, whole.renderer.overlay) = (at, false, false);
    whole.settle()?;
    let reference = whole.picture()?;
    whole.destroy(tile)?;
    let of = streamed.same_texels(&reference).inspect_err(|_| {
        let write = |picture: &Rendered, name| picture.write(&args.output.join(name));
        // The difference is reported in any case.
        let _ = write(&streamed, "streamed.png").and(write(&reference, "whole.png"));
    })?;
    println!("identical after {frames} frames: {of} texels, streamed and with all textures loaded");
    Ok(())
}
