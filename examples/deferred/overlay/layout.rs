//! Positions of everything in the overlay, for drawing and for the pointer.
//!
//! ```text
//! ┌ side ───────┐
//! │ figures     │            the scene
//! │ rows        │
//! │             │ ┌ panel ───────────────────────────────┐
//! │ details     │ │ title, notice                        │
//! │             │ │ sizes | slider | plot: offset up     │
//! │             │ │                  passes across       │
//! └─────────────┘ │ keys                                 │
//!                 └──────────────────────────────────────┘
//! ```

use ash::vk;
use tileheap::frame::{Persistence, ResourceId};
use tileheap::plan::{MemoryKind, Placement, Plan};
use tileheap::units::{Alignment, Bytes};

use super::request::has_choice;
use crate::support::sheet::{Area, GLYPH, width_of, wrap};

const MARGIN: f32 = 12.0;
pub(super) const PADDING: f32 = 10.0;
pub(super) const LINE: f32 = 17.0;
const SIDE_WIDTH: f32 = 308.0;
/// Lines of text above the rows, and of details below them.
pub(super) const FIGURES: usize = 5;
const DETAILS: usize = 5;
const MOST_DETAILS: usize = 10;
/// Where the panel is narrower, the keys take two lines.
const KEYS_WIDTH: f32 = 800.0;
pub(super) const KEYS_LINE: f32 = LINE + 3.0;

/// A resource in the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) resource: ResourceId,
    pub(super) area: Area,
}

/// A placement on the map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) placement: Placement,
    pub(super) area: Area,
}

#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) side: Area,
    pub(super) rows: Vec<Row>,
    pub(super) details: Area,
    pub(super) panel: Area,
    /// Lines from `notice_top` on.
    pub(super) notice: Vec<String>,
    pub(super) notice_top: f32,
    pub(super) plot: Area,
    pub(super) keys: Area,
    /// The slider of the limit; `None` without a tile heap.
    pub(super) slider: Option<Area>,
    pub(super) blocks: Vec<Block>,
    /// Names of passes are staggered over so many lines.
    pub(super) name_lines: usize,
    /// Height of the map: the heap's size, or that of all eligible resources if that is less.
    pub(super) size: Bytes,
    /// Per pass, the size of the bound tile memory.
    pub(super) bound: Vec<Bytes>,
}

impl Layout {
    /// The tile heap or ordinary memory; `None` if the window is too small. `notices` are paragraphs above the map.
    pub(super) fn of(extent: vk::Extent2D, plan: &Plan, tile: bool, notices: &[String]) -> Option<Layout> {
        let [width, height] = [extent.width, extent.height].map(|side| side as f32);
        let listed: Vec<ResourceId> = listed(plan).collect();
        let rows_top = MARGIN + PADDING + FIGURES as f32 * LINE + 10.0;
        let rows = (0..).zip(&listed).map(|(index, &resource)| Row {
            resource,
            area: Area::new(
                MARGIN + 4.0,
                rows_top + index as f32 * LINE,
                SIDE_WIDTH - 8.0,
                LINE,
            ),
        });
        let rows_end = rows_top + listed.len() as f32 * LINE + 6.0;
        let details_top = rows_end + 6.0;
        let details = Area::new(
            MARGIN + PADDING,
            details_top,
            SIDE_WIDTH - 2.0 * PADDING,
            (height - MARGIN - PADDING - details_top).min(MOST_DETAILS as f32 * LINE),
        );
        let side = Area::new(MARGIN, MARGIN, SIDE_WIDTH, details.bottom() + PADDING - MARGIN);

        let left = side.right() + MARGIN;
        let panel_width = width - left - MARGIN;
        let notice: Vec<String> = notices
            .iter()
            .flat_map(|text| wrap(text, panel_width - 2.0 * PADDING))
            .collect();
        let notice_tall = notice.len() as f32 * LINE;
        let tall = (height * 0.46).clamp(250.0, 440.0) + notice_tall;
        let panel = Area::new(left, height - MARGIN - tall, panel_width, tall);
        let notice_top = panel.top + 8.0 + LINE;
        let plot_top = notice_top + notice_tall + LINE + 4.0;
        let names = plan.frame.passes().iter().map(|pass| width_of(&pass.name));
        let longest = names.fold(0.0, f32::max) + 6.0;
        let plot_left = panel.left + PADDING + 8.0 * GLYPH[0] + 22.0;
        let plot = Area::new(plot_left, plot_top, panel.right() - PADDING - plot_left, 0.0);
        // Enough that names on one line do not overlap.
        let column = plot.width / plan.passes.len().max(1) as f32;
        let name_lines = (longest / column).ceil().clamp(1.0, 5.0);
        // The names, and the keys below them.
        let key_lines = if panel.width < KEYS_WIDTH { 2.0 } else { 1.0 };
        let keys_tall = key_lines * KEYS_LINE;
        let below = name_lines * LINE + 12.0 + keys_tall + 6.0;
        let plot = Area {
            height: panel.bottom() - below - plot_top,
            ..plot
        };
        let fits = plot.width >= 300.0 && plot.height >= 60.0 && details.height >= DETAILS as f32 * LINE;
        if !fits || panel.top < MARGIN {
            return None;
        }
        let (size, placements, bound) = if tile { tile_heap(plan) } else { ordinary(plan) };
        let mut layout = Layout {
            side,
            rows: rows.collect(),
            details,
            panel,
            notice,
            notice_top,
            plot,
            keys: Area::new(
                panel.left + PADDING,
                panel.bottom() - keys_tall - 6.0,
                panel.width - 2.0 * PADDING,
                keys_tall,
            ),
            slider: (tile && size > Bytes::ZERO)
                .then(|| Area::new(plot.left - 22.0, plot.top - 6.0, 18.0, plot.height + 12.0)),
            blocks: Vec::new(),
            name_lines: name_lines as usize,
            size,
            bound,
        };
        let block = |placement| Block {
            placement,
            area: layout.place(&placement),
        };
        layout.blocks = placements.into_iter().map(block).collect();
        Some(layout)
    }

