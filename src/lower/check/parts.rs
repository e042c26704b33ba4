//! Parts: the ranges of images that the frame or the tables distinguish. A buffer is one part.

use ash::vk;
use tileheap_units::CompactSort;

use super::facts::DeviceFacts;
use crate::frame::{Frame, SubresourceRange};
use crate::lower::lowering_desc::LoweringDesc;
use crate::lower::tables::commands::ImageBarrierRow;
use crate::lower::tables::objects::{ImageRow, MemoryBinding};
use crate::lower::tables::{ImageOrBuffer, Lowered};
use crate::plan::MemoryKind;
use crate::profile::Features;
use crate::units::Run;

/// A part of an image, or a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Position among all parts.
    pub(super) index: usize,
    /// The image or buffer that it belongs to.
    pub(super) object: ImageOrBuffer,
}

/// Every part of every image and buffer. Parts are disjoint, and every range that occurs consists of whole parts.
#[derive(Default)]
pub(super) struct Parts {
    all: Vec<(Part, SubresourceRange)>,
    /// Per image, then per buffer, its run of `all`.
    of_object: Vec<Run>,
    images: usize,
    /// Per image, true if barriers can name individual slices.
    by_slices: Vec<bool>,
    /// Per part, the first one with the same contents: images or buffers of one resource in the same bytes of tile memory share them.
    same_texels: Vec<Part>,
}

impl Parts {
    pub(super) fn new(
        tables: &Lowered,
        frame: &Frame,
        lowering_desc: &LoweringDesc,
        device: &DeviceFacts,
    ) -> Parts {
        let mut parts = Parts {
            images: tables.images.len(),
            by_slices: tables
                .images
                .iter()
                .map(|image| by_slices(image, device))
                .collect(),
            ..Parts::default()
        };
        let images = (0..).zip(&tables.images).map(|(row, image)| {
            let ranges = ranges_of(tables, frame, lowering_desc, row, parts.by_slices[row as usize]);
            (ImageOrBuffer::Image(row), cells(image, ranges))
        });
        let buffers = (0..tables.buffers.len() as u32).map(ImageOrBuffer::Buffer);
        let buffers = buffers.map(|object| (object, vec![SubresourceRange::ALL]));
        let objects: Vec<_> = images.chain(buffers).collect();
        for (object, cells) in objects {
            let first = parts.all.len() as u32;
            for (index, range) in (parts.all.len()..).zip(cells) {
                parts.all.push((Part { index, object }, range));
            }
            parts.of_object.push(Run::new(first, parts.all.len() as u32));
        }
        let objects: Vec<ImageOrBuffer> = parts
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

    /// The number of parts.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    fn position(&self, object: ImageOrBuffer) -> usize {
        match object {
            ImageOrBuffer::Image(row) => row as usize,
            ImageOrBuffer::Buffer(row) => self.images + row as usize,
        }
    }

    fn entries(&self, object: ImageOrBuffer) -> &[(Part, SubresourceRange)] {
        self.of_object[self.position(object)].of(&self.all)
    }

    /// All parts of an image; for a buffer, its one part.
    pub(super) fn of(&self, object: ImageOrBuffer) -> Vec<Part> {
        self.entries(object).iter().map(|(part, _)| *part).collect()
    }

    /// The object that represents all objects with the same contents.
    pub(super) fn first_alias(&self, object: ImageOrBuffer) -> ImageOrBuffer {
        self.with_same_texels(self.entries(object)[0].0).object
    }

    /// The parts inside a range of an image; for a buffer, its one part, whatever the range.
    pub(super) fn within(
        &self,
        tables: &Lowered,
        object: ImageOrBuffer,
        range: SubresourceRange,
    ) -> Vec<Part> {
        let ImageOrBuffer::Image(row) = object else {
            return self.of(object);
        };
        let range = spread(&tables.images[row as usize], range);
        let inside = self.entries(object).iter().filter(|(_, of)| of.intersects(range));
        inside.map(|(part, _)| *part).collect()
    }

    /// Returns true if all of a part is inside a range of its image.
    pub(super) fn is_inside(&self, part: Part, image: &ImageRow, range: SubresourceRange) -> bool {
        spread(image, range).contains(self.range(part))
    }

    /// The parts that a barrier covers: all slices of its levels if it cannot name individual ones.
    pub(super) fn of_barrier(&self, tables: &Lowered, barrier: &ImageBarrierRow) -> Vec<Part> {
        let image = &tables.images[barrier.image as usize];
        let range = named(image, barrier.range, self.by_slices[barrier.image as usize]);
        self.within(tables, ImageOrBuffer::Image(barrier.image), range)
    }

    /// Returns true if barriers can name individual slices of an image.
    pub(super) fn are_slices_named(&self, image: u32) -> bool {
        self.by_slices[image as usize]
    }

    /// The range of a part.
    pub(super) fn range(&self, part: Part) -> SubresourceRange {
        self.all[part.index].1
    }

    /// The part that represents all parts with the same texels.
    pub(super) fn with_same_texels(&self, part: Part) -> Part {
        self.same_texels[part.index]
    }
}

