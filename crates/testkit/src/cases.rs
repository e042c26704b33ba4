//! Test cases in files of `tests/data/cases`: the inputs, and the results under `expected`.

use serde_json::{Map, Value};

use crate::folders::data;

/// Maximum width in columns of a value that is written on one line.
const LINE: usize = 140;

/// Runs every case of a file; with `TILEHEAP_REWRITE=1` writes the results to the file instead. `run` gets the whole file, for data that
/// its cases share, and the case.
///
/// # Panics
/// If a file has no cases, or the result of one differs from its `expected`.
#[track_caller]
pub fn assert_cases(name: &str, run: impl Fn(&Value, &Value) -> Value) {
    let path = data(&format!("cases/{name}.json"));
    let text = std::fs::read_to_string(&path).expect("a readable file");
    let mut file: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let cases = file["cases"].as_array().expect("a list of cases");
    assert!(!cases.is_empty(), "{name} has no cases");
    let found: Vec<Value> = cases.iter().map(|case| run(&file, case)).collect();
    if std::env::var_os("TILEHEAP_REWRITE").is_some() {
        for (index, found) in found.into_iter().enumerate() {
            file["cases"][index]["expected"] = found;
        }
        std::fs::write(&path, laid_out(&file, 0) + "\n").expect("a writable file");
        return;
    }
    for (index, (case, found)) in cases.iter().zip(found).enumerate() {
        let of = case.get("name").unwrap_or(&Value::Null);
        let found = laid_out(&found, 0);
        let expected = laid_out(&case["expected"], 0);
        assert!(
            found == expected,
            "{name}, case {index} ({of}): {found}\nand expected is {expected}"
        );
    }
}

/// The value as JSON: on one line if it fits, else with one line per element.
fn laid_out(value: &Value, indent: usize) -> String {
    let line = value.to_string();
    if indent + line.len() <= LINE {
        return line;
    }
    let inner = " ".repeat(indent + 1);
    let list = |open: char, lines: Vec<String>, close: char| {
        let end = " ".repeat(indent);
        format!(
            "{open}\n{inner}{}\n{end}{close}",
            lines.join(&format!(",\n{inner}"))
        )
    };
    let field = |(key, value): (&String, &Value)| {
        format!("{}: {}", Value::from(key.as_str()), laid_out(value, indent + 1))
    };
    match value {
        Value::Array(elements) => {
            let lines = elements.iter().map(|element| laid_out(element, indent + 1));
            list('[', lines.collect(), ']')
        }
        Value::Object(fields) => list('{', Map::iter(fields).map(field).collect(), '}'),
        _ => line,
    }
}
