//! External images: those that change from frame to frame, as a swapchain's do, with semaphores from and to outside; layers of one image; images in
//! memory exported by another device.

use std::cell::Cell;
use std::ffi::c_void;
use std::fs::File;
use std::os::fd::FromRawFd;
use std::os::raw::c_int;
use std::ptr::null;
use std::sync::Arc;

use ash::vk;
use tileheap::frame::external::{ExternalDesc, ExternalFamily, ResourceState};
use tileheap::frame::{
    ClearValue, CommandBufferId, FrameBuilder, ImageDesc, LoadOp, Persistence, ResourceId,
};
use tileheap::lower::Parity;
use tileheap::plan::{MemoryKind, PlanOptions};
use tileheap::runtime::context::ExtensionNames;
use tileheap::runtime::import::{ImportedBuffer, ImportedImage, ImportedSemaphore};
use tileheap::runtime::{
    BoundFrame, Capabilities, ContextDesc, Device, DeviceDesc, Hooks, Imports, PassCommands,
};

use tileheap_testkit::frames::one_queue;
use tileheap_testkit::gpu::{Gpu, HostBuffer, recording_paths};
use tileheap_testkit::objects::whole_image;
use tileheap_testkit::skip;

use super::{bind, copy_image, host_read, submit, wait};

const EXTENT: vk::Extent2D = vk::Extent2D { width: 8, height: 4 };
const BYTES: u64 = 8 * 4 * 4;
const IMAGE: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// The state in which the caller reads the images.
const EXIT: ResourceState = ResourceState::new(
    vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
    vk::PipelineStageFlags2::ALL_TRANSFER,
    vk::AccessFlags2::TRANSFER_READ,
);

/// An image of the caller, created by `create`, with a view of each layer.
fn canvas<const LAYERS: usize>(
    gpu: &Gpu,
    create: impl FnOnce(vk::ImageCreateInfo<'_>) -> vk::Image,
) -> (vk::Image, [vk::ImageView; LAYERS]) {
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(IMAGE)
        .extent(EXTENT.into())
        .mip_levels(1)
        .array_layers(LAYERS as u32)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC);
    let image = create(info);
    let view = |layer: usize| {
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(IMAGE)
            .subresource_range(whole_image(vk::ImageAspectFlags::COLOR).base_array_layer(layer as u32));
        gpu.create(&info)
    };
    (image, std::array::from_fn(view))
}

/// Declares a pass that clears an image to one color.
fn clear(builder: &mut FrameBuilder, scene: CommandBufferId, image: ResourceId) {
    let color = ClearValue::Float([1.0, 0.0, 51.0 / 255.0, 1.0]);
    let pass = builder.render_pass(scene, "clear");
    pass.color(image, LoadOp::Clear(color));
}

fn is_cleared(host: &HostBuffer) -> bool {
    host.bytes().chunks(4).all(|pixel| pixel == [255, 0, 51, 255])
}

fn imported(resource: ResourceId, image: vk::Image, view: vk::ImageView) -> ImportedImage {
    ImportedImage {
        resource,
        image,
        view,
    }
}

