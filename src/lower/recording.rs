//! Recorded commands: passes with their bound tile memory and surrounding barriers.

use ash::vk;
use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
use bumpalo::Bump;
use bumpalo::collections::Vec as ScratchVec;
use tileheap_units::CompactSort;

use super::chains::Chains;
use super::create::{ALL_SLICES, TILE_ATTACHED, in_barrier, input_view, shader_view};
use super::error::LowerError;
use super::instances::{Instances, ViewRows};
use super::operations::AttachmentOperations;
use super::placed::Placed;
use super::resolver::{Barrier, Dependencies, IGNORED, InitialClear};
use super::tables::clears::ClearRow;
use super::tables::commands::{
    BarrierCause, BufferBarrierRow, DependencyRow, ImageBarrierRow, MemoryBarrierRow, PassContents, PassRow,
    Scopes, StoreRow, StoreShader,
};
use super::tables::objects::{AccessRow, ImageRow};
use super::tables::submission::CommandBufferRow;
use super::tables::{ImageOrBuffer, Lowered, OptionalIndex};
use crate::frame::tables::{CommandSource, PassKind, ResourceKind};
use crate::frame::{
    AccessKind, ClearValue, CommandBufferId, Frame, PassId, SubresourceRange, Texels, texels_of,
};
use crate::profile::OptionalFeatures;
use crate::units::{Bytes, Run};

/// Fills the tables of recorded commands.
///
/// # Errors
/// If a render pass cannot be begun on the device.
pub(super) fn record(
    placed: &Placed<'_>,
    chains: &Chains,
    found: &mut Dependencies,
    lowered: &mut Lowered,
) -> Result<(), LowerError> {
    let mut views = ViewRows::new(lowered.images.len(), placed.scratch);
    accesses(placed, chains, &mut views, lowered);
    let frame = &placed.plan.frame;
    let operations = AttachmentOperations::new(placed, chains);
    let barriers = BarriersByPass::new(&found.barriers, frame.passes().len(), placed.scratch);
    found.clears.compact_sort_by_key(|clear| clear.pass);
    let mut clears = found.clears.as_slice();
    let mut instances = Instances::new(placed, &operations, views);
    lowered.command_buffers.reserve(frame.command_buffers().len());
    lowered.passes.reserve(frame.passes().len() + clears.len());
    let rendered = frame.passes().iter().filter(|pass| pass.kind == PassKind::Render);
    lowered.instances.reserve(rendered.clone().count());
    lowered
        .subpasses
        .reserve(rendered.map(|pass| pass.subpasses as usize).sum());
    let of_images = |barrier: &&Barrier| matches!(barrier.object, ImageOrBuffer::Image(_));
    let images = found.barriers.iter().filter(of_images).count();
    // A clear adds one on each side.
    let of_clears = 2 * clears.len();
    lowered.image_barriers.reserve(images + of_clears);
    lowered
        .buffer_barriers
        .reserve(found.barriers.len() - images + of_clears);
    for (index, commands) in (0..).zip(frame.command_buffers()) {
        let first = lowered.passes.len() as u32;
        for pass in commands.passes.indices().map(|pass| PassId(pass as u32)) {
            clear(placed, &mut clears, pass, lowered);
            let (contents, row) = match frame.pass(pass).contents {
                CommandSource::Store | CommandSource::Border { .. } => {
                    (PassContents::Store, store(frame, pass, lowered))
                }
                CommandSource::Inline | CommandSource::Secondary => {
                    (PassContents::Described, OptionalIndex::NONE)
                }
            };
            let instance = instances.add(pass, lowered)?;
            let before = dependency(barriers.of(pass, false), lowered);
            let after = dependency(barriers.of(pass, true), lowered);
            lowered.passes.push(PassRow {
                pass,
                contents,
                row,
                tile_memory: bound(placed, pass),
                instance,
                before,
                after,
            });
        }
        lowered.command_buffers.push(CommandBufferRow {
            commands: CommandBufferId(index),
            queue: placed.queues.declared()[frame.submits()
                [frame.batches()[commands.batch.index()].submit.index()]
            .queue
            .index()],
            passes: Run::new(first, lowered.passes.len() as u32),
        });
    }
    Ok(())
}

/// The barriers on each side of a pass, in the order of discovery.
struct BarriersByPass<'a> {
    barriers: &'a [Barrier],
    /// Per pass, the first barrier before it and the first barrier after it.
    first: ScratchVec<'a, [Option<u32>; 2]>,
    /// Per barrier, the next one on the same side.
    next: ScratchVec<'a, Option<u32>>,
}

