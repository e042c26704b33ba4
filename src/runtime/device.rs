//! The runtime's device: plans and binds frames.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use ash::vk;
use tileheap_units::CompactSort;

use super::bind::{Binder, check_plan, profile_difference, render_passes};
use super::bound_frame::BoundFrame;
use super::capabilities::Capabilities;
use super::device_additions::features_of_version;
use super::device_queue::DeviceQueue;
use super::device_state::DeviceState;
use super::error::RuntimeError;
use super::functions::Functions;
use super::hooks::Hooks;
use super::memory::{BlockAllocator, MemoryAllocator};
use super::planning::DevicePlanner;
use super::pool::Pool;
use super::retire::RetiredList;
use super::series::Series;
use super::support::{DeviceSupport, MissingRequirement, plan_features};
use super::timelines::{HeldQueues, Timelines};
use crate::execute::ExecutedFrame;
use crate::frame::{Frame, ResourceId};
use crate::lower::{DeviceQueues, LoweringDesc, PipelineTargets};
use crate::measure::Requirements;
#[cfg(doc)]
use crate::plan::Planner;
use crate::plan::{Plan, PlanOptions, Runnable};
use crate::profile::{DeviceProfile, OptionalFeatures};
use crate::units::Bytes;
use crate::{Checked, Result};

/// The parameters of [`Device::new`] other than the handles.
#[derive(Clone, Default)]
pub struct DeviceDesc {
    /// The queues that frames may be submitted to.
    ///
    /// They are assigned to a frame's queues in order: each queue of the frame gets the first unassigned one that is capable of it, else
    /// the first capable one.
    pub queues: Vec<DeviceQueue>,
    /// The capabilities enabled on the device: [`DeviceAdditions::capabilities`](super::detect::DeviceAdditions::capabilities), or those that the caller
    /// enabled.
    pub enabled: Capabilities,
    /// Capabilities not to use even if enabled: forces the fallbacks.
    pub without: Capabilities,
    /// The optional features enabled on the device: [`DeviceAdditions::optional_features`](super::detect::DeviceAdditions::optional_features), or those that
    /// the caller enabled. Frames that need another one are rejected when they are planned. `None` for all of them. Features that are also [`Capabilities`]
    /// count only if those are in use.
    pub optional_features: Option<OptionalFeatures>,
    /// The caller's allocator of blocks (an `Arc<Mutex<gpu_allocator::vulkan::Allocator>>`, or an engine's own); `None` to use the
    /// runtime's own.
    ///
    /// Its blocks must allow device addresses if frames are to use them. It is not used for tile memory, lazily allocated
    /// memory, and memory to which [hooks](DeviceDesc::hooks) chain structures.
    pub allocator: Option<Arc<dyn BlockAllocator>>,
    /// The maximum number of bytes that all bound frames together may hold; `None` for no maximum. The limit of the system
    /// (`VK_EXT_memory_budget`) holds in either case.
    pub memory_limit: Option<Bytes>,
    /// Supplies the structures chained to images, buffers and render passes that are described with a hook, to their views, and to memory.
    pub hooks: Option<Arc<dyn Hooks>>,
}

/// A Vulkan device that plans and binds frames. Clones are handles to the same device.
#[derive(Clone)]
pub struct Device {
    shared: Arc<Shared>,
}

/// The queues of a [`Device`], locked; see [`Device::lock_queues`].
#[must_use = "the queues are locked until it is dropped"]
pub struct QueuesGuard<'a> {
    _queues: HeldQueues<'a>,
}

impl fmt::Debug for QueuesGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("QueuesGuard")
    }
}

/// The optional features in use: those that are also capabilities only if the capability is in use.
fn optional_features(desc: &DeviceDesc, capabilities: Capabilities) -> OptionalFeatures {
    let own = Capabilities::all().optional_features();
    let mut stated = desc.optional_features.unwrap_or(OptionalFeatures::all());
    if !capabilities.contains(Capabilities::TILE_SHADING) {
        stated -= OptionalFeatures::TILE_SHADING_SUBFEATURES;
    }
    stated.difference(own) | capabilities.optional_features()
}

