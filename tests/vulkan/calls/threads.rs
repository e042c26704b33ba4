//! Threads that use one device concurrently: no lock is held while the driver creates or allocates, and nothing is created twice, leaked or allocated
//! beyond the limit.
//!
//! Races are deterministic: the fake driver and the test's allocator stop one thread inside a call until another has finished its work.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use ash::vk;
use tileheap::Checked;
use tileheap::frame::tables::PassKind;
use tileheap::frame::{BufferDesc, Frame, FrameBuilder, PassId};
use tileheap::plan::{Plan, PlanOptions};
use tileheap::runtime::objects::{AllocatedBlock, BlockAllocator, BlockError, BlockRequest};
use tileheap::runtime::{BoundFrame, Device, FrameNumber};
use tileheap::units::Bytes;
use tileheap_testkit::fake_driver::{Call, Config};
use tileheap_testkit::frames::{extent, one_queue};
use tileheap_testkit::runtime_rig::on_fake;

use super::Rig;

/// The time limit for work that takes milliseconds; only a failing test waits this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs `work` on another thread and waits for its result.
///
/// # Errors
/// If the other thread does not finish because it waits for this one.
fn meanwhile<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> Result<R, String> {
    let (done, result) = channel();
    thread::spawn(move || done.send(work()));
    let result = result.recv_timeout(PATIENCE);
    result.map_err(|_| "another thread cannot use the device meanwhile: a lock is held".to_owned())
}

/// An allocator with a memory object per block.
pub(super) struct Blocks {
    device: ash::Device,
    /// Called at the start of the next allocation.
    interruption: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    /// Bytes allocated now, and the peak.
    pub(super) bytes: Mutex<[u64; 2]>,
}

// SAFETY: each block is a memory object of the requested size and type, and is never mapped.
unsafe impl BlockAllocator for Blocks {
    fn allocate(&self, request: &BlockRequest<'_>) -> Result<AllocatedBlock, BlockError> {
        let interruption = self.interruption.lock().unwrap().take();
        if let Some(interruption) = interruption {
            interruption();
        }
        let size = request.requirements.size;
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(size)
            .memory_type_index(request.requirements.memory_type_bits.trailing_zeros());
        let memory = on_fake!(self.device.allocate_memory(&info, None));
        let memory = memory.map_err(|_| BlockError::OutOfMemory)?;
        let [now, most] = &mut *self.bytes.lock().unwrap();
        *now += size;
        *most = (*most).max(*now);
        Ok(AllocatedBlock {
            memory,
            offset: 0,
            mapped: None,
            token: Box::new(size),
        })
    }

    unsafe fn free(&self, block: AllocatedBlock) {
        on_fake!(self.device.free_memory(block.memory, None));
        let size = block.token.downcast::<u64>().unwrap();
        self.bytes.lock().unwrap()[0] -= *size;
    }
}

/// A rig whose device has such an allocator, and a limit.
pub(super) fn limited(config: Config, limit: Option<Bytes>) -> (Rig, Arc<Blocks>) {
    let mut rig = Rig::new(config);
    on_fake!(rig.tile.clone().destroy());
    let blocks = Arc::new(Blocks {
        device: rig.fake.device.clone(),
        interruption: Mutex::default(),
        bytes: Mutex::default(),
    });
    rig.fake.desc.allocator = Some(blocks.clone());
    rig.fake.desc.memory_limit = limit;
    rig.tile = rig.fake.runtime().unwrap();
    (rig, blocks)
}

fn plan(rig: &Rig) -> Arc<Checked<Plan>> {
    let frame = &rig.fake.described.frame;
    rig.tile.plan(frame, &PlanOptions::default()).unwrap()
}

/// Drivers that differ in which objects are created, when, and by which calls.
fn configs() -> Vec<Config> {
    let (lazy, dedicated_images) = (true, true);
    vec![
        Config::modern(),
        Config::vulkan_1_1(),
        Config::vulkan_1_1().without_tile_memory(),
        Config {
            lazy,
            ..Config::modern()
        },
        Config {
            dedicated_images,
            ..Config::modern()
        },
    ]
}

/// A frame with one buffer.
fn other_frame() -> Frame {
    let mut frame = FrameBuilder::new("other", extent(4, 4));
    let buffer = frame.buffer("numbers", BufferDesc::new(Bytes(64)));
    let scene = one_queue(&mut frame, vk::QueueFlags::COMPUTE);
    frame.compute_pass(scene, "count").storage_write(buffer);
    frame.build().unwrap()
}

