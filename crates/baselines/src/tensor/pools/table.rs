//! The table of pools.

use tileheap_tensor::plan::placement::{ObjectPool, PlacedItems, SpaceItem, place_objects};
use tileheap_tensor::{MemoryDesc, PlacementStrategy, Result};

use super::assign::{lite, tokens};
use super::executorch;
use super::litert::Rule;
use super::token::TokenRule;

/// A rule by which tensors share objects.
#[derive(Clone, Copy, Debug)]
pub struct Pool {
    name: &'static str,
    assign: fn(&[&SpaceItem]) -> ObjectPool,
}

impl Pool {
    const fn new(name: &'static str, assign: fn(&[&SpaceItem]) -> ObjectPool) -> Pool {
        Pool { name, assign }
    }
}

impl PlacementStrategy for Pool {
    fn name(&self) -> &str {
        self.name
    }

    fn place(&self, items: &[SpaceItem], memories: &[MemoryDesc]) -> Result<PlacedItems> {
        place_objects(items, memories, |items| Ok((self.assign)(items)))
    }
}

/// Every pool.
pub static POOLS: [Pool; 13] = [
    EXECUTORCH_DOCUMENT,
    EXECUTORCH_OBJECTS,
    TOKEN_RFC,
    TOKEN_FIRST,
    TOKEN_LATER,
    TOKEN_1D,
    LITERT_NAIVE,
    LITERT_EQUALITY,
    LITERT_IN_ORDER,
    LITERT_MIN_COST_FLOW,
    LITERT_BY_BREADTH,
    LITERT_BY_SIZE,
    LITERT_BEST,
];

/// ExecuTorch's document: the free object closest in size, else a new one.
pub const EXECUTORCH_DOCUMENT: Pool = Pool::new("executorch-document", executorch::document);

/// ExecuTorch's code without overlapping allocations, as its Vulkan delegate uses it.
pub const EXECUTORCH_OBJECTS: Pool = Pool::new("executorch-objects", executorch::objects);

/// TVM: tokens of bytes within 16 times the size; images by the RFC's text (least added area, then least waste).
pub const TOKEN_RFC: Pool = Pool::new("token-rfc", |items| tokens(items, TokenRule::Rfc, true));

/// TVM: the same with the first planner of images that shipped.
pub const TOKEN_FIRST: Pool = Pool::new("token-first", |items| tokens(items, TokenRule::First, true));

/// TVM: the same with the later planner of images, which compares axis by axis.
pub const TOKEN_LATER: Pool = Pool::new("token-later", |items| tokens(items, TokenRule::Later, true));

/// TVM: bytes alone, images too.
pub const TOKEN_1D: Pool = Pool::new("token-1d", |items| tokens(items, TokenRule::Later, false));

/// LiteRT: an object each.
pub const LITERT_NAIVE: Pool = Pool::new("litert-naive", |items| lite(items, Rule::Naive));

/// LiteRT: objects of exactly the size.
pub const LITERT_EQUALITY: Pool = Pool::new("litert-equality", |items| lite(items, Rule::Equality));

/// LiteRT: in the order in which lifetimes start.
pub const LITERT_IN_ORDER: Pool = Pool::new("litert-in-order", |items| lite(items, Rule::InOrder));

/// LiteRT: a minimum cost flow.
pub const LITERT_MIN_COST_FLOW: Pool =
    Pool::new("litert-min-cost-flow", |items| lite(items, Rule::MinCostFlow));

/// LiteRT: the task with the most bytes first.
pub const LITERT_BY_BREADTH: Pool = Pool::new("litert-by-breadth", |items| lite(items, Rule::ByBreadth));

/// LiteRT: by size, then by distance in time.
pub const LITERT_BY_SIZE: Pool = Pool::new("litert-by-size", |items| lite(items, Rule::BySize));

/// LiteRT: the better of the two before.
pub const LITERT_BEST: Pool = Pool::new("litert-best", |items| lite(items, Rule::Best));
