//! Bind: creates images, views, buffers and memory for a plan.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ash::vk;

use super::bound_frame::{BoundFrame, FrameLowering, FrameObjects, RecordingState};
use super::capabilities::Capabilities;
use super::command_slot::CommandSlot;
use super::device_queue::DeviceQueue;
use super::device_state::{DeviceState, c_name};
use super::encoded_frame::{EncodedFrame, Encoding};
use super::error::{RuntimeError, RuntimeRule};
use super::owned::Guard;
use super::planning::DevicePlanner;
use super::pool::TimelineValues;
use super::queue_base::QueueBase;
use super::render_pass::{self, Framebuffers};
use super::resources::{self, Created, Creation, Handles};
use super::series::Series;
use super::store;
use super::submission::Submission;
use super::swapped_copies::SwappedCopies;
use super::timelines::Timelines;
use super::use_stamp::UseStamp;
use crate::frame::ResourceId;
use crate::frame::tables::HistoryVersion;
use crate::lower::tables::commands::PassContents;
use crate::lower::tables::instances::InstanceRow;
use crate::lower::tables::{DeviceQueueIndex, ImageOrBuffer};
use crate::lower::{
    DeviceQueues, FamilyQueue, Lowered, Lowerer, LoweringDesc, MemoryState, Parity, PipelineTargets,
};
use crate::measure::Requirements;
use crate::plan::{MemoryKind, Plan, PlanError, Runnable};
use crate::profile::DeviceProfile;
use crate::{Checked, Result};

/// Maximum number of attempts to create a frame's resources: after each attempt but the last, the frame is planned again if requirements have grown.
const ATTEMPTS: usize = 3;

/// Binds plans of frames on a device; contains the inputs other than the plan.
pub(super) struct Binder<'a> {
    pub(super) state: &'a Arc<DeviceState>,
    pub(super) planner: &'a DevicePlanner,
    pub(super) timelines: &'a Arc<Timelines>,
    /// Per queue of the frame, the device queue that runs it.
    pub(super) queues: Vec<DeviceQueue>,
    /// The series that the bound frame will belong to.
    pub(super) series: &'a Arc<Series>,
    /// The histories whose second copy is used first.
    pub(super) swapped: &'a [ResourceId],
}

