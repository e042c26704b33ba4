//! Import: the caller's objects for the external resources and semaphores of a frame.

use ash::vk;

use super::bound_access::BoundBuffer;
use super::bound_frame::BoundFrame;
use super::error::RuntimeRule;
use super::progress::FrameNumber;
use super::resources::{Handles, Image, MissingImport};
use crate::Result;
use crate::frame::tables::{Access, Resource, ResourceKind, SemaphoreOp};
use crate::frame::{CommandBufferId, Frame, Persistence, ResourceId, SemaphoreId, SubresourceRange};
use crate::lower::Lowered;
use crate::lower::tables::ImageOrBuffer;
use crate::lower::tables::commands::{DependencyRow, PassRow};
use crate::lower::tables::objects::ViewRow;
use crate::units::Bytes;

/// The caller's objects for the external resources and semaphores of one frame: all of them when it [begins](BoundFrame::begin), or some of
/// them [later](super::FrameRecorder::import).
#[derive(Clone, Copy, Debug, Default)]
pub struct Imports<'a> {
    /// One element for every external image that a pass uses.
    pub images: &'a [ImportedImage],
    /// One element for every part of an external image that passes access, if they access several parts of that image.
    pub views: &'a [ImportedView],
    /// One element for every external buffer that a pass uses.
    pub buffers: &'a [ImportedBuffer],
    /// One element for every external semaphore that a batch waits for or signals.
    pub semaphores: &'a [ImportedSemaphore],
}

/// An external image.
#[derive(Clone, Copy, Debug)]
pub struct ImportedImage {
    /// The external resource.
    pub resource: ResourceId,
    /// The image, of the declared format, extent and usage.
    pub image: vk::Image,
    /// A view of the whole image. It may instead show only the part of the image that passes use, if they all use the same part; or all layers of only the
    /// first levels, if all accesses that begin at level 0 and have no [`ImportedView`] use exactly these levels. The view must be usable as an attachment if
    /// the frame uses it as one.
    pub view: vk::ImageView,
}

/// A view of a part of an external image.
#[derive(Clone, Copy, Debug)]
pub struct ImportedView {
    /// The external resource.
    pub resource: ResourceId,
    /// The levels and layers of the view, as accesses of the frame name them; aspects are ignored.
    pub range: SubresourceRange,
    /// The view.
    pub view: vk::ImageView,
}

/// An external buffer.
#[derive(Clone, Copy, Debug)]
pub struct ImportedBuffer {
    /// The external resource.
    pub resource: ResourceId,
    /// The buffer and the range in it, at least as large as declared.
    pub buffer: BoundBuffer,
}

/// An external semaphore.
#[derive(Clone, Copy, Debug)]
pub struct ImportedSemaphore {
    /// The external semaphore.
    pub semaphore: SemaphoreId,
    /// The semaphore.
    pub handle: vk::Semaphore,
    /// For a timeline semaphore, the value to wait for or signal; 0 for a binary one.
    pub value: u64,
}

impl BoundFrame {
    /// Discards the handles that were imported for the previous frame.
    pub(super) fn clear_imports(&mut self, number: FrameNumber) {
        let (handles, tables) = (&mut self.objects.handles, &self.lowering.encoded[0].tables);
        for (image, row) in handles.images.iter_mut().zip(&tables.images) {
            if row.binding.is_imported() {
                *image = Image::default();
            }
        }
        for (buffer, row) in handles.buffers.iter_mut().zip(&tables.buffers) {
            if row.binding.is_imported() {
                *buffer = BoundBuffer::default();
            }
        }
        handles.imported_views.clear();
        let signals = self.submission.semaphores_mut();
        for (signal, declared) in signals.iter_mut().zip(self.plan.frame.semaphores()) {
            // The frame's timelines advance by one per frame; binary semaphores ignore the value.
            signal.value = number.0 + 1;
            if declared.external {
                signal.handle = vk::Semaphore::null();
            }
        }
    }

