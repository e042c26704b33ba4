//! The loader's side of a layer: negotiation, and the links of the instance and device chains.
//!
//! Source: `vk_layer.h` of the Vulkan headers, the loader's "Architecture of layer interfaces", interface version 2.

use std::ffi::{c_char, c_void};

use ash::vk;

use crate::android::log_panics;
use crate::dispatch::EntryPoint;

/// The only interface version that the layer supports.
const INTERFACE_VERSION: u32 = 2;
/// `LAYER_NEGOTIATE_INTERFACE_STRUCT`.
const NEGOTIATE_INTERFACE: u32 = 1;

/// `PFN_GetPhysicalDeviceProcAddr`.
type GetPhysicalDeviceProcAddr =
    unsafe extern "system" fn(vk::Instance, *const c_char) -> vk::PFN_vkVoidFunction;

/// `VkNegotiateLayerInterface`.
#[repr(C)]
#[derive(Debug)]
pub struct NegotiateLayerInterface {
    s_type: u32,
    p_next: *mut c_void,
    version: u32,
    get_instance_proc_addr: Option<EntryPoint>,
    get_device_proc_addr: Option<EntryPoint>,
    get_physical_device_proc_addr: Option<GetPhysicalDeviceProcAddr>,
}

impl NegotiateLayerInterface {
    /// Agrees on interface version 2, and gives the layer's look-up functions to the loader.
    pub fn negotiate(&mut self, instance: EntryPoint, device: EntryPoint) -> vk::Result {
        if self.s_type != NEGOTIATE_INTERFACE || self.version < INTERFACE_VERSION {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        }
        self.version = INTERFACE_VERSION;
        self.get_instance_proc_addr = Some(instance);
        self.get_device_proc_addr = Some(device);
        self.get_physical_device_proc_addr = None;
        vk::Result::SUCCESS
    }
}

/// Exports the negotiation with desktop loaders, given the layer's two look-ups. Android's loader uses the exports of
/// [`enumerate`](crate::enumerate) instead.
#[macro_export]
macro_rules! negotiates {
    ($instance:ident, $device:ident) => {
        /// Agrees on the interface with the loader.
        ///
        /// # Safety
        /// `interface` is null or points to the loader's structure.
        #[allow(non_snake_case, reason = "Vulkan's name")]
        #[unsafe(no_mangle)]
        pub unsafe extern "system" fn vkNegotiateLoaderLayerInterfaceVersion(
            interface: *mut $crate::loader::NegotiateLayerInterface,
        ) -> ::ash::vk::Result {
            $crate::guard::guard("vkNegotiateLoaderLayerInterfaceVersion", move || {
                // SAFETY: The caller's promise.
                match unsafe { interface.as_mut() } {
                    Some(interface) => interface.negotiate($instance(), $device()),
                    None => ::ash::vk::Result::ERROR_INITIALIZATION_FAILED,
                }
            })
        }
    };
}

/// `VK_LAYER_LINK_INFO`.
const LINK_INFO: u32 = 0;
/// `VK_LOADER_DATA_CALLBACK`.
const DATA_CALLBACK: u32 = 1;

/// `VkLayerInstanceCreateInfo` and `VkLayerDeviceCreateInfo`, which differ in what the link points to.
#[repr(C)]
struct LayerCreateInfo {
    s_type: vk::StructureType,
    p_next: *const c_void,
    function: u32,
    /// A link or a callback, depending on `function`.
    payload: *mut c_void,
}

/// `VkLayerInstanceLink`.
#[repr(C)]
struct InstanceLink {
    next: *mut InstanceLink,
    get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
    get_physical_device_proc_addr: Option<GetPhysicalDeviceProcAddr>,
}

/// `VkLayerDeviceLink`.
#[repr(C)]
struct DeviceLink {
    next: *mut DeviceLink,
    get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
    get_device_proc_addr: vk::PFN_vkGetDeviceProcAddr,
}

/// `PFN_vkSetDeviceLoaderData`: the loader's callback that registers a dispatchable handle created by a layer.
pub type SetDeviceLoaderData = unsafe extern "system" fn(vk::Device, *mut c_void) -> vk::Result;

#[cfg(target_pointer_width = "64")]
const _: () = {
    use std::mem::{offset_of, size_of};
    assert!(size_of::<NegotiateLayerInterface>() == 48);
    assert!(offset_of!(NegotiateLayerInterface, version) == 16);
    assert!(offset_of!(NegotiateLayerInterface, get_instance_proc_addr) == 24);
    assert!(offset_of!(LayerCreateInfo, function) == 16);
    assert!(offset_of!(LayerCreateInfo, payload) == 24);
    assert!(size_of::<InstanceLink>() == 24 && size_of::<DeviceLink>() == 24);
};

