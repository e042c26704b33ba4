//! Checks a policy by its events and outcomes; shares no code with any policy.

use super::violation::{PolicyRule, Violation};
use crate::Geometry;
use crate::arenas::WallStats;
use crate::ids::{Level, MipChainId, TextureId};
use crate::journal::{CacheEvent, EvictionReason};
use crate::request::{Request, RequestOutcome};
use crate::units::Bytes;

/// A call of a policy, with its outcome.
#[derive(Clone, Copy, Debug)]
pub(super) enum Call {
    Request(Request, RequestOutcome),
    Release(TextureId),
    EndFrame(WallStats),
    Budget(Bytes),
}

impl Call {
    /// The texture that the call concerns.
    pub(super) fn texture(&self) -> Option<TextureId> {
        match *self {
            Call::Request(Request { texture, .. }, _) | Call::Release(texture) => Some(texture),
            Call::EndFrame(_) | Call::Budget(_) => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) offset: u64,
    pub(super) end: u64,
    pub(super) texture: TextureId,
    pub(super) part: Level,
    pub(super) level: Level,
}

/// The inverse of a change to the blocks.
#[derive(Clone, Copy, Debug)]
enum Undo {
    Insert(Block),
    RemoveAt(u64),
}

/// The state of memory, derived only from events.
#[derive(Clone, Debug)]
pub(super) struct Checker {
    budget: Bytes,
    geometry: Geometry,
    evicts_in_use: bool,
    /// The resident blocks by offset. A sorted table, since frames of the Vulkan cache must not allocate: an upload moves half of
    /// it, about 3 us with 10,000 residents.
    blocks: Vec<Block>,
    /// The state of each texture.
    textures: Vec<TextureState>,
    /// Offsets by texture and level, if each level has a separate block.
    offsets: Vec<[u64; 32]>,
    /// The number of the current frame, from 1.
    frame: u64,
    taken: u64,
    /// Resident bytes of the texture that the current call evicted for an upgrade, if any.
    upgraded: Option<Bytes>,
    undo: Vec<Undo>,
}

#[derive(Clone, Copy, Debug, Default)]
struct TextureState {
    /// The chain of the texture's last request.
    chain: MipChainId,
    /// A mask of the resident parts: bit n for part n.
    parts: u32,
    /// Level and offset of part 0.
    level: Level,
    offset: u64,
    /// The last frame that requested the texture.
    used: u64,
}

impl Checker {
    pub(super) fn new(geometry: &Geometry, budget: Bytes, evicts_in_use: bool) -> Checker {
        Checker {
            budget,
            geometry: geometry.clone(),
            evicts_in_use,
            blocks: Vec::new(),
            textures: Vec::new(),
            offsets: Vec::new(),
            frame: 1,
            taken: 0,
            upgraded: None,
            undo: Vec::new(),
        }
    }

    /// Checks a call by its events. A violation undoes all of them.
    ///
    /// O(1) without events; otherwise O(log blocks) plus a move of the following blocks for each event.
    pub(super) fn judge(&mut self, call: Call, events: &[CacheEvent]) -> Result<(), Violation> {
        self.undo.clear();
        self.upgraded = None;
        if let Call::Request(request, _) = call {
            let index = request.texture.index();
            if self.textures.len() <= index {
                self.textures.resize(index + 1, TextureState::default());
                self.blocks
                    .reserve(self.textures.len() - self.blocks.len().min(index));
            }
            self.textures[index].used = self.frame;
        }
        let judged = (events.iter())
            .try_for_each(|&event| self.apply(&call, event))
            .and_then(|()| self.judge_end(call, events));
        if judged.is_err() {
            while let Some(undo) = self.undo.pop() {
                match undo {
                    Undo::Insert(block) => self.put(block),
                    Undo::RemoveAt(offset) => drop(self.take(self.at(offset))),
                }
            }
        }
        judged
    }

    fn judge_end(&mut self, call: Call, events: &[CacheEvent]) -> Result<(), Violation> {
        match call {
            Call::Request(request, outcome) => self.judge_outcome(request, outcome, events),
            Call::Release(texture) if self.is_resident(texture) => {
                Err(PolicyRule::Residence.broken(format!(
                    "texture {texture} is released, but stays resident at offset {}",
                    Bytes(self.textures[texture.index()].offset)
                )))
            }
            Call::EndFrame(WallStats { gaps, worst_gaps, .. }) if gaps > worst_gaps => Err(PolicyRule::Gaps
                .broken(format!(
                    "the walls leave {gaps} unused, more than the bound of {worst_gaps}"
                ))),
            Call::Release(_) | Call::EndFrame(_) => Ok(()),
            Call::Budget(budget) => match self.blocks.last() {
                Some(block) if block.end > budget.0 => Err(past_budget(block, budget)),
                _ => {
                    self.budget = budget;
                    Ok(())
                }
            },
        }
    }

    /// Ends a frame: its textures are no longer in use.
    pub(super) fn end_frame(&mut self) {
        self.frame += 1;
    }

