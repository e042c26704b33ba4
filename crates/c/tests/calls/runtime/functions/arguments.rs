//! The arguments of functions: valid values, and every kind of invalid one.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering;

use ash::vk;
use tileheap_c::additions::*;
use tileheap_c::aliasing::*;
use tileheap_c::arrangement::*;
use tileheap_c::bound::*;
use tileheap_c::commands::*;
use tileheap_c::device::*;
use tileheap_c::dynamic_frame::*;
use tileheap_c::frame::*;
use tileheap_c::frame_desc::*;
use tileheap_c::imports::*;
use tileheap_c::lowerer::*;
use tileheap_c::opaque::*;
use tileheap_c::origins::*;
use tileheap_c::plan::*;
use tileheap_c::profile::*;
use tileheap_c::recording::*;
use tileheap_c::requirements::*;
use tileheap_c::status::Status;
use tileheap_c::stores::*;
use tileheap_c::strings::StringView;
use tileheap_c::vulkan::VulkanResult;

use super::super::super::c::{sized, view};
use super::super::engine::queues;
use super::objects::*;

/// A wrong value of an argument.
#[derive(Clone, Copy)]
pub(super) struct Wrong<T> {
    pub(super) value: T,
    /// Description of the error.
    pub(super) what: &'static str,
    /// The status that a function returns for it.
    pub(super) status: Status,
}

/// The size of the largest structure, and more, in words.
const WORDS: usize = 256;

/// Memory that arguments point to during a call.
#[derive(Default)]
pub(super) struct Memory {
    blocks: Vec<Vec<u64>>,
    device_queues: Vec<Vec<DeviceQueue>>,
    /// Pointer to which `thBeginCommands` writes a recording.
    commands: Option<*mut CommandsHandle>,
}

impl Memory {
    /// Allocates memory for a value of all zeros.
    fn zeros<T>(&mut self) -> *mut T {
        assert!(size_of::<T>() <= WORDS * size_of::<u64>() && align_of::<T>() <= align_of::<u64>());
        self.blocks.push(vec![0; WORDS]);
        let block = self.blocks.last_mut().expect("it was pushed");
        block.as_mut_ptr().cast()
    }

    /// Uses a recording that a call has begun for later calls.
    pub(super) fn begun(&self, objects: &Objects) {
        let Some(commands) = self.commands else { return };
        // SAFETY: its block is alive.
        let commands = unsafe { commands.read() };
        if !commands.is_null() {
            objects.commands.store(commands, Ordering::Relaxed);
        }
    }

    fn keep<T: Copy>(&mut self, value: T) -> *mut T {
        let to = self.zeros::<T>();
        // SAFETY: the block has room for it.
        unsafe { to.write(value) };
        to
    }
}

/// A type of arguments.
pub(super) trait Argument: Copy {
    /// A value that every function accepts in the state that it needs.
    fn good(objects: &Objects, memory: &mut Memory) -> Self;

    fn wrong(_objects: &Objects, _memory: &mut Memory) -> Vec<Wrong<Self>> {
        Vec::new()
    }
}

macro_rules! handles {
    ($($handle:ty: $kind:ident = $good:expr;)*) => {$(
        impl Argument for $handle {
            fn good(objects: &Objects, _: &mut Memory) -> Self {
                let handle: fn(&Objects) -> $handle = $good;
                handle(objects)
            }

            fn wrong(objects: &Objects, _: &mut Memory) -> Vec<Wrong<Self>> {
                wrong_handles(objects, Type::$kind)
            }
        }
    )*};
}

handles! {
    ErrorHandle: Error = |objects| objects.error;
    TextHandle: Text = |objects| objects.text;
    ProfileHandle: Profile = |objects| objects.profile;
    FrameHandle: Frame = |objects| objects.frame;
    RequirementsHandle: Requirements = |objects| objects.requirements;
    PlannerHandle: Planner = |objects| objects.planner;
    PlanHandle: Plan = |objects| objects.plan;
    ArrangementHandle: Arrangement = |objects| objects.arrangement;
    LowererHandle: Lowerer = |objects| objects.lowerer;
    AliasingHandle: Aliasing = |objects| objects.aliasing;
    DeviceAdditionsHandle: Additions = |objects| objects.additions;
    DeviceHandle: Device = |objects| objects.engine.device;
    DynamicFrameHandle: DynamicFrame = |objects| objects.engine.frame;
    CommandsHandle: Commands = |objects| objects.commands.load(Ordering::Relaxed);
}

fn wrong_handles<T>(objects: &Objects, kind: Type) -> Vec<Wrong<*mut T>> {
    let handles = objects.wrong_handles(kind).into_iter();
    let wrong = |(what, value)| Wrong {
        value,
        what,
        status: Status::ErrorInvalidHandle,
    };
    handles.map(wrong).collect()
}

