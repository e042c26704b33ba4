//! Values of resources that something outside a pass refers to: the caller, the next frame, other queues, constraints.

use ash::vk;
use tileheap::execute::{ExecutedFrame, ResourcePart};
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::tables::HistoryVersion;
use tileheap::frame::{CommandBufferId, Frame, FrameBuilder, LoadOp, Persistence, ResourceId};

use super::{CLEAR, EXTENT, color, frame_of, image, separate, twice, values};

/// The first and last values of the resource stay in it; those in between are transient.
#[test]
fn external_and_history_resources_keep_their_ends() {
    let external =
        |desc| move |frame: &mut FrameBuilder| frame.resource("pool", color(), Persistence::External(desc));
    let drawn = |pool: &dyn Fn(&mut FrameBuilder) -> ResourceId, first: LoadOp, rounds: u32| {
        frame_of(
            |frame| pool(frame),
            |frame, commands, pool, out| {
                for round in 0..rounds {
                    let load = if round == 0 { first } else { CLEAR };
                    frame
                        .render_pass(commands, format!("draw {round}"))
                        .color(pool, load);
                    frame
                        .render_pass(commands, format!("use {round}"))
                        .sampled(pool)
                        .color(out, CLEAR);
                }
            },
        )
    };
    let check = |frame: &Frame, expected: &[(u32, u32)]| {
        let executed = separate(frame);
        assert_eq!(values(&executed, "pool"), expected);
        let pool = frame.resource_named("pool").unwrap();
        let (ours, theirs) = (executed.frame().resource(pool), frame.resource(pool));
        assert_eq!((&ours.name, ours.persistence), (&theirs.name, theirs.persistence));
        assert_eq!(executed.part(pool), ResourcePart::default());
    };
    let general = external(ExternalDesc::in_layout(vk::ImageLayout::GENERAL));
    check(&drawn(&general, LoadOp::Load, 2), &[]);
    check(&drawn(&general, LoadOp::Load, 3), &[(2, 3)]);
    check(&drawn(&general, CLEAR, 3), &[(1, 3), (2, 3)]);
    check(&drawn(&external(ExternalDesc::SWAPCHAIN), CLEAR, 2), &[(1, 2)]);
    let history = |frame: &mut FrameBuilder| frame.resource("pool", color(), Persistence::History);
    check(&drawn(&history, CLEAR, 2), &[(1, 2)]);
}

#[test]
fn previous_versions_stay_with_the_history() {
    let history = |frame: &mut FrameBuilder| frame.resource("pool", color(), Persistence::History);
    let frame = frame_of(history, |frame, commands, pool, out| {
        frame
            .render_pass(commands, "scratch")
            .sampled_previous(pool)
            .color(pool, CLEAR);
        frame.render_pass(commands, "use").sampled(pool).color(out, CLEAR);
        frame
            .render_pass(commands, "accumulate")
            .sampled_previous(pool)
            .color(pool, CLEAR);
    });
    let executed = separate(&frame);
    assert_eq!(values(&executed, "pool"), [(1, 2)]);
    let pool = frame.resource_named("pool").unwrap();
    for (access, theirs) in executed.frame().accesses().iter().zip(frame.accesses()) {
        if theirs.version == HistoryVersion::Previous {
            assert_eq!(access.resource, pool);
        }
    }
}

/// A read of the previous version is not a use of a value.
#[test]
fn a_read_of_the_previous_version_is_not_a_use_of_a_value() {
    let history = |frame: &mut FrameBuilder| frame.resource("pool", color(), Persistence::History);
    let frame = frame_of(history, |frame, commands, pool, out| {
        frame
            .render_pass(commands, "reproject")
            .sampled_previous(pool)
            .color(out, CLEAR);
        frame.render_pass(commands, "draw").color(pool, CLEAR);
    });
    assert_eq!(values(&separate(&frame), "pool"), []);
}

