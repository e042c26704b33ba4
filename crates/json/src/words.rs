//! Rewords problems of documents in terms of JSON: `serde` reports them in terms of Rust's types.

use crate::clip::clip_to;
use crate::nearest::nearest;

/// Maximum length of a problem in characters: a list of all kinds of accesses fits.
pub(crate) const MAX_LENGTH: usize = 800;
/// Maximum length of a quotation of the document in characters.
const MAX_QUOTED: usize = 80;
/// Maximum number of accepted names that are listed in addition to a suggestion.
const MAX_NAMES: usize = 16;

/// Returns true if the last value of an object has the problem, although the parser has read the object's closing brace: names are validated
/// after they are read, and so are fields that contradict each other. `read` ends before the brace.
pub(crate) fn is_of_last_value(problem: &str, read: &str) -> bool {
    let read = read.trim_end();
    if problem.starts_with("has ") {
        return read.ends_with('}');
    }
    if problem.starts_with("invalid type: unit variant") || problem.starts_with("expected a ") {
        return !read.ends_with('}');
    }
    let name = problem.strip_prefix("unknown variant ").unwrap_or(problem);
    let name = name.strip_prefix('`').and_then(|rest| rest.split_once('`'));
    let read = read.trim_end_matches(|c: char| c == ']' || c.is_ascii_whitespace());
    name.is_some_and(|(name, _)| read.strip_suffix('"').is_some_and(|read| read.ends_with(name)))
}

/// Rewords a problem that `serde` reports about well-formed JSON; unchanged if it is not one of `serde`'s own.
pub(crate) fn reworded(problem: &str) -> String {
    let unknown = |start: &str, what: &str, list: &str| {
        let (name, names) = problem.strip_prefix(start)?.rsplit_once("`, expected ")?;
        Some(unknown(what, name, list, names))
    };
    let mismatch = |start: &str| problem.strip_prefix(start)?.rsplit_once(", expected ");
    if let Some(text) = unknown("unknown field `", "unknown field", "fields are") {
        return text;
    }
    if let Some(text) = unknown("unknown variant `", "unknown value", "values are") {
        return text;
    }
    let of_type = mismatch("invalid type: ").or_else(|| mismatch("invalid value: "));
    if let Some((found, expected)) = of_type {
        return match (found, expected) {
            ("unit variant", _) => "a value is missing after this name".to_owned(),
            (_, "unit") => "this name takes no value".to_owned(),
            _ => format!(
                "{}, where {} is expected",
                self::found(found),
                self::expected(expected)
            ),
        };
    }
    if let Some((length, expected)) = mismatch("invalid length ") {
        return format!(
            "a list of length {length}, where {} is expected",
            self::expected(expected)
        );
    }
    match problem {
        "expected value" => "not one of the accepted forms".to_owned(),
        "trailing characters" => "the list has too many elements".to_owned(),
        other => other.to_owned(),
    }
}

/// Describes an unknown name, with the nearest accepted name, the accepted names, or both: the accepted ones are left out if there are more than
/// [`MAX_NAMES`] and one is near. `names` contains them in backticks.
fn unknown(what: &str, name: &str, list: &str, names: &str) -> String {
    let accepted: Vec<&str> = names.split('`').skip(1).step_by(2).collect();
    let near = nearest(name, accepted.iter().copied());
    let mut text = format!("{what} `{}`", clip_to(name, MAX_QUOTED));
    if let Some(near) = near {
        text += &format!(": did you mean `{near}`?");
    }
    if near.is_none() || accepted.len() <= MAX_NAMES {
        text += if near.is_some() { " The " } else { ": the " };
        text += &format!("accepted {list} `{}`", accepted.join("`, `"));
    }
    text
}

/// Describes the value that was found, as written in the document.
fn found(value: &str) -> String {
    let quoted = |start: &str| value.strip_prefix(start)?.strip_suffix('`');
    let number = quoted("integer `").or_else(|| quoted("floating point `"));
    if let Some(value) = number.or_else(|| quoted("boolean `")) {
        return value.to_owned();
    }
    match value {
        "sequence" => "a list".to_owned(),
        "map" => "an object".to_owned(),
        _ => match value.strip_prefix("string ") {
            Some(text) => format!("the string {}", clip_to(text, MAX_QUOTED)),
            None => value.to_owned(),
        },
    }
}

