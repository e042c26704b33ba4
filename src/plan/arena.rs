//! Ordinary memory: arenas, dedicated allocations, lazily allocated attachments.

use super::context::{Context, Ruling};
use super::packing::{Arena, pack_arenas};
use super::residency::Residency;
use super::{MemoryKind, MemoryObject, ObjectId, Placement, Plan, PlanError};
use crate::frame::tables::{Batch, HistoryVersion};
use crate::frame::{BatchId, Frame, PassId, Persistence, ResourceId};
use crate::measure::DedicatedRequirement;
use crate::units::{Alignment, Bytes, Run, Span};
use tileheap_pack::{Item, Packing};
use tileheap_units::CompactSort;

/// All placements, and each resource's run of them.
pub(super) struct Placed {
    pub(super) placements: Vec<Placement>,
    pub(super) of_resource: Vec<Run>,
}

/// Creates the placements of every resource: residents at their offsets in tile memory, all others in ordinary memory. Keeps the packing of an arena of `old`
/// if the resources still fit.
pub(super) fn place_all(
    context: &Context<'_>,
    residency: &mut Residency,
    old: Option<&Plan>,
) -> Result<Placed, PlanError> {
    let (frame, rulings) = (context.frame, &context.rulings);
    let (requirements, profile, options) = (context.requirements, context.profile, context.options);
    let (residents, bound, objects) = (&residency.residents, &residency.bound, &mut residency.objects);
    let ordinary_types = profile.ordinary_type_bits();
    let always = Span::new(0, frame.passes().len() as u32);
    let mut placements = Vec::with_capacity(rulings.len() + 4);
    let mut of_resource = Vec::with_capacity(rulings.len());
    // Memory types and placements in arenas; their object and offset are set once all are known. Each history has its own arena: it shares no bytes,
    // and the next plan may keep it.
    let mut waiting: Vec<(u32, u32)> = Vec::with_capacity(rulings.len());
    let mut histories: Vec<(u32, u32)> = Vec::new();
    let mut resident_of = vec![u32::MAX; rulings.len()];
    for (index, resident) in residents.iter().enumerate() {
        resident_of[resident.resource.index()] = index as u32;
    }
    for (id, ruling) in frame.resource_ids().zip(rulings) {
        let first = placements.len() as u32;
        let needs = &requirements.resources[id.index()];
        let mut placement = Placement {
            resource: id,
            memory: MemoryKind::Arena,
            object: None,
            offset: Bytes::ZERO,
            size: needs.size,
            span: frame.lifetime_of(id),
        };
        match (*ruling, residents.get(resident_of[id.index()] as usize)) {
            (Ruling::Unused, _) => {}
            (Ruling::External, _) => placements.push(Placement {
                memory: MemoryKind::Dedicated,
                span: always,
                ..placement
            }),
            (_, Some(resident)) => {
                for access in frame.accesses_to(id) {
                    let object = bound[access.pass.index()];
                    let mut known = placements[first as usize..].iter();
                    if known.all(|one| one.object != object) {
                        placements.push(Placement {
                            memory: MemoryKind::Tile,
                            object,
                            offset: resident.offset,
                            size: resident.size,
                            span: resident.span,
                            ..placement
                        });
                    }
                }
            }
            (Ruling::Lazy(_), None) => {
                let memory_type = needs.lazy_type_bits.trailing_zeros();
                objects.push(MemoryObject {
                    memory: MemoryKind::Lazy,
                    memory_type,
                    size: needs.size,
                });
                placement.object = Some(ObjectId(objects.len() as u32 - 1));
                placements.push(Placement {
                    memory: MemoryKind::Lazy,
                    ..placement
                });
            }
            (Ruling::Tile(_) | Ruling::Ordinary(_), None) => {
                let memory_type = first_bit(needs.memory_type_bits & ordinary_types).ok_or_else(|| {
                    PlanError::NoMemoryType {
                        resource: frame.resource(id).name.clone(),
                        bits: needs.memory_type_bits,
                    }
                })?;
                too_large(context, id, needs.size, memory_type)?;
                let history = frame.resource(id).persistence == Persistence::History;
                if history {
                    placement.span = always;
                }
                for _ in 0..1 + u32::from(history && reads_previous(frame, id)) {
                    // A preferred dedicated allocation is granted only if the resource shares no bytes anyway: otherwise aliasing saves memory.
                    let own = needs.dedicated == DedicatedRequirement::Required
                        || (needs.dedicated == DedicatedRequirement::Preferred
                            && (history || !options.aliasing));
                    if own {
                        objects.push(MemoryObject {
                            memory: MemoryKind::Dedicated,
                            memory_type,
                            size: needs.size,
                        });
                        placement.memory = MemoryKind::Dedicated;
                        placement.object = Some(ObjectId(objects.len() as u32 - 1));
                    } else {
                        let at = placements.len() as u32;
                        match history {
                            true => histories.push((memory_type, at)),
                            false => waiting.push((memory_type, at)),
                        }
                    }
                    placements.push(placement);
                }
            }
        }
        of_resource.push(Run::new(first, placements.len() as u32));
    }
    let mut group = Vec::with_capacity(waiting.len());
    objects.reserve(histories.len() + 1);
    for memory_type in 0..profile.memory_types.len() as u32 {
        let of_type = |one: &&(u32, u32)| one.0 == memory_type;
        group.clear();
        group.extend(waiting.iter().filter(of_type).map(|one| one.1));
        if !group.is_empty() {
            pack_group(context, memory_type, &group, &mut placements, objects, old)?;
        }
        for &(_, history) in histories.iter().filter(of_type) {
            let placement = &mut placements[history as usize];
            placement.object = Some(ObjectId(objects.len() as u32));
            objects.push(MemoryObject {
                memory: MemoryKind::Arena,
                memory_type,
                size: placement.size,
            });
        }
    }
    Ok(Placed {
        placements,
        of_resource,
    })
}

