//! The scratch memory of strategies and searches.

use super::bound::Bounder;
use super::climb::Climb;
use super::exact::Exact;
use super::gap::FitPolicy;
use super::infeasible::InfeasibleSubset;
use super::large::Large;
use super::parts::Parts;
use super::rules::Rules;
use super::select::Selector;
use super::small::Small;
use super::{Packing, Problem};
use crate::units::Bytes;

/// Strategies with reusable scratch memory: after the first problems, built-in strategies allocate only their answer, and the `…_into`
/// functions nothing. Exceptions are [`select`](super::select()), [`Strategy::Glue`](super::Strategy::Glue) if most steps are full, and strategies on
/// a thousand items or more.
///
/// ```
/// use tileheap_pack::{Item, Packer, Packing, PackingStrategy, Problem, Strategy};
/// use tileheap_pack::units::{Alignment, Bytes, Span};
/// # let item = |first, end, size| Item::new(Span::new(first, end), Bytes(size), Alignment::ONE);
/// # let items = vec![item(0, 3, 4), item(0, 3, 3), item(3, 9, 7)]; // those drawn in the crate's documentation
///
/// let (mut packer, mut packing) = (Packer::default(), Packing::default());
/// let problem = Problem::new(items)?; // a new one every frame
/// Strategy::Quick.pack_into(&problem, &mut packer, &mut packing);
/// assert_eq!(packing.height, packer.lower_bound(&problem));
/// # Ok::<(), tileheap_pack::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Packer {
    bounder: Bounder,
    pub(super) rules: Rules,
    pub(super) climb: Climb,
    pub(super) exact: Exact,
    pub(super) selector: Selector,
    pub(super) small: Small,
    pub(super) large: Large,
    pub(super) parts: Parts,
    /// The packer for parts that are packed separately.
    pub(super) part_packer: Option<Box<Packer>>,
    pub(super) infeasible_subset: InfeasibleSubset,
    /// Memory of an unused packing.
    pub(super) spare: Packing,
    /// The best offsets of units found by the last search.
    pub(super) best: Vec<u64>,
    /// The best offsets of units before a search that ignores them.
    pub(super) kept: Vec<u64>,
}

impl Packer {
    /// Like [`lower_bound`](super::lower_bound()).
    pub fn lower_bound(&mut self, problem: &Problem) -> Bytes {
        self.bounder.lower_bound(problem)
    }

    /// Places fixed items, then those with a highest offset, then the rest. Each set is placed in the sequence of `order`, each item in the lowest or
    /// the smallest gap, as `fit` says. Most strategies only choose such an order.
    ///
    /// A group is placed when its first member is named; items that are not named come last.
    ///
    /// # Panics
    /// If `order` names an item that the problem does not have.
    pub fn place_in_order(
        &mut self,
        problem: &Problem,
        order: &[u32],
        fit: FitPolicy,
        packing: &mut Packing,
    ) {
        let unit_of = problem.unit_of_items();
        let mut units: Vec<u32> = order.iter().map(|&item| unit_of[item as usize]).collect();
        units.extend(0..problem.units.len() as u32);
        let Rules {
            in_order, offsets, ..
        } = &mut self.rules;
        in_order.place(problem, &units, fit, offsets);
        packing.set(problem, offsets);
    }
}
