//! The state of the generator of synthetic frames: resources that can be read, and the order that semaphores establish.

use ash::vk;

use crate::units::SplitMix64;

use super::draft::Draft;
use super::*;
use crate::frame::external::ExternalDesc;
use crate::frame::tables::PassKind;
use crate::units::Bytes;

/// Size of an image. Attachments of one pass have the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    Full,
    Half,
    Quarter,
    Shadow,
}

/// A resource that some pass has written, or that is an input.
#[derive(Debug)]
pub(super) struct ProducedResource {
    pub(super) id: ResourceId,
    pub(super) kind: ProducedKind,
    /// True if a pass has read it.
    pub(super) is_read: bool,
    /// Per queue, one more than the index of the last batch that uses it; 0 if none does.
    pub(super) used_until: Vec<u32>,
    /// Per queue, one more than the index of the last batch that writes it; 0 if none does.
    pub(super) written_until: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProducedKind {
    Color(Size, vk::Format),
    Depth(Size),
    Buffer,
    /// An external buffer of geometry or constants, only read.
    Input(AccessKind),
}

#[derive(Debug)]
pub(super) struct Generator {
    pub(super) random: SplitMix64,
    desc: SyntheticDesc,
    pub(super) frame: FrameBuilder,
    pub(super) queues: Vec<QueueId>,
    submit: Option<(SubmitId, usize)>,
    pub(super) produced: Vec<ProducedResource>,
    /// Number of resources declared so far, including those that are never read (multisampled images, the swapchain image).
    pub(super) resources: u32,
    pub(super) swapchain: ResourceId,
    /// Per queue, one more than the index of its last batch, and that batch's id.
    last_batch: Vec<Option<(u32, BatchId)>>,
    /// Per queue, and per other queue, one more than the index of the last batch of the other queue that the queue has waited for.
    ordered: Vec<Vec<u32>>,
    /// The index of the current batch.
    pub(super) batch: u32,
    pub(super) queue: usize,
}

impl Generator {
    pub(super) fn new(seed: u64, desc: SyntheticDesc) -> Generator {
        let mut frame = FrameBuilder::new(format!("synthetic {seed}"), desc.base_extent);
        let queues = (0..desc.queues).map(|index| match index {
            0 => frame.queue("graphics", vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE),
            _ => frame.queue(format!("compute{index}"), vk::QueueFlags::COMPUTE),
        });
        let queues: Vec<QueueId> = queues.collect();
        let external = |layout| Persistence::External(ExternalDesc::in_layout(layout));
        let input = |frame: &mut FrameBuilder, name: &str, size, access| ProducedResource {
            id: frame.resource(name, BufferDesc::new(size), external(vk::ImageLayout::UNDEFINED)),
            kind: ProducedKind::Input(access),
            is_read: true,
            used_until: vec![0; desc.queues as usize],
            written_until: vec![0; desc.queues as usize],
        };
        let made = vec![
            input(&mut frame, "geometry", Bytes::mib(4), AccessKind::VertexBuffer),
            input(&mut frame, "constants", Bytes::kib(4), AccessKind::UniformBuffer),
        ];
        let backbuffer = ImageDesc::scaled(vk::Format::B8G8R8A8_UNORM, 1.0, 1.0);
        let swapchain = frame.resource(
            "swapchain",
            backbuffer,
            Persistence::External(ExternalDesc::SWAPCHAIN),
        );
        let count = queues.len();
        Generator {
            random: SplitMix64::new(seed),
            desc,
            frame,
            queues,
            submit: None,
            produced: made,
            resources: 3,
            swapchain,
            last_batch: vec![None; count],
            ordered: vec![vec![0; count]; count],
            batch: 0,
            queue: 0,
        }
    }

    pub(super) fn batch(&mut self, batch: u32, passes: std::ops::Range<u32>) {
        // The first batch fills the frame with results and the last one presents: both draw.
        let middle = batch > 0 && passes.end < self.desc.passes;
        let elsewhere = middle && self.queues.len() > 1 && self.random.one_in(3);
        self.queue = if elsewhere {
            1 + self.random.below(self.queues.len() as u64 - 1) as usize
        } else {
            0
        };
        self.batch = batch;
        let submit = match self.submit {
            Some((submit, queue)) if queue == self.queue && self.random.one_in(2) => {
                self.submit = None;
                submit
            }
            _ => {
                let submit = self.frame.submit(self.queues[self.queue]);
                self.submit = Some((submit, self.queue));
                submit
            }
        };
        let id = self.frame.batch(submit);
        self.wait_for_others(id, passes.end == self.desc.passes);
        self.last_batch[self.queue] = Some((batch + 1, id));
        let mut first = passes.start;
        let commands = (1 + self.random.below(3) as u32).min(passes.end - passes.start);
        for part in 0..commands {
            let end = passes.start + (passes.end - passes.start) * (part + 1) / commands;
            let commands = self.frame.command_buffer(id, format!("commands{batch}_{part}"));
            for pass in first..end {
                self.pass(commands, pass);
            }
            first = end;
        }
    }

