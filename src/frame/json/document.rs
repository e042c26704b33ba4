//! The document as `serde` sees it: field for field what is in the file.

use ash::vk;
use serde::{Deserialize, Serialize};

use super::super::tables::{Contents, PassKind, Version};
use super::super::{AccessKind, ClearValue, LoadOp, TileConstraint};
use crate::names;

/// The value of the field `format`.
pub const FORMAT: &str = "tileheap-frame";
/// The version that is read and written.
pub const VERSION: u64 = 2;

/// Whether a field has its default and need not be written.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[derive(Debug, Serialize, Deserialize)]
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
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Queue {
    pub(super) name: String,
    #[serde(with = "names::bits")]
    pub(super) capabilities: vk::QueueFlags,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Semaphore {
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) external: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Resource {
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) image: Option<Image>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) buffer: Option<Buffer>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) persistence: Persistence,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) tile_memory: TileConstraint,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Image {
    #[serde(with = "names::value")]
    pub(super) format: vk::Format,
    /// In texels: width, height, depth (1 if left out).
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) extent: Option<Vec<u32>>,
    /// As fractions of the base extent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) scale: Option<[f32; 2]>,
    #[serde(
        default = "two_dimensions",
        skip_serializing_if = "is_two_dimensions",
        with = "names::value"
    )]
    pub(super) image_type: vk::ImageType,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub(super) mip_levels: u32,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub(super) array_layers: u32,
    #[serde(
        default = "one_sample",
        skip_serializing_if = "is_one_sample",
        with = "names::value"
    )]
    pub(super) samples: vk::SampleCountFlags,
    #[serde(default, skip_serializing_if = "is_default", with = "names::bits")]
    pub(super) usage: vk::ImageUsageFlags,
    #[serde(default, skip_serializing_if = "is_default", with = "names::bits")]
    pub(super) flags: vk::ImageCreateFlags,
}

fn one() -> u32 {
    1
}

fn is_one(number: &u32) -> bool {
    *number == 1
}

fn one_sample() -> vk::SampleCountFlags {
    vk::SampleCountFlags::TYPE_1
}

fn is_one_sample(samples: &vk::SampleCountFlags) -> bool {
    *samples == one_sample()
}

fn two_dimensions() -> vk::ImageType {
    vk::ImageType::TYPE_2D
}

fn is_two_dimensions(image_type: &vk::ImageType) -> bool {
    *image_type == two_dimensions()
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Buffer {
    pub(super) size: u64,
    #[serde(default, skip_serializing_if = "is_default", with = "names::bits")]
    pub(super) usage: vk::BufferUsageFlags,
}

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Persistence {
    #[default]
    Transient,
    History,
    External(External),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct External {
    pub(super) entry: State,
    pub(super) exit: State,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    #[serde(default, skip_serializing_if = "is_default", with = "names::value")]
    pub(super) layout: vk::ImageLayout,
    #[serde(default, skip_serializing_if = "is_default", with = "names::bits")]
    pub(super) stages: vk::PipelineStageFlags2,
    #[serde(default, skip_serializing_if = "is_default", with = "names::bits")]
    pub(super) access: vk::AccessFlags2,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Submit {
    pub(super) queue: String,
    pub(super) batches: Vec<Batch>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Batch {
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) waits: Vec<SemaphoreOp>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) signals: Vec<SemaphoreOp>,
    pub(super) command_buffers: Vec<CommandBuffer>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SemaphoreOp {
    pub(super) semaphore: String,
    #[serde(with = "names::bits")]
    pub(super) stages: vk::PipelineStageFlags2,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandBuffer {
    pub(super) name: String,
    pub(super) passes: Vec<Pass>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pass {
    pub(super) name: String,
    pub(super) kind: PassKind,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) contents: Contents,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) tile_shading: bool,
    #[serde(default)]
    pub(super) accesses: Vec<Access>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Access {
    pub(super) resource: String,
    pub(super) kind: AccessKind,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) reads: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) writes: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) version: Version,
    #[serde(default, skip_serializing_if = "is_load", with = "load_op")]
    pub(super) load_op: LoadOp,
    /// Left out where they are the default ones.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) stages: Option<Stages>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) resolves: Option<String>,
    /// Bytes of traffic that it was measured to save on chip.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) measured: Option<u64>,
}

fn is_load(load_op: &LoadOp) -> bool {
    *load_op == LoadOp::Load
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Stages(#[serde(with = "names::bits")] pub(super) vk::PipelineStageFlags2);

/// [`LoadOp`], with infinities in words: JSON has no number for them.
mod load_op {
    use super::*;

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Form {
        Load,
        Clear(Value),
        DontCare,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Value {
        Float([Number; 4]),
        Int([i32; 4]),
        Uint([u32; 4]),
        DepthStencil(Number, u32),
    }

    #[derive(Serialize, Deserialize)]
    #[serde(untagged, expecting = "expected a number, \"Infinity\" or \"-Infinity\"")]
    enum Number {
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

    impl From<f32> for Number {
        fn from(number: f32) -> Number {
            match number {
                f32::INFINITY => Number::Infinite(Infinity::Positive),
                f32::NEG_INFINITY => Number::Infinite(Infinity::Negative),
                finite => Number::Finite(finite),
            }
        }
    }

    impl From<Number> for f32 {
        fn from(number: Number) -> f32 {
            match number {
                Number::Finite(finite) => finite,
                Number::Infinite(Infinity::Positive) => f32::INFINITY,
                Number::Infinite(Infinity::Negative) => f32::NEG_INFINITY,
            }
        }
    }

    pub(super) fn serialize<S: serde::Serializer>(
        load_op: &LoadOp,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let form = match *load_op {
            LoadOp::Load => Form::Load,
            LoadOp::DontCare => Form::DontCare,
            LoadOp::Clear(value) => Form::Clear(match value {
                ClearValue::Float(components) => Value::Float(components.map(Number::from)),
                ClearValue::Int(components) => Value::Int(components),
                ClearValue::Uint(components) => Value::Uint(components),
                ClearValue::DepthStencil(depth, stencil) => Value::DepthStencil(depth.into(), stencil),
            }),
        };
        form.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<LoadOp, D::Error> {
        Ok(match Form::deserialize(deserializer)? {
            Form::Load => LoadOp::Load,
            Form::DontCare => LoadOp::DontCare,
            Form::Clear(value) => LoadOp::Clear(match value {
                Value::Float(components) => ClearValue::Float(components.map(f32::from)),
                Value::Int(components) => ClearValue::Int(components),
                Value::Uint(components) => ClearValue::Uint(components),
                Value::DepthStencil(depth, stencil) => ClearValue::DepthStencil(depth.into(), stencil),
            }),
        })
    }
}
