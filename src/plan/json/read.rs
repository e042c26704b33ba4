//! From a text to a plan, through its document.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::error::PlanJsonError;
use super::form::{self, Document, FORMAT, VERSION};
use super::write;
use crate::frame::{Frame, PassId, QueueId, ResourceId};
use crate::measure::{Requirements, ResourceRequirements};
use crate::plan::passes::{AccessPlan, Barrier, PassPlan, QueueTransfer, Store};
use crate::plan::split::with_stores;
use crate::plan::{
    NotTile, Object, ObjectId, Optimality, Placement, PlacementId, PlacementReason, Plan, PlanOptions,
    ResourcePlan, Split,
};
use crate::profile::TileRequirements;
use crate::units::{Run, Span};
use tileheap_json::clip;

pub(super) fn plan(frame: &Frame, text: &str) -> crate::Result<Plan> {
    let document: Document = tileheap_json::read(text, FORMAT, VERSION).map_err(|error| PlanJsonError {
        what: error.to_string(),
    })?;
    let mut value: Value = serde_json::from_str(text).map_err(|error| fault(clip(&error.to_string())))?;
    if let Some(fields) = value.as_object_mut() {
        fields.remove("advice"); // Follows from no field of the plan.
    }
    check_numbers(&value)?;
    let (described, (planned, stores)) = (frame, read_stores(frame, &document)?);
    let frame = &planned;
    check_frame(frame, &document)?;
    let names = Names::new(frame);
    let (resources, placements, conflicts) = read_resources(frame, &names, &document)?;
    let (passes, barriers) = read_passes(&names, &document, placements.len())?;
    let needs: Vec<ResourceRequirements> = document
        .resources
        .iter()
        .map(|resource| requirements(&resource.requirements))
        .collect();
    let split = (!stores.is_empty()).then(|| Split {
        frame: described.clone(),
        requirements: Arc::new(Requirements {
            resources: needs[..described.resources().len()].to_vec(),
        }),
        stores,
    });
    let plan = Plan {
        frame: frame.clone(),
        split,
        options: PlanOptions {
            strategy: document.options.strategy,
            windows: document.options.windows,
            aliasing: document.options.aliasing,
            ladder: document.options.ladder,
            split: document.options.split,
            lazy: document.options.lazy,
            budget: document.options.budget,
            bin_cost: document.options.bin_cost,
            tile_limit: document.options.tile_limit,
        },
        requirements: Arc::new(Requirements { resources: needs }),
        resources,
        placements,
        objects: read_objects(&document)?,
        passes,
        accesses: read_accesses(frame, &document)?,
        barriers,
        conflicts,
        optimality: document.optimality.map(|found| Optimality {
            value: found.value,
            upper_bound: found.upper_bound,
            least_reserved: found.least_reserved,
            steps: found.steps,
        }),
        totals: document.totals,
        profile: Arc::new(document.profile),
    };
    // What follows from the rest is written for readers; whoever changed one and not the other is told so.
    let again =
        serde_json::to_value(write::document(&plan)).map_err(|error| fault(clip(&error.to_string())))?;
    match difference(&value, &again, "") {
        Some(what) => Err(fault(what).into()),
        None => Ok(plan),
    }
}

pub(super) fn fault(what: impl Into<String>) -> PlanJsonError {
    PlanJsonError { what: what.into() }
}

/// The ids of the frame's names.
struct Names<'a> {
    resources: BTreeMap<&'a str, ResourceId>,
    passes: BTreeMap<&'a str, PassId>,
    queues: BTreeMap<&'a str, QueueId>,
}

