//! The checker: compares every pair of items, using only the description; it shares no code with the searches.

use super::desc::PoolItem;
use super::{PoolsError, PoolsPacking, PoolsProblem};
use crate::Result;
use crate::units::{Bytes, Span};

/// Checks a packing by comparing every pair of items: O(n²).
///
/// # Errors
/// The first violation, with the items by name.
pub fn check(problem: &PoolsProblem, packing: &PoolsPacking) -> Result<()> {
    Ok(judge(problem, packing)?)
}

fn judge(problem: &PoolsProblem, packing: &PoolsPacking) -> Result<(), PoolsError> {
    let desc = problem.desc();
    let (items, places) = (&desc.items, &packing.places);
    if places.len() != items.len() || packing.heights.len() != desc.pools.len() {
        return Err(PoolsError::PlaceCount(places.len(), items.len()));
    }
    let index = |id: &String| items.iter().position(|item| item.id == *id).expect("validated");
    // Items that are listed together, directly or through others.
    let mut group: Vec<usize> = (0..items.len()).collect();
    for list in &desc.share {
        for id in list {
            let (old, new) = (group[index(id)], group[index(&list[0])]);
            group.iter_mut().filter(|of| **of == old).for_each(|of| *of = new);
        }
    }
    let size = |item: usize| {
        let members = (0..items.len()).filter(|&other| group[other] == group[item]);
        members.map(|member| items[member].size).max().unwrap_or_default()
    };
    let sizes: Vec<Bytes> = (0..items.len()).map(size).collect();
    let shared = |a: usize, b: usize| {
        let start = places[a].offset.max(places[b].offset);
        let end = (places[a].offset + sizes[a]).min(places[b].offset + sizes[b]);
        (places[a].pool == places[b].pool && start < end).then_some(start)
    };
    let mut heights = vec![Bytes::ZERO; desc.pools.len()];
    for (item, (of, place)) in items.iter().zip(places).enumerate() {
        let pool = desc.pools.get(place.pool as usize);
        let end = place.offset.0.checked_add(sizes[item].0);
        let allowed = pool.is_some_and(|pool| {
            (of.pools.is_empty() || of.pools.contains(&pool.name))
                && end.is_some_and(|end| pool.capacity.is_none_or(|capacity| end <= capacity.0))
        });
        let at = place.offset;
        let sound = allowed
            && at.0 % of.alignment.get() == 0
            && of.offset.is_none_or(|offset| offset == at)
            && of.lowest.is_none_or(|lowest| lowest <= at)
            && of.highest.is_none_or(|highest| at <= highest);
        if !sound {
            return Err(PoolsError::InvalidPlace(of.id.clone(), at, place.pool));
        }
        let pool = &desc.pools[place.pool as usize];
        let height = &mut heights[place.pool as usize];
        *height = (*height).max(at + sizes[item]);
        for range in &pool.reserved {
            let meets = range.lifetimes.is_empty() || overlap(&range.lifetimes, &of.lifetimes);
            let start = at.max(range.offset);
            if meets
                && !of.lifetimes.iter().all(|span| span.is_empty())
                && start < (at + sizes[item]).min(range.offset + range.size)
            {
                return Err(PoolsError::Overlap(of.id.clone(), pool.name.clone(), start));
            }
        }
    }
    let named = |pairs: &[(String, String)], a: &PoolItem, b: &PoolItem| {
        let mut pairs = pairs.iter();
        pairs.any(|(x, y)| (*x == a.id && *y == b.id) || (*x == b.id && *y == a.id))
    };
    for b in 0..items.len() {
        for a in 0..b {
            let (first, second) = (&items[a], &items[b]);
            if group[a] == group[b] {
                if places[a] != places[b] {
                    return Err(PoolsError::GroupSplit(first.id.clone(), second.id.clone()));
                }
            } else if let Some(offset) = shared(a, b) {
                let live = overlap(&first.lifetimes, &second.lifetimes);
                if named(&desc.conflicts, first, second) || live && !named(&desc.exclusive, first, second) {
                    return Err(PoolsError::Overlap(first.id.clone(), second.id.clone(), offset));
                }
            }
        }
    }
    let costs = desc.penalties.iter();
    let costs = costs.filter(|(a, b, _)| shared(index(a), index(b)).is_some());
    let found = costs.map(|&(_, _, cost)| cost).sum();
    if packing.cost != found {
        return Err(PoolsError::Cost(packing.cost, found));
    }
    for ((pool, &found), &claimed) in desc.pools.iter().zip(&heights).zip(&packing.heights) {
        if found != claimed {
            return Err(PoolsError::Height(claimed, pool.name.clone(), found));
        }
    }
    Ok(())
}

fn overlap(first: &[Span], second: &[Span]) -> bool {
    let meets = |span: &Span| second.iter().any(|other| span.overlaps(*other));
    first.iter().any(meets)
}
