//! The search for a certificate: the items that cannot be packed together, and then branches on their order.

use super::answer::{Answer, Progress, Steps, Watch};
use super::certificate::{Certificate, MOST, OrderTask, Orders};
use super::{Packer, Problem, Strategy};
use crate::units::Bytes;

/// Bodies in cliques that count for a step.
const PLACES_PER_STEP: usize = 256;

/// Looks for a certificate of an answer: of its bound, or of the capacity that it proves to be too small.
///
/// The searches have shorter proofs than branches on the order of items. Where these take more than the budget, the certificate
/// is one of [`lower_bound`](super::lower_bound()) alone, which its [`above`](Certificate::above) tells. `None` if that is 0 bytes.
///
/// ```
/// use std::ops::ControlFlow;
/// use tileheap_pack::{Item, Problem, Steps, Strategy, certify, check_certificate, minimise};
/// use tileheap_pack::units::{Alignment, Bytes, Span};
/// # let item = |first, end, size| Item::new(Span::new(first, end), Bytes(size), Alignment::ONE);
/// # let items = vec![item(0, 3, 4), item(0, 3, 3), item(3, 9, 7)]; // those drawn in the crate's documentation
///
/// let problem = Problem::new(items)?;
/// let answer = minimise(&problem, Strategy::Auto, Steps::default(), &mut |_| ControlFlow::Continue(()));
/// let certificate = certify(&problem, &answer, Steps::default(), &mut |_| ControlFlow::Continue(()));
/// let certificate = certificate.expect("the bound is not 0");
/// check_certificate(&problem, &certificate)?;
/// assert_eq!((certificate.above, certificate.items), (Bytes(6), vec![2]));
/// # Ok::<(), tileheap_pack::Error>(())
/// ```
pub fn certify(problem: &Problem, answer: &Answer, budget: Steps, watch: Watch<'_>) -> Option<Certificate> {
    Packer::default().certify(problem, answer, budget, watch)
}

impl Packer {
    /// As [`certify()`].
    pub fn certify(
        &mut self,
        problem: &Problem,
        answer: &Answer,
        budget: Steps,
        watch: Watch<'_>,
    ) -> Option<Certificate> {
        let below = |bound: Bytes| bound.0.checked_sub(1).map(Bytes);
        let least = below(self.lower_bound(problem));
        let above = match &answer.conflict {
            Some(_) => Some(problem.capacity().unwrap_or(Bytes(u64::MAX))),
            None if answer.is_impossible() => Some(Bytes(u64::MAX)),
            None => below(answer.bound),
        };
        let known = answer.conflict.as_ref().map(|conflict| conflict.items.clone());
        let found = above.and_then(|above| {
            let items = known.or_else(|| self.too_many(problem, above, budget, watch))?;
            order(problem, above, items, budget, watch)
        });
        found.or_else(|| {
            let items = self.too_many(problem, least?, budget, watch)?;
            order(problem, least?, items, budget, watch)
        })
    }

    /// Items that cannot be packed up to a limit.
    fn too_many(
        &mut self,
        problem: &Problem,
        limit: Bytes,
        budget: Steps,
        watch: Watch<'_>,
    ) -> Option<Vec<u32>> {
        // A capacity of 2^64 - 1 is none, and without one only packings are proved.
        let capacity = limit.min(Bytes(u64::MAX - 1));
        let desc = problem.clone().into_desc().capacity(capacity);
        let problem = desc.build().expect("the problem is valid, and any capacity is");
        let answer = self.fit(&problem, Strategy::Auto, budget, watch);
        answer.conflict.map(|conflict| conflict.items)
    }
}

/// Branches on the order of items until all branches end.
fn order(
    problem: &Problem,
    above: Bytes,
    items: Vec<u32>,
    budget: Steps,
    watch: Watch<'_>,
) -> Option<Certificate> {
    let task = OrderTask::new(problem, &items, above).ok()?;
    let mut search = OrderSearch {
        price: 1 + (task.places() / PLACES_PER_STEP) as u64,
        task: &task,
        branches: Vec::new(),
        left: budget.0,
        watch,
        bound: above.0,
    };
    search
        .descend(task.root())
        .then_some(search.branches)
        .map(|branches| Certificate {
            above,
            items,
            branches,
        })
}

/// A tree that grows.
struct OrderSearch<'a, 'b> {
    task: &'a OrderTask,
    branches: Vec<Option<(u32, u32)>>,
    /// Steps that a branch counts for, and those left.
    price: u64,
    left: u64,
    watch: Watch<'b>,
    bound: u64,
}

impl OrderSearch<'_, '_> {
    /// Returns whether all branches below ended.
    fn descend(&mut self, mut orders: Orders) -> bool {
        if self.task.excludes(&mut orders) {
            self.branches.push(None);
            return true;
        }
        let steps = Steps(self.price * self.branches.len() as u64);
        let progress = Progress {
            steps,
            best: None,
            bound: self.bound,
        };
        if steps.0 >= self.left || (self.watch)(progress).is_break() || self.task.bodies.len() > MOST {
            return false;
        }
        let Some((a, b)) = self.next_pair(&orders) else {
            return false;
        };
        let name = |body: usize| self.task.bodies[body].items[0];
        self.branches.push(Some((name(a), name(b))));
        self.descend(orders.with(a, b)) && self.descend(orders.with(b, a))
    }
    /// The pair that has the least room in whichever order.
    fn next_pair(&self, orders: &Orders) -> Option<(usize, usize)> {
        let pairs = self.task.undecided(orders).map(|(a, b)| {
            let (up, down) = (self.task.slack(orders, a, b), self.task.slack(orders, b, a));
            // The tighter order first: it is the one to end soon.
            if up <= down {
                (up + down, a, b)
            } else {
                (up + down, b, a)
            }
        });
        pairs.min().map(|(_, a, b)| (a, b))
    }
}
