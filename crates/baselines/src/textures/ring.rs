//! The legacy system of Blow's paper: memory used as a ring.

use std::collections::VecDeque;
use std::ops::Range;

use tileheap_textures::budget::BudgetLimits;
use tileheap_textures::units::Bytes;
use tileheap_textures::{
    EvictionReason, Geometry, Journal, Level, Policy, PolicyDesc, Request, RequestOutcome, Result, TextureId,
};

/// A ring buffer: a new texture is placed at a cursor that wraps around, and evicts the textures it overlaps.
///
/// Source: Blow 1998, section "Legacy System".
#[derive(Clone, Debug)]
pub struct Ring {
    limits: BudgetLimits,
    usable: u64,
    cursor: u64,
    /// Blocks in order from the cursor.
    blocks: VecDeque<Block>,
    /// Level and offset of each resident texture.
    residents: Vec<Option<(Level, u64)>>,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    offset: u64,
    size: u64,
    texture: TextureId,
}

impl Ring {
    /// The description of the policy `ring`.
    pub const DESC: PolicyDesc<'static> = PolicyDesc::new(
        "ring",
        "A ring buffer, which evicts the textures that its cursor reaches (Blow 1998, legacy system).",
        &|geometry, budget, _, _| Ok(Box::new(Ring::new(geometry, budget)?)),
    )
    .evicting_in_use();

    /// Creates a ring of `budget` bytes.
    ///
    /// # Errors
    /// If the budget does not hold the largest texture, or is too large for the tables.
    pub fn new(geometry: &Geometry, budget: Bytes) -> Result<Ring> {
        let limits = BudgetLimits::of(geometry);
        Ok(Ring {
            usable: limits.usable(budget)?.0,
            limits,
            cursor: 0,
            blocks: VecDeque::new(),
            residents: Vec::new(),
        })
    }

    /// Removes the blocks after the cursor that start within a range; evicts their textures unless they were evicted before.
    fn pop_within(&mut self, range: Range<u64>, journal: &mut Journal) {
        while let Some(&block) = self.blocks.front().filter(|block| range.contains(&block.offset)) {
            self.blocks.pop_front();
            let slot = &mut self.residents[block.texture.index()];
            if slot.take_if(|(_, offset)| *offset == block.offset).is_some() {
                journal.evict(
                    block.texture.0,
                    block.offset,
                    block.size,
                    EvictionReason::Replaced,
                );
            }
        }
    }

    fn forget(&mut self, texture: TextureId, reason: EvictionReason, journal: &mut Journal) {
        let Some((_, offset)) = self.residents[texture.index()].take() else {
            return;
        };
        // The block remains in the queue as a gap, since nothing is reused out of order.
        let mut blocks = self.blocks.iter();
        let found = blocks.find(|block| block.offset == offset && block.texture == texture);
        let block = found.expect("a resident has a block");
        journal.evict(texture.0, offset, block.size, reason);
    }
}

impl Policy for Ring {
    fn request(&mut self, request: Request, journal: &mut Journal) -> RequestOutcome {
        let index = request.texture.index();
        if self.residents.len() <= index {
            self.residents.resize(index + 1, None);
        }
        match self.residents[index] {
            Some((level, offset)) if level >= request.level => {
                let offset = Bytes(offset);
                return RequestOutcome::Hit { offset };
            }
            Some(_) => self.forget(request.texture, EvictionReason::Upgraded, journal),
            None => {}
        }
        let size = request.size.0.next_multiple_of(self.limits.unit);
        if self.cursor + size > self.usable {
            // The rest at the end is skipped, and the blocks there are removed.
            self.pop_within(self.cursor..u64::MAX, journal);
            self.cursor = 0;
        }
        let (offset, end) = (self.cursor, self.cursor + size);
        self.pop_within(offset..end, journal);
        let texture = request.texture;
        self.blocks.push_back(Block {
            offset,
            size,
            texture,
        });
        self.residents[index] = Some((request.level, offset));
        self.cursor = end;
        journal.place(request, Bytes(offset), Bytes(size), request.size)
    }

    fn release(&mut self, texture: TextureId, journal: &mut Journal) {
        if texture.index() < self.residents.len() {
            self.forget(texture, EvictionReason::Released, journal);
        }
    }

    fn set_budget(&mut self, budget: Bytes, journal: &mut Journal) -> Result<()> {
        self.usable = self.limits.usable(budget)?.0;
        let (usable, residents) = (self.usable, &mut self.residents);
        self.blocks.retain(|block| {
            let stays = block.offset + block.size <= usable;
            let slot = &mut residents[block.texture.index()];
            if !stays && slot.take_if(|(_, offset)| *offset == block.offset).is_some() {
                journal.evict(block.texture.0, block.offset, block.size, EvictionReason::Budget);
            }
            stays
        });
        if self.cursor > usable {
            self.cursor = 0;
        }
        Ok(())
    }
}
