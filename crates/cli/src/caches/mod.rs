//! Texture caches: replays of traces through policies.

pub(crate) mod document;
pub(crate) mod options;
pub(crate) mod replay;

mod run;
mod trace;
