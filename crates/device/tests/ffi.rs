//! Tests of the bindings: numbers against the registry's, and chains built with `ash`'s `push_next`.

use std::cell::Cell;
use std::ffi::{CStr, c_void};
use std::ptr;

use ash::vk;
use ash::vk::Handle;
use tileheap_device::ffi::{self, MissingCommand, tile_memory_heap, tile_properties, tile_shading};

/// The `s_type`s of a chain, without its root's.
///
/// # Safety
/// `first` is null or points to a structure whose chain is valid.
unsafe fn chain(first: *const c_void) -> Vec<i32> {
    let mut types = Vec::new();
    let mut next = first.cast::<vk::BaseInStructure<'_>>();
    while !next.is_null() {
        // SAFETY: Not null, and every element of a valid chain begins like a `BaseInStructure`.
        let structure = unsafe { &*next };
        types.push(structure.s_type.as_raw());
        next = structure.p_next;
    }
    types
}

/// One test per relation of the registry's `structextends`: the structure is in the root's chain, before the
/// structure chained earlier, with the `s_type` of the registry.
macro_rules! chains {
    ($($test:ident: $extension:ty = $s_type:literal extends $root:ty, beside $other:ty;)*) => {$(
        #[test]
        fn $test() {
            let mut other = <$other>::default();
            let mut extension = <$extension>::default();
            let (other_type, root_type) = (other.s_type, <$root>::default().s_type);
            let root = <$root>::default().push_next(&mut other).push_next(&mut extension);
            assert_eq!(root.s_type, root_type);
            // SAFETY: Everything chained is alive.
            let types = unsafe { chain(root.p_next.cast()) };
            assert_eq!(types, [$s_type, other_type.as_raw()]);
            let marked = extension.p_next.cast::<vk::StructureType>();
            // SAFETY: `other` is alive, and its first field is its `s_type`.
            assert_eq!(unsafe { marked.read() }, other_type);
        }
    )*};
}

