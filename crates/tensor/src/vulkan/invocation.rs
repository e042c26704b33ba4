//! An invocation: the pipeline that a call on its operands needs.

use ash::vk;

use super::operand::OperandShape;
use super::operators::Call;
use super::pipelines::{PipelineKey, local_size};
use crate::graph::ElementType;

/// The pipeline of a call, and how its texel buffers are read.
pub(super) struct Invocation {
    pub(super) key: PipelineKey,
    /// The format of texel buffers among the operands.
    pub(super) format: vk::Format,
}

impl Invocation {
    /// A call on operands of these forms, for a target that has the `largest` shape at most: every smaller shape runs with
    /// the same pipeline.
    pub(super) fn new(
        made: &Call,
        operands: impl Iterator<Item = (OperandShape, ElementType)> + Clone,
        largest: Option<OperandShape>,
    ) -> Invocation {
        let half = operands
            .clone()
            .any(|(shape, element)| shape.lanes.is_some() && element == ElementType::Float16);
        let mut extent = match largest {
            Some(shape) if shape.lanes.is_some() => shape.extent,
            _ => made.work,
        };
        if let Some(axis) = made.along {
            extent[axis] = 1;
        }
        Invocation {
            key: PipelineKey {
                kernel: made.kernel.clone(),
                scopes: operands.map(|(shape, _)| shape.scope).collect(),
                half,
                way: made.way,
                activation: made.activation,
                local: local_size(extent),
            },
            format: if half {
                vk::Format::R16G16B16A16_SFLOAT
            } else {
                vk::Format::R32G32B32A32_SFLOAT
            },
        }
    }
}
