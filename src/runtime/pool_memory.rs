//! The pool's allocations from the driver, and their release; neither happens under the pool's lock.

use super::device_state::DeviceState;
use super::error::RuntimeError;
use super::memory::{MemoryBlock, MemoryDesc};
use super::pool::{Block, Borrower, Handle, Lease, Pool, PoolContents, TimelineValues};
use super::pool_garbage::Garbage;
use super::pool_key::BlockKey;
use super::progress::counter_value;
use crate::Result;
use crate::plan::MemoryKind;
use crate::units::Bytes;

/// Number of frames after which objects that are not borrowed are freed.
const IDLE_FRAMES: u64 = 240;

impl Pool {
    /// Destroys everything in the pool.
    ///
    /// # Safety
    /// None of it is in use on the device or borrowed.
    pub(super) unsafe fn destroy(&self, state: &DeviceState) {
        let mut garbage = Garbage::default();
        let mut contents = self.lock();
        for index in contents.blocks.indices() {
            contents.remove_block(index, &mut garbage);
        }
        // Framebuffers of passes without attachments, which are not removed with a view.
        contents.passes.framebuffers.remove_all(&mut garbage.framebuffers);
        let render_passes = std::mem::take(&mut contents.passes.render_passes);
        drop(contents);
        // SAFETY: the caller's duty.
        unsafe { garbage.destroy(state) };
        for render_pass in render_passes.into_values() {
            // SAFETY: the caller's duty.
            unsafe { state.device.destroy_render_pass(render_pass, None) };
        }
    }

