//! Frames on three queues, which run in every order that their semaphores allow; and the wrong bytes that a missing wait leaves.

use ash::vk;
use ash::vk::PipelineStageFlags2 as S;
use tileheap::frame::{BufferDesc, Frame, FrameBuilder, QueueId, SemaphoreId};
use tileheap::plan::PlanOptions;
use tileheap::runtime::import::ImportedBuffer;
use tileheap::runtime::{Capabilities, Imports, Parity};
use tileheap::units::Bytes;

use tileheap_testkit::gpu::{Binding, Gpu};
use tileheap_testkit::queue_rig::QueueRig;

use super::{copy_buffer, dispatch, host_read};

const WORDS: u64 = 64;
const FRAMES: u32 = 4;

/// ```text
/// graphics   [make]──►                ──►[merge]     made and added are overwritten by the next frame
/// compute           [add]  reads made ──┘
/// transfer          [copy] reads made, at the same time; nothing in the frame waits for it
/// ```
fn frame() -> Frame {
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

/// Runs frames in the order of a seed, without one of the waits; returns whether every word is right, and the waits of each batch of the
/// last frame.
fn run(gpu: &mut Gpu, seed: u64, ignored: Option<(usize, usize)>) -> (bool, Vec<usize>) {
    let mut rig = QueueRig::new(gpu, 3, seed, ignored);
    let frame = frame();
    let plan = rig.device.plan(&frame, &PlanOptions::default()).expect("a plan");
    let mut bound = rig.device.bind(&plan).expect("a bound plan");
    let id = |name| frame.resource_named(name).expect("declared");
    let types = [vk::DescriptorType::STORAGE_BUFFER; 3];
    let shader = |work: &str| {
        format!(
            "#version 460
            layout(local_size_x = 64) in;
            layout(set = 0, binding = 0) buffer A {{ uint a[]; }};
            layout(set = 0, binding = 1) buffer B {{ uint b[]; }};
            layout(set = 0, binding = 2) buffer C {{ uint c[]; }};
            layout(push_constant) uniform Push {{ uint number; }};
            void main() {{ uint at = gl_GlobalInvocationID.x; {work} }}"
        )
    };
    let results: Vec<_> = (0..FRAMES)
        .map(|_| [(); 2].map(|()| gpu.host_buffer(WORDS * 4)))
        .collect();
    let own = |name| Binding::Storage(bound.buffer(id(name), Parity::Even));
    let make = gpu.compute(&types, &shader("a[at] = at + number * 100u;"));
    let add = gpu.compute(&types, &shader("b[at] = a[at] + 7u;"));
    let merge = gpu.compute(&types, &shader("c[at] = a[at] * 2u;"));
    let made = gpu.set(&make, &[own("made"), own("made"), own("made")]);
    let sum = gpu.set(&add, &[own("made"), own("added"), own("made")]);
    let merged: Vec<_> = results
        .iter()
        .map(|result| {
            gpu.set(
                &merge,
                &[own("added"), own("added"), Binding::Storage(result[0].buffer)],
            )
        })
        .collect();
    let family = gpu.context.queues()[0].family;
    let pool = gpu.command_buffers(family, vk::CommandBufferLevel::PRIMARY, 4 * FRAMES);
    let mut waits = Vec::new();
    for number in 0..FRAMES {
        let [result, copied] = results[number as usize];
        let imported = [("result", result), ("copied", copied)].map(|(name, host)| ImportedBuffer {
            resource: id(name),
            buffer: host.buffer,
        });
        let imports = Imports {
            buffers: &imported,
            ..Imports::default()
        };
        // SAFETY: the buffers live until `finish`.
        let recorder = unsafe { bound.begin(&imports) }.expect("a frame");
        for (index, pass) in frame.pass_ids().enumerate() {
            let handle = pool[4 * number as usize + index];
            // SAFETY: new, and used once.
            let mut commands =
                unsafe { recorder.record(handle, frame.pass(pass).command_buffer) }.expect("recording");
            let recorded = commands.pass(pass, |pass| {
                let (pipeline, set) = match index {
                    0 => (make, made),
                    1 => (add, sum),
                    2 => return copy_buffer(pass, &pass.buffer(id("made")), &pass.buffer(id("copied")), 0),
                    _ => (merge, merged[number as usize]),
                };
                pipeline.push(pass.device(), pass.command_buffer(), &[number]);
                dispatch(pass, &pipeline, Some(set), [1, 1]);
            });
            recorded.expect("the pass");
            commands.finish().expect("recorded");
        }
        let tables = recorder.lowered();
        waits = tables.batches.iter().map(|batch| batch.waits.len()).collect();
        rig.submit(recorder);
    }
    rig.run();
    let right = (0..FRAMES).all(|number| {
        let [result, copied] = results[number as usize].map(|host| host.words().to_vec());
        let made = || (0..WORDS as u32).map(|at| at + number * 100);
        result.into_iter().eq(made().map(|made| (made + 7) * 2)) && copied.into_iter().eq(made())
    });
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
    // Of the next frame, `make` waits for `copy`; that it waits for `add`, and `add` for `merge`, follows from what others wait for.
    assert_eq!((waits, unseen), (vec![2, 2, 1, 1], vec![(0, 0), (1, 1)]));
    gpu.finish();
}
