//! Two queues on a driver that has one: the second has a separate handle for the layer, and is the same queue in the driver. It is also the queue of a
//! second family.

use std::sync::Mutex;
use std::sync::atomic::Ordering::SeqCst;

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::batches::{Batch, SemaphoreUse};
use tileheap_layer::{array, given, store};

use crate::driver::{LIVE, attempt, lock, wrappers};

/// The machine's queue, and the handle of the second one: it begins with the loader's table, as every dispatchable handle does.
static SECOND: Mutex<(u64, [usize; 2])> = Mutex::new((0, [0; 2]));

/// A batch that reached the driver.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Number of command buffers.
    pub(crate) commands: usize,
    /// Values of timeline semaphores.
    pub(crate) waits: Vec<u64>,
    pub(crate) signals: Vec<u64>,
}

/// A call that reached the driver: the queue, 0 or 1, and its batches.
pub(crate) type Call = (usize, Vec<Seen>);

/// The calls that reached the driver; `None` if they are not recorded.
pub(crate) static SUBMITTED: Mutex<Option<Vec<Call>>> = Mutex::new(None);

wrappers! {
    wrapper:
    vkGetDeviceQueue: vk::PFN_vkGetDeviceQueue => |device, family, index, out| below {
        // SAFETY: The layer's arguments.
        unsafe { below(device, 0, 0, out) };
        if index == 1 || family == 1 {
            let mut second = lock(&SECOND);
            second.0 = given!(out).as_raw();
            // A live handle, which points to the loader's table.
            second.1[0] = *given!(second.0 as usize as *const usize);
            store!(out, vk::Queue::from_raw((&raw const second.1) as usize as u64));
        }
    }

    vkCreateCommandPool: vk::PFN_vkCreateCommandPool => |device, info, allocator, out| below {
        attempt!("vkCreateCommandPool");
        let info = given!(info).queue_family_index(0);
        // SAFETY: The layer's arguments, with the driver's family.
        let result = unsafe { below(device, &info, allocator, out) };
        LIVE.fetch_add((result == vk::Result::SUCCESS).into(), SeqCst);
        result
    }

    vkQueueSubmit: vk::PFN_vkQueueSubmit => |queue, count, infos, fence| below {
        attempt!("vkQueueSubmit");
        let (number, queue) = numbered(queue);
        note(number, array!(infos, count).iter().map(Batch::from_v1));
        // SAFETY: The layer's arguments.
        unsafe { below(queue, count, infos, fence) }
    }

    vkQueueSubmit2: vk::PFN_vkQueueSubmit2 => |queue, count, infos, fence| below {
        attempt!("vkQueueSubmit2");
        let (number, queue) = numbered(queue);
        note(number, array!(infos, count).iter().map(Batch::from_v2));
        // SAFETY: The layer's arguments.
        unsafe { below(queue, count, infos, fence) }
    }

    vkQueueWaitIdle: vk::PFN_vkQueueWaitIdle => |queue| below {
        // SAFETY: One of the two queues.
        unsafe { below(numbered(queue).1) }
    }
}

/// Returns the number of a queue handle, and the machine's queue.
fn numbered(queue: vk::Queue) -> (usize, vk::Queue) {
    let second = lock(&SECOND);
    if queue.as_raw() == (&raw const second.1) as usize as u64 {
        (1, vk::Queue::from_raw(second.0))
    } else {
        (0, queue)
    }
}

fn note(queue: usize, batches: impl Iterator<Item = Batch>) {
    if let Some(submitted) = &mut *lock(&SUBMITTED) {
        // Binary semaphores do not have values.
        let values =
            |all: Vec<SemaphoreUse>| all.iter().map(|one| one.1).filter(|value| *value > 0).collect();
        let seen = |batch: Batch| Seen {
            commands: batch.commands.len(),
            waits: values(batch.waits),
            signals: values(batch.signals),
        };
        submitted.push((queue, batches.map(seen).collect()));
    }
}
