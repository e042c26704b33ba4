//! Split lives: a resource that lives apart for the first stretch of its life, and is stored at the stretch's end.
//!
//! ```text
//! passes   0 draw   1 light   2 blur            …   9 compose
//! before   w ────── r ─────── r ─────────────────── r          ten steps of tile memory
//! after    w ────── r ─────── r ─ store                        four, of a resource of its own
//!                                  └ w ──────────── r          the resource itself: ordinary memory will do
//! ```
//! The store is a pass of its own, which the runtime records ([`Contents::Store`]) and which draws or dispatches: tile images allow no
//! transfers. Images are stored by a triangle that covers them, texel for texel; buffers by a dispatch, word for word.

use std::sync::Arc;

use ash::vk;

use super::builder::FrameBuilder;
use super::tables::Tables;
use super::{
    Access, AccessKind, Contents, Frame, LoadOp, Pass, PassId, PassKind, Persistence, Resource, ResourceId,
    ResourceKind, TileConstraint, Version,
};
use crate::units::{Bytes, Run};

/// How a resource is stored.
#[derive(Clone, Copy)]
struct Store {
    kind: PassKind,
    reads: AccessKind,
    writes: AccessKind,
    needs: vk::QueueFlags,
}

/// The numbers that a format's texels are, as a shader reads and writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Texels {
    /// `vec4`.
    Float,
    /// `ivec4`.
    Int,
    /// `uvec4`.
    Uint,
    /// One `float`, written as depth.
    Depth,
}

/// The numbers that the texels of a format are, or why no shader writes what it has read of them, bit for bit.
///
/// # Errors
/// The reason, for people.
pub(crate) fn texels_of(format: vk::Format) -> Result<Texels, &'static str> {
    let name = format!("{format:?}");
    let aspects = super::aspects(format);
    if aspects.contains(vk::ImageAspectFlags::STENCIL) {
        return Err("no shader writes stencil everywhere (VK_EXT_shader_stencil_export)");
    }
    if aspects.contains(vk::ImageAspectFlags::DEPTH) {
        // A float of 32 bits has too few for the products of 24 bit depth with 2^24 - 1 to be exact.
        return match format {
            vk::Format::X8_D24_UNORM_PACK32 => Err("depth of 24 bits does not go through a float unchanged"),
            _ => Ok(Texels::Depth),
        };
    }
    if name.contains("SRGB") {
        return Err("sRGB is rounded on its way to linear and back");
    }
    if name.contains("BLOCK") || name.contains("E5B9") || name.contains("PLANE") {
        return Err("its format cannot be drawn into");
    }
    if name.contains("UINT") {
        return Ok(Texels::Uint);
    }
    if name.contains("SINT") {
        return Ok(Texels::Int);
    }
    if name.contains("UNORM") || name.contains("SNORM") || name.contains("FLOAT") {
        return Ok(Texels::Float);
    }
    Err("its format cannot be drawn into")
}

/// How a resource can be stored; or why it cannot.
fn store_of(resource: &Resource) -> Result<Store, &'static str> {
    match &resource.kind {
        ResourceKind::Image { desc, usage, .. } => {
            if desc.samples != vk::SampleCountFlags::TYPE_1 {
                return Err("it has several samples");
            }
            if (desc.mip_levels, desc.array_layers) != (1, 1) || desc.image_type != vk::ImageType::TYPE_2D {
                return Err("it is more than one 2D level and layer");
            }
            let (writes, attachment) = match texels_of(desc.format)? {
                Texels::Depth => (
                    AccessKind::DepthStencilAttachment,
                    vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
                ),
                _ => (AccessKind::ColorAttachment, vk::ImageUsageFlags::COLOR_ATTACHMENT),
            };
            // The two parts are created alike, as the whole was measured.
            if !usage.contains(attachment | vk::ImageUsageFlags::SAMPLED) {
                return Err("a store samples it and draws into it, and its passes do not do both");
            }
            Ok(Store {
                kind: PassKind::Render,
                reads: AccessKind::SampledImage,
                writes,
                needs: vk::QueueFlags::GRAPHICS,
            })
        }
        ResourceKind::Buffer { desc, usage } => {
            if !usage.contains(vk::BufferUsageFlags::STORAGE_BUFFER) {
                return Err("a store needs it as a storage buffer, and no pass does");
            }
            if !desc.size.0.is_multiple_of(4) {
                return Err("its bytes are no whole number of words");
            }
            Ok(Store {
                kind: PassKind::Compute,
                reads: AccessKind::StorageBuffer,
                writes: AccessKind::StorageBuffer,
                needs: vk::QueueFlags::COMPUTE,
            })
        }
    }
}

