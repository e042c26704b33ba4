//! The orders in which candidates are tried, and the sequence of runs.

use super::branch::BranchingRule;
use super::model::Model;
use super::table::mix;
use crate::lists::{refill, reset};
use crate::units::CompactSort;

/// The order in which candidates are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CandidateOrder {
    Wide,
    Large,
    /// By descending product of size² and number of columns.
    LargeArea,
    /// By descending product of size and (number of columns)².
    WideArea,
}

/// One run: its branching rule and its order of candidates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchRun {
    pub(crate) rule: BranchingRule,
    pub(crate) candidate_order: CandidateOrder,
    /// Chooses the last of equal columns instead of the first.
    pub(crate) mirrored: bool,
    /// The run's share of the steps, relative to other runs.
    pub(crate) length: u64,
}

const fn search_run(
    rule: BranchingRule,
    candidate_order: CandidateOrder,
    length: u64,
    mirrored: bool,
) -> SearchRun {
    SearchRun {
        rule,
        candidate_order,
        mirrored,
        length,
    }
}

/// The runs of one round, strongest first. Each run solves, in a few hundred steps, an instance of the hard set that the others do not solve in a million
/// steps.
pub(crate) const SEARCH_RUNS: [SearchRun; 10] = [
    search_run(BranchingRule::Tightest, CandidateOrder::Wide, 3, false),
    search_run(
        BranchingRule::FewestChoicesLowestFloor,
        CandidateOrder::WideArea,
        7,
        false,
    ),
    search_run(
        BranchingRule::FewestChoicesLowestFloor,
        CandidateOrder::WideArea,
        7,
        true,
    ),
    search_run(BranchingRule::TightestPerFailure, CandidateOrder::Large, 3, false),
    search_run(
        BranchingRule::FewestChoicesPerFailure,
        CandidateOrder::Wide,
        7,
        false,
    ),
    search_run(
        BranchingRule::LeastSlackPerFailure,
        CandidateOrder::Large,
        3,
        false,
    ),
    search_run(
        BranchingRule::FewestChoicesLowestFloor,
        CandidateOrder::Wide,
        7,
        true,
    ),
    search_run(
        BranchingRule::FewestChoicesPerFailure,
        CandidateOrder::LargeArea,
        3,
        false,
    ),
    search_run(
        BranchingRule::LeastSlackPerFailure,
        CandidateOrder::WideArea,
        3,
        true,
    ),
    search_run(
        BranchingRule::FewestChoicesLowestFloor,
        CandidateOrder::Wide,
        7,
        false,
    ),
];

/// Replaces the contents of `ranks` with each piece's position in the order given by `candidate_order`, with `noise` percent of random variation drawn from
/// `seed`.
pub(crate) fn rank(
    model: &Model,
    capacity: u64,
    candidate_order: CandidateOrder,
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
            let base = match candidate_order {
                CandidateOrder::Wide => width * 2048 + size,
                CandidateOrder::Large => size * 2048 + width,
                CandidateOrder::LargeArea => width * size * size,
                CandidateOrder::WideArea => width * width * size,
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
