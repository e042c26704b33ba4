//! Networks.

mod constants;
mod descriptors;
mod fault;
mod hazards;
mod host;
mod kernel;
mod lending;
mod measure;
mod network;
mod objects;
mod operators;
mod pipelines;
mod recorder;
mod scope;
mod scratch;

pub use fault::NetworkFault;
pub use host::HostBuffer;
pub use kernel::{Kernel, KernelKey, KernelSet, OperandAccess};
pub use network::{Decision, Network, Recorded, Run};
pub use pipelines::PipelineKey;
pub use scope::{Held, Scope};
pub use scratch::{
    Growth, KernelCall, Scratch, ScratchDesc, ScratchOperand, ScratchPool, ScratchScope, StagingCost,
};
