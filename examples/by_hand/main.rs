//! The frame of `deferred` without tileheap's runtime: its tables are executed by plain ash and gpu-allocator.
//!
//! It shows how an engine in another language would use tileheap: `gpu.rs` reads the device and queries requirements, this file plans
//! and lowers, `objects.rs` creates what the tables list, and `execute.rs` records and submits them row by row, without decisions of its
//! own. `deferred`'s own code draws the passes.
//!
//! ```text
//! cargo run --example by_hand                      a picture, target/demo/by_hand.png
//! cargo run --example by_hand -- --compare target/demo/frame.png   fails unless it equals `deferred`'s picture
//! ```
//! Needs Vulkan 1.3; tile memory is used if the device has `VK_QCOM_tile_memory_heap` (or the emulator is enabled).

// Almost every call of ash is unsafe: one comment covers a run of them.
#![allow(clippy::multiple_unsafe_ops_per_block)]

/// Modules of `deferred`: the description, and the contents of passes.
macro_rules! of_deferred {
    ($($name:ident $path:literal)*) => {$(
        #[path = $path]
        #[allow(dead_code)]
        mod $name;
    )*};
}

of_deferred! {
    arranged "../deferred/arranged.rs"
    camera "../deferred/camera.rs"
    descriptors "../deferred/descriptors.rs"
    frame "../deferred/frame.rs"
    frame_in_flight "../deferred/frame_in_flight.rs"
    mesh "../deferred/mesh.rs"
    pass_recorder "../deferred/pass_recorder.rs"
    pipelines "../deferred/pipelines.rs"
    scene "../deferred/scene/mod.rs"
}
mod execute;
mod gpu;
mod objects;
use tileheap_examples as support;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use ash::vk;
use clap::Parser;
use tileheap::Checked;
use tileheap::frame::tables::Access;
use tileheap::lower::tables::ImageOrBuffer;
use tileheap::lower::{DeviceQueues, Lowered, Lowerer, LoweringDesc, Parity};
use tileheap::plan::{Plan, PlanOptions, plan};

use crate::descriptors::{Input, Inputs};
use crate::execute::Executor;
use crate::frame::{Deferred, describe};
use crate::frame_in_flight::FrameInFlight;
use crate::gpu::Gpu;
use crate::mesh::Meshes;
use crate::objects::{Imported, Objects};
use crate::pass_recorder::PassRecorder;
use crate::pipelines::Pipelines;
use crate::scene::Scene;
use crate::support::arrangement::Run;
use crate::support::descriptors::create_pool;
use crate::support::error::{Result, bail};
use crate::support::memory::{Allocator, HostBuffer};
use crate::support::output::Output;
use crate::support::picture::{Canvas, Rendered};
use crate::support::program::start;
use crate::support::sizes::parse_extent;

/// Renders the frame of `deferred` by executing tileheap's tables with plain ash and gpu-allocator
#[derive(Clone, Debug, Parser)]
#[command(name = "by_hand")]
struct Args {
    /// Output file for the picture
    #[arg(long, value_name = "FILE", default_value = "target/demo/by_hand.png")]
    output: PathBuf,
    /// A picture of `deferred` to compare with; fails if texels differ
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Number of frames to render
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    frames: u32,
    /// Width and height in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = parse_extent::<1>)]
    size: vk::Extent2D,
    /// Seed of the scene
    #[arg(long, value_name = "N", default_value_t = 7)]
    seed: u64,
    /// Do not use tile memory
    #[arg(long)]
    no_tile_memory: bool,
    /// Index of the Vulkan device
    #[arg(long, value_name = "N", default_value_t = 0)]
    device: usize,
}

fn main() -> ExitCode {
    start(run)
}

fn run(args: &Args) -> Result<()> {
    let gpu = Gpu::new(args.device, !args.no_tile_memory)?;
    let deferred = describe(args.size, Output::Buffer)?;
    let needs = Arc::new(gpu.requirements(&deferred.frame)?);
    let plan = plan(&deferred.frame, &needs, &gpu.profile, &PlanOptions::default())?;
    println!("{plan}");
    let rendered = render(args, &gpu, deferred, &plan)?;
    rendered.write(&args.output)?;
    let vk::Extent2D { width, height } = args.size;
    let (frames, device) = (args.frames, &gpu.profile.name);
    println!("{frames} frames of {width} x {height} on {device}, executed by hand");
    println!("{}", args.output.display());
    if let Some(path) = &args.compare {
        let other = Rendered::read(path)?;
        if other.extent != rendered.extent {
            bail!("{}: the picture has another size", path.display());
        }
        let texels = rendered.same_texels(&other)?;
        println!("identical: {texels} texels by the runtime and by hand");
    }
    Ok(())
}

