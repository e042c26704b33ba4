//! What a plan says: memories, places, lives, hand-overs, copies.

use serde::{Deserialize, Serialize};

use crate::units::{Alignment, Bytes, Span, Step};
use crate::{Layout, NodeId, Storage, TensorId};

/// A memory of a plan, by its place in [`TensorPlan::memories`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MemoryId(pub u32);

/// Where every tensor of a graph is, and what has to happen between nodes so that it can be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorPlan {
    /// The memories that were given, in their order.
    pub memories: Vec<MemoryPlan>,
    /// One per tensor of the graph, by id.
    pub tensors: Vec<PlacedTensor>,
    /// What was placed: a tensor, or several that share a place, with all of its lives.
    pub slots: Vec<Slot>,
    /// What runs at each step: bodies in place of their nodes, loops as often as they are unrolled.
    pub timeline: Vec<Moment>,
    /// Where bytes change hands, by step.
    pub handovers: Vec<Handover>,
    /// Data that has to be moved from one round of a loop to the next, or out of a branch. Empty but for loops past the limit
    /// of unrolling and the baseline that was asked for.
    pub copies: Vec<ValueCopy>,
    /// How often each loop is unrolled, by node.
    pub unrolled: Vec<(NodeId, u32)>,
}

/// Something that has bytes, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// Its name; of several tensors in turn, that of the first.
    pub name: String,
    /// Where it is.
    pub region: Region,
    /// When it lives.
    pub lives: Vec<Span>,
}

/// A memory and what the plan takes of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryPlan {
    /// Its name.
    pub name: String,
    /// The end of the highest tensor.
    pub size: Bytes,
    /// The most bytes that live in it at one step: no plan of the same tensors in it takes less.
    pub bound: Bytes,
    /// What the whole has to be aligned to.
    pub alignment: Alignment,
    /// The bytes that are there, where that was said.
    pub capacity: Option<Bytes>,
}

/// Where a tensor is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedTensor {
    /// Who gives it memory.
    pub home: Home,
    /// How its elements lie.
    pub layout: Layout,
    /// What it takes of its memory, at the driver's size; 0 where it is not planned.
    pub size: Bytes,
    /// Its bytes; none where it is not planned.
    pub place: Option<Place>,
    /// The steps of its life: one span, or one for each unrolled copy of a loop's body.
    pub lives: Vec<Span>,
}

/// Who gives a tensor its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Home {
    /// The plan, in one of its memories.
    Planned,
    /// The caller, when the network runs: an input or output that is not planned, or a value that has to be in its place. To run
    /// without is an error.
    Caller,
    /// A constant: outside of the planned memories.
    Constant,
}

/// Bytes of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Region {
    /// The memory.
    pub memory: MemoryId,
    /// Where it begins.
    pub offset: Bytes,
    /// How many.
    pub size: Bytes,
}

impl Region {
    /// Whether two regions share bytes.
    pub fn overlaps(&self, other: &Region) -> bool {
        self.memory == other.memory
            && self.offset.0 < other.offset.0 + other.size.0
            && other.offset.0 < self.offset.0 + self.size.0
    }
}

/// The bytes of a tensor: one region, or another one from round to round of the loop that it is in.
///
/// Source: NNC's [article](crate#sources), "Multi-view Tensor".
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Always the same.
    At(Region),
    /// A part of another tensor, wherever that is at the moment: bytes that the caller gives, a constant, or what a loop left.
    Within {
        /// The other tensor.
        tensor: TensorId,
        /// Where it begins in it.
        offset: Bytes,
    },
    /// One after the other.
    Rounds(MultiView),
    /// Of a loop's output: where the result of each of its exits is, in the round in which the loop was left there.
    Left(Vec<Place>),
}

/// Places that follow one another from round to round.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MultiView {
    /// In the first rounds. None: type I. One, for round 0: type II. More where values of several rounds ago are read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<Place>,
    /// In round `i` after those, entry `i % len`: the repeat length is the length.
    pub repeat: Vec<Place>,
}

impl Place {
    /// The place in a round of each loop around it, outermost first; as it is where it does not change.
    pub fn at(&self, rounds: &[u64]) -> &Place {
        match (self, rounds) {
            (Place::Rounds(views), [round, rest @ ..]) => {
                let first = usize::try_from(*round)
                    .ok()
                    .and_then(|round| views.first.get(round));
                let repeated = (*round % views.repeat.len() as u64) as usize;
                first.unwrap_or(&views.repeat[repeated]).at(rest)
            }
            _ => self,
        }
    }

