//! The library itself: its version, and the number of live objects.

use crate::boundary::run;
use crate::handles;
use crate::opaque::ErrorHandle;
use crate::status::Status;
use crate::structs::put;

/// Returns the version of the library: `major << 16 | minor << 8 | patch`.
///
/// Thread safety: may be called at any time.
#[unsafe(export_name = "thGetVersion")]
pub extern "C" fn get_version() -> u32 {
    const fn number(text: &str) -> u32 {
        let (digits, mut value, mut at) = (text.as_bytes(), 0, 0);
        while at < digits.len() {
            value = value * 10 + (digits[at] - b'0') as u32;
            at += 1;
        }
        value
    }
    const VERSION: u32 = number(env!("CARGO_PKG_VERSION_MAJOR")) << 16
        | number(env!("CARGO_PKG_VERSION_MINOR")) << 8
        | number(env!("CARGO_PKG_VERSION_PATCH"));
    VERSION
}

/// Returns the number of objects of all types that were created and not destroyed, to find leaked objects: leak checkers do not
/// see them.
///
/// Thread safety: may be called at any time.
#[unsafe(export_name = "thGetObjectCount")]
pub unsafe extern "C" fn get_object_count(count: *mut u32, error: ErrorHandle) -> Status {
    // SAFETY: null or writable.
    run("thGetObjectCount", error, || unsafe {
        put(count, handles::count(), "count")
    })
}
