//! Devices, with the state of their objects.

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ash::vk;
use ash::vk::Handle;
use tileheap::frame::ImageDesc;
use tileheap_layer::android::{Severity, print};
use tileheap_layer::descriptors::UpdateTemplate;
use tileheap_layer::registry::Registry;
use tileheap_layer::set_layouts::SetLayouts;
use tileheap_layer::sharded::Sharded;

use crate::document::{FrameBoundary, FrameChoice, SemaphoreUse};
use crate::model::choice::{FrameMeasure, FrameSearch};
use crate::model::objects::{Objects, Resource, Set, View};
use crate::model::pipelines::Pipeline;
use crate::model::render_passes::RenderPass;
use crate::model::submits::{Queue, Semaphores, Submits};
use crate::model::timing::SubmittedTimes;
use crate::settings::{LAYER_NAME, LOG, Settings, device_line};
use crate::tables::DeviceTable;

/// Prints a message, and appends it to the log in the document folder if that is writable.
pub(crate) fn report(folder: Option<&Path>, severity: Severity, text: &str) {
    print(severity, &format!("{}: {text}", LAYER_NAME.to_string_lossy()));
    if let Some(folder) = folder {
        append_to_log(folder, text);
    }
}

/// Appends a line to the log in the document folder if that is writable.
fn append_to_log(folder: &Path, line: &str) {
    let log = OpenOptions::new()
        .append(true)
        .create(true)
        .open(folder.join(LOG));
    let _unwritten = log.and_then(|mut log| writeln!(log, "{line}"));
}

/// The attachments and layers of a framebuffer.
#[derive(Clone, Default)]
pub(crate) struct Framebuffer {
    /// The views; empty if the framebuffer is imageless, or if one of its views is not known.
    pub(crate) views: Vec<Arc<View>>,
    pub(crate) layers: u32,
}

/// A swapchain, and the images that the program has queried.
pub(crate) struct Swapchain {
    /// The description of its images.
    pub(crate) desc: ImageDesc,
    pub(crate) sharing_mode: vk::SharingMode,
    pub(crate) images: Mutex<Vec<vk::Image>>,
}

impl Swapchain {
    /// Creates the state of a new swapchain, whose images the program has not queried yet.
    pub(crate) fn new(info: &vk::SwapchainCreateInfoKHR<'_>) -> Swapchain {
        Swapchain {
            desc: ImageDesc {
                array_layers: info.image_array_layers,
                usage: info.image_usage,
                ..ImageDesc::new(info.image_format, info.image_extent)
            },
            sharing_mode: info.image_sharing_mode,
            images: Mutex::default(),
        }
    }

