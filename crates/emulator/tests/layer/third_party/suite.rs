//! A small copy of a test suite's framework: how it starts, what it queries of every device before a test, how it receives messages.
//!
//! ```text
//! instance: validation, the emulator, a messenger from the first call on        Ask::version is its version, and the device's
//!   └ physical device: extensions of it and of every layer, features in chains
//!       └ device: every queue of every family, then all formats, a pool, a command buffer
//! ```
//! As those frameworks do, a listener stops the call that a message is about: validation then does not hand it down. It is tried
//! both ways, so that the layer meets the mistakes themselves, too.

use std::ffi::{CStr, c_void};
use std::sync::Mutex;

use ash::vk;
use tileheap_device::ffi;
use tileheap_emulator::LAYER_NAME;

use crate::rig::{LayerSettings, Message, is_validated, prepare_environment};

const VALIDATION: &CStr = c"VK_LAYER_KHRONOS_validation";

/// The profiles of the emulator, the default one first.
pub(crate) const PROFILES: [&str; 6] = [
    "adreno-830",
    "adreno-840",
    "x2-85",
    "validation-icd",
    "hostile",
    "generous",
];

/// What a test requires; a suite skips a test without it, and here that is a failure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask<'a> {
    pub(crate) version: u32,
    pub(crate) instance_extensions: &'a [&'a CStr],
    /// Beside `VK_QCOM_tile_memory_heap`.
    pub(crate) extensions: &'a [&'a CStr],
    pub(crate) tile_memory_heap: bool,
    pub(crate) tile_properties: bool,
    pub(crate) tile_shading: bool,
    pub(crate) dynamic_rendering: bool,
    pub(crate) imageless_framebuffer: bool,
}

impl Ask<'_> {
    /// The extension with its feature, on that version of Vulkan.
    pub(crate) const fn tile_memory(version: u32) -> Ask<'static> {
        Ask {
            tile_memory_heap: true,
            ..Ask::without_feature(version)
        }
    }

    /// The extension without its feature.
    pub(crate) const fn without_feature(version: u32) -> Ask<'static> {
        Ask {
            version,
            instance_extensions: &[],
            extensions: &[],
            tile_memory_heap: false,
            tile_properties: false,
            tile_shading: false,
            dynamic_rendering: false,
            imageless_framebuffer: false,
        }
    }
}

/// What listens.
struct Monitor {
    /// Whether a call goes no further than the layer that has something to say of it.
    stops: bool,
    messages: Mutex<Vec<Message>>,
}

unsafe extern "system" fn listen(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    monitor: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: A layer hands over valid data, with C strings or null.
    let (id, text) = unsafe { ((*data).message_id_name_as_c_str(), (*data).message_as_c_str()) };
    let text_of = |text: Option<&CStr>| text.unwrap_or_default().to_string_lossy().into_owned();
    // SAFETY: The suite keeps the monitor until after the instance.
    let monitor = unsafe { &*monitor.cast::<Monitor>() };
    let id = text_of(id);
    // Suites count errors, and run without the validation of synchronization that every program of the test bed has. Of the emulator
    // a warning counts, too.
    let counts = id.starts_with("TILEHEAP-")
        || severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR) && !id.starts_with("SYNC-");
    if !counts {
        return vk::FALSE;
    }
    monitor
        .messages
        .lock()
        .expect("no panic in here")
        .push((id, text_of(text)));
    vk::Bool32::from(monitor.stops)
}

/// Destroys what was made.
type Destroy = Box<dyn FnOnce(&ash::Device)>;

/// A device as a suite has it, and what a test made on it.
pub(crate) struct Suite {
    pub(crate) profile: &'static str,
    pub(crate) instance: ash::Instance,
    pub(crate) physical: vk::PhysicalDevice,
    pub(crate) device: ash::Device,
    pub(crate) types: vk::PhysicalDeviceMemoryProperties,
    pub(crate) pool: vk::CommandPool,
    pub(crate) commands: vk::CommandBuffer,
    made: Mutex<Vec<Destroy>>,
    messenger: (ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT),
    monitor: Box<Monitor>,
    _entry: ash::Entry,
}

/// Runs a scenario on every profile, and below validation on the default one with calls stopped, too.
pub(crate) fn on_every_profile(ask: &Ask<'_>, scenario: impl Fn(&Suite)) {
    for profile in PROFILES {
        let ways: &[bool] = if is_validated() && profile == PROFILES[0] {
            &[true, false]
        } else {
            &[false]
        };
        for stops in ways {
            let suite = Suite::start(ask, profile, *stops);
            scenario(&suite);
            suite.finish();
        }
    }
}

