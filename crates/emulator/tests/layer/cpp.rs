//! The layer below an independent program in C++: `examples/tile_memory.cpp`, compiled here.

use tileheap_testkit as support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/tile_memory.cpp");

/// The program, compiled once with warnings denied; `None` if there is no compiler or no Vulkan headers, and the test is skipped.
fn program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    let built = PROGRAM.get_or_init(|| {
        let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
        let headers = Command::new(&compiler)
            .args(["-E", "-x", "c++", "-include", "vulkan/vulkan.h", "/dev/null"])
            .output();
        if !headers.is_ok_and(|output| output.status.success()) {
            return None;
        }
        let program =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tile_memory-{}", std::process::id()));
        let warnings = ["-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers"];
        let output = Command::new(&compiler)
            .arg("-std=c++17")
            .args(warnings)
            .args([SOURCE, "-lvulkan", "-o"])
            .arg(&program)
            .output()
            .expect("it ran above");
        assert!(output.status.success(), "{}", text(&output.stderr));
        Some(program)
    });
    if built.is_none() {
        support::skip("there is no C++ compiler with vulkan/vulkan.h: apt-get install g++ libvulkan-dev");
    }
    built.as_deref()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("it prints UTF-8")
}

/// Runs it on the emulator; `None` if the test is skipped.
fn run(profile: &str, arguments: &[&str]) -> Option<Output> {
    let program = program()?;
    let mut command = tileheap_testkit::runnable(program);
    if !support::emulate(&mut command, profile) {
        return None;
    }
    command.args(arguments).env("VK_TILEHEAP_EMULATOR_LOG", "true");
    Some(command.output().expect("it runs"))
}

#[test]
fn a_command_buffer_without_a_binding_reads_poison_and_is_reported() {
    for (arguments, read, is_told) in [
        (&[][..], "0x12345678", false),
        (&["--forget"], "0xffff00ff", true),
    ] {
        let Some(output) = run("generous", arguments) else {
            return;
        };
        let (printed, told) = (text(&output.stdout), text(&output.stderr));
        assert!(is_told || output.status.success(), "{told}{printed}");
        assert!(printed.contains("a tile heap of 16777216 bytes"), "{printed}");
        assert!(
            printed.contains(&format!("read back: {read} … {read}")),
            "{printed}"
        );
        for id in ["TILEHEAP-transfer-unbound", "TILEHEAP-reads-discarded"] {
            assert_eq!(told.contains(id), is_told, "{told}");
        }
    }
}

#[test]
fn a_device_without_tile_buffer_transfers_is_reported_by_name() {
    let Some(output) = run("adreno-830", &[]) else {
        return;
    };
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("VK_TILEHEAP_EMULATOR_PROFILE=generous"));
}
