//! Packs lifetimes and sizes into memory: items in, offsets out.
//!
//! ```text
//! offset                                  items: span × size
//!   7 ┤┌── b ──┐                          a [0, 3) × 4     b [0, 3) × 3
//!   4 ┤├── a ──┤┌───── c ─────┐           c [3, 9) × 7
//!   0 ┼┴───────┴┴─────────────┴──► steps  height 7, the peak of the live set: the lower bound
//! ```
//! A [`ProblemDesc`] is validated into a [`Problem`]: lifetimes, sizes, alignments, fixed offsets, bounds of offsets, groups that
//! share one offset, pairs that must not share bytes, a capacity. For a problem,
//! - [`minimise`] finds the smallest block;
//! - [`fit`] finds a packing within the capacity, or proves that there is none and names the items that cause it;
//! - [`select`] keeps the items of largest weight in a block that is too small for all; [`spread`] does so over several memories
//!   in order of preference;
//! - [`pack()`] runs one strategy, a built-in [`Strategy`] or your own [`PackingStrategy`].
//!
//! [`pools`] adds what compilers need: several pools, exclusive items, and pairs that cost something if they share
//! bytes.
//!
//! A [`Packer`] has the same functions and reuses its memory for the next problem. Each answer has a bound and a [`Verdict`].
//! [`lower_bound`] is the peak of the live set; [`check`] verifies a packing independently of the searches; an
//! [`allocation_graph`] lists which item reuses the bytes of which. A [`Shelf`] is for planners that decide item by item whether to place
//! one at all, and [`relaxation`] for searches of your own.
//!
//! The same problem and budget of [`Steps`] give the same answer on every machine: no clock is read. A caller that needs a time
//! limit ends a search of [`Steps::UNLIMITED`] through its callback.
//!
//! # Limits
//! It plans and does not allocate at run time. The exact search does no edge finding, and takes no models of more than a million
//! places of items in columns; parts that share no step are searched apart, so that this limits one part. An infeasible subset is
//! minimal, but a smaller one may exist. [`spread`] decides one memory after another. With thousands of items of all sizes, a
//! selection may be a percent or two below the optimum and take a second: on the training step of an LSTM in 0.25 MiB, 0.988 of it.
//!
//! ```
//! use tileheap_pack::{Item, Problem, Strategy, lower_bound, pack};
//! use tileheap_pack::units::{Alignment, Bytes, Span};
//!
//! let tile = Alignment::new(12_288).unwrap();
//! let items = vec![
//!     Item::new(Span::new(0, 3), Bytes(49_152), tile),
//!     Item::new(Span::new(0, 3), Bytes(36_864), tile),
//!     Item::new(Span::new(3, 9), Bytes(86_016), tile),
//! ];
//! let problem = Problem::new(items)?;
//! let packing = pack(&problem, Strategy::Auto);
//! assert_eq!(packing.height, lower_bound(&problem));
//! # Ok::<(), tileheap_pack::Error>(())
//! ```

#![forbid(unsafe_code)]

pub mod allocation_graph;
mod answer;
mod birth;
mod bound;
mod builtin;
mod by_step;
mod byte_owners;
mod check;
mod climb;
mod error;
mod exact;
mod fit;
mod gap;
mod glue;
mod greedy;
mod in_order;
mod infeasible;
mod large;
mod lists;
mod minimise;
mod orders;
mod packer;
mod packing;
mod parts;
pub mod pools;
mod problem;
pub mod relaxation;
mod rules;
mod search_state;
mod select;
mod shelf;
mod small;
mod spread;
mod strategy;
mod timetable;
mod validate;

pub use answer::{Answer, Conflict, Progress, Steps, Verdict, Watch};
pub use bound::lower_bound;
pub use builtin::Strategy;
pub use byte_owners::ByteOwners;
pub use check::check;
pub use error::{Error, Result};
pub use gap::Fit;
pub use packer::Packer;
pub use packing::Packing;
pub use problem::{Item, Problem, ProblemDesc};
pub use select::{Selection, select};
pub use shelf::Shelf;
pub use spread::{Spread, spread};
pub use strategy::{Goal, PackingStrategy, fit, minimise, pack};

pub use tileheap_units as units;

#[cfg(test)]
mod tests;
