//! What a caller decides about a plan.

use serde::{Deserialize, Serialize};

use super::space::SpaceAlgorithm;
use super::strategy::TensorStrategy;
use crate::units::{Alignment, Bytes};
use crate::{Graph, TensorId};

/// A memory that tensors can be in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryDesc {
    /// Its name: `sram`, `dram`, `device`.
    pub name: String,
    /// The bytes that are there; without, as many as it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Bytes>,
    /// Every tensor in it is aligned to this besides its own alignment.
    pub alignment: Alignment,
    /// The memory types that it is made of; a tensor with none of them cannot be in it.
    pub memory_type_bits: u32,
}

impl MemoryDesc {
    /// A memory without limits.
    pub fn new(name: impl Into<String>) -> MemoryDesc {
        MemoryDesc {
            name: name.into(),
            capacity: None,
            alignment: Alignment::ONE,
            memory_type_bits: u32::MAX,
        }
    }
}

/// What is done about values that loops carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CarryRule {
    /// In their place, by unrolling up to the limit; copied and counted past it.
    #[default]
    Avoid,
    /// In their place, or an error.
    Forbid,
    /// Always copied: the baseline.
    Copy,
}

/// How a graph is planned.
///
/// ```
/// use tileheap_tensor::{
///     ElementType, Graph, GraphBuilder, Home, MemoryDesc, StorageOptions, TensorId, TensorPlanOptions,
///     TensorRequirements, choose, plan,
/// };
/// use tileheap_tensor::units::{Alignment, Bytes};
///
/// let mut graph = GraphBuilder::new("three");
/// let x = graph.input("x", ElementType::Float32, [64]);
/// let y = graph.operator("y", "exp", [], &[x])?[0];
/// let z = graph.operator("z", "exp", [], &[y])?[0];
/// graph.output(z);
/// let choice = choose(&graph.build()?, &StorageOptions::default())?;
/// let pitch = Alignment::new(64).expect("not 0"); // of image rows, in bytes
/// let needs: Vec<_> = choice.layouts.iter().map(|of| TensorRequirements::of_layout(of, pitch)).collect();
///
/// // A small memory first, and what is named y in it: a `mem_id` per tensor, over the strategy.
/// let small = MemoryDesc { capacity: Some(Bytes(256)), ..MemoryDesc::new("sram") };
/// let of_y = |graph: &Graph, id: TensorId| (graph.tensor(id).name == "y").then(|| "sram".to_owned());
/// let options = TensorPlanOptions {
///     memories: vec![small, MemoryDesc::new("dram")],
///     memory_of: Some(&of_y),
///     plan_inputs: false, // x is the caller's, z is planned
///     in_place: false,
///     ..TensorPlanOptions::default()
/// };
/// let plan = plan(&choice.graph, &choice.layouts, &needs, &options)?;
/// assert_eq!((plan.tensor(x).home, plan.tensor(z).home), (Home::Caller, Home::Planned));
/// assert_eq!(plan.memories.iter().map(|memory| memory.size.0).collect::<Vec<_>>(), [256, 256]);
/// # Ok::<(), tileheap_tensor::TensorError>(())
/// ```
pub struct TensorPlanOptions<'a> {
    /// How tensors get their bytes.
    pub strategy: TensorStrategy,
    /// The memories, in order of preference; empty for one without limits per memory type that is needed.
    pub memories: Vec<MemoryDesc>,
    /// Whether the graph's inputs are planned; else the caller gives their memory.
    pub plan_inputs: bool,
    /// Whether the graph's outputs are planned; else the caller gives their memory.
    pub plan_outputs: bool,
    /// Inputs and outputs that the caller gives memory for, whatever the two switches say.
    pub given: Vec<TensorId>,
    /// Whether outputs are written over operands where the node allows it.
    pub in_place: bool,
    /// What is done about values that loops carry.
    pub carry: CarryRule,
    /// How often a loop is unrolled at most.
    pub unroll_limit: u32,
    /// `bufferImageGranularity`: buffers that share a memory with images start and end at it.
    pub granularity: Alignment,
    /// Says for a tensor which memory it has to be in, over what the graph says.
    #[allow(clippy::type_complexity)] // One function, written out where users look for it.
    pub memory_of: Option<&'a dyn Fn(&Graph, TensorId) -> Option<String>>,
    /// An algorithm of the user's, in place of the strategy.
    pub algorithm: Option<&'a dyn SpaceAlgorithm>,
}

impl Default for TensorPlanOptions<'_> {
    fn default() -> Self {
        TensorPlanOptions {
            strategy: TensorStrategy::default(),
            memories: Vec::new(),
            plan_inputs: true,
            plan_outputs: true,
            given: Vec::new(),
            in_place: true,
            carry: CarryRule::default(),
            unroll_limit: 8,
            granularity: Alignment::ONE,
            memory_of: None,
            algorithm: None,
        }
    }
}

impl std::fmt::Debug for TensorPlanOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TensorPlanOptions")
            .field("strategy", &self.strategy)
            .field("memories", &self.memories)
            .field("plan_inputs", &self.plan_inputs)
            .field("plan_outputs", &self.plan_outputs)
            .field("given", &self.given)
            .field("in_place", &self.in_place)
            .field("carry", &self.carry)
            .field("unroll_limit", &self.unroll_limit)
            .field("granularity", &self.granularity)
            .field("algorithm", &self.algorithm.map(SpaceAlgorithm::name))
            .finish_non_exhaustive()
    }
}
