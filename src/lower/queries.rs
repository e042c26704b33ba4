//! Measure: memory requirement queries for a frame's resources, and the requirements that follow from the driver's answers.
//!
//! ```text
//! Frame, DeviceProfile ─► RequirementQuery ─► driver ─► MemoryRequirements ─► Requirements
//!                         per resource: in ordinary, tile and lazily allocated memory
//! ```
//! `runtime::Device::measure` makes these queries itself. An engine that creates its own objects makes them with its own functions:
//! `vkGetPhysicalDeviceImageFormatProperties2` tells if an image is supported, then `vkGetDeviceImageMemoryRequirements` or
//! `vkGetDeviceBufferMemoryRequirements`, in tile memory with `VkTileMemoryRequirementsQCOM` chained.

use ash::vk;

use super::create::{ATTACHED, buffer, image};
use super::error::counted;
use super::tables::objects::{BufferRow, ImageRow};
use crate::frame::tables::Resource;
use crate::frame::{Frame, Persistence, ResourceId};
use crate::measure::{MemoryRequirements, Requirements, ResourceRequirements};
use crate::names;
use crate::plan::MemoryKind;
use crate::profile::{DeviceProfile, TileHeap};

/// A query to a driver: the memory requirements of one resource in one kind of memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RequirementQuery {
    /// The resource of the frame.
    pub resource: ResourceId,
    /// The kind of memory: [`Arena`](MemoryKind::Arena) for ordinary memory, [`Tile`](MemoryKind::Tile) or [`Lazy`](MemoryKind::Lazy).
    pub memory: MemoryKind,
    /// The image or buffer as it would be created in that memory.
    pub object: QueriedObject,
}

/// The image or buffer that a query is about, as creation parameters: it is not created.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueriedObject {
    /// An image, without a list of view formats.
    Image(ImageRow),
    /// A buffer.
    Buffer(BufferRow),
}

impl QueriedObject {
    fn of(id: ResourceId, resource: &Resource, memory: MemoryKind) -> QueriedObject {
        match image(id, resource, memory, false) {
            Some(image) => QueriedObject::Image(image),
            None => QueriedObject::Buffer(
                buffer(id, resource, memory).expect("a resource is an image or a buffer"),
            ),
        }
    }

    /// The properties on which a driver decides, after the noun: "a buffer of 256 B, with ..."
    fn words(&self) -> String {
        match self {
            QueriedObject::Image(row) => {
                let (format, usage) = (names::name_of(row.format), names::bit_names(row.usage).join(" "));
                let vk::Extent3D { width, height, depth } = row.extent;
                let levels = counted(row.mip_levels as usize, "level");
                let layers = counted(row.array_layers as usize, "layer");
                let samples = counted(row.samples.as_raw() as usize, "sample");
                format!(
                    "an image of {format}, {width} x {height} x {depth}, {levels}, {layers}, {samples}, with {usage}"
                )
            }
            QueriedObject::Buffer(row) => {
                let usage = names::bit_names(row.usage).join(" ");
                format!("a buffer of {}, with {usage}", row.size)
            }
        }
    }

    /// The object of a resource in ordinary memory; `None` for external and unused resources, which get no memory.
    #[cfg(feature = "runtime")]
    pub(crate) fn ordinary(frame: &Frame, id: ResourceId) -> Option<QueriedObject> {
        let resource = frame.resource(id);
        gets_memory(frame, id).then(|| QueriedObject::of(id, resource, MemoryKind::Arena))
    }
}

fn gets_memory(frame: &Frame, id: ResourceId) -> bool {
    let external = matches!(frame.resource(id).persistence, Persistence::External(_));
    !external && !frame.uses_of(id).is_empty()
}

/// The queries for the resources of a frame, in the order of the resources. There is no query for external resources, which have memory already, or for
/// unused ones, which get none.
pub fn requirement_queries(frame: &Frame, profile: &DeviceProfile) -> Vec<RequirementQuery> {
    let ids = frame.resource_ids();
    ids.flat_map(|id| queries_of(frame, id, profile)).collect()
}

