//! Devices: their life, what they enabled, and the state of tile memory on them.

use std::ffi::{CStr, c_char, c_void};
use std::sync::{Arc, LazyLock};

use ash::vk;
use ash::vk::{Handle, TaggedStructure};
use tileheap_device::ffi;

use crate::chain::{elements, find};
use crate::guard::down;
use crate::heap::Heap;
use crate::hooks::actions::ActionTable;
use crate::hooks::device::DeviceTable;
use crate::instance::{Instance, c_strings};
use crate::loader::{SetDeviceLoaderData, device_data_callback, dispatch_key, take_device_link};
use crate::messages::{MessageId, Reporter};
use crate::physical::{Emulation, Physical, is_own_extension};
use crate::resources::Resources;
use crate::settings::VALIDATION;
use crate::sharded::Sharded;
use crate::strip;
use crate::submit::Queues;
use crate::trace::Trace;

/// A device.
pub(crate) struct Device {
    pub(crate) handle: vk::Device,
    pub(crate) physical: Arc<Physical>,
    pub(crate) next: DeviceTable,
    pub(crate) actions: ActionTable,
    pub(crate) reporter: Reporter,
    pub(crate) enabled: Enabled,
    /// Images by handle, as far as their memory requirements need more than the driver's answer.
    pub(crate) resources: Resources,
    /// `None` where the feature is off: then nothing but memory types is emulated.
    pub(crate) tile: Option<Tile>,
    /// Makes dispatchable handles of the layer's own known to the loader.
    pub(crate) set_loader_data: Option<SetDeviceLoaderData>,
    log_counters: bool,
}

/// Which of the layer's extensions a device enabled, and what else matters. Commands can be looked up where their extension
/// is enabled; tile memory is there where its feature is, too.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Enabled {
    pub(crate) tile_memory_heap: bool,
    pub(crate) tile_properties: bool,
    pub(crate) tile_shading: bool,
    /// Buffers can have addresses, so memory must be allocated for that.
    pub(crate) buffer_device_address: bool,
}

impl Enabled {
    /// Whether one of the layer's extensions is enabled.
    pub(crate) fn any_of_own(&self) -> bool {
        self.tile_memory_heap || self.tile_properties || self.tile_shading
    }
}

/// The state of tile memory on a device.
pub(crate) struct Tile {
    pub(crate) heap: Heap,
    pub(crate) queues: Queues,
    pub(crate) trace: Option<Trace>,
    pub(crate) poison: bool,
}

static DEVICES: LazyLock<Sharded<Arc<Device>>> = LazyLock::new(Sharded::default);

/// The device of a handle that shares its dispatch key: its queues and command buffers do.
pub(crate) fn device_of(handle: impl Handle) -> Option<Arc<Device>> {
    // SAFETY: The application, or the layer above, passes a live handle.
    let key = unsafe { dispatch_key(handle.as_raw()) };
    DEVICES.get(key as u64)
}

/// Bytes of the tile heap that this process has allocated on a physical device. Objects share their bytes, so they are those of
/// the largest.
pub(crate) fn allocated_of_heap(physical: vk::PhysicalDevice) -> u64 {
    DEVICES.fold(0, |largest, device| {
        if device.physical.handle != physical {
            return largest;
        }
        device
            .resources
            .objects
            .fold(largest, |largest: u64, size| largest.max(*size))
    })
}

/// What the layer changes in a device's create info.
struct Request {
    names: Vec<*const c_char>,
    enabled: Enabled,
    /// The feature tileMemoryHeap is on.
    tile: bool,
    queue_count: u32,
    /// Tile memory on several queues takes a timeline semaphore.
    timeline: bool,
}

