//! Accesses: how passes use resources, in Vulkan's terms.

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
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[repr(u32)]
pub enum HistoryVersion {
    /// Contents written by this frame.
    #[default]
    Current,
    /// Contents written by the previous frame; read-only.
    Previous,
}

/// The value an attachment is cleared to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClearValue {
    /// For float, normalized and scaled formats.
    Float(
        #[serde(with = "components")]
        #[cfg_attr(test, schemars(with = "[Component; 4]"))]
        [f32; 4],
    ),
    /// For signed integer formats.
    Int([i32; 4]),
    /// For unsigned integer formats.
    Uint([u32; 4]),
    /// For depth and stencil formats.
    DepthStencil(
        #[serde(with = "component")]
        #[cfg_attr(test, schemars(with = "Component"))]
        f32,
        u32,
    ),
}

/// A number, or an infinity as a word: JSON has no number for infinities.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "expected a number, \"Infinity\" or \"-Infinity\"")]
enum Component {
    Finite(f32),
    Infinite(Infinity),
}

/// An infinity as a word.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

    /// Zero in every component, in the numeric type of `format`.
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

    /// Returns true if a component is NaN: such a value is not even equal to itself.
    pub fn is_nan(self) -> bool {
        match self {
            ClearValue::Float(components) => components.iter().any(|component| component.is_nan()),
            ClearValue::DepthStencil(depth, _) => depth.is_nan(),
            ClearValue::Int(_) | ClearValue::Uint(_) => false,
        }
    }

    /// The value as a `VkClearValue`.
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

/// Treatment of earlier contents by a writing access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LoadOp {
    /// Keeps earlier contents: for blending, depth testing, updating part of a buffer.
    #[default]
    Load,
    /// Clears the contents to a value before the pass (attachments only).
    Clear(ClearValue),
    /// Earlier contents may be discarded: the access writes every texel or byte that is read later.
    DontCare,
}

/// The view through which an access uses an image, if it does not follow from the image and the used part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ViewDesc {
    /// A view type other than the default: a cube as an array, one layer as an array of one.
    #[serde(default, skip_serializing_if = "is_default", with = "names::option")]
    #[cfg_attr(test, schemars(with = "Option<super::json::schema::Name<vk::ImageViewType>>"))]
    pub view_type: Option<vk::ImageViewType>,
    /// A format other than the image's, of the same texel size (`VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT` and the list of formats follow from it).
    #[serde(default, skip_serializing_if = "is_default", with = "names::option")]
    #[cfg_attr(test, schemars(with = "Option<super::json::schema::Name<vk::Format>>"))]
    pub format: Option<vk::Format>,
}

/// A fraction of a resource's texels or bytes: `part` of `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AccessFraction {
    /// Texels or bytes used.
    pub part: u64,
    /// Texels or bytes in all.
    pub of: u64,
}

/// One use of one resource by one pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Access {
    /// The pass.
    pub pass: PassId,
    /// The subpass of the render pass that makes the access; 0 in a pass of any other kind.
    pub subpass: u32,
    /// The resource.
    pub resource: ResourceId,
    /// Kind of use.
    pub kind: AccessKind,
    /// Part of an image that is used; fully specified in a validated frame. Empty for buffers.
    pub range: SubresourceRange,
    /// The type and format of the view that shaders and render passes use.
    pub view: ViewDesc,
    /// True if the access needs contents from before the pass.
    pub reads: bool,
    /// True if the access changes the contents.
    pub writes: bool,
    /// The version of the resource: contents of the current or the previous frame.
    pub version: HistoryVersion,
    /// Pipeline stages that make the access.
    pub stages: vk::PipelineStageFlags2,
    /// Treatment of earlier contents by a writing access.
    pub load_op: LoadOp,
    /// For a resolve attachment, the attachment whose samples it receives.
    pub resolves: Option<ResourceId>,
    /// Memory traffic that this access was measured to save on chip, in bytes per frame; replaces the model's estimate.
    pub measured: Option<Bytes>,
    /// Fraction of the range that is touched, if not all: a strip and its halo. Affects traffic, not hazards.
    pub share: Option<AccessFraction>,
    /// Distance from the pixel at which the access reads, if declared; see [`Access::reach`].
    pub reach: Option<ReadReach>,
    /// In a validated frame: true if an earlier subpass of the pass has attached the same part, so that this access continues with its contents.
    pub continues_attachment: bool,
}

impl Access {
    /// Distance from the pixel at which the access reads: as declared; otherwise [`ReadReach::PIXEL`] for attachments and input
    /// attachments, [`ReadReach::Anywhere`] for all others.
    pub fn reach(&self) -> ReadReach {
        let usual = if self.kind.is_attached() {
            ReadReach::PIXEL
        } else {
            ReadReach::Anywhere
        };
        self.reach.unwrap_or(usual)
    }

    /// The access flags for barriers: loading an attachment reads it, whether or not a read was declared.
    pub fn flags(&self) -> vk::AccessFlags2 {
        self.kind.access_flags(self.needs_contents(), self.writes)
    }

    /// Returns true if contents from before the pass matter: they are read, or kept by a write.
    pub fn needs_contents(&self) -> bool {
        self.reads || (self.writes && self.load_op == LoadOp::Load)
    }
}
