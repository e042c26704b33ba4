//! Checks a policy by its events and outcomes; shares no code with any policy.

use std::collections::BTreeMap;

use super::violation::Violation;
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
            Some((&offset, block)) if block.end > budget.0 => Err(Violation::PastBudget {
                texture: block.texture,
                offset: Bytes(offset),
                block: Bytes(block.end - offset),
                budget,
            }),
            _ => Ok(()),
        }
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
                    return Err(Violation::TooSmall {
                        texture,
                        upload,
                        block,
                    });
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
                    return Err(Violation::InvalidShrink { texture, from, block });
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
        let resident = self
            .residents
            .get(request.texture.index())
            .copied()
            .unwrap_or_default();
        let placed = |event: &Event| match *event {
            Event::Place {
                texture,
                part,
                upload,
                ..
            } if texture == request.texture => Some((part, upload)),
            _ => None,
        };
        let uploads = events.iter().filter_map(placed);
        let (count, bytes) = uploads.fold((0, Bytes::ZERO), |(count, bytes), (_, upload)| {
            (count + 1, bytes + upload)
        });
        // All parts up to the level, or one that is at least at the level.
        let wanted = ((1_u64 << (request.level.0 + 1)) - 1) as u32;
        let there =
            resident.parts & wanted == wanted || (resident.parts == 1 && resident.level >= request.level);
        let at = |offset: Bytes| {
            let block = self.blocks.get(&offset.0);
            block.is_some_and(|block| {
                block.texture == request.texture && (block.part == request.level || resident.parts == 1)
            })
        };
        let right = match outcome {
            Outcome::Hit { offset } => there && count == 0 && at(offset),
            Outcome::Upload { offset } => there && count > 0 && at(offset),
            Outcome::Bypass => !there,
        };
        if !right {
            return Err(Violation::WrongOutcome {
                texture: request.texture,
                level: request.level,
                outcome,
                found: format!("{resident:?} after {count} uploads"),
            });
        }
        let upgraded = self.upgraded.take();
        if !matches!(outcome, Outcome::Upload { .. }) {
            return Ok(());
        }
        self.residents[request.texture.index()].chain = request.chain;
        let kept = upgraded.map_or(Bytes::ZERO, |(texture, size)| match texture == request.texture {
            true => size,
            false => Bytes::ZERO,
        });
        let whole = resident.parts == 1 && count == 1 && request.level.0 > 0;
        if whole && bytes != request.size && bytes + kept != request.size {
            return Err(Violation::UploadSize {
                texture: request.texture,
                found: bytes,
                expected: request.size,
            });
        }
        Ok(())
    }

    pub(super) fn gauge(&self, wall_stats: WallStats) -> Result<(), Violation> {
        if wall_stats.gaps > wall_stats.worst_gaps {
            return Err(Violation::Gaps {
                gaps: wall_stats.gaps,
                worst: wall_stats.worst_gaps,
            });
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
        let Some(end) = end else {
            return Err(Violation::PastBudget {
                texture,
                offset,
                block,
                budget: self.budget,
            });
        };
        let unit = self.geometry.unit().get();
        if offset.0 % unit != 0 {
            return Err(Violation::Misaligned {
                texture,
                offset,
                unit: Bytes(unit),
            });
        }
        if let Some((_, other)) = self.blocks.range(..end).next_back() {
            if other.end > offset.0 {
                return Err(Violation::Overlap {
                    a: other.texture,
                    b: texture,
                    offset,
                });
            }
        }
        if self.residents.len() <= texture.index() {
            self.residents
                .resize(texture.index() + 1, ResidentParts::default());
        }
        let resident = &mut self.residents[texture.index()];
        if resident.parts >> part.0 & 1 == 1 {
            return Err(Violation::PlacedTwice { texture });
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
            _ => Err(Violation::NotResident {
                texture,
                offset,
                block,
            }),
        }
    }
}

/// Whether an eviction was chosen by the policy, not requested by the caller.
pub(super) fn chosen(reason: EvictionReason) -> bool {
    matches!(reason, EvictionReason::Replaced | EvictionReason::Wall)
}
