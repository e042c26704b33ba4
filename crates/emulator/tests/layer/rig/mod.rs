//! A small Vulkan application: the layer through the loader, tile memory objects, and work whose results can be read.
//!
//! The layer is the one that `scripts/stage-emulator.sh` put into `target/emulator`, or into `TILEHEAP_EMULATOR`. In a
//! validated run (`TILEHEAP_VALIDATE=1`) validation sits above it, is new enough, and has reported a deliberate mistake.
#![allow(unreachable_pub, reason = "a module of a test program")]

pub use tileheap_testkit::glsl;
mod objects;
mod work;

use std::ffi::{CStr, CString, c_void};
use std::path::PathBuf;
use std::sync::{Mutex, Once};

use ash::vk;
use tileheap_device::ffi;
use tileheap_emulator::LAYER_NAME;

pub use objects::HostBuffer;
pub use tileheap_testkit::skip;
pub use work::{CLEAR, CLEARED, COPY, Descriptor, FILL, Operations, Pipeline, SIDE, whole};

/// The oldest validation layer that knows all rules of tile memory.
const OLDEST_VALIDATION: u32 = vk::make_api_version(0, 1, 4, 341);

/// A message: its id, and its text.
pub type Message = (String, String);

/// An instance and a device with tile memory.
pub struct Rig {
    pub entry: ash::Entry,
    pub instance: ash::Instance,
    pub physical: vk::PhysicalDevice,
    pub device: ash::Device,
    pub queue: vk::Queue,
    pub family: u32,
    pub tile: ffi::tile_memory_heap::Device,
    pub types: vk::PhysicalDeviceMemoryProperties,
    pub pool: vk::CommandPool,
    pub sets: vk::DescriptorPool,
    utils: ash::ext::debug_utils::Instance,
    messenger: vk::DebugUtilsMessengerEXT,
    messages: Box<Mutex<Vec<Message>>>,
    owned: Mutex<objects::Owned>,
}

/// Where the layer lies.
pub fn layer_folder() -> PathBuf {
    let staged = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/emulator"));
    std::env::var_os("TILEHEAP_EMULATOR").map_or(staged, PathBuf::from)
}

/// Whether the run is validated.
pub fn is_validated() -> bool {
    std::env::var_os("TILEHEAP_VALIDATE").is_some_and(|value| value == "1")
}

/// Makes the loader find the layer.
pub fn prepare_environment() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let folder = layer_folder();
        let library = folder.join("libtileheap_emulator.so");
        assert!(
            library.is_file(),
            "no layer at {}: run scripts/stage-emulator.sh",
            library.display()
        );
        if std::env::var_os("TILEHEAP_EMULATOR").is_none() {
            let mut path = std::env::var_os("VK_LAYER_PATH").unwrap_or_default();
            if !path.is_empty() {
                path.push(":");
            }
            path.push(&folder);
            // SAFETY: Before the loader is loaded, which alone reads it, and under a lock that every test takes first.
            unsafe { std::env::set_var("VK_LAYER_PATH", path) };
        }
    });
}

/// Settings for the layer as an application passes them.
pub struct LayerSettings {
    values: Vec<(CString, CString)>,
    pointers: Vec<*const std::ffi::c_char>,
}

impl LayerSettings {
    pub fn new(settings: &[(&str, &str)]) -> LayerSettings {
        let text = |text: &str| CString::new(text).expect("no NUL in a setting");
        let values: Vec<_> = settings
            .iter()
            .map(|(name, value)| (text(name), text(value)))
            .collect();
        let pointers = values.iter().map(|(_, value)| value.as_ptr()).collect();
        LayerSettings { values, pointers }
    }

    pub fn structures(&self) -> Vec<vk::LayerSettingEXT<'_>> {
        let setting =
            |((name, _), pointer): (&(CString, CString), &*const std::ffi::c_char)| vk::LayerSettingEXT {
                p_layer_name: LAYER_NAME.as_ptr(),
                p_setting_name: name.as_ptr(),
                ty: vk::LayerSettingTypeEXT::STRING,
                value_count: 1,
                p_values: std::ptr::from_ref(pointer).cast(),
                ..Default::default()
            };
        self.values.iter().zip(&self.pointers).map(setting).collect()
    }
}

unsafe extern "system" fn collect(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    messages: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: A layer hands over valid data, with C strings or null.
    let (id, text) = unsafe { ((*data).message_id_name_as_c_str(), (*data).message_as_c_str()) };
    let text_of = |text: Option<&CStr>| text.unwrap_or_default().to_string_lossy().into_owned();
    // SAFETY: The rig keeps the vector until after the messenger.
    let messages = unsafe { &*messages.cast::<Mutex<Vec<Message>>>() };
    // The loader lists what the environment asks of it.
    if id != Some(c"Loader Message") {
        messages
            .lock()
            .expect("no panic in here")
            .push((text_of(id), text_of(text)));
    }
    vk::FALSE
}

