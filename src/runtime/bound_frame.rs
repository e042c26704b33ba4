//! A plan whose resources are created and bound, and how to look them up.

use std::ffi::CString;
use std::fmt;
use std::sync::Arc;

use ash::vk;

use super::bound_resource::{BoundResource, Buffer, Image, Parity};
use super::command_slot::CommandSlot;
use super::device_queue::DeviceQueue;
use super::device_state::DeviceState;
use super::frame_tables::FrameTables;
use super::owned::OwnedObjects;
use super::progress::FrameNumber;
use super::progress::Progress;
use super::rendering::Rendering;
use super::retire::{RetiredFrame, RetiredFrames};
use super::store::StorePass;
use super::submission::Submission;
use super::target::Target;
use crate::Result;
use crate::frame::tables::{Access, Version};
use crate::frame::{PassId, Persistence, QueueId, ResourceId};
use crate::plan::{PlacementId, Plan};

/// A plan whose images, buffers and memory are created and bound.
///
/// ```no_run
/// # use std::sync::Arc;
/// # use tileheap::plan::Plan;
/// # use tileheap::runtime::*;
/// # fn f(tile: &Device, plan: Arc<Plan>, wider: Arc<Plan>) -> tileheap::Result<()> {
/// let mut bound = tile.bind(&plan)?;
/// // … frames …
/// // Another size: what is bound goes when its last frame is complete.
/// std::mem::replace(&mut bound, tile.bind(&wider)?).retire();
/// let waiting = tile.collect()?; // now and then; 0 once all of it is gone
/// # let _ = waiting;
/// # Ok(()) }
/// ```
pub struct BoundFrame {
    pub(super) state: Arc<DeviceState>,
    pub(super) retired: Arc<RetiredFrames>,
    pub(super) plan: Arc<Plan>,
    /// Per queue of the frame.
    pub(super) queues: Vec<DeviceQueue>,
    /// Per object of the plan.
    pub(super) memory: Vec<vk::DeviceMemory>,
    /// Per parity; one only if no pass reads a previous version.
    pub(super) tables: Vec<FrameTables>,
    /// Per pass; `None` for compute and transfer passes.
    pub(super) targets: Vec<Option<Target>>,
    /// Per pass, its name as debuggers want it; empty where none listens.
    pub(super) labels: Vec<CString>,
    /// Per command buffer of the frame.
    pub(super) slots: Vec<CommandSlot>,
    /// In the order of their passes.
    pub(super) stores: Vec<StorePass>,
    pub(super) progress: Progress,
    pub(super) submission: Submission,
    /// The render passes with external attachments.
    pub(super) external_passes: Vec<PassId>,
    /// `None` once it was destroyed or retired.
    pub(super) owned: Option<OwnedObjects>,
}

impl BoundFrame {
    /// The plan that is bound (a newer one than was given, if requirements had grown).
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The device queue that runs a queue of the frame.
    pub fn queue(&self, queue: QueueId) -> DeviceQueue {
        self.queues[queue.index()]
    }

    /// What the pipelines of a render pass are created with.
    ///
    /// # Panics
    /// If the pass is no render pass.
    pub fn target(&self, pass: PassId) -> &Target {
        self.target_of(self.plan.pass_of(pass))
    }

    /// The same, for a pass of the planned frame.
    pub(super) fn target_of(&self, pass: PassId) -> &Target {
        match &self.targets[pass.index()] {
            Some(target) => target,
            None => panic!("pass `{}` is no render pass", self.plan.frame.pass(pass).name),
        }
    }

    /// The image of `resource` as current version in frames of `parity` (for descriptor sets written once). Of a resource whose
    /// lifetime is split, the one that it is stored in: [`BoundFrame::image_in`] has the one of each pass.
    ///
    /// # Panics
    /// If the resource is a buffer, external, or used by no pass.
    pub fn image(&self, resource: ResourceId, parity: Parity) -> Image {
        self.image_at(resource, self.current_place(resource, parity))
    }

    /// The image that a pass's access of `resource` uses in frames of `parity`.
    ///
    /// Differs from [`BoundFrame::image`] for the previous version, for a tile resident with an alias per memory object, and where a
    /// lifetime is split.
    ///
    /// # Panics
    /// If the pass does not declare such an access, or the resource is external.
    pub fn image_in(&self, pass: PassId, resource: ResourceId, version: Version, parity: Parity) -> Image {
        let pass = self.plan.pass_of(pass);
        self.image_at(resource, self.place_in(pass, resource, version, parity))
    }

    /// The layout that the image of `resource` has during a pass that declares the access (for descriptor sets).
    ///
    /// # Panics
    /// If the pass does not declare such an access.
    pub fn layout_in(&self, pass: PassId, resource: ResourceId, version: Version) -> vk::ImageLayout {
        self.plan.accesses[self.access_of(self.plan.pass_of(pass), resource, version)].layout
    }

    /// The buffer of `resource` as current version in frames of `parity`.
    ///
    /// # Panics
    /// If the resource is an image, external, or used by no pass.
    pub fn buffer(&self, resource: ResourceId, parity: Parity) -> Buffer {
        self.buffer_at(resource, self.current_place(resource, parity))
    }

    /// The buffer that a pass's access of `resource` uses in frames of `parity`.
    ///
    /// # Panics
    /// If the pass does not declare such an access, or the resource is external.
    pub fn buffer_in(&self, pass: PassId, resource: ResourceId, version: Version, parity: Parity) -> Buffer {
        let pass = self.plan.pass_of(pass);
        self.buffer_at(resource, self.place_in(pass, resource, version, parity))
    }

