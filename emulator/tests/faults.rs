//! The layer without a loader above it, and below it a driver that fails where it is told to.
//!
//! ```text
//! application (here) ─► layer (linked) ─► wrappers ─► the machine's loader and driver
//!                                            │ count what lives
//!                                            └ fail the n-th call that can fail
//! ```
//! For every n until a program runs through: its error comes back, and nothing is left over: no driver object, no byte.

// Every call of ash is unsafe; a comment says what a stretch of them relies on.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ash::vk;
use tileheap::ffi;
use tileheap_emulator::{LAYER_NAME, NegotiateLayerInterface, vkNegotiateLoaderLayerInterfaceVersion};

/// Counts the bytes that Rust code has allocated: the layer and this program, since the driver is none.
struct Counting;

static BYTES: AtomicI64 = AtomicI64::new(0);

// SAFETY: The system's allocator does all the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size() as i64, SeqCst);
        // SAFETY: The caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size() as i64, SeqCst);
        // SAFETY: The caller's promise.
        unsafe { System.dealloc(at, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Calls that can fail, since the last `arm`.
static CALLS: AtomicUsize = AtomicUsize::new(0);
/// Which of them fails; 0 for none.
static FAILS: AtomicUsize = AtomicUsize::new(0);
static FAILURE: AtomicI32 = AtomicI32::new(0);
/// Driver objects that live.
static LIVE: AtomicI64 = AtomicI64::new(0);
static PANICS: AtomicUsize = AtomicUsize::new(0);
/// The call that failed.
static FAILED: Mutex<Option<&str>> = Mutex::new(None);
/// The machine's commands by name.
static BELOW: Mutex<Option<HashMap<String, usize>>> = Mutex::new(None);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The `n`-th call that can fail fails so; none if `n` is 0.
fn arm(n: usize, failure: vk::Result) {
    CALLS.store(0, SeqCst);
    FAILURE.store(failure.as_raw(), SeqCst);
    *lock(&FAILED) = None;
    FAILS.store(n, SeqCst);
}

fn fails(name: &'static str) -> Option<vk::Result> {
    let call = CALLS.fetch_add(1, SeqCst) + 1;
    (call == FAILS.load(SeqCst)).then(|| {
        *lock(&FAILED) = Some(name);
        vk::Result::from_raw(FAILURE.load(SeqCst))
    })
}

fn below(name: &str) -> usize {
    *lock(&BELOW)
        .as_ref()
        .and_then(|below| below.get(name))
        .expect("the wrapper was asked for")
}

/// Declares wrappers: commands that can fail and make so many objects, and commands that destroy one unless it is null.
macro_rules! wrappers {
    (
        $(fallible $name:ident($($arg:ident: $type:ty),*) $(makes $made:expr)?;)+
        $(destroys $gone:ident($owner:ty, $object:ty);)+
    ) => {
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
                "vkCreateInstance" => Some(create_instance as *const () as usize),
                "vkDestroyInstance" => Some(destroy_instance as *const () as usize),
                "vkCreateDevice" => Some(create_device as *const () as usize),
                "vkDestroyDevice" => Some(destroy_device as *const () as usize),
                "vkGetInstanceProcAddr" => Some(instance_look_up as *const () as usize),
                "vkGetDeviceProcAddr" => Some(device_look_up as *const () as usize),
                "vkGetDeviceQueue" => Some(get_device_queue as *const () as usize),
                _ => None,
            }
        }
    };
}

type Any = *const c_void;

