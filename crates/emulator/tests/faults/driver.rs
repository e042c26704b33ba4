//! The driver below the layer: the machine's, whose calls are counted, and fail where a test says so.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ash::vk;
use tileheap_device::ffi;

use crate::invented::{anything, destroy_pipeline, invented};
use crate::memory_types::{allocate_memory, buffer_requirements, image_requirements, memory_properties};
use crate::queues::{get_device_queue, queue_submit, queue_submit2, queue_wait_idle};

/// Calls that can fail, since the last `arm`.
pub(crate) static CALLS: AtomicUsize = AtomicUsize::new(0);
/// Which of them fails; 0 for none.
pub(crate) static FAILS: AtomicUsize = AtomicUsize::new(0);
pub(crate) static FAILURE: AtomicI32 = AtomicI32::new(0);
/// Driver objects that live.
pub(crate) static LIVE: AtomicI64 = AtomicI64::new(0);
pub(crate) static PANICS: AtomicUsize = AtomicUsize::new(0);
/// The driver has tile memory of its own, of this version.
pub(crate) static HAS_TILE_MEMORY: AtomicBool = AtomicBool::new(false);
pub(crate) const NATIVE_VERSION: u32 = 7;
/// The call that failed.
pub(crate) static FAILED: Mutex<Option<&str>> = Mutex::new(None);
/// The types in the chain that the driver was last given for a device; `None` while nobody asks.
pub(crate) static DEVICE_CHAIN: Mutex<Option<Vec<vk::StructureType>>> = Mutex::new(None);
/// The noted commands that reached the driver, in order; `None` while nobody asks.
pub(crate) static CALLED: Mutex<Option<Vec<&str>>> = Mutex::new(None);
/// Every name is a command of the driver's.
pub(crate) static HAS_EVERYTHING: AtomicBool = AtomicBool::new(false);
/// The machine's commands by name.
pub(crate) static BELOW: Mutex<Option<HashMap<String, usize>>> = Mutex::new(None);

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The `n`-th call that can fail fails so; none if `n` is 0.
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

/// Declares wrappers: commands that can fail and make so many objects, and commands that destroy one unless it is null.
macro_rules! wrappers {
    (
        $(fallible $name:ident($($arg:ident: $type:ty),*) $(makes $made:expr)?;)+
        $(destroys $gone:ident($owner:ty, $object:ty);)+
        $(noted $noted:ident($($noted_arg:ident: $noted_type:ty),*) $(-> $answer:ty)?;)+
    ) => {
        $(
            #[allow(non_snake_case, reason = "Vulkan's names")]
            unsafe extern "system" fn $noted($($noted_arg: $noted_type),*) $(-> $answer)? {
                if let Some(called) = &mut *lock(&CALLED) {
                    called.push(stringify!($noted));
                }
                type Pointer = unsafe extern "system" fn($($noted_type),*) $(-> $answer)?;
                // SAFETY: The command's type.
                let below: Pointer = unsafe { machines(stringify!($noted)) };
                // SAFETY: The layer's arguments.
                unsafe { below($($noted_arg),*) }
            }
        )+
        $(
            #[allow(non_snake_case, reason = "Vulkan's names")]
            unsafe extern "system" fn $name($($arg: $type),*) -> vk::Result {
                if let Some(error) = fails(stringify!($name)) {
                    return error;
                }
                type Pointer = unsafe extern "system" fn($($type),*) -> vk::Result;
                // SAFETY: The machine's command of this name.
                let below = unsafe { transmute::<usize, Pointer>(below(stringify!($name))) };
                // SAFETY: The layer's arguments.
                let result = unsafe { below($($arg),*) };
                $(
                    if result == vk::Result::SUCCESS {
                        LIVE.fetch_add($made, SeqCst);
                    }
                )?
                result
            }
        )+
        $(
            #[allow(non_snake_case, reason = "Vulkan's names")]
            unsafe extern "system" fn $gone(owner: $owner, object: $object, allocator: *const c_void) {
                if object != <$object>::null() {
                    LIVE.fetch_sub(1, SeqCst);
                }
                type Pointer = unsafe extern "system" fn($owner, $object, *const c_void);
                // SAFETY: The machine's command of this name.
                let below = unsafe { transmute::<usize, Pointer>(below(stringify!($gone))) };
                // SAFETY: The layer's arguments.
                unsafe { below(owner, object, allocator) };
            }
        )+

        fn wrapper(name: &CStr) -> Option<usize> {
            match name.to_str().unwrap_or_default() {
                $(stringify!($name) => Some($name as *const () as usize),)+
                $(stringify!($gone) => Some($gone as *const () as usize),)+
                $(stringify!($noted) => Some($noted as *const () as usize),)+
                "vkEnumerateDeviceExtensionProperties" => Some(enumerate_extensions as *const () as usize),
                "vkCreateInstance" => Some(create_instance as *const () as usize),
                "vkDestroyInstance" => Some(destroy_instance as *const () as usize),
                "vkCreateDevice" => Some(create_device as *const () as usize),
                "vkDestroyDevice" => Some(destroy_device as *const () as usize),
                "vkGetInstanceProcAddr" => Some(instance_look_up as *const () as usize),
                "vkGetDeviceProcAddr" => Some(device_look_up as *const () as usize),
                "vkGetDeviceQueue" => Some(get_device_queue as *const () as usize),
                "vkQueueSubmit" => Some(queue_submit as *const () as usize),
                "vkQueueSubmit2" => Some(queue_submit2 as *const () as usize),
                "vkQueueWaitIdle" => Some(queue_wait_idle as *const () as usize),
                "vkDestroyPipeline" => Some(destroy_pipeline as *const () as usize),
                "vkAllocateMemory" => Some(allocate_memory as *const () as usize),
                "vkGetPhysicalDeviceMemoryProperties" => Some(memory_properties as *const () as usize),
                "vkGetBufferMemoryRequirements" => Some(buffer_requirements as *const () as usize),
                "vkGetImageMemoryRequirements" => Some(image_requirements as *const () as usize),
                _ => None,
            }
        }
    };
}

