//! What the command writes as JSON and reads again: replays, sweeps and tensor plans, and traces of the emulator. (Plans of frames are the
//! library's.)

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A kind of document.
pub(crate) trait Document: DeserializeOwned {
    /// The value of the field `format`.
    const FORMAT: &'static str;
}

/// The version of all of them.
const VERSION: u64 = 1;

/// A text as the document that its field `format` says it is.
///
/// # Errors
/// What is wrong, and where.
pub(crate) fn read<T: Document>(text: &str) -> Result<T, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if value["version"] != VERSION {
        let version = &value["version"];
        return Err(format!(
            "`version` is {version}, and this tileheap reads version {VERSION}"
        ));
    }
    let largest = largest(&value);
    if largest > LARGEST {
        return Err(format!(
            "it holds the number {largest}, and those of a `{}` go up to {LARGEST}",
            T::FORMAT
        ));
    }
    serde_json::from_str(text).map_err(|error| format!("`{}`: {error}", T::FORMAT))
}

/// A document as indented text.
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
        version: VERSION,
        document,
    });
    text.expect("a document has string keys") + "\n"
}

/// 8 TiB: sums of a million such numbers are numbers still.
const LARGEST: u64 = 1 << 43;

fn largest(value: &Value) -> u64 {
    match value {
        Value::Number(number) => number.as_u64().unwrap_or(0),
        Value::Array(elements) => elements.iter().map(largest).max().unwrap_or(0),
        Value::Object(fields) => fields.values().map(largest).max().unwrap_or(0),
        _ => 0,
    }
}

/// A trace of texture requests, played through policies of the texture cache.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Replay {
    /// The trace's file.
    pub(crate) trace: String,
    /// Bytes of memory.
    pub(crate) budget: u64,
    pub(crate) seed: u64,
    pub(crate) frames: u64,
    pub(crate) uses: u64,
    /// Of every frame.
    pub(crate) frame_uses: Vec<u64>,
    /// Bytes that no policy can go below.
    pub(crate) bound: Option<Levels>,
    pub(crate) policies: Vec<Policy>,
}

impl Document for Replay {
    const FORMAT: &'static str = "tileheap-replay";
}

/// Bytes a frame.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Levels {
    pub(crate) mean: u64,
    pub(crate) p99: u64,
    pub(crate) max: u64,
}

/// What a policy made of a trace.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Policy {
    pub(crate) policy: String,
    /// Bytes uploaded or bypassed.
    pub(crate) traffic: Levels,
    pub(crate) hits: u64,
    pub(crate) uploads: u64,
    pub(crate) bypasses: u64,
    pub(crate) used_bytes: u64,
    pub(crate) hit_bytes: u64,
    pub(crate) uploaded_bytes: u64,
    pub(crate) bypassed_bytes: u64,
    pub(crate) moved_bytes: u64,
    pub(crate) wrongful: u64,
    pub(crate) reloads: Reloads,
    pub(crate) fragmentation_thousandths: u64,
    pub(crate) internal_bytes: u64,
    pub(crate) worst_gap_bytes: u64,
    pub(crate) wall_moves: u64,
    pub(crate) fights: u64,
    pub(crate) nanoseconds_per_use: f64,
    /// Bytes of every frame.
    pub(crate) frame_bytes: Vec<u64>,
    pub(crate) frame_hits: Vec<u64>,
    /// Of every frame the end of every arena, in bytes; empty where there are none.
    pub(crate) arena_ends: Vec<Vec<u64>>,
}

/// Uploads of what was uploaded so few frames before.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Reloads {
    #[serde(rename = "1")]
    pub(crate) within_1: u64,
    #[serde(rename = "8")]
    pub(crate) within_8: u64,
    #[serde(rename = "60")]
    pub(crate) within_60: u64,
}

/// A frame's plan at many heap sizes or extents.
#[derive(Serialize, Deserialize)]
pub(crate) struct Swept {
    pub(crate) over: Over,
    pub(crate) points: Vec<Point>,
}