    /// Returns an error if the imports do not match the frame, or conflict with each other or with earlier imports.
    pub(super) fn check_imports(&self, imports: &Imports<'_>) -> Result<()> {
        let frame = &self.plan.frame;
        for (resource, is_image) in resources_of(imports) {
            check_external(frame, resource, is_image)?;
        }
        let images = imports.images.iter().map(|one| one.resource.index());
        check_listed_once("images", images, |index| &frame.resources()[index].name)?;
        let buffers = imports.buffers.iter().map(|one| one.resource.index());
        check_listed_once("buffers", buffers, |index| &frame.resources()[index].name)?;
        let views = imports.views.iter();
        let views = views.map(|one| (one.resource.index(), one.range.levels, one.range.layers));
        check_listed_once("views", views, |(index, ..)| &frame.resources()[index].name)?;
        for import in imports.semaphores {
            let Some(declared) = frame.semaphores().get(import.semaphore.index()) else {
                return Err(other_frame(frame, "semaphore", import.semaphore.index()));
            };
            if !declared.external {
                let name = &declared.name;
                return Err(RuntimeRule::NotExternal.broken(format!(
                    "`{name}` is imported as an external semaphore, but the frame does not declare it as one"
                )));
            }
        }
        let semaphores = imports.semaphores.iter().map(|one| one.semaphore.index());
        check_listed_once("semaphores", semaphores, |index| &frame.semaphores()[index].name)?;
        for import in imports.buffers {
            check_size(frame.resource(import.resource), &import.buffer)?;
        }
        self.check_images_once(imports.images)?;
        self.check_buffers_once(imports.buffers)?;
        self.check_semaphores_once(imports.semaphores)
    }

    /// Writes imported handles into the rows of their resources.
    pub(super) fn import(&mut self, imports: &Imports<'_>) {
        let (handles, tables) = (&mut self.objects.handles, &self.lowering.encoded[0].tables);
        for import in imports.images {
            for (index, row) in (0..).zip(&tables.images) {
                if row.resource == import.resource {
                    let (handle, view) = (import.image, import.view);
                    handles.images[index as usize] = Image { handle, view };
                    // These are views of the image that is replaced.
                    handles.imported_views.retain(|(image, _, _)| *image != index);
                }
            }
        }
        for import in imports.views {
            for (index, row) in (0..).zip(&tables.images) {
                if row.resource == import.resource {
                    handles.set_imported_view(index, import.range, import.view);
                }
            }
        }
        for import in imports.buffers {
            for (buffer, row) in handles.buffers.iter_mut().zip(&tables.buffers) {
                if row.resource == import.resource {
                    *buffer = import.buffer;
                }
            }
        }
        let signals = self.submission.semaphores_mut();
        for import in imports.semaphores {
            let signal = &mut signals[import.semaphore.index()];
            (signal.handle, signal.value) = (import.handle, import.value);
        }
    }

    /// Discards the handles of these resources.
    pub(super) fn forget_imports(&mut self, imports: &Imports<'_>) {
        let (handles, tables) = (&mut self.objects.handles, &self.lowering.encoded[0].tables);
        for (resource, _) in resources_of(imports) {
            for (index, row) in (0..).zip(&tables.images) {
                if row.resource == resource {
                    handles.images[index as usize] = Image::default();
                    handles.imported_views.retain(|(image, _, _)| *image != index);
                }
            }
            for (buffer, row) in handles.buffers.iter_mut().zip(&tables.buffers) {
                if row.resource == resource {
                    *buffer = BoundBuffer::default();
                }
            }
        }
    }

    /// Lists the images, buffers and views that a lowered frame uses and that are not imported.
    pub(super) fn find_missing_imports(&mut self, encoded: usize) {
        let (frame, tables, handles) = (
            &self.plan.frame,
            &self.lowering.encoded[encoded].tables,
            &mut self.objects.handles,
        );
        let mut missing = std::mem::take(&mut handles.missing_imports);
        missing.clear();
        for ((index, row), image) in (0..).zip(&tables.images).zip(&handles.images) {
            if row.binding.is_imported() && image.handle == vk::Image::null() {
                missing.push(MissingImport::Object(ImageOrBuffer::Image(index)));
            }
        }
        for ((index, row), buffer) in (0..).zip(&tables.buffers).zip(&handles.buffers) {
            if row.binding.is_imported() && buffer.handle == vk::Buffer::null() {
                missing.push(MissingImport::Object(ImageOrBuffer::Buffer(index)));
            }
        }
        for (index, view) in (0..).zip(&tables.views) {
            let is_missing = tables.images[view.image as usize].binding.is_imported()
                && handles.images[view.image as usize].handle != vk::Image::null()
                && (handles.imported(view) == vk::ImageView::null()
                    || handles.imported_view(view).is_none()
                        && !shows_the_image(frame, tables, handles, view));
            if is_missing {
                missing.push(MissingImport::View(index));
            }
        }
        handles.missing_imports = missing;
    }

