//! Frames: device profiles, plans, arrangements, advice, sweeps, and differences between plans.

pub(crate) mod advice;
pub(crate) mod arrange;
pub(crate) mod baseline;
pub(crate) mod diff;
pub(crate) mod limits;
pub(crate) mod plan;
pub(crate) mod profile;
pub(crate) mod sweep;
