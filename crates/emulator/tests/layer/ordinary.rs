//! Ordinary memory beside tile memory: exported, imported, of the host, of swapchains, sparse. Memory types are the application's
//! everywhere, and everything else passes through unchanged.

use std::ffi::CStr;

use crate::rig;
use crate::rig::{Rig, Wants};
use ash::vk;

/// A device with these extensions beside those of the rig; `None`, and the test is skipped, where the driver lacks one.
fn with(instance_extensions: &[&CStr], extensions: &[&CStr]) -> Option<Rig> {
    let wants = Wants {
        instance_extensions,
        extensions,
        ..Wants::default()
    };
    let rig = Rig::with(&[], &wants);
    if rig.is_none() {
        rig::skip(&format!(
            "the driver lacks one of {instance_extensions:?} {extensions:?}"
        ));
    }
    rig
}

/// The bits of the driver's types as the application sees them: all but the tile type's.
fn ordinary_types(rig: &Rig) -> u32 {
    ((1 << rig.types.memory_type_count) - 1) & !(1 << rig.tile_type())
}

#[test]
fn memory_is_exported_and_imported_by_the_types_shown() {
    let kind = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;
    let Some(rig) = with(&[], &[ash::khr::external_memory_fd::NAME]) else {
        return;
    };
    let files = ash::khr::external_memory_fd::Device::new(&rig.instance, &rig.device);
    let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(kind);
    let info = vk::BufferCreateInfo::default()
        .size(4096)
        .usage(vk::BufferUsageFlags::TRANSFER_DST)
        .push_next(&mut external);
    // SAFETY: Valid create infos, handles of this device, and a descriptor that the driver takes over; all idle.
    unsafe {
        let buffers = [(); 2].map(|()| rig.device.create_buffer(&info, None).expect("a buffer"));
        rig.own(|owned| owned.buffers.extend(buffers));
        let needs = rig.buffer_needs(buffers[0]).0;
        assert_eq!(needs.memory_type_bits & !ordinary_types(&rig), 0);
        let index = needs.memory_type_bits.trailing_zeros();
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(kind);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(index)
            .push_next(&mut export);
        let exported = rig.device.allocate_memory(&info, None).expect("memory to export");
        rig.own(|owned| owned.memory.push(exported));
        rig.device
            .bind_buffer_memory(buffers[0], exported, 0)
            .expect("bound");
        let asked = vk::MemoryGetFdInfoKHR::default()
            .memory(exported)
            .handle_type(kind);
        let file = files.get_memory_fd(&asked).expect("a file");
        let mut import = vk::ImportMemoryFdInfoKHR::default().handle_type(kind).fd(file);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(index)
            .push_next(&mut import);
        let imported = rig.device.allocate_memory(&info, None).expect("imported memory");
        rig.own(|owned| owned.memory.push(imported));
        rig.device
            .bind_buffer_memory(buffers[1], imported, 0)
            .expect("bound");
        // Both are the same bytes: what one is filled with, the other holds.
        let commands = rig.record(|commands| {
            rig.device
                .cmd_fill_buffer(commands, buffers[0], 0, vk::WHOLE_SIZE, 0x1234_5678);
        });
        rig.submit(&[&[commands]]);
        let at = rig
            .device
            .map_memory(imported, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
            .expect("mapped memory");
        assert_eq!(*at.cast::<u32>(), 0x1234_5678);
    }
    rig.finish();
}

/// Memory of the host is imported by the types that the query names, in the application's numbers.
#[test]
fn memory_of_the_host_is_imported_by_the_types_shown() {
    let kind = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;
    let Some(rig) = with(&[], &[ash::ext::external_memory_host::NAME]) else {
        return;
    };
    let host = ash::ext::external_memory_host::Device::new(&rig.instance, &rig.device);
    let mut limits = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut limits);
    // SAFETY: A live device.
    unsafe {
        rig.instance
            .get_physical_device_properties2(rig.physical, &mut properties)
    };
    let page = limits.min_imported_host_pointer_alignment as usize;
    let bytes = page.max(4096);
    let room = vec![7u8; bytes + page];
    let at = room.as_ptr().wrapping_add(room.as_ptr().align_offset(page));
    let mut found = vk::MemoryHostPointerPropertiesEXT::default();
    // SAFETY: Aligned memory that outlives the device; handles of this device.
    unsafe {
        (host.fp().get_memory_host_pointer_properties_ext)(rig.device.handle(), kind, at.cast(), &mut found)
            .result()
            .expect("memory of the host can be imported");
        assert_ne!(found.memory_type_bits, 0);
        assert_eq!(
            found.memory_type_bits & !ordinary_types(&rig),
            0,
            "tile memory is nobody's to import"
        );
        let index = found.memory_type_bits.trailing_zeros();
        let mut import = vk::ImportMemoryHostPointerInfoEXT::default()
            .handle_type(kind)
            .host_pointer(at.cast_mut().cast());
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(bytes as u64)
            .memory_type_index(index)
            .push_next(&mut import);
        let memory = rig.device.allocate_memory(&info, None).expect("imported memory");
        rig.own(|owned| owned.memory.push(memory));
        let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(kind);
        let info = vk::BufferCreateInfo::default()
            .size(4096)
            .usage(vk::BufferUsageFlags::TRANSFER_SRC)
            .push_next(&mut external);
        let buffer = rig.device.create_buffer(&info, None).expect("a buffer");
        rig.own(|owned| owned.buffers.push(buffer));
        rig.device.bind_buffer_memory(buffer, memory, 0).expect("bound");
        let out = rig.host_buffer(1024);
        let commands = rig.record(|commands| {
            let all = [vk::BufferCopy::default().size(4096)];
            rig.device.cmd_copy_buffer(commands, buffer, out.buffer, &all);
        });
        rig.submit(&[&[commands]]);
        assert_eq!(out.read(), vec![0x0707_0707; 1024]);
    }
    rig.finish();
    drop(room);
}

