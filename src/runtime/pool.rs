//! The pool of a device: blocks of memory and what is bound to them, looked up by their parameters.
//!
//! ```text
//! block        type and size       ◄─ a memory object of a plan: any block of its type that is large enough
//!   resident   offset, parameters  ◄─ a placement: the image or buffer that was bound there before, with its views
//! ```
//! A [`Borrower`] (a bound frame, or all that a [`DynamicFrame`](super::DynamicFrame) binds) has exclusive use of its blocks, and its bound
//! frames run one after another. Each block records its last user and the timeline value of that use on each queue: the block's next user
//! waits for those values on the device, never on the host. What is not borrowed is freed after a number of frames, or when memory is
//! short.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use ash::vk;

use super::memory::MemoryBlock;
use super::pool_key::{BlockKey, Label, ResourceKey};
use super::pool_passes::PooledPasses;
use crate::lower::ContentState;
use crate::lower::tables::objects::ViewRow;
use crate::measure::MemoryRequirements;
use crate::units::Bytes;

/// Values of timelines, each with the number of its queue.
pub(super) type Ends = Vec<(usize, u64)>;

/// The pool of a device.
#[derive(Default)]
pub(super) struct Pool {
    contents: Mutex<PoolContents>,
    /// Per queue of the device, its timeline; none on devices without them, where what is given back is no longer in use.
    pub(super) timelines: OnceLock<Vec<vk::Semaphore>>,
}

/// The contents of a pool.
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
    /// The maximum number of bytes that blocks may have.
    pub(super) limit: Option<Bytes>,
    /// Scratch space of [`PoolContents::trim`].
    pub(super) values: Vec<u64>,
}

/// The user that blocks are borrowed for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Borrower {
    pub(super) number: u64,
}

/// The blocks and residents that a bound frame has borrowed.
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
    /// Whether a larger one of its kind has replaced it.
    pub(super) superseded: bool,
    /// Frames submitted when it was given back.
    pub(super) idle_since: u64,
    /// The bound frame that used it last; 0 for none.
    pub(super) user: u64,
    /// The timeline values at which that use is complete.
    pub(super) ends: Ends,
    /// The state of a history's contents.
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
    /// The timeline values that queues had to reach when it was given back.
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

    /// Sets the timelines that count the batches of each queue.
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

    /// Bytes of all blocks, or of one borrower's; those in tile memory do not count, since they do not compete for memory.
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
            // Prefer the block with the history's contents, otherwise one that is not borrowed.
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

    /// Takes ownership of an image or a buffer that was bound to a borrowed block.
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

    /// Whether a user other than `user` used a borrowed block last; `waits` receives what to wait for on queues for which `is_own` is
    /// false.
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

    /// Records that a frame of `user` was submitted.
    pub(super) fn used(&mut self, lease: &Lease, user: u64, ends: &[(usize, u64)]) {
        self.frames += 1;
        for &index in &lease.blocks {
            let block = self.block_mut(index);
            block.user = user;
            block.ends.clear();
            block.ends.extend_from_slice(ends);
        }
    }

    /// The contents of the history in a borrowed block.
    pub(super) fn contents(&self, block: u32) -> &[ContentState] {
        &self.block(block).contents
    }

    /// The frame that last wrote it; 0 for none.
    pub(super) fn written(&self, block: u32) -> u64 {
        self.block(block).written
    }

    /// Keeps what the last submitted frame has left in it.
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

    /// Whether a larger block has replaced a borrowed one.
    pub(super) fn is_superseded(&self, lease: &Lease) -> bool {
        lease.blocks.iter().any(|&index| self.block(index).superseded)
    }

    /// Gives everything back. Without timelines, none of it may be in use on the device.
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

    /// Removes a borrower: its histories no longer belong to anyone.
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

    /// Whether several queue families share the resource in it.
    fn is_concurrent(&self) -> bool {
        matches!(&self.key, BlockKey::Own(_, resource) if resource.is_concurrent())
    }
}

/// Puts a value into the first empty place; returns the index.
pub(super) fn insert<T>(places: &mut Vec<Option<T>>, value: T) -> u32 {
    let empty = places.iter().position(Option::is_none);
    let index = empty.unwrap_or(places.len());
    if empty.is_none() {
        places.push(None);
    }
    places[index] = Some(value);
    index as u32
}
