//! The pool of a device: blocks of memory, and what is bound to them, found again by what they are.
//!
//! ```text
//! block        type and size       ◄─ a memory object of a plan: any block of its type that is large enough
//!   resident   offset, parameters  ◄─ a placement: the image or buffer that was bound there before, with its views
//! ```
//! A [`Borrower`] (a bound frame, or all that a [`DynamicFrame`](super::DynamicFrame) binds) has its blocks to itself, and its bound frames run
//! one after the other. Each block knows who used it last, and how far on each queue: whoever comes next waits for that on the
//! device, never on the host. What nobody borrows is given back after a number of frames, or when memory is short.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use ash::vk;

use super::memory::{MemoryBlock, MemoryRequirements};
use super::pool_key::{BlockKey, Label, ResourceKey};
use super::pool_passes::PooledPasses;
use crate::lower::ContentState;
use crate::lower::tables::objects::ViewRow;
use crate::units::Bytes;

/// Values of timelines, each with the number of its queue.
pub(super) type Ends = Vec<(usize, u64)>;

/// The pool of a device.
#[derive(Default)]
pub(super) struct Pool {
    contents: Mutex<PoolContents>,
    /// Per queue of the device, its timeline; none on devices without them, where what is given back is not in use any more.
    pub(super) timelines: OnceLock<Vec<vk::Semaphore>>,
}

/// What a pool holds.
#[derive(Default)]
pub(super) struct PoolContents {
    pub(super) blocks: Vec<Option<Block>>,
    pub(super) residents: Vec<Option<PooledResource>>,
    /// Per block and offset, the residents that begin there.
    pub(super) at: HashMap<(u32, u64), Vec<u32>>,
    pub(super) passes: PooledPasses,
    /// Frames submitted on the device.
    pub(super) frames: u64,
    /// Blocks, images, buffers and views created so far.
    pub(super) created: u64,
    /// The last number given to a borrower or a bound frame.
    pub(super) number: u64,
    /// The most bytes that blocks may have.
    pub(super) limit: Option<Bytes>,
    /// For [`PoolContents::trim`].
    pub(super) values: Vec<u64>,
}

/// For whom blocks are borrowed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Borrower {
    pub(super) number: u64,
    /// Whether it binds one plan after the other: blocks are made a little larger, and histories are kept for the next plan.
    pub(super) dynamic: bool,
}

/// What a bound frame has borrowed.
#[derive(Default)]
pub(super) struct Lease {
    /// The number of the bound frame.
    pub(super) number: u64,
    pub(super) blocks: Vec<u32>,
    pub(super) residents: Vec<u32>,
}

/// A block of memory.
pub(super) struct Block {
    pub(super) memory: MemoryBlock,
    pub(super) key: BlockKey,
    pub(super) bytes: Bytes,
    pub(super) borrower: Option<u64>,
    pub(super) references: u32,
    /// The lease that took it last.
    pub(super) lease: u64,
    /// A larger one of its kind has taken its place.
    pub(super) superseded: bool,
    /// Frames submitted when it was given back.
    pub(super) idle_since: u64,
    /// The bound frame that used it last; 0 for none.
    pub(super) user: u64,
    /// How far that one's queues have to come.
    pub(super) ends: Ends,
    /// What a history holds.
    pub(super) contents: Vec<ContentState>,
    /// Frames submitted when it was written, that one included; 0 for never.
    pub(super) written: u64,
}

/// An image or a buffer in a block.
pub(super) struct PooledResource {
    pub(super) block: u32,
    pub(super) offset: Bytes,
    pub(super) key: ResourceKey,
    pub(super) answer: MemoryRequirements,
    pub(super) handle: Handle,
    pub(super) address: vk::DeviceAddress,
    pub(super) views: Vec<(ViewRow, vk::ImageView)>,
    pub(super) references: u32,
    /// The lease that took it last.
    pub(super) lease: u64,
    pub(super) idle_since: u64,
    /// How far queues had to come when it was given back.
    pub(super) ends: Ends,
}

/// An image or a buffer; the other is null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Handle {
    pub(super) image: vk::Image,
    pub(super) buffer: vk::Buffer,
}

impl Pool {
    pub(super) fn new(limit: Option<Bytes>) -> Pool {
        let pool = Pool::default();
        pool.lock().limit = limit;
        pool
    }

