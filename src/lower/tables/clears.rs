//! Clears, of attachments and of contents that no frame has written.

use ash::vk;
use serde::{Deserialize, Serialize};

use super::objects::SubresourceRange;
use crate::frame::ClearValue;
use crate::lower::ids::ObjectRef;
use crate::names;

/// The active member of a `VkClearValue`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum ClearKind {
    /// `VkClearColorValue::float32`.
    Float,
    /// `VkClearColorValue::int32`.
    Int,
    /// `VkClearColorValue::uint32`.
    Uint,
    /// `VkClearDepthStencilValue`: a float, then an integer.
    DepthStencil,
}

/// The 16 bytes of a `VkClearValue`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "ClearValue", into = "ClearValue")]
#[repr(C)]
pub struct ClearBits {
    /// The active member of the union.
    pub kind: ClearKind,
    /// The bits of the union.
    pub words: [u32; 4],
}

impl ClearBits {
    /// The value.
    pub fn get(self) -> ClearValue {
        let words = self.words;
        match self.kind {
            ClearKind::Float => ClearValue::Float(words.map(f32::from_bits)),
            ClearKind::Int => ClearValue::Int(words.map(|word| word as i32)),
            ClearKind::Uint => ClearValue::Uint(words),
            ClearKind::DepthStencil => ClearValue::DepthStencil(f32::from_bits(words[0]), words[1]),
        }
    }
}

impl From<ClearValue> for ClearBits {
    fn from(value: ClearValue) -> ClearBits {
        let (kind, words) = match value {
            ClearValue::Float(components) => (ClearKind::Float, components.map(f32::to_bits)),
            ClearValue::Int(components) => (ClearKind::Int, components.map(|component| component as u32)),
            ClearValue::Uint(components) => (ClearKind::Uint, components),
            ClearValue::DepthStencil(depth, stencil) => {
                (ClearKind::DepthStencil, [depth.to_bits(), stencil, 0, 0])
            }
        };
        ClearBits { kind, words }
    }
}

impl From<ClearBits> for ClearValue {
    fn from(bits: ClearBits) -> ClearValue {
        bits.get()
    }
}

/// `vkCmdClearColorImage`, `vkCmdClearDepthStencilImage`, or `vkCmdFillBuffer` of a whole buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct ClearRow {
    /// The image or buffer.
    pub object: ObjectRef,
    /// The part of an image, in the form that barriers use: all slices of a 3D image are given as layers `[0, VK_REMAINING_ARRAY_LAYERS)`.
    pub range: SubresourceRange,
    /// `imageLayout`; `VK_IMAGE_LAYOUT_UNDEFINED` for buffers.
    #[serde(with = "names::value")]
    pub layout: vk::ImageLayout,
    /// Zero in the format's numeric type.
    pub value: ClearBits,
}
