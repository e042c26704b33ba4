//! The choice by loads: a dynamic program that goes column by column, and keeps the sets of chosen items that may still be best, up to a maximum number.
//!
//! Prices turn a choice's weight into the bound minus its *losses*, none negative: an item chosen below its price, an item left out above its price,
//! an unused byte of a priced column. A state records how many bytes of the chosen items stay live, and until when. Of equal states the one with the
//! least loss is kept; states that another one beats in weight and at every later step, and states that lost more than allowed, are dropped. With
//! good prices few states remain.

use super::prices::Arc;
use crate::lists::refill;
use crate::units::CompactSort;

/// An item that can be chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CandidateItem {
    pub(crate) arc: Arc,
    /// The item's weight minus the price of its bytes; scaled.
    pub(crate) surplus: i128,
}

/// The result of a pass over the columns.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) loss: i128,
    /// True if no choice has a smaller loss.
    pub(crate) exact: bool,
    pub(crate) taken: Vec<bool>,
}

/// A partial choice.
#[derive(Clone, Copy, Debug)]
struct State {
    load: u64,
    loss: i128,
    weight: i128,
    /// The item that was taken last, by its index in the history; [`NOTHING`] if there is none.
    history: u32,
}

/// A chosen item, linked to those before it.
#[derive(Clone, Copy, Debug)]
struct ChosenItem {
    item: u32,
    before: u32,
}

const NOTHING: u32 = u32::MAX;
/// Maximum number of states, the best ones, that every other state is compared with.
const MAX_COMPARED_STATES: usize = 250;

/// The scratch memory of passes.
#[derive(Debug, Default)]
pub(crate) struct LoadSearch {
    states: Vec<State>,
    /// For each state, the bytes of each class of chosen items; the live items of a class end at the same column.
    bytes: Vec<u64>,
    next_states: Vec<State>,
    next_bytes: Vec<u64>,
    history: Vec<ChosenItem>,
    order: Vec<u32>,
    /// Classes in descending order of their ends.
    late_first: Vec<usize>,
    words: u64,
    pub(crate) steps: u64,
    /// True if the last pass kept every state that could be best.
    pub(crate) is_complete: bool,
}

/// Words of states processed per step.
const WORDS_PER_STEP: u64 = 1000;

impl LoadSearch {
    /// Returns the number of states per column that a budget of steps allows, but at least 16 and at most 2,000.
    pub(crate) fn width(offers: &[CandidateItem], columns: usize, budget: u64) -> usize {
        let (_, classes) = classes(offers, columns);
        let words = offers.len().max(1) as u64 * (classes as u64 + 16);
        (budget.saturating_mul(WORDS_PER_STEP) / words).clamp(16, 2000) as usize
    }

