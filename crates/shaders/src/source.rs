//! Inputs of the compiler: sources, stages and macro definitions.

use std::path::Path;

/// A shader stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// A vertex shader, `*.vert`.
    Vertex,
    /// A fragment shader, `*.frag`.
    Fragment,
    /// A compute shader, `*.comp`.
    Compute,
}

impl Stage {
    /// Returns the stage of a file by its extension; `None` for other files, such as included ones.
    pub fn of_file(path: &Path) -> Option<Stage> {
        let extension = path.extension()?;
        let mut stages = [Stage::Vertex, Stage::Fragment, Stage::Compute].into_iter();
        stages.find(|stage| extension == stage.extension())
    }

    /// Returns the stage's file extension.
    pub const fn extension(self) -> &'static str {
        match self {
            Stage::Vertex => "vert",
            Stage::Fragment => "frag",
            Stage::Compute => "comp",
        }
    }
}

/// The source of a shader.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// A file; its includes are relative to its own folder.
    File(&'a Path),
    /// Source text without includes.
    Text(&'a str),
}

/// The macro definitions of a shader: names and values.
pub type Defines<'a> = [(&'a str, &'a str)];
