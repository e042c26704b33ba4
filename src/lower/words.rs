//! Tables as text: created objects, then recorded and submitted commands, in order.

use std::fmt::{self, Write as _};

use ash::vk;

use super::create::ALL_SLICES;
use super::error::counted;
use super::resolver::IGNORED;
use super::tables::commands::{DependencyRow, Families, PassContents, PassRow, Scopes};
use super::tables::instances::{AttachmentRow, InstanceRow, SubpassRow};
use super::tables::objects::{MemoryBinding, Sharing, SharingReason, SubresourceRange};
use super::tables::submission::{SemaphoreKind, SemaphoreRow};
use super::tables::{ImageOrBuffer, Lowered};
use crate::frame::Frame;
use crate::names;
use crate::units::Run;

impl Lowered {
    /// Formats the tables as text; `frame` is the frame that was lowered, and provides the names.
    pub fn text(&self, frame: &Frame) -> String {
        let mut text = String::new();
        let mut writer = Writer {
            lowered: self,
            frame,
            out: &mut text,
        };
        writer.write().expect("writing to a string does not fail");
        text
    }
}

struct Writer<'a> {
    lowered: &'a Lowered,
    frame: &'a Frame,
    out: &'a mut String,
}

impl Writer<'_> {
    fn write(&mut self) -> fmt::Result {
        self.created()?;
        let lowered = self.lowered;
        for submit in &lowered.submits {
            let (index, queue) = (submit.submit.index(), submit.queue.0);
            writeln!(self.out, "\nsubmit {index} to queue {queue}")?;
            for batch in submit.batches.of(&lowered.batches) {
                writeln!(self.out, "  batch {}", batch.batch.index())?;
                self.semaphores("wait for", batch.waits.of(&lowered.waits))?;
                for commands in batch.command_buffers.of(&lowered.command_buffers) {
                    let name = &self.frame.command_buffers()[commands.commands.index()].name;
                    writeln!(self.out, "    command buffer `{name}`")?;
                    for pass in commands.passes.of(&lowered.passes) {
                        self.pass(pass)?;
                    }
                }
                self.semaphores("signal", batch.signals.of(&lowered.signals))?;
            }
        }
        Ok(())
    }

    fn created(&mut self) -> fmt::Result {
        let lowered = self.lowered;
        for (index, memory) in lowered.memory.iter().enumerate() {
            let kind = format!("{:?}", memory.kind).to_lowercase();
            let (size, memory_type) = (memory.size, memory.memory_type);
            writeln!(self.out, "memory {index}: {size} of type {memory_type}, {kind}")?;
        }
        for (index, image) in lowered.images.iter().enumerate() {
            let vk::Extent3D { width, height, depth } = image.extent;
            let levels = counted(image.mip_levels as usize, "level");
            let layers = counted(image.array_layers as usize, "layer");
            let (name, format) = (
                self.object(ImageOrBuffer::Image(index as u32)),
                short(image.format),
            );
            let (sharing, binding) = (self.sharing(image.sharing), bound(image.binding));
            write!(self.out, "{name}: {format} {width} x {height} x {depth}, ")?;
            writeln!(self.out, "{levels}, {layers}, {sharing}{binding}")?;
            writeln!(self.out, "    {}", names::bit_names(image.usage).join(" "))?;
        }
        for (index, buffer) in lowered.buffers.iter().enumerate() {
            let (name, size) = (self.object(ImageOrBuffer::Buffer(index as u32)), buffer.size);
            let (sharing, binding) = (self.sharing(buffer.sharing), bound(buffer.binding));
            writeln!(self.out, "{name}: {size}, {sharing}{binding}")?;
            writeln!(self.out, "    {}", names::bit_names(buffer.usage).join(" "))?;
        }
        Ok(())
    }

    fn sharing(&self, Sharing { families, reason }: Sharing) -> String {
        let families = families.of(&self.lowered.families);
        match reason {
            SharingReason::OneFamily => String::new(),
            SharingReason::Transfers => "transferred between queue families, ".to_owned(),
            SharingReason::ConcurrentReads => {
                format!("shared by queue families {families:?}, which read it at the same time, ")
            }
            SharingReason::History => format!("shared by queue families {families:?} as a history, "),
        }
    }

    /// The image or buffer, with the name of its resource.
    fn object(&self, object: ImageOrBuffer) -> String {
        let (kind, index, resource) = match object {
            ImageOrBuffer::Image(index) => ("image", index, self.lowered.images[index as usize].resource),
            ImageOrBuffer::Buffer(index) => ("buffer", index, self.lowered.buffers[index as usize].resource),
        };
        format!("{kind} {index} `{}`", self.frame.resource(resource).name)
    }

    fn semaphores(&mut self, verb: &str, rows: &[SemaphoreRow]) -> fmt::Result {
        for row in rows {
            let stages = names::bit_names(row.stages).join(" ");
            let (index, value) = (row.semaphore.index, row.semaphore.value);
            match row.semaphore.kind {
                SemaphoreKind::Declared => {
                    let name = &self.frame.semaphores()[index as usize].name;
                    writeln!(self.out, "    {verb} `{name}` at {stages}")?;
                }
                SemaphoreKind::Queue => {
                    writeln!(
                        self.out,
                        "    {verb} queue {index} to reach {value:+} at {stages}"
                    )?;
                }
            }
        }
        Ok(())
    }

    fn pass(&mut self, pass: &PassRow) -> fmt::Result {
        let row = pass.row.get().unwrap_or_default();
        match pass.contents {
            PassContents::Described => write!(self.out, "      pass `{}`", self.frame.pass(pass.pass).name)?,
            PassContents::Store => write!(self.out, "      store {row}")?,
            PassContents::Clear => {
                let object = self.lowered.clears[row as usize].object.get();
                write!(self.out, "      clear {}", self.object(object))?;
            }
        }
        match pass.tile_memory.get() {
            Some(memory) => writeln!(self.out, ", tile memory {memory} bound")?,
            None => writeln!(self.out)?,
        }
        self.barriers(pass.before)?;
        if let Some(index) = pass.instance.get() {
            self.instance(index, &self.lowered.instances[index as usize])?;
        }
        self.barriers(pass.after)
    }

    fn instance(&mut self, index: u32, instance: &InstanceRow) -> fmt::Result {
        let kind = if instance.dynamic {
            "rendering"
        } else {
            "render pass object"
        };
        let vk::Extent2D { width, height } = instance.area.extent;
        let layers = counted(instance.layers as usize, "layer");
        writeln!(self.out, "        {kind} {index}: {width} x {height}, {layers}")?;
        for (number, row) in self.lowered.subpasses_of(index).iter().enumerate() {
            if number > 0 {
                writeln!(self.out, "        subpass {number}")?;
            }
            self.subpass(instance, row)?;
        }
        Ok(())
    }

    fn subpass(&mut self, instance: &InstanceRow, row: &SubpassRow) -> fmt::Result {
        for row in row.dependencies.of(&self.lowered.subpass_dependencies) {
            write!(self.out, "          after subpass {}: ", row.src_subpass)?;
            self.scopes(row.scopes)?;
        }
        let one = |row: super::tables::OptionalIndex| {
            row.get().map_or(Run::default(), |row| Run::new(row, row + 1))
        };
        let kinds = [
            ("color", row.colors),
            ("depth", one(row.depth)),
            ("resolve", row.resolves),
            ("resolve", one(row.depth_resolve)),
            ("input", row.inputs),
        ];
        let attachments = instance.attachments.of(&self.lowered.attachments);
        for (kind, run) in kinds {
            for position in run
                .of(&self.lowered.references)
                .iter()
                .filter_map(|one| one.get())
            {
                self.attachment(kind, &attachments[position as usize])?;
            }
        }
        Ok(())
    }

    fn attachment(&mut self, kind: &str, attachment: &AttachmentRow) -> fmt::Result {
        let view = &self.lowered.views[attachment.view as usize];
        let name = self.object(ImageOrBuffer::Image(view.image));
        let (load, store) = (attachment.operations.load, attachment.operations.store);
        let (load, store) = (names::name_of(load), names::name_of(store));
        let layout = names::name_of(attachment.layout);
        writeln!(self.out, "          {kind} {name}: {load}, {store}, {layout}")
    }

    fn barriers(&mut self, row: DependencyRow) -> fmt::Result {
        let lowered = self.lowered;
        for barrier in row.memory.of(&lowered.memory_barriers) {
            write!(self.out, "        memory barrier ({:?}): ", barrier.cause)?;
            self.scopes(barrier.scopes)?;
        }
        for barrier in row.images.of(&lowered.image_barriers) {
            let name = self.object(ImageOrBuffer::Image(barrier.image));
            let [old, new] = [barrier.old_layout, barrier.new_layout].map(names::name_of);
            let (part, cause) = (self.part(barrier.image, barrier.range), barrier.cause);
            write!(self.out, "        {name}{part} ({cause:?}): {old} to {new}, ")?;
            self.families(barrier.families)?;
            self.scopes(barrier.scopes)?;
        }
        for barrier in row.buffers.of(&lowered.buffer_barriers) {
            let name = self.object(ImageOrBuffer::Buffer(barrier.buffer));
            write!(self.out, "        {name} ({:?}): ", barrier.cause)?;
            self.families(barrier.families)?;
            self.scopes(barrier.scopes)?;
        }
        Ok(())
    }

    /// The levels and layers of an image that a barrier covers, as text; empty if they are all of the image's.
    fn part(&self, image: u32, range: SubresourceRange) -> String {
        let image = &self.lowered.images[image as usize];
        let (levels, layers) = (range.levels, range.layers);
        let all = match image.image_type {
            vk::ImageType::TYPE_3D => ALL_SLICES,
            _ => Run::new(0, image.array_layers),
        };
        if levels.len() as u32 == image.mip_levels && layers == all {
            return String::new();
        }
        format!(
            " levels [{}, {}) layers [{}, {})",
            levels.first, levels.end, layers.first, layers.end
        )
    }

    fn families(&mut self, families: Families) -> fmt::Result {
        if families == IGNORED {
            return Ok(());
        }
        write!(self.out, "family {} to {}, ", families.src, families.dst)
    }

    fn scopes(&mut self, scopes: Scopes) -> fmt::Result {
        let side = |stages, access| {
            let all = [
                names::bit_names::<vk::PipelineStageFlags2>(stages),
                names::bit_names::<vk::AccessFlags2>(access),
            ];
            if all.concat().is_empty() {
                "nothing".to_owned()
            } else {
                all.concat().join(" ")
            }
        };
        let from = side(scopes.src_stages, scopes.src_access);
        writeln!(
            self.out,
            "{from} before {}",
            side(scopes.dst_stages, scopes.dst_access)
        )
    }
}

fn short(format: vk::Format) -> String {
    names::name_of(format).trim_start_matches("VK_FORMAT_").to_owned()
}

fn bound(binding: MemoryBinding) -> String {
    match binding.memory.get() {
        Some(memory) => format!("memory {memory} at {} ({})", binding.offset.0, binding.size),
        None => "imported".to_owned(),
    }
}
