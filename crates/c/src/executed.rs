//! Frames that run in place of described ones, and the mapping back to the described frame.

use crate::boundary::run;
use crate::frame::FrameObject;
use crate::handles::Handle;
use crate::opaque::{ErrorHandle, FrameHandle, PlanHandle};
use crate::origins::{FrameOrigins, OriginRows};
use crate::status::Status;
use crate::structs::{self, begin, put, write};

/// Creates the frame in which each value of a resource is a separate resource, which is placed separately; destroy it with `thDestroyFrame`. A value
/// is a version of the contents, from the pass that begins to write it to the last one that needs it: an image that a pool hands out three times in a
/// frame has three values. The frame is measured and planned like any other, and the traffic in the totals of its plans is that of the described
/// frame.
///
/// External and history resources keep their last value, and their contents from before the frame; pinned and excluded ones are unchanged. If no
/// resource has several values, the frame is returned unchanged.
///
/// Fails with `TH_STATUS_ERROR_INVALID_FRAME` if the frame would have too many resources.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateFrameOfValues")]
pub unsafe extern "C" fn create_frame_of_values(
    frame: FrameHandle,
    separated: *mut FrameHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateFrameOfValues", error, || {
        // SAFETY: null or writable.
        unsafe { begin(separated, "separated") }?;
        let executed = frame.get("frame")?.executed.separate_values()?;
        let handle = FrameHandle::create(FrameObject::new(executed))?;
        // SAFETY: not null; the caller lets it be written.
        unsafe { put(separated, handle, "separated") }
    })
}

/// Creates the frame that was given to `thCreatePlan`, without the passes that copy out of tile memory; destroy it with `thDestroyFrame`.
/// `ThPlannedPass::describedPass` is a pass of this frame. For a plan that a dynamic frame selected, it is the frame of the description.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thCreateInputFrame")]
pub unsafe extern "C" fn create_input_frame(
    plan: PlanHandle,
    frame: *mut FrameHandle,
    error: ErrorHandle,
) -> Status {
    run("thCreateInputFrame", error, || {
        // SAFETY: null or writable.
        unsafe { begin(frame, "frame") }?;
        let input = plan.get("plan")?.plan.input.clone();
        let handle = FrameHandle::create(FrameObject::new(input))?;
        // SAFETY: not null; the caller lets it be written.
        unsafe { put(frame, handle, "frame") }
    })
}

/// Returns the arrays that map a frame back to the described one: a frame of values, an arranged frame, or the frame of a plan, whose passes and
/// resources the tables refer to. In a frame that was not made from another, each pass and resource maps to itself. The arrays are valid until the
/// frame is destroyed.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thGetFrameOrigins")]
pub unsafe extern "C" fn get_frame_origins(
    frame: FrameHandle,
    origins: *mut FrameOrigins,
    error: ErrorHandle,
) -> Status {
    run("thGetFrameOrigins", error, || {
        let object = frame.get("frame")?;
        let rows = object.origins.get_or_init(|| OriginRows::of(&object.executed));
        let value = FrameOrigins {
            struct_size: 0,
            pass_count: rows.passes.len() as u32,
            passes: structs::rows(&rows.passes),
            described_count: rows.described.len() as u32,
            resource_count: rows.resources.len() as u32,
            described: structs::rows(&rows.described),
            resources: structs::rows(&rows.resources),
        };
        // SAFETY: null, or the caller's structure.
        unsafe { write(origins, value) }
    })
}
