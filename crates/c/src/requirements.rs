//! Memory requirements: estimated, or from the driver's answers.

use ash::vk;
use std::sync::Arc;

use tileheap::lower::tables::objects::{BufferRow, ImageRow};
use tileheap::lower::{QueriedObject, RequirementQuery as Query, requirement_queries, requirements_from};
use tileheap::measure::{self, MemoryRequirements, Requirements, estimate};
use tileheap::plan::{MemoryKind, PlanError};
use tileheap::profile::TileRequirements;
use tileheap::units::{Alignment, Bytes};

use crate::boundary::{boundary, run};
use crate::enums::{Dedicated, FromNumber, ResourceType};
use crate::frame::FrameObject;
use crate::handles::{Handle, object};
use crate::opaque::{ErrorHandle, FrameHandle, ProfileHandle, RequirementsHandle, RequirementsT};
use crate::profile::ProfileObject;
use crate::status::{Fault, Status};
use crate::strings::counted;
use crate::structs::{self, Array, Output, begin, elements, need, put, reserved, write};
use crate::vulkan::{DedicatedValue, MemoryKindValue};
use tileheap::frame::Frame;
use tileheap::profile::DeviceProfile;

structs::sized! { Input: RequirementAnswer to tile_alignment; }
structs::sized! { Output: RequirementQuery to reserved; ResourceRequirements to dedicated; }

object!(RequirementsT, RequirementsObject: Requirements);

/// Memory requirements, and the inputs that they belong to.
pub struct RequirementsObject {
    pub(crate) requirements: Arc<Requirements>,
    pub(crate) frame: Frame,
    pub(crate) profile: Arc<DeviceProfile>,
}

impl RequirementsObject {
    /// Fails unless the requirements were created for this frame and this profile.
    pub(crate) fn check_inputs(&self, frame: &Frame, profile: &Arc<DeviceProfile>) -> Result<(), Fault> {
        let name = frame.name();
        if self.frame != *frame {
            return Err(Fault::argument(format!(
                "the requirements were created for a frame that differs from `{name}`"
            )));
        }
        if !Arc::ptr_eq(&self.profile, profile) && self.profile != *profile {
            let (of, own) = (&self.profile.name, &profile.name);
            return Err(Fault::argument(match of == own {
                true => format!(
                    "the requirements of frame `{name}` were created for a different profile named `{of}`"
                ),
                false => format!(
                    "the requirements of frame `{name}` were created for profile `{of}`, but the plan is for profile `{own}`"
                ),
            }));
        }
        Ok(())
    }
}

/// A query for the driver: the memory requirements of a resource in one kind of memory.
///
/// `thAnswerRequirementQuery` of `tileheap_requirements.h` makes it: for images, `vkGetPhysicalDeviceImageFormatProperties2` says whether the device supports `image`. Then call
/// `vkGetDeviceImageMemoryRequirements` or `vkGetDeviceBufferMemoryRequirements`; without `maintenance4`, create the object and call
/// `vkGetImageMemoryRequirements2` or `vkGetBufferMemoryRequirements2`. Chain a `VkMemoryDedicatedRequirements`, and for `TH_MEMORY_KIND_TILE` a
/// `VkTileMemoryRequirementsQCOM`, to the `VkMemoryRequirements2`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct RequirementQuery {
    /// `sizeof(ThRequirementQuery)`.
    pub struct_size: u32,
    /// The index of the resource.
    pub resource: u32,
    /// The kind of memory: `TH_MEMORY_KIND_ARENA` for ordinary memory, `TH_MEMORY_KIND_TILE` or `TH_MEMORY_KIND_LAZY`.
    pub memory: MemoryKind,
    /// Image or buffer.
    pub resource_type: ResourceType,
    /// The image as it would be created.
    pub image: vk::ImageCreateInfo<'static>,
    /// The buffer as it would be created.
    pub buffer: vk::BufferCreateInfo<'static>,
    /// `ThResourceDesc::hook`: the number for structures that the caller chains to the creation of the image or buffer; 0 for none.
    pub hook: u32,
    /// Zero.
    pub reserved: u32,
}

