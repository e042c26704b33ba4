//! Chains: the uses of each part of each version of a resource in a frame, as epochs that need no barrier inside.
//!
//! ```text
//! passes              0 write   1 read   2 read   3 write
//! epochs             ├─ w ────┤├─ r ───────────┤├─ w ────┤      a barrier at each boundary
//! on two queues  a   ├─ w ────┤├─ r ───┤          ├─ w ──┤      reads that no semaphore orders are one epoch, in one
//!                b             ├─────── r ──────┤               layout, with a use for each queue
//! ```
//! Slices of a 3D image that share a layout are one chain, whose epochs on one queue last as long as the layout does: inside an epoch,
//! hazards are those of individual slices; where the layout changes, they are those of all slices.
//!
//! ```text
//! passes              0 store s0   1 store s1   2 load s0   3 sample all
//! epochs             ├─ GENERAL ────────────────────────┤├─ READ_ONLY ─┤
//! inside                                        └ waits only for 0
//! ```

use ash::vk;
use tileheap_units::CompactSort;

use super::access_use::{AccessUse, attached_as, is_resolved};
use super::layouts::combined;
use super::pass_use::{LOCAL_READ, Part, PassUse, QueueUse};
use super::placed::Placed;
use super::tables::OptionalIndex;
use crate::frame::tables::{Access, HistoryVersion};
use crate::frame::{AccessKind, Frame, Persistence, ResourceId, SubresourceRange};
use crate::profile::Features;
use crate::units::Run;

/// Consecutive uses in one layout: one writing pass, any number of read-only passes, or any number of passes on one queue that use slices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Epoch {
    /// Its uses, a run of [`Chains::uses`]: one for each queue.
    pub(super) uses: Run,
    /// The image's layout throughout; `UNDEFINED` for buffers.
    pub(super) layout: vk::ImageLayout,
    /// The access flags of its writes.
    pub(super) writes: vk::AccessFlags2,
    /// True if it needs earlier contents.
    pub(super) needs_contents: bool,
}

impl Epoch {
    pub(super) fn is_read_only(&self) -> bool {
        self.writes.is_empty()
    }
}

/// The epochs of a part of one version of a resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    /// The resource.
    pub(super) resource: ResourceId,
    /// The part of an image; a buffer is one part.
    pub(super) range: SubresourceRange,
    /// The placement in even frames; the first one if the resource has aliases in several objects.
    pub(super) placement: u32,
    /// True if the resource is in tile memory, with an image in each of several tile memory objects.
    pub(super) is_ladder: bool,
    /// True if it is the previous version of a history.
    pub(super) is_previous: bool,
    /// Its epochs, a run of [`Chains::epochs`].
    pub(super) epochs: Run,
    /// The hazards of slices inside its epochs, a run of [`Chains::slice_hazards`].
    pub(super) slice_hazards: Run,
}

/// A use of slices that waits for earlier uses of the same slices in the same epoch.
#[derive(Clone, Copy, Debug)]
pub(super) struct SliceHazard {
    /// The epoch, one of [`Chains::epochs`].
    pub(super) epoch: u32,
    /// The use that waits.
    pub(super) queue_use: QueueUse,
    /// The stages that it waits for.
    pub(super) after: vk::PipelineStageFlags2,
    /// The writes that it waits for.
    pub(super) writes: vk::AccessFlags2,
}

/// Every chain of a frame.
#[derive(Debug, Default)]
pub(super) struct Chains {
    pub(super) chains: Vec<Chain>,
    pub(super) epochs: Vec<Epoch>,
    pub(super) uses: Vec<QueueUse>,
    /// The hazards of slices inside epochs, by chain, epoch and pass.
    pub(super) slice_hazards: Vec<SliceHazard>,
    /// Per placement, its chains; if a resource has aliases in several objects, only the placement of the first alias has chains.
    pub(super) of_placement: Vec<Run>,
    /// Per access of the frame, the first epochs that contain it: for aspects other than stencil, and for stencil.
    of_access: Vec<[OptionalIndex; 2]>,
    /// Per access to a [plain](Placed::is_plain) resource, true if contents from before it matter.
    pub(super) needs_contents: Vec<bool>,
    /// Scratch memory: the accesses to the current part and version.
    selected: Vec<u32>,
    /// Pairs of epochs of two parts of the current resource that contain the same access.
    shared: Vec<[u32; 2]>,
    /// Pairs of epochs, of depth and of stencil of the current resource, that a render pass object attaches together.
    attached: Vec<[u32; 2]>,
}