impl<'a> Names<'a> {
    fn new(frame: &'a Frame) -> Names<'a> {
        let resources = frame.resources().iter().map(|resource| resource.name.as_str());
        let passes = frame.passes().iter().map(|pass| pass.name.as_str());
        let queues = frame.queues().iter().map(|queue| queue.name.as_str());
        Names {
            resources: resources.zip(frame.resource_ids()).collect(),
            passes: passes.zip(frame.pass_ids()).collect(),
            queues: queues.zip((0..).map(QueueId)).collect(),
        }
    }

    fn resource(&self, name: &str, by: &str) -> Result<ResourceId, PlanJsonError> {
        find(&self.resources, "resource", name, by)
    }

    fn pass(&self, name: &str, by: &str) -> Result<PassId, PlanJsonError> {
        find(&self.passes, "pass", name, by)
    }
}

fn find<Id: Copy>(ids: &BTreeMap<&str, Id>, what: &str, name: &str, by: &str) -> Result<Id, PlanJsonError> {
    ids.get(name).copied().ok_or_else(|| {
        fault(format!(
            "{by} names {what} `{}`, which the frame does not have",
            clip(name)
        ))
    })
}

/// No number of a plan is so large that sums over the plan overflow 64 bits. (The profile's limits may be.)
pub(super) fn check_numbers(document: &Value) -> Result<(), PlanJsonError> {
    /// 8 TiB: a resource has at most 1 TiB, a frame at most 2^20 of anything.
    const LARGEST: u64 = 1 << 43;
    fn largest(value: &Value) -> u64 {
        match value {
            Value::Number(number) => number.as_u64().unwrap_or(0),
            Value::Array(elements) => elements.iter().map(largest).max().unwrap_or(0),
            Value::Object(fields) => fields.values().map(largest).max().unwrap_or(0),
            _ => 0,
        }
    }
    for part in ["objects", "resources", "passes", "totals"] {
        let number = largest(&document[part]);
        if number > LARGEST {
            return Err(fault(format!(
                "`{part}` holds the number {number}, and a plan's go up to {LARGEST}"
            )));
        }
    }
    Ok(())
}

/// Whether the document is about this frame: names and counts; the rest is compared at the end.
fn check_frame(frame: &Frame, document: &Document) -> Result<(), PlanJsonError> {
    if document.frame != frame.name() {
        let (plan, frame) = (clip(&document.frame), frame.name());
        return Err(fault(format!(
            "it is the plan of frame `{plan}`, and this frame is `{frame}`: plan it anew"
        )));
    }
    let (planned, framed) = (document.base_extent, frame.base_extent());
    if planned != [framed.width, framed.height] {
        return Err(fault(format!(
            "it is the plan at {} x {} texels, and the frame is read at {} x {}: read it at the plan's size",
            planned[0], planned[1], framed.width, framed.height
        )));
    }
    let resources = document.resources.iter().map(|resource| resource.name.as_str());
    let passes = document.passes.iter().map(|pass| pass.name.as_str());
    same_names(
        "resource",
        resources,
        frame.resources().iter().map(|resource| resource.name.as_str()),
    )?;
    same_names(
        "pass",
        passes,
        frame.passes().iter().map(|pass| pass.name.as_str()),
    )?;
    for (pass, planned) in frame.passes().iter().zip(&document.passes) {
        if pass.accesses.len() != planned.accesses.len() {
            return Err(fault(format!(
                "pass `{}` has {} accesses, and {} in the frame: plan it anew",
                pass.name,
                planned.accesses.len(),
                pass.accesses.len()
            )));
        }
    }
    Ok(())
}

/// The frame with the stores of the document, and where they are in it.
fn read_stores(described: &Frame, document: &Document) -> Result<(Frame, Vec<Store>), PlanJsonError> {
    let names = Names::new(described);
    let stretch = |store: &form::Store| {
        let by = "a store";
        Ok((
            names.resource(&store.resource, by)?,
            names.pass(&store.after, by)?,
        ))
    };
    let mut stretches = document
        .stores
        .iter()
        .map(stretch)
        .collect::<Result<Vec<_>, PlanJsonError>>()?;
    if stretches.is_empty() {
        return Ok((described.clone(), Vec::new()));
    }
    let (count, split) = (stretches.len(), with_stores(described, &mut stretches));
    match split.filter(|(_, stores)| stores.len() == count) {
        Some(split) => Ok(split),
        None => Err(fault(
            "a store is of a resource whose lifetime cannot be split there: plan the frame anew",
        )),
    }
}

fn same_names<'a>(
    what: &str,
    mut planned: impl Iterator<Item = &'a str>,
    framed: impl Iterator<Item = &'a str>,
) -> Result<(), PlanJsonError> {
    for (index, framed) in framed.enumerate() {
        match planned.next() {
            Some(planned) if planned == framed => {}
            Some(planned) => {
                let planned = clip(planned);
                return Err(fault(format!(
                    "{what} {index} is `{planned}`, and `{framed}` in the frame: plan it anew"
                )));
            }
            None => {
                return Err(fault(format!(
                    "{what} `{framed}` of the frame is missing: plan it anew"
                )));
            }
        }
    }
    match planned.next() {
        Some(more) => Err(fault(format!(
            "{what} `{}` is not in the frame: plan it anew",
            clip(more)
        ))),
        None => Ok(()),
    }
}