/// Finds the loader's structure with this type and function in a chain.
///
/// # Safety
/// `p_next` is null or the chain of a create info that the loader handed to the layer.
unsafe fn find(
    p_next: *const c_void,
    s_type: vk::StructureType,
    function: u32,
) -> Option<*mut LayerCreateInfo> {
    let mut at = p_next.cast::<LayerCreateInfo>().cast_mut();
    while !at.is_null() {
        // SAFETY: Every structure of a chain begins with `sType` and `pNext`.
        let base = unsafe { &*at.cast::<vk::BaseInStructure<'_>>() };
        if base.s_type == s_type {
            // SAFETY: The loader's structures of this type are all `LayerCreateInfo`.
            let info = unsafe { &*at };
            if info.function == function {
                return Some(at);
            }
        }
        at = base.p_next.cast_mut().cast();
    }
    None
}

/// Takes this layer's link off the instance chain; returns the next layer's look-up.
///
/// # Safety
/// `p_next` is the chain that the loader handed to `vkCreateInstance`.
unsafe fn take_instance_link(p_next: *const c_void) -> Option<vk::PFN_vkGetInstanceProcAddr> {
    // SAFETY: The caller's promise.
    let info = unsafe { find(p_next, vk::StructureType::LOADER_INSTANCE_CREATE_INFO, LINK_INFO) }?;
    // SAFETY: Found in the chain; the loader expects layers to advance it.
    let info = unsafe { &mut *info };
    // SAFETY: With this function the payload is null or a link.
    let link = unsafe { info.payload.cast::<InstanceLink>().as_ref() }?;
    info.payload = link.next.cast();
    Some(link.get_instance_proc_addr)
}

/// Creates an instance in the next layer; returns it with the next layer's `vkGetInstanceProcAddr`.
///
/// # Errors
/// The next layer's, or an error if there is no next layer.
///
/// # Safety
/// The arguments are those of `vkCreateInstance`, with the loader's chain.
pub unsafe fn create_instance(
    info: &vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Instance,
) -> Result<(vk::Instance, vk::PFN_vkGetInstanceProcAddr), vk::Result> {
    const NONE: vk::Result = vk::Result::ERROR_INITIALIZATION_FAILED;
    log_panics();
    // SAFETY: The caller's promise.
    let look_up = unsafe { take_instance_link(info.p_next) }.ok_or(NONE)?;
    // SAFETY: The next layer's look-up, with null and a C string.
    let create = unsafe { look_up(vk::Instance::null(), c"vkCreateInstance".as_ptr()) }.ok_or(NONE)?;
    // SAFETY: The command of that name.
    let create = unsafe { std::mem::transmute::<EntryPoint, vk::PFN_vkCreateInstance>(create) };
    // SAFETY: The application's arguments.
    unsafe { create(info, allocator, out) }.result()?;
    // SAFETY: The next layer succeeded and so has written it.
    Ok((unsafe { *out }, look_up))
}

/// The next layer's `vkCreateDevice` and `vkGetDeviceProcAddr`; `None` if the next layer does not provide them.
///
/// # Safety
/// `p_next` is the chain that the loader passed to `vkCreateDevice`, and `instance` the physical device's.
pub unsafe fn device_creation(
    instance: vk::Instance,
    p_next: *const c_void,
) -> Option<(vk::PFN_vkCreateDevice, vk::PFN_vkGetDeviceProcAddr)> {
    // SAFETY: The caller's promise.
    let (look_up, device_look_up) = unsafe { take_device_link(p_next) }?;
    // SAFETY: The next layer's look-up, its instance and a C string.
    let create = unsafe { look_up(instance, c"vkCreateDevice".as_ptr()) }?;
    // SAFETY: The command of that name.
    let create = unsafe { std::mem::transmute::<EntryPoint, vk::PFN_vkCreateDevice>(create) };
    Some((create, device_look_up))
}

/// Takes this layer's link off the device chain; returns the next layer's two look-ups.
///
/// # Safety
/// `p_next` is the chain that the loader handed to `vkCreateDevice`.
unsafe fn take_device_link(
    p_next: *const c_void,
) -> Option<(vk::PFN_vkGetInstanceProcAddr, vk::PFN_vkGetDeviceProcAddr)> {
    // SAFETY: The caller's promise.
    let info = unsafe { find(p_next, vk::StructureType::LOADER_DEVICE_CREATE_INFO, LINK_INFO) }?;
    // SAFETY: Found in the chain; the loader expects layers to advance it.
    let info = unsafe { &mut *info };
    // SAFETY: With this function the payload is null or a link.
    let link = unsafe { info.payload.cast::<DeviceLink>().as_ref() }?;
    info.payload = link.next.cast();
    Some((link.get_instance_proc_addr, link.get_device_proc_addr))
}

/// The loader's callback for dispatchable handles that a layer creates.
///
/// # Safety
/// `p_next` is the chain that the loader handed to `vkCreateDevice`.
pub unsafe fn device_data_callback(p_next: *const c_void) -> Option<SetDeviceLoaderData> {
    // SAFETY: The caller's promise.
    let info = unsafe {
        find(
            p_next,
            vk::StructureType::LOADER_DEVICE_CREATE_INFO,
            DATA_CALLBACK,
        )
    }?;
    // SAFETY: Found in the chain.
    let payload = unsafe { (*info).payload };
    // SAFETY: With this function the payload is null or that callback.
    unsafe { std::mem::transmute::<*mut c_void, Option<SetDeviceLoaderData>>(payload) }
}

/// The loader's dispatch key of a dispatchable handle: all handles of an instance, or of a device, share it.
///
/// # Safety
/// `handle` is a live dispatchable handle.
pub unsafe fn dispatch_key(handle: u64) -> usize {
    // SAFETY: A dispatchable handle points to an object that begins with the loader's table.
    unsafe { *(handle as usize as *const usize) }
}
