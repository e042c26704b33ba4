//! `tileheap replay` and `tileheap trace`: texture caches on traces.

mod plot;
mod run;
mod table;

use std::fs::File;
use std::io::{BufReader, BufWriter, IsTerminal, Write};
use std::path::Path;

use tileheap::cache::replay::Levels;
use tileheap::cache::trace::{Entry, TraceReader, TraceWriter};
use tileheap::cache::{PolicyKind, floor};

use crate::arguments::{ReplayArguments, TraceArguments};
use crate::failure::Failure;
use crate::output::Output;
use run::Run;

pub(crate) fn run(arguments: &ReplayArguments) -> Result<(), Failure> {
    let kinds: Vec<PolicyKind> = if arguments.all {
        PolicyKind::ALL.to_vec()
    } else {
        vec![arguments.policy]
    };
    let mut trace = open(&arguments.trace)?;
    let geometry = trace.geometry().clone();
    let mut runs = Vec::new();
    for kind in kinds {
        let plotted = arguments.plot.is_some();
        let run = Run::new(kind, &geometry, arguments.budget, arguments.seed, plotted);
        runs.push(run.map_err(|fault| Failure::new(fault.to_string()))?);
    }
    let mut progress = Progress::new(&arguments.trace);
    let mut entries = Vec::new();
    while let Some(entry) = next(&mut trace, &arguments.trace)? {
        for run in &mut runs {
            run.play(entry)?;
        }
        if arguments.bound {
            entries.push(entry);
        }
        if entry == Entry::EndFrame {
            progress.at(trace.position());
        }
    }
    progress.done();
    // Again without the checker's books between requests.
    for run in &mut runs {
        run.time(open(&arguments.trace)?, &arguments.trace)?;
    }
    let bound = arguments
        .bound
        .then(|| Levels::of(&floor(&entries, arguments.budget)));
    let reports: Vec<_> = runs.into_iter().map(Run::finish).collect();
    if let Some(folder) = &arguments.plot {
        plot::write_all(folder, &arguments.trace, arguments.budget, &reports)?;
    }
    if arguments.json {
        return Output::stdout().write(&table::json(arguments, &reports, bound));
    }
    Output::stdout().write_report(&table::text(arguments, &reports, bound))
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
    let file = BufWriter::new(File::create(path).map_err(failed)?);
    let mut writer = TraceWriter::new(file, &scenario.geometry()).map_err(failed)?;
    let mut written = Ok(());
    scenario.generate(arguments.seed, arguments.frames, |record| {
        if written.is_ok() {
            written = writer.write(record);
        }
    });
    written.and_then(|()| writer.finish()).map_err(failed)?;
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

/// How far a replay is, on a terminal.
struct Progress {
    length: u64,
    percent: u64,
    shown: bool,
}

impl Progress {
    fn new(path: &Path) -> Progress {
        Progress {
            length: std::fs::metadata(path).map_or(0, |metadata| metadata.len()),
            percent: 0,
            shown: std::io::stderr().is_terminal(),
        }
    }

    fn at(&mut self, position: u64) {
        let percent = position * 100 / self.length.max(1);
        if self.shown && percent != self.percent {
            self.percent = percent;
            // Nobody is told if standard error is gone.
            let _ = write!(std::io::stderr(), "\r{percent:3} %");
        }
    }

    fn done(&self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r     \r");
        }
    }
}
