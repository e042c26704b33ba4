//! TVM's token allocators: blocks of bytes or texels that are requested, released and grown.
//!
//! Source: TVM's [RFC](crate#sources), "Addendum: Storage scope based memory planning"; TVM at 6bad21e9 and ce22736e.
//! Ties go to the lowest block, where TVM's order is that of its hash table.

use tileheap_tensor::ElementType;

/// The rule that selects a block for an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenRule {
    /// The RFC's text: the free block of the same element type with the least added area, then the least waste, however much it has to grow.
    Rfc,
    /// The first version that shipped: like the RFC's text, but adds a block if the best free one would grow by more than the request.
    First,
    /// TVM's later rule: compares, axis by axis, the free blocks of the same element type and scope whose sides are within a factor of 5 of the
    /// request's.
    Later,
}

/// A request for a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Width and height in texels; for a buffer, its bytes and 1.
    pub size: [u64; 2],
    /// Element type and storage scope of an image; `None` for a buffer.
    pub image: Option<(ElementType, String)>,
}

impl Token {
    /// A request for a buffer of `bytes` bytes.
    pub fn bytes(bytes: u64) -> Token {
        Token {
            size: [bytes, 1],
            image: None,
        }
    }

    /// A request for an image.
    pub fn image(width: u64, height: u64, element: ElementType, scope: &str) -> Token {
        Token {
            size: [width, height],
            image: Some((element, scope.to_owned())),
        }
    }
}

/// A block of the pool; its index is its storage id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Width and height in texels; for a buffer, its bytes and 1.
    pub size: [u64; 2],
    /// Element type and storage scope of images; `None` for buffers.
    pub image: Option<(ElementType, String)>,
    /// The size of the request that created the block or last enlarged it. TVM reports this size instead of the block's own.
    pub reported: [u64; 2],
    /// True if the block is free.
    pub free: bool,
}

/// The block that a request takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// The block's index.
    pub block: usize,
    /// True if the block was enlarged.
    pub grown: bool,
}

/// A pool of blocks, with a list of the free ones.
#[derive(Clone, Debug)]
pub struct TokenPool {
    rule: TokenRule,
    blocks: Vec<Block>,
    /// Free blocks in the order in which they were released.
    free: Vec<usize>,
}

/// The maximum factor by which a block may be larger or smaller than the buffer that requests it.
const MAX_SIZE_RATIO: u64 = 16;
/// The maximum factor by which a side of a block may be longer or shorter than that of the image that requests it.
const MAX_SIDE_RATIO: u64 = 5;

impl TokenPool {
    /// Creates an empty pool.
    pub fn new(rule: TokenRule) -> TokenPool {
        TokenPool {
            rule,
            blocks: Vec::new(),
            free: Vec::new(),
        }
    }

    /// All blocks, by storage id.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Takes a free block, and enlarges it if needed; `None` if the rule finds no suitable block.
    pub fn request(&mut self, token: &Token) -> Option<Granted> {
        let block = match token.image {
            None => self.find_bytes(token.size[0]),
            Some(_) if self.rule == TokenRule::Later => self.find_by_axis(token),
            Some(_) => self.find_by_area(token),
        }?;
        self.free.retain(|&other| other != block);
        let of = &mut self.blocks[block];
        let old = of.size;
        of.size = [old[0].max(token.size[0]), old[1].max(token.size[1])];
        of.free = false;
        if of.size != old {
            of.reported = token.size;
        }
        Some(Granted {
            block,
            grown: of.size != old,
        })
    }

    /// Adds a block of the requested size, which is in use; returns its index.
    pub fn alloc(&mut self, token: &Token) -> usize {
        self.blocks.push(Block {
            size: token.size,
            reported: token.size,
            image: token.image.clone(),
            free: false,
        });
        self.blocks.len() - 1
    }

    /// Takes a free block, or adds one.
    pub fn allocate(&mut self, token: &Token) -> usize {
        match self.request(token) {
            Some(granted) => granted.block,
            None => self.alloc(token),
        }
    }

    /// Releases a block.
    pub fn release(&mut self, block: usize) {
        if !self.blocks[block].free {
            self.blocks[block].free = true;
            self.free.push(block);
        }
    }

    /// The number of free blocks.
    pub fn free_blocks(&self) -> usize {
        self.free.len()
    }

    /// Finds the smallest free buffer block of at least `size` bytes, otherwise the largest smaller one, among those within a factor of [`MAX_SIZE_RATIO`] of
    /// `size`; on a tie, the one that has been free the longest.
    fn find_bytes(&self, size: u64) -> Option<usize> {
        let (least, most) = (size / MAX_SIZE_RATIO, size.saturating_mul(MAX_SIZE_RATIO));
        let near = |&&block: &&usize| {
            let of = &self.blocks[block];
            of.image.is_none() && (least..=most).contains(&of.size[0])
        };
        let bytes = |&&block: &&usize| self.blocks[block].size[0];
        let free = || self.free.iter().filter(near);
        let fits = free().filter(|block| bytes(block) >= size).min_by_key(bytes);
        let smaller = free().filter(|block| bytes(block) < size);
        fits.or_else(|| smaller.rev().max_by_key(bytes)).copied()
    }