/// The driver's answer to a query.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct RequirementAnswer {
    /// `sizeof(ThRequirementAnswer)`.
    pub struct_size: u32,
    /// `ThRequirementQuery::resource`.
    pub resource: u32,
    /// `ThRequirementQuery::memory`.
    pub memory: MemoryKindValue,
    /// `VK_TRUE` if the device supports the image or buffer; the fields below are ignored if not.
    pub supported: vk::Bool32,
    /// The need for a dedicated allocation, from `VkMemoryDedicatedRequirements`.
    pub dedicated: DedicatedValue,
    /// Zero.
    pub reserved: u32,
    /// `VkMemoryRequirements2::memoryRequirements`.
    pub requirements: vk::MemoryRequirements,
    /// `VkTileMemoryRequirementsQCOM::size`; 0 if the driver refuses tile memory, and for other kinds of memory.
    pub tile_size: u64,
    /// `VkTileMemoryRequirementsQCOM::alignment`.
    pub tile_alignment: u64,
}

/// The requirements of a resource.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ResourceRequirements {
    /// `sizeof(ThResourceRequirements)`.
    pub struct_size: u32,
    /// The memory types that can hold the resource, one bit each.
    pub memory_type_bits: u32,
    /// The size of the resource in ordinary memory, in bytes.
    pub size: u64,
    /// The alignment of the resource in ordinary memory, in bytes.
    pub alignment: u64,
    /// The size of the resource in tile memory, in bytes; 0 if it cannot be placed there.
    pub tile_size: u64,
    /// The alignment of the resource in tile memory, any positive number of bytes; 0 if it cannot be placed there.
    pub tile_alignment: u64,
    /// The lazily allocated memory types that can hold the resource, one bit each.
    pub lazy_type_bits: u32,
    /// The need for a dedicated allocation.
    pub dedicated: Dedicated,
}

impl RequirementQuery {
    fn of(query: &Query) -> RequirementQuery {
        let image = match &query.object {
            QueriedObject::Image(row) => image_info(row),
            QueriedObject::Buffer(_) => vk::ImageCreateInfo::default(),
        };
        let (buffer, resource_type) = match &query.object {
            QueriedObject::Image(_) => (vk::BufferCreateInfo::default(), ResourceType::Image),
            QueriedObject::Buffer(row) => (buffer_info(row), ResourceType::Buffer),
        };
        let hook = match &query.object {
            QueriedObject::Image(row) => row.hook,
            QueriedObject::Buffer(row) => row.hook,
        };
        RequirementQuery {
            struct_size: 0,
            resource: query.resource.index() as u32,
            memory: query.memory,
            resource_type,
            image,
            buffer,
            hook,
            reserved: 0,
        }
    }
}

fn image_info(row: &ImageRow) -> vk::ImageCreateInfo<'static> {
    vk::ImageCreateInfo::default()
        .flags(row.flags)
        .image_type(row.image_type)
        .format(row.format)
        .extent(row.extent)
        .mip_levels(row.mip_levels)
        .array_layers(row.array_layers)
        .samples(row.samples)
        .tiling(row.tiling)
        .usage(row.usage)
}

fn buffer_info(row: &BufferRow) -> vk::BufferCreateInfo<'static> {
    vk::BufferCreateInfo::default().size(row.size.0).usage(row.usage)
}

/// Writes the queries whose answers `thCreateRequirements` needs: up to `*count` into `queries`, or only their number if `queries` is null.
/// `structSize` of the first element of `queries` is set by the caller.
///
/// Returns `TH_STATUS_INCOMPLETE` if there are more than fit. Fails with `TH_STATUS_ERROR_CANNOT_PLAN` if the frame breaks a limit of the device or
/// needs a feature that it lacks: a driver must not be queried for objects that it cannot create.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thGetRequirementQueries")]
pub unsafe extern "C" fn get_requirement_queries(
    frame: FrameHandle,
    profile: ProfileHandle,
    count: *mut u32,
    queries: *mut RequirementQuery,
    error: ErrorHandle,
) -> Status {
    boundary("thGetRequirementQueries", error, || {
        need(count, "count")?;
        let (frame, profile) = (frame.get("frame")?, profile.get("profile")?);
        let checked = frame.frame.check_on(&profile.profile);
        checked.map_err(|broken| tileheap::Error::from(PlanError::from(broken)))?;
        let all = requirement_queries(&frame.frame, &profile.profile);
        let values = all.iter().map(RequirementQuery::of);
        // SAFETY: the caller's count and array.
        unsafe { fill(count, queries, values) }
    })
}