wrappers! {
    fallible vkEnumerateDeviceExtensionProperties(
        physical: vk::PhysicalDevice, layer: *const c_char, count: *mut u32, out: *mut vk::ExtensionProperties
    );
    fallible vkAllocateMemory(device: vk::Device, info: Any, allocator: Any, out: *mut vk::DeviceMemory) makes 1;
    fallible vkCreateBuffer(device: vk::Device, info: Any, allocator: Any, out: *mut vk::Buffer) makes 1;
    fallible vkCreateImage(device: vk::Device, info: Any, allocator: Any, out: *mut vk::Image) makes 1;
    fallible vkCreateImageView(device: vk::Device, info: Any, allocator: Any, out: *mut vk::ImageView) makes 1;
    fallible vkCreateBufferView(device: vk::Device, info: Any, allocator: Any, out: *mut vk::BufferView) makes 1;
    fallible vkCreateFramebuffer(device: vk::Device, info: Any, allocator: Any, out: *mut vk::Framebuffer) makes 1;
    fallible vkCreateRenderPass(device: vk::Device, info: Any, allocator: Any, out: *mut vk::RenderPass) makes 1;
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
    fallible vkQueueSubmit(queue: vk::Queue, count: u32, infos: Any, fence: vk::Fence);
    fallible vkQueueSubmit2(queue: vk::Queue, count: u32, infos: Any, fence: vk::Fence);
    destroys vkFreeMemory(vk::Device, vk::DeviceMemory);
    destroys vkDestroyBuffer(vk::Device, vk::Buffer);
    destroys vkDestroyImage(vk::Device, vk::Image);
    destroys vkDestroyImageView(vk::Device, vk::ImageView);
    destroys vkDestroyBufferView(vk::Device, vk::BufferView);
    destroys vkDestroyFramebuffer(vk::Device, vk::Framebuffer);
    destroys vkDestroyRenderPass(vk::Device, vk::RenderPass);
    destroys vkDestroySemaphore(vk::Device, vk::Semaphore);
    destroys vkDestroyCommandPool(vk::Device, vk::CommandPool);
}

