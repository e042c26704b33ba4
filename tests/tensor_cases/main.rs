//! The peers' published cases, by the strategies that reproduce them: every file of `../shared/cases` (or of `TILEHEAP_CASES`) of a
//! schema that is known here.

mod executorch;
mod litert;
mod nnc;
#[path = "../support/mod.rs"]
mod support;
mod tvm;
mod usmp;

use std::path::PathBuf;

use serde_json::Value;

/// A case file by its name; `None`, and the calling test listed as skipped, where there is none.
fn case(name: &str) -> Option<Value> {
    let folder = match std::env::var_os("TILEHEAP_CASES") {
        Some(folder) => PathBuf::from(folder),
        None => support::shared("cases")?,
    };
    let path = folder.join(name);
    if !path.is_file() {
        support::skip(&format!("{} is not there", path.display()));
        return None;
    }
    let text = std::fs::read_to_string(&path).unwrap();
    Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is a number"))
}

fn numbers(value: &Value) -> Vec<u64> {
    list(value).iter().map(number).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is a text"))
}
