//! LiteRT's assignment of tensors to shared objects.
//!
//! Source: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020, and the rules of LiteRT's
//! `gpu/common/memory_management`; a tensor is live in a closed interval of tasks.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::share::share;

/// A rule by which LiteRT assigns tensors to shared objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// One object per tensor.
    Naive,
    /// Each tensor takes a free object of exactly its size, or a new one.
    Equality,
    /// Tensors are assigned in the order of their first tasks; each takes the free object closest in size. An image takes only objects that cover it.
    InOrder,
    /// A minimum-cost flow decides which tensors share an object.
    MinCostFlow,
    /// Tensors are assigned task by task, starting with the task with the most bytes.
    ByBreadth,
    /// Tensors are assigned by rank among the positional maximums, the highest rank first; on a tie, the tensor closest in time to the tensors of an
    /// object, then the largest.
    BySize,
    /// The better of `ByBreadth` and `BySize`.
    Best,
}

/// A tensor: its size, and the first and last tasks that use it, both included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiteRecord {
    /// The number of bytes; or the width and height of an image in texels; or batch, height, width and channels in elements.
    pub size: Vec<u64>,
    /// The first task that uses the tensor.
    pub first: u32,
    /// The last task that uses the tensor.
    pub last: u32,
}

impl LiteRecord {
    fn overlaps(&self, other: &LiteRecord) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    fn bytes(&self) -> u64 {
        self.size.iter().product()
    }
}

/// The object of each tensor, and the size of each object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    /// The object of each tensor.
    pub objects: Vec<usize>,
    /// The size of each object, in the units of its tensors.
    pub sizes: Vec<Vec<u64>>,
}

impl Assignment {
    fn flat(objects: Vec<usize>, sizes: Vec<u64>) -> Assignment {
        let sizes = sizes.into_iter().map(|size| vec![size]).collect();
        Assignment { objects, sizes }
    }

    fn new_object(&mut self, size: &[u64]) -> usize {
        self.sizes.push(size.to_vec());
        self.sizes.len() - 1
    }

    /// Assigns an object to the next tensor.
    fn take(&mut self, object: usize, record: &LiteRecord, used: &mut InUse) {
        self.objects.push(object);
        used.0.insert((record.last, object));
    }

    fn total(&self) -> u64 {
        self.sizes.iter().map(|size| size.iter().product::<u64>()).sum()
    }

    /// Places objects at consecutive offsets; returns the offset of each tensor and the end of the last object, in bytes; for images, in texels or
    /// elements.
    pub fn offsets(&self) -> (Vec<u64>, u64) {
        let mut starts = Vec::with_capacity(self.sizes.len());
        let mut end = 0;
        for size in &self.sizes {
            starts.push(end);
            end += size.iter().product::<u64>();
        }
        (self.objects.iter().map(|&object| starts[object]).collect(), end)
    }
}

/// Assigns tensors, given in the order of their first tasks, by one of LiteRT's rules; rules that only handle bytes use the area of images.
///
/// ```
/// use tileheap_baselines::tensor::pools::litert::{LiteRecord, Rule, assign};
///
/// let record = |size, first, last| LiteRecord { size: vec![size], first, last };
/// let tensors = [record(64, 0, 1), record(32, 1, 2), record(48, 2, 3)];
/// let found = assign(&tensors, Rule::BySize);
/// assert_eq!(found.objects[0], found.objects[2]); // the third takes the first one's object
/// assert_eq!(found.offsets().1, 64 + 32); // bytes in all
/// ```
pub fn assign(records: &[LiteRecord], rule: Rule) -> Assignment {
    let flat = records.iter().all(|record| record.size.len() == 1);
    match rule {
        Rule::Equality => equality(records),
        Rule::InOrder if flat => in_order(records),
        Rule::InOrder => in_order_covering(records),
        Rule::MinCostFlow => flow(records),
        Rule::ByBreadth => by_breadth(records),
        Rule::BySize => by_size(records),
        Rule::Best => {
            let (one, other) = (by_size(records), by_breadth(records));
            if other.total() < one.total() { other } else { one }
        }
        Rule::Naive => Assignment {
            objects: (0..records.len()).collect(),
            sizes: records.iter().map(|record| record.size.clone()).collect(),
        },
    }
}

/// Objects in use, ordered by their last task.
#[derive(Default)]
struct InUse(BTreeSet<(u32, usize)>);

impl InUse {
    /// Removes and returns the objects whose last task is before `task`.
    fn take_finished(&mut self, task: u32) -> impl Iterator<Item = usize> + '_ {
        std::iter::from_fn(move || {
            let &(last, _) = self.0.first()?;
            if last >= task {
                return None;
            }
            self.0.pop_first().map(|(_, object)| object)
        })
    }
}

