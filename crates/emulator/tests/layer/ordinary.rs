//! Ordinary memory next to tile memory: exported, imported, host, swapchain and sparse memory. Memory types are the application's everywhere, and
//! everything else is passed through unchanged.

use std::ffi::CStr;

use crate::rig;
use crate::rig::{Rig, Wants};
use ash::vk;
use vk::BufferUsageFlags as B;

/// A device with these extensions in addition to those of the rig; `None` if the driver lacks one, and the test is skipped.
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

/// The first of the types in these bits, which are the driver's as the application sees them: the tile type is not among them.
fn first_ordinary(rig: &Rig, bits: u32) -> u32 {
    let shown = (1 << rig.types.memory_type_count) - 1;
    assert_eq!(
        bits & !shown | bits >> rig.tile_type() & 1,
        0,
        "tile memory cannot be imported"
    );
    assert_ne!(bits, 0);
    bits.trailing_zeros()
}

/// Copies words of a buffer to the host.
fn words(rig: &Rig, from: vk::Buffer, count: usize, before: impl FnOnce(vk::CommandBuffer)) -> Vec<u32> {
    let out = rig.host_buffer(count);
    let commands = rig.record(|commands| {
        before(commands);
        let all = [vk::BufferCopy::default().size(count as u64 * 4)];
        // SAFETY: Recording; buffers of that size.
        unsafe { rig.device.cmd_copy_buffer(commands, from, out.buffer, &all) };
    });
    rig.submit(&[&[commands]]);
    out.read()
}

#[test]
fn memory_is_exported_and_imported_by_the_types_shown() {
    let kind = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;
    let Some(rig) = with(&[], &[ash::khr::external_memory_fd::NAME]) else {
        return;
    };
    let files = ash::khr::external_memory_fd::Device::new(&rig.instance, &rig.device);
    let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(kind);
    let usage = B::TRANSFER_DST | B::TRANSFER_SRC;
    let info = vk::BufferCreateInfo::default()
        .size(4096)
        .usage(usage)
        .push_next(&mut external);
    let buffers = [(); 2].map(|()| rig.create(&info));
    let needs = rig.buffer_needs(buffers[0]).0;
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(needs.size)
        .memory_type_index(first_ordinary(&rig, needs.memory_type_bits));
    let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(kind);
    let exported = rig.create(&info.push_next(&mut export));
    let asked = vk::MemoryGetFdInfoKHR::default()
        .memory(exported)
        .handle_type(kind);
    // SAFETY: Memory to export; the driver takes the descriptor over below.
    let file = unsafe { files.get_memory_fd(&asked) }.expect("a file");
    let mut import = vk::ImportMemoryFdInfoKHR::default().handle_type(kind).fd(file);
    let imported = rig.create(&info.push_next(&mut import));
    rig.bind_buffer(buffers[0], exported, 0);
    rig.bind_buffer(buffers[1], imported, 0);
    // Both are the same bytes: a fill of one is visible in the other.
    let found = words(&rig, buffers[1], 4, |commands| {
        rig.fill_buffer(commands, buffers[0], 0x1234_5678);
        rig.barrier(commands);
    });
    assert_eq!(found, [0x1234_5678; 4]);
}

/// Host memory is imported by the types that the query returns, in the application's numbers.
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
    let query = host.fp().get_memory_host_pointer_properties_ext;
    // SAFETY: Aligned memory that outlives the device.
    let asked = unsafe { query(rig.device.handle(), kind, at.cast(), &mut found) };
    asked.result().expect("memory of the host can be imported");
    let mut import = vk::ImportMemoryHostPointerInfoEXT::default()
        .handle_type(kind)
        .host_pointer(at.cast_mut().cast());
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(bytes as u64)
        .memory_type_index(first_ordinary(&rig, found.memory_type_bits))
        .push_next(&mut import);
    let memory = rig.create(&info);
    let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(kind);
    let info = vk::BufferCreateInfo::default().size(4096).usage(B::TRANSFER_SRC);
    let buffer = rig.create(&info.push_next(&mut external));
    rig.bind_buffer(buffer, memory, 0);
    assert_eq!(words(&rig, buffer, 1024, |_| ()), vec![0x0707_0707; 1024]);
    drop(rig);
    drop(room);
}

