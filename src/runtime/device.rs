//! The runtime on one device.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;

use super::functions::Functions;
use super::measure::Answer;
use super::memory::Memory;
use super::retire::Retired;
use super::support::plan_features;
use super::{BoundFrame, Capabilities, Missing, RuntimeError, Support, store};
use crate::Result;
use crate::frame::Frame;
use crate::measure::Requirements;
use crate::plan::{Plan, PlanOptions, Planner, plan};
use crate::profile::DeviceProfile;

/// A queue of the caller's device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceQueue {
    /// The queue.
    pub handle: vk::Queue,
    /// Its family.
    pub family: u32,
    /// What the family can do.
    pub capabilities: vk::QueueFlags,
}

/// What [`Device::new`] is told about the caller's device.
#[derive(Clone, Default)]
pub struct DeviceDesc {
    /// The queues that frames may be submitted to.
    ///
    /// A frame's queues take them in order: each the first one not taken that is capable of it, else the first capable one.
    pub queues: Vec<DeviceQueue>,
    /// What the device was created with: [`Enable::capabilities`](super::Enable::capabilities), or the caller's own knowledge.
    pub enabled: Capabilities,
    /// What not to use, although it is enabled: forces the fallbacks.
    pub without: Capabilities,
    /// The caller's allocator, to share its blocks; otherwise the runtime makes one of its own.
    ///
    /// It must have been made with `buffer_device_address` if frames are to use device addresses.
    pub allocator: Option<Arc<Mutex<gpu_allocator::vulkan::Allocator>>>,
}

/// The runtime on one device. Cloning gives another handle to the same.
#[derive(Clone)]
pub struct Device {
    inner: Arc<Inner>,
}

/// Everything that bound plans need of a device.
pub(super) struct Inner {
    pub(super) instance: ash::Instance,
    pub(super) physical_device: vk::PhysicalDevice,
    pub(super) device: ash::Device,
    pub(super) functions: Functions,
    pub(super) profile: Arc<DeviceProfile>,
    missing: Vec<Missing>,
    pub(super) capabilities: Capabilities,
    queues: Vec<DeviceQueue>,
    pub(super) memory: Memory,
    planner: Mutex<Planner>,
    pub(super) retired: Mutex<Vec<Retired>>,
}

impl Device {
    /// Takes up work on a device of the caller.
    ///
    /// ```no_run
    /// # use ash::vk;
    /// # use tileheap::runtime::*;
    /// # fn f(
    /// #     instance: &ash::Instance, physical_device: vk::PhysicalDevice, device: &ash::Device, queue: vk::Queue, enable: &Enable,
    /// # ) -> tileheap::Result<()> {
    /// // SAFETY: the instance was created with this version.
    /// let support = unsafe { Support::query(instance, physical_device, vk::API_VERSION_1_3) }?;
    /// let desc = DeviceDesc {
    ///     queues: vec![DeviceQueue { handle: queue, family: 0, capabilities: vk::QueueFlags::GRAPHICS }],
    ///     enabled: enable.capabilities(), // what `vkCreateDevice` was given
    ///     ..DeviceDesc::default()
    /// };
    /// // SAFETY: the handles belong together, and outlive `tile`.
    /// let tile = unsafe { Device::new(instance, physical_device, device, &support, desc) }?;
    /// for missing in tile.missing() {
    ///     println!("no tile memory: {missing}");
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// When the allocator of ordinary memory cannot be made.
    ///
    /// # Safety
    /// - The handles are alive and belong together, and live until [`Device::destroy`] has returned.
    /// - `desc.enabled` holds nothing that the device and its instance were not created with.
    /// - No other thread uses the queues of `desc` while [`Device::bind`] runs.
    pub unsafe fn new(
        instance: &ash::Instance,
        physical_device: vk::PhysicalDevice,
        device: &ash::Device,
        support: &Support,
        desc: DeviceDesc,
    ) -> Result<Device> {
        let mut capabilities = desc.enabled & !desc.without;
        let mut missing = support.missing().to_vec();
        if missing.is_empty() && !capabilities.contains(Capabilities::TILE_MEMORY) {
            missing.push(Missing::NotEnabled);
        }
        let functions = Functions::load(instance, device, support.version(), capabilities);
        if functions.tile_memory.is_none() && capabilities.contains(Capabilities::TILE_MEMORY) {
            missing.push(Missing::Function);
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
        let device_address = capabilities.contains(Capabilities::BUFFER_DEVICE_ADDRESS);
        let memory = Memory::new(instance, physical_device, device, desc.allocator, device_address)?;
        let inner = Inner {
            instance: instance.clone(),
            physical_device,
            device: device.clone(),
            functions,
            profile: Arc::new(profile),
            missing,
            capabilities,
            queues: desc.queues,
            memory,
            planner: Mutex::default(),
            retired: Mutex::default(),
        };
        Ok(Device {
            inner: Arc::new(inner),
        })
    }

    /// What other parts of the runtime share.
    /// The instance that the device belongs to.
    pub fn instance(&self) -> &ash::Instance {
        &self.inner.instance
    }

    /// The physical device.
    pub fn physical_device(&self) -> vk::PhysicalDevice {
        self.inner.physical_device
    }

    /// Device memory: the runtime's only allocations, open to crates with resources of their own.
    pub fn memory(&self) -> &Memory {
        &self.inner.memory
    }

    /// A queue with compute.
    ///
    /// # Errors
    /// If the device has none.
    pub fn compute_queue(&self) -> Result<DeviceQueue> {
        self.inner.compute_queue()
    }

    /// What a created image needs of memory; `tile` says that it has the tile usage bit.
    pub fn image_needs(&self, image: vk::Image, tile: bool) -> Answer {
        self.inner.ask_created_image(image, tile)
    }

    /// What a created buffer needs of memory; `tile` says that it has the tile usage bit.
    pub fn buffer_needs(&self, buffer: vk::Buffer, tile: bool) -> Answer {
        self.inner.ask_created_buffer(buffer, tile)
    }

    /// What an image would need of memory.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn ask_image(&self, name: &str, info: &vk::ImageCreateInfo<'_>) -> Result<Answer> {
        self.inner.ask_image(name, info)
    }

