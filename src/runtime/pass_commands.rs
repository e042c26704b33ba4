//! Recording of the passes of a command buffer: begin and end, subpasses, contents and resources.

use std::cell::Cell;

use ash::vk;

use super::bound_access::{AccessKey, BoundAccess};
use super::error::RuntimeRule;
use super::per_tile::PerTileExecution;
use super::record::{Commands, TileBinding, contents};
use crate::Result;
use crate::frame::tables::CommandSource;
use crate::frame::{PassId, viewport};

/// A pass that has begun: its command buffer, subpasses and resources. [`Commands::pass`] passes it to the closure that records the pass;
/// after [`Commands::begin_pass`], [`Commands::pass_commands`] returns it.
#[derive(Debug)]
pub struct PassCommands<'a> {
    pub(super) commands: &'a Commands<'a>,
    pub(super) pass: PassId,
}

impl Commands<'_> {
    /// Records a pass: binds its tile memory, records its barriers, begins its render pass, records the caller's commands, and ends it.
    ///
    /// # Errors
    /// When another pass is next, or its contents are declared secondary.
    pub fn pass<R>(&mut self, pass: PassId, record: impl FnOnce(&PassCommands<'_>) -> R) -> Result<R> {
        let _span = self.span.clone().entered();
        let planned = self.bound.plan.pass_of_input(pass);
        self.check_contents(planned, CommandSource::Inline)?;
        self.begin(planned, vk::RenderingFlags::empty());
        let result = record(&self.pass_commands());
        self.end();
        self.record_runtime_passes();
        Ok(result)
    }

    /// Begins a pass: binds its tile memory, records its barriers and begins its render pass. Record its commands into
    /// [`command_buffer`](Commands::command_buffer), then end it with [`end_pass`](Commands::end_pass).
    /// [`pass_commands`](Commands::pass_commands) returns the command buffer together with the pass's resources. If the pass has secondary
    /// contents, [execute](PassCommands::execute) them in each of its subpasses.
    ///
    /// ```no_run
    /// # use tileheap::frame::PassId;
    /// # use tileheap::runtime::{Commands, PassCommands};
    /// # fn draw(pass: &PassCommands<'_>) {}
    /// # fn f(commands: &mut Commands<'_>, gbuffer: PassId) -> tileheap::Result<()> {
    /// commands.begin_pass(gbuffer)?;
    /// draw(&commands.pass_commands());
    /// commands.end_pass()?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When another pass is next, another one has begun, or the pass renders nothing in this frame.
    pub fn begin_pass(&mut self, pass: PassId) -> Result<()> {
        let _span = self.span.clone().entered();
        let pass = self.bound.plan.pass_of_input(pass);
        self.check_renders(pass)?;
        let contents = contents(self.bound.plan.frame.pass(pass).contents);
        self.begin(pass, contents);
        Ok(())
    }

    /// The pass that has begun: its command buffer and resources.
    ///
    /// # Panics
    /// If no pass has begun.
    pub fn pass_commands(&self) -> PassCommands<'_> {
        let pass = self.begun.expect("a pass has begun");
        PassCommands { commands: self, pass }
    }

    /// Ends the pass that has begun: ends its render pass and records the barriers after it.
    ///
    /// # Errors
    /// When no pass has begun.
    pub fn end_pass(&mut self) -> Result<()> {
        let _span = self.span.clone().entered();
        if self.begun.is_none() {
            let commands = &self.bound.plan.frame.command_buffers()[self.id.index()].name;
            let message = format!("end_pass: no pass has begun in command buffer `{commands}`");
            return Err(RuntimeRule::Order.broken(message));
        }
        self.end();
        self.record_runtime_passes();
        Ok(())
    }

    /// Records a render pass whose contents are in secondary command buffers, a list for each of its subpasses (see
    /// [`FrameRecorder::begin_secondary`](super::FrameRecorder::begin_secondary)).
    ///
    /// # Errors
    /// When another pass is next, its contents are declared inline, or it has a different number of subpasses.
    ///
    /// # Safety
    /// The command buffers are executable, begun for their subpass of this pass in this frame, and not pending elsewhere.
    pub unsafe fn pass_secondary(&mut self, pass: PassId, contents: &[&[vk::CommandBuffer]]) -> Result<()> {
        let _span = self.span.clone().entered();
        let pass = self.bound.plan.pass_of_input(pass);
        self.check_contents(pass, CommandSource::Secondary)?;
        if contents.len() != self.subpasses() as usize {
            return Err(RuntimeRule::Contents.broken(format!(
                "the number of subpasses of {} is {}, but contents are given for {}",
                self.next_name(),
                self.subpasses(),
                contents.len()
            )));
        }
        self.begin(pass, vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS);
        for (number, contents) in contents.iter().enumerate() {
            let pass = self.pass_commands();
            if number > 0 {
                pass.next_subpass();
            }
            // SAFETY: the caller's duty; the subpass was begun for secondary contents.
            unsafe { pass.execute(contents) };
        }
        self.end();
        self.record_runtime_passes();
        Ok(())
    }
}

