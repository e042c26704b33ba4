//! Render pass instances in lowered tables: attachment lists, references, locations, preserved attachments and resolves.

use ash::vk;
use tileheap::Checked;
use tileheap::frame::tables::ViewDesc;
use tileheap::frame::{ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp, ResourceId};
use tileheap::lower::tables::instances::{InstanceRow, ReferenceRow, SubpassRow};
use tileheap::lower::tables::objects::ViewRow;
use tileheap::lower::{DeviceQueues, Lowered, LoweringDesc, lower};
use tileheap::plan::PlanOptions;
use tileheap::profile::{DeviceProfile, Features, OptionalFeatures};

use tileheap_testkit::frames::{extent, one_queue};

use crate::planned::plan_with;

const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 64,
    height: 32,
};
const CLEAR: LoadOp = LoadOp::Clear(ClearValue::ZERO);
const UNUSED: u32 = vk::ATTACHMENT_UNUSED;

fn image(format: vk::Format) -> ImageDesc {
    ImageDesc::new(format, EXTENT)
}

/// The tables of a frame with one pass, on a device with local read or with render pass objects only.
fn tables(frame: &Frame, dynamic: bool) -> Checked<Lowered> {
    let mut profile = DeviceProfile::preset("no-tile-memory").unwrap();
    profile.features = match dynamic {
        true => Features::all(),
        false => Features::empty(),
    };
    let plan = plan_with(frame, &profile, &PlanOptions::default());
    lower(&plan, &LoweringDesc::first(DeviceQueues::single_queue(frame))).unwrap()
}

fn only(tables: &Lowered) -> (InstanceRow, &[SubpassRow]) {
    assert_eq!(tables.instances.len(), 1);
    (tables.instances[0], tables.subpasses_of(0))
}

/// The views of an instance's attachments, in order.
fn views(tables: &Lowered, instance: &InstanceRow) -> Vec<ViewRow> {
    let rows = instance.attachments.of(&tables.attachments).iter();
    rows.map(|row| tables.views[row.view as usize]).collect()
}

fn resources(tables: &Lowered, instance: &InstanceRow) -> Vec<ResourceId> {
    let views = views(tables, instance).into_iter();
    views
        .map(|view| tables.images[view.image as usize].resource)
        .collect()
}

fn positions(rows: &[ReferenceRow]) -> Vec<u32> {
    rows.iter().map(|row| row.attachment).collect()
}

/// ```text
/// subpass 0   color a   color b   depth       writes
/// subpass 1   input b   input a   color c     reads b as 0 and a as 1
/// ```
fn two_subpasses() -> (Frame, [ResourceId; 4]) {
    let mut frame = FrameBuilder::new("two subpasses", EXTENT);
    let [a, b, c] = ["a", "b", "c"].map(|name| frame.image(name, image(vk::Format::R8G8B8A8_UNORM)));
    let depth = frame.image("depth", image(vk::Format::D32_SFLOAT));
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "commands");
    frame
        .render_pass(commands, "pass")
        .color(a, CLEAR)
        .color(b, CLEAR)
        .depth(depth, LoadOp::Clear(ClearValue::DepthStencil(1.0, 0)))
        .next_subpass()
        .input(b)
        .input(a)
        .color(c, LoadOp::DontCare);
    (frame.build().unwrap(), [a, b, c, depth])
}

#[test]
fn locations_and_input_indices_are_those_of_local_read() {
    let (frame, [a, b, c, depth]) = two_subpasses();
    let tables = tables(&frame, true);
    let (instance, subpasses) = only(&tables);
    assert!(instance.dynamic && instance.local_read);
    // Color attachments come first, in declaration order.
    assert_eq!(resources(&tables, &instance), [a, b, c, depth]);
    assert_eq!(instance.colors.len(), 3);
    assert_eq!(instance.depth.get(), Some(instance.attachments.first + 3));
    assert_eq!(instance.stencil.get(), None);
    let list = |run: tileheap::units::Run| run.of(&tables.indices).to_vec();
    let [write, read] = subpasses else {
        panic!("{subpasses:?}")
    };
    assert_eq!(list(write.locations), [0, 1, UNUSED]);
    assert_eq!(list(write.input_indices), [UNUSED; 3]);
    assert_eq!(list(read.locations), [UNUSED, UNUSED, 0]);
    assert_eq!(list(read.input_indices), [1, 0, UNUSED]);
    // Pipelines for both subpasses name all attachments.
    for subpass in subpasses {
        assert_eq!(subpass.color_formats.len(), 3);
        assert_eq!(subpass.depth_format, vk::Format::D32_SFLOAT);
        assert!(subpass.preserved.is_empty());
    }
    assert!(write.barriers.is_empty());
    let barriers = read.barriers.of(&tables.subpass_dependencies);
    assert_eq!(barriers.len(), 1);
    assert_eq!((barriers[0].src_subpass, barriers[0].dst_subpass), (0, 1));
    assert_eq!(barriers[0].flags, vk::DependencyFlags::BY_REGION);
}

