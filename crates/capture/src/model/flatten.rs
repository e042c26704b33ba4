//! Converts recorded commands to passes, with their accesses through the current descriptors, and their synchronization.
//!
//! A pass is a subpass, a dynamic rendering instance (or a part of it between barriers), or a series of dispatches or transfers between barriers. The
//! individual commands are listed separately, each with its own accesses.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use ash::vk;
use tileheap::frame::tables::PassKind;
use tileheap::frame::{AccessKind, LoadOp, SubresourceRange};
use tileheap::units::Run;

use super::access::{AccessedPart, Coverage, FollowedAccess};
use super::objects::Resource;
use super::recording::{
    DependencyMemory, DispatchInputs, Op, Recorded, RecordedList, RenderPassInstance, ShaderCommand,
    Synchronization,
};
use super::resource_table::ResourceTable;
use super::shader_use::{ShaderUse, UnresolvedAccess};
use crate::document::PassFacts;
use crate::document::recording::{Command, CommandEffect, UnfollowedAccess};

/// A pass and its accesses.
#[derive(Debug)]
pub(crate) struct Pass {
    pub(crate) name: String,
    pub(crate) kind: PassKind,
    pub(crate) secondary: bool,
    pub(crate) area: Option<vk::Rect2D>,
    pub(crate) view_mask: u32,
    pub(crate) accesses: Vec<FollowedAccess>,
    /// Reads of the pass's attachments outside the attached ranges, which `accesses` does not list.
    pub(crate) also_read: Vec<(Resource, SubresourceRange)>,
    /// The number of the pass's render pass instance within the command buffer, from 1.
    pub(crate) instance: Option<usize>,
    /// True if another command buffer resumes the instance.
    pub(crate) suspends: bool,
    /// The numbers of the timestamps before and after the pass, within the command buffer.
    pub(crate) timestamps: Option<[u32; 2]>,
    pub(crate) facts: PassFacts,
}

/// A flattened command buffer.
#[derive(Debug, Default)]
pub(crate) struct Flat {
    pub(crate) passes: Vec<Pass>,
    pub(crate) commands: Vec<Command>,
    /// Accesses that were not followed, each with the index of its pass; `None` outside of passes.
    pub(crate) unresolved: Vec<(Option<usize>, UnresolvedAccess)>,
    /// The ranges that layout transitions from UNDEFINED discard, each with the number of passes before it.
    discards: Vec<(usize, Resource, SubresourceRange)>,
    instances: usize,
}

impl Flat {
    /// Iterates over the ranges that layout transitions discard after the first `passes` passes and before the next one.
    pub(crate) fn discards_before(
        &self,
        passes: usize,
    ) -> impl Iterator<Item = (&Resource, &SubresourceRange)> {
        let first = self.discards.partition_point(|one| one.0 < passes);
        let all = self.discards[first..].iter();
        all.take_while(move |one| one.0 == passes)
            .map(|(_, resource, range)| (resource, range))
    }
}

/// Traverses recorded commands.
struct Walker<'a> {
    flat: Flat,
    resources: &'a mut ResourceTable,
    labels: Vec<String>,
    /// The name of the secondary command buffer that is being traversed; empty in the primary one.
    secondary: String,
    /// True if conditional rendering is active where the current secondary command buffer is executed.
    is_conditional: bool,
    /// While conditional rendering is active, the read of its predicate, which every pass makes.
    predicate: Option<&'a FollowedAccess>,
    /// The index of the open pass; `None` if no pass is open.
    open: Option<usize>,
    /// The number of the last timestamp, and the number of passes before it.
    timestamp: Option<(u32, usize)>,
    /// The current render pass instance, the subpass, and true if the subpass is recorded in secondary command buffers.
    instance: Option<(&'a RenderPassInstance, usize, bool)>,
    /// The keys of the pipelines and descriptor sets that the open pass has used.
    used: HashSet<Vec<usize>>,
    /// The accesses of shaders, by the key of their pipelines and descriptor sets.
    shaders: HashMap<Vec<usize>, Rc<ShaderUse>>,
    /// The indices of the open pass's accesses, by the key of the resource.
    found: HashMap<usize, Vec<usize>>,
    /// The distinct parts that each merged access of the open pass covers, by its index.
    parts: HashMap<usize, HashSet<AccessedPart>>,
}

