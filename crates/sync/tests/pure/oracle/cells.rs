//! Memory locations, as cells: every class of resources is split at all boundaries in the program, so that all locations of one cell are equivalent.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use ash::vk;
use tileheap_sync::program::*;
use tileheap_units::Run;

use super::Rules;
use super::bits::Bits;
use super::operations::{AccessScope, Action, Flat};

/// The cells that an action touches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touched {
    pub(crate) class: usize,
    pub(crate) resource: ResourceId,
    pub(crate) certain: Bits,
    /// Cells that it may also write back, see the exception "whole subresources"; includes `certain`.
    pub(crate) letter: Bits,
    /// True if it certainly touches all of the resource.
    pub(crate) entire: bool,
}

#[derive(Debug)]
enum Cells {
    /// Byte boundaries, relative to the resource's first byte.
    Linear(Vec<u64>),
    /// Groups of texels that no part distinguishes, with a representative of each.
    Optimal(Vec<Texel>),
}

#[derive(Clone, Copy, Debug)]
struct Texel {
    aspect: u32,
    /// Level, layer, x, y, z.
    at: [u32; 5],
}

/// The memory of a program.
#[derive(Debug)]
pub(crate) struct Space {
    resources: Vec<Resource>,
    granularity: u64,
    /// The class of each resource.
    classes: Vec<usize>,
    cells: Vec<Cells>,
    /// The cells that every action touches.
    pub(crate) touched: Vec<Touched>,
}

const ALL: Run = Run::new(0, u32::MAX);

/// Level, layer and area of a part.
fn runs(texels: &Texels) -> [Run; 5] {
    let [x, y, z] = texels.area.unwrap_or([ALL; 3]);
    [texels.levels, texels.layers, x, y, z]
}

impl Texel {
    fn is_in(self, texels: &Texels) -> bool {
        let inside = |(run, at): (Run, u32)| run.first <= at && at < run.end;
        texels.aspects.as_raw() & self.aspect != 0 && runs(texels).into_iter().zip(self.at).all(inside)
    }
}

/// The resources connected through `alias_of`, which interpret memory consistently ("Memory Aliasing").
fn classes(resources: &[Resource], rules: &Rules) -> Vec<usize> {
    let mut classes: Vec<usize> = (0..resources.len()).collect();
    for (index, resource) in resources.iter().enumerate().filter(|_| rules.classes) {
        if let Some(ResourceId(same)) = resource.alias_of {
            let (from, to) = (classes[index], classes[same as usize]);
            classes
                .iter_mut()
                .filter(|class| **class == from)
                .for_each(|class| *class = to);
        }
    }
    classes
}

/// The part without its area.
fn whole_subresources(part: ResourcePart) -> ResourcePart {
    match part {
        ResourcePart::Texels(texels) => ResourcePart::Texels(Texels { area: None, ..texels }),
        ResourcePart::Bytes(..) => part,
    }
}

fn may_write_back(action: &Action) -> bool {
    action.writes
        && matches!(
            action.kind(),
            Some(AccessKind::Load | AccessKind::Store | AccessKind::Resolve)
        )
}

impl Space {
    pub(crate) fn new(program: &Program, flat: &Flat, rules: &Rules) -> Space {
        let mut space = Space {
            resources: program.resources.clone(),
            granularity: if rules.padding {
                program.granularity.max(1)
            } else {
                1
            },
            classes: classes(&program.resources, rules),
            cells: Vec::new(),
            touched: Vec::new(),
        };
        let mut parts: Vec<(ResourceId, ResourcePart)> = Vec::new();
        for action in &flat.actions {
            parts.push((action.usage.resource, action.usage.part));
            if may_write_back(action) {
                parts.push((action.usage.resource, whole_subresources(action.usage.part)));
            }
        }
        for dependency in &flat.dependencies {
            for scope in [dependency.available, dependency.visible] {
                if let AccessScope::Types {
                    extent: DependencyMemory::Part(resource, part),
                    ..
                } = scope
                {
                    parts.push((resource, part));
                }
            }
        }
        space.cut(&parts);
        space.touched = flat
            .actions
            .iter()
            .map(|action| space.touch(action, rules))
            .collect();
        space
    }

    pub(crate) fn class(&self, resource: ResourceId) -> usize {
        self.classes[resource.0 as usize]
    }

    fn resource(&self, resource: ResourceId) -> &Resource {
        &self.resources[resource.0 as usize]
    }

