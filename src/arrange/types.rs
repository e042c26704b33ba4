//! Arrangements: batches, groups, and how the groups run.

use ash::vk;

use super::change::{DescriptionChange, changed};
use super::error::ArrangeError;
use crate::frame::{BatchId, Frame, PassId, ResourceId};
use crate::units::Run;

/// An arrangement of a described frame: its passes in batches and groups, in execution order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Arrangement {
    /// Changes to the description that are applied first, in order.
    pub changes: Vec<DescriptionChange>,
    /// The batches, in submission order.
    pub batches: Vec<ArrangedBatch>,
}

/// A batch that replaces one or several consecutive described batches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArrangedBatch {
    /// The described batches.
    pub batches: Run,
    /// Groups of the passes of these batches, in execution order.
    pub groups: Vec<PassGroup>,
}

/// Passes that run consecutively.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PassGroup {
    /// The passes, in execution order.
    pub passes: Vec<PassId>,
    /// Execution mode of the passes.
    pub mode: GroupMode,
    /// Images at the border of the strips: on chip while a strip runs, copied in before it if the strip needs their contents, and out after it if a
    /// later access needs them.
    pub borders: Vec<ResourceId>,
}

/// Execution mode of a group of passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupMode {
    /// Each pass once, as described.
    Once,
    /// Merged into one render pass.
    Merged,
    /// All passes for one part of the image, then all for the next.
    Strips(StripGrid),
}

/// Columns and rows of strips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StripGrid {
    /// Number of strips side by side.
    pub columns: u32,
    /// Number of strips one below the other.
    pub rows: u32,
}

impl StripGrid {
    /// The number of strips.
    pub fn strips(self) -> u32 {
        self.columns * self.rows
    }

    /// Other grids with about as many strips.
    pub(super) fn neighbors(self) -> Vec<StripGrid> {
        let around = |side: u32| side.saturating_sub(1)..=side + 1;
        let mut near = Vec::new();
        for columns in around(self.columns) {
            let fitting = (self.strips() as f64 / f64::from(columns.max(1))).round() as u32;
            for rows in around(self.rows).chain(around(fitting)) {
                let one = StripGrid { columns, rows };
                if one.strips() > 1 && one != self && !near.contains(&one) {
                    near.push(one);
                }
            }
        }
        near
    }
}

impl PassGroup {
    /// Creates a group of consecutive passes, without images at the border of strips.
    pub fn new(passes: Vec<PassId>, mode: GroupMode) -> PassGroup {
        PassGroup {
            passes,
            mode,
            borders: Vec::new(),
        }
    }

    pub(super) fn once(pass: PassId) -> PassGroup {
        PassGroup {
            passes: vec![pass],
            mode: GroupMode::Once,
            borders: Vec::new(),
        }
    }
}

impl Arrangement {
    /// The arrangement of a frame as described.
    pub fn described(frame: &Frame) -> Arrangement {
        let batches = (0..frame.batches().len() as u32).map(|batch| {
            let passes = frame
                .pass_ids()
                .filter(|pass| frame.batch_of(*pass) == BatchId(batch));
            ArrangedBatch {
                batches: Run {
                    first: batch,
                    end: batch + 1,
                },
                groups: passes.map(PassGroup::once).collect(),
            }
        });
        Arrangement {
            changes: Vec::new(),
            batches: batches.collect(),
        }
    }

    /// Returns the frame with the changes that the arrangement makes to its description; passes and resources keep their ids.
    ///
    /// # Errors
    /// Same as [`DescriptionChange::apply`].
    pub fn description(&self, frame: &Frame) -> Result<Frame, ArrangeError> {
        changed(frame, &self.changes)
    }

    /// Lists batches and their groups, one per line.
    pub fn in_words(&self, frame: &Frame) -> String {
        let mut words = String::new();
        for (number, batch) in self.batches.iter().enumerate() {
            words += &format!("batch {number}\n");
            for group in &batch.groups {
                let passes = group
                    .passes
                    .iter()
                    .map(|&pass| frame.pass(pass).name.as_str())
                    .collect::<Vec<_>>()
                    .join(", ");
                let borders = group.borders.iter().map(|&id| frame.resource(id).name.as_str());
                let borders = match &borders.collect::<Vec<_>>()[..] {
                    [] => String::new(),
                    names => format!("; copied at their borders: {}", names.join(", ")),
                };
                words += &match group.mode {
                    GroupMode::Once => format!("  {passes}\n"),
                    GroupMode::Merged => format!("  {passes}: merged\n"),
                    GroupMode::Strips(StripGrid { columns, rows }) => {
                        format!("  {passes}: {columns} x {rows} strips{borders}\n")
                    }
                };
            }
        }
        words
    }

    /// All groups, in execution order.
    pub fn groups(&self) -> impl Iterator<Item = &PassGroup> {
        self.batches.iter().flat_map(|batch| &batch.groups)
    }

    /// The group of a pass.
    pub(super) fn group_of(&mut self, pass: PassId) -> Option<&mut PassGroup> {
        let mut groups = self.batches.iter_mut().flat_map(|batch| &mut batch.groups);
        groups.find(|group| group.passes.contains(&pass))
    }

    /// All passes, in the order of their first execution.
    pub fn passes(&self) -> impl Iterator<Item = PassId> + use<'_> {
        self.groups().flat_map(|group| group.passes.iter().copied())
    }
}

pub(super) fn texels_of(rect: vk::Rect2D) -> u64 {
    u64::from(rect.extent.width) * u64::from(rect.extent.height)
}
