//! Sizes on the command line.

use ash::vk;
use tileheap::units::Bytes;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_or_refused() {
        assert_eq!(parse_bytes("24M"), Ok(Bytes::mib(24)));
        assert_eq!(parse_bytes("24MiB"), Ok(Bytes::mib(24)));
        assert_eq!(parse_bytes("1000"), Ok(Bytes(1000)));
        for text in [
            "",
            "M",
            "iB",
            "7iB",
            "0",
            "-1K",
            "3T",
            "99999999999999999999",
            "99999999999G",
        ] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }
    #[test]
    fn extents_have_two_sides_that_are_large_enough() {
        let (width, height) = (320, 180);
        assert_eq!(parse_extent::<1>("320x180"), Ok(vk::Extent2D { width, height }));
        let wrong = [
            "320",
            "320x",
            "x180",
            "0x180",
            "320x0",
            "320x-1",
            "320x180x2",
            "16385x2",
        ];
        for text in wrong {
            assert!(parse_extent::<1>(text).is_err(), "{text}");
        }
        assert!(parse_extent::<16>("15x20").is_err());
    }
}
