//! Several queues, submits, batches and command buffers, recorded on several threads.

use ash::vk;
use tileheap::frame::{BufferDesc, Frame, FrameBuilder};
use tileheap::plan::PlanOptions;
use tileheap::runtime::Parity;
use tileheap::units::Bytes;

use tileheap_testkit::gpu::{Binding, Gpu, Pipeline, ways};

use super::{begin, bind, copy_buffer, dispatch, host_read, submit, wait};

const WORDS: u64 = 64;

/// Made on one queue, changed on another by two command buffers of two batches, copied out on the first.
///
/// ```text
/// graphics   [make]──made──┐                    ┌──changed──►[copy]
/// compute                  └──►[add] [double]───┘
/// ```
fn frame() -> Frame {
    let mut frame = FrameBuilder::new("two queues", vk::Extent2D { width: 1, height: 1 });
    let size = BufferDesc::new(Bytes(WORDS * 4));
    let made = frame.buffer("made", size);
    let added = frame.buffer("added", size);
    let doubled = frame.buffer("doubled", size);
    let result = host_read(&mut frame, "result", WORDS * 4);
    let graphics = frame.queue("graphics", vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let compute = frame.queue("compute", vk::QueueFlags::COMPUTE);
    let to_compute = frame.semaphore("made");
    let to_graphics = frame.semaphore("changed");
    let (all, work) = (
        vk::PipelineStageFlags2::ALL_COMMANDS,
        vk::PipelineStageFlags2::COMPUTE_SHADER,
    );

    let submit = frame.submit(graphics);
    let batch = frame.batch(submit);
    frame.signal(batch, to_compute, all);
    let commands = frame.command_buffer(batch, "making");
    frame.compute_pass(commands, "make").storage_write(made);

    let submit = frame.submit(compute);
    let batch = frame.batch(submit);
    frame.wait(batch, to_compute, work);
    let commands = frame.command_buffer(batch, "adding");
    frame
        .compute_pass(commands, "add")
        .storage_read(made)
        .storage_write(added);
    let batch = frame.batch(submit);
    frame.signal(batch, to_graphics, all);
    let commands = frame.command_buffer(batch, "doubling");
    frame
        .compute_pass(commands, "double")
        .storage_read(added)
        .storage_write(doubled);

    let submit = frame.submit(graphics);
    let batch = frame.batch(submit);
    frame.wait(batch, to_graphics, all);
    let commands = frame.command_buffer(batch, "copying");
    frame
        .transfer_pass(commands, "copy")
        .transfer_source(doubled)
        .transfer_destination(result);
    frame.build().expect("a sound frame")
}

fn shader(work: &str) -> String {
    format!(
        "#version 460
        layout(local_size_x = 64) in;
        layout(set = 0, binding = 0) readonly buffer LoadOp {{ uint before[]; }};
        layout(set = 0, binding = 1) writeonly buffer After {{ uint after[]; }};
        layout(push_constant) uniform Push {{ uint number; }};
        void main() {{ uint at = gl_GlobalInvocationID.x; after[at] = {work}; }}"
    )
}

#[test]
fn queues_batches_and_threads() {
    for (way, without) in ways() {
        let mut gpu = Gpu::new(without);
        let frame = frame();
        let mut bound = bind(&gpu, &frame, &PlanOptions::default());
        let id = |name| frame.resource_named(name).expect("declared");
        let buffer = |name| Binding::Storage(bound.buffer(id(name), Parity::Even));
        let types = [vk::DescriptorType::STORAGE_BUFFER; 2];
        let make = gpu.compute(&types, &shader("at + number"));
        let add = gpu.compute(&types, &shader("before[at] + 1000u"));
        let double = gpu.compute(&types, &shader("before[at] * 2u"));
        let steps = [
            ("make", make, gpu.set(&make, &[buffer("made"), buffer("made")])),
            ("add", add, gpu.set(&add, &[buffer("made"), buffer("added")])),
            (
                "double",
                double,
                gpu.set(&double, &[buffer("added"), buffer("doubled")]),
            ),
        ];
        let hosts = [gpu.host_buffer(WORDS * 4), gpu.host_buffer(WORDS * 4)];
        // One pool for each command buffer: they are recorded at the same time.
        let mut pools = Vec::new();
        for declared in frame.command_buffers() {
            let queue = frame.submits()[frame.batches()[declared.batch.index()].submit.index()].queue;
            let family = bound.queue(queue).family;
            pools.push(gpu.command_buffers(family, vk::CommandBufferLevel::PRIMARY, 2));
        }
        for number in 0..5u32 {
            let slot = number as usize % 2;
            if number >= 2 {
                wait(&bound, u64::from(number) - 2);
                check(&hosts[slot].words(), number - 2, way);
            }
            let recorder = begin(&mut bound, id("result"), &hosts[slot]);
            std::thread::scope(|scope| {
                for (step, pass) in frame.pass_ids().enumerate() {
                    let (recorder, steps, frame) = (&recorder, &steps, &frame);
                    let command_buffer = pools[step][slot];
                    scope.spawn(move || {
                        let id = frame.pass(pass).command_buffer;
                        // SAFETY: its last use is complete, and its pool is this thread's for now.
                        let mut commands = unsafe { recorder.record(command_buffer, id) }.expect("recording");
                        let step: Option<&(&str, Pipeline, vk::DescriptorSet)> = steps.get(step);
                        let recorded = commands.pass(pass, |pass| match step {
                            Some((_, pipeline, set)) => {
                                pipeline.push(pass.device(), pass.command_buffer(), &[number]);
                                dispatch(pass, pipeline, Some(*set), [1, 1]);
                            }
                            None => {
                                let buffer =
                                    |name| pass.buffer(frame.resource_named(name).expect("declared"));
                                copy_buffer(pass, &buffer("doubled"), &buffer("result"), 0);
                            }
                        });
                        recorded.expect("the pass");
                        commands.finish().expect("recorded");
                    });
                }
            });
            submit(recorder);
        }
        wait(&bound, 4);
        check(&hosts[0].words(), 4, way);
        bound.retire();
        gpu.finish();
    }
}

fn check(words: &[u32], number: u32, way: &str) {
    let expected: Vec<u32> = (0..WORDS as u32).map(|at| (at + number + 1000) * 2).collect();
    assert_eq!(words, expected, "frame {number}, {way}");
}
