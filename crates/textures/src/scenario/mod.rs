//! Traces out of a seed: what a camera does to textures, the same on every machine.
//!
//! Every frame asks for each of its textures once, in the order in which an engine that walks its scene would.

mod camera;
mod worlds;

use super::trace::{Entry, Record};
use super::{CacheError, Chain, ChainId, Geometry, Level, TextureId, Textures};
use crate::units::SplitMix64;
use crate::units::{Alignment, Bytes};

/// What happens in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scenario {
    /// The same 200 textures in the same order, every frame.
    Still,
    /// The same, and now and then another one before all of them, for a few frames.
    Insertion,
    /// 26 textures of one size in turn: the paper's a to z.
    Cyclic,
    /// Sideways through a landscape, there and back, with other things by popularity.
    Strafe,
    /// Half a turn, a rest, and back.
    TurnAround,
    /// Closer and farther: levels rise and fall.
    Zoom,
    /// From 300 polygons with large textures to 9,000 with small ones and back: 0.6 textures for each polygon.
    Switch,
    /// From nothing to twice as many textures of one size as its arena holds: the paper's own bad case.
    DoubleLoad,
    /// Sizes that fit into nothing: odd ones, replaced by larger and smaller ones all the time.
    Mixed,
    /// Flight over a landscape whose textures are made as it comes into view, changed now and then, and released behind.
    Flight,
}

impl Scenario {
    /// All of them.
    pub const ALL: [Scenario; 10] = [
        Scenario::Still,
        Scenario::Insertion,
        Scenario::Cyclic,
        Scenario::Strafe,
        Scenario::TurnAround,
        Scenario::Zoom,
        Scenario::Switch,
        Scenario::DoubleLoad,
        Scenario::Mixed,
        Scenario::Flight,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Scenario::Still => "still",
            Scenario::Insertion => "insertion",
            Scenario::Cyclic => "cyclic",
            Scenario::Strafe => "strafe",
            Scenario::TurnAround => "turn-around",
            Scenario::Zoom => "zoom",
            Scenario::Switch => "switch",
            Scenario::DoubleLoad => "double-load",
            Scenario::Mixed => "mixed",
            Scenario::Flight => "flight",
        }
    }

    /// How large its textures are: the paper's, but for [`Scenario::Mixed`].
    pub fn geometry(self) -> Geometry {
        match self {
            Scenario::Mixed => worlds::mixed_geometry(),
            _ => Geometry::wulfram(),
        }
    }

    /// Makes `frames` frames, record by record.
    pub fn generate(self, seed: u64, frames: u32, mut to: impl FnMut(Record)) {
        let mut scene = Scene {
            random: SplitMix64::new(seed ^ (self as u64) << 56),
            frames,
            textures: 0,
            to: &mut to,
        };
        match self {
            Scenario::Still => scene.still(0),
            Scenario::Insertion => scene.still(10),
            Scenario::Cyclic => scene.cyclic(),
            Scenario::Strafe => scene.strafe(),
            Scenario::TurnAround => scene.turn_around(),
            Scenario::Zoom => scene.zoom(),
            Scenario::Switch => scene.switch(),
            Scenario::DoubleLoad => scene.double_load(),
            Scenario::Mixed => scene.mixed(),
            Scenario::Flight => scene.flight(),
        }
    }

    /// The same as what a cache sees of it.
    pub fn entries(self, seed: u64, frames: u32) -> Vec<Entry> {
        let mut entries = Vec::new();
        let mut textures = Textures::new(self.geometry());
        let right = "generated traces are sound";
        self.generate(seed, frames, |record| match record {
            Record::Create { texture, chain } => textures.create(texture, chain).expect(right),
            Record::Replace { texture, chain } => {
                textures.replace(texture, chain).expect(right);
                entries.push(Entry::Release(texture));
            }
            Record::Release { texture } => {
                textures.release(texture).expect(right);
                entries.push(Entry::Release(texture));
            }
            Record::Use { texture, level } => {
                entries.push(Entry::Use(textures.request(texture, level).expect(right)));
            }
            Record::EndFrame => entries.push(Entry::EndFrame),
        });
        entries
    }
}

impl std::str::FromStr for Scenario {
    type Err = CacheError;

    fn from_str(name: &str) -> Result<Scenario, CacheError> {
        let found = Scenario::ALL.into_iter().find(|scenario| scenario.name() == name);
        found.ok_or_else(|| CacheError::UnknownScenario {
            name: name.to_owned(),
            known: Scenario::ALL.map(Scenario::name).join(", "),
        })
    }
}

/// The most bytes that the uses of one frame come to, each texture once, in blocks rounded up to `unit`.
///
/// A budget of that size holds every frame whole, but for what placement loses.
pub fn working_set(entries: &[Entry], unit: Alignment) -> Bytes {
    let (mut most, mut sum, mut frame) = (Bytes::ZERO, Bytes::ZERO, 1_u32);
    let mut seen: Vec<(u32, Bytes)> = Vec::new();
    for entry in entries {
        match entry {
            Entry::Use(request) => {
                if seen.len() <= request.texture.index() {
                    seen.resize(request.texture.index() + 1, (0, Bytes::ZERO));
                }
                let block = request.size.align_up(unit);
                let (when, size) = &mut seen[request.texture.index()];
                if std::mem::replace(when, frame) != frame {
                    *size = Bytes::ZERO;
                }
                let larger = block.max(*size);
                sum += larger - *size;
                *size = larger;
            }
            Entry::Release(_) => {}
            Entry::EndFrame => {
                most = most.max(sum);
                sum = Bytes::ZERO;
                frame += 1;
            }
        }
    }
    most
}

/// A trace in the making.
struct Scene<'a> {
    random: SplitMix64,
    frames: u32,
    textures: u32,
    to: &'a mut dyn FnMut(Record),
}

impl Scene<'_> {
    fn create(&mut self, chain: ChainId) -> TextureId {
        let texture = TextureId(self.textures);
        self.textures += 1;
        (self.to)(Record::Create { texture, chain });
        texture
    }

    fn create_many(&mut self, count: u32) -> Vec<TextureId> {
        (0..count).map(|_| self.create(ChainId(0))).collect()
    }

    fn use_at(&mut self, texture: TextureId, level: Level) {
        (self.to)(Record::Use { texture, level });
    }

    fn end_frame(&mut self) {
        (self.to)(Record::EndFrame);
    }

    /// "Most textures are 128 x 128; a few are 256 x 256 and a few are 64 x 64", and what is far is seen at small levels.
    fn level(&mut self) -> Level {
        Level(self.random.pick(&[8, 7, 7, 7, 7, 6, 6, 5, 5, 4, 4, 3, 2]))
    }

    /// A number below `end`, n with a chance of about 1 / (n + 1).
    fn popular(&mut self, end: u32) -> u32 {
        // 2^x for x even in [0, log2 end): by integers alone, even within each power of two.
        let bits = end.ilog2() + 1;
        loop {
            let low = 1_u64 << self.random.below(u64::from(bits));
            let pick = low - 1 + self.random.below(low);
            if pick < u64::from(end) {
                return pick as u32;
            }
        }
    }
}
