//! Runs programs under the Vulkan layers of this project: finds the layer, sets the environment, waits for the program.
//!
//! A layer `NAME` is described by its manifest, `VkLayer_tileheap_NAME.json`, which names its library relative to itself. The first of
//! these folders with a manifest whose library exists is used:
//!
//! 1. with `--layers FOLDER` only `FOLDER`, `FOLDER/NAME` (`target` of a checkout, an unpacked archive) and
//!    `FOLDER/share/vulkan/explicit_layer.d` (a prefix of `scripts/install.sh`);
//! 2. the folders in `TILEHEAP_NAME`, `VK_LAYER_PATH` and `VK_ADD_LAYER_PATH`;
//! 3. the folder of the executable, and `../NAME` from it: `target/debug` and `target/NAME` of a checkout, `bin` and `NAME` of an archive;
//! 4. `../share/vulkan/explicit_layer.d` from the executable: installed by `scripts/install.sh`, with the libraries in `../lib/tileheap`;
//! 5. `vulkan/explicit_layer.d` in `XDG_CONFIG_HOME`, `XDG_DATA_HOME` and `XDG_DATA_DIRS`, where the Vulkan loader looks.
//!
//! Symbolic links to the executable are followed. The working directory is not searched.

use std::collections::HashSet;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
#[cfg(unix)]
use std::sync::Arc;
#[cfg(unix)]
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(unix)]
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::input::shown;
#[cfg(unix)]
use crate::interrupt;

/// One of this project's Vulkan layers.
pub(crate) struct Layer {
    /// The name that the loader uses.
    name: &'static str,
    /// The suffix of the names of the layer's manifest and library, and the name of its staging folder.
    suffix: &'static str,
    /// The environment variable with the layer's folder.
    variable: &'static str,
}

/// The emulator: a strict tile heap on any driver.
pub(crate) const EMULATOR: Layer = Layer {
    name: "VK_LAYER_TILEHEAP_emulator",
    suffix: "emulator",
    variable: "TILEHEAP_EMULATOR",
};

/// The layer that checks memory shared by resources.
pub(crate) const ALIASING: Layer = Layer {
    name: "VK_LAYER_TILEHEAP_aliasing",
    suffix: "aliasing",
    variable: "TILEHEAP_ALIASING",
};

/// The layer that writes frames of a program as documents.
pub(crate) const CAPTURE: Layer = Layer {
    name: "VK_LAYER_TILEHEAP_capture",
    suffix: "capture",
    variable: "TILEHEAP_CAPTURE",
};

impl Layer {
    /// The folder with the layer's manifest. The module documentation describes the search order.
    ///
    /// # Errors
    /// If no folder has the manifest, or the manifests found name libraries that do not exist: the message lists the searched folders, or these problems.
    pub(crate) fn find(&self, given: Option<&Path>) -> Result<PathBuf> {
        let (name, manifest) = (self.name, self.manifest());
        let folders = given.map_or_else(|| self.default_folders(), |folder| self.folders_below(folder));
        let mut broken = Vec::new();
        for folder in &folders {
            let manifest = folder.join(&manifest);
            if !manifest.is_file() {
                continue;
            }
            match library_of(&manifest) {
                Ok(library) if library.is_file() => return absolute(folder),
                Ok(library) => broken.push(format!(
                    "`{}` names the library `{}`, which does not exist",
                    manifest.display(),
                    library.display()
                )),
                Err(problem) => broken.push(problem),
            }
        }
        let problem = if broken.is_empty() {
            let folders: Vec<_> = folders
                .iter()
                .map(|folder| folder.display().to_string())
                .collect();
            format!("{manifest} is in none of these folders: {}", folders.join(", "))
        } else {
            broken.join("; ")
        };
        Err(Error::new(format!(
            "cannot find the layer {name}: {problem}: install it with `bash scripts/install.sh`, run `bin/tileheap` of an \
             unpacked package in place (a symbolic link to the command works), or name the folder of the layer with --layers"
        )))
    }

    /// The folders searched for `--layers FOLDER`.
    fn folders_below(&self, folder: &Path) -> Vec<PathBuf> {
        vec![
            folder.to_owned(),
            folder.join(self.suffix),
            folder.join("share").join(EXPLICIT_LAYERS),
        ]
    }

