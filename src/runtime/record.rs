//! Record: one command buffer's passes, with bindings, barriers and render passes around the caller's commands.
//!
//! Nothing here allocates: barriers and attachments were made into Vulkan's structs when the plan was bound.

use std::cell::Cell;
use std::fmt;

use ash::vk;

use super::barrier::Side;
use super::bound_frame::BoundFrame;
use super::bound_resource::{BoundResource, Buffer, Image, Parity};
use super::error::{RuntimeError, VkResultExt};
use super::frame_tables::FrameTables;
use super::store::StorePass;
use crate::Result;
use crate::ffi::TileMemoryBindInfoQCOM;
use crate::frame::tables::{Contents, Version};
use crate::frame::{CommandBufferId, PassId, ResourceId};
use crate::plan::ObjectId;

/// The recording of one declared command buffer. Passes come in declared order.
///
/// ```no_run
/// # use ash::vk;
/// # use tileheap::frame::*;
/// # use tileheap::runtime::*;
/// # fn f(recorder: &FrameRecorder<'_>, buffer: vk::CommandBuffer, scene: CommandBufferId, gbuffer: PassId, depth: ResourceId) -> tileheap::Result<()> {
/// // SAFETY: the command buffer is in the initial state, and nothing else uses it until the frame is complete.
/// let mut commands = unsafe { recorder.record(buffer, scene) }?;
/// commands.pass(gbuffer, |pass| {
///     let (raw, area) = (pass.device(), pass.area());
///     // SAFETY: recording, inside the pass.
///     unsafe { raw.cmd_set_scissor(pass.command_buffer(), 0, &[area]) };
///     let _depth = pass.image(depth); // as this pass sees it
/// })?;
/// commands.finish()?; // every pass was recorded, in its order
/// # Ok(()) }
/// ```
pub struct Commands<'a> {
    bound: &'a BoundFrame,
    tables: &'a FrameTables,
    parity: Parity,
    handle: vk::CommandBuffer,
    id: CommandBufferId,
    /// The pass that comes next, as an index; the run of the command buffer's passes ends at `end`.
    next: u32,
    end: u32,
    tile: Cell<TileBinding>,
    _span: tracing::span::EnteredSpan,
}

/// The tile memory bound in a command buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TileBinding {
    /// This, or nothing: a command buffer begins with nothing bound.
    Known(Option<ObjectId>),
    /// Secondary command buffers have left it undefined.
    Unknown,
}

