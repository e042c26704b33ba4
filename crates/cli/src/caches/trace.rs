//! Reading traces of texture requests.

use std::fmt::Display;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use tileheap_textures::trace::{TraceEntry, TraceReader};

use crate::error::{Error, Result};

pub(super) type Trace = TraceReader<BufReader<File>>;

pub(super) fn open(path: &Path) -> Result<Trace> {
    let file = File::open(path)
        .map_err(|error| Error::new(format!("cannot read trace from `{}`: {error}", path.display())))?;
    TraceReader::new(BufReader::with_capacity(1 << 16, file)).map_err(|error| of_file(path, error))
}

pub(super) fn next(trace: &mut Trace, path: &Path) -> Result<Option<TraceEntry>> {
    trace.next_entry().map_err(|error| of_file(path, error))
}

fn of_file(path: &Path, error: impl Display) -> Error {
    Error::of(format_args!("`{}`", path.display()), error)
}