    /// What a buffer would need of memory.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn ask_buffer(&self, name: &str, info: &vk::BufferCreateInfo<'_>) -> Result<Answer> {
        self.inner.ask_buffer(name, info)
    }

    /// Names an object for tools (`VK_EXT_debug_utils`), where that is enabled.
    pub fn set_name(&self, handle: impl vk::Handle, name: &str) {
        self.inner.name(handle, name);
    }

    /// Whether the device can create such an image.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn image_fits(&self, name: &str, info: &vk::ImageCreateInfo<'_>) -> Result<bool> {
        self.inner.image_fits(name, info)
    }

    pub(super) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }

    /// The device in numbers, as it was enabled: what plans are made for.
    pub fn profile(&self) -> &Arc<DeviceProfile> {
        &self.inner.profile
    }

    /// What keeps this device from using tile memory; empty where it does.
    pub fn missing(&self) -> &[Missing] {
        &self.inner.missing
    }

    /// What the runtime uses: enabled, and not forced off.
    pub fn capabilities(&self) -> Capabilities {
        self.inner.capabilities
    }

    /// The caller's device.
    pub fn raw(&self) -> &ash::Device {
        &self.inner.device
    }

    /// The queues that frames may be submitted to.
    pub fn queues(&self) -> &[DeviceQueue] {
        &self.inner.queues
    }

    /// Asks the driver what every resource of `frame` needs of memory.
    ///
    /// # Errors
    /// When an image's format, usage or size is not supported, naming it, or the driver fails.
    pub fn measure(&self, frame: &Frame) -> Result<Arc<Requirements>> {
        Ok(Arc::new(self.inner.measure(frame)?))
    }

    /// Measures and plans `frame`; a lookup if that was done before.
    ///
    /// # Errors
    /// As [`Device::measure`] and [`plan`](crate::plan::plan).
    pub fn plan(&self, frame: &Frame, options: &PlanOptions) -> Result<Arc<Plan>> {
        let options = &self.inner.possible(options);
        if let Some(plan) = self.inner.planner().known(frame, &self.inner.profile, options) {
            return Ok(plan);
        }
        let requirements = self.measure(frame)?;
        self.inner.plan(frame, &requirements, options)
    }

    /// As [`Device::plan`], but at once: where no plan is at hand, an older one of much the same frame is repaired, or the fast mode
    /// plans ([`Planner::plan_now`]). The exact one may follow from another thread, with [`Device::plan`].
    ///
    /// # Errors
    /// As [`Device::plan`].
    pub fn plan_now(&self, frame: &Frame, options: &PlanOptions) -> Result<Arc<Plan>> {
        let options = &self.inner.possible(options);
        if let Some(plan) = self.inner.planner().known(frame, &self.inner.profile, options) {
            return Ok(plan);
        }
        let requirements = self.measure(frame)?;
        let profile = &self.inner.profile;
        let plan = self
            .inner
            .planner()
            .plan_now(frame, &requirements, profile, options)?;
        if cfg!(debug_assertions) {
            plan.check()?;
        }
        Ok(plan)
    }

    /// Takes a plan that was made elsewhere, or shipped with the program, for this device: from now on it is the one for its inputs.
    /// See [`Planner::adopt`].
    pub fn adopt(&self, plan: Arc<Plan>) -> bool {
        self.inner.planner().adopt(plan)
    }

    /// Creates and binds everything that `plan` asks for.
    ///
    /// If a created resource needs more than was planned, the frame is planned anew ([`BoundFrame::plan`] has the plan that holds).
    /// A frame with history resources submits once to the queues that use them, and waits, to clear them to zero:
    /// no other thread may use the queues meanwhile.
    ///
    /// # Errors
    /// When memory runs out, the device is lost, or no queue fits; whatever was created is destroyed again.
    pub fn bind(&self, plan: &Arc<Plan>) -> Result<BoundFrame> {
        let queues = self.inner.choose_queues(&plan.frame)?;
        self.bind_on(plan, &queues)
    }

    /// [`Device::bind`] with the device queue (an index into [`DeviceDesc::queues`]) for each queue of the frame.
    ///
    /// # Errors
    /// As [`Device::bind`].
    ///
    /// # Panics
    /// If there is no such device queue.
    pub fn bind_on(&self, plan: &Arc<Plan>, queues: &[usize]) -> Result<BoundFrame> {
        let queues = queues.iter().map(|&index| self.inner.queues[index]).collect();
        super::bind::bind(&self.inner, plan, queues)
    }

    /// Destroys what was retired and is no longer in use on the device; returns how many [`BoundFrame`]s still wait.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn collect(&self) -> Result<usize> {
        self.inner.collect()
    }

    /// Destroys everything that was retired, and the runtime's own allocator.
    ///
    /// # Safety
    /// Nothing of it is in use on the device any more (`vkDeviceWaitIdle`), every [`BoundFrame`] was retired or destroyed, and
    /// clones of this handle are not used afterwards.
    pub unsafe fn destroy(self) {
        // SAFETY: the caller's duty.
        unsafe { self.inner.destroy_retired() };
        // SAFETY: the caller's duty.
        unsafe { self.inner.memory.destroy() };
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device")
            .field("profile", &self.inner.profile.name)
            .field("capabilities", &self.inner.capabilities)
            .finish_non_exhaustive()
    }
}

