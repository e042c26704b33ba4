//! Submits programs to the model of a device, without a Vulkan device.

use std::sync::{Arc, OnceLock};

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::batches::Batch;
use tileheap_layer::host_waits::HostWait;
use tileheap_sync::program::{
    AccessKind, BarrierChange, Command, Dependency, DependencyMemory, DependencyScopes, MemoryAccess,
    ResourceId, ResourcePart, Tiling,
};
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use super::log::{EnclosingSubpass, Log, LogRecorder, LoggedAccess};
use super::report::{FindingReporter, Verdicts};
use super::tracker::{TrackedBatch, Tracker};
use crate::model::finding::Finding;
use crate::model::objects::Object;
use crate::model::position::{Position, Submit};
use crate::model::resources::{MemoryBinding, Resource};
use crate::tables::unseen_writes::UnseenWrites;

mod ordinary;

const CLEAR: (S, A) = (S::CLEAR, A::TRANSFER_WRITE);
const COPY_READ: (S, A) = (S::COPY, A::TRANSFER_READ);

/// The numbers of two buffers in the same bytes.
const BUFFERS: [u32; 2] = [1, 2];

/// A buffer of 1,024 bytes in tile memory, or in an ordinary memory object.
fn buffer(number: u32, is_tile: bool, first: u64) -> Arc<Resource> {
    let place = MemoryBinding {
        memory: 1,
        is_tile,
        first,
        end: first + 1024,
        contents: 0,
    };
    Arc::new(Resource {
        object: Object(vk::ObjectType::BUFFER, number.into()),
        number,
        needs: None,
        driver_size: 1024,
        fits_driver_memory: true,
        size: 1024,
        tiling: Tiling::Linear,
        format: vk::Format::UNDEFINED,
        extent: vk::Extent3D::default(),
        contents: 0,
        unseen_writes: UnseenWrites::NONE,
        unseen_through_others: Default::default(),
        is_fetched: false,
        is_input: false,
        sharing: Default::default(),
        is_followed: false.into(),
        place: OnceLock::from(place),
    })
}

/// A device with two buffers in tile memory and a timeline semaphore.
struct Device {
    tracker: Tracker,
    submits: u64,
}

impl Device {
    fn new(verdicts: Verdicts) -> Device {
        let mut tracker = Tracker::new(true, FindingReporter::new(verdicts, false, Arc::default()), 1);
        for number in BUFFERS {
            tracker.bind(&buffer(number, true, 0));
        }
        tracker.create_timeline(semaphore(), 0);
        Device { tracker, submits: 0 }
    }

    /// Submits a command buffer to a queue; each queue has a separate family.
    fn submit(&mut self, queue: u32, log: &Arc<Log>, batch: &Batch) -> Vec<Finding> {
        self.submits += 1;
        self.tracker.submit(TrackedBatch {
            submit: Submit {
                number: self.submits,
                batch: 0,
                queue: u64::from(queue) + 1,
            },
            family: queue,
            batch,
            logs: vec![log.clone()],
            fence: vk::Fence::null(),
            end_discard: None,
        })
    }

    /// The number of a buffer in ordinary memory.
    fn ordinary(&mut self) -> ResourceId {
        let object = Object(vk::ObjectType::BUFFER, 99);
        self.tracker.number_of_transferred(object, || 99)
    }
}

fn semaphore() -> vk::Semaphore {
    vk::Semaphore::from_raw(7)
}

fn texts(findings: &[Finding]) -> Vec<(&'static str, &str)> {
    findings
        .iter()
        .map(|one| (one.id.name(), one.text.as_str()))
        .collect()
}

/// A command buffer.
struct Commands {
    recorded: LogRecorder,
    at: Position,
}

impl Commands {
    fn new() -> Commands {
        Commands {
            recorded: LogRecorder::new(),
            at: Position::default(),
        }
    }

