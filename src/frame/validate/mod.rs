//! Validation: turns a description into tables, and checks that they are sound.

mod accesses;
mod contents;
mod queues;
mod subpasses;

pub(super) use subpasses::shares as subpasses_share;

use std::collections::HashSet;

use ash::vk;

use super::levels::{self, separate};
use super::parts::{derive_parts, resolve_ranges};
use super::tables::Tables;
use super::*;
use crate::format::texel_block;
use crate::frame::tables::{PassKind, ResourceKind};
use crate::names::shortened;
use crate::quick_hash::QuickHash;
use crate::units::Bytes;

/// Maximum number of objects of each kind (resources, passes, accesses, …) in a frame; real frames have hundreds.
const MAX_ROWS: usize = 1 << 20;
/// Maximum number of batches: their order is stored as one bit for each pair.
const MAX_BATCHES: usize = 1 << 14;
/// Maximum number of queues.
const MAX_QUEUES: usize = 1 << 8;
/// Maximum size of one resource (1 TiB). The sum over twice the maximum number of accesses to such resources does not overflow 64 bits.
const MAX_RESOURCE_BYTES: Bytes = Bytes(1 << 40);
/// Maximum length of a name in bytes.
pub(super) const MAX_NAME_BYTES: usize = 256;

/// Validates the tables and fills in derived values.
pub(super) fn finish(mut tables: Tables) -> Result<Tables, FrameError> {
    check_counts(&tables)?;
    check_names(&tables)?;
    check_repeats(&tables)?;
    resolve_sizes(&mut tables)?;
    levels::resolve(&mut tables)?;
    check_references(&tables)?;
    check_tile_shading(&tables)?;
    queues::check_queues(&tables)?;
    queues::check_semaphores(&tables)?;
    resolve_ranges(&mut tables)?;
    if separate(&mut tables)? {
        check_names(&tables)?;
    }
    accesses::normalize_accesses(&mut tables);
    subpasses::check_subpasses(&mut tables)?;
    accesses::check_accesses(&tables)?;
    accesses::derive_usage(&mut tables);
    accesses::derive_render_areas(&mut tables);
    valid_usage::check_used(&tables)?;
    contents::derive_uses(&mut tables);
    derive_parts(&mut tables)?;
    contents::check_contents(&tables)?;
    contents::check_optional(&tables)?;
    valid_usage::check_queues(&tables)?;
    queues::derive_order(&mut tables);
    queues::check_order(&tables)?;
    Ok(tables)
}

/// Checks that the number of objects of each kind is within its limit, so that indices fit in 32 bits and sums of sizes in 64 bits.
fn check_counts(tables: &Tables) -> Result<(), FrameError> {
    let counts = [
        ("queues", tables.queues.len(), MAX_QUEUES),
        ("semaphores", tables.semaphores.len(), MAX_ROWS),
        ("submits", tables.submits.len(), MAX_ROWS),
        ("batches", tables.batches.len(), MAX_BATCHES),
        ("command buffers", tables.command_buffers.len(), MAX_ROWS),
        ("passes", tables.passes.len(), MAX_ROWS),
        ("accesses", tables.accesses.len(), MAX_ROWS),
        ("resources", tables.resources.len(), MAX_ROWS),
    ];
    for (what, count, limit) in counts {
        if count > limit {
            return Err(FrameRule::TooMany.broken(format!(
                "the frame has {count} {what}: at most {limit} can be planned"
            )));
        }
    }
    Ok(())
}

/// Checks that only render passes are marked for tile shading.
fn check_tile_shading(tables: &Tables) -> Result<(), FrameError> {
    let mut marked = tables.passes.iter().filter(|pass| pass.tile_shading);
    match marked.find(|pass| pass.kind != PassKind::Render) {
        Some(pass) => Err(FrameRule::TileShading.broken(format!(
            "pass `{pass}` is marked for tile shading, which only render passes support",
            pass = pass.name
        ))),
        None => Ok(()),
    }
}

