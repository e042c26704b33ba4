//! One live object of every type, and invalid handles.

use std::ptr::{null, null_mut, without_provenance_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use tileheap_c::additions::*;
use tileheap_c::aliasing::*;
use tileheap_c::arrangement::*;
use tileheap_c::commands::*;
use tileheap_c::device::*;
use tileheap_c::dynamic_frame::*;
use tileheap_c::frame::*;
use tileheap_c::lowerer::*;
use tileheap_c::opaque::*;
use tileheap_c::plan::*;
use tileheap_c::profile::*;
use tileheap_c::recording::*;
use tileheap_c::requirements::*;
use tileheap_c::status::Status;
use tileheap_c::text::*;
use tileheap_testkit::fake_driver::Config;

use super::super::super::c::{self, fill, get, sized};
use super::super::super::small::small;
use super::super::engine::{Engine, additions, th};

/// The state that functions of a dynamic frame need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum State {
    Idle,
    Selected,
    Recording,
    /// A command buffer is being recorded.
    Commands,
}

/// An object of every type. Dropping it destroys what calls have not destroyed.
pub(super) struct Objects {
    pub(super) engine: Engine,
    pub(super) error: ErrorHandle,
    pub(super) text: TextHandle,
    pub(super) profile: ProfileHandle,
    pub(super) frame: FrameHandle,
    pub(super) requirements: RequirementsHandle,
    pub(super) planner: PlannerHandle,
    pub(super) plan: PlanHandle,
    pub(super) arrangement: ArrangementHandle,
    pub(super) lowerer: LowererHandle,
    pub(super) aliasing: AliasingHandle,
    pub(super) additions: DeviceAdditionsHandle,
    /// The last recording that was begun; null for none.
    pub(super) commands: AtomicPtr<CommandsT>,
}

// SAFETY: handles are numbers.
unsafe impl Sync for Objects {}

/// The objects of planning, in the order of their handles.
struct Planned {
    profile: ProfileHandle,
    frame: FrameHandle,
    requirements: RequirementsHandle,
    planner: PlannerHandle,
    plan: PlanHandle,
    arrangement: ArrangementHandle,
    lowerer: LowererHandle,
    aliasing: AliasingHandle,
    text: TextHandle,
    error: ErrorHandle,
}

fn planned() -> Planned {
    let frame = small().create().unwrap();
    let profile = c::profile("adreno-830");
    let requirements = c::estimated(frame, profile).unwrap();
    let planner = get(|to, error| th!(create_planner(to, error))).unwrap();
    let options = PlanOptionsDesc {
        ladder: 1, // Off, for aliasing.
        ..sized()
    };
    let plan = c::plan(frame, profile, &options).unwrap();
    let arrangement = get(|to, error| th!(create_arrangement(plan, null(), to, error))).unwrap();
    let lowerer = get(|to, error| th!(create_lowerer(to, error))).unwrap();
    let desc = LowerDesc { plan, ..sized() };
    let _: Lowered = fill(|to, error| th!(lower(lowerer, &desc, to, error))).unwrap();
    let desc = AliasingDesc { plan, ..sized() };
    let aliasing = get(|to, error| th!(create_aliasing(&desc, to, error))).unwrap();
    let text = get(|to, error| th!(create_frame_text(frame, to, error))).unwrap();
    let error = get(|to, _| th!(create_error(to))).unwrap();
    Planned {
        profile,
        frame,
        requirements,
        planner,
        plan,
        arrangement,
        lowerer,
        aliasing,
        text,
        error,
    }
}

/// The type of a handle.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Type {
    Error,
    Text,
    Profile,
    Frame,
    Requirements,
    Planner,
    Plan,
    Arrangement,
    Lowerer,
    Aliasing,
    Additions,
    Device,
    DynamicFrame,
    Commands,
}

const TYPES: usize = Type::Commands as usize + 1;

