//! Reads and validates traces.

use std::io::{self, BufRead};

use super::record::{
    CREATE, END, FRAME, MAGIC, RELEASE, REPLACE, TraceEntry, TraceRecord, USE, USE_AT, VERSION,
};
use crate::error::{Error, Result};
use crate::ids::{Level, MipChainId, TextureId};
use crate::units::{Alignment, Bytes};
use crate::{Geometry, MipChain, TextureTable};

/// Reads a trace record by record, and tracks the existing textures.
#[derive(Debug)]
pub struct TraceReader<R> {
    from: R,
    textures: TextureTable,
    at: u64,
    frames: u64,
    uses: u64,
    last: TextureId,
    level: Level,
    done: bool,
}

impl<R: BufRead> TraceReader<R> {
    /// Creates a reader, and reads the header of the trace.
    ///
    /// # Errors
    /// If the file is not a trace, or its chains are invalid.
    pub fn new(from: R) -> Result<TraceReader<R>> {
        let one = Geometry::new(vec![MipChain::new(vec![Bytes(1)])], Alignment::ONE)
            .expect("a chain of one byte is valid");
        let mut reader = TraceReader {
            from,
            textures: TextureTable::new(one),
            at: 0,
            frames: 0,
            uses: 0,
            last: TextureId(0),
            level: Level(0),
            done: false,
        };
        let mut magic = [0; MAGIC.len()];
        match reader.from.read_exact(&mut magic) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(Error::NotATrace),
            other => other?,
        }
        if magic != MAGIC {
            return Err(Error::NotATrace);
        }
        reader.at = MAGIC.len() as u64;
        let found = reader.number()?;
        if found != VERSION {
            return Err(Error::TraceVersion(found, VERSION));
        }
        let geometry = reader.header()?;
        reader.textures = TextureTable::new(geometry);
        Ok(reader)
    }

    /// The sizes of textures.
    pub fn geometry(&self) -> &Geometry {
        self.textures.geometry()
    }

    /// Number of bytes read.
    pub fn position(&self) -> u64 {
        self.at
    }

    /// The next record; `None` at the end of the trace.
    ///
    /// # Errors
    /// If the trace is truncated or damaged.
    pub fn read(&mut self) -> Result<Option<TraceRecord>> {
        if self.done {
            return Ok(None);
        }
        let head = self.number()?;
        let record = match head & 7 {
            FRAME if head == FRAME => {
                self.frames += 1;
                TraceRecord::EndFrame
            }
            END if head == END => {
                let (frames, uses) = (self.number()?, self.number()?);
                if frames != self.frames {
                    return Err(self.damaged("count of frames", frames));
                }
                if uses != self.uses {
                    return Err(self.damaged("count of uses", uses));
                }
                self.done = true;
                return Ok(None);
            }
            tag @ (USE | USE_AT | CREATE | REPLACE | RELEASE) => {
                let texture = self.texture(head >> 3)?;
                let chain = match tag {
                    CREATE | REPLACE => MipChainId(self.small("chain", u64::from(u16::MAX))? as u16),
                    _ => MipChainId(0),
                };
                if tag == USE_AT {
                    self.level = Level(self.small("level", 31)? as u8);
                }
                self.uses += u64::from(tag <= USE_AT);
                let level = self.level;
                match tag {
                    CREATE => TraceRecord::Create { texture, chain },
                    REPLACE => TraceRecord::Replace { texture, chain },
                    RELEASE => TraceRecord::Release { texture },
                    _ => TraceRecord::Use { texture, level },
                }
            }
            _ => return Err(self.damaged("record", head)),
        };
        Ok(Some(record))
    }

    /// The next entry; `None` at the end of the trace.
    ///
    /// # Errors
    /// Those of [`read`](TraceReader::read), and if a texture does not exist, already exists with another chain, or lacks the level.
    pub fn next_entry(&mut self) -> Result<Option<TraceEntry>> {
        while let Some(record) = self.read()? {
            let entry = record
                .apply(&mut self.textures)
                .map_err(|error| Error::TraceRecord(self.frames, Box::new(error)))?;
            if entry.is_some() {
                return Ok(entry);
            }
        }
        Ok(None)
    }

    fn texture(&mut self, zigzag: u64) -> Result<TextureId> {
        let step = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
        let id = i64::from(self.last.0).checked_add(step).map(u32::try_from);
        match id {
            Some(Ok(id)) if id < u32::MAX / 64 => {
                self.last = TextureId(id);
                Ok(self.last)
            }
            _ => Err(self.damaged("texture step", zigzag)),
        }
    }

    fn header(&mut self) -> Result<Geometry> {
        let unit = self.number()?;
        let unit = Alignment::new(unit).ok_or_else(|| self.damaged("unit", unit))?;
        let count = self.small("number of chains", 1 << 16)?;
        let mut chains = Vec::new();
        for _ in 0..count {
            let (levels, mut sizes, mut size) = (self.small("number of levels", 32)?, Vec::new(), 0_u64);
            for _ in 0..levels {
                let more = self.number()?;
                let sum = size.checked_add(more);
                size = sum.ok_or_else(|| self.damaged("size increment", more))?;
                sizes.push(Bytes(size));
            }
            chains.push(MipChain::new(sizes));
        }
        Geometry::new(chains, unit).map_err(|error| Error::TraceRecord(0, Box::new(error)))
    }

    fn small(&mut self, what: &'static str, most: u64) -> Result<u64> {
        let found = self.number()?;
        if found > most {
            return Err(self.damaged(what, found));
        }
        Ok(found)
    }

    fn number(&mut self) -> Result<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let Some(&byte) = self.from.fill_buf()?.first() else {
                return Err(Error::TraceTruncated(self.at, self.frames));
            };
            self.from.consume(1);
            self.at += 1;
            let bits = u64::from(byte & 0x7F);
            if shift > 63 || bits << shift >> shift != bits {
                return Err(self.damaged("continuation of a 64-bit number", bits));
            }
            number |= bits << shift;
            shift += 7;
            if byte < 0x80 {
                return Ok(number);
            }
        }
    }

    fn damaged(&self, what: &'static str, found: u64) -> Error {
        Error::TraceDamaged(self.at, self.frames, what, found)
    }
}