    /// Splits all classes at all boundaries of parts, and the linear ones also at boundaries of everything else in their memory.
    fn cut(&mut self, parts: &[(ResourceId, ResourcePart)]) {
        let mut absolute: HashMap<MemoryId, BTreeSet<u64>> = HashMap::new();
        for resource in &self.resources {
            let padded = self.pad(resource.first..resource.end);
            let cuts = absolute.entry(resource.memory).or_default();
            cuts.extend([resource.first, resource.end, padded.start, padded.end]);
        }
        for (id, part) in parts {
            if let ResourcePart::Bytes(first, end) = part {
                let resource = self.resource(*id);
                absolute
                    .entry(resource.memory)
                    .or_default()
                    .extend([resource.first + first, resource.first + end]);
            }
        }
        for class in 0..self.resources.len() {
            let members = (0..self.resources.len()).filter(|index| self.classes[*index] == class);
            let in_class: Vec<ResourcePart> = parts
                .iter()
                .filter(|(id, _)| self.class(*id) == class)
                .map(|(_, part)| *part)
                .collect();
            let cells = match self.resources[class].tiling {
                Tiling::Linear | Tiling::Unknown => {
                    let mut cuts: BTreeSet<u64> = members
                        .flat_map(|index| {
                            let Resource {
                                memory, first, end, ..
                            } = self.resources[index];
                            absolute[&memory]
                                .range(first..=end)
                                .map(move |byte| byte - first)
                                .collect::<Vec<u64>>()
                        })
                        .collect();
                    for part in in_class {
                        if let ResourcePart::Bytes(first, end) = part {
                            cuts.extend([first, end]);
                        }
                    }
                    Cells::Linear(cuts.into_iter().collect())
                }
                Tiling::Optimal(all) => Cells::Optimal(texels(&all, &in_class)),
            };
            self.cells.push(cells);
        }
    }

    /// The cells of a part; the whole resource for a part of the wrong type.
    pub(crate) fn part(&self, resource: ResourceId, part: ResourcePart) -> Bits {
        match (&self.cells[self.class(resource)], part) {
            (Cells::Linear(cuts), ResourcePart::Bytes(first, end)) => (0..cuts.len() - 1)
                .filter(|index| first <= cuts[*index] && cuts[index + 1] <= end)
                .collect(),
            (Cells::Optimal(texels), ResourcePart::Texels(part)) => (0..texels.len())
                .filter(|index| texels[*index].is_in(&part))
                .collect(),
            (Cells::Linear(cuts), ResourcePart::Texels(_)) => (0..cuts.len() - 1).collect(),
            (Cells::Optimal(texels), ResourcePart::Bytes(..)) => (0..texels.len()).collect(),
        }
    }

    fn touch(&self, action: &Action, rules: &Rules) -> Touched {
        let resource = action.usage.resource;
        let certain = self.part(resource, action.usage.part);
        let letter = match action.usage.part {
            part if rules.whole_subresources && may_write_back(action) => {
                self.part(resource, whole_subresources(part))
            }
            _ => certain,
        };
        let entire = match (self.resource(resource).tiling, action.usage.part) {
            (Tiling::Optimal(all), ResourcePart::Texels(part)) => {
                let contains = |outer: Run, inner: Run| outer.first <= inner.first && inner.end <= outer.end;
                part.area.is_none()
                    && part.aspects.contains(all.aspects)
                    && contains(part.levels, all.levels)
                    && contains(part.layers, all.layers)
            }
            _ => false,
        };
        Touched {
            class: self.class(resource),
            resource,
            certain,
            letter,
            entire,
        }
    }

    /// The bytes that a cell may occupy: any of an optimally tiled image ("Memory Aliasing").
    fn bytes(&self, resource: ResourceId, cell: usize, rules: &Rules) -> Range<u64> {
        let Resource { first, end, .. } = *self.resource(resource);
        match &self.cells[self.class(resource)] {
            Cells::Linear(cuts) => first + cuts[cell]..first + cuts[cell + 1],
            Cells::Optimal(_) if rules.optimal_images_alias_entirely => first..end,
            Cells::Optimal(texels) => {
                let length = (end - first) / texels.len() as u64;
                first + cell as u64 * length..first + (cell as u64 + 1) * length
            }
        }
    }

    fn is_linear(&self, resource: ResourceId) -> bool {
        self.resource(resource).tiling == Tiling::Linear
    }

    fn pad(&self, range: Range<u64>) -> Range<u64> {
        let page = self.granularity;
        range.start / page * page..range.end.div_ceil(page) * page
    }

