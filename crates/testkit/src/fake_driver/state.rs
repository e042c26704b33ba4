//! The driver's state: objects, injected failures, violations found.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use ash::vk;
use ash::vk::Handle;
use tileheap::runtime::Capabilities;

use super::config::Config;
use super::journal::{Call, Command, Object};
use super::records::{BufferFacts, Detail, Enabled, ImageFacts, Memory, Pending, Record, Recording, Stage};

/// A driver. It is leaked, so that a handle that outlives its test still finds its driver.
pub(super) struct Driver {
    pub(super) config: Config,
    /// The upper half of every handle of this driver.
    number: u64,
    state: Mutex<State>,
}

/// The mutable state of a driver.
#[derive(Default)]
pub(super) struct State {
    last_serial: u64,
    pub(super) objects: BTreeMap<u64, Record>,
    pub(super) journal: Vec<Call>,
    pub(super) violations: Vec<String>,
    /// The number of calls so far, of all functions.
    pub(super) calls: usize,
    /// Calls so far that could have failed.
    pub(super) fallible: Vec<&'static str>,
    /// The number of fallible calls by function.
    pub(super) fallible_of: BTreeMap<&'static str, usize>,
    /// Calls that are set to fail: by index among all fallible calls, or among those of one function.
    pub(super) failures: Vec<(usize, Option<&'static str>, vk::Result)>,
    pub(super) pending: Vec<Pending>,
    /// Budget and usage of the device-local heap, as the driver reports them.
    pub(super) heap_use: (u64, u64),
    /// True while calls neither fail nor count.
    pub(super) is_exempt: bool,
    /// True after a call has failed with `ERROR_DEVICE_LOST`: from then on, all submissions and waits fail.
    pub(super) lost: bool,
    /// The types of the structures chained in calls that create or allocate.
    pub(super) chains: Vec<(&'static str, Vec<vk::StructureType>)>,
    /// True if submissions, waits and queries of progress are violations.
    pub(super) forbids_waits: bool,
    pub(super) call_hook: Option<CallHook>,
}

/// Called with the name of a function that creates, allocates or waits; an error is a violation.
pub type CallHook = Arc<dyn Fn(&'static str) -> Result<(), String> + Send + Sync>;

static DRIVERS: RwLock<Vec<&'static Driver>> = RwLock::new(Vec::new());

thread_local! {
    static CURRENT: Cell<Option<&'static Driver>> = const { Cell::new(None) };
    static INSIDE: Cell<u32> = const { Cell::new(0) };
}

/// Creates a driver with the next number, and registers it.
pub(super) fn register(config: Config) -> &'static Driver {
    let mut drivers = DRIVERS.write().unwrap_or_else(PoisonError::into_inner);
    let number = drivers.len() as u64 + 1;
    let driver: &'static Driver = Box::leak(Box::new(Driver {
        config,
        number,
        state: Mutex::default(),
    }));
    drivers.push(driver);
    driver
}

/// Makes `driver` the one for which this thread creates instances.
pub(super) fn make_current(driver: &'static Driver) {
    CURRENT.set(Some(driver));
}

/// The driver whose number is in the upper half of a handle.
fn driver_of(handle: u64) -> Option<&'static Driver> {
    let drivers = DRIVERS.read().unwrap_or_else(PoisonError::into_inner);
    drivers.get((handle >> 32).checked_sub(1)? as usize).copied()
}

/// Returns true if this thread is inside the driver, whose allocations do not count.
pub fn inside() -> bool {
    INSIDE.get() > 0
}

/// Marks this thread as inside the driver until dropped.
pub struct Inside(());

impl Inside {
    pub fn enter() -> Inside {
        INSIDE.set(INSIDE.get() + 1);
        Inside(())
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(INSIDE.get() - 1);
    }
}

/// A call in progress: the driver of the handle that it was called with, and its locked state.
pub(super) struct Entered {
    // Dropped before `_inside`: unlocks while the thread is still marked as inside.
    state: MutexGuard<'static, State>,
    pub(super) driver: &'static Driver,
    pub(super) function: &'static str,
    /// The device that the handle belongs to, or 0.
    pub(super) device: u64,
    _inside: Inside,
}

impl Deref for Entered {
    type Target = State;
    fn deref(&self) -> &State {
        &self.state
    }
}

