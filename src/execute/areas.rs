//! Areas of images: bounds, containment, and coverage by the strips of a pass.

use ash::vk;

use crate::frame::tables::{PassKind, Resource, ResourceKind};
use crate::frame::{Frame, PassId};
use crate::units::CompactSort;

/// The sides of a rectangle: `[first, end)` columns, then rows.
fn sides(area: vk::Rect2D) -> [[i64; 2]; 2] {
    let vk::Rect2D { offset, extent } = area;
    let side = |first: i32, length: u32| [i64::from(first), i64::from(first) + i64::from(length)];
    [side(offset.x, extent.width), side(offset.y, extent.height)]
}

/// The bounding rectangle of areas.
pub(super) fn bounding_rect(areas: impl Iterator<Item = vk::Rect2D>) -> vk::Rect2D {
    let both = |a: vk::Rect2D, b: vk::Rect2D| {
        let [[left, right], [top, bottom]] = [0, 1].map(|axis| {
            let ([first, end], [other_first, other_end]) = (sides(a)[axis], sides(b)[axis]);
            [first.min(other_first), end.max(other_end)]
        });
        vk::Rect2D {
            offset: vk::Offset2D {
                x: left as i32,
                y: top as i32,
            },
            extent: vk::Extent2D {
                width: (right - left) as u32,
                height: (bottom - top) as u32,
            },
        }
    };
    areas.reduce(both).unwrap_or_default()
}

/// The extent of an image in texels, or of a buffer of lists in lists; `None` for any other buffer.
pub(super) fn extent_of(resource: &Resource, base: vk::Extent2D) -> Option<vk::Extent2D> {
    match resource.kind {
        ResourceKind::Image { extent, .. } => {
            let (width, height) = (extent.width, extent.height);
            Some(vk::Extent2D { width, height })
        }
        ResourceKind::Buffer { desc, .. } => desc.lists.map(|lists| lists.grid(base)),
    }
}

/// Returns true if an image or a buffer of lists contains all of an area.
pub(super) fn contains_area(resource: &Resource, base: vk::Extent2D, area: vk::Rect2D) -> bool {
    let Some(extent) = extent_of(resource, base) else {
        return false;
    };
    let [[left, right], [top, bottom]] = sides(area);
    left >= 0 && top >= 0 && right <= i64::from(extent.width) && bottom <= i64::from(extent.height)
}

/// The area that a pass computes: its render area, or all of the coarsest image or buffer of lists that it writes, whose texels are the units of its strips;
/// `None` if it writes only other buffers.
pub(super) fn computed_area(frame: &Frame, pass: PassId) -> Option<vk::Rect2D> {
    if frame.pass(pass).kind == PassKind::Render {
        return Some(frame.pass(pass).area);
    }
    let written = frame.accesses_of(pass).iter().filter(|access| access.writes);
    let extents =
        written.filter_map(|access| extent_of(frame.resource(access.resource), frame.base_extent()));
    let coarsest = extents.min_by_key(|extent| u64::from(extent.width) * u64::from(extent.height));
    coarsest.map(Into::into)
}

/// Returns true if every texel of an area is in at least one of the others. O(areas³).
pub(super) fn is_covered(area: vk::Rect2D, by: &[vk::Rect2D]) -> bool {
    // Within each interval between adjacent coordinates, all columns or rows are in the same areas.
    let [columns, rows] = [0, 1].map(|axis| {
        let [first, end] = sides(area)[axis];
        let inside = by.iter().flat_map(|one| sides(*one)[axis]);
        let mut borders: Vec<i64> = inside
            .chain([first])
            .filter(|at| (first..end).contains(at))
            .collect();
        borders.compact_sort();
        borders.dedup();
        borders
    });
    let holds = |at: [i64; 2], one: &vk::Rect2D| {
        let sides = sides(*one);
        [0, 1]
            .into_iter()
            .all(|axis| (sides[axis][0]..sides[axis][1]).contains(&at[axis]))
    };
    columns
        .iter()
        .all(|&x| rows.iter().all(|&y| by.iter().any(|one| holds([x, y], one))))
}
