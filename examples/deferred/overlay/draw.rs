//! Draws the overlay: shapes and text, from the layout and the plan.

use ash::vk;
use tileheap::frame::tables::ResourceKind;
use tileheap::frame::{PassId, ResourceId, TileConstraint};
use tileheap::plan::{MemoryKind, Plan};
use tileheap::units::{Bytes, Span};

use super::layout::{FIGURES, KEYS_LINE, LINE, Layout, PADDING};
use super::request::has_choice;
use super::state::{Overlay, View};
use crate::support::sheet::{Area, Colour, GLYPH, Sheet, Weight, cut, width_of, wrap};

const PANEL: Colour = [0.035, 0.045, 0.065, 0.86];
const EDGE: Colour = [0.55, 0.65, 0.80, 0.22];
const GROUND: Colour = [0.09, 0.105, 0.135, 0.92];
const BOUND: Colour = [0.20, 0.33, 0.55, 0.75];
const BOUND_EDGE: Colour = [0.47, 0.70, 1.0, 1.0];
const LINES: Colour = [1.0, 1.0, 1.0, 0.07];
const WINDOW: Colour = [1.0, 1.0, 1.0, 0.55];
const SHUT: Colour = [0.95, 0.62, 0.25, 0.42];
const ACCENT: Colour = [0.98, 0.72, 0.33, 1.0];
const WHITE: Colour = [0.95, 0.96, 0.98, 1.0];
const TEXT: Colour = [0.82, 0.86, 0.91, 1.0];
const DIM: Colour = [0.58, 0.64, 0.72, 1.0];
const INK: Colour = [0.05, 0.06, 0.09, 1.0];
const INK_DIM: Colour = [0.05, 0.06, 0.09, 0.72];
const GOOD: Colour = [0.45, 0.85, 0.58, 1.0];
const ROW_CHOSEN: Colour = [0.45, 0.62, 0.95, 0.28];
const ROW_HOVERED: Colour = [1.0, 1.0, 1.0, 0.10];

/// Light enough for dark text; neighbours differ.
const COLOURS: [Colour; 10] = [
    [0.42, 0.78, 0.66, 1.0],
    [0.98, 0.60, 0.42, 1.0],
    [0.58, 0.67, 0.90, 1.0],
    [0.93, 0.60, 0.79, 1.0],
    [0.68, 0.85, 0.38, 1.0],
    [0.99, 0.84, 0.30, 1.0],
    [0.88, 0.77, 0.60, 1.0],
    [0.46, 0.80, 0.94, 1.0],
    [0.79, 0.66, 0.95, 1.0],
    [0.96, 0.68, 0.66, 1.0],
];

/// Draws one line of text in place of the overlay: the window is too small.
pub(super) fn too_small(sheet: &mut Sheet, extent: vk::Extent2D) {
    let text = cut("The heap map needs a larger window.", extent.width as f32 - 24.0);
    let area = Area::new(4.0, 4.0, width_of(&text) + 16.0, LINE + 6.0);
    sheet.rounded(area, 4.0, PANEL);
    sheet.plain([area.left + 8.0, area.top + 3.0], &text, TEXT);
}

pub(super) fn draw(sheet: &mut Sheet, overlay: &Overlay, view: &View<'_>, layout: &Layout) {
    let drawing = Drawing {
        overlay,
        plan: view.plan,
        layout,
        focus: overlay.shown_resource(layout),
    };
    for area in [layout.side, layout.panel] {
        sheet.rounded(area, 8.0, EDGE);
        sheet.rounded(area.inset(1.0), 7.0, PANEL);
    }
    drawing.figures(sheet);
    drawing.rows(sheet);
    drawing.details(sheet);
    drawing.titles(sheet);
    drawing.ground(sheet);
    drawing.blocks(sheet);
    drawing.slider(sheet);
    drawing.passes(sheet);
    drawing.keys(sheet);
}

struct Drawing<'a> {
    overlay: &'a Overlay,
    plan: &'a Plan,
    layout: &'a Layout,
    /// The resource whose details are shown.
    focus: Option<ResourceId>,
}

