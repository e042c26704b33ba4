//! Imitates Android's Vulkan loader: opens a layer's library, lists its layers as `LayerLibrary::EnumerateLayers` does, and finds their
//! look-ups as `LayerLibrary::GetGPA` does. The machine's own loader is below the layer.
//!
//! Source: `frameworks/native/vulkan/libvulkan/layers_extensions.cpp` and `api.cpp` of Android.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ash::vk;

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

const RTLD_NOW: c_int = 2;

/// A layer that a library lists.
#[derive(Debug)]
pub struct AndroidLayer {
    pub name: CString,
    /// True if the layer also applies to devices.
    pub is_global: bool,
    pub instance_extensions: Vec<CString>,
    pub device_extensions: Vec<CString>,
    look_up: vk::PFN_vkGetInstanceProcAddr,
    device_look_up: vk::PFN_vkGetDeviceProcAddr,
}

/// A handle of an opened library, which is never closed.
struct Library(*mut c_void);

impl Library {
    /// The exported function of this name, as the function pointer type `F`.
    fn function<F: Copy>(&self, name: &CStr) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        // SAFETY: An open library and a C string.
        let found = unsafe { dlsym(self.0, name.as_ptr()) };
        // SAFETY: The callers name Vulkan's commands with their types.
        (!found.is_null()).then(|| unsafe { std::mem::transmute_copy(&found) })
    }

    /// The look-up function whose name is `suffix` after the layer's name, or else after `vk`.
    fn look_up<F: Copy>(&self, layer: &CStr, suffix: &str) -> F {
        let name = |prefix: &str| CString::new(format!("{prefix}{suffix}")).expect("no NUL");
        let own = self.function(&name(&layer.to_string_lossy()));
        own.or_else(|| self.function(&name("vk")))
            .expect("the layer has a look-up")
    }
}

/// Lists the layers of a library. Panics with the reason if Android's loader would ignore it.
pub fn load(path: &Path) -> Vec<AndroidLayer> {
    let name = path
        .file_name()
        .expect("a file")
        .to_str()
        .expect("the name is text");
    assert!(name.starts_with("libVkLayer") && name.ends_with(".so"), "{name}");
    let text = CString::new(path.as_os_str().as_bytes()).expect("no NUL");
    // SAFETY: A C string; the library is responsible for its constructors.
    let library = Library(unsafe { dlopen(text.as_ptr(), RTLD_NOW) });
    assert!(!library.0.is_null(), "{} cannot be opened", path.display());
    let instance_layers: vk::PFN_vkEnumerateInstanceLayerProperties = library
        .function(c"vkEnumerateInstanceLayerProperties")
        .expect("exported");
    let instance_extensions: vk::PFN_vkEnumerateInstanceExtensionProperties = library
        .function(c"vkEnumerateInstanceExtensionProperties")
        .expect("exported");
    let device_layers: vk::PFN_vkEnumerateDeviceLayerProperties = library
        .function(c"vkEnumerateDeviceLayerProperties")
        .expect("exported");
    let device_extensions: vk::PFN_vkEnumerateDeviceExtensionProperties = library
        .function(c"vkEnumerateDeviceExtensionProperties")
        .expect("exported");
    let none = vk::PhysicalDevice::null();
    // SAFETY: Counts and arrays as `all` passes them, and no physical device, as Android's loader calls it.
    let of_instance = all(|count, out| unsafe { instance_layers(count, out) });
    // SAFETY: As above.
    let of_device = all(|count, out| unsafe { device_layers(none, count, out) });
    let layer = |properties: &vk::LayerProperties| {
        let name = properties
            .layer_name_as_c_str()
            .expect("a name that ends")
            .to_owned();
        let is_same = |other: &vk::LayerProperties| {
            (
                other.layer_name,
                other.spec_version,
                other.implementation_version,
                other.description,
            ) == (
                properties.layer_name,
                properties.spec_version,
                properties.implementation_version,
                properties.description,
            )
        };
        // SAFETY: As above, and the layer's name.
        let of_instance = all(|count, out| unsafe { instance_extensions(name.as_ptr(), count, out) });
        // SAFETY: As above.
        let of_device_ = all(|count, out| unsafe { device_extensions(none, name.as_ptr(), count, out) });
        let names = |all: &[vk::ExtensionProperties]| {
            let names = all
                .iter()
                .map(|one| one.extension_name_as_c_str().expect("a name that ends"));
            names.map(CStr::to_owned).collect()
        };
        AndroidLayer {
            is_global: of_device.iter().any(is_same),
            instance_extensions: names(&of_instance),
            device_extensions: names(&of_device_),
            look_up: library.look_up(&name, "GetInstanceProcAddr"),
            device_look_up: library.look_up(&name, "GetDeviceProcAddr"),
            name,
        }
    };
    of_instance.iter().map(layer).collect()
}

