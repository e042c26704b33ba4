//! Measure: the memory requirements of a frame's resources, as the driver reports them.

use std::ffi::c_void;
use std::sync::PoisonError;

use ash::vk;

use super::create_info::{buffer_info, image_info};
use super::device_state::DeviceState;
use super::error::{RuntimeError, VkResultExt};
use super::pool_key::Row;
use crate::Result;
use crate::ffi::{
    BUFFER_USAGE_TILE_MEMORY_BIT_QCOM, IMAGE_USAGE_TILE_MEMORY_BIT_QCOM, TileMemoryRequirementsQCOM,
};
use crate::frame::Persistence;
use crate::frame::tables::{Resource, ResourceKind};
use crate::lower::{QueriedObject, RequirementQuery, add_answer, queries_of};
use crate::measure::{DedicatedRequirement, MemoryRequirements, Requirements, ResourceRequirements};
use crate::plan::{MemoryKind, Runnable};
use crate::profile::TileRequirements;
use crate::units::{Alignment, Bytes};

/// Maximum number of image and buffer descriptions whose requirements are cached; a full cache is cleared. A frame of another size adds a few dozen.
const MAX_CACHED_REQUIREMENTS: usize = 1 << 13;

/// The rule that an image breaks if the driver supports no image of its format, type, tiling, usage and flags.
const FORMAT_NOT_SUPPORTED: &str = "VUID-VkImageCreateInfo-imageCreateMaxMipLevels-02251";

impl DeviceState {
    /// Queries the requirements of every resource of a frame. Returns an error for a resource that the device cannot create, since querying it would be
    /// invalid usage.
    pub(super) fn measure(&self, runnable: Runnable<'_>) -> Result<Requirements> {
        let frame = runnable.executed().frame();
        let _span = tracing::info_span!("measure", frame = frame.name()).entered();
        self.views_are_supported(frame)?;
        if self.functions.maintenance_4.is_none() {
            tracing::debug!(
                reason = "maintenance4 is not enabled",
                "measuring by creating every resource"
            );
        }
        // Not locked during driver queries: two threads that measure the same resource at once both query it.
        let known = || self.measured.lock().unwrap_or_else(PoisonError::into_inner);
        let ids = frame.resource_ids().zip(frame.resources());
        let measured = ids.map(|(id, resource)| {
            let row = match QueriedObject::ordinary(frame, id) {
                Some(QueriedObject::Image(row)) => Row::from(row),
                Some(QueriedObject::Buffer(row)) => Row::from(row),
                None => return Ok(ResourceRequirements::NONE),
            };
            let key = (row, resource.persistence == Persistence::History);
            let answer = known().get(&key).copied();
            if let Some(answer) = answer {
                return Ok(answer);
            }
            let mut needs = ResourceRequirements::NONE;
            for query in queries_of(frame, id, &self.profile) {
                if let Some(answer) = self.answer(resource, &query)? {
                    add_answer(&mut needs, query.memory, &answer, &self.profile);
                }
            }
            let hook = match &resource.kind {
                ResourceKind::Image { desc, .. } => desc.hook,
                ResourceKind::Buffer { desc, .. } => desc.hook,
            };
            if self.has_dedicated_memory(hook) {
                // A dedicated allocation is not in the tile heap, is not aliased, and keeps its contents.
                needs.dedicated = DedicatedRequirement::Required;
                needs.lazy_type_bits = 0;
            }
            let mut known = known();
            if known.len() >= MAX_CACHED_REQUIREMENTS {
                known.clear();
            }
            known.insert(key, needs);
            Ok(needs)
        });
        Ok(Requirements {
            resources: measured.collect::<Result<_>>()?,
            profile: None,
        })
    }

    /// The driver's answer; `None` if it does not support the resource in tile or lazily allocated memory.
    fn answer(&self, resource: &Resource, query: &RequirementQuery) -> Result<Option<MemoryRequirements>> {
        let name = &resource.name;
        match &query.object {
            QueriedObject::Image(row) => {
                let info = image_info(self, row, &[]);
                // Queried even within the set of parameters that the extension guarantees: a driver may reject a format, and an image that
                // it rejects must be neither created nor queried (VUID-VkImageCreateInfo-imageCreateMaxMipLevels-02251).
                if query.memory == MemoryKind::Arena {
                    self.image_is_supported(resource, (&info, row.hook))?;
                } else if !self.supports_image(name, (&info, row.hook))? {
                    return Ok(None);
                }
                self.image_requirements(name, &info).map(Some)
            }
            QueriedObject::Buffer(row) => {
                let info = buffer_info(self, row, &[]);
                self.buffer_requirements(name, &info).map(Some)
            }
        }
    }

