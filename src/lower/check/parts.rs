//! Parts: the ranges of images that the frame or the tables tell apart. A buffer is one part.

use ash::vk;

use crate::frame::{Frame, SubresourceRange};
use crate::lower::situation::Situation;
use crate::lower::tables::commands::PassContents;
use crate::lower::tables::objects::{Binding, ImageRow};
use crate::lower::tables::{Lowered, Object};
use crate::plan::MemoryKind;
use crate::units::Run;

/// A part of an image, or a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Position among all parts.
    pub(super) index: usize,
    /// What it is a part of.
    pub(super) object: Object,
}

/// Every part of every image and buffer: disjoint, and every range that occurs is made of whole ones.
#[derive(Default)]
pub(super) struct Parts {
    all: Vec<(Part, SubresourceRange)>,
    /// Per image, then per buffer, its run of `all`.
    of_object: Vec<Run>,
    images: usize,
    /// Per part, the first one of the same contents: images or buffers of one resource in the same bytes of tile memory share them.
    same_texels: Vec<Part>,
}

impl Parts {
    pub(super) fn new(tables: &Lowered, frame: &Frame, situation: &Situation) -> Parts {
        let mut parts = Parts {
            images: tables.images.len(),
            ..Parts::default()
        };
        for (row, image) in (0..).zip(&tables.images) {
            let object = Object::Image(row);
            let whole = whole(image);
            let mut ranges = ranges_of(tables, frame, situation, row);
            ranges.retain_mut(|range| {
                *range = inside(flat(image, *range), whole);
                *range != whole
            });
            if ranges.is_empty() {
                parts.add(object, whole);
                continue;
            }
            let levels = cuts(whole.levels, ranges.iter().map(|range| range.levels));
            let layers = cuts(whole.layers, ranges.iter().map(|range| range.layers));
            for &levels in &levels {
                for &layers in &layers {
                    for bit in (0..u32::BITS).map(|bit| vk::ImageAspectFlags::from_raw(1 << bit)) {
                        if whole.aspects.contains(bit) {
                            let aspects = bit;
                            parts.add(
                                object,
                                SubresourceRange {
                                    aspects,
                                    levels,
                                    layers,
                                },
                            );
                        }
                    }
                }
            }
        }
        for row in 0..tables.buffers.len() as u32 {
            parts.add(Object::Buffer(row), SubresourceRange::ALL);
        }
        for (part, _) in &parts.all {
            let at = parts.position(part.object);
            parts.of_object.resize(at + 1, Run::default());
            let run = &mut parts.of_object[at];
            run.first = if run.is_empty() {
                part.index as u32
            } else {
                run.first
            };
            run.end = part.index as u32 + 1;
        }
        let objects: Vec<Object> = parts
            .of_object
            .iter()
            .map(|run| parts.all[run.first as usize].0.object)
            .collect();
        let same = |one: &(Part, SubresourceRange)| {
            let mut earlier = objects
                .iter()
                .filter(|&&other| share_bytes(tables, other, one.0.object));
            let first = earlier.next().map(|&other| parts.entries(other).iter());
            let same = first.and_then(|mut entries| entries.find(|other| other.1 == one.1));
            same.map_or(one.0, |other| other.0)
        };
        parts.same_texels = parts.all.iter().map(same).collect();
        parts
    }

