//! Networks to plan and to run, and what they compute.

pub mod networks;
pub mod reference;
