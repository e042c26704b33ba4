//! Parts of buffers and images that a shader certainly accesses, and the range that they cover in a dispatch.
//!
//! ```text
//! data[gl_GlobalInvocationID.x] = …      offset 16, stride 4, local size 64        (vkCmdDispatch(2, 1, 1))
//!
//!     │ header │ 0 │ 1 │ 2 │ 3 │ … │ 127 │          written_extent([2, 1, 1], range)
//!     0       16                        528          = bytes [16, 528)
//! ```
//! Inside `if (gl_GlobalInvocationID.x < 100)` it is bytes [16, 416).

use std::ops::Range;

use crate::guard::{Dispatch, Guard, GuardValue, InvocationIndex, Invocations};

/// An array in a buffer, indexed by invocations: each accesses one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ElementIndex {
    /// The index of the element.
    pub index: InvocationIndex,
    /// Distance between elements in bytes.
    pub stride: u32,
    /// Number of declared elements; `None` for a runtime array.
    pub length: Option<u32>,
}

/// A coordinate of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TexelIndex {
    /// The same value in all invocations.
    Constant(u32),
    /// A component of an invocation id.
    Invocation(InvocationIndex),
}

/// The part of a descriptor that one instruction accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessRegion {
    /// Bytes of a buffer.
    Bytes {
        /// The first accessed byte, relative to the first byte of the descriptor; if `element` is set, the first accessed byte of element 0.
        offset: u32,
        /// Number of bytes that each invocation accesses.
        size: u32,
        /// The array that invocations index, if any.
        element: Option<ElementIndex>,
    },
    /// A texel of level 0 of an image view that is neither arrayed nor multisampled, or of a texel buffer; unused coordinates are 0.
    Texel([TexelIndex; 3]),
}

/// An access performed by every invocation that meets its guards and runs the entry point to its end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CertainAccess {
    /// True if contents are read.
    pub reads: bool,
    /// True if contents are written.
    pub writes: bool,
    /// The accessed part; `None` if it is not known.
    pub region: Option<AccessRegion>,
    /// The conditions, all of which an invocation must meet to perform the access; empty if every invocation performs it.
    pub guards: Vec<Guard>,
}

impl CertainAccess {
    /// Returns `true` if the base of the dispatch (`vkCmdDispatchBase`) affects which invocations perform the access, or which part they
    /// access.
    pub fn depends_on_base(&self) -> bool {
        let guards = self.guards.iter().flat_map(Guard::values);
        let compared = guards.filter_map(|value| match value {
            GuardValue::Invocation(index) => Some(index),
            _ => None,
        });
        let indices = self.region.iter().flat_map(AccessRegion::indices);
        compared.chain(indices).any(|index| index.depends_on_base())
    }
}

impl AccessRegion {
    /// Iterates over the indices that depend on the invocation.
    pub fn indices(&self) -> impl Iterator<Item = InvocationIndex> {
        let all = match *self {
            AccessRegion::Bytes { element, .. } => [element.map(|element| element.index), None, None],
            AccessRegion::Texel(texel) => texel.map(|index| match index {
                TexelIndex::Constant(_) => None,
                TexelIndex::Invocation(index) => Some(index),
            }),
        };
        all.into_iter().flatten()
    }
}

/// A part of a buffer or image; half-open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessRange {
    /// Bytes, relative to the first byte of the descriptor.
    Bytes(Range<u64>),
    /// A box of texels of level 0 of the view. It may exceed the image: texels outside are not accessed.
    Texels {
        /// The first texel on each axis.
        start: [u32; 3],
        /// One past the last texel on each axis.
        end: [u32; 3],
    },
}

impl AccessRange {
    /// Returns the number of bytes or texels.
    fn volume(&self) -> u128 {
        match self {
            AccessRange::Bytes(bytes) => u128::from(bytes.end - bytes.start),
            AccessRange::Texels { start, end } => {
                let axes = start.iter().zip(end);
                axes.map(|(start, end)| u128::from(end - start)).product()
            }
        }
    }
}

/// Returns `true` if some invocation of a dispatch performs an access of the wanted kind.
pub(crate) fn is_performed(
    accesses: &[CertainAccess],
    counts: impl Fn(&CertainAccess) -> bool,
    dispatch: &Dispatch<'_>,
) -> bool {
    let mut counted = accesses.iter().filter(|access| counts(access));
    counted.any(|access| Invocations::passing(&access.guards, dispatch).is_some())
}

