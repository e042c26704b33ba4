//! Planned graphs on a device: kernels, memory at the plan's offsets, and recording; scratch textures.
//!
//! ```text
//! Graph, Layouts ──► measure_tensors ──► plan ──────────► Network ──► record(Run) ──► command buffer
//!                    the driver's sizes   offsets          images,     symbols, buffers,
//!                    and alignments                        buffers     rounds of loops
//! ```
//! Kernels are those of `shaders/tensor`, each written once in terms of `load`, `load_one` and `store` and compiled for every
//! storage of its operands, in 32 and 16 bits; a layout's rows and columns are specialization constants of the pipeline.
//! Accesses to operands are reflected from the SPIR-V: a texture that is only read is a sampled image, one that is written is a
//! write-only storage image. Barriers are derived from them while a run is recorded, and the plan is checked: reading
//! overwritten bytes is an error, not a wrong result.
//!
//! Within a renderer, a graph can be declared as passes of its frame ([`NetworkPasses`]): the frame's planner then places its tensors
//! among the renderer's resources, in the same arenas and in tile memory.
//!
//! # Not done
//! Tensors split into a grid of images, 3D images, layouts with reshaped or reordered axes; operators beyond those of `operators.rs` and
//! `movement.rs`, unless the caller provides a kernel; elements that are not floats. Conditions of loops and branches are not read from the device:
//! the caller gives the number of rounds of a loop ([`ControlFlowDecision`]), for passes of a frame when they are declared. Passes of a frame do not write in
//! place, since each tensor is a separate resource.

mod constants;
mod decision;
mod declare;
mod descriptors;
mod dispatch;
mod external_buffers;
mod hazards;
mod host;
mod invocation;
mod kernel;
mod locations;
mod measure;
mod movement;
mod network;
mod objects;
mod operand;
mod operators;
mod passes;
mod pipelines;
mod recorder;
pub mod scratch;

pub use decision::ControlFlowDecision;
pub use host::HostBuffer;
pub use kernel::{Kernel, KernelKey, KernelSet, OperandAccess};
pub use measure::{measure_tensors, tensor_limits};
pub use network::{Network, NetworkRun, RecordedCounts};
pub use operand::{OperandLayout, OperandStorage};
pub use passes::{NetworkPasses, NetworkPassesDesc, PassTensor};
pub use pipelines::PipelineKey;
