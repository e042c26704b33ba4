//! A best-fit heap over linear memory that coalesces free neighbors, in which policies place textures.

use crate::journal::Journal;
use crate::list::{Links, List, NONE};
use crate::units::Bytes;

/// A range of memory: free, or owned by one texture.
#[derive(Clone, Copy, Debug)]
pub struct HeapNode {
    /// The first byte.
    pub offset: u64,
    /// Number of bytes.
    pub size: u64,
    /// The owner's number, or [`NONE`] if the range is free.
    pub owner: u32,
}

/// A best-fit heap: nodes in order of address, free ones also in bins by size.
///
/// Taking and freeing are O(1); the search for a free node examines a bounded number in the bin of its size, then takes
/// from the next bin that is not empty. Bins are 1/16 wide, so this is best fit except among nodes of nearly equal size.
#[derive(Clone, Debug)]
pub struct Heap {
    nodes: Vec<HeapNode>,
    /// Neighbors by address.
    by_address: Links,
    address: List,
    /// Free nodes by bin.
    by_bin: Links,
    bins: Vec<List>,
    /// One bit per non-empty bin.
    nonempty_bins: [u64; BINS / 64],
    unused_nodes: Vec<u32>,
    unit: u64,
    free_bytes: u64,
    /// The node at which the last search by address ended; [`NONE`] for the start.
    cursor: u32,
}

const SPLIT: u32 = 4;
const BINS: usize = 64 << SPLIT;
/// Maximum number of free nodes of a bin that a search compares.
const CANDIDATES: usize = 16;

impl Heap {
    /// A heap with one free node of `size` bytes; sizes of later nodes are multiples of `unit`.
    pub fn new(size: Bytes, unit: u64) -> Heap {
        let mut heap = Heap {
            nodes: Vec::new(),
            by_address: Links::default(),
            address: List::default(),
            by_bin: Links::default(),
            bins: vec![List::default(); BINS],
            nonempty_bins: [0; BINS / 64],
            unused_nodes: Vec::new(),
            unit,
            free_bytes: size.0,
            cursor: NONE,
        };
        let node = heap.new_node(0, size.0);
        heap.by_address.push_back(&mut heap.address, node);
        heap.add_to_bin(node);
        heap
    }

    /// Reserves tables for `textures` owners, so that taking and releasing never allocate.
    pub fn reserve(&mut self, textures: usize) {
        // A free node between any two, and one that is being created.
        let nodes = 2 * textures + 2;
        if self.nodes.capacity() < nodes {
            let more = nodes - self.nodes.len();
            self.nodes.reserve(more);
            self.unused_nodes.reserve(nodes - self.unused_nodes.len());
            self.by_address.reserve(more);
            self.by_bin.reserve(more);
        }
    }

    /// A node by its number.
    pub fn at(&self, node: u32) -> &HeapNode {
        &self.nodes[node as usize]
    }

    /// Free bytes.
    pub fn free_bytes(&self) -> u64 {
        self.free_bytes
    }

    /// Size of the heap in bytes.
    pub fn size(&self) -> u64 {
        let last = self.at(self.address.last);
        last.offset + last.size
    }

    /// The neighbor toward higher addresses; [`NONE`] at the end.
    pub fn right(&self, node: u32) -> u32 {
        self.by_address.next(node)
    }

    /// The neighbor toward lower addresses; [`NONE`] at the start.
    pub fn left(&self, node: u32) -> u32 {
        self.by_address.previous(node)
    }

    /// The node at the lowest address.
    pub fn first(&self) -> u32 {
        self.address.first
    }

    /// A free node of at least `size` bytes, approximately the smallest.
    pub fn best_fit(&self, size: u64) -> Option<u32> {
        let bin = self.bin(size);
        let smallest = |bin: usize| {
            let nodes = self.by_bin.after(self.bins[bin].first).take(CANDIDATES);
            let fitting = nodes.filter(|&node| self.at(node).size >= size);
            fitting.min_by_key(|&node| self.at(node).size)
        };
        smallest(bin).or_else(|| smallest(self.next_bin(bin + 1)?))
    }

