//! Cases of ownership by queue families.

use tileheap_sync::Certainty;

use super::*;

/// A fill of all bytes, a barrier or an access, by a queue family.
enum Act {
    Write,
    Read,
    /// A shader that accesses unknown elements.
    WriteSome,
    ReadSome,
    Release,
    Acquire,
}

use Act::*;

/// The losses of a buffer with this sharing mode: the reading command, the one that took the contents, its family and the one before.
fn losses(sharing: SharingMode, steps: &[(u32, Act)]) -> Vec<(u64, u64, u32, u32)> {
    let mut model = Model::new(1);
    let buffer = model.add(Resource {
        sharing,
        ..resources(0)[0]
    });
    model.set_implicit_transfers(0, 1 << 1);
    let part = ResourcePart::Bytes(0, 24);
    let act = |side, kind| Command::Action(vec![access(buffer, part, side, kind)]);
    let transfer = || {
        let mut dependency = transition(buffer, NOTHING, NOTHING, false);
        dependency.memory = DependencyMemory::Part(buffer, part);
        dependency.change = BarrierChange::Family { from: 0, to: 1 };
        Command::Barrier(vec![dependency])
    };
    let mut findings = Findings::default();
    for (number, (family, step)) in (0..).zip(steps) {
        let command = match step {
            Write => act(CS_WRITE, AccessKind::Whole),
            Read => act(CS_READ, AccessKind::Whole),
            WriteSome => act(CS_WRITE, AccessKind::Partial),
            ReadSome => act(CS_READ, AccessKind::Partial),
            Release | Acquire => transfer(),
        };
        findings.extend(model.step(&HostStep::Submit(Batch {
            number,
            queue: QueueId(u64::from(*family)),
            family: *family,
            command_buffers: vec![Arc::new(CommandBuffer {
                commands: vec![(Tag(number), command)],
            })],
            ..Batch::default()
        })));
    }
    let told = |one: &LostContents| match one.loss {
        LossReason::NotTransferred { by, from, to } if one.verdict == Certainty::Certain => {
            (one.reader.tag.0, by.tag.0, from, to)
        }
        other => panic!("{other:?}"),
    };
    findings.lost.iter().map(told).collect()
}

#[test]
fn another_queue_family_needs_a_transfer() {
    let exclusive = |steps: &[(u32, Act)]| losses(SharingMode::Exclusive, steps);
    assert_eq!(exclusive(&[(0, Write), (1, Read)]), [(1, 1, 0, 1)]);
    assert_eq!(exclusive(&[(0, WriteSome), (1, ReadSome)]), [(1, 1, 0, 1)]);
    assert_eq!(exclusive(&[(0, Write), (0, Read)]), []);
    let transferred = [(0, Write), (0, Release), (1, Acquire), (1, Read)];
    assert_eq!(exclusive(&transferred), []);
    let unreleased = [(0, Write), (1, Acquire), (1, Read)];
    assert_eq!(exclusive(&unreleased), [(2, 1, 0, 1)]);
    // A write of everything needs no contents, and takes them from the first family.
    assert_eq!(exclusive(&[(0, Write), (1, Write), (1, Read)]), []);
    assert_eq!(exclusive(&[(0, Write), (1, Write), (0, Read)]), [(2, 2, 1, 0)]);
    // A write of some elements may define those that are read.
    assert_eq!(exclusive(&[(0, Write), (1, WriteSome), (1, ReadSome)]), []);
}

#[test]
fn some_resources_need_no_transfer() {
    let steps = [(0, Write), (1, Read)];
    assert_eq!(losses(SharingMode::Concurrent, &steps), []);
    assert_eq!(losses(SharingMode::ExclusiveUnlessImplicit, &steps), []);
    let back = [(0, Write), (1, Write), (0, Read)];
    assert_eq!(
        losses(SharingMode::ExclusiveUnlessImplicit, &back),
        [(2, 2, 1, 0)]
    );
}

/// "Resource Sharing Mode": with maintenance9, contents of buffers, of linear images and of images that cannot be attachments may need no transfer.
#[test]
fn maintenance9_lifts_transfers() {
    use SharingMode::{Concurrent, Exclusive, ExclusiveUnlessImplicit};
    use vk::{ImageTiling as T, ImageUsageFlags as U, SharingMode as M};
    let image = |tiling, usage, has| SharingMode::of_image(M::EXCLUSIVE, tiling, usage, has);
    for (tiling, usage, expected) in [
        (T::LINEAR, U::SAMPLED, Concurrent),
        (T::DRM_FORMAT_MODIFIER_EXT, U::SAMPLED, Concurrent),
        (T::OPTIMAL, U::SAMPLED | U::STORAGE, ExclusiveUnlessImplicit),
        (T::OPTIMAL, U::SAMPLED | U::COLOR_ATTACHMENT, Exclusive),
        (T::OPTIMAL, U::INPUT_ATTACHMENT, Exclusive),
    ] {
        assert_eq!(image(tiling, usage, true), expected, "{tiling:?} {usage:?}");
        assert_eq!(image(tiling, usage, false), Exclusive, "{tiling:?} {usage:?}");
    }
    let buffer = |mode, has| SharingMode::of_buffer(mode, has);
    assert_eq!(
        [false, true].map(|has| buffer(M::EXCLUSIVE, has)),
        [Exclusive, Concurrent]
    );
    for has in [false, true] {
        assert_eq!(buffer(M::CONCURRENT, has), Concurrent);
        let shared = SharingMode::of_image(M::CONCURRENT, T::OPTIMAL, U::SAMPLED, has);
        assert_eq!(shared, Concurrent);
    }
}
