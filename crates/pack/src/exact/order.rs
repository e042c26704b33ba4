//! The orders in which candidates are tried, and the sequence of runs.

use super::branch::Focus;
use super::model::Model;
use super::table::mix;
use crate::lists::{refill, reset};
use crate::units::CompactSort;

/// The candidate that is tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    Wide,
    Large,
    /// The candidate with the largest product of size² and number of columns.
    LargeArea,
    /// The candidate with the largest product of size and (number of columns)².
    WideArea,
}

/// One run: its branching rule and its order of candidates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchRun {
    pub(crate) focus: Focus,
    pub(crate) first: First,
    /// Chooses the last of equal columns instead of the first.
    pub(crate) mirrored: bool,
    /// The run's share of the steps, relative to other runs.
    pub(crate) length: u64,
}

const fn way(focus: Focus, first: First, length: u64, mirrored: bool) -> SearchRun {
    SearchRun {
        focus,
        first,
        mirrored,
        length,
    }
}

/// The runs of one round, strongest first. Each run solves, in a few hundred steps, an instance of the hard set that the others do not solve in a million
/// steps.
pub(crate) const WAYS: [SearchRun; 10] = [
    way(Focus::Tightest, First::Wide, 3, false),
    way(Focus::FewestChoicesLow, First::WideArea, 7, false),
    way(Focus::FewestChoicesLow, First::WideArea, 7, true),
    way(Focus::TightestBlamed, First::Large, 3, false),
    way(Focus::FewestChoicesBlamed, First::Wide, 7, false),
    way(Focus::LeastSlackBlamed, First::Large, 3, false),
    way(Focus::FewestChoicesLow, First::Wide, 7, true),
    way(Focus::FewestChoicesBlamed, First::LargeArea, 3, false),
    way(Focus::LeastSlackBlamed, First::WideArea, 3, true),
    way(Focus::FewestChoicesLow, First::Wide, 7, false),
];

/// Replaces the contents of `ranks` with each piece's position in the order given by `first`, with `noise` percent of random variation drawn from
/// `seed`.
pub(crate) fn rank(
    model: &Model,
    capacity: u64,
    first: First,
    noise: u64,
    seed: u64,
    keys: &mut Vec<(u128, u32)>,
    ranks: &mut Vec<u32>,
) {
    refill(
        keys,
        model.pieces.iter().enumerate().map(|(index, piece)| {
            let width = piece.columns.len() as u128;
            // In 1024ths of the capacity, so that the order does not depend on the unit of sizes.
            let size = u128::from(piece.size) * 1024 / u128::from(capacity.max(1)) + 1;
            let base = match first {
                First::Wide => width * 2048 + size,
                First::Large => size * 2048 + width,
                First::LargeArea => width * size * size,
                First::WideArea => width * width * size,
            };
            let chance = mix(seed ^ mix(index as u64)) % 1024;
            (base * u128::from(102_400 + noise * chance), index as u32)
        }),
    );
    keys.compact_sort_by_key(|&(key, index)| (std::cmp::Reverse(key), index));
    reset(ranks, keys.len(), 0);
    for (rank, &(_, index)) in keys.iter().enumerate() {
        ranks[index as usize] = rank as u32;
    }
}
