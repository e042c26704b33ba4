//! Operations that conformance tests perform for every extension and every memory type, and the devices that they and other suites create: with
//! everything enabled.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_void};

use ash::vk;
use tileheap_device::ffi;

use super::suite::{Ask, Suite, on_every_profile, with_all_queues};

const ALL_OWN: Ask<'_> = Ask {
    extensions: &[ffi::tile_properties::NAME, ffi::tile_shading::NAME],
    tile_properties: true,
    tile_shading: true,
    ..Ask::tile_memory(vk::API_VERSION_1_3)
};

/// Number of guard bytes after a structure.
const GUARD: usize = 64;

/// A structure with all bytes of its fields set to a value, followed by guard bytes of that value.
#[repr(C)]
struct Filled<T> {
    structure: T,
    guard: [u8; GUARD],
}

impl<T: vk::TaggedStructure + Default> Filled<T> {
    fn new(byte: u8) -> Filled<T> {
        let mut filled = Filled {
            structure: T::default(),
            guard: [byte; GUARD],
        };
        let head = size_of::<vk::BaseOutStructure<'_>>();
        // SAFETY: After the head, structures of the tests consist of integers, for which all bytes are valid.
        unsafe {
            let fields = (&raw mut filled.structure).cast::<u8>().add(head);
            fields.write_bytes(byte, size_of::<T>() - head);
        }
        filled
    }

