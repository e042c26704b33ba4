//! Walls: where arenas allocate, when and over which neighbors they grow, and where they settle.

use tileheap_textures::arenas::{ArenaSide, Arenas, ArenasDesc, InitialWalls, Temperature};
use tileheap_textures::replay::Replay;
use tileheap_textures::scenario::{Scenario, working_set};
use tileheap_textures::units::Bytes;
use tileheap_textures::{CacheEvent, EvictionReason, Geometry, Journal, Policy, RequestOutcome};

use super::{TWO_MIB, replayed, request};

fn equal_bytes() -> ArenasDesc {
    ArenasDesc {
        walls: InitialWalls::EqualBytes,
        ..ArenasDesc::default()
    }
}

fn arenas(desc: ArenasDesc) -> Arenas {
    Arenas::new(&Geometry::wulfram(), TWO_MIB, 1, desc).expect("2 MiB")
}

/// The size of an arena in bytes.
fn extent(arenas: &Arenas, index: usize) -> Bytes {
    let arena = arenas.arenas().nth(index).expect("nine");
    arena.end - arena.start
}

#[test]
fn ends_allocate_at_their_free_side_and_others_toward_the_cooler() {
    let mut arenas = arenas(equal_bytes());
    let mut journal = Journal::new();
    let offset = |arenas: &mut Arenas, journal: &mut Journal, texture, level| match arenas
        .request(request(texture, level), journal)
    {
        RequestOutcome::Upload { offset } => offset,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        offset(&mut arenas, &mut journal, 0, 0),
        Bytes::ZERO,
        "the first arena at its left"
    );
    assert_eq!(
        offset(&mut arenas, &mut journal, 1, 8),
        TWO_MIB - Bytes(87_384),
        "the last one at its right"
    );
    // Levels 4 and 6 are warm, everything else is cold: the left of arena 5 is warmer if 4 is full and 6 is not.
    for frame in 0..2 {
        for texture in 0..600 {
            arenas.request(request(100 + texture, 4), &mut journal);
        }
        arenas.end_frame(&mut journal);
        let sides: Vec<ArenaSide> = arenas.arenas().map(|arena| arena.side).collect();
        assert_eq!(sides[5], ArenaSide::Right, "frame {frame}: figure 9");
        assert_eq!(
            sides[3],
            ArenaSide::Left,
            "frame {frame}: level 4 is to its right"
        );
    }
    let view: Vec<_> = arenas.arenas().collect();
    let placed = offset(&mut arenas, &mut journal, 5000, 5);
    assert_eq!(placed + view[5].block, view[5].end, "at its right end");
}

#[test]
fn growth_comes_before_the_first_ejection() {
    // Level 5 heats up by a few textures per frame: its walls move gradually.
    let mut arenas = arenas(equal_bytes());
    let start = extent(&arenas, 5);
    let mut journal = Journal::new();
    let (mut grown, mut ejected) = (None, None);
    for frame in 0..120_u32 {
        for texture in 0..(frame + 1) * 4 {
            arenas.request(request(texture, 5), &mut journal);
        }
        arenas.end_frame(&mut journal);
        if extent(&arenas, 5) > start {
            grown.get_or_insert(frame);
        }
        let is_replaced = |reason| reason == EvictionReason::Replaced;
        let replaced =
            |event: &CacheEvent| matches!(*event, CacheEvent::Evict { reason, .. } if is_replaced(reason));
        if journal.events().iter().any(replaced) {
            ejected.get_or_insert(frame);
        }
        journal.clear();
    }
    let grown = grown.expect("it grows");
    assert!(
        ejected.is_none_or(|ejected| grown < ejected),
        "grown in {grown}, ejected in {ejected:?}"
    );
    let now = extent(&arenas, 5);
    assert!(now > Bytes(2 * start.0), "{now} from {start}");
}

#[test]
fn the_first_attempt_takes_a_block_in_each_arena() {
    let mut cache = arenas(ArenasDesc {
        single_levels: true,
        ..ArenasDesc::default()
    });
    let mut journal = Journal::new();
    let outcome = cache.request(request(0, 5), &mut journal);
    assert!(matches!(outcome, RequestOutcome::Upload { .. }));
    let placed = |journal: &Journal| -> Vec<(u8, u64, u64)> {
        let events = journal.events().iter().filter_map(|event| match *event {
            CacheEvent::Place {
                part, block, upload, ..
            } => Some((part.0, block.0, upload.0)),
            _ => None,
        });
        events.collect()
    };
    let expected = [
        (5, 1024, 1024),
        (4, 256, 256),
        (3, 64, 64),
        (2, 16, 16),
        (1, 8, 4),
        (0, 8, 1),
    ];
    assert_eq!(placed(&journal), expected);
    journal.clear();
    let outcome = cache.request(request(0, 6), &mut journal);
    assert!(matches!(outcome, RequestOutcome::Upload { .. }));
    assert_eq!(
        placed(&journal),
        [(6, 4096, 4096)],
        "an upgrade uploads what is not there"
    );
    let outcome = cache.request(request(0, 3), &mut journal);
    assert!(matches!(outcome, RequestOutcome::Hit { .. }));
}

