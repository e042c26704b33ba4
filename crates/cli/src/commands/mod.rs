//! The command line: a module for each subcommand, with its options and what it does.

mod advise;
mod check;
mod device;
mod diff;
mod gate;
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

/// Plans which of a renderer's transient images and buffers stay on chip.
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
#[command(after_help = "\
Examples:
  tileheap device                                what this machine offers
  tileheap plan frame.json                       plan a frame for an Adreno 830
  tileheap plan frame.json --heap 18MiB          … with a larger tile heap
  tileheap plan frame.json --json -o plan.json   … as JSON
  tileheap advise frame.json                     changes that would keep more of it on chip
  tileheap report frame.json -o report.html      the plan as an HTML page
  tileheap check frame.json plan.json            validate a plan
  tileheap pack buffers.csv                      pack lifetimes and sizes into the smallest block
  tileheap tensors network.jsonl --compare       memory of a network's tensors, by strategy
  tileheap trace strafe -o strafe.trace          generate texture requests of a moving camera
  tileheap report strafe.trace --cache 2MiB -o cache.html   … and compare the cache policies on them
  tileheap run -- ./game                         run a program on emulated tile memory

Exit status: 0 success; 1 failure; 2 invalid command line or table;
3 no answer within the budget, or errors reported under `tileheap run`.")]
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
            #[command(after_help = "\
Examples:
  tileheap completions bash > ~/.local/share/bash-completion/completions/tileheap
  tileheap completions zsh > ~/.zfunc/_tileheap          with fpath+=~/.zfunc in ~/.zshrc, before compinit
  tileheap completions fish > ~/.config/fish/completions/tileheap.fish
  tileheap completions powershell >> $PROFILE")]
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
    Replay(replay),
    Trace(trace),
    Run(run)
);

fn completions(shell: clap_complete::Shell) -> Result<()> {
    // Into memory first: the generator panics where a pipe is closed.
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
