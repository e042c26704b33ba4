//! Pools: whole objects that tensors use one after another, as tensor runtimes plan them.
//!
//! Each rule gives a tensor its object; the objects lie one above the other. Offsets in one block need less.

mod assign;
mod executorch;
pub mod litert;
mod share;
mod table;
pub mod token;

pub use table::*;
