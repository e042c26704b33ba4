//! The plan checker on a plan made by hand: it is accepted, with sums worked out on paper, and faults name what they are about. Every rule
//! has its damage in `mutations`.
//!
//! ```text
//! pass           0 gbuffer  1 cull  2 lighting  3 bloom  4 merge
//! tile 0..3      ├─ albedo ───────────────────┤                     blocks of 12,288 B
//! arena 0                           ├─ hdr ────────────────────┤
//!       64 KiB              ├─ lights ─────────┤├─ scratch ──────┤  two buffers take turns
//! own                                                     screen
//! ```

use std::sync::Arc;

use tileheap::lower::check::DeviceFacts;
use tileheap::lower::{DeviceQueues, Situation, lower};
use tileheap::measure::{Dedicated, Requirements, ResourceRequirements};
use tileheap::plan::{
    MemoryKind, NotTile, Object, ObjectId, PassPlan, Placement, PlacementReason, Plan, PlanOptions,
    ResourcePlan, Totals, plan,
};
use tileheap::profile::{DeviceProfile, TileRequirements};
use tileheap::units::{Alignment, Bytes, Run, Span};

use crate::drawn::frame;

const BLOCK: u64 = 12_288;
const KIB: u64 = 1024;

/// A plan that every rule allows.
fn by_hand() -> Plan {
    let profile = DeviceProfile::preset("adreno-830").unwrap();
    let types = profile.ordinary_type_bits();
    let (tile, arena) = (Some(ObjectId::new(0)), Some(ObjectId::new(1)));
    let on_chip = PlacementReason::Tile {
        savings: Bytes(6 * BLOCK),
    };
    let refused = PlacementReason::Arena(NotTile::Refused);
    let (kept, shared, own) = (MemoryKind::Tile, MemoryKind::Arena, MemoryKind::Dedicated);
    let rows = [
        (kept, tile, 0, 3 * BLOCK, Span::new(0, 3), on_chip),
        (shared, arena, 0, 64 * KIB, Span::new(2, 5), refused),
        (shared, arena, 64 * KIB, 64 * KIB, Span::new(1, 3), refused),
        (shared, arena, 64 * KIB, 64 * KIB, Span::new(3, 5), refused),
        (own, None, 0, 64 * KIB, Span::new(4, 5), PlacementReason::External),
    ];
    let object = |memory, memory_type, size| Object {
        memory,
        memory_type,
        size: Bytes(size),
    };
    let needs = |blocks: Option<u64>| ResourceRequirements {
        size: Bytes(64 * KIB),
        alignment: Alignment::new(256).unwrap(),
        memory_type_bits: types,
        dedicated: Dedicated::No,
        tile: blocks.map(|blocks| TileRequirements {
            size: Bytes(blocks * BLOCK),
            alignment: Alignment::new(BLOCK).unwrap(),
        }),
        lazy_type_bits: 0,
    };
    let bound = PassPlan {
        bound_object: tile,
        live_tile: Bytes(3 * BLOCK),
    };
    let frame = frame("by hand");
    let placed = |(resource, &(memory, object, offset, size, span, _))| Placement {
        resource,
        memory,
        object,
        offset: Bytes(offset),
        size: Bytes(size),
        span,
    };
    let placements = frame.resource_ids().zip(&rows).map(placed).collect();
    Plan {
        frame,
        split: None,
        requirements: Arc::new(Requirements {
            resources: [Some(3), None, None, None, None].map(needs).to_vec(),
        }),
        options: PlanOptions {
            bin_cost: Bytes::ZERO,
            ..PlanOptions::default()
        },
        resources: (0..)
            .zip(&rows)
            .map(|(first, row)| ResourcePlan {
                placements: Run {
                    first,
                    end: first + 1,
                },
                reason: row.5,
            })
            .collect(),
        placements,
        objects: vec![
            object(kept, profile.tile.unwrap().memory_type, 3 * BLOCK),
            object(shared, types.trailing_zeros(), 128 * KIB),
        ],
        passes: vec![bound, bound, bound, PassPlan::default(), PassPlan::default()],
        conflicts: Vec::new(),
        optimality: None,
        totals: Totals {
            // albedo: three blocks, two accesses.
            eligible_bytes: Bytes(6 * BLOCK),
            on_chip_bytes: Bytes(6 * BLOCK),
            stored_bytes: Bytes::ZERO,
            arena_bytes: Bytes(128 * KIB),
            arena_bytes_without_aliasing: Bytes(192 * KIB),
            arena_peak_live: Bytes(128 * KIB),
            tile_peak_live: Bytes(3 * BLOCK),
            tile_bytes: Bytes(3 * BLOCK),
            // Three blocks in three passes, all of them full.
            reserved_bytes: Bytes(9 * BLOCK),
            reserved_bytes_by_runs: Bytes(9 * BLOCK),
            live_bytes: Bytes(9 * BLOCK),
        },
        profile: Arc::new(profile),
    }
}