    /// Usually waits for the other queues' work; always if `all` is true, as at the end of the frame.
    fn wait_for_others(&mut self, batch: BatchId, all: bool) {
        for other in 0..self.queues.len() {
            let Some((end, signaller)) = self.last_batch[other] else {
                continue;
            };
            let known = self.ordered[self.queue][other] >= end;
            if other == self.queue || known || (!all && self.random.one_in(4)) {
                continue;
            }
            let name = format!("queue{other}_to_batch{}", self.batch);
            let semaphore = self.frame.semaphore(name);
            let stages = vk::PipelineStageFlags2::ALL_COMMANDS;
            self.frame.signal(signaller, semaphore, stages);
            self.frame.wait(batch, semaphore, stages);
            // The work that the other queue waited for has completed too.
            let theirs = self.ordered[other].clone();
            for (mine, theirs) in self.ordered[self.queue].iter_mut().zip(theirs) {
                *mine = theirs.max(*mine);
            }
            self.ordered[self.queue][other] = end;
        }
    }

    fn pass(&mut self, commands: CommandBufferId, pass: u32) {
        let last = pass + 1 == self.desc.passes;
        let kind = match self.random.below(16) {
            _ if last || pass == 0 => PassKind::Render,
            0 => PassKind::Transfer,
            1..=10 if self.queue == 0 => PassKind::Render,
            _ => PassKind::Compute,
        };
        let wanted = u64::from(self.desc.resources - 3) * u64::from(pass + 1);
        let wanted = 3 + (wanted / u64::from(self.desc.passes)) as u32;
        let due = wanted.saturating_sub(self.resources);
        // Results come in bursts, as from a G-buffer.
        let wait = !last && pass > 0 && due < 4 && self.random.one_in(2);
        let due = if wait { 0 } else { due };
        let mut draft = Draft {
            name: format!("{}{pass}", ["render", "compute", "transfer"][kind as usize]),
            kind,
            accesses: Vec::new(),
            secondary: kind == PassKind::Render && self.random.one_in(8),
        };
        match kind {
            PassKind::Render => self.render(&mut draft, due, last),
            PassKind::Compute => self.compute(&mut draft, due),
            PassKind::Transfer => self.transfer(&mut draft, due),
        }
        draft.declare(&mut self.frame, commands);
    }

    /// Adds a read of a resource that satisfies `wanted`, if there is one, with a suitable access kind.
    pub(super) fn read(&mut self, draft: &mut Draft, wanted: impl Fn(&ProducedResource) -> bool) {
        let Some(index) = self.choose(draft, false, wanted) else {
            return;
        };
        let access = match self.produced[index].kind {
            ProducedKind::Color(..) if self.random.one_in(8) => AccessKind::StorageImage,
            ProducedKind::Color(..) | ProducedKind::Depth(_) => AccessKind::SampledImage,
            ProducedKind::Input(AccessKind::VertexBuffer) if draft.kind == PassKind::Compute => {
                AccessKind::StorageBuffer
            }
            ProducedKind::Input(access) => access,
            ProducedKind::Buffer => self.random.pick(&[
                AccessKind::StorageBuffer,
                AccessKind::StorageBuffer,
                AccessKind::UniformBuffer,
                AccessKind::UniformTexelBuffer,
                AccessKind::DeviceAddress,
                AccessKind::IndirectBuffer,
            ]),
        };
        self.use_made(draft, index, access, None);
    }

    /// A resource that this batch may read (and write, if `writes` is true), and that this pass does not use yet: half of the time the oldest unread one,
    /// else a recent one, so that lifetimes are short in large frames too.
    pub(super) fn choose(
        &mut self,
        draft: &Draft,
        writes: bool,
        wanted: impl Fn(&ProducedResource) -> bool,
    ) -> Option<usize> {
        let (queue, ordered) = (self.queue, &self.ordered[self.queue]);
        let usable = |made: &ProducedResource| {
            let until = if writes {
                &made.used_until
            } else {
                &made.written_until
            };
            let mut until = until.iter().zip(ordered).enumerate();
            until.all(|(other, (until, known))| other == queue || until <= known)
                && draft.accesses.iter().all(|access| access.resource != made.id)
        };
        let all = self.produced.iter().enumerate();
        let candidates: Vec<usize> = all
            .filter(|(_, made)| wanted(made) && usable(made))
            .map(|(index, _)| index)
            .collect();
        if self.random.one_in(2) {
            if let Some(&unread) = candidates.iter().find(|&&index| !self.produced[index].is_read) {
                return Some(unread);
            }
        }
        let reach = if self.random.one_in(8) { 48 } else { 12 };
        let reach = candidates.len().min(reach);
        let back = self.random.below(reach as u64) as usize;
        (reach > 0).then(|| candidates[candidates.len() - 1 - back])
    }

    /// Uses an earlier result: reads it, and also writes it if `load_op` is given.
    pub(super) fn use_made(
        &mut self,
        draft: &mut Draft,
        index: usize,
        kind: AccessKind,
        load_op: Option<LoadOp>,
    ) {
        let made = &mut self.produced[index];
        made.is_read = true;
        made.used_until[self.queue] = self.batch + 1;
        if load_op.is_some() {
            made.written_until[self.queue] = self.batch + 1;
        }
        draft.push(made.id, kind, true, load_op);
    }
}
