//! Pools: whole objects that tensors use in turn, as tensor runtimes plan them.
//!
//! Each rule assigns an object to each tensor; the objects are placed at consecutive offsets. Offsets in a single block
//! need fewer bytes.

mod assign;
mod executorch;
pub mod litert;
mod share;
mod table;
pub mod token;

pub use table::*;
