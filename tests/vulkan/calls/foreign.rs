//! Images from outside: in memory that no driver here accepts, dma-bufs with a modifier, Android hardware buffers; and one image for two resources.

use ash::vk;
use tileheap::frame::external::{ExternalDesc, ExternalFamily};
use tileheap::frame::{BufferDesc, ClearValue, FrameBuilder, ImageDesc, LoadOp, Persistence};
use tileheap::plan::PlanOptions;
use tileheap::runtime::import::{ImportedBuffer, ImportedImage};
use tileheap::runtime::{BoundBuffer, Capabilities, Imports};
use tileheap::units::Bytes;
use tileheap_testkit::fake_driver::{BarrierTarget, Command, Config};
use tileheap_testkit::frames::one_queue;
use tileheap_testkit::runtime_rig::{self, EXTENT, image_info, on_fake};
use vk::{ExternalMemoryHandleTypeFlags as HandleType, QUEUE_FAMILY_FOREIGN_EXT as FOREIGN};

use super::Rig;

const HARDWARE: HandleType = HandleType::ANDROID_HARDWARE_BUFFER_ANDROID;
const KINDS: [HandleType; 2] = [HandleType::DMA_BUF_EXT, HARDWARE];

/// A camera image to sample: created for memory of the kind `created` and bound to memory of the kind `imported`.
fn camera(rig: &runtime_rig::Rig, created: usize, imported: usize) -> (vk::Image, vk::DeviceMemory) {
    let (device, ordinary) = (&rig.device, rig.support.profile().ordinary_type_bits());
    let planes = [vk::SubresourceLayout::default().row_pitch(2048)];
    let modifier = vk::ImageDrmFormatModifierExplicitCreateInfoEXT::default().plane_layouts(&planes);
    let format = vk::ExternalFormatANDROID::default().external_format(0x506);
    let mut external = vk::ExternalMemoryImageCreateInfo::default().handle_types(KINDS[created]);
    external.p_next = [(&raw const modifier).cast(), (&raw const format).cast()][created];
    let mut info = image_info(vk::ImageUsageFlags::SAMPLED).push_next(&mut external);
    info.tiling = [vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT, info.tiling][created];
    info.format = [info.format, vk::Format::UNDEFINED][created];
    let image = on_fake!(device.create_image(&info, None)).unwrap();
    let needs = on_fake!(device.get_image_memory_requirements(image));
    let fd = vk::ImportMemoryFdInfoKHR::default().handle_type(KINDS[imported]);
    let mut buffer = 0; // Neither it nor the file is used.
    let hardware = vk::ImportAndroidHardwareBufferInfoANDROID::default().buffer((&raw mut buffer).cast());
    let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().image(image);
    dedicated.p_next = [(&raw const fd).cast(), (&raw const hardware).cast()][imported];
    let mut info = vk::MemoryAllocateInfo::default().allocation_size(needs.size);
    info.memory_type_index = (needs.memory_type_bits & ordinary).trailing_zeros();
    let memory = on_fake!(device.allocate_memory(&info.push_next(&mut dedicated), None)).unwrap();
    on_fake!(device.bind_image_memory(image, memory, 0)).unwrap();
    (image, memory)
}

