//! Replays a trace of texture requests.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use tileheap::units::Bytes;
use tileheap_textures::PolicyDesc;
use tileheap_textures::replay::{Distribution, lower_bound};
use tileheap_textures::trace::TraceEntry;

use super::run::{Report, Run};
use super::trace::{next, open};
use crate::error::{Error, Result};
use crate::progress::Progress;

/// The first bytes of every trace.
const MAGIC: &[u8; 15] = b"tileheap-trace\n";

/// Options of a replay.
pub(crate) struct ReplayOptions {
    pub(crate) budget: Bytes,
    pub(crate) policies: Vec<PolicyDesc<'static>>,
    pub(crate) seed: u64,
    /// If true, also computes the lower bound.
    pub(crate) lower_bound: bool,
}

/// The results of a replay.
pub(crate) struct ReplayResult {
    pub(crate) trace: PathBuf,
    pub(crate) budget: Bytes,
    pub(crate) seed: u64,
    pub(crate) reports: Vec<Report>,
    pub(crate) lower_bound: Option<Distribution>,
}

/// Returns true if a file is a trace of texture requests.
pub(crate) fn is_trace(path: &Path) -> bool {
    let mut first = [0; MAGIC.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == *MAGIC
}

/// Replays a trace through policies.
pub(crate) fn replay_trace(path: &Path, options: &ReplayOptions) -> Result<ReplayResult> {
    let mut trace = open(path)?;
    let geometry = trace.geometry().clone();
    let mut runs = Vec::new();
    for &policy in &options.policies {
        let run = Run::new(policy, &geometry, options.budget, options.seed);
        runs.push(run.map_err(|error| Error::new(error.to_string()))?);
    }
    let length = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let progress = Progress::new("replaying", length);
    let mut entries = Vec::new();
    while let Some(entry) = next(&mut trace, path)? {
        for run in &mut runs {
            run.play(entry)?;
        }
        if options.lower_bound {
            entries.push(entry);
        }
        if entry == TraceEntry::EndFrame {
            progress.set_position(trace.position());
        }
    }
    // A second, timed run without the checker between requests.
    progress.set_message("timing");
    for run in &mut runs {
        run.time(open(path)?, path)?;
    }
    Ok(ReplayResult {
        trace: path.to_owned(),
        budget: options.budget,
        seed: options.seed,
        reports: runs.into_iter().map(Run::finish).collect(),
        lower_bound: options
            .lower_bound
            .then(|| Distribution::of(&lower_bound(&entries, options.budget))),
    })
}
