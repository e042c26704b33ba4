//! `examples/deferred` as its users meet it: a process, its pictures, its exit status.
#![cfg(all(feature = "runtime", feature = "shaders"))]

mod support;

use std::path::PathBuf;
use std::process::{Command, Output};

use support::example;

/// A file of a test in Cargo's folder for such.
fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn run(command: &mut Command) -> (Output, String, String) {
    let output = command.output().expect("cargo runs");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, out, err)
}

/// Asserts that the example failed with one line that says `cause`, and did not panic.
fn assert_refused(command: &mut Command, cause: &str) {
    let (output, _, err) = run(command);
    // Cargo adds a paragraph of its own where the example was ended by a signal only.
    assert!(
        output.status.code().is_some_and(|code| code != 0 && code != 101),
        "{}: {err}",
        output.status
    );
    assert!(err.lines().count() == 1 && err.contains(cause), "{err}");
}

/// Pictures with and without aliasing are the same, at a size that no tile, block or alignment divides.
#[test]
fn aliasing_changes_no_texel() {
    let picture = scratch("odd.png");
    let (output, out, err) = run(example("deferred")
        .args(["--compare", "--frames", "3", "--size", "333x187", "--output"])
        .arg(&picture));
    assert!(output.status.success(), "{err}");
    assert!(out.contains("identical: 62271 texels"), "{out}");
    let png = std::fs::read(&picture).expect("a picture");
    assert!(
        png.starts_with(b"\x89PNG") && png.len() > 10_000,
        "{} bytes",
        png.len()
    );
}

#[test]
fn without_a_driver_one_line_says_what_to_do() {
    let command = &mut example("deferred");
    assert_refused(command.env("VK_DRIVER_FILES", "/dev/null"), "no Vulkan device");
}

/// An empty file in front of the real library hides it.
#[test]
fn without_a_loader_one_line_says_what_to_do() {
    let folder = scratch("no loader");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("libvulkan.so.1"), "").expect("an empty file");
    let mut command = example("deferred");
    // The test bed's libraries come before any others.
    command
        .env_remove("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER")
        .env_remove("VK_INSTANCE_LAYERS");
    assert_refused(command.env("LD_LIBRARY_PATH", &folder), "no Vulkan loader");
}

#[test]
fn a_picture_without_texels_is_refused() {
    assert_refused(example("deferred").args(["--size", "0x180"]), "at least 1 pixel");
}
