//! Follows the contents of a resource through the previous frame, the captured frame and the next one.
//!
//! ```text
//!          frame before │ captured frame         │ next frame
//! depth    store        │ clear ─ store          │ clear             nothing reads the store: it is wasted
//! bloom                 │ discard ─ load ─ store │ discard ─ load    the load reads undefined contents: it is wasted
//! shadow                │ clear ─ store          │ read              the store is needed
//! ```
//! Parts are compared exactly: a clear of a quarter of an image replaces only that quarter. After the next frame, the captured one is assumed to
//! repeat: this decides about resources that the next frame does not use, and is marked as an assumption.

use std::collections::BTreeSet;

/// The compared frames, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ComparedFrame {
    Before,
    Captured,
    Next,
    /// The captured frame, which is assumed to repeat.
    Repeated,
}

/// The effect of a use on the contents of the part that it accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    None,
    /// Writes some of the part, and keeps the rest.
    Updates,
    /// Replaces the whole part.
    Replaces,
    /// Replaces the whole part if a shader writes all of it, which is assumed.
    MayReplace,
    /// Leaves undefined contents: a layout transition from UNDEFINED.
    Discards,
}

/// One use of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContentUse {
    pub(crate) frame: ComparedFrame,
    /// The pass in its frame, and the access in its pass.
    pub(crate) place: (usize, usize),
    /// Aspects, levels and layers, `[first, end)` of each.
    pub(crate) cells: [(u32, u32); 3],
    /// Columns and rows, `[first, end)` of each; [`WHOLE`] for all.
    pub(crate) area: [(u32, u32); 2],
    pub(crate) reads: bool,
    pub(crate) effect: Effect,
    /// True if the use is as an attachment or as an input attachment.
    pub(crate) attached: bool,
    /// True if the render pass loads the attachment from memory at this use.
    pub(crate) loads: bool,
    /// True if the loaded contents can only affect this attachment: a color attachment.
    pub(crate) only_blends: bool,
    /// Set if this is the last use of the attachment by the render pass: true if contents are stored, false if they become undefined. `None` if
    /// neither, or if that is not known.
    pub(crate) stores: Option<bool>,
}

/// All columns and rows.
pub(crate) const WHOLE: [(u32, u32); 2] = [(0, u32::MAX); 2];

/// The first use by the next frame of the contents that the captured one leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum NextUse {
    /// The next frame is not known to read any of the contents, nor to replace all of them.
    #[default]
    Unknown,
    /// A pass of the next frame reads some of the contents.
    Reads(usize),
    /// The next frame replaces all of the contents before it reads any; the field is the first pass that replaces some.
    Replaces(usize),
}

/// A load or store whose result nothing reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WastedOperation {
    /// Indices of the pass and of its access.
    pub(crate) place: (usize, usize),
    pub(crate) is_load: bool,
    pub(crate) why: WhyWasted,
    /// True if the next frame does not show this, and the captured frame is assumed to repeat.
    pub(crate) assumed: bool,
}

/// The reason why nothing reads the result of a load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhyWasted {
    /// The loaded contents are undefined.
    Undefined,
    /// Nothing reads the results that the pass computes from the loaded contents.
    Unread,
    /// A pass replaces the stored contents before any read.
    Replaced(ComparedFrame, usize),
}

/// The fate of the contents of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FollowedContents {
    pub(crate) next: NextUse,
    pub(crate) wasted: Vec<WastedOperation>,
    /// Accesses that load undefined contents.
    pub(crate) undefined: BTreeSet<(usize, usize)>,
    /// True if, without the wasted loads and stores, contents never leave their render pass.
    pub(crate) memoryless: bool,
}

/// The next event that concerns the contents of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextEvent {
    Untouched,
    Read(ComparedFrame, usize),
    Replaced(ComparedFrame, usize, bool),
}

/// The parts that the uses of a resource distinguish: its subresources, divided at the borders of all areas.
struct Grid {
    size: [u32; 3],
    borders: [Vec<u32>; 2],
}

impl Grid {
    /// Maximum number of parts; the contents of resources with more are not followed.
    const MAX_PARTS: usize = 1 << 16;

    fn of(uses: &[ContentUse], size: [u32; 3]) -> Option<Grid> {
        let axis = |axis: usize| {
            let ends = uses.iter().flat_map(|one| [one.area[axis].0, one.area[axis].1]);
            let all: BTreeSet<u32> = ends.chain([0, u32::MAX]).collect();
            all.into_iter().collect()
        };
        let grid = Grid {
            size,
            borders: [axis(0), axis(1)],
        };
        (grid.count() <= Grid::MAX_PARTS).then_some(grid)
    }