/// Takes the layer's structures off, as the loader's own terminators would, and counts.
unsafe extern "system" fn create_instance(
    info: *const vk::InstanceCreateInfo<'_>,
    allocator: Any,
    out: *mut vk::Instance,
) -> vk::Result {
    if let Some(error) = fails("vkCreateInstance") {
        return error;
    }
    type Pointer =
        unsafe extern "system" fn(&vk::InstanceCreateInfo<'_>, Any, *mut vk::Instance) -> vk::Result;
    // SAFETY: A valid create info, and the machine's command of this name.
    let (mut copy, below) = unsafe { (*info, transmute::<usize, Pointer>(below("vkCreateInstance"))) };
    copy.p_next = std::ptr::null();
    // SAFETY: The layer's arguments.
    let result = unsafe { below(&copy, allocator, out) };
    if result == vk::Result::SUCCESS {
        LIVE.fetch_add(1, SeqCst);
    }
    result
}

unsafe extern "system" fn destroy_instance(instance: vk::Instance, allocator: Any) {
    LIVE.fetch_sub(1, SeqCst);
    type Pointer = unsafe extern "system" fn(vk::Instance, Any);
    // SAFETY: The machine's command of this name.
    let below = unsafe { transmute::<usize, Pointer>(below("vkDestroyInstance")) };
    // SAFETY: The layer's arguments.
    unsafe { below(instance, allocator) };
}

/// The driver has one queue; the layer is told of two.
unsafe extern "system" fn create_device(
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    allocator: Any,
    out: *mut vk::Device,
) -> vk::Result {
    if let Some(error) = fails("vkCreateDevice") {
        return error;
    }
    type Pointer = unsafe extern "system" fn(
        vk::PhysicalDevice,
        &vk::DeviceCreateInfo<'_>,
        Any,
        *mut vk::Device,
    ) -> vk::Result;
    // SAFETY: A valid create info, and the machine's command of this name.
    let (mut copy, below) = unsafe { (*info, transmute::<usize, Pointer>(below("vkCreateDevice"))) };
    // SAFETY: A valid create info, of one family.
    let mut queues = unsafe { *copy.p_queue_create_infos };
    queues.queue_count = 1;
    copy.p_queue_create_infos = &raw const queues;
    // SAFETY: The layer's arguments; drivers skip structures that they do not know.
    let result = unsafe { below(physical, &copy, allocator, out) };
    if result == vk::Result::SUCCESS {
        LIVE.fetch_add(1, SeqCst);
    }
    result
}

unsafe extern "system" fn destroy_device(device: vk::Device, allocator: Any) {
    LIVE.fetch_sub(1, SeqCst);
    type Pointer = unsafe extern "system" fn(vk::Device, Any);
    // SAFETY: The machine's command of this name.
    let below = unsafe { transmute::<usize, Pointer>(below("vkDestroyDevice")) };
    // SAFETY: The layer's arguments.
    unsafe { below(device, allocator) };
}

unsafe extern "system" fn get_device_queue(device: vk::Device, family: u32, _: u32, out: *mut vk::Queue) {
    type Pointer = unsafe extern "system" fn(vk::Device, u32, u32, *mut vk::Queue);
    // SAFETY: The machine's command of this name.
    let below = unsafe { transmute::<usize, Pointer>(below("vkGetDeviceQueue")) };
    // SAFETY: The layer's arguments.
    unsafe { below(device, family, 0, out) };
}

unsafe extern "system" fn instance_look_up(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    type Pointer = unsafe extern "system" fn(vk::Instance, *const c_char) -> usize;
    // SAFETY: The machine's command of this name.
    let look_up = unsafe { transmute::<usize, Pointer>(below("vkGetInstanceProcAddr")) };
    // SAFETY: The layer's arguments.
    unsafe { wrapped(look_up(instance, name), name) }
}

unsafe extern "system" fn device_look_up(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    type Pointer = unsafe extern "system" fn(vk::Device, *const c_char) -> usize;
    // SAFETY: The machine's command of this name.
    let look_up = unsafe { transmute::<usize, Pointer>(below("vkGetDeviceProcAddr")) };
    // SAFETY: The layer's arguments.
    unsafe { wrapped(look_up(device, name), name) }
}

/// # Safety
/// `name` is a C string, and `found` null or the machine's command of that name.
unsafe fn wrapped(found: usize, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: The caller's promise.
    let name = unsafe { CStr::from_ptr(name) };
    let wrapper = wrapper(name).filter(|_| found != 0);
    if wrapper.is_some() && name != c"vkGetInstanceProcAddr" {
        let mut below = lock(&BELOW);
        let below = below.get_or_insert_default();
        below.insert(name.to_string_lossy().into_owned(), found);
    }
    // SAFETY: Null, or a function of the type that goes with the name.
    unsafe { transmute::<usize, vk::PFN_vkVoidFunction>(wrapper.unwrap_or(found)) }
}

/// `VkLayerInstanceLink` and `VkLayerDeviceLink`.
#[repr(C)]
struct Link {
    next: Any,
    instance_look_up: Any,
    /// Of a device link; an instance link has the look-up of physical device commands here.
    device_look_up: Any,
}

/// `VkLayerInstanceCreateInfo` and `VkLayerDeviceCreateInfo`.
#[repr(C)]
struct LayerInfo {
    s_type: vk::StructureType,
    p_next: Any,
    function: u32,
    payload: Any,
}

const fn link() -> Link {
    Link {
        next: std::ptr::null(),
        instance_look_up: instance_look_up as Any,
        device_look_up: std::ptr::null(),
    }
}

/// A structure that nobody knows.
#[repr(C)]
struct Unknown {
    s_type: vk::StructureType,
    p_next: Any,
    garbage: [u64; 4],
}

impl Unknown {
    fn before(p_next: Any) -> Unknown {
        Unknown {
            s_type: vk::StructureType::from_raw(0x7EAD_BEEF),
            p_next,
            garbage: [u64::MAX; 4],
        }
    }
}

/// `vkSetDeviceLoaderData`, which can fail too. What lies below has told its loader already.
unsafe extern "system" fn set_loader_data(_: vk::Device, _: *mut c_void) -> vk::Result {
    fails("vkSetDeviceLoaderData").unwrap_or(vk::Result::SUCCESS)
}

/// The layer's look-up, by negotiation.
fn layer() -> vk::PFN_vkGetInstanceProcAddr {
    #[repr(C)]
    struct Interface {
        s_type: u32,
        p_next: Any,
        version: u32,
        look_ups: [Option<vk::PFN_vkGetInstanceProcAddr>; 3],
    }
    let mut interface = Interface {
        s_type: 1,
        p_next: std::ptr::null(),
        version: 2,
        look_ups: [None; 3],
    };
    let pointer = (&raw mut interface).cast::<NegotiateLayerInterface>();
    // SAFETY: The same structure.
    let agreed = unsafe { vkNegotiateLoaderLayerInterfaceVersion(pointer) };
    assert_eq!(agreed, vk::Result::SUCCESS);
    interface.look_ups[0].expect("a look-up")
}

/// Below the layer: the machine's loader, kept open.
fn machine() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    static ENTRY: Mutex<Option<ash::Entry>> = Mutex::new(None);
    let turn = lock(&TURN);
    let mut entry = lock(&ENTRY);
    if entry.is_none() {
        // Nothing but the layer under test; before the loader reads it, and no other test runs.
        // SAFETY: As the comment says.
        unsafe { std::env::remove_var("VK_INSTANCE_LAYERS") };
        // SAFETY: The library found is a loader.
        let loaded = unsafe { ash::Entry::load() }.expect("a Vulkan loader");
        let look_up = loaded.static_fn().get_instance_proc_addr as *const () as usize;
        lock(&BELOW)
            .get_or_insert_default()
            .insert("vkGetInstanceProcAddr".to_owned(), look_up);
        *entry = Some(loaded);
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            PANICS.fetch_add(1, SeqCst);
            before(info);
        }));
    }
    turn
}

