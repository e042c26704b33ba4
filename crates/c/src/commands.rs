//! Recording of command buffers.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use ash::vk;
use tileheap::frame::tables::{CommandSource, PassKind};
use tileheap::runtime::Commands;
use tileheap::runtime::detached::SharedRecorder;

use crate::boundary::run;
use crate::callbacks::check_not_calling_back;
use crate::describe::nth;
use crate::frame_object::{CommandsObject, DynamicFrameObject, OpenCommands};
use crate::handles::{self, Handle};
use crate::opaque::*;
use crate::status::{Fault, Status};
use crate::structs::{Array, begin, check_array, check_output, put, sized, write};

sized! { Output: PassCommands to viewport; }

/// A pass that has begun.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PassCommands {
    /// `sizeof(ThPassCommands)`.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// The command buffer, inside the render pass if the pass is a render pass.
    pub command_buffer: vk::CommandBuffer,
    /// The render area of a render pass in this frame.
    pub area: vk::Rect2D,
    /// The viewport that covers `area`, with depths from 0 to 1.
    pub viewport: vk::Viewport,
}

fn closed() -> Fault {
    Fault::new(Status::ErrorInvalidHandle, "the recording was ended or discarded")
}

/// Calls `record` with the open recording of a handle, and the recorder of its frame.
fn with<R>(
    commands: CommandsHandle,
    record: impl FnOnce(&mut Commands<'_>, &SharedRecorder<'_>) -> Result<R, Fault>,
) -> Result<R, Fault> {
    let object = commands.get("commands")?;
    let mut open = object.open.lock("commands")?;
    let open = open.as_mut().filter(|open| open.handle == commands.number());
    let OpenCommands { frame, commands, .. } = open.ok_or_else(closed)?;
    let state = frame.shared()?;
    let recorder = state.recording()?;
    let detached = commands.take().ok_or_else(Fault::unusable)?;
    let mut attached = match recorder.attach(detached) {
        Ok(attached) => attached,
        Err(detached) => {
            *commands = Some(detached);
            return Err(Fault::state(
                "the frame of this recording is no longer being recorded",
            ));
        }
    };
    let result = record(&mut attached, &recorder);
    *commands = Some(recorder.detach(attached));
    result
}

