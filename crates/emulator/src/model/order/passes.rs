//! The accesses of render passes to their attachments, and the dependencies of subpasses.
//!
//! ```text
//! begin                       next subpass                    end
//! dependencies on subpass 0   writes of draws, stores         stores
//! loads                       dependencies on subpass 1       dependencies of what follows
//!                             loads
//! ```
//! Attachments are loaded in the first subpass that uses them and stored in the last one. What draws write counts where the
//! subpass ends; within a subpass attachments are in order. Layout transitions of render passes count as their loads and stores.

use std::sync::Arc;

use ash::vk;
use tileheap_sync::program::Scopes;
use tileheap_sync::render_pass::AttachmentUse;
use vk::{AccessFlags2 as A, AttachmentLoadOp as Load, AttachmentStoreOp as Store, PipelineStageFlags2 as S};

use super::log::{Access, AccessKind, Change, Dependency, Memory, Recorded};
use super::scopes::Usage;
use crate::model::objects::Object;
use crate::model::position::Position;
use crate::model::render_passes::{is_resolved, is_written};
use crate::model::resources::{Attachment, Place, RenderPass};

/// Reads and writes of attachments.
const COLOR: [A; 2] = [A::COLOR_ATTACHMENT_READ, A::COLOR_ATTACHMENT_WRITE];
const DEPTH: [A; 2] = [
    A::DEPTH_STENCIL_ATTACHMENT_READ,
    A::DEPTH_STENCIL_ATTACHMENT_WRITE,
];

/// An attachment in tile memory.
#[derive(Debug)]
pub(crate) struct Attached {
    pub(crate) object: Object,
    pub(crate) place: Place,
    pub(crate) attachment: Attachment,
    pub(crate) index: u32,
    pub(crate) kind: AccessKind,
}

/// Where a render pass instance is.
#[derive(Debug, Default)]
pub(crate) struct Subpasses {
    attached: Vec<Attached>,
    /// `None` of dynamic rendering, and of what a secondary command buffer inherits.
    pass: Option<Arc<RenderPass>>,
    stores: bool,
    subpass: u32,
    /// The number of action commands before it.
    begun: u32,
}

impl Subpasses {
    /// A render pass instance begins.
    pub(crate) fn begin(
        recorded: &mut Recorded,
        attached: impl Iterator<Item = Attached>,
        pass: Option<Arc<RenderPass>>,
        (loads, stores): (bool, bool),
        at: &Position,
    ) -> Subpasses {
        if !recorded.is_on {
            return Subpasses::default();
        }
        let subpasses = Subpasses {
            attached: attached.filter(|one| !one.attachment.is_resolve).collect(),
            pass,
            stores,
            subpass: 0,
            begun: at.actions,
        };
        subpasses.enter(recorded, loads, at);
        subpasses
    }

    /// The next subpass begins.
    pub(crate) fn next(&mut self, recorded: &mut Recorded, at: &Position) {
        if recorded.is_on {
            self.leave(recorded, at);
            (self.subpass, self.begun) = (self.subpass + 1, at.actions);
            self.enter(recorded, true, at);
        }
    }

    /// The render pass instance ends.
    pub(crate) fn end(&mut self, recorded: &mut Recorded, at: &Position) {
        if recorded.is_on {
            self.leave(recorded, at);
            self.depend(recorded, vk::SUBPASS_EXTERNAL, at);
        }
    }

    fn enter(&self, recorded: &mut Recorded, loads: bool, at: &Position) {
        self.depend(recorded, self.subpass, at);
        recorded.begin_subpass();
        let loaded = self
            .attached
            .iter()
            .filter(|one| loads && self.uses(one).0 == Some(self.subpass));
        let accesses = loaded.filter_map(|one| one.access(one.load()?)).collect();
        let list = recorded.list(accesses);
        recorded.access(list, at);
    }

    fn leave(&self, recorded: &mut Recorded, at: &Position) {
        let has_drawn = at.actions > self.begun;
        let access = |one: &Attached| {
            let (_, last, writes) = self.uses(one);
            let is_last = last == Some(self.subpass);
            let usage = if is_last { one.store(self.stores) } else { None };
            one.access(usage.or_else(|| (has_drawn && writes && !is_last).then(|| one.written()).flatten())?)
        };
        let accesses = self.attached.iter().filter_map(access).collect();
        let list = recorded.list(accesses);
        recorded.access(list, at);
        recorded.end_subpass();
    }

    /// What a subpass depends on.
    fn depend(&self, recorded: &mut Recorded, subpass: u32, at: &Position) {
        let all = self.pass.iter().flat_map(|pass| &pass.dependencies);
        let on = all.filter(|one| one.to.unwrap_or(vk::SUBPASS_EXTERNAL) == subpass);
        let dependencies: Vec<Dependency> = on.map(|one| global(&one.scopes)).collect();
        if !dependencies.is_empty() {
            recorded.barrier(dependencies, &[], at);
        }
    }

    /// The first and the last subpass that use an attachment, and whether the current one writes it.
    fn uses(&self, one: &Attached) -> (Option<u32>, Option<u32>, bool) {
        let Some(pass) = &self.pass else {
            return (Some(0), Some(0), true);
        };
        let is_it = |used: &&AttachmentUse| used.attachment == one.index as usize && !is_resolved(used);
        let used = |subpass: &u32| pass.uses[*subpass as usize].iter().any(|used| is_it(&used));
        let all = 0..pass.uses.len() as u32;
        let own = pass.uses.get(self.subpass as usize);
        let writes = own.is_some_and(|own| own.iter().filter(is_it).any(is_written));
        (all.clone().find(used), all.rev().find(used), writes)
    }
}

/// A dependency of a subpass, for all memory.
fn global(scopes: &Scopes) -> Dependency {
    Dependency {
        src: scopes.src,
        src_access: scopes.src_access,
        dst: scopes.dst,
        dst_access: scopes.dst_access,
        memory: Memory::All,
        change: Change::None,
    }
}

impl Attached {
    fn access(&self, usage: Usage) -> Option<Access> {
        let bytes = (self.place.first, self.place.end);
        Some(Access::new(self.object, bytes, usage, self.kind))
    }

    /// Its load operation: `LOAD` reads, `CLEAR` and `DONT_CARE` write.
    fn load(&self) -> Option<Usage> {
        let loads = [self.attachment.load, self.attachment.stencil_load];
        let writes = |load: &Load| matches!(*load, Load::CLEAR | Load::DONT_CARE);
        let (stage, [read, write]) = match self.attachment.is_depth {
            true => (S::EARLY_FRAGMENT_TESTS, DEPTH),
            false => (S::COLOR_ATTACHMENT_OUTPUT, COLOR),
        };
        if loads.iter().any(writes) {
            Usage::of(stage, write)
        } else if loads.contains(&Load::LOAD) {
            Usage::of(stage, read)
        } else {
            None
        }
    }

    /// Its store operation, which writes unless its layout is only read.
    fn store(&self, stores: bool) -> Option<Usage> {
        let operations = [self.attachment.store, self.attachment.stencil_store];
        let is_none = operations.iter().all(|store| *store == Store::NONE);
        if !stores || is_none || self.attachment.only_read {
            return None;
        }
        self.written()
    }

    fn written(&self) -> Option<Usage> {
        match self.attachment.is_depth {
            true => Usage::of(S::LATE_FRAGMENT_TESTS, DEPTH[1]),
            false => Usage::of(S::COLOR_ATTACHMENT_OUTPUT, COLOR[1]),
        }
    }
}
