//! The state that the frame leaves: waiting for the uses of bytes that `after` lists must imply waiting for all uses of these bytes.

use super::barriers::BarrierKind;
use super::checker::Checker;
use super::contents::Contents;
use super::error::Rule;
use super::hazards::Hazards;
use super::layouts::Layouts;
use super::records::{Conflicts, Dependency, Record};
use super::sites::Place;
use crate::lower::state::{ByteUse, ContentState};
use crate::lower::tables::DeviceQueueIndex;
use crate::lower::tables::submission::Semaphore;
use crate::units::Bytes;
use tileheap_device::scopes::Scope;

/// Checks the bytes that `after` lists; `batches` is the number of the frame's batches on each queue.
pub(super) fn check_bytes(checker: &mut Checker<'_>, hazards: &Hazards, batches: &[i64]) {
    let after = &checker.tables.after.bytes;
    for one in after {
        if one.last.value > 0 {
            let (queue, value) = (one.last.queue.0, one.last.value);
            let message = format!(
                "`after` lists a use of queue {queue} at value {value}, which the frame does not reach"
            );
            checker.report(Rule::AfterPoint, message);
        }
    }
    for record in &hazards.records {
        if matches!(record.site.place, Place::Caller(_)) {
            continue;
        }
        let covering: Vec<(u64, u64)> = after
            .iter()
            .filter(|one| Place::from(one.space) == record.site.place && covers(one, record, batches))
            .map(|one| (one.first.0, one.end.0))
            .collect();
        for &(first, end) in &record.bytes {
            if let Some((first, end)) = uncovered(&covering, first, end) {
                let message = format!(
                    "{} at bytes [{first}, {end}): whatever waits for the uses that `after` lists there does not wait \
                     for it",
                    record.user.text
                );
                checker.report(Rule::AfterUncovered, message);
            }
        }
    }
}

/// Whether waiting for the listed use implies waiting for the recorded one: on its queue by a barrier, elsewhere by the queue's timeline.
fn covers(one: &ByteUse, record: &Record, batches: &[i64]) -> bool {
    let last = one.last;
    let queue = last.queue;
    let point = Semaphore::of_queue(queue, last.value + batches[queue.0 as usize]);
    let barrier = Dependency {
        parts: None,
        source: Scope::source(last.stages, last.writes),
        destination: Scope::all(),
        kind: BarrierKind::Plain,
    };
    let reach = &record.reach[queue.0 as usize];
    let (ordered, available) = record.passes_through(reach, queue, &barrier);
    let written = record.conflicts == Conflicts::AllSee;
    record.is_carried_by(point) && ordered && (available || !written)
}

/// The first bytes of `[first, end)` that no range covers.
fn uncovered(ranges: &[(u64, u64)], first: u64, end: u64) -> Option<(Bytes, Bytes)> {
    let mut at = first;
    while let Some(&(_, to)) = ranges.iter().find(|&&(from, to)| from <= at && at < to) {
        at = to;
    }
    (at < end).then_some((Bytes(at), Bytes(end)))
}

/// Checks the contents that `after` lists: the state of every used part of an image and of every used buffer of a history.
pub(super) fn check_contents(checker: &mut Checker<'_>, contents: &mut Contents, layouts: &Layouts) {
    let said = &checker.tables.after.contents;
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
                let message =
                    format!("after the frame `{resource}` is {found:?}, and `after` says {listed:?}");
                checker.report(Rule::AfterContents, message);
            }
        }
    }
}
