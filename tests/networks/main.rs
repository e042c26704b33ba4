//! Networks on a real driver: every operator in every storage against the CPU, loops, scratch textures, and what is refused.
//! Validated where `TILEHEAP_VALIDATE=1`: a single message fails the test.
#![cfg(all(feature = "runtime", feature = "shaders", feature = "reflect"))]

#[path = "../support/gpu.rs"]
mod gpu;
#[path = "../../examples/network/reference.rs"]
mod reference;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/validation.rs"]
mod validation;

mod example;
mod loops;
mod operators;
mod passes;
mod refusals;
mod rig;
mod rounds;
mod scratch;