fn read_objects(document: &Document) -> Result<Vec<Object>, PlanJsonError> {
    let types = document.profile.memory_types.len();
    let read_one = |(index, object): (usize, &form::Object)| {
        if object.memory_type as usize >= types {
            let wrong = object.memory_type;
            return Err(fault(format!(
                "object {index} has memory type {wrong}, and the profile has {types} types"
            )));
        }
        Ok(Object {
            memory: object.memory,
            memory_type: object.memory_type,
            size: object.size,
        })
    };
    document.objects.iter().enumerate().map(read_one).collect()
}

fn requirements(needs: &form::Requirements) -> ResourceRequirements {
    ResourceRequirements {
        size: needs.size,
        alignment: needs.alignment,
        memory_type_bits: needs.memory_type_bits,
        dedicated: needs.dedicated,
        tile: needs.tile.as_ref().map(|tile| TileRequirements {
            size: tile.size,
            alignment: tile.alignment,
        }),
        lazy_type_bits: needs.lazy_type_bits,
    }
}

type ResourceTables = (Vec<ResourcePlan>, Vec<Placement>, Vec<ResourceId>);

fn read_resources(
    frame: &Frame,
    names: &Names<'_>,
    document: &Document,
) -> Result<ResourceTables, PlanJsonError> {
    let mut resources = Vec::with_capacity(document.resources.len());
    let mut placements = Scattered::new("placement");
    let mut conflicts = Scattered::new("collision");
    for (id, resource) in frame.resource_ids().zip(&document.resources) {
        let by = format!("resource `{}`", resource.name);
        let mut stays = Vec::with_capacity(resource.placements.len());
        for placement in &resource.placements {
            stays.push(Placement {
                resource: id,
                memory: placement.memory,
                object: object_id(placement.object, document.objects.len(), &by)?,
                offset: placement.offset,
                size: placement.size,
                span: span(placement, document.passes.len(), &by)?,
            });
        }
        resources.push(ResourcePlan {
            placements: placements.put(resource.first_placement, stays, &by)?,
            reason: reason(names, &resource.reason, &mut conflicts, &by)?,
        });
    }
    Ok((resources, placements.finish()?, conflicts.finish()?))
}

fn object_id(index: Option<u32>, objects: usize, by: &str) -> Result<Option<ObjectId>, PlanJsonError> {
    match index {
        Some(index) if index as usize >= objects => Err(fault(format!(
            "{by} names object {index}, and there are {objects} objects"
        ))),
        index => Ok(index.map(ObjectId)),
    }
}

fn placement_id(index: u32, placements: usize, by: &str) -> Result<PlacementId, PlanJsonError> {
    if index as usize >= placements {
        return Err(fault(format!(
            "{by} names placement {index}, and there are {placements} placements"
        )));
    }
    Ok(PlacementId(index))
}

fn span(placement: &form::Placement, passes: usize, by: &str) -> Result<Span, PlanJsonError> {
    let (first, end) = (placement.first, placement.end);
    if first > end || end.0 as usize > passes {
        return Err(fault(format!(
            "{by} has a placement over steps [{}, {}), and the frame has steps [0, {passes})",
            first.0, end.0
        )));
    }
    Ok(Span { first, end })
}

