//! The overlay: memory with its blocks, walls and temperatures (the paper's figures 7 to 9, animated), and the download monitor.

use egui::{Align2, FontId, lerp, pos2, remap, vec2};
use egui::{CentralPanel, Color32, Context, Frame, Painter, Rect, Sense, Stroke, Ui, UiBuilder};
use tileheap::units::Bytes;
use tileheap_textures::arenas::{ArenaView, Temperature};

use crate::streamer::Streamer;

const PANEL: Color32 = Color32::from_rgba_premultiplied(4, 6, 9, 184);
const WHITE: Color32 = Color32::from_rgb(242, 245, 250);
const DIM: Color32 = Color32::from_rgb(158, 173, 194);
const MARGIN: f32 = 14.0;
const LINE: f32 = 17.0;
/// Size in points of the upload curve if there is room for it: one point per frame.
const CURVE: [f32; 2] = [224.0, 56.0];

/// Describes the overlay of a frame.
pub(crate) fn show(context: &Context, streamer: &Streamer, policy: &str, uploads: Bytes) {
    CentralPanel::default().frame(Frame::NONE).show(context, |ui| {
        let screen = context.screen_rect().shrink(MARGIN);
        let above = screen.with_max_y(memory(ui.painter(), streamer, screen) - 6.0);
        let width = (above.width() - 20.0).min(CURVE[0]);
        let height = (above.height() - LINE - 20.0).min(CURVE[1]);
        if height < 12.0 || width < 105.0 {
            return; // Memory is the more useful of the two.
        }
        let place = above.with_min_x(above.right() - width - 20.0);
        ui.scope_builder(UiBuilder::new().max_rect(place), |ui| {
            let frame = Frame::new().fill(PANEL).inner_margin(vec2(10.0, 6.0));
            frame.show(ui, |ui| {
                monitor(ui, streamer, policy, uploads, vec2(width, height))
            });
        });
    });
}

/// Draws memory from left to right: blocks, walls, and the temperature of each arena; returns its top.
fn memory(painter: &Painter, streamer: &Streamer, screen: Rect) -> f32 {
    let arenas: Vec<ArenaView> = (0..).map_while(|index| streamer.cache.arena(index)).collect();
    let bar = screen.shrink2(vec2(8.0, 10.0));
    let bar = bar.with_min_y(bar.bottom() - 26.0);
    let (title, thermometer) = match arenas.is_empty() {
        true => ("Memory: bright blocks are in use, dim ones are kept", 0.0),
        false => (
            "Arenas from small blocks to large: height and color are temperature, the line is 1.0",
            44.0,
        ),
    };
    let panel = screen.with_min_y((bar.top() - thermometer - 30.0).max(0.0));
    painter.rect_filled(panel, 0.0, PANEL);
    let write = |at, anchor, text: &str, color| {
        painter.text(at, anchor, text, FontId::proportional(13.0), color);
    };
    write(panel.min + vec2(8.0, 5.0), Align2::LEFT_TOP, title, DIM);
    painter.rect_filled(bar, 0.0, Color32::from_rgb(26, 28, 33));
    let budget = 0.0..=streamer.cache.budget().0.max(1) as f64;
    let at = |offset: Bytes| {
        remap(
            offset.0 as f64,
            budget.clone(),
            bar.left().into()..=bar.right().into(),
        ) as f32
    };
    let part = |start, end| bar.with_min_x(at(start)).with_max_x(at(end));
    for arena in &arenas {
        painter.rect_filled(
            part(arena.start, arena.end),
            0.0,
            darker(heat(arena.recent), 0.28),
        );
    }
    for (texture, offset, size, _) in streamer.cache.blocks() {
        let block = part(offset, offset + size);
        let mut owners = arenas.iter();
        let arena = owners.find(|arena| arena.start <= offset && offset < arena.end);
        let shade = match streamer.age(texture) {
            0 | 1 => 1.0,
            age => 0.78 - 0.06 * age.min(5) as f32,
        };
        let color = arena.map_or(Color32::from_rgb(92, 168, 250), |arena| heat(arena.recent));
        let gap = if block.width() > 3.0 { 1.0 } else { 0.0 };
        let inside = block.shrink2(vec2(0.0, 1.0)).with_max_x(block.right() - gap);
        painter.rect_filled(inside, 0.0, darker(color, shade));
    }
    for arena in arenas
        .iter()
        .filter(|arena| part(arena.start, arena.end).width() >= 1.0)
    {
        let (wall, degrees) = (part(arena.start, arena.end), degrees(arena.recent));
        let foot = wall.shrink2(vec2(1.0, 0.0)).with_max_y(bar.top() - 5.0);
        let column = foot.with_min_y(foot.bottom() - 28.0 * degrees.min(1.5));
        painter.rect_filled(column, 0.0, heat(arena.recent));
        let tall = bar.top() - 8.0..=bar.bottom() + 4.0;
        painter.vline(wall.right(), tall, Stroke::new(2.0, WHITE));
        if wall.width() > 44.0 {
            let above = pos2(wall.left() + 5.0, column.top() - 1.0);
            write(above, Align2::LEFT_BOTTOM, &format!("{degrees:.2}"), WHITE);
        }
    }
    if !arenas.is_empty() {
        let line = Stroke::new(1.0, Color32::from_white_alpha(128));
        painter.hline(bar.x_range(), bar.top() - 33.0, line);
    }
    panel.top()
}