/// Returns true if blocks of memory must allow device addresses.
fn has_device_addresses(desc: &DeviceDesc) -> bool {
    (desc.enabled & !desc.without).contains(Capabilities::BUFFER_DEVICE_ADDRESS)
}

/// State that the handles of a [`Device`] share.
struct Shared {
    state: Arc<DeviceState>,
    missing: Vec<MissingRequirement>,
    queues: Vec<DeviceQueue>,
    planner: DevicePlanner,
    retired: Arc<RetiredList>,
    timelines: Arc<Timelines>,
}

impl Device {
    /// Wraps a device that the caller created.
    ///
    /// ```no_run
    /// # use ash::vk;
    /// # use tileheap::runtime::*;
    /// # use tileheap::runtime::detect::DeviceAdditions;
    /// # fn f(
    /// #     instance: &ash::Instance, physical_device: vk::PhysicalDevice, device: &ash::Device, queue: vk::Queue, enable: &DeviceAdditions,
    /// # ) -> tileheap::Result<()> {
    /// // SAFETY: the instance was created with this version.
    /// let support = unsafe { DeviceSupport::query(instance, physical_device, vk::API_VERSION_1_3) }?;
    /// let desc = DeviceDesc {
    ///     queues: vec![DeviceQueue { handle: queue, family: 0, capabilities: vk::QueueFlags::GRAPHICS }],
    ///     enabled: enable.capabilities(), // what `vkCreateDevice` was given
    ///     optional_features: Some(enable.optional_features()),
    ///     ..DeviceDesc::default()
    /// };
    /// // SAFETY: the handles belong together, and outlive `tile`.
    /// let tile = unsafe { Device::new(instance, physical_device, device, &support, desc) }?;
    /// for missing in tile.missing_requirements() {
    ///     println!("no tile memory: {missing}");
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When the allocator of ordinary memory or a semaphore cannot be created.
    ///
    /// # Safety
    /// - The handles are alive and belong together, and live until [`Device::destroy`] has returned.
    /// - `desc.enabled` contains only what the device and its instance were created with.
    pub unsafe fn new(
        instance: &ash::Instance,
        physical_device: vk::PhysicalDevice,
        device: &ash::Device,
        support: &DeviceSupport,
        desc: DeviceDesc,
    ) -> Result<Device> {
        let device_address = has_device_addresses(&desc);
        let memory = match desc.allocator.clone() {
            Some(allocator) => MemoryAllocator::shared(allocator, device_address),
            None => MemoryAllocator::own(instance, physical_device, device, device_address)?,
        };
        Device::create(instance, physical_device, device, support, desc, memory)
    }

    /// Like [`Device::new`], with an allocator of the caller in place of `desc.allocator`. A program that creates devices only in this way does not
    /// contain gpu-allocator.
    ///
    /// # Errors
    /// When a semaphore cannot be created.
    ///
    /// # Safety
    /// Same as [`Device::new`].
    pub unsafe fn with_allocator(
        instance: &ash::Instance,
        physical_device: vk::PhysicalDevice,
        device: &ash::Device,
        support: &DeviceSupport,
        desc: DeviceDesc,
        allocator: Arc<dyn BlockAllocator>,
    ) -> Result<Device> {
        let memory = MemoryAllocator::shared(allocator, has_device_addresses(&desc));
        Device::create(instance, physical_device, device, support, desc, memory)
    }