/// What a program has, destroyed in order whatever became of it.
#[derive(Default)]
struct Owned {
    instance: Option<ash::Instance>,
    device: Option<ash::Device>,
    memory: Vec<vk::DeviceMemory>,
    buffers: Vec<vk::Buffer>,
    images: Vec<vk::Image>,
    image_views: Vec<vk::ImageView>,
    buffer_views: Vec<vk::BufferView>,
    passes: Vec<vk::RenderPass>,
    framebuffers: Vec<vk::Framebuffer>,
    pools: Vec<vk::CommandPool>,
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: Idle, and destroyed in the order of use.
        unsafe {
            if let Some(device) = &self.device {
                let _ = device.device_wait_idle();
                self.pools
                    .iter()
                    .for_each(|handle| device.destroy_command_pool(*handle, None));
                self.framebuffers
                    .iter()
                    .for_each(|handle| device.destroy_framebuffer(*handle, None));
                self.passes
                    .iter()
                    .for_each(|handle| device.destroy_render_pass(*handle, None));
                self.image_views
                    .iter()
                    .for_each(|handle| device.destroy_image_view(*handle, None));
                self.buffer_views
                    .iter()
                    .for_each(|handle| device.destroy_buffer_view(*handle, None));
                self.images
                    .iter()
                    .for_each(|handle| device.destroy_image(*handle, None));
                self.buffers
                    .iter()
                    .for_each(|handle| device.destroy_buffer(*handle, None));
                self.memory
                    .iter()
                    .for_each(|handle| device.free_memory(*handle, None));
                device.destroy_device(None);
            }
            if let Some(instance) = &self.instance {
                instance.destroy_instance(None);
            }
        }
    }
}

/// A chain for a create info: nothing, or a structure that nobody knows.
struct Chains {
    unknown: Option<Unknown>,
}

impl Chains {
    fn head(&self) -> Any {
        self.unknown
            .as_ref()
            .map_or(std::ptr::null(), |unknown| (&raw const *unknown).cast())
    }
}

const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

