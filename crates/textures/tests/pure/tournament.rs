//! Our policy against every other on every scenario, checked at every step: a single seed of the measurements of `benches/tournament.rs`.

use tileheap_baselines::textures::ALL;
use tileheap_testkit::contest::{BUDGETS, ContestDesc, LOWER_BOUND};
use tileheap_textures::replay::{Replay, lower_bound};
use tileheap_textures::scenario::Scenario;
use tileheap_textures::trace::TraceEntry;
use tileheap_textures::units::{Alignment, Bytes};
use tileheap_textures::{
    Coherent, Geometry, Level, MipChain, MipChainId, PolicyDesc, Request, TextureId, UploadMode,
};

/// On every scenario and budget, our policy is at most 1.02 of the best of the others in mean bytes, and no policy that
/// uploads whole chains is below the bound.
#[test]
fn ours_is_the_best_of_the_online_policies() {
    for scenario in Scenario::ALL {
        let contest = ContestDesc {
            policies: &ALL,
            belady: true,
            // Not a seed that parameters were tuned with.
            seeds: 7331..7332,
            frames: match scenario {
                // In these, views return and orders change only after many frames.
                Scenario::TurnAround | Scenario::Mixed => 240,
                _ => 60,
            },
        };
        for budget in BUDGETS {
            let cells = contest.contest(scenario, budget);
            let text = format!("{} at {budget} %: {cells:#?}", scenario.name());
            let ours = cells[Coherent::DESC.name].mean;
            let best = |whole: bool| {
                let others = ALL.into_iter().filter(|kind| {
                    !kind.name.starts_with("coherent") && (!whole || kind.uploads == UploadMode::Whole)
                });
                others.map(|kind| cells[kind.name].mean).min().expect("others")
            };
            assert!(ours * 100 <= best(true) * 102, "{text}");
            // Policies that upload single levels are beaten by ours that does so too.
            let levels = cells[Coherent::KEEPING_LEVELS.name].mean;
            assert!(levels * 100 <= best(false) * 105, "{text}");
            assert!(levels * 100 <= ours * 105, "{text}");
            for kind in ALL.into_iter().filter(|kind| kind.uploads == UploadMode::Whole) {
                assert!(
                    cells[kind.name].mean >= cells[LOWER_BOUND].mean,
                    "{}, {text}",
                    kind.name
                );
            }
        }
    }
}

/// Textures of one level, with these sizes, and their requests.
fn textures_of(sizes: &[u64]) -> (Geometry, Vec<TraceEntry>) {
    let mut different = sizes.to_vec();
    different.sort_unstable();
    different.dedup();
    let chains = different.iter().map(|&size| MipChain::new(vec![Bytes(size)]));
    let geometry = Geometry::new(chains.collect(), Alignment::new(4096).unwrap()).unwrap();
    let requests = (0..).zip(sizes).map(|(texture, &size)| {
        TraceEntry::Use(Request {
            texture: TextureId(texture),
            level: Level(0),
            chain: MipChainId(different.iter().position(|&of| of == size).unwrap() as u16),
            size: Bytes(size),
        })
    });
    (geometry, requests.collect())
}

/// Ten textures of 64 KiB and two of 1.3 MiB, all in every frame: of the budgets, some hold one large texture and some two, and the rest is
/// for small ones. Which were first does not matter.
#[test]
fn a_byte_counts_the_same_in_large_and_small_textures() {
    let sizes: Vec<u64> = [vec![65_536; 10], vec![1_396_736; 2]].concat();
    let (geometry, requests) = textures_of(&sizes);
    for is_reversed in [false, true] {
        let mut frame = requests.clone();
        if is_reversed {
            frame.reverse();
        }
        frame.push(TraceEntry::EndFrame);
        let entries = frame.repeat(300);
        for budget in [1_500_000, 1_700_000, 2_097_152, 3_000_000, 3_200_000].map(Bytes) {
            let mut replay = Replay::new(&Coherent::DESC, &geometry, budget, 1).unwrap();
            entries.iter().for_each(|&entry| replay.play(entry).unwrap());
            let (ours, bound) = (
                replay.traffic().iter().sum::<u64>(),
                lower_bound(&entries, budget),
            );
            let bound: u64 = bound.iter().sum();
            assert!(
                ours * 100 <= bound * 110,
                "{budget}, {is_reversed}: {ours} of {bound}"
            );
        }
    }
}

/// Two frames request a texture that does not fit, and it is released in the second one: what the third frame requests stays.
#[test]
fn released_textures_replace_no_others() {
    let (geometry, mut frame) = textures_of(&[vec![65_536; 10], vec![1_396_736]].concat());
    let large = frame.pop().unwrap();
    let mut replay = Replay::new(&Coherent::DESC, &geometry, Bytes(1_500_000), 1).unwrap();
    let with_large = [&frame[..], &[large]].concat();
    for requests in [&frame, &frame, &frame, &with_large] {
        requests.iter().for_each(|&request| replay.play(request).unwrap());
        replay.play(TraceEntry::EndFrame).unwrap();
    }
    let before = replay.traffic().len();
    for is_released in [true, false] {
        frame.iter().for_each(|&request| replay.play(request).unwrap());
        if is_released {
            replay.play(large).unwrap();
            replay.play(TraceEntry::Release(TextureId(10))).unwrap();
        }
        replay.play(TraceEntry::EndFrame).unwrap();
    }
    assert_eq!(replay.traffic()[before + 1], 0, "{:?}", replay.traffic());
}

/// Of two textures of the same size, one stays, whatever evictions may cost.
#[test]
fn textures_of_one_size_are_not_exchanged() {
    let (geometry, mut frame) = textures_of(&[65_536; 2]);
    frame.push(TraceEntry::EndFrame);
    for cost in [768, 1024, 65_536] {
        let policy = PolicyDesc::parse(&[Coherent::DESC], &format!("coherent:accepted-cost={cost}")).unwrap();
        let mut replay = Replay::new(&policy, &geometry, Bytes(100_000), 1).unwrap();
        let frames = frame.repeat(20);
        frames.into_iter().for_each(|entry| replay.play(entry).unwrap());
        let traffic = &replay.traffic()[1..];
        assert!(
            traffic.iter().all(|&bytes| bytes == 65_536),
            "{cost}: {traffic:?}"
        );
    }
}
