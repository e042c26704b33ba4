//! Networks to plan and to run, what they compute, and what TVM decides about them: storage scopes, pools.

pub mod networks;
pub mod reference;
pub mod relay;
pub mod usmp;
