//! A small program that the tests run in separate processes: the borders of its frames, the ways it ends, and the waits of its host.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ash::vk;
use tileheap_capture::check::check;
use tileheap_capture::check::finding::{Certainty, Problem};
use tileheap_capture::document::FrameBoundary;
use tileheap_capture::{LAYER, settings};
use tileheap_testkit::objects::{Objects, command_buffers, record};
use tileheap_testkit::runnable;

use super::{captured, folder, read};

/// The environment variable with the variant to run.
const WAY: &str = "TILEHEAP_SMALL_PROGRAM";
const LABEL: &std::ffi::CStr = c"next frame";

/// The place of the label in a command buffer.
#[derive(Clone, Copy, PartialEq)]
enum Labeled {
    Nowhere,
    Begun,
    Inserted,
    InSecondary,
}

/// A device with a buffer that each submit fills.
struct Small {
    device: ash::Device,
    utils: ash::ext::debug_utils::Device,
    queue: vk::Queue,
    pool: vk::CommandPool,
    buffer: vk::Buffer,
    objects: Objects,
}

impl Small {
    fn new(instance: &ash::Instance) -> Small {
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let mut timelines = vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(true);
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .push_next(&mut timelines);
        let objects = Objects::default();
        // SAFETY: Valid usage; family 0 has a queue.
        unsafe {
            let physical = tileheap_testkit::physical_device(instance);
            let device = instance.create_device(physical, &info, None).expect("a device");
            let info = vk::BufferCreateInfo::default()
                .size(4096)
                .usage(vk::BufferUsageFlags::TRANSFER_DST);
            let (buffer, _) = objects.buffer(&device, &info, u32::MAX);
            Small {
                utils: ash::ext::debug_utils::Device::new(instance, &device),
                queue: device.get_device_queue(0, 0),
                pool: objects.create(&device, &vk::CommandPoolCreateInfo::default()),
                buffer,
                device,
                objects,
            }
        }
    }

    /// Fills the buffer.
    fn submit(&self, labeled: Labeled, fence: vk::Fence, signals: &[vk::Semaphore]) {
        let (device, label) = (&self.device, vk::DebugUtilsLabelEXT::default().label_name(LABEL));
        let secondaries = command_buffers(device, self.pool, vk::CommandBufferLevel::SECONDARY, 1);
        if labeled == Labeled::InSecondary {
            let inheritance = vk::CommandBufferInheritanceInfo::default();
            let info = vk::CommandBufferBeginInfo::default().inheritance_info(&inheritance);
            // SAFETY: Valid usage.
            record(device, secondaries[0], &info, || unsafe {
                self.utils.cmd_insert_debug_utils_label(secondaries[0], &label);
            });
        }
        let commands = command_buffers(device, self.pool, vk::CommandBufferLevel::PRIMARY, 1);
        // SAFETY: Valid usage.
        record(device, commands[0], &Default::default(), || unsafe {
            match labeled {
                Labeled::Nowhere => {}
                Labeled::Begun => {
                    self.utils.cmd_begin_debug_utils_label(commands[0], &label);
                    self.utils.cmd_end_debug_utils_label(commands[0]);
                }
                Labeled::Inserted => self.utils.cmd_insert_debug_utils_label(commands[0], &label),
                Labeled::InSecondary => device.cmd_execute_commands(commands[0], &secondaries),
            }
            device.cmd_fill_buffer(commands[0], self.buffer, 0, vk::WHOLE_SIZE, 1);
        });
        let mut values = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&[1]);
        let mut batch = vk::SubmitInfo::default()
            .command_buffers(&commands)
            .signal_semaphores(signals);
        if !signals.is_empty() {
            batch = batch.push_next(&mut values);
        }
        // SAFETY: Valid usage, except for the order of submits, which the tests set up.
        unsafe { device.queue_submit(self.queue, &[batch], fence) }.expect("a submit");
    }

    fn fill(&self) {
        self.submit(Labeled::Nowhere, vk::Fence::null(), &[]);
    }
}

