//! Frames on three queues, executed in every order that their semaphores allow; and the wrong bytes caused by a missing wait.

use ash::vk;
use ash::vk::PipelineStageFlags2 as S;
use tileheap::frame::{BufferDesc, Frame, FrameBuilder, PassId, QueueId, SemaphoreId};
use tileheap::plan::PlanOptions;
use tileheap::runtime::import::ImportedBuffer;
use tileheap::runtime::{BoundFrame, Capabilities, FrameRecorder, Imports, Parity};
use tileheap::units::Bytes;

use tileheap_testkit::gpu::{Binding, Gpu, HostBuffer, Pipeline};
use tileheap_testkit::queue_rig::QueueRig;

use super::{copy_buffer, dispatch, host_read};

const WORDS: u64 = 64;
const FRAMES: u32 = 4;

/// ```text
/// graphics   [make]──►                ──►[merge]     made and added are overwritten by the next frame
/// compute           [add]  reads made ──┘
/// transfer          [copy] reads made, at the same time; nothing in the frame waits for it
/// ```
pub(super) fn frame() -> Frame {
    let mut frame = FrameBuilder::new("three queues", vk::Extent2D { width: 1, height: 1 });
    let size = BufferDesc::new(Bytes(WORDS * 4));
    let [made, added] = ["made", "added"].map(|name| frame.buffer(name, size));
    let [result, copied] = ["result", "copied"].map(|name| host_read(&mut frame, name, WORDS * 4));
    let both = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
    let graphics = frame.queue("graphics", both);
    let compute = frame.queue("compute", vk::QueueFlags::COMPUTE);
    let transfer = frame.queue("transfer", vk::QueueFlags::TRANSFER);
    let [to_add, to_copy, is_added] = ["to add", "to copy", "is added"].map(|name| frame.semaphore(name));
    let batch = |frame: &mut FrameBuilder, queue: QueueId, waits: &[SemaphoreId], signals: &[SemaphoreId]| {
        let submit = frame.submit(queue);
        let batch = frame.batch(submit);
        waits
            .iter()
            .for_each(|&semaphore| frame.wait(batch, semaphore, S::ALL_COMMANDS));
        signals
            .iter()
            .for_each(|&semaphore| frame.signal(batch, semaphore, S::ALL_COMMANDS));
        frame.command_buffer(batch, format!("commands {}", batch.index()))
    };
    let commands = batch(&mut frame, graphics, &[], &[to_add, to_copy]);
    frame.compute_pass(commands, "make").storage_write(made);
    let commands = batch(&mut frame, compute, &[to_add], &[is_added]);
    frame
        .compute_pass(commands, "add")
        .storage_read(made)
        .storage_write(added);
    let commands = batch(&mut frame, transfer, &[to_copy], &[]);
    frame
        .transfer_pass(commands, "copy")
        .transfer_source(made)
        .transfer_destination(copied);
    let commands = batch(&mut frame, graphics, &[is_added], &[]);
    frame
        .compute_pass(commands, "merge")
        .storage_read(added)
        .storage_write(result);
    frame.build().expect("a sound frame")
}

/// The buffers for `result` and `copied`.
pub(super) type Ends = [HostBuffer; 2];

pub(super) fn ends(gpu: &mut Gpu) -> Ends {
    [(); 2].map(|()| gpu.host_buffer(WORDS * 4))
}

/// Returns true if these are the results of frame `number`.
pub(super) fn are_right(ends: Ends, number: u32) -> bool {
    let [result, copied] = ends.map(|host| host.words());
    let made = || (0..WORDS as u32).map(|at| at + number * 100);
    result.into_iter().eq(made().map(|made| (made + 7) * 2)) && copied.into_iter().eq(made())
}

/// Pipelines and descriptors of the passes.
pub(super) struct Work {
    frame: Frame,
    pipelines: [Pipeline; 3],
    /// Descriptor sets: of `make` and `add`, then of `merge` for each of the ends.
    sets: Vec<vk::DescriptorSet>,
}

impl Work {
    pub(super) fn new(gpu: &mut Gpu, frame: Frame, bound: &BoundFrame, ends: &[Ends]) -> Work {
        let types = [vk::DescriptorType::STORAGE_BUFFER; 3];
        let pipelines = [
            "a[at] = at + number * 100u;",
            "b[at] = a[at] + 7u;",
            "c[at] = a[at] * 2u;",
        ];
        let pipelines = pipelines.map(|work| {
            let shader = format!(
                "#version 460
                layout(local_size_x = 64) in;
                layout(set = 0, binding = 0) buffer A {{ uint a[]; }};
                layout(set = 0, binding = 1) buffer B {{ uint b[]; }};
                layout(set = 0, binding = 2) buffer C {{ uint c[]; }};
                layout(push_constant) uniform Push {{ uint number; }};
                void main() {{ uint at = gl_GlobalInvocationID.x; {work} }}"
            );
            gpu.compute(&types, &shader)
        });
        let used = |pass: &str, resource: &str| {
            let pass = frame.pass_named(pass).expect("declared");
            let resource = frame.resource_named(resource).expect("declared");
            Binding::Storage(bound.access(pass, resource, Parity::Even).buffer())
        };
        let [make, add, merge] = &pipelines;
        let mut sets = vec![
            gpu.set(make, &[(); 3].map(|()| used("make", "made"))),
            gpu.set(add, &["made", "added", "made"].map(|name| used("add", name))),
        ];
        for [result, _] in ends {
            let [first, second] = [(); 2].map(|()| used("merge", "added"));
            sets.push(gpu.set(merge, &[first, second, Binding::Storage(result.buffer)]));
        }
        Work {
            frame,
            pipelines,
            sets,
        }
    }

