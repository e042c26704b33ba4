//! The plan checker on a handmade plan: it is accepted, with sums computed by hand, and faults name the resources and passes involved. Every rule has
//! its damage in `mutations`.
//!
//! ```text
//! pass           0 gbuffer  1 cull  2 lighting  3 bloom  4 merge
//! tile 0..3      ├─ albedo ───────────────────┤                     blocks of 12,288 B
//! arena 0                           ├─ hdr ────────────────────┤
//!       72 KiB              ├─ lights ─────────┤├─ scratch ──────┤  two buffers take turns
//! own                                                     screen
//! ```

use std::sync::Arc;

use serde_json::Value;
use tileheap::lower::check::DeviceFacts;
use tileheap::lower::{DeviceQueues, LoweringDesc, lower};
use tileheap::plan::{ObjectId, Plan, plan};
use tileheap::profile::DeviceProfile;
use tileheap::units::{Bytes, Run};

use crate::drawn::frame;

/// The plan of the drawing, for an Adreno 830, which complies with every rule. Its sums: albedo has three blocks and two accesses, and is bound in
/// three passes, all of them full; three resources of 72 KiB share two of them.
fn by_hand() -> Plan {
    let text = std::fs::read_to_string(tileheap_testkit::data("plan_by_hand.json")).expect("a readable file");
    let mut document: Value = serde_json::from_str(&text).unwrap();
    let profile = DeviceProfile::preset("adreno-830").unwrap();
    document["profile"] = serde_json::to_value(profile).unwrap();
    Plan::from_json(&frame("by hand"), &document.to_string()).unwrap()
}

#[test]
fn a_plan_made_by_hand_is_accepted_and_lowered() {
    let plan = by_hand();
    let plan = plan.checked().unwrap();
    let queues = DeviceQueues::single_queue(&plan.frame);
    let device = DeviceFacts::declared(&plan.profile, &plan.requirements, &plan.frame, &queues);
    let mut lowering_desc = LoweringDesc::first(queues);
    for _ in 0..2 {
        let tables = lower(&plan, &lowering_desc).expect("lowered");
        assert_eq!(tables.violations(&plan.frame, &lowering_desc, &device), []);
        lowering_desc = lowering_desc.after(&tables);
    }
}

#[test]
fn a_resource_that_no_type_holds_is_an_error_that_names_it() {
    let by_hand = by_hand();
    let mut needs = (*by_hand.requirements).clone();
    // Only the tile memory type, from which ordinary memory must not be allocated.
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
            "resource `albedo` is at offset 40,960 B in Tile, which is not a multiple of its alignment 12,288 B \
             (VUID-VkBindImageMemoryInfo-pNext-12329)",
        ),
        (|plan| plan.placements[1].size = Bytes(u64::MAX), "PastObject"),
        (|plan| plan.objects[0].memory_type = 99, "of `memory_types`"),
        (
            |plan| plan.passes[3].bound_object = Some(ObjectId::new(7)),
            "entry 7 of `objects`",
        ),
        (
            |plan| plan.resources[0].placements.end += 1,
            "one resource, but is in 2",
        ),
        (
            |plan| plan.resources[0].placements.end -= 1,
            "one resource, but is in 0",
        ),
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
            "ForeignPlacement",
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
