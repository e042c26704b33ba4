//! Reading input files.

use std::io::Read;
use std::path::Path;

use tileheap::units::Bytes;
use tileheap_json::{EncodingError, decode};

use crate::error::{Error, Result};

/// Limit on the bytes read from a file, in case the path of a disk image or a device is given by mistake.
const LARGEST_FILE: u64 = 256 << 20;

/// Reads the bytes of a file, or of standard input for `-`. `form` is the kind of file that an error message asks for.
pub(crate) fn read_bytes(path: &Path, what: &str, form: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let shown = shown(path);
    let read = if is_stdin(path) {
        std::io::stdin()
            .lock()
            .take(LARGEST_FILE + 1)
            .read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(LARGEST_FILE + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| {
        Error::new(format!(
            "cannot read {what} from {shown}: {error}: give {form}, or - for standard input"
        ))
    })?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(Error::new(format!(
            "{what} from {shown} is larger than {}: give {form}",
            Bytes(LARGEST_FILE)
        )));
    }
    Ok(bytes)
}

/// Reads the text of a JSON file, or of standard input for `-`; fails if the text is empty.
pub(crate) fn read_text(path: &Path, what: &str) -> Result<String> {
    let text = read_text_in(path, what, "a JSON file")?;
    require_text(&text, path, what)?;
    Ok(text)
}

/// Fails if a text is empty.
pub(crate) fn require_text(text: &str, path: &Path, what: &str) -> Result<()> {
    if text.trim_ascii().is_empty() {
        return Err(Error::new(format!(
            "{}: the {what} is empty: give a JSON file",
            shown(path)
        )));
    }
    Ok(())
}

/// Reads the text of a file, or of standard input for `-`. `form` is the kind of file that an error message asks for.
pub(crate) fn read_text_in(path: &Path, what: &str, form: &str) -> Result<String> {
    text_of(&read_bytes(path, what, form)?, path, what, form)
}

/// Decodes the bytes of a file as UTF-8, and removes a byte order mark.
pub(crate) fn text_of(bytes: &[u8], path: &Path, what: &str, form: &str) -> Result<String> {
    let text = decode(bytes).map_err(|EncodingError { line, problem }| {
        Error::new(format!(
            "{}:{line}: {what} is {problem}: give {form}",
            shown(path)
        ))
    })?;
    Ok(text.to_owned())
}

/// A path as shown in messages.
pub(crate) fn shown(path: &Path) -> String {
    if is_stdin(path) {
        "standard input".to_owned()
    } else {
        format!("`{}`", path.display())
    }
}

pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}
