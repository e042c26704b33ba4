//! The resources of a recording, converted to the model.

use ash::vk;
use tileheap::format;
use tileheap::frame::SubresourceRange;
use tileheap::units::Run;
use tileheap_sync::Model;
use tileheap_sync::program::{self, MemoryId, ResourceId, SharingMode, Texels, Tiling};

use crate::document::recording::{Recording, Resource, ResourceKind, ResourcePart};

/// The resources of a recording, and the ids of those that are checked.
pub(super) struct Resources<'a> {
    all: &'a [Resource],
    /// The id of each resource, indexed as in the recording; `None` if its accesses are not checked.
    ids: Vec<Option<ResourceId>>,
    /// Indices in the recording, by id.
    indices: Vec<usize>,
    placed: Vec<program::Resource>,
    /// By index: true for a linear image that shares memory with another resource, since it is not known which bytes its texels occupy.
    inexact: Vec<bool>,
    /// By index: the index of the first image that interprets the same bytes in the same way.
    classes: Vec<usize>,
}

impl<'a> Resources<'a> {
    /// Adds every resource that is checked to the model.
    pub(super) fn new(recording: &'a Recording, model: &mut Model) -> Resources<'a> {
        let all = &recording.resources;
        let inexact = (0..all.len()).map(|index| is_linear(&all[index]) && shares_pages(recording, index));
        let mut resources = Resources {
            all,
            ids: Vec::new(),
            indices: Vec::new(),
            placed: Vec::new(),
            inexact: inexact.collect(),
            classes: Vec::new(),
        };
        for (index, resource) in all.iter().enumerate() {
            let class = resources.class_of(index);
            resources.classes.push(class);
            if resource.unchecked.is_some() {
                resources.ids.push(None);
                continue;
            }
            let placed = resources.place(index, class);
            let id = model.add(placed);
            resources.ids.push(Some(id));
            resources.indices.push(index);
            resources.placed.push(placed);
            if !resource.created || is_written_by_host(recording, resource) {
                model.assume_written(id);
            }
        }
        resources
    }

    fn place(&self, index: usize, class: usize) -> program::Resource {
        let resource = &self.all[index];
        let (memory, first, required) = match resource.placement {
            Some(placement) => (
                MemoryId(placement.object.into()),
                placement.offset,
                placement.size,
            ),
            None => (MemoryId(1 << 32 | index as u64), 0, 1),
        };
        let (size, tiling) = match resource.kind {
            // Padding after a buffer is not shared with its neighbor.
            ResourceKind::Buffer { size } => (size, Tiling::Linear),
            ResourceKind::Image { .. } if self.inexact[index] => (required, Tiling::Linear),
            ResourceKind::Image { .. } => (required, Tiling::Optimal(self.all_texels(index))),
        };
        program::Resource {
            memory,
            first,
            end: first.saturating_add(size),
            tiling,
            alias_of: self.ids.get(class).copied().flatten(),
            sharing: match resource.exclusive {
                true => SharingMode::Exclusive,
                false => SharingMode::Concurrent,
            },
        }
    }

    /// Returns the index of the first image that interprets the same bytes in the same way, which may be the image itself.
    fn class_of(&self, index: usize) -> usize {
        let same = |other: &Resource| {
            let (Some(own), Some(place)) = (alias_group(&self.all[index]), self.all[index].placement) else {
                return false;
            };
            let is_placed = other
                .placement
                .is_some_and(|other| (other.object, other.offset) == (place.object, place.offset));
            alias_group(other) == Some(own) && is_placed && other.unchecked.is_none()
        };
        self.all[..index].iter().position(same).unwrap_or(index)
    }

    /// Returns the id of a resource; `None` if its accesses are not checked.
    pub(super) fn id(&self, index: u32) -> Option<ResourceId> {
        self.ids[index as usize]
    }

    /// Returns the resource's index in the recording.
    pub(super) fn index(&self, id: ResourceId) -> usize {
        self.indices[id.0 as usize]
    }

    /// Returns the resource as recorded.
    pub(super) fn get(&self, id: ResourceId) -> &'a Resource {
        &self.all[self.index(id)]
    }

    /// Returns true if the resource is shared by several queue families, none of which owns it.
    pub(super) fn is_concurrent(&self, index: u32) -> bool {
        self.all[index as usize].concurrent
    }

    /// Returns the resource in the model.
    pub(super) fn placed(&self, id: ResourceId) -> &program::Resource {
        &self.placed[id.0 as usize]
    }

    /// Returns true for a linear image that shares memory with another resource, since it is not known which bytes its texels occupy.
    pub(super) fn is_inexact(&self, id: ResourceId) -> bool {
        self.inexact[self.index(id)]
    }

    /// Returns true if a resource whose accesses are not checked is in the same memory allocation.
    pub(super) fn shares_memory_with_unchecked(&self, id: ResourceId) -> bool {
        let object = |resource: &Resource| resource.placement.map(|placement| placement.object);
        let own = object(self.get(id));
        let mut unchecked = self.all.iter().filter(|resource| resource.unchecked.is_some());
        own.is_some() && unchecked.any(|resource| object(resource) == own)
    }

