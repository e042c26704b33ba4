//! "Data Race": pairs of accesses to a memory location, one of them a write, that are not location-ordered.

use ash::vk;
use tileheap_sync::program::AccessKind as Kind;
use tileheap_sync::{Action as Did, Certainty, Hazard, MissingDependency};
use vk::AccessFlags2 as A;

use super::Rules;
use super::bits::Bits;
use super::cells::Space;
use super::operations::{Action, Flat, Place, Subpass};
use super::relations::Relations;
use super::stages::{TILE_READ, TILE_WRITE};

fn subpass(action: &Action) -> Option<Subpass> {
    match action.place {
        Place::Queue(_, subpass) => subpass,
        Place::Host(_) => None,
    }
}

fn same_queue(x: &Action, y: &Action) -> bool {
    match (x.place, y.place) {
        (Place::Queue(one, _), Place::Queue(other, _)) => one == other,
        (Place::Host(_), Place::Host(_)) => true,
        _ => false,
    }
}

fn both_transitions(x: &Action, y: &Action) -> bool {
    x.usage.action == Did::Transition && y.usage.action == Did::Transition && same_queue(x, y)
}

/// The exceptions "rasterization order" and "load and store operations".
fn ordered_by_the_render_pass(x: &Action, y: &Action, rules: &Rules) -> bool {
    let (Some(in_x), Some(in_y)) = (subpass(x), subpass(y)) else {
        return false;
    };
    let (Some(kind_x), Some(kind_y)) = (x.kind(), y.kind()) else {
        return false;
    };
    let for_attachment = |action: &Action| {
        let of_shaders = [A::INPUT_ATTACHMENT_READ, TILE_READ, TILE_WRITE];
        let is_of_shaders = action
            .access
            .is_some_and(|access| of_shaders.contains(&access.access));
        is_of_shaders
            || matches!(
                action.kind(),
                Some(Kind::Attachment | Kind::Load | Kind::Store | Kind::Resolve)
            )
    };
    let draws = kind_x == Kind::Attachment && matches!(kind_y, Kind::Attachment | Kind::Resolve);
    let first_or_last =
        kind_x == Kind::Load && for_attachment(y) || for_attachment(x) && kind_y == Kind::Store;
    rules.rasterization_order && in_x == in_y && draws
        || rules.load_and_store_order && in_x.0 == in_y.0 && first_or_last
}

/// The exception "adjacent accesses": returns true if an action hides the earlier one at a cell of that.
fn hides(z: usize, x: usize, cell: usize, flat: &Flat, space: &Space, rules: &Rules) -> bool {
    let (between, earlier) = (&flat.actions[z], &flat.actions[x]);
    let same_class = space.touched[z].class == space.touched[x].class;
    if between.is_unknown() {
        return false;
    }
    if rules.writes_hide && between.writes && between.kind() != Some(Kind::Partial) {
        let covers = if same_class {
            space.touched[z].certain.contains(cell)
        } else {
            space.covers(z, flat, space.touched[x].resource, cell, rules)
        };
        if covers {
            return true;
        }
    }
    let alike = between.usage.action == earlier.usage.action
        && between.usage.resource == earlier.usage.resource
        && between.kind() == earlier.kind()
        && same_queue(between, earlier)
        && subpass(between) == subpass(earlier);
    let repeats = !earlier.writes || earlier.kind() == Some(Kind::Partial);
    rules.reads_hide && repeats && alike && space.touched[z].certain.contains(cell)
}

/// The cells in which two actions overlap: those of the earlier one, with those of the later one.
fn overlap(x: usize, y: usize, space: &Space, rules: &Rules) -> Vec<(usize, usize)> {
    let (one, other) = (&space.touched[x], &space.touched[y]);
    if one.class == other.class {
        return one
            .letter
            .and(&other.letter)
            .iter()
            .map(|cell| (cell, cell))
            .collect();
    }
    if !space.resources_alias(one.resource, other.resource) {
        return Vec::new();
    }
    let pairs = one
        .letter
        .iter()
        .flat_map(|a| other.letter.iter().map(move |b| (a, b)));
    pairs
        .filter(|(a, b)| space.alias((one.resource, *a), (other.resource, *b), rules))
        .collect()
}

/// A pair of racing cells: the verdict, the missing dependency, and the bytes that both may occupy.
type Racing = (Certainty, MissingDependency, (u64, u64));

