//! Prints what the checks find, and fails if they find anything.

use std::path::PathBuf;
use std::process::ExitCode;

use tileheap_house::{cycles, language, names, sources};

/// No file is longer, in lines.
const LONGEST: usize = 600;

fn main() -> ExitCode {
    let root = sources::root();
    let named: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let packages = if named.is_empty() {
        sources::packages(&root)
    } else {
        named.clone()
    };
    let mut findings = Vec::new();
    for file in packages.iter().flat_map(|package| sources::crate_roots(package)) {
        match cycles::of_crate(&file) {
            Ok(cycles) => findings.extend(cycles.iter().map(ToString::to_string)),
            Err(error) => findings.push(error),
        }
    }
    let files = if named.is_empty() {
        sources::rust_files(&root)
    } else {
        named
            .iter()
            .flat_map(|folder| sources::rust_files(folder))
            .collect()
    };
    for path in &files {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let lines = text.lines().count();
        if lines > LONGEST {
            findings.push(format!(
                "{}: {lines} lines, {LONGEST} are allowed",
                path.display()
            ));
        }
        findings.extend(language::let_chains(path, &text).unwrap_or_else(|error| vec![error]));
        // They quote the retired names.
        if !path.ends_with("house/src/names.rs") && !path.ends_with("house/tests/house.rs") {
            findings.extend(names::retired(path, &text).unwrap_or_else(|error| vec![error]));
        }
    }
    for finding in &findings {
        println!("{finding}");
    }
    println!("{} findings", findings.len());
    if findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