impl Document for Swept {
    const FORMAT: &'static str = "tileheap-sweep";
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Over {
    Heap,
    Size,
}

/// One plan of a sweep.
#[derive(Serialize, Deserialize)]
pub(crate) struct Point {
    /// In words.
    pub(crate) at: String,
    /// Of the heap, in bytes; of the frame, in texels.
    pub(crate) size: u64,
    pub(crate) on_chip_bytes: u64,
    pub(crate) eligible_bytes: u64,
    /// What still goes to memory, of all resources.
    pub(crate) dram_bytes: u64,
    pub(crate) proved: Option<bool>,
}

/// Where the tensors of a network are.
///
/// ```json
/// {
///   "format": "tileheap-tensors", "version": 1, "name": "resnet50.jsonl", "strategy": "auto", "policy": "balanced",
///   "memories": [{ "name": "sram", "size": 1048576, "bound": 1040384, "capacity": 1048576 }],
///   "steps": ["conv2d", "relu"], "live_bytes": [524288, 1040384], "peak": 1,
///   "tensors": [{ "name": "x", "storage": "texture-2d", "home": "planned", "size": 524288, "lives": [[0, 2]],
///                 "regions": [{ "memory": 0, "offset": 0, "size": 524288 }] }],
///   "strategies": [{ "strategy": "naive", "size": 2097152, "bound": 1040384 }, { "strategy": "exact", "fault": "…" }],
///   "notes": ["12 tensors, 10 in images"]
/// }
/// ```
#[derive(Serialize, Deserialize)]
pub(crate) struct Tensors {
    pub(crate) name: String,
    pub(crate) strategy: String,
    /// Whether the strategy takes pools, not offsets.
    pub(crate) pools: bool,
    pub(crate) policy: String,
    /// Bytes of all memories.
    pub(crate) size: u64,
    /// No plan can take fewer.
    pub(crate) bound: u64,
    pub(crate) memories: Vec<Memory>,
    pub(crate) steps: Vec<String>,
    /// Of every step.
    pub(crate) live_bytes: Vec<u64>,
    /// The step at which most is alive.
    pub(crate) peak: Option<usize>,
    pub(crate) tensors: Vec<Tensor>,
    pub(crate) strategies: Vec<Compared>,
    pub(crate) notes: Vec<String>,
}

impl Document for Tensors {
    const FORMAT: &'static str = "tileheap-tensors";
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Memory {
    pub(crate) name: String,
    pub(crate) size: u64,
    pub(crate) bound: u64,
    pub(crate) capacity: Option<u64>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    /// None where that is not known.
    pub(crate) storage: Option<String>,
    pub(crate) home: String,
    pub(crate) size: u64,
    /// None: it is the caller's, a constant, or a part of another.
    pub(crate) regions: Vec<Region>,
    /// Steps, half-open.
    pub(crate) lives: Vec<(usize, usize)>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Region {
    /// An index.
    pub(crate) memory: usize,
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

/// What another strategy takes, or why it cannot.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Compared {
    Planned { strategy: String, size: u64, bound: u64 },
    Refused { strategy: String, fault: String },
}

impl Compared {
    pub(crate) fn strategy(&self) -> &str {
        match self {
            Compared::Planned { strategy, .. } | Compared::Refused { strategy, .. } => strategy,
        }
    }
}

/// Every bind, discard and submit of a run on the emulator, in the order in which the application made them.
#[derive(Deserialize)]
pub(crate) struct Trace {
    pub(crate) profile: String,
    /// Bytes.
    pub(crate) heap: u64,
    pub(crate) events: Vec<Event>,
    /// How often each message was reported.
    pub(crate) messages: BTreeMap<String, u64>,
    /// The program ended before its device was destroyed.
    #[serde(skip)]
    pub(crate) is_cut: bool,
}

impl Document for Trace {
    const FORMAT: &'static str = "tileheap-emulator-trace";
}

impl Trace {
    /// A trace whose program ended before its device was destroyed, up to its last whole event.
    pub(crate) fn read_cut(text: &str) -> Option<Trace> {
        // An event is a line.
        let lines = [text.trim_end(), text.rsplit_once(",\n")?.0];
        let ended = lines.map(|events| format!("{events}\n],\"messages\":{{}}}}"));
        let read = ended.iter().find_map(|text| read(text).ok());
        read.map(|trace: Trace| Trace {
            is_cut: true,
            ..trace
        })
    }
}

/// Handles are hexadecimal.
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
        queue: String,
        batch: u64,
        command_buffers: Vec<String>,
        /// Bytes that can be alive after its last action command.
        live: u64,
    },
}