    /// Returns an error if a command buffer uses something that is not imported.
    pub(super) fn check_imported(&self, tables: &Lowered, commands: CommandBufferId) -> Result<()> {
        if self.objects.handles.missing_imports.is_empty() {
            return Ok(());
        }
        let rows = tables.command_buffers[commands.index()].passes.of(&tables.passes);
        let commands = &self.plan.frame.command_buffers()[commands.index()].name;
        let mut rows = rows.iter();
        rows.try_for_each(|row| self.check_imported_in(tables, row, &format!("command buffer `{commands}`")))
    }

    /// Returns an error if a recorded pass uses something that is not imported; `user` names the user in the message.
    pub(super) fn check_imported_in(&self, tables: &Lowered, row: &PassRow, user: &str) -> Result<()> {
        let frame = &self.plan.frame;
        let mut missing = self.objects.handles.missing_imports.iter();
        let Some(missing) = missing.find(|missing| uses(frame, tables, row, missing)) else {
            return Ok(());
        };
        let what = match *missing {
            MissingImport::Object(ImageOrBuffer::Image(index)) => {
                format!(
                    "image `{}`",
                    frame.resource(tables.images[index as usize].resource).name
                )
            }
            MissingImport::Object(ImageOrBuffer::Buffer(index)) => {
                format!(
                    "buffer `{}`",
                    frame.resource(tables.buffers[index as usize].resource).name
                )
            }
            MissingImport::View(index) => {
                let view = &tables.views[index as usize];
                let resource = frame.resource(tables.images[view.image as usize].resource);
                format!("view `{}{}`", view.range.words_in(resource), resource.name)
            }
        };
        Err(RuntimeRule::NotImported.broken(format!(
            "external {what} is not imported, and {user} uses it: add it to Imports, or import it with \
             FrameRecorder::import before the command buffer is recorded"
        )))
    }

    /// Returns an error if a semaphore that a batch waits for or signals is not imported.
    pub(super) fn check_semaphores(&self) -> Result<()> {
        let frame = &self.plan.frame;
        let batches = frame.batches().iter();
        let mut ops = batches.flat_map(|batch| batch.waits.iter().chain(&batch.signals));
        let signals = self.submission.semaphores();
        match ops.find(|op| signals[op.semaphore.index()].handle == vk::Semaphore::null()) {
            None => Ok(()),
            Some(op) => {
                let name = &frame.semaphores()[op.semaphore.index()].name;
                Err(RuntimeRule::NotImported.broken(format!(
                    "external semaphore `{name}` is not imported: add it to Imports"
                )))
            }
        }
    }

    /// Returns an error if a command buffer that uses one of the resources is already recorded in this frame.
    pub(super) fn check_not_recorded(&self, tables: &Lowered, imports: &Imports<'_>) -> Result<()> {
        let frame = &self.plan.frame;
        for (resource, is_image) in resources_of(imports) {
            let is_imported = |object| match object {
                ImageOrBuffer::Image(index) => tables.images[index as usize].resource == resource,
                ImageOrBuffer::Buffer(index) => tables.buffers[index as usize].resource == resource,
            };
            let uses = |row: &PassRow| uses_object(frame, tables, row, is_imported);
            let mut slots = self.recording.slots.iter().zip(&tables.command_buffers);
            let recorded =
                slots.find(|(slot, row)| !slot.is_free() && row.passes.of(&tables.passes).iter().any(uses));
            let Some((_, row)) = recorded else { continue };
            let (what, name) = (kind_of(is_image), &frame.resource(resource).name);
            let commands = &frame.command_buffers()[row.commands.index()].name;
            return Err(RuntimeRule::NotImported.broken(format!(
                "external {what} `{name}` is imported too late: command buffer `{commands}` uses it, and is already recorded in \
                 this frame"
            )));
        }
        Ok(())
    }

