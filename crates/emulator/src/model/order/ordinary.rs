//! Ordinary memory, and the resources that share bytes of it.
//!
//! A resource is tracked from the moment another live resource is bound to some of its bytes; before that, accesses to it cannot conflict with
//! accesses to another resource.

use tileheap_sync::Intervals;
use tileheap_sync::program::MemoryId;
use tileheap_units::IdMap;

/// The bit that is set in the ids of ordinary memory. Ids of tile memory are queue handles; those of unbound resources have bit 63 set.
const ORDINARY: u64 = 1 << 62;

/// The ordinary memory objects of a device.
#[derive(Debug, Default)]
pub(crate) struct OrdinaryMemory {
    /// Memory objects by handle.
    objects: IdMap<u64, MemoryObject>,
    /// Number of memory objects that resources have been bound to so far.
    object_count: u64,
    /// The device's `bufferImageGranularity`.
    granularity: u64,
}

/// A memory object with resources.
#[derive(Debug)]
struct MemoryObject {
    id: MemoryId,
    /// Number of batches that were submitted when the first resource was bound.
    bound_at: u64,
    /// The resources bound to the object, by number.
    resources: IdMap<u32, BoundResource>,
    by_bytes: Intervals,
}

/// A resource that is bound to a memory object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundResource {
    /// The number of the resource.
    pub(crate) number: u32,
    /// The bytes of the memory object that the resource uses, `[first, end)`.
    pub(crate) bytes: (u64, u64),
    /// True for a buffer, or an image with linear tiling.
    pub(crate) is_linear: bool,
    /// Number of batches that were submitted when the resource was bound.
    pub(crate) bound_at: u64,
}

/// A resource that shares bytes with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shared {
    pub(crate) number: u32,
    /// True if the resource may have been written before it began to share bytes.
    pub(crate) may_be_written: bool,
}

impl OrdinaryMemory {
    /// Creates the memory of a device with this `bufferImageGranularity`.
    pub(crate) fn new(granularity: u64) -> OrdinaryMemory {
        OrdinaryMemory {
            granularity,
            ..OrdinaryMemory::default()
        }
    }

    /// The device's `bufferImageGranularity`.
    pub(crate) fn granularity(&self) -> u64 {
        self.granularity
    }

    /// The model's id of a memory object.
    pub(crate) fn id(&self, handle: u64) -> Option<MemoryId> {
        self.objects.get(&handle).map(|object| object.id)
    }

    /// Binds a resource to a memory object after `batches` batches were submitted. Returns the resources that share bytes with it and, if there are
    /// any, the resource itself.
    pub(crate) fn bind(&mut self, handle: u64, resident: BoundResource, batches: u64) -> Vec<Shared> {
        let (object_count, granularity) = (&mut self.object_count, self.granularity);
        let object = self.objects.entry(handle).or_insert_with(|| {
            *object_count += 1;
            MemoryObject {
                id: MemoryId(ORDINARY | *object_count),
                bound_at: batches,
                resources: IdMap::default(),
                by_bytes: Intervals::default(),
            }
        });
        let close = object.by_bytes.overlapping(pages(resident.bytes, granularity));
        let others = close
            .iter()
            .filter_map(|number| object.resources.get(&(*number as u32)))
            .filter(|other| resident.shares(other, granularity));
        let mut shared: Vec<Shared> = others.map(|other| other.shared(batches)).collect();
        if !shared.is_empty() {
            shared.push(resident.shared(batches));
            // Contents that other resources wrote, even destroyed ones, are defined for a linear resource: it may read the same bytes.
            let may_be_written = resident.is_linear && batches > object.bound_at;
            shared
                .last_mut()
                .into_iter()
                .for_each(|own| own.may_be_written |= may_be_written);
        }
        object.by_bytes.insert(resident.number.into(), resident.bytes);
        object.resources.insert(resident.number, resident);
        shared
    }

