//! The judge of other planners' output: finds buffers that share bytes while both are live, that lie outside their arena or that are
//! misaligned, and compares the size of each arena with what its buffers need.
//!
//! ```text
//!  bytes                           a  [0, 8)   live in steps [0, 3)
//!    12 ┌─────┐                    b  [4, 12)  live in steps [2, 5)
//!     8 │  b  ├──┐
//!     4 └──┬──┤  │                 a and b share bytes [4, 8) in step 2
//!     0 ┌──┴──┐a │
//! ```
//! Readers turn a file into [`Allocations`]: plain data, including the pairs that the format allows to share bytes. [`judge`] is
//! independent of formats.
//!
//! | Reader | File | Lifetimes |
//! |---|---|---|
//! | [`read_table`] | CSV with offsets | the columns `lower`, `upper` |
//! | [`read_tflite`] | TensorFlow Lite models with an offline plan | the graph, in order |
//! | [`read_executorch`] | ExecuTorch programs | the instructions, in order |
//! | [`read_relax`], [`read_storage_ids`] | TVM's Relax scripts and graph JSON | statements, nodes, in order |
//! | [`read_iree`] | IREE's dumps around `iree-stream-layout-slices` | `stream.resource.pack` |

mod executorch;
mod flatbuffer;
mod iree;
mod overlaps;
mod packed;
mod read;
mod relax;
mod storage_ids;
mod storages;
mod table;
mod tflite;
mod tflite_operators;
mod types;
mod verdict;

pub use crate::import::SpanEnds;
pub use executorch::read_executorch;
pub use iree::read_iree;
pub use read::{ReadOptions, read};
pub use relax::read_relax;
pub use storage_ids::read_storage_ids;
pub use table::read_table;
pub use tflite::read_tflite;
pub use types::{
    Allocations, Arena, Buffer, BufferFault, Fault, InPlace, JudgedAllocations, JudgedArena, Overlap,
    SharedData,
};
pub use verdict::judge;
