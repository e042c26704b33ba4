//! What a byte of each column is worth: the dual of the choice by loads alone.
//!
//! ```text
//! column      0     1     2     3          items are arcs over the columns they stand in, as wide as they are large; the
//! node     ●─────●─────●─────●─────●       capacity flows from the first node to the last, over items (and earns their
//!          └──── a ────┘└─── b ────┘       worth per byte) or along the row (and earns nothing)
//!                └──── c ────┘
//! ```
//! The rows of the problem "sizes alive at a step stay within the capacity" have consecutive ones, so that its relaxation is
//! this flow. It is solved by a network simplex of our own, that starts with everything flowing along the row. The potentials
//! give a price to each column; **any** prices that are not negative give a bound, so that nothing rests on the simplex but
//! how good the bound is.

/// Worths and prices are in 2^20ths.
pub(super) const SCALE: u32 = 20;

/// An item as the flow sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arc {
    /// Columns `first..end`.
    pub(super) first: u32,
    pub(super) end: u32,
    pub(super) size: u64,
    /// Scaled.
    pub(super) worth: i128,
}

/// Where an arc is while it is not in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Tree,
    Empty,
    Full,
}

/// The network simplex and its memory.
#[derive(Debug, Default)]
pub(super) struct Prices {
    /// Per node: the node before on the way to the root, the arc there, the depth, the potential.
    parent: Vec<u32>,
    parent_arc: Vec<u32>,
    depth: Vec<u32>,
    potential: Vec<i128>,
    /// Per arc, those along the row first.
    flow: Vec<u64>,
    place: Vec<Place>,
    tree: Vec<Vec<u32>>,
    queue: Vec<u32>,
}

impl Prices {
    /// Scaled prices of `columns` columns, none negative.
    ///
    /// Complexity: each pivot looks at all arcs and nodes; there are about as many pivots as arcs.
    ///
    /// The arcs are looked at in so many `blocks`: with one, whichever arc earns most by a change of its flow enters the tree;
    /// with more, the best of a block, which is faster where arcs are many. Where several prices are best, the two end with
    /// different ones.
    pub(super) fn find(&mut self, columns: usize, capacity: u64, arcs: &[Arc], blocks: usize) -> Vec<i128> {
        let nodes = columns + 1;
        let gains: Vec<i128> = arcs
            .iter()
            .map(|arc| arc.worth / i128::from(arc.size.max(1)))
            .collect();
        self.flow.clear();
        self.flow.resize(columns, capacity);
        self.flow.resize(columns + arcs.len(), 0);
        self.place.clear();
        self.place.resize(columns, Place::Tree);
        self.place.resize(columns + arcs.len(), Place::Empty);
        self.tree.clear();
        self.tree.resize(nodes, Vec::new());
        for arc in 0..columns as u32 {
            self.tree[arc as usize].push(arc);
            self.tree[arc as usize + 1].push(arc);
        }
        let ends = |arc: u32| match (arc as usize).checked_sub(columns) {
            None => (arc, arc + 1),
            Some(item) => (arcs[item].first, arcs[item].end),
        };
        let gain = |arc: u32| (arc as usize).checked_sub(columns).map_or(0, |item| gains[item]);
        let width = |arc: u32| {
            (arc as usize)
                .checked_sub(columns)
                .map_or(u64::MAX, |item| arcs[item].size)
        };
        self.hang(nodes, &ends, &gain);
        let count = columns + arcs.len();
        let most_pivots = 8 * count + 64;
        let block = (count / blocks).max(32);
        let mut next = 0;
        for _ in 0..most_pivots {
            let mut entering = None;
            let (mut most, mut seen) = (0, 0);
            while seen < count && (entering.is_none() || seen % block != 0) {
                let arc = next as u32;
                next = if next + 1 == count { 0 } else { next + 1 };
                seen += 1;
                let (from, to) = ends(arc);
                let reduced = gain(arc) - (self.potential[to as usize] - self.potential[from as usize]);
                let improving = match self.place[arc as usize] {
                    Place::Tree => 0,
                    Place::Empty => reduced,
                    Place::Full => -reduced,
                };
                if improving > most {
                    (entering, most) = (Some(arc), improving);
                }
            }
            let Some(entering) = entering else {
                break;
            };
            self.pivot(entering, &ends, &width);
            self.hang(nodes, &ends, &gain);
        }
        let potential = &self.potential;
        (0..columns)
            .map(|column| (potential[column + 1] - potential[column]).max(0))
            .collect()
    }

