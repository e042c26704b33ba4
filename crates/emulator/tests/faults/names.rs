//! Names: every command that the layer answers under one name it answers under each other, and chains are copied past structures
//! that are newer than the layer's binding.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::ffi::CStr;
use std::sync::atomic::Ordering::SeqCst;

use ash::vk;
use ash::vk::TaggedStructure;
use tileheap_device::ffi;

use crate::driver::{DEVICE_CHAIN, HAS_EVERYTHING, LIVE, arm, lock};
use crate::invented::anything;
use crate::loader::machine;
use crate::program::Owned;

/// Commands of physical devices, and their other names. Source: `alias` in `vk.xml`.
const PHYSICAL: [[&CStr; 2]; 7] = [
    [
        c"vkGetPhysicalDeviceFeatures2",
        c"vkGetPhysicalDeviceFeatures2KHR",
    ],
    [
        c"vkGetPhysicalDeviceProperties2",
        c"vkGetPhysicalDeviceProperties2KHR",
    ],
    [
        c"vkGetPhysicalDeviceMemoryProperties2",
        c"vkGetPhysicalDeviceMemoryProperties2KHR",
    ],
    [
        c"vkGetPhysicalDeviceImageFormatProperties2",
        c"vkGetPhysicalDeviceImageFormatProperties2KHR",
    ],
    [
        c"vkGetPhysicalDeviceSparseImageFormatProperties2",
        c"vkGetPhysicalDeviceSparseImageFormatProperties2KHR",
    ],
    [
        c"vkGetPhysicalDeviceExternalBufferProperties",
        c"vkGetPhysicalDeviceExternalBufferPropertiesKHR",
    ],
    [
        c"vkGetPhysicalDeviceToolProperties",
        c"vkGetPhysicalDeviceToolPropertiesEXT",
    ],
];

/// Commands of devices likewise.
const OF_DEVICES: [[&CStr; 2]; 34] = [
    [
        c"vkGetImageMemoryRequirements2",
        c"vkGetImageMemoryRequirements2KHR",
    ],
    [
        c"vkGetBufferMemoryRequirements2",
        c"vkGetBufferMemoryRequirements2KHR",
    ],
    [
        c"vkGetDeviceImageMemoryRequirements",
        c"vkGetDeviceImageMemoryRequirementsKHR",
    ],
    [
        c"vkGetDeviceBufferMemoryRequirements",
        c"vkGetDeviceBufferMemoryRequirementsKHR",
    ],
    [
        c"vkGetDeviceImageSparseMemoryRequirements",
        c"vkGetDeviceImageSparseMemoryRequirementsKHR",
    ],
    [
        c"vkGetDeviceImageSubresourceLayout",
        c"vkGetDeviceImageSubresourceLayoutKHR",
    ],
    [
        c"vkGetDeviceGroupPeerMemoryFeatures",
        c"vkGetDeviceGroupPeerMemoryFeaturesKHR",
    ],
    [c"vkMapMemory2", c"vkMapMemory2KHR"],
    [c"vkBindBufferMemory2", c"vkBindBufferMemory2KHR"],
    [c"vkBindImageMemory2", c"vkBindImageMemory2KHR"],
    [c"vkCreateRenderPass2", c"vkCreateRenderPass2KHR"],
    [
        c"vkCreateDescriptorUpdateTemplate",
        c"vkCreateDescriptorUpdateTemplateKHR",
    ],
    [
        c"vkDestroyDescriptorUpdateTemplate",
        c"vkDestroyDescriptorUpdateTemplateKHR",
    ],
    [
        c"vkUpdateDescriptorSetWithTemplate",
        c"vkUpdateDescriptorSetWithTemplateKHR",
    ],
    [c"vkCmdBindDescriptorSets2", c"vkCmdBindDescriptorSets2KHR"],
    [c"vkCmdPushDescriptorSet", c"vkCmdPushDescriptorSetKHR"],
    [c"vkCmdPushDescriptorSet2", c"vkCmdPushDescriptorSet2KHR"],
    [
        c"vkCmdPushDescriptorSetWithTemplate",
        c"vkCmdPushDescriptorSetWithTemplateKHR",
    ],
    [
        c"vkCmdPushDescriptorSetWithTemplate2",
        c"vkCmdPushDescriptorSetWithTemplate2KHR",
    ],
    [c"vkCmdPipelineBarrier2", c"vkCmdPipelineBarrier2KHR"],
    [c"vkCmdWaitEvents2", c"vkCmdWaitEvents2KHR"],
    [c"vkCmdSetEvent2", c"vkCmdSetEvent2KHR"],
    [c"vkCmdBeginRenderPass2", c"vkCmdBeginRenderPass2KHR"],
    [c"vkCmdEndRenderPass2", c"vkCmdEndRenderPass2KHR"],
    [c"vkCmdBeginRendering", c"vkCmdBeginRenderingKHR"],
    [c"vkCmdEndRendering", c"vkCmdEndRenderingKHR"],
    [c"vkCmdEndRendering2KHR", c"vkCmdEndRendering2EXT"],
    [c"vkQueueSubmit2", c"vkQueueSubmit2KHR"],
    [c"vkCmdDispatchBase", c"vkCmdDispatchBaseKHR"],
    [c"vkCmdDrawIndirectCount", c"vkCmdDrawIndirectCountKHR"],
    [c"vkCmdDrawIndirectCount", c"vkCmdDrawIndirectCountAMD"],
    [
        c"vkCmdDrawIndexedIndirectCount",
        c"vkCmdDrawIndexedIndirectCountKHR",
    ],
    [c"vkCmdCopyBuffer2", c"vkCmdCopyBuffer2KHR"],
    [c"vkCmdWriteTimestamp2", c"vkCmdWriteTimestamp2KHR"],
];

