//! A deferred renderer on a planned frame.
//!
//! It shows how a renderer would use the crate: `frame.rs` describes the frame, `renderer.rs` plans, binds and records it,
//! and everything else is ordinary `ash`. Nineteen passes in two batches: shadow map, G-buffer, tiled light culling, ambient
//! occlusion, reflections, lighting, halos; then temporal antialiasing, exposure, bloom, tone mapping.
//!
//! ```text
//! cargo run --example deferred                     a picture, target/demo/frame.png
//! cargo run --example deferred -- --window         a window, with the heap map: keys and mouse change the plan as it runs
//! cargo run --example deferred -- --overlay        a picture with the heap map
//! cargo run --example deferred -- --compare        fails unless a picture without aliasing is identical
//! cargo run --example deferred -- --toggle --compare   eight parts of the frame are toggled at random
//! cargo run --example deferred -- --dynamic-resolution --compare   another resolution every frame, in the same targets
//! cargo run --example deferred -- --profile adreno-830
//! cargo run --example deferred -- --best --compare the best arrangement found, such as strips, and the frame as described
//! ```
//! Needs Vulkan 1.1 of any driver; lavapipe (`mesa-vulkan-drivers`) will do if there is no GPU. Without Vulkan it reports an
//! error in one line, after the output for `--dump-frame` and `--profile`, which do not need it.

// Almost every call of ash is unsafe: one comment covers a run of them.
#![allow(clippy::multiple_unsafe_ops_per_block)]

mod args;
mod arranged;
mod camera;
mod descriptors;
mod frame;
mod frame_in_flight;
mod mesh;
mod overlay;
mod pass_recorder;
mod picture;
mod pipelines;
mod renderer;
mod scene;
mod toggle;
use tileheap_examples as support;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use ash::vk;
use tileheap::measure::estimate;
use tileheap::plan::{Ladder, Plan, PlanOptions, PlanTotals, plan};
use tileheap::profile::DeviceProfile;
use tileheap::runtime::context::ValidationMessage;
use tileheap::runtime::{Capabilities, Context, ContextDesc};
use tileheap::units::Bytes;

use crate::args::Args;
use crate::frame::describe;
use crate::overlay::Request;
use crate::renderer::{Renderer, RendererDesc, resolution};
use crate::scene::Scene;
use crate::support::arrangement;
use crate::support::error::{Error, Result, anyhow, bail, file, write_file};
use crate::support::output::Output;
use crate::support::painter::WindowDesc;
use crate::support::program::{context_desc, report, start, with_context};
use crate::support::window;
use crate::toggle::Toggle;

fn main() -> ExitCode {
    start(run)
}

fn run(args: &Args) -> Result<()> {
    if let Some(path) = &args.dump_frame {
        dump_frame(args.size, path)?;
    }
    if let Some(profile) = &args.profile {
        print_plan_for(profile, args.size)?;
    }
    let mut desc = context_desc("tileheap: deferred", args.device.as_deref(), args.validate);
    if args.vulkan_1_1 {
        desc.api_version = vk::API_VERSION_1_1;
        desc.without = Capabilities::RECOMMENDED - Capabilities::DEBUG_UTILS - Capabilities::TILE_MEMORY;
    }
    if args.no_tile_memory {
        desc.without |= Capabilities::TILE_MEMORY;
    }
    let messages = if args.window {
        show(args, desc)?
    } else {
        with_context(&desc, |context| render(args, context))?
    };
    report(&messages)
}

/// Renders in a window.
fn show(args: &Args, desc: ContextDesc<'_>) -> Result<Vec<ValidationMessage>> {
    let window = WindowDesc {
        title: "tileheap: deferred",
        size: args.size,
        frames: args.frames,
        resize_after: args.resize_after,
    };
    let renderer = RendererDesc {
        overlay: !args.no_overlay,
        prints_plans: true,
        ..renderer_desc(args)?
    };
    window::run(window, desc, |context, screen, output| {
        let scene = Scene::build(args.seed);
        let renderer = Renderer::new(context.runtime(), scene, screen, output, renderer.clone())?;
        println!("{}", renderer.plan());
        Ok(renderer)
    })
}

/// The renderer's parameters from the command line.
fn renderer_desc(args: &Args) -> Result<RendererDesc> {
    let frame = describe(args.size, Output::Buffer)?.frame;
    let find = |name: &String| {
        let known = frame.resource_named(name);
        known.ok_or_else(|| {
            let names: Vec<_> = frame.resources().iter().map(|one| one.name.as_str()).collect();
            anyhow!("no resource `{name}`: the frame has {}", names.join(", "))
        })
    };
    let find_all = |names: &[String]| -> Result<Vec<_>> {
        let mut found: Vec<_> = names.iter().map(find).collect::<Result<_>>()?;
        found.sort_unstable();
        found.dedup();
        Ok(found)
    };
    if let Some(both) = args.pin.iter().find(|name| args.exclude.contains(name)) {
        bail!("resource `{both}` is both pinned and excluded: pass either --pin or --exclude");
    }
    let request = Request {
        pinned: find_all(&args.pin)?,
        excluded: find_all(&args.exclude)?,
        limit: args.heap,
    };
    let options = PlanOptions {
        ladder: if args.ladder {
            Ladder::Always
        } else {
            Ladder::default()
        },
        split: args.split,
        ..PlanOptions::default()
    };
    Ok(RendererDesc {
        options,
        arrangement: None,
        request,
        dynamic_resolution: args.dynamic_resolution,
        overlay: args.overlay,
        prints_plans: false,
    })
}

