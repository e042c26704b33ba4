//! Writing results to standard output or a file.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::input::is_stdin;

#[derive(Debug)]
pub(crate) struct Output {
    file: Option<PathBuf>,
    /// The remedy if standard output cannot be written; empty for commands that always write there.
    remedy: &'static str,
}

impl Output {
    pub(crate) fn stdout() -> Output {
        Output {
            file: None,
            remedy: "",
        }
    }

    /// Creates an output to a file, or to standard output for `None` and `-`.
    pub(crate) fn to(file: Option<PathBuf>) -> Output {
        let remedy = match &file {
            None => ": use -o to write to a file",
            Some(_) => ": give a file instead of `-`",
        };
        Output {
            file: file.filter(|file| !is_stdin(file)),
            remedy,
        }
    }

    pub(crate) fn write(&self, text: &str) -> Result<()> {
        self.write_bytes(text.as_bytes())
    }

    pub(crate) fn write_bytes(&self, bytes: &[u8]) -> Result<()> {
        let Some(file) = &self.file else {
            let mut stdout = std::io::stdout().lock();
            let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
            return written.map_err(|error| match error.kind() {
                ErrorKind::BrokenPipe => Error::BrokenPipe,
                _ => Error::new(format!("cannot write to standard output: {error}{}", self.remedy)),
            });
        };
        std::fs::write(file, bytes).map_err(|error| Error::cannot_write(file, &error, "another path"))
    }

    /// Writes a report, with bold headings on a terminal. Control characters, which names in files may contain, are replaced.
    pub(crate) fn write_report(&self, text: &str) -> Result<()> {
        let text = &text.replace(|c: char| c.is_control() && c != '\n', "\u{fffd}");
        if self.file.is_some() || !std::io::stdout().is_terminal() || is_color_unwanted() {
            return self.write(text);
        }
        self.write(&with_bold_headings(text))
    }
}

/// Returns true if the user disabled colors (<https://no-color.org>), or the terminal has none.
pub(crate) fn is_color_unwanted() -> bool {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    no_color || std::env::var_os("TERM").is_none_or(|term| term == "dumb")
}

/// Makes headings bold: the lines that start with a letter.
fn with_bold_headings(text: &str) -> String {
    let mut bold = String::with_capacity(text.len() + 256);
    for line in text.lines() {
        if line.starts_with(char::is_alphabetic) {
            bold += &format!("\x1b[1m{line}\x1b[0m\n");
        } else {
            bold += line;
            bold.push('\n');
        }
    }
    bold
}
