//! The recording of one frame: its imports and command buffers.

use ash::vk;

use super::bound_access::{AccessKey, BoundAccess};
use super::bound_frame::BoundFrame;
use super::encoded_frame::EncodedFrame;
use super::error::{RuntimeRule, VkResultExt};
use super::import::Imports;
use super::progress::FrameNumber;
use super::record::Commands;
use super::rendering::Rendering;
use super::shared_recorder::SharedRecorder;
use super::submission::SubmitCall;
use super::submit::call;
use super::use_stamp::UseStamp;
use crate::ffi::TilePropertiesQCOM;
use crate::frame::tables::{CommandSource, PassKind};
use crate::frame::{CommandBufferId, PassId, intersection};
use crate::lower::{Lowered, Parity};
use crate::{Checked, Result};

/// Records one frame, from [`BoundFrame::begin`] to its submission. Command buffers may be recorded on several threads.
///
/// A recorder that is dropped instead of submitted has no effect, even after an error: the next one has the same number and parity. The
/// caller resets the command buffers that were recorded. Imported semaphores are neither waited for nor signaled, so the semaphore of an
/// acquired swapchain image still has to be waited for. After an error of `vkQueueSubmit`, part of the frame may run, and no further frame
/// can be begun: [retire](BoundFrame::retire) the bound frame and bind it again, or [abandon](BoundFrame::abandon) it if the device is lost.
///
/// Recordings end before their frame is submitted, only one frame is recorded at a time, and a retired frame cannot be recorded:
/// ```compile_fail,E0505
/// # use tileheap::runtime::{Commands, FrameRecorder};
/// # fn f(recorder: FrameRecorder<'_>, begin: impl for<'a> Fn(&'a FrameRecorder<'_>) -> Commands<'a>) {
/// let commands = begin(&recorder);
/// unsafe { recorder.submit() };
/// commands.finish();
/// # }
/// ```
/// ```compile_fail,E0499
/// # use tileheap::runtime::{BoundFrame, Imports};
/// # fn f(bound: &mut BoundFrame, imports: &Imports<'_>) {
/// let one = unsafe { bound.begin(imports) };
/// let other = unsafe { bound.begin(imports) };
/// # drop((one, other));
/// # }
/// ```
/// ```compile_fail,E0505
/// # use tileheap::runtime::{BoundFrame, Imports};
/// # fn f(mut bound: BoundFrame, imports: &Imports<'_>) {
/// let recorder = unsafe { bound.begin(imports) };
/// bound.retire();
/// # drop(recorder);
/// # }
/// ```
#[derive(Debug)]
pub struct FrameRecorder<'a> {
    pub(super) bound: &'a mut BoundFrame,
    pub(super) number: FrameNumber,
    pub(super) parity: Parity,
    /// Index of this frame's tables in the list of lowered frames.
    pub(super) encoded: usize,
}

impl BoundFrame {
    /// Begins a frame. Earlier frames may still run on the device; the caller limits how many with [`BoundFrame::wait`].
    ///
    /// External resources and semaphores that are not in `imports` are [imported later](FrameRecorder::import).
    ///
    /// # Errors
    /// When an import does not match the frame, an earlier submission has failed, or the frame is lowered only now and the driver fails to
    /// create one of its views or framebuffers. The next call tries again.
    ///
    /// # Safety
    /// - The handles in `imports` are alive until the frame is complete, and in the declared entry states when the command buffers that use
    ///   them run.
    /// - Views that were imported into an earlier frame and destroyed since were [forgotten](BoundFrame::forget_view): framebuffers are cached
    ///   by the handles of their views, and a driver may reuse a handle for a new view.
    pub unsafe fn begin(&mut self, imports: &Imports<'_>) -> Result<FrameRecorder<'_>> {
        let number = self.series.progress().next(&self.state)?;
        let parity = self.parity();
        self.stamp = UseStamp::next();
        for slot in &self.recording.slots {
            slot.free();
        }
        self.clear_imports(number);
        self.check_imports(imports)?;
        self.import(imports);
        let encoded = self.encode(parity)?;
        self.find_missing_imports(encoded);
        for (area, pass) in self.recording.areas.iter_mut().zip(self.plan.frame.passes()) {
            *area = Some(pass.area);
        }
        for skipped in &mut self.recording.skipped {
            *skipped.get_mut() = false;
        }
        Ok(FrameRecorder {
            bound: self,
            number,
            parity,
            encoded,
        })
    }
}

impl FrameRecorder<'_> {
    /// The frame's number.
    pub fn number(&self) -> FrameNumber {
        self.number
    }

