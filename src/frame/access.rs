//! Accesses: how a pass uses a resource, and what Vulkan calls that.

use ash::vk;
use serde::{Deserialize, Serialize};

use super::{PassId, ResourceId};
use crate::units::Bytes;

/// What kind of commands a pass records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassKind {
    /// Draws, inside one render pass instance.
    Render,
    /// Dispatches and other action commands outside a render pass.
    Compute,
    /// Copies, blits, fills, clears.
    Transfer,
}

/// The way in which a pass uses a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessKind {
    /// A colour attachment; the n-th of a pass is attachment n.
    ColorAttachment,
    /// The depth and stencil attachment.
    DepthStencilAttachment,
    /// Receives the resolved samples of another attachment of the pass.
    ResolveAttachment,
    /// Read at the fragment's own pixel.
    InputAttachment,
    /// Sampled or fetched through a sampled image descriptor.
    SampledImage,
    /// A storage image.
    StorageImage,
    /// A uniform buffer.
    UniformBuffer,
    /// A storage buffer.
    StorageBuffer,
    /// A uniform texel buffer.
    UniformTexelBuffer,
    /// A storage texel buffer.
    StorageTexelBuffer,
    /// Memory reached through a buffer device address.
    DeviceAddress,
    /// Vertex attributes.
    VertexBuffer,
    /// Indices.
    IndexBuffer,
    /// Parameters of an indirect draw or dispatch.
    IndirectBuffer,
    /// Source of a copy, blit or resolve command.
    TransferSource,
    /// Destination of a copy, blit, fill, clear or resolve command.
    TransferDestination,
}

impl AccessKind {
    /// Every kind, in declaration order.
    pub const ALL: [AccessKind; 16] = [
        AccessKind::ColorAttachment,
        AccessKind::DepthStencilAttachment,
        AccessKind::ResolveAttachment,
        AccessKind::InputAttachment,
        AccessKind::SampledImage,
        AccessKind::StorageImage,
        AccessKind::UniformBuffer,
        AccessKind::StorageBuffer,
        AccessKind::UniformTexelBuffer,
        AccessKind::StorageTexelBuffer,
        AccessKind::DeviceAddress,
        AccessKind::VertexBuffer,
        AccessKind::IndexBuffer,
        AccessKind::IndirectBuffer,
        AccessKind::TransferSource,
        AccessKind::TransferDestination,
    ];

    /// Whether the render pass itself accesses the resource: colour, depth and stencil, resolve.
    pub const fn is_attachment(self) -> bool {
        matches!(
            self,
            AccessKind::ColorAttachment | AccessKind::DepthStencilAttachment | AccessKind::ResolveAttachment
        )
    }

    /// Whether shaders access the resource.
    pub const fn is_shader(self) -> bool {
        matches!(
            self,
            AccessKind::InputAttachment
                | AccessKind::SampledImage
                | AccessKind::StorageImage
                | AccessKind::UniformBuffer
                | AccessKind::StorageBuffer
                | AccessKind::UniformTexelBuffer
                | AccessKind::StorageTexelBuffer
                | AccessKind::DeviceAddress
        )
    }

    /// Whether a copy, blit, fill or clear command accesses the resource.
    pub const fn is_transfer(self) -> bool {
        matches!(self, AccessKind::TransferSource | AccessKind::TransferDestination)
    }

    /// Whether images can be used so.
    pub const fn fits_images(self) -> bool {
        self.is_attachment()
            || self.is_transfer()
            || matches!(
                self,
                AccessKind::InputAttachment | AccessKind::SampledImage | AccessKind::StorageImage
            )
    }

    /// Whether buffers can be used so.
    pub const fn fits_buffers(self) -> bool {
        self.is_transfer() || !self.fits_images()
    }

    /// The image usage that this kind of access needs; empty for those of buffers.
    ///
    /// `depth` says whether the image has a depth or stencil aspect (resolve attachments are then depth attachments).
    pub fn image_usage(self, depth: bool) -> vk::ImageUsageFlags {
        use vk::ImageUsageFlags as U;
        match self {
            AccessKind::ColorAttachment => U::COLOR_ATTACHMENT,
            AccessKind::DepthStencilAttachment => U::DEPTH_STENCIL_ATTACHMENT,
            AccessKind::ResolveAttachment if depth => U::DEPTH_STENCIL_ATTACHMENT,
            AccessKind::ResolveAttachment => U::COLOR_ATTACHMENT,
            AccessKind::InputAttachment => U::INPUT_ATTACHMENT,
            AccessKind::SampledImage => U::SAMPLED,
            AccessKind::StorageImage => U::STORAGE,
            AccessKind::TransferSource => U::TRANSFER_SRC,
            AccessKind::TransferDestination => U::TRANSFER_DST,
            _ => U::empty(),
        }
    }

