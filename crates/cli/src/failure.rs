//! Errors: one line on standard error, and an exit status.

use std::fmt;
use std::io::Write;
use std::process::ExitCode;

/// Why the command could not do what it was asked for.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The reader of standard output has had enough: nothing to say, nothing wrong.
    BrokenPipe,
    /// The thing, and what to do.
    Message(String),
    /// The same where what was given is at fault, as a wrong command line is.
    BadInput(String),
    /// The answer is no, and has been printed.
    Impossible,
    /// There is no answer within the budget, which has been printed.
    Unknown,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Failure {
        Failure::Message(message.into())
    }

    /// What was given is at fault.
    pub(crate) fn bad_input(message: impl Into<String>) -> Failure {
        Failure::BadInput(message.into())
    }

    /// The same, what was given being at fault.
    pub(crate) fn into_bad_input(self) -> Failure {
        match self {
            Failure::Message(message) => Failure::BadInput(message),
            other => other,
        }
    }

    /// The same with the thing it happened to in front.
    pub(crate) fn of(what: impl fmt::Display, error: impl fmt::Display) -> Failure {
        Failure::Message(format!("{what}: {error}"))
    }

    /// Tells the user, if there is something to tell.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Failure::BrokenPipe => ExitCode::SUCCESS,
            Failure::Message(message) => {
                complain(&message);
                ExitCode::from(1)
            }
            Failure::BadInput(message) => {
                complain(&message);
                ExitCode::from(2)
            }
            Failure::Impossible => ExitCode::from(1),
            Failure::Unknown => ExitCode::from(3),
        }
    }
}

macro_rules! from_errors {
    ($($error:ty),*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                Failure::Message(error.to_string())
            }
        }
    )*};
}

from_errors!(
    tileheap::Error,
    tileheap_device::ProfileError,
    tileheap_pack::PackError,
    tileheap_tensor::Error,
    tileheap_tensor::TensorError,
    tileheap_textures::Error,
    tileheap_textures::CacheError
);

/// Prints help where it was asked for, and what is wrong with the command line in one line otherwise.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    if error.exit_code() == 0
        || error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    {
        // A closed pipe is no reason to complain.
        let _ = error.print();
        return ExitCode::from(error.exit_code() as u8);
    }
    // clap writes paragraphs: what is wrong, tips, usage, a pointer to --help.
    let text = error.render().to_string();
    let paragraphs = text
        .split("\n\n")
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "));
    let told = paragraphs.filter(|told| {
        !told.is_empty() && !told.starts_with("Usage:") && !told.starts_with("For more information")
    });
    let message = told.collect::<Vec<_>>().join("; ");
    complain(&format!(
        "{}: see --help",
        message.strip_prefix("error: ").unwrap_or(&message)
    ));
    ExitCode::from(2)
}

/// One line on standard error, whatever the message holds.
fn complain(message: &str) {
    let mut line = String::from("tileheap: ");
    for c in message.chars() {
        if c.is_control() {
            line.push(' ')
        } else {
            line.push(c)
        }
    }
    line.push('\n');
    // Nobody is left to tell if standard error is gone.
    let _ = std::io::stderr().write_all(line.as_bytes());
}