#[test]
fn a_plan_made_by_hand_is_accepted_and_lowered() {
    let plan = by_hand();
    assert_eq!(plan.check(), Ok(()));
    let queues = DeviceQueues::one(&plan.frame);
    let device = DeviceFacts::declared(&plan.profile, &plan.requirements, &plan.frame, &queues);
    let mut situation = Situation::first(queues);
    for _ in 0..2 {
        let tables = lower(&plan, &situation).expect("lowered");
        assert_eq!(tables.violations(&plan.frame, &situation, &device), []);
        situation = situation.after(&tables);
    }
}

#[test]
fn a_resource_that_no_type_holds_is_an_error_that_names_it() {
    let by_hand = by_hand();
    let mut needs = (*by_hand.requirements).clone();
    // The tile type alone: ordinary memory must not be taken from it.
    needs.resources[1].memory_type_bits = by_hand.profile.tile_type_bits();
    let planned = plan(
        &by_hand.frame,
        &Arc::new(needs),
        &by_hand.profile,
        &by_hand.options,
    );
    let fault = planned.unwrap_err().to_string();
    assert!(fault.contains("`hdr`"), "{fault}");
}

#[test]
fn faults_name_the_thing_the_demand_and_the_limit() {
    type Damage = fn(&mut Plan);
    let cases: [(Damage, &str); 9] = [
        (
            |plan| plan.placements[0].offset = Bytes(5 * 8192),
            "resource `albedo` is at offset 40,960 B in Tile, no multiple of its alignment 12,288 B \
             (VUID-VkBindImageMemoryInfo-pNext-12329, -VkBindBufferMemoryInfo-memory-10740)",
        ),
        (|plan| plan.placements[1].size = Bytes(u64::MAX), "PastObject"),
        (|plan| plan.objects[0].memory_type = 99, "of `memory_types`"),
        (
            |plan| plan.passes[3].bound_object = Some(ObjectId::new(7)),
            "entry 7 of `objects`",
        ),
        (|plan| plan.resources[0].placements.end += 1, "is in 2 runs"),
        (|plan| plan.resources[0].placements.end -= 1, "is in 0 runs"),
        (
            |plan| plan.resources[0].placements = Run { first: 5, end: 1000 },
            "[5, 1000)",
        ),
        (
            |plan| plan.resources[0].placements = Run { first: 5, end: 4 },
            "[5, 4)",
        ),
        (
            |plan| {
                let hdr = plan.resources[1].placements;
                plan.resources[1].placements = std::mem::replace(&mut plan.resources[2].placements, hdr);
            },
            "Foreign",
        ),
    ];
    for (damage, needs) in cases {
        let mut plan = by_hand();
        damage(&mut plan);
        let faults = plan.violations();
        let said = faults
            .iter()
            .any(|fault| format!("{fault} {fault:?}").contains(needs));
        assert!(said, "{needs}: {faults:#?}");
    }
}
