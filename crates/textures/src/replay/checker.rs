//! Checks a policy by its events and outcomes; shares no code with any policy.

use std::collections::BTreeMap;

use super::violation::{Rule, Violation};
use crate::Geometry;
use crate::arenas::WallStats;
use crate::ids::{ChainId, Level, TextureId};
use crate::journal::{Event, EvictionReason};
use crate::request::{Outcome, Request};
use crate::units::Bytes;

#[derive(Clone, Copy, Debug)]
struct Block {
    end: u64,
    texture: TextureId,
    part: Level,
    level: Level,
}

/// The state of memory, by the journal alone.
#[derive(Clone, Debug)]
pub(super) struct Checker {
    budget: Bytes,
    geometry: Geometry,
    /// By offset.
    blocks: BTreeMap<u64, Block>,
    /// By texture: its resident parts.
    residents: Vec<ResidentParts>,
    taken: u64,
    /// The texture evicted for an upgrade, and its resident bytes.
    upgraded: Option<(TextureId, Bytes)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct ResidentParts {
    /// Its chain by the request that placed it.
    chain: ChainId,
    /// Bit n: part n is resident.
    parts: u32,
    /// Level of part 0, for textures with one part.
    level: Level,
}

impl Checker {
    pub(super) fn new(geometry: &Geometry, budget: Bytes) -> Checker {
        Checker {
            budget,
            geometry: geometry.clone(),
            blocks: BTreeMap::new(),
            residents: Vec::new(),
            taken: 0,
            upgraded: None,
        }
    }

    /// Changes the budget, after the evictions for it.
    pub(super) fn set_budget(&mut self, budget: Bytes) -> Result<(), Violation> {
        self.budget = budget;
        match self.blocks.last_key_value() {
            Some((&offset, block)) if block.end > budget.0 => {
                Err(self.past_budget(block.texture, Bytes(offset), Bytes(block.end - offset)))
            }
            _ => Ok(()),
        }
    }

    fn past_budget(&self, texture: TextureId, offset: Bytes, block: Bytes) -> Violation {
        let budget = self.budget;
        Rule::Budget.broken(format!(
            "texture {texture} takes {block} at {offset}, past the budget of {budget}"
        ))
    }

    /// Applies an event to memory.
    pub(super) fn apply(&mut self, event: Event) -> Result<(), Violation> {
        match event {
            Event::Place {
                texture,
                part,
                level,
                offset,
                block,
                upload,
            } => {
                if block < upload {
                    return Err(Rule::Size.broken(format!(
                        "texture {texture} needs {upload} and is placed in a block of {block}"
                    )));
                }
                self.insert(texture, part, level, offset, block)
            }
            Event::Evict {
                texture,
                part,
                offset,
                block,
                reason,
            } => {
                if reason == EvictionReason::Upgraded {
                    let former = self.residents.get(texture.index());
                    let size = former.and_then(|former| self.geometry.size(former.chain, former.level));
                    self.upgraded = size.map(|size| (texture, size));
                }
                self.remove(texture, part, offset, block).map(drop)
            }
            Event::Move {
                texture,
                from,
                to,
                block,
            } => {
                let level = self.remove(texture, Level(0), from, block)?;
                self.insert(texture, Level(0), level, to, block)
            }
            Event::Shrink {
                texture,
                level,
                offset,
                from,
                block,
            } => {
                let before = self.remove(texture, Level(0), offset, from)?;
                if level >= before || block > from {
                    return Err(Rule::Shrink.broken(format!(
                        "texture {texture} shrinks from {from} to {block} without dropping a level"
                    )));
                }
                self.insert(texture, Level(0), level, offset, block)
            }
            Event::Walls { .. } => Ok(()),
        }
    }

