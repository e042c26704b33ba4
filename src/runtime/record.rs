//! Record: the passes of one command buffer, with bindings, barriers and render passes around the caller's commands.
//!
//! Recording does not allocate: barriers and attachments were turned into Vulkan structs when the frame was lowered. It does not decide anything
//! either: the tables determine everything.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::Ordering;

use ash::vk;

use super::bound_frame::BoundFrame;
use super::create_info::range;
use super::encoded_frame::EncodedFrame;
use super::error::{RuntimeRule, VkResultExt};
use super::rendering::Rendering;
use crate::Result;
use crate::ffi::TileMemoryBindInfoQCOM;
use crate::frame::tables::CommandSource;
use crate::frame::{CommandBufferId, PassId};
use crate::lower::Parity;
use crate::lower::tables::ImageOrBuffer;
use crate::lower::tables::clears::ClearRow;
use crate::lower::tables::commands::{DependencyRow, PassContents, PassRow};

/// The recording of one declared command buffer. Passes come in declared order: [`pass`](Commands::pass) takes a closure that records the commands of a pass;
/// [`begin_pass`](Commands::begin_pass) and [`end_pass`](Commands::end_pass) enclose commands that are recorded in any other way.
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
///     let _depth = pass.access(depth).layout; // as this pass uses it
/// })?;
/// commands.finish()?; // every pass was recorded, in its order
/// # Ok(()) }
/// ```
pub struct Commands<'a> {
    pub(super) bound: &'a BoundFrame,
    pub(super) encoded: &'a EncodedFrame,
    pub(super) parity: Parity,
    pub(super) handle: vk::CommandBuffer,
    pub(super) id: CommandBufferId,
    /// The row of the next pass, or of the pass that has begun; the run of the command buffer's passes ends at `end`.
    pub(super) next: u32,
    pub(super) end: u32,
    pub(super) bound_tile: Cell<TileBinding>,
    /// The subpass that is being recorded.
    pub(super) subpass: Cell<u32>,
    /// True inside per-tile execution.
    pub(super) per_tile: Cell<bool>,
    /// The pass that has begun and not ended.
    pub(super) begun: Option<PassId>,
    /// The recording's span, which contains the spans of its passes; the recording may move to another thread between passes.
    pub(super) span: tracing::Span,
}

