//! `tileheap run`.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use tileheap_device::profile::{DeviceProfile, PRESETS};

use crate::error::{Error, Result};
use crate::layered::{EMULATOR, absolute, signal_of, status_of, wait};
use crate::report::messages::Summary;
use crate::values::named;

/// Run a program on emulated tile memory, and summarize what the emulator reports
#[derive(Debug, Args)]
#[command(long_about = include_str!("about/run.txt"))]
#[command(after_help = include_str!("help/run.txt"))]
pub(crate) struct Arguments {
    /// The layer
    #[arg(long, value_enum, default_value = "emulator")]
    layer: Layer,
    /// The folder of the layer's library and manifest; by default beside the command, or target/emulator
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    layer_path: Option<PathBuf>,
    /// The device to emulate
    #[arg(long, value_name = "NAME", value_parser = named(emulated(), |name| name, None))]
    profile: Option<&'static str>,
    /// Write the messages to a file: JSON, one message a line
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    log: Option<PathBuf>,
    /// Write every bind, discard and submit to a file, which `tileheap report` draws
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    trace: Option<PathBuf>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_hint = ValueHint::CommandWithArguments)]
    program: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Layer {
    /// VK_LAYER_TILEHEAP_emulator: a strict tile heap on any driver
    Emulator,
}

fn emulated() -> impl Iterator<Item = &'static str> {
    let has_heap = |name: &&str| DeviceProfile::preset(name).is_ok_and(|profile| profile.tile.is_some());
    PRESETS.into_iter().filter(has_heap)
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Layer::Emulator = arguments.layer;
    let folder = EMULATOR.find(arguments.layer_path.as_deref())?;
    let temporary = || std::env::temp_dir().join(format!("tileheap-run-{}.jsonl", std::process::id()));
    let log = absolute(&arguments.log.clone().unwrap_or_else(temporary))?;
    File::create(&log).map_err(|error| Error::of(format!("cannot write `{}`", log.display()), error))?;
    let mut command = EMULATOR.command(&folder, &arguments.program)?;
    command.env("VK_TILEHEAP_EMULATOR_MESSAGE_LOG", &log);
    if let Some(profile) = arguments.profile {
        command.env("VK_TILEHEAP_EMULATOR_PROFILE", profile);
    }
    if let Some(trace) = &arguments.trace {
        command.env("VK_TILEHEAP_EMULATOR_TRACE", absolute(trace)?);
    }
    let ended = wait(&mut command);
    let summary = Summary::of(&std::fs::read_to_string(&log).unwrap_or_default());
    if arguments.log.is_none() {
        // Where it cannot be removed, it stays among other temporary files.
        let _ = std::fs::remove_file(&log);
    }
    let ended = ended?;
    let mut text = summary.text();
    if let Some(signal) = signal_of(ended) {
        text += &format!("tileheap: signal {signal} ended the program\n");
    }
    if let Some(log) = &arguments.log {
        text += &format!("tileheap: all messages are in {}\n", log.display());
    }
    // There is no other place to report a closed standard error.
    let _ = std::io::stderr().write_all(text.as_bytes());
    match status_of(ended) {
        _ if summary.errors > 0 => Err(Error::Exit(3)),
        0 => Ok(()),
        status => Err(Error::Exit(status)),
    }
}