    /// "Memory Aliasing": true if bytes of two resources in one memory overlap, padded if exactly one of them is linear.
    fn share_bytes(&self, x: ResourceId, a: Range<u64>, y: ResourceId, b: Range<u64>) -> bool {
        let (mut a, mut b) = (a, b);
        if self.is_linear(x) != self.is_linear(y) {
            (a, b) = (self.pad(a), self.pad(b));
        }
        a.start.max(b.start) < a.end.min(b.end)
    }

    /// Returns true if two resources of different classes alias anywhere.
    pub(crate) fn resources_alias(&self, x: ResourceId, y: ResourceId) -> bool {
        let (a, b) = (self.resource(x), self.resource(y));
        a.memory == b.memory && self.share_bytes(x, a.first..a.end, y, b.first..b.end)
    }

    /// Returns true if a cell of one resource and a cell of another class, in the same memory, alias.
    pub(crate) fn alias(&self, x: (ResourceId, usize), y: (ResourceId, usize), rules: &Rules) -> bool {
        self.share_bytes(x.0, self.bytes(x.0, x.1, rules), y.0, self.bytes(y.0, y.1, rules))
    }

    /// The bytes, or the pages, that two overlapping cells may both occupy.
    pub(crate) fn common_bytes(
        &self,
        x: (ResourceId, usize),
        y: (ResourceId, usize),
        rules: &Rules,
    ) -> (u64, u64) {
        let (mut a, mut b) = (self.bytes(x.0, x.1, rules), self.bytes(y.0, y.1, rules));
        if self.class(x.0) == self.class(y.0) {
            return (a.start, a.end);
        }
        if self.is_linear(x.0) != self.is_linear(y.0) {
            (a, b) = (self.pad(a), self.pad(b));
        }
        (a.start.max(b.start), a.end.min(b.end))
    }

    /// Returns true if an action certainly touches all bytes that a cell of another resource may occupy.
    pub(crate) fn covers(
        &self,
        z: usize,
        flat: &Flat,
        resource: ResourceId,
        cell: usize,
        rules: &Rules,
    ) -> bool {
        let touched = &self.touched[z];
        let through = self.resource(touched.resource);
        let range = match (through.tiling, flat.actions[z].usage.part) {
            (Tiling::Optimal(_), _) if !touched.entire => return false,
            (Tiling::Linear, ResourcePart::Bytes(first, end)) => through.first + first..through.first + end,
            _ => through.first..through.end,
        };
        let bytes = self.bytes(resource, cell, rules);
        through.memory == self.resource(resource).memory
            && range.start <= bytes.start
            && bytes.end <= range.end
    }
}

/// A representative of every group of texels in `all` that the parts do not distinguish.
fn texels(all: &Texels, parts: &[ResourcePart]) -> Vec<Texel> {
    let parts: Vec<Texels> = parts
        .iter()
        .filter_map(|part| match part {
            ResourcePart::Texels(texels) => Some(*texels),
            ResourcePart::Bytes(..) => None,
        })
        .chain([Texels { area: None, ..*all }])
        .collect();
    let mut aspects = vk::ImageAspectFlags::empty();
    let mut cuts: [BTreeSet<u32>; 5] = Default::default();
    for part in &parts {
        aspects |= part.aspects;
        for (cuts, run) in cuts.iter_mut().zip(runs(part)) {
            cuts.extend([run.first, run.end]);
        }
    }
    let aspects = (0..32)
        .map(|bit| 1 << bit)
        .filter(|bit| aspects.as_raw() & bit != 0);
    let mut texels: Vec<Texel> = aspects.map(|aspect| Texel { aspect, at: [0; 5] }).collect();
    for (axis, cuts) in cuts.iter().enumerate() {
        texels = texels
            .iter()
            .flat_map(|texel| {
                cuts.iter().map(move |cut| {
                    let mut texel = *texel;
                    texel.at[axis] = *cut;
                    texel
                })
            })
            .collect();
    }
    let mut groups: BTreeMap<Vec<u64>, Texel> = BTreeMap::new();
    for texel in texels {
        let mut signature = vec![0; parts.len().div_ceil(64)];
        for (index, part) in parts.iter().enumerate() {
            signature[index / 64] |= u64::from(texel.is_in(part)) << (index % 64);
        }
        if signature.iter().any(|word| *word != 0) {
            groups.entry(signature).or_insert(texel);
        }
    }
    groups.into_values().collect()
}
