//! Compares a plan with a baseline: an accepted plan of an earlier version of the frame.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tileheap::frame::{Frame, ResourceId};
use tileheap::plan::{MemoryKind, PlacementReason, Plan};
use tileheap::profile::DeviceProfile;

use crate::captured::is_kept_by_driver;
use crate::error::{Error, Result};
use crate::input::{read_text, shown};

/// A plan as JSON, and its device.
pub(crate) struct Baseline {
    path: PathBuf,
    plan: Value,
    pub(crate) profile: DeviceProfile,
}

/// The differences that matter between a baseline and a plan.
pub(crate) struct Comparison {
    /// Number of resources that the baseline keeps in tile memory.
    pub(crate) kept: u64,
    /// Those that the plan does not keep on chip, with the reasons.
    pub(crate) lost: Vec<(String, String)>,
    /// Those that the frame no longer has or uses.
    pub(crate) gone: Vec<String>,
    /// Differences between the ways in which the two were planned.
    pub(crate) notes: Vec<String>,
}

impl Baseline {
    pub(crate) fn read(path: &Path) -> Result<Baseline> {
        let text = read_text(path, "baseline")?;
        let wrong = |error: String| Error::of(shown(path), error);
        Plan::check_json(&text).map_err(|error| wrong(error.to_string()))?;
        let plan: Value =
            serde_json::from_str(&text).expect("text that was accepted as a plan is valid JSON");
        let profile = DeviceProfile::from_json(&plan["profile"].to_string());
        Ok(Baseline {
            path: path.to_owned(),
            plan,
            profile: profile.map_err(|error| wrong(error.to_string()))?,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the plan, for messages.
    pub(crate) fn shown(&self) -> String {
        shown(&self.path)
    }

    /// Finds each resource that the baseline keeps in tile memory in a plan. It is kept there if all of its parts are: the images of its strips, and the
    /// stretches of its lifetime. An attachment of only one render pass is kept on chip by the driver.
    pub(crate) fn compare(&self, plan: &Plan) -> Comparison {
        let (executed, described) = (plan.executed(), plan.described());
        let mut comparison = Comparison {
            kept: 0,
            lost: Vec::new(),
            gone: Vec::new(),
            notes: self.other_settings(plan),
        };
        for name in self.kept() {
            comparison.kept += 1;
            let Some(resource) = described_resource(described, name) else {
                comparison.gone.push(name.to_owned());
                continue;
            };
            let name_of = |id: ResourceId| &*plan.frame.resource(id).name;
            let parts = plan
                .frame
                .resource_ids()
                .filter(|&id| executed.origins().resource(id).resource == resource);
            let all: Vec<ResourceId> = parts.collect();
            let same: Vec<ResourceId> = all
                .iter()
                .copied()
                .filter(|&id| is_part(name_of(id), name))
                .collect();
            // The values of a resource are numbered differently if their number has changed.
            let parts = if same.is_empty() { all } else { same };
            let used = parts
                .iter()
                .filter(|id| !matches!(plan.resources[id.index()].reason, PlacementReason::Unused));
            let mut used = used.copied().peekable();
            if used.peek().is_none() {
                comparison.gone.push(name.to_owned());
            } else if let Some(off_chip) = used.find(|&id| !is_on_chip(plan, id)) {
                comparison
                    .lost
                    .push((name.to_owned(), plan.reason_text(off_chip)));
            }
        }
        comparison
    }

    /// The names of the resources that the baseline keeps entirely in tile memory.
    fn kept(&self) -> Vec<&str> {
        let resources = self.plan["resources"].as_array().map_or(&[][..], Vec::as_slice);
        let name = |resource: &'_ Value| resource["name"].as_str().unwrap_or_default().to_owned();
        let is_tile = |resource: &Value| {
            let placements = resource["placements"].as_array().map_or(&[][..], Vec::as_slice);
            !placements.is_empty() && placements.iter().all(|place| place["memory"] == "tile")
        };
        // Of a split lifetime, the rest has the name of the resource, and the stretches are in tile memory.
        let is_split = |stretch: &Value| {
            let mut others = resources.iter();
            others.any(|other| is_stretch(&name(stretch), &name(other)) && !is_tile(other))
        };
        let kept = resources
            .iter()
            .filter(|resource| is_tile(resource) && !is_split(resource));
        kept.filter_map(|resource| resource["name"].as_str()).collect()
    }

    /// Differences between the extents and options of the baseline and of a plan.
    fn other_settings(&self, plan: &Plan) -> Vec<String> {
        let new: Value = serde_json::from_str(&plan.to_json()).unwrap_or_default();
        let mut notes = Vec::new();
        let mut compare = |what: &str, old: &Value, new: &Value| {
            if old != new {
                let text = |value: &Value| value.to_string().replace(['"', '[', ']'], "").replace(',', "x");
                notes.push(format!(
                    "{}, the baseline, was planned with {what} {} instead of {}",
                    self.shown(),
                    text(old),
                    text(new)
                ));
            }
        };
        compare("base extent", &self.plan["base_extent"], &new["base_extent"]);
        let options = new["options"].as_object().into_iter().flatten();
        for (option, value) in options {
            let old = &self.plan["options"][option];
            compare(&option.replace('_', " "), old, value);
        }
        notes
    }
}

/// Returns true if a resource is in tile memory, or kept in the driver's own tiles.
fn is_on_chip(plan: &Plan, id: ResourceId) -> bool {
    plan.memory_of(id) == Some(MemoryKind::Tile) || is_kept_by_driver(plan.resources[id.index()].reason)
}

/// Returns true if a name is that of a resource or of its parts: `hdr (value 1 of 2)` and `hdr (until bloom)` are parts of `hdr`.
fn is_part(name: &str, resource: &str) -> bool {
    let rest = name.strip_prefix(resource);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
}

/// Returns true if a name is that of a stretch of the lifetime of a resource.
fn is_stretch(name: &str, resource: &str) -> bool {
    let rest = name.strip_prefix(resource);
    rest.is_some_and(|rest| rest.starts_with(" (until "))
}

/// The described resource with the longest name that a planned resource is part of.
fn described_resource(described: &Frame, name: &str) -> Option<ResourceId> {
    let named = |id: &ResourceId| is_part(name, &described.resource(*id).name);
    let candidates = described.resource_ids().filter(named);
    candidates.max_by_key(|id| described.resource(*id).name.len())
}
