//! A sort that adds little code per sorted type.
//!
//! Optimized for size, each sort of the standard library compiles to 1.5 kB (stable) to 5 kB (unstable); in libtileheap.so, 130 uses
//! took 530 kB. Here, only an insertion sort is compiled for each use, about 300 B, and the merges on top of it exist once.

use std::cmp::Ordering;
use std::ops::Range;

/// Number of elements in each block that is sorted by insertion.
const BLOCK: usize = 16;

/// The longest sequence that is sorted in place.
const MAX_IN_PLACE: usize = 1024;

/// Stable sorts that compile to little code.
///
/// O(n log n). Up to 16 elements: an insertion sort; up to 1024: merges in place; beyond that, indices are sorted, which takes additional memory.
///
/// ```
/// use tileheap_units::CompactSort;
///
/// let mut passes = [("lighting", 2), ("shadows", 0), ("bloom", 2), ("geometry", 1)];
/// passes.compact_sort_by_key(|&(_, step)| step);
/// assert_eq!(passes.map(|(name, _)| name), ["shadows", "geometry", "lighting", "bloom"]);
/// ```
pub trait CompactSort {
    /// The type of the elements.
    type Element;

    /// Sorts in ascending order of the elements.
    fn compact_sort(&mut self)
    where
        Self::Element: Ord;

    /// Sorts by a key of each element, which is computed again for each comparison.
    fn compact_sort_by_key<K: Ord>(&mut self, key: impl FnMut(&Self::Element) -> K);

    /// Sorts by the total order that `compare` defines.
    fn compact_sort_by(&mut self, compare: impl FnMut(&Self::Element, &Self::Element) -> Ordering);
}

impl<T> CompactSort for [T] {
    type Element = T;

    fn compact_sort(&mut self)
    where
        T: Ord,
    {
        self.compact_sort_by(T::cmp);
    }

    fn compact_sort_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.compact_sort_by(|a, b| key(a).cmp(&key(b)));
    }

    fn compact_sort_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering) {
        let length = self.len();
        if length > 1 {
            let mut view = View {
                elements: self,
                compare,
            };
            sort(&mut view, length);
        }
    }
}

/// A sequence of elements of any type, accessed by index.
trait Sequence {
    /// Sorts a range by insertion.
    fn insertion_sort(&mut self, range: Range<usize>);
    fn compare(&mut self, a: usize, b: usize) -> Ordering;
    fn swap(&mut self, a: usize, b: usize);
}

struct View<'a, T, F> {
    elements: &'a mut [T],
    compare: F,
}

impl<T, F: FnMut(&T, &T) -> Ordering> Sequence for View<'_, T, F> {
    fn insertion_sort(&mut self, range: Range<usize>) {
        let elements = &mut self.elements[range];
        for end in 1..elements.len() {
            let mut at = end;
            while at > 0 && (self.compare)(&elements[at], &elements[at - 1]).is_lt() {
                elements.swap(at, at - 1);
                at -= 1;
            }
        }
    }

    fn compare(&mut self, a: usize, b: usize) -> Ordering {
        (self.compare)(&self.elements[a], &self.elements[b])
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.elements.swap(a, b);
    }
}

fn sort(sequence: &mut dyn Sequence, length: usize) {
    if length <= BLOCK {
        sequence.insertion_sort(0..length);
    } else if length <= MAX_IN_PLACE {
        merge_sort(sequence, length);
    } else {
        index_sort(sequence, length);
    }
}

/// Sorts indices by merging, then moves each element to its position.
fn index_sort(sequence: &mut dyn Sequence, length: usize) {
    let mut order: Vec<usize> = (0..length).collect();
    let mut merged = order.clone();
    let mut sorted = 1;
    while sorted < length {
        for first in (0..length).step_by(2 * sorted) {
            let (middle, end) = (length.min(first + sorted), length.min(first + 2 * sorted));
            let (mut low, mut high) = (first, middle);
            for index in &mut merged[first..end] {
                let takes_high =
                    low == middle || high < end && sequence.compare(order[high], order[low]).is_lt();
                let next = if takes_high { &mut high } else { &mut low };
                *index = order[*next];
                *next += 1;
            }
        }
        std::mem::swap(&mut order, &mut merged);
        sorted *= 2;
    }
    for first in 0..length {
        // Processes each cycle of the permutation, from its smallest index.
        let mut to = first;
        loop {
            let from = std::mem::replace(&mut order[to], to);
            if from == first {
                break;
            }
            sequence.swap(to, from);
            to = from;
        }
    }
}

