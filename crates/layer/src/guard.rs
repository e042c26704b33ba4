//! Guarded entry points: a panic never unwinds into the application.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ash::vk;

use crate::android::{Severity, print};

/// The return value of an entry point that panicked, or whose command the next layer lacks.
pub trait Fallback {
    /// The fallback value.
    fn fallback() -> Self;
}

impl Fallback for () {
    fn fallback() {}
}

impl Fallback for vk::Result {
    fn fallback() -> vk::Result {
        vk::Result::ERROR_UNKNOWN
    }
}

impl<T> Fallback for Option<T> {
    fn fallback() -> Option<T> {
        None
    }
}

impl Fallback for u64 {
    fn fallback() -> u64 {
        0
    }
}

/// Runs the body of an entry point; if it panics, reports `name` and returns the fallback.
#[inline(always)]
pub fn guard<T: Fallback>(name: &str, body: impl FnOnce() -> T) -> T {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(answer) => answer,
        Err(_) => failed(name),
    }
}

#[cold]
fn failed<T: Fallback>(name: &str) -> T {
    let text = format!("{name}: panicked inside the layer; this is a bug in the layer");
    print(Severity::Error, &text);
    T::fallback()
}

/// Declares functions with the names of Vulkan commands, each of which returns a guarded entry point with the type of that command in
/// a [`command_table!`](crate::command_table).
#[macro_export]
macro_rules! entry_points {
    (of $table:ty: $($(#[$doc:meta])* $name:ident($($arg:tt),* $(,)?) $body:block)+) => {$(
        $(#[$doc])*
        #[allow(non_snake_case, reason = "Vulkan's names")]
        pub(crate) fn $name() -> $crate::dispatch::EntryPoint {
            $crate::entry_point!(|table: &$table| table.$name, |$($arg),*| {
                $crate::guard::guard(concat!(env!("CARGO_PKG_NAME"), ": ", stringify!($name)), move || $body)
            })
        }
    )+};
}

/// Calls a command of the next layer's table; returns the fallback if the next layer lacks it.
#[macro_export]
macro_rules! call_down {
    ($table:expr, $command:ident($($arg:expr),* $(,)?)) => {
        match $table.$command {
            Some(function) => {
                // SAFETY: The next layer's command of this name; the arguments are the application's, or valid after
                // the layer's changes.
                unsafe { function($($arg),*) }
            }
            None => $crate::guard::Fallback::fallback(),
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_the_fallback() {
        assert_eq!(
            guard("vkTest", || -> vk::Result { panic!("on purpose") }),
            vk::Result::ERROR_UNKNOWN
        );
        assert_eq!(guard("vkTest", || 5u64), 5);
    }
}
