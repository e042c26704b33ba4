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
use crate::frame::tables::{Access, Version};
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
    /// Whether it is in tile memory, with an image in each of several objects.
    pub(super) is_ladder: bool,
    /// Whether it is what the frame before left in a history.
    pub(super) is_previous: bool,
    /// Its epochs, a run of [`Chains::epochs`].
    pub(super) epochs: Run,
}

/// Every chain of a frame.
#[derive(Debug)]
pub(super) struct Chains {
    pub(super) chains: Vec<Chain>,
    pub(super) epochs: Vec<Epoch>,
    pub(super) uses: Vec<QueueUse>,
    /// Per placement, its chains; of aliases of one resident, the first has them.
    pub(super) of_placement: Vec<Run>,
    /// Per access of the frame, an epoch of stencil alone and one of other aspects.
    of_access: Vec<AccessEpochs>,
}

/// The first epochs in which an access falls.
#[derive(Clone, Copy, Debug, Default)]
struct AccessEpochs {
    main: Option<u32>,
    stencil: Option<u32>,
}

/// The layouts in which an access finds an image; `UNDEFINED` for a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct AccessLayouts {
    /// Of all aspects but stencil; of stencil where that is used alone.
    pub(super) main: vk::ImageLayout,
    /// Of stencil; of the other aspects where that is not used.
    pub(super) stencil: vk::ImageLayout,
}

impl Chains {
    /// The chains of all resources, in their order.
    pub(super) fn new(placed: &Placed<'_>) -> Chains {
        let frame = &placed.plan.frame;
        let features = placed.plan.profile.features;
        let accesses = frame.accesses().len();
        let mut gather = Gather {
            frame,
            placed,
            store_none: features.contains(Features::STORE_OP_NONE),
            apart: features.contains(Features::SEPARATE_DEPTH_STENCIL_LAYOUTS),
            selected: Vec::new(),
            shared: Vec::new(),
            chains: Chains {
                chains: Vec::with_capacity(frame.resources().len()),
                epochs: Vec::with_capacity(accesses),
                uses: Vec::with_capacity(accesses),
                of_placement: vec![Run::default(); placed.plan.placements.len()],
                of_access: vec![AccessEpochs::default(); accesses],
            },
        };
        for resource in frame.resource_ids() {
            gather.resource(resource);
        }
        gather.chains
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

    /// The layouts of an access of the frame.
    pub(super) fn layouts_of(&self, access: usize) -> AccessLayouts {
        let AccessEpochs { main, stencil } = self.of_access[access];
        let layout = |epoch: Option<u32>| {
            epoch.map_or(vk::ImageLayout::UNDEFINED, |epoch| {
                self.epochs[epoch as usize].layout
            })
        };
        AccessLayouts {
            main: layout(main.or(stencil)),
            stencil: layout(stencil.or(main)),
        }
    }
}

/// A part of one version of a resource, and what the layouts of its accesses follow from.
struct Part {
    range: SubresourceRange,
    /// The layout of them all: `UNDEFINED` for a buffer, `GENERAL` for images that alias one another's contents.
    fixed: Option<vk::ImageLayout>,
    /// Whether it has no colour.
    depth: bool,
    /// Whether it is one of an image's two aspects.
    one_aspect: bool,
}

impl Part {
    fn layout_of(&self, access: &Access) -> vk::ImageLayout {
        if let Some(layout) = self.fixed {
            return layout;
        }
        let layout = access.kind.layout(self.depth, access.writes);
        if self.one_aspect {
            of_aspect(layout, self.range.aspects)
        } else {
            layout
        }
    }
}

struct Gather<'a> {
    frame: &'a Frame,
    placed: &'a Placed<'a>,
    store_none: bool,
    /// Depth and stencil have layouts of their own.
    apart: bool,
    /// The accesses to one of several parts or versions.
    selected: Vec<u32>,
    /// Pairs of epochs, of two parts, in which one access falls.
    shared: Vec<[u32; 2]>,
    chains: Chains,
}