impl Binder<'_> {
    /// Binds the only frame of a new series, and lowers its next frames in advance.
    pub(super) fn bind_ahead(self, plan: &Arc<Checked<Plan>>) -> Result<BoundFrame> {
        let mut bound = self.bind(plan)?;
        match bound.lower_ahead() {
            Ok(()) => {
                bound.name_objects();
                Ok(bound)
            }
            Err(error) => {
                // SAFETY: nothing was submitted with it.
                unsafe { bound.destroy() };
                Err(error)
            }
        }
    }

    /// Binds a frame; its objects do not have their debug names yet.
    pub(super) fn bind(self, plan: &Arc<Checked<Plan>>) -> Result<BoundFrame> {
        let _span = tracing::info_span!("bind", frame = plan.frame.name()).entered();
        let state = self.state;
        check_plan(state, plan)?;
        let family_queue = |queue: &DeviceQueue| FamilyQueue {
            family: queue.family,
            index: self.timelines.number_of(queue) as u32,
        };
        let queues = DeviceQueues::new(&self.queues.iter().map(family_queue).collect::<Vec<_>>());
        if queues.len() > 1 && state.functions.timeline_semaphore.is_none() {
            let frame = plan.frame.name().to_owned();
            return Err(RuntimeRule::QueuesWithoutTimelines.broken(format!(
                "frame `{frame}` is bound to several device queues, which needs timeline \
                 semaphores: enable them, or bind it to one queue"
            )));
        }
        let mut plan = plan.clone();
        for attempt in 1.. {
            let first = LoweringDesc::first(queues.clone());
            let tables = self.planner.lower(&plan, &first)?;
            self.check_clears(&plan, &tables)?;
            let mut guard = Guard::new(state.clone());
            let number = state.pool.lock().next_number();
            guard.owned.lease.number = number;
            let creation = Creation {
                state,
                plan: &plan,
                tables: &tables,
                borrower: self.series.borrower,
                families: &self.series.families,
                swapped: self.swapped,
            };
            match resources::create(&creation, &mut guard.owned)? {
                Created::All(handles) => return self.complete(number, plan, first, tables, guard, handles),
                Created::Grown { requirements, error } if attempt < ATTEMPTS => {
                    tracing::info!(reason = %error, "replanning");
                    let requirements = Arc::new(input_requirements(&plan, requirements));
                    let runnable = Runnable::new(&plan.input, &state.profile)?;
                    plan = self.planner.plan(runnable, &requirements, &plan.options)?;
                }
                Created::Grown { error, .. } => return Err(error),
            }
        }
        unreachable!("the last attempt always returns")
    }

    /// Returns an error if a history's first contents would be cleared on a queue that cannot clear them.
    fn check_clears(&self, plan: &Plan, tables: &Lowered) -> Result<()> {
        for commands in &tables.command_buffers {
            let declared = plan.frame.command_buffers()[commands.commands.index()].batch;
            let submit = plan.frame.batches()[declared.index()].submit;
            let queue = self.queues[plan.frame.submits()[submit.index()].queue.index()];
            for pass in commands.passes.of(&tables.passes) {
                let clear = pass.row.get().filter(|_| pass.contents == PassContents::Clear);
                let object = clear.map(|row| tables.clears[row as usize].object.get());
                let Some(ImageOrBuffer::Image(image)) = object else {
                    continue;
                };
                let row = &tables.images[image as usize];
                let color = crate::format::aspects(row.format).contains(vk::ImageAspectFlags::COLOR);
                let needed = if color {
                    vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE
                } else {
                    vk::QueueFlags::GRAPHICS
                };
                if !queue.capabilities.intersects(needed) {
                    let why = format!(
                        "it must be cleared before its first use, but the queue that uses it first does not support {needed:?}"
                    );
                    let resource = plan.frame.resource(row.resource).name.clone();
                    return Err(RuntimeError::Unsupported { resource, why }.into());
                }
            }
        }
        Ok(())
    }

    /// Completes the bound frame after its resources are created.
    fn complete(
        self,
        number: u64,
        plan: Arc<Checked<Plan>>,
        lowering_desc: LoweringDesc,
        first: Checked<Lowered>,
        mut guard: Guard,
        handles: Handles,
    ) -> Result<BoundFrame> {
        let state = self.state;
        let owned = &mut guard.owned;
        let render_passes = render_passes(state, &plan, &first)?;
        let mut accesses = plan.frame.accesses().iter();
        let parities = 1 + usize::from(accesses.any(|access| access.version == HistoryVersion::Previous));
        let mut framebuffers = Framebuffers::default();
        let mut with = Encoding {
            state,
            plan: &plan,
            owned,
            handles: &handles,
            framebuffers: &mut framebuffers,
            render_passes: &render_passes,
        };
        let (parity, before) = (lowering_desc.parity, lowering_desc.before.clone());
        let first = EncodedFrame::new(parity, before, first, &mut with)?;
        let tables: &Lowered = &first.tables;
        let copies = match parities {
            2 => SwappedCopies::new(&plan, tables, &handles, state)?,
            _ => SwappedCopies::default(),
        };
        let targets = PipelineTargets::new(&plan, tables, |row| render_passes[row as usize]);
        let stores = store::create(
            state,
            &plan,
            owned,
            &targets,
            (&first, &copies, parities),
            &handles,
        )?;
        let bases = self.bases(&lowering_desc.queues, tables);
        let submission = Submission::new(state, &plan, tables, owned)?;
        let mut labels = Vec::new();
        if state.functions.debug_utils.is_some() {
            labels.extend(plan.frame.passes().iter().map(|pass| c_name(&pass.name)));
        }
        let slots = plan.frame.command_buffers().iter();
        let passes = || plan.frame.passes().iter();
        let mut objects = plan.objects.iter();
        tracing::info!(
            objects = plan.objects.len(),
            images = handles.images.len(),
            buffers = handles.buffers.len(),
            "bound"
        );
        Ok(BoundFrame {
            state: state.clone(),
            timelines: self.timelines.clone(),
            bases,
            lowering: FrameLowering {
                lowerer: Lowerer::default(),
                lowering_desc,
                last_state: MemoryState::default(),
                encoded: vec![first],
            },
            objects: FrameObjects {
                handles,
                framebuffers,
                render_passes,
                copies,
                stores,
            },
            recording: RecordingState {
                slots: slots.map(|_| CommandSlot::default()).collect(),
                areas: passes().map(|pass| Some(pass.area)).collect(),
                skipped: passes().map(|_| AtomicBool::new(false)).collect(),
            },
            uses_tile: objects.any(|object| object.memory == MemoryKind::Tile),
            parities,
            targets,
            labels,
            number,
            next_parity: Parity::Even,
            stamp: UseStamp::default(),
            takeover_waits: TimelineValues::new(),
            series: self.series.clone(),
            submission,
            owned: Some(guard.keep()),
            queues: self.queues,
            plan,
        })
    }

    /// Per device queue that runs any of the frame's queues, its timeline and the numbers of batches on it.
    fn bases(&self, queues: &DeviceQueues, tables: &Lowered) -> Vec<QueueBase> {
        let states = self.timelines.lock();
        let base = |(index, queue): (u32, FamilyQueue)| {
            let submits = tables.submits.iter();
            let mine = submits.filter(|submit| submit.queue == DeviceQueueIndex(index));
            let number = queue.index as usize;
            QueueBase {
                number,
                semaphore: self.timelines.semaphore(number),
                batches: mine.map(|submit| submit.batches.len() as u64).sum(),
                submitted_at_begin: states[number].submitted,
                ..QueueBase::default()
            }
        };
        (0..).zip(queues.iter()).map(base).collect()
    }
}

