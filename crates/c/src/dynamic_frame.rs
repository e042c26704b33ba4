//! Dynamic frames: creating, selecting and destroying them.

use ash::vk;
use tileheap::plan::PlanOptions;

use crate::boundary::run;
use crate::enums::{FromNumber, Parity, PlanMode};
use crate::frame_desc::FrameDesc;
use crate::frame_object::{DynamicFrameObject, FrameState, Phase, destroyed};
use crate::handles::Handle;
use crate::opaque::*;
use crate::plan::{PlanOptionsDesc, options_of};
use crate::status::{Fault, Status};
use crate::structs::{begin, check_output, put, read, read_optional, sized, write};
use crate::vulkan::PlanModeValue;

sized! { Input: DynamicFrameDesc to options; }
sized! { Output: SelectedFrame to resource_count; }

/// Parameters of a dynamic frame.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct DynamicFrameDesc {
    /// `sizeof(ThDynamicFrameDesc)`.
    pub struct_size: u32,
    /// `TH_PLAN_MODE_PLAN`, or `TH_PLAN_MODE_NOW` to plan new descriptions at once, without waiting for the search.
    pub mode: PlanModeValue,
    /// The device.
    pub device: DeviceHandle,
    /// Planning options, or null for the defaults.
    pub options: *const PlanOptionsDesc,
}

/// The frame that was selected.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SelectedFrame {
    /// `sizeof(ThSelectedFrame)`.
    pub struct_size: u32,
    /// The parity of this frame, which selects the current copy of each history resource.
    pub parity: Parity,
    /// Identifies the images and buffers bound for the description: a key for descriptor sets. Numbers are not reused on the device. A description
    /// gets a new number if its memory was replaced, and may get one if it was not selected for 1024 frames. Objects of an old number are destroyed
    /// once the device has completed the frames that use them.
    pub bound: u64,
    /// The number of passes of the description.
    pub pass_count: u32,
    /// The number of command buffers.
    pub command_buffer_count: u32,
    /// The number of queues.
    pub queue_count: u32,
    /// The number of resources.
    pub resource_count: u32,
}

/// A frame to select: a description, or a frame that was created before.
enum Source {
    Described(*const FrameDesc),
    Created(FrameHandle),
}

/// Selects a frame.
///
/// # Safety
/// A description in `source` is valid, as `thSelectFrame` requires.
unsafe fn select(object: &DynamicFrameObject, source: Source) -> Result<SelectedFrame, Fault> {
    let mut state = object.exclusive()?;
    let FrameState {
        frame,
        phase,
        description,
        ..
    } = &mut *state;
    let frame = frame.as_mut().ok_or_else(destroyed)?;
    if let Phase::Recording(_) = phase {
        return Err(Fault::state(
            "a frame is being recorded: call thSubmitFrame or thDiscardFrame first",
        ));
    }
    *phase = Phase::None;
    let now = object.mode == PlanMode::Now;
    let selected = match source {
        Source::Described(desc) => {
            // SAFETY: the caller's description.
            unsafe { description.fill(desc) }?;
            match now {
                true => frame.select_now(&description.builder),
                false => frame.select(&description.builder),
            }
        }
        Source::Created(created) => {
            let created = created.get("created")?;
            match now {
                true => frame.select_executed_now(&created.executed),
                false => frame.select_executed(&created.executed),
            }
        }
    }?;
    *phase = Phase::Selected;
    let described = selected.plan().input.frame();
    Ok(SelectedFrame {
        struct_size: 0,
        parity: selected.parity().into(),
        bound: selected.number(),
        pass_count: described.passes().len() as u32,
        command_buffer_count: described.command_buffers().len() as u32,
        queue_count: described.queues().len() as u32,
        resource_count: described.resources().len() as u32,
    })
}

