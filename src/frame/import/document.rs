//! The `serde` form of a loose description.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::frame::TileLists;

/// Fields that the importer ignores, because it does not know them.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Rest(pub(super) BTreeMap<String, IgnoredAny>);

#[derive(Debug, Deserialize)]
#[serde(expecting = "a frame description")]
pub(super) struct Document {
    #[serde(default)]
    pub(super) name: String,
    pub(super) base_extent: Option<[u32; 2]>,
    pub(super) resources: Vec<Resource>,
    pub(super) passes: Vec<Pass>,
    #[serde(flatten)]
    pub(super) rest: Rest,
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "a resource")]
pub(super) struct Resource {
    pub(super) name: String,
    pub(super) kind: Option<String>,
    #[serde(default)]
    pub(super) format: String,
    pub(super) bytes_per_texel: Option<u32>,
    #[serde(default = "tileheap_json::one", alias = "array_layers")]
    pub(super) layers: u32,
    #[serde(default = "tileheap_json::one", alias = "mip_levels", alias = "levels")]
    pub(super) mips: u32,
    #[serde(default = "tileheap_json::one")]
    pub(super) samples: u32,
    #[serde(default)]
    pub(super) usage: Vec<String>,
    #[serde(default)]
    pub(super) imported: bool,
    #[serde(default)]
    pub(super) history: bool,
    pub(super) extent: Option<Vec<u32>>,
    pub(super) extent_scale: Option<Scale>,
    #[serde(alias = "size")]
    pub(super) size_bytes: Option<u64>,
    pub(super) lists: Option<TileLists>,
    pub(super) tile_eligible: Option<bool>,
    #[serde(flatten)]
    pub(super) rest: Rest,
}

impl Resource {
    /// Returns true if the resource is an image according to `kind`, or, without a `kind`, if it has no `size_bytes`; `None` if `kind` is unknown.
    pub(super) fn is_image(&self) -> Option<bool> {
        match self.kind.as_deref() {
            Some("image" | "texture" | "render_target") => Some(true),
            Some("buffer") => Some(false),
            Some(_) => None,
            None => Some(self.size_bytes.is_none()),
        }
    }
}

/// Scale of an image relative to the base extent: one factor for both sides, or one for each.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a number or an array of two numbers")]
pub(super) enum Scale {
    Both(f32),
    Each([f32; 2]),
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "a pass")]
pub(super) struct Pass {
    pub(super) name: String,
    pub(super) queue: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) submit: Option<u64>,
    #[serde(default)]
    pub(super) reads: Vec<Entry>,
    #[serde(default)]
    pub(super) writes: Vec<Entry>,
    #[serde(flatten)]
    pub(super) rest: Rest,
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "a resource and its use")]
pub(super) struct Entry {
    #[serde(rename = "res", alias = "resource")]
    pub(super) resource: String,
    #[serde(rename = "use")]
    pub(super) usage: String,
    #[serde(flatten)]
    pub(super) rest: Rest,
}
