#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod allocation_graph;
mod answer;
mod birth;
mod bound;
mod builtin;
mod by_step;
mod byte_owners;
mod certificate;
mod certify;
mod check;
mod climb;
mod costed;
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
mod minimize;
mod orders;
mod packer;
mod packing;
mod partial_packing;
mod parts;
#[cfg(feature = "pools")]
pub mod pools;
mod problem;
mod rules;
mod search_state;
mod select;
mod small;
mod spread;
mod strategy;
mod timetable;
mod validate;

pub use answer::{Answer, Conflict, Progress, ProgressCallback, Steps, Verdict};
pub use bound::lower_bound;
pub use builtin::Strategy;
pub use byte_owners::ByteOwners;
pub use certificate::{Certificate, check_certificate};
pub use certify::certify;
pub use check::check;
pub use costed::{CostedDesc, CostedSelection, Reservation, StepCost, WeightedItem, select_with_costs};
pub use error::{CertificateError, Error, Result};
pub use gap::FitPolicy;
pub use packer::Packer;
pub use packing::Packing;
pub use partial_packing::PartialPacking;
pub use problem::{Item, Problem, ProblemDesc};
pub use select::{Selection, select};
pub use spread::{SpreadPacking, spread};
pub use strategy::{Goal, PackingStrategy, fit, minimize, pack};

pub use tileheap_units as units;

#[cfg(test)]
mod tests;