/// Records the passes of a frame in one command buffer, and submits it.
fn run(
    gpu: &mut Gpu,
    bound: &mut BoundFrame,
    imports: &Imports<'_>,
    record: impl Fn(&PassCommands<'_>),
) -> u64 {
    let (commands, frame) = (gpu.primaries(1)[0], bound.plan().described().clone());
    // SAFETY: imported objects live until the end of the test.
    let recorder = unsafe { bound.begin(imports) }.expect("a frame");
    let declared = frame
        .pass(frame.pass_ids().next().expect("a pass"))
        .command_buffer;
    // SAFETY: new.
    let mut recording = unsafe { recorder.record(commands, declared) }.expect("recording");
    for pass in frame.pass_ids() {
        recording.pass(pass, &record).expect("recorded");
    }
    recording.finish().expect("recorded");
    submit(recorder).0
}

/// Copies the layers of an image in its exit state, after a semaphore.
fn read(gpu: &mut Gpu, image: vk::Image, layers: u32, host: &HostBuffer, waits: &[vk::Semaphore]) {
    let (device, commands) = (gpu.device().clone(), gpu.primaries(1));
    // SAFETY: new.
    unsafe { device.begin_command_buffer(commands[0], &Default::default()) }.expect("begun");
    let region = vk::BufferImageCopy {
        image_subresource: vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            layer_count: layers,
            ..Default::default()
        },
        image_extent: EXTENT.into(),
        ..Default::default()
    };
    let (layout, to) = (EXIT.layout, host.buffer.handle);
    // SAFETY: recording; the frame leaves the layers in this layout.
    unsafe { device.cmd_copy_image_to_buffer(commands[0], image, layout, to, &[region]) };
    // SAFETY: recording.
    unsafe { device.end_command_buffer(commands[0]) }.expect("ended");
    let stages = [vk::PipelineStageFlags::TRANSFER];
    let read = vk::SubmitInfo::default()
        .wait_semaphores(waits)
        .wait_dst_stage_mask(&stages[..waits.len()])
        .command_buffers(&commands);
    let queue = gpu.context.queues()[0].handle;
    // SAFETY: the test has one thread; the frame signals the semaphore.
    unsafe { device.queue_submit(queue, &[read], vk::Fence::null()) }.expect("submitted");
}

#[test]
fn external_images_take_turns() {
    for (way, without) in recording_paths() {
        let mut gpu = Gpu::new(without);
        let desc = ExternalDesc {
            exit: EXIT,
            ..ExternalDesc::SWAPCHAIN
        };
        let mut builder = FrameBuilder::new("presenting", EXTENT);
        let image = ImageDesc::new(IMAGE, EXTENT);
        let presented = builder.resource("canvas", image, Persistence::External(desc));
        let [acquired, rendered] = ["acquired", "rendered"].map(|name| builder.external_semaphore(name));
        let queue = builder.queue("main", vk::QueueFlags::GRAPHICS);
        let main = builder.submit(queue);
        let batch = builder.batch(main);
        builder.wait(batch, acquired, vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT);
        builder.signal(batch, rendered, vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT);
        let scene = builder.command_buffer(batch, "scene");
        clear(&mut builder, scene, presented);
        let mut bound = bind(
            &gpu,
            &builder.build().expect("a sound frame"),
            &PlanOptions::default(),
        );

        let device = gpu.device().clone();
        let canvases = [0; 3].map(|_| canvas::<1>(&gpu, |info| gpu.image(&info)));
        let hosts = [0; 3].map(|_| gpu.host_buffer(BYTES));
        let queue = gpu.context.queues()[0].handle;
        let semaphores = [0; 2].map(|_| gpu.create(&vk::SemaphoreCreateInfo::default()));
        for number in 0..6 {
            let (image, view) = canvases[number % 3];
            if number > 0 {
                wait(&bound, number as u64 - 1);
            }
            // The effect of vkAcquireNextImageKHR.
            let signal = vk::SubmitInfo::default().signal_semaphores(&semaphores[..1]);
            // SAFETY: the semaphore is not signaled: the previous frame has waited for it.
            unsafe { device.queue_submit(queue, &[signal], vk::Fence::null()) }.expect("submitted");
            let semaphore = |semaphore, handle| ImportedSemaphore {
                semaphore,
                handle,
                value: 0,
            };
            let imports = Imports {
                images: &[imported(presented, image, view[0])],
                semaphores: &[
                    semaphore(acquired, semaphores[0]),
                    semaphore(rendered, semaphores[1]),
                ],
                ..Imports::default()
            };
            run(&mut gpu, &mut bound, &imports, |pass| {
                assert_eq!(pass.area().extent, EXTENT);
                assert_eq!(pass.access(presented).image(), image);
            });
            // The effect of presenting: wait, and read in the exit layout.
            read(&mut gpu, image, 1, &hosts[number % 3], &semaphores[1..]);
        }
        // SAFETY: no other thread uses the queue.
        unsafe { device.queue_wait_idle(queue) }.expect("idle");
        for host in &hosts {
            assert!(is_cleared(host), "{way}");
        }
        // SAFETY: idle.
        unsafe { bound.forget_view(canvases[1].1[0]) };
    }
}