/// Writes an array of structures, up to the caller's count.
unsafe fn fill<T: Output>(
    count: *mut u32,
    to: *mut T,
    values: impl ExactSizeIterator<Item = T>,
) -> Result<Status, Fault> {
    let all = values.len() as u32;
    if to.is_null() {
        // SAFETY: not null; the caller lets it be written.
        unsafe { put(count, all, "count") }?;
        return Ok(Status::Success);
    }
    // SAFETY: not null; the caller has set it.
    let room = unsafe { count.read_unaligned() };
    let written = room.min(all);
    if written > 0 {
        // SAFETY: the array has an element, which begins with its size.
        let stride = unsafe { to.cast::<u32>().read_unaligned() };
        for (index, value) in values.take(written as usize).enumerate() {
            // SAFETY: the array has `*count` elements of `stride` bytes.
            let at = unsafe { to.cast::<u8>().add(index * stride as usize) };
            // SAFETY: as above.
            unsafe { at.cast::<u32>().write_unaligned(stride) };
            // SAFETY: as above.
            unsafe { write(at.cast::<T>(), value) }?;
        }
    }
    // SAFETY: not null.
    unsafe { put(count, written, "count") }?;
    Ok(if written < all {
        Status::Incomplete
    } else {
        Status::Success
    })
}

unsafe fn create(
    to: *mut RequirementsHandle,
    (frame, profile): (&FrameObject, &ProfileObject),
    requirements: Requirements,
) -> Result<(), Fault> {
    let object = RequirementsObject {
        requirements: Arc::new(requirements),
        frame: frame.frame.clone(),
        profile: profile.profile.clone(),
    };
    let handle = RequirementsHandle::create(object)?;
    // SAFETY: null or writable.
    unsafe { put(to, handle, "requirements") }
}

/// Creates requirements from a driver's answers, in the order of `thGetRequirementQueries`.
///
/// Fails with `TH_STATUS_ERROR_INVALID_FRAME` if the device does not support a resource in ordinary memory.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateRequirements")]
pub unsafe extern "C" fn create_requirements(
    frame: FrameHandle,
    profile: ProfileHandle,
    answer_count: u32,
    answers: *const RequirementAnswer,
    requirements: *mut RequirementsHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateRequirements", error, || {
        // SAFETY: null or writable.
        unsafe { begin(requirements, "requirements") }?;
        let (frame, profile) = (frame.get("frame")?, profile.get("profile")?);
        // SAFETY: the caller's array.
        let answers: Vec<_> =
            unsafe { elements(answers, answer_count, ANSWERS) }?.collect::<Result<_, _>>()?;
        let queries = requirement_queries(&frame.frame, &profile.profile);
        if answers.len() != queries.len() {
            let message = format!(
                "is {answer_count}, but must be {}, the number of queries",
                queries.len()
            );
            return Err(Fault::argument(message).within("answerCount"));
        }
        let answers = answers
            .iter()
            .zip(&queries)
            .enumerate()
            .map(|(index, (answer, query))| {
                let name = &frame.frame.resource(query.resource).name;
                answer_of(answer, query, &profile.profile)
                    .map_err(|fault| fault.of("resource", name).at("answers", index))
            });
        let answers: Result<Vec<_>, Fault> = answers.collect();
        let found = requirements_from(&frame.frame, &profile.profile, &answers?)?;
        // SAFETY: not null; the caller lets it be written.
        unsafe { create(requirements, (&frame, &profile), found) }
    })
}

const ANSWERS: Array = Array("answers", "answerCount");

/// Checks and converts an answer to a query; `None` if the device does not support the resource in this memory.
fn answer_of(
    answer: &RequirementAnswer,
    query: &Query,
    profile: &DeviceProfile,
) -> Result<Option<MemoryRequirements>, Fault> {
    reserved(answer.reserved)?;
    let (resource, memory) = (query.resource.index() as u32, query.memory as u32);
    if (answer.resource, answer.memory) != (resource, memory) {
        return Err(Fault::argument(format!(
            "the answer is for resource {} in memory kind {}, but the query is for resource {resource} in memory kind {memory}",
            answer.resource, answer.memory
        )));
    }
    if answer.supported == vk::FALSE {
        return Ok(None);
    }
    let vk::MemoryRequirements {
        size,
        alignment,
        memory_type_bits,
    } = answer.requirements;
    let types = profile.memory_types.len() as u32;
    if memory_type_bits == 0 || memory_type_bits.checked_shr(types).unwrap_or(0) != 0 {
        return Err(Fault::argument(format!(
            "is {memory_type_bits:#b}: it must have at least one bit, and only bits of the profile's {}",
            counted(types as usize, "memory type")
        ))
        .within("requirements.memoryTypeBits"));
    }
    let tile = match answer.tile_size {
        0 => None,
        size => Some(TileRequirements {
            size: sized("tileSize", size)?,
            alignment: aligned("tileAlignment", answer.tile_alignment)?,
        }),
    };
    let alignment = aligned("requirements.alignment", alignment)?;
    if !alignment.get().is_power_of_two() {
        let message = format!("is {alignment}, not a power of two");
        return Err(Fault::argument(message).within("requirements.alignment"));
    }
    Ok(Some(MemoryRequirements {
        size: sized("requirements.size", size)?,
        alignment,
        memory_type_bits,
        dedicated: Dedicated::from_number(answer.dedicated, "dedicated")?.into(),
        tile,
    }))
}

