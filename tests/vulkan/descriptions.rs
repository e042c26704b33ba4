//! Descriptions that break no rule run, without messages from validation.

use ash::vk;
use tileheap::frame::{Frame, QueueId};
use tileheap::plan::PlanOptions;
use tileheap::runtime::{BoundFrame, Capabilities, Imports};
use tileheap_testkit::gpu::Gpu;

use super::described;

/// Records every pass without commands, submits, and waits.
fn run(gpu: &mut Gpu, bound: &mut BoundFrame, frame: &Frame) -> tileheap::Result<()> {
    let queue_of = |batch: usize| frame.submits()[frame.batches()[batch].submit.index()].queue;
    let mut handle = |queue: QueueId| {
        let family = bound.queue(queue).family;
        gpu.command_buffers(family, vk::CommandBufferLevel::PRIMARY, 1)[0]
    };
    let handles: Vec<_> = frame
        .command_buffers()
        .iter()
        .map(|commands| handle(queue_of(commands.batch.index())))
        .collect();
    // SAFETY: nothing is imported.
    let recorder = unsafe { bound.begin(&Imports::default()) }?;
    for (commands, handle) in frame.command_buffers().iter().zip(handles) {
        let Some(first) = frame.passes()[commands.passes.indices()].first() else {
            continue;
        };
        // SAFETY: only this test uses the command buffer and its pool.
        let mut recorded = unsafe { recorder.record(handle, first.command_buffer) }?;
        for pass in frame.pass_ids().skip(commands.passes.first as usize) {
            if frame.pass(pass).command_buffer == first.command_buffer {
                recorded.pass(pass, |_| ())?;
            }
        }
        recorded.finish()?;
    }
    // SAFETY: no other thread uses the queues.
    let number = unsafe { recorder.submit() }?;
    bound.wait(number, u64::MAX).map(|_| ())
}

fn run_twice(gpu: &mut Gpu, frame: &Frame) -> tileheap::Result<()> {
    let plan = gpu.runtime().plan(frame, &PlanOptions::default())?;
    let mut bound = gpu.runtime().bind(&plan)?;
    let ran = run(gpu, &mut bound, frame).and_then(|()| run(gpu, &mut bound, frame));
    // SAFETY: every submitted frame was waited for.
    unsafe { bound.destroy() };
    ran
}

#[test]
fn what_breaks_no_rule_runs() {
    let oldest = Capabilities::all() - Capabilities::DEBUG_UTILS;
    for without in [Capabilities::empty(), Capabilities::DYNAMIC_RENDERING, oldest] {
        let mut gpu = Gpu::new(without);
        let failed = described::valid().filter_map(|(name, describe)| {
            let ran = described::frame(name, describe).and_then(|frame| run_twice(&mut gpu, &frame));
            let failed = ran.err().map(|error| format!("{name}: {error}"));
            // Depth and stencil with separate layouts or resolved, and views.
            let features = [
                "requires dynamic rendering",
                "VK_KHR_depth_stencil_resolve",
                "multiview",
            ];
            let needed = |text: &String| features.iter().any(|feature| text.contains(feature));
            failed.filter(|text| without.is_empty() || !needed(text))
        });
        let failed: Vec<String> = failed.collect();
        assert_eq!(failed, [""; 0], "without {without:?}");
    }
}
