//! The layer without a loader above it, above a driver that fails on request.
//!
//! ```text
//! application (here) ─► layer (linked) ─► wrappers ─► the machine's loader and driver
//!                                            │ count live objects
//!                                            └ fail the n-th call that can fail
//! ```
//! For every n until a program completes: the error is returned, and no driver object and no byte leaks.

// Every call of ash is unsafe; a comment states what a group of them relies on.
#![allow(clippy::multiple_unsafe_ops_per_block)]

mod below;
mod driver;
mod invented;
mod loader;
mod memory_types;
mod names;
mod passes;
mod program;
mod queue_families;
mod queue_order;
mod queues;
mod shaders;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use ash::vk;
use driver::{FAILED, HAS_TILE_MEMORY, LIVE, NATIVE_VERSION, PANICS, arm, lock};
use loader::{layer, machine};
use program::{Options, Owned};
use tileheap_device::ffi;
use tileheap_emulator::vkNegotiateLoaderLayerInterfaceVersion;

/// Counts the bytes that Rust code has allocated: the layer and this program, since the driver is not Rust code.
struct Counting;

static BYTES: AtomicI64 = AtomicI64::new(0);

// SAFETY: The system's allocator does all the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size() as i64, SeqCst);
        // SAFETY: The caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size() as i64, SeqCst);
        // SAFETY: The caller's promise.
        unsafe { System.dealloc(at, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs the program once, completely or only the first part; returns its result, and the number of leaked bytes.
fn once(strange: bool, all: bool) -> (Result<(), vk::Result>, i64) {
    let before = BYTES.load(SeqCst);
    let result = {
        let mut owned = Owned::default();
        owned.per_tile = true;
        if all {
            owned.run_all(strange)
        } else {
            owned.run(strange).map(drop)
        }
    };
    (result, BYTES.load(SeqCst) - before)
}

/// Every driver call fails once, in programs without chains and with unknown structures in every chain.
#[test]
fn every_error_from_below_comes_back_and_nothing_is_left() {
    let _turn = machine();
    for strange in [false, true] {
        // Fills tables that are initialized once per process.
        arm(0, vk::Result::SUCCESS);
        assert_eq!(once(strange, true).0, Ok(()), "strange: {strange}");
        for failure in [
            vk::Result::ERROR_OUT_OF_HOST_MEMORY,
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
        ] {
            let mut failed = Vec::new();
            for n in 1.. {
                arm(n, failure);
                let (result, bytes) = once(strange, true);
                let Some(name) = *lock(&FAILED) else {
                    assert_eq!((result, LIVE.load(SeqCst), bytes), (Ok(()), 0, 0));
                    break;
                };
                let call = format!("call {n}, {name}, strange: {strange}");
                // Extensions are queried again until they are known; everything else is queried once.
                let recovers = name == "vkEnumerateDeviceExtensionProperties" && result == Ok(());
                assert!(recovers || result == Err(failure), "{call}: {result:?}");
                assert_eq!(LIVE.load(SeqCst), 0, "objects left after {call}, failed");
                assert_eq!(bytes, 0, "bytes left after {call}, failed");
                failed.push(name);
            }
            // Calls that the layer makes on its own are included.
            for (name, times) in [
                ("vkCreateDevice", 1),
                ("vkAllocateMemory", 2),
                ("vkBindBufferMemory", 2),
                ("vkCreateImage", 4),
                ("vkCreateCommandPool", 2),
                ("vkAllocateCommandBuffers", 2),
                ("vkSetDeviceLoaderData", 1),
                ("vkCreateSemaphore", 1),
                ("vkCreateShaderModule", 3),
                ("vkCreateComputePipelines", 1),
                ("vkCreateGraphicsPipelines", 1),
                ("vkCreateRayTracingPipelinesKHR", 2),
                ("vkAllocateDescriptorSets", 2),
                ("vkCreateDescriptorSetLayout", 3),
                ("vkMapMemory", 1),
                ("vkCreateDescriptorUpdateTemplate", 2),
                ("vkCreateRenderPass2", 1),
                ("vkQueueSubmit", 2),
                ("vkQueueSubmit2", 2),
            ] {
                let seen = failed.iter().filter(|failed| **failed == name).count();
                assert!(seen >= times, "{name} failed {seen} times: {failed:?}");
            }
        }
    }
    arm(0, vk::Result::SUCCESS);
    assert_eq!(PANICS.load(SeqCst), 0);
}

/// A thousand lifetimes of an instance, a device, tile memory and submitted work leave neither an object nor a byte.
#[test]
fn a_thousand_devices_leave_nothing() {
    let _turn = machine();
    arm(0, vk::Result::SUCCESS);
    // Fills tables that are initialized once per process.
    for strange in [false, true] {
        assert_eq!(once(strange, true).0, Ok(()), "strange: {strange}");
    }
    for round in 0..1000 {
        let (result, bytes) = once(round % 2 == 1, round % 20 < 2);
        assert_eq!(result, Ok(()), "round {round}");
        assert_eq!(LIVE.load(SeqCst), 0, "objects left after round {round}");
        assert_eq!(bytes, 0, "bytes left after round {round}");
    }
    assert_eq!(PANICS.load(SeqCst), 0);
}

/// Operations that failed once succeed when they are retried: creating the heap, and a submission.
#[test]
fn an_error_from_below_is_not_for_ever() {
    let _turn = machine();
    let mut owned = Owned::default();
    let (_, tile_type) = owned.create(false).expect("a device");
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(4096)
        .memory_type_index(tile_type);
    let allocate = |n, error| {
        arm(n, error);
        let allocated = owned.make(info);
        assert_eq!(allocated.err(), (n > 0).then_some(error), "{:?}", lock(&FAILED));
        arm(0, vk::Result::SUCCESS);
    };
    // The heap's buffer, its memory, its binding; then the object, once the heap exists.
    for n in 1..=3 {
        allocate(n, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
    }
    allocate(0, vk::Result::SUCCESS);
    allocate(1, vk::Result::ERROR_OUT_OF_HOST_MEMORY);
}

/// If the driver has the extension, the driver's is used; if the layer is forced to emulate, the layer's.
#[test]
fn it_steps_aside_unless_it_is_forced() {
    let _turn = machine();
    HAS_TILE_MEMORY.store(true, SeqCst);
    for (force, version, heaps) in [
        (false, NATIVE_VERSION, 0),
        (true, ffi::tile_memory_heap::SPEC_VERSION, 1),
    ] {
        let (mut owned, options) = (Owned::default(), Options::default());
        let physical = owned
            .create_instance(&Options { force, ..options })
            .expect("an instance");
        let instance = owned.instance.clone().expect("created");
        // SAFETY: A live device.
        let (extensions, types) = unsafe {
            (
                instance.enumerate_device_extension_properties(physical),
                instance.get_physical_device_memory_properties(physical),
            )
        };
        let mut listed = extensions.expect("extensions");
        listed.retain(|known| known.extension_name_as_c_str() == Ok(ffi::tile_memory_heap::NAME));
        assert!(
            listed.len() == 1 && listed[0].spec_version == version,
            "force: {force}"
        );
        let is_tile = |heap: &&vk::MemoryHeap| heap.flags.contains(ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM);
        let count = types.memory_heaps_as_slice().iter().filter(is_tile).count();
        assert_eq!(count, heaps, "force: {force}");
        if force {
            // The layer's extension is not passed down to the machine's driver, which would refuse it.
            owned.create_device(false, physical).expect("a device");
        }
    }
    HAS_TILE_MEMORY.store(false, SeqCst);
}

/// A loader that does not pass a link, or passes a wrong structure, is refused.
#[test]
fn without_a_link_there_is_no_instance_and_no_device() {
    let _turn = machine();
    // SAFETY: A valid create info.
    let made = unsafe { layer().create_instance(&vk::InstanceCreateInfo::default(), None) };
    assert_eq!(made.err(), Some(vk::Result::ERROR_INITIALIZATION_FAILED));
    let mut owned = Owned::default();
    owned.create(false).expect("a device");
    let instance = owned.instance.as_ref().expect("created");
    // SAFETY: A live instance, and a create info that a loader would have chained a link to.
    let made = unsafe {
        let physical = tileheap_testkit::physical_device(instance);
        instance.create_device(physical, &vk::DeviceCreateInfo::default(), None)
    };
    assert_eq!(made.err(), Some(vk::Result::ERROR_INITIALIZATION_FAILED));
    // SAFETY: Null is allowed.
    let none = unsafe { vkNegotiateLoaderLayerInterfaceVersion(std::ptr::null_mut()) };
    assert_eq!(none, vk::Result::ERROR_INITIALIZATION_FAILED);
}
