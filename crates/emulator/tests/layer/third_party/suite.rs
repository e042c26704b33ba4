//! A small copy of a test suite's framework: its start, its queries of every device before a test, and its messages.
//!
//! ```text
//! instance: validation, the emulator, a messenger from the first call on        Ask::version is its version, and the device's
//!   └ physical device: extensions of it and of every layer, features in chains
//!       └ device: every queue of every family, then all formats, a pool, a command buffer
//! ```
//! As in those frameworks, a listener stops the call that a message is about: validation then does not pass it down. Both ways are tested, so that
//! the layer also meets the mistakes itself.

use std::ffi::CStr;

use ash::prelude::VkResult;
use ash::vk;
use tileheap_device::ffi;
use tileheap_emulator::LAYER_NAME;
use tileheap_testkit::objects::CreateInfo;
use vk::DebugUtilsMessageSeverityFlagsEXT as Severity;
use vk::DebugUtilsMessageTypeFlagsEXT as Kind;

use crate::rig;
use crate::rig::{Instance, PROFILES, TestDevice, is_validated};

/// Requirements of a test; a suite skips a test if one is missing, and here that is a failure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask<'a> {
    pub(crate) version: u32,
    pub(crate) instance_extensions: &'a [&'a CStr],
    /// In addition to `VK_QCOM_tile_memory_heap`.
    pub(crate) extensions: &'a [&'a CStr],
    pub(crate) tile_memory_heap: bool,
    pub(crate) tile_properties: bool,
    pub(crate) tile_shading: bool,
    pub(crate) dynamic_rendering: bool,
    pub(crate) imageless_framebuffer: bool,
}

impl Ask<'_> {
    /// The extension with its feature, on that version of Vulkan.
    pub(crate) const fn tile_memory(version: u32) -> Ask<'static> {
        Ask {
            tile_memory_heap: true,
            ..Ask::without_feature(version)
        }
    }

    /// The extension without its feature.
    pub(crate) const fn without_feature(version: u32) -> Ask<'static> {
        Ask {
            version,
            instance_extensions: &[],
            extensions: &[],
            tile_memory_heap: false,
            tile_properties: false,
            tile_shading: false,
            dynamic_rendering: false,
            imageless_framebuffer: false,
        }
    }
}

/// A device in the form of a suite, and the objects of a test.
pub(crate) struct Suite {
    pub(crate) profile: &'static str,
    pub(crate) commands: vk::CommandBuffer,
    stops: bool,
    base: TestDevice,
    on: Instance,
}

crate::rig::deref!(Suite, base: TestDevice);

/// Runs a scenario on every profile, and below validation on the default one also with stopped calls.
pub(crate) fn on_every_profile(ask: &Ask<'_>, scenario: impl Fn(&Suite)) {
    for profile in PROFILES
        .into_iter()
        .filter(|profile| *profile != "two-tile-types")
    {
        let is_stopped_too = is_validated() && profile == PROFILES[0];
        for stops in [true, false].into_iter().filter(|stops| !stops || is_stopped_too) {
            let suite = Suite::start(ask, profile, stops);
            scenario(&suite);
            // Destroys everything; command buffers first, in any state.
            suite.base.destroy();
            suite.hear(&[], "the end");
        }
    }
}

/// Loads the commands of `$module` of ash, for an extension of a device.
macro_rules! commands_of {
    ($suite:expr, $($module:ident)::+) => {
        ash::$($module)::+::Device::new(&$suite.instance, &$suite.device)
    };
}
pub(crate) use commands_of;