impl Gather<'_> {
    /// Appends the chains of a resource.
    fn resource(&mut self, id: ResourceId) {
        let (frame, resource) = (self.frame, self.frame.resource(id));
        let (whole, parts) = (resource.whole(), frame.parts_of(id));
        let is_ladder = self.placed.is_ladder(id);
        let is_history = resource.persistence == Persistence::History;
        let fixed = match resource.is_image() {
            false => Some(vk::ImageLayout::UNDEFINED),
            true => is_ladder.then_some(vk::ImageLayout::GENERAL),
        };
        let placements = self.placed.placements_of(id).indices();
        let versions = [Version::Current, Version::Previous].into_iter();
        for (placement, version) in placements.zip(versions.take(if is_ladder { 1 } else { 2 })) {
            let first = self.chains.chains.len() as u32;
            for &part in parts {
                // Without layouts of their own, depth and stencil of one part are one.
                let aspects = if self.apart { part.aspects } else { whole.aspects };
                let is_second = aspects != part.aspects && part.aspects.contains(vk::ImageAspectFlags::STENCIL);
                if is_second {
                    continue;
                }
                let part = Part {
                    range: SubresourceRange { aspects, ..part },
                    fixed,
                    depth: !whole.aspects.contains(vk::ImageAspectFlags::COLOR),
                    one_aspect: aspects != whole.aspects,
                };
                let epochs = if parts.len() == 1 && !is_history {
                    self.epochs(&part, frame.uses_of(id))
                } else {
                    self.epochs_of_some(&part, version, frame.uses_of(id))
                };
                self.chains.chains.push(Chain {
                    resource: id,
                    range: part.range,
                    placement: placement as u32,
                    is_ladder,
                    is_previous: is_history && version == Version::Previous,
                    epochs,
                });
            }
            self.chains.of_placement[placement] = Run::new(first, self.chains.chains.len() as u32);
            self.meet();
        }
    }

    /// Appends the epochs of one of several parts or versions.
    fn epochs_of_some(&mut self, part: &Part, version: Version, uses: &[u32]) -> Run {
        let mut selected = std::mem::take(&mut self.selected);
        selected.clear();
        selected.extend(uses.iter().filter(|&&index| {
            let access = &self.frame.accesses()[index as usize];
            access.version == version && access.range.intersects(part.range)
        }));
        let epochs = self.epochs(part, &selected);
        self.selected = selected;
        epochs
    }

    /// Appends the epochs of a part, whose accesses these are in timeline order.
    fn epochs(&mut self, part: &Part, accesses: &[u32]) -> Run {
        let all = self.frame.accesses();
        let first = self.chains.epochs.len();
        // The accesses of one pass are one use; those that want different layouts meet in GENERAL.
        for in_pass in accesses.chunk_by(|&a, &b| all[a as usize].pass == all[b as usize].pass) {
            let (next, of_queue) = self.of_pass(part, in_pass);
            match self.chains.epochs[first..].last() {
                Some(open) if self.continues(open, &next, &of_queue) => self.extend(next.layout, of_queue),
                _ => {
                    self.chains.epochs.push(next);
                    self.chains.uses.push(of_queue);
                }
            }
            let epoch = self.chains.epochs.len() as u32 - 1;
            for &access in in_pass {
                let of_access = &mut self.chains.of_access[access as usize];
                let known = if part.range.aspects == vk::ImageAspectFlags::STENCIL {
                    &mut of_access.stencil
                } else {
                    &mut of_access.main
                };
                match *known {
                    Some(other) => self.shared.push([other, epoch]),
                    None => *known = Some(epoch),
                }
            }
        }
        Run::new(first as u32, self.chains.epochs.len() as u32)
    }

    /// The accesses of one pass, as an epoch of its own.
    fn of_pass(&self, part: &Part, accesses: &[u32]) -> (Epoch, QueueUse) {
        let access_of = |index: u32| &self.frame.accesses()[index as usize];
        let (first, use_) = (access_of(accesses[0]), self.chains.uses.len() as u32);
        let mut of_queue = QueueUse {
            queue: self.placed.queue_of(first.pass),
            first: first.pass,
            last: first.pass,
            stages: vk::PipelineStageFlags2::NONE,
            access: vk::AccessFlags2::NONE,
        };
        let mut epoch = Epoch {
            uses: Run::new(use_, use_ + 1),
            layout: part.layout_of(first),
            writes: vk::AccessFlags2::NONE,
            needs_contents: true,
        };
        for access in accesses.iter().map(|&index| access_of(index)) {
            // Without a store operation that does nothing, ending the pass writes the attachment, tested or not.
            let read_only_depth = access.kind == AccessKind::DepthStencilAttachment && !access.writes;
            let writes = access
                .kind
                .access_flags(false, access.writes || (read_only_depth && !self.store_none));
            if part.layout_of(access) != epoch.layout {
                epoch.layout = vk::ImageLayout::GENERAL;
            }
            of_queue.stages |= access.stages;
            of_queue.access |= access.flags() | writes;
            if self.is_resolved(access) {
                of_queue.stages |= vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT;
                of_queue.access |= vk::AccessFlags2::COLOR_ATTACHMENT_READ;
            }
            epoch.writes |= writes;
            // A clear or an overwrite by one access is what an input attachment of the same pass then reads.
            epoch.needs_contents &= !self.frame.replaces(access, part.range);
        }
        (epoch, of_queue)
    }

    /// Whether a resolve attachment of the pass receives the samples of this one: they are read as colour attachments are, those of
    /// depth too.
    ///
    /// Source: Vulkan specification, "Render Pass Multisample Resolve Operations".
    fn is_resolved(&self, access: &Access) -> bool {
        let mut others = self.frame.accesses_of(access.pass).iter();
        access.kind.is_attachment() && others.any(|other| other.resolves == Some(access.resource))
    }

    /// Whether reads go on without a barrier: in the same layout, or because nothing orders them after those of the epoch.
    fn continues(&self, open: &Epoch, next: &Epoch, of_queue: &QueueUse) -> bool {
        if !open.is_read_only() || !next.is_read_only() {
            return false;
        }
        let uses = self.chains.uses_of(open);
        let family = |queue| self.placed.family_of(queue);
        let one_family = uses.iter().all(|one| family(one.queue) == family(of_queue.queue));
        let ordered = |one: &QueueUse| self.placed.is_ordered(one.last, of_queue.first);
        (one_family && open.layout == next.layout) || !uses.iter().all(ordered)
    }

    /// Lets the last epoch go on with reads in another pass.
    fn extend(&mut self, layout: vk::ImageLayout, of_queue: QueueUse) {
        let Chains { epochs, uses, .. } = &mut self.chains;
        let open = epochs.last_mut().expect("an epoch goes on");
        if open.layout != layout {
            open.layout = vk::ImageLayout::GENERAL;
        }
        let mut known = uses[open.uses.indices()].iter_mut();
        match known.find(|one| one.queue == of_queue.queue) {
            Some(one) => {
                one.last = of_queue.last;
                one.stages |= of_queue.stages;
                one.access |= of_queue.access;
            }
            None => {
                uses.push(of_queue);
                open.uses.end += 1;
            }
        }
    }

    /// The parts of one access are in one layout, that of stencil apart.
    fn meet(&mut self) {
        let epochs = &mut self.chains.epochs;
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &[a, b] in &self.shared {
                if epochs[a as usize].layout != epochs[b as usize].layout {
                    epochs[a as usize].layout = vk::ImageLayout::GENERAL;
                    epochs[b as usize].layout = vk::ImageLayout::GENERAL;
                    changed = true;
                }
            }
        }
        self.shared.clear();
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
