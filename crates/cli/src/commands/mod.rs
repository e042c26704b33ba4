//! The command line: a module for each subcommand, with its options and implementation.

mod advise;
mod capture;
mod check;
mod check_frame;
mod device;
mod diff;
mod gate;
mod judge;
mod pack;
mod plan;
mod profile;
mod replay;
mod report;
mod run;
mod tensors;
mod trace;

use clap::{CommandFactory, Parser, Subcommand};

use crate::error::Result;
use crate::output::Output;

/// Plans tile memory for the transient images and buffers of a renderer.
///
/// Tile memory (VK_QCOM_tile_memory_heap) is fast on-chip GPU memory that a frame's resources can occupy for part of the
/// frame. tileheap decides which of them do, and places the others in ordinary memory.
#[derive(Debug, Parser)]
#[command(
    name = "tileheap",
    version,
    arg_required_else_help = true,
    max_term_width = 110
)]
#[command(after_help = include_str!("help/overview.txt"))]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

impl CommandLine {
    /// Runs the subcommand.
    pub(crate) fn run(self) -> Result<()> {
        self.command.run()
    }
}

/// The subcommands, in the order in which help lists them: each a module with `Arguments` and `run`.
macro_rules! subcommands {
    ($($name:ident($module:ident)),*) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($name($module::Arguments),)*
            /// Print a completion script for a shell
            ///
            /// Completes subcommands, options and the names that options take.
            #[command(after_help = include_str!("help/completions.txt"))]
            Completions {
                /// The shell
                shell: clap_complete::Shell,
            },
        }

        impl Command {
            fn run(self) -> Result<()> {
                match self {
                    $(Command::$name(arguments) => $module::run(&arguments),)*
                    Command::Completions { shell } => completions(shell),
                }
            }
        }
    };
}

subcommands!(
    Device(device),
    Plan(plan),
    Advise(advise),
    Diff(diff),
    Gate(gate),
    Report(report),
    Check(check),
    Profile(profile),
    Pack(pack),
    Tensors(tensors),
    Judge(judge),
    Replay(replay),
    Trace(trace),
    Run(run),
    Capture(capture),
    CheckFrame(check_frame)
);

fn completions(shell: clap_complete::Shell) -> Result<()> {
    // Into memory first: the generator panics if a pipe is closed.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "tileheap", &mut script);
    Output::stdout().write(&String::from_utf8_lossy(&script))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        CommandLine::command().debug_assert();
    }
}