/// Two cascades of one image, each declared as a separate external image: neither affects the other's layer.
#[test]
fn two_externals_are_layers_of_one_image() {
    for (way, without) in recording_paths() {
        let mut gpu = Gpu::new(without);
        let desc = ExternalDesc {
            exit: EXIT,
            ..ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED)
        };
        let mut builder = FrameBuilder::new("cascades", EXTENT);
        let image = ImageDesc {
            array_layers: 2,
            ..ImageDesc::new(IMAGE, EXTENT)
        };
        let layers = ["near", "far"].map(|name| builder.resource(name, image, Persistence::External(desc)));
        let scene = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
        for (layer, value) in [1.0, 0.0].into_iter().enumerate() {
            let pass = builder.render_pass(scene, format!("layer {layer}"));
            pass.color(layers[layer], LoadOp::Clear(ClearValue::Float([value; 4])))
                .layer(layer as u32);
        }
        let mut bound = bind(
            &gpu,
            &builder.build().expect("a sound frame"),
            &PlanOptions::default(),
        );
        let (canvas, views) = canvas::<2>(&gpu, |info| gpu.image(&info));
        let host = gpu.host_buffer(2 * BYTES);
        let imports = Imports {
            images: &[0, 1].map(|layer| imported(layers[layer], canvas, views[layer])),
            ..Imports::default()
        };
        let number = run(&mut gpu, &mut bound, &imports, |_| ());
        wait(&bound, number);
        read(&mut gpu, canvas, 2, &host, &[]);
        let queue = gpu.context.queues()[0].handle;
        // SAFETY: no other thread uses the queue.
        unsafe { gpu.device().queue_wait_idle(queue) }.expect("idle");
        let words = host.words();
        assert_eq!((words[0], words[32]), (u32::MAX, 0), "{way}");
    }
}

/// An image in memory that can be exported, or that another device has exported as `fd`; linear if it is a dma-buf without modifiers.
fn shared(
    gpu: &Gpu,
    by: vk::ExternalMemoryHandleTypeFlags,
    fd: Option<c_int>,
) -> (vk::Image, vk::ImageView, vk::DeviceMemory) {
    let mut memory = vk::DeviceMemory::null();
    let (image, [view]) = canvas(gpu, |info| {
        let mut external = vk::ExternalMemoryImageCreateInfo::default().handle_types(by);
        let linear = by == vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT;
        let tiling = [vk::ImageTiling::OPTIMAL, vk::ImageTiling::LINEAR][usize::from(linear)];
        let image = gpu.create(&info.tiling(tiling).push_next(&mut external));
        // SAFETY: just created.
        let needs = unsafe { gpu.device().get_image_memory_requirements(image) };
        let ordinary = gpu.context.support().profile().ordinary_type_bits();
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(by);
        let mut import = vk::ImportMemoryFdInfoKHR::default().handle_type(by);
        let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().image(image);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index((needs.memory_type_bits & ordinary).trailing_zeros())
            .push_next(&mut dedicated);
        memory = match fd {
            Some(fd) => {
                import = import.fd(fd);
                gpu.create(&info.push_next(&mut import))
            }
            None => gpu.create(&info.push_next(&mut export)),
        };
        // SAFETY: both just created, and made for each other.
        unsafe { gpu.device().bind_image_memory(image, memory, 0) }.expect("bound memory");
        image
    });
    (image, view, memory)
}

