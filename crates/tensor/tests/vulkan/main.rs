//! Networks on a real driver: every operator in every storage against the CPU, loops, scratch textures, and refusals. With
//! validation if `TILEHEAP_VALIDATE=1`: a single message fails the test.

use tileheap_testkit::gpu;

mod loops;
mod operators;
mod passes;
mod refusals;
mod rig;
mod rounds;
mod scratch;
