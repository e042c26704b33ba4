//! `VK_EXT_memory_budget`, and the size of a cache that follows it.

use ash::vk;

use tileheap::runtime::Device;
use tileheap::units::Bytes;

/// Budget and usage of a memory heap (`VK_EXT_memory_budget`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapUsage {
    /// How much this process can use without degrading performance.
    pub budget: Bytes,
    /// How much this process uses, including the cache.
    pub used: Bytes,
}

/// Queries a heap.
pub(super) fn heap_usage(device: &Device, heap: usize) -> HeapUsage {
    let mut budgets = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
    let mut properties = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budgets);
    // SAFETY: the physical device lists the extension (`is_supported`).
    unsafe {
        device
            .instance()
            .get_physical_device_memory_properties2(device.physical_device(), &mut properties)
    };
    HeapUsage {
        budget: Bytes(budgets.heap_budget[heap]),
        used: Bytes(budgets.heap_usage[heap]),
    }
}

/// Whether the physical device lists `VK_EXT_memory_budget`.
pub(super) fn is_supported(device: &Device) -> ash::prelude::VkResult<bool> {
    // SAFETY: physical device and instance are the runtime's.
    let extensions = unsafe {
        device
            .instance()
            .enumerate_device_extension_properties(device.physical_device())
    }?;
    let name = ash::ext::memory_budget::NAME;
    let mut extensions = extensions.iter();
    Ok(extensions.any(|one| one.extension_name_as_c_str() == Ok(name)))
}

/// The new size of a cache of `now` bytes.
///
/// Smaller by the excess if the process exceeds its budget; larger again if the old and the new allocation fit together with an
/// eighth of `most` to spare. At least `least`, at most `most`.
pub(super) fn adjusted(now: Bytes, least: Bytes, most: Bytes, heap: HeapUsage) -> Bytes {
    let over = heap.used.0.saturating_sub(heap.budget.0);
    if over > 0 {
        return Bytes(now.0.saturating_sub(over).max(least.0).min(now.0));
    }
    let room = heap.budget - heap.used;
    let spare = Bytes(most.0 / 8);
    let larger = Bytes(most.0.min(room.0.saturating_sub(spare.0)));
    // Small gains do not justify a copy of all textures.
    if larger.0 >= now.0 + spare.0 || (larger == most && now < most) {
        larger
    } else {
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_give_way_and_come_back() {
        let adjusted = |now, budget, used| {
            let heap = HeapUsage {
                budget: Bytes(budget),
                used: Bytes(used),
            };
            adjusted(Bytes(now), Bytes(100), Bytes(800), heap).0
        };
        assert_eq!(adjusted(800, 5000, 4000), 800, "content");
        assert_eq!(adjusted(800, 4000, 4300), 500, "over by 300");
        assert_eq!(adjusted(800, 4000, 9000), 100, "no smaller than the least");
        assert_eq!(adjusted(500, 4000, 4000), 500, "no room");
        assert_eq!(adjusted(500, 4000, 3350), 500, "less than an eighth more");
        assert_eq!(adjusted(500, 4000, 3200), 700, "some room");
        assert_eq!(adjusted(750, 5000, 4000), 800, "all the room");
    }
}
