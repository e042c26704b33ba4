//! Record: one command buffer's passes, with bindings, barriers and render passes around the caller's commands.
//!
//! Nothing here allocates: barriers and attachments were turned into Vulkan structs when the frame was lowered. Nothing is decided here:
//! the tables determine everything.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::Ordering;

use ash::vk;

use super::bound_frame::BoundFrame;
use super::bound_resource::{Buffer, Image, PartView};
use super::create_info::range;
use super::encoded_frame::EncodedFrame;
use super::error::{RuntimeRule, VkResultExt};
use super::rendering::Rendering;
use crate::Result;
use crate::ffi::TileMemoryBindInfoQCOM;
use crate::frame::tables::{Contents, Version};
use crate::frame::{CommandBufferId, PassId, ResourceId, viewport};
use crate::lower::Parity;
use crate::lower::tables::Object;
use crate::lower::tables::clears::ClearRow;
use crate::lower::tables::commands::{DependencyRow, PassContents, PassRow};

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
    encoded: &'a EncodedFrame,
    parity: Parity,
    handle: vk::CommandBuffer,
    id: CommandBufferId,
    /// The row of the next pass; the run of the command buffer's passes ends at `end`.
    next: u32,
    end: u32,
    tile: Cell<TileBinding>,
    /// The subpass that is being recorded.
    subpass: Cell<u32>,
    /// A pass was begun, and has not ended: remains set only if the caller's commands panicked.
    inside: bool,
    /// The recording's span, which contains those of its passes; a command buffer may change threads in between.
    span: tracing::Span,
}

/// The tile memory bound in a command buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TileBinding {
    /// This row, or nothing: a command buffer begins with nothing bound.
    Known(Option<u32>),
    /// Secondary command buffers have left it undefined.
    Unknown,
}

