//! The runtime through C, on the testkit's fake driver.

mod creation;
mod detached;
mod engine;
mod failures;
mod frames;
mod functions;
mod imports;
mod misuse;
mod order;
mod submitting;