impl DerefMut for Entered {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

/// Enters the driver of a dispatchable handle.
pub(super) fn enter<T: Handle + Copy>(handle: T, function: &'static str) -> Entered {
    let inside = Inside::enter();
    let raw = handle.as_raw();
    let Some(driver) = driver_of(raw) else {
        // There is no driver to record it in, and no way to unwind through the caller.
        eprintln!("{function} was called with {raw:#x}, which no fake driver made");
        std::process::abort();
    };
    let hooked = driver.run_call_hook(function);
    let mut entered = Entered {
        state: driver.lock(),
        driver,
        function,
        device: 0,
        _inside: inside,
    };
    entered.calls += 1;
    if let Err(what) = hooked {
        entered.violation(what);
    }
    entered.expect(handle);
    entered.device = entered.state.device_of(raw);
    entered
}

/// Enters the driver that this thread made current.
pub(super) fn enter_current(function: &'static str) -> Entered {
    let inside = Inside::enter();
    let Some(driver) = CURRENT.get() else {
        eprintln!("{function} was called on a thread that has no FakeDriver::entry()");
        std::process::abort();
    };
    Entered {
        state: driver.lock(),
        driver,
        function,
        device: 0,
        _inside: inside,
    }
}

impl Entered {
    /// The error with which this call is set to fail, if any.
    pub(super) fn fails(&mut self) -> Option<vk::Result> {
        if self.is_exempt {
            return None;
        }
        let function = self.function;
        let place = self.fallible.len();
        self.fallible.push(function);
        let count = self.fallible_of.entry(function).or_default();
        let place_of_function = *count;
        *count += 1;
        let hit = self.failures.iter().position(|(nth, name, _)| match name {
            None => *nth == place,
            Some(name) => *name == function && *nth == place_of_function,
        })?;
        let (_, _, result) = self.failures.remove(hit);
        self.journal.push(Call::Failed { function, result });
        if result == vk::Result::ERROR_DEVICE_LOST {
            // Pending batches count as complete: their objects may be destroyed.
            self.lost = true;
            self.complete_all();
        }
        Some(result)
    }

    /// Like [`fails`](Self::fails), for submissions and waits: they also fail on a lost device.
    pub(super) fn fails_or_lost(&mut self) -> Option<vk::Result> {
        if self.forbids_waits {
            self.violation("called although the device is known to be lost");
        }
        let failed = self.fails();
        if failed.is_none() && self.lost {
            return Some(self.refuse(vk::Result::ERROR_DEVICE_LOST));
        }
        failed
    }

    /// Records that this call fails with a result that the test did not request; returns the result.
    pub(super) fn refuse(&mut self, result: vk::Result) -> vk::Result {
        let function = self.function;
        self.journal.push(Call::Failed { function, result });
        result
    }

