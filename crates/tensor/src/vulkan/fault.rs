//! What can go wrong with a network on a device.

use tileheap::units::Bytes;

/// A network that cannot be made or run; every message names the tensor, node or kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// A kernel that cannot be used.
    #[error("kernel `{kernel}`: {problem}")]
    Kernel {
        /// Its name.
        kernel: String,
        /// What is wrong.
        problem: String,
    },
    /// A layout that kernels do not read.
    #[error("tensor `{tensor}` lies in a way that kernels do not take: {problem}")]
    Layout {
        /// The tensor.
        tensor: String,
        /// What is wrong.
        problem: String,
    },
    /// A node that no kernel computes.
    #[error("node `{node}` (`{operator}`) cannot run: {problem}")]
    Node {
        /// The node.
        node: String,
        /// Its operator.
        operator: String,
        /// What is wrong.
        problem: String,
    },
    /// An input or output that is the caller's to give, and was not given.
    #[error("tensor `{tensor}` is the caller's to give, and no buffer is bound to it")]
    Unbound {
        /// The tensor.
        tensor: String,
    },
    /// A buffer that does not hold its tensor.
    #[error("tensor `{tensor}` needs {needed}, and the buffer bound to it has {given}")]
    TooSmall {
        /// The tensor.
        tensor: String,
        /// What it needs.
        needed: Bytes,
        /// What it was given.
        given: Bytes,
    },
    /// Something was bound to a tensor that takes nothing from the caller.
    #[error("a buffer is bound to tensor `{tensor}`, which is no input or output of the graph")]
    NotBindable {
        /// The tensor.
        tensor: String,
    },
    /// Two tensors in the same bytes of the caller, at the same time.
    #[error(
        "tensors `{first}` and `{second}` are bound to the same bytes, and `{second}` is written before `{first}` was read for the last time"
    )]
    Shared {
        /// The one that is read.
        first: String,
        /// The one that is written.
        second: String,
    },
    /// A constant without a value, or with one of another length.
    #[error("constant `{tensor}` has {needed} elements, and {given} were given")]
    Constant {
        /// The tensor.
        tensor: String,
        /// How many it has.
        needed: u64,
        /// How many were given.
        given: u64,
    },
    /// A loop whose number of rounds, or a branch whose arm, was not said.
    #[error("node `{node}` needs {what}, which was not given")]
    Undecided {
        /// The loop or branch.
        node: String,
        /// What has to be given.
        what: &'static str,
    },
    /// Contents are read after others took their bytes.
    #[error("node `{node}` reads tensor `{tensor}`, whose bytes hold something else by then")]
    Lost {
        /// The node that reads.
        node: String,
        /// The tensor.
        tensor: String,
    },
    /// A plan that this device's objects cannot follow.
    #[error("tensor `{tensor}` cannot be placed at {offset}: {problem}")]
    Place {
        /// The tensor.
        tensor: String,
        /// Its offset.
        offset: Bytes,
        /// What is wrong.
        problem: String,
    },
    /// No memory type suits every tensor of a memory.
    #[error("memory `{memory}` has no memory type that all of its tensors can be in")]
    MemoryType {
        /// The memory.
        memory: String,
    },
    /// The scratch pool may not grow further.
    #[error(
        "scratch of {wanted} does not fit: the pool holds {held} of at most {cap}, and none of it is free for this"
    )]
    Scratch {
        /// What was asked for.
        wanted: Bytes,
        /// What the pool holds.
        held: Bytes,
        /// Its cap.
        cap: Bytes,
    },
}