impl<'a> Commands<'a> {
    pub(super) fn new(
        bound: &'a BoundFrame,
        encoded: &'a EncodedFrame,
        parity: Parity,
        handle: vk::CommandBuffer,
        id: CommandBufferId,
    ) -> Commands<'a> {
        let passes = encoded.tables.command_buffers[id.index()].passes;
        let declared = &bound.plan.frame.command_buffers()[id.index()];
        let mut commands = Commands {
            bound,
            encoded,
            parity,
            handle,
            id,
            next: passes.first,
            end: passes.end,
            tile: Cell::new(TileBinding::Known(None)),
            subpass: Cell::new(0),
            inside: false,
            span: tracing::trace_span!("record", commands = declared.name),
        };
        commands.own_passes();
        commands
    }

    /// Records a pass: tile memory bound, barriers, the render pass begun, then the caller's commands, then ended.
    ///
    /// # Errors
    /// When another pass is next, or its contents are declared secondary.
    pub fn pass<R>(&mut self, pass: PassId, record: impl FnOnce(&PassCommands<'_>) -> R) -> Result<R> {
        let _span = self.span.clone().entered();
        let pass = self.bound.plan.pass_of(pass);
        self.check_contents(pass, Contents::Inline)?;
        self.before(false);
        self.inside = true;
        let result = record(&PassCommands { commands: self, pass });
        self.inside = false;
        self.after();
        self.own_passes();
        Ok(result)
    }

    /// Skips an optional pass in this frame: its barriers are recorded, its tile memory is bound and its attachments are loaded, cleared
    /// and stored as usual, but it contains no commands. The pass [declares](crate::frame::tables::Pass::optional) what happens to its
    /// outputs. A pass that [renders nothing](super::FrameRecorder::set_area) does not load, clear or store anything either.
    ///
    /// # Errors
    /// When another pass is next, or it renders and is not [optional](crate::frame::PassBuilder::optional).
    pub fn skip(&mut self, pass: PassId) -> Result<()> {
        let _span = self.span.clone().entered();
        let pass = self.bound.plan.pass_of(pass);
        let declared = self.bound.plan.frame.pass(pass);
        self.check_next(pass)?;
        if declared.optional.is_none() && self.bound.areas[pass.index()].is_some() {
            return Err(RuntimeRule::NotOptional.broken(format!(
                "pass `{}` cannot be left out of a frame: declare it optional",
                declared.name
            )));
        }
        self.before(declared.contents == Contents::Secondary);
        self.after();
        self.bound.skipped[pass.index()].store(true, Ordering::Release);
        self.own_passes();
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
        let pass = self.bound.plan.pass_of(pass);
        self.check_contents(pass, Contents::Secondary)?;
        if contents.len() != self.subpasses() as usize {
            return Err(RuntimeRule::Contents.broken(format!(
                "{} has {} subpasses but is recorded with the contents of {}",
                self.next_name(),
                self.subpasses(),
                contents.len()
            )));
        }
        self.before(true);
        for (number, contents) in contents.iter().enumerate() {
            if number > 0 {
                self.next_subpass(true);
            }
            if !contents.is_empty() {
                let device = &self.bound.state.device;
                // SAFETY: the caller's duty; the subpass was begun for secondary contents.
                unsafe { device.cmd_execute_commands(self.handle, contents) };
                self.tile.set(TileBinding::Unknown);
            }
        }
        self.after();
        self.own_passes();
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
        self.check_ended()?;
        if self.next != self.end {
            let missing = self.next_name();
            return Err(RuntimeRule::Recording.broken(format!(
                "command buffer `{}` is finished before {missing} was recorded",
                declared.name
            )));
        }
        // SAFETY: begun by `FrameRecorder::record`, outside render passes, which `pass` ends.
        unsafe { self.bound.state.device.end_command_buffer(self.handle) }
            .with_call("vkEndCommandBuffer", || declared.name.as_str())?;
        self.bound.slots[self.id.index()].done();
        Ok(())
    }

    /// An error if a pass did not end.
    fn check_ended(&self) -> Result<()> {
        if !self.inside {
            return Ok(());
        }
        let declared = &self.bound.plan.frame.command_buffers()[self.id.index()];
        let (commands, next) = (&declared.name, self.next_name());
        Err(RuntimeRule::Recording.broken(format!(
            "command buffer `{commands}` cannot be used any more: the recording of {next} panicked"
        )))
    }

    /// Whether `pass` comes next.
    fn check_next(&self, pass: PassId) -> Result<()> {
        self.check_ended()?;
        let frame = &self.bound.plan.frame;
        if self.next_pass() != Some(pass) {
            let expected = self.next_name();
            let commands = &frame.command_buffers()[self.id.index()].name;
            let pass = &frame.pass(pass).name;
            return Err(RuntimeRule::Order.broken(format!(
                "pass `{pass}` was recorded in command buffer `{commands}`, where {expected} is \
                 next"
            )));
        }
        Ok(())
    }

    /// Whether `pass` comes next, with contents of this kind.
    fn check_contents(&self, pass: PassId, recorded: Contents) -> Result<()> {
        self.check_next(pass)?;
        let frame = &self.bound.plan.frame;
        if self.bound.areas[pass.index()].is_none() {
            let pass = &frame.pass(pass).name;
            let why = format!("pass `{pass}` renders nothing in this frame, and has no commands: skip it");
            return Err(RuntimeRule::RenderArea.broken(why));
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
            return Err(RuntimeRule::Contents.broken(format!(
                "pass `{pass}` is declared with {declared} contents but recorded with {recorded} \
                 contents"
            )));
        }
        Ok(())
    }

    fn row(&self) -> &'a PassRow {
        &self.encoded.tables.passes[self.next as usize]
    }

    /// The rendering of the next pass, and its area in this frame; `None` for passes that are not render passes, and those that render
    /// nothing.
    fn rendering(&self) -> Option<(&'a Rendering, vk::Rect2D)> {
        let row = self.row();
        let index = row.instance.get()?;
        let area = match row.contents {
            PassContents::Described => self.bound.areas[row.pass.index()]?,
            _ => self.encoded.tables.instances[index as usize].area,
        };
        Some((self.encoded.rendering(index), area))
    }

    /// The caller's pass that comes next.
    fn next_pass(&self) -> Option<PassId> {
        let row = (self.next < self.end).then(|| self.row())?;
        (row.contents == PassContents::Described).then_some(row.pass)
    }

    fn next_name(&self) -> String {
        let name = |pass| format!("pass `{}`", self.bound.plan.frame.pass(pass).name);
        self.next_pass().map_or("no pass".to_owned(), name)
    }

    /// Records the passes that come next and belong to the runtime, not to the caller.
    fn own_passes(&mut self) {
        while self.next < self.end {
            match self.row().contents {
                PassContents::Described => return,
                PassContents::Store => {
                    self.before(false);
                    let store = &self.bound.stores[self.row().row.get().expect("checked") as usize];
                    // SAFETY: `before` began the pass, with its barriers.
                    unsafe { store.record(&self.bound.state, self.handle, self.parity.index()) };
                }
                PassContents::Clear => {
                    self.before(false);
                    let row = self.row().row.get().expect("checked");
                    // SAFETY: `before` recorded the barriers; the queue can clear it (checked when the plan was bound).
                    unsafe { self.clear(&self.encoded.tables.clears[row as usize]) };
                }
            }
            self.after();
        }
    }

    /// # Safety
    /// Recording outside render passes; the object is in the layout for clearing.
    unsafe fn clear(&self, clear: &ClearRow) {
        let BoundFrame { state, handles, .. } = self.bound;
        let (device, layout) = (&state.device, clear.layout);
        match clear.object.get() {
            Object::Image(index) => {
                let image = handles.images[index as usize].handle;
                let row = &self.encoded.tables.images[index as usize];
                let aspects = crate::format::aspects(row.format);
                let ranges = [range(&clear.range)];
                let value = clear.value.get().to_vk();
                if aspects.contains(vk::ImageAspectFlags::COLOR) {
                    // SAFETY: the union was made for a colour format.
                    let value = unsafe { value.color };
                    // SAFETY: the caller's duty.
                    unsafe { device.cmd_clear_color_image(self.handle, image, layout, &value, &ranges) };
                } else {
                    // SAFETY: the caller's duty; the union was made for a depth or stencil format.
                    let value = unsafe { value.depth_stencil };
                    // SAFETY: as above.
                    unsafe {
                        device.cmd_clear_depth_stencil_image(self.handle, image, layout, &value, &ranges)
                    };
                }
            }
            Object::Buffer(index) => {
                let buffer = handles.buffers[index as usize].handle;
                // SAFETY: the caller's duty; a remainder below 4 bytes is not filled.
                unsafe { device.cmd_fill_buffer(self.handle, buffer, 0, vk::WHOLE_SIZE, 0) };
            }
        }
    }

    fn before(&self, secondary: bool) {
        let (BoundFrame { state, .. }, row) = (self.bound, self.row());
        self.begin_label();
        self.bind_tile(row.tile_memory.get());
        // SAFETY: the command buffer is recording, outside render passes.
        unsafe { self.barriers(&row.before) };
        self.subpass.set(0);
        if let Some((rendering, area)) = self.rendering() {
            // SAFETY: recording outside render passes; the barriers brought every attachment to its layout; the area is inside of the row's.
            unsafe { rendering.begin(&state.device, &state.functions, self.handle, area, secondary) };
        }
    }

    /// The number of subpasses of the next pass.
    fn subpasses(&self) -> u32 {
        let subpasses = |instance| self.encoded.tables.subpasses_of(instance).len() as u32;
        self.row().instance.get().map_or(1, subpasses)
    }

    fn next_subpass(&self, secondary: bool) {
        let (state, next) = (&self.bound.state, self.subpass.get() + 1);
        let (rendering, _) = self
            .rendering()
            .filter(|_| next < self.subpasses())
            .unwrap_or_else(|| {
                let name = self.next_name();
                panic!("{name} has no subpass {next}")
            });
        self.subpass.set(next);
        // SAFETY: recording inside the previous subpass.
        unsafe { rendering.next(&state.device, &state.functions, self.handle, next, secondary) };
    }

    fn after(&mut self) {
        let (state, row) = (&self.bound.state, self.row());
        if let Some((rendering, _)) = self.rendering() {
            while self.subpass.get() + 1 < self.subpasses() {
                self.next_subpass(false);
            }
            // SAFETY: `before` began it.
            unsafe { rendering.end(&state.device, &state.functions, self.handle) };
        }
        // SAFETY: the command buffer is recording, outside render passes.
        unsafe { self.barriers(&row.after) };
        self.end_label();
        self.next += 1;
    }

    /// # Safety
    /// Recording outside render passes.
    unsafe fn barriers(&self, row: &DependencyRow) {
        let EncodedFrame { barriers, .. } = self.encoded;
        let state = &self.bound.state;
        // SAFETY: the caller's duty.
        unsafe { barriers.record(row, &state.device, &state.functions, self.handle) };
    }

    /// Binds the tile memory that a pass runs with, unless it is already bound.
    fn bind_tile(&self, memory: Option<u32>) {
        if self.tile.get() == TileBinding::Known(memory) || self.bound.state.functions.tile_memory.is_none() {
            return;
        }
        // SAFETY: recording, outside render passes.
        unsafe { self.bound.bind_tile_memory(self.handle, memory) };
        self.tile.set(TileBinding::Known(memory));
    }

    fn begin_label(&self) {
        if let Some(debug) = &self.bound.state.functions.debug_utils {
            let label = vk::DebugUtilsLabelEXT::default()
                .label_name(&self.bound.labels[self.encoded.label(self.next)]);
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
    /// Records the binding of a row of memory as tile memory, or of none.
    ///
    /// # Safety
    /// `commands` is recording, outside a render pass.
    pub(super) unsafe fn bind_tile_memory(&self, commands: vk::CommandBuffer, memory: Option<u32>) {
        let Some(tile) = &self.state.functions.tile_memory else {
            return;
        };
        let memory = memory.map(|memory| self.handles.memory[memory as usize]);
        let info = memory.map(|memory| TileMemoryBindInfoQCOM::default().memory(memory));
        // SAFETY: the caller's duty; the memory is a tile memory object of this plan (VUID-VkTileMemoryBindInfoQCOM-memory-10726).
        unsafe { tile.cmd_bind_tile_memory(commands, info.as_ref()) };
    }
}

/// The command buffer and the resources of a pass, for the closure that records it.
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

    /// The render area of a render pass in this frame: the described one, or a [part](super::FrameRecorder::set_area) of it.
    pub fn area(&self) -> vk::Rect2D {
        self.commands.bound.areas[self.pass.index()].expect("a pass that renders nothing has no commands")
    }

    /// The viewport that covers the render area, with depths from 0 to 1.
    pub fn viewport(&self) -> vk::Viewport {
        viewport(self.area())
    }

    /// Begins the next subpass of a render pass ([`PassBuilder::next_subpass`](crate::frame::PassBuilder::next_subpass)), whose pipelines
    /// are created with [`BoundFrame::target_in`]. Subpasses that the commands do not begin are empty.
    ///
    /// # Panics
    /// If the pass has no further subpass.
    pub fn next_subpass(&self) {
        self.commands.next_subpass(false);
    }

    /// The image that this pass uses for (the current version of) `resource`.
    ///
    /// # Panics
    /// If the pass declares no such access.
    pub fn image(&self, resource: ResourceId) -> Image {
        self.commands.bound.image_of(resource, self.object(resource))
    }

    /// The views that this pass has of an image, one for each of its accesses of `resource` in declaration order.
    pub fn views(&self, resource: ResourceId) -> impl Iterator<Item = PartView> + '_ {
        let Commands { bound, encoded, .. } = self.commands;
        bound.part_views(encoded, self.pass, resource)
    }

    /// The layout that the image of (the current version of) `resource` has during this pass.
    ///
    /// # Panics
    /// If the pass declares no such access.
    pub fn layout(&self, resource: ResourceId) -> vk::ImageLayout {
        let Commands { bound, encoded, .. } = self.commands;
        encoded.tables.accesses[bound.access_of(self.pass, resource, Version::Current)].layout
    }

    /// The buffer that this pass uses for (the current version of) `resource`.
    ///
    /// # Panics
    /// If the pass declares no such access.
    pub fn buffer(&self, resource: ResourceId) -> Buffer {
        self.commands.bound.buffer_of(resource, self.object(resource))
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
            encoded,
            handle,
            ..
        } = self.commands;
        let row = encoded.row(self.pass);
        assert!(
            row.instance.is_none(),
            "secondary contents of render pass `{}` go to Commands::pass_secondary",
            bound.plan.frame.pass(self.pass).name
        );
        if secondaries.is_empty() {
            return;
        }
        // SAFETY: the caller's duty; outside render passes.
        unsafe { bound.state.device.cmd_execute_commands(*handle, secondaries) };
        self.commands.tile.set(TileBinding::Unknown);
        self.commands.bind_tile(row.tile_memory.get());
    }

    fn object(&self, resource: ResourceId) -> Object {
        let Commands { bound, parity, .. } = self.commands;
        bound.object_in(self.pass, resource, Version::Current, *parity)
    }
}
