//! A plan over time: live bytes by step, the live set at the peak, and a trace for trace viewers.

use serde_json::{Value, json};

use crate::graph::Graph;
use crate::plan::TensorPlan;
use crate::plan::placement::SpaceItem;
use crate::plan::{Allocation, MemoryId, Region};
use crate::units::{Bytes, Span, Step};

/// Allocations over time, in all memories.
///
/// ```
/// use tileheap_tensor::MemoryDesc;
/// use tileheap_tensor::plan::Offsets;
/// use tileheap_tensor::plan::timeline::Timeline;
/// use tileheap_tensor::plan::placement::place;
/// use tileheap_tensor::import::read_records;
/// use tileheap_tensor::units::Bytes;
///
/// let items = read_records("id,lower,upper,size\nx,0,2,64\ny,1,3,32\nz,2,4,48")?;
/// let space = place(&items, &[MemoryDesc::new("memory")], &Offsets(tileheap_pack::Strategy::Auto))?;
/// let timeline = Timeline::of_records(&items, &space.regions);
/// assert_eq!(timeline.live_bytes(), [64, 96, 80, 48].map(Bytes));
/// let (step, bytes, alive) = timeline.peak().expect("steps");
/// assert_eq!((step.0, bytes, alive.len()), (1, Bytes(96), 2));
/// # Ok::<(), tileheap_tensor::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// All allocations.
    pub allocations: Vec<Allocation>,
    /// The name of the node at each step; empty if unknown.
    pub steps: Vec<String>,
}

impl Timeline {
    /// The timeline of a graph's plan. Tensors that share a placement are listed one by one.
    pub fn of_plan(graph: &Graph, plan: &TensorPlan) -> Timeline {
        let mut allocations = Vec::new();
        for (tensor, placed) in graph.tensors().iter().zip(&plan.tensors) {
            let regions: Vec<Region> = placed
                .placement
                .iter()
                .flat_map(|place| place.regions())
                .collect();
            for (index, &region) in regions.iter().enumerate() {
                if !regions[..index].contains(&region) {
                    let (name, lifetimes) = (tensor.name.clone(), placed.lifetimes.clone());
                    allocations.push(Allocation {
                        name,
                        region,
                        lifetimes,
                    });
                }
            }
        }
        let steps = plan
            .timeline
            .iter()
            .map(|step| graph.node(step.node).name.clone())
            .collect();
        Timeline { allocations, steps }
    }

    /// The timeline of records.
    pub fn of_records(items: &[SpaceItem], regions: &[Region]) -> Timeline {
        Timeline {
            allocations: Allocation::of_items(items, regions),
            steps: Vec::new(),
        }
    }

    /// Number of steps.
    pub fn len(&self) -> u32 {
        let ends = self.lifetimes().map(|(_, lifetime)| lifetime.end.0);
        ends.max().unwrap_or(0).max(self.steps.len() as u32)
    }

    fn lifetimes(&self) -> impl Iterator<Item = (&Allocation, Span)> {
        let all = self.allocations.iter();
        all.flat_map(|occupant| {
            occupant
                .lifetimes
                .iter()
                .map(move |&lifetime| (occupant, lifetime))
        })
    }

    /// Returns true if there are no steps.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Live bytes at each step: the union of the regions of live allocations.
    pub fn live_bytes(&self) -> Vec<Bytes> {
        let count = self.len() as usize;
        let mut at: Vec<Vec<(u32, u64, u64)>> = vec![Vec::new(); count];
        for (occupant, lifetime) in self.lifetimes() {
            let region = occupant.region;
            let taken = (region.memory.0, region.offset.0, region.offset.0 + region.size.0);
            for step in lifetime.first.0..lifetime.end.0 {
                at[step as usize].push(taken);
            }
        }
        let bytes = at.into_iter().map(|mut taken| {
            taken.sort_unstable();
            let mut sum = 0;
            let mut last = (u32::MAX, 0);
            for (memory, first, end) in taken {
                let from = first.max(if last.0 == memory { last.1 } else { 0 });
                if end > from {
                    sum += end - from;
                    last = (memory, end);
                }
            }
            Bytes(sum)
        });
        bytes.collect()
    }

    /// The first step at which the most bytes are live, and the live allocations, the largest first.
    pub fn peak(&self) -> Option<(Step, Bytes, Vec<&Allocation>)> {
        let live = self.live_bytes();
        let most = *live.iter().max()?;
        let step = Step(live.iter().position(|&bytes| bytes == most)? as u32);
        let alive =
            |occupant: &&Allocation| occupant.lifetimes.iter().any(|lifetime| lifetime.contains(step));
        let mut there: Vec<&Allocation> = self.allocations.iter().filter(alive).collect();
        there.sort_by_key(|occupant| (std::cmp::Reverse(occupant.region.size), occupant.region.offset));
        Some((step, most, there))
    }

