//! Pieces: a part of a history, cut at the boundaries of the parts of the frames that wrote it.
//!
//! ```text
//! layers             0      1      2      3
//! left by frames     ├ GENERAL    ┤├ READ ┤              states, by the parts of those frames
//! read by this one          ├───────────────────┤        a part of this frame
//! pieces                    ├ GEN ┤├ READ ┤├ none ┤      two barriers, from either layout, and a clear
//! ```

use bumpalo::Bump;
use bumpalo::collections::Vec;

use super::state::ContentState;
use crate::frame::SubresourceRange;
use crate::frame::tables::Resource;
use crate::units::Run;

/// A piece of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece<'s> {
    pub(super) range: SubresourceRange,
    /// The state that it was left in; `None` if no frame has written it.
    pub(super) state: Option<&'s ContentState>,
}

/// The pieces of a part of a history, according to the states in which earlier frames left its image or buffer: one piece if all of it has the same state. No
/// frame has written a piece that no state covers.
///
/// O(states x pieces).
pub(super) fn pieces<'a, 's>(
    resource: &Resource,
    part: SubresourceRange,
    states: impl Iterator<Item = &'s ContentState>,
    scratch: &'a Bump,
) -> Vec<'a, Piece<'s>> {
    let mut found = Vec::new_in(scratch);
    let mut rest = Vec::with_capacity_in(1, scratch);
    rest.push(part);
    for state in states {
        let range = range_in(resource, part, state.range);
        let mut at = 0;
        while at < rest.len() {
            let cut: SubresourceRange = rest[at];
            if !cut.intersects(range) {
                at += 1;
                continue;
            }
            rest.swap_remove(at);
            let (inside, outside) = split(cut, range);
            found.push(Piece {
                range: inside,
                state: Some(state),
            });
            // None of these intersects the state.
            rest.extend(outside.into_iter().filter(|range| !is_empty(*range)));
        }
        if rest.is_empty() {
            break;
        }
    }
    found.extend(rest.into_iter().map(|range| Piece { range, state: None }));
    let how = |piece: &Piece<'_>| piece.state.map(|state| (state.layout, state.family));
    if found.iter().all(|piece| how(piece) == how(&found[0])) {
        found.truncate(1);
        found[0].range = part;
    }
    if resource.is_3d() {
        for piece in &mut found {
            piece.range.layers = resource.layers_of(piece.range.levels.first);
        }
    }
    found
}

/// The range of a state, for comparison with ranges inside `part`: a buffer has only one part, and all slices of a 3D history are in one state.
fn range_in(resource: &Resource, part: SubresourceRange, state: SubresourceRange) -> SubresourceRange {
    match resource.is_image() {
        true if resource.is_3d() => SubresourceRange {
            layers: part.layers,
            ..state
        },
        true => state,
        false => part,
    }
}

/// The intersection of `range` and `by`, and the rest of `range`, some of which may be empty.
fn split(range: SubresourceRange, by: SubresourceRange) -> (SubresourceRange, [SubresourceRange; 5]) {
    if range == by {
        return (range, [SubresourceRange::ALL; 5]);
    }
    let common = |a: Run, b: Run| Run::new(a.first.max(b.first), a.end.min(b.end));
    let (levels, layers) = (common(range.levels, by.levels), common(range.layers, by.layers));
    let inside = SubresourceRange {
        aspects: range.aspects & by.aspects,
        levels,
        layers,
    };
    let of_levels = |levels| SubresourceRange { levels, ..range };
    let of_layers = |layers| SubresourceRange {
        layers,
        levels,
        ..range
    };
    let outside = [
        of_levels(Run::new(range.levels.first, levels.first)),
        of_levels(Run::new(levels.end, range.levels.end)),
        of_layers(Run::new(range.layers.first, layers.first)),
        of_layers(Run::new(layers.end, range.layers.end)),
        SubresourceRange {
            aspects: range.aspects & !by.aspects,
            ..inside
        },
    ];
    (inside, outside)
}

