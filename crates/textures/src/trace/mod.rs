#![doc = include_str!("../../docs/trace.md")]

mod read;
mod record;
mod write;

pub use read::TraceReader;
pub use record::{TraceEntry, TraceRecord};
pub use write::TraceWriter;
