//! What is recorded: passes with the tile memory that is bound and the barriers around them.

use ash::vk;
use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use super::chains::Chains;
use super::create::{attachment_view, in_barrier, shader_view};
use super::operations::AccessOperations;
use super::placed::Placed;
use super::renderings::{ViewRows, rendering};
use super::resolver::{Barrier, Dependencies, FirstContents, IGNORED};
use super::tables::commands::{
    BarrierCause, BufferBarrierRow, DependencyRow, ImageBarrierRow, MemoryBarrierRow, PassContents, PassRow,
    Scopes,
};
use super::tables::objects::AccessRow;
use super::tables::{Lowered, Object};
use crate::frame::tables::Contents;
use crate::frame::{AccessKind, ClearValue, PassId, SubresourceRange};
use crate::units::{Bytes, Run};

/// Fills the tables of what is recorded; gives the passes of each command buffer.
pub(super) fn record(
    placed: &Placed<'_>,
    chains: &Chains,
    operations: &[AccessOperations],
    found: &mut Dependencies,
    lowered: &mut Lowered,
) -> Vec<Run> {
    let mut views = ViewRows::new(lowered.images.len());
    accesses(placed, chains, &mut views, lowered);
    let frame = &placed.plan.frame;
    let barriers = in_order(&found.barriers, frame.passes().len());
    found.clears.sort_by_key(|clear| clear.pass);
    let mut rest = barriers.as_slice();
    let mut clears = found.clears.as_slice();
    let mut stores = 0;
    let mut runs = Vec::with_capacity(frame.command_buffers().len());
    lowered.passes.reserve(frame.passes().len() + clears.len());
    lowered.renderings.reserve(frame.passes().len());
    lowered.image_barriers.reserve(barriers.len());
    for commands in frame.command_buffers() {
        let first = lowered.passes.len() as u32;
        for pass in commands.passes.indices().map(|pass| PassId(pass as u32)) {
            clear(placed, &mut clears, pass, lowered);
            let contents = match frame.pass(pass).contents {
                Contents::Store => {
                    stores += 1;
                    PassContents::Store(stores - 1)
                }
                Contents::Inline | Contents::Secondary => PassContents::Described(pass),
            };
            let rendering = rendering(placed, chains, operations, pass, &mut views, lowered);
            let before = dependency(&mut rest, (pass, false), lowered);
            let after = dependency(&mut rest, (pass, true), lowered);
            lowered.passes.push(PassRow {
                contents,
                tile_memory: bound(placed, pass),
                before,
                rendering,
                after,
            });
        }
        runs.push(Run::new(first, lowered.passes.len() as u32));
    }
    runs
}

/// In the order of the passes, those before a pass first; the order of discovery stays within.
fn in_order(barriers: &[Barrier], passes: usize) -> Vec<&Barrier> {
    let side = |barrier: &Barrier| 2 * barrier.pass.index() + usize::from(barrier.after);
    let mut next = vec![0; 2 * passes + 1];
    for barrier in barriers {
        next[side(barrier) + 1] += 1;
    }
    for index in 1..next.len() {
        next[index] += next[index - 1];
    }
    let mut sorted: Vec<&Barrier> = barriers.iter().collect();
    for barrier in barriers {
        let position = &mut next[side(barrier)];
        sorted[*position] = barrier;
        *position += 1;
    }
    sorted
}

fn bound(placed: &Placed<'_>, pass: PassId) -> Option<u32> {
    let object = placed.plan.passes[pass.index()].bound_object;
    object.map(|object| object.index() as u32)
}

/// Per access of the frame, what a descriptor names.
fn accesses(placed: &Placed<'_>, chains: &Chains, views: &mut ViewRows, lowered: &mut Lowered) {
    lowered.accesses.reserve(chains.layouts.len());
    lowered.attachments.reserve(chains.layouts.len());
    lowered.views.reserve(2 * lowered.images.len());
    for (access, layouts) in placed.plan.frame.accesses().iter().zip(&chains.layouts) {
        let object = placed.object(placed.placement_of(access));
        let view = match object {
            Object::Image(image) if access.kind == AccessKind::TileAttachment => {
                let row = &lowered.images[image as usize];
                Some(attachment_view(image, row, access.range, access.view))
            }
            Object::Image(image) if access.kind.is_shader() => {
                shader_view(image, &lowered.images[image as usize], access.range, access.view)
            }
            _ => None,
        };
        let row = AccessRow {
            object,
            view: view.map(|view| views.row_of(lowered, view)),
            layout: layouts.main,
        };
        lowered.accesses.push(row);
    }
}

/// The barriers on one side of a pass, off the front of the sorted list.
fn dependency(rest: &mut &[&Barrier], side: (PassId, bool), lowered: &mut Lowered) -> DependencyRow {
    let count = rest
        .iter()
        .take_while(|barrier| (barrier.pass, barrier.after) == side)
        .count();
    let (here, later) = rest.split_at(count);
    *rest = later;
    dependency_of(here, lowered)
}