#[test]
fn a_render_pass_object_refers_to_its_attachments_by_position() {
    let (frame, [a, b, c, depth]) = two_subpasses();
    let tables = tables(&frame, false);
    let (instance, subpasses) = only(&tables);
    assert!(!instance.dynamic && !instance.local_read && instance.colors.is_empty());
    assert_eq!(resources(&tables, &instance), [a, b, c, depth]);
    assert_eq!(instance.framebuffer, EXTENT);
    let [write, read] = subpasses else {
        panic!("{subpasses:?}")
    };
    assert_eq!(positions(write.colors.of(&tables.references)), [0, 1]);
    assert_eq!(positions(read.inputs.of(&tables.references)), [1, 0]);
    assert_eq!(positions(read.colors.of(&tables.references)), [2]);
    let depth = write.depth.get().unwrap() as usize;
    assert_eq!(tables.references[depth].attachment, 3);
    assert!(read.depth.is_none() && read.barriers.is_empty() && !read.dependencies.is_empty());
    for reference in &tables.references {
        let row = instance.attachments.first + reference.attachment;
        assert_eq!(reference.layout, tables.attachments[row as usize].combined_layout);
    }
}

#[test]
fn attachments_between_two_uses_are_preserved() {
    let mut frame = FrameBuilder::new("preserved", EXTENT);
    let [a, b, c] = ["a", "b", "c"].map(|name| frame.image(name, image(vk::Format::R8G8B8A8_UNORM)));
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "commands");
    let pass = frame.render_pass(commands, "pass").color(a, CLEAR);
    let pass = pass.next_subpass().color(b, CLEAR);
    pass.next_subpass().input(a).color(c, LoadOp::DontCare);
    let tables = tables(&frame.build().unwrap(), false);
    let (_, subpasses) = only(&tables);
    let preserved = subpasses
        .iter()
        .map(|row| row.preserved.of(&tables.indices).to_vec());
    // The second subpass leaves `a` to the third; no later subpass reads `b`.
    assert_eq!(preserved.collect::<Vec<_>>(), [vec![], vec![0], vec![]]);
}

#[test]
fn layers_of_a_multisampled_array_are_resolved_one_by_one() {
    let array = |samples| ImageDesc {
        array_layers: 2,
        samples,
        ..image(vk::Format::R8G8B8A8_UNORM)
    };
    let mut frame = FrameBuilder::new("layers", EXTENT);
    let samples = frame.image("samples", array(vk::SampleCountFlags::TYPE_4));
    let resolved = frame.image("resolved", array(vk::SampleCountFlags::TYPE_1));
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "commands");
    let pass = frame.render_pass(commands, "pass").color(samples, CLEAR).layer(0);
    let pass = pass
        .color(samples, CLEAR)
        .layer(1)
        .resolve(samples, resolved)
        .layer(0);
    pass.resolve(samples, resolved).layer(1);
    frame.transfer_pass(commands, "copy").transfer_source(resolved);
    let frame = frame.build().unwrap();
    for dynamic in [true, false] {
        let tables = tables(&frame, dynamic);
        let (instance, subpasses) = only(&tables);
        let layers: Vec<u32> = views(&tables, &instance)
            .iter()
            .map(|view| view.range.layers.first)
            .collect();
        assert_eq!(layers, [0, 1, 0, 1]);
        assert_eq!(positions(subpasses[0].resolves.of(&tables.references)), [2, 3]);
        let attachments = instance.attachments.of(&tables.attachments);
        let targets: Vec<Option<u32>> = attachments.iter().map(|row| row.resolve.get()).collect();
        let row = |position| dynamic.then_some(instance.attachments.first + position);
        assert_eq!(targets, [row(2), row(3), None, None]);
        let modes = [vk::ResolveModeFlags::AVERAGE, vk::ResolveModeFlags::NONE];
        assert_eq!(attachments[0].resolve_mode, modes[0]);
        assert_eq!(attachments[2].resolve_mode, modes[1]);
    }
}

