//! `tileheap run`.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};
use serde::{Deserialize, Serialize};
use tileheap::runtime::detect::enumerate_devices;
use tileheap_device::profile::{DeviceProfile, PRESETS};

use crate::documents::{self, Document};
use crate::error::{self, Error, NEGATIVE_ANSWER, Result};
use crate::frames::profile;
use crate::input::is_stdin;
use crate::layers::{self, ProgramEnd, absolute, wait};
use crate::output::Output;
use crate::report::messages::{CheckedMemory, Summary};
use crate::values::FailOn;

/// Run a program on emulated tile memory, or check the memory that its resources share
#[derive(Debug, Args)]
#[command(long_about = include_str!("about/run.txt"))]
#[command(after_help = include_str!("help/run.txt"))]
pub(crate) struct Arguments {
    /// The layer to run the program with
    #[arg(long, value_enum, default_value = "emulator")]
    layer: Layer,
    /// The folder of the layer's manifest, or a prefix that scripts/install.sh installed to [default: searched for next to the
    /// command, in a checkout's target folder, and in the folders that the Vulkan loader searches]
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    layers: Option<PathBuf>,
    /// The device to emulate: a name (see `tileheap profile --help`) or a profile as JSON; only with `--layer emulator` [default: adreno-830]
    #[arg(long, value_name = "NAME|FILE", hide_possible_values = true, value_parser = profile::NameOrFile)]
    profile: Option<String>,
    /// Write the messages to a file as JSON, one per line, when the program has ended
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    log: Option<PathBuf>,
    /// The lowest level of messages that makes the command fail
    #[arg(long, value_enum, value_name = "LEVEL", default_value = "error")]
    fail_on: FailOn,
    /// Also report missing dependencies that the specification requires but no known implementation needs
    #[arg(long)]
    pedantic: bool,
    /// Fail immediately if this machine has no Vulkan device
    #[arg(long)]
    require_device: bool,
    /// Write the program's exit status and the message counts to a file, as JSON
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    json: Option<PathBuf>,
    /// Write every bind, discard and submit to a file, which `tileheap report` draws; only with `--layer emulator`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    trace: Option<PathBuf>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_hint = ValueHint::CommandWithArguments)]
    program: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Layer {
    /// VK_LAYER_TILEHEAP_emulator: a strict tile heap on any driver
    Emulator,
    /// VK_LAYER_TILEHEAP_aliasing: checks synchronization and contents of ordinary memory that resources share
    Aliasing,
}

impl Layer {
    fn of_loader(self) -> &'static layers::Layer {
        match self {
            Layer::Emulator => &layers::EMULATOR,
            Layer::Aliasing => &layers::ALIASING,
        }
    }

    fn checked(self) -> CheckedMemory {
        match self {
            Layer::Emulator => CheckedMemory::TileMemory,
            Layer::Aliasing => CheckedMemory::SharedMemory,
        }
    }

    /// The environment variable of a setting.
    fn variable(self, setting: &str) -> String {
        let layer = match self {
            Layer::Emulator => "EMULATOR",
            Layer::Aliasing => "ALIASING",
        };
        format!("VK_TILEHEAP_{layer}_{setting}")
    }
}

/// The value of the emulator's setting for a profile: the name of a preset, or the absolute path of a file.
fn emulated_profile(given: &str) -> Result<String> {
    let path = Path::new(given);
    if is_stdin(path) {
        return Err(Error::usage(
            "--profile -: the emulator reads the profile when the program runs: give a file",
        ));
    }
    if profile::read(given)?.tile.is_none() {
        let has_heap = |name: &&str| DeviceProfile::preset(name).is_ok_and(|profile| profile.tile.is_some());
        let names: Vec<&str> = PRESETS.into_iter().filter(has_heap).collect();
        return Err(Error::usage(format!(
            "--profile {given}: the profile has no tile heap to emulate: choose one of {}, or give a JSON file",
            names.join(", ")
        )));
    }
    match PRESETS.contains(&given) {
        true => Ok(given.to_owned()),
        false => Ok(layers::as_text(&absolute(path)?)?.to_owned()),
    }
}

/// The result of a run: the end of the program, and the reported messages.
#[derive(Serialize, Deserialize)]
struct RunOutcome {
    /// The exit status of this command.
    exit: u8,
    program: ProgramEnd,
    /// Reason that the program was not started; `null` if it was.
    not_started: Option<String>,
    /// Reason that nothing was checked; `null` if something was.
    unchecked: Option<String>,
    #[serde(flatten)]
    summary: Summary,
}

