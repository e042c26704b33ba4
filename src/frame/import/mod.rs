//! Imports loose frame descriptions, which people write by hand from captures or for other engines.
//!
//! ```json
//! {
//!   "name": "a deferred renderer", "base_extent": [1280, 720],
//!   "resources": [
//!     { "name": "albedo", "kind": "image", "format": "RGBA8", "bytes_per_texel": 4, "usage": ["color", "sampled"],
//!       "extent_scale": [1, 1], "tile_eligible": true },
//!     { "name": "back", "kind": "image", "format": "swapchain", "extent": [1280, 720], "imported": true },
//!     { "name": "lights", "kind": "buffer", "size_bytes": 4096 }
//!   ],
//!   "passes": [
//!     { "name": "cull", "queue": "graphics", "type": "compute", "submit": 0, "reads": [],
//!       "writes": [{ "res": "lights", "use": "storage" }] },
//!     { "name": "gbuffer", "queue": "graphics", "type": "raster", "submit": 0,
//!       "reads": [{ "res": "lights", "use": "storage" }], "writes": [{ "res": "albedo", "use": "color" }] },
//!     { "name": "show", "queue": "graphics", "type": "raster", "submit": 0,
//!       "reads": [{ "res": "albedo", "use": "sampled" }], "writes": [{ "res": "back", "use": "color" }] }
//!   ]
//! }
//! ```
//!
//! # Resources
//! - An image has an `extent` (2 or 3 texel counts) or an `extent_scale` (of `base_extent`); a buffer has `size_bytes`.
//!   `layers`, `mips` and `samples` default to 1, and `kind` follows from the size.
//! - `lists` of a buffer, `{ "tile": 16, "bytes": 2048 }`, is the [list](super::TileLists) that it holds for each tile of the screen.
//! - `format` is Vulkan's name, with or without `VK_FORMAT_`, `_PACK32` or the numeric type (then `UNORM`, or the only one there is), or a shorthand
//!   (`RGBA16F`, `R11G11B10F`, `D24S8`), or `swapchain`. If the name is not known, a format is chosen by `bytes_per_texel`, and a note says so.
//! - `usage` adds to the usage that the passes require. `history` makes the resource a [`Persistence::History`](super::Persistence), `imported` makes it
//!   external; otherwise it is transient.
//! - `tile_eligible` is a claim that is passed through unchecked.
//!
//! # Passes
//! - Every run of passes with one `submit` number (the pass's before, if left out) and one `queue` (`graphics`, if left
//!   out) is a submit of one batch of one command buffer. Submits on different queues follow each other strictly, by
//!   semaphores: the format does not say what could run in parallel.
//! - `type` is `raster`, `compute` or `transfer`, or a synonym of these. A `present` pass does not become a pass.
//! - `use` is the kind of use; see [`uses`](self) below. A read and a write of one resource through one use are one
//!   access that reads and writes.
//! - A write without a read keeps nothing, with one exception: an attachment that was used earlier in the frame is drawn
//!   over, so its contents are loaded, and the access still counts once.
//! - A history resource read by its first writing pass, or earlier, is read as the previous frame left it.
//! - A second pass with the same name gets the suffix ` (2)`.
//!
//! [`Frame::times_moved`](super::Frame::times_moved), summed over a pass and a resource, is the number of entries that the file lists.
//!
//! # Uses
//! `color`, `depth` (`depth_read`, `stencil`, `depth_stencil`), `resolve`, `input`, `sampled` (`texture`), `storage`,
//! `uniform`, `texel` (`uniform_texel`), `storage_texel`, `address`, `vertex`, `index`, `indirect`, `transfer_src`
//! (`copy_src`, `blit_src`), `transfer_dst` (`copy_dst`, `blit_dst`, `clear`, `fill`), `transfer` (`copy`, `blit`), whose direction is
//! that of the list, and `present`, which makes no access. The
//! n-th `resolve` of a pass resolves its n-th multisampled color attachment, or its depth attachment if its format is one of
//! depth.

mod document;
mod error;
mod formats;
mod passes;
mod resources;
mod submits;
mod uses;

use std::collections::{BTreeMap, BTreeSet};

use ash::vk;

pub use error::ImportError;

use super::json::{self, Dialect, dialect};
use super::validate::{MAX_NAME_BYTES, check_name};
use super::{Frame, FrameBuilder, FrameError, FrameRule};
use crate::format::texel_block;

/// A frame read from a file, and data of the file that a frame does not store.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedFrame {
    /// The frame.
    pub frame: Frame,
    /// Per resource, its eligibility for tile memory as claimed by the file; `None` without a claim.
    pub claims: Vec<Option<bool>>,
    /// Per resource, the file's bytes per texel; 0 for buffers and if not given.
    pub raw_texel_bytes: Vec<u32>,
    /// Notes about guessed or ignored values.
    pub notes: Vec<String>,
}

/// Imports a loose description; see the [module](self) documentation.
///
/// ```
/// use tileheap::frame::import;
///
/// let imported = import::import(
///     r#"{
///         "name": "two passes", "base_extent": [1280, 720],
///         "resources": [
///             { "name": "albedo", "format": "RGBA8", "extent_scale": [1, 1], "tile_eligible": true },
///             { "name": "back", "format": "swapchain", "extent_scale": [1, 1], "imported": true }
///         ],
///         "passes": [
///             { "name": "gbuffer", "type": "raster", "writes": [{ "res": "albedo", "use": "color" }] },
///             { "name": "lighting", "type": "raster", "reads": [{ "res": "albedo", "use": "sampled" }],
///               "writes": [{ "res": "back", "use": "color" }] }
///         ]
///     }"#,
/// )?;
/// assert_eq!(imported.frame.passes().len(), 2);
/// assert_eq!(imported.claims, [Some(true), None]); // claims are not trusted
/// # Ok::<(), tileheap::Error>(())
/// ```
///
/// # Errors
/// [`Error::Frame`](crate::Error::Frame), one line that names the pass or resource, or the place in the text.
pub fn import(text: &str) -> crate::Result<ImportedFrame> {
    import_at(text, None)
}