/// Assigns tensors to objects that never grow; `find` selects a free object for each tensor.
fn reuse(
    records: &[LiteRecord],
    find: impl Fn(&[Vec<u64>], &[usize], &LiteRecord) -> Option<usize>,
) -> Assignment {
    let mut assignment = Assignment::default();
    let mut used = InUse::default();
    let mut free: Vec<usize> = Vec::new();
    for record in records {
        free.extend(used.take_finished(record.first));
        let object = match find(&assignment.sizes, &free, record) {
            Some(at) => free.remove(at),
            None => assignment.new_object(&record.size),
        };
        assignment.take(object, record, &mut used);
    }
    assignment
}

/// Assigns only objects of exactly the tensor's size: for images, the free object with the lowest index; for other tensors, the one freed last.
fn equality(records: &[LiteRecord]) -> Assignment {
    reuse(records, |sizes, free, record| {
        let same = |&at: &usize| sizes[free[at]] == record.size;
        match record.size.len() {
            2 | 3 => (0..free.len()).filter(same).min_by_key(|&at| free[at]),
            _ => (0..free.len()).rfind(same),
        }
    })
}

/// Assigns each tensor, in order, to the free object closest in size; a smaller object grows.
fn in_order(records: &[LiteRecord]) -> Assignment {
    let mut assignment = Assignment::default();
    let mut used = InUse::default();
    let mut free: BTreeSet<(u64, usize)> = BTreeSet::new();
    for record in records {
        for object in used.take_finished(record.first) {
            free.insert((assignment.sizes[object][0], object));
        }
        let size = record.size[0];
        let above = free.range((size, 0)..).next().copied();
        let below = free.range(..(size, 0)).next_back().copied();
        let found = match (above, below) {
            (Some(above), Some(below)) if size - below.0 < above.0 - size => Some(below),
            (above, below) => above.or(below),
        };
        let object = match found {
            Some(found) => {
                free.remove(&found);
                assignment.sizes[found.1][0] = found.0.max(size);
                found.1
            }
            None => assignment.new_object(&record.size),
        };
        assignment.take(object, record, &mut used);
    }
    assignment
}

/// Like [`in_order`], for images: an object must cover the tensor, and never grows.
fn in_order_covering(records: &[LiteRecord]) -> Assignment {
    reuse(records, |sizes, free, record| {
        let covers = |&at: &usize| {
            let mut sides = sizes[free[at]].iter().zip(&record.size);
            sides.all(|(has, wants)| has >= wants)
        };
        let waste = |&at: &usize| sizes[free[at]].iter().product::<u64>() - record.bytes();
        (0..free.len()).filter(covers).min_by_key(waste)
    })
}

/// Per task, the indices of the tensors in use, the largest first.
pub fn task_profiles(records: &[LiteRecord]) -> Vec<Vec<usize>> {
    let tasks = records.iter().map(|record| record.last + 1).max().unwrap_or(0);
    let mut profiles = vec![Vec::new(); tasks as usize];
    for (index, record) in records.iter().enumerate() {
        for task in record.first..=record.last {
            profiles[task as usize].push(index);
        }
    }
    for profile in &mut profiles {
        profile.sort_by_key(|&index| Reverse(records[index].bytes()));
    }
    profiles
}

/// For each rank by size, the size of the largest tensor that has this rank among the tensors of any task: a lower bound on the size of the object of
/// that rank.
pub fn positional_maximums(records: &[LiteRecord]) -> Vec<u64> {
    let mut maximums: Vec<u64> = Vec::new();
    for profile in task_profiles(records) {
        for (position, &index) in profile.iter().enumerate() {
            let size = records[index].bytes();
            match maximums.get_mut(position) {
                Some(most) => *most = size.max(*most),
                None => maximums.push(size),
            }
        }
    }
    maximums
}

/// Assigns tensors task by task, the task with the most bytes first, and the tensors of a task in descending order of size, each to the free object
/// that fits best.
fn by_breadth(records: &[LiteRecord]) -> Assignment {
    let profiles = task_profiles(records);
    let mut tasks: Vec<usize> = (0..profiles.len()).collect();
    let bytes = |&index: &usize| records[index].bytes();
    let breadth = |task: usize| profiles[task].iter().map(bytes).sum::<u64>();
    tasks.sort_by_key(|&task| Reverse(breadth(task)));
    let mut seen = vec![false; records.len()];
    let order = tasks
        .iter()
        .flat_map(|&task| &profiles[task])
        .copied()
        .filter(|&index| !std::mem::replace(&mut seen[index], true));
    let sizes: Vec<u64> = records.iter().map(LiteRecord::bytes).collect();
    let overlap = |a: usize, b: usize| records[a].overlaps(&records[b]);
    // Objects that are large enough are preferred; among those, the closest in size.
    let cost = |size: u64, object: u64| Some((object < size, object.abs_diff(size)));
    let (objects, sizes) = share(&sizes, order, overlap, cost);
    Assignment::flat(objects, sizes)
}