impl PassCommands<'_> {
    /// The command buffer, inside the render pass if the pass is a render pass.
    pub fn command_buffer(&self) -> vk::CommandBuffer {
        self.commands.handle
    }

    /// The caller's device.
    pub fn device(&self) -> &ash::Device {
        &self.commands.bound.state.device
    }

    /// The render area of a render pass in this frame: the described one, or a [part](super::FrameRecorder::set_area) of it.
    pub fn area(&self) -> vk::Rect2D {
        self.commands.bound.recording.areas[self.pass.index()]
            .expect("a pass that renders nothing has no commands")
    }

    /// The viewport that covers the render area, with depths from 0 to 1.
    pub fn viewport(&self) -> vk::Viewport {
        viewport(self.area())
    }

    /// Begins the next subpass of a render pass ([`PassBuilder::next_subpass`](crate::frame::PassBuilder::next_subpass)), whose pipelines
    /// are created with [`BoundFrame::target_in`](super::BoundFrame::target_in). Subpasses that the commands do not begin are empty.
    ///
    /// # Panics
    /// If the pass has no further subpass.
    pub fn next_subpass(&self) {
        self.commands.next_subpass(contents(self.contents()));
    }

    /// Records per-tile execution of a pass with [tile shading](crate::frame::PassBuilder::tile_shading): the draws and dispatches that `record` records run
    /// once for each tile of the render area. Draws need the feature `tileShadingPerTileDraw`, dispatches `tileShadingPerTileDispatch`
    /// ([`DeviceProfile::may_have`](crate::profile::DeviceProfile::may_have)). Attachment clears, queries and events are not allowed inside. Commands that
    /// depend on each other or on earlier draws need barriers with `VK_DEPENDENCY_BY_REGION_BIT`, recorded by `record`; in dynamic rendering, these require
    /// [`Capabilities::LOCAL_READ`](super::Capabilities::LOCAL_READ).
    ///
    /// ```no_run
    /// # use tileheap::frame::PassId;
    /// # use tileheap::runtime::Commands;
    /// # fn f(commands: &mut Commands<'_>, shade: PassId) -> tileheap::Result<()> {
    /// commands.pass(shade, |pass| {
    ///     // Draw the attachments, then bind a compute pipeline and its descriptors.
    ///     // SAFETY: barriers are recorded; the pipeline's shader has a shading rate, and accesses tile attachments of the pass.
    ///     pass.per_tile(|tile| unsafe { tile.dispatch_tile() })?
    /// })??;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When the pass is described without tile shading, the device has enabled neither feature, or per-tile execution has begun already.
    ///
    /// Source: Vulkan specification, "Per-Tile Execution Model".
    pub fn per_tile<R>(&self, record: impl FnOnce(&PerTileExecution<'_>) -> R) -> Result<R> {
        let Commands {
            bound,
            handle,
            per_tile,
            ..
        } = self.commands;
        let pass = bound.plan.frame.pass(self.pass);
        let refuse = |why: &str| {
            let message = format!("per-tile execution of pass `{}` cannot begin: {why}", pass.name);
            Err(RuntimeRule::PerTile.broken(message))
        };
        if self.contents() == CommandSource::Secondary {
            // VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT, VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS.
            return refuse(
                "the pass has secondary contents: begin it in those, with FrameRecorder::per_tile_secondary",
            );
        }
        if per_tile.replace(true) {
            return refuse("it has already begun");
        }
        let _ended = ClearOnDrop(per_tile);
        // SAFETY: recording inside the pass, outside of per-tile execution.
        unsafe { PerTileExecution::record(&bound.state, *handle, pass, record) }
    }

    /// The object that an access of this pass uses, with its view and layout. Identify the access by its position in the pass's
    /// declaration, or by its resource: `pass.access(0)`, `pass.access(albedo)`, `pass.access((history, HistoryVersion::Previous))`.
    ///
    /// # Panics
    /// If the pass does not declare such an access.
    #[track_caller]
    pub fn access(&self, which: impl Into<AccessKey>) -> BoundAccess {
        let Commands { bound, encoded, .. } = self.commands;
        bound.access_in(encoded, self.pass, which.into())
    }

    /// Executes the secondary command buffers of a compute or transfer pass, whose tile memory is bound again after them, or the contents of
    /// the current subpass of a render pass that is declared with [secondary contents](crate::frame::PassBuilder::secondary).
    ///
    /// Execute all contents of a subpass in one call: afterwards, the state that further command buffers would inherit is undefined
    /// ("Command Buffer State Reset"). Only render pass state remains, which is assumed to include the bound tile memory.
    ///
    /// # Panics
    /// If the pass is a render pass that is declared with inline contents.
    ///
    /// # Safety
    /// They are executable, and not pending elsewhere. Those of a compute or transfer pass may run outside a render pass; those of a render
    /// pass were begun for this subpass in this frame ([`FrameRecorder::begin_secondary`](super::FrameRecorder::begin_secondary)).
    pub unsafe fn execute(&self, secondaries: &[vk::CommandBuffer]) {
        let Commands {
            bound,
            encoded,
            handle,
            ..
        } = self.commands;
        let row = encoded.row(self.pass);
        assert!(
            row.instance.is_none() || self.contents() == CommandSource::Secondary,
            "render pass `{}` cannot execute secondary command buffers: declare it with PassBuilder::secondary",
            bound.plan.frame.pass(self.pass).name
        );
        if secondaries.is_empty() {
            return;
        }
        // SAFETY: the caller's duty.
        unsafe { bound.state.device.cmd_execute_commands(*handle, secondaries) };
        self.commands.bound_tile.set(TileBinding::Unknown);
        if row.instance.is_none() {
            self.commands.bind_tile(row.tile_memory.get());
        }
    }

    fn contents(&self) -> CommandSource {
        self.commands.bound.plan.frame.pass(self.pass).contents
    }
}

/// Clears a flag when it is dropped, even if a closure panics.
struct ClearOnDrop<'a>(&'a Cell<bool>);

impl Drop for ClearOnDrop<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}