/// Imports a loose description with `base_extent` in place of the file's.
///
/// # Errors
/// Same as [`import`].
pub fn import_sized(text: &str, base_extent: vk::Extent2D) -> crate::Result<ImportedFrame> {
    import_at(text, Some(base_extent))
}

/// Reads a native or a loose description, depending on the text; `base_extent`, if given, replaces the file's.
///
/// Text with a field `format` is native. A native frame has no claims, and its texel sizes are those of the formats.
///
/// # Errors
/// Same as [`Frame::from_json`] and [`import`].
pub fn read(text: &str, base_extent: Option<vk::Extent2D>) -> crate::Result<ImportedFrame> {
    if dialect(text).map_err(FrameError::from)? == Dialect::Loose {
        return import_at(text, base_extent);
    }
    let mut frame = Frame::from_json(text)?;
    if let Some(base_extent) = base_extent {
        let mut builder = frame.to_builder();
        builder.set_base_extent(base_extent);
        frame = builder.build()?;
    }
    let texel_bytes =
        |resource: &super::tables::Resource| texel_block(resource.format()).map_or(0, |block| block.bytes);
    Ok(ImportedFrame {
        claims: vec![None; frame.resources().len()],
        raw_texel_bytes: frame.resources().iter().map(texel_bytes).collect(),
        notes: Vec::new(),
        frame,
    })
}

impl Frame {
    /// Reads a native or a loose description, depending on the text; see [`read`](fn@read).
    ///
    /// # Errors
    /// Same as [`Frame::from_json`] and [`import`](fn@import).
    pub fn read(text: &str) -> crate::Result<Frame> {
        Ok(read(text, None)?.frame)
    }
}

fn import_at(text: &str, base_extent: Option<vk::Extent2D>) -> crate::Result<ImportedFrame> {
    let document: document::Document = json::document(text)?;
    let mut notes = unknown_fields(&document);
    let ids = resource_indices(&document)?;
    let passes = passes::interpret(&document, &ids, &mut notes)?;

    let base_extent = base_extent.unwrap_or_else(|| {
        let [width, height] = document.base_extent.unwrap_or_default();
        vk::Extent2D { width, height }
    });
    let mut frame = FrameBuilder::new(printable_name(&document.name), base_extent);
    for (index, resource) in document.resources.iter().enumerate() {
        resources::declare(&mut frame, resource, index, &passes, &mut notes).map_err(FrameError::from)?;
    }
    submits::declare(&mut frame, &document, passes)?;
    Ok(ImportedFrame {
        frame: frame.build()?,
        claims: document.resources.iter().map(|it| it.tile_eligible).collect(),
        raw_texel_bytes: document
            .resources
            .iter()
            .map(|it| it.bytes_per_texel.unwrap_or(0))
            .collect(),
        notes,
    })
}

/// The index of every resource, by name. Fails if two resources share a name, or if messages cannot quote the name of a resource or pass.
fn resource_indices(document: &document::Document) -> Result<BTreeMap<&str, usize>, FrameError> {
    let resources = document.resources.iter().map(|it| ("resource", &it.name));
    let passes = document.passes.iter().map(|it| ("pass", &it.name));
    resources
        .chain(passes)
        .try_for_each(|(what, name)| check_name(what, name))?;
    let mut indices = BTreeMap::new();
    for (index, resource) in document.resources.iter().enumerate() {
        if indices.insert(resource.name.as_str(), index).is_some() {
            return Err(FrameRule::DuplicateName.broken(format!(
                "two resources are named `{name}`: give each its own name",
                name = resource.name
            )));
        }
    }
    Ok(indices)
}

/// Returns a note for each unknown field that is not a comment, so that a misspelt `history` does not go unnoticed.
fn unknown_fields(document: &document::Document) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut notes = Vec::new();
    let mut note = |of: &'static str, fields: &document::Rest| {
        for field in fields.0.keys() {
            if !matches!(field.as_str(), "source" | "note" | "comment" | "description")
                && seen.insert((of, field.clone()))
            {
                notes.push(format!(
                    "the field `{}` of {of} is not known and was ignored",
                    crate::names::shortened(field)
                ));
            }
        }
    };
    note("the frame", &document.rest);
    document
        .resources
        .iter()
        .for_each(|resource| note("resources", &resource.rest));
    for pass in &document.passes {
        note("passes", &pass.rest);
        let entries = pass.reads.iter().chain(&pass.writes);
        entries.for_each(|entry| note("reads and writes", &entry.rest));
    }
    notes
}

/// Turns a title into a valid frame name: removes control characters and line breaks, and truncates it.
fn printable_name(title: &str) -> String {
    let breaks_line = |c: char| c.is_control() || c == '\u{2028}' || c == '\u{2029}';
    let mut name: String = title.chars().filter(|&c| !breaks_line(c)).collect();
    let mut end = name.len().min(MAX_NAME_BYTES);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.truncate(end);
    name
}
