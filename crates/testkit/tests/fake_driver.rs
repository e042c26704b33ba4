//! Tests of the fake driver itself, on which other tests rely.

use ash::vk;
use ash::vk::Handle;
use tileheap::ffi::{self, tile_memory_heap};
use tileheap::runtime::Capabilities;
use tileheap_testkit::counting;
use tileheap_testkit::fake_driver::{Command, Config};
use tileheap_testkit::runtime_rig::{self, image_info, on_fake};

/// The driver's own allocations do not count.
#[global_allocator]
static ALLOCATOR: counting::CountingAllocator = counting::CountingAllocator;

/// A device with everything that its driver supports enabled.
struct Rig(runtime_rig::Rig);

impl std::ops::Deref for Rig {
    type Target = runtime_rig::Rig;
    fn deref(&self) -> &runtime_rig::Rig {
        &self.0
    }
}

impl Rig {
    fn new(asynchronous: bool) -> Rig {
        let config = Config {
            asynchronous,
            ..Config::modern()
        };
        Rig(runtime_rig::Rig::new(config, Capabilities::empty()))
    }

    fn memory(&self, memory_type: u32, size: u64) -> vk::DeviceMemory {
        let info = vk::MemoryAllocateInfo::default()
            .memory_type_index(memory_type)
            .allocation_size(size);
        on_fake!(self.device.allocate_memory(&info, None)).unwrap()
    }

    /// An image in memory of `memory_type` (0 is the tile type) and its view.
    fn target(&self, memory_type: u32, memory: vk::DeviceMemory, offset: u64) -> (vk::Image, vk::ImageView) {
        let mut usage = vk::ImageUsageFlags::COLOR_ATTACHMENT;
        if memory_type == 0 {
            usage |= ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
        }
        let image = on_fake!(self.device.create_image(&image_info(usage), None)).unwrap();
        on_fake!(self.device.bind_image_memory(image, memory, offset)).unwrap();
        let info = vk::ImageViewCreateInfo::default().image(image);
        let view = on_fake!(self.device.create_image_view(&info, None)).unwrap();
        (image, view)
    }

    fn fence(&self) -> Result<vk::Fence, vk::Result> {
        on_fake!(self.device.create_fence(&vk::FenceCreateInfo::default(), None))
    }

    /// A primary command buffer in the recording state.
    fn begun(&self) -> vk::CommandBuffer {
        let (commands, info) = (self.commands[0][0], vk::CommandBufferBeginInfo::default());
        on_fake!(self.device.begin_command_buffer(commands, &info)).unwrap();
        commands
    }

    fn bind_tile(&self, commands: vk::CommandBuffer, memory: vk::DeviceMemory) {
        let tile = tile_memory_heap::Device::new(&self.instance, &self.device).unwrap();
        let info = ffi::TileMemoryBindInfoQCOM::default().memory(memory);
        on_fake!(tile.cmd_bind_tile_memory(commands, Some(&info)));
    }

    fn begin_rendering(&self, commands: vk::CommandBuffer, view: vk::ImageView, flags: vk::RenderingFlags) {
        let color = [vk::RenderingAttachmentInfo::default()
            .image_view(view)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)];
        let info = vk::RenderingInfo::default()
            .flags(flags)
            .color_attachments(&color);
        on_fake!(self.device.cmd_begin_rendering(commands, &info));
    }

    fn submit(&self, commands: vk::CommandBuffer, fence: vk::Fence) -> Result<(), vk::Result> {
        let buffers = [commands];
        let info = vk::SubmitInfo::default().command_buffers(&buffers);
        on_fake!(
            self.device
                .queue_submit(self.desc.queues[0].handle, &[info], fence)
        )
    }

    /// Asserts that the driver has noted violations since the last call that contain each part; none if `parts` is empty.
    #[track_caller]
    fn noted(&self, seen: &mut usize, parts: &[&str]) {
        let all = self.driver.violations();
        let new = all[*seen..].join("\n");
        assert_eq!(new.is_empty(), parts.is_empty(), "{new}");
        assert!(parts.iter().all(|part| new.contains(part)), "{new}");
        *seen = all.len();
    }
}

#[test]
fn objects_are_counted_and_leaks_reported() {
    let (rig, other, mut seen) = (Rig::new(false), Rig::new(false), 0);
    let images = |rig: &Rig| rig.driver.live()[&vk::ObjectType::IMAGE];
    let before = images(&rig);
    let info = image_info(vk::ImageUsageFlags::SAMPLED);
    let image = on_fake!(rig.device.create_image(&info, None)).unwrap();
    assert_eq!(
        (images(&rig), images(&other)),
        (before + 1, before),
        "drivers do not meet"
    );
    on_fake!(rig.device.destroy_device(None));
    rig.noted(&mut seen, &["vkDestroyDevice: IMAGE", "COMMAND_POOL"]);
    on_fake!(rig.device.destroy_image(image, None));
    rig.noted(&mut seen, &["DEVICE"]);
}

#[test]
fn a_stale_handle_is_reported_and_harmless() {
    let (rig, mut seen) = (Rig::new(false), 0);
    let fence = rig.fence().unwrap();
    on_fake!(rig.device.destroy_fence(fence, None));
    on_fake!(rig.device.destroy_fence(fence, None));
    rig.noted(&mut seen, &["was already destroyed"]);
    on_fake!(rig.device.destroy_fence(vk::Fence::null(), None));
    rig.noted(&mut seen, &[]);
    let pool = vk::Fence::from_raw(rig.pools[0].as_raw());
    on_fake!(rig.device.destroy_fence(pool, None));
    rig.noted(&mut seen, &["is of another type"]);
}

