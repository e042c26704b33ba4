//! A program on the fake driver that runs the testkit's frame through C.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ash::vk;
use tileheap::frame::tables::PassKind;
use tileheap_c::additions::*;
use tileheap_c::blocks::*;
use tileheap_c::commands::*;
use tileheap_c::device::*;
use tileheap_c::dynamic_frame::*;
use tileheap_c::imports::*;
use tileheap_c::opaque::*;
use tileheap_c::recording::*;
use tileheap_c::status::Status;
use tileheap_testkit::fake_driver::Config;
use tileheap_testkit::runtime_rig::{IN_FLIGHT, Rig, on_fake};

use super::super::c::{self, call, fill, get, sized};
use super::super::described::Described;

/// Calls a function of the library with pointers that are alive.
macro_rules! th {
    ($call:expr) => {{
        // SAFETY: what is pointed to is alive, and the fake driver dereferences no handle.
        unsafe { $call }
    }};
}
pub(super) use th;

/// Indices of the testkit's frame.
pub(super) const OUTPUT: u32 = 6;
pub(super) const GBUFFER: u32 = 0;
pub(super) const DECALS: u32 = 1;
pub(super) const OCCLUSION: u32 = 2;
pub(super) const LIGHTING: u32 = 3;
pub(super) const TONEMAP: u32 = 5;
const BINS: u32 = 5;

/// The program's allocator: a memory object for each block.
pub(super) struct Allocator {
    device: ash::Device,
    pub(super) live: AtomicUsize,
    pub(super) allocated: AtomicUsize,
    /// The result that the next allocations return instead of memory.
    pub(super) failures: Mutex<Vec<vk::Result>>,
    /// Added to offsets.
    pub(super) offset: AtomicUsize,
    /// Called while a block is allocated.
    pub(super) inside: Mutex<Option<Box<dyn Fn() + Send>>>,
}

/// # Safety
/// The pointers are those that the library was given or passes.
unsafe extern "C" fn allocate(
    data: *mut c_void,
    request: *const BlockRequest,
    block: *mut Block,
) -> vk::Result {
    let (own, request, block) = th!((&*data.cast::<Allocator>(), &*request, &mut *block));
    assert_eq!(request.struct_size as usize, size_of::<BlockRequest>());
    assert!(!c::string(request.name).is_empty());
    assert_eq!(request.requirements.memory_type_bits.count_ones(), 1);
    assert_eq!(block.memory, vk::DeviceMemory::null());
    if let Some(inside) = &*own.inside.lock().unwrap() {
        inside();
    }
    if let Some(failure) = own.failures.lock().unwrap().pop() {
        return failure;
    }
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(request.requirements.size)
        .memory_type_index(request.requirements.memory_type_bits.trailing_zeros());
    match on_fake!(own.device.allocate_memory(&info, None)) {
        Ok(memory) => block.memory = memory,
        Err(error) => return error,
    }
    block.offset = own.offset.load(Ordering::Relaxed) as u64;
    block.token = data;
    own.allocated.fetch_add(1, Ordering::Relaxed);
    own.live.fetch_add(1, Ordering::Relaxed);
    vk::Result::SUCCESS
}

/// # Safety
/// Same as [`allocate`].
unsafe extern "C" fn free(data: *mut c_void, block: *const Block) {
    let (own, block) = th!((&*data.cast::<Allocator>(), &*block));
    assert_eq!(block.token, data, "the block is the one that was allocated");
    on_fake!(own.device.free_memory(block.memory, None));
    own.live.fetch_sub(1, Ordering::Relaxed);
}

/// A device and a dynamic frame.
pub(super) struct Engine {
    pub(super) rig: Rig,
    pub(super) allocator: Box<Allocator>,
    pub(super) device: DeviceHandle,
    pub(super) frame: DynamicFrameHandle,
    pub(super) described: Described,
    /// The recording that was begun last.
    pub(super) open: Mutex<Option<CommandsHandle>>,
}

// SAFETY: handles are numbers, and the description is only read.
unsafe impl Sync for Engine {}

