//! What a policy sees of a trace.

use crate::ids::TextureId;
use crate::request::Request;

/// A record that makes sense where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A texture's contents are gone: it is released or replaced.
    Release(TextureId),
    /// A texture is used.
    Use(Request),
    /// The frame ends.
    EndFrame,
}
