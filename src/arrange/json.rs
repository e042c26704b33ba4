//! The JSON form of an arrangement: by name, so that it also applies to later versions of the frame.
//!
//! ```json
//! { "format": "tileheap-arrangement", "version": 1, "frame": "deferred", "batches": [
//!   { "fuses": 2, "groups": [
//!     { "passes": ["shadow"] },
//!     { "passes": ["gbuffer", "lighting"], "merged": true },
//!     { "passes": ["bloom", "blur", "tonemap"], "strips": [1, 8], "borders": ["hdr"] } ] } ],
//!   "changes": [ { "resource": "hdr", "format": "B10G11R11_UFLOAT_PACK32" } ] }
//! ```

use ash::vk;
use serde::{Deserialize, Serialize};
use tileheap_json::{is_default, parse};

use super::change::DescriptionChange;
use super::check::{fusible, in_order};
use super::error::ArrangeError;
use super::types::{ArrangedBatch, Arrangement, GroupMode, PassGroup, StripGrid};
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

/// A change to the description, by name; exactly one of the three optional fields is set.
#[derive(PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedChange {
    resource: String,
    #[serde(default, skip_serializing_if = "is_default", with = "names::option")]
    format: Option<vk::Format>,
    /// New width and height in quarters of the described ones, for the image and those attached with it.
    #[serde(default, skip_serializing_if = "is_default")]
    quarters: Option<u32>,
    /// The pass that no longer uses the resource.
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
                    why: "give exactly one of `format`, `quarters` and `not_in`".to_owned(),
                });
            }
        })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Batch {
    /// Number of described batches fused into this one.
    #[serde(default = "tileheap_json::one", skip_serializing_if = "tileheap_json::is_one")]
    fuses: u32,
    groups: Vec<NamedGroup>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedGroup {
    passes: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    merged: bool,
    /// Columns and rows of strips.
    #[serde(default, skip_serializing_if = "is_default")]
    strips: Option<[u32; 2]>,
    /// Images at the border of the strips.
    #[serde(default, skip_serializing_if = "is_default")]
    borders: Vec<String>,
}

impl Arrangement {
    /// Writes the JSON form, on several lines.
    pub fn to_json(&self, frame: &Frame) -> String {
        let group = |group: &PassGroup| NamedGroup {
            passes: group
                .passes
                .iter()
                .map(|&pass| frame.pass(pass).name.clone())
                .collect(),
            merged: group.mode == GroupMode::Merged,
            strips: match group.mode {
                GroupMode::Strips(StripGrid { columns, rows }) => Some([columns, rows]),
                _ => None,
            },
            borders: group
                .borders
                .iter()
                .map(|&image| frame.resource(image).name.clone())
                .collect(),
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

    /// Reads the JSON form, for a frame with the same passes.
    ///
    /// # Errors
    /// [`ArrangeError`] if the text is not an arrangement, names a pass that the frame does not have, or does not [fit](Arrangement::check).
    pub fn from_json(text: &str, frame: &Frame) -> Result<Arrangement, ArrangeError> {
        let document = document(text)?;
        let mut next = 0;
        let mut batches = Vec::new();
        for batch in document.batches {
            let of = Run {
                first: next,
                end: next.saturating_add(batch.fuses),
            };
            next = of.end;
            let groups = batch.groups.iter().map(|group| read_group(group, frame));
            batches.push(ArrangedBatch {
                batches: of,
                groups: groups.collect::<Result<_, _>>()?,
            });
        }
        let changes = document
            .changes
            .iter()
            .map(|change| change.read(frame))
            .collect::<Result<_, _>>()?;
        let arrangement = Arrangement { changes, batches };
        arrangement.check(frame)?;
        Ok(arrangement)
    }

    /// Reads the JSON form for a frame that may have changed since, and returns an error for each part that could not be kept: missing
    /// passes are left out, new ones run after the pass that precedes them in the description, the order is kept as far as dependencies
    /// allow, and groups that are no longer possible run pass by pass.
    ///
    /// # Errors
    /// [`ArrangeError`] if the text is not an arrangement, or the frame has none of its passes.
    pub fn from_json_lossy(
        text: &str,
        frame: &Frame,
    ) -> Result<(Arrangement, Vec<ArrangeError>), ArrangeError> {
        let document = document(text)?;
        let (mut repaired, mut lost) = (Arrangement::described(frame), Vec::new());
        for change in &document.changes {
            let (read, before) = (change.read(frame), repaired.changes.len());
            repaired.changes.extend(read.as_ref().ok());
            if let Err(why) = read.and_then(|_| repaired.description(frame)) {
                repaired.changes.truncate(before);
                lost.push(why);
            }
        }
        for (first, batch) in document.batches.iter().enumerate() {
            for _ in 1..batch.fuses.min(frame.batches().len() as u32) {
                if first + 1 < repaired.batches.len() {
                    let last = BatchId(repaired.batches[first].batches.end - 1);
                    match fusible(frame, last, BatchId(last.0 + 1)) {
                        Ok(()) => {
                            let gone = repaired.batches.remove(first + 1);
                            repaired.batches[first].batches.end = gone.batches.end;
                            repaired.batches[first].groups.extend(gone.groups);
                        }
                        Err(why) => lost.push(why),
                    }
                }
            }
        }
        let groups = || document.batches.iter().flat_map(|batch| &batch.groups);
        let names = || groups().flat_map(|group| &group.passes);
        let wanted: Vec<PassId> = names().filter_map(|name| frame.pass_named(name)).collect();
        if let (Some(name), true) = (names().next(), wanted.is_empty()) {
            return Err(ArrangeError::Unknown(name.clone()));
        }
        for batch in &mut repaired.batches {
            let described = batch.groups.iter().map(|group| group.passes[0]);
            let order = in_order(frame, &merged_orders(&described.collect::<Vec<_>>(), &wanted));
            batch.groups = order.into_iter().map(PassGroup::once).collect();
        }
        for group in groups().filter(|group| group.passes.len() > usize::from(mode(group) == GroupMode::Once))
        {
            match read_group(group, frame).and_then(|group| repaired.with_checked(frame, &group)) {
                Ok(changed) => repaired = changed,
                Err(why) => lost.push(why),
            }
        }
        Ok((repaired, lost))
    }

    /// Like `with_group`, but checks the result.
    fn with_checked(&self, frame: &Frame, group: &PassGroup) -> Result<Arrangement, ArrangeError> {
        let split = || ArrangeError::SplitGroup(frame.pass(group.passes[0]).name.clone());
        let changed = self.with_group(group).ok_or_else(split)?;
        changed.check(frame).map(|()| changed)
    }

    /// Groups these passes at the position of the first of them; `None` unless all are ungrouped and in one batch.
    pub(super) fn with_group(&self, group: &PassGroup) -> Option<Arrangement> {
        let mut changed = self.clone();
        let passes = &group.passes;
        let alone = |group: &PassGroup| group.passes.len() == 1 && passes.contains(&group.passes[0]);
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
        batch.groups.insert(at, group.clone());
        Some(changed)
    }
}

/// A batch's passes in the order of a document; each pass that it does not name follows its predecessor in the description.
fn merged_orders(described: &[PassId], wanted: &[PassId]) -> Vec<PassId> {
    let mut order: Vec<PassId> = Vec::with_capacity(described.len());
    for pass in wanted.iter().filter(|pass| described.contains(pass)) {
        order.extend((!order.contains(pass)).then_some(*pass));
    }
    for (at, pass) in described.iter().enumerate() {
        if !order.contains(pass) {
            let behind = at.checked_sub(1).map(|before| described[before]);
            let place = order.iter().position(|&pass| Some(pass) == behind);
            order.insert(place.map_or(0, |place| place + 1), *pass);
        }
    }
    order
}

fn read_group(group: &NamedGroup, frame: &Frame) -> Result<PassGroup, ArrangeError> {
    let known = |name: &String| {
        let known = frame.pass_named(name);
        known.ok_or_else(|| ArrangeError::Unknown(name.clone()))
    };
    let image = |name: &String| {
        let known = frame.resource_named(name);
        known.ok_or_else(|| ArrangeError::Unknown(name.clone()))
    };
    let mut borders = Vec::with_capacity(group.borders.len());
    for name in &group.borders {
        let image = image(name)?;
        if !borders.contains(&image) {
            borders.push(image);
        }
    }
    Ok(PassGroup {
        passes: group.passes.iter().map(known).collect::<Result<_, _>>()?,
        mode: mode(group),
        borders,
    })
}

fn mode(group: &NamedGroup) -> GroupMode {
    match group.strips {
        Some([columns, rows]) => GroupMode::Strips(StripGrid { columns, rows }),
        None if group.merged => GroupMode::Merged,
        None => GroupMode::Once,
    }
}

fn document(text: &str) -> Result<Document, ArrangeError> {
    #[derive(Deserialize)]
    struct Header {
        format: String,
        version: u64,
    }
    // The header is read first: the fields of another document would be less helpful errors.
    let Header { format, version } = parse(text)?;
    if format != FORMAT || version != VERSION {
        return Err(ArrangeError::Format { format, version });
    }
    Ok(parse(text)?)
}
