//! From recorded commands to passes: what each accesses, with descriptors as they are now, and what synchronizes them.
//!
//! A pass is a subpass, a dynamic rendering instance (or what is between barriers inside), or dispatches or transfers between barriers.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ash::vk;
use tileheap::frame::shaders::Binding;
use tileheap::frame::tables::PassKind;
use tileheap::frame::{AccessKind, LoadOp, SubresourceRange};
use tileheap::units::Run;

use super::objects::{Descriptor, Resource};
use super::recording::{Access, Coverage, Instance, Op, Use};
use crate::document::{Command, PassFacts, Region, UnresolvedKind};

/// A pass and its accesses.
#[derive(Debug)]
pub(crate) struct Pass {
    pub(crate) name: String,
    pub(crate) kind: PassKind,
    pub(crate) secondary: bool,
    pub(crate) area: Option<vk::Rect2D>,
    pub(crate) view_mask: u32,
    pub(crate) accesses: Vec<Access>,
    pub(crate) facts: PassFacts,
}

/// Something that was not followed, with the resources that it may access.
#[derive(Debug)]
pub(crate) struct Missed {
    pub(crate) kind: UnresolvedKind,
    pub(crate) pass: Option<usize>,
    pub(crate) what: String,
    pub(crate) resources: Vec<Resource>,
}

/// A command buffer, flat.
#[derive(Debug, Default)]
pub(crate) struct Flat {
    pub(crate) passes: Vec<Pass>,
    /// Of passes the index.
    pub(crate) steps: Vec<Command<Resource>>,
    pub(crate) missed: Vec<Missed>,
}

/// Walks over recorded commands.
#[derive(Default)]
struct Walker<'a> {
    flat: Flat,
    labels: Vec<String>,
    /// The open pass.
    open: Option<usize>,
    /// The render pass instance, its subpass, and whether that is recorded in secondary command buffers.
    instance: Option<(&'a Instance, usize, bool)>,
    /// Pipelines and sets that the open pass has used.
    used: HashSet<Vec<usize>>,
    /// The accesses of the open pass, by resource.
    found: HashMap<usize, Vec<usize>>,
}

/// Follows the commands of a primary command buffer. O(commands + accesses of one resource²) of each pass.
pub(crate) fn flatten(ops: &[Op]) -> Flat {
    let mut walker = Walker::default();
    walker.walk(ops);
    walker.flat
}

impl<'a> Walker<'a> {
    fn walk(&mut self, ops: &'a [Op]) {
        for op in ops {
            match op {
                Op::Draw(using) => {
                    self.resume();
                    self.use_shaders(using);
                }
                Op::Dispatch(using) => {
                    self.run(PassKind::Compute);
                    self.use_shaders(using);
                }
                Op::Fetch(access) => self.access(access.clone()),
                Op::Transfer(accesses) => {
                    self.run(PassKind::Transfer);
                    accesses.iter().for_each(|access| self.access(access.clone()));
                }
                Op::Count(facts) => self.count(facts),
                Op::Sync(command) => {
                    self.flat.steps.push(command.clone());
                    self.open = None;
                }
                Op::BeginPass(instance) => self.begin(instance, 0, instance.secondary),
                Op::NextSubpass { secondary } => {
                    if let Some((instance, subpass, _)) = self.instance {
                        self.begin(instance, subpass + 1, *secondary);
                    }
                }
                Op::EndPass => {
                    if let Some((instance, ..)) = self.instance.take().filter(|it| !it.0.after.is_empty()) {
                        self.flat.steps.push(Command::Barrier(instance.after.clone()));
                    }
                    self.open = None;
                }
                Op::Execute(all) => {
                    let depth = self.labels.len();
                    all.iter().for_each(|ops| self.walk(ops));
                    self.labels.truncate(depth);
                }
                Op::BeginLabel(label) => self.labels.push(label.clone()),
                Op::EndLabel => _ = self.labels.pop(),
                Op::Unresolved(kind, command) => self.miss(*kind, (*command).to_owned(), Vec::new()),
            }
        }
    }

