//! The search for a certificate: first the items that cannot be packed together, then branches on their order.

use super::answer::{Answer, Progress, ProgressCallback, Steps};
use super::certificate::{Certificate, OrderTask};
use super::{Problem, Strategy, fit, lower_bound};
use crate::units::Bytes;

/// Number of pairs of items that count as one step at each branch.
const PAIRS_PER_STEP: usize = 256;

/// Looks for a certificate of an answer: a proof that no packing is lower than its bound, or that no packing fits its capacity.
///
/// The searches have shorter proofs than branches on the order of items. If branching exceeds the budget, the certificate only covers
/// [`lower_bound`](super::lower_bound()), which shows in its [`above`](Certificate::above). Returns `None` if the bound is 0 bytes.
///
/// ```
/// use std::ops::ControlFlow;
/// use tileheap_pack::{Item, Problem, Steps, Strategy, certify, check_certificate, minimize};
/// use tileheap_pack::units::{Alignment, Bytes, Span};
/// # let item = |first, end, size| Item::new(Span::new(first, end), Bytes(size), Alignment::ONE);
/// # let items = vec![item(0, 3, 4), item(0, 3, 3), item(3, 9, 7)]; // those drawn in the crate's documentation
///
/// let problem = Problem::new(items)?;
/// let answer = minimize(&problem, Strategy::Auto, Steps::default(), &mut |_| ControlFlow::Continue(()));
/// let certificate = certify(&problem, &answer, Steps::default(), &mut |_| ControlFlow::Continue(()));
/// let certificate = certificate.expect("the bound is not 0");
/// check_certificate(&problem, &certificate)?;
/// assert_eq!((certificate.above, certificate.items), (Bytes(6), vec![2]));
/// # Ok::<(), tileheap_pack::Error>(())
/// ```
pub fn certify(
    problem: &Problem,
    answer: &Answer,
    budget: Steps,
    watch: ProgressCallback<'_>,
) -> Option<Certificate> {
    let below = |bound: Bytes| bound.0.checked_sub(1).map(Bytes);
    let above = match &answer.conflict {
        Some(_) => problem.capacity().or(Some(Bytes(u64::MAX))),
        None if answer.is_impossible() => Some(Bytes(u64::MAX)),
        None => below(answer.bound),
    };
    let known = answer.conflict.as_ref().map(|conflict| &conflict.items);
    let mut find = |above: Bytes, known: Option<&Vec<u32>>| {
        let items = known
            .cloned()
            .or_else(|| infeasible_items(problem, above, budget, watch))?;
        branch_on_orders(problem, above, items, budget, watch)
    };
    let found = above.and_then(|above| find(above, known));
    found.or_else(|| find(below(lower_bound(problem))?, None))
}

/// Finds items that cannot all be packed up to a limit.
fn infeasible_items(
    problem: &Problem,
    limit: Bytes,
    budget: Steps,
    watch: ProgressCallback<'_>,
) -> Option<Vec<u32>> {
    // A capacity of 2^64 - 1 means no capacity, and without one the search never proves that no packing exists.
    let capacity = limit.min(Bytes(u64::MAX - 1));
    let desc = problem.clone().into_desc().capacity(capacity);
    let problem = desc.build().expect("a valid problem allows any capacity");
    let answer = fit(&problem, Strategy::Auto, budget, watch);
    answer.conflict.map(|conflict| conflict.items)
}

/// Branches on the order of items until every branch is ruled out; `None` if the budget runs out first.
fn branch_on_orders(
    problem: &Problem,
    above: Bytes,
    items: Vec<u32>,
    budget: Steps,
    watch: ProgressCallback<'_>,
) -> Option<Certificate> {
    let (task, root) = OrderTask::new(problem, &items, above).ok()?;
    let price = 1 + (task.bodies.len().pow(2) / PAIRS_PER_STEP) as u64;
    let (mut branches, mut open) = (Vec::new(), vec![root]);
    while let Some(mut orders) = open.pop() {
        if task.excludes(&mut orders) {
            branches.push(None);
            continue;
        }
        let steps = Steps(price * branches.len() as u64);
        let (best, bound) = (None, above.0);
        if steps >= budget || watch(Progress { steps, best, bound }).is_break() {
            return None;
        }
        let room = |&(a, b): &(usize, usize)| task.slack(&orders, a, b) + task.slack(&orders, b, a);
        let (a, b) = task.undecided(&orders).min_by_key(room)?;
        branches.push(Some((task.bodies[a].items[0], task.bodies[b].items[0])));
        open.extend([orders.with(b, a), orders.with(a, b)]);
    }
    Some(Certificate {
        above,
        items,
        branches,
    })
}
