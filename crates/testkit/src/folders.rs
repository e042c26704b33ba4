//! Locations of the project's data.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A file or folder of `tests/data`, the data that is part of the repository.
///
/// # Panics
/// If it does not exist.
pub fn data(path: &str) -> PathBuf {
    let path = workspace().join("tests/data").join(path);
    assert!(path.exists(), "{} is not there", path.display());
    path
}

/// The workspace's root, also in tests of its members: `TILEHEAP_WORKSPACE` if a test runs on a different machine than it was built on.
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
