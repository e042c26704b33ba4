//! Calling the program's callbacks.

use std::cell::Cell;

use crate::status::Fault;

thread_local! {
    /// True while a callback is running on this thread.
    static CALLING_BACK: Cell<bool> = const { Cell::new(false) };
}

/// Calls a callback. During the call, functions fail if they could wait for a lock that the calling function holds.
pub(crate) fn call_back<R>(callback: impl FnOnce() -> R) -> R {
    let outside = CALLING_BACK.replace(true);
    let result = callback();
    CALLING_BACK.set(outside);
    result
}

/// Fails if this thread is inside a callback.
pub(crate) fn check_not_calling_back() -> Result<(), Fault> {
    match CALLING_BACK.get() {
        false => Ok(()),
        true => Err(Fault::in_use(
            "a callback of the library is running on this thread: return from it before calling functions of devices and dynamic frames",
        )),
    }
}
