//! A Vulkan driver that only tracks objects and records calls: for tests of error paths, leaks, order and exact call sequences, without a GPU.
//!
//! ```text
//! FakeDriver::new(Config) ──entry()──► ash::Entry ──► ash::Instance ──► ash::Device     for the tested code
//!      │                                     every call: checked, journalled, made to fail if asked
//!      ├─ journal()    typed calls in order            ├─ live()       objects not destroyed yet
//!      ├─ violations() broken valid usage              └─ fail_at(..)  which call fails
//! ```
//! Handles are unique numbers: the driver's number in the upper half, a serial number in the lower half. None is ever
//! dereferenced, so a stale handle is reported as a violation and not a crash, and drivers in parallel tests are
//! independent. The only unsafe code reads the C structures that callers point to.
//!
//! It executes nothing. A submission completes immediately, or with [`Config::asynchronous`] when something waits for
//! it or [`FakeDriver::complete`] is called. Of valid usage it only checks what these tests need: lifetimes of
//! handles, recording state, tile memory; the validation layers check the rest.

#![allow(non_snake_case, reason = "entry points have Vulkan's own names")]

mod config;
mod entry;
mod instance;
mod journal;
mod memory;
mod objects;
mod recording;
mod records;
mod rendering;
mod state;
mod submission;
mod table;
mod tile_shading;

use std::collections::BTreeMap;

use ash::vk;

pub use config::{Config, Tile};
pub use journal::{
    Attachment, Barrier, BarrierTarget, Call, Command, DepthResolve, Object, Reference, SubmittedBatch,
    Subpass,
};
pub use state::{CallHook, Inside, inside};

use state::Driver;

/// A fake driver for one test.
pub struct FakeDriver {
    driver: &'static Driver,
}

impl FakeDriver {
    /// Creates a driver with the capabilities of `config`.
    pub fn new(config: Config) -> FakeDriver {
        FakeDriver {
            driver: state::register(config),
        }
    }

    /// The driver's entry. Instances that *this thread* creates from here on belong to this driver.
    pub fn entry(&self) -> ash::Entry {
        state::make_current(self.driver);
        let static_fn = ash::StaticFn {
            get_instance_proc_addr: table::vkGetInstanceProcAddr,
        };
        // SAFETY: Every pointer of the table has the type of its name, and is static.
        unsafe { ash::Entry::from_static_fn(static_fn) }
    }

    /// Every call so far, including failed ones; queries are not recorded.
    pub fn journal(&self) -> Vec<Call> {
        self.driver.lock().journal.clone()
    }

    /// The number of calls so far, queries included.
    pub fn calls(&self) -> usize {
        self.driver.lock().calls
    }

    /// Clears the journal.
    pub fn clear_journal(&self) {
        self.driver.lock().journal.clear();
    }

    /// The commands of a command buffer since it was begun.
    pub fn recorded(&self, command_buffer: vk::CommandBuffer) -> Vec<Command> {
        self.driver.lock().recorded(command_buffer)
    }

    /// The number of live objects of each type, without types that have none. Physical devices and queues do not count.
    pub fn live(&self) -> BTreeMap<vk::ObjectType, usize> {
        self.driver.lock().live()
    }

    pub fn live_below_device(&self) -> usize {
        let above = [vk::ObjectType::INSTANCE, vk::ObjectType::DEVICE];
        self.live()
            .into_iter()
            .filter(|(kind, _)| !above.contains(kind))
            .map(|(_, count)| count)
            .sum()
    }

    /// Violations of valid usage so far, as text.
    pub fn violations(&self) -> Vec<String> {
        self.driver.lock().violations.clone()
    }

    /// The names of the calls so far that could have failed, in order. [`fail_at`](Self::fail_at) counts
    /// these calls.
    pub fn fallible(&self) -> Vec<&'static str> {
        self.driver.lock().fallible.clone()
    }

    /// Makes the `nth` fallible call from now on (0: the next) fail with `result`, whatever its function.
    pub fn fail_at(&self, nth: usize, result: vk::Result) {
        let mut state = self.driver.lock();
        let nth = state.fallible.len() + nth;
        state.failures.push((nth, None, result));
    }

    /// Makes the `nth` call of `function` from now on (0: the next) fail with `result`.
    pub fn fail(&self, function: &'static str, nth: usize, result: vk::Result) {
        let mut state = self.driver.lock();
        let nth = state.fallible_of.get(function).copied().unwrap_or_default() + nth;
        state.failures.push((nth, Some(function), result));
    }

    /// Runs calls of the test itself: they neither fail nor count as fallible.
    pub fn without_failures<R>(&self, calls: impl FnOnce() -> R) -> R {
        self.driver.lock().is_exempt = true;
        let result = calls();
        self.driver.lock().is_exempt = false;
        result
    }

    /// Cancels failures that have not happened yet.
    pub fn fail_no_more(&self) {
        self.driver.lock().failures.clear();
    }

    /// The types of chained structures for each call that creates or allocates something with a chain.
    pub fn chains(&self) -> Vec<(&'static str, Vec<vk::StructureType>)> {
        self.driver.lock().chains.clone()
    }

    /// From now on, reports submissions, waits and queries of progress as violations.
    pub fn forbid_waits(&self) {
        self.driver.lock().forbids_waits = true;
    }

    /// From now on, calls `hook` at the start of each `vkCreate*`, `vkAllocate*` and `vkWait*`, while the driver is not locked: other threads can call
    /// the driver meanwhile. An error of the hook is recorded as a violation.
    pub fn on_slow_calls(&self, hook: Option<CallHook>) {
        // Dropped after the lock is released: objects that the hook owns may call the driver.
        let _previous = std::mem::replace(&mut self.driver.lock().call_hook, hook);
    }

    /// Sets the budget and usage that `VK_EXT_memory_budget` reports for the device-local heap.
    pub fn set_heap_use(&self, budget: u64, usage: u64) {
        self.driver.lock().heap_use = (budget, usage);
    }

    /// Completes all submitted batches.
    pub fn complete(&self) {
        self.driver.lock().complete_all();
    }

    /// The number of submitted batches that are not complete.
    pub fn pending(&self) -> usize {
        self.driver.lock().pending.len()
    }
}