impl Device {
    /// Creates the device below without what is the layer's, and remembers it.
    ///
    /// # Safety
    /// The arguments are those of `vkCreateDevice`, with the loader's chain.
    pub(crate) unsafe fn create(
        instance: &Arc<Instance>,
        physical: &Arc<Physical>,
        info: &vk::DeviceCreateInfo<'_>,
        allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Device,
    ) -> vk::Result {
        if let Some(error) = physical.failure {
            return error;
        }
        // SAFETY: The caller's promise.
        let Some((look_up, device_look_up)) = (unsafe { take_device_link(info.p_next) }) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        // SAFETY: The caller's promise.
        let set_loader_data = unsafe { device_data_callback(info.p_next) };
        // SAFETY: The next layer's look-up, its instance and a C string.
        let create = unsafe { look_up(instance.handle, c"vkCreateDevice".as_ptr()) };
        let Some(create) = create else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        // SAFETY: The command of that name.
        let create =
            unsafe { std::mem::transmute::<unsafe extern "system" fn(), vk::PFN_vkCreateDevice>(create) };
        // SAFETY: The create info is valid.
        if physical.emulation.is_some() && unsafe { Emulation::is_asked_too_much(info.p_next) } {
            return vk::Result::ERROR_FEATURE_NOT_PRESENT;
        }
        // SAFETY: The create info is valid.
        let request = unsafe { Request::read(instance, physical, info) };
        // SAFETY: The create info is valid.
        let result = unsafe { request.create_below(physical, info, create, allocator, out) };
        if result != vk::Result::SUCCESS {
            return result;
        }
        // SAFETY: The next layer succeeded and so has written it.
        let handle = unsafe { *out };
        let ask = |name: &CStr| {
            // SAFETY: The next layer's look-up, the device it created and a C string.
            unsafe { device_look_up(handle, name.as_ptr()) }
        };
        // SAFETY: The look-up gives nothing or the command of the name.
        let next = unsafe { DeviceTable::load(ask) };
        // SAFETY: As above.
        let actions = unsafe { ActionTable::load(ask) };
        let emulated = physical.emulation.as_ref().filter(|_| request.tile);
        let settings = &instance.settings;
        let mut reporter = instance.reporter.fresh();
        let validation_is_below = emulated.is_some() && validation_is_below(instance, physical.handle);
        if validation_is_below {
            // There it checks none of what the application does with tile memory.
            reporter = reporter.with_rules(settings.report.beside_validation(false));
        }
        let tile = emulated.map(|emulation| Tile {
            heap: Heap::new(emulation.profile.tile.size.0),
            queues: Queues::new(request.timeline),
            trace: settings.trace.as_ref().map(|path| Trace::new(path, emulation)),
            poison: settings.poison,
        });
        let device = Device {
            handle,
            physical: physical.clone(),
            next,
            actions,
            reporter,
            enabled: request.enabled,
            resources: Resources::default(),
            tile,
            set_loader_data,
            log_counters: settings.counters,
        };
        if let Some(tile) = &device.tile
            && let Err(error) = tile.heap.probe(&device)
        {
            down!(device.next, vkDestroyDevice(handle, allocator));
            // SAFETY: Valid usage: room for a handle.
            unsafe { out.write(vk::Device::null()) };
            return error;
        }
        device.warn(&request, validation_is_below);
        // SAFETY: Just created.
        let key = unsafe { dispatch_key(handle.as_raw()) };
        DEVICES.insert(key as u64, Arc::new(device));
        result
    }

    fn warn(&self, request: &Request, validation_is_below: bool) {
        let Some(_) = &self.tile else { return };
        let about = (vk::ObjectType::DEVICE, self.handle.as_raw());
        if request.queue_count > 1 && !request.timeline {
            let text = "the driver has no timeline semaphores, so the emulator cannot keep tile memory of different \
                        queues apart: use it on one queue alone";
            self.reporter.report(MessageId::CannotEmulate, about, text);
        }
        if validation_is_below {
            let text = "validation sits below the emulator, where it sees no tile memory: list it before the emulator in \
                        VK_INSTANCE_LAYERS";
            self.reporter.report(MessageId::AboveValidation, about, text);
        }
    }

    /// Forgets the device; the caller closes and destroys it.
    pub(crate) fn forget(handle: vk::Device) -> Option<Arc<Device>> {
        // SAFETY: A live device.
        let key = unsafe { dispatch_key(handle.as_raw()) };
        DEVICES.remove(key as u64)
    }

    /// Waits for what the layer submitted, and destroys what it made.
    pub(crate) fn close(&self) {
        let Some(tile) = &self.tile else { return };
        if tile.heap.is_made() || tile.queues.have_semaphore() {
            let _ = down!(self.next, vkDeviceWaitIdle(self.handle));
        }
        tile.queues.destroy(self);
        tile.heap.destroy(self);
        crate::recording::forget_device(self.handle);
        let counts = self.reporter.counts();
        if let Some(trace) = &tile.trace {
            trace.close(&counts);
        }
        if self.log_counters {
            eprintln!("VK_LAYER_TILEHEAP_emulator: messages: {counts:?}");
        }
    }
}

