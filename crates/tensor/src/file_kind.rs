//! Checks of file contents against the expected kind of file. Error messages are predicates: they follow the name of the file.

use std::path::Path;

/// Checks that the contents of a `.tflite`, `.pte` or `.onnx` file match its extension, and that a file is not a Git LFS pointer.
///
/// # Errors
/// A message: the file is not of the kind that its extension says, or it is a Git LFS pointer.
pub fn check_contents(path: &Path, bytes: &[u8]) -> Result<(), &'static str> {
    if bytes.starts_with(b"version https://git-lfs") {
        return Err("is a Git LFS pointer, not the file itself: run `git lfs pull`");
    }
    if has_extension(path, "tflite") && !is_tflite(bytes) {
        return Err("is not a TensorFlow Lite model (no TFL3 identifier)");
    }
    if has_extension(path, "pte") && !is_executorch(bytes) {
        return Err("is not an ExecuTorch program (no ET identifier)");
    }
    if has_extension(path, "onnx") && is_text(bytes) {
        return Err("is not an ONNX model (it is text)");
    }
    Ok(())
}

/// Checks that a file is not a compiled model with a memory plan, from which no graph can be read.
///
/// # Errors
/// The kind of file, and the command that reads it.
pub fn check_uncompiled(bytes: &[u8]) -> Result<(), &'static str> {
    if is_tflite(bytes) {
        return Err("is a TensorFlow Lite model, which has a memory plan: use `tileheap judge`");
    }
    if is_executorch(bytes) {
        return Err("is an ExecuTorch program, which has a memory plan: use `tileheap judge`");
    }
    Ok(())
}

/// Returns true if the name of a file has an extension, in upper or lower case.
pub fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension()
        .is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// Returns true if the bytes are a TensorFlow Lite model.
pub(crate) fn is_tflite(bytes: &[u8]) -> bool {
    bytes.get(4..8) == Some(b"TFL3")
}

/// Returns true if the bytes are an ExecuTorch program, whose identifier is `ET` followed by two digits.
pub(crate) fn is_executorch(bytes: &[u8]) -> bool {
    let version = bytes.get(6..8).unwrap_or_default();
    bytes.get(4..6) == Some(b"ET") && version.len() == 2 && version.iter().all(u8::is_ascii_digit)
}

/// Returns true if the bytes are text, which a binary model never is.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    let is_control = |byte: &u8| *byte < 32 && !b"\t\n\r".contains(byte);
    !bytes.iter().any(is_control) && std::str::from_utf8(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_those_of_the_extension() {
        let of = |name: &str, bytes: &[u8]| check_contents(Path::new(name), bytes);
        let (tflite, program) = (b"\x1c\0\0\0TFL3", b"\x1c\0\0\0ET12");
        assert_eq!(of("a.tflite", tflite), Ok(()));
        assert_eq!(of("a.PTE", program), Ok(()));
        assert_eq!(of("a.json", b"{}"), Ok(()));
        assert!(of("a.TFLite", program).is_err() && of("a.pte", tflite).is_err());
        assert!(of("a.onnx", b"<html>").is_err());
        assert!(of("a.json", b"version https://git-lfs.github.com/spec/v1\n").is_err());
        assert!(check_uncompiled(tflite).is_err() && check_uncompiled(program).is_err());
        assert_eq!(check_uncompiled(b"\x1c\0\0\0ETxy"), Ok(()));
    }
}
