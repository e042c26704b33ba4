//! Depth and stencil resolves in render pass objects: references, modes, barriers and dependencies.

use std::sync::Arc;

use ash::vk;
use tileheap::Checked;
use tileheap::frame::{ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp};
use tileheap::lower::tables::OptionalIndex;
use tileheap::lower::tables::instances::{AttachmentRow, InstanceRow, ReferenceRow, SubpassRow};
use tileheap::lower::{DeviceQueues, LowerError, Lowered, LoweringDesc, lower};
use tileheap::plan::{Plan, PlanOptions};
use tileheap::profile::{DeviceProfile, Features};

use tileheap_testkit::frames::one_queue;

use crate::lowered_check::device;
use crate::planned::plan_with;

const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 64,
    height: 32,
};
const CLEAR: LoadOp = LoadOp::Clear(ClearValue::ZERO);
const FAR: LoadOp = LoadOp::Clear(ClearValue::DepthStencil(1.0, 0));
/// A device without dynamic rendering that supports depth resolves.
const OBJECTS: Features = Features::DEPTH_STENCIL_RESOLVE;

fn image(format: vk::Format) -> ImageDesc {
    ImageDesc::new(format, EXTENT)
}

fn samples(format: vk::Format) -> ImageDesc {
    ImageDesc {
        samples: vk::SampleCountFlags::TYPE_4,
        ..image(format)
    }
}

fn plan_on(frame: &Frame, features: Features) -> Checked<Plan> {
    let mut profile = DeviceProfile::preset("no-tile-memory").unwrap();
    profile.features = features;
    plan_with(frame, &profile, &PlanOptions::default())
}

fn tables_on(frame: &Frame, features: Features) -> Result<Checked<Lowered>, LowerError> {
    let lowering_desc = LoweringDesc::first(DeviceQueues::single_queue(frame));
    lower(&plan_on(frame, features), &lowering_desc)
}

fn only(tables: &Lowered) -> (InstanceRow, &[SubpassRow]) {
    assert_eq!(tables.instances.len(), 1);
    (tables.instances[0], tables.subpasses_of(0))
}

/// ```text
/// subpass 0   color (4 samples)   depth (4 samples) ──resolved──► flat depth
/// subpass 1   color out           input flat depth                              without input attachments: none
/// ```
fn depth_resolve(inputs: bool) -> Frame {
    let mut frame = FrameBuilder::new("depth resolve", EXTENT);
    let format = vk::Format::D32_SFLOAT_S8_UINT;
    let color = frame.image("color", samples(vk::Format::R8G8B8A8_UNORM));
    let depth = frame.image("depth", samples(format));
    let flat = frame.image("flat", image(format));
    let out = frame.image("out", image(vk::Format::R8G8B8A8_UNORM));
    let scene = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
    let pass = frame
        .render_pass(scene, "pass")
        .color(color, CLEAR)
        .depth(depth, FAR);
    let pass = pass.resolve(depth, flat);
    if inputs {
        pass.next_subpass().input(flat).color(out, LoadOp::DontCare);
    }
    frame.transfer_pass(scene, "copy").transfer_source(flat);
    frame.build().unwrap()
}

#[test]
fn a_render_pass_object_resolves_depth_and_stencil_in_one_mode() {
    for inputs in [false, true] {
        let frame = depth_resolve(inputs);
        let tables = tables_on(&frame, OBJECTS).unwrap();
        let (instance, subpasses) = only(&tables);
        assert!(!instance.dynamic);
        let attachments = instance.attachments.of(&tables.attachments);
        let reference = |one: OptionalIndex| tables.references[one.get().unwrap() as usize];
        let [depth, target] = [subpasses[0].depth, subpasses[0].depth_resolve].map(reference);
        let name = |one: ReferenceRow| {
            let view = tables.views[attachments[one.attachment as usize].view as usize];
            let resource = tables.images[view.image as usize].resource;
            frame.resource(resource).name.as_str()
        };
        assert_eq!([name(depth), name(target)], ["depth", "flat"]);
        let layout = vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
        assert_eq!(depth.layout, layout);
        // An attachment that is read in place has the same layout throughout.
        let layout = if inputs { vk::ImageLayout::GENERAL } else { layout };
        assert_eq!(target.layout, layout);
        let [depth, target] = [depth, target].map(|one| attachments[one.attachment as usize]);
        assert_eq!(depth.resolve_mode, vk::ResolveModeFlags::SAMPLE_ZERO);
        assert_eq!(target.resolve_mode, vk::ResolveModeFlags::NONE);
        assert!(depth.resolve.is_none());
        let operations = [target.operations, target.stencil];
        assert!(
            operations
                .iter()
                .all(|one| one.load == vk::AttachmentLoadOp::DONT_CARE)
        );
        assert!(
            operations
                .iter()
                .all(|one| one.store == vk::AttachmentStoreOp::STORE)
        );
    }
}