    /// Gives the first `size` bytes of a free node to `owner`; the rest stays free.
    pub fn take(&mut self, node: u32, size: u64, owner: u32) {
        self.remove_from_bin(node);
        let HeapNode {
            offset, size: all, ..
        } = self.nodes[node as usize];
        debug_assert!(all >= size, "the node was chosen to fit");
        if all > size {
            let rest = self.new_node(offset + size, all - size);
            self.by_address.insert_after(&mut self.address, node, rest);
            self.nodes[node as usize].size = size;
            self.add_to_bin(rest);
        }
        self.nodes[node as usize].owner = owner;
        self.free_bytes -= size;
    }

    /// Frees a node and merges it with free neighbors. Returns the node that then covers it.
    pub fn release(&mut self, node: u32) -> u32 {
        self.free_bytes += self.at(node).size;
        self.nodes[node as usize].owner = NONE;
        let mut node = node;
        let left = self.left(node);
        if left != NONE && self.at(left).owner == NONE {
            self.remove_from_bin(left);
            self.merge_next(left, node);
            node = left;
        }
        let right = self.right(node);
        if right != NONE && self.at(right).owner == NONE {
            self.remove_from_bin(right);
            self.merge_next(node, right);
        }
        self.add_to_bin(node);
        node
    }

    /// The owner of the last owned node, if the node extends past `end`.
    pub fn owner_past(&self, end: u64) -> Option<u32> {
        let mut node = self.address.last;
        if self.at(node).owner == NONE {
            node = self.left(node);
        }
        let last = (node != NONE).then(|| *self.at(node))?;
        (last.offset + last.size > end).then_some(last.owner)
    }

    /// Changes the size of the heap; no owned node may extend past the new end.
    pub fn set_end(&mut self, end: u64) {
        let last = self.address.last;
        let HeapNode { offset, size, owner } = *self.at(last);
        if owner != NONE {
            if end > offset + size {
                let rest = self.new_node(offset + size, end - offset - size);
                self.by_address.push_back(&mut self.address, rest);
                self.free_bytes += self.at(rest).size;
                self.add_to_bin(rest);
            }
            return;
        }
        self.remove_from_bin(last);
        self.free_bytes = self.free_bytes - size + (end - offset);
        if end == offset {
            self.by_address.remove(&mut self.address, last);
            self.unused_nodes.push(last);
            if self.cursor == last {
                self.cursor = NONE;
            }
        } else {
            self.nodes[last as usize].size = end - offset;
            self.add_to_bin(last);
        }
    }

    /// Frees all but the first `size` bytes of an owned node.
    pub fn shrink(&mut self, node: u32, size: u64) {
        let HeapNode {
            offset, size: all, ..
        } = *self.at(node);
        let rest = self.new_node(offset + size, all - size);
        self.nodes[rest as usize].owner = self.at(node).owner;
        self.by_address.insert_after(&mut self.address, node, rest);
        self.nodes[node as usize].size = size;
        self.release(rest);
    }

    /// Compacts a part of memory into one free node of at least `size` bytes, moving as few bytes as a bounded search can find,
    /// and appends the moves. At least `size` bytes must be free.
    ///
    /// O(nodes visited): the search continues where the last one ended, and stops `limit` nodes after the first match.
    pub fn compact_to_fit(&mut self, size: u64, limit: u32, journal: &mut Journal) -> u32 {
        let (mut best, mut seen, mut rounds) = (None, 0, 0);
        let (mut first, mut free, mut taken) = (NONE, 0, 0);
        let mut node = self.cursor;
        while seen < limit {
            if node == NONE {
                rounds += 1;
                if rounds == 3 {
                    break;
                }
                (node, first, free, taken) = (self.address.first, NONE, 0, 0);
            }
            if first == NONE {
                first = node;
            }
            let here = self.at(node);
            if here.owner == NONE {
                free += here.size;
            } else {
                taken += here.size;
            }
            while free >= size {
                if best.is_none_or(|(_, _, least)| taken < least) {
                    best = Some((first, node, taken));
                }
                let gone = self.at(first);
                if gone.owner == NONE {
                    free -= gone.size;
                } else {
                    taken -= gone.size;
                }
                first = self.right(first);
            }
            seen += u32::from(best.is_some());
            node = self.right(node);
        }
        let (first, last, _) = best.expect("at least `size` bytes are free");
        let hole = self.compact(first, last, journal);
        self.cursor = self.right(hole);
        hole
    }

