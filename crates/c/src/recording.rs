//! Recording of frames: begin, imports, areas, secondary command buffers, submission.

use std::ffi::c_void;

use ash::vk;
use tileheap::frame::tables::PassKind;
use tileheap::runtime::{Capabilities, FrameNumber, SubmitCall as Call};

use crate::bound::target_of;
use crate::boundary::{boundary, run};
use crate::callbacks::{call_back, check_not_calling_back};
use crate::describe::nth;
use crate::handles::Handle;
use crate::imports::Imports;
use crate::opaque::*;
use crate::status::{Fault, Status};
use crate::structs::{need, put};
use crate::vulkan::VulkanResult;

/// One call of `vkQueueSubmit2`, or of `vkQueueSubmit` on devices without synchronization2. Everything in it is valid during the callback.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct SubmitCall {
    /// The size of this structure in the library's version of the header.
    pub struct_size: u32,
    /// The number of elements of `submits` or `olderSubmits`.
    pub submit_count: u32,
    /// The queue to submit to.
    pub queue: vk::Queue,
    /// The submits for `vkQueueSubmit2`; null without synchronization2.
    pub submits: *const vk::SubmitInfo2<'static>,
    /// The submits for `vkQueueSubmit`; null with synchronization2.
    pub older_submits: *const vk::SubmitInfo<'static>,
    /// The fence that the call signals, or null.
    pub fence: vk::Fence,
    /// The family of the queue.
    pub family: u32,
    /// Zero.
    pub reserved: u32,
}

/// Calls `vkQueueSubmit2` (or `vkQueueSubmit`) once with these submits, in order, and with `fence`, and returns its result. The program may pass a
/// copy with more waits and signals. The callback runs on the thread that called `thSubmitFrameWith`, with the queues of the device locked; the
/// submission must be made before it returns. It must not wait for a mutex that another thread holds while it calls the library.
pub type SubmitCallback =
    Option<unsafe extern "C" fn(data: *mut c_void, call: *const SubmitCall) -> VulkanResult>;

/// Begins the selected frame. Earlier frames may still run on the device; the program limits how many with `thWaitForFrame`. `imports` may be
/// null. `number` receives the frame's number for `thWaitForFrame`; it may be null. Frames are numbered from 0; the number of a discarded frame is
/// reused.
///
/// Imported handles must be alive until the frame is complete, and in the described entry states when the command buffers that use them run. Structures
/// and arrays are read during the call only.
///
/// After an error, select the frame again. Fails with `TH_STATUS_ERROR_WRONG_STATE` if no frame is selected, and with
/// `TH_STATUS_ERROR_INVALID_ARGUMENT` if an import does not match the frame.
///
/// Thread safety: no other thread may use the frame during the call, except to wait for it; otherwise fails with `TH_STATUS_ERROR_IN_USE`.
#[unsafe(export_name = "thBeginFrame")]
pub unsafe extern "C" fn begin_frame(
    frame: DynamicFrameHandle,
    imports: *const Imports,
    number: *mut u64,
    error: ErrorHandle,
) -> Status {
    run("thBeginFrame", error, || {
        let object = frame.get("frame")?;
        let mut state = object.exclusive()?;
        // SAFETY: null, or the caller's structure.
        let begun = state.begin(|lists, frame| unsafe { lists.read(imports, frame) })?;
        match number.is_null() {
            true => Ok(()),
            // SAFETY: not null; the caller lets it be written.
            false => unsafe { put(number, begun, "number") },
        }
    })
}

