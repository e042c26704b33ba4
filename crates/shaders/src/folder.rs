//! A folder of shaders as a Rust module, for build scripts.

use std::fmt::Write as _;
use std::path::Path;
use std::process::exit;
use std::{env, fs};

use crate::{Compiler, Source, Stage};

/// Compiles every `*.vert`, `*.frag` and `*.comp` of `folder` to SPIR-V 1.3 and writes `OUT_DIR/shaders.rs` with one
/// `pub(crate) static GBUFFER_FRAG: &[u32]` per file. A mistake in a shader stops the build with its file and line.
///
/// # Panics
/// Outside a build script.
pub fn build_folder(folder: &Path) {
    // The folder itself, so that a new file is seen.
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-env-changed=GLSLANG");
    let compiler = Compiler::find().unwrap_or_else(|error| fail(&error.lines));
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => fail(&[format!("{}: {error}", folder.display())]),
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut module = String::new();
    let mut errors = Vec::new();
    for path in paths {
        println!("cargo::rerun-if-changed={}", path.display());
        let Some(stage) = Stage::of_file(&path) else {
            continue;
        };
        match compiler.compile(Source::File(&path), stage, &[], 3) {
            Ok(words) => write_static(&mut module, &path, &words),
            // A mistake in an included file comes back from every file that includes it.
            Err(error) => errors.extend(
                error
                    .lines
                    .into_iter()
                    .filter(|line| !errors.contains(line))
                    .collect::<Vec<_>>(),
            ),
        }
    }
    if !errors.is_empty() {
        fail(&errors);
    }
    write_output("shaders.rs", module.as_bytes());
}

/// `gbuffer.frag` becomes `GBUFFER_FRAG`.
fn write_static(module: &mut String, path: &Path, words: &[u32]) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let constant = name.replace(['.', '-'], "_").to_uppercase();
    // Every example includes all of them, and uses its own.
    writeln!(
        module,
        "/// `{name}` as SPIR-V 1.3.\n#[allow(dead_code)]\npub(crate) static {constant}: &[u32] = &{words:?};"
    )
    .expect("writing to a string does not fail");
}

/// Writes a file into `OUT_DIR`, for the crate to include.
///
/// # Panics
/// Outside a build script.
pub fn write_output(name: &str, contents: &[u8]) {
    let folder = env::var("OUT_DIR").expect("cargo sets OUT_DIR for build scripts");
    let path = Path::new(&folder).join(name);
    if let Err(error) = fs::write(&path, contents) {
        fail(&[format!("{}: {error}", path.display())]);
    }
}

/// Stops the build; Cargo shows each line as an error.
pub fn fail(lines: &[String]) -> ! {
    for line in lines {
        println!("cargo::error={line}");
    }
    exit(1)
}
