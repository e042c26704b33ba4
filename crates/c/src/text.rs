//! Error objects and written texts.

use crate::boundary::run;
use crate::error::ErrorObject;
use crate::handles::{Handle, object};
use crate::opaque::{ErrorHandle, TextHandle, TextT};
use crate::status::{Fault, Status};
use crate::strings::{StringView, view};
use crate::structs::{begin, put};
use crate::vulkan::VulkanResult;

/// A text that the library wrote: a report or a document.
pub struct TextObject {
    pub(crate) text: String,
}

object!(TextT, TextObject: Text);

/// Creates an error object. Functions that fail write their message to the error object that they are called with.
///
/// Thread safety: an error object may be used by one thread at a time.
#[unsafe(export_name = "thCreateError")]
pub unsafe extern "C" fn create_error(error: *mut ErrorHandle) -> Status {
    run("thCreateError", std::ptr::null_mut(), || {
        // SAFETY: null or writable.
        unsafe { begin(error, "error") }?;
        let handle = ErrorHandle::create(ErrorObject::default())?;
        // SAFETY: not null; the caller lets it be written.
        unsafe { put(error, handle, "error") }
    })
}

/// Returns the message of the last function that failed with this error object: one line that names the object, the demand and the limit.
/// Empty if none failed. The string is valid until the next function fails with the object, or the object is destroyed.
///
/// Thread safety: an error object may be used by one thread at a time.
#[unsafe(export_name = "thGetErrorMessage")]
pub unsafe extern "C" fn get_error_message(error: ErrorHandle, message: *mut StringView) -> Status {
    run("thGetErrorMessage", std::ptr::null_mut(), || {
        let object = error.get("error")?;
        // SAFETY: null or writable.
        object.with(|last| unsafe { put(message, view(&last.message), "message") })
    })
}

/// Returns the rule of Vulkan that the description breaks, if the last function failed because of that: the identifier of a valid usage statement
/// (`VUID-...`), a section of the specification, or `not supported by tileheap`. Empty for other failures. The string is valid until the next
/// function fails with the object, or the object is destroyed.
///
/// Thread safety: an error object may be used by one thread at a time.
#[unsafe(export_name = "thGetErrorRule")]
pub unsafe extern "C" fn get_error_rule(error: ErrorHandle, rule: *mut StringView) -> Status {
    run("thGetErrorRule", std::ptr::null_mut(), || {
        let object = error.get("error")?;
        // SAFETY: null or writable.
        object.with(|last| unsafe { put(rule, view(last.rule), "rule") })
    })
}

/// Returns the result of the Vulkan call that made the last function fail with this error object; `VK_SUCCESS` if none did.
///
/// Thread safety: an error object may be used by one thread at a time.
#[unsafe(export_name = "thGetErrorResult")]
pub unsafe extern "C" fn get_error_result(error: ErrorHandle, result: *mut VulkanResult) -> Status {
    run("thGetErrorResult", std::ptr::null_mut(), || {
        let object = error.get("error")?;
        // SAFETY: null or writable.
        object.with(|last| unsafe { put(result, last.result, "result") })
    })
}

/// Destroys an error object. A null handle is ignored.
///
/// Thread safety: no other thread may use the object during the call.
#[unsafe(export_name = "thDestroyError")]
pub extern "C" fn destroy_error(error: ErrorHandle) -> Status {
    run("thDestroyError", std::ptr::null_mut(), || error.destroy())
}

/// Returns the characters of a text, which stay valid until it is destroyed.
///
/// Thread safety: may be called by several threads at once.
#[unsafe(export_name = "thGetText")]
pub unsafe extern "C" fn get_text(
    text: TextHandle,
    characters: *mut StringView,
    error: ErrorHandle,
) -> Status {
    run("thGetText", error, || {
        let object = text.get("text")?;
        // SAFETY: null or writable.
        unsafe { put(characters, view(&object.text), "characters") }
    })
}

/// Destroys a text. A null handle is ignored.
///
/// Thread safety: no other thread may use the text during the call.
#[unsafe(export_name = "thDestroyText")]
pub extern "C" fn destroy_text(text: TextHandle) -> Status {
    run("thDestroyText", std::ptr::null_mut(), || text.destroy())
}

/// Returns a new text to the caller.
///
/// # Safety
/// `to` is null or can be written.
pub(crate) unsafe fn put_text(
    to: *mut TextHandle,
    text: impl FnOnce() -> Result<String, Fault>,
) -> Result<(), Fault> {
    // SAFETY: null or writable.
    unsafe { begin(to, "text") }?;
    let handle = TextHandle::create(TextObject { text: text()? })?;
    // SAFETY: not null; the caller lets it be written.
    unsafe { put(to, handle, "text") }
}