    /// The parity of this frame, which selects the current copies of history resources.
    pub fn parity(&self) -> Parity {
        self.parity
    }

    /// Imports external resources and semaphores after the frame has begun, for example a swapchain image that is acquired as late as
    /// possible, after recording the command buffers that do not use it. Import a resource before a command buffer that uses it is
    /// [recorded](FrameRecorder::record), and a semaphore before the frame is submitted. Earlier imports of this frame remain, unless they
    /// are imported again.
    ///
    /// ```no_run
    /// # use ash::vk;
    /// # use tileheap::frame::{CommandBufferId, PassId, ResourceId, SemaphoreId};
    /// # use tileheap::runtime::import::{ImportedImage, ImportedSemaphore};
    /// # use tileheap::runtime::{BoundFrame, FrameRecorder, Imports};
    /// # struct Frame { scene: CommandBufferId, present: CommandBufferId, screen: ResourceId, acquired: SemaphoreId }
    /// # fn record(recorder: &FrameRecorder<'_>, commands: CommandBufferId) -> tileheap::Result<()> { Ok(()) }
    /// # fn acquire() -> (vk::Image, vk::ImageView, vk::Semaphore) { (vk::Image::null(), vk::ImageView::null(), vk::Semaphore::null()) }
    /// # fn f(bound: &mut BoundFrame, frame: Frame) -> tileheap::Result<()> {
    /// // SAFETY: nothing is imported yet.
    /// let mut recorder = unsafe { bound.begin(&Imports::default()) }?;
    /// record(&recorder, frame.scene)?;
    /// let (image, view, handle) = acquire(); // vkAcquireNextImageKHR
    /// let imports = Imports {
    ///     images: &[ImportedImage { resource: frame.screen, image, view }],
    ///     semaphores: &[ImportedSemaphore { semaphore: frame.acquired, handle, value: 0 }],
    ///     ..Imports::default()
    /// };
    /// // SAFETY: the swapchain is alive until the frame is complete.
    /// unsafe { recorder.import(&imports) }?;
    /// record(&recorder, frame.present)?;
    /// // SAFETY: no other thread uses the queues.
    /// unsafe { recorder.submit() }?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When an import does not match the frame, or a command buffer that uses the resource is already recorded; nothing is imported then. When
    /// the driver fails to create a framebuffer; the resources then count as not imported, even if they were imported before.
    ///
    /// # Safety
    /// As for [`BoundFrame::begin`].
    pub unsafe fn import(&mut self, imports: &Imports<'_>) -> Result<()> {
        let index = self.encoded;
        self.bound.check_imports(imports)?;
        self.bound.check_not_recorded(&self.encoded().tables, imports)?;
        self.bound.import(imports);
        let refresh =
            |bound: &mut BoundFrame| bound.with_encoding(|encoded, with| encoded[index].refresh(with));
        let refreshed = refresh(self.bound);
        if refreshed.is_err() {
            // A framebuffer could not be created. The resources now count as not imported: their previous imports are already replaced.
            self.bound.forget_imports(imports);
            refresh(self.bound)?;
        }
        self.bound.find_missing_imports(index);
        refreshed
    }

