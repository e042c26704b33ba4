//! What the JSON forms of profiles and plans share: a header, and errors that name the place on one line.

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Parses a document of one `format` and `version`.
///
/// # Errors
/// The problem with its line, column and path, on one line, whatever the text holds.
pub(crate) fn read<T: DeserializeOwned>(text: &str, format: &str, version: u64) -> Result<T, String> {
    #[derive(Deserialize)]
    struct Header {
        format: String,
        version: u64,
    }
    // The header first: another version has other fields, which would be the lesser complaint.
    let header: Header = parse(text)?;
    if header.format != format {
        return Err(format!(
            "`format` is {:?}, and {format:?} is expected",
            clip(&header.format)
        ));
    }
    if header.version != version {
        return Err(format!(
            "`version` is {}, and this tileheap reads version {version}",
            header.version
        ));
    }
    parse(text)
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let parsed: Result<T, _> = serde_path_to_error::deserialize(&mut deserializer);
    let (path, error) = match parsed {
        Ok(document) => match deserializer.end() {
            Ok(()) => return Ok(document),
            Err(error) => (String::new(), error),
        },
        Err(error) => (error.path().to_string(), error.into_inner()),
    };
    let place = if path.is_empty() || path == "." {
        String::new()
    } else {
        format!("`{}`: ", clip(&path))
    };
    Err(place + &clip(&error.to_string()))
}

/// The text on one line and not endless: it may quote what stands in the file.
pub(crate) fn clip(text: &str) -> String {
    const LONGEST: usize = 300;
    let mut line = String::new();
    for c in text.chars().take(LONGEST) {
        if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    if text.chars().nth(LONGEST).is_some() {
        line.push('…');
    }
    line
}
