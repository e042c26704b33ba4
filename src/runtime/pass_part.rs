//! A render pass that is recorded in several command buffers: suspended at the end of each, and resumed in the next.
//!
//! ```text
//! declared          scene │ shadow │ gbuffer                                             │ tone_map │
//! command buffers         │ first                    │ second              │ third                  │
//! recorded                │ shadow, gbuffer begins,  │ gbuffer resumes,    │ gbuffer resumes,       │
//!                         │ draws, suspends          │ draws, suspends     │ draws, ends, tone_map  │
//! by                      │ PassPart                 │ PassPart            │ Commands               │
//! ```
//! The first command buffer already contains the preceding passes, and the following passes are recorded in the last one. No action or
//! synchronization commands are allowed between suspending and resuming a render pass, so its barriers are recorded before the first part
//! and after the last.
//!
//! Source: Vulkan specification, `VkRenderingFlagBits`; VUID-VkSubmitInfo2-commandBuffer-06192, -06010, -06011, -06012.

use ash::vk;
use ash::vk::RenderingFlags as Flags;

use super::error::{RuntimeRule, VkResultExt};
use super::pass_commands::PassCommands;
use super::record::Commands;
use super::rendering::Rendering;
use crate::Result;
use crate::frame::PassId;
use crate::frame::tables::CommandSource;

/// A part of a render pass, recorded in a separate command buffer: [`Commands::begin_pass_in_parts`]. Another thread may record it.
///
/// A frame cannot be submitted while one of its parts is not [finished](PassPart::finish).
#[derive(Debug)]
#[must_use = "a frame cannot be submitted while a part of a pass is not finished"]
pub struct PassPart<'a> {
    /// The part's own command buffer, inside the pass.
    commands: Commands<'a>,
}

