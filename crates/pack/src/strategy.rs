//! The trait of packing strategies, and functions that run one.

use std::fmt;

use super::answer::{Answer, ProgressCallback, Steps};
use super::{Packer, Packing, Problem};

/// A rule that finds an offset for every item: a [built-in one](super::Strategy), or your own.
///
/// ```
/// use tileheap_pack::{FitPolicy, Item, Packer, Packing, PackingStrategy, Problem, check, pack};
/// use tileheap_pack::units::{Alignment, Bytes, Span};
/// # let item = |first, end, size| Item::new(Span::new(first, end), Bytes(size), Alignment::ONE);
/// # let items = vec![item(0, 3, 4), item(0, 3, 3), item(3, 9, 7)]; // those drawn in the crate's documentation
///
/// /// The longest lifetime first, each item at the lowest offset that is free.
/// #[derive(Debug)]
/// struct LongestFirst;
///
/// impl PackingStrategy for LongestFirst {
///     fn name(&self) -> &str {
///         "longest-first"
///     }
///
///     fn pack_into(&self, problem: &Problem, packer: &mut Packer, packing: &mut Packing) {
///         let mut order: Vec<u32> = (0..problem.items().len() as u32).collect();
///         order.sort_by_key(|&item| std::cmp::Reverse(problem.items()[item as usize].span.len()));
///         packer.place_in_order(problem, &order, FitPolicy::First, packing);
///     }
/// }
///
/// let problem = Problem::new(items)?;
/// let packing = pack(&problem, LongestFirst);
/// check(&problem, &packing)?;
/// assert_eq!(packing.height, Bytes(7));
/// # Ok::<(), tileheap_pack::Error>(())
/// ```
pub trait PackingStrategy: fmt::Debug + Send + Sync {
    /// Returns the strategy's name, as on the command line: lowercase words joined by hyphens.
    fn name(&self) -> &str;

    /// Describes the strategy in one sentence.
    fn description(&self) -> &str {
        ""
    }

    /// Replaces the contents of `packing` with an offset for every item. `packer` provides scratch memory and the built-in rules.
    ///
    /// The packing must pass [`check`](super::check()); it may exceed the capacity and highest offsets of items, see [`Packing::fits`].
    fn pack_into(&self, problem: &Problem, packer: &mut Packer, packing: &mut Packing);

    /// Searches like [`minimize`] or [`fit`]. A strategy that can use a budget overrides this; by default the strategy runs once.
    fn search_into(
        &self,
        problem: &Problem,
        (goal, budget): (Goal, Steps),
        watch: ProgressCallback<'_>,
        packer: &mut Packer,
        answer: &mut Answer,
    ) {
        packer.answer(problem, (goal, budget), watch, answer, |packer, search| {
            let mut packing = std::mem::take(&mut packer.spare);
            self.pack_into(problem, packer, &mut packing);
            packing.write_units(problem, &mut packer.rules.offsets);
            packer.spare = packing;
            search.keep(problem, &packer.rules.offsets);
            false
        });
    }
}

/// The goal of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The lowest packing; the capacity is ignored.
    Lowest,
    /// A packing within the capacity, or a proof that none exists.
    Within,
}

impl<S: PackingStrategy + ?Sized> PackingStrategy for &S {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn description(&self) -> &str {
        (**self).description()
    }

    fn pack_into(&self, problem: &Problem, packer: &mut Packer, packing: &mut Packing) {
        (**self).pack_into(problem, packer, packing);
    }

    fn search_into(
        &self,
        problem: &Problem,
        search: (Goal, Steps),
        watch: ProgressCallback<'_>,
        packer: &mut Packer,
        answer: &mut Answer,
    ) {
        (**self).search_into(problem, search, watch, packer, answer);
    }
}

/// Finds an offset for every item.
///
/// The capacity is ignored: compare the height with it, or see [`Packing::fits`].
pub fn pack(problem: &Problem, strategy: impl PackingStrategy) -> Packing {
    Packer::default().pack(problem, strategy)
}

