//! Import: the caller's objects for the external resources and semaphores of a frame.

use ash::vk;

use super::bound_frame::BoundFrame;
use super::bound_resource::{Buffer, Image};
use super::error::RuntimeRule;
use super::progress::FrameNumber;
use super::resources::Handles;
use crate::Result;
use crate::frame::tables::Access;
use crate::frame::{Frame, Persistence, ResourceId, SemaphoreId, SubresourceRange};
use crate::lower::Lowered;
use crate::lower::tables::objects::Binding;
use crate::profile::Features;

/// The caller's objects for the external resources and semaphores of one frame.
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
    /// Writes the imported handles into their rows.
    pub(super) fn import_resources(&mut self, imports: &Imports<'_>) -> Result<()> {
        let BoundFrame {
            plan,
            encoded,
            handles,
            ..
        } = self;
        let (frame, tables) = (&plan.frame, &encoded[0].tables);
        let is_imported = |binding: Binding| binding.is_imported();
        for (image, row) in handles.images.iter_mut().zip(&tables.images) {
            if is_imported(row.binding) {
                *image = Image::default();
            }
        }
        for (buffer, row) in handles.buffers.iter_mut().zip(&tables.buffers) {
            if is_imported(row.binding) {
                *buffer = Buffer::default();
            }
        }
        let external = |id: ResourceId, is_image: bool| {
            let resource = frame.resource(id);
            if matches!(resource.persistence, Persistence::External(_)) && resource.is_image() == is_image {
                return Ok(());
            }
            let (what, name) = (kind_of(is_image), resource.name.clone());
            Err(RuntimeRule::NotExternal.broken(format!(
                "`{name}` is imported as external {what}, but the frame does not declare it as \
                 one"
            )))
        };
        for import in imports.images {
            external(import.resource, true)?;
            for (image, row) in handles.images.iter_mut().zip(&tables.images) {
                if row.resource == import.resource {
                    let (handle, view) = (import.image, import.view);
                    *image = Image {
                        handle,
                        view,
                        attachment: view,
                    };
                }
            }
        }
        handles.imported_views.clear();
        for import in imports.views {
            external(import.resource, true)?;
            let rows = (0..).zip(&tables.images);
            let of_resource = rows.filter(|(_, row)| row.resource == import.resource);
            let views = of_resource.map(|(row, _)| (row, import.range, import.view));
            handles.imported_views.extend(views);
        }
        check_views(frame, tables, handles)?;
        check_once(frame, plan.profile.features, imports.images)?;
        check_buffers_once(frame, imports.buffers)?;
        for import in imports.buffers {
            external(import.resource, false)?;
            for (buffer, row) in handles.buffers.iter_mut().zip(&tables.buffers) {
                if row.resource == import.resource {
                    *buffer = import.buffer;
                }
            }
        }
        let images = handles.images.iter().zip(&tables.images);
        let images =
            images.filter(|(image, row)| is_imported(row.binding) && image.handle == vk::Image::null());
        let buffers = handles.buffers.iter().zip(&tables.buffers);
        let buffers =
            buffers.filter(|(one, row)| is_imported(row.binding) && one.handle == vk::Buffer::null());
        let missing = images
            .map(|(_, row)| row.resource)
            .chain(buffers.map(|(_, row)| row.resource));
        match missing.min() {
            None => Ok(()),
            Some(id) => {
                let resource = frame.resource(id);
                let (what, name) = (kind_of(resource.is_image()), resource.name.clone());
                Err(RuntimeRule::NotImported.broken(format!(
                    "external {what} `{name}` is not imported: add it to Imports"
                )))
            }
        }
    }

    pub(super) fn import_semaphores(&mut self, imports: &Imports<'_>, number: FrameNumber) -> Result<()> {
        let frame = &self.plan.frame;
        let signals = self.submission.semaphores_mut();
        for (signal, declared) in signals.iter_mut().zip(frame.semaphores()) {
            // Timelines of the frame count as its frames do; binary semaphores ignore the value.
            signal.value = number.0 + 1;
            if declared.external {
                signal.handle = vk::Semaphore::null();
            }
        }
        for import in imports.semaphores {
            let declared = &frame.semaphores()[import.semaphore.index()];
            if !declared.external {
                let name = &declared.name;
                return Err(RuntimeRule::NotExternal.broken(format!(
                    "`{name}` is imported as external semaphore, but the frame does not declare it as one"
                )));
            }
            let signal = &mut signals[import.semaphore.index()];
            (signal.handle, signal.value) = (import.handle, import.value);
        }
        let ops = frame
            .batches()
            .iter()
            .flat_map(|batch| batch.waits.iter().chain(&batch.signals));
        for op in ops {
            if signals[op.semaphore.index()].handle == vk::Semaphore::null() {
                let name = frame.semaphores()[op.semaphore.index()].name.clone();
                return Err(RuntimeRule::NotImported.broken(format!(
                    "external semaphore `{name}` is not imported: add it to Imports"
                )));
            }
        }
        Ok(())
    }
}

