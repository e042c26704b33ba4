//! The tables being checked and the errors found so far.

use std::fmt::{Debug, Display};

use ash::vk;

use super::error::{LoweredCheckError, LoweringRule};
use super::facts::DeviceFacts;
use super::parts::{Part, Parts};
use crate::frame::tables::{Access, HistoryVersion};
use crate::frame::{Frame, PassId, ResourceId};
use crate::lower::lowering_desc::LoweringDesc;
use crate::lower::tables::objects::MemoryBinding;
use crate::lower::tables::{DeviceQueueIndex, ImageOrBuffer, Lowered};
use crate::plan::MemoryKind;

/// The tables being checked, the inputs that they are checked against, and the errors found so far.
pub(super) struct Checker<'a> {
    pub(super) tables: &'a Lowered,
    pub(super) frame: &'a Frame,
    pub(super) lowering_desc: &'a LoweringDesc,
    pub(super) device: &'a DeviceFacts,
    /// The parts of images that are distinguished; known once the references between tables are valid.
    pub(super) parts: Parts,
    pub(super) errors: Vec<LoweredCheckError>,
}

/// A row whose parameters are being checked.
pub(super) struct CheckedRow<'c, 'a> {
    pub(super) checker: &'c mut Checker<'a>,
    pub(super) what: String,
}

impl CheckedRow<'_, '_> {
    /// Reports a parameter with a wrong value.
    #[cold]
    pub(super) fn wrong(&mut self, parameter: &'static str, found: &dyn Debug, needs: &dyn Display) {
        let what = &self.what;
        let message = format!("{what}: {parameter} is {found:?}, but must be {needs}");
        self.checker.report(LoweringRule::Parameter(parameter), message);
    }

    /// Reports a parameter unless `fits` is true.
    pub(super) fn demand(
        &mut self,
        fits: bool,
        parameter: &'static str,
        found: impl Debug,
        needs: impl Display,
    ) {
        if !fits {
            self.wrong(parameter, &found, &needs);
        }
    }

    /// Reports a parameter that does not equal the required value.
    pub(super) fn equal<T: PartialEq + Debug>(&mut self, parameter: &'static str, found: T, needs: T) {
        self.demand(found == needs, parameter, &found, format_args!("{needs:?}"));
    }
}

