//! The runtime on a real driver: every test renders, dispatches or copies, and compares bytes. Validated where
//! `TILEHEAP_VALIDATE=1`: a single message fails the test.

mod attachments;
mod externals;
mod frame;
mod history;
mod misuse;
mod parts;
mod queues;
mod reordered;
mod resize;
mod secondary;
mod split;
mod tiles;
mod validated;