    /// Hangs the tree from node 0 and sets the potentials.
    fn hang(&mut self, nodes: usize, ends: &impl Fn(u32) -> (u32, u32), gain: &impl Fn(u32) -> i128) {
        self.parent.clear();
        self.parent.resize(nodes, u32::MAX);
        self.parent_arc.resize(nodes, u32::MAX);
        self.depth.resize(nodes, 0);
        self.potential.resize(nodes, 0);
        self.queue.clear();
        self.queue.push(0);
        self.parent[0] = 0;
        self.depth[0] = 0;
        self.potential[0] = 0;
        let mut next = 0;
        while let Some(&node) = self.queue.get(next) {
            next += 1;
            for &arc in &self.tree[node as usize] {
                let (from, to) = ends(arc);
                let (other, step) = if from == node {
                    (to, gain(arc))
                } else {
                    (from, -gain(arc))
                };
                if self.parent[other as usize] == u32::MAX {
                    self.parent[other as usize] = node;
                    self.parent_arc[other as usize] = arc;
                    self.depth[other as usize] = self.depth[node as usize] + 1;
                    self.potential[other as usize] = self.potential[node as usize] + step;
                    self.queue.push(other);
                }
            }
        }
    }

    /// Sends as much as possible around the cycle that `entering` closes; the arc that is used up leaves the tree.
    fn pivot(&mut self, entering: u32, ends: &impl Fn(u32) -> (u32, u32), width: &impl Fn(u32) -> u64) {
        let (from, to) = ends(entering);
        // More flow on an empty arc, less on a full one: back through the tree from where it goes.
        let grows = self.place[entering as usize] == Place::Empty;
        let (start, goal) = if grows { (to, from) } else { (from, to) };
        let mut cycle: Vec<(u32, bool)> = Vec::new();
        let (mut a, mut b) = (start, goal);
        let mut back: Vec<(u32, bool)> = Vec::new();
        while a != b {
            if self.depth[a as usize] >= self.depth[b as usize] {
                let arc = self.parent_arc[a as usize];
                // Towards the root: along the arc if it starts here.
                cycle.push((arc, ends(arc).0 == a));
                a = self.parent[a as usize];
            } else {
                let arc = self.parent_arc[b as usize];
                back.push((arc, ends(arc).1 == b));
                b = self.parent[b as usize];
            }
        }
        cycle.extend(back.into_iter().rev());
        let room = |&(arc, along): &(u32, bool)| {
            let flow = self.flow[arc as usize];
            if along { width(arc) - flow } else { flow }
        };
        let mut amount = width(entering);
        let mut leaving = None;
        for step in &cycle {
            if room(step) < amount {
                (amount, leaving) = (room(step), Some(*step));
            }
        }
        for &(arc, along) in &cycle {
            let flow = &mut self.flow[arc as usize];
            *flow = if along { *flow + amount } else { *flow - amount };
        }
        let flow = &mut self.flow[entering as usize];
        *flow = if grows { *flow + amount } else { *flow - amount };
        let Some((leaving, along)) = leaving else {
            self.place[entering as usize] = if grows { Place::Full } else { Place::Empty };
            return;
        };
        self.place[leaving as usize] = if along { Place::Full } else { Place::Empty };
        self.place[entering as usize] = Place::Tree;
        let (x, y) = ends(leaving);
        for node in [x, y] {
            self.tree[node as usize].retain(|&arc| arc != leaving);
        }
        for node in [from, to] {
            self.tree[node as usize].push(entering);
        }
    }
}
