//! Plans: creation, rows and queries.

use std::sync::{Arc, OnceLock};

use ash::vk;
use tileheap::Checked;
use tileheap::frame::ResourceId;
use tileheap::plan::{DEFAULT_BUDGET, MemoryKind, Plan, PlanOptions, Planner, plan};
use tileheap::units::{Bytes, Run};

use crate::boundary::run;
use crate::describe::at;
use crate::enums::{FromNumber, Ladder, PlanFlag, PlanMode, ReportFormat, Strategy, known_bits};
use crate::frame::FrameObject;
use crate::handles::{Exclusive, Handle, object};
use crate::opaque::*;
use crate::status::{Fault, Status};
use crate::strings::{StringView, view};
use crate::structs::{self, begin, need, put, read, read_optional, sized, write};
use crate::text::put_text;
use crate::vulkan::{LadderValue, PlanFlags, PlanModeValue, ReportFormatValue, StrategyValue};

sized! { Input: PlanOptionsDesc to tile_limit; PlanDesc to options; }
sized! { Output: PlanArrays to passes; PlanTotals to charged_bytes; }

object!(PlannerT, PlannerObject: Planner);
object!(PlanT, PlanObject: Plan);

/// A planner; only one call at a time may use it.
#[derive(Default)]
pub struct PlannerObject {
    pub(crate) planner: Exclusive<Planner>,
}

/// A plan, and the data that C reads from it.
pub struct PlanObject {
    pub(crate) plan: Arc<Checked<Plan>>,
    /// The arrays that C reads; filled when first read.
    pub(crate) rows: OnceLock<PlanRows>,
    /// The reason for each resource's placement, in words; filled when first read.
    pub(crate) reasons: OnceLock<Vec<String>>,
}

/// Planning options. All zeros are the defaults.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct PlanOptionsDesc {
    /// `sizeof(ThPlanOptionsDesc)`.
    pub struct_size: u32,
    /// The strategy that chooses the resources in tile memory.
    pub strategy: StrategyValue,
    /// Use of several tile memory objects for overlapping lifetimes.
    pub ladder: LadderValue,
    /// Bits of `ThPlanFlag`.
    pub flags: PlanFlags,
    /// The maximum number of steps of the search; 0 for the default of 2,000, which take about a millisecond for a frame of 256 passes.
    pub budget: u64,
    /// The cost of each bin that reserving tile memory adds to a render pass, in bytes of traffic; 0 for the model's cost. It must be 0 with
    /// `TH_PLAN_FLAG_NO_BIN_COST`.
    pub bin_cost: u64,
    /// The maximum number of bytes of the tile heap that may be bound; 0 for all of it.
    pub tile_limit: u64,
}

/// Inputs to planning.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct PlanDesc {
    /// `sizeof(ThPlanDesc)`.
    pub struct_size: u32,
    /// Reuse of the planner's earlier plans. Ignored without a planner.
    pub mode: PlanModeValue,
    /// The frame.
    pub frame: FrameHandle,
    /// The memory requirements of the frame's resources.
    pub requirements: RequirementsHandle,
    /// The profile of the device.
    pub profile: ProfileHandle,
    /// A planner, which remembers the plan, or null.
    pub planner: PlannerHandle,
    /// Options, or null for the defaults.
    pub options: *const PlanOptionsDesc,
}

/// The placements of a resource.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct PlannedResource {
    /// The placements of the resource, a run of `ThPlanArrays::placements`: none if it is unused, two for a history resource whose previous version
    /// is read, one for each memory object if a tile resident has several. The first placement of such a history has its current version in even
    /// frames and its previous one in odd frames; the second has the other version.
    pub placements: Run,
}

/// A resource at an offset of a memory object, for some passes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct PlannedPlacement {
    /// The index of the resource.
    pub resource: u32,
    /// The kind of memory; `TH_MEMORY_KIND_DEDICATED` also for external resources, whose memory is the caller's.
    pub memory: MemoryKind,
    /// The memory object, a row of `ThPlanArrays::objects`; `TH_NONE` for external resources.
    pub object: u32,
    /// The first pass in which the bytes are occupied.
    pub first_pass: u32,
    /// One past the last pass in which the bytes are occupied.
    pub end_pass: u32,
    /// Zero.
    pub reserved: u32,
    /// The offset in the memory object, in bytes.
    pub offset: u64,
    /// The size in the memory object, in bytes.
    pub size: u64,
}