    fn create(
        instance: &ash::Instance,
        physical_device: vk::PhysicalDevice,
        device: &ash::Device,
        support: &DeviceSupport,
        desc: DeviceDesc,
        memory: MemoryAllocator,
    ) -> Result<Device> {
        let mut capabilities = desc.enabled & !desc.without;
        let mut missing = support.missing_requirements().to_vec();
        if missing.is_empty() && !capabilities.contains(Capabilities::TILE_MEMORY) {
            missing.push(MissingRequirement::NotEnabled);
        }
        let functions = Functions::load(instance, device, support.version(), capabilities);
        if functions.tile_memory.is_none() && capabilities.contains(Capabilities::TILE_MEMORY) {
            missing.push(MissingRequirement::Function);
        }
        if !missing.is_empty() {
            capabilities -= Capabilities::TILE_MEMORY;
        }
        for link in &missing {
            tracing::info!(reason = %link, "no tile memory: transients share ordinary memory");
        }
        let mut profile = DeviceProfile::clone(support.profile());
        profile.tile = profile.tile.filter(|_| missing.is_empty());
        profile.features = plan_features(capabilities);
        profile.optional_features =
            Some(optional_features(&desc, capabilities) | features_of_version(support.version()));
        let profile = Arc::new(profile);
        let state = DeviceState {
            instance: instance.clone(),
            physical_device,
            device: device.clone(),
            functions,
            profile: profile.clone(),
            capabilities,
            hooks: desc.hooks,
            memory,
            pool: Pool::new(desc.memory_limit),
            measured: Mutex::default(),
            reports_budget: support.has_extension(ash::ext::memory_budget::NAME),
            lost: OnceLock::new(),
        };
        let state = Arc::new(state);
        let timelines = Arc::new(Timelines::new(&state, &desc.queues)?);
        if state.functions.timeline_semaphore.is_some() {
            state.pool.count_by(timelines.semaphores().to_vec());
        }
        let shared = Shared {
            state,
            timelines,
            missing,
            queues: desc.queues,
            planner: DevicePlanner::new(profile),
            retired: Arc::default(),
        };
        Ok(Device {
            shared: Arc::new(shared),
        })
    }

    /// A series whose frames may run on any queue of the device.
    pub(super) fn series(&self) -> Result<Arc<Series>> {
        let Shared {
            state,
            retired,
            timelines,
            queues,
            ..
        } = &*self.shared;
        let numbered = (0..).zip(timelines.semaphores().iter().copied());
        let mut families: Vec<u32> = queues.iter().map(|queue| queue.family).collect();
        families.compact_sort();
        families.dedup();
        if families.len() == 1 {
            families.clear();
        }
        Series::new(state, retired, numbered, families)
    }

    /// A series for one bound frame, which runs on these queues.
    fn series_of_one(&self, queues: &[DeviceQueue]) -> Result<Arc<Series>> {
        let Shared {
            state,
            retired,
            timelines,
            ..
        } = &*self.shared;
        let mut numbers: Vec<usize> = queues.iter().map(|queue| timelines.number_of(queue)).collect();
        numbers.compact_sort();
        numbers.dedup();
        let numbered = numbers
            .iter()
            .map(|&number| (number, timelines.semaphore(number)));
        Series::new(state, retired, numbered, Vec::new())
    }

    pub(super) fn state(&self) -> &Arc<DeviceState> {
        &self.shared.state
    }

    /// The instance that the device belongs to.
    pub fn instance(&self) -> &ash::Instance {
        &self.shared.state.instance
    }

    /// The physical device.
    pub fn physical_device(&self) -> vk::PhysicalDevice {
        self.shared.state.physical_device
    }

    /// The profile of the device as it was created, for which plans are made.
    pub fn profile(&self) -> &Arc<DeviceProfile> {
        &self.shared.state.profile
    }

    /// The reasons why this device does not use tile memory; empty if it does.
    pub fn missing_requirements(&self) -> &[MissingRequirement] {
        &self.shared.missing
    }

    /// The capabilities in use: enabled, and not in [`DeviceDesc::without`].
    pub fn capabilities(&self) -> Capabilities {
        self.shared.state.capabilities
    }

    /// The caller's device.
    pub fn raw(&self) -> &ash::Device {
        &self.shared.state.device
    }

    /// The queues that frames may be submitted to.
    pub fn queues(&self) -> &[DeviceQueue] {
        &self.shared.queues
    }

