//! The checker of tables: accepts all tables made by `lower`, and refuses each kind of damage.

mod accepted;
mod mutations;
mod tile_shading;

use std::sync::Arc;

use tileheap::Checked;
use tileheap::lower::check::DeviceFacts;
use tileheap::lower::{DeviceQueues, FamilyQueue, LoweringDesc};
use tileheap::plan::Plan;

/// The device of a plan, with queue families that support what the frame declares.
pub(crate) fn device(plan: &Plan, lowering_desc: &LoweringDesc) -> DeviceFacts {
    DeviceFacts::declared(
        &plan.profile,
        &plan.requirements,
        &plan.frame,
        &lowering_desc.queues,
    )
}

/// Every mapping of a frame's queues to those of a device.
fn arrangements(plan: &Plan) -> Vec<DeviceQueues> {
    let count = plan.frame.queues().len() as u32;
    let real = |of: fn(u32) -> FamilyQueue| DeviceQueues::new(&(0..count).map(of).collect::<Vec<_>>());
    vec![
        DeviceQueues::separate_families(&plan.frame),
        DeviceQueues::single_queue(&plan.frame),
        // All queues are in one family.
        real(|index| FamilyQueue { family: 0, index }),
        // The first two are in one family, the third in another.
        real(|index| FamilyQueue {
            family: index / 2,
            index: index % 2,
        }),
        // The first and the third are the same queue.
        real(|index| FamilyQueue {
            family: index % 2,
            index: 0,
        }),
    ]
}

/// The seed's plan; `None` if it is for comparison only.
fn executable(seed: u64) -> Option<Arc<Checked<Plan>>> {
    let plan = crate::planned::planned(seed);
    (plan.options.windows == tileheap::plan::WindowRule::Device).then(|| Arc::new(plan))
}
