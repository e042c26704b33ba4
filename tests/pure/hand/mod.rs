//! Plans made by hand: a pencil that fills in the flat tables, and the plans drawn with it.

mod deferred;
mod queues;

pub(crate) use deferred::{deferred, late};
pub(crate) use queues::two_queues;

use std::sync::Arc;

use ash::vk;
use tileheap::frame::tables::{Access, Version};
use tileheap::frame::{AccessKind, Frame, LoadOp, PassId, QueueId, ResourceId};
use tileheap::measure::{Dedicated, Requirements, ResourceRequirements};
use tileheap::plan::passes::{AccessPlan, Barrier, BarrierCause, PassPlan, QueueTransfer, TransferHalf};
use tileheap::plan::{
    MemoryKind, Object, ObjectId, Placement, PlacementId, PlacementReason, Plan, PlanOptions, ResourcePlan,
    Totals,
};
use tileheap::profile::{
    DeviceProfile, Features, Limits, MemoryHeap, MemoryType, TILE_HEAP_FLAG, TileBlock, TileHeap,
    TileRequirements,
};
use tileheap::units::{Alignment, Bytes, Run, Span};

/// Bytes of a block of tile memory: not a power of two, as on real hardware.
pub(crate) const BLOCK: u64 = 12_288;

/// Memory types of [`device`].
pub(crate) const DEVICE_LOCAL: u32 = 0;
pub(crate) const LAZY: u32 = 1;
pub(crate) const TILE: u32 = 2;

/// A device with a tile heap of ten blocks.
pub(crate) fn device() -> DeviceProfile {
    use vk::MemoryPropertyFlags as P;
    let heap = |size, flags| MemoryHeap { size, flags };
    let kind = |flags, heap| MemoryType { flags, heap };
    DeviceProfile {
        name: "hand".to_owned(),
        source: "made up".to_owned(),
        heaps: vec![
            heap(Bytes::mib(64), vk::MemoryHeapFlags::DEVICE_LOCAL),
            heap(
                Bytes(10 * BLOCK),
                vk::MemoryHeapFlags::DEVICE_LOCAL | TILE_HEAP_FLAG,
            ),
        ],
        memory_types: vec![
            kind(P::DEVICE_LOCAL, 0),
            kind(P::DEVICE_LOCAL | P::LAZILY_ALLOCATED, 0),
            kind(P::DEVICE_LOCAL, 1),
        ],
        tile: Some(TileHeap {
            heap: 1,
            memory_type: TILE,
            size: Bytes(10 * BLOCK),
            queue_submit_boundary: false,
            buffer_transfers: false,
            block: TileBlock {
                bytes: Alignment::new(BLOCK).unwrap(),
                rows: 32,
            },
        }),
        gmem: Bytes(15 * BLOCK),
        limits: Limits {
            buffer_image_granularity: Alignment::new(1024).unwrap(),
            max_allocation: Bytes::mib(32),
            max_image_dimension_2d: 4096,
            max_color_attachments: 8,
        },
        features: Features::SYNCHRONIZATION_2 | Features::DYNAMIC_RENDERING,
    }
}

/// What a resource of `size` bytes needs: aligned to 256 in ordinary memory, and `blocks` of tile memory if any.
pub(crate) fn requirement(size: u64, blocks: u64) -> ResourceRequirements {
    ResourceRequirements {
        size: Bytes(size),
        alignment: Alignment::new(256).unwrap(),
        memory_type_bits: 1 << DEVICE_LOCAL,
        dedicated: Dedicated::No,
        tile: (blocks > 0).then(|| TileRequirements {
            size: Bytes(blocks * BLOCK),
            alignment: Alignment::new(BLOCK).unwrap(),
        }),
        lazy_type_bits: 1 << LAZY,
    }
}

/// One scope of a barrier.
pub(crate) type Scope = (vk::PipelineStageFlags2, vk::AccessFlags2);

/// Fills in a plan's tables; passes and resources are named.
pub(crate) struct Pencil {
    plan: Plan,
    before: Vec<Vec<Barrier>>,
    after: Vec<Vec<Barrier>>,
}

impl Pencil {
    /// A plan of `frame` in which nothing is decided. `requirements` are by resource, in the frame's order.
    pub(crate) fn new(
        frame: &Frame,
        profile: DeviceProfile,
        requirements: Vec<ResourceRequirements>,
    ) -> Pencil {
        let passes = frame.passes().len();
        let plan = Plan {
            frame: frame.clone(),
            split: None,
            profile: Arc::new(profile),
            requirements: Arc::new(Requirements {
                resources: requirements,
            }),
            options: PlanOptions {
                bin_cost: Bytes::ZERO,
                ..PlanOptions::default()
            },
            resources: vec![
                ResourcePlan {
                    placements: Run::default(),
                    reason: PlacementReason::Unused,
                };
                frame.resources().len()
            ],
            placements: Vec::new(),
            objects: Vec::new(),
            passes: vec![PassPlan::default(); passes],
            accesses: Vec::new(),
            barriers: Vec::new(),
            conflicts: Vec::new(),
            optimality: None,
            totals: Totals::default(),
        };
        Pencil {
            plan,
            before: vec![Vec::new(); passes],
            after: vec![Vec::new(); passes],
        }
    }