    /// Keeps every other thread from submitting through this crate, until the guard is dropped.
    ///
    /// Safe functions that submit (uploads of constants, for example) hold it for their `vkQueueSubmit`, and so does
    /// [`FrameRecorder::submit`](super::FrameRecorder::submit). A program that itself submits to a queue of the device, presents on it or
    /// waits for it to be idle must hold it too, if other threads may use tileheap meanwhile.
    ///
    /// # Panics
    /// If this thread already holds a guard. While it does, [`Device::bind`], and functions that select, begin or submit frames, panic too.
    pub fn lock_queues(&self) -> QueuesGuard<'_> {
        QueuesGuard {
            _queues: self.shared.timelines.hold(),
        }
    }

    /// Queries the memory requirements of every resource of `frame`; for a rewritten one, of the frame that is executed.
    ///
    /// # Errors
    /// When an image's format, usage or size is not supported, naming it, or the driver fails.
    pub fn measure(&self, frame: impl Into<ExecutedFrame>) -> Result<Arc<Requirements>> {
        self.measure_runnable(Runnable::new(&frame.into(), self.profile())?)
    }

    fn measure_runnable(&self, runnable: Runnable<'_>) -> Result<Arc<Requirements>> {
        let state = &self.shared.state;
        Ok(Arc::new(state.noting_loss(state.measure(runnable))?))
    }

    /// Measures and plans `frame`, or looks up the plan if that was done before.
    ///
    /// # Errors
    /// As [`Device::measure`] and [`plan`](crate::plan::plan).
    pub fn plan(&self, frame: impl Into<ExecutedFrame>, options: &PlanOptions) -> Result<Arc<Checked<Plan>>> {
        let (executed, planner) = (frame.into(), &self.shared.planner);
        if let Some(plan) = planner.cached_plan(&executed, options) {
            return Ok(plan);
        }
        let runnable = Runnable::new(&executed, self.profile())?;
        planner.plan(runnable, &self.measure_runnable(runnable)?, options)
    }

    /// Like [`Device::plan`], but does not wait for the exact search: if these inputs have not been planned yet, repairs the most recently used plan with the
    /// same options or, if there is none, plans in fast mode ([`Planner::plan_now`]). Another thread can make the exact plan later, with
    /// [`Device::plan`].
    ///
    /// # Errors
    /// Same as [`Device::plan`].
    pub fn plan_now(
        &self,
        frame: impl Into<ExecutedFrame>,
        options: &PlanOptions,
    ) -> Result<Arc<Checked<Plan>>> {
        let (executed, planner) = (frame.into(), &self.shared.planner);
        if let Some(plan) = planner.cached_plan(&executed, options) {
            return Ok(plan);
        }
        let runnable = Runnable::new(&executed, self.profile())?;
        planner.plan_now(runnable, &self.measure_runnable(runnable)?, options)
    }

    /// Adds a plan that was made elsewhere, or shipped with the program ([`Plan::checked`]): [`Device::plan`] returns it for its inputs from now on.
    /// See [`Planner::adopt`]. Returns false in the cases listed there, and if the plan is for another device, or this device cannot run its frame.
    pub fn adopt(&self, plan: Arc<Checked<Plan>>) -> bool {
        let profile = self.profile();
        if plan.profile == *profile {
            return self.shared.planner.adopt(plan);
        }
        if profile_difference(&plan.profile, profile).is_some() || plan.frame.check_on(profile).is_err() {
            return false;
        }
        // The plan depends on nothing that is different, so it stays valid.
        let plan = Checked::new(Plan {
            profile: profile.clone(),
            ..Plan::clone(&plan)
        });
        self.shared.planner.adopt(Arc::new(plan))
    }

    /// The pipeline creation parameters of all render passes, before anything is bound: like [`Checked::targets`], with the render pass objects
    /// of passes that are not rendered dynamically.
    ///
    /// Render pass objects exist until the device is destroyed, and those of a plan that is bound later are compatible if its formats, samples and
    /// attachments are the same.
    ///
    /// # Errors
    /// If the plan is for another device, memory runs out, or the device is lost.
    pub fn targets(&self, plan: &Checked<Plan>) -> Result<PipelineTargets> {
        let Shared { state, planner, .. } = &*self.shared;
        check_plan(state, plan)?;
        let tables = planner.lower(
            plan,
            &LoweringDesc::first(DeviceQueues::single_queue(&plan.frame)),
        )?;
        let render_passes = state.noting_loss(render_passes(state, plan, &tables))?;
        Ok(PipelineTargets::new(plan, &tables, |row| {
            render_passes[row as usize]
        }))
    }

    /// Creates and binds every resource of `plan`.
    ///
    /// If a created resource needs more than was planned, the frame is planned again ([`BoundFrame::plan`] is the plan in effect). Nothing
    /// is submitted: a history that a pass reads before any frame has written it is cleared in the frame itself.
    ///
    /// # Errors
    /// When memory runs out, the device is lost, or no queue fits; whatever was created is destroyed again.
    ///
    /// # Panics
    /// If the thread holds [the queues](Device::lock_queues).
    pub fn bind(&self, plan: &Arc<Checked<Plan>>) -> Result<BoundFrame> {
        let queues = self.shared.choose_queues(&plan.frame)?;
        self.bind_on(plan, &queues)
    }

    /// Like [`Device::bind`], with the device queue (an index into [`DeviceDesc::queues`]) for each queue of the frame.
    ///
    /// # Errors
    /// As [`Device::bind`]; if a device queue is not capable of what the frame's queue declares.
    ///
    /// # Panics
    /// If there is no such device queue.
    pub fn bind_on(&self, plan: &Arc<Checked<Plan>>, queues: &[usize]) -> Result<BoundFrame> {
        let queues = self.shared.queues_at(&plan.frame, queues)?;
        let series = self.series_of_one(&queues)?;
        let binder = self.binder(queues, &series, &[]);
        self.state().noting_loss(binder.bind_ahead(plan))
    }

    /// Like [`Device::bind`], for a dynamic frame, with the second copy of some histories first. The caller gives the objects their debug names. The frames
    /// after the first are lowered when they begin, since another description may be selected first.
    pub(super) fn bind_for(
        &self,
        plan: &Arc<Checked<Plan>>,
        series: &Arc<Series>,
        swapped: &[ResourceId],
    ) -> Result<BoundFrame> {
        let queues = self.shared.choose_queues(&plan.frame)?;
        let queues = self.shared.queues_at(&plan.frame, &queues)?;
        let binder = self.binder(queues, series, swapped);
        self.state().noting_loss(binder.bind(plan))
    }

    fn binder<'a>(
        &'a self,
        queues: Vec<DeviceQueue>,
        series: &'a Arc<Series>,
        swapped: &'a [ResourceId],
    ) -> Binder<'a> {
        let Shared {
            state,
            planner,
            timelines,
            ..
        } = &*self.shared;
        timelines.assert_not_held();
        Binder {
            state,
            planner,
            timelines,
            queues,
            series,
            swapped,
        }
    }

    /// Destroys retired objects that are no longer in use on the device; returns the number of [`BoundFrame`]s that are still waiting. Also frees
    /// everything in the pool that has not been borrowed for a few hundred frames.
    ///
    /// # Errors
    /// When the device is lost. Then nothing is freed before [`Device::destroy`].
    pub fn collect(&self) -> Result<usize> {
        self.shared.free_unused(false)
    }

    /// Like [`Device::collect`], but frees everything that is neither borrowed nor in use on the device, however recently it was used, except histories that
    /// a dynamic frame still owns.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn trim(&self) -> Result<usize> {
        self.shared.free_unused(true)
    }

    /// Bytes of ordinary memory that the pool holds for bound frames, borrowed or not.
    pub fn pool_bytes(&self) -> Bytes {
        self.shared.state.pool.lock().bytes(None)
    }

    /// The number of blocks of memory, images, buffers and views that the pool has created so far.
    pub fn pool_created(&self) -> u64 {
        self.shared.state.pool.lock().created
    }

    /// Returns true if another handle to the device exists, or something created on it was neither retired nor destroyed.
    pub(super) fn is_in_use(&self) -> bool {
        let Shared { state, retired, .. } = &*self.shared;
        // The device's own handle, that of its timelines, and one for each retired frame or series.
        Arc::strong_count(&self.shared) > 1 || Arc::strong_count(state) > 2 + retired.len()
    }

    /// Destroys everything that was retired, everything in the pool, the timeline semaphores and the runtime's own allocator. Does not wait.
    ///
    /// # Safety
    /// The device no longer uses any of it (`vkDeviceWaitIdle` has returned, with `VK_ERROR_DEVICE_LOST` if the device is
    /// [lost](Device::is_device_lost)), every [`BoundFrame`] was retired, dropped, destroyed or abandoned, as was every
    /// [`DynamicFrame`](super::DynamicFrame) and [`OwnedObjects`](super::objects::OwnedObjects), and neither clones of this handle nor
    /// [`FrameProgress`](super::FrameProgress) are used afterwards.
    pub unsafe fn destroy(self) {
        // SAFETY: the caller's duty.
        unsafe { self.shared.retired.destroy() };
        // SAFETY: the caller's duty.
        unsafe { self.shared.timelines.destroy() };
        // SAFETY: the caller's duty; what was borrowed is returned.
        unsafe { self.shared.state.pool.destroy(&self.shared.state) };
        // SAFETY: the caller's duty.
        unsafe { self.shared.state.memory.destroy() };
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device")
            .field("profile", &self.shared.state.profile.name)
            .field("capabilities", &self.shared.state.capabilities)
            .finish_non_exhaustive()
    }
}