    /// Removes a destroyed resource.
    pub(crate) fn unbind(&mut self, handle: u64, number: u32) {
        if let Some(object) = self.objects.get_mut(&handle) {
            if let Some(resident) = object.resources.remove(&number) {
                object.by_bytes.remove(number.into(), resident.bytes);
            }
        }
    }

    /// Frees a memory object. Returns its id, if resources were bound to it.
    pub(crate) fn free(&mut self, handle: u64) -> Option<MemoryId> {
        self.objects.remove(&handle).map(|object| object.id)
    }
}

impl BoundResource {
    /// Returns `true` if two resources share bytes. A linear and a nonlinear resource share whole pages of
    /// `bufferImageGranularity` (section "Resource Memory Association").
    fn shares(&self, other: &BoundResource, granularity: u64) -> bool {
        let page = match self.is_linear == other.is_linear {
            true => 1,
            false => granularity.max(1),
        };
        let ((first, end), (other_first, other_end)) = (pages(self.bytes, page), pages(other.bytes, page));
        first < other_end && other_first < end
    }

    fn shared(&self, batches: u64) -> Shared {
        Shared {
            number: self.number,
            may_be_written: batches > self.bound_at,
        }
    }
}

/// Extends a range of bytes to whole pages.
fn pages((first, end): (u64, u64), page: u64) -> (u64, u64) {
    let page = page.max(1);
    (first - first % page, end.div_ceil(page).saturating_mul(page))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resident(number: u32, bytes: (u64, u64), is_linear: bool) -> BoundResource {
        BoundResource {
            number,
            bytes,
            is_linear,
            bound_at: 0,
        }
    }

    fn numbers(shared: &[Shared]) -> Vec<u32> {
        shared.iter().map(|one| one.number).collect()
    }

    #[test]
    fn resources_share_bytes_or_pages() {
        let mut memory = OrdinaryMemory::new(1024);
        let mut bind =
            |number, bytes, is_linear| numbers(&memory.bind(7, resident(number, bytes, is_linear), 0));
        assert!(bind(1, (0, 100), true).is_empty());
        assert!(bind(2, (100, 200), true).is_empty(), "buffers have no pages");
        assert_eq!(
            bind(3, (512, 4096), false),
            [1, 2, 3],
            "an image in the same page"
        );
        assert!(bind(4, (4096, 5000), false).is_empty());
        assert_eq!(bind(5, (4000, 4100), false), [3, 4, 5]);
        assert!(
            numbers(&memory.bind(8, resident(6, (0, 100), true), 0)).is_empty(),
            "another object"
        );
    }

    #[test]
    fn what_is_destroyed_or_freed_shares_nothing() {
        let mut memory = OrdinaryMemory::new(1);
        let one = |memory: &mut OrdinaryMemory, number| {
            numbers(&memory.bind(7, resident(number, (0, 64), true), 0))
        };
        assert!(one(&mut memory, 1).is_empty());
        memory.unbind(7, 1);
        assert!(one(&mut memory, 2).is_empty());
        let id = memory.id(7);
        assert_eq!(memory.free(7), id);
        assert!(one(&mut memory, 3).is_empty());
        assert_ne!(memory.id(7), id, "a new object with an old handle");
    }

    #[test]
    fn resources_may_be_written_if_something_was_submitted_since_they_were_bound() {
        let mut memory = OrdinaryMemory::new(1);
        memory.bind(7, resident(1, (0, 64), true), 0);
        let mut late = |number, is_linear| {
            let resident = BoundResource {
                bound_at: 3,
                ..resident(number, (0, 64), is_linear)
            };
            let shared = memory.bind(7, resident, 3);
            let written: Vec<_> = shared
                .iter()
                .map(|one| (one.number, one.may_be_written))
                .collect();
            written
        };
        assert_eq!(
            late(2, false),
            [(1, true), (2, false)],
            "an image interprets no other's bytes"
        );
        assert_eq!(
            late(3, true)[2],
            (3, true),
            "a buffer reads what another has written"
        );
    }
}