/// The largest size and alignment that planning accepts: 1 TiB.
const LARGEST: u64 = 1 << 40;

fn sized(name: &str, size: u64) -> Result<Bytes, Fault> {
    match size {
        1..=LARGEST => Ok(Bytes(size)),
        _ => Err(beyond(name, size)),
    }
}

fn aligned(name: &str, alignment: u64) -> Result<Alignment, Fault> {
    let possible = Alignment::new(alignment).filter(|alignment| alignment.get() <= LARGEST);
    possible.ok_or_else(|| beyond(name, alignment))
}

fn beyond(field: &str, value: u64) -> Fault {
    Fault::argument(format!("is {value}: it must be from 1 to {LARGEST}")).within(field)
}

/// Creates requirements by estimating them from the profile, if no driver can be queried.
///
/// Fails with `TH_STATUS_ERROR_INVALID_PROFILE` if a resource is larger than the profile's `maxMemoryAllocationSize`, or 1 TiB. The profile's other limits,
/// such as `maxImageDimension2D`, are checked by `thCreatePlan`. Profiles do not list the formats that a device supports: a format that no device supports
/// with a usage, such as a storage image of `VK_FORMAT_R8G8B8A8_SRGB`, is only refused by a driver.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateEstimatedRequirements")]
pub unsafe extern "C" fn create_estimated_requirements(
    frame: FrameHandle,
    profile: ProfileHandle,
    requirements: *mut RequirementsHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateEstimatedRequirements", error, || {
        // SAFETY: null or writable.
        unsafe { begin(requirements, "requirements") }?;
        let (frame, profile) = (frame.get("frame")?, profile.get("profile")?);
        let found = estimate(&frame.frame, &profile.profile).map_err(tileheap::Error::from)?;
        // SAFETY: not null; the caller lets it be written.
        unsafe { create(requirements, (&frame, &profile), found) }
    })
}

/// Returns the requirements of a resource. The driver is not queried for external and unused ones, whose memory is not planned: their size is 0.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thGetResourceRequirements")]
pub unsafe extern "C" fn get_resource_requirements(
    requirements: RequirementsHandle,
    resource: u32,
    info: *mut ResourceRequirements,
    error: ErrorHandle,
) -> Status {
    run("thGetResourceRequirements", error, || {
        let object = requirements.get("requirements")?;
        let needs = crate::describe::at(&object.requirements.resources, resource, "resource")?;
        let value = ResourceRequirements {
            struct_size: 0,
            memory_type_bits: needs.memory_type_bits,
            size: needs.size.0,
            alignment: needs.alignment.get(),
            tile_size: needs.tile.map_or(0, |tile| tile.size.0),
            tile_alignment: needs.tile.map_or(0, |tile| tile.alignment.get()),
            lazy_type_bits: needs.lazy_type_bits,
            dedicated: match needs.dedicated {
                measure::DedicatedRequirement::No => Dedicated::No,
                measure::DedicatedRequirement::Preferred => Dedicated::Preferred,
                measure::DedicatedRequirement::Required => Dedicated::Required,
            },
        };
        // SAFETY: null, or the caller's structure.
        unsafe { write(info, value) }
    })
}

/// Destroys requirements. Plans that were made from them keep what they need. A null handle is ignored.
///
/// Thread safety: no other thread may use the handle during the call.
#[unsafe(export_name = "thDestroyRequirements")]
pub extern "C" fn destroy_requirements(requirements: RequirementsHandle) -> Status {
    run("thDestroyRequirements", std::ptr::null_mut(), || {
        requirements.destroy()
    })
}
