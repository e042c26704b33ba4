//! What can be wrong with a graph, a layout, or the memories it is planned into.

use super::layout::ImageExtent;
use crate::units::Bytes;

/// What is wrong with a graph, a layout, or the memories it is planned into; the tensor or node by name.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorError {
    /// A node reads what nothing in its block makes before.
    #[error("node `{node}` reads tensor `{tensor}`, which nothing in its block makes before it")]
    Dangling {
        /// The reader.
        node: String,
        /// What it reads.
        tensor: String,
    },
    /// A tensor that is assigned twice.
    #[error("tensor `{tensor}` is made by `{first}` and again by `{second}`; a tensor is assigned once")]
    SecondProducer {
        /// The tensor.
        tensor: String,
        /// Who makes it.
        first: String,
        /// Who else.
        second: String,
    },
    /// Two tensors of one name.
    #[error("two tensors are called `{tensor}`")]
    SameName {
        /// The name.
        tensor: String,
    },
    /// A dimension below 0.
    #[error("tensor `{tensor}`: dimension {dim} is {value}; a dimension is 0 or more")]
    Negative {
        /// The tensor.
        tensor: String,
        /// The dimension as it is written.
        dim: String,
        /// Its value, or its greatest.
        value: i64,
    },
    /// A dimension without an upper bound.
    #[error(
        "tensor `{tensor}`: dimension {dim} has no upper bound below 2^63: symbol `{symbol}` needs a range"
    )]
    Unbounded {
        /// The tensor.
        tensor: String,
        /// The dimension as it is written.
        dim: String,
        /// The symbol without a range.
        symbol: String,
    },
    /// A range that ends before it begins.
    #[error("symbol `{symbol}` has the range {least} to {most}")]
    EmptyRange {
        /// The symbol.
        symbol: String,
        /// Its least value.
        least: u64,
        /// Its greatest value.
        most: u64,
    },
    /// A value that the plan was not made for.
    #[error("symbol `{symbol}` is {}; the plan is made for {}", shown(*.value), range_shown(*.range))]
    SymbolOutOfRange {
        /// The symbol.
        symbol: String,
        /// Its value; none where it was not given.
        value: Option<u64>,
        /// What it may be.
        range: Option<(u64, u64)>,
    },
    /// Shapes that an operator does not take.
    #[error("node `{node}` ({operator}): {problem}")]
    Operator {
        /// The node.
        node: String,
        /// What it does.
        operator: String,
        /// What it does not take.
        problem: String,
    },
    /// A loop or branch whose parts do not go together.
    #[error("node `{node}`: {problem}")]
    Control {
        /// The loop or branch.
        node: String,
        /// What is wrong.
        problem: String,
    },
    /// A view beyond its base, or of itself.
    #[error("tensor `{tensor}` is a view of `{base}`: {problem}")]
    View {
        /// The view.
        tensor: String,
        /// What it is a part of.
        base: String,
        /// What is wrong.
        problem: String,
    },
    /// A plan that is wrong: what a judge says of it.
    #[error("tensor `{tensor}` {problem}")]
    Plan {
        /// The tensor.
        tensor: String,
        /// What is wrong.
        problem: String,
    },
    /// A layout that a tensor cannot have.
    #[error("tensor `{tensor}`: {problem}")]
    Layout {
        /// The tensor.
        tensor: String,
        /// Why not.
        problem: String,
    },
    /// An image over the device's limits, and nothing else allowed or possible.
    #[error(
        "tensor `{tensor}` is an image of {extent} texels; the limit is {limit}, and neither another layout nor a grid nor a buffer is allowed and possible"
    )]
    ImageTooLarge {
        /// The tensor.
        tensor: String,
        /// Its extent.
        extent: ImageExtent,
        /// The largest there is.
        limit: ImageExtent,
    },
    /// A buffer over the device's limits.
    #[error("tensor `{tensor}` is a buffer of {size}; the limit is {limit}")]
    BufferTooLarge {
        /// The tensor.
        tensor: String,
        /// Its size.
        size: Bytes,
        /// The largest there is.
        limit: Bytes,
    },
    /// A loop whose values have to be copied from round to round, where that is forbidden.
    #[error(
        "loop `{node}`: the next value of `{tensor}` has to be copied from round to round; unrolling {limit} times at most does not avoid it"
    )]
    LoopCopies {
        /// The loop.
        node: String,
        /// The parameter.
        tensor: String,
        /// How often it may be unrolled.
        limit: u32,
    },
    /// What does not fit into the memories.
    #[error("tensor `{tensor}` of {size} does not fit: memory `{memory}` has {capacity}{}", needed_shown(*.needed))]
    MemoryTooSmall {
        /// A tensor that found no place: the largest.
        tensor: String,
        /// Its size.
        size: Bytes,
        /// The last memory it could be in.
        memory: String,
        /// Its capacity.
        capacity: Bytes,
        /// What everything in it needs at once, where that alone is too much.
        needed: Option<Bytes>,
    },
    /// A memory that no one has described, or that cannot hold the tensor.
    #[error("tensor `{tensor}` has to be in memory `{memory}`: {problem}")]
    Memory {
        /// The tensor.
        tensor: String,
        /// The memory.
        memory: String,
        /// What is wrong.
        problem: String,
    },
    /// A pool entry that was given and cannot be honoured.
    #[error("tensor `{tensor}` has storage id {storage_id}: {problem}")]
    StorageId {
        /// The tensor.
        tensor: String,
        /// The id.
        storage_id: u32,
        /// What is wrong.
        problem: String,
    },
    /// A user's algorithm gave what is no plan.
    #[error("algorithm `{algorithm}`: {problem}")]
    Algorithm {
        /// Its name.
        algorithm: String,
        /// What is wrong.
        problem: String,
    },
    /// The caller has to give memory for it and did not.
    #[error("tensor `{tensor}` of {size} is not planned, and is bound to nothing")]
    Unbound {
        /// The tensor.
        tensor: String,
        /// What it needs.
        size: Bytes,
    },
    /// A packing problem that cannot be.
    #[error("tensor `{tensor}`: {fault}")]
    Pack {
        /// The tensor that the fault is about.
        tensor: String,
        /// What is wrong.
        fault: tileheap_pack::Error,
    },
    /// A text that is no graph.
    #[error("{form}: {problem}")]
    Text {
        /// What it was read as.
        form: &'static str,
        /// Where and what.
        problem: String,
    },
    /// A strategy's name that is none.
    #[error("no tensor strategy is called `{name}`: one of {known}")]
    UnknownStrategy {
        /// The name.
        name: String,
        /// All names.
        known: String,
    },
}

fn shown(value: Option<u64>) -> String {
    value.map_or("not given".to_owned(), |value| value.to_string())
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