/// Flattens the commands of a primary command buffer. Takes O(n + a²) time for a pass with n commands and a accesses to one resource.
pub(crate) fn flatten(ops: &RecordedList, resources: &mut ResourceTable) -> Flat {
    let mut walker = Walker {
        flat: Flat::default(),
        resources,
        labels: Vec::new(),
        secondary: String::new(),
        is_conditional: false,
        predicate: None,
        open: None,
        timestamp: None,
        instance: None,
        used: HashSet::new(),
        shaders: HashMap::new(),
        found: HashMap::new(),
        parts: HashMap::new(),
    };
    walker.walk(ops);
    walker.flat
}

impl<'a> Walker<'a> {
    fn walk(&mut self, ops: &'a RecordedList) {
        for one in ops.iter() {
            match &one.op {
                Op::Draw(shaded, counts) => {
                    self.resume();
                    self.run_shaders(one, shaded, &DispatchInputs::default());
                    self.note(|facts| counts.add_to(facts));
                }
                Op::Dispatch(shaded, inputs) => {
                    self.run(PassKind::Compute);
                    self.run_shaders(one, shaded, inputs);
                    self.note(|facts| facts.dispatches += 1);
                }
                Op::ClearAttachments => self.command(one, CommandEffect::Access(Vec::new())),
                Op::Transfer(accesses) => {
                    self.run(PassKind::Transfer);
                    accesses.iter().for_each(|access| self.access(access.clone()));
                    let accesses = self.recorded(accesses);
                    self.command(one, CommandEffect::Access(accesses));
                    self.note(|facts| facts.transfers += 1);
                }
                Op::Condition(predicate) => {
                    self.predicate = predicate.as_deref();
                    let accesses = self.recorded(self.predicate.map_or(&[], std::slice::from_ref));
                    if !accesses.is_empty() {
                        self.command(one, CommandEffect::Access(accesses));
                    }
                }
                Op::BeginQuery => self.note(|facts| facts.has_side_effects = true),
                Op::Synchronization(sync) => {
                    self.discard(sync);
                    let action = self.resources.synchronization(sync);
                    self.command(one, action);
                    self.open = None;
                }
                Op::BeginPass(instance) => {
                    let begun = self.resources.instance(instance);
                    self.command(one, CommandEffect::Begin(Box::new(begun)));
                    self.begin(instance, 0, instance.secondary);
                    self.rates(one);
                }
                Op::NextSubpass { secondary } => {
                    if let Some((instance, subpass, _)) = self.instance {
                        self.command(one, CommandEffect::NextSubpass);
                        self.begin(instance, subpass + 1, *secondary);
                        self.rates(one);
                    }
                }
                Op::EndPass => {
                    // A render pass whose creation was not seen has no beginning.
                    if self.instance.take().is_some() {
                        self.command(one, CommandEffect::End);
                    }
                    self.open = None;
                }
                Op::Execute(is_conditional, all) => {
                    let outer = std::mem::replace(&mut self.is_conditional, *is_conditional);
                    self.execute(all);
                    self.is_conditional = outer;
                }
                Op::BeginLabel(label) => self.labels.push(label.clone()),
                Op::EndLabel => _ = self.labels.pop(),
                Op::Timestamp(number) => self.time(*number),
                Op::Unresolved(kind) => {
                    let missed = UnresolvedAccess {
                        kind: *kind,
                        what: one.call.to_owned(),
                        resources: Vec::new(),
                    };
                    self.command(one, CommandEffect::None);
                    self.unresolved(&missed);
                    self.miss(missed);
                }
            }
        }
    }

    /// Records timestamp `number`: the first pass after the previous timestamp gets the numbers of both.
    fn time(&mut self, number: u32) {
        let passes = &mut self.flat.passes;
        let Some((from, first)) = self.timestamp.replace((number, passes.len())) else {
            return;
        };
        if let Some(pass) = passes.get_mut(first) {
            pass.timestamps = Some([from, number]);
        }
    }

    /// Records layout transitions from UNDEFINED, which discard the contents.
    fn discard(&mut self, sync: &Synchronization) {
        let (Synchronization::Barrier(all) | Synchronization::WaitEvents(_, all)) = sync else {
            return;
        };
        let passes = self.flat.passes.len();
        for one in all {
            if let DependencyMemory::Image {
                image,
                range,
                old: vk::ImageLayout::UNDEFINED,
                ..
            } = &one.memory
            {
                let resource = Resource::Image(image.clone());
                self.flat.discards.push((passes, resource, *range));
            }
        }
    }

    /// Traverses secondary command buffers.
    fn execute(&mut self, all: &'a [(String, Arc<RecordedList>)]) {
        let depth = self.labels.len();
        let outer = std::mem::take(&mut self.secondary);
        for (name, ops) in all {
            let name = if name.is_empty() { "secondary" } else { name };
            name.clone_into(&mut self.secondary);
            self.walk(ops);
        }
        self.secondary = outer;
        self.labels.truncate(depth);
    }

