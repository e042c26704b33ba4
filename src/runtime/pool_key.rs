//! Keys by which blocks, images and buffers are found in the pool.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use ash::vk;

use crate::frame::ResourceId;
use crate::lower::Lowered;
use crate::lower::tables::objects::{BufferRow, ImageRow, MemoryBinding, Sharing};
use crate::measure::ResourceRequirements;
use crate::quick_hash::QuickHash;
use crate::units::{Bytes, Run};

/// The purpose of a block.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum BlockKey {
    /// A block that holds resources at offsets: its memory type and, for a separate memory object, its exact size and whether it allows device addresses.
    Shared(u32, Option<(Bytes, bool)>),
    /// A block for one resource: the properties of the block, and those of the resource.
    Own(Label, ResourceKey),
}

/// The properties of a block for one resource, in addition to those of the resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Label {
    pub(super) memory_type: u32,
    pub(super) lazy: bool,
    /// For a history, its name and the index of the copy.
    pub(super) history: Option<(String, u8)>,
}

impl Label {
    /// The same label for a block that does not hold a history.
    pub(super) fn without_history(&self) -> Label {
        Label {
            history: None,
            ..*self
        }
    }
}

/// The parameters of an image or a buffer, whatever resource it is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    Image(ImageRow),
    Buffer(BufferRow),
}

impl Hash for Row {
    /// Hashes only the parameters in which the rows of a frame differ most.
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Row::Image(row) => {
                let ImageRow {
                    extent,
                    format,
                    usage,
                    ..
                } = row;
                state.write_u64(u64::from(extent.width) << 32 | u64::from(extent.height));
                state.write_u64(u64::from(usage.as_raw()) << 32 | u64::from(format.as_raw() as u32));
            }
            Row::Buffer(row) => {
                state.write_u64(row.size.0);
                state.write_u64(u64::from(row.usage.as_raw()));
            }
        }
    }
}

/// The requirements of images and buffers, in ordinary memory and in tile memory; the flag is true for histories.
pub(super) type Measured = HashMap<(Row, bool), ResourceRequirements, QuickHash>;

impl From<ImageRow> for Row {
    fn from(row: ImageRow) -> Row {
        Row::Image(ImageRow {
            resource: ResourceId(0),
            view_formats: Run::default(),
            sharing: Sharing::default(),
            binding: MemoryBinding::IMPORTED,
            ..row
        })
    }
}

impl From<BufferRow> for Row {
    fn from(row: BufferRow) -> Row {
        Row::Buffer(BufferRow {
            resource: ResourceId(0),
            sharing: Sharing::default(),
            binding: MemoryBinding::IMPORTED,
            ..row
        })
    }
}

/// All creation parameters of an image or a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ResourceKey {
    pub(super) row: Row,
    pub(super) formats: Vec<vk::Format>,
    pub(super) families: Vec<u32>,
}

impl ResourceKey {
    pub(super) fn image(row: &ImageRow, tables: &Lowered, families: &[u32]) -> ResourceKey {
        ResourceKey {
            row: Row::from(*row),
            formats: row.view_formats.of(&tables.formats).to_vec(),
            families: families.to_vec(),
        }
    }

    pub(super) fn buffer(row: &BufferRow, families: &[u32]) -> ResourceKey {
        ResourceKey {
            row: Row::from(*row),
            formats: Vec::new(),
            families: families.to_vec(),
        }
    }

    /// The number of the description's hook.
    pub(super) fn hook(&self) -> u32 {
        match self.row {
            Row::Image(row) => row.hook,
            Row::Buffer(row) => row.hook,
        }
    }

    /// Returns true if the parameters equal those of `other`, except for additional usages and families.
    pub(super) fn covers(&self, other: &ResourceKey) -> bool {
        let row = match (self.row, other.row) {
            (Row::Image(one), Row::Image(other)) => {
                let usage = one.usage;
                ImageRow { usage, ..other } == one && usage.contains(other.usage)
            }
            (Row::Buffer(one), Row::Buffer(other)) => {
                let usage = one.usage;
                BufferRow { usage, ..other } == one && usage.contains(other.usage)
            }
            _ => false,
        };
        let known = |family| self.families.contains(family);
        row && self.formats == other.formats && other.families.iter().all(known)
    }

    pub(super) fn is_concurrent(&self) -> bool {
        !self.families.is_empty()
    }
}
