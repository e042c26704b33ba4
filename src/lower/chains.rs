//! Chains: what each part of each version of a resource goes through in a frame, as epochs that need no barrier inside.
//!
//! ```text
//! passes              0 write   1 read   2 read   3 write
//! epochs             ├─ w ────┤├─ r ───────────┤├─ w ────┤      a barrier at each boundary
//! on two queues  a   ├─ w ────┤├─ r ───┤          ├─ w ──┤      reads that no semaphore orders are one epoch, in one
//!                b             ├─────── r ──────┤               layout, with a use for each queue
//! ```

use ash::vk;

use super::placed::Placed;
use super::tables::DeviceQueueIndex;
use crate::frame::tables::{Access, Resource, Version};
use crate::frame::{AccessKind, Frame, PassId, Persistence, ResourceId, SubresourceRange};
use crate::profile::Features;
use crate::units::Run;

/// The uses of one queue in an epoch.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueUse {
    pub(super) queue: DeviceQueueIndex,
    /// Its first pass there.
    pub(super) first: PassId,
    /// Its last pass there.
    pub(super) last: PassId,
    /// Stages of all accesses.
    pub(super) stages: vk::PipelineStageFlags2,
    /// Flags of all accesses.
    pub(super) access: vk::AccessFlags2,
}

/// A stretch of uses in one layout: one writing pass, or any number of passes that only read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Epoch {
    /// Its uses, a run of [`Chains::uses`]: one for each queue.
    pub(super) uses: Run,
    /// The image's layout throughout; `UNDEFINED` for buffers.
    pub(super) layout: vk::ImageLayout,
    /// The writing flags among its accesses.
    pub(super) writes: vk::AccessFlags2,
    /// Whether contents from before it matter.
    pub(super) needs_contents: bool,
}

impl Epoch {
    pub(super) fn is_read_only(&self) -> bool {
        self.writes.is_empty()
    }
}

/// What a part of one version of a resource goes through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    /// The resource.
    pub(super) resource: ResourceId,
    /// The part of an image; a buffer is one part.
    pub(super) range: SubresourceRange,
    /// The placement (of aliases in several objects, the first), in even frames.
    pub(super) placement: u32,
    /// Its epochs, a run of [`Chains::epochs`].
    pub(super) epochs: Run,
}

/// Every chain of a frame.
#[derive(Debug, Default)]
pub(super) struct Chains {
    pub(super) chains: Vec<Chain>,
    pub(super) epochs: Vec<Epoch>,
    pub(super) uses: Vec<QueueUse>,
    /// Per placement, its chains; of aliases of one resident, the first has them.
    pub(super) of_placement: Vec<Run>,
    /// Per access of the frame, the layouts that it finds.
    pub(super) layouts: Vec<AccessLayouts>,
}

/// The layouts in which an access finds an image; `UNDEFINED` for a buffer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AccessLayouts {
    /// Of all aspects but stencil; of stencil where that is used alone.
    pub(super) main: vk::ImageLayout,
    /// Of stencil; of the other aspects where that is not used.
    pub(super) stencil: vk::ImageLayout,
}

impl Chains {
    pub(super) fn new(frame: &Frame, features: Features, placed: &Placed<'_>) -> Chains {
        let mut chains = Chains {
            chains: Vec::with_capacity(frame.resources().len()),
            epochs: Vec::with_capacity(frame.accesses().len()),
            uses: Vec::with_capacity(frame.accesses().len()),
            of_placement: vec![Run::default(); placed.plan.placements.len()],
            layouts: vec![AccessLayouts::default(); frame.accesses().len()],
        };
        let apart = features.contains(Features::SEPARATE_DEPTH_STENCIL_LAYOUTS);
        let mut found = Vec::new();
        for resource in frame.resource_ids() {
            let placements = placed.placements_of(resource);
            let ladder = placed.is_ladder(resource);
            let versions = if ladder { 1 } else { 2 };
            let versions = [Version::Current, Version::Previous].into_iter().take(versions);
            for (placement, version) in placements.indices().zip(versions) {
                let gather = Gather {
                    frame,
                    placed,
                    store_none: features.contains(Features::STORE_OP_NONE),
                    general: ladder,
                };
                found.clear();
                let first_chain = chains.chains.len() as u32;
                for range in lowered_parts(frame, resource, apart) {
                    let first = chains.epochs.len() as u32;
                    gather.epochs_of(resource, range, version, &mut chains, &mut found);
                    let end = chains.epochs.len() as u32;
                    chains.chains.push(Chain {
                        resource,
                        range,
                        placement: placement as u32,
                        epochs: Run::new(first, end),
                    });
                }
                chains.of_placement[placement] = Run::new(first_chain, chains.chains.len() as u32);
                chains.meet(&mut found);
            }
        }
        chains
    }