/// Selects a frame, and writes the result to `selected`.
///
/// # Safety
/// A description in `source` and `selected` are valid, as `thSelectFrame` requires.
unsafe fn select_and_write(
    function: &'static str,
    frame: DynamicFrameHandle,
    source: Source,
    selected: *mut SelectedFrame,
    error: ErrorHandle,
) -> Status {
    run(function, error, || {
        // SAFETY: null, or the caller's structure.
        unsafe { check_output(selected) }?;
        let object = frame.get("frame")?;
        // SAFETY: the caller's description.
        let value = unsafe { select(&object, source) }?;
        // SAFETY: the caller's structure.
        unsafe { write(selected, value) }
    })
}

/// Creates a dynamic frame, whose description may change from frame to frame.
/// Each description is planned and bound once; all of them share blocks of memory, and
/// images and buffers that are identical.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateDynamicFrame")]
pub unsafe extern "C" fn create_dynamic_frame(
    desc: *const DynamicFrameDesc,
    frame: *mut DynamicFrameHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateDynamicFrame", error, || {
        // SAFETY: null or writable.
        unsafe { begin(frame, "frame") }?;
        // SAFETY: the caller's structure.
        let desc = unsafe { read(desc) }?;
        // SAFETY: null, or the caller's structure.
        let options = match unsafe { read_optional(desc.options) }? {
            Some(options) => options_of(&options)?,
            None => PlanOptions::default(),
        };
        let mode = PlanMode::from_number(desc.mode, "ThDynamicFrameDesc.mode")?;
        if mode == PlanMode::Improve {
            let message = "is TH_PLAN_MODE_IMPROVE, which dynamic frames do not support: use TH_PLAN_MODE_PLAN or TH_PLAN_MODE_NOW";
            return Err(Fault::argument(message).within("ThDynamicFrameDesc.mode"));
        }
        let device = desc.device.get("ThDynamicFrameDesc.device")?;
        let in_use = device.device()?;
        let object = DynamicFrameObject::new(&device, mode, in_use.dynamic_frame(options)?);
        let handle = DynamicFrameHandle::create(object)?;
        device.add_frame();
        // SAFETY: not null; the caller lets it be written.
        unsafe { put(frame, handle, "frame") }
    })
}

/// Selects the description of the next frame: finds the objects that are bound for it, or plans and binds it. Selecting a known description costs one
/// comparison and allocates nothing. Until the frame is begun, another one can be selected instead. Structures and arrays are read during the call
/// only.
///
/// History resources are identified by name: one that is declared as in an earlier description keeps its contents, even if other descriptions were
/// selected in between.
///
/// Pointers of `thGetPassTarget` are valid until the next call. If debug names are enabled, no other thread may use
/// objects of the frame during the call, to record commands or update descriptors.
///
/// Fails with `TH_STATUS_ERROR_INVALID_FRAME` and `TH_STATUS_ERROR_CANNOT_PLAN` like `thCreateFrame` and `thCreatePlan`, with
/// `TH_STATUS_ERROR_OUT_OF_MEMORY` if memory runs out, and with `TH_STATUS_ERROR_WRONG_STATE` if a frame is being recorded. Objects that are already
/// bound stay bound, but no frame is selected after an error.
///
/// Thread safety: no other thread may use the frame during the call, except to wait for it; otherwise fails with `TH_STATUS_ERROR_IN_USE`.
#[unsafe(export_name = "thSelectFrame")]
pub unsafe extern "C" fn select_frame(
    frame: DynamicFrameHandle,
    desc: *const FrameDesc,
    selected: *mut SelectedFrame,
    error: ErrorHandle,
) -> Status {
    // SAFETY: what is passed is the caller's.
    unsafe { select_and_write("thSelectFrame", frame, Source::Described(desc), selected, error) }
}

