//! What a program of these does from its first line to its last.

use std::process::ExitCode;

use clap::Parser;
use tileheap::runtime::context::Message;

use super::error::{Error, Result};

/// Reads arguments and runs; what goes wrong is said in one line.
pub fn start<A: Parser>(run: impl FnOnce(&A) -> Result<()>) -> ExitCode {
    let args = match A::try_parse() {
        Ok(args) => args,
        Err(error) if !error.use_stderr() => error.exit(),
        Err(error) => {
            // Its other lines point to --help.
            eprintln!("{}", error.to_string().lines().next().unwrap_or_default());
            return ExitCode::from(2);
        }
    };
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("error: {fault}");
            ExitCode::FAILURE
        }
    }
}

/// What Vulkan had to say.
pub fn report(messages: &[Message]) -> Result<()> {
    for message in messages {
        eprintln!("{:?} {}: {}", message.severity, message.id, message.text);
    }
    match messages.len() {
        0 => Ok(()),
        count => Err(Error::Validation(count)),
    }
}