/// Checks that the cost of repeating a pass is within its limit, so that costs can be summed over all strips.
fn check_repeats(tables: &Tables) -> Result<(), FrameError> {
    for pass in &tables.passes {
        if let Some(bytes) = pass.repeat_bytes.filter(|bytes| *bytes > MAX_RESOURCE_BYTES) {
            return Err(FrameRule::Weight.broken(format!(
                "pass `{}` costs {bytes} to repeat: at most {MAX_RESOURCE_BYTES} is allowed",
                pass.name
            )));
        }
    }
    Ok(())
}

/// Checks that names are unique and can be printed on one line, and that there is a pass.
fn check_names(tables: &Tables) -> Result<(), FrameError> {
    fn check<'a>(
        what: &'static str,
        names: impl ExactSizeIterator<Item = &'a String>,
    ) -> Result<(), FrameError> {
        let mut seen = HashSet::with_capacity_and_hasher(names.len(), QuickHash::default());
        for name in names {
            check_name(what, name)?;
            if !seen.insert(name) {
                let plural = if what.ends_with('s') { "es" } else { "s" };
                return Err(FrameRule::DuplicateName.broken(format!(
                    "two {what}{plural} are named `{name}`: give each its own name"
                )));
            }
        }
        Ok(())
    }
    if !tables.name.is_empty() {
        check_name("frame", &tables.name)?;
    }
    if tables.passes.is_empty() {
        return Err(FrameRule::Empty.broken(format!(
            "frame `{frame}` has no passes: declare at least one",
            frame = tables.name
        )));
    }
    check("resource", tables.resources.iter().map(|it| &it.name))?;
    check("pass", tables.passes.iter().map(|it| &it.name))?;
    check("command buffer", tables.command_buffers.iter().map(|it| &it.name))?;
    check("queue", tables.queues.iter().map(|it| &it.name))?;
    check("semaphore", tables.semaphores.iter().map(|it| &it.name))
}

/// Checks that a message that quotes the name stays readable and on one line.
pub(super) fn check_name(what: &'static str, name: &str) -> Result<(), FrameError> {
    let breaks_line = |c: char| c.is_control() || c == '\u{2028}' || c == '\u{2029}';
    // Nearly every name is plain ASCII, and bytes are compared many at a time.
    let is_plain = name.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if !name.is_empty() && name.len() <= MAX_NAME_BYTES && (is_plain || !name.contains(breaks_line)) {
        return Ok(());
    }
    Err(FrameRule::Name.broken(format!(
        "{what} name `{name}` cannot be used: use 1 to {limit} bytes without \
         line breaks or control characters",
        name = shortened(name),
        limit = MAX_NAME_BYTES
    )))
}

/// Computes the extents of images, and checks the declarations of images and buffers: none may be empty or larger than the limit, tile lists must fit in their
/// buffers, and images must be valid in Vulkan.
fn resolve_sizes(tables: &mut Tables) -> Result<(), FrameError> {
    let base = tables.base_extent;
    let mut accepted = valid_usage::AcceptedImages::default();
    for resource in &mut tables.resources {
        let name = &resource.name;
        match &mut resource.kind {
            ResourceKind::Image { desc, extent, .. } => *extent = resolve_image(name, desc, base)?,
            ResourceKind::Buffer { desc, .. } if desc.size == Bytes::ZERO => {
                return Err(zero_count(name, "bytes"));
            }
            ResourceKind::Buffer { desc, .. } if desc.size > MAX_RESOURCE_BYTES => {
                return Err(too_large(name));
            }
            ResourceKind::Buffer { desc, .. } => check_lists(name, desc, base)?,
        }
        valid_usage::check_declared(resource, &mut accepted)?;
    }
    Ok(())
}

