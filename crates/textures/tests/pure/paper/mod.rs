//! The paper's numbers, and measurements of its claims.

use tileheap_textures::replay::Replay;
use tileheap_textures::trace::TraceEntry;
use tileheap_textures::units::Bytes;
use tileheap_textures::{Geometry, Level, MipChainId, PolicyDesc, Request, TextureId};
mod numbers;
mod ring;
mod walls;

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
        chain: MipChainId(0),
        size: geometry
            .size(MipChainId(0), Level(level))
            .expect("a level of the chain"),
    }
}

/// A replay of all entries, and the number of uploads in each frame.
fn play(
    policy: PolicyDesc<'_>,
    geometry: &Geometry,
    budget: Bytes,
    entries: &[TraceEntry],
) -> (Replay, Vec<u64>) {
    let mut replay = Replay::new(&policy, geometry, budget, 1).expect("it fits");
    let mut uploads = Vec::new();
    for &entry in entries {
        replay.play(entry).unwrap_or_else(|fault| panic!("{fault}"));
        if entry == TraceEntry::EndFrame {
            uploads.push(replay.last_frame().uploads);
        }
    }
    (replay, uploads)
}

fn replayed(policy: PolicyDesc<'_>, geometry: &Geometry, budget: Bytes, entries: &[TraceEntry]) -> Replay {
    play(policy, geometry, budget, entries).0
}
