//! The overlay: memory with its blocks, walls and temperatures (the paper's figures 7 to 9, moving), and the download monitor.

use ash::vk;
use tileheap::units::Bytes;
use tileheap_textures::arenas::{ArenaView, Temperature};

use crate::support::sheet::{Area, Colour, GLYPH, Sheet, cut, width_of};

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
    /// The picture's sides in points.
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

const PANEL: Colour = [0.02, 0.03, 0.05, 0.72];
const WHITE: Colour = [0.95, 0.96, 0.98, 1.0];
const DIM: Colour = [0.62, 0.68, 0.76, 1.0];
const MARGIN: f32 = 14.0;
const LINE: f32 = 17.0;
/// Uploads of so many frames, a point each.
const FRAMES: usize = 224;
/// Points of the curve of uploads, where there is room for all of them.
const CURVE: f32 = 56.0;

/// Draws onto a sheet.
pub(crate) struct Overlay<'a> {
    sheet: &'a mut Sheet,
}

impl<'a> Overlay<'a> {
    pub(crate) fn draw(sheet: &'a mut Sheet, view: &View<'_>) {
        sheet.clear();
        let mut overlay = Overlay { sheet };
        let memory = overlay.memory(view);
        overlay.monitor(view, memory);
    }

    fn rectangle(&mut self, [left, top, width, height]: [f32; 4], colour: Colour) {
        self.sheet.rectangle(Area::new(left, top, width, height), colour);
    }

    fn text(&mut self, left: f32, top: f32, text: &str, colour: Colour) {
        self.sheet.plain([left, top], text, colour);
    }

    /// Memory from left to right: blocks, walls, and how hot each arena is; where it begins, from the top.
    fn memory(&mut self, view: &View<'_>) -> f32 {
        let (width, height) = (view.extent.width as f32, view.extent.height as f32);
        let (left, wide, tall) = (MARGIN + 8.0, width - 2.0 * MARGIN - 16.0, 26.0);
        let thermometer = if view.arenas.is_empty() { 0.0 } else { 44.0 };
        let top = height - MARGIN - tall - 10.0;
        let titles: &[&str] = match view.arenas {
            [] => &[
                "Memory: bright blocks are in use, dim ones are kept",
                "Memory: bright is in use",
            ],
            _ => &[
                "Arenas from small blocks to large: height and colour are temperature, the line is 1.0",
                "Arenas, from small blocks to large, and their temperatures",
                "Arenas and temperatures",
            ],
        };
        let title = titles.iter().find(|title| width_of(title) <= wide);
        let panel = (top - thermometer - 30.0).max(0.0);
        self.rectangle(
            [MARGIN, panel, width - 2.0 * MARGIN, height - MARGIN - panel],
            PANEL,
        );
        self.text(left, panel + 5.0, title.unwrap_or(&""), DIM);
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
                let above = (top - 5.0 - up.max(2.0) - GLYPH[1]).max(panel);
                self.text(start + 5.0, above, &label, WHITE);
            }
        }
        if !view.arenas.is_empty() {
            self.rectangle([left, line, wide, 1.0], [1.0, 1.0, 1.0, 0.5]);
        }
        panel
    }

    /// Uploaded bytes over frames, and what there is to say: as much of it as there is room above `memory`.
    fn monitor(&mut self, view: &View<'_>, memory: f32) {
        let wide = (view.extent.width as f32 - 2.0 * MARGIN - 20.0)
            .min(FRAMES as f32)
            .max(0.0);
        let room = memory - 6.0 - MARGIN - 26.0 - 12.0;
        let tall = room.clamp(0.0, CURVE);
        let lines = ((room - tall) / LINE).max(0.0) as usize;
        let lines = &view.lines[..lines.min(view.lines.len())];
        if tall < 12.0 || wide < 15.0 * GLYPH[0] {
            return; // Of the two, memory says more.
        }
        let left = view.extent.width as f32 - MARGIN - wide - 12.0;
        let deep = 26.0 + tall + 12.0 + LINE * lines.len() as f32;
        self.rectangle([left - 8.0, MARGIN, wide + 20.0, deep], PANEL);
        self.text(left, MARGIN + 5.0, "Uploads a frame", WHITE);
        let base = MARGIN + 26.0 + tall;
        let recent = &view.history[view.history.len().saturating_sub(wide as usize)..];
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
                    [left + index as f32, base - up.max(1.0), 1.0, up.max(1.0)],
                    colour,
                );
            }
        }
        let budget = base - tall * view.uploads.0 as f32 / most;
        self.rectangle([left, budget, wide, 1.0], [1.0, 1.0, 1.0, 0.7]);
        self.rectangle([left, base, wide, 1.0], DIM);
        let label = format!("{:#}", view.uploads);
        let label = cut(&label, wide - width_of("Uploads a frame "));
        self.text(left + wide - width_of(&label), MARGIN + 5.0, &label, DIM);
        for (index, line) in lines.iter().enumerate() {
            let line = cut(line, wide);
            self.text(left, base + 7.0 + LINE * index as f32, &line, DIM);
        }
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

