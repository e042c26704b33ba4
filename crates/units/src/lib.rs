#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod hash;
mod random;
mod reach;
mod sort;

use std::fmt;
use std::num::NonZeroU64;

pub use hash::{GOLDEN, IdHasher, IdMap, IdSet, spread};
pub use random::SplitMix64;
pub use reach::ReadReach;
use serde::{Deserialize, Serialize};
pub use sort::CompactSort;

/// A number of bytes: a size or an offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[repr(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// No bytes.
    pub const ZERO: Bytes = Bytes(0);

    /// `n` KiB (1024 bytes each).
    pub const fn kib(n: u64) -> Bytes {
        Bytes(n * 1024)
    }

    /// `n` MiB (1,048,576 bytes each).
    pub const fn mib(n: u64) -> Bytes {
        Bytes(n * 1024 * 1024)
    }

    /// The smallest multiple of `alignment` that is at least `self`, or `None` past `u64::MAX`.
    pub const fn checked_align_up(self, alignment: Alignment) -> Option<Bytes> {
        let alignment = alignment.get();
        let rest = self.0 % alignment;
        if rest == 0 {
            return Some(self);
        }
        match self.0.checked_add(alignment - rest) {
            Some(aligned) => Some(Bytes(aligned)),
            None => None,
        }
    }

    /// The smallest multiple of `alignment` that is at least `self`.
    ///
    /// # Panics
    /// Past `u64::MAX`.
    pub const fn align_up(self, alignment: Alignment) -> Bytes {
        match self.checked_align_up(alignment) {
            Some(aligned) => aligned,
            None => panic!("an aligned offset fits in 64 bits"),
        }
    }

    /// The size in the largest unit that does not exceed it, rounded to a tenth.
    fn in_units(self) -> String {
        const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
        let Some((name, unit)) = UNITS.into_iter().find(|(_, unit)| self.0 >= *unit) else {
            return format!("{} B", self.0);
        };
        // In 128 bits, since ten times a size may not fit in 64.
        let tenths = (u128::from(self.0) * 10 + u128::from(unit) / 2) / u128::from(unit);
        match (tenths / 10, tenths % 10) {
            (whole, 0) => format!("{whole} {name}"),
            (whole, tenth) => format!("{whole}.{tenth} {name}"),
        }
    }

    /// Returns true if `self` is a multiple of `alignment`.
    pub const fn is_aligned(self, alignment: Alignment) -> bool {
        self.0 % alignment.get() == 0
    }
}

impl std::ops::Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl std::ops::AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl std::ops::Sub for Bytes {
    type Output = Bytes;
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}

/// Saturates, since sums may include numbers from documents.
impl std::iter::Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(iter: I) -> Bytes {
        Bytes(iter.fold(0, |all, bytes| all.saturating_add(bytes.0)))
    }
}

/// Prints the exact number with digits in groups of three; `{:#}` rounds it to a tenth of a unit.
///
/// ```
/// # use tileheap_units::Bytes;
/// assert_eq!(Bytes(3_956_736).to_string(), "3,956,736 B");
/// assert_eq!(format!("{:#}", Bytes(3_956_736)), "3.8 MiB");
/// ```
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return f.pad(&self.in_units());
        }
        let digits = self.0.to_string();
        let mut text = String::with_capacity(digits.len() * 4 / 3 + 2);
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index) % 3 == 0 {
                text.push(',');
            }
            text.push(digit);
        }
        text.push_str(" B");
        f.pad(&text)
    }
}

/// An alignment in bytes: any positive number, not only a power of two, since real tile memory is aligned to 12,288.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[repr(transparent)]
pub struct Alignment(NonZeroU64);

impl Alignment {
    /// Alignment to 1 byte, which every offset has.
    pub const ONE: Alignment = Alignment(NonZeroU64::MIN);

    /// `bytes` as an alignment; `None` for 0.
    pub const fn new(bytes: u64) -> Option<Alignment> {
        match NonZeroU64::new(bytes) {
            Some(bytes) => Some(Alignment(bytes)),
            None => None,
        }
    }

    /// The alignment in bytes.
    pub const fn get(self) -> u64 {
        self.0.get()
    }

    /// The larger of the two. For powers of two this satisfies both; for other alignments use [`Alignment::lcm`].
    pub fn max(self, other: Alignment) -> Alignment {
        Ord::max(self, other)
    }

    /// The smallest alignment that satisfies both, or `None` past `u64::MAX`.
    pub fn lcm(self, other: Alignment) -> Option<Alignment> {
        let (mut a, mut b) = (self.get(), other.get());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        (self.get() / a).checked_mul(other.get()).and_then(Alignment::new)
    }
}

