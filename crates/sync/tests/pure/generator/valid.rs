//! The rules that programs have to follow.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
use tileheap_sync::program::{
    AccessKind, BarrierChange, Command, CommandBuffer, Dependency, DependencyMemory, EventId, HostStep,
    MemoryAccess, PassStructure, Program, QueueId, ResourceId, ResourcePart, Tag, Tiling,
};

use super::{places, running};

type Checked = Result<(), String>;

fn ensure(holds: bool, rule: &str) -> Checked {
    if holds { Ok(()) } else { Err(rule.to_owned()) }
}

/// Checks that a program follows the rules that its readers rely on.
pub(crate) fn is_valid(program: &Program) -> Checked {
    for (index, resource) in program.resources.iter().enumerate() {
        ensure(
            resource.first < resource.end && resource.end <= places::BYTES,
            "a resource outside of its memory",
        )?;
        if let Some(other) = resource.alias_of {
            ensure((other.0 as usize) < index, "an alias of a later resource")?;
            let other = &program.resources[other.0 as usize];
            let alike = (other.memory, other.first, other.end, other.tiling);
            ensure(
                alike == (resource.memory, resource.first, resource.end, resource.tiling),
                "unlike aliases",
            )?;
        }
    }
    let mut checker = Checker {
        program,
        buffers: HashMap::new(),
        tags: BTreeSet::new(),
        once: BTreeSet::new(),
        events: BTreeMap::new(),
    };
    let mut numbers = BTreeSet::new();
    for step in &program.steps {
        match step {
            HostStep::Submit(batch) => {
                ensure(numbers.insert(batch.number), "a batch number that is used twice")?;
                let mut at = Position::default();
                for buffer in &batch.command_buffers {
                    at.starts = true;
                    checker.buffer(buffer, batch.queue, &mut at)?;
                    at.follows = at.ended;
                }
                ensure(at.subpass.is_none(), "an instance that does not end")?;
            }
            HostStep::Host(number, tag, access) => {
                ensure(numbers.insert(*number), "a batch number that is used twice")?;
                ensure(checker.tags.insert(*tag), "a tag that is used twice")?;
                ensure(
                    access.stage == S::HOST && matches!(access.part, ResourcePart::Bytes(..)),
                    "a host access at another stage or to an image",
                )?;
                checker.access(access, false)?;
            }
            _ => {}
        }
    }
    running::all_run(program)
}

/// The position of a command in its batch.
#[derive(Default)]
struct Position {
    subpass: Option<u32>,
    /// True at the beginning of a command buffer.
    starts: bool,
    /// True if the last command ended dynamic rendering.
    ended: bool,
    /// True if the last command of the previous command buffer did.
    follows: bool,
    /// True if the instance is dynamic rendering.
    dynamic: bool,
    seen: BTreeSet<Tag>,
    /// The previous command buffer, which may be suspended.
    before: Option<*const CommandBuffer>,
}

struct Checker<'a> {
    program: &'a Program,
    /// Number of uses of each command buffer.
    buffers: HashMap<*const CommandBuffer, u32>,
    tags: BTreeSet<Tag>,
    /// Command buffers that are only used once.
    once: BTreeSet<*const CommandBuffer>,
    /// The events that are set.
    events: BTreeMap<QueueId, BTreeSet<EventId>>,
}

