//! Prints what the checks find, and fails if they find anything.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let named: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let findings = tileheap_house::findings(&named);
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
