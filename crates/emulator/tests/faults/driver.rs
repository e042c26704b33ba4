//! The driver below the layer: the machine's driver, with calls that are counted and fail if a test requests it.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ash::vk;
use ash::vk::Handle;
use tileheap_device::ffi;
use tileheap_layer::dispatch::EntryPoint;
use tileheap_layer::given;

use crate::invented::{self, anything, invented};
use crate::{memory_types, queues};

/// Number of calls that can fail, since the last `arm`.
pub(crate) static CALLS: AtomicUsize = AtomicUsize::new(0);
/// Number of the call that fails; 0 for none.
pub(crate) static FAILS: AtomicUsize = AtomicUsize::new(0);
pub(crate) static FAILURE: AtomicI32 = AtomicI32::new(0);
/// Number of live driver objects.
pub(crate) static LIVE: AtomicI64 = AtomicI64::new(0);
pub(crate) static PANICS: AtomicUsize = AtomicUsize::new(0);
/// True if the driver itself has tile memory, of this version.
pub(crate) static HAS_TILE_MEMORY: AtomicBool = AtomicBool::new(false);
pub(crate) const NATIVE_VERSION: u32 = 7;
/// The call that failed.
pub(crate) static FAILED: Mutex<Option<&str>> = Mutex::new(None);
/// The types in the chain of the driver's last device creation; `None` if they are not recorded.
pub(crate) static DEVICE_CHAIN: Mutex<Option<Vec<vk::StructureType>>> = Mutex::new(None);
/// The logged commands that reached the driver, in order; `None` if they are not recorded.
pub(crate) static CALLED: Mutex<Option<Vec<&str>>> = Mutex::new(None);
/// True if the driver has a command for every name.
pub(crate) static HAS_EVERYTHING: AtomicBool = AtomicBool::new(false);
/// The machine's commands by name.
pub(crate) static BELOW: Mutex<Option<HashMap<String, usize>>> = Mutex::new(None);

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the `n`-th call that can fail return `failure`; none if `n` is 0.
pub(crate) fn arm(n: usize, failure: vk::Result) {
    CALLS.store(0, SeqCst);
    FAILURE.store(failure.as_raw(), SeqCst);
    *lock(&FAILED) = None;
    FAILS.store(n, SeqCst);
}

pub(crate) fn fails(name: &'static str) -> Option<vk::Result> {
    let call = CALLS.fetch_add(1, SeqCst) + 1;
    (call == FAILS.load(SeqCst)).then(|| {
        *lock(&FAILED) = Some(name);
        vk::Result::from_raw(FAILURE.load(SeqCst))
    })
}

pub(crate) fn below(name: &str) -> usize {
    *lock(&BELOW)
        .as_ref()
        .and_then(|below| below.get(name))
        .expect("the wrapper was asked for")
}

/// The machine's command of that name.
///
/// # Safety
/// `F` is the command's type.
pub(crate) unsafe fn machines<F: Copy>(name: &str) -> F {
    // SAFETY: By the caller's promise a function pointer, which is an address.
    unsafe { std::mem::transmute_copy(&below(name)) }
}

/// Declares wrappers, with the machine's command as `below`, and a function that finds them by name.
macro_rules! wrappers {
    ($look_up:ident: $($name:ident: $pointer:ty => |$($arg:tt),+| $below:ident $body:block)+) => {
        pub(crate) fn $look_up(name: &str) -> Option<tileheap_layer::dispatch::EntryPoint> {
            match name {
                $(stringify!($name) => Some(tileheap_layer::entry_point!(|_: &()| None::<$pointer>, |$($arg),+| {
                    // SAFETY: The machine's command of this name.
                    let $below = unsafe { $crate::driver::machines::<$pointer>(stringify!($name)) };
                    $body
                })),)+
                _ => None,
            }
        }
    };
}
pub(crate) use wrappers;

/// Returns the injected error of a command, if any.
macro_rules! attempt {
    ($name:expr) => {
        if let Some(error) = $crate::driver::fails($name) {
            return error;
        }
    };
}
pub(crate) use attempt;

