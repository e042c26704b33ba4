//! The device's queues: the timeline of each, and the last uses of its tile memory.
//!
//! ```text
//! queue 0   batch 1 ─► batch 2 │ frame 7 of plan a: batches 3, 4 │ frame 2 of plan b: batch 5 …     each batch signals its number
//! ```
//! A frame is lowered for the state that earlier work left, which it reads when it begins. If another frame is submitted to one of its queues in between,
//! the frame's first batch there waits for all of that work: the state that it was lowered for is then older than necessary, but the order is correct.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ash::vk;

use super::device_queue::DeviceQueue;
use super::device_state::DeviceState;
use super::owned::{Guard, OwnedObjects};
use super::progress::semaphore;
use crate::Result;
use crate::lower::tables::DeviceQueueIndex;
use crate::lower::{AddressSpace, ByteUse, LastUse};
use crate::units::Bytes;

/// The queues of a device, without duplicates.
pub(super) struct Timelines {
    queues: Vec<DeviceQueue>,
    /// Per queue, its timeline semaphore; null on devices without them.
    semaphores: Vec<vk::Semaphore>,
    /// The state of each queue; locked while frames are submitted, so that values rise in the order of submission.
    states: Mutex<Vec<QueueState>>,
    /// The thread that holds `states` for the caller; 0 for none. A thread only needs to recognize itself, so relaxed memory order suffices.
    holder: AtomicUsize,
    owned: Mutex<Option<OwnedObjects>>,
}

/// The progress of a queue, and the last uses of its tile memory.
#[derive(Clone, Debug, Default)]
pub(super) struct QueueState {
    /// Number of batches submitted: the value that the timeline semaphore reaches.
    pub(super) submitted: u64,
    /// The last uses of tile memory, expressed for queue index 0.
    tile: Vec<ByteUse>,
    /// The number of the bound frame that made the uses in `tile`.
    tile_user: u64,
}

impl Timelines {
    pub(super) fn new(state: &std::sync::Arc<DeviceState>, listed: &[DeviceQueue]) -> Result<Timelines> {
        let mut queues: Vec<DeviceQueue> = Vec::with_capacity(listed.len());
        for queue in listed {
            if queues.iter().all(|other| other.handle != queue.handle) {
                queues.push(*queue);
            }
        }
        let mut guard = Guard::new(state.clone());
        let mut semaphores = vec![vk::Semaphore::null(); queues.len()];
        if state.functions.timeline_semaphore.is_some() {
            for (index, created) in semaphores.iter_mut().enumerate() {
                *created = semaphore(state, &mut guard.owned, true)?;
                state.set_name(*created, &format!("timeline of queue {index}"));
            }
        }
        let mut states = vec![QueueState::default(); queues.len()];
        if state.functions.timeline_semaphore.is_none() {
            // Without timelines, frames that overtake each other cannot wait for each other.
            states
                .iter_mut()
                .for_each(|one| one.forget_tile(state.tile_bytes()));
        }
        Ok(Timelines {
            states: Mutex::new(states),
            holder: AtomicUsize::new(0),
            queues,
            semaphores,
            owned: Mutex::new(Some(guard.keep())),
        })
    }

    /// The number of a queue.
    pub(super) fn number_of(&self, queue: &DeviceQueue) -> usize {
        let known = self.queues.iter().position(|other| other.handle == queue.handle);
        known.expect("the queue is one of the device's")
    }

    /// The timeline semaphore of each queue, by number.
    pub(super) fn semaphores(&self) -> &[vk::Semaphore] {
        &self.semaphores
    }

    /// A queue's timeline semaphore.
    pub(super) fn semaphore(&self, number: usize) -> vk::Semaphore {
        self.semaphores[number]
    }

    /// Locks the states of all queues.
    ///
    /// # Panics
    /// If this thread holds the states for the caller: it would wait for itself.
    pub(super) fn lock(&self) -> MutexGuard<'_, Vec<QueueState>> {
        self.assert_not_held();
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Panics if this thread holds the lock for the caller.
    pub(super) fn assert_not_held(&self) {
        assert!(
            self.holder.load(Relaxed) != this_thread(),
            "this thread holds the queues of the device: drop the guard of `Device::lock_queues` before binding, submitting or locking them again"
        );
    }

    /// Locks the states of all queues until the caller drops the guard. Meanwhile the caller may call functions that need the states.
    pub(super) fn hold(&self) -> HeldQueues<'_> {
        let states = self.lock();
        self.holder.store(this_thread(), Relaxed);
        HeldQueues {
            holder: &self.holder,
            states,
        }
    }

    /// Destroys the timelines.
    ///
    /// # Safety
    /// No submission that signals them is pending.
    pub(super) unsafe fn destroy(&self) {
        let owned = self.owned.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut owned) = owned {
            // SAFETY: the caller's duty.
            unsafe { owned.destroy() };
        }
    }
}

/// The states of all queues, locked for the caller.
pub(super) struct HeldQueues<'a> {
    holder: &'a AtomicUsize,
    states: MutexGuard<'a, Vec<QueueState>>,
}

impl Deref for HeldQueues<'_> {
    type Target = Vec<QueueState>;

    fn deref(&self) -> &Self::Target {
        &self.states
    }
}

impl DerefMut for HeldQueues<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.states
    }
}

impl Drop for HeldQueues<'_> {
    fn drop(&mut self) {
        self.holder.store(0, Relaxed);
    }
}

/// A number that no other running thread has: the address of a thread-local variable.
fn this_thread() -> usize {
    thread_local!(static OWN: u8 = const { 0 });
    OWN.with(|own| std::ptr::from_ref(own).addr())
}

impl QueueState {
    /// Adds the last uses of the queue's tile memory, expressed for the queue's `index` in a frame. Uses by a bound frame other than `user` count as unknown
    /// uses of the whole `heap`, so that one lowering is valid after any earlier work.
    pub(super) fn tile_uses(&self, index: DeviceQueueIndex, user: u64, heap: Bytes, uses: &mut Vec<ByteUse>) {
        if self.tile_user != user && !self.tile.is_empty() {
            return uses.push(any_use(AddressSpace::tile(index), heap, index));
        }
        uses.extend(self.tile.iter().map(|one| ByteUse {
            space: AddressSpace::tile(index),
            last: LastUse {
                queue: index,
                ..one.last
            },
            ..*one
        }));
    }

    /// Keeps the state that a frame leaves in the queue's tile memory.
    pub(super) fn keep_tile(&mut self, index: DeviceQueueIndex, user: u64, after: &[ByteUse]) {
        self.tile_user = user;
        self.tile.clear();
        let uses = after.iter().filter(|one| one.space == AddressSpace::tile(index));
        self.tile.extend(uses);
    }

    /// Replaces the last uses of the tile memory by an unknown use of all of it.
    pub(super) fn forget_tile(&mut self, heap: Bytes) {
        self.tile.clear();
        if heap > Bytes::ZERO {
            let only = DeviceQueueIndex(0);
            self.tile.push(any_use(AddressSpace::tile(only), heap, only));
        }
    }
}

/// An unknown use, by any batch submitted to a queue so far, of the bytes of an address space up to `end`.
pub(super) fn any_use(space: AddressSpace, end: Bytes, queue: DeviceQueueIndex) -> ByteUse {
    ByteUse {
        space,
        first: Bytes::ZERO,
        end,
        last: LastUse {
            queue,
            value: 0,
            stages: vk::PipelineStageFlags2::ALL_COMMANDS,
            writes: vk::AccessFlags2::MEMORY_WRITE,
        },
    }
}
