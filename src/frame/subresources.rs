//! Ranges of images: aspects, levels and layers.

use ash::vk;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::units::Run;
use tileheap_json::is_default;

/// A range of an image: `VkImageSubresourceRange`. In descriptions, empty fields mean everything; in tables, no field is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct SubresourceRange {
    /// Aspects.
    #[serde(default, skip_serializing_if = "is_default", with = "names::bits")]
    #[cfg_attr(test, schemars(with = "super::json::schema::Bits<vk::ImageAspectFlags>"))]
    pub aspects: vk::ImageAspectFlags,
    /// Levels `[first, end)`.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(test, schemars(with = "[u32; 2]"))]
    pub levels: Run,
    /// Layers `[first, end)`; of 3D images, slices.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(test, schemars(with = "[u32; 2]"))]
    pub layers: Run,
}

impl SubresourceRange {
    /// All of an image.
    pub const ALL: SubresourceRange = SubresourceRange {
        aspects: vk::ImageAspectFlags::empty(),
        levels: Run::new(0, 0),
        layers: Run::new(0, 0),
    };

    /// Returns true if the ranges share texels; neither may have empty fields.
    pub fn intersects(self, other: SubresourceRange) -> bool {
        let overlap = |a: Run, b: Run| a.first < b.end && b.first < a.end;
        self == other
            || self.aspects.intersects(other.aspects)
                && overlap(self.levels, other.levels)
                && overlap(self.layers, other.layers)
    }

    /// Returns true if all of `other` is inside this range; neither may have empty fields.
    pub fn contains(self, other: SubresourceRange) -> bool {
        let holds = |a: Run, b: Run| a.first <= b.first && b.end <= a.end;
        self == other
            || self.aspects.contains(other.aspects)
                && holds(self.levels, other.levels)
                && holds(self.layers, other.layers)
    }
}
