//! Counts the programs that use each feature.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ash::vk::{AccessFlags2 as A, ImageAspectFlags as Aspects, ImageLayout, PipelineStageFlags2 as S};
use tileheap_sync::program::{
    AccessKind, BarrierChange, Command, CommandBuffer, Dependency, DependencyMemory, DependencyScopes,
    HostStep, PassAttachment, PassDependency, PassStructure, Program, ResourceId, ResourcePart, Tiling,
};

use super::past::Touch;
use super::places;

/// The features that programs use.
const FEATURES: &str = "three queues; two families; two memories; granularity; alias_of; depth and stencil; levels; layers; \
    aliased buffers; buffer over image; image over image; neighbors by padding; \
    byte range; area of texels; Whole; Partial; Attachment; Load; Load writes; Store; Resolve; discards; INPUT_ATTACHMENT_READ; \
    UNIFORM_READ; SHADER_SAMPLED_READ; SHADER_STORAGE_READ; SHADER_STORAGE_WRITE; INDEX_READ; INDIRECT_COMMAND_READ; \
    unknown access; VERTEX_SHADER; FRAGMENT_SHADER; COMPUTE_SHADER; COPY; BLIT; RESOLVE; CLEAR; COLOR_ATTACHMENT_OUTPUT; EARLY_FRAGMENT_TESTS; \
    LATE_FRAGMENT_TESTS; host read; host write; dynamic rendering; resumes; render pass object; three subpasses; \
    from outside; from a subpass; to outside; into a subpass; into the first subpass; final transition; implicit to outside; unused attachment; \
    from outside to a later use; towards another subpass; one layout in two subpasses; one view twice; two parts of an image; \
    attachment that is not followed; \
    implicit from outside; barrier inside; Discard; Execution; All; Part; Layout; release; acquire; several dependencies; \
    SetEvent; ResetEvent; WaitEvents; two events; layout at an event; Execute; Execute inside; submitted again; executed again; two batches; \
    binary; timeline; wait before signal; batch signals late; host signals late; several waits; fence; WaitFence; ResetFence; \
    WaitSemaphore; WaitIdle of a queue; WaitIdle of the device; SHADER_READ mask; SHADER_WRITE mask; MEMORY_READ mask; \
    MEMORY_WRITE mask; no accesses; ALL_TRANSFER; ALL_GRAPHICS; ALL_COMMANDS; VERTEX_INPUT; PRE_RASTERIZATION_SHADERS; NONE; \
    TOP_OF_PIPE; BOTTOM_OF_PIPE; HOST";

/// Number of programs, and the number that use each feature.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    pub(crate) programs: usize,
    pub(crate) features: BTreeMap<String, usize>,
}

impl Coverage {
    pub(crate) fn count(&mut self, program: &Program) {
        self.programs += 1;
        let mut seen = Seen::default();
        seen.program(program);
        for name in FEATURES.split("; ") {
            let used = usize::from(seen.names.contains(name));
            *self.features.entry(name.to_owned()).or_default() += used;
        }
        for name in &seen.names {
            assert!(
                self.features.contains_key(name),
                "{name} is not among the features"
            );
        }
    }
}

#[derive(Default)]
struct Seen {
    names: BTreeSet<String>,
    buffers: Vec<*const CommandBuffer>,
    family: u32,
    inside: bool,
}

impl Seen {
    fn see(&mut self, name: &str, used: bool) {
        if used {
            self.names.insert(name.to_owned());
        }
    }

