//! The strategies by name, and the packer that runs them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::birth::ByBirth;
use super::bound::Bounder;
use super::gap::Fit;
use super::greedy::Greedy;
use super::in_order::InOrder;
use super::{PackFault, Problem, gap};
use crate::units::Bytes;

/// A rule that finds offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Nothing shares bytes with anything: what memory costs without aliasing.
    Naive,
    /// Largest first, each in the smallest gap that takes it.
    GreedyBySize,
    /// The step with the most live bytes first; in it the largest first, each in the smallest gap.
    GreedyByBreadth,
    /// In the order of births, each in the lowest gap.
    FirstFitByBirth,
    /// In the order of births, each in the smallest gap.
    BestFitByBirth,
    /// The others from the fastest to the slowest until one reaches the lower bound; the best of what was found.
    #[default]
    Auto,
}

impl Strategy {
    /// Every strategy, in declaration order.
    pub const ALL: [Strategy; 6] = [
        Strategy::Naive,
        Strategy::GreedyBySize,
        Strategy::GreedyByBreadth,
        Strategy::FirstFitByBirth,
        Strategy::BestFitByBirth,
        Strategy::Auto,
    ];

    /// Its name, as in JSON and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Strategy::Naive => "naive",
            Strategy::GreedyBySize => "greedy-by-size",
            Strategy::GreedyByBreadth => "greedy-by-breadth",
            Strategy::FirstFitByBirth => "first-fit-by-birth",
            Strategy::BestFitByBirth => "best-fit-by-birth",
            Strategy::Auto => "auto",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Strategy {
    type Err = PackFault;

    fn from_str(name: &str) -> Result<Strategy, PackFault> {
        let found = Strategy::ALL.into_iter().find(|strategy| strategy.name() == name);
        found.ok_or_else(|| PackFault::UnknownStrategy {
            name: name.to_owned(),
        })
    }
}

/// Where everything is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packing {
    /// Offset of each item, in the problem's order.
    pub offsets: Vec<Bytes>,
    /// End of the highest item.
    pub height: Bytes,
}

impl Packing {
    /// Whether it stays within the problem's capacity.
    pub fn fits(&self, problem: &Problem) -> bool {
        problem.capacity().is_none_or(|capacity| self.height <= capacity)
    }
}

/// Finds an offset for every item.
///
/// The capacity is not looked at: a packing that passes it says so by its height, see [`Packing::fits`].
pub fn pack(problem: &Problem, strategy: Strategy) -> Packing {
    Packer::default().pack(problem, strategy)
}

/// Runs strategies and keeps their scratch memory: after the first problems it allocates nothing but its answers.
#[derive(Debug, Default)]
pub struct Packer {
    bounder: Bounder,
    by_birth: ByBirth,
    greedy: Greedy,
    in_order: InOrder,
    /// Offsets of units.
    offsets: Vec<u64>,
}

impl Packer {
    /// As [`pack()`].
    pub fn pack(&mut self, problem: &Problem, strategy: Strategy) -> Packing {
        let mut packing = Packing::default();
        self.pack_into(problem, strategy, &mut packing);
        packing
    }

    /// As [`pack()`], into a packing whose memory is used again.
    pub fn pack_into(&mut self, problem: &Problem, strategy: Strategy, packing: &mut Packing) {
        let offsets = &mut self.offsets;
        match strategy {
            Strategy::Naive => naive(problem, offsets),
            Strategy::GreedyBySize => {
                let order = self.greedy.by_size(problem);
                self.in_order.place(problem, order, Fit::Best, offsets);
            }
            Strategy::GreedyByBreadth => {
                let order = self.greedy.by_breadth(problem);
                self.in_order.place(problem, order, Fit::Best, offsets);
            }
            Strategy::FirstFitByBirth => {
                self.by_birth
                    .place(problem, Fit::First, &mut self.in_order, offsets)
            }
            Strategy::BestFitByBirth => self
                .by_birth
                .place(problem, Fit::Best, &mut self.in_order, offsets),
            Strategy::Auto => return self.auto(problem, packing),
        }
        let units = problem.units.iter().zip(&self.offsets);
        packing.height = Bytes(units.map(|(unit, &offset)| offset + unit.size).max().unwrap_or(0));
        packing.offsets.clear();
        packing.offsets.resize(problem.items().len(), Bytes::ZERO);
        for (unit, &offset) in problem.units.iter().zip(&self.offsets) {
            for &item in unit.members.of(&problem.members) {
                packing.offsets[item as usize] = Bytes(offset);
            }
        }
    }

    /// As [`lower_bound`](super::lower_bound()).
    pub fn lower_bound(&mut self, problem: &Problem) -> Bytes {
        self.bounder.lower_bound(problem)
    }

    fn auto(&mut self, problem: &Problem, packing: &mut Packing) {
        let bound = self.lower_bound(problem);
        self.pack_into(problem, Strategy::FirstFitByBirth, packing);
        let rest = [
            Strategy::BestFitByBirth,
            Strategy::GreedyBySize,
            Strategy::GreedyByBreadth,
        ];
        let mut other = Packing::default();
        for strategy in rest {
            if packing.height == bound {
                return;
            }
            self.pack_into(problem, strategy, &mut other);
            if other.height < packing.height {
                std::mem::swap(packing, &mut other);
            }
        }
    }
}

/// Every unit above the one before; fixed units stay where they are and the others go above them.
fn naive(problem: &Problem, offsets: &mut Vec<u64>) {
    let fixed = problem
        .units
        .iter()
        .filter_map(|unit| Some(unit.fixed? + unit.size));
    let mut cursor = fixed.max().unwrap_or(0);
    offsets.clear();
    offsets.extend(problem.units.iter().map(|unit| {
        unit.fixed.unwrap_or_else(|| {
            let offset = gap::align_up(cursor, unit.alignment).expect("the sum of a problem's sizes fits");
            cursor = offset + unit.size;
            offset
        })
    }));
}
