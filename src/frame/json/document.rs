//! The document: nested and with names, whereas a frame's tables are flat and use ids.

use ash::vk;
use serde::de::{Error, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};
use tileheap_json::is_default;

use super::super::tables::{
    AccessFraction, CommandSource, HistoryVersion, PassKind, Queue, Semaphore, SkippedOutputs, ViewDesc,
};
use super::super::{
    AccessKind, BufferDesc, ImageDesc, LoadOp, Persistence, ReadReach, SubresourceRange, TileConstraint,
};
use crate::names;
use crate::units::{Bytes, Run};

/// The value of the field `format`.
pub const FORMAT: &str = "tileheap-frame";
/// The version that is read and written.
pub const VERSION: u64 = 2;

/// A frame: its resources, and its submits, which contain batches, command buffers and passes.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a frame description")]
pub(super) struct Document {
    /// The format of the document.
    #[cfg_attr(test, schemars(extend("const" = FORMAT)))]
    pub(super) format: String,
    /// The version of the format.
    #[cfg_attr(test, schemars(extend("const" = VERSION)))]
    pub(super) version: u64,
    /// The name of the frame, for plans and reports.
    #[serde(default)]
    pub(super) name: String,
    /// The size of images with a `scale`: `[width, height]`.
    #[serde(default)]
    pub(super) base_extent: [u32; 2],
    /// The queues that the frame submits to.
    pub(super) queues: Vec<Queue>,
    /// The semaphores that batches wait for or signal.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) semaphores: Vec<Semaphore>,
    /// Images and buffers.
    pub(super) resources: Vec<Resource>,
    /// Calls of `vkQueueSubmit2`, in order.
    pub(super) submits: Vec<Submit>,
    /// Data added by the capture layer; not part of the frame.
    #[serde(default, skip_serializing, rename = "capture")]
    #[cfg_attr(test, schemars(with = "Option<serde_json::Value>"))]
    pub(super) _capture: Option<IgnoredAny>,
    /// The schema that editors check the document against; not part of the frame.
    #[serde(default, skip_serializing, rename = "$schema")]
    #[cfg_attr(test, schemars(with = "Option<serde_json::Value>"))]
    pub(super) _schema: Option<IgnoredAny>,
}

/// An image or a buffer.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(extend("oneOf" = super::schema::one_of(["image", "buffer"]))))]
#[serde(deny_unknown_fields)]
pub(super) struct Resource {
    /// The name, unique in the frame.
    pub(super) name: String,
    /// For an image: its description.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) image: Option<ImageDesc>,
    /// For a buffer: its description.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) buffer: Option<BufferDesc>,
    /// Period for which its contents matter. Default: `"transient"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) persistence: Persistence,
    /// Constraint on its placement. Default: `"none"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) tile_memory: TileConstraint,
    /// The image of which this is one level, if any.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) level_of: Option<LevelOf>,
}

/// Names an image and one of its levels.
#[derive(PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct LevelOf {
    /// The image, which has `"separate_levels": true`.
    pub(super) image: String,
    /// The level, at least 1.
    pub(super) level: u32,
}

/// One call of `vkQueueSubmit2`.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct Submit {
    /// The queue, by name.
    pub(super) queue: String,
    /// Its batches, in order.
    pub(super) batches: Vec<Batch>,
}

/// One `VkSubmitInfo2`. Tile memory keeps its contents at least until the batch ends.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct Batch {
    /// Semaphores that it waits for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) waits: Vec<SemaphoreOp>,
    /// Semaphores that it signals.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) signals: Vec<SemaphoreOp>,
    /// Its primary command buffers, in order.
    pub(super) command_buffers: Vec<CommandBuffer>,
}

/// A wait for, or a signal of, a semaphore.
#[derive(PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct SemaphoreOp {
    /// The semaphore, by name.
    pub(super) semaphore: String,
    /// The stages that wait, or whose completion is signaled.
    #[serde(with = "names::bits")]
    #[cfg_attr(test, schemars(with = "super::schema::Bits<vk::PipelineStageFlags2>"))]
    pub(super) stages: vk::PipelineStageFlags2,
}

