//! Errors of networks on a device.

use tileheap::units::Bytes;

/// A network cannot be created or recorded; every message names the tensor, node or kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// A kernel cannot be used.
    #[error("kernel `{kernel}`: {problem}")]
    Kernel {
        /// Its name.
        kernel: String,
        /// What is wrong.
        problem: String,
    },
    /// Kernels do not support a layout.
    #[error("tensor `{tensor}` has a layout that kernels do not support: {problem}")]
    Layout {
        /// The tensor.
        tensor: String,
        /// What is wrong.
        problem: String,
    },
    /// No kernel computes a node.
    #[error("node `{node}` (`{operator}`) cannot run: {problem}")]
    Node {
        /// The node.
        node: String,
        /// Its operator.
        operator: String,
        /// What is wrong.
        problem: String,
    },
    /// No buffer is bound to an external tensor.
    #[error("tensor `{tensor}` is external, and no buffer is bound to it")]
    NotBound {
        /// The tensor.
        tensor: String,
    },
    /// A buffer is smaller than its tensor.
    #[error("tensor `{tensor}` needs {needed}; the buffer bound to it has {given}")]
    BufferTooSmall {
        /// The tensor.
        tensor: String,
        /// What it needs.
        needed: Bytes,
        /// The buffer's size.
        given: Bytes,
    },
    /// A buffer is bound to a tensor that is no input or output.
    #[error("a buffer is bound to tensor `{tensor}`, which is neither an input nor an output of the graph")]
    NotBindable {
        /// The tensor.
        tensor: String,
    },
    /// Two tensors with overlapping lifetimes are bound to the same bytes.
    #[error(
        "tensors `{first}` and `{second}` are bound to the same bytes, and `{second}` is written before the last read of `{first}`"
    )]
    OverlappingBuffers {
        /// The one that is read.
        first: String,
        /// The one that is written.
        second: String,
    },
    /// A constant's value is missing or has another length.
    #[error("constant `{tensor}` needs {needed} elements; {given} were given")]
    Constant {
        /// The tensor.
        tensor: String,
        /// The elements it needs.
        needed: u64,
        /// The elements given.
        given: u64,
    },
    /// No decision was given for a loop or branch.
    #[error("node `{node}` needs {what}; give a decision for it")]
    MissingDecision {
        /// The loop or branch.
        node: String,
        /// What is missing.
        what: &'static str,
    },
    /// A node reads a tensor whose bytes were overwritten.
    #[error("node `{node}` reads tensor `{tensor}`, whose bytes were overwritten before")]
    Overwritten {
        /// The node that reads.
        node: String,
        /// The tensor.
        tensor: String,
    },
    /// The device cannot place a tensor as planned.
    #[error("tensor `{tensor}` cannot be placed at {offset}: {problem}")]
    Placement {
        /// The tensor.
        tensor: String,
        /// Its offset.
        offset: Bytes,
        /// What is wrong.
        problem: String,
    },
    /// No memory type supports every tensor of a memory.
    #[error("memory `{memory}`: no memory type supports all of its tensors")]
    MemoryType {
        /// The memory.
        memory: String,
    },
    /// The scratch pool is at its cap.
    #[error(
        "a scratch tensor of {wanted} does not fit: the pool holds {held} of at most {cap}, and none of that is free and large enough"
    )]
    Scratch {
        /// The size of the request.
        wanted: Bytes,
        /// The pool's bytes.
        held: Bytes,
        /// Its cap.
        cap: Bytes,
    },
}