impl Suite {
    /// # Panics
    /// If a suite would skip the test, and on any message.
    pub(crate) fn start(ask: &Ask<'_>, profile: &'static str, stops: bool) -> Suite {
        let on = Instance::create(&rig::Ask {
            version: ask.version,
            // Nothing else is set: `report` has its default.
            settings: &[("profile", profile)],
            layers: if is_validated() {
                &[c"VK_LAYER_KHRONOS_validation"]
            } else {
                &[]
            },
            extensions: ask.instance_extensions,
            kinds: Kind::VALIDATION | Kind::PERFORMANCE,
            // Suites count errors, and run without the synchronization validation that every program of the test bed has. Warnings of the emulator
            // are also counted.
            counts: |severity, id| {
                let is_error = severity.contains(Severity::ERROR) && !id.starts_with("SYNC-");
                id.starts_with("TILEHEAP-") || is_error
            },
            stops,
        });
        let on = on.expect("an instance");
        let (instance, physical) = (&on.instance, on.physical());
        // SAFETY: A live instance.
        unsafe {
            let version = instance.get_physical_device_properties(physical).api_version;
            assert!(version >= ask.version, "the device is older than the test");
            let device = create_device(instance, physical, ask);
            let families = instance.get_physical_device_queue_family_properties(physical);
            for (family, count) in (0u32..).zip(families.iter().map(|family| family.queue_count)) {
                for index in 0..count {
                    assert_ne!(device.get_device_queue(family, index), vk::Queue::null());
                }
            }
            // Every format of Vulkan 1.0.
            let formats = (0..=184).map(vk::Format::from_raw);
            let known = formats
                .map(|format| instance.get_physical_device_format_properties(physical, format))
                .filter(|format| !format.optimal_tiling_features.is_empty());
            assert!(known.count() > 50, "a driver without formats");
            let base = TestDevice::new(instance, physical, device);
            let suite = Suite {
                profile,
                commands: base.allocate_commands(vk::CommandBufferLevel::PRIMARY),
                stops,
                base,
                on,
            };
            suite.hear(&[], "the start");
            suite
        }
    }

    /// Returns true if a call with a message is not passed down.
    pub(crate) fn stops(&self) -> bool {
        is_validated() && self.stops
    }

    /// Checks that the messages since the last time are exactly these.
    fn hear(&self, expected: &[&str], what: &str) {
        let said = self.on.take_messages();
        if !is_validated() {
            // Then only the emulator reports mistakes, which other tests cover.
            return;
        }
        let mut ids: Vec<_> = said.iter().map(|(id, _)| id.as_str()).collect();
        let mut expected = expected.to_vec();
        ids.sort_unstable();
        expected.sort_unstable();
        assert_eq!(ids, expected, "{what}, profile {}: {said:#?}", self.profile);
    }

    /// Returns the result of `call`; checks that validation reports exactly these messages, and that there are no others.
    pub(crate) fn expect<T>(&self, expected: &[&str], call: impl FnOnce(&ash::Device) -> T) -> T {
        self.hear(&[], "before a call");
        let answer = call(&self.device);
        self.hear(expected, "a call");
        answer
    }

    /// Tries to create an object, wrong on purpose, with these validation messages: a driver creates it or refuses.
    pub(crate) fn try_wrong<I: CreateInfo>(&self, info: &I, expected: &[&str]) -> VkResult<I::Handle> {
        self.expect(expected, |_| self.try_create(info))
    }

    /// Like `try_wrong`, if only validation refuses it.
    pub(crate) fn create_wrong<I: CreateInfo>(&self, info: &I, expected: &[&str]) {
        assert_eq!(self.try_wrong(info, expected).is_err(), self.stops());
    }

    /// The first type of these bits that is device local and of a heap of this kind with room for `size` bytes: as suites choose.
    ///
    /// # Panics
    /// If a suite would skip the test.
    pub(crate) fn tile_type_of(&self, bits: u32, size: u64) -> u32 {
        let is_it = |(index, kind): &(u32, &vk::MemoryType)| {
            let heap = self.types.memory_heaps[kind.heap_index as usize];
            let is_local = kind
                .property_flags
                .contains(vk::MemoryPropertyFlags::DEVICE_LOCAL);
            bits >> index & 1 == 1 && is_local && self.is_tile(kind) && heap.size >= size
        };
        let found = (0u32..).zip(self.types.memory_types_as_slice()).find(is_it);
        let profile = self.profile;
        found
            .unwrap_or_else(|| panic!("profile {profile}: no tile type for {size} B in 0b{bits:b}"))
            .0
    }

    /// Allocates a tile memory object of the required size and `more` bytes.
    ///
    /// # Panics
    /// If a suite would skip the test: the resource cannot be placed in tile memory.
    pub(crate) fn object_of(
        &self,
        needs: &(vk::MemoryRequirements, (u64, u64)),
        more: i64,
    ) -> vk::DeviceMemory {
        let (ordinary, (size, alignment)) = needs;
        assert!(*size > 0 && *alignment > 0, "profile {}", self.profile);
        let size = size.checked_add_signed(more).expect("a size");
        self.allocate(size, self.tile_type_of(ordinary.memory_type_bits, size))
    }

    /// Restarts the test's command buffer.
    pub(crate) fn begin(&self) -> vk::CommandBuffer {
        // SAFETY: Not pending.
        let begun = unsafe {
            self.device
                .begin_command_buffer(self.commands, &Default::default())
        };
        begun.expect("recording begins");
        self.commands
    }
}