    pub(super) fn budget(&self) -> Bytes {
        self.budget
    }

    pub(super) fn is_resident(&self, texture: TextureId) -> bool {
        (self.textures.get(texture.index())).is_some_and(|state| state.parts > 0)
    }

    /// Offset of the first part, and the finest level up to which all levels are resident.
    pub(super) fn place(&self, texture: TextureId) -> Option<(Bytes, Level)> {
        let state = self.textures.get(texture.index())?;
        let level = match state.parts.trailing_ones() {
            0 => return None,
            1 => state.level,
            parts => Level(parts as u8 - 1),
        };
        Some((Bytes(state.offset), level))
    }

    /// Offset of a resident part, and its level.
    pub(super) fn part(&self, texture: TextureId, part: Level) -> Option<(Bytes, Level)> {
        let state = self.textures.get(texture.index())?;
        (state.parts >> part.0 & 1 == 1).then(|| match part {
            Level(0) => (Bytes(state.offset), state.level),
            part => (Bytes(self.offsets[texture.index()][usize::from(part.0)]), part),
        })
    }

    /// Evicts a block of a texture without a call of the policy; returns it. O(blocks).
    pub(super) fn evict(&mut self, texture: TextureId) -> Option<Block> {
        let index = self.blocks.iter().position(|block| block.texture == texture)?;
        Some(self.take(index))
    }

    fn apply(&mut self, call: &Call, event: CacheEvent) -> Result<(), Violation> {
        match event {
            CacheEvent::Place {
                texture,
                part,
                level,
                offset,
                block,
                upload,
            } => {
                let requested = match *call {
                    Call::Request(request, _) if request.texture == texture => Some(request),
                    _ => None,
                };
                let whole = part == Level(0) && requested.is_some_and(|request| level == request.level);
                let single = part == level && requested.is_some_and(|request| level <= request.level);
                let Some(request) = requested.filter(|_| whole || single) else {
                    return Err(PolicyRule::Requested.broken(format!(
                        "texture {texture} is placed at level {level}, which was not requested, in {block} at offset {offset}"
                    )));
                };
                let needs = if whole { request.size } else { upload };
                if block < needs {
                    return Err(PolicyRule::Size.broken(format!(
                        "texture {texture} needs {needs}, but is placed in a block of {block} at offset {offset}"
                    )));
                }
                self.textures[texture.index()].chain = request.chain;
                self.insert(texture, part, level, (offset, block))
            }
            CacheEvent::Evict {
                texture,
                part,
                offset,
                block,
                reason,
            } => {
                if call.texture() == Some(texture) && reason == EvictionReason::Upgraded {
                    self.upgraded = self.size_of(texture);
                }
                self.remove(texture, part, (offset, block))?;
                let in_use = self.textures[texture.index()].used == self.frame;
                let by_caller = call.texture() == Some(texture) || matches!(call, Call::Budget(_));
                if in_use && !by_caller && !self.evicts_in_use {
                    return Err(PolicyRule::InUse.broken(format!(
                        "texture {texture}, {block} at offset {offset}, is evicted in a frame that requested it"
                    )));
                }
                Ok(())
            }
            CacheEvent::Move {
                texture,
                from,
                to,
                block,
            } => {
                let found = self.remove(texture, Level(0), (from, block))?;
                self.insert(texture, Level(0), found.level, (to, block))
            }
            CacheEvent::Shrink {
                texture,
                level,
                offset,
                from,
                block,
            } => {
                let before = self.remove(texture, Level(0), (offset, from))?.level;
                let chain = self.textures[texture.index()].chain;
                let needs = self.geometry.size(chain, level).unwrap_or(Bytes(u64::MAX));
                if level >= before || block > from || block < needs {
                    return Err(PolicyRule::Shrink.broken(format!(
                        "texture {texture} at offset {offset} shrinks from level {before} in a block of {from} to level {level}, which needs {needs}, in a block of {block}"
                    )));
                }
                self.insert(texture, Level(0), level, (offset, block))
            }
            CacheEvent::Walls { .. } => Ok(()),
        }
    }

    /// Bytes of the resident levels of a texture, up to the first that is missing.
    pub(super) fn size_of(&self, texture: TextureId) -> Option<Bytes> {
        let (_, level) = self.place(texture)?;
        self.geometry.size(self.textures[texture.index()].chain, level)
    }