/// The queries for one resource.
pub(crate) fn queries_of(
    frame: &Frame,
    id: ResourceId,
    profile: &DeviceProfile,
) -> impl Iterator<Item = RequirementQuery> {
    let resource = frame.resource(id);
    let needed = gets_memory(frame, id);
    let kinds = [MemoryKind::Arena, MemoryKind::Tile, MemoryKind::Lazy];
    let kinds = kinds.into_iter().filter(move |_| needed);
    kinds.filter_map(move |memory| {
        let object = QueriedObject::of(id, resource, memory);
        is_possible(memory, &object, profile).then_some(RequirementQuery {
            resource: id,
            memory,
            object,
        })
    })
}

/// Returns true if a device may be queried about an object in a kind of memory: objects that the extension forbids must not even be queried.
fn is_possible(memory: MemoryKind, object: &QueriedObject, profile: &DeviceProfile) -> bool {
    match (memory, object) {
        (MemoryKind::Tile, QueriedObject::Image(_)) => profile.tile.is_some(),
        // VUID-VkBufferCreateInfo-usage-10764
        (MemoryKind::Tile, QueriedObject::Buffer(row)) => {
            let info = vk::BufferCreateInfo::default().size(row.size.0).usage(row.usage);
            profile.tile.is_some_and(|tile| tile.buffer(&info).is_some())
        }
        // VUID-VkImageCreateInfo-usage-00963
        (MemoryKind::Lazy, QueriedObject::Image(row)) => {
            let allowed = ATTACHED | vk::ImageUsageFlags::TRANSIENT_ATTACHMENT;
            profile.lazy_type_bits() != 0 && allowed.contains(row.usage)
        }
        (MemoryKind::Lazy, QueriedObject::Buffer(_)) => false,
        (MemoryKind::Arena | MemoryKind::Dedicated, _) => true,
    }
}

/// Adds a driver's answer about a resource in one kind of memory to its requirements.
pub(crate) fn add_answer(
    needs: &mut ResourceRequirements,
    memory: MemoryKind,
    answer: &MemoryRequirements,
    profile: &DeviceProfile,
) {
    match memory {
        MemoryKind::Arena | MemoryKind::Dedicated => {
            needs.size = answer.size;
            needs.alignment = answer.alignment;
            needs.memory_type_bits = answer.memory_type_bits;
            needs.dedicated = answer.dedicated;
        }
        MemoryKind::Tile => {
            let on_heap = |tile: TileHeap| answer.memory_type_bits >> tile.memory_type & 1 == 1;
            needs.tile = answer.tile.filter(|_| profile.tile.is_some_and(on_heap));
        }
        MemoryKind::Lazy => needs.lazy_type_bits = answer.memory_type_bits & profile.lazy_type_bits(),
    }
}

/// The requirements of a frame's resources, from a driver's answers to [`requirement_queries`]. The answers are in the same order; that to an unsupported
/// object is `None`.
///
/// # Errors
/// The name of a resource that the device does not support in ordinary memory: without an answer, or without a memory type.
///
/// # Panics
/// If the number of answers differs from the number of queries.
pub fn requirements_from(
    frame: &Frame,
    profile: &DeviceProfile,
    answers: &[Option<MemoryRequirements>],
) -> Result<Requirements, UnsupportedResource> {
    let queries = requirement_queries(frame, profile);
    assert_eq!(
        queries.len(),
        answers.len(),
        "there must be one answer for each query"
    );
    let mut resources = vec![ResourceRequirements::NONE; frame.resources().len()];
    for (query, answer) in queries.iter().zip(answers) {
        let needs = &mut resources[query.resource.index()];
        // Every object can be bound to memory of some type ("Resource Memory Association").
        match answer.filter(|answer| answer.memory_type_bits != 0) {
            Some(answer) => add_answer(needs, query.memory, &answer, profile),
            None if query.memory == MemoryKind::Arena => {
                return Err(UnsupportedResource {
                    resource: frame.resource(query.resource).name.clone(),
                    object: query.object.words(),
                });
            }
            None => {}
        }
    }
    Ok(Requirements {
        resources,
        profile: None,
    })
}

/// A resource that the device cannot create.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("resource `{resource}`: the device does not support {object}")]
pub struct UnsupportedResource {
    /// The resource's name.
    pub resource: String,
    /// The image or buffer, in words: its format, extent, samples and usage.
    pub object: String,
}
