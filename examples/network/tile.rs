//! Networks in tile memory: passes of a frame, alone and together with a renderer's in one submit.

use std::path::Path;
use std::sync::Arc;

use ash::vk;
use tileheap::Checked;
use tileheap::arrange::Arrangement;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::{BatchId, BufferDesc, CommandBufferId, FrameBuilder, Persistence, ResourceId};
use tileheap::plan::{MemoryKind, Plan, PlanOptions};
use tileheap::runtime::import::ImportedBuffer;
use tileheap::runtime::{Context, Imports};
use tileheap::units::Bytes;
use tileheap_tensor::plan::Allocation;
use tileheap_tensor::vulkan::{
    ControlFlowDecision, HostBuffer, KernelSet, NetworkPasses, NetworkPassesDesc, PassTensor, measure_tensors,
};
use tileheap_tensor::{Layout, MemoryDesc, TensorId, TensorPlanOptions, check, plan};

use crate::frame::describe;
use crate::models::Seeded;
use crate::passes::Passes;
use crate::resources::Resources;
use crate::storage::{Storing, layouts};
use crate::support::commands::command_buffers;
use crate::support::error::{Result, write_file};
use crate::support::picture::Rendered;

/// Extent of the renderer's picture.
const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 320,
    height: 180,
};

/// Heap size for the table if there is no tile heap: about the largest known.
const WITHOUT_A_HEAP: Bytes = Bytes(8 << 20);

/// Runs a network in at most this many bytes of tile memory; returns its outputs, alone and together with a renderer's frame. `dump` is the
/// output file for the frame of only the network.
pub(crate) fn run(
    context: &Context,
    seeded: &Seeded,
    limit: Option<Bytes>,
    dump: Option<&Path>,
) -> Result<[Vec<f32>; 2]> {
    let layouts = layouts(&seeded.graph, Storing::Buffers)?;
    let heap = context.runtime().profile().tile.map(|heap| heap.size);
    let size = limit.into_iter().chain(heap).min().unwrap_or(WITHOUT_A_HEAP);
    table(context, seeded, &layouts, size)?;
    let work = Some((seeded, &layouts[..]));
    let alone = submit(context, work, false, limit)?;
    if let Some(path) = dump {
        write_file(path, &alone.plan.described().to_json())?;
    }
    println!("    alone: {}", stays(&alone.plan));
    let beside = submit(context, work, true, limit)?;
    println!("    beside a renderer: {}", stays(&beside.plan));
    let renderer = submit(context, None, true, limit)?;
    if let (Some(one), Some(other)) = (&beside.picture, &renderer.picture) {
        println!(
            "    the renderer's picture: identical, {} texels",
            one.same_texels(other)?
        );
    }
    Ok([alone.outputs, beside.outputs])
}

/// Prints the tensors that stay in a heap of each capacity, by tensor traffic only: the plan for the on-chip memory of any accelerator.
fn table(context: &Context, seeded: &Seeded, layouts: &[Layout], heap: Bytes) -> Result<()> {
    let graph = &seeded.graph;
    let needs = measure_tensors(context.runtime(), graph, layouts)?;
    println!("    capacity           tensors that stay       traffic that stays       at most");
    for part in [256, 64, 16, 4, 1] {
        let chip = MemoryDesc::limited("on chip", Bytes(heap.0 / part));
        // As for passes of a frame: the caller provides inputs and outputs, and nothing is written in place.
        let options = TensorPlanOptions {
            memories: vec![chip, MemoryDesc::new("memory")],
            plan_inputs: false,
            plan_outputs: false,
            in_place: false,
            ..TensorPlanOptions::default()
        };
        let planned = plan(graph, layouts, &needs, &options)?;
        check(graph, &needs, &planned, 2)?;
        let [chip, memory] = &planned.memories[..] else {
            unreachable!("a plan has the memories of its options");
        };
        let all = chip.traffic + memory.traffic;
        let share = |of: Bytes| of.0 as f64 * 100.0 / all.0.max(1) as f64;
        let there = |of: &&Allocation| of.region.memory.0 == 0;
        println!(
            "    {:>12} {:>13} of {:<5} {:>14} {:6.2} % {:10.2} %",
            Bytes(heap.0 / part).to_string(),
            planned.allocations.iter().filter(there).count(),
            planned.allocations.len(),
            chip.traffic.to_string(),
            share(chip.traffic),
            share(chip.traffic_bound)
        );
    }
    Ok(())
}

/// Describes the part of a frame that is in tile memory.
fn stays(plan: &Plan) -> String {
    let (kept, all) = (plan.totals.on_chip_bytes, plan.totals.traffic_bytes);
    let frame = &plan.frame;
    let resources = frame.resource_ids().map(|id| plan.memory_of(id));
    let there = resources
        .filter(|memory| *memory == Some(MemoryKind::Tile))
        .count();
    format!(
        "{} passes, {there} resources in {} of tile memory, {kept} of {all} of traffic on chip ({:.2} %)",
        frame.passes().len(),
        plan.totals.tile_bytes,
        kept.0 as f64 * 100.0 / all.0.max(1) as f64
    )
}

struct Ran {
    plan: Arc<Checked<Plan>>,
    outputs: Vec<f32>,
    picture: Option<Rendered>,
}

/// The passes and resources of a network in a frame.
struct Declared {
    commands: CommandBufferId,
    passes: NetworkPasses,
    /// The host buffers of the inputs, then of the outputs.
    hosts: Vec<(TensorId, ResourceId, HostBuffer)>,
}