fn first_bit(bits: u32) -> Option<u32> {
    (bits != 0).then(|| bits.trailing_zeros())
}

fn reads_previous(frame: &Frame, id: ResourceId) -> bool {
    frame
        .accesses_to(id)
        .any(|access| access.version == HistoryVersion::Previous)
}

/// Packs the placements of one memory type into one object, or into several if the object would exceed the device's largest allocation.
fn pack_group(
    context: &Context<'_>,
    memory_type: u32,
    group: &[u32],
    placements: &mut [Placement],
    objects: &mut Vec<MemoryObject>,
    old: Option<&Plan>,
) -> Result<(), PlanError> {
    let (frame, requirements) = (context.frame, context.requirements);
    let (profile, options) = (context.profile, context.options);
    let always = Span::new(0, frame.passes().len() as u32);
    let granularity = profile.limits.buffer_image_granularity;
    let images = group
        .iter()
        .any(|&index| frame.resource(placements[index as usize].resource).is_image());
    let mut items = Vec::with_capacity(group.len());
    for &index in group {
        let placement = &mut placements[index as usize];
        let mut alignment = requirements.resources[placement.resource.index()].alignment;
        let mut size = placement.size;
        // A buffer that starts and ends on the granularity shares no page with an image, wherever the image is placed.
        if images && granularity > Alignment::ONE && !frame.resource(placement.resource).is_image() {
            alignment = alignment.lcm(granularity).unwrap_or(alignment);
            size = size.align_up(granularity);
            // The rest of its last page is reserved as well: an image placed there later is an alias that takes it over.
            placement.size = size;
        }
        let span = if options.aliasing { placement.span } else { always };
        items.push(Item::new(span, size, alignment));
    }
    let conflicts = match options.aliasing {
        true => unordered_pairs(frame, group, placements),
        false => Vec::new(),
    };
    let heap = &profile.heaps[profile.memory_types[memory_type as usize].heap as usize];
    let limit = heap.size.min(profile.limits.max_allocation);
    let mut all = Bytes::ZERO;
    let old = old.filter(|_| options.aliasing);
    let arenas = match old.and_then(|old| kept(old, memory_type, &items, &conflicts)) {
        Some(packing) if packing.height <= limit => vec![Arena {
            items: (0..items.len() as u32).collect(),
            packing,
        }],
        _ => pack_arenas(&items, &conflicts, limit, options)?,
    };
    for Arena { items, packing } in arenas {
        all += packing.height;
        objects.push(MemoryObject {
            memory: MemoryKind::Arena,
            memory_type,
            size: packing.height,
        });
        for (&item, &offset) in items.iter().zip(&packing.offsets) {
            let placement = &mut placements[group[item as usize] as usize];
            // A whole page may be more than the resource needs.
            too_large(context, placement.resource, placement.size, memory_type)?;
            placement.object = Some(ObjectId(objects.len() as u32 - 1));
            placement.offset = offset;
        }
    }
    if all > heap.size {
        return Err(PlanError::ArenaTooLarge {
            frame: frame.name().to_owned(),
            memory_type,
            height: all,
            limit: heap.size,
        });
    }
    Ok(())
}

/// The packing of the only arena of a memory type in an old plan, apart from arenas of histories, if it has the same items and no pair of `conflicts`
/// shares bytes there.
fn kept(old: &Plan, memory_type: u32, items: &[Item], conflicts: &[(u32, u32)]) -> Option<Packing> {
    let mut packing = Packing::default();
    let mut arena = None;
    for placement in &old.placements {
        let history = || old.frame.resource(placement.resource).persistence == Persistence::History;
        if placement.memory != MemoryKind::Arena || history() {
            continue;
        }
        let id = placement.object?;
        let object = &old.objects[id.index()];
        if object.memory_type != memory_type {
            continue;
        }
        let item = items.get(packing.offsets.len())?;
        let same = (placement.span, placement.size) == (item.span, item.size)
            && placement.offset.is_aligned(item.alignment);
        if !same || *arena.get_or_insert(id) != id {
            return None;
        }
        packing.height = object.size;
        packing.offsets.push(placement.offset);
    }
    let bytes = |item: u32| {
        let first = packing.offsets[item as usize];
        (first, first + items[item as usize].size)
    };
    let apart = |&(a, b): &(u32, u32)| {
        let (a, b) = (bytes(a), bytes(b));
        a.1 <= b.0 || b.1 <= a.0
    };
    (packing.offsets.len() == items.len() && conflicts.iter().all(apart)).then_some(packing)
}