/// Plain numbers, and pointers that the library never follows.
macro_rules! numbers {
    ($($number:ty = $good:expr;)*) => {$(
        impl Argument for $number {
            fn good(_: &Objects, _: &mut Memory) -> Self {
                $good
            }
        }
    )*};
}

numbers! {
    u32 = 0;
    u64 = 0;
    *mut c_void = null_mut();
}

impl Argument for SubmitCallback {
    fn good(_: &Objects, _: &mut Memory) -> Self {
        unsafe extern "C" fn submit(_: *mut c_void, _: *const SubmitCall) -> vk::Result {
            vk::Result::SUCCESS
        }
        Some(submit)
    }

    fn wrong(_: &Objects, _: &mut Memory) -> Vec<Wrong<Self>> {
        vec![null_pointer(None)]
    }
}

impl Argument for UseQueuesCallback {
    fn good(_: &Objects, _: &mut Memory) -> Self {
        unsafe extern "C" fn use_queues(_: *mut c_void) {}
        Some(use_queues)
    }

    fn wrong(_: &Objects, _: &mut Memory) -> Vec<Wrong<Self>> {
        vec![null_pointer(None)]
    }
}

fn null_pointer<T>(value: T) -> Wrong<T> {
    Wrong {
        value,
        what: "null",
        status: Status::ErrorNullPointer,
    }
}

/// Vulkan handles that the library only compares.
macro_rules! of_vulkan {
    ($($handle:ty),*) => {$(
        impl Argument for $handle {
            fn good(_: &Objects, _: &mut Memory) -> Self {
                vk::Handle::from_raw(1)
            }

            fn wrong(_: &Objects, _: &mut Memory) -> Vec<Wrong<Self>> {
                vec![null_pointer(<$handle>::null())]
            }
        }
    )*};
}

of_vulkan!(vk::ImageView);

impl Argument for vk::CommandBuffer {
    fn good(objects: &Objects, _: &mut Memory) -> Self {
        objects.engine.command_buffer(0, 0)
    }

    fn wrong(_: &Objects, _: &mut Memory) -> Vec<Wrong<Self>> {
        vec![null_pointer(vk::CommandBuffer::null())]
    }
}

impl Argument for StringView {
    fn good(_: &Objects, _: &mut Memory) -> Self {
        view("adreno-830")
    }

    fn wrong(_: &Objects, _: &mut Memory) -> Vec<Wrong<Self>> {
        let no_text = |length| null_pointer(StringView { data: null(), length });
        let not_utf8: &'static [u8] = &[0xff, 0xfe];
        vec![
            no_text(0),
            no_text(5),
            Wrong {
                value: StringView {
                    data: not_utf8.as_ptr().cast(),
                    length: 2,
                },
                what: "not UTF-8",
                status: Status::ErrorInvalidArgument,
            },
            Wrong {
                value: StringView {
                    data: not_utf8.as_ptr().cast(),
                    length: usize::MAX - 1,
                },
                what: "longer than memory",
                status: Status::ErrorInvalidArgument,
            },
        ]
    }
}

/// Pointers to values without a size.
macro_rules! plain {
    ($($pointer:ty),* $(,)?) => {$(
        impl Argument for $pointer {
            fn good(_: &Objects, memory: &mut Memory) -> Self {
                memory.zeros()
            }

            fn wrong(_: &Objects, _: &mut Memory) -> Vec<Wrong<Self>> {
                vec![null_pointer(null_mut())]
            }
        }
    )*};
}

plain! {
    *mut u32, *mut u64, *mut StringView, *mut VulkanResult, *mut DeviceQueue, *mut *const vk::DeviceCreateInfo<'static>,
    *mut ErrorHandle, *mut TextHandle, *mut ProfileHandle, *mut FrameHandle, *mut RequirementsHandle, *mut PlannerHandle, *mut PlanHandle,
    *mut ArrangementHandle, *mut LowererHandle, *mut AliasingHandle, *mut DeviceAdditionsHandle, *mut DeviceHandle, *mut DynamicFrameHandle,
}

impl Argument for *mut CommandsHandle {
    fn good(_: &Objects, memory: &mut Memory) -> Self {
        let to = memory.zeros();
        memory.commands = Some(to);
        to
    }

    fn wrong(_: &Objects, _: &mut Memory) -> Vec<Wrong<Self>> {
        vec![null_pointer(null_mut())]
    }
}

macro_rules! plain_inputs {
    ($($value:ty),*) => {$(
        impl Argument for *const $value {
            fn good(_: &Objects, memory: &mut Memory) -> Self {
                memory.zeros::<$value>()
            }

            fn wrong(_: &Objects, _: &mut Memory) -> Vec<Wrong<Self>> {
                vec![null_pointer(null())]
            }
        }
    )*};
}

