//! Kinds of model files by name and contents, for errors about wrong files.

use std::path::Path;

use crate::error::{Error, Result};
use crate::input::shown;

/// Fails if the contents of a file are not in the format that its extension promises.
///
/// # Errors
/// The kind of file that it is not, or that it is a pointer of Git LFS.
pub(crate) fn check_contents(path: &Path, bytes: &[u8]) -> Result<()> {
    let problem = if bytes.starts_with(b"version https://git-lfs") {
        "is a Git LFS pointer, not the file itself: run `git lfs pull`"
    } else if has_extension(path, "tflite") && !is_tflite(bytes) {
        "is not a TensorFlow Lite model (no TFL3 identifier)"
    } else if has_extension(path, "pte") && !is_executorch(bytes) {
        "is not an ExecuTorch program (no ET identifier)"
    } else if has_extension(path, "onnx") && is_text(bytes) {
        "is not an ONNX model (it is text)"
    } else {
        return Ok(());
    };
    Err(Error::new(format!("{} {problem}", shown(path))))
}

/// Fails if a file is a compiled model with a memory plan, from which no graph is read.
///
/// # Errors
/// The kind of file, and the command that reads it.
pub(crate) fn check_uncompiled(path: &Path, bytes: &[u8]) -> Result<()> {
    let kind = match (is_tflite(bytes), is_executorch(bytes)) {
        (true, _) => "a TensorFlow Lite model",
        (false, true) => "an ExecuTorch program",
        (false, false) => return Ok(()),
    };
    Err(Error::new(format!(
        "{} is {kind}, which has a memory plan: use `tileheap judge`",
        shown(path)
    )))
}

/// Fails if a file is an ONNX model, which has no memory plan.
///
/// # Errors
/// The command that plans it.
pub(crate) fn check_planned(path: &Path) -> Result<()> {
    match has_extension(path, "onnx") {
        true => Err(Error::new(format!(
            "{} is an ONNX model, which has no memory plan: use `tileheap tensors`",
            shown(path)
        ))),
        false => Ok(()),
    }
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension()
        .is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

fn is_tflite(bytes: &[u8]) -> bool {
    bytes.get(4..8) == Some(b"TFL3")
}

/// Returns true for an ExecuTorch program, whose identifier is `ET` and two digits of the version.
fn is_executorch(bytes: &[u8]) -> bool {
    let version = bytes.get(6..8).unwrap_or_default();
    bytes.get(4..6) == Some(b"ET") && version.len() == 2 && version.iter().all(u8::is_ascii_digit)
}

fn is_text(bytes: &[u8]) -> bool {
    let is_control = |byte: &u8| *byte < 32 && !b"\t\n\r".contains(byte);
    !bytes.iter().any(is_control) && std::str::from_utf8(bytes).is_ok()
}