/// Renders to a file.
fn render(args: &Args, context: &Context) -> Result<()> {
    let changes = args.toggle || args.dynamic_resolution;
    let (tile, usual) = (context.runtime(), if changes { toggle::FRAMES } else { 4 });
    let frames = args.frames.unwrap_or(usual);
    let scene = Scene::build(args.seed);
    let (objects, lights) = (scene.object_count(), scene.light_count());
    let mut planned = renderer_desc(args)?;
    if args.arrange.best {
        let described = describe(args.size, Output::Buffer)?.frame;
        let request = &planned.request;
        let plan = tile.plan(&request.frame(&described), &request.options(planned.options))?;
        planned.arrangement = Some(arrangement::best(&plan, &args.arrange.allow));
    }
    let sequence = |desc, planned: &mut dyn FnMut(&Plan)| {
        let mut toggle = args.toggle.then(|| Toggle::new(tile, args.seed, frames));
        let before = |renderer: &mut Renderer, frame| {
            if frame == 0 && !args.toggle {
                planned(renderer.plan());
            }
            toggle
                .as_mut()
                .map_or(Ok(()), |toggle| toggle.next(renderer, frame))
        };
        let sequence = picture::render(tile, Scene::build(args.seed), args.size, frames, desc, before)?;
        Ok::<_, Error>((sequence, toggle))
    };
    let mut totals = PlanTotals::default();
    let (rendered, toggle) = sequence(planned.clone(), &mut |plan| {
        totals = plan.totals;
        println!("{plan}");
    })?;
    rendered.last.write(&args.output)?;
    let each = rendered.took.as_secs_f64() * 1e3 / f64::from(frames);
    println!(
        "{objects} objects under {lights} lights at {} x {} on {}: {frames} frames, {each:.0} ms each",
        args.size.width,
        args.size.height,
        tile.profile().name,
    );
    if args.dynamic_resolution {
        let all: BTreeSet<u32> = (0..frames)
            .map(|frame| resolution(frame, args.size).width)
            .collect();
        let (resolutions, created) = (all.len(), rendered.created);
        println!("{resolutions} resolutions: {created} objects created after the first frame was bound");
    }
    if let Some(toggle) = toggle {
        println!("{toggle}");
    } else if tile.profile().tile.is_some() {
        let by = context.support().emulator();
        println!(
            "in {}: {} of {} of traffic stayed on chip",
            by.map_or("tile memory".to_owned(), |by| format!(
                "tile memory emulated by {by}"
            )),
            totals.on_chip_bytes,
            totals.traffic_bytes
        );
        println!(
            "bound tile memory, summed over passes: {}; {} without ladders",
            totals.reserved_bytes, totals.reserved_bytes_by_runs
        );
    }
    if totals.stored_bytes > Bytes::ZERO {
        println!("split lifetimes: {} stored per frame", totals.stored_bytes);
    }
    println!("{}", args.output.display());

    if args.compare {
        let own = RendererDesc {
            options: arrangement::apart(planned.options),
            arrangement: planned.arrangement.clone(),
            dynamic_resolution: args.dynamic_resolution,
            ..RendererDesc::default()
        };
        let reference = |desc| Ok::<_, Error>(sequence(desc, &mut |_| ())?.0);
        let apart = reference(own.clone())?;
        let of = rendered.last.same_texels(&apart.last)?;
        let pairs = rendered.pictures.iter().zip(&apart.pictures);
        match pairs.filter(|(one, other)| one != other).count() {
            0 => println!("identical: {of} texels with and without aliasing, in each of {frames} frames"),
            different => bail!("pictures that should be identical differ in {different} of {frames} frames"),
        }
        if let Some(arrangement) = &planned.arrangement {
            let plain = reference(RendererDesc {
                arrangement: None,
                ..own
            })?;
            arrangement::compare(arrangement, &rendered.last, &plain.last)?;
        }
    }
    Ok(())
}

/// Writes the frame as JSON; does not need Vulkan.
fn dump_frame(size: vk::Extent2D, path: &Path) -> Result<()> {
    write_file(path, &describe(size, Output::Buffer)?.frame.to_json())
}

/// Prints the plan for a preset or a profile from a file; does not need Vulkan.
fn print_plan_for(profile: &str, size: vk::Extent2D) -> Result<()> {
    let profile = Arc::new(load_profile(profile)?);
    let frame = describe(size, Output::Buffer)?.frame;
    let requirements = Arc::new(estimate(&frame, &profile)?);
    let plan = plan(&frame, &requirements, &profile, &PlanOptions::default())?;
    println!("{plan}");
    Ok(())
}

/// Loads a JSON file, or else a preset by name.
fn load_profile(name: &str) -> Result<DeviceProfile> {
    let path = Path::new(name);
    if !path.is_file() {
        return Ok(DeviceProfile::preset(name)?);
    }
    let text = std::fs::read_to_string(path).map_err(|error| file(path, error))?;
    DeviceProfile::from_json(&text).map_err(|error| file(path, error))
}