#[test]
fn images_in_foreign_memory_are_acquired_and_released() {
    for (kind, config) in [Config::modern(), Config::vulkan_1_1()].into_iter().enumerate() {
        let rig = Rig::new(config);
        let (image, memory) = camera(&rig.fake, kind, kind);
        let info = vk::ImageViewCreateInfo::default().image(image);
        let view = on_fake!(rig.fake.device.create_image_view(&info, None)).unwrap();
        let mut outside = ExternalDesc::in_layout(vk::ImageLayout::GENERAL);
        outside.entry = outside.entry.owned_by(ExternalFamily::Foreign);
        outside.exit = outside.entry;
        let mut builder = FrameBuilder::new("viewfinder", EXTENT);
        let desc = ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT);
        let resource = builder.resource("camera", desc, Persistence::External(outside));
        let out = builder.image("out", desc);
        let scene = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
        let pass = builder.render_pass(scene, "show").sampled(resource);
        let show = pass.color(out, LoadOp::Clear(ClearValue::ZERO)).id();
        let frame = builder.build().unwrap();
        let plan = rig.tile.plan(&frame, &PlanOptions::default()).unwrap();
        let mut bound = rig.tile.bind(&plan).unwrap();
        let images = [ImportedImage {
            resource,
            image,
            view,
        }];
        let imports = Imports {
            images: &images,
            ..Imports::default()
        };
        let commands = rig.fake.commands[0][0];
        let recorder = on_fake!(bound.begin(&imports)).unwrap();
        let mut recording = on_fake!(recorder.record(commands, scene)).unwrap();
        recording.pass(show, |_| ()).unwrap();
        recording.finish().unwrap();
        let number = on_fake!(recorder.submit()).unwrap();
        assert!(bound.wait(number, u64::MAX).unwrap());
        let mut families = Vec::new();
        for command in rig.fake.driver.recorded(commands) {
            if let Command::Barriers { barriers, .. } = command {
                let of_image = barriers
                    .iter()
                    .filter(|one| one.target == BarrierTarget::Image(image));
                families.extend(of_image.map(|one| one.families));
            }
        }
        assert_eq!(families, [(FOREIGN, 0), (0, FOREIGN)], "{:?}", KINDS[kind]);
        on_fake!(bound.destroy());
        on_fake!(rig.fake.device.destroy_image_view(view, None));
        on_fake!(rig.fake.device.destroy_image(image, None));
        on_fake!(rig.fake.device.free_memory(memory, None));
        // Memory of a kind that the image was not created for is refused.
        let rig = runtime_rig::Rig::new(Config::modern(), Capabilities::empty());
        camera(&rig, kind, 1 - kind);
        let said = rig.driver.violations();
        assert!(said.len() == 1 && said[0].contains("is not for"), "{said:?}");
    }
}

#[test]
fn framebuffers_of_one_imported_view_are_as_large_as_their_passes_need() {
    let rig = Rig::new(Config::vulkan_1_1());
    let (image, view) = rig.fake.outputs[0];
    let desc = ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT);
    let external = Persistence::External(ExternalDesc::in_layout(vk::ImageLayout::GENERAL));
    let mut builder = FrameBuilder::new("corner", EXTENT);
    let resource = builder.resource("picture", desc, external);
    let scene = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
    let corner = vk::Rect2D::from(vk::Extent2D { width: 8, height: 4 });
    let small = builder.render_pass(scene, "corner").color(resource, LoadOp::Load);
    let small = small.area(corner).id();
    let all = builder
        .render_pass(scene, "all")
        .color(resource, LoadOp::Load)
        .id();
    let plan = rig
        .tile
        .plan(&builder.build().unwrap(), &PlanOptions::default())
        .unwrap();
    let mut bound = rig.tile.bind(&plan).unwrap();
    let imports = Imports {
        images: &[ImportedImage {
            resource,
            image,
            view,
        }],
        ..Imports::default()
    };
    let recorder = on_fake!(bound.begin(&imports)).unwrap();
    let mut recording = on_fake!(recorder.record(rig.fake.commands[0][0], scene)).unwrap();
    recording.pass(small, |_| ()).unwrap();
    recording.pass(all, |_| ()).unwrap();
    recording.finish().unwrap();
    let number = on_fake!(recorder.submit()).unwrap();
    assert!(bound.wait(number, u64::MAX).unwrap());
    on_fake!(bound.destroy());
    assert_eq!(rig.fake.driver.violations(), [""; 0]);
}

#[test]
fn a_part_that_is_imported_twice_is_refused() {
    let rig = Rig::new(Config::modern());
    let vk::Extent2D { width, height } = EXTENT;
    let desc = ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT);
    let layered = ImageDesc {
        array_layers: 2,
        ..desc
    };
    let depth = 2;
    let volume = ImageDesc {
        image_type: vk::ImageType::TYPE_3D,
        ..ImageDesc::new(vk::Format::R8G8B8A8_UNORM, vk::Extent3D { width, height, depth })
    };
    let (image, view) = rig.fake.outputs[0];
    // Slices have one layout here, which each of the two would change for both.
    for (desc, second, once) in [(layered, 1, true), (layered, 0, false), (volume, 1, false)] {
        let mut builder = FrameBuilder::new("twice", EXTENT);
        let external = Persistence::External(ExternalDesc::in_layout(vk::ImageLayout::GENERAL));
        let names = ["near", "far"].map(|name| builder.resource(name, desc, external));
        let scene = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
        for (resource, layer) in names.into_iter().zip([0, second]) {
            let pass = builder.render_pass(scene, format!("draw {}", resource.index()));
            pass.color(resource, LoadOp::Clear(ClearValue::ZERO)).layer(layer);
        }
        let frame = builder.build().unwrap();
        let plan = rig.tile.plan(&frame, &PlanOptions::default()).unwrap();
        let mut bound = rig.tile.bind(&plan).unwrap();
        let images = names.map(|resource| ImportedImage {
            resource,
            image,
            view,
        });
        let imports = Imports {
            images: &images,
            ..Imports::default()
        };
        let said = on_fake!(bound.begin(&imports)).map(drop);
        let said = said.map_or_else(|error| error.to_string(), |()| "ran".to_owned());
        let twice = "`near` and `far` are imported as the same image";
        assert!(said.contains(if once { "ran" } else { twice }), "{said}");
        on_fake!(bound.destroy());
    }
}

