//! The paper's tables and bounds: blocks, temperatures, gaps, classes.

use tileheap_textures::arenas::{
    Arenas, ArenasDesc, IdleVictim, InitialWalls, Temperature, TemperatureAverage,
};
use tileheap_textures::blocks::BlockTable;
use tileheap_textures::units::{Alignment, Bytes, SplitMix64};
use tileheap_textures::{Geometry, Journal, MipChain, Policy, TextureId};

use super::{TWO_MIB, facts, request};

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
    let sizes = |sizes: &[u64]| MipChain::new(sizes.iter().map(|&size| Bytes(size)).collect());
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
    // Figure 7: 3 of 10 blocks, and 7 of 10.
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
            average: TemperatureAverage::Arenas,
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
            // At each wall and step: smaller than the blocks of both neighbors.
            let view: Vec<_> = arenas.arenas().collect();
            assert_eq!(view[0].start, Bytes::ZERO);
            let last = view.last().expect("nine");
            assert_eq!(last.end, TWO_MIB, "the last arena ends where memory does");
            let mut sum = Bytes::ZERO;
            for pair in view.windows(2) {
                let gap = pair[1].start - pair[0].end;
                assert!(gap < pair[0].block.min(pair[1].block), "{gap} at step {step}");
                assert!(gap.0 % 8 == 0);
                sum += gap;
            }
            assert!(sum <= bound && sum == arenas.wall_stats().gaps);
            worst = worst.max(sum);
        }
        assert!(arenas.wall_stats().wall_moves > 100, "walls did move");
    }
    assert!(worst > Bytes(1000), "gaps were met: {worst}");
}
