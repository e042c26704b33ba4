//! The state of a description that is being generated: its elements so far, and the resources that have contents.

use std::collections::BTreeSet;

use ash::vk::{self, PipelineStageFlags2 as S, QueueFlags as Q};
use tileheap::frame::tables::{PassKind, Resource, ResourceKind};
use tileheap::frame::{AccessKind, Persistence, SubresourceRange};
use tileheap::units::{Run, SplitMix64};

use super::description::{DescribedAccess, DescribedBatch, DescribedPass, Description};

/// A description that is being generated.
pub(super) struct DescriptionGenerator {
    pub(super) random: SplitMix64,
    /// On average, one in `unrestricted_rate` choices may have any value, valid or not; 0 if none may.
    unrestricted_rate: u64,
    pub(super) description: Description,
    /// For each resource, the aspects, levels and layers that have contents.
    pub(super) contents: Vec<BTreeSet<(u32, u32, u32)>>,
    pub(super) batch: DescribedBatch,
}

impl DescriptionGenerator {
    pub(super) fn new(seed: u64) -> DescriptionGenerator {
        let mut random = SplitMix64::new(seed);
        let unrestricted_rate = random.pick(&[0, 0, 0, 0, 0, 0, 0, 60, 20, 10]);
        let base_extent = match random.one_in(4) {
            true => vk::Extent2D {
                width: 33,
                height: 17,
            },
            false => vk::Extent2D {
                width: 64,
                height: 64,
            },
        };
        DescriptionGenerator {
            random,
            unrestricted_rate,
            description: Description {
                base_extent,
                resources: Vec::new(),
                queues: Vec::new(),
                semaphores: Vec::new(),
                batches: Vec::new(),
            },
            contents: Vec::new(),
            batch: new_batch(0),
        }
    }

    /// Returns true if the next choice may have any value, valid or not.
    pub(super) fn is_unrestricted(&mut self) -> bool {
        self.unrestricted_rate > 0 && self.random.one_in(self.unrestricted_rate)
    }