    fn act(
        mut self,
        buffer: u32,
        (stage, access): (S, A),
        (kind, is_certain): (AccessKind, bool),
    ) -> Commands {
        self.at.act("vkCmdDispatch");
        let access = MemoryAccess {
            resource: ResourceId(buffer),
            part: ResourcePart::Bytes(0, 1024),
            stage,
            access,
            kind,
            discards: false,
        };
        self.recorded.perform(
            vec![LoggedAccess {
                access,
                is_certain,
                may_follow_write: false,
            }],
            &self.at,
        );
        self
    }

    /// A fill, or a copy from a buffer.
    fn transfer(self, buffer: u32, side: (S, A)) -> Commands {
        self.act(buffer, side, (AccessKind::Whole, true))
    }

    fn barrier(
        mut self,
        from: (S, A),
        to: (S, A),
        extent: DependencyMemory,
        change: BarrierChange,
    ) -> Commands {
        self.at.is_between("vkCmdPipelineBarrier2");
        let scopes = DependencyScopes {
            src: from.0,
            src_access: from.1,
            dst: to.0,
            dst_access: to.1,
        };
        let dependency = Dependency {
            scopes,
            memory: extent,
            change,
        };
        self.recorded.barrier([dependency], &[], &self.at);
        self
    }

    fn memory(self, from: (S, A), to: (S, A)) -> Commands {
        self.barrier(from, to, DependencyMemory::All, BarrierChange::None)
    }

    fn end(mut self) -> Arc<Log> {
        self.recorded.freeze()
    }
}

fn waits(value: u64) -> Batch {
    Batch {
        waits: vec![(semaphore(), value, S::ALL_COMMANDS)],
        ..Batch::default()
    }
}

fn signals(value: u64) -> Batch {
    Batch {
        signals: vec![(semaphore(), value, S::ALL_COMMANDS)],
        ..Batch::default()
    }
}

/// "Queue Family Ownership Transfer": a release happens before its acquire. Releases of other bytes, and a release after an acquire of
/// other bytes, need no order.
#[test]
fn of_ordinary_resources_only_a_release_and_its_acquire_need_order() {
    let device = || Device::new(Verdicts::default());
    let none = (S::NONE, A::NONE);
    let part = |buffer, first: u64| DependencyMemory::Part(buffer, ResourcePart::Bytes(first, first + 100));
    let transfer = BarrierChange::Family { from: 0, to: 1 };
    let release = |commands: Commands, buffer, first| {
        commands.barrier((S::COPY, A::TRANSFER_WRITE), none, part(buffer, first), transfer)
    };
    let acquire = |buffer, first| {
        Commands::new()
            .barrier(none, COPY_READ, part(buffer, first), transfer)
            .end()
    };
    let mut right = device();
    let buffer = right.ordinary();
    let both = release(release(Commands::new(), buffer, 0), buffer, 100).end();
    let mut found = right.submit(0, &both, &signals(1));
    found.extend(right.submit(1, &acquire(buffer, 0), &waits(1)));
    // The next region, while the other queue may still acquire the first one.
    let next = release(Commands::new(), buffer, 200).end();
    found.extend(right.submit(0, &next, &signals(2)));
    found.extend(right.submit(1, &acquire(buffer, 100), &waits(1)));
    assert_eq!(texts(&found), []);

    let mut wrong = device();
    let buffer = wrong.ordinary();
    let one = release(Commands::new(), buffer, 0).end();
    assert_eq!(texts(&wrong.submit(0, &one, &Batch::default())), []);
    let found = wrong.submit(1, &acquire(buffer, 0), &Batch::default());
    let [(id, text)] = texts(&found)[..] else {
        panic!("{found:#?}")
    };
    assert_eq!(id, "TILEHEAP-missing-order");
    assert!(
        text.starts_with("unsynchronized queue family ownership transfer:"),
        "{text}"
    );
}

