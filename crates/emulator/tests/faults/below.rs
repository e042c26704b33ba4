//! Driver calls made by the layer: only calls that the application could have made itself.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::sync::atomic::Ordering::SeqCst;

use ash::vk;
use ash::vk::{Handle, TaggedStructure};
use tileheap_device::ffi;
use tileheap_testkit::objects::area;

use crate::driver::{CALLED, DEVICE_CHAIN, lock};
use crate::invented::STATE_COMMANDS;
use crate::loader::machine;
use crate::program::{Options, Owned};

/// A device with a tile image and a command pool.
struct Scene {
    owned: Owned,
    tile: ffi::tile_memory_heap::Device,
}

impl Scene {
    fn new() -> Scene {
        let mut owned = Owned::default();
        owned.run(false).expect("a device and its objects");
        let tile = owned.tile();
        Scene { owned, tile }
    }

    /// Logged commands that reach the driver while `record` runs.
    fn recorded(&self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Vec<&'static str> {
        let (_, device) = self.owned.handles();
        let commands = self.owned.allocate(vk::CommandBufferLevel::PRIMARY);
        let [commands] = commands.expect("a command buffer");
        self.owned.begin(commands).expect("recording begins");
        // SAFETY: Recording.
        unsafe {
            let bind = ffi::TileMemoryBindInfoQCOM::default().memory(self.owned.memory);
            self.tile.cmd_bind_tile_memory(commands, Some(&bind));
            *lock(&CALLED) = Some(Vec::new());
            record(device, commands);
            let called = lock(&CALLED).take().expect("noted");
            device.end_command_buffer(commands).expect("recording ends");
            called
        }
    }

    fn render(&self, device: &ash::Device, commands: vk::CommandBuffer, flags: vk::RenderingFlags) {
        let colors = [vk::RenderingAttachmentInfo::default()
            .image_view(self.owned.view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)];
        let info = vk::RenderingInfo::default()
            .flags(flags)
            .render_area(area(64, 64))
            .layer_count(1)
            .color_attachments(&colors);
        // SAFETY: Recording, with an attachment of this device.
        unsafe {
            device.cmd_begin_rendering(commands, &info);
            device.cmd_end_rendering(commands);
        }
    }
}

/// No action or synchronization command may come between a suspended render pass instance and the one that resumes it
/// (VUID-vkCmdBeginRendering-pRenderingInfo-09588), and tile memory is bound there.
#[test]
fn nothing_is_recorded_between_a_bind_and_a_pass_that_resumes() {
    let _turn = machine();
    let scene = Scene::new();
    let pass = ["vkCmdBeginRendering", "vkCmdEndRendering"];
    let resumed =
        scene.recorded(|device, commands| scene.render(device, commands, vk::RenderingFlags::RESUMING));
    assert_eq!(resumed, pass);

    // Before any other first pass, the guard is recorded after the application's barriers, followed by one more barrier.
    let begun = scene.recorded(|device, commands| {
        let stage = vk::PipelineStageFlags::ALL_COMMANDS;
        // SAFETY: Recording, outside render passes.
        unsafe {
            device.cmd_pipeline_barrier(commands, stage, stage, Default::default(), &[], &[], &[]);
        }
        scene.render(device, commands, vk::RenderingFlags::empty());
        scene.render(device, commands, vk::RenderingFlags::empty());
    });
    let (barrier, fill) = ("vkCmdPipelineBarrier", "vkCmdFillBuffer");
    let guard = [barrier, barrier, fill, barrier];
    assert_eq!(begun, [&guard[..], &pass, &pass].concat());

    // Bytes that a smaller binding discards before a resuming pass are poisoned after it, at the end of its instance.
    let shrunk = scene.recorded(|device, commands| {
        scene.render(device, commands, vk::RenderingFlags::SUSPENDING);
        // SAFETY: Recording, outside render passes.
        unsafe { scene.tile.cmd_bind_tile_memory(commands, None) };
        scene.render(device, commands, vk::RenderingFlags::RESUMING);
    });
    let poison = [barrier, fill, barrier, fill, barrier];
    assert_eq!(shrunk, [&guard[1..], &pass, &pass, &poison].concat());
}

/// Handles are as wide as pointers.
#[test]
fn a_command_buffer_among_the_arguments_arrives_whole() {
    let _turn = machine();
    let scene = Scene::new();
    scene.recorded(|device, commands| {
        let (instance, _) = scene.owned.handles();
        let name = c"vkCmdPreprocessGeneratedCommandsEXT";
        type Command =
            unsafe extern "system" fn(vk::CommandBuffer, *const std::ffi::c_void, vk::CommandBuffer);
        // SAFETY: A live device and a C string.
        let command = unsafe { (instance.fp_v1_0().get_device_proc_addr)(device.handle(), name.as_ptr()) };
        // SAFETY: The command of that name.
        let command = unsafe { std::mem::transmute::<vk::PFN_vkVoidFunction, Option<Command>>(command) };
        let state = vk::CommandBuffer::from_raw(0x1234_5678_9ABC_DEF0);
        // SAFETY: Below the layer, the arguments are not read.
        unsafe { command.expect("the driver has it")(commands, std::ptr::null(), state) };
        assert_eq!(STATE_COMMANDS.load(SeqCst), state.as_raw());
    });
}

/// The layer cannot use core commands of a newer Vulkan than the application requested; the extensions' commands have different names.
#[test]
fn an_old_instance_is_asked_by_the_names_of_extensions() {
    let _turn = machine();
    for (version, expected) in [
        (vk::API_VERSION_1_0, "vkGetPhysicalDeviceFeatures2KHR"),
        (vk::API_VERSION_1_1, "vkGetPhysicalDeviceFeatures2"),
    ] {
        let (mut owned, options) = (Owned::default(), Options::default());
        let physical = owned
            .create_instance(&Options { version, ..options })
            .expect("an instance");
        *lock(&CALLED) = Some(Vec::new());
        let features = vk::PhysicalDeviceSynchronization2Features::default();
        owned
            .create_device_with(false, physical, features)
            .expect("a device");
        let called = lock(&CALLED).take().expect("noted");
        assert!(called.contains(&expected), "{called:?}");
        for name in &called {
            let is_extension = name.ends_with("KHR") || name.ends_with("EXT");
            let is_core = *name == expected || version > vk::API_VERSION_1_2;
            assert!(is_extension || is_core, "{name} on {version:x}: {called:?}");
        }
    }
}

/// A chain may hold only one of the structures that enable timeline semaphores (VUID-VkDeviceCreateInfo-pNext-02830).
#[test]
fn no_second_structure_enables_timeline_semaphores() {
    let _turn = machine();
    let core = vk::PhysicalDeviceVulkan12Features::STRUCTURE_TYPE;
    let own = vk::PhysicalDeviceTimelineSemaphoreFeatures::STRUCTURE_TYPE;
    for (strange, enabled) in [(false, false), (true, true), (true, false)] {
        let mut owned = Owned::default();
        let physical = owned.create_instance(&Options::default()).expect("an instance");
        *lock(&DEVICE_CHAIN) = Some(Vec::new());
        let features = vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(enabled);
        owned
            .create_device_with(strange, physical, features)
            .expect("a device");
        let chain = lock(&DEVICE_CHAIN).take().expect("noted");
        assert!(chain.contains(&core), "{chain:?}");
        assert!(
            !chain.contains(&own),
            "after an unknown structure: {strange}: {chain:?}"
        );
    }
}