/// Declares commands that can fail and create a number of objects, commands that destroy one unless it is null, and commands that are logged.
macro_rules! plain_wrappers {
    (
        $(fallible $name:ident: $pointer:ty, ($($arg:ident),*) $(makes $made:expr)?;)+
        $(creates $created:ident: $created_pointer:ty;)+
        $(destroys $gone:ident: $gone_pointer:ty;)+
        $(noted $noted:ident: $noted_pointer:ty, ($($noted_arg:ident),*);)+
    ) => {
        wrappers! { plain_wrapper:
            $($name: $pointer => |$($arg),*| below {
                attempt!(stringify!($name));
                // SAFETY: The layer's arguments.
                let result = unsafe { below($($arg),*) };
                $(
                    if result == vk::Result::SUCCESS {
                        LIVE.fetch_add($made, SeqCst);
                    }
                )?
                result
            })+
            $($created: $created_pointer => |device, info, allocator, out| below {
                attempt!(stringify!($created));
                // SAFETY: The layer's arguments.
                let result = unsafe { below(device, info, allocator, out) };
                LIVE.fetch_add((result == vk::Result::SUCCESS).into(), SeqCst);
                result
            })+
            $($gone: $gone_pointer => |device, object, allocator| below {
                LIVE.fetch_sub((!object.is_null()).into(), SeqCst);
                // SAFETY: The layer's arguments.
                unsafe { below(device, object, allocator) };
            })+
            $($noted: $noted_pointer => |$($noted_arg),*| below {
                if let Some(called) = &mut *lock(&CALLED) {
                    called.push(stringify!($noted));
                }
                // SAFETY: The layer's arguments.
                unsafe { below($($noted_arg),*) }
            })+
        }
    };
}

pub(crate) type Any = *const c_void;

plain_wrappers! {
    fallible vkCreateComputePipelines: vk::PFN_vkCreateComputePipelines,
        (device, cache, count, infos, allocator, out) makes i64::from(count);
    fallible vkCreateGraphicsPipelines: vk::PFN_vkCreateGraphicsPipelines,
        (device, cache, count, infos, allocator, out) makes i64::from(count);
    fallible vkMapMemory: vk::PFN_vkMapMemory, (device, memory, offset, size, flags, out);
    fallible vkAllocateDescriptorSets: vk::PFN_vkAllocateDescriptorSets, (device, info, out);
    fallible vkResetDescriptorPool: vk::PFN_vkResetDescriptorPool, (device, pool, flags);
    fallible vkAllocateCommandBuffers: vk::PFN_vkAllocateCommandBuffers, (device, info, out);
    fallible vkBeginCommandBuffer: vk::PFN_vkBeginCommandBuffer, (commands, info);
    fallible vkEndCommandBuffer: vk::PFN_vkEndCommandBuffer, (commands);
    fallible vkBindBufferMemory: vk::PFN_vkBindBufferMemory, (device, buffer, memory, offset);
    fallible vkBindImageMemory: vk::PFN_vkBindImageMemory, (device, image, memory, offset);
    fallible vkBindBufferMemory2: vk::PFN_vkBindBufferMemory2, (device, count, infos);
    fallible vkBindImageMemory2: vk::PFN_vkBindImageMemory2, (device, count, infos);
    creates vkCreateBuffer: vk::PFN_vkCreateBuffer;
    creates vkCreateImage: vk::PFN_vkCreateImage;
    creates vkCreateImageView: vk::PFN_vkCreateImageView;
    creates vkCreateBufferView: vk::PFN_vkCreateBufferView;
    creates vkCreateFramebuffer: vk::PFN_vkCreateFramebuffer;
    creates vkCreateRenderPass: vk::PFN_vkCreateRenderPass;
    creates vkCreateRenderPass2: vk::PFN_vkCreateRenderPass2;
    creates vkCreateShaderModule: vk::PFN_vkCreateShaderModule;
    creates vkCreateDescriptorSetLayout: vk::PFN_vkCreateDescriptorSetLayout;
    creates vkCreatePipelineLayout: vk::PFN_vkCreatePipelineLayout;
    creates vkCreateDescriptorPool: vk::PFN_vkCreateDescriptorPool;
    creates vkCreateDescriptorUpdateTemplate: vk::PFN_vkCreateDescriptorUpdateTemplate;
    creates vkCreateSemaphore: vk::PFN_vkCreateSemaphore;
    destroys vkFreeMemory: vk::PFN_vkFreeMemory;
    destroys vkDestroyBuffer: vk::PFN_vkDestroyBuffer;
    destroys vkDestroyImage: vk::PFN_vkDestroyImage;
    destroys vkDestroyImageView: vk::PFN_vkDestroyImageView;
    destroys vkDestroyBufferView: vk::PFN_vkDestroyBufferView;
    destroys vkDestroyFramebuffer: vk::PFN_vkDestroyFramebuffer;
    destroys vkDestroyRenderPass: vk::PFN_vkDestroyRenderPass;
    destroys vkDestroyShaderModule: vk::PFN_vkDestroyShaderModule;
    destroys vkDestroyDescriptorSetLayout: vk::PFN_vkDestroyDescriptorSetLayout;
    destroys vkDestroyPipelineLayout: vk::PFN_vkDestroyPipelineLayout;
    destroys vkDestroyDescriptorPool: vk::PFN_vkDestroyDescriptorPool;
    destroys vkDestroyDescriptorUpdateTemplate: vk::PFN_vkDestroyDescriptorUpdateTemplate;
    destroys vkDestroySemaphore: vk::PFN_vkDestroySemaphore;
    destroys vkDestroyCommandPool: vk::PFN_vkDestroyCommandPool;
    noted vkGetPhysicalDeviceFeatures2: vk::PFN_vkGetPhysicalDeviceFeatures2, (physical, out);
    noted vkGetPhysicalDeviceFeatures2KHR: vk::PFN_vkGetPhysicalDeviceFeatures2, (physical, out);
    noted vkGetPhysicalDeviceToolProperties: vk::PFN_vkGetPhysicalDeviceToolProperties, (physical, count, out);
    noted vkGetPhysicalDeviceToolPropertiesEXT: vk::PFN_vkGetPhysicalDeviceToolProperties, (physical, count, out);
    noted vkCmdFillBuffer: vk::PFN_vkCmdFillBuffer, (commands, buffer, offset, size, data);
    noted vkCmdPipelineBarrier: vk::PFN_vkCmdPipelineBarrier,
        (commands, from, to, flags, memory_count, memory, buffer_count, buffers, image_count, images);
    noted vkCmdPipelineBarrier2: vk::PFN_vkCmdPipelineBarrier2, (commands, info);
    noted vkCmdPipelineBarrier2KHR: vk::PFN_vkCmdPipelineBarrier2, (commands, info);
    noted vkCmdBeginRendering: vk::PFN_vkCmdBeginRendering, (commands, info);
    noted vkCmdEndRendering: vk::PFN_vkCmdEndRendering, (commands);
}

