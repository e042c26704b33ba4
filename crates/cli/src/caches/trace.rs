//! Reading traces of texture requests.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use tileheap_textures::trace::{TraceEntry, TraceReader};

use crate::error::{Error, Result};

pub(super) type Trace = TraceReader<BufReader<File>>;

pub(super) fn open(path: &Path) -> Result<Trace> {
    let file =
        File::open(path).map_err(|error| Error::new(format!("cannot read `{}`: {error}", path.display())))?;
    TraceReader::new(BufReader::with_capacity(1 << 16, file))
        .map_err(|error| Error::of(path.display(), error))
}

pub(super) fn next(trace: &mut Trace, path: &Path) -> Result<Option<TraceEntry>> {
    trace
        .next_entry()
        .map_err(|error| Error::of(path.display(), error))
}