    /// The buffer usage that this kind of access needs; empty for those of images.
    pub fn buffer_usage(self) -> vk::BufferUsageFlags {
        use vk::BufferUsageFlags as U;
        match self {
            AccessKind::UniformBuffer => U::UNIFORM_BUFFER,
            AccessKind::StorageBuffer => U::STORAGE_BUFFER,
            AccessKind::UniformTexelBuffer => U::UNIFORM_TEXEL_BUFFER,
            AccessKind::StorageTexelBuffer => U::STORAGE_TEXEL_BUFFER,
            AccessKind::DeviceAddress => U::SHADER_DEVICE_ADDRESS,
            AccessKind::VertexBuffer => U::VERTEX_BUFFER,
            AccessKind::IndexBuffer => U::INDEX_BUFFER,
            AccessKind::IndirectBuffer => U::INDIRECT_BUFFER,
            AccessKind::TransferSource => U::TRANSFER_SRC,
            AccessKind::TransferDestination => U::TRANSFER_DST,
            _ => U::empty(),
        }
    }

    /// The stages at which a pass of `pass` kind makes such an access, unless the caller names others.
    ///
    /// Shader accesses of a render pass default to the fragment stage.
    pub fn default_stages(self, pass: PassKind) -> vk::PipelineStageFlags2 {
        use vk::PipelineStageFlags2 as S;
        match self {
            AccessKind::ColorAttachment | AccessKind::ResolveAttachment => S::COLOR_ATTACHMENT_OUTPUT,
            AccessKind::DepthStencilAttachment => S::EARLY_FRAGMENT_TESTS | S::LATE_FRAGMENT_TESTS,
            AccessKind::VertexBuffer => S::VERTEX_ATTRIBUTE_INPUT,
            AccessKind::IndexBuffer => S::INDEX_INPUT,
            AccessKind::IndirectBuffer => S::DRAW_INDIRECT,
            AccessKind::TransferSource | AccessKind::TransferDestination => S::ALL_TRANSFER,
            _ if pass == PassKind::Compute => S::COMPUTE_SHADER,
            _ => S::FRAGMENT_SHADER,
        }
    }

    /// The access flags of reading (`read`) and writing (`write`) so.
    pub fn access_flags(self, read: bool, write: bool) -> vk::AccessFlags2 {
        use vk::AccessFlags2 as A;
        let (reads, writes) = match self {
            AccessKind::ColorAttachment => (A::COLOR_ATTACHMENT_READ, A::COLOR_ATTACHMENT_WRITE),
            AccessKind::ResolveAttachment => (A::NONE, A::COLOR_ATTACHMENT_WRITE),
            AccessKind::DepthStencilAttachment => (
                A::DEPTH_STENCIL_ATTACHMENT_READ,
                A::DEPTH_STENCIL_ATTACHMENT_WRITE,
            ),
            AccessKind::InputAttachment => (A::INPUT_ATTACHMENT_READ, A::NONE),
            AccessKind::SampledImage | AccessKind::UniformTexelBuffer => (A::SHADER_SAMPLED_READ, A::NONE),
            AccessKind::StorageImage
            | AccessKind::StorageBuffer
            | AccessKind::StorageTexelBuffer
            | AccessKind::DeviceAddress => (A::SHADER_STORAGE_READ, A::SHADER_STORAGE_WRITE),
            AccessKind::UniformBuffer => (A::UNIFORM_READ, A::NONE),
            AccessKind::VertexBuffer => (A::VERTEX_ATTRIBUTE_READ, A::NONE),
            AccessKind::IndexBuffer => (A::INDEX_READ, A::NONE),
            AccessKind::IndirectBuffer => (A::INDIRECT_COMMAND_READ, A::NONE),
            AccessKind::TransferSource => (A::TRANSFER_READ, A::NONE),
            AccessKind::TransferDestination => (A::NONE, A::TRANSFER_WRITE),
        };
        (if read { reads } else { A::NONE }) | (if write { writes } else { A::NONE })
    }

