//! `tileheap run`.

use std::env;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use clap::{Args, ValueEnum, ValueHint};
use tileheap_device::profile::{DeviceProfile, PRESETS};

use crate::error::{Error, Result};
use crate::report::messages::Summary;
use crate::values::named;

/// Run a program on emulated tile memory, and summarize what the emulator reports
///
/// Sets the environment in which the Vulkan loader finds the layer and enables it, runs the program, and prints each kind of
/// message with its number and the first text to standard error. Other layers in VK_INSTANCE_LAYERS, such as validation, stay
/// above it. VK_TILEHEAP_EMULATOR_… variables set what has no option here.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status: 3 if an error was reported, else the program's own (128 + N if signal N ended it).

Examples:
  tileheap run -- ./game --benchmark
  tileheap run --profile hostile --log messages.jsonl -- ./game
  tileheap run --trace game.trace -- ./game && tileheap report game.trace -o game.html

A message tells what is wrong, then
  at       the command: action commands are counted in each command buffer; and what was bound
  in       the batch and the submit, if it shows only there
  cause    the last write to the bytes, and what made them undefined
  remedy   what would mend it")]
pub(crate) struct Arguments {
    /// The layer
    #[arg(long, value_enum, default_value = "emulator")]
    layer: Layer,
    /// The folder of the layer's library and manifest, if not target/emulator
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

const LAYER: &str = "VK_LAYER_TILEHEAP_emulator";
const MANIFEST: &str = "VkLayer_tileheap_emulator.json";

/// The profiles with a tile heap.
fn emulated() -> impl Iterator<Item = &'static str> {
    let has_heap = |name: &&str| DeviceProfile::preset(name).is_ok_and(|profile| profile.tile.is_some());
    PRESETS.into_iter().filter(has_heap)
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Layer::Emulator = arguments.layer;
    let folder = find_layer(arguments.layer_path.as_deref())?;
    let temporary = || env::temp_dir().join(format!("tileheap-run-{}.jsonl", std::process::id()));
    let log = absolute(&arguments.log.clone().unwrap_or_else(temporary))?;
    File::create(&log).map_err(|error| Error::of(format!("cannot write `{}`", log.display()), error))?;
    let [program, rest @ ..] = &arguments.program[..] else {
        return Err(Error::bad_input("no program: give one behind --"));
    };
    let mut command = Command::new(program);
    command.args(rest);
    // The loader reads VK_ADD_LAYER_PATH only where VK_LAYER_PATH is not set.
    let is_set = env::var_os("VK_LAYER_PATH").is_some_and(|path| !path.is_empty());
    let path = if is_set {
        "VK_LAYER_PATH"
    } else {
        "VK_ADD_LAYER_PATH"
    };
    command
        .env(path, appended(path, folder.as_os_str()))
        .env(
            "VK_INSTANCE_LAYERS",
            appended("VK_INSTANCE_LAYERS", OsStr::new(LAYER)),
        )
        .env("VK_TILEHEAP_EMULATOR_MESSAGE_LOG", &log);
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
    let ended =
        ended.map_err(|error| Error::of(format!("cannot run `{}`", Path::new(program).display()), error))?;
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

/// The folder with the layer's manifest and library.
fn find_layer(given: Option<&Path>) -> Result<PathBuf> {
    let mut folders: Vec<PathBuf> = given.map(Path::to_owned).into_iter().collect();
    if given.is_none() {
        for variable in ["TILEHEAP_EMULATOR", "VK_LAYER_PATH", "VK_ADD_LAYER_PATH"] {
            let paths = env::var_os(variable).unwrap_or_default();
            folders.extend(env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty()));
        }
        // Beside an installed command, and where `stage-emulator.sh` puts it.
        let own = env::current_exe().unwrap_or_default();
        let own = own.parent().unwrap_or(Path::new("."));
        folders.extend([
            own.to_owned(),
            own.join("../emulator"),
            PathBuf::from("target/emulator"),
        ]);
    }
    let library = format!("{DLL_PREFIX}tileheap_emulator{DLL_SUFFIX}");
    let is_there = |folder: &&PathBuf| folder.join(MANIFEST).is_file() && folder.join(&library).is_file();
    if let Some(folder) = folders.iter().find(is_there) {
        return absolute(folder);
    }
    let folders: Vec<_> = folders
        .iter()
        .map(|folder| folder.display().to_string())
        .collect();
    Err(Error::new(format!(
        "no layer {LAYER}: {MANIFEST} and {library} are not both in {}: build them with `bash scripts/stage-emulator.sh`, or \
         give their folder with --layer-path",
        folders.join(", ")
    )))
}

/// A path that holds in any working directory.
fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|error| Error::of(path.display(), error))
}

/// A variable that lists paths or layers, with one more behind the others.
fn appended(variable: &str, last: &OsStr) -> OsString {
    let mut list = env::var_os(variable).unwrap_or_default();
    if env::split_paths(&list).any(|one| one.as_os_str() == last) {
        return list;
    }
    if !list.is_empty() {
        list.push(if cfg!(windows) { ";" } else { ":" });
    }
    list.push(last);
    list
}

/// Runs the program. A terminal sends Ctrl-C to it too: the command only outlives it. What else would end the command is passed on.
#[cfg(unix)]
fn wait(command: &mut Command) -> std::io::Result<ExitStatus> {
    use rustix::process::{Pid, Signal, kill_process};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP])?;
    let handle = signals.handle();
    let mut child = command.spawn()?;
    let program = Pid::from_child(&child);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for signal in signals.forever() {
                let passed = match signal {
                    SIGTERM => Signal::TERM,
                    SIGHUP => Signal::HUP,
                    _ => continue,
                };
                // It may be gone by now.
                let _ = kill_process(program, passed);
            }
        });
        let ended = child.wait();
        handle.close();
        ended
    })
}

#[cfg(not(unix))]
fn wait(command: &mut Command) -> std::io::Result<ExitStatus> {
    command.status()
}

/// The signal that ended a program.
fn signal_of(ended: ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    return std::os::unix::process::ExitStatusExt::signal(&ended);
    #[cfg(not(unix))]
    return ended.code().and(None);
}

/// A program's own status, as shells tell it.
fn status_of(ended: ExitStatus) -> u8 {
    let status = ended.code().or_else(|| Some(128 + signal_of(ended)?));
    status.and_then(|status| u8::try_from(status).ok()).unwrap_or(1)
}
