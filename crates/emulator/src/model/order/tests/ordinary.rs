//! Ordinary memory: the resources that are tracked, and the time at which tracking begins.

use tileheap_sync::program::{SharingMode, Texels};
use tileheap_units::Run;

use super::*;
use crate::model::objects::Names;
use crate::model::order::unseen::UnseenSource;

/// A device without resources.
fn device(verdicts: Verdicts) -> Device {
    Device {
        tracker: Tracker::new(true, FindingReporter::new(verdicts, false, Arc::default()), 1),
        submits: 0,
    }
}

const ALL: Verdicts = Verdicts {
    possible: true,
    pedantic: false,
};

/// An image of 1,024 bytes with optimal tiling, in the same memory object as the buffers.
fn image(number: u32, first: u64) -> Arc<Resource> {
    let buffer = Arc::into_inner(buffer(number, false, first)).expect("one owner");
    Arc::new(Resource {
        object: Object(vk::ObjectType::IMAGE, number.into()),
        tiling: Tiling::Optimal(ALL_TEXELS),
        format: vk::Format::R8_UNORM,
        ..buffer
    })
}

/// All subresources of an image that `image` creates.
const ALL_TEXELS: Texels = Texels {
    aspects: vk::ImageAspectFlags::COLOR,
    levels: Run { first: 0, end: 1 },
    layers: Run { first: 0, end: 1 },
    area: None,
};

