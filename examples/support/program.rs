//! What a program of these does from its first line to its last.

use std::process::ExitCode;

use clap::Parser;
use tileheap::runtime::context::{DeviceChoice, Message};
use tileheap::runtime::{Context, ContextDesc};

use super::error::{Result, bail};

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

/// How a program's Vulkan is chosen, by the environment and by its arguments.
pub fn context_desc(name: &'static str, device: Option<&str>, validate: bool) -> ContextDesc<'static> {
    let mut desc = ContextDesc::from_env(name);
    desc.validate |= validate;
    if let Some(device) = device {
        desc.device = DeviceChoice::parse(device);
    }
    desc
}

/// Runs with a context, which goes last; what Vulkan had to say.
pub fn with_context(
    desc: &ContextDesc<'_>,
    run: impl FnOnce(&Context) -> Result<()>,
) -> Result<Vec<Message>> {
    let context = Context::new(desc)?;
    if let Err(fault) = run(&context) {
        // Nothing is destroyed: the process ends, and takes it all with it.
        let _ = report(&context.messages());
        return Err(fault);
    }
    Ok(context.destroy())
}

/// What Vulkan had to say.
pub fn report(messages: &[Message]) -> Result<()> {
    for message in messages {
        eprintln!("{:?} {}: {}", message.severity, message.id, message.text);
    }
    match messages.len() {
        0 => Ok(()),
        count => bail!("Vulkan's validation reported {count} errors, listed above"),
    }
}