pub(crate) type Any = *const c_void;

wrappers! {
    fallible vkCreateBuffer(device: vk::Device, info: Any, allocator: Any, out: *mut vk::Buffer) makes 1;
    fallible vkCreateImage(device: vk::Device, info: Any, allocator: Any, out: *mut vk::Image) makes 1;
    fallible vkCreateImageView(device: vk::Device, info: Any, allocator: Any, out: *mut vk::ImageView) makes 1;
    fallible vkCreateBufferView(device: vk::Device, info: Any, allocator: Any, out: *mut vk::BufferView) makes 1;
    fallible vkCreateFramebuffer(device: vk::Device, info: Any, allocator: Any, out: *mut vk::Framebuffer) makes 1;
    fallible vkCreateRenderPass(device: vk::Device, info: Any, allocator: Any, out: *mut vk::RenderPass) makes 1;
    fallible vkCreateRenderPass2(device: vk::Device, info: Any, allocator: Any, out: *mut vk::RenderPass) makes 1;
    fallible vkCreateShaderModule(device: vk::Device, info: Any, allocator: Any, out: *mut vk::ShaderModule) makes 1;
    fallible vkCreateComputePipelines(
        device: vk::Device, cache: vk::PipelineCache, count: u32, infos: Any, allocator: Any, out: *mut vk::Pipeline
    ) makes i64::from(count);
    fallible vkCreateGraphicsPipelines(
        device: vk::Device, cache: vk::PipelineCache, count: u32, infos: Any, allocator: Any, out: *mut vk::Pipeline
    ) makes i64::from(count);
    fallible vkCreateDescriptorSetLayout(
        device: vk::Device, info: Any, allocator: Any, out: *mut vk::DescriptorSetLayout
    ) makes 1;
    fallible vkCreatePipelineLayout(device: vk::Device, info: Any, allocator: Any, out: *mut vk::PipelineLayout) makes 1;
    fallible vkMapMemory(
        device: vk::Device, memory: vk::DeviceMemory, offset: u64, size: u64, flags: vk::MemoryMapFlags,
        out: *mut *mut c_void
    );
    fallible vkCreateDescriptorPool(device: vk::Device, info: Any, allocator: Any, out: *mut vk::DescriptorPool) makes 1;
    fallible vkAllocateDescriptorSets(device: vk::Device, info: Any, out: *mut vk::DescriptorSet);
    fallible vkResetDescriptorPool(device: vk::Device, pool: vk::DescriptorPool, flags: vk::DescriptorPoolResetFlags);
    fallible vkCreateDescriptorUpdateTemplate(
        device: vk::Device, info: Any, allocator: Any, out: *mut vk::DescriptorUpdateTemplate
    ) makes 1;
    fallible vkCreateSemaphore(device: vk::Device, info: Any, allocator: Any, out: *mut vk::Semaphore) makes 1;
    fallible vkCreateCommandPool(device: vk::Device, info: Any, allocator: Any, out: *mut vk::CommandPool) makes 1;
    fallible vkAllocateCommandBuffers(
        device: vk::Device, info: *const vk::CommandBufferAllocateInfo<'_>, out: *mut vk::CommandBuffer
    );
    fallible vkBeginCommandBuffer(commands: vk::CommandBuffer, info: Any);
    fallible vkEndCommandBuffer(commands: vk::CommandBuffer);
    fallible vkBindBufferMemory(
        device: vk::Device, buffer: vk::Buffer, memory: vk::DeviceMemory, offset: vk::DeviceSize
    );
    fallible vkBindImageMemory(device: vk::Device, image: vk::Image, memory: vk::DeviceMemory, offset: vk::DeviceSize);
    fallible vkBindBufferMemory2(device: vk::Device, count: u32, infos: Any);
    fallible vkBindImageMemory2(device: vk::Device, count: u32, infos: Any);
    destroys vkFreeMemory(vk::Device, vk::DeviceMemory);
    destroys vkDestroyBuffer(vk::Device, vk::Buffer);
    destroys vkDestroyImage(vk::Device, vk::Image);
    destroys vkDestroyImageView(vk::Device, vk::ImageView);
    destroys vkDestroyBufferView(vk::Device, vk::BufferView);
    destroys vkDestroyFramebuffer(vk::Device, vk::Framebuffer);
    destroys vkDestroyRenderPass(vk::Device, vk::RenderPass);
    destroys vkDestroyShaderModule(vk::Device, vk::ShaderModule);
    destroys vkDestroyDescriptorSetLayout(vk::Device, vk::DescriptorSetLayout);
    destroys vkDestroyPipelineLayout(vk::Device, vk::PipelineLayout);
    destroys vkDestroyDescriptorPool(vk::Device, vk::DescriptorPool);
    destroys vkDestroyDescriptorUpdateTemplate(vk::Device, vk::DescriptorUpdateTemplate);
    destroys vkDestroySemaphore(vk::Device, vk::Semaphore);
    destroys vkDestroyCommandPool(vk::Device, vk::CommandPool);
    noted vkGetPhysicalDeviceFeatures2(physical: vk::PhysicalDevice, out: Any);
    noted vkGetPhysicalDeviceFeatures2KHR(physical: vk::PhysicalDevice, out: Any);
    noted vkGetPhysicalDeviceToolProperties(physical: vk::PhysicalDevice, count: Any, out: Any) -> vk::Result;
    noted vkGetPhysicalDeviceToolPropertiesEXT(physical: vk::PhysicalDevice, count: Any, out: Any) -> vk::Result;
    noted vkCmdFillBuffer(
        commands: vk::CommandBuffer, buffer: vk::Buffer, offset: u64, size: u64, data: u32
    );
    noted vkCmdPipelineBarrier(
        commands: vk::CommandBuffer, from: u32, to: u32, flags: u32, memory_count: u32, memory: Any, buffer_count: u32,
        buffers: Any, image_count: u32, images: Any
    );
    noted vkCmdPipelineBarrier2(commands: vk::CommandBuffer, info: Any);
    noted vkCmdPipelineBarrier2KHR(commands: vk::CommandBuffer, info: Any);
    noted vkCmdBeginRendering(commands: vk::CommandBuffer, info: Any);
    noted vkCmdEndRendering(commands: vk::CommandBuffer);
}

