//! The runtime on a driver that keeps books: the tile path as it is recorded, the chain of detection, and what every
//! failing call leaves behind (nothing).
#![cfg(feature = "runtime")]

use tileheap_testkit::fake_driver;

mod binding;
mod detection;
mod failures;
mod recording;
mod rig;