/// A barrier counts even if nothing was accessed when it is submitted: an earlier batch of its queue may still wait.
#[test]
fn a_barrier_after_a_batch_that_waits_orders_it() {
    let mut device = Device::new(Verdicts::default());
    let [a, _] = BUFFERS;
    let fill = || Commands::new().transfer(a, CLEAR).end();
    let barrier = Commands::new().memory(CLEAR, CLEAR).end();
    let mut found = device.submit(0, &fill(), &waits(1));
    found.extend(device.submit(0, &barrier, &Batch::default()));
    found.extend(device.submit(0, &fill(), &Batch::default()));
    found.extend(device.tracker.signal(semaphore(), 1));
    assert_eq!(texts(&found), []);
}

/// A certain finding is reported even if others are possible for the same command.
#[test]
fn possible_findings_do_not_hide_certain_ones() {
    let [a, b] = BUFFERS;
    let ids = |possible: bool, commands: Commands| {
        let mut device = Device::new(Verdicts {
            possible,
            pedantic: false,
        });
        let found = device.submit(0, &commands.end(), &Batch::default());
        found.iter().map(|one| one.id.name()).collect::<Vec<_>>()
    };
    let through = || {
        let fills = Commands::new()
            .transfer(a, CLEAR)
            .memory(CLEAR, CLEAR)
            .transfer(b, CLEAR);
        fills.transfer(a, COPY_READ)
    };
    assert_eq!(ids(false, through()), ["TILEHEAP-missing-order"]);
    let both = ["TILEHEAP-possible-contents", "TILEHEAP-missing-order"];
    assert_eq!(ids(true, through()), both);
    let perhaps = || {
        let read = (S::COMPUTE_SHADER, A::SHADER_STORAGE_READ);
        let perhaps = (AccessKind::Partial, false);
        Commands::new()
            .transfer(a, CLEAR)
            .act(a, read, perhaps)
            .transfer(a, CLEAR)
    };
    assert_eq!(ids(false, perhaps()), ["TILEHEAP-missing-order"]);
    assert!(ids(true, perhaps()).contains(&"TILEHEAP-missing-order"));
}

/// A secondary command buffer reads attachments that the enclosing subpass draws to: these reads are in order, and other accesses are not.
#[test]
fn a_secondary_is_in_order_with_the_attachments_around_it() {
    let [a, _] = BUFFERS;
    let run = |drawn: Vec<ResourceId>, is_nested: bool| {
        let read = (S::FRAGMENT_SHADER, A::INPUT_ATTACHMENT_READ);
        let mut secondary = Commands::new().transfer(a, read).end();
        if is_nested {
            let mut outer = Commands::new();
            outer
                .recorded
                .run(secondary, EnclosingSubpass::default(), &outer.at);
            secondary = outer.end();
        }
        let mut commands = Commands::new().transfer(a, CLEAR);
        let begin = Command::BeginRendering {
            resumes: false,
            pass: Arc::default(),
        };
        commands.recorded.pass(vec![begin], &commands.at);
        let subpass = EnclosingSubpass {
            drawn,
            attachments: None,
        };
        commands.recorded.run(secondary, subpass, &commands.at);
        let end = Command::EndRendering;
        commands.recorded.pass(vec![end], &commands.at);
        let mut device = Device::new(Verdicts::default());
        let found = device.submit(0, &commands.end(), &Batch::default());
        found.len()
    };
    for is_nested in [false, true] {
        assert_eq!(run(Vec::new(), is_nested), 1);
        assert_eq!(run(vec![ResourceId(a)], is_nested), 0);
    }
}

