//! The native JSON form of a frame: nested as it is submitted, with names in place of ids, in Vulkan's terms.
//!
//! ```json
//! {
//!   "format": "tileheap-frame",
//!   "version": 2,
//!   "name": "two passes",
//!   "base_extent": [1280, 720],
//!   "queues": [{ "name": "graphics", "capabilities": ["VK_QUEUE_GRAPHICS_BIT"] }],
//!   "resources": [
//!     { "name": "albedo", "image": { "format": "VK_FORMAT_R8G8B8A8_UNORM", "scale": [1.0, 1.0] } },
//!     { "name": "lights", "buffer": { "size": 4096 } }
//!   ],
//!   "submits": [{ "queue": "graphics", "batches": [{ "command_buffers": [{ "name": "scene", "passes": [
//!     { "name": "cull", "kind": "compute", "accesses": [
//!       { "resource": "lights", "kind": "storage_buffer", "writes": true, "load_op": "dont_care" }
//!     ] },
//!     { "name": "gbuffer", "kind": "render", "accesses": [
//!       { "resource": "albedo", "kind": "color_attachment", "writes": true, "load_op": { "clear": { "float": [0, 0, 0, 1] } } },
//!       { "resource": "lights", "kind": "storage_buffer", "reads": true, "stages": ["VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT"] }
//!     ] }
//!   ] }] }] }]
//! }
//! ```
//! An access may name a part of an image, `"part": { "levels": [1, 2], "layers": [0, 6], "aspects": ["VK_IMAGE_ASPECT_DEPTH_BIT"] }`, whose fields
//! default to everything, and a view of another type or format, `"view": { "view_type": "VK_IMAGE_VIEW_TYPE_2D_ARRAY" }`; a render pass a
//! `"render_area": [x, y, width, height]` and a `"view_mask"`. A read may state its `"reach"` in texels of the resource, or `"anywhere"`, and a pass
//! `"repeat_bytes"`, the cost of one more execution: it can then run strip by strip. For a pass that frames may skip, `"optional"` gives the state of
//! its outputs: `"kept"` or `"lost"`.
//!
//! A buffer that holds a list for each tile of the screen says so: `"buffer": { "size": 7372800, "lists": { "tile": 16, "bytes": 2048 } }`
//! ([`TileLists`](super::TileLists)).
//!
//! If the levels of an image are [separate images](super::ImageDesc::separate_levels), a written document contains each of them, and names the image that it
//! is a level of: `"level_of": { "image": "bloom", "level": 1 }`. Both have `"separate_levels": true`; the extent of the level is derived from that of the
//! image and overrides the document's. Documents written by hand declare the image with `"mip_levels"` instead.
//!
//! An object `capture`, which the capture layer adds, is not part of the frame and is skipped.
//!
//! Fields that are left out have the defaults of [`ImageDesc::new`](super::ImageDesc::new), [`Persistence::Transient`](super::Persistence),
//! [`LoadOp::Load`](super::LoadOp::Load) and [`AccessKind::default_stages`](super::AccessKind::default_stages); misspelt fields are errors that name
//! their path. Reading back what was written gives an equal frame.

mod document;
mod error;
mod forms;
mod image;
mod read;
#[cfg(test)]
pub(in crate::frame) mod schema;
#[cfg(test)]
mod schema_reference;
#[cfg(test)]
mod schema_tests;
mod write;

pub use document::{FORMAT, VERSION};
pub use error::JsonError;
pub(super) use image::ImageForm;
#[cfg(feature = "import")]
pub(super) use read::{Dialect, dialect, document};
pub use tileheap_json::JsonSyntaxError;

use super::Frame;

impl Frame {
    /// Reads the native JSON form.
    ///
    /// ```
    /// use ash::vk;
    /// use tileheap::frame::{LoadOp, Frame, FrameBuilder, ImageDesc};
    ///
    /// let extent = vk::Extent2D { width: 1280, height: 720 };
    /// let mut frame = FrameBuilder::new("one pass", extent);
    /// let lit = frame.image("lit", ImageDesc::new(vk::Format::R16G16B16A16_SFLOAT, extent));
    /// let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    /// let submit = frame.submit(queue);
    /// let batch = frame.batch(submit);
    /// let commands = frame.command_buffer(batch, "scene");
    /// frame.render_pass(commands, "draw").color(lit, LoadOp::DontCare);
    /// let frame = frame.build()?;
    /// assert_eq!(Frame::from_json(&frame.to_json())?, frame);
    ///
    /// let error = Frame::from_json(r#"{ "format": "tileheap-frame", "version": 2, "nmae": "f" }"#).unwrap_err();
    /// assert!(error.to_string().contains("nmae"));
    /// # Ok::<(), tileheap::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`FrameError::Json`](super::FrameError::Json) with line, column and path if the text does not have this form, any other
    /// [`FrameError`](super::FrameError) if the frame that it describes is impossible. Every message is one line.
    pub fn from_json(text: &str) -> crate::Result<Frame> {
        read::frame(text)
    }

    /// Writes the native JSON form, pretty-printed, with a trailing line break.
    pub fn to_json(&self) -> String {
        tileheap_json::write(&write::document(self))
    }
}
