//! Pools: whole objects that tensors take in turn, as the peers have them.
//!
//! Each rule says which object a tensor takes; where the objects are is up to the placement engine. They are here to be compared
//! with, and so that plans made elsewhere can be reproduced: offsets in one block need less.

mod executorch;
pub mod litert;
pub mod token;
pub mod usmp;

use serde::{Deserialize, Serialize};

use super::plan::SpaceItem;
use super::{ElementType, TensorError};
use crate::units::{Alignment, Bytes};
use litert::LiteRecord;
use token::{Token, TokenPool, TokenRule};

/// An image as the peers' pools see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PoolImage {
    /// Texels in a row.
    pub width: u64,
    /// Rows, those of all layers.
    pub height: u64,
    /// What an element is; four of them are a texel.
    pub element: ElementType,
    /// The storage scope.
    pub scope: String,
}

/// A rule by which tensors take objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PoolRule {
    /// ExecuTorch's document: among objects that are free, the one closest in size, else a new one.
    ExecutorchDocument,
    /// ExecuTorch's code without overlapping allocations, as its Vulkan delegate has it.
    ExecutorchObjects,
    /// TVM: tokens of bytes in a range of 16 times the size, and by the RFC's text for images (least added area, then least waste).
    TokenRfc,
    /// TVM: the same with the first planner of images that shipped.
    TokenFirst,
    /// TVM: the same with the later planner of images, which compares axis by axis.
    TokenLater,
    /// TVM: bytes alone, images too.
    Token1d,
    /// LiteRT: an object each.
    LitertNaive,
    /// LiteRT: objects of exactly the size.
    LitertEquality,
    /// LiteRT: in the order of births.
    LitertInOrder,
    /// LiteRT: a minimum cost flow.
    LitertMinCostFlow,
    /// LiteRT: the fullest task first.
    LitertByBreadth,
    /// LiteRT: by size, then by distance in time.
    LitertBySize,
    /// LiteRT: the best of the two before.
    LitertBest,
}

impl PoolRule {
    /// Every rule.
    pub const ALL: [PoolRule; 13] = [
        PoolRule::ExecutorchDocument,
        PoolRule::ExecutorchObjects,
        PoolRule::TokenRfc,
        PoolRule::TokenFirst,
        PoolRule::TokenLater,
        PoolRule::Token1d,
        PoolRule::LitertNaive,
        PoolRule::LitertEquality,
        PoolRule::LitertInOrder,
        PoolRule::LitertMinCostFlow,
        PoolRule::LitertByBreadth,
        PoolRule::LitertBySize,
        PoolRule::LitertBest,
    ];

    /// Its name, as on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            PoolRule::ExecutorchDocument => "executorch-document",
            PoolRule::ExecutorchObjects => "executorch-objects",
            PoolRule::TokenRfc => "token-rfc",
            PoolRule::TokenFirst => "token-first",
            PoolRule::TokenLater => "token-later",
            PoolRule::Token1d => "token-1d",
            PoolRule::LitertNaive => "litert-naive",
            PoolRule::LitertEquality => "litert-equality",
            PoolRule::LitertInOrder => "litert-in-order",
            PoolRule::LitertMinCostFlow => "litert-min-cost-flow",
            PoolRule::LitertByBreadth => "litert-by-breadth",
            PoolRule::LitertBySize => "litert-by-size",
            PoolRule::LitertBest => "litert-best",
        }
    }
}

/// Where an item is: an object, and bytes within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PoolPlace {
    pub(crate) object: usize,
    pub(crate) offset: Bytes,
}

/// Objects, and who takes which.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pools {
    pub(crate) places: Vec<PoolPlace>,
    pub(crate) sizes: Vec<Bytes>,
    pub(crate) alignments: Vec<Alignment>,
}

impl Pools {
    /// Objects as large as their largest item needs, or larger where `sizes` says so.
    fn of(items: &[&SpaceItem], objects: &[usize], sizes: Vec<Bytes>) -> Pools {
        let mut pools = Pools {
            alignments: vec![Alignment::ONE; sizes.len()],
            sizes,
            ..Pools::default()
        };
        for (item, &object) in items.iter().zip(objects) {
            let alignment = &mut pools.alignments[object];
            *alignment = alignment.lcm(item.alignment).unwrap_or(*alignment);
            let size = &mut pools.sizes[object];
            *size = (*size).max(item.size);
            let offset = Bytes::ZERO;
            pools.places.push(PoolPlace { object, offset });
        }
        pools
    }
}

/// Objects for items by a rule; items in the order in which they are born, equals as they are given.
pub(crate) fn assign(items: &[&SpaceItem], rule: PoolRule) -> Pools {
    match rule {
        PoolRule::ExecutorchDocument => executorch::document(items),
        PoolRule::ExecutorchObjects => executorch::objects(items),
        PoolRule::Token1d => tokens(items, TokenRule::Later, false),
        PoolRule::TokenRfc => tokens(items, TokenRule::Rfc, true),
        PoolRule::TokenFirst => tokens(items, TokenRule::First, true),
        PoolRule::TokenLater => tokens(items, TokenRule::Later, true),
        _ => lite(items, rule),
    }
}

