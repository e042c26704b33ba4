//! What is compiled: sources, stages and macro definitions.

use std::path::Path;

/// A shader stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// `*.vert`.
    Vertex,
    /// `*.frag`.
    Fragment,
    /// `*.comp`.
    Compute,
}

impl Stage {
    /// The stage of a file by its extension; `None` for anything else, such as files that are included.
    pub fn of_file(path: &Path) -> Option<Stage> {
        let extension = path.extension()?;
        let mut stages = [Stage::Vertex, Stage::Fragment, Stage::Compute].into_iter();
        stages.find(|stage| extension == stage.extension())
    }

    /// The stage's extension.
    pub const fn extension(self) -> &'static str {
        match self {
            Stage::Vertex => "vert",
            Stage::Fragment => "frag",
            Stage::Compute => "comp",
        }
    }
}

/// What to compile.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// A file; its includes are relative to its own folder.
    File(&'a Path),
    /// A text without includes.
    Text(&'a str),
}

/// The macro definitions of a shader: names and values.
pub type Defines<'a> = [(&'a str, &'a str)];
