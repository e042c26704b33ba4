//! Plans: memories, placements, lifetimes, aliasing, copies.

use serde::{Deserialize, Serialize};

use super::item::SpaceItem;
use crate::graph::{NodeId, TensorId};
use crate::layout::{Layout, Storage};
use crate::units::{Alignment, Bytes, Span, Step};

/// A memory of a plan: its index in [`TensorPlan::memories`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MemoryId(pub u32);

/// The memory plan of a graph: the placement of every tensor, and the barriers and copies that it requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorPlan {
    /// The memories, in the order of the options.
    pub memories: Vec<MemoryPlan>,
    /// The plan of each tensor of the graph, by id.
    pub tensors: Vec<PlacedTensor>,
    /// The allocations: each is a tensor, or several that share a placement, with all lifetimes.
    pub allocations: Vec<Allocation>,
    /// The node of each step: bodies replace their loops and branches, once per unrolled copy.
    pub timeline: Vec<TimelineStep>,
    /// The steps in which a node overwrites bytes that other tensors used.
    pub aliasing: Vec<Aliasing>,
    /// Copies of values that cannot be produced in place: before the first round of a loop, from one round to the next, out of a branch, or to an
    /// output in the caller's memory. [`CarryRule::Copy`](super::CarryRule::Copy) adds copies of all carried values.
    pub copies: Vec<ValueCopy>,
    /// The unroll count of each loop, by node.
    pub unrolled: Vec<(NodeId, u32)>,
    /// Nested loops whose round numbers continue from one execution to the next.
    pub continued: Vec<ContinuedLoop>,
}

/// A nested loop whose round numbers continue: for the placements of its body and its results, an execution's first round has the number at which the
/// previous execution was left. It thus begins where that execution left its values, which then need no copy.
///
/// Source: NNC's [article](crate#sources), "Multi-view Tensor", for loops within loops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContinuedLoop {
    /// The nested loop.
    pub node: NodeId,
    /// An enclosing loop: in each of its executions, the first execution of the nested loop begins with round 0.
    pub within: NodeId,
    /// For each exit: the next execution begins this many rounds after the round in which the loop was left there. 0 if its results are the
    /// values with which that round began; 1 if they are those of the next round.
    pub more: Vec<u64>,
}

/// Bytes used by one tensor, or by several with a common placement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocation {
    /// The name of the tensor, or of the first of several.
    pub name: String,
    /// The location: a memory and a range of its bytes.
    pub region: Region,
    /// The lifetimes of the tensor, or of all tensors.
    pub lifetimes: Vec<Span>,
}

impl Allocation {
    /// Creates an allocation for each item.
    pub(super) fn of_items(items: &[SpaceItem], regions: &[Region]) -> Vec<Allocation> {
        let allocation = |(item, &region): (&SpaceItem, &Region)| Allocation {
            name: item.name.clone(),
            region,
            lifetimes: item.lifetimes.clone(),
        };
        items.iter().zip(regions).map(allocation).collect()
    }
}

/// A memory and the plan's use of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryPlan {
    /// The memory's name.
    pub name: String,
    /// The bytes that the plan uses: the highest end offset of a tensor in this memory, or the bytes that the strategy reserves, if more.
    pub size: Bytes,
    /// The most bytes needed at one step, regardless of copies, unrolling and in-place writes: no plan of the same tensors in this
    /// memory, in the same layouts, is smaller; with several memories, the tensors are those that were chosen for it. Only one arm of a branch and one exit of a loop count.
    pub lower_bound: Bytes,
    /// The alignment of the memory as a whole.
    pub alignment: Alignment,
    /// The memory's capacity, if limited.
    pub capacity: Option<Bytes>,
    /// Bytes of all reads and writes of the memory's tensors in one run, including those of copies ([`TensorPlan::copies`]). A loop counts with its rounds;
    /// if their number is not known, each unrolled copy of its body counts once. Every arm of a branch counts.
    pub traffic: Bytes,
    /// An upper bound on the traffic of any selection of tensors that fit, given the selections of earlier memories, the in-place writes and the copies.
    pub traffic_bound: Bytes,
}

