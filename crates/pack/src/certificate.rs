//! Certificates: proofs that no packing is lower, as data that can be verified without the searches.
//!
//! ```text
//! 0 1        [0, 1] branches: 0 is below 1 (the next entry), or 1 is below 0 (the last two). The known order raises the lowest
//! ├─ end     offsets of items and lowers their highest ones. A branch ends when the items live at one step do not fit
//! └─ 0 2     between their lowest and highest offsets. If the load alone exceeds the limit, the tree is a single end.
//!    ├─ end
//!    └─ end
//! ```

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};
use tileheap_units::CompactSort;

use super::{CertificateError, Item, Problem, Result};
use crate::units::{Bytes, Span};

/// A proof of a lower bound on the height of every packing: see [`certify`](super::certify()) and [`check_certificate`].
///
/// It proves that a packing that ends one byte above [`above`](Certificate::above) is the lowest, and that no capacity up to there is large enough.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// Every packing that respects the bounds on offsets ends above this; if this is 2^64 - 1, none exists.
    pub above: Bytes,
    /// The indices of items that cannot all be packed up to the height `above`, even without the other items.
    pub items: Vec<u32>,
    /// A tree in preorder. `Some` branches on two items: first with the first below the second, then the other way around. `None` ends a branch.
    pub branches: Vec<Option<(u32, u32)>>,
}

/// Maximum number of items that branches can order; sets of items are bit masks.
const MAX_BODIES: usize = 128;

/// Verifies a certificate against the problem; it shares no code with the searches.
///
/// Complexity: a few passes for each branch, seldom more than there are items; a pass compares every item with every set of items that are live at
/// one step.
///
/// # Errors
/// The first [`CertificateError`].
pub fn check_certificate(problem: &Problem, certificate: &Certificate) -> Result<()> {
    Ok(judge(problem, certificate)?)
}

fn judge(problem: &Problem, certificate: &Certificate) -> Result<(), CertificateError> {
    let (above, branches) = (certificate.above, &certificate.branches);
    let (task, root) = OrderTask::new(problem, &certificate.items, above)?;
    if branches.len() > 1 && task.bodies.len() > MAX_BODIES {
        return Err(CertificateError::TooManyItems(task.bodies.len()));
    }
    let mut open = vec![root];
    for (number, branch) in branches.iter().enumerate() {
        let mut orders = open.pop().ok_or(CertificateError::ExtraBranches(number))?;
        let is_end = task.excludes(&mut orders);
        if let Some((a, b)) = *branch {
            let body = |item| {
                task.body_of(item)
                    .ok_or(CertificateError::UnlistedItem(number, item))
            };
            let (first, second) = (body(a)?, body(b)?);
            if !task.in_conflict(first, second) {
                return Err(CertificateError::MayShare(number, a, b));
            }
            open.extend([orders.with(second, first), orders.with(first, second)]);
        } else if !is_end {
            return Err(CertificateError::OpenLeaf(number, above));
        }
    }
    match open.is_empty() {
        true => Ok(()),
        false => Err(CertificateError::MissingBranches(branches.len())),
    }
}

/// A listed item of a certificate, or all its listed items of one group, which share an offset.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) items: Vec<u32>,
    size: u64,
    alignment: u64,
    spans: Vec<Span>,
}

/// The listed items as bodies, and the sets of bodies that must not share bytes. Decides whether bodies in a given order can be packed up to a limit.
#[derive(Debug)]
pub(super) struct OrderTask {
    pub(super) bodies: Vec<Body>,
    /// Sets of bodies that pairwise must not share bytes.
    cliques: Vec<Vec<usize>>,
}

/// The known order of bodies at a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Orders {
    /// The lowest and the highest offset of each body.
    windows: Vec<(u64, u64)>,
    /// For each body, a mask of the bodies below it; empty if there are more than [`MAX_BODIES`].
    below: Vec<u128>,
}

