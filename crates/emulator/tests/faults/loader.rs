//! Structures that a loader passes to the layer: links, look-ups, and sometimes an unknown structure.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::ffi::c_void;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Mutex, MutexGuard};

use ash::vk;
use tileheap_emulator::{NegotiateLayerInterface, vkNegotiateLoaderLayerInterfaceVersion};

use crate::driver::{Any, BELOW, LIVE, PANICS, arm, fails, instance_look_up, lock};

/// `VkLayerInstanceLink` and `VkLayerDeviceLink`.
#[repr(C)]
pub(crate) struct Link {
    pub(crate) next: Any,
    pub(crate) instance_look_up: Any,
    /// For a device link; an instance link has the look-up of physical device commands here.
    pub(crate) device_look_up: Any,
}

/// `VkLayerInstanceCreateInfo` and `VkLayerDeviceCreateInfo`.
#[repr(C)]
pub(crate) struct LayerInfo {
    pub(crate) s_type: vk::StructureType,
    pub(crate) p_next: Any,
    pub(crate) function: u32,
    pub(crate) payload: Any,
}

pub(crate) const fn link() -> Link {
    Link {
        next: std::ptr::null(),
        instance_look_up: instance_look_up as Any,
        device_look_up: std::ptr::null(),
    }
}

/// A structure of an unknown type.
#[repr(C)]
pub(crate) struct Unknown {
    pub(crate) s_type: vk::StructureType,
    pub(crate) p_next: Any,
    pub(crate) garbage: [u64; 4],
}

impl Unknown {
    pub(crate) fn before(p_next: Any) -> Unknown {
        Unknown {
            s_type: vk::StructureType::from_raw(0x7EAD_BEEF),
            p_next,
            garbage: [u64::MAX; 4],
        }
    }

    /// The chain with or without this structure.
    pub(crate) fn head(&self, is_there: bool) -> Any {
        if is_there {
            std::ptr::from_ref(self).cast()
        } else {
            self.p_next
        }
    }
}

/// `vkSetDeviceLoaderData`, which can also fail. The driver has already called its own loader.
pub(crate) unsafe extern "system" fn set_loader_data(_: vk::Device, _: *mut c_void) -> vk::Result {
    fails("vkSetDeviceLoaderData").unwrap_or(vk::Result::SUCCESS)
}

/// The layer, through its look-up.
pub(crate) fn layer() -> ash::Entry {
    let get_instance_proc_addr = layer_look_up();
    // SAFETY: The layer's look-up lives as long as the program.
    unsafe {
        ash::Entry::from_static_fn(ash::StaticFn {
            get_instance_proc_addr,
        })
    }
}

/// The layer's look-up, through negotiation.
pub(crate) fn layer_look_up() -> vk::PFN_vkGetInstanceProcAddr {
    #[repr(C)]
    struct Interface {
        s_type: u32,
        p_next: Any,
        version: u32,
        look_ups: [Option<vk::PFN_vkGetInstanceProcAddr>; 3],
    }
    let mut interface = Interface {
        s_type: 1,
        p_next: std::ptr::null(),
        version: 2,
        look_ups: [None; 3],
    };
    let pointer = (&raw mut interface).cast::<NegotiateLayerInterface>();
    // SAFETY: The same structure.
    let agreed = unsafe { vkNegotiateLoaderLayerInterfaceVersion(pointer) };
    assert_eq!(agreed, vk::Result::SUCCESS);
    interface.look_ups[0].expect("a look-up")
}

/// Held while one test runs exclusively; when it ends, no driver objects may be alive.
pub(crate) struct MachineGuard(#[expect(dead_code, reason = "it is held")] MutexGuard<'static, ()>);

impl Drop for MachineGuard {
    fn drop(&mut self) {
        let live = LIVE.load(SeqCst);
        assert!(live == 0 || std::thread::panicking(), "{live} objects left");
    }
}

/// Loads the machine's loader below the layer, which stays open, and its driver, in which no call fails yet.
pub(crate) fn machine() -> MachineGuard {
    static TURN: Mutex<()> = Mutex::new(());
    static ENTRY: Mutex<Option<ash::Entry>> = Mutex::new(None);
    let turn = lock(&TURN);
    let mut entry = lock(&ENTRY);
    if entry.is_none() {
        // Only the layer under test is loaded.
        // SAFETY: Before the loader reads it, and no other test runs.
        unsafe { std::env::remove_var("VK_INSTANCE_LAYERS") };
        // SAFETY: The library found is a loader.
        let loaded = unsafe { ash::Entry::load() }.expect("a Vulkan loader");
        let look_up = loaded.static_fn().get_instance_proc_addr as *const () as usize;
        lock(&BELOW)
            .get_or_insert_default()
            .insert("vkGetInstanceProcAddr".to_owned(), look_up);
        *entry = Some(loaded);
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            PANICS.fetch_add(1, SeqCst);
            before(info);
        }));
    }
    arm(0, vk::Result::SUCCESS);
    MachineGuard(turn)
}