    /// Asserts that a query wrote only the fields: type and chain are as `push_next` left them, and the guard bytes are unchanged.
    fn assert_bounds(&self, byte: u8, next: *const c_void) {
        // SAFETY: All structures with a type begin with this head.
        let head = unsafe { &*(&raw const self.structure).cast::<vk::BaseOutStructure<'_>>() };
        let name = std::any::type_name::<T>();
        assert_eq!(head.s_type, T::STRUCTURE_TYPE, "{name}");
        assert_eq!(head.p_next.cast_const().cast(), next, "{name}");
        assert_eq!(self.guard, [byte; GUARD], "{name}");
    }
}

/// Queried twice, with all bits off and all bits on before: the results are the same, and true or false; nothing else is written.
#[test]
fn features_and_properties_are_written_whole_and_no_further() {
    on_every_profile(&ALL_OWN, |suite| {
        let answers = [0x00, 0xFF].map(|byte| {
            let mut heap = Filled::<ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM<'_>>::new(byte);
            let mut tiles = Filled::<vk::PhysicalDeviceTilePropertiesFeaturesQCOM<'_>>::new(byte);
            let mut shading = Filled::<ffi::PhysicalDeviceTileShadingFeaturesQCOM<'_>>::new(byte);
            let mut limits = Filled::<ffi::PhysicalDeviceTileMemoryHeapPropertiesQCOM<'_>>::new(byte);
            let mut more = Filled::<ffi::PhysicalDeviceTileShadingPropertiesQCOM<'_>>::new(byte);
            let features = vk::PhysicalDeviceFeatures2::default();
            let mut features = features
                .push_next(&mut heap.structure)
                .push_next(&mut tiles.structure)
                .push_next(&mut shading.structure);
            let properties = vk::PhysicalDeviceProperties2::default();
            let mut properties = properties
                .push_next(&mut limits.structure)
                .push_next(&mut more.structure);
            // SAFETY: A live device, and valid chains.
            suite.expect(&[], |_| unsafe {
                let (instance, physical) = (&suite.instance, suite.physical);
                instance.get_physical_device_features2(physical, &mut features);
                instance.get_physical_device_properties2(physical, &mut properties);
            });
            // `push_next` puts a structure before those pushed earlier.
            let (to_shading, to_more) = (features.p_next.cast_const(), properties.p_next.cast_const());
            assert_eq!(to_shading, (&raw const shading.structure).cast());
            assert_eq!(to_more, (&raw const more.structure).cast());
            shading.assert_bounds(byte, (&raw const tiles.structure).cast());
            tiles.assert_bounds(byte, (&raw const heap.structure).cast());
            heap.assert_bounds(byte, std::ptr::null());
            more.assert_bounds(byte, (&raw const limits.structure).cast());
            limits.assert_bounds(byte, std::ptr::null());
            // After type and next, the features of the structure.
            // SAFETY: A structure of this number of words.
            let words = unsafe { *(&raw const shading.structure).cast::<[u32; 18]>() };
            let others = [
                heap.structure.tile_memory_heap,
                tiles.structure.tile_properties,
                limits.structure.queue_submit_boundary,
                limits.structure.tile_buffer_transfers,
                more.structure.prefer_non_coherent,
            ];
            let booleans = [&words[4..], &others].concat();
            assert!(booleans.iter().all(|boolean| *boolean <= vk::TRUE));
            (
                booleans,
                more.structure.max_apron_size,
                more.structure.tile_granularity,
                more.structure.max_tile_shading_rate,
            )
        });
        assert_eq!(answers[0], answers[1]);
    });
}

/// Requests a device with unsupported features; all are off before `edit`.
fn refused(suite: &Suite, edit: impl FnOnce(&mut ffi::PhysicalDeviceTileShadingFeaturesQCOM<'_>)) -> bool {
    let mut shading = ffi::PhysicalDeviceTileShadingFeaturesQCOM::default();
    edit(&mut shading);
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
    let names = [
        ffi::tile_properties::NAME.as_ptr(),
        ffi::tile_shading::NAME.as_ptr(),
    ];
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .push_next(&mut shading);
    // SAFETY: A live device whose family 0 has a queue.
    let made = suite.expect(&[], |_| unsafe {
        suite.instance.create_device(suite.physical, &info, None)
    });
    match made {
        Err(error) => error == vk::Result::ERROR_FEATURE_NOT_PRESENT,
        Ok(device) => {
            // SAFETY: New and unused.
            unsafe { device.destroy_device(None) };
            false
        }
    }
}

#[test]
fn a_device_is_refused_for_every_feature_that_is_not_offered() {
    on_every_profile(&ALL_OWN, |suite| {
        type Shading<'a> = ffi::PhysicalDeviceTileShadingFeaturesQCOM<'a>;
        let refused_ones: [fn(Shading<'_>) -> Shading<'_>; 8] = [
            |all| all.tile_shading_fragment_stage(true),
            |all| all.tile_shading_depth_attachments(true),
            |all| all.tile_shading_stencil_attachments(true),
            |all| all.tile_shading_input_attachments(true),
            |all| all.tile_shading_sampled_attachments(true),
            |all| all.tile_shading_apron(true),
            |all| all.tile_shading_anisotropic_apron(true),
            |all| all.tile_shading_image_processing(true),
        ];
        let offered: [fn(Shading<'_>) -> Shading<'_>; 5] = [
            |all| all.tile_shading_color_attachments(true),
            |all| all.tile_shading_per_tile_draw(true),
            |all| all.tile_shading_per_tile_dispatch(true),
            |all| all.tile_shading_dispatch_tile(true),
            |all| all.tile_shading_atomic_ops(true),
        ];
        for (index, feature) in refused_ones.into_iter().chain(offered).enumerate() {
            let with = |all: &mut Shading<'_>| *all = feature(all.tile_shading(true));
            assert_eq!(refused(suite, with), index < 8, "feature {index}");
        }
        assert!(!refused(suite, |all| *all = all.tile_shading(true)));
        assert!(!refused(suite, |_| ()));
    });
}

/// Returns true if an extension can be enabled together with all others: one has a successor that excludes it, and those for presenting require
/// instance extensions.
fn is_for_all(name: &CStr) -> bool {
    let text = name.to_string_lossy();
    name != ash::ext::buffer_device_address::NAME
        && !["swapchain", "present", "hdr_metadata", "display"]
            .iter()
            .any(|word| text.contains(word))
}

/// Every extension that the device lists, including the layer's, and every feature of each version and of the layer.
#[test]
fn a_device_has_all_that_it_lists() {
    on_every_profile(&ALL_OWN, |suite| {
        let (instance, physical) = (&suite.instance, suite.physical);
        // SAFETY: A live device.
        let listed = unsafe { instance.enumerate_device_extension_properties(physical) }.expect("extensions");
        let names: Vec<_> = listed
            .iter()
            .filter_map(|known| known.extension_name_as_c_str().ok())
            .collect();
        assert_eq!(
            names.iter().collect::<BTreeSet<_>>().len(),
            listed.len(),
            "no name twice"
        );
        let names: Vec<_> = names
            .into_iter()
            .filter(|name| is_for_all(name))
            .map(CStr::as_ptr)
            .collect();
        let mut heap = ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM::default();
        let mut tiles = vk::PhysicalDeviceTilePropertiesFeaturesQCOM::default();
        let mut shading = ffi::PhysicalDeviceTileShadingFeaturesQCOM::default();
        let mut core11 = vk::PhysicalDeviceVulkan11Features::default();
        let mut core12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut core13 = vk::PhysicalDeviceVulkan13Features::default();
        let mut features = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut heap)
            .push_next(&mut core11)
            .push_next(&mut tiles)
            .push_next(&mut core12)
            .push_next(&mut shading)
            .push_next(&mut core13);
        // SAFETY: As above.
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
        let device = with_all_queues(instance, physical, |queues| {
            let mut info = vk::DeviceCreateInfo::default()
                .queue_create_infos(queues)
                .enabled_extension_names(&names);
            info.p_next = (&raw const features).cast();
            // SAFETY: A valid create info.
            suite.expect(&[], |_| unsafe { instance.create_device(physical, &info, None) })
        });
        let device = device.expect("a device with everything");
        // SAFETY: Unused.
        unsafe { device.destroy_device(None) };
    });
}
