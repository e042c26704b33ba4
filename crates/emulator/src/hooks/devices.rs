//! Creates and destroys devices.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use ash::vk;
use ash::vk::TaggedStructure;
use serde_json::json;
use tileheap_device::ffi;
use tileheap_layer::arrays::{c_strings, read_array};
use tileheap_layer::loader::{device_creation, device_data_callback};
use tileheap_layer::ownership::{enables_maintenance9, implicit_transfers};
use tileheap_layer::{array, call_down, chained, entry_points, given, store};

use super::device::{Check, DEVICES, Device, EnabledExtensions, Tile, device_entry_points};
use super::driver::Driver;
use super::heap_memory::HeapMemory;
use super::instance::{Instance, physical_of};
use super::recorder;
use super::strip;
use super::tile_records::{TileRecords, TileShading};
use crate::model::descriptors::Descriptors;
use crate::model::objects::Object;
use crate::model::order::report::{FindingReporter, Verdicts};
use crate::model::order::tracker::Tracker;
use crate::model::resources::Resources;
use crate::model::submissions::Queues;
use crate::model::trace::Trace;
use crate::tables::action_commands::ActionTable;
use crate::tables::device_commands::DeviceTable;
use crate::tables::emulation::{self, Emulation, PhysicalDeviceInfo, is_own_extension};
use crate::tables::instance_commands::InstanceTable;
use crate::tables::messages::MessageId;
use crate::tables::settings::VALIDATION;

entry_points! {
    of InstanceTable:
    /// Removes the layer's extensions, adds those that it needs, and creates the device in the next layer.
    vkCreateDevice(handle, info, allocator, out) {
        let Some((instance, physical)) = physical_of(handle) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        let info = given!(info);
        // SAFETY: The arguments are the loader's.
        unsafe { create(&instance, &physical, info, allocator, out) }
    }
}

device_entry_points! {
    /// Waits for the layer's own work, destroys the layer's objects, and destroys the device in the next layer.
    vkDestroyDevice(handle, allocator) {
        if handle == vk::Device::null() {
            return;
        }
        if let Some(device) = DEVICES.remove(handle) {
            close(&device);
            call_down!(device.driver.commands, vkDestroyDevice(handle, allocator));
        }
    }
}

/// The layer's changes to a device's create info.
#[derive(Default)]
struct DeviceRequest {
    names: Vec<*const c_char>,
    enabled: EnabledExtensions,
    buffer_device_address: bool,
    /// True if `tileMemoryHeap` is enabled, or a tile shading feature that needs the state of command buffers and tile memory.
    needs_tile_state: bool,
    queue_count: u32,
    /// True if a timeline semaphore orders the queues that use tile memory.
    uses_timeline: bool,
    /// True if a structure that leaves timeline semaphores disabled comes after a structure of unknown size in the chain, so that
    /// the layer cannot enable them.
    timeline_is_out_of_reach: bool,
}