/// A thread that uses a device on request.
struct Observer {
    requests: Mutex<Option<Sender<()>>>,
    answers: Mutex<Receiver<()>>,
    /// True after a missing answer; no more requests are made then.
    stuck: AtomicBool,
    thread: thread::ThreadId,
}

impl Observer {
    fn new(tile: Device) -> (Arc<Observer>, thread::JoinHandle<()>) {
        let (requests, asked) = channel();
        let (answer, answers) = channel();
        let thread = thread::spawn(move || {
            for () in asked {
                tile.pool_bytes();
                tile.collect().unwrap();
                tile.measure(&other_frame()).unwrap();
                if answer.send(()).is_err() {
                    return;
                }
            }
        });
        let observer = Observer {
            requests: Mutex::new(Some(requests)),
            answers: Mutex::new(answers),
            stuck: AtomicBool::new(false),
            thread: thread.thread().id(),
        };
        (Arc::new(observer), thread)
    }

    /// An error if the thread cannot use the device before the caller returns.
    fn check(&self) -> Result<(), String> {
        if thread::current().id() == self.thread || self.stuck.load(Ordering::Relaxed) {
            return Ok(());
        }
        if let Some(requests) = &*self.requests.lock().unwrap() {
            requests.send(()).unwrap();
            let answer = self.answers.lock().unwrap().recv_timeout(PATIENCE);
            if answer.is_err() {
                self.stuck.store(true, Ordering::Relaxed);
                return Err(
                    "a lock is held that another thread needs to measure or read the pool".to_owned(),
                );
            }
        }
        Ok(())
    }
}

#[test]
fn no_lock_is_held_while_the_driver_creates_or_allocates() {
    for config in configs() {
        let (rig, blocks) = limited(config, None);
        let (observer, thread) = Observer::new(rig.tile.clone());
        let calls = Arc::new(Mutex::new(Vec::new()));
        let (called, own) = (calls.clone(), observer.clone());
        rig.fake.driver.on_slow_calls(Some(Arc::new(move |function| {
            called.lock().unwrap().push(function);
            own.check()
        })));
        let mut bound = rig.bind(&PlanOptions::default());
        let (allocated, own) = (Arc::new(AtomicBool::new(false)), observer.clone());
        let done = allocated.clone();
        *blocks.interruption.lock().unwrap() = Some(Box::new(move || {
            own.check().unwrap();
            done.store(true, Ordering::Relaxed);
        }));
        // The second bound frame allocates its own memory, since the first has borrowed everything in the pool.
        let mut other = rig.bind(&PlanOptions::default());
        for _ in 0..3 {
            rig.run(&mut bound);
            rig.run(&mut other);
        }
        assert!(allocated.load(Ordering::Relaxed));
        let calls = calls.lock().unwrap().clone();
        for function in [
            "vkCreateImage",
            "vkCreateBuffer",
            "vkCreateImageView",
            "vkCreateRenderPass",
            "vkCreateFramebuffer",
            "vkAllocateMemory",
        ] {
            assert!(calls.contains(&function), "{function} was not called: {calls:?}");
        }
        rig.fake.driver.on_slow_calls(None);
        observer.requests.lock().unwrap().take();
        assert_eq!(rig.fake.driver.violations(), [""; 0]);
        thread.join().unwrap();
    }
}

