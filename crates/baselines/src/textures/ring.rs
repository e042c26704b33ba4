//! The legacy system of Blow's paper: memory as a ring.

use std::collections::VecDeque;

use tileheap_textures::budget::BudgetLimits;
use tileheap_textures::units::Bytes;
use tileheap_textures::{
    Event, EvictionReason, Geometry, Journal, Level, Outcome, Policy, PolicyDesc, Request, Result, TextureId,
};

/// A ring buffer: a new texture is placed at a cursor that wraps around, and evicts what overlaps it.
///
/// ```
/// use tileheap_textures::*;
/// use tileheap_baselines::textures::Ring;
/// use tileheap_textures::units::Bytes;
///
/// let mut textures = Textures::new(Geometry::wulfram());
/// let grass = textures.next_id();
/// textures.create(grass, ChainId(0))?;
/// let mut cache = Ring::new(textures.geometry(), Bytes::mib(2))?;
/// let mut journal = Journal::new();
/// cache.begin_frame(&mut journal);
/// let outcome = cache.request(textures.request(grass, Level(7))?, &mut journal);
/// cache.end_frame(&mut journal);
/// assert!(matches!(outcome, Outcome::Upload { .. }));
/// # Ok::<(), tileheap_textures::Error>(())
/// ```
///
/// Source: Blow 1998, section "Legacy System".
#[derive(Clone, Debug)]
pub struct Ring {
    limits: BudgetLimits,
    usable: u64,
    unit: u64,
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
    /// The policy.
    pub const DESC: PolicyDesc<'static> = PolicyDesc {
        name: "ring",
        description: "A ring buffer: a cursor that evicts what it meets (Blow 1998, legacy system).",
        uploads_whole: true,
        relocates: false,
        create: &|geometry, budget, _| Ok(Box::new(Ring::new(geometry, budget)?)),
    };

    /// A ring of `budget` bytes.
    ///
    /// # Errors
    /// If the budget does not hold the largest texture, or is too large for the tables.
    pub fn new(geometry: &Geometry, budget: Bytes) -> Result<Ring> {
        let limits = BudgetLimits::of(geometry);
        Ok(Ring {
            usable: limits.usable(budget)?.0,
            limits,
            unit: geometry.unit().get(),
            cursor: 0,
            blocks: VecDeque::new(),
            residents: Vec::new(),
        })
    }

    /// Removes the first block from the cursor; evicts its texture unless it was evicted before.
    fn pop(&mut self, journal: &mut Journal) {
        let block = self.blocks.pop_front().expect("a block overlaps");
        let slot = &mut self.residents[block.texture.index()];
        if slot.is_some_and(|(_, offset)| offset == block.offset) {
            *slot = None;
            journal.push(evict(block, EvictionReason::Replaced));
        }
    }

    fn forget(&mut self, texture: TextureId, reason: EvictionReason, journal: &mut Journal) {
        let Some((_, offset)) = self.residents[texture.index()].take() else {
            return;
        };
        // The block stays in the queue as a gap: nothing is reused out of order.
        let found = self
            .blocks
            .iter()
            .find(|block| block.offset == offset && block.texture == texture);
        journal.push(evict(*found.expect("a resident has a block"), reason));
    }
}

fn evict(block: Block, reason: EvictionReason) -> Event {
    Event::Evict {
        texture: block.texture,
        part: Level(0),
        offset: Bytes(block.offset),
        block: Bytes(block.size),
        reason,
    }
}

impl Policy for Ring {
    fn request(&mut self, request: Request, journal: &mut Journal) -> Outcome {
        let index = request.texture.index();
        if self.residents.len() <= index {
            self.residents.resize(index + 1, None);
        }
        match self.residents[index] {
            Some((level, offset)) if level >= request.level => {
                return Outcome::Hit {
                    offset: Bytes(offset),
                };
            }
            Some(_) => self.forget(request.texture, EvictionReason::Upgraded, journal),
            None => {}
        }
        let size = request.size.0.next_multiple_of(self.unit);
        if self.cursor + size > self.usable {
            // The rest at the end is skipped, with the blocks there.
            while self
                .blocks
                .front()
                .is_some_and(|block| block.offset >= self.cursor)
            {
                self.pop(journal);
            }
            self.cursor = 0;
        }
        let (start, end) = (self.cursor, self.cursor + size);
        let overlaps = |block: &Block| block.offset >= start && block.offset < end;
        while self.blocks.front().is_some_and(overlaps) {
            self.pop(journal);
        }
        let block = Block {
            offset: self.cursor,
            size,
            texture: request.texture,
        };
        self.blocks.push_back(block);
        self.residents[index] = Some((request.level, block.offset));
        self.cursor = end;
        journal.push(Event::Place {
            texture: request.texture,
            part: Level(0),
            level: request.level,
            offset: Bytes(block.offset),
            block: Bytes(size),
            upload: request.size,
        });
        Outcome::Upload {
            offset: Bytes(block.offset),
        }
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
            if !stays && slot.is_some_and(|(_, offset)| offset == block.offset) {
                *slot = None;
                journal.push(evict(*block, EvictionReason::Budget));
            }
            stays
        });
        if self.cursor > usable {
            self.cursor = 0;
        }
        Ok(())
    }
}
