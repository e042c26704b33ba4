//! Sizes on the command line.

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
}