/// Creates the device in the next layer without the layer's extensions, and registers it.
///
/// # Safety
/// The arguments are those of `vkCreateDevice`, with the loader's chain.
unsafe fn create(
    instance: &Arc<Instance>,
    physical: &Arc<PhysicalDeviceInfo>,
    info: &vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Device,
) -> vk::Result {
    if let Some(error) = physical.failure {
        return error;
    }
    // SAFETY: The caller's promise.
    let Some((create, device_look_up)) = (unsafe { device_creation(instance.handle, info.p_next) }) else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: The caller's promise.
    let set_loader_data = unsafe { device_data_callback(info.p_next) };
    let offered = physical
        .emulation
        .as_ref()
        .map(Emulation::tile_shading)
        .is_none_or(|offered| emulation::offers_all(&offered, info.p_next));
    if !offered {
        return vk::Result::ERROR_FEATURE_NOT_PRESENT;
    }
    let request = DeviceRequest::read(instance, physical, info);
    // SAFETY: The create info is valid.
    let result = unsafe { request.create_below(physical, info, create, allocator, out) };
    if result != vk::Result::SUCCESS {
        return result;
    }
    let handle = *given!(out);
    let look_up_command = |name: &CStr| {
        // SAFETY: The next layer's look-up, the device it created and a C string.
        unsafe { device_look_up(handle, name.as_ptr()) }
    };
    // SAFETY: The look-up gives nothing or the command of the name.
    let commands = unsafe { DeviceTable::load(look_up_command) };
    // SAFETY: As above.
    let actions = unsafe { ActionTable::load(look_up_command) };
    let emulated = physical.emulation.as_ref().filter(|_| request.needs_tile_state);
    let settings = &instance.settings;
    let mut reporter = instance.reporter.of_device();
    let validation_is_below = emulated.is_some() && validation_is_below(instance, physical);
    if validation_is_below {
        // Below the layer it checks no use of tile memory by the application.
        reporter = reporter.with_rules(settings.report.beside_validation(false));
    }
    let verdicts = Verdicts {
        possible: settings.possible,
        pedantic: settings.pedantic,
    };
    let has_maintenance9 = enables_maintenance9(info);
    let check = (emulated.is_some() || settings.ordinary).then(|| Check {
        queues: Queues::new(request.uses_timeline),
        follows_order: settings.order,
        follows_ordinary: settings.ordinary,
        has_shared_memory: AtomicBool::new(false),
        tracker: Mutex::new({
            let finding_reporter = FindingReporter::new(verdicts, settings.repeats, reporter.names.clone());
            let mut tracker = Tracker::new(settings.order, finding_reporter, granularity(instance, physical));
            if has_maintenance9 {
                tracker.set_implicit_transfers(&transfers(instance, physical));
            }
            tracker
        }),
    });
    let tile = emulated.map(|emulation| Tile {
        heap: HeapMemory::new(emulation.profile.tile.size.0),
        trace: settings
            .trace
            .as_ref()
            .map(|path| Trace::new(path, &emulation.profile.name, emulation.profile.tile.size.0)),
        poison: settings.poison,
    });
    let mut device = Device {
        driver: Driver {
            handle,
            commands,
            actions,
            set_loader_data,
            buffer_device_address: request.buffer_device_address,
        },
        physical: physical.clone(),
        reporter,
        enabled: request.enabled,
        has_maintenance9,
        resources: Resources::default(),
        descriptors: Descriptors::default(),
        check,
        tile,
        tile_shading: None,
    };
    if let (Some(tile), Some(emulation)) = (&device.tile, &device.physical.emulation) {
        let probed = tile.heap.probe(&device.driver, &emulation.driver);
        let index = emulation.tile_record_set().filter(|_| request.enabled.per_tile);
        let shading = probed.and_then(|()| {
            index
                .map(|index| TileRecords::new(&device.driver, &emulation.driver, index))
                .transpose()
        });
        if let Err(error) = shading.map(|records| device.tile_shading = records.map(TileShading::new)) {
            call_down!(device.driver.commands, vkDestroyDevice(handle, allocator));
            store!(out, vk::Device::null());
            return error;
        }
    }
    device.reporter.write(json!({
        "event": "device", "profile": physical.emulation.as_ref().map(|emulation| &emulation.profile.name),
        "heap": physical.emulation.as_ref().map(|emulation| emulation.profile.tile.size.0),
        "isEmulated": device.physical.emulation.is_some(), "usesTileMemory": device.tile.is_some(),
        "checksOrdinaryMemory": settings.ordinary
    }));
    warn(&device, &request, validation_is_below);
    DEVICES.insert(handle, device);
    result
}

fn warn(device: &Device, request: &DeviceRequest, validation_is_below: bool) {
    let Some(_) = &device.tile else { return };
    let about = Object::of(device.driver.handle);
    if request.queue_count > 1 && !request.uses_timeline {
        let reason = if request.timeline_is_out_of_reach {
            "the feature timelineSemaphore is disabled in a structure that comes after one unknown to the emulator in the pNext chain: enable the feature, or move the structure to the front of the chain"
        } else {
            "the driver does not support timeline semaphores"
        };
        let text = format!(
            "the emulator cannot separate the tile memory of several queues, so use tile memory on only one queue: \
             {reason}"
        );
        device.reporter.report(MessageId::CannotEmulate, about, &text);
    }
    if validation_is_below {
        let text = "the validation layer is below the emulator and does not see tile memory";
        device.reporter.report(MessageId::AboveValidation, about, text);
    }
}