/// Has the commands of `$module` of ash, for an extension of a device.
macro_rules! commands_of {
    ($suite:expr, $($module:ident)::+) => {
        ash::$($module)::+::Device::new(&$suite.instance, &$suite.device)
    };
}
pub(crate) use commands_of;

impl Suite {
    /// # Panics
    /// Where a suite would skip the test, and where anything is said.
    pub(crate) fn start(ask: &Ask<'_>, profile: &'static str, stops: bool) -> Suite {
        prepare_environment();
        let monitor = Box::new(Monitor {
            stops,
            messages: Mutex::default(),
        });
        let (entry, instance) = create_instance(ask, profile, &monitor);
        // SAFETY: A live instance; every structure outlives the call that it is for.
        unsafe {
            let utils = ash::ext::debug_utils::Instance::new(&entry, &instance);
            let messenger = utils
                .create_debug_utils_messenger(&listener(&monitor), None)
                .expect("a messenger");
            let physical = instance.enumerate_physical_devices().expect("devices")[0];
            let version = instance.get_physical_device_properties(physical).api_version;
            assert!(version >= ask.version, "the device is older than the test");
            let device = create_device(&instance, physical, ask);
            let families = instance.get_physical_device_queue_family_properties(physical);
            for (family, count) in (0u32..).zip(families.iter().map(|family| family.queue_count)) {
                for index in 0..count {
                    assert_ne!(device.get_device_queue(family, index), vk::Queue::null());
                }
            }
            // Every format of Vulkan 1.0.
            let formats = (0..=184).map(vk::Format::from_raw);
            let known = formats
                .map(|format| instance.get_physical_device_format_properties(physical, format))
                .filter(|format| !format.optimal_tiling_features.is_empty());
            assert!(known.count() > 50, "a driver without formats");
            let graphics = families
                .iter()
                .position(|family| family.queue_flags.contains(vk::QueueFlags::GRAPHICS));
            let info = vk::CommandPoolCreateInfo::default()
                .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
                .queue_family_index(graphics.expect("a graphics queue") as u32);
            let pool = device.create_command_pool(&info, None).expect("a pool");
            let suite = Suite {
                profile,
                types: instance.get_physical_device_memory_properties(physical),
                commands: allocate(&device, pool, vk::CommandBufferLevel::PRIMARY),
                instance,
                physical,
                device,
                pool,
                made: Mutex::default(),
                messenger: (utils, messenger),
                monitor,
                _entry: entry,
            };
            suite.hear(&[], "the start");
            suite
        }
    }

    /// Whether a call about which something is said goes no further.
    pub(crate) fn stops(&self) -> bool {
        is_validated() && self.monitor.stops
    }

    /// What was said since the last time, which must be this and nothing else.
    fn hear(&self, expected: &[&str], what: &str) {
        let said = std::mem::take(&mut *self.monitor.messages.lock().expect("no panic while collecting"));
        if !is_validated() {
            // Then it is the emulator that speaks of mistakes, and has tests of that elsewhere.
            return;
        }
        let mut ids: Vec<_> = said.iter().map(|(id, _)| id.as_str()).collect();
        let mut expected = expected.to_vec();
        ids.sort_unstable();
        expected.sort_unstable();
        assert_eq!(ids, expected, "{what}, profile {}: {said:#?}", self.profile);
    }

    /// What `call` gives; validation must have said these of it, each so often, and nobody anything else.
    pub(crate) fn expect<T>(&self, expected: &[&str], call: impl FnOnce(&ash::Device) -> T) -> T {
        self.hear(&[], "before a call");
        let answer = call(&self.device);
        self.hear(expected, "a call");
        answer
    }