impl<'a> Commands<'a> {
    /// Begins a render pass that is recorded in several command buffers, which different threads may record at the same time: this one, then
    /// each of `more`, in submission order. **The recording continues in the last of `more`:** from now on,
    /// [`command_buffer`](Commands::command_buffer) returns that one, and the end of the pass ([`end_pass`](Commands::end_pass)) and later
    /// passes are recorded in it. Returns all other parts of the pass, beginning with the part in this command buffer.
    ///
    /// A command buffer begins without any state: pipelines, descriptor sets and dynamic state that were set before the pass have to be set again in each.
    /// Queries and conditional rendering must end before the pass begins. A frame cannot be submitted before every part is [finished](PassPart::finish).
    ///
    /// ```no_run
    /// # use ash::vk;
    /// # use tileheap::frame::PassId;
    /// # use tileheap::runtime::{Commands, PassCommands};
    /// # fn draw(pass: &PassCommands<'_>, objects: std::ops::Range<u32>) {}
    /// # fn f(commands: &mut Commands<'_>, gbuffer: PassId, more: [vk::CommandBuffer; 2]) -> tileheap::Result<()> {
    /// // SAFETY: each is in the initial state, from the pool of the thread that records it, and not used until the frame is complete.
    /// let parts = unsafe { commands.begin_pass_in_parts(gbuffer, &more) }?;
    /// std::thread::scope(|threads| {
    ///     for (part, first) in parts.into_iter().zip([0, 1000]) {
    ///         threads.spawn(move || {
    ///             draw(&part.pass_commands(), first..first + 1000);
    ///             part.finish()
    ///         });
    ///     }
    ///     draw(&commands.pass_commands(), 2000..3000);
    /// });
    /// commands.end_pass()?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When another pass is next, the pass is not rendered dynamically, has several subpasses or secondary contents, or the driver fails to
    /// begin one of `more`: nothing is recorded in this command buffer then, and those of `more` that were begun are ended.
    ///
    /// # Safety
    /// - Those of [`FrameRecorder::record`](super::FrameRecorder::record) for each of `more`: primary command buffers in the initial state (or
    ///   their pools may reset them), of the same queue family, that nothing else uses until the frame is complete.
    /// - No other thread uses their pools until this returns, nor the pool of a command buffer, this one included, while its part is recorded:
    ///   parts that are recorded at the same time are of different pools.
    /// - No query is active in this command buffer, and no conditional rendering.
    pub unsafe fn begin_pass_in_parts(
        &mut self,
        pass: PassId,
        more: &[vk::CommandBuffer],
    ) -> Result<Vec<PassPart<'a>>> {
        let _span = self.span.clone().entered();
        let pass = self.bound.plan.pass_of_input(pass);
        self.check_contents(pass, CommandSource::Inline)?;
        self.check_suspendable(pass)?;
        let declared = &self.bound.plan.frame.command_buffers()[self.id.index()];
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        let device = &self.bound.state.device;
        for (index, &handle) in more.iter().enumerate() {
            // SAFETY: the caller's duty.
            let begun = unsafe { device.begin_command_buffer(handle, &info) };
            if begun.is_err() {
                for &before in &more[..index] {
                    // SAFETY: recording, and empty. The driver's result is irrelevant.
                    let _ = unsafe { device.end_command_buffer(before) };
                }
            }
            begun.with_call("vkBeginCommandBuffer", || declared.name.as_str())?;
        }
        let Some((&last, between)) = more.split_last() else {
            self.begin(pass, Flags::empty());
            return Ok(Vec::new());
        };
        for &handle in more {
            self.bound.recording.slots[self.id.index()].add(handle);
        }
        self.begin(pass, Flags::SUSPENDING);
        let mut parts = Vec::with_capacity(more.len());
        parts.push(PassPart {
            commands: self.continued(self.handle),
        });
        for &handle in between {
            let commands = self.continued(handle);
            commands.resume(Flags::RESUMING | Flags::SUSPENDING);
            parts.push(PassPart { commands });
        }
        *self = self.continued(last);
        self.resume(Flags::RESUMING);
        Ok(parts)
    }

    /// Returns an error if the pass cannot be suspended.
    fn check_suspendable(&self, pass: PassId) -> Result<()> {
        let why = match self.rendering() {
            None => "it is not a render pass",
            Some((Rendering::Object(_), _)) => {
                "it is recorded as a render pass object, and only dynamic rendering can be suspended"
            }
            Some((Rendering::Dynamic(_), _)) if self.subpasses() > 1 => "it has several subpasses",
            Some((Rendering::Dynamic(_), _)) => return Ok(()),
        };
        let pass = &self.bound.plan.frame.pass(pass).name;
        let message = format!("pass `{pass}` cannot be recorded in several command buffers: {why}");
        Err(RuntimeRule::Contents.broken(message))
    }

    /// Begins the render pass again in another command buffer.
    fn resume(&self, flags: Flags) {
        self.begin_label();
        self.bind_tile(self.row().tile_memory.get());
        let (rendering, area) = self.rendering().expect("the first part began a render pass");
        let state = &self.bound.state;
        // SAFETY: the command buffer is recording, outside render passes; the previous part is suspended with the same attachments and area.
        unsafe { rendering.begin(&state.device, &state.functions, self.handle, area, flags) };
    }
}

impl PassPart<'_> {
    /// The command buffer of this part, and the resources of the pass.
    pub fn pass_commands(&self) -> PassCommands<'_> {
        self.commands.pass_commands()
    }

    /// Suspends the pass, and ends the command buffer of this part.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn finish(self) -> Result<()> {
        let Commands {
            bound, handle, id, ..
        } = self.commands;
        let _span = self.commands.span.clone().entered();
        let (rendering, _) = self
            .commands
            .rendering()
            .expect("the first part began a render pass");
        // SAFETY: recording inside the render pass, which was begun to be suspended.
        unsafe { rendering.end(&bound.state.device, &bound.state.functions, handle) };
        self.commands.end_label();
        let name = || bound.plan.frame.command_buffers()[id.index()].name.as_str();
        // SAFETY: recording, outside render passes.
        unsafe { bound.state.device.end_command_buffer(handle) }.with_call("vkEndCommandBuffer", name)?;
        bound.recording.slots[id.index()].finish();
        Ok(())
    }
}