    /// Checks that no part of an image that passes use is imported as two resources: barriers do not cover aliases that the frame does not know.
    fn check_images_once(&self, imports: &[ImportedImage]) -> Result<()> {
        let (frame, features) = (&self.plan.frame, self.plan.profile.features);
        let used = |id: ResourceId| {
            let resource = frame.resource(id);
            let united = resource.is_3d() && !frame.has_slice_layouts(id, features);
            let range = move |access: &Access| match united {
                // Without separate layouts, all slices change theirs together.
                true => SubresourceRange {
                    layers: resource.whole().layers,
                    ..access.range
                },
                false => access.range,
            };
            frame.accesses_to(id).map(range)
        };
        let rows = self
            .objects
            .handles
            .images
            .iter()
            .zip(&self.lowering.encoded[0].tables.images);
        let imported =
            rows.filter(|(image, row)| row.binding.is_imported() && image.handle != vk::Image::null());
        let imported = imported.map(|(image, row)| (row.resource, image.handle));
        let pairs = imports.iter().map(|import| (import.resource, import.image));
        let same = |one: &(ResourceId, vk::Image), other: &(ResourceId, vk::Image)| {
            let mut theirs = used(other.0);
            one.1 == other.1 && theirs.any(|their| used(one.0).any(|mine| their.intersects(mine)))
        };
        let conflict = ["images", "image", "passes use the same part of both"];
        self.check_once(conflict, pairs, imported, same)
    }

    /// Checks that no buffer range that a pass writes is imported as two resources: barriers do not cover aliases that the frame does not know.
    fn check_buffers_once(&self, imports: &[ImportedBuffer]) -> Result<()> {
        let is_written = |of: ResourceId| self.plan.frame.accesses_to(of).any(|access| access.writes);
        let rows = self
            .objects
            .handles
            .buffers
            .iter()
            .zip(&self.lowering.encoded[0].tables.buffers);
        let imported =
            rows.filter(|(one, row)| row.binding.is_imported() && one.handle != vk::Buffer::null());
        let imported = imported.map(|(buffer, row)| (row.resource, *buffer));
        let pairs = imports.iter().map(|import| (import.resource, import.buffer));
        let same = |one: &(ResourceId, BoundBuffer), other: &(ResourceId, BoundBuffer)| {
            let bytes = |of: &BoundBuffer| (of.offset, of.offset.saturating_add(of.size));
            let ((a, a_end), (b, b_end)) = (bytes(&one.1), bytes(&other.1));
            one.1.handle == other.1.handle
                && (a < b_end && b < a_end)
                && (is_written(one.0) || is_written(other.0))
        };
        let conflict = ["buffers", "bytes", "a pass writes them"];
        self.check_once(conflict, pairs, imported, same)
    }

    /// Checks that one submit does not signal an imported semaphore twice with the same value, since nothing in it can wait for the first signal (a binary
    /// semaphore is signaled once, the value of a timeline increases), and that no binary semaphore is imported for two waits without a signal between them.
    ///
    /// Source: VUID-vkQueueSubmit2-semaphore-03868, VUID-VkSubmitInfo2-semaphore-03882, VUID-vkQueueSubmit2-semaphore-03873.
    fn check_semaphores_once(&self, imports: &[ImportedSemaphore]) -> Result<()> {
        let frame = &self.plan.frame;
        // The submit that signals a semaphore for which no batch waits.
        let only_signaled_in = |index: usize| {
            let of = |ops: &[SemaphoreOp]| ops.iter().any(|op| op.semaphore.index() == index);
            let mut batches = frame.batches().iter();
            let signals = batches.clone().find(|batch| of(&batch.signals))?;
            (!batches.any(|batch| of(&batch.waits))).then_some(signals.submit)
        };
        let is_replaced = |index: usize| imports.iter().any(|import| import.semaphore.index() == index);
        let declared = frame
            .semaphores()
            .iter()
            .zip(self.submission.semaphores())
            .enumerate();
        let known = declared.filter(|(index, (declared, _))| declared.external && !is_replaced(*index));
        let known = known.map(|(index, (_, one))| (index, one.handle, one.value));
        for (number, import) in imports.iter().enumerate() {
            let own = (import.semaphore.index(), import.handle, import.value);
            let earlier = imports[..number].iter();
            let earlier = earlier.map(|one| (one.semaphore.index(), one.handle, one.value));
            let same = |other: &(usize, vk::Semaphore, u64)| {
                other.0 != own.0 && (other.1, other.2) == (own.1, own.2) && own.1 != vk::Semaphore::null()
            };
            let twice = |other: &(usize, vk::Semaphore, u64)| {
                only_signaled_in(own.0).is_some_and(|submit| only_signaled_in(other.0) == Some(submit))
            };
            let others = earlier.chain(known.clone()).filter(same);
            let name = |index: usize| &frame.semaphores()[index].name;
            if let Some((other, ..)) = others.clone().find(twice) {
                return Err(RuntimeRule::ImportedTwice.broken(format!(
                    "external semaphores `{}` and `{}` are imported as the same semaphore and value, and one submit signals both: declare them as \
                     one semaphore",
                    name(other),
                    name(own.0)
                )));
            }
            let is_imported_as = |index: usize| {
                let mut all = others.clone().map(|(other, ..)| other).chain([own.0]);
                all.any(|other| other == index)
            };
            if let Some([first, second]) = waits_without_signal(frame, is_imported_as).filter(|_| own.2 == 0)
            {
                return Err(RuntimeRule::ImportedTwice.broken(format!(
                    "external semaphores `{}` and `{}` are imported as the same binary semaphore, and the frame waits for it twice \
                     without a signal between the waits: import another one, or give the value if it is a timeline semaphore",
                    name(first),
                    name(second)
                )));
            }
        }
        Ok(())
    }