/// Checks that every part of an imported image that a pass accesses has a view.
fn check_views(frame: &Frame, tables: &Lowered, handles: &Handles) -> Result<()> {
    for view in &tables.views {
        let image = &tables.images[view.image as usize];
        if !image.binding.is_imported() || handles.imported_view(view).is_some() {
            continue;
        }
        let others = tables.views.iter().filter(|other| other.image == view.image);
        let alone = others.into_iter().all(|other| other.range == view.range);
        let resource = frame.resource(image.resource);
        let whole = resource.whole();
        let solid = view.view_type == vk::ImageViewType::TYPE_3D;
        let all_layers = solid || view.range.layers.len() == whole.layers.len();
        let level_0 = view.range.levels.first == 0 && all_layers;
        if !alone && !level_0 {
            let words = view.range.words_in(resource);
            return Err(RuntimeRule::NotImported.broken(format!(
                "external view `{words}{}` is not imported: add it to Imports",
                resource.name
            )));
        }
    }
    Ok(())
}

/// Checks that no part of an image is imported twice: the frame orders only what it knows to be the same.
fn check_once(frame: &Frame, features: Features, images: &[ImportedImage]) -> Result<()> {
    let used = |import: &ImportedImage| {
        let resource = frame.resource(import.resource);
        let united = resource.is_3d() && !frame.has_slice_layouts(import.resource, features);
        let range = move |access: &Access| match united {
            // Without separate layouts, all slices change theirs together.
            true => SubresourceRange {
                layers: resource.whole().layers,
                ..access.range
            },
            false => access.range,
        };
        frame.accesses_to(import.resource).map(range)
    };
    for (index, one) in images.iter().enumerate() {
        let earlier = images[..index].iter();
        for other in earlier.filter(|other| other.image == one.image && other.resource != one.resource) {
            let theirs = used(other);
            if used(one).any(|mine| theirs.clone().any(|their| their.intersects(mine))) {
                let name = |of: &ImportedImage| frame.resource(of.resource).name.clone();
                return Err(RuntimeRule::ImportedTwice.broken(format!(
                    "external images `{first}` and `{second}` are imported as the same image, and \
                     passes use the same part of both: declare them as one resource",
                    first = name(other),
                    second = name(one)
                )));
            }
        }
    }
    Ok(())
}

/// Checks that no bytes of a buffer are imported twice where passes write them: the frame orders only what it knows to be the same.
fn check_buffers_once(frame: &Frame, buffers: &[ImportedBuffer]) -> Result<()> {
    let bytes = |of: &ImportedBuffer| (of.buffer.offset, of.buffer.offset.saturating_add(of.buffer.size));
    let is_written = |of: &ImportedBuffer| frame.accesses_to(of.resource).any(|access| access.writes);
    for (index, one) in buffers.iter().enumerate() {
        let same = |other: &&ImportedBuffer| {
            let ((a, a_end), (b, b_end)) = (bytes(one), bytes(other));
            other.buffer.handle == one.buffer.handle
                && other.resource != one.resource
                && (a < b_end && b < a_end)
                && (is_written(one) || is_written(other))
        };
        if let Some(other) = buffers[..index].iter().find(same) {
            let name = |of: &ImportedBuffer| frame.resource(of.resource).name.clone();
            return Err(RuntimeRule::ImportedTwice.broken(format!(
                "external buffers `{first}` and `{second}` are imported as the same bytes, and a pass writes them: \
                 declare them as one resource",
                first = name(other),
                second = name(one)
            )));
        }
    }
    Ok(())
}

fn kind_of(is_image: bool) -> &'static str {
    if is_image { "image" } else { "buffer" }
}
