//! The table of pool rules.

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

/// Every pool rule.
pub static POOLS: [Pool; 13] = [
    // ExecuTorch's document: the free object closest in size, otherwise a new one.
    Pool::new("executorch-document", executorch::document),
    EXECUTORCH_OBJECTS,
    TOKEN_RFC,
    // TVM: the same with the first image planner that shipped.
    Pool::new("token-first", |items| tokens(items, TokenRule::First, true)),
    TOKEN_LATER,
    // TVM: only bytes, also for images.
    Pool::new("token-1d", |items| tokens(items, TokenRule::Later, false)),
    LITERT_NAIVE,
    // LiteRT: objects of exactly the size.
    Pool::new("litert-equality", |items| lite(items, Rule::Equality)),
    // LiteRT: in the order of lifetime starts.
    Pool::new("litert-in-order", |items| lite(items, Rule::InOrder)),
    LITERT_MIN_COST_FLOW,
    // LiteRT: the task with the most bytes first.
    Pool::new("litert-by-breadth", |items| lite(items, Rule::ByBreadth)),
    // LiteRT: by size, then by distance in time.
    Pool::new("litert-by-size", |items| lite(items, Rule::BySize)),
    LITERT_BEST,
];

/// ExecuTorch's implemented rule without overlapping allocations, which its Vulkan delegate uses.
pub const EXECUTORCH_OBJECTS: Pool = Pool::new("executorch-objects", executorch::objects);

/// TVM: buffers in blocks that are larger or smaller by at most a factor of 16; images by the RFC's text (least added area, then least waste).
pub const TOKEN_RFC: Pool = Pool::new("token-rfc", |items| tokens(items, TokenRule::Rfc, true));

/// TVM: like [`TOKEN_RFC`], with the later image planner, which compares axis by axis.
pub const TOKEN_LATER: Pool = Pool::new("token-later", |items| tokens(items, TokenRule::Later, true));

/// LiteRT: one object per tensor.
pub const LITERT_NAIVE: Pool = Pool::new("litert-naive", |items| lite(items, Rule::Naive));

/// LiteRT: a minimum-cost flow decides which tensors share an object.
pub const LITERT_MIN_COST_FLOW: Pool =
    Pool::new("litert-min-cost-flow", |items| lite(items, Rule::MinCostFlow));

/// LiteRT: the better of `litert-by-breadth` and `litert-by-size`.
pub const LITERT_BEST: Pool = Pool::new("litert-best", |items| lite(items, Rule::Best));