/// Renders all frames, one after the other; returns the last one's picture.
fn render(args: &Args, gpu: &Gpu, mut deferred: Deferred, plan: &Checked<Plan>) -> Result<Rendered> {
    let (device, memory) = (&gpu.device, Allocator::of_all(&gpu.device, &gpu.memory));
    let parts = deferred.parts;
    let read_back = parts.read_back.expect("the frame was described with one");
    let (scene, meshes) = (Scene::build(args.seed), Meshes::build());
    let vertices = HostBuffer::holding(memory, &meshes.vertices, vk::BufferUsageFlags::VERTEX_BUFFER)?;
    let indices = HostBuffer::holding(memory, &meshes.indices, vk::BufferUsageFlags::INDEX_BUFFER)?;
    let mut canvas = Canvas::new(memory, args.size)?;

    // Pipelines depend only on the plan; no resource exists yet.
    let pipelines = Pipelines::build(device, &deferred, &plan.targets()?)?;
    let slot_pool = create_pool(device, 2, &pipelines.shared.pool_sizes(2))?;
    let family = gpu.family;
    let mut slot = FrameInFlight::new(
        (device, memory),
        family,
        slot_pool,
        &pipelines.shared,
        scene.object_count(),
    )?;

    // The created objects are the same in all frames; accesses to a history alternate between its copies.
    let mut lowerer = Lowerer::default();
    let mut lowering_desc = LoweringDesc::first(DeviceQueues::single_queue(&plan.frame));
    let even = lowerer.lower(plan, &lowering_desc)?;
    let odd = lowerer.lower(plan, &lowering_desc.after(&even))?;
    let mut objects = Objects::create(gpu, &even)?;
    objects.import(parts.picture, Imported::Image(canvas.picture.handle));
    objects.import(read_back.texels, Imported::Buffer(canvas.texels.handle));
    let inputs = write_inputs(device, &deferred, &pipelines, &mut objects, [&even, &odd])?;
    let mut executor = Executor::new(gpu)?;
    let draws = scene.draws();
    for frame in 0..args.frames {
        let tables = lowerer.lower(plan, &lowering_desc)?;
        objects.create_views(device, &tables)?;
        slot.begin(device, &scene, frame, args.size)?;
        let passes = PassRecorder {
            device,
            pipelines: &pipelines,
            inputs: &inputs,
            parity: lowering_desc.parity,
            shared: slot.shared,
            vertices: vertices.handle,
            indices: indices.handle,
            meshes: &meshes,
            draws: &draws,
            lights: scene.light_count() as u32,
            deferred: &deferred,
            extent: args.size,
        };
        let runs: Vec<Run> = deferred.runs().collect();
        executor.execute(gpu, &objects, &tables, &slot.command_buffers, |buffer, pass| {
            let run = runs.iter().find(|run| run.pass == pass);
            let copied = |_| (canvas.picture.handle, canvas.texels.handle);
            passes.record(buffer, run.expect("every pass runs"), copied);
        })?;
        executor.wait(gpu)?;
        lowering_desc = lowering_desc.after(&tables);
        deferred.before = [args.size; 2];
        lowerer.recycle(tables);
    }
    let rendered = canvas.rendered();
    // SAFETY: every frame is complete, and this is the last use of each.
    unsafe {
        executor.destroy(gpu);
        inputs.destroy(device);
        objects.destroy(gpu);
        slot.destroy(device);
        device.destroy_descriptor_pool(slot_pool, None);
        pipelines.destroy(device);
        canvas.destroy(device);
        vertices.destroy(device);
        indices.destroy(device);
    }
    Ok(rendered)
}

/// Writes the descriptor sets of passes from the rows of their accesses, for frames of both parities.
fn write_inputs(
    device: &ash::Device,
    deferred: &Deferred,
    pipelines: &Pipelines,
    objects: &mut Objects,
    tables: [&Checked<Lowered>; 2],
) -> Result<Inputs> {
    for tables in tables {
        objects.create_views(device, tables)?;
    }
    Inputs::write(
        device,
        deferred,
        pipelines,
        |run: &Run, access: &Access, parity: Parity| {
            let tables = tables[parity.index()];
            let mut rows = tables.accesses.iter();
            let row = rows.find(|row| {
                (row.pass, row.resource, row.version, row.kind, row.range)
                    == (
                        run.pass,
                        access.resource,
                        access.version,
                        access.kind,
                        access.range,
                    )
            });
            let row = row.expect("every access has a row");
            match row.object.get() {
                ImageOrBuffer::Image(_) => {
                    let view = row.view.get().expect("descriptors have views");
                    Input::Image(objects.view(&tables.views[view as usize]), row.layout)
                }
                ImageOrBuffer::Buffer(buffer) => {
                    let size = tables.buffers[buffer as usize].size.0;
                    Input::Buffer(objects.buffers[buffer as usize], (0, size))
                }
            }
        },
    )
}
