//! Checks the state that the frame leaves: waiting for the uses of bytes that `after` lists must imply waiting for all uses of these bytes.

use tileheap_units::CompactSort;

use super::checker::Checker;
use super::contents::Contents;
use super::creation::check_range;
use super::error::LoweringRule;
use super::hazards::Hazards;
use super::layouts::Layouts;
use super::sites::{Site, SiteSpace};
use crate::lower::state::{ByteUse, ContentState};
use crate::lower::tables::{DeviceQueueIndex, ImageOrBuffer};
use crate::units::Bytes;

/// Checks the uses of bytes that `after` lists; `batches` is the number of the frame's batches on each queue.
pub(super) fn check_bytes(checker: &mut Checker<'_>, hazards: &mut Hazards, batches: &[i64]) {
    let after = &checker.tables.after.bytes;
    for one in after {
        if one.last.value > 0 {
            let (queue, value) = (one.last.queue.0, one.last.value);
            let message = format!(
                "`after` lists a use of queue {queue} at value {value}: values are relative to the end of the frame, and must be 0 or less"
            );
            checker.report(LoweringRule::AfterPoint, message);
        }
    }
    let mut places: Vec<SiteSpace> = checker
        .objects()
        .flat_map(|object| places_of(checker, object))
        .collect();
    places.extend(after.iter().map(|one| SiteSpace::from(one.space)));
    places.compact_sort();
    places.dedup();
    for place in places {
        let listed: Vec<ByteUse> = after
            .iter()
            .filter(|one| SiteSpace::from(one.space) == place)
            .copied()
            .collect();
        for access in hazards.outstanding(place, &listed, batches) {
            let covering = listed
                .iter()
                .zip(&access.is_covered)
                .filter(|(_, is_covered)| **is_covered);
            let covering: Vec<(u64, u64)> = covering.map(|(one, _)| (one.first.0, one.end.0)).collect();
            if let Some((first, end)) = uncovered(&covering, access.first, access.end) {
                let message = format!(
                    "{} at bytes [{first}, {end}): work that waits for the uses listed in `after` for these bytes \
                     does not wait for this access",
                    hazards.text(checker, &access.used)
                );
                checker.report(LoweringRule::AfterUncovered, message);
            }
        }
    }
}

/// The address spaces in which an object has bytes, except for the caller's memory.
fn places_of(checker: &Checker<'_>, object: ImageOrBuffer) -> Vec<SiteSpace> {
    let queues = (0..checker.lowering_desc.queues.len() as u32).map(DeviceQueueIndex);
    let places = queues.map(|queue| Site::of(checker, object, queue).place);
    places
        .filter(|place| !matches!(place, SiteSpace::Caller(_)))
        .collect()
}

/// The rest of `[first, end)` from the first byte that no range covers; `None` if the ranges cover all bytes.
fn uncovered(ranges: &[(u64, u64)], first: u64, end: u64) -> Option<(Bytes, Bytes)> {
    let mut at = first;
    while let Some(&(_, to)) = ranges.iter().find(|&&(from, to)| from <= at && at < to) {
        at = to;
    }
    (at < end).then_some((Bytes(at), Bytes(end)))
}

/// Checks that contents refer to existing parts of images.
pub(super) fn check_ranges(checker: &mut Checker<'_>, table: &str, contents: &[ContentState]) {
    for one in contents {
        if let ImageOrBuffer::Image(row) = one.object.get() {
            let name = checker.name_of(one.object.get());
            let mut at = checker.at(format!("`{name}` in {table}"));
            let image = &at.checker.tables.images[row as usize];
            check_range(&mut at, image, one.range);
        }
    }
}

/// Checks the contents that `after` lists: they must include every used part of the images and buffers of histories, in the state that the replay found, and
/// nothing that is not a history.
pub(super) fn check_contents(checker: &mut Checker<'_>, contents: &mut Contents, layouts: &Layouts) {
    let said = &checker.tables.after.contents;
    check_ranges(checker, "`after`", said);
    for object in checker.objects() {
        let resource = checker.resource_of(object);
        let used = checker.used_parts(object);
        for part in checker.parts.of(object) {
            let lists = |one: &&ContentState| {
                one.object == object
                    && checker
                        .parts
                        .within(checker.tables, object, one.range)
                        .contains(&part)
            };
            let listed: Vec<ContentState> = said.iter().filter(lists).copied().collect();
            // `after` may also list unused parts, such as slices, if their state is correct.
            let told = used.contains(&part) || !listed.is_empty();
            let found = (checker.is_history(resource) && told).then(|| ContentState {
                object: object.into(),
                range: listed.first().map_or(checker.parts.range(part), |one| one.range),
                defined: contents.loss(checker, DeviceQueueIndex(0), part).is_none(),
                layout: layouts.layout_of(part),
                family: layouts.owner_of(part).into(),
            });
            if listed != Vec::from_iter(found) {
                let resource = checker.resource(resource);
                let message = format!(
                    "after the frame, the state of `{resource}` is {found:?}, but `after` lists {listed:?}"
                );
                checker.report(LoweringRule::AfterContents, message);
            }
        }
    }
}