    /// The folders searched without `--layers`.
    fn default_folders(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        for variable in [self.variable, "VK_LAYER_PATH", "VK_ADD_LAYER_PATH"] {
            folders.extend(paths_in(variable, OsString::new()));
        }
        let executable = env::current_exe().and_then(|path| path.canonicalize());
        if let Some(own) = executable.as_deref().ok().and_then(Path::parent) {
            folders.push(own.to_owned());
            if let Some(above) = own.parent() {
                folders.push(above.join(self.suffix));
                folders.push(above.join("share").join(EXPLICIT_LAYERS));
            }
        }
        let home = env::var_os("HOME").filter(|home| !home.is_empty());
        let of_home = |folder: &str| {
            let home = home.as_ref().map(|home| Path::new(home).join(folder));
            home.unwrap_or_default().into_os_string()
        };
        for (variable, default) in [
            ("XDG_CONFIG_HOME", of_home(".config")),
            ("XDG_DATA_HOME", of_home(".local/share")),
            ("XDG_DATA_DIRS", "/usr/local/share:/usr/share".into()),
        ] {
            folders.extend(paths_in(variable, default).map(|folder| folder.join(EXPLICIT_LAYERS)));
        }
        let mut seen = HashSet::new();
        folders.retain(|folder| seen.insert(folder.clone()));
        folders
    }

    /// Builds a command that runs a program with the layer in `folder`, below the layers that the environment names.
    pub(crate) fn command(&self, folder: &Path, program: &[OsString]) -> Result<Command> {
        let [program, rest @ ..] = program else {
            return Err(Error::usage("no program given: name it after --"));
        };
        // The loader reads VK_ADD_LAYER_PATH only if VK_LAYER_PATH is not set.
        let is_set = env::var_os("VK_LAYER_PATH").is_some_and(|path| !path.is_empty());
        let path = if is_set {
            "VK_LAYER_PATH"
        } else {
            "VK_ADD_LAYER_PATH"
        };
        let mut command = Command::new(program);
        command.args(rest).env(path, self.path_with(path, folder)?);
        command.env("VK_INSTANCE_LAYERS", appended("VK_INSTANCE_LAYERS", self.name));
        Ok(command)
    }

    /// The folders that a variable lists, with `folder` before the first one that has a manifest of this layer, because the loader uses the first. If none has
    /// one, `folder` is last, because Debian 12's loader (1.3.239) orders layers by their folders, and the validation layer belongs above this one.
    fn path_with(&self, variable: &str, folder: &Path) -> Result<OsString> {
        let mut folders: Vec<_> = paths_in(variable, OsString::new()).collect();
        let manifest = self.manifest();
        let first = folders.iter().position(|one| one.join(&manifest).is_file());
        let place = first.unwrap_or(folders.len());
        if folders.get(place).is_none_or(|one| one != folder) {
            folders.insert(place, folder.to_owned());
        }
        env::join_paths(folders).map_err(|error| Error::of(shown(folder), error))
    }

    fn manifest(&self) -> String {
        format!("VkLayer_tileheap_{}.json", self.suffix)
    }
}

/// The folder in which the Vulkan loader looks for explicit layers, relative to a data or configuration directory such as `XDG_DATA_HOME`.
const EXPLICIT_LAYERS: &str = "vulkan/explicit_layer.d";

/// The paths that a variable lists; those in `default` if it is unset or empty.
fn paths_in(variable: &str, default: OsString) -> impl Iterator<Item = PathBuf> {
    let list = env::var_os(variable).filter(|list| !list.is_empty());
    let paths: Vec<_> = env::split_paths(&list.unwrap_or(default)).collect();
    paths.into_iter().filter(|path| !path.as_os_str().is_empty())
}

/// The library that a manifest names, relative to the manifest unless absolute; or an error about the manifest.
fn library_of(manifest: &Path) -> Result<PathBuf, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", shown(manifest));
    let text = std::fs::read_to_string(manifest).map_err(|error| wrong(&error))?;
    let document: serde_json::Value = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
    let library = document
        .pointer("/layer/library_path")
        .and_then(|path| path.as_str());
    let library =
        Path::new(library.ok_or_else(|| wrong(&"the manifest names no library (layer.library_path)"))?);
    let library = library.strip_prefix(".").unwrap_or(library);
    Ok(manifest.parent().unwrap_or(Path::new("")).join(library))
}

/// Makes a path absolute, so that it is valid in any working directory.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|error| Error::of(path.display(), error))
}

/// The text of a path that a layer reads from its settings, which are UTF-8.
pub(crate) fn as_text(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| {
        Error::new(format!(
            "the path `{}` is not UTF-8: choose another one",
            path.display()
        ))
    })
}

