//! Parts of buffers and images that a shader certainly accesses, and the range that they cover in a dispatch.
//!
//! ```text
//! data[gl_GlobalInvocationID.x] = …      offset 16, stride 4, local size 64        (vkCmdDispatch(2, 1, 1))
//!
//!     │ header │ 0 │ 1 │ 2 │ 3 │ … │ 127 │          written_extent([2, 1, 1], range)
//!     0       16                        528          = bytes [16, 528)
//! ```

use std::ops::Range;

/// An index that is a component of `GlobalInvocationID`.
///
/// Over a dispatch it takes every value in `[0, groups[axis] * local_size)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InvocationIndex {
    /// The component: 0, 1 or 2.
    pub axis: u8,
    /// Invocations of a workgroup along the axis.
    pub local_size: u32,
}

impl InvocationIndex {
    /// The number of values in a dispatch.
    pub fn count(&self, groups: [u32; 3]) -> u64 {
        let groups = groups.get(usize::from(self.axis)).copied().unwrap_or(0);
        u64::from(groups) * u64::from(self.local_size)
    }
}

/// An array in a buffer of which each invocation accesses an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ElementIndex {
    /// The index of the element.
    pub index: InvocationIndex,
    /// Distance between elements in bytes.
    pub stride: u32,
    /// Declared elements; `None` for a runtime array.
    pub length: Option<u32>,
}

/// A coordinate of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TexelIndex {
    /// The same in all invocations.
    Constant(u32),
    /// A component of the invocation's `GlobalInvocationID`.
    Invocation(InvocationIndex),
}

/// The part of a descriptor that one instruction accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessRegion {
    /// Bytes of a buffer.
    Bytes {
        /// The first one, relative to the descriptor's; with an index, that of element 0.
        offset: u32,
        /// Number of bytes that each invocation accesses.
        size: u32,
        /// The array that invocations index, if any.
        element: Option<ElementIndex>,
    },
    /// A texel of level 0 of an image view without layers and samples, or of a texel buffer; unused coordinates are 0.
    Texel([TexelIndex; 3]),
}

/// An access that every invocation performs if it runs the entry point to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CertainAccess {
    /// Reads contents.
    pub reads: bool,
    /// Writes contents.
    pub writes: bool,
    /// The part that is accessed.
    pub region: AccessRegion,
}

/// A part of a buffer or image; half-open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Bytes, relative to the first byte of the descriptor.
    Bytes(Range<u64>),
    /// A box of texels of level 0 of the view. It may be larger than the image: texels outside are not accessed.
    Texels {
        /// The first texel.
        start: [u32; 3],
        /// One past the last texel on each axis.
        end: [u32; 3],
    },
}

impl Extent {
    /// Bytes or texels.
    fn volume(&self) -> u128 {
        match self {
            Extent::Bytes(bytes) => u128::from(bytes.end - bytes.start),
            Extent::Texels { start, end } => {
                let axes = start.iter().zip(end);
                axes.map(|(start, end)| u128::from(end - start)).product()
            }
        }
    }
}

/// The largest range or box that the accesses cover.
pub(crate) fn largest(
    accesses: &[CertainAccess],
    counts: impl Fn(&CertainAccess) -> bool,
    groups: [u32; 3],
    range: u64,
) -> Option<Extent> {
    if groups.contains(&0) {
        return None;
    }
    let regions = || {
        accesses
            .iter()
            .filter(|access| counts(access))
            .map(|access| access.region)
    };
    let bytes = merge(byte_ranges(regions(), groups, range));
    let texels = regions().filter_map(|region| texels(region, groups));
    let extents = bytes
        .into_iter()
        .map(Extent::Bytes)
        .chain(merge_boxes(texels.collect()));
    // `max_by_key` returns the last maximum; reversed, the first one.
    extents
        .rev()
        .max_by_key(Extent::volume)
        .filter(|extent| extent.volume() != 0)
}

