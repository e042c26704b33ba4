//! Memory pools and scope rules of tensor runtimes, and networks to compare on.

pub mod networks;
pub mod pools;
pub mod reference;
pub mod relay;
