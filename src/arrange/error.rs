//! Why a frame cannot be arranged so.

use tileheap_json::{JsonSyntaxError, written_by};

/// Why an arrangement does not fit its frame; names passes and resources.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ArrangeError {
    /// A pass or batch is left out, is there twice, or does not exist.
    #[error("arrangement: {what} is there {times} times, and not once")]
    NotOnce {
        /// Which.
        what: String,
        /// How often.
        times: usize,
    },
    /// Batches that a queue or a semaphore keeps apart.
    #[error("arrangement: batches {first} and {second} cannot be submitted as one: {why}")]
    CannotFuse {
        /// The first, by number.
        first: u32,
        /// The second.
        second: u32,
        /// What keeps them apart.
        why: &'static str,
    },
    /// A pass runs before one that it depends on.
    #[error("arrangement: pass `{later}` runs before `{earlier}`, and both use `{resource}`")]
    Order {
        /// Described first.
        earlier: String,
        /// Described later.
        later: String,
        /// Through which they depend on one another.
        resource: String,
    },
    /// Passes that cannot run as one group.
    #[error("arrangement: passes `{first}` to `{last}` cannot run as one: {why}")]
    Group {
        /// The first pass.
        first: String,
        /// The last pass.
        last: String,
        /// Why.
        why: Box<CannotGroup>,
    },
    /// Not JSON, or not what is expected at this place.
    #[error("arrangement JSON, {0}")]
    Syntax(#[from] JsonSyntaxError),
    /// Another document, or another version.
    #[error("arrangement JSON has format `{format}`, version {version} ({}only tileheap-arrangement, version 1, can be read)", written_by(*.version))]
    Format {
        /// What the file says.
        format: String,
        /// What the file says.
        version: u64,
    },
    /// A name that the frame does not have.
    #[error("arrangement JSON: the frame has no pass or resource `{0}`")]
    Unknown(String),
    /// Passes that are not side by side any more.
    #[error("arrangement: the passes of a group are in several batches or groups: `{0}` and those with it")]
    Apart(String),
    /// The description cannot be changed so.
    #[error("arrangement: {change}: {why}")]
    Change {
        /// What was to change.
        change: String,
        /// Why it cannot.
        why: String,
    },
}

/// Why passes cannot run as one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum CannotGroup {
    /// No strips, or more than there are texels.
    #[error("{columns} x {rows} strips of {width} x {height} pixels")]
    Grid {
        /// Columns asked for.
        columns: u32,
        /// Rows asked for.
        rows: u32,
        /// Of what is divided.
        width: u32,
        /// Of what is divided.
        height: u32,
    },
    /// The pass has not declared that it uses the origin it is given.
    #[error("pass `{0}` has not declared that it can run in strips")]
    NotDeclared(String),
    /// A feature of the pass that strips have no answer to.
    #[error("pass `{pass}` {what}")]
    Pass {
        /// The pass.
        pass: String,
        /// What is special about it.
        what: &'static str,
    },
    /// Repeating the pass would change what it updates.
    #[error("pass `{pass}` updates `{resource}`, which must happen once")]
    SideEffect {
        /// The pass.
        pass: String,
        /// The buffer.
        resource: String,
    },
    /// Made inside and read further than a strip knows.
    #[error("pass `{pass}` reads `{resource}` anywhere, and `{writer}` in the same run makes it")]
    ReadsAnywhere {
        /// The reader.
        pass: String,
        /// What it reads.
        resource: String,
        /// The writer.
        writer: String,
    },
    /// Its size is no whole fraction of the others'.
    #[error("`{0}` is no whole fraction of the largest image that the run writes")]
    Scale(String),
    /// A pass that is repeated around each strip would change what is there already.
    #[error(
        "pass `{pass}` is repeated around each strip, and changes what `{resource}`, which lives on, contains"
    )]
    Repeats {
        /// The pass.
        pass: String,
        /// The resource.
        resource: String,
    },
    /// A strip would read what the strip before has overwritten.
    #[error(
        "`{resource}` lives on, is read around each strip by `{pass}`, and is overwritten later in the run"
    )]
    Overwritten {
        /// The reader.
        pass: String,
        /// The resource.
        resource: String,
    },
    /// An image that is to be copied at the border of strips, and cannot be.
    #[error("`{resource}` cannot be on chip in strips and in memory around them: {why}")]
    Border {
        /// The image.
        resource: String,
        /// Why.
        why: &'static str,
    },
    /// Nothing would become smaller.
    #[error("nothing that the passes make is used by them alone")]
    NothingInside,
    /// No render passes in a row that read one another at their own pixel.
    #[error(
        "pass `{second}` is no render pass of the same area, samples and command buffer that reads what `{first}` makes at its own pixel"
    )]
    NotOnePass {
        /// The first.
        first: String,
        /// The second.
        second: String,
    },
}

impl CannotGroup {
    /// Whether what forbids a run forbids every run around it, too.
    pub(super) fn is_in_longer_runs(&self) -> bool {
        !matches!(
            self,
            CannotGroup::NothingInside
                | CannotGroup::Repeats { .. }
                | CannotGroup::Overwritten { .. }
                | CannotGroup::Border { .. }
        )
    }
}
