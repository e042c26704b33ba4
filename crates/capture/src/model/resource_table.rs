//! Numbers the images and buffers of a frame, and converts barriers and render pass instances that refer to them.

use std::collections::HashMap;

use super::objects::Resource;
use super::recording::{Dependency, DependencyMemory, RenderPassInstance, Synchronization};
use crate::document::recording::{self, CommandEffect};

/// The images and buffers of a frame, numbered in the order in which commands refer to them.
#[derive(Debug, Default)]
pub(crate) struct ResourceTable {
    pub(crate) all: Vec<Resource>,
    /// The number of each resource, by key; the table holds the resources, so that keys stay unique.
    numbers: HashMap<usize, u32>,
}

impl ResourceTable {
    /// Returns the number of a resource.
    pub(crate) fn number(&mut self, resource: &Resource) -> u32 {
        *self.numbers.entry(resource.key()).or_insert_with(|| {
            self.all.push(resource.clone());
            self.all.len() as u32 - 1
        })
    }

    /// Returns the resource with this number.
    pub(crate) fn get(&self, number: u32) -> &Resource {
        &self.all[number as usize]
    }

    /// Converts a barrier or an event operation for a recording.
    pub(crate) fn synchronization(&mut self, sync: &Synchronization) -> CommandEffect {
        match sync {
            Synchronization::Barrier(all) => CommandEffect::Barrier(self.dependencies(all)),
            Synchronization::SetEvent(event, stages) => CommandEffect::SetEvent {
                event: *event,
                stages: *stages,
            },
            Synchronization::ResetEvent(event) => CommandEffect::ResetEvent { event: *event },
            Synchronization::WaitEvents(events, all) => CommandEffect::WaitEvents {
                events: events.clone(),
                dependencies: self.dependencies(all),
            },
        }
    }

    fn dependencies(&mut self, all: &[Dependency]) -> Vec<recording::Dependency> {
        all.iter().map(|one| self.dependency(one)).collect()
    }

    fn dependency(&mut self, one: &Dependency) -> recording::Dependency {
        let memory = match &one.memory {
            DependencyMemory::None => recording::AffectedMemory::None,
            DependencyMemory::All => recording::AffectedMemory::All,
            DependencyMemory::Buffer(range) => recording::AffectedMemory::Buffer {
                resource: self.number(&Resource::Buffer(range.buffer.clone())),
                first: range.first,
                end: range.end,
            },
            DependencyMemory::Image {
                image,
                range,
                old,
                new,
            } => recording::AffectedMemory::Image {
                resource: self.number(&Resource::Image(image.clone())),
                range: *range,
                old: *old,
                new: *new,
            },
        };
        recording::Dependency {
            scopes: one.scopes,
            memory,
            families: one.families,
        }
    }

    /// Returns a render pass instance with the numbers of its images.
    pub(crate) fn instance(&mut self, instance: &RenderPassInstance) -> recording::RenderPassInstance {
        let mut recorded = instance.recorded.clone();
        for (attachment, view) in recorded.attachments.iter_mut().zip(&instance.views) {
            attachment.resource = self.number(&Resource::Image(view.image.clone()));
        }
        recorded
    }
}
