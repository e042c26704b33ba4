//! The `capture` object of a frame document: facts about a captured frame that its description does not contain.
//!
//! ```json
//! {
//!   "format": "tileheap-frame", "version": 2, "name": "…", "queues": […], "resources": […], "submits": […],
//!   "capture": { "version": 2, "program": "vkcube", "passes": […], "resources": […], "recording": { … }, … }
//! }
//! ```
//! `tileheap plan`, `advise` and `report` read the frame and skip this object. Indices are those of the frame that the document describes: resources
//! and passes in the order in which the document lists them. [`recording`] has its own indices.

use serde::{Deserialize, Serialize};
use tileheap_json::{JsonSyntaxError, is_default};

pub mod recording;

pub use recording::{Layout, MemoryBinding, SemaphoreUse, UnresolvedKind};

/// The name of the field of a frame document that holds a [`Capture`].
pub const FIELD: &str = "capture";
/// The version of [`Capture`] that this crate writes.
pub const VERSION: u64 = 2;

/// Facts about a captured frame that its description does not contain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Capture {
    /// The version of the format of this object: [`VERSION`].
    pub version: u64,
    /// The program's file name.
    pub program: String,
    /// `deviceName` of the physical device.
    pub device: String,
    /// The version of Vulkan that the program requested: `1.3.0`.
    pub api_version: String,
    /// The index of the frame in the program, from 0.
    pub frame: u64,
    /// The event that ended the frame.
    pub border: FrameBoundary,
    /// The result of the search that chose this frame, empty if the frame was written because the program ended first; `None` if the frame was
    /// requested by its number.
    #[serde(skip_serializing_if = "is_default")]
    pub choice: Option<FrameChoice>,
    /// True if the next frame was also captured, and compared with this one.
    #[serde(skip_serializing_if = "is_default")]
    pub compared: bool,
    /// Loads and stores of attachments whose results nothing reads.
    #[serde(skip_serializing_if = "is_default")]
    pub wasted: Vec<WastedOperation>,
    /// Facts about each pass, in the frame's order.
    pub passes: Vec<PassFacts>,
    /// Facts about each resource, in the frame's order.
    pub resources: Vec<ResourceFacts>,
    /// Bytes of the accesses that were followed: the sum over all accesses in the frame, with reads and writes counted separately.
    pub followed_bytes: u64,
    /// Accesses that could not be followed, by kind.
    pub unresolved: Vec<UnresolvedAccesses>,
    /// Everything that was submitted, command by command.
    pub recording: recording::Recording,
}

/// The event that ended a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrameBoundary {
    /// `vkQueuePresentKHR`.
    #[default]
    Present,
    /// The requested debug label or marker.
    Label,
    /// The requested number of submits.
    Submits,
    /// The signal file was created; the layer has removed it.
    Signal,
    /// The device was destroyed or lost, or the program ended: the capture contains what was recorded until then.
    End,
}

/// Facts about a pass that its description does not contain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PassFacts {
    /// Number of draws; for indirect draws, the maximum.
    #[serde(skip_serializing_if = "is_default")]
    pub draws: u64,
    /// Number of indirect draws among `draws`; their vertices and indices are not known.
    #[serde(skip_serializing_if = "is_default")]
    pub indirect_draws: u64,
    /// The number of vertices of all direct draws, each counted once for every instance.
    #[serde(skip_serializing_if = "is_default")]
    pub vertices: u64,
    /// The number of indices of all direct draws, each counted once for every instance.
    #[serde(skip_serializing_if = "is_default")]
    pub indices: u64,
    /// Bytes of vertices and indices that the direct draws fetch; a vertex counts each time it is drawn.
    #[serde(skip_serializing_if = "is_default")]
    pub vertex_bytes: u64,
    /// Number of dispatches.
    #[serde(skip_serializing_if = "is_default")]
    pub dispatches: u64,
    /// Number of copies, blits, resolves, fills, updates and clears.
    #[serde(skip_serializing_if = "is_default")]
    pub transfers: u64,
    /// The index of the pass's subpass in its render pass; the first pass of an instance has 0.
    #[serde(skip_serializing_if = "is_default")]
    pub subpass: u32,
    /// The pass's render pass instance, numbered from 1 in the frame; 0 outside of render passes.
    #[serde(skip_serializing_if = "is_default")]
    pub instance: u32,
    /// The indices of the resources that the render pass loads from memory when it begins (LOAD_OP_LOAD).
    #[serde(skip_serializing_if = "is_default")]
    pub loads: Vec<u32>,
    /// The indices of the resources that the render pass stores to memory when it ends (STORE_OP_STORE).
    #[serde(skip_serializing_if = "is_default")]
    pub stores: Vec<u32>,
    /// True if the pass continues a dynamic rendering instance that another command buffer suspended.
    #[serde(skip_serializing_if = "is_default")]
    pub resumes: bool,
    /// The buffers and images that the pass accesses only in part: a range, or copied areas.
    #[serde(skip_serializing_if = "is_default")]
    pub accessed: Vec<AccessedBytes>,
    /// The GPU time of the pass and of the passes after it that have no time of their own, if the layer measured it with timestamps.
    #[serde(skip_serializing_if = "is_default")]
    pub nanoseconds: Option<u64>,
    /// True if running the pass twice could change results: it has queries, or accesses that could not be followed and may be atomic.
    #[serde(skip_serializing_if = "is_default")]
    pub has_side_effects: bool,
}