chains! {
    heap_features_extend_features: ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM<'_> = 1_000_547_000
        extends vk::PhysicalDeviceFeatures2<'_>, beside vk::PhysicalDeviceVulkan13Features<'_>;
    heap_features_extend_device: ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM<'_> = 1_000_547_000
        extends vk::DeviceCreateInfo<'_>, beside vk::PhysicalDeviceVulkan13Features<'_>;
    heap_properties_extend_properties: ffi::PhysicalDeviceTileMemoryHeapPropertiesQCOM<'_> = 1_000_547_001
        extends vk::PhysicalDeviceProperties2<'_>, beside vk::PhysicalDeviceVulkan11Properties<'_>;
    requirements_extend_requirements: ffi::TileMemoryRequirementsQCOM<'_> = 1_000_547_002
        extends vk::MemoryRequirements2<'_>, beside vk::MemoryDedicatedRequirements<'_>;
    bind_info_extends_inheritance: ffi::TileMemoryBindInfoQCOM<'_> = 1_000_547_003
        extends vk::CommandBufferInheritanceInfo<'_>, beside vk::CommandBufferInheritanceRenderingInfo<'_>;
    size_info_extends_render_pass: ffi::TileMemorySizeInfoQCOM<'_> = 1_000_547_004
        extends vk::RenderPassCreateInfo<'_>, beside vk::RenderPassMultiviewCreateInfo<'_>;
    size_info_extends_render_pass_2: ffi::TileMemorySizeInfoQCOM<'_> = 1_000_547_004
        extends vk::RenderPassCreateInfo2<'_>, beside vk::RenderPassFragmentDensityMapCreateInfoEXT<'_>;
    size_info_extends_rendering: ffi::TileMemorySizeInfoQCOM<'_> = 1_000_547_004
        extends vk::RenderingInfo<'_>, beside vk::DeviceGroupRenderPassBeginInfo<'_>;

    tile_properties_features_extend_features: ffi::PhysicalDeviceTilePropertiesFeaturesQCOM<'_> = 1_000_484_000
        extends vk::PhysicalDeviceFeatures2<'_>, beside vk::PhysicalDeviceVulkan13Features<'_>;
    tile_properties_features_extend_device: ffi::PhysicalDeviceTilePropertiesFeaturesQCOM<'_> = 1_000_484_000
        extends vk::DeviceCreateInfo<'_>, beside ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM<'_>;

    shading_features_extend_features: ffi::PhysicalDeviceTileShadingFeaturesQCOM<'_> = 1_000_309_000
        extends vk::PhysicalDeviceFeatures2<'_>, beside vk::PhysicalDeviceVulkan13Features<'_>;
    shading_features_extend_device: ffi::PhysicalDeviceTileShadingFeaturesQCOM<'_> = 1_000_309_000
        extends vk::DeviceCreateInfo<'_>, beside ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM<'_>;
    shading_properties_extend_properties: ffi::PhysicalDeviceTileShadingPropertiesQCOM<'_> = 1_000_309_001
        extends vk::PhysicalDeviceProperties2<'_>, beside ffi::PhysicalDeviceTileMemoryHeapPropertiesQCOM<'_>;
    shading_extends_render_pass: ffi::RenderPassTileShadingCreateInfoQCOM<'_> = 1_000_309_002
        extends vk::RenderPassCreateInfo<'_>, beside ffi::TileMemorySizeInfoQCOM<'_>;
    shading_extends_render_pass_2: ffi::RenderPassTileShadingCreateInfoQCOM<'_> = 1_000_309_002
        extends vk::RenderPassCreateInfo2<'_>, beside ffi::TileMemorySizeInfoQCOM<'_>;
    shading_extends_rendering: ffi::RenderPassTileShadingCreateInfoQCOM<'_> = 1_000_309_002
        extends vk::RenderingInfo<'_>, beside ffi::TileMemorySizeInfoQCOM<'_>;
    shading_extends_inheritance: ffi::RenderPassTileShadingCreateInfoQCOM<'_> = 1_000_309_002
        extends vk::CommandBufferInheritanceInfo<'_>, beside ffi::TileMemoryBindInfoQCOM<'_>;
}

#[test]
fn structures_outside_chains_know_their_type() {
    let types = [
        ffi::PerTileBeginInfoQCOM::default().s_type,
        ffi::PerTileEndInfoQCOM::default().s_type,
        ffi::DispatchTileInfoQCOM::default().s_type,
        ffi::TilePropertiesQCOM::default().s_type,
    ];
    let numbers = types.map(vk::StructureType::as_raw);
    assert_eq!(
        numbers,
        [1_000_309_003, 1_000_309_004, 1_000_309_005, 1_000_484_001]
    );
}

#[test]
fn constants_have_the_values_of_the_registry() {
    assert_eq!(tile_memory_heap::NAME, c"VK_QCOM_tile_memory_heap");
    assert_eq!(tile_memory_heap::SPEC_VERSION, 1);
    assert_eq!(tile_properties::NAME, c"VK_QCOM_tile_properties");
    assert_eq!(tile_properties::SPEC_VERSION, 1);
    assert_eq!(tile_shading::NAME, c"VK_QCOM_tile_shading");
    assert_eq!(tile_shading::SPEC_VERSION, 2);

    assert_eq!(ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM.as_raw(), 0x8);
    assert_eq!(ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM.as_raw(), 0x0800_0000);
    assert_eq!(ffi::BUFFER_USAGE_2_TILE_MEMORY_BIT_QCOM.as_raw(), 0x0800_0000);
    assert_eq!(ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM.as_raw(), 0x0800_0000);
    assert_eq!(ffi::IMAGE_USAGE_2_TILE_MEMORY_BIT_QCOM, 0x0800_0000);
    assert_eq!(
        ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_READ_BIT_QCOM.as_raw(),
        0x0008_0000_0000_0000
    );
    assert_eq!(
        ffi::ACCESS_2_SHADER_TILE_ATTACHMENT_WRITE_BIT_QCOM.as_raw(),
        0x0010_0000_0000_0000
    );
    assert_eq!(
        ffi::SUBPASS_DESCRIPTION_TILE_SHADING_APRON_BIT_QCOM.as_raw(),
        0x100
    );
    assert_eq!(
        tileheap_device::profile::TILE_HEAP_FLAG,
        ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM
    );
}

