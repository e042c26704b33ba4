//! The least cost of one pass, given what fits in the tile heap at once.
//!
//! ```text
//! heap 8 MiB       light, in n strips, writes hdr 8 and bloom 8: n = 1 moves 8, n = 2 moves nothing, and repeats light once
//! ```
//! Everything on chip in the pass has to fit: whole resources in each strip, and the parts of divided ones in all strips together. Whatever is on chip as
//! a whole, or in parts, determines the number of strips, each of which but the first repeats the pass. Strips that hold a resource for its whole
//! lifetime also repeat all other passes that use it.

use tileheap_units::CompactSort;

/// A resource that a pass uses, or keeps for later passes.
#[derive(Clone, Debug, Default)]
pub(super) struct Use {
    /// Size as a whole; `None` if the resource is on chip in strips only.
    pub(super) whole_size: Option<u64>,
    /// True if it may be on chip as a whole for its whole lifetime.
    pub(super) is_lasting: bool,
    /// Minimum total size of its strips; `None` if no strips of the pass may hold it.
    pub(super) divided_size: Option<u64>,
    /// The passes that strips repeat if they hold it between copies at their borders, as bits like those of `run`.
    pub(super) part_run: u64,
    /// True if the strips of the pass may hold it between copies at their borders.
    pub(super) is_part: bool,
    /// Minimum total size of its strips if it is an attachment of the pass: strips divide all attachments of a pass, or none.
    pub(super) attached_size: Option<u64>,
    /// The passes that strips repeat if they hold it for its whole lifetime, as bits of the passes that the strips of this pass may repeat; `None` if no
    /// strips hold it for so long.
    pub(super) run: Option<u64>,
    /// Bytes that move if it is off chip in the pass.
    pub(super) accessed: u64,
    /// Bytes that move unless it is on chip for its whole lifetime.
    pub(super) lifetime: u64,
}

/// State of a resource in a pass: off chip, or on chip for part or all of its lifetime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    OffChip,
    /// On chip in the pass, but not for its whole lifetime.
    InPart,
    /// On chip for its whole lifetime, but not the parts that the pass renders to.
    WithoutParts,
    /// On chip for its whole lifetime.
    ForLifetime,
}

/// A choice of what is on chip in a pass, and its cost.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fit {
    /// Lower bound on the sum of the bytes that move and the cost of repeats.
    pub(super) cost: u64,
    /// Per use, where it is.
    pub(super) held: Vec<Held>,
    /// Number of times that each repeated pass runs again.
    pub(super) repeat_count: u64,
    /// The repeated passes, as bits.
    pub(super) repeated: u64,
}

/// Maximum number of choices tried for one pass; beyond it, the bound may be lower than the least cost.
const MAX_CHOICES: u32 = 3_000;

struct Choices<'a> {
    heap: u64,
    /// Uses in the order in which they are tried, each with its index.
    uses: Vec<(usize, &'a Use)>,
    /// Cost of one more execution of each pass that may be repeated, the pass itself first.
    repeats: &'a [u64],
    /// True if the pass runs in two or more strips.
    in_strips: bool,
    /// True if strips divide the attachments of the pass.
    divides_attached: bool,
    held: Vec<Held>,
    best: Fit,
    choices_left: u32,
}

/// Tile memory used by the choices made so far, and their cost.
#[derive(Clone, Copy, Default)]
struct OnChip {
    whole: u64,
    divided: u64,
    repeated: u64,
    /// Bytes that move because something is off chip.
    moved: u64,
}

/// Returns the least cost of a pass. `repeats` has the cost of one more execution of the pass itself, and of other passes that the same
/// strips may repeat. `may_divide` is true if the pass may run in strips.
pub(super) fn least_cost(uses: &[Use], heap: u64, repeats: &[u64], may_divide: bool) -> Fit {
    let all: u64 = uses.iter().map(|one| one.accessed + one.lifetime).sum();
    let mut choices = Choices {
        heap,
        uses: uses.iter().enumerate().collect(),
        repeats,
        in_strips: false,
        divides_attached: false,
        held: vec![Held::OffChip; uses.len()],
        best: Fit {
            cost: all,
            held: vec![Held::OffChip; uses.len()],
            repeat_count: 0,
            repeated: 0,
        },
        choices_left: MAX_CHOICES,
    };
    let value = |one: &Use| u128::from(one.accessed) + u128::from(one.lifetime);
    choices.uses.retain(|(_, one)| value(one) > 0);
    // In descending order of savings per byte.
    choices.uses.compact_sort_by(|(_, a), (_, b)| {
        let size = |one: &Use| u128::from(one.whole_size.unwrap_or(u64::MAX).max(1));
        (value(b) * size(a)).cmp(&(value(a) * size(b)))
    });
    choices.add(0, OnChip::default());
    if may_divide {
        choices.in_strips = true;
        choices
            .uses
            .compact_sort_by(|(_, a), (_, b)| value(b).cmp(&value(a)));
        let itself = OnChip {
            repeated: 1,
            ..OnChip::default()
        };
        for divides_attached in [false, true] {
            choices.divides_attached = divides_attached;
            choices.choices_left = MAX_CHOICES;
            choices.add(0, itself);
        }
    }
    choices.best
}

