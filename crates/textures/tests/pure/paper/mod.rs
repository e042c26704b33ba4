//! The paper's numbers, and its claims in measurement.

use tileheap_textures::replay::{Replay, Summary};
use tileheap_textures::trace::Entry;
use tileheap_textures::units::Bytes;
use tileheap_textures::{ChainId, Geometry, Level, Policy, PolicyDesc, Request, TextureId};
mod numbers;
mod ring;
mod walls;
mod weak;

use serde_json::Value;

const TWO_MIB: Bytes = Bytes::mib(2);

fn facts() -> Value {
    let text = std::fs::read_to_string(tileheap_testkit::data("textures/blow_1998.json"));
    serde_json::from_str(&text.expect("the data is there")).expect("JSON")
}

fn request(texture: u32, level: u8) -> Request {
    let geometry = Geometry::wulfram();
    Request {
        texture: TextureId(texture),
        level: Level(level),
        chain: ChainId(0),
        size: geometry
            .size(ChainId(0), Level(level))
            .expect("a level of the chain"),
    }
}

/// The summary, and the number of uploads in each frame.
fn play(
    policy: Box<dyn Policy>,
    geometry: &Geometry,
    budget: Bytes,
    entries: &[Entry],
) -> (Summary, Vec<u64>) {
    let mut replay = Replay::new(policy, geometry, budget);
    let mut uploads = Vec::new();
    for &entry in entries {
        replay.play(entry).unwrap_or_else(|fault| panic!("{fault}"));
        if entry == Entry::EndFrame {
            uploads.push(replay.last_frame().uploads);
        }
    }
    (replay.finish(), uploads)
}

fn summary(kind: PolicyDesc<'static>, geometry: &Geometry, budget: Bytes, entries: &[Entry]) -> Summary {
    let policy = kind.create(geometry, budget, 1).expect("it fits");
    play(policy, geometry, budget, entries).0
}

/// Every frame's uploads in bytes.
fn uploaded(kind: PolicyDesc<'static>, geometry: &Geometry, budget: Bytes, entries: &[Entry]) -> Vec<u64> {
    let policy = kind.create(geometry, budget, 1).expect("it fits");
    let mut replay = Replay::new(policy, geometry, budget);
    for &entry in entries {
        replay.play(entry).unwrap_or_else(|fault| panic!("{fault}"));
    }
    replay.traffic().to_vec()
}