impl OrderTask {
    /// Returns the task and the orders implied before any branching. `listed` may be any of a problem's items: leaving out items, or members of a group,
    /// never makes a packable set unpackable.
    pub(super) fn new(
        problem: &Problem,
        listed: &[u32],
        limit: Bytes,
    ) -> Result<(OrderTask, Orders), CertificateError> {
        let items = problem.items();
        let mut lists: Vec<Vec<u32>> = Vec::new();
        let mut body_of = vec![None; items.len()];
        for &index in listed {
            let body_of = body_of
                .get_mut(index as usize)
                .ok_or(CertificateError::UnknownItem(index))?;
            let group = |&item: &u32| items[item as usize].together;
            let own =
                group(&index).and_then(|own| lists.iter().position(|list| group(&list[0]) == Some(own)));
            let place = own.unwrap_or(lists.len());
            if body_of.replace(place).is_some() {
                return Err(CertificateError::DuplicateItem(index));
            }
            lists.resize(lists.len().max(place + 1), Vec::new());
            lists[place].push(index);
        }
        let (bodies, windows): (Vec<Body>, Vec<(u64, u64)>) =
            lists.into_iter().map(|list| body(items, list, limit)).unzip();
        let mut cliques = cliques(&bodies);
        let pairs = problem
            .conflicts()
            .iter()
            .filter_map(|&(a, b)| Some([body_of[a as usize]?, body_of[b as usize]?]));
        let pairs = pairs.filter(|pair| pair.iter().all(|&body| bodies[body].size > 0));
        cliques.extend(pairs.map(Vec::from));
        let ordered = Some(bodies.len()).filter(|&count| count <= MAX_BODIES);
        let below = vec![0; ordered.unwrap_or(0)];
        Ok((OrderTask { bodies, cliques }, Orders { windows, below }))
    }

    /// Returns the body of a listed item.
    fn body_of(&self, item: u32) -> Option<usize> {
        self.bodies.iter().position(|body| body.items.contains(&item))
    }

    /// Returns true if two bodies must not share bytes.
    fn in_conflict(&self, a: usize, b: usize) -> bool {
        let mut cliques = self.cliques.iter();
        a != b && cliques.any(|clique| clique.contains(&a) && clique.contains(&b))
    }

    /// Propagates the known order to a fixed point; returns true if no packing remains.
    pub(super) fn excludes(&self, orders: &mut Orders) -> bool {
        let is_empty = |orders: &Orders| orders.windows.iter().any(|&(low, high)| low > high);
        // Terminates: each pass orders at least one more pair, or settles the support of one more body, and no body is below itself.
        loop {
            let before = orders.clone();
            if is_empty(orders) || self.cliques.iter().any(|clique| self.overflows(orders, clique)) {
                return true;
            }
            for body in 0..orders.below.len() {
                self.tighten_windows(orders, body);
                if is_empty(orders) || orders.below[body] & 1 << body != 0 {
                    return true;
                }
            }
            for (a, b) in self.undecided(&before) {
                for (first, second) in [(a, b), (b, a)] {
                    if self.slack(orders, first, second) < 0 {
                        *orders = orders.with(second, first);
                    }
                }
            }
            if before == *orders {
                return false;
            }
        }
    }

    /// Iterates over pairs that must not share bytes and whose order is not known, some of them repeatedly.
    pub(super) fn undecided(&self, orders: &Orders) -> impl Iterator<Item = (usize, usize)> {
        let cliques = self.cliques.iter().filter(|_| !orders.below.is_empty());
        let pairs = cliques.flat_map(|clique| {
            let after = |place| clique[place + 1..].iter();
            (0..clique.len()).flat_map(move |place| after(place).map(move |&b| (clique[place], b)))
        });
        pairs.filter(|&(a, b)| orders.below[b] & 1 << a == 0 && orders.below[a] & 1 << b == 0)
    }

    /// Returns how far the second body can still move up if it is above the first; negative if it cannot be above the first.
    pub(super) fn slack(&self, orders: &Orders, first: usize, second: usize) -> i128 {
        let end = i128::from(orders.windows[first].0) + i128::from(self.bodies[first].size);
        i128::from(orders.windows[second].1) - end
    }

    /// Returns true if, for some offset, the bodies of a clique that must end at or below this offset do not fit below it.
    fn overflows(&self, orders: &Orders, clique: &[usize]) -> bool {
        let padded = self.padded(orders, clique.iter().copied(), 0);
        let mut ends: Vec<u64> = padded.iter().map(|padded| padded.end).collect();
        ends.compact_sort();
        ends.dedup();
        let inside = |last: u64| padded.iter().filter(move |padded| padded.end <= last);
        ends.into_iter().any(|last| top(inside(last)) > last)
    }

    /// Raises the lowest offset of a body above the bodies below it, and lowers its highest offset under those above it.
    fn tighten_windows(&self, orders: &mut Orders, body: usize) {
        let Body { size, alignment, .. } = self.bodies[body];
        let (mut low, mut high) = orders.windows[body];
        for clique in &self.cliques {
            let is_below = |&other: &usize| orders.below[body] & 1 << other != 0;
            let is_above = |&other: &usize| orders.below[other] & 1 << body != 0;
            let below = self.padded(orders, clique.iter().copied().filter(is_below), alignment);
            let mut above = self.padded(orders, clique.iter().copied().filter(is_above), alignment);
            let end = top(&below).checked_next_multiple_of(alignment);
            low = low.max(end.unwrap_or(u64::MAX));
            above.compact_sort_by_key(|padded| Reverse(padded.end));
            let bottom = above.iter().fold(u64::MAX, |bottom, padded| {
                bottom.min(padded.end).saturating_sub(padded.size)
            });
            match bottom.checked_sub(size) {
                Some(last) => high = high.min(last - last % alignment),
                None => low = u64::MAX, // No offset is below the ground.
            }
        }
        orders.windows[body] = (low, high);
    }

