//! Follows an image with two levels through short sequences of uses.

use super::*;
use ComparedFrame::{Before, Captured, Next, Repeated};

/// The wasted loads and stores: pass, operation, and whether it is an assumption.
type Wasted = Vec<(usize, &'static str, bool)>;

const SAMPLE: ContentUse = ContentUse {
    frame: Captured,
    place: (0, 0),
    cells: [(0, 1), (0, 2), (0, 1)],
    area: WHOLE,
    reads: true,
    effect: Effect::None,
    attached: false,
    loads: false,
    only_blends: false,
    stores: None,
};
/// An attachment that is cleared and stored.
const CLEAR: ContentUse = ContentUse {
    reads: false,
    effect: Effect::Replaces,
    attached: true,
    stores: Some(true),
    ..SAMPLE
};
/// An attachment that is loaded and stored.
const LOAD: ContentUse = ContentUse {
    effect: Effect::Updates,
    attached: true,
    loads: true,
    stores: Some(true),
    ..SAMPLE
};
const DROP: ContentUse = ContentUse {
    stores: Some(false),
    ..CLEAR
};
const DISCARD: ContentUse = ContentUse {
    reads: false,
    effect: Effect::Discards,
    ..SAMPLE
};
const SHADER: ContentUse = ContentUse {
    reads: false,
    effect: Effect::MayReplace,
    ..SAMPLE
};

fn blended(of: ContentUse) -> ContentUse {
    ContentUse {
        only_blends: true,
        ..of
    }
}

fn quarter(of: ContentUse, column: u32) -> ContentUse {
    ContentUse {
        area: [(column * 64, column * 64 + 64), (0, 64)],
        ..of
    }
}

/// Follows uses, each in its own pass.
fn followed(uses: &[(ComparedFrame, ContentUse)]) -> FollowedContents {
    let mut numbers = [0; 4];
    let numbered = uses.iter().map(|(frame, one)| {
        let number = &mut numbers[*frame as usize];
        *number += 1;
        ContentUse {
            frame: *frame,
            place: (*number - 1, 0),
            ..*one
        }
    });
    contents(&numbered.collect::<Vec<_>>(), [1, 2, 1])
}

fn wasted(uses: &[(ComparedFrame, ContentUse)]) -> Wasted {
    let all = followed(uses).wasted.into_iter();
    let words = |is_load| if is_load { "load" } else { "store" };
    all.map(|one| (one.place.0, words(one.is_load), one.assumed))
        .collect()
}

#[test]
fn stores_that_the_next_frame_replaces_are_wasted() {
    for (uses, expected) in [
        // The depth attachment of a frame that clears it.
        (&[(Captured, CLEAR), (Next, CLEAR)][..], vec![(0, "store", false)]),
        (&[(Captured, CLEAR), (Next, DISCARD)], vec![(0, "store", false)]),
        // It is read by a pass of this frame, by a pass of the next one, or by a load operation of the next one.
        (&[(Captured, CLEAR), (Captured, SAMPLE), (Next, CLEAR)], vec![]),
        (&[(Captured, CLEAR), (Next, SAMPLE), (Next, CLEAR)], vec![]),
        (&[(Captured, CLEAR), (Next, LOAD)], vec![]),
        // The first of two stores is loaded, the second is not.
        (
            &[(Captured, CLEAR), (Captured, LOAD), (Next, CLEAR)],
            vec![(1, "store", false)],
        ),
        // The first of two is replaced in the same frame.
        (
            &[(Captured, CLEAR), (Captured, CLEAR), (Next, SAMPLE)],
            vec![(0, "store", false)],
        ),
        // The next frame does not use it, and nothing else is known.
        (&[(Captured, CLEAR)], vec![]),
        (&[(Captured, CLEAR), (Repeated, CLEAR)], vec![(0, "store", true)]),
        (&[(Captured, CLEAR), (Next, SHADER)], vec![(0, "store", true)]),
        // It does not store.
        (&[(Captured, DROP), (Next, CLEAR)], vec![]),
    ] {
        assert_eq!(wasted(uses), expected, "{uses:?}");
    }
}

#[test]
fn parts_are_compared_exactly() {
    let level = |of: ContentUse, level| ContentUse {
        cells: [(0, 1), (level, level + 1), (0, 1)],
        ..of
    };
    for (uses, expected) in [
        // Tiles of a shadow atlas: the next frame replaces a different one.
        (
            &[(Captured, quarter(CLEAR, 0)), (Next, quarter(CLEAR, 1))][..],
            vec![],
        ),
        (
            &[(Captured, quarter(CLEAR, 0)), (Next, quarter(CLEAR, 0))],
            vec![(0, "store", false)],
        ),
        (&[(Captured, CLEAR), (Next, quarter(CLEAR, 0))], vec![]),
        (
            &[(Captured, quarter(CLEAR, 1)), (Next, CLEAR)],
            vec![(0, "store", false)],
        ),
        (&[(Captured, CLEAR), (Next, level(CLEAR, 0))], vec![]),
        (
            &[
                (Captured, level(CLEAR, 1)),
                (Captured, level(SAMPLE, 0)),
                (Next, CLEAR),
            ],
            vec![(0, "store", false)],
        ),
    ] {
        assert_eq!(wasted(uses), expected, "{uses:?}");
    }
}

#[test]
fn loads_of_undefined_contents_and_for_nothing_are_wasted() {
    for (uses, expected) in [
        (
            &[(Captured, DISCARD), (Captured, LOAD), (Captured, SAMPLE)][..],
            vec![(0, "load", false)],
        ),
        (
            &[(Before, DROP), (Captured, LOAD), (Captured, SAMPLE)],
            vec![(0, "load", false)],
        ),
        (
            &[(Captured, DROP), (Captured, LOAD), (Captured, SAMPLE)],
            vec![(1, "load", false)],
        ),
        (
            &[
                (Before, DROP),
                (Before, CLEAR),
                (Captured, LOAD),
                (Captured, SAMPLE),
            ],
            vec![],
        ),
        (
            &[
                (Captured, quarter(DISCARD, 0)),
                (Captured, LOAD),
                (Captured, SAMPLE),
            ],
            vec![],
        ),
        (&[(Captured, LOAD), (Captured, SAMPLE)], vec![]),
        // Nothing reads the blended result; a loaded depth is tested against.
        (
            &[(Captured, blended(LOAD)), (Next, CLEAR)],
            vec![(0, "load", false), (0, "store", false)],
        ),
        (&[(Captured, LOAD), (Next, CLEAR)], vec![(0, "store", false)]),
    ] {
        let numbered: Wasted = wasted(uses);
        let expected: Wasted = expected
            .into_iter()
            .map(|(pass, what, assumed)| {
                // A discard counts as a separate step here.
                let shift = usize::from(matches!(uses[0], (Captured, one) if one.effect == Effect::Discards));
                (pass + shift, what, assumed)
            })
            .collect();
        assert_eq!(numbered, expected, "{uses:?}");
    }
}

#[test]
fn the_next_frame_decides_about_what_is_left() {
    for (uses, expected) in [
        (&[(Captured, CLEAR), (Next, SAMPLE)][..], NextUse::Reads(0)),
        (
            &[(Captured, CLEAR), (Next, CLEAR), (Next, SAMPLE)],
            NextUse::Replaces(0),
        ),
        (
            &[(Captured, CLEAR), (Next, quarter(CLEAR, 0)), (Next, SAMPLE)],
            NextUse::Reads(1),
        ),
        (&[(Captured, CLEAR), (Next, quarter(CLEAR, 0))], NextUse::Unknown),
        (&[(Captured, CLEAR), (Next, SHADER)], NextUse::Unknown),
        (&[(Captured, CLEAR), (Repeated, CLEAR)], NextUse::Unknown),
    ] {
        assert_eq!(followed(uses).next, expected, "{uses:?}");
    }
}

#[test]
fn what_no_pass_hands_on_needs_no_memory() {
    for (uses, expected) in [
        (&[(Captured, DROP)][..], true),
        (&[(Captured, CLEAR), (Next, CLEAR)], true),
        (&[(Captured, CLEAR), (Repeated, CLEAR)], false),
        (&[(Captured, CLEAR), (Captured, SAMPLE), (Next, CLEAR)], false),
        (&[(Captured, LOAD), (Next, CLEAR)], false),
        (&[(Captured, SAMPLE)], false),
    ] {
        assert_eq!(followed(uses).memoryless, expected, "{uses:?}");
    }
}
