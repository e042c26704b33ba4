//! Import: the caller's objects for the external resources and semaphores of a frame.

use ash::vk;

use super::bound_access::Buffer;
use super::bound_frame::BoundFrame;
use super::error::RuntimeRule;
use super::progress::FrameNumber;
use super::resources::{Image, MissingImport};
use crate::Result;
use crate::frame::tables::Access;
use crate::frame::{CommandBufferId, Frame, Persistence, ResourceId, SemaphoreId, SubresourceRange};
use crate::lower::Lowered;
use crate::lower::tables::objects::ViewRow;

/// The caller's objects for the external resources and semaphores of one frame: all of them when it [begins](BoundFrame::begin), or some of
/// them [later](super::FrameRecorder::import).
#[derive(Clone, Copy, Debug, Default)]
pub struct Imports<'a> {
    /// One for every external image that a pass uses.
    pub images: &'a [ImportedImage],
    /// Views of parts of external images that passes access as several parts.
    pub views: &'a [ImportedView],
    /// One for every external buffer that a pass uses.
    pub buffers: &'a [ImportedBuffer],
    /// One for every external semaphore that a batch waits for or signals.
    pub semaphores: &'a [ImportedSemaphore],
}

/// An external image.
#[derive(Clone, Copy, Debug)]
pub struct ImportedImage {
    /// The external resource.
    pub resource: ResourceId,
    /// The image, of the declared format, extent and usage.
    pub image: vk::Image,
    /// A view of it, usable as an attachment if the frame uses it as one. If all passes use a single part of the image, a view of that
    /// part.
    pub view: vk::ImageView,
}

/// A view of a part of an external image.
#[derive(Clone, Copy, Debug)]
pub struct ImportedView {
    /// The external resource.
    pub resource: ResourceId,
    /// Its levels and layers, as accesses of the frame name them; aspects are ignored.
    pub range: SubresourceRange,
    /// The view.
    pub view: vk::ImageView,
}

/// An external buffer.
#[derive(Clone, Copy, Debug)]
pub struct ImportedBuffer {
    /// The external resource.
    pub resource: ResourceId,
    /// The buffer and the range in it.
    pub buffer: Buffer,
}

/// An external semaphore.
#[derive(Clone, Copy, Debug)]
pub struct ImportedSemaphore {
    /// The external semaphore.
    pub semaphore: SemaphoreId,
    /// The semaphore.
    pub handle: vk::Semaphore,
    /// For a timeline semaphore, the value to wait for or signal; ignored for a binary one.
    pub value: u64,
}

impl BoundFrame {
    /// Forgets the handles that were imported for the frame before.
    pub(super) fn clear_imports(&mut self, number: FrameNumber) {
        let (handles, tables) = (&mut self.handles, &self.encoded[0].tables);
        for (image, row) in handles.images.iter_mut().zip(&tables.images) {
            if row.binding.is_imported() {
                *image = Image::default();
            }
        }
        for (buffer, row) in handles.buffers.iter_mut().zip(&tables.buffers) {
            if row.binding.is_imported() {
                *buffer = Buffer::default();
            }
        }
        handles.imported_views.clear();
        let signals = self.submission.semaphores_mut();
        for (signal, declared) in signals.iter_mut().zip(self.plan.frame.semaphores()) {
            // Timelines of the frame count as its frames do; binary semaphores ignore the value.
            signal.value = number.0 + 1;
            if declared.external {
                signal.handle = vk::Semaphore::null();
            }
        }
    }