fn program(way: &str) {
    // SAFETY: The library found is a loader; valid usage; remaining objects are freed with the process.
    unsafe {
        let entry = ash::Entry::load().expect("a loader");
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_2);
        let names = [ash::ext::debug_utils::NAME.as_ptr()];
        let info = vk::InstanceCreateInfo::default()
            .application_info(&application)
            .enabled_extension_names(&names);
        let instance = entry.create_instance(&info, None).expect("an instance");
        let small = Small::new(&instance);
        let (device, queue) = (&small.device, small.queue);
        let (fence, signals) = (device.create_fence(&Default::default(), None), Vec::new());
        let fence = fence.expect("a fence");
        match way {
            "labels" => {
                let label = vk::DebugUtilsLabelEXT::default().label_name(LABEL);
                small.utils.queue_insert_debug_utils_label(queue, &label);
                small.fill();
                small.submit(Labeled::Begun, vk::Fence::null(), &signals);
                small.utils.queue_begin_debug_utils_label(queue, &label);
                small.fill();
                small.utils.queue_end_debug_utils_label(queue);
                small.submit(Labeled::Inserted, vk::Fence::null(), &signals);
                small.submit(Labeled::InSecondary, vk::Fence::null(), &signals);
            }
            "two" => {
                let other = Small::new(&instance);
                for _ in 0..2 {
                    small.fill();
                    other.fill();
                    other.fill();
                }
            }
            "signal" => {
                small.fill();
                let file = std::env::var_os(LAYER.variable(settings::FOLDER)).expect("a folder");
                std::fs::write(Path::new(&file).join("now"), "").expect("a file");
                small.fill();
                small.fill();
            }
            "exit" => small.fill(),
            "abort" => {
                small.fill();
                std::process::abort();
            }
            wait => {
                let mut kind =
                    vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
                let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
                let semaphores = [small.objects.create(device, &info)];
                small.submit(Labeled::Nowhere, fence, &semaphores);
                let values = vk::SemaphoreWaitInfo::default()
                    .semaphores(&semaphores)
                    .values(&[1]);
                let waited = match wait {
                    "nothing" => Ok(()),
                    "fence" => device.wait_for_fences(&[fence], true, u64::MAX),
                    "semaphore" => device.wait_semaphores(&values, u64::MAX),
                    "queue" => device.queue_wait_idle(queue),
                    _ => device.device_wait_idle(),
                };
                waited.expect("it waits");
                small.fill();
                device.device_wait_idle().expect("idle");
            }
        }
        device.device_wait_idle().expect("idle");
        // The process ends without destroying the device.
    }
}

#[test]
fn a_small_program() {
    if let Some(way) = std::env::var_os(WAY) {
        program(way.to_str().expect("a way"));
    }
}

/// Runs the program with the layer; returns its output and folder.
fn run(way: &str, border: &str, frames: &str) -> Option<(Output, PathBuf)> {
    let folder = folder(&format!("capture_small_{way}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    let border = border.replace("FOLDER", folder.to_str().expect("a path of text"));
    let this = std::env::args_os().next().expect("the path of this program");
    let mut program: Command = runnable(this);
    program.args(["--exact", "small::a_small_program"]).env(WAY, way);
    let set = [(settings::BORDER, border.as_str()), (settings::FRAMES, frames)];
    Some((captured(program, &folder, &set)?, folder))
}

/// Returns the border, batches and passes of each written frame of a device.
fn frames(folder: &Path, device: &str) -> Vec<(FrameBoundary, usize, usize)> {
    let all = (0..8).map(|frame| folder.join(format!("frame-{frame}{device}.json")));
    let of = |path: PathBuf| {
        let (frame, capture) = read(&path);
        let batches = frame.batches().len();
        (capture.border, batches, frame.passes().len())
    };
    all.filter(|path| path.is_file()).map(of).collect()
}

#[test]
fn frames_end_at_labels_at_the_signal_and_on_each_device_for_itself() {
    use FrameBoundary::{End, Label, Signal, Submits};
    // There is no frame before the first label.
    let labels = &[
        (Label, 1, 1),
        (Label, 1, 1),
        (Label, 1, 1),
        (Label, 1, 1),
        (End, 1, 1),
    ][..];
    let label = format!("label:{}", LABEL.to_str().expect("ASCII"));
    for (way, border, wanted, first, second) in [
        ("labels", label.as_str(), "0..8", labels, &[][..]),
        (
            "signal",
            "signal:FOLDER/now",
            "0..8",
            &[(Signal, 2, 2), (End, 1, 1)],
            &[],
        ),
        ("two", "submits:2", "0", &[(Submits, 2, 2)], &[(Submits, 2, 2)]),
    ] {
        let Some((_, folder)) = run(way, border, wanted) else {
            return;
        };
        let found = ["", "-device-1"].map(|device| frames(&folder, device));
        assert_eq!(found, [first, second], "{way}");
        assert!(!folder.join("now").exists(), "the layer removes it");
    }
}

#[test]
fn a_program_that_exits_or_dies_in_the_middle_leaves_its_frame() {
    for (way, frame) in [("exit", "2"), ("abort", "0")] {
        let Some((output, folder)) = run(way, "present", frame) else {
            return;
        };
        let said = String::from_utf8_lossy(&output.stderr);
        let early = "the program ended before frame 2; frame 0 is written instead";
        assert_eq!(
            (output.status.success(), said.contains(early)),
            (way == "exit", way == "exit"),
            "{said}"
        );
        // For one that crashes, the last version that was written.
        let written = frames(&folder, "");
        assert!(
            matches!(written[..], [(FrameBoundary::End, 1, 1)]),
            "{way}: {written:?}"
        );
    }
}

#[test]
fn what_the_host_waits_for_is_before_what_it_submits_then() {
    for wait in ["nothing", "fence", "semaphore", "queue", "device"] {
        let Some((_, folder)) = run(wait, "submits:2", "0") else {
            return;
        };
        let (_, capture) = read(&folder.join("frame-0.json"));
        let report = check(&capture.recording).expect("a recording");
        let found: Vec<_> = report
            .findings
            .iter()
            .map(|one| (one.verdict, one.problem))
            .collect();
        let expected = [(Certainty::Certain, Problem::Unordered)];
        let expected = &expected[..usize::from(wait == "nothing")];
        assert_eq!(found, expected, "{wait}");
    }
}
