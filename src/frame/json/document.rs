//! The document: nested and by name, where a frame is flat and uses ids.

use ash::vk;
use serde::de::{Error, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};
use tileheap_json::is_default;

use super::super::tables::{Contents, PassKind, Queue, Semaphore, Share, SkippedOutputs, Version, ViewDesc};
use super::super::{
    AccessKind, BufferDesc, ImageDesc, LoadOp, Persistence, ReadReach, SubresourceRange, TileConstraint,
};
use crate::names;
use crate::units::{Bytes, Run};

/// The value of the field `format`.
pub const FORMAT: &str = "tileheap-frame";
/// The version that is read and written.
pub const VERSION: u64 = 2;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a frame description")]
pub(super) struct Document {
    pub(super) format: String,
    pub(super) version: u64,
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) base_extent: [u32; 2],
    pub(super) queues: Vec<Queue>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) semaphores: Vec<Semaphore>,
    pub(super) resources: Vec<Resource>,
    pub(super) submits: Vec<Submit>,
    /// Data added by the capture layer; not part of the frame.
    #[serde(default, skip_serializing, rename = "capture")]
    pub(super) _capture: Option<IgnoredAny>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Resource {
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) image: Option<ImageDesc>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) buffer: Option<BufferDesc>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) persistence: Persistence,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) tile_memory: TileConstraint,
    /// The image of which this is one level, if any.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) level_of: Option<LevelOf>,
}

#[derive(PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LevelOf {
    pub(super) image: String,
    pub(super) level: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Submit {
    pub(super) queue: String,
    pub(super) batches: Vec<Batch>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Batch {
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) waits: Vec<SemaphoreOp>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) signals: Vec<SemaphoreOp>,
    pub(super) command_buffers: Vec<CommandBuffer>,
}

#[derive(PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SemaphoreOp {
    pub(super) semaphore: String,
    #[serde(with = "names::bits")]
    pub(super) stages: vk::PipelineStageFlags2,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandBuffer {
    pub(super) name: String,
    pub(super) passes: Vec<Pass>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pass {
    pub(super) name: String,
    pub(super) kind: PassKind,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) contents: Contents,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) tile_shading: bool,
    /// `[x, y, width, height]`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) render_area: Option<(i32, i32, u32, u32)>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) view_mask: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) repeat_bytes: Option<Bytes>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) optional: Option<SkippedOutputs>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) hook: u32,
    /// Bits of `VkSampleCountFlagBits`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) samples: Option<u32>,
    #[serde(default)]
    pub(super) accesses: Vec<Access>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Access {
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) subpass: u32,
    pub(super) resource: String,
    pub(super) kind: AccessKind,
    /// Left out if it is the default for the kind.
    #[serde(default, skip_serializing_if = "is_default", deserialize_with = "part")]
    pub(super) part: SubresourceRange,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) view: ViewDesc,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) reads: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) writes: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) version: Version,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) load_op: LoadOp,
    /// Left out if they are the defaults.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) stages: Option<Stages>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) resolves: Option<String>,
    /// Memory traffic in bytes that the access was measured to save on chip.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) measured: Option<Bytes>,
    /// Fraction of its part, if not all.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) share: Option<Share>,
    /// Texels, or `"anywhere"`; left out if it is the default for the kind.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) reach: Option<ReadReach>,
}

#[derive(PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Stages(#[serde(with = "names::bits")] pub(super) vk::PipelineStageFlags2);

/// Reads a part of an image: fields that are left out mean everything, and an empty range is an error.
fn part<'de, D: Deserializer<'de>>(from: D) -> Result<SubresourceRange, D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Part {
        #[serde(default, with = "names::bits")]
        aspects: vk::ImageAspectFlags,
        levels: Option<Run>,
        layers: Option<Run>,
    }
    let Part {
        aspects,
        levels,
        layers,
    } = Part::deserialize(from)?;
    let range = |name: &str, range: Option<Run>| match range {
        Some(range) if range.is_empty() => Err(D::Error::custom(format!(
            "`{name}` [{}, {}] is empty: write [first, end), the end not included, or leave it out for all",
            range.first, range.end
        ))),
        range => Ok(range.unwrap_or_default()),
    };
    Ok(SubresourceRange {
        aspects,
        levels: range("levels", levels)?,
        layers: range("layers", layers)?,
    })
}
