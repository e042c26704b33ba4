//! The checker of tables: it accepts everything that `lower` makes, and refuses each kind of damage.

mod accepted;
mod mutations;
mod tile_shading;

use std::sync::Arc;

use tileheap::Checked;
use tileheap::lower::check::DeviceFacts;
use tileheap::lower::{DeviceQueues, FamilyQueue, Situation};
use tileheap::plan::Plan;

/// The device of a plan, with families that can do what the frame declares.
pub(crate) fn device(plan: &Plan, situation: &Situation) -> DeviceFacts {
    DeviceFacts::declared(&plan.profile, &plan.requirements, &plan.frame, &situation.queues)
}

/// Every way in which a frame's queues are placed on those of a device.
fn arrangements(plan: &Plan) -> Vec<DeviceQueues> {
    let count = plan.frame.queues().len() as u32;
    let real = |of: fn(u32) -> FamilyQueue| DeviceQueues::new(&(0..count).map(of).collect::<Vec<_>>());
    vec![
        DeviceQueues::apart(&plan.frame),
        DeviceQueues::one(&plan.frame),
        // Queues of one family.
        real(|index| FamilyQueue { family: 0, index }),
        // The first two are one family, the third another one.
        real(|index| FamilyQueue {
            family: index / 2,
            index: index % 2,
        }),
        // The first and the third are one queue.
        real(|index| FamilyQueue {
            family: index % 2,
            index: 0,
        }),
    ]
}

/// The seed's plan; `None` where it is one for comparison only.
fn executable(seed: u64) -> Option<Arc<Checked<Plan>>> {
    let plan = crate::planned::planned(seed);
    (plan.options.windows == tileheap::plan::WindowRule::Device).then(|| Arc::new(plan))
}