    /// Events for `chrome://tracing` and Perfetto: a process for each memory with a row for each offset in it (a second row if a tensor
    /// overwrites another in the same step), a slice for each lifetime; and a process for the nodes, with a counter of live bytes. A step
    /// is a microsecond.
    pub fn chrome_trace(&self) -> String {
        let mut lifetimes: Vec<(&Allocation, Span)> = self.lifetimes().collect();
        lifetimes.sort_by_key(|(of, lifetime)| (of.region.memory, of.region.offset, lifetime.first));
        let memories = lifetimes.iter().map(|(occupant, _)| occupant.region.memory.0 + 1);
        let nodes = memories.max().unwrap_or(0);
        let named = |kind: &str, process: u32, row: usize, name: String| json!({ "name": kind, "ph": "M", "pid": process, "tid": row, "args": { "name": name } });
        let mut events: Vec<Value> = (0..nodes)
            .map(|memory| named("process_name", memory, 0, format!("memory {memory}")))
            .collect();
        events.push(named("process_name", nodes, 0, "nodes".to_owned()));
        // Each row, and the step at which it is free again; rows of one memory and offset are adjacent.
        let mut rows: Vec<(MemoryId, Bytes, Step)> = Vec::new();
        for (occupant, lifetime) in lifetimes {
            let Region { memory, offset, size } = occupant.region;
            let here = |row: &(MemoryId, Bytes, Step)| (row.0, row.1) == (memory, offset);
            let free = rows.iter().rposition(|row| here(row) && row.2 <= lifetime.first);
            let row = free.unwrap_or_else(|| {
                rows.push((memory, offset, Step(0)));
                let name = format!("at {offset}");
                events.push(named("thread_name", memory.0, rows.len() - 1, name));
                rows.len() - 1
            });
            rows[row].2 = lifetime.end;
            events.push(json!({
                "name": occupant.name, "cat": "tensor", "ph": "X", "pid": memory.0, "tid": row,
                "ts": lifetime.first.0, "dur": lifetime.len(), "args": { "offset": offset.0, "size": size.0 },
            }));
        }
        for (step, name) in self.steps.iter().enumerate() {
            events.push(json!({ "name": name, "cat": "node", "ph": "X", "pid": nodes, "tid": 0, "ts": step, "dur": 1 }));
        }
        for (step, bytes) in self.live_bytes().into_iter().enumerate() {
            events.push(json!({ "name": "live bytes", "ph": "C", "pid": nodes, "ts": step, "args": { "bytes": bytes.0 } }));
        }
        format!("{}\n", json!({ "traceEvents": events, "displayTimeUnit": "ms" }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ```text
    /// offset 64        c ██
    /// offset 0    a ████    d ██
    ///                b ████         b is written over a, in the step that reads a for the last time
    /// ```
    #[test]
    fn slices_of_a_trace_do_not_cross_within_a_row() {
        let slot = |name: &str, offset: u64, lifetime: (u32, u32)| Allocation {
            name: name.to_owned(),
            region: Region {
                memory: MemoryId(0),
                offset: Bytes(offset),
                size: Bytes(64),
            },
            lifetimes: vec![Span::new(lifetime.0, lifetime.1)],
        };
        let slots = [
            ("a", 0, (0, 2)),
            ("b", 0, (1, 3)),
            ("c", 64, (1, 2)),
            ("d", 0, (3, 4)),
        ];
        let timeline = Timeline {
            allocations: slots
                .map(|(name, offset, lifetime)| slot(name, offset, lifetime))
                .to_vec(),
            steps: vec!["node".to_owned(); 4],
        };
        let trace: Value = serde_json::from_str(&timeline.chrome_trace()).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let row_of = |name: &str| {
            let mut events = events.iter();
            let event = events
                .find(|event| event["name"] == name && event["cat"] == "tensor")
                .unwrap();
            ["pid", "tid"].map(|key| event[key].as_u64().unwrap())
        };
        assert_ne!(row_of("a"), row_of("b"));
        assert_ne!(row_of("a"), row_of("c"));
        assert!(row_of("d") == row_of("a") || row_of("d") == row_of("b"));
        let called = |name: &str| {
            events
                .iter()
                .filter(|event| event["args"]["name"] == name)
                .count()
        };
        assert_eq!(
            ["memory 0", "nodes", "at 0 B", "at 64 B"].map(called),
            [1, 1, 2, 1]
        );
        let live = events.iter().filter_map(|event| event["args"]["bytes"].as_u64());
        assert_eq!(live.max(), Some(128));
    }
}