    /// The parity of the next frame.
    pub fn parity(&self) -> Parity {
        if self.progress.submitted() % 2 == 0 {
            Parity::Even
        } else {
            Parity::Odd
        }
    }

    /// The newest frame that is complete on the device, and with it all before it; `None` before the first.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn completed(&self) -> Result<Option<FrameNumber>> {
        self.progress.completed(&self.state)
    }

    /// Waits until `frame` is complete on the device, for at most `timeout` nanoseconds; false if time ran out.
    ///
    /// # Errors
    /// When the device is lost, or the frame was not submitted.
    pub fn wait(&self, frame: FrameNumber, timeout: u64) -> Result<bool> {
        self.progress.wait(&self.state, frame, timeout)
    }

    /// Forgets what is cached for an external image view, before the caller destroys the view. Only passes that are
    /// recorded as render pass objects keep anything.
    ///
    /// # Safety
    /// No frame that uses the view is in flight.
    pub unsafe fn forget(&mut self, view: vk::ImageView) {
        let owned = self
            .owned
            .as_mut()
            .expect("a bound plan owns its objects until it is given up");
        let renderings = self
            .tables
            .iter_mut()
            .flat_map(|tables| tables.renderings.iter_mut().flatten());
        for rendering in renderings {
            if let Rendering::Object(object) = rendering {
                for framebuffer in object.forget(view) {
                    owned.framebuffers.retain(|other| *other != framebuffer);
                    // SAFETY: the caller's duty; both lists have forgotten it.
                    unsafe { self.state.device.destroy_framebuffer(framebuffer, None) };
                }
            }
        }
    }

    /// Defers destruction to the first [`Device::collect`](super::Device::collect) after its last frame is complete.
    pub fn retire(mut self) {
        if let Some(owned) = self.owned.take() {
            let progress = std::mem::take(&mut self.progress);
            self.retired.push(RetiredFrame { owned, progress });
        }
    }

    /// Destroys everything now.
    ///
    /// # Safety
    /// None of its frames is in flight.
    pub unsafe fn destroy(mut self) {
        if let Some(mut owned) = self.owned.take() {
            // SAFETY: the caller's duty.
            unsafe { owned.destroy() };
        }
    }

    /// The tables for frames of `parity`.
    pub(super) fn tables(&self, parity: Parity) -> &FrameTables {
        &self.tables[parity.index() % self.tables.len()]
    }

    /// The object of the current version.
    pub(super) fn current_place(&self, resource: ResourceId, parity: Parity) -> BoundResource {
        let placements = self.plan.resources[resource.index()].placements;
        assert!(
            !placements.is_empty(),
            "resource `{}` is used by no pass",
            self.name_of(resource)
        );
        self.tables(parity).places[placements.indices().start]
    }

    /// The object of the previous version.
    pub(super) fn previous_place(&self, resource: ResourceId, parity: Parity) -> BoundResource {
        let placements = self.plan.resources[resource.index()].placements;
        let pair =
            placements.len() == 2 && self.plan.frame.resource(resource).persistence == Persistence::History;
        assert!(
            pair,
            "resource `{}` has no previous version",
            self.name_of(resource)
        );
        self.tables(parity).places[placements.indices().start + 1]
    }

    /// The object that an access of a pass of the planned frame uses.
    pub(super) fn place_in(
        &self,
        pass: PassId,
        resource: ResourceId,
        version: Version,
        parity: Parity,
    ) -> BoundResource {
        let PlacementId(placement) = self.plan.accesses[self.access_of(pass, resource, version)].placement;
        self.tables(parity).places[placement as usize]
    }

    /// Index of the first access of `version` of `resource` in `pass` of the planned frame, or of the part of its split lifetime that is placed there.
    fn access_of(&self, pass: PassId, resource: ResourceId, version: Version) -> usize {
        let frame = &self.plan.frame;
        let accesses = frame.pass(pass).accesses;
        let wanted = |access: &Access| {
            self.plan.described_resource(access.resource) == resource && access.version == version
        };
        match accesses.of(frame.accesses()).iter().position(wanted) {
            Some(position) => accesses.indices().start + position,
            None => panic!(
                "pass `{}` declares no access of the {} version of `{}`",
                frame.pass(pass).name,
                if version == Version::Current {
                    "current"
                } else {
                    "previous"
                },
                self.name_of(resource)
            ),
        }
    }

    pub(super) fn image_at(&self, resource: ResourceId, place: BoundResource) -> Image {
        match place {
            BoundResource::Image(image) => image,
            BoundResource::Buffer(_) => panic!("resource `{}` is a buffer", self.name_of(resource)),
            BoundResource::Missing => panic!(
                "external resource `{}` is known only while a frame is recorded",
                self.name_of(resource)
            ),
        }
    }

    pub(super) fn buffer_at(&self, resource: ResourceId, place: BoundResource) -> Buffer {
        match place {
            BoundResource::Buffer(buffer) => buffer,
            BoundResource::Image(_) => panic!("resource `{}` is an image", self.name_of(resource)),
            BoundResource::Missing => panic!(
                "external resource `{}` is known only while a frame is recorded",
                self.name_of(resource)
            ),
        }
    }

    fn name_of(&self, resource: ResourceId) -> &str {
        &self.plan.frame.resource(resource).name
    }
}

impl fmt::Debug for BoundFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound")
            .field("frame", &self.plan.frame.name())
            .field("submitted", &self.progress.submitted())
            .finish_non_exhaustive()
    }
}

impl Drop for BoundFrame {
    fn drop(&mut self) {
        if self.owned.is_some() {
            let frame = self.plan.frame.name();
            tracing::warn!(
                frame,
                "runtime::BoundFrame dropped without retire or destroy: its objects leak"
            );
        }
    }
}
