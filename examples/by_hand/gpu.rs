//! Device setup and memory requirements with plain `ash`.

use std::ffi::CStr;
use std::sync::{Arc, Mutex};

use ash::vk;
use gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
use gpu_allocator::{AllocationSizes, AllocatorDebugSettings};
use tileheap::ffi::{self, tile_memory_heap};
use tileheap::frame::tables::{Resource, ResourceKind};
use tileheap::frame::{Frame, Persistence};
use tileheap::measure::{DedicatedRequirement, Requirements, ResourceRequirements};
use tileheap::profile::{
    DeviceProfile, Features, Limits, MemoryHeap, MemoryType, TileHeap, TileRequirements,
};
use tileheap::units::{Alignment, Bytes};

use crate::support::error::{Called, Result, anyhow, no_device};

/// A device with one queue, and its profile.
pub(crate) struct Gpu {
    _entry: ash::Entry,
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    pub(crate) device: ash::Device,
    pub(crate) memory: vk::PhysicalDeviceMemoryProperties,
    pub(crate) queue: vk::Queue,
    pub(crate) family: u32,
    /// The functions of tile memory; `None` if there is none.
    pub(crate) tile: Option<tile_memory_heap::Device>,
    pub(crate) profile: Arc<DeviceProfile>,
    /// `None` once the allocator is destroyed.
    pub(crate) allocator: Mutex<Option<Allocator>>,
}

