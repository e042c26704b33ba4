//! Names: a command that the layer hooks under one name is hooked under all its names, and chains are copied past structures that are newer than the
//! layer's binding.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::sync::atomic::Ordering::SeqCst;

use ash::vk;
use ash::vk::TaggedStructure;
use tileheap_device::ffi;

use crate::driver::{DEVICE_CHAIN, HAS_EVERYTHING, lock};
use crate::invented::anything;
use crate::loader::machine;
use crate::program::Owned;

/// The names of each command of a kind; `vkCmdEndRendering2` is not included.
fn names(kind: &str) -> Vec<Vec<CString>> {
    let lines = include_str!("aliases.txt").lines();
    let of_kind = lines.filter_map(|line| line.strip_prefix(kind)?.strip_prefix(' '));
    let all = of_kind.map(|line| {
        let (name, ends) = line.split_once(' ').expect("a name and its ends");
        let core = Some(name.to_owned()).filter(|name| name != "vkCmdEndRendering2");
        let others = ends.split(' ').map(|end| format!("{name}{end}"));
        let names = core.into_iter().chain(others);
        names.map(|name| CString::new(name).expect("no NUL")).collect()
    });
    all.collect()
}

/// With a driver that has every command, the layer's entry point is returned for every name.
#[test]
fn every_name_of_a_command_is_the_layers() {
    let _turn = machine();
    let mut owned = Owned::default();
    owned.create(false).expect("a device");
    let (instance, device) = owned.handles();
    HAS_EVERYTHING.store(true, SeqCst);
    let of_instance = |name: &CStr| {
        // SAFETY: A live instance and a C string.
        let look_up = unsafe { (instance.fp_v1_0().get_device_proc_addr)(device.handle(), name.as_ptr()) };
        look_up.map(|function| function as usize)
    };
    // Look-ups of commands that only the driver knows return its function, which the test would detect.
    let drivers = anything as *const () as usize;
    assert_eq!(of_instance(c"vkNoSuchCommandKHR"), Some(drivers));
    for (all, is_one) in [(names("device"), true), (names("action"), false)] {
        for names in all {
            let found = names.iter().map(|name| {
                let found = of_instance(name).expect("the driver has everything");
                // SAFETY: A live device and a C string.
                let below = unsafe { crate::driver::device_look_up(device.handle(), name.as_ptr()) };
                assert_ne!(
                    Some(found),
                    below.map(|function| function as usize),
                    "{name:?} is the driver's"
                );
                found
            });
            let found: BTreeSet<_> = found.collect();
            assert_eq!(found.len() == 1, is_one, "{names:?}");
        }
    }
    let entry = crate::loader::layer_look_up();
    for names in names("physical") {
        let found = names.iter().map(|name| {
            // SAFETY: A live instance and a C string.
            let found = unsafe { entry(instance.handle(), name.as_ptr()) };
            found.expect("the driver has everything") as usize
        });
        let found: BTreeSet<_> = found.collect();
        // SAFETY: As above.
        let below = unsafe { crate::driver::instance_look_up(instance.handle(), names[0].as_ptr()) };
        assert_eq!(found.len(), 1, "{names:?}");
        assert!(
            !below.is_some_and(|below| found.contains(&(below as usize))),
            "{names:?}"
        );
    }
    HAS_EVERYTHING.store(false, SeqCst);
}

/// A driver that knows the extension but does not support it would refuse a device whose chain still requests it.
#[test]
fn newer_structures_do_not_carry_the_layers_down() {
    let _turn = machine();
    *lock(&DEVICE_CHAIN) = Some(Vec::new());
    let mut owned = Owned::default();
    owned.create(false).expect("a device");
    let chain = lock(&DEVICE_CHAIN).take().expect("noted");
    let newer = vk::StructureType::from_raw(55);
    assert!(chain.contains(&newer), "{chain:?}");
    assert!(
        chain.contains(&vk::PhysicalDeviceVulkan13Features::STRUCTURE_TYPE),
        "{chain:?}"
    );
    let own = ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM::STRUCTURE_TYPE;
    assert!(!chain.contains(&own), "{chain:?}");
}
