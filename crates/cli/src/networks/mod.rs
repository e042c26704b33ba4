//! Networks: graphs of tensors and records of their lifetimes, planned by any strategy.

pub(crate) mod judged;
pub(crate) mod network;
pub(crate) mod options;
pub(crate) mod plan;

mod document;
