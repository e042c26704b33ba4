//! The overlay: memory with its blocks, walls and temperatures (the paper's figures 7 to 9, moving), and the download monitor.

use ash::vk;
use bytemuck::{Pod, Zeroable};
use tileheap::cache::{ArenaView, Temperature};
use tileheap::units::Bytes;

/// A rectangle in pixels.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct Rectangle {
    place: [f32; 4],
    colour: [f32; 4],
}

/// The most rectangles of a frame.
pub(crate) const MOST: usize = 24_000;

/// A block of the cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) offset: Bytes,
    pub(crate) size: Bytes,
    /// Frames since its texture was last drawn.
    pub(crate) age: u32,
}

/// What the overlay shows.
pub(crate) struct View<'a> {
    pub(crate) extent: vk::Extent2D,
    pub(crate) budget: Bytes,
    pub(crate) uploads: Bytes,
    pub(crate) blocks: &'a [Block],
    pub(crate) arenas: &'a [ArenaView],
    /// Uploaded bytes of the frames so far.
    pub(crate) history: &'a [u64],
    /// Lines of text for the monitor.
    pub(crate) lines: &'a [String],
}

const PANEL: [f32; 4] = [0.02, 0.03, 0.05, 0.72];
const WHITE: [f32; 4] = [0.95, 0.96, 0.98, 1.0];
const DIM: [f32; 4] = [0.62, 0.68, 0.76, 1.0];
const MARGIN: f32 = 14.0;

/// Draws into a list of rectangles.
pub(crate) struct Overlay<'a> {
    list: &'a mut Vec<Rectangle>,
}

impl<'a> Overlay<'a> {
    pub(crate) fn draw(list: &'a mut Vec<Rectangle>, view: &View<'_>) {
        list.clear();
        let mut overlay = Overlay { list };
        overlay.memory(view);
        overlay.monitor(view);
        overlay.list.truncate(MOST);
    }

    fn rectangle(&mut self, place: [f32; 4], colour: [f32; 4]) {
        self.list.push(Rectangle { place, colour });
    }

    /// Memory from left to right: blocks, walls, and how hot each arena is.
    fn memory(&mut self, view: &View<'_>) {
        let (width, height) = (view.extent.width as f32, view.extent.height as f32);
        let (left, wide, tall) = (MARGIN + 8.0, width - 2.0 * MARGIN - 16.0, 26.0);
        let thermometer = if view.arenas.is_empty() { 0.0 } else { 44.0 };
        let top = height - MARGIN - tall - 10.0;
        let panel = top - thermometer - 26.0;
        self.rectangle(
            [MARGIN, panel, width - 2.0 * MARGIN, height - MARGIN - panel],
            PANEL,
        );
        let title = match view.arenas {
            [] => "MEMORY: BRIGHT BLOCKS ARE IN USE, DIM ONES ARE KEPT".to_owned(),
            _ => "ARENAS FROM SMALL BLOCKS TO LARGE: HEIGHT AND COLOUR ARE TEMPERATURE, THE LINE IS 1.0"
                .to_owned(),
        };
        self.text(left, panel + 8.0, 2.0, &title, DIM);
        self.rectangle([left, top, wide, tall], [0.10, 0.11, 0.13, 1.0]);
        let at = |offset: Bytes| left + wide * (offset.0 as f64 / view.budget.0.max(1) as f64) as f32;
        for arena in view.arenas {
            let (start, end) = (at(arena.start), at(arena.end));
            self.rectangle([start, top, end - start, tall], darker(heat(arena.recent), 0.28));
        }
        for block in view.blocks {
            let (start, end) = (at(block.offset), at(block.offset + block.size));
            let arena = view
                .arenas
                .iter()
                .find(|arena| arena.start <= block.offset && block.offset < arena.end);
            let colour = arena.map_or([0.36, 0.66, 0.98, 1.0], |arena| heat(arena.recent));
            let shade = if block.age <= 1 {
                1.0
            } else {
                0.78 - 0.06 * block.age.min(5) as f32
            };
            let gap = if end - start > 3.0 { 1.0 } else { 0.0 };
            self.rectangle(
                [start, top + 1.0, (end - start - gap).max(0.6), tall - 2.0],
                darker(colour, shade),
            );
        }
        let line = top - 5.0 - 28.0;
        for arena in view.arenas {
            let (start, end) = (at(arena.start), at(arena.end));
            if end - start < 1.0 {
                continue;
            }
            let degrees = degrees(arena.recent);
            let up = 28.0 * degrees.min(1.5);
            self.rectangle(
                [start + 1.0, top - 5.0 - up, end - start - 2.0, up],
                heat(arena.recent),
            );
            self.rectangle([end - 1.0, top - 8.0, 2.0, tall + 12.0], WHITE);
            if end - start > 44.0 {
                let label = format!("{degrees:.2}");
                self.text(start + 5.0, top - 5.0 - up.max(2.0) - 12.0, 2.0, &label, WHITE);
            }
        }
        if !view.arenas.is_empty() {
            self.rectangle([left, line, wide, 1.0], [1.0, 1.0, 1.0, 0.5]);
        }
    }

