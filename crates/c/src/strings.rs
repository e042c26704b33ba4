//! Strings of callers and of the library.

use std::ffi::c_char;

use crate::status::{Fault, Status};

/// The length to pass for a string that ends in a zero byte.
pub(crate) const STRLEN: usize = usize::MAX;

/// A UTF-8 string, terminated by a zero byte if its length is `TH_STRLEN`. Strings that the library returns have an explicit length, and are
/// not terminated.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct StringView {
    /// The first byte; null for no string.
    pub data: *const c_char,
    /// The number of bytes, or `TH_STRLEN`.
    pub length: usize,
}

/// The text of a string that must not be null: an argument or a field.
///
/// # Safety
/// The string's bytes can be read as long as the result is used.
pub(crate) unsafe fn needed_text<'a>(view: StringView, place: &'static str) -> Result<&'a str, Fault> {
    // SAFETY: the caller's duty.
    unsafe { text(view) }.map_err(|fault| fault.within(place))
}

unsafe fn text<'a>(view: StringView) -> Result<&'a str, Fault> {
    let StringView { data, length } = view;
    if data.is_null() {
        let what = match length {
            0 | STRLEN => "is null".to_owned(),
            _ => format!("is null, but its length is {length}"),
        };
        return Err(Fault::new(Status::ErrorNullPointer, what));
    }
    let bytes = if length == STRLEN {
        // SAFETY: the string ends in a zero byte (the caller's duty).
        unsafe { std::ffi::CStr::from_ptr::<'a>(data) }.to_bytes()
    } else if length > isize::MAX as usize {
        return Err(Fault::argument(format!(
            "has a length of {length}, which exceeds the address space"
        )));
    } else {
        // SAFETY: the string has `length` bytes.
        unsafe { std::slice::from_raw_parts::<'a, u8>(data.cast::<u8>(), length) }
    };
    let text = std::str::from_utf8(bytes);
    text.map_err(|error| Fault::argument(format!("is not UTF-8: {error}")))
}

/// A number and a noun: `1 queue`, `2 passes`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ if noun.ends_with("ss") => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}

/// Returns a view of a string that the library owns.
pub(crate) fn view(text: &str) -> StringView {
    StringView {
        data: text.as_ptr().cast::<c_char>(),
        length: text.len(),
    }
}
