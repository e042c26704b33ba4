//! Memory pools of tensor runtimes.

pub mod pools;