/// A memory object.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct PlannedObject {
    /// The kind of memory.
    pub memory: MemoryKind,
    /// The index of the memory type.
    pub memory_type: u32,
    /// Size in bytes. Every tile memory object starts at offset 0 of the tile heap, so tile memory objects overlap.
    pub size: u64,
}

/// A pass of the planned frame, with the tile memory that is bound in it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct PlannedPass {
    /// The tile memory object that is bound, a row of `ThPlanArrays::objects`; `TH_NONE` for none.
    pub tile_memory: u32,
    /// The pass of the frame that was given to `thCreatePlan`; for a store, which copies out of tile memory, the pass before the store.
    pub described_pass: u32,
    /// The bytes of tile residents alive in the pass.
    pub live_tile: u64,
}

/// A plan as arrays, valid until the plan is destroyed.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct PlanArrays {
    /// `sizeof(ThPlanArrays)`.
    pub struct_size: u32,
    /// The number of elements of `resources`.
    pub resource_count: u32,
    /// Per resource of the planned frame, its placements.
    pub resources: *const PlannedResource,
    /// The number of elements of `placements`.
    pub placement_count: u32,
    /// The number of elements of `objects`.
    pub object_count: u32,
    /// Placements in memory.
    pub placements: *const PlannedPlacement,
    /// Memory objects.
    pub objects: *const PlannedObject,
    /// The number of elements of `passes`.
    pub pass_count: u32,
    /// Zero.
    pub reserved: u32,
    /// Per pass of the planned frame, the tile memory that is bound.
    pub passes: *const PlannedPass,
}

/// Sums over a planned frame, in bytes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct PlanTotals {
    /// `sizeof(ThPlanTotals)`.
    pub struct_size: u32,
    /// `VK_TRUE` if it is proved that no choice of tile residents saves more than this one.
    pub proved: vk::Bool32,
    /// The traffic of all resources with nothing in tile memory: the bytes that each access touches.
    pub traffic_bytes: u64,
    /// The part of `trafficBytes` that the executed frame does not move, or moves for resources that the rules allow in tile memory, whether they fit or not; with `TH_STRATEGY_OFF`, only the traffic that merged passes save.
    pub eligible_bytes: u64,
    /// The part of `trafficBytes` that stays on chip.
    pub on_chip_bytes: u64,
    /// The traffic on the memory bus in a frame.
    pub dram_bytes: u64,
    /// Total size of all shared blocks in ordinary memory.
    pub arena_bytes: u64,
    /// The total size of ordinary memory that the same resources would need if they did not share it.
    pub arena_bytes_without_aliasing: u64,
    /// The size of the largest tile memory object.
    pub tile_bytes: u64,
    /// The maximum number of bytes alive at once in tile memory.
    pub tile_peak_live: u64,
    /// The charges of an arranged frame for repeated passes, merged passes and halos; they do not count as traffic kept on chip.
    pub charged_bytes: u64,
}

/// The arrays of a plan, which C reads.
pub struct PlanRows {
    resources: Vec<PlannedResource>,
    placements: Vec<PlannedPlacement>,
    objects: Vec<PlannedObject>,
    passes: Vec<PlannedPass>,
}

impl PlanRows {
    fn of(plan: &Plan) -> PlanRows {
        let index =
            |object: Option<tileheap::plan::ObjectId>| object.map_or(u32::MAX, |one| one.index() as u32);
        let placements = plan.placements.iter().map(|placement| PlannedPlacement {
            resource: placement.resource.index() as u32,
            memory: placement.memory,
            object: index(placement.object),
            first_pass: placement.span.first.0,
            end_pass: placement.span.end.0,
            reserved: 0,
            offset: placement.offset.0,
            size: placement.size.0,
        });
        let objects = plan.objects.iter().map(|object| PlannedObject {
            memory: object.memory,
            memory_type: object.memory_type,
            size: object.size.0,
        });
        let passes = plan.frame.pass_ids().zip(&plan.passes);
        let passes = passes.map(|(id, pass)| PlannedPass {
            tile_memory: index(pass.bound_object),
            described_pass: plan.input_pass(id).index() as u32,
            live_tile: pass.live_tile.0,
        });
        let resources = plan.resources.iter().map(|resource| PlannedResource {
            placements: resource.placements,
        });
        PlanRows {
            resources: resources.collect(),
            placements: placements.collect(),
            objects: objects.collect(),
            passes: passes.collect(),
        }
    }
}