    /// A memory object.
    pub(crate) fn object(&mut self, memory: MemoryKind, memory_type: u32, size: u64) -> ObjectId {
        self.plan.objects.push(Object {
            memory,
            memory_type,
            size: Bytes(size),
        });
        ObjectId::new(self.plan.objects.len() as u32 - 1)
    }

    /// The placements of one resource: object, offset and size of each, and their span.
    pub(crate) fn place(
        &mut self,
        resource: &str,
        reason: PlacementReason,
        memory: MemoryKind,
        stays: &[(Option<ObjectId>, u64, u64)],
        span: (u32, u32),
    ) {
        let id = self.resource(resource);
        let first = self.plan.placements.len() as u32;
        for &(object, offset, size) in stays {
            self.plan.placements.push(Placement {
                resource: id,
                memory,
                object,
                offset: Bytes(offset),
                size: Bytes(size),
                span: Span::new(span.0, span.1),
            });
        }
        let end = self.plan.placements.len() as u32;
        self.plan.resources[id.index()] = ResourcePlan {
            placements: Run { first, end },
            reason,
        };
    }

    /// What is bound in a pass, and how much of it is alive.
    pub(crate) fn bind(&mut self, pass: &str, object: ObjectId, live: u64) {
        let pass = self.pass(pass);
        self.plan.passes[pass.index()].bound_object = Some(object);
        self.plan.passes[pass.index()].live_tile = Bytes(live);
    }

    /// A barrier before a pass; `version` 1 is the previous version of a history pair.
    pub(crate) fn before(
        &mut self,
        pass: &str,
        (resource, version): (&str, u32),
        cause: BarrierCause,
        source: Scope,
        destination: Scope,
        layouts: (vk::ImageLayout, vk::ImageLayout),
    ) -> &mut Barrier {
        let barrier = self.barrier((resource, version), cause, source, destination, layouts);
        let pass = self.pass(pass).index();
        self.before[pass].push(barrier);
        self.before[pass].last_mut().unwrap()
    }

    /// A barrier after a pass.
    pub(crate) fn after(
        &mut self,
        pass: &str,
        (resource, version): (&str, u32),
        cause: BarrierCause,
        source: Scope,
        destination: Scope,
        layouts: (vk::ImageLayout, vk::ImageLayout),
    ) -> &mut Barrier {
        let barrier = self.barrier((resource, version), cause, source, destination, layouts);
        let pass = self.pass(pass).index();
        self.after[pass].push(barrier);
        self.after[pass].last_mut().unwrap()
    }

    fn barrier(
        &self,
        (resource, version): (&str, u32),
        cause: BarrierCause,
        (src_stages, src_access): Scope,
        (dst_stages, dst_access): Scope,
        (old_layout, new_layout): (vk::ImageLayout, vk::ImageLayout),
    ) -> Barrier {
        let id = self.resource(resource);
        let placement = self.plan.resources[id.index()].placements.first + version;
        Barrier {
            resource: id,
            placement: PlacementId::new(placement),
            cause,
            src_stages,
            src_access,
            dst_stages,
            dst_access,
            old_layout,
            new_layout,
            transfer: None,
        }
    }

    /// The finished plan: every access in its natural layout, everything stored, the totals as given.
    pub(crate) fn finish(mut self, totals: Totals) -> Plan {
        let frame = self.plan.frame.clone();
        self.plan.accesses = frame
            .accesses()
            .iter()
            .map(|access| self.access(access))
            .collect();
        let runs = self.before.into_iter().zip(self.after);
        for (pass, (before, after)) in self.plan.passes.iter_mut().zip(runs) {
            for (run, barriers) in [(&mut pass.before, before), (&mut pass.after, after)] {
                run.first = self.plan.barriers.len() as u32;
                self.plan.barriers.extend(barriers);
                run.end = self.plan.barriers.len() as u32;
            }
        }
        self.plan.totals = totals;
        self.plan
    }