/// Bytes that regions of a buffer cover in a dispatch.
fn byte_ranges(regions: impl Iterator<Item = AccessRegion>, groups: [u32; 3], range: u64) -> Vec<Range<u64>> {
    // Parts of the elements of one array may cover them together.
    let mut arrays: Vec<(Option<ElementIndex>, Vec<Range<u64>>)> = Vec::new();
    for region in regions {
        let AccessRegion::Bytes {
            offset,
            size,
            element,
        } = region
        else {
            continue;
        };
        let bytes = u64::from(offset)..u64::from(offset) + u64::from(size);
        match arrays.iter_mut().find(|(other, _)| *other == element) {
            Some((_, ranges)) => ranges.push(bytes),
            None => arrays.push((element, vec![bytes])),
        }
    }
    let mut covered = Vec::new();
    for (element, parts) in arrays {
        for part in merge(parts) {
            covered.extend(elements(part, element, groups, range));
        }
    }
    covered
}

/// Bytes that invocations access together, where element 0 has `part`; of elements with gaps between them, the first.
fn elements(
    part: Range<u64>,
    element: Option<ElementIndex>,
    groups: [u32; 3],
    range: u64,
) -> Option<Range<u64>> {
    if part.end > range {
        return None;
    }
    let Some(ElementIndex {
        index,
        stride,
        length,
    }) = element
    else {
        return Some(part);
    };
    let count = index.count(groups);
    // Signed indices would wrap.
    if count == 0 || count > i32::MAX as u64 || length == Some(0) {
        return None;
    }
    let stride = u64::from(stride);
    if part.end - part.start < stride || stride == 0 {
        return Some(part);
    }
    let inside = (range - part.end) / stride + 1;
    let count = count.min(inside).min(length.map_or(u64::MAX, u64::from));
    Some(part.start..part.end + (count - 1) * stride)
}

/// The union of ranges, as ranges that do not touch, in order.
fn merge(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match merged.last_mut().filter(|last| range.start <= last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => merged.push(range),
        }
    }
    merged
}

/// The texels that invocations access together.
fn texels(region: AccessRegion, groups: [u32; 3]) -> Option<Extent> {
    let AccessRegion::Texel(indices) = region else {
        return None;
    };
    let (mut start, mut end) = ([0; 3], [0; 3]);
    for (axis, index) in indices.into_iter().enumerate() {
        (start[axis], end[axis]) = match index {
            TexelIndex::Constant(texel) => (texel, texel.checked_add(1)?),
            TexelIndex::Invocation(index) => {
                // Signed coordinates would wrap.
                let count = u32::try_from(index.count(groups)).ok()?;
                (0, count.min(i32::MAX as u32))
            }
        };
    }
    Some(Extent::Texels { start, end })
}

/// Joins boxes that form a box together.
fn merge_boxes(mut boxes: Vec<Extent>) -> Vec<Extent> {
    let mut at = 0;
    while at < boxes.len() {
        let joined = (0..at).find_map(|other| Some((other, join(&boxes[other], &boxes[at])?)));
        match joined {
            Some((other, whole)) => {
                // The result may join with those before.
                boxes.remove(at);
                boxes.remove(other);
                boxes.insert(other, whole);
                at = other;
            }
            None => at += 1,
        }
    }
    boxes
}

/// The union of two boxes, if it is a box: one contains the other, or they differ on one axis on which they touch.
fn join(one: &Extent, two: &Extent) -> Option<Extent> {
    let (Extent::Texels { start: a, end: b }, Extent::Texels { start: c, end: d }) = (one, two) else {
        return None;
    };
    let contains = |a: &[u32; 3], b: &[u32; 3], c: &[u32; 3], d: &[u32; 3]| {
        (0..3).all(|axis| a[axis] <= c[axis] && d[axis] <= b[axis])
    };
    if contains(a, b, c, d) {
        return Some(one.clone());
    }
    if contains(c, d, a, b) {
        return Some(two.clone());
    }
    let mut different = (0..3).filter(|&axis| (a[axis], b[axis]) != (c[axis], d[axis]));
    let axis = different.next()?;
    let touch = c[axis] <= b[axis] && a[axis] <= d[axis];
    (different.next().is_none() && touch).then(|| {
        let (mut start, mut end) = (*a, *b);
        (start[axis], end[axis]) = (a[axis].min(c[axis]), b[axis].max(d[axis]));
        Extent::Texels { start, end }
    })
}
