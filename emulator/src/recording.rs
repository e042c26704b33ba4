//! Command buffers while they are recorded: what is bound, what is discarded where, and what else goes wrong.

use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use ash::vk;
use ash::vk::Handle;
use tileheap::ffi::TileMemoryBindInfoQCOM;

use crate::contents::Contents;
use crate::device::{Device, Tile, device_of};
use crate::hooks::actions::Reach;
use crate::messages::{Finding, MessageId};
use crate::resources::Resource;
use crate::sharded::Sharded;

/// A command buffer of a device with tile memory.
pub(crate) struct Recorder {
    pub(crate) device: Arc<Device>,
    pub(crate) handle: vk::CommandBuffer,
    pub(crate) pool: vk::CommandPool,
    pub(crate) is_primary: bool,
    recording: Mutex<Recording>,
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
    /// What was said of which object in this recording: once is enough.
    said: Vec<(MessageId, u64)>,
}

impl Recording {
    /// Whether this was not said before.
    pub(crate) fn is_news(&mut self, finding: &Finding) -> bool {
        let key = (finding.id, finding.object.1);
        let is_news = !self.said.contains(&key);
        if is_news {
            self.said.push(key);
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

/// The recorder of a command buffer; `None` on devices without tile memory.
pub(crate) fn recorder(commands: vk::CommandBuffer) -> Option<Arc<Recorder>> {
    RECORDERS.get(commands.as_raw())
}

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
            recording: Mutex::default(),
        };
        RECORDERS.insert(commands.as_raw(), Arc::new(recorder));
    }
}

/// Forgets a command buffer.
pub(crate) fn forget(commands: vk::CommandBuffer) {
    RECORDERS.remove(commands.as_raw());
}

/// Forgets the command buffers of a pool.
pub(crate) fn forget_pool(device: vk::Device, pool: vk::CommandPool) {
    RECORDERS.remove_all(|recorder| recorder.device.handle == device && recorder.pool == pool);
}

/// Forgets the command buffers of a device.
pub(crate) fn forget_device(device: vk::Device) {
    RECORDERS.remove_all(|recorder| recorder.device.handle == device);
}

impl Recorder {
    /// The recording, which the application lets one thread use at a time.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Recording> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
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
    pub(crate) fn act(&self, recording: &mut Recording) {
        let reserved = recording.bound.map_or(0, |bound| bound.size);
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

    /// A finding, if a command reaches a resource of another object than the one bound.
    pub(crate) fn check_object(
        recording: &Recording,
        resource: &Resource,
        command: &str,
        id: MessageId,
    ) -> Option<Finding> {
        let place = resource.place.get()?;
        if recording
            .bound
            .is_some_and(|bound| bound.memory == place.memory || bound == UNKNOWN)
        {
            return None;
        }
        let bound = match recording.bound {
            Some(bound) => format!("object 0x{:x} is", bound.memory),
            None => "nothing is".to_owned(),
        };
        Some(Finding {
            id,
            object: resource.object,
            text: format!(
                "{command} reaches a resource in tile memory object 0x{:x} while {bound} bound: bind the resource's own object \
                 first (VUID-{command}-commandBuffer-10746 has this of draws and dispatches)",
                place.memory
            ),
        })
    }
}

/// What comes before every action command that is not one of a render pass's own: discards, and rules about what it
/// reaches. The device, to call down.
pub(crate) fn before_action(
    commands: vk::CommandBuffer,
    reach: Reach,
    buffers: &[vk::Buffer],
    command: &str,
) -> Option<Arc<Device>> {
    let Some(recorder) = recorder(commands) else {
        return device_of(commands);
    };
    let mut findings = Vec::new();
    {
        let mut recording = recorder.lock();
        if recording.pass.is_none() || recording.contents.entry.is_none() {
            recorder.act(&mut recording);
        }
        match reach {
            Reach::Transfer => {
                for (index, buffer) in buffers.iter().enumerate() {
                    let is_source = index == 0 && command.starts_with("vkCmdCopyBuffer");
                    transfer(
                        &recorder,
                        &mut recording,
                        *buffer,
                        is_source,
                        command,
                        &mut findings,
                    );
                }
            }
            Reach::Draw | Reach::Dispatch | Reach::TraceRays => {
                crate::descriptors::check(&mut recording, reach, command, &mut findings);
            }
            Reach::Other => {}
        }
    }
    recorder.device.reporter.report_all(findings);
    Some(recorder.device.clone())
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
        recording,
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