    pub(crate) fn images(&self) -> MutexGuard<'_, Vec<vk::Image>> {
        self.images.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Properties of the physical device, and features that the device enables.
pub(crate) struct PhysicalProperties {
    pub(crate) device: String,
    pub(crate) api_version: u32,
    pub(crate) families: Vec<vk::QueueFlags>,
    /// True if the device is created with the feature `maintenance9`.
    pub(crate) has_maintenance9: bool,
    /// `bufferImageGranularity`.
    pub(crate) granularity: u64,
    /// `timestampPeriod`, in nanoseconds.
    pub(crate) timestamp_period: f32,
    /// `timestampValidBits` of each queue family, 0 if its command buffers cannot reset queries.
    pub(crate) timestamp_bits: Vec<u32>,
}

/// A frame that may be written, with the frames before and after it.
#[derive(Clone, Default)]
pub(crate) struct Candidate {
    pub(crate) before: Option<Arc<Submits>>,
    pub(crate) frame: Option<Arc<Submits>>,
    pub(crate) next: Option<Arc<Submits>>,
    /// The event that ended the frame.
    pub(crate) boundary: FrameBoundary,
}

/// A document that is written for the last time once its timestamps are read.
pub(crate) struct DueDocument {
    pub(crate) candidate: Candidate,
    pub(crate) choice: Option<FrameChoice>,
    /// Buffers that shaders could access by address.
    pub(crate) addressed: Vec<Resource>,
    pub(crate) since: Instant,
}

/// The result of writing documents so far.
#[derive(Default)]
pub(crate) struct WrittenDocuments {
    /// The path of the document that a later one may replace, if there is one.
    pub(crate) provisional: Option<PathBuf>,
    pub(crate) failed: bool,
}

/// The frame that is being submitted, earlier frames, and the state of the search for the heaviest one.
#[derive(Default)]
pub(crate) struct CaptureProgress {
    pub(crate) current: Submits,
    /// The last two frames that ended, in order.
    pub(crate) recent: VecDeque<Arc<Submits>>,
    /// The heaviest frame so far, and the search for it.
    pub(crate) best: Candidate,
    pub(crate) search: FrameSearch,
    /// The measure of the last frame that ended.
    pub(crate) measure: FrameMeasure,
    /// Number of submit calls in this frame.
    pub(crate) submits: u64,
    pub(crate) written: u64,
    /// The time at which a provisional document was last written, and the time that writing it took.
    pub(crate) last_write: Option<(Instant, Duration)>,
    pub(crate) due: Vec<DueDocument>,
    /// True once no more frames are captured; documents may still be due.
    pub(crate) has_stopped: bool,
    pub(crate) outcome: WrittenDocuments,
    /// The state of semaphores after everything that was submitted.
    pub(crate) semaphores: Semaphores,
}

/// The timestamps of a submit, and the objects that the program can wait on for its completion.
#[derive(Debug, Default)]
pub(crate) struct TimedSubmit {
    pub(crate) queue: vk::Queue,
    pub(crate) fence: vk::Fence,
    /// The semaphores that the last batch of the submit signals.
    pub(crate) signals: Vec<SemaphoreUse>,
    /// The timestamps that may not have been written yet.
    pub(crate) times: Vec<Arc<SubmittedTimes>>,
}

/// The layer's own fences, which show that timestamps are written.
#[derive(Default)]
pub(crate) struct Fences {
    pub(crate) free: Vec<vk::Fence>,
    /// Fences that may not be signaled yet, each with the submit before it.
    pub(crate) pending: Vec<(vk::Fence, TimedSubmit)>,
}

/// The layer's state of a device.
pub(crate) struct Device {
    pub(crate) handle: vk::Device,
    pub(crate) next: DeviceTable,
    pub(crate) known: PhysicalProperties,
    pub(crate) settings: Option<Arc<Settings>>,
    /// Position of the device among those with settings, in order of creation, from 0; 0 for other devices.
    pub(crate) number: u64,
    /// True once capturing is finished, and from the start if nothing is captured.
    is_done: AtomicBool,
    created: AtomicU64,
    allocated: AtomicU32,
    pub(crate) objects: Objects,
    pub(crate) swapchains: Sharded<Arc<Swapchain>>,
    pub(crate) render_passes: Sharded<Arc<RenderPass>>,
    pub(crate) framebuffers: Sharded<Framebuffer>,
    pub(crate) modules: Sharded<Arc<[u32]>>,
    pub(crate) pipelines: Sharded<Arc<Pipeline>>,
    /// Shader objects, as pipelines of one stage.
    pub(crate) shaders: Sharded<Arc<Pipeline>>,
    pub(crate) sets: Sharded<Arc<Set>>,
    pub(crate) layouts: SetLayouts,
    pub(crate) templates: Sharded<Arc<UpdateTemplate>>,
    pub(crate) queues: Sharded<Queue>,
    /// `timestampValidBits` of the command pools whose command buffers can have timestamps.
    pub(crate) timed_pools: Sharded<u32>,
    /// Query pools of `VK_KHR_performance_query`.
    pub(crate) performance_pools: Sharded<()>,
    pub(crate) fences: Mutex<Fences>,
    /// True once the program ends without having destroyed the device: no driver may be called any more.
    pub(crate) is_exiting: AtomicBool,
    /// True if documents are due.
    pub(crate) has_due: AtomicBool,
    pub(crate) progress: Mutex<CaptureProgress>,
}

/// All devices, by dispatch key.
pub(crate) static DEVICES: Registry<Device> = Registry::new();
static CREATED: AtomicU64 = AtomicU64::new(0);

impl Device {
    /// Registers a new device, and logs it.
    pub(crate) fn remember(
        handle: vk::Device,
        next: DeviceTable,
        settings: Option<Arc<Settings>>,
        known: PhysicalProperties,
    ) {
        if let Some(settings) = &settings {
            append_to_log(&settings.folder, &device_line(&known.device));
        }
        let number = if settings.is_some() {
            CREATED.fetch_add(1, Ordering::Relaxed)
        } else {
            0
        };
        DEVICES.insert(
            handle,
            Device {
                handle,
                next,
                known,
                is_done: AtomicBool::new(settings.is_none()),
                settings,
                number,
                created: AtomicU64::new(0),
                allocated: AtomicU32::new(0),
                objects: Objects::default(),
                swapchains: Sharded::default(),
                render_passes: Sharded::default(),
                framebuffers: Sharded::default(),
                modules: Sharded::default(),
                pipelines: Sharded::default(),
                shaders: Sharded::default(),
                sets: Sharded::default(),
                layouts: SetLayouts::default(),
                templates: Sharded::default(),
                queues: Sharded::default(),
                timed_pools: Sharded::default(),
                performance_pools: Sharded::default(),
                fences: Mutex::default(),
                is_exiting: AtomicBool::new(false),
                has_due: AtomicBool::new(false),
                progress: Mutex::default(),
            },
        );
    }

    /// Reports a message about this device's capture.
    pub(crate) fn report(&self, severity: Severity, text: &str) {
        let folder = self.settings.as_ref().map(|settings| settings.folder.as_path());
        report(folder, severity, text);
    }

