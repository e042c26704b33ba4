//! Devices: what is known of their objects.

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;
use ash::vk::Handle;
use tileheap::frame::ImageDesc;
use tileheap_layer::android::{Severity, print};
use tileheap_layer::descriptors::Template;
use tileheap_layer::registry::Registry;
use tileheap_layer::set_layouts::SetLayouts;
use tileheap_layer::sharded::Sharded;

use crate::document::Border;
use crate::model::choice::{FrameMeasure, FrameSearch};
use crate::model::objects::{Objects, Set, View};
use crate::model::pipelines::Pipeline;
use crate::model::render_passes::RenderPass;
use crate::model::submits::{Queue, Semaphores, Submits};
use crate::settings::{LAYER_NAME, LOG, Settings};
use crate::tables::DeviceTable;

/// Prints a message, and appends it to the log in the folder for documents, as far as that can be written.
pub(crate) fn say(folder: Option<&Path>, severity: Severity, text: &str) {
    print(severity, &format!("{}: {text}", LAYER_NAME.to_string_lossy()));
    if let Some(folder) = folder {
        let log = OpenOptions::new()
            .append(true)
            .create(true)
            .open(folder.join(LOG));
        let _unwritten = log.and_then(|mut log| writeln!(log, "{text}"));
    }
}

/// A framebuffer.
#[derive(Clone, Default)]
pub(crate) struct Framebuffer {
    /// None if it is imageless, or if one of its views is not known.
    pub(crate) views: Vec<Arc<View>>,
    pub(crate) layers: u32,
}

/// A swapchain.
pub(crate) struct Swapchain {
    /// The description of its images.
    pub(crate) desc: ImageDesc,
    pub(crate) images: Mutex<Vec<vk::Image>>,
}

impl Swapchain {
    pub(crate) fn images(&self) -> MutexGuard<'_, Vec<vk::Image>> {
        self.images.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the physical device says.
pub(crate) struct Known {
    pub(crate) device: String,
    pub(crate) api_version: u32,
    pub(crate) families: Vec<vk::QueueFlags>,
    /// `bufferImageGranularity`.
    pub(crate) granularity: u64,
}

/// A frame with those around it.
#[derive(Clone, Default)]
pub(crate) struct Candidate {
    pub(crate) before: Option<Arc<Submits>>,
    pub(crate) frame: Option<Arc<Submits>>,
    pub(crate) next: Option<Arc<Submits>>,
    /// The event that ended it.
    pub(crate) border: Border,
}

/// What became of the documents so far.
#[derive(Default)]
pub(crate) struct Outcome {
    /// A document that a later one may replace.
    pub(crate) provisional: Option<PathBuf>,
    pub(crate) failed: bool,
}

/// The frame that is being submitted, and those before it.
#[derive(Default)]
pub(crate) struct Progress {
    pub(crate) current: Submits,
    /// The last two frames that ended, in order.
    pub(crate) recent: VecDeque<Arc<Submits>>,
    /// The heaviest frame so far, and the search for it.
    pub(crate) best: Candidate,
    pub(crate) search: FrameSearch,
    /// The measure of the last frame that ended.
    pub(crate) measure: FrameMeasure,
    /// Calls of submit in this frame.
    pub(crate) submits: u64,
    pub(crate) written: u64,
    /// When the unfinished frame was written, and how long that took.
    pub(crate) saved: Option<(std::time::Instant, std::time::Duration)>,
    pub(crate) outcome: Outcome,
    /// The semaphores after everything that was submitted.
    pub(crate) semaphores: Semaphores,
}

/// A device.
pub(crate) struct Device {
    pub(crate) handle: vk::Device,
    pub(crate) next: DeviceTable,
    pub(crate) known: Known,
    pub(crate) settings: Option<Arc<Settings>>,
    /// Devices are numbered in order of creation.
    pub(crate) number: u64,
    /// Nothing more is captured.
    done: AtomicBool,
    created: AtomicU64,
    allocated: AtomicU32,
    pub(crate) objects: Objects,
    pub(crate) swapchains: Sharded<Arc<Swapchain>>,
    pub(crate) render_passes: Sharded<Arc<RenderPass>>,
    pub(crate) framebuffers: Sharded<Framebuffer>,
    pub(crate) modules: Sharded<Arc<[u32]>>,
    pub(crate) pipelines: Sharded<Arc<Pipeline>>,
    /// Shader objects: pipelines of one stage.
    pub(crate) shaders: Sharded<Arc<Pipeline>>,
    pub(crate) sets: Sharded<Arc<Set>>,
    pub(crate) layouts: SetLayouts,
    pub(crate) templates: Sharded<Arc<Template>>,
    pub(crate) queues: Sharded<Queue>,
    pub(crate) progress: Mutex<Progress>,
}

/// The devices.
pub(crate) static DEVICES: Registry<Device> = Registry::new();
static CREATED: AtomicU64 = AtomicU64::new(0);

impl Device {
    /// Registers a new device.
    pub(crate) fn remember(
        handle: vk::Device,
        next: DeviceTable,
        settings: Option<Arc<Settings>>,
        known: Known,
    ) {
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
                done: AtomicBool::new(settings.is_none()),
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
                progress: Mutex::default(),
            },
        );
    }

    /// Reports something of this device's capture.
    pub(crate) fn say(&self, severity: Severity, text: &str) {
        let folder = self.settings.as_ref().map(|settings| settings.folder.as_path());
        say(folder, severity, text);
    }

    /// Whether commands are still of interest.
    #[inline]
    pub(crate) fn is_capturing(&self) -> bool {
        !self.done.load(Ordering::Relaxed)
    }

    /// Nothing more is captured.
    pub(crate) fn finish(&self) {
        self.done.store(true, Ordering::Relaxed);
    }

    /// The number of the last image or buffer that was created.
    pub(crate) fn last_number(&self) -> u64 {
        self.created.load(Ordering::Relaxed)
    }

    /// Allocations so far.
    pub(crate) fn allocations(&self) -> u32 {
        self.allocated.load(Ordering::Relaxed)
    }

    /// The number of a new allocation.
    pub(crate) fn next_allocation(&self) -> u32 {
        self.allocated.fetch_add(1, Ordering::Relaxed)
    }

    /// The host maps memory.
    pub(crate) fn map(&self, memory: vk::DeviceMemory) {
        if let Some(allocation) = self.objects.allocations.get(memory.as_raw()) {
            allocation.mapped.store(true, Ordering::Relaxed);
        }
    }

    /// The number of a new image or buffer.
    pub(crate) fn next_number(&self) -> u64 {
        self.created.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// Declares entry points as `entry_points!` does, whose bodies run for the device of the first argument.
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
