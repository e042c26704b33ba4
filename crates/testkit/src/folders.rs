//! Where the project's data is.

use std::path::{Path, PathBuf};

/// A file or folder of `tests/data`, the data that is part of the repository.
///
/// # Panics
/// If it is not there.
pub fn data(path: &str) -> PathBuf {
    let path = workspace().join("tests/data").join(path);
    assert!(path.exists(), "{} is not there", path.display());
    path
}

/// The workspace's root, also for the tests of its members.
pub fn workspace() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = package
        .ancestors()
        .find(|folder| folder.join("Cargo.lock").is_file());
    root.unwrap_or(package)
}