fn is_empty(range: SubresourceRange) -> bool {
    range.aspects.is_empty() || range.levels.is_empty() || range.layers.is_empty()
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use ash::vk;
    use ash::vk::ImageAspectFlags as Aspect;

    use super::*;
    use crate::frame::{Frame, FrameBuilder, ImageDesc, Persistence};
    use crate::lower::tables::{ImageOrBuffer, OptionalIndex};
    use crate::units::SplitMix64;

    const EXTENT: vk::Extent2D = vk::Extent2D { width: 8, height: 8 };
    const WHOLE: SubresourceRange = SubresourceRange {
        aspects: Aspect::from_raw(Aspect::DEPTH.as_raw() | Aspect::STENCIL.as_raw()),
        levels: Run::new(0, 4),
        layers: Run::new(0, 5),
    };

    fn frame() -> Frame {
        let mut frame = FrameBuilder::new("history", EXTENT);
        let mut desc = ImageDesc::new(vk::Format::D32_SFLOAT_S8_UINT, EXTENT);
        (desc.mip_levels, desc.array_layers) = (WHOLE.levels.end, WHOLE.layers.end);
        let image = frame.resource("image", desc, Persistence::History);
        let queue = frame.queue("main", vk::QueueFlags::GRAPHICS);
        let submit = frame.submit(queue);
        let batch = frame.batch(submit);
        let commands = frame.command_buffer(batch, "commands");
        frame.transfer_pass(commands, "write").transfer_destination(image);
        frame.build().unwrap()
    }

    fn random_range(random: &mut SplitMix64) -> SubresourceRange {
        let mut run = |all: Run| {
            let first = random.below(u64::from(all.end)) as u32;
            Run::new(first, first + 1 + random.below(u64::from(all.end - first)) as u32)
        };
        let (levels, layers) = (run(WHOLE.levels), run(WHOLE.layers));
        SubresourceRange {
            aspects: random.pick(&[WHOLE.aspects, Aspect::DEPTH, Aspect::STENCIL]),
            levels,
            layers,
        }
    }

    /// Every aspect of every level and layer of a range.
    fn texels(range: SubresourceRange) -> impl Iterator<Item = SubresourceRange> {
        let aspects = [Aspect::DEPTH, Aspect::STENCIL].into_iter();
        aspects
            .filter(move |aspect| range.aspects.contains(*aspect))
            .flat_map(move |aspects| {
                (range.levels.first..range.levels.end).flat_map(move |level| {
                    (range.layers.first..range.layers.end).map(move |layer| SubresourceRange {
                        aspects,
                        levels: Run::new(level, level + 1),
                        layers: Run::new(layer, layer + 1),
                    })
                })
            })
    }

    #[test]
    fn pieces_cover_a_part_once_in_the_states_of_its_texels() {
        let (frame, mut random) = (frame(), SplitMix64::new(1));
        let resource = &frame.resources()[0];
        let (mut joined, mut cut) = (0, 0);
        for _ in 0..2000 {
            let state = |random: &mut SplitMix64| ContentState {
                object: ImageOrBuffer::Image(0).into(),
                range: random_range(random),
                defined: true,
                layout: random.pick(&[vk::ImageLayout::GENERAL, vk::ImageLayout::READ_ONLY_OPTIMAL]),
                family: OptionalIndex::NONE,
            };
            let states: Vec<ContentState> = (0..random.below(6)).map(|_| state(&mut random)).collect();
            let (part, scratch) = (random_range(&mut random), Bump::new());
            let pieces = pieces(resource, part, states.iter(), &scratch);
            for texel in texels(part) {
                let state = states.iter().find(|state| state.range.contains(texel));
                let mut found = pieces.iter().filter(|piece| piece.range.contains(texel));
                let piece = found.next().expect("a piece");
                let layout = |state: &ContentState| state.layout;
                assert_eq!(piece.state.map(layout), state.map(layout), "{part:?}, {states:?}");
                assert_eq!(found.next(), None, "{part:?}, {states:?}");
            }
            assert!(pieces.iter().all(|piece| part.contains(piece.range)));
            let alike = pieces.iter().all(|piece| {
                piece.state.map(|state| state.layout) == pieces[0].state.map(|state| state.layout)
            });
            assert_eq!(alike, pieces.len() == 1, "{pieces:?}");
            (joined, cut) = (joined + u32::from(alike), cut + u32::from(!alike));
        }
        assert!(joined > 400 && cut > 400, "{joined}, {cut}");
    }
}
