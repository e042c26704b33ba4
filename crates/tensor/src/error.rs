//! The crate's error type.

use crate::layout::ImageExtent;
use crate::units::Bytes;

/// `Result` with the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An impossible graph, layout or plan, or a network that cannot be created or recorded; names the tensor, node or kernel.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A node reads a tensor that no earlier node of its block produces.
    #[error("node `{node}` reads tensor `{tensor}`, which no earlier node of its block produces")]
    Dangling {
        /// The reader.
        node: String,
        /// What it reads.
        tensor: String,
    },
    /// Two nodes produce one tensor.
    #[error("tensor `{tensor}` is produced by `{first}` and again by `{second}`; a tensor is assigned once")]
    AssignedTwice {
        /// The tensor.
        tensor: String,
        /// The first producer.
        first: String,
        /// The second producer.
        second: String,
    },
    /// Two tensors of one name.
    #[error("two tensors are named `{tensor}`")]
    DuplicateName {
        /// The name.
        tensor: String,
    },
    /// A dimension below 0.
    #[error("tensor `{tensor}`: dimension {dim} is {value}; dimensions cannot be negative")]
    NegativeDimension {
        /// The tensor.
        tensor: String,
        /// The dimension as written.
        dim: String,
        /// Its value, or its greatest.
        value: i64,
    },
    /// A dimension without an upper bound.
    #[error(
        "tensor `{tensor}`: dimension {dim} has no upper bound below 2^63: symbol `{symbol}` needs a range"
    )]
    UnboundedDimension {
        /// The tensor.
        tensor: String,
        /// The dimension as written.
        dim: String,
        /// The symbol without a range.
        symbol: String,
    },
    /// A symbol's range is empty.
    #[error("symbol `{symbol}` has the empty range {least} to {most}")]
    EmptyRange {
        /// The symbol.
        symbol: String,
        /// Its least value.
        least: u64,
        /// Its greatest value.
        most: u64,
    },
    /// A symbol's value is outside its range.
    #[error("symbol `{symbol}` is {}; its range is {}", shown(*.value), range_shown(*.range))]
    SymbolOutOfRange {
        /// The symbol.
        symbol: String,
        /// Its value, if given.
        value: Option<u64>,
        /// Its range.
        range: Option<(u64, u64)>,
    },
    /// An operator does not accept its inputs, or no kernel computes it.
    #[error("node `{node}` ({operator}): {problem}")]
    Operator {
        /// The node.
        node: String,
        /// Its operator.
        operator: String,
        /// Why not.
        problem: String,
    },
    /// A loop's or branch's parts do not match.
    #[error("node `{node}`: {problem}")]
    Control {
        /// The loop or branch.
        node: String,
        /// What is wrong.
        problem: String,
    },
    /// A view exceeds its base, or is a view of itself.
    #[error("tensor `{tensor}` is a view of `{base}`: {problem}")]
    View {
        /// The view.
        tensor: String,
        /// Its base.
        base: String,
        /// What is wrong.
        problem: String,
    },
    /// The checker refuses a plan.
    #[error("tensor `{tensor}` {problem}")]
    InvalidPlan {
        /// The tensor.
        tensor: String,
        /// What is wrong.
        problem: String,
    },
    /// A tensor cannot have a layout, or kernels do not support it.
    #[error("tensor `{tensor}`: {problem}")]
    Layout {
        /// The tensor.
        tensor: String,
        /// Why not.
        problem: String,
    },
    /// An image exceeds the device's limits, and no alternative is allowed and possible.
    #[error(
        "tensor `{tensor}` is an image of {extent} texels; the limit is {limit}, and no other layout, grid of images or buffer is allowed and possible"
    )]
    ImageTooLarge {
        /// The tensor.
        tensor: String,
        /// Its extent.
        extent: ImageExtent,
        /// The largest there is.
        limit: ImageExtent,
    },
    /// A buffer exceeds the device's limits.
    #[error("tensor `{tensor}` is a buffer of {size}; the limit is {limit}")]
    BufferTooLarge {
        /// The tensor.
        tensor: String,
        /// Its size.
        size: Bytes,
        /// The largest there is.
        limit: Bytes,
    },
    /// A loop needs a copy per round where copies are forbidden.
    #[error(
        "loop `{node}`: the next value of `{tensor}` needs a copy in every round; unrolling up to {limit} times does not avoid it"
    )]
    LoopCopies {
        /// The loop.
        node: String,
        /// The parameter.
        tensor: String,
        /// The unroll limit.
        limit: u32,
    },
    /// A tensor fits into no memory.
    #[error("tensor `{tensor}` of {size} does not fit: memory `{memory}` has {capacity}{}", needed_shown(*.needed))]
    MemoryTooSmall {
        /// The largest tensor that does not fit.
        tensor: String,
        /// Its size.
        size: Bytes,
        /// The last memory that could hold it.
        memory: String,
        /// Its capacity.
        capacity: Bytes,
        /// The lower bound of the memory's tensors, where that alone exceeds the capacity.
        needed: Option<Bytes>,
    },
    /// A tensor is pinned to a memory that does not exist or cannot hold it.
    #[error("tensor `{tensor}` cannot be placed in memory `{memory}`: {problem}")]
    Memory {
        /// The tensor.
        tensor: String,
        /// The memory.
        memory: String,
        /// What is wrong.
        problem: String,
    },
    /// A given storage id cannot be used.
    #[error("tensor `{tensor}` has storage id {storage_id}: {problem}")]
    StorageId {
        /// The tensor.
        tensor: String,
        /// The id.
        storage_id: u32,
        /// What is wrong.
        problem: String,
    },
    /// A placement strategy returned an invalid answer.
    #[error("placement strategy `{strategy}`: {problem}")]
    Strategy {
        /// Its name.
        strategy: String,
        /// What is wrong.
        problem: String,
    },
    /// No buffer is bound to an external tensor.
    #[error("tensor `{tensor}` of {size} is external, and no buffer is bound to it")]
    NotBound {
        /// The tensor.
        tensor: String,
        /// What it needs.
        size: Bytes,
    },
    /// A packing problem is invalid.
    #[error("tensor `{tensor}`: {error}")]
    Pack {
        /// The tensor.
        tensor: String,
        /// What is wrong.
        error: tileheap_pack::Error,
    },
    /// A file cannot be read.
    #[error("{format}: {problem}")]
    Parse {
        /// Its format.
        format: &'static str,
        /// Where and what.
        problem: String,
    },
    /// No entry of a table has a name.
    #[error("unknown {kind} `{name}`; expected one of {known}")]
    UnknownName {
        /// The table: `storage policy`.
        kind: &'static str,
        /// The name.
        name: String,
        /// Every name, separated by commas.
        known: String,
    },
    /// A kernel cannot be used.
    #[error("kernel `{kernel}`: {problem}")]
    Kernel {
        /// Its name.
        kernel: String,
        /// What is wrong.
        problem: String,
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
    /// The runtime reports an error.
    #[cfg(feature = "vulkan")]
    #[error(transparent)]
    Tileheap(#[from] tileheap::Error),
}

#[cfg(feature = "vulkan")]
impl From<tileheap::runtime::RuntimeError> for Error {
    fn from(error: tileheap::runtime::RuntimeError) -> Error {
        Error::Tileheap(error.into())
    }
}

#[cfg(feature = "vulkan")]
impl From<tileheap::frame::shaders::ShaderError> for Error {
    fn from(error: tileheap::frame::shaders::ShaderError) -> Error {
        Error::Tileheap(error.into())
    }
}

fn shown(value: Option<u64>) -> String {
    value.map_or("not set".to_owned(), |value| value.to_string())
}

fn range_shown(range: Option<(u64, u64)>) -> String {
    range.map_or("any value".to_owned(), |(least, most)| {
        format!("{least} to {most}")
    })
}

fn needed_shown(needed: Option<Bytes>) -> String {
    needed.map_or(String::new(), |needed| {
        format!(", and {needed} are needed at once")
    })
}