#[test]
fn the_barriers_of_a_depth_resolve_cover_the_operations_of_a_render_pass_object() {
    use vk::AccessFlags2 as A;
    use vk::PipelineStageFlags2 as S;
    let frame = depth_resolve(false);
    let flat = frame.resource_named("flat").unwrap();
    let tests = S::EARLY_FRAGMENT_TESTS | S::LATE_FRAGMENT_TESTS;
    let with_dynamic = OBJECTS | Features::DYNAMIC_RENDERING;
    for (features, operations) in [
        (with_dynamic, (S::NONE, A::NONE)),
        (OBJECTS, (tests, A::DEPTH_STENCIL_ATTACHMENT_WRITE)),
    ] {
        let tables = tables_on(&frame, features).unwrap();
        let of_flat = |image: u32| tables.images[image as usize].resource == flat;
        let mut barriers = tables.image_barriers.iter().filter(|one| of_flat(one.image));
        let [before, after] = [barriers.next().unwrap(), barriers.next().unwrap()];
        let (stages, access) = operations;
        assert_eq!(before.scopes.dst_stages, S::COLOR_ATTACHMENT_OUTPUT | stages);
        assert_eq!(before.scopes.dst_access, A::COLOR_ATTACHMENT_WRITE | access);
        assert_eq!(after.scopes.src_stages, S::COLOR_ATTACHMENT_OUTPUT | stages);
        assert_eq!(after.scopes.src_access, A::COLOR_ATTACHMENT_WRITE | access);
    }
}

#[test]
fn subpasses_wait_for_depth_resolves() {
    use vk::AccessFlags2 as A;
    use vk::PipelineStageFlags2 as S;
    let mut frame = FrameBuilder::new("depth again", EXTENT);
    let format = vk::Format::D32_SFLOAT;
    let depth = frame.image("depth", samples(format));
    let [first, second] = ["first", "second"].map(|name| frame.image(name, image(format)));
    let scene = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
    let pass = frame.render_pass(scene, "pass").depth(depth, FAR);
    let pass = pass.resolve(depth, first).next_subpass();
    pass.depth(depth, LoadOp::Load).resolve(depth, second);
    let copy = frame.transfer_pass(scene, "copy");
    copy.transfer_source(first).transfer_source(second);
    let tables = tables_on(&frame.build().unwrap(), OBJECTS).unwrap();
    let (_, subpasses) = only(&tables);
    let dependencies = subpasses[1].dependencies.of(&tables.subpass_dependencies);
    assert_eq!(dependencies.len(), 1);
    let scopes = dependencies[0].scopes;
    let all = S::EARLY_FRAGMENT_TESTS | S::LATE_FRAGMENT_TESTS | S::COLOR_ATTACHMENT_OUTPUT;
    assert_eq!([scopes.src_stages, scopes.dst_stages], [all; 2]);
    assert_eq!(scopes.src_access, A::DEPTH_STENCIL_ATTACHMENT_WRITE);
    let reads = A::DEPTH_STENCIL_ATTACHMENT_READ | A::COLOR_ATTACHMENT_READ;
    assert_eq!(scopes.dst_access, reads | A::DEPTH_STENCIL_ATTACHMENT_WRITE);
}

#[test]
fn devices_that_cannot_resolve_depth_are_named() {
    let frame = depth_resolve(false);
    let error = tables_on(&frame, Features::empty()).unwrap_err().to_string();
    let said = "VK_KHR_depth_stencil_resolve";
    assert!(error.contains("`pass`") && error.contains(said), "{error}");
    tables_on(&frame, Features::DYNAMIC_RENDERING).unwrap();
}

/// The attachment whose depth and stencil the first subpass resolves.
fn source(tables: &mut Lowered) -> &mut AttachmentRow {
    let reference = tables.subpasses[0].depth.get().unwrap();
    let row = tables.references[reference as usize].attachment;
    &mut tables.attachments[row as usize]
}

#[test]
fn damaged_depth_resolves_are_refused() {
    let frame = depth_resolve(true);
    let plan = plan_on(&frame, OBJECTS);
    let lowering_desc = LoweringDesc::first(DeviceQueues::single_queue(&frame));
    let tables = lower(&plan, &lowering_desc).unwrap();
    let violations = |features: Features, damage: fn(&mut Lowered)| {
        let mut damaged = Lowered::clone(&tables);
        damage(&mut damaged);
        let mut facts = device(&plan, &lowering_desc);
        Arc::make_mut(&mut facts.profile).features = features;
        let errors = damaged.violations(&frame, &lowering_desc, &facts).into_iter();
        errors.map(|error| error.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(violations(OBJECTS, |_| ()), [""; 0]);
    type Damage = fn(&mut Lowered);
    let cases: [(Features, Damage, &str); 6] = [
        (Features::empty(), |_| (), "pDepthStencilResolveAttachment"),
        (
            OBJECTS,
            |tables| tables.subpasses[0].depth_resolve = OptionalIndex::NONE,
            "pResolveAttachments",
        ),
        (
            OBJECTS,
            |tables| tables.subpasses[0].depth_resolve = tables.subpasses[0].depth,
            "`flat`",
        ),
        (
            OBJECTS,
            |tables| source(tables).resolve_mode = vk::ResolveModeFlags::AVERAGE,
            "resolveMode",
        ),
        // The barrier before the pass does not cover the load operation.
        (
            OBJECTS,
            |tables| {
                for one in &mut tables.image_barriers {
                    one.scopes.dst_stages &= vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT;
                }
            },
            "`flat`",
        ),
        // The second subpass does not wait for the resolve.
        (
            OBJECTS,
            |tables| {
                for one in &mut tables.subpass_dependencies {
                    one.scopes.src_stages &= !vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT;
                }
            },
            "does not wait for the use of `flat`",
        ),
    ];
    for (features, damage, said) in cases {
        let errors = violations(features, damage);
        assert!(
            errors.iter().any(|error| error.contains(said)),
            "{said}: {errors:#?}"
        );
    }
}
