//! Growth of arenas: moves the walls between them.

use super::arena::Arena;
use super::desc::{InitialWalls, TemperatureAverage};
use super::engine::Engine;
use super::temperature::Temperature;
use super::view::{ArenaSide, ArenaView, WallStats};
use crate::error::Result;
use crate::journal::{CacheEvent, EvictionReason, Journal};
use crate::units::Bytes;

/// Sums over a range of arenas: of weighted temperatures, and of weights.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    heat: u128,
    weight: u128,
}

impl Sum {
    fn mean(self, less: Sum) -> Option<Temperature> {
        let weight = self.weight - less.weight;
        (weight > 0).then(|| Temperature(((self.heat - less.heat) / weight) as u64))
    }
}

impl std::ops::Add for Sum {
    type Output = Sum;
    fn add(self, other: Sum) -> Sum {
        Sum {
            heat: self.heat + other.heat,
            weight: self.weight + other.weight,
        }
    }
}

impl Engine {
    /// Builds the initial walls; all blocks are free.
    pub(super) fn build_walls(&mut self) {
        let (usable, arenas) = (self.usable, self.arenas.len() as u64);
        let each = usable / self.arenas.iter().map(|arena| arena.block).sum::<u64>();
        let mut start = 0;
        for index in 0..self.arenas.len() - 1 {
            let arena = &mut self.arenas[index];
            let end = match self.desc.walls {
                InitialWalls::EqualBytes => {
                    (u128::from(usable) * (index as u128 + 1) / u128::from(arenas)) as u64
                }
                InitialWalls::EqualBlocks => start + each * arena.block,
                InitialWalls::Largest => 0,
            };
            arena.settle(start);
            for _ in 0..end.saturating_sub(start) / arena.block {
                arena.add(ArenaSide::Right);
            }
            start = arena.stop();
        }
        let last = self.arenas.last_mut().expect("a table has at least one class");
        last.settle(usable);
        for _ in 0..(usable - start) / last.block {
            last.add(ArenaSide::Left);
        }
        self.absorb(self.arenas.len() - 1);
    }

    /// Updates the cache at the end of a frame: temperatures, then walls, then sides.
    pub(super) fn update(&mut self, journal: &mut Journal) {
        self.updates += 1;
        self.measure();
        self.move_walls(journal);
        self.choose_sides();
        self.start_frame();
    }

    /// Changes the size of memory and evicts blocks past the end.
    ///
    /// While the arena of the largest blocks has any, its blocks end at the end of memory: if the budget is not a
    /// multiple of their size, less than one of them stays unused.
    ///
    /// # Errors
    /// If the budget does not hold the largest texture, or is too large for the tables.
    pub(super) fn set_budget(&mut self, budget: Bytes, journal: &mut Journal) -> Result<()> {
        let end = self.limits.usable(budget)?.0;
        let last = self.arenas.len() - 1;
        for index in (0..=last).rev() {
            while !self.arenas[index].is_empty() && self.arenas[index].stop() > end {
                self.vacate(index, ArenaSide::Right, EvictionReason::Budget, journal);
            }
        }
        self.arenas.iter_mut().for_each(|arena| arena.grow_tables(end));
        let before = self.end_left_of(last);
        let largest = &mut self.arenas[last];
        if largest.is_empty() {
            self.usable = end;
            largest.settle(end);
            for _ in 0..(end - before) / largest.block {
                largest.add(ArenaSide::Left);
            }
        } else {
            for _ in 0..(end - largest.stop()) / largest.block {
                largest.add(ArenaSide::Right);
            }
            self.usable = largest.stop();
        }
        self.absorb(last);
        self.choose_sides();
        self.log_walls(journal);
        Ok(())
    }