    /// Restricts a pass to a part of its described area in this frame, so that a resolution that changes every frame needs neither another plan nor other
    /// objects: describe the frame for the largest resolution. `None` renders nothing, for a [strip](crate::execute::Strip::within) that is outside; such a
    /// pass is not begun, and [`Commands::skip`] skips it, whether it is optional or not.
    ///
    /// Clears, load and store operations and resolves apply only to the area. Outside the area, an attachment that the pass
    /// [loads](crate::frame::LoadOp::Load) keeps its contents; one that it clears or does not care about is undefined, whatever its earlier contents.
    /// Later reads, in this frame or as a history in the next, must stay inside the area: clamp filters and kernels to it. The commands of the pass
    /// set viewport and scissor to [`PassCommands::viewport`](super::PassCommands::viewport) and [`area`](super::PassCommands::area). Multiples of
    /// `vkGetRenderAreaGranularity` may be faster.
    ///
    /// Copies at the [border](crate::execute::PassOrigin::Border) of strips follow: only what the passes of the strip render is copied out, and nothing
    /// is copied for a strip that renders nothing. Only the caller knows what a dispatch writes: if one writes the image of a strip, set the area
    /// of the copy itself, after those of the passes.
    ///
    /// ```no_run
    /// # use ash::vk;
    /// # use tileheap::frame::{CommandBufferId, PassId};
    /// # use tileheap::runtime::{BoundFrame, Imports};
    /// # struct Frame { gbuffer: PassId, scene: CommandBufferId }
    /// # fn f(bound: &mut BoundFrame, frame: Frame, cmd: vk::CommandBuffer, now: vk::Extent2D) -> tileheap::Result<()> {
    /// // SAFETY: nothing is imported.
    /// let mut recorder = unsafe { bound.begin(&Imports::default()) }?;
    /// recorder.set_area(frame.gbuffer, vk::Rect2D::from(now))?; // described for the largest extent
    /// // SAFETY: the command buffer is in the initial state, and nothing else uses it until the frame is complete.
    /// let mut commands = unsafe { recorder.record(cmd, frame.scene) }?;
    /// commands.pass(frame.gbuffer, |pass| {
    ///     let (raw, cmd) = (pass.device(), pass.command_buffer());
    ///     // SAFETY: recording, inside the pass.
    ///     unsafe { raw.cmd_set_viewport(cmd, 0, &[pass.viewport()]) };
    ///     // SAFETY: as above.
    ///     unsafe { raw.cmd_set_scissor(cmd, 0, &[pass.area()]) };
    /// })?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When the pass is not a render pass, the area is empty or not inside the described one, or the pass's command buffer is already
    /// recorded in this frame. The area then stays unchanged.
    ///
    /// Source: Vulkan specification, "Render Pass Load Operations"; VUID-VkRenderingInfo-pNext-06079, VUID-VkRenderingInfo-None-08994,
    /// VUID-VkRenderPassBeginInfo-pNext-02852, VUID-VkRenderPassBeginInfo-None-08996.
    pub fn set_area(&mut self, pass: PassId, area: impl Into<Option<vk::Rect2D>>) -> Result<()> {
        let (pass, area) = (self.bound.plan.pass_of_input(pass), area.into());
        let declared = self.bound.plan.frame.pass(pass);
        let words = |vk::Rect2D { offset, extent }| {
            let (vk::Extent2D { width, height }, vk::Offset2D { x, y }) = (extent, offset);
            format!("{width} x {height} at ({x}, {y})")
        };
        let why = match area {
            _ if declared.kind != PassKind::Render => "it is not a render pass".to_owned(),
            _ if declared.contents == CommandSource::Store => "it stores all of a resource".to_owned(),
            _ if !self.bound.recording.slots[declared.command_buffer.index()].is_free() => {
                "its command buffer is already recorded".to_owned()
            }
            Some(area) if intersection(area, declared.area) != Some(area) => {
                let (area, described) = (words(area), words(declared.area));
                format!("{area} is empty or not inside the described area, {described}")
            }
            _ => {
                self.bound.recording.areas[pass.index()] = area;
                if !declared.contents.is_recorded_by_runtime() {
                    self.bound.limit_borders(pass);
                }
                return Ok(());
            }
        };
        let name = &declared.name;
        let message = format!("pass `{name}` cannot have another render area in this frame: {why}");
        Err(RuntimeRule::RenderArea.broken(message))
    }

