//! Placement by the storage ids of the graph.

use super::item::{ItemImage, SpaceItem};
use super::memory::MemoryDesc;
use super::objects::{ObjectPool, place_objects};
use super::strategy::{PlacedItems, PlacementStrategy};
use crate::error::{Error, Result};
use crate::units::Bytes;

/// One object per storage id of the graph, as given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageIds;

impl PlacementStrategy for StorageIds {
    fn name(&self) -> &str {
        "storage-ids"
    }

    fn place(&self, items: &[SpaceItem], memories: &[MemoryDesc]) -> Result<PlacedItems> {
        place_objects(items, memories, entries)
    }
}

/// One object per storage id; an item without one gets its own object.
///
/// An object for images has the largest width by the largest height, with one element type; one for buffers has the most bytes, in
/// whole words.
///
/// # Errors
/// Two items with the same id have overlapping lifetimes, or an id mixes images with buffers or element types.
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
            let element = |item: &SpaceItem| item.image.as_ref().map(|image| image.element);
            let with = if element(item) != element(other) {
                "another element type or storage"
            } else if item.overlaps(other) {
                "an overlapping lifetime"
            } else {
                continue;
            };
            let (id, other) = (item.storage_id.unwrap_or(u32::MAX), &other.name);
            let problem = format!("its storage id {id} is shared with a tensor of {with}: `{other}`");
            return Err(Error::tensor(&item.name, problem));
        }
        entries[object].push(index);
        objects.push(object);
    }
    let size = |entry: &Vec<usize>| {
        let image = |index: &usize| items[*index].image.as_ref();
        let of = |side: fn(&ItemImage) -> u64| entry.iter().filter_map(image).map(side).max();
        let sides = of(|image| image.width).zip(of(|image| image.height));
        match (sides, entry.first().and_then(image)) {
            (Some((width, height)), Some(first)) => {
                Bytes(first.element.bytes_of(width * height * 4).unwrap_or(u64::MAX))
            }
            _ => {
                let most = entry.iter().map(|&index| items[index].size.0).max().unwrap_or(0);
                Bytes(most.div_ceil(4) * 4)
            }
        }
    };
    let sizes = entries.iter().map(size).collect();
    Ok(ObjectPool { objects, sizes })
}
