//! The pool of a device: blocks of memory and the objects bound to them, looked up by their parameters.
//!
//! ```text
//! block        type and size       ◄─ a memory object of a plan: any block of its type that is large enough
//!   resident   offset, parameters  ◄─ a placement: the image or buffer that was bound there before, with its views
//!
//!              under the lock                          without it
//! bind         find, and lend what is found ────────►
//!              reserve the bytes of a new block ────►  allocate, create, bind
//!              add the block or resident, lent  ◄────  (on failure: free it, then release the bytes)
//! trim         remove what is not borrowed ──────►  destroy, free
//!              release the bytes                ◄────
//! ```
//! A [`Borrower`] (a bound frame, or all that a [`DynamicFrame`](super::DynamicFrame) binds) has exclusive use of its blocks, and its bound frames
//! run one after another. Each block records its last user and the timeline value of that use on each queue: the block's next user waits for those
//! values on the device, never on the host. Blocks and residents that are not borrowed are freed after a number of frames, or when memory is short.
//!
//! # Threads
//! The lock is not held while the driver or the caller's allocator creates, allocates, binds, destroys or frees anything. (Another one,
//! [`Pool::freeing`], is held while memory is freed.) These rules make that safe:
//! - Any thread may remove blocks and residents without references. A block or resident that is found is therefore lent before the lock is released,
//!   and a new one is lent when it is added.
//! - Only the borrower of a block adds residents and views to it, and a borrower binds on one thread at a time. So no other thread can add
//!   the same resident or view between the lookup and the insertion.
//! - A block for one resource is added together with that resource, and both are removed together.
//! - Render passes, and framebuffers without attachments, have no borrower: when two threads have created the same one, the one that is
//!   added first is kept.
//! - Bytes are [reserved](super::pool_budget) before they are allocated and released after they are freed.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use ash::vk;

use super::block_residents::BlockResidents;
use super::memory::MemoryBlock;
use super::pool_budget::Budget;
use super::pool_index::{BlockIndex, IndexedBlock};
use super::pool_key::{BlockKey, ResourceKey};
use super::pool_passes::PooledPasses;
use super::slab::Slab;
use crate::lower::ContentState;
use crate::lower::tables::objects::ViewRow;
use crate::measure::MemoryRequirements;
use crate::units::Bytes;

/// Values of timeline semaphores, each with the number of its queue.
pub(super) type TimelineValues = Vec<(usize, u64)>;

/// The pool of a device.
#[derive(Default)]
pub(super) struct Pool {
    contents: Mutex<PoolContents>,
    /// Held while a thread frees memory, so that other threads that need memory wait for it. Locked before `contents`.
    freeing: Mutex<()>,
    /// Per queue of the device, its timeline; unset on devices without timelines, where everything that is returned is no longer in use.
    pub(super) timelines: OnceLock<Vec<vk::Semaphore>>,
}

/// The contents of a pool.
#[derive(Default)]
pub(super) struct PoolContents {
    pub(super) blocks: Slab<Block>,
    /// An index of the blocks by the properties that lookups use.
    pub(super) index: BlockIndex,
    pub(super) residents: Slab<PooledResource>,
    pub(super) passes: PooledPasses,
    pub(super) budget: Budget,
    /// Number of frames submitted on the device.
    pub(super) frames: u64,
    /// Number of blocks, images, buffers and views created so far.
    pub(super) created: u64,
    /// The last number assigned to a borrower or a bound frame.
    pub(super) number: u64,
    /// Scratch space of [`Pool::trim`].
    pub(super) values: Vec<u64>,
}

/// The series of frames for which blocks are borrowed.
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
    /// The debug name of the block's memory object; empty without debug names, and for blocks of the allocator.
    pub(super) name: String,
    /// `true` if its bytes count toward the budget; false for tile memory, which is not allocated from ordinary memory.
    pub(super) in_budget: bool,
    /// The images and buffers in the block.
    pub(super) residents: BlockResidents,
    pub(super) borrower: Option<u64>,
    pub(super) references: u32,
    /// The number of the lease that took the block last.
    pub(super) lease: u64,
    /// True if a larger block with the same key has replaced it.
    pub(super) superseded: bool,
    /// The number of frames submitted when the block was returned.
    pub(super) idle_since: u64,
    /// The number of the bound frame that used it last; 0 for none.
    pub(super) last_user: u64,
    /// The timeline values at which the block's last use is complete.
    pub(super) last_use_values: TimelineValues,
    /// The state of a history's contents.
    pub(super) contents: Vec<ContentState>,
    /// The number of frames submitted when the history was last written, including the frame that wrote it; 0 for never.
    pub(super) written: u64,
}

/// An image or a buffer in a block.
pub(super) struct PooledResource {
    pub(super) block: u32,
    pub(super) offset: Bytes,
    pub(super) key: ResourceKey,
    pub(super) requirements: MemoryRequirements,
    pub(super) handle: Handle,
    pub(super) address: vk::DeviceAddress,
    pub(super) views: Vec<(ViewRow, vk::ImageView)>,
    /// The resource's debug name, which its views share; empty without debug names.
    pub(super) name: String,
    pub(super) references: u32,
    /// The number of the lease that took the resource last.
    pub(super) lease: u64,
    pub(super) idle_since: u64,
    /// The timeline values at which the last use before the resource was returned is complete.
    pub(super) last_use_values: TimelineValues,
}