/// A tensor in a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedTensor {
    /// The source of the tensor's memory.
    pub backing: Backing,
    /// The tensor's layout.
    pub layout: Layout,
    /// The tensor's size according to the driver's requirements; 0 unless planned.
    pub size: Bytes,
    /// The tensor's bytes; `None` unless planned.
    pub placement: Option<Placement>,
    /// The tensor's lifetime: one span, or one for each unrolled copy of a loop's body. The output of a loop is live from the end of the loop on; if
    /// nothing runs after the loop, at the steps after which it is left.
    pub lifetimes: Vec<Span>,
}

/// The source of a tensor's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backing {
    /// A region of one of the plan's memories.
    Planned,
    /// Memory that the caller binds at run time to an unplanned input or output; also for values that share the bytes of such a tensor.
    External,
    /// Memory outside the planned memories, for a constant.
    Constant,
}

/// A range of bytes in a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Region {
    /// The memory.
    pub memory: MemoryId,
    /// The region's offset in the memory.
    pub offset: Bytes,
    /// The region's size.
    pub size: Bytes,
}

impl Region {
    /// The end offset of the region.
    pub fn end(&self) -> Bytes {
        Bytes(self.offset.0.saturating_add(self.size.0))
    }

    /// Returns true if two regions share bytes.
    pub fn overlaps(&self, other: &Region) -> bool {
        self.memory == other.memory
            && self.offset.0 < other.offset.0 + other.size.0
            && other.offset.0 < self.offset.0 + self.size.0
    }
}

/// The bytes of a tensor: one region, or one that changes from round to round of its loop.
///
/// Source: NNC's [article](crate#sources), "Multi-view Tensor".
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// One region in all rounds.
    At(Region),
    /// A part of another tensor, at that tensor's current location: external bytes, a constant, or a loop's result.
    Within {
        /// The other tensor.
        tensor: TensorId,
        /// The offset within that tensor.
        offset: Bytes,
    },
    /// Different regions in successive rounds.
    PerRound(RoundPlacements),
    /// For a loop's output: the placement of each exit's result, in the round in which the loop was left.
    AtExit(Vec<Placement>),
}

/// Placements in successive rounds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RoundPlacements {
    /// The placements in the first rounds: none if the initial value is in the bytes of later ones (type I); one, of round 0, if it is elsewhere
    /// (type II); more if values of several rounds ago are read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<Placement>,
    /// Round `i` uses entry `i % len`, unless it is one of the first rounds: the period is the number of entries.
    pub repeat: Vec<Placement>,
}

impl Placement {
    /// The placement in a round of each enclosing loop, outermost first; the same placement for all rounds if it does not change.
    pub fn at(&self, rounds: &[u64]) -> &Placement {
        match (self, rounds) {
            (Placement::PerRound(views), [round, rest @ ..]) => {
                let first = usize::try_from(*round)
                    .ok()
                    .and_then(|round| views.first.get(round));
                let repeated = (*round % views.repeat.len() as u64) as usize;
                first.unwrap_or(&views.repeat[repeated]).at(rest)
            }
            _ => self,
        }
    }

    /// The region, given one iteration number per enclosing loop; `None` for a part of another tensor and for a loop's result.
    pub fn region(&self, rounds: &[u64]) -> Option<Region> {
        match self.at(rounds) {
            Placement::At(region) => Some(*region),
            _ => None,
        }
    }

    /// Every region that the placement uses.
    pub fn regions(&self) -> Vec<Region> {
        match self {
            Placement::At(region) => vec![*region],
            Placement::Within { .. } => Vec::new(),
            Placement::PerRound(views) => {
                let all = views.first.iter().chain(&views.repeat);
                all.flat_map(Placement::regions).collect()
            }
            Placement::AtExit(exits) => exits.iter().flat_map(Placement::regions).collect(),
        }
    }
}

