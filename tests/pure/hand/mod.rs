//! Plans made by hand: a pencil that fills in the flat tables, and the plans drawn with it.

mod deferred;
mod queues;

pub(crate) use deferred::{deferred, late};
pub(crate) use queues::two_queues;

use std::sync::Arc;

use ash::vk;
use tileheap::frame::{Frame, PassId, ResourceId};
use tileheap::measure::{Dedicated, Requirements, ResourceRequirements};
use tileheap::plan::{
    MemoryKind, Object, ObjectId, PassPlan, Placement, PlacementReason, Plan, PlanOptions, ResourcePlan,
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

/// Fills in a plan's tables; passes and resources are named.
pub(crate) struct Pencil {
    plan: Plan,
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
            conflicts: Vec::new(),
            optimality: None,
            totals: Totals::default(),
        };
        Pencil { plan }
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

    /// The finished plan, the totals as given.
    pub(crate) fn finish(mut self, totals: Totals) -> Plan {
        self.plan.totals = totals;
        self.plan
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

/// What the tests change in a finished plan, by names.
pub(crate) trait Eraser {
    /// The placement of a resource's `version`.
    fn placement(&mut self, resource: &str, version: usize) -> &mut Placement;
    /// A pass.
    fn planned(&mut self, pass: &str) -> &mut PassPlan;
}

impl Eraser for Plan {
    fn placement(&mut self, resource: &str, version: usize) -> &mut Placement {
        let id = self.frame.resource_named(resource).unwrap();
        let first = self.resources[id.index()].placements.first as usize;
        &mut self.placements[first + version]
    }

    fn planned(&mut self, pass: &str) -> &mut PassPlan {
        let pass = self.frame.pass_named(pass).unwrap();
        &mut self.passes[pass.index()]
    }
}
