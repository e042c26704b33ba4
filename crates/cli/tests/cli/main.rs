//! The `tileheap` command as its users run it: a process, its output, its exit status.

mod advice;
mod aliases;
mod arrangements;
mod browser;
mod checks;
mod devices;
mod emulated;
mod errors;
mod excerpts;
mod frames;
mod installed;
mod judge;
mod pictures;
mod replay;
mod report;
mod run;
mod scripts;
mod signals;
use tileheap_testkit as support;
mod terminal;
mod values;
