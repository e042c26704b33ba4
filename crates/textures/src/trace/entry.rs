//! Entries of a trace: records as a policy sees them.

use crate::ids::TextureId;
use crate::request::Request;

/// A validated record, as a policy sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A texture is released, or its contents are replaced.
    Release(TextureId),
    /// A texture is requested.
    Use(Request),
    /// The frame ends.
    EndFrame,
}
