//! The overlay: memory with its blocks, walls and temperatures (the paper's figures 7 to 9, moving), and the download monitor.

use ash::vk;
use tileheap::units::Bytes;
use tileheap_textures::arenas::{ArenaView, Temperature};

use crate::streamer::Streamer;
use crate::support::sheet::{Colour, GLYPH, Sheet, cut, width_of};

const PANEL: Colour = [0.02, 0.03, 0.05, 0.72];
const WHITE: Colour = [0.95, 0.96, 0.98, 1.0];
const DIM: Colour = [0.62, 0.68, 0.76, 1.0];
const MARGIN: f32 = 14.0;
const LINE: f32 = 17.0;
/// Points of the curve of uploads, where there is room for all of them: a point for each frame.
const CURVE: [f32; 2] = [224.0, 56.0];

/// Draws onto a sheet for a picture of these sides in points.
pub(crate) fn draw(
    sheet: &mut Sheet,
    streamer: &Streamer,
    policy: &str,
    uploads: Bytes,
    extent: vk::Extent2D,
) {
    sheet.clear();
    let sides = [extent.width as f32, extent.height as f32];
    let memory = memory(sheet, streamer, sides);
    monitor(sheet, streamer, policy, uploads, [sides[0], memory]);
}

/// Memory from left to right: blocks, walls, and how hot each arena is; where it begins, from the top.
fn memory(sheet: &mut Sheet, streamer: &Streamer, [width, height]: [f32; 2]) -> f32 {
    let arenas: Vec<ArenaView> = (0..).map_while(|index| streamer.cache.arena(index)).collect();
    let (left, wide, tall) = (MARGIN + 8.0, width - 2.0 * MARGIN - 16.0, 26.0);
    let thermometer = if arenas.is_empty() { 0.0 } else { 44.0 };
    let top = height - MARGIN - tall - 10.0;
    let title = match arenas.is_empty() {
        true => "Memory: bright blocks are in use, dim ones are kept",
        false => "Arenas from small blocks to large: height and colour are temperature, the line is 1.0",
    };
    let panel = (top - thermometer - 30.0).max(0.0);
    let around = [MARGIN, panel, width - 2.0 * MARGIN, height - MARGIN - panel];
    sheet.rectangle(around, PANEL);
    sheet.plain([left, panel + 5.0], &cut(title, wide), DIM);
    sheet.rectangle([left, top, wide, tall], [0.10, 0.11, 0.13, 1.0]);
    let budget = streamer.cache.budget().0.max(1) as f64;
    let at = |offset: Bytes| left + wide * (offset.0 as f64 / budget) as f32;
    for arena in &arenas {
        let (start, end) = (at(arena.start), at(arena.end));
        sheet.rectangle([start, top, end - start, tall], darker(heat(arena.recent), 0.28));
    }
    for (texture, offset, size, _) in streamer.cache.blocks() {
        let (start, end) = (at(offset), at(offset + size));
        let mut owners = arenas.iter();
        let arena = owners.find(|arena| arena.start <= offset && offset < arena.end);
        let colour = arena.map_or([0.36, 0.66, 0.98, 1.0], |arena| heat(arena.recent));
        let shade = match streamer.age(texture) {
            0 | 1 => 1.0,
            age => 0.78 - 0.06 * age.min(5) as f32,
        };
        let gap = if end - start > 3.0 { 1.0 } else { 0.0 };
        let inside = [start, top + 1.0, (end - start - gap).max(0.6), tall - 2.0];
        sheet.rectangle(inside, darker(colour, shade));
    }
    for arena in &arenas {
        let (start, end) = (at(arena.start), at(arena.end));
        if end - start < 1.0 {
            continue;
        }
        let degrees = degrees(arena.recent);
        let up = 28.0 * degrees.min(1.5);
        let column = [start + 1.0, top - 5.0 - up, end - start - 2.0, up];
        sheet.rectangle(column, heat(arena.recent));
        sheet.rectangle([end - 1.0, top - 8.0, 2.0, tall + 12.0], WHITE);
        if end - start > 44.0 {
            let above = (top - 5.0 - up.max(2.0) - GLYPH[1]).max(panel);
            sheet.plain([start + 5.0, above], &format!("{degrees:.2}"), WHITE);
        }
    }
    if !arenas.is_empty() {
        sheet.rectangle([left, top - 5.0 - 28.0, wide, 1.0], [1.0, 1.0, 1.0, 0.5]);
    }
    panel
}