    pub(super) fn begin<'a>(&self, bound: &'a mut BoundFrame, [result, copied]: Ends) -> FrameRecorder<'a> {
        let imported = [("result", result), ("copied", copied)].map(|(name, host)| ImportedBuffer {
            resource: self.frame.resource_named(name).expect("declared"),
            buffer: host.buffer,
        });
        let imports = Imports {
            buffers: &imported,
            ..Imports::default()
        };
        // SAFETY: the buffers live until `finish`.
        unsafe { bound.begin(&imports) }.expect("a frame")
    }

    /// Records the command buffer of a pass of frame `number`, which uses the ends with this index.
    pub(super) fn record(
        &self,
        recorder: &FrameRecorder<'_>,
        handle: vk::CommandBuffer,
        pass: PassId,
        (number, end): (u32, usize),
    ) {
        // SAFETY: its last use is complete, and its pool is this thread's for now.
        let commands = unsafe { recorder.record(handle, self.frame.pass(pass).command_buffer) };
        let mut commands = commands.expect("recording");
        let recorded = commands.pass(pass, |pass_commands| {
            let (pipeline, set) = match pass.index() {
                2 => {
                    let [made, copied] =
                        ["made", "copied"].map(|name| self.frame.resource_named(name).expect("declared"));
                    return copy_buffer(pass_commands, made, copied, 0);
                }
                3 => (&self.pipelines[2], self.sets[2 + end]),
                index => (&self.pipelines[index], self.sets[index]),
            };
            pipeline.push(pass_commands.device(), pass_commands.command_buffer(), &[number]);
            dispatch(pass_commands, pipeline, Some(set), [1, 1]);
        });
        recorded.expect("the pass");
        commands.finish().expect("recorded");
    }
}

/// Runs frames in the order given by a seed, without one of the waits; returns true if every word is right, and the waits of each batch of the last
/// frame.
fn run(gpu: &mut Gpu, seed: u64, ignored: Option<(usize, usize)>) -> (bool, Vec<usize>) {
    let mut rig = QueueRig::new(gpu, 3, seed, ignored);
    let plan = rig
        .device
        .plan(&frame(), &PlanOptions::default())
        .expect("a plan");
    let mut bound = rig.device.bind(&plan).expect("a bound plan");
    let all = [(); FRAMES as usize].map(|()| ends(gpu));
    let work = Work::new(gpu, frame(), &bound, &all);
    let family = gpu.context.queues()[0].family;
    let pool = gpu.command_buffers(family, vk::CommandBufferLevel::PRIMARY, 4 * FRAMES);
    let mut waits = Vec::new();
    for (number, handles) in (0..).zip(pool.chunks(4)) {
        let recorder = work.begin(&mut bound, all[number as usize]);
        for (pass, &handle) in work.frame.pass_ids().zip(handles) {
            work.record(&recorder, handle, pass, (number, number as usize));
        }
        let tables = recorder.lowered();
        waits = tables.batches.iter().map(|batch| batch.waits.len()).collect();
        rig.submit(recorder);
    }
    rig.run();
    let right = (0..).zip(all).all(|(number, ends)| are_right(ends, number));
    bound.retire();
    rig.device.collect().expect("collected");
    rig.finish();
    (right, waits)
}

#[test]
fn every_order_is_right_and_every_missing_wait_shows() {
    let mut gpu = Gpu::new(Capabilities::empty());
    let mut waits = Vec::new();
    for seed in 0..8 {
        let (right, of_batches) = run(&mut gpu, seed, None);
        assert!(right, "seed {seed}");
        waits = of_batches;
    }
    let mut unseen = Vec::new();
    for (batch, count) in waits.iter().enumerate() {
        for wait in 0..*count {
            if (0..16).all(|seed| run(&mut gpu, seed, Some((batch, wait))).0) {
                unseen.push((batch, wait));
            }
        }
    }
    // In the next frame, `make` waits for `copy`; its wait for `add`, and that of `add` for `merge`, are implied by other waits.
    assert_eq!((waits, unseen), (vec![2, 2, 1, 1], vec![(0, 0), (1, 1)]));
}
