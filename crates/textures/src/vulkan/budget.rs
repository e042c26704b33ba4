//! How much memory the system lets a program have, and what a cache makes of it.

use ash::vk;

use tileheap::runtime::Device;
use tileheap::units::Bytes;

/// A heap as the system sees it now (`VK_EXT_memory_budget`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapUsage {
    /// What this program can use without harm.
    pub budget: Bytes,
    /// What it uses, the cache included.
    pub used: Bytes,
}

/// Asks the system about a heap.
pub(super) fn ask(device: &Device, heap: usize) -> HeapUsage {
    let mut budgets = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
    let mut properties = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budgets);
    // SAFETY: the physical device lists the extension (`is_there`).
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
pub(super) fn is_there(device: &Device) -> ash::prelude::VkResult<bool> {
    // SAFETY: physical device and instance are the runtime's.
    let extensions = unsafe {
        device
            .instance()
            .enumerate_device_extension_properties(device.physical_device())
    }?;
    let name = ash::ext::memory_budget::NAME;
    Ok(extensions
        .iter()
        .any(|one| one.extension_name_as_c_str() == Ok(name)))
}

/// How large a cache of `now` bytes should be.
///
/// Where the program is over its budget, smaller by that much; where there is room for the old and the new allocation side by
/// side, and an eighth of `most` to spare, larger again. Never below `least`, never above `most`.
pub(super) fn adjusted(now: Bytes, least: Bytes, most: Bytes, heap: HeapUsage) -> Bytes {
    let over = heap.used.0.saturating_sub(heap.budget.0);
    if over > 0 {
        return Bytes(now.0.saturating_sub(over).max(least.0).min(now.0));
    }
    let room = heap.budget - heap.used;
    let spare = Bytes(most.0 / 8);
    let larger = Bytes(most.0.min(room.0.saturating_sub(spare.0)));
    // Small gains are not worth a copy of everything.
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
