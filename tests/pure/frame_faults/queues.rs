//! Queues and semaphores: orders that are missing, or go round.

use ash::vk;
use tileheap::frame::FrameBuilder;

use super::{ALL, buffer, elsewhere, refused};

#[test]
fn queues_and_semaphores() {
    refused(
        |frame, _| {
            let commands = elsewhere(frame, vk::QueueFlags::COMPUTE);
            frame.render_pass(commands, "p");
        },
        "pass `p` needs a graphics queue, and queue `other` is not declared as one",
    );
    let with_batches = |declare: &dyn Fn(&mut FrameBuilder, [tileheap::frame::BatchId; 2]), message: &str| {
        refused(
            |frame, commands| {
                frame.compute_pass(commands, "p");
                let queue = frame.queue("other", vk::QueueFlags::COMPUTE);
                let submit = frame.submit(queue);
                let batches = [frame.batch(submit), frame.batch(submit)];
                declare(frame, batches);
            },
            message,
        );
    };
    with_batches(
        &|frame, [first, second]| {
            let semaphore = frame.semaphore("s");
            frame.wait(first, semaphore, ALL);
            frame.signal(second, semaphore, ALL);
        },
        "batch 1 waits for semaphore `s`, which no earlier batch signals: the frame is cyclic, or its submits are in the wrong order",
    );
    with_batches(
        &|frame, [first, second]| {
            let semaphore = frame.semaphore("s");
            frame.signal(first, semaphore, ALL);
            frame.signal(second, semaphore, ALL);
        },
        "semaphore `s` is signalled more than once: use one semaphore for each pair of batches",
    );
    with_batches(
        &|frame, [first, second]| {
            let semaphore = frame.external_semaphore("s");
            frame.wait(first, semaphore, ALL);
            frame.wait(second, semaphore, ALL);
        },
        "semaphore `s` is waited for more than once: use one semaphore for each pair of batches",
    );
    with_batches(
        &|frame, [first, _]| {
            let semaphore = frame.semaphore("s");
            frame.signal(first, semaphore, ALL);
        },
        "semaphore `s` is signalled and no batch waits for it: remove the signal, or declare the semaphore external",
    );
    refused(
        |frame, commands| {
            let buffer = buffer(frame, "b");
            frame.compute_pass(commands, "p").storage_write(buffer);
            let commands = elsewhere(frame, vk::QueueFlags::COMPUTE);
            frame.compute_pass(commands, "q").storage_read(buffer);
        },
        "passes `p` and `q` use `b` on two queues with nothing between them: signal and wait for a semaphore",
    );
}