/// Sorts blocks, then merges neighbors until one block is left.
fn merge_sort(sequence: &mut dyn Sequence, length: usize) {
    for first in (0..length).step_by(BLOCK) {
        sequence.insertion_sort(first..length.min(first + BLOCK));
    }
    let mut sorted = BLOCK;
    while sorted < length {
        for first in (0..length - sorted).step_by(2 * sorted) {
            merge(sequence, first, first + sorted, length.min(first + 2 * sorted));
        }
        sorted *= 2;
    }
}

/// Merges `[first, middle)` with `[middle, end)`, both sorted, by rotation.
///
/// ```text
/// first        cut     middle     other      end
///   a ≤ pivot │ a > pivot │ b < pivot │ b ≥ pivot
///               └──── rotated ────┘
/// ```
/// Source: Pok-Son Kim and Arne Kutzner, *Stable Minimum Storage Merging by Symmetric Comparisons*, ESA 2004.
fn merge(sequence: &mut dyn Sequence, first: usize, middle: usize, end: usize) {
    if first == middle || middle == end || sequence.compare(middle, middle - 1).is_ge() {
        return;
    }
    if end - first == 2 {
        sequence.swap(first, middle);
        return;
    }
    // As many elements change sides on the left of the center as on the right.
    let center = first + (end - first) / 2;
    let sum = center + middle;
    let (mut low, mut high) = if middle > center {
        (sum - end, center)
    } else {
        (first, middle)
    };
    while low < high {
        let probe = low + (high - low) / 2;
        if sequence.compare(sum - 1 - probe, probe).is_lt() {
            high = probe;
        } else {
            low = probe + 1;
        }
    }
    let (cut, other) = (low, sum - low);
    rotate(sequence, cut, middle, other);
    merge(sequence, first, cut, center);
    merge(sequence, center, other, end);
}

/// Exchanges `[first, middle)` with `[middle, end)`.
fn rotate(sequence: &mut dyn Sequence, first: usize, middle: usize, end: usize) {
    reverse(sequence, first, middle);
    reverse(sequence, middle, end);
    reverse(sequence, first, end);
}

fn reverse(sequence: &mut dyn Sequence, mut first: usize, mut end: usize) {
    while first + 1 < end {
        end -= 1;
        sequence.swap(first, end);
        first += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    /// Elements with few distinct keys, and their position as a second component.
    fn random(random: &mut SplitMix64, length: usize, keys: u64) -> Vec<(u64, usize)> {
        (0..length).map(|index| (random.below(keys), index)).collect()
    }

    #[test]
    fn every_length_is_sorted_and_equal_elements_keep_their_order() {
        let mut numbers = SplitMix64::new(1);
        for length in (0..300).chain([1023, 1024, 1025, 3000]) {
            for keys in [1, 2, 7, 1000] {
                let elements = random(&mut numbers, length, keys);
                let (mut expected, mut sorted) = (elements.clone(), elements);
                expected.sort_by_key(|&(key, _)| key);
                sorted.compact_sort_by_key(|&(key, _)| key);
                assert_eq!(sorted, expected, "{length} elements, {keys} keys");
            }
        }
    }

    #[test]
    fn comparisons_grow_with_the_logarithm() {
        let mut numbers = SplitMix64::new(2);
        for (length, limit) in [(1000, 16_000), (16_000, 300_000)] {
            for keys in [3, 1 << 32] {
                let mut elements = random(&mut numbers, length, keys);
                let mut comparisons = 0;
                elements.compact_sort_by(|a, b| {
                    comparisons += 1;
                    a.0.cmp(&b.0)
                });
                assert!(elements.is_sorted());
                assert!(
                    comparisons < limit,
                    "{length} elements, {keys} keys: {comparisons}"
                );
            }
        }
    }

    #[test]
    fn sorted_elements_are_compared_once_a_merge() {
        let mut elements: Vec<u32> = (0..1024).collect();
        let mut comparisons = 0;
        elements.compact_sort_by(|a, b| {
            comparisons += 1;
            a.cmp(b)
        });
        assert_eq!(comparisons, 1024 / 16 * 15 + 63);
    }
}
