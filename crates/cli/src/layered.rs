//! Programs below one of the project's Vulkan layers: the layer is found, the environment set, the program run and waited for.

use std::env;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use crate::error::{Error, Result};

/// A layer of this project.
pub(crate) struct Layer {
    /// As the loader knows it.
    name: &'static str,
    /// Last part of the names of its manifest and its library, and of the folder that it is staged in.
    short: &'static str,
    /// Names the folder that it is in.
    variable: &'static str,
}

/// A strict tile heap on any driver.
pub(crate) const EMULATOR: Layer = Layer {
    name: "VK_LAYER_TILEHEAP_emulator",
    short: "emulator",
    variable: "TILEHEAP_EMULATOR",
};

/// Checks memory that resources share.
pub(crate) const ALIASING: Layer = Layer {
    name: "VK_LAYER_TILEHEAP_aliasing",
    short: "aliasing",
    variable: "TILEHEAP_ALIASING",
};

/// Writes frames of a program as documents.
pub(crate) const CAPTURE: Layer = Layer {
    name: "VK_LAYER_TILEHEAP_capture",
    short: "capture",
    variable: "TILEHEAP_CAPTURE",
};

impl Layer {
    /// The folder with the layer's manifest and library.
    pub(crate) fn find(&self, given: Option<&Path>) -> Result<PathBuf> {
        let Layer { name, short, .. } = self;
        let mut folders: Vec<PathBuf> = given.map(Path::to_owned).into_iter().collect();
        if given.is_none() {
            for variable in [self.variable, "VK_LAYER_PATH", "VK_ADD_LAYER_PATH"] {
                let paths = env::var_os(variable).unwrap_or_default();
                folders.extend(env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty()));
            }
            // Beside an installed command, and where its script stages it.
            let own = env::current_exe().unwrap_or_default();
            let own = own.parent().unwrap_or(Path::new("."));
            folders.extend([
                own.to_owned(),
                own.join("..").join(short),
                Path::new("target").join(short),
            ]);
        }
        let manifest = format!("VkLayer_tileheap_{short}.json");
        let library = format!("{DLL_PREFIX}tileheap_{short}{DLL_SUFFIX}");
        let is_there =
            |folder: &&PathBuf| folder.join(&manifest).is_file() && folder.join(&library).is_file();
        if let Some(folder) = folders.iter().find(is_there) {
            return absolute(folder);
        }
        let folders: Vec<_> = folders
            .iter()
            .map(|folder| folder.display().to_string())
            .collect();
        Err(Error::new(format!(
            "no layer {name}: {manifest} and {library} are not both in {}: build them with `bash scripts/stage-{short}.sh`, or \
             give their folder with --layer-path",
            folders.join(", ")
        )))
    }

    /// A program that the loader runs with the layer in `folder`, below the layers that the environment names.
    pub(crate) fn command(&self, folder: &Path, program: &[OsString]) -> Result<Command> {
        let [program, rest @ ..] = program else {
            return Err(Error::bad_input("no program: give one behind --"));
        };
        // The loader reads VK_ADD_LAYER_PATH only where VK_LAYER_PATH is not set.
        let is_set = env::var_os("VK_LAYER_PATH").is_some_and(|path| !path.is_empty());
        let path = if is_set {
            "VK_LAYER_PATH"
        } else {
            "VK_ADD_LAYER_PATH"
        };
        let mut command = Command::new(program);
        command
            .args(rest)
            .env(path, appended(path, folder.as_os_str()))
            .env(
                "VK_INSTANCE_LAYERS",
                appended("VK_INSTANCE_LAYERS", OsStr::new(self.name)),
            );
        Ok(command)
    }
}

/// A path that holds in any working directory.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf> {
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
pub(crate) fn wait(command: &mut Command) -> Result<ExitStatus> {
    let program = Path::new(command.get_program()).display().to_string();
    run_to_its_end(command).map_err(|error| Error::of(format!("cannot run `{program}`"), error))
}

#[cfg(unix)]
fn run_to_its_end(command: &mut Command) -> std::io::Result<ExitStatus> {
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
fn run_to_its_end(command: &mut Command) -> std::io::Result<ExitStatus> {
    command.status()
}

pub(crate) fn signal_of(ended: ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    return std::os::unix::process::ExitStatusExt::signal(&ended);
    #[cfg(not(unix))]
    return ended.code().and(None);
}

/// A program's own status, as shells tell it.
pub(crate) fn status_of(ended: ExitStatus) -> u8 {
    let status = ended.code().or_else(|| Some(128 + signal_of(ended)?));
    status.and_then(|status| u8::try_from(status).ok()).unwrap_or(1)
}