/// Reports the repeated mistakes of a device, waits for the layer's submissions, and destroys the layer's objects.
fn close(device: &Device) {
    if let Some(check) = &device.check {
        let repeated = check.tracker().repeated();
        device.reporter.report_repeated(&repeated);
    }
    let counts = device.reporter.counts();
    device.reporter.write(json!({"event": "end", "messages": counts}));
    let driver = &device.driver;
    recorder::forget_device(driver.handle);
    let (Some(check), Some(tile)) = (&device.check, &device.tile) else {
        return;
    };
    let order = std::mem::take(&mut *check.queues.order());
    if tile.heap.is_created() || device.tile_shading.is_some() || order.semaphore != vk::Semaphore::null() {
        let _ = call_down!(driver.commands, vkDeviceWaitIdle(driver.handle));
    }
    if order.semaphore != vk::Semaphore::null() {
        let next = &driver.commands;
        call_down!(next, vkDestroySemaphore(driver.handle, order.semaphore, null()));
    }
    tile.heap.destroy(driver);
    if let Some(shading) = &device.tile_shading {
        shading.records.destroy(driver);
    }
    if let Some(trace) = &tile.trace {
        trace.close(&counts);
    }
}
impl DeviceRequest {
    fn read(
        instance: &Instance,
        physical: &PhysicalDeviceInfo,
        info: &vk::DeviceCreateInfo<'_>,
    ) -> DeviceRequest {
        let names = array!(info.pp_enabled_extension_names, info.enabled_extension_count);
        // SAFETY: As above.
        let enabled = unsafe { c_strings(info.pp_enabled_extension_names, info.enabled_extension_count) };
        let queues = array!(info.p_queue_create_infos, info.queue_create_info_count);
        let queue_count = queues.iter().map(|queues| queues.queue_count).sum();
        if physical.emulation.is_none() {
            return DeviceRequest {
                names: names.to_vec(),
                queue_count,
                ..DeviceRequest::default()
            };
        }
        let has = |wanted: &CStr| enabled.clone().any(|name| name == wanted);
        let feature = chained!(info.p_next => ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM<'_>);
        let tile_memory_heap = has(ffi::tile_memory_heap::NAME);
        let per_tile = has(ffi::tile_shading::NAME) && emulation::wants_per_tile(info.p_next);
        let heap_feature = tile_memory_heap && feature.is_some_and(|feature| feature.tile_memory_heap != 0);
        // Work per tile needs the model of command buffers as well.
        let needs_tile_state = per_tile || heap_feature;
        let wants_timeline = needs_tile_state && queue_count > 1 && has_timeline(instance, physical);
        let is_out_of_reach = wants_timeline && timeline_is_out_of_reach(info.p_next);
        let uses_timeline = wants_timeline && !is_out_of_reach;
        let others = names
            .iter()
            .zip(enabled.clone())
            .filter(|(_, name)| !is_own_extension(name));
        let mut names: Vec<_> = others.map(|(pointer, _)| *pointer).collect();
        let semaphores = ash::khr::timeline_semaphore::NAME;
        if uses_timeline && !has(semaphores) && physical.has_extension(semaphores) {
            names.push(semaphores.as_ptr());
        }
        DeviceRequest {
            names,
            enabled: EnabledExtensions {
                tile_memory_heap,
                tile_properties: has(ffi::tile_properties::NAME),
                tile_shading: has(ffi::tile_shading::NAME),
                heap_feature,
                per_tile,
            },
            buffer_device_address: has_addresses(info.p_next),
            needs_tile_state,
            queue_count,
            uses_timeline,
            timeline_is_out_of_reach: is_out_of_reach,
        }
    }

    /// Creates the device in the next layer with the changes of this request.
    ///
    /// # Safety
    /// `info` and `create`'s other arguments are those of `vkCreateDevice`.
    unsafe fn create_below(
        &self,
        physical: &PhysicalDeviceInfo,
        info: &vk::DeviceCreateInfo<'_>,
        create: vk::PFN_vkCreateDevice,
        allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Device,
    ) -> vk::Result {
        if physical.emulation.is_none() {
            // SAFETY: The application's arguments.
            return unsafe { create(physical.handle, info, allocator, out) };
        }
        let edited = if self.uses_timeline {
            &TIMELINE_FEATURES[..]
        } else {
            &[]
        };
        let mut chain = strip::chain(info.p_next, edited);
        let mut own = vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(true);
        if self.uses_timeline {
            if let Some(features) = chain.copy_of::<vk::PhysicalDeviceVulkan12Features<'_>>() {
                features.timeline_semaphore = vk::TRUE;
            } else if let Some(features) = chain.copy_of::<vk::PhysicalDeviceTimelineSemaphoreFeatures<'_>>()
            {
                features.timeline_semaphore = vk::TRUE;
            } else if !enables_timeline(info.p_next) {
                chain.push(&mut own);
            }
        }
        let mut copy = *info;
        copy.p_next = chain.head();
        copy.enabled_extension_count = self.names.len() as u32;
        copy.pp_enabled_extension_names = self.names.as_ptr();
        // SAFETY: The application's arguments, and copies that outlive the call.
        unsafe { create(physical.handle, &copy, allocator, out) }
    }
}