/// The first bytes of a pair's cells with the reported verdict and missing dependency; adjacent bytes are one range.
fn first_bytes(
    mut cells: Vec<Racing>,
    reported: (Certainty, MissingDependency),
    rules: &Rules,
) -> Option<Racing> {
    if rules.bytes_are_of_the_reported_cells {
        cells.retain(|cell| (cell.0, cell.1) == reported);
    }
    let mut bytes: Vec<(u64, u64)> = cells.iter().map(|cell| cell.2).collect();
    bytes.sort_unstable();
    let mut first = *bytes.first()?;
    for (start, end) in bytes {
        if rules.touching_bytes_are_one && start <= first.1 {
            first.1 = first.1.max(end);
        }
    }
    Some((reported.0, reported.1, first))
}

/// The hazard of a pair, if any: the highest verdict over its cells, and the smallest missing dependency there. If one of the two touches unknown
/// elements of its part, it is only possible, unless all of them race.
fn race(
    x: usize,
    y: usize,
    flat: &Flat,
    space: &Space,
    relations: &Relations<'_>,
    rules: &Rules,
) -> Option<Racing> {
    let (earlier, later) = (&flat.actions[x], &flat.actions[y]);
    let same_class = space.touched[x].class == space.touched[y].class;
    let transitions = both_transitions(earlier, later) && rules.transitions_in_order;
    if transitions && same_class || ordered_by_the_render_pass(earlier, later, rules) {
        return None;
    }
    let between = |z: &usize| earlier.at < flat.actions[*z].at && flat.actions[*z].at < later.at;
    let hidden = |a: usize| {
        (x + 1..y)
            .filter(between)
            .any(|z| hides(z, x, a, flat, space, rules))
    };
    let are_some =
        [earlier, later].map(|action| rules.some_is_possible && action.kind() == Some(Kind::Partial));
    let mut racing = [Bits::default(); 2];
    let mut cells: Vec<Racing> = Vec::new();
    let mut last: Option<(usize, bool)> = None;
    for (a, b) in overlap(x, y, space, rules) {
        let Err(missing) = relations.location_ordered(space, (x, a), (y, b)) else {
            continue;
        };
        // The pairs of cells are in the order of the earlier action's cells.
        let (cell, is_hidden) = last
            .filter(|(cell, _)| *cell == a)
            .unwrap_or_else(|| (a, hidden(a)));
        last = Some((cell, is_hidden));
        if is_hidden {
            continue;
        }
        racing[0].insert(a);
        racing[1].insert(b);
        let certainly = space.touched[x].certain.contains(a) && space.touched[y].certain.contains(b);
        let verdict = if certainly && !transitions {
            Certainty::Certain
        } else {
            Certainty::Pedantic
        };
        let bytes = space.common_bytes((earlier.usage.resource, a), (later.usage.resource, b), rules);
        cells.push((verdict, missing, bytes));
    }
    let all = [x, y].map(|action| space.touched[action].certain);
    let races_wherever = match are_some {
        [false, false] => true,
        [true, true] => false,
        [is_x, _] => {
            let of = usize::from(!is_x);
            all[of].and(&racing[of]) == all[of]
        }
    };
    if !races_wherever {
        cells.iter_mut().for_each(|cell| cell.0 = Certainty::Possible);
    }
    let most = cells.iter().map(|cell| cell.0).max()?;
    let least = cells
        .iter()
        .filter(|cell| cell.0 == most)
        .map(|cell| cell.1)
        .min()?;
    first_bytes(cells, (most, least), rules)
}

/// All hazards, sorted by the later action and then the earlier one.
pub(crate) fn races(flat: &Flat, space: &Space, relations: &Relations<'_>, rules: &Rules) -> Vec<Hazard> {
    let mut hazards = Vec::new();
    for (y, later) in flat.actions.iter().enumerate() {
        for (x, earlier) in flat.actions[..y].iter().enumerate() {
            if earlier.at == later.at || !earlier.writes && !later.writes {
                continue;
            }
            if let Some((verdict, missing, bytes)) = race(x, y, flat, space, relations, rules) {
                hazards.push(Hazard {
                    before: earlier.usage,
                    after: later.usage,
                    missing,
                    verdict,
                    bytes,
                });
            }
        }
    }
    hazards
}