    /// Returns true if the device can create images of this kind and size.
    pub(super) fn supports_image(
        &self,
        name: &str,
        (info, hook): (&vk::ImageCreateInfo<'_>, u32),
    ) -> Result<bool> {
        let broken = self.broken_limit(name, (info, hook))?;
        Ok(broken.is_none())
    }

    /// The rule that an image violates, given the driver's limits for its format, type, usage and flags.
    fn broken_limit(
        &self,
        name: &str,
        (info, hook): (&vk::ImageCreateInfo<'_>, u32),
    ) -> Result<Option<&'static str>> {
        let question = vk::PhysicalDeviceImageFormatInfo2 {
            p_next: self.chain(hook, |hooks, hook| hooks.image_format(hook)),
            ..Default::default()
        };
        let question = question
            .format(info.format)
            .ty(info.image_type)
            .tiling(info.tiling)
            .usage(info.usage)
            .flags(info.flags);
        // Some drivers fill it in unconditionally if the hook's chain is about external memory.
        let mut external = vk::ExternalImageFormatProperties::default();
        let mut answer = vk::ImageFormatProperties2::default();
        // SAFETY: the hook's chain is valid.
        let is_external = unsafe {
            has_structure(
                question.p_next,
                vk::StructureType::PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO,
            )
        };
        if is_external {
            answer = answer.push_next(&mut external);
        }
        // SAFETY: the physical device is one of the instance; the tile usage bit is queried only if the feature is on.
        let asked = unsafe {
            self.instance.get_physical_device_image_format_properties2(
                self.physical_device,
                &question,
                &mut answer,
            )
        };
        if asked == Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED) {
            return Ok(Some(FORMAT_NOT_SUPPORTED));
        }
        asked.with_call("vkGetPhysicalDeviceImageFormatProperties2", || name)?;
        let (limits, wanted) = (answer.image_format_properties, info.extent);
        let most = limits.max_extent;
        let rules = [
            (wanted.width <= most.width, "VUID-VkImageCreateInfo-extent-02252"),
            (
                wanted.height <= most.height,
                "VUID-VkImageCreateInfo-extent-02253",
            ),
            (wanted.depth <= most.depth, "VUID-VkImageCreateInfo-extent-02254"),
            (
                info.mip_levels <= limits.max_mip_levels,
                "VUID-VkImageCreateInfo-mipLevels-02255",
            ),
            (
                info.array_layers <= limits.max_array_layers,
                "VUID-VkImageCreateInfo-arrayLayers-02256",
            ),
            (
                limits.sample_counts.contains(info.samples),
                "VUID-VkImageCreateInfo-samples-02258",
            ),
        ];
        let broken = rules.into_iter().find(|(kept, _)| !kept);
        Ok(broken.map(|(_, rule)| rule))
    }