    /// Adds a command.
    fn command(&mut self, one: &Recorded, action: CommandEffect) {
        self.flat.commands.push(Command {
            call: one.call.to_owned(),
            number: one.number,
            label: self.labels.last().cloned().unwrap_or_default(),
            secondary: self.secondary.clone(),
            action,
            unresolved: Vec::new(),
        });
    }

    /// Records that the last command accesses something that was not followed.
    fn unresolved(&mut self, missed: &UnresolvedAccess) {
        /// Maximum length of a list of resources; a longer list is left empty, which means any resource.
        const MAX_RESOURCES: usize = 16;
        let listed = if missed.resources.len() > MAX_RESOURCES {
            &[]
        } else {
            &missed.resources[..]
        };
        let resources = listed.iter().map(|one| self.resources.number(one)).collect();
        if let Some(last) = self.flat.commands.last_mut() {
            last.unresolved.push(UnfollowedAccess {
                kind: missed.kind,
                what: missed.what.clone(),
                resources,
            });
        }
    }

    /// Converts accesses to their form in a recording.
    fn recorded(&mut self, accesses: &[FollowedAccess]) -> Vec<crate::document::recording::RecordedAccess> {
        let one = |access: &FollowedAccess| access.recorded(self.resources.number(&access.resource));
        accesses.iter().flat_map(one).collect()
    }

    fn miss(&mut self, missed: UnresolvedAccess) {
        self.note(|facts| facts.has_side_effects = true);
        self.flat.unresolved.push((self.open, missed));
    }

    fn open_pass(&mut self, kind: PassKind) -> &mut Pass {
        self.used.clear();
        self.found.clear();
        self.parts.clear();
        let index = self.flat.passes.len();
        self.open = Some(index);
        self.flat.passes.push(Pass {
            name: self.labels.last().cloned().unwrap_or_default(),
            kind,
            secondary: false,
            area: None,
            view_mask: 0,
            accesses: Vec::new(),
            also_read: Vec::new(),
            instance: None,
            suspends: false,
            timestamps: None,
            facts: PassFacts::default(),
        });
        &mut self.flat.passes[index]
    }

    /// Opens a pass for dispatches or transfers outside render pass instances, unless a pass of this kind is open.
    fn run(&mut self, kind: PassKind) {
        let is_open = self.open.is_some_and(|open| self.flat.passes[open].kind == kind);
        if self.instance.is_none() && !is_open {
            self.open_pass(kind);
        }
    }

    /// Opens a pass for draws after a barrier inside a dynamic rendering instance; draws of a self-dependent subpass stay in the same pass.
    fn resume(&mut self) {
        match self.instance {
            Some((instance, subpass, secondary)) if self.open.is_none() && instance.dynamic => {
                self.attach(instance, subpass, secondary, true);
            }
            Some(_) if self.open.is_none() => self.open = self.flat.passes.len().checked_sub(1),
            _ => {}
        }
    }

    /// Changes the facts of the open pass.
    fn note(&mut self, change: impl FnOnce(&mut PassFacts)) {
        if let Some(open) = self.open {
            change(&mut self.flat.passes[open].facts);
        }
    }

    fn begin(&mut self, instance: &'a RenderPassInstance, subpass: usize, secondary: bool) {
        self.flat.instances += usize::from(subpass == 0);
        self.instance = Some((instance, subpass, secondary));
        if subpass < instance.subpasses.len() {
            self.attach(instance, subpass, secondary, false);
        }
    }

    /// Adds the reads of shading rates and fragment densities of the subpass that has begun.
    fn rates(&mut self, one: &Recorded) {
        let Some((instance, subpass, _)) = self.instance else {
            return;
        };
        let rates = instance.subpasses.get(subpass).map_or(&[][..], |one| &one.rates);
        if !rates.is_empty() {
            rates.iter().for_each(|access| self.access(access.clone()));
            let accesses = self.recorded(rates);
            self.command(one, CommandEffect::Access(accesses));
        }
    }

