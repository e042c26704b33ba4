//! The libraries of the emulator and the aliasing layer under Android's loader, which reads no manifest and does not negotiate.

use std::ffi::CStr;
use std::path::PathBuf;

use ash::vk;
use tileheap_device::ffi;
use tileheap_emulator::{ALIASING, EMULATOR};
use tileheap_layer::layer_desc::LayerDesc;
use tileheap_testkit::android_loader::{AndroidLayer, load};

/// The only layer of a staged library; `None` if it is not staged, and the test is listed as skipped.
fn staged(layer: &LayerDesc, folder: &str) -> Option<AndroidLayer> {
    let given = std::env::var_os(format!("TILEHEAP_{}", folder.to_uppercase())).map(PathBuf::from);
    let folder = given.unwrap_or_else(|| tileheap_testkit::workspace().join("target").join(folder));
    let library = folder.join(format!("libVkLayer_{}.so", layer.key));
    if !library.is_file() {
        tileheap_testkit::skip(&format!("{} is not staged", library.display()));
        return None;
    }
    let mut layers = load(&library);
    assert_eq!(layers.len(), 1, "{layers:?}");
    let found = layers.remove(0);
    assert_eq!(&*found.name, layer.name);
    assert!(found.is_global, "{found:?}");
    assert_eq!(
        found.instance_extensions,
        [ash::ext::layer_settings::NAME.to_owned()]
    );
    Some(found)
}

/// Sizes of the heaps with tile memory, and true if the application sees `VK_QCOM_tile_memory_heap`, with one layer setting. Also creates and
/// destroys a device.
fn heaps_and_extensions(
    layer: &AndroidLayer,
    desc: &LayerDesc,
    key: &CStr,
    value: &CStr,
) -> (Vec<u64>, bool) {
    // SAFETY: The test has a separate process, and no loader is loaded yet: on a phone, no other test adds the layers of a validated run.
    unsafe { std::env::remove_var("VK_INSTANCE_LAYERS") };
    let text = value.as_ptr();
    let settings = [vk::LayerSettingEXT {
        p_layer_name: desc.name.as_ptr(),
        p_setting_name: key.as_ptr(),
        ty: vk::LayerSettingTypeEXT::STRING,
        value_count: 1,
        p_values: (&raw const text).cast(),
        ..Default::default()
    }];
    let mut given = vk::LayerSettingsCreateInfoEXT::default().settings(&settings);
    let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    let info = vk::InstanceCreateInfo::default()
        .application_info(&application)
        .push_next(&mut given);
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
    let device_info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
    // SAFETY: The library found is a loader; family 0 has a queue; both are destroyed once.
    unsafe {
        let below = ash::Entry::load().expect("a Vulkan loader");
        let instance = layer.create_instance(&below, &info);
        let physical = tileheap_testkit::physical_device(&instance);
        let properties = instance.get_physical_device_memory_properties(physical);
        let heaps = properties.memory_heaps_as_slice().iter();
        let tiles = heaps.filter(|heap| heap.flags.contains(ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM));
        let extensions = instance
            .enumerate_device_extension_properties(physical)
            .expect("extensions");
        let has_extension = extensions
            .iter()
            .any(|one| one.extension_name_as_c_str() == Ok(ffi::tile_memory_heap::NAME));
        let device = layer.create_device(&below, &instance, physical, &device_info);
        device.destroy_device(None);
        instance.destroy_instance(None);
        (tiles.map(|heap| heap.size).collect(), has_extension)
    }
}

#[test]
fn androids_loader_finds_the_emulator_and_its_extensions() {
    let name = "android::androids_loader_finds_the_emulator_and_its_extensions";
    crate::alone(name, || {
        let Some(layer) = staged(&EMULATOR, "emulator") else {
            return;
        };
        assert!(
            layer
                .device_extensions
                .iter()
                .any(|name| **name == *ffi::tile_memory_heap::NAME)
        );
        let seen = heaps_and_extensions(&layer, &EMULATOR, c"heap_size", c"1048576");
        assert_eq!(seen, (vec![1 << 20], true));
    });
}

#[test]
fn androids_loader_finds_the_aliasing_layer_which_emulates_nothing() {
    let name = "android::androids_loader_finds_the_aliasing_layer_which_emulates_nothing";
    crate::alone(name, || {
        let Some(layer) = staged(&ALIASING, "aliasing") else {
            return;
        };
        assert!(layer.device_extensions.is_empty());
        let seen = heaps_and_extensions(&layer, &ALIASING, c"possible", c"true");
        assert_eq!(seen, (vec![], false));
    });
}