    /// Checks an outcome, after its events.
    pub(super) fn judge(
        &mut self,
        request: Request,
        outcome: Outcome,
        events: &[Event],
    ) -> Result<(), Violation> {
        let Request {
            texture, level, size, ..
        } = request;
        let resident = self.residents.get(texture.index()).copied().unwrap_or_default();
        let uploads = events.iter().filter_map(|event| match *event {
            Event::Place {
                texture: placed,
                upload,
                ..
            } if placed == texture => Some(upload),
            _ => None,
        });
        let (count, bytes) = uploads.fold((0, Bytes::ZERO), |(count, bytes), upload| {
            (count + 1, bytes + upload)
        });
        // All parts up to the level, or one that is at least at the level.
        let wanted = ((1_u64 << (level.0 + 1)) - 1) as u32;
        let there = resident.parts & wanted == wanted || (resident.parts == 1 && resident.level >= level);
        let at = |offset: Bytes| {
            let block = self.blocks.get(&offset.0);
            block
                .is_some_and(|block| block.texture == texture && (block.part == level || resident.parts == 1))
        };
        let right = match outcome {
            Outcome::Hit { offset } => there && count == 0 && at(offset),
            Outcome::Upload { offset } => there && count > 0 && at(offset),
            Outcome::Bypass => !there,
        };
        if !right {
            return Err(Rule::Outcome.broken(format!(
                "the outcome of texture {texture} at level {level} is {outcome:?}, but memory has {resident:?} after {count} uploads"
            )));
        }
        let upgraded = self.upgraded.take();
        if !matches!(outcome, Outcome::Upload { .. }) {
            return Ok(());
        }
        self.residents[texture.index()].chain = request.chain;
        let kept = upgraded.filter(|upgraded| upgraded.0 == texture);
        let kept = kept.map_or(Bytes::ZERO, |(_, size)| size);
        let whole = resident.parts == 1 && count == 1 && level.0 > 0;
        if whole && bytes != size && bytes + kept != size {
            return Err(Rule::Upload.broken(format!(
                "the request of texture {texture} uploads {bytes} instead of {size}"
            )));
        }
        Ok(())
    }

    pub(super) fn gauge(&self, WallStats { gaps, worst_gaps, .. }: WallStats) -> Result<(), Violation> {
        if gaps > worst_gaps {
            return Err(Rule::Gaps.broken(format!(
                "the walls leave {gaps} unused, more than the bound of {worst_gaps}"
            )));
        }
        Ok(())
    }

    /// Bytes in use.
    pub(super) fn taken(&self) -> Bytes {
        Bytes(self.taken)
    }

    /// The largest free range. O(blocks).
    pub(super) fn largest_hole(&self) -> Bytes {
        let (mut end, mut largest) = (0, 0);
        for (&offset, block) in &self.blocks {
            largest = largest.max(offset - end);
            end = block.end;
        }
        Bytes(largest.max(self.budget.0 - end))
    }

    fn insert(
        &mut self,
        texture: TextureId,
        part: Level,
        level: Level,
        offset: Bytes,
        block: Bytes,
    ) -> Result<(), Violation> {
        let end = offset.0.checked_add(block.0).filter(|&end| end <= self.budget.0);
        let end = end.ok_or_else(|| self.past_budget(texture, offset, block))?;
        let unit = Bytes(self.geometry.unit().get());
        if offset.0 % unit.0 != 0 {
            return Err(Rule::Alignment.broken(format!(
                "texture {texture} is at {offset}, which is not a multiple of {unit}"
            )));
        }
        let below = self.blocks.range(..end).next_back();
        if let Some((_, other)) = below.filter(|(_, other)| other.end > offset.0) {
            return Err(Rule::Overlap.broken(format!(
                "the blocks of textures {} and {texture} overlap at {offset}",
                other.texture
            )));
        }
        if self.residents.len() <= texture.index() {
            self.residents
                .resize(texture.index() + 1, ResidentParts::default());
        }
        let resident = &mut self.residents[texture.index()];
        if resident.parts >> part.0 & 1 == 1 {
            return Err(
                Rule::PlacedOnce.broken(format!("texture {texture} is placed again without an eviction"))
            );
        }
        resident.parts |= 1 << part.0;
        if part == Level(0) {
            resident.level = level;
        }
        self.taken += block.0;
        let block = Block {
            end,
            texture,
            part,
            level,
        };
        self.blocks.insert(offset.0, block);
        Ok(())
    }

    fn remove(
        &mut self,
        texture: TextureId,
        part: Level,
        offset: Bytes,
        block: Bytes,
    ) -> Result<Level, Violation> {
        let found = self.blocks.get(&offset.0).copied();
        match found {
            Some(there)
                if there.texture == texture && there.part == part && there.end == offset.0 + block.0 =>
            {
                self.blocks.remove(&offset.0);
                self.residents[texture.index()].parts &= !(1 << part.0);
                self.taken -= block.0;
                Ok(there.level)
            }
            _ => Err(Rule::Residence.broken(format!(
                "texture {texture} is evicted or moved from {block} at {offset}, where it is not resident"
            ))),
        }
    }
}

/// Whether an eviction was chosen by the policy, not requested by the caller.
pub(super) fn chosen(reason: EvictionReason) -> bool {
    matches!(reason, EvictionReason::Replaced | EvictionReason::Wall)
}