/// The tile memory bound in a command buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TileBinding {
    /// The memory object at this row of `Lowered::memory`, or nothing: a command buffer begins with nothing bound.
    Known(Option<u32>),
    /// Undefined, because secondary command buffers were executed.
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
            bound_tile: Cell::new(TileBinding::Known(None)),
            subpass: Cell::new(0),
            per_tile: Cell::new(false),
            begun: None,
            span: tracing::trace_span!("record", commands = declared.name),
        };
        commands.record_runtime_passes();
        commands
    }

    /// The same recording, continued in the command buffer `handle`, in which nothing is bound unless it is the current command buffer.
    pub(super) fn continued(&self, handle: vk::CommandBuffer) -> Commands<'a> {
        let is_own = handle == self.handle;
        let tile = if is_own {
            self.bound_tile.get()
        } else {
            TileBinding::Known(None)
        };
        Commands {
            handle,
            bound_tile: Cell::new(tile),
            subpass: self.subpass.clone(),
            per_tile: Cell::new(false),
            span: self.span.clone(),
            ..*self
        }
    }

    /// Skips an optional pass in this frame: its barriers are recorded, its tile memory is bound and its attachments are loaded, cleared
    /// and stored as usual, but it contains no commands. The pass [declares](crate::frame::tables::Pass::optional) what happens to its
    /// outputs. A pass that [renders nothing](super::FrameRecorder::set_area) does not load, clear or store anything either.
    ///
    /// # Errors
    /// When another pass is next, or it renders and is not [optional](crate::frame::PassBuilder::optional).
    pub fn skip(&mut self, pass: PassId) -> Result<()> {
        let _span = self.span.clone().entered();
        let pass = self.bound.plan.pass_of_input(pass);
        let declared = self.bound.plan.frame.pass(pass);
        self.check_next(pass, "skip")?;
        if declared.optional.is_none() && self.bound.recording.areas[pass.index()].is_some() {
            return Err(RuntimeRule::NotOptional.broken(format!(
                "pass `{}` cannot be left out of a frame: declare it optional",
                declared.name
            )));
        }
        // It has no contents, inline or secondary.
        self.begin(pass, vk::RenderingFlags::empty());
        self.end();
        self.bound.recording.skipped[pass.index()].store(true, Ordering::Release);
        self.record_runtime_passes();
        Ok(())
    }

    /// The command buffer that is being recorded. Between passes, use it for state and debugging commands: action commands belong in a declared pass.
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
                "command buffer `{}` is finished before {missing} was recorded: begin it with Commands::begin_pass, or \
                 leave it out with Commands::skip",
                declared.name
            )));
        }
        // SAFETY: begun by `FrameRecorder::record`, outside render passes, which `pass` ends.
        unsafe { self.bound.state.device.end_command_buffer(self.handle) }
            .with_call("vkEndCommandBuffer", || declared.name.as_str())?;
        self.bound.recording.slots[self.id.index()].finish();
        Ok(())
    }

    /// Returns an error if a pass has begun but not ended, which includes a pass whose closure panicked.
    fn check_ended(&self) -> Result<()> {
        let Some(pass) = self.begun else {
            return Ok(());
        };
        let frame = &self.bound.plan.frame;
        let commands = &frame.command_buffers()[self.id.index()].name;
        let pass = &frame.pass(pass).name;
        Err(RuntimeRule::Recording.broken(format!(
            "pass `{pass}` of command buffer `{commands}` has begun but not ended: call Commands::end_pass first"
        )))
    }

    /// Returns an error unless `pass`, which the caller wants to begin or to skip, comes next.
    fn check_next(&self, pass: PassId, verb: &str) -> Result<()> {
        self.check_ended()?;
        let frame = &self.bound.plan.frame;
        if self.next_pass() != Some(pass) {
            let expected = self.next_name();
            let commands = &frame.command_buffers()[self.id.index()].name;
            let pass = &frame.pass(pass).name;
            return Err(RuntimeRule::Order.broken(format!(
                "cannot {verb} pass `{pass}`: {expected} is next in command buffer `{commands}`"
            )));
        }
        Ok(())
    }

    /// Returns an error unless `pass` comes next, and renders something if it is a render pass.
    pub(super) fn check_renders(&self, pass: PassId) -> Result<()> {
        self.check_next(pass, "begin")?;
        if self.bound.recording.areas[pass.index()].is_some() {
            return Ok(());
        }
        let pass = &self.bound.plan.frame.pass(pass).name;
        let why = format!("pass `{pass}` renders nothing in this frame, and has no commands: skip it");
        Err(RuntimeRule::RenderArea.broken(why))
    }

    /// Returns an error unless `pass` comes next, renders something if it is a render pass, and has contents of this kind.
    pub(super) fn check_contents(&self, pass: PassId, recorded: CommandSource) -> Result<()> {
        self.check_renders(pass)?;
        let frame = &self.bound.plan.frame;
        let declared = frame.pass(pass).contents;
        if declared != recorded {
            let text = |contents| match contents {
                CommandSource::Inline => "inline",
                CommandSource::Secondary => "secondary",
                CommandSource::Store | CommandSource::Border { .. } => "the runtime's",
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

    pub(super) fn row(&self) -> &'a PassRow {
        &self.encoded.tables.passes[self.next as usize]
    }

    /// The rendering of the next pass, and its area in this frame; `None` for passes that are not render passes, and for those that render nothing.
    pub(super) fn rendering(&self) -> Option<(&'a Rendering, vk::Rect2D)> {
        let row = self.row();
        let index = row.instance.get()?;
        let area = match row.contents {
            PassContents::Described | PassContents::Store => self.bound.recording.areas[row.pass.index()]?,
            PassContents::Clear => self.encoded.tables.instances[index as usize].area,
        };
        Some((self.encoded.rendering(index), area))
    }

    /// The next pass that the caller records; `None` after the last one.
    fn next_pass(&self) -> Option<PassId> {
        let row = (self.next < self.end).then(|| self.row())?;
        (row.contents == PassContents::Described).then_some(row.pass)
    }

    pub(super) fn next_name(&self) -> String {
        let name = |pass| format!("pass `{}`", self.bound.plan.frame.pass(pass).name);
        self.next_pass().map_or("no pass".to_owned(), name)
    }

    /// Records the next passes that belong to the runtime, not to the caller.
    pub(super) fn record_runtime_passes(&mut self) {
        while self.next < self.end {
            match self.row().contents {
                PassContents::Described => return,
                PassContents::Store => {
                    self.begin_row(vk::RenderingFlags::empty());
                    let store = &self.bound.objects.stores[self.row().row.get().expect("checked") as usize];
                    let area = self.rendering().map(|(_, area)| area);
                    // SAFETY: `begin_row` began the pass, with its barriers, in this area if it renders.
                    unsafe { store.record(&self.bound.state, self.handle, self.parity.index(), area) };
                }
                PassContents::Clear => {
                    self.begin_row(vk::RenderingFlags::empty());
                    let row = self.row().row.get().expect("checked");
                    // SAFETY: `begin_row` recorded the barriers; the queue can clear it (checked when the plan was bound).
                    unsafe { self.clear(&self.encoded.tables.clears[row as usize]) };
                }
            }
            self.end_row();
        }
    }

    /// Records the clear of an image or a buffer.
    ///
    /// # Safety
    /// Recording outside render passes; the object is in the layout for clearing.
    unsafe fn clear(&self, clear: &ClearRow) {
        let (state, handles) = (&self.bound.state, &self.bound.objects.handles);
        let (device, layout) = (&state.device, clear.layout);
        match clear.object.get() {
            ImageOrBuffer::Image(index) => {
                let image = handles.images[index as usize].handle;
                let row = &self.encoded.tables.images[index as usize];
                let aspects = crate::format::aspects(row.format);
                let ranges = [range(&clear.range)];
                let value = clear.value.get().to_vk();
                if aspects.contains(vk::ImageAspectFlags::COLOR) {
                    // SAFETY: the union was made for a color format.
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
            ImageOrBuffer::Buffer(index) => {
                let buffer = handles.buffers[index as usize].handle;
                // SAFETY: the caller's duty; a remainder below 4 bytes is not filled.
                unsafe { device.cmd_fill_buffer(self.handle, buffer, 0, vk::WHOLE_SIZE, 0) };
            }
        }
    }

    /// Begins the next pass of the caller.
    pub(super) fn begin(&mut self, pass: PassId, flags: vk::RenderingFlags) {
        self.begin_row(flags);
        self.begun = Some(pass);
    }

    /// Ends the current pass of the caller.
    pub(super) fn end(&mut self) {
        self.begun = None;
        self.end_row();
    }

    fn begin_row(&self, flags: vk::RenderingFlags) {
        let (state, row) = (&self.bound.state, self.row());
        self.begin_label();
        self.bind_tile(row.tile_memory.get());
        // SAFETY: the command buffer is recording, outside render passes.
        unsafe { self.barriers(&row.before) };
        self.subpass.set(0);
        if let Some((rendering, area)) = self.rendering() {
            // SAFETY: recording outside render passes; the barriers brought every attachment to its layout; the area is inside of the row's.
            unsafe { rendering.begin(&state.device, &state.functions, self.handle, area, flags) };
        }
    }

    /// The number of subpasses of the next pass.
    pub(super) fn subpasses(&self) -> u32 {
        let subpasses = |instance| self.encoded.tables.subpasses_of(instance).len() as u32;
        self.row().instance.get().map_or(1, subpasses)
    }

    /// Begins the next subpass of the pass that has begun.
    ///
    /// # Panics
    /// If the pass has no further subpass.
    pub(super) fn next_subpass(&self, flags: vk::RenderingFlags) {
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
        unsafe { rendering.next(&state.device, &state.functions, self.handle, next, flags) };
    }

    fn end_row(&mut self) {
        let (state, row) = (&self.bound.state, self.row());
        if let Some((rendering, _)) = self.rendering() {
            while self.subpass.get() + 1 < self.subpasses() {
                self.next_subpass(vk::RenderingFlags::empty());
            }
            // SAFETY: `begin_row` began it.
            unsafe { rendering.end(&state.device, &state.functions, self.handle) };
        }
        // SAFETY: the command buffer is recording, outside render passes.
        unsafe { self.barriers(&row.after) };
        self.end_label();
        self.next += 1;
    }

    /// Records the barriers of a row, all of them before or all of them after one pass.
    ///
    /// # Safety
    /// Recording outside render passes.
    unsafe fn barriers(&self, row: &DependencyRow) {
        let EncodedFrame { barriers, .. } = self.encoded;
        let state = &self.bound.state;
        // SAFETY: the caller's duty.
        unsafe { barriers.record(row, &state.device, &state.functions, self.handle) };
    }

    /// Binds the tile memory that a pass needs, unless it is already bound.
    pub(super) fn bind_tile(&self, memory: Option<u32>) {
        if self.bound_tile.get() == TileBinding::Known(memory)
            || self.bound.state.functions.tile_memory.is_none()
        {
            return;
        }
        // SAFETY: recording, outside render passes.
        unsafe { self.bound.bind_tile_memory(self.handle, memory) };
        self.bound_tile.set(TileBinding::Known(memory));
    }

    pub(super) fn begin_label(&self) {
        if let Some(debug) = &self.bound.state.functions.debug_utils {
            let label = vk::DebugUtilsLabelEXT::default()
                .label_name(&self.bound.labels[self.encoded.pass_of_row(self.next)]);
            // SAFETY: the command buffer is recording.
            unsafe { debug.cmd_begin_debug_utils_label(self.handle, &label) };
        }
    }

    pub(super) fn end_label(&self) {
        if let Some(debug) = &self.bound.state.functions.debug_utils {
            // SAFETY: the command buffer is recording, and `begin_label` began one.
            unsafe { debug.cmd_end_debug_utils_label(self.handle) };
        }
    }
}

/// Rendering flags for a render pass with contents of this kind.
pub(super) fn contents(contents: CommandSource) -> vk::RenderingFlags {
    match contents {
        CommandSource::Secondary => vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS,
        CommandSource::Inline | CommandSource::Store | CommandSource::Border { .. } => {
            vk::RenderingFlags::empty()
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
    /// Binds the object of a row of memory as tile memory; for `None`, unbinds tile memory.
    ///
    /// # Safety
    /// `commands` is recording, outside a render pass.
    pub(super) unsafe fn bind_tile_memory(&self, commands: vk::CommandBuffer, memory: Option<u32>) {
        let Some(tile) = &self.state.functions.tile_memory else {
            return;
        };
        let memory = memory.map(|memory| self.objects.handles.memory[memory as usize]);
        let info = memory.map(|memory| TileMemoryBindInfoQCOM::default().memory(memory));
        // SAFETY: the caller's duty; the memory is a tile memory object of this plan (VUID-VkTileMemoryBindInfoQCOM-memory-10726).
        unsafe { tile.cmd_bind_tile_memory(commands, info.as_ref()) };
    }
}