/// The value of a variable that lists layers, with `last` appended unless the list contains it.
fn appended(variable: &str, last: &str) -> OsString {
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

/// How a program ended: the exit status, or the signal that ended it; the other is `null`, and both are if the program was not started.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ProgramEnd {
    pub(crate) status: Option<i32>,
    pub(crate) signal: Option<i32>,
}

impl ProgramEnd {
    pub(crate) fn succeeded(self) -> bool {
        self.status == Some(0)
    }

    /// A clause: `signal 11 (SIGSEGV) ended the program`.
    pub(crate) fn words(self) -> String {
        match (self.signal, self.status) {
            (Some(signal), _) => format!("signal {signal}{} ended the program", signal_name(signal)),
            (None, Some(status)) if status != 0 => format!("the program failed with status {status}"),
            (None, _) => "the program ended with status 0".to_owned(),
        }
    }
}

/// The name of a signal in parentheses; empty if it has none.
fn signal_name(signal: i32) -> String {
    #[cfg(unix)]
    let name = signal_hook::low_level::signal_name(signal);
    #[cfg(not(unix))]
    let name: Option<&str> = signal.checked_abs().and(None);
    name.map_or_else(String::new, |name| format!(" ({name})"))
}

/// The time after which an interrupt is passed on to a program that is still running: it may have been sent to both, as a terminal does.
#[cfg(unix)]
const INTERRUPT_DELAY: Duration = Duration::from_secs(2);

/// Runs the program. Passes on SIGTERM and SIGHUP; SIGINT and SIGQUIT only if no terminal sends them to the program too, and it does not end after them.
pub(crate) fn wait(command: &mut Command) -> Result<ProgramEnd> {
    let program = Path::new(command.get_program()).display().to_string();
    run_to_its_end(command).map_err(|error| Error::of(format!("cannot run `{program}`"), error))
}

#[cfg(unix)]
fn run_to_its_end(command: &mut Command) -> std::io::Result<ProgramEnd> {
    use std::os::unix::process::ExitStatusExt;

    use std::sync::mpsc::{self, RecvTimeoutError};
    use std::time::Instant;

    use rustix::process::{Pid, Signal, kill_process};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

    // Handlers stay registered. Once the program has ended, these signals end the command again, as does Ctrl-C outside of a search.
    let has_ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGQUIT, SIGTERM, SIGHUP] {
        signal_hook::flag::register_conditional_default(signal, has_ended.clone())?;
    }
    let ends_command = interrupt::ends_command();
    ends_command.store(false, Ordering::Relaxed);
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP])?;
    let handle = signals.handle();
    let mut child = command.spawn()?;
    let program = Pid::from_child(&child);
    // The program may have ended already.
    let pass_on = |signal| _ = kill_process(program, signal);
    let ended = std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        scope.spawn(move || {
            let mut received = signals.forever();
            received.all(|signal| sender.send(signal).is_ok())
        });
        scope.spawn(move || {
            let mut delayed: Option<(Instant, Signal)> = None;
            loop {
                let wait = delayed.map_or(Duration::MAX, |(due, _)| {
                    due.saturating_duration_since(Instant::now())
                });
                match receiver.recv_timeout(wait) {
                    Ok(SIGTERM) => pass_on(Signal::TERM),
                    Ok(SIGHUP) => pass_on(Signal::HUP),
                    Ok(signal) => {
                        let signal = match signal {
                            SIGINT => Signal::INT,
                            _ => Signal::QUIT,
                        };
                        ends_command.store(false, Ordering::Relaxed);
                        if !is_in_foreground() {
                            delayed = Some((Instant::now() + INTERRUPT_DELAY, signal));
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {
                        if let Some((_, signal)) = delayed.take() {
                            pass_on(signal);
                        }
                    }
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
        });
        let ended = child.wait();
        handle.close();
        ended
    });
    has_ended.store(true, Ordering::Relaxed);
    ends_command.store(true, Ordering::Relaxed);
    interrupt::forget();
    ended.map(|ended| ProgramEnd {
        status: ended.code(),
        signal: ended.signal(),
    })
}

/// Returns true if a terminal sends Ctrl-C to the process group of the command, to which the program belongs.
#[cfg(unix)]
fn is_in_foreground() -> bool {
    let terminal = std::fs::File::open("/dev/tty");
    let foreground = terminal.ok().and_then(|it| rustix::termios::tcgetpgrp(it).ok());
    foreground == Some(rustix::process::getpgrp())
}

#[cfg(not(unix))]
fn run_to_its_end(command: &mut Command) -> std::io::Result<ProgramEnd> {
    let ended = command.status()?;
    Ok(ProgramEnd {
        status: ended.code(),
        signal: None,
    })
}
