//! Names: every command that the layer answers under one name it answers under each other, and chains are copied past structures
//! that are newer than the layer's binding.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::sync::atomic::Ordering::SeqCst;

use ash::vk;
use ash::vk::TaggedStructure;
use tileheap_device::ffi;

use crate::driver::{DEVICE_CHAIN, HAS_EVERYTHING, LIVE, arm, lock};
use crate::invented::anything;
use crate::loader::machine;
use crate::program::Owned;

/// Commands of physical devices, and the ends of their other names. Source: `alias` in `vk.xml`.
const PHYSICAL: [(&str, &str); 7] = [
    ("vkGetPhysicalDeviceFeatures2", "KHR"),
    ("vkGetPhysicalDeviceProperties2", "KHR"),
    ("vkGetPhysicalDeviceMemoryProperties2", "KHR"),
    ("vkGetPhysicalDeviceImageFormatProperties2", "KHR"),
    ("vkGetPhysicalDeviceSparseImageFormatProperties2", "KHR"),
    ("vkGetPhysicalDeviceExternalBufferProperties", "KHR"),
    ("vkGetPhysicalDeviceToolProperties", "EXT"),
];

/// Commands of devices that are one entry point under both names.
const OF_DEVICES: [(&str, &str); 28] = [
    ("vkGetImageMemoryRequirements2", "KHR"),
    ("vkGetBufferMemoryRequirements2", "KHR"),
    ("vkGetDeviceImageMemoryRequirements", "KHR"),
    ("vkGetDeviceBufferMemoryRequirements", "KHR"),
    ("vkGetDeviceImageSparseMemoryRequirements", "KHR"),
    ("vkGetDeviceImageSubresourceLayout", "KHR"),
    ("vkGetDeviceGroupPeerMemoryFeatures", "KHR"),
    ("vkMapMemory2", "KHR"),
    ("vkBindBufferMemory2", "KHR"),
    ("vkBindImageMemory2", "KHR"),
    ("vkCreateRenderPass2", "KHR"),
    ("vkCreateDescriptorUpdateTemplate", "KHR"),
    ("vkDestroyDescriptorUpdateTemplate", "KHR"),
    ("vkUpdateDescriptorSetWithTemplate", "KHR"),
    ("vkCmdBindDescriptorSets2", "KHR"),
    ("vkCmdPushDescriptorSet", "KHR"),
    ("vkCmdPushDescriptorSet2", "KHR"),
    ("vkCmdPushDescriptorSetWithTemplate", "KHR"),
    ("vkCmdPushDescriptorSetWithTemplate2", "KHR"),
    ("vkCmdPipelineBarrier2", "KHR"),
    ("vkCmdWaitEvents2", "KHR"),
    ("vkCmdSetEvent2", "KHR"),
    ("vkCmdBeginRenderPass2", "KHR"),
    ("vkCmdEndRenderPass2", "KHR"),
    ("vkCmdBeginRendering", "KHR"),
    ("vkCmdEndRendering", "KHR"),
    ("vkCmdEndRendering2", "KHR EXT"),
    ("vkQueueSubmit2", "KHR"),
];

/// Action commands, which have an entry point for each name.
const ACTIONS: [(&str, &str); 5] = [
    ("vkCmdDispatchBase", "KHR"),
    ("vkCmdDrawIndirectCount", "KHR AMD"),
    ("vkCmdDrawIndexedIndirectCount", "KHR"),
    ("vkCmdCopyBuffer2", "KHR"),
    ("vkCmdWriteTimestamp2", "KHR"),
];

/// The name, and those with its ends; `vkCmdEndRendering2` is none.
fn names((name, ends): (&str, &str)) -> Vec<CString> {
    let core = Some(name.to_owned()).filter(|name| name != "vkCmdEndRendering2");
    let others = ends.split(' ').map(|end| format!("{name}{end}"));
    core.into_iter()
        .chain(others)
        .map(|name| CString::new(name).expect("no NUL"))
        .collect()
}

/// On a driver that has every command, under every name it is the layer that answers.
#[test]
fn every_name_of_a_command_is_the_layers() {
    let _turn = machine();
    arm(0, vk::Result::SUCCESS);
    let mut owned = Owned::default();
    owned.create(false).expect("a device");
    let (instance, device) = owned.handles();
    HAS_EVERYTHING.store(true, SeqCst);
    let of_instance = |name: &CStr| {
        // SAFETY: A live instance and a C string.
        let look_up = unsafe { (instance.fp_v1_0().get_device_proc_addr)(device.handle(), name.as_ptr()) };
        look_up.map(|function| function as usize)
    };
    // What nobody but the driver knows is the driver's: the test would see it.
    let drivers = anything as *const () as usize;
    assert_eq!(of_instance(c"vkNoSuchCommandKHR"), Some(drivers));
    for (all, is_one) in [(&OF_DEVICES[..], true), (&ACTIONS, false)] {
        for names in all.iter().map(|all| names(*all)) {
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
    for names in PHYSICAL.map(names) {
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
    drop(owned);
    assert_eq!(LIVE.load(SeqCst), 0);
}

/// A driver that knows the extension, but lacks it, would refuse a device whose chain still asks for it.
#[test]
fn newer_structures_do_not_carry_the_layers_down() {
    let _turn = machine();
    arm(0, vk::Result::SUCCESS);
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