impl Chains {
    /// Fills in the chains of all resources, in their order.
    pub(super) fn fill(&mut self, placed: &Placed<'_>) {
        let frame = &placed.plan.frame;
        let features = placed.plan.profile.features;
        let builder = ChainBuilder {
            frame,
            placed,
            all: frame.accesses(),
            store_none: features.contains(Features::STORE_OP_NONE),
            separate_layouts: features.contains(Features::SEPARATE_DEPTH_STENCIL_LAYOUTS),
        };
        self.chains.clear();
        self.epochs.clear();
        self.uses.clear();
        self.slice_hazards.clear();
        self.of_placement.clear();
        let placements = placed.plan.placements.len();
        self.of_placement.resize(placements, Run::default());
        self.of_access.clear();
        self.of_access.resize(builder.all.len(), [OptionalIndex::NONE; 2]);
        self.needs_contents.clear();
        self.needs_contents.resize(builder.all.len(), false);
        self.chains.reserve(frame.resources().len());
        self.epochs.reserve(builder.all.len());
        self.uses.reserve(builder.all.len());
        for resource in frame.resource_ids() {
            match placed.is_plain(resource) {
                true => builder.plain_resource(resource, self),
                false => builder.resource(resource, self),
            }
        }
    }

    pub(super) fn uses_of(&self, epoch: &Epoch) -> &[QueueUse] {
        epoch.uses.of(&self.uses)
    }

    /// The chains of a placement.
    pub(super) fn of_placement(&self, placement: u32) -> &[Chain] {
        self.of_placement[placement as usize].of(&self.chains)
    }

    pub(super) fn first_of(&self, chain: &Chain) -> Option<&Epoch> {
        chain.epochs.of(&self.epochs).first()
    }

    pub(super) fn last_of(&self, chain: &Chain) -> Option<&Epoch> {
        chain.epochs.of(&self.epochs).last()
    }

    /// The layouts in which an access finds an image, for aspects other than stencil and for stencil; both are the same if it uses only one
    /// of them. `UNDEFINED` for a buffer.
    #[inline]
    pub(super) fn layouts_of(&self, access: usize) -> [vk::ImageLayout; 2] {
        let layout = |epoch: u32| self.epochs[epoch as usize].layout;
        match self.of_access[access].map(OptionalIndex::get) {
            [Some(one), None] | [None, Some(one)] => [layout(one); 2],
            [Some(main), Some(stencil)] => [layout(main), layout(stencil)],
            [None, None] => [vk::ImageLayout::UNDEFINED; 2],
        }
    }

    /// Gives all parts that one access uses the same layout; stencil may have its own. A render pass object has one layout for depth and stencil: if
    /// their layouts have no combined equivalent, both become `GENERAL`.
    fn unify_layouts(&mut self, format: vk::Format) {
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &[a, b] in &self.shared {
                if self.epochs[a as usize].layout != self.epochs[b as usize].layout {
                    self.epochs[a as usize].layout = vk::ImageLayout::GENERAL;
                    self.epochs[b as usize].layout = vk::ImageLayout::GENERAL;
                    changed = true;
                }
            }
            for pair in &self.attached {
                let layouts = pair.map(|epoch| self.epochs[epoch as usize].layout);
                if combined(format, layouts) == vk::ImageLayout::UNDEFINED {
                    for &epoch in pair {
                        self.epochs[epoch as usize].layout = vk::ImageLayout::GENERAL;
                    }
                    changed = true;
                }
            }
        }
        self.shared.clear();
        self.attached.clear();
    }
}

struct ChainBuilder<'a> {
    frame: &'a Frame,
    placed: &'a Placed<'a>,
    /// The frame's accesses.
    all: &'a [Access],
    store_none: bool,
    /// True if depth and stencil have separate layouts.
    separate_layouts: bool,
}