/// Returns an error if a plan cannot run on a device.
pub(super) fn check_plan(state: &DeviceState, plan: &Checked<Plan>) -> Result<()> {
    if plan.profile != state.profile {
        if let Some(what) = profile_difference(&plan.profile, &state.profile) {
            let (planned, device) = (plan.profile.name.clone(), state.profile.name.clone());
            return Err(RuntimeRule::OtherDevice.broken(format!(
                "the plan was made for `{planned}`, but this device, `{device}`, has different {what}: plan with \
                 Device::plan"
            )));
        }
        plan.frame.check_on(&state.profile).map_err(PlanError::from)?;
    }
    state.check_hooks(plan)
}

/// The first property in which two devices differ, of those that plans depend on. All other properties only determine which frames a device can run.
pub(super) fn profile_difference(one: &DeviceProfile, other: &DeviceProfile) -> Option<&'static str> {
    let (own, others) = (&one.limits, &other.limits);
    let same = [
        (one.heaps == other.heaps, "memory heaps"),
        (one.memory_types == other.memory_types, "memory types"),
        (one.tile == other.tile, "tile memory"),
        (one.merge == other.merge, "limits of merged passes"),
        (
            own.buffer_image_granularity == others.buffer_image_granularity,
            "bufferImageGranularity",
        ),
        (
            own.max_allocation == others.max_allocation,
            "maxMemoryAllocationSize",
        ),
        // Determines which passes of several subpasses are render pass objects.
        (
            own.max_color_attachments == others.max_color_attachments,
            "maxColorAttachments",
        ),
        (one.features == other.features, "features"),
    ];
    let different = same.into_iter().find(|(same, _)| !same);
    different.map(|(_, what)| what)
}

/// The requirements of the input's resources, from those of the executed frame after they have grown: in the input, all parts of a split lifetime are
/// one resource.
fn input_requirements(plan: &Plan, mut grown: Requirements) -> Requirements {
    for store in plan.stores() {
        let stretch = grown.resources[store.from.index()];
        grown.resources[store.to.index()].tile = stretch.tile;
    }
    grown.resources.truncate(plan.input.frame().resources().len());
    grown
}

/// The render pass object of each row of instances; null for dynamic rendering.
pub(super) fn render_passes(
    state: &DeviceState,
    plan: &Plan,
    tables: &Lowered,
) -> Result<Vec<vk::RenderPass>> {
    let create = |(index, row): (u32, &InstanceRow)| {
        if row.dynamic {
            return Ok(vk::RenderPass::null());
        }
        let name = &plan.frame.pass(row.pass).name;
        let reason = match state.capabilities.contains(Capabilities::DYNAMIC_RENDERING) {
            true => "local read does not cover its subpasses",
            false => "no dynamic rendering",
        };
        tracing::debug!(pass = name, reason, "recorded as a render pass object");
        render_pass::create(state, name, tables, index)
    };
    (0..).zip(&tables.instances).map(create).collect()
}
