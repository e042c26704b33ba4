//! A sequence of frames in which eight parts are toggled at random.

use std::fmt;

use tileheap::plan::MemoryKind;
use tileheap::runtime::Device;
use tileheap::units::{Bytes, SplitMix64};

use crate::frame::Switches;
use crate::renderer::Renderer;
use crate::support::error::Result;

/// The default number of frames.
pub(crate) const FRAMES: u32 = 64;
/// The number of topologies after which a new one should create few objects.
const WARM: usize = 16;

/// A sequence of topologies, and its statistics.
pub(crate) struct Toggle {
    tile: Device,
    random: SplitMix64,
    frames: u32,
    seen: Vec<Switches>,
    /// The number of objects that the pool had created after the last switch; then the numbers created for the first
    /// topologies, for later ones, and for repeated ones.
    before: u64,
    created: [u64; 3],
    held: Bytes,
    /// Bytes that the largest topology needs by itself.
    largest: Bytes,
}

impl Toggle {
    /// The sequence generated from `seed`.
    pub(crate) fn new(tile: &Device, seed: u64, frames: u32) -> Toggle {
        Toggle {
            tile: tile.clone(),
            random: SplitMix64::new(seed),
            frames,
            seen: Vec::new(),
            before: tile.pool_created(),
            created: [0; 3],
            held: Bytes::ZERO,
            largest: Bytes::ZERO,
        }
    }

    /// Switches the renderer to the next topology: any one in the first half, then one that occurred before.
    pub(crate) fn next(&mut self, renderer: &mut Renderer, frame: u32) -> Result<()> {
        let any = self.random.next_u64() as Switches;
        let on = if frame < self.frames.div_ceil(2) {
            any
        } else {
            self.random.pick(&self.seen)
        };
        renderer.switch(on)?;
        let created = self.tile.pool_created();
        let kind = match self.seen.contains(&on) {
            true => 2,
            false => usize::from(self.seen.len() >= WARM),
        };
        self.created[kind] += created - self.before;
        (self.before, self.held) = (created, renderer.frames.bytes());
        if kind < 2 {
            self.seen.push(on);
        }
        let objects = renderer.plan().objects.iter();
        let ordinary = objects.filter(|object| object.memory != MemoryKind::Tile);
        self.largest = self.largest.max(ordinary.map(|object| object.size).sum());
        Ok(())
    }
}

impl fmt::Display for Toggle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (frames, seen, [first, new, again]) = (self.frames, self.seen.len(), self.created);
        let (warm, later) = (seen.min(WARM), seen.saturating_sub(WARM));
        writeln!(
            f,
            "{frames} frames of {seen} topologies; {} frames repeat an earlier topology",
            frames as usize - seen
        )?;
        writeln!(
            f,
            "created: {first} objects for the first {warm}, {new} for {later} new ones, {again} for repeated ones"
        )?;
        let share = self.held.0 as f64 / self.largest.0.max(1) as f64;
        write!(
            f,
            "memory held: {}, {share:.2} times the {} of the largest topology",
            self.held, self.largest
        )
    }
}