impl Objects {
    pub(super) fn new(state: State) -> Objects {
        let engine = Engine::new(Config::modern());
        if state != State::Idle {
            engine.select().unwrap();
        }
        let mut commands = null_mut();
        if matches!(state, State::Recording | State::Commands) {
            let number = engine.begin().unwrap();
            if state == State::Commands {
                commands = engine.record(number, 0).unwrap();
            }
        }
        let of_device = additions(&engine.rig).unwrap();
        let live = planned();
        Objects {
            error: live.error,
            text: live.text,
            profile: live.profile,
            frame: live.frame,
            requirements: live.requirements,
            planner: live.planner,
            plan: live.plan,
            arrangement: live.arrangement,
            lowerer: live.lowerer,
            aliasing: live.aliasing,
            additions: of_device,
            commands: AtomicPtr::new(commands),
            engine,
        }
    }

    /// A handle of another type, null, an address, and a destroyed one.
    pub(super) fn wrong_handles<T>(&self, kind: Type) -> [(&'static str, *mut T); 4] {
        static DESTROYED: OnceLock<[usize; TYPES]> = OnceLock::new();
        let destroyed = DESTROYED.get_or_init(destroyed);
        let other = match kind {
            Type::Plan => self.frame.addr(),
            _ => self.plan.addr(),
        };
        [
            ("null", null_mut()),
            ("a handle of another type", without_provenance_mut(other)),
            (
                "an address",
                without_provenance_mut(std::ptr::from_ref(self).addr()),
            ),
            ("destroyed", without_provenance_mut(destroyed[kind as usize])),
        ]
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        let ignored = null_mut();
        discard_commands(self.commands.load(Ordering::Relaxed), ignored);
        discard_frame(self.engine.frame, ignored);
        destroy_dynamic_frame(self.engine.frame, ignored);
        let _ = th!(self.engine.rig.device.device_wait_idle());
        destroy_device(self.engine.device, ignored);
        destroy_device_additions(self.additions);
        destroy_aliasing(self.aliasing);
        destroy_lowerer(self.lowerer);
        destroy_arrangement(self.arrangement);
        destroy_plan(self.plan);
        destroy_planner(self.planner);
        destroy_requirements(self.requirements);
        destroy_frame(self.frame);
        destroy_profile(self.profile);
        destroy_text(self.text);
        destroy_error(self.error);
    }
}

/// Handles of objects that were destroyed, one of each type.
fn destroyed() -> [usize; TYPES] {
    let engine = Engine::new(Config::modern());
    engine.select().unwrap();
    let number = engine.begin().unwrap();
    let commands = engine.record(number, 0).unwrap();
    assert_eq!(discard_commands(commands, null_mut()), Status::Success);
    let of_device = additions(&engine.rig).unwrap();
    let (device, dynamic) = (engine.device, engine.frame);
    let old = planned();
    let statuses = [
        destroy_device_additions(of_device),
        destroy_aliasing(old.aliasing),
        destroy_lowerer(old.lowerer),
        destroy_arrangement(old.arrangement),
        destroy_plan(old.plan),
        destroy_planner(old.planner),
        destroy_requirements(old.requirements),
        destroy_frame(old.frame),
        destroy_profile(old.profile),
        destroy_text(old.text),
        destroy_error(old.error),
    ];
    assert_eq!(statuses, [Status::Success; 11]);
    engine.end();
    let mut handles = [0; TYPES];
    for (kind, handle) in [
        (Type::Error, old.error.addr()),
        (Type::Text, old.text.addr()),
        (Type::Profile, old.profile.addr()),
        (Type::Frame, old.frame.addr()),
        (Type::Requirements, old.requirements.addr()),
        (Type::Planner, old.planner.addr()),
        (Type::Plan, old.plan.addr()),
        (Type::Arrangement, old.arrangement.addr()),
        (Type::Lowerer, old.lowerer.addr()),
        (Type::Aliasing, old.aliasing.addr()),
        (Type::Additions, of_device.addr()),
        (Type::Device, device.addr()),
        (Type::DynamicFrame, dynamic.addr()),
        (Type::Commands, commands.addr()),
    ] {
        handles[kind as usize] = handle;
    }
    handles
}
