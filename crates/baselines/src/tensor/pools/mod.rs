//! Memory pools of tensor runtimes: tensors whose lifetimes are disjoint share whole objects.
//!
//! Each rule assigns an object to each tensor; the objects are placed at consecutive offsets. Placing tensors at offsets in a single block needs
//! fewer bytes.

mod assign;
mod executorch;
pub mod litert;
mod share;
mod table;
pub mod token;

pub use table::*;
