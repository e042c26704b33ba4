//! Sizes, and their syntax on the command line.

use ash::vk;
use tileheap::units::Bytes;

pub const fn extent(width: u32, height: u32) -> vk::Extent2D {
    vk::Extent2D { width, height }
}

/// A rectangle of texels at `(x, y)`.
pub const fn area(x: u32, y: u32, extent: vk::Extent2D) -> vk::Rect2D {
    let (x, y) = (x as i32, y as i32);
    let offset = vk::Offset2D { x, y };
    vk::Rect2D { offset, extent }
}

/// Parses a size as the command does: `25165824`, `24MiB` or `24.5MB`.
pub fn parse_bytes(text: &str) -> Result<Bytes, String> {
    let bytes = parse_size::parse_size(text).ok().filter(|bytes| *bytes > 0);
    bytes.map(Bytes).ok_or_else(|| {
        "expected a size above 0, in bytes or with a unit, such as 25165824, 24MiB or 24.5MB".to_owned()
    })
}

/// Parses `1280x720`, with sides from `LEAST` to 16384.
pub fn parse_extent<const LEAST: u32>(text: &str) -> Result<vk::Extent2D, String> {
    let side = |text: &str| text.parse().ok().filter(|side| (LEAST..=16384).contains(side));
    text.split_once('x')
        .and_then(|(width, height)| Some((side(width)?, side(height)?)))
        .map(|(width, height)| vk::Extent2D { width, height })
        .ok_or_else(|| {
            format!("expected WIDTHxHEIGHT, such as 1280x720, with both between {LEAST} and 16384")
        })
}