    /// Free blocks for images of the same element type, in ascending order of storage id.
    fn candidates(&self, token: &Token) -> Vec<usize> {
        let wanted = token.image.as_ref();
        let mut blocks = self.free.clone();
        blocks.retain(|&block| {
            self.blocks[block].image.as_ref().map(|image| image.0) == wanted.map(|image| image.0)
        });
        blocks.sort_unstable();
        blocks
    }

    fn find_by_area(&self, token: &Token) -> Option<usize> {
        let [width, height] = token.size;
        let requested = width.saturating_mul(height);
        let cost = |block: &usize| {
            let [x, y] = self.blocks[*block].size;
            let grown = x.max(width).saturating_mul(y.max(height));
            (grown - x * y, grown - requested)
        };
        let best = self.candidates(token).into_iter().min_by_key(cost)?;
        let (added, _) = cost(&best);
        (self.rule == TokenRule::Rfc || added <= requested).then_some(best)
    }

    fn find_by_axis(&self, token: &Token) -> Option<usize> {
        let [width, height] = token.size;
        let mut best = None;
        let (mut least_added, mut least_wasted) = ([u64::MAX; 2], [u64::MAX; 2]);
        for block in self.candidates(token) {
            let of = &self.blocks[block];
            let far = |a: u64, b: u64| a / b.max(1) > MAX_SIDE_RATIO || b / a.max(1) > MAX_SIDE_RATIO;
            if of.image != token.image || far(width, of.size[0]) || far(height, of.size[1]) {
                continue;
            }
            let grown = [of.size[0].max(width), of.size[1].max(height)];
            let added = [grown[0] - of.size[0], grown[1] - of.size[1]];
            let wasted = [grown[0] - width, grown[1] - height];
            let adds_less = |axis: usize| least_added[axis] > 0 && added[axis] < least_added[axis];
            let wastes_less =
                |axis: usize| least_added[axis] == added[axis] && wasted[axis] < least_wasted[axis];
            if adds_less(0) || adds_less(1) || wastes_less(0) || wastes_less(1) {
                (least_added, least_wasted, best) = (added, wasted, Some(block));
            }
        }
        let is_better = least_added == [0, 0] || least_added[0] <= width || least_added[1] <= height;
        best.filter(|_| is_better)
    }
}

/// A value of a TVM graph, as its memory planner sees it. Inputs of the graph never take a free block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenValue {
    /// The value's storage request.
    pub token: Token,
    /// The indices of the values that the value's node reads.
    pub inputs: Vec<usize>,
    /// True if the value is an input of the graph.
    pub is_input: bool,
}

/// The result of TVM's memory planner for a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenPlan {
    /// The storage id of each value.
    pub storage_ids: Vec<usize>,
    /// The blocks, by storage id.
    pub blocks: Vec<Block>,
    /// The size of the first value in each block, width and height in texels, or bytes and 1 for a buffer: the storage size that TVM reported
    /// before its pull request #17571.
    pub first: Vec<[u64; 2]>,
}

/// Plans values in topological order: each value takes a free block or a new one; then the values that no later node reads are released, except
/// inputs of the graph. Values that nothing reads are outputs of the graph and are kept.
///
/// ```
/// use tileheap_baselines::tensor::pools::token::{Token, TokenRule, TokenValue, plan_tokens};
///
/// let value = |bytes, inputs: &[usize]| TokenValue {
///     token: Token::bytes(bytes),
///     inputs: inputs.to_vec(),
///     is_input: inputs.is_empty(),
/// };
/// // A chain: once the third is computed from the second, the fourth takes the second's block and enlarges it.
/// let planned = plan_tokens(&[value(400, &[]), value(400, &[0]), value(400, &[1]), value(600, &[2])], TokenRule::Rfc);
/// assert_eq!(planned.storage_ids, [0, 1, 2, 1]);
/// assert_eq!(planned.blocks[1].size, [600, 1]);
/// ```
///
/// Source: TVM's `graph_plan_memory.cc` and `token_allocator.cc` at ce22736e.
pub fn plan_tokens(values: &[TokenValue], rule: TokenRule) -> TokenPlan {
    let mut readers = vec![0usize; values.len()];
    for value in values {
        for &input in &value.inputs {
            readers[input] += 1;
        }
    }
    let mut pool = TokenPool::new(rule);
    let (mut storage_ids, mut first) = (Vec::with_capacity(values.len()), Vec::new());
    for value in values {
        let block = match value.is_input {
            true => pool.alloc(&value.token),
            false => pool.allocate(&value.token),
        };
        if block == first.len() {
            first.push(value.token.size);
        }
        storage_ids.push(block);
        for &input in &value.inputs {
            readers[input] -= 1;
            if readers[input] == 0 && !values[input].is_input {
                pool.release(storage_ids[input]);
            }
        }
    }
    TokenPlan {
        storage_ids,
        blocks: pool.blocks,
        first,
    }
}
