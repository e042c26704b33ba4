//! Selects the pipeline of a kernel call.

use ash::vk;

use super::operand::OperandShape;
use super::operators::Call;
use super::pipelines::{PipelineKey, local_size};
use crate::graph::ElementType;

/// The pipeline of a call, and the format of its texel buffers.
pub(super) struct Invocation {
    pub(super) key: PipelineKey,
    /// The format of texel buffers among the operands.
    pub(super) format: vk::Format,
}

impl Invocation {
    /// The pipeline for operands of these shapes; `largest` bounds the output, so that all smaller shapes use the same pipeline.
    pub(super) fn new(
        call: &Call,
        operands: impl Iterator<Item = (OperandShape, ElementType)> + Clone,
        largest: Option<OperandShape>,
    ) -> Invocation {
        let half = operands
            .clone()
            .any(|(shape, element)| shape.lanes.is_some() && element == ElementType::Float16);
        let mut extent = match largest {
            Some(shape) if shape.lanes.is_some() => shape.extent,
            _ => call.work,
        };
        if let Some(axis) = call.loop_axis {
            extent[axis] = 1;
        }
        Invocation {
            key: PipelineKey {
                kernel: call.kernel.clone(),
                layouts: operands.map(|(shape, _)| shape.layout).collect(),
                half,
                function: call.function,
                activation: call.activation,
                local_size: local_size(extent),
            },
            format: if half {
                vk::Format::R16G16B16A16_SFLOAT
            } else {
                vk::Format::R32G32B32A32_SFLOAT
            },
        }
    }
}