impl Owned {
    /// An instance through the layer, and its first device with tile memory.
    fn create(&mut self, strange: bool) -> Result<(vk::Queue, u32), vk::Result> {
        // SAFETY: The layer's look-up lives as long as the program.
        let entry = unsafe {
            ash::Entry::from_static_fn(ash::StaticFn {
                get_instance_proc_addr: layer(),
            })
        };
        let values = [c"generous".as_ptr()];
        let settings = [vk::LayerSettingEXT {
            p_layer_name: LAYER_NAME.as_ptr(),
            p_setting_name: c"profile".as_ptr(),
            ty: vk::LayerSettingTypeEXT::STRING,
            value_count: 1,
            p_values: values.as_ptr().cast(),
            ..Default::default()
        }];
        let layer_settings = vk::LayerSettingsCreateInfoEXT::default().settings(&settings);
        let unknown = Unknown::before((&raw const layer_settings).cast());
        let under = link();
        let chain = LayerInfo {
            s_type: vk::StructureType::LOADER_INSTANCE_CREATE_INFO,
            p_next: if strange {
                (&raw const unknown).cast()
            } else {
                unknown.p_next
            },
            function: 0,
            payload: (&raw const under).cast(),
        };
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let mut info = vk::InstanceCreateInfo::default().application_info(&application);
        info.p_next = (&raw const chain).cast();
        // SAFETY: A valid create info with the chain that a loader would hand over.
        let instance = self
            .instance
            .insert(unsafe { entry.create_instance(&info, None) }?);
        // SAFETY: A live instance.
        let physical = unsafe { instance.enumerate_physical_devices() }?[0];
        // SAFETY: A live device.
        let types = unsafe { instance.get_physical_device_memory_properties(physical) };
        let is_tile = |kind: &vk::MemoryType| {
            let heap = types.memory_heaps[kind.heap_index as usize];
            heap.flags.contains(ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM)
        };
        let tile_type = types
            .memory_types_as_slice()
            .iter()
            .position(is_tile)
            .expect("a tile type");
        let mut under = link();
        under.device_look_up = device_look_up as Any;
        let heap = ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM::default().tile_memory_heap(true);
        let core13 = vk::PhysicalDeviceVulkan13Features {
            synchronization2: vk::TRUE,
            p_next: (&raw const heap).cast_mut().cast(),
            ..Default::default()
        };
        let unknown = Unknown::before((&raw const core13).cast());
        let callback = LayerInfo {
            s_type: vk::StructureType::LOADER_DEVICE_CREATE_INFO,
            p_next: if strange {
                (&raw const unknown).cast()
            } else {
                unknown.p_next
            },
            function: 1,
            payload: set_loader_data as Any,
        };
        let chain = LayerInfo {
            s_type: vk::StructureType::LOADER_DEVICE_CREATE_INFO,
            p_next: (&raw const callback).cast(),
            function: 0,
            payload: (&raw const under).cast(),
        };
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0, 1.0])];
        let extensions = [ffi::tile_memory_heap::NAME.as_ptr()];
        let mut info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions);
        info.p_next = (&raw const chain).cast();
        // SAFETY: As above.
        let device = unsafe { instance.create_device(physical, &info, None) }?;
        // SAFETY: A queue that the device has.
        let queue = unsafe { device.get_device_queue(0, 1) };
        self.device = Some(device);
        Ok((queue, tile_type as u32))
    }

    /// Everything through which the layer reaches down: objects, views, passes, recording, both kinds of submission.
    fn run(&mut self, strange: bool) -> Result<(), vk::Result> {
        let (queue, tile_type) = self.create(strange)?;
        let (instance, device) = (
            self.instance.clone().expect("created"),
            self.device.clone().expect("created"),
        );
        let tile = ffi::tile_memory_heap::Device::new(&instance, &device).expect("vkCmdBindTileMemoryQCOM");
        let chains = Chains {
            unknown: strange.then(|| Unknown::before(std::ptr::null())),
        };
        let p_next = chains.head();
        let object = |size| vk::MemoryAllocateInfo {
            p_next,
            allocation_size: size,
            memory_type_index: tile_type,
            ..Default::default()
        };
        // SAFETY: Valid create infos, handles of this device, and recording as Vulkan wants it; `Owned` waits before it destroys.
        unsafe {
            let memory = device.allocate_memory(&object(1 << 20), None)?;
            self.memory.push(memory);

            use vk::BufferUsageFlags as B;
            let usage = B::UNIFORM_TEXEL_BUFFER | B::TRANSFER_DST | ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
            for second in [false, true] {
                let info = vk::BufferCreateInfo {
                    p_next,
                    size: 4096,
                    usage,
                    ..Default::default()
                };
                let buffer = device.create_buffer(&info, None)?;
                self.buffers.push(buffer);
                if second {
                    let infos = [vk::BindBufferMemoryInfo {
                        p_next,
                        buffer,
                        memory,
                        ..Default::default()
                    }];
                    device.bind_buffer_memory2(&infos)?;
                } else {
                    device.bind_buffer_memory(buffer, memory, 0)?;
                }
            }
            let info = vk::BufferViewCreateInfo {
                p_next,
                buffer: self.buffers[0],
                format: vk::Format::R32_UINT,
                range: vk::WHOLE_SIZE,
                ..Default::default()
            };
            self.buffer_views.push(device.create_buffer_view(&info, None)?);

            use vk::ImageUsageFlags as I;
            let whole = vk::ImageSubresourceRange {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                level_count: 1,
                layer_count: 1,
                ..Default::default()
            };
            for second in [false, true] {
                let info = vk::ImageCreateInfo {
                    p_next,
                    image_type: vk::ImageType::TYPE_2D,
                    format: FORMAT,
                    extent: vk::Extent3D {
                        width: 64,
                        height: 64,
                        depth: 1,
                    },
                    mip_levels: 1,
                    array_layers: 1,
                    samples: vk::SampleCountFlags::TYPE_1,
                    usage: I::COLOR_ATTACHMENT | ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM,
                    ..Default::default()
                };
                let image = device.create_image(&info, None)?;
                self.images.push(image);
                if second {
                    let infos = [vk::BindImageMemoryInfo {
                        p_next,
                        image,
                        memory,
                        ..Default::default()
                    }];
                    device.bind_image_memory2(&infos)?;
                } else {
                    device.bind_image_memory(image, memory, 0)?;
                }
                let info = vk::ImageViewCreateInfo {
                    p_next,
                    image,
                    view_type: vk::ImageViewType::TYPE_2D,
                    format: FORMAT,
                    subresource_range: whole,
                    ..Default::default()
                };
                self.image_views.push(device.create_image_view(&info, None)?);
            }
            let attachments = [vk::AttachmentDescription {
                format: FORMAT,
                samples: vk::SampleCountFlags::TYPE_1,
                load_op: vk::AttachmentLoadOp::CLEAR,
                store_op: vk::AttachmentStoreOp::STORE,
                final_layout: vk::ImageLayout::GENERAL,
                ..Default::default()
            }];
            let references = [vk::AttachmentReference {
                attachment: 0,
                layout: vk::ImageLayout::GENERAL,
            }];
            let subpasses = [vk::SubpassDescription::default().color_attachments(&references)];
            let mut info = vk::RenderPassCreateInfo::default()
                .attachments(&attachments)
                .subpasses(&subpasses);
            info.p_next = p_next;
            let pass = device.create_render_pass(&info, None)?;
            self.passes.push(pass);
            let mut info = vk::FramebufferCreateInfo::default()
                .render_pass(pass)
                .attachments(&self.image_views[..1])
                .width(64)
                .height(64)
                .layers(1);
            info.p_next = p_next;
            let framebuffer = device.create_framebuffer(&info, None)?;
            self.framebuffers.push(framebuffer);

            let info = vk::CommandPoolCreateInfo {
                p_next,
                ..Default::default()
            };
            let pool = device.create_command_pool(&info, None)?;
            self.pools.push(pool);
            let info = vk::CommandBufferAllocateInfo {
                p_next,
                command_pool: pool,
                command_buffer_count: 2,
                ..Default::default()
            };
            let commands = device.allocate_command_buffers(&info)?;
            // The second discards what the first leaves: poison between them, and behind them.
            for (bound, commands) in [(true, commands[0]), (false, commands[1])] {
                device.begin_command_buffer(
                    commands,
                    &vk::CommandBufferBeginInfo {
                        p_next,
                        ..Default::default()
                    },
                )?;
                let bind = ffi::TileMemoryBindInfoQCOM::default().memory(memory);
                tile.cmd_bind_tile_memory(commands, bound.then_some(&bind));
                if bound {
                    device.cmd_fill_buffer(commands, self.buffers[0], 0, vk::WHOLE_SIZE, 1);
                    let clears = [vk::ClearValue::default()];
                    let area = vk::Rect2D {
                        extent: vk::Extent2D {
                            width: 64,
                            height: 64,
                        },
                        ..Default::default()
                    };
                    let mut info = vk::RenderPassBeginInfo::default()
                        .render_pass(pass)
                        .framebuffer(framebuffer)
                        .render_area(area)
                        .clear_values(&clears);
                    info.p_next = p_next;
                    device.cmd_begin_render_pass(commands, &info, vk::SubpassContents::INLINE);
                    device.cmd_end_render_pass(commands);
                } else {
                    // An action command, which also breaks a rule: that is said to nobody.
                    device.cmd_fill_buffer(commands, self.buffers[1], 0, vk::WHOLE_SIZE, 2);
                }
                device.end_command_buffer(commands)?;
            }
            let mut info = vk::SubmitInfo::default().command_buffers(&commands);
            info.p_next = p_next;
            device.queue_submit(queue, &[info], vk::Fence::null())?;
            device.queue_wait_idle(queue)?;
            let infos: Vec<_> = commands
                .iter()
                .map(|commands| vk::CommandBufferSubmitInfo {
                    p_next,
                    command_buffer: *commands,
                    ..Default::default()
                })
                .collect();
            let mut info = vk::SubmitInfo2::default().command_buffer_infos(&infos);
            info.p_next = p_next;
            device.queue_submit2(queue, &[info], vk::Fence::null())?;
            device.queue_wait_idle(queue)?;
        }
        Ok(())
    }
}

