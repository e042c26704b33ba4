//! The fake driver does what it says: without that, tests built on it prove nothing.

#[path = "support/fake_driver/mod.rs"]
mod fake_driver;