/// Ends the recording of a handle; `end` receives its commands.
fn close(commands: CommandsHandle, end: impl FnOnce(Commands<'_>) -> Result<(), Fault>) -> Result<(), Fault> {
    let object = commands.get("commands")?;
    let mut slot = object.open.lock("commands")?;
    if slot.as_ref().is_none_or(|open| open.handle != commands.number()) {
        return Err(closed());
    }
    let open = slot.as_mut().ok_or_else(closed)?;
    let frame = open.frame.clone();
    let state = frame.shared()?;
    let recorder = state.recording()?;
    let result = match open.commands.take().map(|detached| recorder.attach(detached)) {
        Some(Ok(attached)) => end(attached),
        _ => Err(Fault::unusable()),
    };
    drop(state);
    *slot = None;
    drop(slot);
    recycle(commands, Some(object), &frame);
    result
}

/// Discards a recording, in any state.
fn discard(commands: CommandsHandle) -> Result<(), Fault> {
    let object = commands.get("commands")?;
    // Fails if another thread holds the lock, but accepts a poisoned one.
    let (mut slot, is_usable) = match object.open.lock("commands") {
        Ok(slot) => (slot, true),
        Err(fault) if fault.status == Status::ErrorInUse => return Err(fault),
        Err(_) => (object.open.wait(), false),
    };
    let open = slot.take_if(|open| open.handle == commands.number());
    let frame = open.ok_or_else(closed)?.frame;
    drop(slot);
    recycle(commands, Some(object).filter(|_| is_usable), &frame);
    Ok(())
}

/// Removes the handle of a recording that has ended, and keeps its object for reuse.
fn recycle(commands: CommandsHandle, object: Option<Arc<CommandsObject>>, frame: &DynamicFrameObject) {
    let removed = commands.destroy();
    debug_assert!(
        removed.is_ok(),
        "only the call that ends a recording removes its handle"
    );
    let mut spare = frame.spare.lock().unwrap_or_else(PoisonError::into_inner);
    spare.extend(object);
    drop(spare);
    frame.open.fetch_sub(1, Ordering::AcqRel);
}

/// Begins recording a command buffer of the frame: calls `vkBeginCommandBuffer` with `VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT`.
/// `commandBufferIndex` is its index in the description. `commandBuffer` must be a primary command buffer, allocated from a pool of its queue's
/// family (`thGetSelectedQueue`), in the initial state or implicitly resettable. Nothing else may use it until the frame is complete, and no other
/// thread may use its pool until the recording is ended or discarded.
///
/// Fails with `TH_STATUS_ERROR_WRONG_STATE` if the frame is not being recorded, the command buffer is already recorded in this frame, or one of its
/// passes uses something that is not imported.
///
/// Thread safety: may be called by several threads at once, with different command buffers.
#[unsafe(export_name = "thBeginCommands")]
pub unsafe extern "C" fn begin_commands(
    frame: DynamicFrameHandle,
    command_buffer_index: u32,
    command_buffer: vk::CommandBuffer,
    commands: *mut CommandsHandle,
    error: ErrorHandle,
) -> Status {
    run("thBeginCommands", error, || {
        // SAFETY: null or writable.
        unsafe { begin(commands, "commands") }?;
        if command_buffer == vk::CommandBuffer::null() {
            return Err(Fault::null("commandBuffer"));
        }
        check_not_calling_back()?;
        let frame = frame.get("frame")?;
        let handle = record(&frame, command_buffer_index, command_buffer)?;
        // SAFETY: not null; the caller lets it be written.
        unsafe { put(commands, handle, "commands") }
    })
}

fn record(
    frame: &Arc<DynamicFrameObject>,
    index: u32,
    command_buffer: vk::CommandBuffer,
) -> Result<CommandsHandle, Fault> {
    let state = frame.shared()?;
    let recorder = state.recording()?;
    let described = recorder.bound().plan().input.frame();
    let id = nth(described.command_buffer_ids(), index, "command buffer")?;
    let spare = frame.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let object = spare.unwrap_or_default();
    let handle = handles::insert(object.clone())?;
    // SAFETY: the command buffer can be begun, and nothing else uses it (the caller's duty).
    let begun = unsafe { recorder.record(command_buffer, id) };
    let begun = match begun {
        Ok(begun) => recorder.detach(begun),
        Err(error) => {
            let removed = handles::remove::<CommandsObject>(handle);
            debug_assert!(removed.is_ok(), "only this call knows the handle");
            return Err(error.into());
        }
    };
    *object.open.wait() = Some(OpenCommands {
        handle,
        frame: frame.clone(),
        commands: Some(begun),
    });
    frame.open.fetch_add(1, Ordering::AcqRel);
    Ok(CommandsHandle::of_number(handle))
}

/// Begins a pass: binds its tile memory, records its barriers and begins its render pass. Record its commands into the command buffer, or
/// secondary command buffers with `thExecuteSecondaries`; then call `thEndPass`. `pass` is its index in the description; `passCommands` may be
/// null. Passes must be begun or skipped in the order of the description.
///
/// No dynamic state is set. Pipelines, descriptor sets, push constants and dynamic state that were bound before `thBeginPass` are undefined after it,
/// since tileheap may bind its own pipelines between passes. Do not record barriers for resources of the frame.
///
/// Fails with `TH_STATUS_ERROR_WRONG_STATE` if another pass comes next or has begun, and with `TH_STATUS_ERROR_INVALID_ARGUMENT` if the pass renders
/// nothing in this frame.
///
/// Thread safety: one thread at a time for a recording; different recordings of a frame on different threads.
#[unsafe(export_name = "thBeginPass")]
pub unsafe extern "C" fn begin_pass(
    commands: CommandsHandle,
    pass: u32,
    pass_commands: *mut PassCommands,
    error: ErrorHandle,
) -> Status {
    run("thBeginPass", error, || {
        if !pass_commands.is_null() {
            // SAFETY: the caller's structure.
            unsafe { check_output(pass_commands) }?;
        }
        let value = with(commands, |commands, recorder| {
            let described = recorder.bound().plan().input.frame();
            commands.begin_pass(nth(described.pass_ids(), pass, "pass")?)?;
            let begun = commands.pass_commands();
            Ok(PassCommands {
                struct_size: 0,
                reserved: 0,
                command_buffer: begun.command_buffer(),
                area: begun.area(),
                viewport: begun.viewport(),
            })
        })?;
        match pass_commands.is_null() {
            true => Ok(()),
            // SAFETY: the caller's structure.
            false => unsafe { write(pass_commands, value) },
        }
    })
}

/// Begins the next subpass of the render pass that has begun. Subpasses that are not begun are empty.
///
/// Fails with `TH_STATUS_ERROR_WRONG_STATE` if no pass has begun, or the pass has no further subpass.
///
/// Thread safety: one thread at a time for a recording; different recordings of a frame on different threads.
#[unsafe(export_name = "thNextSubpass")]
pub extern "C" fn next_subpass(commands: CommandsHandle, error: ErrorHandle) -> Status {
    run("thNextSubpass", error, || {
        with(commands, |commands, recorder| {
            let pass = commands.begun_pass().ok_or_else(not_begun)?;
            if !commands.has_next_subpass() {
                let name = &recorder.bound().plan().input.frame().pass(pass).name;
                return Err(Fault::state(format!(
                    "pass `{name}` has no further subpass: call thEndPass"
                )));
            }
            commands.pass_commands().next_subpass();
            Ok(())
        })
    })
}

fn not_begun() -> Fault {
    Fault::state("no pass has begun: call thBeginPass first")
}

/// Executes the secondary command buffers of a compute or transfer pass, whose tile memory is bound again after them, or the contents of the
/// current subpass of a render pass with `TH_PASS_FLAG_SECONDARY`. Execute all contents of a subpass in one call.
///
/// Secondary command buffers of a render pass must have been begun for this subpass in this frame with `thBeginSecondary`. All must be in the
/// executable state, and not pending.
///
/// Fails with `TH_STATUS_ERROR_WRONG_STATE` if no pass has begun, and with `TH_STATUS_ERROR_INVALID_ARGUMENT` if the pass is a render pass with
/// inline contents.
///
/// Thread safety: one thread at a time for a recording; different recordings of a frame on different threads.
#[unsafe(export_name = "thExecuteSecondaries")]
pub unsafe extern "C" fn execute_secondaries(
    commands: CommandsHandle,
    count: u32,
    secondaries: *const vk::CommandBuffer,
    error: ErrorHandle,
) -> Status {
    run("thExecuteSecondaries", error, || {
        check_array(secondaries, count, Array("secondaries", "count"))?;
        if !secondaries.is_aligned() {
            let message = format!("is at {secondaries:p}, which is not aligned");
            return Err(Fault::argument(message).within("secondaries"));
        }
        let secondaries = match count {
            0 => &[],
            // SAFETY: the caller's array has `count` elements.
            _ => unsafe { std::slice::from_raw_parts(secondaries, count as usize) },
        };
        if let Some(null) = secondaries
            .iter()
            .position(|one| *one == vk::CommandBuffer::null())
        {
            return Err(Fault::null("").at("secondaries", null));
        }
        with(commands, |commands, recorder| {
            let pass = commands.begun_pass().ok_or_else(not_begun)?;
            let declared = recorder.bound().plan().input.frame().pass(pass);
            if declared.kind == PassKind::Render && declared.contents != CommandSource::Secondary {
                return Err(Fault::argument(format!(
                    "render pass `{}` cannot execute secondary command buffers: describe it with TH_PASS_FLAG_SECONDARY",
                    declared.name
                )));
            }
            // SAFETY: they are executable, and begun for this pass (the caller's duty).
            unsafe { commands.pass_commands().execute(secondaries) };
            Ok(())
        })
    })
}

/// Ends the pass that has begun: ends its render pass and records the barriers after it.
///
/// Fails with `TH_STATUS_ERROR_WRONG_STATE` if no pass has begun.
///
/// Thread safety: one thread at a time for a recording; different recordings of a frame on different threads.
#[unsafe(export_name = "thEndPass")]
pub extern "C" fn end_pass(commands: CommandsHandle, error: ErrorHandle) -> Status {
    run("thEndPass", error, || {
        with(commands, |commands, _| {
            commands.begun_pass().ok_or_else(not_begun)?;
            Ok(commands.end_pass()?)
        })
    })
}

/// Skips a pass in this frame: one with `skippedOutputs`, or one that renders nothing (`thSetRenderArea`). Its barriers are recorded, and its
/// attachments are loaded, cleared and stored as usual.
///
/// Fails with `TH_STATUS_ERROR_WRONG_STATE` if another pass comes next or has begun, and with `TH_STATUS_ERROR_INVALID_ARGUMENT` if the pass must not
/// be skipped.
///
/// Thread safety: one thread at a time for a recording; different recordings of a frame on different threads.
#[unsafe(export_name = "thSkipPass")]
pub extern "C" fn skip_pass(commands: CommandsHandle, pass: u32, error: ErrorHandle) -> Status {
    run("thSkipPass", error, || {
        with(commands, |commands, recorder| {
            let described = recorder.bound().plan().input.frame();
            Ok(commands.skip(nth(described.pass_ids(), pass, "pass")?)?)
        })
    })
}

/// Ends the command buffer (`vkEndCommandBuffer`) and destroys the handle, even if it fails.
///
/// Fails with `TH_STATUS_ERROR_WRONG_STATE` if a pass was not recorded or not ended: the frame cannot be submitted then; call
/// `thDiscardFrame`. After `TH_STATUS_ERROR_IN_USE`, the handle is still valid.
///
/// Thread safety: one thread at a time for a recording; different recordings of a frame on different threads.
#[unsafe(export_name = "thEndCommands")]
pub extern "C" fn end_commands(commands: CommandsHandle, error: ErrorHandle) -> Status {
    run("thEndCommands", error, || {
        close(commands, |commands| Ok(commands.finish()?))
    })
}

/// Discards a recording and destroys the handle, for example after an error in the program. The program must reset the command buffer. The frame
/// can no longer be submitted; call `thDiscardFrame`. A null handle is ignored.
///
/// Thread safety: one thread at a time for a recording; different recordings of a frame on different threads.
#[unsafe(export_name = "thDiscardCommands")]
pub extern "C" fn discard_commands(commands: CommandsHandle, error: ErrorHandle) -> Status {
    run("thDiscardCommands", error, || match commands.number() {
        0 => Ok(()),
        _ => discard(commands),
    })
}
