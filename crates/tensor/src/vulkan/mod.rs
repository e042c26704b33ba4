//! Planned graphs on a device: kernels, memory at a plan's offsets, recording; and scratch textures.
//!
//! ```text
//! Graph, Layouts ──► measure_tensors ──► plan ──────────► Network ──► record(Run) ──► command buffer
//!                    the driver's sizes   offsets          images,     symbols, buffers,
//!                    and alignments                        buffers     rounds of loops
//! ```
//! Kernels are those of `shaders/tensor`, each written once against `load`, `load_one` and `store` and compiled for every
//! storage of its operands, in 32 and 16 bits; a layout's rows and columns are specialization constants of the pipeline. What a
//! kernel does with an operand is read from its SPIR-V: a texture that is only read is sampled, one that is written is a
//! write-only storage image. Barriers follow from that as a run is recorded, and so does a check of the plan: to read bytes
//! that something else took is an error, not a wrong result.
//!
//! Beside a renderer a graph is passes of its frame ([`NetworkPasses`]): then the frame's planner places its tensors among the renderer's
//! resources, in the same arenas and in tile memory.
//!
//! # Not done
//! Tensors split in a grid of images, 3D images, layouts with reshaped or reordered axes; operators beyond those of
//! `operators.rs` and `movement.rs`, unless the caller brings a kernel; elements that are no floats. Conditions of loops and branches are not read from
//! the device: the caller says how many rounds a loop runs ([`Decision`]), of passes of a frame as they are declared. As passes of a
//! frame, what is written in place: a frame's resources are one each.

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

pub use decision::Decision;
pub use host::HostBuffer;
pub use kernel::{Kernel, KernelKey, KernelSet, OperandAccess};
pub use measure::{measure_tensors, tensor_limits};
pub use network::{Network, Recorded, Run};
pub use operand::{OperandLayout, OperandStorage};
pub use passes::{NetworkPasses, NetworkPassesDesc, PassTensor};
pub use pipelines::PipelineKey;
