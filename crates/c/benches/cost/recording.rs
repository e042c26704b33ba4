//! The same frame through the runtime, on a driver that only logs calls: described, selected, begun, recorded, submitted and waited for. The passes
//! have no draws.

use std::ffi::c_void;
use std::ptr::null_mut;

use ash::vk;
use criterion::Criterion;
use tileheap::frame::{Frame, FrameBuilder, ResourceId};
use tileheap::plan::PlanOptions;
use tileheap::runtime::{Capabilities, Imports, import};
use tileheap_c::additions::*;
use tileheap_c::blocks::{Block, BlockRequest};
use tileheap_c::commands::*;
use tileheap_c::device::*;
use tileheap_c::dynamic_frame::*;
use tileheap_c::imports::{ImportedImage, Imports as ImportsOfC};
use tileheap_c::opaque::*;
use tileheap_c::recording::*;
use tileheap_c::status::Status;
use tileheap_testkit::fake_driver::Config;
use tileheap_testkit::runtime_rig::{Rig, on_fake};

use crate::c::{call, get, message_of, sized, view};
use crate::described::Described;
use crate::measure;

/// Names of descriptions: always the same one if frames are `known` to the planner, otherwise a new one for each iteration.
struct Names {
    known: bool,
    count: u64,
}

impl Names {
    fn next(&mut self) -> String {
        self.count += u64::from(!self.known);
        format!("frame {:08}", self.count)
    }
}

/// Calls a function with an error object, and panics with its message if it fails.
fn must(error: ErrorHandle, function: impl FnOnce(ErrorHandle) -> Status) {
    let status = function(error);
    assert!(status == Status::Success, "{status:?}: {}", message_of(error));
}

/// Allocates a block as separate memory.
///
/// # Safety
/// The pointers are those that the library was given or passes.
unsafe extern "C" fn allocate(
    data: *mut c_void,
    request: *const BlockRequest,
    block: *mut Block,
) -> vk::Result {
    // SAFETY: the library passes the device that it was given.
    let device = unsafe { &*data.cast::<ash::Device>() };
    // SAFETY: the library passes structures that are alive.
    let request = unsafe { &*request };
    // SAFETY: as above, and nothing else refers to this one.
    let block = unsafe { &mut *block };
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(request.requirements.size)
        .memory_type_index(request.requirements.memory_type_bits.trailing_zeros());
    match on_fake!(device.allocate_memory(&info, None)) {
        Ok(memory) => block.memory = memory,
        Err(error) => return error,
    }
    vk::Result::SUCCESS
}

/// # Safety
/// Same as [`allocate`].
unsafe extern "C" fn free(data: *mut c_void, block: *const Block) {
    // SAFETY: the library passes the device that it was given.
    let device = unsafe { &*data.cast::<ash::Device>() };
    // SAFETY: the library passes a structure that is alive.
    let block = unsafe { &*block };
    on_fake!(device.free_memory(block.memory, None));
}

/// A device of the library on a rig's device.
fn device_of(rig: &Rig) -> DeviceHandle {
    let extensions = [ash::khr::swapchain::NAME.as_ptr()];
    let info = vk::DeviceCreateInfo::default().enabled_extension_names(&extensions);
    let get_instance_proc_addr = Some(rig.driver.entry().static_fn().get_instance_proc_addr);
    let desc = DeviceAdditionsDesc {
        api_version: rig.support.version(),
        get_instance_proc_addr,
        instance: rig.instance.handle(),
        physical_device: rig.physical,
        create_info: std::ptr::from_ref(&info).cast(),
        ..sized()
    };
    // SAFETY: the description is alive.
    let additions = get(|to, error| unsafe { create_device_additions(&desc, to, error) }).unwrap();
    let queues: Vec<_> = rig
        .desc
        .queues
        .iter()
        .map(|queue| DeviceQueue {
            queue: queue.handle,
            family: queue.family,
            capabilities: queue.capabilities,
        })
        .collect();
    let desc = DeviceDesc {
        api_version: rig.support.version(),
        get_instance_proc_addr,
        instance: rig.instance.handle(),
        physical_device: rig.physical,
        device: rig.device.handle(),
        additions,
        queue_count: queues.len() as u32,
        queues: queues.as_ptr(),
        allocate_block: Some(allocate),
        free_block: Some(free),
        user_data: std::ptr::from_ref(&rig.device).cast_mut().cast(),
        ..sized()
    };
    // SAFETY: the description is alive, and the rig outlives the device.
    let device = get(|to, error| unsafe { create_device(&desc, to, error) }).unwrap();
    call(|_| destroy_device_additions(additions)).unwrap();
    device
}

