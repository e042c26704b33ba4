//! Sources of settings through the loader, and their precedence. Changes the environment.

use crate::rig;
use std::ffi::c_void;

use ash::vk;
use tileheap_device::ffi;
use tileheap_emulator::{EMULATOR, LAYER_NAME};

/// Values of settings that an application sees: the heap's size, the submit boundary, buffer transfers.
type Seen = (u64, bool, bool);

fn seen(instance: &ash::Instance) -> Seen {
    let mut limits = ffi::PhysicalDeviceTileMemoryHeapPropertiesQCOM::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut limits);
    // SAFETY: A live instance.
    let types = unsafe {
        let physical = tileheap_testkit::physical_device(instance);
        instance.get_physical_device_properties2(physical, &mut properties);
        instance.get_physical_device_memory_properties(physical)
    };
    let is_tile = |heap: &&vk::MemoryHeap| heap.flags.contains(ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM);
    let heap = types
        .memory_heaps_as_slice()
        .iter()
        .find(is_tile)
        .expect("a tile heap");
    (
        heap.size,
        limits.queue_submit_boundary != 0,
        limits.tile_buffer_transfers != 0,
    )
}

/// The values seen with these settings in the instance's chain, and the messages.
fn with_text(settings: &[(&str, &str)]) -> (Seen, Vec<rig::Message>) {
    let on = rig::Instance::new(settings);
    (seen(&on.instance), on.take_messages())
}

/// Like `with_text` with typed values, and a setting of another layer.
fn with_types() -> Seen {
    rig::prepare_environment();
    let (heap, boundary, other) = (2_097_152u64, vk::TRUE, 7u64);
    let setting =
        |layer: &std::ffi::CStr, name: &std::ffi::CStr, ty, value: *const c_void| vk::LayerSettingEXT {
            p_layer_name: layer.as_ptr(),
            p_setting_name: name.as_ptr(),
            ty,
            value_count: 1,
            p_values: value,
            ..Default::default()
        };
    use vk::LayerSettingTypeEXT as T;
    let boundary = (&raw const boundary).cast();
    let settings = [
        setting(
            c"VK_LAYER_other",
            c"heap_size",
            T::UINT64,
            (&raw const other).cast(),
        ),
        setting(LAYER_NAME, c"heap_size", T::UINT64, (&raw const heap).cast()),
        setting(LAYER_NAME, c"queue_submit_boundary", T::BOOL32, boundary),
    ];
    let mut given = vk::LayerSettingsCreateInfoEXT::default().settings(&settings);
    let layers = [LAYER_NAME.as_ptr()];
    let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    let info = vk::InstanceCreateInfo::default()
        .application_info(&application)
        .enabled_layer_names(&layers)
        .push_next(&mut given);
    // SAFETY: The library found is a loader; all names are C strings; the instance is destroyed once.
    unsafe {
        let entry = ash::Entry::load().expect("a Vulkan loader");
        let instance = entry
            .create_instance(&info, None)
            .expect("an instance with the layer");
        let seen = seen(&instance);
        instance.destroy_instance(None);
        seen
    }
}

#[test]
fn the_environment_wins_over_the_file_and_the_file_over_the_structure() {
    let name = "settings::the_environment_wins_over_the_file_and_the_file_over_the_structure";
    crate::alone(name, || {
        const MIB: u64 = 1 << 20;
        let set = |name: &str, value: &str| {
            // SAFETY: The only test of this process, while no loader is loaded.
            unsafe { std::env::set_var(name, value) };
        };
        let unset = |name: &str| {
            // SAFETY: As above.
            unsafe { std::env::remove_var(name) };
        };
        // None of the caller's settings; an empty file, so that none of the user's is found.
        for setting in EMULATOR.keys() {
            unset(&EMULATOR.variable(setting));
        }
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("vk_layer_settings.txt");
        let write = |text: &str| std::fs::write(&file, text).expect("a file");
        write("");
        set(
            "VK_LAYER_SETTINGS_PATH",
            folder.path().to_str().expect("a path of text"),
        );
        assert_eq!(with_text(&[]), ((8_355_840, false, false), vec![]));

        let structure = [("profile", "generous"), ("heap_size", "1048576")];
        assert_eq!(with_text(&structure), ((MIB, true, true), vec![]));
        assert_eq!(with_types(), (2 * MIB, true, false));

        write("# mine\nkhronos_validation.heap_size = 5\ntileheap_emulator.heap_size = 3_145_728 # bytes\n");
        assert_eq!(with_text(&structure), ((3 * MIB, true, true), vec![]));

        set("VK_TILEHEAP_EMULATOR_HEAP_SIZE", "4194304");
        set("VK_TILEHEAP_EMULATOR_TILE_BUFFER_TRANSFERS", "off");
        assert_eq!(with_text(&structure), ((4 * MIB, true, false), vec![]));

        // The path may name the file itself; an unreadable file is reported, and hides later sources.
        set("VK_LAYER_SETTINGS_PATH", file.to_str().expect("a path of text"));
        unset("VK_TILEHEAP_EMULATOR_TILE_BUFFER_TRANSFERS");
        set("VK_TILEHEAP_EMULATOR_HEAP_SIZE", "many");
        let (seen, said) = with_text(&structure);
        assert_eq!(seen, (16 * MIB, true, true));
        let is_it = |(id, text): &rig::Message| id == "TILEHEAP-setting" && text.contains("heap_size");
        assert!(said.len() == 1 && is_it(&said[0]), "{said:?}");
        unset("VK_TILEHEAP_EMULATOR_HEAP_SIZE");
        assert_eq!(with_text(&structure), ((3 * MIB, true, true), vec![]));
        unset("VK_LAYER_SETTINGS_PATH");
        if rig::is_validated() {
            // Validation has proved to be active while the environment still names it.
            drop(rig::Rig::new(&[]));
            unset("VK_INSTANCE_LAYERS");
            validation_that_the_application_names_is_above();
        }
    });
}

/// Without environment variables, the layer finds validation among the layers that the application enables.
fn validation_that_the_application_names_is_above() {
    let wants = rig::Wants {
        layers: &[c"VK_LAYER_KHRONOS_validation"],
        ..rig::Wants::default()
    };
    for (report, said) in [("auto", vec![]), ("all", vec!["TILEHEAP-wrong-object"])] {
        let rig = rig::Rig::with(&[("report", report)], &wants).expect("a device");
        let object = rig.object(12_288);
        let buffer = rig.tile_words(64, object, 0);
        rig.record(|commands| rig.fill(commands, buffer, 64, 1));
        let ids = rig.take_ids_but(&["VUID-vkCmdDispatch-commandBuffer-10746"]);
        assert_eq!(ids, said, "report: {report}");
    }
}