    /// Searches for the choice with the least loss, which must be at most `allowed`. Keeps about `width` states for each column, so that the result is not
    /// always the best: see [`Chosen::exact`].
    ///
    /// `column_loss` returns the loss of a column at a load, and the part of it that is a cost, which is subtracted from the weight. Cost never falls
    /// as the load grows. `None` means no loss at any load.
    pub(crate) fn pass(
        &mut self,
        offers: &[CandidateItem],
        (columns, capacity): (usize, u64),
        column_loss: impl Fn(usize, u64) -> Option<(i128, i128)>,
        allowed: i128,
        width: usize,
    ) -> Option<Chosen> {
        let (class_of, classes) = classes(offers, columns);
        let mut deaths: Vec<u32> = vec![0; classes];
        self.states.clear();
        self.bytes.clear();
        self.history.clear();
        self.states.push(State {
            load: 0,
            loss: 0,
            weight: 0,
            history: NOTHING,
        });
        self.bytes.resize(classes, 0);
        let mut by_first: Vec<u32> = (0..offers.len() as u32).collect();
        by_first.compact_sort_by_key(|&item| (offers[item as usize].arc.first, item));
        let mut born = by_first.iter().copied().peekable();
        let mut exact = true;
        for column in 0..columns as u32 {
            let mut died = false;
            for class in (0..classes).filter(|&class| deaths[class] == column) {
                died = true;
                for (index, state) in self.states.iter_mut().enumerate() {
                    state.load -= std::mem::take(&mut self.bytes[index * classes + class]);
                }
            }
            if died {
                exact &= self.merge(classes, &deaths, column, width);
            }
            while let Some(item) = born.next_if(|&item| offers[item as usize].arc.first == column) {
                let class = class_of[item as usize];
                deaths[class] = offers[item as usize].arc.end;
                let offer = &offers[item as usize];
                self.offer(item, offer, (class, classes), capacity, allowed);
                if self.states.len() > 2 * width {
                    exact &= self.merge(classes, &deaths, column, width);
                }
            }
            if column_loss(column as usize, 0).is_some() {
                for state in &mut self.states {
                    let (loss, cost) = column_loss(column as usize, state.load).unwrap_or_default();
                    state.loss += loss;
                    state.weight -= cost;
                }
                self.retain(classes, |state| state.loss <= allowed);
            }
            self.steps += 1;
        }
        self.steps += std::mem::take(&mut self.words) / WORDS_PER_STEP;
        self.is_complete = exact;
        let best = self.states.iter().min_by_key(|state| state.loss)?;
        let mut taken = vec![false; offers.len()];
        let mut at = best.history;
        while at != NOTHING {
            let step = self.history[at as usize];
            taken[step.item as usize] = true;
            at = step.before;
        }
        Some(Chosen {
            loss: best.loss,
            exact,
            taken,
        })
    }

    /// Continues every state without the item, and also with the item if it fits; drops states whose loss exceeds `allowed`.
    fn offer(
        &mut self,
        item: u32,
        offer: &CandidateItem,
        (class, classes): (usize, usize),
        capacity: u64,
        allowed: i128,
    ) {
        self.words += (self.states.len() * (classes + 16)) as u64;
        let (without, with) = (offer.surplus.max(0), (-offer.surplus).max(0));
        let size = offer.arc.size;
        self.next_states.clear();
        self.next_bytes.clear();
        for (index, state) in self.states.iter().enumerate() {
            let bytes = &self.bytes[index * classes..(index + 1) * classes];
            let fits = size <= capacity - state.load;
            if state.loss + without <= allowed {
                self.next_states.push(State {
                    loss: state.loss + without,
                    ..*state
                });
                self.next_bytes.extend_from_slice(bytes);
            }
            if state.loss + with <= allowed && fits {
                self.history.push(ChosenItem {
                    item,
                    before: state.history,
                });
                self.next_states.push(State {
                    load: state.load + size,
                    loss: state.loss + with,
                    weight: state.weight + offer.arc.weight,
                    history: self.history.len() as u32 - 1,
                });
                let from = self.next_bytes.len();
                self.next_bytes.extend_from_slice(bytes);
                self.next_bytes[from + class] += size;
            }
        }
        std::mem::swap(&mut self.states, &mut self.next_states);
        std::mem::swap(&mut self.bytes, &mut self.next_bytes);
    }

    fn retain(&mut self, classes: usize, keep: impl Fn(&State) -> bool) {
        let mut kept = 0;
        for index in 0..self.states.len() {
            if keep(&self.states[index]) {
                if kept != index {
                    self.states[kept] = self.states[index];
                    self.bytes
                        .copy_within(index * classes..(index + 1) * classes, kept * classes);
                }
                kept += 1;
            }
        }
        self.states.truncate(kept);
        self.bytes.truncate(kept * classes);
    }

