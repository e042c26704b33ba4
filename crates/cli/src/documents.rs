//! The JSON documents that the command writes and reads back: replays, sweeps, tensor plans, checks of captured frames, and traces of the emulator.
//! (Documents of frames and plans belong to the library.)

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tileheap::units::Bytes;
use tileheap_capture::check::finding::CheckReport;
use tileheap_json::{MAX_INTEGER, largest_integer};
use tileheap_tensor::Graph;
use tileheap_tensor::plan::{Placement, Region};

use crate::error::Error;
use crate::input::shown;

/// A kind of JSON document, with its format and version.
pub(crate) trait Document: DeserializeOwned {
    /// The value of the field `format`.
    const FORMAT: &'static str;
    /// The value of the field `version`.
    const VERSION: u64;
}

/// Reads a document.
///
/// # Errors
/// The problem and its place.
pub(crate) fn read<T: Document>(text: &str) -> Result<T, String> {
    let document = tileheap_json::read(text, T::FORMAT, T::VERSION).map_err(|error| error.to_string())?;
    let largest = serde_json::from_str(text).map_or(0, |value| largest_integer(&value));
    if largest > MAX_INTEGER {
        return Err(format!("the number {largest} exceeds the limit of {MAX_INTEGER}"));
    }
    Ok(document)
}

/// Converts a document to indented text.
pub(crate) fn write<T: Document + Serialize>(document: &T) -> String {
    #[derive(Serialize)]
    struct Headed<'a, T> {
        format: &'static str,
        version: u64,
        #[serde(flatten)]
        document: &'a T,
    }
    let text = serde_json::to_string_pretty(&Headed {
        format: T::FORMAT,
        version: T::VERSION,
        document,
    });
    text.expect("a document has string keys") + "\n"
}

/// A trace of texture requests, replayed through policies of the texture cache.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Replay {
    /// The path of the trace.
    pub(crate) trace: String,
    /// The memory budget in bytes.
    pub(crate) budget: u64,
    pub(crate) seed: u64,
    pub(crate) frames: u64,
    pub(crate) uses: u64,
    /// The number of requests in each frame.
    pub(crate) frame_uses: Vec<u64>,
    /// A lower bound on the traffic of any policy.
    pub(crate) lower_bound: Option<TrafficStatistics>,
    pub(crate) policies: Vec<Policy>,
}

impl Document for Replay {
    const FORMAT: &'static str = "tileheap-replay";
    const VERSION: u64 = 2;
}

/// The mean, the 99th percentile and the maximum of bytes per frame.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct TrafficStatistics {
    pub(crate) mean: u64,
    pub(crate) p99: u64,
    pub(crate) max: u64,
}

/// The results of a policy on a trace.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Policy {
    pub(crate) policy: String,
    /// Bytes uploaded or bypassed per frame.
    pub(crate) traffic: TrafficStatistics,
    pub(crate) hits: u64,
    pub(crate) uploads: u64,
    pub(crate) bypasses: u64,
    pub(crate) used_bytes: u64,
    pub(crate) hit_bytes: u64,
    pub(crate) uploaded_bytes: u64,
    pub(crate) bypassed_bytes: u64,
    pub(crate) moved_bytes: u64,
    /// Number of evictions of a texture in a frame that used it.
    pub(crate) wrongful_evictions: u64,
    pub(crate) reloads: Reloads,
    pub(crate) fragmentation_thousandths: u64,
    pub(crate) internal_bytes: u64,
    pub(crate) worst_gap_bytes: u64,
    pub(crate) wall_moves: u64,
    /// Number of wall moves in the opposite direction to the previous move.
    pub(crate) wall_reversals: u64,
    pub(crate) nanoseconds_per_request: f64,
    /// Bytes uploaded or bypassed in each frame.
    pub(crate) frame_bytes: Vec<u64>,
    pub(crate) frame_hits: Vec<u64>,
    /// The end of each arena at the end of each frame, in bytes; empty if the policy has none.
    pub(crate) arena_ends: Vec<Vec<u64>>,
}

/// Number of uploads of textures that the policy evicted at most 1, 8 or 60 frames earlier.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Reloads {
    #[serde(rename = "1")]
    pub(crate) within_1: u64,
    #[serde(rename = "8")]
    pub(crate) within_8: u64,
    #[serde(rename = "60")]
    pub(crate) within_60: u64,
}