    fn access(&self, access: &Access) -> AccessPlan {
        let resource = self.plan.frame.resource(access.resource);
        let first = self.plan.resources[access.resource.index()].placements.first;
        let depth = resource.aspects().intersects(vk::ImageAspectFlags::DEPTH);
        let attachment = access.kind.is_attachment() && access.kind != AccessKind::ResolveAttachment;
        let load_op = match access.load_op {
            LoadOp::Load if attachment => vk::AttachmentLoadOp::LOAD,
            LoadOp::Clear(_) => vk::AttachmentLoadOp::CLEAR,
            _ => vk::AttachmentLoadOp::DONT_CARE,
        };
        AccessPlan {
            placement: PlacementId::new(first + u32::from(access.version == Version::Previous)),
            layout: access.kind.layout(depth, access.writes),
            load_op,
            store_op: vk::AttachmentStoreOp::STORE,
        }
    }

    fn resource(&self, name: &str) -> ResourceId {
        self.plan
            .frame
            .resource_named(name)
            .unwrap_or_else(|| panic!("no resource `{name}`"))
    }

    fn pass(&self, name: &str) -> PassId {
        self.plan
            .frame
            .pass_named(name)
            .unwrap_or_else(|| panic!("no pass `{name}`"))
    }
}

/// One half of a transfer from one queue to another.
pub(crate) fn half(half: TransferHalf, from: QueueId, to: QueueId) -> Option<QueueTransfer> {
    Some(QueueTransfer { from, to, half })
}

/// What the tests change in a finished plan, by names.
pub(crate) trait Eraser {
    /// The placement of a resource's `version`.
    fn placement(&mut self, resource: &str, version: usize) -> &mut Placement;
    /// The barrier of a resource before a pass.
    fn barrier_before(&mut self, pass: &str, resource: &str) -> &mut Barrier;
    /// The barrier of a resource after a pass.
    fn barrier_after(&mut self, pass: &str, resource: &str) -> &mut Barrier;
    /// A resource's first access in a pass.
    fn access(&mut self, pass: &str, resource: &str) -> &mut AccessPlan;
    /// A pass.
    fn planned(&mut self, pass: &str) -> &mut PassPlan;
    /// Takes the barrier of a resource before a pass away.
    fn erase_before(&mut self, pass: &str, resource: &str);
    /// Takes the barrier of a resource after a pass away.
    fn erase_after(&mut self, pass: &str, resource: &str);
}

impl Eraser for Plan {
    fn placement(&mut self, resource: &str, version: usize) -> &mut Placement {
        let id = self.frame.resource_named(resource).unwrap();
        let first = self.resources[id.index()].placements.first as usize;
        &mut self.placements[first + version]
    }

    fn barrier_before(&mut self, pass: &str, resource: &str) -> &mut Barrier {
        let run = self.planned(pass).before;
        find(self, run, resource)
    }

    fn barrier_after(&mut self, pass: &str, resource: &str) -> &mut Barrier {
        let run = self.planned(pass).after;
        find(self, run, resource)
    }

    fn access(&mut self, pass: &str, resource: &str) -> &mut AccessPlan {
        let pass = self.frame.pass_named(pass).unwrap();
        let resource = self.frame.resource_named(resource).unwrap();
        let mut accesses = self.frame.accesses().iter();
        let index = accesses.position(|access| access.pass == pass && access.resource == resource);
        &mut self.accesses[index.unwrap()]
    }

    fn planned(&mut self, pass: &str) -> &mut PassPlan {
        let pass = self.frame.pass_named(pass).unwrap();
        &mut self.passes[pass.index()]
    }

    fn erase_before(&mut self, pass: &str, resource: &str) {
        let run = self.planned(pass).before;
        erase(self, run, resource);
    }

    fn erase_after(&mut self, pass: &str, resource: &str) {
        let run = self.planned(pass).after;
        erase(self, run, resource);
    }
}

fn position(plan: &Plan, run: Run, resource: &str) -> usize {
    let id = plan.frame.resource_named(resource).unwrap();
    let mut barriers = run.of(&plan.barriers).iter();
    let index = barriers.position(|barrier| barrier.resource == id);
    run.first as usize + index.unwrap_or_else(|| panic!("no barrier of `{resource}`"))
}

fn find<'a>(plan: &'a mut Plan, run: Run, resource: &str) -> &'a mut Barrier {
    let index = position(plan, run, resource);
    &mut plan.barriers[index]
}

fn erase(plan: &mut Plan, run: Run, resource: &str) {
    let index = position(plan, run, resource);
    remove_barrier(plan, index);
}

/// Takes entry `index` out of the table of barriers and out of its run.
pub(crate) fn remove_barrier(plan: &mut Plan, index: usize) {
    plan.barriers.remove(index);
    for pass in &mut plan.passes {
        for run in [&mut pass.before, &mut pass.after] {
            for bound in [&mut run.first, &mut run.end] {
                if *bound as usize > index {
                    *bound -= 1;
                }
            }
        }
    }
}
