//! Reads a plan from text, through its document.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::error::PlanJsonError;
use super::form::{self, Document, FORMAT, Head, Named, VERSION};
use super::write;
use crate::execute::{Charges, ExecutedFrame};
use crate::frame::{Frame, IdNames, ResourceId};
use crate::measure::{Requirements, ResourceRequirements};
use crate::plan::split::with_stores;
use crate::plan::{ObjectId, OffChipReason, PassPlan, Placement, PlacementReason, Plan, ResourcePlan};
use crate::units::{Run, Span};
use tileheap_json::{MAX_INTEGER, clip, largest_integer, without_mark};

/// Reads the plan of a frame.
pub(super) fn plan(input: ExecutedFrame, text: &str) -> crate::Result<Plan> {
    if !input.is_as_described() {
        input.check()?;
    }
    let head = read_as::<Head>(text)?;
    let split = read_stores(input.frame(), &head)?;
    check_frame(split.frame(), &head)?;
    let plan = write::names_of(split.frame()).with(|| {
        let (document, value) = document(text)?;
        let plan = read_plan(input, &split, &head, document)?;
        // Derived values are written for readers; if one was changed without its source, that is an error.
        let again =
            serde_json::to_value(write::document(&plan)).map_err(|error| fault(clip(&error.to_string())))?;
        match difference(&value, &again, "") {
            Some(what) => Err(fault(what)),
            None => Ok(plan),
        }
    })?;
    Ok(plan)
}

/// Checks a plan's text without its frame.
pub(super) fn check_alone(text: &str) -> crate::Result<()> {
    let head = read_as::<Head>(text)?;
    let resources = unique("resource", &head.resources)?;
    let passes = unique("pass", &head.passes)?;
    // Only the frame has the names of queues.
    let names = IdNames::default().of("resource", resources).of("pass", passes);
    let (document, _) = names.with(|| document(text))?;
    read_resources(&head, &document)?;
    read_passes(&head, &document)?;
    check_objects(&document)?;
    Ok(())
}

fn fault(what: impl Into<String>) -> PlanJsonError {
    PlanJsonError { what: what.into() }
}

fn read_as<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, PlanJsonError> {
    tileheap_json::read(text, FORMAT, VERSION).map_err(|error| fault(error.to_string()))
}

/// Parses the document; also returns its fields as written, without the advice and the arrangement.
fn document(text: &str) -> Result<(Document, Value), PlanJsonError> {
    let document = read_as(text)?;
    let mut value: Value =
        serde_json::from_str(without_mark(text)).map_err(|error| fault(clip(&error.to_string())))?;
    if let Some(fields) = value.as_object_mut() {
        // They are not derived from any field of the plan.
        fields.remove("advice");
        fields.remove("arrangement");
    }
    check_numbers(&value)?;
    Ok((document, value))
}

fn read_plan(
    input: ExecutedFrame,
    split: &ExecutedFrame,
    head: &Head,
    document: Document,
) -> Result<Plan, PlanJsonError> {
    check_descriptions(split.frame(), &document)?;
    let (resources, placements, conflicts) = read_resources(head, &document)?;
    let passes = read_passes(head, &document)?;
    check_objects(&document)?;
    let needs: Vec<ResourceRequirements> = document.resources.iter().map(|it| it.requirements).collect();
    // Stretches come last.
    let input_needs = needs[..input.frame().resources().len()].to_vec();
    let input = input.with_charges(charges(&document, split));
    Ok(Plan {
        frame: split.frame().clone(),
        origins: input.origins().then(split.origins()),
        splits: split.origins().clone(),
        input,
        input_requirements: Arc::new(Requirements {
            resources: input_needs,
            profile: None,
        }),
        options: document.options,
        requirements: Arc::new(Requirements {
            resources: needs,
            profile: None,
        }),
        resources,
        placements,
        passes,
        objects: document.objects,
        conflicts,
        optimality: document.optimality.map(|entry| entry.found),
        totals: document.totals,
        profile: Arc::new(document.profile),
    })
}

/// The charges of the document, by pass of the planned frame. They are read because the frame does not determine them.
fn charges(document: &Document, split: &ExecutedFrame) -> Charges {
    let mut charges = document.charges.clone().unwrap_or(Charges::NONE);
    for charge in &mut charges.passes {
        charge.pass = split.origins().described_pass(charge.pass);
    }
    charges
}

/// Checks that no number of a plan is so large that sums over the plan overflow 64 bits. (The profile's limits may be.)
fn check_numbers(document: &Value) -> Result<(), PlanJsonError> {
    for part in ["objects", "resources", "passes", "charges", "totals"] {
        let number = largest_integer(&document[part]);
        if number > MAX_INTEGER {
            return Err(fault(format!(
                "`{part}` holds the number {number}, but numbers in plans are at most {MAX_INTEGER}"
            )));
        }
    }
    Ok(())
}

