//! The objects of dynamic frames and recordings, and their states.
//!
//! ```text
//!        thSelectFrame        thBeginFrame           thSubmitFrame
//! idle ───────────────► selected ─────────► recording ───────────► idle
//!   ▲                                           │ thDiscardFrame
//!   └───────────────────────────────────────────┘
//! ```
//! These states replace Rust's borrows. Functions that change the frame lock it for writing, functions that several threads may call lock it
//! for reading. Neither waits: a conflicting call fails.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use tileheap::frame::Frame;
use tileheap::runtime::detached::{DetachedCommands, DetachedRecorder, SharedRecorder};
use tileheap::runtime::{BoundFrame, Capabilities, DynamicFrame, FrameProgress, FrameRecorder};

use crate::callbacks::check_not_calling_back;
use crate::describe::Description;
use crate::device::{DeviceInUse, DeviceObject};
use crate::enums::PlanMode;
use crate::handles::{Exclusive, object};
use crate::imports::ImportLists;
use crate::opaque::{CommandsT, DynamicFrameT};
use crate::status::{Fault, Status};
use crate::strings::counted;

object!(DynamicFrameT, DynamicFrameObject: DynamicFrame);
object!(CommandsT, CommandsObject: Commands);

/// A dynamic frame and its state.
pub struct DynamicFrameObject {
    pub(crate) device: Arc<DeviceObject>,
    pub(crate) mode: PlanMode,
    progress: FrameProgress,
    state: RwLock<FrameState>,
    /// Number of recordings of command buffers that are neither ended nor discarded.
    pub(crate) open: AtomicU32,
    /// Objects of earlier recordings, for reuse.
    pub(crate) spare: Mutex<Vec<Arc<CommandsObject>>>,
}

/// The state that the lock of a dynamic frame protects.
pub(crate) struct FrameState {
    /// The frame; `None` after it was destroyed.
    pub(crate) frame: Option<DynamicFrame>,
    pub(crate) phase: Phase,
    pub(crate) description: Description,
    imports: ImportLists,
}

/// The state of a dynamic frame.
pub(crate) enum Phase {
    /// Nothing is selected: initially, and after an error.
    None,
    /// The frame that was selected last has ended.
    Idle,
    Selected,
    Recording(DetachedRecorder),
}

/// The recording of a command buffer; the object is reused.
#[derive(Default)]
pub struct CommandsObject {
    /// The recording; `None` between recordings.
    pub(crate) open: Exclusive<Option<OpenCommands>>,
}

/// A recording that is neither ended nor discarded.
pub(crate) struct OpenCommands {
    /// The handle of this recording.
    pub(crate) handle: usize,
    pub(crate) frame: Arc<DynamicFrameObject>,
    /// `None` during a call that uses them, and after one that failed to return them.
    pub(crate) commands: Option<DetachedCommands>,
}

impl DynamicFrameObject {
    pub(crate) fn new(device: &Arc<DeviceObject>, mode: PlanMode, frame: DynamicFrame) -> DynamicFrameObject {
        DynamicFrameObject {
            device: device.clone(),
            mode,
            progress: frame.progress(),
            state: RwLock::new(FrameState {
                frame: Some(frame),
                phase: Phase::None,
                description: Description::default(),
                imports: ImportLists::default(),
            }),
            open: AtomicU32::new(0),
            spare: Mutex::default(),
        }
    }

    /// Locks the state for writing; fails if another call uses it or a command buffer is being recorded.
    pub(crate) fn exclusive(&self) -> Result<RwLockWriteGuard<'_, FrameState>, Fault> {
        check_not_calling_back()?;
        // Before the lock is taken: functions of recordings would fail during that time.
        self.check_closed()?;
        let state = match self.state.try_write() {
            Ok(state) => state,
            Err(TryLockError::WouldBlock) => return Err(busy()),
            Err(TryLockError::Poisoned(_)) => return Err(Fault::unusable()),
        };
        self.check_closed()?;
        Ok(state)
    }

    /// Locks the state for reading.
    pub(crate) fn shared(&self) -> Result<RwLockReadGuard<'_, FrameState>, Fault> {
        match self.state.try_read() {
            Ok(state) => Ok(state),
            Err(TryLockError::WouldBlock) => Err(busy()),
            Err(TryLockError::Poisoned(_)) => Err(Fault::unusable()),
        }
    }

    /// The progress of the dynamic frame; the device cannot be destroyed while the progress is in use.
    pub(crate) fn progress(&self) -> Result<ProgressInUse<'_>, Fault> {
        let device = self.device.device()?;
        Ok(ProgressInUse {
            progress: &self.progress,
            _device: device,
        })
    }

    pub(crate) fn capabilities(&self) -> Result<Capabilities, Fault> {
        Ok(self.device.device()?.capabilities())
    }

    fn check_closed(&self) -> Result<(), Fault> {
        match self.open.load(Ordering::Acquire) {
            0 => Ok(()),
            open => Err(Fault::in_use(format!(
                "the recording of {} has not ended: call thEndCommands or thDiscardCommands first",
                counted(open as usize, "command buffer")
            ))),
        }
    }

    /// Takes the frame out of the object, which cannot be used afterwards.
    pub(crate) fn take(&self) -> Result<DynamicFrame, Fault> {
        check_not_calling_back()?;
        self.check_closed()?;
        let mut state = match self.state.try_write() {
            Ok(state) => state,
            Err(TryLockError::WouldBlock) => return Err(busy()),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        };
        self.check_closed()?;
        state.phase = Phase::None;
        let frame = state.frame.take().ok_or_else(destroyed)?;
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.device.remove_frame();
        Ok(frame)
    }
}

