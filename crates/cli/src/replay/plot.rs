//! Plots: bytes and hits of every frame, and arena walls over frames, as SVG.

use std::path::Path;

use super::{Played, table};
use crate::documents::Replay;
use crate::failure::Failure;
use crate::report::replay_picture;

/// One file for each policy: `<trace>-<policy>.svg`.
pub(super) fn write_all(folder: &Path, played: &Played) -> Result<(), Failure> {
    let failed = |path: &Path, error: std::io::Error| {
        Failure::new(format!(
            "cannot write `{}`: {error}: give --plot another folder",
            path.display()
        ))
    };
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let stem = played
        .trace
        .file_stem()
        .unwrap_or(played.trace.as_os_str())
        .to_string_lossy();
    let document = table::document(played);
    for policy in &document.policies {
        let alone = Replay {
            policies: vec![policy.clone()],
            ..document.clone()
        };
        let path = folder.join(format!("{stem}-{}.svg", policy.policy));
        std::fs::write(&path, replay_picture(&alone)).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}