/// A frame planned at many heap sizes or extents, or arranged at many costs of repeating a pass.
#[derive(Serialize, Deserialize)]
pub(crate) struct SweepResult {
    pub(crate) over: SweepOver,
    pub(crate) points: Vec<SweepPoint>,
}

impl Document for SweepResult {
    const FORMAT: &'static str = "tileheap-sweep";
    const VERSION: u64 = 1;
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SweepOver {
    Heap,
    Size,
    Repeat,
}

/// One plan of a sweep.
#[derive(Serialize, Deserialize)]
pub(crate) struct SweepPoint {
    /// The varied size or cost, as text.
    pub(crate) at: String,
    /// Bytes of the heap, texels of the base extent, or bytes per repeat.
    pub(crate) size: u64,
    pub(crate) on_chip_bytes: u64,
    pub(crate) traffic_bytes: u64,
    /// Memory traffic of all resources per frame, in bytes.
    pub(crate) dram_bytes: u64,
    pub(crate) proved: Option<bool>,
}

/// The placements of a network's tensors.
///
/// ```json
/// {
///   "format": "tileheap-tensors", "version": 2, "name": "resnet50.jsonl", "strategy": "auto", "policy": "balanced",
///   "memories": [{ "name": "sram", "size": 1048576, "lower_bound": 1040384, "capacity": 1048576 }],
///   "steps": ["conv2d", "relu"], "live_bytes": [524288, 1040384], "peak": 1,
///   "tensors": [{ "name": "x", "storage": "image-2d", "home": "planned", "size": 524288, "lifetimes": [[0, 2]],
///                 "regions": [{ "memory": 0, "offset": 0, "size": 524288 }] }],
///   "strategies": [{ "strategy": "naive", "size": 2097152, "lower_bound": 1040384 }, { "strategy": "exact", "error": "…" }],
///   "notes": ["12 tensors, 10 in images"]
/// }
/// ```
#[derive(Serialize, Deserialize)]
pub(crate) struct Tensors {
    pub(crate) name: String,
    pub(crate) strategy: String,
    /// True if the strategy places tensors in pools.
    pub(crate) pools: bool,
    pub(crate) policy: String,
    /// Bytes of all memories.
    pub(crate) size: u64,
    pub(crate) lower_bound: u64,
    pub(crate) memories: Vec<Memory>,
    pub(crate) steps: Vec<String>,
    /// The live bytes at each step.
    pub(crate) live_bytes: Vec<u64>,
    /// The step with the most live bytes.
    pub(crate) peak: Option<usize>,
    /// The names of the graph's inputs; empty for records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) inputs: Vec<String>,
    /// The names of the graph's outputs; empty for records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) outputs: Vec<String>,
    pub(crate) tensors: Vec<Tensor>,
    pub(crate) strategies: Vec<StrategyResult>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) on_chip: Vec<OnChip>,
    pub(crate) notes: Vec<String>,
}

impl Document for Tensors {
    const FORMAT: &'static str = "tileheap-tensors";
    const VERSION: u64 = 2;
}

/// Returns an error if a text is a plan that `tileheap tensors` wrote, for commands that check other plans.
pub(crate) fn refuse_tensor_plan(path: &Path, text: &str) -> Result<(), Error> {
    let format = || {
        serde_json::from_str::<Value>(text).ok()?["format"]
            .as_str()
            .map(str::to_owned)
    };
    if !text.contains(Tensors::FORMAT) || format().as_deref() != Some(Tensors::FORMAT) {
        return Ok(());
    }
    Err(Error::new(format!(
        "{} is a plan of `tileheap tensors`, which checked it before it wrote it: `tileheap report` draws it",
        shown(path)
    )))
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Memory {
    pub(crate) name: String,
    pub(crate) size: u64,
    pub(crate) lower_bound: u64,
    pub(crate) capacity: Option<u64>,
    /// Bytes of all accesses to the memory's tensors in one run of the network, including copies, see `MemoryPlan::traffic`.
    #[serde(default)]
    pub(crate) traffic: u64,
    #[serde(default)]
    pub(crate) traffic_bound: u64,
}

/// The tensors that an on-chip memory of this capacity keeps.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct OnChip {
    pub(crate) capacity: u64,
    /// Number of tensors kept.
    pub(crate) tensors: u64,
    /// Bytes of all accesses to the kept tensors in one run of the network.
    pub(crate) kept: u64,
    /// An upper bound on `kept`, for any choice of tensors that fit.
    pub(crate) bound: u64,
    /// Bytes of all accesses to all tensors in one run of the network.
    pub(crate) traffic: u64,
}