/// Imports external resources and semaphores after the frame has begun, for example a swapchain image that is acquired as late as possible.
/// Import resources before recording a command buffer that uses them, and semaphores before submitting the frame.
///
/// Fails with `TH_STATUS_ERROR_WRONG_STATE` if no frame is being recorded or a command buffer that uses the resource is already recorded, and with
/// `TH_STATUS_ERROR_INVALID_ARGUMENT` if an import does not match the frame; nothing is imported then.
///
/// Thread safety: no other thread may use the frame during the call, except to wait for it, and no command buffer may be in recording; otherwise
/// fails with `TH_STATUS_ERROR_IN_USE`.
#[unsafe(export_name = "thImportResources")]
pub unsafe extern "C" fn import_resources(
    frame: DynamicFrameHandle,
    imports: *const Imports,
    error: ErrorHandle,
) -> Status {
    run("thImportResources", error, || {
        need(imports, "imports")?;
        let object = frame.get("frame")?;
        let mut state = object.exclusive()?;
        let (mut recorder, lists) = state.recorder()?;
        // SAFETY: the caller's structure.
        unsafe { lists.read(imports, recorder.bound().plan().input.frame()) }?;
        // SAFETY: the handles are alive, and in their entry states (the caller's duty).
        Ok(unsafe { recorder.import(&lists.get()) }?)
    })
}

/// Restricts a render pass to part of its described area in this frame, for dynamic resolution. If `area` is null, the pass renders nothing and must be
/// skipped with `thSkipPass`. Later passes must not read outside of the area.
///
/// Fails with `TH_STATUS_ERROR_WRONG_STATE` if no frame is being recorded, and with `TH_STATUS_ERROR_INVALID_ARGUMENT` if the pass is not a render
/// pass, the area is empty or not inside of the described one, or the pass's command buffer is already recorded.
///
/// Thread safety: no other thread may use the frame during the call, except to wait for it, and no command buffer may be in recording; otherwise
/// fails with `TH_STATUS_ERROR_IN_USE`.
#[unsafe(export_name = "thSetRenderArea")]
pub unsafe extern "C" fn set_render_area(
    frame: DynamicFrameHandle,
    pass: u32,
    area: *const vk::Rect2D,
    error: ErrorHandle,
) -> Status {
    run("thSetRenderArea", error, || {
        let object = frame.get("frame")?;
        let mut state = object.exclusive()?;
        let (mut recorder, _) = state.recorder()?;
        let id = nth(recorder.bound().plan().input.frame().pass_ids(), pass, "pass")?;
        let area = match area.is_null() {
            true => None,
            // SAFETY: not null, so it points to a rectangle.
            false => Some(unsafe { area.read_unaligned() }),
        };
        Ok(recorder.set_area(id, area)?)
    })
}

/// Begins a secondary command buffer for a subpass of a render pass, with the inheritance that it needs, `VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT` and
/// `VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT`. Record draws, end it with
/// `vkEndCommandBuffer`, and pass it to `thExecuteSecondaries`.
///
/// Fails with `TH_STATUS_ERROR_WRONG_STATE` if no frame is being recorded, and with `TH_STATUS_ERROR_INVALID_ARGUMENT` if there is no such pass or
/// subpass, or the pass is not a render pass.
///
/// Thread safety: may be called by several threads at once, with different command buffers and pools.
#[unsafe(export_name = "thBeginSecondary")]
pub extern "C" fn begin_secondary(
    frame: DynamicFrameHandle,
    command_buffer: vk::CommandBuffer,
    pass: u32,
    subpass: u32,
    error: ErrorHandle,
) -> Status {
    run("thBeginSecondary", error, || {
        if command_buffer == vk::CommandBuffer::null() {
            return Err(Fault::null("commandBuffer"));
        }
        let object = frame.get("frame")?;
        let state = object.shared()?;
        let recorder = state.recording()?;
        target_of(recorder.bound(), pass, subpass)?;
        let id = nth(recorder.bound().plan().input.frame().pass_ids(), pass, "pass")?;
        // SAFETY: it is a secondary one that can be begun, and nothing else uses it (the caller's duty).
        Ok(unsafe { recorder.begin_secondary(command_buffer, id, subpass) }?)
    })
}