/// Assigns tensors by rank among positional maximums, then by distance in time to the tensors in an object, then by size.
fn by_size(records: &[LiteRecord]) -> Assignment {
    let maximums = positional_maximums(records);
    let rank = |record: &LiteRecord| {
        let larger = maximums.iter().take_while(|&&most| most >= record.bytes());
        larger.count()
    };
    let mut objects = vec![usize::MAX; records.len()];
    let mut sizes: Vec<u64> = Vec::new();
    // For each tensor the distance in time to each object; `None` if it overlaps a tensor in the object.
    let mut distances: Vec<Vec<Option<u32>>> = vec![Vec::new(); records.len()];
    for _ in 0..records.len() {
        let nearest = |index: usize| {
            let near = distances[index].iter().enumerate();
            near.filter_map(|(object, distance)| Some(((*distance)?, object)))
                .min()
        };
        let open = (0..records.len()).filter(|&index| objects[index] == usize::MAX);
        let key = |&index: &usize| {
            let distance = nearest(index).map_or(u32::MAX, |(distance, _)| distance);
            (rank(&records[index]), distance, Reverse(records[index].bytes()))
        };
        let Some(index) = open.min_by_key(key) else { break };
        let object = nearest(index).map_or(sizes.len(), |(_, object)| object);
        if object == sizes.len() {
            sizes.push(0);
            distances.iter_mut().for_each(|of| of.push(Some(u32::MAX)));
        }
        sizes[object] = sizes[object].max(records[index].bytes());
        objects[index] = object;
        for (other, record) in records.iter().enumerate() {
            let of = &records[index];
            let (after, before) = (
                of.first.saturating_sub(record.last),
                record.first.saturating_sub(of.last),
            );
            let known = &mut distances[other][object];
            let free = known.filter(|_| !of.overlaps(record));
            *known = free.map(|known| known.min(after.max(before)));
        }
    }
    Assignment::flat(objects, sizes)
}

/// Assigns tensors by a minimum-cost flow: each tensor either opens an object, at the cost of its size, or follows an earlier tensor in its
/// object, at the cost of the bytes to be added; each has at most one predecessor and one successor.
fn flow(records: &[LiteRecord]) -> Assignment {
    let count = records.len();
    let (source, sink) = (2 * count, 2 * count + 1);
    let mut network = Network::new(sink + 1);
    for (index, record) in records.iter().enumerate() {
        network.add(source, index, 0);
        network.add(count + index, sink, 0);
        network.add(source, count + index, record.bytes() as i64);
        for (before, earlier) in records[..index].iter().enumerate() {
            if earlier.last < record.first {
                let added = record.bytes().saturating_sub(earlier.bytes());
                network.add(before, count + index, added as i64);
            }
        }
    }
    while network.augment(source, sink) {}
    let mut assignment = Assignment {
        objects: vec![usize::MAX; count],
        sizes: Vec::new(),
    };
    for (index, record) in records.iter().enumerate() {
        let before = (0..index).find(|&before| network.is_used(before, count + index));
        let object = match before {
            Some(before) => assignment.objects[before],
            None => assignment.new_object(&[0]),
        };
        let size = &mut assignment.sizes[object][0];
        *size = record.bytes().max(*size);
        assignment.objects[index] = object;
    }
    assignment
}

/// A flow network: edges of capacity 1 with costs, each stored next to its reverse edge.
struct Network {
    edges: Vec<(usize, bool, i64)>,
    from: Vec<Vec<usize>>,
}

impl Network {
    fn new(vertices: usize) -> Network {
        Network {
            edges: Vec::new(),
            from: vec![Vec::new(); vertices],
        }
    }

    fn add(&mut self, from: usize, to: usize, cost: i64) {
        self.from[from].push(self.edges.len());
        self.edges.push((to, true, cost));
        self.from[to].push(self.edges.len());
        self.edges.push((from, false, -cost));
    }

    fn is_used(&self, from: usize, to: usize) -> bool {
        // Even edges are forward edges; one without remaining capacity is used.
        let mut edges = self.from[from].iter();
        edges.any(|&edge| edge % 2 == 0 && self.edges[edge].0 == to && !self.edges[edge].1)
    }

    /// Sends one unit of flow along the cheapest path; returns false if no path is left.
    fn augment(&mut self, source: usize, sink: usize) -> bool {
        let mut costs = vec![i64::MAX; self.from.len()];
        let mut by = vec![usize::MAX; self.from.len()];
        let mut waiting = vec![false; self.from.len()];
        let mut queue = std::collections::VecDeque::from([source]);
        costs[source] = 0;
        while let Some(vertex) = queue.pop_front() {
            waiting[vertex] = false;
            for &edge in &self.from[vertex] {
                let (to, room, cost) = self.edges[edge];
                if room && costs[vertex] + cost < costs[to] {
                    costs[to] = costs[vertex] + cost;
                    by[to] = edge;
                    if !std::mem::replace(&mut waiting[to], true) {
                        queue.push_back(to);
                    }
                }
            }
        }
        if costs[sink] == i64::MAX {
            return false;
        }
        let mut vertex = sink;
        while vertex != source {
            let edge = by[vertex];
            self.edges[edge].1 = false;
            self.edges[edge ^ 1].1 = true;
            vertex = self.edges[edge ^ 1].0;
        }
        true
    }
}
