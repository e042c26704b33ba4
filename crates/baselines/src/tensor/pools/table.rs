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
    description: &'static str,
    assign: fn(&[&SpaceItem]) -> ObjectPool,
}

impl Pool {
    const fn new(
        name: &'static str,
        description: &'static str,
        assign: fn(&[&SpaceItem]) -> ObjectPool,
    ) -> Pool {
        Pool {
            name,
            description,
            assign,
        }
    }
}

impl PlacementStrategy for Pool {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &str {
        self.description
    }

    fn place(&self, items: &[SpaceItem], memories: &[MemoryDesc]) -> Result<PlacedItems> {
        place_objects(items, memories, |items| Ok((self.assign)(items)))
    }
}

/// Every pool rule.
pub static POOLS: [Pool; 13] = [
    Pool::new(
        "executorch-document",
        "ExecuTorch's documented rule: the free object closest in size, otherwise a new one.",
        executorch::document,
    ),
    EXECUTORCH_OBJECTS,
    TOKEN_RFC,
    Pool::new(
        "token-first",
        "TVM: like `token-rfc`, with the first image planner that shipped.",
        |items| tokens(items, TokenRule::First, true),
    ),
    TOKEN_LATER,
    Pool::new("token-1d", "TVM: blocks of bytes, also for images.", |items| {
        tokens(items, TokenRule::Later, false)
    }),
    LITERT_NAIVE,
    Pool::new(
        "litert-equality",
        "LiteRT: a free object of exactly the tensor's size, otherwise a new one.",
        |items| lite(items, Rule::Equality),
    ),
    Pool::new(
        "litert-in-order",
        "LiteRT: tensors in the order in which their lifetimes begin, each in the free object closest in size.",
        |items| lite(items, Rule::InOrder),
    ),
    LITERT_MIN_COST_FLOW,
    Pool::new(
        "litert-by-breadth",
        "LiteRT: the tensors of the step with the most bytes first.",
        |items| lite(items, Rule::ByBreadth),
    ),
    Pool::new(
        "litert-by-size",
        "LiteRT: largest first, then closest in time to the tensors of an object.",
        |items| lite(items, Rule::BySize),
    ),
    LITERT_BEST,
];

/// ExecuTorch's implemented rule without overlapping allocations, which its Vulkan delegate uses.
pub const EXECUTORCH_OBJECTS: Pool = Pool::new(
    "executorch-objects",
    "ExecuTorch's implemented rule without overlapping allocations, as in its Vulkan delegate.",
    executorch::objects,
);

/// TVM: buffers in blocks that are larger or smaller by at most a factor of 16; images as the RFC specifies (least added area, then least waste).
pub const TOKEN_RFC: Pool = Pool::new(
    "token-rfc",
    "TVM: buffers in blocks of a 16th to 16 times their size; images as the RFC specifies.",
    |items| tokens(items, TokenRule::Rfc, true),
);

/// TVM: like [`TOKEN_RFC`], with the later image planner, which compares axis by axis.
pub const TOKEN_LATER: Pool = Pool::new(
    "token-later",
    "TVM: like `token-rfc`, with the later image planner, which compares axis by axis.",
    |items| tokens(items, TokenRule::Later, true),
);

/// LiteRT: one object per tensor.
pub const LITERT_NAIVE: Pool = Pool::new("litert-naive", "LiteRT: one object per tensor.", |items| {
    lite(items, Rule::Naive)
});

/// LiteRT: a minimum-cost flow decides which tensors share an object.
pub const LITERT_MIN_COST_FLOW: Pool = Pool::new(
    "litert-min-cost-flow",
    "LiteRT: a minimum-cost flow decides which tensors share an object.",
    |items| lite(items, Rule::MinCostFlow),
);

/// LiteRT: the better of `litert-by-breadth` and `litert-by-size`.
pub const LITERT_BEST: Pool = Pool::new(
    "litert-best",
    "LiteRT: the better of `litert-by-breadth` and `litert-by-size`.",
    |items| lite(items, Rule::Best),
);
