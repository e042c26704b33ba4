//! What can differ between a pass and its shaders.

use std::fmt;

use super::pipeline::ShaderBinding;

/// A difference between a pass's declared accesses and its shaders.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mismatch {
    /// What differs.
    pub kind: MismatchKind,
    /// Where the shader refers to the resource, if one does.
    pub binding: Option<ShaderBinding>,
    /// The difference, with the names.
    pub message: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MismatchKind {
    /// A shader of a stage that such a pass does not run.
    Stage,
    /// A resource is used and not declared at all.
    Undeclared,
    /// A resource is used in another way than declared.
    OtherKind,
    /// A resource is written and declared to be read only.
    UndeclaredWrite,
    /// A stage uses a resource that barriers would not make wait.
    UndeclaredStage,
    /// A resource is read and declared to be written only: sound if the pass reads what it wrote itself.
    UndeclaredRead,
    /// A binding that stands for nothing of the frame.
    Unbound,
    /// A declared access that no shader makes.
    Unused,
    /// A declared read or write that no shader makes.
    NeverDone,
    /// A fragment shader writes an attachment that is not there.
    NoAttachment,
    /// A colour attachment that no fragment shader writes.
    UnwrittenAttachment,
}

impl Mismatch {
    /// Whether the plan would be wrong: a hazard nobody waits for. The rest is waste, or a sign of a slip.
    pub fn is_error(&self) -> bool {
        use MismatchKind::{OtherKind, Stage, Undeclared, UndeclaredStage, UndeclaredWrite};
        let errors = [Stage, Undeclared, OtherKind, UndeclaredWrite, UndeclaredStage];
        errors.contains(&self.kind)
    }
}