    /// Borrows a block that several resources may share, or a memory object as required for tile memory; allocates it if the pool has none.
    ///
    /// The borrower's first block of a kind has exactly the requested size, since most frames never change. A block that replaces a smaller one of
    /// the same borrower is rounded up: a frame that has grown may grow again.
    pub(super) fn borrow_shared(
        &self,
        state: &DeviceState,
        borrower: Borrower,
        key: &BlockKey,
        (desc, kind): (&MemoryDesc<'_>, MemoryKind),
        lease: &mut Lease,
    ) -> Result<u32> {
        let mut desc = *desc;
        let mut contents = self.lock();
        if let Some(index) = contents.borrow_shared(borrower, key, (desc.size, desc.alignment), lease) {
            return Ok(index);
        }
        // None for a separate memory object: its key contains its exact size.
        let replaces = contents
            .replaceable(borrower, key, desc.size, lease)
            .next()
            .is_some();
        drop(contents);
        if replaces {
            let limit = state.profile.limits.max_allocation;
            desc.size = rounded(desc.size).min(limit.max(desc.size));
        }
        let block = self.allocate(state, &desc, (kind, 0))?;
        let mut contents = self.lock();
        contents.supersede(borrower, key, desc.size, lease);
        Ok(block.lend(&mut contents, key.clone(), borrower, lease))
    }

    /// Allocates a block for the pool; `hook` is the hook of its only resource, or 0 if it holds several. The block is freed on drop unless
    /// it is [lent](UnpooledBlock::lend).
    ///
    /// Stays within the caller's budget and the system's by freeing unused memory.
    pub(super) fn allocate<'a>(
        &'a self,
        state: &'a DeviceState,
        desc: &MemoryDesc<'_>,
        (kind, hook): (MemoryKind, u32),
    ) -> Result<UnpooledBlock<'a>> {
        let mut reserved = self.reserve(state, desc)?;
        let held = self.lock().budget.held();
        let allocate = || {
            let chain = state.memory_chain(kind, hook);
            state.memory.allocate(&state.device, &state.profile, desc, chain)
        };
        let mut allocated = allocate();
        // Also if another thread has freed memory meanwhile.
        let is_less = || self.lock().budget.held() < held;
        if allocated.is_err() && self.trim(state, true).is_ok() && is_less() {
            allocated = allocate();
        }
        let memory = allocated?;
        if let Some(reserved) = &mut reserved {
            reserved.finish_allocation();
        }
        let mut name = String::new();
        if let Some(memory) = memory.own_object() {
            state.set_name(memory, desc.name);
            name = state.recorded_name(desc.name);
        }
        Ok(UnpooledBlock {
            state,
            memory: Some(memory),
            name,
            bytes: desc.size,
            reserved,
        })
    }

    /// Reserves the bytes of an allocation, after freeing unused memory if a limit would be exceeded; `None` in tile memory, which has no limit.
    fn reserve<'a>(&'a self, state: &DeviceState, desc: &MemoryDesc<'_>) -> Result<Option<Reservation<'a>>> {
        let tile = state.profile.tile.as_ref();
        if tile.is_some_and(|tile| tile.memory_type == desc.memory_type) {
            // Every tile memory object begins at byte 0 of the tile heap, so they do not count toward any budget.
            return Ok(None);
        }
        let bytes = desc.size;
        let heap = state.profile.memory_types[desc.memory_type as usize].heap as usize;
        let reserve = || {
            let mut contents = self.lock();
            // Queried under the lock, which only reads counters: an earlier answer could miss allocations by other threads since.
            let system = state.budget_of(desc.memory_type);
            contents.budget.reserve(bytes, heap, system)
        };
        let mut exceeded = reserve().err();
        if exceeded.is_some() {
            self.trim(state, true)?;
            exceeded = reserve().err();
        }
        match exceeded {
            None => Ok(Some(Reservation {
                pool: self,
                bytes,
                heap,
                in_flight: true,
                is_in_pool: false,
            })),
            Some(exceeded) => Err(RuntimeError::OverBudget {
                what: format!("{} of {}", desc.size, desc.name),
                budget: exceeded.name,
                held: exceeded.held,
                limit: exceeded.limit,
            }
            .into()),
        }
    }

    /// Returns everything in a lease, and frees the blocks that no other bound frame has borrowed or was the last to use.
    ///
    /// # Safety
    /// No frame of `user`, whose lease it is, is in flight.
    pub(super) unsafe fn release(&self, state: &DeviceState, lease: &mut Lease, user: u64) {
        let _freeing = self.freeing();
        let blocks = lease.blocks.clone();
        let mut garbage = Garbage::default();
        let mut contents = self.lock();
        contents.recycle(lease);
        for index in blocks {
            let block = contents.block(index);
            // Earlier users had finished before `user` began.
            if block.references == 0 && [0, user].contains(&block.last_user) {
                contents.remove_block(index, &mut garbage);
            }
        }
        drop(contents);
        // SAFETY: nothing has borrowed it, and its last user was `user`.
        unsafe { garbage.destroy(state) };
    }

    /// Removes a borrower, and frees everything that is not borrowed, regardless of its last user.
    ///
    /// # Safety
    /// Nothing is in use on the device.
    pub(super) unsafe fn abandon(&self, state: &DeviceState, borrower: Borrower) {
        let _freeing = self.freeing();
        let mut garbage = Garbage::default();
        let mut contents = self.lock();
        contents.forget_borrower(borrower.number);
        // Without values to compare with, every use counts as complete.
        contents.remove_unused(&[], true, &mut garbage);
        drop(contents);
        // SAFETY: the caller's duty; nothing has borrowed it.
        unsafe { garbage.destroy(state) };
    }

    /// Frees everything unused if `at_once` is true, otherwise everything that has been unused for a while.
    pub(super) fn trim(&self, state: &DeviceState, at_once: bool) -> Result<()> {
        let _freeing = self.freeing();
        // The timeline value that each queue has reached. Blocks returned after this query count as used until a later call.
        let mut values = std::mem::take(&mut self.lock().values);
        values.clear();
        for semaphore in self.timelines.get().into_iter().flatten() {
            values.push(counter_value(state, *semaphore)?);
        }
        let mut garbage = Garbage::default();
        let mut contents = self.lock();
        contents.remove_unused(&values, at_once, &mut garbage);
        contents.values = values;
        drop(contents);
        // SAFETY: nothing has borrowed it, and the device has completed its last use.
        unsafe { garbage.destroy(state) };
        Ok(())
    }
}

/// Reserved bytes of a block that is not in the pool yet; released on drop, unless the pool has taken the block.
struct Reservation<'a> {
    pool: &'a Pool,
    bytes: Bytes,
    heap: usize,
    /// True until the driver has allocated the bytes.
    in_flight: bool,
    /// True once the bytes belong to a block of the pool: drop then does nothing.
    is_in_pool: bool,
}

impl Reservation<'_> {
    /// Records that the driver has allocated the bytes: the system counts them from now on.
    fn finish_allocation(&mut self) {
        if std::mem::take(&mut self.in_flight) {
            self.pool.lock().budget.finish_allocation(self.bytes, self.heap);
        }
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if !self.is_in_pool {
            self.finish_allocation();
            self.pool.lock().budget.release(self.bytes);
        }
    }
}