impl<'a> Commands<'a> {
    pub(super) fn new(
        bound: &'a BoundFrame,
        parity: Parity,
        handle: vk::CommandBuffer,
        id: CommandBufferId,
    ) -> Commands<'a> {
        let declared = &bound.plan.frame.command_buffers()[id.index()];
        let mut commands = Commands {
            bound,
            tables: bound.tables(parity),
            parity,
            handle,
            id,
            next: declared.passes.first,
            end: declared.passes.end,
            tile: Cell::new(TileBinding::Known(None)),
            _span: tracing::trace_span!("record", commands = declared.name).entered(),
        };
        commands.store();
        commands
    }

    /// Records a pass: tile memory bound, barriers, the render pass begun, then the caller's commands, then ended.
    ///
    /// # Errors
    /// When another pass is next, or its contents are declared secondary.
    pub fn pass<R>(&mut self, pass: PassId, record: impl FnOnce(&PassCommands<'_>) -> R) -> Result<R> {
        let pass = self.bound.plan.pass_of(pass);
        self.check(pass, Contents::Inline)?;
        self.before(pass, false);
        let result = record(&PassCommands { commands: self, pass });
        self.after(pass);
        self.store();
        Ok(result)
    }

    /// Records a render pass whose contents are in secondary command buffers (see
    /// [`FrameRecorder::begin_secondary`](super::FrameRecorder::begin_secondary)).
    ///
    /// # Errors
    /// When another pass is next, or its contents are declared inline.
    ///
    /// # Safety
    /// The command buffers are executable, begun for this pass in this frame, and not pending elsewhere.
    pub unsafe fn pass_secondary(&mut self, pass: PassId, contents: &[vk::CommandBuffer]) -> Result<()> {
        let pass = self.bound.plan.pass_of(pass);
        self.check(pass, Contents::Secondary)?;
        self.before(pass, true);
        if !contents.is_empty() {
            // SAFETY: the caller's duty; the render pass was begun for secondary contents.
            unsafe {
                self.bound
                    .state
                    .device
                    .cmd_execute_commands(self.handle, contents)
            };
            self.tile.set(TileBinding::Unknown);
        }
        self.after(pass);
        self.store();
        Ok(())
    }

    /// The command buffer, for state and debugging commands between passes. Action commands belong in a declared pass.
    pub fn command_buffer(&self) -> vk::CommandBuffer {
        self.handle
    }

    /// Ends the command buffer.
    ///
    /// # Errors
    /// When a declared pass was not recorded, or the driver fails.
    pub fn finish(self) -> Result<()> {
        let frame = &self.bound.plan.frame;
        let declared = &frame.command_buffers()[self.id.index()];
        if self.next != self.end {
            let missing = &frame.pass(PassId(self.next)).name;
            let what = format!("is finished before pass `{missing}` was recorded");
            return Err(RuntimeError::Recording {
                commands: declared.name.clone(),
                what,
            }
            .into());
        }
        // SAFETY: begun by `FrameRecorder::record`, outside render passes, which `pass` ends.
        unsafe { self.bound.state.device.end_command_buffer(self.handle) }
            .with_call("vkEndCommandBuffer", || declared.name.as_str())?;
        self.bound.slots[self.id.index()].done();
        Ok(())
    }

    /// Whether `pass` comes next, with such contents.
    fn check(&self, pass: PassId, recorded: Contents) -> Result<()> {
        let frame = &self.bound.plan.frame;
        if pass.index() as u32 != self.next || self.next == self.end {
            let expected = if self.next < self.end {
                format!("pass `{}`", frame.pass(PassId(self.next)).name)
            } else {
                "no pass".to_owned()
            };
            let commands = frame.command_buffers()[self.id.index()].name.clone();
            let pass = frame.pass(pass).name.clone();
            return Err(RuntimeError::Order {
                pass,
                commands,
                expected,
            }
            .into());
        }
        let declared = frame.pass(pass).contents;
        if declared != recorded {
            let text = |contents| match contents {
                Contents::Inline => "inline",
                Contents::Secondary => "secondary",
                Contents::Store => "the runtime's",
            };
            let (declared, recorded) = (text(declared), text(recorded));
            let pass = frame.pass(pass).name.clone();
            return Err(RuntimeError::Contents {
                pass,
                declared,
                recorded,
            }
            .into());
        }
        Ok(())
    }

    /// Records the stores that come next: they are the runtime's, not the caller's.
    fn store(&mut self) {
        while self.next < self.end {
            let pass = PassId(self.next);
            let Some(store) = StorePass::of(&self.bound.stores, pass) else {
                return;
            };
            self.before(pass, false);
            // SAFETY: `before` began the pass, with its barriers.
            unsafe { store.record(&self.bound.state, self.handle, self.parity.index()) };
            self.after(pass);
        }
    }

    fn before(&self, pass: PassId, secondary: bool) {
        let BoundFrame { state, plan, .. } = self.bound;
        self.begin_label(pass);
        self.bind_tile(plan.passes[pass.index()].bound_object);
        // SAFETY: the command buffer is recording, outside render passes.
        unsafe {
            self.tables
                .barriers
                .record(&state.device, &state.functions, self.handle, pass, Side::LoadOp);
        }
        if let Some(rendering) = &self.tables.renderings[pass.index()] {
            // SAFETY: recording outside render passes; the barriers brought every attachment to its layout.
            unsafe { rendering.begin(&state.device, &state.functions, self.handle, secondary) };
        }
    }

    fn after(&mut self, pass: PassId) {
        let state = &self.bound.state;
        if let Some(rendering) = &self.tables.renderings[pass.index()] {
            // SAFETY: `before` began it.
            unsafe { rendering.end(&state.device, &state.functions, self.handle) };
        }
        // SAFETY: the command buffer is recording, outside render passes.
        unsafe {
            self.tables
                .barriers
                .record(&state.device, &state.functions, self.handle, pass, Side::After);
        }
        self.end_label();
        self.next += 1;
    }

    /// Binds what a pass runs with, if something else is bound.
    fn bind_tile(&self, object: Option<ObjectId>) {
        if self.tile.get() == TileBinding::Known(object) || self.bound.state.functions.tile_memory.is_none() {
            return;
        }
        // SAFETY: recording, outside render passes.
        unsafe { self.bound.bind_tile_memory(self.handle, object) };
        self.tile.set(TileBinding::Known(object));
    }

    fn begin_label(&self, pass: PassId) {
        if let Some(debug) = &self.bound.state.functions.debug_utils {
            let label = vk::DebugUtilsLabelEXT::default().label_name(&self.bound.labels[pass.index()]);
            // SAFETY: the command buffer is recording.
            unsafe { debug.cmd_begin_debug_utils_label(self.handle, &label) };
        }
    }

    fn end_label(&self) {
        if let Some(debug) = &self.bound.state.functions.debug_utils {
            // SAFETY: the command buffer is recording, and `begin_label` began one.
            unsafe { debug.cmd_end_debug_utils_label(self.handle) };
        }
    }
}

