//! Code that the tests of this project share. Not published.
#![allow(missing_docs, clippy::missing_errors_doc)] // Only for this project's tests.
#![allow(clippy::macro_metavars_in_unsafe)] // `on_fake` wraps unsafe calls.

#[cfg(all(unix, feature = "objects"))]
pub mod android_loader;
mod cases;
#[cfg(feature = "textures")]
pub mod contest;
pub mod counting;
#[cfg(feature = "objects")]
mod device;
#[cfg(feature = "runtime")]
pub mod fake_driver;
mod folders;
#[cfg(feature = "runtime")]
pub mod frames;
#[cfg(any(feature = "pack", feature = "runtime"))]
pub mod generators;
pub mod glsl;
#[cfg(feature = "runtime")]
pub mod gpu;
#[cfg(feature = "objects")]
pub mod objects;
#[cfg(feature = "runtime")]
pub mod queue_rig;
#[cfg(feature = "runtime")]
pub mod runtime_rig;
mod skips;
#[cfg(feature = "spirv")]
pub mod spirv;
#[cfg(feature = "tensor")]
pub mod tensor;
#[cfg(feature = "runtime")]
mod tile_mistake;
#[cfg(feature = "runtime")]
mod validated_gpu;
#[cfg(feature = "runtime")]
pub mod validation;

use std::path::{Path, PathBuf};
use std::process::Command;

pub use cases::assert_cases;
#[cfg(feature = "objects")]
pub use device::{physical_device, try_physical_device};
pub use folders::{data, workspace};
pub use skips::skip;

/// A file or folder of `../shared`, third-party data next to the checkout; if it does not exist, returns `None` and lists the
/// calling test as skipped. Data that the project may copy is in [`data`].
///
/// A test returns early only on `None`. The skip goes to stderr and, since the harness captures that, to
/// the end of the file named by `TILEHEAP_SKIP_LOG`, which `scripts/test.sh` counts.
///
/// # Panics
/// If the skip log cannot be written.
pub fn shared(path: &str) -> Option<PathBuf> {
    let file = workspace().join("../shared").join(path);
    if file.exists() {
        return Some(file);
    }
    skip(&format!("third-party data is missing: ../shared/{path}"));
    None
}

/// Asserts that an error, or its message, contains all of these texts.
#[track_caller]
pub fn assert_says(said: impl ToString, words: &[&str]) {
    let said = said.to_string();
    let missing = words.iter().find(|word| !said.contains(**word));
    assert!(missing.is_none(), "{said} without {missing:?}");
}

/// The path of a file or folder for one test. Concurrent runs have separate folders, named by `TILEHEAP_TEST_FOLDER`.
///
/// # Panics
/// If the folder cannot be created.
pub fn own_file(name: &str) -> PathBuf {
    let run = std::env::var_os("TILEHEAP_TEST_FOLDER").unwrap_or_default();
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(workspace().join("target"), PathBuf::from);
    let folder = target.join("tmp").join(run);
    std::fs::create_dir_all(&folder).expect("a folder in target");
    folder.join(name)
}

/// A command that runs an example, without arguments: the program that test.sh built (`TILEHEAP_BUILT_EXAMPLES`), or `cargo run`, which rebuilds the
/// libraries, because it enables different features for one package than for the workspace.
pub fn example(name: &str) -> Command {
    built_example(name).map_or_else(|| cargo_run(name), runnable)
}

/// A command that runs a program, with the test bed's libraries if the test run requests them.
pub fn runnable(program: impl AsRef<Path>) -> Command {
    match std::env::var_os("TILEHEAP_RUNNER") {
        None => Command::new(program.as_ref()),
        Some(runner) => {
            let mut command = Command::new(runner);
            command.arg(program.as_ref());
            command
        }
    }
}

/// A command that runs a program of `examples/cpp`, without arguments; if it is not built, returns `None` and lists the calling test as skipped.
pub fn cpp_program(name: &str) -> Option<Command> {
    let folder = workspace().join("target/cpp");
    let folder = std::env::var_os("TILEHEAP_BUILT_CPP").map_or(folder, PathBuf::from);
    let program = folder.join(name);
    if !program.is_file() {
        skip("the C++ programs are not built: bash scripts/build-cpp.sh");
        return None;
    }
    Some(runnable(program))
}

/// Like [`example`], but with this machine's own libraries, even if the test runs with the test bed's.
pub fn example_here(name: &str) -> Command {
    let mut command = built_example(name).map_or_else(|| cargo_run(name), Command::new);
    command
        .env_remove("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER")
        .env_remove("VK_INSTANCE_LAYERS");
    command
}

fn built_example(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("TILEHEAP_BUILT_EXAMPLES")?;
    Some(Path::new(&folder).join(name))
}

fn cargo_run(name: &str) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--package", "tileheap-examples"]);
    command.args(["--example", name, "--"]);
    command
}

/// Adds the tile memory emulator to a command's environment, with one of its profiles; if the emulator is not staged, returns
/// false and lists the calling test as skipped.
pub fn emulate(command: &mut Command, profile: &str) -> bool {
    let folder = workspace().join("target/emulator");
    let folder = std::env::var_os("TILEHEAP_EMULATOR").map_or(folder, PathBuf::from);
    if !folder.join("VkLayer_tileheap_emulator.json").is_file() {
        skip("the emulator is not staged: bash scripts/stage-emulator.sh");
        return false;
    }
    // The first is for the test bed's runner, the others work without it.
    command
        .env("TILEHEAP_EMULATOR", &folder)
        .env("VK_TILEHEAP_EMULATOR_PROFILE", profile)
        .env("VK_TILEHEAP_EMULATOR_REPORT", "all") // Also below validation.
        .env("VK_ADD_LAYER_PATH", folder)
        .env("VK_INSTANCE_LAYERS", "VK_LAYER_TILEHEAP_emulator");
    true
}