/// The progress of a frame; the device cannot be destroyed while this is in use.
pub(crate) struct ProgressInUse<'a> {
    progress: &'a FrameProgress,
    _device: DeviceInUse<'a>,
}

impl std::ops::Deref for ProgressInUse<'_> {
    type Target = FrameProgress;

    fn deref(&self) -> &FrameProgress {
        self.progress
    }
}

fn busy() -> Fault {
    Fault::in_use("another call is using the dynamic frame")
}

pub(crate) fn destroyed() -> Fault {
    Fault::new(Status::ErrorInvalidHandle, "the dynamic frame was destroyed")
}

/// Access to the recorder of a frame.
impl FrameState {
    fn not_recording() -> Fault {
        Fault::state("no frame is being recorded: call thSelectFrame and thBeginFrame first")
    }

    /// The bound frame of the description that was selected last.
    pub(crate) fn bound(&self) -> Result<&BoundFrame, Fault> {
        let frame = self.frame.as_ref().ok_or_else(destroyed)?;
        let bound = match self.phase {
            Phase::None => None,
            _ => frame.last_selected(),
        };
        bound.ok_or_else(|| Fault::state("no frame is selected: call thSelectFrame first"))
    }

    pub(crate) fn phase(&self) -> &Phase {
        &self.phase
    }

    /// The frame that is being recorded, for several threads at once.
    pub(crate) fn recording(&self) -> Result<SharedRecorder<'_>, Fault> {
        let frame = self.frame.as_ref().ok_or_else(destroyed)?;
        let Phase::Recording(recorder) = &self.phase else {
            return Err(FrameState::not_recording());
        };
        frame.share(recorder).ok_or_else(FrameState::not_recording)
    }

    /// The frame that is being recorded.
    pub(crate) fn recorder(&mut self) -> Result<(FrameRecorder<'_>, &mut ImportLists), Fault> {
        let frame = self.frame.as_mut().ok_or_else(destroyed)?;
        let Phase::Recording(recorder) = &self.phase else {
            return Err(FrameState::not_recording());
        };
        let recorder = frame.attach(recorder).ok_or_else(FrameState::not_recording)?;
        Ok((recorder, &mut self.imports))
    }

    /// Begins the selected frame with the imports that `read` reads.
    pub(crate) fn begin(
        &mut self,
        read: impl FnOnce(&mut ImportLists, &Frame) -> Result<(), Fault>,
    ) -> Result<u64, Fault> {
        let FrameState {
            frame,
            phase,
            imports,
            ..
        } = self;
        let frame = frame.as_mut().ok_or_else(destroyed)?;
        match phase {
            Phase::Selected => {}
            Phase::None | Phase::Idle => {
                return Err(Fault::state("no frame is selected: call thSelectFrame first"));
            }
            Phase::Recording(_) => {
                return Err(Fault::state(
                    "a frame is already being recorded: call thSubmitFrame or thDiscardFrame first",
                ));
            }
        }
        let selected = frame.selected();
        let selected = selected.ok_or_else(|| {
            Fault::state("the selection is no longer valid: select the frame again with thSelectFrame")
        })?;
        read(imports, selected.plan().input.frame())?;
        *phase = Phase::Idle;
        // SAFETY: the imports are alive until the frame is complete, and in their entry states (the caller's duty).
        let recorder = unsafe { selected.begin(&imports.get()) }?.detach();
        let number = recorder.number().0;
        *phase = Phase::Recording(recorder);
        Ok(number)
    }

    /// Ends the recording, whether it was submitted or not.
    pub(crate) fn end(&mut self) {
        self.phase = Phase::Idle;
    }

    /// Returns true if the recorder can still be used.
    pub(crate) fn is_recording(&self) -> bool {
        match (&self.frame, &self.phase) {
            (Some(frame), Phase::Recording(recorder)) => frame.share(recorder).is_some(),
            _ => false,
        }
    }

    /// The frame, for functions that do not depend on its phase.
    pub(crate) fn frame(&mut self) -> Result<&mut DynamicFrame, Fault> {
        self.frame.as_mut().ok_or_else(destroyed)
    }
}