    fn sides(&self) -> [usize; 2] {
        [0, 1].map(|axis| self.borders[axis].len() - 1)
    }

    fn count(&self) -> usize {
        let sides = self.sides();
        let cells = self.size.iter().map(|side| *side as usize);
        cells.chain(sides).fold(1, usize::saturating_mul)
    }

    fn parts(&self, one: &ContentUse) -> Vec<usize> {
        let [wide, high] = self.sides();
        let run = |axis: usize| {
            let at = |end: u32| self.borders[axis].partition_point(|border| *border < end);
            at(one.area[axis].0)..at(one.area[axis].1)
        };
        let cells = |axis: usize| {
            let (first, end) = one.cells[axis];
            first as usize..end.min(self.size[axis]) as usize
        };
        let mut parts = Vec::new();
        for aspect in cells(0) {
            for level in cells(1) {
                for layer in cells(2) {
                    let cell = (aspect * self.size[1] as usize + level) * self.size[2] as usize + layer;
                    for row in run(1) {
                        parts.extend(run(0).map(|column| (cell * high + row) * wide + column));
                    }
                }
            }
        }
        parts
    }
}

/// Follows the contents of a resource of `size` cells through `uses`, in order. O(uses x parts).
pub(crate) fn contents(uses: &[ContentUse], size: [u32; 3]) -> FollowedContents {
    let Some(grid) = Grid::of(uses, size) else {
        return FollowedContents::default();
    };
    let parts: Vec<Vec<usize>> = uses.iter().map(|one| grid.parts(one)).collect();
    let mut found = FollowedContents::default();
    undefined_loads(uses, &parts, grid.count(), &mut found);
    unread_results(uses, &parts, grid.count(), &mut found);
    found.wasted.sort_by_key(|one| (one.place, !one.is_load));
    let is_wasted = |one: &ContentUse, is_load: bool| {
        let mut wasted = found.wasted.iter();
        wasted.any(|other| other.place == one.place && other.is_load == is_load && !other.assumed)
    };
    let is_memoryless = |one: &ContentUse| match one.frame {
        _ if one.effect == Effect::Discards => true,
        ComparedFrame::Captured => {
            one.attached
                && (!one.loads || is_wasted(one, true))
                && (one.stores != Some(true) || is_wasted(one, false))
        }
        _ => one.attached && !one.loads,
    };
    let has_ended = |one: &ContentUse| one.frame == ComparedFrame::Captured && one.stores.is_some();
    let compared = uses.iter().filter(|one| one.frame != ComparedFrame::Repeated);
    found.memoryless = uses.iter().any(has_ended) && compared.into_iter().all(is_memoryless);
    found
}

/// Groups the uses by pass, since a pass reads the contents that earlier passes left. Discards are groups of their own.
fn passes(uses: &[ContentUse]) -> impl DoubleEndedIterator<Item = std::ops::Range<usize>> {
    let mut passes: Vec<std::ops::Range<usize>> = Vec::new();
    for (index, one) in uses.iter().enumerate() {
        let same = |last: &std::ops::Range<usize>| {
            let other = &uses[last.start];
            let discards = [one.effect, other.effect].contains(&Effect::Discards);
            (other.frame, other.place.0) == (one.frame, one.place.0) && !discards
        };
        match passes.last_mut().filter(|last| same(last)) {
            Some(last) => last.end = index + 1,
            None => passes.push(index..index + 1),
        }
    }
    passes.into_iter()
}

/// Finds the loads of undefined contents.
fn undefined_loads(uses: &[ContentUse], parts: &[Vec<usize>], count: usize, found: &mut FollowedContents) {
    let mut undefined = vec![false; count];
    for pass in passes(uses) {
        for index in pass.clone() {
            let one = &uses[index];
            let is_undefined = !parts[index].is_empty() && parts[index].iter().all(|part| undefined[*part]);
            if one.loads && is_undefined && one.frame == ComparedFrame::Captured {
                found.undefined.insert(one.place);
                found.wasted.push(WastedOperation {
                    place: one.place,
                    is_load: true,
                    why: WhyWasted::Undefined,
                    assumed: false,
                });
            }
        }
        for index in pass.clone() {
            let is_discard = match uses[index].effect {
                Effect::None => continue,
                Effect::Discards => true,
                Effect::Updates | Effect::Replaces | Effect::MayReplace => false,
            };
            parts[index].iter().for_each(|part| undefined[*part] = is_discard);
        }
        for index in pass.filter(|index| uses[*index].stores == Some(false)) {
            parts[index].iter().for_each(|part| undefined[*part] = true);
        }
    }
}

