//! Perfect packings from our own generator, whose optimum is known by construction.

use tileheap_pack::units::Bytes;
use tileheap_pack::{Problem, ProblemDesc, Steps, Strategy, Verdict, check, fit, minimize};
use tileheap_testkit::generators::{FAMILIES, PerfectDesc, perfect};

use crate::go_on;

const HEIGHT: u64 = 1000;
const STEPS: u32 = 60;

fn desc(items: usize, pinwheels: u64) -> PerfectDesc {
    PerfectDesc {
        items,
        steps: STEPS,
        height: HEIGHT,
        pinwheels,
        draws: 3,
    }
}

/// No rule reaches the optimum of most of these; only the searches do.
#[test]
fn the_optimum_of_perfect_packings_is_found_and_proved() {
    let mut beyond_the_rules = 0;
    for seed in 1..9 {
        let count = [20, 30, 40, 60][(seed as usize - 1) % 4];
        let (items, packing) = perfect(seed, desc(count, if seed > 4 { 2 } else { 0 }));
        let problem = ProblemDesc::new(items).capacity(Bytes(HEIGHT)).build().unwrap();
        check(&problem, &packing).unwrap();
        let quick = minimize(&problem, Strategy::Quick, Steps::default(), &mut go_on);
        beyond_the_rules += u32::from(quick.verdict != Verdict::Proved);
        let answer = minimize(&problem, Strategy::Auto, Steps::default(), &mut go_on);
        assert_eq!(
            (answer.verdict, answer.bound),
            (Verdict::Proved, Bytes(HEIGHT)),
            "seed {seed}"
        );
        let answer = fit(&problem, Strategy::Exact, Steps::default(), &mut go_on);
        let packing = answer.packing.unwrap_or_else(|| panic!("seed {seed}"));
        check(&problem, &packing).unwrap();
        assert!(packing.fits(&problem), "seed {seed}");
        // With one byte less, one item does not fit.
        let tight = problem.into_desc().capacity(Bytes(HEIGHT - 1));
        let answer = fit(
            &tight.build().unwrap(),
            Strategy::Auto,
            Steps::default(),
            &mut go_on,
        );
        assert!(answer.is_impossible(), "seed {seed}");
        assert!(!answer.conflict.unwrap().items.is_empty());
    }
    assert!(beyond_the_rules >= 5, "{beyond_the_rules}");
}

/// Small members of all families, and large perfect packings that are only found by their rectangles.
#[test]
fn families_are_packed_at_their_optimum() {
    let mut glued = 0;
    for family in FAMILIES {
        let is_perfect = ["guillotine", "pinwheel", "mirrored", "scaled"].contains(&family.name);
        for (items, seed) in [(60, 1), (60, 2), (400, 3), (1000, 4)] {
            let sample = family.generate(seed, items);
            let problem = Problem::new(sample.items).unwrap();
            let is_easy = items == 60 || is_perfect;
            let steps = if is_easy { Steps::default() } else { Steps(5000) };
            let answer = minimize(&problem, Strategy::Auto, steps, &mut go_on);
            glued += u32::from(answer.found_by.as_deref() == Some(Strategy::Glue.name()));
            let packing = answer.packing.unwrap();
            check(&problem, &packing).unwrap();
            let optimum = sample.optimum.unwrap_or(answer.bound);
            assert!(packing.height >= optimum, "{}", family.name);
            if is_easy {
                assert_eq!(packing.height, optimum, "{}, {items} items", family.name);
                let desc = problem.into_desc().capacity(optimum);
                let answer = fit(&desc.build().unwrap(), Strategy::Auto, steps, &mut go_on);
                assert!(
                    answer.packing.is_some(),
                    "{}, {items} items within {optimum}",
                    family.name
                );
            }
        }
    }
    assert!(glued >= 6, "{glued}");
}