/// "Queue Family Ownership Transfer": nothing in a batch orders an acquire after a release to an external family; in another batch, work outside of the
/// device may order it.
#[test]
fn transfers_outside_are_ordered_by_others_or_not_at_all() {
    let [a, _] = BUFFERS;
    let external = vk::QUEUE_FAMILY_EXTERNAL;
    let transfer = |commands: Commands, from, to| {
        let part = DependencyMemory::Part(ResourceId(a), ResourcePart::Bytes(0, 1024));
        commands.barrier(CLEAR, COPY_READ, part, BarrierChange::Family { from, to })
    };
    let release = || transfer(Commands::new().transfer(a, CLEAR), 0, external);
    let acquire = |commands| transfer(commands, external, 0).transfer(a, COPY_READ);
    let read = |commands: Commands| {
        commands
            .memory((S::ALL_COMMANDS, A::NONE), COPY_READ)
            .transfer(a, COPY_READ)
    };
    let ids = |batches: Vec<Commands>| {
        let mut device = Device::new(Verdicts {
            possible: true,
            pedantic: true,
        });
        let each = batches.into_iter().map(Commands::end);
        let found = each.flat_map(|log| device.submit(0, &log, &Batch::default()));
        found.map(|one| one.id.name()).collect::<Vec<_>>()
    };
    assert_eq!(ids(vec![acquire(release())]), ["TILEHEAP-missing-order"]);
    let apart = vec![release(), acquire(Commands::new())];
    assert_eq!(ids(apart), ["TILEHEAP-possible-order"]);
    assert_eq!(ids(vec![read(release())]), ["TILEHEAP-reads-discarded"]);
}

/// Logs are removed once nothing refers to them, including those of secondary command buffers, and are added again when they run again.
#[test]
fn logs_that_run_again_are_known_again() {
    let [a, _] = BUFFERS;
    let mut device = Device::new(Verdicts::default());
    let write = (S::COMPUTE_SHADER, A::SHADER_STORAGE_WRITE);
    let secondary = Commands::new().act(a, write, (AccessKind::Partial, false)).end();
    let after = (
        S::CLEAR | S::COMPUTE_SHADER,
        A::TRANSFER_WRITE | A::SHADER_STORAGE_WRITE,
    );
    let mut primary = Commands::new().transfer(a, CLEAR).memory(CLEAR, after);
    let outside = EnclosingSubpass::default();
    primary.recorded.run(secondary, outside, &primary.at);
    // The write of the secondary is not certain, so the missing barrier is not reported.
    let primary = primary.transfer(a, CLEAR).end();
    for _ in 0..40 {
        let mut many = Commands::new();
        for _ in 0..2000 {
            many = many.memory(CLEAR, CLEAR);
        }
        let many = many.transfer(a, CLEAR).end();
        let mut found = device.submit(0, &many, &Batch::default());
        found.extend(device.tracker.wait(HostWait::Device));
        found.extend(device.submit(0, &primary, &Batch::default()));
        found.extend(device.tracker.wait(HostWait::Device));
        assert_eq!(texts(&found), []);
    }
}

/// An image barrier only makes writes through its own image available: an alias needs a memory barrier.
#[test]
fn a_transition_after_writes_through_an_alias_needs_a_memory_barrier() {
    let [a, b] = BUFFERS;
    let transition = |of: u32| {
        let of = DependencyMemory::Part(ResourceId(of), ResourcePart::Bytes(0, 1024));
        let change = BarrierChange::Layout { discards: true };
        let commands = Commands::new()
            .transfer(a, CLEAR)
            .barrier((S::NONE, A::NONE), CLEAR, of, change);
        let mut device = Device::new(Verdicts::default());
        let found = device.submit(0, &commands.end(), &Batch::default());
        let remedies = found.into_iter().filter_map(|one| one.remedy);
        remedies.map(String::from).collect::<Vec<_>>()
    };
    let masks = "srcStageMask CLEAR and srcAccessMask TRANSFER_WRITE";
    assert_eq!(transition(a), [format!("add {masks} to the barrier")]);
    let [remedy] = &transition(b)[..] else {
        panic!("one finding")
    };
    assert!(
        remedy.starts_with(&format!("add a memory barrier with {masks} to the same command")),
        "{remedy}"
    );
}
