//! Recorded programs.
