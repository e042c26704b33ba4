//! The JSON form of an arrangement: by names, so that it can be applied to the frame of another day.
//!
//! ```json
//! { "format": "tileheap-arrangement", "version": 1, "frame": "deferred", "batches": [
//!   { "fuses": 2, "groups": [
//!     { "passes": ["shadow"] },
//!     { "passes": ["gbuffer", "lighting"], "merged": true },
//!     { "passes": ["bloom", "blur", "tonemap"], "strips": [1, 8] } ] } ],
//!   "changes": [ { "resource": "hdr", "format": "B10G11R11_UFLOAT_PACK32" } ] }
//! ```

use ash::vk;
use serde::{Deserialize, Serialize};
use tileheap_json::{is_default, parse};

use super::change::DescriptionChange;
use super::check::fusible;
use super::error::ArrangeError;
use super::types::{ArrangedBatch, Arrangement, Grid, Group, Way};
use crate::frame::{BatchId, Frame, PassId};
use crate::names;
use crate::units::Run;

const FORMAT: &str = "tileheap-arrangement";
const VERSION: u64 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an arrangement")]
struct Document {
    format: String,
    version: u64,
    #[serde(default)]
    frame: String,
    #[serde(default, skip_serializing_if = "is_default")]
    changes: Vec<NamedChange>,
    batches: Vec<Batch>,
}

/// One of the three.
#[derive(PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedChange {
    resource: String,
    #[serde(default, skip_serializing_if = "is_default", with = "names::option")]
    format: Option<vk::Format>,
    /// Of width and height, also of what is attached with it.
    #[serde(default, skip_serializing_if = "is_default")]
    quarters: Option<u32>,
    /// The pass that does not use it any more.
    #[serde(default, skip_serializing_if = "is_default")]
    not_in: Option<String>,
}

impl NamedChange {
    fn of(change: DescriptionChange, frame: &Frame) -> NamedChange {
        let (resource, format, quarters, not_in) = match change {
            DescriptionChange::Format { image, format } => (image, Some(format), None, None),
            DescriptionChange::Extent { image, quarters } => (image, None, Some(quarters), None),
            DescriptionChange::Use { resource, pass } => {
                (resource, None, None, Some(frame.pass(pass).name.clone()))
            }
        };
        NamedChange {
            resource: frame.resource(resource).name.clone(),
            format,
            quarters,
            not_in,
        }
    }

