//! Wasted loads and stores in one or two frames, and all conditions under which a store is not wasted.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ash::vk;
use tileheap::frame::{AccessKind, LoadOp};

use super::*;
use crate::document::{FrameBoundary, InferredLifetime, LifetimeEvidence};
use crate::model::access::FollowedAccess;
use crate::model::build::document;
use crate::model::flatten::Flat;
use crate::model::objects::Allocation;
use crate::model::recording::{
    Dependency, DependencyMemory, Op, Recorded, RenderPassInstance, Rendering, Synchronization,
};
use crate::model::submits::{Batch, Queue, Submitted};

const EXTENT: vk::Extent3D = vk::Extent3D {
    width: 1920,
    height: 1080,
    depth: 1,
};
const AREA: vk::Rect2D = vk::Rect2D {
    offset: vk::Offset2D { x: 0, y: 0 },
    extent: vk::Extent2D {
        width: 1920,
        height: 1080,
    },
};
const DEPTH: vk::ImageUsageFlags = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
const CLEAR: LoadOp = LoadOp::DontCare;
const STORE: vk::AttachmentStoreOp = vk::AttachmentStoreOp::STORE;

/// A depth buffer with additional usages.
fn depth(more: vk::ImageUsageFlags) -> Arc<Image> {
    Arc::new(Image::new(1, &info(more)))
}

fn info(more: vk::ImageUsageFlags) -> vk::ImageCreateInfo<'static> {
    vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::D32_SFLOAT)
        .extent(EXTENT)
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(DEPTH | more)
}

fn whole(image: &Image) -> tileheap::frame::SubresourceRange {
    image.range(vk::ImageSubresourceRange {
        aspect_mask: vk::ImageAspectFlags::DEPTH,
        base_mip_level: 0,
        level_count: 1,
        base_array_layer: 0,
        layer_count: 1,
    })
}

fn access(image: &Arc<Image>, kind: AccessKind) -> FollowedAccess {
    FollowedAccess::of_image(image, kind, whole(image), vk::ImageLayout::GENERAL)
}

/// A render pass with the image as its depth attachment.
fn rendered(image: &Arc<Image>, load: LoadOp, store: vk::AttachmentStoreOp) -> Vec<Op> {
    let mut depth = access(image, AccessKind::DepthStencilAttachment);
    (depth.reads, depth.writes) = (load == LoadOp::Load, true);
    (depth.load, depth.store) = (load, Some(store));
    let instance = RenderPassInstance {
        subpasses: vec![Rendering {
            attachments: vec![depth],
            area: AREA,
            ..Rendering::default()
        }],
        ..RenderPassInstance::default()
    };
    vec![Op::BeginPass(Box::new(instance)), Op::EndPass]
}

fn copied(image: &Arc<Image>) -> Vec<Op> {
    vec![Op::Transfer(vec![
        access(image, AccessKind::TransferSource).reading(),
    ])]
}

fn discarded(image: &Arc<Image>) -> Vec<Op> {
    vec![Op::Synchronization(Synchronization::Barrier(vec![Dependency {
        scopes: Default::default(),
        memory: DependencyMemory::Image {
            image: image.clone(),
            range: whole(image),
            old: vk::ImageLayout::UNDEFINED,
            new: vk::ImageLayout::GENERAL,
        },
        families: None,
    }]))]
}

fn frame(number: u64, ops: Vec<Op>) -> Submits {
    let recorded = ops.into_iter().map(|op| Recorded {
        call: "vkCmd",
        number: 0,
        op,
    });
    let commands = Submitted {
        name: String::new(),
        ops: Arc::new(recorded.collect()),
        flat: None::<Flat>,
        times: None,
    };
    let batch = Batch {
        commands: vec![commands],
        ..Batch::default()
    };
    let mut submits = Submits {
        number,
        ..Submits::default()
    };
    let queue = Queue {
        capabilities: vk::QueueFlags::GRAPHICS | vk::QueueFlags::TRANSFER,
        ..Queue::default()
    };
    submits.submit(queue, vec![batch], None);
    submits.flatten();
    submits
}