/// Whether a pass that the runtime is to record is one that it can: what it is not, if not.
pub(super) fn check_store(tables: &Tables, kind: PassKind, accesses: &[Access]) -> Result<(), &'static str> {
    let [from, to] = accesses else {
        return Err("a store reads one resource and overwrites another one, and does nothing else");
    };
    let resource = |access: &Access| &tables.resources[access.resource.index()];
    let reads = from.reads && !from.writes && from.version == Version::Current;
    let writes = to.writes && !to.reads && to.load_op == LoadOp::DontCare;
    if !reads || !writes || from.resource == to.resource {
        return Err("a store reads one resource and overwrites another one, in this order");
    }
    if resource(from).persistence != Persistence::Transient {
        return Err("what a store reads is transient");
    }
    if !resource(to).is_image() && matches!(resource(to).persistence, Persistence::External(_)) {
        return Err("an external buffer is not known before its frame");
    }
    let shape = |resource: &Resource| match resource.kind {
        ResourceKind::Image { desc, extent, .. } => (desc.format, extent, Bytes::ZERO),
        ResourceKind::Buffer { desc, .. } => (vk::Format::UNDEFINED, vk::Extent3D::default(), desc.size),
    };
    if shape(resource(from)) != shape(resource(to)) {
        return Err("the resources of a store differ in format or size");
    }
    // What the accesses themselves ask for is there.
    let used = |access: &Access| {
        let mut used = resource(access).clone();
        let depth = !used.aspects().contains(vk::ImageAspectFlags::COLOR);
        let written = if depth {
            AccessKind::DepthStencilAttachment
        } else {
            AccessKind::ColorAttachment
        };
        match &mut used.kind {
            ResourceKind::Image { usage, .. } => {
                *usage |= vk::ImageUsageFlags::SAMPLED | written.image_usage(depth);
            }
            ResourceKind::Buffer { usage, .. } => *usage |= vk::BufferUsageFlags::STORAGE_BUFFER,
        }
        used
    };
    let store = store_of(&used(from))?;
    store_of(&used(to))?;
    if (kind, from.kind, to.kind) != (store.kind, store.reads, store.writes) {
        return Err("a store samples an image and draws, or is a compute pass with two storage buffers");
    }
    Ok(())
}

