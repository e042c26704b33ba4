//! Writes traces.

use std::io::{self, Write};

use super::record::{CREATE, END, FRAME, MAGIC, RELEASE, REPLACE, TraceRecord, USE, USE_AT, VERSION};
use crate::Geometry;
use crate::ids::{Level, TextureId};
use crate::units::Bytes;

/// Writes a trace record by record. The writer should be buffered.
///
/// Records are not validated here, but by [`TraceReader`](crate::trace::TraceReader).
#[derive(Debug)]
pub struct TraceWriter<W: Write> {
    to: W,
    last: TextureId,
    level: Level,
    frames: u64,
    uses: u64,
}

impl<W: Write> TraceWriter<W> {
    /// Creates a writer, and writes the header of the trace.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn new(mut to: W, geometry: &Geometry) -> io::Result<TraceWriter<W>> {
        to.write_all(MAGIC)?;
        number(&mut to, VERSION)?;
        number(&mut to, geometry.unit().get())?;
        number(&mut to, geometry.chains().len() as u64)?;
        for chain in geometry.chains() {
            number(&mut to, chain.sizes().len() as u64)?;
            let mut before = Bytes::ZERO;
            for &size in chain.sizes() {
                number(&mut to, (size - before).0)?;
                before = size;
            }
        }
        Ok(TraceWriter {
            to,
            last: TextureId(0),
            level: Level(0),
            frames: 0,
            uses: 0,
        })
    }

    /// Appends a record.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&mut self, record: TraceRecord) -> io::Result<()> {
        match record {
            TraceRecord::Create { texture, chain } => self.head(CREATE, texture, Some(chain.0)),
            TraceRecord::Replace { texture, chain } => self.head(REPLACE, texture, Some(chain.0)),
            TraceRecord::Release { texture } => self.head(RELEASE, texture, None),
            TraceRecord::Use { texture, level } => {
                self.uses += 1;
                match std::mem::replace(&mut self.level, level) == level {
                    true => self.head(USE, texture, None),
                    false => self.head(USE_AT, texture, Some(level.0.into())),
                }
            }
            TraceRecord::EndFrame => {
                self.frames += 1;
                number(&mut self.to, FRAME)
            }
        }
    }

    /// Writes the end record; a trace without it is truncated.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        number(&mut self.to, END)?;
        number(&mut self.to, self.frames)?;
        number(&mut self.to, self.uses)?;
        self.to.flush()?;
        Ok(self.to)
    }

    fn head(&mut self, tag: u64, texture: TextureId, then: Option<u16>) -> io::Result<()> {
        let step = i64::from(texture.0) - i64::from(self.last.0);
        self.last = texture;
        let zigzag = (step << 1 ^ step >> 63) as u64;
        number(&mut self.to, zigzag << 3 | tag)?;
        then.map_or(Ok(()), |then| number(&mut self.to, then.into()))
    }
}

fn number(to: &mut impl Write, mut number: u64) -> io::Result<()> {
    let (mut bytes, mut length) = ([0; 10], 0);
    loop {
        let more = number > 0x7F;
        bytes[length] = (number & 0x7F) as u8 | u8::from(more) << 7;
        length += 1;
        number >>= 7;
        if !more {
            return to.write_all(&bytes[..length]);
        }
    }
}