#[cfg(test)]
mod tests {
    use tileheap_textures::arenas::Side;

    use super::*;
    use crate::support::sheet::SHAPE_BYTES;

    /// Left, top, right and bottom of every shape, the panels first.
    fn drawn(width: u32, height: u32, arenas: &[ArenaView]) -> Vec<[f32; 4]> {
        let lines: Vec<String> = ["policy first-attempt", "cache 1023.9 MiB, 12345 blocks"]
            .into_iter()
            .chain([
                "in view 12345, coarser 12345, none 12345",
                "textures so far 123456",
            ])
            .map(str::to_owned)
            .collect();
        let budget = Bytes::mib(24);
        let blocks = (0..400).map(|number| Block {
            offset: Bytes(number * budget.0 / 400),
            size: Bytes(budget.0 / 400),
            age: number as u32 % 9,
        });
        let history: Vec<u64> = (0..600).map(|frame| frame * 1777 % 400_000).collect();
        let view = View {
            extent: vk::Extent2D { width, height },
            budget,
            uploads: Bytes::kib(256),
            blocks: &blocks.collect::<Vec<_>>(),
            arenas,
            history: &history,
            lines: &lines,
        };
        let mut sheet = Sheet::default();
        Overlay::draw(&mut sheet, &view);
        let shapes = sheet.bytes().chunks_exact(SHAPE_BYTES);
        let places = shapes.map(|shape| bytemuck::pod_read_unaligned::<[f32; 4]>(&shape[..16]));
        places
            .map(|[left, top, width, height]| [left, top, left + width, top + height])
            .collect()
    }

    fn arenas() -> Vec<ArenaView> {
        let wall = |number: u64| Bytes(Bytes::mib(24).0 / 6 * number);
        let arena = |number: u64| ArenaView {
            start: wall(number),
            end: wall(number + 1),
            block: Bytes::kib(4),
            taken: 1000,
            active: 300,
            recent: Temperature::thousandths(300 * number),
            side: Side::Left,
        };
        (0..6).map(arena).collect()
    }

    #[test]
    fn nothing_leaves_the_picture_and_the_panels_stay_apart() {
        for (width, height) in [
            (200, 120),
            (320, 180),
            (480, 270),
            (480, 800),
            (960, 540),
            (3840, 2160),
        ] {
            for arenas in [Vec::new(), arenas()] {
                let what = format!("{width} x {height}, {} arenas", arenas.len());
                let shapes = drawn(width, height, &arenas);
                for &[left, top, right, bottom] in &shapes {
                    assert!(left >= 0.0 && right <= width as f32, "{what}: {left} to {right}");
                    assert!(top >= 0.0 && bottom <= height as f32, "{what}: {top} to {bottom}");
                }
                // Memory is drawn first, at the bottom; what begins above it ends above it.
                let memory = shapes[0][1];
                for [_, top, _, bottom] in shapes {
                    assert!(
                        top >= memory || bottom <= memory,
                        "{what}: {top} to {bottom}, {memory}"
                    );
                }
            }
        }
        assert!(
            drawn(480, 270, &[]).len() > drawn(200, 120, &[]).len(),
            "what has room is there"
        );
    }
}