impl Declared {
    fn new(
        context: &Context,
        frame: &mut FrameBuilder,
        batch: BatchId,
        (seeded, layouts): (&Seeded, &[Layout]),
    ) -> Result<Declared> {
        let (tile, graph) = (context.runtime(), &seeded.graph);
        let mut hosts = Vec::new();
        for &id in graph.inputs().iter().chain(graph.outputs()) {
            let elements: u64 = graph.shape_at(id, &[])?.iter().product();
            let mut host = HostBuffer::new(tile, elements * 4)?;
            let outside = match seeded.values.get(&id) {
                Some(values) => {
                    host.write_floats(values);
                    ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED)
                }
                None => ExternalDesc::READ_BACK,
            };
            let name = format!("{} of the caller", graph.tensor(id).name);
            let desc = BufferDesc::new(Bytes(elements * 4));
            hosts.push((
                id,
                frame.resource(name, desc, Persistence::External(outside)),
                host,
            ));
        }
        let commands = frame.command_buffer(batch, "network");
        let plain = hosts
            .iter()
            .map(|&(id, resource, _)| (id, PassTensor::Plain(resource)));
        let rounds = seeded.rounds.iter();
        let rounds = rounds.map(|&(node, rounds)| (node, ControlFlowDecision::Rounds { rounds, exit: 0 }));
        let desc = NetworkPassesDesc {
            name: graph.name().to_owned(),
            graph,
            layouts,
            values: &seeded.values,
            bindings: &plain.collect::<Vec<_>>(),
            decisions: &rounds.collect::<Vec<_>>(),
            kernels: KernelSet::new(),
        };
        let passes = NetworkPasses::declare(tile, frame, commands, desc)?;
        Ok(Declared {
            commands,
            passes,
            hosts,
        })
    }
}

/// Plans a frame of a network's passes, a renderer's, or both in one batch, and runs it once.
fn submit(
    context: &Context,
    work: Option<(&Seeded, &[Layout])>,
    draws: bool,
    limit: Option<Bytes>,
) -> Result<Ran> {
    let (tile, device) = (context.runtime(), context.device());
    let drawn = draws.then(|| describe(EXTENT)).transpose()?;
    let (mut frame, batch) = match &drawn {
        Some(drawn) => (
            drawn.frame.to_builder(),
            drawn.frame.batch_of(drawn.read_back.pass),
        ),
        None => {
            let mut frame = FrameBuilder::new("network", EXTENT);
            let queue = frame.queue("compute", vk::QueueFlags::COMPUTE);
            let submit = frame.submit(queue);
            let batch = frame.batch(submit);
            (frame, batch)
        }
    };
    let network = work.map(|work| Declared::new(context, &mut frame, batch, work));
    let mut network = network.transpose()?;
    let options = PlanOptions {
        tile_limit: limit,
        ..PlanOptions::default()
    };
    let plan = tile.plan(&frame.build()?, &options)?;
    let mut bound = tile.bind(&plan)?;
    let family = context.queues()[0].family;
    let passes = drawn.map(|drawn| -> Result<Passes> {
        let mut resources = Resources::new(device, tile.into(), family, EXTENT)?;
        resources.begin(0)?;
        let arranged = Arrangement::described(&drawn.frame).apply(&drawn.frame)?;
        Passes::new(device, resources, drawn, arranged, &bound)
    });
    let passes = passes.transpose()?;
    let (pool, commands) = command_buffers::<1>(device, family)?;
    let hosts = network.iter().flat_map(|network| &network.hosts);
    let mut buffers: Vec<ImportedBuffer> = hosts
        .map(|(_, resource, host)| ImportedBuffer {
            resource: *resource,
            buffer: host.buffer(),
        })
        .collect();
    let mut images = Vec::new();
    if let Some((image, buffer)) = passes.as_ref().map(Passes::imported) {
        images.push(image);
        buffers.push(buffer);
    }
    let imports = Imports {
        images: &images,
        buffers: &buffers,
        ..Imports::default()
    };
    // SAFETY: images and buffers are as declared, and outlive the frame.
    let recorder = unsafe { bound.begin(&imports) }?;
    if let Some(passes) = &passes {
        passes.record(&recorder)?;
    }
    if let Some(network) = &mut network {
        // SAFETY: new, and used once.
        let mut commands = unsafe { recorder.record(commands[0], network.commands) }?;
        // SAFETY: the passes were declared in this frame, which is bound on the same device.
        unsafe { network.passes.record(&mut commands) }?;
        commands.finish()?;
    }
    // SAFETY: only this thread uses the queue.
    let number = unsafe { recorder.submit() }?;
    bound.wait(number, u64::MAX)?;
    let picture = passes.map(Passes::finish);
    let mut outputs = Vec::new();
    if let Some(Declared { passes, hosts, .. }) = network {
        // SAFETY: the frame is complete.
        unsafe { passes.destroy() };
        for (id, _, host) in hosts {
            if work.is_some_and(|(seeded, _)| seeded.graph.outputs().contains(&id)) {
                outputs.extend(host.read_floats());
            }
            // SAFETY: the frame is complete.
            unsafe { host.destroy() };
        }
    }
    // SAFETY: the frame is complete.
    unsafe {
        bound.destroy();
        device.destroy_command_pool(pool, None);
    }
    Ok(Ran {
        plan,
        outputs,
        picture,
    })
}
