//! Upload budgets: level traffic, no starvation, and coarser levels meanwhile.

use tileheap_baselines::textures::{ALL, HeapCache};
use tileheap_textures::arenas::Arenas;
use tileheap_textures::limiter::{ServedLevel, UploadLimiter};
use tileheap_textures::scenario::Scenario;
use tileheap_textures::trace::TraceEntry;
use tileheap_textures::units::Bytes;
use tileheap_textures::{
    CacheEvent, Coherent, Geometry, Level, MipChainId, PolicyDesc, Request, TextureId, TextureTable,
};

fn levelled(kind: PolicyDesc<'static>, budget: Bytes, uploads: Bytes) -> (UploadLimiter, TextureTable) {
    let geometry = Geometry::wulfram();
    let limiter = UploadLimiter::new(&kind, &geometry, budget, 1, uploads);
    (limiter.expect("a budget"), TextureTable::new(geometry))
}

fn requests(textures: &mut TextureTable, count: u32, level: u8) -> Vec<Request> {
    (0..count)
        .map(|id| {
            textures.create(TextureId(id), MipChainId(0)).expect("in order");
            textures.request(TextureId(id), Level(level)).expect("a level")
        })
        .collect()
}

fn frame(cache: &mut UploadLimiter, requests: &[Request]) -> Vec<ServedLevel> {
    cache.begin_frame();
    let serve = |&request| cache.request(request).expect("by the rules");
    let served = requests.iter().map(serve).collect();
    cache.end_frame().expect("by the rules");
    served
}

#[test]
fn a_new_scene_comes_in_over_frames_the_first_requests_first() {
    // Fixed slabs have no room for this many textures of one size.
    let kinds = (ALL.into_iter()).filter(|kind| !["slab", "first-attempt"].contains(&kind.name));
    for kind in kinds {
        let (mut cache, mut textures) = levelled(kind, Bytes::mib(4), Bytes(110_000));
        let requests = requests(&mut textures, 20, 7);
        let mut whole = Vec::new();
        for _ in 0..8 {
            let served = frame(&mut cache, &requests);
            assert!(
                served.iter().all(|&served| served != ServedLevel::Missing),
                "{}",
                kind.name
            );
            let figures = cache.uploads();
            assert!(figures.uploaded <= Bytes(110_000), "{figures:?}");
            assert!(
                served.is_sorted_by_key(|&served| served != ServedLevel::Requested),
                "{}: {served:?}",
                kind.name
            );
            whole.push(figures.at_requested_level);
        }
        // A ninth is used for coarse levels.
        assert_eq!(whole, [4, 8, 12, 16, 20, 20, 20, 20], "{}", kind.name);
        assert_eq!(cache.uploads().waiting, Bytes::ZERO);
    }
}

#[test]
fn a_texture_larger_than_a_frame_s_uploads_comes_alone_and_is_made_up_for() {
    let (mut cache, mut textures) = levelled(HeapCache::LRU, Bytes::mib(4), Bytes(30_000));
    let requests = requests(&mut textures, 3, 8);
    let mut whole = Vec::new();
    for _ in 0..9 {
        frame(&mut cache, &requests);
        whole.push(cache.uploads().at_requested_level);
    }
    // 87,381 bytes are three frames' worth.
    assert_eq!(whole, [1, 1, 1, 2, 2, 2, 3, 3, 3]);
}

#[test]
fn what_is_refused_is_served_coarser_and_not_requested_every_frame() {
    let (mut cache, mut textures) = levelled(Coherent::WITHOUT_RELOCATION, Bytes(200_000), Bytes::mib(1));
    // Twice as many as fit.
    let requests = requests(&mut textures, 18, 7);
    let mut uploaded = Vec::new();
    for _ in 0..60 {
        let served = frame(&mut cache, &requests);
        uploaded.push(cache.uploads().uploaded.0);
        let whole = served
            .iter()
            .filter(|&&served| served == ServedLevel::Requested)
            .count();
        assert!(whole >= 7, "{served:?}");
    }
    let late = uploaded[30..].iter().sum::<u64>() / 30;
    assert!(late < 30_000, "{uploaded:?}");
}

/// On every generated trace: textures reported as resident are resident, and no frame exceeds its upload budget.
#[test]
fn traffic_is_level_on_every_scenario() {
    for scenario in Scenario::ALL {
        let entries = scenario.entries(3, 60);
        for kind in [
            Arenas::DESC,
            Coherent::DESC,
            Coherent::KEEPING_LEVELS,
            Coherent::WITHOUT_RELOCATION,
            HeapCache::LRU,
        ] {
            let uploads = 100_000;
            let geometry = scenario.geometry();
            let mut cache =
                UploadLimiter::new(&kind, &geometry, Bytes::mib(2), 1, Bytes(uploads)).expect("2 MiB");
            let largest = geometry.largest().0;
            let (mut total, mut frames) = (0, 0);
            cache.begin_frame();
            for &entry in &entries {
                match entry {
                    TraceEntry::Use(request) => match cache.request(request).expect("by the rules") {
                        ServedLevel::Requested => {
                            assert!(cache.level(request.texture) >= Some(request.level))
                        }
                        ServedLevel::Coarser(level) => assert_eq!(cache.level(request.texture), Some(level)),
                        ServedLevel::Missing => assert_eq!(cache.level(request.texture), None),
                    },
                    TraceEntry::Release(texture) => cache.release(texture),
                    TraceEntry::EndFrame => {
                        let placed = |event: &CacheEvent| match event {
                            CacheEvent::Place { upload, .. } => upload.0,
                            _ => 0,
                        };
                        let bytes: u64 = cache.events().iter().map(placed).sum();
                        assert_eq!(bytes, cache.uploads().uploaded.0);
                        assert!(bytes <= uploads.max(largest), "{}: {bytes}", scenario.name());
                        (total, frames) = (total + bytes, frames + 1);
                        cache.end_frame().expect("by the rules");
                        cache.clear_events();
                        cache.begin_frame();
                    }
                }
            }
            let name = (scenario.name(), kind.name);
            assert!(total <= frames * uploads + largest, "{name:?}: {total}");
        }
    }
}
