//! Command buffers while they are recorded: what is bound, what is discarded where, and what else goes wrong.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use ash::vk;
use ash::vk::Handle;
use tileheap_device::ffi::TileMemoryBindInfoQCOM;

use crate::contents::Contents;
use crate::device::{Device, Tile, device_of};
use crate::exclusive::{Exclusive, Used};
use crate::guard::guard;
use crate::hooks::actions::Reach;
use crate::messages::{Finding, MessageId};
use crate::resources::{Place, Resource};
use crate::sharded::Sharded;

/// A command buffer of a device with tile memory.
pub(crate) struct Recorder {
    pub(crate) device: Arc<Device>,
    pub(crate) handle: vk::CommandBuffer,
    pub(crate) pool: vk::CommandPool,
    pub(crate) is_primary: bool,
    recording: Exclusive<Recording>,
}

/// What was recorded so far.
#[derive(Default)]
pub(crate) struct Recording {
    pub(crate) bound: Option<Bound>,
    pub(crate) pass: Option<Pass>,
    pub(crate) contents: Contents,
    /// Tile memory was bound at some time: batches with this command buffer are more than passed on.
    pub(crate) uses_tile: bool,
    pub(crate) sets: crate::descriptors::BoundSets,
    pub(crate) said: Said,
}

impl Recording {
    /// Whether a draw or dispatch may reach anything that was not checked before.
    #[inline]
    fn news_of(&mut self, reach: Reach) -> bool {
        let state = self.contents.discards() ^ self.bound.map_or(0, |bound| bound.memory);
        self.sets.is_news(reach, state)
    }
}

/// What was said of which object in a recording: once is enough.
#[derive(Default)]
pub(crate) struct Said(Vec<(MessageId, u64)>);

impl Said {
    /// Whether this was not said before.
    pub(crate) fn is_news(&mut self, finding: &Finding) -> bool {
        let key = (finding.id, finding.object.1);
        let is_news = !self.0.contains(&key);
        if is_news {
            self.0.push(key);
        }
        is_news
    }
}

/// The tile memory object bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) memory: u64,
    pub(crate) size: u64,
}

/// What a secondary command buffer inherits whose object the layer does not know: as much as its primary has.
///
/// Validation 1.4.363 hands down its own handles in this one structure, which mean nothing to layers below. Strict would be
/// to take such a handle for a mistake; but then no correct program with secondaries would run under validation, which
/// reports the mistake itself (VUID-VkTileMemoryBindInfoQCOM-memory-10726).
const UNKNOWN: Bound = Bound {
    memory: 0,
    size: u64::MAX,
};

