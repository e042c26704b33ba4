//! Generated traces of typical camera movements: a function of the seed, the same on every machine.
//!
//! Each frame requests each of its textures once, in the order of a scene traversal.

mod camera;
mod scene;
mod worlds;

use crate::error::{Error, Result};
use crate::trace::{TraceEntry, TraceRecord};
use crate::units::{Alignment, Bytes, SplitMix64};
use crate::{Geometry, TextureTable};
use scene::Scene;

/// A scenario for which traces can be generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scenario {
    /// The same 200 textures in the same order, every frame.
    Still,
    /// Like [`Still`](Scenario::Still), but from time to time another texture precedes all of them for a few frames.
    Insertion,
    /// 26 textures of one size in a cycle: the sequence of letters a to z in Blow's paper (1998).
    Cyclic,
    /// The camera moves sideways through a landscape, left or right at varying speeds, past billboards, such as explosions, that are chosen by
    /// popularity and last for a while.
    Strafe,
    /// The camera makes half a turn, rests, and turns back.
    TurnAround,
    /// The camera moves closer and farther away: levels rise and fall.
    Zoom,
    /// From 300 polygons with large textures to 9,000 with small ones and back; 0.6 textures per polygon.
    Switch,
    /// Twice as many textures of one size as their arena holds, all of them in every frame from the first on: the bad case that
    /// Blow's paper describes.
    DoubleLoad,
    /// Irregular sizes that fit no size class, constantly replaced by larger and smaller ones.
    Mixed,
    /// Flight over a landscape whose textures are created as it comes into view, changed now and then, and released once passed.
    Flight,
    /// Textures chosen by popularity, which drifts over time.
    Zipf,
    /// A hot set in every frame, and a scan over many others.
    Scan,
    /// Three sets of textures in turn: no frame requests those of the previous one.
    Loop,
    /// Many small textures and a few large ones, all in every frame, the small ones first or last.
    FewLarge,
}

impl Scenario {
    /// All scenarios.
    pub const ALL: [Scenario; 14] = [
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
        Scenario::Zipf,
        Scenario::Scan,
        Scenario::Loop,
        Scenario::FewLarge,
    ];

    /// The name of the scenario, its description, and its generator.
    fn entry(self) -> (&'static str, &'static str, fn(&mut Scene<'_>)) {
        match self {
            Scenario::Still => (
                "still",
                "The same 200 textures in the same order, every frame",
                |scene| scene.still(0),
            ),
            Scenario::Insertion => (
                "insertion",
                "Like `still`, but from time to time another texture precedes all of them for a few frames",
                |scene| scene.still(10),
            ),
            Scenario::Cyclic => ("cyclic", "26 textures of one size in a cycle", |scene| {
                scene.cyclic()
            }),
            Scenario::Strafe => (
                "strafe",
                "A camera that moves sideways through a landscape, past billboards that last for a while",
                |scene| scene.strafe(),
            ),
            Scenario::TurnAround => (
                "turn-around",
                "A camera that makes half a turn, rests, and turns back",
                |scene| scene.turn_around(),
            ),
            Scenario::Zoom => (
                "zoom",
                "A camera that moves closer and farther away: levels rise and fall",
                |scene| scene.zoom(),
            ),
            Scenario::Switch => (
                "switch",
                "180 large textures, then 5,400 small ones, and back",
                |scene| scene.switch(),
            ),
            Scenario::DoubleLoad => (
                "double-load",
                "About 340 textures of 32 x 32 in every frame: twice as many as their arena holds if nine arenas share 2 MiB equally",
                |scene| scene.double_load(),
            ),
            Scenario::Mixed => (
                "mixed",
                "Textures of irregular sizes that fit no size class; every ten frames, a tenth is replaced by others",
                |scene| scene.mixed(),
            ),
            Scenario::Flight => (
                "flight",
                "A flight over a landscape whose textures are created as it comes into view, and released once passed",
                |scene| scene.flight(),
            ),
            Scenario::Zipf => (
                "zipf",
                "Textures chosen by popularity, which drifts over time",
                |scene| scene.zipf(),
            ),
            Scenario::Scan => (
                "scan",
                "A hot set in every frame, and a scan over many others",
                |scene| scene.scan(80, 60, 1120),
            ),
            Scenario::Loop => (
                "loop",
                "Three sets of textures in turn: no frame requests those of the previous one",
                |scene| scene.scan(0, 120, 360),
            ),
            Scenario::FewLarge => (
                "few-large",
                "Many small textures and a few large ones, all in every frame",
                |scene| scene.few_large(),
            ),
        }
    }

    /// The scenario's name.
    pub fn name(self) -> &'static str {
        self.entry().0
    }

    /// A phrase about the requests, for help texts.
    pub fn description(self) -> &'static str {
        self.entry().1
    }

    /// Sizes of the scenario's textures: the paper's, except for [`Scenario::Mixed`].
    pub fn geometry(self) -> Geometry {
        match self {
            Scenario::Mixed => worlds::mixed_geometry(),
            _ => Geometry::wulfram(),
        }
    }

    /// Generates `frames` frames, record by record.
    pub fn generate(self, seed: u64, frames: u32, mut to: impl FnMut(TraceRecord)) {
        let mut scene = Scene {
            random: SplitMix64::new(seed ^ (self as u64) << 56),
            frames,
            textures: 0,
            to: &mut to,
        };
        self.entry().2(&mut scene);
    }

    /// Generates `frames` frames as entries.
    pub fn entries(self, seed: u64, frames: u32) -> Vec<TraceEntry> {
        let mut entries = Vec::new();
        let mut textures = TextureTable::new(self.geometry());
        self.generate(seed, frames, |record| {
            entries.extend(record.apply(&mut textures).expect("generated traces are valid"));
        });
        entries
    }
}

impl std::str::FromStr for Scenario {
    type Err = Error;

    fn from_str(name: &str) -> Result<Scenario> {
        let found = Scenario::ALL.into_iter().find(|scenario| scenario.name() == name);
        let known = || Scenario::ALL.map(Scenario::name).join(", ");
        found.ok_or_else(|| Error::UnknownName("scenario", name.to_owned(), known()))
    }
}

/// The largest sum of block sizes in a frame, counting each texture once, with blocks rounded up to `unit`.
///
/// A budget of that size holds every frame, apart from fragmentation.
pub fn working_set(entries: &[TraceEntry], unit: Alignment) -> Bytes {
    let (mut most, mut sum, mut frame) = (Bytes::ZERO, Bytes::ZERO, 1_u32);
    let mut seen: Vec<(u32, Bytes)> = Vec::new();
    for entry in entries {
        match entry {
            TraceEntry::Use(request) => {
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
            TraceEntry::Release(_) => {}
            TraceEntry::EndFrame => {
                most = most.max(sum);
                sum = Bytes::ZERO;
                frame += 1;
            }
        }
    }
    most
}