    fn judge_outcome(
        &self,
        request: Request,
        outcome: RequestOutcome,
        events: &[CacheEvent],
    ) -> Result<(), Violation> {
        let Request { texture, level, .. } = request;
        let state = self.textures[texture.index()];
        let (mut count, mut bytes) = (0, Bytes::ZERO);
        for event in events {
            if let CacheEvent::Place { upload, .. } = event {
                (count, bytes) = (count + 1, bytes + *upload);
            }
        }
        // All parts up to the level, or a single one that is at least as fine.
        let wanted = ((1_u64 << (level.0 + 1)) - 1) as u32;
        let there = state.parts & wanted == wanted || (state.parts == 1 && state.level >= level);
        let at = |offset: Bytes| match state.parts {
            1 => state.offset == offset.0,
            _ => (self.blocks.get(self.at(offset.0)))
                .is_some_and(|block| (block.offset, block.texture, block.part) == (offset.0, texture, level)),
        };
        let right = match outcome {
            RequestOutcome::Hit { offset } => there && count == 0 && at(offset),
            RequestOutcome::Upload { offset } => there && count > 0 && at(offset),
            RequestOutcome::Bypass => !there,
        };
        if !right {
            return Err(PolicyRule::Outcome.broken(format!(
                "the outcome of the request for texture {texture} at level {level}, {}, is {outcome:?}, but memory has {state:?} after {count} uploads",
                request.size
            )));
        }
        let (kept, size) = (self.upgraded.unwrap_or_default(), request.size);
        let whole =
            matches!(outcome, RequestOutcome::Upload { .. }) && state.parts == 1 && count == 1 && level.0 > 0;
        if whole && bytes != size && bytes + kept != size {
            return Err(PolicyRule::Upload.broken(format!(
                "the request for texture {texture} uploads {bytes} instead of {size}"
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
        for block in &self.blocks {
            largest = largest.max(block.offset - end);
            end = block.end;
        }
        Bytes(largest.max(self.budget.0 - end))
    }

    /// Index of the first block at or after an offset.
    fn at(&self, offset: u64) -> usize {
        self.blocks.partition_point(|block| block.offset < offset)
    }

    fn insert(
        &mut self,
        texture: TextureId,
        part: Level,
        level: Level,
        (offset, size): (Bytes, Bytes),
    ) -> Result<(), Violation> {
        let end = offset.0.saturating_add(size.0);
        let offset = offset.0;
        let block = Block {
            offset,
            end,
            texture,
            part,
            level,
        };
        if end > self.budget.0 {
            return Err(past_budget(&block, self.budget));
        }
        let unit = Bytes(self.geometry.unit().get());
        if offset % unit.0 != 0 {
            return Err(PolicyRule::Alignment.broken(format!(
                "texture {texture} is at {}, which is not a multiple of {unit}",
                Bytes(offset)
            )));
        }
        let at = self.at(offset);
        let before = at
            .checked_sub(1)
            .map(|before| self.blocks[before])
            .filter(|before| before.end > offset);
        let behind = self.blocks.get(at).copied().filter(|behind| behind.offset < end);
        if let Some(other) = before.or(behind) {
            return Err(PolicyRule::Overlap.broken(format!(
                "texture {texture} takes {size} at {} and overlaps texture {}, {} at {}",
                Bytes(offset),
                other.texture,
                Bytes(other.end - other.offset),
                Bytes(other.offset)
            )));
        }
        if self.textures[texture.index()].parts >> part.0 & 1 == 1 {
            return Err(PolicyRule::PlacedOnce.broken(format!(
                "texture {texture} is placed again, in {size} at {}, without an eviction",
                Bytes(offset)
            )));
        }
        self.put(block);
        self.undo.push(Undo::RemoveAt(offset));
        Ok(())
    }

    fn remove(
        &mut self,
        texture: TextureId,
        part: Level,
        (offset, size): (Bytes, Bytes),
    ) -> Result<Block, Violation> {
        let at = self.at(offset.0);
        let named = (offset.0, offset.0.saturating_add(size.0), texture, part);
        let found = self.blocks.get(at);
        if found.is_none_or(|block| (block.offset, block.end, block.texture, block.part) != named) {
            return Err(PolicyRule::Residence.broken(format!(
                "texture {texture} is evicted or moved from {size} at offset {offset}, where it is not resident"
            )));
        }
        let block = self.take(at);
        self.undo.push(Undo::Insert(block));
        Ok(block)
    }

    fn put(&mut self, block: Block) {
        let state = &mut self.textures[block.texture.index()];
        state.parts |= 1 << block.part.0;
        if block.part == Level(0) {
            (state.level, state.offset) = (block.level, block.offset);
        } else {
            let textures = self.textures.len();
            self.offsets.resize(textures.max(self.offsets.len()), [0; 32]);
            self.offsets[block.texture.index()][usize::from(block.part.0)] = block.offset;
        }
        self.taken += block.end - block.offset;
        self.blocks.insert(self.at(block.offset), block);
    }

    fn take(&mut self, at: usize) -> Block {
        let block = self.blocks.remove(at);
        self.textures[block.texture.index()].parts &= !(1 << block.part.0);
        self.taken -= block.end - block.offset;
        block
    }
}

fn past_budget(block: &Block, budget: Bytes) -> Violation {
    let (texture, offset, size) = (
        block.texture,
        Bytes(block.offset),
        Bytes(block.end - block.offset),
    );
    PolicyRule::Budget.broken(format!(
        "texture {texture} takes {size} at offset {offset}, past the budget of {budget}"
    ))
}