    /// Records the types of the structures in a chain, if there are any.
    pub(super) fn note_chain(&mut self, mut next: *const c_void) {
        let mut kinds = Vec::new();
        while !next.is_null() {
            // SAFETY: Valid usage: each structure of a chain begins with `sType` and `pNext`.
            let base = unsafe { &*next.cast::<vk::BaseInStructure<'_>>() };
            kinds.push(base.s_type);
            next = base.p_next.cast();
        }
        if !kinds.is_empty() {
            let function = self.function;
            self.chains.push((function, kinds));
        }
    }

    /// Records a violation of valid usage.
    pub(super) fn violation(&mut self, what: impl std::fmt::Display) {
        let text = format!("{}: {what}", self.function);
        self.violations.push(text);
    }

    /// Records a violation unless `handle` is a live object of its type.
    pub(super) fn expect<T: Handle + Copy>(&mut self, handle: T) {
        self.expect_raw(handle.as_raw(), T::TYPE);
    }

    /// Like [`expect`](Self::expect), unless `handle` is null.
    pub(super) fn expect_optional<T: Handle + Copy>(&mut self, handle: T) {
        if handle.as_raw() != 0 {
            self.expect(handle);
        }
    }

    pub(super) fn expect_raw(&mut self, handle: u64, kind: vk::ObjectType) {
        let fault = match self.objects.get(&handle) {
            None => "was never made",
            Some(record) if record.kind != kind => "is of another type",
            Some(record) if !record.alive => "was already destroyed",
            Some(_) => return,
        };
        self.violation(format_args!("{kind:?} {handle:#x} {fault}"));
    }

    /// Creates an object and adds the call to the journal.
    pub(super) fn create<T: Handle>(&mut self, parent: u64, uses: &[u64], detail: Detail) -> T {
        let handle = self.make(T::TYPE, parent, uses, detail);
        let (function, object) = (self.function, Object::of(T::from_raw(handle)));
        self.journal.push(Call::Create { function, object });
        T::from_raw(handle)
    }

    /// Creates an object without adding a call to the journal.
    pub(super) fn make(&mut self, kind: vk::ObjectType, parent: u64, uses: &[u64], detail: Detail) -> u64 {
        self.last_serial += 1;
        let handle = self.driver.number << 32 | self.last_serial;
        let uses = uses.iter().copied().filter(|used| *used != 0).collect();
        self.objects.insert(
            handle,
            Record {
                kind,
                alive: true,
                parent,
                uses,
                detail,
            },
        );
        handle
    }

    /// Destroys an object and everything allocated from it; null is allowed. Records a violation if a pending submission uses the object, or if an
    /// instance or device still has live objects.
    pub(super) fn destroy<T: Handle + Copy>(&mut self, handle: T) {
        let raw = handle.as_raw();
        if raw == 0 {
            return;
        }
        self.expect(handle);
        let mine = |record: &Record| record.alive && record.kind == T::TYPE;
        if !self.objects.get(&raw).is_some_and(mine) {
            return;
        }
        let in_use = self.pending.iter().any(|batch| {
            let uses = |user: &u64| *user == raw || self.needs(*user).contains(&raw);
            batch.fence == Some(raw)
                || batch.signals.iter().any(|(semaphore, _)| *semaphore == raw)
                || batch.command_buffers.iter().any(uses)
        });
        if in_use {
            self.violation(format_args!(
                "{:?} {raw:#x} is in use by a pending submission",
                T::TYPE
            ));
        }
        let pooled = matches!(
            T::TYPE,
            vk::ObjectType::COMMAND_POOL | vk::ObjectType::DESCRIPTOR_POOL
        );
        // Other objects have no children.
        let parent = pooled || matches!(T::TYPE, vk::ObjectType::INSTANCE | vk::ObjectType::DEVICE);
        let children: Vec<(u64, vk::ObjectType)> = (self.objects.iter())
            .filter(|(_, record)| parent && record.alive && record.parent == raw)
            .map(|(child, record)| (*child, record.kind))
            .collect();
        for (child, kind) in children {
            let built_in = matches!(kind, vk::ObjectType::QUEUE | vk::ObjectType::PHYSICAL_DEVICE);
            if pooled || built_in {
                self.remove_object(child);
            } else {
                // VUID-vkDestroyDevice-device-05137, VUID-vkDestroyInstance-instance-00629.
                self.violation(format_args!("{kind:?} {child:#x} is still alive"));
            }
        }
        self.remove_object(raw);
        let (function, object) = (self.function, Object::of(handle));
        self.journal.push(Call::Destroy { function, object });
    }

    fn remove_object(&mut self, handle: u64) {
        if let Some(record) = self.objects.get_mut(&handle) {
            record.alive = false;
            // Mapped bytes are freed, other details stay: command buffers may still name the object.
            if let Detail::Memory(memory) = &mut record.detail {
                memory.mapped = None;
            }
        }
    }

    /// Adds this call to the journal as [`Call::Other`].
    pub(super) fn note<T: Handle>(&mut self, handle: T) {
        let (function, object) = (self.function, Object::of(handle));
        self.journal.push(Call::Other { function, object });
    }

    pub(super) fn enabled(&self) -> Enabled {
        match self.objects.get(&self.device).map(|record| &record.detail) {
            Some(Detail::Device(enabled)) => enabled.clone(),
            _ => Enabled::default(),
        }
    }

    pub(super) fn enables(&self, feature: Capabilities) -> bool {
        self.enabled().features.contains(feature)
    }
}

impl Driver {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the hook, if there is one and the function creates, allocates or waits; other threads may call the driver meanwhile.
    fn run_call_hook(&self, function: &'static str) -> Result<(), String> {
        if !["vkCreate", "vkAllocate", "vkWait"]
            .iter()
            .any(|prefix| function.starts_with(prefix))
        {
            return Ok(());
        }
        let hook = self.lock().call_hook.clone();
        hook.map_or(Ok(()), |hook| hook(function))
    }
}

impl State {
    /// The device that a handle belongs to, or 0.
    fn device_of(&self, handle: u64) -> u64 {
        let mut at = handle;
        while let Some(record) = self.objects.get(&at) {
            if record.kind == vk::ObjectType::DEVICE {
                return at;
            }
            at = record.parent;
        }
        0
    }