/// Feature structures that enable timeline semaphores; a chain may contain only one of them
/// (VUID-VkDeviceCreateInfo-pNext-02830).
const TIMELINE_FEATURES: [vk::StructureType; 2] = [
    vk::PhysicalDeviceVulkan12Features::STRUCTURE_TYPE,
    vk::PhysicalDeviceTimelineSemaphoreFeatures::STRUCTURE_TYPE,
];

/// Evaluates to true if the chain enables a feature, through `VkPhysicalDeviceVulkan12Features` or the feature's own
/// structure.
macro_rules! enables {
    ($p_next:expr, $feature:ident, $other:ident) => {{
        let core = chained!($p_next => vk::PhysicalDeviceVulkan12Features<'_>);
        let other = chained!($p_next => vk::$other<'_>);
        core.is_some_and(|features| features.$feature != 0)
            || other.is_some_and(|features| features.$feature != 0)
    }};
}

/// Returns true if the application enables timeline semaphores.
fn enables_timeline(p_next: *const c_void) -> bool {
    enables!(
        p_next,
        timeline_semaphore,
        PhysicalDeviceTimelineSemaphoreFeatures
    )
}

/// Returns true if a chain contains a structure that leaves timeline semaphores disabled, in a place that the layer cannot copy. The layer cannot add
/// a second such structure: that would be invalid.
fn timeline_is_out_of_reach(p_next: *const c_void) -> bool {
    let core = chained!(p_next => vk::PhysicalDeviceVulkan12Features<'_>).is_some();
    let khr = chained!(p_next => vk::PhysicalDeviceTimelineSemaphoreFeatures<'_>).is_some();
    let mut chain = strip::chain(p_next, &TIMELINE_FEATURES);
    let is_copied = chain
        .copy_of::<vk::PhysicalDeviceVulkan12Features<'_>>()
        .is_some()
        || chain
            .copy_of::<vk::PhysicalDeviceTimelineSemaphoreFeatures<'_>>()
            .is_some();
    (core || khr) && !is_copied && !enables_timeline(p_next)
}

/// For each queue family, a mask of the families that can use its images with optimal tiling without an ownership transfer.
fn transfers(instance: &Instance, physical: &PhysicalDeviceInfo) -> Vec<u32> {
    implicit_transfers(|count, families| {
        call_down!(
            instance.next,
            vkGetPhysicalDeviceQueueFamilyProperties2(physical.handle, count, families)
        );
    })
}

/// The device's `bufferImageGranularity`.
fn granularity(instance: &Instance, physical: &PhysicalDeviceInfo) -> u64 {
    let mut properties = vk::PhysicalDeviceProperties::default();
    call_down!(
        instance.next,
        vkGetPhysicalDeviceProperties(physical.handle, &mut properties)
    );
    properties.limits.buffer_image_granularity
}

fn has_timeline(instance: &Instance, physical: &PhysicalDeviceInfo) -> bool {
    let mut timeline = vk::PhysicalDeviceTimelineSemaphoreFeatures::default();
    let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut timeline);
    let next = &instance.next;
    call_down!(next, vkGetPhysicalDeviceFeatures2(physical.handle, &mut features));
    timeline.timeline_semaphore != 0
}

fn has_addresses(p_next: *const c_void) -> bool {
    enables!(
        p_next,
        buffer_device_address,
        PhysicalDeviceBufferDeviceAddressFeatures
    )
}

/// Returns true if the validation layer is among the tools that the next layers report; false if the device does not
/// support the query.
fn validation_is_below(instance: &Instance, physical: &PhysicalDeviceInfo) -> bool {
    let (next, handle) = (&instance.next, physical.handle);
    let mut properties = vk::PhysicalDeviceProperties::default();
    call_down!(next, vkGetPhysicalDeviceProperties(handle, &mut properties));
    let version = instance.version.min(properties.api_version);
    if version < vk::API_VERSION_1_3 && !physical.has_extension(ash::ext::tooling_info::NAME) {
        return false;
    }
    let tools =
        read_array(|count, out| call_down!(next, vkGetPhysicalDeviceToolProperties(handle, count, out)));
    let validates = |tool: &vk::PhysicalDeviceToolProperties<'_>| tool.layer_as_c_str() == Ok(VALIDATION);
    tools.is_ok_and(|tools| tools.iter().any(validates))
}
