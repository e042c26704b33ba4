//! Tests that the schema accepts a document exactly if the reader does.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::super::{Frame, FrameError};
use super::schema::schema;
use super::schema_reference::reference;

const REWRITE: &str = "TILEHEAP_REWRITE=1 cargo test -p tileheap --lib frame::json rewrites it";

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn assert_written(path: &str, text: &str) {
    if std::env::var_os("TILEHEAP_REWRITE").is_some() {
        fs::write(root(path), text).expect("a writable file");
    }
    let written = fs::read_to_string(root(path)).unwrap_or_default();
    let differs = written
        .lines()
        .zip(text.lines())
        .find(|(is, should)| is != should);
    assert!(written == text, "{path}: {differs:?}; {REWRITE}");
}

#[test]
fn the_committed_schema_is_that_of_the_types() {
    let text = serde_json::to_string_pretty(&schema()).expect("JSON") + "\n";
    assert_written("docs/frame.schema.json", &text);
}

#[test]
fn the_reference_in_the_guide_is_that_of_the_types() {
    const BEGIN: &str = "<!-- reference -->\n";
    let page = fs::read_to_string(root("docs/guide/frame_json.md")).expect("the page");
    let (before, _) = page.split_once(BEGIN).expect("a mark");
    assert_written(
        "docs/guide/frame_json.md",
        &format!("{before}{BEGIN}{}", reference(&schema())),
    );
}

/// The first reason why a value does not match a schema. Knows the keywords that the schema uses, and panics for others.
fn fault(root: &Value, schema: &Value, value: &Value) -> Option<String> {
    let fields = match schema {
        Value::Bool(accepts) => return (!accepts).then(|| "is never accepted".to_owned()),
        schema => schema.as_object().expect("a schema"),
    };
    fields.iter().find_map(|(key, rule)| {
        let all = |rule: &Value| rule.as_array().expect("a list").clone();
        let matching = || {
            all(rule)
                .iter()
                .filter(|it| fault(root, it, value).is_none())
                .count()
        };
        let is_good = match (key.as_str(), value) {
            ("$ref", _) => {
                let target = rule
                    .as_str()
                    .and_then(|path| path.strip_prefix('#'))
                    .expect("a path");
                return fault(root, root.pointer(target).expect("a definition"), value);
            }
            ("properties", Value::Object(fields)) => {
                let inner = rule.as_object().expect("fields").iter();
                return inner
                    .filter_map(|(name, schema)| Some((name, fault(root, schema, fields.get(name)?)?)))
                    .map(|(name, fault)| format!("{name}.{fault}"))
                    .next();
            }
            ("items", Value::Array(items)) => {
                let known = schema["prefixItems"].as_array().map_or(0, Vec::len);
                return items[known.min(items.len())..]
                    .iter()
                    .find_map(|item| fault(root, rule, item));
            }
            ("prefixItems", Value::Array(items)) => {
                return all(rule)
                    .iter()
                    .zip(items)
                    .find_map(|(rule, item)| fault(root, rule, item));
            }
            ("type", _) => match rule.as_str().expect("one type") {
                "object" => value.is_object(),
                "array" => value.is_array(),
                "string" => value.is_string(),
                "boolean" => value.is_boolean(),
                "integer" => value.is_u64() || value.is_i64(),
                "number" => value.is_number(),
                other => panic!("type {other}"),
            },
            ("const", _) => rule == value,
            ("enum", _) => all(rule).contains(value),
            ("anyOf", _) => matching() > 0,
            ("oneOf", _) => matching() == 1,
            ("required", Value::Object(fields)) => all(rule)
                .iter()
                .all(|name| fields.contains_key(name.as_str().expect("a name"))),
            ("additionalProperties", Value::Object(fields)) => {
                assert_eq!(rule, &json!(false));
                let known = schema["properties"].as_object().expect("fields");
                fields.keys().all(|name| known.contains_key(name))
            }
            ("minItems", Value::Array(items)) => items.len() as u64 >= rule.as_u64().expect("a count"),
            ("maxItems", Value::Array(items)) => items.len() as u64 <= rule.as_u64().expect("a count"),
            ("minimum", Value::Number(number)) => number.as_f64() >= rule.as_f64(),
            ("maximum", Value::Number(number)) => number.as_f64() <= rule.as_f64(),
            ("pattern", Value::String(text)) => {
                assert_eq!(rule, "^0x[0-9A-Fa-f]{1,16}$");
                let digits = text.strip_prefix("0x").unwrap_or_default();
                (1..=16).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
            }
            ("description" | "title" | "default" | "writeOnly" | "$schema" | "$defs", _) => true,
            (
                "properties"
                | "items"
                | "prefixItems"
                | "required"
                | "additionalProperties"
                | "minItems"
                | "maxItems"
                | "minimum"
                | "maximum"
                | "pattern",
                _,
            ) => true,
            (other, _) => panic!("keyword {other}"),
        };
        (!is_good).then(|| format!("{value} breaks {key}"))
    })
}

/// Calls `found` with every frame document inside a value.
fn frames_in(value: &Value, found: &mut dyn FnMut(&Value)) {
    if value["format"] == super::FORMAT {
        found(value);
    }
    match value {
        Value::Object(fields) => fields.values().for_each(|value| frames_in(value, found)),
        Value::Array(all) => all.iter().for_each(|value| frames_in(value, found)),
        _ => {}
    }
}

