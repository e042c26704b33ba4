//! What overlays are drawn on: a list of shapes in points, and text of one size.
//!
//! A point is a pixel, or as many of them as the screen wants: two on most screens of high density.

use ash::vk;
use bytemuck::{Pod, Zeroable};
use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster};

/// The most shapes of a frame; what comes after them is left out.
pub const MOST_SHAPES: usize = 24_000;

/// sRGB and opacity, 0 to 1.
pub type Colour = [f32; 4];

/// A picture that an overlay is drawn over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Screen {
    /// In pixels.
    pub extent: vk::Extent2D,
    /// Pixels to a point, at least 1.
    pub scale: f32,
}

impl Screen {
    /// A point for each pixel.
    pub fn plain(extent: vk::Extent2D) -> Screen {
        Screen { extent, scale: 1.0 }
    }

    /// With as many pixels to a point as a window system says; no fewer than one, or text could not be read.
    pub fn scaled(extent: vk::Extent2D, scale: f64) -> Screen {
        Screen {
            extent,
            scale: (scale as f32).max(1.0),
        }
    }

    /// Its sides in whole points.
    pub fn points(self) -> vk::Extent2D {
        let points = |pixels: u32| (pixels as f32 / self.scale) as u32;
        vk::Extent2D {
            width: points(self.extent.width),
            height: points(self.extent.height),
        }
    }
}

/// Points from the left and the top of the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Area {
    pub left: f32,
    pub top: f32,
    pub width: f32,
    pub height: f32,
}

impl Area {
    pub const fn new(left: f32, top: f32, width: f32, height: f32) -> Area {
        Area {
            left,
            top,
            width,
            height,
        }
    }

    pub fn right(self) -> f32 {
        self.left + self.width
    }

    pub fn bottom(self) -> f32 {
        self.top + self.height
    }

    pub fn contains(self, [x, y]: [f32; 2]) -> bool {
        x >= self.left && x < self.right() && y >= self.top && y < self.bottom()
    }

    /// Smaller by so many points on each side.
    pub fn inset(self, by: f32) -> Area {
        Area::new(
            self.left + by,
            self.top + by,
            (self.width - 2.0 * by).max(0.0),
            (self.height - 2.0 * by).max(0.0),
        )
    }
}

/// Left, top, width and height.
impl From<[f32; 4]> for Area {
    fn from([left, top, width, height]: [f32; 4]) -> Area {
        Area::new(left, top, width, height)
    }
}

/// `Shape` of shaders/overlay.glsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Shape {
    place: [f32; 4],
    colour: [u8; 4],
    fill: u32,
    radius: f32,
    unused: u32,
}

/// Bytes of a shape in the buffer that shaders read.
pub const SHAPE_BYTES: usize = size_of::<Shape>();

const PLAIN: u32 = 0;
const STRIPES: u32 = 1;
const GLYPHS: u32 = 2;

/// Points of a character, its line height and the space beside it included.
pub const GLYPH: [f32; 2] = [7.0, 16.0];
/// ASCII from the space on, and Latin-1 from the no-break space on: all that the font has.
const GLYPHS_OF_WEIGHT: u32 = 95 + 96;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    Regular,
    Bold,
}

/// Shapes, drawn in their order.
#[derive(Default)]
pub struct Sheet {
    shapes: Vec<Shape>,
}

impl Sheet {
    pub fn clear(&mut self) {
        self.shapes.clear();
    }

    pub fn len(&self) -> usize {
        self.shapes.len().min(MOST_SHAPES)
    }

    /// As the shaders read them.
    pub fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.shapes[..self.len()])
    }

    fn push(&mut self, area: Area, colour: Colour, fill: u32, radius: f32) {
        if area.width <= 0.0 || area.height <= 0.0 {
            return;
        }
        self.shapes.push(Shape {
            place: [area.left, area.top, area.width, area.height],
            colour: colour.map(|channel| (channel.clamp(0.0, 1.0) * 255.0).round() as u8),
            fill,
            radius,
            unused: 0,
        });
    }

    pub fn rectangle(&mut self, area: impl Into<Area>, colour: Colour) {
        self.push(area.into(), colour, PLAIN, 0.0);
    }

    /// With round corners.
    pub fn rounded(&mut self, area: Area, radius: f32, colour: Colour) {
        self.push(area, colour, PLAIN, radius);
    }

    /// In diagonal stripes.
    pub fn striped(&mut self, area: Area, colour: Colour) {
        self.push(area, colour, STRIPES, 0.0);
    }

    pub fn border(&mut self, area: Area, thickness: f32, colour: Colour) {
        let thick = thickness.min(area.height / 2.0).min(area.width / 2.0);
        let between = area.height - 2.0 * thick;
        let (left, top) = (area.left, area.top);
        self.rectangle(Area::new(left, top, area.width, thick), colour);
        self.rectangle(Area::new(left, area.bottom() - thick, area.width, thick), colour);
        self.rectangle(Area::new(left, top + thick, thick, between), colour);
        self.rectangle(
            Area::new(area.right() - thick, top + thick, thick, between),
            colour,
        );
    }

    /// Writes text that is not bold.
    pub fn plain(&mut self, at: [f32; 2], text: &str, colour: Colour) -> f32 {
        self.text(at, Weight::Regular, text, colour)
    }

    /// Writes text from a point on, the corner of its first character; where it ends.
    pub fn text(&mut self, [left, top]: [f32; 2], weight: Weight, text: &str, colour: Colour) -> f32 {
        // On whole points, or glyphs would blur.
        let (mut left, top) = (left.round(), top.round());
        for character in text.chars() {
            if character != ' ' {
                let fill = GLYPHS + glyph_of(character, weight);
                self.push(Area::new(left, top, GLYPH[0], GLYPH[1]), colour, fill, 0.0);
            }
            left += GLYPH[0];
        }
        left
    }
}

