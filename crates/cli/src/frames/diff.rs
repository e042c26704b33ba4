//! The differences between two plans.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// A value that differs; `None` in the plan that lacks it.
pub(crate) struct Difference {
    pub(crate) name: String,
    pub(crate) old: Option<String>,
    pub(crate) new: Option<String>,
    /// The reason for the new placement of a resource.
    pub(crate) reason: Option<String>,
}

/// All differences between two plans, grouped under headings.
pub(crate) fn differences(old: &Value, new: &Value) -> [(&'static str, Vec<Difference>); 4] {
    [
        ("Descriptions", other_descriptions(old, new)),
        ("Resources", placed_differently(old, new)),
        ("Bound in passes", differing(&bindings(old), &bindings(new))),
        ("Totals", differing(&totals(old), &totals(new))),
    ]
}

/// The resources that are placed differently, or are in only one of the plans.
pub(crate) fn moved_resources(old: &Value, new: &Value) -> BTreeSet<String> {
    let (old, new) = (placements(old), placements(new));
    let names = old.keys().chain(new.keys());
    names
        .filter(|name| old.get(*name) != new.get(*name))
        .cloned()
        .collect()
}

/// The resources of both plans whose descriptions differ. Plans of earlier versions do not contain descriptions.
fn other_descriptions(old: &Value, new: &Value) -> Vec<Difference> {
    let (old, new) = (descriptions(old), descriptions(new));
    let both = old
        .iter()
        .filter_map(|(name, old)| Some((name, old, new.get(name)?)));
    both.filter(|(_, old, new)| old != new)
        .map(|(name, old, new)| Difference {
            name: name.clone(),
            old: Some(description(old, new)),
            new: Some(description(new, old)),
            reason: None,
        })
        .collect()
}

/// The descriptions of the images and buffers.
fn descriptions(plan: &Value) -> BTreeMap<String, &Value> {
    let resources = entries(&plan["resources"]);
    let described = resources.filter_map(|(name, resource)| {
        Some((name, resource.get("image").or_else(|| resource.get("buffer"))?))
    });
    described.collect()
}

/// The format and the extent of an image, or the size of a buffer, and other fields that differ from those of another description.
fn description(description: &Value, other: &Value) -> String {
    let list = |value: &Value, separator: &str| match value.as_array() {
        Some(values) => values.iter().map(text).collect::<Vec<_>>().join(separator),
        None => text(value),
    };
    let what = match description["size"].as_u64() {
        Some(size) => format!("{size} B"),
        None => format!(
            "{} {}",
            text(&description["format"]),
            list(&description["extent"], "x")
        ),
    };
    let fields = description.as_object().into_iter().flatten();
    let others = fields.filter(|(key, value)| {
        !["size", "format", "extent"].contains(&key.as_str()) && other[key.as_str()] != **value
    });
    let others = others.map(|(key, value)| format!(", {} {}", key.replace('_', " "), list(value, " | ")));
    what + &others.collect::<String>()
}

/// The placements of each resource.
fn placements(plan: &Value) -> BTreeMap<String, String> {
    let object_size = |index: &Value| {
        let object = index
            .as_u64()
            .and_then(|index| plan["objects"].get(index as usize));
        object.map_or(String::new(), |object| format!(" of {} B", object["size"]))
    };
    let resources = entries(&plan["resources"]);
    let placed = resources.map(|(name, resource)| {
        let places = resource["placements"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|place| {
                format!(
                    "{} at {}{}, {} … {}",
                    text(&place["memory"]),
                    place["offset"],
                    object_size(&place["object"]),
                    text(&place["first_pass"]),
                    text(&place["last_pass"]),
                )
            });
        let places: Vec<String> = places.collect();
        let place = if places.is_empty() {
            "not placed".to_owned()
        } else {
            places.join(", then ")
        };
        (name, place)
    });
    placed.collect()
}

/// The resources that are placed differently, with the reasons for their new placements.
fn placed_differently(old: &Value, new: &Value) -> Vec<Difference> {
    let reasons: BTreeMap<String, &Value> = entries(&new["resources"]).collect();
    let mut differences = differing(&placements(old), &placements(new));
    for difference in &mut differences {
        let resource = reasons.get(&difference.name);
        let reason = resource.and_then(|resource| resource["reason"]["text"].as_str());
        difference.reason = reason.map(str::to_owned);
    }
    differences
}

/// The tile memory bound in each pass.
fn bindings(plan: &Value) -> BTreeMap<String, String> {
    let passes = entries(&plan["passes"]);
    let bound = passes.map(|(name, pass)| {
        let bytes = match pass["bound_bytes"].as_u64() {
            Some(bytes) if bytes > 0 => format!("{bytes} B"),
            _ => "nothing".to_owned(),
        };
        (name, bytes)
    });
    bound.collect()
}

fn totals(plan: &Value) -> BTreeMap<String, String> {
    let totals = plan["totals"].as_object().into_iter().flatten();
    totals
        .map(|(name, bytes)| (name.clone(), format!("{bytes}")))
        .collect()
}

fn entries(list: &Value) -> impl Iterator<Item = (String, &Value)> {
    let list = list.as_array().into_iter().flatten();
    list.map(|entry| (text(&entry["name"]), entry))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Names that are in only one map, or have different values; those of `old` first.
fn differing(old: &BTreeMap<String, String>, new: &BTreeMap<String, String>) -> Vec<Difference> {
    let difference = |name: &String| Difference {
        name: name.clone(),
        old: old.get(name).cloned(),
        new: new.get(name).cloned(),
        reason: None,
    };
    let changed = old.iter().filter(|(name, before)| new.get(*name) != Some(before));
    let added = new.keys().filter(|name| !old.contains_key(*name));
    changed
        .map(|(name, _)| name)
        .chain(added)
        .map(difference)
        .collect()
}
