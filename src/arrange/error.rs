//! Errors of arrangements.

use tileheap_json::{JsonSyntaxError, other_version};

/// The reason why an arrangement does not fit its frame; names passes and resources.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrangeError {
    /// A pass or batch is missing, or a pass occurs more than once.
    #[error("arrangement: {what} occurs {times} times instead of once")]
    NotOnce {
        /// The pass or batch.
        what: String,
        /// Number of occurrences.
        times: usize,
    },
    /// A range of batches that is empty, exceeds the frame, or does not begin where the previous one ended; or a group that is empty or lists a pass from
    /// outside its batches.
    #[error("arrangement: batch {batch} {why}")]
    Batch {
        /// The first described batch that the range has, or should have.
        batch: u32,
        /// The requirement, and how it is violated.
        why: String,
    },
    /// Batches that cannot be submitted as one because of their queues or a semaphore.
    #[error("arrangement: batches {first} and {second} cannot be submitted as one: {why}")]
    CannotFuse {
        /// The first batch, by number.
        first: u32,
        /// The second batch.
        second: u32,
        /// The reason why the batches cannot be fused.
        why: &'static str,
    },
    /// A pass runs before one that it depends on.
    #[error("arrangement: pass `{later}` runs before `{earlier}`, and both use `{resource}`")]
    Order {
        /// The pass described first.
        earlier: String,
        /// The pass described later.
        later: String,
        /// The resource through which the later pass depends on the earlier one.
        resource: String,
    },
    /// Passes that cannot run as one group.
    #[error("arrangement: passes `{first}` to `{last}` cannot run as one: {why}")]
    Group {
        /// The first pass.
        first: String,
        /// The last pass.
        last: String,
        /// The reason.
        why: Box<CannotGroup>,
    },
    /// The text is not JSON, or not of the expected form at this position.
    #[error("arrangement JSON, {0}")]
    Syntax(#[from] JsonSyntaxError),
    /// The document has another format or version.
    #[error("arrangement JSON has {}", other_document(.format, *.version))]
    Format {
        /// The format that the file states.
        format: String,
        /// The version that the file states.
        version: u64,
    },
    /// A name that the frame does not have.
    #[error("arrangement JSON: the frame has no pass or resource `{0}`")]
    Unknown(String),
    /// The passes of a group are in several batches or groups.
    #[error("arrangement: the passes of the group of `{0}` are in several batches or groups")]
    SplitGroup(String),
    /// The description of the frame cannot be changed this way.
    #[error("arrangement: {change}: {why}")]
    Change {
        /// The change.
        change: String,
        /// The reason.
        why: String,
    },
}

/// The reason why passes cannot run as one group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum CannotGroup {
    /// A grid with fewer than two strips, or with more columns or rows than there are pixels.
    #[error("{width} x {height} pixels cannot be divided into {columns} x {rows} strips")]
    Grid {
        /// Requested columns.
        columns: u32,
        /// Requested rows.
        rows: u32,
        /// Width of the image that is divided.
        width: u32,
        /// Height of the image that is divided.
        height: u32,
    },
    /// The pass does not declare support for strips: that it uses the origin passed to it.
    #[error(
        "pass `{0}` does not declare support for strips (`PassBuilder::in_strips`, in JSON `repeat_bytes`)"
    )]
    NotDeclared(String),
    /// A property of the pass that strips do not support.
    #[error("pass `{pass}` {what}")]
    Pass {
        /// The pass.
        pass: String,
        /// The unsupported property.
        what: &'static str,
    },
    /// Repeating the pass would repeat its updates of a buffer.
    #[error("pass `{pass}` updates `{resource}`, which must happen once")]
    SideEffect {
        /// The pass.
        pass: String,
        /// The buffer.
        resource: String,
    },
    /// A pass of the run reads at any distance from a resource that the run writes.
    #[error("pass `{pass}` reads `{resource}` at any distance, but `{writer}` writes it in the same strips")]
    ReadsAnywhere {
        /// The reader.
        pass: String,
        /// The resource.
        resource: String,
        /// The writer.
        writer: String,
    },
    /// The size of an image is not that of the largest one divided by a whole number.
    #[error("the size of the largest image that the strips write is not a whole multiple of that of `{0}`")]
    Scale(String),
    /// Repeating a pass around each strip would modify contents that exist already.
    #[error(
        "strips repeat pass `{pass}` around their edges, which would modify `{resource}` more than once, but its contents are needed afterwards"
    )]
    Repeats {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
    },
    /// A strip would read texels that an earlier strip has overwritten.
    #[error(
        "strips of `{pass}` need `{resource}` beyond their edge, but the run overwrites it, and its contents are needed afterwards"
    )]
    Overwritten {
        /// The reader.
        pass: String,
        /// The resource.
        resource: String,
    },
    /// An image that the arrangement copies at the border of strips, but that cannot be copied there.
    #[error("`{resource}` cannot be copied into strips and out of them: {why}")]
    Border {
        /// The image.
        resource: String,
        /// The reason.
        why: &'static str,
    },
    /// The tile heap holds the resource only in this many strips or more, and each strip repeats passes at a cost.
    #[error("it fits only if split into at least {0} strips, and the cost of repeating passes is too high")]
    StripCost(u32),
    /// No image of the passes would become smaller in strips.
    #[error("these passes write no image that only they use")]
    NoInsideImage,
    /// Two passes that cannot be merged: they are not render passes with the same area, sample count and command buffer, or the second
    /// reads results of the first elsewhere than at its own pixel.
    #[error(
        "cannot merge `{second}` into `{first}`: it must be a render pass with the same area, sample count and command buffer, and read the results of `{first}` only at its own pixel"
    )]
    CannotMerge {
        /// The first pass.
        first: String,
        /// The second pass.
        second: String,
    },
    /// The pass is the only one of its batch or group.
    #[error("`{0}` is the only pass of its batch or group, but merging needs at least two")]
    OnlyPass(String),
    /// A pass has to run between two passes, and cannot be merged with both.
    #[error("cannot merge `{second}` into `{first}`: `{between}` has to run between them")]
    PassBetween {
        /// The first pass.
        first: String,
        /// The second pass.
        second: String,
        /// The pass between them.
        between: String,
    },
    /// Two passes that no single batch can contain.
    #[error(
        "cannot run `{first}` and `{second}` as one: batches {} and {} cannot be submitted as one: {why}", .batches.0, .batches.1
    )]
    NotOneBatch {
        /// The first pass.
        first: String,
        /// The second pass.
        second: String,
        /// The batches that cannot be fused, by number.
        batches: (u32, u32),
        /// The reason why the batches cannot be fused.
        why: &'static str,
    },
}

impl CannotGroup {
    /// Returns true if the reason also applies to every longer run that contains this one.
    pub(super) fn is_in_longer_runs(&self) -> bool {
        !matches!(
            self,
            CannotGroup::NoInsideImage
                | CannotGroup::Repeats { .. }
                | CannotGroup::Overwritten { .. }
                | CannotGroup::Border { .. }
        )
    }
}

/// Describes a document that cannot be read, by its version if the format is that of arrangements, otherwise by its format.
fn other_document(format: &str, version: u64) -> String {
    match format {
        "tileheap-arrangement" => other_version(version, 1),
        other => format!("format `{other}`: only `tileheap-arrangement` can be read"),
    }
}
