//! Import: the caller's objects for the external resources and semaphores of a frame.

use ash::vk;

use super::bound_frame::BoundFrame;
use super::bound_resource::{BoundResource, Buffer, Image, Parity};
use super::error::RuntimeError;
use super::progress::FrameNumber;
use super::rendering::Rendering;
use crate::Result;
use crate::frame::{Persistence, ResourceId, SemaphoreId};

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
    pub(super) fn import_resources(&mut self, imports: &Imports<'_>, parity: Parity) -> Result<()> {
        let BoundFrame {
            state,
            plan,
            tables,
            owned,
            external_passes,
            ..
        } = self;
        let count = tables.len();
        let tables = &mut tables[parity.index() % count];
        let frame = &plan.frame;
        let external = |id: &ResourceId| matches!(frame.resource(*id).persistence, Persistence::External(_));
        for id in frame.resource_ids().filter(external) {
            tables.places[plan.resources[id.index()].placements.indices()].fill(BoundResource::Missing);
        }
        let images = imports.images.iter().map(|one| {
            (
                one.resource,
                BoundResource::Image(Image {
                    handle: one.image,
                    view: one.view,
                    attachment: one.view,
                }),
            )
        });
        let buffers = imports
            .buffers
            .iter()
            .map(|one| (one.resource, BoundResource::Buffer(one.buffer)));
        for (id, place) in images.chain(buffers) {
            let is_image = matches!(place, BoundResource::Image(_));
            if !external(&id) || frame.resource(id).is_image() != is_image {
                let (what, name) = (kind_of(is_image), frame.resource(id).name.clone());
                return Err(RuntimeError::NotExternal { what, name }.into());
            }
            tables.places[plan.resources[id.index()].placements.indices()].fill(place);
        }
        for id in frame.resource_ids().filter(external) {
            let places = &tables.places[plan.resources[id.index()].placements.indices()];
            if places.iter().any(|place| matches!(place, BoundResource::Missing)) {
                let resource = frame.resource(id);
                let (what, name) = (kind_of(resource.is_image()), resource.name.clone());
                return Err(RuntimeError::NotImported { what, name }.into());
            }
        }
        tables.barriers.refresh(&tables.places);
        let owned = owned
            .as_mut()
            .expect("a bound plan owns its objects until it is given up");
        for &pass in external_passes.iter() {
            match &mut tables.renderings[pass.index()] {
                Some(Rendering::Dynamic(dynamic)) => dynamic.refresh(&tables.places),
                Some(Rendering::Object(object)) => {
                    object.refresh(state, owned, &tables.places, frame.pass(pass))?;
                }
                None => {}
            }
        }
        Ok(())
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