/// Checks that the document matches this frame: names and counts; everything else is compared at the end.
fn check_frame(frame: &Frame, head: &Head) -> Result<(), PlanJsonError> {
    if head.frame != frame.name() {
        let (plan, frame) = (clip(&head.frame), frame.name());
        return Err(fault(format!(
            "the plan is for frame `{plan}`, but this frame is `{frame}`: plan the frame again"
        )));
    }
    let (planned, framed) = (head.base_extent, frame.base_extent());
    if planned != [framed.width, framed.height] {
        return Err(fault(format!(
            "the plan is for {} x {} texels, but the frame is read at {} x {}: plan the frame again, or read it at the plan's size",
            planned[0], planned[1], framed.width, framed.height
        )));
    }
    let resources = frame.resources().iter().map(|resource| &resource.name);
    same_names("resource", &head.resources, resources)?;
    same_names("pass", &head.passes, frame.passes().iter().map(|pass| &pass.name))
}

/// Checks that the planned resources have the descriptions of the frame, if the document contains descriptions.
fn check_descriptions(frame: &Frame, document: &Document) -> Result<(), PlanJsonError> {
    for (planned, resource) in document.resources.iter().zip(frame.resources()) {
        let (image, buffer) = write::description(resource);
        if (planned.image, planned.buffer) == (None, None)
            || (planned.image, planned.buffer) == (image, buffer)
        {
            continue;
        }
        let name = &resource.name;
        let other = match (planned.image, image, planned.buffer, buffer) {
            (Some(planned), Some(framed), None, None) => other_field(planned, framed),
            (None, None, Some(planned), Some(framed)) => other_field(planned, framed),
            _ => None,
        };
        return Err(fault(match other {
            Some((field, planned, framed)) => format!(
                "resource `{name}` has {field} {planned} in the plan, but {framed} in the frame: plan the frame again"
            ),
            None => format!(
                "resource `{name}` is an image in the plan and a buffer in the frame, or the opposite: plan the frame again"
            ),
        }));
    }
    Ok(())
}

/// The first field in which two descriptions differ, with both values as JSON.
fn other_field<Desc: Serialize>(planned: Desc, framed: Desc) -> Option<(String, Value, Value)> {
    let [planned, framed] = [planned, framed].map(|desc| serde_json::to_value(desc).unwrap_or_default());
    let keys = planned.as_object()?.keys().chain(framed.as_object()?.keys());
    // A default is not written.
    let mut others = keys.filter(|key| planned[*key] != framed[*key]);
    let key = others.next()?;
    Some((key.clone(), planned[key].clone(), framed[key].clone()))
}

/// Adds the stores of the document to a planned frame.
fn read_stores(frame: &Frame, head: &Head) -> Result<ExecutedFrame, PlanJsonError> {
    if head.stores.is_empty() {
        return Ok(ExecutedFrame::as_described(frame));
    }
    let unknown = |what: &str, name: &str| {
        let name = clip(name);
        fault(format!(
            "a store names {what} `{name}`, which the frame does not have"
        ))
    };
    let stretch = |store: &form::Store| {
        let resource = frame.resource_named(&store.resource);
        let after = frame.pass_named(&store.after);
        Ok((
            resource.ok_or_else(|| unknown("resource", &store.resource))?,
            after.ok_or_else(|| unknown("pass", &store.after))?,
        ))
    };
    let stretches: Result<Vec<_>, PlanJsonError> = head.stores.iter().map(stretch).collect();
    let split = with_stores(frame, &mut stretches?);
    split
        .filter(|split| split.origins().stores().count() == head.stores.len())
        .ok_or_else(|| {
            fault("a store is for a resource whose lifetime cannot be split there: plan the frame again")
        })
}

fn same_names<'a>(
    what: &str,
    planned: &[Named],
    framed: impl ExactSizeIterator<Item = &'a String>,
) -> Result<(), PlanJsonError> {
    if let Some(more) = planned.get(framed.len()) {
        let more = clip(&more.name);
        return Err(fault(format!(
            "{what} `{more}` is not in the frame: plan the frame again"
        )));
    }
    for (index, framed) in framed.enumerate() {
        match planned.get(index) {
            Some(planned) if planned.name == *framed => {}
            Some(planned) => {
                let planned = clip(&planned.name);
                return Err(fault(format!(
                    "{what} {index} is `{planned}` in the plan, but `{framed}` in the frame: plan the frame again"
                )));
            }
            None => {
                return Err(fault(format!(
                    "{what} `{framed}` of the frame is missing: plan the frame again"
                )));
            }
        }
    }
    Ok(())
}

fn unique<'a>(
    what: &str,
    parts: &'a [Named],
) -> Result<impl Iterator<Item = &'a String> + use<'a>, PlanJsonError> {
    let mut seen = BTreeSet::new();
    match parts.iter().find(|part| !seen.insert(&part.name)) {
        Some(again) => Err(fault(format!(
            "more than one {what} is named `{}`",
            clip(&again.name)
        ))),
        None => Ok(parts.iter().map(|part| &part.name)),
    }
}

