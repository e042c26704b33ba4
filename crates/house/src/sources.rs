//! Which crates and files the repository has.

use std::fs;
use std::path::{Path, PathBuf};

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the checkout is readable")
}

/// The root files (`lib.rs`, `main.rs`) of a package's library and programs; in `examples`, each has a folder of its own.
pub fn crate_roots(package: &Path) -> Vec<PathBuf> {
    folders(package)
        .iter()
        .flat_map(|folder| ["lib.rs", "main.rs"].map(|file| folder.join(file)))
        .filter(|file| file.is_file())
        .collect()
}

/// The packages of the workspace: the root, `crates/*` and `examples`.
pub fn packages(root: &Path) -> Vec<PathBuf> {
    let mut packages = vec![root.to_owned(), root.join("examples")];
    packages.extend(folders(&root.join("crates")));
    packages.retain(|package| package.join("Cargo.toml").is_file());
    packages
}

/// Every Rust file of the repository, build output apart.
pub fn rust_files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in entries(&folder) {
            let name = entry
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if entry.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    waiting.push(entry);
                }
            } else if name.ends_with(".rs") {
                found.push(entry);
            }
        }
    }
    found.sort();
    found
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().filter(|path| path.is_dir()).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    paths.sort();
    paths
}