impl PlanObject {
    pub(crate) fn new(plan: Arc<Checked<Plan>>) -> PlanObject {
        PlanObject {
            plan,
            rows: OnceLock::new(),
            reasons: OnceLock::new(),
        }
    }
}

/// Creates a planner.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreatePlanner")]
pub unsafe extern "C" fn create_planner(planner: *mut PlannerHandle, error: ErrorHandle) -> Status {
    run("thCreatePlanner", error, || {
        // SAFETY: null or writable.
        unsafe { begin(planner, "planner") }?;
        let handle = PlannerHandle::create(PlannerObject::default())?;
        // SAFETY: not null; the caller lets it be written.
        unsafe { put(planner, handle, "planner") }
    })
}

/// Destroys a planner. Its plans stay valid. A null handle is ignored.
///
/// Thread safety: no other thread may use the handle during the call.
#[unsafe(export_name = "thDestroyPlanner")]
pub extern "C" fn destroy_planner(planner: PlannerHandle) -> Status {
    run("thDestroyPlanner", std::ptr::null_mut(), || planner.destroy())
}

/// Plans a frame: the placement of every resource, and the tile memory that is bound in each pass.
///
/// Fails with `TH_STATUS_ERROR_CANNOT_PLAN` if the frame cannot be planned for the device; the message names the resource and the rule. A
/// resource that does not fit into tile memory is not an error: it is placed in ordinary memory, and `thGetPlacementReason` says why.
///
/// Thread safety: may be called by several threads at once, with different planners.
#[unsafe(export_name = "thCreatePlan")]
pub unsafe extern "C" fn create_plan(
    desc: *const PlanDesc,
    plan: *mut PlanHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreatePlan", error, || {
        // SAFETY: null or writable.
        unsafe { begin(plan, "plan") }?;
        // SAFETY: the caller's structure.
        let desc = unsafe { read(desc) }?;
        // SAFETY: null, or the caller's structure.
        let options = match unsafe { read_optional(desc.options) }? {
            Some(options) => options_of(&options)?,
            None => PlanOptions::default(),
        };
        let made = make(&desc, &options)?;
        let handle = PlanHandle::create(PlanObject::new(made))?;
        // SAFETY: not null; the caller lets it be written.
        unsafe { put(plan, handle, "plan") }
    })
}

fn make(desc: &PlanDesc, options: &PlanOptions) -> Result<Arc<Checked<Plan>>, Fault> {
    let frame = desc.frame.get("ThPlanDesc.frame")?;
    let requirements = desc.requirements.get("ThPlanDesc.requirements")?;
    let profile = desc.profile.get("ThPlanDesc.profile")?;
    let planner = desc.planner.get_if_any("ThPlanDesc.planner")?;
    let mode = PlanMode::from_number(desc.mode, "ThPlanDesc.mode")?;
    requirements.check_inputs(&frame.frame, &profile.profile)?;
    let (frame, requirements, profile) = (&frame.executed, &requirements.requirements, &profile.profile);
    let Some(planner) = planner else {
        return Ok(Arc::new(plan(frame, requirements, profile, options)?));
    };
    let mut planner = planner.planner.lock("ThPlanDesc.planner")?;
    let made = match mode {
        PlanMode::Plan => planner.plan(frame, requirements, profile, options),
        PlanMode::Now => planner.plan_now(frame, requirements, profile, options),
        PlanMode::Improve => planner.improve(frame, requirements, profile, options),
    };
    Ok(made?)
}

pub(crate) fn options_of(desc: &PlanOptionsDesc) -> Result<PlanOptions, Fault> {
    chosen(desc).map_err(|fault| fault.within("ThPlanOptionsDesc"))
}