/// Lists the machine's extensions, and `VK_QCOM_tile_memory_heap` where the driver is to have it.
unsafe extern "system" fn enumerate_extensions(
    physical: vk::PhysicalDevice,
    layer: *const c_char,
    count: *mut u32,
    out: *mut vk::ExtensionProperties,
) -> vk::Result {
    if let Some(error) = fails("vkEnumerateDeviceExtensionProperties") {
        return error;
    }
    // SAFETY: The command's type.
    let below: vk::PFN_vkEnumerateDeviceExtensionProperties =
        unsafe { machines("vkEnumerateDeviceExtensionProperties") };
    // SAFETY: A count of the layer's.
    let room = unsafe { *count as usize };
    // SAFETY: The layer's arguments.
    let result = unsafe { below(physical, layer, count, out) };
    if !HAS_TILE_MEMORY.load(SeqCst) || result != vk::Result::SUCCESS {
        return result;
    }
    // SAFETY: Written above.
    let given = unsafe { &mut *count };
    if !out.is_null() {
        if room == *given as usize {
            return vk::Result::INCOMPLETE;
        }
        let own = vk::ExtensionProperties::default()
            .spec_version(NATIVE_VERSION)
            .extension_name(ffi::tile_memory_heap::NAME)
            .expect("a short name");
        // SAFETY: There is room behind what was given.
        unsafe { out.add(*given as usize).write(own) };
    }
    *given += 1;
    vk::Result::SUCCESS
}