fn reason(
    names: &Names<'_>,
    entry: &form::ReasonEntry,
    conflicts: &mut Scattered<ResourceId>,
    by: &str,
) -> Result<PlacementReason, PlanJsonError> {
    let pass = |name: &String| names.pass(name, by);
    let why = match &entry.reason {
        form::PlacementReason::Unused => return Ok(PlacementReason::Unused),
        form::PlacementReason::External => return Ok(PlacementReason::External),
        form::PlacementReason::Lazy { pass: name } => return Ok(PlacementReason::Lazy { pass: pass(name)? }),
        form::PlacementReason::Tile { savings } => return Ok(PlacementReason::Tile { savings: *savings }),
        form::PlacementReason::NoTileHeap => NotTile::NoTileHeap,
        form::PlacementReason::History => NotTile::History,
        form::PlacementReason::CrossesWindows { last, next } => NotTile::CrossesWindows {
            last: pass(last)?,
            next: pass(next)?,
        },
        form::PlacementReason::CrossesQueues { last, next } => NotTile::CrossesQueues {
            last: pass(last)?,
            next: pass(next)?,
        },
        form::PlacementReason::Transfer { pass: name } => NotTile::Transfer { pass: pass(name)? },
        form::PlacementReason::ResolveTarget { pass: name } => NotTile::ResolveTarget { pass: pass(name)? },
        form::PlacementReason::BufferUse { pass: name, access } => NotTile::BufferUse {
            pass: pass(name)?,
            kind: *access,
        },
        form::PlacementReason::Stored { pass: name } => NotTile::Stored { pass: pass(name)? },
        form::PlacementReason::OnePass { pass: name } => NotTile::OnePass { pass: pass(name)? },
        form::PlacementReason::DeclaredUsage => NotTile::DeclaredUsage,
        form::PlacementReason::Refused => NotTile::Refused,
        form::PlacementReason::Excluded { savings } => NotTile::Excluded { savings: *savings },
        form::PlacementReason::TooLarge { size, heap } => NotTile::TooLarge {
            size: *size,
            heap: *heap,
        },
        form::PlacementReason::CostExceedsSavings {
            savings,
            binning_cost,
        } => NotTile::CostExceedsSavings {
            savings: *savings,
            binning_cost: *binning_cost,
        },
        form::PlacementReason::NoRoom {
            savings,
            first_conflict,
            conflicts: names_of,
        } => {
            let ids: Result<Vec<_>, _> = names_of.iter().map(|name| names.resource(name, by)).collect();
            NotTile::NoRoom {
                savings: *savings,
                conflicts: conflicts.put(*first_conflict, ids?, by)?,
            }
        }
    };
    Ok(if entry.dedicated {
        PlacementReason::Dedicated(why)
    } else {
        PlacementReason::Arena(why)
    })
}

fn read_passes(
    names: &Names<'_>,
    document: &Document,
    placements: usize,
) -> Result<(Vec<PassPlan>, Vec<Barrier>), PlanJsonError> {
    let mut table = Scattered::new("barrier");
    let mut passes = Vec::with_capacity(document.passes.len());
    for pass in &document.passes {
        let by = format!("pass `{}`", pass.name);
        for access in &pass.accesses {
            placement_id(access.placement, placements, &by)?;
        }
        let mut run = |first, barriers: &[form::Barrier]| {
            let read: Result<Vec<_>, _> = barriers
                .iter()
                .map(|one| barrier(names, one, placements, &by))
                .collect();
            table.put(first, read?, &by)
        };
        passes.push(PassPlan {
            bound_object: object_id(pass.bound_object, document.objects.len(), &by)?,
            live_tile: pass.live_tile_bytes,
            before: run(pass.first_barrier_before, &pass.barriers_before)?,
            after: run(pass.first_barrier_after, &pass.barriers_after)?,
        });
    }
    Ok((passes, table.finish()?))
}