#[test]
fn constrained_and_unwanted_resources_are_left_alone() {
    let pinned = |frame: &mut FrameBuilder| {
        let pool = frame.image("pool", color());
        frame.pin(pool);
        pool
    };
    let again = |frame: &mut FrameBuilder, commands: CommandBufferId, pool: ResourceId| {
        frame.render_pass(commands, "again").color(pool, CLEAR);
    };
    assert!(separate(&twice(pinned, again)).origins().is_identity());
    let frame = twice(image, again);
    let pool = frame.resource_named("pool").unwrap();
    assert!(separate(&frame.with_excluded(&[pool])).origins().is_identity());
    let itself = ExecutedFrame::as_described(&frame);
    let others = itself.separate_values_of(|id| id != pool).unwrap();
    assert!(others.origins().is_identity());
}

/// Two queues read an image that a third pass overwrites.
#[test]
fn several_queues_may_read_a_value() {
    let mut frame = FrameBuilder::new("queues", EXTENT);
    let pool = frame.image("pool", color());
    let out = frame.resource("out", color(), Persistence::History);
    let all = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
    let main = frame.queue("main", all);
    let analysis = frame.queue("analysis", vk::QueueFlags::COMPUTE);
    let [drawn, analyzed] = ["drawn", "analyzed"].map(|name| frame.semaphore(name));
    let stages = vk::PipelineStageFlags2::ALL_COMMANDS;
    let begin = |frame: &mut FrameBuilder, queue, name: &str| {
        let submit = frame.submit(queue);
        let batch = frame.batch(submit);
        (batch, frame.command_buffer(batch, name))
    };
    let (batch, commands) = begin(&mut frame, main, "first");
    frame.render_pass(commands, "draw").color(pool, CLEAR);
    frame.signal(batch, drawn, stages);
    let (batch, commands) = begin(&mut frame, analysis, "second");
    frame.wait(batch, drawn, stages);
    frame.compute_pass(commands, "analyze").sampled(pool);
    frame.signal(batch, analyzed, stages);
    let (_, commands) = begin(&mut frame, main, "third");
    frame.render_pass(commands, "use").sampled(pool).color(out, CLEAR);
    let (batch, commands) = begin(&mut frame, main, "fourth");
    frame.wait(batch, analyzed, stages);
    frame.render_pass(commands, "draw again").color(pool, CLEAR);
    frame
        .render_pass(commands, "use again")
        .sampled(pool)
        .color(out, LoadOp::Load);
    let executed = separate(&frame.build().unwrap());
    assert_eq!(values(&executed, "pool"), [(1, 2), (2, 2)]);
}

/// The frame can wait for an external image's entry state on the queue that uses it first.
#[test]
fn an_external_resource_is_first_used_by_the_same_queue() {
    for second in [0, 1] {
        let mut frame = FrameBuilder::new("queues", EXTENT);
        let pool = frame.resource("pool", color(), Persistence::External(ExternalDesc::SWAPCHAIN));
        let all = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
        let queues = [frame.queue("main", all), frame.queue("other", all)];
        let drawn = frame.semaphore("drawn");
        let stages = vk::PipelineStageFlags2::ALL_COMMANDS;
        let submit = frame.submit(queues[0]);
        let batch = frame.batch(submit);
        frame.signal(batch, drawn, stages);
        let commands = frame.command_buffer(batch, "first");
        frame.render_pass(commands, "draw").color(pool, CLEAR);
        let submit = frame.submit(queues[second]);
        let batch = frame.batch(submit);
        frame.wait(batch, drawn, stages);
        let commands = frame.command_buffer(batch, "second");
        frame.render_pass(commands, "draw again").color(pool, CLEAR);
        let executed = separate(&frame.build().unwrap());
        let expected: &[(u32, u32)] = if second == 0 { &[(1, 2)] } else { &[] };
        assert_eq!(values(&executed, "pool"), expected);
    }
}