/// Takes the layer's structures off, as the loader's own terminators would, and counts.
pub(crate) unsafe extern "system" fn create_instance(
    info: *const vk::InstanceCreateInfo<'_>,
    allocator: Any,
    out: *mut vk::Instance,
) -> vk::Result {
    if let Some(error) = fails("vkCreateInstance") {
        return error;
    }
    // SAFETY: A valid create info, and the command's type.
    let (mut copy, below) = unsafe { (*info, machines::<vk::PFN_vkCreateInstance>("vkCreateInstance")) };
    copy.p_next = std::ptr::null();
    // SAFETY: The layer's arguments.
    let result = unsafe { below(&copy, allocator.cast(), out) };
    if result == vk::Result::SUCCESS {
        LIVE.fetch_add(1, SeqCst);
    }
    result
}

pub(crate) unsafe extern "system" fn destroy_instance(instance: vk::Instance, allocator: Any) {
    LIVE.fetch_sub(1, SeqCst);
    // SAFETY: The command's type, and the layer's arguments.
    unsafe { machines::<vk::PFN_vkDestroyInstance>("vkDestroyInstance")(instance, allocator.cast()) };
}

/// The driver has one queue; the layer is told of two.
pub(crate) unsafe extern "system" fn create_device(
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    allocator: Any,
    out: *mut vk::Device,
) -> vk::Result {
    if let Some(error) = fails("vkCreateDevice") {
        return error;
    }
    // SAFETY: A valid create info, and the command's type.
    let (mut copy, below) = unsafe { (*info, machines::<vk::PFN_vkCreateDevice>("vkCreateDevice")) };
    // SAFETY: A valid create info, of one family.
    let mut queues = unsafe { *copy.p_queue_create_infos };
    queues.queue_count = 1;
    copy.p_queue_create_infos = &raw const queues;
    // SAFETY: The layer's arguments; drivers skip structures that they do not know.
    let result = unsafe { below(physical, &copy, allocator.cast(), out) };
    if result == vk::Result::SUCCESS {
        LIVE.fetch_add(1, SeqCst);
        // SAFETY: A valid create info, whose chain the layer made.
        unsafe { note_chain(copy.p_next) };
    }
    result
}

/// The types in a chain, where a test wants to know them.
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

pub(crate) unsafe extern "system" fn destroy_device(device: vk::Device, allocator: Any) {
    LIVE.fetch_sub(1, SeqCst);
    // SAFETY: The command's type, and the layer's arguments.
    unsafe { machines::<vk::PFN_vkDestroyDevice>("vkDestroyDevice")(device, allocator.cast()) };
}

pub(crate) unsafe extern "system" fn instance_look_up(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    type Pointer = unsafe extern "system" fn(vk::Instance, *const c_char) -> usize;
    // SAFETY: The machine's command of this name.
    let look_up = unsafe { transmute::<usize, Pointer>(below("vkGetInstanceProcAddr")) };
    // SAFETY: The layer's arguments.
    unsafe { wrapped(look_up(instance, name), name) }
}

pub(crate) unsafe extern "system" fn device_look_up(
    device: vk::Device,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    type Pointer = unsafe extern "system" fn(vk::Device, *const c_char) -> usize;
    // SAFETY: The machine's command of this name.
    let look_up = unsafe { transmute::<usize, Pointer>(below("vkGetDeviceProcAddr")) };
    // SAFETY: The layer's arguments.
    unsafe { wrapped(look_up(device, name), name) }
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
    unsafe { transmute::<usize, vk::PFN_vkVoidFunction>(wrapper.unwrap_or(found)) }
}