#[test]
fn what_is_in_flight_must_not_be_destroyed() {
    let (rig, mut seen) = (Rig::new(true), 0);
    let memory = rig.memory(0, 1_056_768);
    let (image, view) = rig.target(0, memory, 0);
    let fence = rig.fence().unwrap();
    let commands = rig.begun();
    rig.bind_tile(commands, memory);
    rig.begin_rendering(commands, view, vk::RenderingFlags::empty());
    on_fake!(rig.device.cmd_end_rendering(commands));
    on_fake!(rig.device.end_command_buffer(commands)).unwrap();
    rig.submit(commands, fence).unwrap();
    let state = || (rig.driver.pending(), on_fake!(rig.device.get_fence_status(fence)));
    assert_eq!(state(), (1, Ok(false)));
    // Named only through the view.
    on_fake!(rig.device.destroy_image(image, None));
    rig.noted(&mut seen, &["IMAGE", "in use"]);
    on_fake!(rig.device.wait_for_fences(&[fence], true, u64::MAX)).unwrap();
    assert_eq!(state(), (0, Ok(true)));
    on_fake!(rig.device.destroy_image_view(view, None));
    on_fake!(rig.device.free_memory(memory, None));
    rig.noted(&mut seen, &[]);
    rig.submit(commands, vk::Fence::null()).unwrap();
    rig.noted(&mut seen, &["names IMAGE_VIEW"]);
}

#[test]
fn a_lost_device_stays_lost() {
    let rig = Rig::new(true);
    let lost = Err(vk::Result::ERROR_DEVICE_LOST);
    rig.driver.fail("vkQueueSubmit", 0, vk::Result::ERROR_DEVICE_LOST);
    let commands = rig.begun();
    on_fake!(rig.device.end_command_buffer(commands)).unwrap();
    assert_eq!(rig.submit(commands, vk::Fence::null()), lost);
    assert_eq!(rig.submit(commands, vk::Fence::null()), lost);
    assert_eq!(on_fake!(rig.device.device_wait_idle()), lost);
    assert_eq!(rig.driver.pending(), 0);
}

#[test]
fn the_drivers_own_allocations_do_not_count() {
    let rig = Rig::new(false);
    let commands = rig.begun();
    let before = counting::allocation_count();
    for _ in 0..100 {
        on_fake!(rig.device.cmd_dispatch(commands, 1, 1, 1));
    }
    assert_eq!(counting::allocation_count(), before);
    assert_eq!(rig.driver.recorded(commands).len(), 100);
    assert!(
        counting::allocation_count() > before,
        "the allocator counts outside the driver"
    );
}

#[test]
fn binding_is_judged_by_the_memory_that_is_bound() {
    let (rig, mut seen) = (Rig::new(false), 0);
    let memory = rig.memory(0, 540_672);
    for (memory_type, offset, noted) in [
        (0, 12_288, &[][..]),
        (0, 4096, &["at offset 4096, not a multiple of 12288"]),
        (1, 0, &["cannot be in tile memory"]),
        (0, 24_576, &["of 528384 B at offset 24576 of 540672 B"]),
    ] {
        rig.target(memory_type, memory, offset);
        rig.noted(&mut seen, noted);
    }
}

#[test]
fn tile_memory_is_bound_by_identity() {
    let (rig, mut seen, none) = (Rig::new(false), 0, vk::RenderingFlags::empty());
    let (a, b) = (rig.memory(0, 1_056_768), rig.memory(0, 1_056_768));
    let (_, view) = rig.target(0, a, 0);
    let commands = rig.begun();
    rig.bind_tile(commands, a);
    rig.begin_rendering(commands, view, none);
    on_fake!(rig.device.cmd_draw(commands, 3, 1, 0, 0));
    on_fake!(rig.device.cmd_end_rendering(commands));
    rig.noted(&mut seen, &[]);
    let recorded = rig.driver.recorded(commands);
    assert_eq!(recorded[0], Command::BindTileMemory(Some(a)));
    assert_eq!(recorded[2..], [Command::Draw, Command::EndRendering]);

    rig.bind_tile(commands, b);
    rig.begin_rendering(commands, view, none);
    rig.noted(&mut seen, &["is in tile memory"]);
    rig.bind_tile(commands, a);
    rig.noted(&mut seen, &["vkCmdBindTileMemoryQCOM: inside a render pass"]);
    on_fake!(rig.device.cmd_end_rendering(commands));
    rig.bind_tile(commands, rig.memory(1, 4096));
    rig.noted(&mut seen, &["is not of a tile heap"]);
}

#[test]
fn a_secondary_without_inherited_tile_memory_is_reported() {
    let (rig, mut seen) = (Rig::new(false), 0);
    let memory = rig.memory(0, 1_056_768);
    let (_, view) = rig.target(0, memory, 0);
    let commands = rig.begun();
    let contents = vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS;
    for (secondary, inherits) in rig.secondaries[0].into_iter().zip([true, false]) {
        let mut bind = ffi::TileMemoryBindInfoQCOM::default().memory(memory);
        let mut inheritance = vk::CommandBufferInheritanceInfo::default();
        if inherits {
            inheritance = inheritance.push_next(&mut bind);
        }
        let info = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
            .inheritance_info(&inheritance);
        on_fake!(rig.device.begin_command_buffer(secondary, &info)).unwrap();
        on_fake!(rig.device.cmd_draw(secondary, 3, 1, 0, 0));
        on_fake!(rig.device.end_command_buffer(secondary)).unwrap();
        rig.bind_tile(commands, memory);
        rig.begin_rendering(commands, view, contents);
        on_fake!(rig.device.cmd_execute_commands(commands, &[secondary]));
        rig.noted(&mut seen, if inherits { &[] } else { &["inherits None while"] });
        on_fake!(rig.device.cmd_end_rendering(commands));
    }
}