/// One device draws an image and another one copies it: its frame acquires the image from the external queue family to which the previous frame
/// released it.
#[test]
fn images_go_from_device_to_device_by_file_descriptors() {
    use vk::ExternalMemoryHandleTypeFlags as HandleType;
    let fd = ash::khr::external_memory_fd::NAME;
    let kinds = [
        (HandleType::OPAQUE_FD, fd),
        (HandleType::DMA_BUF_EXT, ash::ext::external_memory_dma_buf::NAME),
    ];
    for (by, extension) in kinds {
        let probe = Gpu::new(Capabilities::empty());
        let there = [fd, extension].map(|name| probe.context.support().has_extension(name));
        // Software drivers create dma-bufs through this node.
        let node = File::options().read(true).write(true).open("/dev/udmabuf");
        if there != [true; 2] || by == HandleType::DMA_BUF_EXT && node.is_err() {
            skip(&format!("the machine has no {extension:?}"));
            continue;
        }
        let [mut drawer, mut reader] = [0; 2].map(|_| {
            Gpu::with(ContextDesc {
                // SAFETY: what they require is in Vulkan 1.1.
                device_extensions: unsafe { ExtensionNames::new([fd, extension]) },
                ..ContextDesc::from_env("tileheap tests")
            })
        });
        let mut desc = ExternalDesc::SWAPCHAIN;
        desc.exit = EXIT.owned_by(ExternalFamily::External);
        let (image, view, memory) = shared(&drawer, by, None);
        let mut builder = FrameBuilder::new("draw", EXTENT);
        let kind = ImageDesc::new(IMAGE, EXTENT);
        let drawn = builder.resource("canvas", kind, Persistence::External(desc));
        let scene = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
        clear(&mut builder, scene, drawn);
        let frame = builder.build().expect("a sound frame");
        let imports = Imports {
            images: &[imported(drawn, image, view)],
            ..Imports::default()
        };
        let mut bound = bind(&drawer, &frame, &PlanOptions::default());
        let number = run(&mut drawer, &mut bound, &imports, |_| ());
        wait(&bound, number);
        bound.retire();

        let functions = ash::khr::external_memory_fd::Device::new(drawer.context.instance(), drawer.device());
        let info = vk::MemoryGetFdInfoKHR::default().memory(memory).handle_type(by);
        // SAFETY: the memory was allocated for this kind of export.
        let fd = unsafe { functions.get_memory_fd(&info) }.expect("a file descriptor");
        let (image, view, _) = shared(&reader, by, Some(fd));
        let host = reader.host_buffer(BYTES);
        let mut builder = FrameBuilder::new("read", EXTENT);
        (desc.entry, desc.exit) = (desc.exit, EXIT);
        let seen = builder.resource("canvas", kind, Persistence::External(desc));
        let out = host_read(&mut builder, "out", BYTES);
        let scene = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
        let pass = builder.transfer_pass(scene, "copy").transfer_source(seen);
        pass.transfer_destination(out);
        let frame = builder.build().expect("a sound frame");
        let imports = Imports {
            images: &[imported(seen, image, view)],
            buffers: &[ImportedBuffer {
                resource: out,
                buffer: host.buffer,
            }],
            ..Imports::default()
        };
        let mut bound = bind(&reader, &frame, &PlanOptions::default());
        let number = run(&mut reader, &mut bound, &imports, |pass| {
            copy_image(pass, seen, out, EXTENT);
        });
        wait(&bound, number);
        assert!(is_cleared(&host), "{extension:?}");
    }
}

/// Exports the memory of images with hook 1, and gives other ordinary memory a priority if the device has that extension.
struct Exporting {
    image: vk::ExternalMemoryImageCreateInfo<'static>,
    format: vk::PhysicalDeviceExternalImageFormatInfo<'static>,
    export: vk::ExportMemoryAllocateInfo<'static>,
    priority: Option<vk::MemoryPriorityAllocateInfoEXT<'static>>,
}

// SAFETY: the structures have no pointers.
unsafe impl Send for Exporting {}
// SAFETY: as above.
unsafe impl Sync for Exporting {}

/// A structure, if there is one.
fn chain<T>(structure: Option<&T>) -> *const c_void {
    structure.map_or(null(), |one| (&raw const *one).cast())
}

// SAFETY: the extensions are enabled, the structures never change, and images whose memory is exported are created for it.
unsafe impl Hooks for Exporting {
    fn image(&self, hook: u32) -> *const c_void {
        chain(Some(&self.image).filter(|_| hook == 1))
    }

    fn image_format(&self, hook: u32) -> *const c_void {
        chain(Some(&self.format).filter(|_| hook == 1))
    }

    fn dedicated_memory(&self, hook: u32) -> bool {
        hook == 1
    }

    fn memory(&self, kind: MemoryKind, hook: u32) -> *const c_void {
        match (kind, hook) {
            (MemoryKind::Dedicated, 1) => chain(Some(&self.export)),
            (MemoryKind::Arena, _) => chain(self.priority.as_ref()),
            _ => null(),
        }
    }
}

