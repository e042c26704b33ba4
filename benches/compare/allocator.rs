//! Compares planned arenas with a run-time allocator, on this machine's driver.

use std::collections::BTreeMap;

use ash::vk::Handle;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{
    Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc,
};
use tileheap::frame::Frame;
use tileheap::frame::tables::ResourceKind;
use tileheap::measure::ResourceRequirements;
use tileheap::plan::{MemoryKind, Placement, PlanOptions, ResidencyStrategy, plan};
use tileheap::runtime::{Capabilities, Context, ContextDesc};
use tileheap::units::Span;

use crate::planning::random;
use crate::rows::{Better, Rows, Side, Table, Unit};

pub(crate) fn compare(rows: &mut Rows) {
    rows.table(Table {
        name: "allocator",
        title: "A frame's resources in this machine's memory",
        says: "Bytes of device memory for the images and buffers of a frame that share memory, with the sizes and alignments of this \
               machine's driver and nothing in tile memory. All rows have the same resources with the same lifetimes: transients from first to \
               last use, histories (two copies where the previous one is read) for the whole frame; externals and dedicated allocations \
               are in none. gpu-allocator: the highest end that it gave out in each of its blocks, with every resource kept for the whole \
               frame, and with each freed after its last use. The bound is the most bytes live in one pass, before any rounding.",
        unit: Unit::Bytes,
        better: Better::Lower,
    });
    match open() {
        Err(error) => rows.skip("gpu-allocator", error.to_string()),
        Ok(context) => {
            compare_on(rows, &context);
            context.destroy();
        }
    }
}

/// Opens a device, with buffer device addresses if it supports them: some frames use them.
fn open() -> tileheap::Result<Context> {
    let desc = ContextDesc::from_env("tileheap: compare");
    let with_addresses = ContextDesc {
        buffer_device_address: true,
        ..desc.clone()
    };
    Context::new(&with_addresses).or_else(|_| Context::new(&desc))
}

fn compare_on(rows: &mut Rows, context: &Context) {
    for (passes, resources) in [(30, 40), (60, 90)] {
        let frame = random(passes, resources, 2);
        let case = format!("synthetic, {passes} passes, {resources} resources");
        if let Err(error) = row(rows, context, &case, &frame) {
            rows.skip(case, error.to_string());
        }
    }
}

fn row(rows: &mut Rows, context: &Context, case: &str, frame: &Frame) -> tileheap::Result<()> {
    let tile = context.runtime();
    let needs = tile.measure(frame)?;
    let options = PlanOptions {
        strategy: ResidencyStrategy::Off,
        lazy: false,
        ..PlanOptions::default()
    };
    let plan = plan(frame, &needs, tile.profile(), &options)?;
    let shared: Vec<&Placement> = plan
        .placements
        .iter()
        .filter(|placement| placement.memory == MemoryKind::Arena)
        .collect();
    let size = |placement: &Placement| needs.resources[placement.resource.index()].size.0;
    let live = frame.pass_ids().map(|pass| {
        let live = shared
            .iter()
            .filter(|placement| placement.span.contains(pass.step()));
        live.map(|placement| size(placement)).sum::<u64>()
    });
    let bound = live.max().unwrap_or(0);
    let kept = with_allocator(context, frame, &needs.resources, &shared, false);
    let freed = with_allocator(context, frame, &needs.resources, &shared, true);
    rows.add(case, "bound", Side::LowerBound, Some(bound as f64));
    rows.add(case, "gpu-allocator, all kept", Side::Baseline, Some(kept));
    rows.add(
        case,
        "gpu-allocator, freed after the last use",
        Side::Baseline,
        Some(freed),
    );
    rows.add(
        case,
        "planned arenas",
        Side::Ours,
        Some(plan.totals.arena_bytes.0 as f64),
    );
    Ok(())
}

/// Allocates each placement at run time; returns the bytes in use: the highest end of an allocation in each of the allocator's blocks, added up.
fn with_allocator(
    context: &Context,
    frame: &Frame,
    needs: &[ResourceRequirements],
    placements: &[&Placement],
    free: bool,
) -> f64 {
    let capabilities = context.runtime().capabilities();
    let desc = AllocatorCreateDesc {
        instance: context.instance().clone(),
        device: context.device().clone(),
        physical_device: context.physical_device(),
        debug_settings: Default::default(),
        buffer_device_address: capabilities.contains(Capabilities::BUFFER_DEVICE_ADDRESS),
        allocation_sizes: Default::default(),
    };
    let mut allocator = Allocator::new(&desc).expect("an allocator");
    let ordinary = context.runtime().profile().ordinary_type_bits();
    let mut ends = BTreeMap::new();
    let mut live: Vec<(Span, Allocation)> = Vec::new();
    for pass in frame.pass_ids() {
        let begin = placements
            .iter()
            .filter(|placement| placement.span.first == pass.step());
        for placement in begin {
            let resource = frame.resource(placement.resource);
            let needs = &needs[placement.resource.index()];
            let allocation = allocator.allocate(&AllocationCreateDesc {
                name: &resource.name,
                requirements: ash::vk::MemoryRequirements {
                    size: needs.size.0,
                    alignment: needs.alignment.get(),
                    memory_type_bits: needs.memory_type_bits & ordinary,
                },
                location: MemoryLocation::GpuOnly,
                linear: matches!(resource.kind, ResourceKind::Buffer { .. }),
                allocation_scheme: AllocationScheme::GpuAllocatorManaged,
            });
            let allocation = allocation.expect("memory");
            // SAFETY: the handle is only compared.
            let block = unsafe { allocation.memory() }.as_raw();
            let end = ends.entry(block).or_insert(0);
            *end = (allocation.offset() + allocation.size()).max(*end);
            live.push((placement.span, allocation));
        }
        if free {
            let is_over = |span: Span| span.end.0 <= pass.step().0 + 1;
            let (over, rest): (Vec<_>, _) = live.into_iter().partition(|(span, _)| is_over(*span));
            live = rest;
            for (_, allocation) in over {
                allocator.free(allocation).expect("it was allocated there");
            }
        }
    }
    for (_, allocation) in live {
        allocator.free(allocation).expect("it was allocated there");
    }
    ends.values().sum::<u64>() as f64
}
