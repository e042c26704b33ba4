//! The examples as programs: what they render, print and write, and how they fail.

mod demo;
mod forward;
mod output;
mod terrain;
mod tile_bugs;
mod window;