/// Compares Rust and C for a frame that `describe` declares, with the external image `screen`.
pub(crate) fn compare(criterion: &mut Criterion, frame: &Frame, describe: impl Fn(&mut FrameBuilder, &str)) {
    let screen = frame.resource_named("screen").expect("the frame has it");
    for (group, known) in [("recording known", true), ("recording changed", false)] {
        of_rust(criterion, group, known, frame, screen, &describe);
        of_c(criterion, group, known, frame, screen);
    }
}

fn of_rust(
    criterion: &mut Criterion,
    group: &str,
    known: bool,
    frame: &Frame,
    screen: ResourceId,
    describe: impl Fn(&mut FrameBuilder, &str),
) {
    let rig = Rig::new(Config::modern(), Capabilities::empty());
    let device = rig.runtime().unwrap();
    let mut frames = device.dynamic_frame(PlanOptions::default()).unwrap();
    let mut builder = FrameBuilder::default();
    let mut names = Names { known, count: 0 };
    let (image, view) = rig.outputs[0];
    measure(criterion, group, "rust", || {
        describe(&mut builder, &names.next());
        let images = [import::ImportedImage {
            resource: screen,
            image,
            view,
        }];
        let imports = Imports {
            images: &images,
            ..Imports::default()
        };
        let recorder = on_fake!(frames.select(&builder).unwrap().begin(&imports)).unwrap();
        for (id, handle) in frame.command_buffer_ids().zip(rig.commands[0]) {
            let mut commands = on_fake!(recorder.record(handle, id)).unwrap();
            let passes = frame.command_buffers()[id.index()].passes;
            for pass in frame
                .pass_ids()
                .take(passes.end as usize)
                .skip(passes.first as usize)
            {
                commands.begin_pass(pass).unwrap();
                commands.end_pass().unwrap();
            }
            commands.finish().unwrap();
        }
        let number = on_fake!(recorder.submit()).unwrap();
        frames.wait(number, u64::MAX).unwrap();
        rig.driver.clear_journal();
    });
    drop(frames);
    let _ = on_fake!(rig.device.device_wait_idle());
    on_fake!(device.destroy());
}

fn of_c(criterion: &mut Criterion, group: &str, known: bool, frame: &Frame, screen: ResourceId) {
    let rig = Rig::new(Config::modern(), Capabilities::empty());
    let device = device_of(&rig);
    let desc = DynamicFrameDesc { device, ..sized() };
    // SAFETY: the description is alive.
    let dynamic = get(|to, error| unsafe { create_dynamic_frame(&desc, to, error) }).unwrap();
    // SAFETY: it can be written.
    let error: ErrorHandle = get(|to, _| unsafe { tileheap_c::text::create_error(to) }).unwrap();
    let mut described = Described::new(frame);
    let mut names = Names { known, count: 0 };
    let (image, image_view) = rig.outputs[0];
    let mut selected: SelectedFrame = sized();
    measure(criterion, group, "c", || {
        let name = names.next();
        described.desc.name = view(&name);
        // SAFETY: the description is alive, and it can be written.
        must(error, |error| unsafe {
            select_frame(dynamic, &described.desc, &mut selected, error)
        });
        let images = [ImportedImage {
            resource: screen.index() as u32,
            reserved: 0,
            image,
            view: image_view,
        }];
        let imports = ImportsOfC {
            image_count: 1,
            images: images.as_ptr(),
            ..sized()
        };
        let mut number = 0;
        // SAFETY: the imports are alive, and it can be written.
        must(error, |error| unsafe {
            begin_frame(dynamic, &imports, &mut number, error)
        });
        for (index, handle) in (0..).zip(rig.commands[0]).take(frame.command_buffers().len()) {
            let mut commands = null_mut();
            // SAFETY: it can be written; the last frame that used the command buffer is complete.
            must(error, |error| unsafe {
                begin_commands(dynamic, index, handle, &mut commands, error)
            });
            let passes = frame.command_buffers()[index as usize].passes;
            for pass in passes.first..passes.end {
                let mut begun: PassCommands = sized();
                // SAFETY: it can be written.
                must(error, |error| unsafe {
                    begin_pass(commands, pass, &mut begun, error)
                });
                must(error, |error| end_pass(commands, error));
            }
            must(error, |error| end_commands(commands, error));
        }
        must(error, |error| submit_frame(dynamic, error));
        must(error, |error| wait_for_frame(dynamic, number, u64::MAX, error));
        rig.driver.clear_journal();
    });
    call(|error| destroy_dynamic_frame(dynamic, error)).unwrap();
    let _ = on_fake!(rig.device.device_wait_idle());
    call(|error| destroy_device(device, error)).unwrap();
}