#[test]
fn threads_stay_within_the_limit_together() {
    for config in configs() {
        // Memory needed by one bound frame.
        let (rig, blocks) = limited(config.clone(), None);
        rig.bind(&PlanOptions::default()).retire();
        let (needed, [_, allocated]) = (rig.tile.pool_bytes(), *blocks.bytes.lock().unwrap());
        assert!(needed.0 > 0 && allocated <= needed.0);

        let (rig, blocks) = limited(config, Some(needed));
        let (tile, same) = (rig.tile.clone(), plan(&rig));
        let (outcome, refused) = channel();
        // While the first is allocating, another requests the same amount.
        *blocks.interruption.lock().unwrap() = Some(Box::new(move || {
            let result = meanwhile(move || tile.bind(&same).map(BoundFrame::retire));
            outcome.send(result.unwrap()).unwrap();
        }));
        let mut bound = rig.bind(&PlanOptions::default());
        let refused = refused.recv().unwrap().unwrap_err().to_string();
        assert!(refused.contains("memory limit of the device"), "{refused}");
        rig.run(&mut bound);
        assert_eq!(rig.tile.pool_bytes(), needed);
        let full = rig.tile.bind(&plan(&rig)).unwrap_err().to_string();
        assert!(full.contains("memory limit of the device"), "{full}");
        bound.retire();
        rig.tile.collect().unwrap();
        let (tile, same) = (rig.tile.clone(), plan(&rig));
        meanwhile(move || tile.bind(&same).map(BoundFrame::retire))
            .unwrap()
            .unwrap();
        let [_, most] = *blocks.bytes.lock().unwrap();
        assert!(
            most <= needed.0,
            "{most} B were allocated under a limit of {needed}"
        );
    }
}

#[test]
fn a_render_pass_that_two_threads_create_exists_once() {
    for config in configs() {
        let rig = Rig::new(config.clone());
        let bound = rig.bind(&PlanOptions::default());
        let alone = rig.fake.driver.live()[&vk::ObjectType::RENDER_PASS];
        bound.retire();

        let rig = Rig::new(config);
        let (tile, same) = (rig.tile.clone(), plan(&rig));
        let (theirs, bound) = channel();
        let once = Mutex::new(Some((tile, same, theirs)));
        rig.fake.driver.on_slow_calls(Some(Arc::new(move |function| {
            if function != "vkCreateRenderPass" {
                return Ok(());
            }
            let Some((tile, plan, theirs)) = once.lock().unwrap().take() else {
                return Ok(());
            };
            let bound = meanwhile(move || tile.bind(&plan))?;
            theirs.send(bound).map_err(|error| error.to_string())
        })));
        let mut own = rig.bind(&PlanOptions::default());
        let other = bound.recv().expect("the other thread has bound the frame");
        let mut other = other.unwrap();
        rig.fake.driver.on_slow_calls(None);

        let journal = rig.fake.driver.journal();
        let count = |wanted: &str| {
            let functions = journal.iter().filter_map(|call| match call {
                Call::Create { function, .. } | Call::Destroy { function, .. } => Some(*function),
                _ => None,
            });
            functions.filter(|function| *function == wanted).count()
        };
        assert_eq!(
            [count("vkCreateRenderPass"), count("vkDestroyRenderPass")],
            [alone + 1, 1]
        );
        let frame = &rig.fake.described.frame;
        let is_render = |pass: &PassId| frame.pass(*pass).kind == PassKind::Render;
        for pass in frame.pass_ids().filter(is_render) {
            assert_eq!(own.target(pass).render_pass, other.target(pass).render_pass);
        }
        rig.run(&mut own);
        rig.run(&mut other);
        on_fake!(own.destroy());
        on_fake!(other.destroy());
    }
}

#[test]
fn threads_bind_and_trim_at_once() {
    const THREADS: usize = 4;
    for config in configs() {
        let rig = Rig::new(config);
        let plan = plan(&rig);
        let begin = Barrier::new(THREADS + 1);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    begin.wait();
                    for _ in 0..8 {
                        let bound = [(); 2].map(|()| rig.tile.bind(&plan).unwrap());
                        bound.into_iter().for_each(BoundFrame::retire);
                    }
                });
            }
            begin.wait();
            for _ in 0..32 {
                rig.tile.trim().unwrap();
            }
        });
        assert_eq!(rig.tile.trim().unwrap(), 0);
        assert_eq!(rig.tile.pool_bytes(), Bytes::ZERO);
    }
}

