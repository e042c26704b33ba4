//! The choice by loads alone: column after column, every set of chosen lives that may still be best.
//!
//! Prices turn a choice's worth into the bound minus its *losses*, none negative: an item chosen below its price, an item left
//! out above it, a byte of a priced column that nobody takes. A state is the set of chosen items that live on; of equal sets the
//! one with the least loss stays, and whatever has lost more than is allowed goes. With good prices few states stay.

use super::prices::Arc;
use crate::units::Run;

/// An item of the choice.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub(super) arc: Arc,
    /// The columns in which it takes its size: all of the arc's unless it pauses.
    pub(super) columns: Run,
    /// Worth above the price of what it takes; scaled.
    pub(super) surplus: i128,
}

/// What a pass over the columns found.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    pub(super) loss: i128,
    /// Whether no choice has a smaller loss.
    pub(super) exact: bool,
    pub(super) taken: Vec<bool>,
}

/// A partial choice.
#[derive(Clone, Copy, Debug)]
struct State {
    load: u64,
    loss: i128,
    /// The decision before, and what was taken last.
    history: u32,
}

/// One chosen item and those before it.
#[derive(Clone, Copy, Debug)]
struct Taken {
    item: u32,
    before: u32,
}

const NOTHING: u32 = u32::MAX;

/// The memory of the passes.
#[derive(Debug, Default)]
pub(super) struct Choice {
    states: Vec<State>,
    /// Sets of slots, `words` for each state.
    sets: Vec<u64>,
    next_states: Vec<State>,
    next_sets: Vec<u64>,
    history: Vec<Taken>,
    order: Vec<u32>,
    pub(super) steps: u64,
}