impl Gpu {
    /// Opens a device with Vulkan 1.3, with tile memory if available.
    pub(crate) fn new(number: usize, tile_memory: bool) -> Result<Gpu> {
        // SAFETY: the loader is the system's.
        let entry = unsafe { ash::Entry::load() }.map_err(no_device)?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: the infos are complete.
        let instance = unsafe { entry.create_instance(&info, None) }.called("vkCreateInstance")?;
        // SAFETY: the instance is alive.
        let devices =
            unsafe { instance.enumerate_physical_devices() }.called("vkEnumeratePhysicalDevices")?;
        let physical = devices.get(number).copied();
        let count = devices.len();
        let physical =
            physical.ok_or_else(|| no_device(format!("device {number} is out of range: devices are counted from 0, and the number of devices is {count}")))?;
        // SAFETY: the physical device is one of the instance.
        let (properties, memory, families, extensions) = unsafe {
            (
                instance.get_physical_device_properties(physical),
                instance.get_physical_device_memory_properties(physical),
                instance.get_physical_device_queue_family_properties(physical),
                instance.enumerate_device_extension_properties(physical),
            )
        };
        if properties.api_version < vk::API_VERSION_1_3 {
            return Err(no_device("the device does not support Vulkan 1.3"));
        }
        let wanted = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
        let mut families = (0..).zip(&families);
        let family = families.find(|(_, family)| family.queue_flags.contains(wanted));
        let (family, _) =
            family.ok_or_else(|| no_device("no queue family supports both graphics and compute"))?;
        let extensions = extensions.called("vkEnumerateDeviceExtensionProperties")?;
        let lists = |name: &CStr| {
            extensions
                .iter()
                .any(|one| one.extension_name_as_c_str() == Ok(name))
        };
        let tile_memory = tile_memory && lists(tile_memory_heap::NAME);

        let queue = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(family)
            .queue_priorities(&[1.0])];
        let names: Vec<_> = tile_memory
            .then_some(tile_memory_heap::NAME.as_ptr())
            .into_iter()
            .collect();
        let mut of_1_2 = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true);
        let mut of_1_3 = vk::PhysicalDeviceVulkan13Features::default()
            .synchronization2(true)
            .dynamic_rendering(true)
            .maintenance4(true);
        let mut of_tile = ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM::default().tile_memory_heap(true);
        let mut info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queue)
            .enabled_extension_names(&names)
            .push_next(&mut of_1_2)
            .push_next(&mut of_1_3);
        if tile_memory {
            info = info.push_next(&mut of_tile);
        }
        // SAFETY: the family has a queue, and the features are those of Vulkan 1.3 and of the extension.
        let device = unsafe { instance.create_device(physical, &info, None) }.called("vkCreateDevice")?;
        // SAFETY: the device was created with it.
        let queue = unsafe { device.get_device_queue(family, 0) };
        let tile = match tile_memory {
            true => {
                Some(tile_memory_heap::Device::new(&instance, &device).map_err(|error| anyhow!("{error}"))?)
            }
            false => None,
        };
        let profile = profile(&instance, physical, (&properties, &memory), tile_memory)?;
        let desc = AllocatorCreateDesc {
            instance: instance.clone(),
            device: device.clone(),
            physical_device: physical,
            debug_settings: AllocatorDebugSettings::default(),
            buffer_device_address: false,
            allocation_sizes: AllocationSizes::default(),
        };
        Ok(Gpu {
            allocator: Mutex::new(Some(Allocator::new(&desc)?)),
            _entry: entry,
            instance,
            physical,
            device,
            memory,
            queue,
            family,
            tile,
            profile: Arc::new(profile),
        })
    }

    /// The requirements of every resource of a frame, queried without creating it.
    pub(crate) fn requirements(&self, frame: &Frame) -> Result<Requirements> {
        let resources = frame.resources().iter().map(|resource| {
            let (needs, dedicated, _) = self.ask(resource, false);
            let tile = self.profile.tile.map(|tile| (tile, self.ask(resource, true)));
            let tile = tile.filter(|(tile, (needs, ..))| needs.memory_type_bits >> tile.memory_type & 1 == 1);
            Ok(ResourceRequirements {
                size: Bytes(needs.size),
                alignment: alignment(needs.alignment)?,
                memory_type_bits: needs.memory_type_bits,
                dedicated,
                tile: tile.and_then(|(_, (.., tile))| tile),
                lazy_type_bits: 0,
            })
        });
        let resources = resources.collect::<Result<_>>()?;
        Ok(Requirements {
            resources,
            profile: None,
        })
    }

    fn ask(
        &self,
        resource: &Resource,
        in_tile: bool,
    ) -> (
        vk::MemoryRequirements,
        DedicatedRequirement,
        Option<TileRequirements>,
    ) {
        let mut of_tile = ffi::TileMemoryRequirementsQCOM::default();
        let mut dedicated = vk::MemoryDedicatedRequirements::default();
        let mut needs = vk::MemoryRequirements2::default().push_next(&mut dedicated);
        if in_tile {
            needs = needs.push_next(&mut of_tile);
        }
        // The initial contents of histories are cleared.
        let cleared = resource.persistence == Persistence::History;
        match resource.kind {
            ResourceKind::Image {
                desc,
                extent,
                mut usage,
            } => {
                if in_tile {
                    usage |= ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
                } else if cleared {
                    usage |= vk::ImageUsageFlags::TRANSFER_DST;
                }
                let info = vk::ImageCreateInfo::default()
                    .flags(desc.flags)
                    .image_type(desc.image_type)
                    .format(desc.format)
                    .extent(extent)
                    .mip_levels(desc.mip_levels)
                    .array_layers(desc.array_layers)
                    .samples(desc.samples)
                    .usage(usage);
                let question = vk::DeviceImageMemoryRequirements::default().create_info(&info);
                if !in_tile || self.supports(&info) {
                    // SAFETY: the feature maintenance4 is on.
                    unsafe {
                        self.device
                            .get_device_image_memory_requirements(&question, &mut needs)
                    };
                }
            }
            ResourceKind::Buffer { desc, mut usage } => {
                if in_tile {
                    usage |= ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
                } else if cleared {
                    usage |= vk::BufferUsageFlags::TRANSFER_DST;
                }
                let info = vk::BufferCreateInfo::default().size(desc.size.0).usage(usage);
                let question = vk::DeviceBufferMemoryRequirements::default().create_info(&info);
                let allowed = !in_tile || self.profile.tile.is_some_and(|tile| tile.buffer(&info).is_some());
                if allowed {
                    // SAFETY: as above; the usage is one that tile memory permits (VUID-VkBufferCreateInfo-usage-10764).
                    unsafe {
                        self.device
                            .get_device_buffer_memory_requirements(&question, &mut needs)
                    };
                }
            }
        }
        let needs = needs.memory_requirements;
        let dedicated = match (
            dedicated.requires_dedicated_allocation,
            dedicated.prefers_dedicated_allocation,
        ) {
            (vk::TRUE, _) => DedicatedRequirement::Required,
            (_, vk::TRUE) => DedicatedRequirement::Preferred,
            _ => DedicatedRequirement::No,
        };
        let tile = Alignment::new(of_tile.alignment).filter(|_| of_tile.size > 0);
        let tile = tile.map(|alignment| TileRequirements {
            size: Bytes(of_tile.size),
            alignment,
        });
        (needs, dedicated, tile)
    }
}

