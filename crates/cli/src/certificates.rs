//! Certificates of `tileheap pack` as JSON, in which the ids of the table identify the items.

use std::collections::HashMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tileheap::units::Bytes;
use tileheap_pack::{Certificate, Problem, check_certificate};

use crate::error::{Error, Result};
use crate::input::shown;
use crate::table::Table;
use crate::values::counted;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u64,
    above: Bytes,
    items: Vec<String>,
    branches: Vec<Option<(String, String)>>,
}

const FORMAT: &str = "tileheap-certificate";

/// Returns true if a document is a certificate.
pub(crate) fn is_certificate(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Header {
        format: String,
    }
    serde_json::from_str(text).is_ok_and(|header: Header| header.format == FORMAT)
}

/// Converts a certificate to JSON.
pub(crate) fn write(table: &Table, certificate: &Certificate) -> String {
    let id = |item: u32| table.ids[item as usize].to_string();
    let branches = certificate.branches.iter();
    tileheap_json::write(&Document {
        format: FORMAT.to_owned(),
        version: 1,
        above: certificate.above,
        items: certificate.items.iter().map(|&item| id(item)).collect(),
        branches: branches
            .map(|branch| branch.map(|(a, b)| (id(a), id(b))))
            .collect(),
    })
}

/// Reads and verifies a certificate; describes what it proves.
///
/// # Errors
/// The reason that the certificate is invalid.
pub(crate) fn check(file: &Path, text: &str, table: &Table, problem: &Problem) -> Result<String> {
    let bad = |error: String| Error::of(shown(file), error);
    let document: Document = tileheap_json::read(text, FORMAT, 1).map_err(|error| bad(error.to_string()))?;
    let items: HashMap<&str, u32> = table.ids.iter().map(AsRef::as_ref).zip(0..).collect();
    let item = |id: &String| {
        let found = items.get(id.as_str()).copied();
        found.ok_or_else(|| bad(format!("the table has no item `{id}`")))
    };
    let pair = |(a, b): &(String, String)| Ok((item(a)?, item(b)?));
    let branches = document.branches.iter();
    let certificate = Certificate {
        above: document.above,
        items: document.items.iter().map(item).collect::<Result<_>>()?,
        branches: branches
            .map(|branch| branch.as_ref().map(pair).transpose())
            .collect::<Result<_>>()?,
    };
    check_certificate(problem, &certificate).map_err(|error| {
        Error::Verdict(format!(
            "{}: the certificate is invalid: {}",
            shown(file),
            error.with_names(|item| table.ids[item as usize].clone())
        ))
    })?;
    Ok(format!("valid: {}\n", in_words(&certificate)))
}

/// Describes the proved statement, and the proof.
pub(crate) fn in_words(certificate: &Certificate) -> String {
    let items = counted(certificate.items.len() as u64, "item");
    let by = match certificate.branches.len() {
        1 => format!("the sizes and lifetimes of {items}"),
        branches => format!("{} over {items}", counted(branches as u64, "branch")),
    };
    match certificate.above {
        Bytes(u64::MAX) => format!("infeasible, proved by {by}"),
        above => format!("every packing needs more than {above}, proved by {by}"),
    }
}