/// Runs the program once; its result, and the bytes left over.
fn once(strange: bool) -> (Result<(), vk::Result>, i64) {
    let before = BYTES.load(SeqCst);
    let result = {
        let mut owned = Owned::default();
        owned.run(strange)
    };
    (result, BYTES.load(SeqCst) - before)
}

/// Every call down fails once, in programs without chains and with structures that nobody knows in every chain.
#[test]
fn every_error_from_below_comes_back_and_nothing_is_left() {
    let _turn = machine();
    for strange in [false, true] {
        // Tables that are filled once, and maps that keep their room.
        arm(0, vk::Result::SUCCESS);
        for _ in 0..20 {
            assert_eq!(once(strange).0, Ok(()), "strange: {strange}");
        }
        for failure in [
            vk::Result::ERROR_OUT_OF_HOST_MEMORY,
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
        ] {
            let mut failed = Vec::new();
            'calls: for n in 1.. {
                let mut left = i64::MAX;
                // A map may take more room for the handles of one run; what leaks leaks in each.
                for _ in 0..5 {
                    arm(n, failure);
                    let (result, bytes) = once(strange);
                    left = left.min(bytes);
                    let Some(name) = *lock(&FAILED) else {
                        assert_eq!(result, Ok(()));
                        break 'calls;
                    };
                    // Extensions are asked for again until they are known; everything else is asked once.
                    let recovers = name == "vkEnumerateDeviceExtensionProperties" && result == Ok(());
                    assert!(
                        recovers || result == Err(failure),
                        "call {n}, {name}, strange: {strange}: {result:?}"
                    );
                    assert_eq!(
                        LIVE.load(SeqCst),
                        0,
                        "objects left after call {n}, {name}, failed"
                    );
                    if left <= 0 {
                        failed.push(name);
                        break;
                    }
                }
                assert!(
                    left <= 0,
                    "{left} bytes left each time that call {n} fails: {failed:?}"
                );
            }
            // What the layer does on its own is among them.
            for (name, times) in [
                ("vkCreateDevice", 1),
                ("vkAllocateMemory", 2),
                ("vkBindBufferMemory", 2),
                ("vkCreateImage", 4),
                ("vkCreateCommandPool", 2),
                ("vkAllocateCommandBuffers", 2),
                ("vkSetDeviceLoaderData", 1),
                ("vkCreateSemaphore", 1),
                ("vkQueueSubmit", 1),
                ("vkQueueSubmit2", 1),
            ] {
                let seen = failed.iter().filter(|failed| **failed == name).count();
                assert!(seen >= times, "{name} failed {seen} times: {failed:?}");
            }
        }
    }
    arm(0, vk::Result::SUCCESS);
    assert_eq!(PANICS.load(SeqCst), 0);
}