/// Checks that neither tiles nor lists are empty, and that a buffer has room for a list for each tile.
fn check_lists(name: &str, desc: &BufferDesc, base: vk::Extent2D) -> Result<(), FrameError> {
    let Some(lists) = desc.lists else { return Ok(()) };
    let TileLists { tile, bytes } = lists;
    if tile == 0 || bytes == Bytes::ZERO {
        return Err(FrameRule::Lists.broken(format!(
            "buffer `{name}` has lists of {bytes} for tiles of {tile} x {tile} pixels: both must be at least 1"
        )));
    }
    if lists.size(base) > desc.size {
        let vk::Extent2D { width, height } = lists.grid(base);
        return Err(FrameRule::Lists.broken(format!(
            "buffer `{name}` of {size} has no room for {width} x {height} lists of {bytes}, one for each {tile} x {tile} pixels: {all} are needed",
            size = desc.size,
            all = lists.size(base)
        )));
    }
    Ok(())
}

/// The image's extent in texels.
fn resolve_image(name: &str, desc: &ImageDesc, base: vk::Extent2D) -> Result<vk::Extent3D, FrameError> {
    if let Extent::Scaled(scale) = desc.extent {
        if !scale.iter().all(|by| by.is_finite() && *by > 0.0) {
            return Err(FrameRule::Scale.broken(format!(
                "image `{name}` is scaled by {} x {}: a scale must be a finite number above 0",
                scale[0], scale[1]
            )));
        }
    }
    if matches!(desc.extent, Extent::Scaled(_)) && (base.width == 0 || base.height == 0) {
        return Err(FrameRule::ZeroExtent.broken(format!(
            "image `{name}` is a fraction of the frame's base extent, which is {} x {}: set the base extent to at least 1 x 1",
            base.width, base.height
        )));
    }
    let extent = desc.extent.resolve(base);
    let vk::Extent3D { width, height, depth } = extent;
    if width == 0 || height == 0 || depth == 0 {
        let resource = name.to_owned();
        return Err(FrameRule::ZeroExtent.broken(format!(
            "image `{resource}` has a zero extent ({width} x {height} x {depth}): every side \
             must be at least 1 texel"
        )));
    }
    if desc.mip_levels == 0 {
        return Err(zero_count(name, "mip levels"));
    }
    if desc.array_layers == 0 {
        return Err(zero_count(name, "array layers"));
    }
    // The size is checked before the format.
    let block_bytes = texel_block(desc.format).map_or(1, |block| block.bytes);
    // Twice for the mip levels, which add a third at most.
    let factors = [
        height,
        depth,
        desc.array_layers,
        desc.samples.as_raw(),
        block_bytes,
        2,
    ];
    let bytes = factors.iter().try_fold(u64::from(width), |product, &factor| {
        product.checked_mul(u64::from(factor))
    });
    match bytes {
        Some(bytes) if bytes <= MAX_RESOURCE_BYTES.0 => Ok(extent),
        _ => Err(too_large(name)),
    }
}

fn zero_count(resource: &str, what: &'static str) -> FrameError {
    FrameRule::ZeroCount.broken(format!(
        "resource `{resource}` has no {what}: it must have at least 1"
    ))
}

fn too_large(resource: &str) -> FrameError {
    FrameRule::TooLarge.broken(format!(
        "resource `{resource}` is larger than {MAX_RESOURCE_BYTES}: make it smaller"
    ))
}

fn check_references(tables: &Tables) -> Result<(), FrameError> {
    let unknown = |what, index: u32, by: String| {
        FrameRule::Unknown.broken(format!(
            "{by} refers to {what} `#{index}`, which the frame does not declare"
        ))
    };
    for access in &tables.accesses {
        let ids = [Some(access.resource), access.resolves];
        for id in ids.into_iter().flatten() {
            if id.index() >= tables.resources.len() {
                let by = format!("pass `{}`", tables.passes[access.pass.index()].name);
                return Err(unknown("resource", id.0, by));
            }
        }
    }
    for (index, submit) in tables.submits.iter().enumerate() {
        if submit.queue.index() >= tables.queues.len() {
            return Err(unknown("queue", submit.queue.0, format!("submit {index}")));
        }
    }
    for (index, batch) in tables.batches.iter().enumerate() {
        for op in batch.waits.iter().chain(&batch.signals) {
            if op.semaphore.index() >= tables.semaphores.len() {
                return Err(unknown("semaphore", op.semaphore.0, format!("batch {index}")));
            }
        }
    }
    Ok(())
}