/// Points of a text from left to right.
pub fn width_of(text: &str) -> f32 {
    text.chars().count() as f32 * GLYPH[0]
}

/// As much of a text as fits into so many points; of one that does not, the start and two dots.
pub fn cut(text: &str, width: f32) -> String {
    let room = (width / GLYPH[0]).max(0.0) as usize;
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let start: String = text.chars().take(room.saturating_sub(2)).collect();
    if room < 3 { String::new() } else { start + ".." }
}

/// A text in lines of at most so many points, broken between words.
pub fn wrap(text: &str, width: f32) -> Vec<String> {
    let room = ((width / GLYPH[0]) as usize).max(1);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is one from the start");
        let used = line.chars().count();
        if used == 0 {
            *line = word.to_owned();
        } else if used + 1 + word.chars().count() <= room {
            *line += " ";
            *line += word;
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.iter().map(|line| cut(line, width)).collect()
}

fn glyph_of(character: char, weight: Weight) -> u32 {
    let number = match character {
        ' '..='~' => character as u32 - 0x20,
        '\u{a0}'..='\u{ff}' => character as u32 - 0xa0 + 95,
        _ => u32::from(b'?') - 0x20,
    };
    match weight {
        Weight::Regular => number,
        Weight::Bold => number + GLYPHS_OF_WEIGHT,
    }
}

/// Coverage of every glyph, a byte a texel, in the order of their numbers: first with a texel to a point, then with two.
pub fn glyphs() -> Vec<u8> {
    let mut bytes = Vec::new();
    for (detail, raster) in [(1.0, RasterHeight::Size16), (2.0, RasterHeight::Size32)] {
        let [width, height] = GLYPH.map(|side| (detail * side) as usize);
        for weight in [FontWeight::Regular, FontWeight::Bold] {
            for character in (' '..='~').chain('\u{a0}'..='\u{ff}') {
                let glyph = get_raster(character, weight, raster);
                match glyph.filter(|glyph| (glyph.width(), glyph.height()) == (width, height)) {
                    Some(glyph) => bytes.extend_from_slice(glyph.pixels()),
                    // Spaces that do not break, and hyphens that do.
                    None => bytes.resize(bytes.len() + width * height, 0),
                }
            }
        }
    }
    // Whole words.
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_glyph_of_the_font_has_its_place() {
        let bytes = glyphs();
        let coarse = (GLYPH[0] * GLYPH[1]) as usize;
        // As `COARSE_TEXELS` of shaders/overlay.glsl.
        let coarse_texels = 2 * (95 + 96) * 7 * 16;
        for (first, size, height) in [
            (0, coarse, RasterHeight::Size16),
            (coarse_texels, 4 * coarse, RasterHeight::Size32),
        ] {
            for (weight, raster) in [
                (Weight::Regular, FontWeight::Regular),
                (Weight::Bold, FontWeight::Bold),
            ] {
                for character in ['!', 'A', 'z', '~', '\u{b7}', '\u{d7}', '\u{ff}'] {
                    let start = first + glyph_of(character, weight) as usize * size;
                    let pixels = get_raster(character, raster, height).expect("the font has it");
                    assert_eq!(&bytes[start..start + size], pixels.pixels(), "{character}");
                }
            }
        }
        assert_eq!(
            glyph_of('\u{2026}', Weight::Regular),
            glyph_of('?', Weight::Regular)
        );
    }

    #[test]
    fn text_is_cut_and_wrapped_to_its_width() {
        assert_eq!(cut("light_masks", 77.0), "light_masks");
        assert_eq!(cut("light_masks", 76.0), "light_ma..");
        assert_eq!(cut("light_masks", 15.0), "");
        let lines = wrap("crosses from batch 0 to batch 1", 14.0 * GLYPH[0]);
        assert_eq!(lines, ["crosses from", "batch 0 to", "batch 1"]);
        assert!(wrap("reflection_probe", 70.0)[0].ends_with(".."));
    }
}
