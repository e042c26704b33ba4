//! A context on a fake driver, and a frame that uses tile memory.

use ash::vk;
use tileheap::frame::external::{ExternalDesc, ResourceState};
use tileheap::frame::{BufferDesc, ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp, Persistence};
use tileheap::plan::PlanOptions;
use tileheap::runtime::import::ImportedBuffer;
use tileheap::runtime::{BoundFrame, Buffer, Context, ContextDesc, FrameNumber, FrameRecorder, Imports};
use tileheap::units::Bytes;

use tileheap_testkit::fake_driver::{Config, FakeDriver};

pub(crate) const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 480,
    height: 270,
};

/// A G-buffer that lives on the chip, in two command buffers of one batch, and history that cannot.
///
/// ```text
/// command buffers   first                     second
/// passes            gbuffer      clear list   lighting (secondary)   add history   copy
/// albedo, depth     ├────────────────────────────────────┤
/// ```
pub(crate) fn frame() -> Frame {
    let mut frame = FrameBuilder::new("calls", EXTENT);
    let albedo = frame.image("albedo", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT));
    let depth = frame.image("depth", ImageDesc::new(vk::Format::D32_SFLOAT, EXTENT));
    let list = frame.buffer("list", BufferDesc::new(Bytes(65_536)));
    let lit = frame.image("lit", ImageDesc::new(vk::Format::R16G16B16A16_SFLOAT, EXTENT));
    let sum = frame.resource(
        "sum",
        ImageDesc::new(vk::Format::R16G16B16A16_SFLOAT, EXTENT),
        Persistence::History,
    );
    let host = ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED);
    let result = frame.resource(
        "result",
        BufferDesc::new(Bytes(480 * 270 * 8)),
        Persistence::External(host),
    );
    let state = ResourceState {
        layout: vk::ImageLayout::GENERAL,
        ..ResourceState::default()
    };
    let canvas = ExternalDesc {
        exit: state,
        ..ExternalDesc::SWAPCHAIN
    };
    let canvas = frame.resource(
        "canvas",
        ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT),
        Persistence::External(canvas),
    );
    let queue = frame.queue("main", vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "first");
    frame
        .render_pass(commands, "gbuffer")
        .color(albedo, LoadOp::Clear(ClearValue::ZERO))
        .depth(depth, LoadOp::Clear(ClearValue::DepthStencil(1.0, 0)));
    frame.compute_pass(commands, "clear list").storage_write(list);
    let commands = frame.command_buffer(batch, "second");
    frame
        .render_pass(commands, "lighting")
        .secondary()
        .sampled(albedo)
        .sampled(depth)
        .storage_read(list)
        .color(lit, LoadOp::DontCare);
    frame
        .compute_pass(commands, "add history")
        .sampled(lit)
        .sampled_previous(sum)
        .storage_write(sum);
    frame
        .render_pass(commands, "present")
        .sampled(sum)
        .color(canvas, LoadOp::DontCare);
    frame
        .transfer_pass(commands, "copy")
        .transfer_source(sum)
        .transfer_destination(result);
    frame.build().expect("a sound frame")
}

/// A program on the fake driver.
pub(crate) struct Rig {
    pub(crate) driver: FakeDriver,
    pub(crate) context: Option<Context>,
}

/// What a frame is recorded into.
pub(crate) struct Pool {
    pool: vk::CommandPool,
    pub(crate) primaries: Vec<vk::CommandBuffer>,
    pub(crate) secondaries: Vec<vk::CommandBuffer>,
}

impl Rig {
    pub(crate) fn new(config: Config) -> Rig {
        let driver = FakeDriver::new(config);
        let context = context(&driver).expect("a context");
        Rig {
            driver,
            context: Some(context),
        }
    }

    pub(crate) fn context(&self) -> &Context {
        self.context.as_ref().expect("not finished")
    }