fn captured(captured: Vec<Op>, next: Option<Vec<Op>>) -> Capture {
    let (captured, next) = (frame(2, captured), next.map(|ops| frame(3, ops)));
    let frames = ComparedFrames {
        before: None,
        captured: &captured,
        next: next.as_ref(),
    };
    let origin = Origin {
        program: "test".to_owned(),
        device: String::new(),
        api_version: vk::API_VERSION_1_3,
        boundary: FrameBoundary::Present,
        choice: None,
        addressed: Vec::new(),
        granularity: 1,
        has_maintenance9: false,
        timestamp_period: 1.0,
    };
    let text = document(frames, &origin).expect("a frame");
    let capture = Capture::from_json(&text).expect("a document");
    capture.expect("facts of a capture")
}

/// Returns the wasted operations, each with its bytes and with `true` if it is assumed to be wasted.
fn wasted(now: Vec<Op>, next: Option<Vec<Op>>) -> Vec<(AttachmentOperation, u64, bool)> {
    let capture = captured(now, next);
    let all = capture.wasted.iter();
    all.map(|one| (one.operation, one.bytes, one.assumed)).collect()
}

const SIZE: u64 = 1920 * 1080 * 4;
const WASTED: [(AttachmentOperation, u64, bool); 1] = [(AttachmentOperation::Store, SIZE, false)];

#[test]
fn a_depth_that_the_next_frame_clears_is_stored_for_nothing() {
    let image = depth(vk::ImageUsageFlags::empty());
    let clear = || rendered(&image, CLEAR, STORE);
    let capture = captured(clear(), Some(clear()));
    let [one] = &capture.wasted[..] else {
        panic!("{:?}", capture.wasted);
    };
    assert_eq!((one.operation, one.bytes, one.assumed), WASTED[0]);
    assert_eq!(
        one.reason,
        "pass `render 0` of the next frame replaces the contents before anything reads them"
    );
    let facts = &capture.resources[0];
    assert_eq!(
        (facts.inferred, facts.decided),
        (InferredLifetime::Transient, LifetimeEvidence::NextFrame)
    );
    assert!(capture.compared && facts.memoryless && facts.unused_usage.is_empty());
    assert_eq!(
        (&capture.passes[0].loads[..], &capture.passes[0].stores[..]),
        (&[][..], &[0][..])
    );
    // Without a next frame this is an assumption.
    assert_eq!(wasted(clear(), None), [(AttachmentOperation::Store, SIZE, true)]);
}

#[test]
fn usages_that_no_frame_uses_keep_it_from_being_lazily_allocated() {
    let image = depth(vk::ImageUsageFlags::SAMPLED);
    let clear = || rendered(&image, CLEAR, STORE);
    let capture = captured(clear(), Some(clear()));
    let facts = &capture.resources[0];
    assert!(facts.memoryless);
    assert_eq!(facts.unused_usage, "SAMPLED");
}

/// An offscreen renderer that reads back only some of its frames.
#[test]
fn the_result_of_a_frame_that_presents_nothing_is_needed() {
    let created = |usage| {
        let info = info(usage).format(vk::Format::R8G8B8A8_UNORM).usage(usage);
        Arc::new(Image::new(1, &info))
    };
    let color = vk::ImageUsageFlags::COLOR_ATTACHMENT;
    let clear = |image: &Arc<Image>| {
        let mut ops = rendered(image, CLEAR, STORE);
        if let Op::BeginPass(instance) = &mut ops[0] {
            let attachment = &mut instance.subpasses[0].attachments[0];
            attachment.kind = AccessKind::ColorAttachment;
            attachment.range.aspects = vk::ImageAspectFlags::COLOR;
        }
        ops
    };
    let result = created(color | vk::ImageUsageFlags::TRANSFER_SRC);
    let capture = captured(clear(&result), Some(clear(&result)));
    assert_eq!(capture.wasted, []);
    let facts = &capture.resources[0];
    assert_eq!(facts.inferred, InferredLifetime::External, "{}", facts.reason);
    assert!(!facts.memoryless);
    // It cannot be read in any frame.
    let lost = created(color);
    assert_eq!(wasted(clear(&lost), Some(clear(&lost))), WASTED);
}