    /// Checks `imports` and writes their handles into the rows of their resources; nothing is written if they are refused.
    pub(super) fn import(&mut self, imports: &Imports<'_>) -> Result<()> {
        let (frame, tables) = (&self.plan.frame, &self.encoded[0].tables);
        let images = imports.images.iter().map(|import| import.resource);
        let images = images.chain(imports.views.iter().map(|import| import.resource));
        let buffers = imports.buffers.iter().map(|import| import.resource);
        let resources = images.map(|image| (image, true));
        for (resource, is_image) in resources.chain(buffers.map(|buffer| (buffer, false))) {
            check_external(frame, resource, is_image)?;
            self.check_unused(resource)?;
        }
        for import in imports.semaphores {
            let declared = &frame.semaphores()[import.semaphore.index()];
            if !declared.external {
                let name = &declared.name;
                return Err(RuntimeRule::NotExternal.broken(format!(
                    "`{name}` is imported as external semaphore, but the frame does not declare it as one"
                )));
            }
        }
        self.check_images_once(imports.images)?;
        self.check_buffers_once(imports.buffers)?;
        let handles = &mut self.handles;
        for import in imports.images {
            for (image, row) in handles.images.iter_mut().zip(&tables.images) {
                if row.resource == import.resource {
                    let (handle, view) = (import.image, import.view);
                    *image = Image { handle, view };
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
        self.find_missing();
        Ok(())
    }

    /// Lists what the frame uses and is not imported.
    fn find_missing(&mut self) {
        let (frame, tables, handles) = (&self.plan.frame, &self.encoded[0].tables, &mut self.handles);
        let mut missing = std::mem::take(&mut handles.missing_imports);
        missing.clear();
        for (image, row) in handles.images.iter().zip(&tables.images) {
            if row.binding.is_imported() && image.handle == vk::Image::null() {
                let (resource, view) = (row.resource, None);
                missing.push(MissingImport { resource, view });
            }
        }
        for (buffer, row) in handles.buffers.iter().zip(&tables.buffers) {
            if row.binding.is_imported() && buffer.handle == vk::Buffer::null() {
                let (resource, view) = (row.resource, None);
                missing.push(MissingImport { resource, view });
            }
        }
        for view in &tables.views {
            let image = &tables.images[view.image as usize];
            let is_missing = image.binding.is_imported()
                && handles.images[view.image as usize].handle != vk::Image::null()
                && handles.imported_view(view).is_none()
                && !shows_the_image(frame, tables, view);
            if is_missing {
                let (resource, view) = (image.resource, Some(view.range));
                missing.push(MissingImport { resource, view });
            }
        }
        handles.missing_imports = missing;
    }

    /// An error if a command buffer uses something that is not imported.
    pub(super) fn check_imported(&self, tables: &Lowered, commands: CommandBufferId) -> Result<()> {
        let frame = &self.plan.frame;
        let mut missing = self.handles.missing_imports.iter();
        let Some(missing) = missing.find(|missing| uses(frame, tables, commands, missing)) else {
            return Ok(());
        };
        let resource = frame.resource(missing.resource);
        let what = match missing.view {
            Some(range) => format!("view `{}{}`", range.words_in(resource), resource.name),
            None => format!("{} `{}`", kind_of(resource.is_image()), resource.name),
        };
        let commands = &frame.command_buffers()[commands.index()].name;
        Err(RuntimeRule::NotImported.broken(format!(
            "external {what} is not imported, and command buffer `{commands}` uses it: add it to Imports, or import it with \
             FrameRecorder::import before the command buffer is recorded"
        )))
    }

    /// An error if a semaphore that a batch waits for or signals is not imported.
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

    /// An error if a command buffer that uses the resource is already recorded in this frame.
    fn check_unused(&self, resource: ResourceId) -> Result<()> {
        let frame = &self.plan.frame;
        let whole = MissingImport { resource, view: None };
        let tables = &self.encoded[0].tables;
        let mut ids = (0..frame.command_buffers().len() as u32).map(CommandBufferId);
        let recorded = ids.find(|&commands| {
            !self.slots[commands.index()].is_free() && uses(frame, tables, commands, &whole)
        });
        let Some(commands) = recorded else {
            return Ok(());
        };
        let resource = frame.resource(resource);
        let (what, name) = (kind_of(resource.is_image()), &resource.name);
        let commands = &frame.command_buffers()[commands.index()].name;
        Err(RuntimeRule::NotImported.broken(format!(
            "external {what} `{name}` is imported too late: command buffer `{commands}` uses it, and is already recorded in this frame"
        )))
    }

    /// Checks that no part of an image is imported twice: the frame orders only what it knows to be the same.
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
        let rows = self.handles.images.iter().zip(&self.encoded[0].tables.images);
        let imported = rows.filter(|(_, row)| row.binding.is_imported());
        let imported = imported.map(|(image, row)| (row.resource, image.handle));
        let pairs = imports.iter().map(|import| (import.resource, import.image));
        let same = |one: &(ResourceId, vk::Image), other: &(ResourceId, vk::Image)| {
            let mut theirs = used(other.0);
            one.1 == other.1 && theirs.any(|their| used(one.0).any(|mine| their.intersects(mine)))
        };
        self.check_once(
            ["images", "image"],
            pairs,
            imported,
            "passes use the same part of both",
            same,
        )
    }

    /// Checks that no bytes of a buffer are imported twice where passes write them: the frame orders only what it knows to be the same.
    fn check_buffers_once(&self, imports: &[ImportedBuffer]) -> Result<()> {
        let is_written = |of: ResourceId| self.plan.frame.accesses_to(of).any(|access| access.writes);
        let rows = self.handles.buffers.iter().zip(&self.encoded[0].tables.buffers);
        let imported = rows.filter(|(_, row)| row.binding.is_imported());
        let imported = imported.map(|(buffer, row)| (row.resource, *buffer));
        let pairs = imports.iter().map(|import| (import.resource, import.buffer));
        let same = |one: &(ResourceId, Buffer), other: &(ResourceId, Buffer)| {
            let bytes = |of: &Buffer| (of.offset, of.offset.saturating_add(of.size));
            let ((a, a_end), (b, b_end)) = (bytes(&one.1), bytes(&other.1));
            one.1.handle == other.1.handle
                && (a < b_end && b < a_end)
                && (is_written(one.0) || is_written(other.0))
        };
        self.check_once(["buffers", "bytes"], pairs, imported, "a pass writes them", same)
    }

    /// Checks that none of `imports` is the same as another one, or as one of `known` that it does not replace.
    fn check_once<T>(
        &self,
        [kind, same_one]: [&str; 2],
        imports: impl Iterator<Item = (ResourceId, T)> + Clone,
        known: impl Iterator<Item = (ResourceId, T)> + Clone,
        conflict: &str,
        same: impl Fn(&(ResourceId, T), &(ResourceId, T)) -> bool,
    ) -> Result<()> {
        let is_replaced = |resource: ResourceId| imports.clone().any(|(other, _)| other == resource);
        for (index, one) in imports.clone().enumerate() {
            let known = known.clone().filter(|(resource, _)| !is_replaced(*resource));
            let mut others = imports.clone().take(index).chain(known);
            let Some(other) = others.find(|other| other.0 != one.0 && same(&one, other)) else {
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

fn check_external(frame: &Frame, id: ResourceId, is_image: bool) -> Result<()> {
    let resource = frame.resource(id);
    if matches!(resource.persistence, Persistence::External(_)) && resource.is_image() == is_image {
        return Ok(());
    }
    let (what, name) = (kind_of(is_image), &resource.name);
    Err(RuntimeRule::NotExternal.broken(format!(
        "`{name}` is imported as external {what}, but the frame does not declare it as one"
    )))
}

/// Whether the view of the whole imported image serves as this one.
fn shows_the_image(frame: &Frame, tables: &Lowered, view: &ViewRow) -> bool {
    let mut others = tables.views.iter().filter(|other| other.image == view.image);
    let is_only = others.all(|other| other.range == view.range);
    let resource = frame.resource(tables.images[view.image as usize].resource);
    let whole = resource.whole();
    let solid = view.view_type == vk::ImageViewType::TYPE_3D;
    let all_layers = solid || view.range.layers.len() == whole.layers.len();
    is_only || view.range.levels.first == 0 && all_layers
}

/// Whether the passes of a command buffer, or their barriers, use what is missing.
fn uses(frame: &Frame, tables: &Lowered, commands: CommandBufferId, missing: &MissingImport) -> bool {
    let mut rows = tables.command_buffers[commands.index()]
        .passes
        .of(&tables.passes)
        .iter();
    rows.any(|row| {
        let mut accesses = frame.accesses_of(row.pass).iter();
        let is_accessed = accesses.any(|access| {
            access.resource == missing.resource && missing.view.is_none_or(|range| range == access.range)
        });
        let is_in_barriers = || {
            [&row.before, &row.after].into_iter().any(|barriers| {
                let mut images = barriers.images.of(&tables.image_barriers).iter();
                let mut buffers = barriers.buffers.of(&tables.buffer_barriers).iter();
                images.any(|barrier| tables.images[barrier.image as usize].resource == missing.resource)
                    || buffers
                        .any(|barrier| tables.buffers[barrier.buffer as usize].resource == missing.resource)
            })
        };
        is_accessed || missing.view.is_none() && is_in_barriers()
    })
}

fn kind_of(is_image: bool) -> &'static str {
    if is_image { "image" } else { "buffer" }
}