/// A primary command buffer.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct CommandBuffer {
    /// The name, unique in the frame.
    pub(super) name: String,
    /// Its passes, in order.
    pub(super) passes: Vec<Pass>,
}

/// A render pass, dispatches or copies: the unit whose accesses are declared.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct Pass {
    /// The name, unique in the frame.
    pub(super) name: String,
    /// The kind of its commands.
    #[cfg_attr(test, schemars(with = "super::schema::PassKinds"))]
    pub(super) kind: PassKind,
    /// Origin of its commands. Default: `"inline"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) contents: CommandSource,
    /// True for a render pass with `VK_QCOM_tile_shading`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) tile_shading: bool,
    /// The area that a render pass renders to, if not all of its attachments: `[x, y, width, height]`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) render_area: Option<(i32, i32, u32, u32)>,
    /// The view mask of multiview; 0 without multiview.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) view_mask: u32,
    /// Bytes of memory traffic that one more execution costs, in addition to its accesses. Given for passes that may run strip by strip.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(test, schemars(with = "Option<u64>"))]
    pub(super) repeat_bytes: Option<Bytes>,
    /// For a pass that frames may skip: the state of its outputs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) optional: Option<SkippedOutputs>,
    /// Number that the runtime passes to its hooks, which return structures to chain to the render pass; 0 for none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) hook: u32,
    /// Sample count of its pipelines, if it differs from the attachments': a value of `VkSampleCountFlagBits`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) samples: Option<u32>,
    /// Its uses of resources. Color attachments are numbered in this order.
    #[serde(default)]
    pub(super) accesses: Vec<Access>,
}

/// One use of one resource by a pass.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct Access {
    /// The subpass of a render pass. Default: 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) subpass: u32,
    /// The resource, by name.
    pub(super) resource: String,
    /// The kind of use.
    #[cfg_attr(test, schemars(with = "super::schema::AccessKinds"))]
    pub(super) kind: AccessKind,
    /// The part of an image that is used. Default: all of it.
    #[serde(default, skip_serializing_if = "is_default", deserialize_with = "part")]
    pub(super) part: SubresourceRange,
    /// The type and format of its view, if they do not follow from the image and the part.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) view: ViewDesc,
    /// True if the access needs contents from before the pass.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) reads: bool,
    /// True if the access changes the contents.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) writes: bool,
    /// For a history: whether the access uses the contents of this frame or of the previous one. Default: `"current"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) version: HistoryVersion,
    /// For a write: treatment of earlier contents. Default: `"load"`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) load_op: LoadOp,
    /// Pipeline stages that make the access. Default: those of the kind.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) stages: Option<Stages>,
    /// For a resolve attachment: the attachment whose samples it receives.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) resolves: Option<String>,
    /// Measured savings of the access if the resource is on chip, in bytes of memory traffic.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(test, schemars(with = "Option<u64>"))]
    pub(super) measured: Option<Bytes>,
    /// Fraction of the part that the access uses, if not all of it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) share: Option<AccessFraction>,
    /// Maximum distance from the pixel at which the access reads: a number of texels, or `"anywhere"`. Default: 0 for attachments, otherwise `"anywhere"`.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(test, schemars(with = "Option<super::schema::Reach>"))]
    pub(super) reach: Option<ReadReach>,
}

#[derive(PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(inline))]
#[serde(transparent)]
pub(super) struct Stages(
    #[serde(with = "names::bits")]
    #[cfg_attr(test, schemars(with = "super::schema::Bits<vk::PipelineStageFlags2>"))]
    pub(super) vk::PipelineStageFlags2,
);

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
            "`{name}` [{}, {}] is empty, because its end is not included: make it larger, or leave `{name}` out to use all",
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
