//! Options for planning.

use serde::{Deserialize, Serialize};

use super::memory::MemoryDesc;
use super::offsets::Offsets;
use super::strategy::PlacementStrategy;
use crate::graph::{Graph, TensorId};
use crate::units::Alignment;

/// The placement of values that loops carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CarryRule {
    /// In the bytes of their loop parameter; if necessary the loop is unrolled, up to `unroll_limit`. Beyond it they are copied, and the plan lists the copies.
    #[default]
    Avoid,
    /// In their parameter's bytes; an error if that requires a copy.
    Forbid,
    /// Always copied: the baseline for comparisons.
    Copy,
}

/// Options for planning a graph.
///
/// ```
/// use tileheap_tensor::{ElementType, Graph, GraphBuilder, MemoryDesc, StorageOptions, TensorId, TensorPlanOptions, TensorRequirements, choose, plan};
/// use tileheap_tensor::plan::Backing;
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
/// // A small memory first, with the tensor named y pinned to it: one `mem_id` per tensor, regardless of the strategy.
/// let small = MemoryDesc::limited("sram", Bytes(256));
/// let of_y = |graph: &Graph, id: TensorId| (graph.tensor(id).name == "y").then(|| "sram".to_owned());
/// let options = TensorPlanOptions {
///     memories: vec![small, MemoryDesc::new("dram")],
///     memory_of: Some(&of_y),
///     plan_inputs: false, // x is the caller's, z is planned
///     in_place: false,
///     ..TensorPlanOptions::default()
/// };
/// let plan = plan(&choice.graph, &choice.layouts, &needs, &options)?;
/// assert_eq!((plan.tensor(x).backing, plan.tensor(z).backing), (Backing::External, Backing::Planned));
/// assert_eq!(plan.memories.iter().map(|memory| memory.size.0).collect::<Vec<_>>(), [256, 256]);
/// # Ok::<(), tileheap_tensor::Error>(())
/// ```
pub struct TensorPlanOptions<'a> {
    /// Places the tensors; [`Offsets`] by default.
    pub strategy: &'a dyn PlacementStrategy,
    /// The memories, in order of preference; if empty, one without limits per memory type that is needed.
    pub memories: Vec<MemoryDesc>,
    /// True if the graph's inputs are planned; otherwise the caller supplies their memory.
    pub plan_inputs: bool,
    /// True if the graph's outputs are planned; otherwise the caller supplies their memory.
    pub plan_outputs: bool,
    /// Inputs and outputs whose memory the caller supplies, regardless of `plan_inputs` and `plan_outputs`.
    pub external: Vec<TensorId>,
    /// True if outputs may overwrite operands where the node allows it.
    pub in_place: bool,
    /// The placement of values that loops carry.
    pub carry: CarryRule,
    /// The maximum unroll count of a loop.
    pub unroll_limit: u32,
    /// `bufferImageGranularity`: buffers in a memory that also holds images start and end at multiples of it.
    pub granularity: Alignment,
    /// Returns the memory that a tensor is pinned to; overrides the graph.
    #[allow(clippy::type_complexity)] // Spelled out for readers of the documentation.
    pub memory_of: Option<&'a dyn Fn(&Graph, TensorId) -> Option<String>>,
}

impl Default for TensorPlanOptions<'_> {
    fn default() -> Self {
        TensorPlanOptions {
            strategy: &Offsets(tileheap_pack::Strategy::Auto),
            memories: Vec::new(),
            plan_inputs: true,
            plan_outputs: true,
            external: Vec::new(),
            in_place: true,
            carry: CarryRule::default(),
            unroll_limit: 8,
            granularity: Alignment::ONE,
            memory_of: None,
        }
    }
}

impl std::fmt::Debug for TensorPlanOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TensorPlanOptions")
            .field("strategy", &self.strategy.name())
            .field("memories", &self.memories)
            .field("plan_inputs", &self.plan_inputs)
            .field("plan_outputs", &self.plan_outputs)
            .field("external", &self.external)
            .field("in_place", &self.in_place)
            .field("carry", &self.carry)
            .field("unroll_limit", &self.unroll_limit)
            .field("granularity", &self.granularity)
            .finish_non_exhaustive()
    }
}
