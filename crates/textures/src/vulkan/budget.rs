//! The size of a cache: set by the caller, or adapted with `VK_EXT_memory_budget`.

use ash::vk;

use super::state::TextureCache;
use crate::Result;
use tileheap::runtime::Device;
use tileheap::units::Bytes;

/// Budget and usage of a memory heap (`VK_EXT_memory_budget`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapUsage {
    /// Memory that this process can use without degrading performance.
    pub budget: Bytes,
    /// Memory that this process uses, including the cache.
    pub used: Bytes,
}

impl TextureCache {
    /// Changes the size of the cache, between two frames. Textures that extend past the end of a smaller cache are evicted; the next
    /// recorded frame copies the others, and the old allocation is freed when that frame completes.
    ///
    /// # Errors
    /// If the budget does not hold the largest texture, the policy breaks a rule, or the device is out of memory: the size is then unchanged.
    pub fn set_budget(&mut self, budget: Bytes) -> Result<()> {
        if budget == self.budget {
            return Ok(());
        }
        let memory = self.allocate(budget)?;
        if let Err(fault) = self.limiter.set_budget(budget) {
            // SAFETY: nothing was bound to it.
            unsafe { self.device.raw().free_memory(memory, None) };
            return Err(fault);
        }
        tracing::info!(from = %self.budget, to = %budget, "texture cache resized");
        self.former.push(std::mem::replace(&mut self.memory, memory));
        self.budget = budget;
        self.apply_events();
        Ok(())
    }

    /// Adapts the size of the cache to the memory budget of the process: smaller if usage exceeds it, up to the full size if there
    /// is room. Call it between two frames, about once per second. Returns the new size if it changed.
    ///
    /// Does nothing if the device lacks `VK_EXT_memory_budget`.
    ///
    /// # Errors
    /// If the device is out of memory: the cache is then unchanged.
    pub fn adapt_to_memory_budget(&mut self) -> Result<Option<Bytes>> {
        let Some(heap) = self.heap_usage() else {
            return Ok(None);
        };
        let (least, most) = self.limits;
        let adjusted = adjusted(self.budget, least, most, heap);
        if adjusted == self.budget {
            return Ok(None);
        }
        self.set_budget(adjusted)?;
        Ok(Some(adjusted))
    }

    /// Budget and usage of the cache's heap; `None` if the device lacks `VK_EXT_memory_budget`.
    pub fn heap_usage(&self) -> Option<HeapUsage> {
        let kind = self.device.profile().memory_types[self.memory_type as usize];
        self.budget_extension
            .then(|| heap_usage(&self.device, kind.heap as usize))
    }
}

/// Queries a heap.
fn heap_usage(device: &Device, heap: usize) -> HeapUsage {
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

/// Returns true if the physical device lists `VK_EXT_memory_budget`.
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

/// The new size for a cache of `now` bytes.
///
/// Reduced by the excess if the process exceeds its budget; increased if the old and the new allocation fit together with an
/// eighth of `most` to spare. At least `least`, at most `most`.
fn adjusted(now: Bytes, least: Bytes, most: Bytes, heap: HeapUsage) -> Bytes {
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
