//! The cheap placement rules: each places the units in a certain order, in the lowest or the smallest gap.

use super::Problem;
use super::birth::ByBirth;
use super::gap::{FitPolicy, ROOM, align_up};
use super::greedy::Greedy;
use super::in_order::InOrder;
use super::orders::{Conflicts, by_area};
use crate::lists::refill;

/// The order in which units are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Birth,
    Size,
    Breadth,
    Area,
    Conflicts,
}

/// An order, and the kind of gap that each unit takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule(pub(super) Order, pub(super) FitPolicy);

impl Rule {
    pub(super) const FIRST_FIT_BY_BIRTH: Rule = Rule(Order::Birth, FitPolicy::First);
    pub(super) const BEST_FIT_BY_BIRTH: Rule = Rule(Order::Birth, FitPolicy::Best);
    pub(super) const GREEDY_BY_SIZE: Rule = Rule(Order::Size, FitPolicy::Best);
    pub(super) const FIRST_FIT_BY_SIZE: Rule = Rule(Order::Size, FitPolicy::First);
    pub(super) const GREEDY_BY_BREADTH: Rule = Rule(Order::Breadth, FitPolicy::Best);
    pub(super) const GREEDY_BY_AREA: Rule = Rule(Order::Area, FitPolicy::First);
    pub(super) const GREEDY_BY_CONFLICTS: Rule = Rule(Order::Conflicts, FitPolicy::Best);

    /// Returns the name of the strategy that runs this rule.
    pub(super) fn name(self) -> &'static str {
        match (self.0, self.1) {
            (Order::Birth, FitPolicy::First) => "first-fit-by-birth",
            (Order::Birth, FitPolicy::Best) => "best-fit-by-birth",
            (Order::Size, FitPolicy::First) => "first-fit-by-size",
            (Order::Size, FitPolicy::Best) => "greedy-by-size",
            (Order::Breadth, _) => "greedy-by-breadth",
            (Order::Area, _) => "greedy-by-area",
            (Order::Conflicts, _) => "greedy-by-conflicts",
        }
    }
}

/// The rules that take microseconds, from the fastest to the slowest.
pub(super) const QUICK_RULES: [Rule; 4] = [
    Rule::FIRST_FIT_BY_BIRTH,
    Rule::BEST_FIT_BY_BIRTH,
    Rule::GREEDY_BY_SIZE,
    Rule::GREEDY_BY_BREADTH,
];

/// Maximum number of units at which all rules are fast, so that the rules that reach the lower bound most often run first. Measured on 2,000 problems of 16
/// random items: `by size` reaches it in 62 %, `by birth` in 25 %; the median of `quick` falls from 2.6 µs to 1.8 µs.
pub(super) const MAX_FEW_UNITS: usize = 64;
/// The cheap rules in the order in which they run if there are at most [`MAX_FEW_UNITS`] units.
pub(super) const CHEAP_RULES_FOR_FEW: [Rule; 7] = [
    Rule::GREEDY_BY_SIZE,
    Rule::GREEDY_BY_BREADTH,
    Rule::FIRST_FIT_BY_BIRTH,
    Rule::BEST_FIT_BY_BIRTH,
    Rule::GREEDY_BY_CONFLICTS,
    Rule::GREEDY_BY_AREA,
    Rule::FIRST_FIT_BY_SIZE,
];

/// The scratch memory of rules, and the result of the last one.
#[derive(Debug, Default)]
pub(super) struct Rules {
    by_birth: ByBirth,
    greedy: Greedy,
    pub(super) in_order: InOrder,
    pub(super) conflicts: Conflicts,
    pub(super) order: Vec<u32>,
    /// Offsets of units.
    pub(super) offsets: Vec<u64>,
    /// The offsets of the rule with the lowest height so far.
    lowest: Vec<u64>,
}

impl Rules {
    /// Runs a rule and writes the offsets of units.
    pub(super) fn run(&mut self, problem: &Problem, Rule(order, fit): Rule) {
        let offsets = &mut self.offsets;
        let order = match order {
            Order::Birth => return self.by_birth.place(problem, fit, &mut self.in_order, offsets),
            Order::Size => self.greedy.by_size(problem),
            Order::Breadth => self.greedy.by_breadth(problem),
            Order::Area => {
                by_area(problem, &mut self.order);
                &self.order
            }
            Order::Conflicts => {
                self.conflicts.order(problem, &mut self.order);
                &self.order
            }
        };
        self.in_order.place(problem, order, fit, offsets);
    }

    /// Sorts units into `order`.
    pub(super) fn sort(&mut self, problem: &Problem, order: Order) {
        let sorted = match order {
            Order::Area => return by_area(problem, &mut self.order),
            Order::Conflicts => return self.conflicts.order(problem, &mut self.order),
            Order::Breadth => self.greedy.by_breadth(problem),
            Order::Birth => self.by_birth.order(problem),
            Order::Size => self.greedy.by_size(problem),
        };
        refill(&mut self.order, sorted.iter().copied());
    }

    /// Runs the quick rules until one reaches the lower bound `bound`; keeps the offsets of the lowest packing.
    pub(super) fn quick(&mut self, problem: &Problem, bound: u64) {
        let mut least = None;
        let few = problem.units.len() <= MAX_FEW_UNITS;
        let rules = if few {
            &CHEAP_RULES_FOR_FEW[..QUICK_RULES.len()]
        } else {
            &QUICK_RULES
        };
        for &rule in rules {
            self.run(problem, rule);
            let height = problem.height(&self.offsets);
            if least.is_none_or(|least| height < least) {
                least = Some(height);
                if height == bound {
                    return;
                }
                std::mem::swap(&mut self.lowest, &mut self.offsets);
            }
        }
        std::mem::swap(&mut self.lowest, &mut self.offsets);
    }

    /// Places every unit above the previous one; fixed units stay in place and the others go above them.
    pub(super) fn stack(&mut self, problem: &Problem) {
        let units = problem.units.iter();
        let fixed = units.filter_map(|unit| Some(unit.fixed? + unit.size));
        let mut cursor = fixed.max().unwrap_or(0);
        refill(
            &mut self.offsets,
            problem.units.iter().map(|unit| {
                unit.fixed.unwrap_or_else(|| {
                    let offset = align_up(cursor.max(unit.low), unit.alignment).expect(ROOM);
                    cursor = offset + unit.size;
                    offset
                })
            }),
        );
    }
}