    /// Grows arenas to the left and to the right according to the measured temperatures. O(arenas + evicted blocks).
    fn move_walls(&mut self, journal: &mut Journal) {
        let mut left = Sum::default();
        let total = self.sum(0..self.arenas.len());
        for index in 0..self.arenas.len() {
            let until = left + self.sum(index..index + 1);
            if let Some(mean) = left.mean(Sum::default()) {
                self.expand(index, ArenaSide::Left, mean, journal);
            }
            // Growth to the left changed only that side's weights: the right side is as measured.
            if let Some(mean) = total.mean(until) {
                self.expand(index, ArenaSide::Right, mean, journal);
            }
            left = until;
        }
        self.log_walls(journal);
    }

    /// Chooses the side on which each arena places new textures: the cooler one; the outer one for the first and the last arena.
    pub(super) fn choose_sides(&mut self) {
        let total = self.sum(0..self.arenas.len());
        let (mut left, last) = (Sum::default(), self.arenas.len() - 1);
        for index in 0..=last {
            let until = left + self.sum(index..index + 1);
            let cooler = match (left.mean(Sum::default()), total.mean(until)) {
                (Some(left), Some(right)) if right < left => ArenaSide::Right,
                _ => ArenaSide::Left,
            };
            self.arenas[index].side = match index {
                0 => ArenaSide::Left,
                _ if index == last => ArenaSide::Right,
                _ => cooler,
            };
            left = until;
        }
    }

    /// Statistics of the walls.
    pub(super) fn wall_stats(&self) -> WallStats {
        let bytes = |arena: &Arena| u64::from(arena.count()) * arena.block;
        let used = self.arenas.iter().map(bytes);
        WallStats {
            gaps: Bytes(self.usable - used.sum::<u64>()),
            worst_gaps: self.table.worst_gaps(),
            wall_moves: self.moves,
            reversals: self.reversals,
        }
    }

    /// The observable state of an arena; `None` past the last one.
    pub(super) fn view(&self, index: usize) -> Option<ArenaView> {
        let arena = self.arenas.get(index)?;
        let (start, end) = self.extent(index);
        Some(ArenaView {
            block: Bytes(arena.block),
            start,
            end,
            taken: arena.count() - arena.free_count,
            active: arena.active,
            recent: arena.recent,
            side: arena.side,
        })
    }

    fn extent(&self, index: usize) -> (Bytes, Bytes) {
        let arena = &self.arenas[index];
        if !arena.is_empty() {
            return (Bytes(arena.start()), Bytes(arena.stop()));
        }
        let at = if index == 0 { 0 } else { self.start_right_of(index) };
        (Bytes(at), Bytes(at))
    }

    fn sum(&self, range: std::ops::Range<usize>) -> Sum {
        let mut sum = Sum::default();
        for arena in &self.arenas[range] {
            let weight = match self.desc.average {
                TemperatureAverage::Arenas => u128::from(!arena.is_empty()),
                TemperatureAverage::Bytes => u128::from(arena.count()) * u128::from(arena.block),
            };
            sum.heat += u128::from(arena.recent.0) * weight;
            sum.weight += weight;
        }
        sum
    }

    /// Grows an arena toward a side if that side is cooler by more than the margin, or twice the margin while damping applies. A wall moves in only
    /// one direction per update.
    fn expand(&mut self, index: usize, side: ArenaSide, mean: Temperature, journal: &mut Journal) {
        let recent = self.arenas[index].recent;
        if mean + self.desc.margin >= recent {
            return;
        }
        let walls = match side {
            ArenaSide::Left => self.left_of(index).map(|donor| donor..index),
            ArenaSide::Right => self.right_of(index).map(|donor| index..donor),
        };
        let Some(walls) = walls else {
            return;
        };
        let last = self.walls[walls.clone()].iter().flatten();
        let other_way = last.filter(|(_, direction)| *direction != side);
        let last = other_way.map(|(update, _)| *update).max();
        let since = last.map(|update| self.updates - update);
        if since == Some(0) {
            return; // A wall moves only one way in one update.
        }
        let reversed = since.is_some_and(|since| since <= REVERSAL_UPDATES.max(u64::from(self.desc.damping)));
        let damped = since.is_some_and(|since| since <= u64::from(self.desc.damping));
        if damped && mean + self.desc.margin + self.desc.margin >= recent {
            return;
        }
        let arena = &self.arenas[index];
        let blocks = u64::from(arena.count().max(arena.boiled_at_update));
        let degrees = u128::from(recent.0 - mean.0);
        let stride = u128::from(blocks) * degrees * u128::from(self.desc.stride)
            / (1000 * u128::from(Temperature::ONE.0));
        let mut grown = false;
        for _ in 0..stride.clamp(1, u128::from(u32::MAX)) {
            let one = match side {
                ArenaSide::Left => self.grow_left(index, journal),
                ArenaSide::Right => self.grow_right(index, journal),
            };
            grown |= one;
            if !one {
                break;
            }
        }
        if grown {
            self.moves += 1;
            self.reversals += u64::from(reversed);
            self.walls[walls].fill(Some((self.updates, side)));
        }
    }