/// What failed once works when it is tried again: the heap, and a submission.
#[test]
fn an_error_from_below_is_not_for_ever() {
    let _turn = machine();
    arm(0, vk::Result::SUCCESS);
    let mut owned = Owned::default();
    let (_, tile_type) = owned.create(false).expect("a device");
    let device = owned.device.clone().expect("created");
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(4096)
        .memory_type_index(tile_type);
    // The heap's buffer, its memory, its binding, the object.
    for n in 1..=4 {
        arm(n, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        // SAFETY: A type of the device.
        let refused = unsafe { device.allocate_memory(&info, None) };
        assert_eq!(
            refused,
            Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY),
            "{:?}",
            lock(&FAILED)
        );
        arm(0, vk::Result::SUCCESS);
        if n == 3 {
            // SAFETY: As above.
            owned
                .memory
                .push(unsafe { device.allocate_memory(&info, None) }.expect("tile memory"));
            break;
        }
    }
    arm(1, vk::Result::ERROR_OUT_OF_HOST_MEMORY);
    // SAFETY: As above.
    let refused = unsafe { device.allocate_memory(&info, None) };
    assert_eq!(
        refused,
        Err(vk::Result::ERROR_OUT_OF_HOST_MEMORY),
        "the heap is there, the object is not"
    );
    arm(0, vk::Result::SUCCESS);
    drop(owned);
    assert_eq!(LIVE.load(SeqCst), 0);
}

