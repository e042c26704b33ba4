//! Device properties that the checker needs.

use std::sync::Arc;

use ash::vk;

use crate::frame::Frame;
use crate::lower::lowering_desc::DeviceQueues;
use crate::measure::Requirements;
use crate::profile::DeviceProfile;

/// The device that tables are checked against; independent of any plan.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceFacts {
    /// The device's heaps, memory types, tile heap, limits and features.
    pub profile: Arc<DeviceProfile>,
    /// Per resource of the frame, its memory requirements.
    pub requirements: Arc<Requirements>,
    /// Per queue family, its capabilities (`VkQueueFamilyProperties::queueFlags`).
    pub families: Vec<vk::QueueFlags>,
}

impl DeviceFacts {
    /// A device whose queue families have exactly the capabilities that the frame declares for the queues on them: for presets and
    /// estimates, which have no queue families.
    pub fn declared(
        profile: &Arc<DeviceProfile>,
        requirements: &Arc<Requirements>,
        frame: &Frame,
        queues: &DeviceQueues,
    ) -> DeviceFacts {
        let count = queues.iter().map(|queue| queue.family + 1).max().unwrap_or(0);
        let mut families = vec![vk::QueueFlags::empty(); count as usize];
        for (declared, &queue) in frame.queues().iter().zip(queues.declared()) {
            families[queues.family(queue) as usize] |= declared.capabilities;
        }
        DeviceFacts {
            profile: profile.clone(),
            requirements: requirements.clone(),
            families,
        }
    }
}
