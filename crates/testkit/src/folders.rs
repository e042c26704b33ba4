//! Locations of the project's data.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The path of a file or folder in `tests/data`, the data that is part of the repository.
///
/// # Panics
/// If it does not exist.
pub fn data(path: &str) -> PathBuf {
    let path = workspace().join("tests/data").join(path);
    assert!(path.exists(), "{} is not there", path.display());
    path
}

/// The root of the workspace; `TILEHEAP_WORKSPACE` replaces it for tests that run on a different machine than they were built on.
pub fn workspace() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = package
            .ancestors()
            .find(|folder| folder.join("Cargo.lock").is_file());
        let built = || root.unwrap_or(package).to_owned();
        std::env::var_os("TILEHEAP_WORKSPACE").map_or_else(built, PathBuf::from)
    });
    &ROOT
}