    /// Adds a block at the left; returns false if that side has no room.
    fn grow_left(&mut self, index: usize, journal: &mut Journal) -> bool {
        let end = self.start_right_of(index);
        let arena = &mut self.arenas[index];
        if arena.is_empty() {
            arena.settle(end);
        }
        let (start, block) = (arena.start(), arena.block);
        if start < block {
            return false;
        }
        while start - self.end_left_of(index) < block {
            let donor = self.left_of(index).expect("a neighbor has the missing bytes");
            self.vacate(donor, ArenaSide::Right, EvictionReason::Wall, journal);
        }
        self.arenas[index].add(ArenaSide::Left);
        self.absorb(index);
        true
    }

    /// Adds at least one block at the right; returns false if that side has no room.
    fn grow_right(&mut self, index: usize, journal: &mut Journal) -> bool {
        let start = self.end_left_of(index);
        let arena = &mut self.arenas[index];
        if arena.is_empty() {
            arena.settle(start);
        }
        let (stop, block) = (arena.stop(), arena.block);
        if self.usable - stop < block {
            return false;
        }
        while self.start_right_of(index) - stop < block {
            let donor = self.right_of(index).expect("a neighbor has the missing bytes");
            self.vacate(donor, ArenaSide::Left, EvictionReason::Wall, journal);
        }
        for _ in 0..(self.start_right_of(index) - stop) / block {
            self.arenas[index].add(ArenaSide::Right);
        }
        true
    }

    /// Fills the gap to the left of arena `index` with blocks of the nearest arena there that has blocks, or of the first arena if none has.
    fn absorb(&mut self, index: usize) {
        let left = self.left_of(index).unwrap_or(0);
        if left == index {
            return;
        }
        let start = self.extent(index).0.0;
        let arena = &mut self.arenas[left];
        if arena.is_empty() {
            arena.settle(0);
        }
        while start - arena.stop() >= arena.block {
            arena.add(ArenaSide::Right);
        }
    }

    /// The nearest arena to the left that has blocks.
    fn left_of(&self, index: usize) -> Option<usize> {
        self.arenas[..index].iter().rposition(|arena| !arena.is_empty())
    }

    fn end_left_of(&self, index: usize) -> u64 {
        self.left_of(index).map_or(0, |left| self.arenas[left].stop())
    }

    /// The nearest arena to the right that has blocks.
    fn right_of(&self, index: usize) -> Option<usize> {
        let next = index + 1;
        let found = self.arenas[next..].iter().position(|arena| !arena.is_empty());
        found.map(|distance| next + distance)
    }

    fn start_right_of(&self, index: usize) -> u64 {
        self.right_of(index)
            .map_or(self.usable, |right| self.arenas[right].start())
    }

    fn log_walls(&mut self, journal: &mut Journal) {
        for index in 0..self.arenas.len() {
            let extent = self.extent(index);
            let logged = &mut self.arenas[index].logged;
            if *logged != extent {
                *logged = extent;
                let (start, end) = extent;
                journal.push(CacheEvent::Walls {
                    arena: index as u32,
                    start,
                    end,
                });
            }
        }
    }
}

/// Number of updates within which a wall move in the opposite direction counts as a reversal, damped or not.
const REVERSAL_UPDATES: u64 = 8;