/// All extensions of the device and of layers.
fn extensions_of(instance: &ash::Instance, physical: vk::PhysicalDevice) -> Vec<vk::ExtensionProperties> {
    let enumerate = instance.fp_v1_0().enumerate_device_extension_properties;
    let mut all = Vec::new();
    for layer in [std::ptr::null(), LAYER_NAME.as_ptr()] {
        let mut count = 512;
        let mut some = vec![vk::ExtensionProperties::default(); count as usize];
        // SAFETY: A live device; null or a C string, and room for `count` elements.
        let listed = unsafe { enumerate(physical, layer, &mut count, some.as_mut_ptr()) };
        assert_eq!(listed, vk::Result::SUCCESS);
        all.extend_from_slice(&some[..count as usize]);
    }
    all
}

/// Passes the create infos of every queue to `create`.
pub(crate) fn with_all_queues<T>(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    create: impl FnOnce(&[vk::DeviceQueueCreateInfo<'_>]) -> T,
) -> T {
    // SAFETY: A live device.
    let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
    let of_family = |family: &vk::QueueFamilyProperties| vec![1.0; family.queue_count as usize];
    let priorities: Vec<_> = families.iter().map(of_family).collect();
    let info = vk::DeviceQueueCreateInfo::default();
    let queues = (0u32..)
        .zip(&priorities)
        .map(|(family, all)| info.queue_family_index(family).queue_priorities(all));
    create(&queues.collect::<Vec<_>>())
}

/// Creates the device of a test, with every queue.
fn create_device(instance: &ash::Instance, physical: vk::PhysicalDevice, ask: &Ask<'_>) -> ash::Device {
    let names = [&[ffi::tile_memory_heap::NAME], ask.extensions].concat();
    let known = extensions_of(instance, physical);
    for name in &names {
        let is_it = |known: &vk::ExtensionProperties| known.extension_name_as_c_str() == Ok(*name);
        assert!(
            known.iter().any(is_it),
            "a suite would skip: there is no {name:?}"
        );
    }
    let mut tile = ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM::default();
    let mut tiles = vk::PhysicalDeviceTilePropertiesFeaturesQCOM::default();
    let mut shading = ffi::PhysicalDeviceTileShadingFeaturesQCOM::default();
    let mut dynamic = vk::PhysicalDeviceDynamicRenderingFeatures::default();
    let mut imageless = vk::PhysicalDeviceImagelessFramebufferFeatures::default();
    macro_rules! chained {
        ($head:expr) => {{
            let mut head = $head;
            if ask.tile_memory_heap {
                head = head.push_next(&mut tile);
            }
            if ask.tile_properties {
                head = head.push_next(&mut tiles);
            }
            if ask.tile_shading {
                head = head.push_next(&mut shading);
            }
            if ask.dynamic_rendering {
                head = head.push_next(&mut dynamic);
            }
            if ask.imageless_framebuffer {
                head = head.push_next(&mut imageless);
            }
            head
        }};
    }
    if ask.version >= vk::API_VERSION_1_1 {
        let mut features = chained!(vk::PhysicalDeviceFeatures2::default());
        // SAFETY: A live device of Vulkan 1.1 or later.
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
    }
    // The query's chain is no longer needed.
    let null = std::ptr::null_mut();
    (tile.p_next, tiles.p_next, shading.p_next) = (null, null, null);
    (dynamic.p_next, imageless.p_next) = (null, null);
    // Requested features must be supported, and nothing else is enabled.
    let wanted = [
        (ask.tile_memory_heap, tile.tile_memory_heap),
        (ask.tile_properties, tiles.tile_properties),
        (ask.tile_shading, shading.tile_shading),
        (ask.dynamic_rendering, dynamic.dynamic_rendering),
        (ask.imageless_framebuffer, imageless.imageless_framebuffer),
    ];
    for (wanted, there) in wanted {
        assert_eq!(vk::Bool32::from(wanted), there, "a suite would skip: {ask:?}");
    }
    let names: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
    with_all_queues(instance, physical, |queues| {
        let info = vk::DeviceCreateInfo::default();
        let info = chained!(info.queue_create_infos(queues).enabled_extension_names(&names));
        // SAFETY: A valid create info of this device.
        unsafe { instance.create_device(physical, &info, None) }.expect("a device")
    })
}