/// Uploaded bytes over frames, and what there is to say: as much of it as there is room above `memory`.
fn monitor(sheet: &mut Sheet, streamer: &Streamer, policy: &str, uploads: Bytes, [width, memory]: [f32; 2]) {
    let (figures, budget) = (streamer.cache.uploads(), streamer.cache.budget());
    let lines = [
        format!("policy {policy}"),
        format!("cache {budget:#}, {} blocks", streamer.cache.blocks().count()),
        format!(
            "in view {}, coarser {}, none {}",
            figures.whole + figures.coarser + figures.missing,
            figures.coarser,
            figures.missing
        ),
        format!("textures so far {}", streamer.count()),
    ];
    let wide = (width - 2.0 * MARGIN - 20.0).clamp(0.0, CURVE[0]);
    let room = memory - 6.0 - MARGIN - 26.0 - 12.0;
    let tall = room.clamp(0.0, CURVE[1]);
    let shown = (((room - tall) / LINE).max(0.0) as usize).min(lines.len());
    if tall < 12.0 || wide < 15.0 * GLYPH[0] {
        return; // Of the two, memory says more.
    }
    let left = width - MARGIN - wide - 12.0;
    let deep = 26.0 + tall + 12.0 + LINE * shown as f32;
    sheet.rectangle([left - 8.0, MARGIN, wide + 20.0, deep], PANEL);
    sheet.plain([left, MARGIN + 5.0], "Uploads a frame", WHITE);
    let base = MARGIN + 26.0 + tall;
    let past = streamer.records.iter().map(|record| record.uploaded);
    let history: Vec<u64> = past.chain([figures.uploaded.0]).collect();
    let recent = &history[history.len().saturating_sub(wide as usize)..];
    let most = recent
        .iter()
        .fold(uploads.0 * 5 / 4, |most, &bytes| most.max(bytes)) as f32;
    for (index, &bytes) in recent.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
        let up = (tall * bytes as f32 / most).max(1.0);
        let colour = match bytes > uploads.0 {
            true => [0.98, 0.56, 0.30, 1.0],
            false => [0.40, 0.82, 0.52, 1.0],
        };
        sheet.rectangle([left + index as f32, base - up, 1.0, up], colour);
    }
    let limit = base - tall * uploads.0 as f32 / most;
    sheet.rectangle([left, limit, wide, 1.0], [1.0, 1.0, 1.0, 0.7]);
    sheet.rectangle([left, base, wide, 1.0], DIM);
    let label = cut(&format!("{uploads:#}"), wide - width_of("Uploads a frame "));
    sheet.plain([left + wide - width_of(&label), MARGIN + 5.0], &label, DIM);
    for (index, line) in lines[..shown].iter().enumerate() {
        let at = [left, base + 7.0 + LINE * index as f32];
        sheet.plain(at, &cut(line, wide), DIM);
    }
}

fn degrees(temperature: Temperature) -> f32 {
    (temperature.0 as f64 / Temperature::ONE.0 as f64) as f32
}

fn darker([r, g, b, a]: Colour, by: f32) -> Colour {
    [r * by, g * by, b * by, a]
}

/// Blue is cold, red is hot, and what boils is nearly white.
fn heat(temperature: Temperature) -> Colour {
    const SCALE: [[f32; 3]; 5] = [
        [0.16, 0.34, 0.78],
        [0.22, 0.66, 0.74],
        [0.94, 0.76, 0.28],
        [0.93, 0.30, 0.16],
        [1.00, 0.90, 0.84],
    ];
    let at = (degrees(temperature) * 3.0).clamp(0.0, 3.999);
    let (low, share) = (at as usize, at.fract());
    let [r, g, b] =
        [0, 1, 2].map(|channel| SCALE[low][channel] * (1.0 - share) + SCALE[low + 1][channel] * share);
    [r, g, b, 1.0]
}