impl Shared {
    /// Destroys retired objects that the device no longer uses. Frees the pool's unused objects: all of them if `at_once` is true, otherwise those
    /// that have been unused for a while. Returns the number of retired frames still in use.
    fn free_unused(&self, at_once: bool) -> Result<usize> {
        self.state.check_not_lost()?;
        let waiting = self.retired.collect(&self.state)?;
        self.state.pool.trim(&self.state, at_once)?;
        Ok(waiting)
    }

    /// The device queues at these indices, one for each queue of the frame; an error if one lacks a required capability.
    fn queues_at(&self, frame: &Frame, queues: &[usize]) -> Result<Vec<DeviceQueue>> {
        for (declared, &index) in frame.queues().iter().zip(queues) {
            if !self.queues[index].supports(declared.capabilities) {
                let (queue, needs) = (declared.name.clone(), declared.capabilities);
                return Err(RuntimeError::NoQueue { queue, needs }.into());
            }
        }
        Ok(queues.iter().map(|&index| self.queues[index]).collect())
    }

    /// A device queue for each queue of the frame; without timeline semaphores, one for all of them, if one supports them all.
    fn choose_queues(&self, frame: &Frame) -> Result<Vec<usize>> {
        let capable = |index: &usize, needed| self.queues[*index].supports(needed);
        if self.state.functions.timeline_semaphore.is_none() {
            let all = frame
                .queues()
                .iter()
                .fold(vk::QueueFlags::empty(), |sum, one| sum | one.capabilities);
            if let Some(index) = (0..self.queues.len()).find(|index| capable(index, all)) {
                return Ok(vec![index; frame.queues().len()]);
            }
        }
        let mut taken = vec![false; self.queues.len()];
        let choose = |queue: &crate::frame::tables::Queue| {
            let capable = |index: &usize| capable(index, queue.capabilities);
            let free = (0..self.queues.len()).find(|index| !taken[*index] && capable(index));
            let Some(index) = free.or_else(|| (0..self.queues.len()).find(capable)) else {
                let (queue, needs) = (queue.name.clone(), queue.capabilities);
                return Err(RuntimeError::NoQueue { queue, needs }.into());
            };
            taken[index] = true;
            Ok(index)
        };
        frame.queues().iter().map(choose).collect()
    }
}
