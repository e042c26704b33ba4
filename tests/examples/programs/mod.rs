//! Tests of the examples as programs: their pictures, output and files, and their errors.

mod alias_bugs;
mod by_hand;
mod calibrate;
mod demo;
mod forward;
mod network;
mod output;
mod terrain;
mod tile_bugs;
mod window;

/// Returns true if this run, validated or in emulated tile memory, repeats a part of the run on this machine's driver.
fn is_repeated() -> bool {
    is_emulated() || is_set("TILEHEAP_VALIDATION_LOG")
}

/// Returns true if all programs have emulated tile memory.
fn is_emulated() -> bool {
    is_set("VK_TILEHEAP_EMULATOR_PROFILE")
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}
