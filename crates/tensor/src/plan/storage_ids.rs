//! Placement by the storage ids of the graph.

use super::item::SpaceItem;
use super::memory::MemoryDesc;
use super::objects::{ObjectPool, place_objects};
use super::strategy::{PlacedItems, PlacementStrategy};
use crate::error::{Error, Result};
use crate::units::Bytes;

/// Places tensors with the same storage id in the same object, as the graph says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageIds;

impl PlacementStrategy for StorageIds {
    fn name(&self) -> &str {
        "storage-ids"
    }

    fn description(&self) -> &str {
        "The storage ids of the input."
    }

    fn place(&self, items: &[SpaceItem], memories: &[MemoryDesc]) -> Result<PlacedItems> {
        place_objects(items, memories, entries)
    }
}

/// One object per storage id; an item without one gets its own object.
///
/// An object is as large as its largest item, in whole words, or as an image of the largest width and the largest height of its images. The latter is
/// the rule of TVM's older pool, which shares only among images of one scope and type; if any object is shared otherwise, all follow TVM's later pool
/// of bytes (#17571).
///
/// # Errors
/// Two items with the same id have overlapping lifetimes.
///
/// Source: TVM's [RFC](crate#sources), "Graph runtime"; TVM's graph executor.
fn entries(items: &[&SpaceItem]) -> Result<ObjectPool> {
    let mut ids: Vec<u32> = Vec::new();
    let mut objects = Vec::with_capacity(items.len());
    let mut entries: Vec<Vec<usize>> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let known = item
            .storage_id
            .and_then(|id| ids.iter().position(|&other| other == id));
        let object = known.unwrap_or_else(|| {
            // Not a valid id: TVM's ids are counted from 0.
            ids.push(item.storage_id.unwrap_or(u32::MAX));
            entries.push(Vec::new());
            entries.len() - 1
        });
        for &other in &entries[object] {
            let other: &SpaceItem = items[other];
            if item.overlaps(other) {
                let (id, other) = (item.storage_id.unwrap_or(u32::MAX), &other.name);
                let problem =
                    format!("it has the storage id {id} of `{other}`, whose lifetime overlaps its own");
                return Err(Error::tensor(&item.name, problem));
            }
        }
        entries[object].push(index);
        objects.push(object);
    }
    // The older pool shares only textures of one scope and type, or buffers.
    let kind = |&index: &usize| {
        items[index]
            .image
            .as_ref()
            .map(|image| (image.element, &image.scope))
    };
    let is_byte_pool = entries
        .iter()
        .any(|entry| entry.windows(2).any(|pair| kind(&pair[0]) != kind(&pair[1])));
    let size = |entry: &Vec<usize>| {
        let most = entry.iter().map(|&index| items[index].size.0).max().unwrap_or(0);
        let heights = entry.iter().filter_map(|&index| items[index].image.as_ref());
        let Some(highest) = heights
            .map(|image| image.height.max(1))
            .max()
            .filter(|_| !is_byte_pool)
        else {
            return Bytes(most.div_ceil(4).saturating_mul(4));
        };
        // Rows have the pitch that the device needs.
        let row = |&index: &usize| {
            let height = items[index].image.as_ref().map_or(1, |image| image.height.max(1));
            items[index].size.0.div_ceil(height)
        };
        let longest = entry.iter().map(row).max().unwrap_or(0);
        Bytes(longest.saturating_mul(highest).max(most))
    };
    let sizes = entries.iter().map(size).collect();
    Ok(ObjectPool { objects, sizes })
}