/// The node that runs at a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineStep {
    /// The node.
    pub node: NodeId,
    /// The unrolled copy of each enclosing loop, outermost first.
    pub copies: Vec<u32>,
}

/// Aliased bytes: a node's output reuses bytes of other tensors, whose last accesses must complete before the node runs; an image
/// starts in `VK_IMAGE_LAYOUT_UNDEFINED`.
///
/// Without the barrier results differ from run to run: <https://github.com/pytorch/executorch/pull/17309>.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aliasing {
    /// The step.
    pub step: Step,
    /// The node that runs at this step.
    pub node: NodeId,
    /// The output that reuses the bytes.
    pub output: TensorId,
    /// The tensors that used some of the bytes: at an earlier step, or at a later one of the previous round or run.
    pub previous: Vec<TensorId>,
}

/// A copy of a value that could not be produced in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueCopy {
    /// The loop or branch that needs the copy; for an output of the graph in the caller's memory, the last node.
    pub node: NodeId,
    /// The tensor whose value is copied.
    pub from: TensorId,
    /// The tensor that receives the copy.
    pub to: TensorId,
    /// The size of the value. [`time`](Self::time) says how often it is copied.
    pub size: Bytes,
    /// The time of the copy.
    pub time: CopyTime,
    /// The reason for the copy.
    pub reason: CopyReason,
}

/// The reason for copying a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopyReason {
    /// [`CarryRule::Copy`](super::CarryRule::Copy) requires it.
    Asked,
    /// The value and its destination are needed at the same time, whatever the unroll count within the limit; or one of them is external.
    Overlap,
    /// An output of the graph is in the caller's memory, but its value is made elsewhere: by a loop, as a part of another tensor, or as another
    /// input or output. `from` and `to` are the same tensor: from its placement to the caller's memory.
    External,
}

impl std::fmt::Display for CopyReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            CopyReason::Asked => "copies were requested",
            CopyReason::Overlap => "both values are needed at the same time, or one is external",
            CopyReason::External => "the output is in the caller's memory, but its value is made elsewhere",
        })
    }
}

impl std::fmt::Display for CopyTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            CopyTime::Enter => "before the first round",
            CopyTime::Round => "in every round",
            CopyTime::Leave => "at the end",
        })
    }
}

/// The time of a value's copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopyTime {
    /// Before the first round.
    Enter,
    /// At the end of every round.
    Round,
    /// When the loop or branch is left; for an output of the graph, at the end of the run.
    Leave,
}

/// Memory requirements of a tensor's buffer or images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TensorRequirements {
    /// Size in bytes; for a grid, that of all its images, each at its alignment.
    pub size: Bytes,
    /// Required alignment in the memory.
    pub alignment: Alignment,
    /// Memory types that can hold the buffer or the images, as a bit mask.
    pub memory_type_bits: u32,
    /// True for an image; `bufferImageGranularity` separates images from buffers.
    pub image: bool,
}

impl TensorRequirements {
    /// An estimate from the layout: rows and the total size are rounded up to multiples of `pitch`.
    pub fn of_layout(layout: &Layout, pitch: Alignment) -> TensorRequirements {
        TensorRequirements {
            size: layout.bytes_with_pitch(pitch).align_up(pitch),
            alignment: pitch,
            memory_type_bits: u32::MAX,
            image: layout.rule.storage.is_image(),
        }
    }
}

impl TensorPlan {
    /// The tensor with this id, as planned.
    pub fn tensor(&self, id: TensorId) -> &PlacedTensor {
        &self.tensors[id.index()]
    }

    /// The total size of all memories.
    pub fn size(&self) -> Bytes {
        self.memories.iter().map(|memory| memory.size).sum()
    }

    /// The sum of the lower bounds of all memories.
    pub fn lower_bound(&self) -> Bytes {
        self.memories.iter().map(|memory| memory.lower_bound).sum()
    }

    /// The storage of a tensor.
    pub fn storage(&self, id: TensorId) -> Storage {
        self.tensor(id).layout.rule.storage
    }
}
