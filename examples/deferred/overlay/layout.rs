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
use tileheap::plan::Plan;
use tileheap::units::{Alignment, Bytes, Span};

use super::heap::{Heap, HeapBlock, Memory};
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
    pub(super) resident: HeapBlock,
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
    pub(super) heap: Heap,
    passes: usize,
}

impl Layout {
    /// `None` if the window is too small. `notices` are paragraphs above the map.
    pub(super) fn of(
        extent: vk::Extent2D,
        plan: &Plan,
        memory: Memory,
        notices: &[String],
    ) -> Option<Layout> {
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
        let heap = Heap::of(plan, memory);
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
            slider: (memory == Memory::Tile && heap.size > Bytes::ZERO)
                .then(|| Area::new(plot.left - 22.0, plot.top - 6.0, 18.0, plot.height + 12.0)),
            blocks: Vec::new(),
            name_lines: name_lines as usize,
            passes: plan.passes.len(),
            heap,
        };
        let block = |&resident: &HeapBlock| Block {
            resident,
            area: layout.place(resident.span, resident.offset, resident.size),
        };
        layout.blocks = layout.heap.residents.iter().map(block).collect();
        Some(layout)
    }

    /// The y coordinate of an offset, in points.
    pub(super) fn y(&self, offset: Bytes) -> f32 {
        let share = (offset.0 as f64 / self.heap.size.0.max(1) as f64).min(1.0);
        (self.plot.bottom() - self.plot.height * share as f32).round()
    }

    /// The x coordinate of the begin of a pass, in points.
    pub(super) fn x(&self, pass: u32) -> f32 {
        (self.plot.left + self.plot.width * pass as f32 / self.passes.max(1) as f32).round()
    }

    /// The area of a placement, with a seam to its neighbours and at least 3 points high.
    fn place(&self, span: Span, offset: Bytes, size: Bytes) -> Area {
        let (left, right) = (self.x(span.first.0), self.x(span.end.0));
        let (bottom, top) = (self.y(offset), self.y(offset + size));
        let tall = (bottom - top).max(3.0);
        let seam = if tall > 6.0 { 1.0 } else { 0.0 };
        let top = (bottom - tall).max(self.plot.top);
        Area::new(left + 1.0, top, right - left - 2.0, tall - seam)
    }

    /// The column of a pass, as high as the tile memory bound in it.
    pub(super) fn bound(&self, pass: u32) -> Area {
        let (left, right) = (self.x(pass), self.x(pass + 1));
        let top = self.y(self.heap.bound[pass as usize]);
        Area::new(left, top, right - left, self.plot.bottom() - top)
    }

    /// The pass whose column contains a point.
    pub(super) fn pass_at(&self, point: [f32; 2]) -> Option<u32> {
        let inside = self.plot.contains(point);
        let share = (point[0] - self.plot.left) / self.plot.width;
        inside.then(|| ((share * self.passes as f32) as u32).min(self.passes as u32 - 1))
    }

    /// The resource at a point: of a row, or of the topmost placement on the map.
    pub(super) fn resource_at(&self, point: [f32; 2]) -> Option<ResourceId> {
        let row = self.rows.iter().find(|row| row.area.contains(point));
        let block = || self.blocks.iter().rev().find(|block| block.area.contains(point));
        row.map(|row| row.resource)
            .or_else(|| block().map(|block| block.resident.resource))
    }

    /// The limit at a position of the slider, in whole blocks; `None` for the whole heap.
    pub(super) fn limit_at(&self, y: f32, block: Alignment) -> Option<Bytes> {
        let share = f64::from((self.plot.bottom() - y) / self.plot.height).clamp(0.0, 1.0);
        limit(self.heap.size, (self.heap.size.0 as f64 * share) as u64, block)
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
