//! Queue family ownership of resources, under the rules of `VK_KHR_maintenance9`.
//!
//! Source: "Resource Sharing Mode" of the specification.

use ash::vk;
use tileheap_device::ffi::{
    PhysicalDeviceMaintenance9FeaturesKHR, QueueFamilyOwnershipTransferPropertiesKHR,
};

use crate::chained;

/// Returns true if a device is created with the feature `maintenance9`.
pub fn enables_maintenance9(info: &vk::DeviceCreateInfo<'_>) -> bool {
    let features = chained!(info.p_next => PhysicalDeviceMaintenance9FeaturesKHR<'_>);
    features.is_some_and(|features| features.maintenance9 != 0)
}

/// For each queue family, a mask of the families that can use its images with optimal tiling without an ownership transfer. `query` is
/// `vkGetPhysicalDeviceQueueFamilyProperties2` of a physical device with `VK_KHR_maintenance9`.
pub fn implicit_transfers(query: impl Fn(*mut u32, *mut vk::QueueFamilyProperties2<'_>)) -> Vec<u32> {
    let mut count = 0;
    query(&mut count, std::ptr::null_mut());
    let mut masks = vec![QueueFamilyOwnershipTransferPropertiesKHR::default(); count as usize];
    let mut families: Vec<_> = masks
        .iter_mut()
        .map(|mask| vk::QueueFamilyProperties2::default().push_next(mask))
        .collect();
    query(&mut count, families.as_mut_ptr());
    drop(families);
    masks.truncate(count as usize);
    let masks = masks.iter();
    masks
        .map(|mask| mask.optimal_image_transfer_to_queue_families)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrays::elements_mut;

    #[test]
    fn the_feature_is_found_in_the_chain() {
        let plain = vk::DeviceCreateInfo::default();
        assert!(!enables_maintenance9(&plain));
        for enabled in [false, true] {
            let mut features = PhysicalDeviceMaintenance9FeaturesKHR::default().maintenance9(enabled);
            let mut others = vk::PhysicalDeviceVulkan12Features::default();
            let info = plain.push_next(&mut features).push_next(&mut others);
            assert_eq!(enables_maintenance9(&info), enabled);
        }
    }

    #[test]
    fn each_family_has_a_mask() {
        let masks = [0b10, 0b01, 0];
        let found = implicit_transfers(|count, families| {
            if families.is_null() {
                // SAFETY: It points to a number.
                unsafe { *count = 3 };
                return;
            }
            // SAFETY: There are three elements.
            let families = unsafe { elements_mut(families, 3) };
            for (family, mask) in families.iter().zip(masks) {
                let chained = family
                    .p_next
                    .cast::<QueueFamilyOwnershipTransferPropertiesKHR<'_>>();
                // SAFETY: Each element has a structure for the mask.
                unsafe { (*chained).optimal_image_transfer_to_queue_families = mask };
            }
        });
        assert_eq!(found, masks);
    }
}
