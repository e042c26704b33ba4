//! Every field of every table, damaged: nothing in the tables is read without being judged.
//!
//! A field gets a value that it has elsewhere in the tables, or the next number. Where not all of this is refused, the rest is no damage: a
//! wider scope, another empty run, why a barrier is there, stencil operations where there is no stencil.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tileheap::lower::check::{CheckError, Rule};
use tileheap::lower::{Lowered, Situation, lower};
use tileheap::units::SplitMix64;

use super::super::{arrangements, device, executable};

/// How many of a field's damages are refused at least, in hundredths, and the fields.
const FIELDS: [(u32, &str); 4] = [
    (
        90,
        "accesses.layout accesses.object.buffer accesses.object.image accesses.view after.bytes.last.queue \
         after.bytes.space.memory after.bytes.space.tile after.contents.defined after.contents.family \
         after.contents.layout after.contents.object.image after.contents.range.aspects attachments.format attachments.layout \
         attachments.operations.load attachments.view batches.batch batches.command_buffers batches.signals \
         buffer_barriers.families.dst buffer_barriers.families.src buffer_barriers.offset \
         buffers.binding.memory.memory buffers.resource buffers.size buffers.usage command_buffers.commands \
         command_buffers.passes image_barriers.families.dst image_barriers.families.src image_barriers.image \
         image_barriers.new_layout image_barriers.old_layout image_barriers.range.aspects images.array_layers \
         images.binding.memory.memory images.binding.memory.offset images.extent images.format \
         images.mip_levels images.resource images.usage passes.contents.described renderings.area \
         renderings.depth renderings.depth_aspects renderings.depth_format renderings.layers \
         renderings.secondary renderings.tile_memory renderings.tile_shading renderings.view_mask \
         signals.semaphore.queue.queue signals.semaphore.queue.value submits.batches submits.queue \
         submits.submit views.format views.image views.range.aspects",
    ),
    (
        50,
        "after.bytes.first after.bytes.last.value attachments.operations.store buffer_barriers.buffer \
         buffers.binding.memory.offset buffers.binding.memory.size image_barriers.scopes.dst_access \
         image_barriers.scopes.dst_stages image_barriers.scopes.src_access images.binding.memory.size \
         memory.kind memory.memory_type memory_barriers.scopes.dst_access memory_barriers.scopes.dst_stages \
         memory_barriers.scopes.src_access passes.before.images passes.rendering passes.tile_memory \
         renderings.color_formats renderings.colors",
    ),
    (
        20,
        "buffer_barriers.scopes.dst_stages buffer_barriers.scopes.src_access \
         buffer_barriers.scopes.src_stages buffer_barriers.size image_barriers.scopes.src_stages \
         memory_barriers.scopes.src_stages",
    ),
    (
        0,
        "after.bytes.end after.bytes.last.stages after.bytes.last.writes attachments.resolve.attachment \
         attachments.samples attachments.stencil.load attachments.stencil.store attachments.stencil_layout batches.waits \
         buffer_barriers.cause buffer_barriers.scopes.dst_access buffers.sharing.reason image_barriers.cause \
         images.flags images.samples images.sharing.reason memory.size memory_barriers.cause \
         passes.after.buffers passes.after.images passes.after.memory passes.before.buffers \
         passes.before.memory passes.contents.store renderings.dynamic renderings.inputs renderings.resolves \
         renderings.samples signals.semaphore.declared signals.stages waits.semaphore.declared \
         waits.semaphore.queue.queue waits.semaphore.queue.value waits.stages",
    ),
];

/// The fields of a document, by table and name, each with its places.
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

fn kind_of(error: &CheckError) -> &'static str {
    match error.rule {
        Rule::Index | Rule::Rows | Rule::Order | Rule::Object => "structure",
        Rule::Parameter(_) => "parameter",
        Rule::Contents => "contents",
        Rule::Execution | Rule::Memory => "hazard",
        Rule::AfterContents | Rule::AfterUncovered | Rule::AfterPoint => "after",
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
        let mut situation = Situation::first(queues);
        situation = situation.after(&lower(&plan, &situation).unwrap());
        let (name, device) = (plan.frame.name(), device(&plan, &situation));
        let text = lower(&plan, &situation).unwrap().to_json(name, &situation);
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
                Ok((tables, _)) => tables.violations(&plan.frame, &situation, &device),
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
    let least: BTreeMap<&str, u32> = FIELDS
        .iter()
        .flat_map(|(least, fields)| fields.split_whitespace().map(|field| (field, *least)))
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