/// A sparse buffer takes memory of a type that its requirements name.
#[test]
fn sparse_buffers_take_the_types_shown() {
    let rig = Rig::new(&[]);
    // SAFETY: A live device.
    let features = unsafe { rig.instance.get_physical_device_features(rig.physical) };
    if features.sparse_binding == vk::FALSE {
        rig.finish();
        return rig::skip("the driver has no sparse resources");
    }
    rig.finish();
    let wants = Wants {
        features: vk::PhysicalDeviceFeatures::default().sparse_binding(true),
        ..Wants::default()
    };
    let rig = Rig::with(&[], &wants).expect("a device");
    // SAFETY: Valid create infos, and handles of this device; all idle.
    unsafe {
        let info = vk::BufferCreateInfo::default()
            .flags(vk::BufferCreateFlags::SPARSE_BINDING)
            .size(1 << 16)
            .usage(vk::BufferUsageFlags::TRANSFER_DST | vk::BufferUsageFlags::TRANSFER_SRC);
        let buffer = rig.device.create_buffer(&info, None).expect("a sparse buffer");
        rig.own(|owned| owned.buffers.push(buffer));
        let needs = rig.buffer_needs(buffer).0;
        assert_eq!(needs.memory_type_bits & !ordinary_types(&rig), 0);
        let memory = rig
            .allocate(needs.size, needs.memory_type_bits.trailing_zeros())
            .expect("memory");
        let binds = [vk::SparseMemoryBind::default().size(needs.size).memory(memory)];
        let of_buffers = [vk::SparseBufferMemoryBindInfo::default()
            .buffer(buffer)
            .binds(&binds)];
        let info = vk::BindSparseInfo::default().buffer_binds(&of_buffers);
        rig.device
            .queue_bind_sparse(rig.queue, &[info], vk::Fence::null())
            .expect("a sparse binding");
        rig.device.queue_wait_idle(rig.queue).expect("an idle queue");
        let out = rig.host_buffer(16);
        let commands = rig.record(|commands| {
            rig.device.cmd_fill_buffer(commands, buffer, 0, vk::WHOLE_SIZE, 5);
            rig.barrier(commands);
            let some = [vk::BufferCopy::default().size(64)];
            rig.device.cmd_copy_buffer(commands, buffer, out.buffer, &some);
        });
        rig.submit(&[&[commands]]);
        assert_eq!(out.read(), [5; 16]);
    }
    rig.finish();
}

/// Images of a swapchain get their memory from it: structures of others go down through the layer as they are.
#[test]
fn images_of_swapchains_are_not_the_layers() {
    let surfaces = [ash::khr::surface::NAME, ash::ext::headless_surface::NAME];
    let Some(rig) = with(&surfaces, &[ash::khr::swapchain::NAME]) else {
        return;
    };
    let (format, usage) = (vk::Format::B8G8R8A8_UNORM, vk::ImageUsageFlags::TRANSFER_DST);
    // SAFETY: Valid create infos, handles of this device, destroyed in the order of use.
    unsafe {
        let headless = ash::ext::headless_surface::Instance::new(&rig.entry, &rig.instance);
        let surface = headless
            .create_headless_surface(&vk::HeadlessSurfaceCreateInfoEXT::default(), None)
            .expect("a surface");
        let of_surfaces = ash::khr::surface::Instance::new(&rig.entry, &rig.instance);
        let is_supported = of_surfaces.get_physical_device_surface_support(rig.physical, rig.family, surface);
        assert_eq!(is_supported, Ok(true));
        let limits = of_surfaces
            .get_physical_device_surface_capabilities(rig.physical, surface)
            .expect("limits");
        let extent = vk::Extent2D {
            width: 64,
            height: 64,
        };
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(surface)
            .min_image_count(limits.min_image_count)
            .image_format(format)
            .image_color_space(vk::ColorSpaceKHR::SRGB_NONLINEAR)
            .image_extent(extent)
            .image_array_layers(1)
            .image_usage(usage)
            .image_sharing_mode(vk::SharingMode::EXCLUSIVE)
            .pre_transform(vk::SurfaceTransformFlagsKHR::IDENTITY)
            .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
            .present_mode(vk::PresentModeKHR::FIFO);
        let swapchains = ash::khr::swapchain::Device::new(&rig.instance, &rig.device);
        let swapchain = swapchains.create_swapchain(&info, None).expect("a swapchain");
        let count = swapchains.get_swapchain_images(swapchain).expect("images").len();
        assert!(count >= limits.min_image_count as usize);
        let mut of = vk::ImageSwapchainCreateInfoKHR::default().swapchain(swapchain);
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(extent.into())
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage)
            .push_next(&mut of);
        let image = rig
            .device
            .create_image(&info, None)
            .expect("an image of the swapchain");
        let mut from = vk::BindImageMemorySwapchainInfoKHR::default().swapchain(swapchain);
        let bind = [vk::BindImageMemoryInfo::default()
            .image(image)
            .push_next(&mut from)];
        rig.device
            .bind_image_memory2(&bind)
            .expect("memory of the swapchain");
        rig.device.destroy_image(image, None);
        swapchains.destroy_swapchain(swapchain, None);
        of_surfaces.destroy_surface(surface, None);
    }
    rig.finish();
}
