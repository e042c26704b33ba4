//! Sizes on the command line.

use tileheap::units::Bytes;

/// `25165824`, `24576K`, `24M` or `24MiB`.
pub(crate) fn parse_bytes(text: &str) -> Result<Bytes, String> {
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

/// A size for people, of three digits or so.
pub(crate) fn short(bytes: Bytes) -> String {
    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    match bytes.0 {
        0..KIB => format!("{} B", bytes.0),
        KIB..MIB => format!("{:.0} KiB", bytes.0 as f64 / KIB as f64),
        _ => format!("{:.1} MiB", bytes.0 as f64 / MIB as f64),
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

    #[test]
    fn sizes_are_short() {
        assert_eq!(short(Bytes(1023)), "1023 B");
        assert_eq!(short(Bytes(552_960)), "540 KiB");
        assert_eq!(short(Bytes(8_355_840)), "8.0 MiB");
    }
}
