//! Tests of the examples as programs, and of the guide.

mod guide;
mod links;
mod messages;
mod programs;
mod scripts;
