//! Texture caches: replays of traces through policies.

pub(crate) mod document;
pub(crate) mod options;
pub(crate) mod play;

mod run;
mod trace;