impl Checker<'_> {
    fn buffer(&mut self, buffer: &Arc<CommandBuffer>, queue: QueueId, at: &mut Position) -> Checked {
        let pointer = Arc::as_ptr(buffer);
        let uses = self.buffers.entry(pointer).or_default();
        *uses += 1;
        let first = *uses == 1;
        ensure(
            first || !self.once.contains(&pointer),
            "a suspended command buffer that is used twice",
        )?;
        for (tag, command) in &buffer.commands {
            ensure(!first || self.tags.insert(*tag), "a tag that is used twice")?;
            ensure(at.seen.insert(*tag), "a command buffer twice in a batch")?;
            if let Command::BeginRendering { resumes: true, .. } = command {
                let suspended = at.before.ok_or("nothing to resume")?;
                for one in [pointer, suspended] {
                    ensure(
                        self.buffers.get(&one) == Some(&1),
                        "a suspended command buffer that is used twice",
                    )?;
                    self.once.insert(one);
                }
            }
            self.command(command, queue, at)?;
            at.starts = false;
        }
        if !matches!(buffer.commands.last(), Some((_, Command::Execute(_)))) {
            at.before = Some(pointer);
        }
        Ok(())
    }

    fn command(&mut self, command: &Command, queue: QueueId, at: &mut Position) -> Checked {
        let outside = at.subpass.is_none();
        let follows = at.follows && at.starts;
        let ended = std::mem::take(&mut at.ended);
        match command {
            Command::Action(accesses) => {
                ensure(!accesses.is_empty(), "an action without accesses")?;
                for access in accesses {
                    ensure(
                        access.stage != S::HOST,
                        "an access of the host in a command buffer",
                    )?;
                    self.access(access, !outside)?;
                }
            }
            Command::Barrier(dependencies) => self.dependencies(dependencies, outside, outside)?,
            Command::SetEvent(event, stages) => {
                ensure(outside, "an event in an instance")?;
                ensure(!stages.is_empty(), "an event without stages")?;
                self.events.entry(queue).or_default().insert(*event);
            }
            Command::ResetEvent(event) => {
                ensure(outside, "an event in an instance")?;
                self.events.entry(queue).or_default().remove(event);
            }
            Command::WaitEvents(events, dependencies) => {
                ensure(outside, "an event in an instance")?;
                let set = self.events.entry(queue).or_default();
                ensure(
                    !events.is_empty() && events.iter().all(|event| set.contains(event)),
                    "a wait for an event that is not set",
                )?;
                self.dependencies(dependencies, true, false)?;
            }
            Command::BeginRendering { resumes, pass } => {
                ensure(outside, "an instance in an instance")?;
                at.dynamic = **pass == PassStructure::default();
                ensure(!resumes || (follows && at.dynamic), "nothing to resume")?;
                at.subpass = Some(0);
                self.pass(pass)?;
            }
            Command::NextSubpass => {
                let subpass = at.subpass.ok_or("a subpass outside of instances")? + 1;
                at.subpass = Some(subpass);
                at.dynamic = false;
            }
            Command::EndRendering => {
                at.subpass.take().ok_or("an end outside of instances")?;
                at.ended = at.dynamic;
            }
            Command::Discard(one) => ensure(
                one.first < one.end && one.end <= places::BYTES,
                "a discard outside of its memory",
            )?,
            Command::Execute(inner) => {
                let nested = inner.commands.iter().any(|(_, command)| {
                    use Command::{BeginRendering, EndRendering, Execute, NextSubpass};
                    matches!(
                        command,
                        BeginRendering { .. } | NextSubpass | EndRendering | Execute(_)
                    )
                });
                ensure(
                    !nested,
                    "an instance or an execution in a secondary command buffer",
                )?;
                at.ended = ended && inner.commands.is_empty();
                let before = at.before;
                self.buffer(inner, queue, at)?;
                at.before = before;
            }
        }
        Ok(())
    }

    fn access(&self, access: &MemoryAccess, in_instance: bool) -> Checked {
        let single = |mask: u64| mask.is_power_of_two();
        ensure(
            single(access.stage.as_raw()) && access.access.as_raw().count_ones() <= 1,
            "an access of several stages or types",
        )?;
        self.part(access.resource, access.part, true)?;
        let framebuffer = !matches!(access.kind, AccessKind::Whole | AccessKind::Partial)
            || access.access == A::INPUT_ATTACHMENT_READ;
        ensure(
            !framebuffer || (in_instance && matches!(access.part, ResourcePart::Texels(_))),
            "an attachment outside of instances",
        )?;
        ensure(access.stage != S::HOST || !in_instance, "the host in an instance")
    }

    fn part(&self, resource: ResourceId, part: ResourcePart, areas: bool) -> Checked {
        let described = self
            .program
            .resources
            .get(resource.0 as usize)
            .ok_or("a resource that does not exist")?;
        ensure(
            places::contains(places::whole(described), part),
            "a part outside of its resource",
        )?;
        if let ResourcePart::Texels(texels) = part {
            if let Some(area) = texels.area {
                let all = |end| tileheap_units::Run::new(0, end);
                ensure(areas, "an area in a barrier")?;
                let inside = area
                    .iter()
                    .zip([places::SIDE, places::SIDE, 1])
                    .all(|(run, end)| places::inside(*run, all(end)));
                ensure(inside, "an area outside of its resource")?;
            }
        }
        Ok(())
    }

    fn dependencies(&self, dependencies: &[Dependency], layouts: bool, families: bool) -> Checked {
        ensure(!dependencies.is_empty(), "a barrier without dependencies")?;
        for dependency in dependencies {
            if let DependencyMemory::Part(resource, part) = dependency.memory {
                self.part(resource, part, false)?;
                let optimal = matches!(
                    self.program.resources[resource.0 as usize].tiling,
                    Tiling::Optimal(_)
                );
                match dependency.change {
                    BarrierChange::None => {}
                    BarrierChange::Layout { .. } => {
                        ensure(layouts && optimal, "a layout of a buffer, or in an instance")?
                    }
                    BarrierChange::Family { from, to } => {
                        ensure(families && from != to, "a family in an instance, or of an event")?
                    }
                }
            } else {
                ensure(
                    dependency.change == BarrierChange::None,
                    "a layout or family change without a resource",
                )?;
            }
        }
        Ok(())
    }

    fn pass(&self, pass: &PassStructure) -> Checked {
        for dependency in &pass.dependencies {
            let fits = match (dependency.from, dependency.to) {
                (Some(from), Some(to)) => from < to,
                (from, to) => from != to,
            };
            ensure(fits, "a dependency from a later subpass")?;
        }
        for attachment in &pass.attachments {
            if let Some(resource) = attachment.resource {
                self.part(resource, attachment.part, false)?;
            }
            ensure(
                matches!(attachment.part, ResourcePart::Texels(_)),
                "a layout of a buffer",
            )?;
            let in_order = attachment.uses.is_sorted_by(|one, other| one.0 < other.0);
            ensure(in_order, "uses that are not in order")?;
        }
        Ok(())
    }
}
