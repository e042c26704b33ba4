//! Space: things with lives and sizes into memories, through the placement engine.

use std::ops::ControlFlow;

use super::options::MemoryDesc;
use super::strategy::TensorStrategy;
use super::types::{MemoryId, MemoryPlan, Region};
use crate::TensorError;
use crate::pools::{self, PoolImage};
use crate::units::{Alignment, Bytes, Span};
use tileheap_pack::{self, Item, Packer, Problem, ProblemDesc, Steps};

/// Something that needs bytes: a tensor, or several that share a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceItem {
    /// Its name, for messages.
    pub name: String,
    /// When it lives, ascending; apart from one another.
    pub lives: Vec<Span>,
    /// How many bytes.
    pub size: Bytes,
    /// What its offset is a multiple of, whatever the memory.
    pub alignment: Alignment,
    /// Memory types that can hold it.
    pub memory_type_bits: u32,
    /// The memory that it has to be in, by name.
    pub memory: Option<String>,
    /// What the peers' pools of images go by; none for a buffer.
    pub image: Option<PoolImage>,
    /// The pool entry that was given to it.
    pub storage_id: Option<u32>,
    /// What it is worth in a faster memory: bytes times accesses.
    pub worth: u64,
}

impl SpaceItem {
    /// A plain record: a life and a size.
    pub fn record(name: impl Into<String>, life: Span, size: Bytes) -> SpaceItem {
        SpaceItem {
            name: name.into(),
            lives: vec![life],
            size,
            alignment: Alignment::ONE,
            memory_type_bits: u32::MAX,
            memory: None,
            image: None,
            storage_id: None,
            worth: size.0,
        }
    }

    /// From the first step of its lives to the last.
    pub fn hull(&self) -> Span {
        let living = || self.lives.iter().filter(|life| !life.is_empty());
        Span {
            first: living().map(|life| life.first).min().unwrap_or_default(),
            end: living().map(|life| life.end).max().unwrap_or_default(),
        }
    }

    /// Whether two live at the same step.
    pub fn meets(&self, other: &SpaceItem) -> bool {
        self.lives
            .iter()
            .any(|one| other.lives.iter().any(|two| one.overlaps(*two)))
    }
}

/// Where everything is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// One per item.
    pub regions: Vec<Region>,
    /// One per memory.
    pub memories: Vec<MemoryPlan>,
}

/// An algorithm of the user's: places items, and is checked.
///
/// ```
/// use tileheap_tensor::{
///     ElementType, GraphBuilder, MemoryDesc, MemoryId, Region, SpaceAlgorithm, SpaceItem, StorageOptions,
///     TensorPlanOptions, TensorRequirements, choose, plan,
/// };
/// use tileheap_tensor::units::{Alignment, Bytes};
///
/// /// Everything in the last memory, one after the other.
/// struct InTurn;
///
/// impl SpaceAlgorithm for InTurn {
///     fn name(&self) -> &str {
///         "in-turn"
///     }
///
///     fn place(&self, items: &[SpaceItem], memories: &[MemoryDesc]) -> Result<Vec<Region>, String> {
///         let memory = MemoryId(memories.len() as u32 - 1);
///         let mut end = Bytes::ZERO;
///         let place = |item: &SpaceItem| {
///             let offset = end.align_up(item.alignment);
///             end = offset + item.size;
///             Region { memory, offset, size: item.size }
///         };
///         Ok(items.iter().map(place).collect())
///     }
/// }
///
/// let mut graph = GraphBuilder::new("two");
/// let x = graph.input("x", ElementType::Float32, [64]);
/// let y = graph.operator("y", "exp", [], &[x])?[0];
/// graph.output(y);
/// let choice = choose(&graph.build()?, &StorageOptions::default())?;
/// let pitch = Alignment::new(64).expect("not 0"); // of image rows, in bytes
/// let needs: Vec<_> = choice.layouts.iter().map(|of| TensorRequirements::of_layout(of, pitch)).collect();
/// let mut options = TensorPlanOptions { in_place: false, ..TensorPlanOptions::default() };
/// options.algorithm = Some(&InTurn);
/// let plan = plan(&choice.graph, &choice.layouts, &needs, &options)?;
/// assert_eq!(plan.size(), Bytes(2 * 64 * 4));
/// # Ok::<(), tileheap_tensor::TensorError>(())
/// ```
pub trait SpaceAlgorithm {
    /// Its name, for messages.
    fn name(&self) -> &str;

    /// A region for each item.
    ///
    /// # Errors
    /// Why it has none.
    fn place(&self, items: &[SpaceItem], memories: &[MemoryDesc]) -> Result<Vec<Region>, String>;
}

