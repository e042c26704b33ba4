//! Memory pools and scope rules of tensor runtimes.

pub mod pools;
pub mod relay;