impl<'a> Checker<'a> {
    /// Adds an error unless it has already been reported.
    pub(super) fn report(&mut self, rule: LoweringRule, message: String) {
        let error = LoweredCheckError { rule, message };
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// Starts checking the parameters of a row, which messages call `what`.
    pub(super) fn at(&mut self, what: String) -> CheckedRow<'_, 'a> {
        CheckedRow { checker: self, what }
    }

    pub(super) fn resource(&self, id: ResourceId) -> String {
        self.frame.resource(id).name.clone()
    }

    pub(super) fn pass(&self, id: PassId) -> String {
        self.frame.pass(id).name.clone()
    }

    pub(super) fn access(&self, access: &Access) -> String {
        let (resource, pass) = (self.resource(access.resource), self.pass(access.pass));
        format!("the access of `{resource}` by pass `{pass}`")
    }

    /// The resource that an image or a buffer holds.
    pub(super) fn resource_of(&self, object: ImageOrBuffer) -> ResourceId {
        match object {
            ImageOrBuffer::Image(row) => self.tables.images[row as usize].resource,
            ImageOrBuffer::Buffer(row) => self.tables.buffers[row as usize].resource,
        }
    }

    pub(super) fn name_of(&self, object: ImageOrBuffer) -> String {
        self.resource(self.resource_of(object))
    }

    pub(super) fn binding_of(&self, object: ImageOrBuffer) -> MemoryBinding {
        match object {
            ImageOrBuffer::Image(row) => self.tables.images[row as usize].binding,
            ImageOrBuffer::Buffer(row) => self.tables.buffers[row as usize].binding,
        }
    }

    /// The kind of an object's memory; `None` for the caller's.
    pub(super) fn memory_of(&self, object: ImageOrBuffer) -> Option<MemoryKind> {
        let memory = self.binding_of(object).memory.get()?;
        Some(self.tables.memory[memory as usize].kind)
    }

    /// Returns true if queue families share an object (`VK_SHARING_MODE_CONCURRENT`).
    pub(super) fn is_concurrent(&self, object: ImageOrBuffer) -> bool {
        let sharing = match object {
            ImageOrBuffer::Image(row) => self.tables.images[row as usize].sharing,
            ImageOrBuffer::Buffer(row) => self.tables.buffers[row as usize].sharing,
        };
        !sharing.families.is_empty()
    }

    /// The parts that an access of the frame uses.
    pub(super) fn parts_of(&self, access: usize) -> Vec<Part> {
        let range = self.frame.accesses()[access].range;
        let object = self.tables.accesses[access].object.get();
        self.parts.within(self.tables, object, range)
    }

    /// The parts that must be in the layout of an access: through a 3D view, shaders access all slices of a level.
    pub(super) fn seen_parts(&self, access: usize) -> Vec<Part> {
        let used = self.parts_of(access);
        let row = self.tables.accesses[access];
        let solid = |view: u32| self.tables.views[view as usize].view_type == vk::ImageViewType::TYPE_3D;
        if !row.view.get().is_some_and(solid) {
            return used;
        }
        let levels = |part: &Part| self.parts.range(*part).levels;
        let mut seen = self.parts.of(row.object.get());
        seen.retain(|part| used.iter().any(|other| levels(other) == levels(part)));
        seen
    }

    /// The parts of an object that some pass uses.
    pub(super) fn used_parts(&self, object: ImageOrBuffer) -> Vec<Part> {
        let used = |part: &Part| {
            let accesses = 0..self.tables.accesses.len();
            let mut accesses = accesses.filter(|&index| self.tables.accesses[index].object == object);
            accesses.any(|index| self.parts_of(index).contains(part))
        };
        self.parts.of(object).into_iter().filter(used).collect()
    }

    /// Every image, then every buffer.
    pub(super) fn objects(&self) -> impl Iterator<Item = ImageOrBuffer> + use<> {
        let images = (0..self.tables.images.len() as u32).map(ImageOrBuffer::Image);
        images.chain((0..self.tables.buffers.len() as u32).map(ImageOrBuffer::Buffer))
    }

    /// The images or buffers of a resource, in table order.
    pub(super) fn objects_of(&self, resource: ResourceId) -> Vec<ImageOrBuffer> {
        let of_resource = |object: &ImageOrBuffer| self.resource_of(*object) == resource;
        self.objects().filter(of_resource).collect()
    }

    /// Returns true if an object holds this version of a resource: of a history's two objects, the first is current in even frames.
    pub(super) fn holds(&self, object: ImageOrBuffer, resource: ResourceId, version: HistoryVersion) -> bool {
        let all = self.objects_of(resource);
        let history = self.is_history(resource);
        match (history && all.len() == 2, version) {
            (true, HistoryVersion::Current) => all[self.lowering_desc.parity.index()] == object,
            (true, HistoryVersion::Previous) => all[1 - self.lowering_desc.parity.index()] == object,
            (false, HistoryVersion::Current) => all.contains(&object),
            (false, HistoryVersion::Previous) => false,
        }
    }

    pub(super) fn is_history(&self, resource: ResourceId) -> bool {
        self.frame.resource(resource).persistence == crate::frame::Persistence::History
    }

    pub(super) fn family(&self, queue: DeviceQueueIndex) -> u32 {
        self.lowering_desc.queues.family(queue)
    }

    /// The capabilities of a queue.
    pub(super) fn flags(&self, queue: DeviceQueueIndex) -> vk::QueueFlags {
        self.device.families[self.family(queue) as usize]
    }

    /// The device queue that runs a pass of the frame.
    pub(super) fn queue_of(&self, pass: PassId) -> DeviceQueueIndex {
        self.lowering_desc.queues.declared()[self.frame.queue_of(pass).index()]
    }
}