    /// Returns an error if the device cannot create such an image.
    pub(super) fn image_is_supported(
        &self,
        resource: &Resource,
        (info, hook): (&vk::ImageCreateInfo<'_>, u32),
    ) -> Result<()> {
        let Some(rule) = self.broken_limit(&resource.name, (info, hook))? else {
            return Ok(());
        };
        let vk::Extent3D { width, height, depth } = info.extent;
        if rule == FORMAT_NOT_SUPPORTED {
            let why = format!(
                "the driver does not support {:?} images of {:?} with usage {:?}, tiling {:?} and flags [{:?}] ({rule})",
                info.image_type, info.format, info.usage, info.tiling, info.flags
            );
            return Err(RuntimeError::unsupported(&resource.name, why));
        }
        let why = format!(
            "its limits exclude {:?} with usage {:?}, {width} x {height} x {depth} texels, level count {}, layer count {} and sample count {:?} ({rule})",
            info.format, info.usage, info.mip_levels, info.array_layers, info.samples
        );
        Err(RuntimeError::unsupported(&resource.name, why))
    }

    /// The requirements of an image with this creation info; an image is created only if the driver cannot report them without one.
    pub(super) fn image_requirements(
        &self,
        name: &str,
        info: &vk::ImageCreateInfo<'_>,
    ) -> Result<MemoryRequirements> {
        let tile = info.usage.contains(IMAGE_USAGE_TILE_MEMORY_BIT_QCOM);
        if let Some(functions) = &self.functions.maintenance_4 {
            let device = self.device.handle();
            let ask = functions.get_device_image_memory_requirements_khr;
            let question = vk::DeviceImageMemoryRequirements::default().create_info(info);
            // SAFETY: the device has maintenance4; the creation info is valid (its limits were queried).
            let answer = MemoryRequirements::ask(tile, |answer| unsafe { ask(device, &question, answer) });
            return Ok(answer);
        }
        // SAFETY: the creation info is valid (its limits were queried).
        let image = unsafe { self.device.create_image(info, None) }.with_call("vkCreateImage", || name)?;
        let answer = self.requirements_of_image(image, info.usage);
        // SAFETY: just created, and used by nothing.
        unsafe { self.device.destroy_image(image, None) };
        Ok(answer)
    }

    /// The requirements of a buffer with this creation info.
    pub(super) fn buffer_requirements(
        &self,
        name: &str,
        info: &vk::BufferCreateInfo<'_>,
    ) -> Result<MemoryRequirements> {
        let tile = info.usage.contains(BUFFER_USAGE_TILE_MEMORY_BIT_QCOM);
        if let Some(functions) = &self.functions.maintenance_4 {
            let device = self.device.handle();
            let ask = functions.get_device_buffer_memory_requirements_khr;
            let question = vk::DeviceBufferMemoryRequirements::default().create_info(info);
            // SAFETY: the device has maintenance4; the creation info is valid.
            let answer = MemoryRequirements::ask(tile, |answer| unsafe { ask(device, &question, answer) });
            return Ok(answer);
        }
        // SAFETY: the creation info is valid.
        let buffer = unsafe { self.device.create_buffer(info, None) }.with_call("vkCreateBuffer", || name)?;
        let answer = self.requirements_of_buffer(buffer, info.usage);
        // SAFETY: just created, and used by nothing.
        unsafe { self.device.destroy_buffer(buffer, None) };
        Ok(answer)
    }

    /// The requirements of a created image; `usage` is the usage that it was created with.
    pub(super) fn requirements_of_image(
        &self,
        image: vk::Image,
        usage: vk::ImageUsageFlags,
    ) -> MemoryRequirements {
        let tile = usage.contains(IMAGE_USAGE_TILE_MEMORY_BIT_QCOM);
        let question = vk::ImageMemoryRequirementsInfo2::default().image(image);
        MemoryRequirements::ask(tile, |answer| {
            // SAFETY: the image is alive.
            unsafe { self.device.get_image_memory_requirements2(&question, answer) };
        })
    }

    /// The requirements of a created buffer; `usage` is the usage that it was created with.
    pub(super) fn requirements_of_buffer(
        &self,
        buffer: vk::Buffer,
        usage: vk::BufferUsageFlags,
    ) -> MemoryRequirements {
        let tile = usage.contains(BUFFER_USAGE_TILE_MEMORY_BIT_QCOM);
        let question = vk::BufferMemoryRequirementsInfo2::default().buffer(buffer);
        MemoryRequirements::ask(tile, |answer| {
            // SAFETY: the buffer is alive.
            unsafe { self.device.get_buffer_memory_requirements2(&question, answer) };
        })
    }
}

impl MemoryRequirements {
    fn ask(with_tile: bool, ask: impl FnOnce(&mut vk::MemoryRequirements2<'_>)) -> MemoryRequirements {
        let mut tile = TileMemoryRequirementsQCOM::default();
        let mut dedicated = vk::MemoryDedicatedRequirements::default();
        let mut answer = vk::MemoryRequirements2::default().push_next(&mut dedicated);
        if with_tile {
            answer = answer.push_next(&mut tile);
        }
        ask(&mut answer);
        let needs = answer.memory_requirements;
        let required = dedicated.requires_dedicated_allocation;
        let preferred = dedicated.prefers_dedicated_allocation;
        let dedicated = match (required, preferred) {
            (vk::FALSE, vk::FALSE) => DedicatedRequirement::No,
            (vk::FALSE, _) => DedicatedRequirement::Preferred,
            _ => DedicatedRequirement::Required,
        };
        // Size and alignment 0 mean that the driver rejects it.
        let alignment = Alignment::new(tile.alignment).filter(|_| tile.size > 0);
        MemoryRequirements {
            size: Bytes(needs.size),
            alignment: Alignment::new(needs.alignment).unwrap_or(Alignment::ONE),
            memory_type_bits: needs.memory_type_bits,
            dedicated,
            tile: alignment.map(|alignment| TileRequirements {
                size: Bytes(tile.size),
                alignment,
            }),
        }
    }
}

/// Returns true if a chain has a structure of a type.
///
/// # Safety
/// The chain is valid.
unsafe fn has_structure(chain: *const c_void, wanted: vk::StructureType) -> bool {
    let mut next: *const vk::BaseInStructure<'_> = chain.cast();
    // SAFETY: the caller's duty: every structure begins with its type and the next one.
    while let Some(one) = unsafe { next.as_ref() } {
        if one.s_type == wanted {
            return true;
        }
        next = one.p_next;
    }
    false
}