/// What a test needs beside what every rig has.
#[derive(Default)]
pub struct Wants<'a> {
    /// Above the emulator.
    pub layers: &'a [&'a CStr],
    pub instance_extensions: &'a [&'a CStr],
    pub extensions: &'a [&'a CStr],
    pub features: vk::PhysicalDeviceFeatures,
    /// Features of tile shading for dispatches per tile.
    pub per_tile: bool,
}

type Parts = (
    ash::Entry,
    ash::Instance,
    ash::ext::debug_utils::Instance,
    vk::DebugUtilsMessengerEXT,
);

/// An instance with the layer, and a messenger that collects what is said.
pub fn instance_with(settings: &[(&str, &str)], messages: &Mutex<Vec<Message>>) -> Parts {
    instance_of(settings, messages, &Wants::default()).expect("an instance with the layer")
}

/// The same with more, if the driver has it.
fn instance_of(
    settings: &[(&str, &str)],
    messages: &Mutex<Vec<Message>>,
    wants: &Wants<'_>,
) -> Option<Parts> {
    prepare_environment();
    // Validation above is no reason to keep silent here, unless a test says so: its messages are told apart.
    let settings = LayerSettings::new(&[&[("report", "all")], settings].concat());
    let structures = settings.structures();
    let mut layer_settings = vk::LayerSettingsCreateInfoEXT::default().settings(&structures);
    let mut listener = listener(messages);
    let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    let layers = [wants.layers, &[LAYER_NAME]].concat();
    let layers: Vec<_> = layers.iter().map(|name| name.as_ptr()).collect();
    let extensions = [&[ash::ext::debug_utils::NAME], wants.instance_extensions].concat();
    let extensions: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
    let info = vk::InstanceCreateInfo::default()
        .application_info(&application)
        .enabled_layer_names(&layers)
        .enabled_extension_names(&extensions)
        .push_next(&mut layer_settings)
        .push_next(&mut listener);
    // SAFETY: The library found is a loader; all names are C strings; `messages` outlives the messenger by the caller.
    unsafe {
        let entry = ash::Entry::load().expect("a Vulkan loader");
        assert_new_validation(&entry);
        let instance = match entry.create_instance(&info, None) {
            Err(vk::Result::ERROR_EXTENSION_NOT_PRESENT) => return None,
            made => made.expect("an instance with the layer"),
        };
        let utils = ash::ext::debug_utils::Instance::new(&entry, &instance);
        let listener = self::listener(messages);
        let messenger = utils
            .create_debug_utils_messenger(&listener, None)
            .expect("a messenger");
        Some((entry, instance, utils, messenger))
    }
}

fn listener(messages: &Mutex<Vec<Message>>) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    use vk::DebugUtilsMessageSeverityFlagsEXT as S;
    use vk::DebugUtilsMessageTypeFlagsEXT as T;
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(S::WARNING | S::ERROR)
        .message_type(T::VALIDATION | T::GENERAL)
        .pfn_user_callback(Some(collect))
        .user_data(std::ptr::from_ref(messages).cast_mut().cast())
}

fn assert_new_validation(entry: &ash::Entry) {
    if !is_validated() {
        return;
    }
    // SAFETY: Enumerating has no precondition.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }.expect("the loader lists its layers");
    let validation = layers
        .iter()
        .find(|layer| layer.layer_name_as_c_str() == Ok(c"VK_LAYER_KHRONOS_validation"));
    let version = validation
        .expect("a validated run needs VK_LAYER_KHRONOS_validation")
        .spec_version;
    assert!(
        version >= OLDEST_VALIDATION,
        "validation is older than 1.4.341 and does not know tile memory"
    );
}

impl Rig {
    /// A device with everything that tests use, and the layer's settings.
    pub fn new(settings: &[(&str, &str)]) -> Rig {
        Rig::with(settings, &Wants::default()).expect("every driver has what every rig needs")
    }

    /// The same with more; `None` where the driver lacks an extension.
    pub fn with(settings: &[(&str, &str)], wants: &Wants<'_>) -> Option<Rig> {
        static AWAKE: Once = Once::new();
        if is_validated() {
            AWAKE.call_once(|| {
                let rig = Rig::create(&[], &Wants::default()).expect("a device");
                work::provoke_validation(&rig);
            });
        }
        Rig::create(settings, wants)
    }

