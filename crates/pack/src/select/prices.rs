//! The price of a byte in each column: the dual of the choice by loads.
//!
//! ```text
//! column      0     1     2     3          items are arcs over the columns they stand in, as wide as their size; the
//! node     ●─────●─────●─────●─────●       capacity flows from the first node to the last, over items (earning their
//!          └──── a ────┘└─── b ────┘       weight per byte) or along the row (earning nothing)
//!                └──── c ────┘
//! ```
//! The constraints "sizes live at a step stay within the capacity" have consecutive ones, so their relaxation is this flow. It is solved by our own
//! network simplex, which starts with all flow along the row. The potentials give a price for each column; **any** nonnegative prices give a valid
//! bound, so the simplex only affects how tight it is.

use crate::lists::refill;

/// Number of fractional bits of scaled weights and prices.
pub(crate) const SCALE_BITS: u32 = 20;

/// An item as an arc of the flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arc {
    /// Columns `first..end`.
    pub(crate) first: u32,
    pub(crate) end: u32,
    pub(crate) size: u64,
    /// The scaled weight.
    pub(crate) weight: i128,
}

/// Upper limit of the sum of gains: keeps potentials and reduced gains within 64 bits.
const MAX_GAIN: i128 = 1 << 60;
/// Like `MAX_GAIN`, if gains are forced; `MAX_BYTES`: the maximum number of bytes for which prices then stay within 128 bits.
const MAX_FORCED: i128 = 1 << 48;
const MAX_BYTES: u64 = 1 << 50;

/// Directions in which an entering arc changes its flow; 0 for an arc of the tree.
const GROWS: i64 = 1;
const SHRINKS: i64 = -1;
const IN_TREE: i64 = 0;

/// The network simplex method and its scratch memory.
#[derive(Debug, Default)]
pub(crate) struct Prices {
    nodes: Vec<Node>,
    /// The arcs along the row of columns, then those of the items.
    arcs: Vec<FlowArc>,
    /// The tree arcs of the cycle that an entering arc closes, and whether their flow increases.
    cycle: Vec<(u32, bool)>,
    back: Vec<(u32, bool)>,
    stack: Vec<u32>,
    /// The number of bits by which gains were shifted down.
    shift: u32,
    /// A gain larger than the sum of all gains; 0 if sums of such gains would overflow.
    pub(crate) forcing_gain: i64,
}

/// A node and its place in the tree, whose root is node 0.
#[derive(Clone, Copy, Debug)]
struct Node {
    potential: i64,
    parent: u32,
    /// The arc to the parent.
    arc: u32,
    depth: u32,
    first_child: u32,
    /// The next child of the same parent; `before` is the previous one.
    next: u32,
    before: u32,
}

/// An arc with its flow.
#[derive(Clone, Copy, Debug)]
struct FlowArc {
    from: u32,
    to: u32,
    /// Gain per byte; scaled.
    gain: i64,
    /// [`GROWS`] if empty, [`SHRINKS`] if full, or [`IN_TREE`].
    side: i64,
    width: u64,
    flow: u64,
}

/// Marks the absence of a node or arc.
const NONE: u32 = u32::MAX;