    fn attach(&mut self, instance: &RenderPassInstance, subpass: usize, secondary: bool, again: bool) {
        let rendering = &instance.subpasses[subpass];
        let number = self.flat.instances;
        let pass = self.open_pass(PassKind::Render);
        (pass.instance, pass.suspends) = (Some(number), instance.recorded.suspends);
        (pass.area, pass.view_mask, pass.secondary) = (Some(rendering.area), rendering.view_mask, secondary);
        (pass.facts.resumes, pass.facts.subpass) = (rendering.resumes, subpass as u32);
        for access in &rendering.attachments {
            let mut access = access.clone();
            if again && access.writes && access.kind != AccessKind::ResolveAttachment {
                (access.load, access.reads) = (LoadOp::Load, true);
            }
            self.access(access);
        }
    }

    /// Adds the accesses of a draw or dispatch, through the bound sets and to the buffers that it fetches from.
    fn run_shaders(&mut self, one: &Recorded, shaded: &ShaderCommand, inputs: &DispatchInputs) {
        let key = shaded.state.key();
        let known = self.shaders.get(&key).cloned();
        let found = known.unwrap_or_else(|| Rc::new(ShaderUse::of(&shaded.state, one.call)));
        self.shaders.insert(key.clone(), found.clone());
        let mut accesses = shaded.fetches.clone();
        accesses
            .iter_mut()
            .for_each(|access| access.is_conditional |= self.is_conditional);
        let performed = found.performed(inputs).into_iter();
        accesses.extend(performed.map(|access| FollowedAccess {
            is_conditional: access.is_conditional || shaded.is_conditional || self.is_conditional,
            ..access
        }));
        let recorded = self.recorded(&accesses);
        self.command(one, CommandEffect::Access(recorded));
        found.unresolved.iter().for_each(|missed| self.unresolved(missed));
        if self.open.is_some() && self.used.insert(key) {
            let (accesses, missed) = (&found.accesses, &found.unresolved);
            missed.iter().for_each(|missed| self.miss(missed.clone()));
            accesses.iter().for_each(|one| self.access(one.access.clone()));
        }
        let fetches = shaded.fetches.iter().chain(self.predicate);
        fetches.for_each(|access| self.access(access.clone()));
    }

    /// Adds an access to the open pass. Merges it with one of equal kind, range and format, or with an overlapping write if it writes too, or reads an
    /// attachment in a feedback loop.
    fn access(&mut self, access: FollowedAccess) {
        let Some(open) = self.open else { return };
        let accesses = &mut self.flat.passes[open].accesses;
        let known = self.found.entry(access.resource.key()).or_default();
        let merged = known.iter().copied().find(|index| {
            let other = &accesses[*index];
            let alike = (other.kind, other.range, other.format) == (access.kind, access.range, access.format);
            let shares = other.range.intersects(access.range);
            // A feedback loop: a shader must not read what its render pass writes as an attachment.
            let in_place = [AccessKind::InputAttachment, AccessKind::TileAttachment].contains(&access.kind);
            let loops = other.kind.is_attachment() && !access.kind.is_attachment() && !in_place;
            alike || other.writes && shares && (access.writes || loops)
        });
        let Some(index) = merged else {
            known.push(accesses.len());
            return accesses.push(access);
        };
        let other = &mut accesses[index];
        if other.kind.is_attachment() {
            // The attachment access already covers its own part.
            other.reads |= access.reads;
            if access.reads && access.range != other.range {
                let read = (access.resource, access.range);
                self.flat.passes[open].also_read.push(read);
            }
            return;
        }
        // The bytes of a part count once, however often it is accessed.
        let parts = self.parts.entry(index);
        if parts
            .or_insert_with(|| HashSet::from([other.part()]))
            .insert(access.part())
        {
            other.add_bytes(&access);
        }
        let stages = |one: &FollowedAccess| one.stages.unwrap_or(one.kind.default_stages(PassKind::Compute));
        if other.stages != access.stages {
            other.stages = Some(stages(other) | stages(&access));
        }
        if access.writes {
            other.coverage = if other.writes {
                other.coverage.max(access.coverage)
            } else {
                access.coverage
            };
        }
        if access.range != other.range {
            (other.range, other.coverage) = (hull(other.range, access.range), Coverage::Part);
        }
        other.reach = other.reach.zip(access.reach).map(|(a, b)| a.max(b));
        other.described_as = other.described_as.or(access.described_as);
        other.reads |= access.reads;
        other.writes |= access.writes;
    }
}

/// Returns the smallest range that contains both.
fn hull(a: SubresourceRange, b: SubresourceRange) -> SubresourceRange {
    let both = |a: Run, b: Run| Run::new(a.first.min(b.first), a.end.max(b.end));
    SubresourceRange {
        aspects: a.aspects | b.aspects,
        levels: both(a.levels, b.levels),
        layers: both(a.layers, b.layers),
    }
}