    pub(super) fn uses_of(&self, epoch: &Epoch) -> &[QueueUse] {
        epoch.uses.of(&self.uses)
    }

    /// The chains of a placement.
    pub(super) fn of_placement(&self, placement: u32) -> &[Chain] {
        self.of_placement[placement as usize].of(&self.chains)
    }

    /// The parts of one access are in one layout, that of stencil apart.
    fn meet(&mut self, found: &mut [Found]) {
        found.sort_by_key(|one| (one.access, one.is_stencil));
        let same = |a: &Found, b: &Found| (a.access, a.is_stencil) == (b.access, b.is_stencil);
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for together in found.chunk_by(same) {
                let layout = self.epochs[together[0].epoch as usize].layout;
                if together
                    .iter()
                    .any(|one| self.epochs[one.epoch as usize].layout != layout)
                {
                    changed = true;
                    for one in together {
                        self.epochs[one.epoch as usize].layout = vk::ImageLayout::GENERAL;
                    }
                }
            }
        }
        for one in found.chunk_by(|a, b| a.access == b.access) {
            let layout = |of: &Found| self.epochs[of.epoch as usize].layout;
            self.layouts[one[0].access as usize] = AccessLayouts {
                main: layout(&one[0]),
                stencil: layout(&one[one.len() - 1]),
            };
        }
    }

    pub(super) fn first_of(&self, chain: &Chain) -> Option<&Epoch> {
        chain.epochs.of(&self.epochs).first()
    }

    pub(super) fn last_of(&self, chain: &Chain) -> Option<&Epoch> {
        chain.epochs.of(&self.epochs).last()
    }
}

/// The epoch of a part in which an access falls.
struct Found {
    access: u32,
    is_stencil: bool,
    epoch: u32,
}

/// The parts of a resource; without layouts of their own, depth and stencil of one part are one.
fn lowered_parts(
    frame: &Frame,
    resource: ResourceId,
    apart: bool,
) -> impl Iterator<Item = SubresourceRange> + '_ {
    let whole = frame.resource(resource).whole();
    let parts = frame.parts_of(resource).iter();
    let joined = parts.filter(move |part| {
        apart
            || !part
                .aspects
                .intersects(whole.aspects & vk::ImageAspectFlags::STENCIL)
            || part.aspects == whole.aspects
    });
    joined.map(move |&part| SubresourceRange {
        aspects: if apart { part.aspects } else { whole.aspects },
        ..part
    })
}

struct Gather<'a> {
    frame: &'a Frame,
    placed: &'a Placed<'a>,
    store_none: bool,
    /// Everything is in `GENERAL`.
    general: bool,
}