    fn miss(&mut self, kind: UnresolvedKind, what: String, resources: Vec<Resource>) {
        let pass = self.open;
        if let Some(open) = pass {
            self.flat.passes[open].facts.has_side_effects = true;
        }
        self.flat.missed.push(Missed {
            kind,
            pass,
            what,
            resources,
        });
    }

    fn open_pass(&mut self, kind: PassKind) -> &mut Pass {
        self.used.clear();
        self.found.clear();
        let index = self.flat.passes.len();
        self.open = Some(index);
        let (layouts, stores, regions) = (Vec::new(), Vec::new(), Vec::new());
        self.flat.steps.push(Command::Pass {
            pass: index as u32,
            layouts,
            stores,
            regions,
        });
        self.flat.passes.push(Pass {
            name: self.labels.last().cloned().unwrap_or_default(),
            kind,
            secondary: false,
            area: None,
            view_mask: 0,
            accesses: Vec::new(),
            facts: PassFacts::default(),
        });
        &mut self.flat.passes[index]
    }

    /// Dispatches and transfers between barriers are one pass each.
    fn run(&mut self, kind: PassKind) {
        let is_open = self.open.is_some_and(|open| self.flat.passes[open].kind == kind);
        if self.instance.is_none() && !is_open {
            self.open_pass(kind);
        }
    }

    /// Draws behind a barrier inside of a rendering instance are a pass of their own; those of a subpass that depends on itself are not.
    fn resume(&mut self) {
        match self.instance {
            Some((instance, subpass, secondary)) if self.open.is_none() && instance.dynamic => {
                self.attach(instance, subpass, secondary, true);
            }
            Some(_) if self.open.is_none() => self.open = self.flat.passes.len().checked_sub(1),
            _ => {}
        }
    }

    fn count(&mut self, facts: &PassFacts) {
        let Some(open) = self.open else { return };
        let all = &mut self.flat.passes[open].facts;
        macro_rules! add {
            ($($field:ident)+) => { $(all.$field += facts.$field;)+ };
        }
        add!(draws indirect_draws vertices indices vertex_bytes dispatches transfers);
        all.has_side_effects |= facts.has_side_effects;
    }

    fn begin(&mut self, instance: &'a Instance, subpass: usize, secondary: bool) {
        self.instance = Some((instance, subpass, secondary));
        if let Some(one) = instance.subpasses.get(subpass) {
            if !one.before.is_empty() {
                self.flat.steps.push(Command::Barrier(one.before.clone()));
            }
            self.attach(instance, subpass, secondary, false);
        }
    }

    fn attach(&mut self, instance: &Instance, subpass: usize, secondary: bool, again: bool) {
        let rendering = &instance.subpasses[subpass];
        let pass = self.open_pass(PassKind::Render);
        (pass.area, pass.view_mask, pass.secondary) = (Some(rendering.area), rendering.view_mask, secondary);
        (pass.facts.resumes, pass.facts.subpass) = (rendering.resumes, subpass as u32);
        for access in &rendering.attachments {
            let mut access = access.clone();
            access.confine(rendering.area);
            if again && access.writes && access.kind != AccessKind::ResolveAttachment {
                (access.load, access.reads) = (LoadOp::Load, true);
            }
            self.access(access);
        }
    }

    /// The accesses of a pipeline's shaders through the bound sets.
    fn use_shaders(&mut self, using: &Use) {
        let pipeline = using
            .pipeline
            .iter()
            .map(|pipeline| Arc::as_ptr(pipeline) as usize);
        let sets = using.sets.values().map(|set| Arc::as_ptr(set) as usize);
        if self.open.is_none() || !self.used.insert(pipeline.chain(sets).collect()) {
            return;
        }
        let unseen = || Err("no pipeline that the layer has seen".to_owned());
        let entries = match using
            .pipeline
            .as_ref()
            .map_or_else(unseen, |pipeline| pipeline.entries())
        {
            Ok(entries) => entries,
            Err(why) => {
                // Whatever is bound may be accessed.
                let all = using.sets.values().flat_map(|set| set.all());
                return self.miss(
                    UnresolvedKind::Shader,
                    why,
                    all.map(|one| one.resource()).collect(),
                );
            }
        };
        for entry in entries {
            for binding in entry.bindings.iter().filter(|one| one.reads || one.writes) {
                let set = using.sets.get(&binding.set);
                self.bound(
                    binding,
                    &entry.name,
                    set.map_or_else(Vec::new, |set| set.at(binding.binding)),
                );
            }
            if entry.addresses.iter().any(|one| one.reads || one.writes) {
                self.miss(
                    UnresolvedKind::DeviceAddress,
                    format!("shader `{}`", entry.name),
                    Vec::new(),
                );
            }
        }
    }