/// Binds the tile memory of a compute or transfer pass in a secondary command buffer that the program has begun, before its first action
/// command. Records nothing if the pass runs without bound tile memory.
///
/// Fails with `TH_STATUS_ERROR_WRONG_STATE` if no frame is being recorded, and with `TH_STATUS_ERROR_INVALID_ARGUMENT` if there is no such pass or it
/// is a render pass: `thBeginSecondary` begins its secondary command buffers.
///
/// Thread safety: may be called by several threads at once, with different command buffers and pools.
#[unsafe(export_name = "thBindSecondaryTileMemory")]
pub extern "C" fn bind_secondary_tile_memory(
    frame: DynamicFrameHandle,
    command_buffer: vk::CommandBuffer,
    pass: u32,
    error: ErrorHandle,
) -> Status {
    run("thBindSecondaryTileMemory", error, || {
        if command_buffer == vk::CommandBuffer::null() {
            return Err(Fault::null("commandBuffer"));
        }
        let object = frame.get("frame")?;
        let state = object.shared()?;
        let recorder = state.recording()?;
        let described = recorder.bound().plan().input.frame();
        let id = nth(described.pass_ids(), pass, "pass")?;
        let declared = described.pass(id);
        // Inside of a render pass, binding is inherited (VUID-vkCmdExecuteCommands-memory-10724).
        if declared.kind == PassKind::Render {
            let name = &declared.name;
            return Err(Fault::argument(format!(
                "pass `{name}` is a render pass, whose secondary command buffers inherit tile memory: begin them with thBeginSecondary"
            )));
        }
        // SAFETY: it is a secondary one in the recording state (the caller's duty).
        unsafe { recorder.bind_secondary(command_buffer, id) };
        Ok(())
    })
}

/// Submits the frame: each described submit as one call, with the semaphores and fences that track frames.
///
/// Fails with `TH_STATUS_ERROR_WRONG_STATE` if a command buffer was not recorded or a semaphore is not imported; end the recordings, or call
/// `thDiscardFrame`. After a Vulkan error, part of the frame may run and no other can begin: destroy the dynamic frame and create another, or abandon
/// it if the device is lost.
///
/// Thread safety: no other thread may use the frame during the call, except to wait for it; otherwise fails with `TH_STATUS_ERROR_IN_USE`. The
/// queues of the device are locked during the call: other submissions, presents and `vkDeviceWaitIdle` of the program must go through
/// `thUseQueues`. No other function accesses a queue.
#[unsafe(export_name = "thSubmitFrame")]
pub extern "C" fn submit_frame(frame: DynamicFrameHandle, error: ErrorHandle) -> Status {
    run("thSubmitFrame", error, || {
        let object = frame.get("frame")?;
        let mut state = object.exclusive()?;
        let (recorder, _) = state.recorder()?;
        // SAFETY: nothing else uses the queues (the caller's duty).
        let submitted = unsafe { recorder.submit() };
        if !state.is_recording() {
            state.end();
        }
        submitted?;
        Ok(())
    })
}