impl Prices {
    /// Returns the scaled prices of `columns` columns; none is negative.
    ///
    /// Complexity: each pivot scans the arcs of a block and the nodes whose place in the tree changes; there are about as many pivots as arcs.
    ///
    /// Pricing scans the arcs in `blocks` blocks: with one block, the arc with the largest gain enters the tree; with more, the best arc of a block,
    /// which is faster if there are many arcs. If several prices are optimal, the two may return different ones.
    pub(crate) fn find(&mut self, columns: usize, capacity: u64, arcs: &[Arc], blocks: usize) -> Vec<i128> {
        self.start(columns, capacity, arcs);
        self.optimize(blocks);
        let sums: Vec<i128> = self.sums().collect();
        sums.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    /// Iterates over the sum of the scaled prices of the columns before each node.
    pub(crate) fn sums(&self) -> impl Iterator<Item = i128> {
        let nodes = self.nodes.windows(2);
        let prices = nodes.map(|pair| i128::from(pair[1].potential) - i128::from(pair[0].potential));
        let sums = prices.scan(0, |sum, price| {
            *sum += price.max(0) << self.shift;
            Some(*sum)
        });
        std::iter::once(0).chain(sums)
    }

    /// Pivots until the flow is optimal, or until the limit of about eight pivots per arc; returns the number of arcs scanned.
    pub(crate) fn optimize(&mut self, blocks: usize) -> u64 {
        let count = self.arcs.len();
        let most_pivots = 8 * count + 64;
        let block = (count / blocks).max(32);
        let (mut next, mut looked) = (0, 0);
        for _ in 0..most_pivots {
            let mut entering = None;
            let (mut most, mut seen) = (0, 0);
            while seen < count && entering.is_none() {
                // Up to the next multiple of a block, or once around the end.
                let length = block.min(count - seen).min(count - next);
                for (index, arc) in self.arcs[next..next + length].iter().enumerate() {
                    let improving = arc.side * self.reduced(arc);
                    if improving > most {
                        (entering, most) = (Some(next + index), improving);
                    }
                }
                seen += length;
                next = if next + length == count { 0 } else { next + length };
            }
            looked += seen as u64;
            let Some(entering) = entering else {
                break;
            };
            self.pivot(entering as u32);
        }
        looked
    }

    /// Adds `change` to the gain of an item, in the unit of [`Prices::forcing_gain`], and updates the potentials.
    pub(crate) fn change_gain(&mut self, item: usize, change: i64) {
        let index = self.nodes.len() - 1 + item;
        let arc = &mut self.arcs[index];
        arc.gain += change;
        if arc.side == IN_TREE {
            let (from, to) = (arc.from, arc.to);
            match self.nodes[to as usize].arc == index as u32 {
                true => self.raise(to, change),
                false => self.raise(from, -change),
            }
        }
    }

    /// Iterates over all items; yields true for each item that the last flow takes whole. This is the relaxation's choice, except for a few fractional items.
    pub(crate) fn whole_items(&self) -> impl Iterator<Item = bool> {
        let columns = self.nodes.len().saturating_sub(1);
        let items = self.arcs.get(columns..).unwrap_or_default().iter();
        items.map(|arc| arc.flow == arc.width)
    }

    /// Iterates over the items that the last flow takes fractionally.
    pub(crate) fn fractional(&self) -> impl Iterator<Item = usize> {
        let columns = self.nodes.len().saturating_sub(1);
        let items = self.arcs.get(columns..).unwrap_or_default().iter().enumerate();
        let fractional = items.filter(|(_, arc)| arc.flow > 0 && arc.flow < arc.width);
        fractional.map(|(index, _)| index)
    }

    /// Starts with all flow along the row of columns, whose arcs form the tree.
    fn start(&mut self, columns: usize, capacity: u64, arcs: &[Arc]) {
        let gain = |arc: &Arc| arc.weight / i128::from(arc.size.max(1));
        let sum = arcs.iter().fold(0i128, |sum, arc| sum.saturating_add(gain(arc)));
        let shift = (0..).find(|shift| sum >> shift < MAX_GAIN).unwrap_or(0);
        self.shift = shift;
        let fits = sum < MAX_FORCED && capacity < MAX_BYTES;
        self.forcing_gain = if fits { 2 * sum as i64 + 1 } else { 0 };
        refill(
            &mut self.arcs,
            (0..columns as u32).map(|column| FlowArc {
                from: column,
                to: column + 1,
                gain: 0,
                side: IN_TREE,
                width: u64::MAX,
                flow: capacity,
            }),
        );
        self.arcs.extend(arcs.iter().map(|arc| FlowArc {
            from: arc.first,
            to: arc.end,
            gain: (gain(arc) >> shift) as i64,
            side: GROWS,
            width: arc.size,
            flow: 0,
        }));
        refill(
            &mut self.nodes,
            (0..=columns as u32).map(|node| Node {
                potential: 0,
                parent: node.wrapping_sub(1),
                arc: node.wrapping_sub(1),
                depth: node,
                first_child: if node < columns as u32 { node + 1 } else { NONE },
                next: NONE,
                before: NONE,
            }),
        );
    }

    /// Returns the reduced gain of an arc: the gain of one more byte of flow.
    fn reduced(&self, arc: &FlowArc) -> i64 {
        arc.gain - (self.nodes[arc.to as usize].potential - self.nodes[arc.from as usize].potential)
    }

    /// Sends as much flow as possible around the cycle that `entering` closes; the blocking arc leaves the tree.
    fn pivot(&mut self, entering: u32) {
        let arc = self.arcs[entering as usize];
        // More flow on an empty arc, less on a full one; the cycle returns through the tree from the arc's head.
        let grows = arc.side == GROWS;
        let (start, goal) = if grows {
            (arc.to, arc.from)
        } else {
            (arc.from, arc.to)
        };
        self.cycle.clear();
        self.back.clear();
        let (mut a, mut b) = (start, goal);
        while a != b {
            let (up, down) = (self.nodes[a as usize], self.nodes[b as usize]);
            if up.depth >= down.depth {
                // Towards the root: along the arc if it starts here.
                self.cycle.push((up.arc, self.arcs[up.arc as usize].from == a));
                a = up.parent;
            } else {
                self.back.push((down.arc, self.arcs[down.arc as usize].to == b));
                b = down.parent;
            }
        }
        let near_start = self.cycle.len();
        self.cycle.extend(self.back.iter().rev());
        let mut amount = arc.width;
        let mut leaving = None;
        for (position, &(arc, along)) in self.cycle.iter().enumerate() {
            let arc = &self.arcs[arc as usize];
            let room = if along { arc.width - arc.flow } else { arc.flow };
            if room < amount {
                (amount, leaving) = (room, Some(position));
            }
        }
        for &(arc, along) in &self.cycle {
            let flow = &mut self.arcs[arc as usize].flow;
            *flow = if along { *flow + amount } else { *flow - amount };
        }
        let arc = &mut self.arcs[entering as usize];
        arc.flow = if grows {
            arc.flow + amount
        } else {
            arc.flow - amount
        };
        let Some(position) = leaving else {
            arc.side = if grows { SHRINKS } else { GROWS };
            return;
        };
        arc.side = IN_TREE;
        let (leaving, along) = self.cycle[position];
        self.arcs[leaving as usize].side = if along { SHRINKS } else { GROWS };
        // The subtree of the leaving arc is attached by the entering one.
        let is_near = position < near_start;
        let (inside, outside) = if is_near { (start, goal) } else { (goal, start) };
        self.reroot(inside, leaving);
        self.attach(inside, outside, entering);
    }

    /// Detaches the subtree below `leaving`, and makes `top`, one of its nodes, its root.
    fn reroot(&mut self, top: u32, leaving: u32) {
        let mut chain = std::mem::take(&mut self.stack);
        chain.clear();
        chain.push(top);
        let mut node = top;
        while self.nodes[node as usize].arc != leaving {
            node = self.nodes[node as usize].parent;
            chain.push(node);
        }
        // From the old root of the subtree to the new one: each node leaves its parent and becomes the child of the next.
        self.remove_child(node);
        for pair in chain.windows(2).rev() {
            let (child, parent) = (pair[0], pair[1]);
            let arc = self.nodes[child as usize].arc;
            self.remove_child(child);
            self.add_child(parent, child, arc);
        }
        self.stack = chain;
    }

    /// Attaches the subtree with root `top` to `parent`.
    fn attach(&mut self, top: u32, parent: u32, arc: u32) {
        self.add_child(top, parent, arc);
        let FlowArc { from, gain, .. } = self.arcs[arc as usize];
        let above = self.nodes[parent as usize].potential;
        let potential = if from == parent {
            above + gain
        } else {
            above - gain
        };
        self.raise(top, potential - self.nodes[top as usize].potential);
    }

    /// Adds `change` to the potentials of the subtree with root `top`, and updates its depths.
    fn raise(&mut self, top: u32, change: i64) {
        self.stack.clear();
        self.stack.push(top);
        while let Some(node) = self.stack.pop() {
            let depth = self.nodes[self.nodes[node as usize].parent as usize].depth + 1;
            let of = &mut self.nodes[node as usize];
            of.depth = depth;
            of.potential += change;
            let mut child = of.first_child;
            while child != NONE {
                self.stack.push(child);
                child = self.nodes[child as usize].next;
            }
        }
    }

    /// Makes `node` a child of `parent`.
    fn add_child(&mut self, node: u32, parent: u32, arc: u32) {
        let next = std::mem::replace(&mut self.nodes[parent as usize].first_child, node);
        if next != NONE {
            self.nodes[next as usize].before = node;
        }
        let of = &mut self.nodes[node as usize];
        (of.parent, of.arc, of.next, of.before) = (parent, arc, next, NONE);
    }

    /// Removes `node` from the list of its parent's children.
    fn remove_child(&mut self, node: u32) {
        let Node {
            parent, next, before, ..
        } = self.nodes[node as usize];
        if before == NONE {
            self.nodes[parent as usize].first_child = next;
        } else {
            self.nodes[before as usize].next = next;
        }
        if next != NONE {
            self.nodes[next as usize].before = before;
        }
    }
}
