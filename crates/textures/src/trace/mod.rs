//! Traces of texture requests, frame by frame, as files.
//!
//! A trace is a header, records and an end, all of it in variable-length numbers of 7 bits a byte, the lowest first, the top
//! bit set on all but the last (LEB128):
//!
//! ```text
//! "tileheap-trace\n"  1 (version)  unit  number of chains  for each: levels, sizes as differences
//! 18 0   0   16   9 5   5      create 1 as chain 0; use 1, use 2 at the last level; use 1 at level 5; the frame ends
//! 6  1  3                      the end: 1 frame, 3 uses
//! ```
//! | record | number | then |
//! |---|---|---|
//! | use | 8 × zigzag(id − last id) + 0 | at the level of the last use |
//! | use at a level | 8 × zigzag(id − last id) + 1 | the level |
//! | create | 8 × zigzag(id − last id) + 2 | the chain |
//! | replace | 8 × zigzag(id − last id) + 3 | the chain |
//! | release | 8 × zigzag(id − last id) + 4 | |
//! | end of a frame | 5 | |
//! | end of the trace | 6 | the numbers of frames and of uses |
//!
//! Neighbours in a frame mostly have neighbouring ids and one level: a use takes one or two bytes. Reader and writer stream;
//! they hold a buffer, and the chain of every texture.
//!
//! ```
//! use tileheap_textures::scenario::Scenario;
//! use tileheap_textures::trace::{TraceReader, TraceWriter};
//!
//! let mut file = Vec::new();
//! let mut writer = TraceWriter::new(&mut file, &Scenario::Strafe.geometry())?;
//! let mut written = Ok(());
//! Scenario::Strafe.generate(0, 20, |record| {
//!     if written.is_ok() {
//!         written = writer.write(record);
//!     }
//! });
//! written?;
//! writer.finish()?;
//!
//! let mut reader = TraceReader::new(file.as_slice())?;
//! let mut records = 0;
//! while reader.read()?.is_some() {
//!     records += 1;
//! }
//! assert!(records > 20);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod read;
mod record;
mod write;

pub use read::TraceReader;
pub use record::{Entry, Record};
pub use write::TraceWriter;
