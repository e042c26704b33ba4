//! Damage to every field of every table: every field is checked.
//!
//! A field gets a value that it has elsewhere in the tables, or the next number. If not all of these are refused, the others are harmless: a wider
//! scope, another empty run, the cause of a barrier, stencil operations without stencil.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tileheap::lower::check::{LoweredCheckError, LoweringRule};
use tileheap::lower::{Lowered, LoweringDesc, lower};
use tileheap::units::SplitMix64;

use super::super::{arrangements, device, executable};

/// The fields of a document, by table and name, each with its positions.
fn fields(value: &Value, name: &str, place: &str, into: &mut BTreeMap<String, Vec<String>>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                fields(member, &format!("{name}.{key}"), &format!("{place}/{key}"), into);
            }
        }
        Value::Array(rows) if rows.iter().any(Value::is_object) => {
            for (index, row) in rows.iter().enumerate() {
                fields(row, name, &format!("{place}/{index}"), into);
            }
        }
        _ => into
            .entry(name.trim_start_matches('.').to_owned())
            .or_default()
            .push(place.to_owned()),
    }
}

fn kind_of(error: &LoweredCheckError) -> &'static str {
    match error.rule {
        LoweringRule::Index | LoweringRule::Rows | LoweringRule::Order | LoweringRule::Object => "structure",
        LoweringRule::Parameter(_) => "parameter",
        LoweringRule::Contents => "contents",
        LoweringRule::Execution | LoweringRule::Memory => "hazard",
        LoweringRule::AfterContents | LoweringRule::AfterUncovered | LoweringRule::AfterPoint => "after",
        _ => "layout",
    }
}

/// Another value for a field: one that it has elsewhere, or the next number.
fn other(document: &Value, places: &[String], at: &Value, random: &mut SplitMix64) -> Option<Value> {
    let elsewhere = places
        .iter()
        .filter_map(|place| document.pointer(place))
        .filter(|value| *value != at);
    let elsewhere: Vec<&Value> = elsewhere.collect();
    match at {
        Value::Bool(yes) => Some(Value::Bool(!yes)),
        Value::Number(number) if elsewhere.is_empty() || random.one_in(2) => {
            Some((number.as_i64()? + 1).into())
        }
        _ if elsewhere.is_empty() => None,
        _ => Some(random.pick(&elsewhere).clone()),
    }
}

#[test]
fn every_field_is_judged() {
    let mut found: BTreeMap<String, (u32, u32, BTreeSet<&str>)> = BTreeMap::new();
    for seed in 0..24 {
        let Some(plan) = executable(seed) else { continue };
        let mut random = SplitMix64::new(seed);
        let queues = arrangements(&plan);
        let queues = queues[random.below(queues.len() as u64) as usize].clone();
        let mut lowering_desc = LoweringDesc::first(queues);
        lowering_desc = lowering_desc.after(&lower(&plan, &lowering_desc).unwrap());
        let (name, device) = (plan.frame.name(), device(&plan, &lowering_desc));
        let text = lower(&plan, &lowering_desc)
            .unwrap()
            .to_json(&plan.frame, &lowering_desc);
        let document: Value = serde_json::from_str(&text).unwrap();
        let mut all = BTreeMap::new();
        fields(&document["tables"], "", "/tables", &mut all);
        for (field, places) in &all {
            let place = &places[random.below(places.len() as u64) as usize];
            let at = document.pointer(place).unwrap();
            let Some(value) = other(&document, places, at, &mut random) else {
                continue;
            };
            let mut damaged = document.clone();
            *damaged.pointer_mut(place).unwrap() = value;
            let (tried, refused, kinds) = found.entry(field.clone()).or_default();
            *tried += 1;
            let errors = match Lowered::from_json(name, &damaged.to_string()) {
                Ok((tables, _)) => tables.violations(&plan.frame, &lowering_desc, &device),
                Err(_) => {
                    *refused += 1;
                    kinds.insert("text");
                    continue;
                }
            };
            *refused += u32::from(!errors.is_empty());
            kinds.extend(errors.first().map(kind_of));
        }
    }
    // Per line: the minimum percentage of refused damage to a field, and the fields.
    let listed = std::fs::read_to_string(tileheap_testkit::data("lowered_fields.txt")).unwrap();
    let lines = listed.lines().filter_map(|line| line.split_once(": "));
    let least: BTreeMap<&str, u32> = lines
        .flat_map(|(least, fields)| fields.split(' ').map(|field| (field, least.parse().unwrap())))
        .collect();
    for (field, (tried, refused, kinds)) in &found {
        let least = least
            .get(field.as_str())
            .unwrap_or_else(|| panic!("{field} is not listed"));
        assert!(
            refused * 100 >= least * tried,
            "{field}: {refused} of {tried} damages are refused: {kinds:?}"
        );
    }
    assert!(found.len() > 100, "{}", found.len());
}
