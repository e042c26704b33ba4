//! Errors and negative answers: one line, and an exit status.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// The result of a subcommand.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// The exit status if the work was done and its answer is no: a threshold was missed, items do not fit, a plan is invalid, errors were
/// found, or nothing could be checked.
pub(crate) const NEGATIVE_ANSWER: u8 = 3;

/// The exit status if a search ended without an answer.
pub(crate) const UNDECIDED: u8 = 4;

/// The error of a subcommand.
#[derive(Debug)]
pub(crate) enum Error {
    /// The reader of standard output closed it; not a failure.
    BrokenPipe,
    /// The cause, and what to do about it.
    Message(String),
    /// Like `Message`, for an invalid command line.
    Usage(String),
    /// Exits with this status; everything was already printed.
    Exit(u8),
    /// A failed check: prints the message and exits with this status.
    Failed(u8, String),
    /// A negative answer, which `main` prints on standard output, where positive ones are.
    Verdict(String),
}

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Error {
        Error::Message(message.into())
    }

    pub(crate) fn usage(message: impl Into<String>) -> Error {
        Error::Usage(message.into())
    }

    /// Creates an error for a negative answer; the message states the reason.
    pub(crate) fn negative(message: impl Into<String>) -> Error {
        Error::Failed(NEGATIVE_ANSWER, message.into())
    }

    /// The exit status, and the message for standard error if there is one.
    pub(crate) fn status(&self) -> (u8, Option<&str>) {
        match self {
            Error::BrokenPipe => (0, None),
            Error::Message(message) => (1, Some(message)),
            Error::Usage(message) => (2, Some(message)),
            Error::Exit(status) => (*status, None),
            Error::Failed(status, message) => (*status, Some(message)),
            Error::Verdict(_) => (NEGATIVE_ANSWER, None),
        }
    }

    /// Creates an error about a named file or option.
    pub(crate) fn of(name: impl fmt::Display, error: impl fmt::Display) -> Error {
        Error::Message(format!("{name}: {error}"))
    }

    /// Creates an error about a file that cannot be written; `instead` is what the message suggests to choose.
    pub(crate) fn cannot_write(path: &Path, error: &io::Error, instead: &str) -> Error {
        Error::Message(format!(
            "cannot write `{}`: {error}: choose {instead}",
            path.display()
        ))
    }

    /// Prints the error's message, if there is one, and returns the exit status.
    pub(crate) fn report(self) -> ExitCode {
        let (status, message) = self.status();
        message.into_iter().for_each(print);
        ExitCode::from(status)
    }

    /// Prints help if it was requested, and otherwise one line about the invalid command line.
    pub(crate) fn report_usage(error: &clap::Error) -> ExitCode {
        if error.exit_code() == 0 || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
            // A closed pipe is not an error.
            let _ = error.print();
            return ExitCode::from(error.exit_code() as u8);
        }
        // clap writes paragraphs: the error, tips, usage, a pointer to --help.
        let text = error.render().to_string();
        let paragraphs = text
            .split("\n\n")
            .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "));
        let kept = paragraphs.filter(|text| {
            !text.is_empty() && !text.starts_with("Usage:") && !text.starts_with("For more information")
        });
        let command = std::env::args_os()
            .nth(1)
            .and_then(|word| word.into_string().ok());
        let renamed = renamed_option(error, command.as_deref());
        let words: Vec<String> = std::env::args_os()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let message = if let Some((old, new)) = renamed {
            format!("`{old}` was renamed to `{new}`")
        } else if let Some(program) = bare_program(error, command.as_deref()) {
            format!("write `--` before the program: `-- {program}`")
        } else if let Some((option, value)) = negative_value(error, &words) {
            format!("invalid value '{value}' for '{option}': negative values are not allowed")
        } else {
            kept.collect::<Vec<_>>().join("; ")
        };
        print(&format!(
            "{}: see --help",
            message.strip_prefix("error: ").unwrap_or(&message)
        ));
        ExitCode::from(2)
    }
}

/// The subcommands that plan a frame.
const FRAMES: &[&str] = &["plan", "advise", "gate", "report", "capture"];

/// Renamed options: the commands, the old name, the new name.
const RENAMED: [(&[&str], &str, &str); 7] = [
    (&["replay"], "--budget", "--memory"),
    (&["pack"], "--budget", "--steps"),
    (FRAMES, "--budget", "--steps"),
    (FRAMES, "--keep-off", "--exclude"),
    (&["report"], "--cache", "--memory"),
    (&["capture"], "--out", "--output"),
    (&["replay"], "--bound", "--lower-bound"),
];

/// Returns the old and the new name of a renamed option, if the error is about its old name.
fn renamed_option(error: &clap::Error, command: Option<&str>) -> Option<(&'static str, &'static str)> {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let command = command.filter(|_| error.kind() == ErrorKind::UnknownArgument)?;
    let is_same = |one: &&(&[&str], &str, &str)| one.1 == unknown && one.0.contains(&command);
    RENAMED.iter().find(is_same).map(|&(_, old, new)| (old, new))
}

/// Returns an option and its negative value, if clap mistook the value for an option.
fn negative_value<'a>(error: &clap::Error, words: &'a [String]) -> Option<(&'a str, &'a str)> {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let is_negative = unknown.starts_with('-') && unknown[1..].starts_with(|c: char| c.is_ascii_digit());
    let mut pairs = words.windows(2).map(|pair| (&*pair[0], &*pair[1]));
    let found = pairs.find(|(option, value)| option.starts_with("--") && value.starts_with(unknown))?;
    (error.kind() == ErrorKind::UnknownArgument && is_negative).then_some(found)
}

/// Returns an unexpected argument of `run` or `capture`: probably the program to run, which `--` must precede.
fn bare_program<'a>(error: &'a clap::Error, command: Option<&str>) -> Option<&'a str> {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let runs = error.kind() == ErrorKind::UnknownArgument && matches!(command, Some("run" | "capture"));
    (runs && !unknown.starts_with('-')).then_some(unknown.as_str())
}

macro_rules! from_errors {
    ($($error:ty),*) => {$(
        impl From<$error> for Error {
            fn from(error: $error) -> Error {
                Error::Message(error.to_string())
            }
        }
    )*};
}

from_errors!(
    tileheap::Error,
    tileheap::lower::LowerError,
    tileheap_device::Error,
    tileheap_pack::Error,
    tileheap_tensor::Error,
    tileheap_textures::Error
);

/// Prints one line on standard error; control characters become spaces.
pub(crate) fn print(message: &str) {
    let mut line = String::from("tileheap: ");
    line.extend(message.chars().map(|c| if c.is_control() { ' ' } else { c }));
    line.push('\n');
    write_stderr(&line);
}

/// Writes text to standard error. A closed one is ignored: nothing else could report it.
pub(crate) fn write_stderr(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