    /// Checks that no two resources are imported as the same object: neither two of `imports`, nor one of `imports` and one of `known` that `imports` does
    /// not replace.
    fn check_once<T>(
        &self,
        [kind, same_one, conflict]: [&str; 3],
        imports: impl Iterator<Item = (ResourceId, T)> + Clone,
        known: impl Iterator<Item = (ResourceId, T)> + Clone,
        same: impl Fn(&(ResourceId, T), &(ResourceId, T)) -> bool,
    ) -> Result<()> {
        let is_replaced = |resource: ResourceId| imports.clone().any(|(other, _)| other == resource);
        for (index, one) in imports.clone().enumerate() {
            let conflicts = |other: &(ResourceId, T)| other.0 != one.0 && same(&one, other);
            let mut others = imports.clone().take(index);
            let known = || {
                known
                    .clone()
                    .find(|other| conflicts(other) && !is_replaced(other.0))
            };
            let Some(other) = others.find(conflicts).or_else(known) else {
                continue;
            };
            let name = |of: ResourceId| &self.plan.frame.resource(of).name;
            let (first, second) = (name(other.0), name(one.0));
            return Err(RuntimeRule::ImportedTwice.broken(format!(
                "external {kind} `{first}` and `{second}` are imported as the same {same_one}, and {conflict}: declare them as one \
                 resource"
            )));
        }
        Ok(())
    }
}

/// Two declared semaphores that are imported as the same semaphore, and for which batches wait without a signal between the two waits.
fn waits_without_signal(frame: &Frame, is_imported: impl Fn(usize) -> bool) -> Option<[usize; 2]> {
    let mut waited: Option<usize> = None;
    for batch in frame.batches() {
        let is_imported = |op: &&SemaphoreOp| is_imported(op.semaphore.index());
        for op in batch.waits.iter().filter(is_imported) {
            if let Some(first) = waited.replace(op.semaphore.index()) {
                return Some([first, op.semaphore.index()]);
            }
        }
        if batch.signals.iter().any(|op| is_imported(&op)) {
            waited = None;
        }
    }
    None
}

/// The resources of imports, each with a flag that is true if it is imported as an image.
fn resources_of(imports: &Imports<'_>) -> impl Iterator<Item = (ResourceId, bool)> {
    let images = imports.images.iter().map(|import| import.resource);
    let images = images.chain(imports.views.iter().map(|import| import.resource));
    let buffers = imports.buffers.iter().map(|import| import.resource);
    images
        .map(|image| (image, true))
        .chain(buffers.map(|buffer| (buffer, false)))
}

/// Returns an error if two elements of a list of imports are for the same resource, view or semaphore.
fn check_listed_once<'a, T: PartialEq + Copy>(
    list: &str,
    imports: impl Iterator<Item = T> + Clone,
    name: impl Fn(T) -> &'a str,
) -> Result<()> {
    for (second, import) in imports.clone().enumerate() {
        if let Some(first) = imports.clone().take(second).position(|other| other == import) {
            let name = name(import);
            return Err(RuntimeRule::ImportedTwice.broken(format!(
                "elements {first} and {second} of the imported {list} are both for `{name}`: import it once"
            )));
        }
    }
    Ok(())
}