impl OnChip {
    /// `of` in thousandths of the traffic, rounded down.
    pub(crate) fn share(&self, of: u64) -> u64 {
        (u128::from(of) * 1000 / u128::from(self.traffic.max(1))) as u64
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    /// The kind of storage; `None` if unknown.
    pub(crate) storage: Option<String>,
    pub(crate) home: String,
    pub(crate) size: u64,
    /// The width and height of an image in texels, and its number of layers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) extent: Option<[u64; 3]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) scope: Option<String>,
    /// The location of the tensor in each iteration of the enclosing loops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<TensorLocation>,
    /// The regions of the tensor in memory; empty for the caller's tensors, constants, and parts of other tensors.
    pub(crate) regions: Vec<Region>,
    /// The lifetimes of the tensor as half-open ranges of steps.
    pub(crate) lifetimes: Vec<(usize, usize)>,
}

/// The location of a tensor.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TensorLocation {
    /// The same bytes in every iteration.
    At(Region),
    /// At a byte offset within another tensor.
    Within { tensor: String, offset: u64 },
    /// A different location in each iteration: those in `first`, then those in `repeat` cyclically.
    PerRound {
        first: Vec<TensorLocation>,
        repeat: Vec<TensorLocation>,
    },
    /// The result of a loop: a location for each exit.
    AtExit(Vec<TensorLocation>),
}

impl TensorLocation {
    pub(crate) fn of(graph: &Graph, place: &Placement) -> TensorLocation {
        let all = |places: &[Placement]| {
            places
                .iter()
                .map(|place| TensorLocation::of(graph, place))
                .collect()
        };
        match place {
            Placement::At(region) => TensorLocation::At(*region),
            Placement::Within { tensor, offset } => TensorLocation::Within {
                tensor: graph.tensor(*tensor).name.clone(),
                offset: offset.0,
            },
            Placement::PerRound(views) => TensorLocation::PerRound {
                first: all(&views.first),
                repeat: all(&views.repeat),
            },
            Placement::AtExit(exits) => TensorLocation::AtExit(all(exits)),
        }
    }

    /// The location in words, with memories named by `memory`: `iteration 0: sram at 0 B, then cyclically (sram at 4,096 B; sram at 0 B)`.
    pub(crate) fn in_words(&self, memory: &dyn Fn(usize) -> String) -> String {
        let list = |places: &[TensorLocation], between: &str| {
            let all: Vec<String> = places.iter().map(|place| place.in_words(memory)).collect();
            all.join(between)
        };
        match self {
            TensorLocation::At(region) => {
                format!("{} at {}", memory(region.memory.0 as usize), region.offset)
            }
            TensorLocation::Within { tensor, offset: 0 } => format!("in `{tensor}`"),
            TensorLocation::Within { tensor, offset } => format!("in `{tensor}` from {}", Bytes(*offset)),
            TensorLocation::PerRound { first, repeat } => {
                let turns = match repeat.len() {
                    1 => list(repeat, ""),
                    _ => format!("cyclically ({})", list(repeat, "; ")),
                };
                match first.len() {
                    0 => turns,
                    1 => format!("iteration 0: {}, then {turns}", list(first, "")),
                    count => format!(
                        "iterations 0 to {}: ({}), then {turns}",
                        count - 1,
                        list(first, "; ")
                    ),
                }
            }
            TensorLocation::AtExit(exits) if exits.len() == 1 => list(exits, ""),
            TensorLocation::AtExit(exits) => {
                let each = exits.iter().enumerate();
                let each: Vec<String> = each
                    .map(|(exit, place)| format!("exit {exit} {}", place.in_words(memory)))
                    .collect();
                each.join("; ")
            }
        }
    }
}

