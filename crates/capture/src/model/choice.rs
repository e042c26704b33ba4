//! Chooses the frame to capture: the heaviest of the first frames, preferably one that the next frame repeats.
//!
//! ```text
//! frame     0        1..9      10       11..   42       43..
//!           uploads  loading   bakes    game   menu     game
//! moves     900 MB   8 MB      300 MB   140    20       141 MB    ◄ chosen
//! repeated  no       yes       no       yes    no       yes       by the frame after it, with passes of the same kind
//! ```

use std::hash::{DefaultHasher, Hash, Hasher};

use super::objects::Resource;
use super::submits::Submits;
use super::timeline::moved_bytes;
use crate::document::FrameChoice;

/// The bytes that a frame accesses, and a hash of the kinds and attachments of its passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FrameMeasure {
    moved: u64,
    passes: u64,
}

impl FrameMeasure {
    /// Measures a frame whose command buffers are flattened.
    pub(crate) fn of(frame: &Submits) -> FrameMeasure {
        let (mut moved, mut hasher) = (0u64, DefaultHasher::new());
        for pass in frame.flats().flat_map(|flat| &flat.passes) {
            pass.kind.hash(&mut hasher);
            for access in &pass.accesses {
                let times = u64::from(access.reads) + u64::from(access.writes);
                moved = moved.saturating_add(moved_bytes(pass, access).saturating_mul(times));
                match &access.resource {
                    Resource::Image(image) if access.kind.is_attachment() => {
                        (image.desc.format, image.extent).hash(&mut hasher);
                    }
                    _ => {}
                }
            }
        }
        FrameMeasure {
            moved,
            passes: hasher.finish(),
        }
    }
}

/// A search for the heaviest frame: the best frame so far, and the bytes that each frame accesses.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrameSearch {
    /// For the best frame: whether the next frame repeats it, and the bytes that it accesses.
    best: Option<(bool, u64)>,
    moved: Vec<u64>,
    repeated: u64,
}

impl FrameSearch {
    /// Compares a frame and the next one with the best so far; returns true if it is better.
    pub(crate) fn offer(&mut self, frame: FrameMeasure, next: Option<FrameMeasure>) -> bool {
        let is_repeated = next.is_some_and(|next| next.passes == frame.passes);
        self.moved.push(frame.moved);
        self.repeated += u64::from(is_repeated);
        let rank = Some((is_repeated, frame.moved));
        let is_better = rank > self.best;
        if is_better {
            self.best = rank;
        }
        is_better
    }

    /// Returns the result of the search, for the document.
    pub(crate) fn choice(&self) -> FrameChoice {
        FrameChoice {
            moved_bytes: self.moved.clone(),
            repeated_frames: self.repeated,
            is_repeated: self.best.is_some_and(|best| best.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the frame chosen among frames with these bytes and passes.
    fn chosen(frames: &[(u64, u64)]) -> Option<usize> {
        let mut search = FrameSearch::default();
        let measure = |&(moved, passes): &(u64, u64)| FrameMeasure { moved, passes };
        let offered = (0..frames.len()).filter(|&index| {
            let next = frames.get(index + 1).map(measure);
            search.offer(measure(&frames[index]), next)
        });
        let chosen = offered.last();
        assert_eq!(search.choice().moved_bytes.len(), frames.len());
        chosen
    }

    #[test]
    fn the_heaviest_frame_that_comes_again_is_chosen() {
        for (frames, expected) in [
            (&[][..], None),
            (&[(5, 1)], Some(0)),
            // Uploads, a loading screen, one baking pass, then the game.
            (
                &[(900, 1), (8, 2), (8, 2), (300, 3), (140, 4), (141, 4), (140, 4)],
                Some(5),
            ),
            // The first of equal frames.
            (&[(7, 1), (7, 1), (7, 1)], Some(0)),
            // No frame repeats.
            (&[(3, 1), (9, 2), (4, 3)], Some(1)),
        ] {
            assert_eq!(chosen(frames), expected, "{frames:?}");
        }
    }
}