impl Engine {
    pub(super) fn new(config: Config) -> Engine {
        Engine::with(config, |_| ())
    }

    /// Creates an engine with changes to the description of the device.
    pub(super) fn with(config: Config, change: impl FnOnce(&mut DeviceDesc)) -> Engine {
        let rig = Rig::new(config, tileheap::runtime::Capabilities::empty());
        let allocator = Box::new(Allocator {
            device: rig.device.clone(),
            live: AtomicUsize::new(0),
            allocated: AtomicUsize::new(0),
            failures: Mutex::default(),
            offset: AtomicUsize::new(0),
            inside: Mutex::default(),
        });
        let additions = additions(&rig).unwrap();
        let queues = queues(&rig);
        let mut desc = device_desc(&rig, additions, &queues, &allocator);
        change(&mut desc);
        let device = get(|to, error| th!(create_device(&desc, to, error))).unwrap();
        call(|_| destroy_device_additions(additions)).unwrap();
        let described = Described::new(&rig.described.frame);
        let desc = DynamicFrameDesc { device, ..sized() };
        let frame = get(|to, error| th!(create_dynamic_frame(&desc, to, error))).unwrap();
        Engine {
            rig,
            allocator,
            device,
            frame,
            described,
            open: Mutex::default(),
        }
    }

    pub(super) fn select(&self) -> c::Result<SelectedFrame> {
        fill(|to, error| th!(select_frame(self.frame, &self.described.desc, to, error)))
    }

    /// The external image of a frame.
    pub(super) fn output(&self, turn: usize) -> ImportedImage {
        let (image, view) = self.rig.outputs[turn % 2];
        ImportedImage {
            resource: OUTPUT,
            reserved: 0,
            image,
            view,
        }
    }

    /// Begins the selected frame.
    pub(super) fn begin(&self) -> c::Result<u64> {
        let images = [self.output(0)];
        let imports = imports(&images);
        get(|to, error| th!(begin_frame(self.frame, &imports, to, error)))
    }

    pub(super) fn command_buffer(&self, number: u64, index: u32) -> vk::CommandBuffer {
        self.rig.commands[number as usize % IN_FLIGHT][index as usize]
    }

    pub(super) fn secondary(&self, number: u64, pass: u32) -> vk::CommandBuffer {
        self.rig.secondaries[number as usize % IN_FLIGHT][usize::from(pass == TONEMAP)]
    }

    pub(super) fn record(&self, number: u64, index: u32) -> c::Result<CommandsHandle> {
        let buffer = self.command_buffer(number, index);
        let commands = get(|to, error| th!(begin_commands(self.frame, index, buffer, to, error)))?;
        *self.open.lock().unwrap() = Some(commands);
        Ok(commands)
    }

    /// Records one of the command buffers.
    pub(super) fn record_all(&self, number: u64, index: u32) -> c::Result<()> {
        let frame = &self.rig.described.frame;
        let commands = self.record(number, index)?;
        for pass in frame.command_buffers()[index as usize].passes.indices() {
            self.record_pass(commands, number, pass as u32)?;
        }
        call(|error| end_commands(commands, error))
    }

    pub(super) fn record_pass(&self, commands: CommandsHandle, number: u64, pass: u32) -> c::Result<()> {
        let device = &self.rig.device;
        let is_secondary = pass == GBUFFER || pass == TONEMAP;
        if is_secondary {
            let buffer = self.secondary(number, pass);
            call(|error| begin_secondary(self.frame, buffer, pass, 0, error))?;
            on_fake!(device.cmd_draw(buffer, 3, 1, 0, 0));
            let end = || on_fake!(device.end_command_buffer(buffer));
            self.rig.driver.without_failures(end).unwrap();
        }
        let begun: PassCommands = fill(|to, error| th!(begin_pass(commands, pass, to, error)))?;
        let buffer = begun.command_buffer;
        match self.rig.described.frame.passes()[pass as usize].kind {
            _ if is_secondary => {
                let secondary = self.secondary(number, pass);
                call(|error| th!(execute_secondaries(commands, 1, &secondary, error)))?;
            }
            PassKind::Render => on_fake!(device.cmd_draw(buffer, 3, 1, 0, 0)),
            PassKind::Compute => on_fake!(device.cmd_dispatch(buffer, 1, 1, 1)),
            PassKind::Transfer => {
                let bins = self.access(pass, 0)?;
                assert_eq!(bins.resource, BINS);
                on_fake!(device.cmd_fill_buffer(buffer, bins.buffer, bins.offset, bins.size, 0));
            }
        }
        call(|error| end_pass(commands, error))
    }