/// On a driver that has every command, under every name it is the layer that answers.
#[test]
fn every_name_of_a_command_is_the_layers() {
    let _turn = machine();
    arm(0, vk::Result::SUCCESS);
    let mut owned = Owned::default();
    owned.create(false).expect("a device");
    let (instance, device) = (
        owned.instance.as_ref().expect("created"),
        owned.device.as_ref().expect("created"),
    );
    HAS_EVERYTHING.store(true, SeqCst);
    let of_instance = |name: &CStr| {
        // SAFETY: A live instance and a C string.
        let look_up = unsafe { (instance.fp_v1_0().get_device_proc_addr)(device.handle(), name.as_ptr()) };
        look_up.map(|function| function as usize)
    };
    // What nobody but the driver knows is the driver's: the test would see it.
    let drivers = anything as *const () as usize;
    assert_eq!(of_instance(c"vkNoSuchCommandKHR"), Some(drivers));
    let mut checked = 0;
    for names in OF_DEVICES {
        for name in names {
            let found = of_instance(name).expect("the driver has everything");
            // SAFETY: A live device and a C string.
            let below = unsafe { crate::driver::device_look_up(device.handle(), name.as_ptr()) };
            assert_ne!(
                Some(found),
                below.map(|function| function as usize),
                "{name:?} is the driver's"
            );
            checked += 1;
        }
        let is_action =
            names[0].to_bytes().starts_with(b"vkCmd") && of_instance(names[0]) != of_instance(names[1]);
        let separate = [
            c"vkCmdDispatchBase",
            c"vkCmdDrawIndirectCount",
            c"vkCmdDrawIndexedIndirectCount",
            c"vkCmdCopyBuffer2",
            c"vkCmdWriteTimestamp2",
        ];
        assert_eq!(
            is_action,
            separate.contains(&names[0]),
            "{names:?} are one entry point, unless they are action commands"
        );
    }
    let entry = crate::loader::layer();
    for names in PHYSICAL {
        let found = names.map(|name| {
            // SAFETY: A live instance and a C string.
            let found = unsafe { entry(instance.handle(), name.as_ptr()) };
            found.expect("the driver has everything") as usize
        });
        // SAFETY: As above.
        let below = unsafe { crate::driver::instance_look_up(instance.handle(), names[0].as_ptr()) };
        assert_eq!(found[0], found[1], "{names:?}");
        assert_ne!(
            Some(found[0]),
            below.map(|function| function as usize),
            "{names:?}"
        );
        checked += 1;
    }
    HAS_EVERYTHING.store(false, SeqCst);
    assert_eq!(checked, 2 * OF_DEVICES.len() + PHYSICAL.len());
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