/// A borrowed image or buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct LentResource {
    pub(super) handle: Handle,
    /// The buffer's device address; 0 if it is not used.
    pub(super) address: vk::DeviceAddress,
    pub(super) requirements: MemoryRequirements,
}

/// The handle of an image or of a buffer; the other handle is null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Handle {
    pub(super) image: vk::Image,
    pub(super) buffer: vk::Buffer,
}

impl Pool {
    pub(super) fn new(limit: Option<Bytes>) -> Pool {
        Pool {
            contents: Mutex::new(PoolContents {
                budget: Budget::new(limit),
                ..PoolContents::default()
            }),
            ..Pool::default()
        }
    }

    /// Sets the timelines that count the batches of each queue.
    pub(super) fn count_by(&self, timelines: Vec<vk::Semaphore>) {
        let _ = self.timelines.set(timelines);
    }

    pub(super) fn freeing(&self) -> MutexGuard<'_, ()> {
        self.freeing.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.blocks
            .get(index)
            .expect("a borrowed block stays in the pool")
    }

    pub(super) fn block_mut(&mut self, index: u32) -> &mut Block {
        self.blocks
            .get_mut(index)
            .expect("a borrowed block stays in the pool")
    }

    pub(super) fn resident_mut(&mut self, index: u32) -> &mut PooledResource {
        self.residents
            .get_mut(index)
            .expect("a borrowed resident stays in the pool")
    }

    /// Bytes of all blocks, including those that are being allocated or freed, or of one borrower's blocks. Blocks in tile memory do not count, since they
    /// are not allocated from ordinary memory.
    pub(super) fn bytes(&self, borrower: Option<u64>) -> Bytes {
        if borrower.is_none() {
            return self.budget.held();
        }
        let blocks = self.blocks.iter().map(|(_, block)| block);
        let counted = blocks.filter(|block| block.in_budget && block.borrower == borrower);
        counted.map(|block| block.bytes).sum()
    }

    /// Returns `true` if a user other than `user` used a borrowed block last; `waits` receives the required waits on queues for which `is_own` is
    /// false.
    pub(super) fn taken_over(
        &self,
        lease: &Lease,
        user: u64,
        is_own: impl Fn(usize) -> bool,
        waits: &mut TimelineValues,
    ) -> bool {
        waits.clear();
        let mut taken = false;
        for &index in &lease.blocks {
            let block = self.block(index);
            if block.last_user == user || block.last_user == 0 {
                continue;
            }
            taken = true;
            for &(queue, value) in block.last_use_values.iter().filter(|(queue, _)| !is_own(*queue)) {
                match waits.iter_mut().find(|(other, _)| *other == queue) {
                    Some((_, known)) => *known = value.max(*known),
                    None => waits.push((queue, value)),
                }
            }
        }
        taken
    }

    /// Records that a frame of `user` was submitted.
    pub(super) fn record_use(&mut self, lease: &Lease, user: u64, ends: &[(usize, u64)]) {
        self.frames += 1;
        for &index in &lease.blocks {
            let block = self.block_mut(index);
            block.last_user = user;
            block.last_use_values.clear();
            block.last_use_values.extend_from_slice(ends);
        }
    }

    /// The state of the contents of the history in a borrowed block.
    pub(super) fn contents(&self, block: u32) -> &[ContentState] {
        &self.block(block).contents
    }

    /// The number of frames submitted when the history in a borrowed block was last written, including the frame that wrote it; 0 for never.
    pub(super) fn last_written(&self, block: u32) -> u64 {
        self.block(block).written
    }

    /// Stores the state of the contents that the last submitted frame leaves in the history of a borrowed block; `written` is true if that frame wrote it.
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

    /// Returns `true` if a larger block has replaced a borrowed one.
    pub(super) fn is_superseded(&self, lease: &Lease) -> bool {
        lease.blocks.iter().any(|&index| self.block(index).superseded)
    }
}

impl Block {
    pub(super) fn is_free_for(&self, borrower: Borrower) -> bool {
        self.borrower.is_none_or(|other| other == borrower.number)
    }

    /// The properties by which the block is looked up.
    pub(super) fn indexed(&self) -> IndexedBlock<'_> {
        IndexedBlock {
            key: &self.key,
            bytes: self.bytes,
            borrower: self.borrower,
            lease: self.lease,
        }
    }

    /// Returns `true` if the block's resource can be used in place of a resource with these parameters.
    pub(super) fn covers(&self, resource: &ResourceKey) -> bool {
        matches!(&self.key, BlockKey::Own(_, made) if made.covers(resource))
    }

    pub(super) fn is_history(&self) -> bool {
        matches!(&self.key, BlockKey::Own(label, _) if label.history.is_some())
    }

    pub(super) fn forget_history(&mut self) {
        if let BlockKey::Own(label, _) = &mut self.key {
            label.history = None;
        }
    }

    /// Returns `true` if several queue families share the block's resource.
    fn is_concurrent(&self) -> bool {
        matches!(&self.key, BlockKey::Own(_, resource) if resource.is_concurrent())
    }
}