/// A loader that hands over no link, or another structure than it should, is refused.
#[test]
fn without_a_link_there_is_no_instance_and_no_device() {
    let _turn = machine();
    arm(0, vk::Result::SUCCESS);
    // SAFETY: The layer's look-up lives as long as the program.
    let entry = unsafe {
        ash::Entry::from_static_fn(ash::StaticFn {
            get_instance_proc_addr: layer(),
        })
    };
    // SAFETY: A valid create info.
    let made = unsafe { entry.create_instance(&vk::InstanceCreateInfo::default(), None) };
    assert_eq!(made.err(), Some(vk::Result::ERROR_INITIALIZATION_FAILED));
    let mut owned = Owned::default();
    owned.create(false).expect("a device");
    let instance = owned.instance.as_ref().expect("created");
    // SAFETY: A live instance, and a create info that a loader would have chained a link to.
    let made = unsafe {
        let physical = instance.enumerate_physical_devices().expect("devices")[0];
        instance.create_device(physical, &vk::DeviceCreateInfo::default(), None)
    };
    assert_eq!(made.err(), Some(vk::Result::ERROR_INITIALIZATION_FAILED));
    // SAFETY: Null is allowed.
    let none = unsafe { vkNegotiateLoaderLayerInterfaceVersion(std::ptr::null_mut()) };
    assert_eq!(none, vk::Result::ERROR_INITIALIZATION_FAILED);
}

/// A thousand lives of an instance, a device, tile memory and work leave neither a byte nor an object.
#[test]
fn a_thousand_lives_leave_nothing() {
    let _turn = machine();
    arm(0, vk::Result::SUCCESS);
    let mut grown = 0;
    for life in 0..1000 {
        let (result, left) = once(life % 2 == 1);
        assert_eq!(result, Ok(()));
        assert_eq!(LIVE.load(SeqCst), 0, "objects left after life {life}");
        // Maps take their room in the first lives, and now and then for unusual handles.
        grown += if life < 200 { 0 } else { left };
    }
    assert!(grown < 800, "{grown} bytes more after 800 lives");
}