/// The parts into which ranges divide an image.
fn cells(image: &ImageRow, mut ranges: Vec<SubresourceRange>) -> Vec<SubresourceRange> {
    let whole = whole(image);
    ranges.retain_mut(|range| {
        *range = inside(spread(image, *range), whole);
        *range != whole
    });
    if ranges.is_empty() {
        return vec![whole];
    }
    let layers = cuts(whole.layers, ranges.iter().map(|range| range.layers));
    // Each level has its own slices.
    let levels = match is_3d(image) && layers.len() > 1 {
        true => cuts(
            whole.levels,
            (0..whole.levels.end.min(32)).map(|level| Run::new(level, level)),
        ),
        false => cuts(whole.levels, ranges.iter().map(|range| range.levels)),
    };
    let bits = (0..u32::BITS).map(|bit| vk::ImageAspectFlags::from_raw(1 << bit));
    let aspects: Vec<_> = bits.filter(|bit| whole.aspects.contains(*bit)).collect();
    let mut cells = Vec::new();
    for (&levels, &layers) in levels
        .iter()
        .flat_map(|levels| layers.iter().map(move |layers| (levels, layers)))
    {
        let last = last_layer(image, levels);
        let layers = Run::new(layers.first.min(last), layers.end.min(last));
        let cell = |aspects| SubresourceRange {
            aspects,
            levels,
            layers,
        };
        if !layers.is_empty() {
            cells.extend(aspects.iter().copied().map(cell));
        }
    }
    cells
}

/// Every range of an image that the frame or the tables name.
fn ranges_of(
    tables: &Lowered,
    frame: &Frame,
    lowering_desc: &LoweringDesc,
    image: u32,
    by_slices: bool,
) -> Vec<SubresourceRange> {
    let object = ImageOrBuffer::Image(image);
    let resource = tables.images[image as usize].resource;
    let accesses = frame.accesses_to(resource);
    let mut ranges: Vec<SubresourceRange> = accesses.map(|access| access.range).collect();
    let barriers = tables
        .image_barriers
        .iter()
        .filter(|barrier| barrier.image == image);
    let of_barrier = |range| named(&tables.images[image as usize], range, by_slices);
    ranges.extend(barriers.map(|barrier| of_barrier(barrier.range)));
    let clears = tables.clears.iter().filter(|clear| clear.object == object);
    ranges.extend(clears.map(|clear| clear.range));
    let left = lowering_desc.before.contents.iter().chain(&tables.after.contents);
    ranges.extend(left.filter(|left| left.object == object).map(|left| left.range));
    ranges
}

fn is_3d(image: &ImageRow) -> bool {
    image.image_type == vk::ImageType::TYPE_3D
}

/// Returns true if barriers of an image cover only the slices that they name; otherwise, they cover all slices.
///
/// Source: VUID-VkImageMemoryBarrier2-subresourceRange-01488, -maintenance9-10798.
fn by_slices(image: &ImageRow, device: &DeviceFacts) -> bool {
    is_3d(image)
        && image
            .flags
            .contains(vk::ImageCreateFlags::TYPE_2D_ARRAY_COMPATIBLE)
        && device.profile.features.contains(Features::MAINTENANCE_9)
}

/// All of an image, with the slices of level 0.
fn whole(image: &ImageRow) -> SubresourceRange {
    let run = |end| Run::new(0, end);
    SubresourceRange {
        aspects: crate::format::aspects(image.format),
        levels: run(image.mip_levels),
        layers: run(last_layer(image, Run::default())),
    }
}

/// One past the last layer; for a 3D image, one past the last slice of the first of `levels`.
pub(super) fn last_layer(image: &ImageRow, levels: Run) -> u32 {
    if is_3d(image) {
        (image.extent.depth >> levels.first.min(31)).max(1)
    } else {
        image.array_layers
    }
}

/// Turns a range that covers all slices of its level into one that covers those of level 0.
fn spread(image: &ImageRow, range: SubresourceRange) -> SubresourceRange {
    let all = [last_layer(image, range.levels), vk::REMAINING_ARRAY_LAYERS];
    if is_3d(image) && range.layers.first == 0 && all.contains(&range.layers.end) {
        all_slices(image, range)
    } else {
        range
    }
}

/// The range that a barrier actually covers if it names `range`.
fn named(image: &ImageRow, range: SubresourceRange, by_slices: bool) -> SubresourceRange {
    if is_3d(image) && !by_slices {
        all_slices(image, range)
    } else {
        range
    }
}

fn all_slices(image: &ImageRow, range: SubresourceRange) -> SubresourceRange {
    SubresourceRange {
        layers: Run::new(0, image.extent.depth),
        ..range
    }
}

/// The part of a range that exists in the image; other checks report the rest.
fn inside(range: SubresourceRange, whole: SubresourceRange) -> SubresourceRange {
    let clamp = |run: Run, all: Run| Run::new(run.first.min(all.end), run.end.min(all.end));
    SubresourceRange {
        aspects: range.aspects & whole.aspects,
        levels: clamp(range.levels, whole.levels),
        layers: clamp(range.layers, whole.layers),
    }
}

/// Divides `whole` at both ends of every run.
fn cuts(whole: Run, runs: impl Iterator<Item = Run>) -> Vec<Run> {
    let mut at: Vec<u32> = runs.flat_map(|run| [run.first, run.end]).collect();
    at.extend([whole.first, whole.end]);
    at.compact_sort();
    at.dedup();
    let pairs = at.windows(2);
    pairs.map(|pair| Run::new(pair[0], pair[1])).collect()
}

/// Returns true if two objects hold one resource in the same bytes of tile memory.
fn share_bytes(tables: &Lowered, a: ImageOrBuffer, b: ImageOrBuffer) -> bool {
    let of = |object: ImageOrBuffer| {
        let (resource, binding) = match object {
            ImageOrBuffer::Image(row) => (
                tables.images[row as usize].resource,
                tables.images[row as usize].binding,
            ),
            ImageOrBuffer::Buffer(row) => (
                tables.buffers[row as usize].resource,
                tables.buffers[row as usize].binding,
            ),
        };
        let MemoryBinding { memory, offset, size } = binding;
        let tile = |memory: u32| tables.memory[memory as usize].kind == MemoryKind::Tile;
        memory
            .get()
            .filter(|&memory| tile(memory))
            .map(|_| (resource, offset, size))
    };
    of(a).is_some() && of(a) == of(b)
}
