//! `tileheap replay` and `tileheap trace`: texture caches on traces.

mod plot;
mod run;
mod table;

use std::fs::File;
use std::io::{BufReader, BufWriter, Read};
use std::path::{Path, PathBuf};

use tileheap::units::Bytes;
use tileheap_textures::replay::Levels;
use tileheap_textures::trace::{Entry, TraceReader, TraceWriter};
use tileheap_textures::{PolicyKind, floor};

use crate::arguments::{ReplayArguments, TraceArguments};
use crate::documents::{self, Replay};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;
use run::{Report, Run};

/// What every trace begins with.
const MAGIC: &[u8; 15] = b"tileheap-trace\n";

/// What is replayed.
pub(crate) struct ReplayHow {
    pub(crate) budget: Bytes,
    pub(crate) kinds: Vec<PolicyKind>,
    pub(crate) seed: u64,
    /// Also what no policy can go below.
    pub(crate) bound: bool,
}

/// What came of it.
struct Played {
    trace: PathBuf,
    budget: Bytes,
    seed: u64,
    reports: Vec<Report>,
    bound: Option<Levels>,
}

pub(crate) fn run(arguments: &ReplayArguments) -> Result<(), Failure> {
    let kinds = if arguments.all {
        PolicyKind::ALL.to_vec()
    } else {
        vec![arguments.policy]
    };
    let how = ReplayHow {
        budget: arguments.budget,
        kinds,
        seed: arguments.seed,
        bound: arguments.bound,
    };
    let played = play(&arguments.trace, &how)?;
    if let Some(folder) = &arguments.plot {
        plot::write_all(folder, &played)?;
    }
    if arguments.json {
        return Output::stdout().write(&documents::write(&table::document(&played)));
    }
    Output::stdout().write_report(&table::text(&played))
}

/// The replay of a trace as `tileheap replay --json` writes it.
pub(crate) fn document_of(trace: &Path, how: &ReplayHow) -> Result<Replay, Failure> {
    Ok(table::document(&play(trace, how)?))
}

/// Whether a file begins as traces do.
pub(crate) fn is_trace(path: &Path) -> bool {
    let mut first = [0; MAGIC.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == *MAGIC
}

fn play(path: &Path, how: &ReplayHow) -> Result<Played, Failure> {
    let mut trace = open(path)?;
    let geometry = trace.geometry().clone();
    let mut runs = Vec::new();
    for &kind in &how.kinds {
        let run = Run::new(kind, &geometry, how.budget, how.seed);
        runs.push(run.map_err(|fault| Failure::new(fault.to_string()))?);
    }
    let length = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let progress = Progress::new("replaying", length);
    let mut entries = Vec::new();
    while let Some(entry) = next(&mut trace, path)? {
        for run in &mut runs {
            run.play(entry)?;
        }
        if how.bound {
            entries.push(entry);
        }
        if entry == Entry::EndFrame {
            progress.at(trace.position());
        }
    }
    // Again without the checker's books between requests.
    progress.say("timing");
    for run in &mut runs {
        run.time(open(path)?, path)?;
    }
    Ok(Played {
        trace: path.to_owned(),
        budget: how.budget,
        seed: how.seed,
        reports: runs.into_iter().map(Run::finish).collect(),
        bound: how.bound.then(|| Levels::of(&floor(&entries, how.budget))),
    })
}

/// `tileheap trace`: writes a generated trace.
pub(crate) fn generate(arguments: &TraceArguments) -> Result<(), Failure> {
    let path = &arguments.output;
    let failed = |error: std::io::Error| {
        Failure::new(format!(
            "cannot write `{}`: {error}: give -o another path",
            path.display()
        ))
    };
    let scenario = arguments.scenario;
    let progress = Progress::new("writing", 0);
    let file = BufWriter::new(File::create(path).map_err(failed)?);
    let mut writer = TraceWriter::new(file, &scenario.geometry()).map_err(failed)?;
    let mut written = Ok(());
    scenario.generate(arguments.seed, arguments.frames, |record| {
        if written.is_ok() {
            written = writer.write(record);
        }
    });
    let finished = written.and_then(|()| writer.finish());
    drop(progress);
    finished.map_err(failed)?;
    Ok(())
}

type Trace = TraceReader<BufReader<File>>;

fn open(path: &Path) -> Result<Trace, Failure> {
    let file = File::open(path)
        .map_err(|error| Failure::new(format!("cannot read `{}`: {error}", path.display())))?;
    TraceReader::new(BufReader::with_capacity(1 << 16, file))
        .map_err(|fault| Failure::of(path.display(), fault))
}

fn next(trace: &mut Trace, path: &Path) -> Result<Option<Entry>, Failure> {
    trace
        .next_entry()
        .map_err(|fault| Failure::of(path.display(), fault))
}
