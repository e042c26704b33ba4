//! Reports: documents as charts, and charts as pages and images.
//!
//! ```text
//! plan, tensors, replay, sweep, trace ──► chart, numbers ──► page, svg, curve
//!   a document each                       plain data         HTML, SVG, PNG
//! ```

pub(crate) mod chart;
pub(crate) mod messages;
pub(crate) mod numbers;
pub(crate) mod page;
pub(crate) mod plan;
pub(crate) mod replay;
pub(crate) mod svg;
pub(crate) mod sweep;
pub(crate) mod tensors;
pub(crate) mod trace;
pub(crate) mod verdict;

mod advice;
mod arrangement;
mod curve;
mod fields;
mod pass;
mod resource;
mod shapes;
mod words;
