//! The command buffers of devices that have a [`Check`], looked up by handle while they are recorded.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ash::vk;
use ash::vk::Handle;
use tileheap_device::ffi::TileMemoryBindInfoQCOM;
use tileheap_layer::chained;
use tileheap_layer::exclusive::{Exclusive, ExclusiveGuard};
use tileheap_layer::guard::guard;
use tileheap_layer::shared_objects::SharedObjects;
use tileheap_sync::render_pass::Role;

use super::device::{Check, DEVICES, Device, Tile};
use crate::model::checks::{CheckResult, check_descriptors, check_transfer};
use crate::model::discards::Discard;
use crate::model::finding::Finding;
use crate::model::objects::Object;
use crate::model::operations::{Fetch, Operation};
use crate::model::order::log::{LoggedAccess, NOTHING};
use crate::model::order::passes::{Subpasses, reads_drawn};
use crate::model::order::unseen::UnseenSource;
use crate::model::position::{Position, UNKNOWN};
use crate::model::recording::{Pass, Recording, not_tile_memory};
use crate::tables::action_commands::ReachableDescriptors;
use crate::tables::unseen_writes::UnseenWrites;

/// A command buffer of a device that has a [`Check`].
pub(crate) struct Recorder {
    pub(crate) device: Arc<Device>,
    pub(crate) handle: vk::CommandBuffer,
    pub(crate) pool: vk::CommandPool,
    pub(crate) is_primary: bool,
    /// Same as [`Check::follows_order`].
    pub(crate) follows_order: bool,
    recording: Exclusive<Recording>,
}

static RECORDERS: SharedObjects<Recorder> = SharedObjects::new();

/// The recorder of a command buffer that another command refers to; `None` on devices without a check.
pub(crate) fn recorder(commands: vk::CommandBuffer) -> Option<Arc<Recorder>> {
    RECORDERS.get(commands.as_raw())
}

/// The recorder of the command buffer that a command is recorded into, and that is not freed during `'a`; `None` on devices without a
/// check.
#[inline]
pub(crate) fn recording_into<'a>(commands: vk::CommandBuffer) -> Option<&'a Recorder> {
    RECORDERS.synchronized(commands.as_raw())
}

/// Like [`recording_into`], but also `None` if finding the recorder would need a lock.
#[inline]
pub(crate) fn live<'a>(commands: vk::CommandBuffer) -> Option<&'a Recorder> {
    RECORDERS.synchronized_at_once(commands.as_raw())
}

/// Does the layer's work before a command, if the command buffer has a recorder, then returns the result of `next`, such as a function pointer of the device.
///
/// Only the work is guarded: every recorded command takes this path, and its arguments need not pass through the guard.
#[inline]
pub(crate) fn precede<F>(
    name: &str,
    commands: vk::CommandBuffer,
    before: impl FnOnce(&Recorder),
    next: impl FnOnce(&Device) -> Option<F>,
) -> Option<F> {
    match recording_into(commands) {
        Some(recorder) => {
            guard(name, || before(recorder));
            next(&recorder.device)
        }
        None => guard(name, || DEVICES.of(commands)).and_then(|device| next(&device)),
    }
}

/// Declares entry points that do the layer's work and then call the next layer unchanged: `field table |recorder| work`.
///
/// `unless (done)` before `|recorder|` is an expression that is `true` if there is nothing to do, or if it has done all of the work. It must not panic,
/// and should not call functions: see [`quick`](tileheap_layer::entry::quick).
macro_rules! recorded_commands {
    ($($(#[$doc:meta])* $name:ident($commands:ident $(, $arg:ident)* $(,)?)
        => $field:ident $table:ident $(unless ($done:expr))? |$recorder:ident| $before:expr;)+) => {$(
        $(#[$doc])*
        #[allow(non_snake_case, reason = "Vulkan's names")]
        pub(crate) fn $name() -> tileheap_layer::dispatch::EntryPoint {
            #[allow(unused_variables, reason = "only `unless` uses the arguments")]
            let entry = tileheap_layer::entry_point!(quick |table: &$table| table.$name, |$commands $(, $arg)*| {
                let is_done = |$recorder: &$crate::hooks::recorder::Recorder| false $(|| $done)?;
                match $crate::hooks::recorder::live($commands) {
                    Some(recorder) if is_done(recorder) => recorder.device.driver.$field.$name,
                    _ => None,
                }
            }, |$commands $(, $arg)*| {
                let next = |device: &$crate::hooks::device::Device| device.driver.$field.$name;
                let before = |$recorder: &$crate::hooks::recorder::Recorder| $before;
                match $crate::hooks::recorder::precede(stringify!($name), $commands, before, next) {
                    // SAFETY: The next layer's command of this name, with the application's arguments.
                    Some(next) => unsafe { next($commands $(, $arg)*) },
                    None => tileheap_layer::guard::Fallback::fallback(),
                }
            });
            entry
        }
    )+};
}
pub(crate) use recorded_commands;

/// Registers new command buffers.
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
            follows_order: device.check.as_ref().is_some_and(|check| check.follows_order),
            recording: Exclusive::default(),
        };
        RECORDERS.insert(commands.as_raw(), Arc::new(recorder));
    }
}