/// Places items in memories.
///
/// Of several memories each in turn keeps what is worth most in it, and the rest spills into the next; items that are pinned
/// come first. Pools know one memory: with them each memory is a pool of its own for what is pinned to it, and the last one that
/// can hold them takes the others.
///
/// # Errors
/// An item that fits nowhere, or that has to be where it cannot be.
pub fn place(
    items: &[SpaceItem],
    memories: &[MemoryDesc],
    strategy: TensorStrategy,
) -> Result<Space, TensorError> {
    let mut space = Space {
        regions: vec![
            Region {
                memory: MemoryId(0),
                offset: Bytes::ZERO,
                size: Bytes::ZERO
            };
            items.len()
        ],
        memories: Vec::with_capacity(memories.len()),
    };
    check_pins(items, memories)?;
    let mut packer = Packer::default();
    let mut left: Vec<u32> = (0..items.len() as u32).collect();
    for (number, memory) in memories.iter().enumerate() {
        let later = &memories[number + 1..];
        let goes_on =
            |item: &SpaceItem| item.memory.is_none() && later.iter().any(|memory| can_hold(memory, item));
        // A memory without a capacity takes all that may be in it, one with a capacity is offered it.
        let offered: Vec<u32> = left
            .iter()
            .copied()
            .filter(|&item| can_hold(memory, &items[item as usize]))
            .collect();
        let may_spill = offered.iter().any(|&item| goes_on(&items[item as usize]));
        let kept = match (memory.capacity, strategy) {
            (Some(capacity), TensorStrategy::Offsets(_)) if may_spill => {
                keep_best(items, &offered, memory, capacity, &goes_on, &mut packer)?
            }
            (Some(_), _) if may_spill => {
                let pinned = offered
                    .iter()
                    .copied()
                    .filter(|&item| !goes_on(&items[item as usize]));
                everything(items, &pinned.collect::<Vec<_>>(), memory, strategy, &mut packer)?
            }
            _ => everything(items, &offered, memory, strategy, &mut packer)?,
        };
        let mut height = kept.height;
        let mut inside = Vec::new();
        for &(item, offset) in &kept.places {
            let size = items[item as usize].size;
            space.regions[item as usize] = Region {
                memory: MemoryId(number as u32),
                offset,
                size,
            };
            height = height.max(offset + size);
            inside.push(item);
        }
        inside.sort_unstable();
        left.retain(|item| inside.binary_search(item).is_err());
        let problem = problem(items, &inside, memory)?;
        space.memories.push(MemoryPlan {
            name: memory.name.clone(),
            size: height,
            bound: packer.lower_bound(&problem),
            alignment: memory.alignment,
            capacity: memory.capacity,
        });
    }
    match left.first() {
        None => Ok(space),
        Some(&item) => Err(TensorError::Memory {
            tensor: items[item as usize].name.clone(),
            memory: "any".to_owned(),
            problem: "no memory has a type that can hold it".to_owned(),
        }),
    }
}

/// Steps of searching where the cheap rules do not reach the bound: a second or so for a thousand tensors.
const BUDGET: Steps = Steps(60_000);

struct Kept {
    places: Vec<(u32, Bytes)>,
    height: Bytes,
}

fn can_hold(memory: &MemoryDesc, item: &SpaceItem) -> bool {
    let wanted = item.memory.as_ref().is_none_or(|name| *name == memory.name);
    wanted && item.memory_type_bits & memory.memory_type_bits != 0
}

fn check_pins(items: &[SpaceItem], memories: &[MemoryDesc]) -> Result<(), TensorError> {
    for item in items {
        let Some(name) = &item.memory else { continue };
        let problem = match memories.iter().find(|memory| memory.name == *name) {
            None => "there is no such memory",
            Some(memory) if !can_hold(memory, item) => "it has no type that can hold it",
            Some(_) => continue,
        };
        return Err(TensorError::Memory {
            tensor: item.name.clone(),
            memory: name.clone(),
            problem: problem.to_owned(),
        });
    }
    Ok(())
}

/// The packing problem of some items in a memory; items of several lives are groups.
fn problem(items: &[SpaceItem], which: &[u32], memory: &MemoryDesc) -> Result<Problem, TensorError> {
    let mut parts = Vec::with_capacity(which.len());
    let mut owners = Vec::with_capacity(which.len());
    for (number, &index) in which.iter().enumerate() {
        let item = &items[index as usize];
        let alignment = item.alignment.lcm(memory.alignment).unwrap_or(item.alignment);
        let mut add = |life: Span, together: Option<u32>| {
            let mut part = Item::new(life, item.size, alignment);
            part.together = together;
            parts.push(part);
            owners.push(index);
        };
        match item.lives.as_slice() {
            [] => add(Span::default(), None),
            [life] => add(*life, None),
            lives => lives.iter().for_each(|life| add(*life, Some(number as u32))),
        }
    }
    let mut desc = ProblemDesc::new(parts);
    desc.capacity = memory.capacity;
    desc.build().map_err(|fault| {
        let owner = fault.item().map_or(which[0], |item| owners[item as usize]);
        TensorError::Pack {
            tensor: items[owner as usize].name.clone(),
            fault,
        }
    })
}