    /// The region in a round of each loop around it; `None` for a part of another tensor and for what a loop left.
    pub fn region(&self, rounds: &[u64]) -> Option<Region> {
        match self.at(rounds) {
            Place::At(region) => Some(*region),
            _ => None,
        }
    }

    /// Every region that it takes in turn.
    pub fn regions(&self) -> Vec<Region> {
        match self {
            Place::At(region) => vec![*region],
            Place::Within { .. } => Vec::new(),
            Place::Rounds(views) => views
                .first
                .iter()
                .chain(&views.repeat)
                .flat_map(Place::regions)
                .collect(),
            Place::Left(exits) => exits.iter().flat_map(Place::regions).collect(),
        }
    }
}

/// What runs at a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// The node.
    pub node: NodeId,
    /// Which unrolled copy of each loop around it, outermost first.
    pub copies: Vec<u32>,
}

/// Bytes that change hands: before the node runs, its output is written where others were, whose last accesses have to be
/// over; an image comes from `VK_IMAGE_LAYOUT_UNDEFINED`.
///
/// Without it the results are not the same from run to run, which a peer has shipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handover {
    /// When.
    pub step: Step,
    /// The node that runs then.
    pub node: NodeId,
    /// Who takes the bytes over: an output of the node.
    pub to: TensorId,
    /// Who had some of them: alive at some earlier step, or at a later one of the round (or the run) before.
    pub from: Vec<TensorId>,
}

/// Data that is moved because it could not be in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueCopy {
    /// The loop or branch.
    pub node: NodeId,
    /// From where.
    pub from: TensorId,
    /// To where.
    pub to: TensorId,
    /// How many bytes, at every round of a loop (but for [`CopyTime::Enter`]).
    pub size: Bytes,
    /// When.
    pub time: CopyTime,
}

/// When data is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopyTime {
    /// Before the first round.
    Enter,
    /// At the end of every round.
    Round,
    /// When it is left.
    Leave,
}

/// What a tensor needs of memory, as a driver says it of its buffer or images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TensorRequirements {
    /// Size in bytes; of a grid, all of its images, each at its alignment.
    pub size: Bytes,
    /// Alignment.
    pub alignment: Alignment,
    /// Memory types that can hold it.
    pub memory_type_bits: u32,
    /// Whether it is an image, for `bufferImageGranularity`.
    pub image: bool,
}

impl TensorRequirements {
    /// Bytes as the layout alone has them, where no driver is asked: rows and wholes at multiples of `pitch`.
    pub fn of_layout(layout: &Layout, pitch: Alignment) -> TensorRequirements {
        let image = layout.rule.storage.is_image();
        TensorRequirements {
            size: layout
                .bytes_with_pitch(if image { pitch } else { Alignment::ONE })
                .align_up(pitch),
            alignment: pitch,
            memory_type_bits: u32::MAX,
            image,
        }
    }

    /// Bytes at offsets without any alignment: what plain records have.
    pub const fn plain(size: Bytes) -> TensorRequirements {
        TensorRequirements {
            size,
            alignment: Alignment::ONE,
            memory_type_bits: u32::MAX,
            image: false,
        }
    }
}

impl TensorPlan {
    /// Where a tensor is.
    pub fn tensor(&self, id: TensorId) -> &PlacedTensor {
        &self.tensors[id.index()]
    }

    /// Bytes of all memories.
    pub fn size(&self) -> Bytes {
        self.memories.iter().map(|memory| memory.size).sum()
    }

    /// The bounds of all memories together.
    pub fn bound(&self) -> Bytes {
        self.memories.iter().map(|memory| memory.bound).sum()
    }

    /// Bytes that live at a step, over all memories; a tensor that shares another's bytes counts once.
    pub fn live_at(&self, step: Step) -> Vec<TensorId> {
        let tensors = self.tensors.iter().enumerate();
        let live = tensors.filter(|(_, tensor)| {
            tensor.place.is_some() && tensor.lives.iter().any(|life| life.contains(step))
        });
        live.map(|(index, _)| TensorId(index as u32)).collect()
    }

    /// Hand-overs before what runs at a step.
    pub fn handovers_at(&self, step: Step) -> &[Handover] {
        let first = self.handovers.partition_point(|handover| handover.step < step);
        let end = self.handovers.partition_point(|handover| handover.step <= step);
        &self.handovers[first..end]
    }

    /// Whether a tensor is an image.
    pub fn storage(&self, id: TensorId) -> Storage {
        self.tensor(id).layout.rule.storage
    }
}
