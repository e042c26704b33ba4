//! Finds the path to a position in a JSON text, for errors. A parser that tracks paths itself would be compiled for every type of
//! document, and would be larger than all other code that reads them.

use std::fmt::Write;

/// A list or object that contains the position.
enum Inside {
    /// A list: the index of the element that contains the position.
    List(usize),
    /// An object: the current field, without its quotes; `None` before the first one.
    Object(Option<String>),
}

/// The path of fields and indices to the position at which a parser stopped: `submits[0].batches[1].waits`. Empty for the document
/// itself. `line` counts from 1, `column` is the number of bytes in the line before the position.
///
/// If an object ends there, the path is that of its last value if `is_of_last_value` returns true for the text before the closing brace.
pub(crate) fn of(text: &str, line: usize, column: usize, is_of_last_value: impl Fn(&str) -> bool) -> String {
    let lines = text.match_indices('\n').map(|(at, _)| at + 1);
    let start = std::iter::once(0).chain(lines).nth(line.saturating_sub(1));
    let end = start.unwrap_or(text.len()).saturating_add(column).min(text.len());
    let inside = text.get(..end).and_then(|read| read.strip_suffix('}'));
    match inside.filter(|read| is_of_last_value(read)) {
        Some(read) => before(read.as_bytes()),
        None => before(&text.as_bytes()[..end]),
    }
}

fn before(bytes: &[u8]) -> String {
    let mut stack = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match (byte, stack.last_mut()) {
            (b'[', _) => stack.push(Inside::List(0)),
            (b'{', _) => stack.push(Inside::Object(None)),
            (b']' | b'}', _) => _ = stack.pop(),
            (b',', Some(Inside::List(index))) => *index += 1,
            (b',', Some(Inside::Object(field))) => *field = None,
            (b'"', inside) => {
                let first = at;
                at += length_of_string(&bytes[at..]);
                if let Some(Inside::Object(field @ None)) = inside {
                    let name = bytes[first..at].strip_suffix(b"\"").unwrap_or(&bytes[first..at]);
                    *field = Some(String::from_utf8_lossy(name).into_owned());
                }
            }
            _ => {}
        }
    }
    let mut path = String::new();
    for inside in &stack {
        match inside {
            Inside::List(index) => _ = write!(path, "[{index}]"),
            Inside::Object(None) => {}
            Inside::Object(Some(field)) if path.is_empty() => path += field,
            Inside::Object(Some(field)) => _ = write!(path, ".{field}"),
        }
    }
    path
}

/// The length of a string including its closing quote; the length of `rest` if there is none.
fn length_of_string(rest: &[u8]) -> usize {
    let mut escaped = false;
    let closing = rest.iter().position(|&byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    });
    closing.map_or(rest.len(), |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn a_path_leads_to_where_the_parser_stopped() {
        let text =
            "{\n  \"submits\": [{ \"queue\": \"a, [b\" }, { \"batches\": [1, 2, { \"waits\": 3 } ] }]\n}";
        let path_before = |part: &str| {
            let at = text.find(part).unwrap();
            let line = 1 + text[..at].matches('\n').count();
            of(
                text,
                line,
                at - text[..at].rfind('\n').map_or(0, |at| at + 1),
                |_| false,
            )
        };
        assert_eq!(path_before("{\n"), "");
        assert_eq!(path_before("[{"), "submits");
        assert_eq!(path_before("a, [b"), "submits[0].queue");
        assert_eq!(path_before(" }, {"), "submits[0].queue");
        assert_eq!(path_before(" 2,"), "submits[1].batches[1]");
        assert_eq!(path_before(" } ]"), "submits[1].batches[2].waits");
        assert_eq!(path_before(" ] }"), "submits[1].batches[2]");
        assert_eq!(path_before("\n}"), "submits");
        assert_eq!(of(text, 9, 9, |_| false), "");
    }

    #[test]
    fn names_at_the_end_of_an_object_have_their_path() {
        let text = r#"{ "a": [{ "b": 1, "c": "x" }, 3] }"#;
        let end = 1 + text.find('}').unwrap();
        assert_eq!(of(text, 1, end, |_| false), "a[0]");
        assert_eq!(of(text, 1, end, |read| read.ends_with("\"x\" ")), "a[0].c");
        assert_eq!(of(text, 1, end + 1, |_| true), "a[1]");
    }

    #[test]
    fn quotes_in_strings_do_not_end_them() {
        assert_eq!(of(r#"{ "a\\": "\"", "b": 1 }"#, 1, 19, |_| false), "b");
        assert_eq!(of(r#"{ "unfinished"#, 1, 13, |_| false), "unfinished");
    }
}