fn chosen(desc: &PlanOptionsDesc) -> Result<PlanOptions, Fault> {
    let flags = [
        PlanFlag::NoAliasing,
        PlanFlag::NoLazyMemory,
        PlanFlag::Split,
        PlanFlag::NoBinCost,
    ];
    let all = flags.iter().fold(0, |all, flag| all | *flag as u32);
    known_bits(desc.flags, all, "ThPlanFlag", "flags")?;
    let has = |flag: PlanFlag| desc.flags & flag as u32 != 0;
    if has(PlanFlag::NoBinCost) && desc.bin_cost > 0 {
        let message = format!(
            "is {}, but flags has TH_PLAN_FLAG_NO_BIN_COST: set only one of them",
            desc.bin_cost
        );
        return Err(Fault::argument(message).within("binCost"));
    }
    let defaults = PlanOptions::default();
    Ok(PlanOptions {
        strategy: Strategy::from_number(desc.strategy, "strategy")?.into(),
        ladder: Ladder::from_number(desc.ladder, "ladder")?.into(),
        aliasing: !has(PlanFlag::NoAliasing),
        lazy: !has(PlanFlag::NoLazyMemory),
        split: has(PlanFlag::Split),
        budget: if desc.budget == 0 {
            DEFAULT_BUDGET
        } else {
            desc.budget
        },
        bin_cost: match (has(PlanFlag::NoBinCost), desc.bin_cost) {
            (true, _) => Bytes::ZERO,
            (false, 0) => defaults.bin_cost,
            (false, cost) => Bytes(cost),
        },
        tile_limit: Some(Bytes(desc.tile_limit)).filter(|limit| *limit > Bytes::ZERO),
        ..defaults
    })
}

/// Returns the arrays of a plan, which are valid until it is destroyed.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thGetPlan")]
pub unsafe extern "C" fn get_plan(plan: PlanHandle, arrays: *mut PlanArrays, error: ErrorHandle) -> Status {
    run("thGetPlan", error, || {
        let object = plan.get("plan")?;
        let rows = object.rows.get_or_init(|| PlanRows::of(&object.plan));
        let value = PlanArrays {
            struct_size: 0,
            resource_count: rows.resources.len() as u32,
            resources: structs::rows(&rows.resources),
            placements: structs::rows(&rows.placements),
            placement_count: rows.placements.len() as u32,
            object_count: rows.objects.len() as u32,
            objects: structs::rows(&rows.objects),
            passes: structs::rows(&rows.passes),
            pass_count: rows.passes.len() as u32,
            reserved: 0,
        };
        // SAFETY: null, or the caller's structure.
        unsafe { write(arrays, value) }
    })
}

/// Returns the totals of a plan, in bytes.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thGetPlanTotals")]
pub unsafe extern "C" fn get_plan_totals(
    plan: PlanHandle,
    totals: *mut PlanTotals,
    error: ErrorHandle,
) -> Status {
    run("thGetPlanTotals", error, || {
        let object = plan.get("plan")?;
        let plan = &object.plan;
        let sums = &plan.totals;
        let value = PlanTotals {
            struct_size: 0,
            proved: plan.optimality.is_some_and(|found| found.is_proved()).into(),
            traffic_bytes: sums.traffic_bytes.0,
            eligible_bytes: sums.eligible_bytes.0,
            on_chip_bytes: sums.on_chip_bytes.0,
            dram_bytes: plan.dram_traffic().0,
            arena_bytes: sums.arena_bytes.0,
            arena_bytes_without_aliasing: sums.arena_bytes_without_aliasing.0,
            tile_bytes: sums.tile_bytes.0,
            tile_peak_live: sums.tile_peak_live.0,
            charged_bytes: sums.charged_bytes.0,
        };
        // SAFETY: null, or the caller's structure.
        unsafe { write(totals, value) }
    })
}

/// Creates the frame that a plan is for; destroy it with `thDestroyFrame`. It includes the passes that copy out of tile memory, if lifetimes are
/// split. Indices in the arrays of plans and tables are those of this frame.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreatePlannedFrame")]
pub unsafe extern "C" fn create_planned_frame(
    plan: PlanHandle,
    frame: *mut FrameHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreatePlannedFrame", error, || {
        // SAFETY: null or writable.
        unsafe { begin(frame, "frame") }?;
        let object = plan.get("plan")?;
        let handle = FrameHandle::create(FrameObject::new(object.plan.executed()))?;
        // SAFETY: not null; the caller lets it be written.
        unsafe { put(frame, handle, "frame") }
    })
}