    fn bound(&mut self, binding: &Binding, shader: &str, found: Vec<Descriptor>) {
        /// Of more descriptors a shader uses some, and nobody knows which; of fewer, each may be used.
        const MOST: usize = 16;
        let place = format!(
            "set {} binding {} of shader `{shader}`",
            binding.set, binding.binding
        );
        if found.len() > MOST {
            let resources = found.iter().map(Descriptor::resource).collect();
            return self.miss(UnresolvedKind::BindlessArray, place, resources);
        }
        if found.is_empty() {
            return self.miss(UnresolvedKind::UnknownObject, place, Vec::new());
        }
        for descriptor in &found {
            let mut access = match descriptor {
                Descriptor::Image(view, layout) if binding.kind.fits_images() => {
                    Access::of_view(view, binding.kind, *layout)
                }
                Descriptor::Buffer(buffer) if binding.kind.fits_buffers() => {
                    Access::of_buffer(buffer, binding.kind)
                }
                // Of another kind than the shader's: not accessed.
                _ => continue,
            };
            (access.reads, access.writes) = (binding.reads, binding.writes);
            access.coverage = if found.len() > 1 {
                Coverage::Part
            } else {
                Coverage::Unknown
            };
            access.stages = Some(binding.stages);
            access.reach = Some(binding.reach);
            self.access(access);
        }
    }

    /// Adds an access to the open pass, merged with one that is alike or that writes the same.
    fn access(&mut self, mut access: Access) {
        let Some(open) = self.open else { return };
        let accesses = &mut self.flat.passes[open].accesses;
        let known = self.found.entry(access.resource.key()).or_default();
        let merged = known.iter().copied().find(|index| {
            let other = &accesses[*index];
            let alike = (other.kind, other.range, other.format) == (access.kind, access.range, access.format);
            alike || other.writes && access.writes && other.range.intersects(access.range)
        });
        let Some(index) = merged else {
            known.push(accesses.len());
            return accesses.push(access);
        };
        let other = &mut accesses[index];
        other.regions = match access.range == other.range {
            true => joined(
                std::mem::take(&mut other.regions),
                std::mem::take(&mut access.regions),
            ),
            false => Vec::new(),
        };
        if other.kind.is_attachment() {
            // A feedback loop: the attachment says it all.
            return other.reads |= access.reads;
        }
        let stages = |one: &Access| one.stages.unwrap_or(one.kind.default_stages(PassKind::Compute));
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
        other.reads |= access.reads;
        other.writes |= access.writes;
    }
}

/// The regions of both accesses; none where that is all.
fn joined(mut all: Vec<Region>, more: Vec<Region>) -> Vec<Region> {
    /// Of more the one around them does: each is compared with each.
    const MOST: usize = 64;
    if all.is_empty() || more.is_empty() {
        return Vec::new();
    }
    all.extend(more);
    all.dedup();
    if all.len() > MOST {
        let both = |a: [u64; 2], b: [u64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
        let around = |a: Region, b: Region| [0, 1, 2].map(|axis| both(a[axis], b[axis]));
        return all.into_iter().reduce(around).into_iter().collect();
    }
    all
}

/// The smallest range with both.
fn hull(a: SubresourceRange, b: SubresourceRange) -> SubresourceRange {
    let both = |a: Run, b: Run| Run::new(a.first.min(b.first), a.end.max(b.end));
    SubresourceRange {
        aspects: a.aspects | b.aspects,
        levels: both(a.levels, b.levels),
        layers: both(a.layers, b.layers),
    }
}
