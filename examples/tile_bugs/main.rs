//! A gallery of typical bugs with tile memory, and their effects on the emulator.
//!
//! A small program on plain `ash` paints two pictures into tile memory and shows them together. Each bug is one wrong
//! choice of the program (`bug.rs`); on real hardware most of them go unnoticed at first. Here the damage is visible:
//! lost contents are magenta.
//!
//! ```text
//! cargo run --example tile_bugs                                    lists the bugs
//! cargo run --example tile_bugs -- --bug smaller-object            a picture, target/tile_bugs/smaller-object.png
//! cargo run --example tile_bugs -- --bug smaller-object --fixed    the same program without the bug
//! ```
//! Needs tile memory: the emulator (`crates/emulator/README.md` says how to enable it) on any driver of Vulkan 1.3, such as
//! lavapipe. Without it, it reports an error in one line. On a device's own tile memory the damage may or may not be visible.

// Almost every call of ash is unsafe: one comment covers a run of them.
#![allow(clippy::multiple_unsafe_ops_per_block)]

mod bug;
mod perform;
mod stage;
use tileheap_examples as support;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use tileheap::runtime::{Context, ContextDesc};

use crate::bug::Bug;
use crate::stage::Stage;
use crate::support::error::Result;
use crate::support::program::start;

/// Demonstrates a bug with tile memory.
#[derive(Debug, Parser)]
#[command(name = "tile_bugs")]
struct Args {
    /// The bug to show; lists all bugs if omitted
    #[arg(long)]
    bug: Option<Bug>,
    /// Runs the same program without the bug
    #[arg(long, requires = "bug")]
    fixed: bool,
    /// Output file for the picture [default: target/tile_bugs/BUG.png]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

fn main() -> ExitCode {
    start(run)
}

fn run(args: &Args) -> Result<()> {
    let Some(bug) = args.bug else {
        for bug in Bug::value_variants() {
            println!("{:24} {}", name(*bug), sentence(*bug));
        }
        println!("\nRun a bug with --bug NAME, and the same program without the bug by adding --fixed.");
        return Ok(());
    };
    let (program, file) = if args.fixed {
        (bug.fixed(), format!("{}-fixed.png", name(bug)))
    } else {
        (bug.program(), format!("{}.png", name(bug)))
    };
    let given = args.output.clone();
    let output = given.unwrap_or_else(|| Path::new("target/tile_bugs").join(file));
    let context = Context::new(&ContextDesc::from_env("tileheap: tile_bugs"))?;
    let stage = Stage::new(&context, &program)?;
    perform::perform(&stage, &program)?;
    // SAFETY: the program was waited for.
    let picture = unsafe { stage.finish() };
    let by = context.support().emulator().map(str::to_owned);
    let messages = context.destroy();
    picture.write(&output)?;

    if args.fixed {
        println!("without the bug: {}", sentence(bug));
    } else {
        println!("{}", sentence(bug));
    }
    let texels = || picture.texels.chunks_exact(4);
    let lost = texels().filter(|texel| *texel == POISON).count();
    println!("lost contents: {lost} of {} texels", texels().len());
    for message in &messages {
        println!("message {}: {}", message.id, message.text);
    }
    if !args.fixed {
        println!("remedy: {}", remedy(bug));
    }
    println!(
        "on {}: {}",
        by.as_deref().unwrap_or("the driver's own tile memory"),
        output.display()
    );
    Ok(())
}

/// The emulator's marker for lost contents, as RGBA8: magenta.
const POISON: [u8; 4] = [0xFF, 0x00, 0xFF, 0xFF];

/// The name on the command line.
fn name(bug: Bug) -> String {
    let value = bug.to_possible_value().expect("every bug is listed");
    value.get_name().to_owned()
}

/// The fix for a bug.
fn remedy(bug: Bug) -> &'static str {
    let name = name(bug);
    let of_bug = |line: &'static str| line.strip_prefix(&name)?.strip_prefix(": ");
    let remedies = include_str!("remedies.txt");
    remedies.lines().find_map(of_bug).expect("every bug has a remedy")
}

fn sentence(bug: Bug) -> String {
    let value = bug.to_possible_value().expect("every bug is listed");
    value.get_help().map(ToString::to_string).unwrap_or_default()
}