    /// Returns true if commands still have to be recorded.
    #[inline]
    pub(crate) fn is_capturing(&self) -> bool {
        !self.is_done.load(Ordering::Relaxed)
    }

    /// Stops capturing.
    pub(crate) fn finish(&self) {
        self.is_done.store(true, Ordering::Relaxed);
    }

    /// Returns the number of the last image or buffer that was created.
    pub(crate) fn last_number(&self) -> u64 {
        self.created.load(Ordering::Relaxed)
    }

    /// Returns the number of allocations so far.
    pub(crate) fn allocations(&self) -> u32 {
        self.allocated.load(Ordering::Relaxed)
    }

    /// Returns the number for a new allocation.
    pub(crate) fn next_allocation(&self) -> u32 {
        self.allocated.fetch_add(1, Ordering::Relaxed)
    }

    /// Marks memory as mapped by the host.
    pub(crate) fn map(&self, memory: vk::DeviceMemory) {
        if let Some(allocation) = self.objects.allocations.get(memory.as_raw()) {
            allocation.mapped.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the number for a new image or buffer.
    pub(crate) fn next_number(&self) -> u64 {
        self.created.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// Declares entry points like `entry_points!`; their bodies run for the device of the first argument.
macro_rules! device_entry_points {
    ($($name:ident($handle:ident $(, $arg:tt)*) |$device:ident| $body:block)+) => {
        tileheap_layer::entry_points! { of $crate::tables::DeviceTable: $(
            $name($handle $(, $arg)*) {
                let Some($device) = $crate::hooks::device::DEVICES.of($handle) else {
                    return tileheap_layer::guard::Fallback::fallback();
                };
                $body
            }
        )+}
    };
}
pub(crate) use device_entry_points;

/// Devices for tests.
#[cfg(test)]
pub(crate) mod tests {
    use tileheap::frame::AccessKind;

    use super::*;
    use crate::document::Capture;
    use crate::model::access::{Coverage, FollowedAccess};
    use crate::model::objects::{Buffer, BufferRange};
    use crate::model::recording::{Op, Recorded};
    use crate::model::submits::{Batch, Submitted};

    /// Reads the document of the first frame of a device.
    pub(crate) fn first_document(folder: &Path) -> Option<Capture> {
        let mut files = std::fs::read_dir(folder).ok()?.flatten();
        let is_it = |name: &str| name.starts_with("frame-0") && name.ends_with(".json");
        let file = files.find(|file| file.file_name().to_str().is_some_and(is_it))?;
        let text = std::fs::read_to_string(file.path()).expect("a document");
        Capture::from_json(&text).expect("a document")
    }

    /// Registers a device with one queue.
    pub(crate) fn register(next: DeviceTable, settings: Settings) -> (Arc<Device>, vk::Queue) {
        // The loader identifies handles by the word that they point to.
        let words: &'static mut [usize; 2] = Box::leak(Box::new([0; 2]));
        let at = (&raw const words[0]) as usize;
        *words = [at; 2];
        let [handle, queue] = [0, 1].map(|index| (&raw const words[index]) as u64);
        let (handle, queue) = (vk::Device::from_raw(handle), vk::Queue::from_raw(queue));
        let known = PhysicalProperties {
            device: "none".to_owned(),
            api_version: vk::API_VERSION_1_3,
            families: Vec::new(),
            has_maintenance9: false,
            granularity: 1,
            timestamp_period: 1.0,
            timestamp_bits: Vec::new(),
        };
        Device::remember(handle, next, Some(Arc::new(settings)), known);
        let device = DEVICES.of(queue).expect("registered");
        let known = Queue {
            capabilities: vk::QueueFlags::TRANSFER,
            ..Queue::default()
        };
        device.queues.insert(queue.as_raw(), known);
        (device, queue)
    }
    /// A batch that fills a buffer, between two timestamps if it has times.
    pub(crate) fn fill(times: Option<Arc<SubmittedTimes>>) -> Batch {
        let info = vk::BufferCreateInfo::default().size(256);
        let range = BufferRange::new(Arc::new(Buffer::new(1, &info)), 0, vk::WHOLE_SIZE);
        let fill =
            FollowedAccess::of_buffer(&range, AccessKind::TransferDestination).writing(Coverage::Whole);
        let one = |op| Recorded {
            call: "vkCmdFillBuffer",
            number: 1,
            op,
        };
        let fill = one(Op::Transfer(vec![fill]));
        let ops = match times.is_some() {
            true => vec![one(Op::Timestamp(0)), fill, one(Op::Timestamp(1))],
            false => vec![fill],
        };
        let commands = Submitted {
            name: String::new(),
            ops: Arc::new(ops.into_iter().collect()),
            flat: None,
            times,
        };
        Batch {
            commands: vec![commands],
            ..Batch::default()
        }
    }
}
