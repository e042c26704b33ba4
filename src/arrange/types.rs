//! An arrangement: batches, groups, and how they run.

use ash::vk;

use super::change::{DescriptionChange, changed};
use super::error::ArrangeError;
use crate::frame::{BatchId, Frame, PassId, ResourceId};
use crate::units::Run;

/// Another way to run a described frame: its passes in batches, in an order, in groups.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Arrangement {
    /// What the frame describes otherwise first, one after the other.
    pub changes: Vec<DescriptionChange>,
    /// In submission order.
    pub batches: Vec<ArrangedBatch>,
}

/// One batch, in place of one or several described ones in a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArrangedBatch {
    /// The described batches.
    pub batches: Run,
    /// Their passes, in the order in which they run.
    pub groups: Vec<Group>,
}

/// Passes that run one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    /// In order.
    pub passes: Vec<PassId>,
    /// How.
    pub way: Way,
    /// Of strips, the images at their border: on chip while a strip runs, copied in before it where it needs what is there, and out
    /// afterwards where something else needs what it leaves there.
    pub borders: Vec<ResourceId>,
}

/// How a group of passes runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// Each pass once, as described.
    Once,
    /// As one render pass.
    Merged,
    /// All of them for one part of the image, then all for the next.
    Strips(Grid),
}

/// Columns and rows of strips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    /// Strips beside one another.
    pub columns: u32,
    /// Strips below one another.
    pub rows: u32,
}

impl Grid {
    /// The number of strips.
    pub fn strips(self) -> u32 {
        self.columns * self.rows
    }

    /// Others of about as many strips.
    pub(super) fn neighbours(self) -> Vec<Grid> {
        let around = |side: u32| side.saturating_sub(1)..=side + 1;
        let mut near = Vec::new();
        for columns in around(self.columns) {
            let fitting = (self.strips() as f64 / f64::from(columns.max(1))).round() as u32;
            for rows in around(self.rows).chain(around(fitting)) {
                let one = Grid { columns, rows };
                if one.strips() > 1 && one != self && !near.contains(&one) {
                    near.push(one);
                }
            }
        }
        near
    }
}

impl Group {
    /// Passes that run one after the other, with nothing at the border of strips.
    pub fn new(passes: Vec<PassId>, way: Way) -> Group {
        Group {
            passes,
            way,
            borders: Vec::new(),
        }
    }

    pub(super) fn once(pass: PassId) -> Group {
        Group {
            passes: vec![pass],
            way: Way::Once,
            borders: Vec::new(),
        }
    }
}

impl Arrangement {
    /// A frame as it is described.
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
                groups: passes.map(Group::once).collect(),
            }
        });
        Arrangement {
            changes: Vec::new(),
            batches: batches.collect(),
        }
    }

    /// The frame with the changes of its description; passes and resources keep their ids.
    ///
    /// # Errors
    /// As [`DescriptionChange::apply`].
    pub fn description(&self, frame: &Frame) -> Result<Frame, ArrangeError> {
        changed(frame, &self.changes)
    }

    /// Batches and their groups, one a line.
    pub fn in_words(&self, frame: &Frame) -> String {
        let mut words = String::new();
        for (number, batch) in self.batches.iter().enumerate() {
            words += &format!("batch {number}\n");
            for group in &batch.groups {
                let passes = group.passes.iter().map(|&pass| frame.pass(pass).name.as_str());
                let passes = passes.collect::<Vec<_>>().join(", ");
                let borders = group.borders.iter().map(|&id| frame.resource(id).name.as_str());
                let borders = match &borders.collect::<Vec<_>>()[..] {
                    [] => String::new(),
                    names => format!(", copied at their borders: {}", names.join(", ")),
                };
                words += &match group.way {
                    Way::Once => format!("  {passes}\n"),
                    Way::Merged => format!("  {passes}: merged\n"),
                    Way::Strips(Grid { columns, rows }) => {
                        format!("  {passes}: {columns} x {rows} strips{borders}\n")
                    }
                };
            }
        }
        words
    }

    /// Every group, in the order in which they run.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.batches.iter().flat_map(|batch| &batch.groups)
    }

    /// Every pass, in the order in which they run first.
    pub fn passes(&self) -> impl Iterator<Item = PassId> + use<'_> {
        self.groups().flat_map(|group| group.passes.iter().copied())
    }
}

pub(super) fn texels_of(rect: vk::Rect2D) -> u64 {
    u64::from(rect.extent.width) * u64::from(rect.extent.height)
}
