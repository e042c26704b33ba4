//! Strings of callers and of the library.

use std::ffi::c_char;
use std::fmt::Display;

use crate::status::Fault;

/// The length of a string that ends in a zero byte.
pub(crate) const STRLEN: usize = usize::MAX;

/// A string in UTF-8. With the length `TH_STRLEN`, it ends in a zero byte. Strings that the library returns have their length, and no zero
/// byte after it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct StringView {
    /// The first byte; null for no string.
    pub data: *const c_char,
    /// The number of bytes, or `TH_STRLEN`.
    pub length: usize,
}

/// The text of a string; `None` for a null pointer.
///
/// # Safety
/// The string's bytes can be read as long as the result is used.
pub(crate) unsafe fn text<'a>(view: StringView, what: &dyn Display) -> Result<Option<&'a str>, Fault> {
    let StringView { data, length } = view;
    if data.is_null() {
        return match length {
            0 | STRLEN => Ok(None),
            _ => Err(Fault::null(format_args!(
                "the text of {what}, of {length} bytes,"
            ))),
        };
    }
    let bytes = if length == STRLEN {
        // SAFETY: the string ends in a zero byte (the caller's duty).
        unsafe { std::ffi::CStr::from_ptr::<'a>(data) }.to_bytes()
    } else if length > isize::MAX as usize {
        return Err(Fault::argument(format!("{what} has {length} bytes")));
    } else {
        // SAFETY: the string has `length` bytes.
        unsafe { std::slice::from_raw_parts::<'a, u8>(data.cast::<u8>(), length) }
    };
    let text = std::str::from_utf8(bytes);
    text.map(Some)
        .map_err(|error| Fault::argument(format!("{what} is not UTF-8: {error}")))
}

/// The text of a string that must not be null.
///
/// # Safety
/// Same as [`text`].
pub(crate) unsafe fn needed_text<'a>(view: StringView, what: &dyn Display) -> Result<&'a str, Fault> {
    // SAFETY: the caller's duty.
    unsafe { text(view, what) }?.ok_or_else(|| Fault::null(what))
}

/// A text of the library as a string of the caller.
pub(crate) fn view(text: &str) -> StringView {
    StringView {
        data: text.as_ptr().cast::<c_char>(),
        length: text.len(),
    }
}