    fn program(&mut self, program: &Program) {
        self.resources(program);
        let (mut queues, mut families, mut signaled) = (BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
        signaled.extend(program.timelines.iter().copied());
        let mut early = BTreeSet::new();
        for step in &program.steps {
            match step {
                HostStep::Submit(batch) => {
                    self.family = batch.family;
                    self.see("two batches", !queues.is_empty());
                    queues.insert(batch.queue);
                    families.insert(batch.family);
                    self.see("three queues", queues.len() > 2);
                    self.see("two families", families.len() > 1);
                    self.see("several waits", batch.waits.len() > 1);
                    self.see("fence", batch.fence.is_some());
                    for wait in &batch.waits {
                        let now = signaled.get(&wait.semaphore);
                        self.see(if now.is_some() { "timeline" } else { "binary" }, true);
                        if now.is_some_and(|now| *now < wait.value) {
                            self.see("wait before signal", true);
                            early.insert((wait.semaphore, wait.value));
                        }
                    }
                    for signal in &batch.signals {
                        self.see(
                            "batch signals late",
                            early.contains(&(signal.semaphore, signal.value)),
                        );
                        signaled
                            .entry(signal.semaphore)
                            .and_modify(|now| *now = signal.value);
                    }
                    for buffer in &batch.command_buffers {
                        self.see("submitted again", self.buffers.contains(&Arc::as_ptr(buffer)));
                        self.buffer(buffer);
                    }
                }
                HostStep::WaitFence(_) => self.see("WaitFence", true),
                HostStep::ResetFence(_) => self.see("ResetFence", true),
                HostStep::WaitSemaphore(..) => self.see("WaitSemaphore", true),
                HostStep::SignalSemaphore(..) => self.see("host signals late", true),
                HostStep::WaitIdle(queue) => {
                    self.see(
                        if queue.is_some() {
                            "WaitIdle of a queue"
                        } else {
                            "WaitIdle of the device"
                        },
                        true,
                    );
                }
                HostStep::Host(_, _, access) => {
                    self.see(
                        if access.access == A::HOST_READ {
                            "host read"
                        } else {
                            "host write"
                        },
                        true,
                    );
                }
            }
        }
    }

    fn resources(&mut self, program: &Program) {
        self.see("granularity", program.granularity > 1);
        for (index, one) in program.resources.iter().enumerate() {
            self.see("two memories", one.memory != program.resources[0].memory);
            self.see("alias_of", one.alias_of.is_some());
            if let Tiling::Optimal(all) = one.tiling {
                self.see(
                    "depth and stencil",
                    all.aspects.contains(Aspects::DEPTH | Aspects::STENCIL),
                );
                self.see("levels", all.levels.len() > 1);
                self.see("layers", all.layers.len() > 1);
            }
            for (other, two) in program.resources[..index].iter().enumerate() {
                let ids = [index, other].map(|index| ResourceId(index as u32));
                let sides = [(ids[0], places::whole(one)), (ids[1], places::whole(two))];
                let meet = |granularity| places::meet(&program.resources, granularity, sides[0], sides[1]);
                let linear = [one, two].map(|one| one.tiling == Tiling::Linear);
                let apart =
                    places::class(&program.resources, ids[0]) != places::class(&program.resources, ids[1]);
                self.see("aliased buffers", meet(1) && linear == [true; 2]);
                self.see("image over image", meet(1) && linear == [false; 2] && apart);
                self.see("buffer over image", meet(1) && linear[0] != linear[1]);
                self.see("neighbors by padding", meet(program.granularity) && !meet(1));
            }
        }
    }

    fn buffer(&mut self, buffer: &Arc<CommandBuffer>) {
        self.buffers.push(Arc::as_ptr(buffer));
        let mut subpass = 0;
        for (_, command) in &buffer.commands {
            match command {
                Command::Action(accesses) => accesses.iter().for_each(|access| self.access(access)),
                Command::Barrier(dependencies) => {
                    self.see("barrier inside", self.inside);
                    dependencies.iter().for_each(|one| self.dependency(one));
                    self.see("several dependencies", dependencies.len() > 1);
                }
                Command::Discard(_) => self.see("Discard", true),
                Command::SetEvent(..) => self.see("SetEvent", true),
                Command::ResetEvent(_) => self.see("ResetEvent", true),
                Command::WaitEvents(events, dependencies) => {
                    self.see("WaitEvents", true);
                    self.see("two events", events.len() > 1);
                    self.see(
                        "layout at an event",
                        dependencies.iter().any(|one| one.change != BarrierChange::None),
                    );
                    dependencies.iter().for_each(|one| self.dependency(one));
                }
                Command::BeginRendering { resumes, pass } => {
                    self.inside = true;
                    subpass = 0;
                    self.see("resumes", *resumes);
                    let empty = **pass == PassStructure::default();
                    let name = if empty {
                        "dynamic rendering"
                    } else {
                        "render pass object"
                    };
                    self.see(name, true);
                    self.pass(pass);
                }
                Command::NextSubpass => {
                    subpass += 1;
                    self.see("three subpasses", subpass == 2);
                }
                Command::EndRendering => self.inside = false,
                Command::Execute(inner) => {
                    self.see(if self.inside { "Execute inside" } else { "Execute" }, true);
                    let again =
                        self.buffers.contains(&Arc::as_ptr(inner)) && !self.names.contains("submitted again");
                    self.see("executed again", again);
                    self.buffer(inner);
                }
            }
        }
    }

    fn pass(&mut self, pass: &PassStructure) {
        let is_there = |from, to| {
            let mut all = pass.dependencies.iter();
            all.any(|one| (one.from, one.to) == (from, to))
        };
        for one in &pass.dependencies {
            self.see("from outside", one.from.is_none());
            self.see("from a subpass", one.from.is_some() && one.to.is_some());
            self.see("to outside", one.to.is_none());
            self.scopes(&one.scopes);
        }
        for (index, one) in pass.attachments.iter().enumerate() {
            let (Some(first), Some(last)) = (one.uses.first(), one.uses.last()) else {
                self.see("unused attachment", true);
                continue;
            };
            let is_moved = [first.1 != one.initial_layout, last.1 != one.final_layout];
            self.see("into the first subpass", is_moved[0] && first.0 == 0);
            self.see("final transition", is_moved[1]);
            self.see(
                "implicit from outside",
                is_moved[0] && !is_there(None, Some(first.0)),
            );
            self.see(
                "implicit to outside",
                is_moved[1] && !is_there(Some(last.0), None),
            );
            let from_outside = |use_of: &(u32, ImageLayout)| is_there(None, Some(use_of.0));
            self.see(
                "from outside to a later use",
                is_moved[0] && one.uses[1..].iter().any(from_outside),
            );
            for pair in one.uses.windows(2).filter(|pair| pair[0].1 != pair[1].1) {
                self.see("into a subpass", true);
                let leaves =
                    |other: &PassDependency| other.from == Some(pair[0].0) && other.to != Some(pair[1].0);
                self.see("towards another subpass", pass.dependencies.iter().any(leaves));
            }
            let kept = one.uses.windows(2).any(|pair| pair[0].1 == pair[1].1);
            self.see("one layout in two subpasses", kept);
            let others = &pass.attachments[..index];
            let is_same = |other: &PassAttachment| (other.resource, other.part) == (one.resource, one.part);
            self.see("one view twice", others.iter().any(is_same));
            let is_part = |other: &PassAttachment| {
                one.resource.is_some() && other.resource == one.resource && other.part != one.part
            };
            self.see("two parts of an image", others.iter().any(is_part));
            self.see("attachment that is not followed", one.resource.is_none());
        }
    }

    fn access(&mut self, access: &tileheap_sync::program::MemoryAccess) {
        use AccessKind::{Attachment, Load, Partial, Resolve, Store, Whole};
        let touch = Touch::from(access);
        self.see(
            "byte range",
            matches!(access.part, ResourcePart::Bytes(first, _) if first > 0),
        );
        self.see("area of texels", places::without_area(access.part) != access.part);
        self.see("discards", access.discards);
        self.see("Load writes", access.kind == Load && touch.writes);
        for kind in [Whole, Partial, Attachment, Load, Store, Resolve] {
            self.see(&format!("{kind:?}"), access.kind == kind);
        }
        self.see(
            &format!("{:?}", access.stage),
            !matches!(access.stage, S::DRAW_INDIRECT | S::INDEX_INPUT),
        );
        let plain =
            A::UNIFORM_READ | A::SHADER_SAMPLED_READ | A::SHADER_STORAGE_READ | A::SHADER_STORAGE_WRITE;
        let plain = plain | A::INDEX_READ | A::INDIRECT_COMMAND_READ | A::INPUT_ATTACHMENT_READ;
        let is_unknown = access.access.is_empty();
        self.see("unknown access", is_unknown);
        self.see(
            &format!("{:?}", access.access),
            plain.contains(access.access) && !is_unknown,
        );
    }

    fn dependency(&mut self, one: &Dependency) {
        self.scopes(&one.scopes);
        self.see("Execution", one.memory == DependencyMemory::Execution);
        self.see("All", one.memory == DependencyMemory::All);
        self.see("Part", matches!(one.memory, DependencyMemory::Part(..)));
        match one.change {
            BarrierChange::None => {}
            BarrierChange::Layout { .. } => self.see("Layout", true),
            BarrierChange::Family { from, .. } if from == self.family => self.see("release", true),
            BarrierChange::Family { to, .. } => self.see(
                if to == self.family {
                    "acquire"
                } else {
                    "family elsewhere"
                },
                true,
            ),
        }
    }

    fn scopes(&mut self, one: &DependencyScopes) {
        for mask in [one.src, one.dst] {
            let composite = S::ALL_TRANSFER | S::ALL_GRAPHICS | S::ALL_COMMANDS | S::VERTEX_INPUT | S::HOST;
            let composite = composite | S::PRE_RASTERIZATION_SHADERS | S::TOP_OF_PIPE | S::BOTTOM_OF_PIPE;
            self.see(
                &format!("{mask:?}"),
                composite.contains(mask) && mask.as_raw().is_power_of_two(),
            );
            self.see("NONE", mask.is_empty());
        }
        for mask in [one.src_access, one.dst_access] {
            self.see("no accesses", mask.is_empty());
            for access in [A::SHADER_READ, A::SHADER_WRITE, A::MEMORY_READ, A::MEMORY_WRITE] {
                self.see(&format!("{access:?} mask"), mask.contains(access));
            }
        }
    }
}
