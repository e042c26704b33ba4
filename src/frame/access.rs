//! Accesses: how a pass uses a resource, and what Vulkan calls that.

use ash::vk;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{AccessKind, ReadReach};
use super::{PassId, ResourceId, SubresourceRange};
use crate::format::{NumericType, numeric_type};
use crate::names;
use crate::units::Bytes;
use tileheap_json::is_default;

/// The version of a history resource that an access refers to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u32)]
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
    Float(#[serde(with = "components")] [f32; 4]),
    /// For signed integer formats.
    Int([i32; 4]),
    /// For unsigned integer formats.
    Uint([u32; 4]),
    /// For depth and stencil formats.
    DepthStencil(#[serde(with = "component")] f32, u32),
}

/// A number, or an infinity in words: JSON has no number for those.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number, \"Infinity\" or \"-Infinity\"")]
enum Component {
    Finite(f32),
    Infinite(Infinity),
}

#[derive(Serialize, Deserialize)]
enum Infinity {
    #[serde(rename = "Infinity")]
    Positive,
    #[serde(rename = "-Infinity")]
    Negative,
}

impl From<f32> for Component {
    fn from(number: f32) -> Component {
        match number {
            f32::INFINITY => Component::Infinite(Infinity::Positive),
            f32::NEG_INFINITY => Component::Infinite(Infinity::Negative),
            finite => Component::Finite(finite),
        }
    }
}

impl From<Component> for f32 {
    fn from(number: Component) -> f32 {
        match number {
            Component::Finite(finite) => finite,
            Component::Infinite(Infinity::Positive) => f32::INFINITY,
            Component::Infinite(Infinity::Negative) => f32::NEG_INFINITY,
        }
    }
}

/// `serde` form of a [`Component`].
mod component {
    use super::*;

    pub(super) fn serialize<S: Serializer>(number: &f32, serializer: S) -> Result<S::Ok, S::Error> {
        Component::from(*number).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f32, D::Error> {
        Component::deserialize(deserializer).map(f32::from)
    }
}

/// `serde` form of four [`Component`]s.
mod components {
    use super::*;

    pub(super) fn serialize<S: Serializer>(numbers: &[f32; 4], serializer: S) -> Result<S::Ok, S::Error> {
        numbers.map(Component::from).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[f32; 4], D::Error> {
        <[Component; 4]>::deserialize(deserializer).map(|numbers| numbers.map(f32::from))
    }
}

impl ClearValue {
    /// Zero in every component.
    pub const ZERO: ClearValue = ClearValue::Float([0.0; 4]);

    /// Zero in every component, as images of `format` are cleared to it.
    pub fn zero_of(format: vk::Format) -> ClearValue {
        if !crate::format::aspects(format).contains(vk::ImageAspectFlags::COLOR) {
            return ClearValue::DepthStencil(0.0, 0);
        }
        match numeric_type(format) {
            NumericType::Uint => ClearValue::Uint([0; 4]),
            NumericType::Int => ClearValue::Int([0; 4]),
            NumericType::Float => ClearValue::ZERO,
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

/// How an access views an image, where that does not follow from the image and the part that it uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewDesc {
    /// Another type: a cube as an array, one layer as an array of one.
    #[serde(default, skip_serializing_if = "is_default", with = "names::option")]
    pub view_type: Option<vk::ImageViewType>,
    /// Another format of the same texel size (`VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT` and the list of formats follow from it).
    #[serde(default, skip_serializing_if = "is_default", with = "names::option")]
    pub format: Option<vk::Format>,
}

/// A part of the texels of a resource, or of the bytes of a buffer: `part` of `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// What is used.
    pub part: u64,
    /// All that there is.
    pub of: u64,
}

/// One use of one resource by one pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Access {
    /// The pass.
    pub pass: PassId,
    /// The subpass of that render pass; 0 in a pass of any other kind.
    pub subpass: u32,
    /// The resource.
    pub resource: ResourceId,
    /// How it is used.
    pub kind: AccessKind,
    /// The part of an image that it uses; in a validated frame nothing of it is left open. Empty for buffers.
    pub range: SubresourceRange,
    /// The type and format of the view that shaders and render passes get.
    pub view: ViewDesc,
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
    /// How much of its range it touches, where that is not all: a strip and its halo. What it moves is counted by this; hazards are not.
    pub share: Option<Share>,
    /// How far its reads look, where that was declared; see [`Access::reach`].
    pub reach: Option<ReadReach>,
    /// In a validated frame: whether an earlier subpass of the pass has attached the same part. It then goes on with what is there.
    pub goes_on: bool,
}

impl Access {
    /// How far its reads look: as declared; else [`ReadReach::PIXEL`] for attachments and input attachments, [`ReadReach::Anywhere`] for all
    /// others.
    pub fn reach(&self) -> ReadReach {
        let usual = if self.kind.is_attached() {
            ReadReach::PIXEL
        } else {
            ReadReach::Anywhere
        };
        self.reach.unwrap_or(usual)
    }

    /// The access flags that barriers name: loading an attachment reads it, declared as a read or not.
    pub fn flags(&self) -> vk::AccessFlags2 {
        self.kind.access_flags(self.needs_contents(), self.writes)
    }

    /// Whether contents from before the pass matter: they are read, or kept by a write.
    pub fn needs_contents(&self) -> bool {
        self.reads || (self.writes && self.load_op == LoadOp::Load)
    }
}
