//! The runtime on a driver that keeps books: the tile path as it is recorded, the chain of detection, and what every
//! failing call leaves behind (nothing).
#![cfg(feature = "runtime")]

#[path = "../support/fake_driver/mod.rs"]
mod fake_driver;

mod detection;
mod failures;
mod recording;
mod rig;
