//! `tileheap diff`: two plans in, what they do differently out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;
use tileheap::plan::Plan;

use crate::arguments::DiffArguments;
use crate::failure::Failure;
use crate::input::{read_text, shown};
use crate::output::Output;

pub(crate) fn run(arguments: &DiffArguments) -> Result<(), Failure> {
    if arguments.old == arguments.new && arguments.old.as_os_str() == "-" {
        return Err(Failure::new(
            "both plans cannot come from standard input: give one as a file",
        ));
    }
    let (old, new) = (read(&arguments.old)?, read(&arguments.new)?);
    Output::stdout().write_report(&report(&old, &new))
}

/// Something that two plans do differently; none where one of them does not have it.
pub(crate) struct Difference {
    pub(crate) name: String,
    pub(crate) old: Option<String>,
    pub(crate) new: Option<String>,
}

/// What two plans do differently, under what it is about.
pub(crate) fn differences(old: &Value, new: &Value) -> [(&'static str, Vec<Difference>); 3] {
    [
        ("Resources", between(&places(old), &places(new))),
        ("Bound in passes", between(&bindings(old), &bindings(new))),
        ("Totals", between(&totals(old), &totals(new))),
    ]
}

/// The same in words.
fn report(old: &Value, new: &Value) -> String {
    let mut report = String::new();
    for (title, differences) in differences(old, new) {
        section(&mut report, title, &differences);
    }
    if report.is_empty() {
        report = "The plans put everything in the same places.\n".to_owned();
    }
    report
}

/// The resources that are somewhere else, or in one of the plans alone.
pub(crate) fn moved(old: &Value, new: &Value) -> BTreeSet<String> {
    let (old, new) = (places(old), places(new));
    let names = old.keys().chain(new.keys());
    names
        .filter(|name| old.get(*name) != new.get(*name))
        .cloned()
        .collect()
}

/// A plan as JSON, by its own format: no frame is needed to compare.
fn read(path: &Path) -> Result<Value, Failure> {
    let text = read_text(path, "plan")?;
    Plan::check_json(&text).map_err(|error| Failure::of(shown(path), error))?;
    Ok(serde_json::from_str(&text).expect("JSON, for it has a plan's form"))
}

/// Per resource, where it lives.
fn places(plan: &Value) -> BTreeMap<String, String> {
    let object_home = |index: &Value| {
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
                    text(&place["home"]),
                    place["offset"],
                    object_home(&place["object"]),
                    text(&place["first_pass"]),
                    text(&place["last_pass"]),
                )
            });
        let places: Vec<String> = places.collect();
        let place = if places.is_empty() {
            "nowhere".to_owned()
        } else {
            places.join(" and ")
        };
        (name, place)
    });
    placed.collect()
}

/// Per pass, the bytes bound.
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

/// What is in one of the two alone, or differs: what the old one has first.
fn between(old: &BTreeMap<String, String>, new: &BTreeMap<String, String>) -> Vec<Difference> {
    let difference = |name: &String| Difference {
        name: name.clone(),
        old: old.get(name).cloned(),
        new: new.get(name).cloned(),
    };
    let changed = old.iter().filter(|(name, before)| new.get(*name) != Some(before));
    let added = new.keys().filter(|name| !old.contains_key(*name));
    changed
        .map(|(name, _)| name)
        .chain(added)
        .map(difference)
        .collect()
}

fn section(report: &mut String, title: &str, differences: &[Difference]) {
    if differences.is_empty() {
        return;
    }
    if !report.is_empty() {
        report.push('\n');
    }
    *report += &format!("{title}\n");
    for Difference { name, old, new } in differences {
        *report += &match (old, new) {
            (Some(before), Some(after)) => {
                format!("  ~ {name}: {before}\n    {:1$}  {after}\n", "", name.len())
            }
            (Some(before), None) => format!("  - {name}: {before}\n"),
            (None, Some(after)) => format!("  + {name}: {after}\n"),
            (None, None) => String::new(),
        };
    }
}