wrappers! {
    wrapper_of_devices:
    // Lists the machine's extensions, and `VK_QCOM_tile_memory_heap` if the test enables it in the driver.
    vkEnumerateDeviceExtensionProperties: vk::PFN_vkEnumerateDeviceExtensionProperties
    => |physical, layer, count, out| below {
        attempt!("vkEnumerateDeviceExtensionProperties");
        let room = *given!(count);
        // SAFETY: The layer's arguments.
        let result = unsafe { below(physical, layer, count, out) };
        if !HAS_TILE_MEMORY.load(SeqCst) || result != vk::Result::SUCCESS {
            return result;
        }
        let given = given!(mut count);
        if !out.is_null() {
            if room == *given {
                return vk::Result::INCOMPLETE;
            }
            let own = vk::ExtensionProperties::default()
                .spec_version(NATIVE_VERSION)
                .extension_name(ffi::tile_memory_heap::NAME)
                .expect("a short name");
            // SAFETY: There is room after the given elements.
            unsafe { out.add(*given as usize).write(own) };
        }
        *given += 1;
        vk::Result::SUCCESS
    }

    // Removes the layer's structures, as the loader's own terminators would, and counts.
    vkCreateInstance: vk::PFN_vkCreateInstance => |info, allocator, out| below {
        attempt!("vkCreateInstance");
        let mut copy = *given!(info);
        copy.p_next = std::ptr::null();
        // SAFETY: The layer's arguments.
        let result = unsafe { below(&copy, allocator, out) };
        LIVE.fetch_add((result == vk::Result::SUCCESS).into(), SeqCst);
        result
    }

    vkDestroyInstance: vk::PFN_vkDestroyInstance => |instance, allocator| below {
        LIVE.fetch_sub(1, SeqCst);
        // SAFETY: The layer's arguments.
        unsafe { below(instance, allocator) };
    }

    // The driver has one queue; the layer sees a second one, and a second family with one that is the same.
    vkCreateDevice: vk::PFN_vkCreateDevice => |physical, info, allocator, out| below {
        attempt!("vkCreateDevice");
        let mut copy = *given!(info);
        let mut queues = *given!(copy.p_queue_create_infos);
        queues.queue_count = 1;
        (copy.p_queue_create_infos, copy.queue_create_info_count) = (&raw const queues, 1);
        // SAFETY: The layer's arguments; drivers skip structures that they do not know.
        let result = unsafe { below(physical, &copy, allocator, out) };
        if result == vk::Result::SUCCESS {
            LIVE.fetch_add(1, SeqCst);
            // SAFETY: A valid create info, whose chain the layer made.
            unsafe { note_chain(copy.p_next) };
        }
        result
    }

    vkDestroyDevice: vk::PFN_vkDestroyDevice => |device, allocator| below {
        LIVE.fetch_sub(1, SeqCst);
        // SAFETY: The layer's arguments.
        unsafe { below(device, allocator) };
    }
}