#[test]
fn depth_and_stencil_that_subpasses_attach_apart_keep_their_operations() {
    use vk::ImageAspectFlags as F;
    // The second subpass attaches the other aspect, or both.
    for (first, second) in [
        (F::DEPTH, F::STENCIL),
        (F::STENCIL, F::DEPTH),
        (F::DEPTH, F::DEPTH | F::STENCIL),
        (F::STENCIL, F::DEPTH | F::STENCIL),
    ] {
        let mut frame = FrameBuilder::new("apart", EXTENT);
        let both = frame.image("both", image(vk::Format::D24_UNORM_S8_UINT));
        let color = frame.image("color", image(vk::Format::R8G8B8A8_UNORM));
        let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
        let submit = frame.submit(queue);
        let batch = frame.batch(submit);
        let commands = frame.command_buffer(batch, "commands");
        let far = LoadOp::Clear(ClearValue::DepthStencil(0.5, 7));
        frame.render_pass(commands, "fill").depth(both, far);
        let pass = frame.render_pass(commands, "pass").depth(both, far).aspect(first);
        let pass = pass.color(color, CLEAR).next_subpass();
        let pass = pass.depth(both, LoadOp::Load).aspect(second);
        pass.color(color, LoadOp::Load);
        let tables = tables(&frame.build().unwrap(), true);
        let instance = tables.instances[1];
        let attachments = instance.attachments.of(&tables.attachments);
        let mut rows = attachments.iter();
        let row = rows
            .find(|row| row.format == vk::Format::D24_UNORM_S8_UINT)
            .unwrap();
        let (cleared, loaded) = match first {
            F::DEPTH => (row.operations, row.stencil),
            _ => (row.stencil, row.operations),
        };
        assert_eq!(cleared.load, vk::AttachmentLoadOp::CLEAR);
        assert_eq!(loaded.load, vk::AttachmentLoadOp::LOAD);
        assert!(instance.depth.is_some() && instance.depth == instance.stencil);
        let ClearValue::DepthStencil(depth, stencil) = row.clear.get() else {
            panic!("{:?}", row.clear)
        };
        assert!(if first == F::DEPTH {
            depth == 0.5
        } else {
            stencil == 7
        });
    }
}

#[test]
fn barriers_between_subpasses_of_several_views_are_local_to_a_view() {
    let layered = |format| ImageDesc {
        array_layers: 2,
        ..image(format)
    };
    let mut frame = FrameBuilder::new("views", EXTENT);
    let [a, b] = ["a", "b"].map(|name| frame.image(name, layered(vk::Format::R8G8B8A8_UNORM)));
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "commands");
    let pass = frame.render_pass(commands, "pass").views(0b11).color(a, CLEAR);
    pass.next_subpass().input(a).color(b, LoadOp::DontCare);
    let tables = tables(&frame.build().unwrap(), true);
    let (instance, subpasses) = only(&tables);
    assert!(instance.local_read && instance.view_mask == 0b11 && instance.layers == 1);
    let barriers = subpasses[1].barriers.of(&tables.subpass_dependencies);
    let flags = vk::DependencyFlags::BY_REGION | vk::DependencyFlags::VIEW_LOCAL;
    assert_eq!(barriers.iter().map(|one| one.flags).collect::<Vec<_>>(), [flags]);
}

#[test]
fn more_resolve_attachments_than_attachments_are_refused() {
    let desc = |samples| ImageDesc {
        samples,
        ..image(vk::Format::R8G8B8A8_UNORM)
    };
    let mut frame = FrameBuilder::new("resolves", EXTENT);
    let samples = frame.image("samples", desc(vk::SampleCountFlags::TYPE_4));
    let [a, b] = ["a", "b"].map(|name| frame.image(name, desc(vk::SampleCountFlags::TYPE_1)));
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "commands");
    let pass = frame.render_pass(commands, "pass").color(samples, CLEAR);
    pass.resolve(samples, a).resolve(samples, b);
    let error = frame.build().unwrap_err().to_string();
    assert!(
        error.contains("2 targets") && error.contains("only 1 of its parts"),
        "{error}"
    );
}