/// The part of a resource that a pass accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AccessedBytes {
    /// The index of the resource in the frame.
    pub resource: u32,
    /// An upper bound on the bytes that each access of the pass to the resource moves.
    pub bytes: u64,
}

/// The inferred lifetime of a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InferredLifetime {
    /// Written before it is read, and not known to be read in the next frame.
    Transient,
    /// Read before it is written, and written later.
    History,
    /// Never written in the frame, or accessible from outside the frame.
    #[default]
    External,
}

/// The frames of the program that were compared to choose the heaviest one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FrameChoice {
    /// Bytes that each frame accesses, starting with the first one; empty if the program ended before frames were compared, or before a requested frame.
    pub moved_bytes: Vec<u64>,
    /// Number of compared frames whose next frame has passes of the same kinds with attachments of the same formats and extents, which suggests that they
    /// contain no uploads or one-time computations.
    pub repeated_frames: u64,
    /// True if the next frame repeats the chosen one.
    pub is_repeated: bool,
}

/// The evidence for the lifetime of a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LifetimeEvidence {
    /// The captured frame and the objects of the program.
    Frame,
    /// The next frame, a pass of which reads or replaces the contents that the captured frame leaves.
    NextFrame,
    /// The next frame does not use the resource, or was not captured: the captured frame is assumed to repeat.
    #[default]
    Assumed,
}

/// A load or store of an attachment whose result nothing reads, judging by the captured frame and the next one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WastedOperation {
    /// The index of the pass that begins with the load or ends with the store.
    pub pass: u32,
    /// The index of the attachment among the resources of the frame.
    pub resource: u32,
    /// The operation.
    pub operation: AttachmentOperation,
    /// The bytes that the operation moves, without padding.
    pub bytes: u64,
    /// The reason why nothing reads the result, in words.
    pub reason: String,
    /// True if the next frame does not show this, and the captured frame is assumed to repeat.
    #[serde(skip_serializing_if = "is_default")]
    pub assumed: bool,
}

/// A load or store operation of an attachment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentOperation {
    /// `LOAD_OP_LOAD`.
    Load,
    /// `STORE_OP_STORE`.
    #[default]
    Store,
}

/// Facts about a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceFacts {
    /// The inferred lifetime.
    pub inferred: InferredLifetime,
    /// The reason for the inferred lifetime, in words.
    pub reason: String,
    /// Evidence for the inferred lifetime.
    pub decided: LifetimeEvidence,
    /// True if the resource could be lazily allocated: without wasted loads and stores, its contents stay inside a render pass in both frames.
    #[serde(skip_serializing_if = "is_default")]
    pub memoryless: bool,
    /// Usage flags that lazily allocated images cannot have, and that neither frame uses: `SAMPLED | TRANSFER_SRC`.
    #[serde(skip_serializing_if = "is_default")]
    pub unused_usage: String,
    /// Size of the image's texels, or of the buffer, in bytes without padding.
    pub bytes: u64,
    /// The memory that the program bound the resource to, if it was bound.
    #[serde(skip_serializing_if = "is_default")]
    pub memory: Option<MemoryBinding>,
    /// True for linear tiling.
    #[serde(skip_serializing_if = "is_default")]
    pub linear: bool,
    /// True for an image of a swapchain.
    #[serde(skip_serializing_if = "is_default")]
    pub swapchain: bool,
}

/// Accesses that could not be followed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UnresolvedAccesses {
    /// The reason why the accesses could not be followed.
    pub kind: UnresolvedKind,
    /// The number of commands that make the accesses.
    pub count: u64,
    /// An upper bound on the number of bytes accessed; `None` if it is unknown.
    #[serde(skip_serializing_if = "is_default")]
    pub bytes: Option<u64>,
    /// The indices of the passes that make the accesses, in order.
    pub passes: Vec<u32>,
    /// A description of the first of these accesses.
    pub first: String,
}

/// The reason why a `capture` object cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The text is not JSON, or the object is not of the expected form.
    #[error("frame JSON, {0}")]
    Syntax(#[from] JsonSyntaxError),
    /// The object has a later version than this crate reads.
    #[error(
        "`capture` has version {0}, written by a newer version of tileheap: this version reads versions up to {VERSION}"
    )]
    Version(u64),
}

impl Capture {
    /// Reads the `capture` object of a frame document; `None` if the document has none.
    ///
    /// Also reads objects of earlier versions; their [`recording`](Capture::recording) is empty.
    ///
    /// # Errors
    /// The position at which the text is not JSON, or at which the object has a different form; or a version later than [`VERSION`].
    pub fn from_json(text: &str) -> Result<Option<Capture>, CaptureError> {
        #[derive(Deserialize)]
        struct Document<T> {
            capture: Option<T>,
        }
        #[derive(Deserialize)]
        struct Header {
            #[serde(default)]
            version: u64,
        }
        // The header first: a later version may have different fields.
        let header: Document<Header> = tileheap_json::parse(text)?;
        match header.capture {
            Some(Header { version }) if version > VERSION => Err(CaptureError::Version(version)),
            _ => Ok(tileheap_json::parse::<Document<Capture>>(text)?.capture),
        }
    }

    /// Returns the share of the accessed bytes that was followed, from 0 to 1; `None` if an access of unknown size was not followed.
    pub fn followed(&self) -> Option<f64> {
        let mut unresolved = 0u64;
        for one in &self.unresolved {
            unresolved = unresolved.saturating_add(one.bytes?);
        }
        let all = self.followed_bytes.saturating_add(unresolved);
        Some(if all == 0 {
            1.0
        } else {
            self.followed_bytes as f64 / all as f64
        })
    }
}