/// An image of the frame itself, drawn in one pass and copied in the next, is in exported memory; another image is in memory with a priority.
#[test]
fn memory_of_resources_is_exported_and_has_a_priority() {
    let by = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;
    let (fd, priority) = (
        ash::khr::external_memory_fd::NAME,
        ash::ext::memory_priority::NAME,
    );
    let probe = Gpu::new(Capabilities::empty());
    let [exports, prioritizes] = [fd, priority].map(|name| probe.context.support().has_extension(name));
    drop(probe);
    if !exports {
        return skip(&format!("the machine has no {fd:?}"));
    }
    if !prioritizes {
        skip(&format!("the machine has no {priority:?}: only export is tested"));
    }
    let names = [fd].into_iter().chain(prioritizes.then_some(priority));
    let mut gpu = Gpu::with(ContextDesc {
        // SAFETY: what they require is in Vulkan 1.1.
        device_extensions: unsafe { ExtensionNames::new(names) },
        ..ContextDesc::from_env("tileheap tests")
    });
    let hooks = Exporting {
        image: vk::ExternalMemoryImageCreateInfo::default().handle_types(by),
        format: vk::PhysicalDeviceExternalImageFormatInfo::default().handle_type(by),
        export: vk::ExportMemoryAllocateInfo::default().handle_types(by),
        priority: prioritizes.then(|| vk::MemoryPriorityAllocateInfoEXT::default().priority(0.75)),
    };
    let desc = DeviceDesc {
        queues: gpu.context.queues().to_vec(),
        enabled: gpu.runtime().capabilities(),
        hooks: Some(Arc::new(hooks)),
        ..DeviceDesc::default()
    };
    let context = &gpu.context;
    let (instance, physical) = (context.instance(), context.physical_device());
    // SAFETY: the handles are of the context, which is destroyed later.
    let tile = unsafe { Device::new(instance, physical, context.device(), context.support(), desc) };
    let tile = tile.expect("a device");

    let host = gpu.host_buffer(BYTES);
    let mut builder = FrameBuilder::new("export", EXTENT);
    let canvas = ImageDesc {
        hook: 1,
        ..ImageDesc::new(IMAGE, EXTENT)
    };
    let canvas = builder.image("canvas", canvas);
    let other = builder.image("other", ImageDesc::new(IMAGE, EXTENT));
    let out = host_read(&mut builder, "out", BYTES);
    let scene = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
    let color = LoadOp::Clear(ClearValue::Float([1.0, 0.0, 51.0 / 255.0, 1.0]));
    let pass = builder.render_pass(scene, "clear");
    pass.color(canvas, color).color(other, color);
    let pass = builder.transfer_pass(scene, "copy").transfer_source(canvas);
    pass.transfer_source(other).transfer_destination(out);
    let frame = builder.build().expect("a sound frame");
    let plan = tile.plan(&frame, &PlanOptions::default()).expect("a plan");
    assert_eq!(plan.memory_of(canvas), Some(MemoryKind::Dedicated));
    let mut bound = tile.bind(&plan).expect("a bound plan");
    let imports = Imports {
        buffers: &[ImportedBuffer {
            resource: out,
            buffer: host.buffer,
        }],
        ..Imports::default()
    };
    // The passes are recorded in order, and the second one copies.
    let is_second = Cell::new(false);
    let number = run(&mut gpu, &mut bound, &imports, |pass| {
        if is_second.replace(true) {
            copy_image(pass, canvas, out, EXTENT);
        }
    });
    wait(&bound, number);
    assert!(is_cleared(&host));
    let memory = bound.memory(canvas, Parity::Even);
    assert_eq!(memory.offset, 0);
    let functions = ash::khr::external_memory_fd::Device::new(gpu.context.instance(), gpu.device());
    let info = vk::MemoryGetFdInfoKHR::default()
        .memory(memory.memory)
        .handle_type(by);
    // SAFETY: the memory was allocated to be exported so.
    let fd = unsafe { functions.get_memory_fd(&info) }.expect("a file descriptor");
    // SAFETY: the descriptor is the test's own.
    drop(unsafe { File::from_raw_fd(fd) });
    // SAFETY: its only frame is complete.
    unsafe { bound.destroy() };
    // SAFETY: everything of it is complete, retired or destroyed.
    unsafe { tile.destroy() };
}