    pub(super) fn access(&self, pass: u32, access: u32) -> c::Result<tileheap_c::bound::BoundAccess> {
        fill(|to, error| {
            th!(tileheap_c::bound::get_bound_access(
                self.frame, pass, access, to, error
            ))
        })
    }

    /// Selects, records and submits a frame; returns its number.
    pub(super) fn run(&self) -> c::Result<u64> {
        self.select()?;
        let number = self.begin()?;
        for index in 0..4 {
            self.record_all(number, index)?;
        }
        call(|error| submit_frame(self.frame, error))?;
        Ok(number)
    }

    pub(super) fn wait(&self, number: u64) -> Status {
        wait_for_frame(self.frame, number, u64::MAX, null_mut())
    }

    /// Destroys everything, and checks for leaks.
    pub(super) fn end(self) {
        call(|error| destroy_dynamic_frame(self.frame, error)).unwrap();
        let _ = on_fake!(self.rig.device.device_wait_idle());
        self.end_device();
    }

    pub(super) fn end_device(self) {
        call(|error| destroy_device(self.device, error)).unwrap();
        assert_eq!(self.allocator.live.load(Ordering::Relaxed), 0, "blocks are freed");
        assert_eq!(self.rig.problems(), [""; 0]);
    }
}

pub(super) fn imports(images: &[ImportedImage]) -> Imports {
    Imports {
        image_count: images.len() as u32,
        images: images.as_ptr(),
        ..sized()
    }
}

pub(super) fn additions_desc(rig: &Rig, info: &vk::DeviceCreateInfo<'_>) -> DeviceAdditionsDesc {
    DeviceAdditionsDesc {
        api_version: rig.support.version(),
        get_instance_proc_addr: Some(rig.driver.entry().static_fn().get_instance_proc_addr),
        instance: rig.instance.handle(),
        physical_device: rig.physical,
        create_info: std::ptr::from_ref(info).cast(),
        debug_names: vk::TRUE,
        ..sized()
    }
}

pub(super) fn additions(rig: &Rig) -> c::Result<DeviceAdditionsHandle> {
    let info = vk::DeviceCreateInfo::default();
    let desc = additions_desc(rig, &info);
    get(|to, error| th!(create_device_additions(&desc, to, error)))
}

pub(super) fn queues(rig: &Rig) -> Vec<DeviceQueue> {
    let queue = |queue: &tileheap::runtime::DeviceQueue| DeviceQueue {
        queue: queue.handle,
        family: queue.family,
        capabilities: queue.capabilities,
    };
    rig.desc.queues.iter().map(queue).collect()
}

pub(super) fn device_desc(
    rig: &Rig,
    additions: DeviceAdditionsHandle,
    queues: &[DeviceQueue],
    allocator: &Allocator,
) -> DeviceDesc {
    DeviceDesc {
        api_version: rig.support.version(),
        get_instance_proc_addr: Some(rig.driver.entry().static_fn().get_instance_proc_addr),
        instance: rig.instance.handle(),
        physical_device: rig.physical,
        device: rig.device.handle(),
        additions,
        queue_count: queues.len() as u32,
        queues: queues.as_ptr(),
        allocate_block: Some(allocate),
        free_block: Some(free),
        user_data: std::ptr::from_ref(allocator).cast_mut().cast(),
        ..sized()
    }
}

/// No imports.
pub(super) const NONE: *const Imports = null();