/// Indices in the order of births.
fn by_birth(items: &[&SpaceItem]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&index| items[index].hull().first);
    order
}

fn lite(items: &[&SpaceItem], rule: PoolRule) -> Pools {
    let order = by_birth(items);
    // Images with images and buffers with buffers, each kind with its rules.
    let mut objects = vec![usize::MAX; items.len()];
    let mut sizes = Vec::new();
    for images in [false, true] {
        let kind: Vec<usize> = order
            .iter()
            .copied()
            .filter(|&index| items[index].image.is_some() == images)
            .collect();
        let records: Vec<LiteRecord> = kind
            .iter()
            .map(|&index| {
                let (item, life) = (items[index], items[index].hull());
                let size = match &item.image {
                    Some(image) => vec![image.width, image.height],
                    None => vec![item.size.0],
                };
                // Closed intervals: what never lives counts for its first step.
                let last = life.end.0.saturating_sub(1).max(life.first.0);
                LiteRecord {
                    size,
                    first: life.first.0,
                    last,
                }
            })
            .collect();
        let assignment = litert::assign(&records, rule);
        let texel = |index: usize| {
            items[index]
                .image
                .as_ref()
                .map_or(1, |image| 4 * image.element.bytes())
        };
        let mut widest = vec![1; assignment.sizes.len()];
        for (&index, &object) in kind.iter().zip(&assignment.objects) {
            widest[object] = texel(index).max(widest[object]);
            objects[index] = sizes.len() + object;
        }
        let bytes = assignment.sizes.iter().zip(widest);
        sizes.extend(bytes.map(|(size, texel)| Bytes(size.iter().product::<u64>() * texel)));
    }
    Pools::of(items, &objects, sizes)
}

/// Tokens requested as tensors are born and released as they die.
fn tokens(items: &[&SpaceItem], rule: TokenRule, images: bool) -> Pools {
    let mut pool = TokenPool::new(rule);
    let mut objects = vec![usize::MAX; items.len()];
    let mut living: Vec<usize> = Vec::new();
    for index in by_birth(items) {
        let item = items[index];
        let now = item.hull().first;
        living.retain(|&other| {
            let dead = items[other].hull().end <= now && !items[other].meets(item);
            if dead {
                pool.release(objects[other]);
            }
            !dead
        });
        let image = item.image.as_ref().filter(|_| images);
        let token = match image {
            Some(image) => Token::image(image.width, image.height, image.element, &image.scope),
            None => Token::bytes(item.size.0),
        };
        objects[index] = pool.allocate(&token);
        living.push(index);
    }
    let sizes = pool.block_bytes();
    Pools::of(items, &objects, sizes)
}

/// The pool entries that items came with; an item without one has an object of its own.
///
/// An entry of images is the largest width by the largest height, of one element type; one of buffers the most bytes, in whole words.
///
/// # Errors
/// Two items of one entry live together, or an entry mixes images with buffers or types of elements.
///
/// Source: TVM's [RFC](crate#sources), "Graph runtime"; TVM's graph executor.
pub(crate) fn given(items: &[&SpaceItem]) -> Result<Pools, TensorError> {
    let mut ids: Vec<u32> = Vec::new();
    let mut objects = Vec::with_capacity(items.len());
    let mut entries: Vec<Vec<usize>> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let known = item
            .storage_id
            .and_then(|id| ids.iter().position(|&other| other == id));
        let object = known.unwrap_or_else(|| {
            // No id is that large: TVM's are counted from 0.
            ids.push(item.storage_id.unwrap_or(u32::MAX));
            entries.push(Vec::new());
            entries.len() - 1
        });
        for &other in &entries[object] {
            let other: &SpaceItem = items[other];
            let element = |item: &SpaceItem| item.image.as_ref().map(|image| image.element);
            let problem = if element(item) != element(other) {
                "it is shared with another type of elements or storage: "
            } else if item.meets(other) {
                "it is shared with a tensor that lives at the same time: "
            } else {
                continue;
            };
            return Err(TensorError::StorageId {
                tensor: item.name.clone(),
                storage_id: item.storage_id.unwrap_or(u32::MAX),
                problem: format!("{problem}`{}`", other.name),
            });
        }
        entries[object].push(index);
        objects.push(object);
    }
    let size = |entry: &Vec<usize>| {
        let image = |index: &usize| items[*index].image.as_ref();
        let of = |side: fn(&PoolImage) -> u64| entry.iter().filter_map(image).map(side).max();
        match (
            of(|image| image.width),
            of(|image| image.height),
            entry.first().and_then(image),
        ) {
            (Some(width), Some(height), Some(first)) => Bytes(width * height * 4 * first.element.bytes()),
            _ => {
                let most = entry.iter().map(|&index| items[index].size.0).max().unwrap_or(0);
                Bytes(most.div_ceil(4) * 4)
            }
        }
    };
    let sizes = entries.iter().map(size).collect();
    Ok(Pools::of(items, &objects, sizes))
}