impl<'a> BarriersByPass<'a> {
    fn new(barriers: &'a [Barrier], passes: usize, scratch: &'a Bump) -> BarriersByPass<'a> {
        let mut first = bumpalo::vec![in scratch; [None; 2]; passes];
        let mut next = bumpalo::vec![in scratch; None; barriers.len()];
        for (index, barrier) in barriers.iter().enumerate().rev() {
            let side = &mut first[barrier.pass.index()][usize::from(barrier.after)];
            next[index] = side.replace(index as u32);
        }
        BarriersByPass {
            barriers,
            first,
            next,
        }
    }

    fn of(&self, pass: PassId, after: bool) -> impl Iterator<Item = &Barrier> {
        let first = self.first[pass.index()][usize::from(after)];
        let indices = std::iter::successors(first, |&index| self.next[index as usize]);
        indices.map(|index| &self.barriers[index as usize])
    }
}

fn bound(placed: &Placed<'_>, pass: PassId) -> OptionalIndex {
    let object = placed.plan.passes[pass.index()].bound_object;
    object.map(|object| object.index() as u32).into()
}

/// Number of invocations in a workgroup of [`StoreShader::Buffer`].
pub(crate) const STORE_GROUP: u64 = 64;

/// The minimum that Vulkan guarantees for `maxComputeWorkGroupCount` along each axis.
const MAX_GROUPS: u64 = 65_535;

/// Adds the row of a store pass.
fn store(frame: &Frame, pass: PassId, lowered: &mut Lowered) -> OptionalIndex {
    let accesses = frame.pass(pass).accesses;
    let (shader, groups) = match &frame.resource(frame.accesses_of(pass)[0].resource).kind {
        ResourceKind::Image { desc, .. } => {
            let texels = texels_of(desc.format)
                .expect("validation accepts only stores of formats that shaders can copy");
            let shader = match texels {
                Texels::Float => StoreShader::Float,
                Texels::Int => StoreShader::Int,
                Texels::Uint => StoreShader::Uint,
                Texels::Depth => StoreShader::Depth,
            };
            (shader, 0)
        }
        ResourceKind::Buffer { desc, .. } => {
            let groups = (desc.size.0 / 4).div_ceil(STORE_GROUP).clamp(1, MAX_GROUPS);
            (StoreShader::Buffer, groups as u32)
        }
    };
    let (x, y) = match frame.pass(pass).contents {
        CommandSource::Border { x, y } => (x, y),
        _ => (0, 0),
    };
    lowered.stores.push(StoreRow {
        shader,
        source: accesses.first,
        target: accesses.first + 1,
        groups,
        x,
        y,
    });
    OptionalIndex::some(lowered.stores.len() as u32 - 1)
}

/// Fills in the row of each access of the frame.
fn accesses(placed: &Placed<'_>, chains: &Chains, views: &mut ViewRows<'_>, lowered: &mut Lowered) {
    let all = placed.plan.frame.accesses();
    let cube_arrays = placed.plan.profile.may_have(OptionalFeatures::IMAGE_CUBE_ARRAY);
    lowered.accesses.reserve(all.len());
    let attached = all.iter().filter(|access| access.kind.is_attached()).count();
    lowered.attachments.reserve(attached);
    lowered.formats.reserve(attached);
    lowered.views.reserve(lowered.images.len() + attached);
    for (index, access) in all.iter().enumerate() {
        let object = placed.object(placed.placement_of(access));
        let view = match object {
            ImageOrBuffer::Image(image) if access.kind.is_shader() => {
                let row = &lowered.images[image as usize];
                let (range, desc, usage) = (access.range, access.view, access.kind.image_usage(false));
                match access.kind {
                    AccessKind::TileAttachment => Some(input_view(image, row, range, desc, TILE_ATTACHED)),
                    AccessKind::InputAttachment => Some(input_view(image, row, range, desc, usage)),
                    _ => shader_view((image, row), range, desc, usage, cube_arrays),
                }
            }
            _ => None,
        };
        let view = view.map(|view| views.row_of(lowered, view));
        let [layout, stencil_layout] = chains.layouts_of(index);
        lowered.accesses.push(AccessRow {
            view: view.into(),
            stencil_layout,
            ..AccessRow::new(access, object, layout)
        });
    }
}

