//! The examples as programs, and the guide: what they render, print and write, and how they fail.

mod demo;
mod forward;
mod guide;
mod output;
mod terrain;
mod tile_bugs;
mod window;