/// A block that was allocated and is not in the pool yet; freed on drop.
pub(super) struct UnpooledBlock<'a> {
    state: &'a DeviceState,
    /// The block; taken when the pool takes ownership.
    memory: Option<MemoryBlock>,
    /// The block's debug name; empty if it has none.
    name: String,
    bytes: Bytes,
    /// The reservation of the block's bytes, dropped after the memory is freed; `None` in tile memory.
    reserved: Option<Reservation<'a>>,
}

impl UnpooledBlock<'_> {
    /// The block of memory.
    pub(super) fn memory(&self) -> &MemoryBlock {
        self.memory.as_ref().expect("the pool has not taken the block")
    }

    /// Puts the block into the pool, lent to its first borrower.
    pub(super) fn lend(
        mut self,
        contents: &mut PoolContents,
        key: BlockKey,
        borrower: Borrower,
        lease: &mut Lease,
    ) -> u32 {
        let memory = self.memory.take().expect("the pool has not taken the block");
        if let Some(reserved) = &mut self.reserved {
            // The caller holds the pool's lock, so dropping the reservation must not lock it again.
            reserved.is_in_pool = true;
        }
        let name = std::mem::take(&mut self.name);
        let kind = (key, self.bytes, self.reserved.is_some(), name);
        contents.insert_block(memory, kind, borrower, lease)
    }
}

impl Drop for UnpooledBlock<'_> {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            // SAFETY: nothing that is bound to it is in use.
            unsafe { self.state.memory.free(&self.state.device, memory) };
        }
    }
}

impl PoolContents {
    /// Removes what is neither borrowed nor in use on the device: if `at_once` is true, all of it except blocks that still have a borrower, otherwise what
    /// has been unused for a while; superseded blocks in either case. `values` are the current timeline values.
    fn remove_unused(&mut self, values: &[u64], at_once: bool, garbage: &mut Garbage) {
        let over = |ends: &TimelineValues| {
            let reached = |&(queue, value): &(usize, u64)| values.get(queue).is_none_or(|now| *now >= value);
            ends.iter().all(reached)
        };
        let frames = self.frames;
        let is_old = |since: u64| at_once || since + IDLE_FRAMES < frames;
        let unused = |block: &Block| {
            let kept = block.borrower.is_some() && at_once;
            block.references == 0
                && !kept
                && (block.superseded || is_old(block.idle_since))
                && over(&block.last_use_values)
        };
        for index in self.blocks.indices() {
            if self.blocks.get(index).is_some_and(unused) {
                self.remove_block(index, garbage);
            }
        }
        for index in self.residents.indices() {
            let Some(resident) = self.residents.get(index) else {
                continue;
            };
            if resident.references == 0 && is_old(resident.idle_since) && over(&resident.last_use_values) {
                // The resource of a block for one resource is removed with that block.
                if !matches!(self.block(resident.block).key, BlockKey::Own(..)) {
                    self.remove_resident(index, garbage);
                }
            }
        }
    }

    fn remove_resident(&mut self, index: u32, garbage: &mut Garbage) {
        let resident = self.residents.remove(index).expect("the resident is pooled");
        if let Some(block) = self.blocks.get_mut(resident.block) {
            block.residents.remove(resident.offset, index);
        }
        for (_, view) in resident.views {
            let framebuffers = &mut garbage.framebuffers;
            self.passes.framebuffers.remove_view(view, framebuffers);
            garbage.views.push(view);
        }
        let Handle { image, buffer } = resident.handle;
        // One of them is null, which is ignored.
        garbage.images.push(image);
        garbage.buffers.push(buffer);
    }

    fn remove_block(&mut self, index: u32, garbage: &mut Garbage) {
        let Some(block) = self.blocks.remove(index) else {
            return;
        };
        self.index.remove(index, &block.indexed());
        for resident in block.residents.iter() {
            self.remove_resident(resident, garbage);
        }
        if block.in_budget {
            garbage.bytes += block.bytes;
        }
        garbage.blocks.push(block.memory);
    }
}

/// Rounds up to the next eighth of a power of two, so that a block fits frames that differ a little.
fn rounded(bytes: Bytes) -> Bytes {
    let step = (bytes.0 / 8 + 1).next_power_of_two() / 2;
    Bytes(bytes.0.next_multiple_of(step.max(1)))
}
