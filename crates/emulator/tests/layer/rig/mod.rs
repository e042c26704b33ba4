//! A small Vulkan application: the layer through the loader, tile memory objects, and work whose results can be read.
//!
//! The layer is the one that `scripts/stage-emulator.sh` put into `target/emulator`, or into `TILEHEAP_EMULATOR`. In a validated run
//! (`TILEHEAP_VALIDATE=1`) validation is above it, is recent enough, and has reported a deliberate mistake.
#![allow(unreachable_pub, reason = "a module of a test program")]

mod instance;
mod test_device;
mod work;

use std::ffi::CStr;
use std::sync::Once;

use ash::vk;
use tileheap_device::ffi;

pub use instance::{Ask, Instance, Message, is_validated, prepare_environment};
pub use test_device::{HostBuffer, Pipeline, TILE, TestDevice};
pub use tileheap_testkit::objects::{Descriptor, area, image_info, view_info, whole_image, with_triangles};
pub use tileheap_testkit::skip;
pub use work::{CLEAR, CLEARED, COPY, COPY_TEXELS, FILL, Operations, SIDE, clear_value};

/// The profiles of the emulator, the default one first.
pub const PROFILES: [&str; 7] = [
    "adreno-830",
    "adreno-840",
    "x2-85",
    "validation-icd",
    "hostile",
    "generous",
    "two-tile-types",
];

/// A device with tile memory and all features that tests use, on an instance that collects messages. When it is dropped, everything is destroyed, and
/// a message that no test took fails the test.
pub struct Rig {
    pub on: Instance,
    base: TestDevice,
}

/// Dereferences a type to one of its fields.
macro_rules! deref {
    ($type:ident, $field:ident: $target:ty) => {
        impl std::ops::Deref for $type {
            type Target = $target;

            fn deref(&self) -> &$target {
                &self.$field
            }
        }
    };
}
pub(crate) use deref;

deref!(Rig, base: TestDevice);

/// Requirements of a test in addition to the base of every rig.
#[derive(Default)]
pub struct Wants<'a> {
    /// Layers above the emulator.
    pub layers: &'a [&'a CStr],
    pub instance_extensions: &'a [&'a CStr],
    pub extensions: &'a [&'a CStr],
    pub features: vk::PhysicalDeviceFeatures,
    /// Enables features of tile shading for dispatches per tile.
    pub per_tile: bool,
}

impl Rig {
    /// Creates a device with all features that tests use, and the layer's settings.
    pub fn new(settings: &[(&str, &str)]) -> Rig {
        Rig::with(settings, &Wants::default()).expect("every driver has what every rig needs")
    }

    /// Like `new`, with more requirements; `None` if the driver lacks an extension.
    pub fn with(settings: &[(&str, &str)], wants: &Wants<'_>) -> Option<Rig> {
        static AWAKE: Once = Once::new();
        if is_validated() {
            AWAKE.call_once(|| {
                let rig = Rig::create(&[], &Wants::default()).expect("a device");
                work::provoke_validation(&rig);
            });
        }
        Rig::create(settings, wants)
    }

    fn create(settings: &[(&str, &str)], wants: &Wants<'_>) -> Option<Rig> {
        // Rules that validation also checks are reported unless a test disables that: the messages can be distinguished.
        let settings = [&[("report", "all")], settings].concat();
        let on = Instance::create(&Ask {
            settings: &settings,
            layers: wants.layers,
            extensions: wants.instance_extensions,
            ..Ask::default()
        })?;
        let mut heap = ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM::default().tile_memory_heap(true);
        let mut tiles = vk::PhysicalDeviceTilePropertiesFeaturesQCOM::default().tile_properties(true);
        let mut shading = ffi::PhysicalDeviceTileShadingFeaturesQCOM::default()
            .tile_shading(true)
            .tile_shading_color_attachments(wants.per_tile)
            .tile_shading_per_tile_draw(wants.per_tile)
            .tile_shading_per_tile_dispatch(wants.per_tile)
            .tile_shading_dispatch_tile(wants.per_tile)
            .tile_shading_atomic_ops(wants.per_tile);
        let mut core12 = vk::PhysicalDeviceVulkan12Features::default()
            .imageless_framebuffer(true)
            .buffer_device_address(true)
            .timeline_semaphore(true);
        let mut core13 = vk::PhysicalDeviceVulkan13Features::default()
            .dynamic_rendering(true)
            .synchronization2(true)
            .maintenance4(true);
        let (tile, shaded) = (ffi::tile_memory_heap::NAME, ffi::tile_shading::NAME);
        let extensions = [&[tile, ffi::tile_properties::NAME, shaded], wants.extensions].concat();
        let extensions: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(test_device::family(&on.instance, on.physical()))
            .queue_priorities(&[1.0])];
        // Shaders without guards may access bytes past the last word of a buffer.
        let features = wants.features.robust_buffer_access(true);
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions)
            .enabled_features(&features)
            .push_next(&mut heap)
            .push_next(&mut tiles)
            .push_next(&mut shading)
            .push_next(&mut core12)
            .push_next(&mut core13);
        // SAFETY: A live instance, whose chain's structures outlive the call.
        let base = match unsafe { on.instance.create_device(on.physical(), &info, None) } {
            Err(vk::Result::ERROR_EXTENSION_NOT_PRESENT) => return None,
            made => TestDevice::new(&on.instance, on.physical(), made.expect("a device")),
        };
        Some(Rig { on, base })
    }

    /// Returns the messages since the last call.
    pub fn take_messages(&self) -> Vec<Message> {
        self.on.take_messages()
    }

    /// Returns the ids of the emulator's messages since the last call; validation messages fail the test.
    pub fn take_ids(&self) -> Vec<String> {
        self.take_ids_but(&[])
    }

    /// Like `take_ids`, but allows the listed validation messages.
    pub fn take_ids_but(&self, validated: &[&str]) -> Vec<String> {
        self.on.take_ids_but(validated)
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.base.destroy();
        let said = self.take_messages();
        assert!(said.is_empty() || std::thread::panicking(), "{said:#?}");
    }
}
