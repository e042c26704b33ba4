//! Output of build scripts: files for the crate to include, and errors.

use std::path::Path;
use std::process::exit;
use std::{env, fs};

use crate::error::Error;

/// Writes a file into `OUT_DIR`, for the crate to include.
///
/// # Panics
/// Outside a build script.
pub fn write_output(name: &str, contents: &[u8]) {
    let folder = env::var("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    let path = Path::new(&folder).join(name);
    if let Err(error) = fs::write(&path, contents) {
        fail(&[Error::io(&path, &error)]);
    }
}

/// Stops the build; Cargo shows each line once, as an error.
pub fn fail(errors: &[Error]) -> ! {
    // An error in an included file is reported by every file that includes it.
    let mut shown = Vec::new();
    for error in errors {
        for line in error.to_string().lines() {
            if !shown.iter().any(|other| other == line) {
                println!("cargo::error={line}");
                shown.push(line.to_owned());
            }
        }
    }
    exit(1)
}
