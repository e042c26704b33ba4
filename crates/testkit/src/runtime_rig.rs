//! The runtime on the fake driver, with a small deferred frame that uses every feature of the runtime.
//!
//! ```text
//! graphics  [ scene: gbuffer*, decals ][ light: occlusion, lighting, meter ]   [ post: tonemap* ]──s──┐
//! compute                                                                                             └─►[ reset, histogram ]
//!             albedo ──► loaded ──────────────────► sampled
//!             normal ─────────────────────────────► input attachment: a render pass object on every path
//!             depth ──────────────────► sampled
//!                                         ao ─────► sampled
//!                                                   past (history) ─────► sampled ───────────────────────► sampled
//!                                                                         output (external)   bins: filled, updated
//! ```
//! `*` has secondary contents. The first batch is one discard window over two command buffers: albedo, normal, depth and ao
//! can be placed in tile memory until lighting: `meter` runs with nothing bound.

use ash::vk;
use ash::vk::Handle;
use tileheap::Result;
use tileheap::frame::external::{ExternalDesc, ResourceState};
use tileheap::frame::tables::PassKind;
use tileheap::frame::{
    BufferDesc, ClearValue, CommandBufferId, Frame, FrameBuilder, ImageDesc, LoadOp, PassId, Persistence,
    ResourceId,
};
use tileheap::profile::OptionalFeatures;
use tileheap::runtime::import::ImportedImage;
use tileheap::runtime::{
    BoundFrame, Capabilities, Device, DeviceDesc, DeviceQueue, DeviceSupport, FrameNumber, FrameRecorder,
    Imports,
};
use tileheap::units::Bytes;

use crate::fake_driver::{Config, FakeDriver};

/// Makes an unsafe call that is sound on the fake driver if everything it points to is alive: the driver dereferences no handles.
#[macro_export]
macro_rules! on_fake {
    ($call:expr) => {{
        // SAFETY: The fake driver dereferences no handle, and everything pointed to is alive.
        unsafe { $call }
    }};
}
pub use on_fake;

/// The rig's frame, and the IDs of some of its elements.
pub struct Described {
    pub frame: Frame,
    pub output: ResourceId,
    pub bins: ResourceId,
    /// The command buffers in submission order: scene, light, post, count.
    pub commands: [CommandBufferId; 4],
}

pub const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 480,
    height: 270,
};