/// Offsets of items from offsets of their parts.
fn gather(items: &[SpaceItem], which: &[u32], offsets: &[Option<Bytes>]) -> Vec<(u32, Bytes)> {
    let mut places = Vec::with_capacity(which.len());
    let mut part = 0;
    for &index in which {
        if let Some(offset) = offsets[part] {
            places.push((index, offset));
        }
        part += items[index as usize].lives.len().max(1);
    }
    places
}

/// All of them in one memory, or an error that says what does not fit.
fn everything(
    items: &[SpaceItem],
    which: &[u32],
    memory: &MemoryDesc,
    strategy: TensorStrategy,
    packer: &mut Packer,
) -> Result<Kept, TensorError> {
    let kept = match strategy {
        TensorStrategy::Offsets(strategy) => {
            let problem = problem(items, which, memory)?;
            let mut go_on = |_| ControlFlow::Continue(());
            let searches = matches!(
                strategy,
                tileheap_pack::Strategy::Auto | tileheap_pack::Strategy::Exact
            );
            let answer = match (memory.capacity, searches) {
                (Some(_), true) => packer.fit(&problem, strategy, BUDGET, &mut go_on).packing,
                (None, true) => packer.minimise(&problem, strategy, BUDGET, &mut go_on).packing,
                _ => None,
            };
            let packing = answer.unwrap_or_else(|| packer.pack(&problem, strategy));
            let offsets: Vec<Option<Bytes>> = packing.offsets.into_iter().map(Some).collect();
            Kept {
                places: gather(items, which, &offsets),
                height: packing.height,
            }
        }
        TensorStrategy::Pools(rule) => {
            let chosen: Vec<&SpaceItem> = which.iter().map(|&item| &items[item as usize]).collect();
            pooled(which, pools::assign(&chosen, rule), memory)?
        }
        TensorStrategy::StorageIds => {
            let chosen: Vec<&SpaceItem> = which.iter().map(|&item| &items[item as usize]).collect();
            pooled(which, pools::given(&chosen)?, memory)?
        }
    };
    let Some(capacity) = memory.capacity.filter(|&capacity| kept.height > capacity) else {
        return Ok(kept);
    };
    let bound = packer.lower_bound(&problem(items, which, memory)?);
    let over = |&&(item, offset): &&(u32, Bytes)| offset + items[item as usize].size > capacity;
    let outside = kept
        .places
        .iter()
        .filter(over)
        .max_by_key(|(item, _)| items[*item as usize].size);
    let item = &items[outside.map_or(which[0], |(item, _)| *item) as usize];
    Err(TensorError::MemoryTooSmall {
        tensor: item.name.clone(),
        size: item.size,
        memory: memory.name.clone(),
        capacity,
        needed: (bound > capacity).then_some(bound),
    })
}

/// Objects one above the other, each aligned for all.
fn pooled(which: &[u32], pools: pools::Pools, memory: &MemoryDesc) -> Result<Kept, TensorError> {
    let always = Span::new(0, 1);
    let objects = pools
        .sizes
        .iter()
        .zip(&pools.alignments)
        .map(|(&size, &alignment)| {
            Item::new(always, size, alignment.lcm(memory.alignment).unwrap_or(alignment))
        });
    let problem = Problem::new(objects.collect()).map_err(|fault| {
        let tensor = which.first().map_or(String::new(), |_| memory.name.clone());
        TensorError::Pack { tensor, fault }
    })?;
    let packing = tileheap_pack::pack(&problem, tileheap_pack::Strategy::Naive);
    let places = which
        .iter()
        .zip(&pools.places)
        .map(|(&item, place)| (item, packing.offsets[place.object] + place.offset));
    Ok(Kept {
        places: places.collect(),
        height: packing.height,
    })
}