/// A render pass instance.
#[derive(Default)]
pub(crate) struct Pass {
    /// Bytes that become undefined where it ends, and why.
    pub(crate) at_end: Vec<(u64, u64, &'static str)>,
    /// It runs secondary command buffers, after which the binding is unknown.
    pub(crate) ran_secondaries: bool,
}

static RECORDERS: LazyLock<Sharded<Arc<Recorder>>> = LazyLock::new(Sharded::default);

/// Counts how often recorders were forgotten, after they were: what a thread remembers from before is looked up again.
static FORGOTTEN: AtomicU64 = AtomicU64::new(0);

/// The command buffer that a thread found last: it records many commands into one before the next.
#[derive(Clone, Copy)]
struct Last {
    commands: vk::CommandBuffer,
    /// A plain pointer: one that is never null would be looked at by `LocalKey`, whose errors it would stand for.
    recorder: *const Recorder,
    /// [`FORGOTTEN`] before it was looked up.
    forgotten: u64,
}

thread_local! {
    static LAST: Cell<Last> = const {
        Cell::new(Last {
            commands: vk::CommandBuffer::null(),
            recorder: std::ptr::null(), // Of no command buffer.
            forgotten: u64::MAX, // Which the count never reaches.
        })
    };
}

/// The recorder of a command buffer that is not being recorded; `None` on devices without tile memory.
pub(crate) fn recorder(commands: vk::CommandBuffer) -> Option<Arc<Recorder>> {
    RECORDERS.get(commands.as_raw())
}

/// The recorder of the command buffer that a command is recorded into; `None` on devices without tile memory.
///
/// # Safety
/// Nobody frees the command buffer for `'a`: Vulkan wants host access to it synchronized for the whole command, and whoever
/// breaks that has the driver write to freed memory too.
#[inline]
pub(crate) unsafe fn recording_into<'a>(commands: vk::CommandBuffer) -> Option<&'a Recorder> {
    let last = LAST.get();
    let forgotten = FORGOTTEN.load(Ordering::Acquire);
    let recorder = if (last.commands == commands) & (last.forgotten == forgotten) {
        last.recorder
    } else {
        // What is forgotten from here on counts.
        look_up(commands, forgotten)?
    };
    // SAFETY: What is found is a reference, and before anything is found nothing matches. Every command comes along here: the
    // test would be made again for the answer.
    unsafe { std::hint::assert_unchecked(!recorder.is_null()) };
    // SAFETY: A recorder that was there when `FORGOTTEN` was `forgotten`: none was forgotten since but by threads that do so
    // now, and by the caller's promise this one is not among those.
    Some(unsafe { &*recorder })
}

#[cold]
fn look_up(commands: vk::CommandBuffer, forgotten: u64) -> Option<*const Recorder> {
    let recorder = RECORDERS.with(commands.as_raw(), Arc::as_ptr)?;
    LAST.set(Last {
        commands,
        recorder,
        forgotten,
    });
    Some(recorder)
}

/// Recorders were removed: no thread may take what it found for one that lives.
fn removed() {
    FORGOTTEN.fetch_add(1, Ordering::Release);
}

/// What the layer does before a command, where the command buffer has a recorder; then what `next` takes of the device.
///
/// Only the former is guarded: every recorded command comes along here, and its arguments need not go through the guard.
///
/// # Safety
/// As [`recording_into`].
#[inline]
pub(crate) unsafe fn precede<F>(
    name: &str,
    commands: vk::CommandBuffer,
    before: impl FnOnce(&Recorder),
    next: impl FnOnce(&Device) -> Option<F>,
) -> Option<F> {
    // SAFETY: The caller's promise.
    match unsafe { recording_into(commands) } {
        Some(recorder) => {
            guard(name, || before(recorder));
            next(&recorder.device)
        }
        None => guard(name, || device_of(commands)).and_then(|device| next(&device)),
    }
}

/// Declares entry points of commands that go down as they are, behind what the layer does before them: `table |recorder| work`.
macro_rules! recorded_commands {
    ($($(#[$doc:meta])* fn $name:ident($commands:ident $(, $arg:ident: $type:ty)* $(,)?) $(-> $answer:ty)?
        => $table:ident |$recorder:ident| $before:expr;)+) => {$(
        $(#[$doc])*
        #[allow(non_snake_case, reason = "Vulkan's names")]
        pub(crate) unsafe extern "system" fn $name(
            $commands: ::ash::vk::CommandBuffer $(, $arg: $type)*
        ) $(-> $answer)? {
            let before = |$recorder: &$crate::recording::Recorder| $before;
            let next = |device: &$crate::device::Device| device.$table.$name;
            // SAFETY: Valid usage: host access to the command buffer is synchronized.
            let next = unsafe { $crate::recording::precede(stringify!($name), $commands, before, next) };
            match next {
                // SAFETY: The next layer's command of this name, with the application's arguments.
                Some(next) => unsafe { next($commands $(, $arg)*) },
                None => $crate::guard::Fallback::fallback(),
            }
        }
    )+};
}
pub(crate) use recorded_commands;

/// Remembers new command buffers.
pub(crate) fn remember(
    device: &Arc<Device>,
    info: &vk::CommandBufferAllocateInfo<'_>,
    all: &[vk::CommandBuffer],
) {
    for commands in all {
        let recorder = Recorder {
            device: device.clone(),
            handle: *commands,
            pool: info.command_pool,
            is_primary: info.level == vk::CommandBufferLevel::PRIMARY,
            recording: Exclusive::default(),
        };
        RECORDERS.insert(commands.as_raw(), Arc::new(recorder));
    }
}

/// Forgets a command buffer.
pub(crate) fn forget(commands: vk::CommandBuffer) {
    if RECORDERS.remove(commands.as_raw()).is_some() {
        removed();
    }
}

/// Forgets the command buffers of a pool.
pub(crate) fn forget_pool(device: vk::Device, pool: vk::CommandPool) {
    RECORDERS.remove_all(|recorder| recorder.device.handle == device && recorder.pool == pool);
    removed();
}

/// Forgets the command buffers of a device.
pub(crate) fn forget_device(device: vk::Device) {
    RECORDERS.remove_all(|recorder| recorder.device.handle == device);
    removed();
}

impl Recorder {
    /// The recording, which the application lets one thread use at a time.
    #[inline]
    pub(crate) fn lock(&self) -> Used<'_, Recording> {
        self.recording.lock()
    }

    /// Tile memory of the device; recorders exist only where there is some.
    pub(crate) fn tile(&self) -> &Tile {
        self.device
            .tile
            .as_ref()
            .expect("recorders exist only on devices with tile memory")
    }

    /// Recording begins anew.
    ///
    /// # Safety
    /// `inheritance` is what a secondary command buffer was given, and valid.
    pub(crate) unsafe fn begin(
        &self,
        flags: vk::CommandBufferUsageFlags,
        inheritance: Option<&vk::CommandBufferInheritanceInfo<'_>>,
    ) {
        let mut recording = Recording::default();
        if flags.contains(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE) && !self.is_primary {
            recording.pass = Some(Pass::default());
            let p_next = inheritance.map_or(std::ptr::null(), |info| info.p_next);
            // SAFETY: The caller's promise.
            if let Some(info) = unsafe { crate::chain::find::<TileMemoryBindInfoQCOM<'_>>(p_next) }
                && self.bind(&mut recording, info.memory).is_some()
            {
                recording.bound = Some(UNKNOWN);
            }
        }
        *self.lock() = recording;
    }

    /// Binds a tile memory object, or nothing.
    pub(crate) fn bind(&self, recording: &mut Recording, memory: vk::DeviceMemory) -> Option<Finding> {
        let size = self.device.object_size(memory);
        recording.bound = size.map(|size| Bound {
            memory: memory.as_raw(),
            size,
        });
        if size.is_some() && !std::mem::replace(&mut recording.uses_tile, true) && recording.pass.is_none() {
            self.tile().heap.record_guard(&self.device, self.handle);
        }
        if let Some(trace) = &self.tile().trace {
            trace.bind(self.handle.as_raw(), size.unwrap_or(0));
        }
        (size.is_none() && memory != vk::DeviceMemory::null()).then(|| Finding {
            id: MessageId::NotTileMemory,
            object: (vk::ObjectType::DEVICE_MEMORY, memory.as_raw()),
            text: "memory that is not of a tile heap is bound as tile memory (VUID-VkTileMemoryBindInfoQCOM-memory-10726)"
                .to_owned(),
        })
    }

    /// An action command comes next: what the binding does not cover is discarded before it.
    #[inline]
    pub(crate) fn act(&self, recording: &mut Recording) {
        let reserved = recording.bound.map_or(0, |bound| bound.size);
        // The same as for the last one: nothing changes.
        if recording.contents.entry.is_none() || recording.contents.live != reserved {
            self.reserve(recording, reserved);
        }
    }

    fn reserve(&self, recording: &mut Recording, reserved: u64) {
        if let Some((first, end)) = recording.contents.act(reserved) {
            self.poison(first, end, "an action command with less bound");
        }
    }

    /// Bytes become undefined here, outside a render pass; the caller has noted it in the contents.
    pub(crate) fn poison(&self, first: u64, end: u64, why: &str) {
        let tile = self.tile();
        if let Some(trace) = &tile.trace {
            trace.discard(self.handle.as_raw(), first, end, why);
        }
        if tile.poison {
            tile.heap.record_poison(&self.device, self.handle, first, end);
        }
    }

    /// A finding, if a command reaches a resource of another object than the one bound. What such a draw or dispatch reads is not
    /// judged beside it: of one mistake, one message. Of a transfer no rule of Vulkan says what is bound, so what it reads counts.
    #[inline]
    pub(crate) fn check_object(
        bound: Option<Bound>,
        resource: &Resource,
        command: &str,
        id: MessageId,
    ) -> Option<Finding> {
        let place = resource.place.get()?;
        let reaches = bound.is_some_and(|bound| bound.memory == place.memory || bound == UNKNOWN);
        (!reaches).then(|| wrong_object(bound, resource, place, command, id))
    }
}

#[cold]
fn wrong_object(
    bound: Option<Bound>,
    resource: &Resource,
    place: &Place,
    command: &str,
    id: MessageId,
) -> Finding {
    let bound = match bound {
        Some(bound) => format!("object 0x{:x} is", bound.memory),
        None => "nothing is".to_owned(),
    };
    Finding {
        id,
        object: resource.object,
        text: format!(
            "{command} reaches a resource in tile memory object 0x{:x} while {bound} bound: bind the resource's own object \
             first (VUID-{command}-commandBuffer-10746 has this of draws and dispatches)",
            place.memory
        ),
    }
}

/// What comes before every action command that is not one of a render pass's own: discards, and rules about what it
/// reaches.
#[inline(always)]
pub(crate) fn before_action(recorder: &Recorder, reach: Reach, buffers: &[vk::Buffer], command: &str) {
    let mut recording = recorder.lock();
    if recording.pass.is_none() || recording.contents.entry.is_none() {
        recorder.act(&mut recording);
    }
    let is_done = match reach {
        Reach::Transfer => false,
        Reach::Draw | Reach::Dispatch | Reach::TraceRays => !recording.news_of(reach),
        Reach::Other => true,
    };
    if !is_done {
        judge(recorder, recording, reach, buffers, command);
    }
}

/// The rules of what a command reaches that was not checked before.
#[inline(never)]
fn judge(
    recorder: &Recorder,
    mut recording: Used<'_, Recording>,
    reach: Reach,
    buffers: &[vk::Buffer],
    command: &str,
) {
    let findings = match reach {
        Reach::Transfer => transfers(recorder, &mut recording, buffers, command),
        _ => crate::descriptors::check(&recorder.device, &mut recording, reach, command),
    };
    // A callback may call Vulkan.
    drop(recording);
    recorder.device.reporter.report_all(findings);
}

/// Transfers from or to buffers.
fn transfers(
    recorder: &Recorder,
    recording: &mut Recording,
    buffers: &[vk::Buffer],
    command: &str,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, buffer) in buffers.iter().enumerate() {
        let is_source = index == 0 && command.starts_with("vkCmdCopyBuffer");
        transfer(recorder, recording, *buffer, is_source, command, &mut findings);
    }
    findings
}

/// A transfer from or to a buffer.
fn transfer(
    recorder: &Recorder,
    recording: &mut Recording,
    buffer: vk::Buffer,
    is_source: bool,
    command: &str,
    findings: &mut Vec<Finding>,
) {
    let Some(buffer) = recorder.device.resources.buffers.get(buffer.as_raw()) else {
        return;
    };
    let Some(place) = buffer.place.get() else { return };
    findings.extend(Recorder::check_object(
        recording.bound,
        &buffer,
        command,
        MessageId::TransferUnbound,
    ));
    if !is_source {
        recording.contents.write(place);
    } else if !buffer.addressable {
        findings.extend(recording.contents.read(&buffer, place));
    }
}