    /// Every object that must be alive when `handle` is used.
    pub(super) fn needs(&self, handle: u64) -> BTreeSet<u64> {
        let mut seen = BTreeSet::new();
        let mut open = vec![handle];
        while let Some(next) = open.pop() {
            let Some(record) = self.objects.get(&next) else {
                continue;
            };
            let named = match &record.detail {
                Detail::CommandBuffer(recording) => recording.names.iter().copied().collect(),
                Detail::Image(ImageFacts {
                    bound: Some((memory, _)),
                    ..
                })
                | Detail::Buffer(BufferFacts {
                    bound: Some((memory, _)),
                    ..
                }) => vec![memory.as_raw()],
                _ => Vec::new(),
            };
            for used in record.uses.iter().copied().chain(named) {
                if seen.insert(used) {
                    open.push(used);
                }
            }
        }
        seen
    }

    pub(super) fn live(&self) -> BTreeMap<vk::ObjectType, usize> {
        let mut live = BTreeMap::new();
        for record in self.objects.values().filter(|record| record.alive) {
            if !matches!(
                record.kind,
                vk::ObjectType::PHYSICAL_DEVICE | vk::ObjectType::QUEUE
            ) {
                *live.entry(record.kind).or_insert(0) += 1;
            }
        }
        live
    }

    pub(super) fn recorded(&mut self, command_buffer: vk::CommandBuffer) -> Vec<Command> {
        self.recording(command_buffer)
            .map(|recording| recording.commands.clone())
            .unwrap_or_default()
    }

    /// The details of an object.
    pub(super) fn detail(&self, handle: impl Handle) -> Option<&Detail> {
        self.objects.get(&handle.as_raw()).map(|record| &record.detail)
    }

    pub(super) fn detail_mut(&mut self, handle: impl Handle) -> Option<&mut Detail> {
        let record = self.objects.get_mut(&handle.as_raw());
        record.map(|record| &mut record.detail)
    }

    pub(super) fn recording(&mut self, command_buffer: vk::CommandBuffer) -> Option<&mut Recording> {
        match self.detail_mut(command_buffer) {
            Some(Detail::CommandBuffer(recording)) => Some(recording),
            _ => None,
        }
    }

    pub(super) fn image(&self, image: vk::Image) -> Option<&ImageFacts> {
        match self.detail(image) {
            Some(Detail::Image(facts)) => Some(facts),
            _ => None,
        }
    }

    pub(super) fn buffer(&self, buffer: vk::Buffer) -> Option<&BufferFacts> {
        match self.detail(buffer) {
            Some(Detail::Buffer(facts)) => Some(facts),
            _ => None,
        }
    }

    pub(super) fn memory(&self, memory: vk::DeviceMemory) -> Option<&Memory> {
        match self.detail(memory) {
            Some(Detail::Memory(facts)) => Some(facts),
            _ => None,
        }
    }

    pub(super) fn image_of(&self, view: vk::ImageView) -> vk::Image {
        let image = self
            .objects
            .get(&view.as_raw())
            .and_then(|record| record.uses.first().copied());
        vk::Image::from_raw(image.unwrap_or(0))
    }

    pub(super) fn tile_memory_of(&self, image: vk::Image) -> Option<vk::DeviceMemory> {
        let (memory, _) = self.image(image)?.bound?;
        self.memory(memory)?.tile.then_some(memory)
    }

    pub(super) fn complete_all(&mut self) {
        for batch in std::mem::take(&mut self.pending) {
            self.complete(batch);
        }
    }

    /// Completes pending batches up to and including the last one for which `last` returns true; returns false if there is none.
    pub(super) fn complete_until(&mut self, last: impl Fn(&Pending) -> bool) -> bool {
        let Some(at) = self.pending.iter().rposition(last) else {
            return false;
        };
        for batch in self.pending.drain(..=at).collect::<Vec<_>>() {
            self.complete(batch);
        }
        true
    }

    pub(super) fn complete(&mut self, batch: Pending) {
        for command_buffer in batch.command_buffers {
            let recording = self.recording(vk::CommandBuffer::from_raw(command_buffer));
            if let Some(recording) = recording.filter(|one| one.stage == Stage::Pending) {
                recording.stage = match recording.one_time {
                    true => Stage::Invalid,
                    false => Stage::Executable,
                };
            }
        }
        for (semaphore, to) in batch.signals {
            let semaphore = vk::Semaphore::from_raw(semaphore);
            if let Some(Detail::Semaphore { value: Some(value) }) = self.detail_mut(semaphore) {
                *value = (*value).max(to);
            }
        }
        let fence = vk::Fence::from_raw(batch.fence.unwrap_or(0));
        if let Some(Detail::Fence { signaled }) = self.detail_mut(fence) {
            *signaled = true;
        }
    }
}
