//! A gallery of ways in which render graphs corrupt transient memory, which resources share because their lifetimes do not
//! overlap. Unlike a typical tileheap program, it uses plain `ash` and places resources by hand.
//!
//! Each program paints a picture, with or without one bug in placement or synchronization. Validation layers accept both
//! versions. The damage depends on the device: lost contents are visible on most, missing synchronization on few.
//!
//! ```text
//! cargo run --example alias_bugs                                    lists the bugs
//! cargo run --example alias_bugs -- --bug short-lifetime            a picture, target/alias_bugs/short-lifetime.png
//! cargo run --example alias_bugs -- --bug short-lifetime --fixed    the same program without the bug
//! ```
//! Needs Vulkan 1.3.

// Almost every call of ash is unsafe: one comment covers a run of them.
#![allow(clippy::multiple_unsafe_ops_per_block)]

mod block;
mod bug;
mod contents;
mod gpu;
mod old_pass;
mod order;
mod recording;
mod stage;
use tileheap_examples as support;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

use crate::bug::Bug;
use crate::gpu::Gpu;
use crate::stage::Stage;
use crate::support::error::Result;
use crate::support::program::start;

/// Demonstrates bugs in programs whose resources share memory
#[derive(Debug, Parser)]
#[command(name = "alias_bugs")]
struct Args {
    /// The bug to show; lists all bugs if omitted
    #[arg(long)]
    bug: Option<Bug>,
    /// Run the same program without the bug
    #[arg(long, requires = "bug")]
    fixed: bool,
    /// Write the picture to this file [default: target/alias_bugs/BUG.png]
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
    let file = format!("{}{}.png", name(bug), if args.fixed { "-fixed" } else { "" });
    let given = args.output.clone();
    let output = given.unwrap_or_else(|| Path::new("target/alias_bugs").join(file));
    let gpu = Gpu::new()?;
    let stage = Stage::new(&gpu, !args.fixed)?;
    contents::first_frame(&stage)?;
    bug.run(&stage)?;
    // SAFETY: the program was waited for.
    let picture = unsafe { stage.finish() };
    picture.write(&output)?;

    if args.fixed {
        println!("without the bug: {}", sentence(bug));
    } else {
        println!("{}", sentence(bug));
        println!("remedy: {}", remedy(bug));
    }
    println!("on {}: {}", gpu.name, output.display());
    Ok(())
}

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