fn wrapper(name: &CStr) -> Option<EntryPoint> {
    match name.to_str().ok()? {
        "vkGetInstanceProcAddr" => {
            // SAFETY: A function pointer, which is called with the type of its name.
            Some(unsafe { transmute::<vk::PFN_vkGetInstanceProcAddr, EntryPoint>(instance_look_up) })
        }
        "vkGetDeviceProcAddr" => {
            // SAFETY: As above.
            Some(unsafe { transmute::<vk::PFN_vkGetDeviceProcAddr, EntryPoint>(device_look_up) })
        }
        name => [
            plain_wrapper,
            wrapper_of_devices,
            queues::wrapper,
            memory_types::wrapper,
            invented::wrapper,
        ]
        .iter()
        .find_map(|look_up| look_up(name)),
    }
}

/// Records the types in a chain, if a test wants to know them.
///
/// # Safety
/// `p_next` is a valid chain.
unsafe fn note_chain(p_next: Any) {
    let mut chain = lock(&DEVICE_CHAIN);
    let Some(chain) = &mut *chain else { return };
    chain.clear();
    let mut at = p_next.cast::<vk::BaseInStructure<'_>>();
    // SAFETY: The caller's promise.
    while let Some(base) = unsafe { at.as_ref() } {
        chain.push(base.s_type);
        at = base.p_next;
    }
}

macro_rules! look_ups {
    ($($look_up:ident($handle:ty) by $command:literal;)+) => {$(
        pub(crate) unsafe extern "system" fn $look_up(handle: $handle, name: *const c_char) -> vk::PFN_vkVoidFunction {
            type Pointer = unsafe extern "system" fn($handle, *const c_char) -> usize;
            // SAFETY: The machine's command of this name.
            let look_up = unsafe { transmute::<usize, Pointer>(below($command)) };
            // SAFETY: The layer's arguments.
            unsafe { wrapped(look_up(handle, name), name) }
        }
    )+};
}

look_ups! {
    instance_look_up(vk::Instance) by "vkGetInstanceProcAddr";
    device_look_up(vk::Device) by "vkGetDeviceProcAddr";
}

/// # Safety
/// `name` is a C string, and `found` null or the machine's command of that name.
pub(crate) unsafe fn wrapped(found: usize, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: The caller's promise.
    let name = unsafe { CStr::from_ptr(name) };
    if let Some(invented) = invented(name) {
        return Some(invented);
    }
    if found == 0 && HAS_EVERYTHING.load(SeqCst) {
        return Some(anything);
    }
    let wrapper = wrapper(name).filter(|_| found != 0);
    if wrapper.is_some() && name != c"vkGetInstanceProcAddr" {
        let mut below = lock(&BELOW);
        let below = below.get_or_insert_default();
        below.insert(name.to_string_lossy().into_owned(), found);
    }
    // SAFETY: Null, or a function of the type that goes with the name.
    wrapper.or(unsafe { transmute::<usize, vk::PFN_vkVoidFunction>(found) })
}