    /// The render area of a pass in this frame, for the viewports of its secondary command buffers; `None` if it renders nothing.
    ///
    /// # Panics
    /// If the pass is not a render pass.
    pub fn area(&self, pass: PassId) -> Option<vk::Rect2D> {
        self.shared().area(pass)
    }

    /// Returns `true` if a pass has been [skipped](Commands::skip) so far.
    pub fn is_skipped(&self, pass: PassId) -> bool {
        self.shared().is_skipped(pass)
    }

    fn encoded(&self) -> &EncodedFrame {
        &self.bound.lowering.encoded[self.encoded]
    }

    /// A shared view of this recorder, whose functions several threads can call at once.
    pub(super) fn shared(&self) -> SharedRecorder<'_> {
        SharedRecorder {
            bound: self.bound,
            parity: self.parity,
            encoded: self.encoded,
        }
    }

    /// The lowered tables of this frame: bindings, waits and attachments of each pass.
    pub fn lowered(&self) -> &Checked<Lowered> {
        &self.encoded().tables
    }

    /// The bound frame that is being recorded.
    pub fn bound(&self) -> &BoundFrame {
        self.bound
    }

    /// The object that an access of a pass uses in this frame, with its view and layout; null for an external resource that is not
    /// imported yet. See [`BoundFrame::access`].
    ///
    /// # Panics
    /// If the pass does not declare such an access.
    #[track_caller]
    pub fn access(&self, pass: PassId, which: impl Into<AccessKey>) -> BoundAccess {
        self.shared().access(pass, which)
    }

    /// Begins recording a declared command buffer: calls `vkBeginCommandBuffer`; [`Commands::finish`] ends it.
    ///
    /// # Errors
    /// If the command buffer was already recorded in this frame, a pass in it uses something that is not imported, or the driver fails.
    ///
    /// # Safety
    /// `command_buffer` is a primary command buffer from a pool of its queue's family, in the initial state (or its pool may reset it), and nothing else
    /// uses it until the frame is complete. While it is recorded, no other thread uses its pool.
    pub unsafe fn record(
        &self,
        command_buffer: vk::CommandBuffer,
        id: CommandBufferId,
    ) -> Result<Commands<'_>> {
        // SAFETY: the caller's duty.
        unsafe { self.shared().record(command_buffer, id) }
    }

    /// Begins a secondary command buffer for the contents of a subpass of a render pass (0 if it has only one), with the inheritance it
    /// needs (tile memory included). The caller records draws and ends it, then passes it to [`Commands::pass_secondary`] or
    /// [`PassCommands::execute`](super::PassCommands::execute).
    ///
    /// # Errors
    /// When the driver fails.
    ///
    /// # Panics
    /// If the pass has no such subpass.
    ///
    /// # Safety
    /// As for [`FrameRecorder::record`], but for a secondary command buffer.
    pub unsafe fn begin_secondary(
        &self,
        command_buffer: vk::CommandBuffer,
        pass: PassId,
        subpass: u32,
    ) -> Result<()> {
        // SAFETY: the caller's duty.
        unsafe { self.shared().begin_secondary(command_buffer, pass, subpass) }
    }

    /// Calls `with` with the inheritance that secondary command buffers of a subpass of a render pass need.
    ///
    /// # Panics
    /// If the pass is not a render pass, or has no such subpass.
    pub fn inheritance<R>(
        &self,
        pass: PassId,
        subpass: u32,
        with: impl FnOnce(&vk::CommandBufferInheritanceInfo<'_>) -> R,
    ) -> R {
        self.shared().inheritance(pass, subpass, with)
    }

    /// Binds the tile memory of a compute or transfer pass in a secondary command buffer, which inherits none outside render passes: call it before
    /// the first action command. Records nothing if the pass runs without bound tile memory.
    ///
    /// # Safety
    /// `command_buffer` is a secondary command buffer in the recording state.
    pub unsafe fn bind_secondary(&self, command_buffer: vk::CommandBuffer, pass: PassId) {
        // SAFETY: the caller's duty.
        unsafe { self.shared().bind_secondary(command_buffer, pass) }
    }

    /// Submits the frame: each declared submit as one call, with its semaphores and the timelines or fence that track frames.
    ///
    /// If fences count frames, a fifth frame in flight waits here for the first.
    ///
    /// # Errors
    /// When a declared command buffer was not recorded, a semaphore is not imported, or the driver fails.
    ///
    /// # Safety
    /// Nothing outside this device's frames uses the queues meanwhile; its own frames wait for each other.
    pub unsafe fn submit(self) -> Result<FrameNumber> {
        let _span = tracing::trace_span!("submit", number = self.number.0).entered();
        self.bound.check_recorded()?;
        self.bound.submit_by(self.encoded, &mut |state, one| {
            // SAFETY: the caller's duty; the recording of the command buffers is finished.
            unsafe { call(state, one) }
        })
    }

    /// Like [`FrameRecorder::submit`], but passes each `vkQueueSubmit` call to the closure `submit`, in order, so that the program can make
    /// it. The [queues](super::Device::lock_queues) stay locked until this returns.
    ///
    /// # Errors
    /// When a declared command buffer was not recorded, a semaphore is not imported, or `submit` fails.
    ///
    /// # Panics
    /// If `submit` locks the queues, or binds, selects, begins or submits a frame.
    ///
    /// # Safety
    /// `submit` submits exactly what it is given, in order, before it returns.
    pub unsafe fn submit_with(
        self,
        mut submit: impl FnMut(&SubmitCall<'_>) -> ash::prelude::VkResult<()>,
    ) -> Result<FrameNumber> {
        self.bound.check_recorded()?;
        self.bound.submit_by(self.encoded, &mut |_, one| submit(one))
    }

    /// The tiles in which the driver renders a pass while the tile memory that the plan provides for it is bound.
    ///
    /// `None` if `VK_QCOM_tile_properties` is not [enabled](super::Capabilities::TILE_PROPERTIES).
    ///
    /// # Errors
    /// When an attachment of the pass is not imported, or the driver fails.
    ///
    /// # Panics
    /// If the pass is not a render pass.
    pub fn tile_properties(&self, pass: PassId) -> Result<Option<TilePropertiesQCOM<'static>>> {
        let bound: &BoundFrame = self.bound();
        let frame = &bound.plan.frame;
        let pass = bound.plan.pass_of_input(pass);
        let name = || format!("pass `{}`", frame.pass(pass).name);
        let rendering = self.encoded().row(pass).instance.get();
        let rendering = rendering.unwrap_or_else(|| panic!("{} is not a render pass", name()));
        let user = format!("pass `{}`", frame.pass(pass).name);
        bound.check_imported_in(self.lowered(), self.encoded().row(pass), &user)?;
        let rendering = self.encoded().rendering(rendering);
        let Some(functions) = &bound.state.functions.tile_properties else {
            return Ok(None);
        };
        let mut properties = TilePropertiesQCOM::default();
        match rendering {
            Rendering::Dynamic(dynamic) => dynamic
                .with_info(frame.pass(pass).area, vk::RenderingFlags::empty(), |info| {
                    // SAFETY: the views are alive, the plan's or imported for this frame; the feature is on.
                    unsafe { functions.get_dynamic_rendering_tile_properties(info, &mut properties) }
                })
                .with_call("vkGetDynamicRenderingTilePropertiesQCOM", name)?,
            Rendering::Object(object) => {
                // SAFETY: the framebuffer is alive, made for this frame's views; the feature is on.
                let of_subpasses = unsafe { functions.get_framebuffer_tile_properties(object.framebuffer) }
                    .with_call("vkGetFramebufferTilePropertiesQCOM", name)?;
                properties = of_subpasses[0];
            }
        }
        Ok(Some(properties))
    }
}