    /// Returns true with a probability of 1 in `n`.
    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.random.one_in(n)
    }

    /// Generates queues, resources, batches and passes.
    pub(super) fn finish(mut self) -> Description {
        let everything = Q::GRAPHICS | Q::COMPUTE | Q::TRANSFER;
        let count = self.random.pick(&[1, 1, 1, 1, 2, 2, 3]);
        for index in 0..count {
            let drawn = self
                .random
                .pick(&[everything, Q::COMPUTE | Q::TRANSFER, Q::TRANSFER, Q::GRAPHICS]);
            let flags = if index == 0 { everything } else { drawn };
            let flags = if self.is_unrestricted() {
                Q::from_raw(self.any_bits::<Q>(2) as u32)
            } else {
                flags
            };
            self.description.queues.push(flags);
        }
        for _ in 0..self.random.pick(&[0, 1, 2, 3]) {
            self.new_resource();
        }
        let batches = if count == 1 {
            self.random.pick(&[1, 1, 1, 2])
        } else {
            2 + self.random.below(3)
        };
        for index in 0..batches {
            let queue = if index == 0 {
                0
            } else {
                self.random.below(count) as usize
            };
            self.begin_batch(queue);
            for _ in 0..1 + self.random.below(if batches == 1 { 6 } else { 3 }) {
                self.pass();
            }
            let batch = std::mem::replace(&mut self.batch, new_batch(0));
            self.description.batches.push(batch);
        }
        self.write_histories();
        self.external_semaphores();
        self.description
    }

    fn begin_batch(&mut self, queue: usize) {
        self.batch = new_batch(queue);
        self.batch.new_submit = self.one_in(3);
        let Some(before) = self.description.batches.last().map(|batch| batch.queue) else {
            return;
        };
        let needed = before != queue || self.one_in(5);
        if needed && !self.is_unrestricted() {
            let semaphore = self.description.semaphores.len();
            self.description.semaphores.push(false);
            let [signals, waits] = [before, queue].map(|queue| self.semaphore_stages(queue));
            self.batch.waits.push((semaphore, waits));
            let last = self.description.batches.last_mut().expect("there is one before");
            last.signals.push((semaphore, signals));
        }
    }

    fn semaphore_stages(&mut self, queue: usize) -> S {
        if self.is_unrestricted() {
            return S::from_raw(self.any_bits::<S>(2));
        }
        if self.one_in(100) {
            return S::HOST;
        }
        let flags = self.description.queues[queue];
        let choices: &[S] = match flags.contains(Q::GRAPHICS) {
            true => &[
                S::ALL_COMMANDS,
                S::ALL_COMMANDS,
                S::ALL_GRAPHICS,
                S::COLOR_ATTACHMENT_OUTPUT,
            ],
            false => &[S::ALL_COMMANDS, S::ALL_COMMANDS, S::ALL_TRANSFER],
        };
        self.random.pick(choices)
    }

    /// Makes the first batch wait for an external semaphore, and the last batch signal one, each with a probability of 1 in 6.
    fn external_semaphores(&mut self) {
        for is_wait in [true, false] {
            if !self.one_in(6) {
                continue;
            }
            let semaphore = self.description.semaphores.len();
            self.description.semaphores.push(true);
            let batches = &self.description.batches;
            let index = if is_wait { 0 } else { batches.len() - 1 };
            let stages = self.semaphore_stages(batches[index].queue);
            let batch = &mut self.description.batches[index];
            let list = if is_wait {
                &mut batch.waits
            } else {
                &mut batch.signals
            };
            list.push((semaphore, stages));
        }
    }

    /// The capabilities of the queue that passes are added to.
    pub(super) fn queue(&self) -> Q {
        self.description.queues[self.batch.queue]
    }

    /// A resource as validation sees it, with its extent resolved.
    pub(super) fn resource(&self, index: usize) -> Resource {
        let drawn = &self.description.resources[index];
        let mut kind = drawn.kind;
        if let ResourceKind::Image { desc, extent, .. } = &mut kind {
            *extent = desc.extent.resolve(self.description.base_extent);
        }
        Resource {
            name: String::new(),
            kind,
            persistence: drawn.persistence,
            tile_constraint: drawn.tile_constraint,
            level_of: None,
        }
    }

    /// Every (aspect, level, layer) of a range without open ends; a single element for a buffer or an empty range.
    fn parts(range: SubresourceRange) -> Vec<(u32, u32, u32)> {
        let aspects = (0..8u32).filter(|bit| range.aspects.as_raw() >> bit & 1 == 1);
        let mut parts = Vec::new();
        for aspect in aspects {
            // Drawn numbers may be far too large.
            for level in range.levels.first..range.levels.end.min(40) {
                let layers = range.layers.first..range.layers.end.min(100);
                parts.extend(layers.map(|layer| (aspect, level, layer)));
            }
        }
        if parts.is_empty() {
            parts.push((0, 0, 0));
        }
        parts
    }

    /// Returns true if every part of a range has contents, or if the resource is external and enters the frame with contents.
    pub(super) fn has_contents(&self, resource: usize, range: SubresourceRange) -> bool {
        let external = match self.description.resources[resource].persistence {
            Persistence::External(desc) => {
                let image = self.resource(resource).is_image();
                !image || desc.entry.layout != vk::ImageLayout::UNDEFINED
            }
            Persistence::Transient | Persistence::History => false,
        };
        let written = &self.contents[resource];
        external
            || DescriptionGenerator::parts(range)
                .iter()
                .all(|part| written.contains(part))
    }

    /// Records the parts that the accesses of a pass write.
    pub(super) fn note_writes(&mut self, accesses: &[DescribedAccess]) {
        for access in accesses.iter().filter(|access| access.writes) {
            let range = self.meant(access.resource, access.kind, access.range);
            self.contents[access.resource].extend(DescriptionGenerator::parts(range));
        }
    }

    /// The range that an access of this kind uses, with its open ends filled in.
    pub(super) fn meant(
        &self,
        resource: usize,
        kind: AccessKind,
        range: SubresourceRange,
    ) -> SubresourceRange {
        let resource = self.resource(resource);
        let whole = resource.whole();
        let attached =
            kind.is_attachment() || matches!(kind, AccessKind::InputAttachment | AccessKind::TileAttachment);
        let levels = match (range.levels.is_empty(), attached) {
            (false, _) => range.levels,
            (true, true) => Run::new(0, whole.levels.end.min(1)),
            (true, false) => whole.levels,
        };
        let depth = match resource.kind {
            ResourceKind::Image { extent, .. } if resource.is_3d() => {
                Run::new(0, (extent.depth >> levels.first.min(31)).max(1))
            }
            _ => whole.layers,
        };
        // Drawn ranges may end before they begin.
        let forward = |run: Run| Run::new(run.first.min(run.end), run.end);
        let or = |run: Run, all: Run| if run == Run::default() { all } else { forward(run) };
        SubresourceRange {
            aspects: if range.aspects.is_empty() {
                whole.aspects
            } else {
                range.aspects
            },
            levels: forward(levels),
            layers: or(range.layers, depth),
        }
    }

    /// Adds a pass to the batch.
    pub(super) fn push(&mut self, pass: DescribedPass) {
        self.note_writes(&pass.accesses);
        self.batch.passes.push(pass);
    }

    /// Adds a transfer pass to the last batch for each history resource that no pass has written, if the batch's queue supports transfers.
    fn write_histories(&mut self) {
        let count = self.description.resources.len();
        let last = self.description.batches.len() - 1;
        let queue = self.description.batches[last].queue;
        for index in 0..count {
            let history = self.description.resources[index].persistence == Persistence::History;
            if !history || !self.contents[index].is_empty() || self.is_unrestricted() {
                continue;
            }
            let transfers = self.description.queues[queue].intersects(Q::GRAPHICS | Q::COMPUTE | Q::TRANSFER);
            if transfers {
                let mut pass = DescribedPass::new(PassKind::Transfer);
                pass.accesses
                    .push(DescribedAccess::new(index, AccessKind::TransferDestination).writing());
                self.note_writes(&pass.accesses);
                self.description.batches[last].passes.push(pass);
            }
        }
    }
}

fn new_batch(queue: usize) -> DescribedBatch {
    DescribedBatch {
        queue,
        new_submit: false,
        waits: Vec::new(),
        signals: Vec::new(),
        passes: Vec::new(),
    }
}
