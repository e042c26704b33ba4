//! The boundary between C and Rust: faults become a status and a message, panics are caught here.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use crate::error::ErrorObject;
use crate::opaque::ErrorHandle;
use crate::status::{Fault, Status};

thread_local! {
    /// `true` while a function of the library runs on this thread.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// Location and message of the last panic.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs the body of a C function; `function` is its name. A fault's message goes to the error object of the caller, if there is one.
pub(crate) fn boundary(
    function: &'static str,
    error: ErrorHandle,
    body: impl FnOnce() -> Result<Status, Fault>,
) -> Status {
    let mut body = Some(body);
    let mut once = || body.take().map_or(Ok(Status::Success), |body| body());
    catch(function, error, &mut once)
}

// Compiled once for all functions; each copy would take 500 bytes.

fn catch(
    function: &'static str,
    error: ErrorHandle,
    body: &mut dyn FnMut() -> Result<Status, Fault>,
) -> Status {
    keep_panics_quiet();
    let outside = INSIDE.replace(true);
    // State that a panic may leave inconsistent is in a mutex, which it poisons.
    let result = panic::catch_unwind(AssertUnwindSafe(body));
    INSIDE.set(outside);
    let fault = match result {
        Ok(Ok(status)) => return status,
        Ok(Err(fault)) => fault,
        Err(payload) => {
            let told = PANIC.with_borrow_mut(Option::take);
            let message = told.unwrap_or_else(|| text_of(payload.as_ref()).to_owned());
            // The payload's own destructor may panic.
            std::mem::forget(payload);
            Fault::new(
                Status::ErrorInternal,
                format!("internal error in tileheap: {message}"),
            )
        }
    };
    ErrorObject::set(error, function, &fault);
    fault.status
}

/// Like [`boundary`], for a body that returns no status.
pub(crate) fn run(
    function: &'static str,
    error: ErrorHandle,
    body: impl FnOnce() -> Result<(), Fault>,
) -> Status {
    boundary(function, error, || body().map(|()| Status::Success))
}

/// Keeps panic messages for the error object: the library prints nothing.
fn keep_panics_quiet() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let outside = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !INSIDE.get() {
                return outside(info);
            }
            let place = info.location().map(|at| format!(", {}:{}", at.file(), at.line()));
            let message = format!("{}{}", text_of(info.payload()), place.unwrap_or_default());
            PANIC.with_borrow_mut(|panic| *panic = Some(message));
        }));
    });
}

fn text_of(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("unknown panic")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_status_and_a_message_with_its_place() {
        let error = ErrorObject::create();
        let status = run("thLower", error, || panic!("`first` is {} after `last`", 3));
        assert_eq!(status, Status::ErrorInternal);
        let message = ErrorObject::message_of(error).unwrap();
        let told = "thLower: internal error in tileheap: `first` is 3 after `last`";
        assert!(message.starts_with(told), "{message}");
        assert!(message.contains("boundary.rs:"), "{message}");
        assert_eq!(run("thLower", error, || Ok(())), Status::Success);
    }
}
