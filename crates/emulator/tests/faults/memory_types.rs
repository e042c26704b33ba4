//! A driver with several memory types on a machine with one: all of them map to that type.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::sync::Mutex;
use std::sync::atomic::Ordering::SeqCst;

use ash::vk;
use ash::vk::MemoryPropertyFlags as P;
use tileheap_device::ffi;
use tileheap_layer::given;

use crate::driver::{LIVE, attempt, lock, wrappers};
use crate::loader::machine;
use crate::program::{Options, Owned};

/// The flags of the driver's types; `None` for the machine's types.
static TYPES: Mutex<Option<&[P]>> = Mutex::new(None);
/// The driver's type of the last allocation.
static ALLOCATED: Mutex<Option<u32>> = Mutex::new(None);

/// Makes every type of the driver valid for every resource.
fn of_every_type(needs: &mut vk::MemoryRequirements) {
    if let Some(types) = *lock(&TYPES) {
        needs.memory_type_bits = (1 << types.len()) - 1;
    }
}

wrappers! {
    wrapper:
    vkGetPhysicalDeviceMemoryProperties: vk::PFN_vkGetPhysicalDeviceMemoryProperties => |physical, out| below {
        // SAFETY: The layer's arguments.
        unsafe { below(physical, out) };
        let Some(types) = *lock(&TYPES) else { return };
        let out = given!(mut out);
        out.memory_type_count = types.len() as u32;
        for (kind, flags) in out.memory_types.iter_mut().zip(types) {
            (kind.property_flags, kind.heap_index) = (*flags, 0);
        }
    }

    vkAllocateMemory: vk::PFN_vkAllocateMemory => |device, info, allocator, out| below {
        attempt!("vkAllocateMemory");
        let mut copy = *given!(info);
        *lock(&ALLOCATED) = Some(copy.memory_type_index);
        if let Some(types) = *lock(&TYPES) {
            let is_known = (copy.memory_type_index as usize) < types.len();
            assert!(is_known, "a type that the driver lacks");
            copy.memory_type_index = 0;
        }
        // SAFETY: The layer's arguments.
        let result = unsafe { below(device, &copy, allocator, out) };
        LIVE.fetch_add((result == vk::Result::SUCCESS).into(), SeqCst);
        result
    }

    vkGetBufferMemoryRequirements: vk::PFN_vkGetBufferMemoryRequirements => |device, buffer, out| below {
        // SAFETY: The layer's arguments.
        unsafe { below(device, buffer, out) };
        of_every_type(given!(mut out));
    }

    vkGetImageMemoryRequirements: vk::PFN_vkGetImageMemoryRequirements => |device, image, out| below {
        // SAFETY: The layer's arguments.
        unsafe { below(device, image, out) };
        of_every_type(given!(mut out));
    }
}

const MAPPED: P = P::from_raw(P::HOST_VISIBLE.as_raw() | P::HOST_COHERENT.as_raw());
const EVERYTHING: P = P::from_raw(0xF);
const LAZY: P = P::from_raw(P::DEVICE_LOCAL.as_raw() | P::LAZILY_ALLOCATED.as_raw());

/// Types of the application: T for tile types, and the number of the driver's own.
fn order(types: &vk::PhysicalDeviceMemoryProperties) -> String {
    let mut ordinary = 0..;
    let name = |kind: &vk::MemoryType| {
        let flags = types.memory_heaps[kind.heap_index as usize].flags;
        match flags.contains(ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM) {
            true => "T".to_owned(),
            false => ordinary.next().unwrap_or(0).to_string(),
        }
    };
    types.memory_types_as_slice().iter().map(name).collect()
}

/// Tile types come first, in the middle and last, and every type of the driver is still usable.
#[test]
fn every_type_is_the_drivers_wherever_the_tile_type_is() {
    let _turn = machine();
    const DISCRETE: &[P] = &[P::empty(), P::DEVICE_LOCAL, P::DEVICE_LOCAL, MAPPED, EVERYTHING];
    const UNIFIED: &[P] = &[P::DEVICE_LOCAL, LAZY, EVERYTHING];
    for (types, profile, expected) in [
        (DISCRETE, c"validation-icd", "0123T4"),
        (DISCRETE, c"generous", "012T34"),
        (DISCRETE, c"hostile", "0T1234"),
        // DEVICE_LOCAL is a subset of the lazy tile type, and comes first.
        (DISCRETE, c"adreno-830", "012T34"),
        (UNIFIED, c"adreno-830", "0T12"),
        (UNIFIED, c"hostile", "T012"),
        (UNIFIED, c"validation-icd", "0T12"),
        (UNIFIED, c"two-tile-types", "0T1T2"),
    ] {
        *lock(&TYPES) = Some(types);
        let (mut owned, options) = (Owned::default(), Options::default());
        let physical = owned
            .create_instance(&Options { profile, ..options })
            .expect("an instance");
        owned.create_device(false, physical).expect("a device");
        let (instance, device) = owned.handles();
        // SAFETY: A live device.
        let shown = unsafe { instance.get_physical_device_memory_properties(physical) };
        let order = order(&shown);
        assert_eq!(order, expected, "{profile:?}");
        // A fake tile heap after the count, for applications that read past it.
        let behind = shown.memory_heaps[shown.memory_heap_count as usize].size;
        assert_eq!(behind != 0, profile == c"hostile", "{profile:?}");
        // Memory can be allocated from every type, including a tile type.
        let mut ordinary_bits = 0;
        for (index, name) in (0u32..).zip(order.chars()) {
            let info = vk::MemoryAllocateInfo::default().allocation_size(4096);
            *lock(&ALLOCATED) = None;
            owned.make(info.memory_type_index(index)).expect("memory");
            if let Some(own) = name.to_digit(10) {
                ordinary_bits |= 1 << index;
                let flags = shown.memory_types[index as usize].property_flags;
                assert_eq!(flags, types[own as usize], "type {index} of {profile:?}");
                assert_eq!(*lock(&ALLOCATED), Some(own), "type {index} of {profile:?}");
            }
        }
        let (storage, all) = (vk::BufferUsageFlags::STORAGE_BUFFER, (1u32 << order.len()) - 1);
        let tile = storage | ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
        for (usage, expected) in [(storage, ordinary_bits), (tile, all)] {
            let buffer = owned.make(vk::BufferCreateInfo::default().size(4096).usage(usage));
            // SAFETY: New.
            let needs = unsafe { device.get_buffer_memory_requirements(buffer.expect("a buffer")) };
            assert_eq!(needs.memory_type_bits, expected, "{usage:?}, {profile:?}");
        }
        drop(owned);
        *lock(&TYPES) = None;
    }
}

/// Runs the whole program with more types than the heap's.
#[test]
fn a_program_runs_on_a_driver_of_many_types() {
    let _turn = machine();
    const TYPES_BELOW: &[P] = &[P::empty(), MAPPED, P::DEVICE_LOCAL, EVERYTHING];
    *lock(&TYPES) = Some(TYPES_BELOW);
    let result = Owned::default().run(false).map(drop);
    *lock(&TYPES) = None;
    assert_eq!(result, Ok(()));
}
