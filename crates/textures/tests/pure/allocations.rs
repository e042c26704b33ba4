//! A cache does not allocate once it has seen all textures and a few frames, whatever its policy.

use tileheap_baselines::textures::ALL;
use tileheap_testkit::counting;
use tileheap_textures::scenario::Scenario;
use tileheap_textures::trace::TraceEntry;
use tileheap_textures::units::Bytes;
use tileheap_textures::{CacheEvent, Geometry, Journal, Policy};

fn play(policy: &mut dyn Policy, journal: &mut Journal, entries: &[TraceEntry]) {
    for &entry in entries {
        match entry {
            TraceEntry::Use(request) => {
                policy.request(request, journal);
            }
            TraceEntry::Release(texture) => policy.release(texture, journal),
            TraceEntry::EndFrame => {
                policy.end_frame(journal);
                journal.clear();
            }
        }
    }
}

#[test]
fn steady_flights_and_strafes_allocate_nothing() {
    for scenario in [Scenario::Strafe, Scenario::Flight] {
        let entries = scenario.entries(1, 200);
        for kind in ALL {
            let mut policy = kind
                .create(&Geometry::wulfram(), Bytes::mib(2), 1)
                .expect("2 MiB");
            let mut journal = Journal::new();
            // As many events as the largest frame may have: the journal belongs to the caller.
            let (arena, start, end) = (0, Bytes::ZERO, Bytes::ZERO);
            (0..1 << 16).for_each(|_| journal.push(CacheEvent::Walls { arena, start, end }));
            journal.clear();
            for _ in 0..2 {
                play(&mut *policy, &mut journal, &entries);
            }
            let before = counting::allocation_count();
            play(&mut *policy, &mut journal, &entries);
            let allocations = counting::allocation_count() - before;
            assert_eq!(allocations, 0, "{} on {}", kind.name, scenario.name());
        }
    }
}