/// The union of two adjacent parts whose barriers are otherwise equal, if one barrier can cover both: barriers over several levels of a 3D
/// image must name all slices.
fn joined(image: &ImageRow, a: &ImageBarrierRow, b: &ImageBarrierRow) -> Option<SubresourceRange> {
    if a.image != b.image {
        return None;
    }
    let (one, other) = (a.range, b.range);
    let next = |a: Run, b: Run| a.end == b.first || b.end == a.first;
    let slices = image.image_type == vk::ImageType::TYPE_3D && one.layers != ALL_SLICES;
    let (levels, layers) = (one.levels == other.levels, one.layers == other.layers);
    let adjoin = match (one.aspects == other.aspects, levels, layers) {
        (true, true, false) => next(one.layers, other.layers),
        (true, false, true) => next(one.levels, other.levels) && !slices,
        (same, true, true) => !same,
        _ => false,
    };
    let hull = |a: Run, b: Run| Run::new(a.first.min(b.first), a.end.max(b.end));
    let range = SubresourceRange {
        aspects: one.aspects | other.aspects,
        levels: hull(one.levels, other.levels),
        layers: hull(one.layers, other.layers),
    };
    (adjoin && ImageBarrierRow { range, ..*a } == ImageBarrierRow { range, ..*b }).then_some(range)
}

/// Adds a barrier to those from row `first` on, merged with any that it can be joined with.
fn join(image: &ImageRow, barriers: &mut Vec<ImageBarrierRow>, first: usize, mut row: ImageBarrierRow) {
    let mut at = first;
    while let Some(other) = barriers.get(at) {
        match joined(image, other, &row) {
            Some(range) => {
                barriers.remove(at);
                (row.range, at) = (range, first);
            }
            None => at += 1,
        }
    }
    barriers.push(row);
}

/// Adds the barriers of one side of a pass.
fn dependency<'a>(barriers: impl Iterator<Item = &'a Barrier>, lowered: &mut Lowered) -> DependencyRow {
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
        } = barrier;
        if matches!(cause, BarrierCause::Aliasing | BarrierCause::Ladder) {
            // The bytes belonged to another resource, or to another image of the same one: accesses through that one are outside the scope
            // of a barrier for this image or buffer.
            let known = &lowered.memory_barriers[memory as usize..];
            if known.iter().all(|other| other.scopes != scopes) {
                lowered.memory_barriers.push(MemoryBarrierRow { scopes, cause });
            }
        }
        match barrier.object {
            ImageOrBuffer::Image(image) => {
                let of = &lowered.images[image as usize];
                let row = ImageBarrierRow {
                    image,
                    range: in_barrier(of, barrier.range),
                    scopes,
                    old_layout: barrier.layouts.0,
                    new_layout: barrier.layouts.1,
                    families,
                    cause,
                };
                let mut known = lowered.image_barriers[images as usize..].iter();
                match known.any(|other| other.image == image) {
                    true => join(of, &mut lowered.image_barriers, images as usize, row),
                    false => lowered.image_barriers.push(row),
                }
            }
            ImageOrBuffer::Buffer(buffer) => lowered.buffer_barriers.push(BufferBarrierRow {
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

/// Adds the clears to zero, with their barriers, of contents that no frame has written and `pass` is the first to use.
fn clear(placed: &Placed<'_>, clears: &mut &[InitialClear], pass: PassId, lowered: &mut Lowered) {
    while let Some((first, rest)) = clears.split_first().filter(|(clear, _)| clear.pass == pass) {
        *clears = rest;
        let &InitialClear {
            object, range, cause, ..
        } = first;
        let (layout, value, cleared) = match object {
            ImageOrBuffer::Image(image) => {
                let row = &lowered.images[image as usize];
                let value = ClearValue::zero_of(row.format);
                let layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
                (layout, value, in_barrier(row, range))
            }
            ImageOrBuffer::Buffer(_) => (vk::ImageLayout::UNDEFINED, ClearValue::ZERO, range),
        };
        let mut barrier = |(src_stages, src_access), (dst_stages, dst_access), layouts, cause| {
            let scopes = Scopes {
                src_stages,
                src_access,
                dst_stages,
                dst_access,
            };
            let barrier = Barrier {
                pass,
                after: false,
                object,
                range,
                scopes,
                layouts,
                families: IGNORED,
                cause,
            };
            dependency([&barrier].into_iter(), lowered)
        };
        let from = (first.source.stages, first.source.access);
        let transfer = (S::ALL_TRANSFER, A::TRANSFER_WRITE);
        let before = barrier(from, transfer, (vk::ImageLayout::UNDEFINED, layout), cause);
        let layouts = (layout, first.layout);
        let after = barrier(transfer, first.to, layouts, BarrierCause::EarlierFrame);
        lowered.clears.push(ClearRow {
            object: object.into(),
            range: cleared,
            layout,
            value: value.into(),
        });
        lowered.passes.push(PassRow {
            pass,
            contents: PassContents::Clear,
            row: OptionalIndex::some(lowered.clears.len() as u32 - 1),
            tile_memory: bound(placed, pass),
            instance: OptionalIndex::NONE,
            before,
            after,
        });
    }
}