/// Enumerates all elements with two calls: one for their number, one for the elements.
fn all<T: Default + Clone>(mut list: impl FnMut(*mut u32, *mut T) -> vk::Result) -> Vec<T> {
    let mut count = 0;
    assert_eq!(list(&mut count, std::ptr::null_mut()), vk::Result::SUCCESS);
    let mut all = vec![T::default(); count as usize];
    assert_eq!(list(&mut count, all.as_mut_ptr()), vk::Result::SUCCESS);
    all
}

/// `VkLayerInstanceLink` and `VkLayerDeviceLink`.
#[repr(C)]
struct Link {
    next: *const c_void,
    instance_look_up: vk::PFN_vkGetInstanceProcAddr,
    /// The look-up of device commands. In the link of an instance, this field holds the look-up of physical device commands instead.
    device_look_up: Option<vk::PFN_vkGetDeviceProcAddr>,
}

/// `VkLayerInstanceCreateInfo` and `VkLayerDeviceCreateInfo`.
#[repr(C)]
struct LayerInfo {
    s_type: vk::StructureType,
    p_next: *const c_void,
    /// The kind of `payload`: 0 for a link, 1 for a callback.
    function: u32,
    payload: *const c_void,
}

unsafe extern "system" fn set_loader_data(_: *mut c_void, _: *mut c_void) -> vk::Result {
    // Handles of the loader below have their dispatch tables.
    vk::Result::SUCCESS
}

impl AndroidLayer {
    /// Creates an instance with the layer, on the machine's loader.
    pub fn create_instance(&self, below: &ash::Entry, info: &vk::InstanceCreateInfo<'_>) -> ash::Instance {
        let link = Link {
            next: std::ptr::null(),
            instance_look_up: below.static_fn().get_instance_proc_addr,
            device_look_up: None,
        };
        let callback = LayerInfo {
            s_type: vk::StructureType::LOADER_INSTANCE_CREATE_INFO,
            p_next: info.p_next,
            function: 1,
            payload: set_loader_data as *const c_void,
        };
        let linked = LayerInfo {
            s_type: vk::StructureType::LOADER_INSTANCE_CREATE_INFO,
            p_next: (&raw const callback).cast(),
            function: 0,
            payload: (&raw const link).cast(),
        };
        let mut info = *info;
        info.p_next = (&raw const linked).cast();
        let functions = ash::StaticFn {
            get_instance_proc_addr: self.look_up,
        };
        // SAFETY: The layer's look-up, which stays loaded.
        let entry = unsafe { ash::Entry::from_static_fn(functions) };
        // SAFETY: The caller's create info, with the loader's chain.
        unsafe { entry.create_instance(&info, None) }.expect("an instance with the layer")
    }

    /// Creates a device of an instance that has the layer.
    pub fn create_device(
        &self,
        below: &ash::Entry,
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        info: &vk::DeviceCreateInfo<'_>,
    ) -> ash::Device {
        let look_up = below.static_fn().get_instance_proc_addr;
        // SAFETY: The loader's look-up, its instance and a C string.
        let device_look_up = unsafe { look_up(instance.handle(), c"vkGetDeviceProcAddr".as_ptr()) };
        let link = Link {
            next: std::ptr::null(),
            instance_look_up: look_up,
            // SAFETY: The command of that name.
            device_look_up: unsafe {
                std::mem::transmute::<vk::PFN_vkVoidFunction, Option<vk::PFN_vkGetDeviceProcAddr>>(
                    device_look_up,
                )
            },
        };
        let callback = LayerInfo {
            s_type: vk::StructureType::LOADER_DEVICE_CREATE_INFO,
            p_next: info.p_next,
            function: 1,
            payload: set_loader_data as *const c_void,
        };
        let linked = LayerInfo {
            s_type: vk::StructureType::LOADER_DEVICE_CREATE_INFO,
            p_next: (&raw const callback).cast(),
            function: 0,
            payload: (&raw const link).cast(),
        };
        let mut info = *info;
        info.p_next = (&raw const linked).cast();
        // SAFETY: The caller's create info, with the loader's chain.
        let device =
            unsafe { instance.create_device(physical, &info, None) }.expect("a device with the layer");
        let layer = |name: &CStr| {
            // SAFETY: The layer's look-up, its device and a C string.
            let found = unsafe { (self.device_look_up)(device.handle(), name.as_ptr()) };
            found.map_or(std::ptr::null(), |function| function as *const c_void)
        };
        assert!(!layer(c"vkDestroyDevice").is_null());
        device
    }
}