pub fn describe() -> Described {
    let mut frame = FrameBuilder::new("rig", EXTENT);
    let image = |format| ImageDesc::new(format, EXTENT);
    let albedo = frame.image("albedo", image(vk::Format::R8G8B8A8_UNORM));
    let normal = frame.image("normal", image(vk::Format::R16G16B16A16_SFLOAT));
    let depth = frame.image("depth", image(vk::Format::D32_SFLOAT));
    let ao = frame.image("ao", image(vk::Format::R8_UNORM));
    let past = frame.resource(
        "past",
        image(vk::Format::R16G16B16A16_SFLOAT),
        Persistence::History,
    );
    let bins = frame.buffer("bins", BufferDesc::new(Bytes(1024)));
    let written = ResourceState::new(
        vk::ImageLayout::GENERAL,
        vk::PipelineStageFlags2::ALL_COMMANDS,
        vk::AccessFlags2::MEMORY_READ,
    );
    let outside = ExternalDesc {
        entry: ResourceState {
            layout: vk::ImageLayout::UNDEFINED,
            ..written
        },
        exit: written,
    };
    let output = frame.resource(
        "output",
        image(vk::Format::R8G8B8A8_UNORM),
        Persistence::External(outside),
    );
    let graphics = frame.queue("graphics", vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let compute = frame.queue("compute", vk::QueueFlags::COMPUTE);
    let done = frame.semaphore("done");

    let clear = LoadOp::Clear(ClearValue::ZERO);
    let submit = frame.submit(graphics);
    let batch = frame.batch(submit);
    let scene = frame.command_buffer(batch, "scene");
    frame
        .render_pass(scene, "gbuffer")
        .color(albedo, clear)
        .color(normal, clear)
        .depth(depth, clear)
        .secondary();
    frame.render_pass(scene, "decals").color(albedo, LoadOp::Load);
    let light = frame.command_buffer(batch, "light");
    frame
        .compute_pass(light, "occlusion")
        .sampled(depth)
        .storage_write(ao);
    (frame
        .render_pass(light, "lighting")
        .input(normal)
        .sampled(albedo)
        .sampled(ao))
    .sampled_previous(past)
    .color(past, LoadOp::DontCare);
    frame.compute_pass(light, "meter").sampled(past);
    let batch = frame.batch(submit);
    let post = frame.command_buffer(batch, "post");
    frame
        .render_pass(post, "tonemap")
        .sampled(past)
        .color(output, LoadOp::DontCare)
        .secondary();
    frame.signal(batch, done, vk::PipelineStageFlags2::ALL_COMMANDS);

    let submit = frame.submit(compute);
    let batch = frame.batch(submit);
    frame.wait(batch, done, vk::PipelineStageFlags2::ALL_COMMANDS);
    let count = frame.command_buffer(batch, "count");
    frame.transfer_pass(count, "reset").transfer_destination(bins);
    frame
        .compute_pass(count, "histogram")
        .sampled(past)
        .storage_update(bins);
    let frame = frame.build().expect("the rig's frame is sound");
    Described {
        frame,
        output,
        bins,
        commands: [scene, light, post, count],
    }
}

/// The number of frames in flight: more than the runtime can count with fences.
pub const IN_FLIGHT: usize = 6;

/// A device on the fake driver, with all objects that a caller of the runtime provides.
pub struct Rig {
    pub driver: FakeDriver,
    pub instance: ash::Instance,
    pub physical: vk::PhysicalDevice,
    pub device: ash::Device,
    pub support: DeviceSupport,
    pub desc: DeviceDesc,
    pub described: Described,
    /// A command pool for each queue family.
    pub pools: [vk::CommandPool; 2],
    /// The command buffers: one per declared command buffer, for each frame in flight.
    pub commands: [[vk::CommandBuffer; 4]; IN_FLIGHT],
    /// The secondary command buffers for gbuffer and tonemap, for each frame in flight.
    pub secondaries: [[vk::CommandBuffer; 2]; IN_FLIGHT],
    /// The external images, used by alternate frames.
    pub outputs: [(vk::Image, vk::ImageView); 2],
    /// The number of the device's live objects before the runtime was created.
    pub own_objects: usize,
}

impl Rig {
    /// Creates a device with the recommended capabilities and buffer device addresses enabled, as far as the driver supports them; the runtime does
    /// not use the capabilities in `without`.
    pub fn new(config: Config, without: Capabilities) -> Rig {
        let version = config.api_version;
        let driver = FakeDriver::new(config);
        let entry = driver.entry();
        let application = vk::ApplicationInfo::default().api_version(version);
        let names = [ash::ext::debug_utils::NAME.as_ptr()];
        let info = vk::InstanceCreateInfo::default()
            .application_info(&application)
            .enabled_extension_names(&names);
        let instance = on_fake!(entry.create_instance(&info, None)).unwrap();
        let physical = on_fake!(instance.enumerate_physical_devices()).unwrap()[0];
        let support = on_fake!(DeviceSupport::query(&instance, physical, version)).unwrap();
        let queues = [0, 1].map(|family| {
            vk::DeviceQueueCreateInfo::default()
                .queue_family_index(family)
                .queue_priorities(&[1.0])
        });
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        let wanted = Capabilities::RECOMMENDED | Capabilities::BUFFER_DEVICE_ADDRESS;
        let mut enable = on_fake!(support.enable(&info, wanted));
        let info = enable.info(&info);
        let device = on_fake!(instance.create_device(physical, &info, None)).unwrap();
        let families = on_fake!(instance.get_physical_device_queue_family_properties(physical));
        let queues = [0, 1].map(|family| DeviceQueue {
            handle: on_fake!(device.get_device_queue(family, 0)),
            family,
            capabilities: families[family as usize].queue_flags,
        });
        let desc = DeviceDesc {
            queues: queues.to_vec(),
            enabled: enable.capabilities(),
            optional_features: Some(
                enable.optional_features()
                    | OptionalFeatures::QUEUE_FAMILY_FOREIGN
                    | OptionalFeatures::SWAPCHAIN,
            ),
            without,
            ..DeviceDesc::default()
        };
        let pools = [0, 1].map(|family| {
            let info = vk::CommandPoolCreateInfo::default()
                .queue_family_index(family)
                .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
            on_fake!(device.create_command_pool(&info, None)).unwrap()
        });
        let allocate = |pool, level| {
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .level(level)
                .command_buffer_count(1);
            on_fake!(device.allocate_command_buffers(&info)).unwrap()[0]
        };
        let (primary, secondary) = (vk::CommandBufferLevel::PRIMARY, vk::CommandBufferLevel::SECONDARY);
        let commands = [(); IN_FLIGHT].map(|()| {
            let [graphics, compute] = pools;
            [
                allocate(graphics, primary),
                allocate(graphics, primary),
                allocate(graphics, primary),
                allocate(compute, primary),
            ]
        });
        let secondaries = [(); IN_FLIGHT].map(|()| [(); 2].map(|()| allocate(pools[0], secondary)));
        let outputs = [(); 2].map(|()| output(&device, &support));
        let own_objects = driver.live_below_device();
        driver.clear_journal();
        let described = describe();
        let rig = Rig {
            driver,
            instance,
            physical,
            device,
            support,
            desc,
            described,
            pools,
            commands,
            secondaries,
            outputs,
            own_objects,
        };
        assert_eq!(rig.driver.violations(), [""; 0], "the rig itself is sound");
        rig
    }

    /// Creates the runtime.
    pub fn runtime(&self) -> Result<Device> {
        on_fake!(Device::new(
            &self.instance,
            self.physical,
            &self.device,
            &self.support,
            self.desc.clone()
        ))
    }

    pub fn pass(&self, name: &str) -> PassId {
        self.described
            .frame
            .pass_named(name)
            .expect("the rig's frame has it")
    }

    pub fn frame(&self, bound: &mut BoundFrame) -> Result<FrameNumber> {
        let recorder = self.record(bound)?;
        on_fake!(recorder.submit())
    }

    pub fn begin<'a>(&self, bound: &'a mut BoundFrame) -> Result<FrameRecorder<'a>> {
        let (image, view) = self.outputs[bound.parity().index()];
        let images = [ImportedImage {
            resource: self.described.output,
            image,
            view,
        }];
        on_fake!(bound.begin(&Imports {
            images: &images,
            ..Imports::default()
        }))
    }

    /// Records one frame, reusing the command buffers of the frame recorded [`IN_FLIGHT`] frames earlier.
    pub fn record<'a>(&self, bound: &'a mut BoundFrame) -> Result<FrameRecorder<'a>> {
        self.record_begun(self.begin(bound)?)
    }

    /// Records a frame that has already begun.
    pub fn record_begun<'a>(&self, recorder: FrameRecorder<'a>) -> Result<FrameRecorder<'a>> {
        let described = &self.described;
        let frame = &described.frame;
        let turn_of = recorder.number().0 as usize % IN_FLIGHT;
        let secondary_passes = [self.pass("gbuffer"), self.pass("tonemap")];
        for (handle, pass) in self.secondaries[turn_of].into_iter().zip(secondary_passes) {
            on_fake!(recorder.begin_secondary(handle, pass, 0))?;
            on_fake!(self.device.cmd_draw(handle, 3, 1, 0, 0));
            let end = || on_fake!(self.device.end_command_buffer(handle));
            self.driver.without_failures(end).expect("nothing makes it fail");
        }
        for (handle, id) in self.commands[turn_of].into_iter().zip(described.commands) {
            let mut commands = on_fake!(recorder.record(handle, id))?;
            for index in frame.command_buffers()[id.index()].passes.indices() {
                let pass = frame.pass_ids().nth(index).expect("a pass of the frame");
                if let Some(at) = secondary_passes.iter().position(|secondary| *secondary == pass) {
                    on_fake!(commands.pass_secondary(pass, &[&self.secondaries[turn_of][at..=at]]))?;
                    continue;
                }
                commands.pass(pass, |recording| {
                    let (device, handle) = (recording.device(), recording.command_buffer());
                    match frame.pass(pass).kind {
                        PassKind::Render => on_fake!(device.cmd_draw(handle, 3, 1, 0, 0)),
                        PassKind::Compute => on_fake!(device.cmd_dispatch(handle, 1, 1, 1)),
                        PassKind::Transfer => {
                            let buffer = recording.access(described.bins).buffer();
                            on_fake!(device.cmd_fill_buffer(
                                handle,
                                buffer.handle,
                                buffer.offset,
                                buffer.size,
                                0
                            ));
                        }
                    }
                })?;
            }
            commands.finish()?;
        }
        Ok(recorder)
    }

    /// Returns all problems: violations of valid usage, and objects that are still live. The runtime must have been destroyed.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = self.driver.violations();
        let left = self.driver.live_below_device();
        if left != self.own_objects {
            problems.push(format!(
                "{} objects left: {:?}",
                left - self.own_objects,
                self.driver.live()
            ));
        }
        problems
    }
}

/// The create info of a color image of the frame's size.
pub fn image_info(usage: vk::ImageUsageFlags) -> vk::ImageCreateInfo<'static> {
    vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(EXTENT.into())
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(usage)
}

fn output(device: &ash::Device, support: &DeviceSupport) -> (vk::Image, vk::ImageView) {
    let info = image_info(vk::ImageUsageFlags::COLOR_ATTACHMENT);
    let image = on_fake!(device.create_image(&info, None)).unwrap();
    let needs = on_fake!(device.get_image_memory_requirements(image));
    let bits = needs.memory_type_bits & support.profile().ordinary_type_bits();
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(needs.size)
        .memory_type_index(bits.trailing_zeros());
    let memory = on_fake!(device.allocate_memory(&info, None)).unwrap();
    on_fake!(device.bind_image_memory(image, memory, 0)).unwrap();
    let view =
        on_fake!(device.create_image_view(&vk::ImageViewCreateInfo::default().image(image), None)).unwrap();
    assert!(!image.is_null() && !view.is_null());
    (image, view)
}