/// Returns the largest range or box that the accesses cover.
pub(crate) fn largest(
    accesses: &[CertainAccess],
    counts: impl Fn(&CertainAccess) -> bool,
    dispatch: &Dispatch<'_>,
    range: u64,
) -> Option<AccessRange> {
    // Performed by all invocations that meet the guards of an access.
    let counted = accesses.iter().filter(|access| counts(access));
    let performed = counted.filter_map(|access| {
        let region = access.region?;
        Some((region, Invocations::passing(&access.guards, dispatch)?))
    });
    let performed: Vec<(AccessRegion, Invocations)> = performed.collect();
    let bytes = merge(byte_ranges(&performed, range));
    let texels = performed
        .iter()
        .filter_map(|(region, invocations)| texels(region, invocations));
    let extents = bytes
        .into_iter()
        .map(AccessRange::Bytes)
        .chain(merge_boxes(texels.collect()));
    // `max_by_key` returns the last maximum; reversed, the first one.
    extents
        .rev()
        .max_by_key(AccessRange::volume)
        .filter(|extent| extent.volume() != 0)
}

/// Elements of an array that invocations index.
#[derive(Clone, PartialEq, Eq)]
struct Elements {
    indices: Range<u64>,
    stride: u32,
}

/// Returns the union of the bytes of a buffer that invocations access.
fn byte_ranges(performed: &[(AccessRegion, Invocations)], range: u64) -> Vec<Range<u64>> {
    // Parts of the elements of one array may together cover the elements.
    let mut arrays: Vec<(Option<Elements>, Vec<Range<u64>>)> = Vec::new();
    for (region, invocations) in performed {
        let AccessRegion::Bytes {
            offset,
            size,
            element,
        } = *region
        else {
            continue;
        };
        let bytes = u64::from(offset)..u64::from(offset) + u64::from(size);
        let elements = match element {
            None => None,
            Some(element) => {
                let length = element.length.map_or(u64::MAX, u64::from);
                let indices = invocations.values(&element.index);
                let indices = indices.map(|indices| indices.start..indices.end.min(length));
                let Some(indices) = indices.filter(|indices| !indices.is_empty()) else {
                    continue;
                };
                let stride = element.stride;
                Some(Elements { indices, stride })
            }
        };
        match arrays.iter_mut().find(|(other, _)| *other == elements) {
            Some((_, ranges)) => ranges.push(bytes),
            None => arrays.push((elements, vec![bytes])),
        }
    }
    let mut covered = Vec::new();
    for (elements, parts) in arrays {
        for part in merge(parts) {
            covered.extend(bytes_of(part, elements.as_ref(), range));
        }
    }
    covered
}

/// Returns the union of the bytes that invocations access within `range`, if they access the bytes `part` of element 0 and the corresponding bytes of the
/// other elements. If these leave gaps between elements, returns only the bytes of the first element.
fn bytes_of(part: Range<u64>, elements: Option<&Elements>, range: u64) -> Option<Range<u64>> {
    let (first, last) = match elements {
        None => (0, 0),
        Some(elements) => {
            let stride = u64::from(elements.stride);
            let has_gaps = part.end - part.start < stride || stride == 0;
            let last = if has_gaps {
                elements.indices.start
            } else {
                // Only elements inside the range.
                let inside = range.saturating_sub(part.end) / stride;
                inside.min(elements.indices.end - 1)
            };
            (elements.indices.start * stride, last * stride)
        }
    };
    (first <= last && part.end + first <= range).then(|| part.start + first..part.end + last)
}

/// Returns the union of ranges, as ranges that do not touch, in ascending order.
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

/// Returns the box of the texels that invocations access; `None` if it is not known, or if the region consists of bytes.
fn texels(region: &AccessRegion, invocations: &Invocations) -> Option<AccessRange> {
    let AccessRegion::Texel(indices) = *region else {
        return None;
    };
    let (mut start, mut end) = ([0; 3], [0; 3]);
    for (axis, index) in indices.into_iter().enumerate() {
        (start[axis], end[axis]) = match index {
            TexelIndex::Constant(texel) => (texel, texel.checked_add(1)?),
            TexelIndex::Invocation(index) => {
                let values = invocations.values(&index)?;
                (u32::try_from(values.start).ok()?, u32::try_from(values.end).ok()?)
            }
        };
    }
    Some(AccessRange::Texels { start, end })
}

/// Joins boxes whose union is a box.
fn merge_boxes(mut boxes: Vec<AccessRange>) -> Vec<AccessRange> {
    let mut at = 0;
    while at < boxes.len() {
        let joined = (0..at).find_map(|other| Some((other, join(&boxes[other], &boxes[at])?)));
        match joined {
            Some((other, whole)) => {
                // The result may join with earlier ones.
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

/// Returns the union of two boxes, if it is a box: one contains the other, or they differ on one axis on which they touch.
fn join(one: &AccessRange, two: &AccessRange) -> Option<AccessRange> {
    let (AccessRange::Texels { start: a, end: b }, AccessRange::Texels { start: c, end: d }) = (one, two)
    else {
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
        AccessRange::Texels { start, end }
    })
}
