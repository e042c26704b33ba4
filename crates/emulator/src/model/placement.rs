//! Binds resources to tile memory objects, and checks the rules for offsets and sizes.

use ash::vk;
use ash::vk::Handle;
use tileheap_units::spread;

use super::finding::Finding;
use super::objects::Object;
use super::resources::{MemoryBinding, Resource};
use crate::tables::messages::MessageId;

/// The result of binding a resource to a tile memory object.
pub(crate) struct Placement {
    /// The bytes of the heap that the resource is bound to; `None` if it cannot be bound there.
    pub(crate) place: Option<MemoryBinding>,
    pub(crate) finding: Option<Finding>,
}

/// Places a resource at `offset` of a tile memory object of `object_size` bytes; `real_bytes` is the size of the driver's memory for the heap.
pub(crate) fn place(
    resource: Option<&Resource>,
    object: Object,
    (memory, object_size): (vk::DeviceMemory, u64),
    offset: u64,
    real_bytes: u64,
) -> Placement {
    let tile = Object::of(memory);
    let result = |place, id, text: String| Placement {
        place,
        finding: Some(Finding::new(id, object, text)),
    };
    let Some(resource) = resource.filter(|resource| resource.needs.is_some() || resource.fits_driver_memory)
    else {
        let text = format!(
            "{object} is bound to {tile}, where it cannot be placed: it lacks the tile usage bit, or its tile requirements are 0"
        );
        return result(None, MessageId::UnsupportedResource, text);
    };
    let place = MemoryBinding {
        memory: memory.as_raw(),
        is_tile: true,
        first: offset,
        end: offset.saturating_add(resource.driver_size),
        contents: match resource.contents {
            0 => 0,
            contents => spread(contents ^ offset) | 1,
        },
    };
    let Some(needs) = resource.needs else {
        let text = format!(
            "{object} is bound to {tile} although its tile requirements are 0: a driver that reports 0 cannot place it there"
        );
        let place = Some(place).filter(|place| place.end <= real_bytes);
        return result(place, MessageId::UnsupportedResource, text);
    };
    let (size, alignment) = (needs.size.0, needs.alignment.get());
    if offset % alignment != 0 || offset.checked_add(size).is_none_or(|end| end > object_size) {
        let text = format!(
            "{object} of {size} B, with an alignment of {alignment} B, is bound at offset {offset} of {tile}, tile \
             memory of {object_size} B: the offset must be a multiple of the alignment, and the resource must fit"
        );
        return result(None, MessageId::BadPlace, text);
    }
    Placement {
        place: Some(place),
        finding: None,
    }
}
