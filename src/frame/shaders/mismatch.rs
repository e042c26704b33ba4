//! Differences between a pass and its shaders.

use std::fmt;

use super::pipeline::ShaderBinding;

/// A difference between a pass's declared accesses and its shaders.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mismatch {
    /// Kind of difference.
    pub kind: MismatchKind,
    /// The shader's reference to the resource, if any.
    pub binding: Option<ShaderBinding>,
    /// Description of the difference, with the names of the pass and the resource.
    pub message: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Kind of difference between a pass and its shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MismatchKind {
    /// A pipeline of a subpass that the pass does not have.
    Subpass,
    /// A shader of a stage that this kind of pass does not run.
    Stage,
    /// A resource is used but not declared.
    Undeclared,
    /// A resource is used in a different way than declared.
    OtherKind,
    /// A resource is written but declared read-only.
    UndeclaredWrite,
    /// A shader stage uses a resource, but the declared stages do not include it, so that barriers do not cover it.
    UndeclaredStage,
    /// A resource is read but declared write-only: correct if the pass reads only contents that it wrote itself.
    UndeclaredRead,
    /// A binding that does not refer to a resource of the frame.
    Unbound,
    /// An access is declared, but no shader uses the resource in that way.
    Unused,
    /// An access is declared to read or write, but the shaders that make it never do so.
    NeverDone,
    /// A fragment shader writes to a missing attachment.
    NoAttachment,
    /// A color attachment that no fragment shader writes.
    UnwrittenAttachment,
}

impl Mismatch {
    /// Returns true if a plan from these declarations would lack a wait. Other differences only cost performance, or hint at a mistake.
    pub fn is_error(&self) -> bool {
        use MismatchKind::{OtherKind, Stage, Subpass, Undeclared, UndeclaredStage, UndeclaredWrite};
        matches!(
            self.kind,
            Subpass | Stage | Undeclared | OtherKind | UndeclaredWrite | UndeclaredStage
        )
    }
}