    /// The layout in which an image with (`depth`) or without depth and stencil aspects is accessed so.
    pub fn layout(self, depth: bool, write: bool) -> vk::ImageLayout {
        use vk::ImageLayout as L;
        match self {
            AccessKind::ColorAttachment => L::COLOR_ATTACHMENT_OPTIMAL,
            AccessKind::ResolveAttachment if depth => L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
            AccessKind::ResolveAttachment => L::COLOR_ATTACHMENT_OPTIMAL,
            AccessKind::DepthStencilAttachment if write => L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
            AccessKind::DepthStencilAttachment => L::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
            AccessKind::InputAttachment | AccessKind::SampledImage if depth => {
                L::DEPTH_STENCIL_READ_ONLY_OPTIMAL
            }
            AccessKind::InputAttachment | AccessKind::SampledImage => L::SHADER_READ_ONLY_OPTIMAL,
            AccessKind::StorageImage => L::GENERAL,
            AccessKind::TransferSource => L::TRANSFER_SRC_OPTIMAL,
            AccessKind::TransferDestination => L::TRANSFER_DST_OPTIMAL,
            _ => L::UNDEFINED,
        }
    }
}

/// Which of a history resource's two versions an access means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Version {
    /// What this frame writes.
    #[default]
    Current,
    /// What the frame before wrote; read only.
    Previous,
}

/// The value an attachment is cleared to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClearValue {
    /// For float, normalised and scaled formats.
    Float([f32; 4]),
    /// For signed integer formats.
    Int([i32; 4]),
    /// For unsigned integer formats.
    Uint([u32; 4]),
    /// For depth and stencil formats.
    DepthStencil(f32, u32),
}

impl ClearValue {
    /// Zero in every component.
    pub const ZERO: ClearValue = ClearValue::Float([0.0; 4]);

    /// Zero in every component, as images of `format` are cleared to it.
    pub fn zero_of(format: vk::Format) -> ClearValue {
        if !super::aspects(format).contains(vk::ImageAspectFlags::COLOR) {
            return ClearValue::DepthStencil(0.0, 0);
        }
        let name = format!("{format:?}");
        if name.contains("UINT") {
            ClearValue::Uint([0; 4])
        } else if name.contains("SINT") {
            ClearValue::Int([0; 4])
        } else {
            ClearValue::ZERO
        }
    }

    /// Whether some component is not a number: such a value is not even equal to itself.
    pub fn is_nan(self) -> bool {
        match self {
            ClearValue::Float(components) => components.iter().any(|component| component.is_nan()),
            ClearValue::DepthStencil(depth, _) => depth.is_nan(),
            ClearValue::Int(_) | ClearValue::Uint(_) => false,
        }
    }

    /// As Vulkan's union.
    pub fn to_vk(self) -> vk::ClearValue {
        match self {
            ClearValue::Float(float32) => vk::ClearValue {
                color: vk::ClearColorValue { float32 },
            },
            ClearValue::Int(int32) => vk::ClearValue {
                color: vk::ClearColorValue { int32 },
            },
            ClearValue::Uint(uint32) => vk::ClearValue {
                color: vk::ClearColorValue { uint32 },
            },
            ClearValue::DepthStencil(depth, stencil) => vk::ClearValue {
                depth_stencil: vk::ClearDepthStencilValue { depth, stencil },
            },
        }
    }
}

/// What a writing access does about the contents that were there before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadOp {
    /// Keeps them: blending, depth testing, updating part of a buffer.
    #[default]
    Load,
    /// Replaces them all by a value, first of all (attachments only).
    Clear(ClearValue),
    /// Writes every texel or byte that anyone will read.
    DontCare,
}

/// One use of one resource by one pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Access {
    /// The pass.
    pub pass: PassId,
    /// The resource.
    pub resource: ResourceId,
    /// How it is used.
    pub kind: AccessKind,
    /// Whether contents from before the pass matter to it.
    pub reads: bool,
    /// Whether it changes the contents.
    pub writes: bool,
    /// Current or previous frame's contents.
    pub version: Version,
    /// Pipeline stages that make the access.
    pub stages: vk::PipelineStageFlags2,
    /// What a writing access does about earlier contents.
    pub load_op: LoadOp,
    /// For a resolve attachment, the attachment whose samples it receives.
    pub resolves: Option<ResourceId>,
    /// The bytes of memory traffic a frame that it was measured to save on chip, in place of the model's.
    pub measured: Option<Bytes>,
}

impl Access {
    /// The access flags that barriers name: loading an attachment reads it, declared as a read or not.
    pub fn flags(&self) -> vk::AccessFlags2 {
        self.kind.access_flags(self.needs_contents(), self.writes)
    }

    /// Whether contents from before the pass matter: they are read, or kept by a write.
    pub fn needs_contents(&self) -> bool {
        self.reads || (self.writes && self.load_op == LoadOp::Load)
    }

    /// How often the resource's bytes cross the memory bus: once for reading, once for writing.
    pub fn count(&self) -> u32 {
        u32::from(self.reads) + u32::from(self.writes)
    }
}
