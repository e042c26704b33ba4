//! Tests the model of order and contents against known verdicts, and against an oracle on random programs.

mod agreement;
mod cases;
mod contents;
mod first_version;
mod generator;
mod oracle;
mod recordings;
mod render_passes;
mod retention;
mod scale;
mod variations;