impl fmt::Debug for Commands<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commands")
            .field("handle", &self.handle)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

impl BoundFrame {
    /// Records the binding of a tile memory object, or of none.
    ///
    /// # Safety
    /// `commands` is recording, outside a render pass.
    pub(super) unsafe fn bind_tile_memory(&self, commands: vk::CommandBuffer, object: Option<ObjectId>) {
        let Some(tile) = &self.state.functions.tile_memory else {
            return;
        };
        let memory = object.map(|object| self.memory[object.index()]);
        let info = memory.map(|memory| TileMemoryBindInfoQCOM::default().memory(memory));
        // SAFETY: the caller's duty; the memory is a tile object of this plan (VUID-VkTileMemoryBindInfoQCOM-memory-10726).
        unsafe { tile.cmd_bind_tile_memory(commands, info.as_ref()) };
    }
}

/// What a pass's closure records into and looks things up in.
#[derive(Debug)]
pub struct PassCommands<'a> {
    commands: &'a Commands<'a>,
    pass: PassId,
}

impl PassCommands<'_> {
    /// The command buffer, inside the render pass if the pass is one.
    pub fn command_buffer(&self) -> vk::CommandBuffer {
        self.commands.handle
    }

    /// The caller's device.
    pub fn device(&self) -> &ash::Device {
        &self.commands.bound.state.device
    }

    /// The render area of a render pass.
    pub fn area(&self) -> vk::Rect2D {
        let extent = self.commands.bound.plan.frame.pass(self.pass).area;
        vk::Rect2D {
            offset: vk::Offset2D::default(),
            extent,
        }
    }

    /// The image that this pass uses for (the current version of) `resource`.
    ///
    /// # Panics
    /// If the pass declares no such access.
    pub fn image(&self, resource: ResourceId) -> Image {
        self.commands
            .bound
            .image_at(resource, self.place(resource, Version::Current))
    }

    /// The image that this pass uses for the previous version of `resource`.
    ///
    /// # Panics
    /// If the pass declares no such access.
    pub fn image_previous(&self, resource: ResourceId) -> Image {
        self.commands
            .bound
            .image_at(resource, self.place(resource, Version::Previous))
    }

    /// The layout that the image of (the current version of) `resource` has during this pass.
    ///
    /// # Panics
    /// If the pass declares no such access.
    pub fn layout(&self, resource: ResourceId) -> vk::ImageLayout {
        self.commands
            .bound
            .layout_in(self.pass, resource, Version::Current)
    }

    /// The buffer that this pass uses for (the current version of) `resource`.
    ///
    /// # Panics
    /// If the pass declares no such access.
    pub fn buffer(&self, resource: ResourceId) -> Buffer {
        self.commands
            .bound
            .buffer_at(resource, self.place(resource, Version::Current))
    }

    /// The buffer that this pass uses for the previous version of `resource`.
    ///
    /// # Panics
    /// If the pass declares no such access.
    pub fn buffer_previous(&self, resource: ResourceId) -> Buffer {
        self.commands
            .bound
            .buffer_at(resource, self.place(resource, Version::Previous))
    }

    /// Executes secondary command buffers of a compute or transfer pass, and binds the pass's tile memory again after them.
    /// (Those of a render pass go to [`Commands::pass_secondary`].)
    ///
    /// # Panics
    /// If the pass is a render pass.
    ///
    /// # Safety
    /// They are executable secondary command buffers that may run outside a render pass.
    pub unsafe fn execute(&self, secondaries: &[vk::CommandBuffer]) {
        let Commands {
            bound,
            tables,
            handle,
            ..
        } = self.commands;
        assert!(
            tables.renderings[self.pass.index()].is_none(),
            "secondary contents of render pass `{}` go to Commands::pass_secondary",
            bound.plan.frame.pass(self.pass).name
        );
        if secondaries.is_empty() {
            return;
        }
        // SAFETY: the caller's duty; outside render passes.
        unsafe { bound.state.device.cmd_execute_commands(*handle, secondaries) };
        self.commands.tile.set(TileBinding::Unknown);
        self.commands
            .bind_tile(bound.plan.passes[self.pass.index()].bound_object);
    }

    fn place(&self, resource: ResourceId, version: Version) -> BoundResource {
        self.commands
            .bound
            .place_in(self.pass, resource, version, self.commands.parity)
    }
}
