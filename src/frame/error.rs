//! What can be wrong with a frame's description.

use super::AccessKind;
use crate::units::Bytes;

/// What is wrong with a frame's description. Every message names the pass or resource and says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// A batch, command buffer or pass was added to something that is not the last of its kind.
    #[error("{what} is declared out of submission order: add it before anything that is submitted later")]
    OutOfOrder {
        /// What was declared.
        what: String,
    },
    /// No pass at all.
    #[error("frame `{frame}` has no passes: declare at least one")]
    Empty {
        /// The frame.
        frame: String,
    },
    /// Two things of one kind share a name.
    #[error("two {what} are named `{name}`: give each its own name")]
    DuplicateName {
        /// Resources, passes, ….
        what: &'static str,
        /// The name.
        name: String,
    },
    /// An id or name that the frame does not have.
    #[error("{by} refers to {what} `{name}`, which the frame does not declare")]
    Unknown {
        /// Resource, queue, ….
        what: &'static str,
        /// The id's number or the name.
        name: String,
        /// Who refers to it.
        by: String,
    },
    /// A pass without tiles is marked as one with tile shading.
    #[error("pass `{pass}` is marked for tile shading, which render passes alone have")]
    TileShading {
        /// The pass.
        pass: String,
    },
    /// A text that is no list of weights.
    #[error("weights JSON: {0}")]
    Weights(#[source] tileheap_json::Error),
    /// A weight that cannot be.
    #[error("the weight of `{resource}` in pass `{pass}` {problem}")]
    Weight {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// An image that no device creates.
    #[error("image `{resource}` cannot be created: {why}")]
    Image {
        /// The image.
        resource: String,
        /// The rule.
        why: &'static str,
    },
    /// An image without texels.
    #[error(
        "image `{resource}` has a zero extent ({width} x {height} x {depth}): every side must be at least 1 texel"
    )]
    ZeroExtent {
        /// The image.
        resource: String,
        /// Texels across.
        width: u32,
        /// Texels down.
        height: u32,
        /// Texels deep.
        depth: u32,
    },
    /// A buffer without bytes, or an image without levels, layers or samples.
    #[error("resource `{resource}` has no {what}: it must be at least 1")]
    ZeroCount {
        /// The resource.
        resource: String,
        /// Bytes, mip levels, ….
        what: &'static str,
    },
    /// A format of which the size is not known.
    #[error(
        "image `{resource}` has format {format}, whose texel size is not defined: use a single-plane format"
    )]
    Format {
        /// The image.
        resource: String,
        /// The format.
        format: String,
    },
    /// An access that resources of this type or format cannot have.
    #[error("pass `{pass}` uses `{resource}` as {kind:?}: {why}")]
    Misuse {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// The access.
        kind: AccessKind,
        /// What does not fit.
        why: &'static str,
    },
    /// An access to levels, layers or slices that the image does not have.
    #[error("pass `{pass}` uses {what} [{first}, {end}) of `{resource}`, which has {count}")]
    Range {
        /// The pass.
        pass: String,
        /// The image.
        resource: String,
        /// Levels, layers or slices.
        what: &'static str,
        /// The first that is used.
        first: u32,
        /// After the last that is used.
        end: u32,
        /// How many there are.
        count: u32,
    },
    /// A render area that reaches beyond what every attachment covers, or is empty.
    #[error(
        "the render area of pass `{pass}`, {width} x {height} at ({x}, {y}), is not inside of the {limit_width} x {limit_height} texels that its attachments cover"
    )]
    RenderArea {
        /// The pass.
        pass: String,
        /// Its left.
        x: i32,
        /// Its top.
        y: i32,
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
        /// The width that every attachment has.
        limit_width: u32,
        /// The height that every attachment has.
        limit_height: u32,
    },
    /// A view mask with views for which an attachment has no layer.
    #[error("pass `{pass}` renders views {mask:#b}, and its attachments have {layers} layers")]
    ViewMask {
        /// The pass.
        pass: String,
        /// The mask.
        mask: u32,
        /// The layers that every attachment has.
        layers: u32,
    },
    /// Contents are needed that nothing wrote.
    #[error(
        "pass `{pass}` reads {part}`{resource}` before anything in the frame has written it: write or clear it first, or declare it History or External"
    )]
    ReadBeforeWrite {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// The part of an image, as words that end with `of `; empty for all of it.
        part: String,
    },
    /// One pass writes one resource through two accesses.
    #[error("pass `{pass}` declares two writers of `{resource}`: merge the accesses or split the pass")]
    TwoWriters {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
    },
    /// The previous version of something that has none, or is written.
    #[error("pass `{pass}` uses the previous version of `{resource}`: {why}")]
    Previous {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
        /// What is wrong.
        why: &'static str,
    },
    /// A pass on a queue that cannot run it.
    #[error("pass `{pass}` needs a {needs} queue, and queue `{queue}` is not declared as one")]
    QueueCapability {
        /// The pass.
        pass: String,
        /// The queue.
        queue: String,
        /// Graphics, compute or transfer.
        needs: &'static str,
    },
    /// A wait that can never end, or only by an earlier frame.
    #[error(
        "batch {batch} waits for semaphore `{semaphore}`, which no earlier batch signals: the frame is cyclic, or its submits are in the wrong order"
    )]
    Cyclic {
        /// Index of the waiting batch.
        batch: usize,
        /// The semaphore.
        semaphore: String,
    },
    /// More than one signal, or more than one wait, of a semaphore inside the frame.
    #[error("semaphore `{semaphore}` is {what} more than once: use one semaphore for each pair of batches")]
    SemaphoreReuse {
        /// The semaphore.
        semaphore: String,
        /// `signalled` or `waited for`.
        what: &'static str,
    },
    /// A frame semaphore that is signalled and never waited for, which would leave a binary one signalled.
    #[error(
        "semaphore `{semaphore}` is signalled and no batch waits for it: remove the signal, or declare the semaphore external"
    )]
    NeverWaited {
        /// The semaphore.
        semaphore: String,
    },
    /// A use on one queue that neither follows nor precedes a use on another.
    #[error(
        "passes `{first}` and `{second}` use `{resource}` on two queues with nothing between them: signal and wait for a semaphore"
    )]
    Unordered {
        /// The resource.
        resource: String,
        /// The earlier declared pass.
        first: String,
        /// The later declared pass.
        second: String,
    },
    /// Attachments of one pass that no framebuffer can hold together.
    #[error("attachments of pass `{pass}` differ in {what}")]
    Attachments {
        /// The pass.
        pass: String,
        /// Samples or layers.
        what: &'static str,
    },
    /// A resolve attachment whose source is not an attachment of the pass.
    #[error("pass `{pass}` resolves into `{resource}`, but its source is not an attachment of the pass")]
    ResolveSource {
        /// The pass.
        pass: String,
        /// The resolve attachment.
        resource: String,
    },
    /// Secondary contents outside a render pass.
    #[error(
        "pass `{pass}` is no render pass, so its contents are inline: record secondary command buffers inside it as you like"
    )]
    SecondaryContents {
        /// The pass.
        pass: String,
    },
    /// A pass that the runtime is to record is no store.
    #[error("pass `{pass}` cannot be recorded by the runtime: {why}")]
    StoreContents {
        /// The pass.
        pass: String,
        /// What is not as it must be.
        why: &'static str,
    },
    /// A name that cannot be printed on one line, or none.
    #[error("{what} name `{name}` cannot be used: give it 1 to {limit} bytes that print on one line")]
    Name {
        /// Resource, pass, ….
        what: &'static str,
        /// The name, escaped and shortened.
        name: String,
        /// Longest permitted name in bytes.
        limit: usize,
    },
    /// A table larger than any real frame's.
    #[error("the frame has {count} {what}, and {limit} are the most that can be planned")]
    TooMany {
        /// Resources, passes, ….
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A resource larger than any memory.
    #[error("resource `{resource}` is larger than {limit}: make it smaller")]
    TooLarge {
        /// The resource.
        resource: String,
        /// The most bytes that a resource may have.
        limit: Bytes,
    },
    /// A scale that is not a positive number.
    #[error("image `{resource}` is scaled by {scale}: a scale must be a finite number above 0")]
    Scale {
        /// The image.
        resource: String,
        /// The scale, printed.
        scale: String,
    },
    /// A clear value that is not a number.
    #[error("pass `{pass}` clears `{resource}` to a value that is not a number")]
    ClearValue {
        /// The pass.
        pass: String,
        /// The attachment.
        resource: String,
    },
    /// An external image that would have to leave in no layout at all.
    #[error(
        "external image `{resource}` leaves the frame in layout UNDEFINED: name the layout in which it is wanted"
    )]
    ExitLayout {
        /// The image.
        resource: String,
    },
    /// A text that is no description of a frame.
    #[error(transparent)]
    Json(#[from] super::json::JsonError),
    /// A loose description that means nothing, or contradicts itself.
    #[error(transparent)]
    Import(#[from] super::import::ImportError),
}