impl ChainBuilder<'_> {
    /// Appends the chain of a [plain](Placed::is_plain) resource.
    fn plain_resource(&self, id: ResourceId, chains: &mut Chains) {
        let placements = self.placed.placements_of(id);
        if placements.is_empty() {
            return;
        }
        let resource = self.frame.resource(id);
        let is_ladder = self.placed.is_ladder(id);
        let part = Part::of(resource, self.frame.parts_of(id)[0], is_ladder);
        let index = chains.chains.len() as u32;
        let inside = chains.slice_hazards.len() as u32;
        let epochs = self.epochs(&part, self.frame.uses_of(id), chains);
        chains.chains.push(Chain {
            resource: id,
            range: part.range,
            placement: placements.first,
            is_ladder,
            is_previous: false,
            epochs,
            slice_hazards: Run::new(inside, inside),
        });
        chains.of_placement[placements.first as usize] = Run::new(index, index + 1);
    }

    /// Appends the chains of a resource.
    fn resource(&self, id: ResourceId, chains: &mut Chains) {
        let resource = self.frame.resource(id);
        let (whole, parts, uses) = (resource.whole(), self.frame.parts_of(id), self.frame.uses_of(id));
        let both = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
        let is_ladder = self.placed.is_ladder(id);
        let is_history = resource.persistence == Persistence::History;
        let placements = self.placed.placements_of(id).indices();
        let united = resource.is_3d()
            && !self
                .frame
                .has_slice_layouts(id, self.placed.plan.profile.features);
        let versions = [HistoryVersion::Current, HistoryVersion::Previous].into_iter();
        for (placement, version) in placements.zip(versions.take(if is_ladder { 1 } else { 2 })) {
            let first = chains.chains.len() as u32;
            for &part in parts {
                // Without separate layouts, depth and stencil form one part.
                let aspects = if self.separate_layouts {
                    part.aspects
                } else {
                    whole.aspects
                };
                if aspects != part.aspects && part.aspects.contains(vk::ImageAspectFlags::STENCIL) {
                    continue;
                }
                // The slices of one level form one part too.
                let layers = match united {
                    true => resource.layers_of(part.levels.first),
                    false => part.layers,
                };
                if part.layers.first != layers.first {
                    continue;
                }
                let sliced = layers != part.layers;
                let range = SubresourceRange {
                    aspects,
                    layers,
                    ..part
                };
                let part = Part {
                    sliced,
                    ..Part::of(resource, range, is_ladder)
                };
                let inside = chains.slice_hazards.len() as u32;
                let epochs = if parts.len() == 1 && !is_history {
                    self.epochs(&part, uses, chains)
                } else {
                    let same = |index: &u32| {
                        let access = &self.all[*index as usize];
                        access.version == version && access.range.intersects(part.range)
                    };
                    let mut selected = std::mem::take(&mut chains.selected);
                    selected.clear();
                    selected.extend(uses.iter().copied().filter(same));
                    let epochs = self.epochs(&part, &selected, chains);
                    if sliced {
                        let slices = parts.iter().filter(|slice| part.range.contains(**slice));
                        self.add_slice_hazards(&part, slices, epochs, &selected, chains);
                    }
                    chains.selected = selected;
                    epochs
                };
                chains.chains.push(Chain {
                    resource: id,
                    range: part.range,
                    placement: placement as u32,
                    is_ladder,
                    is_previous: is_history && version == HistoryVersion::Previous,
                    epochs,
                    slice_hazards: Run::new(inside, chains.slice_hazards.len() as u32),
                });
            }
            chains.of_placement[placement] = Run::new(first, chains.chains.len() as u32);
            if self.separate_layouts && resource.aspects().contains(both) {
                self.pair_aspects(uses, version, chains);
            }
            chains.unify_layouts(resource.format());
        }
    }

    /// Appends the pairs of depth and stencil epochs that render pass objects attach together.
    fn pair_aspects(&self, uses: &[u32], version: HistoryVersion, chains: &mut Chains) {
        let access = |index: u32| &self.all[index as usize];
        let part = |index: u32| (access(index).range.levels, access(index).range.layers);
        for in_pass in uses.chunk_by(|&a, &b| access(a).pass == access(b).pass) {
            if self.placed.is_dynamic(access(in_pass[0]).pass) {
                continue;
            }
            let attached = in_pass.iter().copied().filter(|&index| {
                let access = access(index);
                access.kind.is_attached() && access.version == version
            });
            for (depth, stencil) in attached
                .clone()
                .flat_map(|a| attached.clone().map(move |b| (a, b)))
            {
                let [main, _] = chains.of_access[depth as usize];
                let [_, stencil_epoch] = chains.of_access[stencil as usize];
                let pair = main.get().zip(stencil_epoch.get());
                let pair = pair.filter(|_| part(depth) == part(stencil));
                chains
                    .attached
                    .extend(pair.map(|(main, stencil)| [main, stencil]));
            }
        }
    }

    /// Appends the hazards of slices inside the epochs of a part: a use of a slice waits for the previous use of that slice if either of
    /// them writes. The waits of one pass are merged.
    fn add_slice_hazards<'s>(
        &self,
        part: &Part,
        slices: impl Iterator<Item = &'s SubresourceRange>,
        own: Run,
        accesses: &[u32],
        chains: &mut Chains,
    ) {
        let (epochs, uses) = (own.of(&chains.epochs), &chains.uses);
        let first_pass = |epoch: &Epoch| epoch.uses.of(uses)[0].first;
        let mut found: bumpalo::collections::Vec<'_, SliceHazard> =
            bumpalo::collections::Vec::new_in(self.placed.scratch);
        for slice in slices {
            let of_slice = |access: &&Access| access.range.intersects(*slice);
            let all = accesses.iter().map(|&index| &self.all[index as usize]);
            let mine = bumpalo::collections::Vec::from_iter_in(all.filter(of_slice), self.placed.scratch);
            // The current use, and its writes.
            let mut last: Option<(SliceHazard, vk::AccessFlags2)> = None;
            for in_pass in mine.chunk_by(|a, b| a.pass == b.pass) {
                let mut next = self.another_use_of(part, in_pass[0]);
                for access in &in_pass[1..] {
                    next.join(&self.another_use_of(part, access));
                }
                let begun = epochs.partition_point(|epoch| first_pass(epoch) <= in_pass[0].pass);
                let mut hazard = SliceHazard {
                    epoch: own.first + begun as u32 - 1,
                    queue_use: next.queue_use,
                    after: vk::PipelineStageFlags2::NONE,
                    writes: vk::AccessFlags2::NONE,
                };
                if let Some((open, written)) = last.as_mut().filter(|(open, _)| open.epoch == hazard.epoch) {
                    if written.is_empty() && next.writes.is_empty() {
                        open.queue_use.stages |= next.queue_use.stages;
                        open.queue_use.access |= next.queue_use.access;
                        continue;
                    }
                    (hazard.after, hazard.writes) = (open.queue_use.stages, *written);
                }
                found.extend(last.replace((hazard, next.writes)).map(|(done, _)| done));
            }
            found.extend(last.map(|(done, _)| done));
        }
        found.retain(|hazard| !hazard.after.is_empty());
        found.compact_sort_by_key(|hazard| (hazard.epoch, hazard.queue_use.first));
        found.dedup_by(|more, kept| {
            let same = (more.epoch, more.queue_use.first) == (kept.epoch, kept.queue_use.first);
            if same {
                kept.queue_use.stages |= more.queue_use.stages;
                kept.queue_use.access |= more.queue_use.access;
                kept.after |= more.after;
                kept.writes |= more.writes;
            }
            same
        });
        chains.slice_hazards.extend(found);
    }

    /// Appends the epochs of a part; `accesses` are its accesses in timeline order.
    fn epochs(&self, part: &Part, accesses: &[u32], chains: &mut Chains) -> Run {
        let Chains {
            epochs,
            uses,
            of_access,
            needs_contents,
            shared,
            ..
        } = chains;
        let aspect = usize::from(part.range.aspects == vk::ImageAspectFlags::STENCIL);
        let first = epochs.len();
        let mut rest = accesses;
        while let Some((&index, others)) = rest.split_first() {
            // The accesses of one pass are one use, in GENERAL if they require different layouts.
            let mut next = self.use_of(part, &self.all[index as usize]);
            needs_contents[index as usize] = next.needs_contents;
            let is_next = |other: &&u32| self.all[**other as usize].pass == next.queue_use.first;
            let count = 1 + others.iter().take_while(is_next).count();
            for &other in &rest[1..count] {
                let more = self.another_use_of(part, &self.all[other as usize]);
                needs_contents[other as usize] = more.needs_contents;
                next.join(&more);
            }
            match epochs[first..].last_mut() {
                Some(open) if self.continues(part, open, &next, uses) => extend(open, &next, uses),
                _ => {
                    epochs.push(Epoch {
                        uses: Run::new(uses.len() as u32, uses.len() as u32 + 1),
                        layout: next.layout,
                        writes: next.writes,
                        needs_contents: next.needs_contents,
                    });
                    uses.push(next.queue_use);
                }
            }
            let epoch = epochs.len() as u32 - 1;
            let (in_pass, later) = rest.split_at(count);
            for &access in in_pass {
                let known = &mut of_access[access as usize][aspect];
                match known.get() {
                    Some(other) => shared.push([other, epoch]),
                    None => *known = OptionalIndex::some(epoch),
                }
            }
            rest = later;
        }
        Run::new(first as u32, epochs.len() as u32)
    }

    /// Like [`ChainBuilder::use_of`], for additional accesses, which few passes have.
    #[inline(never)]
    fn another_use_of(&self, part: &Part, access: &Access) -> PassUse {
        self.use_of(part, access)
    }

    /// The use of a part by one access.
    #[inline(always)]
    fn use_of(&self, part: &Part, access: &Access) -> PassUse {
        let is_input = access.kind == AccessKind::InputAttachment;
        let resolves = |pass| self.placed.kinds_in(pass).contains(AccessKind::ResolveAttachment);
        let resolved =
            access.kind.is_attachment() && resolves(access.pass) && is_resolved(self.frame, access);
        let mut made = AccessUse::of(access, part.depth, self.store_none, resolved);
        if access.kind == AccessKind::ResolveAttachment && !self.placed.is_dynamic(access.pass) {
            made.add_target_operations(access, part.depth);
        }
        let writes = made.writes;
        let reads = access.needs_contents();
        let mut queue_use = QueueUse {
            queue: self.placed.queue_of(access.pass),
            first: access.pass,
            last: access.pass,
            stages: made.stages,
            access: access.kind.access_flags(reads, false) | made.reads | writes,
        };
        if is_input {
            queue_use.access |= attached_as(part.depth).access_flags(true, false);
        }
        PassUse {
            queue_use,
            layout: match part.layout_of(access) {
                general @ vk::ImageLayout::GENERAL => general,
                _ if is_input && self.placed.is_dynamic(access.pass) => LOCAL_READ,
                layout => layout,
            },
            writes,
            attached: access.kind.is_attached(),
            needs_contents: reads || !self.frame.replaces(access, part.range),
        }
    }

    /// Returns true if a use continues the epoch without a barrier: a read in the same layout and queue family, a read that is not ordered after all
    /// reads of the epoch, or any use of slices in the same layout on the same queue.
    fn continues(&self, part: &Part, open: &Epoch, next: &PassUse, uses: &[QueueUse]) -> bool {
        if part.sliced && open.layout == next.layout {
            let all_here = |uses: &[QueueUse]| uses.iter().all(|one| one.queue == next.queue_use.queue);
            if all_here(open.uses.of(uses)) {
                return true;
            }
        }
        if !open.is_read_only() || !next.writes.is_empty() {
            return false;
        }
        let (uses, queue) = (open.uses.of(uses), next.queue_use.queue);
        let family = |queue| self.placed.family_of(queue);
        let same = |one: &QueueUse| one.queue == queue || family(one.queue) == family(queue);
        let ordered = |one: &QueueUse| self.placed.is_ordered(one.last, next.queue_use.first);
        (open.layout == next.layout && uses.iter().all(same)) || !uses.iter().all(ordered)
    }
}

/// Extends the last epoch with the uses of another pass.
fn extend(open: &mut Epoch, next: &PassUse, uses: &mut Vec<QueueUse>) {
    if open.layout != next.layout {
        open.layout = vk::ImageLayout::GENERAL;
    }
    open.writes |= next.writes;
    let mut known = uses[open.uses.indices()].iter_mut();
    match known.find(|one| one.queue == next.queue_use.queue) {
        Some(one) => {
            one.last = next.queue_use.last;
            one.stages |= next.queue_use.stages;
            one.access |= next.queue_use.access;
        }
        None => {
            uses.push(next.queue_use);
            open.uses.end += 1;
        }
    }
}