#[test]
fn views_that_may_not_allow_all_usage_have_that_of_their_accesses() {
    let mut frame = FrameBuilder::new("extended", EXTENT);
    let flags = vk::ImageCreateFlags::MUTABLE_FORMAT | vk::ImageCreateFlags::EXTENDED_USAGE;
    let desc = |flags| ImageDesc {
        flags,
        ..image(vk::Format::R8G8B8A8_UNORM)
    };
    let extended = frame.image("extended", desc(flags));
    let plain = frame.image("plain", desc(vk::ImageCreateFlags::empty()));
    let to = frame.image("to", image(vk::Format::R8G8B8A8_UNORM));
    let seen = frame.image("seen", image(vk::Format::R8G8B8A8_UNORM));
    let stored = frame.image("stored", image(vk::Format::R8G8B8A8_UNORM));
    let srgb = ViewDesc {
        format: Some(vk::Format::R8G8B8A8_SRGB),
        ..ViewDesc::default()
    };
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "commands");
    frame
        .render_pass(commands, "draw")
        .color(extended, CLEAR)
        .color(plain, CLEAR)
        .color(seen, CLEAR);
    frame.compute_pass(commands, "store").storage_write(stored);
    let pass = frame.render_pass(commands, "blend");
    pass.color(stored, LoadOp::Load).viewed(srgb);
    let pass = frame
        .render_pass(commands, "sample")
        .sampled(extended)
        .sampled(plain)
        .sampled(seen)
        .viewed(srgb);
    pass.color(to, LoadOp::DontCare);
    let frame = frame.build().unwrap();
    let tables = tables(&frame, true);
    let usages = |resource| {
        let views = tables.views.iter();
        let own = views.filter(|view| tables.images[view.image as usize].resource == resource);
        let mut usages: Vec<u32> = own.map(|view| view.usage.as_raw()).collect();
        usages.sort_unstable();
        usages
    };
    let used = [
        vk::ImageUsageFlags::SAMPLED,
        vk::ImageUsageFlags::COLOR_ATTACHMENT,
    ];
    assert_eq!(usages(extended), used.map(vk::ImageUsageFlags::as_raw));
    assert_eq!(usages(plain), [0]);
    // A different view format may allow less than the image's usage.
    assert_eq!(usages(seen), [0, vk::ImageUsageFlags::SAMPLED.as_raw()]);
    // Few devices support storage images in sRGB formats (VUID-VkImageViewCreateInfo-usage-02275).
    assert_eq!(
        usages(stored),
        [0, vk::ImageUsageFlags::COLOR_ATTACHMENT.as_raw()]
    );
}

/// Several cubes are an array of layers if the device cannot view them as cubes (VUID-VkImageViewCreateInfo-viewType-01004).
#[test]
fn several_cubes_are_viewed_as_the_device_can() {
    let mut frame = FrameBuilder::new("cubes", EXTENT);
    let cubes = ImageDesc {
        flags: vk::ImageCreateFlags::CUBE_COMPATIBLE,
        array_layers: 12,
        ..ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent(64, 64))
    };
    let cubes = frame.image("cubes", cubes);
    let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
    frame.render_pass(commands, "draw").color(cubes, CLEAR);
    frame.compute_pass(commands, "read").sampled(cubes);
    let frame = frame.build().unwrap();
    let mut profile = DeviceProfile::preset("no-tile-memory").unwrap();
    for (features, expected) in [
        (None, vk::ImageViewType::CUBE_ARRAY),
        (
            Some(OptionalFeatures::IMAGE_CUBE_ARRAY),
            vk::ImageViewType::CUBE_ARRAY,
        ),
        (Some(OptionalFeatures::empty()), vk::ImageViewType::TYPE_2D_ARRAY),
    ] {
        profile.optional_features = features;
        let plan = plan_with(&frame, &profile, &PlanOptions::default());
        let tables = lower(&plan, &LoweringDesc::first(DeviceQueues::single_queue(&frame))).unwrap();
        let read = tables.accesses.last().unwrap();
        let view = tables.views[read.view.get().unwrap() as usize];
        assert_eq!(view.view_type, expected, "{features:?}");
    }
}

#[test]
fn a_render_pass_object_attaches_both_aspects_in_one_layout() {
    use vk::ImageAspectFlags as F;
    // The second subpass reads one aspect in place, and tests against both or neither.
    for (read, tested) in [(F::DEPTH, false), (F::STENCIL, false), (F::DEPTH, true)] {
        let mut frame = FrameBuilder::new("one aspect", EXTENT);
        let both = frame.image("both", image(vk::Format::D24_UNORM_S8_UINT));
        let color = frame.image("color", image(vk::Format::R8G8B8A8_UNORM));
        let scene = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
        let far = LoadOp::Clear(ClearValue::DepthStencil(0.5, 7));
        let pass = frame.render_pass(scene, "pass").depth(both, far).next_subpass();
        let pass = pass.input(both).aspect(read).color(color, LoadOp::DontCare);
        if tested {
            pass.depth_read_only(both);
        }
        let frame = frame.build().unwrap();
        let mut profile = DeviceProfile::preset("no-tile-memory").unwrap();
        profile.features = Features::SEPARATE_DEPTH_STENCIL_LAYOUTS | Features::DYNAMIC_RENDERING;
        let plan = plan_with(&frame, &profile, &PlanOptions::default());
        let tables = lower(&plan, &LoweringDesc::first(DeviceQueues::single_queue(&frame))).unwrap();
        let (instance, _) = only(&tables);
        let attachments = instance.attachments.of(&tables.attachments).iter();
        let depth = attachments.filter(|row| row.format == vk::Format::D24_UNORM_S8_UINT);
        let layouts = depth.map(|row| [row.layout, row.stencil_layout, row.combined_layout]);
        assert_eq!(layouts.collect::<Vec<_>>(), [[vk::ImageLayout::GENERAL; 3]]);
    }
}