/// Draws uploaded bytes over frames, and as many lines of statistics as there is room for.
fn monitor(ui: &mut Ui, streamer: &Streamer, policy: &str, uploads: Bytes, size: egui::Vec2) {
    let (figures, budget) = (streamer.cache.uploads(), streamer.cache.budget());
    ui.horizontal(|ui| {
        ui.colored_label(WHITE, "Uploads a frame");
        ui.colored_label(DIM, format!("{uploads:#}"));
    });
    let (curve, _) = ui.allocate_exact_size(size, Sense::hover());
    let past = streamer.records.iter().map(|record| record.uploaded);
    let history: Vec<u64> = past.chain([figures.uploaded.0]).collect();
    let recent = &history[history.len().saturating_sub(size.x as usize)..];
    let most = recent
        .iter()
        .fold(uploads.0 * 5 / 4, |most, &bytes| most.max(bytes));
    let y = |bytes: u64| curve.bottom() - size.y * bytes as f32 / most.max(1) as f32;
    let painter = ui.painter();
    for (index, &bytes) in recent.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
        let color = match bytes > uploads.0 {
            true => Color32::from_rgb(250, 143, 77),
            false => Color32::from_rgb(102, 209, 133),
        };
        let x = curve.left() + index as f32 + 0.5;
        painter.vline(
            x,
            y(bytes).min(curve.bottom() - 1.0)..=curve.bottom(),
            Stroke::new(1.0, color),
        );
    }
    let limit = Stroke::new(1.0, Color32::from_white_alpha(180));
    painter.hline(curve.x_range(), y(uploads.0), limit);
    painter.hline(curve.x_range(), curve.bottom(), Stroke::new(1.0, DIM));
    let lines = [
        format!("policy {policy}"),
        format!("cache {budget:#}, {} blocks", streamer.cache.blocks().count()),
        format!(
            "in view {}, coarser {}, none {}",
            figures.at_requested_level + figures.coarser + figures.missing,
            figures.coarser,
            figures.missing
        ),
        format!("textures so far {}", streamer.count()),
    ];
    for line in lines.iter().take((ui.available_height() / LINE) as usize) {
        ui.add(egui::Label::new(egui::RichText::new(line).color(DIM)).truncate());
    }
}

fn degrees(temperature: Temperature) -> f32 {
    (temperature.0 as f64 / Temperature::ONE.0 as f64) as f32
}

fn darker(color: Color32, shade: f32) -> Color32 {
    color.lerp_to_gamma(Color32::BLACK, 1.0 - shade)
}

/// The color of a temperature: blue for cold, red for hot, almost white for the hottest.
fn heat(temperature: Temperature) -> Color32 {
    const SCALE: [[f32; 3]; 5] = [
        [0.16, 0.34, 0.78],
        [0.22, 0.66, 0.74],
        [0.94, 0.76, 0.28],
        [0.93, 0.30, 0.16],
        [1.00, 0.90, 0.84],
    ];
    let at = (degrees(temperature) * 3.0).clamp(0.0, 3.999);
    let (low, share) = (at as usize, at.fract());
    let channel = |channel: usize| lerp(SCALE[low][channel]..=SCALE[low + 1][channel], share);
    let [r, g, b] = [0, 1, 2].map(|one| (channel(one) * 255.0).round() as u8);
    Color32::from_rgb(r, g, b)
}