plain_inputs!(vk::CommandBuffer, vk::Extent2D, vk::Rect2D);

/// A null pointer, and structures with sizes that no structure has.
fn wrong_sizes<T: Copy, P>(memory: &mut Memory, pointer: fn(*mut T) -> P) -> Vec<Wrong<P>> {
    let mut wrong = vec![null_pointer(pointer(null_mut()))];
    for size in [0, 3, 4, 5000, u32::MAX] {
        let to = memory.keep(sized::<T>());
        // SAFETY: structures begin with their size.
        unsafe { to.cast::<u32>().write(size) };
        wrong.push(Wrong {
            value: pointer(to),
            what: "of another size",
            status: Status::ErrorStructSize,
        });
    }
    wrong
}

/// Structures that the library fills in.
macro_rules! outputs {
    ($($structure:ty),* $(,)?) => {$(
        impl Argument for *mut $structure {
            fn good(_: &Objects, memory: &mut Memory) -> Self {
                memory.keep(sized::<$structure>())
            }

            fn wrong(_: &Objects, memory: &mut Memory) -> Vec<Wrong<Self>> {
                wrong_sizes::<$structure, _>(memory, |pointer| pointer)
            }
        }
    )*};
}

outputs! {
    AliasingArrays, ArrangementArrays, ArrangementInfo, BoundAccess, FrameInfo, FrameOrigins, Lowered, PassCommands, PassInfo, PassTarget,
    PlanArrays, PlanTotals, ProfileInfo, RequirementQuery, ResourceInfo, ResourceRequirements, SelectedFrame,
    StoreShaders,
}

/// Structures that describe something: a valid one, and the handles in it.
macro_rules! inputs {
    ($($structure:ident = $good:expr; $($field:ident: $kind:ident)*;)*) => {$(
        impl Argument for *const $structure {
            fn good(objects: &Objects, memory: &mut Memory) -> Self {
                let good: fn(&Objects, &mut Memory) -> $structure = $good;
                let value = good(objects, memory);
                memory.keep(value)
            }

            #[allow(unused_mut, reason = "some have no handles")]
            fn wrong(objects: &Objects, memory: &mut Memory) -> Vec<Wrong<Self>> {
                let mut wrong = wrong_sizes::<$structure, _>(memory, |pointer| pointer.cast_const());
                let good: fn(&Objects, &mut Memory) -> $structure = $good;
                $(for handle in wrong_handles(objects, Type::$kind) {
                    let value = $structure {
                        $field: handle.value,
                        ..good(objects, memory)
                    };
                    wrong.push(Wrong {
                        value: memory.keep(value).cast_const(),
                        what: concat!("a structure with a wrong ", stringify!($field)),
                        status: handle.status,
                    });
                })*
                let _ = (objects, good);
                wrong
            }
        }
    )*};
}

inputs! {
    FrameDesc = |objects, _| objects.engine.described.desc;;
    PlanDesc = |objects, _| PlanDesc {
        frame: objects.frame,
        requirements: objects.requirements,
        profile: objects.profile,
        planner: objects.planner,
        ..sized()
    }; frame: Frame requirements: Requirements profile: Profile;
    LowerDesc = |objects, _| LowerDesc { plan: objects.plan, ..sized() }; plan: Plan;
    AliasingDesc = |objects, _| AliasingDesc { plan: objects.plan, ..sized() }; plan: Plan;
    SearchDesc = |_, _| SearchDesc { steps: 10, ..sized() };;
    RequirementAnswer = |_, _| sized();;
    PhysicalDeviceDesc = |objects, _| PhysicalDeviceDesc {
        api_version: objects.engine.rig.support.version(),
        get_instance_proc_addr: Some(objects.engine.rig.driver.entry().static_fn().get_instance_proc_addr),
        instance: objects.engine.rig.instance.handle(),
        physical_device: objects.engine.rig.physical,
        ..sized()
    };;
    DeviceAdditionsDesc = |objects, memory| {
        let info = memory.keep(vk::DeviceCreateInfo::default());
        // SAFETY: it is as long alive as the memory.
        super::super::engine::additions_desc(&objects.engine.rig, unsafe { &*info })
    };;
    DeviceDesc = |objects, memory| {
        let engine = &objects.engine;
        memory.device_queues.push(queues(&engine.rig));
        let queues = memory.device_queues.last().expect("they were pushed");
        super::super::engine::device_desc(&engine.rig, objects.additions, queues, &engine.allocator)
    }; additions: Additions;
    DynamicFrameDesc = |objects, _| DynamicFrameDesc { device: objects.engine.device, ..sized() }; device: Device;
    Imports = |_, _| sized();;
}
