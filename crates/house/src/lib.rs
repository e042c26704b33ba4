//! Checks of a crate's sources that neither the compiler nor clippy makes: cycles between files, let chains, file sizes.
//!
//! `cargo run -p tileheap-house` checks the whole repository, `cargo run -p tileheap-house -- crates/pack` one crate.
#![forbid(unsafe_code)]

pub mod cycles;
pub mod language;
mod module;
mod paths;
pub mod sources;

use std::path::PathBuf;

/// No file is longer, in lines.
const LONGEST: usize = 600;

/// What the checks find in these packages; in the whole repository if none is named.
pub fn findings(named: &[PathBuf]) -> Vec<String> {
    let root = sources::root();
    let (packages, folders) = match named {
        [] => (sources::packages(&root), vec![root]),
        named => (named.to_vec(), named.to_vec()),
    };
    let mut findings = Vec::new();
    for file in packages.iter().flat_map(|package| sources::crate_roots(package)) {
        match cycles::of_crate(&file) {
            Ok(cycles) => findings.extend(cycles.iter().map(ToString::to_string)),
            Err(error) => findings.push(error),
        }
    }
    for path in folders.iter().flat_map(|folder| sources::rust_files(folder)) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let lines = text.lines().count();
        if lines > LONGEST {
            let path = path.display();
            findings.push(format!("{path}: {lines} lines, {LONGEST} are allowed"));
        }
        findings.extend(language::let_chains(&path, &text).unwrap_or_else(|error| vec![error]));
    }
    findings
}