/// Finds a packing as low as possible within a budget, and a lower bound on the height; the capacity is ignored.
///
/// [`Strategy::Auto`](super::Strategy::Auto) uses every method; `Exact` only runs the exact search, `HillClimb` only climbs from first fit by size,
/// and the other strategies run once. The same problem, strategy and budget give the same answer on every machine, unless `watch` interrupts.
///
/// ```
/// use std::ops::ControlFlow;
/// use tileheap_pack::{Item, Problem, Steps, Strategy, Verdict, minimize};
/// use tileheap_pack::units::{Alignment, Bytes, Span};
/// # let item = |first, end, size| Item::new(Span::new(first, end), Bytes(size), Alignment::ONE);
/// # let items = vec![item(0, 3, 4), item(0, 3, 3), item(3, 9, 7)]; // those drawn in the crate's documentation
///
/// let problem = Problem::new(items)?;
/// // The callback sees the search's progress, and may end it.
/// let answer = minimize(&problem, Strategy::Auto, Steps(10_000), &mut |_| ControlFlow::Continue(()));
/// assert_eq!(answer.verdict, Verdict::Proved);
/// assert_eq!(answer.gap(), Some(Bytes(0)));
/// # Ok::<(), tileheap_pack::Error>(())
/// ```
pub fn minimize(
    problem: &Problem,
    strategy: impl PackingStrategy,
    budget: Steps,
    watch: ProgressCallback<'_>,
) -> Answer {
    Packer::default().minimize(problem, strategy, budget, watch)
}

/// Looks for a packing within the problem's capacity (within 64 bits if there is none) and all bounds on offsets.
///
/// The answer is proved if it contains a packing, or if no packing exists. In the latter case it names items that cannot be packed together: the fewest
/// items live at one step that exceed the capacity, if there are any; otherwise the smallest infeasible subset found by leaving items out in several orders.
///
/// ```
/// use std::ops::ControlFlow;
/// use tileheap_pack::{Item, ProblemDesc, Steps, Strategy, fit};
/// use tileheap_pack::units::{Alignment, Bytes, Span};
/// # let item = |first, end, size| Item::new(Span::new(first, end), Bytes(size), Alignment::ONE);
/// # let items = vec![item(0, 3, 4), item(0, 3, 3), item(3, 9, 7)]; // those drawn in the crate's documentation
///
/// let problem = ProblemDesc::new(items).capacity(Bytes(6)).build()?;
/// let answer = fit(&problem, Strategy::Auto, Steps::default(), &mut |_| ControlFlow::Continue(()));
/// assert!(answer.is_impossible());
/// assert_eq!(answer.conflict.expect("a reason").items, [2]); // that one alone takes 7 bytes
/// # Ok::<(), tileheap_pack::Error>(())
/// ```
pub fn fit(
    problem: &Problem,
    strategy: impl PackingStrategy,
    budget: Steps,
    watch: ProgressCallback<'_>,
) -> Answer {
    Packer::default().fit(problem, strategy, budget, watch)
}

/// Functions that reuse the packer's memory; [`PackingStrategy`]'s own functions also reuse that of the answer.
impl Packer {
    /// Same as [`pack()`].
    pub fn pack(&mut self, problem: &Problem, strategy: impl PackingStrategy) -> Packing {
        let mut packing = Packing::default();
        strategy.pack_into(problem, self, &mut packing);
        packing
    }

    /// Same as [`minimize()`].
    pub fn minimize(
        &mut self,
        problem: &Problem,
        strategy: impl PackingStrategy,
        budget: Steps,
        watch: ProgressCallback<'_>,
    ) -> Answer {
        let mut answer = Answer::default();
        strategy.search_into(problem, (Goal::Lowest, budget), watch, self, &mut answer);
        answer
    }

    /// Same as [`fit()`].
    pub fn fit(
        &mut self,
        problem: &Problem,
        strategy: impl PackingStrategy,
        budget: Steps,
        watch: ProgressCallback<'_>,
    ) -> Answer {
        let mut answer = Answer::default();
        strategy.search_into(problem, (Goal::Within, budget), watch, self, &mut answer);
        answer
    }
}