fn check_objects(document: &Document) -> Result<(), PlanJsonError> {
    let types = document.profile.memory_types.len();
    match document
        .objects
        .iter()
        .enumerate()
        .find(|(_, object)| object.memory_type as usize >= types)
    {
        None => Ok(()),
        Some((index, object)) => Err(fault(format!(
            "object {index} has memory type {}, which is out of range: the number of memory types in the profile is {types}",
            object.memory_type
        ))),
    }
}

type ResourceTables = (Vec<ResourcePlan>, Vec<Placement>, Vec<ResourceId>);

fn read_resources(head: &Head, document: &Document) -> Result<ResourceTables, PlanJsonError> {
    let mut resources = Vec::with_capacity(document.resources.len());
    // In the order of the resources: the comparison at the end detects other numbering.
    let (mut placements, mut conflicts) = (Vec::new(), Vec::new());
    for (named, resource) in head.resources.iter().zip(&document.resources) {
        let by = format!("resource `{}`", clip(&named.name));
        let first = placements.len() as u32;
        for placement in &resource.placements {
            check_object(placement.object, document, &by)?;
            placements.push(Placement {
                resource: resource.name,
                memory: placement.memory,
                object: placement.object,
                offset: placement.offset,
                size: placement.size,
                span: span(placement, document.passes.len(), &by)?,
            });
        }
        resources.push(ResourcePlan {
            placements: Run::new(first, placements.len() as u32),
            reason: reason(&resource.reason, &mut conflicts),
        });
    }
    Ok((resources, placements, conflicts))
}

fn check_object(object: Option<ObjectId>, document: &Document, by: &str) -> Result<(), PlanJsonError> {
    let objects = document.objects.len();
    match object {
        Some(object) if object.index() >= objects => Err(fault(format!(
            "{by} names object {}, which is out of range: the number of objects in the plan is {objects}",
            object.index()
        ))),
        _ => Ok(()),
    }
}

fn span(placement: &form::Placement, passes: usize, by: &str) -> Result<Span, PlanJsonError> {
    let (first, end) = (placement.first, placement.end);
    if first > end || end.0 as usize > passes {
        return Err(fault(format!(
            "{by} has a placement over steps [{}, {}), but the frame has steps [0, {passes})",
            first.0, end.0
        )));
    }
    Ok(Span { first, end })
}

fn reason(entry: &form::ReasonEntry, table: &mut Vec<ResourceId>) -> PlacementReason {
    let mut reason = entry.reason;
    if let PlacementReason::Arena(why) = &mut reason {
        if let OffChipReason::NoRoom { conflicts, .. } = why {
            let first = table.len() as u32;
            table.extend(entry.conflicts.iter().flatten());
            *conflicts = Run::new(first, table.len() as u32);
        }
        if entry.dedicated {
            reason = PlacementReason::Dedicated(*why);
        }
    }
    reason
}

fn read_passes(head: &Head, document: &Document) -> Result<Vec<PassPlan>, PlanJsonError> {
    let pass = |(named, pass): (&Named, &form::Pass)| {
        check_object(
            pass.bound_object,
            document,
            &format!("pass `{}`", clip(&named.name)),
        )?;
        Ok(PassPlan {
            bound_object: pass.bound_object,
            live_tile: pass.live_tile_bytes,
        })
    };
    head.passes.iter().zip(&document.passes).map(pass).collect()
}

/// The first position at which `given` differs from the text that would be written, and the difference; ignores text that is only for readers.
fn difference(given: &Value, written: &Value, path: &str) -> Option<String> {
    match (given, written) {
        (Value::Object(given), Value::Object(written)) => {
            if let Some(key) = given
                .keys()
                .find(|key| !written.contains_key(*key) && *key != "text")
            {
                let part = match path {
                    "" => "the plan".to_owned(),
                    path => format!("`{path}`"),
                };
                return Some(format!("{part} has an unexpected field `{}`", clip(key)));
            }
            // Derived, and missing in plans of earlier versions.
            let absent = |key: &str| ["within", "image", "buffer"].contains(&key) && !given.contains_key(key);
            let mut keys = written.iter().filter(|(key, _)| *key != "text" && !absent(key));
            keys.find_map(|(key, written)| {
                let inside = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                // Optional values are null.
                difference(given.get(key).unwrap_or(&Value::Null), written, &inside)
            })
        }
        (Value::Array(given), Value::Array(written)) if given.len() == written.len() => {
            let mut pairs = given.iter().zip(written).enumerate();
            pairs
                .find_map(|(index, (given, written))| difference(given, written, &format!("{path}[{index}]")))
        }
        _ if given == written => None,
        _ => {
            let (given, written) = (clip(&given.to_string()), clip(&written.to_string()));
            Some(format!(
                "`{path}` is {given}, but {written} follows from the frame and the rest of the plan: plan the frame again"
            ))
        }
    }
}
