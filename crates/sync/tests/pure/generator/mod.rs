//! Random, small and valid programs, for comparing two implementations of the same rules.
//!
//! A seed generates the same program on all machines. In most programs, masks fit the accesses around them; in some of these one mask is changed
//! afterwards, so that a hazard depends on one detail. The rest use less fitting or fully random masks.

mod acts;
mod batches;
mod buffers;
mod coverage;
mod describe;
mod edit;
mod masks;
mod order;
mod passes;
mod past;
mod places;
mod rendering;
mod running;
mod semaphores;
mod shrink;
mod steps;
mod tests;
mod valid;

pub(crate) use coverage::Coverage;
pub(crate) use describe::describe;
pub(crate) use shrink::shrink;
pub(crate) use steps::program;
pub(crate) use valid::is_valid;
