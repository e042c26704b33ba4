//! Sizes, and how they are written on the command line.

use ash::vk;
use tileheap::units::Bytes;

pub const fn extent(width: u32, height: u32) -> vk::Extent2D {
    vk::Extent2D { width, height }
}

/// So many texels at `(x, y)`.
pub const fn area(x: u32, y: u32, extent: vk::Extent2D) -> vk::Rect2D {
    let (x, y) = (x as i32, y as i32);
    let offset = vk::Offset2D { x, y };
    vk::Rect2D { offset, extent }
}

/// `25165824`, `24576K`, `24M` or `24MiB`.
pub fn parse_bytes(text: &str) -> Result<Bytes, String> {
    let short = text.strip_suffix("iB").unwrap_or(text);
    let (digits, unit) = match short.char_indices().last() {
        Some((at, 'K' | 'k')) => (&short[..at], 1 << 10),
        Some((at, 'M' | 'm')) => (&short[..at], 1 << 20),
        Some((at, 'G' | 'g')) => (&short[..at], 1 << 30),
        _ => (text, 1),
    };
    let bytes = digits.parse().ok().and_then(|count: u64| count.checked_mul(unit));
    match bytes {
        Some(bytes) if bytes > 0 => Ok(Bytes(bytes)),
        _ => Err("write it as 25165824, 24576K or 24M".to_owned()),
    }
}

/// `1280x720`, of sides from `LEAST` to 16384.
pub fn parse_extent<const LEAST: u32>(text: &str) -> Result<vk::Extent2D, String> {
    let side = |text: &str| text.parse().ok().filter(|side| (LEAST..=16384).contains(side));
    text.split_once('x')
        .and_then(|(width, height)| Some((side(width)?, side(height)?)))
        .map(|(width, height)| vk::Extent2D { width, height })
        .ok_or_else(|| format!("write it as 1280x720, of sides from {LEAST} to 16384"))
}