/// Describes the expected form in terms of JSON.
fn expected(form: &str) -> String {
    let whole = |most: u64| format!("a whole number from 0 to {most}");
    let list = |form: &str| {
        let length = form
            .strip_prefix("an array of length ")
            .or_else(|| form.strip_prefix("a tuple of size "));
        let length = length.or_else(|| form.rsplit_once(" with ")?.1.split(' ').next());
        length.map(|length| format!("a list of length {length}"))
    };
    match form {
        "u8" => whole(u8::MAX.into()),
        "u16" => whole(u16::MAX.into()),
        "u32" => whole(u32::MAX.into()),
        "u64" | "usize" => whole(u64::MAX),
        "a nonzero u8" | "a nonzero u16" | "a nonzero u32" | "a nonzero u64" | "a nonzero usize" => {
            "a positive integer".to_owned()
        }
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "`true` or `false`".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "an object".to_owned(),
        _ if form.starts_with("enum ") || form == "string or map" => "a name or an object".to_owned(),
        _ if form.starts_with("tuple variant ") => list(form).unwrap_or_else(|| "a list".to_owned()),
        _ if form.starts_with("struct ") => "an object".to_owned(),
        _ => list(form).unwrap_or_else(|| form.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::num::NonZeroU64;

    use serde::Deserialize;

    use crate::{parse, parse_list};

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)] // Read by the derived code.
    struct Document {
        #[serde(default)]
        number: u32,
        #[serde(default)]
        signed: i32,
        #[serde(default)]
        share: f32,
        #[serde(default)]
        flag: bool,
        #[serde(default)]
        pair: [u32; 2],
        #[serde(default)]
        tuple: (u32, f32, bool),
        #[serde(default)]
        names: Vec<String>,
        #[serde(default)]
        by_name: BTreeMap<String, u32>,
        #[serde(default)]
        choice: Choice,
        #[serde(default)]
        inner: Option<Inner>,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[allow(dead_code)] // Read by the derived code.
    enum Choice {
        #[default]
        DontCare,
        Clear([u32; 4]),
        Depth(f32, u32),
    }

    #[derive(Debug, Deserialize)]
    #[allow(dead_code)] // Read by the derived code.
    struct Inner {
        size: u64,
        #[serde(default)]
        alignment: Option<NonZeroU64>,
    }

    #[test]
    fn problems_speak_of_json() {
        for (text, expected) in [
            (
                r#"{"number": "x"}"#,
                "at `number`: the string \"x\", where a whole number from 0 to 4294967295 is expected",
            ),
            (
                r#"{"number": -1}"#,
                "at `number`: -1, where a whole number from 0 to 4294967295 is expected",
            ),
            (
                r#"{"number": 1.5}"#,
                "at `number`: 1.5, where a whole number from 0 to 4294967295 is expected",
            ),
            (
                r#"{"number": [1]}"#,
                "at `number`: a list, where a whole number from 0 to 4294967295 is expected",
            ),
            (
                r#"{"signed": null}"#,
                "at `signed`: null, where a whole number is expected",
            ),
            (
                r#"{"share": {}}"#,
                "at `share`: an object, where a number is expected",
            ),
            (
                r#"{"flag": 1}"#,
                "at `flag`: 1, where `true` or `false` is expected",
            ),
            (
                r#"{"pair": [1]}"#,
                "at `pair`: a list of length 1, where a list of length 2 is expected",
            ),
            (
                r#"{"pair": [1, 2, 3]}"#,
                "at `pair[2]`: the list has too many elements",
            ),
            (
                r#"{"pair": 3}"#,
                "at `pair`: 3, where a list of length 2 is expected",
            ),
            (
                r#"{"tuple": {}}"#,
                "at `tuple`: an object, where a list of length 3 is expected",
            ),
            (
                r#"{"names": {}}"#,
                "at `names`: an object, where a list is expected",
            ),
            (
                r#"{"names": [true]}"#,
                "at `names[0]`: true, where a string is expected",
            ),
            (
                r#"{"by_name": []}"#,
                "at `by_name`: a list, where an object is expected",
            ),
            (r#"{"choice": 3}"#, "at `choice`: not one of the accepted forms"),
            (
                r#"{"choice": "clear"}"#,
                "at `choice`: a value is missing after this name",
            ),
            (
                r#"{"choice": {"dont_care": {}}}"#,
                "at `choice.dont_care`: this name takes no value",
            ),
            (
                r#"{"choice": {"depth": 1}}"#,
                "at `choice.depth`: 1, where a list is expected",
            ),
            (
                r#"{"choice": {"depth": [1]}}"#,
                "at `choice.depth`: a list of length 1, where a list of length 2 is expected",
            ),
            (
                r#"{"choice": "cleer"}"#,
                "at `choice`: unknown value `cleer`: did you mean `clear`? The accepted values are `dont_care`, `clear`, `depth`",
            ),
            (
                r#"{"choice": "no"}"#,
                "at `choice`: unknown value `no`: the accepted values are `dont_care`, `clear`, `depth`",
            ),
            (r#"{"inner": 3}"#, "at `inner`: 3, where an object is expected"),
            (r#"{"inner": {}}"#, "at `inner`: missing field `size`"),
            (
                r#"{"inner": {"size": 1, "alignment": 0}}"#,
                "at `inner.alignment`: 0, where a positive integer is expected",
            ),
            (
                r#"{"inner": {"size": 1, "alignment": 1.5}}"#,
                "at `inner.alignment`: 1.5, where a positive integer is expected",
            ),
        ] {
            let error = parse::<Document>(text).unwrap_err().to_string();
            let (_, error) = error.split_once(", ").unwrap_or_else(|| panic!("{error}"));
            assert_eq!(error, expected, "{text}");
        }
        let error = parse::<Document>(r#"{"nubmer": 3}"#).unwrap_err().problem;
        let expected =
            "unknown field `nubmer`: did you mean `number`? The accepted fields are `number`, `signed`, ";
        assert!(error.starts_with(expected), "{error}");
    }

    #[test]
    fn a_byte_order_mark_is_accepted() {
        let read = parse::<Document>("\u{feff}{\"number\": 3}").expect("a document");
        assert_eq!(read.number, 3);
        assert_eq!(parse_list::<u32>("\u{feff}[3]"), Ok(vec![3]));
        let error = parse::<Document>("\u{feff}{\"number\": []}").unwrap_err();
        assert_eq!(
            error,
            parse::<Document>("{\"number\": []}").expect_err("the same place")
        );
        // Only one, and only at the start.
        assert!(
            parse::<Document>("\u{feff}\u{feff}{}").is_err() && parse::<Document>(" \u{feff}{}").is_err()
        );
    }

    #[test]
    fn long_names_are_shortened() {
        let text = format!(r#"{{"{}": 3}}"#, "`, expected ".repeat(1 << 16));
        let error = parse::<Document>(&text).unwrap_err().problem;
        assert!(error.chars().count() < 400, "{error}");
        let text = format!(r#"{{"number": "{}"}}"#, "x".repeat(1 << 20));
        let error = parse::<Document>(&text).unwrap_err().problem;
        assert!(error.chars().count() < 200, "{error}");
    }
}