impl Choice {
    /// The choice with the least loss, if it is at most `allowed`; at most `width` states are kept for each column.
    ///
    /// `pauses(item, column)` says whether an item takes nothing in a column between its first and its last.
    pub(super) fn pass(
        &mut self,
        items: &[Offer],
        prices: &[i128],
        capacity: u64,
        allowed: i128,
        width: usize,
        takes: impl Fn(u32, u32) -> bool,
    ) -> Option<Chosen> {
        let columns = prices.len();
        let (slots, slot_count) = slots(items, columns);
        let words = slot_count.div_ceil(64).max(1);
        self.states.clear();
        self.sets.clear();
        self.history.clear();
        self.states.push(State {
            load: 0,
            loss: 0,
            history: NOTHING,
        });
        self.sets.resize(words, 0);
        let mut by_first: Vec<u32> = (0..items.len() as u32).collect();
        by_first.sort_by_key(|&item| (items[item as usize].arc.first, item));
        let mut alive: Vec<u32> = Vec::new();
        let mut born = by_first.iter().copied().peekable();
        let mut exact = true;
        for column in 0..columns as u32 {
            // Deaths and pauses change the load; deaths also merge states.
            let mut merge = false;
            for &item in &alive {
                let arc = &items[item as usize].arc;
                let (was, is) = (takes(item, column - 1), arc.end > column && takes(item, column));
                if was == is && arc.end > column {
                    continue;
                }
                let (word, bit) = (slots[item as usize] / 64, 1u64 << (slots[item as usize] % 64));
                let ends = arc.end <= column;
                merge |= ends;
                for (index, state) in self.states.iter_mut().enumerate() {
                    let set = &mut self.sets[index * words + word];
                    if *set & bit != 0 {
                        if was && !is {
                            state.load -= arc.size;
                        } else if is && !was {
                            state.load += arc.size;
                        }
                        if ends {
                            *set &= !bit;
                        }
                    }
                }
            }
            alive.retain(|&item| items[item as usize].arc.end > column);
            // One that wakes again may be too much.
            self.retain(words, |state| state.load <= capacity);
            if merge {
                exact &= self.merge(words, width);
            }
            while let Some(item) = born.next_if(|&item| items[item as usize].arc.first == column) {
                alive.push(item);
                let option = &items[item as usize];
                let (word, bit) = (slots[item as usize] / 64, 1u64 << (slots[item as usize] % 64));
                let (without, with) = (option.surplus.max(0), (-option.surplus).max(0));
                let size = option.arc.size;
                self.next_states.clear();
                self.next_sets.clear();
                for (index, state) in self.states.iter().enumerate() {
                    let set = &self.sets[index * words..(index + 1) * words];
                    if state.loss + without <= allowed {
                        self.next_states.push(State {
                            loss: state.loss + without,
                            ..*state
                        });
                        self.next_sets.extend_from_slice(set);
                    }
                    if state.loss + with <= allowed && size <= capacity - state.load {
                        self.history.push(Taken {
                            item,
                            before: state.history,
                        });
                        self.next_states.push(State {
                            load: state.load + size,
                            loss: state.loss + with,
                            history: self.history.len() as u32 - 1,
                        });
                        let from = self.next_sets.len();
                        self.next_sets.extend_from_slice(set);
                        self.next_sets[from + word] |= bit;
                    }
                }
                std::mem::swap(&mut self.states, &mut self.next_states);
                std::mem::swap(&mut self.sets, &mut self.next_sets);
                if self.states.len() > 2 * width {
                    exact &= self.merge(words, width);
                }
            }
            let price = prices[column as usize];
            if price > 0 {
                for state in &mut self.states {
                    state.loss += price * i128::from(capacity - state.load);
                }
                self.retain(words, |state| state.loss <= allowed);
            }
            self.steps += 1 + self.states.len() as u64 / 4;
        }
        let best = self.states.iter().min_by_key(|state| state.loss)?;
        let mut taken = vec![false; items.len()];
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

    fn retain(&mut self, words: usize, keep: impl Fn(&State) -> bool) {
        let mut kept = 0;
        for index in 0..self.states.len() {
            if keep(&self.states[index]) {
                if kept != index {
                    self.states[kept] = self.states[index];
                    self.sets.copy_within(index * words..(index + 1) * words, kept * words);
                }
                kept += 1;
            }
        }
        self.states.truncate(kept);
        self.sets.truncate(kept * words);
    }

    /// Of states with equal sets keeps the one with the least loss, and of all the `width` with the least; says whether none
    /// was dropped for that.
    fn merge(&mut self, words: usize, width: usize) -> bool {
        let (states, sets) = (&self.states, &self.sets);
        let set = |index: u32| &sets[index as usize * words..(index as usize + 1) * words];
        self.order.clear();
        self.order.extend(0..states.len() as u32);
        let loss = |index: u32| states[index as usize].loss;
        self.order
            .sort_unstable_by(|&a, &b| set(a).cmp(set(b)).then(loss(a).cmp(&loss(b))).then(a.cmp(&b)));
        self.order.dedup_by(|b, a| set(*a) == set(*b));
        let complete = self.order.len() <= width;
        if !complete {
            self.order.sort_unstable_by_key(|&index| (loss(index), index));
            self.order.truncate(width);
        }
        self.next_states.clear();
        self.next_sets.clear();
        for &index in &self.order {
            self.next_states.push(states[index as usize]);
            self.next_sets.extend_from_slice(set(index));
        }
        std::mem::swap(&mut self.states, &mut self.next_states);
        std::mem::swap(&mut self.sets, &mut self.next_sets);
        complete
    }
}

/// A slot for each item that no other item has while both live, and the number of slots.
fn slots(items: &[Offer], columns: usize) -> (Vec<usize>, usize) {
    let mut slots = vec![0; items.len()];
    let mut ends: Vec<Vec<u32>> = vec![Vec::new(); columns + 1];
    let mut starts: Vec<Vec<u32>> = vec![Vec::new(); columns + 1];
    for (index, item) in items.iter().enumerate() {
        starts[item.arc.first as usize].push(index as u32);
        ends[item.arc.end as usize].push(index as u32);
    }
    let (mut free, mut count): (Vec<usize>, usize) = (Vec::new(), 0);
    for column in 0..=columns {
        free.extend(ends[column].iter().map(|&item| slots[item as usize]));
        for &item in &starts[column] {
            slots[item as usize] = free.pop().unwrap_or_else(|| {
                count += 1;
                count - 1
            });
        }
    }
    (slots, count)
}