    /// Uploaded bytes over frames, and what there is to say.
    fn monitor(&mut self, view: &View<'_>) {
        let frames = 224;
        let (bar, tall) = (1.0, 56.0);
        let wide = frames as f32 * bar;
        let left = view.extent.width as f32 - MARGIN - wide - 12.0;
        let deep = 24.0 + tall + 14.0 + 14.0 * view.lines.len() as f32;
        self.rectangle([left - 8.0, MARGIN, wide + 20.0, deep], PANEL);
        self.text(left, MARGIN + 8.0, 2.0, "UPLOADS A FRAME", WHITE);
        let (top, base) = (MARGIN + 24.0, MARGIN + 24.0 + tall);
        let recent = &view.history[view.history.len().saturating_sub(frames)..];
        let most = recent
            .iter()
            .copied()
            .max()
            .unwrap_or(0)
            .max(view.uploads.0 * 5 / 4) as f32;
        for (index, &bytes) in recent.iter().enumerate() {
            let up = tall * bytes as f32 / most;
            // What stands in meanwhile comes out of a reserve of an eighth.
            let over = bytes > view.uploads.0 / 8 * 9;
            let colour = if over {
                [0.98, 0.56, 0.30, 1.0]
            } else {
                [0.40, 0.82, 0.52, 1.0]
            };
            if up > 0.0 {
                self.rectangle(
                    [left + index as f32 * bar, base - up.max(1.0), bar, up.max(1.0)],
                    colour,
                );
            }
        }
        let budget = base - tall * view.uploads.0 as f32 / most;
        self.rectangle([left, budget, wide, 1.0], [1.0, 1.0, 1.0, 0.7]);
        self.rectangle([left, base, wide, 1.0], DIM);
        let label = format!("{}K", view.uploads.0 / 1024);
        self.text(left + 2.0, (budget - 12.0).max(top - 2.0), 2.0, &label, DIM);
        for (index, line) in view.lines.iter().enumerate() {
            self.text(left, base + 9.0 + 14.0 * index as f32, 2.0, line, DIM);
        }
    }

    /// Text of 3 by 5 dots a character.
    fn text(&mut self, left: f32, top: f32, dot: f32, text: &str, colour: [f32; 4]) {
        for (index, character) in text.chars().enumerate() {
            let rows = glyph(character);
            for (row, bits) in rows.into_iter().enumerate() {
                let mut column = 0;
                while column < 3 {
                    // Dots in a row are one rectangle.
                    let run = (column..3)
                        .take_while(|column| bits >> (2 - column) & 1 == 1)
                        .count();
                    if run > 0 {
                        let x = left + (index * 4 + column) as f32 * dot;
                        self.rectangle([x, top + row as f32 * dot, run as f32 * dot, dot], colour);
                    }
                    column += run.max(1);
                }
            }
        }
    }
}

fn degrees(temperature: Temperature) -> f32 {
    (temperature.0 as f64 / Temperature::ONE.0 as f64) as f32
}

fn darker([r, g, b, a]: [f32; 4], by: f32) -> [f32; 4] {
    [r * by, g * by, b * by, a]
}

/// Blue is cold, red is hot, and what boils is nearly white.
fn heat(temperature: Temperature) -> [f32; 4] {
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

/// Five rows of three dots.
fn glyph(character: char) -> [u8; 5] {
    match character {
        '0' => [7, 5, 5, 5, 7],
        '1' => [2, 6, 2, 2, 7],
        '2' => [7, 1, 7, 4, 7],
        '3' => [7, 1, 3, 1, 7],
        '4' => [5, 5, 7, 1, 1],
        '5' => [7, 4, 7, 1, 7],
        '6' => [7, 4, 7, 5, 7],
        '7' => [7, 1, 2, 2, 2],
        '8' => [7, 5, 7, 5, 7],
        '9' => [7, 5, 7, 1, 7],
        'A' => [2, 5, 7, 5, 5],
        'B' => [6, 5, 6, 5, 6],
        'C' => [3, 4, 4, 4, 3],
        'D' => [6, 5, 5, 5, 6],
        'E' => [7, 4, 6, 4, 7],
        'F' => [7, 4, 6, 4, 4],
        'G' => [3, 4, 5, 5, 3],
        'H' => [5, 5, 7, 5, 5],
        'I' => [7, 2, 2, 2, 7],
        'J' => [1, 1, 1, 5, 2],
        'K' => [5, 5, 6, 5, 5],
        'L' => [4, 4, 4, 4, 7],
        'M' => [5, 7, 7, 5, 5],
        'N' => [6, 5, 5, 5, 5],
        'O' => [2, 5, 5, 5, 2],
        'P' => [6, 5, 6, 4, 4],
        'Q' => [2, 5, 5, 6, 3],
        'R' => [6, 5, 6, 5, 5],
        'S' => [3, 4, 2, 1, 6],
        'T' => [7, 2, 2, 2, 2],
        'U' => [5, 5, 5, 5, 7],
        'V' => [5, 5, 5, 5, 2],
        'W' => [5, 5, 7, 7, 5],
        'X' => [5, 5, 2, 5, 5],
        'Y' => [5, 5, 2, 2, 2],
        'Z' => [7, 1, 2, 4, 7],
        '.' => [0, 0, 0, 0, 2],
        ',' => [0, 0, 0, 2, 4],
        ':' => [0, 2, 0, 2, 0],
        '-' => [0, 0, 7, 0, 0],
        '/' => [1, 1, 2, 4, 4],
        '%' => [5, 1, 2, 4, 5],
        _ => [0; 5],
    }
}