impl Choices<'_> {
    /// Minimum number of repeats that make room for what is on chip; `None` if no number does.
    fn fewest_repeats(&self, on_chip: OnChip) -> Option<u64> {
        let room = self.heap.checked_sub(on_chip.whole)?;
        match (self.in_strips, on_chip.divided) {
            (false, 0) => Some(0),
            (true, 0) => Some(1),
            (true, divided) if room > 0 => Some(divided.div_ceil(room).max(2) - 1),
            _ => None,
        }
    }

    fn cost_of_repeats(&self, repeat_count: u64, repeated: u64) -> u64 {
        let bits = self.repeats.iter().enumerate();
        let bits = bits.filter(|(bit, _)| *bit < 64 && (repeated >> bit) & 1 == 1);
        let once: u64 = bits.map(|(_, cost)| *cost).sum();
        once.saturating_mul(repeat_count)
    }

    /// Lower bound on the bytes that the uses from `first` on move because they do not fit as a whole; a fraction of one use may count as fitting.
    fn moved_later(&self, first: usize, mut room: u64) -> u64 {
        let mut moved = 0;
        for (_, one) in &self.uses[first..] {
            let value = one.accessed + one.lifetime;
            let Some(size) = one.whole_size else {
                moved += value;
                continue;
            };
            if size > room {
                let fitting = (u128::from(value) * u128::from(room)).div_ceil(u128::from(size.max(1)));
                moved += value - (fitting as u64).min(value);
                room = 0;
            } else {
                room -= size;
            }
        }
        moved
    }

    /// Searches the choices for the uses from `first` on, given what the earlier uses keep on chip.
    fn add(&mut self, first: usize, on_chip: OnChip) {
        let Some(repeat_count) = self.fewest_repeats(on_chip) else {
            return;
        };
        let mut cost = on_chip.moved + self.cost_of_repeats(repeat_count, on_chip.repeated);
        if !self.in_strips {
            cost += self.moved_later(first, self.heap - on_chip.whole);
        }
        if cost >= self.best.cost {
            return;
        }
        if first == self.uses.len() || self.choices_left == 0 {
            self.best = Fit {
                cost,
                held: self.held.clone(),
                repeat_count,
                repeated: on_chip.repeated,
            };
            return;
        }
        self.choices_left -= 1;
        let (in_strips, divides_attached) = (self.in_strips, self.divides_attached);
        let (number, one) = self.uses[first];
        let mut hold = |held, next: OnChip| {
            self.held[number] = held;
            self.add(first + 1, next);
            self.held[number] = Held::OffChip;
        };
        if let Some(size) = one.whole_size {
            let next = OnChip {
                whole: on_chip.whole.saturating_add(size),
                ..on_chip
            };
            match one.attached_size.filter(|_| divides_attached) {
                _ if !one.is_lasting => {
                    let moved = on_chip.moved + one.lifetime;
                    hold(Held::InPart, OnChip { moved, ..next });
                }
                None => hold(Held::ForLifetime, next),
                // Strips copy their parts to the whole, which is on chip; the parts are as well, or move.
                Some(parts) => {
                    let divided = on_chip.divided.saturating_add(parts);
                    hold(Held::ForLifetime, OnChip { divided, ..next });
                    if one.accessed > 0 {
                        let moved = on_chip.moved + one.accessed;
                        hold(Held::WithoutParts, OnChip { moved, ..next });
                    }
                }
            }
        }
        let is_divided = in_strips && (divides_attached || one.attached_size.is_none());
        if let Some(size) = one.divided_size.filter(|_| is_divided) {
            let next = OnChip {
                divided: on_chip.divided.saturating_add(size),
                ..on_chip
            };
            if let Some(run) = one.run {
                let repeated = on_chip.repeated | run;
                hold(Held::ForLifetime, OnChip { repeated, ..next });
            }
            if one.accessed > 0 && one.is_part {
                let (repeated, moved) = (on_chip.repeated | one.part_run, on_chip.moved + one.lifetime);
                hold(
                    Held::InPart,
                    OnChip {
                        repeated,
                        moved,
                        ..next
                    },
                );
            }
        }
        let moved = on_chip.moved + one.accessed + one.lifetime;
        hold(Held::OffChip, OnChip { moved, ..on_chip });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(uses: &[Use], repeats: &[u64], may_divide: bool) -> u64 {
        let fit = least_cost(uses, 10, repeats, may_divide);
        assert_eq!(fit.held.len(), uses.len());
        fit.cost
    }

    #[test]
    fn what_fits_best_is_found() {
        let uses = |sizes: &[(u64, u64)]| {
            let of = |&(size, accessed): &(u64, u64)| Use {
                whole_size: Some(size),
                accessed,
                ..Use::default()
            };
            sizes.iter().map(of).collect::<Vec<_>>()
        };
        let least = |sizes: &[(u64, u64)]| cost(&uses(sizes), &[], false);
        assert_eq!(least(&[(6, 7), (5, 5), (5, 5)]), 7);
        assert_eq!(least(&[(6, 6), (6, 6)]), 6);
        assert_eq!(least(&[(11, 60), (4, 2)]), 60);
        assert_eq!(least(&[]), 0);
        // Too many choices: no more than what does not fit.
        let many: Vec<(u64, u64)> = (0..60).map(|at| (101 + at % 7, 101 + at % 7)).collect();
        let all: u64 = many.iter().map(|one| one.1).sum();
        let most = all - least_cost(&uses(&many), 1000, &[], false).cost;
        assert!((909..=1000).contains(&most), "{most}");
    }

    /// Three divided resources of 6 bytes in a heap of 10 bytes: two strips have room for 20 bytes, of which they need 18, at the cost of one repeat;
    /// a resource that is on chip as a whole takes up its room in each strip.
    #[test]
    fn more_strips_hold_more_at_a_cost() {
        let one = |size, accessed, divided| Use {
            whole_size: Some(size),
            divided_size: divided,
            is_part: true,
            accessed,
            ..Use::default()
        };
        let divided = vec![one(6, 12, Some(6)); 3];
        // Unless repeats cost more than what does not fit, which moves.
        let costs = [0, 5, 24, 1000].map(|repeat| cost(&divided, &[repeat], true));
        assert_eq!(costs, [0, 5, 24, 24]);
        assert_eq!(cost(&divided, &[0], false), 24);
        // Of 10 bytes, 4 are left for the parts: at least 5 strips, or one resource fewer in 3 strips.
        let with_whole = [&divided[..], &[one(6, 100, None)]].concat();
        let costs = [0, 2, 5, 10, 1000].map(|repeat| cost(&with_whole, &[repeat], true));
        assert_eq!(costs, [0, 8, 20, 32, 36]);
        // A resource that is too large in any number of strips moves.
        let too_large = [&divided[..], &[one(11, 7, None)]].concat();
        assert_eq!([0, 5].map(|repeat| cost(&too_large, &[repeat], true)), [7, 12]);
    }

    /// A resource of 20 bytes in a heap of 10 bytes: two strips hold it for its whole lifetime and repeat another pass as well, or hold it in this
    /// pass only.
    #[test]
    fn strips_repeat_all_passes_of_a_lifetime() {
        let one = Use {
            divided_size: Some(20),
            run: Some(0b11),
            lifetime: 30,
            ..Use::default()
        };
        assert_eq!(cost(std::slice::from_ref(&one), &[1, 5], true), 6);
        assert_eq!(cost(std::slice::from_ref(&one), &[10, 25], true), 30);
        let read = Use {
            accessed: 8,
            is_part: true,
            ..one
        };
        let fit = |repeats: [u64; 2]| least_cost(std::slice::from_ref(&read), 10, &repeats, true);
        assert_eq!((fit([1, 50]).cost, fit([1, 50]).held[0]), (31, Held::InPart));
        assert_eq!((fit([10, 50]).cost, fit([10, 50]).held[0]), (38, Held::OffChip));
        assert_eq!((fit([1, 5]).repeated, fit([1, 5]).repeat_count), (0b11, 1));
    }

    /// Two resources of 8 bytes in a heap of 10 bytes, one of which strips cannot hold for its whole lifetime.
    #[test]
    fn attachments_are_divided_together() {
        let one = Use {
            whole_size: Some(8),
            is_lasting: true,
            divided_size: Some(8),
            run: Some(1),
            is_part: true,
            lifetime: 20,
            accessed: 5,
            ..Use::default()
        };
        let other = Use {
            run: None,
            ..one.clone()
        };
        // In four strips, one is whole, the other divided.
        let both = [one, other];
        assert_eq!(cost(&both, &[1], true), 3);
        // In eight strips, which hold parts of both; with costly repeats, a part of the whole one moves, or its lifetime is lost.
        let attached = [0, 1].map(|at| Use {
            attached_size: Some(8),
            ..both[at].clone()
        });
        assert_eq!(
            [1, 2, 10].map(|repeat| cost(&attached, &[repeat], true)),
            [7, 11, 25]
        );
    }
}