impl Commands {
    /// Clears an image.
    fn clear(mut self, image: u32) -> Commands {
        self.at.act("vkCmdClearColorImage");
        let access = MemoryAccess {
            resource: ResourceId(image),
            part: ResourcePart::Texels(ALL_TEXELS),
            stage: S::CLEAR,
            access: A::TRANSFER_WRITE,
            kind: AccessKind::Whole,
            discards: false,
        };
        let is_certain = true;
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
}

/// Fills two buffers, without a barrier in between.
fn fills(a: u32, b: u32) -> Arc<Log> {
    Commands::new().transfer(a, CLEAR).transfer(b, CLEAR).end()
}

fn read(of: u32) -> Arc<Log> {
    Commands::new().transfer(of, COPY_READ).end()
}

#[test]
fn only_resources_that_share_bytes_are_followed() {
    let mut device = device(ALL);
    assert_eq!(device.tracker.bind(&buffer(1, false, 0)).0.len(), 0);
    assert_eq!(device.tracker.bind(&buffer(2, false, 1024)).0.len(), 0);
    assert_eq!(texts(&device.submit(0, &fills(1, 1), &Batch::default())), []);
    assert_eq!(device.tracker.bind(&buffer(3, false, 2047)).0.len(), 2);
    let (new, _) = device.tracker.bind(&buffer(4, false, 2048));
    let numbers: Vec<_> = new.iter().map(|one| one.number).collect();
    assert_eq!(numbers, [4], "buffer 3 already shared bytes with buffer 2");
    let found = device.submit(0, &fills(2, 3), &Batch::default());
    let [(id, text)] = texts(&found)[..] else {
        panic!("{found:#?}")
    };
    assert_eq!(id, "TILEHEAP-missing-order");
    let memory = Object(vk::ObjectType::DEVICE_MEMORY, 1);
    assert!(text.contains(&format!("[2047, 2048) of {memory}")), "{text}");
    assert_eq!(
        texts(&device.submit(0, &fills(1, 1), &Batch::default())),
        [],
        "buffer 1 shares no bytes"
    );
}

/// The resource is tracked even in a command buffer that was submitted before, which is translated again.
#[test]
fn a_resource_is_followed_from_when_it_shares_bytes() {
    let mut device = device(Verdicts::default());
    device.tracker.bind(&buffer(1, false, 0));
    let twice = fills(1, 1);
    assert_eq!(texts(&device.submit(0, &twice, &Batch::default())), []);
    device.tracker.bind(&buffer(2, false, 512));
    assert_eq!(device.submit(0, &twice, &Batch::default()).len(), 1);
}

#[test]
fn contents_from_before_are_not_lost() {
    let ids = |submits_between: bool| {
        let mut device = device(Verdicts::default());
        device.tracker.bind(&buffer(1, false, 0));
        if submits_between {
            let fill = Commands::new().transfer(1, CLEAR).end();
            device.submit(0, &fill, &Batch::default());
        }
        device.tracker.bind(&buffer(2, false, 512));
        let found = device.submit(0, &read(1), &Batch::default());
        found.iter().map(|one| one.id.name()).collect::<Vec<_>>()
    };
    assert_eq!(ids(true), [""; 0]);
    assert_eq!(ids(false), ["TILEHEAP-reads-discarded"]);
}

/// A buffer that is read for the first time after an image was written in the same bytes has no contents.
#[test]
fn contents_of_other_resources_are_not_its_own() {
    let mut device = device(Verdicts::default());
    device.tracker.bind(&buffer(1, false, 0));
    device.tracker.bind(&image(2, 512));
    let clear = Commands::new().clear(2).end();
    assert_eq!(texts(&device.submit(0, &clear, &Batch::default())), []);
    assert_eq!(texts(&device.tracker.wait(HostWait::Device)), []);
    let found = device.submit(0, &read(1), &Batch::default());
    let ids: Vec<_> = found.iter().map(|one| one.id.name()).collect();
    assert_eq!(ids, ["TILEHEAP-reads-discarded"]);
}

/// Many programs load stencil contents, because LOAD is 0, and do not use them.
#[test]
fn loads_of_stencil_that_was_never_written_are_only_possible() {
    let ids = |aspects: vk::ImageAspectFlags| {
        let texels = Texels {
            aspects: vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL,
            ..ALL_TEXELS
        };
        let depth = Arc::into_inner(image(2, 512)).expect("one owner");
        let depth = Resource {
            tiling: Tiling::Optimal(texels),
            format: vk::Format::D24_UNORM_S8_UINT,
            ..depth
        };
        let mut device = device(ALL);
        device.tracker.bind(&buffer(1, false, 0));
        device.tracker.bind(&Arc::new(depth));
        let mut commands = Commands::new();
        let access = MemoryAccess {
            resource: ResourceId(2),
            part: ResourcePart::Texels(Texels { aspects, ..texels }),
            stage: S::EARLY_FRAGMENT_TESTS,
            access: A::DEPTH_STENCIL_ATTACHMENT_READ,
            kind: AccessKind::Load,
            discards: false,
        };
        let load = LoggedAccess {
            access,
            is_certain: true,
            may_follow_write: false,
        };
        commands.recorded.perform(vec![load], &commands.at);
        let found = device.submit(0, &commands.end(), &Batch::default());
        found.iter().map(|one| one.id.name()).collect::<Vec<_>>()
    };
    assert_eq!(ids(vk::ImageAspectFlags::STENCIL), ["TILEHEAP-possible-contents"]);
    assert_eq!(ids(vk::ImageAspectFlags::DEPTH), ["TILEHEAP-reads-discarded"]);
}

/// A command may read contents that it has written itself.
#[test]
fn reads_that_may_follow_a_write_are_only_possible() {
    let ids = |may_follow_write: bool| {
        let mut device = device(ALL);
        device.tracker.bind(&buffer(1, false, 0));
        device.tracker.bind(&buffer(2, false, 512));
        let mut commands = Commands::new();
        let [read, write] = [A::SHADER_STORAGE_READ, A::SHADER_STORAGE_WRITE].map(|access| LoggedAccess {
            access: MemoryAccess {
                resource: ResourceId(1),
                part: ResourcePart::Bytes(0, 1024),
                stage: S::COMPUTE_SHADER,
                access,
                kind: AccessKind::Partial,
                discards: false,
            },
            is_certain: true,
            may_follow_write,
        });
        commands.recorded.perform(vec![read, write], &commands.at);
        let found = device.submit(0, &commands.end(), &Batch::default());
        found.iter().map(|one| one.id.name()).collect::<Vec<_>>()
    };
    assert_eq!(ids(false), ["TILEHEAP-reads-discarded"]);
    assert_eq!(ids(true), ["TILEHEAP-possible-contents"]);
}

#[test]
fn waits_for_any_of_several_leave_order_open() {
    let mut device = device(ALL);
    device.tracker.bind(&buffer(1, false, 0));
    device.tracker.bind(&buffer(2, false, 512));
    device.tracker.wait(HostWait::AnyOf);
    let found = device.submit(0, &fills(1, 2), &Batch::default());
    let ids: Vec<_> = found.iter().map(|one| one.id.name()).collect();
    assert_eq!(ids, ["TILEHEAP-possible-order"]);
}

/// A command whose writes the layer does not see.
fn unseen(command: &'static str) -> UnseenSource {
    UnseenSource {
        command,
        object: Object(vk::ObjectType::COMMAND_BUFFER, 1),
        at: None,
    }
}

/// A buffer that unseen writes of these kinds can reach.
fn reachable(number: u32, first: u64, unseen_writes: UnseenWrites) -> Arc<Resource> {
    let buffer = Arc::into_inner(buffer(number, false, first)).expect("one owner");
    Arc::new(Resource {
        unseen_writes,
        ..buffer
    })
}

/// Unseen writes reach the resources with matching usages, and buffers in the same bytes.
#[test]
fn unseen_writes_leave_only_what_they_reach_uncertain() {
    use UnseenWrites as U;
    let mut device = device(ALL);
    let resources = [
        reachable(1, 0, U::ADDRESSES),
        buffer(2, false, 512),
        buffer(3, false, 1536),
        image(4, 1536),
    ];
    for resource in &resources {
        assert_eq!(texts(&device.tracker.bind(resource).1), []);
    }
    let allowed =
        |device: &mut Device, kind| texts(&device.tracker.allow_unseen_writes(kind, unseen("a"))).len();
    assert_eq!(
        allowed(&mut device, U::DESCRIPTORS),
        0,
        "no resource can be reached"
    );
    assert_eq!(allowed(&mut device, U::ADDRESSES | U::DESCRIPTORS), 1);
    assert_eq!(allowed(&mut device, U::ADDRESSES), 0, "a second time");
    let mut ids = |of| {
        let found = device.submit(0, &read(of), &Batch::default());
        found.iter().map(|one| one.id.name()).collect::<Vec<_>>()
    };
    assert_eq!(ids(1), ["TILEHEAP-possible-contents"]);
    assert_eq!(
        ids(2),
        ["TILEHEAP-possible-contents"],
        "buffer 2 shares bytes with buffer 1"
    );
    assert_eq!(
        ids(3),
        ["TILEHEAP-reads-discarded"],
        "buffer 3 shares bytes only with the image"
    );
    device
        .tracker
        .allow_unseen_writes_in(vk::DeviceMemory::from_raw(1));
    let found = device.submit(0, &read(3), &Batch::default());
    assert_eq!(found[0].id.name(), "TILEHEAP-possible-contents");
}

/// A destroyed resource may have been written before.
#[test]
fn unseen_writes_through_destroyed_buffers_count() {
    let mut device = device(ALL);
    let [storage, other] = [reachable(1, 0, UnseenWrites::DESCRIPTORS), buffer(2, false, 512)];
    device.tracker.bind(&storage);
    device.tracker.bind(&other);
    let messages = device
        .tracker
        .allow_unseen_writes(UnseenWrites::DESCRIPTORS, unseen("vkCmdBindShadersEXT"));
    let [(id, text)] = texts(&messages)[..] else {
        panic!("{messages:#?}")
    };
    assert_eq!(id, "TILEHEAP-unseen-writes");
    assert!(
        text.starts_with("vkCmdBindShadersEXT may write storage buffers"),
        "{text}"
    );
    device.tracker.remove(storage.object, Some(&storage));
    let found = device.submit(0, &read(2), &Batch::default());
    assert_eq!(found[0].id.name(), "TILEHEAP-possible-contents");
}

/// The first command of a kind is reported once a resource that it can reach is tracked.
#[test]
fn unseen_writes_are_reported_once_they_matter() {
    let mut device = device(ALL);
    let address = UnseenWrites::ADDRESSES;
    for command in ["vkCmdFillMemoryKHR", "vkCmdDispatch"] {
        assert_eq!(
            texts(&device.tracker.allow_unseen_writes(address, unseen(command))),
            []
        );
    }
    assert_eq!(texts(&device.tracker.bind(&reachable(1, 0, address)).1), []);
    let (_, messages) = device.tracker.bind(&buffer(2, false, 0));
    let [(_, text)] = texts(&messages)[..] else {
        panic!("{messages:#?}")
    };
    assert!(
        text.starts_with("vkCmdFillMemoryKHR may write buffers with SHADER_DEVICE_ADDRESS"),
        "{text}"
    );
}

#[test]
fn the_host_may_write_what_it_has_mapped() {
    let found = |memory| {
        let mut device = device(ALL);
        device.tracker.bind(&buffer(1, false, 0));
        device.tracker.bind(&buffer(2, false, 512));
        device.tracker.map(vk::DeviceMemory::from_raw(memory));
        let found = device.submit(0, &read(1), &Batch::default());
        found.iter().map(|one| one.id.name()).collect::<Vec<_>>()
    };
    assert_eq!(found(1), [""; 0]);
    assert_eq!(found(2), ["TILEHEAP-reads-discarded"]);
}

#[test]
fn order_that_is_not_seen_leaves_nothing_certain() {
    let mut device = device(ALL);
    device.tracker.bind(&buffer(1, false, 0));
    device.tracker.bind(&buffer(2, false, 512));
    device.tracker.allow_unseen_order();
    let found = device.submit(0, &fills(1, 2), &Batch::default());
    let ids: Vec<_> = found.iter().map(|one| one.id.name()).collect();
    assert_eq!(ids, ["TILEHEAP-possible-order"]);
}

/// A frame repeats its mistakes, with new resources and other command buffers.
#[test]
fn a_mistake_is_reported_once_and_counted() {
    let mut device = device(Verdicts::default());
    let names = Arc::new(Names::default());
    device.tracker = Tracker::new(
        true,
        FindingReporter::new(Verdicts::default(), false, names.clone()),
        1,
    );
    let frame = |device: &mut Device, number: u32| {
        let both = [buffer(number, false, 0), buffer(number + 1, false, 512)];
        both.iter().for_each(|one| _ = device.tracker.bind(one));
        let found = device.submit(0, &fills(number, number + 1), &Batch::default());
        device.tracker.wait(HostWait::Device);
        both.iter()
            .for_each(|one| device.tracker.remove(one.object, Some(one)));
        found.len()
    };
    let frames = [1, 3, 5].map(|number| frame(&mut device, number));
    assert_eq!(frames, [1, 0, 0]);
    // Different resources with the same name.
    names.set(Object(vk::ObjectType::BUFFER, 7), "shadows");
    let frames = [7, 9].map(|number| frame(&mut device, number));
    assert_eq!(frames, [1, 0]);
    let repeated = device.tracker.repeated();
    let [one] = &repeated[..] else {
        panic!("{repeated:#?}")
    };
    assert_eq!((one.id.name(), one.times), ("TILEHEAP-missing-order", 3));
    assert!(
        one.text
            .starts_with("unsynchronized write after write: buffer 0x2 of 1024 B"),
        "{}",
        one.text
    );
}

/// Lost contents are also reported once; with the setting `repeats` every time.
#[test]
fn a_loss_is_reported_once_unless_repeats_are_wanted() {
    let found = |repeats: bool| {
        let mut device = device(Verdicts::default());
        device.tracker = Tracker::new(
            true,
            FindingReporter::new(Verdicts::default(), repeats, Arc::default()),
            1,
        );
        device.tracker.bind(&buffer(1, false, 0));
        device.tracker.bind(&image(2, 512));
        let frames = [(); 3].map(|()| {
            let clear = Commands::new().clear(2).end();
            let mut found = device.submit(0, &clear, &Batch::default());
            found.extend(device.tracker.wait(HostWait::Device));
            found.extend(device.submit(0, &read(1), &Batch::default()));
            found.extend(device.tracker.wait(HostWait::Device));
            found.len()
        });
        (frames, device.tracker.repeated().len())
    };
    assert_eq!(found(false), ([1, 0, 0], 1));
    assert_eq!(found(true), ([1, 1, 1], 0));
}

/// A presented image is complete before an image that is acquired afterwards.
#[test]
fn presentation_orders_submissions() {
    let [rendered, acquired] = [11, 12].map(vk::Semaphore::from_raw);
    let number = |of: &[vk::Semaphore]| of.iter().map(|one| (*one, 0, S::ALL_COMMANDS)).collect();
    let found = |presents: bool| {
        let mut device = device(Verdicts::default());
        device.tracker.bind(&buffer(1, false, 0));
        device.tracker.bind(&buffer(2, false, 512));
        let first = Batch {
            signals: number(&[rendered]),
            ..Batch::default()
        };
        let mut found = device.submit(0, &Commands::new().transfer(1, CLEAR).end(), &first);
        if presents {
            found.extend(device.tracker.present(&[rendered], &[]));
        }
        found.extend(device.tracker.acquire(acquired, vk::Fence::null()));
        let second = Batch {
            waits: number(&[acquired]),
            ..Batch::default()
        };
        found.extend(device.submit(1, &Commands::new().transfer(2, CLEAR).end(), &second));
        found.len()
    };
    assert_eq!(found(true), 0);
    assert_eq!(found(false), 1);
}

/// Each of thousands of resources in one memory object shares bytes with its neighbors.
#[test]
fn of_thousands_of_resources_neighbors_conflict() {
    const COUNT: u32 = 4_000;
    let mut device = device(Verdicts::default());
    let all: Vec<Arc<Resource>> = (1..=COUNT)
        .map(|number| buffer(number, false, 512 * u64::from(number)))
        .collect();
    let tracked = all.iter().map(|one| device.tracker.bind(one).0.len());
    assert_eq!(tracked.sum::<usize>(), COUNT as usize);
    let mut commands = Commands::new();
    for number in 1..=COUNT {
        commands = commands.transfer(number, CLEAR);
        if number != 1_000 {
            commands = commands.memory(CLEAR, CLEAR);
        }
    }
    let found = device.submit(0, &commands.end(), &Batch::default());
    let [one] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(one.object, Object(vk::ObjectType::BUFFER, 1_001));
    device.tracker.wait(HostWait::Device);
    for one in &all {
        device.tracker.remove(one.object, Some(one));
    }
    // None of their state remains.
    let [a, b] = [buffer(COUNT + 1, false, 512), buffer(COUNT + 2, false, 1024)];
    assert_eq!(device.tracker.bind(&a).0.len(), 0);
    assert_eq!(device.tracker.bind(&b).0.len(), 2);
}

#[test]
fn freed_memory_is_forgotten() {
    let mut device = device(Verdicts::default());
    let both = [buffer(1, false, 0), buffer(2, false, 512)];
    both.iter().for_each(|one| _ = device.tracker.bind(one));
    let fill = |of| Commands::new().transfer(of, CLEAR).end();
    assert_eq!(device.submit(0, &fill(1), &Batch::default()).len(), 0);
    for one in &both {
        device.tracker.remove(one.object, Some(one));
    }
    device.tracker.free(vk::DeviceMemory::from_raw(1));
    // A new object with the same handle, which does not have to wait for anything.
    device.tracker.bind(&buffer(3, false, 0));
    device.tracker.bind(&buffer(4, false, 512));
    assert_eq!(texts(&device.submit(0, &fill(3), &Batch::default())), []);
}

/// Two exclusive buffers in the same bytes; queue 0 fills the second one and signals a semaphore.
fn filled(sharing: SharingMode, releases: bool) -> Device {
    let mut device = device(Verdicts::default());
    for number in BUFFERS {
        let buffer = Arc::into_inner(buffer(number, false, 0)).expect("one owner");
        device.tracker.bind(&Arc::new(Resource { sharing, ..buffer }));
    }
    device.tracker.create_timeline(semaphore(), 0);
    let mut commands = Commands::new().transfer(2, CLEAR);
    if releases {
        commands = commands.barrier(CLEAR, COPY_READ, whole(2), TRANSFERRED);
    }
    device.submit(0, &commands.end(), &signals(1));
    device
}

const TRANSFERRED: BarrierChange = BarrierChange::Family { from: 0, to: 1 };

/// All bytes of a buffer.
fn whole(number: u32) -> DependencyMemory {
    DependencyMemory::Part(ResourceId(number), ResourcePart::Bytes(0, 1024))
}

/// "Resource Sharing Mode": contents become undefined when another queue family accesses them without a transfer.
#[test]
fn another_queue_family_needs_a_transfer() {
    let mut device = filled(SharingMode::Exclusive, false);
    let found = device.submit(1, &read(2), &waits(1));
    let [one] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(one.id.name(), "TILEHEAP-reads-discarded");
    let (cause, remedy) = (one.cause.as_deref(), one.remedy.as_deref());
    let lacks = "on queue family 0; queue family 1 accesses the resource without a transfer of ownership (section \"Resource Sharing Mode\")";
    assert!(cause.is_some_and(|cause| cause.ends_with(lacks)), "{cause:?}");
    let families = "both with srcQueueFamilyIndex 0 and dstQueueFamilyIndex 1";
    assert!(
        remedy.is_some_and(|remedy| remedy.contains(families)),
        "{remedy:?}"
    );
    let silent = |sharing, queue, commands: Commands, releases| {
        let mut device = filled(sharing, releases);
        let found = device.submit(queue, &commands.end(), &waits(1));
        assert_eq!(texts(&found), [], "{sharing:?} {queue} {releases}");
    };
    let read = || Commands::new().transfer(2, COPY_READ);
    silent(SharingMode::Concurrent, 1, read(), false);
    silent(
        SharingMode::Exclusive,
        1,
        Commands::new().transfer(2, CLEAR),
        false,
    );
    let acquired = Commands::new().barrier(CLEAR, COPY_READ, whole(2), TRANSFERRED);
    silent(SharingMode::Exclusive, 1, acquired.transfer(2, COPY_READ), true);
}

/// A barrier may transfer ownership in a way that is not tracked.
#[test]
fn unseen_transfers_make_missing_ones_possible() {
    let mut device = filled(SharingMode::Exclusive, false);
    device.tracker.allow_unseen_transfers();
    assert_eq!(texts(&device.submit(1, &read(2), &waits(1))), []);
}

/// With maintenance9, some families need no transfer.
#[test]
fn implicit_transfers_keep_contents() {
    for (masks, count) in [([0b10, 0], 0), ([0b01, 0b11], 1)] {
        let mut device = filled(SharingMode::ExclusiveUnlessImplicit, false);
        device.tracker.set_implicit_transfers(&masks);
        assert_eq!(device.submit(1, &read(2), &waits(1)).len(), count, "{masks:?}");
    }
}