/// Adds a barrier behind row `first`; parts next to each other for which the same is said are one.
fn join(barriers: &mut Vec<ImageBarrierRow>, first: usize, mut row: ImageBarrierRow) {
    let joined = |a: &ImageBarrierRow, b: &ImageBarrierRow| {
        let range = SubresourceRange {
            aspects: a.range.aspects | b.range.aspects,
            levels: Run::new(
                a.range.levels.first.min(b.range.levels.first),
                a.range.levels.end.max(b.range.levels.end),
            ),
            layers: Run::new(
                a.range.layers.first.min(b.range.layers.first),
                a.range.layers.end.max(b.range.layers.end),
            ),
        };
        let next = |a: Run, b: Run| a.end == b.first || b.end == a.first;
        let (one, other) = (a.range, b.range);
        let adjoin = match (
            one.aspects == other.aspects,
            one.levels == other.levels,
            one.layers == other.layers,
        ) {
            (true, true, false) => next(one.layers, other.layers),
            (true, false, true) => next(one.levels, other.levels),
            (same, true, true) => !same,
            _ => false,
        };
        (adjoin && ImageBarrierRow { range, ..*a } == ImageBarrierRow { range, ..*b }).then_some(range)
    };
    while let Some((at, range)) = barriers[first..]
        .iter()
        .enumerate()
        .find_map(|(at, other)| Some((first + at, joined(other, &row)?)))
    {
        barriers.remove(at);
        row.range = range;
    }
    barriers.push(row);
}

fn dependency_of(barriers: &[&Barrier], lowered: &mut Lowered) -> DependencyRow {
    let (images, buffers, memory) = (
        lowered.image_barriers.len() as u32,
        lowered.buffer_barriers.len() as u32,
        lowered.memory_barriers.len() as u32,
    );
    for barrier in barriers {
        let &Barrier {
            scopes,
            families,
            cause,
            ..
        } = *barrier;
        if matches!(cause, BarrierCause::Aliasing | BarrierCause::Ladder) {
            // The bytes were another resource's, or another image's of the same one: accesses through that one are outside the
            // scope of a barrier for this image or buffer.
            let known = &lowered.memory_barriers[memory as usize..];
            if known.iter().all(|other| other.scopes != scopes) {
                lowered.memory_barriers.push(MemoryBarrierRow { scopes, cause });
            }
        }
        match barrier.object {
            Object::Image(image) => {
                let row = ImageBarrierRow {
                    image,
                    range: in_barrier(&lowered.images[image as usize], barrier.range),
                    scopes,
                    old_layout: barrier.layouts.0,
                    new_layout: barrier.layouts.1,
                    families,
                    cause,
                };
                join(&mut lowered.image_barriers, images as usize, row);
            }
            Object::Buffer(buffer) => lowered.buffer_barriers.push(BufferBarrierRow {
                buffer,
                offset: Bytes::ZERO,
                size: lowered.buffers[buffer as usize].size,
                scopes,
                families,
                cause,
            }),
        }
    }
    DependencyRow {
        images: Run::new(images, lowered.image_barriers.len() as u32),
        buffers: Run::new(buffers, lowered.buffer_barriers.len() as u32),
        memory: Run::new(memory, lowered.memory_barriers.len() as u32),
    }
}

/// Contents that no frame has written are zero: cleared before the pass that uses them first.
fn clear(placed: &Placed<'_>, clears: &mut &[FirstContents], pass: PassId, lowered: &mut Lowered) {
    while let Some((first, rest)) = clears.split_first().filter(|(clear, _)| clear.pass == pass) {
        *clears = rest;
        let (stages, access) = (S::ALL_TRANSFER, A::TRANSFER_WRITE);
        let barrier = |scopes, layouts, cause| Barrier {
            pass,
            after: false,
            object: first.object,
            resource: first.resource,
            range: first.range,
            scopes,
            layouts,
            families: IGNORED,
            cause,
        };
        // What wrote the bytes before was another image or buffer.
        let cause = if first.source.access.is_empty() {
            BarrierCause::EarlierFrame
        } else {
            BarrierCause::Aliasing
        };
        let is_image = matches!(first.object, Object::Image(_));
        let clearing = if is_image {
            vk::ImageLayout::TRANSFER_DST_OPTIMAL
        } else {
            vk::ImageLayout::UNDEFINED
        };
        let into = Scopes {
            src_stages: first.source.stages,
            src_access: first.source.access,
            dst_stages: stages,
            dst_access: access,
        };
        let out = Scopes {
            src_stages: stages,
            src_access: access,
            dst_stages: first.to.0,
            dst_access: first.to.1,
        };
        let before = dependency_of(
            &[&barrier(into, (vk::ImageLayout::UNDEFINED, clearing), cause)],
            lowered,
        );
        let after = dependency_of(
            &[&barrier(
                out,
                (clearing, first.layout),
                BarrierCause::EarlierFrame,
            )],
            lowered,
        );
        let (value, range) = match first.object {
            Object::Image(image) => {
                let row = &lowered.images[image as usize];
                (ClearValue::zero_of(row.format), in_barrier(row, first.range))
            }
            Object::Buffer(_) => (ClearValue::ZERO, first.range),
        };
        lowered.passes.push(PassRow {
            contents: PassContents::Clear {
                object: first.object,
                range,
                value,
            },
            tile_memory: bound(placed, pass),
            before,
            rendering: None,
            after,
        });
    }
}