    /// Something was made that goes in the end, before what was made before it.
    pub(crate) fn made<T: Copy + 'static>(
        &self,
        object: T,
        destroy: impl FnOnce(&ash::Device, T) + 'static,
    ) -> T {
        self.made
            .lock()
            .expect("no panic while creating")
            .push(Box::new(move |device| destroy(device, object)));
        object
    }

    /// The first type of these bits that is device local and of a heap of this kind with room for `size` bytes: as suites choose.
    ///
    /// # Panics
    /// Where a suite would skip the test.
    pub(crate) fn tile_type(&self, bits: u32, size: u64) -> u32 {
        let found = (0u32..)
            .zip(self.types.memory_types_as_slice())
            .find(|(index, kind)| {
                let heap = self.types.memory_heaps[kind.heap_index as usize];
                bits >> index & 1 == 1
                    && kind
                        .property_flags
                        .contains(vk::MemoryPropertyFlags::DEVICE_LOCAL)
                    && heap.flags.contains(ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM)
                    && heap.size >= size
            });
        let why = format!(
            "profile {}: no tile type for {size} B in 0b{bits:b}",
            self.profile
        );
        found.expect(&why).0
    }

    /// The size of the largest tile heap.
    pub(crate) fn heap_size(&self) -> u64 {
        let heaps = self.types.memory_heaps_as_slice().iter();
        let tile = heaps.filter(|heap| heap.flags.contains(ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM));
        tile.map(|heap| heap.size).max().expect("a tile heap")
    }

    /// Allocates.
    pub(crate) fn allocate(&self, size: u64, memory_type: u32) -> vk::DeviceMemory {
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(size)
            .memory_type_index(memory_type);
        // SAFETY: A type of the device.
        let memory = unsafe { self.device.allocate_memory(&info, None) }.expect("memory");
        // SAFETY: Whatever was bound to it is gone by then.
        self.made(memory, |device, memory| unsafe {
            device.free_memory(memory, None)
        })
    }

    pub(crate) fn allocate_commands(&self, level: vk::CommandBufferLevel) -> vk::CommandBuffer {
        allocate(&self.device, self.pool, level)
    }

    /// The test's command buffer begins anew.
    pub(crate) fn begin(&self) -> vk::CommandBuffer {
        // SAFETY: Not pending.
        unsafe {
            self.device
                .begin_command_buffer(self.commands, &vk::CommandBufferBeginInfo::default())
        }
        .expect("recording begins");
        self.commands
    }

    /// The command that the extension adds.
    pub(crate) fn binder(&self) -> ffi::tile_memory_heap::Device {
        ffi::tile_memory_heap::Device::new(&self.instance, &self.device).expect("vkCmdBindTileMemoryQCOM")
    }

    /// Destroys everything; command buffers first, whatever state they are in.
    fn finish(self) {
        // SAFETY: Idle, users before what they use.
        unsafe {
            self.device.device_wait_idle().expect("an idle device");
            self.device.destroy_command_pool(self.pool, None);
            let made = std::mem::take(&mut *self.made.lock().expect("no panic while creating"));
            for destroy in made.into_iter().rev() {
                destroy(&self.device);
            }
            self.device.destroy_device(None);
        }
        self.hear(&[], "the end");
        let (utils, messenger) = &self.messenger;
        // SAFETY: The device is gone.
        unsafe {
            utils.destroy_debug_utils_messenger(*messenger, None);
            self.instance.destroy_instance(None);
        }
        self.hear(&[], "the end of the instance");
    }
}

fn allocate(device: &ash::Device, pool: vk::CommandPool, level: vk::CommandBufferLevel) -> vk::CommandBuffer {
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(pool)
        .level(level)
        .command_buffer_count(1);
    // SAFETY: A pool of the device.
    unsafe { device.allocate_command_buffers(&info) }.expect("a command buffer")[0]
}

fn listener(monitor: &Monitor) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    use vk::DebugUtilsMessageSeverityFlagsEXT as S;
    use vk::DebugUtilsMessageTypeFlagsEXT as T;
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(S::ERROR | S::WARNING)
        .message_type(T::VALIDATION | T::PERFORMANCE)
        .pfn_user_callback(Some(listen))
        .user_data(std::ptr::from_ref(monitor).cast_mut().cast())
}

fn create_instance(ask: &Ask<'_>, profile: &str, monitor: &Monitor) -> (ash::Entry, ash::Instance) {
    // Nothing else is set: `report` is what it is by default.
    let settings = LayerSettings::new(&[("profile", profile)]);
    let structures = settings.structures();
    let mut layer_settings = vk::LayerSettingsCreateInfoEXT::default().settings(&structures);
    let mut listener = listener(monitor);
    let application = vk::ApplicationInfo::default()
        .application_name(c"layer tests")
        .api_version(ask.version);
    let mut layers = vec![LAYER_NAME.as_ptr()];
    if is_validated() {
        layers.insert(0, VALIDATION.as_ptr());
    }
    let extensions = [&[ash::ext::debug_utils::NAME], ask.instance_extensions].concat();
    let extensions: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
    let info = vk::InstanceCreateInfo::default()
        .application_info(&application)
        .enabled_layer_names(&layers)
        .enabled_extension_names(&extensions)
        .push_next(&mut layer_settings)
        .push_next(&mut listener);
    // SAFETY: The library found is a loader; all names are C strings, and the monitor outlives the instance.
    unsafe {
        let entry = ash::Entry::load().expect("a Vulkan loader");
        let instance = entry.create_instance(&info, None).expect("an instance");
        (entry, instance)
    }
}

