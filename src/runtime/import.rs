//! Import: the caller's objects for the external resources and semaphores of a frame.

use ash::vk;

use super::bound_frame::BoundFrame;
use super::bound_resource::{Buffer, Image};
use super::error::RuntimeError;
use super::progress::FrameNumber;
use crate::Result;
use crate::frame::{Persistence, ResourceId, SemaphoreId};
use crate::lower::tables::objects::Binding;

/// The caller's objects for the external resources and semaphores of one frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Imports<'a> {
    /// One for every external image that a pass uses.
    pub images: &'a [ImportedImage],
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
    /// A view of it: as attachment, if the frame uses it so.
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
        let is_imported = |binding: Binding| binding == Binding::Imported;
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
            Err(RuntimeError::NotExternal { what, name })
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
                Err(RuntimeError::NotImported { what, name }.into())
            }
        }
    }

    pub(super) fn import_semaphores(&mut self, imports: &Imports<'_>, number: FrameNumber) -> Result<()> {
        let frame = &self.plan.frame;
        let signals = self.submission.semaphores_mut();
        for (signal, declared) in signals.iter_mut().zip(frame.semaphores()) {
            // Timelines of the frame count like the frames do; binary ones ignore it.
            signal.value = number.0 + 1;
            if declared.external {
                signal.handle = vk::Semaphore::null();
            }
        }
        for import in imports.semaphores {
            let declared = &frame.semaphores()[import.semaphore.index()];
            if !declared.external {
                let (what, name) = ("semaphore", declared.name.clone());
                return Err(RuntimeError::NotExternal { what, name }.into());
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
                return Err(RuntimeError::NotImported {
                    what: "semaphore",
                    name,
                }
                .into());
            }
        }
        Ok(())
    }
}

fn kind_of(is_image: bool) -> &'static str {
    if is_image { "image" } else { "buffer" }
}