#[test]
fn walls_settle_on_a_steady_trace() {
    let entries = Scenario::Still.entries(0, 400);
    let geometry = Geometry::wulfram();
    let budget = Bytes(working_set(&entries, geometry.unit()).0 * 3);
    let mut replay = Replay::new(&Arenas::DESC, &geometry, budget, 1).expect("it fits");
    let mut moves = Vec::new();
    for half in entries.chunks(entries.len() / 2) {
        for &entry in half {
            replay.play(entry).unwrap_or_else(|fault| panic!("{fault}"));
        }
        moves.push(replay.wall_stats().wall_moves);
    }
    assert!(
        moves[0] > 0 && moves[1] == moves[0],
        "moves in the first 200 frames, and in all: {moves:?}"
    );
    assert_eq!(replay.last_frame().uploads, 0, "everything is there by then");
}

#[test]
fn another_scene_is_adapted_to_quickly() {
    // "We can change scene types abruptly (from, say, 300 polygons with high-resolution textures to 9000 polygons with small
    // textures) and the cache will quickly adapt."
    let entries = Scenario::Switch.entries(1, 200);
    let geometry = Geometry::wulfram();
    let budget = Bytes(working_set(&entries, geometry.unit()).0 * 3 / 2);
    let replay = replayed(Arenas::DESC, &geometry, budget, &entries);
    let uploaded = replay.traffic();
    // A new scene is a peak; counts the frames until less than a hundredth of it is uploaded.
    let peak = *uploaded.iter().max().expect("frames");
    let (mut took, mut since) = (Vec::new(), None);
    for (frame, &bytes) in uploaded.iter().enumerate() {
        match since {
            None if bytes > peak / 4 => since = Some(frame),
            Some(start) if bytes < peak / 100 => {
                took.push(frame - start);
                since = None;
            }
            _ => {}
        }
    }
    println!("frames until arenas fit the new scene: {took:?}, peaks of {peak} B");
    assert!(took.len() >= 3 && since.is_none(), "{took:?}, since {since:?}");
    // Contention over the walls makes one of them take long.
    assert!(took.iter().all(|&frames| frames <= 48), "{took:?}");
}

#[test]
fn hot_arenas_grow_over_hotter_neighbors() {
    // Figure 8: the average to the left counts, not the neighbor. Levels 6 and 7 are boiling, everything to their left is cold.
    let mut arenas = arenas(ArenasDesc {
        bonus: Temperature::thousandths(50),
        stride: 250,
        ..equal_bytes()
    });
    let mut journal = Journal::new();
    for _ in 0..30 {
        for texture in 0..30 {
            arenas.request(request(texture, 6), &mut journal);
        }
        for texture in 100..116 {
            arenas.request(request(texture, 7), &mut journal);
        }
        arenas.end_frame(&mut journal);
    }
    let arena = arenas.arenas().nth(7).expect("nine");
    let blocks = (arena.end - arena.start).0 / arena.block.0;
    assert!(blocks >= 16, "{blocks} blocks for 16 textures");
    let is_taken_from_warm = |event: &CacheEvent| matches!(*event, CacheEvent::Evict { texture, reason, .. } if reason == EvictionReason::Wall && texture.0 < 100);
    let taken = journal.events().iter().any(is_taken_from_warm);
    assert!(taken, "level 6 lost nothing to level 7");
}

#[test]
fn walls_that_move_back_are_counted_and_damped() {
    // Two levels alternate in having all requests.
    let moves = |damping: u32| {
        let mut arenas = arenas(ArenasDesc {
            damping,
            margin: Temperature::thousandths(300),
            ..ArenasDesc::default()
        });
        let mut journal = Journal::new();
        for frame in 0..600_u32 {
            let (level, count) = if frame / 3 % 2 == 0 { (7, 70) } else { (6, 280) };
            for texture in 0..count {
                arenas.request(request(u32::from(level) * 1000 + texture, level), &mut journal);
            }
            arenas.end_frame(&mut journal);
            journal.clear();
        }
        arenas.wall_stats()
    };
    let (free, damped) = (moves(0), moves(8));
    assert!(free.reversals > 0, "{free:?}");
    assert!(
        damped.reversals < free.reversals,
        "{damped:?}, without damping {free:?}"
    );
}