    pub(crate) fn bind(&self, frame: &Frame) -> tileheap::Result<BoundFrame> {
        let tile = self.context().tile();
        tile.bind(&tile.plan(frame, &PlanOptions::default())?)
    }

    /// Destroys the context; nothing may be left.
    pub(crate) fn finish(mut self) {
        if let Some(context) = self.context.take() {
            context.destroy();
        }
        assert_eq!(self.driver.violations(), [""; 0]);
        assert!(self.driver.live().is_empty(), "{:?}", self.driver.live());
    }
}

pub(crate) fn context(driver: &FakeDriver) -> tileheap::Result<Context> {
    let desc = ContextDesc {
        application: "calls".to_owned(),
        ..ContextDesc::default()
    };
    Context::on(driver.entry(), &desc)
}

impl Pool {
    pub(crate) fn new(context: &Context) -> ash::prelude::VkResult<Pool> {
        let device = context.device();
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
            .queue_family_index(context.queues()[0].family);
        // SAFETY: the device has the family.
        let pool = unsafe { device.create_command_pool(&info, None) }?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(2);
        let (one, two) = (vk::CommandBufferLevel::PRIMARY, vk::CommandBufferLevel::SECONDARY);
        // SAFETY: just created.
        let primaries = unsafe { device.allocate_command_buffers(&info.level(one)) };
        // SAFETY: just created.
        let secondaries = unsafe { device.allocate_command_buffers(&info.level(two)) };
        match (primaries, secondaries) {
            (Ok(primaries), Ok(secondaries)) => Ok(Pool {
                pool,
                primaries,
                secondaries,
            }),
            (Err(error), _) | (_, Err(error)) => {
                // SAFETY: nothing uses it.
                unsafe { device.destroy_command_pool(pool, None) };
                Err(error)
            }
        }
    }

    pub(crate) fn destroy(self, context: &Context) {
        // SAFETY: the tests are done with it.
        unsafe { context.device().destroy_command_pool(self.pool, None) };
    }
}

/// The caller's objects of a frame.
pub(crate) struct Outside {
    pub(crate) image: vk::Image,
    pub(crate) view: vk::ImageView,
    pub(crate) memory: vk::DeviceMemory,
    pub(crate) buffer: vk::Buffer,
    pub(crate) buffer_memory: vk::DeviceMemory,
}

impl Outside {
    pub(crate) fn new(context: &Context) -> Outside {
        let device = context.device();
        let ordinary = context.support().profile().ordinary_type_bits().trailing_zeros();
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .extent(EXTENT.into())
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT);
        // SAFETY: the fake driver is content with anything.
        let image = unsafe { device.create_image(&info, None) }.expect("an image");
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(1 << 20)
            .memory_type_index(ordinary);
        // SAFETY: as above.
        let memory = unsafe { device.allocate_memory(&info, None) }.expect("memory");
        // SAFETY: as above.
        unsafe { device.bind_image_memory(image, memory, 0) }.expect("bound");
        // SAFETY: as above.
        let view =
            unsafe { device.create_image_view(&vk::ImageViewCreateInfo::default().image(image), None) };
        let usage = vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(480 * 270 * 8).usage(usage);
        // SAFETY: as above.
        let buffer = unsafe { device.create_buffer(&info, None) }.expect("a buffer");
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(4 << 20)
            .memory_type_index(ordinary);
        // SAFETY: as above.
        let buffer_memory = unsafe { device.allocate_memory(&info, None) }.expect("memory");
        // SAFETY: as above.
        unsafe { device.bind_buffer_memory(buffer, buffer_memory, 0) }.expect("bound");
        Outside {
            image,
            view: view.expect("a view"),
            memory,
            buffer,
            buffer_memory,
        }
    }

    pub(crate) fn destroy(self, context: &Context) {
        let device = context.device();
        // SAFETY: the tests are done with it.
        unsafe { device.destroy_image_view(self.view, None) };
        // SAFETY: as above.
        unsafe { device.destroy_image(self.image, None) };
        // SAFETY: as above.
        unsafe { device.free_memory(self.memory, None) };
        // SAFETY: as above.
        unsafe { device.destroy_buffer(self.buffer, None) };
        // SAFETY: as above.
        unsafe { device.free_memory(self.buffer_memory, None) };
    }

    /// Calls `with` with these objects as imports of `frame`.
    pub(crate) fn imports<R>(&self, frame: &Frame, with: impl FnOnce(&Imports<'_>) -> R) -> R {
        let id = |name| frame.resource_named(name).expect("declared");
        let images = [tileheap::runtime::import::ImportedImage {
            resource: id("canvas"),
            image: self.image,
            view: self.view,
        }];
        let buffer = Buffer {
            handle: self.buffer,
            offset: 0,
            size: 480 * 270 * 8,
            address: 0,
        };
        let buffers = [ImportedBuffer {
            resource: id("result"),
            buffer,
        }];
        with(&Imports {
            views: &[],
            images: &images,
            buffers: &buffers,
            semaphores: &[],
        })
    }
}