impl Document for RunOutcome {
    const FORMAT: &'static str = "tileheap-run";
    const VERSION: u64 = 2;
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let layer = arguments.layer;
    let of_emulator = [
        ("--profile", arguments.profile.is_some()),
        ("--trace", arguments.trace.is_some()),
    ];
    if let Some((option, _)) = of_emulator
        .iter()
        .find(|(_, is_given)| *is_given && layer != Layer::Emulator)
    {
        let text = format!("{option} needs `--layer emulator`: remove the option, or choose that layer");
        return Err(Error::usage(text));
    }
    let profile = arguments.profile.as_deref().map(emulated_profile).transpose()?;
    let json = &arguments.json;
    let result = supervised(arguments, profile.as_deref());
    let write = |outcome: &RunOutcome| match json {
        Some(_) => Output::to(json.clone()).write(&documents::write(outcome)),
        None => Ok(()),
    };
    let (outcome, messages) = match result {
        Ok(result) => result,
        Err(error) => {
            let (exit, message) = error.status();
            write(&RunOutcome {
                exit,
                program: ProgramEnd::default(),
                not_started: message.map(str::to_owned),
                unchecked: Some("nothing was checked: the program was not started".to_owned()),
                summary: Summary::of("", layer.checked()),
            })?;
            return Err(error);
        }
    };
    error::write_stderr(&text(&outcome, arguments.log.as_deref()));
    // Not in the order of the options: a reader of standard output may close it early.
    let is_printed = json.as_deref().is_some_and(is_stdin);
    if !is_printed {
        write(&outcome)?;
    }
    if let Some(kept) = &arguments.log {
        Output::to(Some(kept.clone())).write_bytes(&messages)?;
    }
    if is_printed {
        write(&outcome)?;
    }
    match outcome.exit {
        0 => Ok(()),
        status => Err(Error::Exit(status)),
    }
}

/// Runs the program under the layer; returns the outcome and the log of messages. The layer writes them to a private file, because another run may write to the same `--log`.
fn supervised(arguments: &Arguments, profile: Option<&str>) -> Result<(RunOutcome, Vec<u8>)> {
    let layer = arguments.layer;
    let folder = layer.of_loader().find(arguments.layers.as_deref())?;
    if arguments.require_device && enumerate_devices().map_or(true, |devices| devices.is_empty()) {
        let none = "this machine has no Vulkan device: install a driver, such as Mesa's lavapipe";
        return Err(Error::negative(none.to_owned()));
    }
    // Errors are reported before the program runs, which may take long.
    if let Some(kept) = arguments.log.as_deref().filter(|kept| !is_stdin(kept)) {
        create(kept)?;
    }
    // A failed run must not leave the trace of an earlier one.
    if let Some(earlier) = arguments.trace.as_deref().filter(|earlier| earlier.is_file()) {
        std::fs::remove_file(earlier)
            .map_err(|error| Error::cannot_write(earlier, &error, "another path"))?;
    }
    let log = absolute(&std::env::temp_dir().join(format!("tileheap-run-{}.jsonl", std::process::id())))?;
    layers::as_text(&log)?;
    create(&log)?;
    let mut command = layer.of_loader().command(&folder, &arguments.program)?;
    command.env(layer.variable("MESSAGE_LOG"), &log);
    command.env(layer.variable("POSSIBLE"), "true");
    if arguments.pedantic {
        command.env(layer.variable("PEDANTIC"), "true");
    }
    if let Some(profile) = profile {
        command.env(layer.variable("PROFILE"), profile);
    }
    if let Some(trace) = &arguments.trace {
        command.env(layer.variable("TRACE"), layers::as_text(&absolute(trace)?)?);
    }
    let ended = wait(&mut command);
    let messages = std::fs::read(&log).unwrap_or_default();
    // If it cannot be removed, it stays among other temporary files.
    let _ = std::fs::remove_file(&log);
    let summary = Summary::of(&String::from_utf8_lossy(&messages), layer.checked());
    Ok((outcome(ended?, summary, arguments.fail_on), messages))
}

/// Creates an empty file.
fn create(file: &Path) -> Result<()> {
    let created = File::create(file).map(|_| ());
    created.map_err(|error| Error::of(format!("cannot write `{}`", file.display()), error))
}

fn outcome(program: ProgramEnd, summary: Summary, fail_on: FailOn) -> RunOutcome {
    let unchecked = summary.unchecked().map(str::to_owned);
    let exit = match program.succeeded() {
        _ if summary.fails(fail_on) => NEGATIVE_ANSWER,
        false => 1,
        true if unchecked.is_some() => NEGATIVE_ANSWER,
        true => 0,
    };
    RunOutcome {
        exit,
        program,
        not_started: None,
        unchecked,
        summary,
    }
}

fn text(outcome: &RunOutcome, log: Option<&Path>) -> String {
    let mut text = outcome.summary.text();
    if let Some(unchecked) = &outcome.unchecked {
        text += &format!("tileheap: {unchecked}\n");
    }
    if !outcome.program.succeeded() {
        text += &format!("tileheap: {}\n", outcome.program.words());
    }
    if let Some(log) = log.filter(|log| !is_stdin(log)) {
        text += &format!("tileheap: all messages are in {}\n", log.display());
    }
    text
}
