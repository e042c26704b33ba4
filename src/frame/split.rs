//! Splits lifetimes: a separate resource takes the place of a resource for the first part of its lifetime, and is stored to it at the end of that part.
//!
//! ```text
//! passes   0 draw   1 light   2 blur            …   9 compose
//! before   w ────── r ─────── r ─────────────────── r          ten steps of tile memory
//! after    w ────── r ─────── r ─ store                        four, of a separate resource
//!                                  └ w ──────────── r          the resource itself: ordinary memory will do
//! ```
//! The store is a pass of its own, which the runtime records ([`CommandSource::Store`]) with a draw or dispatch: tile images allow no transfers. Images
//! are stored by a triangle that covers them, texel for texel; buffers by a dispatch, word for word.

use std::sync::Arc;

use ash::vk;

use super::builder::FrameBuilder;
#[cfg(feature = "arrange")]
use super::store::border_of;
use super::store::{Store, store_of};
use super::tables::{Access, CommandSource, HistoryVersion, Pass, PassKind, Resource, ViewDesc};
use super::{AccessKind, Frame, LoadOp, PassId, Persistence, ResourceId, SubresourceRange, TileConstraint};
use crate::units::{Bytes, Run};

impl Frame {
    /// Checks that the lifetime of a resource can be split.
    ///
    /// # Errors
    /// The reason why it cannot, as text.
    pub fn check_splittable(&self, resource: ResourceId) -> Result<(), &'static str> {
        let mut uses = self.accesses_to(resource);
        let first = uses
            .find(|access| access.version == HistoryVersion::Current)
            .ok_or("no pass uses it")?;
        if first.needs_contents() {
            return Err("its first use needs contents from before the frame");
        }
        store_of(self.resource(resource))?;
        match self.keeps_earlier_contents(resource) {
            true => Err("part of its contents from before the frame is needed"),
            false => Ok(()),
        }
    }

    /// The access kind with which a border copy on the queue of `pass` writes `image`. The copy's source is part of another image of the same format.
    ///
    /// # Errors
    /// The reason why no border copy can write the image, as text.
    #[cfg(feature = "arrange")]
    pub(crate) fn border_attachment(
        &self,
        image: ResourceId,
        pass: PassId,
    ) -> Result<AccessKind, &'static str> {
        let store = border_of(self.resource(image))?;
        let queue = &self.queues()[self.queue_of(pass).index()];
        match queue.capabilities.contains(store.needs) {
            true => Ok(store.writes),
            false => Err("the queue of the passes cannot draw"),
        }
    }

    /// Returns true if the runtime can store `resource` on the queue of pass `after`. The lifetime of the resource must be one that can be split.
    pub(crate) fn can_store_after(&self, resource: ResourceId, after: PassId) -> bool {
        let queue = &self.queues()[self.queue_of(after).index()];
        store_of(self.resource(resource)).is_ok_and(|store| queue.capabilities.contains(store.needs))
    }

    /// Splits the lifetime of `resource` after pass `after`: all uses up to `after` refer to a new transient resource, the last one of the frame, and a new
    /// pass directly after `after` stores it to `resource`. `None` if that is not possible: nothing needs the resource later, `after` does not use it, its
    /// lifetime cannot be [split](Frame::check_splittable), or the queue cannot draw (images) or dispatch (buffers).
    ///
    /// # Errors
    /// Same as [`FrameBuilder::build`].
    pub fn split(&self, resource: ResourceId, after: PassId) -> Option<crate::Result<Frame>> {
        let uses = || {
            let uses = self.uses_of(resource).iter();
            let uses = uses.map(|&index| &self.accesses()[index as usize]);
            uses.filter(|access| access.version == HistoryVersion::Current)
        };
        let described = self.resource(resource);
        let wanted =
            described.persistence != Persistence::Transient || uses().any(|access| access.pass > after);
        let used = uses().any(|access| access.pass == after);
        if !wanted
            || !used
            || self.check_splittable(resource).is_err()
            || !self.can_store_after(resource, after)
        {
            return None;
        }
        let Store {
            kind,
            reads,
            writes,
            needs,
        } = store_of(described).ok()?;
        let store = PassId(after.0 + 1);
        let mut frame = self.clone();
        let tables = Arc::make_mut(&mut frame.tables);
        let apart = ResourceId(tables.resources.len() as u32);
        // Both parts are created like the whole, so their memory requirements are known.
        tables.resources[resource.index()].declare_usage();
        let whole = tables.resources[resource.index()].clone();
        tables.resources.push(Resource {
            name: format!("{} (until {})", described.name, self.pass(after).name),
            persistence: Persistence::Transient,
            tile_constraint: TileConstraint::None,
            level_of: None,
            ..whole
        });
        for access in &mut tables.accesses {
            let early = access.pass <= after && access.version == HistoryVersion::Current;
            if access.resource == resource && early {
                access.resource = apart;
            }
            if access.resolves == Some(resource) && access.pass <= after {
                access.resolves = Some(apart);
            }
            access.pass.0 += u32::from(access.pass > after);
        }
        let access = |resource, kind: AccessKind, writes: bool| Access {
            pass: store,
            subpass: 0,
            resource,
            kind,
            range: SubresourceRange::ALL,
            view: ViewDesc::default(),
            reads: !writes,
            writes,
            version: HistoryVersion::Current,
            stages: kind.default_stages(if needs == vk::QueueFlags::GRAPHICS {
                PassKind::Render
            } else {
                PassKind::Compute
            }),
            load_op: if writes { LoadOp::DontCare } else { LoadOp::Load },
            resolves: None,
            // This read on chip would not exist otherwise: it saves nothing.
            measured: (!writes).then_some(Bytes::ZERO),
            share: None,
            reach: None,
            continues_attachment: false,
        };
        let at = tables.passes[after.index()].accesses.end;
        let added = [access(apart, reads, false), access(resource, writes, true)];
        tables.accesses.splice(at as usize..at as usize, added);
        for later in &mut tables.passes[store.index()..] {
            later.accesses.first += 2;
            later.accesses.end += 2;
        }
        let mut name = format!("store {}", described.name);
        // Copies at the border of strips are named alike.
        while self.pass_named(&name).is_some() {
            name.push('\'');
        }
        let commands = tables.passes[after.index()].command_buffer;
        let pass = Pass {
            contents: CommandSource::Store,
            ..Pass::new(name, commands, kind, Run::new(at, at + 2))
        };
        tables.passes.insert(store.index(), pass);
        for commands in &mut tables.command_buffers {
            commands.passes.first += u32::from(commands.passes.first > after.0);
            commands.passes.end += u32::from(commands.passes.end > after.0);
        }
        Some(FrameBuilder::from_tables(tables.clone()).build())
    }
}
