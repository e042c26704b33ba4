//! The main function of the examples.

use std::process::ExitCode;

use clap::Parser;
use tileheap::runtime::context::{DeviceSelection, ValidationMessage};
use tileheap::runtime::{Context, ContextDesc};

use super::error::{Result, bail};

/// Parses the arguments and calls `run`; reports an error on one line.
pub fn start<A: Parser>(run: impl FnOnce(&A) -> Result<()>) -> ExitCode {
    let args = match A::try_parse() {
        Ok(args) => args,
        Err(error) if !error.use_stderr() => error.exit(),
        Err(error) => {
            // The other lines point to --help.
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

/// The parameters of the Vulkan context, from the environment and the arguments.
pub fn context_desc(name: &'static str, device: Option<&str>, validate: bool) -> ContextDesc<'static> {
    let mut desc = ContextDesc::from_env(name);
    desc.validate |= validate;
    if let Some(device) = device {
        desc.device = DeviceSelection::parse(device);
    }
    desc
}

/// Calls `run` with a new context, which is destroyed afterwards; returns Vulkan's messages.
pub fn with_context(
    desc: &ContextDesc<'_>,
    run: impl FnOnce(&Context) -> Result<()>,
) -> Result<Vec<ValidationMessage>> {
    let context = Context::new(desc)?;
    if let Err(fault) = run(&context) {
        // Nothing is destroyed: the process ends, which frees everything.
        let _ = report(&context.messages());
        return Err(fault);
    }
    Ok(context.destroy())
}

/// Prints Vulkan's messages, and fails if there are any.
pub fn report(messages: &[ValidationMessage]) -> Result<()> {
    for message in messages {
        eprintln!("{:?} {}: {}", message.severity, message.id, message.text);
    }
    match messages.len() {
        0 => Ok(()),
        1 => bail!("Vulkan's validation reported 1 message, printed above"),
        count => bail!("Vulkan's validation reported {count} messages, printed above"),
    }
}