impl Gpu {
    /// Returns true if the driver supports images with this create info; it may support fewer in tile memory.
    fn supports(&self, info: &vk::ImageCreateInfo<'_>) -> bool {
        let question = vk::PhysicalDeviceImageFormatInfo2::default()
            .format(info.format)
            .ty(info.image_type)
            .tiling(info.tiling)
            .usage(info.usage)
            .flags(info.flags);
        let mut answer = vk::ImageFormatProperties2::default();
        // SAFETY: the physical device is one of the instance.
        let asked = unsafe {
            self.instance
                .get_physical_device_image_format_properties2(self.physical, &question, &mut answer)
        };
        asked.is_ok()
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // The allocator frees its blocks first.
        drop(self.allocator.lock().map(|mut allocator| allocator.take()));
        // SAFETY: everything that was created on them is destroyed.
        unsafe {
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

fn alignment(bytes: u64) -> Result<Alignment> {
    Alignment::new(bytes).ok_or_else(|| anyhow!("the driver reports an alignment of 0"))
}

/// Builds the device's profile for planning.
fn profile(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    (properties, memory): (&vk::PhysicalDeviceProperties, &vk::PhysicalDeviceMemoryProperties),
    tile_memory: bool,
) -> Result<DeviceProfile> {
    let mut maintenance3 = vk::PhysicalDeviceMaintenance3Properties::default();
    let mut of_tile = ffi::PhysicalDeviceTileMemoryHeapPropertiesQCOM::default();
    let mut more = vk::PhysicalDeviceProperties2::default().push_next(&mut maintenance3);
    if tile_memory {
        more = more.push_next(&mut of_tile);
    }
    // SAFETY: the physical device is one of the instance, and supports the chained structures.
    unsafe { instance.get_physical_device_properties2(physical, &mut more) };
    let limits = &properties.limits;
    let mut profile = DeviceProfile::preset("no-tile-memory")?;
    profile.name = properties.device_name_as_c_str()?.to_string_lossy().into_owned();
    profile.source = "read by hand".to_owned();
    let heaps = memory.memory_heaps_as_slice().iter();
    profile.heaps = heaps
        .map(|heap| MemoryHeap {
            size: Bytes(heap.size),
            flags: heap.flags,
        })
        .collect();
    let types = memory.memory_types_as_slice().iter();
    profile.memory_types = types
        .map(|kind| MemoryType {
            flags: kind.property_flags,
            heap: kind.heap_index,
        })
        .collect();
    profile.limits = Limits {
        buffer_image_granularity: alignment(limits.buffer_image_granularity)?,
        max_allocation: Bytes(maintenance3.max_memory_allocation_size),
        max_image_dimension_2d: limits.max_image_dimension2_d,
        max_color_attachments: limits.max_color_attachments,
        ..Limits::UNKNOWN
    };
    profile.features = Features::SYNCHRONIZATION_2
        | Features::DYNAMIC_RENDERING
        | Features::TIMELINE_SEMAPHORE
        | Features::MAINTENANCE_4
        | Features::STORE_OP_NONE;
    if tile_memory {
        let mut heaps = (0..).zip(&profile.heaps);
        let heap = heaps.find(|(_, heap)| heap.flags.contains(ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM));
        let (heap, size) = heap
            .map(|(index, heap)| (index, heap.size))
            .ok_or_else(|| anyhow!("no tile heap"))?;
        let on_heap = profile.memory_types.iter().position(|kind| kind.heap == heap);
        profile.tile = Some(TileHeap {
            heap,
            memory_type: on_heap.ok_or_else(|| anyhow!("no memory type belongs to the tile heap"))? as u32,
            size,
            queue_submit_boundary: of_tile.queue_submit_boundary == vk::TRUE,
            buffer_transfers: of_tile.tile_buffer_transfers == vk::TRUE,
            block: DeviceProfile::preset("adreno-830")?
                .tile
                .expect("it has tile memory")
                .block,
        });
    }
    profile.validate()?;
    Ok(profile)
}