/// Returns why a resource is placed where it is, in words, with a remedy if it is not on chip. The string is valid until the plan is destroyed.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thGetPlacementReason")]
pub unsafe extern "C" fn get_placement_reason(
    plan: PlanHandle,
    resource: u32,
    reason: *mut StringView,
    error: ErrorHandle,
) -> Status {
    run("thGetPlacementReason", error, || {
        let object = plan.get("plan")?;
        let plan = &object.plan;
        let ids: Vec<ResourceId> = plan.frame.resource_ids().collect();
        let id = at(&ids, resource, "resource")?;
        let reasons = object
            .reasons
            .get_or_init(|| ids.iter().map(|id| plan.reason_text(*id)).collect());
        // SAFETY: null or writable.
        unsafe { put(reason, view(&reasons[id.index()]), "reason") }
    })
}

/// Returns whether two plans are equal: a planner returns an equal plan for a frame that has not changed, and everything that was created for
/// the first one can stay.
///
/// Plans that the same planner returned for equal inputs are compared by identity, others by their contents.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thComparePlans")]
pub unsafe extern "C" fn compare_plans(
    plan: PlanHandle,
    other: PlanHandle,
    equal: *mut vk::Bool32,
    error: ErrorHandle,
) -> Status {
    run("thComparePlans", error, || {
        let (plan, other) = (&plan.get("plan")?.plan, &other.get("other")?.plan);
        let same = Arc::ptr_eq(plan, other) || plan == other;
        // SAFETY: null or writable.
        unsafe { put(equal, same.into(), "equal") }
    })
}

/// Adds a plan that was made elsewhere, for example on another thread, to a planner, which then returns it for the same inputs. `adopted` is false if
/// the planner already has one that is proved to be no worse.
///
/// Thread safety: a planner may be used by one call at a time.
#[unsafe(export_name = "thAdoptPlan")]
pub unsafe extern "C" fn adopt_plan(
    planner: PlannerHandle,
    plan: PlanHandle,
    adopted: *mut vk::Bool32,
    error: ErrorHandle,
) -> Status {
    run("thAdoptPlan", error, || {
        need(adopted, "adopted")?;
        let (planner, plan) = (planner.get("planner")?, plan.get("plan")?);
        let taken = planner.planner.lock("planner")?.adopt(plan.plan.clone());
        // SAFETY: not null; the caller lets it be written.
        unsafe { put(adopted, taken.into(), "adopted") }
    })
}

/// Checks a plan against the rules of the specification, independently of how it was created.
///
/// Fails with `TH_STATUS_ERROR_CHECK_FAILED` if it breaks a rule; the message names the rule and the resources.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCheckPlan")]
pub extern "C" fn check_plan(plan: PlanHandle, error: ErrorHandle) -> Status {
    run("thCheckPlan", error, || Ok(plan.get("plan")?.plan.check()?))
}

/// Writes a plan: as text, with the placement of every resource, the reasons, and the tile heap drawn, or as JSON. Destroy the text with
/// `thDestroyText`.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreatePlanText")]
pub unsafe extern "C" fn create_plan_text(
    plan: PlanHandle,
    format: ReportFormatValue,
    text: *mut TextHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreatePlanText", error, || {
        let object = plan.get("plan")?;
        let format = ReportFormat::from_number(format, "format")?;
        let written = || {
            Ok(match format {
                ReportFormat::Text => object.plan.to_string(),
                ReportFormat::Json => object.plan.to_json(),
            })
        };
        // SAFETY: null or writable.
        unsafe { put_text(text, written) }
    })
}

/// Destroys a plan. Tables and arrangements that were made from it keep what they need. A null handle is ignored.
///
/// Thread safety: no other thread may use the handle during the call.
#[unsafe(export_name = "thDestroyPlan")]
pub extern "C" fn destroy_plan(plan: PlanHandle) -> Status {
    run("thDestroyPlan", std::ptr::null_mut(), || plan.destroy())
}