impl Request {
    /// # Safety
    /// `info` is valid.
    unsafe fn read(instance: &Instance, physical: &Physical, info: &vk::DeviceCreateInfo<'_>) -> Request {
        // SAFETY: The caller's promise.
        let names = unsafe { elements(info.pp_enabled_extension_names, info.enabled_extension_count) };
        // SAFETY: As above.
        let enabled = unsafe { c_strings(info.pp_enabled_extension_names, info.enabled_extension_count) };
        // SAFETY: As above.
        let queues = unsafe { elements(info.p_queue_create_infos, info.queue_create_info_count) };
        let queue_count = queues.iter().map(|queues| queues.queue_count).sum();
        if physical.emulation.is_none() {
            return Request {
                names: names.to_vec(),
                enabled: Enabled::default(),
                tile: false,
                queue_count,
                timeline: false,
            };
        }
        let has = |wanted: &CStr| enabled.clone().any(|name| name == wanted);
        // SAFETY: The chain is valid.
        let feature = unsafe { find::<ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM<'_>>(info.p_next) };
        let tile_memory_heap = has(ffi::tile_memory_heap::NAME);
        let tile = tile_memory_heap && feature.is_some_and(|feature| feature.tile_memory_heap != 0);
        let timeline = tile && queue_count > 1 && has_timeline(instance, physical);
        let mut names: Vec<_> = names.iter().copied().zip(enabled.clone()).collect();
        names.retain(|(_, name)| !is_own_extension(name));
        let mut names: Vec<_> = names.into_iter().map(|(pointer, _)| pointer).collect();
        let semaphores = ash::khr::timeline_semaphore::NAME;
        if timeline && !has(semaphores) && physical.lists(semaphores) {
            names.push(semaphores.as_ptr());
        }
        Request {
            names,
            enabled: Enabled {
                tile_memory_heap,
                tile_properties: has(ffi::tile_properties::NAME),
                tile_shading: has(ffi::tile_shading::NAME),
                // SAFETY: The chain is valid.
                buffer_device_address: unsafe { has_addresses(info.p_next) },
            },
            tile,
            queue_count,
            timeline,
        }
    }

    /// # Safety
    /// `info` and `create`'s other arguments are those of `vkCreateDevice`.
    unsafe fn create_below(
        &self,
        physical: &Physical,
        info: &vk::DeviceCreateInfo<'_>,
        create: vk::PFN_vkCreateDevice,
        allocator: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::Device,
    ) -> vk::Result {
        if physical.emulation.is_none() {
            // SAFETY: The application's arguments.
            return unsafe { create(physical.handle, info, allocator, out) };
        }
        let features = [
            vk::PhysicalDeviceVulkan12Features::STRUCTURE_TYPE,
            vk::PhysicalDeviceTimelineSemaphoreFeatures::STRUCTURE_TYPE,
        ];
        let edited = if self.timeline { &features[..] } else { &[] };
        // SAFETY: The chain is valid and outlives the call.
        let mut chain = unsafe { strip::device_chain(info.p_next, edited) };
        let mut own = vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(true);
        if self.timeline {
            if let Some(features) = chain.copy_of::<vk::PhysicalDeviceVulkan12Features<'_>>() {
                features.timeline_semaphore = vk::TRUE;
            } else if let Some(features) = chain.copy_of::<vk::PhysicalDeviceTimelineSemaphoreFeatures<'_>>()
            {
                features.timeline_semaphore = vk::TRUE;
            } else {
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

fn has_timeline(instance: &Instance, physical: &Physical) -> bool {
    let mut timeline = vk::PhysicalDeviceTimelineSemaphoreFeatures::default();
    let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut timeline);
    down!(
        instance.next,
        vkGetPhysicalDeviceFeatures2(physical.handle, &mut features)
    );
    timeline.timeline_semaphore != 0
}

/// # Safety
/// `p_next` is a valid chain.
unsafe fn has_addresses(p_next: *const c_void) -> bool {
    // SAFETY: The caller's promise.
    let core = unsafe { find::<vk::PhysicalDeviceVulkan12Features<'_>>(p_next) };
    // SAFETY: The caller's promise.
    let khr = unsafe { find::<vk::PhysicalDeviceBufferDeviceAddressFeatures<'_>>(p_next) };
    core.is_some_and(|features| features.buffer_device_address != 0)
        || khr.is_some_and(|features| features.buffer_device_address != 0)
}

/// Whether one of the tools below says that it validates.
fn validation_is_below(instance: &Instance, handle: vk::PhysicalDevice) -> bool {
    let mut count = 0;
    let next = &instance.next;
    let asked = down!(
        next,
        vkGetPhysicalDeviceToolProperties(handle, &mut count, std::ptr::null_mut())
    );
    if asked != vk::Result::SUCCESS || count == 0 {
        return false;
    }
    let mut tools = vec![vk::PhysicalDeviceToolProperties::default(); count as usize];
    let given = down!(
        next,
        vkGetPhysicalDeviceToolProperties(handle, &mut count, tools.as_mut_ptr())
    );
    let validates = |tool: &vk::PhysicalDeviceToolProperties<'_>| tool.layer_as_c_str() == Ok(VALIDATION);
    given == vk::Result::SUCCESS && tools.iter().take(count as usize).any(validates)
}