    /// The y coordinate of an offset, in points.
    pub(super) fn y(&self, offset: Bytes) -> f32 {
        let share = (offset.0 as f64 / self.size.0.max(1) as f64).min(1.0);
        (self.plot.bottom() - self.plot.height * share as f32).round()
    }

    /// The x coordinate of the begin of a pass, in points.
    pub(super) fn x(&self, pass: u32) -> f32 {
        (self.plot.left + self.plot.width * pass as f32 / self.bound.len().max(1) as f32).round()
    }

    /// The area of a placement, with a seam to its neighbours and at least 3 points high.
    fn place(&self, placement: &Placement) -> Area {
        let (left, right) = (self.x(placement.span.first.0), self.x(placement.span.end.0));
        let bottom = self.y(placement.offset);
        let top = self.y(placement.offset + placement.size);
        let tall = (bottom - top).max(3.0);
        let seam = if tall > 6.0 { 1.0 } else { 0.0 };
        let top = (bottom - tall).max(self.plot.top);
        Area::new(left + 1.0, top, right - left - 2.0, tall - seam)
    }

    /// The column of a pass, as high as the tile memory bound in it.
    pub(super) fn bound_in(&self, pass: u32) -> Area {
        let (left, right) = (self.x(pass), self.x(pass + 1));
        let top = self.y(self.bound[pass as usize]);
        Area::new(left, top, right - left, self.plot.bottom() - top)
    }

    /// The pass whose column contains a point.
    pub(super) fn pass_at(&self, point: [f32; 2]) -> Option<u32> {
        let inside = self.plot.contains(point);
        let share = (point[0] - self.plot.left) / self.plot.width;
        let passes = self.bound.len() as u32;
        inside.then(|| ((share * passes as f32) as u32).min(passes - 1))
    }

    /// The resource at a point: of a row, or of the topmost placement on the map.
    pub(super) fn resource_at(&self, point: [f32; 2]) -> Option<ResourceId> {
        let row = self.rows.iter().find(|row| row.area.contains(point));
        let block = || self.blocks.iter().rev().find(|block| block.area.contains(point));
        row.map(|row| row.resource)
            .or_else(|| block().map(|block| block.placement.resource))
    }

    /// The limit at a position of the slider, in whole blocks; `None` for the whole heap.
    pub(super) fn limit_at(&self, y: f32, block: Alignment) -> Option<Bytes> {
        let share = f64::from((self.plot.bottom() - y) / self.plot.height).clamp(0.0, 1.0);
        limit(self.size, (self.size.0 as f64 * share) as u64, block)
    }
}

/// Rounds `bytes` down to whole blocks of the heap; `None` for the whole heap.
pub(super) fn limit(heap: Bytes, bytes: u64, block: Alignment) -> Option<Bytes> {
    let whole = bytes / block.get() * block.get();
    // Within a block of the end there is no limit.
    (whole + block.get() <= heap.0).then_some(Bytes(whole))
}

/// The resources that are not external, in the frame's order.
pub(super) fn listed(plan: &Plan) -> impl Iterator<Item = ResourceId> {
    let ids = plan.frame.resource_ids().zip(plan.frame.resources());
    let own = ids.filter(|(_, resource)| !matches!(resource.persistence, Persistence::External(_)));
    own.map(|(id, _)| id)
}

/// What the map shows: its height, placements, and per pass what is bound.
type Heap = (Bytes, Vec<Placement>, Vec<Bytes>);

fn tile_heap(plan: &Plan) -> Heap {
    let bound = plan.passes.iter().map(|pass| {
        let object = pass.bound_object.map(|object| plan.objects[object.index()]);
        object.map_or(Bytes::ZERO, |object| object.size)
    });
    let mut placements: Vec<Placement> = Vec::new();
    for placement in &plan.placements {
        // Tile memory objects of several sizes have aliases of a resource at the same offset.
        let object = None;
        let placement = Placement { object, ..*placement };
        if placement.memory == MemoryKind::Tile && !placements.contains(&placement) {
            placements.push(placement);
        }
    }
    (tile_height(plan), placements, bound.collect())
}

/// Height of the tile heap on the map: no plan of this frame uses more.
fn tile_height(plan: &Plan) -> Bytes {
    let Some(tile) = plan.profile.tile else {
        return Bytes::ZERO;
    };
    let choices = plan.frame.resource_ids().filter(|&id| has_choice(plan, id));
    let sizes = choices.filter_map(|id| {
        let needs = plan.requirements.resources[id.index()].tile?;
        Some(needs.size.align_up(tile.block.bytes))
    });
    let all: Bytes = sizes.sum();
    tile.size.min(all.max(Bytes(tile.block.bytes.get())))
}

/// Arenas and dedicated allocations, stacked.
fn ordinary(plan: &Plan) -> Heap {
    let (mut size, mut placements) = (Bytes::ZERO, Vec::new());
    for (index, object) in plan.objects.iter().enumerate() {
        if object.memory == MemoryKind::Tile {
            continue;
        }
        let inside = |one: &&Placement| one.object.is_some_and(|object| object.index() == index);
        placements.extend(plan.placements.iter().filter(inside).map(|one| Placement {
            offset: size + one.offset,
            ..*one
        }));
        size += object.size;
    }
    (size, placements, vec![Bytes::ZERO; plan.passes.len()])
}
