//! Positions in the tables, and the objects that they refer to.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A queue of the device, numbered densely: declared queues with the same number are one `VkQueue`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[repr(transparent)]
pub struct DeviceQueueIndex(pub u32);

/// A position in a table, or none (`u32::MAX`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "Option<u32>", into = "Option<u32>")]
#[repr(transparent)]
pub struct OptionalIndex(u32);

impl OptionalIndex {
    /// No position.
    pub const NONE: OptionalIndex = OptionalIndex(u32::MAX);

    /// The position `index`.
    pub const fn some(index: u32) -> OptionalIndex {
        OptionalIndex(index)
    }

    /// The position, if there is one.
    pub const fn get(self) -> Option<u32> {
        match self {
            OptionalIndex::NONE => None,
            OptionalIndex(index) => Some(index),
        }
    }

    /// Returns true if there is a position.
    pub const fn is_some(self) -> bool {
        self.get().is_some()
    }

    /// Returns true if there is no position.
    pub const fn is_none(self) -> bool {
        self.get().is_none()
    }
}

impl Default for OptionalIndex {
    fn default() -> OptionalIndex {
        OptionalIndex::NONE
    }
}

impl From<Option<u32>> for OptionalIndex {
    fn from(index: Option<u32>) -> OptionalIndex {
        index.map_or(OptionalIndex::NONE, OptionalIndex::some)
    }
}

impl From<OptionalIndex> for Option<u32> {
    fn from(index: OptionalIndex) -> Option<u32> {
        index.get()
    }
}

impl fmt::Debug for OptionalIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

/// An image or a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageOrBuffer {
    /// Row of [`Lowered::images`](super::Lowered::images).
    Image(u32),
    /// Row of [`Lowered::buffers`](super::Lowered::buffers).
    Buffer(u32),
}

/// A table of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum ObjectKind {
    /// [`Lowered::images`](super::Lowered::images).
    Image,
    /// [`Lowered::buffers`](super::Lowered::buffers).
    Buffer,
}

/// An image or a buffer: a table and a row of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "ImageOrBuffer", into = "ImageOrBuffer")]
#[repr(C)]
pub struct ObjectRef {
    /// The table.
    pub kind: ObjectKind,
    /// The row of that table.
    pub row: u32,
}

impl ObjectRef {
    /// The image or buffer, to match on.
    pub const fn get(self) -> ImageOrBuffer {
        match self.kind {
            ObjectKind::Image => ImageOrBuffer::Image(self.row),
            ObjectKind::Buffer => ImageOrBuffer::Buffer(self.row),
        }
    }
}

impl From<ImageOrBuffer> for ObjectRef {
    fn from(object: ImageOrBuffer) -> ObjectRef {
        let (kind, row) = match object {
            ImageOrBuffer::Image(row) => (ObjectKind::Image, row),
            ImageOrBuffer::Buffer(row) => (ObjectKind::Buffer, row),
        };
        ObjectRef { kind, row }
    }
}

impl From<ObjectRef> for ImageOrBuffer {
    fn from(object: ObjectRef) -> ImageOrBuffer {
        object.get()
    }
}

impl PartialEq<ImageOrBuffer> for ObjectRef {
    fn eq(&self, other: &ImageOrBuffer) -> bool {
        self.get() == *other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_is_the_largest_number() {
        assert_eq!(OptionalIndex::from(None), OptionalIndex::some(u32::MAX));
        assert_eq!(OptionalIndex::some(3).get(), Some(3));
        assert_eq!(serde_json::to_string(&OptionalIndex::NONE).unwrap(), "null");
        assert_eq!(serde_json::from_str::<OptionalIndex>("7").unwrap().get(), Some(7));
    }
}