    /// Slides the owned nodes from `first` to `last` toward lower addresses, closing the gaps, and appends the moves; returns the free node at the
    /// end. There must be free bytes. O(nodes between).
    fn compact(&mut self, first: u32, last: u32, journal: &mut Journal) -> u32 {
        let mut end = self.at(first).offset;
        let mut before = self.left(first);
        let stop = self.at(last).offset + self.at(last).size;
        let mut node = first;
        loop {
            let next = self.right(node);
            let HeapNode { offset, size, owner } = self.nodes[node as usize];
            if owner == NONE {
                self.remove_from_bin(node);
                self.by_address.remove(&mut self.address, node);
                self.unused_nodes.push(node);
            } else {
                if offset != end {
                    journal.moved(owner, size, offset, end);
                    self.nodes[node as usize].offset = end;
                }
                end += size;
                before = node;
            }
            if node == last {
                break;
            }
            node = next;
        }
        let rest = self.new_node(end, stop - end);
        if before == NONE {
            self.by_address.push_front(&mut self.address, rest);
        } else {
            self.by_address.insert_after(&mut self.address, before, rest);
        }
        let right = self.right(rest);
        if right != NONE && self.at(right).owner == NONE {
            self.remove_from_bin(right);
            self.merge_next(rest, right);
        }
        self.add_to_bin(rest);
        rest
    }

    fn merge_next(&mut self, node: u32, next: u32) {
        self.nodes[node as usize].size += self.nodes[next as usize].size;
        self.by_address.remove(&mut self.address, next);
        self.unused_nodes.push(next);
        if self.cursor == next {
            self.cursor = node;
        }
    }

    fn new_node(&mut self, offset: u64, size: u64) -> u32 {
        let node = HeapNode {
            offset,
            size,
            owner: NONE,
        };
        if let Some(index) = self.unused_nodes.pop() {
            self.nodes[index as usize] = node;
            return index;
        }
        self.nodes.push(node);
        self.by_address.grow(self.nodes.len());
        self.by_bin.grow(self.nodes.len());
        self.nodes.len() as u32 - 1
    }

    /// The bin of a size: powers of two of units, each divided into 16.
    fn bin(&self, size: u64) -> usize {
        let units = size / self.unit;
        if units < 1 << SPLIT {
            return units as usize;
        }
        let power = units.ilog2();
        let fraction = (units >> (power - SPLIT)) & ((1 << SPLIT) - 1);
        (((power - SPLIT + 1) as usize) << SPLIT) + fraction as usize
    }

    fn next_bin(&self, from: usize) -> Option<usize> {
        (from / 64..self.nonempty_bins.len()).find_map(|word| {
            let before = if word == from / 64 { from % 64 } else { 0 };
            let bits = self.nonempty_bins[word] >> before << before;
            (bits != 0).then(|| word * 64 + bits.trailing_zeros() as usize)
        })
    }

    fn add_to_bin(&mut self, node: u32) {
        let bin = self.bin(self.at(node).size);
        self.by_bin.push_back(&mut self.bins[bin], node);
        self.nonempty_bins[bin / 64] |= 1 << (bin % 64);
    }

    fn remove_from_bin(&mut self, node: u32) {
        let bin = self.bin(self.at(node).size);
        self.by_bin.remove(&mut self.bins[bin], node);
        if self.bins[bin].first == NONE {
            self.nonempty_bins[bin / 64] &= !(1 << (bin % 64));
        }
    }
}
