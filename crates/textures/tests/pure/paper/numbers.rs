//! Its tables and bounds: blocks, temperatures, gaps, classes.

use tileheap_textures::arenas::{Arenas, ArenasDesc, Average, IdleVictim, InitialWalls, Temperature};
use tileheap_textures::blocks::BlockTable;
use tileheap_textures::scenario::working_set;
use tileheap_textures::trace::Entry;
use tileheap_textures::units::{Alignment, Bytes, SplitMix64};
use tileheap_textures::{Chain, ChainId, Geometry, Journal, Level, Policy, Request, TextureId};

use super::{TWO_MIB, facts, play, request};

#[test]
fn blocks_are_those_of_figure_6() {
    let facts = facts();
    let geometry = Geometry::wulfram();
    let table = BlockTable::per_size(&geometry);
    let rows = facts["blocks"].as_array().expect("rows");
    assert_eq!(table.classes().len(), rows.len());
    for (level, row) in rows.iter().enumerate() {
        let class = table.classes()[level];
        assert_eq!(row["level"], level);
        assert_eq!(row["texture"], class.texture.0);
        assert_eq!(row["block"], class.block.0);
        assert_eq!(
            table.class_of(class.texture),
            Some(level),
            "each level has its own class"
        );
    }
    assert_eq!(facts["worst_gaps"], table.worst_gaps().0);
    let by_four: u64 = (0..8).map(|level| 1 << (2 * level)).sum();
    assert_eq!(facts["worst_gaps_of_quadrupling_blocks"], by_four);
    let millionths = table.worst_gaps().0 * 1_000_000 / TWO_MIB.0;
    assert_eq!(facts["worst_gaps_in_millionths_of_2_mib"], millionths);
}

#[test]
fn any_size_takes_the_smallest_block_that_holds_it() {
    let sizes = |sizes: &[u64]| Chain::new(sizes.iter().map(|&size| Bytes(size)).collect());
    let unit = Alignment::new(12_288).expect("not 0");
    let geometry =
        Geometry::new(vec![sizes(&[1, 20_000]), sizes(&[24_576, 24_577])], unit).expect("they rise");
    let table = BlockTable::new(&geometry);
    let blocks: Vec<u64> = table.classes().iter().map(|class| class.block.0).collect();
    assert_eq!(blocks, [12_288, 24_576, 36_864]);
    for (size, class) in [
        (1, 0),
        (12_288, 0),
        (12_289, 1),
        (24_576, 1),
        (24_577, 2),
        (36_864, 2),
    ] {
        assert_eq!(table.class_of(Bytes(size)), Some(class), "{size}");
    }
    assert_eq!(table.class_of(Bytes(36_865)), None);
}

#[test]
fn recent_temperatures_are_the_paper_s() {
    let facts = facts();
    for series in facts["temperatures"].as_array().expect("series") {
        let mut recent = Temperature::ZERO;
        for step in series.as_array().expect("steps") {
            let billionths = |name: &str| step[name].as_u64().expect("billionths");
            recent = recent.recent(Temperature(billionths("instantaneous")));
            assert_eq!(recent.0, billionths("recent"), "in {series}");
        }
    }
    // Figure 7: 3 of 10 blocks and 7 of 10.
    assert_eq!(Temperature::share(3, 10), Temperature::thousandths(300));
    assert_eq!(Temperature::share(7, 10), Temperature::thousandths(700));
}

#[test]
fn gaps_stay_below_the_bound_under_a_million_requests() {
    let geometry = Geometry::wulfram();
    let bound = BlockTable::per_size(&geometry).worst_gaps();
    let descs = [
        ArenasDesc::default(),
        ArenasDesc {
            average: Average::Arenas,
            walls: InitialWalls::Largest,
            stride: 4000,
            damping: 0,
            ..ArenasDesc::default()
        },
        ArenasDesc {
            walls: InitialWalls::EqualBlocks,
            idle_victim: IdleVictim::Any,
            active_frames: 3,
            margin: Temperature::ZERO,
            ..ArenasDesc::default()
        },
    ];
    let mut worst = Bytes::ZERO;
    for (seed, desc) in descs.into_iter().enumerate() {
        let mut random = SplitMix64::new(seed as u64);
        let mut arenas = Arenas::new(&geometry, TWO_MIB, 1, desc).expect("2 MiB");
        let mut journal = Journal::new();
        let (mut low, mut span) = (0, 9);
        for step in 0..334_000 {
            journal.clear();
            if step % 5000 == 0 {
                low = random.below(9);
                span = 1 + random.below(9 - low);
            }
            let level = low + random.below(span);
            arenas.request(request(random.below(4000) as u32, level as u8), &mut journal);
            if random.one_in(50) {
                arenas.release(TextureId(random.below(4000) as u32), &mut journal);
            }
            if random.one_in(40) {
                arenas.end_frame(&mut journal);
            }
            // At each wall, at each step: below both neighbours' blocks.
            let mut end: Option<(Bytes, Bytes)> = None;
            let mut sum = Bytes::ZERO;
            for arena in arenas.arenas() {
                if let Some((before, block)) = end {
                    let gap = arena.start - before;
                    assert!(gap < block.min(arena.block), "{gap} at step {step}");
                    assert!(gap.0 % 8 == 0);
                    sum += gap;
                } else {
                    assert_eq!(arena.start, Bytes::ZERO);
                }
                end = Some((arena.end, arena.block));
            }
            assert_eq!(
                end.map(|(end, _)| end),
                Some(TWO_MIB),
                "the last arena ends where memory does"
            );
            assert!(sum <= bound && sum == arenas.wall_stats().gaps);
            worst = worst.max(sum);
        }
        assert!(arenas.wall_stats().wall_moves > 100, "walls did move");
    }
    assert!(worst > Bytes(1000), "gaps were met: {worst}");
}

#[test]
fn classes_from_9_to_500_cost_more_and_more() {
    // "In a system that required a much larger number of texture sizes, the usefulness … would break down."
    let mut traffic = Vec::new();
    for classes in [9_u64, 60, 500] {
        let sizes = (1..=classes).map(|class| Chain::new(vec![Bytes(16 + class * 80_000 / classes)]));
        let geometry = Geometry::new(sizes.collect(), Alignment::new(8).expect("not 0")).expect("they rise");
        let mut random = SplitMix64::new(5);
        let draw = |random: &mut SplitMix64| random.below(classes) as u16;
        let chains: Vec<u16> = (0..400).map(|_| draw(&mut random)).collect();
        let (mut entries, mut at) = (Vec::new(), 0);
        for _ in 0..150 {
            at += random.below(3) as usize;
            for step in 0..60 {
                let texture = (at + step) % 400;
                let chain = ChainId(chains[texture]);
                entries.push(Entry::Use(Request {
                    texture: TextureId(texture as u32),
                    level: Level(0),
                    chain,
                    size: geometry.size(chain, Level(0)).expect("a level"),
                }));
            }
            entries.push(Entry::EndFrame);
        }
        let budget = Bytes(working_set(&entries, geometry.unit()).0 * 3 / 2);
        let arenas = Arenas::new(&geometry, budget, 1, ArenasDesc::default()).expect("it fits");
        traffic.push(
            play(Box::new(arenas), &geometry, budget, &entries)
                .0
                .traffic
                .mean
                .0,
        );
    }
    println!("bytes a frame with 9, 60 and 500 classes: {traffic:?}");
    assert!(traffic[0] < traffic[1] && traffic[1] < traffic[2], "{traffic:?}");
}