impl Gather<'_> {
    /// Appends the epochs of one part of one version of a resource, in timeline order.
    fn epochs_of(
        &self,
        resource: ResourceId,
        range: SubresourceRange,
        version: Version,
        chains: &mut Chains,
        found: &mut Vec<Found>,
    ) {
        let described = self.frame.resource(resource);
        let mut open: Option<Epoch> = None;
        let all = self.frame.accesses();
        let alone = self.frame.parts_of(resource).len() == 1 && described.persistence != Persistence::History;
        let of_part: Vec<u32>;
        let mut indices = self.frame.uses_of(resource);
        if !alone {
            let same = |index: &u32| {
                let access = &all[*index as usize];
                access.version == version && access.range.intersects(range)
            };
            of_part = indices.iter().copied().filter(same).collect();
            indices = &of_part;
        }
        // The accesses of one pass are one use; those that want different layouts meet in GENERAL.
        for pass in indices.chunk_by(|&a, &b| all[a as usize].pass == all[b as usize].pass) {
            let accesses = pass.iter().map(|&index| &all[index as usize]);
            let next = self.of_pass(described, range, accesses);
            match &mut open {
                Some(open) if self.continues(open, &next, chains) => extend(open, next, chains),
                _ => {
                    chains.epochs.extend(open.take());
                    let first = chains.uses.len() as u32;
                    chains.uses.push(next.of_queue);
                    open = Some(Epoch {
                        uses: Run::new(first, first + 1),
                        layout: next.layout,
                        writes: next.writes,
                        needs_contents: next.needs_contents,
                    });
                }
            }
            found.extend(pass.iter().map(|&access| Found {
                access,
                is_stencil: range.aspects == vk::ImageAspectFlags::STENCIL,
                epoch: chains.epochs.len() as u32,
            }));
        }
        chains.epochs.extend(open);
    }

    /// All accesses of one pass to one version of a resource.
    fn of_pass<'a>(
        &self,
        resource: &Resource,
        range: SubresourceRange,
        accesses: impl Iterator<Item = &'a Access> + Clone,
    ) -> PassUse {
        let first = accesses.clone().next().expect("a use has an access");
        let pass = first.pass;
        let mut all = PassUse {
            of_queue: QueueUse {
                queue: self.placed.queue_of(pass),
                first: pass,
                last: pass,
                stages: vk::PipelineStageFlags2::NONE,
                access: vk::AccessFlags2::NONE,
            },
            layout: self.layout_of(first, resource, range),
            writes: vk::AccessFlags2::NONE,
            needs_contents: true,
        };
        for access in accesses {
            // Without a store operation that does nothing, ending the pass writes the attachment, tested or not.
            let read_only_depth = access.kind == AccessKind::DepthStencilAttachment && !access.writes;
            let writes = access
                .kind
                .access_flags(false, access.writes || (read_only_depth && !self.store_none));
            if self.layout_of(access, resource, range) != all.layout {
                all.layout = vk::ImageLayout::GENERAL;
            }
            all.of_queue.stages |= access.stages;
            all.of_queue.access |= access.flags() | writes;
            if self.is_resolved(access) {
                all.of_queue.stages |= vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT;
                all.of_queue.access |= vk::AccessFlags2::COLOR_ATTACHMENT_READ;
            }
            all.writes |= writes;
            // A clear or an overwrite by one access is what an input attachment of the same pass then reads.
            all.needs_contents &= !self.frame.replaces(access, range);
        }
        all
    }

    /// Whether a resolve attachment of the pass receives the samples of this one: they are read as colour attachments are, those of
    /// depth too.
    ///
    /// Source: Vulkan specification, "Render Pass Multisample Resolve Operations".
    fn is_resolved(&self, access: &Access) -> bool {
        let accesses = self.frame.accesses_of(access.pass);
        access.kind.is_attachment()
            && accesses
                .iter()
                .any(|other| other.resolves == Some(access.resource))
    }

    fn layout_of(&self, access: &Access, resource: &Resource, range: SubresourceRange) -> vk::ImageLayout {
        if !resource.is_image() {
            return vk::ImageLayout::UNDEFINED;
        }
        if self.general {
            return vk::ImageLayout::GENERAL;
        }
        let depth = !resource.aspects().contains(vk::ImageAspectFlags::COLOR);
        let layout = access.kind.layout(depth, access.writes);
        if range.aspects == resource.aspects() {
            layout
        } else {
            of_aspect(layout, range.aspects)
        }
    }

    /// Whether reads go on without a barrier: in the same layout, or because nothing orders them after those of the epoch.
    fn continues(&self, open: &Epoch, next: &PassUse, chains: &Chains) -> bool {
        if !open.is_read_only() || !next.writes.is_empty() {
            return false;
        }
        let uses = open.uses.of(&chains.uses);
        let family = |queue| self.placed.family_of(queue);
        let one_family = uses
            .iter()
            .all(|one| family(one.queue) == family(next.of_queue.queue));
        let ordered = |one: &QueueUse| self.placed.is_ordered(one.last, next.of_queue.first);
        (one_family && open.layout == next.layout) || !uses.iter().all(ordered)
    }
}

/// The layout of one aspect of an image with depth and stencil.
fn of_aspect(layout: vk::ImageLayout, aspect: vk::ImageAspectFlags) -> vk::ImageLayout {
    use vk::ImageLayout as L;
    let stencil = aspect == vk::ImageAspectFlags::STENCIL;
    match layout {
        L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL if stencil => L::STENCIL_ATTACHMENT_OPTIMAL,
        L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL => L::DEPTH_ATTACHMENT_OPTIMAL,
        L::DEPTH_STENCIL_READ_ONLY_OPTIMAL if stencil => L::STENCIL_READ_ONLY_OPTIMAL,
        L::DEPTH_STENCIL_READ_ONLY_OPTIMAL => L::DEPTH_READ_ONLY_OPTIMAL,
        other => other,
    }
}

fn extend(open: &mut Epoch, next: PassUse, chains: &mut Chains) {
    if open.layout != next.layout {
        open.layout = vk::ImageLayout::GENERAL;
    }
    let same = |one: &&mut QueueUse| one.queue == next.of_queue.queue;
    match chains.uses[open.uses.indices()].iter_mut().find(same) {
        Some(one) => {
            one.last = next.of_queue.last;
            one.stages |= next.of_queue.stages;
            one.access |= next.of_queue.access;
        }
        None => {
            chains.uses.push(next.of_queue);
            open.uses.end += 1;
        }
    }
}

/// The accesses of one pass.
struct PassUse {
    of_queue: QueueUse,
    layout: vk::ImageLayout,
    writes: vk::AccessFlags2,
    needs_contents: bool,
}