/// Removes a command buffer.
pub(crate) fn forget(commands: vk::CommandBuffer) {
    if let Some(recorder) = RECORDERS.remove(commands.as_raw()) {
        recorder.forget();
    }
}

/// Removes the command buffers of a pool.
pub(crate) fn forget_pool(device: vk::Device, pool: vk::CommandPool) {
    forget_where(|recorder| recorder.device.driver.handle == device && recorder.pool == pool);
}

/// Removes the command buffers of a device.
pub(crate) fn forget_device(device: vk::Device) {
    forget_where(|recorder| recorder.device.driver.handle == device);
}

fn forget_where(is_gone: impl Fn(&Recorder) -> bool) {
    RECORDERS.remove_all(|recorder| {
        let is_gone = is_gone(recorder);
        if is_gone {
            recorder.forget();
        }
        is_gone
    });
}

impl Recorder {
    /// Locks the recording, which the application synchronizes externally.
    #[inline]
    pub(crate) fn lock(&self) -> ExclusiveGuard<'_, Recording> {
        self.recording.lock()
    }

    /// Locks the recording, unless another thread uses it.
    #[inline(always)]
    pub(crate) fn try_lock(&self) -> Option<ExclusiveGuard<'_, Recording>> {
        self.recording.try_lock()
    }

    /// Runs `work`, which must be short, on the recording. Returns `false` if `work` does, or if another thread uses the recording.
    #[inline(always)]
    pub(crate) fn try_with_recording(&self, work: impl FnOnce(&mut Recording) -> bool) -> bool {
        match self.try_lock() {
            Some(mut recording) => work(&mut recording),
            None => false,
        }
    }

    /// The device's check.
    pub(crate) fn check(&self) -> &Check {
        self.device
            .check
            .as_ref()
            .expect("recorders exist only on devices with a check")
    }

    /// The device's tile memory.
    fn tile(&self) -> Option<&Tile> {
        self.device.tile.as_ref()
    }

    /// Removes the name of the command buffer, whose handle may be reused for another command buffer.
    fn forget(&self) {
        let object = Object::of(self.handle);
        self.device.reporter.names.set(object, "");
    }

    /// Begins a new recording.
    pub(crate) fn begin(
        &self,
        flags: vk::CommandBufferUsageFlags,
        inheritance: Option<&vk::CommandBufferInheritanceInfo<'_>>,
    ) {
        let mut recording = Recording::new(self.handle, self.is_primary);
        if flags.contains(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE) && !self.is_primary {
            recording.pass = Some(Pass {
                subpasses: Subpasses::inherited(inheritance.is_some_and(|info| self.may_read_drawn(info))),
                ..Pass::default()
            });
            let p_next = inheritance.map_or(std::ptr::null(), |info| info.p_next);
            let inherited = chained!(p_next => TileMemoryBindInfoQCOM<'_>);
            if inherited.is_some_and(|info| self.bind(&mut recording, info.memory).is_some()) {
                recording.at.bind(Some(UNKNOWN));
            }
        }
        let p_next = inheritance.map_or(std::ptr::null(), |info| info.p_next);
        let conditional = chained!(p_next => vk::CommandBufferInheritanceConditionalRenderingInfoEXT<'_>);
        recording.is_conditional =
            conditional.is_some_and(|info| info.conditional_rendering_enable != vk::FALSE);
        *self.lock() = recording;
    }

    /// Returns `true` if draws in the subpass that an inheritance info names may read attachments that they draw to.
    fn may_read_drawn(&self, inherited: &vk::CommandBufferInheritanceInfo<'_>) -> bool {
        let Device {
            resources,
            descriptors,
            ..
        } = &*self.device;
        let pass = inherited.render_pass;
        if pass == vk::RenderPass::null() {
            return descriptors.has_inputs.load(Ordering::Relaxed);
        }
        let pass = resources.render_passes.get(pass.as_raw());
        let uses = pass
            .as_ref()
            .and_then(|pass| pass.uses.get(inherited.subpass as usize));
        uses.is_some_and(|uses| reads_drawn(uses, |one| one.role == Role::Input))
    }

    /// Records that the next action command may write to resources in ways that the layer does not see.
    #[cold]
    pub(crate) fn allow_unseen_writes_of_action(&self, writes: UnseenWrites, command: &'static str) {
        let mut at = self.lock().at;
        at.act(command);
        self.allow_unseen_writes(writes, command, at);
    }

    /// Records that, after a command that is not an action command, later commands may write to resources in ways that the layer does not see: shader objects
    /// and descriptor buffers are not tracked.
    #[cold]
    pub(crate) fn begin_unseen_writes(&self, writes: UnseenWrites, command: &'static str) {
        let mut at = self.lock().at;
        at.is_between(command);
        self.allow_unseen_writes(writes, command, at);
    }

    fn allow_unseen_writes(&self, writes: UnseenWrites, command: &'static str, at: Position) {
        {
            let mut recording = self.lock();
            if recording.unseen_writes.contains(writes) {
                return;
            }
            recording.unseen_writes |= writes;
        }
        let source = UnseenSource {
            command,
            object: Object::of(self.handle),
            at: Some(at),
        };
        let messages = self.check().tracker().allow_unseen_writes(writes, source);
        self.device.reporter.report_all(messages);
    }

    /// Binds a tile memory object, or unbinds with null. Returns a finding if `memory` is not tile memory.
    pub(crate) fn bind(&self, recording: &mut Recording, memory: vk::DeviceMemory) -> Option<Finding> {
        let size = self.device.resources.object_size(memory);
        recording.bind(memory.as_raw(), size);
        if let Some(trace) = self.tile().and_then(|tile| tile.trace.as_ref()) {
            trace.bind(self.handle.as_raw(), size.unwrap_or(0));
        }
        (size.is_none() && memory != vk::DeviceMemory::null()).then(|| not_tile_memory(memory, recording.at))
    }

    /// Records the guard before the first action command with tile memory bound, outside a render pass.
    ///
    /// Not recorded at the bind: a suspended render pass instance may be resumed next, and nothing may be recorded before that.
    pub(crate) fn guard(&self) {
        if let Some(tile) = self.tile() {
            tile.heap.record_first_guard(&self.device.driver, self.handle);
        }
    }

    /// Traces a discard outside a render pass and, if poisoning is enabled, poisons its bytes.
    pub(crate) fn poison(&self, discard: Discard) {
        let Some(tile) = self.tile() else { return };
        if let Some(trace) = &tile.trace {
            trace.discard(self.handle.as_raw(), discard);
        }
        if tile.poison {
            tile.heap
                .record_poison(&self.device.driver, self.handle, discard.first, discard.end);
        }
    }
}

/// Does the layer's work before a draw or dispatch in the common case: that it performs the same accesses as an earlier one. In other cases, does
/// nothing and returns `false`.
#[inline(always)]
pub(crate) fn repeats(
    recorder: &Recorder,
    reachable: ReachableDescriptors,
    operation: &Operation<'_>,
    command: (&'static str, bool),
) -> bool {
    let reaches_descriptors = matches!(
        reachable,
        ReachableDescriptors::Draw | ReachableDescriptors::Dispatch
    );
    if !reaches_descriptors || !operation.is_direct() || recorder.device.resources.has_fetched() {
        return false;
    }
    // Not in a closure, which would not be inlined.
    match recorder.try_lock() {
        Some(mut recording) => recording.repeat(reachable, operation.groups(), command),
        None => false,
    }
}

/// Prepares an action command that does not begin or end a render pass: performs its discards, and checks the resources that it accesses. `acts` is
/// `false` for a command that may do nothing.
#[inline(always)]
pub(crate) fn before_action(
    recorder: &Recorder,
    reachable: ReachableDescriptors,
    operation: &Operation<'_>,
    (command, acts): (&'static str, bool),
) {
    let mut recording = recorder.lock();
    let acts = acts && !recording.is_conditional;
    recording.at.actions += 1;
    if recording.pass.is_none() || recording.contents.entry.is_none() {
        if let Some(before) = recording.act(command) {
            if before.guard && recording.pass.is_none() {
                recorder.guard();
            }
            before
                .discard
                .into_iter()
                .for_each(|discard| recorder.poison(discard));
        }
    }
    if operation.is_empty() {
        // Without vertices, instances or workgroups nothing is accessed.
        return;
    }
    let is_clear = || reachable == ReachableDescriptors::Other && command == "vkCmdClearAttachments";
    if reachable == ReachableDescriptors::Draw || is_clear() {
        if let Some(attachments) = recording.draw(command, acts) {
            let performed = (reachable, operation, attachments);
            return read_and_draw(recorder, recording, performed, (command, acts));
        }
    }
    match reachable {
        ReachableDescriptors::Transfer => transfer(recorder, recording, operation, command),
        ReachableDescriptors::Draw | ReachableDescriptors::Dispatch | ReachableDescriptors::TraceRays => {
            if let Operation::Fetch(fetch) = operation {
                if recorder.device.resources.has_fetched() {
                    return fetch_and_check(
                        recorder,
                        recording,
                        reachable,
                        (operation, fetch, Vec::new()),
                        (command, acts),
                    );
                }
            }
            match recording.checked(reachable, acts, operation) {
                Some(list) => {
                    recording.access_again(list, command);
                    recording.after_dispatch(reachable, list);
                }
                None => check(
                    recorder,
                    recording,
                    reachable,
                    (operation, Vec::new()),
                    (command, acts),
                ),
            }
        }
        ReachableDescriptors::Other => {}
    }
}

/// Checks the resources that a transfer command accesses.
#[inline(never)]
fn transfer(
    recorder: &Recorder,
    mut recording: ExclusiveGuard<'_, Recording>,
    operation: &Operation<'_>,
    command: &'static str,
) {
    let Operation::Transfer(transfer) = operation else {
        return;
    };
    let device = &recorder.device;
    let findings = check_transfer(&mut recording, &transfer.uses(&device.resources), command);
    // A callback may call Vulkan.
    drop(recording);
    device.reporter.report_all(findings);
}

/// Logs a draw that may read the attachments that it draws to, which is checked unless an earlier check applies, or a command that clears attachments.
#[cold]
fn read_and_draw(
    recorder: &Recorder,
    mut recording: ExclusiveGuard<'_, Recording>,
    (reachable, operation, attachments): (ReachableDescriptors, &Operation<'_>, Vec<LoggedAccess>),
    (command, acts): (&'static str, bool),
) {
    match operation {
        _ if reachable == ReachableDescriptors::Other => recording.access_with(attachments, NOTHING, command),
        Operation::Fetch(fetch) if recorder.device.resources.has_fetched() => fetch_and_check(
            recorder,
            recording,
            reachable,
            (operation, fetch, attachments),
            (command, acts),
        ),
        _ => match recording.checked(reachable, acts, operation) {
            Some(list) => recording.access_with(attachments, list, command),
            None => check(
                recorder,
                recording,
                reachable,
                (operation, attachments),
                (command, acts),
            ),
        },
    }
}

/// Logs a draw or dispatch and its fetches from tracked vertex, index and parameter buffers, and checks it unless an earlier check applies.
#[cold]
fn fetch_and_check(
    recorder: &Recorder,
    mut recording: ExclusiveGuard<'_, Recording>,
    reachable: ReachableDescriptors,
    (operation, fetch, mut own): (&Operation<'_>, &Fetch, Vec<LoggedAccess>),
    (command, acts): (&'static str, bool),
) {
    let device = &recorder.device;
    let pipeline = recording.sets.pipeline(vk::PipelineBindPoint::GRAPHICS);
    let input = device.descriptors.vertex_inputs.get(pipeline);
    let (epoch, is_skipped) = (recording.order.epoch, recording.is_conditional);
    own.extend(recording.buffers.fetch(
        &device.resources,
        input.as_deref(),
        fetch,
        (acts, is_skipped),
        epoch,
    ));
    match recording.checked(reachable, acts, operation) {
        Some(list) => {
            recording.access_with(own, list, command);
            recording.after_dispatch(reachable, list);
        }
        None => check(recorder, recording, reachable, (operation, own), (command, acts)),
    }
}

/// Checks a draw or dispatch that was not checked before, with these accesses in addition to those of its shaders.
#[inline(never)]
fn check(
    recorder: &Recorder,
    mut recording: ExclusiveGuard<'_, Recording>,
    reachable: ReachableDescriptors,
    (operation, own): (&Operation<'_>, Vec<LoggedAccess>),
    (command, acts): (&'static str, bool),
) {
    let device = &recorder.device;
    let CheckResult {
        findings,
        unseen_writes,
    } = check_descriptors(
        &mut recording,
        &device.descriptors,
        reachable,
        (operation.groups(), own),
        (command, acts),
    );
    let at = recording.at;
    // A callback may call Vulkan.
    drop(recording);
    recorder.allow_unseen_writes(unseen_writes, command, at);
    device.reporter.report_all(findings);
}