impl Frame {
    /// Whether the life of a resource can be split at all.
    ///
    /// # Errors
    /// Why it cannot, for people.
    pub fn splits(&self, resource: ResourceId) -> Result<(), &'static str> {
        let uses = self.uses_of(resource).iter();
        let mut uses = uses.map(|&index| &self.accesses()[index as usize]);
        let first = uses
            .find(|access| access.version == Version::Current)
            .ok_or("no pass uses it")?;
        if first.needs_contents() {
            return Err("it comes in with contents");
        }
        store_of(self.resource(resource)).map(|_| ())
    }

    /// Whether the queue of pass `after` can store a resource whose life can be split.
    pub(crate) fn stores_behind(&self, resource: ResourceId, after: PassId) -> bool {
        let queue = &self.queues()[self.queue_of(after).index()];
        store_of(self.resource(resource)).is_ok_and(|store| queue.capabilities.contains(store.needs))
    }

    /// The frame in which `resource` lives apart until behind pass `after`: all uses up to there are of another resource, transient
    /// and the last of the resources, and a pass behind `after` stores that one in `resource` itself. `None` where that cannot be:
    /// nothing wants the resource later, `after` does not use it, its life cannot be [split](Frame::splits), or the queue cannot draw
    /// (images) or dispatch (buffers).
    ///
    /// # Errors
    /// As [`FrameBuilder::build`].
    pub fn split(&self, resource: ResourceId, after: PassId) -> Option<crate::Result<Frame>> {
        let uses = || {
            let uses = self.uses_of(resource).iter();
            let uses = uses.map(|&index| &self.accesses()[index as usize]);
            uses.filter(|access| access.version == Version::Current)
        };
        let described = self.resource(resource);
        let wanted =
            described.persistence != Persistence::Transient || uses().any(|access| access.pass > after);
        let used = uses().any(|access| access.pass == after);
        if !wanted || !used || self.splits(resource).is_err() || !self.stores_behind(resource, after) {
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
        // Both parts are created as the whole is: what that needs of memory is known.
        tables.resources[resource.index()].declare_usage();
        let whole = tables.resources[resource.index()].clone();
        tables.resources.push(Resource {
            name: format!("{} (until {})", described.name, self.pass(after).name),
            persistence: Persistence::Transient,
            tile_constraint: TileConstraint::None,
            ..whole
        });
        for access in &mut tables.accesses {
            let early = access.pass <= after && access.version == Version::Current;
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
            load_op: if writes { LoadOp::DontCare } else { LoadOp::Load },
            resolves: None,
            // What is read on chip would not be read otherwise: it spares nothing.
            measured: (!writes).then_some(Bytes::ZERO),
        };
        let at = tables.passes[after.index()].accesses.end;
        let added = [access(apart, reads, false), access(resource, writes, true)];
        tables.accesses.splice(at as usize..at as usize, added);
        for later in &mut tables.passes[store.index()..] {
            later.accesses.first += 2;
            later.accesses.end += 2;
        }
        let pass = Pass {
            name: format!("store {}", described.name),
            command_buffer: tables.passes[after.index()].command_buffer,
            kind,
            contents: Contents::Store,
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
    fn what_is_read_late_is_read_from_the_resource_itself() {
        let mut frame = FrameBuilder::new("split", EXTENT);
        let image = || ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT);
        let [albedo, other] = ["albedo", "other"].map(|name| frame.image(name, image()));
        let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
        let submit = frame.submit(queue);
        let batch = frame.batch(submit);
        let commands = frame.command_buffer(batch, "main");
        let clear = LoadOp::Clear(ClearValue::ZERO);
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
        let apart = split.resource_named("albedo (until light)").unwrap();
        assert_eq!(apart.index(), frame.resources().len());
        let names: Vec<&str> = split.passes().iter().map(|pass| pass.name.as_str()).collect();
        assert_eq!(names, ["draw", "light", "store albedo", "end"]);
        assert_eq!(
            (frame.lifetime_of(albedo).len(), split.lifetime_of(apart).len()),
            (3, 3)
        );
        assert_eq!(split.lifetime_of(albedo).len(), 2);
        let store = split.pass_named("store albedo").unwrap();
        assert_eq!(split.batch_of(store).index(), 0);
        assert_eq!(split.pass(store).contents, Contents::Store);
        assert_eq!(split.command_buffers()[1].passes.len(), 1);
        assert!(frame.split(albedo, end).is_none(), "nothing uses it later");
        assert!(frame.split(other, draw).is_none(), "it is not there yet");
        // As text and back it is the same frame.
        assert_eq!(Frame::from_json(&split.to_json()).unwrap(), split);
    }

    #[test]
    fn formats_that_would_change_are_not_stored() {
        use vk::Format as F;
        assert_eq!(texels_of(F::R8G8B8A8_UNORM), Ok(Texels::Float));
        assert_eq!(texels_of(F::B10G11R11_UFLOAT_PACK32), Ok(Texels::Float));
        assert_eq!(texels_of(F::R16G16_UINT), Ok(Texels::Uint));
        assert_eq!(texels_of(F::R32_SINT), Ok(Texels::Int));
        assert_eq!(texels_of(F::D32_SFLOAT), Ok(Texels::Depth));
        assert_eq!(texels_of(F::D16_UNORM), Ok(Texels::Depth));
        for format in [
            F::D24_UNORM_S8_UINT,
            F::X8_D24_UNORM_PACK32,
            F::R8G8B8A8_SRGB,
            F::BC1_RGB_UNORM_BLOCK,
            F::E5B9G9R9_UFLOAT_PACK32,
            F::R8_USCALED,
        ] {
            assert!(texels_of(format).is_err(), "{format:?}");
        }
    }
}