fn json_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            json_files(&path, files);
        } else if path.extension().is_some_and(|end| end == "json") {
            files.push(path);
        }
    }
}

fn is_refused(document: &Value) -> Option<String> {
    match Frame::from_json(&document.to_string()) {
        Err(crate::Error::Frame(FrameError::Json(error))) => Some(error.to_string()),
        _ => None,
    }
}

#[test]
fn every_frame_document_of_the_tests_has_the_form_of_the_schema() {
    let schema = schema();
    let mut files = vec![];
    for folder in ["tests/data", "crates/cli/tests/data"] {
        json_files(&root(folder), &mut files);
    }
    let mut frames = 0;
    for path in files {
        let text = fs::read_to_string(&path).expect("a readable file");
        let Ok(value) = serde_json::from_str::<Value>(&text) else {
            continue;
        };
        frames_in(&value, &mut |frame| {
            // Bases of cases lack fields that the cases add.
            if frame.get("submits").is_some() {
                assert_eq!(is_refused(frame), None, "{}", path.display());
                assert_eq!(fault(&schema, &schema, frame), None, "{}", path.display());
                frames += 1;
            }
        });
    }
    assert!(frames >= 40, "{frames} frames");
}

/// Collects the paths in a document, at most two of each kind: paths that differ only in indices are of one kind.
fn places(value: &Value, path: &str, kind: &str, seen: &mut BTreeMap<String, Vec<String>>) {
    let of_kind = seen.entry(kind.to_owned()).or_default();
    if of_kind.len() < 2 && !path.is_empty() {
        of_kind.push(path.to_owned());
    }
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                places(value, &format!("{path}/{name}"), &format!("{kind}/{name}"), seen);
            }
        }
        Value::Array(all) => {
            for (index, value) in all.iter().enumerate() {
                places(value, &format!("{path}/{index}"), &format!("{kind}/*"), seen);
            }
        }
        _ => {}
    }
}

/// Documents with one value replaced, removed, renamed or added, and a description of the change.
fn damaged(document: &Value) -> Vec<(String, Value)> {
    let mut seen = BTreeMap::new();
    places(document, "", "", &mut seen);
    let mut all = vec![];
    for path in seen.into_values().flatten() {
        let others = [
            json!(true),
            json!(-1),
            json!(1.5),
            json!(4_294_967_296_u64),
            json!("x"),
            json!({}),
            json!({ "x": 1 }),
            json!([{ "x": [] }]),
        ];
        for other in others {
            let mut damaged = document.clone();
            let place = damaged.pointer_mut(&path).expect("a place");
            *place = other;
            all.push((format!("{path} = {place}"), damaged));
        }
        let (parent, last) = path.rsplit_once('/').expect("a parent");
        let mut shorter = document.clone();
        let mut longer = document.clone();
        let get = |document: &'_ mut Value| document.pointer_mut(parent).map(Value::take).expect("a parent");
        let put = |document: &mut Value, value| *document.pointer_mut(parent).expect("a parent") = value;
        let (mut less, mut more) = (get(&mut shorter), get(&mut longer));
        match (&mut less, &mut more) {
            (Value::Object(less), Value::Object(more)) => {
                let value = less.remove(last).expect("a field");
                more.insert(format!("{last}x"), value);
            }
            (Value::Array(less), Value::Array(more)) => {
                more.push(less.pop().expect("an element"));
            }
            (other, _) => panic!("{other}"),
        }
        put(&mut shorter, less);
        put(&mut longer, more);
        all.push((format!("{path} less"), shorter));
        all.push((format!("{path} more"), longer));
    }
    all
}

/// Terms of Rust and `serde` that error messages of the reader must not contain.
const FOREIGN: [&str; 14] = [
    "invalid type",
    "invalid value",
    "invalid length",
    "unknown variant",
    "sequence",
    "expected value",
    "trailing characters",
    " map",
    "u32",
    "u64",
    "i32",
    "f32",
    "newtype",
    "struct ",
];

#[test]
fn reader_and_schema_refuse_the_same_documents_and_messages_speak_of_json() {
    let schema = schema();
    let text = fs::read_to_string(root("tests/data/everything.json")).expect("a readable file");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let (mut refused, mut accepted) = (0, 0);
    let mut wrong = vec![];
    for (change, damaged) in damaged(&document) {
        let (reader, schema) = (is_refused(&damaged), fault(&schema, &schema, &damaged));
        match &reader {
            Some(_) => refused += 1,
            None => accepted += 1,
        }
        if reader.is_some() != schema.is_some() {
            wrong.push(format!("{change}: reader {reader:?}, schema {schema:?}"));
        }
        let foreign = |message: &String| FOREIGN.iter().any(|word| message.contains(word));
        wrong.extend(
            reader
                .filter(foreign)
                .map(|message| format!("{change}: {message}")),
        );
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        refused + accepted,
        wrong.join("\n")
    );
    assert!(
        refused > 300 && accepted > 100,
        "{refused} refused, {accepted} accepted"
    );
}
