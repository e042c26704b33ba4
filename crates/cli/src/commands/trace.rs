//! `tileheap trace`.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use tileheap_textures::scenario::Scenario;
use tileheap_textures::trace::TraceWriter;

use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::values::named;

/// Generate a trace of texture requests, from a moving camera or a synthetic pattern
#[derive(Debug, Args)]
#[command(long_about = include_str!("about/trace.txt"))]
#[command(after_help = include_str!("help/trace.txt"))]
pub(crate) struct Arguments {
    /// The camera movement or pattern
    #[arg(value_parser = named(Scenario::ALL, Scenario::name, Some(Scenario::description)))]
    scenario: Scenario,
    /// The number of frames
    #[arg(long, default_value_t = 600)]
    frames: u32,
    /// The seed of the generator
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The file to write
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let path = &arguments.output;
    let failed = |error: std::io::Error| Error::cannot_write(path, &error, "another path with -o");
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
    finished.map(drop).map_err(failed)
}
