//! What a plan looks like over time: live bytes by step, who is alive at the peak, and a trace for viewers.

use serde_json::{Value, json};

use super::plan::{Region, Slot};
use super::{Graph, SpaceItem, TensorPlan};
use crate::units::{Bytes, Step};

/// Who is where when, over all memories.
///
/// ```
/// use tileheap::tensor::{MemoryDesc, TensorStrategy, Timeline, place, read_records};
/// use tileheap::units::Bytes;
///
/// let items = read_records("id,lower,upper,size\nx,0,2,64\ny,1,3,32\nz,2,4,48")?;
/// let space = place(&items, &[MemoryDesc::new("memory")], TensorStrategy::default())?;
/// let timeline = Timeline::of_records(&items, &space.regions);
/// assert_eq!(timeline.live_bytes(), [64, 96, 80, 48].map(Bytes));
/// let (step, bytes, alive) = timeline.peak().expect("steps");
/// assert_eq!((step.0, bytes, alive.len()), (1, Bytes(96), 2));
/// # Ok::<(), tileheap::tensor::TensorFault>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Everything that is placed.
    pub occupants: Vec<Slot>,
    /// What runs at each step, by name; empty where that is not known.
    pub steps: Vec<String>,
}

impl Timeline {
    /// Of a graph's plan. Tensors that share a place from one to the next are each listed.
    pub fn of_plan(graph: &Graph, plan: &TensorPlan) -> Timeline {
        let mut occupants = Vec::new();
        for id in graph.tensor_ids() {
            let placed = plan.tensor(id);
            let regions = placed
                .place
                .as_ref()
                .map(|place| place.regions())
                .unwrap_or_default();
            for (index, region) in regions.iter().enumerate() {
                if regions[..index].contains(region) {
                    continue;
                }
                occupants.push(Slot {
                    name: graph.tensor(id).name.clone(),
                    region: *region,
                    lives: placed.lives.clone(),
                });
            }
        }
        let steps = plan
            .timeline
            .iter()
            .map(|moment| graph.node(moment.node).name.clone());
        Timeline {
            occupants,
            steps: steps.collect(),
        }
    }

    /// Of plain records.
    pub fn of_records(items: &[SpaceItem], regions: &[Region]) -> Timeline {
        let occupants = items.iter().zip(regions).map(|(item, &region)| Slot {
            name: item.name.clone(),
            region,
            lives: item.lives.clone(),
        });
        Timeline {
            occupants: occupants.collect(),
            steps: Vec::new(),
        }
    }

    /// How many steps there are.
    pub fn len(&self) -> u32 {
        let ends = self
            .occupants
            .iter()
            .flat_map(|occupant| &occupant.lives)
            .map(|life| life.end.0);
        ends.max().unwrap_or(0).max(self.steps.len() as u32)
    }

    /// Whether nothing ever happens.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that are taken at each step: those of all regions that something lives in, each byte once.
    pub fn live_bytes(&self) -> Vec<Bytes> {
        let count = self.len() as usize;
        let mut at: Vec<Vec<(u32, u64, u64)>> = vec![Vec::new(); count];
        for occupant in &self.occupants {
            let region = occupant.region;
            for life in &occupant.lives {
                for step in life.first.0..life.end.0 {
                    at[step as usize].push((
                        region.memory.0,
                        region.offset.0,
                        region.offset.0 + region.size.0,
                    ));
                }
            }
        }
        let bytes = at.into_iter().map(|mut taken| {
            taken.sort_unstable();
            let mut sum = 0;
            let mut last = (u32::MAX, 0);
            for (memory, first, end) in taken {
                let from = if last.0 == memory {
                    first.max(last.1)
                } else {
                    first
                };
                if end > from {
                    sum += end - from;
                    last = (memory, end);
                }
            }
            Bytes(sum)
        });
        bytes.collect()
    }

    /// The first step at which the most bytes are taken, and who lives there, the largest first.
    pub fn peak(&self) -> Option<(Step, Bytes, Vec<&Slot>)> {
        let live = self.live_bytes();
        let most = *live.iter().max()?;
        let step = Step(live.iter().position(|&bytes| bytes == most)? as u32);
        let alive = |occupant: &&Slot| occupant.lives.iter().any(|life| life.contains(step));
        let mut there: Vec<&Slot> = self.occupants.iter().filter(alive).collect();
        there.sort_by_key(|occupant| (std::cmp::Reverse(occupant.region.size), occupant.region.offset));
        Some((step, most, there))
    }

    /// Events for `chrome://tracing` and Perfetto: a row for each memory, a slice for each life, a counter of live bytes; a
    /// step is a microsecond.
    pub fn chrome_trace(&self) -> String {
        let mut events: Vec<Value> = Vec::new();
        for occupant in &self.occupants {
            for life in &occupant.lives {
                events.push(json!({
                    "name": occupant.name, "cat": "tensor", "ph": "X", "pid": occupant.region.memory.0, "tid": occupant.region.offset.0,
                    "ts": life.first.0, "dur": life.len(),
                    "args": { "offset": occupant.region.offset.0, "size": occupant.region.size.0 },
                }));
            }
        }
        for (step, name) in self.steps.iter().enumerate() {
            events.push(json!({ "name": name, "cat": "node", "ph": "X", "pid": "nodes", "tid": 0, "ts": step, "dur": 1 }));
        }
        for (step, bytes) in self.live_bytes().into_iter().enumerate() {
            events.push(json!({ "name": "live bytes", "ph": "C", "pid": "nodes", "ts": step, "args": { "bytes": bytes.0 } }));
        }
        format!("{}\n", json!({ "traceEvents": events, "displayTimeUnit": "ms" }))
    }
}