/// Returns an error if no allocation of a memory type can hold a resource of this size.
fn too_large(
    context: &Context<'_>,
    resource: ResourceId,
    size: Bytes,
    memory_type: u32,
) -> Result<(), PlanError> {
    let profile = context.profile;
    let heap = &profile.heaps[profile.memory_types[memory_type as usize].heap as usize];
    let limit = heap.size.min(profile.limits.max_allocation);
    if size <= limit {
        return Ok(());
    }
    Err(PlanError::ResourceTooLarge {
        resource: context.frame.resource(resource).name.clone(),
        size,
        memory_type,
        limit,
    })
}

/// Pairs that must not share bytes although their lifetimes are disjoint in submission order: they are used on two queues, and some use of one is not ordered
/// before some use of the other.
///
/// On each queue, the batches ordered after a batch of another queue are its last ones: placements not ordered after a last use are first used
/// within one contiguous range of passes.
///
/// ```text
/// queue 0   … last use of a ──► signal ─┐
/// queue 1   │   b        c              └─► wait   d …      a and b, a and c must not share bytes
///           a.end                           ordered from here on
/// ```
fn unordered_pairs(frame: &Frame, group: &[u32], placements: &[Placement]) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    let queues = frame.queues().len();
    if queues < 2 {
        return pairs;
    }
    let queue_of = |batch: &Batch| frame.submits()[batch.submit.index()].queue.index();
    let mut batches_on = vec![Vec::new(); queues];
    for (id, batch) in (0..).map(BatchId).zip(frame.batches()) {
        batches_on[queue_of(batch)].push(id);
    }
    // On each queue, only the first and the last use matter.
    let span = |item: u32| placements[group[item as usize] as usize].span;
    let mut first_on: Vec<Vec<(PassId, u32)>> = vec![Vec::new(); queues];
    let mut lasts: Vec<(u32, PassId)> = Vec::new();
    for (item, &placement) in (0..).zip(group) {
        let known = lasts.len();
        for access in frame.accesses_to(placements[placement as usize].resource) {
            let pass = access.pass;
            let queue = frame.queue_of(pass);
            let mut of_item = lasts[known..].iter_mut();
            match of_item.find(|(_, last)| frame.queue_of(*last) == queue) {
                Some((_, last)) => *last = pass,
                None => {
                    lasts.push((item, pass));
                    first_on[queue.index()].push((pass, item));
                }
            }
        }
    }
    first_on.iter_mut().for_each(|firsts| firsts.compact_sort());
    for &(item, last) in &lasts {
        let (end, batch) = (PassId(span(item).end.0), frame.batch_of(last));
        for (queue, firsts) in first_on.iter().enumerate() {
            if queue == frame.queue_of(last).index() {
                continue;
            }
            let before = |other: &BatchId| !frame.batch_happens_before(batch, *other);
            let ordered = batches_on[queue].partition_point(before);
            let limit = batches_on[queue].get(ordered).copied();
            let later = firsts.partition_point(|&(pass, _)| pass < end);
            let unordered = firsts[later..]
                .iter()
                .take_while(|(pass, _)| limit.is_none_or(|limit| frame.batch_of(*pass) < limit))
                .filter(|&&(_, other)| span(other).first >= span(item).end);
            pairs.extend(unordered.map(|&(_, other)| (item, other)));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::synthetic::{SyntheticDesc, synthetic};

    #[test]
    fn pairs_are_those_that_comparing_all_finds() {
        let mut found = 0;
        for seed in 0..60 {
            let desc = SyntheticDesc {
                passes: 24,
                resources: 30,
                batches: 9,
                queues: 2 + (seed % 2) as u32,
                ..SyntheticDesc::default()
            };
            let frame = synthetic(seed, desc);
            let used = |id: &ResourceId| !frame.lifetime_of(*id).is_empty();
            let placement = |id| Placement {
                resource: id,
                memory: MemoryKind::Arena,
                object: None,
                offset: Bytes::ZERO,
                size: Bytes(1),
                span: frame.lifetime_of(id),
            };
            let placements: Vec<Placement> = frame.resource_ids().filter(used).map(placement).collect();
            let group: Vec<u32> = (0..placements.len() as u32).collect();
            let mut pairs = unordered_pairs(&frame, &group, &placements);
            pairs.sort_unstable();
            pairs.dedup();
            let passes = |id| frame.accesses_to(id).map(|access| access.pass);
            let mut expected = Vec::new();
            for (a, first) in (0..).zip(&placements) {
                for (b, second) in (0..).zip(&placements) {
                    let ordered = passes(first.resource)
                        .all(|a| passes(second.resource).all(|b| frame.happens_before(a, b)));
                    if first.span.end <= second.span.first && !ordered {
                        expected.push((a, b));
                    }
                }
            }
            assert_eq!(pairs, expected, "seed {seed}");
            found += pairs.len();
        }
        assert!(found > 100, "{found}");
    }
}