    /// Says what counts the batches of each queue.
    pub(super) fn count_by(&self, timelines: Vec<vk::Semaphore>) {
        let _ = self.timelines.set(timelines);
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, PoolContents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PoolContents {
    /// A number for a borrower or a bound frame, from 1 on.
    pub(super) fn next_number(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    pub(super) fn block(&self, index: u32) -> &Block {
        self.blocks[index as usize]
            .as_ref()
            .expect("a borrowed block stays")
    }

    pub(super) fn block_mut(&mut self, index: u32) -> &mut Block {
        self.blocks[index as usize]
            .as_mut()
            .expect("a borrowed block stays")
    }

    pub(super) fn resident_mut(&mut self, index: u32) -> &mut PooledResource {
        self.residents[index as usize]
            .as_mut()
            .expect("a borrowed resident stays")
    }

    /// Bytes of all blocks, or of those that a borrower has; what is in tile memory is in nobody's way.
    pub(super) fn bytes(&self, borrower: Option<u64>) -> Bytes {
        let ordinary = |block: &&Block| !matches!(block.key, BlockKey::Shared(_, Some(_)));
        let blocks = self.blocks.iter().flatten().filter(ordinary);
        let counted = blocks.filter(|block| borrower.is_none() || block.borrower == borrower);
        counted.map(|block| block.bytes).sum()
    }

    /// Borrows the block that was made for such a resource, and the resource with it.
    pub(super) fn borrow_own(
        &mut self,
        borrower: Borrower,
        wanted: (&Label, &ResourceKey),
        lease: &mut Lease,
    ) -> Option<(u32, (Handle, vk::DeviceAddress))> {
        let (label, resource) = wanted;
        let history = label.history.is_some();
        let mut found = None;
        for (index, block) in (0..).zip(&self.blocks) {
            let Some(block) = block else { continue };
            let BlockKey::Own(own, made) = &block.key else {
                continue;
            };
            if !block.is_free_for(borrower) || block.lease == lease.number || !own.is_like(label) {
                continue;
            }
            let same = block.borrower == Some(borrower.number) && own.history == label.history;
            let fits = if history && same {
                made.covers(resource)
            } else {
                made == resource
            };
            // A history's contents first; else one of nobody's.
            if fits && (same || (block.borrower.is_none() && found.is_none())) {
                found = Some(index);
                if same {
                    break;
                }
            }
        }
        let index = found?;
        let borrowed = self.block(index).borrower == Some(borrower.number);
        let block = self.block_mut(index);
        if !borrowed {
            block.contents.clear();
            block.written = 0;
            if let BlockKey::Own(own, _) = &mut block.key {
                own.history.clone_from(&label.history);
            }
        }
        self.lend(index, borrower, lease);
        let resident = self.at.get(&(index, 0))?.first().copied()?;
        Some((index, self.lend_resident(resident, lease)))
    }

    /// The image or buffer that is bound at an offset of a borrowed block, and what it requires.
    pub(super) fn find_resident(
        &self,
        block: u32,
        offset: Bytes,
        resource: &ResourceKey,
        lease: &Lease,
    ) -> Option<(u32, Handle, MemoryRequirements)> {
        self.at.get(&(block, offset.0))?.iter().find_map(|&index| {
            let resident = self.residents[index as usize].as_ref()?;
            let found = (index, resident.handle, resident.answer);
            // Two rows of one plan do not share an image, though their bytes are the same.
            (resident.lease != lease.number && resident.key == *resource).then_some(found)
        })
    }

    pub(super) fn lend(&mut self, index: u32, borrower: Borrower, lease: &mut Lease) {
        let block = self.block_mut(index);
        block.borrower = Some(borrower.number);
        block.references += 1;
        block.lease = lease.number;
        lease.blocks.push(index);
    }

    /// Borrows an image or buffer of a borrowed block.
    pub(super) fn lend_resident(&mut self, index: u32, lease: &mut Lease) -> (Handle, vk::DeviceAddress) {
        let resident = self.resident_mut(index);
        resident.references += 1;
        resident.lease = lease.number;
        lease.residents.push(index);
        (resident.handle, resident.address)
    }

    /// Takes over an image or a buffer that was bound to a borrowed block.
    pub(super) fn insert_resident(
        &mut self,
        (block, offset): (u32, Bytes),
        (key, answer): (ResourceKey, MemoryRequirements),
        (handle, address): (Handle, vk::DeviceAddress),
        lease: &mut Lease,
    ) {
        let resident = PooledResource {
            block,
            offset,
            key,
            answer,
            handle,
            address,
            views: Vec::new(),
            references: 1,
            lease: lease.number,
            idle_since: 0,
            ends: Ends::new(),
        };
        self.created += 1;
        let index = insert(&mut self.residents, resident);
        self.at.entry((block, offset.0)).or_default().push(index);
        lease.residents.push(index);
    }

    /// The memory object of a block, and the offset of its first byte there.
    pub(super) fn location(&self, block: u32) -> (vk::DeviceMemory, vk::DeviceSize) {
        self.block(block).memory.location()
    }

    /// Whether another than `user` used a borrowed block last; and what it has to wait for on queues of which `is_own` is false.
    pub(super) fn taken_over(
        &self,
        lease: &Lease,
        user: u64,
        is_own: impl Fn(usize) -> bool,
        waits: &mut Ends,
    ) -> bool {
        waits.clear();
        let mut taken = false;
        for &index in &lease.blocks {
            let block = self.block(index);
            if block.user == user || block.user == 0 {
                continue;
            }
            taken = true;
            for &(queue, value) in block.ends.iter().filter(|(queue, _)| !is_own(*queue)) {
                match waits.iter_mut().find(|(other, _)| *other == queue) {
                    Some((_, known)) => *known = value.max(*known),
                    None => waits.push((queue, value)),
                }
            }
        }
        taken
    }

    /// A frame of `user` was submitted.
    pub(super) fn used(&mut self, lease: &Lease, user: u64, ends: &[(usize, u64)]) {
        self.frames += 1;
        for &index in &lease.blocks {
            let block = self.block_mut(index);
            block.user = user;
            block.ends.clear();
            block.ends.extend_from_slice(ends);
        }
    }

    /// What the history in a borrowed block holds.
    pub(super) fn contents(&self, block: u32) -> &[ContentState] {
        &self.block(block).contents
    }

    /// The frame that wrote it last; 0 for none.
    pub(super) fn written(&self, block: u32) -> u64 {
        self.block(block).written
    }

    /// What the frame that was submitted last has left in it.
    pub(super) fn keep_contents(
        &mut self,
        index: u32,
        written: bool,
        contents: impl Iterator<Item = ContentState>,
    ) {
        let frames = self.frames;
        let block = self.block_mut(index);
        let shared = block.is_concurrent();
        if written {
            block.written = frames;
        }
        block.contents.clear();
        block.contents.extend(contents.map(|one| ContentState {
            family: one.family.get().filter(|_| !shared).into(),
            ..one
        }));
    }

    /// Whether a larger block has taken the place of one that is borrowed.
    pub(super) fn is_superseded(&self, lease: &Lease) -> bool {
        lease.blocks.iter().any(|&index| self.block(index).superseded)
    }

    /// Gives everything back. Without timelines, nothing of it may be in use on the device.
    pub(super) fn give_back(&mut self, lease: &mut Lease) {
        let frames = self.frames;
        for index in lease.residents.drain(..) {
            let block = self.resident_mut(index).block;
            let mut ends = std::mem::take(&mut self.resident_mut(index).ends);
            ends.clone_from(&self.block(block).ends);
            let resident = self.resident_mut(index);
            resident.references -= 1;
            (resident.idle_since, resident.ends) = (frames, ends);
        }
        for index in lease.blocks.drain(..) {
            let block = self.block_mut(index);
            block.references -= 1;
            block.idle_since = frames;
            let keeps = matches!(&block.key, BlockKey::Own(label, _) if label.history.is_some());
            if block.references == 0 && !keeps {
                block.borrower = None;
            }
        }
    }

    /// A borrower is gone: its histories are nobody's.
    pub(super) fn forget(&mut self, borrower: u64) {
        for block in self
            .blocks
            .iter_mut()
            .flatten()
            .filter(|one| one.borrower == Some(borrower))
        {
            if let BlockKey::Own(label, _) = &mut block.key {
                label.history = None;
            }
            if block.references == 0 {
                block.borrower = None;
            }
        }
    }
}

impl Block {
    pub(super) fn is_free_for(&self, borrower: Borrower) -> bool {
        self.borrower.is_none_or(|other| other == borrower.number)
    }

    /// Whether the queue families of what is in it share it.
    fn is_concurrent(&self) -> bool {
        matches!(&self.key, BlockKey::Own(_, resource) if resource.is_concurrent())
    }
}

/// Puts a value into the first empty place; gives that.
pub(super) fn insert<T>(places: &mut Vec<Option<T>>, value: T) -> u32 {
    let empty = places.iter().position(Option::is_none);
    let index = empty.unwrap_or(places.len());
    if empty.is_none() {
        places.push(None);
    }
    places[index] = Some(value);
    index as u32
}