    /// Keeps the state with the least loss among equal ones, drops dominated states, and keeps at most `width` of the rest, those with the least loss; returns
    /// true if no state had to be dropped because of `width`.
    fn merge(&mut self, classes: usize, deaths: &[u32], column: u32, width: usize) -> bool {
        let (states, bytes) = (&self.states, &self.bytes);
        let of = |index: u32| &bytes[index as usize * classes..(index as usize + 1) * classes];
        let state = |index: u32| &states[index as usize];
        refill(&mut self.order, 0..states.len() as u32);
        self.order.compact_sort_by(|&a, &b| {
            let equal = state(a).load.cmp(&state(b).load).then_with(|| of(a).cmp(of(b)));
            equal.then(state(a).loss.cmp(&state(b).loss)).then(a.cmp(&b))
        });
        self.order
            .dedup_by(|b, a| state(*a).load == state(*b).load && of(*a) == of(*b));
        self.order
            .compact_sort_by_key(|&index| (state(index).loss, index));
        refill(
            &mut self.late_first,
            (0..classes).filter(|&class| deaths[class] > column),
        );
        self.late_first
            .compact_sort_by_key(|&class| std::cmp::Reverse(deaths[class]));
        let late_first = &self.late_first;
        let beats = |judge: u32, other: u32| {
            if state(judge).weight < state(other).weight || state(judge).load > state(other).load {
                return false;
            }
            let (mut mine, mut others) = (0u64, 0u64);
            late_first.iter().all(|&class| {
                mine += of(judge)[class];
                others += of(other)[class];
                mine <= others
            })
        };
        self.next_states.clear();
        self.next_bytes.clear();
        let mut compared: [u32; MAX_COMPARED_STATES] = [0; MAX_COMPARED_STATES];
        let mut complete = true;
        for &index in &self.order {
            let kept = self.next_states.len();
            let mut comparing = compared[..kept.min(MAX_COMPARED_STATES)].iter();
            if comparing.any(|&judge| beats(judge, index)) {
                continue;
            }
            if kept == width {
                complete = false;
                break;
            }
            if kept < MAX_COMPARED_STATES {
                compared[kept] = index;
            }
            self.next_states.push(states[index as usize]);
            self.next_bytes.extend_from_slice(of(index));
        }
        std::mem::swap(&mut self.states, &mut self.next_states);
        std::mem::swap(&mut self.bytes, &mut self.next_bytes);
        complete
    }
}

/// Returns a function that computes the loss of a column at a given load: the price of its unused bytes. The result is `None` for a column without a price.
pub(crate) fn unused(prices: &[i128], capacity: u64) -> impl Fn(usize, u64) -> Option<(i128, i128)> {
    move |column, load| {
        let price = prices[column];
        (price > 0).then(|| (price * i128::from(capacity - load), 0))
    }
}

/// Assigns a class to each item, shared only by items that end at the same column or do not overlap; returns the classes and their number.
fn classes(offers: &[CandidateItem], columns: usize) -> (Vec<usize>, usize) {
    // The first column of the items that end at each column.
    let mut births: Vec<u32> = vec![u32::MAX; columns + 1];
    for offer in offers {
        let birth = &mut births[offer.arc.end as usize];
        *birth = (*birth).min(offer.arc.first);
    }
    let mut starts: Vec<(u32, u32)> = births.into_iter().zip(0..).collect();
    starts.retain(|&(birth, _)| birth != u32::MAX);
    starts.compact_sort();
    let mut class_of_end = vec![0; columns + 1];
    let (mut free, mut count): (Vec<usize>, usize) = (Vec::new(), 0);
    let mut alive = std::collections::BTreeSet::new();
    for (first, end) in starts {
        while let Some(&gone) = alive.first().filter(|&&end: &&u32| end <= first) {
            alive.pop_first();
            free.push(class_of_end[gone as usize]);
        }
        class_of_end[end as usize] = free.pop().unwrap_or_else(|| {
            count += 1;
            count - 1
        });
        alive.insert(end);
    }
    let class_of = offers.iter().map(|offer| class_of_end[offer.arc.end as usize]);
    (class_of.collect(), count)
}
