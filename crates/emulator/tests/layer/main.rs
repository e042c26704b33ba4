//! The layer through the loader, on a real driver.
//!
//! `rig` is a small Vulkan application whose work can be read back. Tests that change or measure their process run
//! [`alone`].

// Every call of ash is unsafe; a comment states what a group of them relies on.
#![allow(clippy::multiple_unsafe_ops_per_block)]

#[cfg(unix)]
mod android;
mod contents;
mod cpp;
mod cycles;
mod edges;
mod isolation;
mod messages;
mod order;
mod ordinary;
mod passes;
mod queries;
mod rig;
mod rules;
mod settings;
mod shading;
mod third_party;
mod traces;

/// Runs a test, given by its full name, in a separate process.
fn alone(name: &str, test: fn()) {
    const ALONE: &str = "TILEHEAP_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return test();
    }
    let program = std::env::args_os().next().expect("the path of this program");
    let mut command = tileheap_testkit::runnable(program);
    command.args(["--exact", name, "--nocapture"]).env(ALONE, "1");
    let output = command.output().expect("this program runs again");
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name} failed in its own process");
    assert!(text.contains("1 passed"), "{name} did not run: {text}");
}