/// Records and submits one frame, with a draw or dispatch in every pass that has any.
pub(crate) fn run(
    context: &Context,
    bound: &mut BoundFrame,
    frame: &Frame,
    pool: &Pool,
    outside: &Outside,
) -> tileheap::Result<FrameNumber> {
    let recorder = record(context, bound, frame, pool, outside)?;
    // SAFETY: one thread.
    unsafe { recorder.submit() }
}

/// Records one frame.
pub(crate) fn record<'a>(
    context: &Context,
    bound: &'a mut BoundFrame,
    frame: &Frame,
    pool: &Pool,
    outside: &Outside,
) -> tileheap::Result<FrameRecorder<'a>> {
    let device = context.device();
    // SAFETY: the objects live as long as the test.
    let recorder = outside.imports(frame, |imports| unsafe { bound.begin(imports) })?;
    let pass = |name| frame.pass_named(name).expect("declared");
    let secondary = pool.secondaries[0];
    // SAFETY: complete, or new.
    unsafe { recorder.begin_secondary(secondary, pass("lighting")) }?;
    // SAFETY: recording.
    unsafe { device.cmd_draw(secondary, 3, 1, 0, 0) };
    // SAFETY: recording.
    if let Err(result) = unsafe { device.end_command_buffer(secondary) } {
        let (call, what) = ("vkEndCommandBuffer", "the test".to_owned());
        return Err(tileheap::runtime::RuntimeError::Vulkan { call, result, what }.into());
    }
    for (index, declared) in frame.command_buffers().iter().enumerate() {
        let id = frame
            .pass(
                frame
                    .pass_ids()
                    .nth(declared.passes.first as usize)
                    .expect("a pass"),
            )
            .command_buffer;
        // SAFETY: complete, or new.
        let mut commands = unsafe { recorder.record(pool.primaries[index], id) }?;
        for step in frame
            .pass_ids()
            .skip(declared.passes.first as usize)
            .take(declared.passes.len())
        {
            if step == pass("lighting") {
                // SAFETY: begun for this pass in this turn.
                unsafe { commands.pass_secondary(step, &[secondary]) }?;
                continue;
            }
            commands.pass(step, |recording| {
                let buffer = recording.command_buffer();
                match frame.pass(step).kind {
                    // SAFETY: recording inside a render pass.
                    tileheap::frame::tables::PassKind::Render => unsafe {
                        device.cmd_draw(buffer, 3, 1, 0, 0)
                    },
                    // SAFETY: recording.
                    tileheap::frame::tables::PassKind::Compute => unsafe {
                        device.cmd_dispatch(buffer, 1, 1, 1)
                    },
                    tileheap::frame::tables::PassKind::Transfer => {}
                }
            })?;
        }
        commands.finish()?;
    }
    Ok(recorder)
}
