//! The built-in strategies: one table of names, descriptions and methods.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::answer::{Answer, ProgressCallback, Steps};
use super::rules::Rule;
use super::search_state::SearchState;
use super::strategy::{Goal, PackingStrategy};
use super::{Error, Packer, Packing, Problem, Result};

/// The implementation of a strategy.
enum Method {
    /// Computes the offsets of all units once, and stores them in the packer.
    Once(fn(&mut Packer, &Problem)),
    /// Improves offsets within a budget.
    Improve(fn(&mut Packer, &Problem, &mut SearchState<'_>)),
    /// Like `Improve`, and can prove that no packing fits within a capacity. `rules_first` runs the cheap rules before the search.
    Prove { rules_first: bool },
}

/// The table entry of one strategy.
struct Entry {
    name: &'static str,
    description: &'static str,
    method: Method,
}

macro_rules! strategies {
    ($($(#[doc = $doc:literal])+ $(@$default:ident)? $variant:ident $name:literal $method:expr;)*) => {
        /// A built-in strategy.
        ///
        /// ```
        /// use tileheap_pack::{Item, Problem, Strategy, check, pack};
        /// use tileheap_pack::units::{Alignment, Bytes, Span};
        /// # let item = |first, end, size| Item::new(Span::new(first, end), Bytes(size), Alignment::ONE);
        /// # let items = vec![item(0, 3, 4), item(0, 3, 3), item(3, 9, 7)]; // those drawn in the crate's documentation
        ///
        /// let problem = Problem::new(items)?;
        /// for strategy in Strategy::ALL {
        ///     let packing = pack(&problem, strategy);
        ///     check(&problem, &packing)?;
        ///     println!("{}: {}", strategy.name(), packing.height);
        /// }
        /// assert_eq!(pack(&problem, "naive".parse::<Strategy>()?).height, Bytes(14)); // nothing shares bytes
        /// assert_eq!(pack(&problem, Strategy::Auto).height, Bytes(7));
        /// # Ok::<(), tileheap_pack::Error>(())
        /// ```
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum Strategy {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $(#[$default])? $variant,)*
        }

        impl Strategy {
            /// Every built-in strategy, the cheapest first.
            pub const ALL: [Strategy; TABLE.len()] = [$(Strategy::$variant),*];
        }

        /// The strategies' entries, parallel to [`Strategy::ALL`].
        const TABLE: [Entry; [$($name),*].len()] = [$(Entry {
            name: $name,
            description: concat!($($doc),+),
            method: $method,
        }),*];
    };
}

strategies! {
    /// Nothing shares bytes: the memory needed without aliasing.
    Naive "naive" Method::Once(|packer, problem| packer.rules.stack(problem));
    /// Largest first, each in the smallest gap that holds it.
    GreedyBySize "greedy-by-size" Method::Once(|packer, problem| packer.rules.run(problem, Rule::GREEDY_BY_SIZE));
    /// Largest first, each in the lowest gap.
    FirstFitBySize "first-fit-by-size" Method::Once(|packer, problem| packer.rules.run(problem, Rule::FIRST_FIT_BY_SIZE));
    /// The step with the most live bytes first; among its items, the largest first, each in the smallest gap.
    GreedyByBreadth "greedy-by-breadth" Method::Once(|packer, problem| packer.rules.run(problem, Rule::GREEDY_BY_BREADTH));
    /// In order of first use, each in the lowest gap.
    FirstFitByBirth "first-fit-by-birth" Method::Once(|packer, problem| packer.rules.run(problem, Rule::FIRST_FIT_BY_BIRTH));
    /// In order of first use, each in the smallest gap.
    BestFitByBirth "best-fit-by-birth" Method::Once(|packer, problem| packer.rules.run(problem, Rule::BEST_FIT_BY_BIRTH));
    /// Largest product of size and lifetime first, each in the lowest gap.
    GreedyByArea "greedy-by-area" Method::Once(|packer, problem| packer.rules.run(problem, Rule::GREEDY_BY_AREA));
    /// The item with the most conflicts first, each in the smallest gap.
    GreedyByConflicts "greedy-by-conflicts" Method::Once(|packer, problem| packer.rules.run(problem, Rule::GREEDY_BY_CONFLICTS));
    /// Hill climbing: swaps items in the order of placement, and keeps swaps that do not raise the peak.
    HillClimb "hill-climb" Method::Improve(Packer::climb_from_size);
    /// Merges items that exactly fill a rectangle of time and bytes, and searches the reduced problem.
    Glue "glue" Method::Improve(Packer::search_glued);
    /// Exact search, without the cheap rules first.
    Exact "exact" Method::Prove { rules_first: false };
    /// Runs greedy-by-size, greedy-by-breadth, first-fit-by-birth and best-fit-by-birth until one reaches the lower bound, for planners with a budget of microseconds.
    Quick "quick" Method::Once(|packer, problem| {
        let bound = packer.lower_bound(problem).0;
        packer.rules.quick(problem, bound);
    });
    /// Runs the cheap rules until one reaches the lower bound; if none does, searches for a lower packing, or a proof that none exists.
    @default Auto "auto" Method::Prove { rules_first: true };
}

impl Strategy {
    /// Returns the strategy's name, as in JSON and on the command line.
    pub const fn name(self) -> &'static str {
        TABLE[self as usize].name
    }

    /// Describes the strategy in one sentence.
    pub fn description(self) -> &'static str {
        TABLE[self as usize].description.trim_start()
    }

    /// Runs the strategy, and writes the best offsets found to `search`.
    fn run(self, packer: &mut Packer, problem: &Problem, search: &mut SearchState<'_>) {
        search.method = Some(self.name());
        match TABLE[self as usize].method {
            Method::Once(run) => {
                run(packer, problem);
                search.keep(problem, &packer.rules.offsets);
            }
            Method::Improve(improve) => improve(packer, problem, search),
            Method::Prove { rules_first } => packer.minimize_exactly(problem, rules_first, search),
        }
    }
}

impl PackingStrategy for Strategy {
    fn name(&self) -> &str {
        Strategy::name(*self)
    }

    fn description(&self) -> &str {
        Strategy::description(*self)
    }

    fn pack_into(&self, problem: &Problem, packer: &mut Packer, packing: &mut Packing) {
        match TABLE[*self as usize].method {
            Method::Once(run) => run(packer, problem),
            _ => packer.improve(problem, |packer, search| self.run(packer, problem, search)),
        }
        packing.set(problem, &packer.rules.offsets);
    }

    fn search_into(
        &self,
        problem: &Problem,
        (goal, budget): (Goal, Steps),
        watch: ProgressCallback<'_>,
        packer: &mut Packer,
        answer: &mut Answer,
    ) {
        packer.answer(problem, (goal, budget), watch, answer, |packer, search| {
            match TABLE[*self as usize].method {
                Method::Prove { rules_first } if goal == Goal::Within => {
                    return packer.prove_within(problem, rules_first, search);
                }
                _ => self.run(packer, problem, search),
            }
            false
        });
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Strategy {
    type Err = Error;

    fn from_str(name: &str) -> Result<Strategy> {
        let found = Strategy::ALL.into_iter().find(|strategy| strategy.name() == name);
        found.ok_or_else(|| {
            Error::UnknownStrategy(name.to_owned(), Strategy::ALL.map(Strategy::name).join(", "))
        })
    }
}