/// Like `thSelectFrame`, but for a frame that was created before: an arrangement (`thCreateArrangedFrame`), values (`thCreateFrameOfValues`), or a frame from
/// JSON. Selecting the same object again compares nothing and allocates nothing. The dynamic frame keeps what it needs of `created`,
/// which can be destroyed.
///
/// Passes, resources and command buffers have the indices of `created`; `thGetFrameOrigins` has the described passes that each pass runs. Passes without
/// described ones, which copy images into strips and out of them, are recorded by the library: neither begin nor skip them.
///
/// Fails like `thSelectFrame`.
///
/// Thread safety: as `thSelectFrame`. Functions that must not be called during that one must not be called during this one.
#[unsafe(export_name = "thSelectCreatedFrame")]
pub unsafe extern "C" fn select_created_frame(
    frame: DynamicFrameHandle,
    created: FrameHandle,
    selected: *mut SelectedFrame,
    error: ErrorHandle,
) -> Status {
    // SAFETY: what is passed is the caller's.
    unsafe {
        select_and_write(
            "thSelectCreatedFrame",
            frame,
            Source::Created(created),
            selected,
            error,
        )
    }
}

/// Forgets what is cached for the view of an imported image, before the program destroys the view: another view may get the same handle. Only passes
/// that are rendered with render pass objects cache anything: the call may be omitted if `ThPassTarget::dynamic` is true for all passes that use the
/// image. No frame that uses the view may be in flight.
///
/// Fails with `TH_STATUS_ERROR_WRONG_STATE` if a frame is being recorded.
///
/// Thread safety: no other thread may use the frame during the call; otherwise fails with `TH_STATUS_ERROR_IN_USE`.
#[unsafe(export_name = "thForgetImportedView")]
pub extern "C" fn forget_imported_view(
    frame: DynamicFrameHandle,
    view: vk::ImageView,
    error: ErrorHandle,
) -> Status {
    run("thForgetImportedView", error, || {
        if view == vk::ImageView::null() {
            return Err(Fault::null("view"));
        }
        let object = frame.get("frame")?;
        let mut state = object.exclusive()?;
        if let Phase::Recording(_) = state.phase() {
            return Err(Fault::state(
                "a frame is being recorded: call thSubmitFrame or thDiscardFrame first",
            ));
        }
        // SAFETY: no frame that uses the view is in flight (the caller's duty).
        unsafe { state.frame()?.forget_view(view) };
        Ok(())
    })
}

/// Destroys a dynamic frame, in any state. Its objects are destroyed once the device is done with them: by `thTrimDevice`, while other frames
/// are selected, or by `thDestroyDevice`. A null handle is ignored.
///
/// Fails with `TH_STATUS_ERROR_IN_USE` while one of its command buffers is being recorded, or another call uses it.
///
/// Thread safety: no other thread may use the handle during the call.
#[unsafe(export_name = "thDestroyDynamicFrame")]
pub extern "C" fn destroy_dynamic_frame(frame: DynamicFrameHandle, error: ErrorHandle) -> Status {
    run("thDestroyDynamicFrame", error, || {
        let Some(object) = frame.get_if_any("frame")? else {
            return Ok(());
        };
        drop(object.take()?);
        frame.destroy()
    })
}

/// Destroys a dynamic frame and its objects at once, without waiting, after the device was lost. `vkDeviceWaitIdle` must have returned since the
/// loss, with any result, and nothing may be submitted after it. A null handle is ignored.
///
/// Fails with `TH_STATUS_ERROR_WRONG_STATE` if the device is not lost, and with `TH_STATUS_ERROR_IN_USE` while one of its command buffers is being
/// recorded, or another call uses it.
///
/// Thread safety: no other thread may use the handle during the call.
#[unsafe(export_name = "thAbandonDynamicFrame")]
pub extern "C" fn abandon_dynamic_frame(frame: DynamicFrameHandle, error: ErrorHandle) -> Status {
    run("thAbandonDynamicFrame", error, || {
        let Some(object) = frame.get_if_any("frame")? else {
            return Ok(());
        };
        if !object.device.device()?.is_device_lost() {
            return Err(Fault::state(
                "the device is not lost: call thDestroyDynamicFrame, or thReportDeviceLost first",
            ));
        }
        let taken = object.take()?;
        // SAFETY: the device is lost, and the program has waited since (its duty).
        unsafe { taken.abandon() };
        frame.destroy()
    })
}
