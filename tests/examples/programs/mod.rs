//! The examples as programs: what they render, print and write, and how they fail.

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

/// Whether the run on this machine's driver shows all of it, and this one, validated or in emulated tile memory, less of it again.
fn is_repeated() -> bool {
    is_emulated() || is_set("TILEHEAP_VALIDATION_LOG")
}

/// Whether all programs have emulated tile memory.
fn is_emulated() -> bool {
    is_set("VK_TILEHEAP_EMULATOR_PROFILE")
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}