impl Drawing<'_> {
    /// The frame, the device, what stays on chip, and whether the plan is proved optimal.
    fn figures(&self, sheet: &mut Sheet) {
        let Drawing { plan, layout, .. } = self;
        let Area {
            left,
            top,
            width: wide,
            ..
        } = layout.side.inset(PADDING);
        let line = |index: usize| top + index as f32 * LINE;
        let extent = plan.frame.base_extent();
        let title = format!("{}, {} x {}", plan.frame.name(), extent.width, extent.height);
        sheet.text([left, line(0)], Weight::Bold, &cut(&title, wide), WHITE);
        let device = cut(&plan.profile.name, wide);
        sheet.plain([left, line(1)], &device, DIM);
        let totals = &plan.totals;
        if plan.profile.tile.is_some() {
            let share = totals.on_chip_bytes.0 as f64 / totals.eligible_bytes.0.max(1) as f64;
            let tenths = (1000.0 * share).floor() / 10.0;
            let text = format!("{tenths:.1} % of {:#} stay on chip", totals.eligible_bytes);
            sheet.plain([left, line(2)], &text, TEXT);
            let bar = Area::new(left, line(3) + 4.0, wide, 8.0);
            sheet.rounded(bar, 4.0, GROUND);
            let full = Area::new(left, bar.top, (wide * share as f32).max(8.0), 8.0);
            sheet.rounded(full, 4.0, GOOD);
        } else {
            let text = format!("{:#} in ordinary memory", totals.arena_bytes);
            sheet.plain([left, line(2)], &text, TEXT);
            let apart = format!("{:#} without aliasing", totals.arena_bytes_without_aliasing);
            sheet.plain([left, line(3)], &apart, DIM);
        }
        let (text, colour) = self.optimality();
        sheet.plain([left, line(4)], &cut(&text, wide), colour);
        sheet.rectangle([left, line(FIGURES) + 3.0, wide, 1.0], EDGE);
    }

    /// Whether the plan is proved optimal, and the colour of that line.
    fn optimality(&self) -> (String, Colour) {
        match self.plan.optimality {
            _ if self.plan.profile.tile.is_none() => ("no tile memory".to_owned(), DIM),
            Some(found) if found.is_proved() => (format!("proved optimal in {} steps", found.steps), GOOD),
            Some(found) => (format!("not proved optimal in {} steps", found.steps), DIM),
            None => ("heuristic plan".to_owned(), DIM),
        }
    }

    /// The list of resources: check box, name, size and memory.
    fn rows(&self, sheet: &mut Sheet) {
        for row in &self.layout.rows {
            let (area, resource) = (row.area, row.resource);
            if self.overlay.chosen == Some(resource) {
                sheet.rounded(area, 3.0, ROW_CHOSEN);
            } else if self.focus == Some(resource) {
                sheet.rounded(area, 3.0, ROW_HOVERED);
            }
            let boxed = Area::new(area.left + 8.0, area.top + 3.0, 11.0, 11.0);
            self.check(sheet, boxed, resource);
            let (memory, colour) = self.memory_of(resource);
            let memory_left = area.right() - 6.0 - width_of(memory);
            sheet.plain([memory_left, area.top], memory, colour);
            let placement = self.plan.placements_of(resource).first();
            let size = format!("{:#}", placement.map_or(Bytes::ZERO, |placement| placement.size));
            let size_left = area.right() - 6.0 - 9.0 * GLYPH[0] - 10.0 - width_of(&size);
            sheet.plain([size_left, area.top], &size, DIM);
            let name_left = boxed.right() + 8.0;
            let name = &self.plan.frame.resource(resource).name;
            let name = cut(name, size_left - name_left - 6.0);
            let colour = if self.focus == Some(resource) { WHITE } else { TEXT };
            sheet.plain([name_left, area.top], &name, colour);
        }
        let last = self.layout.rows.last().map_or(0.0, |row| row.area.bottom());
        let side = self.layout.side.inset(PADDING);
        sheet.rectangle([side.left, last + 6.0, side.width, 1.0], EDGE);
    }

    /// A check box: filled in tile memory, crossed if excluded, a dash if the resource is not eligible.
    fn check(&self, sheet: &mut Sheet, area: Area, resource: ResourceId) {
        let colour = colour_of(resource);
        let demand = self.overlay.request.constraint(resource);
        if !has_choice(self.plan, resource) {
            let dash = Area::new(area.left + 2.0, area.top + 5.0, area.width - 4.0, 2.0);
            sheet.rectangle(dash, colour);
            return;
        }
        if self.plan.memory_of(resource) == Some(MemoryKind::Tile) {
            sheet.rounded(area, 3.0, colour);
        } else {
            sheet.border(area, 1.0, colour);
        }
        match demand {
            TileConstraint::None => {}
            // The head of a pin.
            TileConstraint::Pinned => sheet.rounded(area.inset(3.0), 2.5, INK),
            TileConstraint::Excluded => {
                for step in 0..5 {
                    let along = 2.0 + step as f32 * 1.5;
                    let dot = |left: f32| Area::new(area.left + left, area.top + along, 1.5, 1.5);
                    sheet.rectangle(dot(along), ACCENT);
                    sheet.rectangle(dot(area.width - along - 1.5), ACCENT);
                }
            }
        }
    }

    /// Where a resource is, or what is asked of it, and the colour of that text.
    fn memory_of(&self, resource: ResourceId) -> (&'static str, Colour) {
        match self.overlay.request.constraint(resource) {
            TileConstraint::Pinned => ("pinned", ACCENT),
            TileConstraint::Excluded => ("excluded", ACCENT),
            TileConstraint::None => match self.plan.memory_of(resource) {
                None => ("unused", DIM),
                Some(MemoryKind::Tile) => ("on chip", GOOD),
                Some(MemoryKind::Lazy) => ("lazy", GOOD),
                Some(MemoryKind::Arena) => ("memory", DIM),
                Some(MemoryKind::Dedicated) => ("dedicated", DIM),
            },
        }
    }

    /// Details of the resource below the pointer, of the pass below it, or else of the selected resource.
    fn details(&self, sheet: &mut Sheet) {
        let area = self.layout.details;
        let most = (area.height / LINE) as usize;
        let pointer = self.overlay.pointer;
        let over_pass = pointer
            .filter(|&at| self.layout.resource_at(at).is_none())
            .and_then(|at| self.layout.pass_at(at));
        let lines = match (over_pass, self.focus) {
            (Some(step), _) => self.pass_lines(step),
            (None, Some(resource)) => self.resource_lines(resource),
            (None, None) => return,
        };
        let wrapped = lines.into_iter().flat_map(|(weight, colour, text)| {
            let lines = wrap(&text, area.width).into_iter();
            lines.map(move |line| (weight, colour, line))
        });
        for (index, (weight, colour, line)) in wrapped.take(most).enumerate() {
            let at = [area.left, area.top + index as f32 * LINE];
            sheet.text(at, weight, &line, colour);
        }
    }

    fn resource_lines(&self, resource: ResourceId) -> Vec<(Weight, Colour, String)> {
        let plan = self.plan;
        let described = plan.frame.resource(resource);
        let what = match described.kind {
            ResourceKind::Image { extent, .. } => {
                format!("{:?}, {} x {}", described.format(), extent.width, extent.height)
            }
            ResourceKind::Buffer { .. } => "buffer".to_owned(),
        };
        let mut lines = vec![
            (Weight::Bold, colour_of(resource), described.name.clone()),
            (Weight::Regular, TEXT, what),
        ];
        if let Some(placement) = plan.placements_of(resource).first() {
            let place = format!("{} at {}", placement.size, placement.offset);
            lines.push((Weight::Regular, TEXT, place));
            lines.push((Weight::Regular, TEXT, self.span_text(placement.span)));
        }
        let reason = plan.reason_text(resource).replace('`', "");
        lines.push((Weight::Regular, DIM, reason));
        lines
    }

    fn pass_lines(&self, step: u32) -> Vec<(Weight, Colour, String)> {
        let plan = self.plan;
        let (planned, pass) = (&plan.passes[step as usize], &plan.frame.passes()[step as usize]);
        let object = planned.bound_object;
        let bound = object.map_or(Bytes::ZERO, |object| plan.objects[object.index()].size);
        let memory = format!("{bound} of tile memory bound, {} live", planned.live_tile);
        vec![
            (Weight::Bold, WHITE, format!("pass {}", pass.name)),
            (Weight::Regular, TEXT, memory),
            (Weight::Regular, DIM, format!("{} accesses", pass.accesses.len())),
        ]
    }

    fn span_text(&self, span: Span) -> String {
        let name = |step: u32| &self.plan.frame.passes()[step as usize].name;
        match span.len() {
            0 => "no pass".to_owned(),
            1 => format!("{} alone", name(span.first.0)),
            passes => {
                let (first, last) = (name(span.first.0), name(span.end.0 - 1));
                format!("{first} to {last}, {passes} passes")
            }
        }
    }

    /// The title and legend of the map, and notices.
    fn titles(&self, sheet: &mut Sheet) {
        let layout = self.layout;
        let (left, right) = (layout.panel.left + PADDING, layout.panel.right() - PADDING);
        let top = layout.panel.top + 8.0;
        let (limit, whole) = self.overlay.request.limit_of(self.plan);
        let title = match self.overlay.shows_tile(self.plan) {
            true if limit < whole => format!("Tile heap, {limit:#} of {whole:#}"),
            true => format!("Tile heap, {whole:#}"),
            false => format!("Ordinary memory, {:#}", layout.size),
        };
        let end = sheet.text([left, top], Weight::Bold, &title, WHITE);
        let rest = cut("offsets upward, passes across", right - end - 14.0);
        sheet.plain([end + 14.0, top], &rest, DIM);
        if layout.slider.is_some() {
            let label = "bound in the pass";
            let label_left = right - width_of(label);
            if label_left - 20.0 > end + 14.0 + width_of(&rest) + 14.0 {
                sheet.plain([label_left, top], label, DIM);
                let swatch = Area::new(label_left - 18.0, top + 4.0, 12.0, 9.0);
                sheet.rectangle(swatch, BOUND);
                sheet.rectangle([swatch.left, swatch.top, 12.0, 2.0], BOUND_EDGE);
            }
        }
        for (index, line) in layout.notice.iter().enumerate() {
            let at = [left, layout.notice_top + index as f32 * LINE];
            sheet.plain(at, line, ACCENT);
        }
    }

    /// What is drawn below the placements: the grid, bound tile memory, windows.
    fn ground(&self, sheet: &mut Sheet) {
        let (plot, size) = (self.layout.plot, self.layout.size);
        sheet.rectangle(plot, GROUND);
        let passes = self.layout.bound.len() as u32;
        for pass in 0..passes {
            let bound = self.layout.bound_in(pass);
            sheet.rectangle(bound, BOUND);
            if bound.height > 0.0 {
                sheet.rectangle([bound.left, bound.top, bound.width, 2.0], BOUND_EDGE);
            }
        }
        for pass in 1..passes {
            sheet.rectangle([self.layout.x(pass), plot.top, 1.0, plot.height], LINES);
        }
        let slider = self.layout.slider.map_or(plot.left, |slider| slider.left);
        for quarter in 0..=4 {
            let offset = Bytes(size.0 / 4 * quarter);
            let y = self.layout.y(offset);
            let label = match quarter {
                0 => "0".to_owned(),
                _ => format!("{offset:#}"),
            };
            let at = [slider - 6.0 - width_of(&label), y - GLYPH[1] / 2.0];
            sheet.plain(at, &label, DIM);
            sheet.rectangle([plot.left, y - 0.5, plot.width, 1.0], LINES);
        }
        self.windows(sheet);
    }

    /// Where tile memory loses its contents: between batches, or submits.
    fn windows(&self, sheet: &mut Sheet) {
        let (frame, plot) = (&self.plan.frame, self.layout.plot);
        let tile = self.plan.profile.tile;
        let by_submit = tile.is_some_and(|tile| tile.queue_submit_boundary);
        let window = |pass: PassId| match by_submit {
            true => frame.submit_of(pass).index(),
            false => frame.batch_of(pass).index(),
        };
        let what = if by_submit { "submit" } else { "batch" };
        let passes: Vec<PassId> = frame.pass_ids().collect();
        let mut first = 0;
        for run in passes.chunk_by(|&a, &b| window(a) == window(b)) {
            let (left, right) = (self.layout.x(first), self.layout.x(first + run.len() as u32));
            if first > 0 {
                sheet.rectangle(
                    [left - 1.0, plot.top - LINE + 2.0, 2.0, plot.height + LINE - 2.0],
                    WINDOW,
                );
            }
            let label = cut(&format!("{what} {}", window(run[0])), right - left - 8.0);
            sheet.plain([left + 5.0, plot.top - LINE], &label, DIM);
            first += run.len() as u32;
        }
    }

    /// Every placement.
    fn blocks(&self, sheet: &mut Sheet) {
        for block in &self.layout.blocks {
            let (area, resource) = (block.area, block.placement.resource);
            sheet.rectangle(area, colour_of(resource));
            if area.height >= GLYPH[1] {
                let name = cut(&self.plan.frame.resource(resource).name, area.width - 8.0);
                let middle = area.top + (area.height - GLYPH[1]) / 2.0;
                let roomy = area.height >= 2.0 * LINE + 4.0;
                let top = if roomy { middle - LINE / 2.0 } else { middle };
                sheet.text([area.left + 5.0, top], Weight::Bold, &name, INK);
                let size = format!("{:#}", block.placement.size);
                if roomy && width_of(&size) <= area.width - 8.0 {
                    sheet.plain([area.left + 5.0, top + LINE], &size, INK_DIM);
                }
            }
        }
        // After all others, which would cover its border.
        let focused = self.layout.blocks.iter();
        for block in focused.filter(|block| Some(block.placement.resource) == self.focus) {
            sheet.border(block.area.inset(-2.0), 2.0, WHITE);
        }
    }

    /// The limit on tile memory.
    fn slider(&self, sheet: &mut Sheet) {
        let Some(slider) = self.layout.slider else { return };
        let plot = self.layout.plot;
        let (limit, whole) = self.overlay.request.limit_of(self.plan);
        let y = self.layout.y(limit);
        let track = Area::new(slider.left + 7.0, plot.top, 4.0, plot.height);
        sheet.rounded(track, 2.0, GROUND);
        let allowed = Area::new(track.left, y, track.width, plot.bottom() - y);
        sheet.rounded(allowed, 2.0, ACCENT);
        if limit < whole {
            sheet.striped(Area::new(plot.left, plot.top, plot.width, y - plot.top), SHUT);
            sheet.rectangle([plot.left, y - 1.0, plot.width, 2.0], ACCENT);
            let label = format!("limit {limit:#}");
            let (wide, tall) = (width_of(&label) + 12.0, LINE + 2.0);
            // Above the line, or below it where there is no room.
            let top = if y - tall >= plot.top { y - tall } else { y + 2.0 };
            let tag = Area::new(plot.right() - wide, top, wide, tall);
            sheet.rectangle(tag, ACCENT);
            sheet.text([tag.left + 6.0, tag.top + 1.0], Weight::Bold, &label, INK);
        }
        let handle = Area::new(slider.left, y - 5.0, slider.width, 10.0);
        sheet.rounded(handle, 4.0, WHITE);
        sheet.rounded(handle.inset(2.0), 3.0, ACCENT);
    }

    /// Names of passes below the plot, staggered over several lines.
    fn passes(&self, sheet: &mut Sheet) {
        let passes = self.plan.frame.passes();
        let plot = self.layout.plot;
        let column = plot.width / passes.len().max(1) as f32;
        for (index, pass) in passes.iter().enumerate() {
            let lines = self.layout.name_lines;
            let (row, middle) = (index % lines, plot.left + (index as f32 + 0.5) * column);
            let name = cut(&pass.name, lines as f32 * column - 6.0);
            let wide = width_of(&name);
            let left = (middle - wide / 2.0).min(plot.right() - wide).max(plot.left);
            let above = row as f32 * LINE;
            let top = plot.bottom() + 5.0 + above;
            let tick = Area::new(middle.round(), plot.bottom(), 1.0, 4.0 + above);
            sheet.rectangle(tick, EDGE);
            sheet.plain([left, top], &name, TEXT);
        }
    }

    /// The key bindings.
    fn keys(&self, sheet: &mut Sheet) {
        let area = self.layout.keys;
        let tile = self.plan.profile.tile.is_some();
        let all: [(&[&str], &str, bool); 7] = [
            (&["F1"], "hide", true),
            (&["Up", "Down"], "select", true),
            (&["Space"], "toggle tile memory", tile),
            (&["+", "-"], "heap size", tile),
            (&["Tab"], "switch heap", tile),
            (&["R"], "reset", tile),
            (&["Esc"], "close", true),
        ];
        let [mut left, mut top] = [area.left, area.top];
        for (caps, what, _) in all.into_iter().filter(|(_, _, there)| *there) {
            let wide: f32 = caps.iter().map(|cap| width_of(cap) + 14.0).sum();
            if left + wide + width_of(what) + 2.0 > area.right() {
                [left, top] = [area.left, top + KEYS_LINE];
            }
            for cap in caps {
                let around = Area::new(left, top, width_of(cap) + 10.0, LINE);
                sheet.rounded(around, 4.0, DIM);
                sheet.rounded(around.inset(1.0), 3.0, GROUND);
                sheet.plain([left + 5.0, top], cap, WHITE);
                left = around.right() + 4.0;
            }
            left = sheet.plain([left + 2.0, top], what, TEXT) + 16.0;
        }
    }
}

/// The colour of a resource in the list and on the map; paler where the palette repeats.
fn colour_of(resource: ResourceId) -> Colour {
    let (round, index) = (resource.index() / COLOURS.len(), resource.index() % COLOURS.len());
    let pale = 0.45 * (round % 2) as f32;
    COLOURS[index].map(|channel| channel + (1.0 - channel) * pale)
}
