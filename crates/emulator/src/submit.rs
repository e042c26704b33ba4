//! Submission: what lives from one command buffer to the next, and what dies with the batch.
//!
//! ```text
//! application   [ A  B ]                  [ C ]                       batches of one call
//! below         [wait] [ A  p  B ] [ P ] [signal]  [ C ] ...
//! ```
//! `p` poisons what `B` discards at its first action command, since that depends on what ran before it; `P` poisons all that
//! can be live where the window ends. Both are command buffers of the layer's own, and everything between the application's
//! batches is a batch of the layer's: the application's semaphores, fence and chained structures stay where they are, and
//! submission order makes it right. Waits and signals are there on devices with several queues, which take turns.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use ash::vk;
use ash::vk::Handle;

use crate::contents::Window;
use crate::device::{Device, Tile};
use crate::guard::down;
use crate::messages::{Finding, MessageId};
use crate::recording::recorder;
use crate::sharded::Sharded;

/// The queues of a device, and whose turn it is.
pub(crate) struct Queues {
    families: Sharded<u32>,
    has_timeline: bool,
    turns: Mutex<Turns>,
    /// The heap holds what the driver left in it.
    is_raw: AtomicBool,
}

#[derive(Default)]
struct Turns {
    semaphore: vk::Semaphore,
    value: u64,
    last: Option<vk::Queue>,
}

/// A batch below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Batch {
    /// The application's, by index; with other command buffers than its own, if not `None`.
    Application(usize, Option<Vec<vk::CommandBuffer>>),
    /// A poison command buffer.
    Poison(vk::CommandBuffer),
    /// The queues' turns.
    Wait(vk::Semaphore, u64),
    /// The end of this queue's turn.
    Signal(vk::Semaphore, u64),
}

/// A batch of the application, as far as the layer looks at it.
pub(crate) struct Given {
    pub(crate) commands: Vec<vk::CommandBuffer>,
    /// Another command buffer in it would upset structures that go with each of its own.
    pub(crate) is_fixed: bool,
}

impl Queues {
    pub(crate) fn new(has_timeline: bool) -> Queues {
        Queues {
            families: Sharded::default(),
            has_timeline,
            turns: Mutex::default(),
            is_raw: AtomicBool::new(true),
        }
    }

    /// Remembers a queue's family.
    pub(crate) fn remember(&self, queue: vk::Queue, family: u32) {
        self.families.insert(queue.as_raw(), family);
    }

    /// Whether there is a semaphore to wait for.
    pub(crate) fn have_semaphore(&self) -> bool {
        let turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.semaphore != vk::Semaphore::null()
    }

    /// Destroys the semaphore; the device is idle.
    pub(crate) fn destroy(&self, device: &Device) {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        if turns.semaphore != vk::Semaphore::null() {
            down!(
                device.next,
                vkDestroySemaphore(device.handle, turns.semaphore, std::ptr::null())
            );
        }
        *turns = Turns::default();
    }
}

/// Submits: as it was given, where no batch uses tile memory, and with what the layer adds otherwise.
pub(crate) fn submit(
    device: &Device,
    tile: &Tile,
    queue: vk::Queue,
    given: &[Given],
    as_given: impl FnOnce() -> vk::Result,
    with_batches: impl FnOnce(&[Batch]) -> vk::Result,
) -> vk::Result {
    let uses: Vec<bool> = given.iter().map(uses_tile).collect();
    if !uses.contains(&true) {
        return as_given();
    }
    let mut findings = Vec::new();
    // Held over the call, so that turns are submitted in their order.
    let mut turns = tile.queues.turns.lock().unwrap_or_else(PoisonError::into_inner);
    if tile.queues.has_timeline && turns.semaphore == vk::Semaphore::null() {
        match create_semaphore(device) {
            Ok(semaphore) => turns.semaphore = semaphore,
            Err(error) => return error,
        }
    }
    let was_raw = tile.queues.is_raw.swap(false, Ordering::Relaxed);
    let plan = plan(device, tile, queue, given, &uses, &turns, was_raw, &mut findings);
    let result = match &plan {
        Ok(plan) => with_batches(&plan.batches),
        Err(error) => *error,
    };
    if let (Ok(plan), vk::Result::SUCCESS) = (&plan, result) {
        turns.last = Some(queue);
        turns.value = plan.value;
    } else if was_raw {
        tile.queues.is_raw.store(true, Ordering::Relaxed);
    }
    drop(turns);
    device.reporter.report_all(findings);
    result
}