/// The error for an import with an identifier of another frame.
fn other_frame(frame: &Frame, what: &str, index: usize) -> crate::Error {
    RuntimeRule::NotExternal.broken(format!(
        "{what} {index} is imported, but frame `{}` declares no such {what}: its identifier is from another frame",
        frame.name()
    ))
}

/// Checks that an imported range is large enough for barriers of the declared size.
///
/// Source: VUID-VkBufferMemoryBarrier2-offset-01187, VUID-VkBufferMemoryBarrier2-size-01189.
fn check_size(resource: &Resource, buffer: &BoundBuffer) -> Result<()> {
    let ResourceKind::Buffer { desc, .. } = resource.kind else {
        return Ok(());
    };
    if buffer.handle == vk::Buffer::null() || buffer.size >= desc.size.0 {
        return Ok(());
    }
    Err(RuntimeRule::ImportTooSmall.broken(format!(
        "external buffer `{}` is declared with {}, but only {} are imported",
        resource.name,
        desc.size,
        Bytes(buffer.size)
    )))
}

fn check_external(frame: &Frame, id: ResourceId, is_image: bool) -> Result<()> {
    let Some(resource) = frame.resources().get(id.index()) else {
        return Err(other_frame(frame, "resource", id.index()));
    };
    if matches!(resource.persistence, Persistence::External(_)) && resource.is_image() == is_image {
        return Ok(());
    }
    let (what, name) = (kind_of(is_image), &resource.name);
    Err(RuntimeRule::NotExternal.broken(format!(
        "`{name}` is imported as an external {what}, but the frame does not declare it as one"
    )))
}

/// Returns true if [`ImportedImage::view`] can be used as the view of this row.
fn shows_the_image(frame: &Frame, tables: &Lowered, handles: &Handles, view: &ViewRow) -> bool {
    let whole = frame
        .resource(tables.images[view.image as usize].resource)
        .whole();
    let begins = |row: &ViewRow| {
        let solid = row.view_type == vk::ImageViewType::TYPE_3D;
        row.range.levels.first == 0 && (solid || row.range.layers.len() == whole.layers.len())
    };
    let others = || tables.views.iter().filter(|other| other.image == view.image);
    let is_only = others().all(|other| other.range == view.range);
    // One view does not show different levels.
    let mut shown = others().filter(|other| begins(other) && handles.imported_view(other).is_none());
    let is_shown =
        view.range.levels == whole.levels || shown.all(|other| other.range.levels == view.range.levels);
    is_only || begins(view) && is_shown
}

/// Returns true if a recorded pass or its barriers use a missing import.
fn uses(frame: &Frame, tables: &Lowered, row: &PassRow, missing: &MissingImport) -> bool {
    let accesses = &tables.accesses[frame.pass(row.pass).accesses.indices()];
    match *missing {
        MissingImport::Object(object) => uses_object(frame, tables, row, |other| other == object),
        MissingImport::View(view) => {
            let attachments = row.instance.get().map_or(&[][..], |instance| {
                let run = tables.instances[instance as usize].attachments;
                run.of(&tables.attachments)
            });
            accesses.iter().any(|access| access.view.get() == Some(view))
                || attachments.iter().any(|attachment| attachment.view == view)
        }
    }
}

/// Returns true if a recorded pass or its barriers use an object.
fn uses_object(
    frame: &Frame,
    tables: &Lowered,
    row: &PassRow,
    is_it: impl Fn(ImageOrBuffer) -> bool,
) -> bool {
    let is_in_barriers = |barriers: &DependencyRow| {
        let images = barriers.images.of(&tables.image_barriers).iter();
        let buffers = barriers.buffers.of(&tables.buffer_barriers).iter();
        let images = images.map(|barrier| ImageOrBuffer::Image(barrier.image));
        let mut objects = images.chain(buffers.map(|barrier| ImageOrBuffer::Buffer(barrier.buffer)));
        objects.any(&is_it)
    };
    let accesses = &tables.accesses[frame.pass(row.pass).accesses.indices()];
    accesses.iter().any(|access| is_it(access.object.get()))
        || is_in_barriers(&row.before)
        || is_in_barriers(&row.after)
}

fn kind_of(is_image: bool) -> &'static str {
    if is_image { "image" } else { "buffer" }
}
