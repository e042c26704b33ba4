//! The crate's error type.

use crate::units::Bytes;

/// `Result` with the crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An impossible graph, layout or plan, or a network that cannot be created or recorded; names the tensor, node or kernel.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A tensor is not allowed in a graph, cannot be laid out, placed or bound as requested, or is not supported by any
    /// kernel.
    #[error("tensor `{tensor}`: {problem}")]
    Tensor {
        /// The name of the tensor.
        tensor: String,
        /// A description of the problem.
        problem: String,
    },
    /// A dimension of a tensor has no upper bound.
    #[error("tensor `{tensor}`: a dimension has no upper bound below 2^63: `{symbol}` needs a range")]
    Unbounded {
        /// The name of the tensor.
        tensor: String,
        /// The dimension, as an expression.
        dimension: String,
        /// The name of the symbol without a range.
        symbol: String,
    },
    /// The parts of a loop or branch do not match, it needs copies that are not allowed, a decision is missing, or a node
    /// reads overwritten bytes.
    #[error("node `{node}`: {problem}")]
    Control {
        /// The name of the node.
        node: String,
        /// A description of the problem.
        problem: String,
    },
    /// An operator does not accept its inputs, or no kernel computes it.
    #[error("node `{node}` ({operator}): {problem}")]
    Operator {
        /// The name of the node.
        node: String,
        /// The node's operator.
        operator: String,
        /// The reason why the node is rejected.
        problem: String,
    },
    /// A node reads a tensor that no earlier node of its block produces.
    #[error("{} tensor `{tensor}`, which {}", reads(.node), produced(.producer))]
    Dangling {
        /// The name of the node that reads the tensor; `the outputs` if the tensor is listed as an output of a graph or body.
        node: String,
        /// The name of the tensor.
        tensor: String,
        /// Where the tensor is produced.
        producer: TensorProducer,
    },
    /// A symbol has an empty range, or a value outside its range.
    #[error("symbol `{symbol}` {problem}")]
    Symbol {
        /// The name of the symbol.
        symbol: String,
        /// A description of the problem.
        problem: String,
    },
    /// The checker rejected a plan.
    #[error("tensor `{tensor}` {problem}")]
    InvalidPlan {
        /// The name of the tensor that the checker found wrong.
        tensor: String,
        /// A description of the problem.
        problem: String,
    },
    /// A tensor does not fit into any memory in which it may be placed.
    #[error("tensor `{tensor}` of {size} does not fit: memory `{memory}` has {capacity}{}", needed_shown(*.needed))]
    MemoryTooSmall {
        /// The name of the largest tensor that does not fit.
        tensor: String,
        /// The size of the tensor.
        size: Bytes,
        /// The name of the last memory in which the tensor may be placed.
        memory: String,
        /// The capacity of the memory.
        capacity: Bytes,
        /// A lower bound on the bytes that the memory's tensors need, if it already exceeds the capacity.
        needed: Option<Bytes>,
    },
    /// A placement strategy returned an invalid answer.
    #[error("placement strategy `{strategy}`: {problem}")]
    Strategy {
        /// The name of the strategy.
        strategy: String,
        /// A description of the problem.
        problem: String,
    },
    /// A file cannot be parsed.
    #[error("{format}: {problem}")]
    Parse {
        /// The format of the file.
        format: &'static str,
        /// The position and the problem.
        problem: String,
    },
    /// No storage policy has this name.
    #[error("unknown storage policy `{name}`; expected one of {known}")]
    UnknownPolicy {
        /// The unknown name.
        name: String,
        /// Every name, separated by commas.
        known: String,
    },
    /// A kernel cannot be used.
    #[error("kernel `{kernel}`: {problem}")]
    Kernel {
        /// The name of the kernel.
        kernel: String,
        /// A description of the problem.
        problem: String,
    },
    /// No memory type supports every tensor of a memory.
    #[error("memory `{memory}`: no memory type supports all of its tensors")]
    MemoryType {
        /// The name of the memory.
        memory: String,
    },
    /// An error of the `tileheap` crate.
    #[cfg(feature = "vulkan")]
    #[error(transparent)]
    Tileheap(#[from] tileheap::Error),
}

/// Where a tensor is produced that a node reads too early.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TensorProducer {
    /// Not by an earlier node of the block; perhaps in another block.
    Elsewhere,
    /// Nowhere.
    Nowhere,
    /// By a later node.
    Later(String),
    /// By a node that depends on the reader: the graph has a cycle.
    Dependent(String),
}

impl Error {
    pub(crate) fn tensor(tensor: &str, problem: impl ToString) -> Error {
        let (tensor, problem) = (tensor.to_owned(), problem.to_string());
        Error::Tensor { tensor, problem }
    }

    pub(crate) fn control(node: &str, problem: impl ToString) -> Error {
        let (node, problem) = (node.to_owned(), problem.to_string());
        Error::Control { node, problem }
    }

    #[cfg(feature = "vulkan")]
    pub(crate) fn overwritten(node: &str, tensor: &str) -> Error {
        let problem = format!("it reads tensor `{tensor}`, whose bytes an earlier node has overwritten");
        Error::control(node, problem)
    }

    pub(crate) fn dangling(node: &str, tensor: impl ToString) -> Error {
        let (node, tensor) = (node.to_owned(), tensor.to_string());
        let producer = TensorProducer::Elsewhere;
        Error::Dangling {
            node,
            tensor,
            producer,
        }
    }

    pub(crate) fn parse(format: &'static str, problem: impl ToString) -> Error {
        let problem = problem.to_string();
        Error::Parse { format, problem }
    }

    #[cfg(feature = "vulkan")]
    pub(crate) fn kernel(kernel: &str, problem: impl ToString) -> Error {
        let (kernel, problem) = (kernel.to_owned(), problem.to_string());
        Error::Kernel { kernel, problem }
    }

    pub(crate) fn operator(node: &str, operator: &str, problem: impl ToString) -> Error {
        Error::Operator {
            node: node.to_owned(),
            operator: operator.to_owned(),
            problem: problem.to_string(),
        }
    }
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

/// The subject and verb of the message of [`Error::Dangling`].
fn reads(node: &str) -> String {
    match node {
        "the outputs" => "the outputs include".to_owned(),
        node => format!("node `{node}` reads"),
    }
}

/// The end of the message of [`Error::Dangling`].
fn produced(producer: &TensorProducer) -> String {
    match producer {
        TensorProducer::Elsewhere => "no earlier node of its block produces".to_owned(),
        TensorProducer::Nowhere => {
            "nothing produces: it must be an input, a constant or an output of a node, even if it is a view"
                .to_owned()
        }
        TensorProducer::Later(node) => {
            format!("node `{node}` produces later: nodes must come after those whose outputs they read")
        }
        TensorProducer::Dependent(node) => {
            format!("node `{node}` produces from the results of this node: the graph has a cycle")
        }
    }
}

fn needed_shown(needed: Option<Bytes>) -> String {
    needed.map_or(String::new(), |needed| {
        format!(", and {needed} are needed at once")
    })
}
