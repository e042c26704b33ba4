//! Aliasing only: for engines that track layouts and barriers themselves.

use tileheap::lower::tables::OptionalIndex;
use tileheap::lower::{self, AliasingRow, FamilyQueue, PreviousUser};

use crate::boundary::run;
use crate::enums::{FromNumber, ReportFormat};
use crate::handles::{Handle, object};
use crate::opaque::*;
use crate::queues::Queues;
use crate::status::Status;
use crate::structs::{self, begin, put, read, sized, write};
use crate::text::put_text;
use crate::vulkan::ReportFormatValue;
use tileheap::frame::Frame;
use tileheap::lower::Aliasing;

sized! { Input: AliasingDesc to plan; }
sized! { Output: AliasingArrays to tile_memory; }

object!(AliasingT, AliasingObject: Aliasing);

/// The previous users of each placement's bytes.
pub struct AliasingObject {
    pub(crate) frame: Frame,
    pub(crate) device_queues: Vec<FamilyQueue>,
    pub(crate) aliasing: Aliasing,
}

/// Inputs to `thCreateAliasing`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct AliasingDesc {
    /// `sizeof(ThAliasingDesc)`.
    pub struct_size: u32,
    /// The number of elements of `queues`: one for each queue that the frame declares, or 0 if one queue of family 0 runs them all.
    pub queue_count: u32,
    /// The device queue of each declared queue.
    pub queues: *const FamilyQueue,
    /// The plan. It must have been made with `TH_LADDER_OFF`, which is not the default, and without `TH_PLAN_FLAG_SPLIT`.
    pub plan: PlanHandle,
}

/// The previous users of each placement's bytes as arrays, valid until the object is destroyed.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct AliasingArrays {
    /// `sizeof(ThAliasingArrays)`.
    pub struct_size: u32,
    /// The number of elements of `placements`.
    pub placement_count: u32,
    /// The plan's placements in memory, in the order of their first passes. Create an image or a buffer for each placement.
    ///
    /// A history whose previous version is read has two placements, with the same first pass. The current version is in the first of
    /// `ThPlannedResource::placements` in even frames, and in the second in odd frames; the previous version is in the other one. The first frame is
    /// frame 0.
    pub placements: *const AliasingRow,
    /// The number of elements of `previous`.
    pub previous_count: u32,
    /// The number of elements of `deviceQueues`.
    pub device_queue_count: u32,
    /// Previous users; each row of `placements` has a run of them.
    pub previous: *const PreviousUser,
    /// The distinct device queues, which rows refer to by index.
    pub device_queues: *const FamilyQueue,
    /// The number of elements of `tileMemory`: one for each pass.
    pub tile_memory_count: u32,
    /// Zero.
    pub reserved: u32,
    /// Per pass of the planned frame, the tile memory object to bind, a row of `ThPlanArrays::objects`.
    pub tile_memory: *const OptionalIndex,
}

/// Lists the previous users of each placement's bytes, and the tile memory to bind in each pass, without layouts or barriers.
///
/// Fails with `TH_STATUS_ERROR_CANNOT_LOWER` if the options of the plan permit more than aliasing, if parts of an image are first used on several queues at
/// the same time, or if the number of queues differs from the number that the frame declares.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateAliasing")]
pub unsafe extern "C" fn create_aliasing(
    desc: *const AliasingDesc,
    aliasing: *mut AliasingHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateAliasing", error, || {
        // SAFETY: null or writable.
        unsafe { begin(aliasing, "aliasing") }?;
        // SAFETY: the caller's structure.
        let desc = unsafe { read(desc) }?;
        let plan = &desc.plan.get("ThAliasingDesc.plan")?.plan;
        // SAFETY: the caller's array.
        let queues = unsafe { Queues::new(desc.queues, desc.queue_count) };
        let queues = queues.map_err(|fault| fault.within("ThAliasingDesc"))?;
        let queues = queues.on_device(plan.frame.queues().len());
        let object = AliasingObject {
            aliasing: lower::aliasing(plan, &queues)?,
            frame: plan.frame.clone(),
            device_queues: queues.iter().collect(),
        };
        let handle = AliasingHandle::create(object)?;
        // SAFETY: not null; the caller lets it be written.
        unsafe { put(aliasing, handle, "aliasing") }
    })
}

/// Returns the previous users as arrays, which are valid until the object is destroyed.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thGetAliasing")]
pub unsafe extern "C" fn get_aliasing(
    aliasing: AliasingHandle,
    arrays: *mut AliasingArrays,
    error: ErrorHandle,
) -> Status {
    run("thGetAliasing", error, || {
        let object = aliasing.get("aliasing")?;
        let rows = &object.aliasing;
        let value = AliasingArrays {
            struct_size: 0,
            placement_count: rows.placements.len() as u32,
            placements: structs::rows(&rows.placements),
            previous_count: rows.previous.len() as u32,
            device_queue_count: object.device_queues.len() as u32,
            previous: structs::rows(&rows.previous),
            device_queues: structs::rows(&object.device_queues),
            tile_memory_count: rows.tile_memory.len() as u32,
            reserved: 0,
            tile_memory: structs::rows(&rows.tile_memory),
        };
        // SAFETY: null, or the caller's structure.
        unsafe { write(arrays, value) }
    })
}

/// Writes the previous users of each placement's bytes, as text or JSON. Destroy the text with `thDestroyText`.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateAliasingText")]
pub unsafe extern "C" fn create_aliasing_text(
    aliasing: AliasingHandle,
    format: ReportFormatValue,
    text: *mut TextHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateAliasingText", error, || {
        let object = aliasing.get("aliasing")?;
        let format = ReportFormat::from_number(format, "format")?;
        let written = || {
            Ok(match format {
                ReportFormat::Text => object.aliasing.text(&object.frame),
                ReportFormat::Json => object.aliasing.to_json(&object.frame),
            })
        };
        // SAFETY: null or writable.
        unsafe { put_text(text, written) }
    })
}

/// Destroys an aliasing object. A null handle is ignored.
///
/// Thread safety: no other thread may use the handle during the call.
#[unsafe(export_name = "thDestroyAliasing")]
pub extern "C" fn destroy_aliasing(aliasing: AliasingHandle) -> Status {
    run("thDestroyAliasing", std::ptr::null_mut(), || aliasing.destroy())
}
