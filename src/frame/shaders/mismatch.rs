//! What can differ between a pass and its shaders.

use ash::vk;

use super::pipeline::ShaderBinding;
use crate::frame::AccessKind;
use crate::frame::tables::PassKind;

/// A difference between a pass's declared accesses and its shaders.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// A shader of a stage that such a pass does not run.
    #[error("pass `{pass}` is a {kind:?} pass and cannot run a {stage:?} shader")]
    Stage {
        /// The pass.
        pass: String,
        /// Its kind.
        kind: PassKind,
        /// The shader's stage.
        stage: vk::ShaderStageFlags,
    },
    /// A resource is used and not declared at all.
    #[error("pass `{pass}` uses `{resource}` as {kind:?} ({binding}) and does not declare it")]
    Undeclared {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// Where the shader refers to it.
        binding: ShaderBinding,
        /// How it is used.
        kind: AccessKind,
    },
    /// A resource is used in another way than declared.
    #[error("pass `{pass}` uses `{resource}` as {used:?} ({binding}) and declares it as {declared:?}")]
    OtherKind {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// Where the shader refers to it.
        binding: ShaderBinding,
        /// How it is used.
        used: AccessKind,
        /// How it is declared.
        declared: AccessKind,
    },
    /// A resource is written and declared to be read only.
    #[error("pass `{pass}` writes `{resource}` ({binding}) and declares it as only read")]
    UndeclaredWrite {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// Where the shader refers to it.
        binding: ShaderBinding,
    },
    /// A stage uses a resource that barriers would not make wait.
    #[error("pass `{pass}` uses `{resource}` ({binding}) in {used:?} and declares it for {declared:?}")]
    UndeclaredStage {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// Where the shader refers to it.
        binding: ShaderBinding,
        /// The stages that use it.
        used: vk::PipelineStageFlags2,
        /// The stages that are declared.
        declared: vk::PipelineStageFlags2,
    },
    /// A resource is read and declared to be written only: sound if the pass reads what it wrote itself.
    #[error("pass `{pass}` reads `{resource}` ({binding}) and declares it as only written")]
    UndeclaredRead {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// Where the shader refers to it.
        binding: ShaderBinding,
    },
    /// A binding that stands for nothing of the frame.
    #[error("pass `{pass}` uses {binding} as {kind:?}, which is bound to nothing of the frame")]
    Unbound {
        /// The pass.
        pass: String,
        /// Where the shader refers to it.
        binding: ShaderBinding,
        /// How it is used.
        kind: AccessKind,
    },
    /// A declared access that no shader makes.
    #[error("pass `{pass}` declares `{resource}` as {kind:?}, and no shader uses it so")]
    Unused {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// How it is declared.
        kind: AccessKind,
    },
    /// A declared read or write that no shader makes.
    #[error("pass `{pass}` declares that it {what} `{resource}`, and no shader does")]
    NeverDone {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// `reads` or `writes`.
        what: &'static str,
    },
    /// A fragment shader writes an attachment that is not there.
    #[error("pass `{pass}` writes {output} in a fragment shader and has no such attachment")]
    NoAttachment {
        /// The pass.
        pass: String,
        /// `colour output 3`, `depth`.
        output: String,
    },
    /// A colour attachment that no fragment shader writes.
    #[error(
        "pass `{pass}` has the colour attachment `{resource}`, and no fragment shader writes output {location}"
    )]
    UnwrittenAttachment {
        /// The pass.
        pass: String,
        /// The attachment.
        resource: String,
        /// The output that would write it.
        location: u32,
    },
}

impl Mismatch {
    /// Whether the plan would be wrong: a hazard nobody waits for. The rest is waste, or a sign of a slip.
    pub fn is_error(&self) -> bool {
        matches!(
            self,
            Mismatch::Stage { .. }
                | Mismatch::Undeclared { .. }
                | Mismatch::OtherKind { .. }
                | Mismatch::UndeclaredWrite { .. }
                | Mismatch::UndeclaredStage { .. }
        )
    }
}