struct Plan {
    batches: Vec<Batch>,
    value: u64,
}

fn plan(
    device: &Device,
    tile: &Tile,
    queue: vk::Queue,
    given: &[Given],
    uses: &[bool],
    turns: &Turns,
    was_raw: bool,
    findings: &mut Vec<Finding>,
) -> Result<Plan, vk::Result> {
    let family = tile.queues.families.get(queue.as_raw()).unwrap_or(0);
    let boundary = device
        .physical
        .emulation
        .as_ref()
        .is_some_and(|emulation| emulation.profile.tile.queue_submit_boundary);
    let poisoner = |first: u64| {
        if tile.poison {
            tile.heap.poisoner(device, family, first)
        } else {
            Ok(None)
        }
    };
    let mut batches = Vec::new();
    let mut value = turns.value;
    let last_use = uses.iter().rposition(|uses| *uses);
    let mut waits = tile.queues.has_timeline && turns.last.is_some_and(|last| last != queue);
    let mut raw = was_raw;
    let mut window = Window::new(tile.heap.size);
    for (index, batch) in given.iter().enumerate() {
        let takes_part = uses[index] || window.live > 0;
        if !takes_part {
            batches.push(Batch::Application(index, None));
            continue;
        }
        if std::mem::take(&mut waits) {
            batches.push(Batch::Wait(turns.semaphore, turns.value));
        }
        if std::mem::take(&mut raw) {
            batches.extend(poisoner(0)?.map(Batch::Poison));
        }
        let commands = run_batch(&mut window, batch, &poisoner, findings)?;
        let added = commands.len() > batch.commands.len();
        if added && batch.is_fixed {
            findings.push(fixed(device));
        }
        batches.push(Batch::Application(
            index,
            (added && !batch.is_fixed).then_some(commands),
        ));
        if let Some(trace) = &tile.trace {
            let handles: Vec<_> = batch.commands.iter().map(|commands| commands.as_raw()).collect();
            trace.submit(queue.as_raw(), index, &handles, window.live);
        }
        let ends = !boundary || last_use.is_none_or(|last| index >= last);
        if ends {
            if window.live > 0 {
                batches.extend(poisoner(0)?.map(Batch::Poison));
            }
            window = Window::new(tile.heap.size);
            if tile.queues.has_timeline {
                value += 1;
                batches.push(Batch::Signal(turns.semaphore, value));
            }
        }
    }
    Ok(Plan { batches, value })
}

/// A batch's command buffers in turn, each preceded by the poison that it causes.
fn run_batch(
    window: &mut Window,
    batch: &Given,
    poisoner: &impl Fn(u64) -> Result<Option<vk::CommandBuffer>, vk::Result>,
    findings: &mut Vec<Finding>,
) -> Result<Vec<vk::CommandBuffer>, vk::Result> {
    let mut commands = Vec::with_capacity(batch.commands.len() + 1);
    for handle in &batch.commands {
        if let Some(recorder) = recorder(*handle) {
            let (discards, found) = window.run(&recorder.lock().contents);
            findings.extend(found);
            if let Some(first) = discards {
                commands.extend(poisoner(first)?);
            }
        }
        commands.push(*handle);
    }
    Ok(commands)
}

fn uses_tile(given: &Given) -> bool {
    given
        .commands
        .iter()
        .any(|commands| recorder(*commands).is_some_and(|recorder| recorder.lock().uses_tile))
}

fn fixed(device: &Device) -> Finding {
    Finding {
        id: MessageId::CannotEmulate,
        object: (vk::ObjectType::DEVICE, device.handle.as_raw()),
        text: "a batch with VkDeviceGroupSubmitInfo keeps tile contents that an unbound command buffer in it discards".to_owned(),
    }
}

fn create_semaphore(device: &Device) -> Result<vk::Semaphore, vk::Result> {
    let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
    let mut semaphore = vk::Semaphore::null();
    match down!(
        device.next,
        vkCreateSemaphore(device.handle, &info, std::ptr::null(), &mut semaphore)
    ) {
        vk::Result::SUCCESS => Ok(semaphore),
        error => Err(error),
    }
}