/// Like `thSubmitFrame`, but the program makes the calls: `submit` is called for each of them, in order, before the function returns.
///
/// Fails with `TH_STATUS_ERROR_VULKAN`, or with the status that corresponds to the result, if `submit` returns an error.
///
/// Thread safety: as `thSubmitFrame`. The callback must not call functions of devices and dynamic frames.
#[unsafe(export_name = "thSubmitFrameWith")]
pub unsafe extern "C" fn submit_frame_with(
    frame: DynamicFrameHandle,
    submit: SubmitCallback,
    user_data: *mut c_void,
    error: ErrorHandle,
) -> Status {
    run("thSubmitFrameWith", error, || {
        let submit = submit.ok_or_else(|| Fault::null("submit"))?;
        let object = frame.get("frame")?;
        let mut state = object.exclusive()?;
        let newer = object.capabilities()?.contains(Capabilities::SYNCHRONIZATION_2);
        let (recorder, _) = state.recorder()?;
        let call = |call: &Call<'_>| {
            let mut row = SubmitCall {
                struct_size: size_of::<SubmitCall>() as u32,
                submit_count: call.batches.len() as u32,
                queue: call.queue.handle,
                submits: std::ptr::null(),
                older_submits: std::ptr::null(),
                fence: call.fence,
                family: call.queue.family,
                reserved: 0,
            };
            // SAFETY: the program's function, with structures that are alive.
            let make = |row: &SubmitCall| call_back(|| unsafe { submit(user_data, row) });
            let result = if newer {
                row.submits = call.batches.as_ptr().cast();
                make(&row)
            } else {
                call.with_submit_infos(|older| {
                    row.older_submits = older.as_ptr().cast();
                    make(&row)
                })
            };
            result.result()
        };
        // SAFETY: the callback submits what it is given, in order (the caller's duty).
        let submitted = unsafe { recorder.submit_with(call) };
        if !state.is_recording() {
            state.end();
        }
        submitted?;
        Ok(())
    })
}

/// Discards the frame that is being recorded, for example after `VK_ERROR_OUT_OF_DATE_KHR`: it has no effect, and the next frame has the same number.
/// The program must reset the command buffers that were recorded; imported semaphores are neither waited for nor signaled.
///
/// Fails with `TH_STATUS_ERROR_WRONG_STATE` if no frame is being recorded.
///
/// Thread safety: no other thread may use the frame during the call, except to wait for it, and no command buffer may be in recording; otherwise
/// fails with `TH_STATUS_ERROR_IN_USE`.
#[unsafe(export_name = "thDiscardFrame")]
pub extern "C" fn discard_frame(frame: DynamicFrameHandle, error: ErrorHandle) -> Status {
    run("thDiscardFrame", error, || {
        let object = frame.get("frame")?;
        let mut state = object.exclusive()?;
        state.recorder()?;
        state.end();
        Ok(())
    })
}

/// Waits until a frame is complete on the device, for at most `timeout` nanoseconds. Call it before the frame's command buffers are used again.
///
/// Returns `TH_STATUS_TIMEOUT` if time ran out. Fails with `TH_STATUS_ERROR_WRONG_STATE` if the frame was not submitted, and with
/// `TH_STATUS_ERROR_DEVICE_LOST` if the device is lost.
///
/// Thread safety: may be called by several threads at once, also while others select, record and submit.
#[unsafe(export_name = "thWaitForFrame")]
pub extern "C" fn wait_for_frame(
    frame: DynamicFrameHandle,
    number: u64,
    timeout: u64,
    error: ErrorHandle,
) -> Status {
    boundary("thWaitForFrame", error, || {
        check_not_calling_back()?;
        let object = frame.get("frame")?;
        match object.progress()?.wait(FrameNumber(number), timeout)? {
            true => Ok(Status::Success),
            false => Ok(Status::Timeout),
        }
    })
}

/// Returns the number of completed frames: frame n is complete if n is less than `count`.
///
/// Fails with `TH_STATUS_ERROR_DEVICE_LOST` if the device is lost, unless all submitted frames were known to be complete before.
///
/// Thread safety: may be called by several threads at once, also while others select, record and submit.
#[unsafe(export_name = "thGetCompletedFrameCount")]
pub unsafe extern "C" fn get_completed_frame_count(
    frame: DynamicFrameHandle,
    count: *mut u64,
    error: ErrorHandle,
) -> Status {
    run("thGetCompletedFrameCount", error, || {
        need(count, "count")?;
        check_not_calling_back()?;
        let object = frame.get("frame")?;
        let complete = object.progress()?.completed()?.map_or(0, |frame| frame.0 + 1);
        // SAFETY: not null; the caller lets it be written.
        unsafe { put(count, complete, "count") }
    })
}
