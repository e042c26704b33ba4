//! The placement engine: lives, sizes and alignments in, offsets out.
//!
//! ```text
//! offset                                  items: span × size
//!   7 ┤┌── b ──┐                          a [0, 3) × 4     b [0, 3) × 3
//!   4 ┤├── a ──┤┌───── c ─────┐           c [3, 9) × 7
//!   0 ┼┴───────┴┴─────────────┴──► steps  height 7 = the peak of the live set: nothing can be lower
//! ```
//! A [`ProblemDesc`] is validated into a [`Problem`]; a [`Strategy`] finds a [`Packing`]; [`lower_bound`] says what no
//! packing can go below; [`check`] judges one without knowing how it was made. A [`Shelf`] is for planners that decide
//! item by item whether something is placed at all.
//!
//! The same problem gives the same packing on every machine. Capacities are not enforced but reported: what does not fit
//! has a height above its capacity.
//!
//! Not done: an exact search, and a search that improves a packing within a budget.
//!
//! ```
//! use tileheap::pack::{Item, Problem, Strategy, lower_bound, pack};
//! use tileheap::units::{Alignment, Bytes, Span};
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
//! # Ok::<(), tileheap::Error>(())
//! ```

mod answer;
mod birth;
mod bound;
mod by_step;
mod check;
mod climb;
mod exact;
mod fault;
mod fit;
mod gap;
mod greedy;
mod in_order;
mod minimise;
mod nnc;
mod objects;
mod orders;
mod problem;
mod select;
mod shelf;
mod strategy;
mod timetable;

pub use answer::{Answer, Conflict, Progress, Steps, Verdict, Watch};
pub use bound::lower_bound;
pub use check::check;
pub use fault::PackFault;
pub use fit::fit;
pub use minimise::minimise;
pub use problem::{Item, Problem, ProblemDesc};
pub use select::{Selection, select};
pub use shelf::Shelf;
pub use strategy::{Packer, Packing, Strategy, pack};

#[cfg(test)]
mod tests;
