//! The examples as programs, and the guide.

mod guide;
mod programs;