impl Inner {
    /// Plans, and remembers the plan.
    pub(super) fn plan(
        &self,
        frame: &Frame,
        requirements: &Arc<Requirements>,
        options: &PlanOptions,
    ) -> Result<Arc<Plan>> {
        let _span = tracing::info_span!("plan", frame = frame.name()).entered();
        // Not under the lock: another thread may want a plan at once meanwhile.
        let plan = Arc::new(plan(frame, requirements, &self.profile, options)?);
        if cfg!(debug_assertions) {
            plan.check()?;
        }
        self.planner().adopt(plan.clone());
        Ok(plan)
    }

    /// The plans at hand.
    fn planner(&self) -> MutexGuard<'_, Planner> {
        self.planner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The options, less what this build cannot do.
    fn possible(&self, options: &PlanOptions) -> PlanOptions {
        let split = options.split && store::available();
        if options.split && !split {
            tracing::info!(reason = "built without the feature `shaders`", "no life is split");
        }
        PlanOptions { split, ..*options }
    }

    /// The first queue that computes.
    pub(super) fn compute_queue(&self) -> Result<DeviceQueue> {
        let needs = vk::QueueFlags::COMPUTE;
        let found = self.queues.iter().find(|queue| covers(queue.capabilities, needs));
        let queue = "networks".to_owned();
        Ok(*found.ok_or(RuntimeError::NoQueue { queue, needs })?)
    }

    /// A device queue for each queue of the frame.
    fn choose_queues(&self, frame: &Frame) -> Result<Vec<usize>> {
        let mut taken = vec![false; self.queues.len()];
        let choose = |queue: &crate::frame::Queue| {
            let capable = |index: &usize| covers(self.queues[*index].capabilities, queue.capabilities);
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

impl Drop for Inner {
    fn drop(&mut self) {
        self.memory.leak();
    }
}

/// Whether a family of `offered` capabilities can run what `needed` says. Graphics and compute families can always copy.
fn covers(offered: vk::QueueFlags, needed: vk::QueueFlags) -> bool {
    let copies = offered.intersects(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let offered = if copies {
        offered | vk::QueueFlags::TRANSFER
    } else {
        offered
    };
    offered.contains(needed)
}