/// Every extension that the device has by itself or by a layer.
fn extensions_of(instance: &ash::Instance, physical: vk::PhysicalDevice) -> Vec<vk::ExtensionProperties> {
    let enumerate = instance.fp_v1_0().enumerate_device_extension_properties;
    let mut all = Vec::new();
    for layer in [std::ptr::null(), LAYER_NAME.as_ptr()] {
        let mut count = 512;
        let mut some = vec![vk::ExtensionProperties::default(); count as usize];
        // SAFETY: A live device; null or a C string, and room for so many.
        let listed = unsafe { enumerate(physical, layer, &mut count, some.as_mut_ptr()) };
        assert_eq!(listed, vk::Result::SUCCESS);
        all.extend_from_slice(&some[..count as usize]);
    }
    all
}

/// The device that a test asked for, with every queue.
fn create_device(instance: &ash::Instance, physical: vk::PhysicalDevice, ask: &Ask<'_>) -> ash::Device {
    let names = [&[ffi::tile_memory_heap::NAME], ask.extensions].concat();
    let known = extensions_of(instance, physical);
    for name in &names {
        let is_known = known
            .iter()
            .any(|known| known.extension_name_as_c_str() == Ok(*name));
        assert!(is_known, "a suite would skip: there is no {name:?}");
    }
    let mut tile = ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM::default();
    let mut tiles = vk::PhysicalDeviceTilePropertiesFeaturesQCOM::default();
    let mut shading = ffi::PhysicalDeviceTileShadingFeaturesQCOM::default();
    let mut dynamic = vk::PhysicalDeviceDynamicRenderingFeatures::default();
    let mut imageless = vk::PhysicalDeviceImagelessFramebufferFeatures::default();
    macro_rules! chained {
        ($head:expr) => {{
            let mut head = $head;
            if ask.tile_memory_heap {
                head = head.push_next(&mut tile);
            }
            if ask.tile_properties {
                head = head.push_next(&mut tiles);
            }
            if ask.tile_shading {
                head = head.push_next(&mut shading);
            }
            if ask.dynamic_rendering {
                head = head.push_next(&mut dynamic);
            }
            if ask.imageless_framebuffer {
                head = head.push_next(&mut imageless);
            }
            head
        }};
    }
    if ask.version >= vk::API_VERSION_1_1 {
        let mut features = chained!(vk::PhysicalDeviceFeatures2::default());
        // SAFETY: A live device of Vulkan 1.1 or later.
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
    }
    // The query's chain is done with.
    let null = std::ptr::null_mut();
    (tile.p_next, tiles.p_next, shading.p_next) = (null, null, null);
    (dynamic.p_next, imageless.p_next) = (null, null);
    // What is asked for must be there, and nothing else is enabled.
    let wanted = [
        (ask.tile_memory_heap, tile.tile_memory_heap),
        (ask.tile_properties, tiles.tile_properties),
        (ask.tile_shading, shading.tile_shading),
        (ask.dynamic_rendering, dynamic.dynamic_rendering),
        (ask.imageless_framebuffer, imageless.imageless_framebuffer),
    ];
    for (wanted, there) in wanted {
        assert_eq!(vk::Bool32::from(wanted), there, "a suite would skip: {ask:?}");
    }
    // SAFETY: A live device.
    let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
    let priorities: Vec<_> = families
        .iter()
        .map(|family| vec![0.0; family.queue_count as usize])
        .collect();
    let queues: Vec<_> = (0u32..)
        .zip(&priorities)
        .map(|(family, priorities)| {
            vk::DeviceQueueCreateInfo::default()
                .queue_family_index(family)
                .queue_priorities(priorities)
        })
        .collect();
    let names: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
    let info = chained!(
        vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
    );
    // SAFETY: A valid create info of this device.
    unsafe { instance.create_device(physical, &info, None) }.expect("a device")
}
