//! The two services of Android that layers use: system properties, and the log that `adb logcat` prints. On other systems there are no
//! properties, and messages go to standard error.
//!
//! Source: `sys/system_properties.h` and `android/log.h` of the NDK.

/// The severity of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Information, such as a completed capture.
    Info,
    /// A problem that does not stop the layer.
    Warning,
    /// An error of the application or of the layer.
    Error,
}

/// The tag of log messages: `adb logcat -s tileheap`.
pub const LOG_TAG: &std::ffi::CStr = c"tileheap";

/// The maximum size of the text of one log entry. The log cuts entries at 4,068 bytes, tag included.
#[cfg(any(target_os = "android", test))]
const MAX_ENTRY_BYTES: usize = 4_000;

/// Prints a message: to the log on Android, to standard error elsewhere.
pub fn print(severity: Severity, text: &str) {
    #[cfg(target_os = "android")]
    for entry in entries(text, MAX_ENTRY_BYTES) {
        native::log(severity, entry);
    }
    #[cfg(not(target_os = "android"))]
    {
        let _ = severity;
        eprintln!("{text}");
    }
}

/// Makes panics print their message to the log, since Android discards standard error. Does nothing on other systems.
pub fn log_panics() {
    #[cfg(target_os = "android")]
    {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            std::panic::set_hook(Box::new(|info| print(Severity::Error, &info.to_string())));
        });
    }
}

/// The value of a system property; `None` if it is not set, and on systems other than Android.
pub fn property(name: &str) -> Option<String> {
    #[cfg(target_os = "android")]
    return native::property(name);
    #[cfg(not(target_os = "android"))]
    {
        let _ = name;
        None
    }
}

/// Splits text into lines, and lines into pieces of at most `limit` bytes, which must have room for any character (4).
#[cfg(any(target_os = "android", test))]
fn entries(text: &str, limit: usize) -> impl Iterator<Item = &str> {
    text.lines().flat_map(move |line| {
        let mut rest = line;
        std::iter::from_fn(move || {
            let mut end = rest.len().min(limit);
            while !rest.is_char_boundary(end) {
                end -= 1;
            }
            let (piece, other) = rest.split_at(end);
            rest = other;
            (!piece.is_empty()).then_some(piece)
        })
    })
}

#[cfg(target_os = "android")]
mod native {
    use std::ffi::{CStr, CString, c_char, c_int};

    use super::{LOG_TAG, Severity};

    /// `PROP_VALUE_MAX`, with the NUL. Only `ro.` properties, which settings are not, can have longer values.
    const MAX_VALUE_BYTES: usize = 92;

    #[link(name = "log")]
    unsafe extern "C" {
        fn __android_log_write(priority: c_int, tag: *const c_char, text: *const c_char) -> c_int;
    }
    #[link(name = "c")]
    unsafe extern "C" {
        fn __system_property_get(name: *const c_char, value: *mut c_char) -> c_int;
    }

    pub(super) fn log(severity: Severity, text: &str) {
        // `ANDROID_LOG_INFO`, `_WARN`, `_ERROR`.
        let priority = match severity {
            Severity::Info => 4,
            Severity::Warning => 5,
            Severity::Error => 6,
        };
        let Ok(text) = CString::new(text.replace('\0', " ")) else {
            return;
        };
        // SAFETY: Two C strings.
        unsafe { __android_log_write(priority, LOG_TAG.as_ptr(), text.as_ptr()) };
    }

    pub(super) fn property(name: &str) -> Option<String> {
        let name = CString::new(name).ok()?;
        let mut value = [0u8; MAX_VALUE_BYTES];
        // SAFETY: A C string, and a buffer of `PROP_VALUE_MAX` bytes.
        let length = unsafe { __system_property_get(name.as_ptr(), value.as_mut_ptr().cast()) };
        let text = CStr::from_bytes_until_nul(&value).ok()?;
        (length > 0).then(|| text.to_string_lossy().into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_split_at_lines_and_between_characters() {
        let split = |text| entries(text, 4).collect::<Vec<_>>();
        assert_eq!(split("one\ntwo"), ["one", "two"]);
        assert_eq!(split("abcdefghi"), ["abcd", "efgh", "i"]);
        assert_eq!(split("aäöü"), ["aä", "öü"]);
        assert_eq!(split("\n\n"), [""; 0]);
        let long = "x".repeat(MAX_ENTRY_BYTES + 1);
        assert_eq!(entries(&long, MAX_ENTRY_BYTES).count(), 2);
    }

    #[test]
    fn there_are_no_properties_here() {
        assert_eq!(property("debug.vulkan.tileheap_test.one"), None);
    }
}