/// What is worth most within a capacity; what must be in it counts for more than all the rest.
fn keep_best(
    items: &[SpaceItem],
    offered: &[u32],
    memory: &MemoryDesc,
    capacity: Bytes,
    goes_on: &impl Fn(&SpaceItem) -> bool,
    packer: &mut Packer,
) -> Result<Kept, TensorError> {
    let problem = problem(items, offered, memory)?;
    let count = offered.len().max(1) as u64;
    let most = (1 << 62) / (count * (count + 1));
    let total = offered
        .iter()
        .map(|&item| items[item as usize].worth)
        .max()
        .unwrap_or(0)
        .max(1);
    let mut worths = Vec::with_capacity(problem.items().len());
    for &index in offered {
        let item = &items[index as usize];
        let scaled = (u128::from(item.worth) * u128::from(most) / u128::from(total)) as u64;
        let worth = if goes_on(item) {
            scaled
        } else {
            most.saturating_mul(count)
        };
        worths.push(worth);
        worths.extend(std::iter::repeat_n(0, item.lives.len().max(1) - 1));
    }
    let mut go_on = |_| ControlFlow::Continue(());
    let selection = packer.select(&problem, &worths, BUDGET, &mut go_on);
    let places = gather(items, offered, &selection.offsets);
    let placed: Vec<u32> = places.iter().map(|&(item, _)| item).collect();
    let missing = offered
        .iter()
        .find(|&&item| !goes_on(&items[item as usize]) && !placed.contains(&item));
    if let Some(&item) = missing {
        let item = &items[item as usize];
        return Err(TensorError::MemoryTooSmall {
            tensor: item.name.clone(),
            size: item.size,
            memory: memory.name.clone(),
            capacity,
            needed: None,
        });
    }
    Ok(Kept {
        places,
        height: selection.height,
    })
}

/// Places items by a user's algorithm, whose answer is checked: lives that meet share no bytes, alignments and capacities hold.
///
/// # Errors
/// The algorithm's own, or the first thing that is wrong with its answer.
pub fn place_by(
    algorithm: &dyn SpaceAlgorithm,
    items: &[SpaceItem],
    memories: &[MemoryDesc],
) -> Result<Space, TensorError> {
    let wrong = |problem: String| TensorError::Algorithm {
        algorithm: algorithm.name().to_owned(),
        problem,
    };
    let regions = algorithm.place(items, memories).map_err(wrong)?;
    check_regions(items, &regions, memories).map_err(wrong)?;
    let mut space = Space {
        regions,
        memories: Vec::new(),
    };
    for (number, memory) in memories.iter().enumerate() {
        let inside = |item: &u32| space.regions[*item as usize].memory.0 as usize == number;
        let which: Vec<u32> = (0..items.len() as u32).filter(inside).collect();
        let regions = which.iter().map(|&item| space.regions[item as usize]);
        let ends = regions.map(|region| region.offset + region.size);
        space.memories.push(MemoryPlan {
            name: memory.name.clone(),
            size: ends.max().unwrap_or(Bytes::ZERO),
            bound: if which.is_empty() {
                Bytes::ZERO
            } else {
                tileheap_pack::lower_bound(&problem(items, &which, memory)?)
            },
            alignment: memory.alignment,
            capacity: memory.capacity,
        });
    }
    Ok(space)
}

/// Judges regions by looking at every pair: O(n²). Knows nothing of how they were found.
pub(crate) fn check_regions(
    items: &[SpaceItem],
    regions: &[Region],
    memories: &[MemoryDesc],
) -> Result<(), String> {
    if regions.len() != items.len() {
        return Err(format!("{} regions for {} tensors", regions.len(), items.len()));
    }
    for (index, (item, region)) in items.iter().zip(regions).enumerate() {
        let name = &item.name;
        let Some(memory) = memories.get(region.memory.0 as usize) else {
            return Err(format!(
                "tensor `{name}` is in memory {}, of {}",
                region.memory.0,
                memories.len()
            ));
        };
        if !can_hold(memory, item) {
            return Err(format!("tensor `{name}` cannot be in memory `{}`", memory.name));
        }
        for alignment in [item.alignment, memory.alignment] {
            if !region.offset.is_aligned(alignment) {
                return Err(format!(
                    "tensor `{name}` is at {}, and its alignment in memory `{}` is {alignment}",
                    region.offset, memory.name
                ));
            }
        }
        if region.size < item.size {
            return Err(format!("tensor `{name}` of {} has {}", item.size, region.size));
        }
        let end = Bytes(region.offset.0.saturating_add(region.size.0));
        let capacity = memory.capacity.unwrap_or(Bytes(u64::MAX - 1));
        if end > capacity {
            return Err(format!(
                "tensor `{name}` ends at {end}, and memory `{}` has {capacity}",
                memory.name
            ));
        }
        for (other, taken) in items.iter().zip(regions).take(index) {
            if region.overlaps(taken) && item.meets(other) {
                return Err(format!(
                    "tensors `{name}` and `{}` live together and share bytes",
                    other.name
                ));
            }
        }
    }
    Ok(())
}