/// A sparse buffer takes memory of a type that its requirements name.
#[test]
fn sparse_buffers_take_the_types_shown() {
    let rig = Rig::new(&[]);
    // SAFETY: A live device.
    let features = unsafe { rig.instance.get_physical_device_features(rig.physical) };
    drop(rig);
    if features.sparse_binding == vk::FALSE {
        return rig::skip("the driver has no sparse resources");
    }
    let wants = Wants {
        features: vk::PhysicalDeviceFeatures::default().sparse_binding(true),
        ..Wants::default()
    };
    let rig = Rig::with(&[], &wants).expect("a device");
    let info = vk::BufferCreateInfo::default()
        .flags(vk::BufferCreateFlags::SPARSE_BINDING)
        .size(1 << 16)
        .usage(B::TRANSFER_DST | B::TRANSFER_SRC);
    let buffer = rig.create(&info);
    let needs = rig.buffer_needs(buffer).0;
    let memory = rig.allocate(needs.size, first_ordinary(&rig, needs.memory_type_bits));
    let binds = [vk::SparseMemoryBind::default().size(needs.size).memory(memory)];
    let of_buffers = vk::SparseBufferMemoryBindInfo::default().buffer(buffer);
    let of_buffers = [of_buffers.binds(&binds)];
    let info = vk::BindSparseInfo::default().buffer_binds(&of_buffers);
    // SAFETY: Valid, and all idle after it.
    unsafe {
        let bound = rig
            .device
            .queue_bind_sparse(rig.queue, &[info], vk::Fence::null());
        bound.expect("a sparse binding");
        rig.device.queue_wait_idle(rig.queue).expect("an idle queue");
    }
    let found = words(&rig, buffer, 16, |commands| {
        rig.fill_buffer(commands, buffer, 5);
        rig.barrier(commands);
    });
    assert_eq!(found, [5; 16]);
}

/// Images of a swapchain get their memory from it: foreign structures are passed through the layer unchanged.
#[test]
fn images_of_swapchains_are_not_the_layers() {
    let surfaces = [ash::khr::surface::NAME, ash::ext::headless_surface::NAME];
    let Some(rig) = with(&surfaces, &[ash::khr::swapchain::NAME]) else {
        return;
    };
    let (format, usage) = (vk::Format::B8G8R8A8_UNORM, vk::ImageUsageFlags::TRANSFER_DST);
    // SAFETY: Valid create infos, handles of this device, destroyed in the order of use.
    unsafe {
        let headless = ash::ext::headless_surface::Instance::new(&rig.on.entry, &rig.instance);
        let surface = headless.create_headless_surface(&vk::HeadlessSurfaceCreateInfoEXT::default(), None);
        let surface = surface.expect("a surface");
        let of_surfaces = ash::khr::surface::Instance::new(&rig.on.entry, &rig.instance);
        let is_supported = of_surfaces.get_physical_device_surface_support(rig.physical, rig.family, surface);
        assert_eq!(is_supported, Ok(true));
        let limits = of_surfaces.get_physical_device_surface_capabilities(rig.physical, surface);
        let limits = limits.expect("limits");
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(surface)
            .min_image_count(limits.min_image_count)
            .image_format(format)
            .image_color_space(vk::ColorSpaceKHR::SRGB_NONLINEAR)
            .image_extent(rig::area(64, 64).extent)
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
        let info = rig::image_info(format, 64, usage).push_next(&mut of);
        let image = rig
            .device
            .create_image(&info, None)
            .expect("an image of the swapchain");
        let mut from = vk::BindImageMemorySwapchainInfoKHR::default().swapchain(swapchain);
        let bind = vk::BindImageMemoryInfo::default()
            .image(image)
            .push_next(&mut from);
        let bound = rig.device.bind_image_memory2(&[bind]);
        bound.expect("memory of the swapchain");
        rig.device.destroy_image(image, None);
        swapchains.destroy_swapchain(swapchain, None);
        of_surfaces.destroy_surface(surface, None);
    }
}
