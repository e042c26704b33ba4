//! Decodes the text of files.

/// Bytes that are not UTF-8 text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct EncodingError {
    /// The line of the first invalid byte, from 1.
    pub line: usize,
    /// The problem, in words.
    pub problem: &'static str,
}

/// Decodes the bytes of a file as UTF-8, without a byte order mark.
///
/// # Errors
/// The line that is not UTF-8.
pub fn decode(bytes: &[u8]) -> Result<&str, EncodingError> {
    let is_utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(without_mark(text)),
        Err(_) if is_utf16 => Err(EncodingError {
            line: 1,
            problem: "not UTF-8 text but UTF-16, which `>` in PowerShell 5 writes: save the file as UTF-8",
        }),
        Err(error) => {
            let valid = &bytes[..error.valid_up_to()];
            Err(EncodingError {
                line: 1 + valid.iter().filter(|&&byte| byte == b'\n').count(),
                problem: "not UTF-8 text",
            })
        }
    }
}

/// The text without a byte order mark at its start, which editors on Windows write.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_utf8_with_or_without_a_mark() {
        assert_eq!(decode("é\n".as_bytes()), Ok("é\n"));
        assert_eq!(decode("\u{feff}é".as_bytes()), Ok("é"));
        let latin = decode(b"a\nb\n\xe9\n").unwrap_err();
        assert_eq!(latin.to_string(), "line 3: not UTF-8 text");
        let wide = decode(b"\xff\xfea\0").unwrap_err();
        assert!(wide.to_string().contains("UTF-16"), "{wide}");
    }
}