    /// Returns bodies in ascending order of lowest offset, with sizes rounded up to the greatest common divisor of all alignments, since no body can
    /// start in the padding.
    fn padded(
        &self,
        orders: &Orders,
        bodies: impl Iterator<Item = usize> + Clone,
        alignment: u64,
    ) -> Vec<Padded> {
        let alignments = bodies.clone().map(|body| self.bodies[body].alignment);
        let common = alignments.fold(alignment, divisor);
        let padded = bodies.map(|body| {
            let (low, high) = orders.windows[body];
            let size = self.bodies[body]
                .size
                .checked_next_multiple_of(common)
                .unwrap_or(u64::MAX);
            let end = high.saturating_add(size);
            Padded { low, size, end }
        });
        let mut padded: Vec<Padded> = padded.collect();
        padded.compact_sort_by_key(|padded| padded.low);
        padded
    }
}

impl Orders {
    /// Returns the orders with `first` and everything below it placed below `second` and everything above it.
    pub(super) fn with(&self, first: usize, second: usize) -> Orders {
        let mut orders = self.clone();
        let lower = self.below[first] | 1 << first;
        for (body, below) in orders.below.iter_mut().enumerate() {
            if body == second || *below & 1 << second != 0 {
                *below |= lower;
            }
        }
        orders
    }
}

/// The padded size, lowest offset and highest end of a body.
struct Padded {
    low: u64,
    size: u64,
    end: u64,
}

/// Returns the lowest possible end of bodies of one clique, given in ascending order of lowest offset.
fn top<'a>(bodies: impl IntoIterator<Item = &'a Padded>) -> u64 {
    let bodies = bodies.into_iter();
    bodies.fold(0, |top, body| top.max(body.low).saturating_add(body.size))
}

/// Returns the greatest common divisor.
fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// Makes a body of items that share an offset, with its lowest and its highest offset within a limit.
fn body(all: &[Item], items: Vec<u32>, limit: Bytes) -> (Body, (u64, u64)) {
    let of = || items.iter().map(|&item| &all[item as usize]);
    let size = of().map(|item| item.size.0).max().unwrap_or(0);
    let alignment = of().fold(1, |lcm, item| {
        let of = item.alignment.get();
        lcm / divisor(lcm, of) * of
    });
    let lowest = of()
        .map(|item| item.fixed.unwrap_or_default().max(item.lowest).0)
        .max();
    let highest = of()
        .flat_map(|item| item.fixed.into_iter().chain(item.highest))
        .min();
    let low = lowest.unwrap_or(0).checked_next_multiple_of(alignment);
    let high = limit
        .0
        .checked_sub(size)
        .map(|last| last.min(highest.map_or(last, |highest| highest.0)));
    let spans = of()
        .map(|item| item.span)
        .filter(|span| !span.is_empty())
        .collect();
    // The window is empty if no offset is valid.
    let window = low
        .zip(high)
        .map_or((1, 0), |(low, high)| (low, high - high % alignment));
    (
        Body {
            items,
            size,
            alignment,
            spans,
        },
        window,
    )
}

/// Returns the maximal sets of bodies that take bytes at the same step.
fn cliques(bodies: &[Body]) -> Vec<Vec<usize>> {
    let taking = || bodies.iter().enumerate().filter(|(_, body)| body.size > 0);
    let mut spans: Vec<Span> = taking()
        .flat_map(|(_, body)| body.spans.iter().copied())
        .collect();
    spans.compact_sort();
    let mut ends: Vec<_> = spans.iter().map(|span| span.end).collect();
    ends.compact_sort();
    let mut steps: Vec<_> = spans.iter().map(|span| span.first).collect();
    // If nothing ends before the next begins, the live set there is larger.
    steps.reverse();
    steps.dedup_by_key(|step| ends.partition_point(|end| end <= step));
    let live = |step| {
        let live = taking().filter(|(_, body)| body.spans.iter().any(|span| span.contains(step)));
        live.map(|(index, _)| index).collect()
    };
    steps.into_iter().map(live).collect()
}