fn barrier(
    names: &Names<'_>,
    barrier: &form::Barrier,
    placements: usize,
    by: &str,
) -> Result<Barrier, PlanJsonError> {
    let transfer = match &barrier.transfer {
        None => None,
        Some(transfer) => Some(QueueTransfer {
            from: find(&names.queues, "queue", &transfer.from, by)?,
            to: find(&names.queues, "queue", &transfer.to, by)?,
            half: transfer.half,
        }),
    };
    Ok(Barrier {
        resource: names.resource(&barrier.resource, by)?,
        placement: placement_id(barrier.placement, placements, by)?,
        cause: barrier.cause,
        src_stages: barrier.src_stages,
        src_access: barrier.src_access,
        dst_stages: barrier.dst_stages,
        dst_access: barrier.dst_access,
        old_layout: barrier.old_layout,
        new_layout: barrier.new_layout,
        transfer,
    })
}

fn read_accesses(frame: &Frame, document: &Document) -> Result<Vec<AccessPlan>, PlanJsonError> {
    // The frame orders accesses by pass, and the counts are known to agree.
    let planned = document.passes.iter().flat_map(|pass| &pass.accesses);
    let accesses: Vec<AccessPlan> = planned
        .map(|access| AccessPlan {
            placement: PlacementId(access.placement),
            layout: access.layout,
            load_op: access.load_op,
            store_op: access.store_op,
        })
        .collect();
    if accesses.len() != frame.accesses().len() {
        return Err(fault(format!(
            "it has {} accesses, and the frame {}",
            accesses.len(),
            frame.accesses().len()
        )));
    }
    Ok(accesses)
}

/// A flat table of a plan, put together from the runs that refer to it.
struct Scattered<T> {
    what: &'static str,
    rows: Vec<(u32, T)>,
    /// The largest end of any run, empty ones included.
    end: u32,
}

impl<T> Scattered<T> {
    fn new(what: &'static str) -> Scattered<T> {
        Scattered {
            what,
            rows: Vec::new(),
            end: 0,
        }
    }

    /// Puts `rows` at `first` and after.
    fn put(&mut self, first: u32, rows: Vec<T>, by: &str) -> Result<Run, PlanJsonError> {
        let end = u32::try_from(rows.len())
            .ok()
            .and_then(|count| first.checked_add(count));
        let end = end.ok_or_else(|| fault(format!("{by} has too many {}s from {first} on", self.what)))?;
        self.rows.extend((first..end).zip(rows));
        self.end = self.end.max(end);
        Ok(Run { first, end })
    }

    /// The table: every row given, and none twice.
    fn finish(mut self) -> Result<Vec<T>, PlanJsonError> {
        self.rows.sort_by_key(|(index, _)| *index);
        let what = self.what;
        for (wanted, (index, _)) in self.rows.iter().enumerate() {
            if *index as usize != wanted {
                return Err(fault(format!(
                    "{what} {wanted} is missing, or {what} {index} is there twice"
                )));
            }
        }
        if self.end as usize > self.rows.len() {
            return Err(fault(format!(
                "{what} {} is named, and there are {} {what}s",
                self.end,
                self.rows.len()
            )));
        }
        Ok(self.rows.into_iter().map(|(_, row)| row).collect())
    }
}

/// The first place where `given` is not what would be written, and how; texts for people apart.
fn difference(given: &Value, written: &Value, path: &str) -> Option<String> {
    match (given, written) {
        (Value::Object(given), Value::Object(written)) => {
            if let Some(key) = given
                .keys()
                .find(|key| !written.contains_key(*key) && *key != "text")
            {
                return Some(format!(
                    "`{path}` has a field `{}`, which does not belong there",
                    clip(key)
                ));
            }
            let absent = |key: &str| key == "within" && !given.contains_key(key);
            let mut keys = written.iter().filter(|(key, _)| *key != "text" && !absent(key));
            keys.find_map(|(key, written)| {
                let inside = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                // What may be left out is null.
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
                "`{path}` is {given}, and {written} follows from the rest and the frame: plan it anew"
            ))
        }
    }
}