impl fmt::Display for Alignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Bytes(self.get()).fmt(f)
    }
}

/// A point on a timeline. In a frame, the index of a pass in submission order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Step(pub u32);

/// A range of steps, half-open: `[first, end)`. Empty when `first >= end`.
///
/// ```text
/// step   0   1   2   3   4
///            [first  end)        Span { first: 1, end: 3 } has steps 1 and 2
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// The first step included.
    pub first: Step,
    /// The first step after the range.
    pub end: Step,
}

impl Span {
    /// Creates the span `[first, end)`.
    pub const fn new(first: u32, end: u32) -> Span {
        Span {
            first: Step(first),
            end: Step(end),
        }
    }

    /// Returns true if the span has no steps.
    pub const fn is_empty(self) -> bool {
        self.first.0 >= self.end.0
    }

    /// Returns true if the spans have a step in common.
    pub const fn overlaps(self, other: Span) -> bool {
        self.first.0 < other.end.0 && other.first.0 < self.end.0 && !self.is_empty() && !other.is_empty()
    }

    /// Returns true if `step` is in the span.
    pub const fn contains(self, step: Step) -> bool {
        self.first.0 <= step.0 && step.0 < self.end.0
    }

    /// The number of steps in the span.
    pub const fn len(self) -> u32 {
        self.end.0.saturating_sub(self.first.0)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {})", self.first.0, self.end.0)
    }
}

/// A run of consecutive elements in a flat table, `[first, end)`; empty if both are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "[u32; 2]", into = "[u32; 2]")]
#[repr(C)]
pub struct Run {
    /// Index of the first element.
    pub first: u32,
    /// Index after the last element.
    pub end: u32,
}

impl From<[u32; 2]> for Run {
    fn from([first, end]: [u32; 2]) -> Run {
        Run { first, end }
    }
}

impl From<Run> for [u32; 2] {
    fn from(run: Run) -> [u32; 2] {
        [run.first, run.end]
    }
}

impl Run {
    /// Creates the run `[first, end)`.
    pub const fn new(first: u32, end: u32) -> Run {
        Run { first, end }
    }

    /// The elements of `table` in this run.
    pub fn of<T>(self, table: &[T]) -> &[T] {
        &table[self.first as usize..self.end as usize]
    }

    /// The indices in the run.
    pub fn indices(self) -> std::ops::Range<usize> {
        self.first as usize..self.end as usize
    }

    /// The number of elements.
    pub fn len(self) -> usize {
        (self.end - self.first) as usize
    }

    /// Returns true if the run has no elements.
    pub fn is_empty(self) -> bool {
        self.first == self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_rounded_to_a_tenth() {
        let shown = |bytes: u64| format!("{:#}", Bytes(bytes));
        assert_eq!(shown(0), "0 B");
        assert_eq!(shown(1023), "1023 B");
        assert_eq!(shown(1536), "1.5 KiB");
        assert_eq!(shown(552_960), "540 KiB");
        assert_eq!(shown(8_355_840), "8 MiB");
        assert_eq!(shown(3_900_000), "3.7 MiB");
        assert_eq!(shown(u64::MAX), "17179869184 GiB");
        assert_eq!(format!("{:>#9}", Bytes(1 << 20)), "    1 MiB");
    }

    #[test]
    fn alignment_need_not_be_a_power_of_two() {
        let tile = Alignment::new(12_288).unwrap();
        assert_eq!(Bytes(1).align_up(tile), Bytes(12_288));
        assert_eq!(Bytes(24_576).align_up(tile), Bytes(24_576));
        assert_eq!(Bytes(u64::MAX).checked_align_up(tile), None);
        assert_eq!(tile.lcm(Alignment::new(8192).unwrap()), Alignment::new(24_576));
    }

    #[test]
    fn spans_are_half_open() {
        assert!(!Span::new(0, 2).overlaps(Span::new(2, 3)));
        assert!(Span::new(0, 3).overlaps(Span::new(2, 3)));
        assert!(!Span::new(2, 2).overlaps(Span::new(0, 9)));
        assert!(!Span::new(0, 2).contains(Step(2)));
    }

    #[test]
    fn bytes_print_in_groups_of_three() {
        assert_eq!(Bytes(8_355_840).to_string(), "8,355,840 B");
        assert_eq!(Bytes(12).to_string(), "12 B");
        assert_eq!(Bytes(1000).to_string(), "1,000 B");
    }
}