/// The result of `begin`, as text, with an import of a buffer as the declared resource of 256 bytes, or as one of another frame.
fn import(resource: usize, size: u64) -> String {
    let rig = Rig::new(Config::modern());
    let mut builder = FrameBuilder::new("small", EXTENT);
    let external = Persistence::External(ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED));
    let mut other = FrameBuilder::new("other", EXTENT);
    let [own, _, foreign] = ["indices", "second", "third"]
        .map(|name| other.resource(name, BufferDesc::new(Bytes(256)), external));
    builder.resource("indices", BufferDesc::new(Bytes(256)), external);
    let scene = one_queue(&mut builder, vk::QueueFlags::COMPUTE);
    builder.compute_pass(scene, "use").storage_write(own);
    let plan = rig
        .tile
        .plan(&builder.build().unwrap(), &PlanOptions::default())
        .unwrap();
    let mut bound = rig.tile.bind(&plan).unwrap();
    let buffer = BoundBuffer {
        handle: <vk::Buffer as vk::Handle>::from_raw(0x77),
        offset: 0,
        size,
        address: 0,
    };
    let resource = [own, foreign][resource];
    let buffers = [ImportedBuffer { resource, buffer }];
    let imports = Imports {
        buffers: &buffers,
        ..Imports::default()
    };
    let said = on_fake!(bound.begin(&imports)).map(drop);
    on_fake!(bound.destroy());
    said.map_or_else(|error| error.to_string(), |()| "ran".to_owned())
}

#[test]
fn ranges_of_imported_buffers_are_as_large_as_declared() {
    assert_eq!(import(0, 256), "ran");
    assert_eq!(import(0, vk::WHOLE_SIZE), "ran");
    let said = import(0, 255);
    assert!(
        said.contains("`indices` is declared with 256 B, but only 255 B are imported"),
        "{said}"
    );
}

#[test]
fn imports_name_resources_of_the_frame() {
    let said = import(1, 256);
    assert!(
        said.contains("resource 2 is imported, but frame `small` declares no such resource"),
        "{said}"
    );
}

#[test]
fn bytes_that_are_imported_twice_are_refused_where_they_are_written() {
    let rig = Rig::new(Config::modern());
    let handle = <vk::Buffer as vk::Handle>::from_raw(0x77);
    for (writes, second, once) in [(true, 64, false), (true, 256, true), (false, 64, true)] {
        let mut builder = FrameBuilder::new("twice", EXTENT);
        let external = Persistence::External(ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED));
        let names =
            ["first", "second"].map(|name| builder.resource(name, BufferDesc::new(Bytes(256)), external));
        let scene = one_queue(&mut builder, vk::QueueFlags::COMPUTE);
        let pass = builder.compute_pass(scene, "use").storage_read(names[0]);
        match writes {
            true => pass.storage_write(names[1]),
            false => pass.storage_read(names[1]),
        };
        let frame = builder.build().unwrap();
        let plan = rig.tile.plan(&frame, &PlanOptions::default()).unwrap();
        let mut bound = rig.tile.bind(&plan).unwrap();
        let mut offset = 0;
        let buffers = names.map(|resource| {
            let (size, address) = (256, 0);
            let buffer = BoundBuffer {
                handle,
                offset: std::mem::replace(&mut offset, second),
                size,
                address,
            };
            ImportedBuffer { resource, buffer }
        });
        let imports = Imports {
            buffers: &buffers,
            ..Imports::default()
        };
        let said = on_fake!(bound.begin(&imports)).map(drop);
        let said = said.map_or_else(|error| error.to_string(), |()| "ran".to_owned());
        let twice = "`first` and `second` are imported as the same bytes";
        assert!(said.contains(if once { "ran" } else { twice }), "{said}");
        on_fake!(bound.destroy());
    }
}