#[test]
fn flags_print_by_name() {
    use ffi::TileShadingRenderPassFlagsQCOM as F;
    assert_eq!(
        format!("{:?}", F::ENABLE | F::PER_TILE_EXECUTION | F::from_raw(4)),
        "ENABLE | PER_TILE_EXECUTION | 100"
    );
    assert_eq!(format!("{:?}", F::empty()), "");
}

/// A stand-in for any command: compared, never called.
fn somewhere() -> *const c_void {
    ptr::without_provenance(8)
}

#[test]
fn a_loader_says_which_command_is_missing() {
    let load =
        |missing: &'static CStr| move |name: &CStr| if name == missing { ptr::null() } else { somewhere() };
    let missing = |extension, command| Some(MissingCommand { extension, command });
    let device = vk::Device::null();

    /// The command that is reported if one is missing.
    macro_rules! reported {
        ($extension:ident, $($command:literal),+) => {$(
            // SAFETY: No command is called.
            let loaded = unsafe { $extension::Device::load_with(load($command), device) };
            assert_eq!(loaded.err(), missing($extension::NAME, $command));
        )+};
    }
    reported!(tile_memory_heap, c"vkCmdBindTileMemoryQCOM");
    reported!(
        tile_properties,
        c"vkGetFramebufferTilePropertiesQCOM",
        c"vkGetDynamicRenderingTilePropertiesQCOM"
    );
    reported!(
        tile_shading,
        c"vkCmdDispatchTileQCOM",
        c"vkCmdBeginPerTileExecutionQCOM",
        c"vkCmdEndPerTileExecutionQCOM"
    );
}

#[test]
fn a_missing_command_is_named() {
    let missing = MissingCommand {
        extension: tile_memory_heap::NAME,
        command: c"vkCmdBindTileMemoryQCOM",
    };
    assert_eq!(
        missing.to_string(),
        "vkGetDeviceProcAddr returned null for vkCmdBindTileMemoryQCOM of VK_QCOM_tile_memory_heap: enable the extension; if it \
         is enabled, the driver advertises an extension that it does not implement"
    );
}

thread_local! {
    /// The last arguments of the command: the handles of the command buffer and of the memory, `None` for a null pointer.
    static SEEN: Cell<(u64, Option<u64>)> = const { Cell::new((0, None)) };
}

#[test]
fn a_loader_calls_what_it_loaded() {
    unsafe extern "system" fn bind(
        commands: vk::CommandBuffer,
        info: *const ffi::TileMemoryBindInfoQCOM<'_>,
    ) {
        // SAFETY: Null or a structure, as for the command.
        let info = unsafe { info.as_ref() };
        SEEN.set((commands.as_raw(), info.map(|info| info.memory.as_raw())));
    }
    let bind: tile_memory_heap::PFN_vkCmdBindTileMemoryQCOM = bind;
    // SAFETY: `bind` has the type of the one command that is loaded.
    let device =
        unsafe { tile_memory_heap::Device::load_with(|_| bind as *const c_void, vk::Device::from_raw(5)) };
    let device = device.unwrap();
    assert_eq!(device.device().as_raw(), 5);

    let info = ffi::TileMemoryBindInfoQCOM::default().memory(vk::DeviceMemory::from_raw(9));
    // SAFETY: `bind` reads nothing but the structure.
    unsafe { device.cmd_bind_tile_memory(vk::CommandBuffer::from_raw(6), Some(&info)) };
    assert_eq!(SEEN.get(), (6, Some(9)));
    // SAFETY: As above.
    unsafe { device.cmd_bind_tile_memory(vk::CommandBuffer::from_raw(7), None) };
    assert_eq!(SEEN.get(), (7, None));
}
