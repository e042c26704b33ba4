//! TVM's unified static memory planner: buffers that conflict, pools in order of preference.
//!
//! Source: TVM at ce22736e, `usmp/algo/greedy.cc`. A buffer goes above everything in its pool that it conflicts with: gaps are not
//! looked for, which is where it loses to the engine's greedy rules. The planner's hill climb is
//! [`Strategy::HillClimb`](tileheap_pack::Strategy::HillClimb).

use std::cmp::Reverse;

use tileheap_tensor::units::{Alignment, Bytes};
use tileheap_tensor::{Error, Result};

/// A buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsmpBuffer {
    /// Its name, by which ties are broken.
    pub name: String,
    /// How many bytes.
    pub size: Bytes,
    /// What offsets above it are aligned to.
    pub alignment: Alignment,
    /// The buffers that must not share its bytes, by index, as they are declared: a pair may be declared on one side alone.
    pub conflicts: Vec<usize>,
}

/// A pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsmpPool {
    /// Its name.
    pub name: String,
    /// How many bytes it has; without, as many as it takes.
    pub size_hint: Option<Bytes>,
}

/// Which buffers come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsmpOrder {
    /// The largest, then those with the most conflicts.
    Size,
    /// Those with the most conflicts, then the largest.
    Conflicts,
}

/// The pool and the offset of each buffer; a buffer can be in any pool.
///
/// ```
/// use tileheap_testkit::tensor::usmp::{UsmpBuffer, UsmpOrder, UsmpPool, assign};
/// use tileheap_tensor::units::{Alignment, Bytes};
///
/// let buffer = |name: &str, size, conflicts: &[usize]| UsmpBuffer {
///     name: name.to_owned(),
///     size: Bytes(size),
///     alignment: Alignment::ONE,
///     conflicts: conflicts.to_vec(),
/// };
/// // `b` overlaps both others, which do not overlap each other; the fast pool holds 100 bytes.
/// let buffers = [buffer("a", 60, &[1]), buffer("b", 80, &[0, 2]), buffer("c", 90, &[1])];
/// let pool = |name: &str, size_hint| UsmpPool { name: name.to_owned(), size_hint };
/// let pools = [pool("fast", Some(Bytes(100))), pool("slow", None)];
/// let places = assign(&buffers, &pools, UsmpOrder::Size)?;
/// assert_eq!(places, [(0, Bytes(0)), (1, Bytes(0)), (0, Bytes(0))]);
/// # Ok::<(), tileheap_tensor::Error>(())
/// ```
///
/// # Errors
/// The buffer for which there is no space in any pool.
pub fn assign(buffers: &[UsmpBuffer], pools: &[UsmpPool], order: UsmpOrder) -> Result<Vec<(usize, Bytes)>> {
    let mut indices: Vec<usize> = (0..buffers.len()).collect();
    indices.sort_by(|&a, &b| {
        let key = |index: usize| {
            let (size, conflicts) = (buffers[index].size.0, buffers[index].conflicts.len() as u64);
            match order {
                UsmpOrder::Size => Reverse((size, conflicts)),
                UsmpOrder::Conflicts => Reverse((conflicts, size)),
            }
        };
        let by_name = || buffers[b].name.cmp(&buffers[a].name);
        key(a).cmp(&key(b)).then_with(by_name)
    });
    let mut places: Vec<Option<(usize, Bytes)>> = vec![None; buffers.len()];
    for index in indices {
        let buffer = &buffers[index];
        let fits = |pool: usize, offset: Bytes| {
            let hint = pools[pool].size_hint;
            hint.is_none_or(|hint| offset + buffer.size <= hint)
        };
        let empty = |pool: usize| fits(pool, Bytes(0)).then_some(Bytes(0));
        let mut offsets: Vec<Option<Bytes>> = (0..pools.len()).map(empty).collect();
        for &other in &buffer.conflicts {
            let Some((pool, offset)) = places[other] else {
                continue;
            };
            let above = (offset + buffers[other].size).align_up(buffers[other].alignment);
            let lowest = offsets[pool].filter(|_| fits(pool, above));
            offsets[pool] = lowest.map(|offset| offset.max(above));
        }
        let mut offsets = offsets.into_iter().enumerate();
        let found = offsets.find_map(|(pool, offset)| Some((pool, offset?)));
        let last = pools.last();
        let too_small = || Error::MemoryTooSmall {
            tensor: buffer.name.clone(),
            size: buffer.size,
            memory: last.map_or("none".to_owned(), |pool| pool.name.clone()),
            capacity: last.and_then(|pool| pool.size_hint).unwrap_or(Bytes::ZERO),
            needed: None,
        };
        places[index] = Some(found.ok_or_else(too_small)?);
    }
    Ok(places.into_iter().flatten().collect())
}
