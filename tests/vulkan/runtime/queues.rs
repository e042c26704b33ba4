//! Several queues, submits and command buffers, recorded on several threads.

use ash::vk;
use tileheap::plan::PlanOptions;
use tileheap_testkit::gpu::{Gpu, recording_paths};

use super::reordered::{Work, are_right, ends, frame};
use super::{bind, submit, wait};

#[test]
fn queues_and_threads() {
    for (way, without) in recording_paths() {
        let mut gpu = Gpu::new(without);
        let frame = frame();
        let mut bound = bind(&gpu, &frame, &PlanOptions::default());
        let all = [ends(&mut gpu), ends(&mut gpu)];
        let work = Work::new(&mut gpu, frame.clone(), &bound, &all);
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
                assert!(are_right(all[slot], number - 2), "frame {}, {way}", number - 2);
            }
            let recorder = work.begin(&mut bound, all[slot]);
            std::thread::scope(|scope| {
                for (pass, pool) in frame.pass_ids().zip(&pools) {
                    let (recorder, work) = (&recorder, &work);
                    scope.spawn(move || work.record(recorder, pool[slot], pass, (number, slot)));
                }
            });
            submit(recorder);
        }
        wait(&bound, 4);
        assert!(are_right(all[0], 4), "frame 4, {way}");
    }
}