    fn read(&self, frame: &Frame) -> Result<DescriptionChange, ArrangeError> {
        let unknown = |name: &String| ArrangeError::Unknown(name.clone());
        let resource = frame
            .resource_named(&self.resource)
            .ok_or_else(|| unknown(&self.resource))?;
        Ok(match (self.format, self.quarters, &self.not_in) {
            (Some(format), None, None) => DescriptionChange::Format {
                image: resource,
                format,
            },
            (None, Some(quarters), None) => DescriptionChange::Extent {
                image: resource,
                quarters,
            },
            (None, None, Some(pass)) => DescriptionChange::Use {
                resource,
                pass: frame.pass_named(pass).ok_or_else(|| unknown(pass))?,
            },
            _ => {
                return Err(ArrangeError::Change {
                    change: format!("`{}`", self.resource),
                    why: "give one of `format`, `quarters` and `not_in`".to_owned(),
                });
            }
        })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Batch {
    /// How many described batches it is.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    fuses: u32,
    groups: Vec<NamedGroup>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedGroup {
    passes: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    merged: bool,
    /// Columns and rows.
    #[serde(default, skip_serializing_if = "is_default")]
    strips: Option<[u32; 2]>,
}

fn one() -> u32 {
    1
}

fn is_one(number: &u32) -> bool {
    *number == 1
}

impl Arrangement {
    /// Writes the JSON form, in lines.
    pub fn to_json(&self, frame: &Frame) -> String {
        let group = |group: &Group| NamedGroup {
            passes: group
                .passes
                .iter()
                .map(|&pass| frame.pass(pass).name.clone())
                .collect(),
            merged: group.way == Way::Merged,
            strips: match group.way {
                Way::Strips(Grid { columns, rows }) => Some([columns, rows]),
                _ => None,
            },
        };
        let batch = |batch: &ArrangedBatch| Batch {
            fuses: batch.batches.len() as u32,
            groups: batch.groups.iter().map(group).collect(),
        };
        tileheap_json::write(&Document {
            format: FORMAT.to_owned(),
            version: VERSION,
            frame: frame.name().to_owned(),
            changes: self
                .changes
                .iter()
                .map(|&change| NamedChange::of(change, frame))
                .collect(),
            batches: self.batches.iter().map(batch).collect(),
        })
    }

    /// Reads the JSON form, for a frame that has its passes.
    ///
    /// # Errors
    /// [`ArrangeError`] where the text is no arrangement, names a pass that the frame does not have, or does not [fit](Arrangement::check).
    pub fn from_json(text: &str, frame: &Frame) -> Result<Arrangement, ArrangeError> {
        let document = document(text)?;
        let known = |name: &String| {
            frame
                .pass_named(name)
                .ok_or_else(|| ArrangeError::Unknown(name.clone()))
        };
        let mut next = 0;
        let mut batches = Vec::new();
        for batch in document.batches {
            let of = Run {
                first: next,
                end: next.saturating_add(batch.fuses),
            };
            next = of.end;
            let groups = batch.groups.iter().map(|group| {
                let passes = group.passes.iter().map(known).collect::<Result<_, _>>()?;
                Ok(Group {
                    passes,
                    way: way(group),
                })
            });
            batches.push(ArrangedBatch {
                batches: of,
                groups: groups.collect::<Result<_, ArrangeError>>()?,
            });
        }
        let changes = document.changes.iter().map(|change| change.read(frame));
        let changes = changes.collect::<Result<_, _>>()?;
        let arrangement = Arrangement { changes, batches };
        arrangement.check(frame)?;
        Ok(arrangement)
    }

    /// Reads the JSON form for a frame that may have changed since: what is gone is left out, what is new runs where it is described,
    /// and what cannot run so any more runs as described.
    ///
    /// # Errors
    /// [`ArrangeError`] where the text is no arrangement.
    pub fn repaired(text: &str, frame: &Frame) -> Result<Arrangement, ArrangeError> {
        let document = document(text)?;
        let mut repaired = Arrangement::described(frame);
        for change in document
            .changes
            .iter()
            .filter_map(|change| change.read(frame).ok())
        {
            repaired.changes.push(change);
            if repaired.description(frame).is_err() {
                repaired.changes.pop();
            }
        }
        for (fused, batch) in document.batches.iter().enumerate() {
            for _ in 1..batch.fuses.min(frame.batches().len() as u32) {
                let (first, second) = (fused, fused + 1);
                if second < repaired.batches.len() {
                    let last = BatchId(repaired.batches[first].batches.end - 1);
                    if fusible(frame, last, BatchId(last.0 + 1)).is_ok() {
                        let gone = repaired.batches.remove(second);
                        repaired.batches[first].batches.end = gone.batches.end;
                        repaired.batches[first].groups.extend(gone.groups);
                    }
                }
            }
        }
        for group in document.batches.iter().flat_map(|batch| &batch.groups) {
            let known: Option<Vec<PassId>> = group.passes.iter().map(|name| frame.pass_named(name)).collect();
            let Some(passes) = known.filter(|passes| passes.len() > 1) else {
                continue;
            };
            let changed = repaired.with_group(&passes, way(group));
            if let Some(changed) = changed.filter(|changed| changed.check(frame).is_ok()) {
                repaired = changed;
            }
        }
        Ok(repaired)
    }

    /// These passes, all alone so far and in one batch, as one group where the first of them is.
    pub(super) fn with_group(&self, passes: &[PassId], way: Way) -> Option<Arrangement> {
        let mut changed = self.clone();
        let alone = |group: &Group| group.passes.len() == 1 && passes.contains(&group.passes[0]);
        let batch = changed
            .batches
            .iter_mut()
            .find(|batch| batch.groups.iter().any(alone))?;
        let at = batch.groups.iter().position(alone)?;
        let before = batch.groups.len();
        batch.groups.retain(|group| !alone(group));
        if before - batch.groups.len() != passes.len() {
            return None;
        }
        batch.groups.insert(
            at,
            Group {
                passes: passes.to_vec(),
                way,
            },
        );
        Some(changed)
    }
}

fn way(group: &NamedGroup) -> Way {
    match group.strips {
        Some([columns, rows]) => Way::Strips(Grid { columns, rows }),
        None if group.merged => Way::Merged,
        None => Way::Once,
    }
}

fn document(text: &str) -> Result<Document, ArrangeError> {
    let document: Document = parse(text)?;
    if document.format != FORMAT || document.version != VERSION {
        return Err(ArrangeError::Format {
            format: document.format,
            version: document.version,
        });
    }
    Ok(document)
}