#[test]
fn a_load_after_a_transition_from_undefined_is_wasted() {
    let image = depth(vk::ImageUsageFlags::SAMPLED);
    let load = || rendered(&image, LoadOp::Load, STORE);
    let ops = || {
        discarded(&image)
            .into_iter()
            .chain(load())
            .chain(copied(&image))
            .collect()
    };
    let capture = captured(ops(), Some(ops()));
    let [one] = &capture.wasted[..] else {
        panic!("{:?}", capture.wasted);
    };
    assert_eq!((one.operation, one.bytes), (AttachmentOperation::Load, SIZE));
    assert_eq!(
        capture.resources[0].inferred,
        InferredLifetime::Transient,
        "not external for its load"
    );
    // Loaded contents are external.
    let capture = captured(load(), Some(load()));
    assert_eq!(capture.wasted, []);
    assert_eq!(capture.resources[0].inferred, InferredLifetime::External);
}

#[test]
fn what_anything_may_read_is_not_wasted() {
    let clear = |image: &Arc<Image>| rendered(image, CLEAR, STORE);
    let both = |image: &Arc<Image>| wasted(clear(image), Some(clear(image)));
    let sampled = depth(vk::ImageUsageFlags::SAMPLED);
    assert_eq!(both(&sampled), WASTED, "the case that the others change");
    // Copied in this frame, and in the next one.
    let copy = |image: &Arc<Image>| -> Vec<Op> { copied(image).into_iter().chain(clear(image)).collect() };
    let now = clear(&sampled).into_iter().chain(copied(&sampled)).collect();
    assert_eq!(wasted(now, Some(clear(&sampled))), []);
    assert_eq!(wasted(clear(&sampled), Some(copy(&sampled))), []);
    // Loaded by the next frame.
    let load = rendered(&sampled, LoadOp::Load, STORE);
    assert_eq!(wasted(clear(&sampled), Some(load)), []);
    // The next frame does not use it, and a later one may sample it.
    assert_eq!(wasted(clear(&sampled), None), []);
    // Presented.
    let mut shown = Image::new(1, &info(vk::ImageUsageFlags::SAMPLED));
    shown.swapchain = true;
    let shown = Arc::new(shown);
    assert_eq!(both(&shown), []);
    // Loads of undefined contents are useless even then.
    let load = rendered(&shown, LoadOp::Load, STORE);
    let discards: Vec<Op> = discarded(&shown).into_iter().chain(load).collect();
    assert_eq!(wasted(discards, None), [(AttachmentOperation::Load, SIZE, false)]);
    // Exported or imported.
    let exported = depth(vk::ImageUsageFlags::SAMPLED);
    exported.common.shared.store(true, Ordering::Relaxed);
    assert_eq!(both(&exported), []);
    // Others may have written what the program's own commands left undefined.
    let load = rendered(&exported, LoadOp::Load, STORE);
    let discards: Vec<Op> = discarded(&exported).into_iter().chain(load).collect();
    assert_eq!(wasted(discards, None), []);
    // Read by the host: mapped, or copied by the host.
    let mut mapped = Image::new(1, &info(vk::ImageUsageFlags::SAMPLED));
    mapped.linear = true;
    let allocation = Arc::new(Allocation::default());
    allocation.mapped.store(true, Ordering::Relaxed);
    mapped.common.bind(allocation, 0, SIZE);
    assert_eq!(both(&Arc::new(mapped)), []);
    assert_eq!(both(&depth(vk::ImageUsageFlags::HOST_TRANSFER_EXT)), []);
    // Another image may use its memory.
    let mut aliased = Image::new(1, &info(vk::ImageUsageFlags::SAMPLED));
    aliased.alias_group = Some(1);
    assert_eq!(both(&Arc::new(aliased)), []);
    // Unresolved descriptors may refer to it, unless its usages only allow attachments.
    let unresolved = |image: &Arc<Image>| -> Vec<Op> {
        let unseen = Op::Unresolved(UnresolvedKind::DescriptorBuffer);
        clear(image).into_iter().chain([unseen]).collect()
    };
    assert_eq!(wasted(unresolved(&sampled), Some(clear(&sampled))), []);
    assert_eq!(wasted(clear(&sampled), Some(unresolved(&sampled))), []);
    let attached = depth(vk::ImageUsageFlags::empty());
    assert_eq!(wasted(unresolved(&attached), Some(clear(&attached))), WASTED);
}
