//! Split lives: a resource that lives on in a copy after one of its passes.
//!
//! ```text
//! passes   0 draw   1 light   2 blur   …   9 compose
//! before   w ────── r ─────── r ────────── r            ten steps of tile memory
//! after    w ────── r ─────── r  store                  four
//!                               └ w ────── r            the copy, in ordinary memory
//! ```
//! The store is a pass of its own, which draws or dispatches: tile images allow no transfers.

use std::sync::Arc;

use ash::vk;

use super::builder::FrameBuilder;
use super::{
    Access, AccessKind, Before, Contents, Demand, Frame, Lifetime, Pass, PassId, PassKind, ResourceId,
    ResourceKind, Version,
};
use crate::units::Run;

impl Frame {
    /// The frame in which a pass behind `after` stores a transient resource in a copy, the last of the resources, that all later passes
    /// use in its place; `None` where that cannot be: it is not used in `after`, or not later, has several levels, layers or samples, or
    /// the queue cannot draw (images) or dispatch (buffers).
    ///
    /// # Errors
    /// As [`FrameBuilder::build`].
    pub fn split(&self, resource: ResourceId, after: PassId) -> Option<crate::Result<Frame>> {
        let uses = || {
            self.uses_of(resource)
                .iter()
                .map(|&index| &self.accesses()[index as usize])
        };
        let described = self.resource(resource);
        let spans = uses().any(|access| access.pass == after) && uses().any(|access| access.pass > after);
        if !spans || described.lifetime != Lifetime::Transient {
            return None;
        }
        let (kind, reads, writes, needs) = match &described.kind {
            ResourceKind::Image { desc, .. } => {
                let plain = (desc.mip_levels, desc.array_layers, desc.samples)
                    == (1, 1, vk::SampleCountFlags::TYPE_1)
                    && desc.image_type == vk::ImageType::TYPE_2D;
                if !plain {
                    return None;
                }
                let attachment = if described.aspects().contains(vk::ImageAspectFlags::COLOR) {
                    AccessKind::ColorAttachment
                } else {
                    AccessKind::DepthStencilAttachment
                };
                (
                    PassKind::Render,
                    AccessKind::SampledImage,
                    attachment,
                    vk::QueueFlags::GRAPHICS,
                )
            }
            ResourceKind::Buffer { .. } => (
                PassKind::Compute,
                AccessKind::StorageBuffer,
                AccessKind::StorageBuffer,
                vk::QueueFlags::COMPUTE,
            ),
        };
        if !self.queues()[self.queue_of(after).index()]
            .capabilities
            .contains(needs)
        {
            return None;
        }
        let store = PassId(after.0 + 1);
        let mut frame = self.clone();
        let tables = Arc::make_mut(&mut frame.tables);
        let copy = ResourceId(tables.resources.len() as u32);
        let mut stored = described.clone();
        stored.name += " (stored)";
        if stored.demand == Demand::Pinned {
            stored.demand = Demand::Nothing;
        }
        tables.resources.push(stored);
        for id in [resource, copy] {
            // What its accesses ask for is found anew.
            match &mut tables.resources[id.index()].kind {
                ResourceKind::Image { desc, usage, .. } => *usage = desc.usage,
                ResourceKind::Buffer { desc, usage } => *usage = desc.usage,
            }
        }
        let moved = |id: ResourceId| if id == resource { copy } else { id };
        for access in tables.accesses.iter_mut().filter(|access| access.pass > after) {
            access.pass.0 += 1;
            access.resource = moved(access.resource);
            access.resolves = access.resolves.map(moved);
        }
        let access = |resource, kind: AccessKind, writes: bool| Access {
            pass: store,
            resource,
            kind,
            reads: !writes,
            writes,
            version: Version::Current,
            stages: kind.default_stages(if needs == vk::QueueFlags::GRAPHICS {
                PassKind::Render
            } else {
                PassKind::Compute
            }),
            before: if writes { Before::Overwrite } else { Before::Load },
            resolves: None,
            measured: None,
        };
        let at = tables.passes[after.index()].accesses.end;
        let added = [access(resource, reads, false), access(copy, writes, true)];
        tables.accesses.splice(at as usize..at as usize, added);
        for later in &mut tables.passes[store.index()..] {
            later.accesses.first += 2;
            later.accesses.end += 2;
        }
        let of = &tables.passes[after.index()];
        let pass = Pass {
            name: format!("store {}", described.name),
            command_buffer: of.command_buffer,
            kind,
            contents: Contents::Inline,
            tile_shading: false,
            accesses: Run {
                first: at,
                end: at + 2,
            },
            area: vk::Extent2D::default(),
            layers: 1,
        };
        tables.passes.insert(store.index(), pass);
        for commands in &mut tables.command_buffers {
            commands.passes.first += u32::from(commands.passes.first > after.0);
            commands.passes.end += u32::from(commands.passes.end > after.0);
        }
        Some(FrameBuilder::from_tables(tables.clone()).build())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{ClearValue, ImageDesc};

    const EXTENT: vk::Extent2D = vk::Extent2D {
        width: 64,
        height: 64,
    };

    #[test]
    fn what_is_read_late_is_read_from_the_copy() {
        let mut frame = FrameBuilder::new("split", EXTENT);
        let image = || ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT);
        let [albedo, other] = ["albedo", "other"].map(|name| frame.image(name, image()));
        let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
        let submit = frame.submit(queue);
        let batch = frame.batch(submit);
        let commands = frame.command_buffer(batch, "main");
        let clear = Before::Clear(ClearValue::ZERO);
        let draw = frame.render_pass(commands, "draw").color(albedo, clear).id();
        let light = frame
            .render_pass(commands, "light")
            .sampled(albedo)
            .color(other, clear)
            .id();
        let batch = frame.batch(submit);
        let late = frame.command_buffer(batch, "late");
        let end = frame.render_pass(late, "end").sampled(albedo).sampled(other).id();
        let frame = frame.build().unwrap();
        let split = frame.split(albedo, light).unwrap().unwrap();
        let copy = split.resource_named("albedo (stored)").unwrap();
        let names: Vec<&str> = split.passes().iter().map(|pass| pass.name.as_str()).collect();
        assert_eq!(names, ["draw", "light", "store albedo", "end"]);
        assert_eq!((frame.life_of(albedo).len(), split.life_of(albedo).len()), (3, 3));
        assert_eq!(split.life_of(copy).len(), 2);
        assert_eq!(
            split.batch_of(split.pass_named("store albedo").unwrap()).index(),
            0
        );
        assert_eq!(split.command_buffers()[1].passes.len(), 1);
        assert!(frame.split(albedo, end).is_none(), "nothing uses it later");
        assert!(frame.split(other, draw).is_none(), "it is not there yet");
    }
}