/// The bytes that a strategy needs, or its error.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum StrategyResult {
    Planned {
        strategy: String,
        size: u64,
        lower_bound: u64,
        /// True if the strategy leaves limited memories to the tensors that have to be in them.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        ignores_limited_memories: bool,
    },
    Failed {
        strategy: String,
        error: String,
    },
}

impl StrategyResult {
    pub(crate) fn strategy(&self) -> &str {
        match self {
            StrategyResult::Planned { strategy, .. } | StrategyResult::Failed { strategy, .. } => strategy,
        }
    }
}

/// The check of a captured frame's own synchronization.
///
/// ```json
/// {
///   "format": "tileheap-frame-check", "version": 1, "frame": "game frame 2", "command_buffers": 41, "commands": 1204, "checked": 5310,
///   "findings": [{
///     "verdict": "certain", "problem": "not_available",
///     "first": { "call": "vkCmdBlitImage2", "command_buffer": "post", "number": 12, "submission": 1, "resource": "hdr", …,
///                "action": { "write": { "stage": ["VK_PIPELINE_STAGE_2_BLIT_BIT"], "access": ["VK_ACCESS_2_TRANSFER_WRITE_BIT"] } } },
///     "second": { "call": "vkCmdDispatch", … },
///     "overlap": { "resource": { "texels": { "range": { "levels": [2, 3], … }, "area": [[0, 480], [0, 270]] } } },
///     "fix": { "barrier": { "src_stages": ["VK_PIPELINE_STAGE_2_BLIT_BIT"], … } },
///     "section": "Execution and Memory Dependencies", "count": 4
///   }],
///   "unchecked": [{ "what": "commands access memory by buffer device addresses", "count": 12, "first": "…" }]
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FrameCheck {
    /// The frame's name.
    pub(crate) frame: String,
    #[serde(flatten)]
    pub(crate) report: CheckReport,
}

impl Document for FrameCheck {
    const FORMAT: &'static str = "tileheap-frame-check";
    const VERSION: u64 = 1;
}

/// Every bind, discard and submit of a run on the emulator, in order: a header, then one document per line.
#[derive(Deserialize)]
pub(crate) struct Trace {
    pub(crate) profile: String,
    /// The heap size in bytes.
    pub(crate) heap: u64,
    #[serde(skip)]
    pub(crate) events: Vec<Event>,
    /// The number of reports of each message; `None` if the program ended before it destroyed its device.
    #[serde(skip)]
    pub(crate) messages: Option<BTreeMap<String, u64>>,
}

impl Document for Trace {
    const FORMAT: &'static str = "tileheap-emulator-trace";
    const VERSION: u64 = 2;
}

impl Trace {
    /// Reads a trace; `None` for other documents.
    ///
    /// # Errors
    /// The problem and its line. The last line may be cut off.
    pub(crate) fn read_lines(text: &str) -> Option<Result<Trace, String>> {
        let (header, lines) = text.split_once('\n').unwrap_or((text, ""));
        let parsed: Value = serde_json::from_str(header).ok()?;
        (parsed["format"] == Self::FORMAT).then(|| {
            let mut trace: Trace = read(header)?;
            for (index, line) in lines.split_inclusive('\n').enumerate() {
                match trace.read_event(line) {
                    Err(error) if line.ends_with('\n') => return Err(format!("line {}: {error}", index + 2)),
                    _ => {}
                }
            }
            Ok(trace)
        })
    }

    fn read_event(&mut self, line: &str) -> Result<(), String> {
        let mut event: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if largest_integer(&event) > MAX_INTEGER {
            return Err(format!("a number exceeds the limit of {MAX_INTEGER}"));
        }
        if event["event"] == "end" {
            let counts = serde_json::from_value(event["messages"].take());
            self.messages = Some(counts.map_err(|error| error.to_string())?);
        } else {
            let event = serde_json::from_value(event).map_err(|error| error.to_string())?;
            self.events.push(event);
        }
        Ok(())
    }
}

/// An event of a trace. Handles are hexadecimal.
#[derive(Clone, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub(crate) enum Event {
    Bind {
        command_buffer: String,
        bytes: u64,
    },
    Discard {
        command_buffer: String,
        first: u64,
        end: u64,
        why: String,
    },
    Submit {
        number: u64,
        queue: String,
        batch: u64,
        command_buffers: Vec<String>,
        /// Bytes that may be live after the last action command of the batch.
        live: u64,
    },
}
