//! Perfect packings of our own generator, whose optimum is known by construction, in `tests/data/pack`.

use std::fmt::Write;
use tileheap_pack::units::Bytes;
use tileheap_pack::{Problem, Steps, Strategy, Verdict, check, fit, lower_bound, minimise};
use tileheap_testkit::generators::{FAMILIES, PerfectDesc, perfect};

use crate::go_on;

/// File, seed, items, and one cut in how many is a pinwheel.
const FILES: [(&str, u64, usize, u64); 8] = [
    ("guillotine-20", 1, 20, 0),
    ("guillotine-30", 2, 30, 0),
    ("guillotine-40", 3, 40, 0),
    ("guillotine-60", 4, 60, 0),
    ("pinwheel-20", 5, 20, 2),
    ("pinwheel-30", 6, 30, 2),
    ("pinwheel-40", 7, 40, 2),
    ("pinwheel-60", 8, 60, 2),
];
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

#[test]
fn the_files_are_what_the_generator_makes() {
    for (name, seed, count, pinwheels) in FILES {
        let (items, packing) = perfect(seed, desc(count, pinwheels));
        let problem = Problem::new(items.clone()).unwrap();
        check(&problem, &packing).unwrap();
        assert_eq!(lower_bound(&problem), packing.height);
        let mut text = "id,lower,upper,size\n".to_owned();
        for (id, item) in items.iter().enumerate() {
            let (first, end, size) = (item.span.first.0, item.span.end.0, item.size.0);
            writeln!(text, "{id},{first},{end},{size}").unwrap();
        }
        let path = tileheap_testkit::data("pack").join(format!("{name}.{HEIGHT}.csv"));
        if std::env::var_os("TILEHEAP_WRITE_DATA").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), text, "{name}");
    }
}

/// No rule reaches the optimum of most of these: the searches do.
#[test]
fn the_optimum_of_perfect_packings_is_found_and_proved() {
    let mut beyond_the_rules = 0;
    for (name, ..) in FILES {
        let path = tileheap_testkit::data("pack").join(format!("{name}.{HEIGHT}.csv"));
        let desc = crate::instances::read(&path).into_desc().capacity(Bytes(HEIGHT));
        let problem = desc.build().unwrap();
        let quick = minimise(&problem, Strategy::Quick, Steps::default(), &mut go_on);
        beyond_the_rules += u32::from(quick.verdict != Verdict::Proved);
        let answer = minimise(&problem, Strategy::Auto, Steps::default(), &mut go_on);
        assert_eq!(
            (answer.verdict, answer.bound),
            (Verdict::Proved, Bytes(HEIGHT)),
            "{name}"
        );
        let answer = fit(&problem, Strategy::Exact, Steps::default(), &mut go_on);
        let packing = answer.packing.unwrap_or_else(|| panic!("{name}"));
        check(&problem, &packing).unwrap();
        assert!(packing.fits(&problem), "{name}");
        // One byte less, and one item is too much.
        let tight = problem.into_desc().capacity(Bytes(HEIGHT - 1));
        let answer = fit(
            &tight.build().unwrap(),
            Strategy::Auto,
            Steps::default(),
            &mut go_on,
        );
        assert!(answer.is_impossible(), "{name}");
        assert!(!answer.conflict.unwrap().items.is_empty());
    }
    assert!(beyond_the_rules >= 5, "{beyond_the_rules}");
}

/// Small members of all families, and large perfect packings, which only their rectangles give away.
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
            let answer = minimise(&problem, Strategy::Auto, steps, &mut go_on);
            let packing = answer.packing.unwrap();
            check(&problem, &packing).unwrap();
            let optimum = sample.optimum.unwrap_or(answer.bound);
            assert!(packing.height >= optimum, "{}", family.name);
            if is_easy {
                assert_eq!(packing.height, optimum, "{}, {items} items", family.name);
            }
            glued += u32::from(answer.found_by.as_deref() == Some(Strategy::Glue.name()));
        }
    }
    assert!(glued >= 6, "{glued}");
}
