//! Replaces windows if the feature `window` is off.

use tileheap::runtime::context::ValidationMessage;
use tileheap::runtime::{Context, ContextDesc};

use super::error::{Result, no_window};
use super::output::Output;
use super::painter::{Painter, Screen, WindowDesc};

/// Fails: windows need the feature `window`, which is on by default.
pub fn run<P: Painter>(
    _window: WindowDesc,
    _desc: ContextDesc<'_>,
    _make: impl Fn(&Context, Screen, Output) -> Result<P>,
) -> Result<Vec<ValidationMessage>> {
    let why = "this build has no window support; run `cargo run --package tileheap-examples --example NAME -- --window`";
    Err(no_window(why))
}