#[test]
fn frames_are_submitted_while_another_thread_waits_for_one() {
    for config in configs() {
        let rig = Rig::new(config.asynchronous());
        let mut bound = rig.bind(&PlanOptions::default());
        let first = rig.fake.frame(&mut bound).unwrap();
        let progress = bound.progress();
        let (waiting, is_waiting) = channel();
        let (submitted, are_submitted) = channel::<()>();
        let once = Mutex::new(Some((waiting, are_submitted)));
        rig.fake.driver.on_slow_calls(Some(Arc::new(move |function| {
            if !function.starts_with("vkWait") {
                return Ok(());
            }
            let Some((waiting, submitted)) = once.lock().unwrap().take() else {
                return Ok(());
            };
            waiting.send(()).map_err(|error| error.to_string())?;
            let submitted = submitted.recv_timeout(PATIENCE);
            submitted.map_err(|_| "a lock is held that submission needs".to_owned())
        })));
        let waiter = thread::spawn(move || {
            let waited = progress.wait(first, u64::MAX);
            (waited, progress)
        });
        is_waiting.recv_timeout(PATIENCE).expect("it waits");
        // As many frames as there are fences; another would use the fence that is waited for.
        for _ in 1..4 {
            bound.completed().unwrap();
            rig.fake.frame(&mut bound).unwrap();
        }
        submitted.send(()).expect("it still waits");
        let (waited, progress) = waiter.join().unwrap();
        assert!(waited.unwrap());
        assert!(progress.completed().unwrap().is_some_and(|frame| frame >= first));
        rig.fake.driver.on_slow_calls(None);
        rig.fake.driver.complete();
        on_fake!(bound.destroy());
        // Its fences are destroyed, and its frames are complete.
        assert!(progress.wait(first, u64::MAX).unwrap());
        assert_eq!(progress.completed().unwrap(), Some(FrameNumber(3)));
        let error = progress.wait(FrameNumber(4), 0).unwrap_err().to_string();
        assert!(error.contains("submitted frames is"), "{error}");
    }
}

/// Without timelines, a frame that is being submitted has taken the fence of the fourth frame before it.
#[test]
fn progress_is_known_while_a_frame_is_submitted() {
    let rig = Rig::new(Config::vulkan_1_1().asynchronous());
    let mut bound = rig.bind(&PlanOptions::default());
    let progress = bound.progress();
    for _ in 0..4 {
        rig.fake.frame(&mut bound).unwrap();
    }
    rig.fake.driver.complete();
    let last = progress.completed().unwrap();
    assert_eq!(last, Some(FrameNumber(3)));
    let recorder = rig.fake.record(&mut bound).unwrap();
    let mut calls = 0;
    let submitted = on_fake!(recorder.submit_with(|call| {
        calls += 1;
        assert_eq!(progress.completed().unwrap(), last);
        assert!(progress.wait(FrameNumber(0), 0).unwrap());
        on_fake!(rig.fake.device.queue_submit(call.queue.handle, &[], call.fence))
    }));
    assert_eq!(submitted.unwrap(), FrameNumber(4));
    assert!(calls > 0);
    assert!(progress.wait(FrameNumber(4), u64::MAX).unwrap());
    on_fake!(bound.destroy());
}

/// The fences of a finished series are destroyed after the last thread that waits for them has returned.
#[test]
fn fences_outlive_the_threads_that_wait_for_them() {
    let rig = Rig::new(Config::vulkan_1_1().asynchronous());
    let mut waited_for = rig.bind(&PlanOptions::default());
    let other = rig.bind(&PlanOptions::default());
    let frame = rig.fake.frame(&mut waited_for).unwrap();
    let progress = waited_for.progress();
    let (waiting, is_waiting) = channel();
    let (go_on, may_go_on) = channel::<()>();
    let once = Mutex::new(Some((waiting, may_go_on)));
    rig.fake.driver.on_slow_calls(Some(Arc::new(move |function| {
        if function != "vkWaitForFences" {
            return Ok(());
        }
        let Some((waiting, may_go_on)) = once.lock().unwrap().take() else {
            return Ok(());
        };
        waiting.send(()).map_err(|error| error.to_string())?;
        may_go_on
            .recv_timeout(PATIENCE)
            .map_err(|error| error.to_string())
    })));
    let waiter = thread::spawn(move || progress.wait(frame, u64::MAX));
    is_waiting.recv_timeout(PATIENCE).expect("it waits");
    waited_for.retire();
    rig.fake.driver.complete();
    let abandoned = thread::scope(|scope| {
        // Destroys retired objects, including the fences of `waited_for`.
        let abandoning = scope.spawn(|| on_fake!(other.abandon()));
        thread::sleep(Duration::from_millis(50));
        let early = abandoning.is_finished();
        go_on.send(()).unwrap();
        abandoning.join().unwrap();
        early
    });
    assert!(
        !abandoned,
        "the fences are destroyed while a thread waits for them"
    );
    assert!(waiter.join().unwrap().unwrap());
}