    /// Returns the index of the first image that interprets the same bytes in the same way.
    pub(super) fn class(&self, index: usize) -> usize {
        self.classes[index]
    }

    /// Returns all texels of an image.
    pub(super) fn all_texels(&self, index: usize) -> Texels {
        Texels {
            aspects: self.aspects(index),
            levels: Run::new(0, self.levels(index)),
            layers: Run::new(0, self.layers(index)),
            area: None,
        }
    }

    /// Returns the depth of a 3D image.
    pub(super) fn depth(&self, index: usize) -> Option<u32> {
        match self.all[index].kind {
            ResourceKind::Image {
                extent, is_3d: true, ..
            } => Some(extent[2]),
            _ => None,
        }
    }

    /// Returns the aspects of an image.
    pub(super) fn aspects(&self, index: usize) -> vk::ImageAspectFlags {
        match self.all[index].kind {
            ResourceKind::Image { format, .. } => format::aspects(format),
            ResourceKind::Buffer { .. } => vk::ImageAspectFlags::empty(),
        }
    }

    fn levels(&self, index: usize) -> u32 {
        match self.all[index].kind {
            ResourceKind::Image { levels, .. } => levels.max(1),
            ResourceKind::Buffer { .. } => 1,
        }
    }

    /// Returns the number of array layers of an image; for a 3D image, of slices.
    fn layers(&self, index: usize) -> u32 {
        match self.all[index].kind {
            ResourceKind::Image {
                is_3d: true, extent, ..
            } => extent[2].max(1),
            ResourceKind::Image { layers, .. } => layers.max(1),
            ResourceKind::Buffer { .. } => 1,
        }
    }

    /// Returns the texels of a range that exist in an image; `None` if there are none. An area that covers a level is omitted, since barriers have no
    /// area.
    pub(super) fn texels(
        &self,
        index: usize,
        range: SubresourceRange,
        area: Option<[[u32; 2]; 2]>,
    ) -> Option<Texels> {
        let all = self.all_texels(index);
        let own = range.aspects & all.aspects;
        let texels = Texels {
            aspects: if own.is_empty() { all.aspects } else { own },
            levels: Run::new(range.levels.first, range.levels.end.min(all.levels.end)),
            layers: Run::new(range.layers.first, range.layers.end.min(all.layers.end)),
            area: area.map(|[x, y]| [x.into(), y.into(), Run::new(0, u32::MAX)]),
        };
        self.existing(index, texels)
    }

    /// Like [`Resources::texels`], for texels of the model.
    pub(super) fn existing(&self, index: usize, mut texels: Texels) -> Option<Texels> {
        let is_empty = |run: Run| run.first >= run.end;
        if is_empty(texels.levels) || is_empty(texels.layers) {
            return None;
        }
        if let Some([x, y, _]) = texels.area {
            if is_empty(x) || is_empty(y) {
                return None;
            }
            if let ResourceKind::Image { extent, .. } = self.all[index].kind {
                let covers =
                    |run: Run, size: u32| run.first == 0 && run.end >= (size >> texels.levels.first).max(1);
                if covers(x, extent[0]) && covers(y, extent[1]) {
                    texels.area = None;
                }
            }
        }
        Some(texels)
    }

    /// Converts a part to the model's type; `None` if it is empty.
    pub(super) fn part(&self, index: usize, part: &ResourcePart) -> Option<program::ResourcePart> {
        match *part {
            ResourcePart::Bytes(first, end) => {
                (first < end).then_some(program::ResourcePart::Bytes(first, end))
            }
            ResourcePart::Texels { range, area } => {
                self.texels(index, range, area).map(program::ResourcePart::Texels)
            }
        }
    }
}

fn alias_group(resource: &Resource) -> Option<u32> {
    match resource.kind {
        ResourceKind::Image { alias_group, .. } => alias_group,
        ResourceKind::Buffer { .. } => None,
    }
}

fn is_linear(resource: &Resource) -> bool {
    matches!(resource.kind, ResourceKind::Image { linear: true, .. })
}

/// Returns true if the host may have written a resource before its first command.
fn is_written_by_host(recording: &Recording, resource: &Resource) -> bool {
    let is_linear = is_linear(resource) || matches!(resource.kind, ResourceKind::Buffer { .. });
    let placed = resource.placement;
    is_linear && placed.is_some_and(|place| recording.memories[place.object as usize].mapped)
}

/// Returns true if another resource occupies bytes of the same pages of size `bufferImageGranularity`.
fn shares_pages(recording: &Recording, index: usize) -> bool {
    let page = recording.granularity.max(1);
    let pages = |resource: &Resource| {
        let place = resource.placement?;
        let last = place.offset.saturating_add(place.size.max(1)) - 1;
        Some((place.object, place.offset / page, last / page))
    };
    let own = pages(&recording.resources[index]);
    let mut others = recording.resources.iter().enumerate();
    others.any(|(other, resource)| match (own, pages(resource)) {
        (Some(own), Some(with)) => other != index && own.0 == with.0 && own.1 <= with.2 && with.1 <= own.2,
        _ => false,
    })
}
