//! The layout of a frame along time, for the search.

use super::types::PassGroup;
use crate::frame::{PassId, ResourceId};
use crate::plan::Traffic;
use crate::profile::TileRequirements;
use crate::units::{Bytes, Span};

/// Position of a pass that has not been laid out yet.
pub(super) const NOT_LAID: u32 = u32::MAX;

/// The frame laid out along time; the strips of a run share its time span.
#[derive(Default)]
pub(super) struct Layout {
    /// Per pass, its position.
    pub(super) positions: Vec<u32>,
    /// The next free position.
    pub(super) end: u32,
    pub(super) resources: Vec<LaidResource>,
    pub(super) borders: Vec<LaidBorder>,
    /// Passes that run more than once: number of additional executions, and their cost.
    pub(super) repeats: Vec<(PassId, u32, Bytes)>,
    /// Cost of merged passes.
    pub(super) merges: Bytes,
}

impl Layout {
    pub(super) fn new(resources: usize, passes: usize) -> Layout {
        Layout {
            positions: vec![NOT_LAID; passes],
            resources: vec![LaidResource::default(); resources],
            ..Layout::default()
        }
    }
}

/// An image at the border of a run of strips.
#[derive(Clone, Copy)]
pub(super) struct LaidBorder {
    pub(super) resource: ResourceId,
    /// Time span in which strips use it.
    pub(super) span: Span,
    /// Tile memory requirements of the largest part; `None` if tile memory cannot hold it.
    pub(super) tile: Option<TileRequirements>,
    /// Bytes that move only if it is not in tile memory.
    pub(super) savings: u64,
    /// True if it is in tile memory.
    pub(super) is_resident: bool,
}

/// Properties of a resource derived from its uses.
#[derive(Clone, Copy, Default)]
pub(super) struct LaidResource {
    /// Time span of its uses; covers all of a run of strips if it is used outside the run too.
    pub(super) span: Option<Span>,
    /// The first and last window with a use.
    pub(super) windows: Option<(u32, u32)>,
    /// Bytes kept on chip by merged passes, and by strips with it at their border; negative if they move more.
    pub(super) merged: i64,
    /// Set if the resource is divided: the size of its largest part in tile memory, if known.
    pub(super) part: Option<Option<u64>>,
    /// Bytes of its halos that move off chip.
    pub(super) halos: u64,
    /// Bytes that it moves because strips repeat the only render pass that uses it, which as described keeps it on chip.
    pub(super) rendered: u64,
}

/// A run of strips, independent of its position in the frame.
#[derive(Default)]
pub(super) struct LaidRun {
    /// Texels computed, with halos.
    pub(super) computed_texels: u64,
    /// Passes that run more than once: number of additional executions, and their cost.
    pub(super) repeats: Vec<(PassId, u32, Bytes)>,
    /// Bytes of halos off chip, per access; `None` for those of the previous version of a history, which strips never hold.
    pub(super) halos: Vec<(Option<ResourceId>, u64)>,
    /// Attachments of only one pass that are not divided, each with the bytes that the strips of the pass move.
    pub(super) rendered: Vec<(ResourceId, u64)>,
    pub(super) parts: Vec<LaidPart>,
    pub(super) borders: Vec<LaidCopy>,
}

/// A resource that only the run uses.
pub(super) struct LaidPart {
    pub(super) resource: ResourceId,
    /// Size in tile memory of its largest part; `None` if only the size of the whole is known.
    pub(super) size: Option<u64>,
    /// Indices of the first and last pass of the run that use it.
    pub(super) uses: (usize, usize),
}

/// An image at the border of the strips.
pub(super) struct LaidCopy {
    pub(super) resource: ResourceId,
    pub(super) uses: (usize, usize),
    /// Tile memory requirements of the largest part; `None` if tile memory cannot hold it.
    pub(super) tile: Option<TileRequirements>,
    /// Bytes that the passes of the run move if it is off chip, those of their halos, and those of the copies.
    pub(super) moved: [u64; 3],
}

impl LaidRun {
    /// Adds the run, whose passes already have their positions, to a layout; returns the texels that it computes.
    pub(super) fn add_to(&self, laid: &mut Layout, group: &PassGroup, traffic: &mut Traffic) -> u64 {
        let span = |laid: &Layout, (first, last): (usize, usize)| {
            let position = |number: usize| laid.positions[group.passes[number].index()];
            Span::new(position(first), position(last) + 1)
        };
        for part in &self.parts {
            let span = span(laid, part.uses);
            let one = &mut laid.resources[part.resource.index()];
            one.span = Some(span);
            one.part = Some(part.size);
        }
        for &(_, _, bytes) in &self.repeats {
            traffic.repeats = Bytes(traffic.repeats.0.saturating_add(bytes.0));
        }
        laid.repeats.extend(&self.repeats);
        for &(resource, bytes) in &self.halos {
            traffic.halos += Bytes(bytes);
            if let Some(resource) = resource {
                laid.resources[resource.index()].halos += bytes;
            }
        }
        for &(resource, bytes) in &self.rendered {
            laid.resources[resource.index()].rendered += bytes;
        }
        for copy in &self.borders {
            let [used, halos, copied] = copy.moved;
            laid.resources[copy.resource.index()].merged += used as i64 - copied as i64;
            let span = span(laid, copy.uses);
            laid.borders.push(LaidBorder {
                resource: copy.resource,
                span,
                tile: copy.tile,
                savings: used + halos + copied,
                is_resident: false,
            });
        }
        self.computed_texels
    }
}

impl Layout {
    /// Bytes of a resource moved because its images at the border of strips are not in tile memory.
    pub(super) fn moved_in_strips(&self, resource: ResourceId) -> u64 {
        let borders = self.borders.iter();
        let moved = borders.filter(|border| border.resource == resource && !border.is_resident);
        moved.map(|border| border.savings).sum()
    }
}