    fn add(&mut self, object: Object, range: SubresourceRange) {
        let index = self.all.len();
        self.all.push((Part { index, object }, range));
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    fn position(&self, object: Object) -> usize {
        match object {
            Object::Image(row) => row as usize,
            Object::Buffer(row) => self.images + row as usize,
        }
    }

    fn entries(&self, object: Object) -> &[(Part, SubresourceRange)] {
        self.of_object[self.position(object)].of(&self.all)
    }

    /// All parts of an image; a buffer.
    pub(super) fn of(&self, object: Object) -> Vec<Part> {
        self.entries(object).iter().map(|(part, _)| *part).collect()
    }

    /// Stands for all objects of the same contents.
    pub(super) fn first_alias(&self, object: Object) -> Object {
        self.texels(self.entries(object)[0].0).object
    }

    /// The parts inside of a range of an image; a buffer, whatever the range.
    pub(super) fn within(&self, tables: &Lowered, object: Object, range: SubresourceRange) -> Vec<Part> {
        let Object::Image(row) = object else {
            return self.of(object);
        };
        let range = flat(&tables.images[row as usize], range);
        let inside = self.entries(object).iter().filter(|(_, of)| of.intersects(range));
        inside.map(|(part, _)| *part).collect()
    }

    /// The range of a part.
    pub(super) fn range(&self, part: Part) -> SubresourceRange {
        self.all[part.index].1
    }

    /// The part that stands for all of the same texels.
    pub(super) fn texels(&self, part: Part) -> Part {
        self.same_texels[part.index]
    }

    /// Whether there is no other part of the image.
    pub(super) fn is_whole(&self, part: Part) -> bool {
        self.of_object[self.position(part.object)].len() == 1
    }
}

/// Every range of an image that the frame or the tables name.
fn ranges_of(tables: &Lowered, frame: &Frame, situation: &Situation, image: u32) -> Vec<SubresourceRange> {
    let object = Object::Image(image);
    let resource = tables.images[image as usize].resource;
    let accesses = frame.accesses_to(resource);
    let mut ranges: Vec<SubresourceRange> = accesses.map(|access| access.range).collect();
    let barriers = tables
        .image_barriers
        .iter()
        .filter(|barrier| barrier.image == image);
    ranges.extend(barriers.map(|barrier| barrier.range));
    ranges.extend(tables.passes.iter().filter_map(|pass| match pass.contents {
        PassContents::Clear {
            object: of, range, ..
        } if of == object => Some(range),
        _ => None,
    }));
    let left = situation.before.contents.iter().chain(&tables.after.contents);
    ranges.extend(left.filter(|left| left.object == object).map(|left| left.range));
    ranges
}

/// All of an image. Slices of 3D images have no layouts of their own: they are one layer.
fn whole(image: &ImageRow) -> SubresourceRange {
    let run = |end| Run::new(0, end);
    SubresourceRange {
        aspects: crate::format::aspects(image.format),
        levels: run(image.mip_levels),
        layers: run(image.array_layers),
    }
}

/// A range of a 3D image with all slices.
fn flat(image: &ImageRow, range: SubresourceRange) -> SubresourceRange {
    if image.image_type == vk::ImageType::TYPE_3D {
        SubresourceRange {
            layers: Run::new(0, 1),
            ..range
        }
    } else {
        range
    }
}

/// What of a range is there; what is not is reported elsewhere.
fn inside(range: SubresourceRange, whole: SubresourceRange) -> SubresourceRange {
    let clamp = |run: Run, all: Run| Run::new(run.first.min(all.end), run.end.min(all.end));
    SubresourceRange {
        aspects: range.aspects & whole.aspects,
        levels: clamp(range.levels, whole.levels),
        layers: clamp(range.layers, whole.layers),
    }
}

/// `whole`, cut at the ends of all runs.
fn cuts(whole: Run, runs: impl Iterator<Item = Run>) -> Vec<Run> {
    let mut at: Vec<u32> = runs.flat_map(|run| [run.first, run.end]).collect();
    at.extend([whole.first, whole.end]);
    at.sort_unstable();
    at.dedup();
    let pairs = at.windows(2);
    pairs.map(|pair| Run::new(pair[0], pair[1])).collect()
}

/// Whether two objects are of one resource in the same bytes of tile memory.
fn share_bytes(tables: &Lowered, a: Object, b: Object) -> bool {
    let of = |object: Object| {
        let (resource, binding) = match object {
            Object::Image(row) => (
                tables.images[row as usize].resource,
                tables.images[row as usize].binding,
            ),
            Object::Buffer(row) => (
                tables.buffers[row as usize].resource,
                tables.buffers[row as usize].binding,
            ),
        };
        match binding {
            Binding::Memory { memory, offset, size }
                if tables.memory[memory as usize].kind == MemoryKind::Tile =>
            {
                Some((resource, offset, size))
            }
            _ => None,
        }
    };
    of(a).is_some() && of(a) == of(b)
}