    fn create(settings: &[(&str, &str)], wants: &Wants<'_>) -> Option<Rig> {
        let messages = Box::new(Mutex::default());
        let (entry, instance, utils, messenger) = instance_of(settings, &messages, wants)?;
        // SAFETY: A live instance; the chain's structures outlive the call; the family has a queue, as every family has.
        unsafe {
            let physical = instance.enumerate_physical_devices().expect("devices")[0];
            let families = instance.get_physical_device_queue_family_properties(physical);
            let wanted = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
            let family = families
                .iter()
                .position(|family| family.queue_flags.contains(wanted))
                .expect("a queue") as u32;
            let mut heap = ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM::default().tile_memory_heap(true);
            let mut tiles = vk::PhysicalDeviceTilePropertiesFeaturesQCOM::default().tile_properties(true);
            let mut shading = ffi::PhysicalDeviceTileShadingFeaturesQCOM::default()
                .tile_shading(true)
                .tile_shading_color_attachments(wants.per_tile)
                .tile_shading_per_tile_draw(wants.per_tile)
                .tile_shading_per_tile_dispatch(wants.per_tile)
                .tile_shading_dispatch_tile(wants.per_tile)
                .tile_shading_atomic_ops(wants.per_tile);
            let mut core12 = vk::PhysicalDeviceVulkan12Features::default()
                .imageless_framebuffer(true)
                .buffer_device_address(true)
                .timeline_semaphore(true);
            let mut core13 = vk::PhysicalDeviceVulkan13Features::default()
                .dynamic_rendering(true)
                .synchronization2(true)
                .maintenance4(true);
            let own = [
                ffi::tile_memory_heap::NAME,
                ffi::tile_properties::NAME,
                ffi::tile_shading::NAME,
            ];
            let extensions = [&own[..], wants.extensions].concat();
            let extensions: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
            let queues = [vk::DeviceQueueCreateInfo::default()
                .queue_family_index(family)
                .queue_priorities(&[1.0])];
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&extensions)
                .enabled_features(&wants.features)
                .push_next(&mut heap)
                .push_next(&mut tiles)
                .push_next(&mut shading)
                .push_next(&mut core12)
                .push_next(&mut core13);
            let device = match instance.create_device(physical, &info, None) {
                Err(vk::Result::ERROR_EXTENSION_NOT_PRESENT) => {
                    utils.destroy_debug_utils_messenger(messenger, None);
                    instance.destroy_instance(None);
                    return None;
                }
                made => made.expect("a device"),
            };
            let tile =
                ffi::tile_memory_heap::Device::new(&instance, &device).expect("vkCmdBindTileMemoryQCOM");
            let types = instance.get_physical_device_memory_properties(physical);
            let pool = vk::CommandPoolCreateInfo::default()
                .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
                .queue_family_index(family);
            let pool = device.create_command_pool(&pool, None).expect("a command pool");
            let sizes = [
                vk::DescriptorPoolSize {
                    ty: vk::DescriptorType::STORAGE_BUFFER,
                    descriptor_count: 512,
                },
                vk::DescriptorPoolSize {
                    ty: vk::DescriptorType::STORAGE_IMAGE,
                    descriptor_count: 64,
                },
                vk::DescriptorPoolSize {
                    ty: vk::DescriptorType::UNIFORM_BUFFER,
                    descriptor_count: 64,
                },
                vk::DescriptorPoolSize {
                    ty: vk::DescriptorType::STORAGE_TEXEL_BUFFER,
                    descriptor_count: 64,
                },
                vk::DescriptorPoolSize {
                    ty: vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
                    descriptor_count: 64,
                },
                vk::DescriptorPoolSize {
                    ty: vk::DescriptorType::SAMPLED_IMAGE,
                    descriptor_count: 64,
                },
            ];
            let sets = vk::DescriptorPoolCreateInfo::default()
                .max_sets(256)
                .pool_sizes(&sizes);
            let sets = device
                .create_descriptor_pool(&sets, None)
                .expect("a descriptor pool");
            let queue = device.get_device_queue(family, 0);
            Some(Rig {
                entry,
                instance,
                physical,
                device,
                queue,
                family,
                tile,
                types,
                pool,
                sets,
                utils,
                messenger,
                messages,
                owned: Mutex::default(),
            })
        }
    }

    /// What was said since the last call.
    pub fn take_messages(&self) -> Vec<Message> {
        std::mem::take(&mut *self.messages.lock().expect("no panic while collecting"))
    }

    /// The ids of what the emulator said since the last call; what validation said fails the test.
    pub fn take_ids(&self) -> Vec<String> {
        self.take_ids_but(&[])
    }

    /// The same, where validation may say what is listed.
    pub fn take_ids_but(&self, validated: &[&str]) -> Vec<String> {
        let messages = self.take_messages();
        let (own, mut others): (Vec<_>, Vec<_>) = messages
            .into_iter()
            .partition(|(id, _)| id.starts_with("TILEHEAP-"));
        others.retain(|(id, _)| !validated.contains(&id.as_str()));
        assert!(others.is_empty(), "validation said: {others:#?}");
        own.into_iter().map(|(id, _)| id).collect()
    }

    /// Destroys everything.
    ///
    /// # Panics
    /// If anything was said that no test took.
    pub fn finish(self) {
        // SAFETY: Idle, and destroyed in the order of use.
        unsafe {
            self.device.device_wait_idle().expect("an idle device");
            self.owned
                .lock()
                .expect("no panic while creating")
                .destroy(&self.device);
            self.device.destroy_descriptor_pool(self.sets, None);
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_device(None);
        }
        let said = self.take_messages();
        // SAFETY: The device is gone.
        unsafe {
            self.utils.destroy_debug_utils_messenger(self.messenger, None);
            self.instance.destroy_instance(None);
        }
        assert!(said.is_empty(), "{said:#?}");
    }
}
