#![doc = include_str!("../../docs/trace.md")]

mod read;
mod record;
mod write;

pub use read::TraceReader;
pub use record::{Entry, Record};
pub use write::TraceWriter;