/// Finds the next frame's use of the contents that the captured one leaves, and the loads and stores whose results nothing reads.
fn unread_results(uses: &[ContentUse], parts: &[Vec<usize>], count: usize, found: &mut FollowedContents) {
    let mut next_events = vec![NextEvent::Untouched; count];
    let mut is_next_known = false;
    for pass in passes(uses).rev() {
        let frame = uses[pass.start].frame;
        if frame <= ComparedFrame::Captured && !is_next_known {
            is_next_known = true;
            found.next = next_use(uses, parts, &next_events);
        }
        if frame == ComparedFrame::Captured {
            for index in pass.clone() {
                judge(
                    &uses[index],
                    &parts[index],
                    &uses[pass.clone()],
                    &next_events,
                    found,
                );
            }
        }
        for index in pass.clone() {
            let one = &uses[index];
            let assumed = one.effect == Effect::MayReplace || frame == ComparedFrame::Repeated;
            if !matches!(one.effect, Effect::None | Effect::Updates) {
                let next_event = NextEvent::Replaced(frame, one.place.0, assumed);
                parts[index]
                    .iter()
                    .for_each(|part| next_events[*part] = next_event);
            }
        }
        for index in pass.filter(|index| uses[*index].reads && !is_of_undefined(&uses[*index], found)) {
            let next_event = NextEvent::Read(frame, uses[index].place.0);
            parts[index]
                .iter()
                .for_each(|part| next_events[*part] = next_event);
        }
    }
}

/// Returns true for a load of undefined contents in the captured frame, which reads nothing.
fn is_of_undefined(one: &ContentUse, found: &FollowedContents) -> bool {
    one.frame == ComparedFrame::Captured && found.undefined.contains(&one.place)
}

/// Returns the next frame's use of the contents that the captured one wrote.
fn next_use(uses: &[ContentUse], parts: &[Vec<usize>], next_events: &[NextEvent]) -> NextUse {
    let written = uses.iter().zip(parts).filter(|(one, _)| {
        one.frame == ComparedFrame::Captured && !matches!(one.effect, Effect::None | Effect::Discards)
    });
    let (mut first, mut is_known) = (None, true);
    for part in written.flat_map(|(_, parts)| parts) {
        match next_events[*part] {
            NextEvent::Read(ComparedFrame::Next, pass) => return NextUse::Reads(pass),
            NextEvent::Replaced(ComparedFrame::Next, pass, false) => {
                first = Some(first.map_or(pass, |first: usize| first.min(pass)));
            }
            _ => is_known = false,
        }
    }
    first
        .filter(|_| is_known)
        .map_or(NextUse::Unknown, NextUse::Replaces)
}

/// Decides whether the load and the store of a use are wasted, from the next events that concern the parts that the use accesses.
fn judge(
    one: &ContentUse,
    parts: &[usize],
    pass: &[ContentUse],
    next_events: &[NextEvent],
    found: &mut FollowedContents,
) {
    // Of parts that several passes replace, the first one; `None` if any is read, or not used again.
    let mut replaced: Option<(ComparedFrame, usize, bool)> = None;
    let mut is_dead = !parts.is_empty();
    for part in parts {
        match next_events[*part] {
            NextEvent::Replaced(frame, by, assumed) => {
                let (first, was_assumed) =
                    replaced.map_or(((frame, by), false), |one| ((one.0, one.1), one.2));
                let first = first.min((frame, by));
                replaced = Some((first.0, first.1, assumed || was_assumed));
            }
            NextEvent::Untouched | NextEvent::Read(..) => is_dead = false,
        }
    }
    let replaced = replaced.filter(|_| is_dead);
    if let (Some(true), Some((frame, by, assumed))) = (one.stores, replaced) {
        found.wasted.push(WastedOperation {
            place: one.place,
            is_load: false,
            why: WhyWasted::Replaced(frame, by),
            assumed,
        });
    }
    let is_dropped = one.stores == Some(false) || one.stores == Some(true) && replaced.is_some();
    let is_alone = pass.iter().all(|other| other == one || !other.reads);
    let known = found.undefined.contains(&one.place);
    if one.loads && one.only_blends && is_dropped && is_alone && !known {
        found.wasted.push(WastedOperation {
            place: one.place,
            is_load: true,
            why: WhyWasted::Unread,
            assumed: one.stores == Some(true) && replaced.is_some_and(|(.., assumed)| assumed),
        });
    }
}

#[cfg(test)]
mod tests;
